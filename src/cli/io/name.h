/* Names of C++ functions and variables, as people write them. */
#ifndef GD_CLI_NAME_H
#define GD_CLI_NAME_H

#include <stddef.h>

/* The name of a symbol, where libstdc++ is there to ask; else as it is. To free. */
char *gd_name_demangle(const char *name);

/* Such a name, without void before it, in so many bytes (at least 40) or little more: without
 * parameters, and with the middle of its template arguments left out. To free. */
char *gd_name_shorten(const char *name, size_t most);

/* The function's own name in it, without namespaces, template arguments and parameters; other names
 * as they are. To free. */
char *gd_name_own(const char *name);

/* A text for people: each symbol in it becomes its name, shortened. To free. */
char *gd_name_tell(const char *text);

#endif
