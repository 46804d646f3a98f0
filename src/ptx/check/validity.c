/* Findings about texts that ptxas refuses. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "ptx/check/validity.h"
#include "ptx/isa/form.h"

void gd_validity_add(gd_validity *check, gd_code code, uint32_t token, const char *hint,
                     const char *format, ...)
{
    const gd_finding_draft draft = {.code = code,
                                    .severity = check->newer ? GRIDDEP_SEVERITY_WARNING : 0,
                                    .launch = -1,
                                    .module = check->module,
                                    .token = token,
                                    .hint = hint && *hint ? hint : NULL};
    char text[400];
    va_list arguments;

    va_start(arguments, format);
    gd_format_list(text, sizeof text, format, arguments);
    va_end(arguments);
    gd_findings_add(check->findings, &draft, "%s", text);
    check->wrong |= !check->newer;
}

void gd_guess_look(gd_guess *best, const char *name, size_t length)
{
    char text[GD_GUESS_BYTES];
    gd_nearest nearest = {.word = best->nearest.word, .bytes = best->nearest.bytes};

    if (length >= sizeof text)
        return;
    snprintf(text, sizeof text, "%.*s", (int)length, name);
    gd_nearest_look(&nearest, text);
    if (!nearest.name || (best->name[0] && nearest.distance >= best->distance))
        return;
    best->distance = nearest.distance;
    memcpy(best->name, text, sizeof text);
}

int32_t gd_check_validity(griddep_findings *findings, const gd_ptx_module *module, bool *wrong,
                          griddep_error *error)
{
    gd_validity check = {
        .findings = findings, .module = module, .newer = module->version > GD_FORMS_VERSION};

    gd_check_declarations(&check);
    int32_t status = gd_check_instructions(&check, error);
    *wrong = check.wrong;
    return status;
}
