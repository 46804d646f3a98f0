/* griddep audit: what any program launches, and what is wrong with its dependent launches. */
#include "cli/command.h"
#include "cli/io/options.h"
#include "cli/program/attachedprogram.h"

enum { LAUNCHES = 256 };

static const char details[] =
    "The program runs unchanged. A library stands between the program and its CUDA driver, passes "
    "each call on, and notes launches. When the program has ended, a table shows for each kernel "
    "how often it was launched, how many of these launches may start early (attribute "
    "programmatic stream serialization), and whether its code waits and triggers. 'griddep check' "
    "uses the same analysis. Findings follow, the most important first, each with the place of "
    "the first such launch.\n\n"
    "The command reads PTX and machine code, in fatbins too. 'not known' stands for code that it "
    "cannot read or follow.\n\n"
    "With --times, the table has the total and the median time of each kernel, the largest total "
    "first. The first line tells the time between kernels of which the second could start early: "
    "it could save no more than that. A second table has the ten pairs that lose most. NVIDIA's "
    "CUPTI tells the times, of kernels in graphs too, if it is installed. Otherwise events before "
    "and after each launch do, but not in graphs: they cost time, kernels do not overlap, and a "
    "kernel's first launch includes the loading of its code. If the device waits for the host, "
    "the time between kernels includes the launch.\n\n"
    "The report goes to stderr, or to the file of --report. The program's output stays "
    "unchanged.\n\n"
    "With --record the command also writes a folder with a chain file, chain.yaml: the launches "
    "with their modules, arguments and memory. Memory has the content that it had before the first "
    "launch that used it. An allocation is one buffer. Audit and check take an argument to reach "
    "as "
    "far as a tensor map or the kernel's head comment tells (extent), else perhaps to the end of "
    "the allocation; the audit checks what is recorded. The program's results are the "
    "expectations. 'griddep run', 'check', 'trace', "
    "'explain', 'tune' and 'sanitize' read the file, so it is a bug report that does not need the "
    "program. Launches stand in the program's order, those of graphs one by one. "
    "Each stream is a lane. A launch depends on launches of other lanes that it waited for: by "
    "events, by the default stream, or because the host had seen them end. The program waits for "
    "its launches while memory is read. At most 1 GiB is kept; the rest is zero. Addresses inside "
    "memory are not followed, and variables of modules have the module's values. Of a module's PTX "
    "the kernels stay that were launched. A chain file "
    "cannot hold cooperative launches, nor graphs with host functions or with copies of several "
    "dimensions.\n\n"
    "exit codes:\n"
    "  0    no race was found (a program: its own exit code; 127 and 126 when it cannot be "
    "started)\n"
    "  65   the program ended well, but the command saw no launch\n"
    "  66   a race was found\n"
    "  2    wrong usage\n"
    "  3    no driver\n"
    "  4    another failure\n";

static const char examples[] = "Which kernels of a program may start early, and which race:\n"
                               "    griddep audit -- ./application\n"
                               "    griddep audit --times -- ./application\n"
                               "    griddep audit --record launches -- ./application\n"
                               "    griddep run launches/chain.yaml\n"
                               "    griddep audit --json --report audit.json -- ./application\n";

int gd_command_audit(int argc, char **argv)
{
    bool times = false;
    gd_attachedprogram request = {.audits = true, .attach.launches = LAUNCHES};
    const gd_option options[] = {
        {GD_OPTION_FLAG, "times", NULL, "time each launch, by CUPTI or events", &times, 0, 0},
        {GD_OPTION_FOLDER, "record", "FOLDER", "write launches as a chain file into a folder",
         (void *)&request.record, 0, 0},
        {GD_OPTION_COUNT, "first", "N", "with --record: skip this many launches (0)",
         &request.attach.first, 0, UINT32_MAX},
        {GD_OPTION_COUNT, "launches", "N", "with --record: at most this many launches (256)",
         &request.attach.launches, 1, 16384},
        {GD_OPTION_COUNT, "memory", "MIB",
         "with --record: keep at most so many MiB of memory (1024)", &request.attach.memory, 1,
         1 << 20},
        {GD_OPTION_FILE, "sarif", "FILE", "write the findings there too, as SARIF 2.1.0",
         (void *)&request.sarif, 0, 0},
        GD_ATTACHEDPROGRAM_OPTIONS(&request),
        {0}};
    const gd_usage usage = {
        .name = "audit",
        .summary = "Runs a program and lists its kernels that may start early, and its races.",
        .synopsis = "[--times] [--record FOLDER] [--report FILE] [--sarif FILE] [--json] [--driver "
                    "DRIVER] -- "
                    "PROGRAM [ARGUMENT]...",
        .details = details,
        .examples = examples,
        .options = options};
    char **program = NULL;
    int code = gd_attachedprogram_read(&usage, argc, argv, &program);
    request.attach.times = times ? "on" : NULL;
    return code >= 0 ? code : gd_attachedprogram_run(&request, program);
}
