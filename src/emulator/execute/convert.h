/* Conversions between any two of the fundamental types, and the small floating-point formats. */
#ifndef GD_EMULATOR_EXECUTE_CONVERT_H
#define GD_EMULATOR_EXECUTE_CONVERT_H

#include "emulator/execute/execute.h"

/* Beyond the flags of execute/math.h: the result is integral, by the rounding of the flags. */
enum { GD_INTEGRAL = 1024 };

/* In x: of fp8, which format, and that a holds both values as f16x2. */
enum { GD_FP8_E5M2 = 1, GD_FP8_HALVES = 2 };
/* Flags of cvt.pack: values are signed, c is shifted in. */
enum { GD_PACK_SIGNED = 1, GD_PACK_SHIFTS = 2 };

gd_run gd_run_convert; /* kind: type of d, y: type of a; count, bytes: of their registers; flags */
gd_run gd_run_convert_pair;  /* d = two halves (kind): a above, b below, both f32; flags */
gd_run gd_run_tf32;          /* d = a rounded to tf32 by the flags */
gd_run gd_run_to_fp8;        /* d = two bytes: a above, b below, both f32; x */
gd_run gd_run_from_fp8;      /* d = f16x2 from the two bytes of a; x */
gd_run gd_run_saturate_pack; /* cvt.pack: x: bits of each value */

#endif
