/* A YAML text as a tree of maps, lists and texts, each with its position. */
#ifndef GD_CLI_YAML_H
#define GD_CLI_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/io/message.h"

typedef enum gd_yaml_kind { GD_YAML_TEXT, GD_YAML_LIST, GD_YAML_MAP } gd_yaml_kind;

typedef struct gd_yaml_node {
    gd_yaml_kind kind;
    gd_place place;
    char *text; /* of a GD_YAML_TEXT */
    char *key;  /* in a map; else NULL */
    gd_place key_place;
    uint32_t count;                    /* of a list's entries or a map's fields */
    struct gd_yaml_node *first, *next; /* the first of them; the one after this */
} gd_yaml_node;

typedef struct gd_yaml {
    const char *file; /* borrowed */
    char *text;
    size_t bytes;
    gd_yaml_node *root;
} gd_yaml;

/* Reads a file of one document. Returns 0, or an exit code after a message; gd_yaml_free ends it
 * either way. */
int gd_yaml_load(gd_yaml *yaml, const char *file);

/* Takes a zeroed one. */
void gd_yaml_free(gd_yaml *yaml);

/* Whether YAML takes a word for no value where it is not quoted. */
bool gd_yaml_is_null(const char *text);

/* Where the value of a map's field stands; the map itself where it has no such field. */
gd_place gd_yaml_place(const gd_yaml_node *map, const char *key);

#endif
