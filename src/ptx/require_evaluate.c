/* Evaluating conditions: exact integers of 127 bits, IEEE double precision for the others. */
#include <inttypes.h>
#include <string.h>

#include "ptx/require_compile.h"

static const gd_wide largest = (((gd_wide)1 << 126) - 1) * 2 + 1;

/* ---- integers ---- */

static bool is_narrow(gd_wide value)
{
    return value == (int64_t)value;
}

static bool multiply(gd_wide left, gd_wide right, gd_wide *result)
{
    if (!is_narrow(left) || !is_narrow(right)) {
        gd_wide a = left < 0 ? -left : left, b = right < 0 ? -right : right;
        if (a && b > largest / a)
            return false;
    }
    *result = left * right;
    return true;
}

/* Division and remainder as in C; what fits is divided in 64 bits, which takes a fraction of the time. */
static void divide(gd_wide left, gd_wide right, gd_wide *quotient, gd_wide *remainder)
{
    if (left >= 0 && right > 0 && left <= UINT64_MAX && right <= UINT64_MAX) {
        uint64_t a = (uint64_t)left, b = (uint64_t)right;
        if (!(b & (b - 1)) && remainder) {
            *remainder = a & (b - 1);
            return;
        }
        if (quotient)
            *quotient = a / b;
        else
            *remainder = a % b;
        return;
    }
    if (quotient)
        *quotient = left / right;
    else
        *remainder = left % right;
}

/* Values stay above -2^127, so that each has its negative. */
static gd_require_outcome settle(bool fits, gd_wide value, gd_wide *result)
{
    if (!fits || value < -largest)
        return GD_REQUIRE_OVERFLOWS;
    *result = value;
    return GD_REQUIRE_DONE;
}

static inline gd_require_outcome apply_integer(gd_require_op op, gd_wide left, gd_wide right, gd_wide *result)
{
    gd_wide value = 0;
    bool fits;

    switch (op) {
    case GD_REQUIRE_OP_ADD:
        fits = !__builtin_add_overflow(left, right, &value);
        return settle(fits, value, result);
    case GD_REQUIRE_OP_SUBTRACT:
        fits = !__builtin_sub_overflow(left, right, &value);
        return settle(fits, value, result);
    case GD_REQUIRE_OP_MULTIPLY:
        fits = multiply(left, right, &value);
        return settle(fits, value, result);
    case GD_REQUIRE_OP_DIVIDE:
        if (!right)
            return GD_REQUIRE_DIVIDES_BY_ZERO;
        divide(left, right, result, NULL);
        break;
    case GD_REQUIRE_OP_REMAINDER:
        if (!right)
            return GD_REQUIRE_DIVIDES_BY_ZERO;
        divide(left, right, NULL, result);
        break;
    case GD_REQUIRE_OP_EQUAL:
        *result = left == right;
        break;
    case GD_REQUIRE_OP_NOT_EQUAL:
        *result = left != right;
        break;
    case GD_REQUIRE_OP_LESS:
        *result = left < right;
        break;
    case GD_REQUIRE_OP_LESS_EQUAL:
        *result = left <= right;
        break;
    case GD_REQUIRE_OP_GREATER:
        *result = left > right;
        break;
    case GD_REQUIRE_OP_GREATER_EQUAL:
        *result = left >= right;
        break;
    case GD_REQUIRE_OP_MINIMUM:
        *result = left < right ? left : right;
        break;
    case GD_REQUIRE_OP_MAXIMUM:
        *result = left > right ? left : right;
        break;
    case GD_REQUIRE_OP_NEGATE:
        *result = -left;
        break;
    case GD_REQUIRE_OP_POWER_OF_TWO:
        *result = left > 0 && !(left & (left - 1));
        break;
    case GD_REQUIRE_OP_NOT:
        *result = !left;
        break;
    default:
        *result = left;
    }
    return GD_REQUIRE_DONE;
}

/* ---- floating point ---- */

static void apply_real(gd_require_op op, double left, double right, gd_require_value *result)
{
    switch (op) {
    case GD_REQUIRE_OP_ADD:
        result->real = left + right;
        break;
    case GD_REQUIRE_OP_SUBTRACT:
        result->real = left - right;
        break;
    case GD_REQUIRE_OP_MULTIPLY:
        result->real = left * right;
        break;
    case GD_REQUIRE_OP_DIVIDE:
        result->real = left / right;
        break;
    case GD_REQUIRE_OP_EQUAL:
        result->integer = left == right;
        break;
    case GD_REQUIRE_OP_NOT_EQUAL:
        result->integer = left != right;
        break;
    case GD_REQUIRE_OP_LESS:
        result->integer = left < right;
        break;
    case GD_REQUIRE_OP_LESS_EQUAL:
        result->integer = left <= right;
        break;
    case GD_REQUIRE_OP_GREATER:
        result->integer = left > right;
        break;
    case GD_REQUIRE_OP_GREATER_EQUAL:
        result->integer = left >= right;
        break;
    case GD_REQUIRE_OP_MINIMUM:
        result->real = right < left ? right : left;
        break;
    case GD_REQUIRE_OP_MAXIMUM:
        result->real = right > left ? right : left;
        break;
    case GD_REQUIRE_OP_NEGATE:
        result->real = -left;
        break;
    default:
        result->real = left;
    }
}

gd_require_outcome gd_require_apply(gd_require_op op, bool real, const gd_require_value *left,
                                    const gd_require_value *right, gd_require_value *result)
{
    static const gd_require_value none;

    right = right ? right : &none;
    if (op == GD_REQUIRE_OP_CONVERT) {
        result->real = (double)left->integer;
        return GD_REQUIRE_DONE;
    }
    if (!real)
        return apply_integer(op, left->integer, right->integer, &result->integer);
    if (op == GD_REQUIRE_OP_DIVIDE && right->real == 0.0)
        return GD_REQUIRE_DIVIDES_BY_ZERO;
    apply_real(op, left->real, right->real, result);
    return GD_REQUIRE_DONE;
}

/* ---- programs ---- */

/* Where the bytes behind an address begin and end. */
typedef struct place {
    int64_t start, end;
} place;

enum { PLACES = 32 };

typedef struct machine {
    const gd_requires *terms;
    const gd_require_value *values;
    uint32_t placed; /* of the first PLACES extents those whose place is known, a bit each */
    place places[PLACES];
} machine;

static gd_require_outcome run(machine *on, gd_require_program program, gd_require_value *result);

static inline const gd_require_value *named(const machine *on, uint8_t from, uint16_t index)
{
    return from == GD_REQUIRE_FROM_NAME ? &on->values[index] : &on->terms->constants[index];
}

/* An integer of 64 bits; false: it has more. */
static inline bool take_narrow(const machine *on, uint8_t from, uint16_t index, int64_t **top, int64_t *value)
{
    if (from == GD_REQUIRE_FROM_STACK) {
        *value = *--*top;
        return true;
    }
    gd_wide wide = named(on, from, index)->integer;
    *value = (int64_t)wide;
    return *value == wide;
}

/* A binary operation of 64 bits; false: it needs more of them, or cannot be done. */
static inline bool apply_narrow(uint8_t op, int64_t left, int64_t right, int64_t *result)
{
    switch (op) {
    case GD_REQUIRE_OP_ADD:
        return !__builtin_add_overflow(left, right, result);
    case GD_REQUIRE_OP_SUBTRACT:
        return !__builtin_sub_overflow(left, right, result);
    case GD_REQUIRE_OP_MULTIPLY:
        return !__builtin_mul_overflow(left, right, result);
    case GD_REQUIRE_OP_REMAINDER:
        if (left < 0 || right <= 0)
            return false;
        *result = right & (right - 1) ? left % right : left & (right - 1);
        return true;
    case GD_REQUIRE_OP_EQUAL:
        *result = left == right;
        return true;
    case GD_REQUIRE_OP_NOT_EQUAL:
        *result = left != right;
        return true;
    case GD_REQUIRE_OP_LESS:
        *result = left < right;
        return true;
    case GD_REQUIRE_OP_LESS_EQUAL:
        *result = left <= right;
        return true;
    case GD_REQUIRE_OP_GREATER:
        *result = left > right;
        return true;
    case GD_REQUIRE_OP_GREATER_EQUAL:
        *result = left >= right;
        return true;
    default:
        return false;
    }
}

static bool run_narrow(machine *on, gd_require_program program, int64_t *result);

static inline bool multiply_factors(const machine *on, const gd_require_extent *extent, int64_t *bytes)
{
    bool fits = true;

    *bytes = extent->scale;
    for (uint32_t i = 0; i < extent->factor_count; i++) {
        const gd_wide factor = on->values[extent->factors[i]].integer;
        fits = fits && factor == (int64_t)factor && !__builtin_mul_overflow(*bytes, (int64_t)factor, bytes);
    }
    return fits;
}

static bool find_place(machine *on, uint16_t name, place *found)
{
    const gd_require_extent *extent = &on->terms->extents[on->terms->names[name].extent];
    int64_t bytes = 0;

    found->start = found->end = (int64_t)on->values[name].integer;
    if (!found->start)
        return true;
    if (!(extent->scale ? multiply_factors(on, extent, &bytes) : run_narrow(on, extent->program, &bytes)))
        return false;
    return found->start >= 0 && bytes >= 0 && !__builtin_add_overflow(found->start, bytes, &found->end);
}

/* The bytes behind an address; an output that is held against several inputs is computed once. */
static inline bool take_place(machine *on, uint16_t name, place *found)
{
    const uint16_t index = on->terms->names[name].extent;

    if (index < PLACES && on->placed >> index & 1) {
        *found = on->places[index];
        return true;
    }
    if (!find_place(on, name, found))
        return false;
    if (index < PLACES) {
        on->places[index] = *found;
        on->placed |= 1u << index;
    }
    return true;
}

static bool are_apart_narrow(machine *on, const gd_require_step *step, int64_t *result)
{
    place left, right;

    if (!take_place(on, step->left, &left) || !take_place(on, step->right, &right))
        return false;
    *result = left.start == left.end || right.start == right.end || left.end <= right.start || right.end <= left.start;
    return true;
}

/* The same as run() where 64 bits and the commonest operations do, in less time. false: they do not. */
static bool run_narrow(machine *on, gd_require_program program, int64_t *result)
{
    int64_t stack[GD_REQUIRE_LIMIT_STACK], *top = stack, left, right;
    const gd_require_step *steps = on->terms->steps;

    for (uint32_t i = program.step; i < program.step_end; i++) {
        const gd_require_step *step = &steps[i];
        if (step->op == GD_REQUIRE_OP_SKIP_IF_FALSE || step->op == GD_REQUIRE_OP_SKIP_IF_TRUE) {
            if ((top[-1] != 0) == (step->op == GD_REQUIRE_OP_SKIP_IF_TRUE))
                i = (uint32_t)step->left - 1;
            else
                top--;
            continue;
        }
        if (step->op == GD_REQUIRE_OP_APART) {
            if (!are_apart_narrow(on, step, top++))
                return false;
            continue;
        }
        if (step->op == GD_REQUIRE_OP_NAME || step->op == GD_REQUIRE_OP_NOT) {
            if (step->real || !take_narrow(on, step->left_from, step->left, &top, &left))
                return false;
            *top++ = step->op == GD_REQUIRE_OP_NOT ? !left : left;
            continue;
        }
        if (step->real || step->op < GD_REQUIRE_OP_ADD || step->op > GD_REQUIRE_OP_GREATER_EQUAL ||
            !take_narrow(on, step->right_from, step->right, &top, &right) ||
            !take_narrow(on, step->left_from, step->left, &top, &left) || !apply_narrow(step->op, left, right, top))
            return false;
        top++;
    }
    *result = stack[0];
    return true;
}

/* Where the bytes behind two addresses do not overlap. */
static gd_require_outcome are_apart(const machine *on, const gd_require_step *step, gd_wide *result)
{
    const gd_requires *terms = on->terms;
    const uint16_t names[2] = {step->left, step->right};
    gd_wide start[2];
    uint64_t bytes[2];

    for (int i = 0; i < 2; i++) {
        const gd_require_extent *extent = &terms->extents[terms->names[names[i]].extent];
        gd_require_outcome outcome = gd_require_extent_evaluate(terms, extent, on->values, &bytes[i]);
        if (outcome != GD_REQUIRE_DONE)
            return outcome;
        start[i] = on->values[names[i]].integer;
    }
    *result = !bytes[0] || !bytes[1] || start[0] + bytes[0] <= start[1] || start[1] + bytes[1] <= start[0];
    return GD_REQUIRE_DONE;
}

static inline const gd_require_value *fetch(const machine *on, uint8_t from, uint16_t index,
                                            const gd_require_value **top)
{
    return from == GD_REQUIRE_FROM_STACK ? --*top : named(on, from, index);
}

static gd_require_outcome run(machine *on, gd_require_program program, gd_require_value *result)
{
    gd_require_value stack[GD_REQUIRE_LIMIT_STACK];
    gd_require_value *top = stack;
    const gd_require_step *steps = on->terms->steps;
    int64_t narrow;

    if (run_narrow(on, program, &narrow)) {
        result->integer = narrow;
        return GD_REQUIRE_DONE;
    }
    for (uint32_t i = program.step; i < program.step_end; i++) {
        const gd_require_step *step = &steps[i];
        gd_require_outcome outcome;
        if (step->op == GD_REQUIRE_OP_SKIP_IF_FALSE || step->op == GD_REQUIRE_OP_SKIP_IF_TRUE) {
            if ((top[-1].integer != 0) == (step->op == GD_REQUIRE_OP_SKIP_IF_TRUE))
                i = (uint32_t)step->left - 1;
            else
                top--;
            continue;
        }
        const gd_require_value *at = top;
        bool binary = step->op >= GD_REQUIRE_OP_ADD && step->op <= GD_REQUIRE_OP_MAXIMUM;
        if (step->op == GD_REQUIRE_OP_APART) {
            outcome = are_apart(on, step, &top->integer);
        } else {
            const gd_require_value *right = binary ? fetch(on, step->right_from, step->right, &at) : NULL;
            const gd_require_value *left = fetch(on, step->left_from, step->left, &at);
            top = stack + (at - stack);
            outcome =
                step->real || step->op == GD_REQUIRE_OP_CONVERT
                    ? gd_require_apply((gd_require_op)step->op, step->real, left, right, top)
                    : apply_integer((gd_require_op)step->op, left->integer, right ? right->integer : 0, &top->integer);
        }
        if (outcome != GD_REQUIRE_DONE)
            return outcome;
        top++;
    }
    *result = stack[0];
    return GD_REQUIRE_DONE;
}

/* ---- names ---- */

static uint64_t read_bits(const void *argument, uint8_t bytes)
{
    uint64_t eight;
    uint32_t four;
    uint16_t two;

    switch (bytes) {
    case 8:
        memcpy(&eight, argument, sizeof eight);
        return eight;
    case 4:
        memcpy(&four, argument, sizeof four);
        return four;
    case 2:
        memcpy(&two, argument, sizeof two);
        return two;
    default:
        return *(const unsigned char *)argument;
    }
}

static gd_require_value read_argument(const gd_require_name *name, const void *argument)
{
    gd_require_value value = {0};
    uint64_t bits = read_bits(argument, name->bytes);
    uint32_t single_bits = (uint32_t)bits;
    float single;

    if (name->is_real && name->bytes == 4) {
        memcpy(&single, &single_bits, sizeof single);
        value.real = (double)single;
    } else if (name->is_real) {
        memcpy(&value.real, &bits, sizeof bits);
    } else {
        uint32_t unused = 64 - 8u * name->bytes;
        value.integer = name->is_signed ? (gd_wide)((int64_t)(bits << unused) >> unused) : (gd_wide)bits;
    }
    return value;
}

/* The maps that the names speak of: which of them are known, a bit each. */
static uint32_t read_maps(const gd_requires *terms, void *const *arguments, gd_tensor_map maps[GD_REQUIRE_LIMIT_MAPS])
{
    uint32_t known = 0;

    for (uint32_t i = 0; i < terms->map_count; i++)
        known |= (uint32_t)gd_tensor_map_read(arguments[terms->names[terms->maps[i]].index], &maps[i]) << i;
    return known;
}

void gd_requires_load(const gd_requires *terms, const uint32_t shape[GD_REQUIRE_SHAPE], void *const *arguments,
                      bool maps, gd_require_value values[GD_REQUIRE_LIMIT_NAMES])
{
    gd_tensor_map read[GD_REQUIRE_LIMIT_MAPS];
    const uint32_t known = maps ? read_maps(terms, arguments, read) : 0;

    for (uint32_t i = 0; i < terms->name_count; i++) {
        const gd_require_name *name = &terms->names[i];
        if (name->field == GD_REQUIRE_FIELD_KNOWN)
            values[i].integer = known >> name->map & 1;
        else if (name->field)
            values[i].integer =
                known >> name->map & 1
                    ? gd_require_field_value(&read[name->map], (gd_require_field)name->field, name->dimension)
                    : 0;
        else if (name->bytes)
            values[i] = read_argument(name, arguments[name->index]);
        else
            values[i].integer = shape[name->index];
    }
}

/* ---- conditions ---- */

/* The places are left as they are. */
static inline void start_machine(machine *on, const gd_requires *terms, const gd_require_value *values)
{
    on->terms = terms;
    on->values = values;
    on->placed = 0;
}

gd_require_outcome gd_requirement_evaluate(const gd_requires *terms, const gd_requirement *requirement,
                                           const gd_require_value *values)
{
    machine on;
    gd_require_value truth = {0};

    start_machine(&on, terms, values);
    gd_require_outcome outcome = run(&on, requirement->program, &truth);

    return outcome == GD_REQUIRE_DONE && !truth.integer ? GD_REQUIRE_FAILS : outcome;
}

gd_require_outcome gd_require_extent_evaluate(const gd_requires *terms, const gd_require_extent *extent,
                                              const gd_require_value *values, uint64_t *bytes)
{
    machine on;
    gd_require_value value = {0};

    start_machine(&on, terms, values);
    *bytes = 0;
    if (!values[extent->name].integer)
        return GD_REQUIRE_DONE;
    gd_require_outcome outcome = run(&on, extent->program, &value);
    if (outcome != GD_REQUIRE_DONE)
        return outcome;
    if (value.integer < 0 || value.integer > UINT64_MAX)
        return GD_REQUIRE_FAILS;
    *bytes = (uint64_t)value.integer;
    return GD_REQUIRE_DONE;
}

bool gd_require_extent_is_known(const gd_requires *terms, const gd_require_extent *extent,
                                const gd_require_value *values)
{
    bool known = true;

    for (uint32_t i = 0; i < terms->map_count; i++)
        known = known && (!(extent->maps >> i & 1) || values[terms->maps[i]].integer);
    return known;
}

/* Whether all conditions hold, the quick way; ranges take every map for known. */
static bool hold(const gd_requires *terms, const gd_require_value *values)
{
    machine on;
    bool all = true;

    start_machine(&on, terms, values);
    for (uint32_t i = 0; i < terms->map_count; i++)
        all &= values[terms->maps[i]].integer != 0;
    for (uint32_t i = 0; i < terms->range_count; i++) {
        const gd_require_range *range = &terms->ranges[i];
        all &= ((uint64_t)values[range->name].integer & range->mask) - range->low <= range->span;
    }
    for (uint32_t i = 0; i < terms->other_count && all; i++) {
        const gd_requirement *requirement = &terms->list[terms->others[i]];
        const gd_require_program program = {requirement->known, requirement->program.step_end};
        int64_t truth;
        all = run_narrow(&on, program, &truth) ? truth != 0
                                               : gd_requirement_evaluate(terms, requirement, values) == GD_REQUIRE_DONE;
    }
    return all;
}

uint32_t gd_requires_check(const gd_requires *terms, const gd_require_value *values, gd_require_outcome *outcome)
{
    uint32_t i = 0;

    if (hold(terms, values))
        return terms->count;
    while (i < terms->count && (*outcome = gd_requirement_evaluate(terms, &terms->list[i], values)) == GD_REQUIRE_DONE)
        i++;
    return i;
}
