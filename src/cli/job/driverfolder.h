/* Where the emulated driver lies under the name libcuda.so.1. */
#ifndef GD_CLI_DRIVERFOLDER_H
#define GD_CLI_DRIVERFOLDER_H

/* The absolute path of the folder, from where the library that this command uses was loaded. To
 * free. NULL after a message. */
char *gd_driverfolder_find(void);

#endif
