/* Special registers (PTX ISA 10). */
#ifndef GD_PTX_ISA_SPECIAL_H
#define GD_PTX_ISA_SPECIAL_H

#include "ptx/isa/form.h"

/* What the value differs between. */
typedef enum gd_special_varies {
    GD_VARIES_NOTHING,
    GD_VARIES_THREAD,
    GD_VARIES_BLOCK,
    GD_VARIES_TIME,
    GD_VARIES_SHARED /* an address of shared memory */
} gd_special_varies;

typedef struct gd_special_register {
    const char *name;
    uint8_t bytes;  /* of it */
    uint8_t count;  /* a number below it follows; 0: none does */
    uint8_t type;   /* GD_TYPE_U32, GD_TYPE_U64 or GD_TYPE_PRED */
    uint8_t parts;  /* 4: .x to .w; 1 */
    uint8_t varies; /* gd_special_varies */
    gd_need need;
} gd_special_register;

/* The register with a name that begins with %; NULL: it is none. */
const gd_special_register *gd_special_find(const char *name, uint32_t length);

/* That at a place; NULL: no more. */
const gd_special_register *gd_special_at(uint32_t index);

#endif
