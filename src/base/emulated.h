/* What the emulated driver's linker makes: an ELF file that a cubin's reader takes for a whole one,
 * whose first section has PTX behind a head. */
#ifndef GD_BASE_EMULATED_H
#define GD_BASE_EMULATED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/view.h"

enum { GD_EMULATED_DIGEST = 32 };

typedef struct gd_emulated_head {
    char magic[16];
    uint64_t bytes;
    uint8_t digest[GD_EMULATED_DIGEST]; /* of the text and the driver's version */
} gd_emulated_head;

extern const char gd_emulated_magic[16];

/* The text of such an image, with a zero byte behind it, and its head; false: it is none, or
 * damaged. The digest is not looked at. */
bool gd_emulated_text(gd_view image, gd_emulated_head *head, gd_view *text);

#endif
