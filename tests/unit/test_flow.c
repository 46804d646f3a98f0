/* Control flow and provenance: hand-made functions, and random graphs against an oracle that knows
 * nothing but the definitions (what can be reached when a block is taken away). */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "griddep.h"
#include "ptx/flow/flow.h"
#include "ptx/flow/provenance.h"
#include "ptx/handle/ptx.h"
#include "suite.h"
#include "unit/fail_alloc.h"
#include "unit/status.h"

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"
#define ENTRY HEAD ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n)\n{\n"

static griddep_error error;

static griddep_ptx *parse(const char *text)
{
    griddep_ptx *ptx = NULL;
    int32_t status = griddep_ptx_parse(text, strlen(text), "test", &ptx, &error);

    ck_assert_msg(status == GRIDDEP_OK, "%s\n%s", error.text, text);
    return ptx;
}

static gd_flow *build(const griddep_ptx *ptx)
{
    gd_flow *flow = NULL;
    int32_t status = gd_flow_create(&ptx->module, ptx->module.entries[0], &flow, &error);

    ck_assert_msg(status == GRIDDEP_OK, "%s", error.text);
    return flow;
}

/* ---- the oracle ---- */

enum { MOST_BLOCKS = 24 };

typedef struct graph {
    uint32_t count; /* blocks; the exit is one more */
    bool edge[MOST_BLOCKS + 1][MOST_BLOCKS + 1];
} graph;

/* What can be reached from a block without passing another. */
static void reach(const graph *g, uint32_t from, uint32_t without, bool against, bool *seen)
{
    uint32_t work[MOST_BLOCKS + 1], count = 0;

    memset(seen, 0, (MOST_BLOCKS + 1) * sizeof *seen);
    if (from == without)
        return;
    seen[from] = true;
    work[count++] = from;
    while (count) {
        uint32_t block = work[--count];
        for (uint32_t i = 0; i <= g->count; i++) {
            bool has = against ? g->edge[i][block] : g->edge[block][i];
            if (has && !seen[i] && i != without) {
                seen[i] = true;
                work[count++] = i;
            }
        }
    }
}

static bool in_cycle(const graph *g, uint32_t block)
{
    bool seen[MOST_BLOCKS + 1];

    for (uint32_t i = 0; i <= g->count; i++) {
        if (!g->edge[block][i])
            continue;
        reach(g, i, GD_PTX_NONE, false, seen);
        if (seen[block])
            return true;
    }
    return false;
}

static void check_dominance(const gd_flow *flow, const graph *g, bool against)
{
    bool from_root[MOST_BLOCKS + 1], seen[MOST_BLOCKS + 1];
    uint32_t root = against ? g->count : 0;

    reach(g, root, GD_PTX_NONE, against, from_root);
    for (uint32_t a = 0; a < g->count; a++) {
        reach(g, root, a, against, seen);
        for (uint32_t b = 0; b < g->count; b++) {
            uint32_t first = flow->blocks[a].instruction, second = flow->blocks[b].instruction;
            bool expected = a == b || (from_root[a] && from_root[b] && !seen[b]);
            bool found = against ? gd_flow_postdominates(flow, first, second)
                                 : gd_flow_dominates(flow, first, second);
            ck_assert_msg(found == expected, "%s: %u over %u is %d, expected %d",
                          against ? "post" : "dom", a, b, found, expected);
        }
    }
}

/* The immediate one is the one that all others stand above. */
static void check_immediate(const gd_flow *flow, const graph *g)
{
    bool from_root[MOST_BLOCKS + 1], seen[MOST_BLOCKS + 1], strict[MOST_BLOCKS + 1];

    reach(g, 0, GD_PTX_NONE, false, from_root);
    for (uint32_t b = 0; b < g->count; b++) {
        uint32_t expected = GD_PTX_NONE, above = 0, most = 0;
        for (uint32_t a = 0; a < g->count; a++) {
            reach(g, 0, a, false, seen);
            strict[a] = a != b && from_root[a] && from_root[b] && !seen[b];
        }
        for (uint32_t a = 0; a < g->count; a++) {
            if (!strict[a])
                continue;
            above = 1;
            for (uint32_t c = 0; c < g->count; c++)
                above += strict[c] && c != a &&
                         gd_flow_dominates(flow, flow->blocks[c].instruction,
                                           flow->blocks[a].instruction);
            if (above > most) {
                most = above;
                expected = a;
            }
        }
        ck_assert_uint_eq(flow->blocks[b].dominator, expected);
    }
}

static bool is_back_edge(const graph *g, const bool *from_root, uint32_t v, uint32_t h)
{
    bool seen[MOST_BLOCKS + 1];

    reach(g, 0, h, false, seen);
    return g->edge[v][h] && from_root[v] && from_root[h] && !seen[v];
}

/* Natural loops by their definition: the header, and what reaches one of its back edges without
 * passing it. */
static uint32_t find_loops(const graph *g, bool member[MOST_BLOCKS + 1][MOST_BLOCKS + 1])
{
    bool from_root[MOST_BLOCKS + 1], seen[MOST_BLOCKS + 1];
    uint32_t headers = 0;

    reach(g, 0, GD_PTX_NONE, false, from_root);
    memset(member, 0, sizeof(bool[MOST_BLOCKS + 1][MOST_BLOCKS + 1]));
    for (uint32_t h = 0; h < g->count; h++) {
        for (uint32_t v = 0; v < g->count; v++) {
            if (!is_back_edge(g, from_root, v, h))
                continue;
            headers += !member[h][h];
            member[h][h] = true;
            reach(g, v, h, true, seen);
            for (uint32_t i = 0; i < g->count; i++)
                member[h][i] |= seen[i] && from_root[i];
        }
    }
    return headers;
}

static bool is_reducible(const graph *g)
{
    graph rest = *g;
    bool from_root[MOST_BLOCKS + 1];

    reach(g, 0, GD_PTX_NONE, false, from_root);
    for (uint32_t v = 0; v < g->count; v++) {
        for (uint32_t h = 0; h < g->count; h++) {
            if (!from_root[v] || is_back_edge(g, from_root, v, h))
                rest.edge[v][h] = false;
        }
    }
    for (uint32_t i = 0; i < g->count; i++) {
        if (from_root[i] && in_cycle(&rest, i))
            return false;
    }
    return true;
}

static void check_loops(const gd_flow *flow, const graph *g)
{
    bool member[MOST_BLOCKS + 1][MOST_BLOCKS + 1], from_root[MOST_BLOCKS + 1];
    bool reducible = is_reducible(g);

    reach(g, 0, GD_PTX_NONE, false, from_root);
    find_loops(g, member);
    ck_assert_int_eq(flow->irreducible, !reducible);
    for (uint32_t b = 0; b < g->count; b++) {
        uint32_t depth = 0, smallest = GD_PTX_NONE, size = MOST_BLOCKS + 2;
        ck_assert_int_eq(gd_flow_repeats(flow, b), from_root[b] && in_cycle(g, b));
        for (uint32_t h = 0; h < g->count; h++) {
            uint32_t members = 0;
            for (uint32_t i = 0; i < g->count; i++)
                members += member[h][i];
            depth += member[h][b];
            if (member[h][b] && members < size) {
                size = members;
                smallest = h;
            }
        }
        if (!reducible)
            continue;
        ck_assert_uint_eq(flow->blocks[b].depth, depth);
        ck_assert_uint_eq(flow->blocks[b].loop, smallest);
    }
}

static void check_order(const gd_flow *flow, const graph *g)
{
    bool from_root[MOST_BLOCKS + 1];
    uint32_t count = 0;

    reach(g, 0, GD_PTX_NONE, false, from_root);
    for (uint32_t i = 0; i <= g->count; i++) {
        count += from_root[i];
        ck_assert_int_eq(flow->blocks[i].order != GD_PTX_NONE, from_root[i]);
        if (from_root[i])
            ck_assert_uint_eq(flow->order[flow->blocks[i].order], i);
        if (from_root[i] && flow->blocks[i].dominator != GD_PTX_NONE)
            ck_assert_uint_lt(flow->blocks[flow->blocks[i].dominator].order, flow->blocks[i].order);
    }
    ck_assert_uint_eq(flow->order_count, count);
    if (from_root[g->count])
        ck_assert_uint_eq(flow->order[count - 1], g->count);
}

static void check_edges(const gd_flow *flow, const graph *g)
{
    for (uint32_t i = 0; i <= g->count; i++) {
        uint32_t out = 0, in = 0;
        for (uint32_t j = 0; j <= g->count; j++) {
            out += g->edge[i][j];
            in += g->edge[j][i];
        }
        ck_assert_uint_eq(flow->blocks[i].successor_end - flow->blocks[i].successor, out);
        ck_assert_uint_eq(flow->blocks[i].predecessor_end - flow->blocks[i].predecessor, in);
        for (uint32_t e = flow->blocks[i].successor; e < flow->blocks[i].successor_end; e++)
            ck_assert(g->edge[i][flow->edges[e]]);
        for (uint32_t e = flow->blocks[i].predecessor; e < flow->blocks[i].predecessor_end; e++)
            ck_assert(g->edge[flow->edges[e]][i]);
    }
}

/* A graph as PTX: each block begins with a label and ends as its edges ask for. */
static void draw(gd_text *text, const graph *g)
{
    gd_text_string(text, ENTRY "  .reg .pred p;\n  .reg .b32 r;\n");
    for (uint32_t i = 0; i < g->count; i++) {
        gd_text_format(text, "B%" PRIu32 ":\n  add.u32 r, r, 1;\n", i);
        uint32_t targets[MOST_BLOCKS], count = 0;
        for (uint32_t j = 0; j < g->count; j++) {
            if (g->edge[i][j])
                targets[count++] = j;
        }
        bool exits = g->edge[i][g->count];
        if (count > 1)
            gd_text_format(text, "  {\n  T%" PRIu32 ": .branchtargets ", i);
        for (uint32_t j = 0; count > 1 && j < count; j++)
            gd_text_format(text, "%sB%" PRIu32, j ? ", " : "", targets[j]);
        if (count > 1)
            gd_text_format(text, ";\n  %sbrx.idx r, T%" PRIu32 ";\n  }\n", exits ? "@p " : "", i);
        else if (count == 1)
            gd_text_format(text, "  %sbra B%" PRIu32 ";\n", exits ? "@!p " : "", targets[0]);
        gd_text_string(text, exits ? "  ret;\n" : count ? "" : "  trap;\n");
    }
    gd_text_string(text, "}\n");
}

static uint32_t state;

static uint32_t random_below(uint32_t bound)
{
    state = state * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)(state >> 4) * bound >> 28);
}

static void make_random(graph *g, uint32_t blocks, uint32_t edges)
{
    *g = (graph){.count = blocks};
    for (uint32_t i = 0; i < edges; i++)
        g->edge[random_below(blocks)][random_below(blocks)] = true;
    for (uint32_t i = 0; i + 1 < blocks; i++)
        g->edge[i][i + 1] |= random_below(3) != 0;
    for (uint32_t i = 0; i < blocks; i++)
        g->edge[i][blocks] = random_below(6) == 0;
}

/* A guarded brx in front of a ret makes a block of the ret: the graph must have it too. */
static void split_exits(graph *g)
{
    graph split = {0};
    uint32_t place[MOST_BLOCKS + 1], count = 0;

    for (uint32_t i = 0; i <= g->count; i++) {
        place[i] = count++;
        bool branches = false;
        for (uint32_t j = 0; j < g->count; j++)
            branches |= g->edge[i][j];
        count += i < g->count && branches && g->edge[i][g->count];
    }
    split.count = count - 1;
    for (uint32_t i = 0; i < g->count; i++) {
        bool has_own = place[i + 1] - place[i] == 2;
        for (uint32_t j = 0; j < g->count; j++)
            split.edge[place[i]][place[j]] = g->edge[i][j];
        split.edge[has_own ? place[i] + 1 : place[i]][split.count] = g->edge[i][g->count];
        if (has_own)
            split.edge[place[i]][place[i] + 1] = true;
    }
    *g = split;
}

TEST_GROUP(graphs, NULL, NULL);
TEST_GROUP(size, NULL, NULL);
TEST_GROUP(origins, NULL, NULL);

LOOP_TEST(graphs, random_graphs, 40)
{
    state = (uint32_t)_i * 2654435761u + 1;
    for (uint32_t round = 0; round < 60; round++) {
        uint32_t blocks = 1 + random_below(MOST_BLOCKS / 2);
        graph g;
        gd_text text = {0};
        make_random(&g, blocks, random_below(2 * blocks + 1));
        draw(&text, &g);
        split_exits(&g);
        griddep_ptx *ptx = parse(gd_text_get(&text));
        gd_flow *flow = build(ptx);
        ck_assert_uint_eq(flow->count, g.count);
        check_edges(flow, &g);
        check_order(flow, &g);
        check_dominance(flow, &g, false);
        check_dominance(flow, &g, true);
        check_immediate(flow, &g);
        check_loops(flow, &g);
        gd_flow_destroy(flow);
        griddep_ptx_destroy(ptx);
        gd_text_free(&text);
    }
}

/* ---- hand-made flows ---- */

TEST(graphs, guards_and_ends)
{
    griddep_ptx *ptx = parse(ENTRY "  .reg .pred p;\n"
                                   "  @p exit;\n"            /* 0 */
                                   "  @p bra DONE;\n"        /* 1 */
                                   "  membar.gl;\n  trap;\n" /* 2 */
                                   "LOST: bra LOST;\n"       /* 3: not reached */
                                   "DONE:\n}\n");
    gd_flow *flow = build(ptx);

    ck_assert_uint_eq(flow->count, 4);
    ck_assert_uint_eq(flow->blocks[0].successor_end - flow->blocks[0].successor, 2);
    ck_assert_uint_eq(flow->blocks[1].postdominator, 4);
    ck_assert_uint_eq(flow->blocks[2].successor_end, flow->blocks[2].successor);
    ck_assert_uint_eq(flow->blocks[2].postdominator, GD_PTX_NONE);
    ck_assert_uint_eq(flow->blocks[3].order, GD_PTX_NONE);
    ck_assert(!gd_flow_repeats(flow, 3));
    ck_assert_uint_eq(flow->blocks[4].dominator, 0);
    uint32_t first = flow->blocks[0].instruction;
    ck_assert(gd_flow_dominates(flow, first, first + 3));
    ck_assert(gd_flow_dominates(flow, first + 2, first + 3));
    ck_assert(!gd_flow_dominates(flow, first + 3, first + 2));
    ck_assert(gd_flow_postdominates(flow, first, first));
    ck_assert(!gd_flow_postdominates(flow, first + 1, first));
    gd_flow_destroy(flow);
    griddep_ptx_destroy(ptx);
}

static void check_anywhere(const char *body, bool anywhere, uint32_t successors)
{
    gd_text text = {0};

    gd_text_string(&text, ENTRY "  .reg .pred p;\n  .reg .b32 r;\n");
    gd_text_string(&text, body);
    gd_text_string(&text, "\nA: membar.gl;\n ret;\nB: membar.gl;\n ret;\n}\n");
    griddep_ptx *ptx = parse(gd_text_get(&text));
    gd_flow *flow = build(ptx);
    ck_assert_msg(flow->blocks[0].anywhere == anywhere, "%s", body);
    ck_assert_msg(flow->blocks[0].successor_end - flow->blocks[0].successor == successors,
                  "%s: %" PRIu32, body, flow->blocks[0].successor_end - flow->blocks[0].successor);
    gd_flow_destroy(flow);
    griddep_ptx_destroy(ptx);
    gd_text_free(&text);
}

TEST(graphs, branches_anywhere)
{
    check_anywhere("bra A;", false, 1);
    check_anywhere("@p bra B;", false, 2);
    check_anywhere("@p bra A;", false, 1);
    check_anywhere("bra NOWHERE;", true, 3);
    check_anywhere("brx.idx r, LIST;", true, 3);
    check_anywhere("brx.idx r, A;", true, 3);
    check_anywhere("L: .branchtargets A, B;\n brx.idx r, L;", false, 2);
    check_anywhere("L: .branchtargets A, B, C;\n brx.idx r, L;", true, 3);
    check_anywhere("newfangled.op r;", true, 3);
    check_anywhere("newfangled.op r;\n ret;", true, 4);
    check_anywhere("exit;", false, 1);
    check_anywhere("@p ret;", false, 2);
    check_anywhere("bar.sync 0;", false, 1);
}

TEST(graphs, calls)
{
    griddep_ptx *ptx =
        parse(HEAD ".func f() { ret; }\n.func g() .noreturn;\n"
                   ".visible .entry k()\n{\n  .reg .b64 r;\n  .reg .pred p;\n"
                   "  call f;\n  @p call g;\n  call f;\n"
                   "P: .callprototype _ () .noreturn;\n  call r, (), P;\n  ret;\n}\n");
    gd_flow *flow = build(ptx);

    ck_assert_uint_eq(flow->count, 3);
    ck_assert_uint_eq(flow->blocks[0].instruction_end - flow->blocks[0].instruction, 2);
    ck_assert_uint_eq(flow->blocks[0].successor_end - flow->blocks[0].successor, 1);
    ck_assert_uint_eq(flow->blocks[1].successor_end, flow->blocks[1].successor);
    ck_assert_uint_eq(flow->blocks[3].order, GD_PTX_NONE);
    gd_flow_destroy(flow);
    griddep_ptx_destroy(ptx);
}

TEST(graphs, empty_body)
{
    griddep_ptx *ptx = parse(HEAD ".visible .entry k() { }\n");
    gd_flow *flow = build(ptx);

    ck_assert_uint_eq(flow->count, 0);
    ck_assert_uint_eq(flow->order_count, 1);
    gd_flow_destroy(flow);
    griddep_ptx_destroy(ptx);
}

/* ---- size ---- */

static double seconds_since(clock_t start)
{
    return (double)(clock() - start) / CLOCKS_PER_SEC;
}

/* Builds flow and provenance of a large text; must not take more than some seconds, sanitizers
 * included. */
static void check_large(gd_text *text)
{
    clock_t start = clock();
    griddep_ptx *ptx = parse(gd_text_get(text));
    gd_flow *flow = build(ptx);
    gd_origins *origins = NULL;

    ck_good(gd_origins_create(&ptx->module, ptx->module.entries[0], &origins, &error));
    ck_assert_double_lt(seconds_since(start), 30);
    gd_origins_destroy(origins);
    gd_flow_destroy(flow);
    griddep_ptx_destroy(ptx);
    gd_text_free(text);
}

enum { MANY = 300000 };

TEST(size, many_labels)
{
    gd_text text = {0};

    gd_text_string(&text, ENTRY ".reg .pred p;\n");
    for (uint32_t i = 0; i < MANY; i++)
        gd_text_format(&text, "L%" PRIu32 ": @p bra L%" PRIu32 ";\n", i, i * 7919 % MANY);
    gd_text_string(&text, "}\n");
    check_large(&text);
}

TEST(size, nested_loops)
{
    gd_text text = {0};

    gd_text_string(&text, ENTRY ".reg .pred p;\n");
    for (uint32_t i = 0; i < MANY; i++)
        gd_text_format(&text, "L%" PRIu32 ":\nmembar.gl;\n", i);
    for (uint32_t i = MANY; i-- > 0;)
        gd_text_format(&text, "@p bra L%" PRIu32 ";\n", i);
    gd_text_string(&text, "}\n");
    check_large(&text);
}

/* A ladder that costs simple iteration a pass for each rung. */
TEST(size, irreducible_ladder)
{
    gd_text text = {0};

    gd_text_string(&text, ENTRY ".reg .pred p;\n@p bra R0;\n");
    for (uint32_t i = 0; i < MANY / 2; i++)
        gd_text_format(&text, "L%" PRIu32 ": @p bra R%" PRIu32 ";\n", i, i);
    gd_text_string(&text, "ret;\n");
    for (uint32_t i = 0; i < MANY / 2; i++)
        gd_text_format(&text, "R%" PRIu32 ": @p bra L%" PRIu32 ";\n", i, i ? i - 1 : 0);
    gd_text_string(&text, "}\n");
    check_large(&text);
}

TEST(size, chained_values)
{
    gd_text text = {0};

    gd_text_string(&text, ENTRY ".reg .b64 %rd<300001>;\nld.param.u64 %rd0, [a];\n");
    for (uint32_t i = MANY; i-- > 0;)
        gd_text_format(&text, "add.u64 %%rd%" PRIu32 ", %%rd%" PRIu32 ", 1;\n", i + 1, i);
    gd_text_string(&text, "}\n");
    check_large(&text);
}

TEST(size, edge_limit)
{
    gd_text text = {0};

    gd_text_string(&text, ENTRY);
    for (uint32_t i = 0; i < 8192; i++)
        gd_text_format(&text, "L%" PRIu32 ": bra NOWHERE;\n", i);
    gd_text_string(&text, "}\n");
    griddep_ptx *ptx = parse(gd_text_get(&text));
    gd_flow *flow = (gd_flow *)&text;
    ck_assert_int_eq(gd_flow_create(&ptx->module, 0, &flow, &error), GRIDDEP_ERROR_LIMIT);
    ck_assert_ptr_eq(flow, &text);
    ck_assert_msg(strstr(error.text, "GD_PTX_LIMIT_EDGES") != NULL, "%s", error.text);
    griddep_ptx_destroy(ptx);
    gd_text_free(&text);
}

/* ---- provenance ---- */

typedef struct origin_case {
    const char *text; /* must define %rd9, the register that is asked for */
    uint32_t flags;
    const char *parameters; /* "ab", and behind a stroke those that are scaled */
} origin_case;

enum {
    U = GD_ORIGIN_UNKNOWN,
    S = GD_ORIGIN_SHARED,
    L = GD_ORIGIN_LOCAL,
    G = GD_ORIGIN_GLOBAL,
    T = GD_ORIGIN_THREAD
};
enum { B = GD_ORIGIN_BLOCK, M = GD_ORIGIN_MEMORY, N = GD_ORIGIN_NUMBER, W = GD_ORIGIN_WIDE };
enum { D = GD_ORIGIN_DISTANCE };

#define A_B                                                                                        \
    "ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u32 %r1, [n]; mov.u32 %r2, "         \
    "%tid.x;\n"

static const origin_case origin_cases[] = {
    {"ld.param.u64 %rd9, [a];", 0, "a"},
    {A_B "cvta.to.global.u64 %rd9, %rd2;", 0, "b"},
    {A_B "mul.wide.u32 %rd3, %r2, 4; add.s64 %rd9, %rd1, %rd3;", T, "a"},
    {A_B "cvt.u64.u32 %rd3, %r1; add.s64 %rd9, %rd1, %rd3;", 0, "a"},
    {A_B "mad.wide.u32 %rd9, %r2, 4, %rd1;", T, "a"},
    {A_B "mad.lo.u64 %rd9, %rd1, 4, %rd2;", 0, "b/a"},
    {A_B "setp.eq.u32 %p1, %r2, 0; selp.b64 %rd9, %rd1, %rd2, %p1;", T, "ab"},
    {A_B "setp.eq.u32 %p1, %r2, 0; @%p1 mov.u64 %rd9, %rd1;", T, "a"},
    {A_B "mov.u64 %rd9, %rd1; mov.u64 %rd9, %rd2;", 0, "b"},
    {A_B "mov.u64 %rd9, %rd1; @%p1 mov.u64 %rd9, %rd2;", 0, "ab"},
    {A_B "mov.u64 %rd9, %rd1; @%p1 bra L; mov.u64 %rd9, %rd2; L: mov.u64 %rd3, %rd9;", 0, "ab"},
    {A_B "L: add.u64 %rd9, %rd9, 8; mov.u64 %rd9, %rd1; @%p1 bra L; mov.u64 %rd9, %rd2; "
         "st.global.u64 [%rd9], %rd1;",
     0, "b"},
    {A_B "mul.lo.u64 %rd9, %rd1, 1;", 0, "/a"},
    {A_B "shr.u64 %rd9, %rd1, 1;", 0, "/a"},
    {A_B "bfe.u64 %rd9, %rd1, 0, 48;", 0, "/a"},
    {A_B "div.u64 %rd3, %rd1, 4; add.u64 %rd9, %rd2, %rd3;", 0, "b/a"},
    {A_B "sub.u64 %rd3, %rd2, %rd1; shr.s64 %rd3, %rd3, 2; mad.lo.u64 %rd9, %rd3, 4, %rd1;", 0,
     "a/ab"},
    {A_B "setp.lt.u64 %p1, %rd1, %rd2; selp.b64 %rd9, 1, 2, %p1;", 0, ""},
    {A_B "mov.u64 %rd3, gl; shl.b64 %rd9, %rd3, 1;", G, ""},
    {A_B "and.b64 %rd9, %rd1, -16;", 0, "a"},
    {A_B "mov.b64 {%r3, %r4}, %rd1; mov.b64 %rd9, {%r3, %r4};", 0, "a"},
    {A_B "mov.b64 {%r3, %r4}, %rd1; mov.b64 %rd9, {%r3, %r1};", U | N | W, "a"},
    {A_B "mov.b64 %rd9, {%r1, %r1};", N | W, ""},
    {A_B "mov.b64 %rd3, {%r1, %r1}; add.u64 %rd9, %rd1, %rd3;", W, "a"},
    {A_B ".reg .v2 .b32 %h; mov.b64 %h, %rd1; mov.b32 %h.y, %r1; mov.b64 %rd9, %h;", U | N, "a"},
    {A_B "mov.u64 %rd9, %rd1+(4*2);", 0, "a"},
    {A_B "ld.global.u64 %rd9, [%rd1];", N | W | M, ""},
    {A_B "ld.global.u32 %r3, [%rd1]; cvt.u64.u32 %rd3, %r3; shl.b64 %rd9, %rd3, 8;", N | M, ""},
    {A_B "ld.global.u64 %rd3, [%rd1]; selp.b64 %rd9, %rd3, %rd2, %p1;", N | W | M, "b"},
    {A_B "mov.u64 %rd9, %rd1; L: ld.global.u64 %rd9, [%rd9+8]; @%p1 bra L;", N | W | M, "a"},
    {A_B "mov.u64 %rd9, %rd1; L: mov.u64 %rd3, %rd9; ld.global.u64 %rd4, [%rd3]; @%p1 mov.u64 "
         "%rd9, %rd4; @%p1 bra L; st.global.u64 [%rd9], %rd1;",
     N | W | M, "a/a"},
    {A_B "ld.global.u64 %rd3, [%rd1]; mul.lo.u64 %rd3, %rd3, %rd2; add.u64 %rd9, %rd3, 8;",
     N | W | M, "/b"},
    {A_B "ld.global.u64 %rd3, [%rd1]; mad.lo.u64 %rd9, %rd3, %rd2, %rd1;", W | M, "a/b"},
    {A_B "ld.global.u32 %r3, [%rd1]; mul.wide.u32 %rd3, %r3, 4; add.s64 %rd9, %rd2, %rd3;", M, "b"},
    {A_B "ld.global.u32 %r3, [%rd1]; cvt.u64.u32 %rd3, %r3; add.s64 %rd9, %rd2, %rd3;", M, "b"},
    {A_B "ld.global.u64 %rd3, [%rd1]; add.s64 %rd9, %rd2, %rd3;", W | M, "b"},
    {A_B "ld.global.v2.u64 {%rd3, %rd9}, [%rd1];", N | W | M, ""},
    {A_B "ld.u64 %rd9, [%rd1];", N | W | M, ""},
    {A_B "ld.u64 %rd9, [%rd9];", N | W | M | T, ""},
    {"ld.shared.u64 %rd9, [sm];", N | W | M | T, ""},
    {"ld.const.u64 %rd9, [co];", N | W, ""},
    {"mov.u64 %rd9, sm;", S, ""},
    {"mov.u64 %rd9, gl;", G, ""},
    {"mov.u64 %rd9, gl+8;", G, ""},
    {"mov.u64 %rd9, (8 + 8) * 4;", U, ""},
    {"mov.u64 %rd3, lo; cvta.local.u64 %rd9, %rd3;", L, ""},
    {"mov.u64 %rd9, a; ld.param.u64 %rd9, [%rd9+8];", 0, "a"},
    {A_B "st.local.u64 [lo], %rd1; st.local.u64 [lo+8], %rd2; ld.local.u64 %rd9, [lo];", 0, "ab"},
    {A_B "st.local.u64 [lo], %rd1; mov.u64 %rd3, lo; st.global.u64 [%rd2], %rd3; ld.local.u64 "
         "%rd9, [lo];",
     N | W | T | B | M, "a"},
    {A_B "{ .param .b64 pa; .param .b64 pr; st.param.b64 [pa], %rd1; call (pr), fn, (pa); "
         "ld.param.b64 %rd9, [pr]; }",
     N | W | T | B | M, "/a"},
    {A_B "call (%rd9), fn, (%rd1);", N | W | T | B | M, "/a"},
    {A_B "st.shared.u64 [sm], %rd1; ld.shared.u8 %rd3, [sm]; add.u64 %rd9, %rd2, %rd3;", T | M,
     "b/a"},
    {A_B "atom.shared.exch.b32 %r3, [sm], %r1; st.global.u32 [%rd1], %r3; ld.global.u64 %rd9, "
         "[%rd2];",
     N | W | M, ""},
    {A_B "mov.u64 %rd3, lo; st.u64 [%rd3], %rd2; ld.local.u64 %rd9, [lo];", N | W | T | B | M,
     "/b"},
    {A_B "mov.u64 %rd3, lo; st.local.u64 [lo], %rd2; ld.u64 %rd9, [%rd3];", N | W | M | T, "/b"},
    {A_B "ld.global.u64 %rd3, [%rd1]; shl.b64 %rd4, %rd2, 3; add.u64 %rd9, %rd3, %rd4;", N | W | M,
     "/b"},
    {A_B "ld.global.u64 %rd3, [%rd1]; sub.u64 %rd4, %rd2, %rd1; add.u64 %rd9, %rd3, %rd4;",
     W | M | D, "ab"},
    {A_B "sub.u64 %rd4, %rd2, %rd1; shr.s64 %rd4, %rd4, 2; mad.lo.u64 %rd9, %rd4, 4, %rd1;", 0,
     "a/ab"},
    {A_B "mov.u64 %rd3, gl; neg.s64 %rd3, %rd3; add.u64 %rd9, %rd1, %rd3;", G | D, "a"},
    {A_B "mul.wide.u32 %rd3, %r2, 4; sub.u64 %rd9, %rd1, %rd3;", T, "a"},
    {"mov.u64 %rd9, fn;", U, ""},
    {A_B "newfangled.b64 %rd3, %rd9;", N | W | T | B | M, ""},
    {A_B "atom.global.add.u64 %rd9, [%rd1], 1;", N | W | T | B | M, ""},
    {A_B "atom.global.add.u32 %r3, [%rd1], 1; mul.wide.u32 %rd3, %r3, 4; add.s64 %rd9, %rd1, %rd3;",
     T | B | M, "a"},
    {A_B "shfl.sync.idx.b32 %r3|%p1, %r1, 0, 31, -1; cvt.u64.u32 %rd9, %r3;", N | T, ""},
    {"mov.u32 %r1, %ctaid.x; cvt.u64.u32 %rd9, %r1;", B, ""},
    {"mov.u32 %r1, %nctaid.x; cvt.u64.u32 %rd9, %r1;", 0, ""},
    {"mov.u64 %rd9, %clock64;", T | B, ""},
    {"mov.u64 %rd9, %from_the_future;", N | W | T | B | M, ""},
    {"mov.u32 %r1, WARP_SZ; cvt.u64.u32 %rd9, %r1;", 0, ""},
    {"mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; barrier.red.or.pred %p2, 0, %p1; selp.b64 "
     "%rd9, 1, 2, %p2;",
     B, ""},
    {"elect.sync _|%p1, -1; selp.b64 %rd9, 1, 2, %p1;", T, ""},
    {"mov.b64 %v, {%r1, %r2}; mov.b64 %rd9, 4;", 0, ""},
};

static uint32_t find_register(const gd_ptx_module *module, const char *name)
{
    for (uint32_t i = module->operand_count; i-- > 0;) {
        uint32_t length;
        const char *text = gd_ptx_token_text(module, module->operands[i].token, &length);
        if (module->operands[i].kind == GD_OPERAND_REGISTER && length == strlen(name) &&
            memcmp(text, name, length) == 0)
            return i;
    }
    return GD_PTX_NONE;
}

LOOP_TEST(origins, origins, sizeof origin_cases / sizeof origin_cases[0])
{
    const origin_case *item = &origin_cases[_i];
    gd_text text = {0};
    gd_origins *found = NULL;

    gd_text_string(&text,
                   HEAD ".global .align 8 .b8 gl[64];\n.const .align 8 .b8 co[64];\n"
                        ".func (.param .b64 r) fn(.param .b64 x) { ret; }\n"
                        ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n)\n{\n"
                        ".reg .pred %p<4>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<10>;\n.reg .b64 %v;\n"
                        ".shared .align 8 .b8 sm[64];\n.local .align 8 .b8 lo[64];\n");
    gd_text_string(&text, item->text);
    gd_text_string(&text, "\nret;\n}\n");
    griddep_ptx *ptx = parse(gd_text_get(&text));
    ck_good(gd_origins_create(&ptx->module, ptx->module.entries[0], &found, &error));
    gd_origin origin = gd_origins_of(found, find_register(&ptx->module, "%rd9"));
    ck_assert_msg(origin.flags == item->flags, "%s: flags %" PRIu32 ", expected %" PRIu32,
                  item->text, origin.flags, item->flags);
    const char *end = strchrnul(item->parameters, '/'), *scaled = *end ? end + 1 : end;
    ck_assert_msg(gd_origins_set_count(found, origin.parameters) ==
                      (uint32_t)(end - item->parameters),
                  "%s: %" PRIu32, item->text, gd_origins_set_count(found, origin.parameters));
    ck_assert_msg(gd_origins_set_count(found, origin.scaled) == strlen(scaled),
                  "%s: %" PRIu32 " scaled", item->text, gd_origins_set_count(found, origin.scaled));
    for (const char *name = item->parameters; name < end; name++)
        ck_assert_msg(gd_origins_set_has(found, origin.parameters, (uint32_t)(*name - 'a')),
                      "%s: no %c", item->text, *name);
    for (; *scaled; scaled++)
        ck_assert(gd_origins_set_has(found, origin.scaled, (uint32_t)(*scaled - 'a')));
    ck_assert(!gd_origins_set_has(found, origin.parameters, 2));
    gd_origins_destroy(found);
    griddep_ptx_destroy(ptx);
    gd_text_free(&text);
}

/* An address is never without an origin. */
TEST(origins, addresses)
{
    static const struct {
        const char *address;
        uint32_t flags;
    } cases[] = {{"[%rd1]", 0}, {"[%rd1+4]", 0}, {"[64]", U},
                 {"[%rd2]", U}, {"[gl+4]", G},   {"[gone]", U | N | W | T | B | M}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gd_text text = {0};
        gd_origins *found = NULL;
        gd_text_format(&text,
                       HEAD
                       ".global .b8 gl[64];\n.visible .entry k(.param .u64 a)\n{\n.reg .b32 %%r1;\n"
                       ".reg .b64 %%rd<3>;\nld.param.u64 %%rd1, [a];\nshl.b64 %%rd2, %%rd1, 1;\n"
                       "ld.global.u32 %%r1, %s;\n}\n",
                       cases[i].address);
        griddep_ptx *ptx = parse(gd_text_get(&text));
        const gd_ptx_module *module = &ptx->module;
        ck_good(gd_origins_create(module, 0, &found, &error));
        const gd_ptx_instruction *load = &module->instructions[module->instruction_count - 1];
        gd_origin origin = gd_origins_of(found, module->operands[load->operand].end);
        ck_assert_msg(origin.flags == cases[i].flags, "%s: %" PRIu32, cases[i].address,
                      origin.flags);
        gd_origins_destroy(found);
        griddep_ptx_destroy(ptx);
        gd_text_free(&text);
    }
}

TEST(origins, too_many_parameters)
{
    gd_text text = {0};
    gd_origins *found = NULL;
    enum { COUNT = GD_PTX_LIMIT_ORIGINS + 1 };

    gd_text_string(&text, HEAD ".visible .entry k(.param .u64 p0");
    for (uint32_t i = 1; i < COUNT; i++)
        gd_text_format(&text, ", .param .u64 p%" PRIu32, i);
    gd_text_string(&text, ")\n{\n.reg .pred %p1;\n.reg .b64 %rd9;\n.reg .b64 %few;\n");
    for (uint32_t i = 0; i < COUNT; i++)
        gd_text_format(&text, "%s@%%p1 ld.param.u64 %%rd9, [p%" PRIu32 "];\n",
                       i + 1 < COUNT ? "" : "mov.u64 %few, %rd9;\n", i);
    gd_text_string(&text, "}\n");
    griddep_ptx *ptx = parse(gd_text_get(&text));
    ck_good(gd_origins_create(&ptx->module, 0, &found, &error));
    gd_origin origin = gd_origins_of(found, find_register(&ptx->module, "%rd9"));
    ck_assert_uint_eq(origin.flags & GD_ORIGIN_UNKNOWN, GD_ORIGIN_UNKNOWN);
    ck_assert_uint_le(gd_origins_set_count(found, origin.parameters), GD_PTX_LIMIT_ORIGINS);
    gd_origins_destroy(found);
    griddep_ptx_destroy(ptx);
    gd_text_free(&text);
}

/* ---- memory ---- */

TEST(origins, memory_runs_out)
{
    griddep_ptx *ptx = parse(
        ENTRY "  .reg .pred p;\n  .reg .b64 r, s;\nA: ld.param.u64 r, [a];\n ld.param.u64 s, [b];\n"
              " add.u64 r, r, s;\n @p bra A;\n ret;\n}\n");

    for (long n = 0;; n++) {
        gd_flow *flow = NULL;
        gd_origins *found = NULL;
        fail_alloc_after(n);
        int32_t status = gd_flow_create(&ptx->module, 0, &flow, &error);
        if (!status)
            status = gd_origins_create(&ptx->module, 0, &found, &error);
        bool hit = fail_alloc_hit();
        fail_alloc_after(-1);
        ck_assert_int_eq(status, hit ? GRIDDEP_ERROR_MEMORY : GRIDDEP_OK);
        gd_flow_destroy(flow);
        gd_origins_destroy(found);
        if (!hit)
            break;
        ck_assert_int_lt((int)n, 200);
    }
    griddep_ptx_destroy(ptx);
}

int main(void)
{
    griddep_error_init(&error);
    return run_suite(make_suite("flow"));
}
