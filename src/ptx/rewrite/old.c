#include "ptx/rewrite/old.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "ptx/check/validity.h"
#include "ptx/text/findings.h"

bool gd_rewrite_may_drop(const gd_ptx_module *module, uint32_t token)
{
    if (!gd_ptx_token_is(module, token, "map_f64_to_f32"))
        return false;
    for (token = 0; gd_token_kind(module->tokens.list[token]) != GD_TOKEN_END; token++) {
        if (gd_ptx_token_is(module, token, ".f64"))
            return false;
    }
    return true;
}

/* Whether a finding is about a word of .target that the rewriter takes out. */
static bool is_dropped(const gd_ptx_module *module, const griddep_finding *finding)
{
    int32_t line, column;

    for (uint32_t i = 0; i < module->directive_count; i++) {
        const gd_ptx_directive *directive = &module->directives[i];
        for (uint32_t token = directive->token;
             directive->kind == GD_DIRECTIVE_TARGET && token < directive->token_end; token++) {
            gd_ptx_token_position(module, token, &line, &column);
            if (line == finding->line && column == finding->column &&
                gd_rewrite_may_drop(module, token))
                return true;
        }
    }
    return false;
}

/* Whether a finding is among those of the text as it is: then raising its head is not to blame. */
static bool is_known(const griddep_findings *known, const griddep_finding *finding)
{
    for (uint32_t i = 0; i < griddep_findings_count(known); i++) {
        griddep_finding other = {.size = sizeof other};
        if (!griddep_findings_get(known, i, &other, NULL) && other.line == finding->line &&
            other.column == finding->column && strcmp(other.code, finding->code) == 0)
            return true;
    }
    return false;
}

/* The first error that the text has with another head alone; false: there is none. */
static bool find_error(const gd_ptx_module *module, const griddep_findings *findings,
                       const griddep_findings *known, griddep_finding *found)
{
    for (uint32_t i = 0; i < griddep_findings_count(findings); i++) {
        *found = (griddep_finding){.size = sizeof *found};
        if (!griddep_findings_get(findings, i, found, NULL) &&
            found->severity == GRIDDEP_SEVERITY_ERROR && !is_dropped(module, found) &&
            !is_known(known, found))
            return true;
    }
    return false;
}

int32_t gd_rewrite_check_old(const gd_ptx_module *module, gd_need need, griddep_error *error)
{
    griddep_findings *known = gd_findings_create(), *findings = gd_findings_create();
    gd_ptx_module raised = *module; /* only its head differs */
    griddep_finding found;
    char target[16];
    bool wrong;
    int32_t status = known && findings ? GRIDDEP_OK : gd_error_memory(error);

    if (raised.version < need.version)
        raised.version = need.version;
    if (raised.capability < need.target / 10) {
        snprintf(target, sizeof target, "sm_%u", need.target / 10u);
        raised.capability = need.target / 10;
        raised.target = target;
    }
    if (!status)
        status = gd_check_validity(known, module, &wrong, error);
    if (!status)
        status = gd_check_validity(findings, &raised, &wrong, error);
    if (!status && find_error(module, findings, known, &found))
        status = gd_error_set_at(error, GRIDDEP_ERROR_UNSUPPORTED, module->name, found.line,
                                 found.column,
                                 "%s: dependent launch needs PTX ISA %u.%u and %s, which do not "
                                 "take it; compile the text anew for them, or rewrite this by hand",
                                 found.text, need.version / 10u, need.version % 10u, raised.target);
    griddep_findings_destroy(known);
    griddep_findings_destroy(findings);
    return status;
}
