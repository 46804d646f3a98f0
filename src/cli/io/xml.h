/* Text inside of XML. */
#ifndef GD_CLI_XML_H
#define GD_CLI_XML_H

#include <stdio.h>

/* Writes text that may hold anything: what XML 1.0 does not allow becomes '?', and bytes beyond
 * ASCII are kept where they are UTF-8. */
void gd_xml_put(FILE *stream, const char *text);

#endif
