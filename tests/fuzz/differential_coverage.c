/* Which instructions of ops.def random programs have. */
#include "differential_coverage.h"

#include <stdio.h>
#include <string.h>

#include "ptx/text/ops.h"

static const char *const without[] = {
#define GD_WITHOUT(name, reason) name,
#include "differential_without.def"
#undef GD_WITHOUT
};

static bool is_without(const gd_op_info *op)
{
    for (size_t i = 0; i < sizeof without / sizeof without[0]; i++) {
        size_t length = strlen(without[i]);
        if (strncmp(op->name, without[i], length) == 0 &&
            (op->name[length] == '.' || !op->name[length]))
            return true;
    }
    return false;
}

/* Notes the instruction that a line begins with, behind a guard. */
static void note_line(const char *line, bool *seen)
{
    const char *op = *line == '@' ? strchr(line, ' ') : line;

    if (!op)
        return;
    op += *op == ' ';
    size_t base = strcspn(op, ". ;\n"), whole = strcspn(op, " ;\n");
    seen[gd_op_refine(gd_op_find(op, base), op + base, whole - base)] = true;
}

static bool note_range(const diff_range *range, bool *seen)
{
    for (uint64_t i = 0; i < range->count; i++) {
        diff_program program;
        gd_text text = {0};
        bool made = diff_range_make(range, range->from + i, &program);
        if (made)
            diff_program_print(&program, 0, &text);
        for (const char *line = gd_text_get(&text); line && *line;
             line = strchr(line, '\n'), line += line != NULL)
            note_line(line, seen);
        diff_program_free(&program);
        gd_text_free(&text);
        if (!made)
            return range->forms;
    }
    return true;
}

int diff_coverage(void)
{
    const diff_range programs = {.from = 1, .count = 1000},
                     forms = {.count = UINT32_MAX, .forms = true};
    bool seen[GD_OP_COUNT] = {false};
    int missing = 0, covered = 0;

    if (!note_range(&programs, seen) || !note_range(&forms, seen))
        return -1;
    for (uint32_t op = 1; op < GD_OP_COUNT; op++) {
        covered += seen[op];
        if (seen[op] || is_without(&gd_ops[op]))
            continue;
        printf("%s is in no program, and differential_without.def does not say why\n",
               gd_ops[op].name);
        missing++;
    }
    printf("%d instructions in programs, %d missing\n", covered, missing);
    return missing;
}
