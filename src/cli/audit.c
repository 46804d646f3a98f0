/* griddep audit: what any program launches, and what is wrong with its dependent launches. */
#include "cli/command.h"
#include "cli/io/options.h"
#include "cli/job/attachedprogram.h"

enum { LAUNCHES = 256 };

static const char details[] =
    "The program runs as it is, with a library in front of its CUDA driver that hands each call on "
    "and notes launches. When it has ended, a table tells of each kernel how often it was "
    "launched, in how many launches it may start early (attribute programmatic stream "
    "serialization), and whether its code waits and triggers, by the same analysis as 'griddep "
    "check'. Findings follow, the most important first, each with the place of the first such "
    "launch.\n\n"
    "Code is read as PTX and as machine code, in fatbins too. "
    "'not known' is said of what cannot be read or followed.\n\n"
    "With --times an event stands before each launch and one behind it, but in streams that are "
    "captured: the table then has the total and the median time of each kernel, the largest total "
    "first. The events cost time, and kernels do not overlap. Where the device waits for the host "
    "the time is that of launching too, and at a kernel's first launch that of loading its code. "
    "Kernels in graphs are not timed.\n\n"
    "The report goes to stderr, or to a file. The program's output is its own.\n\n"
    "With --record the launches are also written as a chain file, chain.yaml, into a folder, with "
    "their modules, their arguments, and the memory that these point into as it was when a launch "
    "was first given it; what the program left there is expected. 'griddep run', 'check', 'trace', "
    "'explain', 'graph', 'tune' and 'sanitize' take it: a bug report that needs no program. "
    "Launches stand in the order in which the program made them, those of graphs one by one; each "
    "stream is a lane, and a launch stands behind those of other lanes that it waited for: by "
    "events, by the default stream, or because the host had seen them end. The program waits for "
    "its launches while memory is read. At most 1 GiB is "
    "kept; what is beyond is zero. Addresses that lie in memory are not followed, and variables of "
    "modules are as the module has them. Cooperative launches cannot be said in "
    "a chain file, nor graphs with host functions or with copies of several dimensions.\n\n"
    "exit codes:\n"
    "  0    no race was found (a program: its own exit code; 127 and 126 when it cannot be "
    "started)\n"
    "  65   the program ended well, and launched nothing that was seen\n"
    "  66   a race was found\n"
    "  2    wrong usage\n"
    "  3    no driver\n"
    "  4    another failure\n";

static const char examples[] =
    "Which kernels of a program may start early, and which of them race:\n"
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
        {GD_OPTION_FLAG, "times", NULL, "time each launch, by events", &times, 0, 0},
        {GD_OPTION_FOLDER, "record", "FOLDER", "write launches as a chain file into a folder",
         (void *)&request.record, 0, 0},
        {GD_OPTION_COUNT, "first", "N", "with --record: the first of them, from 0 (0)",
         &request.attach.first, 0, UINT32_MAX},
        {GD_OPTION_COUNT, "launches", "N", "with --record: how many at most (256)",
         &request.attach.launches, 1, 16384},
        GD_ATTACHEDPROGRAM_OPTIONS(&request),
        {0}};
    const gd_usage usage = {
        .name = "audit",
        .summary = "Runs a program and tells which of its kernels may start early, and which "
                   "of them race.",
        .synopsis = "[--times] [--record FOLDER] [--report FILE] [--json] [--driver DRIVER] -- "
                    "PROGRAM [ARGUMENT]...",
        .details = details,
        .examples = examples,
        .options = options};
    char **program = NULL;
    int code = gd_attachedprogram_read(&usage, argc, argv, &program);
    request.attach.times = times ? "on" : NULL;
    return code >= 0 ? code : gd_attachedprogram_run(&request, program);
}
