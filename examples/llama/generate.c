/* The loop. A step needs nothing of the host: token, position and random number are on the device.
 * So batches of steps are given to the stream ahead, an event behind each; a second stream waits
 * for the event and brings the batch's tokens while the next batch runs. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "generate.h"

enum { BATCH = 8, AHEAD = 2 };

/* Steps, in the numbering of positions: step i reads position i and writes token i + 1. */
typedef struct loop {
    model *of;
    void *stream, *reader;
    void *events[AHEAD];
    uint32_t ends[AHEAD]; /* the step behind the batch that the event stands behind */
    uint32_t launched, taken, last;
    uint32_t batch; /* number of the next */
    int32_t mode;
} loop;

static griddep_error error = {.size = sizeof error};

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static void launch_batch(loop *in, uint32_t steps)
{
    griddep_runtime *runtime = in->of->runtime;
    uint32_t slot = in->batch++ % AHEAD;

    for (uint32_t i = 0; i < steps; i++, in->launched++)
        check(griddep_chain_run(in->of->step, in->mode, in->stream, &error), &error, "a step");
    in->ends[slot] = in->launched;
    check(griddep_event_record(runtime, in->events[slot], in->stream, &error), &error, "a step");
}

/* The tokens of the oldest batch that was not taken, when it is done. */
static uint32_t fetch_batch(loop *in, uint32_t slot, uint32_t *tokens)
{
    griddep_runtime *runtime = in->of->runtime;
    uint32_t count = in->ends[slot] - in->taken;

    check(griddep_stream_wait_event(runtime, in->reader, in->events[slot], &error), &error,
          "the tokens");
    check(griddep_memory_read(runtime, tokens, in->of->history + 4 * ((uint64_t)in->taken + 1),
                              4 * (uint64_t)count, in->reader, &error),
          &error, "the tokens");
    in->taken += count;
    return count;
}

static void open_loop(model *of, int32_t mode, loop *in)
{
    *in = (loop){.of = of, .mode = mode};
    check(griddep_stream_create(of->runtime, &in->stream, &error), &error, "a stream");
    check(griddep_stream_create(of->runtime, &in->reader, &error), &error, "a stream");
    for (int i = 0; i < AHEAD; i++)
        check(griddep_event_create(of->runtime, GRIDDEP_EVENT_ORDER, &in->events[i], &error),
              &error, "an event");
}

static void close_loop(loop *in)
{
    griddep_stream_synchronize(in->of->runtime, in->stream, NULL);
    for (int i = 0; i < AHEAD; i++)
        griddep_event_destroy(in->of->runtime, in->events[i], NULL);
    griddep_stream_destroy(in->of->runtime, in->reader, NULL);
    griddep_stream_destroy(in->of->runtime, in->stream, NULL);
}

static bool ends_text(const model_config *config, uint32_t token)
{
    for (uint32_t i = 0; i < config->stop_count; i++)
        if (config->stops[i] == token)
            return true;
    return false;
}

/* Takes tokens until one ends the text. */
static bool take_tokens(const model *of, const uint32_t *tokens, uint32_t count, generation *run)
{
    for (uint32_t i = 0; i < count; i++) {
        if (run->stop && ends_text(of->config, tokens[i])) {
            run->ended_by = "stop";
            return false;
        }
        run->count++;
        if (!run->take(run->user, tokens[i])) {
            run->ended_by = "caller";
            return false;
        }
    }
    return true;
}

/* Steps that there are to run: those of the prompt, and one for each token after the first. */
static uint32_t last_step(const model *of, const token_list *prompt, generation *run)
{
    uint64_t last = prompt->count - 1 + run->most;

    run->ended_by = last > of->capacity ? "context" : "count";
    return last > of->capacity ? of->capacity : (uint32_t)last;
}

void generate(model *of, const token_list *prompt, const sampling *draw, generation *run)
{
    uint32_t tokens[BATCH], slot = 0;
    uint32_t given = (uint32_t)prompt->count - 1; /* steps whose tokens are the prompt's */
    loop in;

    open_loop(of, run->mode, &in);
    check(griddep_chain_prepare(of->step, run->mode, &error), &error, "the step");
    model_start(of, prompt, draw, in.stream);
    in.last = last_step(of, prompt, run);
    run->count = 0;
    double begin = now(), first = 0;
    /* The prompt, up to the step that gives the first token. */
    launch_batch(&in, in.last < given + 1 ? in.last : given + 1);
    in.taken = given < in.launched ? given : in.launched;
    for (bool more = true; more && in.taken < in.last; slot = (slot + 1) % AHEAD) {
        uint32_t left = in.last - in.launched;
        if (left)
            launch_batch(&in, left < BATCH ? left : BATCH);
        more = take_tokens(of, tokens, fetch_batch(&in, slot, tokens), run);
        if (first < begin)
            first = now();
    }
    close_loop(&in);
    double end = now();
    uint32_t later = in.launched - given - (in.launched > given);
    run->first = (first < begin ? end : first) - begin;
    run->each = later ? (end - first) / later : 0;
}
