/* Processes that meet: each tells all others something, and hands them a file descriptor, in
 * rounds. Member 0 listens on a socket in the file system, or by TCP, which hands on no
 * descriptors; it passes on what the others say. */
#ifndef GD_RUN_MEET_H
#define GD_RUN_MEET_H

#include <stdbool.h>
#include <stdint.h>

#include "griddep.h"

typedef struct gd_meeting gd_meeting;

/* What a member says in a round. */
typedef struct gd_meeting_word {
    uint64_t values[5];
    uint8_t id[16];
    char note[128];
} gd_meeting_word;

/* Waits for all members. The path may be tcp://HOST:PORT/JOB. PEER where one does not come in time,
 * by its rank; ARGUMENT for a rank twice, other numbers of members, another job, a path too long or
 * in use. */
int32_t gd_meeting_open(const char *path, uint32_t rank, uint32_t count, uint32_t timeout_ms,
                        gd_meeting **meeting, griddep_error *error);

/* By TCP: members may be of several machines, and files do not reach them. */
bool gd_meeting_is_remote(const gd_meeting *meeting);

/* Members that meet by TCP have no memory in which they read what others say of themselves. This
 * gives `word` (not NULL) to those whom a socket leads to, member 0 to all and others to member 0,
 * and what these have said so to `hear`. */
typedef void gd_meeting_hear(void *user, uint32_t rank, const gd_meeting_word *word);
void gd_meeting_listen(gd_meeting *meeting, gd_meeting_hear *hear, void *user);
void gd_meeting_tell(gd_meeting *meeting, const gd_meeting_word *word);

/* From here on each round has the whole time; until then all rounds end with the time of open. */
void gd_meeting_joined(gd_meeting *meeting);

/* A round: gives `own` and `file` (-1: none) to the others, and takes theirs. words and files have
 * a place for each member; files, -1 where there is none, are the caller's to close, and -1 for its
 * own. What fails ends the meeting for all. */
int32_t gd_meeting_exchange(gd_meeting *meeting, const gd_meeting_word *own, int file,
                            gd_meeting_word *words, int *files, griddep_error *error);

void gd_meeting_close(gd_meeting *meeting); /* takes NULL */

#endif
