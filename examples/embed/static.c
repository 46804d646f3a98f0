/* An application that links libgriddep statically (a build with --enable-static installs
 * libgriddep.a). The driver is opened at run time as ever.
 *
 *     cc -o static static.c -Wl,-Bstatic $(pkg-config --cflags --libs griddep) -Wl,-Bdynamic
 *
 * The emulated driver is a library of its own: it is found beside the program, or where the loader
 * looks.
 */
#include <griddep.h>
#include <stdint.h>
#include <stdio.h>

enum { COUNT = 1024 };

/* out = x + y by a kernel of the shelf, which is part of the library. */
static int32_t add(griddep_runtime *runtime, float *x, griddep_error *error)
{
    griddep_module *module;
    griddep_kernel *kernel;
    uint64_t memory = 0;
    const uint64_t bytes = COUNT * sizeof *x;
    int32_t status = griddep_module_load_shelf(runtime, "vector_add", NULL, &module, error);

    if (status)
        return status;
    status = griddep_module_find_kernel(module, NULL, &kernel, error);
    if (!status)
        status = griddep_memory_allocate(runtime, bytes, &memory, error);
    if (!status)
        status = griddep_memory_write(runtime, memory, x, bytes, NULL, error);
    if (!status) {
        griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {256}};
        griddep_argument arguments[] = {{.bytes = 8, .value = memory},
                                        {.bytes = 8, .value = memory},
                                        {.bytes = 8, .value = memory},
                                        {.bytes = 4, .value = COUNT}};
        status = griddep_launch(kernel, &config, arguments, 4, NULL, error);
    }
    if (!status)
        status = griddep_memory_read(runtime, x, memory, bytes, NULL, error);
    if (memory)
        griddep_memory_free(runtime, memory, NULL);
    griddep_module_unload(module);
    return status;
}

int main(void)
{
    static float x[COUNT];
    griddep_runtime *runtime;
    griddep_error error;

    for (int i = 0; i < COUNT; i++)
        x[i] = (float)i;
    griddep_error_init(&error);
    int32_t status = griddep_runtime_open(NULL, &runtime, &error);
    if (!status) {
        status = add(runtime, x, &error);
        griddep_runtime_close(runtime);
    }
    if (status) {
        fprintf(stderr, "%s: %s\n", griddep_status_name(status), error.text);
        return 1;
    }
    printf("griddep %s inside; %d + %d = %.0f\n", griddep_version_text(), COUNT - 1, COUNT - 1,
           (double)x[COUNT - 1]);
    return 0;
}
