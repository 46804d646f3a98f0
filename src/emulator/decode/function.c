/* Functions: which ones an entry reaches, how their registers and local memory are laid out, and
 * their instructions one after the other. */
#include <stdlib.h>

#include "emulator/decode/decode.h"
#include "emulator/execute/control.h"
#include "emulator/execute/convert.h"
#include "emulator/execute/move.h"

enum { MOST_FRAME_BYTES = 1 << 28, MOST_LOCAL_BYTES = 1 << 19, FRAME_ALIGNMENT = 16 };

/* Instructions that are emulated, but for those of regular.def. Others are refused by name. */
static gd_decode *const decoders[GD_OP_COUNT] = {
#define GD_DECODER(operation, function) [GD_OP_##operation] = gd_decode_##function,
#include "emulator/decode/decoders.def"
#undef GD_DECODER
};

/* ---- layout ---- */

static uint32_t align(uint64_t value, uint32_t alignment)
{
    uint64_t mask = (uint64_t)(alignment ? alignment : 1) - 1;
    uint64_t aligned = (value + mask) & ~mask;

    return aligned > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)aligned;
}

/* The next place of a variable that lies as badly as its alignment lets it. */
static uint32_t align_badly(uint32_t value, uint32_t alignment)
{
    const uint32_t skew = (uint32_t)gd_memory_skew(alignment);

    return skew ? align(value > skew ? value - skew : 0, 2 * alignment) + skew
                : align(value, alignment);
}

/* Shared variables get their places in the order in which an entry's functions name them; those
 * whose size the launch gives come last. What a kernel needs is told without what lies between them
 * here. */
static void place_shared(gd_decoder *decoder, uint32_t symbol)
{
    const gd_ptx_symbol *item = &decoder->module->symbols[symbol];
    gd_entry *entry = &decoder->image->entry;

    if (decoder->offsets[symbol] != UINT32_MAX || item->flags & GD_SYMBOL_UNSIZED ||
        item->link & GD_LINK_EXTERN)
        return;
    const uint64_t bytes = gd_variable_stride(item) * item->count;
    const uint32_t place = align_badly(decoder->shared_end, item->alignment);
    decoder->offsets[symbol] = GD_SHARED_START + place;
    decoder->shared_end = align(place + bytes, 1);
    entry->static_shared_bytes =
        align(align(entry->static_shared_bytes, item->alignment) + bytes, 1);
}

static bool collect_operand(gd_decoder *decoder, const gd_ptx_operand *operand)
{
    if (operand->kind != GD_OPERAND_SYMBOL || operand->symbol == GD_PTX_NONE)
        return true;
    const gd_ptx_symbol *symbol = &decoder->module->symbols[operand->symbol];
    if (symbol->kind == GD_SYMBOL_VARIABLE && symbol->space == GD_SPACE_SHARED)
        place_shared(decoder, operand->symbol);
    if (symbol->kind != GD_SYMBOL_FUNCTION || symbol->target == GD_PTX_NONE)
        return true;
    uint32_t function = symbol->target;
    if (symbol->directive != GD_PTX_NONE) {
        uint32_t aliased =
            decoder->module->operands[decoder->module->directives[symbol->directive].operand + 1]
                .symbol;
        if (aliased != GD_PTX_NONE && decoder->module->symbols[aliased].kind == GD_SYMBOL_FUNCTION)
            function = decoder->module->symbols[aliased].target;
    }
    if (function == GD_PTX_NONE || !(decoder->module->functions[function].flags & GD_FUNCTION_BODY))
        return true;
    return gd_routine_find(decoder, function) != GD_PTX_NONE;
}

static bool is_indirect(const gd_ptx_module *module, const gd_ptx_instruction *item)
{
    uint32_t callee = item->op == GD_OP_CALL ? gd_ptx_call_operand(module, item) : GD_PTX_NONE;

    return callee != GD_PTX_NONE && module->operands[callee].kind == GD_OPERAND_REGISTER;
}

static bool collect_function(gd_decoder *decoder, const gd_ptx_function *function, bool *indirect)
{
    const gd_ptx_module *module = decoder->module;

    for (uint32_t at = function->instruction; at < function->instruction_end; at++) {
        const gd_ptx_instruction *item = &module->instructions[at];
        *indirect |= is_indirect(module, item);
        for (uint32_t operand = item->operand; operand < item->operand_end; operand++) {
            if (!collect_operand(decoder, &module->operands[operand]))
                return false;
        }
    }
    return true;
}

/* All functions that an entry may call, and the shared variables that they name. A call through a
 * register may reach those whose addresses are in variables. */
static bool collect(gd_decoder *decoder)
{
    const gd_ptx_module *module = decoder->module;
    bool indirect = false, added = false;

    for (uint32_t i = 0; i < decoder->image->routine_count; i++) {
        if (!collect_function(decoder, &module->functions[decoder->image->routines[i].function],
                              &indirect))
            return false;
        for (uint32_t f = 0; indirect && !added && f < module->function_count; f++) {
            if (decoder->program->addressed[f] && gd_routine_find(decoder, f) == GD_PTX_NONE)
                return false;
        }
        added |= indirect;
    }
    return true;
}

/* Variables of dynamic shared memory all begin behind the static ones. */
static void place_dynamic(gd_decoder *decoder)
{
    enum { WINDOW_ALIGNMENT = 1024 };
    gd_entry *entry = &decoder->image->entry;
    uint32_t alignment = 1, count = 0;

    for (uint32_t i = 0; i < decoder->module->symbol_count; i++) {
        const gd_ptx_symbol *symbol = &decoder->module->symbols[i];
        bool dynamic = symbol->space == GD_SPACE_SHARED && decoder->offsets[i] == UINT32_MAX &&
                       symbol->kind == GD_SYMBOL_VARIABLE;
        if (dynamic && symbol->alignment > alignment)
            alignment = symbol->alignment;
        count += dynamic;
    }
    if (entry->static_shared_bytes)
        entry->static_shared_bytes =
            align(entry->static_shared_bytes,
                  alignment < WINDOW_ALIGNMENT ? alignment : WINDOW_ALIGNMENT);
    if (decoder->shared_end > entry->static_shared_bytes)
        entry->padding_bytes = decoder->shared_end - entry->static_shared_bytes;
    if (count) /* where it begins is no chance: behind the static ones, aligned to its own */
        entry->padding_bytes = align(entry->padding_bytes, WINDOW_ALIGNMENT);
    for (uint32_t i = 0; i < decoder->module->symbol_count; i++) {
        if (decoder->module->symbols[i].space == GD_SPACE_SHARED &&
            decoder->offsets[i] == UINT32_MAX)
            decoder->offsets[i] =
                GD_SHARED_START + entry->static_shared_bytes + entry->padding_bytes;
    }
}

/* Remembers where variables of shared memory lie, for reports. */
static bool keep_shared(gd_decoder *decoder)
{
    const gd_ptx_module *module = decoder->module;
    gd_image *image = decoder->image;
    uint32_t count = 0;

    for (uint32_t i = 0; i < module->symbol_count; i++)
        count += module->symbols[i].space == GD_SPACE_SHARED;
    image->shared = calloc((size_t)count + 1, sizeof *image->shared);
    for (uint32_t i = 0; image->shared && i < module->symbol_count; i++) {
        const gd_ptx_symbol *symbol = &module->symbols[i];
        const bool dynamic = symbol->flags & GD_SYMBOL_UNSIZED || symbol->link & GD_LINK_EXTERN;
        if (symbol->space == GD_SPACE_SHARED && symbol->kind == GD_SYMBOL_VARIABLE)
            image->shared[image->shared_count++] = (gd_shared_variable){
                .symbol = i,
                .start = decoder->offsets[i],
                .bytes = dynamic ? 0 : gd_variable_stride(symbol) * symbol->count};
    }
    return image->shared || gd_decode_memory(decoder);
}

static void place_local(gd_decoder *decoder, gd_routine *routine, uint32_t symbol)
{
    const gd_ptx_symbol *item = &decoder->module->symbols[symbol];
    const bool badly = item->space == GD_SPACE_LOCAL && item->alignment < FRAME_ALIGNMENT;
    uint32_t offset = badly ? align_badly(routine->local, item->alignment)
                            : align(routine->local, item->alignment);

    decoder->offsets[symbol] = offset;
    routine->local = align(offset + gd_variable_stride(item) * item->count, 1);
}

/* Local memory of a function: first its parameters and results, so that functions of one prototype
 * have them at the same places. */
static void layout_local(gd_decoder *decoder, gd_routine *routine)
{
    const gd_ptx_function *function = &decoder->module->functions[routine->function];
    const gd_symbol_span *span = &decoder->program->spans[routine->function];

    routine->local = 0;
    if (!(function->flags & GD_FUNCTION_ENTRY)) {
        for (uint32_t i = function->parameter; i < function->parameter_end; i++)
            place_local(decoder, routine, i);
        for (uint32_t i = function->result; i < function->result_end; i++)
            place_local(decoder, routine, i);
    }
    for (uint32_t i = span->first; i < span->end; i++) {
        const gd_ptx_symbol *symbol = &decoder->module->symbols[i];
        if (symbol->kind == GD_SYMBOL_VARIABLE &&
            (symbol->space == GD_SPACE_LOCAL || symbol->space == GD_SPACE_PARAM))
            place_local(decoder, routine, i);
    }
    routine->local = align(routine->local, FRAME_ALIGNMENT);
}

/* The frame of a function: its registers, then scratch ones. */
static bool layout_frame(gd_decoder *decoder, gd_routine *routine)
{
    const gd_symbol_span *span = &decoder->program->spans[routine->function];
    uint64_t used = 0;

    free(decoder->registers);
    decoder->registers =
        calloc((size_t)decoder->function->register_count + 1, sizeof *decoder->registers);
    if (!decoder->registers)
        return gd_decode_memory(decoder);
    for (uint32_t i = span->first; i < span->end; i++) {
        const gd_ptx_symbol *symbol = &decoder->module->symbols[i];
        if (symbol->space != GD_SPACE_REG || symbol->target == GD_PTX_NONE)
            continue;
        uint32_t bytes = gd_ptx_types[symbol->type].bytes;
        for (uint64_t n = 0; n < (uint64_t)symbol->count * symbol->vector; n++) {
            decoder->registers[symbol->target + n] = (gd_register){(uint32_t)used, (uint8_t)bytes};
            used += (uint64_t)(bytes <= 4 ? 4 : bytes) * GD_LANES;
            if (used > MOST_FRAME_BYTES)
                return gd_decode_refuse(decoder, "a function with this many registers");
        }
    }
    decoder->scratch = (uint32_t)used;
    routine->frame = (uint32_t)used + GD_SCRATCH_BYTES;
    return true;
}

/* ---- instructions ---- */

/* Each instruction becomes at least one operation, or its entry is refused: a decoder that does
 * neither is taken for one that refuses. */
static bool decode_instruction(gd_decoder *decoder, uint32_t index)
{
    const gd_op op = (gd_op)decoder->module->instructions[index].op;
    const uint32_t before = decoder->image->code_count;

    decoder->instruction = &decoder->module->instructions[index];
    if (!decoders[op] && !gd_regular_has(op))
        return gd_decode_refuse_with(decoder, op == GD_OP_UNKNOWN ? ": unknown instruction"
                                                                  : " is not emulated");
    if (!gd_decode_read(decoder, index))
        return gd_decode_refuse_form(decoder);
    if (decoder->reading->regular &&
        !(op == GD_OP_MOV && (gd_is_vector(decoder, decoder->operands[0]) ||
                              gd_is_vector(decoder, decoder->operands[1]))))
        return gd_decode_regular(decoder, decoder->reading->regular);
    bool done = decoders[op] && decoders[op](decoder) && gd_decode_end(decoder) &&
                decoder->image->code_count > before;
    return done || gd_decode_refuse_form(decoder);
}

/* A function's end returns, and jumps find where their labels are. */
static bool finish(gd_decoder *decoder)
{
    gd_image *image = decoder->image;

    decoder->guard_not = 0;
    if (!gd_constant(decoder, 4, UINT32_MAX, &decoder->guard) ||
        !gd_emit_register_parameters(decoder, true) || !gd_emit(decoder, gd_run_ret))
        return false;
    for (uint32_t i = 0; i < decoder->fixup_count; i++) {
        const gd_fixup *fixup = &decoder->fixups[i];
        uint32_t start = decoder->starts[fixup->instruction - decoder->function->instruction];
        if (fixup->code != GD_PTX_NONE)
            image->code[fixup->code].target = start;
        else
            image->list[fixup->list] = start;
    }
    decoder->fixup_count = 0;
    return true;
}

static bool decode_routine(gd_decoder *decoder, uint32_t index)
{
    const gd_ptx_module *module = decoder->module;
    gd_routine *routine = &decoder->image->routines[index];
    const gd_ptx_function *function = &module->functions[routine->function];
    uint32_t count = function->instruction_end - function->instruction;

    decoder->function = function;
    decoder->routine = index;
    decoder->instruction =
        count ? &module->instructions[function->instruction] : module->instructions;
    routine->start = decoder->image->code_count;
    free(decoder->starts);
    decoder->starts = calloc((size_t)count + 1, sizeof *decoder->starts);
    if (!decoder->starts)
        return gd_decode_memory(decoder);
    if (!layout_frame(decoder, routine) || !gd_constant(decoder, 4, UINT32_MAX, &decoder->guard))
        return false;
    decoder->guard_not = 0;
    if (!gd_emit_register_parameters(decoder, false))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        decoder->starts[i] = decoder->image->code_count;
        if (!decode_instruction(decoder, function->instruction + i))
            return false;
    }
    decoder->starts[count] = decoder->image->code_count;
    return finish(decoder);
}

/* ---- the stack ---- */

/* What the deepest chain of calls takes: each round lets chains be one call longer, and functions
 * that call themselves end at the most calls that there may be inside one another. */
static bool measure_stack(gd_decoder *decoder)
{
    gd_image *image = decoder->image;
    uint32_t count = image->routine_count;
    uint64_t *need = calloc((size_t)count * 2, sizeof *need);
    bool changed = true;

    if (!need)
        return gd_decode_memory(decoder);
    for (uint32_t i = 0; i < count; i++) {
        need[2 * i] = image->routines[i].frame;
        need[2 * i + 1] = image->routines[i].local;
    }
    for (image->depth = 1; changed && image->depth < GD_CALL_DEPTH; image->depth++) {
        changed = false;
        for (uint32_t i = 0; i < decoder->call_count; i++) {
            const gd_call_edge *edge = &decoder->calls[i];
            for (uint32_t part = 0; part < 2; part++) {
                const gd_routine *caller = &image->routines[edge->caller];
                uint64_t sum =
                    need[2 * edge->callee + part] + (part ? caller->local : caller->frame);
                bool more = sum > need[2 * edge->caller + part] && sum < MOST_FRAME_BYTES;
                changed |= more;
                need[2 * edge->caller + part] = more ? sum : need[2 * edge->caller + part];
            }
        }
    }
    image->frame_bytes = (uint32_t)need[0];
    image->entry.local_bytes = (uint32_t)need[1];
    image->depth += 1;
    free(need);
    return image->entry.local_bytes <= MOST_LOCAL_BYTES ||
           gd_decode_refuse(decoder,
                            "an entry that needs more than 512 KiB of local memory a thread");
}

static bool decode_all(gd_decoder *decoder)
{
    gd_image *image = decoder->image;

    if (!collect(decoder))
        return false;
    place_dynamic(decoder);
    if (!keep_shared(decoder))
        return false;
    for (uint32_t i = 0; i < image->routine_count; i++)
        layout_local(decoder, &image->routines[i]);
    for (uint32_t i = 0; i < image->routine_count; i++) {
        if (!decode_routine(decoder, i))
            return false;
    }
    return gd_emit(decoder, gd_run_end) && measure_stack(decoder);
}

/* How far operations go on without anything but the next one: the interpreter looks up only between
 * such stretches. */
static void measure_stretches(gd_image *image)
{
    uint32_t behind = 0;

    for (uint32_t i = image->code_count; i-- > 0;) {
        gd_code *code = &image->code[i];
        bool plain = code->plain || code->run == gd_run_predicates || code->run == gd_run_convert ||
                     code->run == gd_run_move_wide || code->run == gd_run_pack;
        code->stretch = (uint16_t)(plain && behind < UINT16_MAX ? behind + 1 : 1);
        behind = code->stretch;
    }
}

/* Operations read constants as they read registers, from places that are multiples of 64. */
static bool align_constants(gd_image *image)
{
    void *aligned = NULL;

    if (posix_memalign(&aligned, 64, (size_t)image->constant_bytes + 64))
        return false;
    if (image->constant_bytes)
        memcpy(aligned, image->constants, image->constant_bytes);
    free(image->constants);
    image->constants = aligned;
    return true;
}

bool gd_image_decode(gd_program *program, gd_spellings *spellings, gd_image *image,
                     uint32_t function)
{
    const gd_ptx_module *module = program->module;
    gd_decoder decoder = {
        .module = module, .program = program, .image = image, .spellings = spellings};

    decoder.function = &module->functions[function];
    decoder.instruction = module->instructions;
    decoder.offsets = malloc(((size_t)module->symbol_count + 1) * sizeof *decoder.offsets);
    if (!decoder.offsets)
        return false;
    memset(decoder.offsets, 0xff, ((size_t)module->symbol_count + 1) * sizeof *decoder.offsets);
    image->entry.refused =
        gd_routine_find(&decoder, function) == GD_PTX_NONE || !decode_all(&decoder);
    measure_stretches(image);
    free(decoder.offsets);
    free(decoder.registers);
    free(decoder.starts);
    free(decoder.fixups);
    free(decoder.calls);
    return !decoder.out_of_memory && align_constants(image);
}
