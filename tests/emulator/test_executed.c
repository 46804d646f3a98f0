/* Which instructions the emulated driver's decoder takes: of those that ptxas takes for sm_90a
 * (tests/golden/instruction_needs.txt), it refuses those that begin with a line of
 * tests/emulator/refused.txt. doc/instructions.md is made of both. GRIDDEP_UPDATE_GOLDEN=1 writes
 * the list anew. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "emulator/execute/program.h"
#include "griddep.h"
#include "ptx/text/parser.h"
#include "suite.h"
#include "unfold.h"

#define GOLDEN SOURCE_DIRECTORY "/tests/golden/"
#define LIST SOURCE_DIRECTORY "/tests/emulator/refused.txt"

enum { BATCH = 128, MOST = 8192 };

static griddep_error error;
static const char *instructions[MOST]; /* each ends with its line */
static bool refused[MOST];
static uint32_t count;

/* "6.3-" stands in front of what is gone in later versions. Targets that end with '+' go on. */
static bool is_taken(const char *line)
{
    const char *targets = strchr(line, ' ') + 1, *end = strchr(targets, ' ');
    int chip = 0;

    if (strncmp(line, "6.3-", 4) == 0)
        return false;
    if (end[-1] == '+')
        return sscanf(targets, "sm_%d", &chip) == 1 && (chip < 90 || !strncmp(targets, "sm_90", 5));
    const char *found = strstr(targets, "sm_90a");
    return found && found < end;
}

static void read_instructions(const char *record)
{
    count = 0;
    for (const char *at = record; *at; at += strcspn(at, "\n") + 1) {
        if (!is_taken(at))
            continue;
        ck_assert_uint_lt(count, MOST);
        instructions[count++] = strchr(strchr(at, ' ') + 1, ' ') + 1;
    }
    ck_assert_uint_gt(count, 2000);
}

/* Each instruction of a batch in an entry of its own. */
static void write_module(gd_text *text, const char *frame, uint32_t first, uint32_t end)
{
    const char *entry = strstr(frame, ".visible .entry frame"), *hole = strchr(frame, '@');
    size_t name = sizeof ".visible .entry frame" - 1;

    gd_text_append(text, frame, (size_t)(entry - frame));
    for (uint32_t i = first; i < end; i++) {
        gd_text_format(text, ".visible .entry e%u", i);
        gd_text_append(text, entry + name, (size_t)(hole - entry) - name);
        gd_text_append(text, instructions[i], strcspn(instructions[i], "\n"));
        gd_text_string(text, hole + 1);
    }
}

static void find_refused(const char *frame, uint32_t first, uint32_t end)
{
    gd_text text = {0};
    gd_ptx_module module = {0};
    gd_program_error failure;

    write_module(&text, frame, first, end);
    ck_assert_int_eq(
        gd_ptx_module_parse(&module, gd_text_get(&text), (uint32_t)text.bytes, "executed"), 0);
    ck_assert_msg(!module.diagnostics->count, "%s", module.diagnostics->list[0].text);
    gd_memory *memory = gd_memory_create();
    gd_program *program = gd_program_create(&module, memory, NULL, &failure);
    ck_assert_msg(program != NULL, "%s", failure.text);
    for (uint32_t i = first; i < end; i++)
        refused[i] = gd_program_entry_at(program, i - first)->refused;
    gd_program_destroy(program);
    gd_memory_destroy(memory);
    gd_ptx_module_free(&module);
    gd_text_free(&text);
}

/* How many instructions begin so, of those that are refused or of the others. */
static uint32_t count_begun(const char *with, size_t length, bool of_refused)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < count; i++)
        found += refused[i] == of_refused && strncmp(instructions[i], with, length) == 0;
    return found;
}

/* The length of the line that an instruction begins with; 0: it begins with none. */
static size_t find_line(const char *list, const char *instruction)
{
    for (const char *at = list; *at; at += strcspn(at, "\n") + 1) {
        if (strncmp(at, instruction, strcspn(at, "\n")) == 0)
            return strcspn(at, "\n");
    }
    return 0;
}

/* Of each refused instruction the shortest beginning, up to a modifier or an operand, that no
 * other has. */
static void list_refused(gd_text *list)
{
    for (uint32_t i = 0; i < count; i++) {
        const char *text = instructions[i];
        size_t end = strcspn(text, "\n"), length = 0;
        if (!refused[i] || find_line(gd_text_get(list), text))
            continue;
        do {
            length += strcspn(text + length, "., \n");
            length += length < end;
        } while (length < end && count_begun(text, length, false));
        gd_text_format(list, "%.*s\n", (int)length, text);
    }
}

TEST_GROUP(executed, NULL, NULL);

TEST(executed, refused_instructions_are_those_of_the_list)
{
    char *frame, *record, *list;
    size_t bytes;
    gd_text made = {0}, unfolded = {0};

    griddep_error_init(&error);
    ck_assert_int_eq(gd_file_read(GOLDEN "instructions.frame", &frame, &bytes, &error), GRIDDEP_OK);
    ck_assert_int_eq(gd_file_read(GOLDEN "instruction_needs.txt", &record, &bytes, &error),
                     GRIDDEP_OK);
    unfold(record, &unfolded);
    read_instructions(gd_text_get(&unfolded));
    for (uint32_t i = 0; i < count; i += BATCH)
        find_refused(frame, i, i + BATCH < count ? i + BATCH : count);
    list_refused(&made);
    if (getenv("GRIDDEP_UPDATE_GOLDEN"))
        ck_assert_int_eq(gd_file_write(LIST, gd_text_get(&made), made.bytes, &error), GRIDDEP_OK);
    ck_assert_int_eq(gd_file_read(LIST, &list, &bytes, &error), GRIDDEP_OK);
    for (uint32_t i = 0; i < count; i++) {
        if (refused[i] != (find_line(list, instructions[i]) > 0))
            ck_abort_msg("%s: %.*s", refused[i] ? "refused" : "not refused",
                         (int)strcspn(instructions[i], "\n"), instructions[i]);
    }
    ck_assert_str_eq(list, gd_text_get(&made));
    gd_text_free(&made);
    gd_text_free(&unfolded);
    free(list);
    free(record);
    free(frame);
}

MAIN_OF_SUITE("executed")
