/* References of matrix products with an epilogue: c = activation(a W^T + bias) + residual. */
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "cli/io/number.h"
#include "cli/plan/reference_family.h"

enum { A, WEIGHT, UP, BIAS, RESIDUAL, C, M, N, K, ACTIVATION, ARGUMENTS };

enum { NONE, SILU, GELU, RELU, SILU_MULTIPLY };

static double *to_doubles(const gd_reference_argument *argument, uint64_t count)
{
    double *values = malloc((count > 0 ? count : 1) * sizeof *values);
    for (uint64_t i = 0; values != NULL && i < count; i++)
        values[i] = gd_element_load(argument->type, argument->data, i);
    return values;
}

/* The kernel sums in f32. */
static double dot(const double *x, const double *y, uint64_t count)
{
    double sum = 0;
    for (uint64_t i = 0; i < count; i++)
        sum += x[i] * y[i];
    return fabs(sum) > FLT_MAX ? copysign((double)INFINITY, sum) : sum;
}

static double activate(double x, uint32_t activation)
{
    switch (activation) {
    case SILU:
    case SILU_MULTIPLY:
        return x / (1 + exp(-x));
    case GELU:
        return x / (1 + exp(-2 * sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x)));
    case RELU:
        return x < 0 ? 0 : x;
    default:
        return x;
    }
}

static bool is_optional(const gd_reference_argument *argument, const char *type, uint64_t count)
{
    return gd_reference_is_none(argument) || gd_reference_is_array(argument, type, count);
}

static bool fits(const gd_reference_argument *arguments, uint32_t count, const char *type)
{
    if (count != ARGUMENTS)
        return false;
    for (uint32_t i = M; i <= ACTIVATION; i++) {
        if (!gd_reference_is_u32(&arguments[i]))
            return false;
    }
    uint64_t m = (uint64_t)arguments[M].scalar, n = (uint64_t)arguments[N].scalar,
             k = (uint64_t)arguments[K].scalar;
    bool gated = arguments[ACTIVATION].scalar == SILU_MULTIPLY;
    return m >= 1 && n >= 8 && k >= 8 && n % 8 == 0 && k % 8 == 0 &&
           arguments[ACTIVATION].scalar <= SILU_MULTIPLY &&
           gd_reference_is_array(&arguments[A], type, m * k) &&
           gd_reference_is_array(&arguments[WEIGHT], type, n * k) &&
           (!gated || gd_reference_is_array(&arguments[UP], type, n * k)) &&
           is_optional(&arguments[BIAS], type, n) &&
           is_optional(&arguments[RESIDUAL], type, m * n) &&
           gd_reference_is_array(&arguments[C], type, m * n);
}

static void compute_row(const gd_reference_argument *arguments, uint64_t row, const double *a,
                        const double *weight, const double *up)
{
    uint64_t n = (uint64_t)arguments[N].scalar, k = (uint64_t)arguments[K].scalar;
    uint32_t activation = (uint32_t)arguments[ACTIVATION].scalar;
    const gd_reference_argument *bias = &arguments[BIAS], *residual = &arguments[RESIDUAL];
    for (uint64_t column = 0; column < n; column++) {
        double value = dot(a + row * k, weight + column * k, k);
        if (bias->data != NULL)
            value += gd_element_load(bias->type, bias->data, column);
        value = activate(value, activation);
        if (activation == SILU_MULTIPLY)
            value *= dot(a + row * k, up + column * k, k);
        if (residual->data != NULL)
            value += gd_element_load(residual->type, residual->data, row * n + column);
        gd_element_store(arguments[C].type, arguments[C].data, row * n + column, value);
    }
}

static int gemm(const gd_reference *self, const gd_reference_argument *arguments, uint32_t count,
                const uint32_t grid[3])
{
    (void)grid;
    if (!fits(arguments, count, self->type))
        return -1;
    uint64_t m = (uint64_t)arguments[M].scalar, n = (uint64_t)arguments[N].scalar,
             k = (uint64_t)arguments[K].scalar;
    bool gated = arguments[ACTIVATION].scalar == SILU_MULTIPLY;
    double *a = to_doubles(&arguments[A], m * k), *weight = to_doubles(&arguments[WEIGHT], n * k);
    double *up = gated ? to_doubles(&arguments[UP], n * k) : NULL;
    bool whole = a != NULL && weight != NULL && (up != NULL || !gated);
    for (uint64_t row = 0; whole && row < m; row++)
        compute_row(arguments, row, a, weight, up);
    free(a);
    free(weight);
    free(up);
    return whole ? 0 : -1;
}

const gd_reference gd_reference_gemm[] = {
    {"gemm_bf16", gemm, 1U << C, "bf16", NULL},
    {"gemm_f16", gemm, 1U << C, "f16", NULL},
    {"gemm_n128_bf16", gemm, 1U << C, "bf16", NULL},
    {"gemm_n128_f16", gemm, 1U << C, "f16", NULL},
    {"gemm_n64_bf16", gemm, 1U << C, "bf16", NULL},
    {"gemm_n64_f16", gemm, 1U << C, "f16", NULL},
    {.kernel = NULL},
};
