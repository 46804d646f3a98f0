/* Findings as SARIF 2.1.0 (OASIS), which services show beside the code that they are about. */
#ifndef GD_CLI_SARIF_H
#define GD_CLI_SARIF_H

#include <stdint.h>

#include <jansson.h>

/* Where a finding is. Anything may be NULL or 0, which is not told then. */
typedef struct gd_sarif_place {
    const char *file;
    int64_t line, column;
    const char *kernel;
} gd_sarif_place;

/* Adds a finding to a list of results: its code, "note", "warning" or "error", what is wrong, and
 * what to do ("": nothing). */
void gd_sarif_add(json_t *results, const char *code, const char *severity, const char *text,
                  const char *hint, gd_sarif_place place);

/* Writes a document of such results, which it takes over, with the titles and pages of their codes.
 * Returns 0, or an exit code after a message. */
int gd_sarif_write(const char *path, json_t *results);

#endif
