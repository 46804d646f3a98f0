#ifndef GD_PTX_ISA_VIDEO_H
#define GD_PTX_ISA_VIDEO_H

#include "ptx/isa/fault.h"

/* Whether a register, perhaps with a selector, fits a role of a video instruction. */
bool gd_video_fits(const gd_fitting *fit, const gd_ptx_operand *operand, const gd_form_role *role);

/* Whether the operands of vmad have the minus where it may be. */
bool gd_video_signs_fit(const gd_fitting *fit);

#endif
