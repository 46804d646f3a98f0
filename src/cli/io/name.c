/* C++ names by libstdc++, which is opened if it is there. */
#include "cli/io/name.h"

#include <ctype.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/io/heap.h"
#include "cli/io/temporary.h"

typedef char *(*demangler)(const char *, char *, size_t *, int *);

static demangler find_demangler(void)
{
    static demangler found;
    static bool looked;
    void *library = looked ? NULL : dlopen("libstdc++.so.6", RTLD_LAZY);
    void *function = library != NULL ? dlsym(library, "__cxa_demangle") : NULL;
    if (!looked)
        memcpy(&found, &function, sizeof(function));
    looked = true;
    return found;
}

/* A reference names what stands before it again: with many of them a short symbol may have a name
 * that no memory holds. */
static bool is_harmless(const char *symbol)
{
    enum { FEW = 24, SHORT = 4096 };
    size_t count = 0;
    for (const char *at = symbol; *at != '\0' && count <= FEW; at++)
        count += (*at == 'S' || *at == 'T') &&
                 (at[1] == '_' || isdigit((unsigned char)at[1]) || isupper((unsigned char)at[1]));
    return count <= FEW && strlen(symbol) <= SHORT;
}

enum { LONGEST_NAME = 16384 };

/* In a process of its own. */
static void tell_name(demangler demangle, const char *symbol, int to)
{
    const struct rlimit second = {1, 1}, none = {0, 0};
    int status = -1;
    gd_temporary_forget();
    setrlimit(RLIMIT_CORE, &none);
    setrlimit(RLIMIT_CPU, &second);
    char *plain = demangle(symbol, NULL, NULL, &status);
    const size_t length = status == 0 ? strlen(plain) : 0;
    _exit(length <= LONGEST_NAME && write(to, plain, length) == (ssize_t)length ? 0 : 1);
}

/* NULL: it has no name, or one that is too long, or takes too long, to tell. */
static char *demangle_apart(demangler demangle, const char *symbol)
{
    enum { MOST_LOST = 3 };
    static int lost;
    int ends[2], state = -1;
    if (lost >= MOST_LOST || pipe2(ends, O_CLOEXEC) != 0)
        return NULL;
    char *plain = gd_heap_take(LONGEST_NAME + 1, 1);
    const pid_t child = fork();
    if (child == 0)
        tell_name(demangle, symbol, ends[1]);
    close(ends[1]);
    ssize_t got = 1;
    for (size_t length = 0; child > 0 && got > 0; length += (size_t)got)
        got = read(ends[0], plain + length, LONGEST_NAME - length);
    close(ends[0]);
    if (child > 0)
        waitpid(child, &state, 0);
    lost += state != 0;
    if (state == 0 && plain[0] != '\0')
        return plain;
    free(plain);
    return NULL;
}

char *gd_name_demangle(const char *name)
{
    demangler demangle = strncmp(name, "_Z", 2) == 0 ? find_demangler() : NULL;
    char *plain = NULL;
    int status = 0;
    if (demangle != NULL)
        plain = is_harmless(name) ? demangle(name, NULL, NULL, &status)
                                  : demangle_apart(demangle, name);
    return plain != NULL && status == 0 ? plain : gd_heap_string(name);
}

/* Behind the bracket that closes the one at `from`; NULL: none does. */
static const char *find_close(const char *from)
{
    const char opening = *from, closing = opening == '<' ? '>' : ')';
    size_t depth = 0;
    for (const char *at = from; *at != '\0'; at++) {
        depth += *at == opening;
        depth -= *at == closing && at[-1] != '-';
        if (depth == 0)
            return at + 1;
    }
    return NULL;
}

/* The last bracket of a kind that stands in no other one and is closed; NULL: there is none. */
static const char *find_last(const char *name, char opening)
{
    const char *found = NULL;
    for (const char *at = name; at != NULL && *at != '\0';) {
        if (*at != '<' && *at != '(') {
            at++;
            continue;
        }
        const char *behind = find_close(at);
        found = behind != NULL && *at == opening ? at : found;
        at = behind != NULL ? behind : at + 1;
    }
    return found;
}

char *gd_name_shorten(const char *name, size_t most)
{
    const char *begin = strncmp(name, "void ", 5) == 0 ? name + 5 : name;
    if (strlen(begin) <= most)
        return gd_heap_string(begin);
    const char *parameters = find_last(begin, '('), *arguments = find_last(begin, '<');
    const char *tail = parameters != NULL && find_close(parameters)[0] == '\0' ? "(...)" : "";
    const size_t length = *tail != '\0' ? (size_t)(parameters - begin) : strlen(begin);
    if (length + strlen(tail) <= most)
        return gd_heap_format("%.*s%s", (int)length, begin, tail);
    const size_t head = arguments != NULL ? (size_t)(arguments + 1 - begin) : most / 2;
    const size_t rest =
        head + 12 < most && head < length ? (most - head - strlen(tail) - 3) / 2 : 4;
    if (arguments != NULL && head < length && length - head > 2 * rest)
        return gd_heap_format("%.*s...%.*s%s", (int)(head + rest), begin, (int)rest,
                              begin + length - rest, tail);
    return gd_heap_format("%.*s...%s", (int)(most / 2 - 1), begin,
                          begin + strlen(begin) - most / 2 + 2);
}

char *gd_name_own(const char *name)
{
    const char *parameters = find_last(name, '('), *begin = name;
    if (parameters == NULL || find_close(parameters)[0] != '\0')
        return gd_heap_string(name);
    for (const char *at = name; at < parameters;) {
        if (*at == ' ' || (at[0] == ':' && at[1] == ':'))
            begin = at + (*at == ' ' ? 1 : 2);
        const char *behind = *at == '<' || *at == '(' ? find_close(at) : NULL;
        if (*at == '<' && behind == parameters)
            return gd_heap_format("%.*s", (int)(at - begin), begin);
        at = behind != NULL ? behind : at + 1;
    }
    return gd_heap_format("%.*s", (int)(parameters - begin), begin);
}

static bool is_word(char at)
{
    return isalnum((unsigned char)at) || at == '_' || at == '$' || at == '.';
}

/* A symbol as a sentence has it. PTX calls a kernel's parameters by the kernel's symbol and
 * "_param_3". */
static char *tell(const char *symbol)
{
    enum { LONGEST = 60 };
    char *name = gd_heap_string(symbol), *parameter = strstr(name, "_param_");
    const char *behind = parameter != NULL ? symbol + (parameter - name) : "";
    if (parameter != NULL)
        *parameter = '\0';
    char *plain = gd_name_demangle(name), *shown = gd_name_shorten(plain, LONGEST);
    char *told =
        strcmp(plain, name) != 0 ? gd_heap_format("%s%s", shown, behind) : gd_heap_string(symbol);
    free(shown);
    free(plain);
    free(name);
    return told;
}

char *gd_name_tell(const char *text)
{
    char *told = gd_heap_string("");
    const char *from = text, *found = text;
    while ((found = strstr(found, "_Z")) != NULL) {
        const char *end = found;
        while (is_word(*end) && !(end[0] == '.' && !is_word(end[1])))
            end++;
        if (found == text || !is_word(found[-1])) {
            char *symbol = gd_heap_format("%.*s", (int)(end - found), found), *name = tell(symbol);
            char *longer = gd_heap_format("%s%.*s%s", told, (int)(found - from), from, name);
            free(name);
            free(symbol);
            free(told);
            told = longer;
            from = end;
        }
        found = end;
    }
    char *whole = gd_heap_format("%s%s", told, from);
    free(told);
    return whole;
}
