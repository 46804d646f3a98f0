/* Which of the recorded launches follow each other: streams, and what orders them by events, by the
 * default stream and by the host. The caller holds the lock. */
#ifndef GD_ATTACH_LANES_H
#define GD_ATTACH_LANES_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/streams.h"

/* A launch is recorded, under that number: the number of its stream. Records say which launches of
 * other streams it follows. */
uint32_t gd_lanes_launch(const gd_seen_launch *launch, uint32_t number);

/* Work of a kind, GD_ATTACHED_*, in a stream, as gd_streams_name names it; the event that it
 * records or waits for. */
void gd_lanes_work(gd_CUstream stream, uint32_t bit, gd_CUevent event);

/* The host knows that an event has come, a stream has ended what it had, all streams have. */
void gd_lanes_event(gd_CUevent event);
void gd_lanes_stream(gd_CUstream stream);
void gd_lanes_all(void);

/* In a child process. */
void gd_lanes_forget(void);

#endif
