/* From the instructions of a module to the operations of an image. A decode function understands
 * all of an instruction or refuses it by name: each modifier that it asks for counts as understood,
 * and what no one asked for is refused in the end. */
#ifndef GD_EMULATOR_DECODE_DECODE_H
#define GD_EMULATOR_DECODE_DECODE_H

#include "emulator/execute/atomic.h"
#include "emulator/execute/lanes.h"
#include "emulator/execute/math.h"
#include "emulator/execute/program.h"
#include "ptx/isa/spelling.h"
#include "ptx/text/constant.h"

typedef enum gd_modifier_id {
#define GD_MODIFIER(identifier, text) GD_MODIFIER_##identifier,
#define GD_IGNORED(text)
#include "emulator/decode/modifier.def"
#undef GD_MODIFIER
#undef GD_IGNORED
    GD_MODIFIER_COUNT
} gd_modifier_id;

enum { GD_MOST_OPERANDS = 12, GD_MOST_TYPES = 4, GD_MOST_SPACES = 2, GD_MOST_PARTS = 32 };

/* Scratch registers of a frame: of 4 GD_LANE_BYTES for decoders, then of 2 for computed sources. */
enum {
    GD_SCRATCH = 6,
    GD_SOURCE_SCRATCH = 8,
    GD_SCRATCH_BYTES = (4 * GD_SCRATCH + 2 * GD_SOURCE_SCRATCH) * GD_LANE_BYTES
};

typedef struct gd_regular gd_regular; /* a row of regular.def */

/* What is known of an instruction's modifiers; each spelling of a module is read once. */
typedef struct gd_reading {
    uint64_t present[4];
    uint8_t types[GD_MOST_TYPES], type_count;
    uint8_t spaces[GD_MOST_SPACES], space_count; /* gd_ptx_space; GD_SPACE_SHARED for variants */
    bool cluster_space[GD_MOST_SPACES];          /* .shared::cluster */
    uint32_t unknown;          /* number of a modifier that no table has; 0: none */
    const gd_regular *regular; /* NULL: it has a decoder of its own */
} gd_reading;

/* A register as it is laid out. */
typedef struct gd_register {
    uint32_t offset; /* in the frame */
    uint8_t bytes;   /* of its type; 0: predicate */
} gd_register;

/* A jump whose label may not have been reached yet. */
typedef struct gd_fixup {
    uint32_t code; /* the operation, or GD_PTX_NONE: */
    uint32_t list; /* the place in the image's list */
    uint32_t instruction;
} gd_fixup;

/* A call as the size of the stack depends on it. */
typedef struct gd_call_edge {
    uint32_t caller, callee; /* routines */
} gd_call_edge;

typedef struct gd_decoder {
    const gd_ptx_module *module;
    gd_program *program;
    gd_image *image;
    const gd_ptx_function *function;
    const gd_ptx_instruction *instruction;
    uint32_t operands[GD_MOST_OPERANDS],
        operand_count; /* those of the instruction at its outermost level */
    gd_spellings *spellings;
    const gd_reading *reading;
    const gd_form_match *form; /* that it fits; NULL for call, which has none */
    uint64_t used[4];          /* modifiers */
    uint8_t types_used, spaces_used;
    gd_slot guard;
    uint32_t guard_not;
    gd_register *registers;
    uint32_t *offsets;   /* by symbol: of a variable in shared or local memory */
    uint32_t shared_end; /* of static variables as they are laid out */
    uint32_t routine;
    gd_call_edge *calls;
    uint32_t call_count, call_capacity;
    uint32_t scratch; /* of the first scratch register */
    uint32_t sources; /* scratch registers that the instruction's sources have taken */
    /* Of vector registers, as operands that are numbered behind the module's. */
    gd_ptx_operand parts[GD_MOST_PARTS];
    uint32_t part_count;
    uint32_t *starts; /* by instruction of the function: its first operation */
    gd_fixup *fixups;
    uint32_t fixup_count, fixup_capacity;
    bool refused, out_of_memory;
} gd_decoder;

typedef bool gd_decode(gd_decoder *decoder);

/* ---- refusing (decode/refuse.c): all return false ---- */

/* The instruction's name and modifiers, and then the text: "NAME is not emulated". */
bool gd_decode_refuse_with(gd_decoder *decoder, const char *why);
/* "NAME: WHAT is not emulated". */
bool gd_decode_refuse(gd_decoder *decoder, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* "NAME in this form is not emulated". */
bool gd_decode_refuse_form(gd_decoder *decoder);
bool gd_decode_memory(gd_decoder *decoder);

/* ---- modifiers (decode/modifier.c) ---- */

/* Reads the modifiers and the operands of an instruction. */
bool gd_decode_read(gd_decoder *decoder, uint32_t instruction);
bool gd_has(gd_decoder *decoder, gd_modifier_id modifier);
/* The type modifier of that number, GD_TYPE_NONE when there are fewer. */
gd_ptx_type gd_type_at(gd_decoder *decoder, uint32_t index);
gd_ptx_space gd_space_at(gd_decoder *decoder, uint32_t index);
/* An operand in shared memory is in that of the cluster if the space modifier of that number says
 * so. */
void gd_widen_space(const gd_decoder *decoder, uint32_t index, gd_code *into);
/* Memory order and scope are understood, and nothing depends on them. */
void gd_ignore_order(gd_decoder *decoder);
/* How many operands there are without the cache policy, which no result depends on. */
uint32_t gd_own_operands(const gd_decoder *decoder);
/* GD_ORDER_* as the modifiers say; 0: weak, unless `always` strong. `otherwise` is the scope where
 * none is named. */
uint8_t gd_order(gd_decoder *decoder, bool always, gd_scope otherwise);
/* The atomic operation that the modifiers name; refuses where they name none. */
bool gd_find_atomic(gd_decoder *decoder, gd_atomic *operation);
/* Whether all has been asked for; refuses otherwise. */
bool gd_decode_end(gd_decoder *decoder);
/* GD_ROUND_* and GD_FTZ, GD_SAT, GD_RELU, GD_NAN as the modifiers say. */
uint32_t gd_float_flags(gd_decoder *decoder);

/* ---- operands (decode/operand.c) ---- */

uint32_t gd_bytes_of(gd_ptx_type type); /* 0 for a predicate */
bool gd_is_signed(gd_ptx_type type);
bool gd_is_float(gd_ptx_type type);

const gd_ptx_operand *gd_operand_at(const gd_decoder *decoder, uint32_t index);

/* A constant in all lanes; bytes 4, 8 or 16 (the upper half zero). */
bool gd_constant(gd_decoder *decoder, uint32_t bytes, uint64_t value, gd_slot *slot);
/* A scratch register of the frame. */
gd_slot gd_scratch(const gd_decoder *decoder, uint32_t index);
/* An operand (an index of the module's operands) read as a type, whose size a register must
 * have. */
bool gd_source(gd_decoder *decoder, uint32_t operand, gd_ptx_type type, gd_slot *slot);
/* The same for instructions that take wider registers too: *bytes is the register's. */
bool gd_source_wide(gd_decoder *decoder, uint32_t operand, gd_ptx_type type, gd_slot *slot,
                    uint32_t *bytes);
bool gd_target(gd_decoder *decoder, uint32_t operand, gd_ptx_type type, gd_slot *slot);
bool gd_target_wide(gd_decoder *decoder, uint32_t operand, gd_ptx_type type, gd_slot *slot,
                    uint32_t *bytes);
/* Component `part` of a special register that has four, named without one. */
bool gd_special_part(gd_decoder *decoder, uint32_t operand, uint32_t part, gd_slot *slot);
bool gd_predicate_source(gd_decoder *decoder, uint32_t operand, gd_slot *slot, bool *negated);
bool gd_predicate_target(gd_decoder *decoder, uint32_t operand, gd_slot *slot);
/* A value that must be known: an integer or an expression. */
bool gd_known(gd_decoder *decoder, uint32_t operand, uint64_t *value);
/* name<N> is short for N variables: bytes from one to the next, and from the first to the one that
 * an operand names. */
uint64_t gd_variable_stride(const gd_ptx_symbol *symbol);
uint64_t gd_variable_member(const gd_decoder *decoder, const gd_ptx_operand *operand);

/* The address of a memory operand in a space, into an operation. */
bool gd_memory_operand(gd_decoder *decoder, uint32_t operand, gd_ptx_space space, gd_code *into);
/* The same of the operand within the brackets, beside which others may stand. */
bool gd_memory_address(gd_decoder *decoder, uint32_t operand, gd_ptx_space space, gd_code *into);
/* Whether an operand is { }, or a register that is declared as a vector. */
bool gd_is_vector(const gd_decoder *decoder, uint32_t operand);
/* The elements of such an operand, or the operand itself as the only one; returns how many, 0 when
 * they are more than capacity. */
uint32_t gd_elements(gd_decoder *decoder, uint32_t operand, uint32_t *elements, uint32_t capacity);
gd_space gd_code_space(gd_ptx_space space);

/* ---- operations (decode/emit.c) ---- */

/* A new operation under the instruction's guard; NULL when there is no memory. Good until the next
 * one is made. */
gd_code *gd_emit(gd_decoder *decoder, gd_run *run);
/* The same with the operands of one that was made from gd_no_operands. */
gd_code *gd_emit_made(gd_decoder *decoder, gd_run *run, const gd_code *made);
extern const gd_code gd_no_operands;
gd_code *gd_emit_lanes(gd_decoder *decoder, gd_lanes_op op, uint32_t flags, gd_slot d, gd_slot a,
                       gd_slot b, gd_slot c);
/* Numbers into the image's list; GD_PTX_NONE when there is no memory. */
uint32_t gd_list_add(gd_decoder *decoder, const uint32_t *values, uint32_t count);
/* An operation's target, or a place in the list, becomes where a label's instruction starts. */
bool gd_fixup_add(gd_decoder *decoder, uint32_t code, uint32_t list, uint32_t instruction);
/* The routine that is decoded calls another. */
bool gd_call_add(gd_decoder *decoder, uint32_t callee);
/* Behind a function's entry, and in front of its ret (decode/control.c). */
bool gd_emit_register_parameters(gd_decoder *decoder, bool results);
/* The routine of a function in the image, which is decoded later when it is new; GD_PTX_NONE: no
 * memory. */
uint32_t gd_routine_find(gd_decoder *decoder, uint32_t function);

/* A further memory operand, into the image's list (GD_ADDRESS_WORDS); `modifier` is the number of
 * its space. */
bool gd_list_address(gd_decoder *decoder, uint32_t operand, gd_ptx_space space, uint32_t modifier,
                     uint32_t *list);

/* Behind an asynchronous write: the mbarrier at a memory operand hears of its bytes
 * (decode/async.c). */
bool gd_emit_complete(gd_decoder *decoder, uint32_t operand, gd_ptx_space space, uint32_t bytes);

/* ---- instructions ---- */

#define GD_DECODER(operation, function) gd_decode gd_decode_##function;
#include "emulator/decode/decoders.def"
#undef GD_DECODER

bool gd_regular_has(gd_op op);
/* The row that an instruction's modifiers fit; NULL: none. */
const gd_regular *gd_regular_find(gd_op op, const gd_modifier *modifiers, uint32_t count);
bool gd_decode_regular(gd_decoder *decoder, const gd_regular *row);

/* Decodes an entry with all that it calls into an image. false: no memory; a refusal is in the
 * image. */
bool gd_image_decode(gd_program *program, gd_spellings *spellings, gd_image *image,
                     uint32_t function);

#endif
