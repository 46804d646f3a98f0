/* Where processes meet: at a socket in the file system, or at tcp://HOST:PORT/JOB, which processes
 * of other machines reach. */
#ifndef GD_RUN_PLACE_H
#define GD_RUN_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/un.h>

#include "griddep.h"

typedef struct gd_place {
    const char *text; /* the caller's */
    bool remote;
    struct sockaddr_un local;
    char host[254], port[6];
    uint8_t job[16]; /* a digest of JOB; 0 of a socket in the file system */
} gd_place;

/* ARGUMENT for what is no place. */
int32_t gd_place_read(const char *text, gd_place *place, griddep_error *error);

/* A socket that others can visit: by TCP at the host where that is a number, at all addresses of
 * this machine where it is a name. A socket in the file system that nobody listens to any more is
 * taken away. */
int32_t gd_place_listen(const gd_place *place, int *door, griddep_error *error);
void gd_place_leave(const gd_place *place, int door);

/* Who is at the door, of this user where the place is in the file system; -1: nobody. Of a socket
 * of either side something can be read when so many bytes have come, or it is at its end. */
int gd_place_let_in(const gd_place *place, int door, int bytes);

/* A socket to who listens; -1: nobody does, `why` says why. ARGUMENT where another user does. */
int32_t gd_place_visit(const gd_place *place, int bytes, int64_t until, int *made, const char **why,
                       griddep_error *error);

/* Of CLOCK_MONOTONIC. */
int64_t gd_place_now_ms(void);

/* Whether something can be read (POLLIN) or written (POLLOUT) before the time is over. */
bool gd_place_wait(int file, short what, int64_t until);

#endif
