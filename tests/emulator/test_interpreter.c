/* The interpreter: what a GPU was measured to do with values that the conformance suite does not
 * draw, constant expressions, control flow, faults, and what the scheduler sees. The conformance
 * suite has what each instruction does, forms.txt each of its forms. */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "machine_test.h"
#include "suite.h"

/* Warp-instructions of the last run. */
static uint64_t executed;

typedef struct one_cta {
    uint32_t grid, block[3], shared;
    uint64_t step_limit;
} one_cta;

/* Runs all CTAs one after the other; a CTA that waits for its grid is released at once. */
static gd_cta_state run_shape(device *dev, const char *name, one_cta form, const void *parameters)
{
    const gd_entry *entry = gd_program_entry(dev->program, name);
    gd_program_error refusal;

    ck_assert_ptr_nonnull(entry);
    gd_entry_refusal(entry, &refusal);
    ck_assert_msg(!entry->refused, "%d: %s", refusal.line, refusal.text);
    gd_grid_view view = {.entry = entry,
                         .grid = {form.grid, 1, 1},
                         .block = {form.block[0], form.block[1], form.block[2]},
                         .cluster = {1, 1, 1},
                         .dynamic_shared_bytes = form.shared,
                         .parameters = parameters,
                         .memory = dev->memory,
                         .step_limit = form.step_limit ? form.step_limit : 100000000};
    gd_cta_state state = GD_CTA_DONE;
    executed = 0;
    for (uint32_t i = 0; i < form.grid && state == GD_CTA_DONE; i++) {
        const uint32_t position[3] = {i, 0, 0};
        gd_cta *cta = gd_cta_create(&view, position, 0, 0);
        uint64_t time = 0;
        do {
            state = gd_cta_run(cta, 1000, time);
            time += 1000;
            if (state == GD_CTA_WAITING)
                gd_cta_release(cta, 0);
        } while (state == GD_CTA_READY || state == GD_CTA_POLLING || state == GD_CTA_WAITING);
        dev->fault = *gd_cta_get_fault(cta);
        executed += gd_cta_instructions(cta);
        gd_cta_destroy(cta);
    }
    return state;
}

static void run_done(device *dev, const char *name, uint32_t grid, uint32_t block, uint32_t shared,
                     const void *parameters)
{
    gd_cta_state state =
        run_shape(dev, name, (one_cta){grid, {block, 1, 1}, shared, 0}, parameters);

    ck_assert_msg(state == GD_CTA_DONE, "state %d, line %d: %s", state, dev->fault.line,
                  dev->fault.text);
}

/* ---- one instruction at a time ---- */

/* Operands by letter: h 16, r 32, d 64 bits, with the source values in order. The result is the
 * first one. */
typedef struct sample {
    const char *instruction;
    const char *operands;
    uint64_t sources[4];
    uint64_t expected;
} sample;

#define MINUS(x) ((uint64_t)(int64_t)(x))

static uint32_t operand_bits(char letter)
{
    return letter == 'h' ? 16 : letter == 'd' ? 64 : 32;
}

/* One instruction in a scope of its own; its result goes to place `index`, of 8 bytes, of the
 * lane's part of the output. */
static void write_row(gd_text *text, const sample *item, size_t index)
{
    const char *letters = item->operands;

    gd_text_string(text, "{\n");
    for (size_t i = 0; letters[i]; i++)
        gd_text_format(text, ".reg .b%u o%zu;\n", operand_bits(letters[i]), i);
    for (size_t i = 1; letters[i]; i++)
        gd_text_format(text, "mov.b%u o%zu, 0x%" PRIx64 ";\n", operand_bits(letters[i]), i,
                       item->sources[i - 1]);
    gd_text_format(text, "%s o0", item->instruction);
    for (size_t i = 1; letters[i]; i++)
        gd_text_format(text, ", o%zu", i);
    gd_text_format(text, ";\nst.global.b%u [%%at+%zu], o0;\n}\n", operand_bits(letters[0]),
                   index * 8);
}

/* All rows in one kernel, in whole warps and in parts of one. */
static void check_rows(const sample *rows, size_t count)
{
    static const uint32_t blocks[] = {32, 7, 45};
    gd_text text = {0};
    device dev;

    gd_text_format(&text,
                   HEAD ".visible .entry k(.param .u64 out) {\n.reg .b64 %%at; .reg .b32 %%t;\n"
                        "ld.param.u64 %%at, [out]; mov.u32 %%t, %%tid.x;\n"
                        "mad.wide.u32 %%at, %%t, %zu, %%at;\n",
                   count * 8);
    for (size_t i = 0; i < count; i++)
        write_row(&text, &rows[i], i);
    gd_text_string(&text, "ret;\n}\n");
    device_open(&dev, gd_text_get(&text));
    for (size_t b = 0; b < sizeof blocks / sizeof blocks[0]; b++) {
        uint64_t out = device_take(&dev, NULL, count * 8 * blocks[b]);
        run_done(&dev, "k", 1, blocks[b], 0, &out);
        const uint64_t *results = device_bytes(&dev, out);
        for (size_t i = 0; i < count * blocks[b]; i++) {
            const sample *item = &rows[i % count];
            ck_assert_msg(results[i] == item->expected,
                          "%s (%s): thread %zu has 0x%" PRIx64 ", expected 0x%" PRIx64,
                          item->instruction, item->operands, i / count, results[i], item->expected);
        }
    }
    device_close(&dev);
    gd_text_free(&text);
}

/* ---- what differential fuzzing found, with the values of an H200 (driver 580.159.04) ---- */

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

TEST_GROUP(instructions, NULL, NULL);
TEST_GROUP(control, NULL, NULL);
TEST_GROUP(memory, NULL, NULL);
TEST_GROUP(limits, NULL, NULL);

/* Results near 2^-126 with ftz, rounded to nearest, down and up. */
TEST(instructions, measured_near_the_smallest)
{
    static const char *const roundings[] = {"rn", "rm", "rp"};
    static const struct {
        const char *format, *operands;
        uint64_t sources[3], expected[3];
    } of[] = {
        {"mul.%s.ftz.f32", "rrr", {0x800001, 0x3f7ffffe}, {0x800000, 0, 0x800000}},
        {"mul.%s.ftz.f32", "rrr", {0x800000, 0x3f7fffff}, {0, 0, 0}},
        {"fma.%s.ftz.f32", "rrrr", {0x800001, 0x3f7ffffe, 0}, {0x800000, 0, 0x800000}},
        {"fma.%s.ftz.f32", "rrrr", {0x800000, 0x3f7fffff, 0}, {0, 0, 0}},
        {"div.%s.ftz.f32", "rrr", {0xfffffe, 0x3fffffff}, {0, 0, 0}},
        {"div.%s.ftz.f32", "rrr", {0x800000, 0x3f800001}, {0, 0, 0}},
        {"rcp.%s.ftz.f32", "rr", {0x7e800001}, {0, 0, 0}},
        {"rcp.%s.ftz.f32", "rr", {0x7e800000}, {0x800000, 0x800000, 0x800000}},
        {"cvt.%s.ftz.f32.f64", "rd", {0x380fffffffffffff}, {0x800000, 0, 0x800000}},
        {"cvt.%s.ftz.f32.f64", "rd", {0x380fffffe0000000}, {0, 0, 0}},
        {"cvt.%s.ftz.f32.f64", "rd", {0x380ffffff0000000}, {0x800000, 0, 0x800000}},
        {"cvt.%s.ftz.f32.f64", "rd", {0x380fffffc0000000}, {0, 0, 0}},
        {"mul.%s.ftz.f32", "rrr", {0x80800001, 0x3f7ffffe}, {0x80800000, 0x80800000, 0x80000000}},
        {"mul.%s.ftz.f32", "rrr", {0x80800000, 0x3f7fffff}, {0x80000000, 0x80000000, 0x80000000}},
        {"fma.%s.ftz.f32",
         "rrrr",
         {0x80800001, 0x3f7ffffe, 0},
         {0x80800000, 0x80800000, 0x80000000}},
        {"fma.%s.ftz.f32",
         "rrrr",
         {0x80800000, 0x3f7fffff, 0},
         {0x80000000, 0x80000000, 0x80000000}},
        {"fma.%s.ftz.f32", "rrrr", {0x800001, 0x3f7ffffe, 0x80000000}, {0x800000, 0, 0x800000}},
        {"div.%s.ftz.f32", "rrr", {0x80fffffe, 0x3fffffff}, {0x80000000, 0x80000000, 0x80000000}},
        {"div.%s.ftz.f32", "rrr", {0x80800000, 0x3f800001}, {0x80000000, 0x80000000, 0x80000000}},
        {"rcp.%s.ftz.f32", "rr", {0xfe800001}, {0x80000000, 0x80000000, 0x80000000}},
        {"rcp.%s.ftz.f32", "rr", {0xfe800000}, {0x80800000, 0x80800000, 0x80800000}},
        {"cvt.%s.ftz.f32.f64", "rd", {0xb80fffffffffffff}, {0x80800000, 0x80800000, 0x80000000}},
        {"cvt.%s.ftz.f32.f64", "rd", {0xb80fffffe0000000}, {0x80000000, 0x80000000, 0x80000000}},
        {"cvt.%s.ftz.f32.f64", "rd", {0xb80ffffff0000000}, {0x80800000, 0x80800000, 0x80000000}},
        {"cvt.%s.ftz.f32.f64", "rd", {0xb80fffffc0000000}, {0x80000000, 0x80000000, 0x80000000}},
    };
    sample rows[3 * COUNT(of)];
    char names[3 * COUNT(of)][24];

    for (size_t i = 0; i < COUNT(rows); i++) {
        snprintf(names[i], sizeof names[i], of[i / 3].format, roundings[i % 3]);
        rows[i] = (sample){names[i], of[i / 3].operands, {0}, of[i / 3].expected[i % 3]};
        memcpy(rows[i].sources, of[i / 3].sources, sizeof of->sources);
    }
    check_rows(rows, COUNT(rows));
}

/* NaNs that are converted, what rcp.approx.ftz.f64 sees of its operand, and small f16. */
TEST(instructions, measured)
{
    const sample rows[] = {
        {"fma.rn.ftz.f16", "hhhh", {0x401, 0x3bfe, 0}, 0x400},
        {"fma.rn.ftz.f16", "hhhh", {0x400, 0x3bff, 0}, 0},
        {"fma.rn.ftz.f16", "hhhh", {0xcea, 0x400, 0x400}, 0x400},
        {"fma.rn.ftz.relu.f16", "hhhh", {0x401, 0x3bfe, 0}, 0x400},
        {"fma.rn.ftz.relu.f16", "hhhh", {0x400, 0x3bff, 0}, 0},
        {"fma.rn.ftz.relu.f16", "hhhh", {0xcea, 0x400, 0x400}, 0x400},
        {"fma.rn.ftz.sat.f16", "hhhh", {0x401, 0x3bfe, 0}, 0x400},
        {"fma.rn.ftz.sat.f16", "hhhh", {0x400, 0x3bff, 0}, 0},
        {"fma.rn.ftz.sat.f16", "hhhh", {0xcea, 0x400, 0x400}, 0x400},
        {"mul.rn.ftz.f16", "hhh", {0x401, 0x3bfe}, 0x400},
        {"mul.rn.ftz.f16", "hhh", {0x400, 0x3bff}, 0},
        {"mul.rn.ftz.f16", "hhh", {0x402, 0x3bfc}, 0x400},
        {"mul.rn.ftz.sat.f32", "rrr", {0x800001, 0x3f7ffffe}, 0x800000},
        {"fma.rn.ftz.f16", "hhhh", {0x8401, 0x3bfe, 0}, 0x8400},
        {"fma.rn.ftz.f16", "hhhh", {0x8400, 0x3bff, 0}, 0x8000},
        {"fma.rn.ftz.f16", "hhhh", {0x8cea, 0x400, 0x400}, 0},
        {"fma.rn.ftz.relu.f16", "hhhh", {0x8401, 0x3bfe, 0}, 0},
        {"fma.rn.ftz.relu.f16", "hhhh", {0x8400, 0x3bff, 0}, 0},
        {"fma.rn.ftz.relu.f16", "hhhh", {0x8cea, 0x400, 0x400}, 0},
        {"fma.rn.ftz.sat.f16", "hhhh", {0x8401, 0x3bfe, 0}, 0},
        {"fma.rn.ftz.sat.f16", "hhhh", {0x8400, 0x3bff, 0}, 0},
        {"fma.rn.ftz.sat.f16", "hhhh", {0x8cea, 0x400, 0x400}, 0},
        {"mul.rn.ftz.f16", "hhh", {0x8401, 0x3bfe}, 0x8400},
        {"mul.rn.ftz.f16", "hhh", {0x8400, 0x3bff}, 0x8000},
        {"mul.rn.ftz.f16", "hhh", {0x8402, 0x3bfc}, 0x8400},
        {"mul.rn.ftz.sat.f32", "rrr", {0x80800001, 0x3f7ffffe}, 0},
        {"cvt.rp.ftz.f16.f32", "hr", {0x00010000}, 1},
        {"cvt.rm.ftz.f16.f32", "hr", {0x80000080}, 0x8001},
        {"cvt.rmi.u8.f64", "hd", {0xfff8000000000000}, 0x80},
        {"cvt.rmi.sat.u8.f64", "hd", {0x7fffffffffffffff}, 0x80},
        {"cvt.rni.s8.f64", "hd", {0x7ff0000000000001}, 0xff80},
        {"cvt.rpi.s16.f64", "hd", {0xfff4000123456789}, 0x8000},
        {"cvt.rzi.u32.f64", "rd", {0x7ff8000000000000}, 0x80000000},
        {"cvt.rni.s32.f64", "rd", {0x7ff0000000000001}, 0x80000000},
        {"cvt.rn.tf32.f32", "rr", {0xffa00001}, 0x7fffe000},
        {"cvt.rn.relu.tf32.f32", "rr", {0xffc00000}, 0x7fffe000},
        {"cvt.rz.relu.tf32.f32", "rr", {0xffcde886}, 0x7fffe000},
        {"cvt.rz.bf16.f64", "hd", {0xfff4000123456789}, 0xffe0},
        {"cvt.rn.bf16.f64", "hd", {0x7ff0000000000001}, 0x7fc0},
        {"cvt.rm.bf16.f64", "hd", {0xfff8000000000000}, 0xffc0},
        {"cvt.ftz.f64.f32", "dr", {0x7f800001}, 0x7fffffffe0000000},
        {"rcp.approx.ftz.f64", "dd", {0x7ff0000000000001}, 0},
        {"rsqrt.approx.ftz.f64", "dd", {0x7ff0000000000001}, 0},
    };

    check_rows(rows, sizeof rows / sizeof rows[0]);
}

typedef struct addition {
    const char *instruction;
    uint64_t sources[2]; /* what is in memory, what is added */
    uint64_t expected;
} addition;

/* Atomic additions of numbers that are none, or that are too small, depend on the memory. */
TEST(instructions, measured_atomics)
{
    const addition rows[] = {
        {"atom.global.add.f64", {0x7ff0000000000001, 0x3ff0000000000000}, 0x7ff0000000000001},
        {"atom.global.add.f64", {0x3ff0000000000000, 0x7ff0000000000001}, 0x7ff0000000000001},
        {"atom.global.add.f64", {0x7ff0000000000001, 0xfff4000123456789}, 0xfff4000123456789},
        {"atom.global.add.f64", {0xfff4000123456789, 0x7ff0000000000001}, 0x7ff0000000000001},
        {"atom.global.add.f64", {0x7ff0000000000000, 0xfff0000000000000}, 0xfff8000000000000},
        {"atom.global.add.f64", {0xfff8000000000000, 0x7ff4000000000001}, 0x7ff4000000000001},
        {"atom.global.add.f64", {0x7ff0000000000000, 0xfff8000000000001}, 0xfff8000000000001},
        {"atom.global.add.f32", {0x7f800001, 0x3f800000}, 0x7fffffff},
        {"atom.global.add.f32", {0x3f800000, 0xff800001}, 0x7fffffff},
        {"atom.global.add.f32", {0x7f800000, 0xff800000}, 0x7fffffff},
        {"atom.global.add.f32", {0x400000, 0x400000}, 0x0},
        {"atom.global.add.f32", {0x800000, 0x80800001}, 0x80000000},
        {"atom.global.add.f32", {0x1, 0x800000}, 0x800000},
        {"atom.shared.add.f64", {0x7ff0000000000001, 0x3ff0000000000000}, 0x7ff8000000000001},
        {"atom.shared.add.f64", {0x3ff0000000000000, 0x7ff0000000000001}, 0x7ff8000000000001},
        {"atom.shared.add.f64", {0x7ff0000000000001, 0xfff4000123456789}, 0x7ff8000000000001},
        {"atom.shared.add.f64", {0xfff4000123456789, 0x7ff0000000000001}, 0xfffc000123456789},
        {"atom.shared.add.f64", {0x7ff0000000000000, 0xfff0000000000000}, 0xfff8000000000000},
        {"atom.shared.add.f64", {0xfff8000000000000, 0x7ff4000000000001}, 0xfff8000000000000},
        {"atom.shared.add.f64", {0x7ff0000000000000, 0xfff8000000000001}, 0xfff8000000000001},
        {"atom.shared.add.f32", {0x7f800001, 0x3f800000}, 0x7fffffff},
        {"atom.shared.add.f32", {0x3f800000, 0xff800001}, 0x7fffffff},
        {"atom.shared.add.f32", {0x7f800000, 0xff800000}, 0x7fffffff},
        {"atom.shared.add.f32", {0x400000, 0x400000}, 0x800000},
        {"atom.shared.add.f32", {0x800000, 0x80800001}, 0x80000001},
        {"atom.shared.add.f32", {0x1, 0x800000}, 0x800001},
    };
    enum { COUNT = sizeof rows / sizeof rows[0] };
    gd_text text = {0};
    device dev;

    gd_text_string(
        &text,
        HEAD ".visible .entry k(.param .u64 out) {\n.reg .b64 %at; .shared .align 8 .b64 place;\n"
             "ld.param.u64 %at, [out];\n");
    for (size_t i = 0; i < COUNT; i++) {
        bool global = strstr(rows[i].instruction, "global"),
             wide = strstr(rows[i].instruction, "f64");
        const char *space = global ? "global" : "shared", *at = global ? "%at" : "place";
        uint32_t bits = wide ? 64 : 32;
        gd_text_format(
            &text, "{\n.reg .b%u a, b, d;\nmov.b%u a, 0x%" PRIx64 ";\nmov.b%u b, 0x%" PRIx64 ";\n",
            bits, bits, rows[i].sources[0], bits, rows[i].sources[1]);
        gd_text_format(&text,
                       "st.%s.b%u [%s], a;\n%s d, [%s], b;\nld.%s.b%u d, [%s];\nst.global.b%u "
                       "[%%at+%zu], d;\n}\n",
                       space, bits, at, rows[i].instruction, at, space, bits, at, bits, 8 + 8 * i);
    }
    gd_text_string(&text, "ret;\n}\n");
    device_open(&dev, gd_text_get(&text));
    uint64_t out = device_take(&dev, NULL, 8 + COUNT * 8);
    run_done(&dev, "k", 1, 1, 0, &out);
    const uint64_t *results = device_bytes(&dev, out);
    for (size_t i = 0; i < COUNT; i++)
        ck_assert_msg(results[1 + i] == rows[i].expected,
                      "%s: row %zu has 0x%" PRIx64 ", expected 0x%" PRIx64, rows[i].instruction, i,
                      results[1 + i], rows[i].expected);
    device_close(&dev);
    gd_text_free(&text);
}

/* ---- kernels with an output of 32 or 64 bits a thread ---- */

#define REGISTERS                                                                                  \
    ".reg .pred %p<8>; .reg .b16 %h<16>; .reg .b32 %r<40>; .reg .b64 %rd<20>; .reg .f32 %f<20>; "  \
    ".reg .f64 %fd<8>;\n"

/* %rd1 is the thread's place in the output, %rd2 the input, %r1 the thread. */
#define KERNEL(body)                                                                               \
    HEAD ".visible .entry k(.param .u64 out, .param .u64 in) {\n" REGISTERS                        \
         "ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [in]; mov.u32 %r1, %tid.x;\n"               \
         "mad.wide.u32 %rd1, %r1, 8, %rd1;\n" body "ret;\n}\n"

typedef struct result {
    device dev;
    uint64_t out, in;
    const uint64_t *values;
} result;

static void result_run(result *res, const char *text, uint32_t threads, const void *in,
                       size_t in_bytes, uint32_t shared)
{
    device_open(&res->dev, text);
    res->out = device_take(&res->dev, NULL, 16 * (size_t)threads);
    res->in = device_take(&res->dev, in, in_bytes ? in_bytes : 8);
    const uint64_t parameters[] = {res->out, res->in};
    run_done(&res->dev, "k", 1, threads, shared, parameters);
    res->values = device_bytes(&res->dev, res->out);
}

static void expect_all(const char *text, uint32_t threads, uint64_t expected)
{
    result res;

    result_run(&res, text, threads, NULL, 0, 0);
    for (uint32_t i = 0; i < threads; i++)
        ck_assert_msg(res.values[i] == expected, "thread %u has 0x%" PRIx64 ", expected 0x%" PRIx64,
                      i, res.values[i], expected);
    device_close(&res.dev);
}

/* What an addition or a subtraction leaves in CC.CF, for one of the other kind: a subtraction
 * leaves the carry of adding the complement. The first three rows were measured on an H100. */
TEST(instructions, carries_between_additions_and_subtractions)
{
    static const struct {
        const char *first, *next;
        uint64_t a, b;
        uint32_t expected;
    } rows[] = {
        {"sub.cc.u32", "addc.u32", 1, 2, 0},
        {"sub.cc.u32", "addc.u32", 2, 1, 1},
        {"add.cc.u32", "subc.u32", 1, 2, UINT32_MAX},
        {"sub.cc.u32", "addc.u32", 2, 2, 1},
        {"add.cc.u32", "subc.u32", UINT32_MAX, 1, 0},
        {"sub.cc.u32", "subc.u32", 1, 2, UINT32_MAX},
        {"sub.cc.u32", "subc.u32", 2, 1, 0},
        {"mad.lo.cc.u32", "subc.u32", UINT32_MAX, 1,
         0}, /* the sum is of the product and the first source */
        {"sub.cc.u64", "addc.u32", 1, 2, 0},
        {"sub.cc.s64", "addc.u32", UINT64_C(1) << 32, 1, 1},
        {"add.cc.u64", "subc.u32", UINT64_MAX, 1, 0},
        {"add.cc.u64", "subc.u32", UINT32_MAX, 1, UINT32_MAX},
    };
    gd_text text = {0};
    device dev;

    gd_text_string(&text, HEAD ".visible .entry k(.param .u64 out) {\n" REGISTERS
                               "ld.param.u64 %rd1, [out];\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *letter = strstr(rows[i].first, "64") ? "rd" : "r";
        gd_text_format(
            &text,
            "mov.b%d %%%s2, %" PRIu64 "; mov.b%d %%%s3, %" PRIu64 "; %s %%%s4, %%%s2, %%%s3%s;\n",
            letter[1] ? 64 : 32, letter, rows[i].a, letter[1] ? 64 : 32, letter, rows[i].b,
            rows[i].first, letter, letter, letter, *rows[i].first == 'm' ? ", %r2" : "");
        gd_text_format(&text, "%s %%r5, 0, 0; st.global.u32 [%%rd1+%zu], %%r5;\n", rows[i].next,
                       4 * i);
    }
    gd_text_string(&text, "ret; }\n");
    device_open(&dev, gd_text_get(&text));
    uint64_t out = device_take(&dev, NULL, sizeof rows / sizeof *rows * 4);
    run_done(&dev, "k", 1, 1, 0, &out);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t found = ((const uint32_t *)device_bytes(&dev, out))[i];
        ck_assert_msg(found == rows[i].expected, "%s, %s: %#x, expected %#x", rows[i].first,
                      rows[i].next, found, rows[i].expected);
    }
    device_close(&dev);
    gd_text_free(&text);
}

/* ---- constant expressions ---- */

/* PTX ISA 4.5.5: 64 bits, signed until an operand is unsigned; operators and precedences as in
 * C. */
TEST(instructions, constant_expressions)
{
    static const struct {
        const char *text;
        uint64_t value;
    } cases[] = {
        {"1 + 2 * 3", 7},
        {"(1 + 2) * 3", 9},
        {"7 - 2 - 1", 4},
        {"64 / 4 / 2", 8},
        {"1 << 40", UINT64_C(1) << 40},
        {"1 << 63", UINT64_C(1) << 63},
        {"1 << 64", 0},
        {"3 << 62", UINT64_C(3) << 62},
        {"-1 >> 63", UINT64_MAX},
        {"-1 >> 64", UINT64_MAX},
        {"-256 >> 4", MINUS(-16)},
        {"0x8000000000000000 >> 63", 1},
        {"0x8000000000000000 >> 62", 2},
        {"0xffffffffffffffff >> 64", 0},
        {"1 + 1 << 2 + 1", 16},
        {"1 << 2 << 3", 32},
        {"-7 / 2", MINUS(-3)},
        {"-7 % 2", MINUS(-1)},
        {"7 / -2", MINUS(-3)},
        {"-8 / 2U", (UINT64_MAX - 7) / 2},
        {"-8 % 3U", (UINT64_MAX - 7) % 3},
        {"(.u64)-8 / 2", (UINT64_MAX - 7) / 2},
        {"(.s64)0xfffffffffffffff8 / 2", MINUS(-4)},
        {"2 < 3", 1},
        {"3 < 3", 0},
        {"3 <= 3", 1},
        {"4 <= 3", 0},
        {"3 > 3", 0},
        {"4 > 3", 1},
        {"3 >= 3", 1},
        {"2 >= 3", 0},
        {"-1 < 1", 1},
        {"-1 < 1U", 0},
        {"1U > -1", 0},
        {"-1 >= 0U", 1},
        {"-1 <= 0U", 0},
        {"5 == 5", 1},
        {"5 == 4", 0},
        {"5 != 5", 0},
        {"5 != 4", 1},
        {"1 < 2 == 2 > 1", 1},
        {"6 & 3", 2},
        {"6 | 3", 7},
        {"6 ^ 3", 5},
        {"1 | 6 & 3 ^ 7", 5},
        {"4 & 6 == 6", 0},
        {"6 == 6 & 4", 0},
        {"2 && 4", 1},
        {"2 && 0", 0},
        {"0 || 4", 1},
        {"0 || 0", 0},
        {"1 || 0 && 0", 1},
        {"0 && 0 || 2", 1},
        {"2 & 1 || 0", 0},
        {"!5", 0},
        {"!0", 1},
        {"!!7", 1},
        {"~5", ~UINT64_C(5)},
        {"-5", MINUS(-5)},
        {"+5", 5},
        {"- -5", 5},
        {"~-1", 0},
        {"!0 + 1", 2},
        {"-3 * -4", 12},
        {"5U - 6U", UINT64_MAX},
        {"(5 - 6) / 2", 0},
        {"(5U - 6) / 2", UINT64_MAX / 2},
        {"(5 & 6U) - 5 > 0", 1},
        {"(1 | 0U) - 2 > 0", 1},
        {"(1 ^ 0U) - 2 > 0", 1},
        {"(1 * 1U) - 2 > 0", 1},
        {"(1 + 0U) - 2 > 0", 1},
        {"(1U << 0) - 2 > 0", 1},
        {"(1U >> 0) - 2 > 0", 1},
        {"(1 << 0U) - 2 > 0", 0},
        {"(1U / 1) - 2 > 0", 1},
        {"(1U == 1U) - 2 > 0", 0},
        {"(1U && 1U) - 2 > 0", 0},
        {"(1U || 0U) - 2 > 0", 0},
        {"!0U - 2 > 0", 0},
        {"9223372036854775807 - 9223372036854775808 > 0", 1},
        {"1 ? 2 : 3", 2},
        {"0 ? 2 : 3", 3},
        {"0 ? 2 : 1 ? 4 : 5", 4},
        {"1 ? 0 ? 2 : 6 : 5", 6},
        {"2 > 1 ? 10 + 1 : 20", 11},
        {"0x10 + 010 + 0b11", 27},
    };
    enum { COUNT = sizeof cases / sizeof *cases };
    gd_text text = {0};
    device dev;

    gd_text_string(&text, ".version 8.0\n.target sm_90\n.address_size 64\n");
    gd_text_string(&text, ".global .u64 values[] = {");
    for (size_t i = 0; i < COUNT; i++)
        gd_text_format(&text, "%s%s", i ? ", " : "", cases[i].text);
    gd_text_string(&text, "};\n.visible .entry k(.param .u64 out) {\n");
    gd_text_string(&text, ".reg .b64 out, v;\nld.param.u64 out, [out];\n");
    for (size_t i = 0; i < COUNT; i++)
        gd_text_format(&text,
                       "mov.u64 v, %s;\nst.global.u64 [out + %zu], v;\n"
                       "ld.global.u64 v, [values + %zu];\nst.global.u64 [out + %zu], v;\n",
                       cases[i].text, 16 * i, 8 * i, 16 * i + 8);
    gd_text_string(&text, "ret;\n}\n");
    device_open(&dev, gd_text_get(&text));
    const uint64_t address = device_take(&dev, NULL, 16 * COUNT);
    run_done(&dev, "k", 1, 1, 0, &address);
    const uint64_t *got = device_bytes(&dev, address);
    for (size_t i = 0; i < COUNT; i++)
        ck_assert_msg(got[2 * i] == cases[i].value && got[2 * i + 1] == cases[i].value,
                      "%s: operand %" PRIx64 ", initial value %" PRIx64, cases[i].text, got[2 * i],
                      got[2 * i + 1]);
    device_close(&dev);
    gd_text_free(&text);
}

/* ---- registers, vectors, special registers ---- */

TEST(instructions, special_registers)
{
    result res;

    result_run(&res,
               KERNEL("mov.u32 %r2, %laneid; mov.u32 %r3, %warpid; mov.u32 %r4, %ntid.x; mov.u32 "
                      "%r5, %lanemask_lt;\n"
                      "popc.b32 %r5, %r5; mov.u32 %r6, %nctaid.y; mov.u32 %r7, %total_smem_size; "
                      "mov.u32 %r8, WARP_SZ;\n"
                      "mad.lo.u32 %r9, %r3, 100, %r2; mad.lo.u32 %r9, %r4, 1000, %r9; mad.lo.u32 "
                      "%r9, %r5, 1000000, %r9;\n"
                      "add.u32 %r10, %r6, %r7; add.u32 %r10, %r10, %r8; mov.b64 %rd3, {%r9, %r10}; "
                      "st.global.u64 [%rd1], %rd3;\n"),
               72, NULL, 0, 64);
    for (uint32_t i = 0; i < 72; i++) {
        ck_assert_uint_eq((uint32_t)res.values[i],
                          i / 32 * 100 + i % 32 + 72000 + i % 32 * 1000000);
        ck_assert_uint_eq(res.values[i] >> 32,
                          1 + 128 + 32); /* shared memory is given out in units of 128 bytes */
    }
    device_close(&res.dev);
}

TEST(instructions, clocks_go_on)
{
    result res;

    result_run(
        &res,
        KERNEL("mov.u64 %rd3, %clock64; mov.u64 %rd4, %globaltimer; mov.u32 %r2, %clock; add.u32 "
               "%r3, %r2, 1;\n"
               "mov.u64 %rd5, %clock64; mov.u64 %rd6, %globaltimer; setp.gt.u64 %p1, %rd5, %rd3;\n"
               "setp.gt.and.u64 %p1, %rd6, %rd4, %p1; selp.u64 %rd7, 1, 0, %p1; st.global.u64 "
               "[%rd1], %rd7;\n"),
        64, NULL, 0, 0);
    for (uint32_t i = 0; i < 64; i++)
        ck_assert_uint_eq(res.values[i], 1);
    device_close(&res.dev);
}

/* Blocks of three dimensions: x goes fastest. */
TEST(instructions, three_dimensions)
{
    device dev;

    device_open(
        &dev, HEAD
        ".visible .entry k(.param .u64 out) {\n" REGISTERS
        "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z;\n"
        "mad.lo.u32 %r4, %r3, 3, %r2; mad.lo.u32 %r4, %r4, 5, %r1; mad.wide.u32 %rd1, %r4, 4, "
        "%rd1;\n"
        "mov.u32 %r5, %laneid; mov.u32 %r6, %warpid; mad.lo.u32 %r5, %r6, 32, %r5; st.global.u32 "
        "[%rd1], %r5; ret; }\n");
    uint64_t out = device_take(&dev, NULL, 5 * 3 * 4 * 4);
    ck_assert_int_eq(run_shape(&dev, "k", (one_cta){1, {5, 3, 4}, 0, 0}, &out), GD_CTA_DONE);
    const uint32_t *values = device_bytes(&dev, out);
    for (uint32_t i = 0; i < 60; i++)
        ck_assert_uint_eq(values[i], i);
    device_close(&dev);
}

/* ---- control flow ---- */

/* Lanes go different ways and for different times, and meet again: activemask at the end is
 * full. */
TEST(control, divergence)
{
    result res;

    result_run(
        &res,
        KERNEL("mov.u32 %r2, 0; and.b32 %r3, %r1, 7; setp.eq.u32 %p1, %r3, 0; @%p1 bra meet;\n"
               "loop: add.u32 %r2, %r2, %r3; sub.u32 %r3, %r3, 1; and.b32 %r4, %r3, 1; setp.eq.u32 "
               "%p2, %r4, 0;\n"
               "@%p2 bra even; add.u32 %r2, %r2, 100; bra joined; even: add.u32 %r2, %r2, 1000; "
               "joined:\n"
               "setp.ne.u32 %p3, %r3, 0; @%p3 bra loop;\n"
               "meet: activemask.b32 %r5; mov.b64 %rd3, {%r2, %r5}; st.global.u64 [%rd1], %rd3;\n"),
        64, NULL, 0, 0);
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t sum = 0;
        for (uint32_t n = i % 8; n; n--)
            sum += n + ((n - 1) % 2 ? 100 : 1000);
        ck_assert_uint_eq((uint32_t)res.values[i], sum);
        ck_assert_uint_eq(res.values[i] >> 32, 0xffffffff);
    }
    device_close(&res.dev);
}

/* A lane spins on what another lane of its warp stores later in the text. */
TEST(control, lanes_wait_for_lanes)
{
    expect_all(KERNEL(".shared .align 4 .b8 flag[4];\n mov.u32 %r9, flag; setp.eq.u32 %p1, %r1, 5; "
                      "@%p1 bra set;\n"
                      "spin: ld.volatile.shared.u32 %r2, [%r9]; setp.eq.u32 %p2, %r2, 0; @%p2 bra "
                      "spin; bra done;\n"
                      "set: st.volatile.shared.u32 [%r9], 77; mov.u32 %r2, 77;\n"
                      "done: cvt.u64.u32 %rd3, %r2; st.global.u64 [%rd1], %rd3;\n"),
               32, 77);
}

/* Lanes that spin give way wherever in their loop a turn of the warp ends, at the branch that parts
 * them and at a branch through a table included: the loop has eight operations, and each lap of the
 * test shifts it by one. */
LOOP_TEST(control, spinning_lanes_give_way, 8)
{
    gd_text text = {0};
    device dev;

    gd_text_string(&text, HEAD
                   ".visible .entry spin(.param .u64 out)\n{\n"
                   ".reg .pred %p, %first, %last; .reg .b32 %lane, %v, %zero; .reg .b64 %out;\n"
                   "ld.param.u64 %out, [out]; mov.u32 %lane, %tid.x; mov.u32 %zero, 0;\n"
                   "setp.eq.u32 %first, %lane, 0; setp.eq.u32 %last, %lane, 31;\n");
    for (int i = 0; i < _i; i++)
        gd_text_string(&text, "mov.u32 %v, 0;\n");
    gd_text_string(
        &text,
        "@%last bra set;\n"
        "loop: ld.volatile.global.u32 %v, [%out];\n"
        "@%first bra together;\n"
        "xor.b32 %lane, %lane, 1;\n"
        "table: .branchtargets next;\n"
        "together: xor.b32 %lane, %lane, 2; xor.b32 %lane, %lane, 4; brx.idx %zero, table; next:\n"
        "setp.eq.u32 %p, %v, 0;\n"
        "@%p bra loop;\n"
        "bra end;\n"
        "set: st.volatile.global.u32 [%out], 1;\n"
        "end: ret;\n}\n");
    device_open(&dev, gd_text_get(&text));
    uint64_t out = device_take(&dev, &(uint32_t){0}, 4);
    gd_cta_state state = run_shape(&dev, "spin", (one_cta){1, {32, 1, 1}, 0, 1000000}, &out);
    ck_assert_msg(state == GD_CTA_DONE, "shift %d, state %d: %s", _i, state, dev.fault.text);
    device_close(&dev);
    gd_text_free(&text);
}

TEST(control, endless_recursion_stops)
{
    device dev;
    uint64_t nothing = 0;

    device_open(&dev, HEAD
                ".func f() { call f; ret; }\n.visible .entry k(.param .u64 a) { call f; ret; }\n");
    ck_assert_int_eq(run_shape(&dev, "k", (one_cta){1, {1, 1, 1}, 0, 0}, &nothing), GD_CTA_FAULT);
    ck_assert_int_eq(dev.fault.kind, GD_FAULT_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(dev.fault.text, "call stack"));
    device_close(&dev);
}

/* ---- memory ---- */

/* A struct by value, read through its address as a compiler does. */
TEST(memory, parameter_space)
{
    struct {
        uint64_t out;
        uint8_t bytes[24];
        uint16_t half;
    } parameters = {.half = 500};
    uint32_t offset, bytes;
    device dev;

    for (uint8_t i = 0; i < 24; i++)
        parameters.bytes[i] = i;
    device_open(
        &dev, HEAD
        ".visible .entry k(.param .u64 out, .param .align 8 .b8 s[24], .param .u16 h) {\n" REGISTERS
        "ld.param.u64 %rd1, [out]; mov.b64 %rd2, s; ld.param.u8 %r1, [%rd2+17]; ld.param.u16 %r2, "
        "[h];\n"
        "mov.u32 %r4, %tid.x; cvt.u64.u32 %rd4, %r4; add.u64 %rd2, %rd2, %rd4; ld.param.u8 %r3, "
        "[%rd2];\n"
        "add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; cvt.u64.u32 %rd3, %r1; shl.b64 %rd4, %rd4, "
        "3;\n"
        "add.u64 %rd1, %rd1, %rd4; st.global.u64 [%rd1], %rd3; ret; }\n");
    parameters.out = device_take(&dev, NULL, 64);
    const gd_entry *entry = gd_program_entry(dev.program, "k");
    ck_assert(gd_entry_parameter(entry, 2, &offset, &bytes) &&
              !gd_entry_parameter(entry, 3, &offset, &bytes));
    ck_assert_uint_eq(offset, 32);
    ck_assert_uint_eq(bytes, 2);
    ck_assert_uint_eq(entry->parameter_bytes, 34);
    run_done(&dev, "k", 1, 8, 0, &parameters);
    for (uint32_t i = 0; i < 8; i++)
        ck_assert_uint_eq(((const uint64_t *)device_bytes(&dev, parameters.out))[i], 517 + i);
    device_close(&dev);
}

/* ---- faults ---- */

typedef struct fault_case {
    const char *body;
    gd_fault_kind kind;
    uint32_t threads, thread; /* the one at fault */
    const char *text;         /* a part of it */
} fault_case;

static const fault_case fault_cases[] = {
    {"st.global.u32 [%rd2+64], 1;\n", GD_FAULT_ADDRESS, 4, 0, "right past the end of 64 bytes"},
    {"st.global.u64 [%rd2+60], 1;\n", GD_FAULT_ALIGNMENT, 4, 0, "no multiple of 8"},
    {"add.u64 %rd2, %rd2, 2; ld.global.v2.b32 {%r2, %r3}, [%rd2+60];\n", GD_FAULT_ALIGNMENT, 4, 0,
     "no multiple of 8"},
    {"mul.wide.u32 %rd3, %r1, 4; add.u64 %rd3, %rd3, %rd2; ld.global.u32 %r2, [%rd3];\n",
     GD_FAULT_ADDRESS, 40, 16, "past the end"},
    {"mov.u64 %rd3, 0; ld.global.u32 %r2, [%rd3+8];\n", GD_FAULT_ADDRESS, 1, 0, "null"},
    {"mov.u64 %rd3, 8; ld.u32 %r2, [%rd3];\n", GD_FAULT_ADDRESS, 1, 0, "null"},
    {"mov.u64 %rd3, out; cvta.param.u64 %rd3, %rd3; ld.u32 %r2, [%rd3]; st.u32 [%rd3], 1;\n",
     GD_FAULT_READ_ONLY, 1, 0, "write to a kernel's parameter"},
    {".shared .align 4 .b8 s[64]; mov.u32 %r2, s; ld.shared.u32 %r3, [%r2+64];\n", GD_FAULT_ADDRESS,
     1, 0, "shared memory"},
    {"ld.shared.u32 %r3, [64];\n", GD_FAULT_ADDRESS, 1, 0, "shared memory"},
    {".local .align 4 .b8 l[16]; mov.u64 %rd3, l; st.local.u32 [%rd3+4096], 0;\n", GD_FAULT_ADDRESS,
     1, 0, "local memory"},
    {"setp.eq.u32 %p1, %r1, 3; @%p1 trap;\n", GD_FAULT_TRAP, 32, 3, "trap"},
    {"setp.eq.u32 %p1, %r1, 0; @%p1 bra past; bar.sync 2, 64; past:\n", GD_FAULT_DEADLOCK, 64, 1,
     "barrier 2"},
    {"setp.eq.u32 %p1, %r1, 0; @%p1 bra.uni past; bar.warp.sync -1; ret; past: bar.sync 0;\n",
     GD_FAULT_DEADLOCK, 32, 0, "deadlock"},
    {"loop: bra loop;\n", GD_FAULT_STEPS, 33, 0, "step limit"},
    {".shared .align 8 .b8 s[8]; mov.u32 %r2, s; mbarrier.arrive.shared.b64 %rd3, [%r2];\n",
     GD_FAULT_UNSUPPORTED, 1, 0, "no mbarrier"},
    {"bar.sync 16;\n", GD_FAULT_UNSUPPORTED, 1, 0, "barrier 16"},
    {"atom.global.add.u32 %r2, [%rd2+64], 1;\n", GD_FAULT_ADDRESS, 1, 0, "past the end"},
    {".shared .align 16 .b8 s[16]; cp.async.ca.shared.global [s], [%rd2+2], 4;\n",
     GD_FAULT_ALIGNMENT, 1, 0, "no multiple of 4"},
    {"targets: .branchtargets here; mov.u32 %r2, 1; brx.idx %r2, targets; here:\n", GD_FAULT_TRAP,
     1, 0, "brx.idx"},
};

LOOP_TEST(limits, faults, COUNT(fault_cases))
{
    const fault_case *item = &fault_cases[_i];
    gd_text text = {0};
    device dev;

    gd_text_string(&text, HEAD
                   ".const .align 4 .b8 gone[4];\n.visible .entry k(.param .u64 out, .param .u64 "
                   "in) {\n" REGISTERS
                   "ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [in]; mov.u32 %r1, %tid.x;\n");
    gd_text_format(&text, "%sret;\n}\n", item->body);
    device_open(&dev, gd_text_get(&text));
    const uint64_t parameters[] = {0, device_take(&dev, NULL, 64)};
    gd_cta_state state =
        run_shape(&dev, "k", (one_cta){1, {item->threads, 1, 1}, 0, 100000}, parameters);
    ck_assert_int_eq(state, GD_CTA_FAULT);
    ck_assert_msg(dev.fault.kind == item->kind, "kind %d: %s", dev.fault.kind, dev.fault.text);
    ck_assert_msg(strstr(dev.fault.text, item->text) != NULL, "%s", dev.fault.text);
    ck_assert_uint_eq(dev.fault.thread[0], item->thread);
    ck_assert_int_eq(dev.fault.line, 8);
    device_close(&dev);
    gd_text_free(&text);
}

/* Also a limit that is reached as the last thread that can go on ends or begins to wait. */
TEST(limits, each_step_limit_ends_a_cta)
{
    static const uint64_t parameters[2] = {0};
    device dev;

    device_open(
        &dev,
        KERNEL(
            "setp.lt.u32 %p1, %r1, 40; @%p1 bra wait; bar.sync 0; ret; wait: griddepcontrol.wait;\n"
            "bar.sync 0;\n"));
    run_done(&dev, "k", 1, 64, 0, parameters);
    const uint64_t all = executed;
    for (uint64_t limit = 1; limit <= all + 1; limit++) {
        gd_cta_state state = run_shape(&dev, "k", (one_cta){1, {64, 1, 1}, 0, limit}, parameters);
        if (limit + 32 <= all || state == GD_CTA_FAULT)
            ck_assert_msg(dev.fault.kind == GD_FAULT_STEPS && limit < all, "limit %" PRIu64 ": %s",
                          limit, dev.fault.text);
        else
            ck_assert_int_eq(state, GD_CTA_DONE);
    }
    device_close(&dev);
}

TEST(limits, freed_memory)
{
    device dev;

    device_open(&dev, KERNEL("ld.global.u32 %r2, [%rd2+16];\n"));
    const uint64_t parameters[] = {0, device_take(&dev, NULL, 64)};
    ck_assert(gd_memory_give(dev.memory, parameters[1]) &&
              !gd_memory_give(dev.memory, parameters[1]));
    ck_assert_int_eq(run_shape(&dev, "k", (one_cta){1, {1, 1, 1}, 0, 0}, parameters), GD_CTA_FAULT);
    ck_assert_int_eq(dev.fault.kind, GD_FAULT_ADDRESS);
    ck_assert_ptr_nonnull(strstr(dev.fault.text, "was freed"));
    ck_assert(!dev.fault.write);
    ck_assert_uint_eq(dev.fault.address, parameters[1] + 16);
    device_close(&dev);
}

/* ---- what is not emulated is refused by name ---- */

static const char *const refusals[][2] = {
    {"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
     "[%rd1], [%r1], 128;\n",
     "tensormap.cp_fenceproxy"},
    {"wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %r1, "
     "0, 1, 1, 1, 0, 0;\n",
     "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 is not emulated"},
    {"wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, 1, 1, "
     "1, 0, 0;\n",
     "wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 in this form is not emulated"},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3}, %rd1, %rd2, 1, 1, 1, 0, "
     "0;\n",
     "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 in this form is not emulated"},
    {"cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r1], "
     "[%rd1, {%r1, %r1, %r1}], [%r1], {%h1};\n",
     "cp.async.bulk.tensor.3d.shared::cluster.global.im2col"},
    {"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, "
     "{%r1}], [%r1];\n",
     "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes in this form"},
    {"tcgen05.wait::ld.sync.aligned;\n", "tcgen05.wait::ld.sync.aligned"},
    {"mov.u32 %r2, %envreg3;\n", "%envreg3"},
    {"add.f32 %r2, %rd1, %r3;\n", "64 bits"},
    {"add.u32.funny %r2, %r3, %r4;\n", "add.u32.funny"},
    {"cvt.rn.relu.f32.s32 %f1, %r1;\n", "cvt.rn.relu.f32.s32 in this form"},
    {"call nowhere;\n", "call"},
    {"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, "
     "{%r1, %r2}, {%r3, %r4}, {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8};\n",
     "mma.sync.aligned.m8n8k4"},
    {"mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2}, {%r3, "
     "%r4}, {%f1, %f2, %f3, %f4}, %r5, 0;\n",
     "mma.sp.sync.aligned.m16n8k16"},
    {"tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [t, {%r1}];\n", "tex.1d.v4.f32.s32"},
    {"add.rn.ftz.f64 %fd1, %fd2, %fd3;\n", "add.rn.ftz.f64"},
    {"setp.lo.s32 %p1, %r1, %r2;\n", "setp.lo.s32"},
    {"bar.sync;\n", "bar.sync"},
    {"ld.global.u32 %h1, [%rd1];\n", "smaller than the access"},
    {"shfl.sync.idx.b32 %r2, %r1, 0, 31;\n", "shfl.sync.idx.b32"},
};

LOOP_TEST(limits, refused, COUNT(refusals))
{
    gd_text text = {0};
    gd_program_error error;
    device dev;

    gd_text_string(
        &text,
        HEAD ".extern .func nowhere();\n.global .texref t;\n.visible .entry k() {\n" REGISTERS);
    gd_text_format(&text, "%sret;\n}\n.visible .entry good() { ret; }\n", refusals[_i][0]);
    device_open(&dev, gd_text_get(&text));
    const gd_entry *entry = gd_program_entry(dev.program, "k");
    ck_assert(entry->refused && !gd_program_entry(dev.program, "good")->refused);
    gd_entry_refusal(entry, &error);
    ck_assert_msg(strstr(error.text, refusals[_i][1]) != NULL, "%s", error.text);
    ck_assert_int_eq(error.line, 8);
    device_close(&dev);
    gd_text_free(&text);
}

/* A constant of a million signs, or of as many choices, is refused; it once ended the process. */
TEST(limits, deep_constants)
{
    static const struct {
        const char *before, *part, *after;
    } places[] = {
        {".visible .entry k() { .reg .b32 %r; mov.u32 %r, ", "-", "5; ret; }"},
        {".visible .entry k() { .reg .b32 %r; mov.u32 %r, ", "1?2:", "5; ret; }"},
        {".visible .entry k() { .reg .b32 %r; mov.u32 %r, %r+", "~", "5; ret; }"},
        {".visible .entry k() { .reg .b64 %d; .reg .b32 %r; ld.global.u32 %r, [%d+",
         "1?2:", "5]; ret; }"},
        {".global .u32 g = ", "-", "5;\n.visible .entry k() { ret; }"},
    };

    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        gd_ptx_module module = {0};
        gd_program_error error;
        gd_text text = {0};
        gd_text_format(&text, "%s%s", HEAD, places[i].before);
        for (int n = 0; n < 1000000; n++)
            gd_text_string(&text, places[i].part);
        gd_text_string(&text, places[i].after);
        ck_assert_int_eq(
            gd_ptx_module_parse(&module, gd_text_get(&text), (uint32_t)text.bytes, "test"), 0);
        gd_memory *memory = gd_memory_create();
        gd_program *program = gd_program_create(&module, memory, NULL, &error);
        ck_assert(!program || gd_program_entry(program, "k")->refused);
        gd_program_destroy(program);
        gd_memory_destroy(memory);
        gd_ptx_module_free(&module);
        gd_text_free(&text);
    }
}

/* ---- what the scheduler sees ---- */

static gd_cta *start(device *dev, gd_grid_view *view, const char *text, const void *parameters)
{
    static const uint32_t position[3] = {0, 0, 0};

    device_open(dev, text);
    *view = (gd_grid_view){.entry = gd_program_entry(dev->program, "k"),
                           .grid = {1, 1, 1},
                           .block = {64, 1, 1},
                           .cluster = {1, 1, 1},
                           .parameters = parameters,
                           .memory = dev->memory};
    ck_assert(!view->entry->refused);
    return gd_cta_create(view, position, 0, 0);
}

TEST(limits, waits_for_the_grid)
{
    uint64_t parameters[2] = {0};
    gd_grid_view view;
    device dev;
    gd_cta *cta = start(
        &dev, &view,
        KERNEL(
            "setp.lt.u32 %p1, %r1, 40; @%p1 bra wait; bar.sync 0; ret; wait: griddepcontrol.wait;\n"
            "griddepcontrol.launch_dependents; bar.sync 0;\n"),
        parameters);

    ck_assert_int_eq(gd_cta_run(cta, 100000, 0), GD_CTA_WAITING);
    ck_assert_int_eq(gd_cta_run(cta, 100000, 0), GD_CTA_WAITING);
    ck_assert(!gd_cta_triggered(cta));
    gd_cta_release(cta, 0);
    ck_assert_int_eq(gd_cta_run(cta, 100000, 0), GD_CTA_DONE);
    ck_assert(gd_cta_triggered(cta));
    ck_assert_uint_gt(gd_cta_cycles(cta), 0);
    gd_cta_destroy(cta);
    device_close(&dev);
}

/* The run ends behind the first trigger of any thread, and only there. */
TEST(limits, runs_to_the_trigger)
{
    uint64_t parameters[2] = {0};
    gd_grid_view view;
    device dev;
    gd_cta *cta = start(
        &dev, &view,
        KERNEL("mov.u32 %r2, 0; again: st.global.u32 [%rd1], 1; griddepcontrol.launch_dependents;\n"
               "st.global.u32 [%rd1], 2; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 3; @%p1 bra "
               "again; bar.sync 0;\n"),
        parameters);

    parameters[0] = parameters[1] = device_take(&dev, NULL, 4096);
    const uint64_t *places = device_bytes(&dev, parameters[0]);
    ck_assert_int_eq(gd_cta_run_to_trigger(cta, 100000, 0), GD_CTA_READY);
    ck_assert(gd_cta_triggered(cta));
    ck_assert_uint_eq(places[0], 1);
    ck_assert_uint_eq(places[32], 0);
    ck_assert_int_eq(gd_cta_run_to_trigger(cta, 100000, 0), GD_CTA_DONE);
    ck_assert_uint_eq(places[0], 2);
    ck_assert_uint_eq(places[32], 2);
    gd_cta_destroy(cta);
    device_close(&dev);
}

TEST(limits, polls_and_goes_on)
{
    uint64_t parameters[2] = {0};
    gd_grid_view view;
    device dev;
    gd_cta *cta = start(&dev, &view,
                        KERNEL("poll: ld.acquire.gpu.global.u32 %r2, [%rd2]; setp.eq.u32 %p1, %r2, "
                               "0; @%p1 nanosleep.u32 100; @%p1 bra poll;\n"),
                        parameters);

    parameters[0] = parameters[1] = device_take(&dev, NULL, 64);
    ck_assert_int_eq(gd_cta_run(cta, 100000, 0), GD_CTA_POLLING);
    ck_assert_uint_lt(gd_cta_cycles(cta), 1000);
    *(uint32_t *)device_bytes(&dev, parameters[1]) = 1;
    ck_assert_int_eq(gd_cta_run(cta, 100000, 0), GD_CTA_DONE);
    gd_cta_destroy(cta);
    device_close(&dev);
}

/* A loop that only loads has its steps, and says that it polled; one that computes is ready for
 * more. */
TEST(limits, steps)
{
    uint64_t parameters[2] = {0};
    gd_grid_view view;
    device dev;
    gd_cta *cta =
        start(&dev, &view,
              KERNEL("setp.ne.u64 %p2, %rd1, 0; @%p2 bra spin; poll: ld.volatile.global.u32 %r2, "
                     "[%rd2]; setp.eq.u32 %p1, %r2, 0; @%p1 bra poll;\n"
                     "spin: add.u32 %r3, %r3, 1; setp.lt.u32 %p3, %r3, 100000; @%p3 bra spin;\n"),
              parameters);

    parameters[0] = 0;
    parameters[1] = device_take(&dev, NULL, 64);
    view.block[0] = 1;
    gd_cta_destroy(cta);
    static const uint32_t position[3] = {0, 0, 0};
    cta = gd_cta_create(&view, position, 0, 0);
    ck_assert_int_eq(gd_cta_run(cta, 1000, 0), GD_CTA_POLLING);
    *(uint32_t *)device_bytes(&dev, parameters[1]) = 1;
    ck_assert_int_eq(gd_cta_run(cta, 1000, 0), GD_CTA_POLLING);
    ck_assert_int_eq(gd_cta_run(cta, 1000, 0), GD_CTA_READY);
    ck_assert_uint_eq(gd_cta_cycles(cta), 3000);
    ck_assert_uint_eq(gd_cta_instructions(cta), 3000);
    gd_cta_destroy(cta);
    device_close(&dev);
}

/* ---- the suite ---- */

MAIN_OF_SUITE("interpreter")
