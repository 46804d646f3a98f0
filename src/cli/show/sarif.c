/* Documents of SARIF, with the fields that GitHub and others ask for. */
#include "cli/show/sarif.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "griddep.h"

#include "cli/io/heap.h"
#include "cli/io/output.h"
#include "cli/io/outputfile.h"
#include "run/private.h"

/* A reference to a file as RFC 3986 has it; to free. */
static char *uri_of(const char *path)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                "0123456789-._~/";
    const char *scheme = path[0] == '/' ? "file://" : "";
    char *uri = gd_heap_take(strlen(scheme) + 3 * strlen(path) + 1, 1), *to = uri;
    to += sprintf(to, "%s", scheme);
    for (const char *at = path; *at != '\0'; at++) {
        if (strchr(plain, *at) != NULL)
            *to++ = *at;
        else
            to += sprintf(to, "%%%02X", (unsigned)(unsigned char)*at);
    }
    return uri;
}

static json_t *region_of(gd_sarif_place place)
{
    json_t *region = GD_OBJECT({"startLine", json_integer(place.line)});
    if (place.column > 0)
        json_object_set_new(region, "startColumn", json_integer(place.column));
    return region;
}

static json_t *location_of(gd_sarif_place place)
{
    json_t *location = json_object();
    if (place.file != NULL && place.file[0] != '\0') {
        char *uri = uri_of(place.file);
        json_t *physical =
            GD_OBJECT({"artifactLocation", GD_OBJECT({"uri", gd_output_string(uri)})});
        free(uri);
        if (place.line > 0)
            json_object_set_new(physical, "region", region_of(place));
        json_object_set_new(location, "physicalLocation", physical);
    }
    if (place.kernel != NULL) {
        json_t *names = json_array();
        gd_output_append(names, GD_OBJECT({"name", gd_output_string(place.kernel)},
                                          {"kind", gd_output_string("function")}));
        json_object_set_new(location, "logicalLocations", names);
    }
    return location;
}

void gd_sarif_add(json_t *results, const char *code, const char *severity, const char *text,
                  const char *hint, gd_sarif_place place)
{
    char *message = gd_heap_format("%s%s%s", text, hint[0] != '\0' ? "; " : "", hint);
    json_t *locations = json_array();
    gd_output_append(locations, location_of(place));
    gd_output_append(results, GD_OBJECT({"ruleId", gd_output_string(code)},
                                        {"level", gd_output_string(severity)},
                                        {"message", GD_OBJECT({"text", gd_output_string(message)})},
                                        {"locations", locations}));
    free(message);
}

/* The codes that results have, each once. */
static json_t *rules_of(const json_t *results)
{
    json_t *rules = json_array();
    const gd_code_info *info;
    for (uint32_t i = 0; (info = gd_code_at(i)) != NULL; i++) {
        bool used = false;
        for (size_t j = 0; j < json_array_size(results) && !used; j++)
            used = strcmp(info->name, json_string_value(json_object_get(json_array_get(results, j),
                                                                        "ruleId"))) == 0;
        if (used)
            gd_output_append(
                rules,
                GD_OBJECT({"id", gd_output_string(info->name)},
                          {"shortDescription", GD_OBJECT({"text", gd_output_string(info->title)})},
                          {"help", GD_OBJECT({"text", gd_output_string(info->page)})}));
    }
    return rules;
}

int gd_sarif_write(const char *path, json_t *results)
{
    json_t *tool = GD_OBJECT({"name", gd_output_string("griddep")},
                             {"version", gd_output_string(griddep_version_text())},
                             {"rules", rules_of(results)});
    json_t *runs = json_array();
    char *text = NULL;
    size_t bytes = 0;
    FILE *stream = open_memstream(&text, &bytes);
    if (stream == NULL)
        gd_heap_end();
    gd_output_append(runs, GD_OBJECT({"tool", GD_OBJECT({"driver", tool})}, {"results", results}));
    gd_output_write_to(
        stream,
        GD_OBJECT({"$schema", gd_output_string("https://json.schemastore.org/sarif-2.1.0.json")},
                  {"version", gd_output_string("2.1.0")}, {"runs", runs}));
    if (fclose(stream) != 0)
        gd_heap_end();
    int code = gd_outputfile_write(path, text, bytes);
    free(text);
    return code;
}
