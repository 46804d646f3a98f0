/* What --constant names: parameters whose data no prerequisite writes. Sees to it that each name is
 * a parameter of some entry that was looked at. */
#ifndef GD_CLI_CONSTANTLIST_H
#define GD_CLI_CONSTANTLIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "griddep.h"

#include "cli/io/options.h"

typedef struct gd_constantlist {
    const gd_option_list *given; /* "weight", or "entry.weight" */
    bool *found;
    char **names; /* parameters seen, for suggestions */
    size_t name_count;
} gd_constantlist;

gd_constantlist gd_constantlist_begin(const gd_option_list *given);

/* Looks the names up in the module's entries, or in the one entry of that name. */
void gd_constantlist_look(gd_constantlist *constants, const griddep_ptx *ptx, const char *entry);

/* Returns 0, or GD_EXIT_USAGE after a message about the first name that was not found. */
int gd_constantlist_check(const gd_constantlist *constants);

void gd_constantlist_free(gd_constantlist *constants);

#endif
