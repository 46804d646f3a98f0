/* Timelines: figures of runs that were made up, with answers known by hand; what instrumenting puts
 * where; and shelf kernels traced on a driver, whose results must stay what they were.
 * EMULATED_DRIVER names the emulated driver, which is taken unless GRIDDEP_TEST_DRIVER names
 * another ("nvidia" on a machine with a GPU). */
#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "griddep.h"
#include "measure/figures.h"
#include "measure/instrument.h"
#include "run/module/module.h"
#include "sanitized.h"
#include "suite.h"
#include "unit/fail_alloc.h"
#include "unit/status.h"

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"
#define NONE GRIDDEP_STAMP_NONE

static griddep_error error;

/* ---- figures ---- */

enum { BLOCKS = 2 };

/* A launch of two blocks on multiprocessors 0 and 1. */
typedef struct made_launch {
    int64_t
        times[GD_POINT_MARK * BLOCKS]; /* entry, wait, release, trigger, exit: block 0, block 1 */
    int32_t sm[BLOCKS];
    bool counts[BLOCKS];
} made_launch;

static void make_trace(gd_trace *trace, gd_trace_launch *launches, made_launch *made,
                       uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        launches[i] = (gd_trace_launch){.kept = BLOCKS,
                                        .points = GD_POINT_MARK,
                                        .from = i ? i - 1 : GD_TRACE_NONE,
                                        .sm = made[i].sm,
                                        .times = made[i].times,
                                        .counts = made[i].counts};
    *trace = (gd_trace){.launches = launches, .count = count, .multiprocessors = 2};
    ck_good(gd_trace_judge(trace, &error));
}

static void assert_real(double got, double wanted)
{
    ck_assert_double_eq_tol(got, wanted, 1e-9);
}

TEST_GROUP(figures, NULL, NULL);
TEST_GROUP(instrument, NULL, NULL);

/* Launch 0 works from 0 to 100 and from 0 to 80; launch 1 enters at 40 and 60, waits at 60 and 90,
 * is released at 110 and 120, and leaves at 150 and 170. */
TEST(figures, overlapping_hop)
{
    made_launch made[2] = {{{0, 0, NONE, NONE, NONE, NONE, 20, 30, 100, 80}, {0, 1}, {0}},
                           {{40, 60, 60, 90, 110, 120, NONE, NONE, 150, 170}, {0, 1}, {0}}};
    gd_trace_launch launches[2];
    gd_trace trace;
    griddep_timeline_info info;
    griddep_timeline_launch launch;
    griddep_timeline_hop hop;

    make_trace(&trace, launches, made, 2);
    gd_trace_figure(&trace, &info);
    assert_real(info.span, 170);
    ck_assert_uint_eq(info.backward, 0);
    /* Multiprocessor 0 works 0 to 100 and 110 to 150, 1 works 0 to 90 and 120 to 170, of 170
     * each. */
    assert_real(info.idle, 2 * 170 - 140 - 140);
    assert_real(info.idle_share, 60.0 / 340);
    gd_trace_figure_hop(&trace, 1, &hop);
    assert_real(hop.handoff_gap, 10);
    assert_real(hop.launch_lead, 60);
    assert_real(hop.preamble_hidden, (20 + 30) / 2.0);
    assert_real(hop.overlap, 60);
    assert_real(hop.overlap_ratio, 60.0 / 100);
    /* From 80 to 120: 0 works 80 to 100 and 110 to 120, 1 works 80 to 90. */
    assert_real(hop.idle_window, 40);
    assert_real(hop.idle, 80 - 30 - 10);
    assert_real(hop.idle_share, 0.5);
    ck_good(gd_trace_figure_launch(&trace, 1, &launch, &error));
    assert_real(launch.first_entry, 40);
    assert_real(launch.last_entry, 60);
    assert_real(launch.first_release, 110);
    assert_real(launch.last_release, 120);
    assert_real(launch.last_exit, 170);
    assert_real(launch.preamble, 25);
    assert_real(launch.wait_least, 30);
    assert_real(launch.wait_median, 40);
    assert_real(launch.wait_most, 50);
    ck_assert_double_nan(launch.first_trigger);
    ck_good(gd_trace_figure_launch(&trace, 0, &launch, &error));
    assert_real(launch.first_trigger, 20);
    assert_real(launch.last_trigger, 30);
    ck_assert_double_nan(launch.preamble);
    ck_assert_double_nan(launch.wait_median);
    gd_trace_drop(&trace);
}

/* One after the other: nothing overlaps, the lead is negative, and a launch that does not wait is
 * released at entry. */
TEST(figures, serial_hop)
{
    made_launch made[2] = {{{0, 10, NONE, NONE, NONE, NONE, NONE, NONE, 100, 90}, {0, 1}, {0}},
                           {{130, 140, NONE, NONE, NONE, NONE, NONE, NONE, 150, 200}, {1, 0}, {0}}};
    gd_trace_launch launches[2];
    gd_trace trace;
    griddep_timeline_hop hop;

    make_trace(&trace, launches, made, 2);
    gd_trace_figure_hop(&trace, 1, &hop);
    assert_real(hop.handoff_gap, 30);
    assert_real(hop.launch_lead, -30);
    ck_assert_double_nan(hop.preamble_hidden);
    assert_real(hop.overlap, 0);
    assert_real(hop.overlap_ratio, 0);
    assert_real(hop.idle_window, 50); /* 90 to 140: 0 works 90 to 100, 1 works 130 to 140 */
    assert_real(hop.idle, 100 - 10 - 10);
    gd_trace_drop(&trace);
}

/* A preamble that goes on behind the end of the launch before is hidden as far as that end. */
TEST(figures, preamble_partly_hidden)
{
    made_launch made[2] = {{{0, 0, NONE, NONE, NONE, NONE, NONE, NONE, 100, 100}, {0, 1}, {0}},
                           {{90, 120, 110, 130, 110, 131, NONE, NONE, 150, 150}, {0, 1}, {0}}};
    gd_trace_launch launches[2];
    gd_trace trace;
    griddep_timeline_hop hop;

    make_trace(&trace, launches, made, 2);
    gd_trace_figure_hop(&trace, 1, &hop);
    assert_real(hop.preamble_hidden, (10 + 0) / 2.0);
    gd_trace_drop(&trace);
}

/* Blocks of one multiprocessor at the same time are one stretch of work. */
TEST(figures, work_is_a_union)
{
    made_launch made[1] = {{{0, 20, NONE, NONE, NONE, NONE, NONE, NONE, 50, 100}, {1, 1}, {0}}};
    gd_trace_launch launches[1];
    gd_trace trace;
    griddep_timeline_info info;

    make_trace(&trace, launches, made, 1);
    ck_assert_uint_eq(trace.work_count, 1);
    gd_trace_figure(&trace, &info);
    assert_real(info.idle, 100);
    assert_real(info.idle_share, 0.5);
    gd_trace_drop(&trace);
}

/* What a clock that goes backwards says is counted by no figure. */
TEST(figures, clock_goes_backward)
{
    made_launch made[3] = {{{50, 10, NONE, NONE, NONE, NONE, NONE, NONE, 40, 90}, {0, 1}, {0}},
                           {{20, 20, 60, 60, 55, 70, NONE, NONE, 80, 80}, {0, 1}, {0}},
                           {{20, 20, NONE, NONE, NONE, NONE, 90, 10, 80, 80}, {0, 1}, {0}}};
    gd_trace_launch launches[3];
    gd_trace trace;
    griddep_timeline_info info;
    griddep_timeline_hop hop;

    make_trace(&trace, launches, made, 3);
    ck_assert_uint_eq(launches[0].backward, 1);
    ck_assert_uint_eq(launches[1].backward, 1);
    ck_assert_uint_eq(launches[2].backward, 2);
    gd_trace_figure(&trace, &info);
    ck_assert_uint_eq(info.backward, 4);
    assert_real(info.span, 80);
    gd_trace_figure_hop(&trace, 1, &hop);
    assert_real(hop.handoff_gap, 70 - 90);
    gd_trace_figure_hop(&trace, 2, &hop);
    ck_assert_double_nan(hop.handoff_gap);
    ck_assert_double_nan(hop.overlap_ratio);
    ck_assert_double_nan(hop.idle);
    gd_trace_drop(&trace);
}

/* ---- instrumenting ---- */

static int32_t instrument(const char *text, gd_instrumented *made)
{
    griddep_ptx *ptx = NULL;

    ck_good(griddep_ptx_parse(text, strlen(text), "test", &ptx, &error));
    *made = (gd_instrumented){0};
    int32_t status = gd_instrument(ptx, "k", (gd_instrument_grid){{10, 1, 1}, 10}, made, &error);
    griddep_ptx_destroy(ptx);
    return status;
}

static void is_refused(const char *text, int32_t wanted, int32_t line, const char *words)
{
    gd_instrumented made;

    ck_assert_int_eq(instrument(text, &made), wanted);
    ck_assert_int_eq(error.line, line);
    ck_assert_msg(strstr(error.text, words) != NULL, "%s", error.text);
    gd_instrumented_free(&made);
}

/* How often a point is stamped: its time's place in the record is written with the minimum. */
static uint32_t count_stamps(const gd_instrumented *made, uint32_t point)
{
    char wanted[64];
    uint32_t count = 0;

    snprintf(wanted, sizeof wanted, "_at+%" PRIu32 "], %%griddep_stamp_time;", 8 * (1 + point));
    for (const char *at = gd_text_get(&made->text); (at = strstr(at, wanted)) != NULL; at++)
        count++;
    return count;
}

TEST(instrument, stamps_stand_where_they_belong)
{
    gd_instrumented made;

    ck_good(instrument(HEAD ".func f()\n{\n    griddepcontrol.wait;\n    ret;\n}\n"
                            ".visible .entry other()\n{\n    griddepcontrol.wait;\n    ret;\n}\n"
                            ".visible .entry k(.param .u64 a)\n{\n    .reg .pred p;\n"
                            "    setp.eq.u32 p, 0, 1;\n    @!p griddepcontrol.launch_dependents;\n"
                            "    @p ret;\n    //@ mark first\n    griddepcontrol.wait;\n"
                            "    //@ mark second.part \n    //@ mark first\n    call f;\n}\n",
                       &made));
    ck_assert_uint_eq(count_stamps(&made, GD_POINT_ENTRY), 1);
    ck_assert_uint_eq(count_stamps(&made, GD_POINT_WAIT), 2);
    ck_assert_uint_eq(count_stamps(&made, GD_POINT_RELEASE), 2);
    ck_assert_uint_eq(count_stamps(&made, GD_POINT_TRIGGER), 1);
    ck_assert_uint_eq(count_stamps(&made, GD_POINT_EXIT), 2);
    ck_assert_uint_eq(count_stamps(&made, GD_POINT_MARK), 2);
    ck_assert_uint_eq(count_stamps(&made, GD_POINT_MARK + 1), 1);
    ck_assert_uint_eq(made.mark_count, 2);
    ck_assert_str_eq(made.marks[0], "first");
    ck_assert_str_eq(made.marks[1], "second.part");
    ck_assert_ptr_nonnull(strstr(gd_text_get(&made.text), "@!p activemask.b32"));
    ck_assert_ptr_nonnull(strstr(gd_text_get(&made.text), "@p activemask.b32"));
    gd_instrumented_free(&made);
}

TEST(instrument, marks_in_other_comments_are_none)
{
    gd_instrumented made;

    ck_good(instrument(
        HEAD ".visible .entry k()\n{\n    /* //@ mark a\n    //@ mark b */ // //@ mark c\n"
             "    //@ marker d\n    ret;\n}\n//@ mark outside\n",
        &made));
    ck_assert_uint_eq(made.mark_count, 0);
    gd_instrumented_free(&made);
}

TEST(instrument, refusals_say_why)
{
    is_refused(HEAD ".visible .entry j()\n{\n    ret;\n}\n", GRIDDEP_ERROR_NOT_FOUND, 0,
               "no entry 'k'");
    is_refused(
        ".version 6.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n    ret;\n}\n",
        GRIDDEP_ERROR_UNSUPPORTED, 0, "6.2");
    is_refused(
        ".version 8.0\n.target sm_90\n.address_size 32\n.visible .entry k()\n{\n    ret;\n}\n",
        GRIDDEP_ERROR_UNSUPPORTED, 0, "32-bit");
    is_refused(HEAD ".global .u32 griddep_timeline;\n.visible .entry k()\n{\n    ret;\n}\n",
               GRIDDEP_ERROR_UNSUPPORTED, 0, "names that stamps use");
    is_refused(HEAD ".file 1 \"k.cu\"\n.visible .entry k()\n{\n    .loc 1 1 0 ret;\n}\n",
               GRIDDEP_ERROR_UNSUPPORTED, 7, "no room for a stamp");
    is_refused(HEAD ".visible .entry k()\n{\n    //@ mark\n    ret;\n}\n", GRIDDEP_ERROR_ARGUMENT,
               6, "//@ mark NAME");
    is_refused(HEAD ".visible .entry k()\n{\n    //@ mark a b\n    ret;\n}\n",
               GRIDDEP_ERROR_ARGUMENT, 6, "letters");
}

TEST(instrument, too_many_marks)
{
    char text[2048] = HEAD ".visible .entry k()\n{\n";
    gd_instrumented made;

    for (int i = 0; i < GD_INSTRUMENT_MARKS; i++)
        sprintf(text + strlen(text), "//@ mark m%d\n", i);
    size_t length = strlen(text);
    strcpy(text + length, "ret;\n}\n");
    ck_good(instrument(text, &made));
    ck_assert_uint_eq(made.mark_count, GD_INSTRUMENT_MARKS);
    gd_instrumented_free(&made);
    strcpy(text + length, "//@ mark more\nret;\n}\n");
    is_refused(text, GRIDDEP_ERROR_ARGUMENT, 6 + GD_INSTRUMENT_MARKS, "at most 16");
}

/* What comes out of each shelf kernel assembles, where there is a ptxas, with stamps for each shape
 * of grid. */
TEST(instrument, shelf_assembles)
{
    static const gd_instrument_grid grids[] = {{{9, 1, 1}, 9}, {{9, 5, 1}, 45}, {{9, 5, 3}, 20}};
    const char *ptxas =
        access("/usr/local/cuda/bin/ptxas", X_OK) ? "ptxas" : "/usr/local/cuda/bin/ptxas";
    char command[256], folder[] = "/tmp/griddep-timeline-XXXXXX", path[64];
    griddep_shelf_info shelf = {.size = sizeof shelf};
    uint32_t count = 0;

    snprintf(command, sizeof command, "%s --version >/dev/null 2>&1", ptxas);
    if (system(command) != 0) {
        printf("shelf_assembles: skipped, there is no ptxas\n");
        return;
    }
    ck_assert_ptr_nonnull(mkdtemp(folder));
    for (uint32_t i = 0; griddep_shelf_get(i, &shelf, &error) == GRIDDEP_OK; i++) {
        griddep_ptx *ptx = NULL;
        griddep_ptx_entry_info entry = {.size = sizeof entry};
        ck_good(griddep_ptx_parse(shelf.text, shelf.bytes, shelf.name, &ptx, &error));
        ck_good(griddep_ptx_get_entry(ptx, 0, &entry, &error));
        for (size_t grid = 0; grid < 3; grid++) {
            gd_instrumented made = {0};
            ck_good(gd_instrument(ptx, entry.name, grids[grid], &made, &error));
            snprintf(path, sizeof path, "%s/k.ptx", folder);
            FILE *file = fopen(path, "w");
            ck_assert_ptr_nonnull(file);
            ck_assert_int_ge(fputs(gd_text_get(&made.text), file), 0);
            ck_assert_int_eq(fclose(file), 0);
            snprintf(command, sizeof command, "%s -arch=sm_90%s -o /dev/null %s", ptxas,
                     strstr(shelf.text, ".target sm_90a") ? "a" : "", path);
            /* The text is the same with sanitizers. Shapes take turns: a shape changes how a
             * block's number is computed. */
            if (!SANITIZED && grid == i % 3 && round_takes_place((int)(i / 3), 3, 1))
                ck_assert_msg(system(command) == 0, "%s", shelf.name);
            gd_instrumented_free(&made);
            count++;
        }
        griddep_ptx_destroy(ptx);
    }
    remove(path);
    rmdir(folder);
    ck_assert_uint_gt(count, 10);
}

/* ---- on a driver ---- */

enum { ELEMENTS = 10000 };

typedef struct setup {
    griddep_runtime *runtime;
    griddep_module *module;
    griddep_chain *chain;
    uint64_t buffers[4];
    void *stream;
    bool emulated; /* the model's time is exact; a GPU's clock has steps, and its overlap is not
                   * promised */
} setup;

static setup bench;
static griddep_timeline *timeline;

static void open_bench(void)
{
    const char *other = getenv("GRIDDEP_TEST_DRIVER");
    const griddep_runtime_options options = {.size = sizeof options,
                                             .driver = other ? other : getenv("EMULATED_DRIVER"),
                                             .store_directory = ""};
    griddep_runtime_info info = {.size = sizeof info};

    bench = (setup){0};
    ck_assert_ptr_nonnull(options.driver);
    ck_good(griddep_runtime_open(&options, &bench.runtime, &error));
    ck_good(griddep_runtime_get_info(bench.runtime, &info, &error));
    bench.emulated = info.emulated;
    ck_good(griddep_stream_create(bench.runtime, NULL, &bench.stream, &error));
    ck_good(griddep_chain_create(bench.runtime, &bench.chain, &error));
    for (int i = 0; i < 4; i++)
        ck_good(griddep_memory_allocate(bench.runtime, ELEMENTS * sizeof(float), &bench.buffers[i],
                                        &error));
}

static void close_bench(void)
{
    griddep_error_init(&error);
    griddep_timeline_destroy(timeline);
    timeline = NULL;
    griddep_chain_destroy(bench.chain);
    griddep_module_unload(bench.module);
    for (int i = 0; i < 4; i++)
        ck_good(griddep_memory_free(bench.runtime, bench.buffers[i], &error));
    ck_good(griddep_stream_destroy(bench.runtime, bench.stream, &error));
    griddep_runtime_close(bench.runtime);
}

static void load_text(const char *text)
{
    ck_good(griddep_module_load(bench.runtime, text, strlen(text), NULL, &bench.module, &error));
}

static void add(int from, int to, uint32_t grid)
{
    const griddep_launch_config config = {.size = sizeof config, .grid = {grid}, .block = {128}};
    const griddep_argument arguments[] = {POINTER(bench.buffers[0]), POINTER(bench.buffers[from]),
                                          POINTER(bench.buffers[to]), WORD(ELEMENTS)};
    griddep_kernel *kernel = NULL;

    if (!bench.module)
        ck_good(
            griddep_module_load_shelf(bench.runtime, "vector_add", NULL, &bench.module, &error));
    ck_good(griddep_module_find_kernel(bench.module, NULL, &kernel, &error));
    ck_good(griddep_chain_add(bench.chain, kernel, &config, arguments, 4, &error));
}

static void read_result(float *values)
{
    ck_good(griddep_memory_read(bench.runtime, values, bench.buffers[3], ELEMENTS * sizeof *values,
                                bench.stream, &error));
}

static void write_inputs(void)
{
    float values[ELEMENTS];

    for (int i = 0; i < ELEMENTS; i++)
        values[i] = (float)i * 0.25f;
    for (int i = 0; i < 4; i++)
        ck_good(griddep_memory_write(bench.runtime, bench.buffers[i], values,
                                     i < 2 ? sizeof values : 0, bench.stream, &error));
}

static void check_blocks(uint32_t index, uint32_t blocks)
{
    int64_t values[GRIDDEP_STAMP_MARK][16];
    uint64_t count = 0;

    for (int32_t column = 0; column < GRIDDEP_STAMP_MARK; column++) {
        ck_good(griddep_timeline_read(timeline, index, column, values[column], 16, &count, &error));
        ck_assert_uint_eq(count, blocks);
    }
    for (uint32_t i = 0; i < blocks; i++) {
        ck_assert_int_ge(values[GRIDDEP_STAMP_SM][i], 0);
        ck_assert_int_ge(values[GRIDDEP_STAMP_ENTRY][i], 0);
        ck_assert_int_ge(values[GRIDDEP_STAMP_WAIT][i], values[GRIDDEP_STAMP_ENTRY][i]);
        ck_assert_int_ge(values[GRIDDEP_STAMP_RELEASE][i], values[GRIDDEP_STAMP_WAIT][i]);
        ck_assert_int_ge(values[GRIDDEP_STAMP_EXIT][i], values[GRIDDEP_STAMP_RELEASE][i]);
        ck_assert_int_ge(values[GRIDDEP_STAMP_TRIGGER][i], values[GRIDDEP_STAMP_ENTRY][i]);
    }
}

TEST_GROUP(runs, open_bench, close_bench);

LOOP_TEST(runs, each_mode_is_traced, GRIDDEP_MODE_COUNT)
{
    int32_t mode = _i;
    float plain[ELEMENTS], traced[ELEMENTS];
    griddep_timeline_info info = {.size = sizeof info};
    griddep_timeline_launch launch = {.size = sizeof launch};
    griddep_timeline_hop hop = {.size = sizeof hop};

    for (int i = 1; i < 4; i++)
        add(i == 1 ? 1 : i - 0 - 1, i == 3 ? 3 : i + 1, 8);
    write_inputs();
    ck_good(griddep_chain_run(bench.chain, mode, bench.stream, &error));
    read_result(plain);
    write_inputs();
    ck_good(griddep_memory_fill(bench.runtime, bench.buffers[3], 0xff, sizeof plain, bench.stream,
                                &error));
    ck_good(griddep_timeline_create(bench.chain, NULL, &timeline, &error));
    ck_good(griddep_timeline_get_info(timeline, &info, &error));
    ck_assert_int_eq(info.mode, -1);
    ck_assert_uint_eq(info.launch_count, 3);
    ck_assert_uint_eq(info.emulated, bench.emulated);
    ck_assert_uint_gt(info.multiprocessors, 0);
    ck_assert_double_nan(info.span);
    ck_assert_double_nan(info.idle);
    ck_assert_double_nan(info.idle_share);
    ck_assert_double_nan(info.clock_step);
    ck_assert_uint_eq(info.blocks_kept, 24); /* will be, of each run */
    ck_assert_int_eq(griddep_timeline_get_hop(timeline, 1, &hop, &error), GRIDDEP_ERROR_NOT_FOUND);
    for (int again = 0; again < 2; again++) {
        ck_good(griddep_timeline_run(timeline, mode, bench.stream, &error));
        for (uint32_t i = 0; i < 3; i++)
            check_blocks(i, 8);
    }
    read_result(traced);
    ck_assert_mem_eq(plain, traced, sizeof plain);
    ck_good(griddep_timeline_get_info(timeline, &info, &error));
    ck_assert_int_eq(info.mode, mode);
    ck_assert_uint_eq(info.emulated, bench.emulated);
    ck_assert_uint_eq(info.blocks, 24);
    ck_assert_uint_eq(info.blocks_kept, 24);
    ck_assert_uint_eq(info.backward, 0);
    ck_assert_double_gt(info.span, 0);
    ck_assert_double_ge(info.idle, 0);
    ck_assert_double_gt(info.clock_step, 0);
    ck_good(griddep_timeline_get_launch(timeline, 1, &launch, &error));
    ck_assert_str_eq(launch.kernel, "vector_add");
    ck_good(griddep_timeline_get_hop(timeline, 1, &hop, &error));
    ck_assert_uint_eq(hop.from, 0);
    if (mode == GRIDDEP_MODE_PDL || mode == GRIDDEP_MODE_GRAPH_PDL) {
        ck_assert(!bench.emulated || (hop.launch_lead > 0 && hop.overlap_ratio > 0));
    } else {
        ck_assert_double_lt(hop.launch_lead, 0);
        ck_assert_double_eq(hop.overlap_ratio, 0);
    }
    ck_assert_int_eq(griddep_timeline_get_hop(timeline, 0, &hop, &error), GRIDDEP_ERROR_NOT_FOUND);
    launch.blocks = 99;
    ck_assert_int_eq(griddep_timeline_get_launch(timeline, 3, &launch, &error),
                     GRIDDEP_ERROR_NOT_FOUND);
    ck_assert_uint_eq(launch.blocks, 99);
    uint64_t count = 99;
    ck_assert_int_eq(
        griddep_timeline_read(timeline, 0, GRIDDEP_STAMP_ENTRY, NULL, 1, &count, &error),
        GRIDDEP_ERROR_ARGUMENT);
    ck_assert_uint_eq(count, 99);
    ck_assert_ptr_null(griddep_timeline_get_mark(NULL, 0, 0));
    ck_assert_ptr_null(griddep_timeline_get_mark(timeline, 3, 0));
    griddep_error_init(&error);
    ck_good(griddep_timeline_read(timeline, 0, GRIDDEP_STAMP_ENTRY, NULL, 0, &count, &error));
    ck_assert_uint_eq(count, 8);
}

/* Of a grid with more blocks than are kept the first ones are, and the results are whole. */
TEST(runs, blocks_beyond_the_limit)
{
    const griddep_timeline_options options = {.size = sizeof options, .blocks = 3};
    griddep_timeline_info info = {.size = sizeof info};
    griddep_timeline_launch launch = {.size = sizeof launch};
    float plain[ELEMENTS], traced[ELEMENTS];

    add(1, 3, 8);
    write_inputs();
    ck_good(griddep_chain_run(bench.chain, GRIDDEP_MODE_SERIAL, bench.stream, &error));
    read_result(plain);
    ck_good(griddep_memory_fill(bench.runtime, bench.buffers[3], 0xff, sizeof plain, bench.stream,
                                &error));
    ck_good(griddep_timeline_create(bench.chain, &options, &timeline, &error));
    ck_good(griddep_timeline_run(timeline, GRIDDEP_MODE_SERIAL, bench.stream, &error));
    check_blocks(0, 3);
    ck_good(griddep_timeline_get_info(timeline, &info, &error));
    ck_assert_uint_eq(info.blocks, 8);
    ck_assert_uint_eq(info.blocks_kept, 3);
    ck_good(griddep_timeline_get_launch(timeline, 0, &launch, &error));
    ck_assert_uint_eq(launch.blocks, 8);
    ck_assert_uint_eq(launch.blocks_kept, 3);
    read_result(traced);
    ck_assert_mem_eq(plain, traced, sizeof plain);
}

/* A kernel with a loop around wait and mark, a predicated exit, a call, a trigger by one thread,
 * three dimensions. */
static const char odd_kernel[] = HEAD
    ".func leave()\n{\n    .reg .pred p;\n    .reg .b32 t;\n    mov.u32 t, %tid.x;\n"
    "    setp.ge.u32 p, t, 48;\n    @p exit;\n    ret;\n}\n"
    ".visible .entry k(.param .u64 out)\n{\n    .reg .pred p, q;\n    .reg .b32 t, i, z;\n    .reg "
    ".b64 o, b;\n"
    "    mov.u32 t, %tid.x;\n    setp.ge.u32 p, t, 60;\n    @p exit;\n    setp.eq.u32 q, t, 33;\n"
    "    @q griddepcontrol.launch_dependents;\n    mov.u32 i, 3;\nagain:\n    "
    "griddepcontrol.wait;\n"
    "    //@ mark body\n    sub.u32 i, i, 1;\n    setp.ne.u32 q, i, 0;\n    @q bra again;\n    "
    "call leave;\n"
    "    mov.u32 z, %ctaid.z;\n    ld.param.u64 o, [out];\n    mad.wide.u32 o, z, 4, o;\n"
    "    red.global.add.u32 [o], 1;\n}\n";

TEST(runs, odd_shapes)
{
    const griddep_launch_config config = {
        .size = sizeof config, .grid = {2, 3, 2}, .block = {64}, .cluster = {2}};
    griddep_kernel *kernel = NULL;
    int64_t entry[12], mark[12], release[12], trigger[12], exit[12];
    uint32_t counts[2];
    uint64_t count = 0;

    load_text(odd_kernel);
    ck_good(griddep_module_find_kernel(bench.module, NULL, &kernel, &error));
    for (int i = 0; i < 2; i++) {
        const griddep_argument argument = POINTER(bench.buffers[i]);
        ck_good(griddep_chain_add(bench.chain, kernel, &config, &argument, 1, &error));
        ck_good(griddep_memory_fill(bench.runtime, bench.buffers[i], 0, 8, bench.stream, &error));
    }
    ck_good(griddep_timeline_create(bench.chain, NULL, &timeline, &error));
    ck_good(griddep_timeline_run(timeline, GRIDDEP_MODE_GRAPH_PDL, bench.stream, &error));
    for (uint32_t i = 0; i < 2; i++) {
        check_blocks(i, 12);
        ck_good(
            griddep_memory_read(bench.runtime, counts, bench.buffers[i], 8, bench.stream, &error));
        ck_assert_uint_eq(counts[0], 6 * 48);
        ck_assert_uint_eq(counts[1], 6 * 48);
        ck_good(griddep_timeline_read(timeline, i, GRIDDEP_STAMP_ENTRY, entry, 12, &count, &error));
        ck_good(
            griddep_timeline_read(timeline, i, GRIDDEP_STAMP_RELEASE, release, 12, &count, &error));
        ck_good(
            griddep_timeline_read(timeline, i, GRIDDEP_STAMP_TRIGGER, trigger, 12, &count, &error));
        ck_good(griddep_timeline_read(timeline, i, GRIDDEP_STAMP_EXIT, exit, 12, &count, &error));
        ck_good(griddep_timeline_read(timeline, i, GRIDDEP_STAMP_MARK, mark, 12, &count, &error));
        for (uint32_t block = 0; block < 12; block++) {
            ck_assert_int_ge(mark[block], release[block]);
            ck_assert_int_le(mark[block], exit[block]);
            ck_assert_int_ge(trigger[block], entry[block]);
        }
    }
    ck_assert_str_eq(griddep_timeline_get_mark(timeline, 1, 0), "body");
    ck_assert_ptr_null(griddep_timeline_get_mark(timeline, 1, 1));
    ck_assert_int_eq(
        griddep_timeline_read(timeline, 0, GRIDDEP_STAMP_MARK + 1, NULL, 0, &count, &error),
        GRIDDEP_ERROR_NOT_FOUND);
}

/* The hop into a join comes from the prerequisite that ended last, whichever lane that is in. */
LOOP_TEST(runs, join_comes_from_the_last_to_end, 2 * GRIDDEP_MODE_COUNT)
{
    static const char text[] =
        HEAD ".visible .entry k(.param .u32 rounds)\n{\n    .reg .b32 n;\n    .reg .pred more;\n"
             "    ld.param.u32 n, [rounds];\n    griddepcontrol.wait;\nagain:\n"
             "    add.u32 n, n, -1;\n    setp.ne.u32 more, n, 0;\n    @more bra again;\n"
             "    ret;\n}\n";
    const uint32_t long_lane = (uint32_t)_i % 2;
    const int32_t mode = _i / 2;
    griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {1}};
    griddep_timeline_launch ends[2] = {{.size = sizeof *ends}, {.size = sizeof *ends}};
    griddep_timeline_launch join = {.size = sizeof join};
    griddep_timeline_hop hop = {.size = sizeof hop};
    griddep_kernel *kernel = NULL;

    load_text(text);
    ck_good(griddep_module_find_kernel(bench.module, NULL, &kernel, &error));
    for (uint32_t i = 0; i < 4; i++) { /* a fork, the two branches, and the join in lane 0 */
        config.lane = i == 2;
        const griddep_argument rounds = WORD(i == long_lane + 1 ? 20000 : 10);
        ck_good(griddep_chain_add(bench.chain, kernel, &config, &rounds, 1, &error));
    }
    ck_good(griddep_chain_depend(bench.chain, 2, 0, &error));
    ck_good(griddep_chain_depend(bench.chain, 3, 2, &error));
    ck_good(griddep_timeline_create(bench.chain, NULL, &timeline, &error));
    ck_good(griddep_timeline_run(timeline, mode, bench.stream, &error));
    for (uint32_t i = 0; i < 2; i++)
        ck_good(griddep_timeline_get_launch(timeline, i + 1, &ends[i], &error));
    ck_good(griddep_timeline_get_launch(timeline, 3, &join, &error));
    ck_good(griddep_timeline_get_hop(timeline, 3, &hop, &error));
    uint32_t last = ends[1].last_exit > ends[0].last_exit;
    ck_assert(!bench.emulated || mode == GRIDDEP_MODE_SERIAL || last == long_lane);
    ck_assert_uint_eq(hop.from, last + 1);
    assert_real(hop.handoff_gap, join.first_release - ends[last].last_exit);
}

/* One launch of `writer`, then two of `other`; whether they can be traced. */
static const struct {
    const char *variable, *writer, *other;
    int32_t status;
} sharing[] = {
    {"x = 1", "st.global.u32 [x], 7;", "ld.global.u32 v, [x];", GRIDDEP_ERROR_UNSUPPORTED},
    {"x", "ld.global.u32 v, [x];", "ld.global.u32 v, [x];", GRIDDEP_OK},
    {"x", "st.global.u32 [x], 7;", "mov.u32 v, 0;", GRIDDEP_OK},
    {"x = 1", "mov.u32 v, 0;", "atom.global.add.u32 v, [x], 1;", GRIDDEP_ERROR_UNSUPPORTED},
    {"x", "mov.u32 v, 0;", "mov.u32 v, 1;", GRIDDEP_OK},
};

LOOP_TEST(runs, launches_that_share_variables, sizeof sharing / sizeof *sharing)
{
    static const char format[] =
        HEAD ".global .u32 %s;\n"
             ".func unused()\n{\n    st.global.u32 [x], 3;\n    ret;\n}\n"
             ".visible .entry k()\n{\n    .reg .b32 v;\n    %s\n    ret;\n}\n"
             ".visible .entry other()\n{\n    .reg .b32 v;\n    %s\n    ret;\n}\n";
    const griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {1}};
    griddep_kernel *kernel = NULL;
    char text[1024];

    snprintf(text, sizeof text, format, sharing[_i].variable, sharing[_i].writer,
             sharing[_i].other);
    load_text(text);
    for (uint32_t i = 0; i < 3; i++) {
        ck_good(griddep_module_find_kernel(bench.module, i ? "other" : "k", &kernel, &error));
        ck_good(griddep_chain_add(bench.chain, kernel, &config, NULL, 0, &error));
    }
    ck_assert_int_eq(griddep_timeline_create(bench.chain, NULL, &timeline, &error),
                     sharing[_i].status);
}

/* A variable that launches share cannot be in copies; constants of the host are copied. */
TEST(runs, variables_of_the_module)
{
    static const char text[] =
        HEAD ".visible .global .u32 unused, total;\n.visible .const .u32 step;\n"
             ".visible .entry k(.param .u64 out)\n{\n    .reg .b32 s;\n    .reg .b64 o;\n"
             "    ld.const.u32 s, [step];\n    ld.param.u64 o, [out];\n"
             "    red.global.add.u32 [o], s;\n    red.global.add.u32 [total], s;\n    ret;\n}\n";
    const griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {1}};
    griddep_kernel *kernel = NULL;
    uint64_t address = 0, bytes = 0;
    uint32_t value = 7, result = 0;

    load_text(text);
    ck_good(griddep_module_find_kernel(bench.module, NULL, &kernel, &error));
    ck_good(griddep_module_get_global(bench.module, "step", &address, &bytes, &error));
    ck_good(griddep_memory_write(bench.runtime, address, &value, 4, bench.stream, &error));
    ck_good(griddep_memory_fill(bench.runtime, bench.buffers[0], 0, 4, bench.stream, &error));
    const griddep_argument argument = POINTER(bench.buffers[0]);
    ck_good(griddep_chain_add(bench.chain, kernel, &config, &argument, 1, &error));
    ck_good(griddep_timeline_create(bench.chain, NULL, &timeline, &error));
    ck_good(griddep_timeline_run(timeline, GRIDDEP_MODE_SERIAL, bench.stream, &error));
    ck_good(griddep_memory_read(bench.runtime, &result, bench.buffers[0], 4, bench.stream, &error));
    ck_assert_uint_eq(result, 7);
    griddep_timeline_destroy(timeline);
    timeline = NULL;
    ck_good(griddep_chain_add(bench.chain, kernel, &config, &argument, 1, &error));
    ck_refused(griddep_timeline_create(bench.chain, NULL, &timeline, &error),
               GRIDDEP_ERROR_UNSUPPORTED,
               "launches 0 (k) and 1 (k) share variables of their module");
    ck_assert_ptr_null(timeline);
}

/* A module whose PTX is not known runs as it is and leaves no stamps; without any other there is no
 * timeline. */
TEST(runs, kernels_without_ptx_run_beside_traced_ones)
{
    griddep_timeline_launch launch = {.size = sizeof launch};
    griddep_timeline_hop hop = {.size = sizeof hop};
    griddep_module *closed = NULL;
    griddep_kernel *kernel = NULL;
    float result[ELEMENTS];

    write_inputs();
    ck_good(griddep_module_load_shelf(bench.runtime, "vector_add", NULL, &closed, &error));
    griddep_ptx_destroy(closed->ptx); /* as of a cubin */
    closed->ptx = NULL;
    ck_good(griddep_module_find_kernel(closed, "vector_add", &kernel, &error));
    const griddep_launch_config config = {.size = sizeof config, .grid = {8}, .block = {128}};
    const griddep_argument arguments[] = {POINTER(bench.buffers[0]), POINTER(bench.buffers[2]),
                                          POINTER(bench.buffers[3]), WORD(ELEMENTS)};
    ck_good(griddep_chain_add(bench.chain, kernel, &config, arguments, 4, &error));
    ck_assert_int_eq(griddep_timeline_create(bench.chain, NULL, &timeline, &error),
                     GRIDDEP_ERROR_UNSUPPORTED);
    ck_assert_ptr_null(timeline);
    griddep_error_init(&error);
    griddep_chain_destroy(bench.chain);
    ck_good(griddep_chain_create(bench.runtime, &bench.chain, &error));
    add(1, 2, 8);
    ck_good(griddep_chain_add(bench.chain, kernel, &config, arguments, 4, &error));
    ck_good(griddep_timeline_create(bench.chain, NULL, &timeline, &error));
    for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT; mode++) {
        ck_good(griddep_memory_fill(bench.runtime, bench.buffers[3], 0, sizeof result, bench.stream,
                                    &error));
        ck_good(griddep_timeline_run(timeline, mode, bench.stream, &error));
        read_result(result);
        ck_assert(result[4] == 3.0f && result[999] == 3 * 249.75f);
        ck_good(griddep_timeline_get_launch(timeline, 0, &launch, &error));
        ck_assert(launch.blocks_kept == 8 && launch.last_exit > launch.first_entry);
        ck_good(griddep_timeline_get_launch(timeline, 1, &launch, &error));
        ck_assert(launch.blocks == 8 && launch.blocks_kept == 0 && isnan(launch.first_entry));
        ck_good(griddep_timeline_get_hop(timeline, 1, &hop, &error));
        ck_assert(hop.from == 0 && isnan(hop.launch_lead) && isnan(hop.overlap));
    }
    griddep_timeline_destroy(timeline);
    timeline = NULL;
    griddep_module_unload(closed);
}

/* The instrumented chain may be run for its time; the next run's stamps are its own. */
TEST(runs, timing_does_not_spoil_a_run)
{
    griddep_timeline_info first = {.size = sizeof first}, second = {.size = sizeof second};

    add(1, 3, 8);
    write_inputs();
    ck_good(griddep_timeline_create(bench.chain, NULL, &timeline, &error));
    for (int i = 0; i < 3; i++)
        ck_good(griddep_chain_run(griddep_timeline_get_chain(timeline), GRIDDEP_MODE_SERIAL,
                                  bench.stream, &error));
    ck_good(griddep_timeline_run(timeline, GRIDDEP_MODE_SERIAL, bench.stream, &error));
    ck_good(griddep_timeline_get_info(timeline, &first, &error));
    ck_good(griddep_timeline_run(timeline, GRIDDEP_MODE_SERIAL, bench.stream, &error));
    ck_good(griddep_timeline_get_info(timeline, &second, &error));
    ck_assert(!bench.emulated || fabs(first.span - second.span) < 0.2 * second.span);
    ck_assert_double_lt(first.span, 1e6); /* not from the runs before */
    ck_assert_uint_gt(second.origin, first.origin);
}

TEST(runs, wrong_arguments)
{
    const griddep_timeline_options flags = {.size = sizeof flags, .flags = 1};
    griddep_timeline_info info = {.size = sizeof info};

    ck_assert_int_eq(griddep_timeline_create(NULL, NULL, &timeline, &error),
                     GRIDDEP_ERROR_ARGUMENT);
    ck_assert_int_eq(griddep_timeline_create(bench.chain, NULL, NULL, &error),
                     GRIDDEP_ERROR_ARGUMENT);
    ck_assert_int_eq(griddep_timeline_create(bench.chain, &flags, &timeline, &error),
                     GRIDDEP_ERROR_STRUCT);
    ck_assert_int_eq(griddep_timeline_get_info(NULL, &info, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_assert_ptr_null(griddep_timeline_get_chain(NULL));
    griddep_timeline_destroy(NULL);
    griddep_error_init(&error);
    ck_good(
        griddep_timeline_create(bench.chain, NULL, &timeline, &error)); /* an empty chain is one */
    ck_assert_int_eq(griddep_timeline_run(timeline, 9, bench.stream, &error),
                     GRIDDEP_ERROR_ARGUMENT);
    griddep_error_init(&error);
    ck_good(griddep_timeline_run(timeline, GRIDDEP_MODE_GRAPH, bench.stream, &error));
    ck_good(griddep_timeline_get_info(timeline, &info, &error));
    ck_assert_double_nan(info.span);
}

/* Each allocation fails once; what was made by then is given back, and the chain stays usable. */
TEST(runs, memory_runs_out)
{
    griddep_timeline_launch launch = {.size = sizeof launch};

    add(1, 3, 2);
    add(3, 2, 2);
    write_inputs();
    for (long n = 0;; n++) {
        fail_alloc_after(n);
        int32_t status = griddep_timeline_create(bench.chain, NULL, &timeline, &error);
        if (!status)
            status = griddep_timeline_run(timeline, GRIDDEP_MODE_GRAPH_PDL, bench.stream, &error);
        if (!status)
            status = griddep_timeline_get_launch(timeline, 1, &launch, &error);
        bool hit = fail_alloc_hit();
        fail_alloc_after(-1);
        griddep_timeline_destroy(timeline);
        timeline = NULL;
        if (!hit) {
            ck_good(status);
            break;
        }
        ck_assert_msg(status == GRIDDEP_ERROR_MEMORY, "%ld: %s", n, error.text);
        ck_assert_int_lt(n, 20000);
    }
    ck_good(griddep_chain_run(bench.chain, GRIDDEP_MODE_SERIAL, bench.stream, &error));
    ck_good(griddep_stream_synchronize(bench.runtime, bench.stream, &error));
}

int main(void)
{
    griddep_error_init(&error);
    return run_suite(make_suite("timeline"));
}
