/* Ranks that launchers give by the environment, and a place to meet that follows from it. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/format.h"
#include "run/group/launched.h"

/* A launcher's variables. `here`: processes of this machine; `machines`: how many there are; `job`:
 * what the processes of a job have in common. NULL: it tells none. */
typedef struct launcher {
    const char *rank, *count, *here, *machines, *job[2];
} launcher;

/* Who may be started by another one comes before it. */
static const launcher launchers[] = {
    {.rank = "RANK",
     .count = "WORLD_SIZE",
     .here = "LOCAL_WORLD_SIZE",
     .job = {"TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT"}},
    {.rank = "OMPI_COMM_WORLD_RANK",
     .count = "OMPI_COMM_WORLD_SIZE",
     .here = "OMPI_COMM_WORLD_LOCAL_SIZE",
     .job = {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"}},
    {.rank = "PMI_RANK", .count = "PMI_SIZE", .here = "MPI_LOCALNRANKS", .job = {"PMI_JOBID"}},
    {.rank = "SLURM_PROCID",
     .count = "SLURM_NTASKS",
     .machines = "SLURM_STEP_NUM_NODES",
     .job = {"SLURM_JOB_ID", "SLURM_STEP_ID"}},
};

static int32_t find_launcher(const launcher **found, griddep_error *error)
{
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        if (gd_environment(launchers[i].rank) || gd_environment(launchers[i].count)) {
            *found = &launchers[i];
            return GRIDDEP_OK;
        }
    }
    return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                        "path is NULL, and no launcher has set RANK and WORLD_SIZE, "
                        "OMPI_COMM_WORLD_RANK and _SIZE, PMI_RANK and PMI_SIZE, or SLURM_PROCID "
                        "and SLURM_NTASKS");
}

/* `other` is set beside it. */
static int32_t read_number(const char *name, const char *other, uint32_t *number,
                           griddep_error *error)
{
    const char *text = gd_environment(name);
    uint64_t value = 0;

    if (!text)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "%s is set, and %s is not", other, name);
    const size_t digits = strspn(text, "0123456789");
    for (size_t i = 0; i < digits && value <= UINT32_MAX; i++)
        value = value * 10 + (uint64_t)(text[i] - '0');
    if (text[digits] || value > UINT32_MAX)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "%s is \"%s\", which is no number", name,
                            text);
    *number = (uint32_t)value;
    return GRIDDEP_OK;
}

/* Processes of one machine can share memory. */
static int32_t check_machine(const launcher *of, uint32_t count, griddep_error *error)
{
    const char *name = of->here ? of->here : of->machines;
    uint32_t told = of->here ? count : 1;
    int32_t status = gd_environment(name) ? read_number(name, of->rank, &told, error) : GRIDDEP_OK;

    if (status || told == (of->here ? count : 1))
        return status;
    return gd_error_set(error, GRIDDEP_ERROR_UNSUPPORTED,
                        "%s is %" PRIu32 " and %s %" PRIu32
                        ": processes of several machines are no group",
                        of->count, count, name, told);
}

/* A folder that others cannot write to. */
static int32_t make_folder(char folder[64], griddep_error *error)
{
    struct stat about;

    gd_format(folder, 64, "/tmp/griddep-%" PRIu32, (uint32_t)geteuid());
    if (mkdir(folder, 0700) && errno != EEXIST)
        return gd_error_set(error, GRIDDEP_ERROR_FILE, "%s: %s", folder, strerror(errno));
    if (lstat(folder, &about) || !S_ISDIR(about.st_mode) || about.st_uid != geteuid() ||
        about.st_mode & 077)
        return gd_error_set(error, GRIDDEP_ERROR_FILE,
                            "%s is no folder that its user alone can use, for processes to meet "
                            "in: remove it, or give a path",
                            folder);
    return GRIDDEP_OK;
}

/* By the job, and by the port of which torchrun and others tell. */
static int32_t make_path(const launcher *of, char path[108], griddep_error *error)
{
    const char *common[] = {of->job[0], of->job[1], "MASTER_ADDR", "MASTER_PORT"};
    bool any = false;
    gd_digest digest;
    uint8_t result[32];
    char hex[65], folder[64];

    gd_digest_begin(&digest);
    for (size_t i = 0; i < sizeof common / sizeof *common; i++) {
        const char *value = common[i] ? gd_environment(common[i]) : NULL;
        any = any || (value && i != 1 && i != 2); /* these alone may be the same in other jobs */
        gd_digest_add_string(&digest, value ? value : "");
    }
    gd_digest_end(&digest, result);
    gd_digest_hex(result, hex);
    if (!any)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "%s is set, but nothing that tells jobs apart: set MASTER_ADDR and "
                            "MASTER_PORT to the same for all processes, or give a path",
                            of->rank);
    int32_t status = make_folder(folder, error);
    if (!status)
        gd_format(path, 108, "%s/%.32s", folder, hex);
    return status;
}

int32_t gd_launched_read(uint32_t *rank, uint32_t *count, char path[108], griddep_error *error)
{
    const launcher *of = NULL;
    uint32_t its = 0, all = 0;
    int32_t status = find_launcher(&of, error);

    if (!status)
        status = read_number(of->rank, of->count, &its, error);
    if (!status)
        status = read_number(of->count, of->rank, &all, error);
    if (!status && its >= all)
        status = gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                              "%s is %" PRIu32 " and %s %" PRIu32 "; ranks are from 0 on", of->rank,
                              its, of->count, all);
    if (!status)
        status = check_machine(of, all, error);
    if (!status)
        status = make_path(of, path, error);
    if (status)
        return status;
    *rank = its;
    *count = all;
    return GRIDDEP_OK;
}
