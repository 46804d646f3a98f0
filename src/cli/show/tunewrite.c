/* The tuned chain as files. The chain file is the given one with other modules, shapes, carve-outs
 * and pdl. */
#include "cli/show/tunewrite.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/io/heap.h"
#include "cli/io/hostfile.h"
#include "cli/io/message.h"
#include "cli/io/outputfile.h"
#include "cli/plan/modulefile.h"
#include "cli/plan/planlaunch.h"

typedef struct gd_writer {
    const char *folder, *path;
    gd_chainfile *chainfile;
    const gd_plan *plan;
    const griddep_tune *tune;
    uint32_t multiprocessors;
    char **names; /* by module of the plan: of its rewritten one in the chain file; NULL: none */
} gd_writer;

static int write_text(const char *folder, const char *name, const char *text, size_t bytes)
{
    char *path = gd_heap_format("%s/%s", folder, name);
    int code = gd_outputfile_stage(path, text, bytes);
    free(path);
    return code;
}

static int write_ptx(const gd_writer *writer, const char *name, const griddep_ptx *ptx)
{
    uint64_t bytes = 0;
    char *text = NULL;
    griddep_error error;
    griddep_error_init(&error);
    if (gd_modulefile_print(ptx, &text, &bytes, &error) != GRIDDEP_OK)
        return gd_message_library(&error, NULL);
    int code = write_text(writer->folder, name, text, bytes);
    free(text);
    return code;
}

/* A file's name of a module's name, which may hold anything. */
static char *file_name(uint32_t module, const char *name)
{
    char *file = gd_heap_format("%u_%.64s.ptx", (unsigned)module, name);
    for (char *at = file; *at != '\0'; at++)
        if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", *at) ==
            NULL)
            *at = '_';
    return file;
}

static bool is_taken(const gd_chainfile *chainfile, const char *name)
{
    for (uint32_t i = 0; i < chainfile->modules_count; i++)
        if (strcmp(chainfile->modules[i].name, name) == 0)
            return true;
    return false;
}

/* Adds a rewritten module to the chain file, and its text to the folder. */
static int add_module(gd_writer *writer, uint32_t module, const griddep_ptx *ptx)
{
    gd_chainfile *chainfile = writer->chainfile;
    const char *old = writer->plan->modules[module].name;
    char *name = gd_heap_format("%s_tuned", old);
    while (is_taken(chainfile, name)) {
        char *longer = gd_heap_format("%s_", name);
        free(name);
        name = longer;
    }
    uint32_t count = chainfile->modules_count;
    chainfile->modules =
        gd_heap_grow(chainfile->modules, count, count + 1, sizeof(*chainfile->modules));
    chainfile->modules[count] = (gd_chainfile_module){.name = name, .file = file_name(module, old)};
    chainfile->modules_count = count + 1;
    writer->names[module] = gd_heap_string(name);
    return write_ptx(writer, chainfile->modules[count].file, ptx);
}

static void set_text(char **field, char *value)
{
    free(*field);
    *field = value;
}

static void set_number(char **field, uint32_t value, uint32_t given)
{
    if (value != given)
        set_text(field, gd_heap_format("%u", (unsigned)value));
}

static int write_launch(gd_writer *writer, uint32_t index)
{
    const gd_plan_launch *planned = &writer->plan->launches[index];
    gd_chainfile_launch *launch = &writer->chainfile->launches[index];
    const griddep_launch_config given =
        gd_planlaunch_config(planned, GRIDDEP_PDL_DEFAULT, writer->multiprocessors);
    griddep_tune_choice choice = {.size = sizeof(choice)};
    int code = 0;
    if (griddep_tune_get_choice(writer->tune, index, &choice, NULL) != GRIDDEP_OK ||
        choice.changed == 0)
        return 0;
    if (choice.ptx != NULL && writer->names[planned->module] == NULL)
        code = add_module(writer, planned->module, choice.ptx);
    if (choice.ptx != NULL)
        set_text(&launch->module, gd_heap_string(writer->names[planned->module]));
    if (choice.pdl != planned->config.pdl && choice.pdl != GRIDDEP_PDL_DEFAULT)
        set_text(&launch->pdl, gd_heap_string(gd_plan_pdl_names[choice.pdl - 1]));
    set_number(&launch->grid[0], choice.grid[0], given.grid[0]);
    set_number(&launch->block[0], choice.block[0], given.block[0]);
    set_number(&launch->shared, choice.shared_bytes, given.shared_bytes);
    set_text(&launch->carveout, choice.carveout != GRIDDEP_CARVEOUT_DEFAULT
                                    ? gd_heap_format("%d", (int)choice.carveout)
                                    : NULL);
    return code;
}

/* A path as the chain file has it, seen from anywhere. */
static void make_absolute(const char *beside, char **path)
{
    if (*path == NULL)
        return;
    char *joined = gd_hostfile_join(beside, *path), *whole = realpath(joined, NULL);
    if (whole != NULL)
        set_text(path, whole);
    free(joined);
}

static void make_paths_absolute(gd_chainfile *chainfile, const char *beside)
{
    for (uint32_t i = 0; i < chainfile->modules_count; i++)
        make_absolute(beside, &chainfile->modules[i].file);
    for (uint32_t i = 0; i < chainfile->buffers_count; i++)
        make_absolute(beside, &chainfile->buffers[i].file);
    for (uint32_t i = 0; i < chainfile->expect_count; i++)
        make_absolute(beside, &chainfile->expect[i].file);
}

static int write_chain(const gd_writer *writer)
{
    char *text = gd_chainfile_print(writer->chainfile,
                                    "# Made by 'griddep tune': the chain with what was faster.\n");
    int code = text != NULL ? write_text(writer->folder, "chain.yaml", text, strlen(text))
                            : GD_EXIT_REFUSED;
    free(text);
    return code;
}

/* In a folder that is not there yet, nothing can be overwritten. */
static bool is_there(const char *folder)
{
    struct stat status;
    return stat(folder, &status) == 0 && S_ISDIR(status.st_mode);
}

static int claim(const char *folder, char *name)
{
    char *path = gd_heap_format("%s/%s", folder, name);
    int code = gd_outputfile_claim("output", path);
    free(path);
    free(name);
    return code;
}

int gd_tunewrite_check(const char *folder, const gd_plan *plan)
{
    int code = 0;
    if (is_there(folder)) {
        code = claim(folder, gd_heap_string("chain.yaml"));
        for (uint32_t i = 0; i < plan->module_count && code == 0; i++)
            code = claim(folder, file_name(i, plan->modules[i].name));
    }
    return code == 0 ? gd_outputfile_check() : code;
}

static int write_files(gd_writer *writer)
{
    int code = 0;
    for (uint32_t i = 0; i < writer->plan->launch_count && code == 0; i++)
        code = write_launch(writer, i);
    if (code == 0)
        code = write_chain(writer);
    return code == 0 ? gd_outputfile_commit() : code;
}

int gd_tunewrite(const char *folder, const char *path, gd_chainfile *chainfile, const gd_plan *plan,
                 uint32_t multiprocessors, const griddep_tune *tune)
{
    gd_writer writer = {.folder = folder,
                        .path = path,
                        .chainfile = chainfile,
                        .plan = plan,
                        .tune = tune,
                        .multiprocessors = multiprocessors};
    bool made = mkdir(folder, 0777) == 0;
    if (!made && errno != EEXIST)
        return gd_message_error(GD_EXIT_REFUSED, "--output: %s: %s", folder, strerror(errno));
    writer.names = gd_heap_take(plan->module_count, sizeof(*writer.names));
    make_paths_absolute(chainfile, path);
    int code = write_files(&writer);
    if (code != 0 && made)
        rmdir(folder);
    for (uint32_t i = 0; i < plan->module_count; i++)
        free(writer.names[i]);
    free(writer.names);
    return code;
}
