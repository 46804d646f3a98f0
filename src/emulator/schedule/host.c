/* Host functions: their calls, without the driver's lock, and the thread that brings work forward
 * while one is due.
 *
 * Work runs when the program waits for it. A program that hands in a host function, and then waits
 * in a way of its own to be called, never does that. So a thread of the emulator runs what has been
 * handed in as soon as the program has made no call for a moment, or has kept a host function
 * waiting for long: a program that hands in its work at one go and then waits by the driver gets
 * the same run as ever. */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "emulator/schedule/host.h"
#include "emulator/schedule/schedule.h"

enum { QUIET_TIME = 1000000, LONG_TIME = 50000000, OTHERS_TIME = 1000000000 }; /* nanoseconds */

static struct {
    pthread_t thread;
    pthread_cond_t wake, over; /* the thread; a host function is over */
    bool started, stops, hurry;
    uint64_t calls;   /* that the program has made, and returns */
    uint32_t running; /* host functions, in any thread */
} hosts;

/* ---- calls ---- */

static uint64_t get_time(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void gd_call_count(void)
{
    hosts.calls++;
}

uint64_t gd_call_get_count(void)
{
    return hosts.calls;
}

/* The lock is held before and after. */
static void begin_host(void)
{
    hosts.running++;
    gd_call_enter_callback();
    pthread_mutex_unlock(&gd_call_mutex);
}

static void end_host(void)
{
    gd_call_lock();
    gd_call_leave_callback();
    hosts.running--;
    if (hosts.started)
        pthread_cond_broadcast(&hosts.over);
}

void gd_call_host(const gd_host_work *host, gd_CUresult status)
{
    begin_host();
    if (host->callback)
        host->callback(host->stream, status, host->user);
    else
        host->function(host->user);
    end_host();
}

bool gd_call_runs_host(void)
{
    return hosts.running != 0;
}

void gd_call_wait_host(void)
{
    pthread_cond_wait(&hosts.over, &gd_call_mutex);
}

/* ---- other threads ---- */

/* Of the process, beside the calling one and the one below. */
bool gd_call_has_others(void)
{
    const bool is_own = hosts.started && !pthread_equal(pthread_self(), hosts.thread);
    DIR *folder = opendir("/proc/self/task");
    int count = 0;

    for (const struct dirent *entry; folder && (entry = readdir(folder));)
        count += entry->d_name[0] != '.';
    if (folder)
        closedir(folder);
    return count > 1 + is_own;
}

bool gd_call_await_others(void)
{
    const struct timespec moment = {.tv_nsec = QUIET_TIME};
    const uint64_t calls = hosts.calls, end = get_time() + OTHERS_TIME;

    if (!gd_call_has_others())
        return false;
    while (hosts.calls == calls && get_time() < end) {
        pthread_mutex_unlock(&gd_call_mutex);
        nanosleep(&moment, NULL);
        gd_call_lock();
    }
    return hosts.calls != calls;
}

/* ---- the thread ---- */

static void sleep_until(uint64_t time)
{
    const struct timespec limit = {.tv_sec = (time_t)(time / 1000000000),
                                   .tv_nsec = (long)(time % 1000000000)};

    pthread_cond_timedwait(&hosts.wake, &gd_call_mutex, &limit);
}

/* Waits until the program is quiet, or has been busy for long; false when there is nothing to run
 * after all. */
static bool wait_for_quiet(void)
{
    const uint64_t begin = get_time();
    uint64_t quiet = begin, calls = hosts.calls, now = begin;

    while (!hosts.stops && gd_schedule_hosts_left() && !gd_schedule_has_dropped() && !hosts.hurry &&
           now < quiet + QUIET_TIME && now < begin + LONG_TIME) {
        sleep_until(now + QUIET_TIME);
        now = get_time();
        if (hosts.calls != calls)
            quiet = now;
        calls = hosts.calls;
    }
    hosts.hurry = false;
    return !hosts.stops && gd_schedule_hosts_left();
}

/* A slice at a time, between which the program's calls get in. */
static void run(void)
{
    while (!hosts.stops && gd_schedule_hosts_left()) {
        if (gd_schedule_advance() || !gd_call_runs_host())
            gd_call_let_others_in();
        else
            gd_call_wait_host();
    }
}

/* After a fault, cuStreamAddCallback's functions are told of it; cuLaunchHostFunc's are never
 * called. */
static void tell_dropped(gd_task *task)
{
    const gd_host_work *host = &task->work.is.host;

    gd_call_host(host, host->status);
    gd_task_release(task);
}

static void *serve(void *nothing)
{
    gd_call_lock();
    while (!hosts.stops) {
        gd_task *dropped = gd_schedule_take_dropped();
        if (dropped)
            tell_dropped(dropped);
        else if (!gd_schedule_hosts_left())
            pthread_cond_wait(&hosts.wake, &gd_call_mutex);
        else if (wait_for_quiet())
            run();
    }
    pthread_mutex_unlock(&gd_call_mutex);
    return nothing;
}

/* Signals are for the program's own threads. */
static bool start(void)
{
    pthread_condattr_t clock;
    sigset_t all, before;

    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&hosts.wake, &clock);
    pthread_cond_init(&hosts.over, NULL);
    pthread_condattr_destroy(&clock);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    hosts.started = pthread_create(&hosts.thread, NULL, serve, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!hosts.started) {
        pthread_cond_destroy(&hosts.wake);
        pthread_cond_destroy(&hosts.over);
    }
    return hosts.started;
}

bool gd_call_expect_host(void)
{
    if (hosts.started)
        pthread_cond_signal(&hosts.wake);
    return hosts.started || start();
}

void gd_call_hurry_host(void)
{
    hosts.hurry = true;
    gd_call_expect_host();
}

void gd_call_stop_hosts(void)
{
    pthread_t thread = hosts.thread;

    if (!hosts.started)
        return;
    hosts.stops = true;
    pthread_cond_signal(&hosts.wake);
    pthread_mutex_unlock(&gd_call_mutex);
    pthread_join(thread, NULL);
    gd_call_lock();
    pthread_cond_destroy(&hosts.wake);
    pthread_cond_destroy(&hosts.over);
    hosts.started = hosts.stops = false;
}

void gd_call_forget_hosts(void)
{
    hosts.started = false;
    hosts.running = 0;
    gd_call_leave_callback();
}
