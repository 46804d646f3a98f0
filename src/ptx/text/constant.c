/* Constant expressions (PTX ISA 4.5.5): integers of 64 bits, signed until an operand is unsigned,
 * or fractions. ptxas counts nothing with 0f3F800000. */
#include "ptx/text/constant.h"

#include <string.h>

#include "ptx/text/limit.h"

enum { MOST_DEPTH = 2 * GD_PTX_LIMIT_DEPTH, LANES = 32 };

typedef enum number_kind { SIGNED, UNSIGNED, FRACTION, SINGLE } number_kind; /* SINGLE: 0f... */

typedef struct number {
    uint64_t value; /* of a fraction the bits of a double */
    number_kind kind;
} number;

typedef struct reader {
    const gd_ptx_module *module;
    uint32_t at, end, depth;
    bool failed;
} reader;

static uint32_t kind(const reader *r)
{
    return r->at < r->end ? gd_token_kind(r->module->tokens.list[r->at]) : GD_TOKEN_END;
}

static uint32_t next_kind(const reader *r)
{
    return r->at + 1 < r->end ? gd_token_kind(r->module->tokens.list[r->at + 1]) : GD_TOKEN_END;
}

static number fail(reader *r)
{
    r->failed = true;
    return (number){0};
}

static number conditional(reader *r);

/* (.s64) and (.u64) before an operand. */
static bool read_cast(reader *r, bool *to_unsigned)
{
    if (kind(r) != '(' || next_kind(r) != GD_TOKEN_DOTTED)
        return false;
    *to_unsigned = gd_ptx_token_is(r->module, r->at + 1, ".u64");
    if (!*to_unsigned && !gd_ptx_token_is(r->module, r->at + 1, ".s64"))
        r->failed = true;
    r->at += 3;
    return true;
}

static number literal(reader *r)
{
    uint32_t length;
    const char *text = gd_ptx_token_text(r->module, r->at, &length);
    number result = {0};

    if (r->at < r->end && gd_ptx_token_is(r->module, r->at, "WARP_SZ")) {
        r->at++;
        return (number){LANES, SIGNED};
    }
    if (kind(r) == GD_TOKEN_FLOAT) {
        bool single;
        result.value = gd_ptx_float_read(text, length, &single);
        r->at++;
        return (number){result.value, single ? SINGLE : FRACTION};
    }
    if (kind(r) != GD_TOKEN_INTEGER || !gd_ptx_integer_read(text, length, &result.value))
        return fail(r);
    result.kind = text[length - 1] == 'U' || result.value > INT64_MAX ? UNSIGNED : SIGNED;
    r->at++;
    return result;
}

static double double_of(number a)
{
    double value;

    memcpy(&value, &a.value, sizeof value);
    return value;
}

static number of_double(double value)
{
    number result = {.kind = FRACTION};

    memcpy(&result.value, &value, sizeof value);
    return result;
}

static number unary(reader *r);

static number read_unary(reader *r)
{
    uint32_t sign = kind(r);
    bool to_unsigned;

    if (read_cast(r, &to_unsigned)) {
        number result = unary(r);
        return result.kind >= FRACTION ? fail(r)
                                       : (number){result.value, to_unsigned ? UNSIGNED : SIGNED};
    }
    if (sign == '-' || sign == '+' || sign == '!' || sign == '~') {
        r->at++;
        number result = unary(r);
        if (result.kind == SINGLE || (result.kind == FRACTION && (sign == '!' || sign == '~')))
            return fail(r);
        if (result.kind == FRACTION)
            return of_double(sign == '-' ? -double_of(result) : double_of(result));
        result.value = sign == '-' ? 0 - result.value : sign == '~' ? ~result.value : result.value;
        return sign == '!' ? (number){result.value == 0, SIGNED} : result;
    }
    if (sign != '(')
        return literal(r);
    r->at++;
    number result = conditional(r);
    if (kind(r) != ')')
        return fail(r);
    r->at++;
    return result;
}

static number unary(reader *r)
{
    if (r->failed || r->depth == MOST_DEPTH)
        return fail(r);
    r->depth++;
    number result = read_unary(r);
    r->depth--;
    return result;
}

/* The operators by precedence, the weakest first; two characters as their sum times 256. */
enum {
    OR_OR = '|' << 8 | '|',
    AND_AND = '&' << 8 | '&',
    LEFT = '<' << 8 | '<',
    RIGHT = '>' << 8 | '>'
};
enum {
    EQUAL = '=' << 8 | '=',
    UNEQUAL = '!' << 8 | '=',
    LEAST = '<' << 8 | '=',
    MOST = '>' << 8 | '='
};

static uint32_t operator_at(const reader *r)
{
    uint32_t first = kind(r), second = next_kind(r), both = first << 8 | second;

    switch (both) {
    case OR_OR:
    case AND_AND:
    case LEFT:
    case RIGHT:
    case EQUAL:
    case UNEQUAL:
    case LEAST:
    case MOST:
        return both;
    default:
        return first;
    }
}

static int precedence(uint32_t op)
{
    switch (op) {
    case OR_OR:
        return 1;
    case AND_AND:
        return 2;
    case '|':
        return 3;
    case '^':
        return 4;
    case '&':
        return 5;
    case EQUAL:
    case UNEQUAL:
        return 6;
    case '<':
    case '>':
    case LEAST:
    case MOST:
        return 7;
    case LEFT:
    case RIGHT:
        return 8;
    case '+':
    case '-':
        return 9;
    case '*':
    case '/':
    case '%':
        return 10;
    default:
        return 0;
    }
}

static bool is_less(number a, number b)
{
    return a.kind || b.kind ? a.value < b.value : (int64_t)a.value < (int64_t)b.value;
}

static number shift(uint32_t op, number a, number b)
{
    uint64_t count = b.value;

    if (op == LEFT)
        return (number){count > 63 ? 0 : a.value << count, a.kind};
    if (a.kind)
        return (number){count > 63 ? 0 : a.value >> count, UNSIGNED};
    return (number){(uint64_t)((int64_t)a.value >> (count > 63 ? 63 : count)), SIGNED};
}

static number divide(reader *r, uint32_t op, number a, number b)
{
    const number_kind either = a.kind || b.kind ? UNSIGNED : SIGNED;

    if (b.value == 0)
        return fail(r);
    if (either)
        return (number){op == '/' ? a.value / b.value : a.value % b.value, UNSIGNED};
    if (b.value == UINT64_MAX) /* the least number divided by -1 */
        return (number){op == '/' ? 0 - a.value : 0, SIGNED};
    return (number){(uint64_t)(op == '/' ? (int64_t)a.value / (int64_t)b.value
                                         : (int64_t)a.value % (int64_t)b.value),
                    SIGNED};
}

static number combine_fractions(reader *r, uint32_t op, double a, double b)
{
    switch (op) {
    case EQUAL:
        return (number){a == b, SIGNED};
    case UNEQUAL:
        return (number){a != b, SIGNED};
    case '<':
        return (number){a < b, SIGNED};
    case '>':
        return (number){a > b, SIGNED};
    case LEAST:
        return (number){a <= b, SIGNED};
    case MOST:
        return (number){a >= b, SIGNED};
    case '+':
        return of_double(a + b);
    case '-':
        return of_double(a - b);
    case '*':
        return of_double(a * b);
    case '/':
        return b == 0 ? fail(r) : of_double(a / b);
    default:
        return fail(r);
    }
}

static number combine(reader *r, uint32_t op, number a, number b)
{
    const number_kind either = a.kind || b.kind ? UNSIGNED : SIGNED;

    if ((a.kind == FRACTION) != (b.kind == FRACTION) || a.kind == SINGLE || b.kind == SINGLE)
        return fail(r);
    if (a.kind == FRACTION)
        return combine_fractions(r, op, double_of(a), double_of(b));
    switch (op) {
    case OR_OR:
        return (number){a.value || b.value, SIGNED};
    case AND_AND:
        return (number){a.value && b.value, SIGNED};
    case '|':
        return (number){a.value | b.value, either};
    case '^':
        return (number){a.value ^ b.value, either};
    case '&':
        return (number){a.value & b.value, either};
    case EQUAL:
        return (number){a.value == b.value, SIGNED};
    case UNEQUAL:
        return (number){a.value != b.value, SIGNED};
    case '<':
        return (number){is_less(a, b), SIGNED};
    case '>':
        return (number){is_less(b, a), SIGNED};
    case LEAST:
        return (number){!is_less(b, a), SIGNED};
    case MOST:
        return (number){!is_less(a, b), SIGNED};
    case LEFT:
    case RIGHT:
        return shift(op, a, b);
    case '+':
        return (number){a.value + b.value, either};
    case '-':
        return (number){a.value - b.value, either};
    case '*':
        return (number){a.value * b.value, either};
    default:
        return divide(r, op, a, b);
    }
}

static number binary(reader *r, int lowest)
{
    number left = unary(r);

    for (;;) {
        uint32_t op = operator_at(r);
        int rank = precedence(op);
        if (r->failed || rank < lowest)
            return left;
        r->at += op > 255 ? 2 : 1;
        number right = binary(r, rank + 1);
        left = combine(r, op, left, right);
    }
}

static number read_conditional(reader *r)
{
    number condition = binary(r, 1);

    if (r->failed || kind(r) != '?')
        return condition;
    r->at++;
    number yes = conditional(r);
    if (kind(r) != ':')
        return fail(r);
    r->at++;
    number no = conditional(r);
    if (condition.kind >= FRACTION || yes.kind >= FRACTION || no.kind >= FRACTION)
        return fail(r);
    return condition.value ? yes : no;
}

static number conditional(reader *r)
{
    if (r->failed || r->depth == MOST_DEPTH)
        return fail(r);
    r->depth++;
    number result = read_conditional(r);
    r->depth--;
    return result;
}

/* Whether the tokens are an expression, and what it is. */
static bool evaluate(const gd_ptx_module *module, uint32_t token, uint32_t token_end, number *value)
{
    reader r = {.module = module, .at = token, .end = token_end};

    *value = conditional(&r);
    return !r.failed && r.at == token_end;
}

bool gd_constant_evaluate(const gd_ptx_module *module, uint32_t token, uint32_t token_end,
                          uint64_t *value)
{
    number result;

    if (!evaluate(module, token, token_end, &result) || result.kind >= FRACTION)
        return false;
    *value = result.value;
    return true;
}

gd_constant_class gd_constant_classify(const gd_ptx_module *module, uint32_t token,
                                       uint32_t token_end)
{
    number result;

    if (!evaluate(module, token, token_end, &result))
        return GD_CONSTANT_NONE;
    return result.kind >= FRACTION ? GD_CONSTANT_FRACTION : GD_CONSTANT_INTEGER;
}
