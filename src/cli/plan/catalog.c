/* Look-ups in the shelf. */
#include "cli/plan/catalog.h"

#include <stdlib.h>
#include <string.h>

#include "cli/io/heap.h"
#include "cli/io/suggest.h"

bool gd_catalog_find(const char *name, griddep_shelf_info *info)
{
    griddep_shelf_info found = {.size = sizeof(found)};
    for (uint32_t i = 0; griddep_shelf_get(i, &found, NULL) == GRIDDEP_OK; i++) {
        if (strcmp(found.name, name) == 0) {
            *info = found;
            return true;
        }
    }
    return false;
}

/* Names that begin with the word are what was meant: "matvec" of "matvec_bf16" and its kin. */
char *gd_catalog_suggest(const char *name)
{
    const char **names = NULL, **begun = NULL;
    size_t count = 0, begun_count = 0, length = strlen(name);
    griddep_shelf_info found = {.size = sizeof(found)};
    for (uint32_t i = 0; griddep_shelf_get(i, &found, NULL) == GRIDDEP_OK; i++) {
        names = gd_heap_grow(names, count, count + 1, sizeof(*names));
        names[count++] = found.name;
        bool again = begun_count > 0 && strcmp(begun[begun_count - 1], found.name) == 0;
        if (length == 0 || again || strncmp(found.name, name, length) != 0)
            continue;
        begun = gd_heap_grow(begun, begun_count, begun_count + 1, sizeof(*begun));
        begun[begun_count++] = found.name;
    }
    char *list = gd_suggest_list(begun, begun_count);
    char *text = begun_count > 1    ? gd_heap_format("; did you mean one of %s?", list)
                 : begun_count == 1 ? gd_heap_format("; did you mean '%s'?", list)
                                    : gd_suggest_text(name, names, count);
    free(list);
    free(begun);
    free(names);
    return text;
}

char *gd_catalog_field(const griddep_shelf_info *info, const char *field)
{
    uint64_t bytes = 0;
    if (griddep_shelf_field(info->text, info->bytes, field, NULL, 0, &bytes, NULL) != GRIDDEP_OK)
        return NULL;
    char *text = gd_heap_take(bytes + 1, 1);
    if (griddep_shelf_field(info->text, info->bytes, field, text, bytes + 1, &bytes, NULL) !=
        GRIDDEP_OK) {
        free(text);
        return NULL;
    }
    return text;
}
