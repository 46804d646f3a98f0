/* What the command shows of findings besides griddep.h: the verdicts of a check, and what the codes
 * mean. */
#ifndef GD_PTX_TEXT_OFFERED_H
#define GD_PTX_TEXT_OFFERED_H

#include <stdbool.h>
#include <stdint.h>

#include "griddep.h"

/* When an entry executes griddepcontrol.wait, by the traits that GRIDDEP_PDL_AUTO goes by. */
enum {
    GD_WAITS_UNKNOWN,   /* the text is no valid PTX */
    GD_WAITS_NEVER,     /* as kernels of compilers that know nothing of it */
    GD_WAITS_SOMETIMES, /* some path to an exit passes it by */
    GD_WAITS_ALWAYS
};

/* Whether a launch of it may begin while the kernel before it still runs. */
enum {
    GD_EARLY_UNKNOWN,     /* the text is no valid PTX */
    GD_EARLY_UNSAFE,      /* GRIDDEP_PDL_AUTO leaves the attribute off */
    GD_EARLY_CONDITIONAL, /* it may if `condition` is true of no kernel that still runs */
    GD_EARLY_SAFE
};

/* What a check says of one entry, in one line. */
typedef struct gd_verdict {
    bool is_valid;             /* valid PTX, as far as the check knows */
    const char *file;          /* the name that the text was given */
    const char *entry;         /* NULL: of the whole text, whose entries could not be read */
    const char *text;          /* "valid PTX; waits on every path (line 9); safe to launch early" */
    const char *condition;     /* "writes the data of weight"; "" unless CONDITIONAL */
    int32_t line, column;      /* of its name, from 1; 0: none */
    int32_t waits;             /* GD_WAITS_* */
    int32_t early;             /* GD_EARLY_* */
    const int32_t *wait_lines; /* of the waits that it comes to, in called functions too */
    const int32_t *trigger_lines; /* likewise; none: each block triggers when it ends */
    uint32_t wait_count, trigger_count;
} gd_verdict;

/* The verdicts of griddep_ptx_check, in the order of the text; griddep_chain_check has them only of
 * texts that are no valid PTX. They live as long as the findings. NULL past the last. */
const gd_verdict *gd_findings_verdict(const griddep_findings *findings, uint32_t index);

typedef struct gd_code_info {
    const char *name; /* "GD110" */
    int32_t severity; /* that it usually has */
    const char *title;
    const char *page; /* what it means, an example, what to do, as plain text */
} gd_code_info;

/* The codes that exist, in their order; and the one of a name, in upper or lower case. NULL past
 * the last, and for what is none. */
const gd_code_info *gd_code_at(uint32_t index);
const gd_code_info *gd_code_find(const char *name);

/* Whether a finding with this code tells of a race of its launch, sure or likely. GD207 tells the
 * other side of a GD205, at the launch before. */
bool gd_code_is_race(const char *name);

#endif
