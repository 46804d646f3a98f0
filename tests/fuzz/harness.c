#include "harness.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_JOBS = 256, CASE_SECONDS = 120 }; /* of processor time, which no case comes near */

/* What a child tells: shared, so that it outlives a crash. */
typedef struct job {
    pid_t process;
    uint64_t chunk, end;
    volatile uint64_t number;
    volatile uint64_t counts[FUZZ_COUNTERS];
} job;

typedef struct settings {
    uint64_t from, count, seconds, print;
    uint32_t jobs;
    bool prints;
} settings;

static job *jobs, *own;

/* ---- random numbers ---- */

static uint64_t state = 1;

uint64_t fuzz_bits(void)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * UINT64_C(0x2545f4914f6cdd1d);
}

uint32_t fuzz_draw(uint32_t below)
{
    return (uint32_t)(fuzz_bits() >> 33) % below;
}

void fuzz_seed(uint64_t number)
{
    state = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    state = state ? state : 1;
    for (int i = 0; i < 4; i++)
        fuzz_bits();
}

void fuzz_count(uint32_t counter)
{
    if (own)
        own->counts[counter]++;
}

char *fuzz_read_file(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    char *data = NULL;
    long size = -1;

    if (file && !fseek(file, 0, SEEK_END) && (size = ftell(file)) >= 0 &&
        !fseek(file, 0, SEEK_SET) && (data = malloc((size_t)size + 1)) &&
        fread(data, 1, (size_t)size, file) != (size_t)size) {
        free(data);
        data = NULL;
    }
    if (file)
        fclose(file);
    if (!data) {
        fprintf(stderr, "%s cannot be read\n", path);
        return NULL;
    }
    data[size] = 0;
    *bytes = (size_t)size;
    return data;
}

/* ---- chunks ---- */

static void limit_time(void)
{
    const struct itimerval limit = {.it_value = {.tv_sec = CASE_SECONDS}};

    setitimer(ITIMER_PROF, &limit, NULL); /* SIGPROF ends the process */
}

static void run_chunk(const fuzz_target *target, job *mine)
{
    own = mine;
    target->begin(mine->chunk);
    for (uint64_t number = mine->number; number < mine->end; number++) {
        mine->number = number;
        limit_time();
        target->one(number);
    }
    mine->number = mine->end;
    exit(0); /* leaks are looked for */
}

static bool start(const fuzz_target *target, job *mine)
{
    fflush(NULL);
    pid_t process = fork();
    if (process == 0)
        run_chunk(target, mine);
    mine->process = process; /* shared: not for the child to write */
    return process > 0;
}

static void tell(const fuzz_target *target, const job *mine, int how)
{
    const char *what = WIFSIGNALED(how) && WTERMSIG(how) == SIGPROF ? "does not end"
                       : WIFSIGNALED(how)                           ? strsignal(WTERMSIG(how))
                                                                    : "ended by a sanitizer";

    if (mine->number == mine->end)
        printf("FINDING: %s: chunk %" PRIu64 ": ended by a sanitizer at its end\n", target->name,
               mine->chunk);
    else
        printf("FINDING: %s: case %" PRIu64 ": %s; it is repeated by --from %" PRIu64
               " --count %" PRIu64 "\n",
               target->name, mine->number, what, mine->chunk * FUZZ_CHUNK,
               mine->number - mine->chunk * FUZZ_CHUNK + 1);
    fflush(stdout);
}

static job *find_job(uint32_t count, pid_t process)
{
    for (uint32_t i = 0; i < count; i++) {
        if (jobs[i].process == process)
            return &jobs[i];
    }
    return NULL;
}

/* The next chunk of a job; false when all have begun. */
static bool next_chunk(const settings *from, uint64_t *next, time_t begun, job *mine)
{
    uint64_t end = from->from + from->count, stop = (*next / FUZZ_CHUNK + 1) * FUZZ_CHUNK;
    bool over = from->seconds ? (uint64_t)(time(NULL) - begun) >= from->seconds : *next >= end;

    if (over)
        return false;
    mine->chunk = *next / FUZZ_CHUNK;
    mine->number = *next;
    mine->end = from->seconds || stop < end ? stop : end;
    *next = mine->end;
    return true;
}

static int report(const fuzz_target *target, const settings *from, uint64_t cases,
                  uint64_t findings)
{
    uint64_t first = 0;

    printf("%s: %" PRIu64 " cases", target->name, cases);
    for (uint32_t i = 0; i < FUZZ_COUNTERS && target->counters[i]; i++) {
        uint64_t sum = 0;
        for (uint32_t j = 0; j < from->jobs; j++)
            sum += jobs[j].counts[i];
        first = i ? first : sum;
        printf(", %" PRIu64 " %s", sum, target->counters[i]);
    }
    printf(", %" PRIu64 " findings\n", findings);
    if (first < cases / 20)
        printf("too few cases are %s\n", target->counters[0]);
    return findings || first < cases / 20;
}

static int run_all(const fuzz_target *target, const settings *from)
{
    uint64_t next = from->from, findings = 0, running = 0;
    const time_t begun = time(NULL);
    int how;

    for (uint32_t i = 0; i < from->jobs; i++)
        running += next_chunk(from, &next, begun, &jobs[i]) && start(target, &jobs[i]);
    while (running) {
        pid_t process = wait(&how);
        if (process < 0 && errno == EINTR)
            continue;
        job *mine = find_job(from->jobs, process);
        if (process < 0)
            break;
        if (!mine)
            continue;
        running--;
        mine->process = 0;
        if (how) {
            findings++;
            tell(target, mine, how);
            mine->number += mine->number < mine->end;
        }
        bool more = mine->number < mine->end || next_chunk(from, &next, begun, mine);
        running += more && start(target, mine);
    }
    return report(target, from, next - from->from, findings);
}

/* ---- options ---- */

static bool read_options(int count, char **arguments, settings *into)
{
    static const struct option known[] = {{"from", 1, NULL, 'f'},    {"count", 1, NULL, 'c'},
                                          {"seconds", 1, NULL, 's'}, {"jobs", 1, NULL, 'j'},
                                          {"print", 1, NULL, 'p'},   {0}};
    int letter;

    *into = (settings){.count = FUZZ_CHUNK, .jobs = 1};
    while ((letter = getopt_long(count, arguments, "", known, NULL)) != -1) {
        const uint64_t value = letter == '?' ? 0 : strtoull(optarg, NULL, 0);
        into->from = letter == 'f' ? value : into->from;
        into->count = letter == 'c' ? value : into->count;
        into->seconds = letter == 's' ? value : into->seconds;
        into->jobs = letter == 'j' ? (uint32_t)value : into->jobs;
        into->print = letter == 'p' ? value : into->print;
        into->prints |= letter == 'p';
        if (letter == '?')
            return false;
    }
    return into->jobs > 0 && into->jobs <= MOST_JOBS;
}

int fuzz_main(int count, char **arguments, const fuzz_target *target)
{
    settings from;

    if (!read_options(count, arguments, &from)) {
        fprintf(stderr,
                "usage: %s [--from N] [--count N] [--seconds S] [--jobs J] [--print N] [FILE...]\n",
                arguments[0]);
        return 64;
    }
    if (!target->read_files(arguments + optind, count - optind))
        return 66;
    if (from.prints) {
        target->print(from.print, stdout);
        return 0;
    }
    jobs = mmap(NULL, MOST_JOBS * sizeof *jobs, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                -1, 0);
    return jobs == MAP_FAILED ? 71 : run_all(target, &from);
}
