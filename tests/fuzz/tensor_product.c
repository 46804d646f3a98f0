/* wgmma of random types, shapes and descriptors; values are such that sums have no rounding. */
#include <string.h>

#include "tensor_driver.h"

typedef struct pair {
    const char *d, *a, *b;
    uint32_t depth; /* k */
} pair;

static const pair pairs[] = {
    {"f32", "bf16", "bf16", 16}, {"f32", "f16", "f16", 16},   {"f16", "f16", "f16", 16},
    {"f32", "tf32", "tf32", 8},  {"f32", "e4m3", "e4m3", 32}, {"f32", "e4m3", "e5m2", 32},
    {"f16", "e5m2", "e4m3", 32}, {"f32", "e5m2", "e5m2", 32}, {"s32", "s8", "s8", 32},
    {"s32", "s8", "u8", 32},     {"s32", "u8", "s8", 32},     {"s32", "u8", "u8", 32},
};

typedef struct product {
    const pair *types;
    uint32_t n, sums; /* columns, registers of d */
    bool registers, saturates, transposes[2], integer, half;
    int scales[2];
    bool keep;
    uint64_t descriptors[2];
} product;

/* A descriptor whose matrix lies within the shared memory that there is, from `base` on. */
static uint64_t draw_descriptor(tensor_case *item, uint32_t rows, bool transposed, uint32_t element,
                                gd_text *says)
{
    const uint32_t mode = tensor_random(item, 4),
                   width = mode == 0 ? 1 : 16u >> mode; /* chunks of a swizzled row */
    const uint32_t unit = tensor_random(item, 2) ? 16 : 128;
    uint32_t groups = transposed ? 2 : rows / 8,
             parts = transposed ? (rows * element / 16 + width - 1) / width : 2;
    uint32_t most = (SHARED_BYTES - 4096) / (groups + parts) / unit;
    uint32_t leading = unit * tensor_random(item, most < 64 ? most : 64),
             stride = unit * tensor_random(item, most < 64 ? most : 64);
    uint32_t start =
        tensor_random(item, 2) ? 1024 * tensor_random(item, 2) : 16 * tensor_random(item, 128);
    uint32_t base = tensor_random(item, 8) ? 0 : tensor_random(item, 8);

    gd_text_format(says, " swizzle %u%s start %u leading %u stride %u base %u;",
                   mode ? 16 * width : 0, transposed ? " transposed" : "", start, leading, stride,
                   base);
    return (uint64_t)((start + 1024) >> 4) | (uint64_t)(leading >> 4) << 16 |
           (uint64_t)(stride >> 4) << 32 | (uint64_t)base << 49 | (uint64_t)mode << 62;
}

static void draw(tensor_case *item, product *p, gd_text *says)
{
    *p = (product){.types = &pairs[tensor_random(item, sizeof pairs / sizeof *pairs)]};
    const uint32_t element = 32 / p->types->depth;
    p->integer = p->types->d[0] == 's';
    p->half = !strcmp(p->types->d, "f16");
    p->n = 8 * (1 + tensor_random(item, tensor_random(item, 2) ? 32 : 8));
    if (p->integer && p->n != 8 && p->n != 24)
        p->n = (p->n + 15) / 16 * 16;
    p->sums = p->n / (p->half ? 4 : 2);
    p->registers = tensor_random(item, 3) == 0;
    p->saturates = p->integer && tensor_random(item, 2);
    p->keep = tensor_random(item, 4) != 0;
    for (uint32_t i = 0; i < 2; i++) {
        p->scales[i] = tensor_random(item, 3) ? 1 : -1;
        p->transposes[i] = element == 2 && !(p->registers && i == 0) && tensor_random(item, 2);
    }
    gd_text_format(says, "n %u %s %s %s%s%s%s%s%s a", p->n, p->types->d, p->types->a, p->types->b,
                   p->registers ? " registers" : "", p->saturates ? " satfinite" : "",
                   p->keep ? "" : " anew", p->scales[0] < 0 && !p->integer ? " -a" : "",
                   p->scales[1] < 0 && !p->integer ? " -b" : "");
    p->descriptors[0] = draw_descriptor(item, 64, p->transposes[0], element, says);
    gd_text_string(says, " b");
    p->descriptors[1] = draw_descriptor(item, p->n, p->transposes[1], element, says);
}

/* Words of which any part is a small number of the type. */
static uint32_t draw_word(tensor_case *item, const char *type)
{
    static const uint8_t eighths[] = {0x38, 0x40, 0xb8, 0xc0, 0x3c, 0};
    uint32_t word = 0;
    float value = (float)(int32_t)tensor_random(item, 15) - 7;

    memcpy(&word, &value, 4);
    if (type[0] == 't')
        return word;
    if (type[0] == 's' || type[0] == 'u')
        return tensor_random(item, 65536) << 16 | tensor_random(item, 65536);
    if (!strcmp(type, "bf16")) {
        uint32_t low;
        value = (float)(int32_t)tensor_random(item, 15) - 7;
        memcpy(&low, &value, 4);
        return (word & 0xffff0000) | low >> 16;
    }
    if (!strcmp(type, "f16")) {
        static const uint16_t halves[] = {0,      0x3c00, 0x4000, 0x4200, 0x4400,
                                          0xbc00, 0xc000, 0xc200, 0x3800, 0x4500};
        return (uint32_t)halves[tensor_random(item, 10)] << 16 | halves[tensor_random(item, 10)];
    }
    word = 0;
    for (uint32_t i = 0; i < 4; i++)
        word = word << 8 | eighths[tensor_random(item, 6)];
    return word;
}

/* What the sums begin with. */
static uint32_t draw_sum(tensor_case *item, const product *p)
{
    const float value = (float)(int32_t)tensor_random(item, 129) - 64;
    uint32_t word;

    if (p->integer)
        return tensor_random(item, 2) ? 0x7fffff00 + tensor_random(item, 512)
                                      : tensor_random(item, 65536);
    memcpy(&word, &value, 4);
    return p->half ? (0x5400 + tensor_random(item, 64)) << 16 | (0xd400 + tensor_random(item, 64))
                   : word;
}

/* ---- the kernel ---- */

static void write_start(gd_text *ptx, const product *p)
{
    gd_text_format(
        ptx,
        ".version 8.4\n.target sm_90a\n.address_size 64\n\n.extern .shared .align 1024 .b8 "
        "area[];\n\n"
        ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 input, .param .u64 output,\n"
        "                  .param .u64 memory, .param .u32 c0, .param .u32 c1, .param .u32 c2,\n"
        "                  .param .u32 c3, .param .u32 c4, .param .u32 keep, .param .u32 w1,\n"
        "                  .param .u32 w2, .param .u32 w3)\n{\n"
        "    .reg .b64 %%in, %%out, %%at, %%memory;\n    .reg .b32 %%t, %%area, %%i, %%v, %%to;\n"
        "    .reg .b32 %%d<%u>, %%a<4>;\n    .reg .pred %%p, %%keep;\n\n"
        "    ld.param.u64 %%in, [input];\n    ld.param.u64 %%out, [output];\n"
        "    ld.param.u64 %%memory, [memory];\n    ld.param.u32 %%v, [keep];\n"
        "    setp.ne.u32 %%keep, %%v, 0;\n    mov.u32 %%area, area;\n    mov.u32 %%t, %%tid.x;\n"
        "    mov.u32 %%i, %%t;\n"
        "fill:\n    mul.wide.u32 %%at, %%i, 4;\n    add.u64 %%at, %%at, %%in;\n    ld.global.u32 "
        "%%v, [%%at];\n"
        "    mad.lo.u32 %%to, %%i, 4, %%area;\n    st.shared.u32 [%%to], %%v;\n"
        "    add.u32 %%i, %%i, %u;\n    setp.lt.u32 %%p, %%i, %u;\n    @%%p bra fill;\n"
        "    fence.proxy.async;\n    bar.sync 0;\n    mul.wide.u32 %%at, %%t, %u;\n"
        "    add.u64 %%at, %%at, %%memory;\n",
        p->sums, (unsigned)KERNEL_THREADS, (unsigned)SHARED_BYTES / 4, p->sums * 4);
    for (uint32_t i = 0; i < p->sums; i++)
        gd_text_format(ptx, "    ld.global.u32 %%d%u, [%%at+%u];\n", i, 4 * i);
    for (uint32_t i = 0; i < 4; i++) /* fragments of a are words of the input, too */
        gd_text_format(
            ptx, "    mad.lo.u32 %%to, %%t, 16, %%area;\n    ld.shared.u32 %%a%u, [%%to+%u];\n", i,
            4096 + 4 * i);
}

static void write_product(gd_text *ptx, const product *p)
{
    gd_text_format(
        ptx,
        "    wgmma.fence.sync.aligned;\n    wgmma.mma_async.sync.aligned.m64n%uk%u%s.%s.%s.%s {",
        p->n, p->types->depth, p->saturates ? ".satfinite" : "", p->types->d, p->types->a,
        p->types->b);
    for (uint32_t i = 0; i < p->sums; i++)
        gd_text_format(ptx, "%s%%d%u", i ? ", " : "", i);
    if (p->registers)
        gd_text_string(ptx, "}, {%a0, %a1, %a2, %a3}");
    else
        gd_text_format(ptx, "}, %llu", (unsigned long long)p->descriptors[0]);
    gd_text_format(ptx, ", %llu, %%keep", (unsigned long long)p->descriptors[1]);
    if (!p->integer)
        gd_text_format(ptx, ", %d, %d", p->scales[0], p->scales[1]);
    if (p->types->depth == 16 && !p->registers)
        gd_text_format(ptx, ", %d", p->transposes[0]);
    if (p->types->depth == 16)
        gd_text_format(ptx, ", %d", p->transposes[1]);
    gd_text_format(ptx,
                   ";\n    wgmma.commit_group.sync.aligned;\n    wgmma.wait_group.sync.aligned 0;\n"
                   "    mul.wide.u32 %%at, %%t, %u;\n    add.u64 %%at, %%at, %%out;\n",
                   p->sums * 4);
    for (uint32_t i = 0; i < p->sums; i++)
        gd_text_format(ptx, "    st.global.u32 [%%at+%u], %%d%u;\n", 4 * i, i);
    gd_text_string(ptx, "    ret;\n}\n");
}

bool tensor_make_product(tensor_case *item)
{
    product p;

    draw(item, &p, &item->says);
    for (uint32_t i = 0; i < SHARED_BYTES / 4; i++)
        item->input[i] = draw_word(item, p.types->a);
    for (uint32_t i = 0; i < MEMORY_BYTES / 4; i++)
        item->memory[i] = draw_sum(item, &p);
    item->words[0] = p.keep;
    write_start(&item->ptx, &p);
    write_product(&item->ptx, &p);
    return true;
}
