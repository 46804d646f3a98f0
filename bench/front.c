/* How fast PTX is parsed and checked: bench/front FILE.ptx... prints megabytes a second of
 * processor time, the best of seven, and how long the check of the file takes. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "griddep.h"

enum { TRIES = 7 };

static char *read_all(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t room = 0;

    *bytes = 0;
    while (file && !feof(file) && !ferror(file)) {
        if (*bytes == room) {
            char *larger = realloc(text, room += 1 << 20);
            if (!larger)
                break;
            text = larger;
        }
        *bytes += fread(text + *bytes, 1, room - *bytes, file);
    }
    if (file)
        fclose(file);
    return text;
}

static double seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

/* The least time of parsing, or of checking; a negative one where that fails. */
static double measure(const char *text, size_t bytes, int check)
{
    double least = -1;

    for (int i = 0; i < TRIES; i++) {
        griddep_ptx *ptx = NULL;
        griddep_findings *findings = NULL;
        double start = seconds();
        int32_t status = check ? griddep_ptx_check(text, bytes, "bench", NULL, &findings, NULL)
                               : griddep_ptx_parse(text, bytes, "bench", &ptx, NULL);
        double taken = seconds() - start;
        griddep_findings_destroy(findings);
        griddep_ptx_destroy(ptx);
        if (status != GRIDDEP_OK)
            return -1;
        if (least < 0 || taken < least)
            least = taken;
    }
    return least;
}

int main(int count, char **files)
{
    int failed = 0;

    for (int i = 1; i < count; i++) {
        size_t bytes;
        char *text = read_all(files[i], &bytes);
        double parse = text ? measure(text, bytes, 0) : -1;
        double check = text ? measure(text, bytes, 1) : -1;
        if (parse > 0 && check > 0)
            printf("%10zu bytes: parse %4.0f MB/s, check %4.0f MB/s (%.3f s)  %s\n", bytes,
                   (double)bytes / parse / 1e6, (double)bytes / check / 1e6, check, files[i]);
        else
            fprintf(stderr, "%s cannot be measured\n", files[i]);
        failed |= parse <= 0 || check <= 0;
        free(text);
    }
    return failed;
}
