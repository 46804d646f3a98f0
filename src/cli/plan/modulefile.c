/* Recognizing and parsing code. */
#include "cli/plan/modulefile.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/elf.h"

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
    if (module->code != NULL) {
        loaded->owned = gd_heap_take(module->code_bytes + 1, 1);
        loaded->bytes = module->code_bytes;
        memcpy(loaded->owned, module->code, loaded->bytes);
    } else {
        int code =
            gd_hostfile_read(module->path, gd_modulefile_largest, &loaded->owned, &loaded->bytes);
        if (code != 0)
            return code;
    }
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

/* On the emulated driver, so that the answer does not depend on a device. */
static int32_t compile(const gd_plan_module *module, const gd_modulefile *loaded, char **text,
                       uint64_t *bytes, griddep_error *error)
{
    const griddep_runtime_options where = {.size = sizeof(where), .driver = "emulated"};
    const griddep_module_options options = {.size = sizeof(options),
                                            .name = module->path,
                                            .compile_options = module->options,
                                            .compile_option_count = module->option_count,
                                            .name_expressions = module->expressions,
                                            .name_expression_count = module->expression_count};
    griddep_runtime *runtime = NULL;
    griddep_module *made = NULL;
    griddep_module_info info = {.size = sizeof(info)};
    int32_t status = griddep_runtime_open(&where, &runtime, error);
    if (status == GRIDDEP_OK)
        status =
            griddep_module_compile(runtime, loaded->owned, loaded->bytes, &options, &made, error);
    if (status == GRIDDEP_OK)
        status = griddep_module_get_info(made, &info, error);
    if (status == GRIDDEP_OK && info.ptx != NULL)
        status = gd_modulefile_print(info.ptx, text, bytes, error);
    griddep_module_unload(made);
    griddep_runtime_close(runtime);
    return status;
}

static bool write_all(int to, const void *data, uint64_t bytes)
{
    const char *at = data;
    while (bytes > 0) {
        const ssize_t written = write(to, at, bytes);
        if (written <= 0)
            return false;
        at += written;
        bytes -= (uint64_t)written;
    }
    return true;
}

static bool read_all(int from, void *data, uint64_t bytes)
{
    char *at = data;
    while (bytes > 0) {
        const ssize_t got = read(from, at, bytes);
        if (got <= 0)
            return false;
        at += got;
        bytes -= (uint64_t)got;
    }
    return true;
}

/* What the child tells; the text follows. */
typedef struct compiled {
    int32_t status;
    uint64_t bytes;
    griddep_error error;
} compiled;

static void tell_compiled(const gd_plan_module *module, const gd_modulefile *loaded, int to)
{
    compiled told = {.status = GRIDDEP_OK};
    char *text = NULL;
    griddep_error_init(&told.error);
    told.status = compile(module, loaded, &text, &told.bytes, &told.error);
    told.bytes = text != NULL ? told.bytes : 0;
    _exit(write_all(to, &told, sizeof(told)) && write_all(to, text, told.bytes) ? 0 : 1);
}

/* In a process of its own: a driver that this one has opened could not be used in the children that
 * the command makes for its runs. */
static void compile_source(const gd_plan_module *module, gd_modulefile *loaded)
{
    compiled told = {.status = GRIDDEP_ERROR_COMPILE};
    int ends[2], state = 0;
    if (pipe(ends) != 0) {
        loaded->why = gd_heap_string(strerror(errno));
        return;
    }
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0)
        tell_compiled(module, loaded, ends[1]);
    close(ends[1]);
    bool done = child > 0 && read_all(ends[0], &told, sizeof(told));
    if (done && told.bytes > 0) {
        loaded->made = gd_heap_take(told.bytes + 1, 1);
        done = read_all(ends[0], loaded->made, told.bytes);
    }
    close(ends[0]);
    if (child > 0)
        waitpid(child, &state, 0);
    if (!done)
        loaded->why = gd_heap_string("the process that compiles it ended early");
    else if (told.status == GRIDDEP_ERROR_COMPILE)
        *(loaded->refusal = gd_heap_take(1, sizeof(told.error))) = told.error;
    else if (told.status != GRIDDEP_OK)
        loaded->why = gd_heap_string(told.error.text);
    else if (loaded->made != NULL)
        griddep_ptx_parse(loaded->made, told.bytes, loaded->name, &loaded->ptx, NULL);
}

gd_modulefile_kind gd_modulefile_recognize(const char *path, const char *data, size_t bytes)
{
    const char *dot = strrchr(path, '.');
    if (dot != NULL && strcmp(dot, ".cu") == 0)
        return GD_MODULEFILE_CUDA;
    Elf64_Ehdr head = {.e_machine = GD_ELF_CUDA};
    gd_view_copy((gd_view){(const unsigned char *)data, bytes}, 0, &head, sizeof(head));
    if (begins_with(data, bytes, "\177ELF"))
        return head.e_machine == GD_ELF_CUDA ? GD_MODULEFILE_CUBIN : GD_MODULEFILE_HOST;
    if (begins_with(data, bytes, "\x50\xed\x55\xba") ||
        begins_with(data, bytes, "\xb1\x43\x62\x46"))
        return GD_MODULEFILE_FATBIN;
    return GD_MODULEFILE_PTX;
}

const char *gd_modulefile_kind_text(gd_modulefile_kind kind)
{
    static const char *const texts[] = {"PTX", "a cubin", "a fatbin", "CUDA C++", "a program"};
    return texts[kind];
}

const gd_modulefile *gd_modulefile_of(const gd_modulefile_list *list, const gd_plan_launch *launch)
{
    static const gd_modulefile none;
    return gd_plan_is_kernel(launch) ? &list->items[launch->module] : &none;
}

/* The last lines of the PTX tell them, in the order of the expressions. */
static void read_entries(gd_modulefile *loaded)
{
    static const char mark[] = "// griddep name: ";
    const uint32_t count = loaded->module->expression_count;
    const char *at = loaded->made;
    loaded->entries = gd_heap_take(count, sizeof(*loaded->entries));
    for (uint32_t i = 0; i < count && (at = strstr(at, mark)) != NULL; i++) {
        at += strlen(mark);
        loaded->entries[i] = gd_heap_format("%.*s", (int)strcspn(at, "\n"), at);
    }
}

const char *gd_modulefile_entry(const gd_modulefile *module, const gd_plan_launch *launch)
{
    for (uint32_t i = 0; module->entries != NULL && i < module->module->expression_count; i++)
        if (strcmp(module->module->expressions[i], launch->kernel) == 0 &&
            module->entries[i] != NULL)
            return module->entries[i];
    return launch->kernel;
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
        loaded->module = &plan->modules[i];
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
        if (loaded->kind == GD_MODULEFILE_CUDA)
            compile_source(&plan->modules[i], loaded);
        if (loaded->made != NULL && plan->modules[i].expression_count > 0)
            read_entries(loaded);
    }
    return 0;
}

void gd_modulefile_free(gd_modulefile_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        griddep_ptx_destroy(list->items[i].ptx);
        griddep_image_destroy(list->items[i].image);
        for (uint32_t k = 0;
             list->items[i].entries != NULL && k < list->items[i].module->expression_count; k++)
            free(list->items[i].entries[k]);
        free(list->items[i].entries);
        free(list->items[i].made);
        free(list->items[i].why);
        free(list->items[i].refusal);
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
