/* Places in the program, and what lies in memory where. The caller holds the lock. */
#ifndef GD_ATTACH_PLACE_H
#define GD_ATTACH_PLACE_H

#include <stdbool.h>
#include <stdint.h>

/* Records where the caller's caller stands: the number of the place; GD_ATTACHED_NONE. */
uint32_t gd_place_record(void);

/* A file that is mapped at an address, as the loader did it, and where in it that byte stands. */
typedef struct gd_place_file {
    char path[4096];
    uint64_t offset;
} gd_place_file;

bool gd_place_find_file(const void *address, uint64_t bytes, gd_place_file *file);

/* In a child process. */
void gd_place_forget(void);

#endif
