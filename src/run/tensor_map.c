/* Tensor maps: what the driver asks of one, checked with words, then encoded by it. The rules are
 * those of cuda.h at cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "run/private.h"
#include "ptx/require/tensor_map.h"
#include "run/tensor_map.h"

enum {
    OPTIONS_MINIMUM = sizeof(griddep_tensor_options),
    MOST_RANK = 5,
    MOST_BOX = 256,
    MOST_STEP = 8,
    MOST_CHANNELS = 256,
    MOST_PIXELS = 1024
};

static const uint64_t most_elements = UINT64_C(1) << 32; /* of a dimension */
static const uint64_t stride_limit = UINT64_C(1) << 40;

_Static_assert(sizeof(griddep_tensor_map) == sizeof(gd_CUtensorMap),
               "griddep_tensor_map mirrors CUtensorMap");

static int32_t refuse(griddep_error *error, const char *field, int index, uint64_t value,
                      const char *rule)
{
    if (index < 0)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "tensor map: %s is %" PRIu64 "; %s",
                            field, value, rule);
    return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "tensor map: %s[%d] is %" PRIu64 "; %s",
                        field, index, value, rule);
}

/* ---- constants ---- */

/* Bits of an element; of the packed types, in shared memory. 0: no such type. */
static uint32_t element_bits(int32_t type)
{
    static const uint8_t bits[] = {8, 16, 32, 32, 64, 64, 16, 32, 64, 16, 32, 32, 32, 4, 4, 6};

    return type >= 0 && type < (int32_t)sizeof bits ? bits[type] : 0;
}

static bool is_packed(int32_t type)
{
    return type >= GRIDDEP_TENSOR_16U4_ALIGN8;
}

static bool is_spaced(int32_t type)
{
    return type >= GRIDDEP_TENSOR_16U4_ALIGN16;
}

static bool is_float(int32_t type)
{
    return type >= GRIDDEP_TENSOR_F16 && type <= GRIDDEP_TENSOR_TF32_FTZ;
}

static int32_t check_constants(const griddep_tensor_options *options, griddep_error *error)
{
    const struct {
        const char *field, *constants;
        int32_t value, last;
    } checks[] = {
        {"type", "GRIDDEP_TENSOR_*", options->type, GRIDDEP_TENSOR_16U6_ALIGN16},
        {"interleave", "GRIDDEP_INTERLEAVE_*", options->interleave, GRIDDEP_INTERLEAVE_32B},
        {"swizzle", "GRIDDEP_SWIZZLE_*", options->swizzle, GRIDDEP_SWIZZLE_128B_ATOM_64B},
        {"promotion", "GRIDDEP_PROMOTION_*", options->promotion, GRIDDEP_PROMOTION_256B},
        {"fill", "GRIDDEP_FILL_*", options->fill, GRIDDEP_FILL_NAN},
    };

    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        if (checks[i].value < 0 || checks[i].value > checks[i].last)
            return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                                "tensor map: %s is %" PRId32 ", which is no %s", checks[i].field,
                                checks[i].value, checks[i].constants);
    }
    if (options->fill == GRIDDEP_FILL_NAN && !is_float(options->type))
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "tensor map: GRIDDEP_FILL_NAN needs a floating-point type");
    if (options->interleave == GRIDDEP_INTERLEAVE_32B && options->swizzle != GRIDDEP_SWIZZLE_32B)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "tensor map: GRIDDEP_INTERLEAVE_32B needs GRIDDEP_SWIZZLE_32B");
    return GRIDDEP_OK;
}

/* ---- the tensor ---- */

static int32_t check_dimensions(const griddep_tensor_options *options, griddep_error *error)
{
    bool wide = options->interleave == GRIDDEP_INTERLEAVE_32B || is_spaced(options->type);
    uint64_t unit = is_spaced(options->type) ? 128 : is_packed(options->type) ? 2 : 1;

    for (uint32_t i = 0; i < MOST_RANK; i++) {
        bool used = i < options->rank;
        if (used ? !options->dimensions[i] || options->dimensions[i] > most_elements
                 : options->dimensions[i] != 0)
            return refuse(error, "dimensions", (int)i, options->dimensions[i],
                          used ? "it may be 1 to 2^32" : "past the rank it must be 0");
    }
    if (options->dimensions[0] % unit)
        return refuse(error, "dimensions", 0, options->dimensions[0],
                      unit == 128 ? "for this type it is a multiple of 128"
                                  : "for this type it is a multiple of 2");
    for (uint32_t i = 0; i < MOST_RANK - 1; i++) {
        bool used = i + 1 < options->rank;
        uint64_t stride = options->strides[i];
        if (!used && stride)
            return refuse(error, "strides", (int)i, stride, "past the rank it must be 0");
        if (used && (!stride || stride % (wide ? 32 : 16) || stride >= stride_limit))
            return refuse(error, "strides", (int)i, stride,
                          wide ? "it may be a multiple of 32 below 2^40"
                               : "it may be a multiple of 16 below 2^40");
    }
    if (!options->address || options->address % (wide ? 32 : 16))
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "tensor map: the address 0x%" PRIx64 " is no multiple of %d, or 0",
                            options->address, wide ? 32 : 16);
    return GRIDDEP_OK;
}

/* All zero is all one. */
static int32_t check_steps(griddep_tensor_options *options, griddep_error *error)
{
    bool given = false;

    for (uint32_t i = 0; i < MOST_RANK; i++)
        given = given || options->steps[i];
    for (uint32_t i = 0; i < MOST_RANK; i++) {
        bool used = i < options->rank;
        if (used && !given)
            options->steps[i] = 1;
        if (used ? !options->steps[i] || options->steps[i] > MOST_STEP : options->steps[i] != 0)
            return refuse(error, "steps", (int)i, options->steps[i],
                          used ? "it may be 1 to 8" : "past the rank it must be 0");
    }
    return GRIDDEP_OK;
}

/* What one copy takes of the innermost dimension. */
static int32_t check_inner(const griddep_tensor_options *options, const char *field, int index,
                           uint32_t elements, griddep_error *error)
{
    static const uint32_t spans[] = {0, 32, 64, 128, 128, 128, 128};
    uint64_t bits = (uint64_t)elements * element_bits(options->type);
    uint32_t span = spans[options->swizzle];

    if (is_spaced(options->type))
        return elements == 128
                   ? GRIDDEP_OK
                   : refuse(error, field, index, elements, "for this type it must be 128");
    if (options->interleave != GRIDDEP_INTERLEAVE_NONE)
        return GRIDDEP_OK;
    if (index == 0 && bits % 128)
        return refuse(error, field, index, elements, "its bytes must be a multiple of 16");
    if (span && bits > 8 * (uint64_t)span)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "tensor map: %s has %" PRIu64
                            " bytes in the innermost dimension; the swizzle spans %" PRIu32,
                            field, bits / 8, span);
    return GRIDDEP_OK;
}

static int32_t check_rank(const griddep_tensor_options *options, bool three, griddep_error *error)
{
    uint32_t least = three || options->interleave != GRIDDEP_INTERLEAVE_NONE ? 3 : 1;

    if (options->rank >= least && options->rank <= MOST_RANK)
        return GRIDDEP_OK;
    return refuse(error, "rank", -1, options->rank,
                  least == 3 ? "here it may be 3 to 5" : "it may be 1 to 5");
}

/* ---- the two modes ---- */

static int32_t check_tiled(griddep_tensor_options *options, griddep_error *error)
{
    for (uint32_t i = 0; i < MOST_RANK; i++) {
        bool used = i < options->rank;
        if (used ? !options->box[i] || options->box[i] > MOST_BOX : options->box[i] != 0)
            return refuse(error, "box", (int)i, options->box[i],
                          used ? "it may be 1 to 256" : "past the rank it must be 0");
    }
    for (int i = 0; i < 3; i++) {
        if (options->lower[i] || options->upper[i] || options->channels || options->pixels)
            return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                                "tensor map: lower, upper, channels and pixels are for im2col; "
                                "here they must be 0");
    }
    return check_inner(options, "box", 0, options->box[0], error);
}

/* The corners' range shrinks with the rank, for they share one field of the map. */
static int32_t check_corners(const griddep_tensor_options *options, griddep_error *error)
{
    const int32_t reach = options->rank == 3 ? 32768 : options->rank == 4 ? 128 : 16;

    for (uint32_t i = 0; i < 3; i++) {
        const int32_t corners[2] = {options->lower[i], options->upper[i]};
        for (int k = 0; k < 2; k++) {
            bool used = i + 2 < options->rank;
            if (used ? corners[k] < -reach || corners[k] >= reach : corners[k] != 0)
                return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                                    "tensor map: %s[%" PRIu32 "] is %" PRId32 "; with rank %" PRIu32
                                    " it may be %" PRId32 " to %" PRId32,
                                    k ? "upper" : "lower", i, corners[k], options->rank,
                                    used ? -reach : 0, used ? reach - 1 : 0);
        }
    }
    return GRIDDEP_OK;
}

static int32_t check_im2col(griddep_tensor_options *options, griddep_error *error)
{
    int32_t status = check_corners(options, error);

    for (int i = 0; i < MOST_RANK && !status; i++) {
        if (options->box[i])
            status =
                refuse(error, "box", i, options->box[i], "it is for tiled maps; here it must be 0");
    }
    if (!status && (!options->channels || options->channels > MOST_CHANNELS))
        status = refuse(error, "channels", -1, options->channels, "it may be 1 to 256");
    if (!status && (!options->pixels || options->pixels > MOST_PIXELS))
        status = refuse(error, "pixels", -1, options->pixels, "it may be 1 to 1024");
    return status ? status : check_inner(options, "channels", -1, options->channels, error);
}

static int32_t read_options(griddep_tensor_options *options, const griddep_tensor_options *given,
                            griddep_error *error)
{
    int32_t status = gd_struct_read(options, sizeof *options, OPTIONS_MINIMUM, given,
                                    "griddep_tensor_options", error);

    if (!status && options->im2col > 1)
        status = refuse(error, "im2col", -1, options->im2col, "it may be 0 or 1");
    if (!status)
        status = check_constants(options, error);
    if (!status)
        status = check_rank(options, options->im2col, error);
    if (!status)
        status = check_dimensions(options, error);
    if (!status)
        status = check_steps(options, error);
    if (status)
        return status;
    return options->im2col ? check_im2col(options, error) : check_tiled(options, error);
}

/* ---- what the driver makes of maps ---- */

static bool encodes_as_known(const gd_driver *driver, const gd_tensor_map *map)
{
    gd_CUtensorMap made, known;

    gd_tensor_map_write(&known, map);
    return driver->cuTensorMapEncodeTiled(
               &made, map->type, map->rank, (void *)(uintptr_t)map->address, map->sizes,
               map->strides + 1, map->box, map->steps, map->interleave, map->swizzle,
               map->promotion, map->fill) == GD_CUDA_SUCCESS &&
           memcmp(&made, &known, sizeof made) == 0;
}

/* Maps that have no value twice, in every field one that is not 0. Another driver, or another
 * device, may encode otherwise; then nothing is said of any map. */
bool gd_tensor_map_is_understood(const griddep_runtime *runtime)
{
    static const gd_tensor_map probes[] = {
        {.address = UINT64_C(0x7f1234567880),
         .rank = 2,
         .type = GRIDDEP_TENSOR_BF16,
         .sizes = {4096, 2055},
         .strides = {2, 8208},
         .box = {64, 128},
         .steps = {1, 1},
         .swizzle = GRIDDEP_SWIZZLE_128B},
        {.address = UINT64_C(0x123456789a0),
         .rank = 5,
         .type = GRIDDEP_TENSOR_TF32,
         .sizes = {1001, UINT64_C(0x87654321), 77, 6, 5},
         .strides = {4, UINT64_C(0xf123456780), UINT64_C(0xa987654320), 0x100, 0xab0},
         .box = {16, 9, 3, 2, 6},
         .steps = {1, 3, 2, 1, 5},
         .swizzle = GRIDDEP_SWIZZLE_64B,
         .promotion = GRIDDEP_PROMOTION_256B,
         .fill = GRIDDEP_FILL_NAN},
        {.address = 0x40,
         .rank = 3,
         .type = GRIDDEP_TENSOR_U8,
         .sizes = {256, 3, 10},
         .strides = {1, 512, 4096},
         .box = {32, 2, 7},
         .steps = {1, 1, 8},
         .interleave = GRIDDEP_INTERLEAVE_32B,
         .swizzle = GRIDDEP_SWIZZLE_32B,
         .promotion = GRIDDEP_PROMOTION_64B},
    };
    bool all = runtime->driver->cuTensorMapEncodeTiled != NULL;

    for (size_t i = 0; i < sizeof probes / sizeof probes[0] && all; i++)
        all = encodes_as_known(runtime->driver, &probes[i]);
    return all;
}

/* ---- public ---- */

static gd_CUresult encode(const gd_driver *driver, const griddep_tensor_options *o,
                          gd_CUtensorMap *map)
{
    void *address = (void *)(uintptr_t)o->address;

    if (o->im2col)
        return driver->cuTensorMapEncodeIm2col(
            map, o->type, o->rank, address, o->dimensions, o->strides, o->lower, o->upper,
            o->channels, o->pixels, o->steps, o->interleave, o->swizzle, o->promotion, o->fill);
    return driver->cuTensorMapEncodeTiled(map, o->type, o->rank, address, o->dimensions, o->strides,
                                          o->box, o->steps, o->interleave, o->swizzle, o->promotion,
                                          o->fill);
}

static int32_t check_able(const griddep_runtime *runtime, bool im2col, griddep_error *error)
{
    const gd_driver *driver = runtime->driver;

    if (runtime->info.capability < 90)
        return gd_error_set(error, GRIDDEP_ERROR_UNSUPPORTED,
                            "tensor maps need sm_90; the device is sm_%" PRId32,
                            runtime->info.capability);
    if (im2col ? !driver->cuTensorMapEncodeIm2col : !driver->cuTensorMapEncodeTiled)
        return gd_error_set(error, GRIDDEP_ERROR_UNSUPPORTED,
                            "tensor maps need %s, which the driver lacks",
                            im2col ? "cuTensorMapEncodeIm2col" : "cuTensorMapEncodeTiled");
    return GRIDDEP_OK;
}

int32_t griddep_tensor_map_encode(griddep_runtime *runtime, const griddep_tensor_options *given,
                                  griddep_tensor_map *map, griddep_error *error)
{
    griddep_tensor_options options;
    gd_CUtensorMap made; /* aligned as the driver wants it; the caller's need not be */
    bool pushed;
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!runtime || !given || !map)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "%s is NULL",
                            !runtime ? "runtime"
                            : given  ? "map"
                                     : "options");
    status = read_options(&options, given, error);
    if (!status)
        status = check_able(runtime, options.im2col, error);
    if (!status)
        status = gd_runtime_enter(runtime, &pushed, error);
    if (status)
        return status;
    gd_CUresult result = encode(runtime->driver, &options, &made);
    if (result != GD_CUDA_SUCCESS)
        status = gd_driver_fail(runtime->driver, result, error,
                                "encoding %s tensor map of rank %" PRIu32,
                                options.im2col ? "an im2col" : "a tiled", options.rank);
    else
        memcpy(map, &made, sizeof *map);
    gd_runtime_leave(runtime, pushed);
    return status;
}

int32_t gd_tensor_map_offline(const griddep_tensor_options *given, griddep_tensor_map *map,
                              griddep_error *error)
{
    griddep_tensor_options options;
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!given || !map)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "%s is NULL", given ? "map" : "options");
    status = read_options(&options, given, error);
    if (status)
        return status;
    if (options.im2col)
        return gd_error_set(error, GRIDDEP_ERROR_UNSUPPORTED,
                            "tensor map: only tiled ones are made without a driver");
    if (options.type >= GD_TENSOR_TYPES || options.swizzle > GRIDDEP_SWIZZLE_128B)
        return gd_error_set(error, GRIDDEP_ERROR_UNSUPPORTED,
                            "tensor map: type %" PRId32 " with swizzle %" PRId32
                            " is for devices beyond sm_90",
                            options.type, options.swizzle);
    gd_tensor_map made = {.address = options.address,
                          .rank = (uint8_t)options.rank,
                          .type = (uint8_t)options.type,
                          .interleave = (uint8_t)options.interleave,
                          .swizzle = (uint8_t)options.swizzle,
                          .promotion = (uint8_t)options.promotion,
                          .fill = (uint8_t)options.fill};
    memcpy(made.sizes, options.dimensions, sizeof made.sizes);
    memcpy(made.strides + 1, options.strides, sizeof options.strides);
    memcpy(made.box, options.box, sizeof made.box);
    memcpy(made.steps, options.steps, sizeof made.steps);
    gd_tensor_map_write(map, &made);
    return GRIDDEP_OK;
}

bool gd_tensor_map_range(const void *map, uint64_t *address, uint64_t *bytes)
{
    gd_tensor_map read;

    if (!gd_tensor_map_read(map, &read))
        return false;
    *address = read.address;
    *bytes = gd_tensor_map_extent(&read);
    return true;
}
