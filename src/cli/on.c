/* griddep on: a program with dependent launch that it does not have, where its kernels allow it. */
#include "cli/command.h"
#include "cli/io/options.h"
#include "cli/program/attachedprogram.h"

static const char details[] =
    "An experiment: how much would a program gain from overlap? The command changes a launch if "
    "its kernel executes griddepcontrol.wait, and before that touches no memory that other kernels "
    "can reach. Threads may leave before the wait if others of their grid wait. The command reads "
    "machine code, and PTX where machine code does not tell. Such a launch gets the attribute "
    "programmatic stream serialization. In a captured graph it gets a programmatic edge. --rewrite "
    "adds a wait before a kernel's first access to global memory, and a trigger after the wait. "
    "This needs PTX, for the same chip as the module's machine code if it has some. If the driver "
    "refuses a changed launch or module, the command passes the original on. At the end, a line on "
    "stderr says what changed.\n\n"
    "Most kernels of PyTorch have no wait: of those of its libraries only cuBLAS's split-K "
    "reductions do. They start early by themselves, so that nothing is left to change.\n\n"
    "The command does not change a kernel that touches memory before its wait, because it cannot "
    "know what the arguments mean; nor one behind an early launch that does not wait, since its "
    "own "
    "wait would not cover what came before. If the program itself starts a kernel early that "
    "touches memory before its wait, and a launch before became early, that kernel starts as "
    "without the attribute. The last line counts these launches. Compare the program's results "
    "with those of a plain run, and run 'griddep sanitize -- PROGRAM' on a program that 'griddep "
    "on' made faster.\n\n"
    "exit codes:\n"
    "  0    the program's own exit code; 127 and 126 when it cannot be started\n"
    "  65   the program ended well, but the command saw no launch\n"
    "  2    wrong usage\n"
    "  3    no driver\n"
    "  4    another failure\n";

static const char examples[] = "Kernels that wait already, and kernels that get a wait:\n"
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
        .summary = "Runs a program with programmatic dependent launch added (experimental).",
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
