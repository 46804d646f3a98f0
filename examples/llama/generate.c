/* The loop. A step needs nothing of the host: tokens, positions and random numbers are on the
 * device. So batches of steps are given to the stream ahead; a second stream waits for each and
 * copies its tokens to pinned memory while the next batch runs. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "build.h"
#include "generate.h"

enum { BATCH = 8, AHEAD = 2 };

/* Step k reads position from[i] + k of sequence i and writes the token behind it. */
typedef struct loop {
    model *of;
    void *streams[MOST_DEVICES], *reader; /* tokens are read on the first device */
    void *computed[AHEAD], *arrived[AHEAD];
    uint32_t *tokens[AHEAD]; /* pinned: BATCH of each sequence */
    void *logits;            /* pinned, of one step: what is NaN or infinite arrives there */
    uint64_t logit_bytes;
    uint32_t steps[AHEAD];
    uint32_t launched, taken, last; /* steps */
    uint32_t batches;
    uint32_t from[MOST_SEQUENCES];
    bool ended[MOST_SEQUENCES];
    int32_t mode;
} loop;

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

/* Launches steps, and the way of their tokens behind them. */
static void launch_batch(loop *in, uint32_t steps)
{
    const model *of = in->of;
    uint32_t slot = in->batches++ % AHEAD, first = in->launched;

    for (uint32_t i = 0; i < steps; i++, in->launched++)
        for (const model *each = of; each; each = each->next)
            check(griddep_chain_run(each->step, in->mode, in->streams[each->index], &error),
                  "a step");
    if (!first)
        check(griddep_memory_read_async(of->runtime, in->logits, of->at.logits, in->logit_bytes,
                                        in->streams[0], &error),
              "the logits");
    in->steps[slot] = steps;
    check(griddep_event_record(of->runtime, in->computed[slot], in->streams[0], &error), "a step");
    check(griddep_stream_wait_event(of->runtime, in->reader, in->computed[slot], &error),
          "the tokens");
    for (uint32_t i = 0; i < of->sequences; i++) {
        uint64_t index = i * ((uint64_t)of->capacity + 1) + in->from[i] + first + 1;
        check(griddep_memory_read_async(of->runtime, in->tokens[slot] + i * BATCH,
                                        of->at.history + 4 * index, 4 * (uint64_t)steps, in->reader,
                                        &error),
              "the tokens");
    }
    check(griddep_event_record(of->runtime, in->arrived[slot], in->reader, &error), "the tokens");
}

static void open_loop(model *of, int32_t mode, loop *in)
{
    griddep_runtime *runtime = of->runtime;

    *in = (loop){
        .of = of, .mode = mode, .logit_bytes = 2 * (uint64_t)of->sequences * of->config.vocabulary};
    check(griddep_host_allocate(runtime, in->logit_bytes, 0, &in->logits, &error), "pinned memory");
    for (const model *each = of; each; each = each->next)
        check(griddep_stream_create(each->runtime, NULL, &in->streams[each->index], &error),
              "a stream");
    check(griddep_stream_create(runtime, NULL, &in->reader, &error), "a stream");
    for (int i = 0; i < AHEAD; i++) {
        void *memory = NULL;
        check(griddep_event_create(runtime, GRIDDEP_EVENT_ORDER, &in->computed[i], &error),
              "an event");
        check(griddep_event_create(runtime, GRIDDEP_EVENT_ORDER, &in->arrived[i], &error),
              "an event");
        check(
            griddep_host_allocate(runtime, 4 * BATCH * (uint64_t)of->sequences, 0, &memory, &error),
            "pinned memory");
        in->tokens[i] = memory;
    }
}

static void close_loop(loop *in)
{
    griddep_runtime *runtime = in->of->runtime;

    for (int i = 0; i < AHEAD; i++) {
        griddep_host_free(runtime, in->tokens[i], NULL);
        griddep_event_destroy(runtime, in->computed[i], NULL);
        griddep_event_destroy(runtime, in->arrived[i], NULL);
    }
    griddep_host_free(runtime, in->logits, NULL);
    griddep_stream_destroy(runtime, in->reader, NULL);
    for (const model *each = in->of; each; each = each->next)
        griddep_stream_destroy(each->runtime, in->streams[each->index], NULL);
}

static bool ends_text(const model_config *config, uint32_t token)
{
    for (uint32_t i = 0; i < config->stop_count; i++)
        if (config->stops[i] == token)
            return true;
    return false;
}

/* Takes a sequence's token, unless it has ended; false when the caller ends all. */
static bool take_token(loop *in, uint32_t sequence, uint32_t token, generation *run)
{
    if (in->ended[sequence])
        return true;
    if (run->stop && ends_text(&in->of->config, token)) {
        run->ended_by[sequence] = "stop";
        in->ended[sequence] = true;
        return true;
    }
    run->count++;
    if (!run->take || run->take(run->user, sequence, token))
        return true;
    for (uint32_t i = 0; i < in->of->sequences; i++)
        if (!in->ended[i])
            run->ended_by[i] = "caller";
    return false;
}

/* Takes the tokens of the oldest batch, step by step, when they are there; false when nothing is
 * to come. */
static bool take_batch(loop *in, uint32_t slot, generation *run)
{
    uint32_t sequences = in->of->sequences, left = 0;

    check(griddep_event_synchronize(in->of->runtime, in->arrived[slot], &error), "the tokens");
    model_check(in->of);
    run->sound = in->taken || elements_are_numbers(in->of->type, in->logits, in->logit_bytes);
    if (!run->sound)
        return false;
    for (uint32_t i = 0; i < in->steps[slot]; i++, in->taken++)
        for (uint32_t k = 0; k < sequences; k++)
            if (!take_token(in, k, in->tokens[slot][k * BATCH + i], run))
                return false;
    for (uint32_t k = 0; k < sequences; k++)
        left += !in->ended[k];
    return left;
}

/* The longest prompt decides how many steps the cache has room for. */
static uint32_t last_step(const model *of, const loop *in, generation *run)
{
    uint32_t room = of->capacity;

    for (uint32_t i = 0; i < of->sequences; i++)
        if (of->capacity - in->from[i] < room)
            room = of->capacity - in->from[i];
    for (uint32_t i = 0; i < of->sequences; i++)
        run->ended_by[i] = run->most > room ? "context" : "count";
    return run->most > room ? room : run->most;
}

void generate_start(model *of, const token_list *prompts, const sampling *draw, int32_t mode,
                    void *const *streams, uint32_t *from)
{
    for (uint32_t i = 0; i < of->sequences; i++)
        from[i] = (uint32_t)prompts[i].count - 1;
    for (model *each = of; each; each = each->next)
        model_start(each, prompts, from, draw, streams[each->index]);
    for (uint32_t i = 0; i < of->sequences; i++)
        prompt_run(of, i, from[i], mode, streams);
}

/* Steps of the next batch: the first one alone gives the first token. */
static uint32_t next_batch(const loop *in)
{
    const uint32_t left = in->last - in->launched;

    return !in->launched ? 1 : left < BATCH ? left : BATCH;
}

void generate(model *of, const token_list *prompts, const sampling *draw, generation *run)
{
    loop in;

    open_loop(of, run->mode, &in);
    for (const model *each = of; each; each = each->next) {
        check(griddep_chain_prepare(each->step, run->mode, &error), "the step");
        prompt_prepare(each, run->mode);
    }
    run->count = 0;
    run->sound = true;
    double begin = now(), first = 0;
    uint32_t taken = 0;
    generate_start(of, prompts, draw, in.mode, in.streams, in.from);
    in.last = last_step(of, &in, run);
    for (bool more = in.last; more; taken++) {
        while (in.batches - taken < AHEAD && in.launched < in.last)
            launch_batch(&in, next_batch(&in));
        more = take_batch(&in, taken % AHEAD, run) && in.taken < in.last;
        if (first < begin && in.taken)
            first = now();
    }
    for (const model *each = of; each; each = each->next)
        check(griddep_stream_synchronize(each->runtime, in.streams[each->index], &error), "a step");
    check(griddep_stream_synchronize(of->runtime, in.reader, &error), "the tokens");
    double end = now();
    if (in.launched && run->sound) {
        check(griddep_memory_read(of->runtime, in.logits, of->at.logits, in.logit_bytes, NULL,
                                  &error),
              "the logits");
        run->sound = elements_are_numbers(of->type, in.logits, in.logit_bytes);
    }
    close_loop(&in);
    uint32_t later = in.launched - (in.launched > 0);
    run->first = (first < begin ? end : first) - begin;
    run->each = later ? (end - first) / later : 0;
}
