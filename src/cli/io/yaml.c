/* YAML trees, from libyaml's events: no part of the text is read twice, and nesting is bounded
 * before anything is built of it. */
#include "cli/io/yaml.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "cli/io/heap.h"
#include "cli/io/hostfile.h"

enum { LONGEST_CHAIN_FILE = 16 << 20, DEEPEST_NESTING = 32 };

typedef struct gd_yaml_reader {
    gd_yaml *yaml;
    yaml_parser_t parser;
    gd_yaml_node
        *open[DEEPEST_NESTING]; /* maps and lists that have not ended, the innermost last */
    gd_yaml_node *last[DEEPEST_NESTING]; /* the newest child of each */
    uint32_t depth;
    char *key; /* of the value that comes next, in a map */
    gd_place key_place;
    uint32_t documents;
} gd_yaml_reader;

static gd_place place_of(const gd_yaml_reader *reader, yaml_mark_t mark)
{
    return (gd_place){.file = reader->yaml->file,
                      .line = (uint32_t)mark.line + 1,
                      .column = (uint32_t)mark.column + 1};
}

static int syntax_error(const gd_yaml_reader *reader)
{
    const yaml_parser_t *parser = &reader->parser;
    const char *problem = parser->problem != NULL ? parser->problem : "cannot be read";
    if (parser->error == YAML_MEMORY_ERROR)
        return gd_message_error(GD_EXIT_REFUSED, "the host has no memory left");
    if (parser->error == YAML_READER_ERROR) {
        gd_place place = {reader->yaml->file, 1, 1};
        for (size_t i = 0; i < parser->problem_offset && i < reader->yaml->bytes; i++) {
            bool ends_line = reader->yaml->text[i] == '\n';
            /* a character's further bytes in UTF-8 are no columns */
            bool begins = ((unsigned char)reader->yaml->text[i] & 0xC0) != 0x80;
            place.line += ends_line;
            place.column = ends_line ? 1 : place.column + begins;
        }
        return gd_message_error_at(place, "not valid YAML: %s", problem);
    }
    gd_place place = place_of(reader, parser->problem_mark);
    if (parser->context != NULL)
        return gd_message_error_at(place, "not valid YAML: %s (%s that began in line %u)", problem,
                                   parser->context, (unsigned)parser->context_mark.line + 1);
    return gd_message_error_at(place, "not valid YAML: %s", problem);
}

/* The node of an event that begins a value, at its place in the tree. */
static gd_yaml_node *add_node(gd_yaml_reader *reader, gd_yaml_kind kind, gd_place place)
{
    gd_yaml_node *node = gd_heap_take(1, sizeof *node);
    node->kind = kind;
    node->place = place;
    node->key = reader->key;
    node->key_place = reader->key_place;
    reader->key = NULL;
    if (reader->depth == 0) {
        reader->yaml->root = node;
        return node;
    }
    gd_yaml_node *parent = reader->open[reader->depth - 1],
                 *before = reader->last[reader->depth - 1];
    if (before != NULL)
        before->next = node;
    else
        parent->first = node;
    reader->last[reader->depth - 1] = node;
    parent->count++;
    return node;
}

static bool wants_key(const gd_yaml_reader *reader)
{
    return reader->depth > 0 && reader->open[reader->depth - 1]->kind == GD_YAML_MAP &&
           reader->key == NULL;
}

static int read_collection(gd_yaml_reader *reader, gd_yaml_kind kind, gd_place place)
{
    if (reader->depth == DEEPEST_NESTING)
        return gd_message_error_at(place, "lists and maps are nested more than %d deep",
                                   DEEPEST_NESTING);
    if (wants_key(reader))
        return gd_message_error_at(place, "a field's name is a word, not a list or a map");
    gd_yaml_node *node = add_node(reader, kind, place);
    reader->last[reader->depth] = NULL;
    reader->open[reader->depth++] = node;
    return 0;
}

bool gd_yaml_is_null(const char *text)
{
    static const char *const words[] = {"~", "null", "Null", "NULL"};
    bool found = false;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        found |= strcmp(text, words[i]) == 0;
    return found;
}

static int read_text(gd_yaml_reader *reader, const yaml_event_t *event, gd_place place)
{
    const char *text = (const char *)event->data.scalar.value;
    for (size_t i = 0; i < event->data.scalar.length; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7F)
            return gd_message_error_at(place, "a text has the control character 0x%02X in it",
                                       (unsigned)(unsigned char)text[i]);
    if (event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && gd_yaml_is_null(text))
        return gd_message_error_at(place,
                                   "%s is YAML's word for no value; leave the field out, or "
                                   "write '%s' in quotes",
                                   text, text);
    if (wants_key(reader)) {
        reader->key = gd_heap_string(text);
        reader->key_place = place;
    } else {
        add_node(reader, GD_YAML_TEXT, place)->text = gd_heap_string(text);
    }
    return 0;
}

static bool has_anchor(const yaml_event_t *event)
{
    return event->type == YAML_ALIAS_EVENT ||
           (event->type == YAML_SCALAR_EVENT && event->data.scalar.anchor != NULL) ||
           (event->type == YAML_SEQUENCE_START_EVENT &&
            event->data.sequence_start.anchor != NULL) ||
           (event->type == YAML_MAPPING_START_EVENT && event->data.mapping_start.anchor != NULL);
}

static bool has_tag(const yaml_event_t *event)
{
    return (event->type == YAML_SCALAR_EVENT && event->data.scalar.tag != NULL) ||
           (event->type == YAML_SEQUENCE_START_EVENT && event->data.sequence_start.tag != NULL) ||
           (event->type == YAML_MAPPING_START_EVENT && event->data.mapping_start.tag != NULL);
}

static int read_event(gd_yaml_reader *reader, const yaml_event_t *event)
{
    gd_place place = place_of(reader, event->start_mark);
    if (has_anchor(event))
        return gd_message_error_at(
            place, "YAML anchors and aliases (&name, *name) are not accepted in chain files");
    if (has_tag(event))
        return gd_message_error_at(place,
                                   "YAML tags (!!str, !name) are not accepted in chain files; "
                                   "a field's name says what its value is");
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (++reader->documents > 1)
            return gd_message_error_at(place, "a second YAML document; a chain file has one");
        return 0;
    case YAML_MAPPING_START_EVENT:
        return read_collection(reader, GD_YAML_MAP, place);
    case YAML_SEQUENCE_START_EVENT:
        return read_collection(reader, GD_YAML_LIST, place);
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
        reader->depth--;
        return 0;
    case YAML_SCALAR_EVENT:
        return read_text(reader, event, place);
    default:
        return 0;
    }
}

static int read_events(gd_yaml_reader *reader)
{
    bool ended = false;
    int code = 0;
    while (code == 0 && !ended) {
        yaml_event_t event;
        if (!yaml_parser_parse(&reader->parser, &event))
            return syntax_error(reader);
        code = read_event(reader, &event);
        ended = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    if (code == 0 && reader->yaml->root == NULL)
        return gd_message_error_at((gd_place){reader->yaml->file, 0, 0},
                                   "the file is empty; a chain file begins with 'name:'");
    return code;
}

/* What users give in place of a chain file. A line that begins with .version is never YAML. */
static int check_no_ptx_or_program(const gd_yaml *yaml)
{
    static const char directive[] = ".version", magic[] = "\177ELF";
    const char *end = yaml->text + yaml->bytes;
    if (yaml->bytes >= sizeof magic && memcmp(yaml->text, magic, sizeof magic - 1) == 0)
        return gd_message_error(GD_EXIT_USAGE,
                                "%s is a program, a library or a cubin, and a chain file is wanted "
                                "(man griddep-chain); the commands that watch programs take one "
                                "after '--'",
                                yaml->file);
    for (const char *at = yaml->text; at != NULL && at < end;
         at = memchr(at, '\n', (size_t)(end - at))) {
        at += *at == '\n';
        if ((size_t)(end - at) >= sizeof directive &&
            memcmp(at, directive, sizeof directive - 1) == 0)
            return gd_message_error(
                GD_EXIT_USAGE,
                "%s is PTX, and a chain file is wanted, which names it and says how to launch it "
                "(man griddep-chain); griddep check and griddep rewrite take PTX",
                yaml->file);
    }
    return 0;
}

int gd_yaml_load(gd_yaml *yaml, const char *file)
{
    gd_yaml_reader reader = {.yaml = yaml};
    yaml->file = file;
    int code = gd_hostfile_read(file, LONGEST_CHAIN_FILE, &yaml->text, &yaml->bytes);
    if (code == 0)
        code = check_no_ptx_or_program(yaml);
    if (code != 0)
        return code;
    if (!yaml_parser_initialize(&reader.parser))
        return gd_message_error(GD_EXIT_REFUSED, "the host has no memory left");
    yaml_parser_set_input_string(&reader.parser, (const unsigned char *)yaml->text, yaml->bytes);
    code = read_events(&reader);
    yaml_parser_delete(&reader.parser);
    free(reader.key);
    return code;
}

static void free_nodes(gd_yaml_node *first)
{
    for (gd_yaml_node *node = first, *next; node != NULL; node = next) {
        next = node->next;
        free_nodes(node->first);
        free(node->key);
        free(node->text);
        free(node);
    }
}

void gd_yaml_free(gd_yaml *yaml)
{
    free_nodes(yaml->root);
    free(yaml->text);
    *yaml = (gd_yaml){0};
}

gd_place gd_yaml_place(const gd_yaml_node *map, const char *key)
{
    for (const gd_yaml_node *node = map->first; node != NULL; node = node->next)
        if (node->key != NULL && strcmp(node->key, key) == 0)
            return node->place;
    return map->place;
}
