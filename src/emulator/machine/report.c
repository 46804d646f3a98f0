/* The list of findings, and how they are written. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "emulator/machine/report.h"

enum {
    MOST_FINDINGS = 10000,
    BUCKETS = 1024
}; /* that are told apart; what comes behind is counted */

typedef struct finding {
    const char *kind;
    uint32_t first_site, second_site;
    uint64_t place; /* tells findings without sites apart */
    uint64_t times;
    uint32_t next; /* in its bucket, from 1; 0: none */
} finding;

static struct {
    uint32_t checks;
    const char *path;
    bool several_devices;
    finding *list;
    uint32_t count, capacity;
    uint64_t reports;
    uint32_t buckets[BUCKETS];
} findings;

void gd_report_begin(uint32_t checks, const char *path, bool several_devices)
{
    findings.checks = checks;
    findings.path = path;
    findings.several_devices = several_devices;
}

/* ---- JSON ---- */

/* What is no UTF-8 becomes U+FFFD, byte by byte: a line of JSON has to be readable whatever a
 * program holds. */
static void put_string(gd_text *text, const char *string)
{
    if (!string) {
        gd_text_string(text, "null");
        return;
    }
    gd_text_string(text, "\"");
    while (*string) {
        const size_t length = gd_text_character(string);
        const unsigned char first = (unsigned char)*string;
        if (first == '"' || first == '\\')
            gd_text_format(text, "\\%c", first);
        else if (first < 0x20 || first == 0x7f)
            gd_text_format(text, "\\u%04x", first);
        else if (length)
            gd_text_append(text, string, length);
        else
            gd_text_string(text, "\\ufffd");
        string += length ? length : 1;
    }
    gd_text_string(text, "\"");
}

static const char *action_name(const gd_race_access *access)
{
    static const char *const names[] = {"read", "write", "atomic",      "copy",      "fill",
                                        "host", "free",  "conditional", "allocation"};

    return names[access->action];
}

static void put_access(gd_text *text, const char *name, const gd_race_access *access)
{
    gd_text_format(text, ",\"%s\":", name);
    if (!access) {
        gd_text_string(text, "null");
        return;
    }
    gd_text_string(text, "{\"kernel\":");
    put_string(text, access->kernel);
    gd_text_format(text,
                   ",\"launch\":%" PRIu64
                   ",\"device\":%u,\"cta\":[%u,%u,%u],\"thread\":[%u,%u,%u],\"module\":%u",
                   access->launch, access->device, access->cta[0], access->cta[1], access->cta[2],
                   access->thread[0], access->thread[1], access->thread[2], access->module);
    gd_text_format(text, ",\"line\":%d,\"column\":%d,\"instruction\":", access->line,
                   access->column);
    put_string(text, access->instruction);
    gd_text_format(text, ",\"action\":\"%s\",\"writes\":%s,\"bytes\":%u}", action_name(access),
                   access->writes ? "true" : "false", access->bytes);
}

/* ---- text ---- */

static void put_access_text(gd_text *text, const char *name, const gd_race_access *access)
{
    if (!access)
        return;
    gd_text_format(text, "    %-12s", name);
    if (!access->kernel) {
        gd_text_format(text, "a %s of %u %s\n", action_name(access), access->bytes,
                       gd_plural(access->bytes, "byte", "bytes"));
        return;
    }
    if (!access->launch) {
        gd_text_format(text, "kernel %s, module %u line %d\n              %s\n", access->kernel,
                       access->module, access->line,
                       access->instruction ? access->instruction : "");
        return;
    }
    gd_text_format(text, "kernel %s (launch %" PRIu64 ")", access->kernel, access->launch);
    if (findings.several_devices)
        gd_text_format(text, " on device %u", access->device);
    gd_text_format(text, ", CTA (%u, %u, %u), thread (%u, %u, %u), module %u line %d",
                   access->cta[0], access->cta[1], access->cta[2], access->thread[0],
                   access->thread[1], access->thread[2], access->module, access->line);
    gd_text_format(text, "\n              %s\n", access->instruction ? access->instruction : "");
}

/* ---- writing ---- */

static bool write_all(int file, const char *at)
{
    for (size_t left = strlen(at); left;) {
        ssize_t done = write(file, at, left);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        at += done;
        left -= (size_t)done;
    }
    return true;
}

/* All at once, so that lines of several processes do not mix. What the report cannot take goes to
 * stderr, and so does all where it is a pipe from which nobody reads. */
static void write_out(gd_text *text)
{
    const char *path = findings.path;
    const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK;
    int file = path ? open(path, flags, 0666) : STDERR_FILENO;
    bool written = file >= 0 && (!path || !fcntl(file, F_SETFL, O_APPEND)) &&
                   write_all(file, gd_text_get(text));

    const int cause = errno;
    if (path && file >= 0)
        close(file);
    if (path && !written) {
        gd_text told = {0};
        gd_text_format(&told, "griddep: cannot write findings to %s: %s\n", path, strerror(cause));
        if (told.data)
            gd_text_clean(told.data);
        write_all(STDERR_FILENO, gd_text_get(&told));
        gd_text_free(&told);
        write_all(STDERR_FILENO, gd_text_get(text));
    }
    gd_text_free(text);
}

static void put_name(gd_text *text, const gd_race_named *name)
{
    gd_text_string(text, "{\"text\":");
    put_string(text, name->text);
    if (name->kernel) {
        gd_text_string(text, ",\"kernel\":");
        put_string(text, name->kernel);
        gd_text_format(text, ",\"launch\":%" PRIu64 "}", name->launch);
    } else {
        gd_text_format(text, ",\"start\":\"0x%" PRIx64 "\"}", name->start);
    }
}

/* What is written of a finding. */
typedef struct description {
    const char *text, *missing;
    const gd_race_access *first, *second;
    bool has_memory, shared;
    uint64_t start, bytes, offset;
    const char *name;
    const char *culprit;
    uint64_t culprit_launch;
    const gd_race_named *names;
    uint32_t name_count;
} description;

static void write_json(uint32_t number, const char *kind, const description *is)
{
    gd_text text = {0};

    gd_text_format(&text, "{\"finding\":%u,\"kind\":\"%s\",\"text\":", number, kind);
    put_string(&text, is->text);
    gd_text_string(&text, ",\"missing\":");
    put_string(&text, is->missing);
    gd_text_string(&text, ",\"names\":[");
    for (uint32_t i = 0; i < is->name_count; i++) {
        gd_text_string(&text, i ? "," : "");
        put_name(&text, &is->names[i]);
    }
    gd_text_string(&text, "]");
    put_access(&text, "first", is->first);
    put_access(&text, "second", is->second);
    gd_text_string(&text, ",\"culprit\":");
    if (is->culprit) {
        gd_text_string(&text, "{\"kernel\":");
        put_string(&text, is->culprit);
        gd_text_format(&text, ",\"launch\":%" PRIu64 "}", is->culprit_launch);
    } else {
        gd_text_string(&text, "null");
    }
    if (is->has_memory) {
        gd_text_format(
            &text, ",\"memory\":{\"space\":\"%s\",\"start\":\"0x%" PRIx64 "\",\"bytes\":%" PRIu64,
            is->shared ? "shared" : "global", is->start, is->bytes);
        gd_text_format(&text, ",\"offset\":%" PRIu64 ",\"name\":", is->offset);
        put_string(&text, is->name);
        gd_text_string(&text, "}}\n");
    } else {
        gd_text_string(&text, ",\"memory\":null}\n");
    }
    write_out(&text);
}

static void write_text(const char *kind, const description *is)
{
    gd_text text = {0};

    gd_text_format(&text, "griddep: %s: %s\n", kind, is->text);
    if (is->first && is->second) {
        put_access_text(&text, "ran first:", is->first);
        put_access_text(&text, "ran second:", is->second);
    } else {
        put_access_text(&text, "where:", is->second ? is->second : is->first);
    }
    if (is->has_memory && is->shared)
        gd_text_format(&text, "    memory:   shared memory, byte %" PRIu64 "\n", is->offset);
    else if (is->has_memory)
        gd_text_format(&text,
                       "    memory:   %s%s0x%" PRIx64 " (%" PRIu64 " bytes), byte %" PRIu64 "\n",
                       is->name ? is->name : "allocation", is->name ? " at " : " ", is->start,
                       is->bytes, is->offset);
    if (is->missing)
        gd_text_format(&text, "    missing:  %s\n", is->missing);
    write_out(&text);
}

static uint32_t *bucket_of(const finding *key)
{
    uint64_t hash = ((uint64_t)key->first_site << 32 | key->second_site) ^
                    key->place * UINT64_C(0xff51afd7ed558ccd);

    return &findings.buckets[(hash * UINT64_C(0x9e3779b97f4a7c15) >> 32) % BUCKETS];
}

static finding *find(const finding *key)
{
    for (uint32_t i = *bucket_of(key); i; i = findings.list[i - 1].next) {
        finding *each = &findings.list[i - 1];
        if (!strcmp(each->kind, key->kind) && each->first_site == key->first_site &&
            each->second_site == key->second_site && each->place == key->place)
            return each;
    }
    return NULL;
}

/* False when there are too many. */
static bool append(const finding *key)
{
    if (findings.count == MOST_FINDINGS)
        return false;
    if (findings.count == findings.capacity) {
        uint32_t capacity = findings.capacity ? findings.capacity * 2 : 16;
        finding *more = realloc(findings.list, capacity * sizeof *more);
        if (!more)
            return false;
        findings.list = more;
        findings.capacity = capacity;
    }
    uint32_t *bucket = bucket_of(key);
    finding *added = &findings.list[findings.count++];
    *added = *key;
    added->times = 1;
    added->next = *bucket;
    *bucket = findings.count;
    return true;
}

/* Counts what has been told, and what there is no more room for. */
static bool fold(const finding *key)
{
    finding *found = find(key);

    if (found)
        found->times++;
    findings.reports += found || findings.count == MOST_FINDINGS;
    return found || findings.count == MOST_FINDINGS;
}

static void add(const finding *key, const description *is)
{
    if (fold(key))
        return;
    findings.reports++;
    if (!append(key))
        return;
    if (findings.path)
        write_json(findings.count, key->kind, is);
    else
        write_text(key->kind, is);
}

/* ---- the contract of report.h ---- */

static const char *const race_kinds[] = {"race", "shared-race", "uninitialized"};

bool gd_report_fold(void *context, gd_race_kind kind, uint32_t first_site, uint32_t second_site)
{
    (void)context;
    if (kind == GD_RACE_EXHAUSTED)
        return false;
    const finding key = {
        .kind = race_kinds[kind], .first_site = first_site, .second_site = second_site};
    return fold(&key);
}

void gd_report_race(void *context, const gd_race_finding *race)
{
    if (race->kind == GD_RACE_EXHAUSTED) {
        gd_report_fault("fault", NULL, NULL, 0, NULL, race->text, NULL);
        return;
    }
    bool alone = race->kind == GD_RACE_UNINITIALIZED;
    const finding key = {.kind = race_kinds[race->kind],
                         .first_site = race->first_site,
                         .second_site = race->second_site};
    const description is = {.text = race->text,
                            .missing = race->missing,
                            .first = alone ? NULL : &race->first,
                            .second = &race->second,
                            .has_memory = true,
                            .shared = race->start == 0,
                            .start = race->start,
                            .bytes = race->bytes,
                            .offset = race->offset,
                            .name = race->name,
                            .culprit = race->culprit,
                            .culprit_launch = race->culprit_launch,
                            .names = race->names,
                            .name_count = race->name_count};

    (void)context;
    add(&key, &is);
}

void gd_report_fault(const char *kind, const gd_race_access *access, const gd_allocation *memory,
                     uint64_t address, const char *name, const char *text, const char *missing)
{
    const finding key = {.kind = kind,
                         .place = access ? (uint64_t)access->line << 32 | access->module : address};
    const gd_race_named kernel = {name, access ? access->kernel : NULL, access ? access->launch : 0,
                                  0};
    description is = {.text = text,
                      .missing = missing,
                      .second = access,
                      .names = &kernel,
                      .name_count = name ? 1 : 0};

    if (!findings.checks)
        return;
    if (memory) {
        is.has_memory = true;
        is.start = memory->start;
        is.bytes = memory->bytes;
        is.offset = address - memory->start;
        is.name = memory->name;
    }
    add(&key, &is);
}

void gd_report_leak(uint64_t start, uint64_t bytes)
{
    const finding key = {.kind = "leak", .place = start};
    char name[32], text[128];
    const gd_race_named memory = {.text = name, .start = start};
    const description is = {.text = text,
                            .has_memory = true,
                            .start = start,
                            .bytes = bytes,
                            .names = &memory,
                            .name_count = 1};

    if (!(findings.checks & GD_CHECK_LEAK))
        return;
    snprintf(name, sizeof name, "allocation 0x%" PRIx64, start);
    snprintf(text, sizeof text, "%s of %" PRIu64 " bytes was not freed before its context ended",
             name, bytes);
    add(&key, &is);
}

static void write_end_json(const gd_report_run *run)
{
    gd_text text = {0};

    for (uint32_t i = 0; i < findings.count; i++) {
        if (findings.list[i].times > 1)
            gd_text_format(&text, "{\"count\":%u,\"times\":%" PRIu64 "}\n", i + 1,
                           findings.list[i].times);
    }
    gd_text_format(
        &text, "{\"summary\":true,\"findings\":%u,\"reports\":%" PRIu64 ",\"launches\":%" PRIu64,
        findings.count, findings.reports, run->launches);
    gd_text_string(&text, ",\"refused\":");
    put_string(&text, run->refused);
    gd_text_format(&text, ",\"schedule\":\"%s\",\"seed\":%" PRIu64 ",\"model\":\"%s\"}\n",
                   run->schedule, run->seed, run->model);
    write_out(&text);
}

static void write_end_text(const gd_report_run *run)
{
    gd_text text = {0};

    for (uint32_t i = 0; i < findings.count; i++) {
        if (findings.list[i].times > 1)
            gd_text_format(&text, "griddep: finding %u (%s) came %" PRIu64 " times\n", i + 1,
                           findings.list[i].kind, findings.list[i].times);
    }
    gd_text_format(&text, "griddep: %u %s in %" PRIu64 " %s\n", findings.count,
                   gd_plural(findings.count, "finding", "findings"), run->launches,
                   gd_plural(run->launches, "launch", "launches"));
    write_out(&text);
}

/* Work that nobody waited for, or that a fault cancelled. On stderr in any case. */
static void write_left(uint64_t left)
{
    gd_text text = {0};

    gd_text_format(
        &text, "griddep: %" PRIu64 " launch%s handed in and never ran: nothing of %s was checked\n",
        left, left == 1 ? " was" : "es were", left == 1 ? "it" : "them");
    write_all(STDERR_FILENO, gd_text_get(&text));
    gd_text_free(&text);
}

void gd_report_end(const gd_report_run *run)
{
    if (!findings.checks)
        return;
    if (run->left)
        write_left(run->left);
    if (findings.path)
        write_end_json(run);
    else if (findings.count)
        write_end_text(run);
    free(findings.list);
    memset(&findings, 0, sizeof findings);
}
