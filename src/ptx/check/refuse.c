/* All that ptxas refuses in a text. */
#include "base/error.h"
#include "ptx/check/validity.h"
#include "ptx/isa/need.h"

int32_t gd_check_validity(griddep_findings *findings, const gd_ptx_module *module, bool *wrong,
                          griddep_error *error)
{
    gd_validity check = {.findings = findings,
                         .module = module,
                         .launch = -1,
                         .newer = module->version > GD_FORMS_VERSION};

    gd_validity_start_looking(&check);
    gd_check_declarations(&check);
    int32_t status = gd_check_instructions(&check, error);
    gd_check_calls(&check);
    gd_check_shared(&check);
    gd_validity_tell_groups(&check);
    *wrong = check.wrong;
    gd_table_free(&check.files);
    gd_table_free(&check.positions);
    gd_table_free(&check.labels);
    gd_table_free(&check.groups);
    gd_arena_free(&check.arena);
    return !status && check.failed ? gd_error_memory(error) : status;
}
