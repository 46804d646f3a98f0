/* Random sequences of public calls: the world that they work on, and what each call shares. See
 * sequences.c. */
#ifndef TESTS_FUZZ_SEQUENCES_H
#define TESTS_FUZZ_SEQUENCES_H

#include <stdbool.h>
#include <stdint.h>

#include "griddep.h"
#include "emulator/api.h"

/* What a program holds. */
typedef enum item_kind {
    ITEM_RUNTIME,
    ITEM_MODULE,
    ITEM_KERNEL, /* goes with its module */
    ITEM_PTX,
    ITEM_CHAIN,
    ITEM_GRAPH,
    ITEM_STREAM,
    ITEM_EVENT,
    ITEM_MEMORY,
    ITEM_CUDA_GRAPH, /* that the program captured by itself */
    ITEM_EXPLANATION,
    ITEM_FINDINGS,
    ITEM_TIMELINE,
    ITEM_TUNE,
    ITEM_KINDS
} item_kind;

enum { PLACES = 5, MOST_GRAPHS = 64, BUFFER = 4096 };

typedef struct item {
    void *handle; /* NULL: none */
    uint64_t address;
    uint32_t module; /* of a kernel: the place and the number of its module */
    uint32_t module_number;
    uint32_t number; /* counts what has been in the place */
    uint32_t graph;  /* of a graph: its number in the sequence */
    bool held;       /* of a CUgraph: all its kernels were launched by the library */
    uint32_t users;
    bool exclusive;
} item;

typedef struct world world;

/* Who makes calls: one thread. */
typedef struct actor {
    world *world;
    uint64_t random;
    item *taken[64];
    bool taken_alone[64];
    uint32_t taken_count;
    uint64_t graphs_written;
    griddep_error error;
    bool prints;
} actor;

/* ---- sequences.c */

uint32_t below(actor *by, uint32_t limit); /* 0 to limit - 1 */
bool one_in(actor *by, uint32_t count);

/* An object of a kind that nobody else uses (alone), or that others may use too; NULL where there
 * is none. It is given back at the end of the step. */
item *pick(actor *by, item_kind kind, bool alone);

uint32_t index_of(actor *by, const item *module); /* its place */

/* A place for a new object, which is empty still; NULL. */
item *place(actor *by, item_kind kind);

/* The object of the place is gone. */
void empty(item *ended);

/* A graph that is used; false where another thread uses it. */
bool take_graph(actor *by, item *graph);

/* A new graph gets a number; false when all are used up. */
bool number_graph(actor *by, item *graph);

/* The driver's primary context, current for the calls between. */
void enter_driver(actor *by);
void leave_driver(actor *by);

/* Whether a graph may outlive all that the program has of the library. */
typedef enum capture_note {
    CAPTURE_BEGINS,
    CAPTURED_BY_PROGRAM,
    RUNTIME_ENDS,
    CAPTURE_OPEN,
    CAPTURE_NOTES
} capture_note;

void note_capture(actor *by, capture_note what);

/* Whether a kernel has ended the context. */
bool context_is_lost(void);

void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Notes a call, and prints it where calls are printed. */
typedef enum public_call {
#define GD_PUBLIC(name) CALL_##name,
#include "tests/fuzz/sequences_public.inc"
#undef GD_PUBLIC
    PUBLIC_CALLS
} public_call;

void note(actor *by, public_call which);
griddep_error *fresh_error(actor *by);

/* A status must be one, and the error must agree with it. */
int32_t check_status(actor *by, int32_t status);

#define USE(name) (note(by, CALL_##name), name)
#define E fresh_error(by)
#define CHECK(name, ...) check_status(by, USE(name)(__VA_ARGS__))

/* ---- sequences_steps.c */

typedef struct step_kind {
    const char *name;
    uint32_t weight;
    void (*take)(actor *by);
} step_kind;

extern const step_kind step_kinds[];
extern const uint32_t step_kind_count;

/* What each thread begins with. */
extern const step_kind first_steps[];
extern const uint32_t first_step_count;

/* Ends the capture of a stream, if there is one; only the thread that began it may. */
void end_open_capture(actor *by, item *stream);

/* Ends the object of a place, whatever it is. */
void end_item(actor *by, item_kind kind, item *ended);

/* ---- sequences_streams.c */

void copy_in_stream(actor *by);
void notify_in_stream(actor *by);
void ask_streams(actor *by);
void ask_devices(actor *by);

/* ---- sequences_queries.c */

void ask_static(actor *by);
void ask_about(actor *by);
void work_on_ptx(actor *by);
void make_attributes(actor *by, griddep_attribute *attributes, uint32_t *count);

extern const char *const ptx_texts[];
extern const uint32_t ptx_text_count;
extern char ptx_path[]; /* of a file with the first of them */

#endif
