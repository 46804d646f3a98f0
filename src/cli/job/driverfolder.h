/* Where the emulated driver lies under the name libcuda.so.1, and what stands in front of a driver.
 * */
#ifndef GD_CLI_DRIVERFOLDER_H
#define GD_CLI_DRIVERFOLDER_H

/* The absolute path of the folder, from where the library that this command uses was loaded. To
 * free. NULL after a message. */
char *gd_driverfolder_find(void);

/* The same of the library libgriddep-attach: its path. */
char *gd_driverfolder_find_attach(void);

/* Puts a folder in front of LD_LIBRARY_PATH. Returns 0, or an exit code after a message. */
int gd_driverfolder_lead(const char *folder);

#endif
