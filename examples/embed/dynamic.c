/* An application that carries its PTX as a C string and links libgriddep dynamically.
 *
 *     cc -o dynamic dynamic.c $(pkg-config --cflags --libs griddep)
 *
 * Where there is no GPU it runs on the emulated driver. Each line of the string ends with \n:
 * errors tell line and column.
 */
#include <griddep.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 1000, BLOCK = 128 };

static const char ptx[] =
    ".version 7.8\n"
    ".target sm_90\n"
    ".address_size 64\n"
    "\n"
    "// x[i] = x[i] * factor\n"
    ".visible .entry scale(.param .u64 x, .param .f32 factor, .param .u32 count)\n"
    "{\n"
    "    .reg .pred %outside;\n"
    "    .reg .b32 %i, %n, %threads;\n"
    "    .reg .b64 %at;\n"
    "    .reg .f32 %v, %f;\n"
    "\n"
    "    griddepcontrol.launch_dependents;\n"
    "    ld.param.u64 %at, [x];\n"
    "    ld.param.f32 %f, [factor];\n"
    "    ld.param.u32 %n, [count];\n"
    "    mov.u32 %i, %ctaid.x;\n"
    "    mov.u32 %threads, %ntid.x;\n"
    "    mul.lo.u32 %i, %i, %threads;\n"
    "    mov.u32 %threads, %tid.x;\n"
    "    add.u32 %i, %i, %threads;\n"
    "    setp.ge.u32 %outside, %i, %n;\n"
    "    mad.wide.u32 %at, %i, 4, %at;\n"
    "    griddepcontrol.wait;\n"
    "    @%outside ret;\n"
    "    ld.global.f32 %v, [%at];\n"
    "    mul.f32 %v, %v, %f;\n"
    "    st.global.f32 [%at], %v;\n"
    "    ret;\n"
    "}\n";

static griddep_error error;

static void check(int32_t status)
{
    if (status) {
        fprintf(stderr, "%s: %s\n", griddep_status_name(status), error.text);
        exit(1);
    }
}

int main(void)
{
    griddep_runtime *runtime;
    griddep_module *module;
    griddep_kernel *scale;
    uint64_t x;
    int32_t reason = 0;
    static float host[COUNT];

    griddep_error_init(&error);
    check(griddep_runtime_open(NULL, &runtime, &error));
    check(griddep_module_load(runtime, ptx, sizeof ptx, NULL, &module, &error));
    check(griddep_module_find_kernel(module, "scale", &scale, &error));

    for (int i = 0; i < COUNT; i++)
        host[i] = (float)i;
    check(griddep_memory_allocate(runtime, sizeof host, &x, &error));
    check(griddep_memory_write(runtime, x, host, sizeof host, NULL, &error));

    /* The second launch of a kernel that waits on every path may start before the first has
     * ended. */
    const float factor = 0.5f;
    griddep_launch_config config = {
        .size = sizeof config, .grid = {(COUNT + BLOCK - 1) / BLOCK}, .block = {BLOCK}};
    griddep_argument arguments[] = {
        {.bytes = 8, .value = x}, {.bytes = 4, .data = &factor}, {.bytes = 4, .value = COUNT}};
    for (int i = 0; i < 2; i++)
        check(griddep_launch(scale, &config, arguments, 3, &reason, &error));
    check(griddep_memory_read(runtime, host, x, sizeof host, NULL, &error));
    printf("%s; %d * 0.25 = %.2f\n", griddep_text(GRIDDEP_TEXT_REASON, reason), COUNT - 1,
           (double)host[COUNT - 1]);

    check(griddep_memory_free(runtime, x, &error));
    griddep_module_unload(module);
    griddep_runtime_close(runtime);
    return 0;
}
