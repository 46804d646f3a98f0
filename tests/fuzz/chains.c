/* AUTO in chains against the serial run: random chains of kernels that make their addresses in many
 * ways, on the emulated driver.
 *
 *   chains [--from SEED] [--count N] [--driver DRIVER] [--print]
 *
 * Each launch reads, writes or updates one or two buffers, before or behind its wait, through an
 * argument, a table, a list, halves, a handle, arithmetic on distances, a tag, a bias, a struct,
 * shared or local memory, a function, or a variable of a module; by thread, or in bulk by way of
 * shared memory. What a launch reaches is stated, or not. The chain has up to three lanes, each
 * launch ordered behind the one before and perhaps behind another; it runs alone, in rounds, as a
 * graph, and with other arguments. Where a run differs from the serial one, the seed and the
 * chain are printed, and the exit status is 1. The last line counts chains, launches that could
 * begin early by their own text, and those that did.
 *
 * GRIDDEP_EMULATOR_SCHEDULE is the driver's order; without --driver EMULATED_DRIVER names it. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "griddep.h"

enum {
    BUFFERS = 4, /* and the variable behind them */
    TARGETS = BUFFERS + 1,
    WORDS = 32,
    BYTES = 4 * WORDS,
    MOST_LAUNCHES = 5,
    MOST_ACCESSES = 2,
    SHIFT = 4 /* of handles */
};
static const uint64_t bias = UINT64_C(1) << 44, tag = UINT64_C(1) << 60, key = 0x5a5a5a5a5a5aU;

/* ---- ways to make an address */

/* `a` is an argument, `s` the struct; what comes out is %p. The table holds the targets' addresses,
 * the list {next, address}, `keyed` the addresses xor a key. %t is the target, 8 bytes each. */
typedef enum argument { GIVEN_TARGET, GIVEN_TABLE, GIVEN_LIST, GIVEN_KEYED, GIVEN_NUMBER } argument;

typedef struct way {
    const char *name;
    argument a;
    const char *text;
    uint8_t shift;                                     /* of the argument's value */
    bool tagged, biased, in_struct, in_halves, beside; /* `beside`: argument b is another buffer */
    bool by_name;                                      /* the variable, by its name */
} way;

static const way ways[] = {
    {"named", .text = "mov.u64 %p, %a;"},
    {"index", .text = "ld.global.u32 %i, [%z]; mad.wide.u32 %p, %i, 4, %a;"},
    {"wide index", .text = "ld.global.u64 %q, [%z]; shl.b64 %q, %q, 2; add.u64 %p, %a, %q;"},
    {"table", .a = GIVEN_TABLE, .text = "ld.global.u64 %p, [%a+%t];"},
    {"list", .a = GIVEN_LIST,
     .text = "mov.u32 %i, 0;\nL%n: ld.global.v2.u64 {%q, %p}, [%a]; mov.u64 %a, %q; add.u32 %i, "
             "%i, 1; setp.le.u32 %pr, %i, %k; @%pr bra L%n;"},
    {"halves", .a = GIVEN_TABLE,
     .text = "ld.global.v2.u32 {%i, %j}, [%a+%t]; mov.b64 %p, {%i, %j};"},
    {"shifted halves", .a = GIVEN_TABLE,
     .text = "ld.global.u32 %i, [%a+%t]; ld.global.u32 %j, [%a+%t+4]; cvt.u64.u32 %p, %i; "
             "cvt.u64.u32 %q, %j; shl.b64 %q, %q, 32; or.b64 %p, %p, %q;"},
    {"parameter halves", .a = GIVEN_NUMBER, .in_halves = true, .text = "mov.b64 %p, {%lo, %hi};"},
    {"keyed", .a = GIVEN_KEYED,
     .text = "ld.global.u64 %p, [%a+%t]; xor.b64 %p, %p, 0x5a5a5a5a5a5a;"},
    {"handle", .shift = SHIFT, .text = "shl.b64 %p, %a, 4;"},
    {"multiplied handle", .shift = SHIFT, .text = "mul.lo.u64 %p, %a, 16;"},
    {"tag", .tagged = true, .text = "and.b64 %p, %a, 0x0fffffffffffffff;"},
    {"field", .tagged = true, .text = "bfe.u64 %p, %a, 0, 56;"},
    {"bias", .biased = true, .text = "add.u64 %p, %a, 0x100000000000;"},
    {"distance", .beside = true,
     .text = "sub.u64 %q, %a, %b; shr.s64 %q, %q, 2; shl.b64 %q, %q, 2; add.u64 %p, %b, %q;"},
    {"quotient", .beside = true,
     .text = "sub.u64 %q, %a, %b; div.s64 %q, %q, 4; mad.lo.s64 %p, %q, 4, %b;"},
    {"bit field", .beside = true,
     .text = "sub.u64 %q, %a, %b; bfe.s64 %q, %q, 0, 56; add.u64 %p, %b, %q;"},
    {"choice", .beside = true, .text = "setp.ne.u64 %pr, %a, %b; selp.b64 %p, %a, %b, %pr;"},
    {"loaded choice", .a = GIVEN_TABLE, .beside = true,
     .text = "ld.global.u64 %q, [%a+%t]; setp.ne.u64 %pr, %q, 0; selp.b64 %p, %q, %b, %pr;"},
    {"struct", .a = GIVEN_NUMBER, .in_struct = true, .text = "ld.param.u64 %p, [s];"},
    {"struct behind", .a = GIVEN_NUMBER, .in_struct = true,
     .text = "mov.u64 %q, s; ld.param.u64 %p, [%q];"},
    {"shared", .text = "st.shared.u64 [kept], %a; ld.shared.u64 %p, [kept];"},
    {"local", .text = "st.local.u64 [stack], %a; ld.local.u64 %p, [stack];"},
    {"function", .text = "{ .param .b64 i0; .param .b64 o0; st.param.b64 [i0], %a; call "
                         "(o0), same, (i0); ld.param.b64 %p, [o0]; }"},
    {"shared distance", .beside = true,
     .text = "sub.u64 %q, %a, %b; st.shared.u64 [kept], %q; ld.shared.u64 %q, [kept]; add.u64 "
             "%p, %b, %q;"},
    {"local distance", .beside = true,
     .text = "sub.u64 %q, %a, %b; mov.u64 %p, stack; cvta.local.u64 %p, %p; st.u64 [%p], %q; "
             "ld.local.u64 %q, [stack]; add.u64 %p, %b, %q;"},
    {"returned distance", .beside = true,
     .text = "sub.u64 %q, %a, %b; { .param .b64 i0; .param .b64 o0; st.param.b64 [i0], %q; call "
             "(o0), same, (i0); ld.param.b64 %q, [o0]; } add.u64 %p, %b, %q;"},
    {"table and stride", .a = GIVEN_TABLE,
     .text = "ld.global.u64 %p, [%a+%t]; shl.b64 %q, %b, 2; add.u64 %p, %p, %q; setp.eq.u64 %pr, "
             "%q, 4; selp.b64 %p, %z, %p, %pr;"},
    {"table and distance", .a = GIVEN_TABLE, .beside = true,
     .text = "ld.global.u64 %p, [%a+%t]; add.u64 %q, %b, 4; sub.u64 %q, %q, %b; add.u64 %p, %p, "
             "%q; sub.u64 %p, %p, 4;"},
    {"variable", .a = GIVEN_NUMBER, .by_name = true, .text = "mov.u64 %p, variable;"},
};
enum { WAYS = sizeof ways / sizeof ways[0] };

/* ---- chains */

typedef enum kind { READS, WRITES, UPDATES, KINDS } kind;

typedef struct access {
    uint32_t way, target, other; /* `other`: the buffer of `beside` */
    kind kind;
    bool early, bulk;
} access;

typedef struct launch {
    access list[MOST_ACCESSES];
    uint32_t count, lane, module;
    uint32_t also; /* a launch of another lane that it waits for, too; itself: none */
    bool triggers_first, triggers_last, fence, stated;
} launch;

typedef struct program {
    launch launches[MOST_LAUNCHES];
    uint32_t count, rounds, changed; /* launch whose targets change for the second run */
    bool exposed;                    /* the host asks for the variable's address */
} program;

static uint64_t state;

static uint32_t below(uint32_t limit)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((state >> 33) % limit);
}

static void make_access(access *made, bool exposed)
{
    *made = (access){.way = below(WAYS),
                     .target = below(exposed ? TARGETS : BUFFERS),
                     .other = below(BUFFERS),
                     .kind = (kind)below(KINDS),
                     .early = below(3) == 0,
                     .bulk = below(4) == 0};
    if (below(2)) /* half of all by name, as programs are */
        made->way = 0;
    if (ways[made->way].by_name)
        made->target = BUFFERS;
}

static program make_program(uint64_t seed)
{
    program made = {0};

    state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    made.exposed = below(3) == 0;
    made.count = 2 + below(MOST_LAUNCHES - 1);
    made.rounds = 1 + below(2);
    const bool lanes = below(4) == 0;
    for (uint32_t i = 0; i < made.count; i++) {
        launch *each = &made.launches[i];
        each->count = 1 + below(MOST_ACCESSES);
        each->lane = lanes ? below(i < 2 ? i + 1 : 3) : 0;
        each->also = lanes ? below(i + 1) : i;
        each->module = below(4) == 0;
        each->triggers_first = below(4) != 0;
        each->triggers_last = below(2);
        each->fence = below(2);
        each->stated = below(4) == 0;
        for (uint32_t k = 0; k < each->count; k++)
            make_access(&each->list[k], made.exposed);
        if (each->module) { /* the other module has no variable of that name */
            for (uint32_t k = 0; k < each->count; k++)
                each->list[k].way = ways[each->list[k].way].by_name ? 0 : each->list[k].way;
        }
        for (uint32_t k = 0; k < each->count; k++) {
            if (!made.exposed && !ways[each->list[k].way].by_name &&
                each->list[k].target == BUFFERS)
                each->list[k].target = 0;
        }
    }
    for (uint32_t i = 0, known = 0; i < made.count; i++) { /* lanes are numbered without gaps */
        made.launches[i].lane = made.launches[i].lane < known ? made.launches[i].lane : known;
        known += made.launches[i].lane == known;
    }
    made.changed = below(made.count);
    return made;
}

/* ---- text */

/* A way's text with the numbers of an access put in. */
static void append_way(gd_text *text, const access *at, uint32_t number)
{
    for (const char *c = ways[at->way].text; *c; c++) {
        if (c[0] == '%' && c[1] == 't' && c[2] != 'i')
            gd_text_format(text, "%" PRIu32, at->target * 8), c++;
        else if (c[0] == '%' && c[1] == 'n')
            gd_text_format(text, "%" PRIu32, number), c++;
        else if (c[0] == '%' && c[1] == 'k')
            gd_text_format(text, "%" PRIu32, at->target), c++;
        else
            gd_text_format(text, "%c", *c);
    }
    gd_text_string(text, "\n");
}

/* Thread 0 alone goes on, behind what all have done; the others go to where it leaves. */
static const char first_thread[] = "bar.sync 0; setp.ne.u32 %pr, %x, 0; @%pr bra ";

static void append_bulk_read(gd_text *text, uint32_t place)
{
    gd_text_format(
        text,
        "%sREAD%" PRIu32 ";\nmbarrier.init.shared.b64 [bar+%" PRIu32
        "], 1; mbarrier.arrive.expect_tx.shared.b64 %%q, [bar+%" PRIu32
        "], 128; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[stage], [%%p], 128, [bar+%" PRIu32 "];\nREAD%" PRIu32 ": bar.sync 0;\nWAIT%" PRIu32
        ": mbarrier.try_wait.parity.shared.b64 %%pr, [bar+%" PRIu32 "], 0; @!%%pr bra WAIT%" PRIu32
        ";\nld.shared.u32 %%v, [%%own];\n",
        first_thread, place, place * 8, place * 8, place * 8, place, place, place * 8, place);
}

static void append_bulk_write(gd_text *text, uint32_t place, const char *copy)
{
    gd_text_format(text,
                   "st.shared.u32 [%%own], %%v; fence.proxy.async.shared::cta; %sWRITE%" PRIu32
                   ";\n%s [%%p], [stage], 128; cp.async.bulk.commit_group; "
                   "cp.async.bulk.wait_group 0;\nWRITE%" PRIu32 ": bar.sync 0;\n",
                   first_thread, place, copy, place);
}

/* The same by way of shared memory. */
static void append_bulk(gd_text *text, const access *at, uint32_t place, uint32_t index)
{
    if (at->kind != WRITES) {
        append_bulk_read(text, place);
        gd_text_string(text, "mad.lo.u32 %sum, %sum, 31, %v;\n");
    }
    if (at->kind == WRITES) {
        gd_text_format(text, "add.u32 %%v, %%x, %" PRIu32 ";\n", 1000 * (index + 1) + 100 * place);
        append_bulk_write(text, place, "cp.async.bulk.global.shared::cta.bulk_group");
    }
    if (at->kind == UPDATES) {
        gd_text_format(text, "mov.u32 %%v, %" PRIu32 ";\n", 7 * (index + 1));
        append_bulk_write(text, place,
                          "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32");
    }
}

static void append_access(gd_text *text, const access *at, uint32_t place, uint32_t index)
{
    gd_text_format(text, "ld.param.u64 %%a, [a%" PRIu32 "]; ld.param.u64 %%b, [b%" PRIu32 "];\n",
                   place, place);
    gd_text_format(text,
                   "ld.param.u32 %%lo, [lo%" PRIu32 "]; ld.param.u32 %%hi, [hi%" PRIu32 "];\n",
                   place, place);
    append_way(text, at, index * MOST_ACCESSES + place);
    if (at->bulk) {
        append_bulk(text, at, place, index);
        return;
    }
    gd_text_string(text, "add.u64 %p, %p, %at;\n");
    if (at->kind != WRITES)
        gd_text_string(text, "ld.global.u32 %v, [%p]; mad.lo.u32 %sum, %sum, 31, %v;\n");
    if (at->kind == WRITES)
        gd_text_format(text, "add.u32 %%v, %%x, %" PRIu32 "; st.global.u32 [%%p], %%v;\n",
                       1000 * (index + 1) + 100 * place);
    if (at->kind == UPDATES)
        gd_text_format(text, "add.u32 %%v, %%v, %" PRIu32 "; st.global.u32 [%%p], %%v;\n",
                       7 * (index + 1));
}

static void append_kernel(gd_text *text, const launch *each, uint32_t index)
{
    gd_text_format(text, ".visible .entry k%" PRIu32 "(", index);
    for (uint32_t k = 0; k < MOST_ACCESSES; k++)
        gd_text_format(text,
                       ".param .u64 a%" PRIu32 ", .param .u64 b%" PRIu32 ", .param .u32 lo%" PRIu32
                       ", .param .u32 hi%" PRIu32 ", ",
                       k, k, k, k);
    gd_text_string(text, ".param .align 8 .b8 s[16], .param .u64 zeros, .param .u64 out)\n{\n"
                         ".reg .pred %pr; .reg .b32 %i, %j, %v, %x, %sum, %lo, %hi;\n"
                         ".reg .b64 %a, %b, %p, %q, %z, %o, %at; .reg .b32 %own;\n"
                         ".shared .align 128 .b8 stage[128]; .shared .align 8 .b8 bar[16];\n"
                         ".shared .align 8 .b64 kept; .local .align 8 .b64 stack;\n"
                         "mov.u32 %x, %tid.x; mul.wide.u32 %at, %x, 4; mov.u32 %sum, 1;\n"
                         "mov.u32 %own, stage; mad.lo.u32 %own, %x, 4, %own;\n"
                         "ld.param.u64 %z, [zeros];\n");
    if (each->triggers_first)
        gd_text_string(text, "griddepcontrol.launch_dependents;\n");
    for (uint32_t k = 0; k < each->count; k++) {
        if (each->list[k].early)
            append_access(text, &each->list[k], k, index);
    }
    gd_text_string(text, "griddepcontrol.wait;\n");
    if (each->fence)
        gd_text_string(text, "fence.acq_rel.gpu;\n");
    if (each->triggers_last)
        gd_text_string(text, "griddepcontrol.launch_dependents;\n");
    for (uint32_t k = 0; k < each->count; k++) {
        if (!each->list[k].early)
            append_access(text, &each->list[k], k, index);
    }
    gd_text_string(text, "ld.param.u64 %o, [out]; add.u64 %o, %o, %at; st.global.u32 [%o], %sum;\n"
                         "ret;\n}\n");
}

static void append_module(gd_text *text, const program *made, uint32_t module)
{
    gd_text_string(text, ".version 8.0\n.target sm_90\n.address_size 64\n"
                         ".func (.param .b64 o) same(.param .b64 i)\n{\n.reg .b64 %d;\n"
                         "ld.param.b64 %d, [i]; st.param.b64 [o], %d; ret;\n}\n");
    if (!module)
        gd_text_string(text, ".global .align 128 .b8 variable[128];\n"
                             ".visible .entry clear()\n{\n.reg .b64 %p, %at; .reg .b32 %x;\n"
                             "mov.u32 %x, %tid.x; mul.wide.u32 %at, %x, 4; mov.u64 %p, variable;\n"
                             "add.u64 %p, %p, %at; st.global.u32 [%p], %x; ret;\n}\n");
    for (uint32_t i = 0; i < made->count; i++) {
        if (made->launches[i].module == module)
            append_kernel(text, &made->launches[i], i);
    }
}

/* ---- running */

static griddep_runtime *runtime;
static griddep_error error;
static griddep_kernel *clear; /* the variable, which nobody else may reach */
static uint64_t targets[TARGETS], outs, zeros, table, list, keyed;
static uint64_t seed_now, could, began;

static void must(int32_t status, const char *what)
{
    if (!status)
        return;
    fprintf(stderr, "chains: seed %" PRIu64 ": %s: %s: %s\n", seed_now, what,
            griddep_status_name(status), error.text);
    exit(2);
}

static void open_runtime(const char *driver)
{
    const griddep_runtime_options options = {
        .size = sizeof options, .driver = driver, .store_directory = ""};
    uint64_t *const memory[] = {&zeros, &table, &list, &keyed};

    must(griddep_runtime_open(&options, &runtime, &error), "the runtime");
    for (uint32_t i = 0; i < BUFFERS; i++)
        must(griddep_memory_allocate(runtime, BYTES, &targets[i], &error), "memory");
    must(griddep_memory_allocate(runtime, BYTES * MOST_LAUNCHES, &outs, &error), "memory");
    for (uint32_t i = 0; i < sizeof memory / sizeof memory[0]; i++) {
        must(griddep_memory_allocate(runtime, 16 * TARGETS, memory[i], &error), "memory");
        must(griddep_memory_fill(runtime, *memory[i], 0, 16 * TARGETS, NULL, &error), "a fill");
    }
}

/* All that a run may change, as it was; and what leads to it. */
static void reset(bool exposed)
{
    const griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {WORDS}};
    uint64_t addresses[TARGETS], secret[TARGETS], nodes[2 * TARGETS];

    must(griddep_launch(clear, &config, NULL, 0, NULL, &error), "clearing the variable");
    must(griddep_runtime_synchronize(runtime, &error), "the end");
    for (uint32_t i = 0; i < TARGETS; i++) {
        uint32_t words[WORDS];
        for (uint32_t k = 0; k < WORDS; k++)
            words[k] = 17 * i + k;
        if (targets[i])
            must(griddep_memory_write(runtime, targets[i], words, BYTES, NULL, &error), "a write");
        addresses[i] = i < BUFFERS || exposed ? targets[i] : 0;
        secret[i] = addresses[i] ^ key;
        nodes[2 * i] = list + 16 * (i + 1);
        nodes[2 * i + 1] = addresses[i];
    }
    must(griddep_memory_fill(runtime, outs, 0, BYTES * MOST_LAUNCHES, NULL, &error), "a fill");
    must(griddep_memory_write(runtime, table, addresses, sizeof addresses, NULL, &error),
         "a write");
    must(griddep_memory_write(runtime, keyed, secret, sizeof secret, NULL, &error), "a write");
    must(griddep_memory_write(runtime, list, nodes, sizeof nodes, NULL, &error), "a write");
}

typedef struct image {
    uint32_t words[TARGETS + MOST_LAUNCHES][WORDS];
} image;

static void take_image(image *taken)
{
    memset(taken, 0, sizeof *taken);
    for (uint32_t i = 0; i < TARGETS; i++) {
        if (targets[i])
            must(griddep_memory_read(runtime, taken->words[i], targets[i], BYTES, NULL, &error),
                 "a read");
    }
    must(griddep_memory_read(runtime, taken->words[TARGETS], outs, BYTES * MOST_LAUNCHES, NULL,
                             &error),
         "a read");
}

typedef struct arguments {
    griddep_argument list[4 * MOST_ACCESSES + 3];
    uint64_t structure[2];
} arguments;

static uint64_t value_of(const access *at, uint64_t address)
{
    const way *how = &ways[at->way];
    static const uint64_t *const memory[] = {
        [GIVEN_TABLE] = &table, [GIVEN_LIST] = &list, [GIVEN_KEYED] = &keyed};

    if (how->a == GIVEN_NUMBER)
        return 0;
    if (how->a != GIVEN_TARGET)
        return *memory[how->a];
    return (address >> how->shift) + (how->tagged ? tag : 0) - (how->biased ? bias : 0);
}

static void make_arguments(const launch *each, uint32_t index, arguments *made)
{
    griddep_argument *next = made->list;

    memset(made, 0, sizeof *made);
    made->structure[1] = 3;
    for (uint32_t k = 0; k < MOST_ACCESSES; k++) {
        const access *at = &each->list[k];
        const bool used = k < each->count;
        const uint64_t address = used ? targets[at->target] : 0;
        if (used && ways[at->way].in_struct)
            made->structure[0] = address;
        *next++ = (griddep_argument){.bytes = 8, .value = used ? value_of(at, address) : 0};
        *next++ = (griddep_argument){
            .bytes = 8, .value = used && ways[at->way].beside ? targets[at->other] : 0};
        const bool halves = used && ways[at->way].in_halves;
        *next++ = (griddep_argument){.bytes = 4, .value = halves ? address & UINT32_MAX : 0};
        *next++ = (griddep_argument){.bytes = 4, .value = halves ? address >> 32 : 0};
    }
    *next++ = (griddep_argument){.bytes = 16, .data = made->structure};
    *next++ = (griddep_argument){.bytes = 8, .value = zeros};
    *next++ = (griddep_argument){.bytes = 8, .value = outs + (uint64_t)BYTES * index};
}

/* All that it touches, of which the text may hide some. */
static void state_reach(griddep_chain *chain, uint32_t index, const launch *each)
{
    static const int32_t kinds[] = {
        [READS] = GRIDDEP_ACCESS_READ, [WRITES] = GRIDDEP_ACCESS_WRITE, GRIDDEP_ACCESS_UPDATE};
    griddep_use uses[MOST_ACCESSES] = {{0}};
    uint32_t count = 0;

    for (uint32_t k = 0; k < each->count; k++) {
        if (targets[each->list[k].target])
            uses[count++] = (griddep_use){.size = sizeof uses[0],
                                          .access = kinds[each->list[k].kind],
                                          .offset = targets[each->list[k].target],
                                          .bytes = BYTES};
    }
    if (each->stated)
        must(griddep_chain_set_reach(chain, index, uses, count, &error), "a reach");
}

enum { ARGUMENTS = 4 * MOST_ACCESSES + 3 };

static griddep_chain *make_chain(const program *made, griddep_module *const modules[2])
{
    griddep_chain *chain = NULL;

    must(griddep_chain_create(runtime, &chain, &error), "a chain");
    for (uint32_t i = 0; i < made->count; i++) {
        const launch *each = &made->launches[i];
        const griddep_launch_config config = {
            .size = sizeof config, .grid = {1}, .block = {WORDS}, .lane = each->lane};
        griddep_kernel *kernel = NULL;
        arguments given;
        char name[16];
        snprintf(name, sizeof name, "k%" PRIu32, i);
        make_arguments(each, i, &given);
        must(griddep_module_find_kernel(modules[each->module], name, &kernel, &error), name);
        must(griddep_chain_add(chain, kernel, &config, given.list, ARGUMENTS, &error), "a launch");
        state_reach(chain, i, each);
        if (i && each->lane != made->launches[i - 1].lane)
            must(griddep_chain_depend(chain, i, i - 1, &error), "a dependence");
        if (each->also + 1 < i && each->lane != made->launches[each->also].lane)
            must(griddep_chain_depend(chain, i, each->also, &error), "a dependence");
    }
    return chain;
}

static bool differs(griddep_chain *chain, const program *made, int32_t mode, const image *expected,
                    bool from_chain)
{
    griddep_graph *graph = NULL;
    image seen;

    reset(made->exposed);
    if (from_chain) {
        must(griddep_graph_from_chain(chain, mode, &graph, &error), "a graph");
        for (uint32_t i = 0; i < made->rounds; i++)
            must(griddep_graph_launch(graph, NULL, &error), "a launch of a graph");
    } else {
        must(griddep_chain_run_many(chain, mode, made->rounds, NULL, &error), "a run");
    }
    must(griddep_runtime_synchronize(runtime, &error), "the end");
    griddep_graph_destroy(graph);
    take_image(&seen);
    return memcmp(&seen, expected, sizeof seen) != 0;
}

static void count_early(griddep_chain *chain, const program *made)
{
    griddep_hop_info hop = {.size = sizeof hop};

    for (uint32_t i = 1; i < made->count; i++) {
        must(griddep_chain_get_hop(chain, GRIDDEP_MODE_GRAPH_PDL, i, &hop, &error), "a hop");
        could++;
        began += hop.reason == GRIDDEP_REASON_SET;
    }
}

/* Serial first, then all that may overlap. Returns what differed; NULL: nothing. */
static const char *run_all(griddep_chain *chain, const program *made)
{
    image expected;

    reset(made->exposed);
    must(griddep_chain_run_many(chain, GRIDDEP_MODE_SERIAL, made->rounds, NULL, &error), "a run");
    must(griddep_runtime_synchronize(runtime, &error), "the end");
    take_image(&expected);
    if (differs(chain, made, GRIDDEP_MODE_PDL, &expected, false))
        return "pdl";
    if (differs(chain, made, GRIDDEP_MODE_GRAPH_PDL, &expected, false))
        return "graph-pdl";
    return differs(chain, made, GRIDDEP_MODE_GRAPH_PDL, &expected, true) ? "graph of the chain"
                                                                         : NULL;
}

static const char *run_program(program *made, const gd_text texts[2])
{
    griddep_module *modules[2] = {NULL, NULL};
    uint64_t bytes = 0;
    arguments given;

    for (uint32_t i = 0; i < 2; i++)
        must(griddep_module_load(runtime, gd_text_get(&texts[i]),
                                 strlen(gd_text_get(&texts[i])) + 1, NULL, &modules[i], &error),
             "a module");
    targets[BUFFERS] = 0;
    if (made->exposed)
        must(griddep_module_get_global(modules[0], "variable", &targets[BUFFERS], &bytes, &error),
             "the variable");
    must(griddep_module_find_kernel(modules[0], "clear", &clear, &error), "clear");
    griddep_chain *chain = make_chain(made, modules);
    const char *where = run_all(chain, made);
    if (!where) {
        launch *changed = &made->launches[made->changed];
        count_early(chain, made);
        for (uint32_t k = 0; k < changed->count; k++) {
            if (ways[changed->list[k].way].a == GIVEN_TARGET)
                changed->list[k].target = (changed->list[k].target + 1) % BUFFERS;
        }
        make_arguments(changed, made->changed, &given);
        must(griddep_chain_set_arguments(chain, made->changed, given.list, ARGUMENTS, &error),
             "other arguments");
        state_reach(chain, made->changed, changed);
        where = run_all(chain, made) ? "other arguments" : NULL;
    }
    griddep_chain_destroy(chain);
    griddep_module_unload(modules[0]);
    griddep_module_unload(modules[1]);
    return where;
}

static void print_program(const program *made)
{
    static const char *const kinds[] = {"reads", "writes", "updates"};

    for (uint32_t i = 0; i < made->count; i++) {
        const launch *each = &made->launches[i];
        printf("  launch %" PRIu32 ", lane %" PRIu32 ", behind %" PRIu32 ", module %" PRIu32
               "%s%s%s%s:",
               i, each->lane, each->also, each->module, each->triggers_first ? ", triggers" : "",
               each->fence ? ", fence" : "", each->triggers_last ? ", triggers late" : "",
               each->stated ? ", states its reach" : "");
        for (uint32_t k = 0; k < each->count; k++)
            printf(" %s%s%s buffer %" PRIu32 " by %s (beside %" PRIu32 ");",
                   each->list[k].early ? "early " : "", each->list[k].bulk ? "bulk " : "",
                   kinds[each->list[k].kind], each->list[k].target, ways[each->list[k].way].name,
                   each->list[k].other);
        putchar('\n');
    }
    printf("  %" PRIu32 " rounds, launch %" PRIu32 " changes%s\n", made->rounds, made->changed,
           made->exposed ? ", the variable's address is known" : "");
}

int main(int argc, char **argv)
{
    const char *driver = getenv("EMULATED_DRIVER");
    uint64_t from = 1, count = 1000, failures = 0;
    bool print = false;

    for (int i = 1; i < argc; i++) {
        print |= !strcmp(argv[i], "--print");
        if (i + 1 < argc && !strcmp(argv[i], "--from"))
            from = strtoull(argv[++i], NULL, 10);
        else if (i + 1 < argc && !strcmp(argv[i], "--count"))
            count = strtoull(argv[++i], NULL, 10);
        else if (i + 1 < argc && !strcmp(argv[i], "--driver"))
            driver = argv[++i];
        else if (strcmp(argv[i], "--print"))
            return fprintf(stderr, "chains: the head comment of chains.c has the options\n"), 2;
    }
    griddep_error_init(&error);
    open_runtime(driver ? driver : "emulated");
    for (uint64_t seed = from; seed < from + count; seed++) {
        program made = make_program(seed_now = seed);
        gd_text texts[2] = {{0}, {0}};
        for (uint32_t i = 0; i < 2; i++)
            append_module(&texts[i], &made, i);
        if (print) {
            print_program(&made);
            printf("%s\n%s\n", gd_text_get(&texts[0]), gd_text_get(&texts[1]));
        }
        const char *where = run_program(&made, texts);
        if (where) {
            printf("seed %" PRIu64 ": %s differs from the serial run\n", seed, where);
            print_program(&made);
            failures++;
        }
        gd_text_free(&texts[0]);
        gd_text_free(&texts[1]);
    }
    printf("%" PRIu64 " chains, %" PRIu64 " differ; %" PRIu64 " of %" PRIu64
           " launches behind another began early\n",
           count, failures, began, could);
    griddep_runtime_close(runtime);
    return failures ? 1 : 0;
}
