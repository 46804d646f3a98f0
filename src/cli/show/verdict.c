/* The library says it in words; JSON has the parts of them too. */
#include "cli/show/verdict.h"

#include <stdbool.h>

#include "cli/io/hostfile.h"
#include "cli/io/message.h"
#include "cli/io/output.h"

/* Of what NVRTC made of CUDA C++ the lines are not the file's. */
static bool is_placed(const gd_verdict *verdict)
{
    return verdict->line > 0 && !gd_hostfile_has_ending(verdict->file, ".cu");
}

void gd_verdict_print(FILE *to, const gd_verdict *verdict)
{
    bool color = gd_message_takes_color(fileno(to));
    gd_page page;
    FILE *stream = gd_page_begin(&page, to);
    fputs(color ? "\033[1m" : "", stream);
    gd_output_put(stream, verdict->file);
    if (is_placed(verdict))
        fprintf(stream, ":%d:%d", (int)verdict->line, (int)verdict->column);
    fprintf(stream, ":%s ", color ? "\033[0m" : "");
    if (verdict->entry != NULL) {
        fputs("kernel ", stream);
        gd_output_tell(stream, verdict->entry);
        fputs(": ", stream);
    }
    gd_output_tell(stream, verdict->text);
    putc('\n', stream);
    gd_page_end(&page);
}

static json_t *lines_json(const int32_t *lines, uint32_t count)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < count; i++)
        gd_output_append(list, json_integer(lines[i]));
    return list;
}

json_t *gd_verdict_json(const gd_verdict *verdict)
{
    static const char *const waits[] = {"unknown", "never", "sometimes", "always"};
    static const char *const early[] = {"unknown", "unsafe", "conditional", "safe"};
    bool placed = is_placed(verdict);
    return GD_OBJECT(
        {"file", gd_output_string(verdict->file)}, {"entry", gd_output_string(verdict->entry)},
        {"line", placed ? json_integer(verdict->line) : json_null()},
        {"column", placed ? json_integer(verdict->column) : json_null()},
        {"valid", json_boolean(verdict->is_valid)},
        {"waits", gd_output_string(waits[verdict->waits])},
        {"wait_lines", lines_json(verdict->wait_lines, verdict->wait_count)},
        {"trigger_lines", lines_json(verdict->trigger_lines, verdict->trigger_count)},
        {"early", gd_output_string(early[verdict->early])},
        {"condition",
         verdict->condition[0] != '\0' ? gd_output_string(verdict->condition) : json_null()},
        {"text", gd_output_string(verdict->text)});
}

void gd_verdict_of_machine_code(const griddep_image_kernel *kernel, const char *file,
                                gd_verdict *verdict, char *text, size_t bytes)
{
    const uint32_t traits = kernel->traits;
    const bool known = traits & GRIDDEP_TRAIT_KNOWN && !(traits & GRIDDEP_TRAIT_OPEN);
    const bool waits = traits & GRIDDEP_TRAIT_WAITS, always = traits & GRIDDEP_TRAIT_WAITS_ALWAYS;
    const bool safe = always && !(traits & GRIDDEP_TRAIT_TOUCHES_EARLY);
    const char *early = safe     ? "safe to launch early"
                        : always ? "it may touch memory before it waits, of which nothing is known"
                        : known  ? "not safe to launch early: GRIDDEP_PDL_AUTO starts it when the "
                                   "kernel before it has ended"
                                 : "whether it is safe to launch early is not known";

    *verdict = (gd_verdict){.is_valid = 1,
                            .file = file,
                            .entry = kernel->name,
                            .text = text,
                            .condition = "",
                            .waits = always   ? GD_WAITS_ALWAYS
                                     : !known ? GD_WAITS_UNKNOWN
                                     : waits  ? GD_WAITS_SOMETIMES
                                              : GD_WAITS_NEVER,
                            .early = safe               ? GD_EARLY_SAFE
                                     : known && !always ? GD_EARLY_UNSAFE
                                                        : GD_EARLY_UNKNOWN};
    if (!(traits & GRIDDEP_TRAIT_KNOWN))
        snprintf(text, bytes, "machine code that is not known; %s", early);
    else
        snprintf(text, bytes, "machine code; %s; %s; %s",
                 always   ? "waits on every path"
                 : !known ? "a path cannot be followed, so it may not wait"
                 : traits & GRIDDEP_TRAIT_OTHERS_WAIT
                     ? "some threads leave before the wait while others wait"
                 : waits ? "does not wait on every path"
                         : "never waits",
                 traits & GRIDDEP_TRAIT_TRIGGERS ? "triggers"
                 : traits & GRIDDEP_TRAIT_CALLS
                     ? "triggers in a function that it calls, or at its end"
                     : "triggers at its end, implicitly",
                 early);
}
