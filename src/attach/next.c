/* Finds the driver behind: a dependency of this library by the name that follows, so that the
 * loader finds in it what is asked for by names that driver.def does not have. */
#include <dlfcn.h>
#include <string.h>

#include "attach/next.h"

static const char next_name[] = "libgriddep-next.so";

gd_next gd_next_driver;

static const struct {
    const char *symbol;
    size_t offset;
} exports[] = {
#define GD_EXPORT(symbol, arguments) {#symbol, offsetof(gd_next, symbol)},
#define GD_DRIVER(symbol, name, version, need, offer, variant, arguments)                          \
    GD_EXPORT(symbol, arguments) GD_WHERE_VARIANT(variant, symbol, GD_EXPORT, arguments)
#include "cuda/driver.def"
#undef GD_DRIVER
#undef GD_EXPORT
};

/* Before anybody can call an export: the loader runs it, and nothing of it takes locks of ours. */
__attribute__((constructor)) static void find_next(void)
{
    void *library = dlopen(next_name, RTLD_LAZY | RTLD_NOLOAD);

    if (!library)
        return;
    for (size_t i = 0; i < sizeof exports / sizeof *exports; i++) {
        void *function = dlsym(library, exports[i].symbol);
        memcpy((char *)&gd_next_driver + exports[i].offset, &function, sizeof function);
    }
    dlclose(library); /* it stays, as our dependency */
}
