/* Finding the folder: beside the library where both are installed, at the top of a build tree. */
#include "cli/job/driverfolder.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/io/emulation.h"
#include "cli/io/heap.h"
#include "cli/io/message.h"

static const char driver_name[] = "libcuda.so.1";

/* The folder of the library, with links followed or not. To free; NULL. */
static char *library_folder(bool follow)
{
    Dl_info info;
    void *function = dlsym(RTLD_DEFAULT, "griddep_version");
    if (function == NULL || dladdr(function, &info) == 0 || info.dli_fname == NULL)
        return NULL;
    char *path = follow ? realpath(info.dli_fname, NULL) : gd_heap_string(info.dli_fname);
    char *slash = path != NULL ? strrchr(path, '/') : NULL;
    if (slash != NULL)
        *slash = '\0';
    char *folder = slash != NULL ? realpath(path[0] != '\0' ? path : "/", NULL) : NULL;
    free(path);
    return folder;
}

/* The folder at a path from the library's, where it holds the file. To free; NULL. */
static char *find_from_library(const char *library, const char *from_there, const char *file)
{
    char *folder = gd_heap_format("%s/%s", library, from_there);
    char *path = gd_heap_format("%s/%s", folder, file);
    char *found = access(path, R_OK) == 0 ? realpath(folder, NULL) : NULL;
    free(path);
    free(folder);
    return found;
}

/* Where both are installed the file lies in one folder, in a build tree in another one. */
static char *find(const char *installed, const char *built, const char *file)
{
    char *found = NULL;
    for (int follow = 0; follow < 2 && found == NULL; follow++) {
        char *library = library_folder(follow != 0);
        const char *last = library != NULL ? strrchr(library, '/') : NULL;
        if (library != NULL)
            found = find_from_library(library, installed, file);
        if (found == NULL && last != NULL && strcmp(last, "/.libs") == 0)
            found = find_from_library(library, built, file);
        free(library);
    }
    return found;
}

char *gd_driverfolder_find(void)
{
    char *found = find("griddep/driver", "../driver", driver_name);
    if (found == NULL)
        gd_message_error(
            GD_EXIT_REFUSED,
            "the emulated driver is not installed as griddep/driver/%s beside libgriddep",
            driver_name);
    return found;
}

char *gd_driverfolder_find_attach(void)
{
    static const char name[] = "libgriddep-attach.so";
    char *folder = find("griddep/attach", "../.libs", name);
    char *path = folder != NULL ? gd_heap_format("%s/%s", folder, name) : NULL;
    if (path == NULL)
        gd_message_error(GD_EXIT_REFUSED, "griddep/attach/%s is not installed beside libgriddep",
                         name);
    free(folder);
    return path;
}

int gd_driverfolder_lead(const char *folder)
{
    if (strpbrk(folder, ":;$") != NULL)
        return gd_message_error(GD_EXIT_REFUSED,
                                "LD_LIBRARY_PATH cannot name %s: it splits at ':' and ';' and "
                                "expands '$'; set TMPDIR to another folder",
                                folder);
    const char *before = getenv("LD_LIBRARY_PATH");
    bool has_more = before != NULL && before[0] != '\0';
    char *path = gd_heap_format("%s%s%s", folder, has_more ? ":" : "", has_more ? before : "");
    int code = gd_emulation_set("LD_LIBRARY_PATH", path);
    free(path);
    return code;
}
