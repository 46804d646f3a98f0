/* griddep on: a program with dependent launch that it does not have, where its kernels allow it. */
#include "cli/command.h"
#include "cli/io/options.h"
#include "cli/job/attachedprogram.h"

static const char details[] =
    "An experiment: what would overlap give a program? Launches of kernels that execute "
    "griddepcontrol.wait on every path get the attribute programmatic stream serialization, in "
    "captured streams too, whose graphs then have programmatic edges. With --rewrite, kernels "
    "without a wait get one, in front of their first access to global memory, and a trigger behind "
    "it, where their module comes as PTX. A launch or a module that the driver does not take so is "
    "as the program gave it. When the program has ended, a line on stderr tells what was "
    "changed.\n\n"
    "A kernel that waits on every path is safe wherever what it touches before its wait is written "
    "by no kernel before it; nothing here can know that. Compare the program's results with those "
    "of a run without, and run 'griddep sanitize -- PROGRAM' on what 'griddep on' gave.\n\n"
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
