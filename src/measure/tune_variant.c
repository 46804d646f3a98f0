/* The chain and its variants: which kernels there are, their texts rewritten, checked, loaded and
 * put together. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "measure/tune.h"
#include "ptx/handle/ptx.h"
#include "run/module/kernel.h"
#include "run/module/module.h"

enum { MOST_ATTRIBUTES = 33 }; /* those of a caller, and the cluster */

/* ---- sources and units ---- */

/* A copy, a fill or a host function has no module, and nothing that could be rewritten. */
static uint32_t find_source(griddep_tune *tune, griddep_module *module)
{
    for (uint32_t i = 0; i < tune->source_count; i++)
        if (tune->sources[i].module == module)
            return i;
    if (module)
        tune->sources[tune->source_count] =
            (gd_tune_source){.module = gd_module_hold(module), .ptx = module->ptx};
    return tune->source_count++;
}

static uint32_t find_unit(griddep_tune *tune, uint32_t launch)
{
    const gd_chain_launch *chained = tune->launches[launch].chained;
    griddep_kernel *kernel = gd_chain_kernel(chained);
    const char *name = gd_chain_kernel_name(chained);
    uint32_t source = find_source(tune, kernel ? kernel->module : NULL);

    for (uint32_t i = 0; i < tune->unit_count; i++)
        if (tune->units[i].source == source && !strcmp(tune->units[i].name, name))
            return i;
    tune->units[tune->unit_count] = (gd_tune_unit){.source = source,
                                                   .first = launch,
                                                   .name = name,
                                                   .traits = kernel ? kernel->info.traits : 0};
    return tune->unit_count++;
}

/* The address that an argument is; 0: it is none. */
static uint64_t address_in(const gd_tune_launch *launch, uint32_t argument)
{
    const gd_chain_launch *chained = launch->chained;
    const gd_call *call = gd_chain_call(chained);
    uint64_t address = 0;

    if (!call)
        return argument ? gd_chain_move_of(chained)->source : gd_chain_move_of(chained)->target;
    if (call->kernel->parameters[argument].bytes == sizeof address)
        memcpy(&address, call->pointers[argument], sizeof address);
    return address;
}

/* Where an argument points: what it is, or, of a tensor map, by another argument with the same
 * buffer. 0: not known. */
static uint64_t find_address(const griddep_tune *tune, uint32_t launch, uint32_t argument)
{
    const griddep_use *use = &tune->launches[launch].uses[argument];
    uint64_t address = address_in(&tune->launches[launch], argument);

    for (uint32_t i = 0; i < tune->launch_count && !address; i++) {
        const gd_tune_launch *other = &tune->launches[i];
        for (uint32_t k = 0; k < other->chained->given.use_count && !address; k++) {
            if (other->uses[k].buffer == use->buffer && address_in(other, k))
                address = address_in(other, k) - other->uses[k].offset + use->offset;
        }
    }
    return address;
}

/* The caller's buffer that an argument points into, and the bytes from there to its end; NULL: it
 * points into none. */
static const gd_experiment_buffer *find_buffer(const griddep_tune *tune, uint32_t launch,
                                               uint32_t argument, uint64_t *bytes)
{
    const uint64_t address = find_address(tune, launch, argument);

    for (uint32_t i = 0; i < tune->experiment.buffer_count; i++) {
        const gd_experiment_buffer *buffer = &tune->buffers[i];
        *bytes = buffer->bytes - (address - buffer->address);
        if (address >= buffer->address && address - buffer->address < buffer->bytes)
            return buffer;
    }
    return NULL;
}

/* The bytes behind a parameter that holds constant data in every launch of a unit; 0: it does
 * not. */
static uint64_t constant_bytes(const griddep_tune *tune, uint32_t unit, uint32_t parameter)
{
    uint64_t least = UINT64_MAX;

    for (uint32_t i = 0; i < tune->launch_count; i++) {
        if (tune->launches[i].unit != unit)
            continue;
        const griddep_use *use = &tune->launches[i].uses[parameter];
        if (!use->buffer || use->access == GRIDDEP_ACCESS_WRITE ||
            use->access == GRIDDEP_ACCESS_UPDATE)
            return 0;
        uint64_t bytes;
        const gd_experiment_buffer *buffer = find_buffer(tune, i, parameter, &bytes);
        if (!buffer || (buffer->initial && use->access != GRIDDEP_ACCESS_CONSTANT))
            return 0;
        if (use->bytes && use->bytes < bytes)
            bytes = use->bytes;
        least = bytes < least ? bytes : least;
    }
    return least;
}

static int32_t find_constants(griddep_tune *tune, uint32_t index, griddep_error *error)
{
    gd_tune_unit *unit = &tune->units[index];
    const gd_tune_source *source = &tune->sources[unit->source];
    const uint32_t count = tune->launches[unit->first].chained->given.use_count;
    uint32_t entry;

    if (!source->ptx || !gd_ptx_find_entry(source->ptx, unit->name, &entry))
        return GRIDDEP_OK;
    unit->constants = calloc(count + 1, sizeof *unit->constants);
    unit->constant_names = calloc(count + 1, sizeof *unit->constant_names);
    if (!unit->constants || !unit->constant_names)
        return gd_error_memory(error);
    for (uint32_t i = 0; i < count; i++) {
        griddep_parameter_info parameter = {.size = sizeof parameter};
        uint64_t bytes = constant_bytes(tune, index, i);
        if (!bytes || griddep_ptx_get_parameter(source->ptx, entry, i, &parameter, NULL) ||
            !parameter.name)
            continue;
        unit->constants[unit->constant_count] = (gd_tune_constant){parameter.name, bytes};
        unit->constant_names[unit->constant_count++] = parameter.name;
    }
    return GRIDDEP_OK;
}

/* Whether something of the chain stands directly before a launch, or behind it. */
static void find_neighbours(griddep_tune *tune, uint32_t launch)
{
    const gd_chain_launch *own = tune->launches[launch].chained;
    gd_tune_unit *unit = &tune->units[tune->launches[launch].unit];

    unit->has_before |= own->given.after_count > 0 || own->previous != GD_CHAIN_NONE;
    for (uint32_t i = 0; i < own->given.after_count; i++)
        tune->units[tune->launches[own->given.after[i]].unit].has_behind = true;
    if (own->previous != GD_CHAIN_NONE)
        tune->units[tune->launches[own->previous].unit].has_behind = true;
}

/* The preferred carve-out that a configuration has. */
static int32_t read_carveout(const griddep_launch_config *config)
{
    int32_t percent;

    for (uint32_t i = 0; i < config->attribute_count; i++) {
        if (config->attributes[i].id != GRIDDEP_ATTRIBUTE_CARVEOUT)
            continue;
        memcpy(&percent, config->attributes[i].value, sizeof percent);
        return percent;
    }
    return GRIDDEP_CARVEOUT_DEFAULT;
}

int32_t gd_tune_read_chain(griddep_tune *tune, griddep_error *error)
{
    const griddep_chain *chain = tune->chain;
    const uint32_t count = chain->count;
    uint32_t place = 0;

    if (count < 2)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "a chain of %u launches has no hop to tune", (unsigned)count);
    tune->launches = calloc(count, sizeof *tune->launches);
    tune->sources = calloc(count, sizeof *tune->sources);
    tune->units = calloc(count, sizeof *tune->units);
    tune->choices = calloc(count, sizeof *tune->choices);
    if (!tune->launches || !tune->sources || !tune->units || !tune->choices)
        return gd_error_memory(error);
    tune->launch_count = count;
    int32_t status = gd_chain_read_uses(chain, &tune->uses, error);
    for (uint32_t i = 0; i < count && !status; i++) {
        gd_tune_launch *launch = &tune->launches[i];
        launch->chained = &chain->launches[i];
        if (gd_chain_call(launch->chained))
            launch->config = gd_call_config(gd_chain_call(launch->chained));
        launch->uses = tune->uses + place;
        launch->carveout = read_carveout(&launch->config);
        launch->shape = (gd_tune_shape){launch->config.grid[0], launch->config.block[0],
                                        launch->config.shared_bytes};
        launch->unit = find_unit(tune, i);
        find_neighbours(tune, i);
        place += launch->chained->given.use_count + launch->chained->given.reach_count;
    }
    for (uint32_t i = 0; i < tune->unit_count && !status; i++)
        status = find_constants(tune, i, error);
    return status;
}

/* ---- what is written, and the caller's buffers ---- */

static int32_t check_cover(const griddep_tune *tune, uint32_t launch, uint32_t argument,
                           uint64_t written, griddep_error *error)
{
    const gd_chain_launch *chained = tune->launches[launch].chained;
    const char *name =
        gd_chain_call(chained) ? gd_chain_call(chained)->kernel->parameters[argument].name : NULL;
    uint64_t bytes = 0;
    gd_text who = {0};

    if (!written || !find_address(tune, launch, argument))
        return GRIDDEP_OK;
    const gd_experiment_buffer *buffer = find_buffer(tune, launch, argument, &bytes);
    if (buffer && buffer->initial && written <= bytes)
        return GRIDDEP_OK;
    gd_text_format(&who, "argument %u%s%s%s of launch %u, %s,", (unsigned)argument,
                   name ? " (" : "", name ? name : "", name ? ")" : "", (unsigned)launch,
                   gd_chain_kernel_name(chained));
    int32_t status =
        !buffer ? gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                               "%s is written, and is in none of the buffers: the tuner could "
                               "neither restore nor compare it",
                               gd_text_get(&who))
        : written > bytes
            ? gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                           "%s is written for %llu bytes, and buffer %u ends behind %llu",
                           gd_text_get(&who), (unsigned long long)written,
                           (unsigned)(buffer - tune->buffers) + 1, (unsigned long long)bytes)
            : gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                           "%s is written, and buffer %u has no `initial`, as one that nothing "
                           "writes",
                           gd_text_get(&who), (unsigned)(buffer - tune->buffers) + 1);
    gd_text_free(&who);
    return status;
}

int32_t gd_tune_check_cover(const griddep_tune *tune, griddep_error *error)
{
    uint32_t total = 0, place = 0;

    for (uint32_t i = 0; i < tune->launch_count; i++)
        total += tune->launches[i].chained->given.use_count;
    uint64_t *written = calloc((size_t)total + 1, sizeof *written);
    if (!written)
        return gd_error_memory(error);
    int32_t status = gd_chain_read_writes(tune->chain, tune->uses, written, error);
    for (uint32_t i = 0; i < tune->launch_count && !status; i++) {
        for (uint32_t k = 0; k < tune->launches[i].chained->given.use_count && !status; k++)
            status = check_cover(tune, i, k, written[place++], error);
    }
    free(written);
    return status;
}

/* ---- setups ---- */

int32_t gd_tune_setup_copy(const griddep_tune *tune, const gd_tune_setup *from, gd_tune_setup *to,
                           griddep_error *error)
{
    *to = (gd_tune_setup){.edits = calloc(tune->unit_count, sizeof *to->edits),
                          .pdl = calloc(tune->launch_count, sizeof *to->pdl),
                          .shapes = calloc(tune->launch_count, sizeof *to->shapes),
                          .carveouts = calloc(tune->launch_count, sizeof *to->carveouts),
                          .texts = calloc(tune->source_count, sizeof *to->texts),
                          .modules = calloc(tune->source_count, sizeof *to->modules)};
    if (!to->edits || !to->pdl || !to->shapes || !to->carveouts || !to->texts || !to->modules)
        return gd_error_memory(error);
    for (uint32_t i = 0; i < tune->launch_count; i++) {
        to->pdl[i] = from ? from->pdl[i] : tune->launches[i].config.pdl;
        to->shapes[i] = from ? from->shapes[i] : tune->launches[i].shape;
        to->carveouts[i] = from ? from->carveouts[i] : tune->launches[i].carveout;
    }
    for (uint32_t i = 0; i < tune->unit_count && from; i++)
        to->edits[i] = from->edits[i];
    return GRIDDEP_OK;
}

void gd_tune_setup_free(const griddep_tune *tune, gd_tune_setup *setup)
{
    griddep_chain_destroy(setup->chain);
    for (uint32_t i = 0; i < tune->source_count; i++) {
        if (setup->modules)
            griddep_module_unload(setup->modules[i]);
        if (setup->texts)
            griddep_ptx_destroy(setup->texts[i]);
    }
    free(setup->modules);
    free(setup->texts);
    free(setup->carveouts);
    free(setup->shapes);
    free(setup->pdl);
    free(setup->edits);
    *setup = (gd_tune_setup){0};
}

static bool is_edited(const gd_tune_edit *edit)
{
    return edit->wait != GRIDDEP_WAIT_KEEP || edit->trigger != GRIDDEP_TRIGGER_KEEP ||
           edit->prefetch;
}

static int32_t rewrite_unit(const griddep_tune *tune, gd_tune_setup *setup, uint32_t index,
                            griddep_error *error)
{
    const gd_tune_unit *unit = &tune->units[index];
    const gd_tune_edit *edit = &setup->edits[index];
    const griddep_rewrite_options options = {.size = sizeof options,
                                             .entry = unit->name,
                                             .wait = edit->wait,
                                             .trigger = edit->trigger,
                                             .constants = unit->constant_names,
                                             .constant_count = unit->constant_count,
                                             .prefetch = edit->prefetch,
                                             .prefetch_bytes = edit->prefetch_bytes,
                                             .trigger_round = edit->round};
    griddep_ptx *made;
    int32_t status = griddep_ptx_rewrite(gd_tune_text_of(tune, setup, unit->source), &options,
                                         &made, NULL, error);

    if (status)
        return status;
    griddep_ptx_destroy(setup->texts[unit->source]);
    setup->texts[unit->source] = made;
    return GRIDDEP_OK;
}

const griddep_ptx *gd_tune_text_of(const griddep_tune *tune, const gd_tune_setup *setup,
                                   uint32_t source)
{
    return setup->texts[source] ? setup->texts[source] : tune->sources[source].ptx;
}

int32_t gd_tune_rewrite(const griddep_tune *tune, gd_tune_setup *setup, griddep_error *error)
{
    int32_t status = GRIDDEP_OK;

    for (uint32_t i = 0; i < tune->unit_count && !status; i++)
        if (is_edited(&setup->edits[i]))
            status = rewrite_unit(tune, setup, i, error);
    return status;
}

/* ---- the check ---- */

static void count_findings(const griddep_findings *findings, uint32_t *errors, uint32_t *warnings,
                           gd_text *first)
{
    const char *error_text = NULL, *warning_text = NULL;

    *errors = *warnings = 0;
    for (uint32_t i = 0; i < griddep_findings_count(findings); i++) {
        griddep_finding finding = {.size = sizeof finding};
        if (griddep_findings_get(findings, i, &finding, NULL))
            continue;
        if (finding.severity == GRIDDEP_SEVERITY_ERROR && !(*errors)++)
            error_text = finding.text;
        if (finding.severity == GRIDDEP_SEVERITY_WARNING && !(*warnings)++)
            warning_text = finding.text;
    }
    if (first && (error_text || warning_text))
        gd_text_string(first, error_text ? error_text : warning_text);
}

int32_t gd_tune_check(const griddep_tune *tune, const gd_tune_setup *setup, uint32_t *errors,
                      uint32_t *warnings, gd_text *first, griddep_error *error)
{
    const griddep_ptx **texts = calloc(tune->launch_count, sizeof *texts);
    griddep_findings *findings;

    if (!texts)
        return gd_error_memory(error);
    for (uint32_t i = 0; i < tune->launch_count; i++)
        texts[i] = gd_tune_text_of(tune, setup, tune->units[tune->launches[i].unit].source);
    int32_t status = gd_chain_check_as(tune->chain, texts, setup->pdl, &findings, error);
    free(texts);
    if (status)
        return status;
    count_findings(findings, errors, warnings, first);
    griddep_findings_destroy(findings);
    return GRIDDEP_OK;
}

/* ---- on the device ---- */

static int32_t load_text(const griddep_tune *tune, const griddep_ptx *ptx, const char *name,
                         griddep_module **module, griddep_error *error)
{
    const griddep_module_options options = {.size = sizeof options, .name = name};

    return griddep_module_load(tune->runtime, ptx->module.text, ptx->module.bytes, &options, module,
                               error);
}

int32_t gd_tune_kernel_of(const griddep_tune *tune, const gd_tune_setup *setup, uint32_t launch,
                          griddep_kernel **kernel, griddep_error *error)
{
    const gd_tune_unit *unit = &tune->units[tune->launches[launch].unit];

    if (!setup->modules[unit->source]) {
        const gd_call *call = gd_chain_call(tune->launches[launch].chained);
        *kernel = call ? call->kernel : NULL;
        return GRIDDEP_OK;
    }
    return griddep_module_find_kernel(setup->modules[unit->source], unit->name, kernel, error);
}

/* The attributes of a launch with its carve-out, or with none, in place of the one that was given;
 `room` is for them.
 */
static void set_carveout(const griddep_tune *tune, const gd_tune_setup *setup, uint32_t index,
                         griddep_launch_config *config, griddep_attribute *room)
{
    uint32_t count = 0;

    if (setup->carveouts[index] == tune->launches[index].carveout ||
        config->attribute_count > MOST_ATTRIBUTES)
        return; /* too many are refused with the launch */
    for (uint32_t i = 0; i < config->attribute_count; i++)
        if (config->attributes[i].id != GRIDDEP_ATTRIBUTE_CARVEOUT)
            room[count++] = config->attributes[i];
    if (setup->carveouts[index] != GRIDDEP_CARVEOUT_DEFAULT)
        griddep_attribute_set(&room[count++], GRIDDEP_ATTRIBUTE_CARVEOUT,
                              (const int64_t[]){setup->carveouts[index]}, 1, NULL);
    config->attributes = room;
    config->attribute_count = count;
}

static void set_shape(griddep_launch_config *config, gd_tune_shape shape)
{
    config->grid[0] = shape.grid;
    config->block[0] = shape.block;
    config->shared_bytes = shape.shared_bytes;
}

bool gd_tune_takes(const griddep_tune *tune, uint32_t launch, gd_tune_shape shape)
{
    const gd_call *given = gd_chain_call(tune->launches[launch].chained);
    griddep_launch_config config = tune->launches[launch].config;
    gd_call *call = NULL;

    set_shape(&config, shape);
    if (gd_call_with_kernel(given, given->kernel, &config, &call, NULL))
        return false;
    gd_call_release(call);
    return true;
}

bool gd_tune_same_shape(gd_tune_shape a, gd_tune_shape b)
{
    return a.grid == b.grid && a.block == b.block && a.shared_bytes == b.shared_bytes;
}

bool gd_tune_alike(const griddep_tune *tune, uint32_t a, uint32_t b)
{
    const gd_tune_launch *one = &tune->launches[a], *other = &tune->launches[b];
    const gd_call *call = gd_chain_call(one->chained), *same = gd_chain_call(other->chained);

    if (one->unit != other->unit || !call || !same || one->carveout != other->carveout ||
        memcmp(one->config.grid, other->config.grid, sizeof one->config.grid) != 0 ||
        memcmp(one->config.block, other->config.block, sizeof one->config.block) != 0 ||
        one->config.shared_bytes != other->config.shared_bytes)
        return false;
    for (uint32_t i = 0; i < one->chained->given.use_count; i++) {
        const uint32_t bytes = call->kernel->parameters[i].bytes;
        const bool both = bytes == 8 && address_in(one, i) && address_in(other, i);
        if (!both && memcmp(call->pointers[i], same->pointers[i], bytes) != 0)
            return false;
    }
    return true;
}

static int32_t add_launch(const griddep_tune *tune, gd_tune_setup *setup, uint32_t index,
                          griddep_error *error)
{
    const gd_tune_launch *launch = &tune->launches[index];
    griddep_attribute attributes[MOST_ATTRIBUTES + 1];
    griddep_launch_config config = launch->config;
    gd_call *call = NULL;
    griddep_kernel *kernel;
    int32_t status = gd_tune_kernel_of(tune, setup, index, &kernel, error);

    if (status)
        return status;
    set_carveout(tune, setup, index, &config, attributes);
    set_shape(&config, setup->shapes[index]);
    config.pdl = setup->pdl[index];
    if (kernel)
        status = gd_call_with_kernel(gd_chain_call(launch->chained), kernel, &config, &call, error);
    if (!status)
        status = gd_chain_append_like(setup->chain, launch->chained, call,
                                      gd_chain_move_of(launch->chained), error);
    if (status)
        gd_call_release(call);
    for (uint32_t i = 0; i < launch->chained->given.after_count && !status; i++)
        status = griddep_chain_depend(setup->chain, index, launch->chained->given.after[i], error);
    return status;
}

int32_t gd_tune_realize(const griddep_tune *tune, gd_tune_setup *setup, bool anew,
                        griddep_error *error)
{
    int32_t status = griddep_chain_create(tune->runtime, &setup->chain, error);

    if (!status)
        status = gd_chain_add_buffers_of(setup->chain, tune->chain, error);
    for (uint32_t i = 0; i < tune->source_count && !status; i++) {
        const griddep_ptx *text = gd_tune_text_of(tune, setup, i);
        if (setup->texts[i] || (anew && text))
            status =
                load_text(tune, text, tune->sources[i].module->name, &setup->modules[i], error);
    }
    for (uint32_t i = 0; i < tune->launch_count && !status; i++)
        status = add_launch(tune, setup, i, error);
    return status;
}

/* ---- in words ---- */

static void add_part(gd_text *text, const char *what, const char *value)
{
    gd_text_format(text, "%s%s%s%s", text->bytes ? ", " : "", what, *value ? " " : "", value);
}

static void describe_prefetch(const gd_tune_edit *edit, gd_text *text)
{
    gd_text value = {0};

    if (edit->prefetch_bytes % 1024)
        gd_text_format(&value, "%s=%llu", edit->prefetch, (unsigned long long)edit->prefetch_bytes);
    else
        gd_text_format(&value, "%s=%lluK", edit->prefetch,
                       (unsigned long long)(edit->prefetch_bytes / 1024));
    add_part(text, "prefetch", gd_text_get(&value));
    gd_text_free(&value);
}

void gd_tune_describe_edit(const gd_tune_edit *edit, gd_text *text)
{
    static const char *const waits[] = {"", "insert", "move", "remove", "start"};
    static const char *const triggers[] = {"",           "remove",      "start",
                                           "after-wait", "after-loads", "before-stores",
                                           "end",        "line",        "loop:"};
    gd_text round = {0};

    if (edit->wait != GRIDDEP_WAIT_KEEP)
        add_part(text, "wait", waits[edit->wait]);
    if (edit->trigger == GRIDDEP_TRIGGER_LOOP)
        gd_text_format(&round, "%s%u", triggers[edit->trigger], (unsigned)edit->round);
    else
        gd_text_string(&round, triggers[edit->trigger]);
    if (edit->trigger != GRIDDEP_TRIGGER_KEEP)
        add_part(text, "trigger", gd_text_get(&round));
    text->failed |= round.failed;
    gd_text_free(&round);
    if (edit->prefetch)
        describe_prefetch(edit, text);
}

void gd_tune_describe_carveout(int32_t percent, gd_text *text)
{
    if (percent == GRIDDEP_CARVEOUT_DEFAULT)
        gd_text_string(text, "carveout default");
    else
        gd_text_format(text, "carveout %d", (int)percent);
}

static void add_number(gd_text *text, const char *what, uint32_t value, uint32_t given)
{
    if (value != given)
        gd_text_format(text, "%s%s %u", text->bytes ? ", " : "", what, (unsigned)value);
}

void gd_tune_describe_shape(gd_tune_shape shape, gd_tune_shape given, gd_text *text)
{
    add_number(text, "grid", shape.grid, given.grid);
    add_number(text, "block", shape.block, given.block);
    add_number(text, "shared", shape.shared_bytes, given.shared_bytes);
}

void gd_tune_describe(const griddep_tune *tune, const gd_tune_setup *setup, uint32_t launch,
                      gd_text *text)
{
    const griddep_launch_config *config = &tune->launches[launch].config;
    gd_text carveout = {0};

    gd_tune_describe_edit(&setup->edits[tune->launches[launch].unit], text);
    gd_tune_describe_shape(setup->shapes[launch], tune->launches[launch].shape, text);
    if (setup->carveouts[launch] != tune->launches[launch].carveout) {
        gd_tune_describe_carveout(setup->carveouts[launch], &carveout);
        add_part(text, gd_text_get(&carveout), "");
    }
    if (setup->pdl[launch] != config->pdl)
        add_part(text, "pdl", setup->pdl[launch] == GRIDDEP_PDL_OFF ? "off" : "auto");
    text->failed |= carveout.failed;
    gd_text_free(&carveout);
}
