/* The server itself: a queue, and worker threads that sleep in poll alone. */
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "server.h"

uint64_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* ---- the queue */

static void queue_add(struct queue *queue, struct client *client)
{
    client->next = NULL;
    pthread_mutex_lock(&queue->mutex);
    *queue->end = client;
    queue->end = &client->next;
    if (queue->count++ == 0)
        eventfd_write(queue->descriptor, 1);
    pthread_mutex_unlock(&queue->mutex);
}

/* Takes the largest batch that is prepared and that the queue fills: 2^*size requests. */
static bool queue_take(struct queue *queue, struct client **batch, uint32_t *size)
{
    eventfd_t value;

    pthread_mutex_lock(&queue->mutex);
    const bool any = queue->count > 0;
    if (any) {
        for (*size = BATCH_SIZES - 1; 1u << *size > queue->count;)
            --*size;
        for (uint32_t i = 0; i < 1u << *size; i++) {
            batch[i] = queue->first;
            queue->first = queue->first->next;
        }
        queue->count -= 1u << *size;
        if (queue->count == 0) {
            queue->end = &queue->first;
            eventfd_read(queue->descriptor, &value);
        }
    }
    pthread_mutex_unlock(&queue->mutex);
    return any;
}

/* Wakes all workers for good: nothing makes the descriptor unreadable any more. */
static void queue_end(struct queue *queue)
{
    eventfd_write(queue->descriptor, 1);
}

/* ---- clients */

static uint32_t choose_vector(struct client *client)
{
    client->random = client->random * 1664525u + 1013904223u;
    return (client->random >> 16) % VECTORS;
}

/* The number of the next request, from 1; 0: there is none. */
static uint64_t number_request(struct server *server)
{
    if (server->deadline && now() >= server->deadline)
        return 0;
    const uint64_t number = atomic_fetch_add(&server->sent, 1) + 1;
    return server->requests && number > server->requests ? 0 : number;
}

/* Sends the client's next request; the last client that has none left ends the server. */
static void send_next(struct server *server, struct client *client)
{
    const uint64_t bytes = server->elements * sizeof(float), number = number_request(server);

    if (!number) {
        if (atomic_fetch_sub(&server->active, 1) == 1)
            queue_end(&server->queue);
        return;
    }
    client->x_number = choose_vector(client);
    client->y_number = choose_vector(client);
    client->x = number == server->fault_at ? 16 : server->vectors + client->x_number * bytes;
    client->y = server->vectors + client->y_number * bytes;
    client->sent = now();
    queue_add(&server->queue, client);
}

/* Element i of vector n is n + i: all sums are exact in f32. */
static bool is_right(const struct server *server, const struct client *client)
{
    bool right = true;

    for (uint32_t i = 0; i < server->elements; i++)
        right &= client->answer[i] == (float)(2 * client->x_number + client->y_number + 3 * i);
    return right;
}

/* ---- latencies: buckets that are 1/32 of their value wide, or less */

static uint32_t latency_bucket(uint64_t nanoseconds)
{
    uint32_t power = 0;

    while (nanoseconds >> power >= 64)
        power++;
    return power * 64 + (uint32_t)(nanoseconds >> power);
}

/* The middle of a bucket, in microseconds. */
static double bucket_time(uint32_t bucket)
{
    const uint32_t power = bucket / 64;

    return ldexp(bucket % 64 + 0.5, (int)power) / 1000;
}

static double percentile(const uint64_t *latency, uint64_t count, double share)
{
    uint64_t below = 0;

    for (uint32_t i = 0; i < LATENCY_BUCKETS; i++) {
        below += latency[i];
        if (below > 0 && (double)below >= share * (double)count)
            return bucket_time(i);
    }
    return 0;
}

/* ---- workers */

static void answer(struct worker *worker, struct client *client)
{
    worker->latency[latency_bucket(now() - client->sent)]++;
    worker->answered++;
    worker->wrong += !is_right(worker->server, client);
    send_next(worker->server, client);
}

static bool answer_batches(struct worker *worker)
{
    uint64_t over;

    if (!worker->server->with->take(worker->lane, &over))
        return false;
    for (; over > 0; over--) {
        const uint32_t slot = worker->oldest;
        for (uint32_t i = 0; i < worker->batch_count[slot]; i++)
            answer(worker, worker->batch[slot][i]);
        worker->oldest = (slot + 1) % SLOTS;
        worker->busy--;
    }
    return true;
}

static bool submit_batches(struct worker *worker)
{
    struct server *server = worker->server;
    uint32_t size;

    while (worker->busy < SLOTS) {
        const uint32_t slot = (worker->oldest + worker->busy) % SLOTS;
        if (!queue_take(&server->queue, worker->batch[slot], &size))
            return true;
        worker->batch_count[slot] = 1u << size;
        if (!server->with->submit(worker->lane, slot, worker->batch[slot], size))
            return false;
        worker->busy++;
        worker->batches++;
    }
    return true;
}

/* Sleeps until a batch is over, or a request has come that there is a slot for. */
static void sleep_until_needed(const struct worker *worker)
{
    int timeout = -1;
    struct pollfd wait[] = {
        {.fd = worker->server->with->get_descriptor(worker->lane, &timeout), .events = POLLIN},
        {.fd = worker->busy < SLOTS ? worker->server->queue.descriptor : -1, .events = POLLIN}};

    poll(wait, 2, worker->busy > 0 ? timeout : -1);
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct server *server = worker->server;

    while (atomic_load(&server->active) > 0 && !atomic_load(&server->failed)) {
        if (!answer_batches(worker) || !submit_batches(worker)) {
            atomic_store(&server->failed, true);
            queue_end(&server->queue);
            break;
        }
        if (atomic_load(&server->active) > 0)
            sleep_until_needed(worker);
    }
    return NULL;
}

/* ---- a run */

static void begin_requests(struct server *server)
{
    server->deadline = server->requests ? 0 : now() + (uint64_t)(server->seconds * 1e9);
    atomic_store(&server->sent, 0);
    atomic_store(&server->active, server->clients);
    atomic_store(&server->failed, false);
    for (uint32_t i = 0; i < server->clients; i++)
        send_next(server, &server->client[i]);
}

static bool run_workers(struct server *server, struct worker *workers, uint32_t count)
{
    uint32_t started = 0;

    while (started < count &&
           !pthread_create(&workers[started].thread, NULL, work, &workers[started]))
        started++;
    if (started < count) {
        fprintf(stderr, "thread %u cannot be started\n", started);
        atomic_store(&server->failed, true);
        queue_end(&server->queue);
    }
    for (uint32_t i = 0; i < started; i++)
        pthread_join(workers[i].thread, NULL);
    return !atomic_load(&server->failed);
}

static void add_up(const struct server *server, struct worker *workers, double seconds,
                   struct figures *figures)
{
    uint64_t batches = workers[0].batches, *latency = workers[0].latency;

    *figures = (struct figures){.answered = workers[0].answered, .wrong = workers[0].wrong};
    for (uint32_t i = 1; i < server->threads; i++) {
        batches += workers[i].batches;
        figures->answered += workers[i].answered;
        figures->wrong += workers[i].wrong;
        for (uint32_t bucket = 0; bucket < LATENCY_BUCKETS; bucket++)
            latency[bucket] += workers[i].latency[bucket];
    }
    figures->rate = (double)figures->answered / seconds;
    figures->p50 = percentile(latency, figures->answered, 0.5);
    figures->p99 = percentile(latency, figures->answered, 0.99);
    figures->batch = batches > 0 ? (double)figures->answered / (double)batches : 0;
}

bool serve(struct server *server, const struct backend *with, struct figures *figures)
{
    struct worker *workers = calloc(server->threads, sizeof *workers);
    bool ready = workers != NULL;

    server->with = with;
    server->queue = (struct queue){.end = &server->queue.first,
                                   .descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    pthread_mutex_init(&server->queue.mutex, NULL);
    for (uint32_t i = 0; ready && i < server->threads; i++) {
        workers[i].server = server;
        workers[i].lane = with->open(server);
        ready = workers[i].lane != NULL;
    }
    if (ready) {
        const uint64_t began = now();
        begin_requests(server);
        ready = run_workers(server, workers, server->threads);
        add_up(server, workers, (double)(now() - began) / 1e9, figures);
    }
    for (uint32_t i = 0; workers && i < server->threads; i++)
        if (workers[i].lane)
            with->close(workers[i].lane);
    pthread_mutex_destroy(&server->queue.mutex);
    close(server->queue.descriptor);
    free(workers);
    return ready;
}
