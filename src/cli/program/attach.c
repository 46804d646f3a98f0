/* A folder is made for each run, in which libcuda.so.1 is the library that observes and
 * libgriddep-next.so the driver behind it. When it is gone, what still has it in LD_LIBRARY_PATH
 * finds the driver of the system. */
#include "cli/program/attach.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/environment.h"
#include "griddep.h"

#include "cli/io/emulation.h"
#include "cli/io/heap.h"
#include "cli/io/hostfile.h"
#include "cli/io/message.h"
#include "cli/io/supervise.h"
#include "cli/io/temporary.h"
#include "cli/job/driverfolder.h"

static const char driver_name[] = "libcuda.so.1", next_name[] = "libgriddep-next.so";

/* ---- the driver behind ---- */

/* Where the loader finds a library. To free; NULL. */
static char *find_loaded(const char *name)
{
    struct link_map *map = NULL;
    void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    char *path = NULL;
    if (library != NULL && dlinfo(library, RTLD_DI_LINKMAP, &map) == 0)
        path = realpath(map->l_name, NULL);
    if (library != NULL)
        dlclose(library);
    return path;
}

static char *find_emulated(void)
{
    char *folder = gd_driverfolder_find();
    char *path = folder != NULL ? gd_heap_format("%s/%s", folder, driver_name) : NULL;
    char *whole = path != NULL ? realpath(path, NULL) : NULL;
    free(path);
    free(folder);
    return whole;
}

/* NVIDIA's, where it has a device; `strict`: it is asked for, and nothing else serves. */
static int find_nvidia(bool strict, char **path)
{
    griddep_error error;
    griddep_device_info info = {.size = sizeof info};
    griddep_error_init(&error);
    int32_t status = griddep_device_get_info("nvidia", 0, &info, &error);
    if (status == GRIDDEP_OK)
        *path = find_loaded(driver_name);
    if (*path != NULL || !strict)
        return 0;
    return status != GRIDDEP_OK
               ? gd_message_library(&error, "no driver or device can be used here")
               : gd_message_error(GD_EXIT_NO_DRIVER, "nobody can tell where %s lies", driver_name);
}

static int find_named(const char *name, char **path)
{
    if (strchr(name, '/') == NULL)
        return gd_message_error(
            GD_EXIT_USAGE, "the driver is auto, nvidia, emulated, or a path with a slash, not '%s'",
            name);
    uint64_t bytes = 0;
    const char *reason = gd_hostfile_measure(name, &bytes);
    *path = reason == NULL ? find_loaded(name) : NULL;
    if (*path != NULL)
        return 0;
    return gd_message_error(GD_EXIT_NO_DRIVER, "the driver cannot be opened: %s: %s", name,
                            reason != NULL ? reason : dlerror());
}

/* *path: to free. Returns 0, or an exit code after a message. */
static int find_driver(const char *asked, char **path)
{
    const char *name = asked != NULL ? asked : gd_environment("GRIDDEP_DRIVER");
    bool is_automatic = name == NULL || strcmp(name, "auto") == 0;
    bool is_emulated = !is_automatic && strcmp(name, "emulated") == 0;
    if (!is_automatic && !is_emulated && strcmp(name, "nvidia") != 0)
        return find_named(name, path);
    int code = is_emulated ? 0 : find_nvidia(!is_automatic, path);
    if (code == 0 && *path == NULL)
        *path = find_emulated();
    return code == 0 && *path == NULL ? GD_EXIT_NO_DRIVER : code;
}

/* ---- the program ---- */

/* As execvp finds it. To free; NULL. */
static char *find_program(const char *name)
{
    if (strchr(name, '/') != NULL)
        return gd_heap_string(name);
    const char *path = getenv("PATH");
    for (const char *at = path != NULL ? path : "/bin:/usr/bin";; at++) {
        size_t length = strcspn(at, ":");
        char *whole =
            length == 0 ? gd_heap_string(name) : gd_heap_format("%.*s/%s", (int)length, at, name);
        if (access(whole, X_OK) == 0)
            return whole;
        free(whole);
        at += length;
        if (*at == '\0')
            return NULL;
    }
}

/* The loader takes no LD_LIBRARY_PATH for a program that gets rights by being started. */
static bool is_privileged(const char *name)
{
    struct stat status;
    char *path = find_program(name);
    bool found = path != NULL && stat(path, &status) == 0 && S_ISREG(status.st_mode);
    bool privileged =
        found && (((status.st_mode & S_ISUID) != 0 && status.st_uid != geteuid()) ||
                  ((status.st_mode & S_ISGID) != 0 && status.st_gid != getegid()) ||
                  (geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0));
    free(path);
    return privileged;
}

static int link_to(const char *folder, const char *name, const char *target)
{
    char *path = gd_heap_format("%s/%s", folder, name);
    int code =
        symlink(target, path) == 0
            ? 0
            : gd_message_error(GD_EXIT_REFUSED, "%s cannot be made: %s", path, strerror(errno));
    free(path);
    return code;
}

static int fill_folder(const char *folder, const char *driver)
{
    char *attach = gd_driverfolder_find_attach();
    int code = attach != NULL ? 0 : GD_EXIT_REFUSED;
    if (code == 0 && strcmp(attach, driver) == 0)
        code = gd_message_error(
            GD_EXIT_USAGE,
            "this command runs attached already: its driver is %s; attach once, outermost", driver);
    if (code == 0)
        code = link_to(folder, driver_name, attach);
    if (code == 0)
        code = link_to(folder, next_name, driver);
    free(attach);
    return code;
}

static int set_environment(const gd_attach *request, const char *folder)
{
    int code = gd_driverfolder_lead(folder);
    if (code == 0) /* a driver that it names would be opened past the folder */
        code = gd_emulation_set("GRIDDEP_DRIVER", "auto");
    if (code == 0)
        code = gd_emulation_set("GRIDDEP_ATTACH_RECORD", folder);
    if (code == 0)
        code =
            gd_emulation_set("GRIDDEP_ATTACH_EARLY", request->early != NULL ? request->early : "");
    if (code == 0)
        code =
            gd_emulation_set("GRIDDEP_ATTACH_TIMES", request->times != NULL ? request->times : "");
    if (code == 0 && request->launches > 0) {
        char *range = gd_heap_format("%llu:%llu:%llu", (unsigned long long)request->first,
                                     (unsigned long long)request->launches,
                                     (unsigned long long)request->memory);
        code = gd_emulation_set("GRIDDEP_ATTACH_LAUNCHES", range);
        free(range);
    } else if (code == 0) {
        code = gd_emulation_set("GRIDDEP_ATTACH_LAUNCHES", "");
    }
    return code;
}

/* What this command writes to stdout stays there. */
static int start_on_stderr(char **arguments, pid_t *process)
{
    fflush(stdout);
    int own = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (own < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return gd_message_error(GD_EXIT_REFUSED, "stdout cannot be exchanged: %s", strerror(errno));
    int code = gd_supervise_start(arguments, process);
    dup2(own, STDOUT_FILENO);
    close(own);
    return code;
}

static int run_in(const gd_attach *request, const char *folder, char **arguments,
                  gd_attached_set *set, int *ended)
{
    pid_t process = 0;
    char *driver = NULL;
    int code = find_driver(request->driver, &driver);
    if (code == 0)
        code = fill_folder(folder, driver);
    if (code == 0)
        code = set_environment(request, folder);
    if (code == 0)
        code = request->speaks_on_stderr ? start_on_stderr(arguments, &process)
                                         : gd_supervise_start(arguments, &process);
    if (code == 0) {
        *ended = gd_supervise_wait(process);
        code = gd_attached_read(folder, set);
        set->driver = driver;
        driver = NULL;
    }
    free(driver);
    return code;
}

int gd_attach_run(const gd_attach *request, char **arguments, gd_attached_set *set, int *ended)
{
    *set = (gd_attached_set){0};
    char *folder = gd_temporary_make_folder();
    if (folder == NULL)
        return GD_EXIT_REFUSED;
    set->privileged = is_privileged(arguments[0]);
    int code = run_in(request, folder, arguments, set, ended);
    gd_temporary_remove(folder);
    return code;
}
