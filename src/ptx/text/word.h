/* The words that begin, or stand in, a directive: keywords.def, and the types behind them. */
#ifndef GD_PTX_TEXT_WORD_H
#define GD_PTX_TEXT_WORD_H

#include <stdint.h>

#include "ptx/text/module.h"

typedef enum gd_word_class {
    GD_WORD_NONE,
    GD_WORD_VERSION,
    GD_WORD_TARGET,
    GD_WORD_ADDRESS_SIZE,
    GD_WORD_ENTRY,
    GD_WORD_FUNC,
    GD_WORD_ALIAS,
    GD_WORD_FILE,
    GD_WORD_LOC,
    GD_WORD_SECTION,
    GD_WORD_PRAGMA,
    GD_WORD_TARGETS,
    GD_WORD_PROTOTYPE,
    GD_WORD_LINK,
    GD_WORD_SPACE,
    GD_WORD_ALIGN,
    GD_WORD_PTR,
    GD_WORD_ATTRIBUTE,
    GD_WORD_VECTOR,
    GD_WORD_PERFORMANCE,
    GD_WORD_FLAG,
    GD_WORD_TYPE
} gd_word_class;

/* A word that begins, or stands in, a directive. */
typedef struct gd_word {
    const char *text;
    uint8_t length;
    uint8_t class; /* gd_word_class */
    uint8_t value; /* GD_SPACE_*, GD_LINK_*, ... */
} gd_word;

/* The number of the word of that text, without its dot; 0: there is none. */
uint16_t gd_word_index(const char *text, uint32_t length);

/* The word of that text, without its dot; one of class GD_WORD_NONE when there is none. */
const gd_word *gd_word_find(const char *text, uint32_t length);

/* The state space that a modifier names, without its dot, with or without a qualification
 * (shared::cta); GD_SPACE_NONE: it names none that addresses lie in. */
gd_ptx_space gd_space_of_modifier(const char *text, uint32_t length);

/* The word with this number, from 1; one of class GD_WORD_NONE: no more. */
const gd_word *gd_word_at(uint32_t index);

#endif
