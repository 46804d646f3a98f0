/* The table of handles. It is of the process, like the driver that is emulated; the driver's lock
 * guards it. */
#include <stdlib.h>
#include <string.h>

#include "emulator/schedule/object.h"

/* A handle is TAG << 56 | uses << 28 | (place + 1) << 4: never NULL, 1 or 2, which name default
 * streams. */
enum { PLACE_SHIFT = 4, USES_SHIFT = 28, TAG_SHIFT = 56, TAG = 0x47, MOST_PLACES = (1 << 24) - 2 };

typedef struct table_place {
    gd_object *object; /* NULL: free */
    uint32_t uses;
    uint32_t next_free; /* place + 1; 0: none */
} table_place;

static struct {
    table_place *places;
    uint32_t count, capacity;
    uint32_t free; /* place + 1; 0: none */
} table;

static void *make_handle(uint32_t index, uint32_t uses)
{
    uint64_t value = (uint64_t)TAG << TAG_SHIFT | (uint64_t)uses << USES_SHIFT |
                     (uint64_t)(index + 1) << PLACE_SHIFT;

    return (void *)(uintptr_t)value;
}

static bool grow(void)
{
    uint32_t capacity = table.capacity ? table.capacity * 2 : 256;

    if (table.count >= MOST_PLACES)
        return false;
    table_place *more = realloc(table.places, capacity * sizeof *more);
    if (!more)
        return false;
    table.places = more;
    table.capacity = capacity;
    return true;
}

static bool take_place(uint32_t *index)
{
    if (table.free) {
        *index = table.free - 1;
        table.free = table.places[*index].next_free;
        return true;
    }
    if (table.count == table.capacity && !grow())
        return false;
    *index = table.count++;
    table.places[*index] = (table_place){0};
    return true;
}

bool gd_object_add(gd_object *object, gd_object_kind kind, struct gd_context *context)
{
    uint32_t index;

    if (!take_place(&index))
        return false;
    table.places[index].object = object;
    table.places[index].uses = (table.places[index].uses + 1) & 0xfffffff;
    *object = (gd_object){
        .handle = make_handle(index, table.places[index].uses), .context = context, .kind = kind};
    return true;
}

void gd_object_remove(gd_object *object)
{
    if (!object->handle)
        return;
    uint32_t index = (uint32_t)((uintptr_t)object->handle >> PLACE_SHIFT & 0xffffff) - 1;
    table.places[index].object = NULL;
    table.places[index].next_free = table.free;
    table.free = index + 1;
    object->handle = NULL;
}

void *gd_object_find(const void *handle, gd_object_kind kind)
{
    uint32_t index = (uint32_t)((uintptr_t)handle >> PLACE_SHIFT & 0xffffff);

    if (index == 0 || index > table.count)
        return NULL;
    gd_object *object = table.places[index - 1].object;
    return object && object->handle == handle && object->kind == kind ? object : NULL;
}

gd_object *gd_object_next(uint32_t *place)
{
    while (*place < table.count) {
        gd_object *object = table.places[(*place)++].object;
        if (object)
            return object;
    }
    return NULL;
}

void gd_object_free_table(void)
{
    free(table.places);
    memset(&table, 0, sizeof table);
}
