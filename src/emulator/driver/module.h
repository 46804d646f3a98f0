/* Modules, functions, libraries and kernels of libraries; what a launch needs of them. */
#ifndef GD_EMULATOR_DRIVER_MODULE_H
#define GD_EMULATOR_DRIVER_MODULE_H

#include "base/view.h"
#include "emulator/api.h"
#include "emulator/schedule/device.h"
#include "emulator/schedule/work.h"
#include "emulator/machine/machine.h"
#include "ptx/handle/ptx.h"

typedef struct gd_module gd_module;

typedef struct gd_function {
    gd_object object;
    gd_module *module;
    const gd_entry *entry;
    int dynamic_shared, carveout, non_portable_cluster;
    uint32_t cluster[3];      /* .reqnctapercluster; 0: not given */
    bool blocks_are_clusters; /* the grid of a launch counts clusters */
} gd_function;

struct gd_module {
    gd_object object;
    griddep_ptx *ptx;
    gd_program *program;
    gd_function *functions; /* in the order of the text */
    uint32_t function_count;
    struct gd_library *library; /* that it was loaded for; NULL */
};

/* JIT options of one call: where logs go. */
typedef struct gd_jit_log {
    char *buffer;
    size_t capacity, used;
    void **size_value; /* where the driver tells how much it wrote */
    char *first;       /* its first line goes here too, room for 512 bytes; NULL */
} gd_jit_log;

typedef struct gd_jit {
    gd_jit_log info, errors;
    const gd_profile *chip; /* that the code is for */
    bool verbose;
    char reason[512]; /* the first error, for cuGetErrorString */
} gd_jit;

/* What may be left open: a part of what is linked calls what others define; a linked whole has all
 * that it names; in a module of one text an .extern variable is the text's own. */
typedef enum gd_jit_kind { GD_JIT_WHOLE, GD_JIT_PART, GD_JIT_LINKED } gd_jit_kind;

/* jit.c */
gd_CUresult gd_jit_read(gd_jit *jit, const gd_profile *chip, unsigned count,
                        const gd_CUjit_option *options, void **values);
void gd_jit_write(gd_jit_log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The end of a call with this result, which it returns. */
gd_CUresult gd_jit_close(gd_jit *jit, gd_CUresult result);

/* An image, PTX text or the emulator's own format, becomes parsed PTX that the chip can run. */
gd_CUresult gd_jit_parse(gd_jit *jit, const void *image, griddep_ptx **ptx);

/* The same of PTX text of known length. */
gd_CUresult gd_jit_parse_text(gd_jit *jit, const char *text, size_t bytes, gd_jit_kind kind,
                              griddep_ptx **ptx);

/* The PTX of a fatbin that the chip runs, to be freed. What is wrong goes to the log. */
gd_CUresult gd_jit_unpack(gd_jit *jit, gd_view fatbin, char **text, uint64_t *bytes);

/* PTX as an image in the emulator's own format, to be freed; NULL when memory runs out. */
void *gd_jit_make_image(uint32_t capability, const char *text, size_t bytes, size_t *image_bytes);

/* Makes a module of an image. */
gd_CUresult gd_module_create(gd_context *context, const void *image, gd_jit *jit,
                             gd_module **module);

/* Runs what may still use it, and ends it. */
void gd_module_destroy(gd_module *module);
void gd_module_discard(gd_module *module); /* without running */

/* The function behind a CUfunction, or behind a CUkernel in a context; NULL. */
gd_function *gd_function_find(gd_context *context, gd_CUfunction handle);
gd_function *gd_module_find_function(gd_module *module, const char *name);

/* Where a variable lies, of `managed` ones alone; either may be NULL. NOT_FOUND. */
gd_CUresult gd_module_tell(const gd_module *module, const char *name, bool managed,
                           gd_CUdeviceptr *address, size_t *bytes);

gd_CUresult gd_function_get_attribute(const gd_function *function,
                                      gd_CUfunction_attribute attribute, int *value);
gd_CUresult gd_function_set_attribute(gd_function *function, gd_CUfunction_attribute attribute,
                                      int value);

/* Threads that a CTA of it may have. */
uint32_t gd_function_threads(const gd_function *function);

/* library.c */
gd_function *gd_library_resolve(gd_context *context, gd_CUkernel handle);

/* Why that was NULL: a kernel's module is made for a context when it is first asked for, and memory
 * may run out. */
gd_CUresult gd_library_unresolved(gd_CUkernel handle);
void gd_library_forget_module(gd_module *module);

/* link.c */
void gd_link_destroy(gd_object *link);

/* launch.c: kernel work from a launch's arguments; the work's memory is the caller's. */
gd_CUresult gd_launch_prepare(gd_context *context, gd_part part, const gd_CUlaunchConfig *config,
                              gd_CUfunction handle, void **parameters, void **extra, gd_work *work);

/* Carries an attribute out on work whose arrays it leaves alone; a cluster of 0 means none but the
 * kernel's own. */
gd_CUresult gd_launch_attribute(gd_context *context, gd_kernel_work *kernel,
                                const gd_CUlaunchAttribute *attribute);

/* Checks that what a kernel node names is still there, and looks its entry up. */
gd_CUresult gd_launch_refresh(gd_context *context, gd_work *work);

void gd_library_destroy(gd_object *library);

#endif
