/* The file is mapped chunk by chunk. Its space is allocated before it is mapped, so that a full
 * disk costs records and no signal. */
#include "attach/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* More than any program's kernels need; a program that makes new ones for ever is cut off here. */
enum { MOST_CHUNKS = 256, LARGEST = 4096 };

static struct {
    char folder[LARGEST], path[LARGEST + 64];
    unsigned char *chunks[MOST_CHUNKS];
    uint32_t chunk_count;
    size_t used; /* of the last chunk */
    uint32_t counts[GD_ATTACHED_KINDS];
    uint32_t image_count;
    gd_attached_process *process;
    bool begun;
} file;

/* In place of records that there is no room for. */
static union {
    uint64_t aligned;
    unsigned char bytes[2 * LARGEST];
} nowhere;

/* A file that grows past the limit on its size would end the program. */
static bool is_within_limit(uint64_t bytes)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
           bytes <= limit.rlim_cur;
}

static bool add_chunk(void)
{
    const off_t offset = (off_t)file.chunk_count * GD_ATTACHED_CHUNK;

    if (file.chunk_count == MOST_CHUNKS)
        return false;
    int descriptor =
        open(file.path, O_RDWR | O_CLOEXEC | (file.chunk_count ? 0 : O_CREAT | O_EXCL), 0600);
    if (descriptor < 0)
        return false;
    errno = 0;
    void *chunk = MAP_FAILED;
    if (is_within_limit((uint64_t)offset + GD_ATTACHED_CHUNK) &&
        posix_fallocate(descriptor, offset, GD_ATTACHED_CHUNK) == 0)
        chunk =
            mmap(NULL, GD_ATTACHED_CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, offset);
    close(descriptor);
    if (chunk == MAP_FAILED)
        return false;
    file.chunks[file.chunk_count++] = chunk;
    file.used = 0;
    return true;
}

static void *take(size_t bytes)
{
    if (!file.chunk_count || bytes > GD_ATTACHED_CHUNK ||
        (GD_ATTACHED_CHUNK - file.used < bytes && !add_chunk()))
        return NULL;
    void *record = file.chunks[file.chunk_count - 1] + file.used;
    file.used += bytes;
    return record;
}

static void read_program(char path[LARGEST])
{
    ssize_t length = readlink("/proc/self/exe", path, LARGEST - 1);

    path[length > 0 ? length : 0] = '\0';
}

void gd_record_begin(const char *folder, int32_t driver_version, uint32_t early)
{
    char program[LARGEST];

    file.begun = true;
    if (strlen(folder) >= sizeof file.folder)
        return;
    strcpy(file.folder, folder);
    for (uint32_t i = 0; i < 1000 && !file.chunk_count; i++) {
        snprintf(file.path, sizeof file.path, "%s/%ld.%u" GD_ATTACHED_SUFFIX, folder,
                 (long)getpid(), i);
        if (!add_chunk() && errno != EEXIST)
            return; /* an empty file stays, which tells that there was no room */
    }
    read_program(program);
    gd_attached_process *process =
        gd_record_add(GD_ATTACHED_PROCESS, sizeof *process, program, NULL);
    process->version = GD_ATTACHED_VERSION;
    process->pid = (int32_t)getpid();
    process->driver_version = driver_version;
    process->early = early;
    gd_record_commit(process, GD_ATTACHED_PROCESS);
    if (file.chunk_count)
        file.process = process;
}

void gd_record_forget(void)
{
    for (uint32_t i = 0; i < file.chunk_count; i++)
        munmap(file.chunks[i], GD_ATTACHED_CHUNK);
    memset(&file, 0, sizeof file);
}

bool gd_record_is_begun(void)
{
    return file.begun;
}

void gd_record_clock(uint32_t clock)
{
    if (file.process)
        file.process->clock = clock;
}

void *gd_record_add(gd_attached_kind kind, size_t bytes, const char *text, uint32_t *number)
{
    const size_t length = strlen(text);
    const size_t whole = (bytes + length + 1 + 7) / 8 * 8;
    unsigned char *record = take(whole);

    if (number)
        *number = record ? file.counts[kind]++ : GD_ATTACHED_NONE;
    if (!record) {
        if (file.process)
            file.process->lost++;
        memset(nowhere.bytes, 0, sizeof nowhere.bytes);
        return nowhere.bytes;
    }
    ((gd_attached_head *)(void *)record)->bytes = (uint32_t)whole;
    memcpy(record + bytes, text, length + 1);
    return record;
}

void gd_record_commit(void *record, gd_attached_kind kind)
{
    __atomic_store_n(&((gd_attached_head *)record)->kind, (uint32_t)kind, __ATOMIC_RELEASE);
}

bool gd_record_image(const void *bytes, size_t count, char name[64])
{
    char path[sizeof file.path + 64];
    const unsigned char *rest = bytes;
    size_t left = count;

    snprintf(name, 64, "%ld.%u" GD_ATTACHED_IMAGE, (long)getpid(), file.image_count++);
    snprintf(path, sizeof path, "%s/%s", file.folder, name);
    if (!file.chunk_count || !is_within_limit(count))
        return false;
    int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (descriptor < 0)
        return false;
    while (left) {
        ssize_t written = write(descriptor, rest, left);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            break;
        rest += written;
        left -= (size_t)written;
    }
    close(descriptor);
    if (left)
        unlink(path);
    return !left;
}
