/* Makes random PTX programs. What the ISA leaves undefined or unspecified is never emitted: no
 * division of integers by zero, no shuffle from a lane that is not there, no product and sum that
 * may be fused or not, no access of memory that another thread writes, no activemask (lanes need
 * not have come together again, and on a GPU often have not). */
#include "differential_make.h"

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
    uint64_t z = *state += 0x9e3779b97f4a7c15;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

uint32_t diff_below(diff_program *program, uint32_t limit)
{
    return (uint32_t)(mix(&program->random) % limit);
}

bool diff_chance(diff_program *program, uint32_t percent)
{
    return diff_below(program, 100) < percent;
}

/* ---- values that find mistakes ---- */

static const uint32_t singles[] = {
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x80800000,
    0x00800001, 0x3f800000, 0xbf800000, 0x3f800001, 0x3f7fffff, 0x7f7fffff, 0xff7fffff, 0x7f800000,
    0xff800000, 0x7fc00000, 0xffc00000, 0x7fffffff, 0x7f800001, 0xffa00001, 0x4f000000, 0xcf000000,
    0x4effffff, 0x4f800000, 0x5f000000, 0xdf000000, 0x5f800000, 0x3f000000, 0xbf000000, 0x40200000,
    0x33800000, 0x33000000, 0x3f7ffffe, 0x00800002, 0x477fe000, 0x477ff000, 0x47800000, 0x38800000,
    0x387fe000, 0x33000001, 0x43e00000, 0x43e80000, 0x47600000, 0x3f804000, 0x3f808000, 0x3f801000,
    0x7f7f8000, 0x437f0000, 0x42fe0000, 0xc3000000, 0x00400000, 0x3effffff, 0x4b000001, 0xcb7fffff};
static const uint64_t doubles[] = {
    UINT64_C(0),        UINT64_C(1) << 63,  UINT64_C(1),        0x000fffffffffffff,
    0x0010000000000000, 0x3ff0000000000000, 0xbff0000000000000, 0x3ff0000000000001,
    0x3fefffffffffffff, 0x7fefffffffffffff, 0xffefffffffffffff, 0x7ff0000000000000,
    0xfff0000000000000, 0x7ff8000000000000, 0xfff8000000000000, 0x7fffffffffffffff,
    0x7ff0000000000001, 0xfff4000123456789, 0x41e0000000000000, 0xc1e0000000000000,
    0x41efffffffe00000, 0x43e0000000000000, 0xc3e0000000000000, 0x43f0000000000000,
    0x3fe0000000000000, 0x4004000000000000, 0x36a0000000000000, 0x3690000000000000,
    0x380fffffffffffff, 0x47efffffe0000000, 0x47effffff0000000, 0x3ff0000010000000,
    0x3ff0000030000000, 0x3e70000000000000, 0x40effc0000000000, 0x40effe0000000000,
    0x3ca0000000000000, 0x0008000000000000};
static const uint16_t halves[] = {0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x83ff, 0x0400, 0x8400,
                                  0x3c00, 0xbc00, 0x3c01, 0x3bff, 0x7bff, 0xfbff, 0x7c00, 0xfc00,
                                  0x7e00, 0xfe00, 0x7fff, 0x7c01, 0x3800, 0x4100, 0x7800, 0x5bff,
                                  0x57f8, 0x2000, 0x0200, 0x6400, 0xe401, 0x1400};
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
                                    0x100000000,
                                    0x7fffffffffffffff,
                                    UINT64_C(1) << 63,
                                    UINT64_MAX,
                                    UINT64_MAX - 1,
                                    0xaaaaaaaaaaaaaaaa,
                                    0x8000800080008000};

static uint16_t random_half(uint64_t *state, bool bfloat)
{
    uint64_t r = mix(state);
    uint32_t how = r >> 32 & 7;

    if (how < 3)
        return (uint16_t)(bfloat ? DIFF_PICK(singles, r >> 40) >> 16 : DIFF_PICK(halves, r >> 40));
    if (how < 5)
        return (uint16_t)r;
    return (uint16_t)(bfloat ? (r & 0x807f) | (120 + (r >> 40) % 16) << 7
                             : (r & 0x83ff) | (8 + (r >> 40) % 14) << 10);
}

static uint32_t random_single(uint64_t *state)
{
    uint64_t r = mix(state);
    uint32_t how = r >> 32 & 7, fraction = (uint32_t)r & 0x7fffff;

    if (how < 3)
        return DIFF_PICK(singles, r >> 40);
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
        return DIFF_PICK(doubles, r >> 40);
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
            r = DIFF_PICK(integers, r >> 32);
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
    uint64_t state = program->seed ^ 0x6a09e667f3bcc908;

    for (uint32_t i = 0; i < program->threads * DIFF_INPUTS; i++)
        inputs[i] = random_bits(&state, input_hints[i % DIFF_INPUTS]);
}

/* ---- growing ---- */

static bool grow(diff_program *program, void **list, uint32_t count, uint32_t *capacity,
                 size_t each)
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

void diff_say(diff_program *program, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    gd_text_format_list(program->in_function ? &program->functions : &program->body, format, list);
    va_end(list);
}

/* ---- registers ---- */

/* f32 and f64 have registers of their type. In untyped ones ptxas confuses numbers with bits: a
 * shift by a b32 register that add.f32 has written takes the float's integral part (seen with
 * driver 580.159.04, at every optimization level).
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

uint32_t diff_new_register(diff_program *program, char hint)
{
    return program->registers[class_of(hint)]++;
}

uint32_t diff_new_value(diff_program *program, char hint)
{
    if (!grow(program, (void **)&program->values, program->value_count, &program->value_capacity,
              sizeof *program->values))
        return 0;
    program->values[program->value_count] = (diff_value){.hint = hint,
                                                         .number = diff_new_register(program, hint),
                                                         .slot = DIFF_NONE,
                                                         .input = DIFF_NONE};
    return program->value_count++;
}

static void show(diff_program *program, uint32_t value)
{
    if (!grow(program, (void **)&program->visible, program->visible_count,
              &program->visible_capacity, sizeof *program->visible))
        return;
    program->visible[program->visible_count++] = value;
}

diff_name diff_program_name(const diff_program *program, uint32_t value)
{
    const diff_value *item = &program->values[value];
    diff_name result;

    snprintf(result.text, sizeof result.text, "%%%c%" PRIu32, class_letters[class_of(item->hint)],
             item->number);
    return result;
}

/* The bits of a value in a register for another kind of the same size. */
static uint32_t recast(diff_program *program, uint32_t value, char hint)
{
    uint32_t copy;

    if (program->failed || class_of(program->values[value].hint) == class_of(hint))
        return value;
    copy = diff_new_value(program, hint);
    program->values[copy].slot = program->values[value].slot;
    program->values[copy].input = program->values[value].input;
    diff_say(program, "mov.b%u %s, %s;\n", 8 * diff_hint_bytes(hint),
             diff_program_name(program, copy).text, diff_program_name(program, value).text);
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
        uint32_t at = diff_chance(program, 50) && count > 8 ? count - 1 - diff_below(program, 8)
                                                            : diff_below(program, count);
        const diff_value *item = &program->values[program->visible[at]];
        if (!fits(item->hint, hint))
            continue;
        best = program->visible[at];
        if (item->hint == hint || (!program->strict && diff_chance(program, 12)))
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

void diff_begin(diff_program *program)
{
    if (!grow(program, (void **)&program->statements, program->statement_count,
              &program->statement_capacity, sizeof *program->statements))
        return;
    program->statements[program->statement_count++] = (diff_statement){
        .text = program->body.bytes, .end = program->body.bytes, .loops = program->looping};
}

void diff_crosses(diff_program *program)
{
    if (!program->failed)
        program->statements[program->statement_count - 1].crosses = true;
}

void diff_use(diff_program *program, uint32_t value)
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
uint32_t diff_take(diff_program *program, char hint)
{
    uint32_t value = choose(program, hint);

    diff_use(program, value);
    return value;
}

/* Makes a result's value part of what is stored. */
void diff_store(diff_program *program, uint32_t value, diff_tolerance tolerance)
{
    diff_value *item = &program->values[value];
    uint32_t bytes = diff_hint_bytes(item->hint);

    if (program->failed || program->in_function)
        return;
    program->statements[program->statement_count - 1].end = program->body.bytes;
    if (program->sparse && tolerance == DIFF_EXACT && diff_chance(program, 60))
        return;
    if (!grow(program, (void **)&program->slots, program->slot_count, &program->slot_capacity,
              sizeof *program->slots))
        return;
    uint32_t offset = program->slot_count * program->threads * 8;
    if (item->hint == 'p') {
        uint32_t bit = diff_new_register(program, 'w');
        diff_say(program, "selp.u32 %%w%" PRIu32 ", 1, 0, %s;\n", bit,
                 diff_program_name(program, value).text);
        diff_say(program, "st.global.b32 [%%out+%" PRIu32 "], %%w%" PRIu32 ";\n", offset, bit);
    } else {
        diff_say(program, "st.global.b%u [%%out+%" PRIu32 "], %s;\n", 8 * bytes, offset,
                 diff_program_name(program, value).text);
    }
    item->slot = program->slot_count;
    program->slots[program->slot_count++] = (diff_slot){.statement = program->statement_count - 1,
                                                        .value = value,
                                                        .hint = item->hint,
                                                        .tolerance = tolerance};
}

/* Ends a statement whose one result can be read from now on. */
void diff_finish(diff_program *program, uint32_t value)
{
    diff_store(program, value, DIFF_EXACT);
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
    uint32_t source = diff_take(program, hint), number = diff_new_register(program, hint);
    char class_letter = class_letters[class_of(hint)];

    diff_say(program, "or.b%u %%%c%" PRIu32 ", %s, 1;\n", 8 * diff_hint_bytes(hint), class_letter,
             number, diff_program_name(program, source).text);
    snprintf(into, capacity, "%%%c%" PRIu32, class_letter, number);
}

/* The text of a source operand. */
static void source_text(diff_program *program, char letter, char *into, size_t capacity)
{
    switch (letter) {
    case 'H':
    case 'W':
    case 'D':
        if (diff_chance(program, 20)) {
            integer_immediate(program, letter, into, capacity);
            return;
        }
        break;
    case 'F':
    case 'E':
        if (diff_chance(program, 12)) {
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
        snprintf(into, capacity, "0x%x", diff_below(program, 256));
        return;
    case 's':
        if (diff_chance(program, 30)) {
            snprintf(into, capacity, "%u", diff_below(program, 70));
            return;
        }
        break;
    default:
        break;
    }
    bool negated = letter == 'q' && diff_chance(program, 40);
    char hint = letter == 'q'                    ? 'p'
                : letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a')
                                                 : letter;
    snprintf(into, capacity, "%s%s", negated ? "!" : "",
             diff_program_name(program, diff_take(program, hint)).text);
}

void diff_add_result(diff_program *program, diff_results *into, char hint)
{
    into->values[into->count++] = diff_new_value(program, hint);
}

static diff_results make_results(diff_program *program, const char *letters)
{
    diff_results made = {.count = 0};

    for (; *letters != ':'; letters++) {
        if (*letters == 'P')
            diff_add_result(program, &made, 'p');
        if (*letters == 'j')
            diff_add_result(program, &made, 'w');
        if (*letters != '<' && *letters != '>')
            diff_add_result(program, &made, *letters == 'P' || *letters == 'j' ? 'p' : *letters);
    }
    return made;
}

void diff_say_results(diff_program *program, const char *letters, const diff_results *made)
{
    bool vector = letters[0] == '<', pair = letters[0] == 'P' || letters[0] == 'j';

    diff_say(program, "%s", vector ? "{" : "");
    for (uint32_t i = 0; i < made->count; i++)
        diff_say(program, "%s%s", i ? (pair ? "|" : ", ") : "",
                 diff_program_name(program, made->values[i]).text);
    diff_say(program, "%s", vector ? "}" : "");
}

/* With a guard the result has a value before: that of another register. */
static void say_guard(diff_program *program, const diff_results *made)
{
    uint32_t before = diff_take(program, program->values[made->values[0]].hint),
             guard = diff_take(program, 'p');

    diff_say(
        program, "mov.b%u %s, %s;\n", 8 * diff_hint_bytes(program->values[made->values[0]].hint),
        diff_program_name(program, made->values[0]).text, diff_program_name(program, before).text);
    diff_say(program, "@%s%s ", diff_chance(program, 50) ? "!" : "",
             diff_program_name(program, guard).text);
}

/* Goes on with a copy of an f32 or f64 whose NaN is always the same one; results of other kinds end
 * here. */
void diff_show_canonical(diff_program *program, uint32_t value)
{
    char hint = program->values[value].hint;
    uint32_t test, copy;

    if (hint != 'f' && hint != 'e')
        return;
    diff_begin(program);
    diff_use(program, value);
    test = diff_new_register(program, 'p');
    copy = diff_new_value(program, hint);
    diff_say(program, "testp.notanumber.%s %%p%" PRIu32 ", %s;\n", hint == 'f' ? "f32" : "f64",
             test, diff_program_name(program, value).text);
    diff_say(program, "selp.b%u %s, %s, %s, %%p%" PRIu32 ";\n", 8 * diff_hint_bytes(hint),
             diff_program_name(program, copy).text,
             hint == 'f' ? "0x7fc00001" : "0x7ffc000000000001",
             diff_program_name(program, value).text, test);
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
    diff_begin(program);
    diff_results made = make_results(program, item->operands);
    for (const char *letter = sources; *letter; letter++) {
        if (*letter != '<' && *letter != '>')
            source_text(program, *letter, operands[count++], sizeof operands[0]);
    }
    /* ptxas leaves the last step of a guarded set without the guard (seen with driver
     * 580.159.04). */
    if (guarded && made.count == 1 && program->values[made.values[0]].hint != 'p' &&
        strncmp(text, "set.", 4) != 0)
        say_guard(program, &made);
    diff_say(program, "%s ", text);
    diff_say_results(program, item->operands, &made);
    diff_say(program, ", ");
    for (uint32_t i = 0; i < count; i++)
        diff_say(program, "%s%s", i ? ", " : sources[0] == '<' ? "{" : "", operands[i]);
    diff_say(program, "%s;\n", sources[0] == '<' ? "}" : "");
    for (uint32_t i = 0; i < made.count; i++) {
        if (item->tolerance == DIFF_EXACT)
            diff_finish(program, made.values[i]);
        else
            diff_store(program, made.values[i], item->tolerance);
        if (item->tolerance == DIFF_NAN)
            diff_show_canonical(program, made.values[i]);
    }
}

static void random_form(diff_program *program)
{
    const form *item;

    do
        item = &forms[diff_below(program, FORM_COUNT)];
    while (program->in_function && item->tolerance != DIFF_EXACT);
    bool guarded = diff_chance(program, 8);
    emit_form(program, item, diff_below(program, count_ways(item->text)), guarded);
}

/* ---- control flow ---- */

static void block(diff_program *program, uint32_t statements);

/* A register that takes other values on some paths. */
static uint32_t new_variable(diff_program *program)
{
    static const char hints[] = "hkwwffxdde";
    char hint = hints[diff_below(program, 10)];
    uint32_t value, source;

    diff_begin(program);
    source = diff_take(program, hint);
    value = diff_new_value(program, hint);
    diff_say(program, "mov.b%u %s, %s;\n", 8 * diff_hint_bytes(hint),
             diff_program_name(program, value).text, diff_program_name(program, source).text);
    return value;
}

static void assign(diff_program *program, uint32_t variable)
{
    char hint = program->values[variable].hint;

    diff_say(program, "mov.b%u %s, %s;\n", 8 * diff_hint_bytes(hint),
             diff_program_name(program, variable).text,
             diff_program_name(program, choose(program, hint)).text);
}

/* What stands on a path of its own: its values are not seen behind it. */
static void path(diff_program *program, uint32_t variable)
{
    uint32_t visible = program->visible_count;

    program->depth++;
    block(program, 1 + diff_below(program, 4));
    assign(program, variable);
    program->depth--;
    program->visible_count = visible;
}

/* The value of a variable behind the paths that change it. */
static void merge(diff_program *program, uint32_t variable)
{
    diff_begin(program);
    diff_say(program, "mov.b%u %s, %s;\n", 8 * diff_hint_bytes(program->values[variable].hint),
             diff_program_name(program, variable).text, diff_program_name(program, variable).text);
    diff_finish(program, variable);
}

static uint32_t lane_mask(diff_program *program)
{
    if (program->in_function || program->mask_unknown)
        return DIFF_NONE;
    return diff_new_value(program, 'w');
}

static void branch(diff_program *program)
{
    uint32_t label = program->labels, outer = program->mask, variable = new_variable(program);
    uint32_t condition = choose(program, 'p'), yes = lane_mask(program), no = lane_mask(program);

    program->labels += 2;
    if (yes != DIFF_NONE) {
        diff_say(program, "vote.sync.ballot.b32 %s, %s", diff_program_name(program, yes).text,
                 diff_program_name(program, condition).text);
        diff_say_mask(program);
        diff_say(program, "xor.b32 %s, %s, %s;\n", diff_program_name(program, no).text,
                 diff_program_name(program, yes).text,
                 outer == DIFF_NONE ? "0xffffffff" : diff_program_name(program, outer).text);
    }
    diff_say(program, "@!%s bra L%" PRIu32 ";\n", diff_program_name(program, condition).text,
             label);
    program->mask = yes;
    path(program, variable);
    diff_say(program, "bra L%" PRIu32 ";\nL%" PRIu32 ":\n", label + 1, label);
    program->mask = no;
    if (diff_chance(program, 70))
        path(program, variable);
    diff_say(program, "L%" PRIu32 ":\n", label + 1);
    program->mask = outer;
    merge(program, variable);
}

/* One to four rounds, as many as each lane's value says. */
static void loop(diff_program *program)
{
    uint32_t label = program->labels++, variable = new_variable(program),
             bound = choose(program, 'w');
    uint32_t count = diff_new_register(program, 'w'), limit = diff_new_register(program, 'w'),
             again = diff_new_register(program, 'p');
    bool unknown = program->mask_unknown, looping = program->looping;

    diff_say(program, "mov.u32 %%w%" PRIu32 ", 0;\nand.b32 %%w%" PRIu32 ", %s, 3;\nL%" PRIu32 ":\n",
             count, limit, diff_program_name(program, bound).text, label);
    program->mask_unknown = program->looping = true;
    show(program, variable);
    path(program, variable);
    program->visible_count--;
    program->mask_unknown = unknown;
    program->looping = looping;
    diff_say(program, "add.u32 %%w%" PRIu32 ", %%w%" PRIu32 ", 1;\n", count, count);
    diff_say(program,
             "setp.le.u32 %%p%" PRIu32 ", %%w%" PRIu32 ", %%w%" PRIu32 ";\n@%%p%" PRIu32
             " bra L%" PRIu32 ";\n",
             again, count, limit, again, label);
    merge(program, variable);
}

/* A jump through a list of four labels. */
static void indexed(diff_program *program)
{
    uint32_t label = program->labels, variable = new_variable(program),
             source = choose(program, 'w');
    uint32_t index = diff_new_register(program, 'w');
    bool unknown = program->mask_unknown;

    program->labels += 6;
    diff_say(program, "and.b32 %%w%" PRIu32 ", %s, 3;\n", index,
             diff_program_name(program, source).text);
    diff_say(program,
             "L%" PRIu32 ": .branchtargets L%" PRIu32 ", L%" PRIu32 ", L%" PRIu32 ", L%" PRIu32
             ";\n",
             label + 5, label, label + 1, label + 2, label + 3);
    diff_say(program, "brx.idx %%w%" PRIu32 ", L%" PRIu32 ";\n", index, label + 5);
    program->mask_unknown = true;
    for (uint32_t i = 0; i < 4; i++) {
        diff_say(program, "L%" PRIu32 ":\n", label + i);
        path(program, variable);
        diff_say(program, "bra L%" PRIu32 ";\n", label + 4);
    }
    program->mask_unknown = unknown;
    diff_say(program, "L%" PRIu32 ":\n", label + 4);
    merge(program, variable);
}

/* A function of its own for each call: what it makes of its arguments. */
static void make_function(diff_program *program, uint32_t number, const char *letters, char result)
{
    uint32_t visible = program->visible_count, count = 0;

    program->in_function = true;
    diff_say(program, ".func (.param .b%u r) f%" PRIu64 "_%" PRIu32 "(",
             8 * diff_hint_bytes(result), program->seed, number);
    for (const char *letter = letters; *letter; letter++, count++)
        diff_say(program, "%s.param .b%u a%u", count ? ", " : "", 8 * diff_hint_bytes(*letter),
                 count);
    diff_say(program, ")\n{\nREGISTERS\n");
    for (uint32_t i = 0; i < count; i++) {
        uint32_t value = diff_new_value(program, letters[i]);
        diff_say(program, "ld.param.b%u %s, [a%u];\n", 8 * diff_hint_bytes(letters[i]),
                 diff_program_name(program, value).text, i);
        show(program, value);
    }
    uint32_t first = program->visible_count - count, condition = diff_new_value(program, 'p');
    diff_say(program, "setp.gt.s32 %s, %s, 5;\n", diff_program_name(program, condition).text,
             diff_program_name(program, program->visible[first]).text);
    show(program, condition);
    memmove(program->visible, program->visible + first, (count + 1) * sizeof *program->visible);
    uint32_t kept = program->visible_count - first;
    program->visible_count = kept;
    block(program, 2 + diff_below(program, 5));
    diff_say(program, "st.param.b%u [r], %s;\nret;\n}\n", 8 * diff_hint_bytes(result),
             diff_program_name(program, choose(program, result)).text);
    program->in_function = false;
    program->visible_count = visible;
}

static void call(diff_program *program)
{
    static const char results_of[] = "wfde";
    uint32_t number = program->calls++, *kept = malloc(program->visible_count * sizeof *kept);
    char result = results_of[diff_below(program, 4)];
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
    diff_begin(program);
    uint32_t arguments[7], value = diff_new_value(program, result);
    for (uint32_t i = 0; i < 7; i++)
        arguments[i] = diff_take(program, letters[i]);
    diff_say(program, "call (%s), f%" PRIu64 "_%" PRIu32 ", (",
             diff_program_name(program, value).text, program->seed, number);
    for (uint32_t i = 0; i < 7; i++)
        diff_say(program, "%s%s", i ? ", " : "", diff_program_name(program, arguments[i]).text);
    diff_say(program, ");\n");
    diff_finish(program, value);
}

/* ---- programs ---- */

void diff_choose_from(diff_program *program, diff_make *const *list, uint32_t count)
{
    list[diff_below(program, count)](program);
}

static void statement(diff_program *program)
{
    static diff_make *const flow[] = {branch, branch, loop, indexed};

    if (program->variant == DIFF_CARRIES) {
        diff_make_mixed_carries(program);
        return;
    }
    uint32_t dice = diff_below(program, 100);
    bool whole = program->depth == 0 && !program->in_function;

    if (dice < 76 || (program->in_function && dice < 90))
        random_form(program);
    else if (dice < 82)
        program->in_function ? diff_make_carries(program) : diff_make_memory(program);
    else if (program->variant != DIFF_ANY)
        random_form(program);
    else if (dice < 86 && !program->mask_unknown && !program->in_function)
        diff_make_lanes(program);
    else if (dice < 90 && whole)
        diff_make_warp(program);
    else if (dice < 92 && whole)
        diff_make_together(program);
    else if (dice < 95 && whole)
        call(program);
    else if (program->depth < 3)
        diff_choose_from(program, flow, 4);
    else
        random_form(program);
}

static void block(diff_program *program, uint32_t statements)
{
    for (uint32_t i = 0; i < statements && !program->failed; i++)
        statement(program);
}

/* Reads the inputs into registers that the whole program sees, and makes a few predicates of
 * them. */
static void prologue(diff_program *program)
{
    for (uint32_t i = 0; i < DIFF_INPUTS; i++) {
        uint32_t value = diff_new_value(program, input_hints[i]),
                 bytes = diff_hint_bytes(input_hints[i]);
        if (program->failed)
            return;
        program->values[value].input = i;
        diff_say(program, "ld.global.b%u %s, [%%in+%u];\n", 8 * bytes,
                 diff_program_name(program, value).text, 8 * i);
        show(program, value);
    }
    for (uint32_t i = 0; i < 3; i++) {
        diff_begin(program);
        uint32_t value = diff_new_value(program, 'p'),
                 source = diff_take(program, i == 2 ? 's' : 'w');
        diff_say(program, "setp.%s %s, %s, %u;\n",
                 i == 0   ? "lt.s32"
                 : i == 1 ? "gt.u32"
                          : "lo.u32",
                 diff_program_name(program, value).text, diff_program_name(program, source).text,
                 i == 2 ? 35 : 100);
        diff_finish(program, value);
    }
}

static void start(diff_program *program, uint64_t seed, diff_variant variant)
{
    *program =
        (diff_program){.seed = seed, .random = seed ^ 0xbb67ae8584caa73b, .variant = variant};
    program->mask = DIFF_NONE;
    program->threads = diff_chance(program, 75) ? 64 : 128;
    program->sparse = diff_chance(program, 20);
    if (variant == DIFF_ANY && diff_chance(program, 35))
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
    block(program, 20 + diff_below(program, 30));
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
    gd_text_string(
        text, ".version 8.6\n.target sm_90\n.address_size 64\n.const .align 16 .b8 table[64] = {");
    for (uint32_t i = 0; i < 64; i++)
        gd_text_format(text, "%s%u", i ? ", " : "", (i * 167 + 13) & 255);
    gd_text_string(text, "};\n");
}

static void print_registers(const diff_program *program, gd_text *text)
{
    static const char *const types[] = {".b16", ".b32", ".b64", ".pred", ".f32", ".f64"};

    for (uint32_t i = 0; i < 6; i++)
        gd_text_format(text, ".reg %s %%%c<%" PRIu32 ">;\n", types[i], class_letters[i],
                       program->registers[i] + 1);
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
        ".local .align 16 .b8 private[16];\n.shared .align 16 .b8 places[%u];\n.shared .align 4 "
        ".b32 cell;\n"
        "ld.param.u64 %%in, [inputs];\nld.param.u64 %%out, [outputs];\nld.param.u64 %%own_global, "
        "[scratch];\n"
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
    gd_text_format(text,
                   ".visible .entry p%" PRIu32
                   "(.param .u64 inputs, .param .u64 outputs, .param .u64 scratch)\n{\n",
                   index);
    print_registers(program, text);
    print_addresses(program, text);
    gd_text_append(text, body, first);
    if (program->variant == DIFF_SPLIT) {
        gd_text_string(text, ".reg .b32 %odd;\n.reg .pred %is_odd;\nand.b32 %odd, %w0, "
                             "1;\nsetp.ne.u32 %is_odd, %odd, 0;\n"
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
void diff_program_opcode(const diff_program *program, uint32_t statement, char *into,
                         size_t capacity)
{
    const char *body = gd_text_get(&program->body),
               *at = body + program->statements[statement].text;
    const char *end = body + program->statements[statement].end, *best = at;
    size_t length = 0;

    for (; at < end; at = (const char *)memchr(at, 10, (size_t)(end - at)) + 1) {
        const char *op = *at == '@' ? strchr(at, ' ') + 1 : at;
        if (strncmp(op, "mov.b", 5) != 0 && strncmp(op, "or.b", 4) != 0 &&
            strncmp(op, "bar.sync", 8) != 0 && strncmp(op, "st.", 3) != 0 &&
            strncmp(op, "cvta", 4) != 0)
            best = op;
        if (strncmp(op, "atom", 4) == 0 || strncmp(op, "red.", 4) == 0 ||
            strncmp(op, "mma", 3) == 0)
            break;
        if (!memchr(at, '\n', (size_t)(end - at)))
            break;
    }
    while (best[length] && best[length] != ' ' && best[length] != '\n' && length + 1 < capacity)
        length++;
    memcpy(into, best, length);
    into[length] = 0;
}
