/* Codes as Markdown. Pages are plain text whose examples are indented by four columns, as Markdown
 * has them too. */
#include "cli/show/markdown.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "griddep.h"

#include "cli/show/finding.h"
#include "cli/io/message.h"

static const char introduction[] =
    "# Diagnostics\n"
    "\n"
    "What `griddep check` and `griddep rewrite` report, by code. The text of this page is what "
    "`griddep explain` "
    "prints; the page is made\n"
    "by `griddep explain --markdown`.\n"
    "\n"
    "A finding looks like this, and its code never changes its meaning:\n"
    "\n"
    "    FILE:LINE:COLUMN: SEVERITY: what is wrong [CODE]\n"
    "      LINE | the source line\n"
    "           |     ^\n"
    "      hint: what to do\n"
    "\n"
    "| severity | meaning |\n"
    "|---|---|\n"
    "| error | the contract of dependent launch is broken on a path that the text shows, or the "
    "text is no PTX |\n"
    "| warning | the contract is likely broken, or cannot be shown to be kept |\n"
    "| note | correct, but overlap is not gained, or less than could be; or what the rewriter did "
    "|\n"
    "\n"
    "The severity below is the one that a code usually has; a finding may be milder where less is "
    "certain.\n"
    "\n";

static const char json_schema[] =
    "\n"
    "## JSON\n"
    "\n"
    "`griddep check --json` prints one document:\n"
    "\n"
    "| key | value |\n"
    "|---|---|\n"
    "| `griddep` | the version |\n"
    "| `exit_code` | what the command exits with: 0 clean, 1 findings, 2 a file that cannot be "
    "read, 4 another failure "
    "|\n"
    "| `files_checked` | how many of the files could be checked |\n"
    "| `errors`, `warnings`, `notes` | how many findings there are of each severity |\n"
    "| `hidden` | how many of them `--severity` leaves out below |\n"
    "| `findings` | a list of what follows, in the order of the files, then of launch and position "
    "|\n"
    "| `findings[].severity` | `error`, `warning` or `note` |\n"
    "| `findings[].code` | `GD110` |\n"
    "| `findings[].file`, `line`, `column` | where; line and column count from 1, columns in "
    "bytes; each is null where "
    "there is none |\n"
    "| `findings[].entry` | the kernel, or null |\n"
    "| `findings[].text`, `hint` | what is wrong, and what to do (null where the text says it all) "
    "|\n"
    "| `findings[].quote` | the source line with a caret below it, or null |\n"
    "| `findings[].launches` | of a chain: the launches that it concerns, counted from 0; "
    "otherwise empty |\n"
    "| `remarks` | texts: modules of chains that could not be looked into |\n"
    "| `failures` | what could not be read: objects with `text`, `exit_code`, and where they apply "
    "`file`, `line`, "
    "`column`, "
    "`status`, `name`, `driver_code` |\n"
    "\n"
    "`griddep rewrite --json` prints `griddep`, `input`, `output` (the file, null for stdout), "
    "`changed`, `notes` "
    "(findings as above, with\n"
    "positions in the new text), `errors` (what a check still finds in the result), and `ptx` (the "
    "new text; null "
    "where it went to a file).\n"
    "`griddep explain --json` prints `codes`, a list of `code`, `severity`, `title` and `page`. "
    "Wrong usage prints\n"
    "`{\"error\": {...}}` with an object as in `failures`.\n";

/* The characters that would mean something outside of an example. */
static void put_escaped(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '*' || text[i] == '<' || text[i] == '`' || text[i] == '|')
            putchar('\\');
        putchar(text[i]);
    }
}

static void put_page(const char *page)
{
    for (const char *line = page; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        if (strncmp(line, "    ", 4) == 0)
            printf("%.*s", (int)length, line);
        else
            put_escaped(line, length);
        putchar('\n');
        line += length + (line[length] == '\n');
    }
}

/* Headings are linked to by their text in lower case. */
static void put_table(void)
{
    griddep_code_info info = {.size = sizeof(info)};
    puts("| code | severity | |\n|---|---|---|");
    for (uint32_t i = 0; griddep_code_get(i, &info, NULL) == GRIDDEP_OK; i++) {
        printf("| [%s](#", info.code);
        for (const char *letter = info.code; *letter != '\0'; letter++)
            putchar(tolower((unsigned char)*letter));
        printf(") | %s | ", gd_finding_severity_name(info.severity));
        put_escaped(info.title, strlen(info.title));
        puts(" |");
    }
}

int gd_markdown_print_codes(void)
{
    griddep_code_info info = {.size = sizeof(info)};
    fputs(introduction, stdout);
    put_table();
    for (uint32_t i = 0; griddep_code_get(i, &info, NULL) == GRIDDEP_OK; i++) {
        printf("\n## %s\n\n**", info.code);
        put_escaped(info.title, strlen(info.title));
        printf("** (%s)\n\n", gd_finding_severity_name(info.severity));
        put_page(info.page);
    }
    fputs(json_schema, stdout);
    return GD_EXIT_OK;
}
