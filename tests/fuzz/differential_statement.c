/* Statements that take several instructions: chains of carries, memory, what the threads of a CTA
 * or the lanes of a warp do together, mma. */
#include "differential_make.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- carries: a chain of additions, subtractions or products with sums ---- */

static void carry_line(diff_program *program, const char *op, const char *type, char hint,
                       uint32_t sources, diff_results *made)
{
    uint32_t taken[3];

    for (uint32_t i = 0; i < sources; i++)
        taken[i] = diff_take(program, hint);
    diff_add_result(program, made, hint);
    diff_say(program, "%s%s %s", op, type,
             diff_program_name(program, made->values[made->count - 1]).text);
    for (uint32_t i = 0; i < sources; i++)
        diff_say(program, ", %s", diff_program_name(program, taken[i]).text);
    diff_say(program, ";\n");
}

/* A chain that mixes what sets the carry and what goes on with it. */
void diff_make_mixed_carries(diff_program *program)
{
    static const char *const first[] = {"add.cc", "sub.cc", "mad.lo.cc", "mad.hi.cc"};
    static const char *const next[] = {"addc", "subc", "madc.lo", "madc.hi"};
    static const char *const types[] = {".u32", ".s32", ".u64", ".s64"};
    uint32_t count = 2 + diff_below(program, 3), chosen = diff_below(program, 4);
    diff_results made = {.count = 0};

    diff_begin(program);
    for (uint32_t i = 0; i < count; i++) {
        const char *name = i ? next[chosen] : first[chosen];
        uint32_t type = diff_below(program, 4);
        char op[16];
        snprintf(op, sizeof op, "%s%s", name, i && diff_chance(program, 60) ? ".cc" : "");
        carry_line(program, op, types[type], type < 2 ? 'w' : 'd', *name == 'm' ? 3 : 2, &made);
        chosen = diff_below(program, 4);
    }
    for (uint32_t i = 0; i < made.count; i++)
        diff_finish(program, made.values[i]);
}

void diff_make_carries(diff_program *program)
{
    static const char *const lines[][3] = {{"add.cc", "addc.cc", "addc"},
                                           {"sub.cc", "subc.cc", "subc"},
                                           {"mad.lo.cc", "madc.hi.cc", "madc.lo"},
                                           {"mad.hi.cc", "madc.lo.cc", "addc"},
                                           {"add.cc", "madc.hi.cc", "madc.hi"}};
    static const char *const types[] = {".u32", ".s32", ".u64", ".s64"};
    uint32_t chain = diff_below(program, 5), type = diff_below(program, 4);
    diff_results made = {.count = 0};

    diff_begin(program);
    for (uint32_t i = 0; i < 3; i++)
        carry_line(program, lines[chain][i], types[type], type < 2 ? 'w' : 'd',
                   lines[chain][i][0] == 'm' ? 3 : 2, &made);
    for (uint32_t i = 0; i < made.count; i++)
        diff_finish(program, made.values[i]);
}

/* ---- memory ---- */

typedef struct access_type {
    const char *suffix; /* of ld */
    uint32_t bytes;
    const char *registers; /* letters that may receive it */
} access_type;

static const access_type access_types[] = {
    {"b8", 1, "hwd"},  {"u8", 1, "hwd"},  {"s8", 1, "hwd"}, {"b16", 2, "hkb"}, {"u16", 2, "hwd"},
    {"s16", 2, "hwd"}, {"b32", 4, "wfx"}, {"u32", 4, "wd"}, {"s32", 4, "wd"},  {"f32", 4, "f"},
    {"b64", 8, "de"},  {"u64", 8, "d"},   {"s64", 8, "d"},  {"f64", 8, "e"}};

static uint32_t vector_length(diff_program *program, uint32_t bytes)
{
    uint32_t count = 1u << diff_below(program, 3);

    return bytes * count > 16 ? 1 : count;
}

static const char *vector_suffix(uint32_t count)
{
    return count == 4 ? ".v4" : count == 2 ? ".v2" : "";
}

/* Stores of 16 bytes at `address`, then a load of any type within them. `barrier` stands between
 * the two. */
static void say_store(diff_program *program, const char *space, const char *address)
{
    if (diff_chance(program, 50)) {
        uint32_t a = diff_take(program, 'd'), b = diff_take(program, 'e');
        diff_say(program, "st%s.v2.b64 [%s], {%s, %s};\n", space, address,
                 diff_program_name(program, a).text, diff_program_name(program, b).text);
        return;
    }
    uint32_t a = diff_take(program, 'w'), b = diff_take(program, 'f'), c = diff_take(program, 'x'),
             d = diff_take(program, 'y');
    diff_say(program, "st%s.v4.b32 [%s], {%s, %s, %s, %s};\n", space, address,
             diff_program_name(program, a).text, diff_program_name(program, b).text,
             diff_program_name(program, c).text, diff_program_name(program, d).text);
}

static void say_narrow_store(diff_program *program, const char *space, const char *address)
{
    static const char *const suffixes[] = {"b8", "u16", "b32", "s64"};
    static const char letters[] = "wwwd";
    uint32_t which = diff_below(program, 4), bytes = 1u << which;
    uint32_t value = which == 1 ? diff_take(program, 'h') : diff_take(program, letters[which]);

    diff_say(program, "st%s.%s [%s+%u], %s;\n", space, suffixes[which], address,
             diff_below(program, 16 / bytes) * bytes, diff_program_name(program, value).text);
}

static diff_results say_load(diff_program *program, const char *space, const char *address)
{
    const access_type *type =
        &access_types[diff_below(program, sizeof access_types / sizeof access_types[0])];
    uint32_t count = vector_length(program, type->bytes), whole = count * type->bytes;
    char hint = type->registers[diff_below(program, (uint32_t)strlen(type->registers))];
    diff_results made = {.count = 0};

    for (uint32_t i = 0; i < count; i++)
        diff_add_result(program, &made, hint);
    diff_say(program, "ld%s%s.%s ", space, vector_suffix(count), type->suffix);
    diff_say_results(program, count > 1 ? "<" : "w", &made);
    diff_say(program, ", [%s+%u];\n", address, diff_below(program, 16 / whole) * whole);
    return made;
}

static void finish_all(diff_program *program, const diff_results *made)
{
    for (uint32_t i = 0; i < made->count; i++)
        diff_finish(program, made->values[i]);
}

/* Whether a generic address lies in a space. */
static void add_space(diff_program *program, diff_results *made, const char *address)
{
    static const char *const spaces[] = {"local", "shared", "global"};

    if (made->count == 4)
        return;
    diff_add_result(program, made, 'p');
    diff_say(program, "isspacep.%s %s, %s;\n", spaces[diff_below(program, 3)],
             diff_program_name(program, made->values[made->count - 1]).text, address);
}

/* The thread's own bytes in local, shared or global memory, by the space's or a generic address. */
static void round_trip(diff_program *program)
{
    static const char *const spaces[] = {".local", ".shared", ".global"};
    static const char *const variables[] = {"%own_local", "%own_shared", "%own_global"};
    uint32_t which = diff_below(program, 3), address = diff_new_register(program, 'd');
    bool generic = diff_chance(program, 30);
    char text[24];

    diff_begin(program);
    snprintf(text, sizeof text, "%%d%" PRIu32, address);
    if (generic)
        diff_say(program, "cvta%s.u64 %s, %s;\n", spaces[which], text, variables[which]);
    else
        diff_say(program, "mov.u64 %s, %s;\n", text, variables[which]);
    const char *space = generic ? "" : spaces[which];
    say_store(program, space, text);
    if (diff_chance(program, 50))
        say_narrow_store(program, space, text);
    diff_results made = say_load(program, space, text);
    if (generic)
        add_space(program, &made, text);
    finish_all(program, &made);
}

/* Constant memory at an address that depends on the lane. */
static void constant_load(diff_program *program)
{
    uint32_t index = diff_take(program, 'w'), offset = diff_new_register(program, 'w'),
             address = diff_new_register(program, 'd');
    char text[24];

    diff_begin(program);
    diff_use(program, index);
    diff_say(program, "and.b32 %%w%" PRIu32 ", %s, 3;\n", offset,
             diff_program_name(program, index).text);
    diff_say(program, "mul.wide.u32 %%d%" PRIu32 ", %%w%" PRIu32 ", 16;\n", address, offset);
    diff_say(program, "add.u64 %%d%" PRIu32 ", %%d%" PRIu32 ", %%table;\n", address, address);
    snprintf(text, sizeof text, "%%d%" PRIu32, address);
    diff_results made = say_load(program, ".const", text);
    finish_all(program, &made);
}

/* Two NaNs added in shared memory, where ptxas makes a loop around add.f64: which one stays depends
 * on the optimization level. */
static void finish_any_nan(diff_program *program, uint32_t value)
{
    uint32_t slots = program->slot_count;

    diff_store(program, value, DIFF_EXACT);
    if (program->slot_count > slots)
        program->slots[slots].tolerance = DIFF_NAN;
    diff_show_canonical(program, value);
}

typedef struct atomic_form {
    const char *text;
    char hint;
    uint32_t sources;
} atomic_form;

static const atomic_form atomics[] = {
    {"add.u32", 'w', 1},         {"add.s32", 'w', 1},        {"add.u64", 'd', 1},
    {"add.f32", 'f', 1},         {"add.f64", 'e', 1},        {"inc.u32", 'w', 1},
    {"dec.u32", 'w', 1},         {"min.u32", 'w', 1},        {"min.s32", 'w', 1},
    {"max.u32", 'w', 1},         {"max.s32", 'w', 1},        {"min.u64", 'd', 1},
    {"min.s64", 'd', 1},         {"max.u64", 'd', 1},        {"max.s64", 'd', 1},
    {"and.b32", 'w', 1},         {"or.b32", 'w', 1},         {"xor.b32", 'w', 1},
    {"and.b64", 'd', 1},         {"or.b64", 'd', 1},         {"xor.b64", 'd', 1},
    {"exch.b32", 'w', 1},        {"exch.b64", 'd', 1},       {"cas.b32", 'w', 2},
    {"cas.b64", 'd', 2},         {"cas.b16", 'h', 2},        {"add.noftz.f16", 'k', 1},
    {"add.noftz.f16x2", 'x', 1}, {"add.noftz.bf16", 'b', 1}, {"add.noftz.bf16x2", 'y', 1}};

/* An atomic on the thread's own bytes: the old value and the new one. cas compares with what is
 * there half of the time. */
static void own_atomic(diff_program *program)
{
    const atomic_form *item = &atomics[diff_below(program, sizeof atomics / sizeof atomics[0])];
    bool shared = diff_chance(program, 50);
    const char *space = shared ? ".shared" : ".global",
               *at = shared ? "%own_shared" : "%own_global";
    uint32_t bits = 8 * diff_hint_bytes(item->hint);
    diff_results made = {.count = 0};

    diff_begin(program);
    uint32_t before = diff_take(program, item->hint), a = diff_take(program, item->hint),
             b = diff_take(program, item->hint);
    if (item->sources == 2 && diff_chance(program, 50))
        a = before;
    diff_add_result(program, &made, item->hint);
    diff_add_result(program, &made, item->hint);
    diff_say(program, "st%s.b%u [%s], %s;\n", space, bits, at,
             diff_program_name(program, before).text);
    diff_say(program, "atom%s.%s %s, [%s], %s", space, item->text,
             diff_program_name(program, made.values[0]).text, at,
             diff_program_name(program, a).text);
    diff_say(program, item->sources == 2 ? ", %s;\n" : ";\n", diff_program_name(program, b).text);
    diff_say(program, "ld%s.b%u %s, [%s];\n", space, bits,
             diff_program_name(program, made.values[1]).text, at);
    diff_finish(program, made.values[0]);
    if (shared && strcmp(item->text, "add.f64") == 0)
        finish_any_nan(program, made.values[1]);
    else
        diff_finish(program, made.values[1]);
}

/* ---- what all threads of the CTA do together ---- */

/* A barrier of all threads in one of its spellings. */
static void say_barrier(diff_program *program)
{
    static const char *const spellings[] = {"bar.sync 0",
                                            "bar.cta.sync 0",
                                            "barrier.sync.aligned 0",
                                            "barrier.cta.sync.aligned 0",
                                            "membar.cta;\nbar.sync 0",
                                            "fence.acq_rel.cta;\nbar.sync 0",
                                            "bar.warp.sync 0xffffffff;\nbar.sync 0"};

    diff_say(program, "%s;\n", spellings[diff_below(program, 7)]);
}

/* Each thread writes 16 bytes and reads its neighbour's. */
static void exchange(diff_program *program)
{
    uint32_t other = diff_new_register(program, 'w'), address = diff_new_register(program, 'd');
    char text[24];

    diff_begin(program);
    diff_crosses(program);
    say_barrier(program);
    say_store(program, ".shared", "%own_shared");
    say_barrier(program);
    diff_say(program, "xor.b32 %%w%" PRIu32 ", %%thread, %u;\n", other,
             diff_below(program, program->threads));
    diff_say(program,
             "mul.wide.u32 %%d%" PRIu32 ", %%w%" PRIu32 ", 16;\nadd.u64 %%d%" PRIu32 ", %%d%" PRIu32
             ", %%all_shared;\n",
             address, other, address, address);
    snprintf(text, sizeof text, "%%d%" PRIu32, address);
    diff_results made = say_load(program, ".shared", text);
    say_barrier(program);
    finish_all(program, &made);
}

/* Matrices whose rows are the threads' 16 bytes. */
static void matrix_load(diff_program *program)
{
    uint32_t count = 1u << diff_below(program, 3);
    diff_results made = {.count = 0};

    diff_begin(program);
    diff_crosses(program);
    say_barrier(program);
    say_store(program, ".shared", "%own_shared");
    say_barrier(program);
    for (uint32_t i = 0; i < count; i++)
        diff_add_result(program, &made, 'x');
    diff_say(program, "ldmatrix.sync.aligned.m8n8.x%u%s.shared.b16 ", count,
             diff_chance(program, 50) ? ".trans" : "");
    diff_say_results(program, "<", &made);
    diff_say(program, ", [%%own_shared];\n");
    say_barrier(program);
    finish_all(program, &made);
}

/* The same the other way: rows are written from matrices, and each thread reads its own. */
static void matrix_store(diff_program *program)
{
    uint32_t count = 1u << diff_below(program, 3), taken[4];

    diff_begin(program);
    diff_crosses(program);
    for (uint32_t i = 0; i < count; i++)
        taken[i] = diff_take(program, 'x');
    say_barrier(program);
    say_store(program, ".shared", "%own_shared");
    say_barrier(program);
    diff_say(program, "stmatrix.sync.aligned.m8n8.x%u%s.shared.b16 [%%own_shared], {", count,
             diff_chance(program, 50) ? ".trans" : "");
    for (uint32_t i = 0; i < count; i++)
        diff_say(program, "%s%s", i ? ", " : "", diff_program_name(program, taken[i]).text);
    diff_say(program, "};\n");
    say_barrier(program);
    diff_results made = say_load(program, ".shared", "%own_shared");
    say_barrier(program);
    finish_all(program, &made);
}

/* Reductions in shared memory that come out alike in any order. */
static void common_reduction(diff_program *program)
{
    static const char *const ops[] = {"add.u32", "min.s32", "max.u32", "and.b32",
                                      "or.b32",  "xor.b32", "min.u32", "max.s32"};
    const char *op = ops[diff_below(program, 8)];

    diff_begin(program);
    diff_crosses(program);
    uint32_t first = diff_take(program, 'w'), value = diff_take(program, 'w'),
             result = diff_new_value(program, 'w');
    diff_say(program, "bar.sync 0;\n@%%is_first st.shared.b32 [cell], %s;\nbar.sync 0;\n",
             diff_program_name(program, first).text);
    diff_say(program, "red.shared.%s [cell], %s;\nbar.sync 0;\nld.shared.b32 %s, [cell];\n", op,
             diff_program_name(program, value).text, diff_program_name(program, result).text);
    diff_finish(program, result);
}

static void barrier_reduction(diff_program *program)
{
    static const char *const ops[] = {"popc.u32", "and.pred", "or.pred"};
    uint32_t which = diff_below(program, 3);

    diff_begin(program);
    diff_crosses(program);
    uint32_t source = diff_take(program, 'p'), result = diff_new_value(program, which ? 'p' : 'w');
    diff_say(program, "bar.red.%s %s, 0, %s%s;\n", ops[which],
             diff_program_name(program, result).text, diff_chance(program, 30) ? "!" : "",
             diff_program_name(program, source).text);
    diff_finish(program, result);
}

/* ---- warps ---- */

void diff_say_mask(diff_program *program)
{
    if (program->mask == DIFF_NONE)
        diff_say(program, ", 0xffffffff;\n");
    else
        diff_say(program, ", %s;\n", diff_program_name(program, program->mask).text);
}

static void vote(diff_program *program)
{
    static const char *const modes[] = {"all.pred", "any.pred", "uni.pred", "ballot.b32"};
    uint32_t mode = diff_below(program, 4);

    diff_begin(program);
    diff_crosses(program);
    uint32_t source = diff_take(program, 'p'),
             result = diff_new_value(program, mode == 3 ? 'w' : 'p');
    diff_say(program, "vote.sync.%s %s, %s%s", modes[mode], diff_program_name(program, result).text,
             diff_chance(program, 30) ? "!" : "", diff_program_name(program, source).text);
    diff_say_mask(program);
    diff_finish(program, result);
}

static void match(diff_program *program)
{
    bool wide = diff_chance(program, 50), all = diff_chance(program, 50);
    diff_results made = {.count = 0};

    diff_begin(program);
    diff_crosses(program);
    uint32_t source = diff_take(program, wide ? 'd' : 'w');
    diff_add_result(program, &made, 'w');
    if (all)
        diff_add_result(program, &made, 'p');
    diff_say(program, "match.%s.sync.b%u ", all ? "all" : "any", wide ? 64 : 32);
    diff_say_results(program, all ? "j" : "w", &made);
    diff_say(program, ", %s", diff_program_name(program, source).text);
    diff_say_mask(program);
    finish_all(program, &made);
}

static void redux(diff_program *program)
{
    static const char *const ops[] = {"add.u32", "add.s32", "min.u32", "min.s32", "max.u32",
                                      "max.s32", "and.b32", "or.b32",  "xor.b32"};

    diff_begin(program);
    diff_crosses(program);
    uint32_t source = diff_take(program, 'w'), result = diff_new_value(program, 'w');
    diff_say(program, "redux.sync.%s %s, %s", ops[diff_below(program, 9)],
             diff_program_name(program, result).text, diff_program_name(program, source).text);
    diff_say_mask(program);
    diff_finish(program, result);
}

static void elect(diff_program *program)
{
    diff_results made = {.count = 0};

    diff_begin(program);
    diff_crosses(program);
    diff_add_result(program, &made, 'w');
    diff_add_result(program, &made, 'p');
    diff_say(program, "elect.sync ");
    diff_say_results(program, "j", &made);
    diff_say_mask(program);
    finish_all(program, &made);
}

/* All 32 lanes. */
static void shuffle(diff_program *program)
{
    static const char *const modes[] = {"up", "down", "bfly", "idx"};
    static const uint32_t controls[] = {0x1f, 0, 0x1c1f, 0x181f, 0x101f, 0x1c00, 0x0f1f, 0x1e0f};
    diff_results made = {.count = 0};

    diff_begin(program);
    diff_crosses(program);
    uint32_t source = diff_take(program, diff_chance(program, 50) ? 'w' : 'f'),
             by = diff_take(program, 's');
    diff_add_result(program, &made, 'w');
    diff_add_result(program, &made, 'p');
    diff_say(program, "shfl.sync.%s.b32 ", modes[diff_below(program, 4)]);
    diff_say_results(program, "j", &made);
    diff_say(program, ", %s, %s, 0x%x, 0xffffffff;\n", diff_program_name(program, source).text,
             diff_program_name(program, by).text,
             diff_chance(program, 70) ? DIFF_PICK(controls, diff_below(program, 8))
                                      : diff_below(program, 0x2000) & 0x1f1f);
    finish_all(program, &made);
}

static void transpose(diff_program *program)
{
    diff_begin(program);
    diff_crosses(program);
    uint32_t source = diff_take(program, 'x'), result = diff_new_value(program, 'x');
    diff_say(program, "movmatrix.sync.aligned.m8n8.trans.b16 %s, %s;\n",
             diff_program_name(program, result).text, diff_program_name(program, source).text);
    diff_finish(program, result);
}

/* ---- mma: with elements whose sums are exact, or with any of limited size ---- */

typedef struct mma_form {
    const char *text;
    uint32_t a, b, c, d; /* registers of each */
    char kind;           /* of the factors: k f16, b bf16, f tf32, s bytes */
    bool half_sums;
} mma_form;

static const mma_form mmas[] = {
    {"m16n8k16.row.col.f32.f16.f16.f32", 4, 2, 4, 4, 'k', false},
    {"m16n8k8.row.col.f32.f16.f16.f32", 2, 1, 4, 4, 'k', false},
    {"m16n8k16.row.col.f16.f16.f16.f16", 4, 2, 2, 2, 'k', true},
    {"m16n8k8.row.col.f16.f16.f16.f16", 2, 1, 2, 2, 'k', true},
    {"m16n8k16.row.col.f32.bf16.bf16.f32", 4, 2, 4, 4, 'b', false},
    {"m16n8k8.row.col.f32.bf16.bf16.f32", 2, 1, 4, 4, 'b', false},
    {"m16n8k8.row.col.f32.tf32.tf32.f32", 4, 2, 4, 4, 'f', false},
    {"m16n8k4.row.col.f32.tf32.tf32.f32", 2, 1, 4, 4, 'f', false},
    {"m16n8k16.row.col.s32.s8.s8.s32", 2, 1, 4, 4, 's', false},
    {"m16n8k32.row.col.s32.s8.u8.s32", 4, 2, 4, 4, 's', false},
    {"m16n8k32.row.col.satfinite.s32.u8.s8.s32", 4, 2, 4, 4, 's', false},
    {"m16n8k16.row.col.s32.u8.u8.s32", 2, 1, 4, 4, 's', false}};

/* A register of factors made from any one: high bytes chosen from a few that stand for small
 * numbers, or exponents cut down. */
static uint32_t factor(diff_program *program, char kind, bool small)
{
    uint32_t source = diff_take(program, 'w'), cut = diff_new_register(program, 'w'),
             result = diff_new_register(program, 'w');
    diff_name from = diff_program_name(program, source);

    if (kind == 's') {
        diff_say(program, "mov.b32 %%w%" PRIu32 ", %s;\n", result, from.text);
    } else if (small) {
        const char *bytes = kind == 'k' ? "0xbc403c00" : "0xc0414000";
        diff_say(program, "and.b32 %%w%" PRIu32 ", %s, %s;\n", cut, from.text,
                 kind == 'f' ? "0x3000" : "0x3030");
        diff_say(program, "or.b32 %%w%" PRIu32 ", %%w%" PRIu32 ", %s;\n", cut, cut,
                 kind == 'f' ? "0x0444" : "0x0404");
        diff_say(program, "prmt.b32 %%w%" PRIu32 ", %s, 0, %%w%" PRIu32 ";\n", result, bytes, cut);
    } else {
        diff_say(program, "and.b32 %%w%" PRIu32 ", %s, %s;\n", result, from.text,
                 kind == 'f' ? "0xbfffe000" : "0xbfffbfff");
    }
    return result;
}

static uint32_t addend(diff_program *program, const mma_form *item, bool small)
{
    if (item->half_sums)
        return factor(program, 'k', small);
    uint32_t source = diff_take(program, 'w'),
             result = diff_new_register(program, item->kind == 's' ? 'w' : 'f');
    if (item->kind == 's')
        diff_say(program, "mov.b32 %%w%" PRIu32 ", %s;\n", result,
                 diff_program_name(program, source).text);
    else if (small)
        diff_say(program, "cvt.rn.f32.s8 %%f%" PRIu32 ", %s;\n", result,
                 diff_program_name(program, source).text);
    else
        diff_say(program,
                 "cvt.rn.f32.s16 %%f%" PRIu32 ", %s;\nmul.rn.f32 %%f%" PRIu32 ", %%f%" PRIu32
                 ", 0f38800000;\n",
                 result, diff_program_name(program, source).text, result, result);
    return result;
}

static void say_registers(diff_program *program, char letter, const uint32_t *registers,
                          uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        diff_say(program, "%s%%%c%" PRIu32, i ? ", " : ", {", letter, registers[i]);
    diff_say(program, "}");
}

static void mma(diff_program *program)
{
    const mma_form *item = &mmas[diff_below(program, sizeof mmas / sizeof mmas[0])];
    bool small = item->kind != 's' && diff_chance(program, 60), exact = small || item->kind == 's';
    uint32_t a[4], b[2], c[4];
    diff_results made = {.count = 0};

    diff_begin(program);
    diff_crosses(program);
    for (uint32_t i = 0; i < item->a; i++)
        a[i] = factor(program, item->kind, small);
    for (uint32_t i = 0; i < item->b; i++)
        b[i] = factor(program, item->kind, small);
    for (uint32_t i = 0; i < item->c; i++)
        c[i] = addend(program, item, small);
    for (uint32_t i = 0; i < item->d; i++)
        diff_add_result(program, &made, item->half_sums ? 'x' : item->kind == 's' ? 'w' : 'f');
    diff_say(program, "mma.sync.aligned.%s ", item->text);
    diff_say_results(program, "<", &made);
    say_registers(program, 'w', a, item->a);
    say_registers(program, 'w', b, item->b);
    say_registers(program, item->half_sums || item->kind == 's' ? 'w' : 'f', c, item->c);
    diff_say(program, ";\n");
    for (uint32_t i = 0; i < made.count; i++) {
        if (exact)
            diff_finish(program, made.values[i]);
        else
            diff_store(program, made.values[i], item->half_sums ? DIFF_MMA_F16X2 : DIFF_MMA_F32);
    }
}

/* ---- one of each kind ---- */

void diff_make_memory(diff_program *program)
{
    static diff_make *const memory[] = {diff_make_carries, round_trip, constant_load, own_atomic};

    diff_choose_from(program, memory, 4);
}

void diff_make_lanes(diff_program *program)
{
    static diff_make *const lanes[] = {vote, match, redux, elect};

    diff_choose_from(program, lanes, 4);
}

void diff_make_warp(diff_program *program)
{
    static diff_make *const warp[] = {shuffle, shuffle, shuffle, transpose, mma, mma};

    diff_choose_from(program, warp, 6);
}

void diff_make_together(diff_program *program)
{
    static diff_make *const together[] = {exchange, matrix_load, matrix_store, common_reduction,
                                          barrier_reduction};

    diff_choose_from(program, together, 5);
}
