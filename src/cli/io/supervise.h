/* Child processes: started, waited for, and handed the signals that are meant for them. */
#ifndef GD_CLI_SUPERVISE_H
#define GD_CLI_SUPERVISE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* fork, after which signals for the child are kept until the parent waits for it. */
pid_t gd_supervise_fork(void);

/* Starts a program as execvp does, with this process's environment and streams. Returns 0 and its
 * process, or after a message 127 where there is no such program and 126 where it cannot be run. */
int gd_supervise_start(char *const *arguments, pid_t *process);

/* The same for a program that nobody is to hear: what it prints goes nowhere. It reads this
 * process's input if `reads`, else none. */
int gd_supervise_start_silent(char *const *arguments, bool reads, pid_t *process);

/* Waits for a child. Signals that end programs, and SIGUSR1 and SIGUSR2, are passed on to it when
 * somebody sends them to this process; what a terminal sends, the child has got by itself. Returns
 * the child's exit code, 128 and the signal's number where one ended it. */
int gd_supervise_wait(pid_t process);

/* The same for several, at most GD_SUPERVISE_MOST. When one fails, the others are ended: by
 * SIGTERM, and 5 seconds later by SIGKILL. Returns 0, or what the first that failed would have
 * returned. */
enum { GD_SUPERVISE_MOST = 64 };
int gd_supervise_wait_all(const pid_t *processes, size_t count);

/* gd_supervise_wait for a part of this command: a signal that is meant to end the command counts as
 * having ended the child, which may just have come to its end. */
int gd_supervise_wait_own(pid_t process);

#endif
