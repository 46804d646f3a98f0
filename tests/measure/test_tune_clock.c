/* The tuner against a clock that is made up: the scripted driver's, by which a kernel takes as long
 * as its launch, the place of its code and chance say, and ever longer. What is really faster must
 * be found and written, what is luck must not. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/job/chaincheck.h"
#include "cli/plan/chainfile.h"
#include "cli/plan/planfile.h"
#include "cli/job/session.h"
#include "cli/show/tunewrite.h"
#include "cuda/driver.h"
#include "fake/fake_driver.h"
#include "griddep.h"
#include "measure/tune.h"
#include "run/runtime.h"
#include "sanitized.h"
#include "suite.h"

enum { LAUNCHES = 3, BUFFERS = LAUNCHES + 1, PAIRS = 12 };

static const char chain_text[] =
    "name: clock\n"
    "buffers:\n"
    "  - {name: a, type: f32, count: 64, random: {seed: 1}}\n  - {name: b, type: f32, count: 64}\n"
    "  - {name: c, type: f32, count: 64}\n  - {name: d, type: f32, count: 64}\n"
    "launches:\n"
    "  - {kernel: vector_add, grid: [1], block: [64], grids: [2, 3, 4, 5], carveout: 50, "
    "carveouts: [0, 100, "
    "default],\n"
    "     arguments: [{buffer: a, access: read}, {buffer: a, access: read}, {buffer: b, access: "
    "write}, {u32: 64}]}\n"
    "  - {kernel: vector_add, grid: [1], block: [64], grids: [2, 3, 4, 5],\n"
    "     arguments: [{buffer: b, access: read}, {buffer: b, access: read}, {buffer: c, access: "
    "write}, {u32: 64}]}\n"
    "  - {kernel: vector_add, grid: [1], block: [64], grids: [2, 3, 4, 5],\n"
    "     arguments: [{buffer: c, access: read}, {buffer: c, access: read}, {buffer: d, access: "
    "write}, {u32: 64}]}\n";

static griddep_error error;

/* ---- the clock ---- */

static struct {
    uint64_t random, seed;
    double place;  /* by how much of its time code is slower or faster for where it lies, at most */
    double carved; /* the time of a launch with a carve-out of 100 %, as a part of that without */
    double plain;  /* the time of a launch without a carve-out, likewise */
    uint64_t spent; /* launches */
} world;

static uint64_t mix(uint64_t value)
{
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

/* -1 to 1, most often in the middle: the sum of four. */
static double scatter(uint64_t value)
{
    double sum = 0;

    for (int i = 0; i < 4; i++)
        sum += (double)(mix(value + (uint64_t)i * UINT64_C(0x9e3779b97f4a7c15)) >> 11) /
               (double)(UINT64_C(1) << 53);
    return (sum - 2) / 2;
}

static gd_CUresult spend(void *user, const fake_launch *launch)
{
    double time = 400,
           place = scatter((uint64_t)(uintptr_t)launch->function * 16 + world.seed * 7919);
    bool carves = false;
    (void)user;

    for (unsigned i = 0; i < launch->config.numAttrs; i++) {
        const gd_CUlaunchAttribute *attribute = &launch->config.attrs[i];
        if (attribute->id != GD_CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
            continue;
        carves = true;
        time *= attribute->value.sharedMemCarveout == 100 ? world.carved : 1;
    }
    time *= carves ? 1 : world.plain;
    time *=
        1 + world.place * place + 0.001 * scatter(++world.random); /* the chance of each launch */
    time *= 1 + 1e-6 * (double)world.spent++;                      /* it grows warm */
    fake_driver_spend(time);
    return GD_CUDA_SUCCESS;
}

/* ---- a chain that is tuned ---- */

typedef struct fixture {
    char folder[32], path[64];
    gd_yaml yaml;
    gd_chainfile *chainfile;
    gd_plan plan;
    griddep_runtime *runtime;
    gd_session session;
    griddep_tune_offer offers[LAUNCHES];
    griddep_tune_buffer buffers[BUFFERS];
    griddep_tune *tune;
    griddep_tune_info info;
} fixture;

static void open_runtime(fixture *f)
{
    const griddep_runtime_options options = {.size = sizeof options, .store_directory = ""};
    gd_driver *driver = NULL;

    fake_driver_reset();
    fake_driver_set_kernel("vector_add", spend, NULL);
    ck_assert_int_eq(gd_driver_create(fake_driver_get_proc_address, "fake", &driver, &error),
                     GRIDDEP_OK);
    ck_assert_int_eq(gd_runtime_open_on(driver, &options, &f->runtime, &error), GRIDDEP_OK);
}

static void read_chain(fixture *f)
{
    strcpy(f->folder, "/tmp/griddep-clock-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(f->folder));
    snprintf(f->path, sizeof f->path, "%s/given.yaml", f->folder);
    FILE *file = fopen(f->path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(chain_text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_int_eq(gd_chainfile_load(f->path, &f->yaml, &f->chainfile), 0);
    ck_assert_int_eq(gd_planfile_read(f->chainfile, &f->plan), 0);
    ck_assert_int_eq(gd_session_open(&f->session, &f->plan, f->runtime, GRIDDEP_PDL_DEFAULT), 0);
}

static void make_input(fixture *f)
{
    for (uint32_t i = 0; i < BUFFERS; i++)
        f->buffers[i] = (griddep_tune_buffer){.size = sizeof f->buffers[i],
                                              .address = f->session.addresses[i],
                                              .bytes = 256,
                                              .initial = i ? f->session.images[i] : NULL,
                                              .compared = i > 0};
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        const gd_plan_launch *planned = &f->plan.launches[i];
        griddep_tune_offer *offer = &f->offers[i];
        *offer = (griddep_tune_offer){.size = sizeof *offer, .launch = i};
        offer->grids = gd_plan_grids(planned, f->session.multiprocessors, &offer->grid_count);
        offer->carveouts = gd_plan_carveouts(planned, &offer->carveout_count);
    }
}

static void tune_with_seed(fixture *f, uint64_t seed)
{
    const griddep_tune_options options = {.size = sizeof options,
                                          .pairs = PAIRS,
                                          .flags = GRIDDEP_TUNE_FLAG_FORGET,
                                          .offers = f->offers,
                                          .offer_count = LAUNCHES};

    *f = (fixture){.info = {.size = sizeof f->info}};
    griddep_error_init(&error);
    world.seed = world.random = seed * 1000003;
    world.spent = 0;
    open_runtime(f);
    read_chain(f);
    make_input(f);
    int32_t status =
        griddep_tune_run(f->session.chain, f->buffers, BUFFERS, &options, &f->tune, &error);
    ck_assert_msg(status == GRIDDEP_OK, "%s", error.text);
    ck_assert_int_eq(griddep_tune_get_info(f->tune, &f->info, &error), GRIDDEP_OK);
}

static void end_tune(fixture *f)
{
    char command[64];

    griddep_tune_destroy(f->tune);
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        free((void *)f->offers[i].grids);
        free((void *)f->offers[i].carveouts);
    }
    gd_session_close(&f->session);
    griddep_runtime_close(f->runtime);
    gd_plan_free(&f->plan);
    gd_chainfile_free(f->chainfile);
    gd_yaml_free(&f->yaml);
    snprintf(command, sizeof command, "rm -rf %s", f->folder);
    ck_assert_int_eq(system(command), 0);
}

static uint32_t count_outcome(const fixture *f, int32_t outcome)
{
    griddep_tune_trial trial = {.size = sizeof trial};
    uint32_t count = 0;

    for (uint32_t i = 0; griddep_tune_get_trial(f->tune, i, &trial, NULL) == GRIDDEP_OK; i++)
        count += trial.outcome == outcome;
    return count;
}

/* ---- tests ---- */

TEST_GROUP(clock, NULL, NULL);

/* The quantiles of Student's distribution with 28 degrees of freedom that tables have. */
TEST(clock, quantiles)
{
    static const double table[][2] = {
        {0.25, 0.683352843},  {0.05, 1.701130934},  {0.025, 2.048407142}, {0.01, 2.467140098},
        {0.005, 2.763262455}, {0.001, 3.408155178}, {0.0005, 3.673906401}};

    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        ck_assert_double_eq_tol(gd_tune_student(table[i][0]), table[i][1], 1e-8);
}

/* Six groups gain `apart` less than the middle one, six as much more: what they have to exceed on
 * average was computed from the table above, for the first confirmation of a search and for the
 * second. */
TEST(clock, a_gain_must_exceed_its_bound)
{
    static const double exceeded[2] = {2.048407142,
                                       2.546465223}; /* of 0.05 / (1 * 2) and of 0.05 / (2 * 3) */
    const double apart = 0.01, scatter = 0.0016;     /* 12 * 0.01 ^ 2 is 0.0012 */
    double gains[GD_TUNE_GROUPS];

    for (int i = 0; i < 2; i++) {
        const double bound = exceeded[i] * sqrt((scatter + 0.0012) / 28 / 13);
        for (int above = 0; above < 2; above++) {
            griddep_tune tune = {.options = {.least_gain = 0.001},
                                 .scatter = scatter,
                                 .info = {.confirmations = (uint32_t)i}};
            const double mean = bound * (above ? 1.000001 : 0.999999);
            gd_tune_proof proof = {0};
            for (int k = 0; k < GD_TUNE_GROUPS; k++)
                gains[k] = mean + (k == 6 ? 0 : k < 6 ? -apart : apart);
            gd_tune_judge(&tune, gains, &proof);
            ck_assert_double_eq_tol(proof.needed, bound, 1e-10);
            ck_assert_double_eq_tol(proof.ratio, 1 - mean, 1e-12);
            ck_assert_double_eq_tol(proof.lowest, 1 - mean - apart, 1e-12);
            ck_assert_double_eq_tol(proof.highest, 1 - mean + apart, 1e-12);
            ck_assert_int_eq(proof.holds, above);
            ck_assert_uint_eq(tune.info.confirmations, (uint32_t)i + 1);
        }
    }
}

/* Where all groups agree there is no chance, and a gain need only be the least that is asked
 * for. */
TEST(clock, a_gain_must_exceed_the_least)
{
    for (int above = 0; above < 2; above++) {
        griddep_tune tune = {.options = {.least_gain = 0.25}};
        double gains[GD_TUNE_GROUPS];
        gd_tune_proof proof = {0};
        for (int k = 0; k < GD_TUNE_GROUPS; k++)
            gains[k] = above ? 0.28125 : 0.25; /* sums of these are exact */
        gd_tune_judge(&tune, gains, &proof);
        ck_assert_double_eq(proof.needed, 0.25);
        ck_assert_int_eq(proof.holds, above);
    }
}

/* Nothing is faster than anything else, but code is up to 2 % slower or faster for where it lies:
 * much of what is tried looks faster, and all of it is found out. */
TEST(clock, luck_is_not_taken_for_a_gain)
{
    const uint32_t seeds = runs_all_rounds() ? 30 : 10;
    uint32_t changed = 0, looked_faster = 0;
    fixture f;

    world.place = 0.02;
    world.carved = world.plain = 1;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        tune_with_seed(&f, seed);
        changed += f.info.changed;
        looked_faster += count_outcome(&f, GRIDDEP_TUNE_OUTCOME_UNCONFIRMED);
        ck_assert_double_gt(f.info.noise, 0.001);
        ck_assert_double_eq_tol(f.info.threshold, f.info.noise > 0.01 ? f.info.noise / 2 : 0.005,
                                1e-12);
        ck_assert_uint_eq(f.info.noise_pairs, 16 * 3); /* groups, of three pairs at least */
        ck_assert_uint_ge(f.info.confirmations,
                          count_outcome(&f, GRIDDEP_TUNE_OUTCOME_UNCONFIRMED));
        end_tune(&f);
    }
    ck_assert_msg(looked_faster >= seeds / 2, "%u trials looked faster", (unsigned)looked_faster);
    ck_assert_msg(changed == 0, "%u of %u searches took luck for a gain", (unsigned)changed, seeds);
}

/* One launch takes 4 % less with another carve-out, a little over 1 % of the chain: less than code
 * gains or loses by its place. */
TEST(clock, a_gain_is_found)
{
    const uint32_t seeds = runs_all_rounds() ? 30 : 10;
    uint32_t found = 0;
    fixture f;

    world.place = 0.02;
    world.carved = 0.96;
    world.plain = 1;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        griddep_tune_choice choice = {.size = sizeof choice};
        tune_with_seed(&f, seed);
        ck_assert_int_eq(griddep_tune_get_choice(f.tune, 0, &choice, &error), GRIDDEP_OK);
        found += choice.carveout == 100;
        if (f.info.changed) {
            ck_assert_int_eq(choice.carveout, 100);
            ck_assert_str_eq(choice.text, "carveout 100");
            ck_assert_double_eq_tol(f.info.ratio, 1 - 0.04 / 3, 0.006);
            ck_assert_double_lt(f.info.last_needed, 1 - f.info.ratio);
        }
        end_tune(&f);
    }
    ck_assert_msg(found >= seeds * 3 / 4, "found in %u of %u searches", (unsigned)found, seeds);
}

/* A chosen carve-out stands in the chain file that is written, and the given one does where
 * `default` won. */
LOOP_TEST(clock, carveouts_are_written, 2)
{
    char folder[64], path[80];
    gd_plan written = {0};
    fixture f;

    world.place = 0;
    world.carved = _i ? 1 : 0.5;
    world.plain = _i ? 0.5 : 1;
    tune_with_seed(&f, 1);
    ck_assert_uint_eq(f.info.changed, 1);
    snprintf(folder, sizeof folder, "%s/tuned", f.folder);
    snprintf(path, sizeof path, "%s/chain.yaml", folder);
    ck_assert_int_eq(gd_tunewrite(folder, f.path, f.chainfile, &f.plan, 1, f.tune), 0);
    ck_assert_int_eq(gd_planfile_load(path, &written), 0);
    ck_assert_uint_eq(written.launch_count, LAUNCHES);
    if (_i) {
        ck_assert(!written.launches[0].has_carveout);
    } else {
        ck_assert(written.launches[0].has_carveout);
        ck_assert_int_eq(written.launches[0].attributes[0].id, GRIDDEP_ATTRIBUTE_CARVEOUT);
        ck_assert_int_eq(written.launches[0].carveout_percent, 100);
    }
    ck_assert(!written.launches[1].has_carveout);
    ck_assert_uint_eq(written.launches[0].carveout_count, 3);
    gd_plan_free(&written);
    end_tune(&f);
}

MAIN_OF_SUITE("tune by a clock")
