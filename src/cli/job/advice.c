/* Tries what griddep rewrite would do. */
#include "cli/job/advice.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/io/heap.h"
#include "run/private.h"

/* What the kernels of a text need. */
typedef struct advice_need {
    uint32_t never, sometimes;
    bool triggers; /* some kernel has a trigger already */
} advice_need;

static advice_need find_need(const griddep_findings *findings)
{
    advice_need need = {0};
    const gd_verdict *verdict;
    for (uint32_t i = 0; (verdict = gd_findings_verdict(findings, i)) != NULL; i++) {
        need.never += verdict->waits == GD_WAITS_NEVER;
        need.sometimes += verdict->waits == GD_WAITS_SOMETIMES;
        need.triggers |= verdict->trigger_count > 0;
    }
    return need;
}

static bool waits_always(const griddep_ptx *ptx)
{
    griddep_ptx_entry_info info = {.size = sizeof(info)};
    bool all = true;
    for (uint32_t i = 0; griddep_ptx_get_entry(ptx, i, &info, NULL) == GRIDDEP_OK; i++)
        all &= (info.traits & GRIDDEP_TRAIT_WAITS_ALWAYS) != 0;
    return all;
}

/* "" where the options do it, else why not; to free. */
static char *try_rewrite(const griddep_ptx *ptx, const griddep_rewrite_options *options)
{
    griddep_ptx *made = NULL;
    griddep_error error;
    griddep_error_init(&error);
    char *reason = NULL;
    if (griddep_ptx_rewrite(ptx, options, &made, NULL, &error) != GRIDDEP_OK)
        reason = gd_heap_string(error.text);
    else
        reason = gd_heap_string(waits_always(made) ? "" : "some path still leaves without a wait");
    griddep_ptx_destroy(made);
    return reason;
}

static char *write_command(const char *path, const griddep_rewrite_options *options)
{
    char *command = gd_heap_format("griddep rewrite %s%s", path,
                                   options->wait == GRIDDEP_WAIT_MOVE ? " --wait move" : "");
    for (uint32_t i = 0; i < options->constant_count; i++) {
        char *longer = gd_heap_format("%s --constant %s", command, options->constants[i]);
        free(command);
        command = longer;
    }
    char *whole = gd_heap_format("%s -o NEW.ptx", command);
    free(command);
    return whole;
}

gd_advice gd_advice_find(const char *text, size_t bytes, const char *path,
                         const griddep_findings *findings, const gd_option_list *constants)
{
    advice_need need = find_need(findings);
    griddep_rewrite_options options = {.size = sizeof(options),
                                       .constants = constants->values,
                                       .constant_count = (uint32_t)constants->count};
    griddep_ptx *ptx = NULL;
    gd_advice advice = {0};
    if (need.never + need.sometimes == 0 ||
        griddep_ptx_parse(text, bytes, path, &ptx, NULL) != GRIDDEP_OK)
        return advice;
    options.wait = need.sometimes > 0 ? GRIDDEP_WAIT_MOVE : GRIDDEP_WAIT_INSERT;
    options.trigger =
        need.triggers || need.sometimes > 0 ? GRIDDEP_TRIGGER_KEEP : GRIDDEP_TRIGGER_START;
    char *reason = try_rewrite(ptx, &options);
    griddep_ptx_destroy(ptx);
    if (reason[0] == '\0') {
        advice.command = write_command(path, &options);
        free(reason);
    } else {
        advice.reason = reason;
    }
    return advice;
}

void gd_advice_free(gd_advice *advice)
{
    free(advice->command);
    free(advice->reason);
    *advice = (gd_advice){0};
}
