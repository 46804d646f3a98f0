/* Whether an instruction's operands are those of a form (PTX ISA 6 and 9.4). */
#ifndef GD_PTX_ISA_OPERAND_H
#define GD_PTX_ISA_OPERAND_H

#include "ptx/isa/form.h"

/* What is wrong with an instruction's operands. */
typedef enum gd_operand_lack {
    GD_LACKS_NOTHING,
    GD_LACKS_FRACTION, /* an integer constant stands for a number of `bytes` bytes */
    GD_LACKS_BRACKETS, /* a register or name stands for an address */
    GD_LACKS_WIDTH     /* a register of 32 bits holds an address of 64 */
} gd_operand_lack;

typedef struct gd_operand_fault {
    uint32_t token;
    gd_operand_lack lacks;
    uint8_t bytes;
    uint32_t position; /* of the operand, from 1; the more the further the form fits */
    char text[188]; /* "operand 2 is %u2, a register of type .u32; one of .f32 or .b32 is expected";
                * empty: nothing */
} gd_operand_fault;

/* Fits the operands to the roles of *match. `fault` may be NULL: then no words are made. */
bool gd_operands_fit(const gd_ptx_module *module, const gd_ptx_instruction *instruction,
                     const gd_form_match *match, gd_operand_fault *fault);

#endif
