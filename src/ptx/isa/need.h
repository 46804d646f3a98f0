/* What the head of a text must say: versions of the PTX ISA, chips, and what words need of both. */
#ifndef GD_PTX_ISA_NEED_H
#define GD_PTX_ISA_NEED_H

#include <stdbool.h>
#include <stdint.h>

typedef struct gd_need {
    const char *word;
    uint8_t version; /* 10 * major + minor */
    uint8_t chip;    /* NN of sm_NN */
} gd_need;

/* What a word of a declaration or directive needs; NULL: nothing. */
const gd_need *gd_need_of_word(const char *word, uint32_t length);

/* The version that has a chip, "sm_90a"; 0: there is no such chip. */
int32_t gd_need_of_chip(const char *name, uint32_t length);

/* The chip with this number; NULL: no more. */
const char *gd_need_chip_at(uint32_t index);

/* Whether there is such a version, up to GD_FORMS_VERSION. */
bool gd_is_version(int32_t version);

#endif
