/* What libgriddep-attach writes about a process and the command reads: a file of records, one
 * behind the other in chunks. Each is written once; its counters go on counting in memory that is
 * the file, so that what a process did is there however the process ended. */
#ifndef GD_BASE_ATTACHED_H
#define GD_BASE_ATTACHED_H

#include <stdint.h>

/* A chunk begins where its multiple of bytes does in the file, and no record crosses its end:
 * behind the last one of a chunk stands a record of kind 0, or nothing. */
enum { GD_ATTACHED_CHUNK = 1 << 18, GD_ATTACHED_VERSION = 6 };

/* The name that a process's file ends with, and that of a copy of a module's image. */
#define GD_ATTACHED_SUFFIX ".attached"
#define GD_ATTACHED_IMAGE ".image"

enum { GD_ATTACHED_SAMPLES = 256 }; /* most times of a kernel that are kept */

#define GD_ATTACHED_NONE UINT32_MAX /* in place of a number of a module, kernel or place */

/* Of each kind the records are numbered as they stand, from 0. */
typedef enum gd_attached_kind {
    GD_ATTACHED_END,
    GD_ATTACHED_PROCESS,
    GD_ATTACHED_OBJECT,
    GD_ATTACHED_PLACE,
    GD_ATTACHED_MODULE,
    GD_ATTACHED_KERNEL,
    GD_ATTACHED_PAIR,
    GD_ATTACHED_GRAPH,
    GD_ATTACHED_NODE,
    GD_ATTACHED_EDGE,
    GD_ATTACHED_MESSAGE,
    GD_ATTACHED_TIMES,
    GD_ATTACHED_ALLOCATION,
    GD_ATTACHED_DATA,
    GD_ATTACHED_LAUNCH,
    GD_ATTACHED_AFTER,
    GD_ATTACHED_SPAN,
    GD_ATTACHED_SHARED,
    GD_ATTACHED_ROW,
    GD_ATTACHED_KINDS
} gd_attached_kind;

typedef struct gd_attached_head {
    uint32_t kind;  /* written last */
    uint32_t bytes; /* of the whole record, a multiple of 8 */
} gd_attached_head;

/* The first record. */
typedef struct gd_attached_process {
    gd_attached_head head;
    uint32_t version; /* GD_ATTACHED_VERSION */
    int32_t pid;
    int32_t driver_version;
    uint32_t early; /* GD_ATTACHED_EARLY_* */
    uint64_t lost;  /* records that there was no room for */
    uint32_t clock; /* GD_ATTACHED_CLOCK_*: who tells when launches begin and end */
    uint32_t reserved;
    char program[]; /* its path */
} gd_attached_process;

enum {
    GD_ATTACHED_EARLY_AS_IS,
    GD_ATTACHED_EARLY_OFF,
    GD_ATTACHED_EARLY_ON,
    GD_ATTACHED_EARLY_REWRITE /* on, with texts that are rewritten */
};

enum { GD_ATTACHED_CLOCK_NONE, GD_ATTACHED_CLOCK_EVENTS, GD_ATTACHED_CLOCK_CUPTI };

/* Something that is loaded: addresses of places lie in it. */
typedef struct gd_attached_object {
    gd_attached_head head;
    uint64_t begin, end, bias; /* bias: what its addresses are behind those of the file */
    char path[];
} gd_attached_object;

/* A place in the program: return addresses, the innermost first. Behind them, as a text, the frames
 * of a Python program as CPython dumps them, each a line. */
typedef struct gd_attached_place {
    gd_attached_head head;
    uint32_t count, reserved;
    uint64_t addresses[];
} gd_attached_place;

typedef struct gd_attached_module {
    gd_attached_head head;
    uint64_t offset, bytes; /* of the image in the file */
    uint32_t rewritten;     /* 1: it has waits and triggers that the program's did not */
    uint32_t reserved;
    char path[]; /* of the image: in the folder of this file where it has no slash; empty: none */
} gd_attached_module;

/* Launches that were executed in streams are counted by pairs, of which they are the second. */
typedef struct gd_attached_counts {
    uint64_t captured;                     /* that went into a graph */
    uint64_t trigger_events, begin_events; /* of those in streams too: 7 and 12 */
    uint64_t cooperative;
    uint64_t left;    /* launches that wait and were given none, for what they touch before */
    uint64_t changed; /* launches of which attributes were taken, or that were given one */
} gd_attached_counts;

/* What a launch takes, and what each multiprocessor of its device has. */
typedef struct gd_attached_shape {
    uint64_t grid;      /* CTAs */
    uint32_t threads;   /* of a CTA */
    uint32_t registers; /* of a thread */
    uint32_t shared;    /* of a CTA: static, dynamic and what the driver keeps */
    int32_t carveout;   /* percent; -1: the driver's choice */
    uint32_t multiprocessors;
    uint32_t most_blocks, most_threads, most_registers, most_shared; /* 0: not known */
    uint32_t reserved;
} gd_attached_shape;

/* Of a kernel's first 32 parameters, a bit each. */
typedef struct gd_attached_parameters {
    uint32_t known;         /* 1: the driver was asked for the sizes */
    uint32_t addresses;     /* 8 bytes: may be one */
    uint32_t large;         /* 128 bytes, as a tensor map has */
    uint32_t maps, structs; /* of these: was a map in a launch; was none */
    uint32_t reserved;
} gd_attached_parameters;

typedef struct gd_attached_kernel {
    gd_attached_head head;
    gd_attached_shape shape; /* of the first launch */
    uint32_t module;
    uint32_t first_plain, first_early; /* places of the first launch without and with attribute 6 */
    uint32_t binary;                   /* 90 for sm_90 */
    gd_attached_parameters parameters;
    gd_attached_counts counts;
    char name[];
} gd_attached_kernel;

/* Times of a kernel's launches, by events. */
typedef struct gd_attached_times {
    gd_attached_head head;
    uint32_t kernel, kept;
    uint64_t count, stride; /* how many there are, of which each stride-th is kept */
    double total_us;
    float us[GD_ATTACHED_SAMPLES];
} gd_attached_times;

/* What stood in a stream between two kernels: bits. */
enum {
    GD_ATTACHED_COPY = 1,
    GD_ATTACHED_FILL = 2,
    GD_ATTACHED_HOST = 4,
    GD_ATTACHED_RECORD = 8,  /* of an event */
    GD_ATTACHED_WAIT = 16,   /* for an event */
    GD_ATTACHED_MEMORY = 32, /* allocated or freed in stream order */
    GD_ATTACHED_GRAPH_RUN = 64,
    GD_ATTACHED_OTHER = 128,
    GD_ATTACHED_DEFAULT_STREAM = 256, /* work in the default stream, which all others wait for */
    GD_ATTACHED_SYNCHRONIZED = 512    /* the host waited for the first kernel's end */
};

/* Two launches that followed each other in a stream. */
typedef struct gd_attached_pair {
    gd_attached_head head;
    uint32_t first, second; /* kernels; first NONE: nothing before it in the stream */
    uint32_t between;
    uint32_t early;              /* 1: the second has attribute 6 */
    uint32_t compared, reserved; /* compared: 1: what some of them were given */
    uint64_t count;
    uint64_t timed; /* of these, with the time between: the first's end to the second's begin */
    double between_us;
} gd_attached_pair;

/* All executable graphs with these nodes and edges. */
typedef struct gd_attached_graph {
    gd_attached_head head;
    uint64_t changed; /* edges that were made plain when they were instantiated */
    uint64_t launches;
} gd_attached_graph;

/* How many nodes of a graph launch a kernel; early: of these, those that a programmatic edge leads
 * to. */
typedef struct gd_attached_node {
    gd_attached_head head;
    uint32_t graph, kernel;
    uint64_t count, early;
} gd_attached_node;

/* Edges of a graph from a kernel to another, or two of them with another node between. */
typedef struct gd_attached_edge {
    gd_attached_head head;
    uint32_t graph, first, second;
    uint32_t between;    /* 0, or one of the bits above */
    uint32_t type, port; /* of CUgraphEdgeData; 0 where the driver does not tell */
    uint64_t count;
} gd_attached_edge;

/* Memory that a launch was given an address of. */
typedef struct gd_attached_allocation {
    gd_attached_head head;
    uint64_t address, bytes;
} gd_attached_allocation;

/* What an allocation held. */
typedef struct gd_attached_data {
    gd_attached_head head;
    uint32_t allocation;
    uint32_t launch;   /* before this one; expected: behind the one before it */
    uint32_t expected; /* 1: launches alone have written to it since it was kept before */
    int32_t value;     /* of all bytes; -1: they are in the file */
    char path[];       /* as a module's */
} gd_attached_data;

typedef struct gd_attached_argument {
    uint32_t bytes;
    uint32_t allocation; /* that it is an address in; NONE */
    uint64_t offset;     /* there; else of the value, behind arguments and addresses */
} gd_attached_argument;

/* An address in the value of an argument that is no address as a whole. */
typedef struct gd_attached_address {
    uint32_t argument, at; /* at: byte of its value */
    uint32_t allocation, reserved;
    uint64_t offset; /* there */
} gd_attached_address;

/* A launch that is to be run again. Behind the arguments stand the addresses in their values, then
 * the values of all, each at a multiple of 8 bytes.
 *
 * One without a kernel is a copy or a fill of a graph: the first argument is the target. Of a copy
 * a second one is the source, or a text behind it the file of what is copied. */
typedef struct gd_attached_launch {
    gd_attached_head head;
    uint32_t kernel;
    uint32_t taken; /* 1: by the driver */
    uint32_t grid[3], block[3], cluster[3];
    uint32_t shared;
    uint32_t early, cooperative;
    uint32_t lane;  /* a number for its stream, from 0 */
    uint32_t value; /* of each byte, of a fill; GD_ATTACHED_NONE: it is a copy */
    uint32_t argument_count, address_count;
    gd_attached_argument arguments[];
} gd_attached_launch;

/* Of two recorded launches in different streams: the first has ended when the second begins. */
typedef struct gd_attached_after {
    gd_attached_head head;
    uint32_t launch, before;
} gd_attached_after;

/* A launch that ran, or with GD_ATTACHED_CLOCK_EVENTS a run of a graph. */
typedef struct gd_attached_span {
    gd_attached_head head;
    uint32_t lane;       /* a number for its stream, from 0 */
    uint32_t graph;      /* 1: by a graph */
    uint64_t begin, end; /* nanoseconds of one clock of the process */
    char kernel[];       /* its name; empty: a graph */
} gd_attached_span;

/* Kernels that followed each other directly, of which all but the first started early: then the
 * last one may run beside the first. */
enum { GD_ATTACHED_ROW_MOST = 4 };

typedef struct gd_attached_row {
    gd_attached_head head;
    uint32_t kernels[GD_ATTACHED_ROW_MOST];
    uint32_t count, reserved; /* at least three */
    uint64_t times;
} gd_attached_row;

/* Two kernels of such a row, or that followed each other so, of which the second was given an
 * address of memory that the first was given too. */
typedef struct gd_attached_shared {
    gd_attached_head head;
    uint32_t first, second; /* kernels */
    uint32_t first_parameter, second_parameter;
    uint32_t assumed; /* 1: other addresses in one allocation, and nothing tells how far the one
                       * reaches that begins first */
    uint32_t reserved;
} gd_attached_shared;

/* A warning for the user. */
typedef struct gd_attached_message {
    gd_attached_head head;
    char text[];
} gd_attached_message;

#endif
