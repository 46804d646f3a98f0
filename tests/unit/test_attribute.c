/* Launch attributes, tensor maps and cluster limits on the scripted fake driver: what the setter
 * writes, what it and a launch refuse, and what is left when a driver lacks a symbol. */
#include <check.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "fake/fake_driver.h"
#include "griddep.h"
#include "run/runtime.h"
#include "suite.h"
#include "unit/status.h"

static const char ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry first(.param .u64 p)\n{\n    griddepcontrol.launch_dependents;\n"
    "    griddepcontrol.wait;\n    ret;\n}\n"
    ".visible .entry second(.param .u64 p)\n{\n    griddepcontrol.wait;\n    ret;\n}\n"
    ".visible .entry mapped(.param .align 64 .b8 map[128], .param .u64 p)\n{\n    ret;\n}\n";

static const griddep_argument pointer = {.bytes = 8, .value = 256};

static griddep_error error;
static griddep_runtime *runtime;
static griddep_module *module;
static griddep_kernel *first;

static griddep_kernel *kernel_of(griddep_module *of, const char *name)
{
    griddep_kernel *kernel = NULL;

    ck_good(griddep_module_find_kernel(of, name, &kernel, &error));
    return kernel;
}

static void open_runtime(void)
{
    const griddep_runtime_options options = {.size = sizeof options, .store_directory = ""};
    gd_driver *driver = NULL;

    ck_good(gd_driver_create(fake_driver_get_proc_address, "fake", &driver, &error));
    ck_good(gd_runtime_open_on(driver, &options, &runtime, &error));
}

static void load(void)
{
    ck_good(griddep_module_load(runtime, ptx, sizeof ptx, NULL, &module, &error));
    first = kernel_of(module, "first");
}

static void begin(void)
{
    unsetenv("GRIDDEP_PDL");
    unsetenv("GRIDDEP_LOG");
    unsetenv("GRIDDEP_DRIVER");
    setenv("GRIDDEP_STORE", "off", 1);
    fake_driver_reset();
    griddep_error_init(&error);
}

static void setup(void)
{
    begin();
    open_runtime();
    load();
}

/* Types and swizzles of later devices are taken. */
static void setup_maps(void)
{
    setup();
    fake_driver_set_foreign_maps();
}

static void teardown(void)
{
    char left[256] = "";

    griddep_module_unload(module);
    griddep_runtime_close(runtime);
    ck_assert_msg(fake_driver_leaks(left, sizeof left) == 0, "left: %s", left);
}

/* ---- values ---- */

static gd_CUlaunchAttributeValue value_of(const griddep_attribute *attribute, int32_t id)
{
    gd_CUlaunchAttributeValue value;

    ck_assert_int_eq(attribute->id, id);
    ck_assert_uint_eq(attribute->reserved, 0);
    memcpy(&value, attribute->value, sizeof value);
    return value;
}

TEST_GROUP(making, setup, teardown);
TEST_GROUP(launching, setup, teardown);
TEST_GROUP(maps, setup_maps, teardown);

TEST(making, values_are_written_as_cuda_reads_them)
{
    griddep_attribute a;

    ck_good(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_CLUSTER_DIMENSION,
                                  (const int64_t[]){4, 2, 1}, 3, &error));
    ck_assert_uint_eq(value_of(&a, 4).clusterDim.y, 2);
    ck_good(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION,
                                  (const int64_t[]){8, 1, 2}, 3, &error));
    ck_assert_uint_eq(value_of(&a, 11).preferredClusterDim.z, 2);
    ck_good(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY,
                                  (const int64_t[]){GRIDDEP_CLUSTER_SCHEDULING_SPREAD}, 1, &error));
    ck_assert_int_eq(value_of(&a, 5).clusterSchedulingPolicyPreference,
                     GD_CU_CLUSTER_SCHEDULING_POLICY_SPREAD);
    ck_good(
        griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_PRIORITY, (const int64_t[]){-3}, 1, &error));
    ck_assert_int_eq(value_of(&a, 8).priority, -3);
    ck_good(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_MEMORY_SYNC_DOMAIN,
                                  (const int64_t[]){GRIDDEP_MEMORY_SYNC_DOMAIN_REMOTE}, 1, &error));
    ck_assert_int_eq(value_of(&a, 10).memSyncDomain, GD_CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE);
    ck_good(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_MEMORY_SYNC_DOMAIN_MAP,
                                  (const int64_t[]){1, 3}, 2, &error));
    ck_assert_int_eq(value_of(&a, 9).memSyncDomainMap.default_, 1);
    ck_assert_int_eq(value_of(&a, 9).memSyncDomainMap.remote, 3);
    ck_good(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_ACCESS_POLICY_WINDOW,
                                  (const int64_t[]){0x7000, 4096, 500000,
                                                    GRIDDEP_ACCESS_PROPERTY_PERSISTING,
                                                    GRIDDEP_ACCESS_PROPERTY_STREAMING},
                                  5, &error));
    gd_CUaccessPolicyWindow window = value_of(&a, 1).accessPolicyWindow;
    ck_assert_uint_eq((uint64_t)(uintptr_t)window.base_ptr, 0x7000);
    ck_assert_uint_eq(window.num_bytes, 4096);
    ck_assert_float_eq(window.hitRatio, 0.5f);
    ck_assert_int_eq(window.hitProp, GD_CU_ACCESS_PROPERTY_PERSISTING);
    ck_assert_int_eq(window.missProp, GD_CU_ACCESS_PROPERTY_STREAMING);
    ck_good(
        griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_COOPERATIVE, (const int64_t[]){1}, 1, &error));
    ck_assert_int_eq(value_of(&a, 2).cooperative, 1);
    ck_good(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_CARVEOUT,
                                  (const int64_t[]){GRIDDEP_CARVEOUT_DEFAULT}, 1, &error));
    ck_assert_int_eq((int)value_of(&a, 14).sharedMemCarveout, -1);
    ck_good(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_DEVICE_UPDATABLE_NODE,
                                  (const int64_t[]){1, 0}, 2, &error));
    ck_assert_int_eq(value_of(&a, 13).deviceUpdatableKernelNode.deviceUpdatable, 1);
    ck_good(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_NVLINK_CENTRIC_SCHEDULING,
                                  (const int64_t[]){1}, 1, &error));
    ck_assert_uint_eq(value_of(&a, 16).nvlinkUtilCentricScheduling, 1);
}

/* Each refuses with the number that it was given, and leaves the attribute alone. */
TEST(making, what_no_device_takes_is_refused)
{
    griddep_attribute a, before;
    griddep_error wrong = {.size = 3};

    memset(&a, 0x5a, sizeof a);
    before = a;
    ck_refused(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_CLUSTER_DIMENSION,
                                     (const int64_t[]){0, 1, 1}, 3, &error),
               GRIDDEP_ERROR_ARGUMENT, "the cluster (attribute 4): x is 0; it may be 1 to 16");
    ck_refused(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_CLUSTER_DIMENSION,
                                     (const int64_t[]){65536, 65536, 1}, 3, &error),
               GRIDDEP_ERROR_ARGUMENT, "x is 65536");
    ck_status(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION,
                                    (const int64_t[]){17, 1, 1}, 3, &error),
              GRIDDEP_ERROR_ARGUMENT);
    ck_refused(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY,
                                     (const int64_t[]){3}, 1, &error),
               GRIDDEP_ERROR_ARGUMENT, "policy is 3");
    ck_refused(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_MEMORY_SYNC_DOMAIN, (const int64_t[]){2},
                                     1, &error),
               GRIDDEP_ERROR_ARGUMENT, "domain is 2");
    ck_refused(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_MEMORY_SYNC_DOMAIN_MAP,
                                     (const int64_t[]){0, 256}, 2, &error),
               GRIDDEP_ERROR_ARGUMENT, "256");
    ck_refused(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_ACCESS_POLICY_WINDOW,
                                     (const int64_t[]){0, 1, 1500000, 0, 0}, 5, &error),
               GRIDDEP_ERROR_ARGUMENT, "hit_millionths is 1500000; it may be 0 to 1000000");
    ck_refused(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_ACCESS_POLICY_WINDOW,
                                     (const int64_t[]){0, 1, 1000000, 3, 0}, 5, &error),
               GRIDDEP_ERROR_ARGUMENT, "hit is 3");
    ck_refused(griddep_attribute_set(
                   &a, GRIDDEP_ATTRIBUTE_ACCESS_POLICY_WINDOW,
                   (const int64_t[]){0, 1, 1000000, 0, GRIDDEP_ACCESS_PROPERTY_PERSISTING}, 5,
                   &error),
               GRIDDEP_ERROR_ARGUMENT, "miss is 2; it may be 0 to 1");
    ck_status(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_ACCESS_POLICY_WINDOW,
                                    (const int64_t[]){-1, 2, 1000000, 0, 0}, 5, &error),
              GRIDDEP_ERROR_ARGUMENT);
    ck_refused(
        griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_COOPERATIVE, (const int64_t[]){2}, 1, &error),
        GRIDDEP_ERROR_ARGUMENT, "on is 2");
    ck_status(
        griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_CARVEOUT, (const int64_t[]){101}, 1, &error),
        GRIDDEP_ERROR_ARGUMENT);
    ck_refused(
        griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_CARVEOUT, (const int64_t[]){-2}, 1, &error),
        GRIDDEP_ERROR_ARGUMENT, "percent is -2");
    ck_status(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_DEVICE_UPDATABLE_NODE,
                                    (const int64_t[]){-1, 0}, 2, &error),
              GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_NVLINK_CENTRIC_SCHEDULING,
                                    (const int64_t[]){7}, 1, &error),
              GRIDDEP_ERROR_ARGUMENT);
    ck_status(
        griddep_attribute_set(NULL, GRIDDEP_ATTRIBUTE_PRIORITY, (const int64_t[]){0}, 1, &error),
        GRIDDEP_ERROR_ARGUMENT);
    ck_assert_int_eq(
        griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_PRIORITY, (const int64_t[]){0}, 1, &wrong),
        GRIDDEP_ERROR_STRUCT);
    ck_assert_mem_eq(&a, &before, sizeof a);
}

/* The least and the greatest value that each attribute takes, and those beside them that it does
 * not. */
TEST(making, values_at_the_limits_are_taken)
{
    griddep_attribute a, before;

    for (int i = 0; i < 3; i++) {
        uint32_t at[3] = {1, 1, 1};
        at[i] = 16;
        ck_good(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_CLUSTER_DIMENSION,
                                      (const int64_t[]){at[0], at[1], at[2]}, 3, &error));
        ck_good(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION,
                                      (const int64_t[]){at[0], at[1], at[2]}, 3, &error));
        at[i] = 17;
        ck_status(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_CLUSTER_DIMENSION,
                                        (const int64_t[]){at[0], at[1], at[2]}, 3, &error),
                  GRIDDEP_ERROR_ARGUMENT);
        at[i] = 0;
        ck_status(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION,
                                        (const int64_t[]){at[0], at[1], at[2]}, 3, &error),
                  GRIDDEP_ERROR_ARGUMENT);
        ck_good(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY,
                                      (const int64_t[]){i}, 1, &error));
        ck_good(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_ACCESS_POLICY_WINDOW,
                                      (const int64_t[]){4096, 1, 500000, i, 0}, 5, &error));
    }
    ck_good(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_CLUSTER_DIMENSION,
                                  (const int64_t[]){2, 4, 2}, 3, &error));
    ck_status(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_CLUSTER_DIMENSION,
                                    (const int64_t[]){2, 4, 3}, 3, &error),
              GRIDDEP_ERROR_ARGUMENT);
    for (int32_t on = 0; on < 2; on++) {
        ck_good(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_MEMORY_SYNC_DOMAIN,
                                      (const int64_t[]){on}, 1, &error));
        ck_good(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_COOPERATIVE, (const int64_t[]){on}, 1,
                                      &error));
        ck_good(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_DEVICE_UPDATABLE_NODE,
                                      (const int64_t[]){on, 0}, 2, &error));
        ck_good(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_NVLINK_CENTRIC_SCHEDULING,
                                      (const int64_t[]){on}, 1, &error));
        ck_good(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_ACCESS_POLICY_WINDOW,
                                      (const int64_t[]){4096, 1, on * 1000000, 0, on}, 5, &error));
    }
    ck_good(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_MEMORY_SYNC_DOMAIN_MAP,
                                  (const int64_t[]){255, 255}, 2, &error));
    ck_good(
        griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_CARVEOUT, (const int64_t[]){-1}, 1, &error));
    ck_good(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_CARVEOUT, (const int64_t[]){0}, 1, &error));
    ck_good(
        griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_CARVEOUT, (const int64_t[]){100}, 1, &error));
    before = a;
    ck_status(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY,
                                    (const int64_t[]){-1}, 1, &error),
              GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_MEMORY_SYNC_DOMAIN, (const int64_t[]){-1},
                                    1, &error),
              GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_MEMORY_SYNC_DOMAIN_MAP,
                                    (const int64_t[]){256, 0}, 2, &error),
              GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_ACCESS_POLICY_WINDOW,
                                    (const int64_t[]){4096, 1, -10000, 0, 0}, 5, &error),
              GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_ACCESS_POLICY_WINDOW,
                                    (const int64_t[]){4096, 1, 1010000, 0, 0}, 5, &error),
              GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_ACCESS_POLICY_WINDOW,
                                    (const int64_t[]){4096, 1, 1000000, -1, 0}, 5, &error),
              GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_ACCESS_POLICY_WINDOW,
                                    (const int64_t[]){4096, 1, 1000000, 0, -1}, 5, &error),
              GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_ACCESS_POLICY_WINDOW,
                                    (const int64_t[]){4096, 1, 1000000, 0, 3}, 5, &error),
              GRIDDEP_ERROR_ARGUMENT);
    ck_status(
        griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_COOPERATIVE, (const int64_t[]){-1}, 1, &error),
        GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_DEVICE_UPDATABLE_NODE,
                                    (const int64_t[]){2, 0}, 2, &error),
              GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_NVLINK_CENTRIC_SCHEDULING,
                                    (const int64_t[]){-1}, 1, &error),
              GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_NVLINK_CENTRIC_SCHEDULING,
                                    (const int64_t[]){2}, 1, &error),
              GRIDDEP_ERROR_ARGUMENT);
    ck_assert_mem_eq(&a, &before, sizeof a);
}

/* ---- at a launch ---- */

static int32_t launch_with(griddep_launch_config *config, const griddep_attribute *attributes,
                           uint32_t count)
{
    config->size = sizeof *config;
    config->attributes = attributes;
    config->attribute_count = count;
    return griddep_launch(first, config, &pointer, 1, NULL, &error);
}

TEST(launching, launch_takes_every_attribute)
{
    griddep_attribute a[11] = {{.id = 0}};
    griddep_launch_config config = {.grid = {16}, .block = {64}};
    fake_launch launch;

    ck_good(griddep_attribute_set(&a[1], GRIDDEP_ATTRIBUTE_CLUSTER_DIMENSION,
                                  (const int64_t[]){4, 1, 1}, 3, &error));
    ck_good(griddep_attribute_set(&a[2], GRIDDEP_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION,
                                  (const int64_t[]){8, 1, 1}, 3, &error));
    ck_good(griddep_attribute_set(&a[3], GRIDDEP_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY,
                                  (const int64_t[]){2}, 1, &error));
    ck_good(
        griddep_attribute_set(&a[4], GRIDDEP_ATTRIBUTE_PRIORITY, (const int64_t[]){-5}, 1, &error));
    ck_good(griddep_attribute_set(&a[5], GRIDDEP_ATTRIBUTE_MEMORY_SYNC_DOMAIN, (const int64_t[]){1},
                                  1, &error));
    ck_good(griddep_attribute_set(&a[6], GRIDDEP_ATTRIBUTE_MEMORY_SYNC_DOMAIN_MAP,
                                  (const int64_t[]){0, 3}, 2, &error));
    ck_good(griddep_attribute_set(&a[7], GRIDDEP_ATTRIBUTE_ACCESS_POLICY_WINDOW,
                                  (const int64_t[]){4096, 134213632, 1000000, 2, 1}, 5, &error));
    ck_good(griddep_attribute_set(&a[8], GRIDDEP_ATTRIBUTE_COOPERATIVE, (const int64_t[]){1}, 1,
                                  &error));
    ck_good(
        griddep_attribute_set(&a[9], GRIDDEP_ATTRIBUTE_CARVEOUT, (const int64_t[]){50}, 1, &error));
    ck_good(griddep_attribute_set(&a[10], GRIDDEP_ATTRIBUTE_NVLINK_CENTRIC_SCHEDULING,
                                  (const int64_t[]){1}, 1, &error));
    ck_status(launch_with(&config, a, 11), GRIDDEP_OK);
    ck_assert_int_eq(fake_driver_last_launch(&launch), 1);
    ck_assert_uint_eq(launch.config.numAttrs, 12); /* and attribute 6 */
    for (unsigned i = 0; i < 11; i++) {
        ck_assert_int_eq(launch.config.attrs[1 + i].id, a[i].id);
        ck_assert_mem_eq(&launch.config.attrs[1 + i].value, a[i].value, 64);
    }
}

/* The driver does not take the number that means no preference. */
TEST(launching, no_carveout_is_no_attribute)
{
    griddep_attribute a[2];
    griddep_launch_config config = {.grid = {16}, .block = {64}};
    fake_launch launch;

    ck_good(griddep_attribute_set(&a[0], GRIDDEP_ATTRIBUTE_CARVEOUT,
                                  (const int64_t[]){GRIDDEP_CARVEOUT_DEFAULT}, 1, &error));
    ck_good(
        griddep_attribute_set(&a[1], GRIDDEP_ATTRIBUTE_PRIORITY, (const int64_t[]){-5}, 1, &error));
    ck_status(launch_with(&config, a, 2), GRIDDEP_OK);
    ck_assert_int_eq(fake_driver_last_launch(&launch), 1);
    ck_assert_uint_eq(launch.config.numAttrs, 2); /* with attribute 6 */
    ck_assert_int_eq(launch.config.attrs[1].id, GRIDDEP_ATTRIBUTE_PRIORITY);
}

/* The node's handle comes back where the attribute says. */
TEST(launching, updatable_nodes_have_a_handle)
{
    griddep_attribute a;
    griddep_launch_config config = {.grid = {1}, .block = {32}};
    gd_driver *driver = NULL;
    gd_CUgraph graph = NULL;
    griddep_runtime_info info = {.size = sizeof info};
    gd_CUcontext popped;
    void *node = NULL;

    ck_good(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_DEVICE_UPDATABLE_NODE,
                                  (const int64_t[]){1, (intptr_t)&node}, 2, &error));
    ck_status(launch_with(&config, &a, 1), GRIDDEP_ERROR_DRIVER); /* not in a capture */
    ck_says("the device-updatable node (attribute 13)");
    ck_assert_ptr_null(node);
    ck_good(griddep_runtime_get_info(runtime, &info, &error));
    ck_good(gd_driver_create(fake_driver_get_proc_address, "fake", &driver, &error));
    ck_assert_int_eq(driver->cuCtxPushCurrent(info.context), GD_CUDA_SUCCESS);
    ck_good(griddep_stream_create(runtime, NULL, &config.stream, &error));
    ck_assert_int_eq(driver->cuStreamBeginCapture(config.stream, GD_CU_STREAM_CAPTURE_MODE_RELAXED),
                     GD_CUDA_SUCCESS);
    ck_status(launch_with(&config, &a, 1), GRIDDEP_OK);
    ck_assert_ptr_nonnull(node);
    ck_assert_int_eq(driver->cuStreamEndCapture(config.stream, &graph), GD_CUDA_SUCCESS);
    ck_assert_int_eq(driver->cuGraphDestroy(graph), GD_CUDA_SUCCESS);
    ck_good(griddep_stream_destroy(runtime, config.stream, &error));
    ck_assert_int_eq(driver->cuCtxPopCurrent(&popped), GD_CUDA_SUCCESS);
    gd_driver_close(driver);
}

/* What the library does not know goes to the driver as it is, and its refusal names what was asked
 * for. */
TEST(launching, launch_passes_unknown_attributes)
{
    const griddep_attribute unknown = {.id = 15, .value = {7}},
                            known = {.id = GRIDDEP_ATTRIBUTE_CARVEOUT};
    const griddep_attribute both[2] = {known, unknown};
    griddep_launch_config config = {.grid = {1}, .block = {32}};

    ck_refused(launch_with(&config, both, 2), GRIDDEP_ERROR_DRIVER, "CUDA_ERROR_INVALID_VALUE");
    ck_says("with the carve-out (attribute 14), attribute 15");
    const griddep_attribute twice[2] = {known, known};
    ck_refused(launch_with(&config, twice, 2), GRIDDEP_ERROR_ARGUMENT,
               "the carve-out (attribute 14) is given twice");
}

/* What fits is counted on the multiprocessors of the context, not on all of the device. */
TEST(launching, a_green_context_has_fewer_multiprocessors)
{
    griddep_launch_config config = {.grid = {16 * 32 + 1}, .block = {64}};
    griddep_runtime_info info = {.size = sizeof info};
    griddep_attribute cooperative;

    griddep_module_unload(module);
    griddep_runtime_close(runtime);
    fake_driver_set_part(16);
    open_runtime();
    load();
    ck_good(griddep_runtime_get_info(runtime, &info, &error));
    ck_assert_int_eq(info.multiprocessors, 16);
    ck_good(griddep_attribute_set(&cooperative, GRIDDEP_ATTRIBUTE_COOPERATIVE, (const int64_t[]){1},
                                  1, &error));
    ck_refused(launch_with(&config, &cooperative, 1), GRIDDEP_ERROR_LIMIT,
               "a cooperative grid of 513 blocks; 32 on each of 16 SMs");
}

TEST(launching, launch_holds_attributes_against_the_device)
{
    griddep_attribute a[2];
    griddep_launch_config config = {.grid = {12}, .block = {64}};
    uint64_t before = fake_driver_launches();

    ck_good(griddep_attribute_set(&a[0], GRIDDEP_ATTRIBUTE_CLUSTER_DIMENSION,
                                  (const int64_t[]){8, 1, 1}, 3, &error));
    ck_refused(launch_with(&config, a, 1), GRIDDEP_ERROR_LIMIT,
               "x size 12 is no multiple of the cluster's 8");
    ck_good(griddep_attribute_set(&a[0], GRIDDEP_ATTRIBUTE_CLUSTER_DIMENSION,
                                  (const int64_t[]){2, 1, 1}, 3, &error));
    ck_good(griddep_attribute_set(&a[1], GRIDDEP_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION,
                                  (const int64_t[]){3, 1, 1}, 3, &error));
    ck_refused(launch_with(&config, a, 2), GRIDDEP_ERROR_LIMIT,
               "x size 3 is not a multiple of the cluster's 2");
    ck_refused(launch_with(&config, a + 1, 1), GRIDDEP_ERROR_ARGUMENT,
               "a preferred cluster needs a cluster");
    ck_good(griddep_attribute_set(&a[1], GRIDDEP_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION,
                                  (const int64_t[]){4, 1, 2}, 3, &error));
    ck_refused(launch_with(&config, a, 2), GRIDDEP_ERROR_LIMIT,
               "z size 2 is not equal to the cluster's 1");
    ck_good(griddep_attribute_set(&a[1], GRIDDEP_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION,
                                  (const int64_t[]){8, 1, 1}, 3, &error));
    ck_refused(launch_with(&config, a, 2), GRIDDEP_ERROR_LIMIT,
               "no multiple of the preferred cluster's 8");
    a[1].value[1] = 0; /* z, and what follows */
    ck_status(launch_with(&config, a, 2), GRIDDEP_ERROR_LIMIT);
    ck_good(
        griddep_attribute_set(&a[0], GRIDDEP_ATTRIBUTE_PRIORITY, (const int64_t[]){1}, 1, &error));
    ck_refused(launch_with(&config, a, 1), GRIDDEP_ERROR_LIMIT,
               "the priority 1; the device has 0 (lowest) to -5 (highest)");
    ck_good(
        griddep_attribute_set(&a[0], GRIDDEP_ATTRIBUTE_PRIORITY, (const int64_t[]){-6}, 1, &error));
    ck_status(launch_with(&config, a, 1), GRIDDEP_ERROR_LIMIT);
    ck_good(griddep_attribute_set(&a[0], GRIDDEP_ATTRIBUTE_MEMORY_SYNC_DOMAIN_MAP,
                                  (const int64_t[]){0, 4}, 2, &error));
    ck_refused(launch_with(&config, a, 1), GRIDDEP_ERROR_LIMIT,
               "the memory domains 0 and 4; the device has 4");
    ck_good(griddep_attribute_set(&a[0], GRIDDEP_ATTRIBUTE_ACCESS_POLICY_WINDOW,
                                  (const int64_t[]){0, 134213633, 1000000, 0, 0}, 5, &error));
    ck_refused(launch_with(&config, a, 1), GRIDDEP_ERROR_LIMIT,
               "134213633 bytes; the device's largest has 134213632");
    ck_good(griddep_attribute_set(&a[0], GRIDDEP_ATTRIBUTE_COOPERATIVE, (const int64_t[]){1}, 1,
                                  &error));
    config.grid[0] = 132 * 32 + 1;
    ck_refused(launch_with(&config, a, 1), GRIDDEP_ERROR_LIMIT,
               "a cooperative grid of 4225 blocks; 32 on each of 132 SMs");
    fake_driver_set_attribute(GD_CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 0);
    ck_status(launch_with(&config, a, 1), GRIDDEP_ERROR_UNSUPPORTED);
    ck_assert_uint_eq(fake_driver_launches(), before);
}

/* Clusters of more than 8 are opted in to once; what does not fit has the driver's number. */
TEST(launching, large_clusters_are_opted_in_to)
{
    griddep_launch_config config = {
        .size = sizeof config, .grid = {16}, .block = {64}, .cluster = {8}};

    ck_status(launch_with(&config, NULL, 0), GRIDDEP_OK);
    ck_assert_uint_eq(fake_driver_calls("cuFuncSetAttribute"), 0);
    config.cluster[0] = 16;
    ck_status(launch_with(&config, NULL, 0), GRIDDEP_OK);
    ck_status(launch_with(&config, NULL, 0), GRIDDEP_OK);
    ck_assert_uint_eq(fake_driver_calls("cuFuncSetAttribute"), 1);
    config.shared_bytes = 200 * 1024; /* one block fills an SM */
    ck_refused(launch_with(&config, NULL, 0), GRIDDEP_ERROR_LIMIT,
               "a cluster of 16 x 1 x 1, 16 blocks; of blocks of 64 threads and 204800 bytes of "
               "dynamic shared memory the "
               "device can have 8 in a cluster");
    config.cluster[0] = 32;
    ck_refused(launch_with(&config, NULL, 0), GRIDDEP_ERROR_LIMIT,
               "a cluster of 32 x 1 x 1, 32 blocks; it may have 1 to 16, of which devices need not "
               "have more than 8");
    config.cluster[0] = config.cluster[1] = 1u << 31; /* with 4, as many as 2^64 count as 0 */
    config.cluster[2] = 4;
    ck_refused(
        launch_with(&config, NULL, 0), GRIDDEP_ERROR_LIMIT,
        "a cluster of 2147483648 x 2147483648 x 4, more than 4294967296 blocks; it may have 1 "
        "to 16");
    config.cluster[0] = 4;
    config.cluster[1] = config.cluster[2] = 0;
    fake_driver_fail("cuLaunchKernelEx", 1, GD_CUDA_ERROR_INVALID_CLUSTER_SIZE);
    ck_refused(launch_with(&config, NULL, 0), GRIDDEP_ERROR_LIMIT,
               "with the cluster (attribute 4); a cluster of 4 x 1 x 1, 4 blocks; in this "
               "configuration the device can "
               "have 8 in a cluster");
}

/* Each question that a launch with attributes asks of the driver may fail: the launch then does,
 * with the code. */
LOOP_TEST(launching, questions_of_a_launch_may_fail, 5)
{
    static const char *const symbols[] = {"cuCtxGetStreamPriorityRange", "cuDeviceGetAttribute",
                                          "cuOccupancyMaxActiveBlocksPerMultiprocessor",
                                          "cuFuncSetAttribute",
                                          "cuOccupancyMaxPotentialClusterSize"};
    griddep_attribute a[4];
    griddep_launch_config config = {.grid = {16}, .block = {64}};

    ck_good(
        griddep_attribute_set(&a[0], GRIDDEP_ATTRIBUTE_PRIORITY, (const int64_t[]){0}, 1, &error));
    ck_good(griddep_attribute_set(&a[1], GRIDDEP_ATTRIBUTE_MEMORY_SYNC_DOMAIN_MAP,
                                  (const int64_t[]){0, 1}, 2, &error));
    ck_good(griddep_attribute_set(&a[2], GRIDDEP_ATTRIBUTE_COOPERATIVE, (const int64_t[]){1}, 1,
                                  &error));
    ck_good(griddep_attribute_set(&a[3], GRIDDEP_ATTRIBUTE_CLUSTER_DIMENSION,
                                  (const int64_t[]){16, 1, 1}, 3, &error));
    fake_driver_fail(symbols[_i], 1, GD_CUDA_ERROR_UNKNOWN);
    ck_status(launch_with(&config, a, 4), GRIDDEP_ERROR_DRIVER);
    ck_assert_int_eq(error.driver_code, GD_CUDA_ERROR_UNKNOWN);
    ck_assert_uint_eq(fake_driver_launches(), 0);
    ck_status(launch_with(&config, a, 4), GRIDDEP_OK);
}

/* The cluster that a kernel names itself: opted in to, held against the grid and against the
 * launch's. */
TEST(launching, a_kernels_own_cluster_is_held_to)
{
    static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                               ".visible .entry wide() .reqnctapercluster 16, 1, 1\n{\nret;\n}\n";
    griddep_launch_config config = {.size = sizeof config, .grid = {32}, .block = {64}};
    griddep_module *own = NULL;

    ck_good(griddep_module_load(runtime, text, sizeof text, NULL, &own, &error));
    griddep_kernel *wide = kernel_of(own, "wide");
    ck_good(griddep_launch(wide, &config, NULL, 0, NULL, &error));
    config.cluster[0] = 16;
    ck_good(griddep_launch(wide, &config, NULL, 0, NULL, &error));
    ck_assert_uint_eq(fake_driver_calls("cuFuncSetAttribute"), 1);
    config.cluster[0] = 8;
    ck_refused(griddep_launch(wide, &config, NULL, 0, NULL, &error), GRIDDEP_ERROR_LIMIT,
               "kernel wide: its .reqnctapercluster asks for a cluster of 16 x 1 x 1, the launch "
               "gives 8 x 1 x 1");
    config.cluster[0] = 0;
    config.grid[0] = 24;
    ck_refused(griddep_launch(wide, &config, NULL, 0, NULL, &error), GRIDDEP_ERROR_LIMIT,
               "kernel wide: the grid's x size 24 is no multiple of the cluster's 16");
    config.grid[0] = 32;
    config.shared_bytes = 200 * 1024;
    ck_refused(griddep_launch(wide, &config, NULL, 0, NULL, &error), GRIDDEP_ERROR_LIMIT,
               "kernel wide: a cluster of 16 x 1 x 1, 16 blocks; of blocks of 64 threads");
    griddep_module_unload(own);
}

/* ---- tensor maps ---- */

static griddep_tensor_options matrix(void)
{
    return (griddep_tensor_options){.size = sizeof(griddep_tensor_options),
                                    .type = GRIDDEP_TENSOR_F32,
                                    .address = 0x10000,
                                    .rank = 2,
                                    .dimensions = {1024, 512},
                                    .strides = {4096},
                                    .box = {32, 8}};
}

static griddep_tensor_options images(void)
{
    return (griddep_tensor_options){.size = sizeof(griddep_tensor_options),
                                    .type = GRIDDEP_TENSOR_F16,
                                    .address = 0x10000,
                                    .rank = 4,
                                    .im2col = 1,
                                    .dimensions = {64, 32, 32, 4},
                                    .strides = {128, 4096, 131072},
                                    .lower = {-1, -1},
                                    .upper = {1, 1},
                                    .channels = 64,
                                    .pixels = 128};
}

TEST(maps, tensor_maps_are_encoded_and_passed)
{
    unsigned char room[sizeof(griddep_tensor_map) + 8];
    griddep_tensor_map map = {{0}}, *odd = (griddep_tensor_map *)(void *)(room + 8);
    griddep_tensor_options options = matrix();
    const griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {32}};
    fake_launch launch;

    ck_good(griddep_tensor_map_encode(runtime, &options, &map, &error));
    ck_assert_uint_eq(map.opaque[0], 0x10000);
    ck_assert_uint_eq(map.opaque[2], 1024);
    ck_assert_uint_eq(map.opaque[7], 1); /* steps of nothing are steps of 1 */
    ck_good(griddep_tensor_map_encode(runtime, &options, odd, &error)); /* wherever it stands */
    const griddep_argument arguments[2] = {{.bytes = 128, .data = &map}, pointer};
    ck_good(griddep_launch(kernel_of(module, "mapped"), &config, arguments, 2, NULL, &error));
    ck_assert_int_eq(fake_driver_last_launch(&launch), 1);
    ck_assert_mem_eq(launch.parameters, &map, 128);
    options = images();
    ck_good(griddep_tensor_map_encode(runtime, &options, &map, &error));
    ck_assert_uint_eq(map.opaque[1], 4);
    fake_driver_fail("cuTensorMapEncodeTiled", 1, GD_CUDA_ERROR_INVALID_VALUE);
    options = matrix();
    griddep_tensor_map before = map;
    ck_refused(griddep_tensor_map_encode(runtime, &options, &map, &error), GRIDDEP_ERROR_DRIVER,
               "a tiled tensor map of rank 2");
    ck_assert_mem_eq(&map, &before, sizeof map);
}

#define FIELD(name) (int)offsetof(griddep_tensor_options, name)

/* One field of a good map changed, and the words of the refusal. */
static const struct {
    int im2col, offset, bytes;
    int64_t value;
    int32_t status;
    const char *says;
} bad_maps[] = {
    {0, FIELD(type), 4, 16, GRIDDEP_ERROR_ARGUMENT, "type is 16"},
    {0, FIELD(type), 4, -1, GRIDDEP_ERROR_ARGUMENT, "type is -1"},
    {0, FIELD(interleave), 4, 3, GRIDDEP_ERROR_ARGUMENT, "interleave is 3"},
    {0, FIELD(interleave), 4, 2, GRIDDEP_ERROR_ARGUMENT, "needs GRIDDEP_SWIZZLE_32B"},
    {0, FIELD(interleave), 4, 1, GRIDDEP_ERROR_ARGUMENT, "rank is 2; here it may be 3 to 5"},
    {0, FIELD(swizzle), 4, 7, GRIDDEP_ERROR_ARGUMENT, "swizzle is 7"},
    {0, FIELD(swizzle), 4, 2, GRIDDEP_ERROR_ARGUMENT,
     "box has 128 bytes in the innermost dimension; the swizzle spans 64"},
    {0, FIELD(promotion), 4, 4, GRIDDEP_ERROR_ARGUMENT, "promotion is 4"},
    {0, FIELD(fill), 4, 2, GRIDDEP_ERROR_ARGUMENT, "fill is 2"},
    {0, FIELD(im2col), 4, 2, GRIDDEP_ERROR_ARGUMENT, "im2col is 2; it may be 0 or 1"},
    {0, FIELD(size), 4, 8, GRIDDEP_ERROR_STRUCT, "griddep_tensor_options"},
    {0, FIELD(rank), 4, 0, GRIDDEP_ERROR_ARGUMENT, "rank is 0; it may be 1 to 5"},
    {0, FIELD(rank), 4, 6, GRIDDEP_ERROR_ARGUMENT, "rank is 6"},
    {0, FIELD(rank), 4, 3, GRIDDEP_ERROR_ARGUMENT, "dimensions[2] is 0; it may be 1 to 2^32"},
    {0, FIELD(dimensions[0]), 8, (INT64_C(1) << 32) + 1, GRIDDEP_ERROR_ARGUMENT,
     "dimensions[0] is 4294967297"},
    {0, FIELD(dimensions[2]), 8, 1, GRIDDEP_ERROR_ARGUMENT, "dimensions[2] is 1; past the rank"},
    {0, FIELD(strides[0]), 8, 4100, GRIDDEP_ERROR_ARGUMENT,
     "strides[0] is 4100; it may be a multiple of 16"},
    {0, FIELD(strides[0]), 8, INT64_C(1) << 40, GRIDDEP_ERROR_ARGUMENT, "strides[0]"},
    {0, FIELD(strides[1]), 8, 16, GRIDDEP_ERROR_ARGUMENT, "strides[1] is 16; past the rank"},
    {0, FIELD(address), 8, 0x10008, GRIDDEP_ERROR_ARGUMENT, "0x10008 is no multiple of 16"},
    {0, FIELD(address), 8, 0, GRIDDEP_ERROR_ARGUMENT, "address 0x0"},
    {0, FIELD(steps[0]), 4, 1, GRIDDEP_ERROR_ARGUMENT, "steps[1] is 0; it may be 1 to 8"},
    {0, FIELD(steps[4]), 4, 1, GRIDDEP_ERROR_ARGUMENT, "steps["},
    {0, FIELD(box[1]), 4, 257, GRIDDEP_ERROR_ARGUMENT, "box[1] is 257; it may be 1 to 256"},
    {0, FIELD(box[0]), 4, 3, GRIDDEP_ERROR_ARGUMENT,
     "box[0] is 3; its bytes must be a multiple of 16"},
    {0, FIELD(box[2]), 4, 1, GRIDDEP_ERROR_ARGUMENT, "box[2] is 1; past the rank"},
    {0, FIELD(channels), 4, 1, GRIDDEP_ERROR_ARGUMENT, "for im2col"},
    {0, FIELD(type), 4, GRIDDEP_TENSOR_16U6_ALIGN16, GRIDDEP_ERROR_ARGUMENT,
     "box[0] is 32; for this type it must be 128"},
    {1, FIELD(rank), 4, 2, GRIDDEP_ERROR_ARGUMENT, "rank is 2; here it may be 3 to 5"},
    {1, FIELD(lower[0]), 4, -129, GRIDDEP_ERROR_ARGUMENT,
     "lower[0] is -129; with rank 4 it may be -128 to 127"},
    {1, FIELD(upper[1]), 4, 128, GRIDDEP_ERROR_ARGUMENT, "upper[1] is 128"},
    {1, FIELD(upper[2]), 4, 1, GRIDDEP_ERROR_ARGUMENT, "upper[2] is 1"},
    {1, FIELD(channels), 4, 257, GRIDDEP_ERROR_ARGUMENT, "channels is 257"},
    {1, FIELD(channels), 4, 0, GRIDDEP_ERROR_ARGUMENT, "channels is 0"},
    {1, FIELD(pixels), 4, 1025, GRIDDEP_ERROR_ARGUMENT, "pixels is 1025"},
    {1, FIELD(box[0]), 4, 8, GRIDDEP_ERROR_ARGUMENT, "box[0] is 8; it is for tiled maps"},
    {1, FIELD(swizzle), 4, 1, GRIDDEP_ERROR_ARGUMENT, "channels has 128 bytes"},
};

LOOP_TEST(maps, tensor_maps_refuse_with_the_field, sizeof bad_maps / sizeof bad_maps[0])
{
    griddep_tensor_options options = bad_maps[_i].im2col ? images() : matrix();
    griddep_tensor_map map = {{1, 2, 3}}, before = map;

    memcpy((char *)&options + bad_maps[_i].offset, &bad_maps[_i].value, (size_t)bad_maps[_i].bytes);
    ck_status(griddep_tensor_map_encode(runtime, &options, &map, &error), bad_maps[_i].status);
    ck_says(bad_maps[_i].says);
    ck_assert_mem_eq(&map, &before, sizeof map);
    ck_assert_uint_eq(fake_driver_calls("cuTensorMapEncodeTiled") +
                          fake_driver_calls("cuTensorMapEncodeIm2col"),
                      0);
}

/* Bytes of an element, and whether fills may be NaN, of each type: GRIDDEP_TENSOR_*. A box of as
 * many elements as have 16 bytes is taken, and one of half of them is not. */
TEST(maps, tensor_maps_know_every_type)
{
    static const struct {
        int32_t type;
        uint32_t bits;
        bool real;
        uint32_t only; /* the one box that the type takes, or 0 */
    } types[] = {{GRIDDEP_TENSOR_U8, 8, false, 0},
                 {GRIDDEP_TENSOR_U16, 16, false, 0},
                 {GRIDDEP_TENSOR_U32, 32, false, 0},
                 {GRIDDEP_TENSOR_S32, 32, false, 0},
                 {GRIDDEP_TENSOR_U64, 64, false, 0},
                 {GRIDDEP_TENSOR_S64, 64, false, 0},
                 {GRIDDEP_TENSOR_F16, 16, true, 0},
                 {GRIDDEP_TENSOR_F32, 32, true, 0},
                 {GRIDDEP_TENSOR_F64, 64, true, 0},
                 {GRIDDEP_TENSOR_BF16, 16, true, 0},
                 {GRIDDEP_TENSOR_F32_FTZ, 32, true, 0},
                 {GRIDDEP_TENSOR_TF32, 32, true, 0},
                 {GRIDDEP_TENSOR_TF32_FTZ, 32, true, 0},
                 {GRIDDEP_TENSOR_16U4_ALIGN8, 4, false, 0},
                 {GRIDDEP_TENSOR_16U4_ALIGN16, 4, false, 128},
                 {GRIDDEP_TENSOR_16U6_ALIGN16, 6, false, 128}};
    griddep_tensor_map map;

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        griddep_tensor_options options = {
            .size = sizeof options,
            .type = types[i].type,
            .address = 0x10000,
            .rank = 2,
            .dimensions = {256, 2},
            .strides = {4096},
            .box = {types[i].only ? types[i].only : 128 / types[i].bits, 1}};
        ck_assert_int_eq(types[i].type, (int32_t)i); /* none is left out */
        ck_good(griddep_tensor_map_encode(runtime, &options, &map, &error));
        options.box[0] /= 2;
        ck_status(griddep_tensor_map_encode(runtime, &options, &map, &error),
                  GRIDDEP_ERROR_ARGUMENT);
        options.box[0] *= 2;
        options.fill = GRIDDEP_FILL_NAN;
        ck_status(griddep_tensor_map_encode(runtime, &options, &map, &error),
                  types[i].real ? GRIDDEP_OK : GRIDDEP_ERROR_ARGUMENT);
        options.fill = GRIDDEP_FILL_ZERO;
        options.strides[0] = 4112; /* a multiple of 16, of 32 it is not */
        ck_status(griddep_tensor_map_encode(runtime, &options, &map, &error),
                  types[i].only ? GRIDDEP_ERROR_ARGUMENT : GRIDDEP_OK);
        options.strides[0] = 4096;
        options.dimensions[0] = 255;
        ck_status(griddep_tensor_map_encode(runtime, &options, &map, &error),
                  types[i].bits < 8 ? GRIDDEP_ERROR_ARGUMENT : GRIDDEP_OK);
    }
}

/* The greatest values that the fields of a map may have. */
static const struct {
    int im2col, offset, bytes;
    int64_t value;
} good_maps[] = {
    {0, FIELD(promotion), 4, GRIDDEP_PROMOTION_256B},
    {0, FIELD(swizzle), 4, GRIDDEP_SWIZZLE_128B_ATOM_64B},
    {0, FIELD(dimensions[0]), 8, INT64_C(1) << 32},
    {0, FIELD(strides[0]), 8, (INT64_C(1) << 40) - 16},
    {0, FIELD(address), 8, 0x10010},
    {0, FIELD(box[1]), 4, 256},
    {0, FIELD(box[0]), 4, 256},
    {0, FIELD(box[0]), 4, 4},
    {1, FIELD(lower[0]), 4, -128},
    {1, FIELD(upper[1]), 4, 127},
    {1, FIELD(channels), 4, 256},
    {1, FIELD(channels), 4, 1},
    {1, FIELD(pixels), 4, 1024},
    {1, FIELD(pixels), 4, 1},
};

LOOP_TEST(maps, tensor_maps_take_the_greatest_values, sizeof good_maps / sizeof good_maps[0])
{
    griddep_tensor_options options = good_maps[_i].im2col ? images() : matrix();
    griddep_tensor_map map;

    memcpy((char *)&options + good_maps[_i].offset, &good_maps[_i].value,
           (size_t)good_maps[_i].bytes);
    ck_good(griddep_tensor_map_encode(runtime, &options, &map, &error));
}

TEST(maps, tensor_maps_need_what_they_need)
{
    griddep_tensor_options options = matrix();
    griddep_tensor_map map;

    ck_status(griddep_tensor_map_encode(NULL, &options, &map, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_tensor_map_encode(runtime, NULL, &map, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_tensor_map_encode(runtime, &options, NULL, &error), GRIDDEP_ERROR_ARGUMENT);
    options.type = GRIDDEP_TENSOR_S32;
    options.fill = GRIDDEP_FILL_NAN;
    ck_refused(griddep_tensor_map_encode(runtime, &options, &map, &error), GRIDDEP_ERROR_ARGUMENT,
               "floating-point");
}

MAIN_OF_SUITE("attribute")
