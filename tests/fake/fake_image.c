/* The fake driver's reader of PTX: comments are blanked, words and punctuation follow one another,
 * and only declarations at module scope, entry headers and shared variables are looked at. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* reallocarray */
#endif
#include <ctype.h>
#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_image.h"

typedef struct scanner {
    const char *at;
    const char *token; /* the current one; at its end `at` stands */
    size_t bytes;      /* 0 at the end of the text */
} scanner;

/* A cubin is an ELF file without sections for the machine that cubins are for, with the PTX behind
 * this header. */
typedef struct cubin_header {
    Elf64_Ehdr elf;
    char mark[8];
    uint64_t text_bytes;
    uint64_t checksum;
    int32_t capability;
    int32_t reserved;
} cubin_header;

enum { MACHINE_CUDA = 190 };

static const char cubin_mark[8] = "fakecode";

void *fake_allocate(size_t bytes)
{
    return fake_grow(NULL, bytes);
}

/* reallocarray, because a test may have replaced realloc with one that fails. */
void *fake_grow(void *memory, size_t bytes)
{
    void *grown = reallocarray(memory, 1, bytes ? bytes : 1);

    if (!grown) {
        fputs("fake driver: no memory left\n", stderr);
        abort();
    }
    return grown;
}

char *fake_copy(const char *text, size_t bytes)
{
    char *copy = fake_allocate(bytes + 1);

    memcpy(copy, text, bytes);
    copy[bytes] = 0;
    return copy;
}

/* A copy of the text with each comment made blank. */
static char *blank_comments(const char *text, size_t bytes)
{
    char *copy = fake_copy(text, bytes);

    for (char *at = copy; *at;) {
        size_t length = 0;
        if (at[0] == '/' && at[1] == '/') {
            length = strcspn(at, "\n");
        } else if (at[0] == '/' && at[1] == '*') {
            const char *end = strstr(at + 2, "*/");
            length = end ? (size_t)(end + 2 - at) : strlen(at);
        }
        memset(at, ' ', length);
        at += length ? length : 1;
    }
    return copy;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

/* A word begins with a dot or not, and ends before the next dot: ".param.u64" are two. */
static void advance(scanner *s)
{
    while (isspace((unsigned char)*s->at))
        s->at++;
    s->token = s->at;
    if (*s->at == '"') {
        size_t inside = strcspn(s->at + 1, "\"");
        s->at += 1 + inside + (s->at[1 + inside] == '"');
    } else if (*s->at == '.' || is_word(*s->at)) {
        s->at++;
        while (is_word(*s->at))
            s->at++;
    } else if (*s->at) {
        s->at++;
    }
    s->bytes = (size_t)(s->at - s->token);
}

static bool is(const scanner *s, const char *word)
{
    return s->bytes == strlen(word) && !memcmp(s->token, word, s->bytes);
}

static bool ends(const scanner *s)
{
    return s->bytes == 0;
}

static size_t number(const scanner *s)
{
    return (size_t)strtoul(s->token, NULL, 0);
}

/* From an opening bracket to behind the one that closes it. */
static void skip_nested(scanner *s, const char *opening, const char *closing)
{
    size_t depth = 0;

    do {
        if (is(s, opening))
            depth++;
        else if (is(s, closing))
            depth--;
        advance(s);
    } while (depth && !ends(s));
}

/* Bytes of a type word, 0 for a word that is none. */
static size_t type_bytes(const scanner *s)
{
    static const struct {
        const char *name;
        size_t bytes;
    } types[] = {{".b8", 1},      {".u8", 1},        {".s8", 1},    {".b16", 2},    {".u16", 2},
                 {".s16", 2},     {".f16", 2},       {".bf16", 2},  {".b32", 4},    {".u32", 4},
                 {".s32", 4},     {".f32", 4},       {".f16x2", 4}, {".bf16x2", 4}, {".b64", 8},
                 {".u64", 8},     {".s64", 8},       {".f64", 8},   {".b128", 16},  {".texref", 8},
                 {".surfref", 8}, {".samplerref", 8}};

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (is(s, types[i].name))
            return types[i].bytes;
    }
    return 0;
}

typedef struct declaration {
    const char *name;
    size_t name_bytes;
    size_t bytes;
    size_t alignment;
} declaration;

/* Reads ".align 8 .v2 .f32 name[4][2]", and ".u64 .ptr .global .align 16 name", up to what follows:
 * a comma, an equal sign, ... */
static declaration read_declaration(scanner *s)
{
    declaration found = {0};
    bool pointer = false;
    size_t elements = 1;
    size_t natural = 1;

    while (!ends(s) && (*s->token == '.' || isdigit((unsigned char)*s->token))) {
        size_t bytes = type_bytes(s);
        if (bytes)
            natural = bytes;
        else if (is(s, ".ptr"))
            pointer = true;
        else if (is(s, ".v2") || is(s, ".v4"))
            elements = (size_t)(s->token[2] - '0');
        bool align = is(s, ".align");
        advance(s);
        if (align) {
            if (!pointer)
                found.alignment = number(s);
            advance(s);
        }
    }
    found.name = s->token;
    found.name_bytes = s->bytes;
    if (!found.alignment)
        found.alignment = natural * elements;
    advance(s);
    while (is(s, "[")) {
        advance(s);
        elements *= is(s, "]") ? 0 : number(s);
        while (!ends(s) && !is(s, "]"))
            advance(s);
        advance(s);
    }
    found.bytes = natural * elements;
    return found;
}

static void add_parameter(fake_entry *entry, const declaration *found)
{
    size_t alignment = found->alignment ? found->alignment : 1;
    size_t offset = (entry->parameter_bytes + alignment - 1) / alignment * alignment;

    entry->parameters =
        fake_grow(entry->parameters, (entry->parameter_count + 1) * sizeof *entry->parameters);
    entry->parameters[entry->parameter_count++] = (fake_parameter){offset, found->bytes};
    entry->parameter_bytes = offset + found->bytes;
}

static void read_parameters(scanner *s, fake_entry *entry)
{
    advance(s);
    while (!ends(s) && !is(s, ")")) {
        declaration found = read_declaration(s);
        add_parameter(entry, &found);
        while (!ends(s) && !is(s, ",") && !is(s, ")"))
            advance(s);
        if (is(s, ","))
            advance(s);
    }
    advance(s);
}

static void read_dimensions(scanner *s, unsigned dimensions[3])
{
    for (size_t i = 0; i < 3; i++)
        dimensions[i] = 1;
    for (size_t i = 0; i < 3; i++) {
        advance(s);
        dimensions[i] = (unsigned)number(s);
        advance(s);
        if (!is(s, ","))
            return;
    }
}

/* A body, brace to brace: only declarations of shared variables matter, which begin a statement. */
static void read_body(scanner *s, fake_entry *entry)
{
    size_t depth = 0;
    bool begins = true;

    do {
        if (begins && is(s, ".shared")) {
            advance(s);
            entry->shared_bytes += read_declaration(s).bytes;
            begins = false;
            continue;
        }
        depth += is(s, "{");
        depth -= is(s, "}");
        begins = is(s, "{") || is(s, "}") || is(s, ";") || is(s, ":");
        advance(s);
    } while (depth && !ends(s));
}

static void read_entry(scanner *s, fake_image *image)
{
    fake_entry entry = {0};

    advance(s);
    entry.name = fake_copy(s->token, s->bytes);
    advance(s);
    if (is(s, "("))
        read_parameters(s, &entry);
    while (!ends(s) && !is(s, "{") && !is(s, ";")) {
        if (is(s, ".reqntid"))
            read_dimensions(s, entry.required_block);
        else if (is(s, ".maxntid"))
            read_dimensions(s, entry.maximum_block);
        else
            advance(s);
    }
    if (is(s, "{"))
        read_body(s, &entry);
    image->entries = fake_grow(image->entries, (image->entry_count + 1) * sizeof *image->entries);
    image->entries[image->entry_count++] = entry;
}

static void read_variable(scanner *s, fake_image *image, bool shared)
{
    advance(s);
    declaration found = read_declaration(s);
    if (shared) {
        image->shared_bytes += found.bytes;
    } else {
        image->variables =
            fake_grow(image->variables, (image->variable_count + 1) * sizeof *image->variables);
        image->variables[image->variable_count++] =
            (fake_variable){fake_copy(found.name, found.name_bytes), found.bytes};
    }
    while (!ends(s) && !is(s, ";"))
        advance(s);
}

static void read_version(scanner *s, fake_image *image)
{
    int major = 0;
    int minor = 0;

    if (sscanf(s->at, "%d.%d", &major, &minor) == 2)
        image->version = 10 * major + minor;
    advance(s);
}

static void read_target(scanner *s, fake_image *image)
{
    char *end = NULL;

    advance(s);
    if (s->bytes < 4 || memcmp(s->token, "sm_", 3))
        return;
    image->target = (int)strtol(s->token + 3, &end, 10);
    image->target_specific = *end == 'a';
}

static void read_module(scanner *s, fake_image *image)
{
    bool external = false;

    for (advance(s); !ends(s);) {
        bool was_external = external;
        external = is(s, ".extern");
        if (is(s, ".version"))
            read_version(s, image);
        else if (is(s, ".target"))
            read_target(s, image);
        else if (is(s, ".entry"))
            read_entry(s, image);
        else if (!was_external && (is(s, ".global") || is(s, ".const") || is(s, ".shared")))
            read_variable(s, image, is(s, ".shared"));
        else if (is(s, "("))
            skip_nested(s, "(", ")");
        else if (is(s, "{"))
            skip_nested(s, "{", "}");
        else
            advance(s);
    }
}

/* The rest of the line behind a marker, or NULL. */
static char *find_marker(const char *text, const char *marker)
{
    const char *found = strstr(text, marker);

    if (!found)
        return NULL;
    found += strlen(marker);
    found += strspn(found, " ");
    return fake_copy(found, strcspn(found, "\r\n"));
}

static void read_markers(const char *text, fake_image *image)
{
    char *error = find_marker(text, "// fake-jit-error:");
    char *registers = find_marker(text, "// fake-registers:");
    char *more = find_marker(text, "// fake-more-parameters:");

    if (error) {
        char *message = NULL;
        image->error_line = (int)strtol(error, &message, 10);
        message += strspn(message, " ");
        image->error = fake_copy(message, strlen(message));
    }
    image->registers = registers ? atoi(registers) : 32;
    image->remark = find_marker(text, "// fake-jit-info:");
    free(error);
    image->more_parameters = more ? atoi(more) : 0;
    free(registers);
    free(more);
}

static uint64_t checksum(const char *text, size_t bytes)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */

    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ (unsigned char)text[i]) * 1099511628211u;
    return hash;
}

void fake_image_read(fake_image *image, const char *text, size_t bytes)
{
    char *whole = fake_copy(text, bytes);
    char *code = blank_comments(text, bytes);
    scanner s = {.at = code};

    *image = (fake_image){0};
    read_markers(whole, image);
    read_module(&s, image);
    for (size_t i = 0; i < image->entry_count; i++)
        image->entries[i].shared_bytes += image->shared_bytes;
    for (size_t i = 0; i < image->entry_count; i++) {
        for (int k = 0; k < image->more_parameters; k++)
            add_parameter(&image->entries[i], &(declaration){.bytes = 4});
    }
    free(code);
    free(whole);
}

void fake_image_free(fake_image *image)
{
    for (size_t i = 0; i < image->entry_count; i++) {
        free(image->entries[i].name);
        free(image->entries[i].parameters);
    }
    for (size_t i = 0; i < image->variable_count; i++)
        free(image->variables[i].name);
    free(image->entries);
    free(image->variables);
    free(image->error);
    free(image->remark);
    *image = (fake_image){0};
}

void *fake_cubin_make(const char *text, size_t text_bytes, int capability, size_t *bytes)
{
    cubin_header header = {.text_bytes = text_bytes, .capability = capability};

    memcpy(header.elf.e_ident, ELFMAG, SELFMAG);
    header.elf.e_ident[EI_CLASS] = ELFCLASS64;
    header.elf.e_ident[EI_DATA] = ELFDATA2LSB;
    header.elf.e_machine = MACHINE_CUDA;
    memcpy(header.mark, cubin_mark, sizeof header.mark);
    header.checksum = checksum(text, text_bytes);
    *bytes = sizeof header + text_bytes;
    char *cubin = fake_allocate(*bytes);
    memcpy(cubin, &header, sizeof header);
    memcpy(cubin + sizeof header, text, text_bytes);
    return cubin;
}

const char *fake_cubin_read(const void *image, size_t *text_bytes, int *capability)
{
    const char *text = (const char *)image + sizeof(cubin_header);
    cubin_header header;

    if (strncmp(image, ELFMAG, SELFMAG))
        return NULL;
    memcpy(&header, image, sizeof header);
    if (memcmp(header.mark, cubin_mark, sizeof header.mark))
        return NULL;
    if (checksum(text, header.text_bytes) != header.checksum)
        return NULL;
    *text_bytes = header.text_bytes;
    *capability = header.capability;
    return text;
}
