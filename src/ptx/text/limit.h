/* The limits of the PTX front end. Text beyond one of them is refused with a message that names it,
 * so that no text can exhaust the stack or overflow a 32-bit index. */
#ifndef GD_PTX_TEXT_LIMIT_H
#define GD_PTX_TEXT_LIMIT_H

enum {
    GD_PTX_LIMIT_BYTES = 1 << 30,        /* of a module's text */
    GD_PTX_LIMIT_TOKEN_BYTES = 0xffffff, /* of one token */
    GD_PTX_LIMIT_DEPTH = 256,            /* of nested scopes, and of nested operands and brackets */
    GD_PTX_LIMIT_MODIFIERS = 255,        /* of one instruction */
    GD_PTX_LIMIT_REGISTERS = 1 << 28,    /* that one function declares */
    GD_PTX_LIMIT_PARAMETER_BYTES = 1 << 20, /* of one function's packed parameters */
    GD_PTX_LIMIT_LISTED = 1 << 12,          /* names that name<N> stands for in a list */
    GD_PTX_LIMIT_DIAGNOSTICS = 20,          /* that are kept */
    GD_PTX_LIMIT_EDGES = 1 << 24,           /* of one function's control flow */
    GD_PTX_LIMIT_WEB_STEPS =
        1 << 24, /* taken to split one function's registers; the rest stay whole */
    GD_PTX_LIMIT_ORIGINS =
        32 /* parameters that one value may point into; with more it is unknown */
};

#endif
