/* A plan realised on a runtime: modules loaded, buffers on the device and their host images, the
 * chain put together. */
#ifndef GD_CLI_SESSION_H
#define GD_CLI_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "griddep.h"

#include "cli/plan/plan.h"
#include "measure/experiment.h"

typedef struct gd_session {
    const gd_plan *plan;
    griddep_runtime *runtime; /* borrowed */
    griddep_module **modules;
    griddep_chain *chain;
    void *stream;
    uint64_t *addresses;       /* of the buffers */
    griddep_tensor_map **maps; /* by launch and argument; NULL: a launch without any */
    void **images;             /* what each buffer holds before a run */
    gd_experiment_buffer *buffers;
    uint32_t *writers;        /* of the buffers: 1 + the last launch that writes it; 0: none does */
    gd_experiment experiment; /* with the buffers that the chain writes, or of which it expects
                               * something */
    uint32_t multiprocessors; /* of the device */
    bool emulated;            /* the driver is the one in software */
    const char *beside; /* its file, where other chains run on the runtime too, so that the driver's
                         * numbers of launches are not its own; NULL: it is alone */
} gd_session;

/* Realises the plan. pdl: GRIDDEP_PDL_* for launches that say nothing. Returns 0, or an exit code
 * after a message; the session is to be closed either way. Needs a finished plan. */
int gd_session_open(gd_session *session, const gd_plan *plan, griddep_runtime *runtime,
                    int32_t pdl);

/* Appends a launch of the plan to a chain, with what the plan says of it: with this kernel and
 * configuration or, where kernel is NULL, the copy or fill that it is. */
int32_t gd_session_add(const gd_session *session, const gd_plan_launch *launch,
                       griddep_kernel *kernel, const griddep_launch_config *config,
                       griddep_chain *chain, griddep_error *error);

/* Puts the buffers that the chain writes back to their images. */
int gd_session_reset(gd_session *session);

/* As gd_experiment_find_state. */
int gd_session_find_state(gd_session *session);

/* Runs the chain from these once in a mode, and reads what it left into `results`: the
 * experiment's `serial` or `got`. */
int gd_session_run(gd_session *session, int32_t mode, void **results);

/* The message of an error of the session's experiment, in a run of a mode; the exit code. */
int gd_session_report_error(const gd_session *session, int32_t mode, const griddep_error *error);

/* The same of any error, with what was tried (NULL: nothing to say). A fault of the emulated driver
 * is told with the file, and the number that the launch has in the chain. */
int gd_session_report(const gd_session *session, const griddep_error *error, const char *doing);

void gd_session_close(gd_session *session);

#endif
