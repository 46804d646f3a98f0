/* The schema of chain files for libcyaml, and libcyaml's complaints turned into messages with positions and
 * suggestions.
 *
 * Scalars are taken as text: libcyaml wraps negative numbers into unsigned ones and stops at the first letter behind a
 * number, and the plan wants to say more about a bad value anyway. */
#include "cli/chainfile.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cyaml/cyaml.h>

#include "cli/heap.h"
#include "cli/suggest.h"

#define TEXT(type, member)                                                                                             \
    CYAML_FIELD_STRING_PTR(#member, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, type, member, 0, CYAML_UNLIMITED)
#define NEEDED_TEXT(type, member) CYAML_FIELD_STRING_PTR(#member, CYAML_FLAG_POINTER, type, member, 1, CYAML_UNLIMITED)
#define LIST(type, member, entry, least, most)                                                                         \
    CYAML_FIELD_SEQUENCE(#member, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, type, member, entry, least, most)

enum {
    MOST_MODULES = 256,
    MOST_BUFFERS = 16384,
    MOST_LAUNCHES = 16384,
    MOST_ARGUMENTS = 1024,
    MOST_GRIDS = 64,
    MOST_CARVEOUTS = 64,
    MOST_RANK = 5
};

static const cyaml_schema_value_t text_schema = {CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 0, CYAML_UNLIMITED)};

static const cyaml_schema_field_t module_fields[] = {
    NEEDED_TEXT(gd_chainfile_module, name), TEXT(gd_chainfile_module, file), TEXT(gd_chainfile_module, shelf),
    LIST(gd_chainfile_module, options, &text_schema, 0, MOST_ARGUMENTS), CYAML_FIELD_END};

static const cyaml_schema_value_t module_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, gd_chainfile_module, module_fields)};

static const cyaml_schema_field_t random_fields[] = {TEXT(gd_chainfile_random, seed),
                                                     TEXT(gd_chainfile_random, distribution),
                                                     TEXT(gd_chainfile_random, low),
                                                     TEXT(gd_chainfile_random, high),
                                                     TEXT(gd_chainfile_random, mean),
                                                     TEXT(gd_chainfile_random, deviation),
                                                     CYAML_FIELD_END};

static const cyaml_schema_field_t sequence_fields[] = {TEXT(gd_chainfile_sequence, start),
                                                       TEXT(gd_chainfile_sequence, step), CYAML_FIELD_END};

static const cyaml_schema_field_t buffer_fields[] = {
    NEEDED_TEXT(gd_chainfile_buffer, name),
    NEEDED_TEXT(gd_chainfile_buffer, type),
    NEEDED_TEXT(gd_chainfile_buffer, count),
    TEXT(gd_chainfile_buffer, constant),
    CYAML_FIELD_MAPPING_PTR("random", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, gd_chainfile_buffer, random,
                            random_fields),
    CYAML_FIELD_MAPPING_PTR("sequence", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, gd_chainfile_buffer, sequence,
                            sequence_fields),
    TEXT(gd_chainfile_buffer, file),
    CYAML_FIELD_END};

static const cyaml_schema_value_t buffer_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, gd_chainfile_buffer, buffer_fields)};

static const cyaml_schema_field_t tensor_fields[] = {
    CYAML_FIELD_SEQUENCE("dimensions", CYAML_FLAG_POINTER, gd_chainfile_tensor, dimensions, &text_schema, 1, MOST_RANK),
    LIST(gd_chainfile_tensor, strides, &text_schema, 0, MOST_RANK - 1),
    CYAML_FIELD_SEQUENCE("box", CYAML_FLAG_POINTER, gd_chainfile_tensor, box, &text_schema, 1, MOST_RANK),
    LIST(gd_chainfile_tensor, steps, &text_schema, 1, MOST_RANK),
    TEXT(gd_chainfile_tensor, interleave),
    TEXT(gd_chainfile_tensor, swizzle),
    TEXT(gd_chainfile_tensor, promotion),
    TEXT(gd_chainfile_tensor, fill),
    CYAML_FIELD_END};

static const cyaml_schema_field_t argument_fields[] = {
    TEXT(gd_chainfile_argument, buffer),
    TEXT(gd_chainfile_argument, offset),
    TEXT(gd_chainfile_argument, access),
    TEXT(gd_chainfile_argument, as),
    CYAML_FIELD_MAPPING_PTR("tensor_map", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, gd_chainfile_argument, tensor_map,
                            tensor_fields),
#define FIELD(type) TEXT(gd_chainfile_argument, type),
    GD_TYPES(FIELD)
#undef FIELD
        CYAML_FIELD_END};

static const cyaml_schema_value_t argument_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, gd_chainfile_argument, argument_fields)};

static const cyaml_schema_field_t launch_fields[] = {
    NEEDED_TEXT(gd_chainfile_launch, kernel),
    TEXT(gd_chainfile_launch, module),
    CYAML_FIELD_SEQUENCE("grid", CYAML_FLAG_POINTER, gd_chainfile_launch, grid, &text_schema, 1, 3),
    CYAML_FIELD_SEQUENCE("block", CYAML_FLAG_POINTER, gd_chainfile_launch, block, &text_schema, 1, 3),
    LIST(gd_chainfile_launch, cluster, &text_schema, 1, 3),
    TEXT(gd_chainfile_launch, cluster_scheduling),
    TEXT(gd_chainfile_launch, shared),
    TEXT(gd_chainfile_launch, pdl),
    TEXT(gd_chainfile_launch, reference),
    TEXT(gd_chainfile_launch, name),
    TEXT(gd_chainfile_launch, lane),
    LIST(gd_chainfile_launch, after, &text_schema, 1, MOST_LAUNCHES),
    LIST(gd_chainfile_launch, grids, &text_schema, 1, MOST_GRIDS),
    TEXT(gd_chainfile_launch, carveout),
    LIST(gd_chainfile_launch, carveouts, &text_schema, 1, MOST_CARVEOUTS),
    LIST(gd_chainfile_launch, arguments, &argument_schema, 0, MOST_ARGUMENTS),
    CYAML_FIELD_END};

static const cyaml_schema_value_t launch_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, gd_chainfile_launch, launch_fields)};

static const cyaml_schema_field_t expectation_fields[] = {
    NEEDED_TEXT(gd_chainfile_expectation, buffer), TEXT(gd_chainfile_expectation, file),
    TEXT(gd_chainfile_expectation, from),          TEXT(gd_chainfile_expectation, tolerance),
    TEXT(gd_chainfile_expectation, absolute),      CYAML_FIELD_END};

static const cyaml_schema_value_t expectation_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, gd_chainfile_expectation, expectation_fields)};

static const cyaml_schema_field_t chain_fields[] = {
    NEEDED_TEXT(gd_chainfile, name),
    TEXT(gd_chainfile, bytes),
    LIST(gd_chainfile, modules, &module_schema, 0, MOST_MODULES),
    LIST(gd_chainfile, buffers, &buffer_schema, 0, MOST_BUFFERS),
    CYAML_FIELD_SEQUENCE("launches", CYAML_FLAG_POINTER, gd_chainfile, launches, &launch_schema, 1, MOST_LAUNCHES),
    LIST(gd_chainfile, expect, &expectation_schema, 0, MOST_BUFFERS),
    CYAML_FIELD_END};

static const cyaml_schema_value_t chain_schema = {CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, gd_chainfile, chain_fields)};

/* What libcyaml said: its first message, and the fields that it was in, innermost first. */
typedef struct gd_complaint {
    char problem[256];
    char fields[8][64];
    size_t field_count;
    bool began_with_field; /* the innermost line names a field, not an entry or a map */
    gd_place deepest;      /* of the innermost line of the backtrace */
    gd_place entry;        /* of the innermost list entry or map */
} gd_complaint;

static void read_backtrace_line(gd_complaint *complaint, const char *line)
{
    const char *position = strstr(line, "(line: ");
    unsigned row = 0, column = 0;
    if (position == NULL || sscanf(position, "(line: %u, column: %u)", &row, &column) != 2)
        return;
    gd_place place = {.line = row, .column = column};
    char field[64];
    bool is_field = sscanf(line, "  in mapping field '%63[^']'", field) == 1;
    if (complaint->deepest.line == 0) {
        complaint->deepest = place;
        complaint->began_with_field = is_field;
    }
    if (is_field) {
        if (complaint->field_count < 8)
            memcpy(complaint->fields[complaint->field_count++], field, sizeof(field));
    } else if (complaint->entry.line == 0 && strncmp(line, "  in sequence entry", 19) == 0) {
        complaint->entry = place;
    }
}

static void hear_complaint(cyaml_log_t level, void *context, const char *format, va_list arguments)
{
    gd_complaint *complaint = context;
    char line[512];
    vsnprintf(line, sizeof(line), format, arguments);
    line[strcspn(line, "\n")] = '\0';
    if (level < CYAML_LOG_ERROR)
        return;
    const char *text = strncmp(line, "Load: ", 6) == 0 ? line + 6 : line;
    if (strcmp(text, "Backtrace:") == 0)
        return;
    if (complaint->problem[0] == '\0' && strncmp(text, "  in ", 5) != 0)
        snprintf(complaint->problem, sizeof(complaint->problem), "%.255s", text);
    else
        read_backtrace_line(complaint, line);
}

/* The fields of the map that the problem is in, found by walking the schema from the root. `innermost` is the number of
 * innermost fields to leave out of the walk. */
static const cyaml_schema_field_t *allowed_fields(const gd_complaint *complaint, size_t innermost, const char **map)
{
    const cyaml_schema_value_t *schema = &chain_schema;
    *map = "a chain file";
    for (size_t i = complaint->field_count; i-- > innermost;) {
        const cyaml_schema_field_t *field = schema->mapping.fields;
        while (field->key != NULL && strcmp(field->key, complaint->fields[i]) != 0)
            field++;
        const cyaml_schema_value_t *inner = NULL;
        if (field->key != NULL && field->value.type == CYAML_MAPPING)
            inner = &field->value;
        if (field->key != NULL && field->value.type == CYAML_SEQUENCE &&
            field->value.sequence.entry->type == CYAML_MAPPING)
            inner = field->value.sequence.entry;
        if (inner == NULL)
            break;
        schema = inner;
        *map = field->key;
    }
    return schema->mapping.fields;
}

static int explain_unknown_field(const gd_yaml *yaml, const gd_complaint *complaint, const char *key)
{
    const char *names[32];
    size_t count = 0;
    const char *map = NULL;
    const cyaml_schema_field_t *field = allowed_fields(complaint, 0, &map);
    for (; field->key != NULL && count < 32; field++)
        names[count++] = field->key;
    char *suggestion = gd_suggest_text(key, names, count);
    char *list = gd_suggest_list(names, count);
    gd_place place = gd_yaml_key_behind(yaml, key, complaint->deepest);
    place.file = yaml->file;
    int code = gd_message_error_at(place, "%s has no field '%s'%s%s fields: %s", map, key, suggestion,
                                   suggestion[0] != '\0' ? "" : ";", list);
    free(suggestion);
    free(list);
    return code;
}

/* Where libcyaml misses a field it has read the map to its end, and still names the last field that it read there. */
static int explain_missing_field(const gd_yaml *yaml, const gd_complaint *complaint, const char *key)
{
    const char *map = NULL;
    allowed_fields(complaint, complaint->began_with_field, &map);
    gd_place place = gd_yaml_place(yaml, "");
    if (complaint->entry.line > 0) {
        place.line = complaint->entry.line;
        place.column = complaint->entry.column;
    }
    return gd_message_error_at(place, "%s needs the field '%s'", map, key);
}

static int explain_kind(gd_place place, bool is_entry, const char *field, const char *problem)
{
    bool list = strstr(problem, "SEQUENCE,") != NULL, map = strstr(problem, "MAPPING,") != NULL;
    return gd_message_error_at(place, "%s%s must be %s", is_entry ? "an entry of " : "", field,
                               list  ? "a list: [ ... ], or lines that begin with '- '"
                               : map ? "a map of fields: {field: value}, or lines 'field: value'"
                                     : "one value");
}

/* The rest behind `start`, or NULL where the text does not begin with it. */
static const char *behind(const char *text, const char *start)
{
    size_t length = strlen(start);
    return strncmp(text, start, length) == 0 ? text + length : NULL;
}

/* What a complaint says in the words of the chain file's documentation. */
static int explain_complaint(const gd_yaml *yaml, const gd_complaint *complaint, cyaml_err_t status)
{
    const char *problem = complaint->problem[0] != '\0' ? complaint->problem : cyaml_strerror(status);
    const char *field = complaint->field_count > 0 ? complaint->fields[0] : "the file", *key = NULL;
    gd_place place = complaint->deepest;
    unsigned most = 0;
    place.file = yaml->file;
    if ((key = behind(problem, "Unexpected key: ")) != NULL)
        return explain_unknown_field(yaml, complaint, key);
    if ((key = behind(problem, "Missing required mapping field: ")) != NULL)
        return explain_missing_field(yaml, complaint, key);
    if ((key = behind(problem, "Mapping field already seen: ")) != NULL)
        return gd_message_error_at(gd_yaml_key_behind(yaml, key, place), "'%s' is given twice", key);
    if (behind(problem, "Expecting ") != NULL)
        return explain_kind(place, complaint->entry.line > 0 && !complaint->began_with_field, field, problem);
    if (sscanf(problem, "Excessive entries (%u max)", &most) == 1)
        return gd_message_error_at(place, "%s has too many entries: at most %u", field, most);
    if (behind(problem, "Insufficient entries") != NULL || status == CYAML_ERR_STRING_LENGTH_MIN)
        return gd_message_error_at(place, "%s is empty", field);
    return gd_message_error_at(place, "%s: %s", field, problem);
}

static cyaml_config_t reader_config(gd_complaint *complaint)
{
    return (cyaml_config_t){.log_fn = hear_complaint,
                            .log_ctx = complaint,
                            .mem_fn = cyaml_mem,
                            .log_level = CYAML_LOG_ERROR,
                            .flags = CYAML_CFG_NO_ALIAS};
}

int gd_chainfile_load(const char *path, gd_yaml *yaml, gd_chainfile **chainfile)
{
    int code = gd_yaml_load(yaml, path);
    if (code != 0)
        return code;
    gd_complaint complaint = {0};
    cyaml_config_t config = reader_config(&complaint);
    cyaml_data_t *data = NULL;
    cyaml_err_t status = cyaml_load_data((const uint8_t *)yaml->text, yaml->bytes, &config, &chain_schema, &data, NULL);
    if (status == CYAML_ERR_OOM)
        return gd_message_error(GD_EXIT_REFUSED, "the host has no memory left");
    if (status != CYAML_OK)
        return explain_complaint(yaml, &complaint, status);
    if (data == NULL)
        return gd_message_error_at((gd_place){path, 0, 0}, "the file is empty; a chain file begins with 'name:'");
    *chainfile = data;
    return 0;
}

char *gd_chainfile_print(const gd_chainfile *chainfile, const char *head)
{
    gd_complaint complaint = {0};
    cyaml_config_t config = reader_config(&complaint);
    config.flags |= CYAML_CFG_STYLE_BLOCK;
    char *text = NULL;
    size_t bytes = 0;
    cyaml_err_t status = cyaml_save_data(&text, &bytes, &config, &chain_schema, chainfile, 0);
    if (status != CYAML_OK) {
        gd_message_error(GD_EXIT_REFUSED, "the chain file cannot be written: %s", cyaml_strerror(status));
        return NULL;
    }
    char *all = gd_heap_format("%s%.*s", head, (int)bytes, text);
    config.mem_fn(config.mem_ctx, text, 0);
    return all;
}

void gd_chainfile_free(gd_chainfile *chainfile)
{
    gd_complaint complaint = {0};
    cyaml_config_t config = reader_config(&complaint);
    if (chainfile != NULL)
        cyaml_free(&config, &chain_schema, chainfile, 0);
}
