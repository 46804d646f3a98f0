/* References of elementwise kernels. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "cli/io/number.h"
#include "cli/plan/reference_family.h"

/* The elements of a kernel that takes three arrays of one type and their length; -1 where the
 * arguments are not such. */
static int64_t three_arrays(const char *type, const gd_reference_argument *arguments,
                            uint32_t count)
{
    if (count != 4 || !gd_reference_is_u32(&arguments[3]))
        return -1;
    int64_t elements = (int64_t)arguments[3].scalar;
    for (uint32_t i = 0; i < 3; i++) {
        if (!gd_reference_is_array(&arguments[i], type, (uint64_t)elements))
            return -1;
    }
    return elements;
}

/* The third array, element by element from the other two. */
static int combine(const gd_reference *self, const gd_reference_argument *arguments, uint32_t count,
                   double (*of)(double a, double b))
{
    const char *type = self->type;
    int64_t elements = three_arrays(type, arguments, count);
    if (elements < 0)
        return -1;
    for (uint64_t i = 0; i < (uint64_t)elements; i++) {
        double a = gd_element_load(type, arguments[0].data, i),
               b = gd_element_load(type, arguments[1].data, i);
        gd_element_store(type, arguments[2].data, i, of(a, b));
    }
    return 0;
}

static double sum(double a, double b)
{
    return a + b;
}

static int add(const gd_reference *self, const gd_reference_argument *arguments, uint32_t count,
               const uint32_t grid[3])
{
    (void)grid;
    return combine(self, arguments, count, sum);
}

static int scale(const gd_reference *self, const gd_reference_argument *arguments, uint32_t count,
                 const uint32_t grid[3])
{
    const char *type = self->type;
    (void)grid;
    if (count != 4 || !gd_reference_is_u32(&arguments[2]) || !gd_reference_is_f32(&arguments[3]))
        return -1;
    uint64_t elements = (uint64_t)arguments[2].scalar;
    double factor = (double)(float)arguments[3].scalar;
    if (!gd_reference_is_array(&arguments[0], type, elements) ||
        !gd_reference_is_array(&arguments[1], type, elements))
        return -1;
    for (uint64_t i = 0; i < elements; i++)
        gd_element_store(type, arguments[1].data, i,
                         gd_element_load(type, arguments[0].data, i) * factor);
    return 0;
}

static double silu_times(double gate, double up)
{
    return gate / (1 + exp(-gate)) * up;
}

static int silu_multiply(const gd_reference *self, const gd_reference_argument *arguments,
                         uint32_t count, const uint32_t grid[3])
{
    (void)grid;
    return combine(self, arguments, count, silu_times);
}

static int cast(const gd_reference *self, const gd_reference_argument *arguments, uint32_t count,
                const uint32_t grid[3])
{
    const char *from = self->input_type, *to = self->type;
    (void)grid;
    if (count != 3 || !gd_reference_is_u32(&arguments[2]))
        return -1;
    uint64_t elements = (uint64_t)arguments[2].scalar;
    if (!gd_reference_is_array(&arguments[0], from, elements) ||
        !gd_reference_is_array(&arguments[1], to, elements))
        return -1;
    for (uint64_t i = 0; i < elements; i++)
        gd_element_store(to, arguments[1].data, i, gd_element_load(from, arguments[0].data, i));
    return 0;
}

const gd_reference gd_reference_elementwise[] = {
    {"add_bf16", add, 1U << 2, "bf16", NULL},
    {"add_f16", add, 1U << 2, "f16", NULL},
    {"cast_bf16_e4m3", cast, 1U << 1, "e4m3", "bf16"},
    {"cast_bf16_f16", cast, 1U << 1, "f16", "bf16"},
    {"cast_bf16_f32", cast, 1U << 1, "f32", "bf16"},
    {"cast_e4m3_bf16", cast, 1U << 1, "bf16", "e4m3"},
    {"cast_e4m3_f16", cast, 1U << 1, "f16", "e4m3"},
    {"cast_e4m3_f32", cast, 1U << 1, "f32", "e4m3"},
    {"cast_f16_bf16", cast, 1U << 1, "bf16", "f16"},
    {"cast_f16_e4m3", cast, 1U << 1, "e4m3", "f16"},
    {"cast_f16_f32", cast, 1U << 1, "f32", "f16"},
    {"cast_f32_bf16", cast, 1U << 1, "bf16", "f32"},
    {"cast_f32_e4m3", cast, 1U << 1, "e4m3", "f32"},
    {"cast_f32_f16", cast, 1U << 1, "f16", "f32"},
    {"scale_bf16", scale, 1U << 1, "bf16", NULL},
    {"scale_f16", scale, 1U << 1, "f16", NULL},
    {"scale_f32", scale, 1U << 1, "f32", NULL},
    {"silu_multiply_bf16", silu_multiply, 1U << 2, "bf16", NULL},
    {"silu_multiply_f16", silu_multiply, 1U << 2, "f16", NULL},
    {"silu_multiply_f32", silu_multiply, 1U << 2, "f32", NULL},
    {"vector_add", add, 1U << 2, "f32", NULL},
    {.kernel = NULL},
};
