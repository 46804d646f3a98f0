/* A launch of a plan as the library takes it, and whether the kernel's head comment allows it. */
#ifndef GD_CLI_PLANLAUNCH_H
#define GD_CLI_PLANLAUNCH_H

#include "cli/plan/plan.h"

/* The arguments, with the addresses that the plan's buffers have, and the tensor maps made of them,
 * one an argument; NULL: maps of nothing. To free, but not the maps. */
griddep_argument *gd_planlaunch_arguments(const gd_plan *plan, const gd_plan_launch *launch,
                                          const uint64_t *addresses,
                                          const griddep_tensor_map *maps);

/* `multiprocessors` is what stands for that word in a grid. */
griddep_launch_config gd_planlaunch_config(const gd_plan_launch *launch, int32_t pdl,
                                           uint32_t multiprocessors);

/* The launch's kernel, by its name in the module, which is told what the file vouches for. */
int32_t gd_planlaunch_kernel(const gd_plan_launch *launch, griddep_module *module, const char *name,
                             griddep_kernel **kernel, griddep_error *error);

/* Appends a copy or a fill to a chain; addresses NULL: made-up ones. */
int32_t gd_planlaunch_add_move(const gd_plan *plan, const gd_plan_launch *launch,
                               const uint64_t *addresses, griddep_chain *chain,
                               griddep_error *error);

/* A kernel's launch, which tells how far its arguments reach. */
typedef struct gd_planlaunch_made {
    const griddep_ptx *ptx; /* NULL: nothing but its tensor maps tells that */
    uint32_t entry;
    const griddep_launch_config *config;
    const griddep_argument *arguments;
} gd_planlaunch_made;

/* Says of the last launch of a chain, which is this one, what it waits for and what stands
 * behind its arguments: as far as the head comment or a tensor map tells, else perhaps all of the
 * buffer from there on. `made` is not looked at for copies and fills. */
int32_t gd_planlaunch_describe(const gd_plan *plan, const gd_plan_launch *launch,
                               const gd_planlaunch_made *made, griddep_chain *chain,
                               griddep_error *error);

/* Made-up addresses of the buffers, as well aligned as any allocation; to free. */
uint64_t *gd_planlaunch_made_up(const gd_plan *plan);

/* gd_planlaunch_describe of a launch with made-up addresses, by PTX (NULL: none) and the entry's
 * name. How far a launch reaches whose grid only a device tells is not known. */
int32_t gd_planlaunch_describe_early(const gd_plan *plan, const gd_plan_launch *launch,
                                     const griddep_ptx *ptx, const char *entry,
                                     const uint64_t *addresses, griddep_chain *chain,
                                     griddep_error *error);

/* Forces the launches of a chain that it holds back because the check finds a race: what looks for
 * races is to see them. Grids are the plan's, or in x those of `grids`, which may be NULL. */
int32_t gd_planlaunch_expose(const gd_plan *plan, uint32_t multiprocessors, const uint32_t *grids,
                             griddep_chain *chain, griddep_error *error);

/* The index of an entry in PTX; false: there is none of that name. */
bool gd_planlaunch_entry(const char *kernel, const griddep_ptx *ptx, uint32_t *entry);

/* Checks a launch against the kernel's conditions, and its buffers against what the kernel may
 * touch; both are told by the entry of the PTX. Returns 0, or GD_EXIT_USAGE after a message. */
int gd_planlaunch_check(const gd_plan *plan, const gd_plan_launch *launch, const griddep_ptx *ptx,
                        uint32_t entry, const griddep_launch_config *config,
                        const griddep_argument *arguments);

/* The same without a device, with made-up addresses; a launch whose grid only a device tells is
 * left for later. */
int gd_planlaunch_check_early(const gd_plan *plan, const gd_plan_launch *launch,
                              const griddep_ptx *ptx, uint32_t entry, const uint64_t *addresses);

#endif
