/* A chain file as it is written: its fields are known and there, the values are still text.
 * doc/griddep-chain.md describes it, chainfile.def has its fields. */
#ifndef GD_CLI_CHAINFILE_H
#define GD_CLI_CHAINFILE_H

#include <stdint.h>

#include "cli/io/type.h"
#include "cli/io/yaml.h"

/* A struct for each map of the file: a string for each value (NULL where the field is left out), an
 * array and its count for each list. `node` tells where the map stands. */
#define MAP(map)                                                                                   \
    typedef struct gd_chainfile_##map {                                                            \
        const gd_yaml_node *node;
#define TEXT(map, field, needed) char *field;
#define TEXTS(map, field, needed, least, most)                                                     \
    char **field;                                                                                  \
    uint32_t field##_count;
#define INNER(map, field, inner) struct gd_chainfile_##inner *field;
#define INNERS(map, field, needed, least, most, inner)                                             \
    struct gd_chainfile_##inner *field;                                                            \
    uint32_t field##_count;
#define END(map)                                                                                   \
    }                                                                                              \
    gd_chainfile_##map;
/* clang-format off */
#include "cli/plan/chainfile.def"
/* clang-format on */
#undef MAP
#undef TEXT
#undef TEXTS
#undef INNER
#undef INNERS
#undef END

typedef gd_chainfile_chain gd_chainfile;

/* Reads a chain file. `yaml` keeps its text and its positions, which the chain file borrows; both
 * are the caller's to free. Returns 0, or an exit code after a message. */
int gd_chainfile_load(const char *path, gd_yaml *yaml, gd_chainfile **chainfile);

/* The file's text, with `head` in front (comment lines). To free; NULL after a message. */
char *gd_chainfile_print(const gd_chainfile *chainfile, const char *head);

/* Takes NULL. */
void gd_chainfile_free(gd_chainfile *chainfile);

#endif
