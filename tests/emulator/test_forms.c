/* Every instruction in every form: tests/emulator/forms.txt lists them, as PTX text, a tab, and
 * what it changes. A line is of several forms that change the same (unfold.h). Lines that begin
 * with `!` are forms that are valid for sm_90a and refused, with `+` such as are accepted but not
 * run here. A form runs in a warp of its own, with the same registers and memory each time
 * (forms.h); what its lane 5 has in registers and local memory, and what is in shared and global
 * memory afterwards, is compared with the list.
 *
 * GRIDDEP_UPDATE_GOLDEN=1 rewrites the list with what came out. */
#include <stdio.h>

#include "base/file.h"
#include "base/text.h"
#include "emulator/api.h"
#include "emulator/execute/control.h"
#include "emulator/execute/program.h"
#include "forms.h"
#include "machine_test.h"
#include "suite.h"
#include "unfold.h"

#ifndef SOURCE_DIRECTORY
#define SOURCE_DIRECTORY "."
#endif

#define LIST SOURCE_DIRECTORY "/tests/emulator/forms.txt"

enum { BATCH = 128, BLOCK = 512, LOCAL = 64, REGISTERS = 256, DUMP = REGISTERS + BLOCK + LOCAL };

typedef struct form {
    char *text, *expected; /* "!": refused; "+": not run */
} form;

static struct {
    gd_text text;
    form *list;
    size_t count, capacity;
} forms;

static const struct {
    const char *name;
    uint32_t offset, bytes;
} fields[] = {{"p0", 0, 4},   {"p1", 4, 4},        {"h0", 8, 2},     {"h1", 10, 2},
              {"h2", 12, 2},  {"h3", 14, 2},       {"r0", 16, 4},    {"r1", 20, 4},
              {"r2", 24, 4},  {"r3", 28, 4},       {"r4", 32, 4},    {"r5", 36, 4},
              {"r6", 40, 4},  {"r7", 44, 4},       {"d0", 48, 8},    {"d1", 56, 8},
              {"d2", 64, 8},  {"d3", 72, 8},       {"d4", 80, 8},    {"d5", 88, 8},
              {"d6", 96, 8},  {"d7", 104, 8},      {"x0", 112, 8},   {"x0.high", 120, 8},
              {"x1", 128, 8}, {"x1.high", 136, 8}, {"c0c1", 144, 2}, {"c2c3", 146, 2}};

/* ---- the list ---- */

static void add(char *text, char *expected)
{
    if (forms.count == forms.capacity) {
        forms.capacity = forms.capacity ? 2 * forms.capacity : 1024;
        forms.list = realloc(forms.list, forms.capacity * sizeof *forms.list);
        ck_assert_ptr_nonnull(forms.list);
    }
    forms.list[forms.count++] = (form){text, expected};
}

static void read_list(void)
{
    char *folded;
    size_t bytes;
    griddep_error error = {.size = sizeof error};

    ck_assert_msg(!gd_file_read(LIST, &folded, &bytes, &error), "%s", error.text);
    unfold(folded, &forms.text);
    free(folded);
    for (char *line = strtok(forms.text.data, "\n"); line; line = strtok(NULL, "\n")) {
        char *tab = strchr(line, '\t');
        if (*line == '#')
            continue;
        if (tab)
            *tab++ = 0;
        if (*line == '!' || *line == '+')
            add(line + 2, *line == '!' ? (char *)"!" : (char *)"+");
        else
            add(line, tab ? tab : (char *)"");
    }
}

static bool is_refused(const form *item)
{
    return item->expected[0] == '!';
}

static bool is_run(const form *item)
{
    return item->expected[0] != '!' && item->expected[0] != '+';
}

static void write_module(gd_text *text, size_t first, size_t count, bool refused)
{
    gd_text_string(text, form_head);
    gd_text_format(text, ".visible .entry base%s%s", form_prologue, form_epilogue);
    for (size_t i = first; i < first + count && i < forms.count; i++) {
        if (refused || is_run(&forms.list[i]))
            gd_text_format(text, ".visible .entry e%zu%s%s%s", i, form_prologue, forms.list[i].text,
                           form_epilogue);
    }
}

/* ---- running ---- */

typedef struct outcome {
    unsigned char dump[DUMP], global[BLOCK];
} outcome;

static gd_cta_state run_entry(device *dev, const char *name, uint64_t in, uint64_t dump,
                              outcome *result)
{
    struct {
        uint64_t in, dump;
        unsigned char out[256];
    } parameters = {.in = in, .dump = dump};
    unsigned char *global = device_bytes(dev, in);

    for (uint32_t i = 0; i < BLOCK; i++)
        global[i] = (unsigned char)(i * 37 + 11);
    for (uint32_t i = 0; i < sizeof parameters.out; i++)
        parameters.out[i] = (unsigned char)(i * 29 + 3);
    memset(device_bytes(dev, dump), 0, DUMP);
    gd_cta_state state = run_grid(dev, name, (shape){.block = 32, .cluster = {1}}, &parameters);
    memcpy(result->dump, device_bytes(dev, dump), DUMP);
    memcpy(result->global, global, BLOCK);
    return state;
}

/* Tensor maps of one to five dimensions over the global memory, rows of 16 words; a box is 4 words
 * by 1 in one dimension, by 2 in others. */
static void encode_maps(device *dev, uint64_t in)
{
    const uint64_t sizes[] = {16, 4, 2, 1, 1}, strides[] = {64, 256, 512, 512};
    const uint32_t box[] = {4, 2, 1, 1, 1}, steps[] = {1, 1, 1, 1, 1};
    gd_CUtensorMap map;

    for (uint32_t rank = 1; rank <= 5; rank++) {
        ck_assert_int_eq(cuTensorMapEncodeTiled(&map, GD_CU_TENSOR_MAP_DATA_TYPE_UINT32, rank,
                                                (void *)(uintptr_t)in, sizes, strides, box, steps,
                                                0, 0, 0, 0),
                         GD_CUDA_SUCCESS);
        memcpy(gd_program_variable(dev->program, "maps")->host + (rank - 1) * sizeof map, &map,
               sizeof map);
    }
}

static void describe_words(gd_text *text, char name, const unsigned char *bytes,
                           const unsigned char *before, uint32_t count)
{
    for (uint32_t i = 0; i < count; i += 4) {
        uint32_t word;
        memcpy(&word, bytes + i, 4);
        if (memcmp(bytes + i, before + i, 4) != 0)
            gd_text_format(text, " %c%u=%" PRIx32, name, i, word);
    }
}

/* What differs from a run of nothing, and predicates that the form names. */
static void describe(gd_text *text, const char *form_text, const outcome *result,
                     const outcome *base)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        uint64_t value = 0;
        memcpy(&value, result->dump + fields[i].offset, fields[i].bytes);
        bool named = fields[i].name[0] == 'p' && strstr(form_text, "p0");
        if (named || memcmp(result->dump + fields[i].offset, base->dump + fields[i].offset,
                            fields[i].bytes) != 0)
            gd_text_format(text, " %s=%" PRIx64, fields[i].name, value);
    }
    describe_words(text, 's', result->dump + REGISTERS, base->dump + REGISTERS, BLOCK);
    describe_words(text, 'l', result->dump + REGISTERS + BLOCK, base->dump + REGISTERS + BLOCK,
                   LOCAL);
    describe_words(text, 'g', result->global, base->global, BLOCK);
}

/* Runs the forms of a batch; the outcome of each as text. */
static void run_batch(size_t first, char **outcomes)
{
    gd_text text = {0};
    outcome base, result;
    device dev;

    write_module(&text, first, BATCH, false);
    device_open(&dev, gd_text_get(&text));
    uint64_t in = device_take(&dev, NULL, BLOCK), dump = device_take(&dev, NULL, DUMP);
    encode_maps(&dev, in);
    ck_assert_int_eq(run_entry(&dev, "base", in, dump, &base), GD_CTA_DONE);
    for (size_t i = first; i < first + BATCH && i < forms.count; i++) {
        gd_text words = {0};
        char name[32];
        if (!is_run(&forms.list[i]))
            continue;
        snprintf(name, sizeof name, "e%zu", i);
        if (run_entry(&dev, name, in, dump, &result) == GD_CTA_DONE)
            describe(&words, forms.list[i].text, &result, &base);
        else
            gd_text_format(&words, " fault: %s", dev.fault.text);
        const char *made = gd_text_get(&words);
        outcomes[i] = strdup(made && *made ? made + 1 : "");
        ck_assert_ptr_nonnull(outcomes[i]);
        gd_text_free(&words);
    }
    device_close(&dev);
    gd_text_free(&text);
}

/* Writes a line of the list; a line of several forms whose outcomes differ becomes a line for
 * each. */
static void write_line(gd_text *text, const char *line, size_t length, size_t first, size_t count,
                       char *const *outcomes)
{
    size_t same = 1;

    while (same < count && strcmp(outcomes[first + same], outcomes[first]) == 0)
        same++;
    if (same == count)
        gd_text_format(text, "%.*s\t%s\n", (int)length, line, outcomes[first]);
    for (size_t i = first; same < count && i < first + count; i++)
        gd_text_format(text, "%s\t%s\n", forms.list[i].text, outcomes[i]);
}

/* Comments and forms that are not run stay as they are. */
static void rewrite_list(char *const *outcomes)
{
    char *list;
    size_t bytes, i = 0;
    gd_text text = {0};
    griddep_error error = {.size = sizeof error};

    ck_assert_int_eq(gd_file_read(LIST, &list, &bytes, &error), GRIDDEP_OK);
    for (const char *at = list; *at; at += strcspn(at, "\n") + 1) {
        size_t length = strcspn(at, "\n"), count = 0;
        gd_text unfolded = {0};
        unfold_line(at, at + length, 1, &unfolded);
        for (size_t k = 0; k < unfolded.bytes; k++)
            count += unfolded.data[k] == '\n';
        if (*at == '#' || *at == '!' || *at == '+')
            gd_text_format(&text, "%.*s\n", (int)length, at);
        else
            write_line(&text, at, strcspn(at, "\t\n"), i, count, outcomes);
        i += *at == '#' ? 0 : count;
        gd_text_free(&unfolded);
    }
    ck_assert_int_eq(gd_file_write(LIST, gd_text_get(&text), text.bytes, &error), GRIDDEP_OK);
    gd_text_free(&text);
    free(list);
}

TEST_GROUP(forms, NULL, NULL);

TEST(forms, forms_do_what_the_list_says)
{
    read_list();
    char **outcomes = calloc(forms.count, sizeof *outcomes);
    ck_assert_ptr_nonnull(outcomes);
    for (size_t i = 0; i < forms.count; i += BATCH)
        run_batch(i, outcomes);
    if (getenv("GRIDDEP_UPDATE_GOLDEN")) {
        rewrite_list(outcomes);
        return;
    }
    for (size_t i = 0; i < forms.count; i++) {
        if (is_run(&forms.list[i]))
            ck_assert_msg(strcmp(outcomes[i], forms.list[i].expected) == 0,
                          "%s\n  gives    %s\n  expected %s", forms.list[i].text, outcomes[i],
                          forms.list[i].expected);
        free(outcomes[i]);
    }
    free(outcomes);
    free(forms.list);
    gd_text_free(&forms.text);
}

/* The first word of a form, which a refusal names (what is no instruction by itself apart). */
TEST(forms, others_are_refused)
{
    gd_text text = {0};
    device dev;

    read_list();
    write_module(&text, 0, forms.count, true);
    device_open(&dev, gd_text_get(&text));
    for (size_t i = 0; i < forms.count; i++) {
        gd_program_error refusal = {0};
        char name[32];
        snprintf(name, sizeof name, "e%zu", i);
        const gd_entry *entry = gd_program_entry(dev.program, name);
        ck_assert_ptr_nonnull(entry);
        gd_entry_refusal(entry, &refusal);
        ck_assert_msg(entry->refused == is_refused(&forms.list[i]), "%s: %s", forms.list[i].text,
                      entry->refused ? refusal.text : "is not refused");
        size_t word = strcspn(forms.list[i].text, " ;");
        ck_assert_msg(!entry->refused || !strncmp(refusal.text, forms.list[i].text, word), "%s: %s",
                      forms.list[i].text, refusal.text);
    }
    device_close(&dev);
    gd_text_free(&text);
    free(forms.list);
    gd_text_free(&forms.text);
}

/* ---- forms with other operands than theirs ---- */

enum { WITHOUT_LAST, WITHOUT_ALL, LAST_TWICE, NUMBER_MORE, VARIANTS };

/* The first instruction with an operand fewer or more; the rest of the form as it is. */
static void write_variant(gd_text *text, const char *form_text, int variant)
{
    const char *end = strchr(form_text, ';'), *last = end;
    size_t name = strcspn(form_text, " ;{");
    int depth = 0;

    if (form_text[0] == '@')
        name += 1 + strcspn(form_text + name + 1, " ;{");
    while (last > form_text + name && (depth || *last != ',')) {
        depth += *last == ']' || *last == '}' || *last == ')';
        depth -= *last == '[' || *last == '{' || *last == '(';
        last--;
    }
    if (variant == WITHOUT_LAST)
        gd_text_format(text, "%.*s", (int)(last - form_text), form_text);
    else if (variant == WITHOUT_ALL)
        gd_text_format(text, "%.*s", (int)name, form_text);
    else if (last > form_text + name)
        gd_text_format(text, "%.*s%s", (int)(end - form_text), form_text,
                       variant == NUMBER_MORE ? ", 32" : last);
    else
        gd_text_format(text, "%.*s%s", (int)(end - form_text), form_text,
                       end == form_text + name ? " 32" : ", 32");
    if (variant == LAST_TWICE && last > form_text + name)
        return; /* the rest stands behind the operand already */
    gd_text_string(text, end);
}

static void check_decoded(const gd_ptx_module *module, const gd_entry *entry)
{
    const gd_image *image = (const gd_image *)(const void *)entry;
    const gd_ptx_function *function = &module->functions[entry->function];
    uint32_t next = function->instruction;

    if (entry->refused) {
        ck_assert_msg(image->refusal.text[0] && image->refusal.line,
                      "%s is refused without a reason", entry->name);
        return;
    }
    for (uint32_t i = 0; i < image->code_count; i++)
        next += image->code[i].instruction == next;
    ck_assert_msg(next == function->instruction_end, "an instruction became nothing: %s",
                  entry->name);
    ck_assert_msg(image->code[image->code_count - 1].run == gd_run_end, "%s has no end",
                  entry->name);
}

/* An instruction becomes operations, or its entry is refused for a reason, whatever operands it
 * has. */
TEST(forms, each_instruction_is_decoded_or_refused)
{
    const size_t declarations = (size_t)(strstr(form_prologue, "ld.param") - form_prologue);

    read_list();
    for (size_t first = 0; first < forms.count; first += BATCH) {
        gd_text text = {0};
        gd_text_string(&text, form_head);
        for (size_t i = first; i < first + BATCH && i < forms.count; i++) {
            for (int variant = 0; variant < VARIANTS; variant++) {
                gd_text_format(&text, ".visible .entry e%zu_%d%.*s\n", i, variant,
                               (int)declarations, form_prologue);
                write_variant(&text, forms.list[i].text, variant);
                gd_text_string(&text, "\n}\n");
            }
        }
        gd_ptx_module module = {0};
        gd_program_error error;
        ck_assert_int_eq(
            gd_ptx_module_parse(&module, gd_text_get(&text), (uint32_t)text.bytes, "test"), 0);
        ck_assert_msg(!module.diagnostics->count, "%s", module.diagnostics->list[0].text);
        gd_memory *memory = gd_memory_create();
        gd_program *program = gd_program_create(&module, memory, NULL, &error);
        ck_assert_msg(program != NULL, "%s", error.text);
        for (uint32_t i = 0; i < module.entry_count; i++)
            check_decoded(&module, gd_program_entry_at(program, i));
        gd_program_destroy(program);
        gd_memory_destroy(memory);
        gd_ptx_module_free(&module);
        gd_text_free(&text);
    }
    free(forms.list);
    gd_text_free(&forms.text);
}

/* ---- what the documentation says of refusals ---- */

#define PAGE SOURCE_DIRECTORY "/doc/emulator.md"

/* Names between backquotes, in lines of 100 columns. */
static void list_name(gd_text *text, size_t *column, const char *name, size_t length)
{
    bool first = *column == 0, wraps = *column + length + 4 > 99;

    gd_text_format(text, "%s`%.*s`", first ? "" : wraps ? ",\n" : ", ", (int)length, name);
    *column = (first || wraps ? 0 : *column + 2) + length + 2;
}

static bool is_bare_family(gd_op op)
{
    return gd_op_is_family(op) &&
           (gd_ops[op].control == GD_CONTROL_UNKNOWN || op == GD_OP_BAR || op == GD_OP_BARRIER);
}

/* Which instructions have no decoder: those that are refused by the name alone. */
static void find_unknown(bool *unknown)
{
    gd_text text = {0};
    device dev;

    gd_text_string(&text, form_head);
    for (unsigned op = 1; op < GD_OP_COUNT; op++)
        gd_text_format(&text, ".visible .entry o%u() { %s; }\n", op, gd_ops[op].name);
    device_open(&dev, gd_text_get(&text));
    for (unsigned op = 1; op < GD_OP_COUNT; op++) {
        gd_program_error refusal = {0};
        char name[32], whole[128];
        snprintf(name, sizeof name, "o%u", op);
        snprintf(whole, sizeof whole, "%s is not emulated", gd_ops[op].name);
        const gd_entry *entry = gd_program_entry(dev.program, name);
        ck_assert_ptr_nonnull(entry);
        gd_entry_refusal(entry, &refusal);
        unknown[op] = entry->refused && strcmp(refusal.text, whole) == 0;
    }
    device_close(&dev);
    gd_text_free(&text);
}

static void list_instructions(gd_text *text, const bool *unknown)
{
    size_t column = 0;

    for (unsigned op = 1; op < GD_OP_COUNT; op++) {
        if (unknown[op] && !is_bare_family((gd_op)op))
            list_name(text, &column, gd_ops[op].name, gd_ops[op].length);
    }
}

/* Of a long form the first modifiers, which say enough and fit a line of a man page. */
static size_t named_length(const char *form_text)
{
    size_t length = strcspn(form_text, ";");

    length = length > 60 ? strcspn(form_text, " ") : length;
    while (length > 60)
        while (form_text[--length] != '.')
            ;
    return length;
}

/* The refused forms of forms.txt, which are held to be refused, of instructions that have a
 * decoder. */
static void list_forms(gd_text *text, const bool *unknown)
{
    gd_text module = {0};
    size_t column = 0;
    device dev;

    read_list();
    write_module(&module, 0, forms.count, true);
    device_open(&dev, gd_text_get(&module));
    for (size_t i = 0; i < forms.count; i++) {
        gd_program_error refusal = {0};
        char name[32];
        if (!is_refused(&forms.list[i]))
            continue;
        snprintf(name, sizeof name, "e%zu", i);
        gd_entry_refusal(gd_program_entry(dev.program, name), &refusal);
        gd_op op = (gd_op)dev.module.instructions[refusal.instruction].op;
        if (!unknown[op])
            list_name(text, &column, forms.list[i].text, named_length(forms.list[i].text));
    }
    device_close(&dev);
    gd_text_free(&module);
    free(forms.list);
    gd_text_free(&forms.text);
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static void list_entries(gd_text *text)
{
    const char *names[] = {
#define GD_DRIVER(symbol, name, version, need, offer, variant, arguments)                          \
    GD_WHERE_REFUSED(offer, #name, )
#include "cuda/driver.def"
#undef GD_DRIVER
    };
    size_t column = 0;

    qsort(names, sizeof names / sizeof names[0], sizeof names[0], compare_names);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (i == 0 || strcmp(names[i], names[i - 1]) != 0)
            list_name(text, &column, names[i], strlen(names[i]));
    }
}

/* Puts a section's text in the place of what it has; whether it had the same. */
static bool replace_section(gd_text *page, const char *heading, const char *words)
{
    gd_text made = {0}, old = {0};
    char *whole = strdup(gd_text_get(page)), *place = strstr(whole, heading);

    ck_assert_msg(place != NULL, "%s has no section %s", PAGE, heading);
    place += strlen(heading);
    const char *next = strstr(place, "\n## "), *deeper = strstr(place, "\n### ");
    next = !next || (deeper && deeper < next) ? deeper : next;
    ck_assert_ptr_nonnull(next);
    gd_text_format(&made, "\n\n%s.\n", words);
    gd_text_format(&old, "%.*s", (int)(next - place), place);
    bool same = strcmp(gd_text_get(&made), gd_text_get(&old)) == 0;
    gd_text_free(page);
    *page = (gd_text){0};
    gd_text_format(page, "%.*s%s%s", (int)(place - whole), whole, gd_text_get(&made), next);
    gd_text_free(&made);
    gd_text_free(&old);
    free(whole);
    return same;
}

/* The page names all that is refused; GRIDDEP_UPDATE_GOLDEN=1 rewrites its lists. */
TEST(forms, refusals_are_documented)
{
    static const char *const headings[] = {
        "### Instructions that it refuses",
        "### Forms that it refuses, of instructions that it executes",
        "### Entry points that it refuses",
    };
    bool unknown[GD_OP_COUNT] = {false}, same = true;
    gd_text lists[3] = {{0}}, page = {0};
    FILE *file = fopen(PAGE, "r");
    char line[4096];

    ck_assert_msg(file != NULL, "%s is missing", PAGE);
    while (fgets(line, sizeof line, file))
        gd_text_string(&page, line);
    fclose(file);
    find_unknown(unknown);
    list_instructions(&lists[0], unknown);
    list_forms(&lists[1], unknown);
    list_entries(&lists[2]);
    for (int i = 0; i < 3; i++) {
        same &= replace_section(&page, headings[i], gd_text_get(&lists[i]));
        gd_text_free(&lists[i]);
    }
    if (getenv("GRIDDEP_UPDATE_GOLDEN")) {
        file = fopen(PAGE, "w");
        ck_assert_ptr_nonnull(file);
        fputs(gd_text_get(&page), file);
        ck_assert_int_eq(fclose(file), 0);
        same = true;
    }
    gd_text_free(&page);
    ck_assert_msg(same, "the lists of %s are not those of the code: GRIDDEP_UPDATE_GOLDEN=1", PAGE);
}

MAIN_OF_SUITE("forms")
