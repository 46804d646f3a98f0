/* Character classes decide; a token is scanned by the function of its first character. */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "ptx/text/array.h"
#include "ptx/text/lexer.h"

enum { BAD, HASH, SPACE, NEWLINE, NAME, PERCENT, DIGIT, DOT, QUOTE, SLASH, MARK };

/* clang-format off */
#define L NAME
#define D DIGIT
#define M MARK
static const unsigned char classes[256] = {
    /* 00 */ BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, SPACE, NEWLINE, BAD, SPACE, SPACE,
    BAD, BAD,
    /* 10 */ BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, SPACE, BAD, BAD, BAD, BAD, BAD,
    /*  ! */ SPACE, M, QUOTE, HASH, L, PERCENT, M, BAD, M, M, M, M, M, M, DOT, SLASH,
    /* 30 */ D, D, D, D, D, D, D, D, D, D, M, M, M, M, M, M,
    /* 40 */ M, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L,
    /* 50 */ L, L, L, L, L, L, L, L, L, L, L, M, M, M, M, L,
    /* 60 */ BAD, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L,
    /* 70 */ L, L, L, L, L, L, L, L, L, L, L, M, M, M, M, BAD,
};
#undef L
#undef D
#undef M

/* What may continue a name, and the value of hexadecimal digits plus one. */
#define DIGITS \
    ['0'] = 1, ['1'] = 2, ['2'] = 3, ['3'] = 4, ['4'] = 5, ['5'] = 6, \
    ['6'] = 7, ['7'] = 8, ['8'] = 9, ['9'] = 10
static const unsigned char continues[256] = {
    DIGITS,
    ['A'] = 1, ['B'] = 1, ['C'] = 1, ['D'] = 1, ['E'] = 1, ['F'] = 1, ['G'] = 1, ['H'] = 1,
    ['I'] = 1, ['J'] = 1, ['K'] = 1, ['L'] = 1, ['M'] = 1, ['N'] = 1, ['O'] = 1, ['P'] = 1,
    ['Q'] = 1, ['R'] = 1, ['S'] = 1, ['T'] = 1, ['U'] = 1, ['V'] = 1, ['W'] = 1, ['X'] = 1,
    ['Y'] = 1, ['Z'] = 1, ['a'] = 1, ['b'] = 1, ['c'] = 1, ['d'] = 1, ['e'] = 1, ['f'] = 1,
    ['g'] = 1, ['h'] = 1, ['i'] = 1, ['j'] = 1, ['k'] = 1, ['l'] = 1, ['m'] = 1, ['n'] = 1,
    ['o'] = 1, ['p'] = 1, ['q'] = 1, ['r'] = 1, ['s'] = 1, ['t'] = 1, ['u'] = 1, ['v'] = 1,
    ['w'] = 1, ['x'] = 1, ['y'] = 1, ['z'] = 1, ['_'] = 1, ['$'] = 1,
};
static const unsigned char hexadecimal[256] = {
    DIGITS,
    ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
    ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
};
/* clang-format on */

typedef struct lexer_state {
    const char *text;
    const char *end;
    gd_ptx_tokens *tokens;
    gd_ptx_diagnostics *diagnostics;
    bool failed; /* memory ran out */
} lexer_state;

static unsigned char byte_at(const char *at)
{
    return (unsigned char)*at;
}

static uint32_t offset_of(const lexer_state *lexer, const char *at)
{
    return (uint32_t)(at - lexer->text);
}

static void add_line(lexer_state *lexer, const char *start)
{
    gd_ptx_tokens *tokens = lexer->tokens;

    if (tokens->line_count == tokens->line_capacity &&
        !gd_array_grow((void **)&tokens->lines, &tokens->line_capacity, sizeof *tokens->lines)) {
        lexer->failed = true;
        return;
    }
    tokens->lines[tokens->line_count++] = offset_of(lexer, start);
}

/* Notes the lines that begin inside a comment or a string. */
static void add_lines(lexer_state *lexer, const char *from, const char *to)
{
    while ((from = memchr(from, '\n', (size_t)(to - from))) != NULL)
        add_line(lexer, ++from);
}

static const char *skip_name(const char *at)
{
    while (continues[byte_at(at)])
        at++;
    return at;
}

static const char *skip_decimal(const char *at)
{
    while (classes[byte_at(at)] == DIGIT)
        at++;
    return at;
}

static const char *skip_line(const lexer_state *lexer, const char *at)
{
    const char *newline = memchr(at, '\n', (size_t)(lexer->end - at));

    return newline ? newline : lexer->end;
}

/* A comment that opens at `at`; NULL when it does not end. */
static const char *skip_comment(lexer_state *lexer, const char *at)
{
    if (at[1] == '/')
        return skip_line(lexer, at);
    for (const char *star = at + 2; star < lexer->end; star++) {
        star = memchr(star, '*', (size_t)(lexer->end - star));
        if (!star)
            return NULL;
        if (star[1] == '/') {
            add_lines(lexer, at, star);
            return star + 2;
        }
    }
    return NULL;
}

/* A string that opens at `at`; NULL when it does not end. ptxas lets strings run over line ends
 * and knows no escapes. */
static const char *skip_string(lexer_state *lexer, const char *at)
{
    const char *from = at;

    at = memchr(from + 1, '"', (size_t)(lexer->end - from - 1));
    if (!at)
        return NULL;
    add_lines(lexer, from, at);
    return at + 1;
}

static const char *skip_white(const char *at)
{
    while (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\f')
        at++;
    return at;
}

/* What a preprocessor leaves of a line (PTX ISA 4.1), as ptxas takes it, at any place: '# 3 "file"'
 * or '#line 3 "file"', and digits behind it. NULL: it is none. */
static const char *skip_marker(lexer_state *lexer, const char *at)
{
    at = skip_white(at + 1);
    if (!strncmp(at, "line", 4))
        at = skip_white(at + 4);
    const char *number = at;
    while (classes[byte_at(at)] == DIGIT)
        at++;
    const char *name = skip_white(at);
    if (at == number || name == at || *name != '"')
        return NULL;
    const char *quote = memchr(name + 1, '"', (size_t)(lexer->end - name - 1));
    if (!quote)
        return NULL;
    for (at = quote + 1; skip_white(at) > at && classes[byte_at(skip_white(at))] == DIGIT;)
        at = skip_white(at) + 1;
    at = skip_white(at);
    if (at < lexer->end && *at != '\n')
        return NULL;
    skip_string(lexer, name); /* counts its lines */
    return at;
}

/* PTX ISA 4.5: an identifier's dots belong to modifiers, and `::` joins the parts of a modifier
 * such as .shared::cta. */
static const char *skip_dotted(const char *at)
{
    at = skip_name(at + 1);
    while (at[0] == ':' && at[1] == ':' && continues[byte_at(at + 2)])
        at = skip_name(at + 2);
    return at;
}

static const char *skip_exponent(const char *at)
{
    if (*at != 'e' && *at != 'E')
        return at;
    const char *digits = at + 1 + (at[1] == '+' || at[1] == '-');
    return classes[byte_at(digits)] == DIGIT ? skip_decimal(digits) : at;
}

/* `.5` and `.5e3` are numbers, `.3d` and `.16x64b` are modifiers. NULL when it is no number. */
static const char *skip_dotted_number(const char *at)
{
    const char *stop = skip_exponent(skip_decimal(at + 1));

    return continues[byte_at(stop)] ? NULL : stop;
}

/* Binary and hexadecimal forms (PTX ISA 4.5.1 and 4.5.2). NULL with what was expected when it is
 * malformed. */
static const char *skip_prefixed(const char *at, uint32_t *kind, const char **expected)
{
    int letter = at[1] | 0x20;
    const char *stop = at + 2;
    long digits = letter == 'f' ? 8 : letter == 'd' ? 16 : 0;
    unsigned base = letter == 'b' ? 2 : 16;

    while (hexadecimal[byte_at(stop)] && hexadecimal[byte_at(stop)] <= base)
        stop++;
    *kind = digits ? GD_TOKEN_FLOAT : GD_TOKEN_INTEGER;
    if (digits ? stop - at - 2 == digits : stop > at + 2)
        return stop + (!digits && *stop == 'U');
    *expected = letter == 'f'   ? "8 hexadecimal digits after 0f"
                : letter == 'd' ? "16 hexadecimal digits after 0d"
                : letter == 'b' ? "binary digits after 0b"
                                : "hexadecimal digits after 0x";
    return NULL;
}

static const char *skip_plain_number(const char *at, uint32_t *kind, const char **expected)
{
    const char *stop = skip_decimal(at);
    const char *fraction = *stop == '.' ? skip_decimal(stop + 1) : stop;
    const char *exponent = skip_exponent(fraction);

    *kind = exponent > stop ? GD_TOKEN_FLOAT : GD_TOKEN_INTEGER;
    if (exponent > stop)
        return exponent;
    if (*at == '0') {
        for (const char *digit = at; digit < stop; digit++) {
            if (*digit > '7') {
                *expected = "octal digits after 0";
                return NULL;
            }
        }
    }
    return stop + (*stop == 'U');
}

/* ptxas reads '.align 8x' as the number 8 and the name x. */
static bool is_aligned(const lexer_state *lexer)
{
    const gd_ptx_tokens *tokens = lexer->tokens;

    return tokens->count && gd_token_length(tokens->list[tokens->count - 1]) == 6 &&
           memcmp(lexer->text + tokens->list[tokens->count - 1].offset, ".align", 6) == 0;
}

static const char *skip_number(const lexer_state *lexer, const char *at, uint32_t *kind,
                               const char **expected)
{
    int letter = at[1] | 0x20;
    bool prefixed =
        *at == '0' && (letter == 'x' || letter == 'f' || letter == 'd' || letter == 'b');
    const char *stop =
        prefixed ? skip_prefixed(at, kind, expected) : skip_plain_number(at, kind, expected);

    if (stop && continues[byte_at(stop)] && (prefixed || !is_aligned(lexer))) {
        *expected = "a number";
        return NULL;
    }
    return stop;
}

static const char *bad_number(lexer_state *lexer, const char *at, const char *expected)
{
    const char *stop = at;

    while (continues[byte_at(stop)] || *stop == '.')
        stop++;
    gd_ptx_diagnostics_add(lexer->diagnostics, offset_of(lexer, at), "found '%.*s', expected %s",
                           (int)(stop - at < 40 ? stop - at : 40), at, expected);
    return stop;
}

static const char *bad_byte(lexer_state *lexer, const char *at)
{
    unsigned char byte = byte_at(at);
    uint32_t offset = offset_of(lexer, at);

    if (byte > 32 && byte < 127)
        gd_ptx_diagnostics_add(lexer->diagnostics, offset, "found '%c', expected PTX text", byte);
    else
        gd_ptx_diagnostics_add(lexer->diagnostics, offset, "found byte 0x%02X, expected PTX text",
                               byte);
    at++;
    while (at < lexer->end && classes[byte_at(at)] == BAD)
        at++;
    return at;
}

static const char *bad_hash(lexer_state *lexer, const char *at)
{
    gd_ptx_diagnostics_add(lexer->diagnostics, offset_of(lexer, at),
                           "found '#', expected PTX text: PTX is not preprocessed, and of lines "
                           "with '#' it has '# 3 \"file\"' and '#line 3 \"file\"' alone");
    return skip_line(lexer, at);
}

static const char *bad_rest(lexer_state *lexer, const char *at, const char *found,
                            const char *expected)
{
    gd_ptx_diagnostics_add(lexer->diagnostics, offset_of(lexer, at), "found %s, expected %s", found,
                           expected);
    add_lines(lexer, at, lexer->end);
    return lexer->end;
}

/* One token that is no white space; *kind is GD_TOKEN_BAD when it was reported, GD_TOKEN_END for a
 * comment. */
static const char *scan_rare(lexer_state *lexer, const char *at, uint32_t *kind)
{
    const char *expected = NULL;
    const char *stop = NULL;

    *kind = GD_TOKEN_BAD;
    switch (classes[byte_at(at)]) {
    case DIGIT:
        stop = skip_number(lexer, at, kind, &expected);
        if (!stop)
            *kind = GD_TOKEN_BAD;
        return stop ? stop : bad_number(lexer, at, expected);
    case QUOTE:
        stop = skip_string(lexer, at);
        if (stop)
            *kind = GD_TOKEN_STRING;
        return stop ? stop : bad_rest(lexer, at, "a string without an end", "'\"'");
    case SLASH:
        if (at[1] != '/' && at[1] != '*') {
            *kind = '/';
            return at + 1;
        }
        stop = skip_comment(lexer, at);
        if (stop)
            *kind = GD_TOKEN_END;
        return stop ? stop : bad_rest(lexer, at, "a comment without an end", "'*/'");
    case DOT:
        stop = classes[byte_at(at + 1)] == DIGIT ? skip_dotted_number(at) : NULL;
        if (stop)
            *kind = GD_TOKEN_FLOAT;
        else
            *kind = '.';
        return stop ? stop : at + 1;
    default:
        return bad_byte(lexer, at);
    }
}

static bool add_token(lexer_state *lexer, const char *at, const char *stop, uint32_t kind,
                      uint32_t starts_line)
{
    gd_ptx_tokens *tokens = lexer->tokens;

    if (tokens->count == tokens->capacity &&
        !gd_array_grow((void **)&tokens->list, &tokens->capacity, sizeof *tokens->list)) {
        lexer->failed = true;
        return false;
    }
    if (stop - at > GD_PTX_LIMIT_TOKEN_BYTES) {
        gd_ptx_diagnostics_add(
            lexer->diagnostics, offset_of(lexer, at),
            "found a token of %ld bytes, expected at most %d (GD_PTX_LIMIT_TOKEN_BYTES)",
            (long)(stop - at), GD_PTX_LIMIT_TOKEN_BYTES);
        kind = GD_TOKEN_BAD;
        stop = at;
    }
    tokens->list[tokens->count++] =
        (gd_token){.offset = offset_of(lexer, at),
                   .bits = (uint32_t)(stop - at) << 8 | starts_line << 7 | kind};
    return true;
}

/* A zero byte is refused wherever it stands, inside comments too: other readers of the same text
 * would stop there. */
static void find_zero(lexer_state *lexer)
{
    const char *zero = memchr(lexer->text, 0, (size_t)(lexer->end - lexer->text));

    if (zero)
        gd_ptx_diagnostics_add(lexer->diagnostics, offset_of(lexer, zero),
                               "found a zero byte, expected PTX text");
}

static void read_all(lexer_state *lexer)
{
    const char *at = lexer->text;
    uint32_t starts_line = 1;

    add_line(lexer, at);
    while (at < lexer->end && !lexer->failed) {
        const char *start = at;
        uint32_t kind;
        switch (classes[byte_at(at)]) {
        case SPACE:
            at++;
            continue;
        case NEWLINE:
            add_line(lexer, ++at);
            starts_line = 1;
            continue;
        case NAME:
            at = skip_name(at + 1);
            kind = GD_TOKEN_NAME;
            break;
        case PERCENT:
            at = skip_name(at + 1);
            kind = at - start > 1 ? GD_TOKEN_NAME : '%';
            break;
        case MARK:
            kind = byte_at(at++);
            break;
        case DOT:
            if (continues[byte_at(at + 1)] &&
                (classes[byte_at(at + 1)] != DIGIT || !skip_dotted_number(at))) {
                at = skip_dotted(at);
                kind = GD_TOKEN_DOTTED;
                break;
            }
            at = scan_rare(lexer, at, &kind);
            break;
        case HASH:
            at = skip_marker(lexer, at);
            if (at)
                continue;
            at = bad_hash(lexer, start);
            if (!add_token(lexer, start, start + 1, GD_TOKEN_BAD, starts_line))
                return;
            continue;
        default:
            at = scan_rare(lexer, at, &kind);
        }
        if (kind == GD_TOKEN_END)
            continue;
        if (!add_token(lexer, start, at, kind, starts_line))
            return;
        starts_line = 0;
    }
}

bool gd_ptx_tokens_read(gd_ptx_tokens *tokens, const char *text, uint32_t bytes,
                        gd_ptx_diagnostics *diagnostics)
{
    lexer_state lexer = {
        .text = text, .end = text + bytes, .tokens = tokens, .diagnostics = diagnostics};

    if (!gd_array_reserve((void **)&tokens->list, &tokens->capacity, bytes / 4 + 16,
                          sizeof *tokens->list) ||
        !gd_array_reserve((void **)&tokens->lines, &tokens->line_capacity, bytes / 24 + 16,
                          sizeof *tokens->lines))
        return false;
    find_zero(&lexer);
    read_all(&lexer);
    if (lexer.failed || !add_token(&lexer, lexer.end, lexer.end, GD_TOKEN_END, 1))
        return false;
    tokens->count--;
    return true;
}

void gd_ptx_tokens_free(gd_ptx_tokens *tokens)
{
    free(tokens->list);
    free(tokens->lines);
    *tokens = (gd_ptx_tokens){0};
}

void gd_ptx_tokens_position(const gd_ptx_tokens *tokens, uint32_t offset, int32_t *line,
                            int32_t *column)
{
    uint32_t before;

    GD_COUNT_FIRST(before, tokens->line_count, i, tokens->lines[i] <= offset);
    before -= before > 0;
    *line = (int32_t)before + 1;
    *column = (int32_t)(offset - tokens->lines[before]) + 1;
}

uint32_t gd_ptx_tokens_from(const gd_ptx_tokens *tokens, uint32_t offset)
{
    uint32_t before;

    GD_COUNT_FIRST(before, tokens->count, i, tokens->list[i].offset < offset);
    return before;
}

bool gd_ptx_integer_read(const char *text, uint32_t length, uint64_t *value)
{
    bool prefixed = length > 2 && text[0] == '0' && !(classes[byte_at(text + 1)] == DIGIT);
    unsigned base = prefixed ? ((text[1] | 0x20) == 'x' ? 16 : 2) : text[0] == '0' ? 8 : 10;
    uint64_t number = 0;

    for (uint32_t i = prefixed ? 2 : 0; i < length && text[i] != 'U'; i++) {
        unsigned digit = hexadecimal[byte_at(text + i)] - 1u;
        if (number >> 63)
            return false;
        number = number * base + digit;
    }
    *value = number;
    return true;
}

/* Rewrites 12.5e3 to 125e2 and leaves it to strtod: without a decimal point the locale has no say,
 * and it rounds correctly. A double's halfway cases need no more than 768 digits; a nonzero rest
 * becomes one sticky digit. */
static double read_decimal(const char *text, uint32_t length)
{
    enum { DIGIT_COUNT = 800 };
    char buffer[DIGIT_COUNT + 32];
    size_t used = 0;
    long exponent = 0;
    bool fraction = false, sticky = false;
    uint32_t i = 0;

    for (; i < length && (text[i] | 0x20) != 'e'; i++) {
        if (text[i] == '.') {
            fraction = true;
            continue;
        }
        if (used < DIGIT_COUNT && (used || text[i] != '0'))
            buffer[used++] = text[i];
        else if (used) {
            sticky |= text[i] != '0';
            exponent++;
        }
        exponent -= fraction;
    }
    if (sticky) {
        buffer[used++] = '1';
        exponent--;
    }
    if (i < length) {
        long written = strtol(text + i + 1, NULL, 10);
        exponent += written > 100000000 ? 100000000 : written < -100000000 ? -100000000 : written;
    }
    if (!used)
        return 0.0;
    buffer[used++] = 'e';
    if (exponent < 0)
        buffer[used++] = '-';
    char digits[24];
    size_t count = 0;
    for (unsigned long rest = exponent < 0 ? 0ul - (unsigned long)exponent
                                           : (unsigned long)exponent;
         rest || !count; rest /= 10)
        digits[count++] = (char)('0' + rest % 10);
    while (count)
        buffer[used++] = digits[--count];
    buffer[used] = 0;
    return strtod(buffer, NULL);
}

uint64_t gd_ptx_float_read(const char *text, uint32_t length, bool *is_single)
{
    int letter = length > 1 && text[0] == '0' ? text[1] | 0x20 : 0;
    uint64_t bits = 0;

    *is_single = letter == 'f';
    if (letter != 'f' && letter != 'd') {
        double value = read_decimal(text, length);
        memcpy(&bits, &value, sizeof bits);
        return bits;
    }
    for (uint32_t i = 2; i < length; i++)
        bits = bits << 4 | (hexadecimal[byte_at(text + i)] - 1u);
    return bits;
}
