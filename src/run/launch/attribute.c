/* Launch attributes by their values: a table says what no device takes. */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "run/launch/attribute_check.h"

/* One value of an attribute, in the order in which they are given. */
typedef struct value_row {
    int32_t id;
    bool is_float;
    size_t offset, bytes;
    int64_t least, most;
    const char *name;
} value_row;

/* For its types and sizes. */
#define NO_VALUE ((gd_CUlaunchAttributeValue *)0)

static const value_row rows[] = {
#define GD_NUMBER(constant, field, name, least, most)                                              \
    {GRIDDEP_ATTRIBUTE_##constant,                                                                 \
     _Generic(NO_VALUE->field, float                                                               \
              : true, default                                                                      \
              : false),                                                                            \
     offsetof(gd_CUlaunchAttributeValue, field),                                                   \
     sizeof NO_VALUE->field,                                                                       \
     (least),                                                                                      \
     (most),                                                                                       \
     (name)},
#include "run/launch/attributes.def"
};

enum { ROWS = sizeof rows / sizeof rows[0] };

/* The first row of an attribute, and how many it has. */
static const value_row *find_rows(int32_t id, uint32_t *count)
{
    const value_row *first = NULL;

    *count = 0;
    for (size_t i = 0; i < ROWS; i++) {
        if (rows[i].id == id) {
            first = first ? first : &rows[i];
            ++*count;
        }
    }
    return first;
}

static int32_t check_count(int32_t id, uint32_t wanted, const int64_t *values, uint32_t count,
                           griddep_error *error)
{
    char name[64];

    if (wanted == count && (values || !count) && (wanted || id == GRIDDEP_ATTRIBUTE_IGNORE))
        return GRIDDEP_OK;
    gd_attribute_name(id, name, sizeof name);
    if (wanted == count && wanted)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "values is NULL");
    if (wanted || id == GRIDDEP_ATTRIBUTE_IGNORE)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "%s: %" PRIu32 " values are given, it has %" PRIu32, name, count,
                            wanted);
    return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                        "%s: the library does not know the values of this attribute", name);
}

static int32_t check_value(const value_row *row, int64_t value, griddep_error *error)
{
    char name[64];

    if (value >= row->least && value <= row->most)
        return GRIDDEP_OK;
    gd_attribute_name(row->id, name, sizeof name);
    if (row->most == INT64_MAX)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "%s: %s is %" PRId64 "; it may be %" PRId64 " or more", name, row->name,
                            value, row->least);
    return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                        "%s: %s is %" PRId64 "; it may be %" PRId64 " to %" PRId64, name, row->name,
                        value, row->least, row->most);
}

/* Clusters have a limit of blocks besides that of each direction. */
static int32_t check_blocks(int32_t id, const int64_t *values, griddep_error *error)
{
    if ((id != GRIDDEP_ATTRIBUTE_CLUSTER_DIMENSION &&
         id != GRIDDEP_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION) ||
        values[0] * values[1] * values[2] <= GD_CHIP_LARGEST_CLUSTER)
        return GRIDDEP_OK;
    return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                        "a cluster of %" PRId64 " x %" PRId64 " x %" PRId64
                        "; it may have 1 to %d blocks",
                        values[0], values[1], values[2], GD_CHIP_LARGEST_CLUSTER);
}

static void write_value(griddep_attribute *attribute, const value_row *row, int64_t value)
{
    const float ratio = (float)((double)value / 1e6);

    memcpy((char *)attribute->value + row->offset, row->is_float ? (const void *)&ratio : &value,
           row->bytes); /* of an integer the low bytes: every host is little endian */
}

int32_t griddep_attribute_set(griddep_attribute *attribute, int32_t id, const int64_t *values,
                              uint32_t count, griddep_error *error)
{
    uint32_t wanted;
    const value_row *row = find_rows(id, &wanted);
    griddep_attribute made = {.id = id};
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!attribute)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "attribute is NULL");
    status = check_count(id, wanted, values, count, error);
    for (uint32_t i = 0; i < count && !status; i++) {
        status = check_value(&row[i], values[i], error);
        if (!status)
            write_value(&made, &row[i], values[i]);
    }
    if (!status)
        status = check_blocks(id, values, error);
    if (!status)
        *attribute = made;
    return status;
}
