/* The file of records of this process (base/attached.h). The caller holds the lock. */
#ifndef GD_ATTACH_RECORD_H
#define GD_ATTACH_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attached.h"

/* Begins the file in a folder. No descriptor stays open. */
void gd_record_begin(const char *folder, int32_t driver_version, uint32_t early);

/* In a child process: what was recorded is its parent's. */
void gd_record_forget(void);

bool gd_record_is_begun(void);

/* Says who tells times, GD_ATTACHED_CLOCK_*. */
void gd_record_clock(uint32_t clock);

/* Appends a record with a text behind it: memory of the file, all zero but head and text, in which
 * the caller fills the rest and counts. Its number goes to *number. Where there is no room the
 * record is one that nobody reads, and *number is GD_ATTACHED_NONE. Never NULL. */
void *gd_record_add(gd_attached_kind kind, size_t bytes, const char *text, uint32_t *number);

/* The record is complete. */
void gd_record_commit(void *record, gd_attached_kind kind);

/* Writes a copy of an image beside the file; its name, without a folder, goes to `name`. */
bool gd_record_image(const void *bytes, size_t count, char name[64]);

#endif
