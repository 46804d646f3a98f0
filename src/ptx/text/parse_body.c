/* Function bodies: scopes, labels, instructions. Scopes are kept on a list, not on the stack. */
#include <string.h>

#include "griddep.h"
#include "ptx/text/array.h"
#include "ptx/text/parse.h"

static bool parse_label(gd_parser *parser)
{
    uint32_t name = gd_parse_name(parser);
    uint32_t label =
        name == GD_PTX_NONE ? name : gd_parse_add_symbol(parser, GD_SYMBOL_LABEL, name, parser->at);

    if (label == GD_PTX_NONE)
        return false;
    parser->module->symbols[label].target = parser->module->instruction_count;
    parser->at += 2;
    return gd_parse_bind(parser, label);
}

/* @p or @!p */
static bool parse_guard(gd_parser *parser, uint8_t *flags)
{
    parser->at++;
    *flags = GD_INSTRUCTION_GUARDED;
    if (gd_parse_kind(parser) == '!')
        *flags |= GD_INSTRUCTION_GUARD_NOT;
    return gd_parse_guard(parser);
}

/* Modifiers may stand apart (`griddepcontrol .wait`); the table's names have no gaps. */
static gd_op refine(const gd_parser *parser, gd_op op, uint32_t first, uint32_t count)
{
    char joined[64];
    size_t used = 0;

    if (count == 0 || !gd_op_is_family(op))
        return op;
    for (uint32_t token = first; token < first + count; token++) {
        uint32_t length;
        const char *text = gd_ptx_token_text(parser->module, token, &length);
        if (length > sizeof joined - used)
            break;
        memcpy(joined + used, text, length);
        used += length;
    }
    return gd_op_refine(op, joined, used);
}

/* The opcode's row of ops.def, its modifiers included. */
static bool parse_opcode(gd_parser *parser, gd_ptx_instruction *into)
{
    gd_ptx_module *module = parser->module;
    uint32_t index = gd_parse_name(parser);

    if (index == GD_PTX_NONE)
        return false;
    gd_ptx_name *name = &module->names.list[index];
    if (name->op == GD_PTX_NOT_LOOKED_UP)
        name->op = (uint16_t)gd_op_find(module->text + name->offset, name->length);
    into->opcode = parser->at++;
    uint32_t count = 0;
    while (gd_parse_kind(parser) == GD_TOKEN_DOTTED) {
        if (count++ == GD_PTX_LIMIT_MODIFIERS)
            return GD_PARSE_FAIL_LIMIT(parser, GD_PTX_LIMIT_MODIFIERS, "modifiers");
        parser->at++;
    }
    into->modifiers = (uint8_t)count;
    into->op = (uint16_t)refine(parser, (gd_op)name->op, into->opcode + 1, count);
    return true;
}

static bool add_control(gd_parser *parser, const gd_ptx_instruction *instruction)
{
    gd_ptx_module *module = parser->module;

    if (gd_ops[instruction->op].control != GD_CONTROL_GRIDDEP)
        return true;
    if (module->control_count == module->control_capacity &&
        !gd_array_grow((void **)&module->controls, &module->control_capacity,
                       sizeof *module->controls))
        return gd_parse_memory(parser);
    module->controls[module->control_count++] = (gd_ptx_control){
        .instruction = module->instruction_count,
        .kind = instruction->op == GD_OP_GRIDDEPCONTROL_WAIT ? GD_PTX_CONTROL_WAIT
                                                             : GD_PTX_CONTROL_LAUNCH_DEPENDENTS,
        .predicated = instruction->flags & GD_INSTRUCTION_GUARDED,
    };
    return true;
}

static bool add_instruction(gd_parser *parser, const gd_ptx_instruction *instruction)
{
    gd_ptx_module *module = parser->module;

    if (module->instruction_count == module->instruction_capacity &&
        !gd_array_grow((void **)&module->instructions, &module->instruction_capacity,
                       sizeof *module->instructions))
        return gd_parse_memory(parser);
    if (!add_control(parser, instruction))
        return false;
    module->instructions[module->instruction_count++] = *instruction;
    return true;
}

/* ptxas takes '%r1|_' for '%r1' where an instruction's first destination stands. */
static void drop_sink(gd_parser *parser, uint32_t operand)
{
    gd_ptx_module *module = parser->module;
    gd_ptx_operand *pair = &module->operands[operand];

    if (pair->kind != GD_OPERAND_PAIR || module->operand_count - operand != 3 ||
        pair[1].kind == GD_OPERAND_SINK || pair[2].kind != GD_OPERAND_SINK || pair[2].flags)
        return;
    pair[1].token_end = pair->token_end;
    pair[1].end = operand + 1;
    if (parser->pending_count && parser->pending[parser->pending_count - 1] == operand + 1)
        parser->pending[parser->pending_count - 1] = operand;
    *pair = pair[1];
    module->operand_count = operand + 1;
}

/* A backslash in front of an instruction, or behind its guard, is overlooked, as ptxas does. */
static bool parse_instruction(gd_parser *parser)
{
    gd_parse_skip(parser, '\\');
    gd_ptx_instruction instruction = {.token = parser->at, .scope = parser->scope};

    if (gd_parse_kind(parser) == '@') {
        if (!parse_guard(parser, &instruction.flags))
            return false;
        gd_parse_skip(parser, '\\');
    }
    if (gd_parse_kind(parser) != GD_TOKEN_NAME)
        return gd_parse_fail(parser, "an instruction");
    if (!parse_opcode(parser, &instruction))
        return false;
    instruction.operand = parser->module->operand_count;
    parser->is_call = gd_ops[instruction.op].control == GD_CONTROL_CALL;
    if (gd_parse_kind(parser) != ';' && !gd_parse_begins(parser)) {
        do {
            if (!gd_parse_operand(parser, 0))
                return false;
            drop_sink(parser, instruction.operand);
        } while (gd_parse_skip(parser, ','));
    }
    if (!gd_parse_finish(parser, "',' or ';'"))
        return false;
    instruction.operand_end = parser->module->operand_count;
    instruction.token_end = parser->at;
    return add_instruction(parser, &instruction);
}

/* Whether an .entry or .func stands here, where a body has lost its '}'. */
static bool starts_function(gd_parser *parser)
{
    const gd_word *word = gd_parse_word(parser);

    return word && (word->class == GD_WORD_ENTRY || word->class == GD_WORD_FUNC);
}

static bool parse_dotted(gd_parser *parser)
{
    const gd_word *word = gd_parse_word(parser);

    if (!word)
        return false;
    switch (word->class) {
    case GD_WORD_SPACE:
    case GD_WORD_ALIGN:
    case GD_WORD_ATTRIBUTE:
        return gd_parse_variables(parser, parser->at, 0);
    case GD_WORD_ENTRY:
    case GD_WORD_FUNC:
    case GD_WORD_VERSION:
    case GD_WORD_TARGET:
    case GD_WORD_ADDRESS_SIZE:
        return gd_parse_fail(parser, "'}'");
    case GD_WORD_LINK: {
        uint32_t token = parser->at++;
        return gd_parse_variables(parser, token, word->value);
    }
    default:
        return gd_parse_directive(parser, word);
    }
}

static bool parse_statement(gd_parser *parser)
{
    uint32_t kind = gd_parse_kind(parser);

    if (kind == GD_TOKEN_NAME && gd_parse_next_kind(parser) == ':')
        return parse_label(parser);
    bool done = kind == GD_TOKEN_NAME || kind == '@' || kind == '\\' ? parse_instruction(parser)
                : kind == GD_TOKEN_DOTTED
                    ? parse_dotted(parser)
                    : gd_parse_fail(parser, "an instruction, a directive or '}'");
    parser->first_label = parser->module->symbol_count;
    return done;
}

bool gd_parse_body(gd_parser *parser)
{
    uint32_t outermost = parser->depth;

    parser->at++;
    parser->first_label = parser->module->symbol_count;
    for (;;) {
        uint32_t from = parser->at;
        if (gd_parse_skip(parser, '}')) {
            if (parser->depth == outermost)
                return true;
            gd_parse_close_scope(parser, from);
        } else if (gd_parse_skip(parser, '{')) {
            parser->at--;
            if (!gd_parse_open_scope(parser, from))
                return false;
            parser->at++;
        } else if (gd_parse_kind(parser) == GD_TOKEN_END) {
            return gd_parse_fail(parser, "'}'");
        } else if (!parse_statement(parser)) {
            if (parser->out_of_memory || parser->errors >= GD_PTX_LIMIT_DIAGNOSTICS)
                return false;
            if (starts_function(parser))
                return false;
            gd_parse_resume(parser, from);
        }
    }
}
