/* Calls of the driver: the lock, why a call is refused, results as words, and the entry points
 * cuGetError*. */
#include <ctype.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/format.h"
#include "emulator/driver/call.h"
#include "emulator/driver/context.h"
#include "emulator/schedule/host.h"
#include "emulator/schedule/schedule.h"

enum { WORDS_BYTES = 64 };

static bool has_ended, is_child;

/* Of the call that this thread is in. */
static __thread gd_context *current;

/* Why the last call of a thread that ended with this result was refused. */
static __thread struct {
    gd_CUresult result;
    bool fresh; /* by the call that is being carried out */
    char text[768];
} refusal;

/* ---- lock ---- */

gd_CUresult gd_call_begin(gd_call_need need)
{
    bool destroyed = false;

    if (gd_call_is_inside())
        return GD_CUDA_ERROR_NOT_PERMITTED;
    gd_call_lock();
    gd_call_count();
    if (need == GD_NEED_LIVE && gd_the_emulator.initialized && !has_ended && !is_child)
        gd_schedule_relieve();
    refusal.fresh = false;
    current = NULL;
    gd_CUresult result = GD_CUDA_SUCCESS;
    if (has_ended)
        result = GD_CUDA_ERROR_DEINITIALIZED;
    else if (need >= GD_NEED_INIT && (!gd_the_emulator.initialized || is_child))
        result = GD_CUDA_ERROR_NOT_INITIALIZED;
    if (result == GD_CUDA_SUCCESS)
        current = gd_context_current(&destroyed);
    if (result == GD_CUDA_SUCCESS && need >= GD_NEED_CONTEXT && !current)
        result = destroyed ? GD_CUDA_ERROR_CONTEXT_IS_DESTROYED : GD_CUDA_ERROR_INVALID_CONTEXT;
    if (result == GD_CUDA_SUCCESS && need == GD_NEED_LIVE)
        result = current->fault;
    if (result != GD_CUDA_SUCCESS)
        pthread_mutex_unlock(&gd_call_mutex);
    return result;
}

gd_context *gd_call_context(void)
{
    return current;
}

/* A call that only looks something up takes less than a second. */
gd_end gd_call_end_all(void)
{
    struct timespec limit;

    if (gd_call_is_inside())
        return GD_END_INSIDE;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec++;
    if (!gd_call_try_lock(&limit))
        return GD_END_BUSY;
    if (gd_call_runs_host()) {
        pthread_mutex_unlock(&gd_call_mutex);
        return GD_END_BUSY;
    }
    has_ended = true;
    return GD_END_DONE;
}

/* ---- fork ---- */

/* A child has none of the other threads, one of which may have had the lock; nothing is used that
 * it guards. */
static void enter_child(void)
{
    gd_call_renew_lock();
    gd_call_forget_hosts();
    is_child = gd_the_emulator.initialized;
}

bool gd_call_watch_forks(void)
{
    static bool watches;

    watches = watches || pthread_atfork(NULL, NULL, enter_child) == 0;
    return watches;
}

bool gd_call_is_child(void)
{
    return is_child;
}

/* ---- refusals ---- */

gd_CUresult gd_device_refuse(gd_CUresult result, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    gd_format_list(refusal.text, sizeof refusal.text, format, list);
    va_end(list);
    refusal.result = result;
    refusal.fresh = true;
    return result;
}

bool gd_device_has_reason(gd_CUresult result)
{
    return refusal.fresh && refusal.result == result;
}

gd_CUresult gd_device_unsupported(const char *what)
{
    return gd_device_refuse(GD_CUDA_ERROR_NOT_SUPPORTED, "%s is not emulated", what);
}

/* Whether this is the first time; what there is no room to remember counts as new. */
static bool is_new_refusal(const char *function)
{
    static uint64_t said[1024];
    static size_t count;
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

    for (const char *at = function; *at; at++)
        hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
    for (const char *at = refusal.text; *at; at++)
        hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
    for (size_t i = 0; i < count; i++) {
        if (said[i] == hash)
            return false;
    }
    if (count < sizeof said / sizeof *said)
        said[count++] = hash;
    return true;
}

/* The log learns of what a call refused. */
static void tell_end(const char *function, gd_CUresult result)
{
    const bool told = gd_device_has_reason(result),
               named = !strncmp(refusal.text, function, strlen(function));
    const char *prefix = named ? "" : function, *colon = named ? "" : ": ";

    if (result == GD_CUDA_SUCCESS || result == GD_CUDA_ERROR_NOT_READY)
        return;
    if (told && !*gd_the_emulator.refused)
        snprintf(gd_the_emulator.refused, sizeof gd_the_emulator.refused, "%s%s%s", prefix, colon,
                 refusal.text);
    if (!told && refusal.result == result)
        refusal.result = GD_CUDA_SUCCESS;
    if (!told)
        gd_device_log(GRIDDEP_LOG_INFO, "%s returns %s", function, gd_device_result_name(result));
    else if (is_new_refusal(function))
        gd_device_log(GRIDDEP_LOG_WARNING, "%s%s%s: %s", prefix, colon, refusal.text,
                      gd_device_result_name(result));
}

gd_CUresult gd_call_end(const char *function, gd_CUresult result)
{
    tell_end(function, result);
    gd_call_count();
    pthread_mutex_unlock(&gd_call_mutex);
    return result;
}

/* ---- results as words ---- */

typedef struct result_words {
    gd_CUresult result;
    char words[WORDS_BYTES]; /* made of its name */
} result_words;

static result_words results[] = {
#define GD_RESULT(name, value, status) {value, ""},
#include "cuda/abi_errors.def"
#undef GD_RESULT
};

static result_words *find_result(gd_CUresult result)
{
    for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
        if (results[i].result == result)
            return &results[i];
    }
    return NULL;
}

/* CUDA_ERROR_ILLEGAL_ADDRESS reads "illegal address"; refusals and the last fault have texts of
 * their own. The program reads them without the lock, so words are written once, and a fault's text
 * is the thread's copy. */
static const char *describe(result_words *entry)
{
    static __thread char told[sizeof gd_the_emulator.fault_text];
    const char *name = gd_device_result_name(entry->result) + strlen("CUDA_");

    if (entry->result != GD_CUDA_SUCCESS && entry->result == refusal.result)
        return refusal.text;
    if (entry->result != GD_CUDA_SUCCESS && entry->result == gd_the_emulator.last_fault)
        return memcpy(told, gd_the_emulator.fault_text, sizeof told);
    if (!strncmp(name, "ERROR_", 6))
        name += 6;
    for (size_t i = 0; !entry->words[i] && i < WORDS_BYTES - 1 && name[i]; i++)
        entry->words[i] = name[i] == '_' ? ' ' : (char)tolower((unsigned char)name[i]);
    return entry->words;
}

static gd_CUresult tell_result(gd_CUresult result, const char **text, bool words)
{
    result_words *found = find_result(result);

    if (!text)
        return GD_CUDA_ERROR_INVALID_VALUE;
    *text = found && words ? describe(found) : gd_device_result_name(result);
    return found ? GD_CUDA_SUCCESS : GD_CUDA_ERROR_INVALID_VALUE;
}

/* ---- entry points ---- */

gd_CUresult gd_cuGetErrorName(gd_CUresult error, const char **name)
{
    return tell_result(error, name, false);
}

gd_CUresult gd_cuGetErrorString(gd_CUresult error, const char **text)
{
    return tell_result(error, text, true);
}
