/* Shapes of conditions and extents that are computed without steps: products, and conditions that say where one
 * name's value lies, which most do: "rows < 2^30", "columns % 8 == 0", and these joined
 * by &&. Each such part is a mask, a subtraction and a comparison of 64 bits, whose results need no branch. */
#include "ptx/array.h"
#include "ptx/require_compile.h"

/* What is compared with a number: a name, or what its lowest bits are. */
typedef struct subject {
    uint16_t name;
    uint64_t mask;
    gd_wide least, most; /* that it can be */
} subject;

static bool is_power_of_two(gd_wide value)
{
    return value > 0 && !(value & (value - 1));
}

static bool read_subject(const gd_require_reader *reader, const gd_require_node *node, subject *found)
{
    const gd_require_node *of = node;
    gd_wide divisor = 0;

    if (node->op == GD_REQUIRE_OP_REMAINDER) {
        const gd_require_node *by = &reader->nodes[node->right];
        of = &reader->nodes[node->left];
        divisor = by->value.integer;
        if (by->op != GD_REQUIRE_OP_CONSTANT || !is_power_of_two(divisor) || divisor > UINT64_MAX)
            return false;
    }
    if (of->op != GD_REQUIRE_OP_NAME || of->type == GD_REQUIRE_REAL)
        return false;
    const gd_require_name *name = &reader->terms->names[of->left];
    uint32_t bits = name->bytes ? 8u * name->bytes : 32;
    *found = (subject){.name = of->left, .mask = UINT64_MAX, .most = ((gd_wide)1 << bits) - 1};
    if (divisor) {
        found->mask = (uint64_t)divisor - 1;
        found->most = divisor - 1;
        return !name->is_signed;
    }
    if (name->is_signed) {
        found->most >>= 1;
        found->least = -found->most - 1;
    }
    return true;
}

/* The comparison with its sides exchanged. */
static uint8_t exchanged(uint8_t op)
{
    switch (op) {
    case GD_REQUIRE_OP_LESS:
        return GD_REQUIRE_OP_GREATER;
    case GD_REQUIRE_OP_LESS_EQUAL:
        return GD_REQUIRE_OP_GREATER_EQUAL;
    case GD_REQUIRE_OP_GREATER:
        return GD_REQUIRE_OP_LESS;
    case GD_REQUIRE_OP_GREATER_EQUAL:
        return GD_REQUIRE_OP_LESS_EQUAL;
    default:
        return op;
    }
}

/* false: no value, or no range of them, makes it true. */
static bool read_limits(const subject *of, uint8_t op, gd_wide number, gd_require_range *range)
{
    gd_wide low = of->least, high = of->most;

    if (op == GD_REQUIRE_OP_NOT_EQUAL) {
        if (number < low || number > high)
            return false;
        /* The range begins behind the number and ends, past the largest one, before it. */
        *range = (gd_require_range){of->name, of->mask, (uint64_t)(number + 1), UINT64_MAX - 1};
        return true;
    }
    if (op == GD_REQUIRE_OP_EQUAL || op == GD_REQUIRE_OP_GREATER_EQUAL || op == GD_REQUIRE_OP_GREATER) {
        gd_wide least = op == GD_REQUIRE_OP_GREATER ? number + 1 : number;
        low = least > low ? least : low;
    }
    if (op == GD_REQUIRE_OP_EQUAL || op == GD_REQUIRE_OP_LESS_EQUAL || op == GD_REQUIRE_OP_LESS) {
        gd_wide most = op == GD_REQUIRE_OP_LESS ? number - 1 : number;
        high = most < high ? most : high;
    }
    *range = (gd_require_range){of->name, of->mask, (uint64_t)low, (uint64_t)(high - low)};
    return low <= high;
}

static bool add_range(gd_require_reader *reader, const gd_require_range *range)
{
    gd_requires *terms = reader->terms;
    void *list = terms->ranges;

    if (terms->range_count == terms->range_capacity) {
        bool grown = gd_array_grow(&list, &terms->range_capacity, sizeof *terms->ranges);
        terms->ranges = list;
        reader->no_memory |= !grown;
        if (!grown)
            return false;
    }
    terms->ranges[terms->range_count++] = *range;
    return true;
}

static bool add_ranges(gd_require_reader *reader, uint16_t index)
{
    const gd_require_node *node = &reader->nodes[index];
    gd_require_range range;
    subject of;

    if (node->op == GD_REQUIRE_OP_AND)
        return add_ranges(reader, node->left) && add_ranges(reader, node->right);
    if (node->op < GD_REQUIRE_OP_EQUAL || node->op > GD_REQUIRE_OP_GREATER_EQUAL)
        return false;
    const gd_require_node *left = &reader->nodes[node->left], *right = &reader->nodes[node->right];
    bool turned = left->op == GD_REQUIRE_OP_CONSTANT;
    const gd_require_node *number = turned ? left : right;
    return number->op == GD_REQUIRE_OP_CONSTANT && number->type == GD_REQUIRE_INTEGER &&
           read_subject(reader, turned ? right : left, &of) &&
           read_limits(&of, turned ? exchanged(node->op) : node->op, number->value.integer, &range) &&
           add_range(reader, &range);
}

/* ---- products ---- */

static bool find_factors(const gd_require_reader *reader, uint16_t index, gd_require_extent *extent)
{
    const gd_require_node *node = &reader->nodes[index];

    if (node->op == GD_REQUIRE_OP_MULTIPLY)
        return find_factors(reader, node->left, extent) && find_factors(reader, node->right, extent);
    if (node->op == GD_REQUIRE_OP_NAME && node->type == GD_REQUIRE_INTEGER &&
        extent->factor_count < GD_REQUIRE_FACTORS) {
        extent->factors[extent->factor_count++] = node->left;
        return true;
    }
    return node->op == GD_REQUIRE_OP_CONSTANT && node->value.integer <= INT32_MAX &&
           !__builtin_mul_overflow(extent->scale, (int64_t)node->value.integer, &extent->scale);
}

void gd_require_find_factors(const gd_require_reader *reader, uint16_t node, gd_require_extent *extent)
{
    extent->scale = 1;
    if (!find_factors(reader, node, extent))
        extent->scale = extent->factor_count = 0;
}

bool gd_require_add_ranges(gd_require_reader *reader, uint16_t node)
{
    uint32_t before = reader->terms->range_count;
    bool whole = add_ranges(reader, node);

    if (!whole)
        reader->terms->range_count = before;
    return whole;
}
