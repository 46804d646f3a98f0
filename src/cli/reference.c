/* Finding references, and comparing results with theirs. What the kernels compute is in reference_<family>.c, in double
 * arithmetic: each function checks its arguments against the kernel's parameters, then works element by element, so
 * that an output may be an input where the kernel allows that. */
#include "cli/reference.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "cli/number.h"
#include "cli/reference_family.h"

bool gd_reference_is_array(const gd_reference_argument *argument, const char *type, uint64_t count)
{
    return argument->type != NULL && strcmp(argument->type, type) == 0 && argument->count >= count &&
           (argument->data != NULL || count == 0);
}

bool gd_reference_is_memory(const gd_reference_argument *argument, uint64_t bytes)
{
    return argument->type != NULL && argument->count * gd_element_bytes(argument->type) >= bytes &&
           (argument->data != NULL || bytes == 0);
}

bool gd_reference_is_u32(const gd_reference_argument *argument)
{
    return argument->data == NULL && argument->type != NULL && strcmp(argument->type, "u32") == 0 &&
           argument->scalar >= 0 && argument->scalar <= UINT32_MAX && argument->scalar == floor(argument->scalar);
}

/* Whole numbers up to 2^53 are the ones that a double tells apart. */
bool gd_reference_is_u64(const gd_reference_argument *argument)
{
    return argument->data == NULL && argument->type != NULL && strcmp(argument->type, "u64") == 0 &&
           argument->scalar >= 0 && argument->scalar <= 0x1p53 && argument->scalar == floor(argument->scalar);
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

static const gd_reference *const families[] = {gd_reference_attention, gd_reference_elementwise, gd_reference_embedding,
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

static double finite_root_mean_square(const char *type, const void *array, uint64_t count)
{
    double sum = 0;
    uint64_t finite = 0;
    for (uint64_t i = 0; i < count; i++) {
        double value = gd_element_load(type, array, i);
        if (isfinite(value)) {
            sum += value * value;
            finite += 1;
        }
    }
    return finite > 0 ? sqrt(sum / (double)finite) : 0;
}

uint64_t gd_reference_compare(const gd_reference *reference, const char *type, const void *result, const void *expected,
                              uint64_t count, uint64_t *first, double *worst)
{
    double scale = finite_root_mean_square(type, expected, count);
    uint64_t disagreeing = 0;
    double largest = 0;
    for (uint64_t i = 0; i < count; i++) {
        double got = gd_element_load(type, result, i);
        double want = gd_element_load(type, expected, i);
        if (got == want || (isnan(got) && isnan(want)))
            continue;
        double over = fabs(got - want) / (reference->tolerance * (fabs(want) + scale));
        if (isfinite(got) && isfinite(want) && over > largest)
            largest = over;
        if (isfinite(got) && isfinite(want) && over <= 1)
            continue;
        if (disagreeing == 0 && first != NULL)
            *first = i;
        disagreeing += 1;
    }
    if (worst != NULL)
        *worst = largest;
    return disagreeing;
}
