/* Temporary files: made, and gone again however the command ends. Owns the handlers of the signals
 * that end it. */
#ifndef GD_CLI_TEMPORARY_H
#define GD_CLI_TEMPORARY_H

/* To be called once, first: catches the signals that end a program, unless somebody has them
 * ignored. Before they end the command, its progress line is wiped and its temporary files are
 * removed. A write past a file's largest size fails from here on, as it does on a full disk. */
void gd_temporary_begin(void);

/* Makes a file in a folder, for its owner alone. Returns its descriptor and its path, to be given
 * back by gd_temporary_remove or gd_temporary_release; -1 with errno. */
int gd_temporary_make(const char *folder, char **path);

/* The folder for temporary files. */
const char *gd_temporary_place(void);

/* Makes a folder there, for its owner alone; with it the files in it are removed. NULL after a
 * message. */
char *gd_temporary_make_folder(void);

/* Removes the file and frees the path. */
void gd_temporary_remove(char *path);

/* The file has another name now and stays; frees the path. */
void gd_temporary_release(char *path);

/* In a child process: the files are its parent's to remove. */
void gd_temporary_forget(void);

/* In a child process that becomes another program: what that would inherit is as the command found
 * it. */
void gd_temporary_restore_signals(void);

#endif
