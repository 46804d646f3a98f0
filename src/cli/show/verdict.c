/* The library says it in words; JSON has the parts of them too. */
#include "cli/show/verdict.h"

#include "cli/io/message.h"
#include "cli/io/output.h"

void gd_verdict_print(FILE *stream, const griddep_verdict *verdict)
{
    bool color = gd_message_takes_color(fileno(stream));
    fputs(color ? "\033[1m" : "", stream);
    gd_output_put(stream, verdict->file);
    if (verdict->line > 0)
        fprintf(stream, ":%d:%d", (int)verdict->line, (int)verdict->column);
    fprintf(stream, ":%s ", color ? "\033[0m" : "");
    if (verdict->entry != NULL) {
        fputs("kernel ", stream);
        gd_output_put(stream, verdict->entry);
        fputs(": ", stream);
    }
    gd_output_put(stream, verdict->text);
    putc('\n', stream);
}

static json_t *lines_json(const int32_t *lines, uint32_t count)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < count; i++)
        gd_output_append(list, json_integer(lines[i]));
    return list;
}

json_t *gd_verdict_json(const griddep_verdict *verdict)
{
    static const char *const waits[] = {"unknown", "never", "sometimes", "always"};
    static const char *const early[] = {"unknown", "unsafe", "conditional", "safe"};
    bool placed = verdict->line > 0;
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
