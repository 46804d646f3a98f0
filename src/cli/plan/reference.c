/* Finding references. What the kernels compute is in reference_<family>.c, in double arithmetic:
 * each function checks its arguments against the kernel's parameters, then works element by
 * element, so that an output may be an input where the kernel allows that. */
#include "cli/plan/reference.h"

#include <math.h>
#include <stddef.h>
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

/* Whole numbers up to 2^53 are the ones that a double tells apart. */
bool gd_reference_is_u64(const gd_reference_argument *argument)
{
    return argument->data == NULL && argument->type != NULL && strcmp(argument->type, "u64") == 0 &&
           argument->scalar >= 0 && argument->scalar <= 0x1p53 &&
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

static const gd_reference *const families[] = {
    gd_reference_attention, gd_reference_elementwise, gd_reference_embedding,
    gd_reference_gemm,      gd_reference_linear,      gd_reference_norm,
    gd_reference_sampling,  gd_reference_softmax,     gd_reference_test};

const gd_reference *gd_reference_find(const char *kernel)
{
    for (size_t i = 0; kernel != NULL && i < sizeof families / sizeof families[0]; i++) {
        for (const gd_reference *reference = families[i]; reference->kernel != NULL; reference++) {
            if (strcmp(reference->kernel, kernel) == 0)
                return reference;
        }
    }
    return NULL;
}
