/* The libraries that decode. Each call opens its own, by a soname that the linker finds where the
 * system keeps libraries, and keeps nothing of it. */
#include <dlfcn.h>
#include <stddef.h>

#include "base/unpack.h"

const char *const gd_unpack_no_memory = "there is no memory to decode it";
/* The function, and in *library the handle that is to be closed; false: there is none. */
static bool find(const char *soname, const char *name, void **library, void *function)
{
    *library = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
    void *found = *library ? dlsym(*library, name) : NULL;

    memcpy(function, &found, sizeof found);
    if (*library && !found)
        dlclose(*library);
    return found;
}

const char *gd_unpack_lz4(gd_view packed, unsigned char *into, uint64_t bytes)
{
    int (*decode)(const char *packed, char *into, int size, int room);
    void *library;

    if (!find("liblz4.so.1", "LZ4_decompress_safe", &library, &decode))
        return "it is compressed with LZ4, and liblz4.so.1 cannot be opened: install it (Debian: "
               "liblz4-1)";
    const int made = decode((const char *)packed.bytes, (char *)into, (int)packed.size, (int)bytes);
    dlclose(library);
    return made >= 0 && (uint64_t)made == bytes ? NULL : "its LZ4 data are damaged";
}

const char *gd_unpack_zstd(gd_view packed, unsigned char *into, uint64_t bytes)
{
    const size_t no_memory = (size_t)-64; /* ZSTD_error_memory_allocation */
    size_t (*decode)(void *into, size_t room, const void *packed, size_t size);
    void *library;

    if (!find("libzstd.so.1", "ZSTD_decompress", &library, &decode))
        return "it is compressed with Zstandard, and libzstd.so.1 cannot be opened: install it "
               "(Debian: libzstd1)";
    const size_t made = decode(into, (size_t)bytes, packed.bytes, (size_t)packed.size);
    dlclose(library);
    if (made == no_memory)
        return gd_unpack_no_memory;
    return made == bytes ? NULL : "its Zstandard data are damaged";
}
