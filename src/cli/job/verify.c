/* Comparing buffers. */
#include "cli/job/verify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/io/heap.h"
#include "cli/plan/planlaunch.h"

/* Of two values that are not the same bits; equal values (0 and -0, NaN and NaN) do not differ. */
static double distance(double got, double wanted)
{
    if (got == wanted || (isnan(got) && isnan(wanted)))
        return 0.0;
    double difference = fabs(got - wanted);
    return isnan(difference) ? INFINITY : difference;
}

void gd_verify_compare(gd_type type, const void *got, const void *wanted, uint64_t count,
                       gd_difference *difference)
{
    uint64_t element = gd_type_bytes(type);
    const char *got_bytes = got, *wanted_bytes = wanted;
    double squares = 0.0, wanted_squares = 0.0;
    *difference = (gd_difference){0};
    if (memcmp(got, wanted, count * element) == 0)
        return;
    for (uint64_t i = 0; i < count; i++) {
        double wanted_value = gd_type_load(type, wanted, i);
        if (isfinite(wanted_value))
            wanted_squares += wanted_value * wanted_value;
        if (memcmp(got_bytes + i * element, wanted_bytes + i * element, element) == 0)
            continue;
        double got_value = gd_type_load(type, got, i);
        double d = distance(got_value, wanted_value);
        squares += d * d;
        difference->largest = fmax(difference->largest, d);
        if (difference->unequal++ == 0) {
            difference->first = i;
            difference->got = got_value;
            difference->wanted = wanted_value;
        }
    }
    if (squares > 0.0)
        difference->relative = wanted_squares > 0.0 ? sqrt(squares / wanted_squares) : INFINITY;
}

bool gd_verify_allows(const gd_plan_expectation *expectation, const gd_difference *difference)
{
    if (expectation->tolerance < 0 && expectation->absolute < 0)
        return difference->unequal == 0;
    bool relative = expectation->tolerance < 0 || difference->relative <= expectation->tolerance;
    bool absolute = expectation->absolute < 0 || difference->largest <= expectation->absolute;
    return relative && absolute;
}

static void make_arguments(const gd_plan *plan, const gd_plan_launch *launch, void *const *images,
                           void *const *results, gd_reference_argument *arguments)
{
    for (uint32_t i = 0; i < launch->argument_count; i++) {
        const gd_plan_argument *argument = &launch->arguments[i];
        if (!argument->is_buffer) {
            arguments[i] = (gd_reference_argument){
                .type = gd_type_name(argument->type),
                .scalar = gd_type_load(argument->type, &argument->value, 0)};
            continue;
        }
        const gd_plan_buffer *buffer = &plan->buffers[argument->buffer];
        char *data = results[argument->buffer] != NULL ? results[argument->buffer]
                                                       : images[argument->buffer];
        gd_type type = argument->viewed ? argument->type : buffer->type;
        uint64_t skipped = argument->offset * gd_type_bytes(buffer->type);
        arguments[i] = (gd_reference_argument){.type = gd_type_name(type),
                                               .data = data + skipped,
                                               .count = (gd_plan_buffer_bytes(buffer) - skipped) /
                                                        gd_type_bytes(type)};
    }
}

static int run_launch(const gd_plan *plan, uint32_t index, uint32_t multiprocessors,
                      void *const *images, void *const *results)
{
    const gd_plan_launch *launch = &plan->launches[index];
    griddep_launch_config config =
        gd_planlaunch_config(launch, GRIDDEP_PDL_DEFAULT, multiprocessors);
    gd_reference_argument *arguments = gd_heap_take(launch->argument_count, sizeof(*arguments));
    make_arguments(plan, launch, images, results, arguments);
    int failed =
        launch->reference->run(launch->reference, arguments, launch->argument_count, config.grid);
    free(arguments);
    if (failed == 0)
        return 0;
    return gd_message_error_at(launch->place,
                               "launch %u (%s): number, types or sizes of the arguments do not fit "
                               "the CPU reference of %s",
                               (unsigned)index, gd_plan_launch_name(plan, index),
                               launch->reference->kernel);
}

/* A copy or a fill. */
static void run_move(const gd_plan *plan, const gd_plan_launch *launch, void *const *images,
                     void *const *results)
{
    char *places[2] = {NULL, NULL};
    uint64_t bytes = gd_plan_reach(plan, &launch->arguments[0]);
    for (uint32_t i = 0; i < launch->argument_count; i++) {
        const gd_plan_argument *argument = &launch->arguments[i];
        char *data = results[argument->buffer] != NULL ? results[argument->buffer]
                                                       : images[argument->buffer];
        places[i] = data + argument->offset * gd_type_bytes(plan->buffers[argument->buffer].type);
    }
    if (launch->node == GRIDDEP_GRAPH_NODE_COPY)
        memmove(places[0], places[1], bytes);
    else
        memset(places[0], launch->value, bytes);
}

int gd_verify_compute(const gd_plan *plan, uint32_t multiprocessors, void *const *images,
                      void **results)
{
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        if (!plan->buffers[i].written)
            continue;
        uint64_t bytes = gd_plan_buffer_bytes(&plan->buffers[i]);
        results[i] = gd_heap_take(bytes, 1);
        memcpy(results[i], images[i], bytes);
    }
    for (uint32_t i = 0; i < plan->launch_count; i++) {
        int code = 0;
        if (gd_plan_is_kernel(&plan->launches[i]))
            code = run_launch(plan, i, multiprocessors, images, results);
        else
            run_move(plan, &plan->launches[i], images, results);
        if (code != 0)
            return code;
    }
    return 0;
}
