/* Propagation of origins along data flow. Each instruction gathers what its sources contribute and
 * hands it on to its destinations; both only ever grow, so each is visited a bounded number of
 * times. All .local memory of a function is one value, the cell; all that it stores elsewhere, or
 * gives to calls, is another one, what is kept.
 *
 * Numbers come second, when it is known what points where: whether a number is an index or may be
 * an address depends on what it is added to. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ptx/text/array.h"
#include "ptx/flow/origin_set.h"
#include "ptx/flow/provenance.h"
#include "ptx/flow/web.h"
#include "ptx/isa/special.h"
#include "ptx/text/word.h"

enum {
    POINTS = GD_ORIGIN_UNKNOWN | GD_ORIGIN_SHARED | GD_ORIGIN_LOCAL | GD_ORIGIN_GLOBAL,
    DEPENDS = GD_ORIGIN_THREAD | GD_ORIGIN_BLOCK | GD_ORIGIN_MEMORY,
    NUMBERS = GD_ORIGIN_NUMBER | GD_ORIGIN_WIDE,
    ANYTHING = NUMBERS | DEPENDS
};

/* What a source does for its instruction's result. */
typedef enum source_role {
    SOURCE_POINTER, /* the result may point where the source does */
    SOURCE_SCALED,  /* the result is computed from it, and may be turned back into it */
    SOURCE_PLAIN,   /* the result depends on it */
    SOURCE_ADDRESS, /* a generic address that is read from: what lies in shared or unknown memory
                     * differs by thread */
    SOURCE_VOTE,    /* all threads of the CTA get the same result */
    SOURCE_CELL,    /* is stored to .local memory */
    SOURCE_ESCAPE,  /* goes where others can write through it: if it points to .local memory, that
                   * becomes unknown */
    SOURCE_KEPT     /* the same, and may come back from there */
} source_role;

typedef struct source {
    uint32_t instruction; /* of the function, from 0 */
    uint32_t next;        /* source that is the same value */
    uint8_t role;
} source;

struct gd_origins {
    const gd_ptx_module *module;
    const gd_ptx_function *function;
    gd_origin *values;    /* of registers that are used, then the cell and what is kept */
    uint32_t value_count; /* without these two */
    uint32_t
        *value_of; /* by operand from first_operand on; GD_PTX_NONE: no register of the function */
    uint32_t first_operand;
    uint32_t operand_end;
    gd_origin_sets *sets;
    bool exposes_variables;
};

/* A source that is no value, and a number. */
typedef struct seed {
    uint32_t instruction;
    uint32_t flags;
    uint8_t role;
} seed;

typedef struct origin_search {
    gd_origins *origins;
    gd_origin *gathered; /* by instruction */
    seed *seeds;         /* numbers that come from no value */
    uint32_t seed_count, seed_capacity;
    bool cell_escapes; /* others may write to .local memory */
    bool numbers;      /* now they are handed on */
    source *sources;
    uint32_t source_count, source_capacity;
    uint32_t *first_source; /* by value */
    uint32_t *work;         /* values that have grown, a ring */
    uint32_t work_first, work_count;
    bool *waiting; /* by value: in `work` */
} origin_search;

/* The number that a register has within its function; GD_PTX_NONE for one of the module. */
static uint32_t register_number(const gd_ptx_module *module, const gd_ptx_operand *operand)
{
    const gd_ptx_symbol *symbol = &module->symbols[operand->symbol];

    return symbol->target == GD_PTX_NONE ? GD_PTX_NONE
                                         : symbol->target + operand->index * symbol->vector;
}

static uint32_t address_bytes(const gd_ptx_module *module)
{
    return module->address_bits / 8;
}

/* The bytes of an instruction's type, of the last one where it names several; 0: not known. */
static uint32_t type_bytes(const gd_ptx_module *module, const gd_ptx_instruction *instruction)
{
    for (uint32_t i = instruction->modifiers; i > 0; i--) {
        uint32_t length;
        const char *text = gd_ptx_token_text(module, instruction->opcode + i, &length);
        for (uint32_t type = 1; type < GD_TYPE_COUNT; type++) {
            if (strlen(gd_ptx_types[type].name) == length - 1 &&
                memcmp(gd_ptx_types[type].name, text + 1, length - 1) == 0)
                return gd_ptx_types[type].bytes;
        }
    }
    return 0;
}

static bool holds_address(const gd_ptx_module *module, const gd_ptx_instruction *instruction)
{
    uint32_t bytes = type_bytes(module, instruction);

    return bytes == 0 || bytes >= address_bytes(module);
}

static gd_origin join(const gd_origins *origins, gd_origin a, gd_origin b)
{
    const uint32_t set = gd_origin_set_union(origins->sets, a.parameters, b.parameters),
                   scaled = gd_origin_set_union(origins->sets, a.scaled, b.scaled);

    if (a.cause == GD_PTX_NONE || !(a.flags & (GD_ORIGIN_UNKNOWN | GD_ORIGIN_NUMBER)))
        a.cause = b.cause;
    a.flags |= b.flags;
    if (set == GD_ORIGIN_SET_NONE || scaled == GD_ORIGIN_SET_NONE)
        a.flags |= GD_ORIGIN_UNKNOWN;
    a.parameters = set == GD_ORIGIN_SET_NONE ? a.parameters : set;
    a.scaled = scaled == GD_ORIGIN_SET_NONE ? a.scaled : scaled;
    return a;
}

static gd_origin flagged(uint32_t flags)
{
    return (gd_origin){.flags = flags, .cause = GD_PTX_NONE};
}

/* Special registers (PTX ISA 10) by what their value differs between. */
static uint32_t special_flags(const gd_ptx_module *module, uint32_t name)
{
    static const uint32_t flags[] = {
        [GD_VARIES_NOTHING] = 0,
        [GD_VARIES_THREAD] = GD_ORIGIN_THREAD,
        [GD_VARIES_BLOCK] = GD_ORIGIN_BLOCK,
        [GD_VARIES_TIME] = GD_ORIGIN_THREAD | GD_ORIGIN_BLOCK,
        [GD_VARIES_SHARED] = GD_ORIGIN_SHARED,
    };
    uint32_t length;
    const char *text = gd_ptx_name_text(module, name, &length);
    const gd_special_register *special = gd_special_find(text, length);

    return special ? flags[special->varies] : ANYTHING;
}

/* A parameter: what is in it, or where it stands; what is loaded from there is told by the same
 * set. */
static gd_origin parameter_origin(const gd_origins *origins, uint32_t symbol)
{
    const gd_ptx_symbol *item = &origins->module->symbols[symbol];

    if (symbol < origins->function->parameter || symbol >= origins->function->parameter_end)
        return flagged(ANYTHING);
    if (!(item->flags & GD_SYMBOL_UNSIZED) && item->bytes < address_bytes(origins->module))
        return flagged(GD_ORIGIN_NUMBER);
    uint32_t set = gd_origin_set_single(origins->sets, symbol - origins->function->parameter);
    return set == GD_ORIGIN_SET_NONE ? flagged(GD_ORIGIN_UNKNOWN)
                                     : (gd_origin){.parameters = set, .cause = GD_PTX_NONE};
}

static gd_origin symbol_origin(const gd_origins *origins, const gd_ptx_operand *operand)
{
    const gd_ptx_module *module = origins->module;

    if (operand->symbol == GD_PTX_NONE) {
        uint32_t length;
        const char *text = gd_ptx_name_text(module, operand->index, &length);
        bool is_warp_size = length == 7 && memcmp(text, "WARP_SZ", 7) == 0;
        return flagged(is_warp_size ? 0 : ANYTHING);
    }
    const gd_ptx_symbol *symbol = &module->symbols[operand->symbol];
    if (symbol->kind == GD_SYMBOL_LABEL)
        return flagged(0);
    if (symbol->kind == GD_SYMBOL_PARAMETER)
        return parameter_origin(origins, operand->symbol);
    if (symbol->kind == GD_SYMBOL_FUNCTION)
        return flagged(GD_ORIGIN_UNKNOWN);
    switch (symbol->space) {
    case GD_SPACE_SHARED:
        return flagged(GD_ORIGIN_SHARED);
    case GD_SPACE_LOCAL:
        return flagged(GD_ORIGIN_LOCAL);
    case GD_SPACE_GLOBAL:
    case GD_SPACE_CONST:
    case GD_SPACE_TEX:
        return flagged(GD_ORIGIN_GLOBAL);
    default: /* a .param variable: what a call has returned */
        return flagged(ANYTHING);
    }
}

/* Of one operand without its children, as far as is known by now. */
static gd_origin leaf_origin(const gd_origins *origins, uint32_t operand)
{
    const gd_ptx_operand *item = &origins->module->operands[operand];
    uint32_t value;

    switch (item->kind) {
    case GD_OPERAND_REGISTER:
        value = operand >= origins->first_operand && operand < origins->operand_end
                    ? origins->value_of[operand - origins->first_operand]
                    : GD_PTX_NONE;
        return value == GD_PTX_NONE ? flagged(ANYTHING) : origins->values[value];
    case GD_OPERAND_SYMBOL:
        return symbol_origin(origins, item);
    case GD_OPERAND_SPECIAL:
        return flagged(special_flags(origins->module, item->index));
    case GD_OPERAND_EXPRESSION:
        return flagged(GD_ORIGIN_UNKNOWN);
    default:
        return flagged(0);
    }
}

static bool is_group(const gd_ptx_operand *operand)
{
    return operand->kind >= GD_OPERAND_MEMORY;
}

static bool same(gd_origin a, gd_origin b)
{
    return a.flags == b.flags && a.parameters == b.parameters && a.scaled == b.scaled;
}

static uint32_t cell_of(const gd_origins *origins)
{
    return origins->value_count;
}

static uint32_t kept_of(const gd_origins *origins)
{
    return origins->value_count + 1;
}

/* How many values there are. */
static uint32_t all_values(const gd_origins *origins)
{
    return origins->value_count + 2;
}

static void grow(origin_search *search, uint32_t value, gd_origin by)
{
    gd_origins *origins = search->origins;
    gd_origin grown = join(origins, origins->values[value], by);

    if (same(grown, origins->values[value]))
        return;
    origins->values[value] = grown;
    if (search->waiting[value])
        return;
    search->waiting[value] = true;
    uint32_t room = all_values(origins);
    uint32_t place = search->work_first + search->work_count++;
    search->work[place < room ? place : place - room] = value;
}

static const gd_ptx_instruction *instruction_at(const origin_search *search, uint32_t index)
{
    return &search->origins->module->instructions[search->origins->function->instruction + index];
}

static bool defines_nothing(const gd_ptx_instruction *instruction)
{
    if (gd_ops[instruction->op].sync == GD_OP_SYNC_CTA_RED)
        return false;
    switch (instruction->op) {
    case GD_OP_CALL:
        return false;
    case GD_OP_NANOSLEEP:
    case GD_OP_PMEVENT:
    case GD_OP_SETMAXNREG:
    case GD_OP_STACKRESTORE:
        return true;
    default:
        return gd_ops[instruction->op].control != GD_CONTROL_NONE &&
               gd_ops[instruction->op].control != GD_CONTROL_UNKNOWN;
    }
}

/* The operands that hold destinations: the first one, all of an unknown instruction, a call's
 * results. */
static uint32_t destinations_end(const gd_ptx_module *module, const gd_ptx_instruction *instruction)
{
    if (instruction->operand == instruction->operand_end || defines_nothing(instruction))
        return instruction->operand;
    const gd_ptx_operand *first = &module->operands[instruction->operand];
    if (gd_ops[instruction->op].control == GD_CONTROL_UNKNOWN)
        return instruction->operand_end;
    if (first->kind == GD_OPERAND_MEMORY || first->kind == GD_OPERAND_SYMBOL)
        return instruction->operand;
    if (instruction->op == GD_OP_CALL &&
        (first->kind != GD_OPERAND_LIST || first->end == instruction->operand_end))
        return instruction->operand;
    return first->end;
}

static void hand_on(origin_search *search, uint32_t index)
{
    const gd_origins *origins = search->origins;
    const gd_ptx_instruction *instruction = instruction_at(search, index);
    uint32_t end = destinations_end(origins->module, instruction);

    for (uint32_t i = instruction->operand; i < end;) {
        const gd_ptx_operand *operand = &origins->module->operands[i];
        uint32_t value = origins->value_of[i - origins->first_operand];
        if (value != GD_PTX_NONE)
            grow(search, value, search->gathered[index]);
        i = operand->kind == GD_OPERAND_MEMORY ? operand->end : i + 1;
    }
}

static gd_origin contribution(const gd_origins *origins, source_role role, gd_origin from)
{
    gd_origin plain = flagged(from.flags & DEPENDS);

    switch (role) {
    case SOURCE_POINTER:
    case SOURCE_CELL:
        return from;
    case SOURCE_SCALED:
        plain.flags = from.flags & (DEPENDS | NUMBERS | GD_ORIGIN_GLOBAL);
        if (from.flags & GD_ORIGIN_UNKNOWN)
            plain.flags |= GD_ORIGIN_NUMBER;
        plain.cause = from.cause;
        plain.scaled = gd_origin_set_union(origins->sets, from.parameters, from.scaled);
        if (plain.scaled != GD_ORIGIN_SET_NONE)
            return plain;
        plain.scaled = 0;
        plain.flags |= GD_ORIGIN_UNKNOWN;
        return plain;
    case SOURCE_ADDRESS:
        if (from.flags &
            (GD_ORIGIN_UNKNOWN | GD_ORIGIN_NUMBER | GD_ORIGIN_SHARED | GD_ORIGIN_LOCAL))
            plain.flags |= GD_ORIGIN_THREAD;
        return plain;
    case SOURCE_VOTE:
        if (plain.flags & GD_ORIGIN_THREAD)
            plain.flags = (plain.flags & ~(uint32_t)GD_ORIGIN_THREAD) | GD_ORIGIN_BLOCK;
        return plain;
    case SOURCE_ESCAPE:
    case SOURCE_KEPT:
        return flagged(from.flags & GD_ORIGIN_LOCAL ? ANYTHING : 0);
    default:
        return plain;
    }
}

/* ---- numbers ---- */

/* Whether an instruction's sources are added up, so that a number among them may be an index into
 * what another one points to. */
static bool adds(const gd_ptx_instruction *instruction)
{
    switch (instruction->op) {
    case GD_OP_ADD:
    case GD_OP_ADDC:
    case GD_OP_SUB:
    case GD_OP_SUBC:
    case GD_OP_AND:
    case GD_OP_OR:
    case GD_OP_XOR:
    case GD_OP_LOP3:
    case GD_OP_BFI:
    case GD_OP_MAD:
    case GD_OP_MAD24:
    case GD_OP_MADC:
    case GD_OP_SAD:
    case GD_OP_VADD:
    case GD_OP_VSUB:
    case GD_OP_VMAD:
        return true;
    default:
        return false;
    }
}

static bool points(gd_origin origin)
{
    return origin.parameters || origin.flags & POINTS;
}

/* A number that points nowhere is an index where another source points somewhere. */
static bool is_index(const origin_search *search, uint32_t index, gd_origin from)
{
    const gd_ptx_module *module = search->origins->module;
    const gd_ptx_instruction *instruction = instruction_at(search, index);
    bool found = false;

    if (!adds(instruction) || points(from))
        return false;
    for (uint32_t i = destinations_end(module, instruction); i < instruction->operand_end && !found;
         i++)
        found = points(leaf_origin(search->origins, i));
    return found;
}

/* Whether halves become an address here: by packing them, or by a shift that no index has. */
static bool widens(const origin_search *search, uint32_t index)
{
    enum { MOST_INDEX_SHIFT = 15 };
    const gd_ptx_module *module = search->origins->module;
    const gd_ptx_instruction *instruction = instruction_at(search, index);
    const uint32_t last = instruction->operand_end - 1;

    if (!holds_address(module, instruction))
        return false;
    if (instruction->op == GD_OP_MOV)
        return module->operands[module->operands[instruction->operand].end].kind ==
               GD_OPERAND_VECTOR;
    return instruction->op == GD_OP_SHL && (module->operands[last].kind != GD_OPERAND_INTEGER ||
                                            module->operands[last].value > MOST_INDEX_SHIFT);
}

static gd_origin number_of(const origin_search *search, uint32_t index, gd_origin from)
{
    if (!search->numbers)
        from.flags &= ~(uint32_t)NUMBERS;
    else if (from.flags & GD_ORIGIN_NUMBER && widens(search, index))
        from.flags |= GD_ORIGIN_WIDE;
    if (from.flags & GD_ORIGIN_NUMBER && is_index(search, index, from))
        from.flags &= ~(uint32_t)GD_ORIGIN_NUMBER;
    return from;
}

static void contribute(origin_search *search, uint32_t index, source_role role, gd_origin from)
{
    gd_origin given = contribution(search->origins, role, number_of(search, index, from));

    if (role == SOURCE_KEPT) {
        gd_origin kept = contribution(search->origins, SOURCE_SCALED, from);
        kept.flags = 0;
        grow(search, kept_of(search->origins), kept);
    }
    if (role == SOURCE_CELL || role == SOURCE_ESCAPE || role == SOURCE_KEPT) {
        search->cell_escapes |= role != SOURCE_CELL && given.flags;
        given.flags &= search->numbers ? UINT32_MAX : ~(uint32_t)NUMBERS;
        grow(search, cell_of(search->origins), given);
        return;
    }
    if (given.flags & (GD_ORIGIN_UNKNOWN | GD_ORIGIN_NUMBER) && given.cause == GD_PTX_NONE)
        given.cause = search->origins->function->instruction + index;
    gd_origin grown = join(search->origins, search->gathered[index], given);
    if (same(grown, search->gathered[index]))
        return;
    search->gathered[index] = grown;
    hand_on(search, index);
}

/* false: no memory; so all that follow. */
static bool add_value_source(origin_search *search, uint32_t index, source_role role,
                             uint32_t value)
{
    if (search->source_count == search->source_capacity &&
        !gd_array_grow((void **)&search->sources, &search->source_capacity,
                       sizeof *search->sources))
        return false;
    search->sources[search->source_count] =
        (source){.instruction = index, .next = search->first_source[value], .role = (uint8_t)role};
    search->first_source[value] = search->source_count++;
    return true;
}

/* What is known from the start; numbers are handed on later. */
static bool add_leaf(origin_search *search, uint32_t index, source_role role, gd_origin from)
{
    contribute(search, index, role, from);
    if (!(from.flags & GD_ORIGIN_NUMBER) || role == SOURCE_PLAIN)
        return true;
    if (search->seed_count == search->seed_capacity &&
        !gd_array_grow((void **)&search->seeds, &search->seed_capacity, sizeof *search->seeds))
        return false;
    search->seeds[search->seed_count++] =
        (seed){.instruction = index, .flags = from.flags, .role = (uint8_t)role};
    return true;
}

/* The leaves of operands [first, end). */
static bool add_sources(origin_search *search, uint32_t index, source_role role, uint32_t first,
                        uint32_t end)
{
    const gd_origins *origins = search->origins;

    for (uint32_t i = first; i < end; i++) {
        uint32_t value = origins->value_of[i - origins->first_operand];
        if (value != GD_PTX_NONE) {
            if (!add_value_source(search, index, role, value))
                return false;
        } else if (!is_group(&origins->module->operands[i]) &&
                   !add_leaf(search, index, role, leaf_origin(origins, i))) {
            return false;
        }
    }
    return true;
}

/* The address of a memory operand with one role, its other parts (coordinates, cache policies) as
 * plain ones. */
static bool add_address(origin_search *search, uint32_t index, source_role role, uint32_t memory)
{
    const gd_ptx_operand *operands = search->origins->module->operands;
    uint32_t address = memory + 1;

    return add_sources(search, index, role, address, operands[address].end) &&
           add_sources(search, index, SOURCE_PLAIN, operands[address].end, operands[memory].end);
}

static bool gather(origin_search *search, uint32_t index, uint32_t flags)
{
    return add_leaf(search, index, SOURCE_POINTER, flagged(flags));
}

/* A parameter of a plain type, which may be read in halves. A struct has fields. */
static bool is_scalar(const gd_ptx_module *module, uint32_t operand)
{
    const gd_ptx_operand *item = &module->operands[operand];

    return item->kind == GD_OPERAND_SYMBOL && item->symbol != GD_PTX_NONE &&
           !(module->symbols[item->symbol].flags & (GD_SYMBOL_ARRAY | GD_SYMBOL_UNSIZED));
}

/* What is kept comes back, perhaps. */
static bool add_kept(origin_search *search, uint32_t index)
{
    return add_value_source(search, index, SOURCE_SCALED, kept_of(search->origins));
}

/* Whether a load may find what is kept: not in a constant, nor in the function's own parameters,
 * but in what a call has returned. */
static bool finds_kept(const origin_search *search, gd_ptx_space space, uint32_t memory)
{
    const gd_ptx_function *function = search->origins->function;
    const gd_ptx_operand *address = &search->origins->module->operands[memory + 1];

    return space != GD_SPACE_CONST && space != GD_SPACE_LOCAL &&
           (space != GD_SPACE_PARAM ||
            (address->kind == GD_OPERAND_SYMBOL && (address->symbol < function->parameter ||
                                                    address->symbol >= function->parameter_end)));
}

/* ld d, [a] */
static bool add_load(origin_search *search, uint32_t index, const gd_ptx_instruction *load)
{
    const gd_ptx_module *module = search->origins->module;
    uint32_t memory = module->operands[load->operand].end;
    source_role role = SOURCE_PLAIN;
    uint32_t flags = GD_ORIGIN_NUMBER | (holds_address(module, load) ? GD_ORIGIN_WIDE : 0);

    if (memory >= load->operand_end || module->operands[memory].kind != GD_OPERAND_MEMORY)
        return gather(search, index, ANYTHING);
    const gd_ptx_space space = gd_ptx_instruction_space(module, load);
    if (finds_kept(search, space, memory) && !add_kept(search, index))
        return false;
    switch (space) {
    case GD_SPACE_PARAM:
        if (holds_address(module, load) || is_scalar(module, memory + 1)) {
            role = SOURCE_POINTER;
            flags = 0;
        }
        break;
    case GD_SPACE_CONST:
        break;
    case GD_SPACE_LOCAL:
        if (!add_value_source(search, index, SOURCE_POINTER, cell_of(search->origins)))
            return false;
        flags = 0;
        break;
    case GD_SPACE_GLOBAL:
        flags |= GD_ORIGIN_MEMORY;
        break;
    case GD_SPACE_SHARED:
        flags |= GD_ORIGIN_MEMORY | GD_ORIGIN_THREAD;
        break;
    default:
        if (!add_value_source(search, index, SOURCE_SCALED, cell_of(search->origins)))
            return false;
        role = SOURCE_ADDRESS;
        flags |= GD_ORIGIN_MEMORY;
    }
    return gather(search, index, flags) && add_address(search, index, role, memory) &&
           add_sources(search, index, SOURCE_PLAIN, module->operands[memory].end,
                       load->operand_end);
}

/* st [a], b */
static bool add_store(origin_search *search, uint32_t index, const gd_ptx_instruction *store)
{
    const gd_ptx_module *module = search->origins->module;
    gd_ptx_space space = gd_ptx_instruction_space(module, store);
    uint32_t end = module->operands[store->operand].end;

    if (space == GD_SPACE_NONE && !add_sources(search, index, SOURCE_ESCAPE, store->operand, end))
        return false;
    return add_sources(search, index, space == GD_SPACE_LOCAL ? SOURCE_CELL : SOURCE_KEPT, end,
                       store->operand_end);
}

/* How an instruction's sources take part, where all but some do so in the same way. */
typedef struct rule {
    uint8_t role;    /* source_role of all sources ... */
    uint8_t other;   /* ... but of those */
    uint32_t others; /* in this set of operand numbers, 1 << n */
    uint32_t flags;  /* that the result has in any case */
} rule;

/* and d, a, 15: what is left are low bits, no address. */
static bool keeps_low_bits(const gd_ptx_module *module, const gd_ptx_instruction *instruction)
{
    enum { LOW_BITS = 0xffff };

    for (uint32_t i = instruction->operand; i < instruction->operand_end;
         i = module->operands[i].end) {
        if (module->operands[i].kind == GD_OPERAND_INTEGER && module->operands[i].value <= LOW_BITS)
            return true;
    }
    return false;
}

static rule rule_of(const gd_ptx_module *module, const gd_ptx_instruction *instruction)
{
    if (gd_ops[instruction->op].sync == GD_OP_SYNC_CTA_RED)
        return (rule){.role = SOURCE_VOTE};
    switch (instruction->op) {
    case GD_OP_AND:
        return (rule){.role = keeps_low_bits(module, instruction) ? SOURCE_PLAIN : SOURCE_POINTER};
    case GD_OP_ADD:
    case GD_OP_ADDC:
    case GD_OP_SUB:
    case GD_OP_SUBC:
    case GD_OP_OR:
    case GD_OP_XOR:
    case GD_OP_LOP3:
    case GD_OP_NOT:
    case GD_OP_NEG:
    case GD_OP_ABS:
    case GD_OP_MOV:
    case GD_OP_CVT:
    case GD_OP_CVT_PACK:
    case GD_OP_CVTA:
    case GD_OP_MIN:
    case GD_OP_MAX:
    case GD_OP_PRMT:
    case GD_OP_BFI:
    case GD_OP_SZEXT:
    case GD_OP_VADD:
    case GD_OP_VSUB:
    case GD_OP_VMAX:
    case GD_OP_VMIN:
        return (rule){.role = SOURCE_POINTER};
    case GD_OP_SHFL:
        return (rule){.role = SOURCE_PLAIN,
                      .other = SOURCE_POINTER,
                      .others = 1 << 1,
                      .flags = GD_ORIGIN_THREAD};
    case GD_OP_MAPA:
        return (rule){.role = SOURCE_PLAIN, .other = SOURCE_POINTER, .others = 1 << 1};
    case GD_OP_SELP:
    case GD_OP_SLCT:
        return (rule){.role = SOURCE_POINTER, .other = SOURCE_PLAIN, .others = 1 << 3};
    case GD_OP_MAD:
    case GD_OP_MAD24:
    case GD_OP_MADC:
    case GD_OP_SAD:
    case GD_OP_VMAD:
        return (rule){.role = SOURCE_SCALED, .other = SOURCE_POINTER, .others = 1 << 3};
    case GD_OP_ISSPACEP:
    case GD_OP_SET:
    case GD_OP_SETP:
    case GD_OP_TESTP:
        return (rule){.role = SOURCE_PLAIN};
    case GD_OP_VOTE:
    case GD_OP_MATCH:
    case GD_OP_ACTIVEMASK:
    case GD_OP_ELECT:
    case GD_OP_MMA:
    case GD_OP_MMA_SP:
    case GD_OP_WMMA_MMA:
        return (rule){.role = SOURCE_PLAIN, .flags = GD_ORIGIN_THREAD};
    case GD_OP_MOVMATRIX:
    case GD_OP_REDUX:
        return (rule){.role = SOURCE_SCALED, .flags = GD_ORIGIN_THREAD};
    case GD_OP_ALLOCA:
        return (rule){.role = SOURCE_PLAIN, .flags = GD_ORIGIN_LOCAL};
    case GD_OP_LDMATRIX:
    case GD_OP_WMMA_LOAD:
    case GD_OP_MBARRIER_TEST_WAIT:
    case GD_OP_MBARRIER_TRY_WAIT:
        return (rule){.role = SOURCE_PLAIN, .flags = GD_ORIGIN_THREAD | GD_ORIGIN_MEMORY};
    case GD_OP_MULTIMEM_LD_REDUCE:
    case GD_OP_TEX:
    case GD_OP_TLD4:
    case GD_OP_SULD:
        return (rule){.role = SOURCE_PLAIN, .flags = GD_ORIGIN_NUMBER | GD_ORIGIN_MEMORY};
    case GD_OP_ATOM:
        return (rule){.role = SOURCE_KEPT,
                      .flags = holds_address(module, instruction) ? ANYTHING
                                                                  : GD_ORIGIN_NUMBER | DEPENDS};
    case GD_OP_CLUSTERLAUNCHCONTROL_QUERY_CANCEL:
        return (rule){.role = SOURCE_PLAIN, .flags = GD_ORIGIN_BLOCK};
    case GD_OP_CALL:
        return (rule){.role = SOURCE_KEPT, .flags = ANYTHING};
    default:
        if (gd_ops[instruction->op].memory == GD_MEMORY_NONE ||
            gd_ops[instruction->op].memory == GD_MEMORY_FENCE)
            return (rule){.role = SOURCE_SCALED};
        return (rule){.role = SOURCE_KEPT, .flags = ANYTHING};
    }
}

static bool add_by_rule(origin_search *search, uint32_t index,
                        const gd_ptx_instruction *instruction)
{
    const gd_ptx_module *module = search->origins->module;
    rule how = rule_of(module, instruction);
    bool is_unknown = gd_ops[instruction->op].control == GD_CONTROL_UNKNOWN;
    uint32_t end = destinations_end(module, instruction), number = 0;

    if (!gather(search, index, how.flags) ||
        (how.role == SOURCE_KEPT && how.flags && !add_kept(search, index)))
        return false;
    for (uint32_t i = instruction->operand; i < instruction->operand_end;
         i = module->operands[i].end, number++) {
        bool is_other = number < 32 && how.others >> number & 1;
        source_role role = is_other ? how.other : how.role;
        if (role == SOURCE_KEPT && module->operands[i].kind == GD_OPERAND_MEMORY)
            role = SOURCE_ESCAPE;
        if ((i >= end || is_unknown) &&
            !add_sources(search, index, role, i, module->operands[i].end))
            return false;
    }
    return true;
}

static bool add_instruction(origin_search *search, uint32_t index)
{
    const gd_ptx_instruction *instruction = instruction_at(search, index);

    if (instruction->flags & GD_INSTRUCTION_GUARDED &&
        !add_sources(search, index, SOURCE_PLAIN, instruction->operand - 1, instruction->operand))
        return false;
    if (instruction->operand == instruction->operand_end)
        return true;
    if (instruction->op == GD_OP_LD || instruction->op == GD_OP_LDU)
        return add_load(search, index, instruction);
    if (instruction->op == GD_OP_ST)
        return add_store(search, index, instruction);
    return add_by_rule(search, index, instruction);
}

static void propagate(origin_search *search)
{
    uint32_t room = all_values(search->origins);

    while (search->work_count) {
        uint32_t value = search->work[search->work_first];
        search->work_first = search->work_first + 1 == room ? 0 : search->work_first + 1;
        search->work_count--;
        search->waiting[value] = false;
        for (uint32_t i = search->first_source[value]; i != GD_PTX_NONE;
             i = search->sources[i].next)
            contribute(search, search->sources[i].instruction, search->sources[i].role,
                       search->origins->values[value]);
    }
}

/* Its parts are one value here, so that nobody knows what each of them is. */
static bool is_vector_register(const gd_ptx_module *module, uint32_t operand)
{
    const gd_ptx_operand *item = &module->operands[operand];

    return item->kind == GD_OPERAND_REGISTER && !item->component &&
           module->symbols[item->symbol].vector > 1;
}

/* mov.b64 d, {a, b}: halves of which only one points somewhere make an address that is not known.
 * Sets are complete by now and do not grow from this, so the order in which packings are looked at
 * does not matter. */
static void doubt_packings(origin_search *search)
{
    const gd_origins *origins = search->origins;
    const gd_ptx_module *module = origins->module;
    uint32_t count = origins->function->instruction_end - origins->function->instruction;

    for (uint32_t index = 0; index < count; index++) {
        const gd_ptx_instruction *mov = instruction_at(search, index);
        if (mov->op != GD_OP_MOV || mov->operand == mov->operand_end)
            continue;
        uint32_t vector = module->operands[mov->operand].end, pointing = 0, leaves = 0;
        if (vector >= mov->operand_end || !holds_address(module, mov))
            continue;
        bool doubtful = is_vector_register(module, vector);
        for (uint32_t i = vector + 1;
             i < module->operands[vector].end && module->operands[vector].kind == GD_OPERAND_VECTOR;
             i++, leaves++)
            pointing += leaf_origin(origins, i).parameters != 0;
        if (doubtful || (pointing && pointing < leaves))
            contribute(search, index, SOURCE_POINTER, flagged(GD_ORIGIN_UNKNOWN));
    }
}

/* sub d, a, b: where both point somewhere the result may point nowhere. */
static bool is_distance(const origin_search *search, const gd_ptx_instruction *instruction)
{
    const gd_ptx_module *module = search->origins->module;
    uint32_t pointing = 0, needed = 2;

    switch (instruction->op) {
    case GD_OP_NEG:
    case GD_OP_NOT:
        needed = 1;
        break;
    case GD_OP_SUB:
    case GD_OP_SUBC:
    case GD_OP_VSUB:
    case GD_OP_XOR:
    case GD_OP_LOP3:
        break;
    default:
        return false;
    }
    for (uint32_t i = destinations_end(module, instruction); i < instruction->operand_end; i++)
        pointing += points(leaf_origin(search->origins, i));
    return pointing >= needed;
}

static void find_distances(origin_search *search)
{
    const gd_ptx_function *function = search->origins->function;

    for (uint32_t i = 0; i < function->instruction_end - function->instruction; i++) {
        if (is_distance(search, instruction_at(search, i)))
            contribute(search, i, SOURCE_POINTER, flagged(GD_ORIGIN_DISTANCE));
    }
}

/* Numbers, now that it is known what points where. */
static void hand_on_numbers(origin_search *search)
{
    search->numbers = true;
    for (uint32_t i = 0; i < search->seed_count; i++)
        contribute(search, search->seeds[i].instruction, (source_role)search->seeds[i].role,
                   flagged(search->seeds[i].flags));
    if (search->cell_escapes) {
        gd_origin others = flagged(NUMBERS);
        others.scaled = search->origins->values[kept_of(search->origins)].scaled;
        grow(search, cell_of(search->origins), others);
    }
    propagate(search);
}

/* An operand that is handed on as a value: not the address of an access. */
static bool exposes(const origin_search *search, const gd_ptx_instruction *instruction)
{
    const gd_ptx_module *module = search->origins->module;
    bool found = false;

    for (uint32_t i = instruction->operand; i < instruction->operand_end && !found;) {
        const gd_ptx_operand *operand = &module->operands[i];
        found = !is_group(operand) && leaf_origin(search->origins, i).flags & GD_ORIGIN_GLOBAL;
        i = operand->kind == GD_OPERAND_MEMORY ? operand->end : i + 1;
    }
    return found;
}

/* Whether an instruction hands values on to where others find them. An argument is stored in front
 * of its call; the device runtime's functions keep none. */
static bool hands_out(const origin_search *search, uint32_t index)
{
    const gd_ptx_module *module = search->origins->module;
    const gd_ptx_instruction *instruction = instruction_at(search, index),
                             *end =
                                 &module->instructions[search->origins->function->instruction_end];
    const gd_op_memory memory = (gd_op_memory)gd_ops[instruction->op].memory;
    const gd_op_control control = (gd_op_control)gd_ops[instruction->op].control;
    const gd_ptx_space space = gd_ptx_instruction_space(module, instruction);

    for (; space == GD_SPACE_PARAM && instruction < end && instruction->op != GD_OP_CALL;)
        instruction++;
    if (instruction < end && instruction->op == GD_OP_CALL)
        return !gd_ptx_is_system_call(module, instruction);
    return control == GD_CONTROL_UNKNOWN ||
           (memory != GD_MEMORY_NONE && memory != GD_MEMORY_FENCE && memory != GD_MEMORY_READ &&
            space != GD_SPACE_LOCAL);
}

static bool expose_variables(const origin_search *search)
{
    const uint32_t count =
        search->origins->function->instruction_end - search->origins->function->instruction;
    bool found = false;

    for (uint32_t index = 0; index < count && !found; index++)
        found = exposes(search, instruction_at(search, index)) && hands_out(search, index);
    return found;
}

/* .func f(.reg .b64 %a): parameters that are registers. */
static void begin_parameters(origin_search *search)
{
    const gd_origins *origins = search->origins;
    const gd_ptx_module *module = origins->module;

    for (uint32_t i = origins->first_operand; i < origins->operand_end; i++) {
        uint32_t value = origins->value_of[i - origins->first_operand];
        if (value != GD_PTX_NONE &&
            module->symbols[module->operands[i].symbol].kind == GD_SYMBOL_PARAMETER)
            grow(search, value, parameter_origin(origins, module->operands[i].symbol));
    }
}

static bool run_search(origin_search *search)
{
    const gd_origins *origins = search->origins;
    uint32_t values = all_values(origins);
    uint32_t count = origins->function->instruction_end - origins->function->instruction;

    search->gathered = calloc((size_t)count + 1, sizeof *search->gathered);
    search->first_source = malloc(values * sizeof *search->first_source);
    search->work = malloc(values * sizeof *search->work);
    search->waiting = calloc(values, sizeof *search->waiting);
    if (!search->gathered || !search->first_source || !search->work || !search->waiting)
        return false;
    for (uint32_t i = 0; i < values; i++)
        search->first_source[i] = GD_PTX_NONE;
    begin_parameters(search);
    for (uint32_t i = 0; i < count; i++) {
        if (!add_instruction(search, i))
            return false;
    }
    propagate(search);
    doubt_packings(search);
    find_distances(search);
    propagate(search);
    search->origins->exposes_variables = expose_variables(search);
    hand_on_numbers(search);
    return !origins->sets->failed;
}

/* A hash table from the numbers of registers to those of values. */
typedef struct value_slot {
    uint32_t number;
    uint32_t value; /* plus 1; 0: empty */
} value_slot;

static uint32_t value_of_number(value_slot *slots, uint32_t mask, uint32_t number, uint32_t *count)
{
    uint32_t slot = number * 0x9e3779b1u & mask;

    while (slots[slot].value && slots[slot].number != number)
        slot = (slot + 1) & mask;
    if (!slots[slot].value)
        slots[slot] = (value_slot){.number = number, .value = ++*count};
    return slots[slot].value - 1;
}

/* Gives the registers that occur consecutive numbers: a function may declare far more of them.
 * split_values goes on from there. */
static bool number_values(gd_origins *origins)
{
    const gd_ptx_module *module = origins->module;
    uint32_t operands = origins->operand_end - origins->first_operand;
    uint32_t slot_count = 16;

    while (slot_count / 2 < operands && slot_count < UINT32_C(1) << 31)
        slot_count *= 2;
    value_slot *slots = calloc(slot_count, sizeof *slots);
    origins->value_of = malloc(((size_t)operands + 1) * sizeof *origins->value_of);
    if (!slots || !origins->value_of) {
        free(slots);
        return false;
    }
    for (uint32_t i = 0; i < operands; i++) {
        const gd_ptx_operand *operand = &module->operands[origins->first_operand + i];
        uint32_t number =
            operand->kind == GD_OPERAND_REGISTER ? register_number(module, operand) : GD_PTX_NONE;
        origins->value_of[i] =
            number == GD_PTX_NONE
                ? GD_PTX_NONE
                : value_of_number(slots, slot_count - 1, number, &origins->value_count);
    }
    free(slots);
    return true;
}

/* Whether an instruction's destination is written as a whole whenever the instruction is
 * reached. */
static bool writes_whole(const gd_ptx_module *module, const gd_ptx_instruction *instruction,
                         uint32_t operand)
{
    return !(instruction->flags & GD_INSTRUCTION_GUARDED) &&
           gd_ops[instruction->op].control != GD_CONTROL_UNKNOWN &&
           !module->operands[operand].component &&
           module->symbols[module->operands[operand].symbol].vector <= 1;
}

static void note_roles(const gd_origins *origins, const gd_ptx_instruction *instruction,
                       uint8_t *roles)
{
    const gd_ptx_module *module = origins->module;
    uint32_t from = instruction->operand - (instruction->flags & GD_INSTRUCTION_GUARDED ? 1 : 0);
    uint32_t end = destinations_end(module, instruction), inside = 0; /* of a memory operand */

    for (uint32_t i = from; i < instruction->operand_end; i++) {
        const gd_ptx_operand *operand = &module->operands[i];
        if (operand->kind == GD_OPERAND_MEMORY && operand->end > inside)
            inside = operand->end;
        if (origins->value_of[i - origins->first_operand] == GD_PTX_NONE)
            continue;
        bool defined = i >= instruction->operand && i < end && i >= inside;
        roles[i - origins->first_operand] = !defined ? GD_WEB_USE
                                            : writes_whole(module, instruction, i)
                                                ? GD_WEB_DEFINITION
                                                : GD_WEB_PARTIAL;
    }
}

/* Gives each web of a register a number of its own. Where the control flow is beyond its limits
 * registers stay whole. */
static bool split_values(gd_origins *origins)
{
    const gd_ptx_function *function = origins->function;
    uint32_t operands = origins->operand_end - origins->first_operand;
    gd_flow *flow = NULL;
    int32_t status = gd_flow_create(origins->module,
                                    (uint32_t)(function - origins->module->functions), &flow, NULL);

    if (status)
        return status != GRIDDEP_ERROR_MEMORY;
    uint8_t *roles = calloc((size_t)operands + 1, sizeof *roles);
    bool done = roles != NULL;
    if (done) {
        for (uint32_t i = function->instruction; i < function->instruction_end; i++)
            note_roles(origins, &origins->module->instructions[i], roles);
        gd_webs webs = {flow,  origins->first_operand, operands,
                        roles, origins->value_of,      origins->value_count};
        done = gd_webs_split(&webs);
        origins->value_count = webs.value_count;
    }
    free(roles);
    gd_flow_destroy(flow);
    return done;
}

/* The operands of a function's instructions, guards included. */
static void find_operands(gd_origins *origins)
{
    const gd_ptx_function *function = origins->function;
    const gd_ptx_instruction *instructions = origins->module->instructions;

    if (function->instruction == function->instruction_end)
        return;
    const gd_ptx_instruction *first = &instructions[function->instruction];
    origins->first_operand = first->operand - (first->flags & GD_INSTRUCTION_GUARDED ? 1 : 0);
    origins->operand_end = instructions[function->instruction_end - 1].operand_end;
}

static bool build(gd_origins *origins)
{
    origin_search search = {.origins = origins};

    find_operands(origins);
    origins->sets = malloc(sizeof *origins->sets);
    bool done = origins->sets && gd_origin_sets_create(origins->sets) && number_values(origins) &&
                split_values(origins);
    if (done) {
        origins->values = calloc(all_values(origins), sizeof *origins->values);
        done = origins->values && run_search(&search);
    }
    free(search.gathered);
    free(search.sources);
    free(search.seeds);
    free(search.first_source);
    free(search.work);
    free(search.waiting);
    return done;
}

gd_ptx_space gd_ptx_instruction_space(const gd_ptx_module *module,
                                      const gd_ptx_instruction *instruction)
{
    for (uint32_t token = instruction->opcode + 1;
         token <= instruction->opcode + instruction->modifiers; token++) {
        uint32_t length;
        const char *text = gd_ptx_token_text(module, token, &length);
        const gd_ptx_space space = gd_space_of_modifier(text + 1, length - 1);
        if (space != GD_SPACE_NONE)
            return space;
    }
    return GD_SPACE_NONE;
}

gd_origin gd_origins_of(const gd_origins *origins, uint32_t operand)
{
    const gd_ptx_operand *item = &origins->module->operands[operand];
    bool is_memory = item->kind == GD_OPERAND_MEMORY;
    uint32_t first = is_memory ? operand + 1 : operand;
    gd_origin origin = flagged(0);

    for (uint32_t i = first; i < origins->module->operands[first].end; i++)
        origin = join(origins, origin, leaf_origin(origins, i));
    const uint32_t loose = GD_ORIGIN_WIDE | GD_ORIGIN_DISTANCE;
    if (is_memory && (!points(origin) || origin.flags & GD_ORIGIN_NUMBER ||
                      (!origin.parameters && (origin.flags & loose) == loose)))
        origin.flags |= GD_ORIGIN_UNKNOWN;
    return origin;
}

bool gd_origins_expose_variables(const gd_origins *origins)
{
    return origins->exposes_variables;
}

bool gd_origins_set_has(const gd_origins *origins, uint32_t set, uint32_t parameter)
{
    for (uint32_t i = 0; i < gd_origins_set_count(origins, set); i++) {
        if (gd_origins_set_at(origins, set, i) == parameter)
            return true;
    }
    return false;
}

uint32_t gd_origins_set_count(const gd_origins *origins, uint32_t set)
{
    return origins->sets->list[set].count;
}

uint32_t gd_origins_set_at(const gd_origins *origins, uint32_t set, uint32_t index)
{
    return origins->sets->members[origins->sets->list[set].first + index];
}

void gd_origins_destroy(gd_origins *origins)
{
    if (!origins)
        return;
    if (origins->sets)
        gd_origin_sets_free(origins->sets);
    free(origins->sets);
    free(origins->values);
    free(origins->value_of);
    free(origins);
}

int32_t gd_origins_create(const gd_ptx_module *module, uint32_t function, gd_origins **origins,
                          griddep_error *error)
{
    gd_origins *made = calloc(1, sizeof *made);

    if (!made)
        return gd_error_memory(error);
    made->module = module;
    made->function = &module->functions[function];
    if (!build(made)) {
        gd_origins_destroy(made);
        return gd_error_memory(error);
    }
    *origins = made;
    return GRIDDEP_OK;
}
