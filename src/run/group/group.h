/* A group: the members' runtimes, memory that all members reach, kernels of hops between them, and
 * what each member's chains do in the group, which is compared before they run. */
#ifndef GD_RUN_GROUP_H
#define GD_RUN_GROUP_H

#include <pthread.h>
#include <stdatomic.h>

#include "griddep.h"
#include "run/group/meet.h"
#include "run/runtime.h"

enum {
    GD_GROUP_MOST = 32,     /* members: sets of them have 32 bits */
    GD_GROUP_BLOCKS = 128,  /* of a hop's grid, */
    GD_GROUP_THREADS = 256, /* each; together as many threads as a row of the inbox has packets */
    GD_GROUP_PACKET = 12,   /* bytes of data that a thread sends at a time; 16 with its flag */
    GD_GROUP_PROGRAMS = 64, /* of a member that can be compared at a time */
    GD_GROUP_STEPS = 64,    /* of a program that are told one by one; the digest has all */
    GD_GROUP_CROSSING = 14 << 20, /* bytes that take as long by either way between two H200 */
    GD_GROUP_SPARED = 256 << 10   /* bytes whose sending takes as long as one more way to a peer */
};

/* What members of several processes say before they make communicators, in place of the bytes that
 * they allocate. */
enum { GD_GROUP_WORD_NCCL = 0x6363636e };

/* How a hop is carried out: a member's words go to all others at once; sums of a part each, which
 * are handed on in the same launch; by NCCL. */
enum { GD_CARRIER_ONE_STEP, GD_CARRIER_TWO_STEPS, GD_CARRIER_NCCL };

enum { GD_KERNEL_MOVE, GD_KERNEL_BF16, GD_KERNEL_F16, GD_KERNEL_F32, GD_GROUP_KERNELS };

/* What a hop is; all members say the same, but for whom an exchange goes to and comes from. */
typedef struct gd_group_step {
    int32_t operation; /* GRIDDEP_HOP_* */
    int32_t type;      /* GRIDDEP_TENSOR_* */
    uint64_t count;
    int32_t root, to, from; /* GRIDDEP_NO_MEMBER where there is none */
} gd_group_step;

/* What a member says about one of its chains, where others can read it. */
typedef struct gd_group_page {
    _Atomic uint32_t number; /* of the chain, from 1; 0: nothing is said */
    atomic_bool disputed;    /* another member has found a difference */
    uint32_t count, known;   /* hops, and how many of them stand here */
    uint8_t digest[32];
    gd_group_step steps[GD_GROUP_STEPS];
} gd_group_page;

typedef struct gd_group_member {
    griddep_runtime *runtime; /* held; NULL: another process has it */
    uint64_t state;           /* memory of its own: a failure, and counters of blocks */
    uint64_t *record;         /* of the host: a kernel writes it when it gives a member up */
    uint32_t programs;        /* chains with hops that there were */
    gd_group_page *pages;     /* GD_GROUP_PROGRAMS, on the board */
    griddep_module *modules[GD_GROUP_KERNELS]; /* loaded when they are first needed; the handle's */
} gd_group_member;

typedef struct gd_group_buffer {
    uint64_t bytes;
    uint64_t addresses[GD_GROUP_MOST]; /* by member */
} gd_group_buffer;

typedef struct gd_group_nccl gd_group_nccl;

/* Held by the program, by programs of chains, and by each module, so that memory stays as long as a
 * kernel that uses it may run. */
struct griddep_group {
    atomic_uint references;
    uint32_t count, timeout_ms, multiprocessors;
    uint32_t rank;        /* of the first member of this process */
    gd_meeting *meeting;  /* with members of other processes; NULL: all are of this one */
    gd_group_page *board; /* pages of all members, which all processes have; NULL */
    gd_group_member *members;
    gd_group_buffer *buffers; /* the first one is the inbox */
    uint32_t buffer_count;
    int32_t nccl;         /* GRIDDEP_NCCL_*; OFF where it turned out not to be there */
    uint64_t nccl_bytes;  /* from so many on; 0: by the operation and the crossing */
    uint64_t crossing;    /* from so many bytes on NCCL is faster between two members; member 0's */
    gd_group_nccl *large; /* made by the first hop that it carries out; NULL */
    bool apart;           /* members do not reach each other's memory: each hop is NCCL's */
    gd_group_step *steps; /* of all hops, by the number that the record tells */
    uint32_t step_count, step_capacity;
    pthread_mutex_t mutex; /* guards modules, buffers, steps, numbers of programs and NCCL */
    bool mutex_ready;
};

/* The hops that a chain has in a group. */
typedef struct gd_group_program {
    struct gd_group_program *next;
    griddep_group *group; /* held */
    uint32_t member, number, lane;
    gd_group_step *steps;
    uint32_t count, capacity;
    bool told; /* the others can read it as it is, and it agrees with theirs */
} gd_group_program;

griddep_group *gd_group_hold(griddep_group *group);
void gd_group_release(griddep_group *group);

/* A member's kernel: GD_KERNEL_*. */
int32_t gd_group_get_kernel(griddep_group *group, uint32_t member, uint32_t which,
                            griddep_kernel **kernel, griddep_error *error);

/* Copies each member's inbox address, 0 where there is no member. */
void gd_group_get_inboxes(griddep_group *group, uint64_t inboxes[GD_GROUP_MOST]);

/* PEER where the kernels of a member of this process have given one up. */
int32_t gd_group_read_records(const griddep_group *group, griddep_error *error);

/* "all_reduce", and "all_reduce of 64 bf16" */
const char *gd_group_hop_name(int32_t operation);
const char *gd_group_step_text(const gd_group_step *step, char text[64]);

/* ---- crossing.c */

/* What the runtime's store remembers of hops between two devices like its own; else the built-in
 * one. */
uint64_t gd_group_recall_crossing(const griddep_runtime *runtime);

/* FILE where there is no store, or it cannot be written. */
int32_t gd_group_remember_crossing(const griddep_runtime *runtime, uint64_t bytes,
                                   griddep_error *error);

/* ---- large.c */

/* Makes NCCL carry out every hop; all members do so. */
int32_t gd_group_part(griddep_group *group, griddep_error *error);

/* Where a caller demands NCCL, whether it can serve the group. */
int32_t gd_group_check_nccl(const griddep_group *group, griddep_error *error);

/* What carries out a hop with so many bytes a part: GD_CARRIER_*, the same on all members. NCCL's
 * first hop makes communicators; members of other processes take part in that. */
int32_t gd_group_choose(griddep_group *group, const gd_group_step *step, uint64_t bytes,
                        int32_t *carrier, griddep_error *error);

/* NCCL's call of a member into a stream; the context is current. Of a broadcast, source is not
 * read. */
int32_t gd_group_call_nccl(const griddep_group *group, uint32_t member, const gd_group_step *step,
                           uint64_t bytes, uint64_t source, uint64_t target, gd_CUstream stream,
                           griddep_error *error);

/* PEER where a communicator has failed. */
int32_t gd_group_ask_nccl(const griddep_group *group, griddep_error *error);

/* All devices are done. `abandoned`: nothing may be asked of the driver, nor of NCCL. */
void gd_group_end_nccl(griddep_group *group, bool abandoned);

/* ---- agree.c */

/* Tells the others what the chains do in the group and compares it with what they have told. PEER
 * where that differs, or a member was given up. */
int32_t gd_group_agree(gd_group_program *programs, griddep_error *error);

/* What a member of another machine has told: its page, of the group `user`. */
void gd_group_hear(void *user, uint32_t rank, const gd_meeting_word *word);
void gd_group_end_programs(gd_group_program *programs);

/* The program of a chain in a group, made where there is none; and one more hop of it. */
int32_t gd_group_find_program(gd_group_program **programs, griddep_group *group, uint32_t member,
                              uint32_t lane, gd_group_program **found, griddep_error *error);
int32_t gd_group_add_step(gd_group_program *program, const gd_group_step *step, uint32_t *number,
                          griddep_error *error);
void gd_group_drop_step(gd_group_program *program); /* the last one, which did not come to be */

#endif
