/* Backtraces as addresses, and the loaded objects that these lie in: names are the command's
 * business. */
#include "attach/place.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#if __has_include(<execinfo.h>)
#include <execinfo.h>
#else
#define backtrace(addresses, count) (0)
#endif

#include "attach/record.h"

enum { MOST_FRAMES = 48, LONGEST_SCRIPT = 8192 };

typedef struct known_object {
    uint64_t begin, end;
    bool own;
} known_object;

static struct {
    known_object *objects;
    uint32_t count;
} known;

/* A search through the loaded objects. */
typedef struct search {
    uint64_t address;
    bool found;
    uint64_t begin, end, bias, offset, behind; /* offset of the address in the file, what follows */
    char path[4096];
} search;

static int look_at(struct dl_phdr_info *object, size_t size, void *user)
{
    search *wanted = user;
    uint64_t begin = UINT64_MAX, end = 0;
    bool inside = false;

    (void)size;
    for (unsigned i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        const uint64_t at = object->dlpi_addr + part->p_vaddr;
        if (part->p_type != PT_LOAD)
            continue;
        begin = at < begin ? at : begin;
        end = at + part->p_memsz > end ? at + part->p_memsz : end;
        if (wanted->address < at || wanted->address - at >= part->p_memsz)
            continue;
        inside = true;
        wanted->offset = part->p_offset + (wanted->address - at);
        wanted->behind =
            wanted->address - at < part->p_filesz ? part->p_filesz - (wanted->address - at) : 0;
    }
    if (!inside)
        return 0;
    wanted->found = true;
    wanted->begin = begin;
    wanted->end = end;
    wanted->bias = object->dlpi_addr;
    snprintf(wanted->path, sizeof wanted->path, "%s", object->dlpi_name ? object->dlpi_name : "");
    return 1;
}

/* The program itself has no name here. */
static bool find_object(uint64_t address, search *wanted)
{
    *wanted = (search){.address = address};
    dl_iterate_phdr(look_at, wanted);
    if (wanted->found && !wanted->path[0]) {
        ssize_t length = readlink("/proc/self/exe", wanted->path, sizeof wanted->path - 1);
        wanted->path[length > 0 ? length : 0] = '\0';
    }
    return wanted->found;
}

static const known_object *add_object(uint64_t address)
{
    search wanted;

    if (!find_object(address, &wanted))
        return NULL;
    known_object *grown = realloc(known.objects, (known.count + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    known.objects = grown;
    const uint64_t own = (uint64_t)(uintptr_t)&known;
    grown[known.count] =
        (known_object){wanted.begin, wanted.end, own >= wanted.begin && own < wanted.end};
    gd_attached_object *record =
        gd_record_add(GD_ATTACHED_OBJECT, sizeof *record, wanted.path, NULL);
    record->begin = wanted.begin;
    record->end = wanted.end;
    record->bias = wanted.bias;
    gd_record_commit(record, GD_ATTACHED_OBJECT);
    return &known.objects[known.count++];
}

static const known_object *object_of(uint64_t address)
{
    for (uint32_t i = 0; i < known.count; i++) {
        if (address >= known.objects[i].begin && address < known.objects[i].end)
            return &known.objects[i];
    }
    return add_object(address);
}

/* Behind the frames of this library, and of what a sanitizer puts in front of them. */
static int find_caller(void *const *frames, int count)
{
    int caller = 0;

    for (int i = 0; i < count; i++) {
        const known_object *object = object_of((uint64_t)(uintptr_t)frames[i]);
        if (object && object->own)
            caller = i + 1;
    }
    return caller;
}

typedef void *this_thread_function(void);
typedef void dump_function(int file, void *thread);

static void find_function(const char *name, void *function)
{
    void *found = dlsym(RTLD_DEFAULT, name);

    memcpy(function, &found, sizeof found);
}

/* CPython's own dump for crashes reads a thread's frames without the interpreter's lock, which the
 * caller has mostly given up: a library that took it here could make a program stand still.
 * Versions 3.6 to 3.8, 3.11 and 3.12 export it, and others may. The innermost frame is the first,
 * each is a line: File "step.py", line 3 in step. Empty where no interpreter called, or none that
 * tells. */
static void read_script(char *text, size_t room)
{
    this_thread_function *this_thread;
    dump_function *dump;
    ssize_t bytes = 0;

    find_function("PyGILState_GetThisThreadState", &this_thread);
    find_function("_Py_DumpTraceback", &dump);
    void *thread = this_thread && dump ? this_thread() : NULL;
    const int file = thread ? memfd_create("griddep", MFD_CLOEXEC) : -1;
    if (file >= 0) {
        dump(file, thread);
        bytes = pread(file, text, room - 1, 0);
        close(file);
    }
    while (bytes > 0 && text[bytes - 1] != '\n') /* a line that was cut off */
        bytes--;
    text[bytes > 0 ? bytes : 0] = '\0';
}

uint32_t gd_place_record(void)
{
    void *frames[MOST_FRAMES];
    uint64_t addresses[MOST_FRAMES];
    char script[LONGEST_SCRIPT];
    uint32_t count = 0, number;
    const int all = backtrace(frames, MOST_FRAMES);

    for (int i = find_caller(frames, all); i < all; i++)
        addresses[count++] = (uint64_t)(uintptr_t)frames[i];
    if (!count)
        return GD_ATTACHED_NONE;
    read_script(script, sizeof script);
    gd_attached_place *record = gd_record_add(
        GD_ATTACHED_PLACE, sizeof *record + count * sizeof *addresses, script, &number);
    record->count = count;
    memcpy(record->addresses, addresses, count * sizeof *addresses);
    gd_record_commit(record, GD_ATTACHED_PLACE);
    return number;
}

bool gd_place_find_file(const void *address, uint64_t bytes, gd_place_file *file)
{
    search wanted;

    if (!find_object((uint64_t)(uintptr_t)address, &wanted) || wanted.behind < bytes ||
        wanted.path[0] != '/')
        return false;
    memcpy(file->path, wanted.path, sizeof file->path);
    file->offset = wanted.offset;
    return true;
}

void gd_place_forget(void)
{
    free(known.objects);
    memset(&known, 0, sizeof known);
}
