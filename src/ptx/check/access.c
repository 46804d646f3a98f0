/* Reading accesses and synchronization off instructions. */
#include <string.h>

#include "ptx/check/access.h"
#include "ptx/text/word.h"

/* ---- modifiers and operands ---- */

bool gd_instruction_has(const gd_ptx_module *module, const gd_ptx_instruction *instruction,
                        const char *modifier)
{
    for (uint32_t i = 1; i <= instruction->modifiers; i++) {
        if (gd_ptx_token_is(module, instruction->opcode + i, modifier))
            return true;
    }
    return false;
}

/* The n-th state space among an instruction's modifiers, from 0; GD_SPACE_NONE when it names
 * fewer. */
static gd_ptx_space space_of(const gd_ptx_module *module, const gd_ptx_instruction *instruction,
                             uint32_t n)
{
    for (uint32_t i = 1; i <= instruction->modifiers; i++) {
        uint32_t length;
        const char *text = gd_ptx_token_text(module, instruction->opcode + i, &length);
        const gd_ptx_space space = gd_space_of_modifier(text + 1, length - 1);
        if (space != GD_SPACE_NONE && n-- == 0)
            return space;
    }
    return GD_SPACE_NONE;
}

/* The n-th memory operand, from 0; GD_PTX_NONE when there are fewer. */
static uint32_t memory_operand(const gd_ptx_module *module, const gd_ptx_instruction *instruction,
                               uint32_t n)
{
    for (uint32_t i = instruction->operand; i < instruction->operand_end;
         i = module->operands[i].end) {
        if (module->operands[i].kind == GD_OPERAND_MEMORY && n-- == 0)
            return i;
    }
    return GD_PTX_NONE;
}

/* ---- accesses ---- */

static const gd_access no_access = {.operand = GD_PTX_NONE, .flags = 0};
static const gd_access any_access = {.operand = GD_PTX_NONE, .flags = GD_ACCESS_ANYTHING};

static gd_access access_at(const gd_ptx_module *module, const gd_ptx_instruction *instruction,
                           uint32_t n, uint32_t flags)
{
    uint32_t operand = memory_operand(module, instruction, n);

    return operand == GD_PTX_NONE ? any_access : (gd_access){.operand = operand, .flags = flags};
}

/* Loads, stores, atomics: one address, one state space, generic when none is named. */
static gd_access plain_access(const gd_ptx_module *module, const gd_ptx_instruction *instruction,
                              uint32_t flags)
{
    gd_ptx_space space = space_of(module, instruction, 0);

    if (space == GD_SPACE_NONE)
        return access_at(module, instruction, 0, flags | GD_ACCESS_GENERIC);
    return space == GD_SPACE_GLOBAL ? access_at(module, instruction, 0, flags) : no_access;
}

/* Copies name the state space of their destination, then that of their source; operands stand in
 * the same order. */
static gd_access copy_access(const gd_ptx_module *module, const gd_ptx_instruction *instruction)
{
    const bool mapped = instruction->op == GD_OP_CP_ASYNC_BULK_TENSOR ||
                        instruction->op == GD_OP_CP_REDUCE_ASYNC_BULK_TENSOR;
    const uint32_t flags = GD_ACCESS_ASYNCHRONOUS | (mapped ? GD_ACCESS_MAPPED : 0);

    if (space_of(module, instruction, 0) == GD_SPACE_GLOBAL)
        return access_at(module, instruction, 0, GD_ACCESS_WRITE | flags);
    if (space_of(module, instruction, 1) == GD_SPACE_GLOBAL)
        return access_at(module, instruction, 1, GD_ACCESS_READ | flags);
    return space_of(module, instruction, 0) == GD_SPACE_NONE ? any_access : no_access;
}

/* red.async and st.async go to shared memory of the cluster unless they say .global. */
static gd_access remote_access(const gd_ptx_module *module, const gd_ptx_instruction *instruction)
{
    if (space_of(module, instruction, 0) != GD_SPACE_GLOBAL)
        return no_access;
    return access_at(module, instruction, 0, GD_ACCESS_WRITE | GD_ACCESS_ASYNCHRONOUS);
}

static gd_access load_access(const gd_ptx_module *module, const gd_ptx_instruction *instruction)
{
    bool noncoherent =
        gd_instruction_has(module, instruction, ".nc") || instruction->op == GD_OP_LDU;

    return plain_access(module, instruction,
                        GD_ACCESS_READ | (noncoherent ? GD_ACCESS_NONCOHERENT : 0));
}

/* Of a narrower scope it is atomic in the CTA or cluster alone (PTX ISA 9.7.13, atom and red). */
static gd_access atomic_access(const gd_ptx_module *module, const gd_ptx_instruction *instruction)
{
    const bool narrow = gd_instruction_has(module, instruction, ".cta") ||
                        gd_instruction_has(module, instruction, ".cluster");

    return plain_access(module, instruction,
                        GD_ACCESS_READ | GD_ACCESS_WRITE | (narrow ? 0 : GD_ACCESS_ATOMIC));
}

/* What the table says of an instruction's memory effect, where the address is its one memory
 * operand. */
static gd_access table_access(const gd_ptx_module *module, const gd_ptx_instruction *instruction)
{
    switch (gd_ops[instruction->op].memory) {
    case GD_MEMORY_READ:
        return plain_access(module, instruction, GD_ACCESS_READ);
    case GD_MEMORY_WRITE:
        return plain_access(module, instruction, GD_ACCESS_WRITE);
    case GD_MEMORY_READ_WRITE:
        return plain_access(module, instruction, GD_ACCESS_READ | GD_ACCESS_WRITE);
    case GD_MEMORY_UNKNOWN:
        return any_access;
    default:
        return no_access;
    }
}

gd_access gd_access_of(const gd_ptx_module *module, const gd_ptx_instruction *instruction)
{
    switch (instruction->op) {
    case GD_OP_LD:
    case GD_OP_LDU:
        return load_access(module, instruction);
    case GD_OP_ATOM:
    case GD_OP_RED:
        return atomic_access(module, instruction);
    case GD_OP_TEX:
    case GD_OP_TLD4:
        return access_at(module, instruction, 0, GD_ACCESS_READ | GD_ACCESS_NONCOHERENT);
    case GD_OP_SULD:
        return access_at(module, instruction, 0, GD_ACCESS_READ);
    case GD_OP_SUST:
        return access_at(module, instruction, 0, GD_ACCESS_WRITE);
    case GD_OP_SURED:
        return access_at(module, instruction, 0, GD_ACCESS_READ | GD_ACCESS_WRITE);
    case GD_OP_CP_ASYNC:
    case GD_OP_CP_ASYNC_BULK:
    case GD_OP_CP_ASYNC_BULK_TENSOR:
    case GD_OP_CP_REDUCE_ASYNC_BULK:
    case GD_OP_CP_REDUCE_ASYNC_BULK_TENSOR:
    case GD_OP_TENSORMAP_CP_FENCEPROXY:
        return copy_access(module, instruction);
    case GD_OP_ST_ASYNC:
    case GD_OP_RED_ASYNC:
        return remote_access(module, instruction);
    default:
        return table_access(module, instruction);
    }
}

/* ---- synchronization ---- */

/* The number of a CTA barrier: the first operand when it is a literal. bar.red has its destination
 * in front. */
static uint64_t barrier_number(const gd_ptx_module *module, const gd_ptx_instruction *instruction,
                               bool reduces)
{
    uint32_t operand = instruction->operand;

    if (reduces && operand < instruction->operand_end)
        operand = module->operands[operand].end;
    if (operand >= instruction->operand_end || module->operands[operand].kind != GD_OPERAND_INTEGER)
        return GD_SYNC_ANY;
    return module->operands[operand].value;
}

static gd_sync cta_barrier(const gd_ptx_module *module, const gd_ptx_instruction *instruction,
                           bool waits, bool reduces)
{
    return (gd_sync){.kind = GD_SYNC_CTA,
                     .arrives = true,
                     .waits = waits,
                     .id = barrier_number(module, instruction, reduces)};
}

/* Which mbarrier: told apart only where the address is a variable, plus a constant. */
static uint64_t mbarrier_id(const gd_ptx_module *module, const gd_ptx_instruction *instruction)
{
    uint32_t memory = memory_operand(module, instruction, 0);

    if (memory == GD_PTX_NONE || memory + 1 >= module->operands[memory].end)
        return GD_SYNC_ANY;
    const gd_ptx_operand *address = &module->operands[memory + 1];
    if (address->kind != GD_OPERAND_SYMBOL || address->symbol == GD_PTX_NONE)
        return GD_SYNC_ANY;
    uint64_t offset = address->flags & GD_OPERAND_OFFSET ? address->value & 0x3fffffff : 0;
    return (uint64_t)address->symbol << 30 | offset;
}

static gd_sync mbarrier(uint64_t id, bool waits)
{
    return (gd_sync){.kind = GD_SYNC_MBARRIER, .arrives = !waits, .waits = waits, .id = id};
}

/* A hand-made flag is read with .acquire or .volatile from shared memory. */
static gd_sync flag_read(const gd_ptx_module *module, const gd_ptx_instruction *instruction)
{
    gd_ptx_space space = space_of(module, instruction, 0);
    bool ordered = gd_instruction_has(module, instruction, ".acquire") ||
                   gd_instruction_has(module, instruction, ".volatile") ||
                   gd_instruction_has(module, instruction, ".relaxed") ||
                   gd_instruction_has(module, instruction, ".acq_rel");

    if (!ordered || space != GD_SPACE_SHARED)
        return (gd_sync){.kind = GD_SYNC_NONE};
    return (gd_sync){.kind = GD_SYNC_FLAG, .waits = true, .id = GD_SYNC_ANY};
}

gd_sync gd_sync_of(const gd_ptx_module *module, const gd_ptx_instruction *instruction)
{
    switch ((gd_op_sync)gd_ops[instruction->op].sync) {
    case GD_OP_SYNC_WARP:
        return (gd_sync){.kind = GD_SYNC_WARP, .arrives = true, .waits = true, .id = GD_SYNC_ANY};
    case GD_OP_SYNC_CTA:
        return cta_barrier(module, instruction, true, false);
    case GD_OP_SYNC_CTA_RED:
        return cta_barrier(module, instruction, true, true);
    case GD_OP_SYNC_CTA_ARRIVE:
        return cta_barrier(module, instruction, false, false);
    case GD_OP_SYNC_CLUSTER_ARRIVE:
        return (gd_sync){.kind = GD_SYNC_CLUSTER, .arrives = true, .id = GD_SYNC_ANY};
    case GD_OP_SYNC_CLUSTER_WAIT:
        return (gd_sync){.kind = GD_SYNC_CLUSTER, .waits = true, .id = GD_SYNC_ANY};
    case GD_OP_SYNC_MBARRIER_WAIT:
        return mbarrier(mbarrier_id(module, instruction), true);
    case GD_OP_SYNC_MBARRIER_ARRIVE:
        return mbarrier(mbarrier_id(module, instruction), false);
    case GD_OP_SYNC_COPY_ARRIVE:
        return mbarrier(GD_SYNC_ANY, false);
    case GD_OP_SYNC_COPY:
        if (gd_instruction_has(module, instruction, ".mbarrier::complete_tx::bytes"))
            return mbarrier(GD_SYNC_ANY, false);
        return (gd_sync){.kind = GD_SYNC_NONE};
    case GD_OP_SYNC_FLAG:
        return flag_read(module, instruction);
    default:
        return (gd_sync){.kind = GD_SYNC_NONE};
    }
}

bool gd_sync_is_release_fence(const gd_ptx_module *module, const gd_ptx_instruction *instruction)
{
    if (instruction->op == GD_OP_MEMBAR)
        return gd_instruction_has(module, instruction, ".gl") ||
               gd_instruction_has(module, instruction, ".sys");
    if (instruction->op != GD_OP_FENCE || gd_instruction_has(module, instruction, ".acquire"))
        return false;
    return gd_instruction_has(module, instruction, ".gpu") ||
           gd_instruction_has(module, instruction, ".sys");
}
