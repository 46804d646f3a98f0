/* A condition's grammar, by recursive descent, from || down to names and numbers. Each node knows its type; what is
 * constant is computed at once. */
#include <string.h>

#include "base/nearest.h"
#include "ptx/array.h"
#include "ptx/require_compile.h"

static uint16_t parse_or(gd_require_reader *reader);

/* ---- nodes ---- */

static uint16_t add_node(gd_require_reader *reader, const gd_require_node *node)
{
    if (reader->failed)
        return GD_REQUIRE_NONE;
    if (reader->node_count == GD_REQUIRE_LIMIT_NODES)
        return gd_require_wrong(reader, node->offset,
                                "found a condition of more than %d parts "
                                "(GD_REQUIRE_LIMIT_NODES); give it as several",
                                GD_REQUIRE_LIMIT_NODES);
    reader->nodes[reader->node_count] = *node;
    return (uint16_t)reader->node_count++;
}

static bool is_constant(const gd_require_node *node)
{
    return node->op == GD_REQUIRE_OP_CONSTANT;
}

static const char *word_of(uint8_t op)
{
    static const char *const words[] = {
#define REQUIRE_OP(identifier, word) word,
#include "ptx/require_ops.def"
#undef REQUIRE_OP
    };

    return words[op];
}

static bool is_comparison(uint8_t op)
{
    return op >= GD_REQUIRE_OP_EQUAL && op <= GD_REQUIRE_OP_GREATER_EQUAL;
}

/* Computes a node whose operands are constant. */
static uint16_t fold(gd_require_reader *reader, gd_require_node *node, bool real, const gd_require_value *left,
                     const gd_require_value *right)
{
    gd_require_value value = {0};
    gd_require_outcome outcome = gd_require_apply((gd_require_op)node->op, real, left, right, &value);

    if (outcome != GD_REQUIRE_DONE)
        return gd_require_wrong(reader, node->offset,
                                outcome == GD_REQUIRE_OVERFLOWS ? "found a number beyond 127 bits"
                                                                : "found a division by zero");
    node->op = GD_REQUIRE_OP_CONSTANT;
    node->value = value;
    return add_node(reader, node);
}

/* An integer beside a real one becomes real too. */
static uint16_t convert(gd_require_reader *reader, uint16_t index)
{
    const gd_require_node *from = &reader->nodes[index];
    gd_require_node node = {
        .op = GD_REQUIRE_OP_CONVERT, .type = GD_REQUIRE_REAL, .left = index, .offset = from->offset};

    if (from->type == GD_REQUIRE_REAL)
        return index;
    node.single = node.literal = is_constant(from);
    return is_constant(from) ? fold(reader, &node, false, &from->value, NULL) : add_node(reader, &node);
}

/* Beside an f32 a written number means the f32 next to it: 1e-6 is what a caller passes as 1e-6f. */
static void round_literal(gd_require_node *literal, const gd_require_node *other)
{
    if (literal->literal && is_constant(literal) && other->single && !other->literal)
        literal->value.real = (double)(float)literal->value.real;
}

static uint16_t truth_wanted(gd_require_reader *reader, uint16_t index, const char *what)
{
    if (index == GD_REQUIRE_NONE || reader->nodes[index].type == GD_REQUIRE_TRUTH)
        return index;
    return gd_require_wrong(reader, reader->nodes[index].offset,
                            "found a number, expected a condition%s, such as columns %% 8 == 0", what);
}

static bool number_wanted(gd_require_reader *reader, uint16_t index, uint8_t op)
{
    if (reader->nodes[index].type != GD_REQUIRE_TRUTH)
        return true;
    gd_require_wrong(reader, reader->nodes[index].offset, "found a condition beside %s, expected a number%s",
                     word_of(op), is_comparison(op) ? "; a < b < c is written a < b && b < c" : "");
    return false;
}

static uint16_t add_binary(gd_require_reader *reader, gd_require_op op, uint16_t left, uint16_t right, uint32_t offset)
{
    gd_require_node node = {.op = (uint8_t)op, .offset = offset};

    if (left == GD_REQUIRE_NONE || right == GD_REQUIRE_NONE || !number_wanted(reader, left, node.op) ||
        !number_wanted(reader, right, node.op))
        return GD_REQUIRE_NONE;
    bool real = reader->nodes[left].type == GD_REQUIRE_REAL || reader->nodes[right].type == GD_REQUIRE_REAL;
    if (real && op == GD_REQUIRE_OP_REMAINDER)
        return gd_require_wrong(reader, offset, "found %% of a floating-point number; it is for integers");
    if (real) {
        left = convert(reader, left);
        right = convert(reader, right);
        if (reader->failed)
            return GD_REQUIRE_NONE;
        round_literal(&reader->nodes[left], &reader->nodes[right]);
        round_literal(&reader->nodes[right], &reader->nodes[left]);
    }
    const gd_require_node *a = &reader->nodes[left], *b = &reader->nodes[right];
    bool divides = op == GD_REQUIRE_OP_DIVIDE || op == GD_REQUIRE_OP_REMAINDER;
    if (divides && is_constant(b) && (real ? b->value.real == 0.0 : !b->value.integer))
        return gd_require_wrong(reader, offset, "found a division by zero");
    node.left = left;
    node.right = right;
    node.type = is_comparison(node.op) ? GD_REQUIRE_TRUTH : real ? GD_REQUIRE_REAL : GD_REQUIRE_INTEGER;
    node.single = a->single && b->single;
    node.literal = a->literal && b->literal;
    return is_constant(a) && is_constant(b) ? fold(reader, &node, real, &a->value, &b->value) : add_node(reader, &node);
}

/* NEGATE and POWER_OF_TWO. */
static uint16_t add_unary(gd_require_reader *reader, gd_require_op op, uint16_t operand, uint32_t offset)
{
    gd_require_node node = {.op = (uint8_t)op, .left = operand, .offset = offset};

    if (operand == GD_REQUIRE_NONE || !number_wanted(reader, operand, node.op))
        return GD_REQUIRE_NONE;
    const gd_require_node *of = &reader->nodes[operand];
    bool real = of->type == GD_REQUIRE_REAL;
    if (real && op == GD_REQUIRE_OP_POWER_OF_TWO)
        return gd_require_wrong(reader, offset, "found power_of_two() of a floating-point number; it is for integers");
    node.type = op == GD_REQUIRE_OP_POWER_OF_TWO ? GD_REQUIRE_TRUTH : of->type;
    node.single = of->single;
    node.literal = of->literal;
    return is_constant(of) ? fold(reader, &node, real, &of->value, NULL) : add_node(reader, &node);
}

/* ---- names ---- */

static const char *const shape_names[GD_REQUIRE_SHAPE] = {"grid.x",  "grid.y",    "grid.z",    "block.x",   "block.y",
                                                          "block.z", "cluster.x", "cluster.y", "cluster.z", "shared"};

static uint16_t unknown_name(gd_require_reader *reader, const char *name, uint32_t bytes, uint32_t offset)
{
    const gd_ptx_function *entry = reader->entry;
    gd_nearest nearest = {.word = name, .bytes = bytes};

    for (uint32_t i = 0; i < entry->parameter_end - entry->parameter; i++)
        gd_nearest_look(&nearest, entry->parameter_names[i]);
    for (size_t i = 0; i < GD_REQUIRE_SHAPE; i++)
        gd_nearest_look(&nearest, shape_names[i]);
    int shown = bytes > 60 ? 60 : (int)bytes;
    if (nearest.name)
        return gd_require_wrong(reader, offset, "entry %.60s has no parameter \"%.*s\"; did you mean \"%.60s\"?",
                                entry->name, shown, name, nearest.name);
    return gd_require_wrong(reader, offset,
                            "entry %.60s has no parameter \"%.*s\"; besides parameters there are grid.x to grid.z, "
                            "block.x ..., cluster.x ..., shared",
                            entry->name, shown, name);
}

static uint16_t add_name(gd_require_reader *reader, const gd_require_name *name, uint32_t offset)
{
    gd_requires *terms = reader->terms;
    void *list = terms->names;

    for (uint32_t i = 0; i < terms->name_count; i++) {
        if (terms->names[i].name == name->name)
            return (uint16_t)i;
    }
    if (terms->name_count == GD_REQUIRE_LIMIT_NAMES)
        return gd_require_wrong(reader, offset,
                                "found more than %d names in an entry's conditions "
                                "(GD_REQUIRE_LIMIT_NAMES)",
                                GD_REQUIRE_LIMIT_NAMES);
    if (terms->name_count == terms->name_capacity) {
        bool grown = gd_array_grow(&list, &terms->name_capacity, sizeof *terms->names);
        terms->names = list;
        reader->no_memory |= !grown;
        if (!grown)
            return gd_require_wrong(reader, offset, "no memory");
    }
    terms->names[terms->name_count] = *name;
    return (uint16_t)terms->name_count++;
}

/* What a parameter's type means to a condition; false: nothing. */
static bool read_type(const gd_ptx_symbol *symbol, gd_require_name *name)
{
    if (symbol->flags & GD_SYMBOL_ARRAY || symbol->bytes > 8)
        return false;
    switch (symbol->type) {
    case GD_TYPE_S8:
    case GD_TYPE_S16:
    case GD_TYPE_S32:
    case GD_TYPE_S64:
        name->is_signed = true;
        break;
    case GD_TYPE_F32:
    case GD_TYPE_F64:
        name->is_real = true;
        break;
    case GD_TYPE_U8:
    case GD_TYPE_U16:
    case GD_TYPE_U32:
    case GD_TYPE_U64:
    case GD_TYPE_B8:
    case GD_TYPE_B16:
    case GD_TYPE_B32:
    case GD_TYPE_B64:
        break;
    default:
        return false;
    }
    name->bytes = (uint8_t)symbol->bytes;
    return symbol->vector <= 1;
}

uint16_t gd_require_find_name(gd_require_reader *reader, const char *name, uint32_t bytes, uint32_t offset)
{
    const gd_ptx_function *entry = reader->entry;
    gd_require_name found = {.extent = GD_REQUIRE_NONE};

    for (uint32_t i = 0; i < entry->parameter_end - entry->parameter && i < GD_REQUIRE_NONE; i++) {
        const char *parameter = entry->parameter_names[i];
        if (strlen(parameter) != bytes || memcmp(parameter, name, bytes))
            continue;
        found.name = parameter;
        found.index = (uint16_t)i;
        if (!read_type(&reader->module->symbols[entry->parameter + i], &found))
            return gd_require_wrong(reader, offset, "parameter \"%.60s\" is neither an integer nor f32 or f64",
                                    parameter);
        return add_name(reader, &found, offset);
    }
    for (uint16_t i = 0; i < GD_REQUIRE_SHAPE; i++) {
        found.name = shape_names[i];
        found.index = i;
        if (strlen(found.name) == bytes && !memcmp(found.name, name, bytes))
            return add_name(reader, &found, offset);
    }
    return unknown_name(reader, name, bytes, offset);
}

static uint16_t name_node(gd_require_reader *reader, const char *name, uint32_t bytes, uint32_t offset)
{
    uint16_t index = gd_require_find_name(reader, name, bytes, offset);

    if (index == GD_REQUIRE_NONE)
        return GD_REQUIRE_NONE;
    const gd_require_name *found = &reader->terms->names[index];
    return add_node(reader, &(gd_require_node){.op = GD_REQUIRE_OP_NAME,
                                               .type = found->is_real ? GD_REQUIRE_REAL : GD_REQUIRE_INTEGER,
                                               .single = found->is_real && found->bytes == 4,
                                               .left = index,
                                               .offset = offset});
}

/* ---- signs ---- */

static bool is_sign(const gd_require_reader *reader, const char *sign)
{
    return reader->token == GD_REQUIRE_TOKEN_SIGN && !strcmp(reader->sign, sign);
}

static bool take_sign(gd_require_reader *reader, const char *sign)
{
    bool there = is_sign(reader, sign);

    if (there)
        gd_require_next(reader);
    return there;
}

static uint16_t unexpected(gd_require_reader *reader, const char *wanted)
{
    uint32_t offset = gd_require_offset(reader);

    if (reader->token == GD_REQUIRE_TOKEN_END)
        return gd_require_wrong(reader, offset, "found the end, expected %s", wanted);
    return gd_require_wrong(reader, offset, "found '%.*s', expected %s", reader->bytes > 60 ? 60 : (int)reader->bytes,
                            reader->start, wanted);
}

static bool expect_sign(gd_require_reader *reader, const char *sign)
{
    char wanted[] = "'?'";

    if (take_sign(reader, sign))
        return true;
    wanted[1] = sign[0];
    unexpected(reader, wanted);
    return false;
}

/* ---- grammar ---- */

static bool enter(gd_require_reader *reader)
{
    if (reader->depth++ < GD_REQUIRE_LIMIT_DEPTH)
        return true;
    gd_require_wrong(reader, gd_require_offset(reader),
                     "found more than %d brackets or signs one within the other "
                     "(GD_REQUIRE_LIMIT_DEPTH)",
                     GD_REQUIRE_LIMIT_DEPTH);
    return false;
}

static uint16_t parse_extremum(gd_require_reader *reader, gd_require_op op, uint32_t offset)
{
    uint16_t node = parse_or(reader);

    if (node != GD_REQUIRE_NONE && !is_sign(reader, ","))
        return unexpected(reader, "',' and another number");
    while (node != GD_REQUIRE_NONE && take_sign(reader, ","))
        node = add_binary(reader, op, node, parse_or(reader), offset);
    return node;
}

static uint16_t address_node(gd_require_reader *reader)
{
    if (reader->token != GD_REQUIRE_TOKEN_NAME)
        return unexpected(reader, "a parameter that is an address");
    uint16_t node = name_node(reader, reader->start, reader->bytes, gd_require_offset(reader));
    if (node == GD_REQUIRE_NONE)
        return node;
    const gd_require_name *name = &reader->terms->names[reader->nodes[node].left];
    if (name->bytes != 8 || name->is_real || name->is_signed)
        return gd_require_wrong(reader, gd_require_offset(reader),
                                "found %.60s, expected a parameter that is an address", name->name);
    if (name->extent == GD_REQUIRE_NONE)
        return gd_require_wrong(reader, gd_require_offset(reader),
                                "how far %.60s reaches is not told; an \"extent\" field says it", name->name);
    gd_require_next(reader);
    return node;
}

static uint16_t add_both(gd_require_reader *reader, gd_require_op op, uint16_t left, uint16_t right, uint32_t offset)
{
    left = truth_wanted(reader, left, op == GD_REQUIRE_OP_AND ? " on the left of &&" : " on the left of ||");
    right = truth_wanted(reader, right, op == GD_REQUIRE_OP_AND ? " on the right of &&" : " on the right of ||");
    if (left == GD_REQUIRE_NONE || right == GD_REQUIRE_NONE)
        return GD_REQUIRE_NONE;
    if (is_constant(&reader->nodes[left]) || is_constant(&reader->nodes[right]))
        return gd_require_wrong(
            reader, offset, "found a condition beside %s that names nothing: it is always %s", word_of((uint8_t)op),
            reader->nodes[is_constant(&reader->nodes[left]) ? left : right].value.integer ? "true" : "false");
    return add_node(reader,
                    &(gd_require_node){
                        .op = (uint8_t)op, .type = GD_REQUIRE_TRUTH, .left = left, .right = right, .offset = offset});
}

/* apart(a, b, c): a overlaps neither b nor c. */
static uint16_t parse_apart(gd_require_reader *reader, uint32_t offset)
{
    uint16_t first = address_node(reader), whole = GD_REQUIRE_NONE;

    if (first != GD_REQUIRE_NONE && !is_sign(reader, ","))
        return unexpected(reader, "',' and another address");
    while (first != GD_REQUIRE_NONE && take_sign(reader, ",")) {
        uint16_t other = address_node(reader);
        if (other == GD_REQUIRE_NONE)
            return other;
        uint16_t pair = add_node(
            reader,
            &(gd_require_node){
                .op = GD_REQUIRE_OP_APART, .type = GD_REQUIRE_TRUTH, .left = first, .right = other, .offset = offset});
        whole = whole == GD_REQUIRE_NONE ? pair : add_both(reader, GD_REQUIRE_OP_AND, whole, pair, offset);
        if (whole == GD_REQUIRE_NONE)
            return whole;
    }
    return whole;
}

static bool is_word(const char *start, uint32_t bytes, const char *word)
{
    return strlen(word) == bytes && !memcmp(start, word, bytes);
}

static uint16_t parse_function(gd_require_reader *reader, const char *name, uint32_t bytes, uint32_t offset)
{
    uint16_t node;

    if (!enter(reader))
        return GD_REQUIRE_NONE;
    gd_require_next(reader);
    if (is_word(name, bytes, "min"))
        node = parse_extremum(reader, GD_REQUIRE_OP_MINIMUM, offset);
    else if (is_word(name, bytes, "max"))
        node = parse_extremum(reader, GD_REQUIRE_OP_MAXIMUM, offset);
    else if (is_word(name, bytes, "power_of_two"))
        node = add_unary(reader, GD_REQUIRE_OP_POWER_OF_TWO, parse_or(reader), offset);
    else if (is_word(name, bytes, "apart"))
        node = parse_apart(reader, offset);
    else
        return gd_require_wrong(reader, offset,
                                "there is no function \"%.*s\"; there are min, max, power_of_two and apart",
                                bytes > 60 ? 60 : (int)bytes, name);
    reader->depth--;
    return node != GD_REQUIRE_NONE && expect_sign(reader, ")") ? node : GD_REQUIRE_NONE;
}

static uint16_t parse_number(gd_require_reader *reader)
{
    bool real = reader->token == GD_REQUIRE_TOKEN_REAL;
    uint16_t node = add_node(reader, &(gd_require_node){.op = GD_REQUIRE_OP_CONSTANT,
                                                        .type = real ? GD_REQUIRE_REAL : GD_REQUIRE_INTEGER,
                                                        .single = real,
                                                        .literal = real,
                                                        .offset = gd_require_offset(reader),
                                                        .value = reader->value});

    gd_require_next(reader);
    return node;
}

static uint16_t parse_primary(gd_require_reader *reader)
{
    if (reader->token == GD_REQUIRE_TOKEN_INTEGER || reader->token == GD_REQUIRE_TOKEN_REAL)
        return parse_number(reader);
    if (reader->token == GD_REQUIRE_TOKEN_NAME) {
        const char *name = reader->start;
        uint32_t bytes = reader->bytes, offset = gd_require_offset(reader);
        gd_require_next(reader);
        return is_sign(reader, "(") ? parse_function(reader, name, bytes, offset)
                                    : name_node(reader, name, bytes, offset);
    }
    if (!is_sign(reader, "("))
        return unexpected(reader, "a name, a number or '('");
    if (!enter(reader))
        return GD_REQUIRE_NONE;
    gd_require_next(reader);
    uint16_t node = parse_or(reader);
    reader->depth--;
    return node != GD_REQUIRE_NONE && expect_sign(reader, ")") ? node : GD_REQUIRE_NONE;
}

/* a^b of two numbers. */
static uint16_t parse_power(gd_require_reader *reader)
{
    uint16_t base = parse_primary(reader);
    uint32_t offset = gd_require_offset(reader);

    if (base == GD_REQUIRE_NONE || !take_sign(reader, "^"))
        return base;
    uint16_t exponent = parse_primary(reader);
    if (exponent == GD_REQUIRE_NONE)
        return exponent;
    const gd_require_node *from = &reader->nodes[base], *by = &reader->nodes[exponent];
    if (!is_constant(from) || !is_constant(by) || from->type != GD_REQUIRE_INTEGER || by->type != GD_REQUIRE_INTEGER ||
        by->value.integer > 126)
        return gd_require_wrong(reader, offset, "found ^ that is not between two integers, as in 2^30");
    uint16_t power = add_node(
        reader, &(gd_require_node){
                    .op = GD_REQUIRE_OP_CONSTANT, .type = GD_REQUIRE_INTEGER, .offset = offset, .value.integer = 1});
    for (gd_wide i = by->value.integer; i > 0 && power != GD_REQUIRE_NONE; i--) {
        gd_require_value *value = &reader->nodes[power].value;
        if (gd_require_apply(GD_REQUIRE_OP_MULTIPLY, false, value, &from->value, value) != GD_REQUIRE_DONE)
            return gd_require_wrong(reader, offset, "found a number beyond 127 bits");
    }
    return power;
}

static uint16_t parse_unary(gd_require_reader *reader)
{
    uint32_t offset = gd_require_offset(reader);
    bool minus = is_sign(reader, "-"), not = is_sign(reader, "!");

    if (!minus && !not )
        return parse_power(reader);
    if (!enter(reader))
        return GD_REQUIRE_NONE;
    gd_require_next(reader);
    uint16_t operand = parse_unary(reader);
    reader->depth--;
    if (minus)
        return add_unary(reader, GD_REQUIRE_OP_NEGATE, operand, offset);
    operand = truth_wanted(reader, operand, " behind !, in brackets");
    if (operand == GD_REQUIRE_NONE)
        return operand;
    if (is_constant(&reader->nodes[operand])) {
        reader->nodes[operand].value.integer = !reader->nodes[operand].value.integer;
        return operand;
    }
    return add_node(reader, &(gd_require_node){
                                .op = GD_REQUIRE_OP_NOT, .type = GD_REQUIRE_TRUTH, .left = operand, .offset = offset});
}

typedef struct binary_sign {
    const char *sign;
    gd_require_op op;
} binary_sign;

/* The operator that the token is, of a list; NULL: none. */
static const binary_sign *find_operator(const gd_require_reader *reader, const binary_sign *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (is_sign(reader, list[i].sign))
            return &list[i];
    }
    return NULL;
}

static uint16_t parse_product(gd_require_reader *reader)
{
    static const binary_sign operators[] = {
        {"*", GD_REQUIRE_OP_MULTIPLY}, {"/", GD_REQUIRE_OP_DIVIDE}, {"%", GD_REQUIRE_OP_REMAINDER}};
    uint16_t node = parse_unary(reader);
    const binary_sign *found;

    while (node != GD_REQUIRE_NONE && (found = find_operator(reader, operators, 3))) {
        uint32_t offset = gd_require_offset(reader);
        gd_require_next(reader);
        node = add_binary(reader, found->op, node, parse_unary(reader), offset);
    }
    return node;
}

static uint16_t parse_sum(gd_require_reader *reader)
{
    static const binary_sign operators[] = {{"+", GD_REQUIRE_OP_ADD}, {"-", GD_REQUIRE_OP_SUBTRACT}};
    uint16_t node = parse_product(reader);
    const binary_sign *found;

    while (node != GD_REQUIRE_NONE && (found = find_operator(reader, operators, 2))) {
        uint32_t offset = gd_require_offset(reader);
        gd_require_next(reader);
        node = add_binary(reader, found->op, node, parse_product(reader), offset);
    }
    return node;
}

static uint16_t parse_comparison(gd_require_reader *reader)
{
    static const binary_sign operators[] = {{"==", GD_REQUIRE_OP_EQUAL},  {"!=", GD_REQUIRE_OP_NOT_EQUAL},
                                            {"<", GD_REQUIRE_OP_LESS},    {"<=", GD_REQUIRE_OP_LESS_EQUAL},
                                            {">", GD_REQUIRE_OP_GREATER}, {">=", GD_REQUIRE_OP_GREATER_EQUAL}};
    uint16_t node = parse_sum(reader);
    const binary_sign *found;

    while (node != GD_REQUIRE_NONE && (found = find_operator(reader, operators, 6))) {
        uint32_t offset = gd_require_offset(reader);
        gd_require_next(reader);
        node = add_binary(reader, found->op, node, parse_sum(reader), offset);
    }
    return node;
}

static uint16_t parse_and(gd_require_reader *reader)
{
    uint16_t node = parse_comparison(reader);

    while (node != GD_REQUIRE_NONE && is_sign(reader, "&&")) {
        uint32_t offset = gd_require_offset(reader);
        gd_require_next(reader);
        node = add_both(reader, GD_REQUIRE_OP_AND, node, parse_comparison(reader), offset);
    }
    return node;
}

static uint16_t parse_or(gd_require_reader *reader)
{
    uint16_t node = parse_and(reader);

    while (node != GD_REQUIRE_NONE && is_sign(reader, "||")) {
        uint32_t offset = gd_require_offset(reader);
        gd_require_next(reader);
        node = add_both(reader, GD_REQUIRE_OP_OR, node, parse_and(reader), offset);
    }
    return node;
}

/* ---- the whole ---- */

static uint16_t parse_whole(gd_require_reader *reader)
{
    gd_require_next(reader);
    uint16_t node = parse_or(reader);
    if (node != GD_REQUIRE_NONE && reader->token != GD_REQUIRE_TOKEN_END)
        return unexpected(reader, "an operator or the end");
    return node;
}

uint16_t gd_require_parse_condition(gd_require_reader *reader)
{
    uint16_t node = truth_wanted(reader, parse_whole(reader), "");

    if (node != GD_REQUIRE_NONE && is_constant(&reader->nodes[node]))
        return gd_require_wrong(reader, reader->nodes[node].offset,
                                "found a condition that names nothing: it is always %s",
                                reader->nodes[node].value.integer ? "true" : "false");
    return node;
}

uint16_t gd_require_parse_extent(gd_require_reader *reader)
{
    uint16_t node = parse_whole(reader);

    if (node == GD_REQUIRE_NONE || reader->nodes[node].type == GD_REQUIRE_INTEGER)
        return node;
    return gd_require_wrong(reader, reader->nodes[node].offset, "found %s, expected a number of bytes",
                            reader->nodes[node].type == GD_REQUIRE_TRUTH ? "a condition" : "a floating-point number");
}
