/* User objects: counted references to something of the program's, which graphs may own. The last
 * one calls the program's destructor. */
#ifndef GD_EMULATOR_SCHEDULE_USER_OBJECT_H
#define GD_EMULATOR_SCHEDULE_USER_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda/abi.h"
#include "emulator/schedule/object.h"

typedef struct gd_user_object {
    gd_object object;
    gd_CUhostFn *destroy;
    void *user;
    uint64_t references;
} gd_user_object;

/* What a graph, or an executable, owns. */
typedef struct gd_user_reference {
    gd_user_object *object;
    uint64_t count;
} gd_user_reference;

typedef struct gd_user_list {
    gd_user_reference *list;
    uint32_t count, capacity;
} gd_user_list;

/* Gives references up. */
void gd_user_object_release(gd_user_object *object, uint64_t count);

/* The list's references to an object; NULL. */
gd_user_reference *gd_user_list_find(gd_user_list *list, const gd_user_object *object);

/* References that are counted already become the list's; false when memory runs out. */
bool gd_user_list_take(gd_user_list *list, gd_user_object *object, uint64_t count);

/* Adds as many references as another list has; false when memory runs out, with some of them
 * added. */
bool gd_user_list_add(gd_user_list *list, const gd_user_list *more);

/* Gives all references up. */
void gd_user_list_free(gd_user_list *list);

#endif
