/* User objects. Destructors run where the last reference goes, inside of
 * the call that gives it up; like a real driver's they may not call the driver. */
#include <stdlib.h>

#include "emulator/schedule/device.h"
#include "emulator/schedule/user_object.h"

void gd_user_object_release(gd_user_object *object, uint64_t count)
{
    object->references -= count;
    if (object->references)
        return;
    gd_object_remove(&object->object);
    if (gd_the_emulator.ends) { /* the program's code may be gone */
        free(object);
        return;
    }
    gd_call_enter_callback();
    object->destroy(object->user);
    gd_call_leave_callback();
    free(object);
}

gd_user_reference *gd_user_list_find(gd_user_list *list, const gd_user_object *object)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->list[i].object == object)
            return &list->list[i];
    }
    return NULL;
}

bool gd_user_list_take(gd_user_list *list, gd_user_object *object, uint64_t count)
{
    gd_user_reference *reference = gd_user_list_find(list, object);

    if (!reference && list->count == list->capacity) {
        uint32_t capacity = list->capacity ? list->capacity * 2 : 4;
        gd_user_reference *more = realloc(list->list, capacity * sizeof *more);
        if (!more)
            return false;
        list->list = more;
        list->capacity = capacity;
    }
    if (!reference) {
        reference = &list->list[list->count++];
        *reference = (gd_user_reference){.object = object};
    }
    reference->count += count;
    return true;
}

bool gd_user_list_add(gd_user_list *list, const gd_user_list *more)
{
    for (uint32_t i = 0; i < more->count; i++) {
        if (!gd_user_list_take(list, more->list[i].object, more->list[i].count))
            return false;
        more->list[i].object->references += more->list[i].count;
    }
    return true;
}

void gd_user_list_free(gd_user_list *list)
{
    gd_user_list given = *list;

    *list = (gd_user_list){0};
    for (uint32_t i = 0; i < given.count; i++)
        gd_user_object_release(given.list[i].object, given.list[i].count);
    free(given.list);
}
