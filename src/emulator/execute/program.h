/* A PTX module made ready for execution: its variables placed in device memory, and for each entry
 * an image, which is the entry and every function that it may call as one array of executable
 * operations. */
#ifndef GD_EMULATOR_EXECUTE_PROGRAM_H
#define GD_EMULATOR_EXECUTE_PROGRAM_H

#include "emulator/execute/execute.h"
#include "emulator/machine/machine.h"

/* A function within an image. */
typedef struct gd_routine {
    uint32_t function; /* of the module */
    uint32_t start;    /* its first operation */
    uint32_t frame;    /* bytes of registers of a warp */
    uint32_t local;    /* bytes of local memory of a thread: variables, parameters and arguments */
} gd_routine;

/* A variable in shared memory, static or (without bytes) dynamic. */
typedef struct gd_shared_variable {
    uint32_t symbol, start;
    uint64_t bytes;
} gd_shared_variable;

typedef struct gd_image {
    gd_entry entry; /* first: an entry is handed out as a pointer to it */
    gd_code *code;
    uint32_t code_count, code_capacity;
    gd_routine *routines; /* [0] is the entry */
    uint32_t routine_count, routine_capacity;
    uint32_t *list; /* slots and copies that do not fit into an operation */
    uint32_t list_count, list_capacity;
    unsigned char
        *constants; /* lanes of each constant, GD_LANE_BYTES times their number of words */
    uint32_t constant_bytes, constant_capacity;
    uint32_t *constant_table; /* hash table of slots in `constants`, plus 1 */
    uint32_t constant_table_count, constant_count;
    gd_shared_variable *shared;
    uint32_t shared_count;
    uint32_t frame_bytes; /* of the deepest chain of calls */
    uint32_t depth;       /* calls inside one another, at most */
    uint32_t *sites;      /* by operation, for reports; NULL until one is asked for */
    uint16_t *roots;      /* by instruction of the entry (extent.c); NULL likewise */
    gd_program_error refusal;
} gd_image;

/* The symbols that belong to a function. */
typedef struct gd_symbol_span {
    uint32_t first, end;
} gd_symbol_span;

struct gd_program {
    const gd_ptx_module *module;
    gd_memory *memory;
    const gd_owner *owner;     /* of its variables */
    gd_allocation **variables; /* by symbol; NULL for what is no module variable */
    uint32_t *definitions;     /* by name; GD_PTX_NONE for what is no module variable */
    gd_symbol_span *spans;     /* by function */
    bool *addressed;           /* by function: an initial value holds its address */
    gd_arena names;            /* of variables */
    gd_image *images;          /* in the order of module->entries */
    uint32_t number;           /* of the module, for reports */
    struct gd_requires *terms; /* of the head comment, by entry; NULL until one is asked for */
};

/* The variable of shared memory that an address lies in; NULL. */
const gd_shared_variable *gd_shared_find(const gd_image *image, uint64_t address);

/* "full" for its start, else "ring+16 (0x410)", "at 0x410". */
void gd_shared_name(const gd_image *image, uint64_t address, char *text, size_t bytes);

/* Addresses of functions, as mov gives them and an indirect call takes them. */
#define GD_FUNCTION_WINDOW UINT64_C(0x400000000)

/* An entry's parameters in the generic address space. */
#define GD_PARAMETER_WINDOW UINT64_C(0x300000000)

/* How many 32-bit registers a thread would use: the most that are in use at a time, taken from the
 * first to the last mention of each and through the loops around it, and some more. */
uint32_t gd_registers_estimate(const gd_ptx_module *module, const gd_ptx_function *function);

enum {
    GD_SHARED_START =
        1024,          /* shared memory below it belongs to the system (compute capability 9.0) */
    GD_CALL_DEPTH = 64 /* calls inside one another where functions call themselves */
};

#endif
