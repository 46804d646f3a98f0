/* Looking up the names that --constant gives. */
#include "cli/plan/constantlist.h"

#include <stdlib.h>
#include <string.h>

#include "cli/io/heap.h"
#include "cli/io/message.h"
#include "cli/io/suggest.h"

enum { MOST_NAMES = 4096 }; /* for suggestions; a module may have any number of parameters */

static bool is_meant(const char *given, const char *entry, const char *parameter)
{
    size_t length = strlen(entry);
    if (strcmp(given, parameter) == 0)
        return true;
    return strncmp(given, entry, length) == 0 && given[length] == '.' &&
           strcmp(given + length + 1, parameter) == 0;
}

static void keep_name(gd_constantlist *constants, const char *name)
{
    for (size_t i = 0; i < constants->name_count; i++)
        if (strcmp(constants->names[i], name) == 0)
            return;
    if (constants->name_count == MOST_NAMES)
        return;
    constants->names = gd_heap_grow(constants->names, constants->name_count,
                                    constants->name_count + 1, sizeof(*constants->names));
    constants->names[constants->name_count++] = gd_heap_string(name);
}

static void look_at_entry(gd_constantlist *constants, const griddep_ptx *ptx, uint32_t index,
                          const griddep_ptx_entry_info *entry)
{
    for (uint32_t i = 0; i < entry->parameter_count; i++) {
        griddep_parameter_info parameter = {.size = sizeof(parameter)};
        if (griddep_ptx_get_parameter(ptx, index, i, &parameter, NULL) != GRIDDEP_OK ||
            parameter.name == NULL)
            continue;
        keep_name(constants, parameter.name);
        for (size_t k = 0; k < constants->given->count; k++)
            constants->found[k] |=
                is_meant(constants->given->values[k], entry->name, parameter.name);
    }
}

gd_constantlist gd_constantlist_begin(const gd_option_list *given)
{
    return (gd_constantlist){.given = given, .found = gd_heap_take(given->count, sizeof(bool))};
}

void gd_constantlist_look(gd_constantlist *constants, const griddep_ptx *ptx, const char *entry)
{
    griddep_ptx_info info = {.size = sizeof(info)};
    if (constants->given->count == 0 || griddep_ptx_get_info(ptx, &info, NULL) != GRIDDEP_OK)
        return;
    for (uint32_t i = 0; i < info.entry_count; i++) {
        griddep_ptx_entry_info found = {.size = sizeof(found)};
        if (griddep_ptx_get_entry(ptx, i, &found, NULL) == GRIDDEP_OK &&
            (entry == NULL || strcmp(found.name, entry) == 0))
            look_at_entry(constants, ptx, i, &found);
    }
}

int gd_constantlist_check(const gd_constantlist *constants)
{
    for (size_t i = 0; i < constants->given->count; i++) {
        if (constants->found[i])
            continue;
        const char *name = constants->given->values[i];
        char *suggestion =
            gd_suggest_text(name, (const char *const *)constants->names, constants->name_count);
        int code = gd_message_error(GD_EXIT_USAGE, "--constant: no entry has a parameter '%s'%s",
                                    name, suggestion);
        free(suggestion);
        return code;
    }
    return 0;
}

void gd_constantlist_free(gd_constantlist *constants)
{
    for (size_t i = 0; i < constants->name_count; i++)
        free(constants->names[i]);
    free(constants->names);
    free(constants->found);
    *constants = (gd_constantlist){0};
}
