/* The language of conditions, by recursive descent: ||, &&, comparisons, sums, products, names and
 * numbers. Steps are added as they are read. What is wrong is told once, at its place; from then on
 * the text is at its end. */
#include <stdarg.h>
#include <string.h>

#include "base/format.h"
#include "base/nearest.h"
#include "base/text.h"
#include "ptx/require/parse.h"

enum {
    SHOWN = 60,        /* bytes of a word that a message repeats */
    HOLDS = UINT16_MAX /* a step to go on with: the end of the condition */
};

static uint32_t here(const gd_require_reader *reader)
{
    return (uint32_t)(reader->start - reader->module->text);
}

/* Nothing more is read of the text. */
static void stop(gd_require_reader *reader)
{
    reader->failed = true;
    reader->token = GD_REQUIRE_TOKEN_END;
    reader->bytes = 0;
}

static void wrong(gd_require_reader *reader, uint32_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void wrong(gd_require_reader *reader, uint32_t offset, const char *format, ...)
{
    char text[sizeof reader->diagnostics->list[0].text];
    va_list list;

    if (!reader->failed) {
        va_start(list, format);
        gd_format_list(text, sizeof text, format, list);
        va_end(list);
        gd_text_trim(text);
        gd_ptx_diagnostics_add(reader->diagnostics, offset, "%s", text);
    }
    stop(reader);
}

static bool is_full(gd_require_reader *reader, uint32_t count, uint32_t limit, const char *what)
{
    if (count >= limit)
        wrong(reader, here(reader), "found more than %u %s", (unsigned)limit, what);
    return reader->failed;
}

/* ---- tokens ---- */

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* Of names, also grid.x and map.box.x, of numbers, also 2^30, and of words that begin with a digit,
 * as 128B does. */
static bool is_of_word(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || is_digit(byte) ||
           (byte && strchr("_$.^", byte));
}

static const char *skip_space(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r'))
        at++;
    return at;
}

static void read_sign(gd_require_reader *reader)
{
    static const char pairs[] = "== != <= >= && || ";
    const char *at = reader->at;

    reader->token = GD_REQUIRE_TOKEN_SIGN;
    for (const char *pair = pairs; *pair && reader->end - at >= 2; pair += 3) {
        if (!memcmp(at, pair, 2)) {
            reader->at += 2;
            return;
        }
    }
    reader->at++;
    if (*at > ' ' && *at < 0x7f && !strchr("+*/%<>(),[]:", *at))
        wrong(reader, here(reader),
              "found '%c', which no condition has; there are == != < <= > >= && || + * / %% 2^30 "
              "and apart()",
              *at);
    else if (*at <= ' ' || *at == 0x7f)
        wrong(reader, here(reader), "found a byte 0x%02x", (unsigned char)*at);
}

static void next(gd_require_reader *reader)
{
    if (reader->failed)
        return;
    reader->start = reader->at = skip_space(reader->at, reader->end);
    if (reader->at == reader->end) {
        reader->token = GD_REQUIRE_TOKEN_END;
    } else if (is_of_word(*reader->at)) {
        reader->token = GD_REQUIRE_TOKEN_WORD;
        while (reader->at < reader->end && is_of_word(*reader->at))
            reader->at++;
    } else {
        read_sign(reader);
    }
    if (!reader->failed)
        reader->bytes = (uint32_t)(reader->at - reader->start);
}

static bool is(const gd_require_reader *reader, const char *text)
{
    return reader->bytes == strlen(text) && !memcmp(reader->start, text, reader->bytes);
}

/* Whether the token is a word, and a sign stands behind it. */
static bool is_word_before(const gd_require_reader *reader, char sign)
{
    const char *behind = skip_space(reader->at, reader->end);

    return reader->token == GD_REQUIRE_TOKEN_WORD && behind < reader->end && *behind == sign;
}

static bool take(gd_require_reader *reader, const char *sign)
{
    const bool there = is(reader, sign);

    if (there)
        next(reader);
    return there;
}

static int shown(uint32_t bytes)
{
    return bytes > SHOWN ? SHOWN : (int)bytes;
}

static void unexpected(gd_require_reader *reader, const char *wanted)
{
    if (reader->token == GD_REQUIRE_TOKEN_END)
        wrong(reader, here(reader), "found the end, expected %s", wanted);
    else
        wrong(reader, here(reader), "found '%.*s', expected %s", shown(reader->bytes),
              reader->start, wanted);
}

static void add_step(gd_require_reader *reader, gd_require_step step)
{
    if (!is_full(reader, reader->step_count, GD_REQUIRE_LIMIT_STEPS,
                 "operations in all conditions (GD_REQUIRE_LIMIT_STEPS)"))
        reader->steps[reader->step_count++] = step;
}

/* ---- names ---- */

/* What comes next asks these maps. A condition that comes to one which is not understood holds. */
static void depend_on(gd_require_reader *reader, uint8_t maps)
{
    const uint8_t more = (uint8_t)(maps & ~reader->known);

    reader->known |= maps;
    if (more && !reader->is_extent)
        add_step(reader,
                 (gd_require_step){.op = GD_REQUIRE_UNDERSTOOD, .left = more, .otherwise = HOLDS});
}

static const char *const shape_names[GD_REQUIRE_SHAPE] = {
    "grid.x",  "grid.y",    "grid.z",    "block.x",   "block.y",
    "block.z", "cluster.x", "cluster.y", "cluster.z", "shared"};

/* Adds a name unless it is there. */
static uint8_t add_name(gd_require_reader *reader, const gd_require_name *name)
{
    for (uint32_t i = 0; i < reader->name_count; i++) {
        const gd_require_name *known = &reader->names[i];
        if (known->kind == name->kind && known->index == name->index &&
            known->field == name->field && known->dimension == name->dimension)
            return (uint8_t)i;
    }
    if (is_full(reader, reader->name_count, GD_REQUIRE_LIMIT_NAMES,
                "names (GD_REQUIRE_LIMIT_NAMES)"))
        return 0;
    reader->names[reader->name_count] = *name;
    reader->names[reader->name_count].extent = GD_REQUIRE_NONE;
    return (uint8_t)reader->name_count++;
}

/* A field of the map that a parameter is; `text` is what messages call it. */
static uint8_t add_field(gd_require_reader *reader, uint16_t index, const char *text,
                         gd_require_field field, uint8_t dimension)
{
    uint8_t map = 0;

    while (map < reader->map_count && reader->maps[map] != index)
        map++;
    if (is_full(reader, map, GD_REQUIRE_LIMIT_MAPS, "tensor maps (GD_REQUIRE_LIMIT_MAPS)"))
        return 0;
    reader->maps[map] = index;
    reader->map_count += map == reader->map_count;
    depend_on(reader, (uint8_t)(1u << map));
    return add_name(reader, &(gd_require_name){.name = text,
                                               .index = index,
                                               .kind = GD_REQUIRE_KIND_FIELD,
                                               .field = (uint8_t)field,
                                               .dimension = dimension,
                                               .map = map});
}

/* The token, "a_map.box.x", of the map that a parameter is. */
static uint8_t find_field(gd_require_reader *reader, uint16_t index)
{
    const char *field = reader->start + strlen(reader->entry->parameter_names[index]) + 1;
    const uint32_t bytes = reader->bytes - (uint32_t)(field - reader->start);
    uint8_t dimension;
    const gd_require_field found = gd_require_field_find(field, bytes, &dimension);

    if (found == GD_REQUIRE_FIELD_COUNT) {
        wrong(reader, here(reader),
              "a tensor map has no \"%.*s\"; it has rank, dim.x, box.x, step.x (to .z, .w, .v), "
              "type, swizzle, fill",
              shown(bytes), field);
        return 0;
    }
    const char *text = gd_arena_string(reader->arena, reader->start, reader->bytes);
    if (text)
        return add_field(reader, index, text, found, dimension);
    reader->no_memory = true;
    stop(reader);
    return 0;
}

static void unknown_name(gd_require_reader *reader)
{
    const gd_ptx_function *entry = reader->entry;
    gd_nearest nearest = {.word = reader->start, .bytes = reader->bytes};

    for (uint32_t i = 0; i < entry->parameter_end - entry->parameter; i++)
        gd_nearest_look(&nearest, entry->parameter_names[i]);
    for (size_t i = 0; i < GD_REQUIRE_SHAPE; i++)
        gd_nearest_look(&nearest, shape_names[i]);
    if (nearest.name)
        wrong(reader, here(reader), "entry %.*s has no parameter \"%.*s\"; did you mean \"%.*s\"?",
              SHOWN, entry->name, shown(reader->bytes), reader->start, SHOWN, nearest.name);
    else
        wrong(reader, here(reader),
              "entry %.*s has no parameter \"%.*s\"; besides parameters there are grid.x to "
              "grid.z, block.x ..., "
              "cluster.x ..., shared",
              SHOWN, entry->name, shown(reader->bytes), reader->start);
}

/* types.def has both side by side. */
static bool is_unsigned(uint8_t type)
{
    return (type >= GD_TYPE_U8 && type <= GD_TYPE_U64) ||
           (type >= GD_TYPE_B8 && type <= GD_TYPE_B64);
}

static uint8_t add_parameter(gd_require_reader *reader, uint16_t index)
{
    const gd_ptx_symbol *symbol = &reader->module->symbols[reader->entry->parameter + index];
    const char *name = reader->entry->parameter_names[index];
    const bool is_real = symbol->type == GD_TYPE_F32;

    if (gd_require_is_map(symbol))
        wrong(reader, here(reader),
              "\"%.*s\" is a tensor map; conditions speak of %.*s.box.x and so on", SHOWN, name,
              SHOWN, name);
    else if (symbol->flags & GD_SYMBOL_ARRAY || symbol->vector > 1 ||
             (!is_real && !is_unsigned(symbol->type)))
        wrong(reader, here(reader), "parameter \"%.*s\" is neither an unsigned integer nor an f32",
              SHOWN, name);
    if (reader->failed)
        return 0;
    return add_name(
        reader, &(gd_require_name){.name = name,
                                   .index = index,
                                   .kind = is_real ? GD_REQUIRE_KIND_REAL : GD_REQUIRE_KIND_INTEGER,
                                   .bytes = (uint8_t)symbol->bytes});
}

/* The bytes behind a map's address are known by themselves. */
static uint8_t add_map_address(gd_require_reader *reader, uint16_t index)
{
    const char *parameter = reader->entry->parameter_names[index];
    const uint8_t name = add_field(reader, index, parameter, GD_REQUIRE_FIELD_ADDRESS, 0);
    const uint8_t bytes = add_field(reader, index, parameter, GD_REQUIRE_FIELD_BYTES, 0);

    if (reader->names[name].extent != GD_REQUIRE_NONE ||
        is_full(reader, reader->extent_count, GD_REQUIRE_LIMIT_EXTENTS,
                "extents (GD_REQUIRE_LIMIT_EXTENTS)"))
        return name;
    reader->names[name].extent = (uint8_t)reader->extent_count;
    reader->extents[reader->extent_count++] =
        (gd_require_extent){.result = bytes,
                            .name = name,
                            .maps = (uint8_t)(1u << reader->names[name].map),
                            .text = parameter};
    return name;
}

/* The name that the token is: a parameter, a field of one, or a part of the shape. A tensor map by
 * itself is an address, where that is asked for. */
static uint8_t find_name(gd_require_reader *reader, bool map_is_address)
{
    const gd_ptx_function *entry = reader->entry;

    for (uint32_t i = 0; i < entry->parameter_end - entry->parameter && i < UINT16_MAX; i++) {
        const size_t bytes = strlen(entry->parameter_names[i]);
        if (reader->bytes < bytes || memcmp(entry->parameter_names[i], reader->start, bytes) != 0)
            continue;
        const bool is_map = gd_require_is_map(&reader->module->symbols[entry->parameter + i]);
        if (reader->bytes == bytes)
            return is_map && map_is_address ? add_map_address(reader, (uint16_t)i)
                                            : add_parameter(reader, (uint16_t)i);
        if (reader->start[bytes] == '.' && is_map)
            return find_field(reader, (uint16_t)i);
    }
    for (uint16_t i = 0; i < GD_REQUIRE_SHAPE; i++) {
        if (is(reader, shape_names[i]))
            return add_name(reader, &(gd_require_name){.name = shape_names[i], .index = i});
    }
    unknown_name(reader);
    return 0;
}

static bool is_real(const gd_require_reader *reader, uint8_t operand)
{
    return operand < GD_REQUIRE_CONSTANTS && reader->names[operand].kind == GD_REQUIRE_KIND_REAL;
}

/* The words that an operand is compared with; NULL: it is a number. */
static const char *const *words_of(const gd_require_reader *reader, uint8_t operand)
{
    return operand < GD_REQUIRE_CONSTANTS && reader->names[operand].kind == GD_REQUIRE_KIND_FIELD
               ? gd_require_field_words((gd_require_field)reader->names[operand].field)
               : NULL;
}

/* ---- numbers ---- */

static uint8_t add_constant(gd_require_reader *reader, uint64_t value)
{
    uint32_t i = 0;

    while (i < reader->constant_count && reader->constants[i] != value)
        i++;
    if (is_full(reader, i, GD_REQUIRE_LIMIT_CONSTANTS,
                "different numbers (GD_REQUIRE_LIMIT_CONSTANTS)"))
        return 0;
    reader->constants[i] = value;
    reader->constant_count += i == reader->constant_count;
    return (uint8_t)(GD_REQUIRE_CONSTANTS + i);
}

/* An operand beside a sign. */
static void integer_wanted(gd_require_reader *reader, uint8_t operand, uint32_t offset,
                           const char *sign, uint32_t sign_bytes)
{
    const char *const *words = words_of(reader, operand);
    const char *name = reader->names[operand < GD_REQUIRE_CONSTANTS ? operand : 0].name;

    if (words)
        wrong(reader, offset,
              "found %.*s beside %.*s, expected a number; it is compared with a word: %.*s == %s",
              SHOWN, name, (int)sign_bytes, sign, SHOWN, name, words[0]);
    else if (is_real(reader, operand))
        wrong(reader, offset,
              "found %.*s beside %.*s; an f32 is compared with a whole number, as in %.*s >= 0",
              SHOWN, name, (int)sign_bytes, sign, SHOWN, name);
}

static uint8_t add_operation(gd_require_reader *reader, gd_require_op op, uint8_t left,
                             uint8_t right)
{
    if (is_full(reader, reader->results, GD_REQUIRE_LIMIT_RESULTS,
                "operations in one comparison (GD_REQUIRE_LIMIT_RESULTS)"))
        return 0;
    const uint8_t result = (uint8_t)(GD_REQUIRE_RESULTS + reader->results++);
    add_step(reader,
             (gd_require_step){.op = (uint8_t)op, .left = left, .right = right, .result = result});
    return result;
}

/* The token: digits, or 2^digits. */
static uint8_t read_integer(gd_require_reader *reader)
{
    const bool power = reader->bytes > 2 && !memcmp(reader->start, "2^", 2);
    bool fits = true;
    uint64_t value = 0;

    for (uint32_t i = power ? 2 : 0; i < reader->bytes && fits; i++)
        fits = is_digit(reader->start[i]) && !__builtin_mul_overflow(value, 10, &value) &&
               !__builtin_add_overflow(value, (uint64_t)(reader->start[i] - '0'), &value);
    if (!fits || (power && value > 63))
        wrong(reader, here(reader),
              "found a number that cannot be read; there are integers of 64 bits, and powers of "
              "two such as 2^30");
    return reader->failed ? 0 : add_constant(reader, power ? UINT64_C(1) << value : value);
}

static uint8_t parse_sum(gd_require_reader *reader);

static uint8_t parse_factor(gd_require_reader *reader)
{
    uint8_t found = 0;

    if (reader->token == GD_REQUIRE_TOKEN_WORD) {
        const bool number = is_digit(*reader->start);
        found = number ? read_integer(reader) : find_name(reader, false);
        reader->names_something |= !number;
        next(reader);
    } else if (is(reader, "(")) {
        if (is_full(reader, reader->depth++, GD_REQUIRE_LIMIT_DEPTH,
                    "brackets one within the other (GD_REQUIRE_LIMIT_DEPTH)"))
            return 0;
        next(reader);
        found = parse_sum(reader);
        reader->depth--;
        if (!take(reader, ")"))
            unexpected(reader, "')'; brackets hold numbers, not conditions");
    } else {
        unexpected(reader, "a name, a number or '('");
    }
    return found;
}

/* Factors, or with `sum` products, with operators between them. */
static uint8_t parse_operations(gd_require_reader *reader, bool sum)
{
    static const char signs[] = {[GD_REQUIRE_ADD] = '+',
                                 [GD_REQUIRE_MULTIPLY] = '*',
                                 [GD_REQUIRE_DIVIDE] = '/',
                                 [GD_REQUIRE_REMAINDER] = '%'};
    uint32_t left_offset = here(reader);
    uint8_t left = sum ? parse_operations(reader, false) : parse_factor(reader);

    for (;;) {
        const char *sign = reader->start;
        const char *found = reader->bytes == 1 ? memchr(signs, *sign, sizeof signs) : NULL;
        if (!found || (found == signs) != sum)
            return left;
        next(reader);
        const uint32_t right_offset = here(reader);
        const uint8_t right = sum ? parse_operations(reader, false) : parse_factor(reader);
        integer_wanted(reader, left, left_offset, sign, 1);
        integer_wanted(reader, right, right_offset, sign, 1);
        left = add_operation(reader, (gd_require_op)(found - signs), left, right);
        left_offset = right_offset;
    }
}

static uint8_t parse_sum(gd_require_reader *reader)
{
    return parse_operations(reader, true);
}

/* ---- what holds or does not ---- */

/* What a field is compared with, "a_map.swizzle == 128B". */
static uint8_t parse_word(gd_require_reader *reader, uint8_t field)
{
    const char *const *words = words_of(reader, field);
    gd_nearest nearest = {.word = reader->start, .bytes = reader->bytes};

    for (uint32_t i = 0; words[i]; i++) {
        if (is(reader, words[i])) {
            next(reader);
            return add_constant(reader, i);
        }
        gd_nearest_look(&nearest, words[i]);
    }
    if (reader->token == GD_REQUIRE_TOKEN_WORD)
        wrong(reader, here(reader), "%.*s is never \"%.*s\"; did you mean \"%s\"?", SHOWN,
              reader->names[field].name, shown(reader->bytes), reader->start,
              nearest.name ? nearest.name : words[0]);
    unexpected(reader, "a word, as in a_map.type == bf16");
    return 0;
}

/* "columns % 8" of a comparison becomes a part of it. */
static uint8_t take_remainder(gd_require_reader *reader, uint8_t left, uint8_t *dropped)
{
    if (reader->failed || left < GD_REQUIRE_RESULTS)
        return left;
    const gd_require_step *step = &reader->steps[reader->step_count - 1];
    const bool constant = step->right >= GD_REQUIRE_CONSTANTS && step->right < GD_REQUIRE_RESULTS;
    const uint64_t divisor = constant ? reader->constants[step->right - GD_REQUIRE_CONSTANTS] : 0;
    if (step->op != GD_REQUIRE_REMAINDER || divisor < 2 || divisor & (divisor - 1))
        return left;
    *dropped = (uint8_t)(__builtin_clzll(divisor) + 1);
    reader->step_count--;
    return step->left;
}

/* The orders that a sign between two numbers stands for; 0: it is no comparison. */
static uint8_t orders_of(const gd_require_reader *reader)
{
    return is(reader, "==")   ? GD_REQUIRE_EQUAL
           : is(reader, "!=") ? GD_REQUIRE_LESS | GD_REQUIRE_GREATER | GD_REQUIRE_UNORDERED
           : is(reader, "<")  ? GD_REQUIRE_LESS
           : is(reader, "<=") ? GD_REQUIRE_LESS | GD_REQUIRE_EQUAL
           : is(reader, ">")  ? GD_REQUIRE_GREATER
           : is(reader, ">=") ? GD_REQUIRE_GREATER | GD_REQUIRE_EQUAL
                              : 0;
}

static void parse_comparison(gd_require_reader *reader)
{
    const uint32_t left_offset = here(reader);
    uint8_t dropped = 0;
    const uint8_t left = take_remainder(reader, parse_sum(reader), &dropped),
                  orders = orders_of(reader);
    const bool real = is_real(reader, left);
    const char *sign = reader->start;
    const uint32_t sign_bytes = reader->bytes;
    uint8_t right;

    if (!orders)
        unexpected(reader, "==, !=, <, <=, > or >=");
    next(reader);
    const uint32_t right_offset = here(reader);
    if (words_of(reader, left) && (orders == GD_REQUIRE_EQUAL || orders & GD_REQUIRE_UNORDERED)) {
        right = parse_word(reader, left);
    } else {
        right = parse_sum(reader);
        const bool constant = right >= GD_REQUIRE_CONSTANTS && right < GD_REQUIRE_RESULTS;
        if (!real || !constant)
            integer_wanted(reader, left, left_offset, sign, sign_bytes);
        integer_wanted(reader, right, right_offset, sign, sign_bytes);
    }
    if (orders_of(reader))
        wrong(reader, here(reader),
              "found a comparison beside %.*s; a < b < c is written a < b && b < c",
              (int)reader->bytes, reader->start);
    add_step(reader, (gd_require_step){.op = real ? GD_REQUIRE_COMPARE_REAL : GD_REQUIRE_COMPARE,
                                       .left = left,
                                       .right = right,
                                       .result = orders,
                                       .dropped = dropped});
}

/* A parameter that is an address, or with `map_too` a tensor map in its place. */
static uint8_t parse_address(gd_require_reader *reader, bool map_too)
{
    const uint32_t offset = here(reader);

    if (reader->token != GD_REQUIRE_TOKEN_WORD)
        unexpected(reader, "a parameter that is an address");
    const uint8_t name = reader->failed ? 0 : find_name(reader, map_too);
    const gd_require_name *found = &reader->names[name];
    const bool is_map =
        found->kind == GD_REQUIRE_KIND_FIELD && found->field == GD_REQUIRE_FIELD_ADDRESS;
    if (!is_map && (found->kind != GD_REQUIRE_KIND_INTEGER || found->bytes != 8))
        wrong(reader, offset, "found %.*s, expected a parameter that is an address",
              shown(reader->bytes), reader->start);
    next(reader);
    return name;
}

static uint8_t parse_placed_address(gd_require_reader *reader)
{
    const uint32_t offset = here(reader);
    const uint8_t name = parse_address(reader, true);

    if (reader->failed)
        return 0;
    if (reader->names[name].extent == GD_REQUIRE_NONE)
        wrong(reader, offset, "how far %.*s reaches is not told; an \"extent\" field says it",
              SHOWN, reader->names[name].name);
    else
        depend_on(reader, reader->extents[reader->names[name].extent].maps);
    return name;
}

/* apart(a, b, c): a overlaps neither b nor c. */
static void parse_apart(gd_require_reader *reader)
{
    if (!is(reader, "apart"))
        wrong(reader, here(reader), "there is no function \"%.*s\"; there is apart()",
              shown(reader->bytes), reader->start);
    next(reader);
    next(reader);
    const uint8_t first = parse_placed_address(reader);
    reader->names_something = true;
    if (!is(reader, ","))
        unexpected(reader, "',' and another address");
    while (take(reader, ",")) {
        const uint8_t other = parse_placed_address(reader);
        add_step(reader, (gd_require_step){.op = GD_REQUIRE_APART, .left = first, .right = other});
    }
    if (!take(reader, ")"))
        unexpected(reader, "')'");
}

/* What is joined by &&, and where it does not hold, what stands behind the next ||. */
static bool parse_alternative(gd_require_reader *reader)
{
    const uint32_t first = reader->step_count;

    reader->known = 0;
    do {
        reader->results = 0;
        if (is_word_before(reader, '('))
            parse_apart(reader);
        else
            parse_comparison(reader);
    } while (take(reader, "&&"));
    const bool more = take(reader, "||");
    for (uint32_t i = first; i < reader->step_count && more; i++) {
        if (!reader->steps[i].otherwise)
            reader->steps[i].otherwise = (uint16_t)reader->step_count;
    }
    if (more)
        reader->steps[reader->step_count - 1].then = HOLDS;
    return more;
}

/* ---- the whole ---- */

static void begin(gd_require_reader *reader, bool is_extent, const char *text, const char *end)
{
    reader->is_extent = is_extent;
    reader->at = reader->start = text;
    reader->end = end;
    reader->failed = reader->names_something = false;
    reader->depth = reader->results = 0;
    reader->known = 0;
    next(reader);
}

static bool has_ended(gd_require_reader *reader)
{
    if (reader->token != GD_REQUIRE_TOKEN_END)
        unexpected(reader, "an operator or the end");
    return !reader->failed && !reader->no_memory;
}

gd_requirement *gd_require_parse_condition(gd_require_reader *reader, const char *text,
                                           const char *end)
{
    const uint32_t step = reader->step_count;

    begin(reader, false, text, end);
    const uint32_t offset = here(reader);
    while (parse_alternative(reader))
        ;
    if (!reader->names_something)
        wrong(reader, offset, "found a condition that names nothing: it always says the same");
    if (!has_ended(reader) || is_full(reader, reader->count, GD_REQUIRE_LIMIT_CONDITIONS,
                                      "conditions of an entry (GD_REQUIRE_LIMIT_CONDITIONS)")) {
        reader->step_count = step;
        return NULL;
    }
    for (uint32_t i = step; i < reader->step_count; i++) {
        if (reader->steps[i].then == HOLDS)
            reader->steps[i].then = (uint16_t)reader->step_count;
        if (reader->steps[i].otherwise == HOLDS)
            reader->steps[i].otherwise = (uint16_t)reader->step_count;
    }
    reader->list[reader->count] =
        (gd_requirement){.step = (uint16_t)step, .step_end = (uint16_t)reader->step_count};
    return &reader->list[reader->count++];
}

/* What may stand in front of the brackets, with its bytes; those with b are any type of that size.
 */
static const struct {
    const char *name;
    uint32_t bytes;
} elements[] = {{"u8", 1},   {"u16", 2},  {"u32", 4}, {"u64", 8},  {"s8", 1},  {"s16", 2},
                {"s32", 4},  {"s64", 8},  {"b8", 1},  {"b16", 2},  {"b32", 4}, {"b64", 8},
                {"e4m3", 1}, {"e5m2", 1}, {"f16", 2}, {"bf16", 2}, {"f32", 4}, {"f64", 8}};

enum { ELEMENT_COUNT = sizeof elements / sizeof elements[0] };

/* The element in front of brackets: its index in `elements`. */
static size_t parse_element(gd_require_reader *reader)
{
    size_t i = 0;

    while (i < ELEMENT_COUNT && !is(reader, elements[i].name))
        i++;
    if (i == ELEMENT_COUNT)
        wrong(reader, here(reader),
              "there are no elements \"%.*s\"; there are u8 to u64, s8 to s64, e4m3, e5m2, f16, "
              "bf16, f32, f64, and b8 to b64 for any",
              shown(reader->bytes), reader->start);
    next(reader);
    next(reader);
    return i;
}

/* "weight: bf16[rows * columns]", or in bytes, "weight: rows * columns * 2". */
gd_require_extent *gd_require_parse_extent(gd_require_reader *reader, const char *text,
                                           const char *end)
{
    gd_require_extent added = {.step = (uint16_t)reader->step_count};

    begin(reader, true, text, end);
    const uint32_t name_offset = here(reader);
    added.name = parse_address(reader, false);
    if (!reader->failed && reader->names[added.name].extent != GD_REQUIRE_NONE)
        wrong(reader, name_offset, "the extent of %.*s is told twice", SHOWN,
              reader->names[added.name].name);
    if (!take(reader, ":"))
        unexpected(reader, "':', as in weight: bf16[rows]");
    const bool brackets = is_word_before(reader, '[');
    const size_t element = brackets ? parse_element(reader) : 0;
    const uint32_t offset = here(reader);
    added.result = parse_sum(reader);
    integer_wanted(reader, added.result, offset, brackets ? "[" : ":", 1);
    if (brackets && !take(reader, "]"))
        unexpected(reader, "']'");
    if (brackets && !reader->failed) {
        added.element = elements[element].name;
        if (elements[element].bytes > 1)
            added.result = add_operation(reader, GD_REQUIRE_MULTIPLY, added.result,
                                         add_constant(reader, elements[element].bytes));
    }
    if (!has_ended(reader) || is_full(reader, reader->extent_count, GD_REQUIRE_LIMIT_EXTENTS,
                                      "extents (GD_REQUIRE_LIMIT_EXTENTS)"))
        return NULL;
    added.step_end = (uint16_t)reader->step_count;
    added.maps = reader->known;
    reader->names[added.name].extent = (uint8_t)reader->extent_count;
    reader->extents[reader->extent_count] = added;
    return &reader->extents[reader->extent_count++];
}
