/* Search in the table of operations, which is ordered by name. */
#include <string.h>

#include "ptx/text/ops.h"

const gd_op_info gd_ops[GD_OP_COUNT] = {
    {.name = "", .length = 0, .control = GD_CONTROL_UNKNOWN, .memory = GD_MEMORY_UNKNOWN},
#define GD_OP(identifier, text, control_effect, memory_effect, synchronization)                    \
    {.name = text,                                                                                 \
     .length = sizeof text - 1,                                                                    \
     .control = GD_CONTROL_##control_effect,                                                       \
     .memory = GD_MEMORY_##memory_effect,                                                          \
     .sync = GD_OP_SYNC_##synchronization},
#include "ptx/text/ops.def"
#undef GD_OP
};

static int compare(const char *name, size_t length, const gd_op_info *info)
{
    size_t common = length < info->length ? length : info->length;
    int order = memcmp(name, info->name, common);

    return order ? order : (length > info->length) - (length < info->length);
}

/* Whether `modifiers` begins with what the member's name adds to the base's, up to a modifier's
 * end. */
static bool fits(const gd_op_info *member, const gd_op_info *base, const char *modifiers,
                 size_t length)
{
    size_t extra = (size_t)member->length - base->length;

    return extra <= length && memcmp(member->name + base->length, modifiers, extra) == 0 &&
           (extra == length || modifiers[extra] == '.');
}

static bool is_member(const gd_op_info *member, const gd_op_info *family)
{
    return member->length > family->length && member->name[family->length] == '.' &&
           memcmp(member->name, family->name, family->length) == 0;
}

gd_op gd_op_find(const char *name, size_t length)
{
    size_t low = 1, high = GD_OP_COUNT;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare(name, length, &gd_ops[middle]);
        if (order == 0)
            return (gd_op)middle;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return GD_OP_UNKNOWN;
}

bool gd_op_is_family(gd_op base)
{
    return base != GD_OP_UNKNOWN && base + 1u < GD_OP_COUNT &&
           is_member(&gd_ops[base + 1u], &gd_ops[base]);
}

bool gd_op_is_member(gd_op member, gd_op family)
{
    return is_member(&gd_ops[member], &gd_ops[family]);
}

gd_op gd_op_refine(gd_op base, const char *modifiers, size_t length)
{
    gd_op best = base;

    if (!gd_op_is_family(base))
        return base;
    for (unsigned op = base + 1u; op < GD_OP_COUNT && is_member(&gd_ops[op], &gd_ops[base]); op++) {
        if (fits(&gd_ops[op], &gd_ops[base], modifiers, length) &&
            gd_ops[op].length > gd_ops[best].length)
            best = (gd_op)op;
    }
    return best;
}
