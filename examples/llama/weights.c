/* safetensors: eight bytes that tell the length of a JSON header, the header, and the data. Nothing
 * in a header is believed before it is held against the file. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weights.h"

/* In words of 64 bits: adding `one` carries into the bit above `special` where all of it is set, as
 * it is in what is no number: an exponent, and of e4m3 the rest too. */
static const struct {
    const char *name;
    uint32_t bytes;
    uint64_t special, one;
} types[] = {
    [ELEMENT_BF16] = {"BF16", 2, 0x7f807f807f807f80, 0x0080008000800080},
    [ELEMENT_F16] = {"F16", 2, 0x7c007c007c007c00, 0x0400040004000400},
    [ELEMENT_F32] = {"F32", 4, 0x7f8000007f800000, 0x0080000000800000},
    [ELEMENT_E4M3] = {"F8_E4M3", 1, 0x7f7f7f7f7f7f7f7f, 0x0101010101010101},
    [ELEMENT_I32] = {"I32", 4, 0, 0},
};

typedef struct weight_file {
    mapped_file file;
    json_t *header;
    const unsigned char *data;
    uint64_t length; /* of the data */
} weight_file;

typedef struct entry {
    tensor of;
    bool sound, used; /* it was looked through; somebody asked for it */
} entry;

struct weight_files {
    weight_file *files;
    size_t count;
    entry *entries;
    size_t entry_count;
    json_t *where; /* index of the entry by a tensor's name */
};

/* The longest header that anybody writes is far below. */
static const uint64_t longest_header = 100u << 20;

/* The tensor as its header describes it, within its file. Types that are not read count as bytes:
 * nobody may ask for them. */
static tensor read_entry(const weight_file *file, const char *name, json_t *from)
{
    tensor of = {.name = name, .file = file->file.path, .type = ELEMENT_OTHER};
    json_t *shape;
    json_int_t begin, end;

    if (json_unpack(from, "{ss so s[II!]}", "dtype", &of.type_name, "shape", &shape, "data_offsets",
                    &begin, &end) ||
        !json_is_array(shape))
        fail("%s: tensor %s has no dtype, no shape, or no pair of data_offsets", of.file, name);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(of.type_name, types[i].name))
            of.type = (element)i;
    if (begin < 0 || begin > end || (uint64_t)end > file->length)
        fail("%s: tensor %s would lie at bytes %lld to %lld of %" PRIu64
             ": the file is truncated, or its header wrong",
             of.file, name, (long long)begin, (long long)end, file->length);
    of.data = file->data + begin;
    of.bytes = (uint64_t)(end - begin);
    of.rank = (uint32_t)json_array_size(shape);
    uint64_t bytes = of.type == ELEMENT_OTHER ? 0 : types[of.type].bytes;
    for (uint32_t i = 0; i < of.rank; i++) {
        const json_t *number = json_array_get(shape, i);
        const uint64_t size = (uint64_t)json_integer_value(number);
        if (i < 4)
            of.shape[i] = size;
        if (!json_is_integer(number) || json_integer_value(number) < 0)
            fail("%s: tensor %s has a size that is no whole number", of.file, name);
        if (size && bytes > UINT64_MAX / size)
            fail("%s: tensor %s is larger than any file", of.file, name);
        bytes *= size;
    }
    if (bytes != of.bytes && of.type != ELEMENT_OTHER)
        fail("%s: tensor %s has %" PRIu64 " bytes, its shape needs %" PRIu64, of.file, name,
             of.bytes, bytes);
    return of;
}

static int by_place(const void *a, const void *b)
{
    const tensor *one = &((const entry *)a)->of, *other = &((const entry *)b)->of;

    return one->data != other->data ? (one->data > other->data) - (one->data < other->data)
                                    : (one->bytes > other->bytes) - (one->bytes < other->bytes);
}

/* The file's tensors. Each has bytes of its own. */
static void read_entries(weight_files *files, const weight_file *file)
{
    const size_t first = files->entry_count;
    const char *name;
    json_t *value;

    files->entries = reallocate(files->entries, first + json_object_size(file->header) + 1,
                                sizeof *files->entries);
    json_object_foreach(file->header, name, value)
    {
        if (strcmp(name, "__metadata__"))
            files->entries[files->entry_count++] = (entry){.of = read_entry(file, name, value)};
    }
    entry *own = files->entries + first;
    const size_t count = files->entry_count - first;
    qsort(own, count, sizeof *own, by_place);
    for (size_t i = 0; i < count; i++) {
        const json_t *before = json_object_get(files->where, own[i].of.name);
        if (i && own[i - 1].of.data + own[i - 1].of.bytes > own[i].of.data)
            fail("%s: tensors %s and %s overlap", file->file.path, own[i - 1].of.name,
                 own[i].of.name);
        if (before)
            fail("tensor %s is in %s and in %s", own[i].of.name,
                 files->entries[json_integer_value(before)].of.file, file->file.path);
        if (json_object_set_new(files->where, own[i].of.name,
                                json_integer((json_int_t)(first + i))))
            fail("no memory is left on the host");
    }
}

static void add_file(weight_files *files, const char *folder, const char *name)
{
    json_error_t problem;
    uint64_t length = 0;

    files->files = reallocate(files->files, files->count + 1, sizeof *files->files);
    weight_file *added = &files->files[files->count++];
    mapped_file *file = &added->file;
    file_map(folder, name, file);
    if (file->bytes < 8)
        fail("%s is no safetensors file: it has %zu bytes", file->path, file->bytes);
    for (int i = 7; i >= 0; i--)
        length = length << 8 | file->data[i];
    if (length > longest_header || length > file->bytes - 8)
        fail("%s: its header would have %" PRIu64
             " bytes, the file has %zu: it is truncated, or no safetensors file",
             file->path, length, file->bytes);
    added->header =
        json_loadb((const char *)file->data + 8, (size_t)length, JSON_REJECT_DUPLICATES, &problem);
    if (!json_is_object(added->header))
        fail("%s: its header is no JSON object: %s", file->path, added->header ? "" : problem.text);
    added->data = file->data + 8 + length;
    added->length = file->bytes - 8 - length;
    read_entries(files, added);
}

/* The files of an index, each once. */
static void add_listed(weight_files *files, const char *folder, const char *index)
{
    json_t *root = json_read(folder, index, false), *seen = json_object();
    json_t *map = json_object_get(root, "weight_map");
    const char *tensor_name;
    json_t *value;

    if (!json_is_object(map))
        fail("%s has no object \"weight_map\"", index);
    json_object_foreach(map, tensor_name, value)
    {
        const char *name = json_string_value(value);
        if (!name || strchr(name, '/'))
            fail("%s: the file of tensor %s is no name of a file in the folder", index,
                 tensor_name);
        if (json_object_get(seen, name))
            continue;
        add_file(files, folder, name);
        json_object_set_new(seen, name, json_true());
    }
    json_decref(seen);
    json_decref(root);
}

weight_files *weights_open(const char *folder)
{
    static const char index[] = "model.safetensors.index.json", single[] = "model.safetensors";
    weight_files *files = allocate(1, sizeof *files);

    files->where = json_object();
    if (file_exists(folder, index))
        add_listed(files, folder, index);
    else if (file_exists(folder, single))
        add_file(files, folder, single);
    else
        fail("%s has neither %s nor %s", folder, single, index);
    return files;
}

void weights_close(weight_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        json_decref(files->files[i].header);
        file_unmap(&files->files[i].file);
    }
    json_decref(files->where);
    free(files->files);
    free(files->entries);
    free(files);
}

uint64_t weights_digest(const weight_files *files, uint64_t digest)
{
    enum { PLACES = 16384, BYTES = 4096 }; /* small files are read whole */

    for (size_t i = 0; i < files->count; i++) {
        const weight_file *at = &files->files[i];
        const uint64_t length = at->length;
        const uint64_t step = length / PLACES < BYTES ? BYTES : length / PLACES;
        digest = digest_add(digest, &length, sizeof length);
        digest = digest_add(digest, at->file.data, at->file.bytes - length);
        for (uint64_t k = 0; k < length; k += step)
            digest = digest_add(digest, at->data + k, length - k < BYTES ? length - k : BYTES);
    }
    return digest;
}

static entry *find_entry(const weight_files *files, const char *name)
{
    const json_t *index = json_object_get(files->where, name);

    return index ? &files->entries[json_integer_value(index)] : NULL;
}

bool weights_have(const weight_files *files, const char *name)
{
    entry *found = find_entry(files, name);

    if (found)
        found->used = true;
    return found != NULL;
}

bool weights_have_e4m3(const weight_files *files, const char *name)
{
    const entry *found = find_entry(files, name);

    return found && found->of.type == ELEMENT_E4M3;
}

bool elements_are_numbers(element type, const void *data, uint64_t bytes)
{
    const uint64_t special = types[type].special, one = types[type].one;
    const unsigned char *from = data;
    uint64_t carried = 0, word = 0;

    for (uint64_t i = 0; i < bytes / sizeof word; i++) {
        memcpy(&word, from + i * sizeof word, sizeof word);
        carried |= (word & special) + one;
    }
    word = 0;
    if (bytes % sizeof word)
        memcpy(&word, from + bytes - bytes % sizeof word, bytes % sizeof word);
    carried |= (word & special) + one;
    return !(carried & (special + one));
}

static bool ends_with(const tensor *of, const char *ending)
{
    const size_t length = strlen(of->name), end = strlen(ending);

    return length >= end && !strcmp(of->name + length - end, ending);
}

static void check_numbers(entry *of)
{
    const tensor *own = &of->of;

    if (!of->sound && !elements_are_numbers(own->type, own->data, own->bytes))
        fail("%s: tensor %s has an element that is NaN or infinite", own->file, own->name);
    of->sound = true;
}

static tensor find_tensor(const weight_files *files, const char *name)
{
    entry *found = find_entry(files, name);

    if (!found)
        fail("the files of weights have no tensor %s", name);
    if (found->of.type == ELEMENT_OTHER)
        fail("%s: tensor %s is of type %s; BF16, F16, F32, F8_E4M3 and I32 are read",
             found->of.file, name, found->of.type_name);
    found->used = true;
    /* Matrices of 16 bits and more are large, and reading them twice takes long. */
    if (found->of.rank != 2 || found->of.type == ELEMENT_E4M3 || !ends_with(&found->of, "weight"))
        check_numbers(found);
    return found->of;
}

tensor weights_find(const weight_files *files, const char *name, uint64_t rows, uint64_t columns)
{
    tensor of = find_tensor(files, name);
    bool fits = rows ? of.rank == 2 && of.shape[0] == rows && of.shape[1] == columns
                     : of.rank == 1 && of.shape[0] == columns;

    if (!fits && rows)
        fail("%s: tensor %s is not %" PRIu64 " x %" PRIu64 ", as config.json says", of.file, name,
             rows, columns);
    if (!fits)
        fail("%s: tensor %s is no vector of %" PRIu64 " elements, as config.json says", of.file,
             name, columns);
    return of;
}

void weights_check_large(const weight_files *files)
{
    for (size_t i = 0; i < files->entry_count; i++)
        if (files->entries[i].used)
            check_numbers(&files->entries[i]);
}

/* Whether a tensor that nobody asked for changes nothing. Scales of activations and of the cache
 * serve 8 bits, which neither has here. Writers of 4 bits add biases of zeros. */
static bool may_stay(const tensor *of)
{
    static const char *const endings[] = {".rotary_emb.inv_freq",
                                          ".input_scale",
                                          ".output_scale",
                                          ".q_scale",
                                          ".k_scale",
                                          ".v_scale"};

    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (ends_with(of, endings[i]))
            return true;
    for (uint64_t i = 0; i < of->bytes; i++)
        if (of->data[i])
            return false;
    return ends_with(of, ".bias");
}

void weights_check_used(const weight_files *files)
{
    for (size_t i = 0; i < files->entry_count; i++) {
        const tensor *of = &files->entries[i].of;
        if (!files->entries[i].used && !may_stay(of))
            fail("%s: tensor %s is no part of a model as config.json describes it", of->file,
                 of->name);
    }
}

/* ---- conversion ---- */

static uint16_t round_bf16(uint32_t bits)
{
    if ((bits & 0x7fffffff) > 0x7f800000)
        return (uint16_t)(bits >> 16 | 0x40); /* NaN stays NaN */
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static uint16_t round_f16(float value)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    double size = fabs((double)value);
    int exponent;

    if (isnan(value))
        return 0x7fff;
    if (size >= 65520)
        return (uint16_t)(sign | 0x7c00);
    if (size < 0x1p-14) /* subnormal; one that rounds up becomes the smallest normal number */
        return (uint16_t)(sign | (uint16_t)nearbyint(size * 0x1p24));
    frexp(size, &exponent);
    double whole_part = nearbyint(ldexp(size, 11 - exponent)); /* 1024 to 2048 */
    return (uint16_t)(sign | (uint16_t)(((exponent + 14) << 10) + (int)whole_part - 1024));
}

static float widen(element type, uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float value;

    if (type == ELEMENT_BF16) {
        memcpy(&value, &wide, sizeof value);
        return value;
    }
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double size = exponent == 31 ? (fraction ? NAN : INFINITY)
                  : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                 : ldexp(fraction, -24);
    return (float)(bits & 0x8000 ? -size : size);
}

float tensor_number(const tensor *from, uint64_t index)
{
    float value;
    uint16_t half;

    if (from->type == ELEMENT_F32) {
        memcpy(&value, from->data + 4 * index, sizeof value);
        return value;
    }
    if (from->type == ELEMENT_E4M3)
        fail("%s: tensor %s has 8 bits, which only matrices of layers and head may have",
             from->file, from->name);
    if (from->type != ELEMENT_BF16 && from->type != ELEMENT_F16)
        fail("%s: tensor %s is of type %s, where floating point is needed", from->file, from->name,
             from->type_name);
    memcpy(&half, from->data + 2 * index, sizeof half);
    return widen(from->type, half);
}

static tensor find_scale(const weight_files *files, const char *name)
{
    char *names[] = {format_text("%s_scale_inv", name), format_text("%s_scale", name)};
    const bool inverse = weights_have(files, names[0]);

    if (!inverse && !weights_have(files, names[1]))
        fail("tensor %s has 8 bits, and there is neither %s nor %s", name, names[1], names[0]);
    tensor of = find_tensor(files, names[!inverse]);
    for (uint64_t i = 0; i < of.bytes / types[of.type].bytes; i++)
        if (tensor_number(&of, i) < 0)
            fail("%s: tensor %s has a scale below 0", of.file, of.name);
    free(names[0]);
    free(names[1]);
    return of;
}

float *weights_scales(const weight_files *files, const char *name, uint64_t rows, uint64_t columns)
{
    const uint64_t high = (rows + WEIGHTS_BLOCK - 1) / WEIGHTS_BLOCK,
                   wide = (columns + WEIGHTS_BLOCK - 1) / WEIGHTS_BLOCK,
                   all = columns ? high * wide : rows;
    const tensor from = find_scale(files, name);
    const uint64_t count = from.bytes / types[from.type].bytes;

    if (columns)
        weights_find(files, from.name, high, wide);
    else if (count != 1 && count != rows)
        fail("%s: tensor %s is neither one number nor one for each of %" PRIu64
             " rows, and config.json tells of no blocks",
             from.file, from.name, rows);
    float *scales = allocate(all, sizeof *scales);
    for (uint64_t i = 0; i < all; i++)
        scales[i] = tensor_number(&from, count == 1 ? 0 : i);
    return scales;
}

void *tensor_share(tensor *of, uint64_t rows, uint64_t columns, cut_by by, uint32_t rank,
                   uint32_t count)
{
    const uint64_t row = columns * types[of->type].bytes, part = row / count;

    if (by == CUT_NOTHING || count == 1)
        return NULL;
    of->bytes /= count;
    if (by == CUT_ROWS) {
        of->data += rank * of->bytes;
        return NULL;
    }
    unsigned char *data = allocate(of->bytes, 1);
    for (uint64_t i = 0; i < rows; i++)
        memcpy(data + i * part, of->data + i * row + rank * part, part);
    of->data = data;
    return data;
}

void tensor_convert(const tensor *from, element to, void *target)
{
    uint16_t *out = target;

    if (from->type == to) {
        memcpy(target, from->data, from->bytes);
        return;
    }
    uint64_t count = from->bytes / types[from->type].bytes;
    for (uint64_t i = 0; i < count; i++) {
        float value = tensor_number(from, i);
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        out[i] = to == ELEMENT_BF16 ? round_bf16(bits) : round_f16(value);
    }
    if (!elements_are_numbers(to, out, 2 * count))
        fail("%s: tensor %s has an element that %s cannot hold", from->file, from->name,
             types[to].name);
}
