/* Operations, constants and lists of an image as they are added. */
#include <stdlib.h>

#include "emulator/decode/decode.h"

static bool grow(void **items, uint32_t *capacity, size_t bytes, uint32_t needed)
{
    uint64_t wanted = *capacity ? *capacity : 16;

    while (wanted < needed)
        wanted *= 2;
    if (wanted == *capacity)
        return true;
    if (wanted > UINT32_MAX)
        return false;
    void *grown = realloc(*items, (size_t)wanted * bytes);
    if (!grown)
        return false;
    *items = grown;
    *capacity = (uint32_t)wanted;
    return true;
}

const gd_code gd_no_operands = {.d = GD_AREA_SINK,
                                .e = GD_AREA_SINK,
                                .a = GD_AREA_SINK,
                                .b = GD_AREA_SINK,
                                .c = GD_AREA_SINK};

gd_code *gd_emit_made(gd_decoder *decoder, gd_run *run, const gd_code *made)
{
    gd_image *image = decoder->image;
    void *items = image->code;

    if (image->code_count == UINT32_MAX - 1 ||
        !grow(&items, &image->code_capacity, sizeof *image->code, image->code_count + 1)) {
        gd_decode_memory(decoder);
        return NULL;
    }
    image->code = items;
    gd_code *code = &image->code[image->code_count++];
    *code = *made;
    code->run = run;
    code->guard = decoder->guard;
    code->guard_not = decoder->guard_not;
    code->instruction = (uint32_t)(decoder->instruction - decoder->module->instructions);
    return code;
}

gd_code *gd_emit(gd_decoder *decoder, gd_run *run)
{
    return gd_emit_made(decoder, run, &gd_no_operands);
}

gd_code *gd_emit_lanes(gd_decoder *decoder, gd_lanes_op op, uint32_t flags, gd_slot d, gd_slot a,
                       gd_slot b, gd_slot c)
{
    gd_code *code = gd_emit(decoder, gd_exec_lanes_find(op));

    if (code) {
        code->plain = true;
        code->flags = (uint16_t)flags;
        code->d = d;
        code->a = a;
        code->b = b;
        code->c = c;
    }
    return code;
}

uint32_t gd_list_add(gd_decoder *decoder, const uint32_t *values, uint32_t count)
{
    gd_image *image = decoder->image;
    void *items = image->list;

    if (count > UINT32_MAX - 1 - image->list_count ||
        !grow(&items, &image->list_capacity, sizeof *image->list, image->list_count + count + 1)) {
        gd_decode_memory(decoder);
        return GD_PTX_NONE;
    }
    image->list = items;
    memcpy(image->list + image->list_count, values, count * sizeof *values);
    image->list_count += count;
    return image->list_count - count;
}

bool gd_fixup_add(gd_decoder *decoder, uint32_t code, uint32_t list, uint32_t instruction)
{
    void *items = decoder->fixups;

    if (!grow(&items, &decoder->fixup_capacity, sizeof *decoder->fixups, decoder->fixup_count + 1))
        return gd_decode_memory(decoder);
    decoder->fixups = items;
    decoder->fixups[decoder->fixup_count++] = (gd_fixup){code, list, instruction};
    return true;
}

bool gd_call_add(gd_decoder *decoder, uint32_t callee)
{
    void *items = decoder->calls;

    if (!grow(&items, &decoder->call_capacity, sizeof *decoder->calls, decoder->call_count + 1))
        return gd_decode_memory(decoder);
    decoder->calls = items;
    decoder->calls[decoder->call_count++] = (gd_call_edge){decoder->routine, callee};
    return true;
}

/* ---- constants: a table of those that the image has ---- */

static uint32_t hash_of(uint32_t bytes, uint64_t value)
{
    uint64_t mixed = (value ^ bytes) * UINT64_C(0x9e3779b97f4a7c15);

    return (uint32_t)(mixed >> 32);
}

/* A constant's place in the table: the first word of its lanes tells its value, the entry's low
 * bits its size. */
static uint32_t *find_constant(const gd_image *image, uint32_t bytes, uint64_t value)
{
    uint32_t mask = image->constant_table_count - 1, at = hash_of(bytes, value) & mask;

    for (;; at = (at + 1) & mask) {
        uint32_t *entry = &image->constant_table[at];
        uint64_t held = 0;
        if (!*entry)
            return entry;
        uint32_t size = *entry & 31;
        memcpy(&held, image->constants + (*entry & ~UINT32_C(127)), size == 4 ? 4 : 8);
        if (size == bytes && held == value)
            return entry;
    }
}

static bool grow_table(gd_decoder *decoder)
{
    gd_image *image = decoder->image;
    uint32_t *old = image->constant_table, old_count = image->constant_table_count;
    uint32_t count = old_count ? old_count * 2 : 64;
    uint32_t *table = calloc(count, sizeof *table);

    if (!table)
        return gd_decode_memory(decoder);
    image->constant_table = table;
    image->constant_table_count = count;
    for (uint32_t i = 0; i < old_count; i++) {
        uint64_t held = 0;
        if (!old[i])
            continue;
        memcpy(&held, image->constants + (old[i] & ~UINT32_C(127)), (old[i] & 31) == 4 ? 4 : 8);
        *find_constant(image, old[i] & 31, held) = old[i];
    }
    free(old);
    return true;
}

static void fill_constant(unsigned char *lanes, uint32_t bytes, uint64_t value)
{
    memset(lanes, 0, (size_t)bytes * GD_LANES);
    for (uint32_t lane = 0; lane < GD_LANES; lane++)
        memcpy(lanes + (size_t)lane * bytes, &value, bytes == 4 ? 4 : 8);
}

/* Room for so many bytes, aligned as lanes are. */
static bool reserve_constants(gd_image *image, uint32_t bytes)
{
    uint32_t capacity = image->constant_capacity ? image->constant_capacity : 4096;

    if (bytes <= image->constant_capacity)
        return true;
    while (capacity < bytes)
        capacity *= 2;
    unsigned char *constants = aligned_alloc(64, capacity);
    if (!constants)
        return false;
    if (image->constant_bytes)
        memcpy(constants, image->constants, image->constant_bytes);
    free(image->constants);
    image->constants = constants;
    image->constant_capacity = capacity;
    return true;
}

bool gd_constant(gd_decoder *decoder, uint32_t bytes, uint64_t value, gd_slot *slot)
{
    gd_image *image = decoder->image;

    if (bytes == 4)
        value = (uint32_t)value;
    if (image->constant_count * 2 >= image->constant_table_count && !grow_table(decoder))
        return false;
    uint32_t *entry = find_constant(image, bytes, value);
    if (!*entry) {
        uint32_t needed = bytes * GD_LANES;
        if (image->constant_bytes > UINT32_MAX / 4 ||
            !reserve_constants(image, image->constant_bytes + needed))
            return gd_decode_memory(decoder);
        fill_constant(image->constants + image->constant_bytes, bytes, value);
        *entry = image->constant_bytes |
                 bytes; /* places are multiples of 128; the size makes it differ from 0 */
        image->constant_bytes += needed;
        image->constant_count++;
    }
    *slot = (*entry & ~UINT32_C(127)) | GD_AREA_CONSTANT;
    return true;
}

uint32_t gd_routine_find(gd_decoder *decoder, uint32_t function)
{
    gd_image *image = decoder->image;
    void *items = image->routines;

    for (uint32_t i = 0; i < image->routine_count; i++) {
        if (image->routines[i].function == function)
            return i;
    }
    if (!grow(&items, &image->routine_capacity, sizeof *image->routines,
              image->routine_count + 1)) {
        gd_decode_memory(decoder);
        return GD_PTX_NONE;
    }
    image->routines = items;
    image->routines[image->routine_count] = (gd_routine){.function = function};
    return image->routine_count++;
}
