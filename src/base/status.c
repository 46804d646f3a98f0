/* Names and texts of the status list, made from status.def. */
#include <stddef.h>

#include "griddep.h"

typedef struct status_entry {
    const char *name;
    const char *text;
} status_entry;

#define X(name, value, text)                                                                       \
    _Static_assert(GRIDDEP_##name == (value), "status.def and griddep.h disagree on " #name);
#include "base/status.def"
#undef X

#define X(name, value, text) [-(value)] = {"GRIDDEP_" #name, text},
static const status_entry entries[] = {
#include "base/status.def"
};
#undef X

static const status_entry *entry_of(int32_t status)
{
    static const status_entry unknown = {"GRIDDEP_ERROR_UNKNOWN",
                                         "a status that this library does not know"};
    int32_t count = (int32_t)(sizeof entries / sizeof entries[0]);

    return status > 0 || status <= -count ? &unknown : &entries[-status];
}

const char *griddep_status_name(int32_t status)
{
    return entry_of(status)->name;
}

const char *griddep_status_text(int32_t status)
{
    return entry_of(status)->text;
}
