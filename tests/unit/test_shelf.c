/* The shelf's conditions, all of them: for each condition of each kernel a launch that breaks
 * exactly this one is refused with its words, and the launch nearest to it that breaks none is
 * taken. The launches are found by search, from the conditions themselves, so a new kernel needs no
 * line here. On the scripted fake driver. */
#include <check.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake/fake_driver.h"
#include "griddep.h"
#include "ptx/handle/ptx.h"
#include "run/runtime.h"
#include "sanitized.h"
#include "suite.h"
#include "unit/status.h"

enum { MOST_VALUES = 1000, MOST_ARGUMENTS = 64, ATTEMPTS = 60, ALIKE = 2 };

static griddep_error error;
static griddep_runtime *runtime;

/* ---- one kernel of the shelf ---- */

typedef struct subject {
    griddep_shelf_info shelf;
    griddep_ptx *ptx;
    const gd_requires *terms;
    griddep_module *module;
    griddep_kernel *kernel;
    uint32_t parameter_count;
    uint32_t most_threads, most_shared, required_block[3];
    uint64_t values[GD_REQUIRE_LIMIT_NAMES][MOST_VALUES]; /* to try, for each name */
    uint32_t value_count[GD_REQUIRE_LIMIT_NAMES];
} subject;

/* The values of the names that the conditions use; all others are the same in each launch. */
typedef struct trial {
    uint64_t values[GD_REQUIRE_LIMIT_NAMES];
} trial;

static subject on;

static bool
    beyond_limits; /* the search may go where a launch is refused whatever the conditions say */
static uint64_t random_state;

static uint32_t random_below(uint32_t limit)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % limit;
}

/* ---- values to try ---- */

/* A tensor map holds any of these values; that the driver would take it is not asked. */
static uint64_t least_of_field(const gd_require_name *name)
{
    switch (name->field) {
    case GD_REQUIRE_FIELD_RANK:
        return 2;
    case GD_REQUIRE_FIELD_DIMENSION:
    case GD_REQUIRE_FIELD_BOX:
    case GD_REQUIRE_FIELD_STEP:
        return 1;
    default:
        return 0;
    }
}

static uint64_t most_of_field(const gd_require_name *name)
{
    switch (name->field) {
    case GD_REQUIRE_FIELD_RANK:
        return 5;
    case GD_REQUIRE_FIELD_DIMENSION:
        return UINT64_C(1) << 32;
    case GD_REQUIRE_FIELD_BOX:
        return 256;
    case GD_REQUIRE_FIELD_STEP:
        return 8;
    case GD_REQUIRE_FIELD_FILL:
        return 1;
    case GD_REQUIRE_FIELD_TYPE:
        return GD_TENSOR_TYPES - 1;
    case GD_REQUIRE_FIELD_SWIZZLE:
        return 3;
    case GD_REQUIRE_FIELD_BYTES:
        return 0; /* it follows from the others */
    default:
        return UINT64_MAX;
    }
}

/* A matrix that is large enough for whatever the numbers beside it are. */
static uint64_t usual_of_field(const gd_require_name *name)
{
    if (name->field == GD_REQUIRE_FIELD_RANK)
        return 2;
    return name->field == GD_REQUIRE_FIELD_DIMENSION ? most_of_field(name) : least_of_field(name);
}

/* Whether a parameter of that type, or that part of a shape, can have the value. */
static bool can_have(const gd_require_name *name, uint64_t value)
{
    static const uint32_t least[GD_REQUIRE_SHAPE] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 0};
    static const uint32_t most[GD_REQUIRE_SHAPE] = {INT32_MAX, 65535, 65535, 1024, 1024,
                                                    64,        32,    32,    32,   UINT32_MAX};

    if (name->kind == GD_REQUIRE_KIND_FIELD)
        return value >= least_of_field(name) && value <= most_of_field(name);
    if (!name->bytes)
        return value >= least[name->index] && value <= most[name->index];
    return value <= UINT64_MAX >> (64 - 8 * name->bytes);
}

static void add_value(uint32_t name, uint64_t value)
{
    uint64_t *values = on.values[name];

    if (!can_have(&on.terms->names[name], value))
        return;
    for (uint32_t i = 0; i < on.value_count[name]; i++) {
        if (values[i] == value)
            return;
    }
    ck_assert_uint_lt(on.value_count[name], MOST_VALUES);
    values[on.value_count[name]++] = value;
}

static uint64_t address_of(uint32_t name)
{
    return (name + UINT64_C(1)) << 45;
}

static bool is_address(uint32_t name)
{
    return on.terms->names[name].extent != GD_REQUIRE_NONE;
}

/* Small numbers, powers of two, and the numbers of the conditions with their neighbours and
 * multiples. */
static void collect_integers(uint32_t name)
{
    const gd_requires *terms = on.terms;
    const gd_require_name *of = &terms->names[name];
    uint64_t base = is_address(name) ? address_of(name) : 0;

    for (uint64_t i = 0; i <= 17; i++)
        add_value(name, base + i);
    for (int shift = 5; shift < 64; shift++)
        add_value(name, base + (UINT64_C(1) << shift));
    for (uint32_t i = 0; i < terms->constant_count && i < 60; i++) {
        const uint64_t constant = terms->constants[i];
        add_value(name, base + constant - 1);
        add_value(name, base + constant);
        add_value(name, base + constant + 1);
        add_value(name, base + 2 * constant);
        add_value(name, base + 3 * constant);
    }
    if (is_address(name) || of->bytes == 8)
        add_value(name, 0);
    for (uint32_t other = 0; other < terms->name_count && base; other++) {
        if (other != name && is_address(other)) {
            add_value(name, address_of(other));
            add_value(name, address_of(other) + 16);
            add_value(name, address_of(other) + 128);
        }
    }
}

static void collect_reals(uint32_t name)
{
    static const float some[] = {1, 0, -1, 0.5f, 2, 1e-6f, 1e-12f, 100, -1e9f, 1e9f};
    uint32_t bits;

    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++) {
        memcpy(&bits, &some[i], sizeof bits);
        on.values[name][on.value_count[name]++] = bits;
    }
}

/* ---- tensor maps ---- */

/* The map of a trial: what the conditions do not name is as it would be in a dense matrix. */
static gd_tensor_map map_of(const trial *tried, uint32_t map)
{
    gd_tensor_map made = {.address = UINT64_C(1) << 50, .rank = 2};

    for (uint32_t i = 0; i < GD_TENSOR_RANK; i++) {
        made.sizes[i] = made.box[i] = made.steps[i] = 1;
        made.strides[i] = 16;
    }
    for (uint32_t i = 0; i < on.terms->name_count; i++) {
        const gd_require_name *name = &on.terms->names[i];
        const uint64_t value = tried->values[i];
        if (name->kind != GD_REQUIRE_KIND_FIELD || name->map != map)
            continue;
        if (name->field == GD_REQUIRE_FIELD_ADDRESS)
            made.address = value;
        else if (name->field == GD_REQUIRE_FIELD_RANK)
            made.rank = (uint8_t)value;
        else if (name->field == GD_REQUIRE_FIELD_DIMENSION)
            made.sizes[name->dimension] = value;
        else if (name->field == GD_REQUIRE_FIELD_BOX)
            made.box[name->dimension] = (uint32_t)value;
        else if (name->field == GD_REQUIRE_FIELD_STEP)
            made.steps[name->dimension] = (uint32_t)value;
        else if (name->field == GD_REQUIRE_FIELD_TYPE)
            made.type = (uint8_t)value;
        else if (name->field == GD_REQUIRE_FIELD_SWIZZLE)
            made.swizzle = (uint8_t)value;
        else if (name->field == GD_REQUIRE_FIELD_FILL)
            made.fill = (uint8_t)value;
    }
    made.strides[0] = gd_tensor_element(made.type);
    made.strides[1] = (made.sizes[0] * made.strides[0] + 15) / 16 * 16;
    return made;
}

/* What the library makes of a trial; the values that follow from others are computed. */
static void load(const trial *tried, gd_require_launch *launch)
{
    memcpy(launch->values, tried->values, on.terms->name_count * sizeof *launch->values);
    memcpy(launch->values + GD_REQUIRE_CONSTANTS, on.terms->constants,
           on.terms->constant_count * sizeof *launch->values);
    launch->understood = UINT8_MAX;
    launch->placed = 0;
    for (uint32_t i = 0; i < on.terms->name_count; i++) {
        const gd_require_name *name = &on.terms->names[i];
        if (name->kind == GD_REQUIRE_KIND_FIELD && name->field == GD_REQUIRE_FIELD_BYTES) {
            const gd_tensor_map map = map_of(tried, name->map);
            launch->values[i] = gd_tensor_map_extent(&map);
        }
    }
}

/* ---- trials ---- */

/* What the library would refuse for other reasons than a condition. */
static bool is_possible(const trial *tried)
{
    uint64_t shape[GD_REQUIRE_SHAPE] = {1, 1, 1, 32, 1, 1, 1, 1, 1, 0};

    if (beyond_limits)
        return true;
    for (uint32_t i = 0; i < on.terms->name_count; i++) {
        const gd_require_name *name = &on.terms->names[i];
        if (name->kind == GD_REQUIRE_KIND_SHAPE)
            shape[name->index] = tried->values[i];
    }
    for (int i = 0; i < 3 && on.required_block[0]; i++) {
        if (shape[GD_REQUIRE_BLOCK + i] != (on.required_block[i] ? on.required_block[i] : 1))
            return false;
    }
    for (int i = 0; i < 3; i++) {
        if (shape[GD_REQUIRE_GRID + i] % shape[GD_REQUIRE_CLUSTER + i])
            return false;
    }
    return shape[3] * shape[4] * shape[5] <= on.most_threads &&
           shape[6] * shape[7] * shape[8] <= 8 && shape[GD_REQUIRE_SHARED] <= on.most_shared;
}

/* How many conditions do not hold, and the first of them. */
static uint32_t count_broken(const trial *tried, uint32_t *first)
{
    gd_require_launch launch;
    uint32_t broken = 0;

    load(tried, &launch);
    for (uint32_t i = 0; i < on.terms->count; i++) {
        if (gd_requirement_evaluate(on.terms, &on.terms->list[i], &launch) == GD_REQUIRE_DONE)
            continue;
        if (!broken++ && first)
            *first = i;
    }
    return broken;
}

static bool breaks_only(const trial *tried, uint32_t index)
{
    gd_require_launch launch;
    uint32_t first = UINT32_MAX;

    load(tried, &launch);
    if (gd_requirement_evaluate(on.terms, &on.terms->list[index], &launch) == GD_REQUIRE_DONE)
        return false;
    return is_possible(tried) && count_broken(tried, &first) == 1 && first == index;
}

static void start_at_usual(trial *tried)
{
    static const uint32_t usual[GD_REQUIRE_SHAPE] = {4, 1, 1, 128, 1, 1, 1, 1, 1, 0};

    memset(tried, 0, sizeof *tried);
    for (uint32_t i = 0; i < on.terms->name_count; i++) {
        const gd_require_name *name = &on.terms->names[i];
        if (name->kind == GD_REQUIRE_KIND_FIELD && !is_address(i))
            tried->values[i] = usual_of_field(name);
        else if (name->kind == GD_REQUIRE_KIND_SHAPE)
            tried->values[i] = usual[name->index];
        else if (name->kind == GD_REQUIRE_KIND_REAL)
            tried->values[i] = on.values[i][0];
        else
            tried->values[i] = is_address(i) || name->bytes == 8 ? address_of(i) : 64;
    }
}

/* All numbers alike, so that those of the maps are the ones beside them. */
static void start_alike(trial *tried, uint32_t number)
{
    start_at_usual(tried);
    for (uint32_t i = 0; i < on.terms->name_count; i++) {
        const gd_require_name *name = &on.terms->names[i];
        if (name->kind == GD_REQUIRE_KIND_FIELD
                ? name->field == GD_REQUIRE_FIELD_DIMENSION
                : name->kind == GD_REQUIRE_KIND_INTEGER && name->bytes == 4)
            tried->values[i] = number;
    }
}

static void start_anywhere(trial *tried)
{
    start_at_usual(tried);
    for (uint32_t i = 0; i < on.terms->name_count; i++) {
        if (random_below(2))
            tried->values[i] = on.values[i][random_below(on.value_count[i])];
    }
}

static uint32_t pinned = UINT32_MAX; /* the name whose value climb leaves as it is */

/* The case that a condition is about: of "activation != 4 || ..." an activation of 4, which
 * stays. */
static void pin(trial *tried, const gd_requirement *requirement)
{
    for (uint32_t i = requirement->step; i < requirement->step_end; i++) {
        const gd_require_step *step = &on.terms->steps[i];
        if (step->op != GD_REQUIRE_COMPARE || !(step->result & GD_REQUIRE_UNORDERED) ||
            step->left >= GD_REQUIRE_CONSTANTS || step->right >= GD_REQUIRE_RESULTS)
            continue;
        pinned = step->left;
        tried->values[pinned] = on.terms->constants[step->right - GD_REQUIRE_CONSTANTS];
    }
}

/* Takes each change of one value that breaks fewer conditions, over and over, until none is broken
 * or none is better. */
static bool climb(trial *tried)
{
    uint32_t broken = count_broken(tried, NULL) + !is_possible(tried);

    for (bool better = true; broken && better;) {
        better = false;
        for (uint32_t name = 0; name < on.terms->name_count && broken; name++) {
            for (uint32_t i = 0; i < on.value_count[name] && name != pinned && broken; i++) {
                trial changed = *tried;
                changed.values[name] = on.values[name][i];
                uint32_t count = count_broken(&changed, NULL) + !is_possible(&changed);
                if (count < broken) {
                    broken = count;
                    *tried = changed;
                    better = true;
                }
            }
        }
    }
    return !broken;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a < b ? b - a : a - b;
}

/* A launch that breaks only this condition, by one value, from one that is taken: then the taken
 * one is moved as near to it as it goes. */
static bool break_one(const trial *base, uint32_t index, trial *taken, trial *broken)
{
    for (uint32_t name = 0; name < on.terms->name_count; name++) {
        bool real = on.terms->names[name].kind == GD_REQUIRE_KIND_REAL;
        for (uint32_t i = 0; i < on.value_count[name]; i++) {
            *taken = *broken = *base;
            broken->values[name] = on.values[name][i];
            if (!breaks_only(broken, index))
                continue;
            const uint64_t limit = broken->values[name];
            for (uint32_t k = 0; k < on.value_count[name] && !real; k++) {
                trial nearer = *base;
                nearer.values[name] = on.values[name][k];
                if (distance(nearer.values[name], limit) < distance(taken->values[name], limit) &&
                    is_possible(&nearer) && !count_broken(&nearer, NULL))
                    *taken = nearer;
            }
            return true;
        }
    }
    return false;
}

static bool speaks_of(const gd_requirement *requirement, uint32_t name)
{
    for (uint32_t i = requirement->step; i < requirement->step_end; i++) {
        const gd_require_step *step = &on.terms->steps[i];
        if (step->op != GD_REQUIRE_UNDERSTOOD && (step->left == name || step->right == name))
            return true;
    }
    return false;
}

/* The same by two values, of which the condition speaks of one. */
static bool break_two(const trial *base, uint32_t index, trial *taken, trial *broken)
{
    *taken = *base;
    for (uint32_t first = 0; first < on.terms->name_count; first++) {
        for (uint32_t i = 0; i < on.value_count[first] && speaks_of(&on.terms->list[index], first);
             i++) {
            for (uint32_t second = 0; second < on.terms->name_count; second++) {
                *broken = *base;
                broken->values[first] = on.values[first][i];
                for (uint32_t k = 0; k < on.value_count[second] && second != first; k++) {
                    broken->values[second] = on.values[second][k];
                    if (breaks_only(broken, index))
                        return true;
                }
            }
        }
    }
    return false;
}

static void start(trial *base, int attempt)
{
    if (!attempt)
        start_at_usual(base);
    else if (attempt < ALIKE && on.terms->map_count)
        start_alike(base, 8);
    else
        start_anywhere(base);
}

static bool find_both(uint32_t index, trial *taken, trial *broken)
{
    trial base;

    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        pinned = UINT32_MAX;
        start(&base, attempt);
        if (attempt < ALIKE)
            pin(&base, &on.terms->list[index]);
        if (climb(&base) && break_one(&base, index, taken, broken))
            return true;
    }
    pinned = UINT32_MAX;
    start_at_usual(&base);
    return climb(&base) && break_two(&base, index, taken, broken);
}

/* A condition that says what the device or .reqntid say too: then it is they that refuse. */
static bool find_beyond_limits(uint32_t index, trial *taken, trial *broken)
{
    trial base;

    start_at_usual(&base);
    bool found = climb(&base);
    beyond_limits = true;
    found =
        found && (break_one(&base, index, taken, broken) || break_two(&base, index, taken, broken));
    *taken = base;
    beyond_limits = false;
    return found;
}

/* ---- launches ---- */

typedef struct launch {
    griddep_launch_config config;
    griddep_argument arguments[MOST_ARGUMENTS];
} launch;

static const unsigned char structure[4096];

static launch make_launch(const trial *tried)
{
    static griddep_tensor_map maps[GD_REQUIRE_LIMIT_MAPS];
    launch made = {.config = {.size = sizeof made.config, .grid = {1, 1, 1}, .block = {32, 1, 1}}};
    uint32_t shape[GD_REQUIRE_SHAPE] = {1, 1, 1, 32, 1, 1};

    ck_assert_uint_le(on.parameter_count, MOST_ARGUMENTS);
    for (uint32_t i = 0; i < on.parameter_count; i++) {
        griddep_parameter_info info = {.size = sizeof info};
        ck_good(griddep_kernel_get_parameter(on.kernel, i, &info, &error));
        made.arguments[i] =
            (griddep_argument){.bytes = info.bytes, .data = info.bytes > 8 ? structure : NULL};
    }
    for (uint32_t i = 0; i < on.terms->name_count; i++) {
        const gd_require_name *name = &on.terms->names[i];
        if (name->kind == GD_REQUIRE_KIND_FIELD) {
            const gd_tensor_map map = map_of(tried, name->map);
            gd_tensor_map_write(&maps[name->map], &map);
            made.arguments[name->index].data = &maps[name->map];
        } else if (name->kind == GD_REQUIRE_KIND_SHAPE) {
            shape[name->index] = (uint32_t)tried->values[i];
        } else {
            made.arguments[name->index].value = tried->values[i];
        }
    }
    memcpy(made.config.grid, shape + GD_REQUIRE_GRID, sizeof made.config.grid);
    memcpy(made.config.block, shape + GD_REQUIRE_BLOCK, sizeof made.config.block);
    if (shape[6] > 1 || shape[7] > 1 || shape[8] > 1)
        memcpy(made.config.cluster, shape + GD_REQUIRE_CLUSTER, sizeof made.config.cluster);
    made.config.shared_bytes = shape[GD_REQUIRE_SHARED];
    return made;
}

/* Both ways: by the text, and by a real launch, which reaches the driver or does not. */
static void try_taken(const trial *taken, const char *condition)
{
    const launch made = make_launch(taken);
    uint64_t launches = fake_driver_launches();

    ck_assert_msg(griddep_ptx_check_launch(on.ptx, 0, &made.config, made.arguments,
                                           on.parameter_count, &error) == GRIDDEP_OK,
                  "%s, at the edge of %s: %s", on.shelf.file, condition, error.text);
    ck_assert_msg(griddep_launch(on.kernel, &made.config, made.arguments, on.parameter_count, NULL,
                                 &error) == GRIDDEP_OK,
                  "%s, at the edge of %s: %s", on.shelf.file, condition, error.text);
    ck_assert_uint_eq(fake_driver_launches(), launches + 1);
}

static void try_broken(const trial *broken, int32_t expected, const char *condition)
{
    const launch made = make_launch(broken);
    uint64_t launches = fake_driver_launches();
    char words[1024];

    snprintf(words, sizeof words, "kernel %s needs %s", on.shelf.name, condition);
    int32_t status =
        griddep_launch(on.kernel, &made.config, made.arguments, on.parameter_count, NULL, &error);
    ck_assert_msg(status == expected && (status != GRIDDEP_ERROR_REQUIREMENT ||
                                         !strncmp(error.text, words, strlen(words))),
                  "%s: a launch that breaks %s: %s", on.shelf.file, condition,
                  status ? error.text : "taken");
    ck_assert_uint_eq(fake_driver_launches(), launches);
}

/* ---- fixture ---- */

static void setup(void)
{
    gd_driver *driver = NULL;

    unsetenv("GRIDDEP_PDL");
    unsetenv("GRIDDEP_LOG");
    setenv("GRIDDEP_STORE", "off", 1);
    fake_driver_reset();
    griddep_error_init(&error);
    random_state = 1;
    ck_good(gd_driver_create(fake_driver_get_proc_address, "fake", &driver, &error));
    ck_good(gd_runtime_open_on(driver, NULL, &runtime, &error));
}

static void open_subject(uint32_t index)
{
    griddep_kernel_info info = {.size = sizeof info};

    memset(&on, 0, sizeof on);
    on.shelf.size = sizeof on.shelf;
    ck_good(griddep_shelf_get(index, &on.shelf, &error));
    ck_assert_msg(griddep_ptx_parse(on.shelf.text, on.shelf.bytes, on.shelf.file, &on.ptx,
                                    &error) == GRIDDEP_OK,
                  "%s", error.text);
    ck_assert_msg(griddep_module_load(runtime, on.shelf.text, on.shelf.bytes, NULL, &on.module,
                                      &error) == GRIDDEP_OK,
                  "%s: %s", on.shelf.file, error.text);
    ck_assert_msg(griddep_module_find_kernel(on.module, on.shelf.name, &on.kernel, &error) ==
                      GRIDDEP_OK,
                  "%s", error.text);
    ck_good(griddep_kernel_get_info(on.kernel, &info, &error));
    on.parameter_count = info.parameter_count;
    on.most_threads = info.maximum_threads;
    on.most_shared = info.maximum_dynamic_shared_bytes;
    memcpy(on.required_block, info.required_block, sizeof on.required_block);
    ck_assert_msg(on.ptx->terms && on.ptx->terms[0].count, "%s requires nothing", on.shelf.file);
    on.terms = &on.ptx->terms[0];
    for (uint32_t i = 0; i < on.terms->name_count; i++) {
        if (on.terms->names[i].kind == GD_REQUIRE_KIND_REAL)
            collect_reals(i);
        else
            collect_integers(i);
    }
}

static void teardown(void)
{
    griddep_ptx_destroy(on.ptx);
    griddep_module_unload(on.module);
    griddep_runtime_close(runtime);
}

/* ---- tests ---- */

static int count_subjects(void)
{
    griddep_shelf_info info = {.size = sizeof info};
    int count = 0;

    while (griddep_shelf_get((uint32_t)count, &info, NULL) == GRIDDEP_OK)
        count++;
    return count;
}

TEST_GROUP(conditions, setup, teardown);

LOOP_TEST(conditions, each_condition_is_broken_by_itself, count_subjects())
{
    if (!round_takes_place(_i, 3, 3))
        return;
    open_subject((uint32_t)_i);
    for (uint32_t i = 0; i < on.terms->count; i++) {
        const char *condition = on.terms->list[i].text;
        trial taken, broken;
        bool found = find_both(i, &taken, &broken),
             beyond = !found && find_beyond_limits(i, &taken, &broken);
        ck_assert_msg(found || beyond,
                      "%s: no launch was found that breaks \"%s\" and nothing else; does it follow "
                      "from the others?",
                      on.shelf.file, condition);
        try_broken(&broken, beyond ? GRIDDEP_ERROR_LIMIT : GRIDDEP_ERROR_REQUIREMENT, condition);
        try_taken(&taken, condition);
    }
}

/* An address whose extent is not told cannot be compared with a buffer. */
LOOP_TEST(conditions, an_extent_belongs_to_an_address, count_subjects())
{
    griddep_kernel_info told = {.size = sizeof told};

    open_subject((uint32_t)_i);
    ck_good(griddep_kernel_get_info(on.kernel, &told, &error));
    for (uint32_t i = 0; i < on.terms->extent_count; i++) {
        const gd_require_name *name = &on.terms->names[on.terms->extents[i].name];
        uint64_t bytes = 0;
        trial usual;
        start_at_usual(&usual);
        ck_assert_msg(climb(&usual), "%s: no launch was found that is taken", on.shelf.file);
        const launch made = make_launch(&usual);
        ck_assert_msg(griddep_ptx_get_extent(told.ptx, told.entry, &made.config, made.arguments,
                                             on.parameter_count, name->index, &bytes,
                                             &error) == GRIDDEP_OK,
                      "%s: %s", on.shelf.file, error.text);
        ck_assert_uint_gt(bytes, 0);
    }
}

MAIN_OF_SUITE("shelf")
