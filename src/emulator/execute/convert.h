/* Conversions between any two of the fundamental types, and the small floating-point formats. */
#ifndef GD_EMULATOR_EXECUTE_CONVERT_H
#define GD_EMULATOR_EXECUTE_CONVERT_H

#include "emulator/execute/execute.h"

/* Beyond the flags of execute/math.h: the result is integral, by the rounding of the flags. */
enum { GD_INTEGRAL = 1024 };

/* The value of an e4m3 or e5m2 byte. */
float gd_from_fp8(uint32_t byte, bool e5m2);

gd_run
    gd_run_convert; /* x: type of d, y: type of a; bytes: of a's lanes, count: of d's lanes, kind:
                     * of d's register; flags */
gd_run gd_run_tf32; /* d = a rounded to tf32 by the flags */
gd_run
    gd_run_to_fp8; /* d = two bytes: a above, b below, both f32; x: e5m2; kind: a holds both as
                    * f16x2 */
gd_run gd_run_from_fp8; /* d = f16x2 from the two bytes of a; x: e5m2 */
gd_run
    gd_run_saturate_pack; /* cvt.pack: x: bits of each value, flags: they are signed; y: c is
                           * shifted in */

#endif
