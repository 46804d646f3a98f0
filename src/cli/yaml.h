/* A YAML text and where its values stand, so that messages about a value can name its line. */
#ifndef GD_CLI_YAML_H
#define GD_CLI_YAML_H

#include <stddef.h>
#include <stdint.h>

#include <yaml.h>

#include "cli/message.h"

typedef struct gd_yaml {
    const char *file; /* borrowed */
    char *text;
    size_t bytes;
    yaml_document_t document;
    int has_document;
} gd_yaml;

/* Reads and parses a file; one document. Returns 0, or GD_EXIT_USAGE after a message. */
int gd_yaml_load(gd_yaml *yaml, const char *file);

/* Ends what gd_yaml_load began, and takes a zeroed one. */
void gd_yaml_free(gd_yaml *yaml);

/* Position of the value at a path like "launches.2.arguments.0.buffer" (indices from 0), or of the nearest value around
 * it. */
gd_place gd_yaml_place(const gd_yaml *yaml, const char *path);

/* Position of the first key of that name at or behind a position; that position itself where there is none. */
gd_place gd_yaml_key_behind(const gd_yaml *yaml, const char *key, gd_place position);

#endif
