/* safetensors: eight bytes that tell the length of a JSON header, the header, and the data. Nothing
 * in a header is believed before it is held against the file. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weights.h"

struct weight_files {
    mapped_file *files;
    json_t **headers;
    const unsigned char **starts; /* of each file's data */
    uint64_t *lengths;            /* of each file's data */
    size_t count;
    json_t *where; /* index of the file by a tensor's name */
};

/* The longest header that anybody writes is far below. */
static const uint64_t longest_header = 100u << 20;

static void read_header(weight_files *files, size_t index)
{
    const mapped_file *file = &files->files[index];
    json_error_t error;
    uint64_t length = 0;

    if (file->bytes < 8)
        fail("%s is no safetensors file: it has %zu bytes", file->path, file->bytes);
    for (int i = 7; i >= 0; i--)
        length = length << 8 | file->data[i];
    if (length > longest_header || length > file->bytes - 8)
        fail("%s: its header would have %" PRIu64
             " bytes, the file has %zu: it is truncated, or no "
             "safetensors file",
             file->path, length, file->bytes);
    json_t *header =
        json_loadb((const char *)file->data + 8, (size_t)length, JSON_REJECT_DUPLICATES, &error);
    if (!json_is_object(header))
        fail("%s: its header is no JSON object: %s", file->path, header ? "" : error.text);
    files->headers[index] = header;
    files->starts[index] = file->data + 8 + length;
    files->lengths[index] = file->bytes - 8 - length;
    const char *name;
    json_t *value;
    json_object_foreach(header, name, value)
    {
        if (!strcmp(name, "__metadata__"))
            continue;
        const json_t *before = json_object_get(files->where, name);
        if (before)
            fail("tensor %s is in %s and in %s", name,
                 files->files[json_integer_value(before)].path, file->path);
        if (json_object_set_new(files->where, name, json_integer((json_int_t)index)))
            fail("no memory is left on the host");
    }
}

static void add_file(weight_files *files, const char *folder, const char *name)
{
    size_t count = files->count + 1;

    files->files = reallocate(files->files, count, sizeof *files->files);
    files->headers = reallocate(files->headers, count, sizeof(json_t *));
    files->starts = reallocate(files->starts, count, sizeof *files->starts);
    files->lengths = reallocate(files->lengths, count, sizeof *files->lengths);
    files->headers[files->count] = NULL;
    file_map(folder, name, &files->files[files->count]);
    files->count = count;
    read_header(files, count - 1);
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
    if (!files)
        return;
    for (size_t i = 0; i < files->count; i++) {
        json_decref(files->headers[i]);
        file_unmap(&files->files[i]);
    }
    json_decref(files->where);
    free(files->files);
    free(files->headers);
    free(files->starts);
    free(files->lengths);
    free(files);
}

uint64_t weights_digest(const weight_files *files, uint64_t digest)
{
    enum { PLACES = 16384, BYTES = 4096 }; /* small files are read whole */

    for (size_t i = 0; i < files->count; i++) {
        const mapped_file *file = &files->files[i];
        const uint64_t header = file->bytes - files->lengths[i], length = files->lengths[i];
        const uint64_t step = length / PLACES < BYTES ? BYTES : length / PLACES;
        digest = digest_add(digest, &length, sizeof length);
        digest = digest_add(digest, file->data, header);
        for (uint64_t at = 0; at < length; at += step)
            digest = digest_add(digest, files->starts[i] + at,
                                length - at < BYTES ? length - at : BYTES);
    }
    return digest;
}

bool weights_have(const weight_files *files, const char *name)
{
    return json_object_get(files->where, name) != NULL;
}

static uint64_t whole(const tensor *of, const char *name, const json_t *value)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        fail("%s: tensor %s has a size or an offset that is no whole number", of->file, name);
    return (uint64_t)json_integer_value(value);
}

static void read_type(tensor *of, const char *name, const json_t *entry)
{
    static const char *const names[] = {"BF16", "F16", "F32", "F8_E4M3", "I32"};

    of->type_name = json_string_value(json_object_get(entry, "dtype"));
    if (!of->type_name)
        fail("%s: tensor %s has no dtype", of->file, name);
    of->type = ELEMENT_OTHER;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(of->type_name, names[i]))
            of->type = (element)i;
    if (of->type == ELEMENT_OTHER)
        fail("%s: tensor %s is of type %s; BF16, F16, F32, F8_E4M3 and I32 are read", of->file,
             name, of->type_name);
}

static uint64_t element_bytes(element type)
{
    return type == ELEMENT_F32 || type == ELEMENT_I32 ? 4 : type == ELEMENT_E4M3 ? 1 : 2;
}

/* The tensor as its header describes it, within its file. */
static tensor read_tensor(const weight_files *files, const char *name)
{
    const json_t *place = json_object_get(files->where, name);

    if (!place)
        fail("the files of weights have no tensor %s", name);
    size_t index = (size_t)json_integer_value(place);
    const json_t *entry = json_object_get(files->headers[index], name);
    tensor of = {.file = files->files[index].path};
    const json_t *shape = json_object_get(entry, "shape");
    const json_t *offsets = json_object_get(entry, "data_offsets");

    read_type(&of, name, entry);
    if (!json_is_array(shape) || !json_is_array(offsets) || json_array_size(offsets) != 2)
        fail("%s: tensor %s has no shape or no pair of data_offsets", of.file, name);
    uint64_t from = whole(&of, name, json_array_get(offsets, 0));
    uint64_t to = whole(&of, name, json_array_get(offsets, 1));
    if (from > to || to > files->lengths[index])
        fail("%s: tensor %s would lie at bytes %" PRIu64 " to %" PRIu64 " of %" PRIu64
             ": the file is truncated, or its header wrong",
             of.file, name, from, to, files->lengths[index]);
    of.data = files->starts[index] + from;
    of.bytes = to - from;
    of.rank = (uint32_t)json_array_size(shape);
    uint64_t bytes = element_bytes(of.type);
    for (uint32_t i = 0; i < of.rank; i++) {
        uint64_t size = whole(&of, name, json_array_get(shape, i));
        if (i < 4)
            of.shape[i] = size;
        if (size && bytes > UINT64_MAX / size)
            fail("%s: tensor %s is larger than any file", of.file, name);
        bytes *= size;
    }
    if (bytes != of.bytes)
        fail("%s: tensor %s has %" PRIu64 " bytes, its shape needs %" PRIu64, of.file, name,
             of.bytes, bytes);
    return of;
}

bool weights_have_e4m3(const weight_files *files, const char *name)
{
    return weights_have(files, name) && read_tensor(files, name).type == ELEMENT_E4M3;
}

tensor weights_find(const weight_files *files, const char *name, uint64_t rows, uint64_t columns)
{
    tensor of = read_tensor(files, name);
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
    memcpy(&half, from->data + 2 * index, sizeof half);
    return widen(from->type, half);
}

void weights_scales(const weight_files *files, const char *name, uint64_t rows, float *scales)
{
    char *scale_name = format_text("%s_scale", name);

    if (!weights_have(files, scale_name))
        fail("tensor %s has 8 bits, and there is no %s, nor blocks in config.json", name,
             scale_name);
    tensor from = read_tensor(files, scale_name);
    uint64_t count = from.bytes / element_bytes(from.type);
    if (from.type == ELEMENT_E4M3 || (count != 1 && count != rows))
        fail("%s: tensor %s is neither one number nor one for each of %" PRIu64 " rows", from.file,
             scale_name, rows);
    for (uint64_t i = 0; i < rows; i++)
        scales[i] = tensor_number(&from, count == 1 ? 0 : i);
    free(scale_name);
}

void *tensor_share(tensor *of, uint64_t rows, uint64_t columns, cut_by by, uint32_t rank,
                   uint32_t count)
{
    const uint64_t row = columns * element_bytes(of->type), part = row / count;

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
    uint64_t count = from->bytes / element_bytes(from->type);
    for (uint64_t i = 0; i < count; i++) {
        float value = tensor_number(from, i);
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        out[i] = to == ELEMENT_BF16 ? round_bf16(bits) : round_f16(value);
    }
}
