/* Virtual memory (cuMemCreate and its kin): its end. */
#ifndef GD_EMULATOR_DRIVER_VIRTUAL_H
#define GD_EMULATOR_DRIVER_VIRTUAL_H

/* At the end of the process, behind that of the address space: all that is left is given back. */
void gd_virtual_end(void);

#endif
