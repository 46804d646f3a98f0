/* Launches themselves, in their order, with their arguments and the memory that these point into:
 * what can be run again without the program. */
#ifndef GD_ATTACH_RECORDING_H
#define GD_ATTACH_RECORDING_H

#include "attach/streams.h"
#include "base/attached.h"

/* Around a launch that is executed now; both take the lock. NULL: it is not recorded. */
gd_attached_launch *gd_recording_begin(const gd_seen_launch *launch, void **parameters,
                                       void **extra);
void gd_recording_end(gd_attached_launch *record, gd_CUresult result);

/* The same with the lock, of a launch that is known to be executed. */
gd_attached_launch *gd_recording_make(const gd_seen_launch *launch, void **parameters,
                                      void **extra);

/* A copy or a fill: so many bytes, to an address, from an address of the device's, or of the
 * host's, or of one value. */
typedef struct gd_recorded_move {
    uint64_t to, from, bytes;
    const void *host; /* NULL: it is not from there */
    bool is_fill;
    unsigned char value;
} gd_recorded_move;

/* With the lock: the memory of a launch, or of a copy, as the next launch finds it. What is made
 * before gd_recording_settle is called again takes it as it was found. */
void gd_recording_look(const gd_seen_launch *launch, void **parameters, void **extra);
bool gd_recording_look_at(const gd_recorded_move *move); /* false: it is not known */
void gd_recording_settle(bool settled);

/* With the lock: a copy or a fill in a stream, known to be executed. */
gd_attached_launch *gd_recording_make_move(const gd_seen_launch *in, const gd_recorded_move *move);

/* With the lock: whether so many launches that follow may be recorded, all or none. Where that is
 * not the case the recording ends, or they are passed over. */
bool gd_recording_has_room(uint32_t launches);

/* The launch's attribute, where it has that one. */
void gd_recording_read_cluster(const gd_CUlaunchConfig *config, uint32_t cluster[3]);

/* What cuLaunchKernel calls extra: the packed parameters; NULL: none. */
const unsigned char *gd_recording_packed(void **extra);

/* With the lock: a copy of a launch's arguments, packed; to free. NULL: they are not known. */
unsigned char *gd_recording_pack(gd_CUfunction handle, void **parameters, void **extra);

enum { GD_RECORDING_NOWHERE = 0, GD_RECORDING_ANYWHERE = 1 };

/* Something that is no launch writes to an address, GD_RECORDING_NOWHERE or _ANYWHERE. Takes the
 * lock. */
void gd_recording_write(uint64_t address);

/* With the lock, as those that follow: what is launched now cannot be recorded; the text says
 * why. */
void gd_recording_miss(const char *why);

/* The memory at an address is about to be freed; all of it is, with its context; nothing is
 * launched behind. */
void gd_recording_free(uint64_t address);
void gd_recording_end_context(void);
void gd_recording_finish(void);

/* In a child process. */
void gd_recording_forget(void);

#endif
