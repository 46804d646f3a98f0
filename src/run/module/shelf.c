/* The shelf: hand-authored PTX, embedded at build time (shelf.inc), found by name and capability,
 * and its head comments. */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "griddep.h"
#include "ptx/require/head.h"
#include "run/module/shelf.h"

#include "run/shelf.inc"

enum { COUNT = sizeof entries / sizeof entries[0], INFO_MINIMUM = sizeof(griddep_shelf_info) };

static int32_t write_info(const shelf_entry *entry, griddep_shelf_info *info, griddep_error *error)
{
    const griddep_shelf_info known = {.size = sizeof known,
                                      .capability = entry->capability,
                                      .name = entry->name,
                                      .family = entry->family,
                                      .file = entry->file,
                                      .text = entry->text,
                                      .bytes = entry->bytes};

    return gd_struct_write(info, &known, sizeof known, INFO_MINIMUM, "griddep_shelf_info", error);
}

/* ---- head comments ---- */

static bool collect_field(const char *text, size_t bytes, const char *field, gd_text *value)
{
    gd_head head = {text, text + bytes};
    gd_head_line line, first;
    bool found = false;

    while (gd_head_next(&head, &line)) {
        if (!found && gd_head_begins(&line, field, NULL, &first)) {
            gd_text_append(value, first.text, first.bytes);
            found = true;
        } else if (found && gd_head_continues(&line)) {
            gd_text_append(value, "\n", value->bytes ? 1 : 0);
            gd_text_append(value, line.text + 3, line.bytes - 3);
        } else if (found) {
            break;
        }
    }
    return found;
}

/* ---- look-up ---- */

static bool serves(const shelf_entry *entry, int32_t capability)
{
    return entry->exact ? entry->capability == capability : entry->capability <= capability;
}

static int32_t refuse(const shelf_entry *least, int32_t capability, griddep_error *error)
{
    return gd_error_set(error, GRIDDEP_ERROR_UNSUPPORTED,
                        "kernel %s %s sm_%" PRId32 "%s; the device is sm_%" PRId32, least->name,
                        least->exact ? "is for" : "needs", least->capability,
                        least->exact ? "a alone" : " or newer", capability);
}

/* ---- public ---- */

int32_t griddep_shelf_get(uint32_t index, griddep_shelf_info *info, griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (index >= COUNT)
        return gd_error_no_number(error, "the shelf", "", COUNT, "entry", "entries", index);
    return write_info(&entries[index], info, error);
}

int32_t griddep_shelf_find(const char *name, int32_t capability, griddep_shelf_info *info,
                           griddep_error *error)
{
    const shelf_entry *least = NULL;
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!name)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "name is NULL");
    for (size_t i = 0; i < COUNT; i++) {
        if (strcmp(entries[i].name, name))
            continue;
        if (serves(&entries[i], capability))
            return write_info(&entries[i], info, error);
        least = &entries[i];
    }
    if (!least)
        return gd_error_set(error, GRIDDEP_ERROR_NOT_FOUND, "the shelf has no kernel \"%s\"", name);
    return refuse(least, capability, error);
}

int32_t griddep_shelf_field(const char *text, uint64_t text_bytes, const char *field, char *buffer,
                            uint64_t capacity, uint64_t *bytes, griddep_error *error)
{
    gd_text value = {0};
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!text || !field || !*field)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "text or field is NULL or empty");
    bool found = collect_field(text, (size_t)text_bytes, field, &value);
    if (value.failed)
        status = gd_error_memory(error);
    else if (!found)
        status = gd_error_set(error, GRIDDEP_ERROR_NOT_FOUND,
                              "the head comment has no field \"%s\"", field);
    else
        status = gd_text_export(gd_text_get(&value), value.bytes, buffer, capacity, bytes, error);
    gd_text_free(&value);
    return status;
}
