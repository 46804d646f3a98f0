/* Words for the constants of griddep.h, and a mode by its name. */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/error.h"
#include "run/launch/words.h"

static const char *const reasons[] = {
#define GD_REASON(constant, text) [GRIDDEP_REASON_##constant] = (text),
#include "run/launch/reasons.def"
#undef GD_REASON
};

static const struct {
    const char *name, *text;
} overlaps[] = {{"unknown", "not known"},
                {"none", "no overlap"},
                {"tail", "overlaps at the tail"},
                {"full", "overlaps"}};

static const char *const modes[GRIDDEP_MODE_COUNT] = {[GRIDDEP_MODE_SERIAL] = "serial",
                                                      [GRIDDEP_MODE_PDL] = "pdl",
                                                      [GRIDDEP_MODE_GRAPH] = "graph",
                                                      [GRIDDEP_MODE_GRAPH_PDL] = "graph-pdl"};

static const char *const outcomes[] = {
    "faster",          "no gain",           "slower",  "tried already", "no such place",
    "fails the check", "different results", "refused", "not confirmed"};

static bool is_overlap(int32_t overlap)
{
    return overlap >= GRIDDEP_OVERLAP_UNKNOWN && overlap <= GRIDDEP_OVERLAP_FULL;
}

const char *gd_overlap_name(int32_t overlap)
{
    return is_overlap(overlap) ? overlaps[overlap - GRIDDEP_OVERLAP_UNKNOWN].name : NULL;
}

static const char *find(const char *const *texts, size_t count, int32_t value, const char *none)
{
    return value >= 0 && (size_t)value < count ? texts[value] : none;
}

#define FIND(texts, value, none) find(texts, sizeof(texts) / sizeof *(texts), value, none)

const char *griddep_text(int32_t kind, int32_t value)
{
    switch (kind) {
    case GRIDDEP_TEXT_STATUS:
        return gd_error_text(value);
    case GRIDDEP_TEXT_REASON:
        return FIND(reasons, value, "unknown reason");
    case GRIDDEP_TEXT_OVERLAP:
        return is_overlap(value) ? overlaps[value - GRIDDEP_OVERLAP_UNKNOWN].text : NULL;
    case GRIDDEP_TEXT_MODE:
        return FIND(modes, value, NULL);
    case GRIDDEP_TEXT_TUNE_OUTCOME:
        return FIND(outcomes, value, "unknown");
    default:
        return NULL;
    }
}

int32_t griddep_mode_find(const char *name, int32_t *mode, griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!name || !mode)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "%s is NULL", name ? "mode" : "name");
    for (int32_t i = 0; i < GRIDDEP_MODE_COUNT; i++) {
        if (!strcmp(modes[i], name)) {
            *mode = i;
            return GRIDDEP_OK;
        }
    }
    return gd_error_set(error, GRIDDEP_ERROR_NOT_FOUND,
                        "there is no mode \"%s\"; there are serial, pdl, graph and graph-pdl",
                        name);
}
