/* What attached processes did: their records (base/attached.h), checked, and the images of their
 * modules. */
#ifndef GD_CLI_ATTACHED_H
#define GD_CLI_ATTACHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attached.h"

/* One process. Strings in records end with a zero byte; numbers are not checked. */
typedef struct gd_attached_file {
    char *data; /* the file; the records point into it */
    size_t bytes;
    const gd_attached_process *process;
    const void **records[GD_ATTACHED_KINDS];
    uint32_t counts[GD_ATTACHED_KINDS];
    struct gd_attached_image *images;   /* of the modules */
    struct gd_attached_image *contents; /* of memory, by record of data */
    struct gd_attached_image *copied;   /* from the host, by record of a launch */
} gd_attached_file;

typedef struct gd_attached_image {
    char *data; /* NULL: not known. A zero byte stands behind its end */
    size_t bytes;
    struct gd_attached_code *code; /* what was found in it; NULL: it was not looked into */
} gd_attached_image;

typedef struct gd_attached_set {
    gd_attached_file *files;
    size_t count;
    char *driver;      /* the driver behind */
    bool privileged;   /* the program gets rights by being started, and was not attached */
    size_t unreadable; /* files that are no records */
} gd_attached_set;

/* Reads all files of records in a folder, and the images of modules whose kernels were launched.
 * Returns 0, or an exit code after a message. */
int gd_attached_read(const char *folder, gd_attached_set *set);
void gd_attached_free(gd_attached_set *set);

/* A record of a kind by its number; NULL: there is none. */
const void *gd_attached_get(const gd_attached_file *file, gd_attached_kind kind, uint32_t number);

#endif
