/* One suite for every driver: what the cases need. The driver is opened by dlopen and called
 * through its ABI alone; each call of an entry point is counted, so that the last case can tell
 * which ones no case has called.
 *
 * good() calls and must succeed, else the case ends. bad() calls and must get that error; a case
 * goes on after another result, and fails at its end with the list of all of them. */
#ifndef GD_CONFORMANCE_H
#define GD_CONFORMANCE_H

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/abi_opaque.h"
#include "cuda/driver_rows.h"
#include "emulator/abi.h"
#include "suite.h"

/* ---- entry points ---- */

typedef enum entry_id {
#define GD_DRIVER(symbol, name, version, need, offer, variant, arguments)                          \
    GD_WHERE_EMULATED(offer, ENTRY_##symbol, )
#include "cuda/driver.def"
#undef GD_DRIVER
    ENTRY_COUNT
} entry_id;

#define GD_DRIVER(symbol, name, version, need, offer, variant, arguments)                          \
    GD_WHERE_EMULATED(offer, typedef gd_CUresult call_##symbol GD_PARAMETERS(arguments);)
#include "cuda/driver.def"
#undef GD_DRIVER

typedef void any_function(void);

/* The entry point, from cuGetProcAddress_v2 with its version; ends the case where the driver has
 * none. */
any_function *driver_entry(entry_id id);

/* Whether the driver's library exports a symbol. */
bool is_exported(const char *symbol);

/* Says which call comes next, for the report of a crash. */
any_function *driver_before(entry_id id, const char *text, const char *file, int line);
void driver_good(entry_id id, gd_CUresult result, const char *text, const char *file, int line);
void driver_bad(entry_id id, gd_CUresult result, gd_CUresult expected, const char *text,
                const char *file, int line);
void driver_differs(const char *text, const char *file, int line);

/* The bare call: raw(cuCtxGetId, (NULL, &id)). */
#define raw(symbol, arguments) ((call_##symbol *)driver_entry(ENTRY_##symbol)) arguments

#define CALL(symbol, arguments)                                                                    \
    ((call_##symbol *)driver_before(ENTRY_##symbol, #symbol #arguments, __FILE__, __LINE__))       \
        arguments
#define good(symbol, arguments)                                                                    \
    driver_good(ENTRY_##symbol, CALL(symbol, arguments), #symbol #arguments, __FILE__, __LINE__)

#ifdef CONFORMANCE_SURVIVE
/* To find out what another driver does: a crash in it is one more difference, and the case goes
 * on. */
#include <setjmp.h>
extern sigjmp_buf driver_escape;
extern volatile bool driver_may_escape;
#define bad(expected, symbol, arguments)                                                           \
    do {                                                                                           \
        driver_may_escape = true;                                                                  \
        if (!sigsetjmp(driver_escape, 1))                                                          \
            driver_bad(ENTRY_##symbol, CALL(symbol, arguments), GD_CUDA_##expected,                \
                       #symbol #arguments, __FILE__, __LINE__);                                    \
        else                                                                                       \
            driver_differs("the driver crashes in " #symbol #arguments, __FILE__, __LINE__);       \
        driver_may_escape = false;                                                                 \
    } while (0)
#else
#define bad(expected, symbol, arguments)                                                           \
    driver_bad(ENTRY_##symbol, CALL(symbol, arguments), GD_CUDA_##expected, #symbol #arguments,    \
               __FILE__, __LINE__)
#endif

/* A fact that is no result of a call; the case goes on. */
#define expect(condition)                                                                          \
    do {                                                                                           \
        if (!(condition))                                                                          \
            driver_differs("not so: " #condition, __FILE__, __LINE__);                             \
    } while (0)

/* ---- differences between drivers ---- */

typedef enum difference {
#define GD_DIFFERENCE(name, where, reason) DIFFERENCE_##name,
#include "differences.def"
#undef GD_DIFFERENCE
    DIFFERENCE_COUNT
} difference;

extern bool on_emulator;

/* Whether an exception of differences.def holds on this driver; it is counted as used. */
bool differs(difference which);
#define DIFFERS(name) differs(DIFFERENCE_##name)

/* ---- a context with what most cases need ---- */

extern gd_CUdevice device;
extern gd_CUcontext context;
extern gd_CUstream stream;

/* Fixtures. The primary context is current, and there is one stream that does not wait for the
 * default one. */
void setup_context(void);
void teardown_context(void);
/* cuInit alone. */
void setup_driver(void);
void teardown_driver(void);

gd_CUmodule load(const char *ptx);
gd_CUfunction function_of(gd_CUmodule module, const char *name);
gd_CUdeviceptr allocate(size_t bytes);
gd_CUdeviceptr allocate_with(const void *data, size_t bytes);
void read_back(void *target, gd_CUdeviceptr source, size_t bytes);
void release(gd_CUdeviceptr address);
int device_attribute(gd_CUdevice_attribute attribute);

/* Launches in `stream` and waits for it. */
void run(gd_CUfunction function, unsigned grid, unsigned block, void **parameters);
void run_two(gd_CUfunction function, unsigned grid, unsigned block, gd_CUdeviceptr in,
             gd_CUdeviceptr out);

/* Numbers that do not repeat soon; the same in each run. */
uint64_t next_random(uint64_t *state);

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

#define PTX_HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"

/* ---- what is counted, over all cases ---- */

uint32_t calls_good(entry_id id);
uint32_t calls_bad(entry_id id);
bool is_instruction_seen(int op);
void report_differences(void);

/* ---- one suite a file ---- */

Suite *device_suite(void);
Suite *devices_suite(void);
Suite *module_suite(void);
Suite *memory_suite(void);
Suite *stream_suite(void);
Suite *launch_suite(void);
Suite *graph_suite(void);
Suite *conditional_suite(void);
Suite *capture_suite(void);
Suite *dependent_suite(void);
Suite *arithmetic_suite(void);
Suite *instruction_suite(void);
Suite *copy_suite(void);
Suite *tensor_suite(void);
Suite *green_suite(void);
Suite *coverage_suite(void);

#endif
