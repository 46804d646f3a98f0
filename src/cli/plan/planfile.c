/* Reading a chain file's values: numbers, words from lists, names of other items. */
#include "cli/plan/planfile.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plan/catalog.h"
#include "cli/plan/fill.h"
#include "cli/io/heap.h"
#include "cli/io/hostfile.h"
#include "cli/io/suggest.h"

enum { MOST_STRUCT = 32764 }; /* bytes of all parameters of a kernel */

/* How many deviations the tails of a normal fill reach. */
#define NORMAL_REACH 4.33L

/* ---- numbers and words ---- */

/* 017 is 15 to some readers of YAML, and 17 to others. */
static bool is_octal(const char *text)
{
    text += *text == '-' || *text == '+';
    return text[0] == '0' && text[1] >= '0' && text[1] <= '9';
}

/* A decimal number, or a hexadecimal one with 0x, in the whole of `text`. */
static bool parse_whole(const char *text, uint64_t *value)
{
    char *end = NULL;
    bool hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    if (text[0] < '0' || text[0] > '9' || is_octal(text))
        return false;
    errno = 0;
    *value = strtoull(text, &end, hexadecimal ? 16 : 10);
    return errno == 0 && *end == '\0' && end != text + (hexadecimal ? 2 : 0);
}

static int read_whole(const gd_yaml_node *node, const char *field, const char *text, uint64_t least,
                      uint64_t most, uint64_t *value)
{
    if (parse_whole(text, value) && *value >= least && *value <= most)
        return 0;
    return gd_message_error_at(gd_yaml_place(node, field),
                               "%s is a whole number from %llu to %llu, not '%s'", field,
                               (unsigned long long)least, (unsigned long long)most, text);
}

/* Digits, at most one point among them, and an exponent: less than strtold takes. */
static bool is_decimal(const char *text)
{
    static const char digits[] = "0123456789";
    if (is_octal(text))
        return false;
    text += *text == '-' || *text == '+';
    size_t before = strspn(text, digits);
    text += before;
    bool has_point = *text == '.';
    text += has_point;
    size_t behind = has_point ? strspn(text, digits) : 0;
    text += behind;
    if (before + behind == 0)
        return false;
    if (*text != 'e' && *text != 'E')
        return *text == '\0';
    text++;
    text += *text == '-' || *text == '+';
    size_t exponent = strspn(text, digits);
    return exponent > 0 && text[exponent] == '\0';
}

static bool parse_not_finite(const char *text, long double *value)
{
    static const char *const words[] = {".inf", "-.inf", ".nan",
                                        "inf",  "-inf",  "nan"}; /* YAML's spellings, C's */
    static const long double meanings[] = {INFINITY, -INFINITY, NAN};
    for (size_t i = 0; i < 6; i++) {
        if (strcmp(text, words[i]) == 0) {
            *value = meanings[i % 3];
            return true;
        }
    }
    return false;
}

/* Whether a finite number is one in the type too, after rounding. */
static bool fits(gd_type type, long double value)
{
    uint64_t element = 0;
    if (gd_type_is_integer(type)) {
        int bits = (int)gd_type_bytes(type) * 8 - gd_type_is_signed(type);
        return value < ldexpl(1.0L, bits) &&
               value >= (gd_type_is_signed(type) ? -ldexpl(1.0L, bits) : 0.0L);
    }
    gd_type_store(type, &element, 0, (double)value);
    return isfinite(gd_type_load(type, &element, 0));
}

static int does_not_fit(const gd_yaml_node *node, const char *field, const char *text, gd_type type)
{
    return gd_message_error_at(gd_yaml_place(node, field), "%s does not fit %s", text,
                               gd_type_name(type));
}

/* A finite number that the type can hold, whole or not. */
static int read_finite(const gd_yaml_node *node, const char *field, const char *text, gd_type type,
                       long double *value)
{
    if (!is_decimal(text))
        return gd_message_error_at(gd_yaml_place(node, field), "%s is a number, not '%s'", field,
                                   text);
    *value = strtold(text, NULL);
    return fits(type, *value) ? 0 : does_not_fit(node, field, text, type);
}

static int read_integer(const gd_yaml_node *node, const char *field, const char *text, gd_type type,
                        long double *value)
{
    uint64_t whole = 0;
    bool is_whole = parse_whole(text, &whole);
    if (is_whole)
        *value = whole;
    else if (is_decimal(text))
        *value = strtold(text, NULL);
    if (!is_whole && (!is_decimal(text) || rintl(*value) != *value))
        return gd_message_error_at(gd_yaml_place(node, field), "%s takes a whole number, not '%s'",
                                   gd_type_name(type), text);
    return fits(type, *value) ? 0 : does_not_fit(node, field, text, type);
}

/* A number that a type can hold. Integers must be whole; floating-point types take infinities and
 * NaN too, where they are spelled out. */
static int read_typed(const gd_yaml_node *node, const char *field, const char *text, gd_type type,
                      long double *value)
{
    if (gd_type_is_integer(type))
        return read_integer(node, field, text, type, value);
    if (parse_not_finite(text, value))
        return 0;
    if (!is_decimal(text))
        return gd_message_error_at(gd_yaml_place(node, field), "%s takes a number, not '%s'",
                                   gd_type_name(type), text);
    return read_finite(node, field, text, type, value);
}

static int read_word(const gd_yaml_node *node, const char *field, const char *text,
                     const char *const *words, size_t count, size_t *index)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(words[i], text) == 0) {
            *index = i;
            return 0;
        }
    }
    char *list = gd_suggest_list(words, count);
    char *suggestion = gd_suggest_text(text, words, count);
    int code = gd_message_error_at(gd_yaml_place(node, field), "%s is one of %s, not '%s'%s", field,
                                   list, text, suggestion);
    free(list);
    free(suggestion);
    return code;
}

static int read_type(const gd_yaml_node *node, const char *field, const char *text, gd_type *type)
{
    const char *names[GD_TYPE_NAMES];
    for (int i = 0; i < GD_TYPE_NAMES; i++)
        names[i] = gd_type_name((gd_type)i);
    size_t index = 0;
    int code = read_word(node, field, text, names, GD_TYPE_NAMES, &index);
    *type = (gd_type)index;
    return code;
}

static int unknown_name(const gd_yaml_node *node, const char *field, const char *what,
                        const char *name, const char *const *names, size_t count)
{
    char *suggestion = gd_suggest_text(name, names, count);
    int code = gd_message_error_at(gd_yaml_place(node, field), "the chain has no %s '%s'%s", what,
                                   name, suggestion);
    free(suggestion);
    return code;
}

static int find_buffer(const gd_yaml_node *node, const gd_plan *plan, const char *name,
                       uint32_t *index)
{
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        if (strcmp(plan->buffers[i].name, name) == 0) {
            *index = i;
            return 0;
        }
    }
    const char **names = gd_heap_take(plan->buffer_count, sizeof(*names));
    for (uint32_t i = 0; i < plan->buffer_count; i++)
        names[i] = plan->buffers[i].name;
    int code = unknown_name(node, "buffer", "buffer", name, names, plan->buffer_count);
    free(names);
    return code;
}

/* ---- modules ---- */

static int read_shelf_module(const gd_yaml_node *node, const char *shelf)
{
    griddep_shelf_info info = {.size = sizeof(info)};
    if (gd_catalog_find(shelf, &info))
        return 0;
    char *suggestion = gd_catalog_suggest(shelf);
    int code = gd_message_error_at(gd_yaml_place(node, "shelf"), "the shelf has no kernel '%s'%s",
                                   shelf, suggestion);
    free(suggestion);
    return code;
}

static int read_module_file(const gd_chainfile_module *source, gd_plan_module *module)
{
    module->path = gd_hostfile_join(source->node->place.file, source->file);
    uint64_t bytes = 0;
    const char *reason = gd_hostfile_measure(module->path, &bytes);
    if (reason != NULL)
        return gd_message_error_at(gd_yaml_place(source->node, "file"), "file %s: %s", module->path,
                                   reason);
    if (source->options_count > 0 && !gd_hostfile_has_ending(module->path, ".cu"))
        return gd_message_error_at(gd_yaml_place(source->node, "options"),
                                   "options are for CUDA C++ (.cu) only");
    module->options = gd_heap_take(source->options_count + 1, sizeof(*module->options));
    for (; module->option_count < source->options_count; module->option_count++)
        module->options[module->option_count] =
            gd_heap_string(source->options[module->option_count]);
    /* So that what is told of the PTX is told of a line of the source. */
    if (gd_hostfile_has_ending(module->path, ".cu"))
        module->options[module->option_count++] = gd_heap_string("--generate-line-info");
    return 0;
}

static int read_module(const gd_chainfile_module *source, gd_plan *plan)
{
    for (uint32_t i = 0; i < plan->module_count; i++)
        if (strcmp(plan->modules[i].name, source->name) == 0)
            return gd_message_error_at(gd_yaml_place(source->node, "name"),
                                       "a second module named '%s'", source->name);
    if ((source->file != NULL) == (source->shelf != NULL))
        return gd_message_error_at(source->node->place,
                                   "module '%s' needs either 'file' or 'shelf'", source->name);
    gd_plan_module *module = gd_plan_add_module(plan);
    module->name = gd_heap_string(source->name);
    module->place = source->node->place;
    if (source->file != NULL)
        return read_module_file(source, module);
    if (source->options_count > 0)
        return gd_message_error_at(gd_yaml_place(source->node, "options"),
                                   "options are for CUDA C++ (.cu) only");
    module->shelf = gd_heap_string(source->shelf);
    return read_shelf_module(source->node, source->shelf);
}

/* ---- buffers ---- */

static int read_optional_typed(const gd_yaml_node *node, const char *field, const char *text,
                               gd_type type, long double otherwise, long double *value)
{
    *value = otherwise;
    return text != NULL ? read_typed(node, field, text, type, value) : 0;
}

static int read_uniform(const gd_chainfile_random *random, gd_plan_buffer *buffer)
{
    gd_fill *fill = &buffer->fill;
    fill->kind = GD_FILL_UNIFORM;
    if (random->mean != NULL || random->deviation != NULL)
        return gd_message_error_at(
            gd_yaml_place(random->node, random->mean != NULL ? "mean" : "deviation"),
            "mean and deviation are for 'distribution: normal'; uniform takes low and high");
    int code = read_optional_typed(random->node, "low", random->low, buffer->type, 0.0L, &fill->a);
    if (code == 0)
        code =
            read_optional_typed(random->node, "high", random->high, buffer->type, 1.0L, &fill->b);
    if (code == 0 && !(isfinite(fill->a) && isfinite(fill->b) && fill->a <= fill->b))
        code = gd_message_error_at(gd_yaml_place(random->node, "high"),
                                   "low and high are finite, and low is not above high");
    if (code == 0 && !gd_type_is_integer(buffer->type) && !fits(GD_TYPE_f64, fill->b - fill->a))
        code = gd_message_error_at(gd_yaml_place(random->node, "high"),
                                   "high minus low does not fit f64");
    return code;
}

static int read_normal(const gd_chainfile_random *random, gd_plan_buffer *buffer)
{
    gd_fill *fill = &buffer->fill;
    fill->kind = GD_FILL_NORMAL;
    fill->b = 1.0L;
    if (random->low != NULL || random->high != NULL)
        return gd_message_error_at(
            gd_yaml_place(random->node, random->low != NULL ? "low" : "high"),
            "low and high are for 'distribution: uniform'; normal takes mean and deviation");
    if (gd_type_is_integer(buffer->type))
        return gd_message_error_at(gd_yaml_place(random->node, "distribution"),
                                   "normal is for floating-point buffers, not %s",
                                   gd_type_name(buffer->type));
    int code = random->mean != NULL
                   ? read_finite(random->node, "mean", random->mean, buffer->type, &fill->a)
                   : 0;
    if (code == 0 && random->deviation != NULL)
        code = read_finite(random->node, "deviation", random->deviation, buffer->type, &fill->b);
    if (code == 0 && fill->b < 0)
        code = gd_message_error_at(gd_yaml_place(random->node, "deviation"),
                                   "deviation is at least 0, not '%s'", random->deviation);
    if (code == 0 && !fits(buffer->type, fabsl(fill->a) + NORMAL_REACH * fill->b))
        code = gd_message_error_at(gd_yaml_place(random->node, "deviation"),
                                   "mean and %.1Lf deviations do not fit %s", NORMAL_REACH,
                                   gd_type_name(buffer->type));
    return code;
}

static int read_random(const gd_chainfile_random *random, gd_plan_buffer *buffer)
{
    static const char *const distributions[] = {"uniform", "normal"};
    size_t distribution = 0;
    int code = 0;
    if (random->seed != NULL)
        code = read_whole(random->node, "seed", random->seed, 0, UINT64_MAX, &buffer->fill.seed);
    if (code == 0 && random->distribution != NULL)
        code = read_word(random->node, "distribution", random->distribution, distributions, 2,
                         &distribution);
    if (code != 0)
        return code;
    return distribution == 0 ? read_uniform(random, buffer) : read_normal(random, buffer);
}

/* Integers wrap around; the others must not become infinite on the way. */
static int check_sequence(const gd_yaml_node *node, const gd_plan_buffer *buffer)
{
    const gd_fill *fill = &buffer->fill;
    long double last = fill->a + (long double)(buffer->count - 1) * fill->b;
    if (gd_type_is_integer(buffer->type) || !isfinite(fill->a) || fits(buffer->type, last))
        return 0;
    return gd_message_error_at(gd_yaml_place(node, "step"),
                               "the sequence's last element, %.6Lg, does not fit %s", last,
                               gd_type_name(buffer->type));
}

static int read_sequence(const gd_chainfile_sequence *sequence, gd_plan_buffer *buffer)
{
    buffer->fill.kind = GD_FILL_SEQUENCE;
    buffer->fill.b = 1.0L;
    int code = 0;
    if (sequence->start != NULL)
        code = read_typed(sequence->node, "start", sequence->start, buffer->type, &buffer->fill.a);
    /* A step down is meant as such for unsigned elements too: it wraps around. */
    if (code == 0 && sequence->step != NULL)
        code = read_finite(sequence->node, "step", sequence->step, GD_TYPE_f64, &buffer->fill.b);
    bool whole = rintl(buffer->fill.b) == buffer->fill.b && fabsl(buffer->fill.b) < 0x1p63L;
    if (code == 0 && gd_type_is_integer(buffer->type) && !whole)
        code = gd_message_error_at(gd_yaml_place(sequence->node, "step"),
                                   "step is a whole number for %s, not '%s'",
                                   gd_type_name(buffer->type), sequence->step);
    return code == 0 ? check_sequence(sequence->node, buffer) : code;
}

static int read_buffer_file(const gd_yaml_node *node, const char *file, gd_plan_buffer *buffer)
{
    buffer->fill.kind = GD_FILL_FILE;
    buffer->fill.path = gd_hostfile_join(node->place.file, file);
    uint64_t bytes = 0;
    const char *reason = gd_hostfile_measure(buffer->fill.path, &bytes);
    if (reason != NULL)
        return gd_message_error_at(gd_yaml_place(node, "file"), "file %s: %s", buffer->fill.path,
                                   reason);
    if (bytes != gd_plan_buffer_bytes(buffer))
        return gd_message_error_at(
            gd_yaml_place(node, "file"), "file %s has %llu bytes, %llu %s are %llu",
            buffer->fill.path, (unsigned long long)bytes, (unsigned long long)buffer->count,
            gd_type_name(buffer->type), (unsigned long long)gd_plan_buffer_bytes(buffer));
    return 0;
}

static int read_fill(const gd_chainfile_buffer *source, gd_plan_buffer *buffer)
{
    int given = (source->constant != NULL) + (source->random != NULL) + (source->sequence != NULL) +
                (source->file != NULL);
    if (given > 1)
        return gd_message_error_at(
            source->node->place,
            "buffer '%s' has %d of constant, random, sequence and file; one says what it holds",
            source->name, given);
    if (source->random != NULL)
        return read_random(source->random, buffer);
    if (source->sequence != NULL)
        return read_sequence(source->sequence, buffer);
    if (source->file != NULL)
        return read_buffer_file(source->node, source->file, buffer);
    return source->constant != NULL ? read_typed(source->node, "constant", source->constant,
                                                 buffer->type, &buffer->fill.a)
                                    : 0;
}

static int read_buffer(const gd_chainfile_buffer *source, gd_plan *plan)
{
    for (uint32_t i = 0; i < plan->buffer_count; i++)
        if (strcmp(plan->buffers[i].name, source->name) == 0)
            return gd_message_error_at(gd_yaml_place(source->node, "name"),
                                       "a second buffer named '%s'", source->name);
    gd_plan_buffer *buffer = gd_plan_add_buffer(plan);
    buffer->name = gd_heap_string(source->name);
    buffer->place = source->node->place;
    int code = read_type(source->node, "type", source->type, &buffer->type);
    if (code == 0)
        code = read_whole(source->node, "count", source->count, 1, UINT64_MAX / 16, &buffer->count);
    return code == 0 ? read_fill(source, buffer) : code;
}

/* ---- tensor maps ---- */

static int read_choice(const gd_yaml_node *node, const char *field, const char *text,
                       const char *const *words, size_t count, int32_t *value)
{
    size_t index = 0;
    int code = text != NULL ? read_word(node, field, text, words, count, &index) : 0;
    *value = (int32_t)index;
    return code;
}

static int32_t tensor_type(gd_type type)
{
    switch (type) {
    case GD_TYPE_u8:
    case GD_TYPE_s8:
    case GD_TYPE_e4m3:
    case GD_TYPE_e5m2:
        return GRIDDEP_TENSOR_U8;
    case GD_TYPE_u16:
    case GD_TYPE_s16:
        return GRIDDEP_TENSOR_U16;
    case GD_TYPE_u32:
        return GRIDDEP_TENSOR_U32;
    case GD_TYPE_s32:
        return GRIDDEP_TENSOR_S32;
    case GD_TYPE_u64:
        return GRIDDEP_TENSOR_U64;
    case GD_TYPE_s64:
        return GRIDDEP_TENSOR_S64;
    case GD_TYPE_f16:
        return GRIDDEP_TENSOR_F16;
    case GD_TYPE_bf16:
        return GRIDDEP_TENSOR_BF16;
    case GD_TYPE_f64:
        return GRIDDEP_TENSOR_F64;
    default:
        return GRIDDEP_TENSOR_F32;
    }
}

/* Whole numbers from 1 on, one for each dimension. */
static int read_extents(const gd_yaml_node *node, const char *field, char **texts, uint32_t count,
                        uint32_t expected, uint64_t most, uint64_t *values)
{
    if (count != expected)
        return gd_message_error_at(gd_yaml_place(node, field),
                                   "with these dimensions %s takes %u numbers, not %u", field,
                                   (unsigned)expected, (unsigned)count);
    for (uint32_t i = 0; i < count; i++) {
        int code = read_whole(node, field, texts[i], 1, most, &values[i]);
        if (code != 0)
            return code;
    }
    return 0;
}

/* The strides are in elements here; the last element of the tensor must be one of the buffer. */
static int check_tensor(const gd_yaml_node *node, const griddep_tensor_options *tensor,
                        uint64_t room)
{
    uint64_t last = tensor->dimensions[0] - 1;
    for (uint32_t i = 1; i < tensor->rank && last < room; i++) {
        uint64_t steps = tensor->dimensions[i] - 1, stride = tensor->strides[i - 1];
        last = steps > 0 && stride > room / steps ? room : last + steps * stride;
    }
    if (last < room)
        return 0;
    return gd_message_error_at(gd_yaml_place(node, "dimensions"),
                               "the tensor reaches beyond the %llu elements there are",
                               (unsigned long long)room);
}

/* Without strides the tensor is dense. */
static int read_strides(const gd_chainfile_tensor *source, griddep_tensor_options *tensor)
{
    if (source->strides != NULL)
        return read_extents(source->node, "strides", source->strides, source->strides_count,
                            tensor->rank - 1, UINT64_MAX / 16, tensor->strides);
    for (uint32_t i = 0; i + 1 < tensor->rank; i++) {
        uint64_t below = i > 0 ? tensor->strides[i - 1] : 1;
        if (below > UINT64_MAX / 16 / tensor->dimensions[i])
            return gd_message_error_at(gd_yaml_place(source->node, "dimensions"),
                                       "the dimensions are too large");
        tensor->strides[i] = below * tensor->dimensions[i];
    }
    return 0;
}

static int read_tensor_words(const gd_chainfile_tensor *source, griddep_tensor_options *tensor)
{
    static const char *const interleaves[] = {"none", "16B", "32B"};
    static const char *const swizzles[] = {"none", "32B", "64B", "128B"};
    static const char *const promotions[] = {"none", "64B", "128B", "256B"};
    static const char *const fills[] = {"zero", "nan"};
    int code = read_choice(source->node, "interleave", source->interleave, interleaves, 3,
                           &tensor->interleave);
    if (code == 0)
        code = read_choice(source->node, "swizzle", source->swizzle, swizzles, 4, &tensor->swizzle);
    if (code == 0)
        code = read_choice(source->node, "promotion", source->promotion, promotions, 4,
                           &tensor->promotion);
    return code == 0 ? read_choice(source->node, "fill", source->fill, fills, 2, &tensor->fill)
                     : code;
}

static int read_tensor(const gd_chainfile_tensor *source, gd_type type, uint64_t room,
                       griddep_tensor_options *tensor)
{
    uint64_t box[5] = {0}, steps[5] = {0};
    *tensor = (griddep_tensor_options){
        .size = sizeof(*tensor), .type = tensor_type(type), .rank = source->dimensions_count};
    int code = read_extents(source->node, "dimensions", source->dimensions, tensor->rank,
                            tensor->rank, UINT64_C(1) << 32, tensor->dimensions);
    if (code == 0)
        code = read_strides(source, tensor);
    if (code == 0)
        code = check_tensor(source->node, tensor, room);
    if (code == 0)
        code = read_extents(source->node, "box", source->box, source->box_count, tensor->rank, 256,
                            box);
    if (code == 0 && source->steps != NULL)
        code = read_extents(source->node, "steps", source->steps, source->steps_count, tensor->rank,
                            8, steps);
    for (uint32_t i = 0; i < tensor->rank; i++) {
        tensor->box[i] = (uint32_t)box[i];
        tensor->steps[i] = (uint32_t)steps[i];
        if (i + 1 < tensor->rank)
            tensor->strides[i] *= gd_type_bytes(type);
    }
    return code == 0 ? read_tensor_words(source, tensor) : code;
}

/* ---- launches ---- */

/* What the kernel is meant to take the buffer's bytes for. */
static int read_view(const gd_chainfile_argument *source, gd_plan_argument *argument)
{
    const char *names[GD_TYPE_NAMES];
    size_t type = 0;
    for (size_t i = 0; i < GD_TYPE_NAMES; i++)
        names[i] = gd_type_name((gd_type)i);
    if (source->tensor_map != NULL)
        return gd_message_error_at(gd_yaml_place(source->node, "as"),
                                   "a tensor map has the element type of its buffer");
    int code = read_word(source->node, "as", source->as, names, GD_TYPE_NAMES, &type);
    argument->viewed = true;
    argument->type = (gd_type)type;
    return code;
}

static int read_buffer_argument(const gd_plan *plan, const gd_chainfile_argument *source,
                                gd_plan_argument *argument)
{
    static const char *const words[] = {"update", "read", "write", "constant"};
    static const int32_t accesses[] = {GRIDDEP_ACCESS_UPDATE, GRIDDEP_ACCESS_READ,
                                       GRIDDEP_ACCESS_WRITE, GRIDDEP_ACCESS_CONSTANT};
    size_t access = 0;
    argument->is_buffer = true;
    int code = find_buffer(source->node, plan, source->buffer, &argument->buffer);
    if (code == 0 && source->offset != NULL)
        code = read_whole(source->node, "offset", source->offset, 0,
                          plan->buffers[argument->buffer].count - 1, &argument->offset);
    if (code == 0 && source->access != NULL)
        code = read_word(source->node, "access", source->access, words, 4, &access);
    argument->access = source->access != NULL ? accesses[access] : GRIDDEP_ACCESS_UNKNOWN;
    if (code == 0 && source->as != NULL)
        code = read_view(source, argument);
    if (code != 0 || source->tensor_map == NULL)
        return code;
    const gd_plan_buffer *buffer = &plan->buffers[argument->buffer];
    argument->tensor = gd_heap_take(1, sizeof(*argument->tensor));
    return read_tensor(source->tensor_map, buffer->type, buffer->count - argument->offset,
                       argument->tensor);
}

static int read_value_argument(const gd_yaml_node *node, gd_type type, const char *text,
                               gd_plan_argument *argument)
{
    long double value = 0.0L;
    int code = read_typed(node, gd_type_name(type), text, type, &value);
    argument->type = type;
    gd_fill fill = {.kind = GD_FILL_CONSTANT, .a = value};
    return code == 0 ? gd_fill_write(&fill, type, &argument->value, 1) : code;
}

/* Two digits a byte. */
static int read_bytes(const gd_chainfile_argument *source, gd_plan_argument *argument)
{
    size_t digits = strlen(source->bytes);
    if (digits == 0 || digits % 2 != 0 || digits > 2 * (size_t)MOST_STRUCT ||
        strspn(source->bytes, "0123456789abcdefABCDEF") != digits)
        return gd_message_error_at(gd_yaml_place(source->node, "bytes"),
                                   "bytes of an argument are two hexadecimal digits each, at most "
                                   "%d of them: '0a00ff00'",
                                   MOST_STRUCT);
    argument->data_bytes = (uint32_t)(digits / 2);
    argument->data = gd_heap_take(argument->data_bytes, 1);
    for (uint32_t i = 0; i < argument->data_bytes; i++) {
        const char text[3] = {source->bytes[2 * i], source->bytes[2 * i + 1], '\0'};
        argument->data[i] = (unsigned char)strtoul(text, NULL, 16);
    }
    return 0;
}

static int read_address(const gd_plan *plan, const gd_chainfile_address *source,
                        const gd_plan_argument *argument, gd_plan_address *address)
{
    uint64_t at = 0;
    if (argument->data_bytes < 8)
        return gd_message_error_at(source->node->place, "an address needs 8 bytes, there are %u",
                                   (unsigned)argument->data_bytes);
    int code = read_whole(source->node, "at", source->at, 0, argument->data_bytes - 8, &at);
    address->at = (uint32_t)at;
    if (code == 0)
        code = find_buffer(source->node, plan, source->buffer, &address->buffer);
    if (code == 0 && source->offset != NULL)
        code = read_whole(source->node, "offset", source->offset, 0,
                          plan->buffers[address->buffer].count - 1, &address->offset);
    return code;
}

static int read_struct(const gd_plan *plan, const gd_chainfile_argument *source,
                       gd_plan_argument *argument)
{
    int code = read_bytes(source, argument);
    argument->addresses = gd_heap_take(source->addresses_count, sizeof(*argument->addresses));
    for (uint32_t i = 0; i < source->addresses_count && code == 0; i++)
        code = read_address(plan, &source->addresses[i], argument,
                            &argument->addresses[argument->address_count++]);
    return code;
}

static int read_argument(const gd_plan *plan, const gd_chainfile_argument *source,
                         gd_plan_argument *argument)
{
    gd_type type = GD_TYPE_u8;
    const char *text = NULL;
    int given = (source->buffer != NULL) + (source->bytes != NULL);
#define LOOK(name)                                                                                 \
    if (source->name != NULL) {                                                                    \
        type = GD_TYPE_##name;                                                                     \
        text = source->name;                                                                       \
        given++;                                                                                   \
    }
    GD_TYPES(LOOK)
#undef LOOK
    argument->place = source->node->place;
    if (given != 1)
        return gd_message_error_at(
            argument->place,
            "an argument is one buffer, {buffer: name}, one number, {u32: 5}, or a "
            "struct, {bytes: '0a00ff00'}");
    if (source->bytes == NULL && source->addresses != NULL)
        return gd_message_error_at(argument->place,
                                   "addresses stand in bytes, which are not there");
    if (source->buffer != NULL)
        return read_buffer_argument(plan, source, argument);
    if (source->offset != NULL || source->access != NULL || source->as != NULL ||
        source->tensor_map != NULL)
        return gd_message_error_at(argument->place,
                                   "offset, access, as and tensor_map are for buffers");
    if (source->bytes != NULL)
        return read_struct(plan, source, argument);
    return read_value_argument(source->node, type, text, argument);
}

static int read_shape(const gd_yaml_node *node, const char *field, char **texts, uint32_t count,
                      uint32_t shape[3], bool *multiprocessors)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t value = 0;
        if (i == 0 && multiprocessors != NULL && strcmp(texts[i], "multiprocessors") == 0) {
            *multiprocessors = true;
            value = 1;
        } else if (!parse_whole(texts[i], &value) || value < 1 || value > INT32_MAX) {
            return gd_message_error_at(
                gd_yaml_place(node, field),
                "%s is a list of 1 to 3 whole numbers from 1 to %d%s, not '%s'", field, INT32_MAX,
                multiprocessors != NULL ? ", or 'multiprocessors' for the first" : "", texts[i]);
        }
        shape[i] = (uint32_t)value;
    }
    for (uint32_t i = count; i < 3 && count > 0; i++)
        shape[i] = 1;
    return 0;
}

static int read_cluster_scheduling(const gd_yaml_node *node, const char *text,
                                   gd_plan_launch *launch)
{
    static const char *const choices[] = {"spread", "balance"};
    static const int32_t values[] = {GRIDDEP_CLUSTER_SCHEDULING_SPREAD,
                                     GRIDDEP_CLUSTER_SCHEDULING_LOAD_BALANCING};
    size_t choice = 0;
    int code = read_word(node, "cluster_scheduling", text, choices, 2, &choice);
    if (code == 0)
        griddep_attribute_set(&launch->attributes[launch->config.attribute_count++],
                              GRIDDEP_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY,
                              (const int64_t[]){values[choice]}, 1, NULL);
    return code;
}

static int read_shapes(const gd_chainfile_launch *source, gd_plan_launch *launch)
{
    static const char *const fields[GD_PLAN_SHAPES] = {"grid", "block", "cluster", "shared"};
    uint64_t shared = 0;
    for (uint32_t i = 0; i < GD_PLAN_SHAPES; i++)
        launch->shape_places[i] = gd_yaml_place(source->node, fields[i]);
    int code = read_shape(source->node, "grid", source->grid, source->grid_count,
                          launch->config.grid, &launch->grid_is_multiprocessors);
    if (code == 0)
        code = read_shape(source->node, "block", source->block, source->block_count,
                          launch->config.block, NULL);
    if (code == 0)
        code = read_shape(source->node, "cluster", source->cluster, source->cluster_count,
                          launch->config.cluster, NULL);
    if (code == 0 && source->shared != NULL)
        code = read_whole(source->node, "shared", source->shared, 0, UINT32_MAX, &shared);
    launch->config.shared_bytes = (uint32_t)shared;
    if (code == 0 && source->cluster_scheduling != NULL)
        code = read_cluster_scheduling(source->node, source->cluster_scheduling, launch);
    return code;
}

static int find_module(gd_plan *plan, const gd_chainfile_launch *source, uint32_t *index)
{
    if (source->module == NULL) {
        griddep_shelf_info info = {.size = sizeof(info)};
        if (gd_catalog_find(source->kernel, &info)) {
            *index =
                gd_plan_shelf_module(plan, source->kernel, gd_yaml_place(source->node, "kernel"));
            return 0;
        }
        char *suggestion = gd_catalog_suggest(source->kernel);
        int code = gd_message_error_at(
            gd_yaml_place(source->node, "kernel"),
            "without 'module' the kernel is one of the shelf, which has no '%s'%s", source->kernel,
            suggestion);
        free(suggestion);
        return code;
    }
    const char **names = gd_heap_take(plan->module_count, sizeof(*names));
    int code = -1;
    for (uint32_t i = 0; i < plan->module_count && code < 0; i++) {
        names[i] = plan->modules[i].name;
        if (strcmp(names[i], source->module) == 0) {
            *index = i;
            code = 0;
        }
    }
    if (code < 0)
        code = unknown_name(source->node, "module", "module", source->module, names,
                            plan->module_count);
    free(names);
    return code;
}

static int read_reference(const gd_chainfile_launch *source, gd_plan_launch *launch)
{
    launch->reference =
        gd_reference_find(source->reference != NULL ? source->reference : source->kernel);
    if (source->reference == NULL || launch->reference != NULL)
        return 0;
    char *suggestion = gd_catalog_suggest(source->reference);
    int code =
        gd_message_error_at(gd_yaml_place(source->node, "reference"),
                            "there is no CPU reference '%s'%s", source->reference, suggestion);
    free(suggestion);
    return code;
}

/* A launch's own name, and its lane. The launch is the plan's last. */
static int read_names(const gd_chainfile_launch *source, gd_plan *plan)
{
    gd_plan_launch *launch = &plan->launches[plan->launch_count - 1];
    if (source->name != NULL && source->name[0] == '\0')
        return gd_message_error_at(gd_yaml_place(source->node, "name"), "name is empty");
    if (source->lane != NULL && source->lane[0] == '\0')
        return gd_message_error_at(gd_yaml_place(source->node, "lane"), "lane is empty");
    for (uint32_t i = 0; i + 1 < plan->launch_count && source->name != NULL; i++)
        if (plan->launches[i].name != NULL && strcmp(plan->launches[i].name, source->name) == 0)
            return gd_message_error_at(gd_yaml_place(source->node, "name"),
                                       "a second launch named '%s'", source->name);
    if (source->name != NULL)
        launch->name = gd_heap_string(source->name);
    launch->config.lane = gd_plan_lane(plan, source->lane);
    return 0;
}

/* The index of an earlier launch by its name. The launch that is being read is the plan's last. */
static int find_launch(const gd_yaml_node *node, const gd_plan *plan, const char *name,
                       uint32_t *index)
{
    uint32_t own = plan->launch_count - 1, count = 0;
    for (uint32_t i = 0; i < own; i++) {
        if (plan->launches[i].name != NULL && strcmp(plan->launches[i].name, name) == 0) {
            *index = i;
            return 0;
        }
    }
    if (plan->launches[own].name != NULL && strcmp(plan->launches[own].name, name) == 0)
        return gd_message_error_at(gd_yaml_place(node, "after"),
                                   "launch '%s' cannot wait for itself", name);
    const char **names = gd_heap_take(own, sizeof(*names));
    for (uint32_t i = 0; i < own; i++)
        if (plan->launches[i].name != NULL)
            names[count++] = plan->launches[i].name;
    char *suggestion = gd_suggest_text(name, names, count);
    int code = gd_message_error_at(
        gd_yaml_place(node, "after"), "no launch above this one is named '%s'%s", name,
        suggestion[0] != '\0' ? suggestion : "; 'after' takes no launch below");
    free(suggestion);
    free(names);
    return code;
}

static int read_after(const gd_chainfile_launch *source, gd_plan *plan)
{
    gd_plan_launch *launch = &plan->launches[plan->launch_count - 1];
    int code = 0;
    launch->after = gd_heap_take(source->after_count, sizeof(*launch->after));
    for (uint32_t i = 0; i < source->after_count && code == 0; i++)
        code = find_launch(source->node, plan, source->after[i],
                           &launch->after[launch->after_count++]);
    return code;
}

/* Each is a number of blocks, or one of the words. */
static int read_grids(const gd_chainfile_launch *source, gd_plan_launch *launch)
{
    launch->grids = gd_heap_take(source->grids_count, sizeof(*launch->grids));
    for (uint32_t i = 0; i < source->grids_count; i++) {
        const char *text = source->grids[i];
        uint64_t value = GD_GRID_ANY;
        if (strcmp(text, "multiprocessors") == 0)
            value = (uint32_t)GD_GRID_MULTIPROCESSORS;
        else if (strcmp(text, "any") != 0 &&
                 (!parse_whole(text, &value) || value < 1 || value > INT32_MAX))
            return gd_message_error_at(gd_yaml_place(source->node, "grids"),
                                       "grids is a list of whole numbers from 1 to %d, "
                                       "'multiprocessors' or 'any', not '%s'",
                                       INT32_MAX, text);
        launch->grids[launch->grid_count++] = (uint32_t)value;
    }
    return 0;
}

/* The preferred carve-out, and others that may be tried; `what` tells what a list may hold. */
static int read_carveouts(const gd_chainfile_launch *source, gd_plan_launch *launch)
{
    uint64_t percent = 0;
    if (source->carveout != NULL) {
        int code = read_whole(source->node, "carveout", source->carveout, 0, 100, &percent);
        if (code != 0)
            return code;
        launch->carveout_percent = (int32_t)percent;
        griddep_attribute_set(&launch->attributes[launch->config.attribute_count++],
                              GRIDDEP_ATTRIBUTE_CARVEOUT,
                              (const int64_t[]){launch->carveout_percent}, 1, NULL);
        launch->has_carveout = true;
    }
    launch->carveouts = gd_heap_take(source->carveouts_count, sizeof(*launch->carveouts));
    for (uint32_t i = 0; i < source->carveouts_count; i++) {
        const char *text = source->carveouts[i];
        int32_t value = GD_CARVEOUT_ANY;
        if (strcmp(text, "default") == 0)
            value = GRIDDEP_CARVEOUT_DEFAULT;
        else if (strcmp(text, "any") != 0 && (!parse_whole(text, &percent) || percent > 100))
            return gd_message_error_at(
                gd_yaml_place(source->node, "carveouts"),
                "carveouts is a list of whole numbers from 0 to 100, 'default' or 'any', not '%s'",
                text);
        else if (strcmp(text, "any") != 0)
            value = (int32_t)percent;
        launch->carveouts[launch->carveout_count++] = value;
    }
    return 0;
}

/* ---- copies and fills */

static const char *const move_fields = "a copy or a fill has a name, a lane and 'after', no other";

/* A stretch of a buffer. */
static int read_stretch(const gd_yaml_node *node, const gd_plan *plan, const char *field,
                        const char *name, const char *offset_field, const char *offset,
                        gd_plan_argument *argument)
{
    argument->is_buffer = true;
    argument->place = gd_yaml_place(node, field);
    int code = find_buffer(node, plan, name, &argument->buffer);
    if (code == 0 && offset != NULL)
        code = read_whole(node, offset_field, offset, 0, plan->buffers[argument->buffer].count - 1,
                          &argument->offset);
    return code;
}

static uint64_t elements_left(const gd_plan *plan, const gd_plan_argument *argument)
{
    return plan->buffers[argument->buffer].count - argument->offset;
}

static int read_copy(const gd_chainfile_copy *source, const gd_plan *plan, gd_plan_launch *launch)
{
    gd_plan_argument *target = gd_plan_add_argument(launch), *from = NULL;
    int code =
        read_stretch(source->node, plan, "to", source->to, "to_offset", source->to_offset, target);
    if (code != 0)
        return code;
    from = gd_plan_add_argument(launch);
    target = &launch->arguments[0];
    code = read_stretch(source->node, plan, "from", source->from, "from_offset",
                        source->from_offset, from);
    if (code != 0)
        return code;
    const gd_plan_buffer *a = &plan->buffers[from->buffer], *b = &plan->buffers[target->buffer];
    if (a->type != b->type)
        return gd_message_error_at(source->node->place,
                                   "'%s' has elements of type %s, '%s' of type %s", a->name,
                                   gd_type_name(a->type), b->name, gd_type_name(b->type));
    uint64_t left = elements_left(plan, from), room = elements_left(plan, target);
    uint64_t most = left < room ? left : room, count = left;
    if (source->count != NULL)
        code = read_whole(source->node, "count", source->count, 1, most, &count);
    else if (left > room)
        code = gd_message_error_at(
            source->node->place, "%llu elements of '%s' do not fit into the %llu of '%s'",
            (unsigned long long)left, a->name, (unsigned long long)room, b->name);
    if (code == 0 && target->buffer == from->buffer && target->offset < from->offset + count &&
        from->offset < target->offset + count)
        code = gd_message_error_at(source->node->place, "source and target of the copy overlap");
    target->count = from->count = count;
    target->access = GRIDDEP_ACCESS_WRITE;
    from->access = GRIDDEP_ACCESS_READ;
    return code;
}

static int read_fill_entry(const gd_chainfile_fill *source, const gd_plan *plan,
                           gd_plan_launch *launch)
{
    gd_plan_argument *target = gd_plan_add_argument(launch);
    uint64_t value = 0;
    int code = read_stretch(source->node, plan, "buffer", source->buffer, "offset", source->offset,
                            target);
    if (code != 0)
        return code;
    target->count = elements_left(plan, target);
    target->access = GRIDDEP_ACCESS_WRITE;
    if (source->count != NULL)
        code = read_whole(source->node, "count", source->count, 1, target->count, &target->count);
    if (code == 0)
        code = read_whole(source->node, "value", source->value, 0, UINT8_MAX, &value);
    launch->value = (uint8_t)value;
    return code;
}

static int read_move(const gd_chainfile_launch *source, gd_plan *plan)
{
    gd_plan_launch *launch = gd_plan_add_launch(plan);
    launch->node = source->copy != NULL ? GRIDDEP_GRAPH_NODE_COPY : GRIDDEP_GRAPH_NODE_FILL;
    launch->kernel = gd_heap_string(source->copy != NULL ? "copy" : "fill");
    launch->place = source->node->place;
    if (source->module != NULL || source->grid_count + source->block_count > 0 ||
        source->cluster_count + source->grids_count + source->carveouts_count > 0 ||
        source->arguments_count > 0 || source->reaches != NULL ||
        source->cluster_scheduling != NULL || source->carveout != NULL || source->shared != NULL ||
        source->pdl != NULL || source->reference != NULL || source->states_count > 0)
        return gd_message_error_at(launch->place, "%s", move_fields);
    int code = read_names(source, plan);
    if (code == 0)
        code = read_after(source, plan);
    if (code != 0)
        return code;
    return source->copy != NULL ? read_copy(source->copy, plan, launch)
                                : read_fill_entry(source->fill, plan, launch);
}

/* ---- launches of kernels */

/* One of kernel, copy and fill; a kernel needs a shape. */
static int check_entry(const gd_chainfile_launch *source)
{
    int given = (source->kernel != NULL) + (source->copy != NULL) + (source->fill != NULL);
    if (given == 0)
        return gd_message_error_at(source->node->place, "launches needs the field 'kernel'");
    if (given > 1)
        return gd_message_error_at(source->node->place,
                                   "an entry has one of 'kernel', 'copy' and 'fill'");
    if (source->kernel != NULL && source->grid_count == 0)
        return gd_message_error_at(source->node->place, "launches needs the field 'grid'");
    if (source->kernel != NULL && source->block_count == 0)
        return gd_message_error_at(source->node->place, "launches needs the field 'block'");
    return 0;
}

/* Traits belong to a kernel: all its launches say the same of them. The launch is the plan's
 * last. */
static int read_states(const gd_chainfile_launch *source, const gd_plan *plan)
{
    static const char *const choices[] = {"waits", "waits_always", "triggers"};
    static const uint32_t values[] = {GRIDDEP_TRAIT_WAITS,
                                      GRIDDEP_TRAIT_WAITS | GRIDDEP_TRAIT_WAITS_ALWAYS,
                                      GRIDDEP_TRAIT_TRIGGERS};
    gd_plan_launch *launch = &plan->launches[plan->launch_count - 1];
    size_t choice = 0;
    int code = 0;
    for (uint32_t i = 0; i < source->states_count && code == 0; i++) {
        code = read_word(source->node, "states", source->states[i], choices, 3, &choice);
        launch->states |= code == 0 ? values[choice] : 0;
    }
    const gd_plan_launch *first = plan->launches; /* of the kernel */
    while (first != launch && (!gd_plan_is_kernel(first) || first->module != launch->module ||
                               strcmp(first->kernel, launch->kernel) != 0))
        first++;
    if (code == 0 && first->states != launch->states)
        code = gd_message_error_at(
            source->states_count > 0 ? gd_yaml_place(source->node, "states") : launch->place,
            "all launches of '%s' have the same 'states': they are of the kernel", launch->kernel);
    return code;
}

/* Buffers with what the launch does to them. */
static int read_reaches(const gd_chainfile_launch *source, const gd_plan *plan,
                        gd_plan_launch *launch)
{
    int code = 0;
    if (source->reaches != NULL)
        launch->reaches = gd_heap_take(source->reaches_count, sizeof(*launch->reaches));
    for (uint32_t i = 0; i < source->reaches_count && code == 0; i++) {
        const gd_chainfile_argument *given = &source->reaches[i];
        if (given->buffer == NULL || given->access == NULL || given->as != NULL ||
            given->tensor_map != NULL)
            return gd_message_error_at(
                given->node->place,
                "an entry of reaches is a buffer with an access: {buffer: x, access: update}");
        code = read_argument(plan, given, &launch->reaches[launch->reach_count++]);
    }
    return code;
}

static int read_launch(const gd_chainfile_launch *source, gd_plan *plan)
{
    size_t choice = 0;
    uint32_t module = 0;
    int code = check_entry(source);
    if (code != 0 || source->kernel == NULL)
        return code != 0 ? code : read_move(source, plan);
    code = find_module(plan, source, &module);
    if (code != 0)
        return code;
    gd_plan_launch *launch = gd_plan_add_launch(plan);
    launch->kernel = gd_heap_string(source->kernel);
    launch->module = module;
    launch->place = source->node->place;
    code = read_names(source, plan);
    if (code == 0)
        code = read_after(source, plan);
    if (code == 0)
        code = read_shapes(source, launch);
    if (code == 0)
        code = read_grids(source, launch);
    if (code == 0)
        code = read_carveouts(source, launch);
    if (code == 0 && source->pdl != NULL) {
        code = read_word(source->node, "pdl", source->pdl, gd_plan_pdl_names, 3, &choice);
        launch->config.pdl = GRIDDEP_PDL_AUTO + (int32_t)choice;
    }
    if (code == 0)
        code = read_states(source, plan);
    if (code == 0)
        code = read_reference(source, launch);
    for (uint32_t i = 0; i < source->arguments_count && code == 0; i++)
        code = read_argument(plan, &source->arguments[i], gd_plan_add_argument(launch));
    return code == 0 ? read_reaches(source, plan, launch) : code;
}

/* ---- expectations ---- */

/* How far a chain's result may be from the float64 reference when the file does not say: a few
 * roundings of the type. */
static double usual_tolerance(gd_type type)
{
    const char *name = gd_type_name(type);
    return strcmp(name, "bf16") == 0  ? 2e-2
           : strcmp(name, "f16") == 0 ? 2e-3
           : strcmp(name, "f32") == 0 ? 1e-5
           : strcmp(name, "f64") == 0 ? 1e-12
                                      : -1.0;
}

static int read_bound(const gd_yaml_node *node, const char *field, const char *text, double *bound)
{
    long double value = 0.0L;
    if (text == NULL)
        return 0;
    if (!is_decimal(text) || (value = strtold(text, NULL)) < 0)
        return gd_message_error_at(gd_yaml_place(node, field),
                                   "%s is a number of at least 0, not '%s'", field, text);
    if (!fits(GD_TYPE_f64, value))
        return does_not_fit(node, field, text, GD_TYPE_f64);
    *bound = (double)value;
    return 0;
}

static int read_expected_file(const gd_yaml_node *node, const char *file,
                              const gd_plan_buffer *buffer, gd_plan_expectation *expectation)
{
    gd_plan_buffer probe = {.type = buffer->type, .count = buffer->count};
    int code = read_buffer_file(node, file, &probe);
    expectation->from = GD_EXPECTED_FILE;
    expectation->file = probe.fill;
    return code;
}

static int read_expected_from(const gd_yaml_node *node, const char *from,
                              gd_plan_expectation *expectation)
{
    static const char *const words[] = {"reference", "serial"};
    size_t index = 0;
    int code = read_word(node, "from", from, words, 2, &index);
    expectation->from = index == 0 ? GD_EXPECTED_REFERENCE : GD_EXPECTED_SERIAL;
    return code;
}

static int read_expectation(const gd_chainfile_expectation *source, gd_plan *plan)
{
    gd_plan_expectation *expectation = gd_plan_add_expectation(plan);
    expectation->tolerance = expectation->absolute = -1.0;
    expectation->place = source->node->place;
    if ((source->file != NULL) == (source->from != NULL))
        return gd_message_error_at(expectation->place,
                                   "an expectation needs either 'file' or 'from'");
    int code = find_buffer(source->node, plan, source->buffer, &expectation->buffer);
    if (code != 0)
        return code;
    const gd_plan_buffer *buffer = &plan->buffers[expectation->buffer];
    code = source->file != NULL
               ? read_expected_file(source->node, source->file, buffer, expectation)
               : read_expected_from(source->node, source->from, expectation);
    if (code == 0)
        code = read_bound(source->node, "tolerance", source->tolerance, &expectation->tolerance);
    if (code == 0)
        code = read_bound(source->node, "absolute", source->absolute, &expectation->absolute);
    if (expectation->from == GD_EXPECTED_REFERENCE && source->tolerance == NULL &&
        source->absolute == NULL)
        expectation->tolerance = usual_tolerance(buffer->type);
    return code;
}

bool gd_planfile_is(const char *path)
{
    return gd_hostfile_has_ending(path, ".yaml") || gd_hostfile_has_ending(path, ".yml");
}

/* Without a name of its own a chain is called as its file, "decode" of "chains/decode.yaml". */
static int read_name(const gd_chainfile *chainfile, gd_plan *plan)
{
    const char *path = chainfile->node->place.file, *slash = strrchr(path, '/');
    const char *file = slash != NULL ? slash + 1 : path;
    const size_t length = gd_planfile_is(file) ? (size_t)(strrchr(file, '.') - file) : strlen(file);
    if (chainfile->name != NULL && chainfile->name[0] == '\0')
        return gd_message_error_at(gd_yaml_place(chainfile->node, "name"), "name is empty");
    plan->name = chainfile->name != NULL ? gd_heap_string(chainfile->name)
                                         : gd_heap_format("%.*s", (int)length, file);
    return 0;
}

int gd_planfile_read(const gd_chainfile *chainfile, gd_plan *plan)
{
    int code = read_name(chainfile, plan);
    if (code == 0 && chainfile->bytes != NULL)
        code = read_whole(chainfile->node, "bytes", chainfile->bytes, 1, UINT64_MAX / 16,
                          &plan->step_bytes);
    for (uint32_t i = 0; i < chainfile->modules_count && code == 0; i++)
        code = read_module(&chainfile->modules[i], plan);
    for (uint32_t i = 0; i < chainfile->buffers_count && code == 0; i++)
        code = read_buffer(&chainfile->buffers[i], plan);
    for (uint32_t i = 0; i < chainfile->launches_count && code == 0; i++)
        code = read_launch(&chainfile->launches[i], plan);
    for (uint32_t i = 0; i < chainfile->expect_count && code == 0; i++)
        code = read_expectation(&chainfile->expect[i], plan);
    if (code == 0)
        gd_plan_finish(plan);
    return code;
}

int gd_planfile_load(const char *path, gd_plan *plan)
{
    gd_yaml yaml = {0};
    gd_chainfile *chainfile = NULL;
    int code = gd_chainfile_load(path, &yaml, &chainfile);
    if (code == 0)
        code = gd_planfile_read(chainfile, plan);
    gd_chainfile_free(chainfile);
    gd_yaml_free(&yaml);
    return code;
}
