/* A launch server: threads that take requests from a queue, run them in batches on the device, and
 * learn by file descriptors when a batch is over. No thread waits for the device.
 *
 * A request names two vectors x and y in device memory and asks for 2 x + y. It takes two kernels,
 * of which the second may start before the first has ended; the second writes the answer into
 * pinned memory of the host, where the server compares each element with the value that it must
 * have.
 */
#ifndef SERVER_H
#define SERVER_H

#include <griddep.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    BATCH_SIZES = 4, /* batches of 1, 2, 4 and 8 requests are prepared */
    LARGEST_BATCH = 1 << (BATCH_SIZES - 1),
    SLOTS = 2,    /* batches that a worker has on the device at a time */
    VECTORS = 64, /* that requests choose from */
    LATENCY_BUCKETS = 64 * 64
};

/* Who sends requests: one at a time, the next when the answer has come. */
struct client {
    struct client *next; /* in the queue */
    uint64_t x, y;       /* of its request: device addresses */
    uint32_t x_number, y_number;
    uint64_t sum;        /* device memory: x + y */
    const float *answer; /* pinned memory of the host: 2 x + y */
    uint64_t sent;       /* nanoseconds */
    uint32_t random;
};

/* A first-in, first-out list; `descriptor` is readable while it is not empty. */
struct queue {
    pthread_mutex_t mutex;
    struct client *first, **end;
    uint32_t count;
    int descriptor;
};

struct backend;

struct server {
    const struct backend *with;
    griddep_runtime *runtime;
    griddep_kernel *add; /* vector_add(x, y, out, count) */
    const char *ptx;     /* its text */
    uint32_t threads, clients, elements;
    uint64_t requests; /* to be sent in all; 0: until `seconds` are over */
    double seconds;

    uint64_t vectors, sums; /* device memory: VECTORS of `elements` f32, and one a client */
    float *answers;         /* pinned memory of the host: one a client */
    struct client *client;
    struct queue queue;
    uint64_t deadline; /* in nanoseconds; 0: none */
    uint64_t fault_at; /* the request that names memory which is not there; 0: none */
    atomic_uint_fast64_t sent;
    atomic_uint_fast32_t active; /* clients that are to get an answer */
    atomic_bool failed;
};

struct worker {
    struct server *server;
    pthread_t thread;
    void *lane; /* what the backend runs batches in */
    struct client *batch[SLOTS][LARGEST_BATCH];
    uint32_t batch_count[SLOTS];
    uint32_t oldest, busy; /* slots with batches on the device: `busy` of them from `oldest` on */
    uint64_t answered, batches, wrong;
    uint64_t latency[LATENCY_BUCKETS]; /* answers by time: latency_bucket */
};

/* What batches are run with: libgriddep, or the driver itself. One lane belongs to one thread; a
 * function that fails tells why on stderr. */
struct backend {
    const char *name;

    /* Makes all that may wait for the device or compile. NULL: it failed. */
    void *(*open)(struct server *server);
    void (*close)(void *lane);

    /* Readable when a batch may be over; after a fault too, or at the latest when `timeout`
     * milliseconds are over (-1: no timeout is needed). */
    int (*get_descriptor)(void *lane, int *timeout);

    /* Hands in a batch of 2^size requests and returns. */
    bool (*submit)(void *lane, uint32_t slot, struct client *const *batch, uint32_t size);

    /* How many batches are over since the last call, in the order of their submission. */
    bool (*take)(void *lane, uint64_t *over);
};

extern const struct backend with_griddep, with_driver;

/* What one run of the server measured. */
struct figures {
    double rate;     /* answers a second */
    double p50, p99; /* of the time from sending to having the answer, in microseconds */
    double batch;    /* mean requests of a batch */
    uint64_t answered, wrong;
};

/* Runs the server until its requests are answered or its time is over. */
bool serve(struct server *server, const struct backend *with, struct figures *figures);

/* false, and why on stderr, unless status is GRIDDEP_OK. */
bool good(int32_t status, const griddep_error *error);

uint64_t now(void);

#endif
