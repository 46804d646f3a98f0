/* Places in a program: addresses become names of functions. */
#ifndef GD_CLI_PLACE_H
#define GD_CLI_PLACE_H

#include <stdint.h>

#include <jansson.h>

/* Symbols of the files that were asked for; to be freed by gd_place_end. All zero is a good one. */
typedef struct gd_place_files {
    struct gd_place_file *list;
    size_t count;
} gd_place_files;

/* "launch+0x1f" of a file and the address in it as the file counts, which is that behind a call;
 * the file's name where it has no symbol for it. An object with function (or null), offset,
 * line (null), file. */
json_t *gd_place_json(gd_place_files *files, const char *path, uint64_t address);
void gd_place_end(gd_place_files *files);

/* The name of a C++ function as people write it, where libstdc++ is there to ask; else as it is. To
 * free. */
char *gd_place_demangle(const char *name);

/* Such a name in so many bytes (at least 40) or little more: without parameters, and with the
 * middle of its template arguments left out. To free. */
char *gd_place_shorten(const char *name, size_t most);

/* The function's own name in it, without namespaces, template arguments and parameters; other names
 * as they are. To free. */
char *gd_place_own_name(const char *name);

#endif
