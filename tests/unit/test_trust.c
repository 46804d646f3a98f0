/* Folders and files that only this process's user can have written: what the store's tests do not
 * see of base/trust.h. */
#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/trust.h"
#include "suite.h"

enum { PATH = 200 };

static char work[] = "/tmp/griddep-test-trust-XXXXXX";
static griddep_error error;

static void make_work(void)
{
    griddep_error_init(&error);
    ck_assert_ptr_nonnull(mkdtemp(work));
}

static void remove_work(void)
{
    char command[64];

    snprintf(command, sizeof command, "rm -rf %s", work);
    ck_assert_int_eq(system(command), 0);
}

static const char *below(const char *name)
{
    static char path[PATH];

    snprintf(path, sizeof path, "%s/%s", work, name);
    return path;
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(below(name), "w");

    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

static uint32_t count_open_files(void)
{
    DIR *list = opendir("/proc/self/fd");
    uint32_t count = 0;

    ck_assert_ptr_nonnull(list);
    while (readdir(list))
        count++;
    closedir(list);
    return count;
}

static void ck_resolved(const char *path, const char *wanted)
{
    char *resolved = NULL;

    ck_assert_int_eq(gd_trust_resolve(path, &resolved, &error), GRIDDEP_OK);
    ck_assert_str_eq(resolved, wanted);
    free(resolved);
}

TEST_GROUP(trust, make_work, remove_work);

TEST(trust, paths_are_absolute)
{
    char wanted[PATH], given[PATH];

    ck_resolved("/", "/");
    ck_resolved("/there-is-no-such-folder/a", "/there-is-no-such-folder/a");
    ck_resolved(work, work);
    ck_assert_int_eq(mkdir(below("real"), 0700), 0);
    snprintf(wanted, sizeof wanted, "%s/link", work);
    ck_assert_int_eq(symlink("real", wanted), 0);
    snprintf(given, sizeof given, "%s/link/a/b", work);
    snprintf(wanted, sizeof wanted, "%s/real/a/b", work);
    ck_resolved(given, wanted);
    ck_assert_int_eq(chdir(work), 0);
    snprintf(wanted, sizeof wanted, "%s/a", work);
    ck_resolved("a", wanted);
    ck_assert_int_eq(chdir("/"), 0);
    ck_resolved("a-name-that-is-not-there", "/a-name-that-is-not-there");
}

/* Nobody else may write to what is made, whatever the process's mask lets through. */
TEST(trust, folders_are_made_for_their_user_alone)
{
    const mode_t mask = umask(0);
    struct stat status;
    int folder;

    ck_assert_int_eq(gd_trust_open_folder(below("a/b"), true, &folder, &error), GRIDDEP_OK);
    umask(mask);
    ck_assert_int_eq(close(folder), 0);
    ck_assert_int_eq(stat(below("a"), &status), 0);
    ck_assert_uint_eq(status.st_mode & 07777, 0700);
    ck_assert_int_eq(stat(below("a/b"), &status), 0);
    ck_assert_uint_eq(status.st_mode & 07777, 0700);
}

/* A program that has closed its standard input opens files as number 0. */
TEST(trust, the_first_file_is_a_file)
{
    const int kept = dup(0);
    char *data;
    size_t bytes;
    int folder;

    write_file("entry", "text");
    for (int closed = 0; closed < 2; closed++) {
        if (closed)
            close(0); /* number 0 goes to folders on the way, and behind them to the file */
        ck_assert_int_eq(gd_trust_open_folder(work, false, &folder, &error), GRIDDEP_OK);
        if (closed && folder == 0) {
            folder = dup(0);
            close(0);
        }
        ck_assert_int_eq(gd_trust_read(folder, work, "entry", 10, &data, &bytes, &error),
                         GRIDDEP_OK);
        ck_assert_uint_eq(bytes, 4);
        ck_assert_str_eq(data, "text");
        free(data);
        close(folder);
    }
    ck_assert_int_eq(dup2(kept, 0), 0);
    close(kept);
}

static void ck_refused(int32_t status, int32_t wanted, const char *text)
{
    ck_assert_int_eq(status, wanted);
    ck_assert_int_eq(error.status, wanted);
    ck_assert_msg(strstr(error.text, text), "%s", error.text);
    ck_assert_int_eq(error.line, 0);
    ck_assert_int_eq(error.column, 0);
}

/* What is wrong is told with its name, and nothing stays open or is handed out. */
TEST(trust, refusals_name_what_is_wrong)
{
    char wanted[2 * PATH], *data = NULL;
    size_t bytes = 0;
    int folder = -7, open;

    ck_assert_int_eq(mkdir(below("shared"), 0700), 0);
    ck_assert_int_eq(chmod(below("shared"), 0777), 0);
    ck_assert_int_eq(mkdir(below("shared/inner"), 0700), 0);
    write_file("wide", "0123456789");
    ck_assert_int_eq(chmod(below("wide"), 0600), 0);
    ck_assert_int_eq(gd_trust_open_folder(work, false, &open, &error), GRIDDEP_OK);
    const uint32_t files = count_open_files();
    for (int i = 0; i < 3; i++) {
        ck_refused(gd_trust_open_folder(below("none/a"), false, &folder, &error),
                   GRIDDEP_ERROR_NOT_FOUND, "none/a");
        snprintf(wanted, sizeof wanted,
                 "%s/shared/inner is not trusted: \"shared\" can be written by other users", work);
        ck_refused(gd_trust_open_folder(below("shared/inner"), true, &folder, &error),
                   GRIDDEP_ERROR_FILE, wanted);
        ck_refused(gd_trust_open_folder(below("wide/a"), true, &folder, &error), GRIDDEP_ERROR_FILE,
                   "wide/a");
        ck_assert_int_eq(folder, -7);
        ck_refused(gd_trust_read(open, work, "none", 10, &data, &bytes, &error),
                   GRIDDEP_ERROR_NOT_FOUND, "/none");
        ck_refused(gd_trust_read(open, work, "wide", 9, &data, &bytes, &error), GRIDDEP_ERROR_FILE,
                   "/wide has 10 bytes; at most 9 are read");
        ck_refused(gd_trust_read(open, work, "shared", 9, &data, &bytes, &error),
                   GRIDDEP_ERROR_FILE, "/shared is not trusted: it is no regular file");
        ck_assert_ptr_null(data);
    }
    ck_assert_int_eq(gd_trust_read(open, work, "wide", 10, &data, &bytes, &error), GRIDDEP_OK);
    ck_assert_str_eq(data, "0123456789");
    free(data);
    ck_assert_uint_eq(count_open_files(), files);
    close(open);
}

MAIN_OF_SUITE("trust")
