/* What the rest of the library asks of events. */
#ifndef GD_RUN_EVENT_H
#define GD_RUN_EVENT_H

#include "griddep.h"
#include "run/launch/early.h"
#include "run/runtime.h"

/* Whether this runtime made the event with timing. */
bool gd_event_has_timing(griddep_runtime *runtime, gd_CUevent event);

/* Refuses an attribute that records an event with timing; others are none of its business. */
int32_t gd_event_check_attribute(griddep_runtime *runtime, const griddep_attribute *attribute,
                                 griddep_error *error);

/* The event that an attribute lets a launch record early, and how; NULL: the attribute is another
 * one. */
gd_CUevent gd_event_of(const gd_CUlaunchAttribute *attribute, gd_early *how);

#endif
