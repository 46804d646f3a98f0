/* What the fake driver knows of code: entries, parameters and variables, read from PTX text by a
 * small scanner, and a "cubin" that is that text behind a header. Nothing of the project's own PTX
 * front end is used, so that the two can disagree. */
#ifndef FAKE_IMAGE_H
#define FAKE_IMAGE_H

#include <stddef.h>

typedef struct fake_parameter {
    size_t offset;
    size_t bytes;
} fake_parameter;

typedef struct fake_entry {
    char *name;
    fake_parameter *parameters;
    size_t parameter_count;
    size_t parameter_bytes;     /* without padding behind the last */
    size_t shared_bytes;        /* declared in the body or at module scope */
    unsigned required_block[3]; /* .reqntid, 0 where not given */
    unsigned maximum_block[3];  /* .maxntid, 0 where not given */
} fake_entry;

typedef struct fake_variable {
    char *name;
    size_t bytes;
} fake_variable;

typedef struct fake_image {
    fake_entry *entries;
    size_t entry_count;
    fake_variable *variables; /* .global and .const at module scope; initializers are not read */
    size_t variable_count;
    size_t shared_bytes; /* at module scope */
    int version;         /* of .version: 10 * major + minor */
    int target;          /* of .target: 90 for sm_90 */
    int target_specific; /* 1 for sm_90a: code for that capability alone */
    int registers;       /* of the comment "// fake-registers: N", else 32 */
    int error_line;      /* of the comment "// fake-jit-error: LINE MESSAGE", else 0 */
    char *error;         /* its message */
    int more_parameters; /* of the comment "// fake-more-parameters: N", else 0 */
    char *remark;        /* of the comment "// fake-jit-info: MESSAGE", else NULL */
} fake_image;

/* Reads `bytes` bytes of PTX (a zero byte at the end may be counted). Text without a .version gives
 * version 0. */
void fake_image_read(fake_image *image, const char *text, size_t bytes);

void fake_image_free(fake_image *image);

/* Makes a cubin of PTX for a capability; the caller frees it. */
void *fake_cubin_make(const char *text, size_t text_bytes, int capability, size_t *bytes);

/* The PTX and the capability that a cubin was made of. NULL where the image is no such cubin, or a
 * damaged one. */
const char *fake_cubin_read(const void *image, size_t *text_bytes, int *capability);

/* Allocates, or ends the process with a message: a test cannot go on without memory. */
void *fake_allocate(size_t bytes);
void *fake_grow(void *memory, size_t bytes);
char *fake_copy(const char *text, size_t bytes);

#endif
