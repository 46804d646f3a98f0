/* Scalar video instructions: sums are made in more bits than any of them needs. */
#include "emulator/execute/video.h"

__extension__ typedef __int128 wide;

static int64_t extend(uint64_t bits, uint32_t width, bool is_signed)
{
    uint64_t value = bits & ((UINT64_C(1) << width) - 1), sign = UINT64_C(1) << (width - 1);

    return is_signed ? (int64_t)((value ^ sign) - sign) : (int64_t)value;
}

static uint32_t part_width(uint32_t part)
{
    return part == GD_PART_WORD ? 32 : part < GD_PART_H0 ? 8 : 16;
}

static uint32_t part_shift(uint32_t part)
{
    return part == GD_PART_WORD ? 0
           : part < GD_PART_H0  ? 8 * (part - GD_PART_B0)
                                : 16 * (part - GD_PART_H0);
}

static int64_t select_part(uint32_t word, uint32_t part, bool is_signed)
{
    return extend(word >> part_shift(part), part_width(part), is_signed);
}

static wide clamp(wide value, uint32_t width, bool is_signed)
{
    wide most = ((wide)1 << (is_signed ? width - 1 : width)) - 1, least = is_signed ? -most - 1 : 0;

    return value < least ? least : value > most ? most : value;
}

static bool compare(const gd_video_form *form, int64_t a, int64_t b)
{
    switch (form->is.compare) {
    case GD_VIDEO_EQ:
        return a == b;
    case GD_VIDEO_NE:
        return a != b;
    case GD_VIDEO_LT:
        return a < b;
    case GD_VIDEO_LE:
        return a <= b;
    case GD_VIDEO_GT:
        return a > b;
    default:
        return a >= b;
    }
}

static int64_t primary(const gd_video_form *form, int64_t a, int64_t b)
{
    uint64_t count = form->is.flags & GD_VIDEO_WRAP ? (uint64_t)b & 31 : b > 32 ? 32 : (uint64_t)b;

    switch (form->is.op) {
    case GD_VIDEO_ADD:
        return a + b;
    case GD_VIDEO_SUB:
        return a - b;
    case GD_VIDEO_ABSDIFF:
        return a < b ? b - a : a - b;
    case GD_VIDEO_MIN:
        return a < b ? a : b;
    case GD_VIDEO_MAX:
        return a > b ? a : b;
    case GD_VIDEO_SHL:
        return (int64_t)((uint64_t)a << count);
    case GD_VIDEO_SHR:
        return a >> count;
    default:
        return compare(form, a, b);
    }
}

static uint32_t multiply(const gd_video_form *form, int64_t a, int64_t b, uint32_t c)
{
    uint32_t flags = form->is.flags;
    bool is_signed =
        flags & (GD_VIDEO_SIGNED_A | GD_VIDEO_SIGNED_B | GD_VIDEO_MINUS_PRODUCT | GD_VIDEO_MINUS_C);
    wide third = extend(c, 32, is_signed), sum = (wide)a * b;

    sum = flags & GD_VIDEO_MINUS_PRODUCT ? -sum : sum;
    sum += flags & GD_VIDEO_MINUS_C ? -third : third;
    sum += flags & GD_VIDEO_PLUS_ONE ? 1 : 0;
    sum >>= form->is.shift;
    return (uint32_t)(flags & GD_VIDEO_SAT ? clamp(sum, 32, is_signed) : sum);
}

static uint32_t video(const gd_video_form *form, uint32_t a_word, uint32_t b_word, uint32_t c)
{
    uint32_t flags = form->is.flags, part = form->is.part[0];
    uint32_t width = part_width(part), shift = part_shift(part),
             mask = (uint32_t)((UINT64_C(1) << width) - 1);
    int64_t a = select_part(a_word, form->is.part[1], flags & GD_VIDEO_SIGNED_A);
    int64_t b = select_part(b_word, form->is.part[2], flags & GD_VIDEO_SIGNED_B);

    if (form->is.op == GD_VIDEO_MAD)
        return multiply(form, a, b, c);
    int64_t third = extend(c, 32, flags & GD_VIDEO_SIGNED_D), result = primary(form, a, b);
    if (flags & GD_VIDEO_SAT)
        result = (int64_t)clamp(result, width, flags & GD_VIDEO_SIGNED_D);
    switch (form->is.second) {
    case GD_SECOND_ADD:
        return (uint32_t)(result + third);
    case GD_SECOND_MIN:
        return (uint32_t)(result < third ? result : third);
    case GD_SECOND_MAX:
        return (uint32_t)(result > third ? result : third);
    default:
        return part == GD_PART_WORD ? (uint32_t)result
                                    : ((uint32_t)result & mask) << shift | (c & ~(mask << shift));
    }
}

void gd_run_video(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    const gd_video_form form = {.value = code->value};

    GD_EACH_LANE(lane, mask)
    {
        uint32_t a = (uint32_t)gd_lane_get(warp, code->a, lane, 4);
        uint32_t b = (uint32_t)gd_lane_get(warp, code->b, lane, 4);
        uint32_t c = (uint32_t)gd_lane_get(warp, code->c, lane, 4);
        gd_lane_put(warp, code->d, lane, 4, video(&form, a, b, c));
    }
}
