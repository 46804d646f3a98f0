/* One line on stderr that says what is being done, rewritten in place; only where stderr is a
 * terminal. */
#ifndef GD_CLI_PROGRESS_H
#define GD_CLI_PROGRESS_H

/* Switches the line on where stderr is a terminal. */
void gd_progress_begin(void);

/* Replaces the line. Nothing happens before gd_progress_begin or without a terminal. */
void gd_progress_show(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Switches it off again, for a child process. */
void gd_progress_end(void);

/* Removes the line; call before anything else is printed. */
void gd_progress_clear(void);

/* The same for the handler of a signal that ends the command. */
void gd_progress_wipe(void);

#endif
