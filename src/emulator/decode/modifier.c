/* An instruction's modifiers as sets, and the account of which were understood. */
#include <stdio.h>

#include "emulator/decode/decode.h"

typedef struct word {
    const char *text;
} word;

static const word words[GD_MODIFIER_COUNT] = {
#define GD_MODIFIER(identifier, name) {name},
#include "emulator/decode/modifier.def"
#undef GD_MODIFIER
};

static const struct {
    const char *text;
    uint8_t space;
    bool cluster;
} spaces[] = {
    {".global", GD_SPACE_GLOBAL, false},      {".shared", GD_SPACE_SHARED, false},
    {".shared::cta", GD_SPACE_SHARED, false}, {".shared::cluster", GD_SPACE_SHARED, true},
    {".local", GD_SPACE_LOCAL, false},        {".const", GD_SPACE_CONST, false},
    {".param", GD_SPACE_PARAM, false},        {".param::entry", GD_SPACE_PARAM, false},
    {".param::func", GD_SPACE_PARAM, false},
};

static bool is_text(const char *token, uint32_t length, const char *text)
{
    return strlen(text) == length && memcmp(token, text, length) == 0;
}

static bool read_type(gd_decoder *decoder, const char *token, uint32_t length)
{
    for (uint32_t type = 1; type < GD_TYPE_COUNT; type++) {
        if (!is_text(token + 1, length - 1, gd_ptx_types[type].name))
            continue;
        if (decoder->type_count == GD_MOST_TYPES)
            return false;
        decoder->types[decoder->type_count++] = (uint8_t)type;
        return true;
    }
    return false;
}

static bool read_space(gd_decoder *decoder, const char *token, uint32_t length)
{
    for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++) {
        if (!is_text(token, length, spaces[i].text))
            continue;
        if (decoder->space_count == GD_MOST_SPACES)
            return false;
        decoder->cluster_space[decoder->space_count] = spaces[i].cluster;
        decoder->spaces[decoder->space_count++] = spaces[i].space;
        return true;
    }
    return false;
}

static const char *read_number(const char *text, const char *end, uint32_t *number)
{
    *number = 0;
    while (text < end && *text >= '0' && *text <= '9' && *number < 1000)
        *number = *number * 10 + (uint32_t)(*text++ - '0');
    return text;
}

/* The shapes of wgmma are too many to be words: .m64n8k16 to .m64n256k256. */
static bool read_shape(gd_decoder *decoder, const char *token, uint32_t length)
{
    const char *end = token + length;
    uint32_t n, k;

    if (length < 8 || memcmp(token, ".m64n", 5) != 0)
        return false;
    const char *at = read_number(token + 5, end, &n);
    if (at == end || *at != 'k' || read_number(at + 1, end, &k) != end || !n || !k)
        return false;
    decoder->wide_n = n;
    decoder->wide_k = k;
    decoder->present[GD_MODIFIER_M64 / 64] |= UINT64_C(1) << (GD_MODIFIER_M64 % 64);
    return true;
}

static void read_modifier(gd_decoder *decoder, uint32_t token)
{
    uint32_t length;
    const char *text = gd_ptx_token_text(decoder->module, token, &length);

    if (read_type(decoder, text, length) || read_space(decoder, text, length) ||
        read_shape(decoder, text, length))
        return;
    for (uint32_t i = 0; i < GD_MODIFIER_COUNT; i++) {
        if (is_text(text, length, words[i].text)) {
            decoder->present[i / 64] |= UINT64_C(1) << (i % 64);
            return;
        }
    }
    if (decoder->unknown == GD_PTX_NONE)
        decoder->unknown = token;
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

bool gd_decode_read(gd_decoder *decoder, uint32_t instruction)
{
    const gd_ptx_instruction *item = &decoder->module->instructions[instruction];

    decoder->instruction = item;
    memset(decoder->present, 0, sizeof decoder->present);
    memset(decoder->used, 0, sizeof decoder->used);
    decoder->type_count = decoder->types_used = decoder->space_count = decoder->spaces_used = 0;
    decoder->operand_count = decoder->sources = decoder->part_count = decoder->wide_n =
        decoder->wide_k = 0;
    decoder->unknown = GD_PTX_NONE;
    for (uint32_t i = 1; i <= item->modifiers; i++)
        read_modifier(decoder, item->opcode + i);
    if (decoder->unknown != GD_PTX_NONE) {
        uint32_t length;
        const char *text = gd_ptx_token_text(decoder->module, decoder->unknown, &length);
        return gd_decode_refuse(decoder, "modifier %.*s", (int)length, text);
    }
    for (uint32_t operand = item->operand; operand < item->operand_end;
         operand = decoder->module->operands[operand].end) {
        if (decoder->operand_count == GD_MOST_OPERANDS)
            return gd_decode_refuse_form(decoder);
        decoder->operands[decoder->operand_count++] = operand;
    }
    return read_guard(decoder);
}

bool gd_has(gd_decoder *decoder, gd_modifier modifier)
{
    uint64_t bit = UINT64_C(1) << (modifier % 64);

    decoder->used[modifier / 64] |= bit;
    return decoder->present[modifier / 64] & bit;
}

gd_ptx_type gd_type_at(gd_decoder *decoder, uint32_t index)
{
    if (index >= decoder->type_count)
        return GD_TYPE_NONE;
    if (decoder->types_used <= index)
        decoder->types_used = (uint8_t)(index + 1);
    return (gd_ptx_type)decoder->types[index];
}

gd_ptx_space gd_space_at(gd_decoder *decoder, uint32_t index)
{
    if (index >= decoder->space_count)
        return GD_SPACE_NONE;
    if (decoder->spaces_used <= index)
        decoder->spaces_used = (uint8_t)(index + 1);
    return (gd_ptx_space)decoder->spaces[index];
}

void gd_widen_space(const gd_decoder *decoder, uint32_t index, gd_code *into)
{
    if (index < decoder->space_count && decoder->cluster_space[index] &&
        into->space == GD_AT_SHARED)
        into->space = GD_AT_CLUSTER;
}

static void ignore(gd_decoder *decoder, const gd_modifier *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        gd_has(decoder, list[i]);
}

void gd_ignore_cache(gd_decoder *decoder)
{
    static const gd_modifier list[] = {
        GD_MODIFIER_NC,
        GD_MODIFIER_CA,
        GD_MODIFIER_CG,
        GD_MODIFIER_CS,
        GD_MODIFIER_LU,
        GD_MODIFIER_CV,
        GD_MODIFIER_WB,
        GD_MODIFIER_WT,
        GD_MODIFIER_L1_EVICT_NORMAL,
        GD_MODIFIER_L1_EVICT_UNCHANGED,
        GD_MODIFIER_L1_EVICT_FIRST,
        GD_MODIFIER_L1_EVICT_LAST,
        GD_MODIFIER_L1_NO_ALLOCATE,
        GD_MODIFIER_L2_EVICT_FIRST,
        GD_MODIFIER_L2_EVICT_LAST,
        GD_MODIFIER_L2_EVICT_NORMAL,
        GD_MODIFIER_L2_CACHE_HINT,
        GD_MODIFIER_L2_64B,
        GD_MODIFIER_L2_128B,
        GD_MODIFIER_L2_256B,
    };

    ignore(decoder, list, sizeof list / sizeof list[0]);
}

void gd_ignore_order(gd_decoder *decoder)
{
    static const gd_modifier list[] = {
        GD_MODIFIER_VOLATILE, GD_MODIFIER_WEAK,    GD_MODIFIER_RELAXED, GD_MODIFIER_ACQUIRE,
        GD_MODIFIER_RELEASE,  GD_MODIFIER_ACQ_REL, GD_MODIFIER_SC,      GD_MODIFIER_MMIO,
        GD_MODIFIER_CTA,      GD_MODIFIER_CLUSTER, GD_MODIFIER_GPU,     GD_MODIFIER_SYS,
    };

    ignore(decoder, list, sizeof list / sizeof list[0]);
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

bool gd_decode_end(gd_decoder *decoder)
{
    bool all =
        decoder->types_used == decoder->type_count && decoder->spaces_used == decoder->space_count;

    for (uint32_t i = 0; i < 4; i++)
        all &= !(decoder->present[i] & ~decoder->used[i]);
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
