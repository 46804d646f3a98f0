/* The store and what is kept in it, on a fake NVRTC; who may have written it; an NVRTC newer than
 * the driver; where the driver keeps its own code. */
#include <check.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/file.h"
#include "base/trust.h"
#include "fake/fake_driver.h"
#include "griddep.h"
#include "run/group/group.h"
#include "run/module/compile.h"
#include "run/runtime.h"
#include "run/store.h"
#include "sanitized.h"
#include "suite.h"
#include "unit/fail_alloc.h"
#include "unit/status.h"

enum { STRANGER = 12345, HEADER_BYTES = 88 };

static griddep_error error;
static char work[64];   /* a folder of the test's own */
static char folder[96]; /* the store in it */
static char said[4096]; /* warnings */

#define ck_said(part) ck_assert_msg(strstr(said, part), "\"%s\" is not in: %s", part, said)

static void remember(void *user, int32_t level, const char *message)
{
    size_t used = strlen(said);

    (void)user;
    (void)level;
    snprintf(said + used, sizeof said - used, "%s\n", message);
}

static const gd_log to_said = {remember, NULL, GRIDDEP_LOG_WARNING};

static void begin(void)
{
    static const char *const unset[] = {"GRIDDEP_STORE", "GRIDDEP_PDL",        "GRIDDEP_NVRTC",
                                        "GRIDDEP_LOG",   "CUDA_CACHE_DISABLE", "CUDA_CACHE_MAXSIZE",
                                        "CUDA_HOME",     "CUDA_PATH",          "CUDA_CACHE_PATH",
                                        "XDG_CACHE_HOME"};

    for (size_t i = 0; i < sizeof unset / sizeof *unset; i++)
        unsetenv(unset[i]);
    snprintf(work, sizeof work, "/tmp/griddep-store-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(work));
    snprintf(folder, sizeof folder, "%s/store", work);
    setenv("HOME", work, 1);
    said[0] = 0;
    fake_driver_reset();
    griddep_error_init(&error);
}

static void finish(void)
{
    char command[192], left[256] = "";

    snprintf(command, sizeof command, "chmod -R u+rwx '%s' && rm -rf '%s'", work, work);
    ck_assert_int_eq(system(command), 0);
    ck_assert_msg(fake_driver_leaks(left, sizeof left) == 0, "left: %s", left);
}

static gd_store *open_store(const char *path)
{
    gd_store *store = NULL;

    ck_good(gd_store_open(path, &to_said, &store, &error));
    return store;
}

static gd_store_key key_of(unsigned number)
{
    gd_store_key key = {{0}};

    key.digest[0] = (uint8_t)number;
    key.digest[1] = (uint8_t)(number >> 8);
    return key;
}

static const char *path_of(unsigned number)
{
    static char path[256];

    snprintf(path, sizeof path, "%s/%02x%02x%060d.gdstore", folder, number & 255, number >> 8 & 255,
             0);
    return path;
}

static bool save(gd_store *store, unsigned number, const char *text)
{
    const gd_store_key key = key_of(number);

    return gd_store_save(store, &key, text, strlen(text));
}

/* Whether the entry is there, with this content. */
static bool has(gd_store *store, unsigned number, const char *text)
{
    const gd_store_key key = key_of(number);
    char *data = NULL;
    size_t bytes = 0;

    if (!gd_store_load(store, &key, &data, &bytes))
        return false;
    ck_assert_uint_eq(bytes, strlen(text));
    ck_assert_str_eq(data, text);
    free(data);
    return true;
}

static size_t count_of(const char *path)
{
    DIR *open = opendir(path);
    size_t count = 0;

    if (!open)
        return 0;
    for (struct dirent *item; (item = readdir(open));)
        count += item->d_name[0] != '.';
    closedir(open);
    return count;
}

static bool is_root(const char *test)
{
    if (geteuid() == 0)
        return true;
    printf("%s: skipped a part: only root can give files away\n", test);
    return false;
}

/* ---- entries ---- */

TEST_GROUP(entries, begin, finish);
TEST_GROUP(users, begin, finish);

TEST(entries, store_serves_what_was_saved)
{
    gd_store *store = open_store(folder);

    ck_assert_str_eq(gd_store_directory(store), folder);
    ck_assert(!has(store, 1, ""));
    ck_assert_int_ne(access(folder, F_OK), 0); /* nothing is made before something is saved */
    ck_assert(save(store, 1, "one") && save(store, 2, "") && save(store, 300, "other"));
    ck_assert(has(store, 1, "one") && has(store, 2, "") && has(store, 300, "other") &&
              !has(store, 3, ""));
    ck_assert(save(store, 1, "newer"));
    gd_store_close(store);
    store = open_store(folder);
    ck_assert(has(store, 1, "newer"));
    gd_store_close(store);
    ck_assert_uint_eq(count_of(folder), 3);
    ck_assert_str_eq(said, "");
    gd_store_close(NULL);
    ck_assert(!save(NULL, 1, "x") && !has(NULL, 1, "x"));
}

/* Damage of several kinds to an entry: it is removed, and the next save serves again. */
TEST(entries, store_notices_damage)
{
    static const struct {
        long cut;  /* new length, -1 to keep */
        long flip; /* byte to change, -1 for none */
    } cases[] = {{0, -1},  {10, -1}, {90, -1},
                 {-1, 0},  {-1, 9},  {-1, 17},
                 {-1, 40}, {-1, 70}, {-1, HEADER_BYTES + 1}};
    gd_store *store = open_store(folder);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        said[0] = 0;
        ck_assert(save(store, 7, "the content"));
        if (cases[i].cut >= 0)
            ck_assert_int_eq(truncate(path_of(7), cases[i].cut), 0);
        if (cases[i].flip >= 0) {
            FILE *file = fopen(path_of(7), "r+b");
            fseek(file, cases[i].flip, SEEK_SET);
            int byte = fgetc(file);
            fseek(file, cases[i].flip, SEEK_SET);
            fputc(byte ^ 0x40, file);
            fclose(file);
        }
        ck_assert_msg(!has(store, 7, "the content"), "case %zu", i);
        ck_said("damaged entry");
        ck_assert_int_ne(access(path_of(7), F_OK), 0);
    }
    gd_store_close(store);
}

TEST(entries, store_reads_only_what_its_user_wrote)
{
    gd_store *store = open_store(folder);
    char elsewhere[128];

    ck_assert(save(store, 1, "mine"));
    ck_assert_int_eq(chmod(path_of(1), 0620), 0);
    ck_assert(!has(store, 1, "mine"));
    ck_said("can be written by other users");
    ck_assert_int_eq(access(path_of(1), F_OK), 0);
    ck_assert_int_eq(chmod(path_of(1), 0602), 0);
    ck_assert(!has(store, 1, "mine"));
    ck_assert_int_eq(chmod(path_of(1), 0644), 0); /* others may read */
    ck_assert(has(store, 1, "mine"));
    snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", work);
    ck_assert_int_eq(rename(path_of(1), elsewhere), 0);
    ck_assert_int_eq(symlink(elsewhere, path_of(1)), 0);
    said[0] = 0;
    ck_assert(!has(store, 1, "mine"));
    ck_said("the store is not used");
    ck_assert(save(store, 1, "new")); /* in place of the link */
    ck_assert(has(store, 1, "new"));
    ck_assert_int_eq(mkfifo(path_of(2), 0600),
                     0); /* nobody writes into it: reading would never end */
    ck_assert(!has(store, 2, ""));
    ck_said("no regular file");
    if (is_root("store_reads_only_what_its_user_wrote")) {
        ck_assert_int_eq(chown(path_of(1), STRANGER, STRANGER), 0);
        said[0] = 0;
        ck_assert(!has(store, 1, "new"));
        ck_said("belongs to another user");
    }
    gd_store_close(store);
}

TEST(entries, store_lies_where_only_its_user_writes)
{
    char inner[160], link[160];
    gd_store *store = open_store(folder);

    ck_assert(save(store, 1, "mine"));
    static const mode_t wrong[] = {0770, 0702, 0777, 01777};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        said[0] = 0;
        ck_assert_int_eq(chmod(folder, wrong[i]), 0);
        ck_assert(!has(store, 1, "mine"));
        ck_said("can be written by other users");
        ck_assert(!save(store, 1, "mine"));
        gd_store *opened = open_store(folder);
        ck_assert_ptr_null(opened);
    }
    ck_assert_int_eq(chmod(folder, 0755), 0);
    ck_assert(has(store, 1, "mine"));
    /* What lies above: others could put another folder there, except where it is sticky. */
    ck_assert_int_eq(chmod(work, 0777), 0);
    ck_assert(!has(store, 1, "mine"));
    ck_assert_int_eq(chmod(work, 01777), 0);
    ck_assert(has(store, 1, "mine"));
    ck_assert_int_eq(chmod(work, 0700), 0);
    /* Another folder in its place, by way of a link. */
    snprintf(inner, sizeof inner, "%s/real", work);
    ck_assert_int_eq(rename(folder, inner), 0);
    ck_assert_int_eq(symlink(inner, folder), 0);
    ck_assert(!has(store, 1, "mine"));
    gd_store_close(store);
    snprintf(link, sizeof link, "%s/store/.",
             work); /* one that is there from the start is followed, once */
    store = open_store(link);
    ck_assert_str_eq(gd_store_directory(store), inner);
    ck_assert(has(store, 1, "mine"));
    if (is_root("store_lies_where_only_its_user_writes")) {
        ck_assert_int_eq(chown(inner, STRANGER, STRANGER), 0);
        said[0] = 0;
        ck_assert(!has(store, 1, "mine") && !save(store, 2, "x"));
        ck_said("belongs to another user");
        ck_assert_int_eq(chown(inner, 0, 0), 0);
        ck_assert_int_eq(chown(work, STRANGER, STRANGER), 0);
        ck_assert(!has(store, 1, "mine"));
        ck_assert_int_eq(chown(work, 0, 0), 0);
    }
    gd_store_close(store);
}

TEST(entries, store_checks_sizes_before_it_reads)
{
    gd_store *store = open_store(folder);
    const gd_store_key key = key_of(2);

    ck_assert(save(store, 1, "small"));
    ck_assert_int_eq(truncate(path_of(1), (off_t)20 << 30), 0);
    const struct rlimit limit = {(rlim_t)4 << 30, (rlim_t)4 << 30};
    ck_assert(SANITIZED ||
              setrlimit(RLIMIT_AS, &limit) == 0); /* the sanitizers reserve terabytes */
    ck_assert(!has(store, 1, "small"));
    ck_said("8388696 are read");
    char *large = calloc(1, GD_STORE_MOST_ENTRY + 1);
    ck_assert_ptr_nonnull(large);
    ck_assert(!gd_store_save(store, &key, large, GD_STORE_MOST_ENTRY + 1));
    ck_assert(gd_store_save(store, &key, large, GD_STORE_MOST_ENTRY));
    free(large);
    size_t bytes = 0;
    ck_assert(gd_store_load(store, &key, &large, &bytes));
    ck_assert_uint_eq(bytes, GD_STORE_MOST_ENTRY);
    free(large);
    gd_store_close(store);
}

static void make_old(const char *path, long seconds)
{
    struct timespec times[2];

    clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= seconds;
    times[1] = times[0];
    ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

TEST(entries, store_drops_what_was_used_longest_ago)
{
    gd_store *store = open_store(folder);

    for (unsigned i = 0; i < 10; i++) { /* 6.5 MB each */
        ck_assert(save(store, i, "text"));
        ck_assert_int_eq(truncate(path_of(i), 6500000), 0);
        make_old(path_of(i), 1000 - i);
    }
    ck_assert(save(store, 10, "text")); /* 65 MB are less than 64 MiB */
    ck_assert_uint_eq(count_of(folder), 11);
    make_old(path_of(10), 3600);
    ck_assert(has(store, 10, "text")); /* used now */
    ck_assert(save(store, 11, "text"));
    ck_assert_int_eq(truncate(path_of(11), 6500000), 0);
    ck_assert(save(store, 12, "text"));
    ck_assert_int_ne(access(path_of(0), F_OK), 0);
    ck_assert_int_eq(access(path_of(1), F_OK), 0);
    ck_assert_int_eq(access(path_of(10), F_OK), 0);
    ck_assert_uint_eq(count_of(folder), 12);
    gd_store_close(store);
}

TEST(entries, store_removes_what_dead_writers_left)
{
    char old[300], young[300], foreign[300];
    gd_store *store = open_store(folder);

    ck_assert(save(store, 1, "x"));
    snprintf(old, sizeof old, "%s.17.0.new", path_of(2));
    snprintf(young, sizeof young, "%s.17.1.new", path_of(2));
    snprintf(foreign, sizeof foreign, "%s/notes.new", folder);
    char *const paths[] = {old, young, foreign};
    for (size_t i = 0; i < 3; i++) {
        ck_assert_int_eq(close(open(paths[i], O_CREAT | O_WRONLY, 0600)), 0);
        make_old(paths[i], i == 1 ? 60 : 3600);
    }
    ck_assert(save(store, 1, "x"));
    ck_assert_int_ne(access(old, F_OK), 0);
    ck_assert_int_eq(access(young, F_OK), 0); /* its writer may be at work */
    ck_assert_int_eq(access(foreign, F_OK), 0);
    gd_store_close(store);
}

/* One of the processes: saves and loads a few entries over and over, and damages some. What it
 * loads is whole. */
static int share(unsigned process)
{
    gd_store *store = open_store(folder);
    unsigned random = process * 7919 + 1;
    char text[64];

    for (int i = 0; i < 300; i++) {
        random = random * 1103515245 + 12345;
        unsigned number = random >> 16 & 15;
        snprintf(text, sizeof text, "content of %u", number);
        if (!has(store, number, text))
            save(store, number, text);
        if (i % 16 == 5 && truncate(path_of(random >> 20 & 15), 50) != 0 && errno != ENOENT)
            return 1;
    }
    gd_store_close(store);
    return 0;
}

TEST(entries, store_is_shared_by_processes)
{
    enum { PROCESSES = 8 };
    pid_t children[PROCESSES];
    int status;

    for (unsigned i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        ck_assert_int_ge(children[i], 0);
        if (children[i] == 0)
            _exit(share(i));
    }
    for (unsigned i = 0; i < PROCESSES; i++) {
        ck_assert_int_eq(waitpid(children[i], &status, 0), children[i]);
        ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0,
                      "process %u ended with status %#x", i, (unsigned)status);
    }
    ck_assert_uint_le(count_of(folder), 16); /* and no temporary file */
    ck_assert_uint_ge(count_of(folder), 1);
}

/* A full disk, as far as a limit of file sizes shows it; a folder that cannot be written; a file in
 * the way. */
TEST(entries, store_that_cannot_be_written_is_no_failure)
{
    gd_store *store = open_store(folder);
    char below[160];
    int status;

    ck_assert(save(store, 1, "x"));
    pid_t child = fork();
    if (child == 0) {
        const struct rlimit limit = {50, 50};
        signal(SIGXFSZ, SIG_IGN);
        if (setrlimit(RLIMIT_FSIZE, &limit) || save(store, 2, "y"))
            _exit(1);
        _exit(!strstr(said, "cannot write") || count_of(folder) != 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(chmod(folder, 0500), 0);
    child = fork();
    if (child == 0) {
        if (geteuid() == 0 &&
            (chown(folder, STRANGER, STRANGER) || chown(path_of(1), STRANGER, STRANGER) ||
             chown(work, STRANGER, STRANGER) || setgid(STRANGER) || setuid(STRANGER)))
            _exit(2);
        if (!has(store, 1, "x")) /* it can still be read */
            _exit(3);
        if (save(store, 2, "y"))
            _exit(4);
        _exit(!strstr(said, "cannot create"));
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    gd_store_close(store);
    if (geteuid() == 0)
        ck_assert_int_eq(chown(work, 0, 0), 0);
    snprintf(below, sizeof below, "%s/file", work);
    ck_good(gd_file_write(below, "x", 1, &error));
    said[0] = 0;
    ck_assert_ptr_null(open_store(below));
    ck_said("the store is not used");
    snprintf(below, sizeof below, "%s/file/below", work);
    ck_assert_ptr_null(open_store(below));
}

TEST(entries, store_lies_where_the_environment_says)
{
    static const char *const off[] = {"off", "OFF", "0", "no"};
    char expected[160];

    for (size_t i = 0; i < sizeof off / sizeof *off; i++) {
        setenv("GRIDDEP_STORE", off[i], 1);
        ck_assert_ptr_null(open_store(NULL));
    }
    ck_assert_ptr_null(open_store(""));
    gd_store *store = open_store(folder); /* the option goes before */
    ck_assert_str_eq(gd_store_directory(store), folder);
    gd_store_close(store);
    setenv("GRIDDEP_STORE", "", 1);
    setenv("XDG_CACHE_HOME", folder, 1);
    store = open_store(NULL);
    snprintf(expected, sizeof expected, "%s/griddep", folder);
    ck_assert_str_eq(gd_store_directory(store), expected);
    ck_assert(save(store, 1, "x"));
    gd_store_close(store);
    unsetenv("XDG_CACHE_HOME");
    store = open_store(NULL);
    snprintf(expected, sizeof expected, "%s/.cache/griddep", work);
    ck_assert_str_eq(gd_store_directory(store), expected);
    ck_assert(save(store, 1, "x"));
    gd_store_close(store);
    setenv("HOME", "/nonexistent", 1);
    ck_assert_ptr_null(open_store(NULL));
    unsetenv("HOME");
    ck_assert_ptr_null(open_store(NULL));
    /* Relative to where the process stood when it was opened. */
    char *stood = getcwd(NULL, 0);
    ck_assert_int_eq(chdir(work), 0);
    setenv("GRIDDEP_STORE", "near/by", 1);
    store = open_store(NULL);
    ck_assert_int_eq(chdir(stood), 0);
    free(stood);
    snprintf(expected, sizeof expected, "%s/near/by", work);
    ck_assert_str_eq(gd_store_directory(store), expected);
    gd_store_close(store);
    ck_assert_str_eq(said, "");
}

/* ---- what NVRTC made ---- */

static char nvrtc_path[160];

static void write_text(const char *path, const char *text)
{
    ck_good(gd_file_write(path, text, strlen(text), &error));
}

/* A copy of the fake NVRTC, with its versions as "13.0 9.0". Gives the path. */
static const char *place_nvrtc(const char *name, const char *versions)
{
    char *data = NULL, beside[200];
    size_t bytes = 0;

    ck_assert_msg(getenv("FAKE_NVRTC"), "FAKE_NVRTC is not set");
    ck_good(gd_file_read(getenv("FAKE_NVRTC"), &data, &bytes, &error));
    snprintf(nvrtc_path, sizeof nvrtc_path, "%s/%s", work, name);
    ck_good(gd_file_write(nvrtc_path, data, bytes, &error));
    free(data);
    snprintf(beside, sizeof beside, "%s.version", nvrtc_path);
    write_text(beside, versions);
    return nvrtc_path;
}

static unsigned compilations(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    unsigned *count = library ? dlsym(library, "fake_nvrtc_compilations") : NULL;

    ck_assert_ptr_nonnull(count);
    dlclose(library);
    return *count;
}

static griddep_runtime *open_runtime(const char *nvrtc)
{
    const griddep_runtime_options options = {.size = sizeof options,
                                             .store_directory = folder,
                                             .nvrtc = nvrtc,
                                             .log = remember,
                                             .log_level = GRIDDEP_LOG_INFO};
    griddep_runtime *opened = NULL;
    gd_driver *driver = NULL;

    ck_good(gd_driver_create(fake_driver_get_proc_address, "fake", &driver, &error));
    ck_good(gd_runtime_open_on(driver, &options, &opened, &error));
    return opened;
}

/* 1: what NVRTC makes of a source came out of the store. */
static uint32_t from_store(griddep_runtime *runtime, const char *source, const char *name,
                           const char *option)
{
    const griddep_module_options options = {.size = sizeof options,
                                            .name = name,
                                            .compile_options = &option,
                                            .compile_option_count = option != NULL};
    griddep_module_info info = {.size = sizeof info};
    griddep_module *module = NULL;
    griddep_kernel *kernel = NULL;

    ck_good(griddep_module_compile(runtime, source, strlen(source), &options, &module, &error));
    ck_good(griddep_module_get_info(module, &info, &error));
    ck_good(griddep_module_find_kernel(module, "k", &kernel, &error));
    ck_assert_int_eq(strstr(source, "fake-log") != NULL,
                     strstr(info.log, "fake-log: mind this") != NULL);
    griddep_module_unload(module);
    return info.from_store;
}

TEST(users, compiled_source_is_kept)
{
    const char *path = place_nvrtc("libnvrtc.so", "13.0 9.0");
    griddep_runtime *runtime = open_runtime(path);
    static const char source[] = "__global__ void k(int *p) {} // fake-log: mind this\n";

    ck_assert_uint_eq(from_store(runtime, source, "k.cu", NULL), 0);
    ck_assert_uint_eq(from_store(runtime, source, "k.cu", NULL), 1);
    ck_assert_uint_eq(compilations(path), 1);
    griddep_runtime_close(runtime);
    runtime = open_runtime(path);
    ck_assert_uint_eq(from_store(runtime, source, "k.cu", NULL), 1);
    ck_assert_uint_eq(from_store(runtime, source, "l.cu", NULL),
                      0); /* messages and line tables have the name */
    ck_assert_uint_eq(from_store(runtime, source, "k.cu", "-lineinfo"), 0);
    ck_assert_uint_eq(from_store(runtime, source, "k.cu", "-lineinfo"), 1);
    ck_assert_uint_eq(from_store(runtime, "__global__ void k(int *p) { }", "k.cu", NULL), 0);
    griddep_runtime_close(runtime);
    fake_driver_set_capability(100); /* another chip */
    runtime = open_runtime(path);
    ck_assert_uint_eq(from_store(runtime, source, "k.cu", NULL), 0);
    griddep_runtime_close(runtime);
    fake_driver_set_capability(90);
    /* Another build that gives the same version. */
    runtime = open_runtime(place_nvrtc("libnvrtc.copy.so", "13.0 9.0"));
    ck_assert_uint_eq(from_store(runtime, source, "k.cu", NULL), 0);
    griddep_runtime_close(runtime);
}

/* Headers in memory are part of the key; a C++ name finds its kernel, also out of the store. */
TEST(users, headers_and_names_are_kept_too)
{
    static const char source[] = "#include \"scale.h\"\n#include <more/x.h>\n";
    griddep_header headers[] = {{"scale.h", "template <int N> __global__ void scale(int *);"},
                                {"more/x.h", "#include \"scale.h\"\n"}};
    const char *const names[] = {"scale<4>", "scale<8>"};
    const griddep_module_options options = {.size = sizeof options,
                                            .name = "k.cu",
                                            .headers = headers,
                                            .header_count = 2,
                                            .name_expressions = names,
                                            .name_expression_count = 2};
    griddep_runtime *runtime = open_runtime(place_nvrtc("libnvrtc.so", "13.0 9.0"));
    griddep_module *module = NULL;
    griddep_module_info info = {.size = sizeof info};
    griddep_kernel *kernel = NULL, *other = NULL;
    griddep_kernel_info found = {.size = sizeof found};

    for (uint32_t i = 0; i < 4; i++) {
        headers[0].text = i < 2 ? headers[0].text : "another text";
        ck_good(griddep_module_compile(runtime, source, strlen(source), &options, &module, &error));
        ck_good(griddep_module_get_info(module, &info, &error));
        ck_assert_uint_eq(info.from_store, i % 2);
        ck_good(griddep_module_find_kernel(module, "scale<8>", &kernel, &error));
        ck_good(griddep_module_find_kernel(module, "k", &other, &error));
        ck_assert_ptr_eq(kernel, other);
        ck_good(griddep_kernel_get_info(kernel, &found, &error));
        ck_assert_str_eq(found.name, "k");
        ck_status(griddep_module_find_kernel(module, "scale<5>", &kernel, &error),
                  GRIDDEP_ERROR_NOT_FOUND);
        griddep_module_unload(module);
    }
    headers[1].text = "#include <elsewhere.h>\n";
    for (uint32_t i = 0; i < 2; i++) {
        ck_good(griddep_module_compile(runtime, source, strlen(source), &options, &module, &error));
        ck_good(griddep_module_get_info(module, &info, &error));
        ck_assert_uint_eq(info.from_store, 0); /* a header includes a file */
        griddep_module_unload(module);
    }
    griddep_runtime_close(runtime);
}

TEST(users, headers_and_names_are_checked)
{
    const griddep_header no_text = {"a.h", NULL};
    const char *const no_name[] = {NULL}, *const wrong[] = {"!"};
    const griddep_module_options cases[] = {
        {.size = sizeof *cases, .header_count = 1},
        {.size = sizeof *cases, .name_expression_count = 1},
        {.size = sizeof *cases, .headers = &no_text, .header_count = 1},
        {.size = sizeof *cases, .name_expressions = no_name, .name_expression_count = 1},
        {.size = sizeof *cases, .name_expressions = wrong, .name_expression_count = 1}};
    griddep_runtime *runtime = open_runtime(place_nvrtc("libnvrtc.so", "13.0 9.0"));
    griddep_module *module = NULL;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_status(griddep_module_compile(runtime, "int a;", 6, &cases[i], &module, &error),
                  i == 4 ? GRIDDEP_ERROR_COMPILE : GRIDDEP_ERROR_ARGUMENT);
    ck_assert_ptr_null(module);
    griddep_runtime_close(runtime);
}

/* What may change without the source is compiled each time. */
TEST(users, source_that_depends_on_more_is_not_kept)
{
    static const struct {
        const char *source, *option;
        uint32_t kept;
    } cases[] = {{"#include <cuda_fp16.h>\n", NULL, 0},
                 {"#  inc\\\nlude \"mine.h\"\n", NULL, 0},
                 {"#inc\\\r\nlude \"mine.h\"\n", NULL, 0},
                 {"const char at[] = __TIME__;", NULL, 0},
                 {"const char at[] = __TIMESTAMP__;", NULL, 0},
                 {"const char at[] = __DATE__;", NULL, 0},
                 {"int a;", "-include=mine.h", 0},
                 {"int a;", "--pre-include=mine.h", 0},
                 {"int a;", "--use_pch=x", 0},
                 {"int a;", "--options-file=x", 0},
                 {"int a;", "--include-path=/usr/include", 1},
                 {"int a;", "-I/usr/include", 1},
                 {"int time; /* \\ */", NULL, 1}};
    const char *path = place_nvrtc("libnvrtc.so", "13.0 9.0");
    griddep_runtime *runtime = open_runtime(path);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (uint32_t round = 0; round < 2; round++)
            ck_assert_msg(from_store(runtime, cases[i].source, "k.cu", cases[i].option) ==
                              (round & cases[i].kept),
                          "case %zu", i);
    }
    griddep_runtime_close(runtime);
}

TEST(users, failed_compilation_is_not_kept)
{
    const char *path = place_nvrtc("libnvrtc.so", "13.0 9.0");
    griddep_runtime *runtime = open_runtime(path);
    griddep_module *module = NULL;

    for (unsigned i = 1; i <= 2; i++) {
        ck_status(griddep_module_compile(runtime, "#error", 6, NULL, &module, &error),
                  GRIDDEP_ERROR_COMPILE);
        ck_assert_uint_eq(compilations(path), i);
    }
    ck_assert_uint_eq(count_of(folder), 0);
    griddep_runtime_close(runtime);
}

/* PTX goes through one call of the driver, with a store and without. */
TEST(users, code_is_the_drivers)
{
    static const char text[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n    ret;\n}\n";
    griddep_runtime *runtime = open_runtime(NULL);
    griddep_module *module = NULL;

    for (int i = 0; i < 2; i++) {
        ck_good(griddep_module_load(runtime, text, strlen(text), NULL, &module, &error));
        griddep_module_unload(module);
    }
    ck_assert_uint_eq(fake_driver_calls("cuModuleLoadDataEx"), 2);
    ck_assert_uint_eq(count_of(folder), 0);
    griddep_runtime_close(runtime);
}

/* ---- an NVRTC newer than the driver ---- */

static int32_t version_of(griddep_runtime *runtime, const char *source)
{
    griddep_module_info info = {.size = sizeof info};
    griddep_ptx_info ptx = {.size = sizeof ptx};
    griddep_module *module = NULL;

    ck_good(griddep_module_compile(runtime, source, strlen(source), NULL, &module, &error));
    ck_good(griddep_module_get_info(module, &info, &error));
    ck_good(griddep_ptx_get_info(info.ptx, &ptx, &error));
    griddep_module_unload(module);
    return ptx.version;
}

TEST(users, newer_nvrtc_is_loaded_as_the_driver_takes_it)
{
    static const struct {
        int32_t driver, version;
        const char *nvrtc;
    } cases[] = {{12000, 80, "13.0 9.0"}, {12040, 84, "13.0 9.0"}, {12060, 85, "13.0 9.0"},
                 {12090, 88, "13.1 9.1"}, {13000, 90, "13.0 9.0"}, {13000, 88, "12.9 8.8"},
                 {12080, 87, "12.8 8.7"}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[32];
        snprintf(name, sizeof name, "libnvrtc.%zu.so", i);
        fake_driver_reset();
        fake_driver_set_version(cases[i].driver);
        griddep_runtime *runtime = open_runtime(place_nvrtc(name, cases[i].nvrtc));
        for (int round = 0; round < 2; round++) { /* the second comes out of the store */
            int32_t version = version_of(runtime, "int a;");
            ck_assert_msg(version == cases[i].version, "case %zu: %d", i, (int)version);
        }
        griddep_runtime_close(runtime);
    }
}

/* The emulated driver refuses newer texts as others do. */
TEST(users, newer_nvrtc_is_loaded_on_the_emulated_driver)
{
    const griddep_runtime_options options = {.size = sizeof options,
                                             .driver = getenv("EMULATED_DRIVER"),
                                             .store_directory = folder,
                                             .nvrtc = place_nvrtc("libnvrtc.so", "13.1 9.1")};
    static const char newer[] =
        ".version 9.1\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n    ret;\n}\n";
    griddep_runtime *runtime = NULL;
    griddep_module *module = NULL;

    ck_assert_msg(options.driver, "EMULATED_DRIVER is not set");
    ck_good(griddep_runtime_open(&options, &runtime, &error));
    ck_status(griddep_module_load(runtime, newer, strlen(newer), NULL, &module, &error),
              GRIDDEP_ERROR_COMPILE);
    ck_assert_int_eq(error.driver_code, GD_CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
    ck_assert_int_eq(version_of(runtime, "int a;"), 90);
    griddep_runtime_close(runtime);
}

/* The text needs what the driver lacks, or has another error: both say what is newer than what. */
TEST(users, newer_nvrtc_is_named_where_the_driver_refuses)
{
    static const char source[] =
        "// fake-jit-error: 8 Feature 'x' requires PTX ISA .version 9.0 or later\n";
    fake_driver_set_version(12040);
    griddep_runtime *runtime = open_runtime(place_nvrtc("libnvrtc.so", "13.0 9.0"));
    griddep_module *module = NULL;

    ck_status(griddep_module_compile(runtime, source, strlen(source), NULL, &module, &error),
              GRIDDEP_ERROR_COMPILE);
    static const char *const parts[] = {"requires PTX ISA .version 9.0", "NVRTC 13.0", "CUDA 12.4",
                                        "GRIDDEP_NVRTC", "libnvrtc.so"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        ck_assert_msg(strstr(error.text, parts[i]), "\"%s\" is not in: %s", parts[i], error.text);
    ck_status(griddep_module_compile(runtime, source, strlen(source), NULL, &module, NULL),
              GRIDDEP_ERROR_COMPILE);
    griddep_runtime_close(runtime);
    /* PTX that a caller gives is not changed. */
    runtime = open_runtime(NULL);
    static const char text[] =
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n    ret;\n}\n";
    ck_status(griddep_module_load(runtime, text, strlen(text), NULL, &module, &error),
              GRIDDEP_ERROR_COMPILE);
    ck_assert_int_eq(error.driver_code, GD_CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
    griddep_runtime_close(runtime);
}

/* Of those that are found the newest that is not newer than the driver, else the oldest. */
TEST(users, nvrtc_that_fits_the_driver_is_chosen)
{
    static const struct {
        int32_t driver;
        const char *versions[2]; /* of libnvrtc.so.13 and .12 */
        int32_t chosen;
    } cases[] = {{13000, {"13.0 9.0", "12.8 8.7"}, 13000},
                 {12080, {"13.0 9.0", "12.8 8.7"}, 12080},
                 {12090, {"13.0 9.0", "12.8 8.7"}, 12080},
                 {12040, {"13.0 9.0", "12.8 8.7"}, 12080},
                 {13010, {"13.0 9.0", "12.8 8.7"}, 13000}};
    gd_nvrtc *found = NULL;

    /* What the loader finds by itself would go before. */
    setenv("CUDA_HOME", "/nonexistent", 1);
    if (gd_nvrtc_open(NULL, 0, &found, &error) == GRIDDEP_OK) {
        printf("nvrtc_that_fits_the_driver_is_chosen: the loader finds %s: only what is older is "
               "tested\n",
               found->path);
        gd_nvrtc_close(found);
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char home[128], name[64];
        if (found && cases[i].chosen > 12999)
            continue;
        snprintf(home, sizeof home, "%s/%zu", work, i);
        setenv("CUDA_HOME", home, 1);
        ck_assert_int_eq(mkdir(home, 0700), 0);
        snprintf(home, sizeof home, "%s/%zu/lib64", work, i);
        ck_assert_int_eq(mkdir(home, 0700), 0);
        for (size_t k = 0; k < 2; k++) {
            snprintf(name, sizeof name, "%zu/lib64/libnvrtc.so.%d", i, k ? 12 : 13);
            place_nvrtc(name, cases[i].versions[k]);
        }
        gd_nvrtc *nvrtc = NULL;
        ck_good(gd_nvrtc_open(NULL, cases[i].driver, &nvrtc, &error));
        ck_assert_msg(nvrtc->version == cases[i].chosen, "case %zu: %d", i, (int)nvrtc->version);
        gd_nvrtc_close(nvrtc);
    }
}

/* ---- where the driver keeps its code ---- */

TEST(users, driver_cache_is_as_the_environment_says)
{
    static const struct {
        const char *disable, *path, *most, *home; /* "@": the test's folder; "-": not set */
        const char *directory, *reason;
        uint64_t bytes;
    } cases[] = {
        {"-", "-", "-", "@", "@/.nv/ComputeCache", "", (uint64_t)1 << 30},
        {"0", "-", "-", "@", "@/.nv/ComputeCache", "", (uint64_t)1 << 30},
        {"1", "-", "-", "@", "", "CUDA_CACHE_DISABLE is 1", 0},
        {"-", "@/own/cache", "1000000", "/nonexistent", "@/own/cache", "", 1000000},
        {"-", "@", "-", "-", "@", "", (uint64_t)1 << 30},
        {"-", "-", "0", "@", "", "CUDA_CACHE_MAXSIZE is 0", 0},
        {"-", "-", "99999999999999999999999", "@", "@/.nv/ComputeCache", "", (uint64_t)4 << 30},
        {"-", "-", "8589934592", "@", "@/.nv/ComputeCache", "", (uint64_t)4 << 30},
        {"-", "-", "some", "@", "", "CUDA_CACHE_MAXSIZE is some", 0},
        {"-", "", "-", "@", "", "CUDA_CACHE_PATH is empty", 0},
        {"-", "-", "-", "-", "", "neither CUDA_CACHE_PATH nor HOME is set", 0},
        {"-", "-", "-", "/proc/self/nowhere", "", "CUDA_CACHE_PATH can name another folder", 0},
        {"-", "@/file", "-", "@", "", "cannot be written", 0},
        {"-", "@/file/below", "-", "@", "", "cannot be written", 0},
    };
    static const char *const names[] = {"CUDA_CACHE_DISABLE", "CUDA_CACHE_PATH",
                                        "CUDA_CACHE_MAXSIZE", "HOME"};
    char path[160];

    snprintf(path, sizeof path, "%s/file", work);
    write_text(path, "");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const values[] = {cases[i].disable, cases[i].path, cases[i].most,
                                      cases[i].home};
        griddep_runtime_info info = {.size = sizeof info};
        for (size_t k = 0; k < 4; k++) {
            snprintf(path, sizeof path, "%s%s", *values[k] == '@' ? work : "",
                     values[k] + (*values[k] == '@'));
            if (*values[k] == '-')
                unsetenv(names[k]);
            else
                setenv(names[k], path, 1);
        }
        griddep_runtime *runtime = open_runtime(NULL);
        ck_good(griddep_runtime_get_info(runtime, &info, &error));
        snprintf(path, sizeof path, "%s%s", *cases[i].directory == '@' ? work : "",
                 cases[i].directory + (*cases[i].directory == '@'));
        ck_assert_msg(!strcmp(info.driver_cache, path), "case %zu: %s: %s", i, info.driver_cache,
                      info.driver_cache_reason);
        ck_assert_msg(*cases[i].reason ? strstr(info.driver_cache_reason, cases[i].reason) != NULL
                                       : !*info.driver_cache_reason,
                      "case %zu: %s", i, info.driver_cache_reason);
        ck_assert_uint_eq(info.driver_cache_bytes, cases[i].bytes);
        griddep_runtime_close(runtime);
    }
}

TEST(users, driver_cache_needs_a_home_that_can_be_written)
{
    int status;
    pid_t child = fork();

    ck_assert_int_ge(child, 0);
    if (child == 0) {
        griddep_runtime_info info = {.size = sizeof info};
        if (chmod(work, 0500) || (geteuid() == 0 && (chown(work, STRANGER, STRANGER) ||
                                                     setgid(STRANGER) || setuid(STRANGER))))
            _exit(2);
        griddep_runtime *runtime = open_runtime(NULL);
        griddep_runtime_get_info(runtime, &info, &error);
        _exit(*info.driver_cache ||
              !strstr(info.driver_cache_reason, "/.nv/ComputeCache cannot be written"));
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    if (geteuid() == 0)
        ck_assert_int_eq(chown(work, 0, 0), 0);
}

/* ---- memory ---- */

/* ---- from which size on NCCL carries out hops ---- */

/* Puts another content into the store's only entry, under a header that is right. */
static void replace_entry(const char *content)
{
    enum { LENGTH = 16, DIGEST = 56 };
    const uint64_t bytes = strlen(content);
    char header[HEADER_BYTES], path[400];
    gd_digest digest;
    DIR *open = opendir(folder);

    ck_assert_ptr_nonnull(open);
    for (struct dirent *item; (item = readdir(open)) != NULL;) {
        if (*item->d_name != '.')
            snprintf(path, sizeof path, "%s/%s", folder, item->d_name);
    }
    closedir(open);
    FILE *file = fopen(path, "r+");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fread(header, 1, sizeof header, file), sizeof header);
    memcpy(header + LENGTH, &bytes, sizeof bytes);
    gd_digest_begin(&digest);
    gd_digest_add(&digest, content, bytes);
    gd_digest_end(&digest, (uint8_t *)header + DIGEST);
    rewind(file);
    ck_assert_uint_eq(fwrite(header, 1, sizeof header, file), sizeof header);
    ck_assert_uint_eq(fwrite(content, 1, bytes, file), bytes);
    ck_assert_int_eq(ftruncate(fileno(file), (off_t)(sizeof header + bytes)), 0);
    fclose(file);
}

/* An entry that this library would not have written counts as none, and is told. */
TEST(users, crossings_are_read_with_care)
{
    static const char *const contents[] = {"griddep hops 1\nnccl_bytes 8\n",
                                           "griddep hops 1\nnccl_bytes 08\n",
                                           "griddep hops 1\nnccl_bytes -8\n",
                                           "griddep hops 1\nnccl_bytes 0\n",
                                           "griddep hops 1\nnccl_bytes 8",
                                           "griddep hops 1\nnccl_bytes 8\n\n",
                                           "griddep hops 1\nnccl_bytes 99999999999999999999\n",
                                           "griddep hops 1\nnccl_bytes ",
                                           "griddep hops 2\nnccl_bytes 8\n",
                                           "griddep tuned 2\n",
                                           ""};
    griddep_runtime *runtime = open_runtime(NULL);

    ck_assert_uint_eq(gd_group_recall_crossing(runtime), GD_GROUP_CROSSING);
    ck_good(gd_group_remember_crossing(runtime, 16, &error));
    ck_assert_uint_eq(gd_group_recall_crossing(runtime), 16);
    for (size_t i = 0; i < sizeof contents / sizeof *contents; i++) {
        replace_entry(contents[i]);
        said[0] = 0;
        const uint64_t got = gd_group_recall_crossing(runtime);
        ck_assert_msg(got == (i ? (uint64_t)GD_GROUP_CROSSING : 8), "%s", contents[i]);
        ck_assert_str_eq(said, i ? "what the store remembers of hops cannot be read\n" : "");
    }
    ck_good(gd_group_remember_crossing(runtime, UINT64_MAX, &error));
    ck_assert_uint_eq(gd_group_recall_crossing(runtime), UINT64_MAX);
    griddep_runtime_close(runtime);
}

static void empty_store(void)
{
    DIR *open = opendir(folder);

    for (struct dirent *item; open && (item = readdir(open));)
        unlinkat(dirfd(open), item->d_name, 0);
    if (open)
        closedir(open);
}

/* Opens, compiles twice, and closes. */
static int32_t compile_twice(const griddep_runtime_options *options)
{
    static const char source[] = "__global__ void k(int *p) {} // fake-log: mind this\n";
    griddep_runtime *runtime = NULL;
    griddep_module *module = NULL;
    gd_driver *driver = NULL;

    int32_t status = gd_driver_create(fake_driver_get_proc_address, "fake", &driver, &error);
    if (!status)
        status = gd_runtime_open_on(driver, options, &runtime, &error);
    for (int i = 0; i < 2 && !status; i++) {
        status = griddep_module_compile(runtime, source, strlen(source), NULL, &module, &error);
        if (!status)
            griddep_module_unload(module);
    }
    griddep_runtime_close(runtime);
    return status;
}

/* The nth allocation fails, for every n: it is reported, or the store does without, and nothing is
 * lost. With an empty store and a full one, where NVRTC is newer than the driver and where it is
 * not. */
LOOP_TEST(users, every_allocation_may_fail, 4)
{
    const griddep_runtime_options options = {.size = sizeof options,
                                             .store_directory = folder,
                                             .nvrtc = place_nvrtc("libnvrtc.so", "13.0 9.0")};
    long failures = 0;
    bool hit = true;

    fake_driver_set_version(_i & 1 ? 12040 : 13000);
    for (long n = 0; hit; n++) {
        if (_i & 2)
            empty_store();
        griddep_error_init(&error);
        fail_alloc_after(n);
        int32_t status = compile_twice(&options);
        hit = fail_alloc_hit();
        fail_alloc_after(-1);
        /* What the store cannot keep or give is compiled; a refusal that is got over need not quote
         * its line. */
        const bool quiet = fail_alloc_within((void (*)(void))gd_compile_source) ||
                           ((_i & 1) && !fail_alloc_within((void (*)(void))gd_runtime_open_on));
        ck_assert_msg(hit ? status == GRIDDEP_ERROR_MEMORY || (quiet && !status) : !status,
                      "allocation %ld: %s: %s", n, griddep_status_name(status), error.text);
        ck_assert_uint_eq(fake_driver_leaks(NULL, 0), 0);
        failures += status != GRIDDEP_OK;
    }
    ck_assert_int_gt(failures, 20);
}

MAIN_OF_SUITE("store")
