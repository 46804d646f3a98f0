/* Arithmetic, one instruction a kernel, over the same operands for all: each pair of values that
 * matter, then random ones. What is exact by the PTX ISA is compared bit by bit with
 * arithmetic_rows.def; approximations keep the ISA's bounds. */
#include "conformance.h"

#include <fenv.h>
#include <math.h>
#include <stdarg.h>

__extension__ typedef __int128 signed_wide;
__extension__ typedef unsigned __int128 unsigned_wide;
#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128
    quad; /* holds each sum of products of f16 and of bf16 near enough */
#else
typedef long double quad;
#endif

/* ---- helpers of the expressions ---- */

#define S8(x) ((int64_t)(int8_t)(x))
#define S16(x) ((int64_t)(int16_t)(x))
#define S24(x) ((int64_t)((int32_t)((uint32_t)(x) << 8) >> 8))
#define S32(x) ((int64_t)(int32_t)(x))
#define S64(x) ((int64_t)(x))
#define U32(x) ((uint64_t)(uint32_t)(x))
#define LOW(x) ((uint64_t)(uint16_t)(x))
#define HIGH(x) ((uint64_t)(uint16_t)((x) >> 16))
#define PAIR(low, high) (LOW(low) | LOW(high) << 16)

static int64_t clamp(int64_t value, int64_t least, int64_t most)
{
    return value < least ? least : value > most ? most : value;
}

#define S32_CLAMP(x) ((uint64_t)clamp(x, INT32_MIN, INT32_MAX))

static float f(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float value;

    memcpy(&value, &low, sizeof value);
    return value;
}

/* f32 operations give one NaN (PTX ISA 9.7.3). */
static uint64_t F(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return isnan(value) ? 0x7fffffff : bits;
}

static double g(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t G(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t flushed(uint64_t bits)
{
    return bits & 0x7f800000 ? bits : bits & 0x80000000;
}

static uint64_t saturated(uint64_t bits)
{
    float value = f(bits);

    return value > 1 ? 0x3f800000 : value > 0 ? bits : 0;
}

static uint64_t rounded(int mode, char operation, uint64_t a, uint64_t b)
{
    volatile float x = f(a), y = f(b), result = 0;
    volatile uint32_t integer = (uint32_t)a;
    int before = fegetround();

    fesetround(mode);
    if (operation == '+')
        result = x + y;
    else if (operation == '*')
        result = x * y;
    else if (operation == '/')
        result = x / y;
    else
        result = (float)integer;
    fesetround(before);
    return F(result);
}

/* -0 is less than +0, a NaN loses against a number (PTX ISA 9.7.3.11). */
static float smaller(float a, float b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) ? b : a;
    if (a == 0 && b == 0)
        return signbit(a) ? a : b;
    return a < b ? a : b;
}

/* What a NaN becomes was measured on an H200. */
static int64_t to_integer(double value, int64_t least, int64_t most, int64_t of_nan)
{
    if (isnan(value))
        return of_nan;
    return value <= (double)least ? least : value >= (double)most ? most : (int64_t)value;
}

static uint64_t highest_bit(uint64_t value)
{
    return value ? 63 - (uint64_t)__builtin_clzll(value) : UINT32_MAX;
}

static uint64_t reversed(uint64_t value, int bits)
{
    uint64_t result = 0;

    for (int i = 0; i < bits; i++)
        result |= (value >> i & 1) << (bits - 1 - i);
    return result;
}

/* The pseudo-code of PTX ISA 9.7.1.20, bfe. */
static uint64_t field_of(uint64_t value, uint64_t position, uint64_t length, unsigned bits,
                         bool is_signed)
{
    uint64_t pos = position & 255, len = length & 255, last = bits - 1, result = 0;
    uint64_t top = pos + len - 1 < last ? pos + len - 1 : last;
    uint64_t sign = is_signed && len ? value >> top & 1 : 0;

    for (uint64_t i = 0; i < bits; i++) {
        uint64_t bit = i < len && pos + i <= last ? value >> (pos + i) & 1 : sign;
        result |= bit << i;
    }
    return result;
}

static uint64_t field_into(uint64_t value, uint64_t into, uint64_t position, uint64_t length,
                           unsigned bits)
{
    uint64_t pos = position & 255, len = length & 255;

    for (uint64_t i = 0; i < len && pos + i < bits; i++)
        into = (into & ~(UINT64_C(1) << (pos + i))) | (value >> i & 1) << (pos + i);
    return into;
}

static uint64_t nth_set(uint64_t mask, uint64_t base, uint64_t offset)
{
    if (offset == 0)
        return mask >> base & 1 ? base : UINT32_MAX;
    for (uint64_t i = base; i < 32; i++) {
        if (mask >> i & 1 && --offset == 0)
            return i;
    }
    return UINT32_MAX;
}

static uint64_t bit_mask(uint64_t position, uint64_t width, bool wrap)
{
    uint64_t result = 0;

    for (uint64_t i = 0; i < width && i < 32; i++) {
        uint64_t at = position + i;
        if (at < 32)
            result |= UINT64_C(1) << at;
        else if (!wrap)
            break;
    }
    return result;
}

static uint64_t extended(uint64_t value, uint64_t bits, bool is_signed)
{
    if (bits == 0)
        return 0;
    uint64_t kept = bits >= 32 ? value : value & ((UINT64_C(1) << bits) - 1);
    return is_signed && bits < 32 && kept >> (bits - 1) & 1 ? kept | ~UINT64_C(0) << bits : kept;
}

static int64_t dot4(uint64_t a, uint64_t b, bool a_signed, bool b_signed)
{
    int64_t sum = 0;

    for (int i = 0; i < 32; i += 8) {
        int64_t x = a_signed ? (int8_t)(a >> i) : (int64_t)(a >> i & 255);
        int64_t y = b_signed ? (int8_t)(b >> i) : (int64_t)(b >> i & 255);
        sum += x * y;
    }
    return sum;
}

static uint64_t permuted(uint64_t a, uint64_t b, uint64_t selector)
{
    uint64_t bytes = b << 32 | a, result = 0;

    for (int i = 0; i < 4; i++) {
        uint64_t choice = selector >> 4 * i & 15, byte = bytes >> 8 * (choice & 7) & 255;
        if (choice & 8)
            byte = byte & 128 ? 255 : 0;
        result |= byte << 8 * i;
    }
    return result;
}

/* ---- small formats: sign, exponent, fraction ---- */

static quad power_of_two(int exponent)
{
    quad result = 1;

    for (int i = 0; i < exponent; i++)
        result *= 2;
    for (int i = 0; i > exponent; i--)
        result /= 2;
    return result;
}

static quad from_small(uint64_t bits, int exponent_bits, int fraction_bits)
{
    int bias = (1 << (exponent_bits - 1)) - 1;
    int exponent = (int)(bits >> fraction_bits & ((1u << exponent_bits) - 1));
    uint64_t fraction = bits & ((UINT64_C(1) << fraction_bits) - 1);
    quad value;

    if (exponent == (1 << exponent_bits) - 1)
        value = fraction ? (quad)NAN : (quad)INFINITY;
    else if (exponent == 0)
        value = (quad)fraction * power_of_two(1 - bias - fraction_bits);
    else
        value = (quad)(fraction + (UINT64_C(1) << fraction_bits)) *
                power_of_two(exponent - bias - fraction_bits);
    return bits >> (exponent_bits + fraction_bits) & 1 ? -value : value;
}

/* To the nearest, ties to even. */
static uint64_t to_small(quad value, int exponent_bits, int fraction_bits)
{
    int bias = (1 << (exponent_bits - 1)) - 1, exponent = 1 - bias;
    uint64_t infinity = ((UINT64_C(1) << exponent_bits) - 1) << fraction_bits;
    uint64_t sign = (uint64_t)(signbit((double)value) != 0) << (exponent_bits + fraction_bits);
    quad size = value < 0 ? -value : value;

    if (value != value)
        return 0x7fff;
    if (size >= power_of_two(bias + 1))
        return sign | infinity;
    while (size >= power_of_two(exponent + 1))
        exponent++;
    quad steps = size / power_of_two(exponent - fraction_bits);
    uint64_t whole = (uint64_t)steps;
    quad rest = steps - (quad)whole, middle = (quad)0.5;
    if (rest > middle || (rest == middle && whole & 1))
        whole++;
    if (exponent > 1 - bias || whole >> fraction_bits)
        whole += (uint64_t)(exponent + bias - 1) << fraction_bits;
    return sign | (whole > infinity ? infinity : whole);
}

static quad half(uint64_t bits)
{
    return from_small(bits & 0xffff, 5, 10);
}

static uint64_t to_half(quad value)
{
    return to_small(value, 5, 10);
}

static quad brain(uint64_t bits)
{
    return from_small(bits & 0xffff, 8, 7);
}

static uint64_t to_brain(quad value)
{
    return to_small(value, 8, 7);
}

/* ---- the rows ---- */

typedef uint64_t expectation(uint64_t a, uint64_t b, uint64_t c, uint64_t e);

#define NAME_AT(line) row_at_##line
#define NAME_OF(line) NAME_AT(line)
#define ROW(text, operands, expression)                                                            \
    static uint64_t NAME_OF(__LINE__)(uint64_t a, uint64_t b, uint64_t c, uint64_t e)              \
    {                                                                                              \
        (void)a, (void)b, (void)c, (void)e;                                                        \
        return (uint64_t)(expression);                                                             \
    }
#include "arithmetic_rows.def"
#undef ROW

static const struct row {
    const char *text, *operands;
    expectation *expected;
} rows[] = {
#define ROW(text, operands, expression) {text, operands, NAME_OF(__LINE__)},
#include "arithmetic_rows.def"
#undef ROW
};

/* ---- operands ---- */

static const uint64_t integers[] = {0,
                                    1,
                                    2,
                                    3,
                                    7,
                                    0x7f,
                                    0x80,
                                    0xff,
                                    0x7fff,
                                    0x8000,
                                    0xffff,
                                    0x12345,
                                    0x7fffffff,
                                    0x80000000,
                                    0xffffffff,
                                    0x55aa33cc,
                                    0x7fff8000ffff0001,
                                    0x7fffffffffffffff,
                                    0x8000000000000000,
                                    0xffffffffffffffff};
static const uint64_t floats[] = {
    0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x00800000, 0x3f800000,
    0xbf800000, 0x3f800001, 0x3fc00000, 0x40490fdb, 0xc2f60000, 0x4b800001, 0x4f000000,
    0xcf000001, 0x5f7fffff, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000};
static const uint64_t doubles[] = {0,
                                   0x8000000000000000,
                                   1,
                                   0x000fffffffffffff,
                                   0x0010000000000000,
                                   0x3ff0000000000000,
                                   0xbff0000000000001,
                                   0x3ff8000000000000,
                                   0x400921fb54442d18,
                                   0xc059000000000000,
                                   0x41e0000000000000,
                                   0xc1e0000000200000,
                                   0x4330000000000001,
                                   0x47efffffe0000000,
                                   0x47efffffefffffff,
                                   0x7fefffffffffffff,
                                   0x7ff0000000000000,
                                   0xfff0000000000000,
                                   0x7ff8000000000000};
static const uint64_t halves[] = {0,      0x8000, 1,      0x8001, 0x03ff, 0x0400,
                                  0x3c00, 0xbc00, 0x3c01, 0x3e00, 0x4248, 0xd640,
                                  0x6400, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00};
static const uint64_t brains[] = {0,      0x8000, 1,      0x8001, 0x007f, 0x0080,
                                  0x3f80, 0xbf80, 0x3f81, 0x3fc0, 0x4049, 0xc2f6,
                                  0x4b80, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0};

typedef struct operand_pool {
    const uint64_t *values;
    size_t count;
    unsigned bits;
} operand_pool;

static operand_pool pool_of(char letter)
{
    switch (letter) {
    case 'h':
        return (operand_pool){integers, COUNT_OF(integers), 16};
    case 'd':
        return (operand_pool){integers, COUNT_OF(integers), 64};
    case 'f':
        return (operand_pool){floats, COUNT_OF(floats), 32};
    case 'g':
        return (operand_pool){doubles, COUNT_OF(doubles), 64};
    case 'x':
        return (operand_pool){halves, COUNT_OF(halves), 16};
    case 'X':
        return (operand_pool){halves, COUNT_OF(halves), 32};
    case 'y':
        return (operand_pool){brains, COUNT_OF(brains), 16};
    case 'Y':
        return (operand_pool){brains, COUNT_OF(brains), 32};
    default:
        return (operand_pool){integers, COUNT_OF(integers), 32};
    }
}

enum { SAMPLES = 768, OPERANDS = 4 };

/* Operand `place` of sample `index`: the first two run through all pairs; the rest, and all later
 * ones, by chance. */
static uint64_t pick(char letter, int place, size_t index, uint64_t *random)
{
    operand_pool pool = pool_of(letter);
    uint64_t chance = next_random(random), other = next_random(random);
    size_t pairs = pool.count * pool.count;
    size_t at = index < pairs && place < 2 ? (place ? index / pool.count : index % pool.count)
                                           : chance % pool.count;
    uint64_t value = pool.values[at % pool.count];

    if (letter == 'p')
        return chance & 1;
    if (letter == 's')
        return chance % 72;
    if (letter == 'X' || letter == 'Y')
        value |= pool.values[other % pool.count] << 16;
    else if (index >= pairs)
        value = letter == 'f' || letter == 'g' || other & 1 ? other >> 1 ^ other << 13 : value;
    return pool.bits == 64 ? value : value & ((UINT64_C(1) << pool.bits) - 1);
}

/* ---- kernels ---- */

typedef struct builder {
    char *text;
    size_t used, room;
} builder;

__attribute__((format(printf, 2, 3))) static void add(builder *to, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    int more = vsnprintf(to->text + to->used, to->room - to->used, format, list);
    va_end(list);
    ck_assert(more >= 0 && (size_t)more < to->room - to->used);
    to->used += (size_t)more;
}

static void write_register(builder *to, char letter, char name)
{
    if (letter == 'p')
        add(to, "    .reg .pred %c;\n", name);
    else
        add(to, "    .reg .b%u %c;\n", pool_of(letter).bits, name);
}

static void write_row(builder *to, const struct row *row, size_t index)
{
    static const char names[] = "dabce";

    add(to,
        ".visible .entry k%zu(.param .u64 in, .param .u64 out)\n{\n    .reg .b64 %%in, %%out, %%t, "
        "%%at, w0, %%r;\n"
        "    .reg .b32 %%i, %%c, %%n, t0, t1;\n    .reg .pred q0;\n",
        index);
    for (size_t i = 0; row->operands[i]; i++)
        write_register(to, row->operands[i], names[i]);
    add(to,
        "    ld.param.u64 %%in, [in];\n    ld.param.u64 %%out, [out];\n    mov.u32 %%c, "
        "%%ctaid.x;\n"
        "    mov.u32 %%n, %%ntid.x;\n    mov.u32 %%i, %%tid.x;\n    mad.lo.u32 %%i, %%c, %%n, "
        "%%i;\n"
        "    mul.wide.u32 %%at, %%i, %d;\n    add.u64 %%in, %%in, %%at;\n    mul.wide.u32 %%at, "
        "%%i, 8;\n"
        "    add.u64 %%out, %%out, %%at;\n",
        OPERANDS * 8);
    for (size_t i = 1; row->operands[i]; i++) {
        if (row->operands[i] == 'p')
            add(to, "    ld.global.u64 %%t, [%%in+%zu];\n    setp.ne.u64 %c, %%t, 0;\n",
                (i - 1) * 8, names[i]);
        else
            add(to, "    ld.global.b%u %c, [%%in+%zu];\n", pool_of(row->operands[i]).bits, names[i],
                (i - 1) * 8);
    }
    add(to, "    %s\n", row->text);
    unsigned bits = pool_of(row->operands[0]).bits;
    if (row->operands[0] == 'p')
        add(to, "    selp.u64 %%r, 1, 0, d;\n");
    else if (bits == 64)
        add(to, "    mov.b64 %%r, d;\n");
    else
        add(to, "    cvt.u64.u%u %%r, d;\n", bits);
    add(to, "    st.global.u64 [%%out], %%r;\n    ret;\n}\n");
}

/* Which NaN comes out of f64, f16 and bf16 operations, the PTX ISA leaves open. */
static uint64_t without_payload(char letter, uint64_t bits)
{
    if (letter == 'g')
        return isnan(g(bits)) ? 0x7fffffffffffffff : bits;
    if (letter == 'x' || letter == 'X')
        bits = PAIR(half(bits) != half(bits) ? 0x7fff : bits,
                    half(HIGH(bits)) != half(HIGH(bits)) ? 0x7fff : HIGH(bits));
    if (letter == 'y' || letter == 'Y')
        bits = PAIR(brain(bits) != brain(bits) ? 0x7fff : bits,
                    brain(HIGH(bits)) != brain(HIGH(bits)) ? 0x7fff : HIGH(bits));
    return bits;
}

static void check_row(const struct row *row, const uint64_t *in, const uint64_t *out)
{
    unsigned bits = row->operands[0] == 'p' ? 64 : pool_of(row->operands[0]).bits;
    uint64_t mask = bits == 64 ? ~UINT64_C(0) : (UINT64_C(1) << bits) - 1;
    int wrong = 0;

    for (size_t i = 0; i < SAMPLES; i++) {
        const uint64_t *o = in + i * OPERANDS;
        uint64_t expected = row->expected(o[0], o[1], o[2], o[3]) & mask;
        if (without_payload(row->operands[0], out[i]) ==
            without_payload(row->operands[0], expected))
            continue;
        char message[256];
        snprintf(message, sizeof message,
                 "%s of 0x%llx, 0x%llx, 0x%llx, 0x%llx gives 0x%llx, expected 0x%llx", row->text,
                 (unsigned long long)o[0], (unsigned long long)o[1], (unsigned long long)o[2],
                 (unsigned long long)o[3], (unsigned long long)out[i],
                 (unsigned long long)expected);
        driver_differs(message, "arithmetic_rows.def", 0);
        if (++wrong == 3)
            break;
    }
}

static void run_row(gd_CUfunction function, const struct row *row, gd_CUdeviceptr in,
                    gd_CUdeviceptr out)
{
    static uint64_t operands[SAMPLES * OPERANDS], results[SAMPLES];
    uint64_t random = 1;

    memset(operands, 0, sizeof operands);
    for (size_t i = 0; i < SAMPLES; i++) {
        for (int place = 0; row->operands[place + 1]; place++)
            operands[i * OPERANDS + (size_t)place] =
                pick(row->operands[place + 1], place, i, &random);
    }
    good(cuMemcpyHtoD_v2, (in, operands, sizeof operands));
    run_two(function, SAMPLES / 128, 128, in, out);
    read_back(results, out, sizeof results);
    check_row(row, operands, results);
}

TEST_GROUP(arithmetic, setup_context, teardown_context);

TEST(arithmetic, exact_instructions)
{
    enum { ROOM = 1 << 20 };
    builder to = {.text = calloc(1, ROOM), .room = ROOM};
    char name[32];
    gd_CUdeviceptr in = allocate(SAMPLES * OPERANDS * 8), out = allocate(SAMPLES * 8);

    ck_assert_ptr_nonnull(to.text);
    add(&to, ".version 8.3\n.target sm_90\n.address_size 64\n");
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        write_row(&to, &rows[i], i);
    gd_CUmodule module = load(to.text);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        snprintf(name, sizeof name, "k%zu", i);
        run_row(function_of(module, name), &rows[i], in, out);
    }
    good(cuModuleUnload, (module));
    release(in);
    release(out);
    free(to.text);
}

/* ---- approximations ---- */

/* The largest error: relative to the result, or absolute, as the PTX ISA gives it for each
 * (9.7.3). */
static const struct approximation {
    const char *text;
    double (*function)(double);
    double low, high, relative, absolute;
} approximations[] = {
    {"rcp.approx.f32", NULL, 0.01, 1000, 0x1p-23, 0},
    {"sqrt.approx.f32", sqrt, 0.001, 10000, 0x1p-23, 0},
    {"rsqrt.approx.f32", NULL, 0.001, 10000, 0x1p-22, 0},
    {"sin.approx.f32", sin, -3.14, 3.14, 0, 0x1p-20},
    {"cos.approx.f32", cos, -3.14, 3.14, 0, 0x1p-20},
    {"lg2.approx.f32", log2, 2.5, 1000, 0x1p-21, 0},
    {"ex2.approx.f32", exp2, -20, 20, 0x1p-22, 0},
    {"tanh.approx.f32", tanh, 0.1, 5, 0x1p-10, 0},
};

static double exact_of(const struct approximation *item, double x)
{
    if (item->function)
        return item->function(x);
    return strstr(item->text, "rsqrt") ? 1 / sqrt(x) : 1 / x;
}

LOOP_TEST(arithmetic, approximate_instructions, COUNT_OF(approximations))
{
    enum { N = 512 };
    const struct approximation *item = &approximations[_i];
    float values[N], results[N];
    char text[2048];
    uint64_t random = 3;

    snprintf(
        text, sizeof text,
        PTX_HEAD
        ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n    .reg .b64 %%in, %%out, %%at;\n"
        "    .reg .b32 %%i, %%c, %%n;\n    .reg .f32 %%x;\n    ld.param.u64 %%in, [in];\n"
        "    ld.param.u64 %%out, [out];\n    mov.u32 %%c, %%ctaid.x;\n    mov.u32 %%n, %%ntid.x;\n"
        "    mov.u32 %%i, %%tid.x;\n    mad.lo.u32 %%i, %%c, %%n, %%i;\n    mul.wide.u32 %%at, "
        "%%i, 4;\n"
        "    add.u64 %%in, %%in, %%at;\n    add.u64 %%out, %%out, %%at;\n    ld.global.f32 %%x, "
        "[%%in];\n"
        "    %s %%x, %%x;\n    st.global.f32 [%%out], %%x;\n    ret;\n}\n",
        item->text);
    for (int i = 0; i < N; i++) {
        double part = (double)(next_random(&random) >> 11) * 0x1p-53;
        values[i] = (float)(item->low + part * (item->high - item->low));
    }
    gd_CUmodule module = load(text);
    gd_CUdeviceptr in = allocate_with(values, sizeof values), out = allocate(sizeof results);
    run_two(function_of(module, "k"), N / 128, 128, in, out);
    read_back(results, out, sizeof results);
    for (int i = 0; i < N; i++) {
        double exact = exact_of(item, (double)values[i]), error = fabs((double)results[i] - exact);
        ck_assert_msg(error <= item->absolute + item->relative * fabs(exact),
                      "%s of %a is %a, exact is %a", item->text, (double)values[i],
                      (double)results[i], exact);
    }
    release(in);
    release(out);
    good(cuModuleUnload, (module));
}

SUITE(arithmetic, "arithmetic")
