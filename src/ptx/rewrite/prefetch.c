/* cp.async.bulk.prefetch (PTX ISA 9.7.9.25.6) over a grid's CTAs. */
#include <inttypes.h>
#include <string.h>

#include "ptx/rewrite/prefetch.h"

/* Names in a scope hide those outside; only the parameter is meant from there. */
#define PREFIX "%griddep_prefetch_"
#define ADDRESS PREFIX "address"

/* In it ~ stands for the prefix of names, # for the units of 16 bytes that all CTAs fetch together,
 * ? for the parameter. block is the CTA's number in the grid, then its first unit, then that in
 * bytes; blocks is how many CTAs there are; share is how many units each fetches, the last one's
 * clipped. */
static const char template[] = "{\n"
                               ".reg .pred ~off;\n"
                               ".reg .b32 ~word, ~other;\n"
                               ".reg .b64 ~block, ~blocks, ~share, ~address;\n"
                               "mov.u32 ~word, %tid.x;\n"
                               "mov.u32 ~other, %tid.y;\n"
                               "or.b32 ~word, ~word, ~other;\n"
                               "mov.u32 ~other, %tid.z;\n"
                               "or.b32 ~word, ~word, ~other;\n"
                               "setp.ne.u32 ~off, ~word, 0;\n"
                               "@~off bra GRIDDEP_PREFETCH_DONE;\n"
                               "mov.u32 ~word, %ctaid.z;\n"
                               "mov.u32 ~other, %nctaid.y;\n"
                               "mul.wide.u32 ~block, ~word, ~other;\n"
                               "mov.u32 ~word, %ctaid.y;\n"
                               "cvt.u64.u32 ~share, ~word;\n"
                               "add.u64 ~block, ~block, ~share;\n"
                               "mov.u32 ~word, %nctaid.x;\n"
                               "cvt.u64.u32 ~share, ~word;\n"
                               "mul.lo.u64 ~block, ~block, ~share;\n"
                               "mul.wide.u32 ~blocks, ~word, ~other;\n"
                               "mov.u32 ~word, %ctaid.x;\n"
                               "cvt.u64.u32 ~share, ~word;\n"
                               "add.u64 ~block, ~block, ~share;\n"
                               "mov.u32 ~word, %nctaid.z;\n"
                               "cvt.u64.u32 ~share, ~word;\n"
                               "mul.lo.u64 ~blocks, ~blocks, ~share;\n"
                               "add.u64 ~share, ~blocks, #;\n"
                               "sub.u64 ~share, ~share, 1;\n"
                               "div.u64 ~share, ~share, ~blocks;\n"
                               "mul.lo.u64 ~block, ~block, ~share;\n"
                               "setp.ge.u64 ~off, ~block, #;\n"
                               "@~off bra GRIDDEP_PREFETCH_DONE;\n"
                               "sub.u64 ~blocks, #, ~block;\n"
                               "min.u64 ~share, ~share, ~blocks;\n"
                               "shl.b64 ~share, ~share, 4;\n"
                               "cvt.u32.u64 ~word, ~share;\n"
                               "shl.b64 ~block, ~block, 4;\n"
                               "ld.param.u64 ~address, [?];\n"
                               "cvta.to.global.u64 ~address, ~address;\n"
                               "and.b64 ~address, ~address, -16;\n"
                               "add.u64 ~address, ~address, ~block;\n"
                               "cp.async.bulk.prefetch.L2.global [~address], ~word;\n"
                               "GRIDDEP_PREFETCH_DONE:\n"
                               "}\n";

void gd_prefetch_write(gd_text *text, const char *parameter, uint64_t bytes)
{
    for (const char *at = template; *at;) {
        size_t plain = strcspn(at, "~#?");
        gd_text_append(text, at, plain);
        at += plain;
        if (*at == '~')
            gd_text_string(text, PREFIX);
        else if (*at == '#')
            gd_text_format(text, "%" PRIu64, bytes / 16);
        else if (*at)
            gd_text_string(text, parameter);
        at += *at != 0;
    }
}

/* Whether an instruction loads a parameter to the address register. */
static bool loads_address(const gd_ptx_module *module, const gd_ptx_instruction *load,
                          const char *parameter)
{
    if (load->op != GD_OP_LD || load->operand == load->operand_end)
        return false;
    const gd_ptx_operand *target = &module->operands[load->operand];
    if (target->kind != GD_OPERAND_REGISTER || target->end + 1 >= load->operand_end ||
        !gd_ptx_token_is(module, target->token, ADDRESS))
        return false;
    const gd_ptx_operand *source = &module->operands[target->end];
    const gd_ptx_operand *address = &module->operands[target->end + 1];
    return source->kind == GD_OPERAND_MEMORY && address->kind == GD_OPERAND_SYMBOL &&
           gd_ptx_token_is(module, address->token, parameter);
}

uint32_t gd_prefetch_find(const gd_ptx_module *module, const gd_ptx_function *entry,
                          const char *parameter, uint32_t *instruction)
{
    while (*instruction < entry->instruction_end) {
        const gd_ptx_instruction *item = &module->instructions[(*instruction)++];
        if (item->scope != entry->scope && loads_address(module, item, parameter))
            return item->scope;
    }
    return GD_PTX_NONE;
}
