/* The sorted list of findings. */
#include <stdarg.h>
#include <string.h>

#include "base/format.h"
#include "ptx/text/diagnostic.h"

void gd_ptx_diagnostics_add(gd_ptx_diagnostics *diagnostics, uint32_t offset, const char *format,
                            ...)
{
    gd_ptx_diagnostic *list = diagnostics->list;
    uint32_t at = diagnostics->count;
    va_list arguments;

    while (at > 0 && list[at - 1].offset >= offset)
        at--;
    if (at == GD_PTX_LIMIT_DIAGNOSTICS || (at < diagnostics->count && list[at].offset == offset))
        return;
    uint32_t kept = diagnostics->count < GD_PTX_LIMIT_DIAGNOSTICS ? diagnostics->count
                                                                  : GD_PTX_LIMIT_DIAGNOSTICS - 1;
    memmove(&list[at + 1], &list[at], (kept - at) * sizeof *list);
    diagnostics->count = kept + 1;
    list[at].offset = offset;
    va_start(arguments, format);
    gd_format_list(list[at].text, sizeof list[at].text, format, arguments);
    va_end(arguments);
}
