/* The sum of what several devices have, as a launch of each one's chain: an all_reduce between two
 * GPUs in one process, replayed as a graph, and a kernel of one's own behind it.
 *
 *     cc -o two_devices two_devices.c $(pkg-config --cflags --libs griddep)
 *
 * Without two GPUs: GRIDDEP_DRIVER=emulated GRIDDEP_EMULATOR_DEVICES=2 ./two_devices
 */
#include <griddep_values.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { DEVICES = 2, COUNT = 1024 };

/* data[i] = data[i] * factor, behind the kernel before it. */
static const char ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry scale(.param .u64 data, .param .f32 factor)\n{\n"
    "    .reg .b32 %i, %n;\n    .reg .b64 %a;\n    .reg .f32 %x, %v;\n"
    "    griddepcontrol.launch_dependents;\n"
    "    ld.param.u64 %a, [data];\n    ld.param.f32 %v, [factor];\n"
    "    mov.u32 %i, %ctaid.x;\n    mov.u32 %n, %ntid.x;\n    mul.lo.u32 %i, %i, %n;\n"
    "    mov.u32 %n, %tid.x;\n    add.u32 %i, %i, %n;\n    mad.wide.u32 %a, %i, 4, %a;\n"
    "    griddepcontrol.wait;\n"
    "    ld.global.f32 %x, [%a];\n    mul.f32 %x, %x, %v;\n    st.global.f32 [%a], %x;\n"
    "    ret;\n}\n";

static griddep_error error = {.size = sizeof error};

static void try(int32_t status)
{
    if (status) {
        fprintf(stderr, "%s: %s\n", griddep_status_name(status), error.text);
        exit(1);
    }
}

int main(void)
{
    const griddep_launch_config config = griddep_config_for(COUNT, 256);
    const griddep_group_options group_options = {.size = sizeof group_options, .timeout_ms = 2000};
    griddep_runtime *runtimes[DEVICES];
    griddep_chain *chains[DEVICES];
    griddep_group *group;
    uint64_t data[DEVICES];
    float values[COUNT];

    for (int i = 0; i < DEVICES; i++) {
        const griddep_runtime_options options = {
            .size = sizeof options, .flags = GRIDDEP_RUNTIME_DEVICE, .device = i};
        try(griddep_runtime_open(&options, &runtimes[i], &error));
    }
    try(griddep_group_open(runtimes, DEVICES, &group_options, &group, &error));

    /* The chain of each member: the sum of all members' data, then half of it. */
    for (int i = 0; i < DEVICES; i++) {
        griddep_module *module;
        griddep_kernel *scale;
        try(griddep_memory_allocate(runtimes[i], sizeof values, &data[i], &error));
        for (int k = 0; k < COUNT; k++)
            values[k] = (float)(k * (i + 1));
        try(griddep_memory_write(runtimes[i], data[i], values, sizeof values, NULL, &error));
        try(griddep_module_load(runtimes[i], ptx, sizeof ptx, NULL, &module, &error));
        try(griddep_module_find_kernel(module, "scale", &scale, &error));
        const griddep_argument half[] = {GRIDDEP_VALUE(data[i]), GRIDDEP_VALUE(0.5F)};
        try(griddep_chain_create(runtimes[i], &chains[i], &error));
        const griddep_hop sum = {.size = sizeof sum,
                                 .operation = GRIDDEP_HOP_ALL_REDUCE,
                                 .type = GRIDDEP_TENSOR_F32,
                                 .source = data[i],
                                 .target = data[i],
                                 .count = COUNT};
        try(griddep_chain_add_hop(chains[i], group, NULL, &sum, &error));
        try(griddep_chain_add(chains[i], scale, &config, half, 2, &error));
        griddep_module_unload(module); /* the chain holds it */
    }

    /* All members' runs are handed in before anybody waits. */
    for (int i = 0; i < DEVICES; i++)
        try(griddep_chain_run(chains[i], GRIDDEP_MODE_GRAPH_PDL, NULL, &error));
    for (int i = 0; i < DEVICES; i++)
        try(griddep_runtime_synchronize(runtimes[i], &error));
    try(griddep_group_status(group, &error)); /* did somebody wait in vain? */

    for (int i = 0; i < DEVICES; i++) {
        try(griddep_memory_read(runtimes[i], values, data[i], sizeof values, NULL, &error));
        printf("device %d: (1023 + 2046) / 2 = %g\n", i, (double)values[COUNT - 1]);
    }
    for (int i = 0; i < DEVICES; i++)
        griddep_chain_destroy(chains[i]);
    griddep_group_close(group);
    for (int i = 0; i < DEVICES; i++) {
        try(griddep_memory_free(runtimes[i], data[i], &error));
        griddep_runtime_close(runtimes[i]);
    }
    return 0;
}
