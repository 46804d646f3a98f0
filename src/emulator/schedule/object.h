/* Handles. What the emulator hands out is a number that names a place in one table, with a count of
 * how often that place has been used before: a handle that was made up, was destroyed, or is of
 * another kind is noticed and never followed. */
#ifndef GD_EMULATOR_SCHEDULE_OBJECT_H
#define GD_EMULATOR_SCHEDULE_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

typedef enum gd_object_kind {
    GD_OBJECT_CONTEXT = 1,
    GD_OBJECT_GREEN,
    GD_OBJECT_MODULE,
    GD_OBJECT_FUNCTION,
    GD_OBJECT_LIBRARY,
    GD_OBJECT_KERNEL,
    GD_OBJECT_LINK,
    GD_OBJECT_STREAM,
    GD_OBJECT_EVENT,
    GD_OBJECT_GRAPH,
    GD_OBJECT_NODE,
    GD_OBJECT_EXECUTABLE,
    GD_OBJECT_POOL,
    GD_OBJECT_PHYSICAL,
    GD_OBJECT_USER
} gd_object_kind;

struct gd_context;

/* The first member of whatever has a handle. */
typedef struct gd_object {
    void *handle;               /* NULL: not in the table */
    struct gd_context *context; /* that it ends with; NULL: none */
    gd_object_kind kind;
} gd_object;

/* Gives an object its handle; false when memory runs out. */
bool gd_object_add(gd_object *object, gd_object_kind kind, struct gd_context *context);

/* Takes the handle away; objects without one are let pass. */
void gd_object_remove(gd_object *object);

/* The object of that kind behind a handle, which begins with its gd_object; NULL. */
void *gd_object_find(const void *handle, gd_object_kind kind);

/* Goes through all objects: *place is 0 at first. NULL at the end. Objects may be removed on the
 * way. */
gd_object *gd_object_next(uint32_t *place);

/* At the end of the process: handles that are left mean nothing then. */
void gd_object_free_table(void);

#endif
