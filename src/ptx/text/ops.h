/* What is known of each PTX instruction (ops.def). */
#ifndef GD_PTX_TEXT_OPS_H
#define GD_PTX_TEXT_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum gd_op {
    GD_OP_UNKNOWN = 0, /* not in the table: it may do anything */
#define GD_OP(identifier, name, control, memory, sync) GD_OP_##identifier,
#include "ptx/text/ops.def"
#undef GD_OP
    GD_OP_COUNT
} gd_op;

typedef enum gd_op_control {
    GD_CONTROL_NONE,
    GD_CONTROL_BRANCH,
    GD_CONTROL_BRANCH_INDIRECT,
    GD_CONTROL_CALL,
    GD_CONTROL_RETURN,
    GD_CONTROL_EXIT,
    GD_CONTROL_TRAP,
    GD_CONTROL_BARRIER,
    GD_CONTROL_GRIDDEP,
    GD_CONTROL_UNKNOWN
} gd_op_control;

typedef enum gd_op_memory {
    GD_MEMORY_NONE,
    GD_MEMORY_READ,
    GD_MEMORY_WRITE,
    GD_MEMORY_READ_WRITE,
    GD_MEMORY_FENCE,
    GD_MEMORY_ASYNC,
    GD_MEMORY_SHARED,
    GD_MEMORY_UNKNOWN
} gd_op_memory;

typedef enum gd_op_sync {
    GD_OP_SYNC_NONE,
    GD_OP_SYNC_WARP,
    GD_OP_SYNC_CTA,
    GD_OP_SYNC_CTA_RED,
    GD_OP_SYNC_CTA_ARRIVE,
    GD_OP_SYNC_CLUSTER_ARRIVE,
    GD_OP_SYNC_CLUSTER_WAIT,
    GD_OP_SYNC_MBARRIER_ARRIVE,
    GD_OP_SYNC_MBARRIER_WAIT,
    GD_OP_SYNC_COPY_ARRIVE,
    GD_OP_SYNC_COPY,
    GD_OP_SYNC_FLAG
} gd_op_sync;

typedef struct gd_op_info {
    const char *name; /* "" for GD_OP_UNKNOWN */
    uint8_t length;   /* of the name */
    uint8_t control;  /* gd_op_control */
    uint8_t memory;   /* gd_op_memory */
    uint8_t sync;     /* gd_op_sync */
} gd_op_info;

/* Indexed with gd_op. */
extern const gd_op_info gd_ops[GD_OP_COUNT];

/* The operation of that exact name, which has no dots or those of the table; GD_OP_UNKNOWN when
 * there is none. */
gd_op gd_op_find(const char *name, size_t length);

/* Whether the table has operations that begin with this one's name and a dot. */
bool gd_op_is_family(gd_op base);

/* Whether a name begins with another one and a dot. */
bool gd_op_is_member(gd_op member, gd_op family);

/* The operation with the longest name that begins an instruction: `base` is what gd_op_find gave
 * for the opcode, `modifiers` are those that follow it, dots included and nothing between them. */
gd_op gd_op_refine(gd_op base, const char *modifiers, size_t length);

#endif
