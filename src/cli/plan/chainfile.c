/* Chain files: from YAML trees to structs and back, by the table of fields. */
#include "cli/plan/chainfile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "cli/io/heap.h"
#include "cli/io/suggest.h"

typedef enum gd_field_kind { FIELD_TEXT, FIELD_TEXTS, FIELD_MAP, FIELD_MAPS } gd_field_kind;

typedef struct gd_map gd_map;

typedef struct gd_field {
    const char *name;
    gd_field_kind kind;
    bool needed;
    uint32_t least, most;        /* entries of a list */
    size_t offset, count_offset; /* of the members for the field and for its list's length */
    const gd_map *map;           /* of FIELD_MAP and FIELD_MAPS */
} gd_field;

struct gd_map {
    const gd_field *fields;
    size_t field_count, bytes;
};

enum { OPTIONAL = false, NEEDED = true };

/* clang-format off */
#define AT(map, field) offsetof(gd_chainfile_##map, field)
#define MAP(map) static const gd_field map##_fields[] = {
#define TEXT(map, field, needed) {#field, FIELD_TEXT, needed, 0, 0, AT(map, field), 0, NULL},
#define TEXTS(map, field, needed, least, most) \
    {#field, FIELD_TEXTS, needed, least, most, AT(map, field), AT(map, field##_count), NULL},
#define INNER(map, field, inner) \
    {#field, FIELD_MAP, OPTIONAL, 0, 0, AT(map, field), 0, &inner##_map},
#define INNERS(map, field, needed, least, most, inner) \
    {#field, FIELD_MAPS, needed, least, most, AT(map, field), AT(map, field##_count), &inner##_map},
#define END(map) \
    }; \
    static const gd_map map##_map = {map##_fields, sizeof map##_fields / sizeof *map##_fields, \
                                     sizeof(gd_chainfile_##map)};
#include "cli/plan/chainfile.def"
/* clang-format on */

/* ---- reading ---- */

static int read_map(const gd_map *map, const char *name, const gd_yaml_node *node, void *record);

static void *member(void *record, size_t offset)
{
    return (char *)record + offset;
}

static int wrong_kind(const gd_yaml_node *node, const char *name, gd_yaml_kind wanted)
{
    static const char *const shapes[] = {
        [GD_YAML_TEXT] = "one value",
        [GD_YAML_LIST] = "a list: [ ... ], or lines that begin with '- '",
        [GD_YAML_MAP] = "a map of fields: {field: value}, or lines 'field: value'",
    };
    return gd_message_error_at(node->place, "%s%s must be %s",
                               node->key == NULL && name != NULL ? "an entry of " : "",
                               name != NULL ? name : "the file", shapes[wanted]);
}

/* An entry of a list, or the value of a field that has one. */
static int read_one(const gd_field *field, const gd_yaml_node *node, bool is_map, void *into)
{
    if (is_map)
        return read_map(field->map, field->name, node, into);
    if (node->kind != GD_YAML_TEXT)
        return wrong_kind(node, field->name, GD_YAML_TEXT);
    if (field->needed && node->text[0] == '\0' && node->key != NULL)
        return gd_message_error_at(node->place, "%s is empty", field->name);
    *(char **)into = gd_heap_string(node->text);
    return 0;
}

static int read_list(const gd_field *field, const gd_yaml_node *node, void *record)
{
    bool of_maps = field->kind == FIELD_MAPS;
    size_t bytes = of_maps ? field->map->bytes : sizeof(char *);
    if (node->kind != GD_YAML_LIST)
        return wrong_kind(node, field->name, GD_YAML_LIST);
    if (node->count < field->least)
        return gd_message_error_at(node->place, "%s is empty: it needs at least one entry%s",
                                   field->name,
                                   strcmp(field->name, "launches") == 0
                                       ? ", such as - {kernel: NAME, grid: [64], block: [256], "
                                         "arguments: [...]}"
                                       : "");
    char *entries = gd_heap_take(node->count < field->most ? node->count : field->most, bytes);
    uint32_t *count = member(record, field->count_offset);
    *(void **)member(record, field->offset) = entries;
    int code = 0;
    for (const gd_yaml_node *entry = node->first; entry != NULL && code == 0; entry = entry->next) {
        if (*count == field->most)
            return gd_message_error_at(entry->place, "%s has too many entries: at most %u",
                                       field->name, (unsigned)field->most);
        code = read_one(field, entry, of_maps, entries + bytes * (*count)++);
    }
    return code;
}

static int read_field(const gd_field *field, const gd_yaml_node *node, void *record)
{
    void *into = member(record, field->offset);
    if (field->kind == FIELD_TEXTS || field->kind == FIELD_MAPS)
        return read_list(field, node, record);
    if (field->kind == FIELD_MAP)
        into = *(void **)into = gd_heap_take(1, field->map->bytes);
    return read_one(field, node, field->kind == FIELD_MAP, into);
}

static int unknown_field(const gd_map *map, const char *name, const gd_yaml_node *node)
{
    const char **names = gd_heap_take(map->field_count, sizeof *names);
    for (size_t i = 0; i < map->field_count; i++)
        names[i] = map->fields[i].name;
    char *suggestion = gd_suggest_text(node->key, names, map->field_count);
    char *list = gd_suggest_list(names, map->field_count);
    int code = gd_message_error_at(node->key_place, "%s has no field '%s'%s%s fields: %s", name,
                                   node->key, suggestion, suggestion[0] != '\0' ? "" : ";", list);
    free(suggestion);
    free(list);
    free(names);
    return code;
}

static const gd_field *find_field(const gd_map *map, const char *name)
{
    for (size_t i = 0; i < map->field_count; i++)
        if (strcmp(map->fields[i].name, name) == 0)
            return &map->fields[i];
    return NULL;
}

static bool has_field(const gd_yaml_node *from, const gd_yaml_node *end, const char *name)
{
    for (const gd_yaml_node *node = from; node != end; node = node->next)
        if (strcmp(node->key, name) == 0)
            return true;
    return false;
}

/* `name` is that of the field whose value the map is, or an entry of whose value; NULL: it is the
 * file. */
static int read_map(const gd_map *map, const char *name, const gd_yaml_node *node, void *record)
{
    if (node->kind != GD_YAML_MAP)
        return wrong_kind(node, name, GD_YAML_MAP);
    *(const gd_yaml_node **)record = node;
    name = name != NULL ? name : "a chain file";
    for (const gd_yaml_node *value = node->first; value != NULL; value = value->next) {
        const gd_field *field = find_field(map, value->key);
        if (field == NULL)
            return unknown_field(map, name, value);
        if (has_field(node->first, value, value->key))
            return gd_message_error_at(value->key_place, "'%s' is given twice", value->key);
        int code = read_field(field, value, record);
        if (code != 0)
            return code;
    }
    for (size_t i = 0; i < map->field_count; i++)
        if (map->fields[i].needed && !has_field(node->first, NULL, map->fields[i].name))
            return gd_message_error_at(node->place, "%s needs the field '%s'", name,
                                       map->fields[i].name);
    return 0;
}

int gd_chainfile_load(const char *path, gd_yaml *yaml, gd_chainfile **chainfile)
{
    int code = gd_yaml_load(yaml, path);
    if (code != 0)
        return code;
    *chainfile = gd_heap_take(1, sizeof **chainfile);
    return read_map(&chain_map, NULL, yaml->root, *chainfile);
}

/* ---- freeing ---- */

static void free_fields(const gd_map *map, void *record)
{
    for (size_t i = 0; i < map->field_count; i++) {
        const gd_field *field = &map->fields[i];
        char *value = *(char **)member(record, field->offset);
        bool is_list = field->kind == FIELD_TEXTS || field->kind == FIELD_MAPS;
        uint32_t count = is_list ? *(uint32_t *)member(record, field->count_offset) : 1;
        for (uint32_t k = 0; value != NULL && k < count; k++) {
            if (field->map != NULL)
                free_fields(field->map, value + k * field->map->bytes);
            else if (is_list)
                free(((char **)(void *)value)[k]);
        }
        free(value);
    }
}

void gd_chainfile_free(gd_chainfile *chainfile)
{
    if (chainfile != NULL)
        free_fields(&chain_map, chainfile);
    free(chainfile);
}

/* ---- writing ---- */

typedef struct gd_writer {
    yaml_emitter_t emitter;
    char *text;
    size_t bytes;
    bool failed;
} gd_writer;

static int append(void *user, unsigned char *bytes, size_t count)
{
    gd_writer *writer = user;
    writer->text = gd_heap_grow(writer->text, writer->bytes, writer->bytes + count + 1, 1);
    memcpy(writer->text + writer->bytes, bytes, count);
    writer->bytes += count;
    return 1;
}

/* Takes the event over. */
static void emit(gd_writer *writer, int made, yaml_event_t *event)
{
    if (!made || (!writer->failed && !yaml_emitter_emit(&writer->emitter, event)))
        writer->failed = true;
}

static void emit_text(gd_writer *writer, const char *text)
{
    yaml_event_t event;
    int made = yaml_scalar_event_initialize(
        &event, NULL, NULL, (const yaml_char_t *)text, (int)strlen(text), 1, 1,
        gd_yaml_is_null(text) ? YAML_DOUBLE_QUOTED_SCALAR_STYLE : YAML_ANY_SCALAR_STYLE);
    emit(writer, made, &event);
}

static void emit_map(gd_writer *writer, const gd_map *map, void *record);

static void emit_list(gd_writer *writer, const gd_field *field, char *entries, uint32_t count)
{
    yaml_event_t event;
    bool of_maps = field->map != NULL;
    int made = yaml_sequence_start_event_initialize(
        &event, NULL, NULL, 1, of_maps ? YAML_BLOCK_SEQUENCE_STYLE : YAML_FLOW_SEQUENCE_STYLE);
    emit(writer, made, &event);
    for (uint32_t i = 0; i < count; i++) {
        if (of_maps)
            emit_map(writer, field->map, entries + i * field->map->bytes);
        else
            emit_text(writer, ((char **)(void *)entries)[i]);
    }
    emit(writer, yaml_sequence_end_event_initialize(&event), &event);
}

static void emit_map(gd_writer *writer, const gd_map *map, void *record)
{
    yaml_event_t event;
    emit(writer,
         yaml_mapping_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_MAPPING_STYLE),
         &event);
    for (size_t i = 0; i < map->field_count; i++) {
        const gd_field *field = &map->fields[i];
        char *value = *(char **)member(record, field->offset);
        if (value == NULL)
            continue;
        emit_text(writer, field->name);
        if (field->kind == FIELD_TEXT)
            emit_text(writer, value);
        else if (field->kind == FIELD_MAP)
            emit_map(writer, field->map, value);
        else
            emit_list(writer, field, value, *(uint32_t *)member(record, field->count_offset));
    }
    emit(writer, yaml_mapping_end_event_initialize(&event), &event);
}

char *gd_chainfile_print(const gd_chainfile *chainfile, const char *head)
{
    gd_writer writer = {.text = gd_heap_string(head), .bytes = strlen(head)};
    yaml_event_t event;
    if (!yaml_emitter_initialize(&writer.emitter))
        writer.failed = true;
    else {
        yaml_emitter_set_output(&writer.emitter, append, &writer);
        yaml_emitter_set_unicode(&writer.emitter, 1);
        yaml_emitter_set_width(&writer.emitter, -1);
        emit(&writer, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING), &event);
        emit(&writer, yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1), &event);
        emit_map(&writer, &chain_map, (void *)chainfile);
        emit(&writer, yaml_document_end_event_initialize(&event, 1), &event);
        emit(&writer, yaml_stream_end_event_initialize(&event), &event);
        if (!writer.failed && !yaml_emitter_flush(&writer.emitter))
            writer.failed = true;
        yaml_emitter_delete(&writer.emitter);
    }
    if (!writer.failed)
        return writer.text;
    gd_message_error(GD_EXIT_REFUSED, "the chain file cannot be written as YAML");
    free(writer.text);
    return NULL;
}
