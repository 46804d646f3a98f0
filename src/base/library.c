/* Which build of a shared library is loaded. */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/library.h"
#include "base/text.h"

char *gd_library_build(const void *function)
{
    gd_text text = {0};
    struct stat status;
    Dl_info library;

    if (dladdr(function, &library) && library.dli_fname) {
        char *path = realpath(library.dli_fname, NULL);
        gd_text_string(&text, path ? path : library.dli_fname);
        if (path && !stat(path, &status))
            gd_text_format(&text, " %jd %jd.%09ld", (intmax_t)status.st_size,
                           (intmax_t)status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
        free(path);
    }
    gd_text_append(&text, "", 0);
    if (text.failed)
        gd_text_free(&text);
    return text.data;
}

bool gd_library_is_pipe(const char *path)
{
    struct stat status;

    return strchr(path, '/') && !stat(path, &status) && S_ISFIFO(status.st_mode);
}
