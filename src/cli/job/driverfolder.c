/* Finding the folder: beside the library where both are installed, at the top of a build tree. */
#include "cli/job/driverfolder.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* The folder at a path from the library's, where it holds the driver. To free; NULL. */
static char *find_from_library(const char *library, const char *from_there)
{
    char *folder = gd_heap_format("%s/%s", library, from_there);
    char *driver = gd_heap_format("%s/%s", folder, driver_name);
    char *found = access(driver, R_OK) == 0 ? realpath(folder, NULL) : NULL;
    free(driver);
    free(folder);
    return found;
}

char *gd_driverfolder_find(void)
{
    char *found = NULL;
    for (int follow = 0; follow < 2 && found == NULL; follow++) {
        char *library = library_folder(follow != 0);
        const char *last = library != NULL ? strrchr(library, '/') : NULL;
        if (library != NULL)
            found = find_from_library(library, "griddep/driver");
        if (found == NULL && last != NULL && strcmp(last, "/.libs") == 0)
            found = find_from_library(library, "../driver");
        free(library);
    }
    if (found == NULL)
        gd_message_error(
            GD_EXIT_REFUSED,
            "the emulated driver is not installed as griddep/driver/%s beside libgriddep",
            driver_name);
    return found;
}
