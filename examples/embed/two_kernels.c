/* The shortest whole program: two kernels of one's own PTX as a chain. Ten calls of the library
 * lead from nothing to the result, four more give everything back.
 *
 *     cc -o two_kernels two_kernels.c $(pkg-config --cflags --libs griddep)
 *
 * The data lies in pinned memory of the host, which kernels reach by its address.
 */
#include <griddep_values.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 1024 };

/* data[i] = data[i] * factor, and data[i] = data[i] + more: each waits for the kernel before it. */
#define ENTRY(name, operation)                                                                     \
    ".visible .entry " name "(.param .u64 data, .param .f32 value)\n{\n"                           \
    "    .reg .b32 %i, %n;\n    .reg .b64 %a;\n    .reg .f32 %x, %v;\n"                            \
    "    griddepcontrol.launch_dependents;\n"                                                      \
    "    ld.param.u64 %a, [data];\n    ld.param.f32 %v, [value];\n"                                \
    "    mov.u32 %i, %ctaid.x;\n    mov.u32 %n, %ntid.x;\n    mul.lo.u32 %i, %i, %n;\n"            \
    "    mov.u32 %n, %tid.x;\n    add.u32 %i, %i, %n;\n    mad.wide.u32 %a, %i, 4, %a;\n"          \
    "    griddepcontrol.wait;\n"                                                                   \
    "    ld.global.f32 %x, [%a];\n    " operation ".f32 %x, %x, %v;\n"                             \
    "    st.global.f32 [%a], %x;\n    ret;\n}\n"

static const char ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n" ENTRY("scale", "mul") ENTRY("raise", "add");

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
    griddep_runtime *runtime;
    griddep_module *module;
    griddep_kernel *scale, *raise;
    griddep_chain *chain;
    void *memory;

    try(griddep_runtime_open(NULL, &runtime, &error));
    try(griddep_module_load(runtime, ptx, sizeof ptx, NULL, &module, &error));
    try(griddep_module_find_kernel(module, "scale", &scale, &error));
    try(griddep_module_find_kernel(module, "raise", &raise, &error));
    try(griddep_host_allocate(runtime, COUNT * sizeof(float), 0, &memory, &error));
    float *data = memory;
    for (int i = 0; i < COUNT; i++)
        data[i] = (float)i;
    const griddep_argument factor[] = {GRIDDEP_VALUE((uintptr_t)data), GRIDDEP_VALUE(2.0F)};
    const griddep_argument more[] = {GRIDDEP_VALUE((uintptr_t)data), GRIDDEP_VALUE(0.5F)};
    try(griddep_chain_create(runtime, &chain, &error));
    try(griddep_chain_add(chain, scale, &config, factor, 2, &error));
    try(griddep_chain_add(chain, raise, &config, more, 2, &error));
    try(griddep_chain_run(chain, GRIDDEP_MODE_GRAPH_PDL, NULL, &error));
    try(griddep_runtime_synchronize(runtime, &error));
    printf("%d * 2 + 0.5 = %.1f\n", COUNT - 1, (double)data[COUNT - 1]);
    griddep_chain_destroy(chain);
    griddep_host_free(runtime, memory, NULL);
    griddep_module_unload(module);
    griddep_runtime_close(runtime);
    return 0;
}
