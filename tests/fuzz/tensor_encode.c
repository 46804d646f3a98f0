/* Which tensor maps a driver encodes: arguments that are right but for one or two, drawn around the
 * limits. */
#include <string.h>

#include "tensor_driver.h"

typedef struct arguments {
    int type, interleave, swizzle, promotion, fill;
    uint32_t rank, box[5], steps[5], channels, pixels, misplaced;
    int lower[5], upper[5];
    uint64_t address, sizes[5], strides[5];
} arguments;

static const uint8_t bytes_of[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4, 1, 1, 1};

static uint64_t choose(tensor_case *item, const uint64_t *list, uint32_t count)
{
    return list[tensor_random(item, count)];
}

#define CHOOSE(...)                                                                                \
    choose(item, (const uint64_t[]){__VA_ARGS__},                                                  \
           (uint32_t)(sizeof((const uint64_t[]){__VA_ARGS__}) / 8))

/* One argument near what it may be. */
static void spoil(tensor_case *item, arguments *a)
{
    const uint32_t at = tensor_random(item, 5);

    switch (tensor_random(item, 17)) {
    case 16: /* a box of about as much as shared memory holds */
        a->box[1] = 16;
        a->box[2] = (uint32_t)CHOOSE(4, 8, 16);
        a->box[3] = (uint32_t)CHOOSE(1, 2, 7, 8);
        a->box[4] = (uint32_t)CHOOSE(1, 2);
        break;
    case 0:
        a->type = (int)CHOOSE(0, 6, 8, 12, 15, 16, 17);
        break;
    case 1:
        a->interleave = (int)CHOOSE(1, 2, 3);
        break;
    case 2:
        a->swizzle = (int)CHOOSE(0, 1, 2, 3, 4, 5, 6, 7);
        break;
    case 3:
        a->promotion = (int)CHOOSE(1, 2, 3, 4);
        break;
    case 4:
        a->fill = (int)CHOOSE(1, 2);
        break;
    case 5:
        a->rank = (uint32_t)CHOOSE(0, 1, 2, 3, 4, 5, 6);
        break;
    case 6:
        a->box[at] = (uint32_t)CHOOSE(0, 1, 2, 8, 16, 64, 128, 255, 256, 257);
        break;
    case 7:
        a->steps[at] = (uint32_t)CHOOSE(0, 1, 2, 7, 8, 9);
        break;
    case 8:
        a->address = tensor_random(item, 8) ? a->address + CHOOSE(1, 4, 8, 16, 32) : 0;
        break;
    case 9:
        a->sizes[at] = CHOOSE(0, 1, 2, 65537, UINT64_C(1) << 31, (UINT64_C(1) << 32) - 1,
                              UINT64_C(1) << 32, (UINT64_C(1) << 32) + 1);
        break;
    case 10:
        a->strides[at] =
            CHOOSE(0, 8, 16, 32, 48, 64, 1024, (UINT64_C(1) << 40) - 16, UINT64_C(1) << 40);
        break;
    case 11:
        a->misplaced = (uint32_t)CHOOSE(8, 16, 32, 64);
        break;
    case 12:
        a->channels = (uint32_t)CHOOSE(0, 1, 3, 8, 16, 64, 255, 256, 257);
        break;
    case 13:
        a->pixels = (uint32_t)CHOOSE(0, 1, 256, 257, 1023, 1024, 1025);
        break;
    case 14:
        a->lower[at % 3] = (int)CHOOSE(0, 15, 16, 127, 128, 32767, 32768) -
                           (int)CHOOSE(0, 16, 17, 128, 129, 32768, 65536);
        break;
    default:
        a->upper[at % 3] = (int)CHOOSE(0, 15, 16, 127, 128, 32767, 32768) -
                           (int)CHOOSE(0, 16, 17, 128, 129, 32768, 65536);
        break;
    }
}

/* Something that is right, or would be on a device that has packed elements. */
static void draw(tensor_case *item, arguments *a)
{
    *a = (arguments){.type = (int)tensor_random(item, 16), .rank = 3 + tensor_random(item, 3)};
    a->type = a->type > 12 && tensor_random(item, 4) ? a->type - 3 : a->type;
    const bool packed = a->type > 12;
    a->swizzle = packed ? 3 * (int)tensor_random(item, 2) : (int)tensor_random(item, 4);
    a->address = UINT64_C(0x7f0000000000) + 128 * tensor_random(item, 100);
    a->channels = a->box[0] =
        packed ? 128 : (a->swizzle ? 16u << a->swizzle : 64) / bytes_of[a->type];
    a->pixels = 32;
    a->strides[0] = 1024;
    for (uint32_t i = 0; i < 5; i++) {
        a->sizes[i] =
            packed && !i ? 128 * (1 + tensor_random(item, 4)) : 16 + tensor_random(item, 16);
        a->steps[i] = 1;
        a->box[i] = i ? 1 + tensor_random(item, 8) : a->box[0];
        a->strides[i] = i ? a->strides[i - 1] * a->sizes[i] : 1024;
    }
}

static gd_CUresult encode(const tensor_driver *driver, const arguments *a, bool im2col)
{
    static union {
        gd_CUtensorMap map;
        unsigned char room[512];
    } target;
    gd_CUtensorMap *map = (void *)(target.room + a->misplaced);
    void *address = (void *)(uintptr_t)a->address;

    if (im2col)
        return driver->cuTensorMapEncodeIm2col(map, a->type, a->rank, address, a->sizes, a->strides,
                                               a->lower, a->upper, a->channels, a->pixels, a->steps,
                                               a->interleave, a->swizzle, a->promotion, a->fill);
    return driver->cuTensorMapEncodeTiled(map, a->type, a->rank, address, a->sizes, a->strides,
                                          a->box, a->steps, a->interleave, a->swizzle, a->promotion,
                                          a->fill);
}

static void tell(gd_text *says, const arguments *a, bool im2col, gd_CUresult result)
{
    gd_text_format(says,
                   "%d: %s type %d rank %u interleave %d swizzle %d promotion %d fill %d address "
                   "%llx misplaced %u;",
                   (int)result, im2col ? "im2col" : "tiled", a->type, a->rank, a->interleave,
                   a->swizzle, a->promotion, a->fill, (unsigned long long)a->address, a->misplaced);
    for (uint32_t i = 0; i < a->rank && i < 5; i++)
        gd_text_format(says, " %llu:%llu:%u:%u", (unsigned long long)a->sizes[i],
                       (unsigned long long)(i ? a->strides[i - 1] : 0), im2col ? 0 : a->box[i],
                       a->steps[i]);
    if (im2col)
        gd_text_format(says, " channels %u pixels %u %d,%d,%d to %d,%d,%d", a->channels, a->pixels,
                       a->lower[0], a->lower[1], a->lower[2], a->upper[0], a->upper[1],
                       a->upper[2]);
}

uint64_t tensor_encode(const tensor_driver *driver, tensor_case *item)
{
    const bool im2col = tensor_random(item, 3) == 0;
    arguments a;

    draw(item, &a);
    for (uint32_t i = tensor_random(item, 4); i < 3; i++)
        spoil(item, &a);
    gd_CUresult result = encode(driver, &a, im2col);
    tell(&item->says, &a, im2col, result);
    return (uint64_t)result;
}
