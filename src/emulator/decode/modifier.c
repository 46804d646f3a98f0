/* An instruction's modifiers as sets, and the account of which were understood. */
#include <stdio.h>

#include "emulator/decode/decode.h"
#include "ptx/isa/operand.h"
#include "ptx/text/word.h"

typedef struct word {
    const char *text;
} word;

static const word words[GD_MODIFIER_COUNT] = {
#define GD_MODIFIER(identifier, name) {name},
#define GD_IGNORED(name)
#include "emulator/decode/modifier.def"
#undef GD_MODIFIER
#undef GD_IGNORED
};

static const word ignored[] = {
#define GD_MODIFIER(identifier, name)
#define GD_IGNORED(name) {name},
#include "emulator/decode/modifier.def"
#undef GD_MODIFIER
#undef GD_IGNORED
};

static bool is_text(const char *token, uint32_t length, const char *text)
{
    return strlen(text) == length && memcmp(token, text, length) == 0;
}

static bool read_type(gd_reading *reading, const char *token, uint32_t length)
{
    for (uint32_t type = 1; type < GD_TYPE_COUNT; type++) {
        if (!is_text(token + 1, length - 1, gd_ptx_types[type].name))
            continue;
        if (reading->type_count == GD_MOST_TYPES)
            return false;
        reading->types[reading->type_count++] = (uint8_t)type;
        return true;
    }
    return false;
}

static bool read_space(gd_reading *reading, const char *token, uint32_t length)
{
    static const char cluster[] = "::cluster";
    const gd_ptx_space space = gd_space_of_modifier(token + 1, length - 1);

    if (space == GD_SPACE_NONE || reading->space_count == GD_MOST_SPACES)
        return false;
    reading->cluster_space[reading->space_count] =
        length > strlen(cluster) &&
        !memcmp(token + length - strlen(cluster), cluster, strlen(cluster));
    reading->spaces[reading->space_count++] = (uint8_t)space;
    return true;
}

/* The shapes of wgmma are too many to be words: .m64n8k16 to .m64n256k256. */
static bool read_shape(gd_reading *reading, const char *token, uint32_t length)
{
    if (length < 8 || memcmp(token, ".m64n", 5) != 0)
        return false;
    reading->present[GD_MODIFIER_M64 / 64] |= UINT64_C(1) << (GD_MODIFIER_M64 % 64);
    return true;
}

static bool read_word(gd_reading *reading, const char *text, uint32_t length)
{
    for (uint32_t i = 0; i < GD_MODIFIER_COUNT; i++) {
        if (is_text(text, length, words[i].text)) {
            reading->present[i / 64] |= UINT64_C(1) << (i % 64);
            return true;
        }
    }
    for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++) {
        if (is_text(text, length, ignored[i].text))
            return true;
    }
    return false;
}

/* The modifiers of an instruction whose spelling is new. */
static gd_reading *read_modifiers(gd_decoder *decoder, gd_spelling *spelling)
{
    const gd_ptx_instruction *item = decoder->instruction;
    gd_reading *reading = gd_arena_take(&decoder->spellings->arena, sizeof *reading);
    gd_modifier list[GD_SPELLING_MODIFIERS];
    uint32_t first, count = gd_spelling_list(decoder->module, item, list, &first), length;

    if (!reading)
        return NULL;
    for (uint32_t i = 0; i < count; i++) {
        const char *text = list[i].text - 1; /* with its dot */
        length = list[i].length + 1;
        if (!read_type(reading, text, length) && !read_space(reading, text, length) &&
            !read_shape(reading, text, length) && !read_word(reading, text, length) &&
            !reading->unknown)
            reading->unknown = first + i - item->opcode;
    }
    reading->regular = gd_regular_find((gd_op)item->op, list, count);
    spelling->reading = reading;
    return reading;
}

/* The guard, as a predicate that is always there. */
static bool read_guard(gd_decoder *decoder)
{
    bool negated = false;

    decoder->guard_not = 0;
    if (!(decoder->instruction->flags & GD_INSTRUCTION_GUARDED))
        return gd_constant(decoder, 4, UINT32_MAX, &decoder->guard);
    if (!gd_predicate_source(decoder, decoder->instruction->operand - 1, &decoder->guard, &negated))
        return false;
    decoder->guard_not =
        negated || decoder->instruction->flags & GD_INSTRUCTION_GUARD_NOT ? UINT32_MAX : 0;
    return true;
}

/* Chips beyond the capability that is emulated have the same instructions, and wider loads and
 * stores; a module for none of them has been refused. */
static bool has_target(const gd_decoder *decoder, const gd_form_match *form)
{
    return form->need.target / 10 <= GD_MACHINE_CAPABILITY ||
           decoder->instruction->op == GD_OP_LD || decoder->instruction->op == GD_OP_ST;
}

static bool has_count(const gd_decoder *decoder, const gd_form_match *form)
{
    const uint32_t least = form->role_count ? form->roles[0].needed + !form->roles[0].optional : 0;

    return has_target(decoder, form) && decoder->operand_count >= least &&
           decoder->operand_count <= form->role_count;
}

/* The form that has these operands, of those for the emulated device. */
static const gd_form_match *find_form(const gd_decoder *decoder, gd_spelling *spelling)
{
    const gd_form_match *found = NULL, *form = NULL;

    while ((form = gd_spelling_next(decoder->spellings, decoder->module, spelling, form))) {
        if (!has_count(decoder, form))
            continue;
        if (found && gd_operands_fit(decoder->module, decoder->instruction, found, NULL))
            break;
        found = form;
    }
    return found;
}

bool gd_decode_read(gd_decoder *decoder, uint32_t instruction)
{
    const gd_ptx_instruction *item = &decoder->module->instructions[instruction];
    gd_spelling *spelling = gd_spelling_find(decoder->spellings, decoder->module, item);

    decoder->instruction = item;
    memset(decoder->used, 0, sizeof decoder->used);
    decoder->types_used = decoder->spaces_used = 0;
    decoder->operand_count = decoder->sources = decoder->part_count = 0;
    decoder->reading = !spelling           ? NULL
                       : spelling->reading ? spelling->reading
                                           : read_modifiers(decoder, spelling);
    if (!decoder->reading)
        return gd_decode_memory(decoder);
    if (decoder->reading->unknown && !decoder->reading->regular) {
        uint32_t length;
        const char *text =
            gd_ptx_token_text(decoder->module, item->opcode + decoder->reading->unknown, &length);
        return gd_decode_refuse(decoder, "modifier %.*s", (int)length, text);
    }
    for (uint32_t operand = item->operand; operand < item->operand_end;
         operand = decoder->module->operands[operand].end) {
        if (decoder->operand_count == GD_MOST_OPERANDS)
            return gd_decode_refuse_form(decoder);
        decoder->operands[decoder->operand_count++] = operand;
    }
    decoder->form = find_form(decoder, spelling);
    if (decoder->spellings->out_of_memory)
        return gd_decode_memory(decoder);
    if (spelling->form_count && !decoder->form)
        return gd_decode_refuse_form(decoder);
    return read_guard(decoder);
}

bool gd_has(gd_decoder *decoder, gd_modifier_id modifier)
{
    uint64_t bit = UINT64_C(1) << (modifier % 64);

    decoder->used[modifier / 64] |= bit;
    return decoder->reading->present[modifier / 64] & bit;
}

gd_ptx_type gd_type_at(gd_decoder *decoder, uint32_t index)
{
    if (index >= decoder->reading->type_count)
        return GD_TYPE_NONE;
    if (decoder->types_used <= index)
        decoder->types_used = (uint8_t)(index + 1);
    return (gd_ptx_type)decoder->reading->types[index];
}

gd_ptx_space gd_space_at(gd_decoder *decoder, uint32_t index)
{
    if (index >= decoder->reading->space_count)
        return GD_SPACE_NONE;
    if (decoder->spaces_used <= index)
        decoder->spaces_used = (uint8_t)(index + 1);
    return (gd_ptx_space)decoder->reading->spaces[index];
}

void gd_widen_space(const gd_decoder *decoder, uint32_t index, gd_code *into)
{
    if (index < decoder->reading->space_count && decoder->reading->cluster_space[index] &&
        into->space == GD_AT_SHARED)
        into->space = GD_AT_CLUSTER;
}

uint32_t gd_own_operands(const gd_decoder *decoder)
{
    uint32_t count = decoder->operand_count;

    for (uint32_t i = 0; i < decoder->form->role_count; i++)
        count -= decoder->form->roles[i].kind == 'h';
    return count;
}

void gd_ignore_order(gd_decoder *decoder)
{
    static const gd_modifier_id list[] = {
        GD_MODIFIER_VOLATILE, GD_MODIFIER_WEAK,    GD_MODIFIER_RELAXED, GD_MODIFIER_ACQUIRE,
        GD_MODIFIER_RELEASE,  GD_MODIFIER_ACQ_REL, GD_MODIFIER_SC,      GD_MODIFIER_MMIO,
        GD_MODIFIER_CTA,      GD_MODIFIER_CLUSTER, GD_MODIFIER_GPU,     GD_MODIFIER_SYS,
    };

    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        gd_has(decoder, list[i]);
}

uint8_t gd_order(gd_decoder *decoder, bool always, gd_scope otherwise)
{
    gd_scope scope = gd_has(decoder, GD_MODIFIER_CTA)       ? GD_SCOPE_CTA
                     : gd_has(decoder, GD_MODIFIER_CLUSTER) ? GD_SCOPE_CLUSTER
                     : gd_has(decoder, GD_MODIFIER_GPU)     ? GD_SCOPE_GPU
                     : gd_has(decoder, GD_MODIFIER_SYS)     ? GD_SCOPE_SYS
                                                            : otherwise;
    bool both = gd_has(decoder, GD_MODIFIER_ACQ_REL) || gd_has(decoder, GD_MODIFIER_SC);
    bool acquire = both || gd_has(decoder, GD_MODIFIER_ACQUIRE),
         release = both || gd_has(decoder, GD_MODIFIER_RELEASE);
    bool strong = always || acquire || release || gd_has(decoder, GD_MODIFIER_VOLATILE) ||
                  gd_has(decoder, GD_MODIFIER_RELAXED) || gd_has(decoder, GD_MODIFIER_MMIO);

    gd_ignore_order(decoder);
    return !strong ? 0
                   : (uint8_t)(GD_ORDER_STRONG | (acquire ? GD_ORDER_ACQUIRE : 0) |
                               (release ? GD_ORDER_RELEASE : 0) |
                               (unsigned)scope << GD_ORDER_SCOPE_SHIFT);
}

bool gd_find_atomic(gd_decoder *decoder, gd_atomic *operation)
{
    static const gd_modifier_id modifiers[] = {
        GD_MODIFIER_ADD, GD_MODIFIER_INC, GD_MODIFIER_DEC, GD_MODIFIER_MIN,  GD_MODIFIER_MAX,
        GD_MODIFIER_AND, GD_MODIFIER_OR,  GD_MODIFIER_XOR, GD_MODIFIER_EXCH, GD_MODIFIER_CAS};

    for (uint32_t i = 0; i < sizeof modifiers / sizeof modifiers[0]; i++) {
        if (!gd_has(decoder, modifiers[i]))
            continue;
        *operation = (gd_atomic)i;
        return true;
    }
    return gd_decode_refuse_form(decoder);
}

bool gd_decode_end(gd_decoder *decoder)
{
    bool all = decoder->types_used == decoder->reading->type_count &&
               decoder->spaces_used == decoder->reading->space_count;

    for (uint32_t i = 0; i < 4; i++)
        all &= !(decoder->reading->present[i] & ~decoder->used[i]);
    return all || gd_decode_refuse_form(decoder);
}

uint32_t gd_float_flags(gd_decoder *decoder)
{
    uint32_t flags = gd_has(decoder, GD_MODIFIER_RZ)   ? GD_ROUND_ZERO
                     : gd_has(decoder, GD_MODIFIER_RM) ? GD_ROUND_DOWN
                     : gd_has(decoder, GD_MODIFIER_RP) ? GD_ROUND_UP
                                                       : GD_ROUND_NEAREST;

    gd_has(decoder, GD_MODIFIER_RN);
    flags |= gd_has(decoder, GD_MODIFIER_FTZ) ? GD_FTZ : 0;
    flags |= gd_has(decoder, GD_MODIFIER_SAT) ? GD_SAT : 0;
    flags |= gd_has(decoder, GD_MODIFIER_RELU) ? GD_RELU : 0;
    flags |= gd_has(decoder, GD_MODIFIER_NAN) ? GD_NAN : 0;
    return flags;
}
