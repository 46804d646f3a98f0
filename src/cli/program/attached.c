/* Reading records: a process may have been killed while it wrote one. */
#include "cli/program/attached.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/io/heap.h"
#include "cli/io/hostfile.h"
#include "cli/io/message.h"
#include "cli/program/attachedcode.h"

static const uint64_t largest = 1U << 30;

static const size_t least[GD_ATTACHED_KINDS] = {[GD_ATTACHED_END] = sizeof(gd_attached_head),
                                                [GD_ATTACHED_PROCESS] = sizeof(gd_attached_process),
                                                [GD_ATTACHED_OBJECT] = sizeof(gd_attached_object),
                                                [GD_ATTACHED_PLACE] = sizeof(gd_attached_place),
                                                [GD_ATTACHED_MODULE] = sizeof(gd_attached_module),
                                                [GD_ATTACHED_KERNEL] = sizeof(gd_attached_kernel),
                                                [GD_ATTACHED_PAIR] = sizeof(gd_attached_pair),
                                                [GD_ATTACHED_GRAPH] = sizeof(gd_attached_graph),
                                                [GD_ATTACHED_NODE] = sizeof(gd_attached_node),
                                                [GD_ATTACHED_EDGE] = sizeof(gd_attached_edge),
                                                [GD_ATTACHED_MESSAGE] = sizeof(gd_attached_message),
                                                [GD_ATTACHED_TIMES] = sizeof(gd_attached_times),
                                                [GD_ATTACHED_ALLOCATION] =
                                                    sizeof(gd_attached_allocation),
                                                [GD_ATTACHED_DATA] = sizeof(gd_attached_data),
                                                [GD_ATTACHED_LAUNCH] = sizeof(gd_attached_launch),
                                                [GD_ATTACHED_AFTER] = sizeof(gd_attached_after),
                                                [GD_ATTACHED_SPAN] = sizeof(gd_attached_span),
                                                [GD_ATTACHED_SHARED] = sizeof(gd_attached_shared),
                                                [GD_ATTACHED_ROW] = sizeof(gd_attached_row)};

const void *gd_attached_get(const gd_attached_file *file, gd_attached_kind kind, uint32_t number)
{
    return number < file->counts[kind] ? file->records[kind][number] : NULL;
}

/* Whether a record lies whole in its chunk, and what follows its struct is a text, in a
 * place behind addresses. */
static bool is_whole(const char *record, size_t room)
{
    gd_attached_head head;
    gd_attached_place place;
    if (room < sizeof(head))
        return false;
    memcpy(&head, record, sizeof(head));
    if (head.kind == GD_ATTACHED_END || head.kind >= GD_ATTACHED_KINDS || head.bytes % 8 != 0 ||
        head.bytes > room || head.bytes <= least[head.kind] || record[head.bytes - 1] != '\0')
        return false;
    if (head.kind != GD_ATTACHED_PLACE)
        return true;
    memcpy(&place, record, sizeof(place));
    return place.count < (head.bytes - sizeof(place)) / sizeof(uint64_t);
}

static void take_records(gd_attached_file *file)
{
    for (size_t chunk = 0; chunk < file->bytes; chunk += GD_ATTACHED_CHUNK) {
        size_t end =
            file->bytes - chunk < GD_ATTACHED_CHUNK ? file->bytes : chunk + GD_ATTACHED_CHUNK;
        for (size_t at = chunk; at < end && is_whole(file->data + at, end - at);) {
            const gd_attached_head *head = (const void *)(file->data + at);
            uint32_t *count = &file->counts[head->kind];
            file->records[head->kind] = gd_heap_grow(file->records[head->kind], *count, *count + 1,
                                                     sizeof(*file->records[head->kind]));
            file->records[head->kind][(*count)++] = head;
            at += head->bytes;
        }
    }
    file->process = gd_attached_get(file, GD_ATTACHED_PROCESS, 0);
}

/* A part of a file; what cannot be read is not known. */
static gd_attached_image read_part(const char *path, uint64_t offset, uint64_t bytes)
{
    gd_attached_image image = {0};
    uint64_t there = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return image;
    if (gd_hostfile_measure(path, &there) == NULL && offset <= there) {
        uint64_t wanted = bytes > 0 ? bytes : there - offset;
        wanted = wanted > there - offset ? there - offset : wanted;
        image.bytes = wanted < largest ? (size_t)wanted : 0;
        image.data = gd_heap_take(image.bytes + 1, 1);
        ssize_t got = pread(file, image.data, image.bytes, (off_t)offset);
        image.bytes = got > 0 ? (size_t)got : 0;
        image.data[image.bytes] = '\0';
    }
    close(file);
    return image;
}

static void read_images(const char *folder, gd_attached_file *file)
{
    file->images = gd_heap_take(file->counts[GD_ATTACHED_MODULE], sizeof(*file->images));
    for (uint32_t i = 0; i < file->counts[GD_ATTACHED_KERNEL]; i++) {
        const gd_attached_kernel *kernel = file->records[GD_ATTACHED_KERNEL][i];
        const gd_attached_module *module =
            gd_attached_get(file, GD_ATTACHED_MODULE, kernel->module);
        if (module == NULL || module->path[0] == '\0' || file->images[kernel->module].data != NULL)
            continue;
        char *path = strchr(module->path, '/') != NULL
                         ? gd_heap_string(module->path)
                         : gd_heap_format("%s/%s", folder, module->path);
        file->images[kernel->module] = read_part(path, module->offset, module->bytes);
        free(path);
    }
}

static void read_contents(const char *folder, gd_attached_file *file)
{
    file->contents = gd_heap_take(file->counts[GD_ATTACHED_DATA], sizeof(*file->contents));
    for (uint32_t i = 0; i < file->counts[GD_ATTACHED_DATA]; i++) {
        const gd_attached_data *data = file->records[GD_ATTACHED_DATA][i];
        if (data->path[0] == '\0' || strchr(data->path, '/') != NULL)
            continue;
        char *path = gd_heap_format("%s/%s", folder, data->path);
        file->contents[i] = read_part(path, 0, 0);
        free(path);
    }
}

static void read_copied(const char *folder, gd_attached_file *file)
{
    file->copied = gd_heap_take(file->counts[GD_ATTACHED_LAUNCH], sizeof(*file->copied));
    for (uint32_t i = 0; i < file->counts[GD_ATTACHED_LAUNCH]; i++) {
        const gd_attached_launch *launch = file->records[GD_ATTACHED_LAUNCH][i];
        const char *name = (const char *)&launch->arguments[1];
        if (launch->kernel != GD_ATTACHED_NONE || launch->argument_count != 1 ||
            launch->head.bytes <= sizeof(*launch) + sizeof(*launch->arguments) || name[0] == '\0' ||
            strchr(name, '/') != NULL)
            continue;
        char *path = gd_heap_format("%s/%s", folder, name);
        file->copied[i] = read_part(path, 0, 0);
        free(path);
    }
}

static int read_file(const char *folder, const char *name, gd_attached_set *set)
{
    gd_attached_file file = {0};
    char *path = gd_heap_format("%s/%s", folder, name);
    int code = gd_hostfile_read(path, largest, &file.data, &file.bytes);
    free(path);
    if (code != 0)
        return code;
    take_records(&file);
    if (file.process == NULL || file.process->version != GD_ATTACHED_VERSION) {
        set->unreadable++;
    } else {
        read_images(folder, &file);
        read_contents(folder, &file);
        read_copied(folder, &file);
    }
    set->files = gd_heap_grow(set->files, set->count, set->count + 1, sizeof(*set->files));
    set->files[set->count++] = file;
    return 0;
}

static int is_of_process(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name), ending = strlen(GD_ATTACHED_SUFFIX);
    return length > ending && strcmp(entry->d_name + length - ending, GD_ATTACHED_SUFFIX) == 0;
}

int gd_attached_read(const char *folder, gd_attached_set *set)
{
    struct dirent **entries = NULL;
    int code = 0, count = scandir(folder, &entries, is_of_process, versionsort);
    if (count < 0)
        return gd_message_error(GD_EXIT_REFUSED, "%s cannot be read: %s", folder, strerror(errno));
    for (int i = 0; i < count; i++) {
        if (code == 0)
            code = read_file(folder, entries[i]->d_name, set);
        free(entries[i]);
    }
    free(entries);
    return code;
}

void gd_attached_free(gd_attached_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        gd_attached_file *file = &set->files[i];
        for (uint32_t j = 0; file->images != NULL && j < file->counts[GD_ATTACHED_MODULE]; j++) {
            gd_attachedcode_end(&file->images[j]);
            free(file->images[j].data);
        }
        for (uint32_t j = 0; file->contents != NULL && j < file->counts[GD_ATTACHED_DATA]; j++)
            free(file->contents[j].data);
        for (int kind = 0; kind < GD_ATTACHED_KINDS; kind++)
            free(file->records[kind]);
        free(file->images);
        for (uint32_t j = 0; file->copied != NULL && j < file->counts[GD_ATTACHED_LAUNCH]; j++)
            free(file->copied[j].data);
        free(file->contents);
        free(file->copied);
        free(file->data);
    }
    free(set->files);
    free(set->driver);
    *set = (gd_attached_set){0};
}
