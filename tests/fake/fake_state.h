/* The inside of the fake driver, shared by its files: the state, what it is made of, and the
 * actions behind the entry points. An action runs under the lock, after the call has been recorded
 * and its context checked. */
#ifndef FAKE_STATE_H
#define FAKE_STATE_H

#include <pthread.h>
#include <stdbool.h>

#include "cuda/driver_rows.h"
#include "fake_driver.h"
#include "fake_image.h"

enum {
    DEVICES = 8,
    ATTRIBUTES = 160,
    STACK_DEPTH = 32,
    FAILURES = 32,
    KERNELS = 64,
    LAUNCH_ATTRIBUTES = 32,
    NANOSECONDS_PER_OPERATION = 1000
};

enum {
#define GD_DRIVER(symbol, name, version, need, offer, variant, arguments)                          \
    GD_WHERE_USED(need, SYMBOL_##name, )
#include "cuda/driver.def"
#undef GD_DRIVER
    SYMBOLS
};

typedef enum fake_kind {
    CONTEXT,
    MODULE,
    FUNCTION,
    MEMORY,
    STREAM,
    EVENT,
    GRAPH,
    EXECUTABLE,
    USER,
    KINDS
} fake_kind;

/* What a graph is made of; also, before it is decided whether to run it or to capture it, one piece
 * of work. */
typedef struct fake_node {
    void *handle;
    gd_CUgraphNodeType type;
    fake_launch launch;            /* KERNEL */
    gd_CUdeviceptr target, source; /* MEMCPY and MEMSET; host addresses as numbers */
    size_t bytes;
    unsigned char value;
    gd_CUhostFn *function; /* HOST */
    void *user;
    struct fake_body *child; /* GRAPH; owned */
    void *event;             /* WAIT_EVENT, EVENT_RECORD */
    gd_CUgraph *bodies;      /* CONDITIONAL; owned, NULL in copies */
    size_t body_count;
    uint64_t conditional; /* its handle */
    bool disabled;        /* in an executable */
} fake_node;

typedef struct fake_edge {
    size_t from, to;
    gd_CUgraphEdgeData data;
} fake_edge;

typedef struct fake_body {
    fake_node *nodes;
    size_t node_count;
    fake_edge *edges;
    size_t edge_count;
    uint64_t handles;           /* of conditionals, 1 to this */
    uint32_t *initial;          /* of each */
    void *outermost;            /* of a conditional node's body: the graph whose handles it has */
    struct fake_object **users; /* user objects, each as often as it is owned */
    size_t user_count;
} fake_body;

/* Whatever has a handle. MEMORY has its address for one. */
typedef struct fake_object {
    struct fake_object *next;
    fake_kind kind;
    void *handle;
    void *context; /* handle of the context that it was made in; NULL: of none */
    union {
        struct {
            int device;
            bool primary;
            gd_CUresult fault;
        } context;
        fake_image module;
        struct {
            struct fake_object *module;
            const fake_entry *entry;
            int dynamic_shared;
            int carveout;
            int non_portable_cluster;
        } function;
        struct {
            size_t bytes;
            struct fake_object *module; /* of a variable; NULL: allocated */
            size_t variable;
        } memory;
        struct {
            unsigned flags;
            gd_CUstreamCaptureStatus status;
            gd_CUstreamCaptureMode mode;
            pthread_t thread;
            void *graph; /* handle that the captured graph will have */
            void *tip;   /* the node that was captured last */
            fake_body body;
        } stream;
        struct {
            unsigned flags;
            bool recorded;
            void
                *capture; /* handle of the stream in whose capture it was recorded; NULL: in none */
            uint64_t time;
        } event;
        fake_body graph;
        struct {
            gd_CUhostFn *destroy;
            void *user;
            size_t references;
        } user;
    } is;
} fake_object;

typedef struct fake_failure {
    int symbol; /* -1: any */
    uint64_t left;
    gd_CUresult result;
} fake_failure;

typedef struct fake_kernel_script {
    char *name;
    fake_kernel function;
    void *user;
} fake_kernel_script;

typedef struct fake_launch_list {
    fake_launch *items;
    size_t count, capacity;
} fake_launch_list;

enum { FAKE_JIT_OPTIONS = 64 };

struct fake_state {
    void (*write_map)(void *bytes,
                      const gd_tensor_map *map); /* NULL: an encoding of the fake's own */
    bool ready;                                  /* the defaults have been set */
    bool initialized;
    unsigned generation; /* of resets: a thread's stack from before one is empty */
    int version;
    bool jit_given[FAKE_JIT_OPTIONS]; /* by the last load */
    uint64_t jit_values[FAKE_JIT_OPTIONS];
    int device_count;
    int attributes[ATTRIBUTES];
    size_t memory_bytes;
    size_t memory_used;
    unsigned retains[DEVICES];
    uint64_t next_handle;
    uint64_t clock; /* ns */
    bool forgets;   /* in a reset: no function of a program's is called */
    fake_object *objects;
    fake_call *calls;
    size_t call_count, call_capacity;
    uint64_t symbol_calls[SYMBOLS];
    fake_failure failures[FAILURES];
    size_t failure_count;
    bool hidden[SYMBOLS];
    fake_kernel_script kernels[KERNELS];
    size_t kernel_count;
    fake_launch_list launches, executions;
};

extern struct fake_state fake_state;

/* fake_state.c: an object is found while its context lives. fake_context_check tells why no work
 * can be done in the calling thread's current context: none, destroyed, or lost to a fault. */
void fake_state_set_defaults(void);
void fake_lock(void);
void fake_unlock(void);
int fake_capability(void);
void *fake_handle_create(void);
fake_object *fake_object_create(fake_kind what, void *context);
fake_object *fake_object_find(fake_kind what, const void *handle);
void fake_object_end(fake_object *o);
gd_CUresult fake_handle_end(fake_kind what, void *handle);
void *fake_context_handle(void);
fake_object *fake_context_current(void);
gd_CUresult fake_context_check(void);
size_t fake_context_depth(void);
gd_CUresult fake_do_push(gd_CUcontext context);
gd_CUresult fake_do_pop(gd_CUcontext *context);
gd_CUresult fake_do_set_current(gd_CUcontext context);

/* fake_device.c */
gd_CUresult fake_do_init(unsigned int flags);
gd_CUresult fake_do_get_version(int *version);
gd_CUresult fake_do_get_error(gd_CUresult error, const char **text, bool words);
gd_CUresult fake_do_device_count(int *count);
gd_CUresult fake_do_device_get(gd_CUdevice *device, int ordinal);
gd_CUresult fake_do_device_name(char *name, int bytes, gd_CUdevice device);
bool fake_report_is_emulated(void); /* whether a test scripts the emulated driver's report */
void fake_report_allocation(uint64_t address);
gd_CUresult fake_do_device_uuid(gd_CUuuid *uuid, gd_CUdevice device);
gd_CUresult fake_do_device_attribute(int *value, gd_CUdevice_attribute attribute,
                                     gd_CUdevice device);
gd_CUresult fake_do_device_memory(size_t *bytes, gd_CUdevice device);
fake_object *fake_context_create(gd_CUdevice device, bool primary);
gd_CUresult fake_do_primary_retain(gd_CUcontext *context, gd_CUdevice device);
gd_CUresult fake_do_primary_release(gd_CUdevice device);
gd_CUresult fake_do_get_current(gd_CUcontext *context);
gd_CUresult fake_do_get_device(gd_CUdevice *device);

/* fake_module.c. fake_maximum_threads: per block, by .maxntid and the device. */
gd_CUresult fake_do_load(gd_CUmodule *module, const void *image, unsigned count,
                         const gd_CUjit_option *options, void **values);
gd_CUresult fake_do_unload(gd_CUmodule handle);
gd_CUresult fake_do_get_function(gd_CUfunction *function, gd_CUmodule handle, const char *name);
gd_CUresult fake_do_get_global(gd_CUdeviceptr *address, size_t *bytes, gd_CUmodule handle,
                               const char *name);
gd_CUresult fake_do_function_count(unsigned int *count, gd_CUmodule handle);
gd_CUresult fake_do_enumerate(gd_CUfunction *functions, unsigned int capacity, gd_CUmodule handle);
gd_CUresult fake_do_function_module(gd_CUmodule *module, gd_CUfunction handle);
gd_CUresult fake_do_kernel_function(gd_CUfunction *function, gd_CUkernel kernel);
gd_CUresult fake_do_function_name(const char **name, gd_CUfunction handle);
unsigned fake_maximum_threads(const fake_entry *entry);
gd_CUresult fake_do_get_attribute(int *value, gd_CUfunction_attribute attribute,
                                  gd_CUfunction handle);
gd_CUresult fake_do_set_attribute(gd_CUfunction handle, gd_CUfunction_attribute attribute,
                                  int value);
gd_CUresult fake_do_parameter(gd_CUfunction handle, size_t index, size_t *offset, size_t *bytes);

/* fake_launch.c. A tensor map holds its address, then what it was made with. */
gd_CUresult fake_do_priorities(int *least, int *greatest);
gd_CUresult fake_do_occupancy(int *blocks, gd_CUfunction handle, int threads, size_t shared);
gd_CUresult fake_do_cluster_size(int *size, gd_CUfunction handle, const gd_CUlaunchConfig *config);
gd_CUresult fake_do_clusters(int *clusters, gd_CUfunction handle, const gd_CUlaunchConfig *config);
gd_CUresult fake_do_tensor_map(gd_CUtensorMap *map, gd_tensor_map tensor, uint32_t rank,
                               void *address, const uint64_t *sizes, const uint64_t *strides,
                               const uint32_t *box, const uint32_t *steps);
gd_CUresult fake_do_launch(const gd_CUlaunchConfig *config, gd_CUfunction handle, void **parameters,
                           void **extra);

/* A launch that was checked and packed; the caller owns what `launch` points to. */
gd_CUresult fake_launch_make(const gd_CUlaunchConfig *config, gd_CUfunction handle,
                             void **parameters, void **extra, fake_launch *launch);

/* fake_stream.c: *stream is NULL for a default stream, which has no object. The checks return what
 * the driver would, and invalidate the captures that the call spoils: unsafe is what a capture
 * forbids to its thread, waiting what the capturing stream cannot take. Submit runs work, or makes
 * it a node where the stream captures, and then copies what it owns. */
gd_CUresult fake_stream_find(gd_CUstream handle, fake_object **stream);
bool fake_stream_captures(const fake_object *o);
gd_CUresult fake_capture_check_unsafe(void);
gd_CUresult fake_capture_check_waiting(fake_object *stream);
gd_CUresult fake_stream_submit(fake_object *stream, const fake_node *work);
gd_CUresult fake_do_allocate(gd_CUdeviceptr *address, size_t bytes);
gd_CUresult fake_do_free(gd_CUdeviceptr address);
gd_CUresult fake_do_copy(gd_CUdeviceptr target, gd_CUdeviceptr source, size_t bytes,
                         gd_CUstream stream, gd_CUdeviceptr device);
gd_CUresult fake_do_fill(gd_CUdeviceptr target, unsigned char value, size_t bytes,
                         gd_CUstream stream);
gd_CUresult fake_do_stream_create(gd_CUstream *stream, unsigned int flags);
gd_CUresult fake_do_stream_synchronize(gd_CUstream handle);
gd_CUresult fake_do_stream_context(gd_CUstream handle, gd_CUcontext *context);
gd_CUresult fake_do_exchange_mode(gd_CUstreamCaptureMode *mode);
gd_CUresult fake_do_is_capturing(gd_CUstream handle, gd_CUstreamCaptureStatus *status);
gd_CUresult fake_do_begin_capture(gd_CUstream handle, gd_CUstreamCaptureMode mode);
gd_CUresult fake_do_capture_info(gd_CUstream handle, gd_CUstreamCaptureStatus *status, uint64_t *id,
                                 gd_CUgraph *graph, const gd_CUgraphNode **before, size_t *count);
gd_CUresult fake_do_end_capture(gd_CUstream handle, gd_CUgraph *graph, bool discard);
gd_CUresult fake_do_event_create(gd_CUevent *event, unsigned int flags);
gd_CUresult fake_do_event_record(gd_CUevent handle, gd_CUstream stream_handle);
gd_CUresult fake_do_event_synchronize(gd_CUevent handle);
gd_CUresult fake_do_event_elapsed(float *milliseconds, gd_CUevent start_handle,
                                  gd_CUevent end_handle);
gd_CUresult fake_do_synchronize(void);
gd_CUresult fake_do_wait_event(gd_CUstream stream_handle, gd_CUevent handle, unsigned flags);
bool fake_memory_has(gd_CUdeviceptr address, size_t bytes);

/* fake_graph.c: launches and bodies own copies of all they point to. */
fake_launch fake_launch_copy(const fake_launch *launch);
void fake_launch_free(fake_launch *launch);
void fake_launches_add(fake_launch_list *list, const fake_launch *launch);
void fake_launches_free(fake_launch_list *list);
gd_CUresult fake_do_user_create(gd_CUuserObject *object, void *user, gd_CUhostFn *destroy,
                                unsigned count, unsigned flags);
gd_CUresult fake_do_user_release(gd_CUuserObject object, unsigned count);
gd_CUresult fake_do_user_own(gd_CUgraph graph, gd_CUuserObject object, unsigned count,
                             unsigned flags);
void fake_body_free(fake_body *b);
void fake_body_add(fake_body *b, const fake_node *what);
void fake_node_free(fake_node *n);
fake_body fake_body_copy(const fake_body *from);
gd_CUresult fake_node_execute(const fake_node *n, bool from_graph);
gd_CUresult fake_do_instantiate(gd_CUgraphExec *executable, gd_CUgraph handle,
                                unsigned long long flags);
gd_CUresult fake_do_graph_launch(gd_CUgraphExec handle, gd_CUstream stream_handle);
gd_CUresult fake_do_graph_upload(gd_CUgraphExec handle, gd_CUstream stream_handle);
gd_CUresult fake_do_graph_nodes(gd_CUgraph handle, gd_CUgraphNode *nodes, size_t *count);
gd_CUresult fake_do_graph_edges(gd_CUgraph handle, gd_CUgraphNode *from, gd_CUgraphNode *to,
                                gd_CUgraphEdgeData *data, size_t *count);
gd_CUresult fake_do_node_type(gd_CUgraphNode handle, gd_CUgraphNodeType *type);

/* fake_build.c: graphs that are made node by node, and changed. */
gd_CUresult fake_do_graph_create(gd_CUgraph *graph, unsigned flags);
gd_CUresult fake_do_add_kernel(gd_CUgraphNode *node, gd_CUgraph graph, const gd_CUgraphNode *before,
                               size_t count, const gd_CUDA_KERNEL_NODE_PARAMS *params);
gd_CUresult fake_do_add_copy(gd_CUgraphNode *node, gd_CUgraph graph, const gd_CUgraphNode *before,
                             size_t count, const gd_CUDA_MEMCPY3D *params);
gd_CUresult fake_do_add_fill(gd_CUgraphNode *node, gd_CUgraph graph, const gd_CUgraphNode *before,
                             size_t count, const gd_CUDA_MEMSET_NODE_PARAMS_v1 *params);
gd_CUresult fake_do_add_host(gd_CUgraphNode *node, gd_CUgraph graph, const gd_CUgraphNode *before,
                             size_t count, const gd_CUDA_HOST_NODE_PARAMS *params);
gd_CUresult fake_do_add_child(gd_CUgraphNode *node, gd_CUgraph graph, const gd_CUgraphNode *before,
                              size_t count, gd_CUgraph child);
gd_CUresult fake_do_add_empty(gd_CUgraphNode *node, gd_CUgraph graph, const gd_CUgraphNode *before,
                              size_t count);
gd_CUresult fake_do_conditional_handle(gd_CUgraphConditionalHandle *handle, gd_CUgraph graph_handle,
                                       gd_CUcontext context, unsigned initial, unsigned flags);
gd_CUresult fake_do_add_any(gd_CUgraphNode *node, gd_CUgraph graph, const gd_CUgraphNode *before,
                            size_t count, gd_CUgraphNodeParams *params);
gd_CUresult fake_do_destroy_node(gd_CUgraphNode handle);
gd_CUresult fake_do_add_event(gd_CUgraphNode *node, gd_CUgraph graph, const gd_CUgraphNode *before,
                              size_t count, gd_CUevent event, gd_CUgraphNodeType type);
gd_CUresult fake_do_add_edges(gd_CUgraph graph, const gd_CUgraphNode *from,
                              const gd_CUgraphNode *to, const gd_CUgraphEdgeData *data,
                              size_t count);
gd_CUresult fake_do_remove_edges(gd_CUgraph graph, const gd_CUgraphNode *from,
                                 const gd_CUgraphNode *to, const gd_CUgraphEdgeData *data,
                                 size_t count);
gd_CUresult fake_do_dependencies(gd_CUgraphNode node, gd_CUgraphNode *before, size_t *count);
gd_CUresult fake_do_kernel_params(gd_CUgraphNode node, gd_CUDA_KERNEL_NODE_PARAMS *params);
gd_CUresult fake_do_set_kernel(gd_CUgraphExec executable, bool is_executable, gd_CUgraphNode node,
                               const gd_CUDA_KERNEL_NODE_PARAMS *params);
gd_CUresult fake_do_get_node_attribute(gd_CUgraphNode node, gd_CUlaunchAttributeID id,
                                       gd_CUlaunchAttributeValue *value);
gd_CUresult fake_do_node_attribute(gd_CUgraphNode node, gd_CUlaunchAttributeID id,
                                   const gd_CUlaunchAttributeValue *value);
gd_CUresult fake_do_update(gd_CUgraphExec executable, gd_CUgraph graph,
                           gd_CUgraphExecUpdateResultInfo *info);
gd_CUresult fake_do_enable(gd_CUgraphExec executable, gd_CUgraphNode node, unsigned enabled);

#endif
