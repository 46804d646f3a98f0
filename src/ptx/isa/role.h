/* The operands that a form has: their roles, and the types of their values. */
#ifndef GD_PTX_ISA_ROLE_H
#define GD_PTX_ISA_ROLE_H

#include "ptx/isa/form.h"

typedef enum gd_value_class {
    GD_CLASS_INTEGER,
    GD_CLASS_FLOAT,
    GD_CLASS_BITS,
    GD_CLASS_PREDICATE,
    GD_CLASS_OPAQUE
} gd_value_class;

/* The class of each gd_ptx_type. */
extern const uint8_t gd_value_classes[GD_TYPE_COUNT];

gd_value_type gd_value_type_read(const char *name, size_t length);

/* Reads the operands of a form whose modifiers fit: the roles of *match. */
void gd_roles_read(gd_form_match *match);

bool gd_role_is_destination(const gd_form_role *role);

/* Whether registers may be wider than the role's type. */
bool gd_role_is_wider(const gd_form_role *role);

/* Whether registers of a declared type serve. */
bool gd_role_serves(const gd_form_role *role, uint8_t declared);

/* Whether an integer constant is one that the role has; true of any other operand. */
bool gd_role_has(const gd_form_role *role, const gd_ptx_module *module,
                 const gd_ptx_operand *constant);

/* Whether a constant of any kind is a value of the role. */
bool gd_role_takes_constant(const gd_form_role *role, const gd_ptx_module *module,
                            const gd_ptx_operand *constant);

#endif
