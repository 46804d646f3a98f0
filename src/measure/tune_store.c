/* What was found, in the store: under the digest of all that it depends on. The entry is text:
 *
 *   griddep tuned 3
 *   figures BASELINE CHOSEN RATIO          picoseconds of a run, and millionths
 *   launch PDL GRID BLOCK SHARED CARVEOUT WORDS    for each launch
 *   source BYTES | source -                for each module, with its PTX behind it; -: as given
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/error.h"
#include "measure/tune.h"
#include "ptx/handle/ptx.h"
#include "run/store.h"
#include "run/runtime.h"

#define FIRST_LINE "griddep tuned 3\n"

/* ---- the key ---- */

static void add_number(gd_digest *digest, uint64_t number)
{
    gd_digest_add(digest, &number, sizeof number);
}

/* What an attribute of an event or of memory holds is an address of this process. */
static void add_attributes(gd_digest *digest, const griddep_launch_config *config)
{
    add_number(digest, config->attribute_count);
    for (uint32_t i = 0; i < config->attribute_count; i++) {
        const griddep_attribute *attribute = &config->attributes[i];
        bool has_address = attribute->id == GRIDDEP_ATTRIBUTE_ACCESS_POLICY_WINDOW ||
                           attribute->id == GRIDDEP_ATTRIBUTE_PROGRAMMATIC_EVENT ||
                           attribute->id == GRIDDEP_ATTRIBUTE_LAUNCH_COMPLETION_EVENT ||
                           attribute->id == GRIDDEP_ATTRIBUTE_DEVICE_UPDATABLE_NODE;
        add_number(digest, (uint64_t)attribute->id);
        if (!has_address)
            gd_digest_add(digest, attribute->value, sizeof attribute->value);
    }
}

static void add_launch(gd_digest *digest, const griddep_tune *tune, uint32_t index)
{
    const gd_tune_launch *launch = &tune->launches[index];
    const gd_chain_launch *chained = launch->chained;
    const griddep_launch_config *config = &launch->config;
    const gd_call *call = gd_chain_call(chained);

    gd_digest_add_string(digest, tune->units[launch->unit].name);
    add_number(digest, tune->units[launch->unit].source);
    add_number(digest, gd_chain_move_of(chained)->value);
    gd_digest_add(digest, config->grid, sizeof config->grid);
    gd_digest_add(digest, config->block, sizeof config->block);
    gd_digest_add(digest, config->cluster, sizeof config->cluster);
    add_number(digest, config->shared_bytes);
    add_number(digest, (uint64_t)config->pdl);
    add_attributes(digest, config);
    add_number(digest, chained->given.lane);
    add_number(digest, chained->given.after_count);
    for (uint32_t i = 0; i < chained->given.after_count; i++)
        add_number(digest, chained->given.after[i]);
    for (uint32_t i = 0; i < chained->given.use_count; i++) {
        const griddep_use *use = &launch->uses[i];
        add_number(digest, use->buffer);
        add_number(digest, (uint64_t)use->access);
        add_number(digest, use->offset);
        add_number(digest, use->bytes);
        if (!use->buffer && call)
            gd_digest_add(digest, call->pointers[i], call->kernel->parameters[i].bytes);
    }
}

static void add_source(gd_digest *digest, const gd_tune_source *source)
{
    gd_digest_add_string(digest, source->ptx ? source->ptx->module.text : "");
}

static void make_key(const griddep_tune *tune, gd_store_key *key)
{
    gd_digest digest;

    gd_digest_begin(&digest);
    gd_digest_add_string(&digest, FIRST_LINE);
    gd_runtime_add_to_key(tune->runtime, &digest);
    add_number(&digest, (uint64_t)tune->options.mode);
    for (uint32_t i = 0; i < tune->source_count; i++)
        add_source(&digest, &tune->sources[i]);
    for (uint32_t i = 0; i < tune->launch_count; i++)
        add_launch(&digest, tune, i);
    gd_digest_end(&digest, key->digest);
}

/* ---- writing ---- */

static void write_source(const griddep_tune *tune, uint32_t index, gd_text *text)
{
    const griddep_ptx *ptx = tune->best.texts[index];

    if (!ptx) {
        gd_text_string(text, "source -\n");
        return;
    }
    gd_text_format(text, "source %" PRIu64 "\n", (uint64_t)ptx->module.bytes);
    gd_text_append(text, ptx->module.text, ptx->module.bytes);
    gd_text_string(text, "\n");
}

/* Where nothing better was found an entry is written only over one that says otherwise. */
bool gd_tune_store(griddep_tune *tune)
{
    gd_store *store = tune->runtime->store;
    gd_store_key key;
    gd_text text = {0};
    char *old = NULL;
    size_t bytes;

    if (!store)
        return false;
    make_key(tune, &key);
    if (!tune->info.changed && !gd_store_load(store, &key, &old, &bytes))
        return false;
    free(old);
    gd_text_format(&text, FIRST_LINE "figures %.0f %.0f %.0f\n", tune->info.baseline_ns * 1e3,
                   tune->info.chosen_ns * 1e3, tune->info.ratio * 1e6);
    for (uint32_t i = 0; i < tune->launch_count; i++)
        gd_text_format(
            &text, "launch %" PRId32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRId32 " %s\n",
            tune->best.pdl[i], tune->best.shapes[i].grid, tune->best.shapes[i].block,
            tune->best.shapes[i].shared_bytes, tune->best.carveouts[i], tune->choices[i].text);
    for (uint32_t i = 0; i < tune->source_count; i++)
        write_source(tune, i, &text);
    bool written = !text.failed && gd_store_save(store, &key, text.data, text.bytes);
    gd_text_free(&text);
    return written;
}

/* ---- reading ---- */

/* What is left of the entry. */
typedef struct reader {
    const char *at, *end;
    bool bad;
} reader;

/* A word that must stand here. */
static void expect(reader *from, const char *word)
{
    size_t length = strlen(word);

    if (from->bad || (size_t)(from->end - from->at) < length || memcmp(from->at, word, length) != 0)
        from->bad = true;
    else
        from->at += length;
}

static int64_t read_number(reader *from, int64_t least, int64_t most)
{
    char *behind = NULL;

    if (from->bad || from->at == from->end)
        return from->bad = true, least;
    long long value = strtoll(from->at, &behind, 10);
    from->bad |= behind == from->at || behind > from->end || value < least || value > most;
    from->at = from->bad ? from->at : behind;
    return from->bad ? least : value;
}

static char *read_line(reader *from)
{
    const char *stop = from->bad ? NULL : memchr(from->at, '\n', (size_t)(from->end - from->at));
    char *line = stop ? strndup(from->at, (size_t)(stop - from->at)) : NULL;

    from->bad |= !line;
    from->at = stop ? stop + 1 : from->at;
    return line;
}

static void read_figures(griddep_tune *tune, reader *from)
{
    expect(from, FIRST_LINE "figures ");
    tune->info.baseline_ns = (double)read_number(from, 0, INT64_MAX) / 1e3;
    expect(from, " ");
    tune->info.chosen_ns = (double)read_number(from, 0, INT64_MAX) / 1e3;
    expect(from, " ");
    tune->info.ratio = (double)read_number(from, 0, INT64_MAX) / 1e6;
    tune->info.lowest = tune->info.highest = tune->info.ratio;
    expect(from, "\n");
}

/* A copy, a fill or a host function has no shape, and keeps its zeros. */
static void read_launch(griddep_tune *tune, reader *from, uint32_t index)
{
    const int64_t least = gd_chain_call(tune->launches[index].chained) ? 1 : 0;
    gd_tune_shape *shape = &tune->best.shapes[index];
    uint32_t *const numbers[] = {&shape->grid, &shape->block, &shape->shared_bytes};

    expect(from, "launch ");
    tune->best.pdl[index] = (int32_t)read_number(from, GRIDDEP_PDL_DEFAULT, GRIDDEP_PDL_FORCE);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        expect(from, " ");
        *numbers[i] = (uint32_t)read_number(from, numbers[i] == &shape->shared_bytes ? 0 : least,
                                            least ? UINT32_MAX : 0);
    }
    expect(from, " ");
    tune->best.carveouts[index] = (int32_t)read_number(from, GRIDDEP_CARVEOUT_DEFAULT, 100);
    expect(from, " ");
    tune->choices[index].text = read_line(from);
}

static void read_source(griddep_tune *tune, reader *from, uint32_t index)
{
    expect(from, "source ");
    if (!from->bad && from->at < from->end && *from->at == '-') {
        expect(from, "-\n");
        return;
    }
    int64_t bytes = read_number(from, 1, from->end - from->at);
    expect(from, "\n");
    from->bad |= bytes > from->end - from->at || !tune->sources[index].ptx;
    if (from->bad)
        return;
    from->bad |= griddep_ptx_parse(from->at, (uint64_t)bytes, "tuned", &tune->best.texts[index],
                                   NULL) != GRIDDEP_OK;
    from->at += bytes;
    expect(from, "\n");
}

int32_t gd_tune_recall(griddep_tune *tune, griddep_error *error)
{
    gd_store *store = tune->runtime->store;
    gd_store_key key;
    char *data = NULL;
    size_t bytes = 0;
    int32_t status = gd_tune_setup_copy(tune, NULL, &tune->best, error);

    make_key(tune, &key);
    if (status)
        return status;
    if (!store || !gd_store_load(store, &key, &data, &bytes))
        return gd_error_set(
            error, GRIDDEP_ERROR_NOT_FOUND, "nothing is remembered for this chain on %s%s",
            tune->runtime->info.device_name, store ? "" : ": the runtime has no store");
    reader from = {.at = data, .end = data + bytes};
    read_figures(tune, &from);
    for (uint32_t i = 0; i < tune->launch_count; i++)
        read_launch(tune, &from, i);
    for (uint32_t i = 0; i < tune->source_count; i++)
        read_source(tune, &from, i);
    if (from.bad || from.at != from.end)
        status = gd_error_set(error, GRIDDEP_ERROR_NOT_FOUND,
                              "what is remembered for this chain cannot be read");
    free(data);
    return status;
}
