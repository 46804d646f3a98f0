/* Where an image of a module ends, which the driver is not told. */
#ifndef GD_ATTACH_IMAGE_H
#define GD_ATTACH_IMAGE_H

#include <stdint.h>

/* The image that the driver has just taken: where it begins (behind the wrapper of a fatbin) and
 * how long it is, a text with its zero byte. 0 bytes: of no kind that is known. */
const void *gd_image_measure(const void *image, uint64_t *bytes);

#endif
