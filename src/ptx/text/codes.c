/* The table of codes, and the public functions that show it. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "ptx/text/findings.h"

enum { INFO_MINIMUM = sizeof(griddep_code_info) };

const gd_code_info gd_codes[GD_CODE_COUNT] = {
#define GD_CODE(identifier, weight, headline, text)                                                \
    {.name = #identifier, .severity = GRIDDEP_SEVERITY_##weight, .title = headline, .page = text},
#include "ptx/text/codes.def"
#undef GD_CODE
};

static bool same_code(const char *name, const char *code)
{
    for (; *name; name++, code++) {
        char upper = *code >= 'a' && *code <= 'z' ? (char)(*code - 'a' + 'A') : *code;
        if (upper != *name)
            return false;
    }
    return !*code;
}

int32_t griddep_code_get(uint32_t index, griddep_code_info *info, griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (index >= GD_CODE_COUNT)
        return gd_error_set(error, GRIDDEP_ERROR_NOT_FOUND,
                            "there are %d codes; there is no number %" PRIu32, (int)GD_CODE_COUNT,
                            index);
    const gd_code_info *code = &gd_codes[index];
    const griddep_code_info known = {.size = sizeof known,
                                     .severity = code->severity,
                                     .code = code->name,
                                     .title = code->title,
                                     .page = code->page};
    return gd_struct_write(info, &known, sizeof known, INFO_MINIMUM, "griddep_code_info", error);
}

int32_t griddep_code_find(const char *code, uint32_t *index, griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!code || !index)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "%s is NULL", code ? "index" : "code");
    for (uint32_t i = 0; i < GD_CODE_COUNT; i++) {
        if (same_code(gd_codes[i].name, code)) {
            *index = i;
            return GRIDDEP_OK;
        }
    }
    return gd_error_set(error, GRIDDEP_ERROR_NOT_FOUND, "there is no code %s", code);
}
