/* What it costs a process to open the library: memory that is written to, and nothing of the
 * driver. The library is opened by its path in children that have never seen it. This program runs
 * with a folder in LD_LIBRARY_PATH that has a libcuda.so.1, so that one that is asked for is
 * found. */
#include <check.h>
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "griddep.h"
#include "sanitized.h"
#include "suite.h"

#define LIBRARY BUILD_DIRECTORY "/.libs/libgriddep.so.0"
#define DRIVER_FOLDER BUILD_DIRECTORY "/driver"

enum { OPENINGS = 1000, WRITTEN = 8192, GROWTH = 1024 /* KiB */ };

typedef struct load {
    uint64_t written; /* bytes of the library that stay writable */
    int32_t library, driver;
} load;

/* Parts that are read-only once the loader is through are not counted. */
static int look(struct dl_phdr_info *object, size_t size, void *user)
{
    load *seen = user;

    (void)size;
    seen->driver |=
        strstr(object->dlpi_name, "libcuda") || strstr(object->dlpi_name, "libgriddep-emulator");
    if (!strstr(object->dlpi_name, "libgriddep.so"))
        return 0;
    seen->library = 1;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        if (object->dlpi_phdr[i].p_type == PT_LOAD && object->dlpi_phdr[i].p_flags & PF_W)
            seen->written += object->dlpi_phdr[i].p_memsz;
        if (object->dlpi_phdr[i].p_type == PT_GNU_RELRO)
            seen->written -= object->dlpi_phdr[i].p_memsz;
    }
    return 0;
}

static load open_here(void)
{
    load seen = {0};

    dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    dl_iterate_phdr(look, &seen);
    return seen;
}

static load open_in_child(void)
{
    load seen = {0};
    int ends[2];

    ck_assert_int_eq(pipe(ends), 0);
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        seen = open_here();
        _exit(write(ends[1], &seen, sizeof seen) != sizeof seen);
    }
    ck_assert_int_eq(read(ends[0], &seen, sizeof seen), sizeof seen);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    close(ends[0]);
    close(ends[1]);
    return seen;
}

TEST_GROUP(load, NULL, NULL);

TEST(load, opening_touches_little)
{
    const load seen = open_in_child();

    ck_assert_int_eq(seen.library, 1);
    ck_assert_int_eq(seen.driver, 0);
    ck_assert_msg(SANITIZED || (seen.written > 0 && seen.written < WRITTEN),
                  "%lu bytes stay writable", (unsigned long)seen.written);
}

/* That the driver would be seen. */
TEST(load, runtime_opens_the_driver)
{
    griddep_runtime *runtime = NULL;
    griddep_error error;
    int32_t (*open)(const griddep_runtime_options *, griddep_runtime **, griddep_error *);
    load seen = {0};
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

    ck_assert_ptr_nonnull(library);
    *(void **)&open = dlsym(library, "griddep_runtime_open");
    ck_assert_ptr_nonnull(*(void **)&open);
    error.size = sizeof error;
    const griddep_runtime_options options = {.size = sizeof options, .driver = "nvidia"};
    ck_assert_msg(open(&options, &runtime, &error) == GRIDDEP_OK, "%s", error.text);
    dl_iterate_phdr(look, &seen);
    void (*end)(griddep_runtime *);
    *(void **)&end = dlsym(library, "griddep_runtime_close");
    ck_assert_ptr_nonnull(*(void **)&end);
    end(runtime);
    ck_assert_int_eq(seen.driver, 1);
    seen = (load){0};
    dl_iterate_phdr(look, &seen);
    ck_assert_int_eq(seen.driver, 1); /* one that was started stays: others may use it */
}

static long get_resident(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fscanf(file, "%*s %ld", &pages), 1);
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

TEST(load, openings_leave_nothing)
{
    long before = 0;

    for (int i = 0; i < OPENINGS + 10; i++) {
        load seen = {0};
        void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
        ck_assert_ptr_nonnull(library);
        ck_assert_int_eq(dlclose(library), 0);
        if (i == 0) {
            dl_iterate_phdr(look, &seen);
            ck_assert_int_eq(seen.library, 0);
        }
        if (i == 9)
            before = get_resident();
    }
    const long after = get_resident();
    ck_assert_msg(SANITIZED || after - before < GROWTH, "%ld KiB more after %d openings",
                  after - before, OPENINGS);
}

int main(int count, char **arguments)
{
    const char *path = getenv("LD_LIBRARY_PATH");

    (void)count;
    if (!path || strcmp(path, DRIVER_FOLDER) != 0) {
        setenv("LD_LIBRARY_PATH", DRIVER_FOLDER, 1);
        execv("/proc/self/exe", arguments);
        return 99;
    }
    unsetenv("GRIDDEP_DRIVER");
    return run_suite(make_suite("load"));
}
