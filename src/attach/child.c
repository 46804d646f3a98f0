/* What is observed ends in a child process. */
#include <pthread.h>

#include "attach/executables.h"
#include "attach/kernels.h"
#include "attach/lanes.h"
#include "attach/place.h"
#include "attach/pointers.h"
#include "attach/record.h"
#include "attach/recordedgraph.h"
#include "attach/recording.h"
#include "attach/spans.h"
#include "attach/streams.h"
#include "attach/times.h"

/* A driver does not go on working in a child; what the child does anew has a file of its own. */
static void in_child(void)
{
    gd_kernels_forget();
    gd_streams_forget();
    gd_executables_forget();
    gd_pointers_forget();
    gd_place_forget();
    gd_times_forget();
    gd_spans_forget();
    gd_recording_forget();
    gd_lanes_forget();
    gd_recordedgraph_forget();
    gd_record_forget();
}

__attribute__((constructor)) static void begin(void)
{
    pthread_atfork(NULL, NULL, in_child);
}
