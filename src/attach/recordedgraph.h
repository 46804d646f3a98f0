/* Launches that graphs make, for a recording: kept when a graph is instantiated. The caller holds
 * the lock, but where it says otherwise. */
#ifndef GD_ATTACH_RECORDEDGRAPH_H
#define GD_ATTACH_RECORDEDGRAPH_H

#include "attach/recording.h"

/* A graph was instantiated, or is what an executable one was updated to. */
void gd_recordedgraph_add(gd_CUgraphExec executable, gd_CUgraph graph);

/* Its launches are not known any more, or it ends. */
void gd_recordedgraph_end(gd_CUgraphExec executable);

/* Records of the launches of one run. */
typedef struct gd_recorded_run {
    gd_attached_launch **records;
    uint32_t count;
} gd_recorded_run;

/* Around a run that is executed now; both take the lock. */
gd_recorded_run gd_recordedgraph_begin(gd_CUgraphExec executable, gd_CUstream stream,
                                       bool per_thread);
void gd_recordedgraph_finish(gd_recorded_run *run, gd_CUresult result);

/* In a child process. */
void gd_recordedgraph_forget(void);

#endif
