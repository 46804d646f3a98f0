/* What a module's functions do about programmatic dependent launch: GRIDDEP_TRAIT_* in each
 * function's `traits`; and, where one does not wait on every path, a path on which it does not. */
#ifndef GD_PTX_FLOW_TRAITS_H
#define GD_PTX_FLOW_TRAITS_H

#include <stdbool.h>

#include "base/text.h"
#include "ptx/text/module.h"

/* Fills `traits` of all functions with a body, in time linear in the module. WAITS_ALWAYS holds
 * when no path from the function's start to its end, to a ret or to an exit avoids an unpredicated
 * griddepcontrol.wait, and there is one. The rules:
 *
 *   - A predicated branch, ret, exit or call takes both ways; a predicated wait is no wait. A trap
 *     ends the grid with
 * an error, so it is no exit.
 *   - A call goes on behind itself if some path through a function that it may reach returns
 *     without a wait, and exits
 * if some path through one does. A call by name reaches that function, a call with .calltargets
 * those of its list. Recursion is a least fixed point: a path must end somewhere.
 *   - Code that cannot be looked into may return without a wait, and may exit: a function without a
 *     body here, and any
 * call through a register without .calltargets, since an address may come from another module. With
 * .noreturn it does not return. The device runtime's printf, allocator and assertion return or end
 * the grid with an error. So does nothing else: a kernel that must call unknown code waits before
 * it does.
 *   - A .noreturn function that comes to its end all the same exits there.
 *   - brx.idx goes to each label of its .branchtargets.
 *   - A branch whose target is not known, and an instruction that ops.def does not know, may exit.
 *
 * false: no memory. */
bool gd_ptx_traits_compute(gd_ptx_module *module);

/* The same search, kept to be asked for paths. */
typedef struct gd_dry_search gd_dry_search;

gd_dry_search *gd_dry_search_create(const gd_ptx_module *module); /* NULL: no memory */
void gd_dry_search_destroy(gd_dry_search *search);

/* How a path goes on from one instruction of it to the next, or ends. */
typedef enum gd_dry_turn {
    GD_DRY_NEXT, /* to the instruction behind it; a call has returned, or its predicate was false */
    GD_DRY_BRANCH,  /* to a label, or to wherever an unknown target is */
    GD_DRY_ENTER,   /* into a function that it calls and from which the path does not come back */
    GD_DRY_RETURN,  /* ends: ret, or the end of the body */
    GD_DRY_EXIT,    /* ends: exit, or an instruction that is not known */
    GD_DRY_UNKNOWN, /* ends: calls code that cannot be looked into */
} gd_dry_turn;

typedef struct gd_dry_step {
    uint32_t instruction; /* GD_PTX_NONE: the function has none */
    gd_dry_turn turn;
    uint32_t function; /* ENTER: the function */
} gd_dry_step;

typedef struct gd_dry_path {
    gd_dry_step *steps;
    uint32_t count; /* 0: none, each path waits or ends with an error, or none ends */
} gd_dry_path;

/* A path from a function's first instruction out of the kernel (an .entry's ret counts, a .func's
 * if `returns`) on which nothing has waited. Calls that return are one step. All zero is an empty
 * path. false: no memory. */
bool gd_dry_search_path(const gd_dry_search *search, uint32_t function, bool returns,
                        gd_dry_path *path);

/* Such a path that ends with a certain instruction of the function, a ret, an exit, a call or the
 * last one; none where no path on which nothing has waited comes there. */
bool gd_dry_search_path_to(const gd_dry_search *search, uint32_t instruction, gd_dry_path *path);
void gd_dry_path_free(gd_dry_path *path);

/* Appends a path in words: "line 14 branches past the wait of line 20 to line 30, line 31
 * leaves". */
void gd_dry_path_describe(const gd_dry_path *path, const gd_ptx_module *module, gd_text *text);

/* The same for a function that has a wait and misses it on some path; nothing for any other. false:
 * no memory. */
bool gd_dry_search_describe(const gd_dry_search *search, uint32_t function, gd_text *text);

#endif
