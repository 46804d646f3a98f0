/* Filling host buffers. The random numbers are counter-based, so that threads can share the work
 * and a buffer is the same on every machine: SplitMix64's finalizer (Steele, Lea and Flood, 2014)
 * of the element's index and the seed. */
#include "cli/plan/fill.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/io/heap.h"
#include "cli/io/hostfile.h"

enum { MOST_THREADS = 16, QUANTILE_STEPS = 1 << 16 };

static const uint64_t elements_per_thread = 1 << 18;

__extension__ typedef unsigned __int128 wide;

typedef struct gd_fill_share {
    const gd_fill *fill;
    gd_type type;
    void *target;
    uint64_t begin, end;
    const float *quantiles; /* GD_FILL_NORMAL */
    const uint16_t *halves; /* f16 and bf16, both random fills */
} gd_fill_share;

static uint64_t random_bits(uint64_t seed, uint64_t index)
{
    uint64_t bits = (index + 1) * 0x9e3779b97f4a7c15U + seed * 0xd1342543de82ef95U;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9U;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111ebU;
    return bits ^ bits >> 31;
}

/* Quantiles of the normal distribution at i / QUANTILE_STEPS, ends drawn in by half a step. From
 * the middle outwards by Newton's method, which converges from the inner neighbour without
 * overshooting because the distribution function is concave there. */
static float *make_quantiles(void)
{
    float *quantiles = gd_heap_take(QUANTILE_STEPS + 1, sizeof(float));
    const int middle = QUANTILE_STEPS / 2;
    double x = 0.0;
    for (int i = 1; i <= middle; i++) {
        double step = i < middle ? i : middle - 0.5;
        double target = 0.5 + step / QUANTILE_STEPS;
        for (int round = 0; round < 50; round++) {
            double excess = target - 0.5 * erfc(-x / sqrt(2.0));
            double density = exp(-0.5 * x * x) / sqrt(2.0 * 3.14159265358979323846);
            double change = excess / density;
            x += change;
            if (fabs(change) < 1e-9)
                break;
        }
        quantiles[middle + i] = (float)x;
        quantiles[middle - i] = (float)-x;
    }
    return quantiles;
}

static double normal_value(const float *quantiles, uint64_t bits)
{
    uint32_t cell = (uint32_t)(bits >> 48);
    double within = (double)(bits & 0xffffffffU) * 0x1p-32;
    return quantiles[cell] + within * (quantiles[cell + 1] - quantiles[cell]);
}

/* The values that a random fill takes in a 16-bit type, as stored: one for each of QUANTILE_STEPS
 * equally probable cells, from the cell's middle. The type has fewer values than that, and a table
 * is many times faster than a conversion for each element. */
static uint16_t *make_halves(const gd_fill *fill, gd_type type, const float *quantiles)
{
    uint16_t *halves = gd_heap_take(QUANTILE_STEPS, sizeof(uint16_t));
    for (uint64_t i = 0; i < QUANTILE_STEPS; i++) {
        double at = quantiles != NULL ? normal_value(quantiles, i << 48 | 0x80000000U)
                                      : ((double)i + 0.5) / QUANTILE_STEPS;
        double scale = (double)(quantiles != NULL ? fill->b : fill->b - fill->a);
        gd_type_store(type, halves, i, (double)fill->a + scale * at);
    }
    return halves;
}

/* Four elements from each 64 random bits. */
static void fill_halves(const gd_fill_share *share)
{
    uint16_t *target = share->target;
    uint64_t bits = 0;
    for (uint64_t i = share->begin; i < share->end; i++) {
        if (i % 4 == 0 || i == share->begin)
            bits = random_bits(share->fill->seed, i / 4) >> i % 4 * 16;
        target[i] = share->halves[bits & 0xffff];
        bits >>= 16;
    }
}

static void fill_normal(const gd_fill_share *share)
{
    double mean = (double)share->fill->a, deviation = (double)share->fill->b;
    for (uint64_t i = share->begin; i < share->end; i++) {
        double value = normal_value(share->quantiles, random_bits(share->fill->seed, i));
        gd_type_store(share->type, share->target, i, mean + deviation * value);
    }
}

/* The two's complement bits of a whole number that fits 64 bits, signed or unsigned. */
static uint64_t integer_bits(long double value)
{
    return value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value;
}

static void fill_uniform(const gd_fill_share *share)
{
    const gd_fill *fill = share->fill;
    if (gd_type_is_integer(share->type)) {
        uint64_t low = integer_bits(fill->a);
        wide range = (wide)(integer_bits(fill->b) - low) + 1;
        for (uint64_t i = share->begin; i < share->end; i++) {
            uint64_t above = (uint64_t)((wide)random_bits(fill->seed, i) * range >> 64);
            gd_type_store_bits(share->type, share->target, i, low + above);
        }
        return;
    }
    double low = (double)fill->a, width = (double)(fill->b - fill->a);
    for (uint64_t i = share->begin; i < share->end; i++)
        gd_type_store(share->type, share->target, i,
                      low + width * ((double)(random_bits(fill->seed, i) >> 11) * 0x1p-53));
}

/* A sequence of integers wraps around, as integers of that size do. */
static void fill_steps(const gd_fill_share *share)
{
    const gd_fill *fill = share->fill;
    long double step = fill->kind == GD_FILL_SEQUENCE ? fill->b : 0.0L;
    if (gd_type_is_integer(share->type)) {
        uint64_t start_bits = integer_bits(fill->a), step_bits = integer_bits(step);
        for (uint64_t i = share->begin; i < share->end; i++)
            gd_type_store_bits(share->type, share->target, i, start_bits + i * step_bits);
        return;
    }
    for (uint64_t i = share->begin; i < share->end; i++)
        gd_type_store(share->type, share->target, i, (double)(fill->a + (long double)i * step));
}

static void *fill_share(void *data)
{
    const gd_fill_share *share = data;
    if (share->halves != NULL) {
        fill_halves(share);
        return NULL;
    }
    switch (share->fill->kind) {
    case GD_FILL_NORMAL:
        fill_normal(share);
        break;
    case GD_FILL_UNIFORM:
        fill_uniform(share);
        break;
    case GD_FILL_CONSTANT:
    case GD_FILL_SEQUENCE:
    case GD_FILL_FILE:
        fill_steps(share);
        break;
    }
    return NULL;
}

static uint32_t choose_threads(uint64_t count)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t most = processors > 0 ? (uint64_t)processors : 1;
    uint64_t useful = count / elements_per_thread + 1;
    uint64_t threads = useful < most ? useful : most;
    return (uint32_t)(threads < MOST_THREADS ? threads : MOST_THREADS);
}

/* Shares the elements out; a share whose thread cannot be started is done here. */
static void fill_shared(const gd_fill_share *whole)
{
    pthread_t threads[MOST_THREADS];
    gd_fill_share shares[MOST_THREADS];
    uint32_t count = choose_threads(whole->end), started = 0;
    for (uint32_t i = 0; i < count; i++) {
        shares[i] = *whole;
        shares[i].begin = whole->end / count * i;
        shares[i].end = i + 1 < count ? whole->end / count * (i + 1) : whole->end;
        if (i + 1 == count || pthread_create(&threads[started], NULL, fill_share, &shares[i]) != 0)
            fill_share(&shares[i]);
        else
            started++;
    }
    for (uint32_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
}

int gd_fill_write(const gd_fill *fill, gd_type type, void *target, uint64_t count)
{
    if (fill->kind == GD_FILL_FILE && fill->data == NULL)
        return gd_hostfile_read_into(fill->path, target, count * gd_type_bytes(type));
    if (fill->kind == GD_FILL_FILE) {
        memcpy(target, fill->data, count * gd_type_bytes(type));
        return 0;
    }
    float *quantiles = fill->kind == GD_FILL_NORMAL ? make_quantiles() : NULL;
    gd_fill_share whole = {
        .fill = fill, .type = type, .target = target, .end = count, .quantiles = quantiles};
    bool is_random = fill->kind == GD_FILL_NORMAL || fill->kind == GD_FILL_UNIFORM;
    uint16_t *halves = is_random && (type == GD_TYPE_f16 || type == GD_TYPE_bf16)
                           ? make_halves(fill, type, quantiles)
                           : NULL;
    whole.halves = halves;
    fill_shared(&whole);
    free(halves);
    free(quantiles);
    return 0;
}
