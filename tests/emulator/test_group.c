/* Groups on emulated devices: each hop against sums made here, in every mode, on 1, 2, 3 and 8
 * devices, under schedules that let one run far ahead, with the race check on; what the checks say
 * of the kernels with something left out; members that do not come, and chains that differ. Each
 * test runs in a process of its own, because settings are read once. */
#include <check.h>
#include <dirent.h>
#include <arpa/inet.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <signal.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "griddep.h"
#include "sanitized.h"
#include "suite.h"
#include "unit/status.h"

enum { MOST = 8 };

static griddep_error error;
static griddep_runtime *runtimes[MOST];
static griddep_chain *chains[MOST];
static griddep_group *group;
static uint32_t members;
static int32_t nccl = GRIDDEP_NCCL_OFF; /* of groups that are opened or joined */
static uint64_t nccl_bytes;
static const char *store_folder = ""; /* of runtimes that are opened */
static const char *devices;           /* NULL: as many as members, of one kind */
static int report_file = -1;

TEST_GROUP(group, NULL, NULL);

/* ---- setting up ---- */

static void begin_with(uint32_t count, const char *schedule, const char *checks,
                       uint32_t timeout_ms)
{
    const griddep_group_options options = {
        .size = sizeof options, .timeout_ms = timeout_ms, .nccl = nccl, .nccl_bytes = nccl_bytes};
    char number[16], path[] = "/tmp/griddep-group-XXXXXX", report[64];

    griddep_error_init(&error);
    members = count;
    snprintf(number, sizeof number, "%u", count);
    setenv("GRIDDEP_EMULATOR_DEVICES", devices ? devices : number, 1);
    setenv("GRIDDEP_EMULATOR_SCHEDULE", schedule, 1);
    setenv("GRIDDEP_EMULATOR_CHECK", checks, 1);
    report_file = mkstemp(path); /* opened by each finding: it has no name, but a place */
    ck_assert_int_ge(report_file, 0);
    unlink(path);
    snprintf(report, sizeof report, "/proc/self/fd/%d", report_file);
    setenv("GRIDDEP_EMULATOR_REPORT", report, 1);
    for (uint32_t i = 0; i < count; i++) {
        const griddep_runtime_options own = {.size = sizeof own,
                                             .flags = GRIDDEP_RUNTIME_DEVICE,
                                             .driver = EMULATED_DRIVER,
                                             .device = (int32_t)i,
                                             .store_directory = store_folder};
        ck_good(griddep_runtime_open(&own, &runtimes[i], &error));
    }
    ck_good(griddep_group_open(runtimes, count, &options, &group, &error));
    for (uint32_t i = 0; i < count; i++)
        ck_good(griddep_chain_create(runtimes[i], &chains[i], &error));
}

static void begin(uint32_t count, const char *schedule)
{
    begin_with(count, schedule, "race,initialized", 0);
}

static const char *read_report(void)
{
    static char text[1 << 16];
    ssize_t got = pread(report_file, text, sizeof text - 1, 0);

    ck_assert_int_ge(got, 0);
    text[got] = 0;
    return text;
}

static void end(void)
{
    for (uint32_t i = 0; i < members; i++)
        griddep_chain_destroy(chains[i]);
    griddep_group_close(group);
    for (uint32_t i = 0; i < members; i++)
        griddep_runtime_close(runtimes[i]);
    const char *report = read_report();
    ck_assert_msg(!strstr(report, "\"finding\""), "a false alarm: %s", report);
}

static uint64_t allocate(uint32_t member, uint64_t bytes)
{
    uint64_t address;

    ck_good(griddep_memory_allocate(runtimes[member], bytes, &address, &error));
    return address;
}

static void write_memory(uint32_t member, uint64_t address, const void *data, uint64_t bytes)
{
    ck_good(griddep_memory_write(runtimes[member], address, data, bytes, NULL, &error));
}

static void read_memory(uint32_t member, uint64_t address, void *data, uint64_t bytes)
{
    ck_good(griddep_memory_read(runtimes[member], data, address, bytes, NULL, &error));
}

/* A thread for each member, as programs with many devices have them. */
static bool in_threads;

typedef struct member_run {
    uint32_t member, rounds;
    int32_t mode, status;
    griddep_error error;
} member_run;

static void *run_member(void *user)
{
    member_run *run = user;

    griddep_error_init(&run->error);
    run->status =
        griddep_chain_run_many(chains[run->member], run->mode, run->rounds, NULL, &run->error);
    if (!run->status)
        run->status = griddep_runtime_synchronize(runtimes[run->member], &run->error);
    return NULL;
}

static void run_threads(int32_t mode, uint32_t rounds)
{
    pthread_t threads[MOST];
    member_run runs[MOST];

    for (uint32_t i = 0; i < members; i++) {
        runs[i] = (member_run){.member = i, .rounds = rounds, .mode = mode};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, run_member, &runs[i]), 0);
    }
    for (uint32_t i = 0; i < members; i++)
        pthread_join(threads[i], NULL);
    for (uint32_t i = 0; i < members; i++)
        ck_assert_msg(!runs[i].status, "member %u: %s", i, runs[i].error.text);
    ck_good(griddep_group_status(group, &error));
}

/* All members' chains, handed in before anybody waits; the last member's first where odd. */
static void run_all(int32_t mode, uint32_t rounds, bool odd)
{
    if (in_threads) {
        run_threads(mode, rounds);
        return;
    }
    for (uint32_t i = 0; i < members; i++) {
        const uint32_t member = odd ? members - 1 - i : i;
        ck_good(griddep_chain_run_many(chains[member], mode, rounds, NULL, &error));
    }
    for (uint32_t i = 0; i < members; i++)
        ck_good(griddep_runtime_synchronize(runtimes[i], &error));
    ck_good(griddep_group_status(group, &error));
}

/* ---- elements ---- */

static uint32_t bytes_of(int32_t type)
{
    return type == GRIDDEP_TENSOR_F32 ? 4 : 2;
}

static float make_float(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static float load(int32_t type, const void *array, uint64_t index)
{
    uint16_t half;

    if (type == GRIDDEP_TENSOR_F32)
        return ((const float *)array)[index];
    memcpy(&half, (const char *)array + 2 * index, 2);
    if (type == GRIDDEP_TENSOR_BF16)
        return make_float((uint32_t)half << 16);
    return (half & 0x8000 ? -1.0f : 1.0f) * make_float((uint32_t)(half & 0x7fff) << 13) * 0x1p112f;
}

/* Rounded to nearest even, of normal values. */
static void store(int32_t type, void *array, uint64_t index, float value)
{
    uint32_t bits;
    uint16_t half;

    if (type == GRIDDEP_TENSOR_F32) {
        ((float *)array)[index] = value;
        return;
    }
    if (type == GRIDDEP_TENSOR_F16) {
        const float small = value * 0x1p-112f;
        memcpy(&bits, &small, 4);
        const uint32_t sign = bits >> 16 & 0x8000, most = bits & 0x7fffffff;
        half = (uint16_t)(sign | (most + 0xfff + (most >> 13 & 1)) >> 13);
    } else {
        memcpy(&bits, &value, 4);
        half = (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    }
    memcpy((char *)array + 2 * index, &half, 2);
}

/* Values whose sums depend on the order. */
static float value_of(uint32_t member, uint64_t index, uint32_t run)
{
    const uint32_t mixed = (uint32_t)(index * 2654435761u) ^ member * 40503u ^ run * 97u;

    return (float)(mixed % 4093 + 1) * (mixed & 4096 ? -0.03125f : 1.1f);
}

/* ---- hops ---- */

typedef struct hop_case {
    const char *name;
    int32_t type;
    uint64_t count; /* of a part */
} hop_case;

static const hop_case hop_cases[] = {
    {"all_reduce", GRIDDEP_TENSOR_F32, 1},        {"all_reduce", GRIDDEP_TENSOR_F32, 300},
    {"all_reduce", GRIDDEP_TENSOR_F32, 20011},    {"all_reduce", GRIDDEP_TENSOR_BF16, 1},
    {"all_reduce", GRIDDEP_TENSOR_BF16, 2049},    {"all_reduce", GRIDDEP_TENSOR_F16, 515},
    {"all_reduce", GRIDDEP_TENSOR_F32, 8192},     {"reduce_scatter", GRIDDEP_TENSOR_BF16, 258},
    {"reduce_scatter", GRIDDEP_TENSOR_F32, 9000}, {"all_gather", GRIDDEP_TENSOR_F16, 66},
    {"all_gather", GRIDDEP_TENSOR_F32, 8193},     {"broadcast", GRIDDEP_TENSOR_BF16, 2051},
    {"broadcast", GRIDDEP_TENSOR_F32, 16385},     {"ring", GRIDDEP_TENSOR_F32, 777},
    {"ring", GRIDDEP_TENSOR_BF16, 33333},         {"send", GRIDDEP_TENSOR_F32, 50},
    {"all_reduce", GRIDDEP_TENSOR_BF16, 24973},   {"all_reduce", GRIDDEP_TENSOR_F16, 196609},
};
enum { HOP_CASES = sizeof hop_cases / sizeof *hop_cases };

/* The hops that the tests add, each in lane 0 or as a configuration says. */
static int32_t add_with(griddep_chain *chain, griddep_group *to,
                        const griddep_launch_config *config, griddep_hop hop)
{
    hop.size = sizeof hop;
    return griddep_chain_add_hop(chain, to, config, &hop, &error);
}

#define ALL_REDUCE(from, into, number, kind)                                                       \
    ((griddep_hop){.operation = GRIDDEP_HOP_ALL_REDUCE,                                            \
                   .type = (kind),                                                                 \
                   .source = (from),                                                               \
                   .target = (into),                                                               \
                   .count = (number)})

static bool is(const hop_case *it, const char *name)
{
    return !strcmp(it->name, name);
}

static uint32_t source_parts(const hop_case *it)
{
    return is(it, "reduce_scatter") ? members : 1;
}

static uint32_t target_parts(const hop_case *it)
{
    return is(it, "all_gather") ? members : 1;
}

static void add_hop(const hop_case *it, uint32_t member, uint64_t source, uint64_t target)
{
    const int32_t self = (int32_t)member, count = (int32_t)members;
    griddep_chain *chain = chains[member];

    if (is(it, "all_reduce"))
        ck_good(add_with(chain, group, NULL, ALL_REDUCE(source, target, it->count, it->type)));
    else if (is(it, "reduce_scatter"))
        ck_good(add_with(chain, group, NULL,
                         ((griddep_hop){.operation = GRIDDEP_HOP_REDUCE_SCATTER,
                                        .type = it->type,
                                        .source = source,
                                        .target = target,
                                        .count = it->count})));
    else if (is(it, "all_gather"))
        ck_good(add_with(chain, group, NULL,
                         ((griddep_hop){.operation = GRIDDEP_HOP_ALL_GATHER,
                                        .type = it->type,
                                        .source = source,
                                        .target = target,
                                        .count = it->count})));
    else if (is(it, "broadcast"))
        ck_good(add_with(chain, group, NULL,
                         ((griddep_hop){.operation = GRIDDEP_HOP_BROADCAST,
                                        .type = it->type,
                                        .root = count - 1,
                                        .target = target,
                                        .count = it->count})));
    else if (is(it, "ring"))
        ck_good(add_with(chain, group, NULL,
                         ((griddep_hop){.operation = GRIDDEP_HOP_EXCHANGE,
                                        .type = it->type,
                                        .to = (self + 1) % count,
                                        .from = (self + count - 1) % count,
                                        .source = source,
                                        .target = target,
                                        .count = it->count})));
    else /* from the first member to the last one */
        ck_good(add_with(chain, group, NULL,
                         ((griddep_hop){.operation = GRIDDEP_HOP_EXCHANGE,
                                        .type = it->type,
                                        .to = self ? GRIDDEP_NO_MEMBER : count - 1,
                                        .from = self == count - 1 ? 0 : GRIDDEP_NO_MEMBER,
                                        .source = self ? 0 : source,
                                        .target = self == count - 1 ? target : 0,
                                        .count = it->count})));
}

/* What the hop leaves at element `index` of the target; what no hop writes stays as it was. */
static float expect(const hop_case *it, uint32_t member, uint64_t index, uint32_t run, float before)
{
    char rounded[4];
    float sum = 0;

    if (is(it, "broadcast"))
        return value_of(members - 1, index, run);
    if (is(it, "ring"))
        return value_of((member + members - 1) % members, index, run);
    if (is(it, "send"))
        return member == members - 1 ? value_of(0, index, run) : before;
    if (is(it, "all_gather"))
        return value_of((uint32_t)(index / it->count), index % it->count, run);
    for (uint32_t i = 0; i < members; i++) {
        const uint64_t at = is(it, "reduce_scatter") ? member * it->count + index : index;
        const bool large = nccl == GRIDDEP_NCCL_ON && it->count * bytes_of(it->type) >= nccl_bytes;
        char exact[4];
        store(it->type, exact, 0, value_of(large ? members - 1 - i : i, at, run));
        sum = i ? sum + load(it->type, exact, 0) : load(it->type, exact, 0);
        store(it->type, rounded, 0, sum);
        if (large) /* the fake NCCL begins with the last member, and rounds each sum */
            sum = load(it->type, rounded, 0);
    }
    return load(it->type, rounded, 0);
}

static void fill(const hop_case *it, uint32_t member, uint64_t address, uint64_t count,
                 uint32_t run)
{
    char *data = malloc(count * 4);

    ck_assert_ptr_nonnull(data);
    for (uint64_t i = 0; i < count; i++)
        store(it->type, data, i, value_of(member, i, run));
    write_memory(member, address, data, count * bytes_of(it->type));
    free(data);
}

static void look_at(const hop_case *it, uint32_t member, uint64_t address, uint32_t run,
                    float before)
{
    const uint64_t count = it->count * target_parts(it);
    char *data = malloc(count * 4);

    ck_assert_ptr_nonnull(data);
    read_memory(member, address, data, count * bytes_of(it->type));
    for (uint64_t i = 0; i < count; i++) {
        char rounded[4];
        store(it->type, rounded, 0, expect(it, member, i, run, before));
        const float expected = load(it->type, rounded, 0), got = load(it->type, data, i);
        if (memcmp(&got, &expected, sizeof got) != 0)
            ck_abort_msg("%s of %" PRIu64 " (type %d), member %u of %u, run %u, element %" PRIu64
                         ": %a, expected %a",
                         it->name, it->count, it->type, member, members, run, i, (double)got,
                         (double)expected);
    }
    free(data);
}

static const char *const schedules[] = {"eager", "lazy", "random:1", "random:2"};
static const uint32_t counts[] = {2, 8, 3, 1};
enum { SCHEDULES = 4, COUNTS = 4 };

/* Each mode runs twice. */
static void try_hop(const hop_case *it)
{
    uint64_t sources[MOST], targets[MOST];
    uint32_t run = 0;

    const uint64_t in = it->count * source_parts(it), out = it->count * target_parts(it);
    for (uint32_t i = 0; i < members; i++) {
        sources[i] = allocate(i, in * 4);
        targets[i] = allocate(i, out * 4);
        add_hop(it, i, sources[i], targets[i]);
    }
    /* The largest hop's kernels are those of the others: the first and the last mode will do. */
    const int32_t next = it->count > 100000 ? GRIDDEP_MODE_COUNT - 1 : 1;
    for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT; mode += next) {
        for (uint32_t again = 0; again < 2; again++, run++) {
            for (uint32_t i = 0; i < members; i++) {
                fill(it, i, sources[i], in, run);
                fill(it, i, targets[i], out, is(it, "broadcast") ? run : 0);
            }
            run_all(mode, 1, again);
            for (uint32_t i = 0; i < members; i++) {
                if (is(it, "send") && i != members - 1)
                    continue; /* nothing comes */
                look_at(it, i, targets[i], run, 0);
            }
        }
    }
    for (uint32_t i = 0; i < members; i++) {
        ck_good(griddep_memory_free(runtimes[i], sources[i], &error));
        ck_good(griddep_memory_free(runtimes[i], targets[i], &error));
    }
    end();
}

/* A case's number is the hop, the schedule and the number of devices. */
LOOP_TEST(group, hops_are_right, HOP_CASES *SCHEDULES *COUNTS)
{
    if (_i >= HOP_CASES * SCHEDULES && (_i + _i / HOP_CASES) % 3)
        return; /* more than two devices, or one: each hop in some schedule */
    if (!round_takes_place(_i + _i / HOP_CASES, 2, 12))
        return;
    begin(counts[_i / HOP_CASES / SCHEDULES], schedules[_i / HOP_CASES % SCHEDULES]);
    try_hop(&hop_cases[_i % HOP_CASES]);
}

LOOP_TEST(group, hops_of_threads_are_right, HOP_CASES)
{
    in_threads = true;
    begin(_i % 3 ? 2 : 4, schedules[_i % SCHEDULES]);
    try_hop(&hop_cases[_i]);
}

/* ---- large hops ---- */

static void demand_nccl(uint64_t bytes)
{
    setenv("GRIDDEP_NCCL", FAKE_NCCL, 1);
    nccl = GRIDDEP_NCCL_ON;
    nccl_bytes = bytes;
}

LOOP_TEST(group, large_hops_are_right, HOP_CASES)
{
    demand_nccl(1);
    begin(2, schedules[_i % SCHEDULES]);
    try_hop(&hop_cases[_i]);
}

/* ---- chains around hops ---- */

enum { ELEMENTS = 600 };

typedef struct step_chain {
    uint64_t x, y, partial, sum, out; /* out = (the members' x + y) + y */
} step_chain;

static griddep_module *adder_modules[MOST];
static griddep_kernel *adders[MOST];
static step_chain steps[MOST];

static void load_adders(void)
{
    for (uint32_t i = 0; i < members; i++) {
        ck_good(
            griddep_module_load_shelf(runtimes[i], "vector_add", NULL, &adder_modules[i], &error));
        ck_good(griddep_module_find_kernel(adder_modules[i], "vector_add", &adders[i], &error));
    }
}

static void add_sum(uint32_t member, uint64_t x, uint64_t y, uint64_t out)
{
    const uint32_t count = ELEMENTS;
    const griddep_launch_config config = {.size = sizeof config, .grid = {2}, .block = {64}};
    const griddep_argument arguments[] = {{.bytes = 8, .data = &x},
                                          {.bytes = 8, .data = &y},
                                          {.bytes = 8, .data = &out},
                                          {.bytes = 4, .data = &count}};

    ck_good(griddep_chain_add(chains[member], adders[member], &config, arguments, 4, &error));
}

static void make_steps(void)
{
    for (uint32_t i = 0; i < members; i++) {
        uint64_t *const places[] = {&steps[i].x, &steps[i].y, &steps[i].partial, &steps[i].sum,
                                    &steps[i].out};
        for (uint32_t k = 0; k < 5; k++)
            *places[k] = allocate(i, ELEMENTS * 4);
    }
}

/* Other inputs for each run, and no results. */
static void begin_run(uint32_t run)
{
    float data[3][ELEMENTS];

    for (uint32_t i = 0; i < members; i++) {
        for (uint32_t j = 0; j < ELEMENTS; j++) {
            data[0][j] = value_of(i, j, run);
            data[1][j] = 2;
            data[2][j] = 0;
        }
        write_memory(i, steps[i].x, data[0], sizeof data[0]);
        write_memory(i, steps[i].y, data[1], sizeof data[1]);
        write_memory(i, steps[i].partial, data[2], sizeof data[2]);
        write_memory(i, steps[i].sum, data[2], sizeof data[2]);
        write_memory(i, steps[i].out, data[2], sizeof data[2]);
    }
}

/* How many elements are not what they should be. */
static uint32_t count_wrong(uint32_t run)
{
    float *data = malloc(ELEMENTS * sizeof *data);
    uint32_t wrong = 0;

    ck_assert_ptr_nonnull(data);
    for (uint32_t i = 0; i < members; i++) {
        read_memory(i, steps[i].out, data, ELEMENTS * 4);
        for (uint32_t j = 0; j < ELEMENTS; j++) {
            float sum = value_of(0, j, run) + 2.0f;
            for (uint32_t k = 1; k < members; k++)
                sum += value_of(k, j, run) + 2.0f;
            wrong += data[j] != sum + 2.0f;
        }
    }
    free(data);
    return wrong;
}

/* A kernel before the hop and one behind it, in all modes, many rounds, and in a graph of each
 * chain. The hop and what follows it start early. */
LOOP_TEST(group, hops_overlap, 2 * SCHEDULES)
{
    griddep_graph *graphs[MOST];

    begin(_i % 2 ? 8 : 2, schedules[_i / 2]);
    load_adders();
    make_steps();
    for (uint32_t i = 0; i < members; i++) {
        add_sum(i, steps[i].x, steps[i].y, steps[i].partial);
        ck_good(add_with(chains[i], group, NULL,
                         ALL_REDUCE(steps[i].partial, steps[i].sum, ELEMENTS, GRIDDEP_TENSOR_F32)));
        add_sum(i, steps[i].sum, steps[i].y, steps[i].out);
        for (uint32_t k = 1; k < 3; k++) {
            griddep_hop_info info = {.size = sizeof info};
            ck_good(griddep_chain_get_hop(chains[i], GRIDDEP_MODE_GRAPH_PDL, k, &info, &error));
            ck_assert_int_eq(info.reason, GRIDDEP_REASON_SET);
            ck_assert_int_eq(info.edge, 1);
        }
        griddep_findings *findings;
        ck_good(griddep_chain_check(chains[i], &findings, &error));
        for (uint32_t k = 0; k < griddep_findings_count(findings); k++) {
            griddep_finding finding = {.size = sizeof finding};
            ck_good(griddep_findings_get(findings, k, &finding, &error));
            ck_abort_msg("%s: %s", finding.code, finding.text);
        }
        griddep_findings_destroy(findings);
    }
    for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT; mode++) {
        begin_run((uint32_t)mode);
        run_all(mode, 7, mode % 2);
        ck_assert_uint_eq(count_wrong((uint32_t)mode), 0);
    }
    begin_run(9);
    for (uint32_t i = 0; i < members; i++) {
        ck_good(griddep_graph_from_chain(chains[i], GRIDDEP_MODE_GRAPH_PDL, &graphs[i], &error));
        ck_good(griddep_graph_instantiate(graphs[i], &error));
        griddep_chain_destroy(chains[i]); /* the graph has what it needs */
        chains[i] = NULL;
    }
    griddep_group_close(group);
    group = NULL;
    for (uint32_t again = 0; again < 3; again++) {
        for (uint32_t i = 0; i < members; i++)
            ck_good(griddep_graph_launch(graphs[i], NULL, &error));
        for (uint32_t i = 0; i < members; i++)
            ck_good(griddep_runtime_synchronize(runtimes[i], &error));
    }
    ck_assert_uint_eq(count_wrong(9), 0);
    for (uint32_t i = 0; i < members; i++) {
        griddep_graph_destroy(graphs[i]);
        griddep_module_unload(adder_modules[i]);
    }
    end();
}

/* ---- what is left out is found ---- */

typedef struct mutation {
    const char *from, *to; /* in the kernel's text */
    const char *code;      /* what the check says of the chain; NULL: nothing */
    const char *found;     /* what the checks of a run say in some schedule; NULL: nothing */
    bool wrong;            /* results are wrong in some schedule, or a member is given up */
    const char *behind;    /* of several places the first behind this; "": all; NULL: the first */
    uint32_t parts;        /* 0: one step; else two steps of so many members */
    uint32_t threads;      /* of one block; 0: three blocks of 64 */
} mutation;

static const mutation mutations[] = {
    {"", "", NULL, NULL, false, NULL, 0, 0},
    {"griddepcontrol.wait;", "", "GD205", "griddepcontrol.wait", true, NULL, 0, 0},
    {"st.relaxed.sys.global.b128 [%inbox]", "st.relaxed.gpu.global.b128 [%inbox]", NULL,
     "scope sys on the access of kernel sum_f32", false, NULL, 0, 0},
    {"ld.relaxed.sys.global.b128 %packet", "ld.relaxed.gpu.global.b128 %packet", NULL,
     "scope sys on the access of kernel sum_f32", false, NULL, 0, 0},
    {"st.relaxed.sys.global.b128 [%inbox]", "st.global.b128 [%inbox]", "GD131", "\"finding\"",
     false, NULL, 0, 0},
    {"ld.relaxed.sys.global.b128 %packet", "ld.global.b128 %packet", "GD132", "\"finding\"", true,
     NULL, 0, 0},
    {"barrier.sync 0, %block;", "", NULL, "\"finding\"", true, NULL, 0, 0},
    /* the flag is not looked at */
    {"@%arrived bra take;", "bra take;", NULL, NULL, true, NULL, 0, 0},
    /* the numbers are those of the hop before */
    {"add.u32 %number, %counter, %pieces;", "mov.u32 %number, %counter;", NULL, NULL, true, NULL, 0,
     0},
    /* one set of places */
    {"and.b32 %row, %number, 7;", "mov.b32 %row, 0;", NULL, NULL, true, NULL, 0, 0},
    {"st.relaxed.sys.global.b128 [%inbox], %packet;", "", NULL, NULL, true, NULL, 0, 0},
    /* many pieces, of which most threads lack the last one: four sets are not enough */
    {"", "", NULL, NULL, false, NULL, 0, 96},
    {"and.b32 %row, %number, 7;", "and.b32 %row, %number, 3;", NULL, NULL, true, "", 0, 96},
    /* two steps */
    {"", "", NULL, NULL, false, NULL, 3, 0},
    {"", "", NULL, NULL, false, NULL, 3, 32},
    {"", "", NULL, NULL, false, NULL, 8, 32},
    {"griddepcontrol.wait;", "", "GD205", "griddepcontrol.wait", true, NULL, 3, 0},
    {"st.relaxed.sys.global.b128 [%inbox]", "st.relaxed.gpu.global.b128 [%inbox]", NULL,
     "scope sys on the access of kernel sum_f32", false, "scatter:", 3, 0},
    {"st.relaxed.sys.global.b128 [%inbox]", "st.relaxed.gpu.global.b128 [%inbox]", NULL,
     "scope sys on the access of kernel sum_f32", false, "hand_to:", 3, 0},
    {"ld.relaxed.sys.global.b128 %packet", "ld.relaxed.gpu.global.b128 %packet", NULL,
     "scope sys on the access of kernel sum_f32", false, "gather:", 3, 0},
    {"st.relaxed.sys.global.b128 [%inbox]", "st.global.b128 [%inbox]", "GD131", "\"finding\"",
     false, "hand_to:", 3, 0},
    {"@%arrived bra take_sum;", "bra take_sum;", NULL, NULL, true, NULL, 3, 0},
    {"add.u32 %number, %counter, %received;", "mov.u32 %number, %counter;", NULL, NULL, true,
     "hand_on:", 3, 0}, /* sums where the words are */
    {"@%two shl.b32 %pieces, %pieces, 1;", "", NULL, NULL, true, NULL, 3, 32},
};
enum { MUTATIONS = sizeof mutations / sizeof *mutations };

static char *read_kernel(const mutation *how)
{
    static char text[1 << 16], changed[1 << 16];
    FILE *file = fopen("ptx/group/sum_f32.ptx", "r");

    ck_assert_msg(file != NULL, "ptx/group/sum_f32.ptx: make it, and run in the build's folder");
    const size_t bytes = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[bytes] = 0;
    const char *rest = text;
    const char *begin = how->behind ? strstr(text, how->behind) : text;
    const char *at = begin ? strstr(begin, how->from) : NULL;
    ck_assert_msg(at != NULL, "\"%s\" is not in the kernel", how->from);
    size_t made = 0;
    do {
        made += (size_t)snprintf(changed + made, sizeof changed - made, "%.*s%s", (int)(at - rest),
                                 rest, how->to);
        rest = at + strlen(how->from);
    } while (how->behind && !*how->behind && (at = strstr(rest, how->from)));
    snprintf(changed + made, sizeof changed - made, "%s", rest);
    return changed;
}

/* The hop as a kernel of the user's own, in memory of the group: what its head comment says. */
static void add_by_hand(const mutation *how, uint32_t inbox, uint32_t state)
{
    const char *text = read_kernel(how);
    const uint32_t all = ELEMENTS * 4, parts = how->parts ? how->parts : 1,
                   part = how->parts ? (all / 12 + parts - 1) / parts * 12 : all;

    for (uint32_t i = 0; i < members; i++) {
        griddep_module *module;
        griddep_kernel *kernel;
        uint64_t own, boxes[32] = {0};
        for (uint32_t k = 0; k < members; k++)
            ck_good(griddep_group_get_address(group, inbox, k, &boxes[k], &error));
        ck_good(griddep_group_get_address(group, state, i, &own, &error));
        const uint64_t record = own + 2048;
        uint32_t counters[128]; /* the numbers of pieces pass 0 on their way */
        for (uint32_t k = 0; k < 128; k++)
            counters[k] = UINT32_MAX - 1;
        write_memory(i, own + 64, counters, sizeof counters);
        const uint32_t scalars[] = {
            part, all, all, i, members, (1u << members) - 1, (1u << members) - 1, 500, 0};
        griddep_argument arguments[14] = {{.bytes = 8, .data = &steps[i].partial},
                                          {.bytes = 8, .data = &steps[i].sum},
                                          {.bytes = 8, .data = &own},
                                          {.bytes = 8, .data = &record},
                                          [13] = {.bytes = sizeof boxes, .data = boxes}};
        for (uint32_t k = 0; k < 9; k++)
            arguments[4 + k] = (griddep_argument){.bytes = 4, .data = &scalars[k]};
        const griddep_launch_config config = {.size = sizeof config,
                                              .grid = {how->threads ? 1 : 3},
                                              .block = {how->threads ? how->threads : 64},
                                              .pdl = GRIDDEP_PDL_FORCE};
        ck_good(griddep_module_load(runtimes[i], text, strlen(text), NULL, &module, &error));
        ck_good(griddep_module_find_kernel(module, "sum_f32", &kernel, &error));
        add_sum(i, steps[i].x, steps[i].y, steps[i].partial);
        ck_good(griddep_chain_add(chains[i], kernel, &config, arguments, 14, &error));
        add_sum(i, steps[i].sum, steps[i].y, steps[i].out);
        griddep_module_unload(module);
    }
}

static bool has_code(const griddep_chain *chain, const char *code)
{
    griddep_findings *findings;
    bool found = false;

    ck_good(griddep_chain_check(chain, &findings, &error));
    for (uint32_t i = 0; i < griddep_findings_count(findings); i++) {
        griddep_finding finding = {.size = sizeof finding};
        ck_good(griddep_findings_get(findings, i, &finding, &error));
        if (!code)
            ck_abort_msg("%s: %s", finding.code, finding.text);
        found |= !strcmp(finding.code, code);
    }
    griddep_findings_destroy(findings);
    return found;
}

typedef struct observed {
    bool wrong;
    bool found;
    char report[2048];
} observed;

static void run_mutation(const mutation *how, const char *schedule, observed *seen)
{
    uint32_t inbox, state;

    begin_with(how->parts ? how->parts : 2, schedule, "race,initialized", 2);
    load_adders();
    make_steps();
    ck_good(griddep_group_allocate(group, (uint64_t)8 * members * 32768 * 16, &inbox, &error));
    ck_good(griddep_group_allocate(group, 4096, &state, &error));
    add_by_hand(how, inbox, state);
    ck_assert(has_code(chains[0], how->code) == (how->code != NULL));
    for (uint32_t again = 0; again < 3; again++) {
        begin_run(again);
        run_all(GRIDDEP_MODE_PDL, again ? 3 : 1, again % 2);
        seen->wrong |= count_wrong(again) != 0;
    }
    const char *report = read_report();
    seen->found = strstr(report, how->found ? how->found : "\"finding\"") != NULL;
    snprintf(seen->report, sizeof seen->report, "%s", report);
}

LOOP_TEST(group, mutations_are_found, MUTATIONS)
{
    static const char *const orders[] = {"eager", "lazy", "random:1", "random:2", "random:3"};
    const mutation *how = &mutations[_i];
    bool wrong = false, found = false;
    char report[2048] = "";
    int pipes[2];

    if (!round_takes_place(_i, 1, 6))
        return;
    ck_assert_int_eq(pipe(pipes), 0);
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        observed seen = {0};
        const pid_t child = fork();
        if (!child) {
            run_mutation(how, orders[i], &seen);
            _exit(write(pipes[1], &seen, sizeof seen) != sizeof seen);
        }
        int status = -1;
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_int_eq(status, 0);
        ck_assert_int_eq(read(pipes[0], &seen, sizeof seen), sizeof seen);
        wrong |= seen.wrong;
        found |= seen.found;
        if (*seen.report)
            memcpy(report, seen.report, sizeof report);
        if ((how->wrong || how->found) && wrong >= how->wrong && found >= (how->found != NULL))
            break; /* all that is to be seen of it */
    }
    ck_assert_msg(wrong == how->wrong, "\"%s\" to \"%s\": results are %s", how->from, how->to,
                  wrong ? "wrong" : "right");
    ck_assert_msg(found == (how->found != NULL), "\"%s\" to \"%s\": %s", how->from, how->to,
                  *report ? report : "nothing is reported");
}

/* ---- failures ---- */

static uint64_t add_plain(uint32_t member, uint64_t count, int32_t type)
{
    const uint64_t memory = allocate(member, count * 4);

    ck_good(griddep_memory_fill(runtimes[member], memory, 0, count * 4, NULL, &error));
    ck_good(add_with(chains[member], group, NULL, ALL_REDUCE(memory, memory, count, type)));
    return memory;
}

/* A member that never comes is told by its rank, in every mode; what stands behind the hop runs,
 * later runs are refused, and all ends. */
LOOP_TEST(group, who_does_not_come_is_told, GRIDDEP_MODE_COUNT)
{
    begin_with(3, "eager", "race,initialized", 3);
    for (uint32_t i = 0; i < 3; i++)
        add_plain(i, 64, GRIDDEP_TENSOR_BF16);
    add_plain(0, 32, GRIDDEP_TENSOR_F32);
    add_plain(2, 32, GRIDDEP_TENSOR_F32);
    for (uint32_t i = 0; i < 3; i += 2)
        ck_good(griddep_chain_run(chains[i], _i, NULL, &error));
    ck_good(griddep_group_status(group, &error));
    for (uint32_t i = 0; i < 3; i += 2)
        ck_good(griddep_runtime_synchronize(runtimes[i], &error));
    ck_refused(griddep_group_status(group, &error), GRIDDEP_ERROR_PEER,
               "waited for member 1 for 3 ms in all_reduce of 64 bf16, in vain");
    ck_refused(griddep_chain_run(chains[0], _i, NULL, &error), GRIDDEP_ERROR_PEER,
               "waited for member 1");
    end();
}

/* Who carries out the first hop of member 0: the kernel's name, or the hop's. */
static const char *carrier(void)
{
    griddep_hop_info info = {.size = sizeof info};

    ck_good(griddep_chain_get_hop(chains[0], GRIDDEP_MODE_SERIAL, 0, &info, &error));
    return info.kernel;
}

/* What NCCL cannot serve our kernels do, unless the caller demands it. */
LOOP_TEST(group, nccl_that_is_not_there, 5)
{
    static const struct {
        const char *path, *version, *words;
    } cases[] = {{"/nowhere/libnccl.so.2", "22809", "NCCL cannot be opened: /nowhere/libnccl"},
                 {"./nccl.pipe", "22809", "NCCL cannot be opened: ./nccl.pipe is a pipe"},
                 {EMULATED_DRIVER, "22809", "has no ncclGetVersion"},
                 {FAKE_NCCL, "20900", "is of version 20900; the library calls 21100 to 29999"},
                 {NULL, "22809", "NCCL cannot serve this group: the driver is the emulated one"}};
    griddep_group *made = NULL;

    nccl = GRIDDEP_NCCL_AUTO;
    nccl_bytes = 8;
    setenv("FAKE_NCCL_VERSION", cases[_i].version, 1);
    if (cases[_i].path)
        setenv("GRIDDEP_NCCL", cases[_i].path, 1);
    unlink("nccl.pipe");
    ck_assert_int_eq(mkfifo("nccl.pipe", 0600), 0);
    begin(2, "eager");
    for (uint32_t i = 0; i < 2; i++)
        add_plain(i, 8, GRIDDEP_TENSOR_F32);
    ck_assert_str_eq(carrier(), "sum_f32");
    run_all(GRIDDEP_MODE_GRAPH_PDL, 1, false);
    const griddep_group_options options = {.size = sizeof options, .nccl = GRIDDEP_NCCL_ON};
    const griddep_group_options unknown = {.size = sizeof unknown, .nccl = 3};
    ck_refused(griddep_group_open(runtimes, 2, &options, &made, &error), GRIDDEP_ERROR_UNSUPPORTED,
               cases[_i].words);
    ck_refused(griddep_group_open(runtimes, 2, &unknown, &made, &error), GRIDDEP_ERROR_ARGUMENT,
               "nccl is 3");
    const griddep_group_options flagged = {.size = sizeof flagged, .flags = 2};
    const griddep_group_options nothing = {.size = sizeof nothing, .flags = GRIDDEP_GROUP_REMEMBER};
    ck_refused(griddep_group_open(runtimes, 2, &flagged, &made, &error), GRIDDEP_ERROR_ARGUMENT,
               "flags is 2");
    ck_refused(griddep_group_open(runtimes, 2, &nothing, &made, &error), GRIDDEP_ERROR_ARGUMENT,
               "GRIDDEP_GROUP_REMEMBER, and nccl_bytes is 0");
    ck_assert_ptr_null(made);
    unlink("nccl.pipe");
}

/* Where bits would change, or NCCL may block, AUTO leaves a hop to our kernels. */
LOOP_TEST(group, nccl_where_it_changes_nothing, 2)
{
    setenv("GRIDDEP_NCCL", FAKE_NCCL, 1);
    nccl = GRIDDEP_NCCL_AUTO;
    nccl_bytes = 8;
    begin(_i ? 3 : 2, "eager");
    for (uint32_t i = 0; i < members; i++) {
        add_plain(i, 2, GRIDDEP_TENSOR_F32);
        add_plain(i, 1, GRIDDEP_TENSOR_F32);
    }
    ck_assert_str_eq(carrier(), _i ? "sum_f32" : "all_reduce");
    griddep_hop_info info = {.size = sizeof info};
    ck_good(griddep_chain_get_hop(chains[0], GRIDDEP_MODE_SERIAL, 1, &info, &error));
    ck_assert_str_eq(info.kernel, "sum_f32");
    run_all(GRIDDEP_MODE_PDL, 2, false);
}

/* ---- timelines ---- */

typedef struct traced {
    griddep_timeline *timeline;
    int32_t mode, status;
    griddep_error error;
} traced;

static void *run_traced(void *user)
{
    traced *it = user;

    griddep_error_init(&it->error);
    it->status = griddep_timeline_run(it->timeline, it->mode, NULL, &it->error);
    return NULL;
}

/* Timelines of all members run at once, a thread each, also when their chains and the group's
 * handle have ended. */
LOOP_TEST(group, timelines_of_members, 2 * GRIDDEP_MODE_COUNT)
{
    static const hop_case sum = {"all_reduce", GRIDDEP_TENSOR_F32, 300};
    traced its[2];
    uint64_t memory[2];
    pthread_t other;

    begin(2, schedules[_i / GRIDDEP_MODE_COUNT]);
    for (uint32_t i = 0; i < 2; i++) {
        memory[i] = allocate(i, sum.count * 4);
        fill(&sum, i, memory[i], sum.count, 0);
        add_hop(&sum, i, memory[i], memory[i]);
        its[i] = (traced){.mode = _i % GRIDDEP_MODE_COUNT};
        ck_good(griddep_timeline_create(chains[i], NULL, &its[i].timeline, &error));
        griddep_chain_destroy(chains[i]);
        chains[i] = NULL;
    }
    griddep_group_close(group);
    group = NULL;
    ck_assert_int_eq(pthread_create(&other, NULL, run_traced, &its[1]), 0);
    run_traced(&its[0]);
    pthread_join(other, NULL);
    for (uint32_t i = 0; i < 2; i++) {
        griddep_timeline_launch launch = {.size = sizeof launch};
        ck_assert_msg(!its[i].status, "member %u: %s", i, its[i].error.text);
        look_at(&sum, i, memory[i], 0, 0);
        ck_good(griddep_timeline_get_launch(its[i].timeline, 0, &launch, &error));
        ck_assert_str_eq(launch.kernel, "sum_f32");
        ck_assert_double_ge(launch.last_exit, launch.first_release);
        griddep_timeline_destroy(its[i].timeline);
    }
    end();
}

/* ---- the crossing that a store remembers ---- */

enum { BUILT_IN = 14 << 20 };

static char store_path[] = "/tmp/griddep-group-store-XXXXXX";

static int32_t remember(uint64_t bytes)
{
    const griddep_group_options options = {.size = sizeof options,
                                           .nccl = GRIDDEP_NCCL_OFF,
                                           .nccl_bytes = bytes,
                                           .flags = GRIDDEP_GROUP_REMEMBER};
    griddep_group *made;
    int32_t status = griddep_group_open(runtimes, 2, &options, &made, &error);

    if (!status)
        griddep_group_close(made);
    return status;
}

static uint64_t crossing_of(const griddep_group *of)
{
    griddep_group_info info = {.size = sizeof info};

    ck_good(griddep_group_get_info(of, &info, &error));
    return info.nccl_bytes;
}

/* What a group that is opened anew has. */
static uint64_t recall(void)
{
    griddep_group *made;

    ck_good(griddep_group_open(runtimes, 2, NULL, &made, &error));
    const uint64_t bytes = crossing_of(made);
    griddep_group_close(made);
    return bytes;
}

/* The path of the store's only entry. */
static const char *find_entry(void)
{
    static char path[sizeof store_path + 256];
    DIR *folder = opendir(store_path);
    uint32_t count = 0;

    ck_assert_ptr_nonnull(folder);
    for (struct dirent *item; (item = readdir(folder)) != NULL;) {
        if (*item->d_name != '.') {
            snprintf(path, sizeof path, "%s/%s", store_path, item->d_name);
            count++;
        }
    }
    closedir(folder);
    ck_assert_uint_eq(count, 1);
    return path;
}

static void begin_with_store(void)
{
    ck_assert_ptr_nonnull(mkdtemp(store_path));
    store_folder = store_path;
    setenv("GRIDDEP_NCCL", FAKE_NCCL, 1);
    nccl = GRIDDEP_NCCL_AUTO;
}

static void end_store(void)
{
    ck_assert_int_eq(unlink(find_entry()), 0);
    ck_assert_int_eq(rmdir(store_path), 0);
}

/* A hop is NCCL's from the size on that the store remembers, and the built-in one else. */
TEST(group, a_crossing_is_remembered)
{
    begin_with_store();
    begin(2, "eager");
    ck_assert_uint_eq(crossing_of(group), BUILT_IN);
    ck_good(remember(8));
    ck_assert_uint_eq(crossing_of(group), BUILT_IN); /* one that is open stays as it is */
    griddep_group_close(group);
    ck_good(griddep_group_open(runtimes, 2, NULL, &group, &error));
    ck_assert_uint_eq(crossing_of(group), 8);
    for (uint32_t i = 0; i < 2; i++) {
        add_plain(i, 2, GRIDDEP_TENSOR_F32);
        add_plain(i, 1, GRIDDEP_TENSOR_F32);
    }
    griddep_hop_info info = {.size = sizeof info};
    ck_good(griddep_chain_get_hop(chains[0], GRIDDEP_MODE_SERIAL, 1, &info, &error));
    ck_assert_str_eq(info.kernel, "sum_f32");
    ck_assert_str_eq(carrier(), "all_reduce");
    run_all(GRIDDEP_MODE_GRAPH_PDL, 2, false);
    ck_good(remember(UINT64_MAX)); /* never */
    ck_assert_uint_eq(recall(), UINT64_MAX);
    end();
    end_store();
}

/* Who asks to remember learns that it cannot be. */
TEST(group, a_crossing_that_cannot_be_written)
{
    begin(2, "eager");
    ck_refused(remember(8), GRIDDEP_ERROR_FILE,
               "nccl_bytes is not remembered: the runtime has no store");
    end();
    store_folder = "/proc/griddep";
    begin(2, "eager");
    ck_refused(remember(8), GRIDDEP_ERROR_FILE,
               "nccl_bytes is not remembered: the store cannot be written");
    end();
}

/* A large hop beside kernels of its lane and of another one: addresses change between runs, sets
 * of arguments have their own, and a capture outlives chain and group. */
LOOP_TEST(group, large_hops_in_chains, 2 * GRIDDEP_MODE_COUNT)
{
    static const float data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    const griddep_launch_config second = {.size = sizeof second, .lane = 1};
    griddep_graph *graphs[2];
    uint64_t memory[2], other;
    uint32_t set;
    float got[8];

    demand_nccl(1);
    begin(2, schedules[_i / GRIDDEP_MODE_COUNT]);
    for (uint32_t i = 0; i < 2; i++) {
        /* [0] the source, [1] its copy, then the sum, [2] the sum, [3] of the other lane */
        memory[i] = allocate(i, 4 * sizeof data);
        write_memory(i, memory[i], data, sizeof data);
        ck_good(griddep_chain_add_copy(chains[i], NULL, memory[i] + 32, memory[i], 32, &error));
        ck_good(griddep_chain_add_fill(chains[i], &second, memory[i] + 96, 1, 32, &error));
        ck_good(add_with(chains[i], group, NULL,
                         ALL_REDUCE(memory[i] + 32, memory[i] + 32, 8, GRIDDEP_TENSOR_F32)));
        ck_good(
            griddep_chain_add_copy(chains[i], NULL, memory[i] + 64, memory[i] + 32, 32, &error));
        ck_good(griddep_chain_depend(chains[i], 3, 1, &error));
        ck_good(griddep_chain_add_argument_set(chains[i], &set, &error));
    }
    const int32_t mode = _i % GRIDDEP_MODE_COUNT;
    run_all(mode, 3, false);
    for (uint32_t i = 0; i < 2; i++) {
        read_memory(i, memory[i] + 64, got, sizeof got);
        ck_assert_msg(got[0] == 2 && got[7] == 16, "%g %g", (double)got[0], (double)got[7]);
        ck_good(griddep_chain_select_argument_set(chains[i], set, &error));
        other = memory[i];
        const griddep_argument argument = {.bytes = 8, .data = &other}, small = {.bytes = 4};
        ck_refused(griddep_chain_set_argument(chains[i], 2, 2, &argument, &error),
                   GRIDDEP_ERROR_ARGUMENT, "launch 2 (all_reduce) is a hop of a group");
        ck_refused(griddep_chain_set_argument(chains[i], 2, 0, &small, &error),
                   GRIDDEP_ERROR_SIGNATURE, "argument 0 has 4 bytes; an address has 8");
        ck_refused(griddep_chain_set_arguments(chains[i], 2, &argument, 1, &error),
                   GRIDDEP_ERROR_ARGUMENT, "launch 2 (all_reduce) is a hop of a group");
        ck_good(griddep_chain_set_argument(chains[i], 2, 1, &argument, &error));
    }
    run_all(mode, 1, true);
    for (uint32_t i = 0; i < 2; i++) {
        read_memory(i, memory[i], got, sizeof got);
        ck_assert_msg(got[0] == 2 && got[7] == 16, "%g %g", (double)got[0], (double)got[7]);
        ck_refused(griddep_graph_from_chain(chains[i], mode, &graphs[i], &error),
                   GRIDDEP_ERROR_UNSUPPORTED, "all_reduce is a hop of NCCL");
    }
    for (uint32_t i = 0; i < 2; i++) {
        void *stream;
        ck_good(griddep_stream_create(runtimes[i], NULL, &stream, &error));
        ck_good(griddep_graph_capture_begin(runtimes[i], stream, &error));
        ck_good(griddep_chain_run(chains[i], GRIDDEP_MODE_PDL, stream, &error));
        ck_good(griddep_graph_capture_end(runtimes[i], stream, &graphs[i], &error));
        ck_good(griddep_graph_instantiate(graphs[i], &error));
        ck_good(griddep_stream_destroy(runtimes[i], stream, &error));
    }
    for (uint32_t i = 0; i < 2; i++)
        griddep_chain_destroy(chains[i]);
    griddep_group_close(group);
    for (uint32_t i = 0; i < 2; i++) /* the sum of what was 2, 2 and so on is there */
        ck_good(griddep_graph_launch(graphs[i], NULL, &error));
    for (uint32_t i = 0; i < 2; i++)
        ck_good(griddep_runtime_synchronize(runtimes[i], &error));
    for (uint32_t i = 0; i < 2; i++) {
        read_memory(i, memory[i], got, sizeof got);
        ck_assert_msg(got[0] == 4 && got[7] == 32, "%g %g", (double)got[0], (double)got[7]);
        griddep_graph_destroy(graphs[i]);
        ck_good(griddep_memory_free(runtimes[i], memory[i], &error));
    }
    for (uint32_t i = 0; i < 2; i++)
        griddep_runtime_close(runtimes[i]);
    ck_assert_str_eq(read_report(), "");
}

/* Chains that differ are told before the second one runs, with the hop. */
LOOP_TEST(group, who_does_something_else_is_told, 3)
{
    static const struct {
        uint64_t count;
        int32_t type;
        bool more;
        const char *words;
    } cases[] = {
        {65, GRIDDEP_TENSOR_F32, false,
         "chain 0 of the group: hop 1 of member 1 is all_reduce of 65 f32, of member 0 all_reduce "
         "of 64 f32: what they do differs"},
        {64, GRIDDEP_TENSOR_BF16, false, "hop 1 of member 1 is all_reduce of 64 bf16"},
        {64, GRIDDEP_TENSOR_F32, true, "member 1 has 3 hops, member 0 2"},
    };

    begin_with(2, "eager", "off", 2);
    for (uint32_t i = 0; i < 2; i++) {
        add_plain(i, 16, GRIDDEP_TENSOR_F32);
        add_plain(i, i ? cases[_i].count : 64, i ? cases[_i].type : GRIDDEP_TENSOR_F32);
    }
    if (cases[_i].more)
        add_plain(1, 16, GRIDDEP_TENSOR_F32);
    ck_good(griddep_chain_prepare(chains[0], GRIDDEP_MODE_GRAPH_PDL, &error));
    ck_refused(griddep_chain_prepare(chains[1], GRIDDEP_MODE_GRAPH_PDL, &error), GRIDDEP_ERROR_PEER,
               cases[_i].words);
    ck_refused(griddep_chain_run(chains[1], GRIDDEP_MODE_PDL, NULL, &error), GRIDDEP_ERROR_PEER,
               cases[_i].words);
    ck_refused(griddep_chain_run(chains[0], GRIDDEP_MODE_PDL, NULL, &error), GRIDDEP_ERROR_PEER,
               "of the group");
}

/* Where an exchange goes to and comes from is compared both ways. */
TEST(group, exchanges_are_compared)
{
    begin_with(2, "eager", "off", 2);
    const uint64_t first = allocate(0, 64), second = allocate(1, 64);
    ck_good(add_with(chains[0], group, NULL,
                     ((griddep_hop){.operation = GRIDDEP_HOP_EXCHANGE,
                                    .type = GRIDDEP_TENSOR_F32,
                                    .to = 1,
                                    .from = GRIDDEP_NO_MEMBER,
                                    .source = first,
                                    .count = 8})));
    ck_good(add_with(chains[1], group, NULL,
                     ((griddep_hop){.operation = GRIDDEP_HOP_EXCHANGE,
                                    .type = GRIDDEP_TENSOR_F32,
                                    .from = GRIDDEP_NO_MEMBER,
                                    .source = second,
                                    .count = 8})));
    ck_good(griddep_chain_prepare(chains[0], GRIDDEP_MODE_PDL, &error));
    ck_refused(griddep_chain_prepare(chains[1], GRIDDEP_MODE_PDL, &error), GRIDDEP_ERROR_PEER,
               "one of them sends what the other does not receive");
}

/* ---- arguments ---- */

TEST(group, arguments_are_checked)
{
    griddep_group *other = NULL;
    griddep_group_info info = {.size = sizeof info};
    const griddep_launch_config shaped = {.size = sizeof shaped, .grid = {2}};
    griddep_runtime *same[] = {NULL, NULL};
    griddep_chain *stranger;
    uint32_t buffer = 0;
    uint64_t address = 0, value;

    begin_with(2, "eager", "all", 0);
    const uint64_t memory = allocate(0, 4096);
    ck_good(griddep_group_get_info(group, &info, &error));
    ck_assert_uint_eq(info.count, 2);
    ck_assert_uint_eq(info.timeout_ms, 10000);
    ck_refused(griddep_group_open(runtimes, 0, NULL, &other, &error), GRIDDEP_ERROR_ARGUMENT,
               "a group of 0 members");
    ck_refused(griddep_group_open(runtimes, 33, NULL, &other, &error), GRIDDEP_ERROR_ARGUMENT,
               "it may have 1 to 32");
    same[0] = same[1] = runtimes[1];
    ck_refused(griddep_group_open(same, 2, NULL, &other, &error), GRIDDEP_ERROR_ARGUMENT,
               "members 0 and 1 are both of device 1");
    same[1] = NULL;
    ck_refused(griddep_group_open(same, 2, NULL, &other, &error), GRIDDEP_ERROR_ARGUMENT,
               "runtime 1 is NULL");
    const griddep_group_options late = {.size = sizeof late, .timeout_ms = 4000001};
    ck_refused(griddep_group_open(runtimes, 2, &late, &other, &error), GRIDDEP_ERROR_ARGUMENT,
               "timeout_ms is 4000001");
    ck_assert_ptr_null(other);

#define REFUSED(status, words, member, source, target, count, type)                                \
    ck_refused(add_with(chains[member], group, NULL, ALL_REDUCE(source, target, count, type)),     \
               status, words)
    REFUSED(GRIDDEP_ERROR_ARGUMENT, "count is 0", 0, memory, memory, 0, GRIDDEP_TENSOR_F32);
    REFUSED(GRIDDEP_ERROR_LIMIT, "count is 2147483648", 0, memory, memory, 1ull << 31,
            GRIDDEP_TENSOR_BF16);
    REFUSED(GRIDDEP_ERROR_LIMIT, "4 GiB less 12 bytes", 0, memory, memory, (1u << 30) - 2,
            GRIDDEP_TENSOR_F32); /* the kernels count whole packets in 32 bits */
    REFUSED(GRIDDEP_ERROR_ARGUMENT, "overlap", 0, memory, memory + 8, (1u << 30) - 3,
            GRIDDEP_TENSOR_F32);
    REFUSED(GRIDDEP_ERROR_ARGUMENT, "sums are of", 0, memory, memory, 4, GRIDDEP_TENSOR_U32);
    REFUSED(GRIDDEP_ERROR_ARGUMENT, "source is 0x0", 0, 0, memory, 4, GRIDDEP_TENSOR_F32);
    REFUSED(GRIDDEP_ERROR_ARGUMENT, "a multiple of 4", 0, memory, memory + 2, 4,
            GRIDDEP_TENSOR_BF16);
    REFUSED(GRIDDEP_ERROR_ARGUMENT, "overlap", 0, memory, memory + 8, 4, GRIDDEP_TENSOR_F32);
    ck_refused(add_with(chains[0], group, NULL,
                        ((griddep_hop){.operation = GRIDDEP_HOP_ALL_GATHER,
                                       .type = GRIDDEP_TENSOR_BF16,
                                       .source = memory,
                                       .target = memory + 64,
                                       .count = 3})),
               GRIDDEP_ERROR_ARGUMENT, "6 bytes a part; they must be a multiple of 4");
    ck_refused(add_with(chains[0], group, NULL,
                        ((griddep_hop){.operation = GRIDDEP_HOP_ALL_GATHER,
                                       .type = GRIDDEP_TENSOR_F32,
                                       .source = memory + 16,
                                       .target = memory,
                                       .count = 4})),
               GRIDDEP_ERROR_ARGUMENT, "overlap"); /* the part of member 1 */
    ck_refused(add_with(chains[0], group, NULL,
                        ((griddep_hop){.operation = GRIDDEP_HOP_BROADCAST,
                                       .type = GRIDDEP_TENSOR_U8,
                                       .target = memory,
                                       .count = 3})),
               GRIDDEP_ERROR_ARGUMENT, "3 bytes; they must be a multiple of 2");
    ck_refused(add_with(chains[0], group, NULL,
                        ((griddep_hop){.operation = GRIDDEP_HOP_BROADCAST,
                                       .type = GRIDDEP_TENSOR_U8,
                                       .root = 2,
                                       .target = memory,
                                       .count = 4})),
               GRIDDEP_ERROR_ARGUMENT, "root is 2; the group has members 0 to 1");
    ck_refused(add_with(chains[0], group, NULL,
                        ((griddep_hop){.operation = GRIDDEP_HOP_EXCHANGE,
                                       .type = GRIDDEP_TENSOR_U8,
                                       .to = -2,
                                       .from = 1,
                                       .source = memory,
                                       .target = memory,
                                       .count = 4})),
               GRIDDEP_ERROR_ARGUMENT, "to is -2");
    ck_refused(add_with(chains[0], group, NULL, ((griddep_hop){.operation = 5})),
               GRIDDEP_ERROR_ARGUMENT, "operation is 5");
    ck_refused(add_with(chains[0], group, NULL, ((griddep_hop){.root = 1})), GRIDDEP_ERROR_ARGUMENT,
               "root is of a broadcast");
    ck_refused(griddep_chain_add_hop(chains[0], group, NULL, NULL, &error), GRIDDEP_ERROR_ARGUMENT,
               "hop is NULL");
    ck_refused(
        add_with(chains[0], group, &shaped, ALL_REDUCE(memory, memory, 4, GRIDDEP_TENSOR_F32)),
        GRIDDEP_ERROR_ARGUMENT, "lane, name and pdl of a hop, and nothing else");
    ck_assert_uint_eq(griddep_chain_length(chains[0]), 0);

    ck_good(add_with(chains[0], group, NULL, ALL_REDUCE(memory, memory, 4, GRIDDEP_TENSOR_F32)));
    const griddep_argument argument = {.bytes = 8, .data = &value};
    value = memory + 64;
    ck_good(griddep_chain_set_argument(chains[0], 0, 1, &argument, &error));
    ck_refused(griddep_chain_set_argument(chains[0], 0, 2, &argument, &error),
               GRIDDEP_ERROR_ARGUMENT, "launch 0 (sum_f32) is a hop of a group; arguments 0 and 1");
    const griddep_launch_config second = {.size = sizeof second, .lane = 1};
    ck_refused(
        add_with(chains[0], group, &second, ALL_REDUCE(memory, memory, 4, GRIDDEP_TENSOR_F32)),
        GRIDDEP_ERROR_ARGUMENT, "hops of a group follow each other in one lane");
    ck_assert_uint_eq(griddep_chain_length(chains[0]), 1);

    ck_good(griddep_group_open(&runtimes[1], 1, NULL, &other, &error));
    ck_refused(add_with(chains[0], other, NULL, ALL_REDUCE(memory, memory, 4, GRIDDEP_TENSOR_F32)),
               GRIDDEP_ERROR_ARGUMENT, "the chain's runtime is no member of the group");
    griddep_group_close(other);
    ck_good(griddep_chain_create(NULL, &stranger, &error));
    ck_refused(add_with(stranger, group, NULL, ALL_REDUCE(memory, memory, 4, GRIDDEP_TENSOR_F32)),
               GRIDDEP_ERROR_ARGUMENT, "without a runtime");
    griddep_chain_destroy(stranger);

    ck_refused(griddep_group_get_address(group, 1, 0, &address, &error), GRIDDEP_ERROR_NOT_FOUND,
               "there is no buffer 1");
    ck_good(griddep_group_allocate(group, 100, &buffer, &error));
    ck_assert_uint_eq(buffer, 1);
    ck_refused(griddep_group_get_address(group, 1, 2, &address, &error), GRIDDEP_ERROR_NOT_FOUND,
               "no member 2");
    ck_good(griddep_group_get_address(group, 1, 1, &address, &error));
    read_memory(1, address, &value, 8);
    ck_assert_uint_eq(value, 0);
    ck_good(griddep_memory_free(runtimes[0], memory, &error));
    end(); /* nothing leaks */
}

TEST(group, devices_that_are_no_peers)
{
    griddep_group *made = NULL;
    griddep_runtime *pair[2];

    griddep_error_init(&error);
    setenv("GRIDDEP_EMULATOR_DEVICES", "sm_90,sm_100", 1);
    for (int32_t i = 0; i < 2; i++) {
        const griddep_runtime_options own = {.size = sizeof own,
                                             .flags = GRIDDEP_RUNTIME_DEVICE,
                                             .driver = EMULATED_DRIVER,
                                             .device = i,
                                             .store_directory = ""};
        ck_good(griddep_runtime_open(&own, &pair[i], &error));
    }
    const griddep_group_options off = {.size = sizeof off, .nccl = GRIDDEP_NCCL_OFF};
    ck_refused(griddep_group_open(pair, 2, &off, &made, &error), GRIDDEP_ERROR_DRIVER,
               "(member 0 to member 1)");
    ck_assert_ptr_null(strstr(error.text, "NCCL"));
    ck_refused(griddep_group_open(pair, 2, NULL, &made, &error), GRIDDEP_ERROR_DRIVER,
               "(member 0 to member 1); such members are served by NCCL alone: NCCL cannot serve");
    ck_assert_ptr_null(made);
    for (int32_t i = 0; i < 2; i++)
        griddep_runtime_close(pair[i]);
}

/* ---- processes ---- */

static char meeting_folder[] = "/tmp/griddep-meeting-XXXXXX";
static char meeting_path[64];
static bool by_tcp; /* as members of several machines do */
static char port[16];

static uint32_t timeout_of_kernels;
static const char *chip; /* of this process's devices; NULL: eight of the usual one */

/* A port that nobody uses; the socket that has it. */
static int find_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof address;
    const int found = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    ck_assert(!bind(found, (struct sockaddr *)&address, bytes) &&
              !getsockname(found, (struct sockaddr *)&address, &bytes));
    snprintf(port, sizeof port, "%u", ntohs(address.sin_port));
    snprintf(meeting_path, sizeof meeting_path, "tcp://127.0.0.1:%s/job", port);
    return found;
}

static void make_meeting(void)
{
    if (by_tcp) {
        setenv("GRIDDEP_NCCL", FAKE_NCCL, 1);
        nccl = GRIDDEP_NCCL_AUTO;
        close(find_port());
        return;
    }
    ck_assert_ptr_nonnull(mkdtemp(meeting_folder));
    snprintf(meeting_path, sizeof meeting_path, "%s/socket", meeting_folder);
}

static void connect_to_meeting(int *made)
{
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                  .sin_port = htons((uint16_t)atoi(port))};
    const struct sockaddr *to = by_tcp ? (void *)&address : (void *)&local;

    snprintf(local.sun_path, sizeof local.sun_path, "%s", meeting_path);
    *made = by_tcp ? socket(AF_INET, SOCK_STREAM, 0)
                   : socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);
    ck_assert_int_ge(*made, 0);
    if (connect(*made, to, by_tcp ? sizeof address : sizeof local)) {
        close(*made);
        *made = -1;
    }
}

/* Until member 0 listens. */
static void wait_for_door(void)
{
    int made = -1;

    while (!by_tcp && access(meeting_path, F_OK))
        usleep(1000);
    while (by_tcp && made < 0) {
        usleep(1000);
        connect_to_meeting(&made);
    }
    if (by_tcp)
        close(made);
}

static void end_meeting(void)
{
    if (by_tcp)
        return;
    ck_assert_int_ne(access(meeting_path, F_OK), 0); /* the socket is gone */
    ck_assert_int_eq(rmdir(meeting_folder), 0);
}

static int32_t try_to_join(uint32_t rank, uint32_t count, uint32_t device, uint32_t join_ms)
{
    const griddep_group_options options = {.size = sizeof options,
                                           .timeout_ms = timeout_of_kernels,
                                           .join_ms = join_ms,
                                           .nccl = nccl,
                                           .nccl_bytes = nccl_bytes};
    const griddep_runtime_options own = {.size = sizeof own,
                                         .flags = GRIDDEP_RUNTIME_DEVICE,
                                         .driver = EMULATED_DRIVER,
                                         .device = (int32_t)device,
                                         .store_directory = store_folder};

    griddep_error_init(&error);
    setenv("GRIDDEP_EMULATOR_DEVICES", chip ? "2" : "8", 1);
    if (chip)
        setenv("GRIDDEP_EMULATOR_CHIP", chip, 1);
    if (!runtimes[rank])
        ck_good(griddep_runtime_open(&own, &runtimes[rank], &error));
    return griddep_group_join(runtimes[rank], rank, count, meeting_path, &options, &group, &error);
}

/* One member's store remembers 32 bytes: that counts for all where it is member 0's. Three members
 * send more with our kernels than two, so NCCL pays from 3 * 32 / (24 - 12) bytes on. */
static void be_forgetful(uint32_t rank, uint32_t who_remembers)
{
    const uint64_t elements = members > 2 ? 2 : 8;
    const bool is_large = !who_remembers;
    griddep_hop_info info = {.size = sizeof info};

    nccl = members > 2 ? GRIDDEP_NCCL_ON : GRIDDEP_NCCL_AUTO;
    if (rank != who_remembers)
        store_folder = "";
    ck_good(try_to_join(rank, members, rank, 30000));
    ck_assert_uint_eq(crossing_of(group), is_large ? 32 : BUILT_IN);
    ck_good(griddep_chain_create(runtimes[rank], &chains[rank], &error));
    add_plain(rank, elements, GRIDDEP_TENSOR_F32);
    add_plain(rank, elements - 1, GRIDDEP_TENSOR_F32);
    for (uint32_t i = 0; i < 2; i++) {
        ck_good(griddep_chain_get_hop(chains[rank], GRIDDEP_MODE_SERIAL, i, &info, &error));
        ck_assert_str_eq(info.kernel, is_large && !i ? "all_reduce" : "sum_f32");
    }
    ck_good(griddep_chain_run(chains[rank], GRIDDEP_MODE_GRAPH_PDL, NULL, &error));
    ck_good(griddep_runtime_synchronize(runtimes[rank], &error));
    ck_good(griddep_group_status(group, &error));
    griddep_chain_destroy(chains[rank]);
    griddep_group_close(group);
    griddep_runtime_close(runtimes[rank]);
}

static void remember_alone(void)
{
    const griddep_group_options options = {
        .size = sizeof options, .nccl_bytes = 32, .flags = GRIDDEP_GROUP_REMEMBER};

    ck_good(try_to_join(0, 1, 0, 1000)); /* which opens the runtime */
    griddep_group_close(group);
    ck_good(griddep_group_open(runtimes, 1, &options, &group, &error));
    griddep_group_close(group);
    griddep_runtime_close(runtimes[0]);
}

static void wait_for_all(const pid_t *children, uint32_t count, uint32_t killed)
{
    for (uint32_t i = 0; i < count; i++) {
        int status = -1;
        ck_assert_int_eq(waitpid(children[i], &status, 0), children[i]);
        if (i == killed)
            ck_assert(WIFSIGNALED(status));
        else
            ck_assert_msg(status == 0, "member %u ended with %d", i, status);
    }
}

/* Each process has a chain with every kind of hop, in every mode. */
static void have_hops(uint32_t rank)
{
    static const hop_case cases[] = {{"all_reduce", GRIDDEP_TENSOR_BF16, 513},
                                     {"reduce_scatter", GRIDDEP_TENSOR_F32, 40},
                                     {"all_gather", GRIDDEP_TENSOR_F32, 77},
                                     {"broadcast", GRIDDEP_TENSOR_F16, 99},
                                     {"ring", GRIDDEP_TENSOR_F32, 8200}};
    enum { CASES = sizeof cases / sizeof *cases };
    uint64_t sources[CASES], targets[CASES];
    griddep_group_info info = {.size = sizeof info};

    ck_good(griddep_group_get_info(group, &info, &error));
    ck_assert_uint_eq(info.rank, rank);
    ck_assert_uint_eq(info.count, members);
    ck_good(griddep_chain_create(runtimes[rank], &chains[rank], &error));
    for (uint32_t k = 0; k < CASES; k++) {
        sources[k] = allocate(rank, cases[k].count * members * 4);
        targets[k] = allocate(rank, cases[k].count * members * 4);
        add_hop(&cases[k], rank, sources[k], targets[k]);
    }
    for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT; mode++) {
        for (uint32_t k = 0; k < CASES; k++) {
            fill(&cases[k], rank, sources[k], cases[k].count * source_parts(&cases[k]), 0);
            fill(&cases[k], rank, targets[k], cases[k].count * target_parts(&cases[k]), 0);
        }
        ck_good(griddep_chain_run_many(chains[rank], mode, 3, NULL, &error));
        ck_good(griddep_runtime_synchronize(runtimes[rank], &error));
        ck_good(griddep_group_status(group, &error));
        for (uint32_t k = 0; k < CASES; k++)
            look_at(&cases[k], rank, targets[k], 0, 0);
    }
}

/* One process a device. */
static void be_member(uint32_t rank)
{
    setenv("GRIDDEP_EMULATOR_SCHEDULE", schedules[rank % SCHEDULES], 1);
    ck_good(try_to_join(rank, members, rank, 0));
    have_hops(rank);
    uint32_t buffer;
    uint64_t own, next, value = rank + 5;
    ck_good(griddep_group_allocate(group, 8 * members, &buffer, &error));
    ck_good(griddep_group_get_address(group, buffer, rank, &own, &error));
    ck_good(griddep_group_get_address(group, buffer, (rank + 1) % members, &next, &error));
    write_memory(rank, next, &value, 8);
    ck_good(griddep_group_allocate(group, 8, &buffer, &error)); /* all have written */
    read_memory(rank, own, &value, 8);
    ck_assert_uint_eq(value, (rank + members - 1) % members + 5);
    griddep_chain_destroy(chains[rank]);
    griddep_group_close(group);
    griddep_runtime_close(runtimes[rank]);
}

LOOP_TEST(group, processes_have_hops, 4)
{
    pid_t children[MOST];

    members = _i % 2 ? 8 : 2;
    if (_i >= 2)
        demand_nccl(300); /* not for each hop */
    make_meeting();
    for (uint32_t i = 0; i < members; i++) {
        children[i] = fork();
        if (!children[i]) {
            be_member(i);
            _exit(0);
        }
    }
    wait_for_all(children, members, MOST);
    end_meeting();
}

/* A member that is killed between two runs: the other one is told by the kernel's time, its memory
 * is there, and it ends in order. */
TEST(group, who_dies_is_told)
{
    pid_t children[2];

    make_meeting();
    for (uint32_t i = 0; i < 2; i++) {
        children[i] = fork();
        if (children[i])
            continue;
        timeout_of_kernels = 50;
        ck_good(try_to_join(i, 2, i, 30000));
        ck_good(griddep_chain_create(runtimes[i], &chains[i], &error));
        const uint64_t memory = add_plain(i, 64, GRIDDEP_TENSOR_F32);
        ck_good(griddep_chain_run(chains[i], GRIDDEP_MODE_GRAPH_PDL, NULL, &error));
        ck_good(griddep_runtime_synchronize(runtimes[i], &error));
        ck_good(griddep_group_status(group, &error));
        if (i)
            raise(SIGKILL);
        ck_good(griddep_chain_run(chains[i], GRIDDEP_MODE_GRAPH_PDL, NULL, &error));
        ck_good(griddep_runtime_synchronize(runtimes[i], &error));
        ck_refused(griddep_group_status(group, &error), GRIDDEP_ERROR_PEER,
                   "member 0 of the group waited for member 1 for 50 ms in all_reduce of 64 f32");
        uint32_t buffer;
        ck_refused(griddep_group_allocate(group, 64, &buffer, &error), GRIDDEP_ERROR_PEER,
                   "member 1 of the group has ended");
        ck_good(griddep_memory_free(runtimes[i], memory, &error));
        griddep_chain_destroy(chains[i]);
        griddep_group_close(group);
        griddep_runtime_close(runtimes[i]);
        _exit(0);
    }
    wait_for_all(children, 2, 1);
    end_meeting();
}

/* What does not fit together, and who does not come. The first process is member 0 of two. */
LOOP_TEST(group, meetings_that_fail, 6)
{
    static const struct {
        uint32_t rank, count, device;
        int32_t own, others;
        const char *own_words, *other_words;
    } cases[] = {
        {1, 3, 1, GRIDDEP_ERROR_PEER, GRIDDEP_ERROR_ARGUMENT, "member 1 of 2 did not come to",
         "has a group of 2, and refuses member 1 of 3"},
        {1, 2, 0, GRIDDEP_ERROR_ARGUMENT, GRIDDEP_ERROR_ARGUMENT, "are both of one device",
         "members 0 and 1 are both of one device"},
        {0, 2, 1, GRIDDEP_ERROR_PEER, GRIDDEP_ERROR_ARGUMENT, "member 1 of 2 did not come to",
         "is in use"},
    };
    pid_t children[2];
    int ready[2];
    char byte = 0;

    by_tcp = _i >= 3;
    make_meeting();
    ck_assert_int_eq(pipe(ready), 0);
    for (uint32_t i = 0; i < 2; i++) {
        children[i] = fork();
        if (children[i])
            continue;
        if (!i) {
            ck_refused(try_to_join(0, 2, 0, 1500), cases[_i % 3].own, cases[_i % 3].own_words);
        } else {
            wait_for_door();
            ck_refused(
                try_to_join(cases[_i % 3].rank, cases[_i % 3].count, cases[_i % 3].device, 1500),
                cases[_i % 3].others, cases[_i % 3].other_words);
        }
        ck_assert_int_eq(write(ready[1], &byte, 1), 1);
        _exit(0);
    }
    wait_for_all(children, 2, MOST);
    end_meeting();
}

/* Of two processes that have the same rank, member 0 takes one; the third rank never comes. */
LOOP_TEST(group, ranks_that_come_twice, 2)
{
    pid_t children[3];
    int refused = 0;

    by_tcp = _i;
    make_meeting();
    for (uint32_t i = 0; i < 3; i++) {
        children[i] = fork();
        if (children[i])
            continue;
        if (i)
            wait_for_door();
        const int32_t status = try_to_join(i ? 1 : 0, 3, i, 1500);
        if (!i)
            ck_assert_ptr_nonnull(strstr(error.text, "member 2 of 3 did not come to"));
        if (status == GRIDDEP_ERROR_ARGUMENT)
            ck_assert_ptr_nonnull(
                strstr(error.text, "refuses member 1 of 3: each rank comes once"));
        _exit(status == GRIDDEP_ERROR_ARGUMENT ? 1 : status == GRIDDEP_ERROR_PEER ? 0 : 2);
    }
    for (uint32_t i = 0; i < 3; i++) {
        int status = -1;
        ck_assert_int_eq(waitpid(children[i], &status, 0), children[i]);
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) <= (i ? 1 : 0));
        refused += WEXITSTATUS(status);
    }
    ck_assert_int_eq(refused, 1);
    end_meeting();
}

/* Places of TCP that are none, and where nobody is. */
TEST(group, addresses_to_meet)
{
    static const char *const wrong[] = {"tcp://",       "tcp://host",       "tcp://:80",
                                        "tcp://host:0", "tcp://host:65536", "tcp://host:x",
                                        "tcp://[]:80",  "tcp://host:/job",  "tcp://host:123456"};

    by_tcp = true;
    make_meeting();
    ck_refused(try_to_join(1, 2, 1, 50), GRIDDEP_ERROR_PEER, "did not come to tcp://127.0.0.1:");
    ck_assert_ptr_nonnull(strstr(error.text, "within 50 ms: Connection refused"));
    ck_refused(try_to_join(0, 3, 1, 50), GRIDDEP_ERROR_PEER, "member 1 of 3 did not come to tcp:");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_refused(griddep_group_join(runtimes[1], 0, 2, wrong[i], NULL, &group, &error),
                   GRIDDEP_ERROR_ARGUMENT, "is no place to meet: tcp://HOST:PORT");
    const int taken = find_port();
    ck_assert_int_eq(listen(taken, 1), 0);
    ck_refused(try_to_join(0, 2, 0, 50), GRIDDEP_ERROR_ARGUMENT, "is in use; a group meets at");
    close(taken);
    nccl = GRIDDEP_NCCL_OFF;
    ck_good(try_to_join(0, 1, 0, 50));
    griddep_group_close(group);
}

/* Something else listens where member 0 should: it is silent, ends, or says what is no packet. */
LOOP_TEST(group, other_programs_at_the_port, 3)
{
    static const char nonsense[640] = {1};

    const int door = find_port();
    ck_assert_int_eq(listen(door, 8), 0);
    const pid_t child = fork();
    if (!child) {
        for (;;) {
            const int visitor = accept(door, NULL, NULL);
            if (_i == 2)
                (void)!write(visitor, nonsense, sizeof nonsense);
            if (_i)
                close(visitor);
        }
    }
    ck_refused(try_to_join(1, 2, 1, 300), GRIDDEP_ERROR_PEER,
               "does not answer member 1, or another program listens there");
    kill(child, SIGKILL);
    wait_for_all(&child, 1, 0);
}

/* Two processes that say different things; each is told what the other one is or does. */
static const struct {
    const char *chips[2], *versions[2]; /* of the devices, of NCCL */
    uint64_t from[2], buffers[2];       /* nccl_bytes, and bytes of a buffer */
    int32_t nccl, status;
    const char *words[2];
} differences[] = {
    {.chips = {"sm_90", "sm_100"},
     .nccl = GRIDDEP_NCCL_OFF,
     .status = GRIDDEP_ERROR_UNSUPPORTED,
     .words = {"member 1 is sm_100, this one sm_90: they are no peers",
               "member 0 is sm_90, this one sm_100: they are no peers"}},
    {.from = {8, 16},
     .nccl = GRIDDEP_NCCL_OFF,
     .status = GRIDDEP_ERROR_ARGUMENT,
     .words = {"member 1 says something else about nccl and nccl_bytes than this one",
               "member 0 says something else about nccl and nccl_bytes than this one"}},
    {.buffers = {64, 128},
     .nccl = GRIDDEP_NCCL_OFF,
     .status = GRIDDEP_ERROR_PEER,
     .words = {"member 1 allocates 128 bytes of the group, this one 64",
               "member 0 allocates 64 bytes of the group, this one 128"}},
    {.versions = {"22809", "22803"},
     .from = {1, 1},
     .nccl = GRIDDEP_NCCL_ON,
     .status = GRIDDEP_ERROR_UNSUPPORTED,
     .words = {"member 1 of the group has another version of NCCL",
               "member 1 of the group has another version of NCCL"}},
    {.versions = {"22809", "22809"},
     .from = {1, 1},
     .buffers = {0, 64},
     .nccl = GRIDDEP_NCCL_ON,
     .status = GRIDDEP_ERROR_PEER,
     .words = {"member 1 of the group allocates, where this one adds a large hop",
               "member 0 of the group adds a large hop, where this one allocates"}},
};
enum { DIFFERENCES = sizeof differences / sizeof *differences };

static void differ(uint32_t rank, int which)
{
    const char *version = differences[which].versions[rank];
    const uint64_t bytes = differences[which].buffers[rank];
    uint32_t buffer;

    nccl = differences[which].nccl;
    nccl_bytes = differences[which].from[rank];
    chip = differences[which].chips[rank];
    if (version) {
        setenv("GRIDDEP_NCCL", FAKE_NCCL, 1);
        setenv("FAKE_NCCL_VERSION", version, 1);
    }
    int32_t status = try_to_join(rank, 2, rank, 30000);
    if (!version && !bytes) {
        ck_refused(status, differences[which].status, differences[which].words[rank]);
        return;
    }
    ck_good(status);
    if (bytes) {
        ck_refused(griddep_group_allocate(group, bytes, &buffer, &error), differences[which].status,
                   differences[which].words[rank]);
    } else {
        ck_good(griddep_chain_create(runtimes[rank], &chains[rank], &error));
        const uint64_t memory = allocate(rank, 64);
        ck_refused(
            add_with(chains[rank], group, NULL, ALL_REDUCE(memory, memory, 2, GRIDDEP_TENSOR_F32)),
            differences[which].status, differences[which].words[rank]);
        griddep_chain_destroy(chains[rank]);
    }
    griddep_group_close(group);
    griddep_runtime_close(runtimes[rank]);
}

LOOP_TEST(group, members_that_differ, DIFFERENCES)
{
    pid_t children[2];

    make_meeting();
    for (uint32_t i = 0; i < 2; i++) {
        children[i] = fork();
        if (!children[i]) {
            differ(i, _i);
            _exit(0);
        }
    }
    wait_for_all(children, 2, MOST);
    end_meeting();
}

/* No bytes at all, or some that are no packet, and two descriptors with them. */
static void send_files(int to, size_t bytes)
{
    const int files[2] = {0, 1};
    char nothing[640] = {0};
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof files)];
    } control = {.room = {0}};
    struct iovec data = {nothing, bytes};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = control.room,
                             .msg_controllen = sizeof control.room};
    struct cmsghdr *part = CMSG_FIRSTHDR(&message);

    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof files);
    memcpy(CMSG_DATA(part), files, sizeof files);
    if (by_tcp)
        message.msg_controllen = 0;
    sendmsg(to, &message, MSG_NOSIGNAL);
}

static uint32_t open_files(void)
{
    uint32_t count = 0;

    for (int i = 0; i < 256; i++)
        count += fcntl(i, F_GETFD) >= 0;
    return count;
}

enum { SILENT = 40 };

/* Those at the door of member 0: SILENT that say nothing, and behind them the member; one that
 * connects for ever; some that send descriptors. */
static void be_stranger(int what)
{
    int made[SILENT];

    wait_for_door();
    for (uint32_t i = 0; what == 0 && i < SILENT; i++) {
        do
            connect_to_meeting(&made[i]);
        while (made[i] < 0);
    }
    if (what == 0) {
        ck_good(try_to_join(1, 2, 1, 20000));
        griddep_group_close(group);
        return;
    }
    for (uint32_t i = 0;; i++) {
        connect_to_meeting(&made[0]);
        if (made[0] >= 0 && what == 2)
            send_files(made[0], i % 3 * (by_tcp ? 250 : 64));
        if (made[0] >= 0)
            close(made[0]);
    }
}

LOOP_TEST(group, strangers_do_not_hold_up_the_meeting, 6)
{
    int go[2];
    char byte = 0;

    by_tcp = _i >= 3;
    make_meeting();
    ck_assert_int_eq(pipe(go), 0);
    const pid_t child = fork();
    if (!child) {
        ck_assert_int_eq(read(go[0], &byte, 1), 1);
        be_stranger(_i % 3);
        _exit(0);
    }
    /* opens all that the process needs */
    ck_refused(try_to_join(0, 2, 0, 1), GRIDDEP_ERROR_PEER, "did not come");
    const uint32_t before = open_files();
    ck_assert_int_eq(write(go[1], &byte, 1), 1);
    if (_i % 3) {
        ck_refused(try_to_join(0, 2, 0, 300), GRIDDEP_ERROR_PEER, "member 1 of 2 did not come to");
        kill(child, SIGKILL);
    } else {
        ck_good(try_to_join(0, 2, 0, 20000));
        griddep_group_close(group);
    }
    wait_for_all(&child, 1, _i % 3 ? 0 : MOST);
    if (!by_tcp || _i % 3) /* the fake NCCL keeps its files */
        ck_assert_uint_eq(open_files(), before);
    end_meeting();
}

/* Nobody listens; a path that is no socket, or too long; a socket that was left behind. */
TEST(group, places_to_meet)
{
    char path[256];
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    make_meeting();
    ck_refused(try_to_join(1, 2, 1, 50), GRIDDEP_ERROR_PEER, "member 0 of 2 did not come to");
    ck_refused(try_to_join(2, 2, 0, 50), GRIDDEP_ERROR_ARGUMENT, "member 2 of a group of 2");
    ck_refused(griddep_group_join(runtimes[1], 0, 1, NULL, NULL, &group, &error),
               GRIDDEP_ERROR_ARGUMENT, "path is NULL; then the launcher tells rank and count");
    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = 0;
    ck_refused(griddep_group_join(runtimes[1], 0, 1, path, NULL, &group, &error),
               GRIDDEP_ERROR_ARGUMENT, "1 to 107 bytes, this one 255");
    FILE *file = fopen(meeting_path, "w");
    ck_assert_ptr_nonnull(file);
    fclose(file);
    ck_refused(try_to_join(0, 1, 0, 50), GRIDDEP_ERROR_ARGUMENT, "is in use");
    ck_assert_int_eq(unlink(meeting_path), 0);
    strcpy(address.sun_path, meeting_path);
    const int left = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    ck_assert_int_eq(bind(left, (struct sockaddr *)&address, sizeof address), 0);
    close(left);
    ck_good(try_to_join(0, 1, 0, 50)); /* alone */
    griddep_group_close(group);
    end_meeting();
}

/* A process of two, on devices that are no peers: all hops are NCCL's. The other one dies before
 * the second run, which tells. */
static void be_stranger_to_the_other(uint32_t rank)
{
    uint32_t buffer;
    uint64_t memory;

    setenv("GRIDDEP_NCCL", FAKE_NCCL, 1);
    nccl = GRIDDEP_NCCL_AUTO;
    chip = rank ? "sm_100" : "sm_90";
    ck_good(try_to_join(rank, 2, rank, 30000));
    ck_refused(griddep_group_allocate(group, 8, &buffer, &error), GRIDDEP_ERROR_UNSUPPORTED,
               "do not reach each other's memory");
    ck_good(griddep_chain_create(runtimes[rank], &chains[rank], &error));
    memory = allocate(rank, 64);
    const float mine[2] = {(float)rank + 1, 2};
    float got[2];
    write_memory(rank, memory, mine, sizeof mine);
    ck_good(add_with(chains[rank], group, NULL, ALL_REDUCE(memory, memory, 2, GRIDDEP_TENSOR_F32)));
    ck_good(griddep_chain_run(chains[rank], GRIDDEP_MODE_GRAPH_PDL, NULL, &error));
    ck_good(griddep_runtime_synchronize(runtimes[rank], &error));
    read_memory(rank, memory, got, sizeof got);
    ck_assert_msg(got[0] == 3 && got[1] == 4, "%g and %g", (double)got[0], (double)got[1]);
    ck_good(griddep_group_status(group, &error));
    if (rank)
        raise(SIGKILL);
    ck_good(griddep_chain_run(chains[rank], GRIDDEP_MODE_GRAPH_PDL, NULL, &error));
    ck_good(griddep_runtime_synchronize(runtimes[rank], &error));
    ck_refused(griddep_group_status(group, &error), GRIDDEP_ERROR_PEER,
               "NCCL has given up the hops of member 0: remote process exited (6)");
    griddep_chain_destroy(chains[rank]);
    griddep_group_close(group);
    griddep_runtime_close(runtimes[rank]);
}

/* Each process has the driver to itself: also the one that fills the store. */
LOOP_TEST(group, members_whose_stores_differ, 3)
{
    pid_t children[3];

    begin_with_store();
    make_meeting();
    members = _i == 2 ? 3 : 2;
    children[0] = fork();
    if (!children[0]) {
        remember_alone();
        _exit(0);
    }
    wait_for_all(children, 1, MOST);
    for (uint32_t i = 0; i < members; i++) {
        children[i] = fork();
        if (!children[i]) {
            be_forgetful(i, _i == 1);
            _exit(0);
        }
    }
    wait_for_all(children, members, MOST);
    end_meeting();
    end_store();
}

TEST(group, processes_that_are_no_peers)
{
    pid_t children[2];

    make_meeting();
    for (uint32_t i = 0; i < 2; i++) {
        children[i] = fork();
        if (!children[i]) {
            be_stranger_to_the_other(i);
            _exit(0);
        }
    }
    wait_for_all(children, 2, 1);
    end_meeting();
}

/* Members of one process likewise. */
LOOP_TEST(group, hops_without_peers, HOP_CASES)
{
    demand_nccl(1000000);
    devices = "sm_90,sm_100";
    begin(2, "eager");
    nccl_bytes = 1; /* that is what comes of it */
    try_hop(&hop_cases[_i]);
}

/* ---- launchers ---- */

static const char *const launchers[][5] = {
    {"RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE",
     "PMIX_NAMESPACE"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", "MASTER_ADDR", "MASTER_PORT"},
    {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_STEP_NUM_NODES", "SLURM_JOB_ID", "SLURM_STEP_ID"},
};
enum { LAUNCHERS = sizeof launchers / sizeof *launchers };

/* Of two processes of a job, which this test's process names. */
static void be_launched(uint32_t launcher, const char *rank, const char *job)
{
    unsetenv("MASTER_ADDR");
    unsetenv("MASTER_PORT");
    unsetenv("TORCHELASTIC_RUN_ID");
    for (uint32_t i = 0; i < LAUNCHERS; i++) {
        for (uint32_t k = 0; k < 5 && launchers[i][k]; k++)
            unsetenv(launchers[i][k]);
    }
    setenv(launchers[launcher][0], rank, 1);
    setenv(launchers[launcher][1], "2", 1);
    setenv(launchers[launcher][2], launcher == 3 ? "1" : "2", 1);
    for (uint32_t k = 3; k < 5 && launchers[launcher][k]; k++)
        setenv(launchers[launcher][k], job, 1);
}

/* All launchers' variables may be there, of those that started others. */
LOOP_TEST(group, who_is_launched_joins, LAUNCHERS)
{
    pid_t children[2];
    char job[32], number[2] = "0";
    griddep_group_info info = {.size = sizeof info};

    snprintf(job, sizeof job, "test%d", (int)getpid());
    for (uint32_t i = 0; i < 2; i++) {
        children[i] = fork();
        if (children[i])
            continue;
        const griddep_group_options options = {.size = sizeof options, .join_ms = 30000};
        make_meeting();
        (void)try_to_join(i, 2, i, 1); /* opens the runtime */
        number[0] = (char)('0' + i);
        be_launched((uint32_t)_i, number, job);
        if (_i < 3) {
            setenv("SLURM_PROCID", "0", 1);
            setenv("SLURM_NTASKS", "1", 1);
        }
        for (int again = 0; again < 2; again++) {
            ck_good(griddep_group_join(runtimes[i], 0, 0, NULL, &options, &group, &error));
            ck_good(griddep_group_get_info(group, &info, &error));
            ck_assert(info.rank == i && info.count == 2);
            griddep_group_close(group);
        }
        end_meeting();
        _exit(0);
    }
    wait_for_all(children, 2, MOST);
}

/* A pipe: the others have looked at their hops, and member 2 may end itself. */
static int looked[2];

/* Launchers tell of several machines; the last process of the last case is of another job. */
static void be_on_a_host(uint32_t launcher, uint32_t rank, bool stranger)
{
    const griddep_group_options options = {
        .size = sizeof options, .join_ms = 20000, .nccl = nccl, .nccl_bytes = nccl_bytes};
    char number[16], job[16];
    uint32_t buffer;

    *meeting_path = 0; /* opens the runtime */
    ck_refused(try_to_join(rank, members, rank, 1), GRIDDEP_ERROR_ARGUMENT, "1 to 107 bytes");
    snprintf(number, sizeof number, "%u", rank);
    snprintf(job, sizeof job, "%u", stranger && rank);
    be_launched(launcher, number, job);
    snprintf(number, sizeof number, "%u", members);
    setenv(launchers[launcher][1], number, 1);
    setenv(launchers[launcher][2], launcher == 3 ? "3" : "1", 1);
    setenv("MASTER_ADDR", "127.0.0.1", 1);
    setenv("MASTER_PORT", port, 1);
    if (launcher == 0) { /* torchrun has the port itself */
        snprintf(number, sizeof number, "%d", atoi(port) - 1);
        setenv("MASTER_PORT", number, 1);
        setenv("TORCHELASTIC_RUN_ID", job, 1);
    }
    const int32_t status = griddep_group_join(runtimes[rank], 0, 0, NULL, &options, &group, &error);
    if (stranger && rank) {
        ck_refused(status, GRIDDEP_ERROR_ARGUMENT, "is of another job, and refuses member 1");
        return;
    }
    ck_good(status);
    ck_refused(griddep_group_allocate(group, 8, &buffer, &error), GRIDDEP_ERROR_UNSUPPORTED,
               "do not reach each other's memory");
    have_hops(rank);
    char byte = 0;
    if (rank != 2)
        ck_assert_int_eq(write(looked[1], &byte, 1), 1);
    close(looked[1]);
    if (rank == 2) {
        while (read(looked[0], &byte, 1) == 1)
            ;
        raise(SIGKILL);
    }
    if (!rank) {
        ck_good(griddep_chain_run(chains[rank], GRIDDEP_MODE_PDL, NULL, &error));
        ck_good(griddep_runtime_synchronize(runtimes[rank], &error));
        ck_refused(griddep_group_status(group, &error), GRIDDEP_ERROR_PEER,
                   "NCCL has given up the hops of member 0: remote process exited (6)");
    }
    griddep_chain_destroy(chains[rank]);
    griddep_group_close(group);
    griddep_runtime_close(runtimes[rank]);
}

LOOP_TEST(group, hosts_have_hops, LAUNCHERS)
{
    pid_t children[3];

    members = 3;
    demand_nccl(1);
    by_tcp = true;
    close(find_port());
    ck_assert_int_eq(pipe(looked), 0);
    for (uint32_t i = 0; i < members; i++) {
        children[i] = fork();
        if (!children[i]) {
            be_on_a_host((uint32_t)_i, i, false);
            _exit(0);
        }
    }
    close(looked[1]);
    wait_for_all(children, members, 2);
}

/* Members of two machines tell each other what their chains do; both are told of a difference,
 * also who was ready first. */
LOOP_TEST(group, hosts_whose_chains_differ, 2)
{
    const int last = 3 * _i; /* the fourth one has no room in a packet */
    pid_t children[2];
    int ready[2][2];
    char byte = 0;

    members = 2;
    demand_nccl(1);
    by_tcp = true;
    close(find_port());
    ck_assert(!pipe(ready[0]) && !pipe(ready[1]));
    for (uint32_t i = 0; i < 2; i++) {
        children[i] = fork();
        if (children[i])
            continue;
        ck_good(try_to_join(i, 2, i, 20000));
        ck_good(griddep_chain_create(runtimes[i], &chains[i], &error));
        for (int k = 0; k <= last; k++)
            add_plain(i, k == last ? 2 + i : 9, GRIDDEP_TENSOR_F32);
        if (i) {
            ck_good(griddep_chain_prepare(chains[i], GRIDDEP_MODE_SERIAL, &error));
            ck_assert_int_eq(write(ready[0][1], &byte, 1), 1);
        }
        ck_assert_int_eq(read(ready[i][0], &byte, 1), 1);
        ck_refused(
            griddep_chain_prepare(chains[i], GRIDDEP_MODE_SERIAL, &error), GRIDDEP_ERROR_PEER,
            _i  ? "differ behind the first 3"
            : i ? "hop 0 of member 1 is all_reduce of 3 f32, of member 0 all_reduce of 2 f32"
                : "hop 0 of member 0 is all_reduce of 2 f32, of member 1 all_reduce of 3 f32");
        ck_assert_int_eq(write(ready[1][1], &byte, 1), 1);
        griddep_chain_destroy(chains[i]);
        griddep_group_close(group);
        griddep_runtime_close(runtimes[i]);
        _exit(0);
    }
    wait_for_all(children, 2, MOST);
}

/* Who is of another job is sent away; one that takes part says that NCCL is switched off. */
LOOP_TEST(group, hosts_that_differ, 2)
{
    pid_t children[2];

    members = 2;
    by_tcp = true;
    close(find_port());
    for (uint32_t i = 0; i < 2; i++) {
        children[i] = fork();
        if (children[i])
            continue;
        if (_i) {
            nccl = GRIDDEP_NCCL_OFF;
            ck_refused(try_to_join(i, 2, i, 20000), GRIDDEP_ERROR_UNSUPPORTED,
                       "members that meet by TCP share no memory");
        } else if (i) {
            be_on_a_host(3, i, true);
        } else {
            ck_refused(try_to_join(0, 2, 0, 2000), GRIDDEP_ERROR_PEER,
                       "member 1 of 2 did not come to tcp://127.0.0.1:");
        }
        _exit(0);
    }
    wait_for_all(children, 2, MOST);
}

TEST(group, launchers_that_tell_nonsense)
{
    static const struct {
        const char *name, *value; /* NULL: it is not set */
        int32_t status;
        const char *words;
    } cases[] = {
        {"WORLD_SIZE", NULL, GRIDDEP_ERROR_ARGUMENT, "RANK is set, and WORLD_SIZE is not"},
        {"RANK", NULL, GRIDDEP_ERROR_ARGUMENT, "WORLD_SIZE is set, and RANK is not"},
        {"RANK", "2", GRIDDEP_ERROR_ARGUMENT, "RANK is 2 and WORLD_SIZE 2; ranks are from 0 on"},
        {"RANK", "-1", GRIDDEP_ERROR_ARGUMENT, "RANK is \"-1\", which is no number"},
        {"WORLD_SIZE", "99999999999", GRIDDEP_ERROR_ARGUMENT, "WORLD_SIZE is \"99999999999\""},
        {"WORLD_SIZE", "64", GRIDDEP_ERROR_ARGUMENT, "MASTER_PORT is \"here\", which is no number"},
        {"LOCAL_WORLD_SIZE", "x", GRIDDEP_ERROR_ARGUMENT, "LOCAL_WORLD_SIZE is \"x\""},
        {"MASTER_PORT", NULL, GRIDDEP_ERROR_ARGUMENT, "RANK is set, but nothing that tells jobs"},
        {"RANK", "1", GRIDDEP_ERROR_PEER, "member 0 of 2 did not come to /tmp/griddep-"},
    };
    const griddep_group_options options = {.size = sizeof options, .join_ms = 20};

    make_meeting();
    ck_refused(try_to_join(1, 2, 1, 1), GRIDDEP_ERROR_PEER, "did not come");
    be_launched(0, "0", "here");
    unsetenv("RANK");
    unsetenv("WORLD_SIZE");
    ck_refused(griddep_group_join(runtimes[1], 0, 0, NULL, &options, &group, &error),
               GRIDDEP_ERROR_ARGUMENT, "no launcher has set RANK and WORLD_SIZE");
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        be_launched(0, "0", "here");
        if (cases[i].value)
            setenv(cases[i].name, cases[i].value, 1);
        else
            unsetenv(cases[i].name);
        ck_refused(griddep_group_join(runtimes[1], 0, 0, NULL, &options, &group, &error),
                   cases[i].status, cases[i].words);
    }
    be_launched(0, "1", "80000");
    setenv("LOCAL_WORLD_SIZE", "1", 1);
    ck_refused(griddep_group_join(runtimes[1], 0, 0, NULL, &options, &group, &error),
               GRIDDEP_ERROR_ARGUMENT, "MASTER_ADDR and MASTER_PORT are no address: port 80000");
    unsetenv("MASTER_ADDR");
    ck_refused(griddep_group_join(runtimes[1], 0, 0, NULL, &options, &group, &error),
               GRIDDEP_ERROR_ARGUMENT, "several machines, and MASTER_ADDR is not set");
    end_meeting();
}

MAIN_OF_SUITE("group")
