/* What both halves of griddep sanitize need: the emulated driver's settings, and the verdict. */
#include "cli/job/sanitize.h"

#include <stdlib.h>
#include <string.h>

#include "cli/io/heap.h"

int gd_sanitize_set_environment(const gd_sanitize *request, const char *report,
                                const char *schedule)
{
    const char *driver = NULL;
    gd_emulation emulation = request->emulation;
    emulation.schedule = schedule;
    int code = gd_emulation_set("GRIDDEP_EMULATOR_CHECK", request->checks);
    if (code == 0)
        code = gd_emulation_set("GRIDDEP_EMULATOR_REPORT", report);
    return code != 0 ? code : gd_emulation_apply(&emulation, &driver);
}

char *gd_sanitize_verdict(const gd_sanitize *request, size_t found, uint64_t launches,
                          const char *schedules, bool several, const char *model)
{
    bool races = strcmp(request->checks, "all") == 0 || strstr(request->checks, "race") != NULL;
    const char *where = several ? "these executions" : "this execution";
    char *settings = gd_heap_format("%llu launch%s; schedule%s %s%s model %s",
                                    (unsigned long long)launches, launches == 1 ? "" : "es",
                                    several ? "s" : "", schedules, several ? ";" : ",", model);
    char *verdict = found > 0 ? gd_heap_format("%zu finding%s in %s (%s)", found,
                                               found == 1 ? "" : "s", where, settings)
                    : races   ? gd_heap_format("no race in %s (%s)", where, settings)
                            : gd_heap_format("nothing found in %s (%s; check %s)", where, settings,
                                             request->checks);
    free(settings);
    return verdict;
}
