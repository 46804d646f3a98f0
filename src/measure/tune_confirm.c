/* Whether a gain is one. The fastest of many trials is partly luck, and the luck is where its code
 * came to lie: on an H200 two equal chains of 9 us differ by up to 1.8 % from one loading to the
 * next, and by 0.05 % from one group of pairs to the next of what is loaded. So what a stage found
 * is measured anew, in many small groups of pairs with newly loaded code of both sides in each, and
 * held against how far groups of equal chains are apart: Student's test, whose level falls with
 * each one that a search asks. */
#include <stdlib.h>

#include "base/error.h"
#include "base/statistics.h"
#include "measure/tune.h"

enum {
    NOISE_GROUPS = 16,
    GROUPS = GD_TUNE_GROUPS,
    FREEDOM = NOISE_GROUPS + GROUPS - 1, /* even, which makes the distribution a polynomial */
    SHARE = 6,                           /* a group has this part of a trial's pairs */
    LEAST_PAIRS = 3
};

_Static_assert(FREEDOM % 2 == 0, "the distribution below is for an even number");

/* Of all confirmations of a search together: how often one may be wrong. */
static const double level = 0.05;

/* ---- statistics; the library does without libm ---- */

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* By Newton from above. */
static double square_root(double value)
{
    double root = larger(value, 1);

    if (value <= 0)
        return 0;
    for (double next = (root + value / root) / 2; next < root; next = (root + value / root) / 2)
        root = next;
    return root;
}

/* How likely Student's t is to exceed the value that x = t / sqrt(FREEDOM + t * t) stands for, 0 <=
 * x < 1. The sum is that of Abramowitz and Stegun, 26.7.4, with x for the sine. */
static double exceeds(double x)
{
    double sum = 0, term = 1;

    for (int i = 0; i < FREEDOM / 2; i++) {
        sum += term;
        term *= (1 - x * x) * (2 * i + 1) / (2 * i + 2);
    }
    return (1 - x * sum) / 2;
}

double gd_tune_student(double probability)
{
    double low = 0, high = 1;

    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (exceeds(middle) > probability)
            low = middle;
        else
            high = middle;
    }
    return low * square_root(FREEDOM / (1 - low * low));
}

/* ---- groups ---- */

/* A setup like another one, with code of its own. */
static int32_t make_anew(const griddep_tune *tune, const gd_tune_setup *from, gd_tune_setup *made,
                         griddep_error *error)
{
    int32_t status = gd_tune_setup_copy(tune, from, made, error);

    if (!status)
        status = gd_tune_rewrite(tune, made, error);
    return status ? status : gd_tune_realize(tune, made, true, error);
}

/* Groups of pairs, of which each has made what it times. Code is kept to the end, so that none lies
 * where the code of a group before lay; chains, which may be large, are not. */
typedef struct groups {
    const gd_tune_setup *sides[2];
    gd_tune_setup made[NOISE_GROUPS][2];
    uint32_t count;
} groups;

_Static_assert(GROUPS <= NOISE_GROUPS, "a confirmation's groups have room");

static void free_groups(griddep_tune *tune, groups *all)
{
    for (uint32_t i = 0; i < all->count; i++) {
        gd_tune_setup_free(tune, &all->made[i][0]);
        gd_tune_setup_free(tune, &all->made[i][1]);
    }
}

/* Which side is loaded first takes turns. */
static int32_t time_group(griddep_tune *tune, groups *all, gd_tune_ratio *ratio,
                          griddep_error *error)
{
    uint32_t share = (tune->options.pairs + SHARE - 1) / SHARE, first = all->count % 2;
    uint32_t pairs = share > LEAST_PAIRS || tune->info.model ? share : LEAST_PAIRS;
    gd_tune_setup *made = all->made[all->count++];
    int32_t status = make_anew(tune, all->sides[first], &made[first], error);

    if (!status)
        status = make_anew(tune, all->sides[!first], &made[!first], error);
    if (!status)
        status = gd_tune_pairs(tune, made[0].chain, made[1].chain, pairs, 0, ratio, error);
    for (int i = 0; i < 2; i++) {
        griddep_chain_destroy(made[i].chain);
        made[i].chain = NULL;
    }
    return status;
}

int32_t gd_tune_measure_noise(griddep_tune *tune, griddep_error *error)
{
    groups all = {.sides = {&tune->given, &tune->given}};
    uint32_t count = tune->info.model ? 1 : NOISE_GROUPS;
    gd_tune_ratio ratio = {0};
    int32_t status = GRIDDEP_OK;

    for (uint32_t i = 0; i < count && !status; i++) {
        status = time_group(tune, &all, &ratio, error);
        double deviation = ratio.median - 1;
        tune->scatter += status ? 0 : deviation * deviation;
        tune->info.noise = larger(larger(deviation, -deviation), tune->info.noise);
        tune->info.noise_pairs += ratio.pairs;
    }
    free_groups(tune, &all);
    tune->info.threshold = larger(tune->options.least_gain, tune->info.noise / 2);
    tune->info.baseline_ns = tune->info.chosen_ns = 1e3 * ratio.first_us;
    return status;
}

/* ---- one gain ---- */

void gd_tune_judge(griddep_tune *tune, const double gains[GD_TUNE_GROUPS], gd_tune_proof *proof)
{
    double sum = 0, scatter = tune->scatter, asked = ++tune->info.confirmations;

    proof->lowest = proof->highest = 1 - gains[0];
    for (int i = 0; i < GROUPS; i++) {
        sum += gains[i];
        proof->lowest = 1 - larger(1 - proof->lowest, gains[i]);
        proof->highest = larger(proof->highest, 1 - gains[i]);
    }
    for (int i = 0; i < GROUPS; i++)
        scatter += (gains[i] - sum / GROUPS) * (gains[i] - sum / GROUPS);
    /* level / (n * (n + 1)) for the nth: all of them add up to the level, however many there
     * are. */
    double bound =
        gd_tune_student(level / (asked * (asked + 1))) * square_root(scatter / FREEDOM / GROUPS);
    proof->ratio = 1 - sum / GROUPS;
    proof->needed = larger(tune->options.least_gain, bound);
    proof->holds = sum / GROUPS > proof->needed;
}

/* The model's time has no noise. */
static int32_t confirm_model(griddep_tune *tune, const gd_tune_setup *before,
                             const gd_tune_setup *after, gd_tune_proof *proof, griddep_error *error)
{
    gd_tune_ratio ratio = {0};
    int32_t status = gd_tune_pairs(tune, before->chain, after->chain, 1, 0, &ratio, error);

    *proof = (gd_tune_proof){.holds = 1 - ratio.median > tune->options.least_gain,
                             .ratio = ratio.median,
                             .lowest = ratio.lowest,
                             .highest = ratio.highest,
                             .needed = tune->options.least_gain,
                             .before_us = ratio.first_us,
                             .after_us = ratio.second_us};
    return status;
}

int32_t gd_tune_confirm(griddep_tune *tune, const gd_tune_setup *before, const gd_tune_setup *after,
                        gd_tune_proof *proof, griddep_error *error)
{
    groups all = {.sides = {before, after}};
    double gains[GROUPS], times[2][GROUPS];
    gd_tune_ratio ratio = {0};
    int32_t status = GRIDDEP_OK;

    *proof = (gd_tune_proof){0};
    if (tune->info.model)
        return confirm_model(tune, before, after, proof, error);
    for (uint32_t i = 0; i < GROUPS && !status; i++) {
        status = time_group(tune, &all, &ratio, error);
        gains[i] = 1 - ratio.median;
        times[0][i] = ratio.first_us;
        times[1][i] = ratio.second_us;
    }
    free_groups(tune, &all);
    if (status)
        return status;
    gd_tune_judge(tune, gains, proof);
    proof->before_us = gd_statistics_median(times[0], GROUPS);
    proof->after_us = gd_statistics_median(times[1], GROUPS);
    return GRIDDEP_OK;
}
