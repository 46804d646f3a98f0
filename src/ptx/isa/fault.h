/* The words for an operand that does not fit. */
#ifndef GD_PTX_ISA_FAULT_H
#define GD_PTX_ISA_FAULT_H

#include "ptx/isa/operand.h"
#include "ptx/isa/role.h"

/* An instruction's operands held against a form's roles. */
typedef struct gd_fitting {
    const gd_ptx_module *module;
    const gd_ptx_instruction *instruction;
    const gd_form_match *match;
    gd_operand_fault *fault; /* NULL: no words are made */
    uint32_t position;       /* of the operand, from 1 */
    uint32_t addresses;      /* operands that are addresses so far */
    uint32_t function;
} gd_fitting;

/* Each returns false. The second begins with "operand N ". */
bool gd_fault_at(const gd_fitting *fit, uint32_t token, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool gd_fault_of(const gd_fitting *fit, const gd_ptx_operand *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool gd_fault_no_address(const gd_fitting *fit, const gd_ptx_operand *address);
bool gd_fault_expected(const gd_fitting *fit, const gd_ptx_operand *operand,
                       const gd_form_role *role);

#endif
