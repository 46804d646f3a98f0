/* Environment variables. */
#ifndef GD_BASE_ENVIRONMENT_H
#define GD_BASE_ENVIRONMENT_H

/* The value; NULL where the variable is not set or empty, and always in a program that runs with more rights than who started it (set-uid,
 * capabilities of its file): there a variable could name a driver to be loaded. */
const char *gd_environment(const char *name);

#endif
