/* The interpreter: instructions one by one against values worked out by hand or by the host's
 * mathematics, then control flow, barriers, asynchronous copies, faults, and the kernels of the
 * shelf against plain references. */
#include <check.h>
#include <fenv.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "emulator/machine/machine.h"
#include "ptx/text/parser.h"
#include "suite.h"

#define HEAD ".version 8.3\n.target sm_90\n.address_size 64\n"

#ifndef SOURCE_DIRECTORY
#define SOURCE_DIRECTORY "."
#endif
#ifndef BUILD_DIRECTORY
#define BUILD_DIRECTORY "."
#endif

/* ---- a device for one module ---- */

typedef struct device {
    char *text;
    gd_ptx_module module;
    gd_memory *memory;
    gd_program *program;
    gd_fault fault;
    uint64_t instructions;
} device;

static void device_open(device *dev, const char *text)
{
    gd_program_error error;

    *dev = (device){0};
    dev->text = strdup(text);
    ck_assert_int_eq(gd_ptx_module_parse(&dev->module, dev->text, (uint32_t)strlen(text), "test"),
                     0);
    ck_assert_msg(dev->module.diagnostics->count == 0, "%s\n%s",
                  dev->module.diagnostics->list[0].text, text);
    dev->memory = gd_memory_create();
    dev->program = gd_program_create(&dev->module, dev->memory, NULL, &error);
    ck_assert_msg(dev->program != NULL, "%d: %s", error.line, error.text);
}

static void device_close(device *dev)
{
    gd_program_destroy(dev->program);
    gd_memory_destroy(dev->memory);
    gd_ptx_module_free(&dev->module);
    free(dev->text);
}

static uint64_t device_take(device *dev, const void *bytes, size_t count)
{
    gd_allocation *item = gd_memory_take(dev->memory, NULL, count, GD_MEMORY_DEVICE, NULL, NULL);

    ck_assert_ptr_nonnull(item);
    if (bytes)
        memcpy(item->host, bytes, count);
    return item->start;
}

static void *device_bytes(device *dev, uint64_t address)
{
    return gd_memory_find(dev->memory, address)->host;
}

typedef struct shape {
    uint32_t grid, block[3], shared;
    uint64_t step_limit;
} shape;

/* Runs all CTAs one after the other; a CTA that waits for its grid is released at once. */
static gd_cta_state run_shape(device *dev, const char *name, shape form, const void *parameters)
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
        dev->instructions += gd_cta_instructions(cta);
        gd_cta_destroy(cta);
    }
    return state;
}

static void run_done(device *dev, const char *name, uint32_t grid, uint32_t block, uint32_t shared,
                     const void *parameters)
{
    gd_cta_state state = run_shape(dev, name, (shape){grid, {block, 1, 1}, shared, 0}, parameters);

    ck_assert_msg(state == GD_CTA_DONE, "state %d, line %d: %s", state, dev->fault.line,
                  dev->fault.text);
}

/* ---- one instruction at a time ---- */

/* Operands by letter: h 16, r 32, d 64 bits, p predicate, P the predicate pair p|q, with the source
 * values in order; i is a literal. The result is the first one. */
typedef struct sample {
    const char *instruction;
    const char *operands;
    uint64_t sources[4];
    uint64_t expected;
} sample;

#define F(x)                                                                                       \
    ((union {                                                                                      \
         float f;                                                                                  \
         uint32_t u;                                                                               \
     }){.f = (x)}                                                                                  \
         .u)
#define D(x)                                                                                       \
    ((union {                                                                                      \
         double f;                                                                                 \
         uint64_t u;                                                                               \
     }){.f = (x)}                                                                                  \
         .u)
#define NAN32 0x7fffffffu
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
    for (size_t i = 0; letters[i]; i++) {
        if (letters[i] == 'p' || letters[i] == 'P')
            gd_text_format(text, ".reg .pred o%zu, q%zu;\n", i, i);
        else if (letters[i] != 'i')
            gd_text_format(text, ".reg .b%u o%zu;\n", operand_bits(letters[i]), i);
    }
    for (size_t i = 1; letters[i]; i++) {
        if (letters[i] == 'p')
            gd_text_format(text, "setp.ne.u32 o%zu, %%zero, %" PRIu64 ";\n", i,
                           item->sources[i - 1]);
        else if (letters[i] != 'i')
            gd_text_format(text, "mov.b%u o%zu, 0x%" PRIx64 ";\n", operand_bits(letters[i]), i,
                           item->sources[i - 1]);
    }
    gd_text_format(text, "%s %s", item->instruction, letters[0] == 'P' ? "o0|q0" : "o0");
    for (size_t i = 1; letters[i]; i++) {
        if (letters[i] == 'i')
            gd_text_format(text, ", 0x%" PRIx64, item->sources[i - 1]);
        else
            gd_text_format(text, ", o%zu", i);
    }
    gd_text_string(text, ";\n");
    if (letters[0] == 'p' || letters[0] == 'P')
        gd_text_format(text, ".reg .b64 v; selp.u64 v, 1, 0, o0; st.global.u64 [%%at+%zu], v;\n}\n",
                       index * 8);
    else
        gd_text_format(text, "st.global.b%u [%%at+%zu], o0;\n}\n", operand_bits(letters[0]),
                       index * 8);
}

/* All rows in one kernel, in whole warps and in parts of one. */
static void check_rows(const sample *rows, size_t count)
{
    static const uint32_t blocks[] = {32, 7, 45};
    gd_text text = {0};
    device dev;

    gd_text_format(&text,
                   HEAD
                   ".visible .entry k(.param .u64 out) {\n.reg .b64 %%at; .reg .b32 %%zero, %%t;\n"
                   "ld.param.u64 %%at, [out]; mov.u32 %%zero, 0; mov.u32 %%t, %%tid.x;\n"
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

START_TEST(integers)
{
    const sample rows[] = {
        {"add.u16", "hhh", {0xffff, 2}, 1},
        {"add.s32", "rrr", {0x7fffffff, 1}, 0x80000000},
        {"add.sat.s32", "rrr", {0x7fffffff, 1}, 0x7fffffff},
        {"add.sat.s32", "rrr", {0x80000000, 0xffffffff}, 0x80000000},
        {"add.u64", "ddd", {UINT64_MAX, 2}, 1},
        {"add.u16x2", "rrr", {0x0001ffff, 0x00020001}, 0x00030000},
        {"sub.u32", "rrr", {1, 2}, 0xffffffff},
        {"sub.sat.s32", "rrr", {0x80000000, 1}, 0x80000000},
        {"mul.lo.u32", "rrr", {0x10001, 0x10001}, 0x20001},
        {"mul.lo.s16", "hhh", {300, 300}, 24464},
        {"mul.hi.u32", "rrr", {0xffffffff, 0xffffffff}, 0xfffffffe},
        {"mul.hi.s32", "rrr", {0xffffffff, 2}, 0xffffffff},
        {"mul.hi.u64", "ddd", {UINT64_MAX, UINT64_MAX}, UINT64_MAX - 1},
        {"mul.hi.s64", "ddd", {UINT64_MAX, 5}, UINT64_MAX},
        {"mul.wide.u32", "drr", {0xffffffff, 0xffffffff}, 0xfffffffe00000001},
        {"mul.wide.s32", "drr", {0xffffffff, 7}, MINUS(-7)},
        {"mul.wide.s16", "rhh", {0xffff, 7}, 0xfffffff9},
        {"mul.hi.s16", "hhh", {0x8000, 0x8000}, 0x4000},
        {"mad.lo.s32", "rrrr", {7, 6, 0xffffffff}, 41},
        {"mad.hi.u32", "rrrr", {0x80000000, 4, 5}, 7},
        {"mad.hi.sat.s32", "rrrr", {0x7fffffff, 0x7fffffff, 0x7fffffff}, 0x7fffffff},
        {"mad.wide.u32", "drrd", {0xffffffff, 2, 3}, 0x200000001},
        {"mad.wide.s32", "drrd", {0xffffffff, 2, 3}, 1},
        {"mul24.lo.u32", "rrr", {0xff000003, 5}, 15},
        {"mul24.hi.u32", "rrr", {0xffffff, 0xffffff}, 0xfffffe00},
        {"mul24.lo.s32", "rrr", {0xffffff, 5}, 0xfffffffb},
        {"mad24.lo.u32", "rrrr", {3, 4, 5}, 17},
        {"mad24.hi.sat.s32", "rrrr", {0x7fffff, 0x7fffff, 0x7fffffff}, 0x7fffffff},
        {"sad.u32", "rrrr", {3, 10, 5}, 12},
        {"sad.s32", "rrrr", {0xfffffffd, 10, 5}, 18},
        {"sad.s64", "dddd", {MINUS(-3), 10, 5}, 18},
        {"div.u32", "rrr", {100, 7}, 14},
        {"div.s32", "rrr", {(uint32_t)-100, 7}, (uint32_t)-14},
        {"div.s32", "rrr", {0x80000000, 0xffffffff}, 0x80000000},
        {"rem.s32", "rrr", {(uint32_t)-100, 7}, (uint32_t)-2},
        {"rem.s32", "rrr", {0x80000000, 0xffffffff}, 0},
        {"div.s64", "ddd", {MINUS(-1000000000000), 7}, MINUS(-142857142857)},
        {"rem.u64", "ddd", {1000000000000, 7}, 1},
        {"div.s16", "hhh", {0xff9c, 7}, 0xfff2},
        {"abs.s32", "rr", {0x80000000}, 0x80000000},
        {"abs.s32", "rr", {(uint32_t)-5}, 5},
        {"abs.s64", "dd", {MINUS(-5)}, 5},
        {"neg.s16", "hh", {1}, 0xffff},
        {"neg.s64", "dd", {1}, UINT64_MAX},
        {"min.s32", "rrr", {1, 0xffffffff}, 0xffffffff},
        {"min.u32", "rrr", {1, 0xffffffff}, 1},
        {"max.s64", "ddd", {1, UINT64_MAX}, 1},
        {"max.relu.s32", "rrr", {0xffffffff, 0xfffffffe}, 0},
        {"max.s16x2", "rrr", {0xffff0005, 0x00010003}, 0x00010005},
        {"min.u16x2", "rrr", {0xffff0005, 0x00010003}, 0x00010003},
        {"min.s16", "hhh", {0x8000, 1}, 0x8000},
        {"and.b32", "rrr", {0xff00ff00, 0x0ff00ff0}, 0x0f000f00},
        {"or.b64", "ddd", {1, UINT64_C(1) << 63}, (UINT64_C(1) << 63) + 1},
        {"xor.b16", "hhh", {0xffff, 0x0f0f}, 0xf0f0},
        {"not.b16", "hh", {0x00ff}, 0xff00},
        {"not.b32", "rr", {0}, 0xffffffff},
        {"cnot.b32", "rr", {0}, 1},
        {"cnot.b64", "dd", {7}, 0},
        {"shl.b32", "rrr", {1, 31}, 0x80000000},
        {"shl.b32", "rrr", {1, 32}, 0},
        {"shl.b64", "ddr", {1, 63}, UINT64_C(1) << 63},
        {"shl.b16", "hhr", {3, 15}, 0x8000},
        {"shr.u32", "rrr", {0x80000000, 31}, 1},
        {"shr.s32", "rrr", {0x80000000, 40}, 0xffffffff},
        {"shr.s16", "hhr", {0x8000, 4}, 0xf800},
        {"shr.b64", "ddr", {UINT64_MAX, 64}, 0},
        {"shf.l.wrap.b32", "rrrr", {0x80000000, 1, 33}, 3},
        {"shf.l.clamp.b32", "rrrr", {0x80000001, 1, 40}, 0x80000001},
        {"shf.r.wrap.b32", "rrrr", {0x80000000, 1, 33}, 0xc0000000},
        {"shf.r.clamp.b32", "rrrr", {5, 9, 32}, 9},
        {"lop3.b32", "rrrri", {0xf0f0f0f0, 0xcccccccc, 0xaaaaaaaa, 0x96}, 0x96969696},
        {"prmt.b32", "rrrr", {0x03020100, 0x07060504, 0x7531}, 0x07050301},
        {"prmt.b32", "rrrr", {0x00008000, 0, 0x9999}, 0xffffffff},
        {"prmt.b32.f4e", "rrrr", {0x03020100, 0x07060504, 1}, 0x04030201},
        {"prmt.b32.b4e", "rrrr", {0x03020100, 0x07060504, 1}, 0x06070001},
        {"prmt.b32.rc8", "rrrr", {0x03020100, 0x07060504, 2}, 0x02020202},
        {"prmt.b32.ecl", "rrrr", {0x03020100, 0x07060504, 2}, 0x03020202},
        {"prmt.b32.ecr", "rrrr", {0x03020100, 0x07060504, 1}, 0x01010100},
        {"prmt.b32.rc16", "rrrr", {0x03020100, 0x07060504, 1}, 0x03020302},
        {"popc.b32", "rr", {0xf0f0f0f1}, 17},
        {"popc.b64", "rd", {UINT64_MAX}, 64},
        {"clz.b32", "rr", {1}, 31},
        {"clz.b32", "rr", {0}, 32},
        {"clz.b64", "rd", {1}, 63},
        {"brev.b32", "rr", {0x00000003}, 0xc0000000},
        {"brev.b64", "dd", {1}, UINT64_C(1) << 63},
        {"bfind.u32", "rr", {0x00010000}, 16},
        {"bfind.s32", "rr", {0xffffffff}, 0xffffffff},
        {"bfind.s32", "rr", {0xfffeffff}, 16},
        {"bfind.shiftamt.u32", "rr", {0x00010000}, 15},
        {"bfind.u64", "rd", {UINT64_C(1) << 40}, 40},
        {"bfe.u32", "rrrr", {0x12345678, 8, 12}, 0x456},
        {"bfe.s32", "rrrr", {0x00000f00, 8, 4}, 0xffffffff},
        {"bfe.s32", "rrrr", {0x80000000, 28, 8}, 0xfffffff8},
        {"bfe.u32", "rrrr", {0xffffffff, 0, 0}, 0},
        {"bfe.s32", "rrrr", {0x80000000, 40, 4}, 0xffffffff},
        {"bfe.u64", "ddrr", {0x123456789abcdef0, 36, 16}, 0x4567},
        {"bfe.s64", "ddrr", {UINT64_C(1) << 63, 0, 64}, UINT64_C(1) << 63},
        {"bfi.b32", "rrrrr", {0xabc, 0xffffffff, 8, 12}, 0xfffabcff},
        {"bfi.b64", "dddrr", {5, 0, 60, 8}, UINT64_C(5) << 60},
        {"fns.b32", "rrrr", {0xaaaaaaaa, 3, 1}, 3},
        {"fns.b32", "rrrr", {0xaaaaaaaa, 3, 2}, 5},
        {"fns.b32", "rrrr", {0xaaaaaaaa, 3, 0xffffffff}, 3},
        {"dp4a.s32.s32", "rrrr", {0x01ff0203, 0x04050607, 10}, 4 - 5 + 12 + 21 + 10},
        {"dp4a.u32.u32", "rrrr", {0x01ff0203, 0x04050607, 10}, 4 + 255 * 5 + 12 + 21 + 10},
        {"dp2a.lo.s32.u32", "rrrr", {0xffff0003, 0x04050607, 10}, 3 * 7 - 6 + 10},
        {"dp2a.hi.u32.u32", "rrrr", {0x00020003, 0x04050607, 10}, 3 * 5 + 2 * 4 + 10},
        {"bmsk.clamp.b32", "rrr", {4, 8}, 0xff0},
        {"bmsk.wrap.b32", "rrr", {36, 8}, 0xff0},
        {"szext.clamp.s32", "rrr", {0x0000f8, 8}, 0xfffffff8},
        {"szext.wrap.u32", "rrr", {0xfff8, 40}, 0xf8},
        {"mov.b32", "rr", {0xdeadbeef}, 0xdeadbeef},
        {"mov.b64", "dd", {0xdeadbeefcafe}, 0xdeadbeefcafe},
        {"selp.b32", "rrrp", {1, 2, 0}, 2},
        {"selp.u64", "dddp", {1, 2, 1}, 1},
        {"slct.u32.s32", "rrrr", {1, 2, 0xffffffff}, 2},
        {"slct.b64.f32", "dddr", {1, 2, F(-0.0f)}, 1},
        {"slct.ftz.u32.f32", "rrrr", {1, 2, 0x80000001}, 1},
        {"slct.u32.f32", "rrrr", {1, 2, 0x80000001}, 2},
        {"set.lt.u32.s32", "rrr", {0xffffffff, 1}, 0xffffffff},
        {"set.gt.f32.u32", "rrr", {0xffffffff, 1}, F(1.0f)},
        {"set.eq.and.u32.f32", "rrrp", {F(1), F(1), 0}, 0},
    };

    check_rows(rows, sizeof rows / sizeof rows[0]);
}
END_TEST

START_TEST(comparisons)
{
    const sample rows[] = {
        {"setp.lt.s32", "prr", {0xffffffff, 1}, 1},
        {"setp.lt.u32", "prr", {0xffffffff, 1}, 0},
        {"setp.lo.u32", "prr", {1, 0xffffffff}, 1},
        {"setp.hi.u32", "prr", {1, 0xffffffff}, 0},
        {"setp.hs.u32", "prr", {7, 7}, 1},
        {"setp.ls.u32", "prr", {8, 7}, 0},
        {"setp.ge.s64", "pdd", {UINT64_MAX, 0}, 0},
        {"setp.gt.u64", "pdd", {UINT64_MAX, 0}, 1},
        {"setp.eq.b16", "phh", {5, 5}, 1},
        {"setp.ne.b64", "pdd", {5, 5}, 0},
        {"setp.le.s16", "phh", {0x8000, 0}, 1},
        {"setp.lt.u16", "phh", {0x8000, 0}, 0},
        {"setp.eq.f32", "prr", {NAN32, NAN32}, 0},
        {"setp.ne.f32", "prr", {NAN32, F(1)}, 0},
        {"setp.neu.f32", "prr", {NAN32, F(1)}, 1},
        {"setp.equ.f32", "prr", {NAN32, F(1)}, 1},
        {"setp.lt.f32", "prr", {F(-1), F(1)}, 1},
        {"setp.ltu.f32", "prr", {NAN32, F(1)}, 1},
        {"setp.ge.f32", "prr", {F(0.0f), F(-0.0f)}, 1},
        {"setp.gtu.f32", "prr", {F(0), F(1)}, 0},
        {"setp.num.f32", "prr", {NAN32, F(1)}, 0},
        {"setp.nan.f32", "prr", {NAN32, F(1)}, 1},
        {"setp.eq.ftz.f32", "prr", {1, 0}, 1},
        {"setp.eq.f32", "prr", {1, 0}, 0},
        {"setp.lt.f64", "pdd", {D(1), D(2)}, 1},
        {"setp.leu.f64", "pdd", {D(NAN), D(2)}, 1},
        {"setp.lt.and.s32", "prrp", {0, 1, 0}, 0},
        {"setp.lt.or.s32", "prrp", {1, 0, 1}, 1},
        {"setp.lt.xor.s32", "prrp", {0, 1, 1}, 0},
        {"setp.lt.and.s32", "Prrp", {0, 1, 1}, 1},
        {"setp.lt.f16", "phh", {0x3c00, 0x4000}, 1},
        {"setp.eq.bf16", "phh", {0x7fc0, 0x7fc0}, 0},
        {"setp.ge.bf16", "phh", {0x4000, 0x3f80}, 1},
        {"testp.finite.f32", "pr", {F(INFINITY)}, 0},
        {"testp.infinite.f32", "pr", {F(INFINITY)}, 1},
        {"testp.number.f32", "pr", {NAN32}, 0},
        {"testp.notanumber.f64", "pd", {D(NAN)}, 1},
        {"testp.normal.f32", "pr", {1}, 0},
        {"testp.subnormal.f32", "pr", {1}, 1},
        {"and.pred", "ppp", {1, 0}, 0},
        {"or.pred", "ppp", {1, 0}, 1},
        {"xor.pred", "ppp", {1, 1}, 0},
        {"not.pred", "pp", {0}, 1},
        {"mov.pred", "pp", {1}, 1},
    };

    check_rows(rows, sizeof rows / sizeof rows[0]);
}
END_TEST

START_TEST(floats)
{
    const sample rows[] = {
        {"add.f32", "rrr", {F(1.5f), F(2.25f)}, F(3.75f)},
        {"add.rn.f32", "rrr", {F(INFINITY), F(-INFINITY)}, NAN32},
        {"add.f32", "rrr", {0xffc12345, F(1)}, NAN32},
        {"add.rz.f32", "rrr", {F(1), F(0x1.8p-24f)}, F(1)},
        {"add.rp.f32", "rrr", {F(1), F(0x1p-40f)}, F(0x1.000002p0f)},
        {"add.rm.f32", "rrr", {F(1), F(-0x1p-40f)}, F(0x1.fffffep-1f)},
        {"add.rm.f32", "rrr", {F(1), F(-1)}, F(-0.0f)},
        {"add.ftz.f32", "rrr", {1, 0x80000002}, 0},
        {"add.sat.f32", "rrr", {F(1), F(1)}, F(1)},
        {"add.sat.f32", "rrr", {NAN32, F(1)}, 0},
        {"sub.f32", "rrr", {F(1), F(3)}, F(-2)},
        {"mul.f32", "rrr", {F(0x1p-100f), F(0x1p-100f)}, 0},
        {"mul.rp.f32", "rrr", {F(0x1p-100f), F(0x1p-100f)}, 1},
        {"mul.rz.f32", "rrr", {F(3e38f), F(2)}, F(0x1.fffffep127f)},
        {"mul.f32", "rrr", {F(3e38f), F(2)}, F(INFINITY)},
        {"mul.ftz.f32", "rrr", {F(0x1p-100f), F(-0x1p-30f)}, F(-0.0f)},
        {"mul.f32", "rrr", {F(0), F(INFINITY)}, NAN32},
        {"fma.rn.f32",
         "rrrr",
         {F(0x1.000002p0f), F(0x1.000002p0f), F(-0x1.000004p0f)},
         F(0x1p-46f)},
        {"fma.rn.ftz.f32", "rrrr", {F(0x1p-80f), F(0x1p-60f), F(0)}, 0},
        {"fma.rn.sat.f32", "rrrr", {F(2), F(3), F(-8)}, 0},
        {"fma.rz.f32", "rrrr", {F(1), F(1), F(-0x1p-60f)}, F(0x1.fffffep-1f)},
        {"mad.rn.f32", "rrrr", {F(2), F(3), F(4)}, F(10)},
        {"div.rn.f32", "rrr", {F(1), F(3)}, F(1.0f / 3.0f)},
        {"div.rp.f32", "rrr", {F(1), F(3)}, F(0x1.555556p-2f)},
        {"div.rz.f32", "rrr", {F(1), F(3)}, F(0x1.555554p-2f)},
        {"div.rn.f32", "rrr", {F(-1), F(0)}, F(-INFINITY)},
        {"div.approx.f32", "rrr", {F(8), F(2)}, F(4)},
        {"div.approx.f32", "rrr", {F(8), F(0x1p127f)}, 0},
        {"div.full.f32", "rrr", {F(9), F(3)}, F(3)},
        {"rcp.rn.f32", "rr", {F(3)}, F(1.0f / 3.0f)},
        {"rcp.approx.ftz.f32", "rr", {F(4)}, F(0.25f)},
        {"rcp.approx.ftz.f32", "rr", {0x80000001}, F(-INFINITY)},
        {"sqrt.rn.f32", "rr", {F(2)}, F(0x1.6a09e6p0f)},
        {"sqrt.rp.f32", "rr", {F(2)}, F(0x1.6a09e8p0f)},
        {"sqrt.rn.f32", "rr", {F(-1)}, NAN32},
        {"sqrt.rn.f32", "rr", {F(-0.0f)}, F(-0.0f)},
        {"rsqrt.approx.f32", "rr", {F(16)}, F(0.25f)},
        {"rsqrt.approx.f32", "rr", {F(0)}, F(INFINITY)},
        {"ex2.approx.f32", "rr", {F(10)}, F(1024)},
        {"ex2.approx.ftz.f32", "rr", {F(-130)}, 0},
        {"ex2.approx.f32", "rr", {F(-INFINITY)}, 0},
        {"lg2.approx.f32", "rr", {F(1024)}, F(10)},
        {"lg2.approx.f32", "rr", {F(-1)}, NAN32},
        {"sin.approx.f32", "rr", {F(0)}, F(0)},
        {"cos.approx.f32", "rr", {F(0)}, F(1)},
        {"tanh.approx.f32", "rr", {F(INFINITY)}, F(1)},
        {"abs.f32", "rr", {F(-2)}, F(2)},
        {"neg.f32", "rr", {F(0)}, F(-0.0f)},
        {"neg.ftz.f32", "rr", {1}, F(-0.0f)},
        {"min.f32", "rrr", {F(0.0f), F(-0.0f)}, F(-0.0f)},
        {"max.f32", "rrr", {F(-0.0f), F(0.0f)}, F(0.0f)},
        {"max.f32", "rrr", {NAN32, F(3)}, F(3)},
        {"min.f32", "rrr", {NAN32, 0xffffffff}, NAN32},
        {"max.NaN.f32", "rrr", {NAN32, F(3)}, NAN32},
        {"min.xorsign.abs.f32", "rrr", {F(-2), F(3)}, F(-2)},
        {"copysign.f32", "rrr", {F(-1), F(5)}, F(-5)},
        {"add.f64", "ddd", {D(1), D(2)}, D(3)},
        {"add.rz.f64", "ddd", {D(1), D(-0x1p-80)}, D(0x1.fffffffffffffp-1)},
        {"sub.rp.f64", "ddd", {D(1), D(0x1p-80)}, D(1)},
        {"mul.f64", "ddd", {D(3), D(7)}, D(21)},
        {"fma.rn.f64", "dddd", {D(3), D(7), D(-21)}, D(0)},
        {"fma.rm.f64", "dddd", {D(1), D(1), D(-0x1p-80)}, D(0x1.fffffffffffffp-1)},
        {"div.rn.f64", "ddd", {D(1), D(3)}, D(1.0 / 3.0)},
        {"div.rp.f64", "ddd", {D(1), D(3)}, D(0x1.5555555555556p-2)},
        {"rcp.rn.f64", "dd", {D(3)}, D(1.0 / 3.0)},
        {"rcp.approx.ftz.f64", "dd", {D(4)}, D(0.25)},
        {"sqrt.rn.f64", "dd", {D(2)}, D(0x1.6a09e667f3bcdp0)},
        {"sqrt.rm.f64", "dd", {D(2)}, D(0x1.6a09e667f3bccp0)},
        {"abs.f64", "dd", {D(-2)}, D(2)},
        {"neg.f64", "dd", {D(2)}, D(-2)},
        {"min.f64", "ddd", {D(NAN), D(2)}, D(2)},
        {"max.f64", "ddd", {D(-0.0), D(0.0)}, D(0.0)},
        {"copysign.f64", "ddd", {D(-1), D(5)}, D(-5)},
        /* 0x3c00 is 1, 0x4000 2, 0x0001 2^-24, 0x7bff 65504 in f16; 0x3f80 is 1, 0x4000 2 in
         * bf16 */
        {"add.f16", "hhh", {0x3c00, 0x4000}, 0x4200},
        {"add.rn.f16", "hhh", {0x3c00, 0x1000}, 0x3c00},
        {"add.ftz.f16", "hhh", {1, 2}, 0},
        {"add.f16", "hhh", {1, 2}, 3},
        {"add.sat.f16", "hhh", {0x4000, 0x4000}, 0x3c00},
        {"sub.f16", "hhh", {0x3c00, 0x4000}, 0xbc00},
        {"mul.f16", "hhh", {0x7bff, 0x4000}, 0x7c00},
        {"fma.rn.f16", "hhhh", {0x3c01, 0x3c01, 0xbc02}, 0x0010},
        {"fma.rn.relu.f16", "hhhh", {0x3c00, 0xbc00, 0}, 0},
        {"add.f16x2", "rrr", {0x3c004000, 0x3c003c00}, 0x40004200},
        {"fma.rn.f16x2", "rrrr", {0x3c004000, 0x40004000, 0x3c000000}, 0x42004400},
        {"min.f16", "hhh", {0x7e00, 0x3c00}, 0x3c00},
        {"max.NaN.f16", "hhh", {0x7e00, 0x3c00}, 0x7fff},
        {"neg.f16x2", "rr", {0x3c00bc00}, 0xbc003c00},
        {"abs.bf16", "hh", {0xbf80}, 0x3f80},
        {"fma.rn.bf16", "hhhh", {0x3f80, 0x4000, 0x3f80}, 0x4040},
        {"add.rn.bf16x2", "rrr", {0x3f804000, 0x3f803f80}, 0x40004040},
        {"mul.rn.bf16", "hhh", {0x4000, 0x4000}, 0x4080},
        {"ex2.approx.f16", "hh", {0x4000}, 0x4400},
        {"tanh.approx.f16", "hh", {0x7c00}, 0x3c00},
        {"ex2.approx.ftz.bf16", "hh", {0x4000}, 0x4080},
    };

    check_rows(rows, sizeof rows / sizeof rows[0]);
}
END_TEST

START_TEST(conversions)
{
    const sample rows[] = {
        {"cvt.u64.u32", "dr", {0xffffffff}, 0xffffffff},
        {"cvt.s64.s32", "dr", {0xffffffff}, UINT64_MAX},
        {"cvt.u32.u64", "rd", {0x123456789}, 0x23456789},
        {"cvt.s32.s8", "rr", {0x1ff}, 0xffffffff},
        {"cvt.u32.u8", "rr", {0x1ff}, 0xff},
        {"cvt.u16.u32", "hr", {0x12345}, 0x2345},
        {"cvt.s32.s16", "rh", {0xffff}, 0xffffffff},
        {"cvt.s8.s32", "rr", {0x80}, 0xffffff80},
        {"cvt.u8.u32", "hr", {0x1234}, 0x34},
        {"cvt.sat.u8.s32", "rr", {0xffffffff}, 0},
        {"cvt.sat.s8.s32", "rr", {1000}, 127},
        {"cvt.sat.s16.s32", "hr", {(uint32_t)-100000}, 0x8000},
        {"cvt.sat.s32.u64", "rd", {UINT64_MAX}, 0x7fffffff},
        {"cvt.sat.u32.s64", "rd", {UINT64_MAX}, 0},
        {"cvt.rn.f32.s32", "rr", {0xffffffff}, F(-1)},
        {"cvt.rn.f32.u32", "rr", {0xffffffff}, F(0x1p32f)},
        {"cvt.rz.f32.u32", "rr", {0xffffffff}, F(0x1.fffffep31f)},
        {"cvt.rn.f32.u64", "rd", {0x8000008000000001}, F(0x1.000002p63f)},
        {"cvt.rn.f64.s64", "dd", {UINT64_MAX}, D(-1)},
        {"cvt.rp.f64.u64", "dd", {UINT64_MAX}, D(0x1p64)},
        {"cvt.rz.f64.u64", "dd", {UINT64_MAX}, D(0x1.fffffffffffffp63)},
        {"cvt.rn.f16.s32", "hr", {3}, 0x4200},
        {"cvt.rn.bf16.u32", "hr", {3}, 0x4040},
        {"cvt.rzi.s32.f32", "rr", {F(-1.75f)}, 0xffffffff},
        {"cvt.rni.s32.f32", "rr", {F(2.5f)}, 2},
        {"cvt.rmi.s32.f32", "rr", {F(-1.25f)}, 0xfffffffe},
        {"cvt.rpi.u32.f32", "rr", {F(1.25f)}, 2},
        {"cvt.rzi.u32.f32", "rr", {F(-5)}, 0},
        {"cvt.rzi.s32.f32", "rr", {F(3e9f)}, 0x7fffffff},
        {"cvt.rzi.s32.f32", "rr", {F(-3e9f)}, 0x80000000},
        {"cvt.rzi.s32.f32", "rr", {NAN32}, 0},
        {"cvt.rzi.s64.f32", "dr", {F(-3e9f)}, MINUS(-3000000000)},
        {"cvt.rzi.u64.f64", "dd", {D(1.8446744073709552e19)}, UINT64_MAX},
        {"cvt.rzi.s8.f32", "rr", {F(300)}, 127},
        {"cvt.rni.f32.f32", "rr", {F(-0.5f)}, F(-0.0f)},
        {"cvt.rpi.f64.f64", "dd", {D(1.25)}, D(2)},
        {"cvt.f64.f32", "dr", {F(1.5f)}, D(1.5)},
        {"cvt.rn.f32.f64", "rd", {D(1e300)}, F(INFINITY)},
        {"cvt.rz.f32.f64", "rd", {D(1e300)}, F(0x1.fffffep127f)},
        {"cvt.rn.ftz.f32.f64", "rd", {D(1e-40)}, 0},
        {"cvt.sat.f32.f32", "rr", {F(3)}, F(1)},
        {"cvt.ftz.f32.f32", "rr", {0x80000001}, F(-0.0f)},
        {"cvt.f32.f16", "rh", {0x0001}, F(0x1p-24f)},
        {"cvt.f32.f16", "rh", {0x7c00}, F(INFINITY)},
        {"cvt.f32.bf16", "rh", {0x4049}, F(3.140625f)},
        {"cvt.rn.f16.f32", "hr", {F(65520)}, 0x7c00},
        {"cvt.rn.f16.f32", "hr", {F(65519)}, 0x7bff},
        {"cvt.rn.f16.f32", "hr", {F(0x1p-25f)}, 0},
        {"cvt.rn.f16.f32", "hr", {F(0x1.8p-25f)}, 1},
        {"cvt.rn.f16.f32", "hr", {F(0x1.ff8p-15f)}, 0x03ff},
        {"cvt.rn.f16.f32", "hr", {NAN32}, 0x7fff},
        {"cvt.rz.f16.f32", "hr", {F(65520)}, 0x7bff},
        {"cvt.rn.relu.f16.f32", "hr", {F(-3)}, 0},
        {"cvt.rn.f16.f64", "hd", {D(1 + 0x1p-11 + 0x1p-50)}, 0x3c01},
        {"cvt.rn.bf16.f32", "hr", {0x3f808000}, 0x3f80},
        {"cvt.rn.bf16.f32", "hr", {0x3f818000}, 0x3f82},
        {"cvt.rn.bf16.f32", "hr", {0x7f7fffff}, 0x7f80},
        {"cvt.rn.bf16.f32", "hr", {0xffc00000}, 0x7fff},
        {"cvt.rn.bf16x2.f32", "rrr", {F(1), F(2)}, 0x3f804000},
        {"cvt.rn.f16x2.f32", "rrr", {F(1), F(2)}, 0x3c004000},
        {"cvt.rz.bf16x2.f32", "rrr", {0x3f80ffff, F(2)}, 0x3f804000},
        {"cvt.rn.relu.f16x2.f32", "rrr", {F(-1), F(2)}, 0x4000},
        {"cvt.rna.tf32.f32", "rr", {0x3f801000}, 0x3f802000},
        {"cvt.rn.satfinite.e4m3x2.f32", "hrr", {F(448), F(1000)}, 0x7e7e},
        {"cvt.rn.satfinite.e4m3x2.f32", "hrr", {F(1), F(-0x1p-9f)}, 0x3881},
        {"cvt.rn.satfinite.e5m2x2.f32", "hrr", {F(1), F(1e9f)}, 0x3c7b},
        {"cvt.rn.satfinite.e4m3x2.f16x2", "hr", {0x3c004000}, 0x3840},
        {"cvt.rn.f16x2.e4m3x2", "rh", {0x3840}, 0x3c004000},
        {"cvt.rn.f16x2.e5m2x2", "rh", {0x3c40}, 0x3c004000},
        {"cvt.pack.sat.u8.s32.b32", "rrrr", {300, 0xffffffff, 0x1234}, 0x1234ff00},
        {"cvt.pack.sat.s16.s32", "rrr", {100000, 5}, 0x7fff0005},
    };

    check_rows(rows, sizeof rows / sizeof rows[0]);
}
END_TEST

/* ---- what differential fuzzing found, with the values of an H200 (driver 580.159.04) ---- */

/* Results near 2^-126 with ftz, NaNs that are converted, what rcp.approx.ftz.f64 sees of its
 * operand. */
START_TEST(measured)
{
    const sample rows[] = {
        {"mul.rn.ftz.f32", "rrr", {0x800001, 0x3f7ffffe}, 0x800000},
        {"mul.rn.ftz.f32", "rrr", {0x800000, 0x3f7fffff}, 0},
        {"fma.rn.ftz.f32", "rrrr", {0x800001, 0x3f7ffffe, 0}, 0x800000},
        {"fma.rn.ftz.f32", "rrrr", {0x800000, 0x3f7fffff, 0}, 0},
        {"div.rn.ftz.f32", "rrr", {0xfffffe, 0x3fffffff}, 0},
        {"div.rn.ftz.f32", "rrr", {0x800000, 0x3f800001}, 0},
        {"rcp.rn.ftz.f32", "rr", {0x7e800001}, 0},
        {"rcp.rn.ftz.f32", "rr", {0x7e800000}, 0x800000},
        {"cvt.rn.ftz.f32.f64", "rd", {UINT64_C(0x380fffffffffffff)}, 0x800000},
        {"cvt.rn.ftz.f32.f64", "rd", {UINT64_C(0x380fffffe0000000)}, 0},
        {"cvt.rn.ftz.f32.f64", "rd", {UINT64_C(0x380ffffff0000000)}, 0x800000},
        {"cvt.rn.ftz.f32.f64", "rd", {UINT64_C(0x380fffffc0000000)}, 0},
        {"mul.rn.ftz.f32", "rrr", {0x80800001, 0x3f7ffffe}, 0x80800000},
        {"mul.rn.ftz.f32", "rrr", {0x80800000, 0x3f7fffff}, 0x80000000},
        {"fma.rn.ftz.f32", "rrrr", {0x80800001, 0x3f7ffffe, 0}, 0x80800000},
        {"fma.rn.ftz.f32", "rrrr", {0x80800000, 0x3f7fffff, 0}, 0x80000000},
        {"fma.rn.ftz.f32", "rrrr", {0x800001, 0x3f7ffffe, 0x80000000}, 0x800000},
        {"div.rn.ftz.f32", "rrr", {0x80fffffe, 0x3fffffff}, 0x80000000},
        {"div.rn.ftz.f32", "rrr", {0x80800000, 0x3f800001}, 0x80000000},
        {"rcp.rn.ftz.f32", "rr", {0xfe800001}, 0x80000000},
        {"rcp.rn.ftz.f32", "rr", {0xfe800000}, 0x80800000},
        {"cvt.rn.ftz.f32.f64", "rd", {UINT64_C(0xb80fffffffffffff)}, 0x80800000},
        {"cvt.rn.ftz.f32.f64", "rd", {UINT64_C(0xb80fffffe0000000)}, 0x80000000},
        {"cvt.rn.ftz.f32.f64", "rd", {UINT64_C(0xb80ffffff0000000)}, 0x80800000},
        {"cvt.rn.ftz.f32.f64", "rd", {UINT64_C(0xb80fffffc0000000)}, 0x80000000},
        {"mul.rm.ftz.f32", "rrr", {0x800001, 0x3f7ffffe}, 0},
        {"mul.rm.ftz.f32", "rrr", {0x800000, 0x3f7fffff}, 0},
        {"fma.rm.ftz.f32", "rrrr", {0x800001, 0x3f7ffffe, 0}, 0},
        {"fma.rm.ftz.f32", "rrrr", {0x800000, 0x3f7fffff, 0}, 0},
        {"div.rm.ftz.f32", "rrr", {0xfffffe, 0x3fffffff}, 0},
        {"div.rm.ftz.f32", "rrr", {0x800000, 0x3f800001}, 0},
        {"rcp.rm.ftz.f32", "rr", {0x7e800001}, 0},
        {"rcp.rm.ftz.f32", "rr", {0x7e800000}, 0x800000},
        {"cvt.rm.ftz.f32.f64", "rd", {UINT64_C(0x380fffffffffffff)}, 0},
        {"cvt.rm.ftz.f32.f64", "rd", {UINT64_C(0x380fffffe0000000)}, 0},
        {"cvt.rm.ftz.f32.f64", "rd", {UINT64_C(0x380ffffff0000000)}, 0},
        {"cvt.rm.ftz.f32.f64", "rd", {UINT64_C(0x380fffffc0000000)}, 0},
        {"mul.rm.ftz.f32", "rrr", {0x80800001, 0x3f7ffffe}, 0x80800000},
        {"mul.rm.ftz.f32", "rrr", {0x80800000, 0x3f7fffff}, 0x80000000},
        {"fma.rm.ftz.f32", "rrrr", {0x80800001, 0x3f7ffffe, 0}, 0x80800000},
        {"fma.rm.ftz.f32", "rrrr", {0x80800000, 0x3f7fffff, 0}, 0x80000000},
        {"fma.rm.ftz.f32", "rrrr", {0x800001, 0x3f7ffffe, 0x80000000}, 0},
        {"div.rm.ftz.f32", "rrr", {0x80fffffe, 0x3fffffff}, 0x80000000},
        {"div.rm.ftz.f32", "rrr", {0x80800000, 0x3f800001}, 0x80000000},
        {"rcp.rm.ftz.f32", "rr", {0xfe800001}, 0x80000000},
        {"rcp.rm.ftz.f32", "rr", {0xfe800000}, 0x80800000},
        {"cvt.rm.ftz.f32.f64", "rd", {UINT64_C(0xb80fffffffffffff)}, 0x80800000},
        {"cvt.rm.ftz.f32.f64", "rd", {UINT64_C(0xb80fffffe0000000)}, 0x80000000},
        {"cvt.rm.ftz.f32.f64", "rd", {UINT64_C(0xb80ffffff0000000)}, 0x80800000},
        {"cvt.rm.ftz.f32.f64", "rd", {UINT64_C(0xb80fffffc0000000)}, 0x80000000},
        {"mul.rp.ftz.f32", "rrr", {0x800001, 0x3f7ffffe}, 0x800000},
        {"mul.rp.ftz.f32", "rrr", {0x800000, 0x3f7fffff}, 0},
        {"fma.rp.ftz.f32", "rrrr", {0x800001, 0x3f7ffffe, 0}, 0x800000},
        {"fma.rp.ftz.f32", "rrrr", {0x800000, 0x3f7fffff, 0}, 0},
        {"div.rp.ftz.f32", "rrr", {0xfffffe, 0x3fffffff}, 0},
        {"div.rp.ftz.f32", "rrr", {0x800000, 0x3f800001}, 0},
        {"rcp.rp.ftz.f32", "rr", {0x7e800001}, 0},
        {"rcp.rp.ftz.f32", "rr", {0x7e800000}, 0x800000},
        {"cvt.rp.ftz.f32.f64", "rd", {UINT64_C(0x380fffffffffffff)}, 0x800000},
        {"cvt.rp.ftz.f32.f64", "rd", {UINT64_C(0x380fffffe0000000)}, 0},
        {"cvt.rp.ftz.f32.f64", "rd", {UINT64_C(0x380ffffff0000000)}, 0x800000},
        {"cvt.rp.ftz.f32.f64", "rd", {UINT64_C(0x380fffffc0000000)}, 0},
        {"mul.rp.ftz.f32", "rrr", {0x80800001, 0x3f7ffffe}, 0x80000000},
        {"mul.rp.ftz.f32", "rrr", {0x80800000, 0x3f7fffff}, 0x80000000},
        {"fma.rp.ftz.f32", "rrrr", {0x80800001, 0x3f7ffffe, 0}, 0x80000000},
        {"fma.rp.ftz.f32", "rrrr", {0x80800000, 0x3f7fffff, 0}, 0x80000000},
        {"fma.rp.ftz.f32", "rrrr", {0x800001, 0x3f7ffffe, 0x80000000}, 0x800000},
        {"div.rp.ftz.f32", "rrr", {0x80fffffe, 0x3fffffff}, 0x80000000},
        {"div.rp.ftz.f32", "rrr", {0x80800000, 0x3f800001}, 0x80000000},
        {"rcp.rp.ftz.f32", "rr", {0xfe800001}, 0x80000000},
        {"rcp.rp.ftz.f32", "rr", {0xfe800000}, 0x80800000},
        {"cvt.rp.ftz.f32.f64", "rd", {UINT64_C(0xb80fffffffffffff)}, 0x80000000},
        {"cvt.rp.ftz.f32.f64", "rd", {UINT64_C(0xb80fffffe0000000)}, 0x80000000},
        {"cvt.rp.ftz.f32.f64", "rd", {UINT64_C(0xb80ffffff0000000)}, 0x80000000},
        {"cvt.rp.ftz.f32.f64", "rd", {UINT64_C(0xb80fffffc0000000)}, 0x80000000},
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
        {"cvt.rmi.u8.f64", "hd", {UINT64_C(0xfff8000000000000)}, 0x80},
        {"cvt.rmi.sat.u8.f64", "hd", {UINT64_C(0x7fffffffffffffff)}, 0x80},
        {"cvt.rni.s8.f64", "hd", {UINT64_C(0x7ff0000000000001)}, 0xff80},
        {"cvt.rpi.s16.f64", "hd", {UINT64_C(0xfff4000123456789)}, 0x8000},
        {"cvt.rzi.u32.f64", "rd", {UINT64_C(0x7ff8000000000000)}, 0x80000000},
        {"cvt.rni.s32.f64", "rd", {UINT64_C(0x7ff0000000000001)}, 0x80000000},
        {"cvt.rn.tf32.f32", "rr", {0xffa00001}, 0x7fffe000},
        {"cvt.rn.relu.tf32.f32", "rr", {0xffc00000}, 0x7fffe000},
        {"cvt.rz.relu.tf32.f32", "rr", {0xffcde886}, 0x7fffe000},
        {"cvt.rz.bf16.f64", "hd", {UINT64_C(0xfff4000123456789)}, 0xffe0},
        {"cvt.rn.bf16.f64", "hd", {UINT64_C(0x7ff0000000000001)}, 0x7fc0},
        {"cvt.rm.bf16.f64", "hd", {UINT64_C(0xfff8000000000000)}, 0xffc0},
        {"cvt.ftz.f64.f32", "dr", {0x7f800001}, UINT64_C(0x7fffffffe0000000)},
        {"rcp.approx.ftz.f64", "dd", {UINT64_C(0x7ff0000000000001)}, 0},
        {"rsqrt.approx.ftz.f64", "dd", {UINT64_C(0x7ff0000000000001)}, 0},
    };

    check_rows(rows, sizeof rows / sizeof rows[0]);
}
END_TEST

typedef struct addition {
    const char *instruction;
    uint64_t sources[2]; /* what is in memory, what is added */
    uint64_t expected;
} addition;

/* Atomic additions of numbers that are none, or that are too small, depend on the memory. */
START_TEST(measured_atomics)
{
    const addition rows[] = {
        {"atom.global.add.f64",
         {UINT64_C(0x7ff0000000000001), UINT64_C(0x3ff0000000000000)},
         UINT64_C(0x7ff0000000000001)},
        {"atom.global.add.f64",
         {UINT64_C(0x3ff0000000000000), UINT64_C(0x7ff0000000000001)},
         UINT64_C(0x7ff0000000000001)},
        {"atom.global.add.f64",
         {UINT64_C(0x7ff0000000000001), UINT64_C(0xfff4000123456789)},
         UINT64_C(0xfff4000123456789)},
        {"atom.global.add.f64",
         {UINT64_C(0xfff4000123456789), UINT64_C(0x7ff0000000000001)},
         UINT64_C(0x7ff0000000000001)},
        {"atom.global.add.f64",
         {UINT64_C(0x7ff0000000000000), UINT64_C(0xfff0000000000000)},
         UINT64_C(0xfff8000000000000)},
        {"atom.global.add.f64",
         {UINT64_C(0xfff8000000000000), UINT64_C(0x7ff4000000000001)},
         UINT64_C(0x7ff4000000000001)},
        {"atom.global.add.f64",
         {UINT64_C(0x7ff0000000000000), UINT64_C(0xfff8000000000001)},
         UINT64_C(0xfff8000000000001)},
        {"atom.global.add.f32", {UINT64_C(0x7f800001), UINT64_C(0x3f800000)}, UINT64_C(0x7fffffff)},
        {"atom.global.add.f32", {UINT64_C(0x3f800000), UINT64_C(0xff800001)}, UINT64_C(0x7fffffff)},
        {"atom.global.add.f32", {UINT64_C(0x7f800000), UINT64_C(0xff800000)}, UINT64_C(0x7fffffff)},
        {"atom.global.add.f32", {UINT64_C(0x400000), UINT64_C(0x400000)}, UINT64_C(0x0)},
        {"atom.global.add.f32", {UINT64_C(0x800000), UINT64_C(0x80800001)}, UINT64_C(0x80000000)},
        {"atom.global.add.f32", {UINT64_C(0x1), UINT64_C(0x800000)}, UINT64_C(0x800000)},
        {"atom.shared.add.f64",
         {UINT64_C(0x7ff0000000000001), UINT64_C(0x3ff0000000000000)},
         UINT64_C(0x7ff8000000000001)},
        {"atom.shared.add.f64",
         {UINT64_C(0x3ff0000000000000), UINT64_C(0x7ff0000000000001)},
         UINT64_C(0x7ff8000000000001)},
        {"atom.shared.add.f64",
         {UINT64_C(0x7ff0000000000001), UINT64_C(0xfff4000123456789)},
         UINT64_C(0x7ff8000000000001)},
        {"atom.shared.add.f64",
         {UINT64_C(0xfff4000123456789), UINT64_C(0x7ff0000000000001)},
         UINT64_C(0xfffc000123456789)},
        {"atom.shared.add.f64",
         {UINT64_C(0x7ff0000000000000), UINT64_C(0xfff0000000000000)},
         UINT64_C(0xfff8000000000000)},
        {"atom.shared.add.f64",
         {UINT64_C(0xfff8000000000000), UINT64_C(0x7ff4000000000001)},
         UINT64_C(0xfff8000000000000)},
        {"atom.shared.add.f64",
         {UINT64_C(0x7ff0000000000000), UINT64_C(0xfff8000000000001)},
         UINT64_C(0xfff8000000000001)},
        {"atom.shared.add.f32", {UINT64_C(0x7f800001), UINT64_C(0x3f800000)}, UINT64_C(0x7fffffff)},
        {"atom.shared.add.f32", {UINT64_C(0x3f800000), UINT64_C(0xff800001)}, UINT64_C(0x7fffffff)},
        {"atom.shared.add.f32", {UINT64_C(0x7f800000), UINT64_C(0xff800000)}, UINT64_C(0x7fffffff)},
        {"atom.shared.add.f32", {UINT64_C(0x400000), UINT64_C(0x400000)}, UINT64_C(0x800000)},
        {"atom.shared.add.f32", {UINT64_C(0x800000), UINT64_C(0x80800001)}, UINT64_C(0x80000001)},
        {"atom.shared.add.f32", {UINT64_C(0x1), UINT64_C(0x800000)}, UINT64_C(0x800001)},
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
END_TEST

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

/* ---- f32 and f64 against the host, by every rounding ---- */

static uint64_t random_state = 88172645463325252u;

static uint64_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static const int host_roundings[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
static const char *const rounding_names[] = {"rn", "rz", "rm", "rp"};

static float host32(int operation, float a, float b, float c, int rounding)
{
    volatile float x = a, y = b, z = c, r;

    fesetround(host_roundings[rounding]);
    r = operation == 0   ? x + y
        : operation == 1 ? x * y
        : operation == 2 ? fmaf(x, y, z)
        : operation == 3 ? x / y
                         : sqrtf(x);
    fesetround(FE_TONEAREST);
    return r;
}

static double host64(int operation, double a, double b, double c, int rounding)
{
    volatile double x = a, y = b, z = c, r;

    fesetround(host_roundings[rounding]);
    r = operation == 0   ? x + y
        : operation == 1 ? x * y
        : operation == 2 ? fma(x, y, z)
        : operation == 3 ? x / y
                         : sqrt(x);
    fesetround(FE_TONEAREST);
    return r;
}

/* Numbers of all sizes, near one another often enough for results to cancel, and the special
 * ones. */
static uint32_t random_float(void)
{
    static const uint32_t special[] = {0,          0x80000000, 1,          0x007fffff,
                                       0x00800000, 0x7f7fffff, 0x7f800000, 0xff800000,
                                       0x7fc00000, 0x3f800000, 0xbf800000, 0x3f800001};
    uint64_t bits = random_bits();

    if (bits % 8 == 0)
        return special[(bits >> 8) % (sizeof special / sizeof special[0])];
    if (bits % 8 < 4)
        return (uint32_t)(bits >> 32);
    return (uint32_t)(bits >> 32 & 0x807fffff) | (uint32_t)(120 + (bits >> 8) % 16) << 23;
}

static uint64_t random_double(void)
{
    uint64_t bits = random_bits();
    float value = ((union {
                      uint32_t u;
                      float f;
                  }){.u = random_float()})
                      .f;

    if (bits % 4 == 0)
        return D((double)value);
    return bits % 4 == 1 ? random_bits()
                         : (random_bits() & 0x800fffffffffffff) | (1015 + bits / 4 % 20) << 52;
}

enum { SAMPLES = 4096 };

/* in: three operands of 8 bytes a thread; out: 4 roundings. */
static void write_roundings(gd_text *text, const char *name, const char *operands, bool wide)
{
    const char *kind = wide ? "f64" : "f32", *letter = wide ? "fd" : "f";

    gd_text_string(text,
                   HEAD ".visible .entry k(.param .u64 out, .param .u64 in) {\n" REGISTERS
                        "ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [in]; mov.u32 %r1, %tid.x;\n"
                        "mov.u32 %r2, %ctaid.x; mad.lo.u32 %r1, %r2, 256, %r1;\n"
                        "mad.wide.u32 %rd1, %r1, 32, %rd1; mad.wide.u32 %rd2, %r1, 24, %rd2;\n");
    for (int i = 0; i < 3; i++)
        gd_text_format(text, "ld.global.%s %%%s%d, [%%rd2+%d];\n", kind, letter, i + 1, 8 * i);
    for (int i = 0; i < 4; i++)
        gd_text_format(text, "%s.%s.%s %%%s0, %s; st.global.%s [%%rd1+%d], %%%s0;\n", name,
                       rounding_names[i], kind, letter, operands, kind, 8 * i, letter);
    gd_text_string(text, "ret;\n}\n");
}

static bool same_value(uint64_t found, uint64_t expected, bool wide)
{
    if (wide)
        return found == expected || (isnan(((union {
                                               uint64_t u;
                                               double d;
                                           }){.u = found})
                                               .d) &&
                                     isnan(((union {
                                               uint64_t u;
                                               double d;
                                           }){.u = expected})
                                               .d));
    bool nan = isnan(((union {
                         uint32_t u;
                         float f;
                     }){.u = (uint32_t)expected})
                         .f);
    return nan ? found == NAN32 : found == expected;
}

static void check_roundings(int operation, const char *name, const char *operands, bool wide)
{
    static uint64_t in[SAMPLES][3];
    gd_text text = {0};
    device dev;

    for (int i = 0; i < SAMPLES; i++) {
        for (int j = 0; j < 3; j++)
            in[i][j] = wide ? random_double() : random_float();
    }
    write_roundings(&text, name, operands, wide);
    device_open(&dev, gd_text_get(&text));
    const uint64_t parameters[] = {device_take(&dev, NULL, SAMPLES * 32),
                                   device_take(&dev, in, sizeof in)};
    run_done(&dev, "k", SAMPLES / 256, 256, 0, parameters);
    const uint64_t *out = device_bytes(&dev, parameters[0]);
    for (int i = 0; i < SAMPLES * 4; i++) {
        const uint64_t *from = in[i / 4];
        union {
            uint32_t u;
            float f;
        } single[3] = {{(uint32_t)from[0]}, {(uint32_t)from[1]}, {(uint32_t)from[2]}};
        union {
            uint64_t u;
            double f;
        } full[3] = {{from[0]}, {from[1]}, {from[2]}};
        uint64_t expected =
            wide ? D(host64(operation, full[0].f, full[1].f, full[2].f, i % 4))
                 : F(host32(operation, single[0].f, single[1].f, single[2].f, i % 4));
        ck_assert_msg(same_value(out[i], expected, wide),
                      "%s.%s of %" PRIx64 ", %" PRIx64 ", %" PRIx64 ": %" PRIx64
                      ", expected %" PRIx64,
                      name, rounding_names[i % 4], from[0], from[1], from[2], out[i], expected);
    }
    device_close(&dev);
    gd_text_free(&text);
}

START_TEST(roundings)
{
    static const char *const names[] = {"add", "mul", "fma", "div", "sqrt"};
    static const char *const singles[] = {"%f1, %f2", "%f1, %f2", "%f1, %f2, %f3", "%f1, %f2",
                                          "%f1"};
    static const char *const doubles[] = {"%fd1, %fd2", "%fd1, %fd2", "%fd1, %fd2, %fd3",
                                          "%fd1, %fd2", "%fd1"};

    check_roundings(_i, names[_i], singles[_i], false);
    check_roundings(_i, names[_i], doubles[_i], true);
}
END_TEST

/* Every f16 through f32 and back, every rounding to bf16. */
START_TEST(halves)
{
    device dev;

    device_open(
        &dev,
        HEAD ".visible .entry k(.param .u64 out) {\n" REGISTERS
             "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;\n"
             "mad.lo.u32 %r1, %r2, 256, %r1; mad.wide.u32 %rd1, %r1, 8, %rd1;\n"
             "cvt.u16.u32 %h1, %r1; cvt.f32.f16 %f1, %h1; cvt.rn.f16.f32 %h2, %f1; cvt.f32.bf16 "
             "%f2, %h1;\n"
             "cvt.rn.bf16.f32 %h3, %f2; st.global.u16 [%rd1], %h2; st.global.u16 [%rd1+2], %h3;\n"
             "st.global.f32 [%rd1+4], %f1; ret; }\n");
    uint64_t out = device_take(&dev, NULL, 65536 * 8);
    run_done(&dev, "k", 256, 256, 0, &out);
    const uint16_t *results = device_bytes(&dev, out);
    for (uint32_t i = 0; i < 65536; i++) {
        uint32_t exponent = i >> 10 & 31, fraction = i & 1023;
        double value = exponent ? ldexp(1024 + fraction, (int)exponent - 25) : ldexp(fraction, -24);
        bool nan = exponent == 31 && fraction, bfloat_nan = (i & 0x7f80) == 0x7f80 && i & 0x7f;
        float found;
        memcpy(&found, results + 4 * i + 2, 4);
        ck_assert_uint_eq(results[4 * i], nan ? 0x7fff : i);
        ck_assert_uint_eq(results[4 * i + 1], bfloat_nan ? 0x7fff : i);
        if (exponent < 31)
            ck_assert_msg(found == (float)(i & 0x8000 ? -value : value), "f16 0x%x is %a", i,
                          (double)found);
    }
    device_close(&dev);
}
END_TEST

/* Carries: 128-bit sums, differences and products against the host's. */
START_TEST(carries)
{
    static const char text[] = HEAD
        ".visible .entry k(.param .u64 out, .param .u64 in) {\n" REGISTERS
        "ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [in]; mov.u32 %r1, %tid.x;\n"
        "mad.wide.u32 %rd1, %r1, 48, %rd1; mad.wide.u32 %rd2, %r1, 32, %rd2;\n"
        "ld.global.v2.u64 {%rd3, %rd4}, [%rd2]; ld.global.v2.u64 {%rd5, %rd6}, [%rd2+16];\n"
        "add.cc.u64 %rd7, %rd3, %rd5; addc.u64 %rd8, %rd4, %rd6; st.global.v2.u64 [%rd1], {%rd7, "
        "%rd8};\n"
        "sub.cc.u64 %rd7, %rd3, %rd5; subc.u64 %rd8, %rd4, %rd6; st.global.v2.u64 [%rd1+16], "
        "{%rd7, %rd8};\n"
        "mul.lo.u64 %rd7, %rd3, %rd5; mul.hi.u64 %rd8, %rd3, %rd5; mad.lo.cc.u64 %rd9, %rd3, %rd5, "
        "%rd6;\n"
        "madc.hi.u64 %rd10, %rd3, %rd5, %rd4; st.global.v2.u64 [%rd1+32], {%rd9, %rd10}; ret; }\n";
    uint64_t in[64][4];
    device dev;

    for (int i = 0; i < 256; i++)
        in[i / 4][i % 4] = i % 5 == 0 ? UINT64_MAX : random_bits();
    device_open(&dev, text);
    const uint64_t parameters[] = {device_take(&dev, NULL, 64 * 48),
                                   device_take(&dev, in, sizeof in)};
    run_done(&dev, "k", 1, 64, 0, parameters);
    for (int i = 0; i < 64; i++) {
        const uint64_t *out = (const uint64_t *)device_bytes(&dev, parameters[0]) + 6 * i;
        __extension__ typedef unsigned __int128 wide;
        wide a = (wide)in[i][1] << 64 | in[i][0], b = (wide)in[i][3] << 64 | in[i][2];
        wide expected[] = {a + b, a - b,
                           (wide)in[i][0] * in[i][2] + in[i][3] + ((wide)in[i][1] << 64)};
        for (int j = 0; j < 3; j++) {
            ck_assert_uint_eq(out[2 * j], (uint64_t)expected[j]);
            ck_assert_uint_eq(out[2 * j + 1], (uint64_t)(expected[j] >> 64));
        }
    }
    device_close(&dev);
}
END_TEST

/* What an addition or a subtraction leaves in CC.CF, for one of the other kind: a subtraction
 * leaves the carry of adding the complement. The first three rows were measured on an H100. */
START_TEST(carries_between_additions_and_subtractions)
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
END_TEST

/* ---- constant expressions ---- */

/* PTX ISA 4.5.5: 64 bits, signed until an operand is unsigned; operators and precedences as in
 * C. */
START_TEST(constant_expressions)
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
END_TEST

/* ---- registers, vectors, special registers ---- */

START_TEST(packing)
{
    expect_all(KERNEL("mov.u32 %r2, 0x12345678; mov.b32 {%h1, %h2}, %r2; mov.b32 %r3, {%h2, %h1};\n"
                      "mov.b64 %rd3, {%r3, %r3}; mov.b64 {%h3, %h4, %h5, %h6}, %rd3; mov.b64 %rd4, "
                      "{%h6, %h5, %h4, %h3};\n"
                      ".reg .b128 %q; mov.b128 %q, {%rd4, %rd3}; mov.b128 {%rd5, %rd6}, %q; "
                      "sub.u64 %rd7, %rd5, %rd6;\n"
                      "st.global.u64 [%rd1], %rd7;\n"),
               40, UINT64_C(0x1234567812345678) - UINT64_C(0x5678123456781234));
}
END_TEST

START_TEST(special_registers)
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
END_TEST

START_TEST(clocks_go_on)
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
END_TEST

/* Blocks of three dimensions: x goes fastest. */
START_TEST(three_dimensions)
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
    ck_assert_int_eq(run_shape(&dev, "k", (shape){1, {5, 3, 4}, 0, 0}, &out), GD_CTA_DONE);
    const uint32_t *values = device_bytes(&dev, out);
    for (uint32_t i = 0; i < 60; i++)
        ck_assert_uint_eq(values[i], i);
    device_close(&dev);
}
END_TEST

/* ---- control flow ---- */

/* Lanes go different ways and for different times, and meet again: activemask at the end is
 * full. */
START_TEST(divergence)
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
END_TEST

/* A lane spins on what another lane of its warp stores later in the text. */
START_TEST(lanes_wait_for_lanes)
{
    expect_all(KERNEL(".shared .align 4 .b8 flag[4];\n mov.u32 %r9, flag; setp.eq.u32 %p1, %r1, 5; "
                      "@%p1 bra set;\n"
                      "spin: ld.volatile.shared.u32 %r2, [%r9]; setp.eq.u32 %p2, %r2, 0; @%p2 bra "
                      "spin; bra done;\n"
                      "set: st.volatile.shared.u32 [%r9], 77; mov.u32 %r2, 77;\n"
                      "done: cvt.u64.u32 %rd3, %r2; st.global.u64 [%rd1], %rd3;\n"),
               32, 77);
}
END_TEST

/* Lanes that spin give way wherever in their loop a turn of the warp ends, at the branch that parts
 * them and at a branch through a table included: the loop has eight operations, and each lap of the
 * test shifts it by one. */
START_TEST(spinning_lanes_give_way)
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
    gd_cta_state state = run_shape(&dev, "spin", (shape){1, {32, 1, 1}, 0, 1000000}, &out);
    ck_assert_msg(state == GD_CTA_DONE, "shift %d, state %d: %s", _i, state, dev.fault.text);
    device_close(&dev);
    gd_text_free(&text);
}
END_TEST

START_TEST(branch_tables)
{
    result res;

    result_run(
        &res,
        KERNEL(
            "targets: .branchtargets L0, L1, L2, L1;\n and.b32 %r2, %r1, 3; brx.idx %r2, targets;\n"
            "L0: mov.u64 %rd3, 10; bra done; L1: mov.u64 %rd3, 11; bra done; L2: mov.u64 %rd3, "
            "12;\n"
            "done: st.global.u64 [%rd1], %rd3;\n"),
        33, NULL, 0, 0);
    for (uint32_t i = 0; i < 33; i++)
        ck_assert_uint_eq(res.values[i], i % 4 == 0 ? 10 : i % 4 == 2 ? 12 : 11);
    device_close(&res.dev);
}
END_TEST

static const char calls_text[] =
    HEAD ".func (.param .b64 result) factorial(.param .b32 n) {\n" REGISTERS
         "ld.param.u32 %r1, [n]; setp.gt.u32 %p1, %r1, 1; @%p1 bra more; mov.u64 %rd1, 1; "
         "st.param.b64 [result], %rd1; ret;\n"
         "more: sub.u32 %r2, %r1, 1; { .param .b32 a; .param .b64 b; st.param.b32 [a], %r2; "
         "call.uni (b), factorial, (a);\n"
         "ld.param.b64 %rd2, [b]; } cvt.u64.u32 %rd3, %r1; mul.lo.u64 %rd1, %rd2, %rd3; "
         "st.param.b64 [result], %rd1; ret; }\n"
         ".func (.param .b32 r) twice(.param .b32 v) { .reg .b32 %a; .local .align 4 .b8 "
         "buffer[16]; ld.param.u32 %a, [v];\n"
         "st.local.u32 [buffer+8], %a; add.u32 %a, %a, 1; ld.local.u32 %a, [buffer+8]; shl.b32 %a, "
         "%a, 1; st.param.b32 [r], %a; ret; }\n"
         ".func (.param .b32 r) thrice(.param .b32 v) { .reg .b32 %a; ld.param.u32 %a, [v]; "
         "mul.lo.u32 %a, %a, 3; st.param.b32 [r], %a; ret; }\n"
         ".global .align 8 .u64 table[2] = {twice, thrice};\n"
         ".visible .entry k(.param .u64 out, .param .u64 in) {\n" REGISTERS
         "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mad.wide.u32 %rd1, %r1, 8, %rd1; and.b32 "
         "%r2, %r1, 15;\n"
         "call (%rd2), factorial, (%r2);\n"
         "and.b32 %r3, %r1, 1; mov.u64 %rd3, table; mad.wide.u32 %rd3, %r3, 8, %rd3; ld.global.u64 "
         "%rd4, [%rd3];\n"
         "proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
         "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r1; call (y), %rd4, (x), proto; "
         "ld.param.b32 %r4, [y]; }\n"
         "setp.lt.u32 %p1, %r1, 10; @%p1 call (%r4), twice, (%r4);\n"
         "cvt.u64.u32 %rd5, %r4; shl.b64 %rd5, %rd5, 48; add.u64 %rd2, %rd2, %rd5; st.global.u64 "
         "[%rd1], %rd2; ret; }\n";

/* Recursion to different depths, calls through registers, predicated calls. */
START_TEST(calls)
{
    result res;

    result_run(&res, calls_text, 48, NULL, 0, 0);
    for (uint32_t i = 0; i < 48; i++) {
        uint64_t factorial = 1, other = i % 2 ? i * 3 : i * 2;
        for (uint32_t n = 2; n <= i % 16; n++)
            factorial *= n;
        ck_assert_uint_eq(res.values[i], factorial + ((i < 10 ? other * 2 : other) << 48));
    }
    device_close(&res.dev);
}
END_TEST

START_TEST(endless_recursion_stops)
{
    device dev;
    uint64_t nothing = 0;

    device_open(&dev, HEAD
                ".func f() { call f; ret; }\n.visible .entry k(.param .u64 a) { call f; ret; }\n");
    ck_assert_int_eq(run_shape(&dev, "k", (shape){1, {1, 1, 1}, 0, 0}, &nothing), GD_CTA_FAULT);
    ck_assert_int_eq(dev.fault.kind, GD_FAULT_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(dev.fault.text, "call stack"));
    device_close(&dev);
}
END_TEST

/* ---- warps ---- */

START_TEST(votes)
{
    expect_all(KERNEL("setp.lt.u32 %p1, %r1, 20; vote.sync.all.pred %p2, %p1, -1; "
                      "vote.sync.any.pred %p3, %p1, -1;\n"
                      "vote.sync.uni.pred %p4, %p1, -1; vote.sync.ballot.b32 %r2, !%p1, -1; "
                      "selp.u32 %r3, 1, 0, %p2;\n"
                      "selp.u32 %r4, 2, 0, %p3; selp.u32 %r5, 4, 0, %p4; add.u32 %r3, %r3, %r4; "
                      "add.u32 %r3, %r3, %r5;\n"
                      "mov.b64 %rd3, {%r2, %r3}; st.global.u64 [%rd1], %rd3;\n"),
               32, UINT64_C(2) << 32 | 0xfff00000);
}
END_TEST

START_TEST(shuffles)
{
    result res;

    result_run(
        &res,
        KERNEL(
            "mul.lo.u32 %r2, %r1, 10; shfl.sync.up.b32 %r3|%p1, %r2, 2, 0, -1; shfl.sync.down.b32 "
            "%r4, %r2, 3, 31, -1;\n"
            "shfl.sync.bfly.b32 %r5, %r2, 5, 31, -1; shfl.sync.idx.b32 %r6|%p2, %r2, 9, 0x181f, "
            "-1;\n"
            "selp.u32 %r7, 1, 0, %p1; shl.b32 %r4, %r4, 9; shl.b32 %r5, %r5, 18; add.u32 %r3, %r3, "
            "%r4; add.u32 %r3, %r3, %r5;\n"
            "mad.lo.u32 %r6, %r6, 2, %r7; mov.b64 %rd3, {%r3, %r6}; st.global.u64 [%rd1], %rd3;\n"),
        32, NULL, 0, 0);
    for (uint32_t i = 0; i < 32; i++) {
        uint32_t up = i < 2 ? i : i - 2, down = i > 28 ? i : i + 3, idx = i / 8 * 8 + 1;
        ck_assert_uint_eq((uint32_t)res.values[i],
                          up * 10 + (down * 10 << 9) + ((i ^ 5) * 10 << 18));
        ck_assert_uint_eq(res.values[i] >> 32, idx * 20 + (i >= 2));
    }
    device_close(&res.dev);
}
END_TEST

START_TEST(matches_and_reductions)
{
    result res;

    result_run(&res,
               KERNEL("and.b32 %r2, %r1, 3; match.any.sync.b32 %r3, %r2, -1; match.all.sync.b32 "
                      "%r4|%p1, %r2, -1;\n"
                      "redux.sync.add.s32 %r5, %r1, -1; redux.sync.max.s32 %r6, %r1, -1; "
                      "elect.sync %r7|%p2, -1;\n"
                      "selp.u32 %r8, 1000, 0, %p2; add.u32 %r5, %r5, %r6; add.u32 %r5, %r5, %r8; "
                      "add.u32 %r5, %r5, %r4;\n"
                      "mov.b64 %rd3, {%r3, %r5}; st.global.u64 [%rd1], %rd3;\n"),
               32, NULL, 0, 0);
    for (uint32_t i = 0; i < 32; i++) {
        ck_assert_uint_eq((uint32_t)res.values[i], 0x11111111u << i % 4);
        ck_assert_uint_eq(res.values[i] >> 32, 496 + 31 + (i == 0 ? 1000 : 0));
    }
    device_close(&res.dev);
}
END_TEST

/* The two halves of a warp come to the shuffle from different places; each lane waits for those of
 * its mask. */
START_TEST(lanes_gather)
{
    result res;

    result_run(&res,
               KERNEL("setp.lt.u32 %p1, %r1, 16; mov.u32 %r2, %r1; @%p1 bra low; mov.u32 %r3, 40;\n"
                      "count: sub.u32 %r3, %r3, 1; setp.ne.u32 %p2, %r3, 0; @%p2 bra count; "
                      "bar.warp.sync 0xffff0000; bra both;\n"
                      "low: add.u32 %r2, %r2, 100; bar.warp.sync 0xffff;\n"
                      "both: shfl.sync.bfly.b32 %r4, %r2, 16, 31, -1; cvt.u64.u32 %rd3, %r4; "
                      "st.global.u64 [%rd1], %rd3;\n"),
               32, NULL, 0, 0);
    for (uint32_t i = 0; i < 32; i++)
        ck_assert_uint_eq(res.values[i], (i ^ 16) + ((i ^ 16) < 16 ? 100 : 0));
    device_close(&res.dev);
}
END_TEST

/* ---- barriers ---- */

START_TEST(barrier_reverses)
{
    result res;

    result_run(&res,
               KERNEL(".shared .align 4 .b8 s[1024];\n mov.u32 %r2, s; shl.b32 %r3, %r1, 2; "
                      "add.u32 %r3, %r3, %r2;\n"
                      "st.shared.u32 [%r3], %r1; bar.sync 0; mov.u32 %r4, 255; sub.u32 %r4, %r4, "
                      "%r1; shl.b32 %r4, %r4, 2;\n"
                      "add.u32 %r4, %r4, %r2; ld.shared.u32 %r5, [%r4]; cvt.u64.u32 %rd3, %r5; "
                      "st.global.u64 [%rd1], %rd3;\n"),
               256, NULL, 0, 0);
    for (uint32_t i = 0; i < 256; i++)
        ck_assert_uint_eq(res.values[i], 255 - i);
    device_close(&res.dev);
}
END_TEST

START_TEST(barrier_reductions)
{
    expect_all(KERNEL("rem.u32 %r2, %r1, 3; setp.eq.u32 %p1, %r2, 0; bar.red.popc.u32 %r3, 0, %p1; "
                      "bar.red.and.pred %p2, 0, %p1;\n"
                      "bar.red.or.pred %p3, 1, 96, %p1; selp.u32 %r4, 1, 0, %p2; selp.u32 %r5, 2, "
                      "0, %p3; add.u32 %r4, %r4, %r5;\n"
                      "mov.b64 %rd3, {%r3, %r4}; st.global.u64 [%rd1], %rd3;\n"),
               96, UINT64_C(2) << 32 | 32);
}
END_TEST

/* One warp produces for the others: it arrives without waiting; threads that left do not hold up
 * the rest. */
START_TEST(barrier_arrive)
{
    expect_all(KERNEL(".shared .align 4 .b8 s[4];\n mov.u32 %r2, s; mov.u64 %rd3, 5; st.global.u64 "
                      "[%rd1], %rd3; setp.ge.u32 %p1, %r1, 64;\n"
                      "@%p1 bra last; setp.lt.u32 %p2, %r1, 32; @!%p2 bra consume; st.shared.u32 "
                      "[%r2], 5; bar.arrive 3, 64; bra rest;\n"
                      "consume: bar.sync 3, 64; ld.shared.u32 %r4, [%r2]; cvt.u64.u32 %rd3, %r4; "
                      "st.global.u64 [%rd1], %rd3;\n"
                      "rest: barrier.cta.sync 0; bra end; last: exit; end:\n"),
               96, 5);
}
END_TEST

START_TEST(cluster_barrier)
{
    expect_all(KERNEL(".shared .align 4 .b8 s[4];\n mov.u32 %r2, s; setp.eq.u32 %p1, %r1, 63; @%p1 "
                      "st.shared.u32 [%r2], 9;\n"
                      "barrier.cluster.arrive.release; barrier.cluster.wait.acquire; "
                      "mapa.shared::cluster.u32 %r3, %r2, 0;\n"
                      "ld.shared::cluster.u32 %r4, [%r3]; cvt.u64.u32 %rd3, %r4; st.global.u64 "
                      "[%rd1], %rd3;\n"),
               64, 9);
}
END_TEST

/* ---- memory ---- */

START_TEST(widths)
{
    static const uint8_t in[32] = {0x80, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88};

    result res;
    result_run(&res,
               KERNEL("ld.global.s8 %r2, [%rd2]; ld.global.u8 %r3, [%rd2+1]; ld.global.s16 %r4, "
                      "[%rd2+2]; ld.global.u16 %h1, [%rd2+2];\n"
                      "ld.global.v2.u8 {%h2, %h3}, [%rd2+4]; ld.global.s32 %rd3, [%rd2+4]; "
                      "ld.global.nc.v4.b16 {%h4, %h5, %h6, %h7}, [%rd2];\n"
                      "add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, %r4; cvt.u32.u16 %r5, %h1; add.u32 "
                      "%r2, %r2, %r5; cvt.u32.u16 %r6, %h3;\n"
                      "add.u32 %r2, %r2, %r6; cvt.u32.u16 %r7, %h7; add.u32 %r2, %r2, %r7; "
                      "cvt.s64.s32 %rd4, %r2; add.s64 %rd3, %rd3, %rd4;\n"
                      "st.global.u64 [%rd1], %rd3;\n"),
               33, in, sizeof in, 0);
    int64_t expected = -128 + 0x81 + (int16_t)0x8382 + 0x8382 + 0x85 + 0x8786 + (int32_t)0x87868584;
    for (uint32_t i = 0; i < 33; i++)
        ck_assert_int_eq((int64_t)res.values[i], expected);
    device_close(&res.dev);
}
END_TEST

START_TEST(spaces)
{
    expect_all(HEAD
               ".const .align 8 .b8 data[16] = {1, 2, 3, 4, 0xFF(other), 0xFF00(other), 0, 0};\n"
               ".global .align 4 .u32 other = 7; .global .align 8 .u64 where = generic(other)+4; "
               ".global .f32 f[2] = {1.5, 0f40000000};\n"
               ".global .align 2 .b8 odd[] = {1, 2, 3};\n"
               ".visible .entry k(.param .u64 out, .param .u64 in) {\n" REGISTERS
               ".local .align 8 .b8 stack[64]; .shared .align 8 .b8 s[512];\n"
               "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mad.wide.u32 %rd1, %r1, 8, %rd1;\n"
               "ld.const.u32 %r2, [data]; cvta.const.u64 %rd3, data; ld.u32 %r3, [%rd3]; sub.u32 "
               "%r2, %r2, %r3;\n" /* 0 */
               "mov.u64 %rd4, stack; cvta.local.u64 %rd5, %rd4; st.u32 [%rd5+12], %r1; "
               "ld.local.u32 %r4, [%rd4+12]; sub.u32 %r4, %r4, %r1;\n" /* 0 */
               "cvta.shared.u64 %rd6, s; mad.wide.u32 %rd7, %r1, 8, %rd6; st.u64 [%rd7], 3; "
               "isspacep.shared %p1, %rd7;\n"
               "cvta.to.shared.u64 %rd8, %rd7; ld.shared.u32 %r5, [%rd8]; isspacep.global %p2, "
               "%rd1; isspacep.local %p3, %rd5;\n"
               "ld.global.u64 %rd9, [where]; ld.global.u32 %r6, [%rd9+-4]; ld.global.f32 %f1, "
               "[f+4]; cvt.rzi.u32.f32 %r7, %f1;\n"
               "ld.global.u8 %r8, [odd+2]; add.u32 %r2, %r2, %r4; add.u32 %r2, %r2, %r5; add.u32 "
               "%r2, %r2, %r6; add.u32 %r2, %r2, %r7;\n"
               "add.u32 %r2, %r2, %r8; and.pred %p1, %p1, %p2; and.pred %p1, %p1, %p3; selp.u32 "
               "%r9, 100, 0, %p1; add.u32 %r2, %r2, %r9;\n"
               "cvt.u64.u32 %rd10, %r2; st.global.u64 [%rd1], %rd10; ret; }\n",
               64, 3 + 7 + 2 + 3 + 100);
}
END_TEST

START_TEST(atomics)
{
    static const char text[] =
        KERNEL("atom.global.add.u32 %r2, [%rd2], 2; atom.global.inc.u32 %r3, [%rd2+4], 10; "
               "atom.global.max.s32 %r4, [%rd2+8], %r1;\n"
               "red.global.add.f32 [%rd2+12], 0f3f000000; atom.global.cas.b32 %r5, [%rd2+16], %r1, "
               "99; atom.add.u64 %rd3, [%rd2+24], 1;\n"
               "mov.b32 %r6, 0x3c003c00; red.global.add.noftz.f16x2 [%rd2+32], %r6; "
               "red.global.add.f64 [%rd2+40], 0d3ff0000000000000;\n"
               "atom.global.exch.b64 %rd4, [%rd2+48], 5; red.global.or.b32 [%rd2+56], %r1; "
               "atom.global.dec.u32 %r7, [%rd2+60], 9;\n"
               "red.relaxed.gpu.global.add.v2.f32 [%rd2+64], {%f1, %f1}; cvt.u64.u32 %rd5, %r2; "
               "st.global.u64 [%rd1], %rd5;\n");
    uint32_t in[18] = {0};
    result res;

    in[2] = 0x80000000;
    in[4] = 17;
    result_run(&res, text, 40, in, sizeof in, 0);
    const uint32_t *words = device_bytes(&res.dev, res.in);
    for (uint32_t i = 0; i < 40; i++)
        ck_assert_uint_eq(res.values[i], 2 * i);
    ck_assert_uint_eq(words[0], 80);
    ck_assert_uint_eq(words[1], 40 % 11);
    ck_assert_uint_eq(words[2], 39);
    ck_assert_uint_eq(words[3], F(20.0f));
    ck_assert_uint_eq(words[4], 99);
    ck_assert_uint_eq(words[6], 40);
    ck_assert_uint_eq(words[8], 0x51005100); /* 40 */
    ck_assert_uint_eq(words[11], D(40.0) >> 32);
    ck_assert_uint_eq(words[12], 5);
    ck_assert_uint_eq(words[14], 63);
    ck_assert_uint_eq(words[15], 0);
    device_close(&res.dev);
}
END_TEST

/* A struct by value, read through its address as a compiler does. */
START_TEST(parameter_space)
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
END_TEST

/* ---- asynchronous copies ---- */

/* Two warps: one feeds a ring of two slots by bulk copies, the other adds up what comes, by
 * phases. */
START_TEST(bulk_pipeline)
{
    static const char text[] =
        HEAD ".visible .entry k(.param .u64 out, .param .u64 in) {\n" REGISTERS
             ".shared .align 16 .b8 ring[512]; .shared .align 8 .b8 full[16]; .shared .align 8 .b8 "
             "empty[16];\n"
             "ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [in]; mov.u32 %r1, %tid.x; mov.u32 "
             "%r20, ring; mov.u32 %r21, full; mov.u32 %r22, empty;\n"
             "setp.ne.u32 %p1, %r1, 0; @%p1 bra made; mbarrier.init.shared::cta.b64 [%r21], 1; "
             "mbarrier.init.shared.b64 [%r21+8], 1;\n"
             "mbarrier.init.shared.b64 [%r22], 32; mbarrier.init.shared.b64 [%r22+8], 32; "
             "fence.mbarrier_init.release.cluster;\n"
             "made: bar.sync 0; mov.u32 %r2, 0; setp.ge.u32 %p2, %r1, 32; @%p2 bra consume; "
             "setp.ne.u32 %p3, %r1, 0; @%p3 bra done;\n"
             "produce: and.b32 %r3, %r2, 1; shl.b32 %r4, %r3, 3; shr.u32 %r5, %r2, 1; and.b32 %r5, "
             "%r5, 1; xor.b32 %r5, %r5, 1;\n"
             "add.u32 %r6, %r22, %r4; full_yet: mbarrier.try_wait.parity.shared::cta.b64 %p4, "
             "[%r6], %r5; @!%p4 bra full_yet;\n"
             "add.u32 %r7, %r21, %r4; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r7], 256; "
             "shl.b32 %r8, %r3, 8; add.u32 %r8, %r8, %r20;\n"
             "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r8], [%rd2], "
             "256, [%r7];\n"
             "add.u64 %rd2, %rd2, 256; add.u32 %r2, %r2, 1; setp.lt.u32 %p5, %r2, 10; @%p5 bra "
             "produce; bra done;\n"
             "consume: sub.u32 %r9, %r1, 32; shl.b32 %r9, %r9, 3; mov.u64 %rd3, 0; take: and.b32 "
             "%r3, %r2, 1; shl.b32 %r4, %r3, 3; shr.u32 %r5, %r2, 1;\n"
             "and.b32 %r5, %r5, 1; add.u32 %r7, %r21, %r4; here_yet: "
             "mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r7], %r5, 1000; @!%p4 bra here_yet;\n"
             "shl.b32 %r8, %r3, 8; add.u32 %r8, %r8, %r20; add.u32 %r8, %r8, %r9; ld.shared.u64 "
             "%rd4, [%r8]; add.u64 %rd3, %rd3, %rd4;\n"
             "add.u32 %r6, %r22, %r4; mbarrier.arrive.shared::cta.b64 %rd5, [%r6]; add.u32 %r2, "
             "%r2, 1; setp.lt.u32 %p5, %r2, 10; @%p5 bra take;\n"
             "cvt.u64.u32 %rd6, %r9; add.u64 %rd1, %rd1, %rd6; st.global.u64 [%rd1], %rd3; done: "
             "ret; }\n";
    uint64_t in[320];
    result res;

    for (uint64_t i = 0; i < 320; i++)
        in[i] = i * i;
    result_run(&res, text, 64, in, sizeof in, 0);
    for (uint64_t i = 0; i < 32; i++) {
        uint64_t sum = 0;
        for (uint64_t n = 0; n < 10; n++)
            sum += in[n * 32 + i];
        ck_assert_uint_eq(res.values[i], sum);
    }
    device_close(&res.dev);
}
END_TEST

/* cp.async with fewer bytes fills with zeros; the arrival comes through the mbarrier; a bulk store
 * brings results back. */
START_TEST(small_copies)
{
    static const char text[] =
        KERNEL(".shared .align 16 .b8 s[512]; .shared .align 8 .b8 bar[8];\n mov.u32 %r2, s; "
               "mov.u32 %r3, bar; setp.eq.u32 %p1, %r1, 0;\n"
               "@%p1 mbarrier.init.shared.b64 [%r3], 32; bar.sync 0; shl.b32 %r4, %r1, 4; add.u32 "
               "%r5, %r2, %r4; cvt.u64.u32 %rd3, %r4;\n"
               "add.u64 %rd4, %rd2, %rd3; cp.async.cg.shared.global [%r5], [%rd4], 16, 12; "
               "cp.async.commit_group; cp.async.wait_group 0;\n"
               "cp.async.mbarrier.arrive.noinc.shared.b64 [%r3]; wait: "
               "mbarrier.test_wait.parity.shared.b64 %p2, [%r3], 0; @!%p2 bra wait;\n"
               "ld.shared.u64 %rd5, [%r5+8]; st.global.u64 [%rd1], %rd5; bar.sync 0; "
               "fence.proxy.async.shared::cta;\n"
               "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 512; "
               "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;\n");
    uint64_t in[64];
    result res;

    for (uint64_t i = 0; i < 64; i++)
        in[i] = random_bits();
    result_run(&res, text, 32, in, sizeof in, 0);
    const uint64_t *back = device_bytes(&res.dev, res.in);
    for (uint32_t i = 0; i < 32; i++) {
        ck_assert_uint_eq(res.values[i], (uint32_t)in[2 * i + 1]);
        ck_assert_uint_eq(back[2 * i], in[2 * i]);
        ck_assert_uint_eq(back[2 * i + 1], (uint32_t)in[2 * i + 1]);
    }
    device_close(&res.dev);
}
END_TEST

START_TEST(mbarrier_states)
{
    expect_all(
        KERNEL(".shared .align 8 .b8 b[8];\n mov.u32 %r2, b; mbarrier.init.shared.b64 [%r2], 3; "
               "mbarrier.arrive.shared.b64 %rd3, [%r2];\n"
               "mbarrier.pending_count.b64 %r3, %rd3; mbarrier.test_wait.shared.b64 %p1, [%r2], "
               "%rd3; mbarrier.arrive_drop.shared.b64 %rd4, [%r2];\n"
               "mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 16; mbarrier.test_wait.shared.b64 "
               "%p2, [%r2], %rd3;\n"
               "mbarrier.complete_tx.shared::cta.relaxed.cta.b64 [%r2], 16; "
               "mbarrier.test_wait.shared.b64 %p3, [%r2], %rd3;\n"
               "mbarrier.arrive.shared.b64 _, [%r2], 2; mbarrier.test_wait.parity.shared.b64 %p4, "
               "[%r2], 1; mbarrier.inval.shared.b64 [%r2];\n"
               "selp.u32 %r4, 16, 0, %p1; selp.u32 %r5, 32, 0, %p2; selp.u32 %r6, 64, 0, %p3; "
               "selp.u32 %r7, 128, 0, %p4;\n"
               "add.u32 %r3, %r3, %r4; add.u32 %r3, %r3, %r5; add.u32 %r3, %r3, %r6; add.u32 %r3, "
               "%r3, %r7; cvt.u64.u32 %rd5, %r3;\n"
               "st.global.u64 [%rd1], %rd5;\n"),
        1, 3 + 64 + 128);
}
END_TEST

/* ---- matrices ---- */

typedef struct mma_case {
    const char *name;
    uint32_t k, bits; /* of an element */
    int kind;         /* 0 f16, 1 bf16, 2 tf32, 3 s8, 4 u8 */
    uint32_t a, b;    /* registers */
} mma_case;

static bool is_integer(const mma_case *form)
{
    return form->kind >= 3 && form->kind <= 7;
}

static double element_of(const uint32_t *words, uint32_t index, const mma_case *form)
{
    uint32_t per = 32 / form->bits, bits = words[index / per] >> (index % per * form->bits);
    union {
        uint32_t u;
        float f;
    } single;

    switch (form->kind) {
    case 0: /* small whole numbers: sign, exponent and fraction as the format has them */
        return (bits & 0x8000 ? -1.0 : 1.0) *
               ldexp(1024 + (bits & 1023), (int)(bits >> 10 & 31) - 25);
    case 1:
        single.u = bits << 16;
        return (double)single.f;
    case 2:
        single.u = bits;
        return (double)single.f;
    case 3:
        return (int8_t)bits;
    case 4:
        return (uint8_t)bits;
    case 5:
        return (int32_t)(bits << 28) >> 28;
    case 6:
        return bits & 15;
    case 7:
        return bits & 1;
    case 8: /* e4m3 */
        return (bits & 0x80 ? -1.0 : 1.0) * ldexp(8 + (bits & 7), (int)(bits >> 3 & 15) - 10);
    default: /* e5m2 */
        return (bits & 0x80 ? -1.0 : 1.0) * ldexp(4 + (bits & 3), (int)(bits >> 2 & 31) - 17);
    }
}

static uint32_t random_element(const mma_case *form)
{
    uint32_t bits = (uint32_t)random_bits();

    switch (form->kind) {
    case 0:
        return (bits & 0x83c0) | 0x3c00;
    case 1:
        return (bits & 0x8070) | 0x3f80;
    case 2:
        return (bits & 0x807e0000) | 0x3f800000;
    case 8:
    case 9:
        return (bits & 0x87) | 0x38;
    default:
        return bits & (form->bits == 32 ? UINT32_MAX : (1u << form->bits) - 1);
    }
}

/* in: a by rows, b by columns, c by rows; loaded as the fragments are laid out. */
static void write_mma(gd_text *text, const mma_case *form)
{
    uint32_t per = 32 / form->bits, row_words = form->k / per;

    gd_text_string(text, HEAD ".visible .entry k(.param .u64 out, .param .u64 in) {\n" REGISTERS
                              "ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [in]; mov.u32 %r1, "
                              "%tid.x; shr.u32 %r2, %r1, 2; and.b32 %r3, %r1, 3;\n");
    gd_text_format(text, "mad.lo.u32 %%r4, %%r2, %u, %%r3; mad.wide.u32 %%rd3, %%r4, 4, %%rd2;\n",
                   row_words);
    for (uint32_t i = 0; i < form->a; i++)
        gd_text_format(text, "ld.global.b32 %%r%u, [%%rd3+%u];\n", 10 + i,
                       (i % 2 * 8 * row_words + i / 2 * 4) * 4);
    for (uint32_t i = 0; i < form->b; i++)
        gd_text_format(text, "ld.global.b32 %%r%u, [%%rd3+%u];\n", 20 + i,
                       (16 * row_words + i * 4) * 4);
    gd_text_format(text,
                   "shl.b32 %%r5, %%r3, 1; mad.lo.u32 %%r5, %%r2, 8, %%r5; mad.wide.u32 %%rd4, "
                   "%%r5, 4, %%rd2; mad.wide.u32 %%rd1, %%r5, 4, %%rd1;\n"
                   "ld.global.v2.b32 {%%r30, %%r31}, [%%rd4+%u]; ld.global.v2.b32 {%%r32, %%r33}, "
                   "[%%rd4+%u];\n",
                   24 * row_words * 4, 24 * row_words * 4 + 256);
    gd_text_format(text, "mma.sync.aligned.m16n8k%u.row.col.%s {%%r6, %%r7, %%r8, %%r9}, {%%r10",
                   form->k, form->name);
    for (uint32_t i = 1; i < form->a; i++)
        gd_text_format(text, ", %%r%u", 10 + i);
    gd_text_string(text, "}, {%r20");
    for (uint32_t i = 1; i < form->b; i++)
        gd_text_format(text, ", %%r%u", 20 + i);
    gd_text_string(text, "}, {%r30, %r31, %r32, %r33};\nst.global.v2.b32 [%rd1], {%r6, %r7}; "
                         "st.global.v2.b32 [%rd1+256], {%r8, %r9}; ret; }\n");
}

START_TEST(matrix_products)
{
    static const mma_case cases[] = {
        {"f32.f16.f16.f32", 16, 16, 0, 4, 2},        {"f32.f16.f16.f32", 8, 16, 0, 2, 1},
        {"f32.bf16.bf16.f32", 16, 16, 1, 4, 2},      {"f32.tf32.tf32.f32", 8, 32, 2, 4, 2},
        {"f32.tf32.tf32.f32", 4, 32, 2, 2, 1},       {"s32.s8.s8.s32", 32, 8, 3, 4, 2},
        {"s32.u8.u8.s32", 16, 8, 4, 2, 1},           {"s32.s4.s4.s32", 64, 4, 5, 4, 2},
        {"s32.u4.u4.s32", 32, 4, 6, 2, 1},           {"s32.b1.b1.s32.and.popc", 256, 1, 7, 4, 2},
        {"s32.b1.b1.s32.and.popc", 128, 1, 7, 2, 1}, {"f32.e4m3.e4m3.f32", 32, 8, 8, 4, 2},
        {"f32.e5m2.e5m2.f32", 16, 8, 9, 2, 1},
    };
    const mma_case *form = &cases[_i];
    uint32_t per = 32 / form->bits, row_words = form->k / per, in[24 * 16 + 128] = {0};
    gd_text text = {0};
    result res;

    for (uint32_t i = 0; i < 24 * form->k; i++)
        in[i / per] |= random_element(form) << (i % per * form->bits);
    for (uint32_t i = 0; i < 128; i++)
        in[24 * row_words + i] =
            is_integer(form) ? (uint32_t)random_bits() % 1000 : F((float)(random_bits() % 64));
    write_mma(&text, form);
    result_run(&res, gd_text_get(&text), 32, in, sizeof in, 0);
    const uint32_t *out = (const uint32_t *)(const void *)res.values;
    for (uint32_t i = 0; i < 128; i++) {
        union {
            uint32_t u;
            float f;
        } c = {in[24 * row_words + i]};
        double sum = is_integer(form) ? (double)c.u : (double)c.f;
        for (uint32_t k = 0; k < form->k; k++)
            sum += element_of(in, i / 8 * form->k + k, form) *
                   element_of(in + 16 * row_words, i % 8 * form->k + k, form);
        ck_assert_msg(out[i] == (is_integer(form) ? (uint32_t)(int32_t)sum : F((float)sum)),
                      "%s: element %u is 0x%x, expected %g", form->name, i, out[i], sum);
    }
    device_close(&res.dev);
    gd_text_free(&text);
}
END_TEST

/* a[row][k] = 10 row + k, b[k][column] = 3 column - k, c = row + column, in the three shapes of f64
 * that differ in their registers. */
START_TEST(double_matrices)
{
    static const struct {
        const char *shape, *a, *b;
        uint32_t m, k, a_count, b_count;
    } forms[] = {{"m8n8k4", "{%fd1}", "{%fd11}", 8, 4, 1, 1},
                 {"m16n8k8", "{%fd1, %fd2, %fd3, %fd4}", "{%fd11, %fd12}", 16, 8, 4, 2},
                 {"m16n8k16", "{%fd1, %fd2, %fd3, %fd4, %fd5, %fd6, %fd7, %fd8}",
                  "{%fd11, %fd12, %fd13, %fd14}", 16, 16, 8, 4}};

    for (size_t n = 0; n < sizeof forms / sizeof forms[0]; n++) {
        gd_text text = {0};
        result res;
        gd_text_string(&text, HEAD ".visible .entry k(.param .u64 out, .param .u64 in) {\n.reg "
                                   ".f64 %fd<24>; .reg .b32 %r<12>; .reg .b64 %rd<4>;\n"
                                   "ld.param.u64 %rd1, [out]; mov.u32 %r1, %laneid; shr.u32 %r2, "
                                   "%r1, 2; and.b32 %r3, %r1, 3;\n");
        for (uint32_t i = 0; i < forms[n].a_count; i++)
            gd_text_format(&text,
                           "mad.lo.s32 %%r4, %%r2, 10, %%r3; add.s32 %%r4, %%r4, %u; "
                           "cvt.rn.f64.s32 %%fd%u, %%r4;\n",
                           forms[n].m == 16 ? 80 * (i % 2) + i / 2 * 4 : 0, i + 1);
        for (uint32_t i = 0; i < forms[n].b_count; i++)
            gd_text_format(&text,
                           "mad.lo.s32 %%r4, %%r2, 3, -%u; sub.s32 %%r4, %%r4, %%r3; "
                           "cvt.rn.f64.s32 %%fd%u, %%r4;\n",
                           4 * i, i + 11);
        for (uint32_t i = 0; i < forms[n].m / 4; i++)
            gd_text_format(&text,
                           "mad.lo.s32 %%r4, %%r3, 2, %%r2; add.s32 %%r4, %%r4, %u; cvt.rn.f64.s32 "
                           "%%fd%u, %%r4;\n",
                           i % 2 + i / 2 * 8, i + 16);
        const char *sums = forms[n].m == 8 ? "{%fd16, %fd17}" : "{%fd16, %fd17, %fd18, %fd19}";
        gd_text_format(&text, "mma.sync.aligned.%s.row.col.f64.f64.f64.f64 %s, %s, %s, %s;\n",
                       forms[n].shape, sums, forms[n].a, forms[n].b, sums);
        gd_text_string(&text, "mad.lo.u32 %r5, %r2, 64, 0; mad.lo.u32 %r5, %r3, 16, %r5; "
                              "cvt.u64.u32 %rd2, %r5; add.u64 %rd1, %rd1, %rd2;\n");
        for (uint32_t i = 0; i < forms[n].m / 4; i++)
            gd_text_format(&text, "st.global.f64 [%%rd1+%u], %%fd%u;\n", i / 2 * 512 + i % 2 * 8,
                           i + 16);
        gd_text_string(&text, "ret; }\n");
        result_run(&res, gd_text_get(&text), 64, NULL, 0, 0);
        const double *out = (const double *)(const void *)res.values;
        for (uint32_t row = 0; row < forms[n].m; row++) {
            for (uint32_t column = 0; column < 8; column++) {
                double sum = row + column;
                for (uint32_t k = 0; k < forms[n].k; k++)
                    sum += (10.0 * row + k) * (3.0 * column - k);
                ck_assert_msg(out[8 * row + column] == sum,
                              "%s: row %u, column %u is %g, expected %g", forms[n].shape, row,
                              column, out[8 * row + column], sum);
            }
        }
        device_close(&res.dev);
        gd_text_free(&text);
    }
}
END_TEST

/* Matrices loaded as they are and transposed, moved, and stored back. */
START_TEST(matrix_loads)
{
    static const char text[] =
        KERNEL(".shared .align 16 .b8 s[1024];\n mov.u32 %r2, s; shl.b32 %r3, %r1, 4; add.u32 %r4, "
               "%r2, %r3; cvt.u64.u32 %rd3, %r3; add.u64 %rd3, %rd3, %rd2;\n"
               "ld.global.v4.b32 {%r5, %r6, %r7, %r8}, [%rd3]; st.shared.v4.b32 [%r4], {%r5, %r6, "
               "%r7, %r8}; bar.sync 0;\n"
               "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r4]; "
               "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r14, %r15}, [%r4];\n"
               "movmatrix.sync.aligned.m8n8.trans.b16 %r16, %r10; setp.eq.u32 %p1, %r16, %r14; "
               "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r4+512], {%r11, %r10, %r13, %r12};\n"
               "bar.sync 0; ld.shared.u32 %r17, [%r4+512]; selp.u32 %r18, 1, 0, %p1; mov.b64 %rd4, "
               "{%r17, %r18}; st.global.u64 [%rd1], %rd4;\n");
    uint32_t in[128];
    result res;

    for (uint32_t i = 0; i < 128; i++)
        in[i] = (uint32_t)random_bits();
    result_run(&res, text, 32, in, sizeof in, 0);
    for (uint32_t i = 0; i < 32; i++) {
        ck_assert_uint_eq((uint32_t)res.values[i], in[(i ^ 8) * 4]);
        ck_assert_uint_eq(res.values[i] >> 32, 1);
    }
    device_close(&res.dev);
}
END_TEST

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

START_TEST(faults)
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
        run_shape(&dev, "k", (shape){1, {item->threads, 1, 1}, 0, 100000}, parameters);
    ck_assert_int_eq(state, GD_CTA_FAULT);
    ck_assert_msg(dev.fault.kind == item->kind, "kind %d: %s", dev.fault.kind, dev.fault.text);
    ck_assert_msg(strstr(dev.fault.text, item->text) != NULL, "%s", dev.fault.text);
    ck_assert_uint_eq(dev.fault.thread[0], item->thread);
    ck_assert_int_eq(dev.fault.line, 8);
    device_close(&dev);
    gd_text_free(&text);
}
END_TEST

/* Also a limit that is reached as the last thread that can go on ends or begins to wait. */
START_TEST(each_step_limit_ends_a_cta)
{
    static const uint64_t parameters[2] = {0};
    device dev;

    device_open(
        &dev,
        KERNEL(
            "setp.lt.u32 %p1, %r1, 40; @%p1 bra wait; bar.sync 0; ret; wait: griddepcontrol.wait;\n"
            "bar.sync 0;\n"));
    run_done(&dev, "k", 1, 64, 0, parameters);
    const uint64_t all = dev.instructions;
    for (uint64_t limit = 1; limit <= all + 1; limit++) {
        gd_cta_state state = run_shape(&dev, "k", (shape){1, {64, 1, 1}, 0, limit}, parameters);
        if (limit + 32 <= all || state == GD_CTA_FAULT)
            ck_assert_msg(dev.fault.kind == GD_FAULT_STEPS && limit < all, "limit %" PRIu64 ": %s",
                          limit, dev.fault.text);
        else
            ck_assert_int_eq(state, GD_CTA_DONE);
    }
    device_close(&dev);
}
END_TEST

START_TEST(freed_memory)
{
    device dev;

    device_open(&dev, KERNEL("ld.global.u32 %r2, [%rd2+16];\n"));
    const uint64_t parameters[] = {0, device_take(&dev, NULL, 64)};
    ck_assert(gd_memory_give(dev.memory, parameters[1]) &&
              !gd_memory_give(dev.memory, parameters[1]));
    ck_assert_int_eq(run_shape(&dev, "k", (shape){1, {1, 1, 1}, 0, 0}, parameters), GD_CTA_FAULT);
    ck_assert_int_eq(dev.fault.kind, GD_FAULT_ADDRESS);
    ck_assert_ptr_nonnull(strstr(dev.fault.text, "was freed"));
    ck_assert(!dev.fault.write);
    ck_assert_uint_eq(dev.fault.address, parameters[1] + 16);
    device_close(&dev);
}
END_TEST

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

START_TEST(refused)
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
END_TEST

/* A constant of a million signs, or of as many choices, is refused; it once ended the process. */
START_TEST(deep_constants)
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
END_TEST

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

START_TEST(waits_for_the_grid)
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
END_TEST

/* The run ends behind the first trigger of any thread, and only there. */
START_TEST(runs_to_the_trigger)
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
END_TEST

START_TEST(polls_and_goes_on)
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
END_TEST

/* A loop that only loads has its steps, and says that it polled; one that computes is ready for
 * more. */
START_TEST(steps)
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
END_TEST

/* ---- the shelf ---- */

static char *read_shelf(const char *name)
{
    const char *directory = getenv("srcdir");
    char path[512];
    FILE *file;

    snprintf(path, sizeof path, "%s/ptx/%s", directory ? directory : SOURCE_DIRECTORY, name);
    file = fopen(path, "rb");
    if (file == NULL) { /* made by m4 */
        snprintf(path, sizeof path, "%s/ptx/%s", BUILD_DIRECTORY, name);
        file = fopen(path, "rb");
    }
    ck_assert_msg(file != NULL, "%s", path);
    char *text = calloc(1, 1 << 20);
    ck_assert_uint_gt(fread(text, 1, (1 << 20) - 1, file), 0);
    fclose(file);
    return text;
}

static float bfloat(uint16_t bits)
{
    return ((union {
               uint32_t u;
               float f;
           }){.u = (uint32_t)bits << 16})
        .f;
}

static uint16_t to_bfloat(float value)
{
    uint32_t bits = F(value);

    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static float uniform(void)
{
    return (float)(random_bits() % 65536) / 32768.0f - 1.0f;
}

static void shelf_open(device *dev, const char *name)
{
    char *text = read_shelf(name);

    device_open(dev, text);
    free(text);
}

START_TEST(shelf_matvec)
{
    static const uint32_t shapes[][5] = {/* rows, columns, grid, block, shared */
                                         {64, 512, 2, 128, 32768},
                                         {37, 264, 3, 64, 16384},
                                         {9, 8, 2, 96, 4096},
                                         {16, 128, 2, 64, 0}};
    const uint32_t *form = shapes[_i], rows = form[0], columns = form[1];
    device dev;

    shelf_open(&dev, "linear/matvec_bf16.ptx");
    struct {
        uint64_t weight, x, y;
        uint32_t rows, columns;
    } parameters = {device_take(&dev, NULL, 2 * (size_t)rows * columns),
                    device_take(&dev, NULL, 2 * columns), device_take(&dev, NULL, 2 * rows), rows,
                    columns};
    uint16_t *weight = device_bytes(&dev, parameters.weight), *x = device_bytes(&dev, parameters.x);
    for (uint32_t i = 0; i < rows * columns; i++)
        weight[i] = to_bfloat(uniform());
    for (uint32_t i = 0; i < columns; i++)
        x[i] = to_bfloat(uniform());
    run_done(&dev, "matvec_bf16", form[2], form[3], form[4], &parameters);
    const uint16_t *y = device_bytes(&dev, parameters.y);
    for (uint32_t row = 0; row < rows; row++) {
        double sum = 0;
        for (uint32_t i = 0; i < columns; i++)
            sum += (double)bfloat(weight[row * columns + i]) * (double)bfloat(x[i]);
        ck_assert_msg(fabs((double)bfloat(y[row]) - sum) <= fabs(sum) * 0x1p-8 + 1e-4,
                      "row %u is %g, expected %g", row, (double)bfloat(y[row]), sum);
    }
    device_close(&dev);
}
END_TEST

static void check_vector_add(const char *name, uint32_t count, uint32_t offset)
{
    device dev;

    shelf_open(&dev, name);
    struct {
        uint64_t x, y, out;
        uint32_t count;
    } parameters = {device_take(&dev, NULL, 4 * (size_t)count + 16) + offset,
                    device_take(&dev, NULL, 4 * (size_t)count + 16) + offset,
                    device_take(&dev, NULL, 4 * (size_t)count + 16) + offset, count};
    float *x = (float *)device_bytes(&dev, parameters.x - offset) + offset / 4,
          *y = (float *)device_bytes(&dev, parameters.y - offset) + offset / 4;
    for (uint32_t i = 0; i < count; i++) {
        x[i] = uniform();
        y[i] = uniform();
    }
    run_done(&dev, "vector_add", 3, 96, 0, &parameters);
    const float *out = (const float *)device_bytes(&dev, parameters.out - offset) + offset / 4;
    for (uint32_t i = 0; i < count; i++)
        ck_assert_msg(out[i] == x[i] + y[i], "element %u is %g", i, (double)out[i]);
    ck_assert(out[count] == 0);
    device_close(&dev);
}

START_TEST(shelf_vector_add)
{
    static const char *const names[] = {"elementwise/vector_add.ptx",
                                        "elementwise/vector_add.sm_80.ptx"};

    check_vector_add(names[_i], 5000, 0);
    check_vector_add(names[_i], 1003, 4);
    check_vector_add(names[_i], 1, 12);
}
END_TEST

static void check_rms_norm(const char *name, uint32_t rows, uint32_t columns, uint32_t block)
{
    device dev;

    shelf_open(&dev, name);
    struct {
        uint64_t x, weight, out;
        uint32_t columns;
        float epsilon;
    } parameters = {device_take(&dev, NULL, 2 * (size_t)rows * columns),
                    device_take(&dev, NULL, 2 * (size_t)columns),
                    device_take(&dev, NULL, 2 * (size_t)rows * columns), columns, 1e-5f};
    uint16_t *x = device_bytes(&dev, parameters.x), *weight = device_bytes(&dev, parameters.weight);
    for (uint32_t i = 0; i < rows * columns; i++)
        x[i] = to_bfloat(uniform());
    for (uint32_t i = 0; i < columns; i++)
        weight[i] = to_bfloat(uniform());
    run_done(&dev, "rms_norm", rows, block, 0, &parameters);
    const uint16_t *out = device_bytes(&dev, parameters.out);
    for (uint32_t row = 0; row < rows; row++) {
        double sum = 0;
        for (uint32_t i = 0; i < columns; i++)
            sum += (double)bfloat(x[row * columns + i]) * (double)bfloat(x[row * columns + i]);
        for (uint32_t i = 0; i < columns; i++) {
            double expected = (double)bfloat(x[row * columns + i]) / sqrt(sum / columns + 1e-5) *
                              (double)bfloat(weight[i]);
            double found = (double)bfloat(out[row * columns + i]);
            ck_assert_msg(fabs(found - expected) <= fabs(expected) * 0x1.02p-8,
                          "row %u, column %u is %g, expected %g", row, i, found, expected);
        }
    }
    device_close(&dev);
}

START_TEST(shelf_rms_norm)
{
    static const char *const names[] = {"norm/rms_norm.ptx", "norm/rms_norm.sm_80.ptx"};

    check_rms_norm(names[_i], 2, 2048, 128);
    check_rms_norm(names[_i], 3, 77, 64);
}
END_TEST

static void check_softmax(const char *name, uint32_t rows, uint32_t columns, uint32_t block)
{
    device dev;

    shelf_open(&dev, name);
    struct {
        uint64_t x, out;
        uint32_t columns;
    } parameters = {device_take(&dev, NULL, 4 * (size_t)rows * columns),
                    device_take(&dev, NULL, 4 * (size_t)rows * columns), columns};
    float *x = device_bytes(&dev, parameters.x);
    for (uint32_t i = 0; i < rows * columns; i++)
        x[i] = uniform() * 10;
    x[0] = -INFINITY;
    run_done(&dev, "softmax", rows, block, 0, &parameters);
    const float *out = device_bytes(&dev, parameters.out);
    for (uint32_t row = 0; row < rows; row++) {
        const float *line = x + (size_t)row * columns;
        double most = -INFINITY, sum = 0;
        for (uint32_t i = 0; i < columns; i++)
            most = fmax(most, (double)line[i]);
        for (uint32_t i = 0; i < columns; i++)
            sum += exp((double)line[i] - most);
        for (uint32_t i = 0; i < columns; i++) {
            double expected = exp((double)line[i] - most) / sum,
                   found = (double)out[row * columns + i];
            ck_assert_msg(fabs(found - expected) <= expected * 1e-5,
                          "row %u, column %u is %g, expected %g", row, i, found, expected);
        }
    }
    device_close(&dev);
}

START_TEST(shelf_softmax)
{
    static const char *const names[] = {"softmax/softmax.ptx", "softmax/softmax.sm_80.ptx"};

    check_softmax(names[_i], 2, 1024, 128);
    check_softmax(names[_i], 3, 77, 32);
}
END_TEST

/* The loop lasts as long as it was asked for, by the model's clock. */
START_TEST(shelf_spin)
{
    device dev;

    shelf_open(&dev, "test/spin.ptx");
    struct {
        uint64_t in, out;
        uint32_t nanoseconds;
    } parameters = {device_take(&dev, NULL, 256), device_take(&dev, NULL, 256), 20000};
    run_done(&dev, "spin", 1, 64, 0, &parameters);
    for (uint32_t i = 0; i < 64; i++)
        ck_assert_uint_eq(((const uint32_t *)device_bytes(&dev, parameters.out))[i], 1);
    ck_assert_uint_gt(dev.instructions, 64 * 1000);
    device_close(&dev);
}
END_TEST

typedef struct listed {
    const TTest *test;
    int count; /* of a loop; 0: none */
} listed;

static void add_tests(Suite *suite, const char *name, const listed *tests, size_t count)
{
    TCase *item = tcase_create(name);

    for (size_t i = 0; i < count; i++) {
        if (tests[i].count)
            tcase_add_loop_test(item, tests[i].test, 0, tests[i].count);
        else
            tcase_add_test(item, tests[i].test);
    }
    suite_add_tcase(suite, item);
}

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

int main(void)
{
    const listed instructions[] = {{integers, 0},
                                   {comparisons, 0},
                                   {floats, 0},
                                   {conversions, 0},
                                   {measured, 0},
                                   {measured_atomics, 0},
                                   {roundings, 5},
                                   {halves, 0},
                                   {carries, 0},
                                   {carries_between_additions_and_subtractions, 0},
                                   {constant_expressions, 0},
                                   {packing, 0},
                                   {special_registers, 0},
                                   {clocks_go_on, 0},
                                   {three_dimensions, 0}};
    const listed control[] = {{divergence, 0},
                              {lanes_wait_for_lanes, 0},
                              {spinning_lanes_give_way, 8},
                              {branch_tables, 0},
                              {calls, 0},
                              {endless_recursion_stops, 0}};
    const listed warps[] = {
        {votes, 0}, {shuffles, 0}, {matches_and_reductions, 0}, {lanes_gather, 0}};
    const listed barriers[] = {
        {barrier_reverses, 0}, {barrier_reductions, 0}, {barrier_arrive, 0}, {cluster_barrier, 0}};
    const listed memory[] = {{widths, 0},          {spaces, 0},           {atomics, 0},
                             {parameter_space, 0}, {bulk_pipeline, 0},    {small_copies, 0},
                             {mbarrier_states, 0}, {matrix_products, 13}, {double_matrices, 0},
                             {matrix_loads, 0}};
    const listed limits[] = {{faults, (int)COUNT(fault_cases)},
                             {each_step_limit_ends_a_cta, 0},
                             {freed_memory, 0},
                             {refused, (int)COUNT(refusals)},
                             {deep_constants, 0},
                             {waits_for_the_grid, 0},
                             {runs_to_the_trigger, 0},
                             {polls_and_goes_on, 0},
                             {steps, 0}};
    const listed shelf[] = {{shelf_vector_add, 2},
                            {shelf_rms_norm, 2},
                            {shelf_softmax, 2},
                            {shelf_matvec, 4},
                            {shelf_spin, 0}};
    Suite *suite = suite_create("interpreter");

    add_tests(suite, "instructions", instructions, COUNT(instructions));
    add_tests(suite, "control", control, COUNT(control));
    add_tests(suite, "warps", warps, COUNT(warps));
    add_tests(suite, "barriers", barriers, COUNT(barriers));
    add_tests(suite, "memory", memory, COUNT(memory));
    add_tests(suite, "limits", limits, COUNT(limits));
    add_tests(suite, "shelf", shelf, COUNT(shelf));
    return run_suite(suite);
}
