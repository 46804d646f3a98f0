/* The program's own kernels, as text: an application carries its PTX and no compiler. */
#include "kernels.h"

__asm__(".section .rodata\n"
        ".global kernels_ptx\n"
        "kernels_ptx:\n"
        ".incbin \"kernels.ptx\"\n"
        ".byte 0\n"
        ".previous\n");
