/* Code that the command is given, as far as it can be known without a driver: what kind a file is,
 * and the parsed PTX of a plan's modules. */
#ifndef GD_CLI_MODULEFILE_H
#define GD_CLI_MODULEFILE_H

#include <stddef.h>
#include <stdint.h>

#include "griddep.h"

#include "cli/plan/plan.h"

typedef enum gd_modulefile_kind {
    GD_MODULEFILE_PTX,
    GD_MODULEFILE_CUBIN,
    GD_MODULEFILE_FATBIN,
    GD_MODULEFILE_CUDA,
    GD_MODULEFILE_HOST /* a program, a library or an object, which may have fatbins in it */
} gd_modulefile_kind;

/* Most bytes of a file with code that are read. */
extern const uint64_t gd_modulefile_largest;

/* By the name, then by the first bytes; what is nothing else is taken for PTX. */
gd_modulefile_kind gd_modulefile_recognize(const char *path, const char *data, size_t bytes);

/* "PTX", "a cubin", "a fatbin", "CUDA C++", "a program". Static. */
const char *gd_modulefile_kind_text(gd_modulefile_kind kind);

typedef struct gd_modulefile {
    gd_modulefile_kind kind;
    griddep_ptx *ptx; /* NULL where it is no PTX, or PTX with syntax errors; of a fatbin the newest
                       * PTX in it, of CUDA C++ what NVRTC makes of it for sm_90 or its options */
    char *made;       /* the text of that PTX, where it is NVRTC's */
    char *why;        /* CUDA C++ was not compiled: NVRTC or the emulated driver is not there */
    griddep_error *refusal; /* or NVRTC refuses it; NULL */
    const char *name;       /* of the text: a path, or the file of the shelf; borrowed */
    const char *text;       /* of PTX, whether it could be parsed or not; NULL for other kinds */
    size_t bytes;
    griddep_image *image; /* of a cubin that can be read; NULL */
    const gd_plan_module *module;
    char **entries; /* of CUDA C++: names in the PTX of the module's expressions; NULL */
    char *owned;    /* the text where it came from a file */
} gd_modulefile;

/* The modules of a plan, by their index. */
typedef struct gd_modulefile_list {
    gd_modulefile *items;
    uint32_t count;
} gd_modulefile_list;

/* The code of a launch; one of no kind, without PTX, for a copy or a fill. */
const gd_modulefile *gd_modulefile_of(const gd_modulefile_list *list, const gd_plan_launch *launch);

/* The launch's kernel by its name in the PTX; NVRTC makes that of a template's instance. */
const char *gd_modulefile_entry(const gd_modulefile *module, const gd_plan_launch *launch);

/* GRIDDEP_TRAIT_* of a launch whose code has no PTX: what the plan states, and what the machine
 * code tells. 0: nothing. */
uint32_t gd_modulefile_traits(const gd_modulefile_list *list, const gd_plan_launch *launch);

/* Reads and parses what there is. Returns 0, or an exit code after a message where a file cannot be
 * read; syntax errors are no failure, nor is CUDA C++ that does not compile. The list is to be
 * freed either way, before the plan. */
int gd_modulefile_load(const gd_plan *plan, gd_modulefile_list *list);
void gd_modulefile_free(gd_modulefile_list *list);

/* The text of parsed PTX, to free, and its length. */
int32_t gd_modulefile_print(const griddep_ptx *ptx, char **text, uint64_t *bytes,
                            griddep_error *error);

#endif
