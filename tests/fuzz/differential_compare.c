/* Finds the instructions on which two drivers differ. Since each result is stored, a difference
 * shrinks to one instruction and the values of its operands: those that were still equal. */
#include "differential_compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- agreement ---- */

static float single(uint64_t bits)
{
    uint32_t word = (uint32_t)bits;
    float value;

    memcpy(&value, &word, sizeof value);
    return value;
}

static double wide(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static double half(uint32_t bits, bool bfloat)
{
    if (bfloat)
        return (double)single((uint64_t)bits << 16);
    double value = (bits & 0x7c00) == 0 ? ldexp(bits & 0x3ff, -24)
                                        : ldexp(1024 + (bits & 0x3ff), (int)(bits >> 10 & 31) - 25);
    if ((bits & 0x7c00) == 0x7c00)
        value = bits & 0x3ff ? NAN : INFINITY;
    return bits & 0x8000 ? -value : value;
}

/* Both no numbers, the same infinity, or within the sum of a relative and an absolute bound. */
static bool close_to(double a, double b, double relative, double absolute)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b);
    if (isinf(a) || isinf(b))
        return a == b;
    return fabs(a - b) <= relative * fmax(fabs(a), fabs(b)) + absolute;
}

static bool halves_close(uint64_t a, uint64_t b, bool bfloat, uint32_t count, double relative,
                         double absolute)
{
    for (uint32_t shift = 0; shift < 16 * count; shift += 16) {
        if (!close_to(half((uint32_t)(a >> shift) & 0xffff, bfloat),
                      half((uint32_t)(b >> shift) & 0xffff, bfloat), relative, absolute))
            return false;
    }
    return true;
}

/* Whether a value is no number; of halves, the lower one. */
static bool nan_of(char hint, uint64_t bits)
{
    switch (hint) {
    case 'e':
        return isnan(wide(bits));
    case 'f':
        return isnan(single(bits));
    default:
        return isnan(half((uint32_t)bits & 0xffff, hint == 'b' || hint == 'y'));
    }
}

/* Halves that are equal, or both no numbers. */
static bool nans_agree(char hint, uint64_t a, uint64_t b)
{
    for (uint32_t shift = 0; shift < 8 * diff_hint_bytes(hint); shift += 16) {
        uint64_t x = a >> shift & 0xffff, y = b >> shift & 0xffff;
        if (x != y && !(nan_of(hint, x) && nan_of(hint, y)))
            return false;
    }
    return true;
}

/* The bounds of the ISA, each with room for one rounding of the other side's result. */
bool diff_agree(diff_tolerance tolerance, char hint, uint64_t a, uint64_t b)
{
    uint32_t bytes = diff_hint_bytes(hint);
    uint64_t mask = bytes == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * bytes) - 1;

    a &= mask;
    b &= mask;
    if (a == b)
        return true;
    switch (tolerance) {
    case DIFF_EXACT:
    case DIFF_LAST:
        return false;
    case DIFF_NAN:
        return strchr("fe", hint) ? nan_of(hint, a) && nan_of(hint, b) : nans_agree(hint, a, b);
    case DIFF_RCP:
        return close_to((double)single(a), (double)single(b), 0x1.8p-23, 0x1p-149);
    case DIFF_DIV:
        return close_to((double)single(a), (double)single(b), 0x1.4p-22, 0x1p-148);
    case DIFF_SQRT:
    case DIFF_RSQRT:
        return close_to((double)single(a), (double)single(b), 0x1.4p-22, 0x1p-149);
    case DIFF_SIN:
        return close_to((double)single(a), (double)single(b), 0, 0x1.2p-15);
    case DIFF_LG2:
        return close_to((double)single(a), (double)single(b), 0x1.4p-22, 0x1.4p-22);
    case DIFF_EX2:
        return close_to((double)single(a), (double)single(b), 0x1.4p-22, 0x1p-149);
    case DIFF_TANH:
        return close_to((double)single(a), (double)single(b), 0x1.01p-11, 0x1p-149);
    case DIFF_EX2_F16:
    case DIFF_EX2_F16X2:
        return halves_close(a, b, false, tolerance == DIFF_EX2_F16 ? 1 : 2, 0x1.8p-10 + 0x1p-11,
                            0x1p-24);
    case DIFF_EX2_BF16:
    case DIFF_EX2_BF16X2:
        return halves_close(a, b, true, tolerance == DIFF_EX2_BF16 ? 1 : 2, 0x1.8p-7, 0);
    case DIFF_TANH_F16:
    case DIFF_TANH_F16X2:
        return halves_close(a, b, false, tolerance == DIFF_TANH_F16 ? 1 : 2, 0, 0x1.1p-10);
    case DIFF_TANH_BF16:
    case DIFF_TANH_BF16X2:
        return halves_close(a, b, true, tolerance == DIFF_TANH_BF16 ? 1 : 2, 0x1p-8, 0x1p-8);
    case DIFF_RCP_F64:
        return close_to(wide(a), wide(b), 0x1p-19, 0);
    case DIFF_RSQRT_F64:
        return close_to(wide(a), wide(b), 0x1p-19, 0);
    case DIFF_MMA_F32: /* up to 17 terms below 4, each cut below 2^-21 of the largest */
        return close_to((double)single(a), (double)single(b), 0, 0x1p-15);
    default: /* a sum below 128 in f16 */
        return halves_close(a, b, false, 2, 0, 0x1p-4);
    }
}

/* ---- findings: instructions that differ ---- */

typedef struct finding {
    char opcode[96];
    uint64_t times;
    gd_text example;
} finding;

typedef struct findings {
    finding *list;
    size_t count, capacity;
} findings;

static finding *find(findings *in, const char *opcode)
{
    for (size_t i = 0; i < in->count; i++) {
        if (strcmp(in->list[i].opcode, opcode) == 0)
            return &in->list[i];
    }
    if (in->count == in->capacity) {
        size_t next = in->capacity ? 2 * in->capacity : 64;
        finding *larger = realloc(in->list, next * sizeof *larger);
        if (!larger)
            return NULL;
        in->list = larger;
        in->capacity = next;
    }
    finding *made = &in->list[in->count++];
    *made = (finding){0};
    snprintf(made->opcode, sizeof made->opcode, "%s", opcode);
    return made;
}

/* ---- one program ---- */

typedef struct pair {
    const diff_program *program;
    const uint64_t *a, *b, *inputs;
} pair;

/* The ISA bounds sin and cos for arguments up to 100 pi only. */
static bool is_far(const pair *of, const diff_slot *item, uint32_t thread)
{
    const diff_statement *statement = &of->program->statements[item->statement];
    const diff_value *value = &of->program->values[statement->uses[0]];
    uint64_t bits = value->input != DIFF_NONE ? of->inputs[thread * DIFF_INPUTS + value->input]
                    : statement->slots[0] != DIFF_NONE
                        ? of->a[statement->slots[0] * of->program->threads + thread]
                        : UINT64_C(0x7f000000);

    return !(fabsf(single(bits)) <= 314.0f) && isfinite(single(bits));
}

static bool slot_agrees(const pair *of, uint32_t slot, uint32_t thread)
{
    uint32_t at = slot * of->program->threads + thread;
    const diff_slot *item = &of->program->slots[slot];

    return (item->tolerance == DIFF_SIN && is_far(of, item, thread)) ||
           diff_agree(item->tolerance, item->hint, of->a[at], of->b[at]);
}

/* Whether a slot is written in one result and not in the other: another path was taken. */
static bool path_differs(const pair *of, uint32_t slot, uint32_t thread)
{
    uint32_t at = slot * of->program->threads + thread;
    uint64_t none = UINT64_C(0x0101010101010101) * DIFF_UNWRITTEN;

    return (of->a[at] == none) != (of->b[at] == none);
}

static bool stored_alike(const pair *of, uint32_t slot, uint32_t thread, bool all)
{
    for (uint32_t i = all ? 0 : thread; i < (all ? of->program->threads : thread + 1); i++) {
        if (!slot_agrees(of, slot, i))
            return false;
    }
    return true;
}

/* Whether all that a statement read is known, and was the same on both sides. */
static bool operands_agree(const pair *of, uint32_t slot, uint32_t thread)
{
    const diff_statement *item = &of->program->statements[of->program->slots[slot].statement];

    if (item->loops || path_differs(of, slot, thread))
        return false;
    for (uint32_t i = 0; i < item->use_count; i++) {
        const diff_value *value = &of->program->values[item->uses[i]];
        if (value->input == DIFF_NONE && (item->slots[i] == DIFF_NONE ||
                                          !stored_alike(of, item->slots[i], thread, item->crosses)))
            return false;
    }
    return item->use_count > 0;
}

static uint64_t value_bits(const pair *of, const diff_value *value, uint32_t slot, uint32_t thread)
{
    uint32_t bytes = diff_hint_bytes(value->hint);
    uint64_t bits = value->input != DIFF_NONE ? of->inputs[thread * DIFF_INPUTS + value->input]
                                              : of->a[slot * of->program->threads + thread];

    return bytes == 8 ? bits : bits & ((UINT64_C(1) << 8 * bytes) - 1);
}

static void describe(const pair *of, uint32_t slot, uint32_t thread, uint64_t number, gd_text *text)
{
    const diff_slot *item = &of->program->slots[slot];
    const diff_statement *statement = &of->program->statements[item->statement];
    const char *body = gd_text_get(&of->program->body);
    uint32_t at = slot * of->program->threads + thread, digits = 2 * diff_hint_bytes(item->hint);
    uint64_t mask = digits == 16 ? UINT64_MAX : (UINT64_C(1) << 4 * digits) - 1;

    gd_text_format(text, "  program %" PRIu64 ", thread %" PRIu32 ":\n", number, thread);
    for (uint32_t i = 0; i < statement->use_count; i++) {
        const diff_value *value = &of->program->values[statement->uses[i]];
        if (value->input == DIFF_NONE && statement->slots[i] == DIFF_NONE)
            continue;
        gd_text_format(text, "    %s = 0x%0*" PRIx64 "\n",
                       diff_program_name(of->program, statement->uses[i]).text,
                       (int)(2 * diff_hint_bytes(value->hint)),
                       value_bits(of, value, statement->slots[i], thread));
    }
    for (const char *line = body + statement->text, *end = body + statement->end; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        size_t length = (size_t)((stop ? stop : end) - line);
        if (strncmp(line, "st.global", 9) != 0 || !memmem(line, length, "%out", 4))
            gd_text_format(text, "    %.*s\n", (int)length, line);
        line += length + 1;
    }
    gd_text_format(text, "    %s: 0x%0*" PRIx64 " and 0x%0*" PRIx64 "%s\n",
                   diff_program_name(of->program, item->value).text, (int)digits, of->a[at] & mask,
                   (int)digits, of->b[at] & mask,
                   item->tolerance > DIFF_NAN ? " (approximation)" : "");
}

/* Notes the differences of a program; returns whether there are any. */
static bool compare_program(const pair *of, uint64_t number, findings *into)
{
    bool differs = false, named = false;
    uint32_t first_slot = 0, first_thread = 0;

    for (uint32_t slot = 0; slot < of->program->slot_count; slot++) {
        for (uint32_t thread = 0; thread < of->program->threads; thread++) {
            char opcode[96];
            if (slot_agrees(of, slot, thread))
                continue;
            first_slot = differs ? first_slot : slot;
            first_thread = differs ? first_thread : thread;
            differs = true;
            if (!operands_agree(of, slot, thread))
                continue;
            named = true;
            diff_program_opcode(of->program, of->program->slots[slot].statement, opcode,
                                sizeof opcode);
            finding *item = find(into, opcode);
            if (item && item->times++ < 3)
                describe(of, slot, thread, number, &item->example);
        }
    }
    if (differs && !named) { /* behind values that were not stored, or that control flow chose */
        finding *item = find(into, "(not known)");
        if (item && item->times++ < 3)
            describe(of, first_slot, first_thread, number, &item->example);
    }
    return differs;
}

/* ---- files ---- */

static uint64_t *read_results(FILE *file, diff_record *record)
{
    if (fread(record, sizeof *record, 1, file) != 1)
        return NULL;
    uint64_t *results = malloc(record->bytes ? record->bytes : 1);
    if (results && fread(results, 1, record->bytes, file) != record->bytes) {
        free(results);
        return NULL;
    }
    return results;
}

static int by_times(const void *a, const void *b)
{
    uint64_t x = ((const finding *)a)->times, y = ((const finding *)b)->times;

    return x < y   ? 1
           : x > y ? -1
                   : strcmp(((const finding *)a)->opcode, ((const finding *)b)->opcode);
}

static void tell(findings *found)
{
    if (found->count)
        qsort(found->list, found->count, sizeof *found->list, by_times);
    for (size_t i = 0; i < found->count; i++) {
        printf("%s: %" PRIu64 " times\n%s", found->list[i].opcode, found->list[i].times,
               gd_text_get(&found->list[i].example));
        gd_text_free(&found->list[i].example);
    }
    free(found->list);
}

/* 1: differs, 0: agrees, -1: the records do not belong together. */
static int compare_records(const diff_range *range, const diff_record *x, const uint64_t *a,
                           const diff_record *y, const uint64_t *b, findings *found)
{
    static uint64_t inputs[DIFF_INPUTS * DIFF_MOST_THREADS];
    diff_program program;
    int result = -1;

    if (x->state != DIFF_RAN || y->state != DIFF_RAN) {
        printf("program %" PRIu64 " was refused or failed\n", x->number);
        return 1;
    }
    if (diff_range_make(range, x->number, &program) && program.slot_count == x->slots &&
        x->slots == y->slots && program.threads == x->threads && x->threads == y->threads) {
        diff_program_inputs(&program, inputs);
        pair of = {&program, a, b, inputs};
        result = !x->bytes || !y->bytes ? x->digest != y->digest
                                        : compare_program(&of, x->number, found);
    }
    diff_program_free(&program);
    return result;
}

/* A result file and its next record. */
typedef struct reader {
    FILE *file;
    diff_record record;
    uint64_t *results; /* NULL at the end */
} reader;

static void advance(reader *at)
{
    free(at->results);
    at->results = read_results(at->file, &at->record);
}

typedef struct tally {
    uint64_t programs, results, missing;
    int64_t differing; /* -1: not comparable */
} tally;

/* Records stand in the order of their numbers; one side may lack some, where a driver did not
 * survive. */
static void compare_files(const diff_range *range, reader *x, reader *y, findings *found,
                          tally *into)
{
    advance(x);
    advance(y);
    while (x->results && y->results && into->differing >= 0) {
        if (x->record.number != y->record.number) {
            advance(x->record.number < y->record.number ? x : y);
            into->missing++;
            continue;
        }
        int outcome = compare_records(range, &x->record, x->results, &y->record, y->results, found);
        into->differing = outcome < 0 ? -1 : into->differing + outcome;
        into->programs++;
        into->results += (uint64_t)x->record.slots * x->record.threads;
        advance(x);
        advance(y);
    }
    for (; x->results || y->results; into->missing++)
        advance(x->results ? x : y);
}

int64_t diff_compare(const char *first, const char *second, const diff_range *range)
{
    reader x = {.file = fopen(first, "rb")}, y = {.file = fopen(second, "rb")};
    findings found = {0};
    tally all = {.differing = -1};

    if (x.file && y.file) {
        all.differing = 0;
        compare_files(range, &x, &y, &found, &all);
    }
    tell(&found);
    if (all.differing >= 0)
        printf("%" PRIu64 " programs compared, %" PRIu64 " results, %" PRId64
               " programs differ, %" PRIu64 " missing\n",
               all.programs, all.results, all.differing, all.missing);
    if (x.file)
        fclose(x.file);
    if (y.file)
        fclose(y.file);
    return all.programs ? all.differing + (int64_t)all.missing : -1;
}
