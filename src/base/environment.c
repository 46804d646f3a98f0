/* Environment variables. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/environment.h"
#include "base/nearest.h"

static const struct {
    const char *name, *values;
} variables[] = {
#define GD_VARIABLE(name, values) {#name, values},
#include "base/environment.def"
#undef GD_VARIABLE
};

/* Names that begin so are ours. */
static const char *const prefixes[] = {"GRIDDEP_ATTACH_", "GRIDDEP_EMULATOR_"};

const char *gd_environment(const char *name)
{
    const char *value = secure_getenv(name);

    return value && *value ? value : NULL;
}

bool gd_environment_is_empty(const char *name)
{
    const char *value = secure_getenv(name);

    return value && !*value;
}

const char *gd_environment_values(const char *name)
{
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        if (!strcmp(variables[i].name, name))
            return variables[i].values;
    }
    return NULL;
}

/* Whether one letter is missing, too many or another one, or two beside each other are swapped. */
static bool is_slip(const char *name, size_t bytes, const char *meant)
{
    const size_t wanted = strlen(meant);
    size_t same = 0;

    while (same < bytes && same < wanted && name[same] == meant[same])
        same++;
    const char *rest = name + same, *wanted_rest = meant + same;
    const size_t left = bytes - same, wanted_left = wanted - same;
    if (left == wanted_left)
        return left && (!memcmp(rest + 1, wanted_rest + 1, left - 1) ||
                        (left > 1 && rest[0] == wanted_rest[1] && rest[1] == wanted_rest[0] &&
                         !memcmp(rest + 2, wanted_rest + 2, left - 2)));
    if (left + 1 == wanted_left)
        return !memcmp(rest, wanted_rest + 1, left);
    return left == wanted_left + 1 && !memcmp(rest + 1, wanted_rest, wanted_left);
}

/* The variable that a name is a slip of; NULL. */
static const char *find_meant(const char *name, size_t bytes)
{
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        if (is_slip(name, bytes, variables[i].name))
            return variables[i].name;
    }
    return NULL;
}

/* That of a name; NULL. */
static const char *find_prefix(const char *name)
{
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
            return prefixes[i];
    }
    return NULL;
}

static const char *find_nearest(const char *name, size_t bytes, const char *prefix)
{
    gd_nearest nearest = {.word = name, .bytes = bytes};

    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        if (!strncmp(variables[i].name, prefix, strlen(prefix)))
            gd_nearest_look(&nearest, variables[i].name);
    }
    return nearest.name;
}

static bool is_known(const char *name, size_t bytes)
{
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        if (strlen(variables[i].name) == bytes && !memcmp(variables[i].name, name, bytes))
            return true;
    }
    return false;
}

bool gd_environment_check(char *text, size_t bytes)
{
    for (char **each = environ; each && *each; each++) {
        const size_t length = strcspn(*each, "=");
        if (is_known(*each, length))
            continue;
        const char *meant = find_meant(*each, length);
        const char *prefix = find_prefix(*each);
        if (!meant && !prefix)
            continue;
        if (!meant)
            meant = find_nearest(*each, length, prefix);
        char name[128];
        snprintf(name, sizeof name, "%.*s",
                 length < sizeof name ? (int)length : (int)sizeof name - 1, *each);
        if (length < sizeof name && !secure_getenv(name)) /* no variable counts in this program */
            return true;
        snprintf(text, bytes, "%s is no variable that is read; %s%s%s", name,
                 meant ? "did you mean " : "doc/environment.md lists them all", meant ? meant : "",
                 meant ? "?" : "");
        return false;
    }
    return true;
}

static bool one_of(const char *word, const char *const words[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!strcasecmp(word, words[i]))
            return true;
    }
    return false;
}

bool gd_word_is_off(const char *word)
{
    static const char *const words[] = {"off", "0", "no", "false"};

    return one_of(word, words, sizeof words / sizeof words[0]);
}

bool gd_word_is_on(const char *word)
{
    static const char *const words[] = {"on", "1", "yes", "true"};

    return one_of(word, words, sizeof words / sizeof words[0]);
}
