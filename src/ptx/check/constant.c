/* Names of constant parameters, and looking an entry's parameters up among them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "ptx/text/array.h"
#include "ptx/check/constant.h"
#include "ptx/require/head.h"

static bool add(gd_constants *constants, const char *name, size_t bytes, size_t offset)
{
    void *list = constants->list;

    if (constants->count == constants->capacity) {
        bool grown = gd_array_grow(&list, &constants->capacity, sizeof *constants->list);
        constants->list = list;
        if (!grown)
            return false;
    }
    constants->list[constants->count++] =
        (gd_constant){.name = name, .bytes = bytes, .offset = offset};
    return true;
}

/* ---- head comment ---- */

static bool is_separator(char byte)
{
    return byte == ' ' || byte == ',' || byte == '\t' || byte == '\r';
}

static bool add_names(gd_constants *constants, const char *text, gd_head_line line)
{
    const char *at = line.text, *end = line.text + line.bytes;

    while (at < end) {
        const char *start = at;
        while (at < end && !is_separator(*at))
            at++;
        if (at > start && !add(constants, start, (size_t)(at - start), (size_t)(start - text)))
            return false;
        while (at < end && is_separator(*at))
            at++;
    }
    return true;
}

static bool read_head(gd_constants *constants, const char *text, size_t bytes)
{
    gd_head head = {text, text + bytes};
    gd_head_line line, value;
    bool inside = false, done = true;

    while (done && gd_head_next(&head, &line)) {
        if (gd_head_begins(&line, "constant", NULL, &value))
            inside = true;
        else if (gd_head_continues(&line))
            value = line;
        else
            inside = false;
        if (inside)
            done = add_names(constants, text, value);
    }
    return done;
}

/* ---- the set ---- */

static bool add_options(gd_constants *constants, const char *const *names, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!add(constants, names[i], strlen(names[i]), SIZE_MAX))
            return false;
    }
    return true;
}

static bool index_names(gd_constants *constants)
{
    for (uint32_t i = 0; i < constants->count; i++) {
        gd_constant *item = &constants->list[i];
        if (item->bytes && gd_table_find(&constants->table, item->name, item->bytes))
            item->used = true; /* named twice: the first one tells whether the name is known */
        else if (item->bytes && !gd_table_set(&constants->table, item->name, item->bytes, item))
            return false;
    }
    return true;
}

int32_t gd_constants_create(gd_constants *constants, const char *const *names, uint32_t count,
                            const char *text, size_t bytes, griddep_error *error)
{
    gd_constants made = {0};

    for (uint32_t i = 0; i < count; i++) {
        if (!names || !names[i])
            return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "constants[%" PRIu32 "] is NULL", i);
    }
    if (!add_options(&made, names, count) || !read_head(&made, text, bytes) ||
        !index_names(&made)) {
        gd_constants_free(&made);
        return gd_error_memory(error);
    }
    *constants = made;
    return GRIDDEP_OK;
}

void gd_constants_free(gd_constants *constants)
{
    gd_table_free(&constants->table);
    free(constants->list);
    *constants = (gd_constants){0};
}

static bool is_constant(gd_constants *constants, const char *name, size_t bytes)
{
    gd_constant *found = gd_table_find(&constants->table, name, bytes);

    if (found)
        found->used = true;
    return found;
}

bool gd_constants_of(gd_constants *constants, const gd_ptx_function *entry, gd_parameter_set *set)
{
    uint32_t count = entry->parameter_end - entry->parameter;
    gd_text full = {0};

    *set = (gd_parameter_set){{0}};
    for (uint32_t i = 0; i < count && i < GD_CHECK_LIMIT_PARAMETERS && constants->count; i++) {
        const char *name = entry->parameter_names[i];
        full.bytes = 0;
        gd_text_format(&full, "%s.%s", entry->name, name);
        bool plain = is_constant(constants, name, strlen(name));
        bool qualified = !full.failed && is_constant(constants, gd_text_get(&full), full.bytes);
        if (plain || qualified)
            set->words[i / 64] |= (uint64_t)1 << (i % 64);
    }
    bool done = !full.failed;
    gd_text_free(&full);
    return done;
}
