/* tex (PTX ISA 9.7.10), by the rules of the CUDA programming guide, "Texture Fetching". */
#include <inttypes.h>
#include <math.h>

#include "emulator/execute/check.h"
#include "emulator/execute/math.h"
#include "emulator/execute/memory.h"
#include "emulator/execute/program.h"
#include "emulator/execute/texture.h"
#include "emulator/machine/texture.h"

/* Where a coordinate lies between texels. */
typedef struct place {
    int64_t index;
    float fraction; /* of the way to the next texel; 0 where nothing is filtered */
} place;

typedef struct fetch {
    gd_warp *warp;
    const gd_code *code;
    uint32_t lane;
    const gd_texture *texture;
    place at[2];
} fetch;

static bool fail(const fetch *f, uint64_t handle, const char *why)
{
    gd_cta_fail(f->warp, f->code, f->lane, GD_FAULT_UNSUPPORTED, handle, 0, false,
                "%s (texture 0x%" PRIx64 ")", why, handle);
    return false;
}

/* ---- one texel ---- */

static uint32_t channel(const unsigned char *bytes, int32_t format, bool is_float)
{
    uint16_t wide;
    uint32_t word;
    float value;

    memcpy(&wide, bytes, gd_format_bytes(format) < 2 ? 1 : 2);
    switch (format) {
    case GD_CU_AD_FORMAT_UNSIGNED_INT8:
        value = (float)bytes[0] / 255.0f;
        word = bytes[0];
        break;
    case GD_CU_AD_FORMAT_SIGNED_INT8:
        value = (float)(int8_t)bytes[0] / 127.0f;
        word = (uint32_t)(int8_t)bytes[0];
        break;
    case GD_CU_AD_FORMAT_UNSIGNED_INT16:
        value = (float)wide / 65535.0f;
        word = wide;
        break;
    case GD_CU_AD_FORMAT_SIGNED_INT16:
        value = (float)(int16_t)wide / 32767.0f;
        word = (uint32_t)(int16_t)wide;
        break;
    case GD_CU_AD_FORMAT_HALF:
        return gd_bits(gd_from_half(wide));
    default:
        memcpy(&word, bytes, sizeof word);
        return word;
    }
    return is_float ? gd_bits(value < -1.0f ? -1.0f : value) : word;
}

/* The channels of a texel; those that its format does not have are 0. */
static bool read_texel(const fetch *f, int64_t x, int64_t y, uint32_t *values)
{
    const gd_texels *texels = &f->texture->texels;
    const uint32_t width = gd_format_bytes(texels->format), bytes = width * texels->channels;
    const uint64_t address = texels->address + (uint64_t)y * texels->pitch + (uint64_t)x * bytes;
    const unsigned char *host;

    if (f->texture->resource.resType == GD_CU_RESOURCE_TYPE_ARRAY) {
        const gd_allocation *item = gd_allocation_find(f->warp->cta, f->code, address);
        if (!item || item->freed)
            return fail(f, (uint64_t)(uintptr_t)f->texture->resource.res.array.hArray,
                        "a texture whose array was destroyed");
        host = item->host + (address - item->start);
    } else {
        host = gd_access(f->warp, f->code, f->lane, GD_AT_GLOBAL, address, bytes, 1, false);
        if (!host)
            return false;
    }
    if (f->warp->cta->race)
        gd_check_range(f->warp, f->code, f->lane, GD_AT_GLOBAL, address, bytes, GD_ACTION_READ,
                       false);
    memset(values, 0, GD_MOST_CHANNELS * sizeof *values);
    for (uint32_t i = 0; i < texels->channels; i++)
        values[i] = channel(host + i * width, texels->format,
                            gd_texels_are_float(texels, f->texture->sampling.flags));
    return true;
}

/* ---- addresses ---- */

/* A line is one row, read at 0. A linear filter then has half of the row before it, which is the
 * border where that is the second dimension's mode: an H200 gives half of each value there. */
static int64_t rows_of(const gd_texture *texture)
{
    return texture->texels.height ? (int64_t)texture->texels.height : 1;
}

/* Without normalized coordinates, wrap and mirror are clamp. */
static int32_t address_mode(const gd_texture *texture, uint32_t dimension)
{
    const int32_t mode = texture->sampling.addressMode[dimension];
    const bool normalized = texture->sampling.flags & GD_CU_TRSF_NORMALIZED_COORDINATES;

    return normalized || mode == GD_CU_TR_ADDRESS_MODE_BORDER ? mode : GD_CU_TR_ADDRESS_MODE_CLAMP;
}

/* The index that a mode makes of one beside the texels; -1: the border. */
static int64_t bring_inside(int64_t index, int64_t size, int32_t mode)
{
    if (index >= 0 && index < size)
        return index;
    switch (mode) {
    case GD_CU_TR_ADDRESS_MODE_WRAP:
        return (index % size + size) % size;
    case GD_CU_TR_ADDRESS_MODE_MIRROR:
        index = (index % (2 * size) + 2 * size) % (2 * size);
        return index < size ? index : 2 * size - 1 - index;
    case GD_CU_TR_ADDRESS_MODE_BORDER:
        return -1;
    default:
        return index < 0 ? 0 : size - 1;
    }
}

/* The texel at an index of each dimension, or what stands beside all of them. Linear memory has no
 * address mode. */
static bool read_at(const fetch *f, int64_t x, int64_t y, uint32_t *values)
{
    const gd_texture *texture = f->texture;
    const int64_t width = (int64_t)texture->texels.width, height = rows_of(texture);

    if (texture->resource.resType == GD_CU_RESOURCE_TYPE_LINEAR) {
        memset(values, 0, GD_MOST_CHANNELS * sizeof *values);
        return x < 0 || x >= width || read_texel(f, x, 0, values);
    }
    x = bring_inside(x, width, address_mode(texture, 0));
    y = bring_inside(y, height, address_mode(texture, 1));
    if (x >= 0 && y >= 0)
        return read_texel(f, x, y, values);
    memcpy(values, texture->sampling.borderColor, GD_MOST_CHANNELS * sizeof *values);
    return true;
}

/* Far beside the texels all indices are alike, but for wrap and mirror, which take the whole
 * periods away before. */
static place find_place(const gd_texture *texture, float coordinate, uint32_t dimension)
{
    const double size = dimension ? (double)rows_of(texture) : (double)texture->texels.width,
                 far = 1e12;
    const int32_t mode = address_mode(texture, dimension);
    double x = (double)coordinate;
    place at = {0};

    if (texture->sampling.flags & GD_CU_TRSF_NORMALIZED_COORDINATES) {
        if (mode == GD_CU_TR_ADDRESS_MODE_WRAP)
            x -= floor(x);
        else if (mode == GD_CU_TR_ADDRESS_MODE_MIRROR)
            x -= 2 * floor(x / 2);
        x *= size;
    }
    x = isnan(x) ? 0 : x > far ? far : x < -far ? -far : x;
    if (texture->sampling.filterMode == GD_CU_TR_FILTER_MODE_LINEAR) {
        x -= 0.5;
        at.fraction =
            (float)(floor((x - floor(x)) * 256 + 0.5) / 256); /* 8 bits behind the point */
    }
    at.index = (int64_t)floor(x);
    return at;
}

/* ---- fetches ---- */

static bool filter(const fetch *f, uint32_t *values)
{
    const double shares[2][2] = {{1.0 - (double)f->at[0].fraction, (double)f->at[0].fraction},
                                 {1.0 - (double)f->at[1].fraction, (double)f->at[1].fraction}};
    double sums[GD_MOST_CHANNELS] = {0};

    for (int64_t y = 0; y < 2; y++) {
        for (int64_t x = 0; x < 2; x++) {
            const double share = shares[0][x] * shares[1][y];
            uint32_t texel[GD_MOST_CHANNELS];
            if (share == 0) /* this texel has no part in the result, be it infinite */
                continue;
            if (!read_at(f, f->at[0].index + x, f->at[1].index + y, texel))
                return false;
            for (uint32_t i = 0; i < GD_MOST_CHANNELS; i++)
                sums[i] += share * (double)gd_single(texel[i]);
        }
    }
    for (uint32_t i = 0; i < GD_MOST_CHANNELS; i++)
        values[i] = gd_bits((float)sums[i]);
    return true;
}

static const gd_texture *find_texture(const fetch *f, uint64_t handle)
{
    const gd_texture *texture =
        gd_memory_behind(f->warp->cta->view->memory, handle, GD_MEMORY_TEXTURE);
    const bool by_index = !f->code->x;
    const gd_grid_view *view = f->warp->cta->view;

    if (!texture || !gd_memory_reaches(view->owner, gd_memory_find(view->memory, handle)))
        fail(f, handle, "a handle that is no texture object");
    else if (f->code->count != (texture->texels.height ? 2 : 1))
        fail(f, handle, "a texture fetch of another number of dimensions than the texture has");
    else if (texture->resource.resType == GD_CU_RESOURCE_TYPE_LINEAR && !by_index)
        fail(f, handle, "linear memory is read as a texture by .s32 coordinates only");
    else if (texture->resource.resType != GD_CU_RESOURCE_TYPE_LINEAR && by_index &&
             texture->sampling.flags & GD_CU_TRSF_NORMALIZED_COORDINATES)
        fail(f, handle,
             ".s32 coordinates for a texture with normalized coordinates are not emulated");
    else
        return texture;
    return NULL;
}

void gd_run_texture(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    const uint32_t *results = warp->cta->image->list + code->list,
                   *coordinates = results + GD_MOST_CHANNELS;

    GD_EACH_LANE(lane, mask)
    {
        const uint64_t handle = gd_lane_get(warp, code->a, lane, 8);
        fetch f = {.warp = warp, .code = code, .lane = lane};
        uint32_t values[GD_MOST_CHANNELS];
        f.texture = find_texture(&f, handle);
        if (!f.texture)
            return;
        for (uint32_t i = 0; i < 2; i++) {
            const uint32_t bits =
                i < code->count ? (uint32_t)gd_lane_get(warp, coordinates[i], lane, 4) : 0;
            f.at[i] = code->x ? find_place(f.texture, gd_single(bits), i)
                              : (place){.index = (int32_t)bits};
        }
        const bool filters =
            code->x && f.texture->sampling.filterMode == GD_CU_TR_FILTER_MODE_LINEAR;
        if (!(filters ? filter(&f, values) : read_at(&f, f.at[0].index, f.at[1].index, values)))
            return;
        for (uint32_t i = 0; i < GD_MOST_CHANNELS; i++)
            gd_lane_put(warp, results[i], lane, 4, values[i]);
    }
}
