/* Makes random PTX programs. What the ISA leaves undefined or unspecified is never emitted: no division of integers by
 * zero, no shuffle from a lane that is not there, no product and sum that may be fused or not, no access of memory that
 * another thread writes, no activemask (lanes need not have come together again, and on a GPU often have not). */
#include "differential_program.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct form {
    const char *text, *operands;
    diff_tolerance tolerance;
} form;

static const form forms[] = {
#define GD_FORM(text, operands, tolerance) {text, operands, DIFF_##tolerance},
#include "differential_forms.def"
#undef GD_FORM
};

enum { FORM_COUNT = sizeof forms / sizeof forms[0], MOST_OPERANDS = 12 };

/* ---- chance ---- */

static uint64_t mix(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static uint32_t below(diff_program *program, uint32_t limit)
{
    return (uint32_t)(mix(&program->random) % limit);
}

static bool chance(diff_program *program, uint32_t percent)
{
    return below(program, 100) < percent;
}

/* ---- values that find mistakes ---- */

static const uint32_t singles[] = {0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x807fffff, 0x00800000,
                                   0x80800000, 0x00800001, 0x3f800000, 0xbf800000, 0x3f800001, 0x3f7fffff, 0x7f7fffff,
                                   0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000, 0x7fffffff, 0x7f800001,
                                   0xffa00001, 0x4f000000, 0xcf000000, 0x4effffff, 0x4f800000, 0x5f000000, 0xdf000000,
                                   0x5f800000, 0x3f000000, 0xbf000000, 0x40200000, 0x33800000, 0x33000000, 0x3f7ffffe,
                                   0x00800002, 0x477fe000, 0x477ff000, 0x47800000, 0x38800000, 0x387fe000, 0x33000001,
                                   0x43e00000, 0x43e80000, 0x47600000, 0x3f804000, 0x3f808000, 0x3f801000, 0x7f7f8000,
                                   0x437f0000, 0x42fe0000, 0xc3000000, 0x00400000, 0x3effffff, 0x4b000001, 0xcb7fffff};
static const uint64_t doubles[] = {UINT64_C(0),
                                   UINT64_C(1) << 63,
                                   UINT64_C(1),
                                   UINT64_C(0x000fffffffffffff),
                                   UINT64_C(0x0010000000000000),
                                   UINT64_C(0x3ff0000000000000),
                                   UINT64_C(0xbff0000000000000),
                                   UINT64_C(0x3ff0000000000001),
                                   UINT64_C(0x3fefffffffffffff),
                                   UINT64_C(0x7fefffffffffffff),
                                   UINT64_C(0xffefffffffffffff),
                                   UINT64_C(0x7ff0000000000000),
                                   UINT64_C(0xfff0000000000000),
                                   UINT64_C(0x7ff8000000000000),
                                   UINT64_C(0xfff8000000000000),
                                   UINT64_C(0x7fffffffffffffff),
                                   UINT64_C(0x7ff0000000000001),
                                   UINT64_C(0xfff4000123456789),
                                   UINT64_C(0x41e0000000000000),
                                   UINT64_C(0xc1e0000000000000),
                                   UINT64_C(0x41efffffffe00000),
                                   UINT64_C(0x43e0000000000000),
                                   UINT64_C(0xc3e0000000000000),
                                   UINT64_C(0x43f0000000000000),
                                   UINT64_C(0x3fe0000000000000),
                                   UINT64_C(0x4004000000000000),
                                   UINT64_C(0x36a0000000000000),
                                   UINT64_C(0x3690000000000000),
                                   UINT64_C(0x380fffffffffffff),
                                   UINT64_C(0x47efffffe0000000),
                                   UINT64_C(0x47effffff0000000),
                                   UINT64_C(0x3ff0000010000000),
                                   UINT64_C(0x3ff0000030000000),
                                   UINT64_C(0x3e70000000000000),
                                   UINT64_C(0x40effc0000000000),
                                   UINT64_C(0x40effe0000000000),
                                   UINT64_C(0x3ca0000000000000),
                                   UINT64_C(0x0008000000000000)};
static const uint16_t halves[] = {0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x83ff, 0x0400, 0x8400, 0x3c00, 0xbc00,
                                  0x3c01, 0x3bff, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfe00, 0x7fff, 0x7c01,
                                  0x3800, 0x4100, 0x7800, 0x5bff, 0x57f8, 0x2000, 0x0200, 0x6400, 0xe401, 0x1400};
static const uint64_t integers[] = {0,
                                    1,
                                    2,
                                    3,
                                    7,
                                    0x7f,
                                    0x80,
                                    0xff,
                                    0x100,
                                    0x7fff,
                                    0x8000,
                                    0xffff,
                                    0x10000,
                                    0x7fffff,
                                    0x800000,
                                    0xffffff,
                                    0x7fffffff,
                                    0x80000000,
                                    0xffffffff,
                                    UINT64_C(0x100000000),
                                    UINT64_C(0x7fffffffffffffff),
                                    UINT64_C(1) << 63,
                                    UINT64_MAX,
                                    UINT64_MAX - 1,
                                    UINT64_C(0xaaaaaaaaaaaaaaaa),
                                    UINT64_C(0x8000800080008000)};

#define PICK(table, random) (table)[(random) % (sizeof(table) / sizeof(table)[0])]

static uint16_t random_half(uint64_t *state, bool bfloat)
{
    uint64_t r = mix(state);
    uint32_t how = r >> 32 & 7;

    if (how < 3)
        return (uint16_t)(bfloat ? PICK(singles, r >> 40) >> 16 : PICK(halves, r >> 40));
    if (how < 5)
        return (uint16_t)r;
    return (uint16_t)(bfloat ? (r & 0x807f) | (120 + (r >> 40) % 16) << 7 : (r & 0x83ff) | (8 + (r >> 40) % 14) << 10);
}

static uint32_t random_single(uint64_t *state)
{
    uint64_t r = mix(state);
    uint32_t how = r >> 32 & 7, fraction = (uint32_t)r & 0x7fffff;

    if (how < 3)
        return PICK(singles, r >> 40);
    if (how == 3)
        return (uint32_t)r;
    if (how == 4)
        fraction &= 0x7f0000;
    return ((uint32_t)r & 0x80000000) | (uint32_t)(115 + (r >> 40) % 24) << 23 | fraction;
}

static uint64_t random_double(uint64_t *state)
{
    uint64_t r = mix(state), s = mix(state), fraction = s & ((UINT64_C(1) << 52) - 1);
    uint32_t how = r & 7;

    if (how < 3)
        return PICK(doubles, r >> 40);
    if (how == 3)
        return s;
    if (how == 4)
        fraction &= ~UINT64_C(0xfffffff);
    return (s & UINT64_C(1) << 63) | (1011 + (r >> 40) % 24) << 52 | fraction;
}

/* What a register of a kind could hold. */
static uint64_t random_bits(uint64_t *state, char hint)
{
    uint64_t r = mix(state);

    switch (hint) {
    case 'k':
    case 'b':
        return random_half(state, hint == 'b');
    case 'x':
    case 'y': {
        uint32_t low = random_half(state, hint == 'y');
        return low | (uint32_t)random_half(state, hint == 'y') << 16;
    }
    case 'f':
        return random_single(state);
    case 'e':
        return random_double(state);
    case 's':
        return r & 3 ? (r >> 32) % 70 : r >> 32;
    default:
        if ((r & 7) < 3)
            r = PICK(integers, r >> 32);
        else if ((r & 7) == 3)
            r = mix(state) % 100;
        else
            r = mix(state);
        return hint == 'h' ? r & 0xffff : hint == 'w' ? r & 0xffffffff : r;
    }
}

static const char input_hints[DIFF_INPUTS + 1] = "hhkkbbwwfffxydddeeess";

uint32_t diff_hint_bytes(char hint)
{
    return strchr("hkb", hint) ? 2 : strchr("de", hint) ? 8 : 4;
}

void diff_program_inputs(const diff_program *program, uint64_t *inputs)
{
    uint64_t state = program->seed ^ UINT64_C(0x6a09e667f3bcc908);

    for (uint32_t i = 0; i < program->threads * DIFF_INPUTS; i++)
        inputs[i] = random_bits(&state, input_hints[i % DIFF_INPUTS]);
}

/* ---- growing ---- */

static bool grow(diff_program *program, void **list, uint32_t count, uint32_t *capacity, size_t each)
{
    if (count < *capacity)
        return true;
    uint32_t next = *capacity ? 2 * *capacity : 64;
    void *larger = realloc(*list, next * each);
    if (!larger) {
        program->failed = true;
        return false;
    }
    *list = larger;
    *capacity = next;
    return true;
}

static void say(diff_program *program, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(diff_program *program, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    gd_text_format_list(program->in_function ? &program->functions : &program->body, format, list);
    va_end(list);
}

/* ---- registers ---- */

/* f32 and f64 have registers of their type. In untyped ones ptxas confuses numbers with bits: a shift by a b32 register
 * that add.f32 has written takes the float's integral part (seen with driver 580.159.04, at every optimization level).
 */
static uint32_t class_of(char hint)
{
    return hint == 'p'                  ? 3
           : hint == 'f'                ? 4
           : hint == 'e'                ? 5
           : diff_hint_bytes(hint) == 2 ? 0
           : diff_hint_bytes(hint) == 8 ? 2
                                        : 1;
}

static const char class_letters[] = "hwdpfg";

static uint32_t new_register(diff_program *program, char hint)
{
    return program->registers[class_of(hint)]++;
}

static uint32_t new_value(diff_program *program, char hint)
{
    if (!grow(program, (void **)&program->values, program->value_count, &program->value_capacity,
              sizeof *program->values))
        return 0;
    program->values[program->value_count] =
        (diff_value){.hint = hint, .number = new_register(program, hint), .slot = DIFF_NONE, .input = DIFF_NONE};
    return program->value_count++;
}

static void show(diff_program *program, uint32_t value)
{
    if (!grow(program, (void **)&program->visible, program->visible_count, &program->visible_capacity,
              sizeof *program->visible))
        return;
    program->visible[program->visible_count++] = value;
}

diff_name diff_program_name(const diff_program *program, uint32_t value)
{
    const diff_value *item = &program->values[value];
    diff_name result;

    snprintf(result.text, sizeof result.text, "%%%c%" PRIu32, class_letters[class_of(item->hint)], item->number);
    return result;
}

static diff_name name_of(const diff_program *program, uint32_t value)
{
    return diff_program_name(program, value);
}

/* The bits of a value in a register for another kind of the same size. */
static uint32_t recast(diff_program *program, uint32_t value, char hint)
{
    uint32_t copy;

    if (program->failed || class_of(program->values[value].hint) == class_of(hint))
        return value;
    copy = new_value(program, hint);
    program->values[copy].slot = program->values[value].slot;
    program->values[copy].input = program->values[value].input;
    say(program, "mov.b%u %s, %s;\n", 8 * diff_hint_bytes(hint), name_of(program, copy).text,
        name_of(program, value).text);
    return copy;
}

static bool fits(char have, char want)
{
    return (have == 'p') == (want == 'p') && diff_hint_bytes(have) == diff_hint_bytes(want);
}

/* A visible value of a kind's size: mostly one of that kind, mostly a late one. */
static uint32_t find(diff_program *program, char hint)
{
    uint32_t best = DIFF_NONE, tries = 0;

    do {
        uint32_t count = program->visible_count;
        uint32_t at = chance(program, 50) && count > 8 ? count - 1 - below(program, 8) : below(program, count);
        const diff_value *item = &program->values[program->visible[at]];
        if (!fits(item->hint, hint))
            continue;
        best = program->visible[at];
        if (item->hint == hint || (!program->strict && chance(program, 12)))
            return best;
    } while (++tries < 60);
    for (uint32_t i = 0; i < program->visible_count && best == DIFF_NONE; i++) {
        if (fits(program->values[program->visible[i]].hint, hint))
            best = program->visible[i];
    }
    return best;
}

static uint32_t choose(diff_program *program, char hint)
{
    return recast(program, find(program, hint), hint);
}

/* ---- statements ---- */

static void begin(diff_program *program)
{
    if (!grow(program, (void **)&program->statements, program->statement_count, &program->statement_capacity,
              sizeof *program->statements))
        return;
    program->statements[program->statement_count++] =
        (diff_statement){.text = program->body.bytes, .end = program->body.bytes, .loops = program->looping};
}

static void crosses(diff_program *program)
{
    if (!program->failed)
        program->statements[program->statement_count - 1].crosses = true;
}

static void use(diff_program *program, uint32_t value)
{
    diff_statement *item = &program->statements[program->statement_count - 1];

    if (program->failed || program->in_function)
        return;
    if (item->use_count == sizeof item->uses / sizeof item->uses[0])
        return;
    item->slots[item->use_count] = program->values[value].slot;
    item->uses[item->use_count++] = value;
}

/* Chooses an operand and notes that the statement reads it. */
static uint32_t take(diff_program *program, char hint)
{
    uint32_t value = choose(program, hint);

    use(program, value);
    return value;
}

/* Makes a result's value part of what is stored. */
static void store(diff_program *program, uint32_t value, diff_tolerance tolerance)
{
    diff_value *item = &program->values[value];
    uint32_t bytes = diff_hint_bytes(item->hint);

    if (program->failed || program->in_function)
        return;
    program->statements[program->statement_count - 1].end = program->body.bytes;
    if (program->sparse && tolerance == DIFF_EXACT && chance(program, 60))
        return;
    if (!grow(program, (void **)&program->slots, program->slot_count, &program->slot_capacity, sizeof *program->slots))
        return;
    uint32_t offset = program->slot_count * program->threads * 8;
    if (item->hint == 'p') {
        uint32_t bit = new_register(program, 'w');
        say(program, "selp.u32 %%w%" PRIu32 ", 1, 0, %s;\n", bit, name_of(program, value).text);
        say(program, "st.global.b32 [%%out+%" PRIu32 "], %%w%" PRIu32 ";\n", offset, bit);
    } else {
        say(program, "st.global.b%u [%%out+%" PRIu32 "], %s;\n", 8 * bytes, offset, name_of(program, value).text);
    }
    item->slot = program->slot_count;
    program->slots[program->slot_count++] = (diff_slot){
        .statement = program->statement_count - 1, .value = value, .hint = item->hint, .tolerance = tolerance};
}

/* Ends a statement whose one result can be read from now on. */
static void finish(diff_program *program, uint32_t value)
{
    store(program, value, DIFF_EXACT);
    show(program, value);
}

/* ---- forms ---- */

/* How many ways there are to choose from the alternatives of a form's text. */
static uint32_t count_ways(const char *text)
{
    uint32_t ways = 1, here = 0;

    for (; *text; text++) {
        here = *text == '{' ? 1 : *text == ',' ? here + 1 : here;
        if (*text == '}')
            ways *= here;
    }
    return ways;
}

/* The text of way number `way`. */
static void expand(const char *text, uint32_t way, char *into, size_t capacity)
{
    size_t length = 0;

    while (*text && length + 1 < capacity) {
        if (*text != '{') {
            into[length++] = *text++;
            continue;
        }
        const char *close = strchr(text, '}');
        uint32_t count = 1, chosen;
        for (const char *at = text; at < close; at++)
            count += *at == ',';
        chosen = way % count;
        way /= count;
        for (text++; chosen; text++)
            chosen -= *text == ',';
        while (*text != ',' && *text != '}' && length + 1 < capacity)
            into[length++] = *text++;
        text = close + 1;
    }
    into[length] = 0;
}

static void integer_immediate(diff_program *program, char letter, char *into, size_t capacity)
{
    uint64_t bits = random_bits(&program->random, letter == 'H' ? 'h' : letter == 'W' ? 'w' : 'd');

    snprintf(into, capacity, "0x%" PRIx64, bits);
}

static void float_immediate(diff_program *program, char letter, char *into, size_t capacity)
{
    uint64_t bits = random_bits(&program->random, letter == 'F' ? 'f' : 'e');

    snprintf(into, capacity, letter == 'F' ? "0f%08" PRIx64 : "0d%016" PRIx64, bits);
}

/* A divisor: any value with its lowest bit set. */
static void nonzero(diff_program *program, char letter, char *into, size_t capacity)
{
    char hint = letter == '1' ? 'h' : letter == '2' ? 'w' : 'd';
    uint32_t source = take(program, hint), number = new_register(program, hint);
    char class_letter = class_letters[class_of(hint)];

    say(program, "or.b%u %%%c%" PRIu32 ", %s, 1;\n", 8 * diff_hint_bytes(hint), class_letter, number,
        name_of(program, source).text);
    snprintf(into, capacity, "%%%c%" PRIu32, class_letter, number);
}

/* The text of a source operand. */
static void source_text(diff_program *program, char letter, char *into, size_t capacity)
{
    switch (letter) {
    case 'H':
    case 'W':
    case 'D':
        if (chance(program, 20)) {
            integer_immediate(program, letter, into, capacity);
            return;
        }
        break;
    case 'F':
    case 'E':
        if (chance(program, 12)) {
            float_immediate(program, letter, into, capacity);
            return;
        }
        break;
    case '1':
    case '2':
    case '3':
        nonzero(program, letter, into, capacity);
        return;
    case 'i':
        snprintf(into, capacity, "0x%x", below(program, 256));
        return;
    case 's':
        if (chance(program, 30)) {
            snprintf(into, capacity, "%u", below(program, 70));
            return;
        }
        break;
    default:
        break;
    }
    bool negated = letter == 'q' && chance(program, 40);
    char hint = letter == 'q' ? 'p' : letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
    snprintf(into, capacity, "%s%s", negated ? "!" : "", name_of(program, take(program, hint)).text);
}

typedef struct results {
    uint32_t values[4], count;
} results;

static void add_result(diff_program *program, results *into, char hint)
{
    into->values[into->count++] = new_value(program, hint);
}

static results make_results(diff_program *program, const char *letters)
{
    results made = {.count = 0};

    for (; *letters != ':'; letters++) {
        if (*letters == 'P')
            add_result(program, &made, 'p');
        if (*letters == 'j')
            add_result(program, &made, 'w');
        if (*letters != '<' && *letters != '>')
            add_result(program, &made, *letters == 'P' || *letters == 'j' ? 'p' : *letters);
    }
    return made;
}

static void say_results(diff_program *program, const char *letters, const results *made)
{
    bool vector = letters[0] == '<', pair = letters[0] == 'P' || letters[0] == 'j';

    say(program, "%s", vector ? "{" : "");
    for (uint32_t i = 0; i < made->count; i++)
        say(program, "%s%s", i ? (pair ? "|" : ", ") : "", name_of(program, made->values[i]).text);
    say(program, "%s", vector ? "}" : "");
}

/* With a guard the result has a value before: that of another register. */
static void say_guard(diff_program *program, const results *made)
{
    uint32_t before = take(program, program->values[made->values[0]].hint), guard = take(program, 'p');

    say(program, "mov.b%u %s, %s;\n", 8 * diff_hint_bytes(program->values[made->values[0]].hint),
        name_of(program, made->values[0]).text, name_of(program, before).text);
    say(program, "@%s%s ", chance(program, 50) ? "!" : "", name_of(program, guard).text);
}

/* Goes on with a copy of an f32 or f64 whose NaN is always the same one; results of other kinds end here. */
static void show_canonical(diff_program *program, uint32_t value)
{
    char hint = program->values[value].hint;
    uint32_t test, copy;

    if (hint != 'f' && hint != 'e')
        return;
    begin(program);
    use(program, value);
    test = new_register(program, 'p');
    copy = new_value(program, hint);
    say(program, "testp.notanumber.%s %%p%" PRIu32 ", %s;\n", hint == 'f' ? "f32" : "f64", test,
        name_of(program, value).text);
    say(program, "selp.b%u %s, %s, %s, %%p%" PRIu32 ";\n", 8 * diff_hint_bytes(hint), name_of(program, copy).text,
        hint == 'f' ? "0x7fc00001" : "0x7ffc000000000001", name_of(program, value).text, test);
    show(program, copy);
    program->statements[program->statement_count - 1].end = program->body.bytes;
    program->values[copy].slot = program->values[value].slot;
}

static void emit_form(diff_program *program, const form *item, uint32_t way, bool guarded)
{
    char text[96], operands[MOST_OPERANDS][48];
    const char *sources = strchr(item->operands, ':') + 1;
    uint32_t count = 0;

    expand(item->text, way, text, sizeof text);
    begin(program);
    results made = make_results(program, item->operands);
    for (const char *letter = sources; *letter; letter++) {
        if (*letter != '<' && *letter != '>')
            source_text(program, *letter, operands[count++], sizeof operands[0]);
    }
    /* ptxas leaves the last step of a guarded set without the guard (seen with driver 580.159.04). */
    if (guarded && made.count == 1 && program->values[made.values[0]].hint != 'p' && strncmp(text, "set.", 4) != 0)
        say_guard(program, &made);
    say(program, "%s ", text);
    say_results(program, item->operands, &made);
    say(program, ", ");
    for (uint32_t i = 0; i < count; i++)
        say(program, "%s%s", i ? ", " : sources[0] == '<' ? "{" : "", operands[i]);
    say(program, "%s;\n", sources[0] == '<' ? "}" : "");
    for (uint32_t i = 0; i < made.count; i++) {
        if (item->tolerance == DIFF_EXACT)
            finish(program, made.values[i]);
        else
            store(program, made.values[i], item->tolerance);
        if (item->tolerance == DIFF_NAN)
            show_canonical(program, made.values[i]);
    }
}

static void random_form(diff_program *program)
{
    const form *item;

    do
        item = &forms[below(program, FORM_COUNT)];
    while (program->in_function && item->tolerance != DIFF_EXACT);
    bool guarded = chance(program, 8);
    emit_form(program, item, below(program, count_ways(item->text)), guarded);
}

/* ---- carries: a chain of additions, subtractions or products with sums ---- */

static void carry_line(diff_program *program, const char *op, const char *type, char hint, uint32_t sources,
                       results *made)
{
    uint32_t taken[3];

    for (uint32_t i = 0; i < sources; i++)
        taken[i] = take(program, hint);
    add_result(program, made, hint);
    say(program, "%s%s %s", op, type, name_of(program, made->values[made->count - 1]).text);
    for (uint32_t i = 0; i < sources; i++)
        say(program, ", %s", name_of(program, taken[i]).text);
    say(program, ";\n");
}

static void carries(diff_program *program)
{
    static const char *const lines[][3] = {{"add.cc", "addc.cc", "addc"},
                                           {"sub.cc", "subc.cc", "subc"},
                                           {"mad.lo.cc", "madc.hi.cc", "madc.lo"},
                                           {"mad.hi.cc", "madc.lo.cc", "addc"},
                                           {"add.cc", "madc.hi.cc", "madc.hi"}};
    static const char *const types[] = {".u32", ".s32", ".u64", ".s64"};
    uint32_t chain = below(program, 5), type = below(program, 4);
    results made = {.count = 0};

    begin(program);
    for (uint32_t i = 0; i < 3; i++)
        carry_line(program, lines[chain][i], types[type], type < 2 ? 'w' : 'd', lines[chain][i][0] == 'm' ? 3 : 2,
                   &made);
    for (uint32_t i = 0; i < made.count; i++)
        finish(program, made.values[i]);
}

/* ---- memory ---- */

typedef struct access_type {
    const char *suffix; /* of ld */
    uint32_t bytes;
    const char *registers; /* letters that may receive it */
} access_type;

static const access_type access_types[] = {{"b8", 1, "hwd"},  {"u8", 1, "hwd"},  {"s8", 1, "hwd"},  {"b16", 2, "hkb"},
                                           {"u16", 2, "hwd"}, {"s16", 2, "hwd"}, {"b32", 4, "wfx"}, {"u32", 4, "wd"},
                                           {"s32", 4, "wd"},  {"f32", 4, "f"},   {"b64", 8, "de"},  {"u64", 8, "d"},
                                           {"s64", 8, "d"},   {"f64", 8, "e"}};

static uint32_t vector_length(diff_program *program, uint32_t bytes)
{
    uint32_t count = 1u << below(program, 3);

    return bytes * count > 16 ? 1 : count;
}

static const char *vector_suffix(uint32_t count)
{
    return count == 4 ? ".v4" : count == 2 ? ".v2" : "";
}

/* Stores of 16 bytes at `address`, then a load of any type within them. `barrier` stands between the two. */
static void say_store(diff_program *program, const char *space, const char *address)
{
    if (chance(program, 50)) {
        uint32_t a = take(program, 'd'), b = take(program, 'e');
        say(program, "st%s.v2.b64 [%s], {%s, %s};\n", space, address, name_of(program, a).text,
            name_of(program, b).text);
        return;
    }
    uint32_t a = take(program, 'w'), b = take(program, 'f'), c = take(program, 'x'), d = take(program, 'y');
    say(program, "st%s.v4.b32 [%s], {%s, %s, %s, %s};\n", space, address, name_of(program, a).text,
        name_of(program, b).text, name_of(program, c).text, name_of(program, d).text);
}

static void say_narrow_store(diff_program *program, const char *space, const char *address)
{
    static const char *const suffixes[] = {"b8", "u16", "b32", "s64"};
    static const char letters[] = "wwwd";
    uint32_t which = below(program, 4), bytes = 1u << which;
    uint32_t value = which == 1 ? take(program, 'h') : take(program, letters[which]);

    say(program, "st%s.%s [%s+%u], %s;\n", space, suffixes[which], address, below(program, 16 / bytes) * bytes,
        name_of(program, value).text);
}

static results say_load(diff_program *program, const char *space, const char *address)
{
    const access_type *type = &access_types[below(program, sizeof access_types / sizeof access_types[0])];
    uint32_t count = vector_length(program, type->bytes), whole = count * type->bytes;
    char hint = type->registers[below(program, (uint32_t)strlen(type->registers))];
    results made = {.count = 0};

    for (uint32_t i = 0; i < count; i++)
        add_result(program, &made, hint);
    say(program, "ld%s%s.%s ", space, vector_suffix(count), type->suffix);
    say_results(program, count > 1 ? "<" : "w", &made);
    say(program, ", [%s+%u];\n", address, below(program, 16 / whole) * whole);
    return made;
}

static void finish_all(diff_program *program, const results *made)
{
    for (uint32_t i = 0; i < made->count; i++)
        finish(program, made->values[i]);
}

/* Whether a generic address lies in a space. */
static void add_space(diff_program *program, results *made, const char *address)
{
    static const char *const spaces[] = {"local", "shared", "global"};

    if (made->count == 4)
        return;
    add_result(program, made, 'p');
    say(program, "isspacep.%s %s, %s;\n", spaces[below(program, 3)],
        name_of(program, made->values[made->count - 1]).text, address);
}

/* The thread's own bytes in local, shared or global memory, by the space's or a generic address. */
static void round_trip(diff_program *program)
{
    static const char *const spaces[] = {".local", ".shared", ".global"};
    static const char *const variables[] = {"%own_local", "%own_shared", "%own_global"};
    uint32_t which = below(program, 3), address = new_register(program, 'd');
    bool generic = chance(program, 30);
    char text[24];

    begin(program);
    snprintf(text, sizeof text, "%%d%" PRIu32, address);
    if (generic)
        say(program, "cvta%s.u64 %s, %s;\n", spaces[which], text, variables[which]);
    else
        say(program, "mov.u64 %s, %s;\n", text, variables[which]);
    const char *space = generic ? "" : spaces[which];
    say_store(program, space, text);
    if (chance(program, 50))
        say_narrow_store(program, space, text);
    results made = say_load(program, space, text);
    if (generic)
        add_space(program, &made, text);
    finish_all(program, &made);
}

/* Constant memory at an address that depends on the lane. */
static void constant_load(diff_program *program)
{
    uint32_t index = take(program, 'w'), offset = new_register(program, 'w'), address = new_register(program, 'd');
    char text[24];

    begin(program);
    use(program, index);
    say(program, "and.b32 %%w%" PRIu32 ", %s, 3;\n", offset, name_of(program, index).text);
    say(program, "mul.wide.u32 %%d%" PRIu32 ", %%w%" PRIu32 ", 16;\n", address, offset);
    say(program, "add.u64 %%d%" PRIu32 ", %%d%" PRIu32 ", %%table;\n", address, address);
    snprintf(text, sizeof text, "%%d%" PRIu32, address);
    results made = say_load(program, ".const", text);
    finish_all(program, &made);
}

/* Two NaNs added in shared memory, where ptxas makes a loop around add.f64: which one stays depends on the optimization level. */
static void finish_any_nan(diff_program *program, uint32_t value)
{
    uint32_t slots = program->slot_count;

    store(program, value, DIFF_EXACT);
    if (program->slot_count > slots)
        program->slots[slots].tolerance = DIFF_NAN;
    show_canonical(program, value);
}

typedef struct atomic_form {
    const char *text;
    char hint;
    uint32_t sources;
} atomic_form;

static const atomic_form atomics[] = {
    {"add.u32", 'w', 1},        {"add.s32", 'w', 1},         {"add.u64", 'd', 1},       {"add.f32", 'f', 1},
    {"add.f64", 'e', 1},        {"inc.u32", 'w', 1},         {"dec.u32", 'w', 1},       {"min.u32", 'w', 1},
    {"min.s32", 'w', 1},        {"max.u32", 'w', 1},         {"max.s32", 'w', 1},       {"min.u64", 'd', 1},
    {"min.s64", 'd', 1},        {"max.u64", 'd', 1},         {"max.s64", 'd', 1},       {"and.b32", 'w', 1},
    {"or.b32", 'w', 1},         {"xor.b32", 'w', 1},         {"and.b64", 'd', 1},       {"or.b64", 'd', 1},
    {"xor.b64", 'd', 1},        {"exch.b32", 'w', 1},        {"exch.b64", 'd', 1},      {"cas.b32", 'w', 2},
    {"cas.b64", 'd', 2},        {"cas.b16", 'h', 2},         {"add.noftz.f16", 'k', 1}, {"add.noftz.f16x2", 'x', 1},
    {"add.noftz.bf16", 'b', 1}, {"add.noftz.bf16x2", 'y', 1}};

/* An atomic on the thread's own bytes: the old value and the new one. cas compares with what is there half of the time.
 */
static void own_atomic(diff_program *program)
{
    const atomic_form *item = &atomics[below(program, sizeof atomics / sizeof atomics[0])];
    bool shared = chance(program, 50);
    const char *space = shared ? ".shared" : ".global", *at = shared ? "%own_shared" : "%own_global";
    uint32_t bits = 8 * diff_hint_bytes(item->hint);
    results made = {.count = 0};

    begin(program);
    uint32_t before = take(program, item->hint), a = take(program, item->hint), b = take(program, item->hint);
    if (item->sources == 2 && chance(program, 50))
        a = before;
    add_result(program, &made, item->hint);
    add_result(program, &made, item->hint);
    say(program, "st%s.b%u [%s], %s;\n", space, bits, at, name_of(program, before).text);
    say(program, "atom%s.%s %s, [%s], %s", space, item->text, name_of(program, made.values[0]).text, at,
        name_of(program, a).text);
    say(program, item->sources == 2 ? ", %s;\n" : ";\n", name_of(program, b).text);
    say(program, "ld%s.b%u %s, [%s];\n", space, bits, name_of(program, made.values[1]).text, at);
    finish(program, made.values[0]);
    if (shared && strcmp(item->text, "add.f64") == 0)
        finish_any_nan(program, made.values[1]);
    else
        finish(program, made.values[1]);
}

/* ---- what all threads of the CTA do together ---- */

/* A barrier of all threads in one of its spellings. */
static void say_barrier(diff_program *program)
{
    static const char *const spellings[] = {"bar.sync 0",
                                            "bar.cta.sync 0",
                                            "barrier.sync.aligned 0",
                                            "barrier.cta.sync.aligned 0",
                                            "membar.cta;\nbar.sync 0",
                                            "fence.acq_rel.cta;\nbar.sync 0",
                                            "bar.warp.sync 0xffffffff;\nbar.sync 0"};

    say(program, "%s;\n", spellings[below(program, 7)]);
}

/* Each thread writes 16 bytes and reads its neighbour's. */
static void exchange(diff_program *program)
{
    uint32_t other = new_register(program, 'w'), address = new_register(program, 'd');
    char text[24];

    begin(program);
    crosses(program);
    say_barrier(program);
    say_store(program, ".shared", "%own_shared");
    say_barrier(program);
    say(program, "xor.b32 %%w%" PRIu32 ", %%thread, %u;\n", other, below(program, program->threads));
    say(program,
        "mul.wide.u32 %%d%" PRIu32 ", %%w%" PRIu32 ", 16;\nadd.u64 %%d%" PRIu32 ", %%d%" PRIu32 ", %%all_shared;\n",
        address, other, address, address);
    snprintf(text, sizeof text, "%%d%" PRIu32, address);
    results made = say_load(program, ".shared", text);
    say_barrier(program);
    finish_all(program, &made);
}

/* Matrices whose rows are the threads' 16 bytes. */
static void matrix_load(diff_program *program)
{
    uint32_t count = 1u << below(program, 3);
    results made = {.count = 0};

    begin(program);
    crosses(program);
    say_barrier(program);
    say_store(program, ".shared", "%own_shared");
    say_barrier(program);
    for (uint32_t i = 0; i < count; i++)
        add_result(program, &made, 'x');
    say(program, "ldmatrix.sync.aligned.m8n8.x%u%s.shared.b16 ", count, chance(program, 50) ? ".trans" : "");
    say_results(program, "<", &made);
    say(program, ", [%%own_shared];\n");
    say_barrier(program);
    finish_all(program, &made);
}

/* The same the other way: rows are written from matrices, and each thread reads its own. */
static void matrix_store(diff_program *program)
{
    uint32_t count = 1u << below(program, 3), taken[4];

    begin(program);
    crosses(program);
    for (uint32_t i = 0; i < count; i++)
        taken[i] = take(program, 'x');
    say_barrier(program);
    say_store(program, ".shared", "%own_shared");
    say_barrier(program);
    say(program, "stmatrix.sync.aligned.m8n8.x%u%s.shared.b16 [%%own_shared], {", count,
        chance(program, 50) ? ".trans" : "");
    for (uint32_t i = 0; i < count; i++)
        say(program, "%s%s", i ? ", " : "", name_of(program, taken[i]).text);
    say(program, "};\n");
    say_barrier(program);
    results made = say_load(program, ".shared", "%own_shared");
    say_barrier(program);
    finish_all(program, &made);
}

/* Reductions in shared memory that come out alike in any order. */
static void common_reduction(diff_program *program)
{
    static const char *const ops[] = {"add.u32", "min.s32", "max.u32", "and.b32",
                                      "or.b32",  "xor.b32", "min.u32", "max.s32"};
    const char *op = ops[below(program, 8)];

    begin(program);
    crosses(program);
    uint32_t first = take(program, 'w'), value = take(program, 'w'), result = new_value(program, 'w');
    say(program, "bar.sync 0;\n@%%is_first st.shared.b32 [cell], %s;\nbar.sync 0;\n", name_of(program, first).text);
    say(program, "red.shared.%s [cell], %s;\nbar.sync 0;\nld.shared.b32 %s, [cell];\n", op,
        name_of(program, value).text, name_of(program, result).text);
    finish(program, result);
}

static void barrier_reduction(diff_program *program)
{
    static const char *const ops[] = {"popc.u32", "and.pred", "or.pred"};
    uint32_t which = below(program, 3);

    begin(program);
    crosses(program);
    uint32_t source = take(program, 'p'), result = new_value(program, which ? 'p' : 'w');
    say(program, "bar.red.%s %s, 0, %s%s;\n", ops[which], name_of(program, result).text, chance(program, 30) ? "!" : "",
        name_of(program, source).text);
    finish(program, result);
}

/* ---- warps ---- */

static void say_mask(diff_program *program)
{
    if (program->mask == DIFF_NONE)
        say(program, ", 0xffffffff;\n");
    else
        say(program, ", %s;\n", name_of(program, program->mask).text);
}

static void vote(diff_program *program)
{
    static const char *const modes[] = {"all.pred", "any.pred", "uni.pred", "ballot.b32"};
    uint32_t mode = below(program, 4);

    begin(program);
    crosses(program);
    uint32_t source = take(program, 'p'), result = new_value(program, mode == 3 ? 'w' : 'p');
    say(program, "vote.sync.%s %s, %s%s", modes[mode], name_of(program, result).text, chance(program, 30) ? "!" : "",
        name_of(program, source).text);
    say_mask(program);
    finish(program, result);
}

static void match(diff_program *program)
{
    bool wide = chance(program, 50), all = chance(program, 50);
    results made = {.count = 0};

    begin(program);
    crosses(program);
    uint32_t source = take(program, wide ? 'd' : 'w');
    add_result(program, &made, 'w');
    if (all)
        add_result(program, &made, 'p');
    say(program, "match.%s.sync.b%u ", all ? "all" : "any", wide ? 64 : 32);
    say_results(program, all ? "j" : "w", &made);
    say(program, ", %s", name_of(program, source).text);
    say_mask(program);
    finish_all(program, &made);
}

static void redux(diff_program *program)
{
    static const char *const ops[] = {"add.u32", "add.s32", "min.u32", "min.s32", "max.u32",
                                      "max.s32", "and.b32", "or.b32",  "xor.b32"};

    begin(program);
    crosses(program);
    uint32_t source = take(program, 'w'), result = new_value(program, 'w');
    say(program, "redux.sync.%s %s, %s", ops[below(program, 9)], name_of(program, result).text,
        name_of(program, source).text);
    say_mask(program);
    finish(program, result);
}

static void elect(diff_program *program)
{
    results made = {.count = 0};

    begin(program);
    crosses(program);
    add_result(program, &made, 'w');
    add_result(program, &made, 'p');
    say(program, "elect.sync ");
    say_results(program, "j", &made);
    say_mask(program);
    finish_all(program, &made);
}

/* All 32 lanes. */
static void shuffle(diff_program *program)
{
    static const char *const modes[] = {"up", "down", "bfly", "idx"};
    static const uint32_t controls[] = {0x1f, 0, 0x1c1f, 0x181f, 0x101f, 0x1c00, 0x0f1f, 0x1e0f};
    results made = {.count = 0};

    begin(program);
    crosses(program);
    uint32_t source = take(program, chance(program, 50) ? 'w' : 'f'), by = take(program, 's');
    add_result(program, &made, 'w');
    add_result(program, &made, 'p');
    say(program, "shfl.sync.%s.b32 ", modes[below(program, 4)]);
    say_results(program, "j", &made);
    say(program, ", %s, %s, 0x%x, 0xffffffff;\n", name_of(program, source).text, name_of(program, by).text,
        chance(program, 70) ? PICK(controls, below(program, 8)) : below(program, 0x2000) & 0x1f1f);
    finish_all(program, &made);
}

static void transpose(diff_program *program)
{
    begin(program);
    crosses(program);
    uint32_t source = take(program, 'x'), result = new_value(program, 'x');
    say(program, "movmatrix.sync.aligned.m8n8.trans.b16 %s, %s;\n", name_of(program, result).text,
        name_of(program, source).text);
    finish(program, result);
}

/* ---- mma: with elements whose sums are exact, or with any of limited size ---- */

typedef struct mma_form {
    const char *text;
    uint32_t a, b, c, d; /* registers of each */
    char kind;           /* of the factors: k f16, b bf16, f tf32, s bytes */
    bool half_sums;
} mma_form;

static const mma_form mmas[] = {{"m16n8k16.row.col.f32.f16.f16.f32", 4, 2, 4, 4, 'k', false},
                                {"m16n8k8.row.col.f32.f16.f16.f32", 2, 1, 4, 4, 'k', false},
                                {"m16n8k16.row.col.f16.f16.f16.f16", 4, 2, 2, 2, 'k', true},
                                {"m16n8k8.row.col.f16.f16.f16.f16", 2, 1, 2, 2, 'k', true},
                                {"m16n8k16.row.col.f32.bf16.bf16.f32", 4, 2, 4, 4, 'b', false},
                                {"m16n8k8.row.col.f32.bf16.bf16.f32", 2, 1, 4, 4, 'b', false},
                                {"m16n8k8.row.col.f32.tf32.tf32.f32", 4, 2, 4, 4, 'f', false},
                                {"m16n8k4.row.col.f32.tf32.tf32.f32", 2, 1, 4, 4, 'f', false},
                                {"m16n8k16.row.col.s32.s8.s8.s32", 2, 1, 4, 4, 's', false},
                                {"m16n8k32.row.col.s32.s8.u8.s32", 4, 2, 4, 4, 's', false},
                                {"m16n8k32.row.col.satfinite.s32.u8.s8.s32", 4, 2, 4, 4, 's', false},
                                {"m16n8k16.row.col.s32.u8.u8.s32", 2, 1, 4, 4, 's', false}};

/* A register of factors made from any one: high bytes chosen from a few that stand for small numbers, or exponents cut
 * down. */
static uint32_t factor(diff_program *program, char kind, bool small)
{
    uint32_t source = take(program, 'w'), cut = new_register(program, 'w'), result = new_register(program, 'w');
    diff_name from = name_of(program, source);

    if (kind == 's') {
        say(program, "mov.b32 %%w%" PRIu32 ", %s;\n", result, from.text);
    } else if (small) {
        const char *bytes = kind == 'k' ? "0xbc403c00" : "0xc0414000";
        say(program, "and.b32 %%w%" PRIu32 ", %s, %s;\n", cut, from.text, kind == 'f' ? "0x3000" : "0x3030");
        say(program, "or.b32 %%w%" PRIu32 ", %%w%" PRIu32 ", %s;\n", cut, cut, kind == 'f' ? "0x0444" : "0x0404");
        say(program, "prmt.b32 %%w%" PRIu32 ", %s, 0, %%w%" PRIu32 ";\n", result, bytes, cut);
    } else {
        say(program, "and.b32 %%w%" PRIu32 ", %s, %s;\n", result, from.text, kind == 'f' ? "0xbfffe000" : "0xbfffbfff");
    }
    return result;
}

static uint32_t addend(diff_program *program, const mma_form *item, bool small)
{
    if (item->half_sums)
        return factor(program, 'k', small);
    uint32_t source = take(program, 'w'), result = new_register(program, item->kind == 's' ? 'w' : 'f');
    if (item->kind == 's')
        say(program, "mov.b32 %%w%" PRIu32 ", %s;\n", result, name_of(program, source).text);
    else if (small)
        say(program, "cvt.rn.f32.s8 %%f%" PRIu32 ", %s;\n", result, name_of(program, source).text);
    else
        say(program, "cvt.rn.f32.s16 %%f%" PRIu32 ", %s;\nmul.rn.f32 %%f%" PRIu32 ", %%f%" PRIu32 ", 0f38800000;\n",
            result, name_of(program, source).text, result, result);
    return result;
}

static void say_registers(diff_program *program, char letter, const uint32_t *registers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        say(program, "%s%%%c%" PRIu32, i ? ", " : ", {", letter, registers[i]);
    say(program, "}");
}

static void mma(diff_program *program)
{
    const mma_form *item = &mmas[below(program, sizeof mmas / sizeof mmas[0])];
    bool small = item->kind != 's' && chance(program, 60), exact = small || item->kind == 's';
    uint32_t a[4], b[2], c[4];
    results made = {.count = 0};

    begin(program);
    crosses(program);
    for (uint32_t i = 0; i < item->a; i++)
        a[i] = factor(program, item->kind, small);
    for (uint32_t i = 0; i < item->b; i++)
        b[i] = factor(program, item->kind, small);
    for (uint32_t i = 0; i < item->c; i++)
        c[i] = addend(program, item, small);
    for (uint32_t i = 0; i < item->d; i++)
        add_result(program, &made, item->half_sums ? 'x' : item->kind == 's' ? 'w' : 'f');
    say(program, "mma.sync.aligned.%s ", item->text);
    say_results(program, "<", &made);
    say_registers(program, 'w', a, item->a);
    say_registers(program, 'w', b, item->b);
    say_registers(program, item->half_sums || item->kind == 's' ? 'w' : 'f', c, item->c);
    say(program, ";\n");
    for (uint32_t i = 0; i < made.count; i++) {
        if (exact)
            finish(program, made.values[i]);
        else
            store(program, made.values[i], item->half_sums ? DIFF_MMA_F16X2 : DIFF_MMA_F32);
    }
}

/* ---- control flow ---- */

static void block(diff_program *program, uint32_t statements);

/* A register that takes other values on some paths. */
static uint32_t new_variable(diff_program *program)
{
    static const char hints[] = "hkwwffxdde";
    char hint = hints[below(program, 10)];
    uint32_t value, source;

    begin(program);
    source = take(program, hint);
    value = new_value(program, hint);
    say(program, "mov.b%u %s, %s;\n", 8 * diff_hint_bytes(hint), name_of(program, value).text,
        name_of(program, source).text);
    return value;
}

static void assign(diff_program *program, uint32_t variable)
{
    char hint = program->values[variable].hint;

    say(program, "mov.b%u %s, %s;\n", 8 * diff_hint_bytes(hint), name_of(program, variable).text,
        name_of(program, choose(program, hint)).text);
}

/* What stands on a path of its own: its values are not seen behind it. */
static void path(diff_program *program, uint32_t variable)
{
    uint32_t visible = program->visible_count;

    program->depth++;
    block(program, 1 + below(program, 4));
    assign(program, variable);
    program->depth--;
    program->visible_count = visible;
}

/* The value of a variable behind the paths that change it. */
static void merge(diff_program *program, uint32_t variable)
{
    begin(program);
    say(program, "mov.b%u %s, %s;\n", 8 * diff_hint_bytes(program->values[variable].hint),
        name_of(program, variable).text, name_of(program, variable).text);
    finish(program, variable);
}

static uint32_t lane_mask(diff_program *program)
{
    if (program->in_function || program->mask_unknown)
        return DIFF_NONE;
    return new_value(program, 'w');
}

static void branch(diff_program *program)
{
    uint32_t label = program->labels, outer = program->mask, variable = new_variable(program);
    uint32_t condition = choose(program, 'p'), yes = lane_mask(program), no = lane_mask(program);

    program->labels += 2;
    if (yes != DIFF_NONE) {
        say(program, "vote.sync.ballot.b32 %s, %s", name_of(program, yes).text, name_of(program, condition).text);
        say_mask(program);
        say(program, "xor.b32 %s, %s, %s;\n", name_of(program, no).text, name_of(program, yes).text,
            outer == DIFF_NONE ? "0xffffffff" : name_of(program, outer).text);
    }
    say(program, "@!%s bra L%" PRIu32 ";\n", name_of(program, condition).text, label);
    program->mask = yes;
    path(program, variable);
    say(program, "bra L%" PRIu32 ";\nL%" PRIu32 ":\n", label + 1, label);
    program->mask = no;
    if (chance(program, 70))
        path(program, variable);
    say(program, "L%" PRIu32 ":\n", label + 1);
    program->mask = outer;
    merge(program, variable);
}

/* One to four rounds, as many as each lane's value says. */
static void loop(diff_program *program)
{
    uint32_t label = program->labels++, variable = new_variable(program), bound = choose(program, 'w');
    uint32_t count = new_register(program, 'w'), limit = new_register(program, 'w'), again = new_register(program, 'p');
    bool unknown = program->mask_unknown, looping = program->looping;

    say(program, "mov.u32 %%w%" PRIu32 ", 0;\nand.b32 %%w%" PRIu32 ", %s, 3;\nL%" PRIu32 ":\n", count, limit,
        name_of(program, bound).text, label);
    program->mask_unknown = program->looping = true;
    show(program, variable);
    path(program, variable);
    program->visible_count--;
    program->mask_unknown = unknown;
    program->looping = looping;
    say(program, "add.u32 %%w%" PRIu32 ", %%w%" PRIu32 ", 1;\n", count, count);
    say(program, "setp.le.u32 %%p%" PRIu32 ", %%w%" PRIu32 ", %%w%" PRIu32 ";\n@%%p%" PRIu32 " bra L%" PRIu32 ";\n",
        again, count, limit, again, label);
    merge(program, variable);
}

/* A jump through a list of four labels. */
static void indexed(diff_program *program)
{
    uint32_t label = program->labels, variable = new_variable(program), source = choose(program, 'w');
    uint32_t index = new_register(program, 'w');
    bool unknown = program->mask_unknown;

    program->labels += 6;
    say(program, "and.b32 %%w%" PRIu32 ", %s, 3;\n", index, name_of(program, source).text);
    say(program, "L%" PRIu32 ": .branchtargets L%" PRIu32 ", L%" PRIu32 ", L%" PRIu32 ", L%" PRIu32 ";\n", label + 5,
        label, label + 1, label + 2, label + 3);
    say(program, "brx.idx %%w%" PRIu32 ", L%" PRIu32 ";\n", index, label + 5);
    program->mask_unknown = true;
    for (uint32_t i = 0; i < 4; i++) {
        say(program, "L%" PRIu32 ":\n", label + i);
        path(program, variable);
        say(program, "bra L%" PRIu32 ";\n", label + 4);
    }
    program->mask_unknown = unknown;
    say(program, "L%" PRIu32 ":\n", label + 4);
    merge(program, variable);
}

/* A function of its own for each call: what it makes of its arguments. */
static void make_function(diff_program *program, uint32_t number, const char *letters, char result)
{
    uint32_t visible = program->visible_count, count = 0;

    program->in_function = true;
    say(program, ".func (.param .b%u r) f%" PRIu64 "_%" PRIu32 "(", 8 * diff_hint_bytes(result), program->seed, number);
    for (const char *letter = letters; *letter; letter++, count++)
        say(program, "%s.param .b%u a%u", count ? ", " : "", 8 * diff_hint_bytes(*letter), count);
    say(program, ")\n{\nREGISTERS\n");
    for (uint32_t i = 0; i < count; i++) {
        uint32_t value = new_value(program, letters[i]);
        say(program, "ld.param.b%u %s, [a%u];\n", 8 * diff_hint_bytes(letters[i]), name_of(program, value).text, i);
        show(program, value);
    }
    uint32_t first = program->visible_count - count, condition = new_value(program, 'p');
    say(program, "setp.gt.s32 %s, %s, 5;\n", name_of(program, condition).text,
        name_of(program, program->visible[first]).text);
    show(program, condition);
    memmove(program->visible, program->visible + first, (count + 1) * sizeof *program->visible);
    uint32_t kept = program->visible_count - first;
    program->visible_count = kept;
    block(program, 2 + below(program, 5));
    say(program, "st.param.b%u [r], %s;\nret;\n}\n", 8 * diff_hint_bytes(result),
        name_of(program, choose(program, result)).text);
    program->in_function = false;
    program->visible_count = visible;
}

static void call(diff_program *program)
{
    static const char results_of[] = "wfde";
    uint32_t number = program->calls++, *kept = malloc(program->visible_count * sizeof *kept);
    char result = results_of[below(program, 4)];
    static const char letters[] = "wdfehsx";

    if (!kept) {
        program->failed = true;
        return;
    }
    uint32_t count = program->visible_count;
    memcpy(kept, program->visible, count * sizeof *kept);
    make_function(program, number, letters, result);
    memcpy(program->visible, kept, count * sizeof *kept);
    free(kept);
    begin(program);
    uint32_t arguments[7], value = new_value(program, result);
    for (uint32_t i = 0; i < 7; i++)
        arguments[i] = take(program, letters[i]);
    say(program, "call (%s), f%" PRIu64 "_%" PRIu32 ", (", name_of(program, value).text, program->seed, number);
    for (uint32_t i = 0; i < 7; i++)
        say(program, "%s%s", i ? ", " : "", name_of(program, arguments[i]).text);
    say(program, ");\n");
    finish(program, value);
}

/* ---- programs ---- */

typedef void make(diff_program *program);

static void choose_from(diff_program *program, make *const *list, uint32_t count)
{
    list[below(program, count)](program);
}

static void statement(diff_program *program)
{
    static make *const memory[] = {carries, round_trip, constant_load, own_atomic};
    static make *const lanes[] = {vote, match, redux, elect};
    static make *const warp[] = {shuffle, shuffle, shuffle, transpose, mma, mma};
    static make *const together[] = {exchange, matrix_load, matrix_store, common_reduction, barrier_reduction};
    static make *const flow[] = {branch, branch, loop, indexed};
    uint32_t dice = below(program, 100);
    bool whole = program->depth == 0 && !program->in_function;

    if (dice < 76 || (program->in_function && dice < 90))
        random_form(program);
    else if (dice < 82)
        program->in_function ? carries(program) : choose_from(program, memory, 4);
    else if (program->variant != DIFF_ANY)
        random_form(program);
    else if (dice < 86 && !program->mask_unknown && !program->in_function)
        choose_from(program, lanes, 4);
    else if (dice < 90 && whole)
        choose_from(program, warp, 6);
    else if (dice < 92 && whole)
        choose_from(program, together, 5);
    else if (dice < 95 && whole)
        call(program);
    else if (program->depth < 3)
        choose_from(program, flow, 4);
    else
        random_form(program);
}

static void block(diff_program *program, uint32_t statements)
{
    for (uint32_t i = 0; i < statements && !program->failed; i++)
        statement(program);
}

/* Reads the inputs into registers that the whole program sees, and makes a few predicates of them. */
static void prologue(diff_program *program)
{
    for (uint32_t i = 0; i < DIFF_INPUTS; i++) {
        uint32_t value = new_value(program, input_hints[i]), bytes = diff_hint_bytes(input_hints[i]);
        if (program->failed)
            return;
        program->values[value].input = i;
        say(program, "ld.global.b%u %s, [%%in+%u];\n", 8 * bytes, name_of(program, value).text, 8 * i);
        show(program, value);
    }
    for (uint32_t i = 0; i < 3; i++) {
        begin(program);
        uint32_t value = new_value(program, 'p'), source = take(program, i == 2 ? 's' : 'w');
        say(program, "setp.%s %s, %s, %u;\n",
            i == 0   ? "lt.s32"
            : i == 1 ? "gt.u32"
                     : "lo.u32",
            name_of(program, value).text, name_of(program, source).text, i == 2 ? 35 : 100);
        finish(program, value);
    }
}

static void start(diff_program *program, uint64_t seed, diff_variant variant)
{
    *program = (diff_program){.seed = seed, .random = seed ^ UINT64_C(0xbb67ae8584caa73b), .variant = variant};
    program->mask = DIFF_NONE;
    program->threads = chance(program, 75) ? 64 : 128;
    program->sparse = chance(program, 20);
    if (variant == DIFF_ANY && chance(program, 35))
        program->variant = DIFF_STRAIGHT;
    prologue(program);
}

static bool complete(diff_program *program)
{
    return !program->failed && !program->body.failed && !program->functions.failed;
}

bool diff_program_make(diff_program *program, uint64_t seed, diff_variant variant)
{
    start(program, seed, variant);
    block(program, 20 + below(program, 30));
    return complete(program);
}

bool diff_program_form(diff_program *program, uint32_t index, uint64_t seed)
{
    for (uint32_t i = 0; i < FORM_COUNT; i++) {
        uint32_t ways = count_ways(forms[i].text);
        if (index >= ways) {
            index -= ways;
            continue;
        }
        start(program, seed, DIFF_STRAIGHT);
        uint32_t visible = program->visible_count;
        program->sparse = false;
        program->strict = true;
        for (uint32_t j = 0; j < 8; j++) {
            program->visible_count = visible; /* inputs only */
            emit_form(program, &forms[i], index, j == 7);
        }
        return complete(program);
    }
    return false;
}

void diff_program_free(diff_program *program)
{
    gd_text_free(&program->functions);
    gd_text_free(&program->body);
    free(program->values);
    free(program->visible);
    free(program->statements);
    free(program->slots);
    *program = (diff_program){0};
}

/* ---- printing ---- */

void diff_program_head(gd_text *text)
{
    gd_text_string(text, ".version 8.6\n.target sm_90\n.address_size 64\n.const .align 16 .b8 table[64] = {");
    for (uint32_t i = 0; i < 64; i++)
        gd_text_format(text, "%s%u", i ? ", " : "", (i * 167 + 13) & 255);
    gd_text_string(text, "};\n");
}

static void print_registers(const diff_program *program, gd_text *text)
{
    static const char *const types[] = {".b16", ".b32", ".b64", ".pred", ".f32", ".f64"};

    for (uint32_t i = 0; i < 6; i++)
        gd_text_format(text, ".reg %s %%%c<%" PRIu32 ">;\n", types[i], class_letters[i], program->registers[i] + 1);
}

static void print_functions(const diff_program *program, gd_text *text)
{
    const char *at = gd_text_get(&program->functions), *mark;

    while ((mark = strstr(at, "REGISTERS\n")) != NULL) {
        gd_text_append(text, at, (size_t)(mark - at));
        print_registers(program, text);
        at = mark + 10;
    }
    gd_text_string(text, at);
}

/* Addresses of the thread's own places. */
static void print_addresses(const diff_program *program, gd_text *text)
{
    gd_text_format(
        text,
        ".reg .b64 %%in, %%out, %%own_global, %%own_local, %%own_shared, %%all_shared, %%table;\n"
        ".reg .b32 %%thread;\n.reg .pred %%is_first;\n"
        ".local .align 16 .b8 private[16];\n.shared .align 16 .b8 places[%u];\n.shared .align 4 .b32 cell;\n"
        "ld.param.u64 %%in, [inputs];\nld.param.u64 %%out, [outputs];\nld.param.u64 %%own_global, [scratch];\n"
        "mov.u32 %%thread, %%tid.x;\nsetp.eq.u32 %%is_first, %%thread, 0;\n"
        "mad.wide.u32 %%in, %%thread, %u, %%in;\nmad.wide.u32 %%out, %%thread, 8, %%out;\n"
        "mad.wide.u32 %%own_global, %%thread, %u, %%own_global;\nmov.u64 %%own_local, private;\n"
        "mov.u64 %%all_shared, places;\nmad.wide.u32 %%own_shared, %%thread, 16, %%all_shared;\n"
        "mov.u64 %%table, table;\n",
        program->threads * 16, DIFF_INPUTS * 8, DIFF_SCRATCH);
}

/* Where the statements behind the inputs begin. */
static size_t body_start(const diff_program *program)
{
    return program->statement_count ? program->statements[0].text : 0;
}

void diff_program_print(const diff_program *program, uint32_t index, gd_text *text)
{
    const char *body = gd_text_get(&program->body);
    size_t first = body_start(program);

    print_functions(program, text);
    gd_text_format(
        text, ".visible .entry p%" PRIu32 "(.param .u64 inputs, .param .u64 outputs, .param .u64 scratch)\n{\n", index);
    print_registers(program, text);
    print_addresses(program, text);
    gd_text_append(text, body, first);
    if (program->variant == DIFF_SPLIT) {
        gd_text_string(text,
                       ".reg .b32 %odd;\n.reg .pred %is_odd;\nand.b32 %odd, %w0, 1;\nsetp.ne.u32 %is_odd, %odd, 0;\n"
                       "@%is_odd bra AGAIN;\n");
        gd_text_append(text, body + first, program->body.bytes - first);
        gd_text_string(text, "bra END;\nAGAIN:\n");
        gd_text_append(text, body + first, program->body.bytes - first);
        gd_text_string(text, "END:\n");
    } else {
        gd_text_append(text, body + first, program->body.bytes - first);
    }
    gd_text_string(text, "ret;\n}\n");
}

/* The last line of a statement that is no load names it; the first mnemonic otherwise. */
void diff_program_opcode(const diff_program *program, uint32_t statement, char *into, size_t capacity)
{
    const char *body = gd_text_get(&program->body), *at = body + program->statements[statement].text;
    const char *end = body + program->statements[statement].end, *best = at;
    size_t length = 0;

    for (; at < end; at = (const char *)memchr(at, 10, (size_t)(end - at)) + 1) {
        const char *op = *at == '@' ? strchr(at, ' ') + 1 : at;
        if (strncmp(op, "mov.b", 5) != 0 && strncmp(op, "or.b", 4) != 0 && strncmp(op, "bar.sync", 8) != 0 &&
            strncmp(op, "st.", 3) != 0 && strncmp(op, "cvta", 4) != 0)
            best = op;
        if (strncmp(op, "atom", 4) == 0 || strncmp(op, "red.", 4) == 0 || strncmp(op, "mma", 3) == 0)
            break;
        if (!memchr(at, '\n', (size_t)(end - at)))
            break;
    }
    while (best[length] && best[length] != ' ' && best[length] != '\n' && length + 1 < capacity)
        length++;
    memcpy(into, best, length);
    into[length] = 0;
}
