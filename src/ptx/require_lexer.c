/* The tokens of a condition, which may go on in further lines of the comment. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ptx/require_compile.h"

enum {
    EXACT_DIGITS = 15, /* so many decimal digits are exact in a double */
    EXACT_POWER = 22   /* and so are powers of ten up to this one */
};

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static bool is_letter(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_' || byte == '$';
}

uint32_t gd_require_offset(const gd_require_reader *reader)
{
    return (uint32_t)(reader->start - reader->module->text);
}

uint16_t gd_require_wrong(gd_require_reader *reader, uint32_t offset, const char *format, ...)
{
    char text[sizeof reader->diagnostics->list[0].text];
    va_list list;

    if (!reader->failed) {
        va_start(list, format);
        vsnprintf(text, sizeof text, format, list);
        va_end(list);
        gd_text_trim(text);
        gd_ptx_diagnostics_add(reader->diagnostics, offset, "%s", text);
    }
    reader->failed = true;
    reader->token = GD_REQUIRE_TOKEN_BAD;
    return GD_REQUIRE_NONE;
}

static void skip_space(gd_require_reader *reader)
{
    const char *at = reader->at;

    while (at < reader->end && (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n')) {
        bool line = *at == '\n';
        at++;
        if (line && reader->end - at >= 2 && at[0] == '/' && at[1] == '/')
            at += 2;
    }
    reader->at = at;
}

/* ---- numbers ---- */

/* Digits of a base as a value; false: beyond 64 bits. */
static bool read_digits(const char **at, const char *end, uint32_t base, uint64_t *value)
{
    bool fits = true;

    for (*value = 0; *at < end; (*at)++) {
        char byte = **at;
        uint32_t digit = is_digit(byte)               ? (uint32_t)(byte - '0')
                         : byte >= 'a' && byte <= 'f' ? (uint32_t)(byte - 'a') + 10
                         : byte >= 'A' && byte <= 'F' ? (uint32_t)(byte - 'A') + 10
                                                      : 16;
        if (digit >= base)
            break;
        fits &= *value <= (UINT64_MAX - digit) / base;
        *value = *value * base + digit;
    }
    return fits;
}

/* What follows the whole part of a decimal fraction. The value is exact to the last bit, since digits and power of ten
 * are exact: one division or multiplication rounds once. */
static bool read_fraction(const char **at, const char *end, uint64_t whole, double *value)
{
    const uint64_t exact = 1000000000000000; /* EXACT_DIGITS of them */
    uint64_t digits = whole;
    int32_t places = 0, power = 0, sign = 1;

    if (*at < end && **at == '.') {
        for ((*at)++; *at < end && is_digit(**at) && digits < exact; (*at)++, places++)
            digits = digits * 10 + (uint64_t)(**at - '0');
    }
    if (*at < end && (**at == 'e' || **at == 'E')) {
        (*at)++;
        if (*at < end && (**at == '-' || **at == '+'))
            sign = *(*at)++ == '-' ? -1 : 1;
        if (*at == end || !is_digit(**at))
            return false;
        for (; *at < end && is_digit(**at) && power < 100; (*at)++)
            power = power * 10 + (**at - '0');
    }
    power = sign * power - places;
    if (digits >= exact || power > EXACT_POWER || power < -EXACT_POWER)
        return false;
    double ten = 1;
    for (int32_t i = power < 0 ? -power : power; i > 0; i--)
        ten *= 10;
    *value = power < 0 ? (double)digits / ten : (double)digits * ten;
    return true;
}

static void read_number(gd_require_reader *reader)
{
    const char *at = reader->at, *end = reader->end;
    bool hexadecimal = end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
    uint64_t value;

    if (hexadecimal)
        at += 2;
    const char *digits = at;
    bool fits = read_digits(&at, end, hexadecimal ? 16 : 10, &value);
    bool done = fits && at > digits;
    reader->token = GD_REQUIRE_TOKEN_INTEGER;
    reader->value.integer = (gd_wide)value;
    if (!hexadecimal && done && at < end && (*at == '.' || *at == 'e' || *at == 'E')) {
        reader->token = GD_REQUIRE_TOKEN_REAL;
        done = read_fraction(&at, end, value, &reader->value.real);
    }
    if (!done || (at < end && (is_letter(*at) || is_digit(*at) || *at == '.')))
        gd_require_wrong(reader, gd_require_offset(reader),
                         "found a number that cannot be read; there are integers of 64 bits, also as 0x1f, and "
                         "fractions of at most %d digits with exponents up to %d",
                         EXACT_DIGITS, EXACT_POWER);
    reader->at = at;
}

/* ---- others ---- */

/* A name has dots in it when it is part of the shape, or of a tensor map: grid.x, map.box.x. */
static void read_name(gd_require_reader *reader)
{
    const char *at = reader->at;

    while (at < reader->end && (is_letter(*at) || is_digit(*at) || *at == '.'))
        at++;
    reader->at = at;
    reader->token = GD_REQUIRE_TOKEN_NAME;
}

static void read_sign(gd_require_reader *reader)
{
    static const char *const pairs[] = {"==", "!=", "<=", ">=", "&&", "||"};
    const char *at = reader->at;

    reader->token = GD_REQUIRE_TOKEN_SIGN;
    reader->sign[0] = *at;
    reader->sign[1] = reader->sign[2] = 0;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0] && reader->end - at >= 2; i++) {
        if (!memcmp(at, pairs[i], 2))
            reader->sign[1] = at[1];
    }
    reader->at += reader->sign[1] ? 2 : 1;
    if (!reader->sign[1] && !memchr("+-*/%<>!(),^", reader->sign[0], 12)) {
        unsigned char byte = (unsigned char)*at;
        gd_require_wrong(reader, gd_require_offset(reader),
                         byte > ' ' && byte < 0x7f
                             ? "found '%c', which no condition has; there are == != < <= > >= && || ! "
                               "+ - * / %% ^ min() max() power_of_two() apart()"
                             : "found a byte 0x%02x",
                         byte);
    }
}

void gd_require_next_word(gd_require_reader *reader)
{
    if (reader->failed)
        return;
    skip_space(reader);
    reader->start = reader->at;
    while (reader->at < reader->end && (is_letter(*reader->at) || is_digit(*reader->at)))
        reader->at++;
    reader->bytes = (uint32_t)(reader->at - reader->start);
    reader->token = GD_REQUIRE_TOKEN_NAME;
    if (!reader->bytes)
        gd_require_next(reader);
}

void gd_require_next(gd_require_reader *reader)
{
    if (reader->failed)
        return;
    skip_space(reader);
    reader->start = reader->at;
    if (reader->at == reader->end)
        reader->token = GD_REQUIRE_TOKEN_END;
    else if (is_digit(*reader->at))
        read_number(reader);
    else if (is_letter(*reader->at))
        read_name(reader);
    else
        read_sign(reader);
    reader->bytes = (uint32_t)(reader->at - reader->start);
}
