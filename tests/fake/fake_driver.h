/* A scripted CUDA driver for tests. It keeps the state that a driver keeps (contexts, modules,
 * memory, streams, captures, graphs, events), really copies memory, records each call, and fails,
 * hides or limits what a test asks it to. Kernels do nothing unless the test gives a function for
 * their name.
 *
 * The same source is linked into unit tests and built as a shared object whose path is given as the
 * driver; that one exports cuGetProcAddress_v2 and the functions below, so that a test in another
 * language can script it. All state is of the process, behind one lock.
 *
 * Results and JIT logs follow a driver with API 13.0 on an H200 where that was tried. Stricter than
 * it: a handle is never used twice, so that a stale one is an error and not a crash; each call but
 * those about devices, contexts, errors and graphs needs a current context; a parameter buffer must
 * not be too small. What is enqueued has run when the call returns, and takes 1 us by the events.
 * Not modelled: initializers of variables, fatbins (NO_BINARY_FOR_GPU), captures of several
 * streams, cycles of graphs, conditional nodes, which are kept and never run; a graph's other nodes
 * run in the order in which they were added. */
#ifndef FAKE_DRIVER_H
#define FAKE_DRIVER_H

#include <stddef.h>
#include <stdint.h>

#include "cuda/abi.h"
#include "ptx/require/tensor_map.h"

/* Everything as at the start: all objects, records, scripts and settings are forgotten. Device:
 * one, like an H200, driver API 13.0. */
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

/* Tiled tensor maps are encoded by this function; NULL, as at the start: in a way that nobody
 * understands. */
void fake_driver_encode_maps(void (*write)(void *bytes, const gd_tensor_map *map));

/* cuGetProcAddress_v2 does not find the symbol any more. */
void fake_driver_hide(const char *symbol);

/* 13000 is the driver API 13.0; symbols of later versions are not found, and launch attributes of
 * later versions are refused. */
void fake_driver_set_version(int version);
void fake_driver_set_device_count(int count);
void fake_driver_set_attribute(gd_CUdevice_attribute attribute, int value);
void fake_driver_set_capability(int capability); /* 90: both attributes of the compute capability */
void fake_driver_set_memory(size_t bytes);       /* of the device; default 4 GiB */

/* A context that the test made, to be adopted; it is no leak. Not current anywhere. */
gd_CUcontext fake_driver_create_context(gd_CUdevice device);
void fake_driver_destroy_context(gd_CUcontext context);

/* A launch: as it was asked for, or as it was executed. All it points to lives until
 * fake_driver_reset. */
typedef struct fake_launch {
    const char *kernel; /* name of the entry */
    gd_CUfunction function;
    gd_CUlaunchConfig config; /* attrs: a copy */
    const unsigned char
        *parameters; /* packed as the kernel's parameters are, without padding behind the last */
    size_t parameter_bytes;
    int32_t programmatic; /* attribute 6 is set and not 0 */
    int32_t captured;     /* asked for: it became a node of a graph */
    int32_t from_graph;   /* executed: by cuGraphLaunch */
    int32_t reserved;
} fake_launch;

/* Called for each execution of the kernel, in order. Another result than CUDA_SUCCESS is a fault:
 * the launch succeeds, and every later call in the context returns that result. The function may
 * call the driver, except for what ends the objects of this launch. */
typedef gd_CUresult (*fake_kernel)(void *user, const fake_launch *launch);
void fake_driver_set_kernel(const char *name, fake_kernel function, void *user);

/* The execution at hand takes that much longer by the events: for these functions. */
void fake_driver_spend(double microseconds);

/* PTX comments that the fake's compiler obeys:
 *   // fake-jit-error: LINE MESSAGE    the compiler refuses the text: INVALID_PTX, and the error
 *   log says so at that
 * line
 *   // fake-jit-info: MESSAGE          the message goes to the info log
 *   // fake-more-parameters: N         each kernel has N parameters of 4 bytes behind those of its
 *   text // fake-registers: N               the kernels use N registers */

/* ---- Observe */

typedef struct fake_call {
    const char *symbol;
    gd_CUresult result;
    uint32_t argument_count;
    uint64_t arguments[8]; /* inputs in their order; pointers as numbers */
    char text[104];        /* the first string among the arguments, cut; "" where there is none */
} fake_call;

/* How often a symbol was called; NULL: all calls. */
uint64_t fake_driver_calls(const char *symbol);

/* The index-th call of all, from 0; returns 1, or 0 past the last. */
int32_t fake_driver_call(uint64_t index, fake_call *call);

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
