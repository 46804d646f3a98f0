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
    {.rank = "PMI_RANK",
     .count = "PMI_SIZE",
     .here = "MPI_LOCALNRANKS",
     .machines = "SLURM_STEP_NUM_NODES",
     .job = {"PMI_JOBID"}},
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

/* Whether processes are of several machines, by the first variable that is there; without one they
 * are of this one. */
static int32_t read_machines(const launcher *of, uint32_t count, bool *several,
                             griddep_error *error)
{
    const bool tells_here = of->here && gd_environment(of->here);
    const char *name = tells_here ? of->here : of->machines;
    const uint32_t one = tells_here ? count : 1;
    uint32_t told = one;
    int32_t status =
        name && gd_environment(name) ? read_number(name, of->rank, &told, error) : GRIDDEP_OK;

    *several = told != one;
    return status;
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

/* What processes of a job have in common. */
static void digest_job(const launcher *of, bool port_too, char hex[65])
{
    const char *const names[] = {of->job[0], of->job[1], port_too ? "MASTER_ADDR" : NULL,
                                 port_too ? "MASTER_PORT" : NULL};
    gd_digest digest;
    uint8_t result[32];

    gd_digest_begin(&digest);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = names[i] ? gd_environment(names[i]) : NULL;
        gd_digest_add_string(&digest, value ? value : "");
    }
    gd_digest_end(&digest, result);
    gd_digest_hex(result, hex);
}

/* A socket in the file system, which follows from the job and the port. */
static int32_t make_path(const launcher *of, char place[GD_LAUNCHED_PLACE], griddep_error *error)
{
    char hex[65], folder[64];

    if (!(of->job[0] && gd_environment(of->job[0])) && !gd_environment("MASTER_PORT"))
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "%s is set, but nothing that tells jobs apart: set MASTER_ADDR and "
                            "MASTER_PORT to the same for all processes, or give a path",
                            of->rank);
    int32_t status = make_folder(folder, error);
    digest_job(of, true, hex);
    if (!status)
        gd_format(place, GD_LAUNCHED_PLACE, "%s/%.32s", folder, hex);
    return status;
}

/* Whoever torchrun starts finds PyTorch's own store at MASTER_PORT. */
static int32_t make_remote(const launcher *of, char place[GD_LAUNCHED_PLACE], griddep_error *error)
{
    const char *address = gd_environment("MASTER_ADDR");
    uint32_t port = 0;
    char hex[65];

    if (!address || !gd_environment("MASTER_PORT"))
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "%s tells of processes of several machines, and %s is not set: they "
                            "meet where MASTER_ADDR and MASTER_PORT say, the machine of rank 0 and "
                            "a port that is free there",
                            of->rank, address ? "MASTER_PORT" : "MASTER_ADDR");
    int32_t status = read_number("MASTER_PORT", "MASTER_ADDR", &port, error);
    if (status)
        return status;
    if (gd_environment("TORCHELASTIC_RUN_ID"))
        port++;
    if (!port || port > UINT16_MAX || strlen(address) > 253)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "MASTER_ADDR and MASTER_PORT are no address: port %" PRIu32, port);
    digest_job(of, false, hex);
    const bool brackets = strchr(address, ':') != NULL;
    gd_format(place, GD_LAUNCHED_PLACE, "tcp://%s%s%s:%" PRIu32 "/%.32s", brackets ? "[" : "",
              address, brackets ? "]" : "", port, hex);
    return GRIDDEP_OK;
}

int32_t gd_launched_read(uint32_t *rank, uint32_t *count, char place[GD_LAUNCHED_PLACE],
                         griddep_error *error)
{
    const launcher *of = NULL;
    uint32_t its = 0, all = 0;
    bool several = false;
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
        status = read_machines(of, all, &several, error);
    if (!status)
        status = several ? make_remote(of, place, error) : make_path(of, place, error);
    if (status)
        return status;
    *rank = its;
    *count = all;
    return GRIDDEP_OK;
}
