/* Scalar video instructions (PTX ISA 9.7.20): parts of words as operands, saturation to a part, and
 * a second operation or a merge with a third operand. */
#ifndef GD_EMULATOR_EXECUTE_VIDEO_H
#define GD_EMULATOR_EXECUTE_VIDEO_H

#include "emulator/execute/execute.h"

typedef enum gd_video_op {
    GD_VIDEO_ADD,
    GD_VIDEO_SUB,
    GD_VIDEO_ABSDIFF,
    GD_VIDEO_MIN,
    GD_VIDEO_MAX,
    GD_VIDEO_SHL,
    GD_VIDEO_SHR,
    GD_VIDEO_SET,
    GD_VIDEO_MAD
} gd_video_op;

typedef enum gd_video_second {
    GD_SECOND_NONE,
    GD_SECOND_ADD,
    GD_SECOND_MIN,
    GD_SECOND_MAX
} gd_video_second;

/* The parts of a word: bytes, then halves. */
typedef enum gd_video_part {
    GD_PART_WORD,
    GD_PART_B0,
    GD_PART_B1,
    GD_PART_B2,
    GD_PART_B3,
    GD_PART_H0,
    GD_PART_H1
} gd_video_part;

typedef enum gd_video_compare {
    GD_VIDEO_EQ,
    GD_VIDEO_NE,
    GD_VIDEO_LT,
    GD_VIDEO_LE,
    GD_VIDEO_GT,
    GD_VIDEO_GE
} gd_video_compare;

/* What an instruction says, as the `value` of its operation. */
typedef union gd_video_form {
    struct {
        uint8_t op, second, compare, shift; /* shift: of vmad's result, 0, 7 or 15 */
        uint8_t part[3];                    /* of d, a, b */
        uint8_t flags;                      /* GD_VIDEO_* flags */
    } is;
    uint64_t value;
} gd_video_form;

enum {
    GD_VIDEO_SIGNED_D = 1,
    GD_VIDEO_SIGNED_A = 2,
    GD_VIDEO_SIGNED_B = 4,
    GD_VIDEO_SAT = 8,
    GD_VIDEO_WRAP = 16,
    GD_VIDEO_MINUS_PRODUCT = 32,
    GD_VIDEO_MINUS_C = 64,
    GD_VIDEO_PLUS_ONE = 128
};

gd_run gd_run_video; /* d, a, b, c */

#endif
