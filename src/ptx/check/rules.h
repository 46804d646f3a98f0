/* The findings about one entry that its report shows; check.c puts them together for a text,
 * check/chain.c for a chain. */
#ifndef GD_PTX_CHECK_RULES_H
#define GD_PTX_CHECK_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "ptx/check/entry.h"
#include "ptx/text/findings.h"

/* What an access amounts to. */
typedef enum gd_access_class {
    GD_ACCESS_CLASS_HARMLESS,  /* no other grid can see it, or it reads a table of the module */
    GD_ACCESS_CLASS_PARAMETER, /* through parameters, and nothing else */
    GD_ACCESS_CLASS_VARIABLE,  /* of a variable of the module */
    GD_ACCESS_CLASS_UNKNOWN
} gd_access_class;

typedef struct gd_rules {
    gd_check_functions *functions;
    const gd_ptx_module *module;
    griddep_findings *findings;
    int32_t launch;           /* for the findings; -1: none */
    int8_t variables_written; /* 1: some function may write a variable of the module; 0: none does;
                               * -1: not looked at */
    int8_t variables_exposed; /* likewise: others may reach one */
    griddep_error *error;

    /* Of the entry that was looked at last, what its wait does not cover: parameters that are taken
     * to be constant, and instructions of which there is a finding. */
    gd_parameter_set relied;
    uint32_t *exposed;
    uint32_t exposed_count, exposed_capacity;
} gd_rules;

/* Whether the text lets others reach the variables of the module: an address of one leaves for
 * memory or for a call, stands in an initial value, or the variable is another text's. */
int32_t gd_rules_expose_variables(gd_rules *rules, bool *exposed);

int32_t gd_access_classify(gd_rules *rules, const gd_entry_access *access, gd_access_class *class);

/* Adds a finding at an instruction. */
#define gd_rules_add(rules, report, weight, number, at, advice, ...)                               \
    gd_findings_add(                                                                               \
        (rules)->findings,                                                                         \
        &(gd_finding_draft){                                                                       \
            .code = GD_CODE_##number,                                                              \
            .severity = (weight),                                                                  \
            .launch = (rules)->launch,                                                             \
            .module = (rules)->module,                                                             \
            .token = (rules)->module->instructions[at].opcode,                                     \
            .entry = (report) ? (rules)->module->functions[(report)->function].name : NULL,        \
            .hint = (advice)},                                                                     \
        __VA_ARGS__)

/* An access in words: "ld.global.f32 reads what parameter x points to". */
typedef struct gd_access_words {
    char text[240];
} gd_access_words;

gd_access_words gd_access_describe(const gd_entry_report *report, const gd_entry_access *access,
                                   gd_access_class class);

/* griddepcontrol where target or version lack it: GD101, GD102; true: they do, and the text is not
 * valid. */
bool gd_rules_check_target(gd_rules *rules);

/* Accesses before the wait, non-coherent loads: GD110 to GD120, GD130. Fills `relied` and
 * `exposed`, which is to free. */
int32_t gd_rules_check_accesses(gd_rules *rules, const gd_entry_report *report,
                                const gd_parameter_set *constants);

/* Exits without a wait, waits in loops: GD121, GD122. */
int32_t gd_rules_check_waits(gd_rules *rules, const gd_entry_report *report);

/* Where triggers stand: GD141 to GD143. */
int32_t gd_rules_check_triggers(gd_rules *rules, const gd_entry_report *report);

/* Flags of scope sys in an entry's own body: GD131, GD132. */
int32_t gd_rules_check_hops(gd_rules *rules, uint32_t function);

/* A limit that the report passed: GD003. */
void gd_rules_check_limit(gd_rules *rules, const gd_entry_report *report);

#endif
