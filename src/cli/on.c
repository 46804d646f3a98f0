/* griddep on: a program with dependent launch that it does not have, where its kernels allow it. */
#include "cli/command.h"
#include "cli/io/options.h"
#include "cli/job/attachedprogram.h"

static const char details[] =
    "An experiment: how much would a program gain from overlap? Launches of kernels that execute "
    "griddepcontrol.wait on every path, and touch no memory before it that other kernels can "
    "reach, get the attribute programmatic stream serialization. So do "
    "launches in captured streams, whose graphs then have programmatic edges. With --rewrite, "
    "kernels without a wait get one before their first access to global memory, and a trigger "
    "after it. This needs a module that comes as PTX. If the driver refuses a changed launch or "
    "module, it gets the program's own. When the program has ended, a line on stderr tells what "
    "changed.\n\n"
    "A kernel that touches memory before its wait is left as it is: nobody knows what its "
    "arguments mean. The last line says how many were. Compare the program's results with "
    "those of a plain run, and run 'griddep sanitize -- PROGRAM' on a program that 'griddep on' "
    "made faster.\n\n"
    "exit codes:\n"
    "  0    the program's own exit code; 127 and 126 when it cannot be started\n"
    "  65   the program ended well, and nothing of it was seen\n"
    "  2    wrong usage\n"
    "  3    no driver\n"
    "  4    another failure\n";

static const char examples[] = "A program whose kernels wait, and one whose PTX is given waits:\n"
                               "    griddep on -- ./application\n"
                               "    griddep on --rewrite -- ./application\n";

int gd_command_on(int argc, char **argv)
{
    gd_attachedprogram request = {.attach.early = "on"};
    bool rewrite = false;
    const gd_option options[] = {{GD_OPTION_FLAG, "rewrite", NULL,
                                  "put a wait and a trigger into kernels that have none", &rewrite,
                                  0, 0},
                                 GD_ATTACHEDPROGRAM_OPTIONS(&request),
                                 {0}};
    const gd_usage usage = {
        .name = "on",
        .summary = "Runs a program with programmatic dependent launch that it does not have "
                   "(experimental).",
        .synopsis =
            "[--rewrite] [--report FILE] [--json] [--driver DRIVER] -- PROGRAM [ARGUMENT]...",
        .details = details,
        .examples = examples,
        .options = options};
    char **program = NULL;
    int code = gd_attachedprogram_read(&usage, argc, argv, &program);
    if (rewrite)
        request.attach.early = "rewrite";
    return code >= 0 ? code : gd_attachedprogram_run(&request, program);
}
