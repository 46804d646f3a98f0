/* The names of a text, each once, with a small number. While a text is parsed, a name also knows
 * what it stands for at that place; afterwards, what it stands for at module scope. */
#ifndef GD_PTX_TEXT_NAME_H
#define GD_PTX_TEXT_NAME_H

#include <stdbool.h>
#include <stdint.h>

/* "None" of every 32-bit index of the PTX front end. */
#define GD_PTX_NONE UINT32_MAX

typedef struct gd_ptx_name {
    uint32_t offset; /* of one occurrence in the text */
    uint32_t length;
    uint32_t hash;
    uint32_t prefix; /* the name without its trailing digits, GD_PTX_NONE when it has none */
    uint32_t number; /* those digits' value */
    uint32_t symbol; /* the declaration of exactly this name that is in force */
    uint32_t range;  /* the declaration `name<N>` that is in force */
    uint32_t single; /* the last symbol with this name and a number behind it: name7 */
    uint16_t op;     /* gd_op of this word */
    uint16_t word;   /* index of this word in keywords.def, types after them */
} gd_ptx_name;

enum { GD_PTX_NOT_LOOKED_UP = 0xffff };

typedef struct gd_ptx_name_slot {
    uint32_t hash;
    uint32_t name; /* index plus 1; 0: empty */
} gd_ptx_name_slot;

typedef struct gd_ptx_names {
    gd_ptx_name *list;
    uint32_t count;
    uint32_t capacity;
    gd_ptx_name_slot *slots;
    uint32_t slot_count; /* a power of two, or 0 */
} gd_ptx_names;

/* All zero is an empty list. */

/* The number of the name at `offset` of the text, which is padded (GD_PTX_TEXT_PADDING);
 * GD_PTX_NONE: no memory. */
uint32_t gd_ptx_name_intern(gd_ptx_names *names, const char *text, uint32_t offset,
                            uint32_t length);

/* The number of a name that need not stand in the text; GD_PTX_NONE when the text has no such
 * name. */
uint32_t gd_ptx_name_find(const gd_ptx_names *names, const char *text, const char *name,
                          uint32_t length);

void gd_ptx_names_free(gd_ptx_names *names);

#endif
