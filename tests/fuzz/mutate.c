#include "mutate.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

static const char *const modifiers[] = {
#define GD_MODIFIER(identifier, text) text,
#define GD_IGNORED(text) text,
#include "emulator/decode/modifier.def"
#undef GD_MODIFIER
#undef GD_IGNORED
    ".global", ".shared", ".shared::cta", ".shared::cluster",
    ".local",  ".const",  ".param",       ".param::entry",
};

static const char *const types[] = {
#define GD_TYPE(identifier, name, bytes, class) "." name,
#include "ptx/text/types.def"
#undef GD_TYPE
};

static const char *const operations[] = {
#define GD_OP(identifier, name, control, memory, sync) name,
#include "ptx/text/ops.def"
#undef GD_OP
};

static const char *const operands[] = {
    "0",
    "1",
    "-1",
    "2",
    "31",
    "32",
    "64",
    "255",
    "1024",
    "65536",
    "0x7fffffff",
    "0x80000000",
    "0xffffffff",
    "0x100000000",
    "0x7fffffffffffffff",
    "0xffffffffffffffff",
    "9999999999999999999999",
    "1.0",
    "-0.0",
    "0f7f800000",
    "0f7fffffff",
    "0d7ff0000000000000",
    "0d0000000000000001",
    "%tid.x",
    "%tid",
    "%tid.w",
    "%laneid",
    "%clock64",
    "%globaltimer",
    "%gridid",
    "%smid",
    "%envreg2",
    "%cluster_ctarank",
    "%is_explicit_cluster",
    "%reserved_smem_offset_1",
    "WARP_SZ",
    "_",
    "_|_",
    "{_, _}",
    "{_, _, _, _}",
    "[0]",
    "[-8]",
    "[0x10000000000]",
    "[%dynamic_smem_size]",
    "{0, 1}",
    "{}",
    "()",
    "(_)",
    "(1 + 2)",
    "(1 << 70)",
    "1 / 0",
    "!0",
    "-(-1)",
};

static const char *const numbers[] = {"0",
                                      "1",
                                      "2",
                                      "3",
                                      "4",
                                      "7",
                                      "8",
                                      "15",
                                      "16",
                                      "31",
                                      "32",
                                      "33",
                                      "63",
                                      "64",
                                      "127",
                                      "128",
                                      "129",
                                      "255",
                                      "256",
                                      "1023",
                                      "1024",
                                      "4095",
                                      "4096",
                                      "65535",
                                      "65536",
                                      "2147483647",
                                      "2147483648",
                                      "4294967295",
                                      "4294967296",
                                      "9223372036854775807",
                                      "9223372036854775808",
                                      "18446744073709551615",
                                      "18446744073709551616"};

#define COUNT(list) (sizeof(list) / sizeof *(list))
#define DRAWN(list) list[fuzz_draw((uint32_t)COUNT(list))]

typedef struct span {
    size_t first, end;
} span;

enum { MOST_OPERANDS = 64 };

/* An instruction, or what stands between two semicolons or line ends. */
typedef struct statement {
    span whole, name; /* name: with modifiers */
    span operands[MOST_OPERANDS];
    uint32_t count;
} statement;

/* ---- reading ---- */

static bool is_word(char letter)
{
    return isalnum((unsigned char)letter) || letter == '_' || letter == '.' || letter == ':' ||
           letter == '$' || letter == '%';
}

static void read_operands(const char *at, span rest, statement *into)
{
    size_t first = rest.first;
    int depth = 0;

    for (size_t i = rest.first; i <= rest.end && into->count < MOST_OPERANDS; i++) {
        bool ends = i == rest.end || (at[i] == ',' && depth <= 0);
        depth += i < rest.end && strchr("[{(", at[i]) ? 1 : 0;
        depth -= i < rest.end && strchr("]})", at[i]) ? 1 : 0;
        if (!ends)
            continue;
        if (i > first)
            into->operands[into->count++] = (span){first, i};
        first = i + 1;
    }
}

/* A statement around a place that is drawn. */
static bool read_statement(const gd_text *text, statement *into)
{
    const char *at = gd_text_get(text);
    *into = (statement){0};

    if (!text->bytes)
        return false;
    size_t place = fuzz_bits() % text->bytes, first = place, end = place;
    while (first && at[first - 1] != ';' && at[first - 1] != '\n')
        first--;
    while (end < text->bytes && at[end] != ';' && at[end] != '\n')
        end++;
    while (first < end && isspace((unsigned char)at[first]))
        first++;
    into->whole = (span){first, end};
    if (first < end && at[first] == '@') {
        while (first < end && !isspace((unsigned char)at[first]))
            first++;
        while (first < end && isspace((unsigned char)at[first]))
            first++;
    }
    into->name.first = first;
    while (first < end && is_word(at[first]))
        first++;
    into->name.end = first;
    while (first < end && isspace((unsigned char)at[first]))
        first++;
    read_operands(at, (span){first, end}, into);
    return into->name.end > into->name.first;
}

/* ---- writing ---- */

static void replace(gd_text *text, span old, const char *with, size_t bytes)
{
    gd_text made = {0};
    const char *at = gd_text_get(text);

    gd_text_append(&made, at, old.first);
    gd_text_append(&made, with, bytes);
    gd_text_append(&made, at + old.end, text->bytes - old.end);
    if (made.failed)
        abort();
    gd_text_free(text);
    *text = made;
}

static void replace_string(gd_text *text, span old, const char *with)
{
    replace(text, old, with, strlen(with));
}

/* ---- changes ---- */

/* Of a modifier that is there: dots and letters up to the next dot. */
static bool draw_modifier(const gd_text *text, const statement *item, span *found)
{
    const char *at = gd_text_get(text);
    uint32_t count = 0;

    for (size_t i = item->name.first + 1; i < item->name.end; i++) {
        if (at[i] != '.' || fuzz_draw(++count) != 0)
            continue;
        found->first = i;
        for (found->end = i + 1; found->end < item->name.end && at[found->end] != '.';)
            found->end++;
    }
    return count > 0;
}

static void change_modifier(gd_text *text, const statement *item)
{
    span old = {item->name.end, item->name.end};
    uint32_t dice = fuzz_draw(4);

    if (dice && !draw_modifier(text, item, &old))
        return;
    if (dice == 0)
        old.end = old.first;
    replace_string(text, old, dice == 1 ? "" : fuzz_draw(2) ? DRAWN(types) : DRAWN(modifiers));
}

static void change_name(gd_text *text, const statement *item)
{
    const char *at = gd_text_get(text);
    span old = item->name;

    if (fuzz_draw(2)) { /* the modifiers stay */
        for (old.end = old.first + 1; old.end < item->name.end && at[old.end] != '.';)
            old.end++;
    }
    replace_string(text, old, DRAWN(operations));
}

/* An operand of the text, or a word that may be one. */
static void draw_operand(const gd_text *text, gd_text *into)
{
    const char *at = gd_text_get(text);
    statement item;

    if (fuzz_draw(5) < 3 && read_statement(text, &item) && item.count) {
        span part = item.operands[fuzz_draw(item.count)];
        bool inside = fuzz_draw(4) == 0; /* without what surrounds it */
        for (; inside && part.first < part.end && !is_word(at[part.first]); part.first++) {
        }
        gd_text_string(into, fuzz_draw(12) == 0 ? (fuzz_draw(2) ? "-" : "!") : "");
        gd_text_append(into, at + part.first, part.end - part.first);
        gd_text_string(into, fuzz_draw(16) == 0 ? (fuzz_draw(2) ? "+4" : ".y") : "");
    } else {
        gd_text_string(into, DRAWN(operands));
    }
}

static void change_operand(gd_text *text, const statement *item)
{
    gd_text with = {0};
    uint32_t dice = fuzz_draw(8), which = item->count ? fuzz_draw(item->count) : 0;
    span old = item->count ? item->operands[which] : (span){item->whole.end, item->whole.end};

    if (dice == 0 && item->count) { /* one fewer */
        old.first -= which > 0;
        old.end += which == 0 && item->count > 1;
        replace_string(text, old, "");
    } else if (dice <= 2) { /* one more */
        old.end = old.first;
        gd_text_string(&with, item->count ? "" : " ");
        draw_operand(text, &with);
        gd_text_string(&with, item->count ? "," : "");
        replace_string(text, old, gd_text_get(&with));
    } else if (dice == 3 && item->count) { /* what another one is */
        span from = item->operands[fuzz_draw(item->count)];
        gd_text_append(&with, gd_text_get(text) + from.first, from.end - from.first);
        replace_string(text, old, gd_text_get(&with));
    } else if (item->count) {
        gd_text_string(&with, which ? " " : "");
        draw_operand(text, &with);
        replace_string(text, old, gd_text_get(&with));
    }
    gd_text_free(&with);
}

/* A number somewhere, of an instruction or a directive. */
static void change_number(gd_text *text)
{
    const char *at = gd_text_get(text);
    size_t place = text->bytes ? fuzz_bits() % text->bytes : 0;
    span old;

    while (place < text->bytes && !isdigit((unsigned char)at[place]))
        place++;
    for (old = (span){place, place}; old.end < text->bytes && isalnum((unsigned char)at[old.end]);)
        old.end++;
    replace_string(text, old, DRAWN(numbers));
}

/* Takes a line out, or puts one of a text elsewhere. */
static void change_line(gd_text *text, const gd_text *other)
{
    statement item, from;
    gd_text line = {0};

    if (!read_statement(text, &item))
        return;
    if (fuzz_draw(3) == 0) {
        replace_string(text, item.whole, "");
        return;
    }
    const gd_text *source = fuzz_draw(2) ? text : other;
    if (!read_statement(source, &from))
        return;
    gd_text_append(&line, gd_text_get(source) + from.whole.first,
                   from.whole.end - from.whole.first);
    gd_text_string(&line, ";\n");
    replace_string(text, (span){item.whole.first, item.whole.first}, gd_text_get(&line));
    gd_text_free(&line);
}

static void change_letters(gd_text *text)
{
    size_t from = fuzz_bits() % text->bytes, to = fuzz_bits() % text->bytes,
           length = 1 + fuzz_draw(24);
    char letter = (char)(fuzz_draw(16) ? 32 + fuzz_draw(95) : 1 + fuzz_draw(255));

    length = length < text->bytes - from ? length : text->bytes - from;
    if (fuzz_draw(3) == 0) {
        char piece[32];
        memcpy(piece, gd_text_get(text) + from, length);
        replace(text, (span){to, to}, piece, length);
    } else if (fuzz_draw(2)) {
        replace_string(text, (span){from, from + length}, "");
    } else {
        replace(text, (span){from, from + 1}, &letter, 1);
    }
}

void fuzz_mutate(gd_text *text, const gd_text *other)
{
    statement item;
    uint32_t dice = fuzz_draw(20);

    if (!text->bytes)
        return;
    if (dice < 2)
        change_letters(text);
    else if (dice < 5)
        change_number(text);
    else if (dice < 8)
        change_line(text, other);
    else if (!read_statement(text, &item))
        return;
    else if (dice < 12)
        change_modifier(text, &item);
    else if (dice < 14)
        change_name(text, &item);
    else
        change_operand(text, &item);
}
