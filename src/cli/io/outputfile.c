/* Output files. Owns the lists of inputs and outputs, which it knows by device and inode: of the
 * file, or of the folder in which it will be made. */
#include "cli/io/outputfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/io/heap.h"
#include "cli/io/message.h"
#include "cli/io/temporary.h"

typedef struct gd_identity {
    bool is_known;
    struct stat status; /* of the file, or of its folder */
    char *name;         /* in the folder; NULL: the file exists */
} gd_identity;

typedef struct gd_output {
    char *option; /* NULL: by no option */
    char *path;
    bool is_folder;
} gd_output;

/* A file that is written and has not its name yet. */
typedef struct gd_staged {
    char *beside, *target;
} gd_staged;

static gd_identity *inputs;
static gd_output *outputs;
static gd_staged *staged;
static size_t input_count, output_count, staged_count;

enum { MOST_LINKS = 40 };

static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return gd_heap_string(".");
    return slash == path ? gd_heap_string("/") : gd_heap_format("%.*s", (int)(slash - path), path);
}

static const char *name_in(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* Where a path leads when its last component is a symbolic link, even to nowhere. To free. */
static char *follow(const char *path)
{
    char *at = gd_heap_string(path);
    for (int i = 0; i < MOST_LINKS; i++) {
        char link[4096];
        ssize_t length = readlink(at, link, sizeof(link));
        if (length <= 0 || (size_t)length == sizeof(link))
            break;
        char *folder = folder_of(at);
        char *next = link[0] == '/' ? gd_heap_format("%.*s", (int)length, link)
                                    : gd_heap_format("%s/%.*s", folder, (int)length, link);
        free(folder);
        free(at);
        at = next;
    }
    return at;
}

static bool is_stdout_word(const char *path)
{
    return strcmp(path, "-") == 0;
}

/* Paths of open files, which are no places in a folder. */
static bool is_descriptor(const char *path)
{
    return strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0;
}

static gd_identity identify(const char *path)
{
    gd_identity identity = {0};
    if (is_stdout_word(path)) {
        identity.is_known = fstat(STDOUT_FILENO, &identity.status) == 0;
        return identity;
    }
    if (stat(path, &identity.status) == 0) {
        identity.is_known = true;
        return identity;
    }
    char *target = follow(path), *folder = folder_of(target);
    identity.is_known = stat(folder, &identity.status) == 0;
    identity.name = gd_heap_string(name_in(target));
    free(folder);
    free(target);
    return identity;
}

static bool is_same(const gd_identity *a, const gd_identity *b)
{
    if (!a->is_known || !b->is_known || (a->name == NULL) != (b->name == NULL))
        return false;
    if (a->status.st_dev != b->status.st_dev || a->status.st_ino != b->status.st_ino)
        return false;
    return a->name == NULL || strcmp(a->name, b->name) == 0;
}

/* What is written there is lost anyway. */
static bool is_null_device(const gd_identity *identity)
{
    struct stat null;
    return identity->is_known && S_ISCHR(identity->status.st_mode) &&
           stat("/dev/null", &null) == 0 && identity->status.st_rdev == null.st_rdev;
}

static bool is_stream(const gd_identity *identity, int descriptor)
{
    gd_identity stream = {0};
    stream.is_known = fstat(descriptor, &stream.status) == 0;
    return is_same(identity, &stream);
}

static void add_input(gd_identity identity)
{
    bool counts = identity.is_known && identity.name == NULL && S_ISREG(identity.status.st_mode);
    free(identity.name);
    for (size_t i = 0; i < input_count && counts; i++)
        counts = !is_same(&inputs[i], &identity);
    if (!counts)
        return;
    identity.name = NULL;
    inputs = gd_heap_grow(inputs, input_count, input_count + 1, sizeof(*inputs));
    inputs[input_count++] = identity;
}

static bool is_input(const gd_identity *identity)
{
    for (size_t i = 0; i < input_count; i++)
        if (is_same(identity, &inputs[i]))
            return true;
    return false;
}

static int report_output_error(int code, const char *option, const char *path, const char *reason)
{
    if (option != NULL)
        return gd_message_error(code, "--%s: %s: %s", option, path, reason);
    return gd_message_error(code, "%s: %s", path, reason);
}

static const char *option_of(const char *path)
{
    for (size_t i = 0; i < output_count; i++)
        if (strcmp(outputs[i].path, path) == 0)
            return outputs[i].option;
    return NULL;
}

/* Why no file can be made in a folder; NULL. Permissions do not tell that of all folders. */
static const char *obstacle_in(const char *folder)
{
    char *path = NULL;
    const int descriptor = gd_temporary_make(folder, &path);
    if (descriptor < 0)
        return strerror(errno);
    close(descriptor);
    gd_temporary_remove(path);
    return NULL;
}

/* Why a new file or folder cannot have this path; NULL. A folder is not made through a link. */
static const char *obstacle_of_name(const gd_output *output)
{
    struct stat status;
    if (lstat(output->path, &status) != 0)
        return errno != ENOENT ? strerror(errno) : NULL;
    return output->is_folder ? "is a symbolic link that leads nowhere" : NULL;
}

/* Why nothing can be written there, as far as that can be told before; NULL. */
static const char *obstacle(const gd_output *output, const gd_identity *identity)
{
    if (is_stdout_word(output->path))
        return NULL;
    if (!identity->is_known)
        return strerror(ENOENT);
    bool is_folder = S_ISDIR(identity->status.st_mode);
    if (identity->name == NULL && output->is_folder && !is_folder)
        return "is not a directory";
    if (identity->name == NULL && !output->is_folder && is_folder)
        return "is a directory";
    if (identity->name != NULL && !is_folder)
        return strerror(ENOTDIR);
    if (identity->name != NULL && identity->name[0] == '\0')
        return strerror(ENOENT);
    if (identity->name == NULL && access(output->path, W_OK) != 0)
        return strerror(errno);
    if (output->is_folder && identity->name == NULL)
        return obstacle_in(output->path);
    if (identity->name == NULL &&
        (!S_ISREG(identity->status.st_mode) || is_descriptor(output->path)))
        return NULL;
    const char *reason = identity->name != NULL ? obstacle_of_name(output) : NULL;
    if (reason != NULL)
        return reason;
    char *target = follow(output->path), *folder = folder_of(target);
    reason = obstacle_in(folder);
    free(folder);
    free(target);
    return reason;
}

/* stdout and stderr are outputs too; a regular file cannot be both, except under its name as a
 * stream. */
static const char *conflict(const gd_output *output, const gd_identity *identity)
{
    bool is_regular =
        identity->is_known && identity->name == NULL && S_ISREG(identity->status.st_mode);
    if (is_input(identity))
        return "this is an input, which the command does not overwrite; give the output another "
               "name";
    if (!is_regular || is_stdout_word(output->path) || is_descriptor(output->path))
        return NULL;
    if (is_stream(identity, STDOUT_FILENO))
        return "stdout goes to this file already";
    if (is_stream(identity, STDERR_FILENO))
        return "stderr goes to this file already";
    return NULL;
}

static int check_pair(const gd_output *a, const gd_output *b)
{
    gd_identity first = identify(a->path), second = identify(b->path);
    bool same = is_same(&first, &second) && !is_null_device(&first);
    free(first.name);
    free(second.name);
    if (!same)
        return 0;
    if (strcmp(a->option, b->option) == 0)
        return gd_message_error(GD_EXIT_USAGE, "--%s: two outputs would be written to %s",
                                a->option, b->path);
    return gd_message_error(GD_EXIT_USAGE, "--%s and --%s would both be written to %s", a->option,
                            b->option, b->path);
}

static int add_output(const char *option, const char *path, bool is_folder)
{
    if (path[0] == '\0')
        return gd_message_error(GD_EXIT_USAGE, "--%s is empty; it is the name of a %s", option,
                                is_folder ? "folder" : "file");
    outputs = gd_heap_grow(outputs, output_count, output_count + 1, sizeof(*outputs));
    outputs[output_count++] = (gd_output){gd_heap_string(option), gd_heap_string(path), is_folder};
    return 0;
}

/* ---- writing ---- */

static int write_failed(const char *path, int reason)
{
    return report_output_error(GD_EXIT_REFUSED, option_of(path), path, strerror(reason));
}

/* fopen waits for a pipe's reader for ever; here a reader is given a moment to start. NULL after a
 * message. */
static FILE *open_to_write(const char *path, const gd_identity *identity)
{
    enum { ATTEMPTS = 200 };
    const struct timespec pause = {.tv_nsec = 10000000};
    bool is_pipe = S_ISFIFO(identity->status.st_mode), waits = true;
    int descriptor = -1, flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK;
    for (int i = 0; i < ATTEMPTS && waits; i++) {
        if (i > 0)
            nanosleep(&pause, NULL);
        descriptor = open(path, flags, 0666);
        waits = descriptor < 0 && is_pipe && errno == ENXIO;
    }
    FILE *file = NULL;
    if (descriptor >= 0 && fcntl(descriptor, F_SETFL, 0) == 0)
        file = fdopen(descriptor, "w");
    if (file != NULL)
        return file;
    const char *reason = waits ? "this is a pipe from which no program reads" : strerror(errno);
    report_output_error(GD_EXIT_REFUSED, option_of(path), path, reason);
    if (descriptor >= 0)
        close(descriptor);
    return NULL;
}

static int write_directly(const char *path, const gd_identity *identity, const void *data,
                          size_t bytes)
{
    if (is_stdout_word(path) || is_stream(identity, STDOUT_FILENO)) {
        /* In order with what else is printed; main tells of a failure. */
        fwrite(data, 1, bytes, stdout);
        return 0;
    }
    FILE *file = open_to_write(path, identity);
    if (file == NULL)
        return GD_EXIT_REFUSED;
    bool written = fwrite(data, 1, bytes, file) == bytes;
    int reason = errno;
    if (fclose(file) != 0 && written) {
        reason = errno;
        written = false;
    }
    return written ? 0 : write_failed(path, reason);
}

/* The mode and, where that is allowed, the owner that the file had; or the mode that a new one
 * gets. */
static bool take_mode(int descriptor, const struct stat *old)
{
    mode_t mask = umask(0);
    umask(mask);
    if (old != NULL && fchown(descriptor, old->st_uid, old->st_gid) != 0 && errno != EPERM)
        return false;
    return fchmod(descriptor, old != NULL ? old->st_mode & 07777 : 0666 & ~mask) == 0;
}

static int fill(int descriptor, const struct stat *old, const void *data, size_t bytes)
{
    const char *at = data;
    int reason = take_mode(descriptor, old) ? 0 : errno;
    while (bytes > 0 && reason == 0) {
        ssize_t count = write(descriptor, at, bytes);
        if (count < 0 && errno != EINTR)
            reason = errno;
        at += count > 0 ? count : 0;
        bytes -= count > 0 ? (size_t)count : 0;
    }
    if (close(descriptor) != 0 && reason == 0)
        reason = errno;
    return reason;
}

static int write_beside(const char *path, const gd_identity *identity, const void *data,
                        size_t bytes)
{
    char *target = follow(path), *folder = folder_of(target), *beside = NULL;
    int descriptor = gd_temporary_make(folder, &beside), reason = errno;
    if (descriptor >= 0)
        reason = fill(descriptor, identity->name == NULL ? &identity->status : NULL, data, bytes);
    free(folder);
    if (descriptor < 0 || reason != 0) {
        gd_temporary_remove(beside);
        free(target);
        return write_failed(path, reason);
    }
    staged = gd_heap_grow(staged, staged_count, staged_count + 1, sizeof(*staged));
    staged[staged_count++] = (gd_staged){beside, target};
    return 0;
}

static void discard(void)
{
    for (size_t i = 0; i < staged_count; i++) {
        gd_temporary_remove(staged[i].beside);
        free(staged[i].target);
    }
    staged_count = 0;
}

static int stage(const char *path, const void *data, size_t bytes, bool may_be_input)
{
    const gd_output output = {.path = (char *)path};
    gd_identity identity = identify(path);
    const char *reason = may_be_input ? NULL : conflict(&output, &identity);
    int code =
        reason != NULL ? report_output_error(GD_EXIT_USAGE, option_of(path), path, reason) : 0;
    reason = code == 0 ? obstacle(&output, &identity) : NULL;
    if (reason != NULL)
        code = report_output_error(GD_EXIT_REFUSED, option_of(path), path, reason);
    bool is_place =
        identity.name != NULL || (S_ISREG(identity.status.st_mode) && !is_descriptor(path));
    if (code == 0)
        code = is_place && !is_stdout_word(path) ? write_beside(path, &identity, data, bytes)
                                                 : write_directly(path, &identity, data, bytes);
    free(identity.name);
    if (code != 0)
        discard();
    return code;
}

void gd_outputfile_note_input(const char *path)
{
    add_input(identify(path));
}

void gd_outputfile_note_stdin(void)
{
    gd_identity identity = {0};
    identity.is_known = fstat(STDIN_FILENO, &identity.status) == 0;
    add_input(identity);
}

int gd_outputfile_claim(const char *option, const char *path)
{
    return add_output(option, path, false);
}

int gd_outputfile_claim_folder(const char *option, const char *path)
{
    return add_output(option, path, true);
}

int gd_outputfile_check(void)
{
    int code = 0;
    for (size_t i = 0; i < output_count && code == 0; i++) {
        gd_identity identity = identify(outputs[i].path);
        const char *reason = conflict(&outputs[i], &identity);
        if (reason != NULL)
            code = report_output_error(GD_EXIT_USAGE, outputs[i].option, outputs[i].path, reason);
        for (size_t k = 0; k < i && code == 0; k++)
            code = check_pair(&outputs[k], &outputs[i]);
        reason = code == 0 ? obstacle(&outputs[i], &identity) : NULL;
        if (reason != NULL)
            code = report_output_error(GD_EXIT_REFUSED, outputs[i].option, outputs[i].path, reason);
        free(identity.name);
    }
    return code;
}

int gd_outputfile_stage(const char *path, const void *data, size_t bytes)
{
    return stage(path, data, bytes, false);
}

int gd_outputfile_commit(void)
{
    int code = 0;
    for (size_t i = 0; i < staged_count && code == 0; i++) {
        if (rename(staged[i].beside, staged[i].target) != 0) {
            code = write_failed(staged[i].target, errno);
            break;
        }
        gd_temporary_release(staged[i].beside);
        staged[i].beside = NULL;
    }
    discard();
    return code;
}

int gd_outputfile_write(const char *path, const void *data, size_t bytes)
{
    int code = stage(path, data, bytes, false);
    return code == 0 ? gd_outputfile_commit() : code;
}

int gd_outputfile_replace(const char *path, const void *data, size_t bytes)
{
    int code = stage(path, data, bytes, true);
    return code == 0 ? gd_outputfile_commit() : code;
}
