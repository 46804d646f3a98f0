/* The driver of the tests: the emulated one, behind a wrapper for each function that the library
 * calls (driver.def), which records each call and fails, hides or pretends what a test asks it to.
 * What it pretends without being asked is a device like an H200, driver API 13.0, whose clock goes
 * on by a microsecond for each operation, whatever that does.
 *
 * The same source is linked into unit tests and built as a shared object whose path is given as the
 * driver; that one exports cuGetProcAddress_v2 and the functions below, so that a test in another
 * language can script it. There kernels run only after a reset; without one nobody scripts, and of
 * kernels only the time counts. The emulated driver is opened anew by each reset: the environment's
 * EMULATED_DRIVER, or the one of the build. */
#ifndef FAKE_DRIVER_H
#define FAKE_DRIVER_H

#include <stddef.h>
#include <stdint.h>

#include "cuda/abi.h"

/* Everything as at the start: all objects, records, scripts and settings are forgotten. */
void fake_driver_reset(void);

/* What the library binds through; a symbol is found at exactly the version of driver.def, if the
 * driver's version has it. */
gd_CUresult fake_driver_get_proc_address(const char *symbol, void **function, int version,
                                         uint64_t flags, int *found);
gd_CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags,
                                int *found);

/* ---- Script
 *
 * For tests that run a program: FAKE_DRIVER_INIT in the environment is what cuInit returns,
 * FAKE_DRIVER_REPORT what the emulated driver's checks report (fake_report.c); with
 * FAKE_DRIVER_SLOWER each operation takes longer than the ones before it, so that samples
 * differ. */

/* The nth call from now on (from 1) of a symbol, or of any symbol when NULL, returns `result`. The
 * call does nothing, except that a call that ends something (destroy, free, unload, release, pop,
 * end of capture) still ends it, as after a fault. Once; at most 32 wait at a time. */
void fake_driver_fail(const char *symbol, uint64_t nth, gd_CUresult result);

/* Tensor maps are taken as later devices take them, and encoded in a way that nobody understands.
 * */
void fake_driver_set_foreign_maps(void);

/* cuLaunchHostFunc and cuStreamAddCallback succeed, and their functions are never called. */
void fake_driver_drop_callbacks(void);

/* Kernels are launched with all checks, and do not run. Grids of more than 32768 CTAs never do. */
void fake_driver_run_nothing(void);

/* cuGetProcAddress_v2 does not find the symbol any more. */
void fake_driver_hide(const char *symbol);

/* 13000 is the driver API 13.0; symbols of later versions are not found, and launch attributes of
 * later versions are refused. */
void fake_driver_set_version(int version);
void fake_driver_set_device_count(int count);

/* Contexts are green ones, with so many multiprocessors of the device. */
void fake_driver_set_part(unsigned multiprocessors);
void fake_driver_set_attribute(gd_CUdevice_attribute attribute, int value);
void fake_driver_set_capability(int capability); /* 90: both attributes of the compute capability */

/* A context that the test made, to be adopted; it is no leak. Not current anywhere. */
gd_CUcontext fake_driver_create_context(gd_CUdevice device);
void fake_driver_destroy_context(gd_CUcontext context);

/* Makes a cubin of PTX, for sm_90; the caller frees it. */
void *fake_driver_make_cubin(const char *text, size_t *bytes);

/* Cubins of ptxas are taken, and run as this PTX; NULL: refused, as the emulated driver does. The
 * text stays the caller's. */
void fake_driver_run_cubins_as(const char *text);

/* A launch: as it was asked for, or as it was executed. All it points to lives until
 * fake_driver_reset. */
typedef struct fake_launch {
    const char *kernel; /* name of the entry */
    gd_CUfunction function;
    gd_CUlaunchConfig config; /* attrs: a copy */
    const unsigned char
        *parameters; /* packed as the kernel's parameters are, without padding behind the last */
    size_t parameter_bytes;
    int32_t programmatic; /* attribute 6 is set and not 0; of a node: an edge to it says so */
    int32_t captured;     /* asked for: it became a node of a graph */
    int32_t from_graph;   /* executed: a node, by cuGraphLaunch */
    int32_t reserved;
} fake_launch;

/* Called for each execution of the kernel, in order, after it; the result does not matter. */
typedef gd_CUresult (*fake_kernel)(void *user, const fake_launch *launch);
void fake_driver_set_kernel(const char *name, fake_kernel function, void *user);

/* The execution at hand takes that much longer by the events: for these functions. */
void fake_driver_spend(double microseconds);

/* PTX comments that are obeyed:
 *   // fake-jit-error: LINE MESSAGE    the compiler refuses the text: INVALID_PTX, and the error
 *                                     log says so at that line
 *   // fake-more-parameters: N         each kernel has N parameters of 4 bytes behind its own
 *   a comment that begins with "fake-jit-text:"    the emulated driver is given what it holds in
 *                                     place of the text, which it would not understand */

/* ---- Observe */

typedef struct fake_call {
    const char *symbol;
    gd_CUresult result;
    uint32_t argument_count;
    uint64_t arguments[16]; /* in their order; pointers as numbers */
    char text[104];         /* the first string among the arguments, cut; "" where there is none */
} fake_call;

/* How often a symbol was called; NULL: all calls. */
uint64_t fake_driver_calls(const char *symbol);

/* The index-th call of all, from 0; returns 1, or 0 past the last. */
int32_t fake_driver_call(uint64_t index, fake_call *call);

/* Of the graph that was instantiated last. */
uint64_t fake_driver_programmatic_edges(void);

/* What the last load gave for a JIT option, as a number: 1, or 0 where it did not give it. */
int32_t fake_driver_jit_option(gd_CUjit_option option, uint64_t *value);

/* Launches that cuLaunchKernelEx accepted, and executions of kernels, each in order. Return as
 * above. */
uint64_t fake_driver_launches(void);
int32_t fake_driver_launch(uint64_t index, fake_launch *launch);
int32_t fake_driver_last_launch(fake_launch *launch);
uint64_t fake_driver_executions(void);
int32_t fake_driver_execution(uint64_t index, fake_launch *launch);

/* What has not been given back: modules, memory, streams, captures, events, graphs, executable
 * graphs, retains of primary contexts, and the calling thread's context stack. Returns how many;
 * writes "1 module, 2 streams" when buffer is not NULL. */
uint64_t fake_driver_leaks(char *buffer, size_t size);

#endif
