/* Characters that XML takes for its own become entities. */
#include "cli/io/xml.h"

#include "cli/io/output.h"

void gd_xml_put(FILE *stream, const char *text)
{
    json_t *checked = gd_output_string(text);
    for (const char *at = json_string_value(checked); at != NULL && *at != '\0'; at++) {
        switch (*at) {
        case '<':
            fputs("&lt;", stream);
            break;
        case '>':
            fputs("&gt;", stream);
            break;
        case '&':
            fputs("&amp;", stream);
            break;
        case '"':
            fputs("&quot;", stream);
            break;
        default:
            fputc((unsigned char)*at < 0x20 || *at == 0x7f ? '?' : *at, stream);
        }
    }
    json_decref(checked);
}
