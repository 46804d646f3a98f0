/* Positions in YAML, from libyaml's document tree. */
#include "cli/yaml.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/hostfile.h"

/* libyaml's document tree costs the square of the depth and of the number of anchors; a chain file needs five levels
 * and no anchor. */
enum { LONGEST_CHAIN_FILE = 16 << 20, DEEPEST_NESTING = 32 };

static gd_place place_of(const gd_yaml *yaml, yaml_mark_t mark)
{
    return (gd_place){.file = yaml->file, .line = (uint32_t)mark.line + 1, .column = (uint32_t)mark.column + 1};
}

static bool is_key(const yaml_node_t *node, const char *word, size_t length)
{
    return node != NULL && node->type == YAML_SCALAR_NODE && node->data.scalar.length == length &&
           memcmp(node->data.scalar.value, word, length) == 0;
}

static yaml_node_t *node_at(const gd_yaml *yaml, int index)
{
    return yaml_document_get_node((yaml_document_t *)&yaml->document, index);
}

/* The child of a node that one step of a path names, or NULL. */
static yaml_node_t *step_into(const gd_yaml *yaml, const yaml_node_t *node, const char *word, size_t length)
{
    if (node->type == YAML_MAPPING_NODE) {
        for (yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++)
            if (is_key(node_at(yaml, pair->key), word, length))
                return node_at(yaml, pair->value);
    } else if (node->type == YAML_SEQUENCE_NODE) {
        size_t index = strtoul(word, NULL, 10);
        if (index < (size_t)(node->data.sequence.items.top - node->data.sequence.items.start))
            return node_at(yaml, node->data.sequence.items.start[index]);
    }
    return NULL;
}

static int syntax_error(const gd_yaml *yaml, const yaml_parser_t *parser)
{
    const char *problem = parser->problem != NULL ? parser->problem : "cannot be read";
    if (parser->error == YAML_READER_ERROR) {
        uint32_t line = 1;
        for (size_t i = 0; i < parser->problem_offset && i < yaml->bytes; i++)
            line += yaml->text[i] == '\n';
        return gd_message_error_at((gd_place){yaml->file, line, 0}, "not valid YAML: %s", problem);
    }
    gd_place place = place_of(yaml, parser->problem_mark);
    if (parser->context != NULL)
        return gd_message_error_at(place, "not valid YAML: %s (%s that began in line %u)", problem, parser->context,
                                   (unsigned)parser->context_mark.line + 1);
    return gd_message_error_at(place, "not valid YAML: %s", problem);
}

/* YAML allows lists and maps as keys; nothing here does. */
static int check_keys(const gd_yaml *yaml)
{
    yaml_node_t *node = NULL;
    for (int index = 1; (node = node_at(yaml, index)) != NULL; index++) {
        if (node->type != YAML_MAPPING_NODE)
            continue;
        for (yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++) {
            yaml_node_t *key = node_at(yaml, pair->key);
            if (key != NULL && key->type != YAML_SCALAR_NODE)
                return gd_message_error_at(place_of(yaml, key->start_mark),
                                           "a field's name is a word, not a list or a map");
        }
    }
    return 0;
}

static int check_single(gd_yaml *yaml, yaml_parser_t *parser)
{
    yaml_document_t next;
    if (yaml_document_get_root_node(&yaml->document) == NULL)
        return gd_message_error_at((gd_place){yaml->file, 0, 0}, "the file is empty; a chain file begins with 'name:'");
    if (!yaml_parser_load(parser, &next))
        return syntax_error(yaml, parser);
    yaml_node_t *root = yaml_document_get_root_node(&next);
    int code = 0;
    if (root != NULL)
        code = gd_message_error_at(place_of(yaml, root->start_mark), "a second YAML document; a chain file has one");
    yaml_document_delete(&next);
    return code;
}

static int check_event(const gd_yaml *yaml, const yaml_event_t *event, uint32_t *depth)
{
    const yaml_char_t *anchor = NULL;
    bool opens = event->type == YAML_SEQUENCE_START_EVENT || event->type == YAML_MAPPING_START_EVENT;
    bool closes = event->type == YAML_SEQUENCE_END_EVENT || event->type == YAML_MAPPING_END_EVENT;
    *depth = *depth + opens - closes;
    if (*depth > DEEPEST_NESTING)
        return gd_message_error_at(place_of(yaml, event->start_mark), "lists and maps are nested more than %d deep",
                                   DEEPEST_NESTING);
    if (event->type == YAML_SCALAR_EVENT)
        anchor = event->data.scalar.anchor;
    else if (event->type == YAML_SEQUENCE_START_EVENT)
        anchor = event->data.sequence_start.anchor;
    else if (event->type == YAML_MAPPING_START_EVENT)
        anchor = event->data.mapping_start.anchor;
    if (anchor != NULL || event->type == YAML_ALIAS_EVENT)
        return gd_message_error_at(place_of(yaml, event->start_mark),
                                   "YAML anchors and aliases (&name, *name) are not accepted in chain files");
    return 0;
}

/* Walks the whole text without building anything. */
static int check_events(const gd_yaml *yaml)
{
    yaml_parser_t parser;
    uint32_t depth = 0;
    int code = 0;
    bool ended = false;
    if (!yaml_parser_initialize(&parser))
        return gd_message_error(GD_EXIT_REFUSED, "the host has no memory left");
    yaml_parser_set_input_string(&parser, (const unsigned char *)yaml->text, yaml->bytes);
    while (code == 0 && !ended) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            code = syntax_error(yaml, &parser);
            break;
        }
        code = check_event(yaml, &event, &depth);
        ended = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return code;
}

/* A line that begins with .version is never YAML. */
static int check_no_ptx(const gd_yaml *yaml)
{
    static const char directive[] = ".version";
    const char *end = yaml->text + yaml->bytes;
    for (const char *at = yaml->text; at != NULL && at < end; at = memchr(at, '\n', (size_t)(end - at))) {
        at += *at == '\n';
        if ((size_t)(end - at) >= sizeof directive && memcmp(at, directive, sizeof directive - 1) == 0)
            return gd_message_error(GD_EXIT_USAGE,
                                    "%s is PTX, and a chain file is wanted, which names it and says how to launch it "
                                    "(man griddep-chain); griddep check and griddep rewrite take PTX",
                                    yaml->file);
    }
    return 0;
}

int gd_yaml_load(gd_yaml *yaml, const char *file)
{
    yaml->file = file;
    int code = gd_hostfile_read(file, LONGEST_CHAIN_FILE, &yaml->text, &yaml->bytes);
    if (code == 0)
        code = check_no_ptx(yaml);
    if (code == 0)
        code = check_events(yaml);
    if (code != 0)
        return code;
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser))
        return gd_message_error(GD_EXIT_REFUSED, "the host has no memory left");
    yaml_parser_set_input_string(&parser, (const unsigned char *)yaml->text, yaml->bytes);
    if (!yaml_parser_load(&parser, &yaml->document)) {
        code = syntax_error(yaml, &parser);
    } else {
        yaml->has_document = 1;
        code = check_single(yaml, &parser);
        if (code == 0)
            code = check_keys(yaml);
    }
    yaml_parser_delete(&parser);
    return code;
}

void gd_yaml_free(gd_yaml *yaml)
{
    if (yaml->has_document)
        yaml_document_delete(&yaml->document);
    free(yaml->text);
    *yaml = (gd_yaml){0};
}

gd_place gd_yaml_place(const gd_yaml *yaml, const char *path)
{
    yaml_node_t *node = yaml_document_get_root_node((yaml_document_t *)&yaml->document);
    for (const char *word = path; node != NULL && *word != '\0';) {
        size_t length = strcspn(word, ".");
        yaml_node_t *inner = step_into(yaml, node, word, length);
        if (inner == NULL)
            break;
        node = inner;
        word += length + (word[length] == '.');
    }
    return node != NULL ? place_of(yaml, node->start_mark) : (gd_place){.file = yaml->file};
}

gd_place gd_yaml_key_behind(const gd_yaml *yaml, const char *key, gd_place position)
{
    gd_place nearest = {0};
    for (int index = 1;; index++) {
        yaml_node_t *node = node_at(yaml, index);
        if (node == NULL)
            break;
        if (node->type != YAML_MAPPING_NODE)
            continue;
        for (yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++) {
            yaml_node_t *name = node_at(yaml, pair->key);
            if (!is_key(name, key, strlen(key)))
                continue;
            gd_place here = place_of(yaml, name->start_mark);
            bool behind = here.line > position.line || (here.line == position.line && here.column >= position.column);
            bool nearer = nearest.line == 0 || here.line < nearest.line ||
                          (here.line == nearest.line && here.column < nearest.column);
            if (behind && nearer)
                nearest = here;
        }
    }
    return nearest.line > 0 ? nearest : position;
}
