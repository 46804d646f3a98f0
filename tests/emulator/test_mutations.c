/* The race detector against the shelf: each kernel of the shelf runs in a chain on the emulated
 * driver, as it is and with its wait deleted, delayed behind each load, narrowed to some threads,
 * or carried by a barrier that is then taken away. What is right must be quiet in every schedule
 * and model, what is wrong must be found in every mode.
 *
 * Each run is a process of its own, since the emulated driver reads its settings once.
 * EMULATED_DRIVER names the driver. */
#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "griddep.h"
#include "suite.h"

enum {
    TEXT = 1 << 18,
    BUFFERS = 12,
    PLACE = BUFFERS - 1,
    FIRST_PLACE = 20,
    MOST_LAUNCHES = 4,
    MOST_ARGUMENTS = 14,
    MOST_LOADS = 16,
    MAP_COLUMNS = 128
};

#define WAIT "griddepcontrol.wait;"

/* ---- chains ---- */

typedef struct argument {
    int32_t buffer; /* its number; -1: a value; -2: the address 0 */
    uint32_t
        value; /* of a buffer: 0, or it is passed as a tensor map whose box has that many rows of 64
                * elements */
} argument;

#define B(number)                                                                                  \
    {                                                                                              \
        number, 0                                                                                  \
    }
#define V(number)                                                                                  \
    {                                                                                              \
        -1, number                                                                                 \
    }

/* A square bf16 matrix of MAP_COLUMNS. */
#define MAP(number, rows)                                                                          \
    {                                                                                              \
        number, rows                                                                               \
    }

#define NONE                                                                                       \
    {                                                                                              \
        -2, 0                                                                                      \
    }

typedef struct step {
    const char *kernel; /* of the shelf */
    uint32_t grid, block, shared;
    argument arguments[MOST_ARGUMENTS];
    uint32_t argument_count;
} step;

typedef struct subject {
    const char *kernel; /* the one that is mutated */
    uint64_t bytes;     /* of each buffer */
    step steps[MOST_LAUNCHES];
    uint32_t step_count;
} subject;

#define EPSILON 0x3727c5ac /* 1e-5 */

/* Attention of four heads of 128 at one key head: qkv, the caches, no angles, the position, y. */
#define ATTENTION(qkv, k, v, y)                                                                    \
    {                                                                                              \
        "attention_decode_bf16", 2, 64, 40000,                                                     \
            {B(qkv), B(k), B(v), NONE, B(PLACE), B(y), V(4), V(128), V(32), V(ONE)}, 10            \
    }
#define ONE 0x3f800000

/* Tiles of 128 x 64 by two blocks that are no pair. */
#define GEMM(from, weight, residual, to)                                                           \
    {                                                                                              \
        "gemm_n64_bf16", 2, 288, 1024 + 2 * 24592,                                                 \
            {MAP(from, 128), MAP(weight, 32), MAP(weight, 32), NONE,   residual,                   \
             B(to),          V(128),          V(128),          V(128), V(0)},                      \
            10                                                                                     \
    }

/* Each chain has a buffer that a later launch reads and one that is written again, so that both
 * orders are at stake. Blocks of matvec_bf16 that split the columns have all their rows in shared
 * memory at once: else the warp that fetches comes to its wait after the others have left theirs,
 * and a barrier there would never open. */
static const subject subjects[] = {
    {"vector_add",
     4096,
     {{"vector_add", 2, 128, 0, {B(0), B(1), B(2), V(1024)}, 4},
      {"vector_add", 2, 128, 0, {B(2), B(1), B(3), V(1024)}, 4},
      {"vector_add", 2, 128, 0, {B(3), B(1), B(2), V(1024)}, 4}},
     3},
    {"softmax",
     4096,
     {{"softmax", 4, 64, 0, {B(0), B(1), V(256)}, 3},
      {"softmax", 4, 64, 0, {B(1), B(2), V(256)}, 3},
      {"softmax", 4, 64, 0, {B(2), B(1), V(256)}, 3}},
     3},
    {"rms_norm",
     4096,
     {{"rms_norm", 4, 64, 0, {B(0), B(4), B(1), V(512), V(EPSILON)}, 5},
      {"rms_norm", 4, 64, 0, {B(1), B(4), B(2), V(512), V(EPSILON)}, 5},
      {"rms_norm", 4, 64, 0, {B(2), B(4), B(1), V(512), V(EPSILON)}, 5}},
     3},
    {"matvec_bf16",
     524288,
     {{"matvec_bf16", 4, 128, 32768, {B(5), B(0), B(1), V(512), V(512)}, 5},
      {"rms_norm", 1, 64, 0, {B(1), B(4), B(2), V(512), V(EPSILON)}, 5},
      {"matvec_bf16", 4, 128, 32768, {B(6), B(2), B(3), V(512), V(512)}, 5},
      {"matvec_bf16", 4, 128, 32768, {B(5), B(3), B(1), V(512), V(512)}, 5}},
     4},
    {"matvec_bf16",
     131072,
     {{"matvec_bf16", 16, 288, 57344, {B(5), B(0), B(1), V(256), V(256)}, 5},
      {"matvec_bf16", 16, 288, 57344, {B(6), B(1), B(2), V(256), V(256)}, 5},
      {"matvec_bf16", 16, 288, 57344, {B(6), B(2), B(3), V(256), V(256)}, 5},
      {"matvec_bf16", 16, 288, 57344, {B(5), B(3), B(1), V(256), V(256)}, 5}},
     4},
    {"linear_bf16",
     131072,
     {{"linear_bf16",
       4,
       128,
       32768,
       {B(5), NONE, B(0), NONE, B(4), NONE, B(1), V(256), V(256), V(EPSILON)},
       10},
      {"linear_bf16",
       4,
       128,
       32768,
       {B(5), B(6), B(1), B(4), NONE, B(1), B(2), V(256), V(256), V(EPSILON)},
       10},
      {"linear_bf16",
       4,
       128,
       32768,
       {B(6), NONE, B(2), B(4), NONE, B(1), B(3), V(256), V(256), V(EPSILON)},
       10},
      {"linear_bf16",
       4,
       128,
       32768,
       {B(6), NONE, B(3), NONE, NONE, B(1), B(1), V(256), V(256), V(EPSILON)},
       10}},
     4},
    {"skinny_bf16",
     131072,
     {{"skinny_bf16",
       4,
       384,
       110000,
       {B(5), NONE, B(0), NONE, B(4), NONE, B(1), V(256), V(256), V(3), V(EPSILON)},
       11},
      {"skinny_bf16",
       4,
       384,
       110000,
       {B(5), B(6), B(1), B(4), NONE, B(1), B(2), V(256), V(256), V(3), V(EPSILON)},
       11},
      {"skinny_bf16",
       4,
       384,
       110000,
       {B(6), NONE, B(2), B(4), NONE, B(1), B(3), V(256), V(256), V(3), V(EPSILON)},
       11},
      {"skinny_bf16",
       4,
       384,
       110000,
       {B(6), NONE, B(3), NONE, NONE, B(1), B(1), V(256), V(256), V(3), V(EPSILON)},
       11}},
     4},
    {"silu_multiply_bf16",
     4096,
     {{"silu_multiply_bf16", 2, 64, 0, {B(0), B(1), B(2), V(2048)}, 4},
      {"silu_multiply_bf16", 2, 64, 0, {B(2), B(1), B(3), V(2048)}, 4},
      {"silu_multiply_bf16", 2, 64, 0, {B(3), B(1), B(2), V(2048)}, 4}},
     3},
    {"layer_norm_residual_f16",
     4096,
     {{"layer_norm_residual_f16",
       4,
       64,
       0,
       {B(0), B(1), B(4), B(5), B(2), B(3), V(512), V(EPSILON)},
       8},
      {"layer_norm_residual_f16",
       4,
       64,
       0,
       {B(3), B(2), B(4), B(5), B(6), B(1), V(512), V(EPSILON)},
       8},
      {"layer_norm_residual_f16",
       4,
       64,
       0,
       {B(1), B(6), B(4), B(5), B(2), B(3), V(512), V(EPSILON)},
       8}},
     3},
    {"gemm_n64_bf16", 32768, {GEMM(0, 5, NONE, 1), GEMM(1, 6, B(0), 2), GEMM(2, 5, B(1), 1)}, 3},
    {"spin",
     4096,
     {{"spin", 2, 64, 0, {B(0), B(1), V(40)}, 3},
      {"spin", 2, 64, 0, {B(1), B(2), V(40)}, 3},
      {"spin", 2, 64, 0, {B(2), B(1), V(40)}, 3}},
     3},
    {"attention_decode_bf16",
     8192,
     {ATTENTION(0, 3, 4, 1), ATTENTION(1, 5, 6, 2), ATTENTION(2, 7, 8, 1)},
     3},
    {"rotary_append_bf16",
     16384,
     {{"rotary_append_bf16",
       3,
       64,
       0,
       {B(0), B(1), B(3), B(4), NONE, NONE, B(PLACE), NONE, V(1), V(8), V(2), V(128), V(32), V(0)},
       14},
      {"rotary_append_bf16",
       3,
       64,
       0,
       {B(1), B(2), B(5), B(6), NONE, NONE, B(PLACE), NONE, V(1), V(8), V(2), V(128), V(32), V(0)},
       14},
      {"rotary_append_bf16",
       3,
       64,
       0,
       {B(2), B(1), B(3), B(4), NONE, NONE, B(PLACE), NONE, V(1), V(8), V(2), V(128), V(32), V(0)},
       14}},
     3},
};

enum { SUBJECTS = sizeof subjects / sizeof *subjects };

/* ---- one run, in a child ---- */

static void need(int32_t status, const griddep_error *error, const char *what)
{
    if (status == GRIDDEP_OK)
        return;
    fprintf(stderr, "%s: %s\n", what, error->text);
    _exit(2);
}

static griddep_kernel *load(griddep_runtime *runtime, const char *name, const char *mutated,
                            const char *text)
{
    griddep_module *module;
    griddep_kernel *kernel;
    griddep_error error;

    griddep_error_init(&error);
    if (!strcmp(name, mutated))
        need(griddep_module_load(runtime, text, strlen(text), NULL, &module, &error), &error,
             "load");
    else
        need(griddep_module_load_shelf(runtime, name, NULL, &module, &error), &error, "load");
    need(griddep_module_find_kernel(module, name, &kernel, &error), &error, "kernel");
    return kernel;
}

static void make_map(griddep_runtime *runtime, uint64_t address, uint32_t rows,
                     griddep_tensor_map *map)
{
    const griddep_tensor_options options = {.size = sizeof options,
                                            .type = GRIDDEP_TENSOR_BF16,
                                            .address = address,
                                            .rank = 2,
                                            .swizzle = GRIDDEP_SWIZZLE_128B,
                                            .dimensions = {MAP_COLUMNS, MAP_COLUMNS},
                                            .strides = {2 * MAP_COLUMNS},
                                            .box = {64, rows}};
    griddep_error error;

    griddep_error_init(&error);
    need(griddep_tensor_map_encode(runtime, &options, map, &error), &error, "map");
}

static void add(griddep_runtime *runtime, griddep_chain *chain, griddep_kernel *kernel,
                const step *from, const uint64_t *buffers, bool first)
{
    griddep_launch_config config = {.size = sizeof config,
                                    .grid = {from->grid},
                                    .block = {from->block},
                                    .shared_bytes = from->shared,
                                    .pdl = first ? GRIDDEP_PDL_OFF : GRIDDEP_PDL_FORCE};
    if (!strncmp(from->kernel, "attention_", strlen("attention_"))) /* its grid is one cluster */
        config.cluster[0] = from->grid, config.cluster[1] = config.cluster[2] = 1;
    griddep_argument arguments[MOST_ARGUMENTS];
    griddep_tensor_map maps[MOST_ARGUMENTS];
    griddep_error error;

    griddep_error_init(&error);
    for (uint32_t i = 0; i < from->argument_count; i++) {
        const argument *item = &from->arguments[i];
        arguments[i] =
            (griddep_argument){.bytes = item->buffer == -1 ? 4 : 8,
                               .value = item->buffer < 0 ? item->value : buffers[item->buffer]};
        if (item->buffer < 0 || !item->value)
            continue;
        make_map(runtime, buffers[item->buffer], item->value, &maps[i]);
        arguments[i] = (griddep_argument){.bytes = sizeof maps[i], .data = &maps[i]};
    }
    need(griddep_chain_add(chain, kernel, &config, arguments, from->argument_count, &error), &error,
         "add");
}

static void run_child(const subject *of, const char *text, int32_t mode)
{
    griddep_runtime_options options = {
        .size = sizeof options, .driver = getenv("EMULATED_DRIVER"), .store_directory = ""};
    griddep_runtime *runtime;
    griddep_chain *chain;
    griddep_error error;
    uint64_t buffers[BUFFERS];
    void *stream;
    const uint32_t first_place = FIRST_PLACE;
    unsigned char *zeros = calloc(1, of->bytes);

    griddep_error_init(&error);
    need(griddep_runtime_open(&options, &runtime, &error), &error, "open");
    need(griddep_stream_create(runtime, NULL, &stream, &error), &error, "stream");
    for (uint32_t i = 0; i < BUFFERS; i++) {
        need(griddep_memory_allocate(runtime, of->bytes, &buffers[i], &error), &error, "allocate");
        need(griddep_memory_write(runtime, buffers[i], zeros, of->bytes, stream, &error), &error,
             "write");
    }
    free(zeros);
    need(griddep_memory_write(runtime, buffers[PLACE], &first_place, sizeof first_place, stream,
                              &error),
         &error, "write");
    need(griddep_chain_create(runtime, &chain, &error), &error, "chain");
    for (uint32_t i = 0; i < of->step_count; i++)
        add(runtime, chain, load(runtime, of->steps[i].kernel, of->kernel, text), &of->steps[i],
            buffers, i == 0);
    need(griddep_chain_run(chain, mode, stream, &error), &error, "run");
    need(griddep_stream_synchronize(runtime, stream, &error), &error, "synchronize");
    exit(0); /* runs the driver's destructor, which closes the report */
}

typedef struct outcome {
    uint32_t races, others;
    char first[4096]; /* the first finding's line */
} outcome;

static outcome read_report(const char *path)
{
    outcome found = {0};
    char line[4096];
    bool ended = false;
    FILE *file = fopen(path, "r");

    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof line, file)) {
        ended |= strstr(line, "\"summary\":true") != NULL;
        if (strncmp(line, "{\"finding\"", 10) != 0)
            continue;
        if (!found.races && !found.others)
            snprintf(found.first, sizeof found.first, "%s", line);
        if (strstr(line, "\"kind\":\"race\""))
            found.races++;
        else
            found.others++;
    }
    fclose(file);
    ck_assert_msg(ended, "the report has no summary");
    return found;
}

static outcome run(const subject *of, const char *text, int32_t mode, const char *schedule,
                   const char *model)
{
    char path[] = "/tmp/griddep-mutations-XXXXXX";
    int file = mkstemp(path), status;

    ck_assert_int_ge(file, 0);
    close(file);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        setenv("GRIDDEP_EMULATOR_CHECK", "race,shared,initialized", 1);
        setenv("GRIDDEP_EMULATOR_REPORT", path, 1);
        setenv("GRIDDEP_EMULATOR_SCHEDULE", schedule, 1);
        setenv("GRIDDEP_EMULATOR_MODEL", model, 1);
        run_child(of, text, mode);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0,
                  "%s, %s: the run ended with status 0x%x", of->kernel, schedule, (unsigned)status);
    outcome found = read_report(path);
    unlink(path);
    return found;
}

/* ---- mutations: texts made of the shelf's ---- */

static char made[TEXT];

static const char *shelf_text(const subject *of)
{
    griddep_shelf_info info = {.size = sizeof info};

    ck_assert_int_eq(griddep_shelf_find(of->kernel, 90, &info, NULL), GRIDDEP_OK);
    ck_assert_uint_lt(info.bytes, TEXT / 2);
    return info.text;
}

/* matvec_bf16 and linear_bf16 have a second body, with a wait of its own, for these blocks. */
static bool splits_columns(const subject *of)
{
    return of->steps[0].block == 288 || of->steps[0].block == 544;
}

static const char *find_wait(const subject *of, const char *text)
{
    const char *first = strstr(text, "    " WAIT) + 4, *second = strstr(first, "    " WAIT);
    return second && splits_columns(of) ? second + 4 : first;
}

/* The text with its wait replaced, and with `later` put in at a place behind it, which may be
 * NULL. */
static const char *replace_wait(const subject *of, const char *text, const char *replacement,
                                const char *place, const char *later)
{
    const char *wait = find_wait(of, text);
    int used = snprintf(made, sizeof made, "%.*s%s", (int)(wait - text), text, replacement);
    const char *rest = wait + strlen(WAIT);

    if (place)
        used += snprintf(made + used, sizeof made - (size_t)used, "%.*s%s\n", (int)(place - rest),
                         rest, later);
    used += snprintf(made + used, sizeof made - (size_t)used, "%s", place ? place : rest);
    ck_assert_int_lt(used, (int)sizeof made);
    return made;
}

static const char *next_load(const char *at)
{
    const char *load = strstr(at, " ld.global"), *fetch = strstr(at, " cp.async.bulk.tensor");

    return !load || (fetch && fetch < load) ? fetch : load;
}

/* Behind the nth load from global memory, from 0, that stands behind the wait; NULL past the
 * last. */
static const char *find_behind_load(const subject *of, const char *text, uint32_t nth)
{
    const char *at = find_wait(of, text);

    for (uint32_t i = 0; at && i <= nth; i++) {
        at = next_load(at);
        at = at ? strchr(at, ';') + 1 : NULL;
    }
    return at;
}

/* A wait that only some threads execute: `value` is a special register, the predicate holds where
 * it is below `limit`. */
static const char *narrow(const char *value, const char *compare, const char *limit,
                          const char *behind)
{
    static char text[512];

    snprintf(text, sizeof text,
             "{\n .reg .pred %%narrow;\n .reg .b32 %%some;\n mov.u32 %%some, %s;\n setp.%s.u32 "
             "%%narrow, %%some, %s;\n"
             " @%%narrow " WAIT "\n%s }",
             value, compare, limit, behind);
    return text;
}

/* Whether the nth run of a text takes place: a quarter does, and each text begins with another
 * one. */
static bool takes_place(const subject *of, int nth)
{
    static int texts; /* of this test, which is a process of its own */

    if (nth == 0)
        texts++;
    return (nth + texts + (int)(of - subjects)) % 4 == 0;
}

static void must_be_found(const subject *of, const char *text, const char *what)
{
    static const int32_t modes[] = {GRIDDEP_MODE_PDL, GRIDDEP_MODE_GRAPH_PDL};
    static const char *const schedules[] = {"eager", "lazy"};

    for (int i = 0; i < 4; i++) {
        if (!takes_place(of, i))
            continue;
        outcome found = run(of, text, modes[i / 2], schedules[i % 2], "contract");
        ck_assert_msg(found.races, "%s, wait %s, %s, %s: no race was found", of->kernel, what,
                      griddep_text(GRIDDEP_TEXT_MODE, modes[i / 2]), schedules[i % 2]);
        if (getenv("GRIDDEP_SHOW_MUTATIONS"))
            fprintf(stderr, "%s, wait %s, %s, %s: %u\n  %.300s\n", of->kernel, what,
                    griddep_text(GRIDDEP_TEXT_MODE, modes[i / 2]), schedules[i % 2], found.races,
                    found.first);
    }
}

static void must_be_quiet(const subject *of, const char *text, const char *what)
{
    static const char *const schedules[] = {"eager",    "lazy",     "random:1",
                                            "random:2", "random:3", "random:4"};

    for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT; mode++) {
        for (size_t i = 0; i < sizeof schedules / sizeof *schedules; i++) {
            if (!takes_place(of, mode * 7 + (int)i))
                continue;
            const char *model = i % 2 ? "observed" : "contract";
            outcome found = run(of, text, mode, schedules[i], model);
            ck_assert_msg(!found.races && !found.others, "%s, wait %s, %s, %s, %s: %s", of->kernel,
                          what, griddep_text(GRIDDEP_TEXT_MODE, mode), schedules[i], model,
                          found.first);
        }
    }
}

TEST_GROUP(as_it_is, NULL, NULL);
TEST_GROUP(deleted, NULL, NULL);
TEST_GROUP(delayed, NULL, NULL);
TEST_GROUP(narrowed, NULL, NULL);
TEST_GROUP(carried, NULL, NULL);

LOOP_TEST(as_it_is, as_it_is, SUBJECTS)
{
    const subject *of = &subjects[_i];

    must_be_quiet(of, shelf_text(of), "as it is");
}

LOOP_TEST(deleted, deleted, SUBJECTS)
{
    const subject *of = &subjects[_i];

    must_be_found(of, replace_wait(of, shelf_text(of), "", NULL, NULL), "deleted");
}

LOOP_TEST(delayed, delayed, SUBJECTS)
{
    const subject *of = &subjects[_i];
    const char *text = shelf_text(of);
    uint32_t loads = 0;

    for (const char *place; loads < MOST_LOADS && (place = find_behind_load(of, text, loads));
         loads++) {
        char what[64];
        snprintf(what, sizeof what, "behind load %u", loads);
        must_be_found(of, replace_wait(of, text, "", place, "\n    " WAIT), what);
    }
    ck_assert_uint_gt(loads, 0);
    must_be_found(of,
                  replace_wait(of, text, "", strstr(find_wait(of, text), "    ret;"), "    " WAIT),
                  "before the end");
}

LOOP_TEST(narrowed, narrowed, SUBJECTS)
{
    const subject *of = &subjects[_i];
    const char *text = shelf_text(of);

    must_be_found(of, replace_wait(of, text, narrow("%tid.x", "lt", "32", ""), NULL, NULL),
                  "in warp 0 only");
    must_be_found(of, replace_wait(of, text, narrow("%tid.x", "ge", "32", ""), NULL, NULL),
                  "in all warps but the first");
    /* Where the columns are split, the low lanes alone read x, and a barrier carries their wait to
     * the lanes that store. */
    must_be_found(of,
                  replace_wait(of, text,
                               narrow("%laneid", splits_columns(of) ? "ge" : "lt", "16", ""), NULL,
                               NULL),
                  "in half of each warp");
}

/* One warp waits for all, and a barrier carries that to the others; without the barrier, or with
 * one of a warp, they have not waited. */
LOOP_TEST(carried, carried, SUBJECTS)
{
    const subject *of = &subjects[_i];
    const char *text = shelf_text(of);

    must_be_quiet(
        of, replace_wait(of, text, narrow("%tid.x", "lt", "32", " bar.sync 15;\n"), NULL, NULL),
        "carried by a barrier");
    must_be_quiet(of,
                  replace_wait(of, text,
                               narrow("%laneid", "eq", "0", " bar.warp.sync 0xffffffff;\n"), NULL,
                               NULL),
                  "carried by a barrier of the warp");
    must_be_found(of,
                  replace_wait(of, text,
                               narrow("%tid.x", "eq", "0", " bar.warp.sync 0xffffffff;\n"), NULL,
                               NULL),
                  "carried to one warp only");
    must_be_found(of, replace_wait(of, text, narrow("%laneid", "eq", "0", ""), NULL, NULL),
                  "carried by nothing");
}

MAIN_OF_SUITE("mutations")
