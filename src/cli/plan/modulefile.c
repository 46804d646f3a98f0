/* Recognizing and parsing code. */
#include "cli/plan/modulefile.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plan/catalog.h"
#include "cli/io/heap.h"
#include "cli/io/hostfile.h"

const uint64_t gd_modulefile_largest = 1U << 30;

static bool begins_with(const char *data, size_t bytes, const char *magic)
{
    return bytes >= 4 && memcmp(data, magic, 4) == 0;
}

static void load_shelf(const gd_plan_module *module, gd_modulefile *loaded)
{
    griddep_shelf_info shelf = {.size = sizeof(shelf)};
    if (!gd_catalog_find(module->shelf, &shelf))
        return;
    loaded->name = shelf.file;
    loaded->text = shelf.text;
    loaded->bytes = shelf.bytes;
}

static int load_file(const gd_plan_module *module, gd_modulefile *loaded)
{
    loaded->name = module->path;
    int code =
        gd_hostfile_read(module->path, gd_modulefile_largest, &loaded->owned, &loaded->bytes);
    if (code != 0)
        return code;
    loaded->kind = gd_modulefile_recognize(module->path, loaded->owned, loaded->bytes);
    loaded->text = loaded->kind == GD_MODULEFILE_PTX ? loaded->owned : NULL;
    return 0;
}

/* Of a fatbin the PTX for the newest chip: which one a device takes is its driver's to say. */
static void parse_fatbin(gd_modulefile *loaded)
{
    griddep_image *image = NULL;
    griddep_image_part part = {.size = sizeof(part)}, newest = {0};
    griddep_image_open(loaded->owned, loaded->bytes, loaded->name, &image, NULL);
    for (uint32_t i = 0; griddep_image_get_part(image, i, &part, NULL) == GRIDDEP_OK; i++)
        if (part.kind == GRIDDEP_IMAGE_PTX && part.architecture > newest.architecture)
            newest = part;
    if (newest.data != NULL)
        griddep_ptx_parse(newest.data, newest.bytes, loaded->name, &loaded->ptx, NULL);
    griddep_image_destroy(image);
}

gd_modulefile_kind gd_modulefile_recognize(const char *path, const char *data, size_t bytes)
{
    const char *dot = strrchr(path, '.');
    if (dot != NULL && strcmp(dot, ".cu") == 0)
        return GD_MODULEFILE_CUDA;
    if (begins_with(data, bytes, "\177ELF"))
        return GD_MODULEFILE_CUBIN;
    if (begins_with(data, bytes, "\x50\xed\x55\xba") ||
        begins_with(data, bytes, "\xb1\x43\x62\x46"))
        return GD_MODULEFILE_FATBIN;
    return GD_MODULEFILE_PTX;
}

const char *gd_modulefile_kind_text(gd_modulefile_kind kind)
{
    static const char *const texts[] = {"PTX", "a cubin", "a fatbin", "CUDA C++"};
    return texts[kind];
}

const gd_modulefile *gd_modulefile_of(const gd_modulefile_list *list, const gd_plan_launch *launch)
{
    static const gd_modulefile none;
    return gd_plan_is_kernel(launch) ? &list->items[launch->module] : &none;
}

uint32_t gd_modulefile_traits(const gd_modulefile_list *list, const gd_plan_launch *launch)
{
    griddep_image_kernel kernel = {.size = sizeof(kernel)};
    const griddep_image *image = gd_modulefile_of(list, launch)->image;
    for (uint32_t i = 0;
         image != NULL && griddep_image_get_kernel(image, 0, i, &kernel, NULL) == GRIDDEP_OK; i++)
        if (strcmp(kernel.name, launch->kernel) == 0)
            return kernel.traits | launch->states;
    return launch->states;
}

int gd_modulefile_load(const gd_plan *plan, gd_modulefile_list *list)
{
    *list = (gd_modulefile_list){.items = gd_heap_take(plan->module_count, sizeof(*list->items)),
                                 .count = plan->module_count};
    for (uint32_t i = 0; i < plan->module_count; i++) {
        gd_modulefile *loaded = &list->items[i];
        int failed = 0;
        if (plan->modules[i].shelf != NULL)
            load_shelf(&plan->modules[i], loaded);
        else
            failed = load_file(&plan->modules[i], loaded);
        if (failed != 0)
            return failed;
        if (loaded->kind == GD_MODULEFILE_FATBIN)
            parse_fatbin(loaded);
        if (loaded->kind == GD_MODULEFILE_CUBIN)
            griddep_image_open(loaded->owned, loaded->bytes, loaded->name, &loaded->image, NULL);
        if (loaded->text != NULL)
            griddep_ptx_parse(loaded->text, loaded->bytes, loaded->name, &loaded->ptx, NULL);
    }
    return 0;
}

void gd_modulefile_free(gd_modulefile_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        griddep_ptx_destroy(list->items[i].ptx);
        griddep_image_destroy(list->items[i].image);
        free(list->items[i].owned);
    }
    free(list->items);
    *list = (gd_modulefile_list){0};
}

int32_t gd_modulefile_print(const griddep_ptx *ptx, char **text, uint64_t *bytes,
                            griddep_error *error)
{
    int32_t status = griddep_ptx_print(ptx, NULL, 0, bytes, error);
    if (status != GRIDDEP_OK)
        return status;
    *text = gd_heap_take(*bytes + 1, 1);
    return griddep_ptx_print(ptx, *text, *bytes + 1, bytes, error);
}
