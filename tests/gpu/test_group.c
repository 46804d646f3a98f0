/* A group of two GPUs, or of two parts of the only one: sums and exchanges of several sizes in
 * every mode, replayed; where NCCL serves them, it gives the same bits. Four parts of one GPU add
 * in two steps. Without an NVIDIA driver it runs on the emulated one of EMULATED_DRIVER. Exits 77
 * without a driver, or where the driver makes no parts. bench/hops measures how long hops take. */
#include <check.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "griddep.h"
#include "suite.h"
#include "unit/status.h"

enum { MEMBERS = 2, PARTS = 4, MOST = 1 << 20, RUNS = 3 };

static griddep_error error;
static griddep_runtime *runtimes[MEMBERS];
static griddep_group *group;
static griddep_chain *chains[MEMBERS];
static uint64_t sources[MEMBERS], targets[MEMBERS];
static float values[MOST];

/* ---- fixture ---- */

static int32_t open_part(griddep_runtime_options *options, uint32_t part, uint32_t parts,
                         griddep_runtime **runtime)
{
    griddep_runtime_info info = {.size = sizeof info};
    griddep_runtime *whole = NULL;
    int32_t status = griddep_runtime_open(options, &whole, &error);

    if (!status)
        status = griddep_runtime_get_info(whole, &info, &error);
    options->multiprocessors = (uint32_t)info.multiprocessors / parts / 8 * 8;
    if (!options->multiprocessors) /* of the emulated driver */
        options->multiprocessors = 1;
    options->part = part;
    if (!status)
        status = griddep_runtime_open(options, runtime, &error);
    griddep_runtime_close(whole);
    return status;
}

/* A device for each member, or a part. `driver`: NULL for the default. */
static int32_t open_member(const char *driver, uint32_t member, griddep_runtime **runtime)
{
    griddep_runtime_options options = {.size = sizeof options,
                                       .store_directory = "",
                                       .driver = driver,
                                       .flags = GRIDDEP_RUNTIME_DEVICE,
                                       .device = MEMBERS - 1};
    griddep_runtime *last = NULL;
    const bool has_devices = !griddep_runtime_open(&options, &last, &error);

    griddep_runtime_close(last);
    options.device = has_devices ? (int32_t)member : 0;
    return has_devices ? griddep_runtime_open(&options, runtime, &error)
                       : open_part(&options, member, MEMBERS, runtime);
}

static void setup(void)
{
    const griddep_group_options options = {.size = sizeof options, .timeout_ms = 5000};

    griddep_error_init(&error);
    for (uint32_t i = 0; i < MEMBERS; i++)
        ck_status(open_member(NULL, i, &runtimes[i]), GRIDDEP_OK);
    ck_status(griddep_group_open(runtimes, MEMBERS, &options, &group, &error), GRIDDEP_OK);
    for (uint32_t i = 0; i < MEMBERS; i++) {
        ck_status(griddep_chain_create(runtimes[i], &chains[i], &error), GRIDDEP_OK);
        ck_status(griddep_memory_allocate(runtimes[i], sizeof values, &sources[i], &error),
                  GRIDDEP_OK);
        ck_status(griddep_memory_allocate(runtimes[i], sizeof values, &targets[i], &error),
                  GRIDDEP_OK);
    }
}

static void teardown(void)
{
    for (uint32_t i = 0; i < MEMBERS; i++)
        griddep_chain_destroy(chains[i]);
    griddep_group_close(group);
    for (uint32_t i = 0; i < MEMBERS; i++) {
        griddep_memory_free(runtimes[i], sources[i], NULL);
        griddep_memory_free(runtimes[i], targets[i], NULL);
        griddep_runtime_close(runtimes[i]);
    }
}

static void run_all(int32_t mode, uint32_t rounds)
{
    for (uint32_t i = 0; i < MEMBERS; i++)
        ck_status(griddep_chain_run_many(chains[i], mode, rounds, NULL, &error), GRIDDEP_OK);
    for (uint32_t i = 0; i < MEMBERS; i++)
        ck_status(griddep_runtime_synchronize(runtimes[i], &error), GRIDDEP_OK);
    ck_status(griddep_group_status(group, &error), GRIDDEP_OK);
}

/* ---- hops ---- */

static const uint64_t counts[] = {2, 1022, 32768, MOST};
enum { COUNTS = sizeof counts / sizeof counts[0] };

/* What member `member` has at element i in a run: whole numbers, whose sums are exact. */
static float value_of(uint32_t member, uint64_t i, uint32_t run)
{
    return (float)((i * (member + 3) + run) % 1000);
}

START_TEST(sums_are_right)
{
    const int32_t mode = _i % GRIDDEP_MODE_COUNT;
    const uint64_t count = counts[_i / GRIDDEP_MODE_COUNT];

    for (uint32_t i = 0; i < MEMBERS; i++) {
        ck_status(griddep_chain_add_hop(chains[i], group, NULL,
                                        &(griddep_hop){.size = sizeof(griddep_hop),
                                                       .operation = GRIDDEP_HOP_ALL_REDUCE,
                                                       .type = GRIDDEP_TENSOR_F32,
                                                       .source = sources[i],
                                                       .target = targets[i],
                                                       .count = count},
                                        &error),
                  GRIDDEP_OK);
        ck_status(griddep_chain_add_hop(chains[i], group, NULL,
                                        &(griddep_hop){.size = sizeof(griddep_hop),
                                                       .operation = GRIDDEP_HOP_EXCHANGE,
                                                       .type = GRIDDEP_TENSOR_F32,
                                                       .to = (int32_t)(1 - i),
                                                       .from = (int32_t)(1 - i),
                                                       .source = targets[i],
                                                       .target = sources[i],
                                                       .count = count},
                                        &error),
                  GRIDDEP_OK);
    }
    for (uint32_t run = 0; run < RUNS; run++) {
        for (uint32_t i = 0; i < MEMBERS; i++) {
            for (uint64_t k = 0; k < count; k++)
                values[k] = value_of(i, k, run);
            ck_status(
                griddep_memory_write(runtimes[i], sources[i], values, 4 * count, NULL, &error),
                GRIDDEP_OK);
        }
        run_all(mode, 1);
        for (uint32_t i = 0; i < 2 * MEMBERS; i++) {
            ck_status(griddep_memory_read(runtimes[i / 2], values,
                                          i % 2 ? sources[i / 2] : targets[i / 2], 4 * count, NULL,
                                          &error),
                      GRIDDEP_OK);
            for (uint64_t k = 0; k < count; k++)
                ck_assert_msg(
                    values[k] == value_of(0, k, run) + value_of(1, k, run),
                    "mode %s, %" PRIu64 " elements, run %u, member %u, element %" PRIu64 ": %g",
                    griddep_text(GRIDDEP_TEXT_MODE, mode), count, run, i / 2, k, (double)values[k]);
        }
    }
}
END_TEST

/* More than two members, in place; the last part is shorter. */
START_TEST(sums_have_two_steps)
{
    const uint64_t count = MOST / 4 - 3;
    griddep_runtime *parts[PARTS];
    griddep_chain *own[PARTS];
    griddep_group *four;
    uint64_t data[PARTS];

    griddep_error_init(&error);
    for (uint32_t i = 0; i < PARTS; i++) {
        griddep_runtime_options options = {
            .size = sizeof options, .store_directory = "", .flags = GRIDDEP_RUNTIME_DEVICE};
        ck_status(open_part(&options, i, PARTS, &parts[i]), GRIDDEP_OK);
    }
    ck_status(griddep_group_open(parts, PARTS, NULL, &four, &error), GRIDDEP_OK);
    for (uint32_t i = 0; i < PARTS; i++) {
        ck_status(griddep_chain_create(parts[i], &own[i], &error), GRIDDEP_OK);
        ck_status(griddep_memory_allocate(parts[i], 4 * count, &data[i], &error), GRIDDEP_OK);
        const griddep_hop sum = {.size = sizeof sum,
                                 .operation = GRIDDEP_HOP_ALL_REDUCE,
                                 .type = GRIDDEP_TENSOR_F32,
                                 .source = data[i],
                                 .target = data[i],
                                 .count = count};
        ck_status(griddep_chain_add_hop(own[i], four, NULL, &sum, &error), GRIDDEP_OK);
    }
    for (uint32_t run = 0; run < RUNS; run++) {
        for (uint32_t i = 0; i < PARTS; i++) {
            for (uint64_t k = 0; k < count; k++)
                values[k] = value_of(i, k, run);
            ck_status(griddep_memory_write(parts[i], data[i], values, 4 * count, NULL, &error),
                      GRIDDEP_OK);
        }
        for (uint32_t i = 0; i < PARTS; i++)
            ck_status(griddep_chain_run(own[i], _i, NULL, &error), GRIDDEP_OK);
        for (uint32_t i = 0; i < PARTS; i++) {
            ck_status(griddep_memory_read(parts[i], values, data[i], 4 * count, NULL, &error),
                      GRIDDEP_OK);
            for (uint64_t k = 0; k < count; k++) {
                if (values[k] != value_of(0, k, run) + value_of(1, k, run) + value_of(2, k, run) +
                                     value_of(3, k, run))
                    ck_abort_msg("mode %s, run %u, member %u, element %" PRIu64 ": %g",
                                 griddep_text(GRIDDEP_TEXT_MODE, _i), run, i, k, (double)values[k]);
            }
        }
        ck_status(griddep_group_status(four, &error), GRIDDEP_OK);
    }
    for (uint32_t i = 0; i < PARTS; i++)
        griddep_chain_destroy(own[i]);
    griddep_group_close(four);
    for (uint32_t i = 0; i < PARTS; i++) {
        griddep_memory_free(parts[i], data[i], NULL);
        griddep_runtime_close(parts[i]);
    }
}
END_TEST

/* A member that does not come is told within the time. */
START_TEST(who_does_not_come_is_told)
{
    const griddep_group_options options = {.size = sizeof options, .timeout_ms = 10};
    griddep_group *short_group = NULL;

    ck_status(griddep_group_open(runtimes, MEMBERS, &options, &short_group, &error), GRIDDEP_OK);
    ck_status(griddep_chain_add_hop(chains[0], short_group, NULL,
                                    &(griddep_hop){.size = sizeof(griddep_hop),
                                                   .operation = GRIDDEP_HOP_ALL_REDUCE,
                                                   .type = GRIDDEP_TENSOR_F32,
                                                   .source = sources[0],
                                                   .target = targets[0],
                                                   .count = 1024},
                                    &error),
              GRIDDEP_OK);
    ck_status(griddep_chain_run(chains[0], GRIDDEP_MODE_GRAPH_PDL, NULL, &error), GRIDDEP_OK);
    ck_status(griddep_runtime_synchronize(runtimes[0], &error), GRIDDEP_OK);
    ck_status(griddep_group_status(short_group, &error), GRIDDEP_ERROR_PEER);
    ck_assert_ptr_nonnull(strstr(error.text, "member 0 of the group waited for member 1"));
    griddep_group_close(short_group);
}
END_TEST

/* Values whose sums are rounded. */
static void fill_with_fractions(uint32_t run)
{
    uint16_t *elements = (uint16_t *)values;

    for (uint32_t i = 0; i < MEMBERS; i++) {
        for (uint64_t k = 0; k < 2 * MOST; k++) /* bf16 of 2^-8 to 2^8 and both signs */
            elements[k] = (uint16_t)(0x3b80 + (k * 2654435761u + i * 40503u + run * 97u) % 0x800 +
                                     (k * 31 + i) % 2 * 0x8000);
        ck_status(
            griddep_memory_write(runtimes[i], sources[i], values, sizeof values, NULL, &error),
            GRIDDEP_OK);
    }
}

/* By our kernels, and by NCCL, RUNS times. */
START_TEST(nccl_has_our_bits)
{
    const griddep_group_options options = {
        .size = sizeof options, .nccl = GRIDDEP_NCCL_ON, .nccl_bytes = 1};
    static float ours[MOST];
    griddep_group *groups[2] = {group, NULL};
    int32_t status = griddep_group_open(runtimes, MEMBERS, &options, &groups[1], &error);

    if (status == GRIDDEP_ERROR_UNSUPPORTED) {
        fprintf(stderr, "skipped: %s\n", error.text);
        return;
    }
    ck_status(status, GRIDDEP_OK);
    for (uint32_t run = 0; run < RUNS * 2; run++) {
        for (uint32_t i = 0; i < MEMBERS; i++) {
            griddep_chain_destroy(chains[i]);
            ck_status(griddep_chain_create(runtimes[i], &chains[i], &error), GRIDDEP_OK);
            ck_status(griddep_chain_add_hop(chains[i], groups[run % 2], NULL,
                                            &(griddep_hop){.size = sizeof(griddep_hop),
                                                           .operation = GRIDDEP_HOP_ALL_REDUCE,
                                                           .type = GRIDDEP_TENSOR_BF16,
                                                           .source = sources[i],
                                                           .target = targets[i],
                                                           .count = 2 * (uint64_t)MOST},
                                            &error),
                      GRIDDEP_OK);
        }
        if (run % 2 == 0)
            fill_with_fractions(run);
        run_all(_i, 1);
        ck_status(griddep_group_status(groups[1], &error), GRIDDEP_OK);
        for (uint32_t i = 0; i < MEMBERS; i++) {
            float *into = run % 2 || i ? values : ours;
            ck_status(
                griddep_memory_read(runtimes[i], into, targets[i], sizeof values, NULL, &error),
                GRIDDEP_OK);
            ck_assert_msg(into == ours || !memcmp(ours, values, sizeof values),
                          "run %u, member %u: other bits", run, i);
        }
    }
    for (uint32_t i = 0; i < MEMBERS; i++) {
        griddep_chain_destroy(chains[i]);
        chains[i] = NULL;
    }
    griddep_group_close(groups[1]);
}
END_TEST

/* ---- all ---- */

/* Asked in a process of its own: a driver that is initialized does not survive fork. */
static bool has_parts(const char *driver)
{
    pid_t child = fork();
    int status = 0;

    if (child == 0) {
        griddep_runtime *part = NULL;
        griddep_error_init(&error);
        status = open_member(driver, MEMBERS - 1, &part);
        if (status)
            fprintf(stderr, "skipped: no GPU that makes parts: %s\n", error.text);
        _exit(status != 0);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

int main(void)
{
    const char *required = getenv("GRIDDEP_REQUIRE_GPU");

    setenv("CK_DEFAULT_TIMEOUT", "1800", 0); /* how fast a machine is, nobody knows */
    const char *emulated = getenv("EMULATED_DRIVER");
    bool on_gpu = has_parts("nvidia");
    setenv("GRIDDEP_DRIVER", on_gpu || !emulated ? "nvidia" : emulated, 1);
    if (!on_gpu && !has_parts(NULL))
        return required && !strcmp(required, "1") ? EXIT_FAILURE : 77;
    Suite *suite = suite_create("group of GPUs");
    TCase *all = tcase_create("group");
    tcase_add_checked_fixture(all, setup, teardown);
    tcase_add_loop_test(all, sums_are_right, 0,
                        GRIDDEP_MODE_COUNT * (on_gpu ? COUNTS : COUNTS - 1));
    if (on_gpu) /* the emulated driver ends the wait before its time is over */
        tcase_add_test(all, who_does_not_come_is_told);
    tcase_add_loop_test(all, nccl_has_our_bits, 0, GRIDDEP_MODE_COUNT);
    suite_add_tcase(suite, all);
    TCase *parts = tcase_create("parts");
    tcase_add_loop_test(parts, sums_have_two_steps, 0, GRIDDEP_MODE_COUNT);
    suite_add_tcase(suite, parts);
    return run_suite(suite);
}
