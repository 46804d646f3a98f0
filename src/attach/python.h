/* Where the Python program that runs in this process stands. */
#ifndef GD_ATTACH_PYTHON_H
#define GD_ATTACH_PYTHON_H

#include <stddef.h>

/* The frames of this thread, the innermost first, each a line: File "step.py", line 3 in step.
 * Empty where no interpreter called, or none that tells. */
void gd_python_read(char *text, size_t room);

#endif
