/* Findings of the library, folded, counted and shown: as text like a compiler's, or as JSON. */
#ifndef GD_CLI_FINDING_H
#define GD_CLI_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "griddep.h"

#include "cli/plan/plan.h"
#include "cli/io/yaml.h"

/* A finding, once for all launches of a chain that it was made for. */
typedef struct gd_finding {
    griddep_finding data; /* its strings belong to the library's findings */
    const griddep_findings *from;
    uint32_t index;     /* in them */
    uint32_t more;      /* places that say the same: gd_finding_gather */
    uint32_t *launches; /* empty outside chains */
    size_t launch_count;
    const gd_plan *plan;          /* whose launches they are, or NULL */
    const gd_plan_launch *launch; /* the first of them, or NULL */
    const gd_yaml *yaml;          /* the chain file's text, or NULL */
} gd_finding;

typedef struct gd_finding_list {
    gd_finding *items;
    size_t count;
} gd_finding_list;

typedef struct gd_finding_tally {
    uint32_t errors, warnings, notes;
    uint32_t hidden; /* of them, below the severity that is shown */
} gd_finding_tally;

/* Takes the findings (NULL: none) over into a list, in their order. plan and yaml: the chain that
 * they are about, or NULL. The findings must outlive the list. */
gd_finding_list gd_finding_fold(const griddep_findings *findings, const gd_plan *plan,
                                const gd_yaml *yaml);

/* Of warnings and notes that say the same of one kernel, leaves the first, which counts the
 * others. */
void gd_finding_gather(gd_finding_list *list);
void gd_finding_list_free(gd_finding_list *list);

/* "note", "warning", "error". Static. gd_finding_severity_names has the three in that order, from
 * GRIDDEP_SEVERITY_NOTE on. */
const char *gd_finding_severity_name(int32_t severity);
extern const char *const gd_finding_severity_names[3];

/* Adds those of the list to the tally; those below `least` are hidden. */
void gd_finding_count(gd_finding_tally *tally, const gd_finding_list *list, int32_t least);

/* file:line:column: severity: text [code], the quote, the hint, and the launches. `file` (may be
 * NULL) replaces the finding's. */
void gd_finding_print(FILE *to, const gd_finding *finding, const char *file);

/* "2 errors, 1 warning, 0 notes", what was hidden, and whether some text's use of dependent launch
 * was not looked at yet. */
void gd_finding_print_tally(FILE *stream, const gd_finding_tally *tally, bool held_back);

/* A part of a text as JSON has it: line, column, end_line, end_column. */
json_t *gd_finding_range(int32_t line, int32_t column, int32_t end_line, int32_t end_column);

json_t *gd_finding_json(const gd_finding *finding, const char *file);

/* To a list of results of SARIF: where the code comes from, if its text tells. */
void gd_finding_add_sarif(json_t *results, const gd_finding *finding);

#endif
