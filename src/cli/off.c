/* griddep off: a program without dependent launch. */
#include "cli/command.h"
#include "cli/io/options.h"
#include "cli/program/attachedprogram.h"

static const char details[] =
    "A kill switch for programs that have none. The command removes the attributes programmatic "
    "stream serialization, programmatic event and launch completion event from the program's "
    "launches. It records their events after the launch, so work that waits for an event still "
    "waits. It makes the edges of a graph plain while the program instantiates the graph. At the "
    "end, a line on stderr says what changed.\n\n"
    "If results are right with 'griddep off' and wrong without it, the program has a race: "
    "'griddep audit' looks for it.\n\n"
    "exit codes:\n"
    "  0    the program's own exit code; 127 and 126 when it cannot be started\n"
    "  65   the program ended well, but the command saw no launch\n"
    "  2    wrong usage\n"
    "  3    no driver\n"
    "  4    another failure\n";

static const char examples[] = "A program without dependent launch:\n"
                               "    griddep off -- ./application\n";

int gd_command_off(int argc, char **argv)
{
    gd_attachedprogram request = {.attach.early = "off"};
    const gd_option options[] = {GD_ATTACHEDPROGRAM_OPTIONS(&request), {0}};
    const gd_usage usage = {
        .name = "off",
        .summary = "Runs a program with its programmatic dependent launch switched off.",
        .synopsis = "[--report FILE] [--json] [--driver DRIVER] -- PROGRAM [ARGUMENT]...",
        .details = details,
        .examples = examples,
        .options = options};
    char **program = NULL;
    int code = gd_attachedprogram_read(&usage, argc, argv, &program);
    return code >= 0 ? code : gd_attachedprogram_run(&request, program);
}
