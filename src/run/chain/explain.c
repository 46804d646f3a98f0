/* Why a hop of a chain overlaps or does not: every condition in order, with its numbers, and what
 * follows from them. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/environment.h"
#include "base/error.h"
#include "base/text.h"
#include "ptx/handle/ptx.h"
#include "ptx/text/array.h"
#include "ptx/flow/traits.h"
#include "run/chain/chain.h"
#include "run/launch/early.h"
#include "run/graph/graph.h"
#include "run/launch/hop.h"
#include "run/module/module.h"
#include "run/launch/room.h"

extern char **environ;

enum {
    CONDITION_MINIMUM = sizeof(griddep_condition),
    INFO_MINIMUM = sizeof(griddep_explanation_info),
    UNMET = 0,
    MET = 1,
    UNKNOWN = -1
};

typedef struct told {
    griddep_condition condition;
    gd_text text;
} told;

struct griddep_explanation {
    told *list;
    uint32_t count, capacity;
    griddep_explanation_info info;
    gd_text producer, consumer, text;
};

/* What is being explained. */
typedef struct pair {
    const griddep_runtime *runtime;
    int32_t mode;
    bool graph;
    bool has_producer;
    gd_hop producer, consumer;
    bool rounds;    /* the producer is of the round before */
    gd_text hazard; /* what the check finds if the consumer began early */
    bool sure;      /* that is a race; else it may be one */
    gd_room room;   /* of the consumer beside the producer */
} pair;

/* A condition: its name, GRIDDEP_REASON_* where it is not met, and a sentence with the numbers. */
static void add(griddep_explanation *explanation, const char *name, int32_t reason, int32_t met,
                bool decisive, const char *format, ...) __attribute__((format(printf, 6, 7)));

static void add(griddep_explanation *explanation, const char *name, int32_t reason, int32_t met,
                bool decisive, const char *format, ...)
{
    va_list list;

    if (explanation->count == explanation->capacity &&
        !gd_array_grow((void **)&explanation->list, &explanation->capacity,
                       sizeof *explanation->list)) {
        explanation->text.failed = true; /* the one text that is checked at the end */
        return;
    }
    told *made = &explanation->list[explanation->count++];
    *made = (told){.condition = {.size = sizeof made->condition,
                                 .reason = reason,
                                 .met = met,
                                 .decisive = decisive,
                                 .name = name}};
    va_start(list, format);
    gd_text_format_list(&made->text, format, list);
    va_end(list);
}

/* ---- device, driver, environment ---- */

static void explain_device(griddep_explanation *explanation, const pair *hop)
{
    const griddep_runtime_info *info = &hop->runtime->info;
    bool able = info->capability >= 90;

    add(explanation, "device", GRIDDEP_REASON_DEVICE, able, true,
        "%s has compute capability %" PRId32 ".%" PRId32 "; dependent launch needs 9.0",
        info->device_name, info->capability / 10, info->capability % 10);
    bool recent =
        info->driver_version >= 11080 && (!able || (info->features & GRIDDEP_FEATURE_PDL));
    add(explanation, "driver", GRIDDEP_REASON_DRIVER, recent, true,
        "the driver has API %" PRId32 ".%" PRId32 "; attribute 6 needs 11.8%s",
        info->driver_version / 1000, info->driver_version % 1000 / 10,
        hop->graph && !hop->runtime->driver->cuGraphGetEdges
            ? ", and edges of graphs cannot be read below 12.3"
            : "");
    add(explanation, "kill switch", GRIDDEP_REASON_KILL_SWITCH, !hop->runtime->kill_switch, true,
        hop->runtime->kill_switch ? "GRIDDEP_PDL switches dependent launch off"
                                  : "GRIDDEP_PDL does not switch it off");
}

static bool is_set(const char *name)
{
    const char *value = gd_environment(name);

    return value && strcmp(value, "0") != 0;
}

/* Launches that return when the kernel is done; nodes of one graph launch are not concerned. */
static void explain_environment(griddep_explanation *explanation, const pair *hop)
{
    bool blocking = is_set("CUDA_LAUNCH_BLOCKING");

    if (blocking && !hop->graph)
        add(explanation, "environment", GRIDDEP_REASON_BLOCKING, UNMET, true,
            "CUDA_LAUNCH_BLOCKING=%s makes each launch wait for its kernel",
            gd_environment("CUDA_LAUNCH_BLOCKING"));
    else
        add(explanation, "environment", GRIDDEP_REASON_BLOCKING, MET, true,
            blocking ? "CUDA_LAUNCH_BLOCKING is set, but a graph is one launch"
                     : "CUDA_LAUNCH_BLOCKING is not set");
}

/* The variables by which profilers and compute-sanitizer enter a process. What they do to overlap
 * is theirs to say. */
static bool is_tool(const char *variable)
{
    static const char *const prefixes[] = {
        "CUDA_INJECTION64_PATH=", "CUDA_INJECTION32_PATH=", "NSYS_PROFILING_SESSION_",
        "NV_NSIGHT_INJECTION_",   "NV_TPS_LAUNCH_",         "NV_SANITIZER_INJECTION_",
        "NV_COMPUTE_PROFILER_"};

    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        if (!strncmp(variable, prefixes[i], strlen(prefixes[i])))
            return true;
    }
    return false;
}

static void explain_tools(griddep_explanation *explanation)
{
    gd_text names = {0};

    for (char **at = environ; at && *at; at++) {
        if (is_tool(*at))
            gd_text_format(&names, "%s%.*s", names.bytes ? ", " : "", (int)strcspn(*at, "="), *at);
    }
    if (names.bytes)
        add(explanation, "tools", GRIDDEP_REASON_TOOLS, UNKNOWN, false,
            "%s: a profiler or compute-sanitizer may run one kernel at a time",
            gd_text_get(&names));
    else
        add(explanation, "tools", GRIDDEP_REASON_TOOLS, MET, false,
            "no profiler and no compute-sanitizer in the environment");
    if (names.failed) /* shows in the one text that is checked at the end */
        explanation->text.failed = true;
    gd_text_free(&names);
}

/* ---- the two kernels ---- */

/* The audit of the graph knows which of the launches holds the others up. */
static void explain_lanes(griddep_explanation *explanation, const pair *hop)
{
    const uint32_t others = hop->consumer.others;
    const griddep_graph *graph = hop->consumer.graph;
    griddep_graph_edge_info edge = {.size = sizeof edge};
    bool found = false;

    for (uint32_t i = 0; graph && i < graph->edge_count && !found; i++)
        found = graph->edges[i].from == hop->consumer.previous &&
                graph->edges[i].to == hop->consumer.index &&
                griddep_graph_get_edge(graph, i, &edge, NULL) == GRIDDEP_OK;
    if (found && edge.reason == GRIDDEP_REASON_OTHER_ORDER)
        add(explanation, "other lanes", GRIDDEP_REASON_OTHER_ORDER, UNMET, true,
            "launch %" PRIu32 " (%s), of another lane, must end first", edge.node,
            gd_graph_label(&graph->nodes[edge.node]));
    else
        add(explanation, "other lanes", GRIDDEP_REASON_OTHER_ORDER, MET, true,
            "it also waits for %" PRIu32
            " launch%s of other lanes, which need not have ended when it starts",
            others, others == 1 ? "" : "es");
}

/* What is no kernel parts two kernels, or has none to part. */
static void explain_between(griddep_explanation *explanation, const pair *hop)
{
    const gd_hop *between = hop->producer.kernel ? &hop->consumer : &hop->producer;
    const bool kernels = hop->producer.kernel && hop->consumer.kernel;

    if (kernels)
        add(explanation, "nodes between", GRIDDEP_REASON_NODE_BETWEEN, MET, true,
            "no copy, fill or host function lies between");
    else if (hop->consumer.reason == GRIDDEP_REASON_NODE_BETWEEN)
        add(explanation, "nodes between", GRIDDEP_REASON_NODE_BETWEEN, UNMET, true,
            "a %s, launch %" PRIu32 " (%s), lies between the two kernels: it begins when the first "
            "has ended, and the second begins when it has ended",
            between->what, between->index, between->name);
    else
        add(explanation, "nodes between", GRIDDEP_REASON_NOT_KERNELS, UNMET, true,
            "a %s begins when the work before it has ended, and ends before the work after it "
            "begins",
            between->what);
}

static void explain_neighbours(griddep_explanation *explanation, const pair *hop)
{
    if (!hop->has_producer) {
        add(explanation, "producer", GRIDDEP_REASON_FIRST, UNMET, true,
            hop->consumer.index
                ? "%s is the first launch of its lane and depends on no other one"
                : "%s is the first launch of the chain; earlier work in the stream is not known",
            hop->consumer.name);
        return;
    }
    add(explanation, "producer", GRIDDEP_REASON_FIRST, MET, true,
        hop->rounds ? "%s comes before it, in the previous round" : "%s comes before it",
        hop->producer.name);
    explain_between(explanation, hop);
    if (hop->consumer.others)
        explain_lanes(explanation, hop);
}

/* What the check says of the hop itself. */
static void explain_race(griddep_explanation *explanation, const pair *hop)
{
    const int32_t reason = hop->consumer.reason;

    if (reason == GRIDDEP_REASON_RACE)
        add(explanation, "check", reason, UNMET, true, "it %s race: %s",
            hop->sure ? "would" : "might", gd_text_get(&hop->hazard));
    else if (reason == GRIDDEP_REASON_FORCED && hop->hazard.bytes && !hop->rounds)
        add(explanation, "check", GRIDDEP_REASON_RACE, UNMET, false,
            "forced to start early, it %s: %s", hop->sure ? "races" : "may race",
            gd_text_get(&hop->hazard));
}

/* The last launch of a round beside the first of the next one. */
static void explain_round(griddep_explanation *explanation, const pair *hop)
{
    const int32_t reason = hop->consumer.reason;

    if (!hop->rounds)
        return;
    if (reason == GRIDDEP_REASON_OTHER_ORDER)
        add(explanation, "other lanes", reason, UNMET, true,
            "a round ends when all its lanes have ended, and %s begins after that",
            hop->consumer.name);
    if (reason <= GRIDDEP_REASON_FORCED || reason == GRIDDEP_REASON_ROUND)
        add(explanation, "rounds", GRIDDEP_REASON_ROUND, reason != GRIDDEP_REASON_ROUND, true,
            reason == GRIDDEP_REASON_ROUND ? "in two rounds of the chain (launches are counted on) "
                                             "it would race: %s"
            : reason == GRIDDEP_REASON_FORCED
                ? "forced by the caller, so the check does not look at two rounds of the chain%s"
                : "the check of two rounds of the chain finds no race%s",
            gd_text_get(&hop->hazard));
}

/* A path that misses the wait. */
static bool describe_dry_path(const griddep_kernel *kernel, gd_text *text)
{
    const griddep_ptx *ptx = kernel->module->ptx;
    uint32_t entry;

    if (!ptx || !gd_ptx_find_entry(ptx, kernel->name, &entry))
        return true;
    gd_dry_search *search = gd_dry_search_create(&ptx->module);
    bool done = search && gd_dry_search_describe(search, ptx->module.entries[entry], text);
    gd_dry_search_destroy(search);
    return done;
}

/* The wait matters to the attribute, which says so; forced, the kernel overlaps without one. */
static void explain_attribute(griddep_explanation *explanation, const pair *hop)
{
    const griddep_kernel *kernel = hop->consumer.kernel;
    uint32_t traits = kernel->info.traits;
    int32_t waits = gd_early_kernel(traits),
            missing = waits == GRIDDEP_REASON_SET ? GRIDDEP_REASON_NO_WAIT : waits;
    int32_t reason = hop->consumer.reason;
    bool set = reason <= GRIDDEP_REASON_FORCED;
    const bool vouched = reason == GRIDDEP_REASON_FORCED && waits != GRIDDEP_REASON_SET &&
                         hop->has_producer && !hop->rounds && !hop->hazard.bytes;

    gd_text path = {0};
    if (!(traits & GRIDDEP_TRAIT_WAITS_ALWAYS) && !describe_dry_path(kernel, &path))
        explanation->text.failed = true; /* the one text that is checked at the end */
    add(explanation, "consumer waits", missing,
        !(traits & GRIDDEP_TRAIT_KNOWN) || traits & GRIDDEP_TRAIT_OPEN
            ? UNKNOWN
            : (traits & GRIDDEP_TRAIT_WAITS_ALWAYS) != 0,
        false, "%s: %s%s%s%s%s", hop->consumer.name, griddep_text(GRIDDEP_TEXT_REASON, waits),
        traits & GRIDDEP_TRAIT_STATED ? ", as the program states" : "", path.bytes ? ": " : "",
        gd_text_get(&path),
        vouched ? "; forced to start early, it races with no launch before it that the check sees"
                : "");
    gd_text_free(&path);
    if (hop->consumer.by_event && reason == GRIDDEP_REASON_PLAIN)
        add(explanation, "event", reason, UNMET, true,
            "%s records the event at its end: another launch that waits for it does not wait on "
            "each path, or it records an event of the caller's at its trigger",
            hop->producer.name);
    else
        add(explanation, hop->consumer.by_event ? "event" : "attribute 6", reason, set, true, "%s",
            griddep_text(GRIDDEP_TEXT_REASON, reason));
    if (hop->graph && hop->has_producer)
        add(explanation, "graph edge",
            hop->consumer.edge < 0 ? GRIDDEP_REASON_NO_EDGE_DATA : GRIDDEP_REASON_PLAIN,
            hop->consumer.edge, true,
            hop->consumer.edge < 0 ? "the driver does not tell the edge's type"
            : hop->consumer.edge   ? "the edge from %s is programmatic"
                                   : "the edge from %s is a plain one",
            hop->producer.name);
}

/* Measured on an H200 (doc/questions.md): in a stream a cooperative launch starts behind the kernel
 * before it, in a graph it overlaps. */
static void explain_cooperative(griddep_explanation *explanation, const pair *hop)
{
    const gd_CUlaunchAttributeValue *value =
        gd_launch_find_attribute(hop->consumer.launch, GD_CU_LAUNCH_ATTRIBUTE_COOPERATIVE);

    if (value && value->cooperative)
        add(explanation, "cooperative", GRIDDEP_REASON_COOPERATIVE, hop->graph, true,
            hop->graph
                ? "%s is launched cooperatively, which in a graph does no harm"
                : "%s is launched cooperatively, which in a stream waits for the kernel before it",
            hop->consumer.name);
}

/* The first trigger in the entry's own body; NULL where there is none. */
static const gd_ptx_control *find_trigger(const griddep_kernel *kernel)
{
    const griddep_ptx *ptx = kernel->module->ptx;
    uint32_t index = 0;

    if (!ptx || !gd_ptx_find_entry(ptx, kernel->name, &index))
        return NULL;
    const gd_ptx_function *entry = &ptx->module.functions[ptx->module.entries[index]];
    for (uint32_t i = entry->control; i < entry->control_end; i++)
        if (ptx->module.controls[i].kind == GD_PTX_CONTROL_LAUNCH_DEPENDENTS)
            return &ptx->module.controls[i];
    return NULL;
}

static void explain_trigger(griddep_explanation *explanation, const pair *hop)
{
    const griddep_kernel *kernel = hop->producer.kernel;
    const gd_ptx_control *trigger = find_trigger(kernel);

    if (gd_room_may_trigger(kernel->info.traits))
        add(explanation, "producer triggers", GRIDDEP_REASON_UNKNOWN_CODE, UNKNOWN, true,
            "the code of %s is not known, so nobody can tell whether it triggers",
            hop->producer.name);
    else if (gd_room_lacks_trigger(kernel->info.traits))
        add(explanation, "producer triggers", GRIDDEP_REASON_NO_TRIGGER, UNMET, true,
            "%s never triggers: a block counts as triggered when it ends, so %s starts after the "
            "last "
            "block",
            hop->producer.name, hop->consumer.name);
    else if (!trigger)
        add(explanation, "producer triggers", GRIDDEP_REASON_NO_TRIGGER, MET, true,
            kernel->info.traits & GRIDDEP_TRAIT_MACHINE_CODE ? "%s triggers, by its machine code"
                                                             : "%s triggers in a function that it "
                                                               "calls",
            hop->producer.name);
    else {
        const gd_ptx_module *module = &kernel->module->ptx->module;
        int32_t line, column;
        gd_ptx_token_position(module, module->instructions[trigger->instruction].opcode, &line,
                              &column);
        add(explanation, "producer triggers", GRIDDEP_REASON_NO_TRIGGER, MET, true,
            "%s triggers, first at %" PRId32 ":%" PRId32 " of %s%s; nothing overlaps before that",
            hop->producer.name, line, column, kernel->module->name,
            trigger->predicated ? ", under a predicate" : "");
    }
}

/* ---- room ---- */

static void explain_grids(griddep_explanation *explanation, const pair *hop)
{
    const gd_residence *at = &hop->room.residence;

    add(explanation, "grids", GRIDDEP_REASON_WAVES, at->waves <= 1, false,
        "%s has %" PRIu64 " CTA%s on %" PRId32 " SMs that hold %" PRIu32 " each: %" PRIu64
        " wave%s; %s has %" PRIu64 "%s",
        hop->producer.name, hop->room.before.grid, hop->room.before.grid == 1 ? "" : "s",
        hop->runtime->info.multiprocessors, hop->room.before.alone, at->waves,
        at->waves == 1 ? "" : "s", hop->consumer.name, hop->room.after.grid,
        at->waves > 1 ? "; the trigger counts when the last wave has begun" : "");
}

/* One line for each resource: both kernels against the SM. */
static void explain_resource(griddep_explanation *explanation, const pair *hop, const char *name,
                             uint64_t limit, uint64_t before, uint64_t after, const char *unit)
{
    uint64_t used = before * hop->room.residence.full;
    uint64_t left = used < limit ? limit - used : 0;

    add(explanation, name, GRIDDEP_REASON_NO_ROOM, left >= after, false,
        "%" PRIu32 " CTA%s of %s on an SM use%s %" PRIu64 " of its %" PRIu64
        " %s; a CTA of %s needs %" PRIu64 ", and %" PRIu64 " are free",
        hop->room.residence.full, hop->room.residence.full == 1 ? "" : "s", hop->producer.name,
        hop->room.residence.full == 1 ? "s" : "", used, limit, unit, hop->consumer.name, after,
        left);
}

static void explain_beside(griddep_explanation *explanation, const pair *hop)
{
    const gd_room *room = &hop->room;
    const char *first = hop->producer.name, *second = hop->consumer.name, *lacking = "";
    const uint32_t full = room->residence.full;

    gd_footprint_fits(&hop->runtime->info, &room->before, room->residence.least, &room->after,
                      &lacking);
    if (room->beside_full)
        add(explanation, "room beside", GRIDDEP_REASON_NO_ROOM, MET, false,
            "an SM with %" PRIu32 " CTA%s of %s has room for %" PRIu32 " of %s", full,
            full == 1 ? "" : "s", first, room->beside_full, second);
    else if (room->beside_tail)
        add(explanation, "room beside", GRIDDEP_REASON_NO_ROOM, MET, false,
            "an SM with %" PRIu32 " CTA%s of %s has no room for %s; in the last wave, with %" PRIu32
            ", it has room for %" PRIu32,
            full, full == 1 ? "" : "s", first, second, room->residence.least, room->beside_tail);
    else
        add(explanation, "room beside", GRIDDEP_REASON_NO_ROOM, UNMET, false,
            "no room: on an SM with %" PRIu32 " CTA%s of %s a CTA of %s finds too little of this: "
            "%s; it starts as they end",
            room->residence.least, room->residence.least == 1 ? "" : "s", first, second, lacking);
}

static void explain_room(griddep_explanation *explanation, const pair *hop)
{
    const griddep_runtime_info *info = &hop->runtime->info;
    const gd_footprint *a = &hop->room.before, *b = &hop->room.after;

    explain_grids(explanation, hop);
    explain_resource(explanation, hop, "CTA slots", info->blocks_per_multiprocessor, 1, 1,
                     "CTA slots");
    explain_resource(explanation, hop, "threads", info->threads_per_multiprocessor, a->threads,
                     b->threads, "threads");
    explain_resource(explanation, hop, "registers", info->registers_per_multiprocessor,
                     a->registers, b->registers, "registers");
    explain_resource(explanation, hop, "shared memory", info->shared_bytes_per_multiprocessor,
                     a->shared, b->shared, "bytes of shared memory");
    explain_beside(explanation, hop);
}

static void explain_cluster(griddep_explanation *explanation, const pair *hop)
{
    const gd_CUlaunchAttributeValue *value =
        gd_launch_find_attribute(hop->consumer.launch, GD_CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
    uint32_t blocks = value ? value->clusterDim.x * value->clusterDim.y * value->clusterDim.z : 1;

    if (blocks <= 1)
        add(explanation, "clusters", GRIDDEP_REASON_CLUSTER, MET, false, "%s has no clusters",
            hop->consumer.name);
    else
        add(explanation, "clusters", GRIDDEP_REASON_CLUSTER, UNKNOWN, false,
            "%s has clusters of %" PRIu32 " CTAs, which must find room in one GPC at the same time",
            hop->consumer.name, blocks);
}

static void name_carving(const gd_room *of, int which, char text[48])
{
    if (of->percents[which] < 0)
        snprintf(text, 48, "the driver's choice");
    else if (!of->settings[which])
        snprintf(text, 48, "%d %%", of->percents[which]);
    else
        snprintf(text, 48, "%d %%: %" PRIu32 " KiB", of->percents[which],
                 of->settings[which] / 1024);
}

static void explain_carveout(griddep_explanation *explanation, const pair *hop)
{
    const gd_room *of = &hop->room;
    const char *first = hop->producer.name, *second = hop->consumer.name;
    int met = of->carved;
    char texts[2][48];

    name_carving(of, 0, texts[0]);
    name_carving(of, 1, texts[1]);
    add(explanation, "carve-out", GRIDDEP_REASON_CARVEOUT, met, false,
        "the SMs are set to what %s prefers (%s); %s prefers %s, and both take %" PRIu64
        " bytes of shared memory on one%s",
        first, texts[0], second, texts[1], of->needed,
        met == MET     ? ""
        : met == UNMET ? ": an SM changes its carve-out only when it is empty"
                       : "; an SM changes its carve-out only when it is empty, and a carve-out of "
                         "100 % for the first "
                         "kernel makes room");
}

/* ---- what follows ---- */

/* Where the launch does not begin early, the chain has decided why; several conditions may be
 * unmet then. -1: it begins early, or could. */
static int32_t find_decided(const griddep_explanation *explanation, const pair *hop)
{
    int32_t reason = hop->consumer.reason;

    for (uint32_t i = 0;
         i < explanation->count && reason > GRIDDEP_REASON_FORCED && reason != GRIDDEP_REASON_PLAIN;
         i++) {
        const griddep_condition *condition = &explanation->list[i].condition;
        if (condition->decisive && condition->met == UNMET && condition->reason == reason)
            return (int32_t)i;
    }
    return -1;
}

static void conclude(griddep_explanation *explanation, const pair *hop)
{
    griddep_explanation_info *info = &explanation->info;
    const char *first = hop->has_producer ? hop->producer.name : "", *second = hop->consumer.name;
    int32_t unknown = -1;

    info->unmet = find_decided(explanation, hop);
    for (uint32_t i = 0; i < explanation->count && info->unmet < 0; i++) {
        const griddep_condition *condition = &explanation->list[i].condition;
        if (condition->decisive && condition->met == UNMET)
            info->unmet = (int32_t)i;
        else if (condition->decisive && condition->met == UNKNOWN && unknown < 0)
            unknown = (int32_t)i;
    }
    if (info->unmet >= 0 || unknown >= 0) {
        int32_t which = info->unmet >= 0 ? info->unmet : unknown;
        info->overlap = info->unmet >= 0 ? GRIDDEP_OVERLAP_NONE : GRIDDEP_OVERLAP_UNKNOWN;
        info->reason = explanation->list[which].condition.reason;
        gd_text_format(&explanation->text, "%s: %s",
                       griddep_text(GRIDDEP_TEXT_OVERLAP, info->overlap),
                       gd_text_get(&explanation->list[which].text));
        return;
    }
    info->reason = hop->consumer.reason;
    info->overlap = gd_room_overlap(&hop->room, &info->reason);
    if (info->overlap == GRIDDEP_OVERLAP_FULL)
        gd_text_format(&explanation->text,
                       "overlaps: %s can start when all CTAs of %s have triggered", second, first);
    else if (info->reason == GRIDDEP_REASON_CARVEOUT)
        gd_text_format(&explanation->text,
                       "overlaps at the tail: the SMs are set to the shared memory of %s, so %s "
                       "starts when they are empty",
                       first, second);
    else
        gd_text_format(&explanation->text,
                       "overlaps at the tail: CTAs of %s start when CTAs of %s end", second, first);
}

static void explain(griddep_explanation *explanation, pair *hop)
{
    explain_device(explanation, hop);
    explain_environment(explanation, hop);
    explain_tools(explanation);
    explain_neighbours(explanation, hop);
    explain_race(explanation, hop);
    explain_round(explanation, hop);
    if (hop->consumer.kernel) {
        explain_attribute(explanation, hop);
        explain_cooperative(explanation, hop);
    }
    if (hop->has_producer && hop->producer.kernel && hop->consumer.kernel) {
        gd_room_measure(hop->producer.kernel, hop->producer.launch, hop->consumer.kernel,
                        hop->consumer.launch, &hop->room);
        explain_trigger(explanation, hop);
        explain_room(explanation, hop);
        explain_cluster(explanation, hop);
        explain_carveout(explanation, hop);
    }
    if (hop->has_producer)
        gd_text_string(&explanation->producer, hop->producer.name);
    gd_text_string(&explanation->consumer, hop->consumer.name);
    conclude(explanation, hop);
}

/* The texts stand where they are from now on. */
static int32_t finish(griddep_explanation *explanation, griddep_error *error)
{
    bool failed =
        explanation->producer.failed || explanation->consumer.failed || explanation->text.failed;

    for (uint32_t i = 0; i < explanation->count; i++) {
        failed = failed || explanation->list[i].text.failed;
        explanation->list[i].condition.text = gd_text_get(&explanation->list[i].text);
    }
    explanation->info.size = sizeof explanation->info;
    explanation->info.producer = explanation->producer.data;
    explanation->info.consumer = gd_text_get(&explanation->consumer);
    explanation->info.text = gd_text_get(&explanation->text);
    return failed ? gd_error_memory(error) : GRIDDEP_OK;
}

/* ---- public ---- */

/* The hop to a launch; past the last one, that to the first of the next round. */
static int32_t read_hops(griddep_chain *chain, uint32_t index, pair *hop, griddep_error *error)
{
    const uint32_t count = griddep_chain_length(chain);
    griddep_hop_info info = {.size = sizeof info};

    hop->rounds = index == count;
    int32_t status =
        gd_chain_read_hop(chain, hop->mode, hop->rounds ? 0 : index, &hop->consumer, error);
    if (!status && hop->rounds) {
        status = griddep_chain_get_hop(chain, hop->mode, index, &info, error);
        hop->consumer.previous = chain->last[0];
        hop->consumer.reason = info.reason;
        hop->consumer.edge = info.edge;
        if (!status && info.reason == GRIDDEP_REASON_ROUND)
            status = gd_chain_prove_round(chain, &hop->hazard, error);
    } else if (!status && (hop->consumer.reason == GRIDDEP_REASON_RACE ||
                           hop->consumer.reason == GRIDDEP_REASON_FORCED)) {
        status = gd_chain_tell_hazard(chain, index, &hop->hazard, &hop->sure, error);
    }
    hop->has_producer = !status && hop->consumer.previous != GD_HOP_NONE;
    return hop->has_producer
               ? gd_chain_read_hop(chain, hop->mode, hop->consumer.previous, &hop->producer, error)
               : status;
}

static int32_t make(griddep_chain *chain, int32_t mode, uint32_t index,
                    griddep_explanation **explanation, griddep_error *error)
{
    griddep_explanation *made = calloc(1, sizeof *made);
    pair hop = {.mode = mode,
                .graph = mode == GRIDDEP_MODE_GRAPH || mode == GRIDDEP_MODE_GRAPH_PDL};
    bool pushed;

    if (!made)
        return gd_error_memory(error);
    int32_t status = read_hops(chain, index, &hop, error);
    hop.runtime = hop.consumer.runtime;
    if (!status)
        status = gd_runtime_enter(chain->runtime, &pushed, error);
    if (!status) {
        explain(made, &hop);
        gd_runtime_leave(hop.runtime, pushed);
        made->text.failed |= hop.hazard.failed;
        status = finish(made, error);
    }
    gd_text_free(&hop.hazard);
    if (status)
        griddep_explanation_destroy(made);
    else
        *explanation = made;
    return status;
}

int32_t griddep_chain_explain(griddep_chain *chain, int32_t mode, uint32_t index,
                              griddep_explanation **explanation, griddep_error *error)
{
    int32_t status = griddep_chain_prepare(chain, mode, error);

    if (status)
        return status;
    if (!explanation)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "explanation is NULL");
    if (index > griddep_chain_length(chain) || !griddep_chain_length(chain))
        return gd_chain_no_launch(chain, index, error);
    return make(chain, mode, index, explanation, error);
}

int32_t griddep_explanation_get(const griddep_explanation *explanation, uint32_t index,
                                griddep_condition *condition, griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!explanation)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "explanation is NULL");
    if (index >= explanation->count)
        return gd_error_no_number(error, "the explanation", "", explanation->count, "condition",
                                  "conditions", index);
    return gd_struct_write(condition, &explanation->list[index].condition, sizeof *condition,
                           CONDITION_MINIMUM, "griddep_condition", error);
}

int32_t griddep_explanation_get_info(const griddep_explanation *explanation,
                                     griddep_explanation_info *info, griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!explanation)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "explanation is NULL");
    griddep_explanation_info known = explanation->info;
    known.condition_count = explanation->count;
    return gd_struct_write(info, &known, sizeof known, INFO_MINIMUM, "griddep_explanation_info",
                           error);
}

void griddep_explanation_destroy(griddep_explanation *explanation)
{
    if (!explanation)
        return;
    for (uint32_t i = 0; i < explanation->count; i++)
        gd_text_free(&explanation->list[i].text);
    free(explanation->list);
    gd_text_free(&explanation->producer);
    gd_text_free(&explanation->consumer);
    gd_text_free(&explanation->text);
    free(explanation);
}
