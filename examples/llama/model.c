/* Llama and its relatives: memory and weights. All that is on the device lies in one allocation. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "tiles.h"

/* ---- memory: it is laid out once to learn how much it is, and once where it is ---- */

typedef struct layout {
    uint64_t next; /* address; the first layout begins at a number that is no address */
    uint64_t weight_bytes, cache_bytes;
    uint32_t bits;  /* of matrices that have more in the files */
    uint32_t asked; /* the same; 0: nobody asked */
    bool narrow;    /* one of fewer than 16 was placed */
    uint64_t sequences, capacity, rows;
    uint64_t head_rows;
    bool first;         /* device, which alone adds biases and what is there already to a sum */
    stretch *stretches; /* NULL: they are counted alone */
    uint32_t count;
} layout;

enum { ALIGNMENT = 256 };

static uint64_t place(layout *in, uint64_t bytes)
{
    uint64_t at = in->next;

    if (in->stretches && bytes)
        in->stretches[in->count] = (stretch){at, bytes};
    in->count += bytes > 0;
    in->next = (at + bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return at;
}

static uint64_t place_weight(layout *in, uint64_t rows, uint64_t columns)
{
    in->weight_bytes += 2 * rows * columns;
    return place(in, 2 * rows * columns);
}

/* Scales of so many rows of 8 bits. */
static uint64_t scale_count(const matrix *of, uint64_t rows, uint64_t columns)
{
    return of->scale_rows ? rows / of->scale_rows * (columns / WEIGHTS_BLOCK) : rows;
}

/* The rows of a device's matrix of which each part begins at a multiple of them, so that a scale of
 * the files' blocks serves them. */
static uint32_t common_rows(const model_config *config, uint64_t rows)
{
    const uint64_t parts = (uint64_t)config->kv_heads * config->head_dim;
    uint32_t common = WEIGHTS_BLOCK;

    while (common > 1 && (parts % common || rows % common))
        common /= 2;
    return common;
}

static matrix place_matrix(const model_config *config, layout *in, matrix form, uint64_t rows,
                           uint64_t columns)
{
    if (form.bits == 16) {
        form.at = place_weight(in, rows, columns);
        return form;
    }
    in->narrow = true;
    if (form.bits == 4) {
        if (columns % TILE_COLUMNS || rows % TILE_ROWS)
            fail("weights of 4 bits need a multiple of %d rows of a multiple of %d elements on "
                 "each device; one has %" PRIu64 " rows of %" PRIu64,
                 TILE_ROWS, TILE_COLUMNS, rows, columns);
        in->weight_bytes += tiles_bytes(rows, columns);
        form.at = place(in, tiles_bytes(rows, columns));
        return form;
    }
    if (form.scale_rows) {
        form.scale_rows = common_rows(config, rows);
        if (columns % WEIGHTS_BLOCK || form.scale_rows < 8)
            fail("weights of 8 bits in blocks need a multiple of 8 rows of a multiple of %d "
                 "elements on each device; one has %" PRIu64 " rows of %" PRIu64,
                 WEIGHTS_BLOCK, rows, columns);
    }
    if (columns % 16)
        fail("weights of 8 bits need rows of a multiple of 16 elements");
    const uint64_t scales = 4 * scale_count(&form, rows, columns);
    in->weight_bytes += rows * columns + scales;
    form.at = place(in, rows * columns);
    form.scale = place(in, scales);
    return form;
}

uint64_t model_qkv_rows(const model_config *config)
{
    return (uint64_t)(config->heads + 2 * config->kv_heads) * config->head_dim;
}

/* Until the next call. */
static const char *layer_name(uint32_t index, const char *part)
{
    static char name[128];

    snprintf(name, sizeof name, "model.layers.%u.%s", index, part);
    return name;
}

/* The fewest bits that the files have of a part of a matrix, all of it has. They are not changed
 * for others. */
static void narrow(matrix *form, const model_config *config, const weight_files *files,
                   const char *name, uint32_t asked)
{
    const uint32_t bits = tiles_have(files, name) ? 4 : weights_have_e4m3(files, name) ? 8 : 16;
    const bool blocks = bits == 8 && config->blocks;

    if (asked && bits < 16 && bits != asked)
        fail("tensor %s has %u bits in the files, which --weights does not change: leave that out",
             name, bits);
    if (bits < form->bits || (bits == form->bits && blocks))
        *form = (matrix){.bits = bits, .scale_rows = blocks ? WEIGHTS_BLOCK : 0};
}

static matrix form_of(const model_config *config, const layout *in, const weight_files *files,
                      uint32_t index, const char *const *parts)
{
    matrix form = {.bits = in->bits};

    for (; *parts; parts++)
        narrow(&form, config, files, layer_name(index, *parts), in->asked);
    return form;
}

#define FORM(...) form_of(config, in, files, index, (const char *const[]){__VA_ARGS__, NULL})

static layer place_layer(const model_config *config, const weight_files *files, uint32_t index,
                         layout *in)
{
    uint64_t hidden = config->hidden, all_heads = (uint64_t)config->heads * config->head_dim;
    uint64_t row = 2 * in->sequences; /* bytes of an element of each sequence */
    layer at = {0};

    at.norm_1 = place_weight(in, 1, hidden);
    at.qkv = place_matrix(
        config, in,
        FORM("self_attn.q_proj.weight", "self_attn.k_proj.weight", "self_attn.v_proj.weight"),
        model_qkv_rows(config), hidden);
    if (config->qkv_bias)
        at.qkv_bias = place_weight(in, 1, model_qkv_rows(config));
    if (config->qk_norm) {
        at.q_norm = place_weight(in, 1, config->head_dim);
        at.k_norm = place_weight(in, 1, config->head_dim);
    }
    at.output = place_matrix(config, in, FORM("self_attn.o_proj.weight"), hidden, all_heads);
    if (weights_have(files, layer_name(index, "self_attn.o_proj.bias")) && in->first)
        at.output_bias = place_weight(in, 1, hidden);
    at.norm_2 = place_weight(in, 1, hidden);
    matrix gated = FORM("mlp.gate_proj.weight", "mlp.up_proj.weight");
    at.gate = place_matrix(config, in, gated, config->feed_forward, hidden);
    at.up = place_matrix(config, in, gated, config->feed_forward, hidden);
    at.down = place_matrix(config, in, FORM("mlp.down_proj.weight"), hidden, config->feed_forward);
    at.qkv_out = place(in, row * model_qkv_rows(config));
    at.attention_out = place(in, row * all_heads);
    at.output_out = place(in, row * hidden);
    at.f = place(in, row * config->feed_forward);
    at.h = place(in, row * hidden);
    return at;
}

/* Behind all else: how far a kernel reaches that appends to a cache its arguments do not tell. */
static void place_caches(const model_config *config, layer *layers, layout *in)
{
    uint64_t cache = 2 * in->sequences * config->kv_heads * in->capacity * config->head_dim;

    for (uint32_t i = 0; i < config->layers; i++) {
        layers[i].k_cache = place(in, cache);
        layers[i].v_cache = place(in, cache);
        in->cache_bytes += 2 * cache;
    }
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static prompt_places place_part(const model_config *config, layout *in)
{
    uint64_t hidden = config->hidden, wide = config->feed_forward, qkv = model_qkv_rows(config);
    uint64_t all_heads = (uint64_t)config->heads * config->head_dim;
    prompt_places at = {0};

    at.h = place(in, 2 * in->rows * hidden);
    at.normed = place(in, 2 * in->rows * hidden);
    at.qkv = place(in, 2 * in->rows * qkv);
    at.attention = place(in, 2 * in->rows * all_heads);
    at.output = place(in, 2 * in->rows * hidden);
    at.f = place(in, 2 * in->rows * wide);
    if (in->narrow) {
        at.wide = place(in, 2 * hidden * most(most(wide, qkv), all_heads));
        at.wide_up = place(in, 2 * hidden * wide);
    }
    at.numbers = place(in, 4 * in->capacity);
    at.zeros = place(in, 4 * in->rows);
    return at;
}

static bool head_is_embedding(const model_config *config, uint32_t bits)
{
    return config->tied && bits == 16;
}

static places place_all(const model_config *config, const weight_files *files, layer *layers,
                        layout *in)
{
    uint64_t hidden = config->hidden, vocabulary = config->vocabulary, batch = in->sequences;
    places at = {.layers = layers};

    in->weight_bytes = in->cache_bytes = 0;
    at.embedding = place_weight(in, vocabulary, hidden);
    at.norm = place_weight(in, 1, hidden);
    if (!head_is_embedding(config, in->bits)) {
        at.head.bits = in->bits < 16 ? 8 : 16;
        narrow(&at.head, config, files, "lm_head.weight", in->asked == 4 ? 0 : in->asked);
        at.head = place_matrix(config, in, at.head, in->head_rows, hidden);
    }
    for (uint32_t i = 0; i < config->layers; i++)
        layers[i] = place_layer(config, files, i, in);
    at.rotary = place(in, in->capacity * config->head_dim * sizeof(float));
    at.h = place(in, 2 * batch * hidden);
    at.logits = place(in, 2 * batch * vocabulary);
    at.own_logits = in->head_rows < vocabulary ? place(in, 2 * batch * in->head_rows) : at.logits;
    at.wide_logits = place(in, 4 * batch * vocabulary);
    at.sampled = place(in, 4 * batch);
    at.history = place(in, 4 * batch * (in->capacity + 1));
    at.position = place(in, 4 * batch);
    at.token = place(in, 4 * batch);
    at.uniform = place(in, 4 * batch);
    at.seen = place(in, batch * vocabulary);
    at.part = place_part(config, in);
    place_caches(config, layers, in);
    return at;
}

/* What would fit is told in place of what does not. */
static void allocate_all(model *of, const layout *in)
{
    const double giga = 1e9;
    uint64_t memory = of->device.memory_bytes, capacity = of->capacity;

    of->bytes = in->next - ALIGNMENT;
    if (of->bytes <= memory &&
        griddep_memory_allocate(of->runtime, of->bytes, &of->memory, &error) == GRIDDEP_OK)
        return;
    uint64_t fixed = of->bytes - in->cache_bytes, spare = memory - memory / 16;
    uint64_t fits = spare > fixed ? (spare - fixed) / (in->cache_bytes / capacity) : 0;
    if (fits)
        fail("the model needs %.2f GB, %.2f of it for a context of %u, and the device has %.2f; "
             "try --context %" PRIu64,
             (double)of->bytes / giga, (double)in->cache_bytes / giga, of->capacity,
             (double)memory / giga, fits < capacity ? fits : capacity / 2);
    fail("the weights need %.2f GB, and the device has %.2f", (double)in->weight_bytes / giga,
         (double)memory / giga);
}

/* ---- weights ---- */

/* Rows of the device, and where the files have them: rows and columns are the device's, which are
 * its share of the file's. */
typedef struct piece {
    const char *name;
    uint64_t rows, columns; /* rows 0: a vector */
    cut_by by;
    const matrix *to;
    uint64_t first; /* row of the matrix */
} piece;

static void write_at(const model *of, uint64_t at, const void *data, uint64_t bytes, void *stream,
                     const char *what)
{
    check(griddep_memory_write(of->runtime, at, data, bytes, stream, &error), what);
}

/* Finds a tensor, and in it the device's share. What is returned is to be freed. */
static void *find_share(const model *of, const weight_files *files, const piece *from,
                        tensor *found)
{
    const uint64_t high = from->by == CUT_ROWS ? from->rows * of->devices : from->rows,
                   wide = from->by == CUT_COLUMNS ? from->columns * of->devices : from->columns;

    *found = weights_find(files, from->name, high, wide);
    return tensor_share(found, high ? high : 1, wide, from->by, of->rank, of->devices);
}

static void upload(model *of, const weight_files *files, const piece *from, uint64_t target)
{
    tensor found;
    void *share = find_share(of, files, from, &found), *converted = NULL;
    const uint64_t bytes = 2 * (from->rows ? from->rows : 1) * from->columns;

    if (found.type != of->type) {
        converted = allocate(bytes, 1);
        tensor_convert(&found, of->type, converted);
    }
    write_at(of, target, converted ? converted : (const void *)found.data, bytes, NULL, from->name);
    free(converted);
    free(share);
}

/* Rows of 8 bits with their scales, as the file has them. A scale of a block of the file serves
 * so many rows of the matrix as these begin together with. */
static void upload_eight_bits(model *of, const weight_files *files, const piece *from)
{
    const matrix *to = from->to;
    const uint64_t rows = from->rows, all = from->by == CUT_ROWS ? rows * of->devices : rows;
    const uint64_t columns = from->columns;
    const uint64_t wide = from->by == CUT_COLUMNS ? columns * of->devices : columns;
    const uint64_t first_row = from->by == CUT_ROWS ? rows * of->rank : 0;
    const uint64_t count = scale_count(to, rows, columns), group = to->scale_rows;
    tensor found;
    void *share = find_share(of, files, from, &found);
    float *scales = weights_scales(files, from->name, all, group ? wide : 0);
    float *own = scales + first_row;

    if (group) {
        const uint64_t pitch = (wide + WEIGHTS_BLOCK - 1) / WEIGHTS_BLOCK;
        const uint64_t blocks = columns / WEIGHTS_BLOCK;
        const uint64_t first_block = from->by == CUT_COLUMNS ? blocks * of->rank : 0;
        own = allocate(count, sizeof *own);
        for (uint64_t i = 0; i < count; i++)
            own[i] = scales[(first_row + i / blocks * group) / WEIGHTS_BLOCK * pitch + first_block +
                            i % blocks];
    }
    write_at(of, to->at + from->first * columns, found.data, rows * columns, NULL, from->name);
    write_at(of, to->scale + 4 * scale_count(to, from->first, columns), own, 4 * count, NULL,
             from->name);
    if (group)
        free(own);
    free(scales);
    free(share);
}

static void upload_tiles(model *of, const weight_files *files, const piece *from, uint64_t target)
{
    unsigned char *tiles = tiles_read(files, &of->config, from->name, from->rows, from->columns,
                                      from->by, of->rank, of->devices);

    write_at(of, target, tiles, tiles_bytes(from->rows, from->columns), NULL, from->name);
    free(tiles);
}

/* Rounds rows, which go to the device in bf16. */
static void round_rows(model *of, const weight_files *files, const piece *from)
{
    const matrix *to = from->to;
    const uint64_t columns = from->columns, row = from->first;
    const bool tiled = to->bits == 4;
    uint64_t staged;
    griddep_launch_config config = {.grid = {(uint32_t)from->rows}, .block = {256}};

    check(griddep_memory_allocate(of->runtime, 2 * from->rows * columns, &staged, &error),
          from->name);
    upload(of, files, from, staged);
    const griddep_argument arguments[] = {
        address(staged),
        address(to->at + (tiled ? tiles_bytes(row, columns) : row * columns)),
        tiled ? u32(columns) : address(to->scale + 4 * row),
        u32(columns),
    };
    if (tiled) {
        config.grid[0] = (uint32_t)(columns / TILE_COLUMNS);
        config.grid[1] = (uint32_t)(from->rows / TILE_ROWS);
    }
    build_launch(of, tiled ? "quantize_tiles" : "quantize_rows", config, arguments, tiled ? 3 : 4);
    check(griddep_stream_synchronize(of->runtime, NULL, &error), from->name);
    check(griddep_memory_free(of->runtime, staged, &error), from->name);
}

/* For fewer bits than 16 rows are rounded on the device, unless the files have them so. */
static void upload_matrix(model *of, const weight_files *files, const piece *from)
{
    const matrix *to = from->to;
    const bool eight = weights_have_e4m3(files, from->name);

    if (eight && to->bits == 4)
        fail("tensor %s has 8 bits, where others of its matrix have 4", from->name);
    if (!eight && to->scale_rows)
        fail("tensor %s has no scales of blocks, which others of its matrix have", from->name);
    if (to->bits == 16)
        upload(of, files, from, to->at + 2 * from->first * from->columns);
    else if (tiles_have(files, from->name))
        upload_tiles(of, files, from, to->at + tiles_bytes(from->first, from->columns));
    else if (eight)
        upload_eight_bits(of, files, from);
    else
        round_rows(of, files, from);
}

static void upload_layer(model *of, const weight_files *files, uint32_t index, const layer *to)
{
    const model_config *config = &of->config;
    uint64_t hidden = config->hidden, wide = config->feed_forward, head = config->head_dim;
    uint64_t q = config->heads * head, kv = config->kv_heads * head;
    const piece matrices[] = {
        {"self_attn.q_proj.weight", q, hidden, CUT_ROWS, &to->qkv, 0},
        {"self_attn.k_proj.weight", kv, hidden, CUT_ROWS, &to->qkv, q},
        {"self_attn.v_proj.weight", kv, hidden, CUT_ROWS, &to->qkv, q + kv},
        {"self_attn.o_proj.weight", hidden, q, CUT_COLUMNS, &to->output, 0},
        {"mlp.gate_proj.weight", wide, hidden, CUT_ROWS, &to->gate, 0},
        {"mlp.up_proj.weight", wide, hidden, CUT_ROWS, &to->up, 0},
        {"mlp.down_proj.weight", hidden, wide, CUT_COLUMNS, &to->down, 0},
    };
    const struct {
        piece from;
        uint64_t to, behind; /* to 0: the model has none */
    } vectors[] = {
        {{"input_layernorm.weight", .columns = hidden}, to->norm_1, 0},
        {{"self_attn.q_proj.bias", .columns = q, .by = CUT_COLUMNS}, to->qkv_bias, 0},
        {{"self_attn.k_proj.bias", .columns = kv, .by = CUT_COLUMNS}, to->qkv_bias, 2 * q},
        {{"self_attn.v_proj.bias", .columns = kv, .by = CUT_COLUMNS}, to->qkv_bias, 2 * (q + kv)},
        {{"self_attn.q_norm.weight", .columns = head}, to->q_norm, 0},
        {{"self_attn.k_norm.weight", .columns = head}, to->k_norm, 0},
        {{"self_attn.o_proj.bias", .columns = hidden}, to->output_bias, 0},
        {{"post_attention_layernorm.weight", .columns = hidden}, to->norm_2, 0},
    };

    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        piece from = vectors[i].from;
        from.name = layer_name(index, from.name);
        if (vectors[i].to)
            upload(of, files, &from, vectors[i].to + vectors[i].behind);
    }
    for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++) {
        piece from = matrices[i];
        from.name = layer_name(index, from.name);
        upload_matrix(of, files, &from);
    }
}

/* Files may have the head although it is the embedding. */
static void check_tied(const weight_files *files, const model_config *config)
{
    if (!config->tied || !weights_have(files, "lm_head.weight"))
        return;
    tensor head = weights_find(files, "lm_head.weight", config->vocabulary, config->hidden);
    tensor embedding =
        weights_find(files, "model.embed_tokens.weight", config->vocabulary, config->hidden);
    if (head.bytes != embedding.bytes || memcmp(head.data, embedding.data, head.bytes))
        fail("%s: lm_head.weight is not model.embed_tokens.weight, though config.json says "
             "tie_word_embeddings",
             head.file);
}

static void upload_all(model *of, const weight_files *files, bool tied)
{
    const model_config *config = &of->config;
    const places *to = &of->at;
    float *rotary = config_rotary(config, of->capacity);

    upload(of, files,
           &(piece){"model.embed_tokens.weight", .rows = config->vocabulary,
                    .columns = config->hidden},
           to->embedding);
    upload(of, files, &(piece){"model.norm.weight", .columns = config->hidden}, to->norm);
    if (!tied)
        upload_matrix(of, files,
                      &(piece){config->tied ? "model.embed_tokens.weight" : "lm_head.weight",
                               of->head_rows, config->hidden,
                               of->head_rows < config->vocabulary ? CUT_ROWS : CUT_NOTHING,
                               &to->head, 0});
    for (uint32_t i = 0; i < config->layers; i++)
        upload_layer(of, files, i, &to->layers[i]);
    write_at(of, to->rotary, rotary, (uint64_t)of->capacity * config->head_dim * sizeof *rotary,
             NULL, "the rotary table");
    free(rotary);
}

/* The positions by number, and zeros: products read rows that a short part does not write, and drop
 * what comes of them. */
static void upload_numbers(const model *of)
{
    const prompt_places *part = &of->at.part;
    uint32_t *numbers = allocate(of->capacity, sizeof *numbers);

    for (uint32_t i = 0; i < of->capacity; i++)
        numbers[i] = i;
    write_at(of, part->numbers, numbers, 4 * (uint64_t)of->capacity, NULL, "the positions");
    check(griddep_memory_fill(of->runtime, part->zeros, 0, 4 * (uint64_t)of->rows, NULL, &error),
          "the positions");
    const uint64_t end = part->f + 2 * (uint64_t)of->rows * of->config.feed_forward;
    check(griddep_memory_fill(of->runtime, part->h, 0, end - part->h, NULL, &error),
          "a part of a prompt");
    free(numbers);
}

/* ---- one device ---- */

/* Of a count that the devices share. */
static uint32_t share_of(uint32_t count, uint32_t devices, const char *what)
{
    if (count % devices)
        fail("%u devices cannot share the model's %u %s", devices, count, what);
    return count / devices;
}

static void load_device(model *of, const weight_files *files, const model_options *options)
{
    const model_config *config = &of->config;
    const bool tied = head_is_embedding(config, options->bits ? options->bits : 16);
    layer *layers = allocate(config->layers, sizeof *layers);
    layout in = {.next = ALIGNMENT,
                 .bits = options->bits ? options->bits : 16,
                 .asked = options->bits,
                 .sequences = options->sequences,
                 .capacity = options->capacity,
                 .rows = options->rows,
                 .head_rows = of->head_rows,
                 .first = !of->rank};

    of->type = options->type;
    of->capacity = options->capacity;
    of->sequences = options->sequences;
    of->rows = options->rows;
    of->device.size = sizeof of->device;
    check(griddep_runtime_get_info(of->runtime, &of->device, &error), "the device");
    place_all(config, files, layers, &in);
    if (in.narrow)
        of->type = ELEMENT_BF16; /* which the kernels for 8 and for 4 bits go with */
    allocate_all(of, &in);
    in.next = of->memory;
    of->stretches = in.stretches = allocate(in.count, sizeof *in.stretches);
    in.count = 0;
    of->at = place_all(config, files, layers, &in);
    const uint64_t share = of->head_rows < config->vocabulary ? of->rank : 0;
    if (tied)
        of->at.head = (matrix){.at = of->at.embedding + 2 * of->head_rows * config->hidden * share,
                               .bits = 16};
    of->stretch_count = in.count;
    /* Of the embedding a step reads one row, and what of it is the head. */
    of->step_bytes = in.weight_bytes - 2 * (uint64_t)config->hidden *
                                           (config->vocabulary - (tied ? of->head_rows : 0));
    of->cache_bytes_per_position = in.cache_bytes / of->capacity / of->sequences;
    upload_all(of, files, tied);
    tune_step(of, &options->draw, options->mode, options->tune);
    decode_make(of, &options->draw);
    upload_numbers(of);
    prompt_make(of);
}

/* ---- public ---- */

model *model_load(const model_config *config, const weight_files *files,
                  const model_options *options, const device_group *with)
{
    model *first = NULL;
    const uint32_t devices = with->devices;
    model_config share = *config;

    share.heads = share_of(config->heads, devices, "heads");
    share.kv_heads = share_of(config->kv_heads, devices, "key heads");
    share.feed_forward = share_of(config->feed_forward, devices, "rows of the feed-forward layers");
    for (uint32_t i = with->here; i-- > 0;) {
        model *of = allocate(1, sizeof *of);
        *of =
            (model){.config = share,
                    .next = first,
                    .group = with->group,
                    .index = i,
                    .rank = with->rank + i,
                    .devices = devices,
                    .head_rows = config->vocabulary / (config->vocabulary % devices ? 1 : devices),
                    .runtime = with->runtimes[i]};
        load_device(of, files, options);
        first = of;
    }
    check_tied(files, config);
    weights_check_used(files);
    return first;
}

void model_free(model *of)
{
    while (of) {
        model *next = of->next;
        prompt_free(of);
        griddep_chain_destroy(of->step);
        build_end(of);
        griddep_memory_free(of->runtime, of->memory, NULL);
        free(of->stretches);
        free(of->shapes);
        free(of->at.layers);
        free(of);
        of = next;
    }
}

void model_check(const model *of)
{
    if (of->group)
        check(griddep_group_status(of->group, &error), "the devices");
}

/* The random number of a position, as step_end makes it. */
static float uniform_of(uint64_t seed, uint32_t position)
{
    uint64_t x = seed + ((uint64_t)position + 1) * 0x9e3779b97f4a7c15u;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (float)(x >> 40) * 0x1p-24f;
}

static void start_sequence(model *of, uint32_t i, const token_list *prompt, uint32_t from,
                           uint64_t seed, void *stream)
{
    float uniform = uniform_of(seed, from);
    uint64_t vocabulary = of->config.vocabulary;
    unsigned char *seen = allocate(vocabulary, 1);
    const struct {
        uint64_t at;
        const void *data;
        uint64_t bytes;
    } parts[] = {
        {of->at.history + 4 * i * ((uint64_t)of->capacity + 1), prompt->list, 4 * prompt->count},
        {of->at.position + 4 * i, &from, 4},
        {of->at.token + 4 * i, prompt->list + from, 4},
        {of->at.uniform + 4 * i, &uniform, 4},
        {of->at.seen + i * vocabulary, seen, vocabulary},
    };

    for (uint32_t k = 0; k <= from; k++)
        seen[prompt->list[k]] = 1;
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        write_at(of, parts[k].at, parts[k].data, parts[k].bytes, stream, "the prompt");
    free(seen);
}

void model_start(model *of, const token_list *prompts, const uint32_t *from, const sampling *draw,
                 void *stream)
{
    for (uint32_t i = 0; i < of->sequences; i++)
        start_sequence(of, i, &prompts[i], from[i], draw->seed + i, stream);
}
