/* An application that takes libgriddep as a plugin: it opens the library when it runs, and does its
 * work without it where it is missing.
 *
 *     cc -o plugin plugin.c $(pkg-config --cflags griddep) -ldl
 *
 * The header gives the functions' types, and dlsym their addresses; nothing is linked.
 */
#include <dlfcn.h>
#include <griddep.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 1024 };

#define FUNCTIONS(X)                                                                               \
    X(runtime_open)                                                                                \
    X(runtime_close) X(module_load_shelf) X(module_unload) X(module_find_kernel)                   \
        X(memory_allocate) X(memory_write) X(memory_read) X(memory_free) X(launch) X(status_name)  \
            X(error_init)

#define DECLARE(name) __typeof__(griddep_##name) *name;
static struct {
    FUNCTIONS(DECLARE)
} griddep;

/* Whether the library is there, with all that is needed. It stays open: objects of it may live
 * until the end. */
static int open_plugin(void)
{
    const char *path = getenv("GRIDDEP_LIBRARY");
    void *library = dlopen(path ? path : "libgriddep.so.0", RTLD_NOW | RTLD_LOCAL);

    if (!library)
        return 0;
#define FIND(name)                                                                                 \
    if (!(*(void **)&griddep.name = dlsym(library, "griddep_" #name)))                             \
        return 0;
    FUNCTIONS(FIND)
    return 1;
}

static int32_t add_on_device(float *x, griddep_error *error)
{
    griddep_runtime *runtime = NULL;
    griddep_module *module = NULL;
    griddep_kernel *kernel;
    uint64_t memory = 0;
    const uint64_t bytes = COUNT * sizeof *x;
    int32_t status = griddep.runtime_open(NULL, &runtime, error);

    if (!status)
        status = griddep.module_load_shelf(runtime, "vector_add", NULL, &module, error);
    if (!status)
        status = griddep.module_find_kernel(module, NULL, &kernel, error);
    if (!status)
        status = griddep.memory_allocate(runtime, bytes, &memory, error);
    if (!status)
        status = griddep.memory_write(runtime, memory, x, bytes, NULL, error);
    if (!status) {
        griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {256}};
        griddep_argument arguments[] = {{.bytes = 8, .value = memory},
                                        {.bytes = 8, .value = memory},
                                        {.bytes = 8, .value = memory},
                                        {.bytes = 4, .value = COUNT}};
        status = griddep.launch(kernel, &config, arguments, 4, NULL, error);
    }
    if (!status)
        status = griddep.memory_read(runtime, x, memory, bytes, NULL, error);
    if (memory)
        griddep.memory_free(runtime, memory, NULL);
    griddep.module_unload(module);
    griddep.runtime_close(runtime);
    return status;
}

static const char *add(float *x)
{
    griddep_error error;

    if (open_plugin()) {
        griddep.error_init(&error);
        int32_t status = add_on_device(x, &error);
        if (!status)
            return "with griddep";
        fprintf(stderr, "%s: %s\n", griddep.status_name(status), error.text);
    }
    for (int i = 0; i < COUNT; i++)
        x[i] += x[i];
    return "without griddep";
}

int main(void)
{
    static float x[COUNT];

    for (int i = 0; i < COUNT; i++)
        x[i] = (float)i;
    const char *how = add(x);
    printf("%s; %d + %d = %.0f\n", how, COUNT - 1, COUNT - 1, (double)x[COUNT - 1]);
    return 0;
}
