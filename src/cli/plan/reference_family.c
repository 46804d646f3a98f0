/* Whether arguments are what a reference takes. */
#include <math.h>
#include <string.h>

#include "cli/io/number.h"
#include "cli/plan/reference_family.h"

bool gd_reference_is_array(const gd_reference_argument *argument, const char *type, uint64_t count)
{
    return argument->type != NULL && strcmp(argument->type, type) == 0 &&
           argument->count >= count && (argument->data != NULL || count == 0);
}

bool gd_reference_is_memory(const gd_reference_argument *argument, uint64_t bytes)
{
    return argument->type != NULL && argument->count * gd_element_bytes(argument->type) >= bytes &&
           (argument->data != NULL || bytes == 0);
}

bool gd_reference_is_u32(const gd_reference_argument *argument)
{
    return argument->data == NULL && argument->type != NULL && strcmp(argument->type, "u32") == 0 &&
           argument->scalar >= 0 && argument->scalar <= UINT32_MAX &&
           argument->scalar == floor(argument->scalar);
}

bool gd_reference_is_f32(const gd_reference_argument *argument)
{
    return argument->data == NULL && argument->type != NULL && strcmp(argument->type, "f32") == 0;
}

bool gd_reference_is_none(const gd_reference_argument *argument)
{
    return argument->data == NULL && argument->type != NULL && strcmp(argument->type, "u64") == 0 &&
           argument->scalar == 0;
}
