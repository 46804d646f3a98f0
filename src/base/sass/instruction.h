/* Machine code of sm_90 to sm_12x: instructions of 128 bits, of which the low 12 bits are the
 * opcode and the next four the predicate. The encodings were found by assembling kernels. */
#ifndef GD_BASE_SASS_INSTRUCTION_H
#define GD_BASE_SASS_INSTRUCTION_H

#include <endian.h>

#include "base/view.h"

enum {
    GD_SASS_BYTES = 16,
    GD_SASS_ALWAYS = 7,  /* the predicate that is always true */
    GD_SASS_KIND = 0x1ff /* of the opcode: what it is, without the form of its operands */
};

/* Control flow has opcodes of its own: all others go on with the next instruction, or end the grid
 * with an error. */
enum {
    GD_SASS_CONTROL = 0x140, /* of the low 9 bits, to 0x15f */
    GD_SASS_PREEXIT = 0x82d,
    GD_SASS_ACQBULK = 0x82e,
    GD_SASS_BSYNC = 0x941,
    GD_SASS_BREAK = 0x942,
    GD_SASS_CALL_ABSOLUTE = 0x343,
    GD_SASS_CALL_FAR = 0x943,
    GD_SASS_CALL = 0x944,
    GD_SASS_BSSY = 0x945,
    GD_SASS_YIELD = 0x946,
    GD_SASS_BRA = 0x947,
    GD_SASS_BRA_UNIFORM = 0x547,
    GD_SASS_WARPSYNC = 0x948,
    GD_SASS_WARPSYNC_REGISTER = 0x348,
    GD_SASS_EXIT = 0x94d,
    GD_SASS_LEPC = 0x34e,
    GD_SASS_LEPC_UNIFORM = 0x94e,
    GD_SASS_RET = 0x950,
    GD_SASS_KILL = 0x95b,
    GD_SASS_TRAP = 0x95c,
    GD_SASS_NANOSLEEP = 0x95d,
    GD_SASS_NANOSLEEP_REGISTER = 0x35d
};

typedef struct gd_sass {
    uint64_t low, high;
} gd_sass;

/* Zeros behind the end. */
static inline gd_sass gd_sass_at(gd_view code, uint64_t index)
{
    gd_sass made = {0, 0};

    gd_view_copy(code, index * GD_SASS_BYTES, &made, sizeof made);
    return (gd_sass){le64toh(made.low), le64toh(made.high)};
}

static inline uint32_t gd_sass_opcode(gd_sass of)
{
    return of.low & 0xfff;
}

/* Up to 8 bits that do not cross the middle. */
static inline uint32_t gd_sass_bits(gd_sass of, uint32_t first, uint32_t count)
{
    const uint64_t half = first < 64 ? of.low >> first : of.high >> (first - 64);

    return (uint32_t)(half & ((1u << count) - 1));
}

#endif
