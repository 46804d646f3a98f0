/* Dependent launch inside an application that uses the CUDA driver already: its context, its stream
 * and its memory are taken as they are.
 *
 *     cc -o shared_context shared_context.c $(pkg-config --cflags --libs griddep) -ldl
 *
 * The part that stands for the application opens libcuda.so.1 by itself and declares what it uses
 * of it; with cuda.h and -lcuda it would be the same. A program that uses the CUDA runtime has a
 * context too: the device's primary one, current in each thread that called the runtime, and
 * griddep_runtime_open takes the current context where none is given. cudaStream_t is CUstream.
 */
#include <dlfcn.h>
#include <griddep.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 1024 };

/* ---- the application */

static struct {
    int (*init)(unsigned flags);
    int (*create_context)(void **context, unsigned flags, int device);
    int (*destroy_context)(void *context);
    int (*create_stream)(void **stream, unsigned flags);
    int (*synchronize)(void *stream);
    int (*allocate)(uint64_t *address, size_t bytes);
    int (*write)(uint64_t address, const void *source, size_t bytes, void *stream);
    int (*read)(void *target, uint64_t address, size_t bytes, void *stream);
} cuda;

static void require(int good, const char *what)
{
    if (!good) {
        fprintf(stderr, "failed: %s\n", what);
        exit(1);
    }
}

static void find(void *library, void *function, const char *name)
{
    require((*(void **)function = dlsym(library, name)) != NULL, name);
}

static void open_cuda(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);

    require(library != NULL, "libcuda.so.1");
    find(library, &cuda.init, "cuInit");
    find(library, &cuda.create_context, "cuCtxCreate_v2");
    find(library, &cuda.destroy_context, "cuCtxDestroy_v2");
    find(library, &cuda.create_stream, "cuStreamCreate");
    find(library, &cuda.synchronize, "cuStreamSynchronize");
    find(library, &cuda.allocate, "cuMemAlloc_v2");
    find(library, &cuda.write, "cuMemcpyHtoDAsync_v2");
    find(library, &cuda.read, "cuMemcpyDtoHAsync_v2");
}

/* ---- what it does with libgriddep */

static griddep_error error;

static void check(int32_t status)
{
    if (status) {
        fprintf(stderr, "%s: %s\n", griddep_status_name(status), error.text);
        exit(1);
    }
}

/* Two additions into the application's stream, on the application's memory; the second may start
 * before the first has ended. */
static int32_t add_twice(void *context, void *stream, uint64_t x)
{
    griddep_runtime_options options = {.size = sizeof options, .context = context};
    griddep_runtime *runtime;
    griddep_module *module;
    griddep_kernel *kernel;
    int32_t reason = 0;

    griddep_error_init(&error);
    check(griddep_runtime_open(&options, &runtime, &error));
    check(griddep_module_load_shelf(runtime, "vector_add", NULL, &module, &error));
    check(griddep_module_find_kernel(module, NULL, &kernel, &error));
    griddep_launch_config config = {
        .size = sizeof config, .grid = {1}, .block = {256}, .stream = stream};
    griddep_argument arguments[] = {{.bytes = 8, .value = x},
                                    {.bytes = 8, .value = x},
                                    {.bytes = 8, .value = x},
                                    {.bytes = 4, .value = COUNT}};
    for (int i = 0; i < 2; i++)
        check(griddep_launch(kernel, &config, arguments, 4, &reason, &error));
    /* The code must stay until the stream is through with it. */
    check(griddep_stream_synchronize(runtime, stream, &error));
    griddep_module_unload(module);
    griddep_runtime_close(runtime);
    return reason;
}

int main(void)
{
    void *context, *stream;
    uint64_t memory;
    static float host[COUNT];

    for (int i = 0; i < COUNT; i++)
        host[i] = (float)i;
    open_cuda();
    require(!cuda.init(0), "cuInit");
    require(!cuda.create_context(&context, 0, 0), "cuCtxCreate");
    require(!cuda.create_stream(&stream, 1), "cuStreamCreate");
    require(!cuda.allocate(&memory, sizeof host), "cuMemAlloc");
    require(!cuda.write(memory, host, sizeof host, stream), "cuMemcpyHtoDAsync");

    int32_t reason = add_twice(context, stream, memory);

    require(!cuda.read(host, memory, sizeof host, stream), "cuMemcpyDtoHAsync");
    require(!cuda.synchronize(stream), "cuStreamSynchronize");
    printf("%s; 4 * %d = %.0f\n", griddep_text(GRIDDEP_TEXT_REASON, reason), COUNT - 1,
           (double)host[COUNT - 1]);
    require(!cuda.destroy_context(context), "cuCtxDestroy");
    return 0;
}
