/* Evaluating conditions and extents: unsigned integers of 64 bits, and what they have no room for
 * is an outcome. */
#include "ptx/require/require.h"

/* ---- values ---- */

static uint64_t read_argument(const void *argument, uint8_t bytes)
{
    uint64_t eight = 0;
    uint32_t four;

    switch (bytes) {
    case 8:
        memcpy(&eight, argument, sizeof eight);
        return eight;
    case 4:
        memcpy(&four, argument, sizeof four);
        return four;
    default:
        memcpy(&eight, argument, bytes);
        return eight;
    }
}

void gd_requires_load(const gd_requires *terms, const uint32_t shape[GD_REQUIRE_SHAPE],
                      void *const *arguments, bool maps, gd_require_launch *launch)
{
    gd_tensor_map read[GD_REQUIRE_LIMIT_MAPS];

    launch->understood = 0;
    launch->placed = 0;
    for (uint32_t i = 0; i < terms->map_count && maps; i++)
        launch->understood |=
            (uint8_t)(gd_tensor_map_read(arguments[terms->maps[i]], &read[i]) << i);
    for (uint32_t i = 0; i < terms->name_count; i++) {
        const gd_require_name *name = &terms->names[i];
        if (name->kind == GD_REQUIRE_KIND_SHAPE)
            launch->values[i] = shape[name->index];
        else if (name->kind != GD_REQUIRE_KIND_FIELD)
            launch->values[i] = read_argument(arguments[name->index], name->bytes);
        else
            launch->values[i] =
                launch->understood >> name->map & 1
                    ? gd_require_field_value(&read[name->map], (gd_require_field)name->field,
                                             name->dimension)
                    : 0;
    }
    for (uint32_t i = 0; i < terms->constant_count; i++)
        launch->values[GD_REQUIRE_CONSTANTS + i] = terms->constants[i];
}

/* ---- ranges ---- */

static bool lies_in(uint64_t value, const gd_require_range *range)
{
    return (value & range->mask) - range->low <= range->span;
}

bool gd_requires_pass(const gd_requires *terms, const uint32_t shape[GD_REQUIRE_PLAIN_SHAPE],
                      void *const *arguments)
{
    const gd_require_range *range = terms->ranges;

    if (!range)
        return false;
    const gd_require_range *const of_arguments = range + terms->shape_range_count,
                                  *const end = range + terms->range_count;
    if (!shape)
        range = of_arguments;
    for (; range < of_arguments; range++) {
        if (!lies_in(shape[range->index], range))
            return false;
    }
    for (; range < end; range++) {
        if (!lies_in(read_argument(arguments[range->index], range->bytes), range))
            return false;
    }
    return true;
}

/* ---- steps ---- */

static bool compare(uint64_t left, uint64_t right, uint8_t orders)
{
    return orders >> ((left < right) + 2 * (left == right)) & 1;
}

static bool compare_real(double left, double right, uint8_t orders)
{
    return orders >> ((left < right) + 2 * (left == right) + 3 * (left != left)) & 1;
}

/* Where the bytes behind an address end; found once a launch, since an output is held against
 * several inputs. */
static gd_require_outcome find_end(const gd_requires *terms, uint8_t name,
                                   gd_require_launch *launch, uint64_t *end)
{
    const uint8_t index = terms->names[name].extent;

    if (!(launch->placed >> index & 1)) {
        uint64_t bytes;
        const gd_require_outcome outcome =
            gd_require_extent_evaluate(terms, &terms->extents[index], launch, &bytes);
        if (outcome != GD_REQUIRE_DONE)
            return outcome;
        if (__builtin_add_overflow(launch->values[name], bytes, &launch->ends[index]))
            launch->ends[index] = UINT64_MAX;
        launch->placed |= UINT64_C(1) << index;
    }
    *end = launch->ends[index];
    return GD_REQUIRE_DONE;
}

static gd_require_outcome are_apart(const gd_requires *terms, const gd_require_step *step,
                                    gd_require_launch *launch, bool *apart)
{
    const uint64_t left = launch->values[step->left], right = launch->values[step->right];
    uint64_t left_end, right_end;
    gd_require_outcome outcome = find_end(terms, step->left, launch, &left_end);

    if (outcome == GD_REQUIRE_DONE)
        outcome = find_end(terms, step->right, launch, &right_end);
    if (outcome == GD_REQUIRE_DONE)
        *apart = left == left_end || right == right_end || left_end <= right || right_end <= left;
    return outcome;
}

/* All but the commonest step. */
static gd_require_outcome run_other(const gd_requires *terms, const gd_require_step *step,
                                    gd_require_launch *launch, bool *holds)
{
    const uint64_t left = launch->values[step->left], right = launch->values[step->right];
    uint64_t *result = &launch->values[step->result];

    switch (step->op) {
    case GD_REQUIRE_ADD:
        return __builtin_add_overflow(left, right, result) ? GD_REQUIRE_OVERFLOWS : GD_REQUIRE_DONE;
    case GD_REQUIRE_MULTIPLY:
        return __builtin_mul_overflow(left, right, result) ? GD_REQUIRE_OVERFLOWS : GD_REQUIRE_DONE;
    case GD_REQUIRE_DIVIDE:
    case GD_REQUIRE_REMAINDER:
        if (right)
            *result = step->op == GD_REQUIRE_DIVIDE ? left / right : left % right;
        return right ? GD_REQUIRE_DONE : GD_REQUIRE_DIVIDES_BY_ZERO;
    case GD_REQUIRE_COMPARE_REAL:
        *holds = compare_real(gd_require_real(left), (double)right, step->result);
        return GD_REQUIRE_DONE;
    case GD_REQUIRE_UNDERSTOOD:
        *holds = !(step->left & ~launch->understood);
        return GD_REQUIRE_DONE;
    default:
        return are_apart(terms, step, launch, holds);
    }
}

/* Steps from `at` to `end`; *stop is the one behind the last that was run. Most are comparisons
 * that hold, and the shortest way through the loop is theirs. */
static gd_require_outcome run(const gd_requires *terms, uint32_t at, uint32_t end,
                              gd_require_launch *launch, uint32_t *stop)
{
    const gd_require_step *const steps = terms->steps, *const last = steps + end;
    const gd_require_step *step = steps + at;
    gd_require_outcome outcome = GD_REQUIRE_DONE;
    const uint64_t *const values = launch->values;

    while (step < last) {
        const gd_require_step *const now = step++;
        bool holds = true;
        if (now->op == GD_REQUIRE_COMPARE) {
            holds = compare(values[now->left] & UINT64_MAX >> now->dropped, values[now->right],
                            now->result);
            if (holds && !now->then)
                continue;
        } else {
            outcome = run_other(terms, now, launch, &holds);
            if (outcome != GD_REQUIRE_DONE)
                break;
        }
        const uint16_t next = holds ? now->then : now->otherwise;
        if (next) {
            step = steps + next;
        } else if (!holds) {
            outcome = GD_REQUIRE_FAILS;
            break;
        }
    }
    *stop = (uint32_t)(step - steps);
    return outcome;
}

/* ---- conditions and extents ---- */

gd_require_outcome gd_requirement_evaluate(const gd_requires *terms,
                                           const gd_requirement *requirement,
                                           gd_require_launch *launch)
{
    uint32_t stop;

    return run(terms, requirement->step, requirement->step_end, launch, &stop);
}

gd_require_outcome gd_require_extent_evaluate(const gd_requires *terms,
                                              const gd_require_extent *extent,
                                              gd_require_launch *launch, uint64_t *bytes)
{
    uint32_t stop;

    *bytes = 0;
    if (!launch->values[extent->name])
        return GD_REQUIRE_DONE;
    const gd_require_outcome outcome = run(terms, extent->step, extent->step_end, launch, &stop);
    if (outcome == GD_REQUIRE_DONE)
        *bytes = launch->values[extent->result];
    return outcome;
}

uint32_t gd_requires_check(const gd_requires *terms, gd_require_launch *launch,
                           gd_require_outcome *outcome)
{
    uint32_t stop, i = 0;

    if (!terms->count)
        return 0;
    *outcome =
        run(terms, terms->list[0].step, terms->list[terms->count - 1].step_end, launch, &stop);
    if (*outcome == GD_REQUIRE_DONE)
        return terms->count;
    while (terms->list[i].step_end < stop)
        i++;
    return i;
}
