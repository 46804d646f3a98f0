/* A condition's grammar, by recursive descent, from || down to names and numbers. Each node knows its type; what is
 * constant is computed at once. */
#include <string.h>

#include "base/nearest.h"
#include "base/text.h"
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
    const gd_require_node *node = &reader->nodes[index];

    if (node->type == GD_REQUIRE_WORD) {
        const gd_require_name *name = &reader->terms->names[node->left];
        gd_require_wrong(reader, node->offset,
                         "found %.60s beside %s, expected a number; it is compared with a word: %.60s == %s",
                         name->name, word_of(op), name->name, gd_require_field_words((gd_require_field)name->field)[0]);
        return false;
    }
    if (node->type != GD_REQUIRE_TRUTH)
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

static bool is_same(const gd_require_name *a, const gd_require_name *b)
{
    return a->index == b->index && !a->bytes == !b->bytes && a->field == b->field && a->dimension == b->dimension;
}

uint16_t gd_require_add_name(gd_require_reader *reader, const gd_require_name *name, uint32_t offset)
{
    gd_requires *terms = reader->terms;
    void *list = terms->names;

    for (uint32_t i = 0; i < terms->name_count; i++) {
        if (is_same(&terms->names[i], name))
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

/* ---- fields of tensor maps ---- */

static uint16_t no_memory(gd_require_reader *reader, uint32_t offset)
{
    reader->no_memory = true;
    return gd_require_wrong(reader, offset, "no memory");
}

/* The name that says whether a map is known, and its place in terms->maps. */
static bool find_map(gd_require_reader *reader, const char *parameter, uint16_t index, uint32_t offset, uint8_t *map)
{
    gd_requires *terms = reader->terms;
    gd_require_name known = {
        .name = parameter, .index = index, .extent = GD_REQUIRE_NONE, .bytes = 8, .field = GD_REQUIRE_FIELD_KNOWN};

    for (*map = 0; *map < terms->map_count; (*map)++) {
        if (terms->names[terms->maps[*map]].index == index)
            return true;
    }
    if (terms->map_count == GD_REQUIRE_LIMIT_MAPS) {
        gd_require_wrong(reader, offset, "found more than %d tensor maps (GD_REQUIRE_LIMIT_MAPS)",
                         GD_REQUIRE_LIMIT_MAPS);
        return false;
    }
    known.map = *map;
    uint16_t name = gd_require_add_name(reader, &known, offset);
    if (name == GD_REQUIRE_NONE)
        return false;
    terms->maps[terms->map_count++] = name;
    return true;
}

static uint16_t unknown_field(gd_require_reader *reader, const char *parameter, const char *field, uint32_t bytes,
                              const char *nearest, uint32_t offset)
{
    const int shown = bytes > 60 ? 60 : (int)bytes;

    if (nearest && strlen(nearest) != bytes)
        return gd_require_wrong(reader, offset, "a tensor map has no \"%.*s\"; did you mean \"%.60s.%s\"?", shown,
                                field, parameter, nearest);
    return gd_require_wrong(reader, offset,
                            "a tensor map has no \"%.*s\"; it has address, bytes, rank, dim.x, stride.x, box.x, step.x "
                            "(to .z, .w, .v), mode, type, swizzle, interleave, fill",
                            shown, field);
}

/* A map's field, "a_map.box.x", as a name; `bytes` of `field` stand behind the map's dot. */
static uint16_t find_field(gd_require_reader *reader, uint16_t index, const char *field, uint32_t bytes,
                           uint32_t offset)
{
    const char *parameter = reader->entry->parameter_names[index], *nearest = NULL;
    gd_require_name found = {.index = index, .extent = GD_REQUIRE_NONE, .bytes = 8};

    found.field = (uint8_t)gd_require_field_find(field, bytes, &found.dimension, &nearest);
    if (!found.field)
        return unknown_field(reader, parameter, field, bytes, nearest, offset);
    if (!find_map(reader, parameter, index, offset, &found.map))
        return GD_REQUIRE_NONE;
    reader->maps |= (uint8_t)(1u << found.map);
    gd_text text = {0};
    gd_text_format(&text, "%s.%.*s", parameter, (int)bytes, field);
    found.name = gd_arena_string(&reader->terms->arena, gd_text_get(&text), strlen(gd_text_get(&text)));
    gd_text_free(&text);
    return found.name ? gd_require_add_name(reader, &found, offset) : no_memory(reader, offset);
}

/* The bytes behind a map's address are known by themselves. */
static bool add_map_extent(gd_require_reader *reader, uint16_t name, uint16_t bytes)
{
    gd_requires *terms = reader->terms;
    gd_require_extent added = {.text = terms->names[bytes].name, .name = name, .maps = reader->maps};
    const gd_require_node node = {.op = GD_REQUIRE_OP_NAME, .type = GD_REQUIRE_INTEGER, .left = bytes};
    void *list = terms->extents;

    if (terms->names[name].extent != GD_REQUIRE_NONE)
        return true;
    if (terms->extent_count == terms->extent_capacity) {
        bool grown = gd_array_grow(&list, &terms->extent_capacity, sizeof *terms->extents);
        terms->extents = list;
        if (!grown)
            return false;
    }
    uint16_t at = add_node(reader, &node);
    if (at == GD_REQUIRE_NONE || !gd_require_emit(reader, at, &added.program))
        return false;
    added.maps = (uint8_t)(1u << terms->names[name].map);
    terms->names[name].extent = (uint16_t)terms->extent_count;
    terms->extents[terms->extent_count++] = added;
    return true;
}

/* A map in apart(): its address, whose extent is the tensor's. */
static uint16_t map_address(gd_require_reader *reader, uint16_t index, uint32_t offset)
{
    uint16_t name = find_field(reader, index, "address", 7, offset);
    uint16_t bytes = name == GD_REQUIRE_NONE ? name : find_field(reader, index, "bytes", 5, offset);

    if (bytes == GD_REQUIRE_NONE)
        return bytes;
    if (!add_map_extent(reader, name, bytes))
        return reader->failed ? GD_REQUIRE_NONE : no_memory(reader, offset);
    return name;
}

/* The parameter, a tensor map, whose name is so; false: there is none. */
static bool find_map_parameter(const gd_require_reader *reader, const char *name, size_t bytes, uint16_t *index)
{
    const gd_ptx_function *entry = reader->entry;

    for (uint32_t i = 0; i < entry->parameter_end - entry->parameter && i < GD_REQUIRE_NONE; i++) {
        const char *parameter = entry->parameter_names[i];
        if (strlen(parameter) == bytes && !memcmp(parameter, name, bytes) &&
            gd_require_is_map(&reader->module->symbols[entry->parameter + i])) {
            *index = (uint16_t)i;
            return true;
        }
    }
    return false;
}

uint16_t gd_require_unless_unknown(gd_require_reader *reader, uint16_t node)
{
    const gd_requires *terms = reader->terms;

    for (uint32_t i = 0; i < terms->map_count && node != GD_REQUIRE_NONE; i++) {
        if (!(reader->maps >> i & 1))
            continue;
        const uint32_t offset = reader->nodes[node].offset;
        uint16_t known = add_node(
            reader, &(gd_require_node){
                        .op = GD_REQUIRE_OP_NAME, .type = GD_REQUIRE_TRUTH, .left = terms->maps[i], .offset = offset});
        uint16_t unknown = add_node(
            reader,
            &(gd_require_node){.op = GD_REQUIRE_OP_NOT, .type = GD_REQUIRE_TRUTH, .left = known, .offset = offset});
        node = add_node(
            reader,
            &(gd_require_node){
                .op = GD_REQUIRE_OP_OR, .type = GD_REQUIRE_TRUTH, .left = unknown, .right = node, .offset = offset});
    }
    return node;
}

uint16_t gd_require_find_name(gd_require_reader *reader, const char *name, uint32_t bytes, uint32_t offset)
{
    const char *dot = memchr(name, '.', bytes);
    uint16_t map;

    if (dot && find_map_parameter(reader, name, (size_t)(dot - name), &map))
        return find_field(reader, map, dot + 1, bytes - (uint32_t)(dot + 1 - name), offset);
    const gd_ptx_function *entry = reader->entry;
    gd_require_name found = {.extent = GD_REQUIRE_NONE};

    for (uint32_t i = 0; i < entry->parameter_end - entry->parameter && i < GD_REQUIRE_NONE; i++) {
        const char *parameter = entry->parameter_names[i];
        if (strlen(parameter) != bytes || memcmp(parameter, name, bytes))
            continue;
        found.name = parameter;
        found.index = (uint16_t)i;
        if (gd_require_is_map(&reader->module->symbols[entry->parameter + i]))
            return gd_require_wrong(reader, offset,
                                    "\"%.60s\" is a tensor map; conditions speak of %.60s.box.x and so on", parameter,
                                    parameter);
        if (!read_type(&reader->module->symbols[entry->parameter + i], &found))
            return gd_require_wrong(reader, offset, "parameter \"%.60s\" is neither an integer nor f32 or f64",
                                    parameter);
        return gd_require_add_name(reader, &found, offset);
    }
    for (uint16_t i = 0; i < GD_REQUIRE_SHAPE; i++) {
        found.name = shape_names[i];
        found.index = i;
        if (strlen(found.name) == bytes && !memcmp(found.name, name, bytes))
            return gd_require_add_name(reader, &found, offset);
    }
    return unknown_name(reader, name, bytes, offset);
}

static uint16_t name_node(gd_require_reader *reader, const char *name, uint32_t bytes, uint32_t offset)
{
    uint16_t index = gd_require_find_name(reader, name, bytes, offset);

    if (index == GD_REQUIRE_NONE)
        return GD_REQUIRE_NONE;
    const gd_require_name *found = &reader->terms->names[index];
    bool words = found->field && gd_require_field_kind_of((gd_require_field)found->field) == GD_REQUIRE_FIELD_WORDS;
    return add_node(reader, &(gd_require_node){.op = GD_REQUIRE_OP_NAME,
                                               .type = found->is_real ? GD_REQUIRE_REAL
                                                       : words        ? GD_REQUIRE_WORD
                                                                      : GD_REQUIRE_INTEGER,
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

static uint16_t map_node(gd_require_reader *reader, uint16_t map)
{
    const uint32_t offset = gd_require_offset(reader);
    uint16_t name = map_address(reader, map, offset);

    if (name == GD_REQUIRE_NONE)
        return name;
    gd_require_next(reader);
    return add_node(reader, &(gd_require_node){
                                .op = GD_REQUIRE_OP_NAME, .type = GD_REQUIRE_INTEGER, .left = name, .offset = offset});
}

static uint16_t address_node(gd_require_reader *reader)
{
    if (reader->token != GD_REQUIRE_TOKEN_NAME)
        return unexpected(reader, "a parameter that is an address");
    uint16_t map;
    if (find_map_parameter(reader, reader->start, reader->bytes, &map))
        return map_node(reader, map);
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
    reader->maps |= reader->terms->extents[name->extent].maps;
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

/* What a field of words is compared with, "a_map.swizzle == 128B", and the comparison. */
static uint16_t parse_word(gd_require_reader *reader, gd_require_op op, uint16_t left, uint32_t offset)
{
    const gd_require_name *name = &reader->terms->names[reader->nodes[left].left];
    const char *const *words = gd_require_field_words((gd_require_field)name->field);

    gd_require_next_word(reader);
    gd_nearest nearest = {.word = reader->start, .bytes = reader->bytes};
    for (uint32_t i = 0; words[i] && reader->token == GD_REQUIRE_TOKEN_NAME; i++) {
        gd_nearest_look(&nearest, words[i]);
        if (!is_word(reader->start, reader->bytes, words[i]))
            continue;
        uint16_t right = add_node(reader, &(gd_require_node){.op = GD_REQUIRE_OP_CONSTANT,
                                                             .type = GD_REQUIRE_INTEGER,
                                                             .offset = gd_require_offset(reader),
                                                             .value.integer = i});
        gd_require_next(reader);
        return add_node(
            reader, &(gd_require_node){
                        .op = (uint8_t)op, .type = GD_REQUIRE_TRUTH, .left = left, .right = right, .offset = offset});
    }
    if (reader->token != GD_REQUIRE_TOKEN_NAME)
        return unexpected(reader, "a word, as in a_map.type == bf16");
    return gd_require_wrong(reader, gd_require_offset(reader), "%.60s is never \"%.*s\"; did you mean \"%s\"?",
                            name->name, reader->bytes > 60 ? 60 : (int)reader->bytes, reader->start,
                            nearest.name ? nearest.name : words[0]);
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
        if (reader->nodes[node].type == GD_REQUIRE_WORD && found < operators + 2) {
            node = parse_word(reader, found->op, node, offset);
            continue;
        }
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

uint16_t gd_require_multiply(gd_require_reader *reader, uint16_t node, uint32_t bytes)
{
    if (node == GD_REQUIRE_NONE || bytes == 1)
        return node;
    const uint32_t offset = reader->nodes[node].offset;
    uint16_t factor = add_node(reader, &(gd_require_node){.op = GD_REQUIRE_OP_CONSTANT,
                                                          .type = GD_REQUIRE_INTEGER,
                                                          .offset = offset,
                                                          .value.integer = bytes});
    return add_binary(reader, GD_REQUIRE_OP_MULTIPLY, node, factor, offset);
}

uint16_t gd_require_parse_extent(gd_require_reader *reader)
{
    uint16_t node = parse_whole(reader);

    if (node == GD_REQUIRE_NONE || reader->nodes[node].type == GD_REQUIRE_INTEGER)
        return node;
    return gd_require_wrong(reader, reader->nodes[node].offset, "found %s, expected a number of bytes",
                            reader->nodes[node].type == GD_REQUIRE_TRUTH  ? "a condition"
                            : reader->nodes[node].type == GD_REQUIRE_WORD ? "a field that is compared with a word"
                                                                          : "a floating-point number");
}
