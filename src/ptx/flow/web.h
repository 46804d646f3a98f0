/* Webs: a register that is written several times for different purposes is as many values.
 * Definitions and uses that reach each other form a web; those that do not get numbers of their
 * own. Hand-written PTX reuses its registers, and an answer for a register as a whole would mix
 * what has nothing to do with each other. */
#ifndef GD_PTX_FLOW_WEB_H
#define GD_PTX_FLOW_WEB_H

#include <stdbool.h>
#include <stdint.h>

#include "ptx/flow/flow.h"

typedef enum gd_web_role {
    GD_WEB_NONE, /* no register of the function */
    GD_WEB_USE,
    GD_WEB_DEFINITION, /* of all of the register, whenever the instruction is reached */
    GD_WEB_PARTIAL /* under a guard, of a part, or of nobody knows what: the old value lives on in
                    * it */
} gd_web_role;

typedef struct gd_webs {
    const gd_flow *flow;
    uint32_t first_operand;
    uint32_t operand_count;
    const uint8_t *roles; /* gd_web_role, by operand from first_operand on */
    uint32_t *
        value_of; /* in: a number for each register that occurs; out: for each web. GD_PTX_NONE
                           where the role is NONE */
    uint32_t value_count;
} gd_webs;

/* Splits. The work is bounded (GD_PTX_LIMIT_WEB_STEPS); registers beyond the bound stay whole,
 * which is safe. false: no memory. */
bool gd_webs_split(gd_webs *webs);

#endif
