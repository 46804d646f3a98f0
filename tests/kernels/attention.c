/* The shelf's attention kernels. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/io/number.h"
#include "shelf.h"

/* ---- launches of a decode attention, with a dense or a paged cache ---- */

enum { MOST_BATCH = 8, SPARE_PAGES = 2 };

typedef struct decode_shape {
    uint32_t heads, kv_heads, head_dim, batch, capacity;
    uint32_t splits, block, shared;
    uint32_t positions[MOST_BATCH];
    bool rotates;
    uint32_t page_size; /* where the kernel is paged; 0: 16 */
} decode_shape;

/* The arguments of a launch; a case may change the arrays before it runs. */
typedef struct decode_case {
    const char *type;
    decode_shape shape;
    bool paged;
    shelf_argument arguments[SHELF_MOST_ARGUMENTS];
    uint32_t count;
    uint32_t rotary, positions, y,
        head_dim; /* indices of arguments; qkv, k and v are the first three */
} decode_case;

enum { QKV, K_CACHE, V_CACHE, PAGE_TABLE };

static bool is_bf16(const shelf_argument *arguments)
{
    return strcmp(arguments[QKV].type, "bf16") == 0;
}

static shelf_argument *add_argument(decode_case *it, shelf_argument argument)
{
    it->arguments[it->count] = argument;
    return &it->arguments[it->count++];
}

static void add_array(decode_case *it, const char *type, void *data, uint64_t count)
{
    add_argument(it, (shelf_argument){.type = type, .data = data, .count = count});
}

static void add_scalar(decode_case *it, const char *type, double value)
{
    add_argument(it, (shelf_argument){.type = type, .scalar = value});
}

static float *make_rotary(uint32_t positions, uint32_t head_dim)
{
    uint32_t half = head_dim / 2;
    float *table = shelf_array("f32", (uint64_t)positions * head_dim);
    for (uint32_t position = 0; position < positions; position++) {
        for (uint32_t i = 0; i < half; i++) {
            double angle = position * pow(500000, -(double)i / half);
            table[2 * (position * half + i)] = (float)cos(angle);
            table[2 * (position * half + i) + 1] = (float)sin(angle);
        }
    }
    return table;
}

static uint32_t pages_of_row(const decode_shape *shape)
{
    return (shape->capacity + shape->page_size - 1) / shape->page_size;
}

/* Pages in random order, with some that are nobody's. */
static uint32_t *make_pages(uint32_t count)
{
    uint32_t *pages = shelf_array("u32", count);
    for (uint32_t i = 0; i < count; i++)
        pages[i] = i;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t other = shelf_random_bits() % count, page = pages[i];
        pages[i] = pages[other];
        pages[other] = page;
    }
    return pages;
}

static void add_caches(decode_case *it)
{
    const decode_shape *shape = &it->shape;
    uint32_t pages = it->paged ? shape->batch * pages_of_row(shape) + SPARE_PAGES : shape->batch;
    uint64_t rows = it->paged ? shape->page_size : shape->capacity;
    uint64_t elements = pages * rows * shape->kv_heads * shape->head_dim;
    for (int i = 0; i < 2; i++) {
        add_array(it, it->type, shelf_random_array(it->type, elements, 2), elements);
        it->arguments[it->count - 1].kept = true;
    }
    if (it->paged)
        add_array(it, "u32", make_pages(pages), pages - SPARE_PAGES);
}

static decode_case decode_create(const shelf_kernel *kernel, decode_shape shape)
{
    decode_case it = {.type = strstr(kernel->info.name, "bf16") != NULL ? "bf16" : "f16",
                      .shape = shape,
                      .paged = strstr(kernel->info.name, "paged") != NULL};
    uint64_t queries = (uint64_t)shape.batch * shape.heads * shape.head_dim;
    uint64_t inputs = (uint64_t)shape.batch * (shape.heads + 2 * shape.kv_heads) * shape.head_dim;
    it.shape.page_size = shape.page_size > 0 ? shape.page_size : 16;
    add_array(&it, it.type, shelf_random_array(it.type, inputs, 3), inputs);
    add_caches(&it);
    it.rotary = it.count;
    if (shape.rotates)
        add_array(&it, "f32", make_rotary(shape.capacity + 512, shape.head_dim),
                  (uint64_t)(shape.capacity + 512) * shape.head_dim);
    else
        add_scalar(&it, "u64", 0);
    it.positions = it.count;
    add_array(&it, "u32", shelf_copy("u32", shape.positions, shape.batch), shape.batch);
    it.y = it.count;
    add_array(&it, it.type, shelf_array(it.type, queries), queries);
    add_scalar(&it, "u32", shape.heads);
    it.head_dim = it.count;
    add_scalar(&it, "u32", shape.head_dim);
    add_scalar(&it, "u32", it.paged ? it.shape.page_size : shape.capacity);
    if (it.paged)
        add_scalar(&it, "u32", pages_of_row(&it.shape));
    add_scalar(&it, "f32", 1 / sqrt(shape.head_dim));
    return it;
}

static void decode_destroy(decode_case *it)
{
    for (uint32_t i = 0; i < it->count; i++)
        free(it->arguments[i].data);
}

/* Whether an element of the cache is of a new row: a key there is turned in f32 and rounded, so a
 * step may lie between it and the reference's. All others must be as they were. Arguments are those
 * of a dense or of a paged launch. */
static bool is_new(const shelf_argument *arguments, uint64_t index)
{
    bool paged =
        arguments[PAGE_TABLE].data != NULL && strcmp(arguments[PAGE_TABLE].type, "u32") == 0;
    const shelf_argument *positions = &arguments[paged ? 5 : 4], *sizes = &arguments[paged ? 7 : 6];
    uint64_t heads = (uint64_t)sizes[0].scalar, head_dim = (uint64_t)sizes[1].scalar,
             rows = (uint64_t)sizes[2].scalar;
    uint64_t kv_heads = (arguments[QKV].count / head_dim / positions->count - heads) / 2;
    for (uint64_t i = 0; i < positions->count * kv_heads; i++) {
        uint64_t row = i / kv_heads, position = ((const uint32_t *)positions->data)[row],
                 page = row;
        if (paged)
            page = ((const uint32_t *)arguments[PAGE_TABLE]
                        .data)[row * (uint64_t)sizes[3].scalar + position / rows];
        uint64_t start = ((page * kv_heads + i % kv_heads) * rows + position % rows) * head_dim;
        if (index >= start && index < start + head_dim)
            return true;
    }
    return false;
}

/* Outputs are means of values up to 3 in magnitude; the probabilities are rounded to the type
 * before they are used. */
static bool decode_will_do(const shelf_argument *arguments, uint32_t output, double got,
                           double expected, uint64_t index)
{
    double step = is_bf16(arguments) ? 0x1p-8 : 0x1p-11;
    if (output == V_CACHE)
        return false;
    if (output == K_CACHE)
        return is_new(arguments, index) &&
               (is_bf16(arguments) ? shelf_within_bf16_step(got, expected)
                                   : shelf_within_f16_step(got, expected));
    return fabs(got - expected) <= step * (2 * fabs(expected) + 1);
}

static griddep_launch_config decode_config(const decode_shape *shape)
{
    return (griddep_launch_config){.size = sizeof(griddep_launch_config),
                                   .grid = {shape->splits, shape->kv_heads, shape->batch},
                                   .block = {shape->block},
                                   .cluster = {shape->splits, 1, 1},
                                   .shared_bytes = shape->shared};
}

static void decode_check(const shelf_kernel *kernel, const decode_case *it)
{
    griddep_launch_config config = decode_config(&it->shape);
    free(shelf_run_config(kernel, it->arguments, it->count, &config, decode_will_do));
}

static void run_shapes(const shelf_kernel *kernel, const decode_shape *shapes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        decode_case it = decode_create(kernel, shapes[i]);
        decode_check(kernel, &it);
        decode_destroy(&it);
    }
}

/* Groups of queries, positions at the ends of tiles and of the cache, splits without a tile, rings
 * of one slot a warp and of a number that warps do not divide, contexts that fit a ring and such
 * that go through it several times, more tiles than a warp keeps pages for. */
static void decode_shapes(const shelf_kernel *kernel)
{
    static const decode_shape shapes[] = {
        {8, 2, 64, 1, 256, 4, 128, 70000, {200}, true, 32},
        {8, 2, 64, 1, 256, 4, 128, 70000, {0}, true, 16},
        {8, 2, 64, 1, 256, 4, 128, 70000, {255}, true, 64},
        {4, 1, 64, 1, 64, 8, 64, 40000, {1}, true, 16},
        {4, 1, 64, 1, 64, 3, 32, 40000, {15}, true, 16},
        {4, 1, 64, 1, 64, 1, 128, 40000, {16}, true, 16},
        {4, 1, 64, 1, 64, 2, 64, 40000, {17}, false, 128},
        {1, 1, 64, 1, 100, 7, 32, 30000, {99}, true, 16},
        {2, 1, 128, 1, 100, 2, 96, 60000, {80}, true, 16},
        {6, 2, 128, 1, 96, 4, 64, 60000, {95}, true, 32},
        {7, 1, 64, 1, 48, 5, 32, 30000, {40}, true, 16},
        {8, 1, 128, 1, 200, 4, 128, 113000, {180}, true, 16},
        {8, 1, 64, 1, 200, 3, 256, 60000, {181}, false, 16},
        {16, 2, 128, 2, 128, 4, 64, 60000, {127, 3}, true, 64},
        {4, 1, 64, 3, 300, 2, 32, 13500, {299, 0, 64}, true, 512},
        {4, 1, 128, 1, 600, 1, 32, 113000, {599}, true, 16},
        {8, 2, 64, 8, 64, 2, 32, 20000, {0, 5, 15, 16, 31, 32, 63, 20}, true, 16},
        {4, 1, 64, 1, 1000, 16, 32, 20000, {999}, true, 16},
        {4, 1, 64, 1, 640, 2, 64, 113000, {639}, true, 64},
        {4, 1, 64, 1, 1024, 1, 64, 60000, {1000}, true, 128},
        {3, 1, 64, 1, 700, 1, 96, 70000, {640}, true, 32},
        {8, 1, 128, 1, 512, 1, 64, 100000, {500}, true, 16},
        {2, 1, 128, 1, 400, 1, 96, 60000, {399}, false, 16},
    };
    run_shapes(kernel, shapes, sizeof shapes / sizeof shapes[0]);
}

/* One split needs no cluster: on a GPU as well, whose st.async is an illegal instruction then. */
static void decode_alone(const shelf_kernel *kernel)
{
    static const decode_shape shape = {6, 2, 64, 1, 128, 1, 64, 60000, {100}, true, 16};
    decode_case it = decode_create(kernel, shape);
    griddep_launch_config config = decode_config(&it.shape);
    memset(config.cluster, 0, sizeof config.cluster);
    free(shelf_run_config(kernel, it.arguments, it.count, &config, decode_will_do));
    decode_destroy(&it);
}

/* What a model has. */
static void decode_models(const shelf_kernel *kernel)
{
    static const decode_shape small[] = {{32, 8, 64, 1, 128, 4, 128, 100000, {127}, true, 64}};
    static const decode_shape shapes[] = {
        {32, 8, 64, 1, 512, 8, 128, 113000, {511}, true, 64},
        {32, 8, 128, 1, 512, 8, 128, 113000, {511}, true, 64},
        {4, 1, 64, 1, 4096, 16, 128, 113000, {4095}, true, 64},
        {8, 1, 128, 1, 4096, 16, 128, 113000, {4001}, true, 64},
        {8, 2, 64, 3, 2048, 4, 256, 113000, {2047, 77, 1500}, true, 64},
    };
    if (shelf_on_gpu)
        run_shapes(kernel, shapes, sizeof shapes / sizeof shapes[0]);
    else
        run_shapes(kernel, small, 1);
}

/* A special value in a query, in a key and a value of the cache, and in the new row of each. */
static void decode_extreme(const shelf_kernel *kernel)
{
    static const double specials[] = {0, -0.0, 0x1p-24, 300, -300, INFINITY, -INFINITY, NAN};
    static const decode_shape shape = {4, 1, 64, 1, 64, 2, 64, 40000, {50}, true, 16};
    for (size_t i = 0; i < sizeof specials / sizeof specials[0]; i++) {
        for (uint32_t place = 0; place < 5; place++) {
            decode_case it = decode_create(kernel, shape);
            uint32_t array = place < 3 ? place : QKV;
            uint64_t index = place == 0   ? 70
                             : place == 3 ? 4 * 64 + 9
                             : place == 4 ? 5 * 64 + 9
                                          : 33 * 64 + 9;
            gd_element_store(it.type, it.arguments[array].data, index, specials[i]);
            decode_check(kernel, &it);
            decode_destroy(&it);
        }
    }
}

/* Scales that are not 1 / sqrt(head_dim): one that turns the order of the scores around, and one
 * that makes all of them equal. */
static void decode_scales(const shelf_kernel *kernel)
{
    static const double scales[] = {-0.125, 0, 1};
    static const decode_shape shape = {6, 2, 64, 1, 128, 2, 64, 40000, {100}, true, 16};
    for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++) {
        decode_case it = decode_create(kernel, shape);
        it.arguments[it.count - 1].scalar = scales[i];
        decode_check(kernel, &it);
        decode_destroy(&it);
    }
}

/* ---- chains: a spin that triggers at once, then the attention on what it hands on ---- */

enum {
    CHAIN_HOPS = 3,
    CHAIN_REPEATS = 4,
    CHAIN_ARRAYS = 5 * CHAIN_HOPS + 2,
    SPIN_NANOSECONDS = 20000
};

/* Of each hop: the spin's input, whose queries are the hop before's output; qkv; k; v. Then the
 * last output, and what is constant. */
typedef struct decode_chain {
    decode_case plan;
    griddep_chain *chain;
    shelf_guarded arrays[CHAIN_ARRAYS];
    void *contents[CHAIN_ARRAYS]; /* what an array holds before each run; NULL: poison */
    uint32_t array_count;
} decode_chain;

static uint64_t add_chain_array(decode_chain *it, const char *type, void *contents, uint64_t count)
{
    shelf_guarded *array = &it->arrays[it->array_count];
    *array = shelf_guarded_create(count * gd_element_bytes(type), 0);
    it->contents[it->array_count++] = contents;
    return array->address;
}

/* An argument of the plan as a new array of the chain with the same contents, and as it is where it
 * is a scalar. */
static griddep_argument chain_argument(decode_chain *it, uint32_t index)
{
    const shelf_argument *argument = &it->plan.arguments[index];
    griddep_argument result = {.bytes = gd_element_bytes(argument->type)};
    if (argument->data == NULL) {
        gd_element_store(argument->type, &result.value, 0, argument->scalar);
        return result;
    }
    void *contents = shelf_copy(argument->type, argument->data, argument->count);
    result.bytes = 8;
    result.value = add_chain_array(it, argument->type, contents, argument->count);
    return result;
}

/* Adds a hop that reads `input` and writes the array at `output`. */
static void add_hop(decode_chain *it, const shelf_kernel *spin, const shelf_kernel *kernel,
                    griddep_argument *arguments, uint64_t input, uint64_t output)
{
    const shelf_argument *qkv = &it->plan.arguments[QKV];
    uint32_t words = (uint32_t)(qkv->count / 2);
    griddep_launch_config spin_config = {
        .size = sizeof spin_config, .grid = {words / 64}, .block = {64}};
    griddep_launch_config config = decode_config(&it->plan.shape);
    uint64_t handed = add_chain_array(it, it->plan.type, NULL, qkv->count);
    griddep_argument spin_arguments[] = {{.bytes = 8, .value = input},
                                         {.bytes = 8, .value = handed},
                                         {.bytes = 4, .value = SPIN_NANOSECONDS}};
    MUST(griddep_chain_add(it->chain, spin->kernel, &spin_config, spin_arguments, 3, &shelf_error));
    arguments[QKV].value = handed;
    arguments[K_CACHE] = chain_argument(it, K_CACHE);
    arguments[V_CACHE] = chain_argument(it, V_CACHE);
    arguments[it->plan.y].value = output;
    MUST(griddep_chain_add(it->chain, kernel->kernel, &config, arguments, it->plan.count,
                           &shelf_error));
}

static void build_chain(decode_chain *it, const shelf_kernel *spin, const shelf_kernel *kernel)
{
    griddep_argument arguments[SHELF_MOST_ARGUMENTS] = {{0}};
    uint64_t inputs[CHAIN_HOPS + 1];
    MUST(griddep_chain_create(shelf_runtime, &it->chain, &shelf_error));
    for (uint32_t i = PAGE_TABLE; i < it->plan.count; i++) {
        if (i != it->plan.y)
            arguments[i] = chain_argument(it, i);
    }
    arguments[QKV].bytes = arguments[it->plan.y].bytes = 8;
    for (uint32_t hop = 0; hop <= CHAIN_HOPS; hop++)
        inputs[hop] = chain_argument(it, QKV).value;
    for (uint32_t hop = 0; hop < CHAIN_HOPS; hop++)
        add_hop(it, spin, kernel, arguments, inputs[hop], inputs[hop + 1]);
}

/* Every array after a run, one behind the other. */
static unsigned char *run_chain(decode_chain *it, int32_t mode, void *stream, uint64_t *bytes)
{
    unsigned char *all = NULL;
    for (uint32_t i = 0; i < it->array_count; i++) {
        const shelf_guarded *array = &it->arrays[i];
        if (it->contents[i] == NULL)
            MUST(griddep_memory_fill(shelf_runtime, array->address, SHELF_POISON, array->bytes,
                                     stream, &shelf_error));
        else
            MUST(griddep_memory_write(shelf_runtime, array->address, it->contents[i], array->bytes,
                                      stream, &shelf_error));
    }
    MUST(griddep_chain_run(it->chain, mode, stream, &shelf_error));
    MUST(griddep_stream_synchronize(shelf_runtime, stream, &shelf_error));
    *bytes = 0;
    for (uint32_t i = 0; i < it->array_count; i++) {
        unsigned char *data =
            shelf_guarded_read(&it->arrays[i], griddep_text(GRIDDEP_TEXT_MODE, mode));
        all = realloc(all, *bytes + it->arrays[i].bytes);
        ck_assert_ptr_nonnull(all);
        memcpy(all + *bytes, data, it->arrays[i].bytes);
        *bytes += it->arrays[i].bytes;
        free(data);
    }
    return all;
}

static void decode_in_chain(const shelf_kernel *kernel)
{
    static const decode_shape shape = {8, 2, 64, 1, 128, 4, 64, 50000, {100}, true, 32};
    decode_chain it = {.plan = decode_create(kernel, shape)};
    shelf_kernel spin = shelf_load("spin", 0);
    void *stream = NULL;
    uint64_t bytes = 0;
    build_chain(&it, &spin, kernel);
    MUST(griddep_stream_create(shelf_runtime, NULL, &stream, &shelf_error));
    unsigned char *serial = run_chain(&it, GRIDDEP_MODE_SERIAL, stream, &bytes);
    for (int32_t mode = GRIDDEP_MODE_SERIAL; mode < GRIDDEP_MODE_COUNT; mode++) {
        for (int repeat = 0; repeat < CHAIN_REPEATS; repeat++) {
            unsigned char *other = run_chain(&it, mode, stream, &bytes);
            ck_assert_msg(memcmp(serial, other, bytes) == 0,
                          "%s in %s: not the bits of the serial run", kernel->info.name,
                          griddep_text(GRIDDEP_TEXT_MODE, mode));
            free(other);
        }
    }
    free(serial);
    griddep_chain_destroy(it.chain);
    for (uint32_t i = 0; i < it.array_count; i++) {
        shelf_guarded_destroy(&it.arrays[i]);
        free(it.contents[i]);
    }
    MUST(griddep_stream_destroy(shelf_runtime, stream, &shelf_error));
    griddep_module_unload(spin.module);
    decode_destroy(&it.plan);
}

/* ---- rotary_append ---- */

enum { MOST_TOKENS = 12 };

typedef struct append_shape {
    uint32_t tokens, heads, kv_heads, head_dim, page_size,
        pages;                       /* pages of a sequence; 0: a dense cache */
    uint32_t sequences, grid, block; /* sequences 0: token t is of sequence t */
    bool queries, rotates;
} append_shape;

enum { APPEND_QUERIES = 1, APPEND_K = 2, APPEND_V = 3 };

/* Values are turned in f32 and rounded; what was not turned is as it was, except that the check
 * cannot tell it apart. */
static bool append_will_do(const shelf_argument *arguments, uint32_t output, double got,
                           double expected, uint64_t index)
{
    (void)index;
    return output != APPEND_V && (is_bf16(arguments) ? shelf_within_bf16_step(got, expected)
                                                     : shelf_within_f16_step(got, expected));
}

/* Positions that follow each other within a sequence; the first of the last sequence is the end of
 * its last page. */
static void fill_places(const append_shape *shape, uint32_t *positions, uint32_t *sequences,
                        uint32_t most)
{
    for (uint32_t token = 0; token < shape->tokens; token++) {
        sequences[token] = shape->sequences > 0 ? token % shape->sequences : token;
        positions[token] = shape->sequences > 0 ? most - 1 - token / shape->sequences
                                                : (most - 1 + token * 7) % most;
    }
}

static void add_optional(decode_case *it, bool given, const char *type, void *data, uint64_t count)
{
    if (given)
        add_array(it, type, data, count);
    else
        add_scalar(it, "u64", 0);
    if (!given)
        free(data);
}

static decode_case append_create(const shelf_kernel *kernel, const append_shape *shape)
{
    decode_case it = {.type = strstr(kernel->info.name, "bf16") != NULL ? "bf16" : "f16"};
    uint32_t owners = shape->sequences > 0 ? shape->sequences : shape->tokens;
    uint32_t most = shape->page_size * (shape->pages > 0 ? shape->pages : 1);
    uint32_t pages = owners * (shape->pages > 0 ? shape->pages : 1) + SPARE_PAGES;
    uint64_t inputs =
        (uint64_t)shape->tokens * (shape->heads + 2 * shape->kv_heads) * shape->head_dim;
    uint64_t queries = (uint64_t)shape->tokens * shape->heads * shape->head_dim;
    uint64_t cache = (uint64_t)pages * shape->page_size * shape->kv_heads * shape->head_dim;
    uint32_t *positions = shelf_array("u32", MOST_TOKENS),
             *sequences = shelf_array("u32", MOST_TOKENS);
    const uint32_t scalars[] = {shape->tokens,   shape->heads,     shape->kv_heads,
                                shape->head_dim, shape->page_size, shape->pages};
    fill_places(shape, positions, sequences, most);
    add_array(&it, it.type, shelf_random_array(it.type, inputs, 3), inputs);
    add_optional(&it, shape->queries, it.type, shelf_array(it.type, queries), queries);
    for (int i = 0; i < 2; i++) {
        add_array(&it, it.type, shelf_random_array(it.type, cache, 2), cache);
        it.arguments[it.count - 1].kept = true;
    }
    add_optional(&it, shape->pages > 0, "u32", make_pages(pages), pages - SPARE_PAGES);
    add_optional(&it, shape->rotates, "f32", make_rotary(most, shape->head_dim),
                 (uint64_t)most * shape->head_dim);
    add_array(&it, "u32", positions, shape->tokens);
    add_optional(&it, shape->sequences > 0, "u32", sequences, shape->tokens);
    for (size_t i = 0; i < sizeof scalars / sizeof scalars[0]; i++)
        add_scalar(&it, "u32", scalars[i]);
    return it;
}

static void append_shapes(const shelf_kernel *kernel)
{
    static const append_shape shapes[] = {
        {1, 32, 8, 64, 100, 0, 0, 12, 32, true, true},
        {3, 8, 2, 128, 40, 0, 0, 1, 64, true, true},
        {12, 4, 1, 64, 16, 3, 2, 4, 96, true, true},
        {7, 6, 3, 80, 24, 2, 0, 5, 33, true, true},
        {5, 4, 4, 16, 7, 0, 2, 1, 1024, false, true},
        {6, 1, 1, 256, 64, 1, 3, 2, 128, true, false},
        {2, 0, 1, 64, 32, 2, 0, 3, 32, false, true},
        {12, 8, 2, 96, 1, 6, 2, 64, 16, true, true},
        {4, 16, 16, 64, 33, 5, 1, 132, 128, true, true},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        decode_case it = append_create(kernel, &shapes[i]);
        shelf_check(kernel, it.arguments, it.count,
                    (shelf_shape){shapes[i].grid, shapes[i].block, 0}, append_will_do);
        decode_destroy(&it);
    }
}

/* Special values keep their kind; where nothing is turned, every bit. */
static void append_extreme(const shelf_kernel *kernel)
{
    static const double specials[] = {0, -0.0, 0x1p-24, 3e4, INFINITY, -INFINITY, NAN};
    for (int rotates = 0; rotates < 2; rotates++) {
        append_shape shape = {2, 2, 1, 64, 16, 0, 0, 1, 32, true, rotates != 0};
        decode_case it = append_create(kernel, &shape);
        for (uint64_t row = 0; row < 8; row++) {
            for (uint64_t i = 0; i < sizeof specials / sizeof specials[0]; i++)
                gd_element_store(it.type, it.arguments[QKV].data, row * 64 + 5 * i, specials[i]);
        }
        shelf_check(kernel, it.arguments, it.count, (shelf_shape){1, 32, 0},
                    rotates ? append_will_do : shelf_equal);
        decode_destroy(&it);
    }
}

/* ---- attention_prefill ---- */

typedef struct prefill_shape {
    uint32_t heads, kv_heads, head_dim, batch, tokens, capacity, page_size;
    uint32_t first[MOST_BATCH], counts[MOST_BATCH];
    bool counted; /* else each sequence has `tokens` queries */
} prefill_shape;

/* As decode_will_do. Rows beyond a count are as they were, which the check does not ask. */
static bool prefill_will_do(const shelf_argument *arguments, uint32_t output, double got,
                            double expected, uint64_t index)
{
    double step = is_bf16(arguments) ? 0x1p-8 : 0x1p-11;
    (void)output;
    (void)index;
    return fabs(got - expected) <= step * (2 * fabs(expected) + 1);
}

static decode_case prefill_create(const shelf_kernel *kernel, const prefill_shape *shape)
{
    decode_case it = {.type = strstr(kernel->info.name, "bf16") != NULL ? "bf16" : "f16",
                      .paged = strstr(kernel->info.name, "paged") != NULL,
                      .shape = {.batch = shape->batch,
                                .capacity = shape->capacity,
                                .kv_heads = shape->kv_heads,
                                .head_dim = shape->head_dim,
                                .page_size = shape->page_size}};
    uint64_t queries = (uint64_t)shape->batch * shape->tokens * shape->heads * shape->head_dim;
    add_array(&it, it.type, shelf_random_array(it.type, queries, 3), queries);
    add_caches(&it);
    it.arguments[K_CACHE].kept = it.arguments[V_CACHE].kept = false; /* inputs */
    it.positions = it.count;
    add_array(&it, "u32", shelf_copy("u32", shape->first, shape->batch), shape->batch);
    add_optional(&it, shape->counted, "u32", shelf_copy("u32", shape->counts, shape->batch),
                 shape->batch);
    it.y = it.count;
    add_array(&it, it.type, shelf_array(it.type, queries), queries);
    it.arguments[it.y].kept = true;
    add_scalar(&it, "u32", shape->tokens);
    add_scalar(&it, "u32", shape->kv_heads);
    add_scalar(&it, "u32", shape->head_dim);
    add_scalar(&it, "u32", it.paged ? shape->page_size : shape->capacity);
    if (it.paged)
        add_scalar(&it, "u32", pages_of_row(&it.shape));
    add_scalar(&it, "f32", 1 / sqrt(shape->head_dim));
    return it;
}

static void prefill_check(const shelf_kernel *kernel, const prefill_shape *shape,
                          const decode_case *it)
{
    griddep_launch_config config = {
        .size = sizeof config,
        .grid = {shape->heads, (shape->tokens + 127) / 128, shape->batch},
        .block = {128},
        .shared_bytes = 768 * shape->head_dim};
    free(shelf_run_config(kernel, it->arguments, it->count, &config, prefill_will_do));
}

/* Prompts of one query, of whole and of cut tiles; chunks that begin within a tile, at its ends and
 * far behind; groups; sequences of which one has no query in the second block, one none at all. */
static void prefill_shapes(const shelf_kernel *kernel)
{
    static const prefill_shape shapes[] = {
        {1, 1, 64, 1, 1, 1, 16, {0}, {0}, false},
        {2, 1, 64, 1, 64, 64, 16, {0}, {0}, false},
        {4, 2, 64, 1, 33, 100, 32, {30}, {0}, false},
        {2, 2, 128, 1, 65, 129, 16, {64}, {0}, false},
        {3, 1, 128, 1, 130, 200, 64, {63}, {0}, false},
        {2, 1, 64, 1, 129, 400, 128, {271}, {0}, false},
        {2, 1, 64, 3, 140, 300, 16, {0, 5, 100}, {140, 100, 0}, true},
        {1, 1, 128, 2, 20, 64, 32, {44, 1}, {20, 7}, true},
    };
    static const prefill_shape large[] = {
        {32, 8, 64, 1, 2048, 2048, 64, {0}, {0}, false},
        {32, 8, 128, 1, 500, 4096, 64, {3000}, {0}, false},
        {8, 1, 128, 4, 700, 1024, 64, {0, 10, 200, 324}, {700, 690, 500, 1}, true},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        decode_case it = prefill_create(kernel, &shapes[i]);
        prefill_check(kernel, &shapes[i], &it);
        decode_destroy(&it);
    }
    for (size_t i = 0; i < sizeof large / sizeof large[0] && shelf_on_gpu; i++) {
        decode_case it = prefill_create(kernel, &large[i]);
        prefill_check(kernel, &large[i], &it);
        decode_destroy(&it);
    }
}

/* A special value in a query, which reaches its own output alone, and in a key, which reaches all
 * queries behind it; scales that make scores large, and all but equal. */
static void prefill_extreme(const shelf_kernel *kernel)
{
    static const double specials[] = {0, -0.0, 0x1p-24, 300, -300, INFINITY, -INFINITY, NAN};
    static const double scales[] = {4, 1e-6};
    static const prefill_shape shape = {2, 1, 64, 1, 40, 104, 16, {60}, {0}, false};
    for (size_t i = 0; i < sizeof specials / sizeof specials[0]; i++) {
        for (uint32_t place = 0; place < 2; place++) {
            decode_case it = prefill_create(kernel, &shape);
            uint64_t index = place == QKV ? (17 * 2 + 1) * 64 + 9 : 33 * 64 + 9;
            gd_element_store(it.type, it.arguments[place].data, index, specials[i]);
            prefill_check(kernel, &shape, &it);
            decode_destroy(&it);
        }
    }
    for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++) {
        decode_case it = prefill_create(kernel, &shape);
        it.arguments[it.count - 1].scalar = scales[i];
        prefill_check(kernel, &shape, &it);
        decode_destroy(&it);
    }
}

#define DECODE_CASES(kernel)                                                                       \
    {kernel, 0, decode_shapes}, {kernel, 0, decode_models}, {kernel, 0, decode_extreme},           \
        {kernel, 0, decode_scales}, {kernel, 0, decode_alone},                                     \
    {                                                                                              \
        kernel, 0, decode_in_chain                                                                 \
    }

const shelf_case attention_cases[] = {
    DECODE_CASES("attention_decode_bf16"),
    DECODE_CASES("attention_decode_f16"),
    DECODE_CASES("attention_decode_paged_bf16"),
    DECODE_CASES("attention_decode_paged_f16"),
    {"attention_prefill_bf16", 0, prefill_shapes},
    {"attention_prefill_bf16", 0, prefill_extreme},
    {"attention_prefill_f16", 0, prefill_shapes},
    {"attention_prefill_f16", 0, prefill_extreme},
    {"attention_prefill_paged_bf16", 0, prefill_shapes},
    {"attention_prefill_paged_bf16", 0, prefill_extreme},
    {"attention_prefill_paged_f16", 0, prefill_shapes},
    {"attention_prefill_paged_f16", 0, prefill_extreme},
    {"rotary_append_bf16", 0, append_shapes},
    {"rotary_append_bf16", 0, append_extreme},
    {"rotary_append_f16", 0, append_shapes},
    {"rotary_append_f16", 0, append_extreme},
    {NULL, 0, NULL},
};

/* A decode attention's output is not of its input's size: its chains are among the cases. */
#define PREFILL_LINK(name, element, number, ...)                                                   \
    {                                                                                              \
        .kernel = (name), .bytes = 2 * 2 * 32 * 64,                                                \
        .config = {.grid = {2, 1, 1}, .block = {128}, .shared_bytes = 768 * 64},                   \
        .count = (number),                                                                         \
        .arguments = {SHELF_PLACE(SHELF_INPUT), SHELF_PLACE(SHELF_CONSTANT),                       \
                      SHELF_PLACE(SHELF_CONSTANT), __VA_ARGS__},                                   \
        .type = (element), .constant_count = 32 * 64, .constant_scale = 1                          \
    }
#define NUMBER(number)                                                                             \
    {                                                                                              \
        .bytes = 4, .value = (number)                                                              \
    }
enum { EIGHTH = 0x3e000000 }; /* as an f32 */

const shelf_link attention_links[] = {
    PREFILL_LINK("attention_prefill_bf16", "bf16", 11, SHELF_PLACE(SHELF_ZEROS), {.bytes = 8},
                 SHELF_PLACE(SHELF_OUTPUT), NUMBER(32), NUMBER(1), NUMBER(64), NUMBER(32),
                 NUMBER(EIGHTH)),
    PREFILL_LINK("attention_prefill_paged_f16", "f16", 13, SHELF_PLACE(SHELF_ZEROS),
                 SHELF_PLACE(SHELF_ZEROS), {.bytes = 8}, SHELF_PLACE(SHELF_OUTPUT), NUMBER(32),
                 NUMBER(1), NUMBER(64), NUMBER(32), NUMBER(1), NUMBER(EIGHTH)),
    {.kernel = NULL},
};
