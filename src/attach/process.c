/* How this process is attached, and the lock that guards what is observed. */
#include "attach/process.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "attach/next.h"
#include "attach/record.h"
#include "base/environment.h"

static gd_attach_settings settings;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local int depth __attribute__((tls_model("initial-exec")));

static void before_fork(void)
{
    pthread_mutex_lock(&lock);
}

static void behind_fork(void)
{
    pthread_mutex_unlock(&lock);
}

static void in_child(void)
{
    pthread_mutex_init(&lock, NULL);
}

static uint32_t read_early(const char *value)
{
    static const char *const words[] = {[GD_ATTACHED_EARLY_OFF] = "off",
                                        [GD_ATTACHED_EARLY_ON] = "on",
                                        [GD_ATTACHED_EARLY_REWRITE] = "rewrite"};

    for (uint32_t i = 1; value && i < sizeof words / sizeof *words; i++) {
        if (!strcmp(value, words[i]))
            return i;
    }
    return GD_ATTACHED_EARLY_AS_IS;
}

/* The environment is the program's to change later. */
__attribute__((constructor)) static void begin(void)
{
    const char *record = gd_environment("GRIDDEP_ATTACH_RECORD");
    const char *launches = gd_environment("GRIDDEP_ATTACH_LAUNCHES");
    const char *times = gd_environment("GRIDDEP_ATTACH_TIMES");

    settings.early = read_early(gd_environment("GRIDDEP_ATTACH_EARLY"));
    settings.spans = times && !strcmp(times, "each");
    settings.times = settings.spans || (times && !strcmp(times, "on"));
    if (launches)
        sscanf(launches, "%" SCNu64 ":%" SCNu32 ":%" SCNu32, &settings.first_launch,
               &settings.launches, &settings.memory);
    settings.memory = settings.memory ? settings.memory : 1024;
    settings.record = record ? strdup(record) : NULL;
    pthread_atfork(before_fork, behind_fork, in_child);
}

const gd_attach_settings *gd_process_settings(void)
{
    return &settings;
}

bool gd_process_enter(void)
{
    if (depth || (!settings.record && !settings.early))
        return false;
    depth = 1;
    return true;
}

void gd_process_leave(void)
{
    depth = 0;
}

void gd_process_say(const char *text)
{
    gd_attached_message *record = gd_record_add(GD_ATTACHED_MESSAGE, sizeof *record, text, NULL);

    gd_record_commit(record, GD_ATTACHED_MESSAGE);
}

static void begin_record(void)
{
    char text[512];
    int version = 0;

    GD_NEXT(cuDriverGetVersion, &version);
    gd_record_begin(settings.record, version, settings.early);
    if (!gd_environment_check(text, sizeof text))
        gd_process_say(text);
}

bool gd_process_lock(int *kept)
{
    if (!settings.record)
        return false;
    *kept = errno;
    pthread_mutex_lock(&lock);
    if (!gd_record_is_begun())
        begin_record();
    return true;
}

void gd_process_unlock(int kept)
{
    pthread_mutex_unlock(&lock);
    errno = kept;
}
