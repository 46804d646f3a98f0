/* The harness of the shelf's tests, through the public API alone. */
#include "shelf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/io/number.h"

enum { GUARD_BYTES = 512, HOPS = 6, REPEATS = 10 };
enum { SPIN_NANOSECONDS = 20000, SPIN_EMULATED = 4000 }; /* much more than a launch takes */

griddep_runtime *shelf_runtime;
griddep_error shelf_error;
bool shelf_on_gpu;

bool shelf_has_variant(const char *name, int32_t capability)
{
    griddep_shelf_info usual = {.size = sizeof usual}, other = {.size = sizeof other};
    MUST(griddep_shelf_find(name, 90, &usual, &shelf_error));
    return griddep_shelf_find(name, capability, &other, NULL) == GRIDDEP_OK &&
           strcmp(usual.file, other.file) != 0;
}

/* capability 0: the text that the library chooses for the device; else for that capability. */
shelf_kernel shelf_load(const char *name, int32_t capability)
{
    shelf_kernel result = {0};
    griddep_shelf_info info = {.size = sizeof info};
    if (capability == 0) {
        MUST(griddep_module_load_shelf(shelf_runtime, name, NULL, &result.module, &shelf_error));
    } else {
        MUST(griddep_shelf_find(name, capability, &info, &shelf_error));
        MUST(griddep_module_load(shelf_runtime, info.text, info.bytes, NULL, &result.module,
                                 &shelf_error));
    }
    MUST(griddep_module_find_kernel(result.module, name, &result.kernel, &shelf_error));
    result.info.size = sizeof result.info;
    MUST(griddep_kernel_get_info(result.kernel, &result.info, &shelf_error));
    return result;
}

uint32_t shelf_most_shared(const shelf_kernel *kernel)
{
    return kernel->info.maximum_dynamic_shared_bytes;
}

uint64_t shelf_random_state;

uint32_t shelf_random_bits(void)
{
    shelf_random_state = shelf_random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(shelf_random_state >> 32);
}

/* Uniform in (-1, 1). */
double shelf_random_unit(void)
{
    return ((double)shelf_random_bits() + 0.5) / 0x1p31 - 1;
}

void *shelf_array(const char *type, uint64_t count)
{
    void *array = calloc(count > 0 ? count : 1, gd_element_bytes(type));
    ck_assert_ptr_nonnull(array);
    return array;
}

void *shelf_random_array(const char *type, uint64_t count, double scale)
{
    void *array = shelf_array(type, count);
    for (uint64_t i = 0; i < count; i++)
        gd_element_store(type, array, i, shelf_random_unit() * scale);
    return array;
}

void *shelf_copy(const char *type, const void *array, uint64_t count)
{
    void *copy = shelf_array(type, count);
    memcpy(copy, array, count * gd_element_bytes(type));
    return copy;
}

shelf_guarded shelf_guarded_create(uint64_t bytes, uint64_t misalignment)
{
    shelf_guarded array = {.bytes = bytes, .total = bytes + misalignment + 2 * GUARD_BYTES};
    MUST(griddep_memory_allocate(shelf_runtime, array.total, &array.base, &shelf_error));
    MUST(griddep_memory_fill(shelf_runtime, array.base, SHELF_POISON, array.total, NULL,
                             &shelf_error));
    array.address = array.base + GUARD_BYTES + misalignment;
    return array;
}

void shelf_guarded_write(const shelf_guarded *array, const void *data)
{
    if (array->bytes > 0)
        MUST(griddep_memory_write(shelf_runtime, array->address, data, array->bytes, NULL,
                                  &shelf_error));
}

unsigned char *shelf_guarded_read(const shelf_guarded *array, const char *what)
{
    unsigned char *all = malloc(array->total);
    unsigned char *data = malloc(array->bytes > 0 ? array->bytes : 1);
    uint64_t start = array->address - array->base;
    ck_assert_ptr_nonnull(all);
    ck_assert_ptr_nonnull(data);
    MUST(griddep_memory_read(shelf_runtime, all, array->base, array->total, NULL, &shelf_error));
    for (uint64_t i = 0; i < array->total; i++) {
        if (i == start)
            i += array->bytes;
        if (i < array->total &&
            all[i] != SHELF_POISON) /* check notes each assertion in a file: none for each byte */
            ck_abort_msg("%s: byte %lld of the array's surroundings was written", what,
                         (long long)i - (long long)start);
    }
    memcpy(data, all + start, array->bytes);
    free(all);
    return data;
}

void shelf_guarded_destroy(shelf_guarded *array)
{
    MUST(griddep_memory_free(shelf_runtime, array->base, &shelf_error));
}

bool shelf_equal(const shelf_argument *arguments, uint32_t output, double got, double expected,
                 uint64_t index)
{
    (void)arguments;
    (void)output;
    (void)index;
    return got == expected;
}

static uint64_t argument_bytes(const shelf_argument *argument)
{
    return argument->count * gd_element_bytes(argument->type);
}

static griddep_argument map_argument(const griddep_tensor_options *options, uint64_t address,
                                     griddep_tensor_map *map)
{
    griddep_tensor_options placed = *options;
    placed.size = sizeof placed;
    placed.address = address;
    MUST(griddep_tensor_map_encode(shelf_runtime, &placed, map, &shelf_error));
    return (griddep_argument){.bytes = sizeof *map, .data = map};
}

griddep_argument shelf_launch_argument(const shelf_argument *argument, const shelf_guarded *array)
{
    griddep_argument result = {.bytes = gd_element_bytes(argument->type)};
    if (argument->data != NULL) {
        result.bytes = 8;
        result.value = array->address;
    } else {
        gd_element_store(argument->type, &result.value, 0, argument->scalar);
    }
    return result;
}

static bool within_step(double got, double expected, int bits, double smallest)
{
    double magnitude = fmax(fabs(got), fabs(expected));
    int exponent = 0;
    (void)frexp(magnitude, &exponent);
    return fabs(got - expected) <= fmax(ldexp(1, exponent - bits), smallest);
}

bool shelf_within_bf16_step(double got, double expected)
{
    return within_step(got, expected, 8, 0x1p-133);
}

bool shelf_within_f16_step(double got, double expected)
{
    return within_step(got, expected, 11, 0x1p-24);
}

static void compare(const char *what, const shelf_argument *arguments, uint32_t output,
                    const void *got, const void *expected, shelf_element_check check)
{
    const char *type = arguments[output].type;
    for (uint64_t i = 0; i < arguments[output].count; i++) {
        double value = gd_element_load(type, got, i);
        double wanted = gd_element_load(type, expected, i);
        if (value == wanted || (isnan(value) && isnan(wanted)) ||
            check(arguments, output, value, wanted, i))
            continue;
        ck_abort_msg("%s: element %llu of argument %u is %.9g, expected %.9g", what,
                     (unsigned long long)i, (unsigned)output, value, wanted);
    }
}

typedef struct launch_state {
    const gd_reference *reference;
    const shelf_argument *arguments;
    uint32_t count;
    shelf_guarded arrays[SHELF_MOST_ARGUMENTS];
    void *expected[SHELF_MOST_ARGUMENTS]; /* of outputs */
    griddep_argument launched[SHELF_MOST_ARGUMENTS];
    griddep_tensor_map maps[SHELF_MOST_ARGUMENTS];
    gd_reference_argument referred[SHELF_MOST_ARGUMENTS];
} launch_state;

static bool is_output(const launch_state *it, uint32_t index)
{
    return (it->reference->outputs >> index & 1) != 0 && it->arguments[index].data != NULL;
}

static void prepare_argument(launch_state *it, uint32_t i)
{
    const shelf_argument *argument = &it->arguments[i];
    void *data = argument->data;
    if (data != NULL) {
        it->arrays[i] = shelf_guarded_create(argument_bytes(argument), argument->misalignment);
        if (!is_output(it, i) || argument->kept)
            shelf_guarded_write(&it->arrays[i], data);
    }
    if (is_output(it, i)) {
        it->expected[i] = shelf_copy(argument->type, data, argument->count);
        data = it->expected[i];
    }
    it->launched[i] = argument->map != NULL
                          ? map_argument(argument->map, it->arrays[i].address, &it->maps[i])
                          : shelf_launch_argument(argument, &it->arrays[i]);
    it->referred[i] =
        (gd_reference_argument){argument->type, data, argument->count, argument->scalar};
}

static void *finish_argument(launch_state *it, uint32_t i, const char *what,
                             shelf_element_check check)
{
    const shelf_argument *argument = &it->arguments[i];
    void *read = shelf_guarded_read(&it->arrays[i], what);
    if (is_output(it, i))
        compare(what, it->arguments, i, read, it->expected[i], check);
    else
        ck_assert_msg(memcmp(read, argument->data, argument_bytes(argument)) == 0,
                      "%s: input %u was written", what, (unsigned)i);
    free(it->expected[i]);
    shelf_guarded_destroy(&it->arrays[i]);
    return read;
}

void *shelf_run_config(const shelf_kernel *kernel, const shelf_argument *arguments, uint32_t count,
                       const griddep_launch_config *config, shelf_element_check check)
{
    launch_state it = {
        .reference = shelf_reference(kernel->info.name), .arguments = arguments, .count = count};
    char what[200];
    void *result = NULL;
    ck_assert_msg(it.reference != NULL, "%s has no reference", kernel->info.name);
    snprintf(what, sizeof what, "%s<<<%u x %u x %u, %u, %u>>>", kernel->info.name, config->grid[0],
             config->grid[1], config->grid[2], config->block[0], config->shared_bytes);
    for (uint32_t i = 0; i < count; i++)
        prepare_argument(&it, i);
    MUST(griddep_launch(kernel->kernel, config, it.launched, count, NULL, &shelf_error));
    MUST(griddep_stream_synchronize(shelf_runtime, NULL, &shelf_error));
    const uint32_t grid[3] = {config->grid[0], config->grid[1] > 0 ? config->grid[1] : 1,
                              config->grid[2] > 0 ? config->grid[2] : 1};
    ck_assert_msg(it.reference->run(it.reference, it.referred, count, grid) == 0,
                  "%s: the reference refuses the arguments", what);
    for (uint32_t i = 0; i < count; i++) {
        bool first = result == NULL && is_output(&it, i);
        void *read = arguments[i].data != NULL ? finish_argument(&it, i, what, check) : NULL;
        if (first)
            result = read;
        else
            free(read);
    }
    ck_assert_msg(result != NULL, "%s: the reference names no output", what);
    return result;
}

void *shelf_run(const shelf_kernel *kernel, const shelf_argument *arguments, uint32_t count,
                shelf_shape shape, shelf_element_check check)
{
    griddep_launch_config config = {.size = sizeof config,
                                    .grid = {shape.grid},
                                    .block = {shape.block},
                                    .shared_bytes = shape.shared};
    return shelf_run_config(kernel, arguments, count, &config, check);
}

void shelf_check(const shelf_kernel *kernel, const shelf_argument *arguments, uint32_t count,
                 shelf_shape shape, shelf_element_check check)
{
    free(shelf_run(kernel, arguments, count, shape, check));
}

shelf_shape shelf_fit_shared(const shelf_kernel *kernel, shelf_shape wanted)
{
    if (wanted.shared == UINT32_MAX)
        wanted.shared = shelf_most_shared(kernel);
    return wanted;
}

enum { ZEROS = 64 }; /* bytes */

/* Where nothing depends on time, two hops show what six do. */
static uint32_t hops(void)
{
    return shelf_on_gpu ? HOPS : 2;
}

static uint32_t all_arrays(void)
{
    return 2 * hops() + 1;
}

typedef struct chain_case {
    shelf_kernel spin;
    shelf_kernel kernel;
    griddep_chain *chain;
    shelf_guarded arrays[2 * HOPS + 1];
    shelf_guarded constant, zeros;
    bool has_constant;
} chain_case;

static void add_spin(chain_case *it, uint32_t hop)
{
    uint32_t threads = (uint32_t)(it->arrays[0].bytes / 4);
    griddep_launch_config config = {.size = sizeof config, .grid = {threads / 128}, .block = {128}};
    griddep_argument arguments[] = {
        SHELF_PLACE(it->arrays[2 * hop].address),
        SHELF_PLACE(it->arrays[2 * hop + 1].address),
        {.bytes = 4, .value = shelf_on_gpu ? SPIN_NANOSECONDS : SPIN_EMULATED}};
    MUST(griddep_chain_add(it->chain, it->spin.kernel, &config, arguments, 3, &shelf_error));
}

static void add_kernel(chain_case *it, const shelf_link *link, uint32_t hop)
{
    griddep_argument arguments[SHELF_MOST_ARGUMENTS];
    griddep_tensor_map maps[SHELF_MOST_ARGUMENTS];
    griddep_launch_config config = link->config;
    config.size = sizeof config;
    if (config.shared_bytes == UINT32_MAX)
        config.shared_bytes = shelf_most_shared(&it->kernel);
    memcpy(arguments, link->arguments, sizeof arguments);
    for (uint32_t i = 0; i < link->count; i++) {
        if (arguments[i].bytes != 8 || arguments[i].value == 0 || arguments[i].value > SHELF_ZEROS)
            continue;
        arguments[i].value = arguments[i].value == SHELF_CONSTANT ? it->constant.address
                             : arguments[i].value == SHELF_ZEROS  ? it->zeros.address
                             : arguments[i].value == SHELF_INPUT  ? it->arrays[2 * hop + 1].address
                                                                  : it->arrays[2 * hop + 2].address;
        if (link->maps[i] != NULL)
            arguments[i] = map_argument(link->maps[i], arguments[i].value, &maps[i]);
    }
    MUST(griddep_chain_add(it->chain, it->kernel.kernel, &config, arguments, link->count,
                           &shelf_error));
}

static void *build_chain(chain_case *it, const shelf_link *link, int32_t capability)
{
    it->spin = shelf_load("spin", 0);
    it->kernel = shelf_load(link->kernel, capability);
    it->has_constant = link->constant_count > 0;
    if (it->has_constant) {
        void *constant = shelf_random_array(link->type, link->constant_count, link->constant_scale);
        it->constant = shelf_guarded_create(link->constant_count * gd_element_bytes(link->type), 0);
        shelf_guarded_write(&it->constant, constant);
        free(constant);
    }
    const unsigned char zeros[ZEROS] = {0};
    it->zeros = shelf_guarded_create(ZEROS, 0);
    shelf_guarded_write(&it->zeros, zeros);
    for (uint32_t i = 0; i < all_arrays(); i++)
        it->arrays[i] = shelf_guarded_create(link->bytes, 0);
    void *input = shelf_random_array(link->type, link->bytes / gd_element_bytes(link->type), 1);
    MUST(griddep_chain_create(shelf_runtime, &it->chain, &shelf_error));
    for (uint32_t hop = 0; hop < hops(); hop++) {
        add_spin(it, hop);
        add_kernel(it, link, hop);
    }
    return input;
}

/* Every array of the chain, one behind the other. */
static unsigned char *run_chain(chain_case *it, const void *input, int32_t mode, void *stream)
{
    uint64_t bytes = it->arrays[0].bytes;
    unsigned char *all = malloc(all_arrays() * bytes);
    ck_assert_ptr_nonnull(all);
    for (uint32_t i = 1; i < all_arrays(); i++)
        MUST(griddep_memory_fill(shelf_runtime, it->arrays[i].address, SHELF_POISON, bytes, stream,
                                 &shelf_error));
    MUST(griddep_memory_write(shelf_runtime, it->arrays[0].address, input, bytes, stream,
                              &shelf_error));
    MUST(griddep_chain_run(it->chain, mode, stream, &shelf_error));
    MUST(griddep_stream_synchronize(shelf_runtime, stream, &shelf_error));
    for (uint32_t i = 0; i < all_arrays(); i++) {
        unsigned char *data =
            shelf_guarded_read(&it->arrays[i], griddep_text(GRIDDEP_TEXT_MODE, mode));
        memcpy(all + i * bytes, data, bytes);
        free(data);
    }
    return all;
}

static bool is_poison(const unsigned char *data, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes; i++) {
        if (data[i] != SHELF_POISON)
            return false;
    }
    return true;
}

static void compare_runs(const shelf_link *link, int32_t mode, const unsigned char *serial,
                         const unsigned char *other)
{
    for (uint64_t i = 0; i < all_arrays(); i++) {
        ck_assert_msg(!is_poison(other + i * link->bytes, link->bytes),
                      "%s, %s: array %llu was not written", link->kernel,
                      griddep_text(GRIDDEP_TEXT_MODE, mode), (unsigned long long)i);
        ck_assert_msg(memcmp(serial + i * link->bytes, other + i * link->bytes, link->bytes) == 0,
                      "%s, %s: array %llu differs from the serial run's", link->kernel,
                      griddep_text(GRIDDEP_TEXT_MODE, mode), (unsigned long long)i);
    }
}

static void check_hops(chain_case *it, int32_t mode, int32_t reason)
{
    for (uint32_t i = 1; i < griddep_chain_length(it->chain); i++) {
        griddep_hop_info hop = {.size = sizeof hop};
        MUST(griddep_chain_get_hop(it->chain, mode, i, &hop, &shelf_error));
        ck_assert_msg(hop.reason == (i % 2 == 1 ? reason : GRIDDEP_REASON_SET), "%s in %s: %s",
                      hop.kernel, griddep_text(GRIDDEP_TEXT_MODE, mode),
                      griddep_text(GRIDDEP_TEXT_REASON, hop.reason));
    }
}

void shelf_check_chain(const shelf_link *link, int32_t capability)
{
    chain_case it = {0};
    void *stream = NULL;
    void *input = build_chain(&it, link, capability);
    MUST(griddep_stream_create(shelf_runtime, NULL, &stream, &shelf_error));
    unsigned char *serial = run_chain(&it, input, GRIDDEP_MODE_SERIAL, stream);
    compare_runs(link, GRIDDEP_MODE_SERIAL, serial, serial);
    for (int32_t mode = shelf_on_gpu ? GRIDDEP_MODE_SERIAL : GRIDDEP_MODE_SERIAL + 1;
         mode < GRIDDEP_MODE_COUNT; mode++) { /* an emulated device repeats what it did */
        if (mode == GRIDDEP_MODE_PDL || mode == GRIDDEP_MODE_GRAPH_PDL)
            check_hops(&it, mode, capability == 80 ? GRIDDEP_REASON_NO_WAIT : GRIDDEP_REASON_SET);
        for (int repeat = 0; repeat < (shelf_on_gpu ? REPEATS : 1); repeat++) {
            unsigned char *other = run_chain(&it, input, mode, stream);
            compare_runs(link, mode, serial, other);
            free(other);
        }
    }
    free(serial);
    free(input);
    griddep_chain_destroy(it.chain);
    for (uint32_t i = 0; i < all_arrays(); i++)
        shelf_guarded_destroy(&it.arrays[i]);
    shelf_guarded_destroy(&it.zeros);
    if (it.has_constant)
        shelf_guarded_destroy(&it.constant);
    MUST(griddep_stream_destroy(shelf_runtime, stream, &shelf_error));
    griddep_module_unload(it.kernel.module);
    griddep_module_unload(it.spin.module);
}
