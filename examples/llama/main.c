/* llama: a language model from a Hugging Face folder, by separate PTX kernels with dependent
 * launch. It needs the CUDA driver and no compiler; without a GPU it runs on the emulated one. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agree.h"
#include "generate.h"
#include "tokenizer.h"

typedef struct options {
    const char *folder, *system, *driver, *trace;
    const char *texts[MOST_SEQUENCES]; /* texts, files' names, or numbers */
    char kinds[MOST_SEQUENCES];        /* 'p', 'f', 't' */
    uint32_t sequences;
    bool chat, print_tokens, json, bench, ignore_stop, tune, join;
    uint32_t bits;                                /* of weights; 0: the files' */
    uint64_t count, context, rows, seed, top_k;   /* top_k UINT64_MAX: the model's */
    uint32_t devices[MOST_DEVICES], device_count; /* 0: not said */
    int32_t mode;
    element type;                                  /* ELEMENT_OTHER: the files' */
    double temperature, top_p, repetition_penalty; /* NaN: the model's */
} options;

/* ---- options ---- */

#define AT(way, member) .kind = way, .at = offsetof(options, member)
#define NEXT "\n                              "

/* Where a value goes that is a truth, a text, a whole number or another one, and its range. The
 * others are read one by one. */
static const struct row {
    const char *name, *value, *help;
    char letter; /* 0: none */
    enum { TRUTH, TEXT, WHOLE, REAL, PROMPT, MODE, WEIGHTS, DEVICES, HELP } kind;
    size_t at;
    double least, most;
} rows[] = {
    {"prompt", "TEXT", "the text to continue", 'p', .kind = PROMPT},
    {"file", "FILE", "the same from a file", 'f', .kind = PROMPT},
    {"tokens", "LIST",
     "the same as numbers of tokens: 128000,9906;" NEXT
     "up to eight of these three are continued side by side",
     't', .kind = PROMPT},
    {"chat", NULL, "the text is a message, which the model answers", 'c', AT(TRUTH, chat)},
    {"system", "TEXT", "with --chat: what stands above the conversation", 's', AT(TEXT, system)},
    {"count", "N", "tokens to generate at most (128)", 'n', AT(WHOLE, count), .most = 1 << 24},
    {"context", "N", "positions of the cache (as many as the run needs)", AT(WHOLE, context),
     .most = 1 << 24},
    {"part", "N", "tokens of a prompt that are computed at once (512)", AT(WHOLE, rows), .least = 1,
     .most = 8192},
    {"temperature", "T", "0: the likeliest token (generation_config.json, else 0)",
     AT(REAL, temperature), .most = 100},
    {"top-k", "K", "draw from the K likeliest tokens; 0: from all", AT(WHOLE, top_k),
     .most = UINT32_MAX},
    {"top-p", "P", "draw from the likeliest tokens whose shares add up to P", AT(REAL, top_p),
     .most = 1},
    {"repetition-penalty", "R", "above 1: tokens that were there become less likely",
     AT(REAL, repetition_penalty), .least = 0.01, .most = 100},
    {"seed", "S", "of the random numbers (0); of the next text S + 1, and so on", AT(WHOLE, seed),
     .most = 0x1p63},
    {"ignore-stop", NULL, "go on behind tokens that end a text", AT(TRUTH, ignore_stop)},
    {"mode", "MODE", "serial, pdl, graph or graph-pdl (graph-pdl)", .kind = MODE},
    {"weights", "TYPE",
     "bf16, f16, fp8 or int4 (as the files have it; f32 becomes" NEXT
     "bf16). Made when the model is loaded: fp8, e4m3 with a scale" NEXT
     "for each row; int4, with a scale and a zero for each 128." NEXT
     "Matrices of files that have 8 or 4 bits stay as they are",
     .kind = WEIGHTS},
    {"devices", "N[,N]...", "ordinals of the devices that share the model, 8 at most (0)",
     .kind = DEVICES},
    {"join", NULL,
     "one of several processes that share the model, each with a" NEXT
     "device (its local rank), as griddep spawn, torchrun, mpirun" NEXT
     "or srun start them; the first one prints",
     AT(TRUTH, join)},
    {"tune", NULL,
     "search launch shapes of a step first, and remember them for" NEXT
     "runs with as long a context (--context) on such a device",
     AT(TRUTH, tune)},
    {"driver", "NAME", "nvidia, emulated, or the path of a driver", AT(TEXT, driver)},
    {"print-tokens", NULL, "print numbers of tokens in place of text", AT(TRUTH, print_tokens)},
    {"trace", "FILE", "draw the launches of one step, as text; -: before the output",
     AT(TEXT, trace)},
    {"bench", NULL, "print times in place of text, of a second run", AT(TRUTH, bench)},
    {"json", NULL, "print one JSON document", AT(TRUTH, json)},
    {"help", NULL, "print this text", 'h', .kind = HELP},
};

enum { ROWS = sizeof rows / sizeof *rows };

static void print_usage(void)
{
    puts("Usage: llama FOLDER [OPTION]...\n"
         "Continues a text by the language model in a Hugging Face folder.\n");
    for (size_t i = 0; i < ROWS; i++) {
        char *name = format_text("--%s %s", rows[i].name, rows[i].value ? rows[i].value : "");
        const char letter[] = {'-', rows[i].letter, ',', 0};
        printf("  %3s %-23s %s\n", rows[i].letter ? letter : "", name, rows[i].help);
        free(name);
    }
}

static _Noreturn void end_usage(const char *problem)
{
    fprintf(stderr, "%sTry 'llama --help'.\n", problem);
    exit(2);
}

static uint64_t read_whole(const char *name, const char *text, double least, double most)
{
    char *end;

    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno || *end || *text < '0' || *text > '9' || (double)value < least ||
        (double)value > most)
        fail("--%s: \"%s\" is no whole number from %.0f to %.0f", name, text, least, most);
    return value;
}

static double read_real(const char *name, const char *text, double least, double most)
{
    char *end;
    double value = strtod(text, &end);

    if (*end || end == text || !(value >= least && value <= most))
        fail("--%s: \"%s\" is no number from %g to %g", name, text, least, most);
    return value;
}

static void read_type(const char *text, options *given)
{
    given->bits = !strcmp(text, "fp8") ? 8 : !strcmp(text, "int4") ? 4 : 16;
    given->type = strcmp(text, "f16") ? ELEMENT_BF16 : ELEMENT_F16;
    if (strcmp(text, "bf16") && strcmp(text, "f16") && given->bits == 16)
        fail("--weights: \"%s\" is none of bf16, f16, fp8 and int4", text);
}

static void read_devices(const char *text, options *given)
{
    given->device_count = 0;
    do {
        if (given->device_count == MOST_DEVICES)
            fail("--devices: there are more than %d", MOST_DEVICES);
        char *one = format_text("%.*s", (int)strcspn(text, ","), text);
        given->devices[given->device_count++] = (uint32_t)read_whole("devices", one, 0, INT32_MAX);
        free(one);
        text += strcspn(text, ",");
    } while (*text++);
}

static void read_option(const struct row *row, options *given)
{
    void *at = (char *)given + row->at;

    switch (row->kind) {
    case TRUTH:
        *(bool *)at = true;
        break;
    case TEXT:
        *(const char **)at = optarg;
        break;
    case WHOLE:
        *(uint64_t *)at = read_whole(row->name, optarg, row->least, row->most);
        break;
    case REAL:
        *(double *)at = read_real(row->name, optarg, row->least, row->most);
        break;
    case PROMPT:
        if (given->sequences == MOST_SEQUENCES)
            fail("there are more than %d texts", MOST_SEQUENCES);
        given->kinds[given->sequences] = row->letter;
        given->texts[given->sequences++] = optarg;
        break;
    case MODE:
        if (griddep_mode_find(optarg, &given->mode, NULL) != GRIDDEP_OK)
            fail("--mode: \"%s\" is none of serial, pdl, graph and graph-pdl", optarg);
        break;
    case WEIGHTS:
        read_type(optarg, given);
        break;
    case DEVICES:
        read_devices(optarg, given);
        break;
    case HELP:
        print_usage();
        flush_output();
        exit(0);
    }
}

static void read_options(int count, char **arguments, options *given)
{
    struct option table[ROWS + 1] = {0};
    int option;

    *given = (options){.count = 128,
                       .rows = 512,
                       .mode = GRIDDEP_MODE_GRAPH_PDL,
                       .type = ELEMENT_OTHER,
                       .temperature = NAN,
                       .top_p = NAN,
                       .repetition_penalty = NAN,
                       .top_k = UINT64_MAX};
    for (int i = 0; i < ROWS; i++)
        table[i] = (struct option){rows[i].name, rows[i].value != NULL, NULL, 256 + i};
    while ((option = getopt_long(count, arguments, "p:f:t:cs:n:h", table, NULL)) != -1) {
        size_t i = option < 256 ? 0 : (size_t)option - 256;
        while (option < 256 && i < ROWS && rows[i].letter != option)
            i++;
        if (i == ROWS)
            end_usage("");
        read_option(&rows[i], given);
    }
    if (optind + 1 != count)
        end_usage(optind == count ? "llama: no folder was given\n"
                                  : "llama: more than one folder\n");
    given->folder = arguments[optind];
    if (!given->sequences)
        fail("give the text by --prompt, --file or --tokens");
    if (given->chat && memchr(given->kinds, 't', given->sequences))
        fail("--chat takes a text, and --tokens gives none");
    if (given->join && given->device_count > 1)
        fail("--join: each process has one device, and --devices names more");
    if (given->system && !given->chat)
        fail("--system stands above a conversation: it needs --chat");
    if (given->tune && given->mode != GRIDDEP_MODE_PDL && given->mode != GRIDDEP_MODE_GRAPH_PDL)
        fail("--tune is for the modes pdl and graph-pdl");
}

/* ---- the prompt ---- */

static void read_numbers(const char *text, uint32_t vocabulary, token_list *tokens)
{
    while (true) {
        char *end;
        errno = 0;
        unsigned long token = strtoul(text, &end, 10);
        if (errno || end == text || *text < '0' || *text > '9' || (*end && *end != ','))
            fail("--tokens: \"%s\" is no list of numbers", text);
        if (token >= vocabulary)
            fail("--tokens: %lu is no token of a vocabulary of %u", token, vocabulary);
        token_append(tokens, (uint32_t)token);
        if (!*end)
            return;
        text = end + 1;
    }
}

static void encode_text(const options *given, tokenizer *with, const char *text, size_t bytes,
                        token_list *tokens)
{
    if (given->chat) {
        char *whole = format_text("%.*s", (int)bytes, text);
        chat_encode(with, given->system, whole, tokens);
        free(whole);
        return;
    }
    tokenizer_begin(with, tokens);
    tokenizer_encode(with, text, bytes, false, tokens);
}

static void read_prompt(const options *given, uint32_t index, tokenizer *with, uint32_t vocabulary,
                        token_list *tokens)
{
    const char *text = given->texts[index];

    if (given->kinds[index] == 't') {
        read_numbers(text, vocabulary, tokens);
    } else if (given->kinds[index] == 'f') {
        mapped_file file;
        file_map(NULL, text, &file);
        encode_text(given, with, (const char *)file.data, file.bytes, tokens);
        file_unmap(&file);
    } else {
        encode_text(given, with, text, strlen(text), tokens);
    }
    if (!tokens->count)
        fail("the prompt has no token, and the model none that begins a text");
}

/* ---- the output ---- */

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal)
{
    (void)signal;
    interrupted = 1;
}

/* What came of a sequence. */
typedef struct output {
    byte_list text; /* of all tokens */
    size_t shown;   /* of its bytes */
    token_list tokens;
} output;

typedef struct writer {
    const options *given;
    const tokenizer *with;
    output of[MOST_SEQUENCES];
} writer;

/* How many bytes at the end of a text are the begin of a UTF-8 sequence. */
static size_t unfinished(const byte_list *text)
{
    for (size_t back = 1; back <= 3 && back <= text->count; back++) {
        unsigned char byte = (unsigned char)text->data[text->count - back];
        if ((byte & 0xc0) == 0x80)
            continue;
        size_t length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
        return length > back ? back : 0;
    }
    return 0;
}

/* One text is shown as it comes, several when all are there. */
static bool take(void *user, uint32_t sequence, uint32_t token)
{
    writer *to = user;
    output *out = &to->of[sequence];

    token_append(&out->tokens, token);
    if (to->with)
        tokenizer_decode(to->with, token, &out->text);
    if (to->given->json || to->given->bench || to->given->sequences > 1)
        return !interrupted;
    if (to->given->print_tokens) {
        printf("%s%u", out->tokens.count > 1 ? "," : "", token);
    } else {
        size_t whole = out->text.count - unfinished(&out->text);
        if (whole > out->shown)
            fwrite(out->text.data + out->shown, 1, whole - out->shown, stdout);
        out->shown = whole;
    }
    flush_output();
    return !interrupted;
}

static void print_texts(const writer *out)
{
    for (uint32_t i = 0; i < out->given->sequences; i++) {
        const output *one = &out->of[i];
        for (size_t k = 0; k < one->tokens.count && out->given->print_tokens; k++)
            printf("%s%u", k ? "," : "", one->tokens.list[k]);
        if (!out->given->print_tokens)
            fwrite(one->text.data ? one->text.data : "", 1, one->text.count, stdout);
        putchar('\n');
    }
}

static json_t *json_numbers(const token_list *tokens)
{
    json_t *list = json_array();

    for (size_t i = 0; i < tokens->count; i++)
        json_array_append_new(list, json_integer(tokens->list[i]));
    return list;
}

static json_t *json_sequence(const output *out, const token_list *prompt, const char *ended_by)
{
    byte_list text = {0};

    bytes_append(&text, "", 0);
    append_valid(out->text.data, out->text.count, &text);
    json_t *of =
        json_pack("{so so ss% ss}", "prompt", json_numbers(prompt), "tokens",
                  json_numbers(&out->tokens), "text", text.data, text.count, "ended_by", ended_by);
    free(text.data);
    return of;
}

/* What there is of each sequence stands in the document itself where there is one. */
static void print_json(const model *of, const writer *out, const token_list *prompts,
                       const generation *run, double bytes)
{
    json_t *document =
        json_pack("{ss sf sf sf ss si sb ss}", "mode", griddep_text(GRIDDEP_TEXT_MODE, run->mode),
                  "first_us", run->first, "token_us", run->each, "token_bytes", bytes, "device",
                  of->device.device_name, "devices", (int)of->devices, "emulated",
                  (int)of->device.emulated, "family", of->config.family);
    json_t *sequences = json_array();

    for (uint32_t i = 0; i < of->sequences; i++)
        json_array_append_new(sequences, json_sequence(&out->of[i], &prompts[i], run->ended_by[i]));
    if (of->sequences == 1)
        json_object_update(document, json_array_get(sequences, 0));
    else
        json_object_set(document, "sequences", sequences);
    json_decref(sequences);
    char *line = json_dumps(document, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    puts(line);
    free(line);
    json_decref(document);
}

static void print_times(const model *of, const token_list *prompts, const generation *run,
                        double bytes)
{
    size_t prompt = 0;

    for (uint32_t i = 0; i < of->sequences; i++)
        prompt += prompts[i].count;
    printf("%s, %u layers, %s, mode %s%s\n", of->config.family, of->config.layers,
           of->device.device_name, griddep_text(GRIDDEP_TEXT_MODE, run->mode),
           of->device.emulated ? " (emulated: no GPU's times)" : "");
    printf("prompt   %zu tokens, first token after %.2f ms\n", prompt, run->first / 1e3);
    printf("tokens   %u, a step of %u takes %.1f us and reads %.3f GB", run->count, of->sequences,
           run->each, bytes / 1e9);
    if (of->devices > 1)
        printf(" on each of %u devices", of->devices);
    if (run->each > 0 && !of->device.emulated)
        printf(", %.2f TB/s", bytes / run->each / 1e6);
    putchar('\n');
}

/* ---- the run ---- */

static sampling choose_sampling(const options *given, const model_config *config)
{
    return (sampling){
        .temperature = isnan(given->temperature) ? config->temperature : given->temperature,
        .top_p = isnan(given->top_p) ? config->top_p : given->top_p,
        .repetition_penalty = isnan(given->repetition_penalty) ? config->repetition_penalty
                                                               : given->repetition_penalty,
        .top_k = given->top_k > UINT32_MAX ? config->top_k : (uint32_t)given->top_k,
        .seed = given->seed};
}

/* Positions that the run needs, to a multiple of 64. */
static uint32_t choose_capacity(const options *given, const model_config *config, size_t prompt)
{
    uint64_t needed = (prompt + given->count + 63) / 64 * 64;
    uint64_t capacity = given->context ? given->context : needed;

    if (capacity > config->context)
        capacity = config->context;
    if (prompt > capacity)
        fail("the prompt has %zu tokens, and the context is %llu", prompt,
             (unsigned long long)capacity);
    return (uint32_t)capacity;
}

/* Tells when the cache ends before the tokens do. */
static void note_room(const options *given, uint32_t capacity, size_t prompt)
{
    uint64_t room = (uint64_t)capacity + 1 - prompt;

    if (given->count > room)
        fprintf(stderr,
                "llama: a context of %u holds %" PRIu64 " tokens behind a prompt of %zu, not %u\n",
                capacity, room, prompt, (uint32_t)given->count);
}

/* Rows of a part of a prompt: no more than the longest prompt needs. */
static uint32_t choose_rows(const options *given, size_t prompt)
{
    size_t needed = prompt < 2 ? 64 : (prompt - 1 + 63) / 64 * 64;

    return (uint32_t)(needed < given->rows ? needed : given->rows);
}

/* The files' type; f32 becomes bf16. */
static element choose_type(const options *given, const model_config *config,
                           const weight_files *files)
{
    if (given->type != ELEMENT_OTHER)
        return given->type;
    tensor embedding =
        weights_find(files, "model.embed_tokens.weight", config->vocabulary, config->hidden);
    return embedding.type == ELEMENT_F16 ? ELEMENT_F16 : ELEMENT_BF16;
}

/* The device's ordinal, where each process of a machine has one of its own. */
static uint32_t local_rank(void)
{
    static const char *const names[] = {"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK",
                                        "MPI_LOCALRANKID", "SLURM_LOCALID"};
    const char *text = NULL;

    for (size_t i = 0; i < sizeof names / sizeof *names && !text; i++)
        text = getenv(names[i]);
    return text ? (uint32_t)read_whole("join", text, 0, INT32_MAX) : 0;
}

static device_group open_devices(const options *given)
{
    griddep_group_info info = {.size = sizeof info};
    device_group with = {.here = given->device_count ? given->device_count : 1};

    for (uint32_t i = 0; i < with.here; i++) {
        const uint32_t own = given->join ? local_rank() : 0;
        const griddep_runtime_options wanted = {
            .size = sizeof wanted,
            .flags = GRIDDEP_RUNTIME_DEVICE,
            .driver = given->driver,
            .device = (int32_t)(given->device_count ? given->devices[i] : own)};
        check(griddep_runtime_open(&wanted, &with.runtimes[i], &error), "the driver");
    }
    with.devices = with.here;
    if (given->join) {
        check(griddep_group_join(with.runtimes[0], 0, 0, NULL, NULL, &with.group, &error),
              "the other processes");
        check(griddep_group_get_info(with.group, &info, &error), "the other processes");
        with.rank = info.rank;
        with.devices = info.count;
    } else if (with.here > 1) {
        check(griddep_group_open(with.runtimes, with.here, NULL, &with.group, &error),
              "the devices");
    }
    return with;
}

static void close_devices(const device_group *with)
{
    griddep_group_close(with->group);
    for (uint32_t i = 0; i < with->here; i++)
        griddep_runtime_close(with->runtimes[i]);
}

static double count_bytes(const model *of, const token_list *prompts, const generation *run)
{
    double positions = 0;

    for (uint32_t i = 0; i < of->sequences; i++)
        positions += (double)prompts[i].count + run->count / 2.0 / of->sequences;
    return (double)of->step_bytes + (double)of->cache_bytes_per_position * positions;
}

static void run_model(const options *given, const model_config *config, tokenizer *with,
                      const token_list *prompts)
{
    size_t longest = 0;

    for (uint32_t i = 0; i < given->sequences; i++)
        longest = prompts[i].count > longest ? prompts[i].count : longest;
    weight_files *files = weights_open(given->folder);
    const model_options wanted = {.type = choose_type(given, config, files),
                                  .bits = given->bits,
                                  .capacity = choose_capacity(given, config, longest),
                                  .sequences = given->sequences,
                                  .rows = choose_rows(given, longest),
                                  .draw = choose_sampling(given, config),
                                  .mode = given->mode,
                                  .tune = given->tune};
    belongings own = {0};
    if (given->join)
        own = agree_begin(given->folder, files, &wanted, prompts);
    const device_group devices = open_devices(given);
    if (devices.group && given->join)
        agree(&own, &devices);
    model *of = model_load(config, files, &wanted, &devices);
    writer out = {.given = given, .with = with};
    generation run = {.mode = given->mode,
                      .most = (uint32_t)given->count,
                      .stop = !given->ignore_stop,
                      .take = take,
                      .user = &out};

    /* Of several processes all have the same text. */
    if (devices.rank && !freopen("/dev/null", "w", stdout))
        fail("/dev/null: %s", strerror(errno));
    signal(SIGINT, on_interrupt);
    if (given->bench) { /* once, so that nothing happens for the first time */
        generation warm = {.mode = given->mode, .most = 16};
        generate(of, prompts, &wanted.draw, &warm);
    }
    if (given->trace)
        trace_step(of, prompts, &wanted.draw, given->mode, given->trace);
    if (!devices.rank)
        note_room(given, wanted.capacity, longest);
    generate(of, prompts, &wanted.draw, &run);
    if (!run.sound) {
        weights_check_large(files);
        fail("the logits are NaN or infinite, and the weights are not: activations left the range "
             "of %s",
             of->type == ELEMENT_F16 ? "f16" : "bf16");
    }
    weights_close(files);
    double bytes = count_bytes(of, prompts, &run);
    if (given->json)
        print_json(of, &out, prompts, &run, bytes);
    else if (given->bench)
        print_times(of, prompts, &run, bytes);
    else if (given->sequences > 1)
        print_texts(&out);
    else
        putchar('\n');
    flush_output();
    for (uint32_t i = 0; i < given->sequences; i++) {
        free(out.of[i].text.data);
        free(out.of[i].tokens.list);
    }
    model_free(of);
    close_devices(&devices);
}

int main(int count, char **arguments)
{
    options given;
    model_config config;
    token_list prompts[MOST_SEQUENCES] = {0};

    /* Else a file that is opened takes its place, and the text goes there. */
    if (fcntl(STDOUT_FILENO, F_GETFD) < 0)
        fail("standard output is closed");
    read_options(count, arguments, &given);
    config_read(given.folder, &config);
    /* Numbers in and numbers out need no vocabulary. */
    bool numbers = memchr(given.kinds, 'p', given.sequences) == NULL &&
                   memchr(given.kinds, 'f', given.sequences) == NULL;
    tokenizer *with = numbers && (given.print_tokens || given.bench || given.json) &&
                              !file_exists(given.folder, "tokenizer.json")
                          ? NULL
                          : tokenizer_read(given.folder, config.vocabulary);
    for (uint32_t i = 0; i < given.sequences; i++)
        read_prompt(&given, i, with, config.vocabulary, &prompts[i]);
    run_model(&given, &config, with, prompts);
    for (uint32_t i = 0; i < given.sequences; i++)
        free(prompts[i].list);
    tokenizer_free(with);
    return interrupted ? 130 : 0;
}
