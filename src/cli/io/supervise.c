/* Starting and waiting. Owns the handlers that pass signals on, while a child is waited for. */
#include "cli/io/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/io/message.h"
#include "cli/io/temporary.h"

enum { NOT_FOUND = 127, NOT_RUNNABLE = 126, BY_SIGNAL = 128 };

static const int passed[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

enum { PASSED_COUNT = sizeof(passed) / sizeof(passed[0]) };

static volatile pid_t children[GD_SUPERVISE_MOST]; /* 0: has ended */
static volatile sig_atomic_t received;

/* A code above 0 says that the kernel sent it: a terminal does so to all of its foreground
 * processes. */
static void pass_on(int signal_number, siginfo_t *info, void *context)
{
    int kept = errno;
    (void)context;
    received = signal_number != SIGUSR1 && signal_number != SIGUSR2 ? signal_number : received;
    for (size_t i = 0; i < GD_SUPERVISE_MOST; i++)
        if (info->si_code <= 0 && children[i] > 0)
            kill(children[i], signal_number);
    errno = kept;
}

static void catch_signals(struct sigaction before[PASSED_COUNT])
{
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART};
    action.sa_sigaction = pass_on;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < PASSED_COUNT; i++)
        sigaction(passed[i], &action, &before[i]);
}

static void block_signals(int how)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < PASSED_COUNT; i++)
        sigaddset(&set, passed[i]);
    sigprocmask(how, &set, NULL);
}

static int start_failed(const char *program, int reason)
{
    return gd_message_error(reason == ENOENT ? NOT_FOUND : NOT_RUNNABLE, "%s cannot be started: %s",
                            program, strerror(reason));
}

/* Which of the standard streams lead nowhere, by bit. */
enum { SILENT_INPUT = 1, SILENT_OUTPUT = 2 | 4 };

/* In the child: only async-signal-safe calls. */
static void become(char *const *arguments, int report, unsigned silent)
{
    int nowhere = silent != 0 ? open("/dev/null", O_RDWR | O_CLOEXEC) : -1;
    for (int i = 0; i < 3 && nowhere >= 0; i++)
        if (silent >> i & 1)
            dup2(nowhere, i);
    gd_temporary_restore_signals();
    execvp(arguments[0], arguments);
    int reason = errno;
    ssize_t written = write(report, &reason, sizeof(reason));
    (void)written;
    _exit(NOT_FOUND);
}

pid_t gd_supervise_fork(void)
{
    block_signals(SIG_BLOCK);
    pid_t process = fork();
    if (process == 0)
        gd_temporary_forget();
    if (process <= 0)
        block_signals(SIG_UNBLOCK);
    return process;
}

static int start(char *const *arguments, unsigned silent, pid_t *process)
{
    int ends[2], reason = 0;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return start_failed(arguments[0], errno);
    pid_t started = gd_supervise_fork();
    if (started == 0)
        become(arguments, ends[1], silent);
    if (started < 0)
        reason = errno;
    close(ends[1]);
    ssize_t count = started > 0 ? 1 : 0;
    while (count > 0 && (count = read(ends[0], &reason, sizeof(reason))) < 0 && errno == EINTR)
        count = 1;
    close(ends[0]);
    if (reason == 0) {
        *process = started;
        return 0;
    }
    if (started > 0) {
        waitpid(started, NULL, 0);
        block_signals(SIG_UNBLOCK);
    }
    return start_failed(arguments[0], reason);
}

int gd_supervise_start(char *const *arguments, pid_t *process)
{
    return start(arguments, 0, process);
}

int gd_supervise_start_silent(char *const *arguments, bool reads, pid_t *process)
{
    return start(arguments, SILENT_OUTPUT | (reads ? 0 : SILENT_INPUT), process);
}

static int code_of(int status)
{
    return WIFSIGNALED(status) ? BY_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

static void begin_waiting(const pid_t *processes, size_t count, struct sigaction *before)
{
    for (size_t i = 0; i < count; i++)
        children[i] = processes[i];
    catch_signals(before);
    block_signals(SIG_UNBLOCK);
}

static void end_waiting(const struct sigaction *before)
{
    for (size_t i = 0; i < PASSED_COUNT; i++)
        sigaction(passed[i], &before[i], NULL);
}

int gd_supervise_wait(pid_t process)
{
    struct sigaction before[PASSED_COUNT];
    int status = 0;
    begin_waiting(&process, 1, before);
    while (waitpid(process, &status, 0) < 0 && errno == EINTR)
        continue;
    children[0] = 0;
    end_waiting(before);
    return code_of(status);
}

static void end_all(int signal_number)
{
    for (size_t i = 0; i < GD_SUPERVISE_MOST; i++)
        if (children[i] > 0)
            kill(children[i], signal_number);
}

/* Whether it was one of them. */
static bool forget(pid_t process)
{
    for (size_t i = 0; i < GD_SUPERVISE_MOST; i++)
        if (children[i] == process) {
            children[i] = 0;
            return true;
        }
    return false;
}

int gd_supervise_wait_all(const pid_t *processes, size_t count)
{
    enum { TURNS = 250 };
    const struct timespec turn = {.tv_nsec = 20000000};
    struct sigaction before[PASSED_COUNT];
    int first = 0, turns = 0;
    begin_waiting(processes, count, before);
    while (count > 0) {
        int status = 0;
        pid_t ended = waitpid(-1, &status, first != 0 ? WNOHANG : 0);
        if (ended < 0 && errno != EINTR)
            break;
        if (ended == 0) {
            nanosleep(&turn, NULL);
            if (++turns == TURNS)
                end_all(SIGKILL);
        } else if (ended > 0 && forget(ended)) {
            count--;
            if (first == 0 && (first = code_of(status)) != 0)
                end_all(SIGTERM);
        }
    }
    end_waiting(before);
    return first;
}

int gd_supervise_wait_own(pid_t process)
{
    received = 0;
    int ended = gd_supervise_wait(process);
    return received != 0 ? BY_SIGNAL + received : ended;
}
