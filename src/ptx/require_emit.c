/* The steps of a condition. An operand that is a name or a number stands in its step, so that "columns % 8 == 0" has
 * two of them. */
#include "ptx/array.h"
#include "ptx/require_compile.h"

typedef struct operand {
    uint8_t from;
    uint16_t index;
} operand;

typedef struct emitter {
    gd_require_reader *reader;
    uint32_t stack; /* values on it at this point */
} emitter;

static void emit(emitter *out, gd_require_step step);
static void emit_node(emitter *out, uint16_t index);

static void lose_memory(emitter *out)
{
    out->reader->no_memory = out->reader->failed = true;
}

static uint16_t add_constant(emitter *out, gd_require_value value)
{
    gd_requires *terms = out->reader->terms;
    void *list = terms->constants;

    if (terms->constant_count == terms->constant_capacity) {
        bool grown = gd_array_grow(&list, &terms->constant_capacity, sizeof *terms->constants);
        terms->constants = list;
        if (!grown) {
            lose_memory(out);
            return 0;
        }
    }
    terms->constants[terms->constant_count] = value;
    return (uint16_t)terms->constant_count++;
}

static void push(emitter *out, uint32_t offset)
{
    if (++out->stack > GD_REQUIRE_LIMIT_STACK)
        gd_require_wrong(out->reader, offset, "found more than %d values that wait for others (GD_REQUIRE_LIMIT_STACK)",
                         GD_REQUIRE_LIMIT_STACK);
}

static operand emit_operand(emitter *out, uint16_t index)
{
    const gd_require_node *node = &out->reader->nodes[index];

    if (node->op == GD_REQUIRE_OP_NAME)
        return (operand){GD_REQUIRE_FROM_NAME, node->left};
    if (node->op == GD_REQUIRE_OP_CONSTANT)
        return (operand){GD_REQUIRE_FROM_CONSTANT, add_constant(out, node->value)};
    emit_node(out, index);
    return (operand){GD_REQUIRE_FROM_STACK, 0};
}

static void emit(emitter *out, gd_require_step step)
{
    gd_requires *terms = out->reader->terms;
    void *list = terms->steps;

    if (out->reader->failed)
        return;
    if (terms->step_count == terms->step_capacity) {
        bool grown = gd_array_grow(&list, &terms->step_capacity, sizeof *terms->steps);
        terms->steps = list;
        if (!grown) {
            lose_memory(out);
            return;
        }
    }
    terms->steps[terms->step_count++] = step;
}

/* The truth of the left side stays where it decides; else it gives way to that of the right one. */
static void emit_both(emitter *out, const gd_require_node *node)
{
    gd_requires *terms = out->reader->terms;
    bool both = node->op == GD_REQUIRE_OP_AND;

    emit_node(out, node->left);
    uint32_t skip = terms->step_count;
    emit(out, (gd_require_step){.op = both ? GD_REQUIRE_OP_SKIP_IF_FALSE : GD_REQUIRE_OP_SKIP_IF_TRUE});
    out->stack--;
    emit_node(out, node->right);
    if (!out->reader->failed)
        terms->steps[skip].left = (uint16_t)terms->step_count;
}

static void emit_binary(emitter *out, const gd_require_node *node)
{
    operand left = emit_operand(out, node->left), right = emit_operand(out, node->right);

    out->stack -= (left.from == GD_REQUIRE_FROM_STACK) + (uint32_t)(right.from == GD_REQUIRE_FROM_STACK);
    push(out, node->offset);
    emit(out, (gd_require_step){.op = node->op,
                                .real = out->reader->nodes[node->left].type == GD_REQUIRE_REAL,
                                .left_from = left.from,
                                .right_from = right.from,
                                .left = left.index,
                                .right = right.index});
}

/* Operations with one operand; a name or a number by itself is put on the stack. */
static void emit_unary(emitter *out, uint16_t index)
{
    const gd_require_node *node = &out->reader->nodes[index];
    bool itself = node->op == GD_REQUIRE_OP_NAME || node->op == GD_REQUIRE_OP_CONSTANT;
    operand of = emit_operand(out, itself ? index : node->left);

    out->stack -= of.from == GD_REQUIRE_FROM_STACK;
    push(out, node->offset);
    emit(out, (gd_require_step){.op = node->op,
                                .real = node->type == GD_REQUIRE_REAL && node->op != GD_REQUIRE_OP_CONVERT,
                                .left_from = of.from,
                                .left = of.index});
}

static void emit_node(emitter *out, uint16_t index)
{
    const gd_require_node *node = &out->reader->nodes[index];

    if (out->reader->failed)
        return;
    if (node->op == GD_REQUIRE_OP_AND || node->op == GD_REQUIRE_OP_OR)
        emit_both(out, node);
    else if ((node->op >= GD_REQUIRE_OP_ADD && node->op <= GD_REQUIRE_OP_MAXIMUM) || node->op == GD_REQUIRE_OP_APART)
        emit_binary(out, node);
    else
        emit_unary(out, index);
}

bool gd_require_emit(gd_require_reader *reader, uint16_t node, gd_require_program *program)
{
    emitter out = {.reader = reader};
    uint32_t step = reader->terms->step_count, constant = reader->terms->constant_count;

    emit_node(&out, node);
    if (reader->failed) {
        reader->terms->step_count = step;
        reader->terms->constant_count = constant;
        return false;
    }
    *program = (gd_require_program){(uint16_t)step, (uint16_t)reader->terms->step_count};
    return true;
}
