/* Copies between a tensor and shared memory: random maps, boxes and coordinates, many of them
 * partly outside of the tensor. */
#include <stdio.h>
#include <string.h>

#include "tensor_driver.h"

enum { LOAD, STORE, REDUCE };

typedef struct copy {
    uint32_t kind, rank, type, swizzle, fill, element, operation;
    uint64_t sizes[5], strides[5];
    uint32_t box[5], steps[5];
    uint32_t place, bytes; /* of the box in shared memory; that the mbarrier hears of */
} copy;

static const char *const type_names[] = {"u8",  "u16", "u32",  "s32",    "u64",  "s64",    "f16",
                                         "f32", "f64", "bf16", "f32ftz", "tf32", "tf32ftz"};
static const uint8_t type_bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
static const char *const operations[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor"};

/* Reductions that elements of a type have: bits of `operations`. */
static const uint8_t reductions[] = {0, 0, 0xff, 0xe7, 0xe7, 0x06, 0x07, 0x01, 0, 0x07, 0, 0, 0};

static uint32_t span_of(uint32_t swizzle)
{
    return swizzle ? 16u << swizzle : 0;
}

/* What a GPU takes: rows that begin at multiples of 16 bytes, and for stores no negative
 * coordinates. False: too large, another try. */
static bool draw(tensor_case *item, copy *c)
{
    uint64_t stride, box = 1;

    *c = (copy){.kind = tensor_random(item, 4), .rank = 1 + tensor_random(item, 5)};
    c->kind = c->kind > REDUCE ? LOAD : c->kind;
    c->type = tensor_random(item, 13);
    if (c->kind == REDUCE) {
        if (!reductions[c->type])
            return false;
        do
            c->operation = tensor_random(item, 8);
        while (!(reductions[c->type] >> c->operation & 1));
    }
    c->swizzle = tensor_random(item, 4);
    c->element = type_bytes[c->type];
    c->fill = c->type >= 6 && tensor_random(item, 3) == 0;
    c->sizes[0] = 1 + tensor_random(item, 200);
    c->box[0] =
        (1 + tensor_random(item, c->swizzle ? span_of(c->swizzle) / 16 : 20)) * 16 / c->element;
    if (c->swizzle && tensor_random(item, 2))
        c->box[0] = span_of(c->swizzle) / c->element;
    stride = c->strides[0] = c->element;
    for (uint32_t i = 0; i < c->rank; i++) {
        if (i) {
            stride = (stride * c->sizes[i - 1] + 15) / 16 * 16 + 16 * tensor_random(item, 2);
            c->strides[i] = stride;
            c->sizes[i] = 1 + tensor_random(item, c->rank > 3 ? 6 : 24);
            c->box[i] = 1 + tensor_random(item, c->rank > 3 ? 5 : 40);
        }
        c->steps[i] = tensor_random(item, 4) ? 1 : 1 + tensor_random(item, 3);
        uint32_t extent = i ? (c->box[i] + c->steps[i] - 1) / c->steps[i] : 1;
        box *= extent;
        item->coordinates[i] = tensor_random(item, 3) || c->kind != LOAD
                                   ? (int32_t)tensor_random(item, (uint32_t)c->sizes[i] + 2)
                                   : -(int32_t)tensor_random(item, c->box[i] + 2);
    }
    item->coordinates[0] -= item->coordinates[0] % (int32_t)(16 / c->element);
    c->bytes = (uint32_t)box * c->box[0] * c->element;
    c->place = 128 * tensor_random(item, 16);
    return box * (c->swizzle ? span_of(c->swizzle) : c->box[0] * c->element) <=
               SHARED_BYTES - 2048 &&
           stride * c->sizes[c->rank - 1] <= MEMORY_BYTES && c->box[0] <= 256;
}

/* Small whole numbers of the type, so that sums have no rounding; or, where bits are only moved,
 * any bits. */
static void fill_words(tensor_case *item, const copy *c, uint32_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t number = tensor_random(item, 16);
        float value = (float)number;
        uint32_t bits = tensor_random(item, 65536) << 16 | tensor_random(item, 65536);
        if (c->kind == REDUCE && c->type == 7)
            memcpy(&bits, &value, 4);
        else if (c->kind == REDUCE && c->type == 6) /* 1024 + n in steps of 1 */
            bits = (0x6400 + number) << 16 | (0x6400 + tensor_random(item, 16));
        else if (c->kind == REDUCE && c->type == 9)
            bits = (0x4300 + number) << 16 | (0x4300 + tensor_random(item, 16));
        words[i] = bits;
    }
}

/* ---- the kernel ---- */

static void write_place(gd_text *ptx, uint32_t rank)
{
    gd_text_string(ptx, "[%map, {");
    for (uint32_t i = 0; i < rank; i++)
        gd_text_format(ptx, "%s%%c%u", i ? ", " : "", i);
    gd_text_string(ptx, "}]");
}

static void write_load(gd_text *ptx, const copy *c)
{
    gd_text_format(ptx, "    mbarrier.arrive.expect_tx.shared.b64 _, [%%bar], %u;\n", c->bytes);
    gd_text_format(
        ptx,
        "    cp.async.bulk.tensor.%ud.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%%box], ",
        c->rank);
    write_place(ptx, c->rank);
    gd_text_string(ptx, ", [%bar];\n");
}

static void write_store(gd_text *ptx, const copy *c)
{
    if (c->kind == REDUCE)
        gd_text_format(ptx,
                       "    cp.reduce.async.bulk.tensor.%ud.global.shared::cta.%s.tile.bulk_group ",
                       c->rank, operations[c->operation]);
    else
        gd_text_format(ptx, "    cp.async.bulk.tensor.%ud.global.shared::cta.tile.bulk_group ",
                       c->rank);
    write_place(ptx, c->rank);
    gd_text_string(ptx,
                   ", [%box];\n    cp.async.bulk.commit_group;\n    cp.async.bulk.wait_group 0;\n"
                   "    mbarrier.arrive.shared.b64 _, [%bar];\n");
}

static void write_kernel(gd_text *ptx, const copy *c)
{
    gd_text_string(
        ptx,
        ".version 8.0\n.target sm_90a\n.address_size 64\n\n"
        ".extern .shared .align 1024 .b8 area[];\n\n"
        ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 input, .param .u64 output,\n"
        "                  .param .u64 memory, .param .u32 c0, .param .u32 c1, .param .u32 c2,\n"
        "                  .param .u32 c3, .param .u32 c4, .param .u32 place, .param .u32 w1,\n"
        "                  .param .u32 w2, .param .u32 w3)\n{\n"
        "    .reg .b64 %map, %in, %out, %at;\n    .reg .b32 %t, %box, %bar, %area, %i, %v, %tries, "
        "%c<5>;\n    .reg .pred %p, %done;\n\n"
        "    mov.b64 %map, map;\n    cvta.param.u64 %map, %map;\n    ld.param.u64 %in, [input];\n"
        "    ld.param.u64 %out, [output];\n    ld.param.u32 %box, [place];\n");
    for (uint32_t i = 0; i < 5; i++)
        gd_text_format(ptx, "    ld.param.u32 %%c%u, [c%u];\n", i, i);
    gd_text_format(ptx,
                   "    mov.u32 %%area, area;\n    add.u32 %%box, %%box, %%area;\n    add.u32 "
                   "%%bar, %%area, %u;\n"
                   "    mov.u32 %%t, %%tid.x;\n    mov.u32 %%i, %%t;\n"
                   "fill:\n    mul.wide.u32 %%at, %%i, 4;\n    add.u64 %%at, %%at, %%in;\n    "
                   "ld.global.u32 %%v, [%%at];\n"
                   "    mad.lo.u32 %%tries, %%i, 4, %%area;\n    st.shared.u32 [%%tries], %%v;\n"
                   "    add.u32 %%i, %%i, %u;\n    setp.lt.u32 %%p, %%i, %u;\n    @%%p bra fill;\n"
                   "    setp.ne.u32 %%p, %%t, 0;\n    @%%p bra ready;\n    "
                   "mbarrier.init.shared.b64 [%%bar], 1;\n"
                   "    fence.mbarrier_init.release.cluster;\n"
                   "ready:\n    fence.proxy.async;\n    bar.sync 0;\n    @%%p bra wait;\n",
                   (unsigned)SHARED_BYTES, (unsigned)KERNEL_THREADS, (unsigned)SHARED_BYTES / 4);
    if (c->kind == LOAD)
        write_load(ptx, c);
    else
        write_store(ptx, c);
    gd_text_format(
        ptx,
        "wait:\n    mov.u32 %%tries, 0;\n"
        "again:\n    mbarrier.try_wait.parity.shared.b64 %%done, [%%bar], 0;\n    @%%done bra "
        "over;\n"
        "    add.u32 %%tries, %%tries, 1;\n    setp.lt.u32 %%p, %%tries, 2000;\n    @%%p bra "
        "again;\n"
        "over:\n    bar.sync 0;\n    mov.u32 %%i, %%t;\n"
        "give:\n    mad.lo.u32 %%tries, %%i, 4, %%area;\n    ld.shared.u32 %%v, [%%tries];\n"
        "    mul.wide.u32 %%at, %%i, 4;\n    add.u64 %%at, %%at, %%out;\n    st.global.u32 [%%at], "
        "%%v;\n"
        "    add.u32 %%i, %%i, %u;\n    setp.lt.u32 %%p, %%i, %u;\n    @%%p bra give;\n"
        "    selp.u32 %%v, 1, 0, %%done;\n    mul.wide.u32 %%at, %%t, 4;\n    add.u64 %%at, %%at, "
        "%%out;\n"
        "    st.global.u32 [%%at+%u], %%v;\n    ret;\n}\n",
        (unsigned)KERNEL_THREADS, (unsigned)SHARED_BYTES / 4, (unsigned)SHARED_BYTES);
}

static void tell(gd_text *says, const tensor_case *item, const copy *c)
{
    static const char *const kinds[] = {"load", "store", "reduce"};

    gd_text_format(says, "%s %s rank %u swizzle %u%s at %u, inner %u bytes:",
                   c->kind == REDUCE ? operations[c->operation] : kinds[c->kind],
                   type_names[c->type], c->rank, span_of(c->swizzle), c->fill ? " NaN" : "",
                   c->place, c->box[0] * c->element);
    for (uint32_t i = 0; i < c->rank; i++)
        gd_text_format(says, " %d+%u/%u of %u", item->coordinates[i], c->box[i], c->steps[i],
                       (unsigned)c->sizes[i]);
}

bool tensor_make_copy(const tensor_driver *driver, tensor_case *item)
{
    copy c;

    while (!draw(item, &c))
        ;
    fill_words(item, &c, item->input, SHARED_BYTES / 4);
    fill_words(item, &c, item->memory, MEMORY_BYTES / 4);
    item->words[0] = c.place;
    write_kernel(&item->ptx, &c);
    tell(&item->says, item, &c);
    gd_CUresult result = driver->cuTensorMapEncodeTiled(
        &item->map, (int)c.type, c.rank, (void *)(uintptr_t)driver->memory, c.sizes, c.strides + 1,
        c.box, c.steps, 0, (int)c.swizzle, 0, (int)c.fill);
    if (result != GD_CUDA_SUCCESS)
        fprintf(stderr, "%s: the map is refused (%d)\n", gd_text_get(&item->says), (int)result);
    return result == GD_CUDA_SUCCESS;
}
