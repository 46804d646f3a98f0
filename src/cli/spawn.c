/* griddep spawn: a program as several processes, each of which knows its rank. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/io/heap.h"
#include "cli/io/message.h"
#include "cli/io/options.h"
#include "cli/io/supervise.h"
#include "cli/program/attachedprogram.h"

static const char details[] =
    "The command starts the program several times on this machine. It tells each process its rank "
    "by the variables that torchrun sets: RANK and LOCAL_RANK, from 0 on; WORLD_SIZE and "
    "LOCAL_WORLD_SIZE, how many there are; MASTER_ADDR and MASTER_PORT, the same for all. With "
    "them griddep_group_join makes the processes a group, and so do PyTorch and others.\n\n"
    "All processes have the input and the output of the command. When one of them fails, the "
    "command ends the others. Signals that are sent to the command reach all of them.\n\n"
    "exit codes:\n"
    "  0    all processes ended well\n"
    "  2    wrong usage\n"
    "  4    another failure\n"
    "  127  the program cannot be started (126: it cannot be run)\n"
    "The command ends with the code of the first process that fails; 128 and the number of the "
    "signal that ended it.\n";

static const char examples[] = "Two processes, each of which prints its rank:\n"
                               "    griddep spawn -n 2 -- printenv RANK\n";

/* A port that nobody uses now; 0: there is none. */
static unsigned find_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof(address);
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool found = descriptor >= 0 && bind(descriptor, (void *)&address, bytes) == 0 &&
                 getsockname(descriptor, (void *)&address, &bytes) == 0;
    if (descriptor >= 0)
        close(descriptor);
    return found ? ntohs(address.sin_port) : 0;
}

static void set_number(const char *name, uint64_t number)
{
    char *text = gd_heap_format("%llu", (unsigned long long)number);
    setenv(name, text, 1);
    free(text);
}

static int run(char **program, uint64_t count, unsigned port)
{
    pid_t processes[GD_SUPERVISE_MOST];
    size_t started = 0;
    int code = 0;
    setenv("MASTER_ADDR", "127.0.0.1", 1);
    set_number("MASTER_PORT", port);
    set_number("WORLD_SIZE", count);
    set_number("LOCAL_WORLD_SIZE", count);
    for (; started < count && code == 0; started += code == 0) {
        set_number("RANK", started);
        set_number("LOCAL_RANK", started);
        code = gd_supervise_start(program, &processes[started]);
    }
    for (size_t i = 0; i < started && code != 0; i++)
        kill(processes[i], SIGTERM);
    int ended = gd_supervise_wait_all(processes, started);
    return code != 0 ? code : ended;
}

int gd_command_spawn(int argc, char **argv)
{
    uint64_t count = 0;
    const gd_option options[] = {{GD_OPTION_COUNT, "processes", "N",
                                  "how many processes; -n N for short", &count, 1,
                                  GD_SUPERVISE_MOST},
                                 {0}};
    const gd_usage usage = {.name = "spawn",
                            .summary =
                                "Runs a program as several processes with ranks, for groups.",
                            .synopsis = "-n N -- PROGRAM [ARGUMENT]...",
                            .details = details,
                            .examples = examples,
                            .options = options};
    char **program = NULL;
    int code = gd_attachedprogram_read(&usage, argc, argv, &program);
    if (code >= 0)
        return code;
    if (count == 0)
        return gd_message_error(GD_EXIT_USAGE, "spawn needs the number of processes: -n N");
    unsigned port = find_port();
    if (port == 0)
        return gd_message_error(GD_EXIT_REFUSED, "no port is free on 127.0.0.1: %s",
                                strerror(errno));
    return run(program, count, port);
}
