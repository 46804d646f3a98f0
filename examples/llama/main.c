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
#include "chat.h"
#include "generate.h"
#include "trace.h"

typedef struct options {
    const char *folder, *system, *driver, *trace;
    const char *texts[MOST_SEQUENCES]; /* texts, files' names, or numbers */
    char kinds[MOST_SEQUENCES];        /* 'p', 'f', 't' */
    uint32_t sequences;
    bool chat, print_tokens, json, bench, ignore_stop, tune;
    uint32_t bits; /* of weights; 0: the files' */
    uint32_t count, context, rows;
    uint32_t devices[MOST_DEVICES], device_count; /* 0: not said */
    bool join;
    int32_t mode;
    element type;                                  /* ELEMENT_OTHER: the files' */
    double temperature, top_p, repetition_penalty; /* NaN: the model's */
    int64_t top_k;                                 /* -1: the model's */
    uint64_t seed;
} options;

static const char usage[] =
    "Usage: llama FOLDER [OPTION]...\n"
    "Continues a text by the language model in a Hugging Face folder.\n"
    "\n"
    "  -p, --prompt TEXT           the text to continue\n"
    "  -f, --file FILE             the same from a file\n"
    "  -t, --tokens LIST           the same as numbers of tokens: 128000,9906\n"
    "                              up to eight of these three are continued side by side\n"
    "  -c, --chat                  the text is a message, which the model answers\n"
    "  -s, --system TEXT           with --chat: what stands above the conversation\n"
    "  -n, --count N               tokens to generate at most (128)\n"
    "      --context N             positions of the cache (as many as the run needs)\n"
    "      --part N                tokens of a prompt that are computed at once (512); 0: one by "
    "one\n"
    "      --temperature T         0: the likeliest token (generation_config.json, else 0)\n"
    "      --top-k K               draw from the K likeliest tokens; 0: from all\n"
    "      --top-p P               draw from the likeliest tokens whose shares add up to P\n"
    "      --repetition-penalty R  above 1: tokens that were there become less likely\n"
    "      --seed S                of the random numbers (0); of the next text S + 1, and so on\n"
    "      --ignore-stop           go on behind tokens that end a text\n"
    "      --mode MODE             serial, pdl, graph or graph-pdl (graph-pdl)\n"
    "      --weights TYPE          bf16, f16, fp8 or int4 (as the files have it; f32 becomes\n"
    "                              bf16). Made when the model is loaded: fp8, e4m3 with a scale\n"
    "                              for each row; int4, with a scale and a zero for each 128.\n"
    "                              Matrices of files that have 8 or 4 bits stay as they are\n"
    "      --devices N[,N]...      ordinals of the devices that share the model, 8 at most (0)\n"
    "      --join                  one of several processes that share the model, each with a "
    "device\n"
    "                              (its local rank), as griddep spawn, torchrun, mpirun or srun\n"
    "                              start them; the first one prints\n"
    "      --tune                  search launch shapes of a step first, and remember them for\n"
    "                              runs with as long a context (--context) on such a device\n"
    "      --driver NAME           nvidia, emulated, or the path of a driver\n"
    "      --print-tokens          print numbers of tokens in place of text\n"
    "      --trace FILE            draw the launches of one step, as text; -: before the output\n"
    "      --bench                 print times in place of text, of a second run\n"
    "      --json                  print one JSON document\n"
    "  -h, --help\n";

/* ---- options ---- */

static uint64_t read_whole(const char *name, const char *text, uint64_t most)
{
    char *end;

    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno || *end || end == text || *text < '0' || *text > '9' || value > most)
        fail("--%s: \"%s\" is no whole number up to %llu", name, text, (unsigned long long)most);
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
        given->devices[given->device_count++] = (uint32_t)read_whole("devices", one, INT32_MAX);
        free(one);
        text += strcspn(text, ",");
    } while (*text++);
}

enum {
    OPTION_CONTEXT = 256,
    OPTION_PART,
    OPTION_TEMPERATURE,
    OPTION_TOP_K,
    OPTION_TOP_P,
    OPTION_PENALTY,
    OPTION_SEED,
    OPTION_IGNORE_STOP,
    OPTION_MODE,
    OPTION_WEIGHTS,
    OPTION_DEVICES,
    OPTION_JOIN,
    OPTION_DRIVER,
    OPTION_PRINT_TOKENS,
    OPTION_BENCH,
    OPTION_TRACE,
    OPTION_TUNE,
    OPTION_JSON
};

static const struct option table[] = {
    {"prompt", required_argument, NULL, 'p'},
    {"file", required_argument, NULL, 'f'},
    {"tokens", required_argument, NULL, 't'},
    {"chat", no_argument, NULL, 'c'},
    {"system", required_argument, NULL, 's'},
    {"count", required_argument, NULL, 'n'},
    {"context", required_argument, NULL, OPTION_CONTEXT},
    {"part", required_argument, NULL, OPTION_PART},
    {"temperature", required_argument, NULL, OPTION_TEMPERATURE},
    {"top-k", required_argument, NULL, OPTION_TOP_K},
    {"top-p", required_argument, NULL, OPTION_TOP_P},
    {"repetition-penalty", required_argument, NULL, OPTION_PENALTY},
    {"seed", required_argument, NULL, OPTION_SEED},
    {"ignore-stop", no_argument, NULL, OPTION_IGNORE_STOP},
    {"mode", required_argument, NULL, OPTION_MODE},
    {"weights", required_argument, NULL, OPTION_WEIGHTS},
    {"devices", required_argument, NULL, OPTION_DEVICES},
    {"join", no_argument, NULL, OPTION_JOIN},
    {"driver", required_argument, NULL, OPTION_DRIVER},
    {"print-tokens", no_argument, NULL, OPTION_PRINT_TOKENS},
    {"trace", required_argument, NULL, OPTION_TRACE},
    {"tune", no_argument, NULL, OPTION_TUNE},
    {"bench", no_argument, NULL, OPTION_BENCH},
    {"json", no_argument, NULL, OPTION_JSON},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static void read_option(int option, options *given)
{
    switch (option) {
    case 'p':
    case 'f':
    case 't':
        if (given->sequences == MOST_SEQUENCES)
            fail("there are more than %d texts", MOST_SEQUENCES);
        given->kinds[given->sequences] = (char)option;
        given->texts[given->sequences++] = optarg;
        break;
    case 'c':
        given->chat = true;
        break;
    case 's':
        given->system = optarg;
        break;
    case 'n':
        given->count = (uint32_t)read_whole("count", optarg, 1 << 24);
        break;
    case OPTION_CONTEXT:
        given->context = (uint32_t)read_whole("context", optarg, 1 << 24);
        break;
    case OPTION_PART:
        given->rows = (uint32_t)read_whole("part", optarg, 8192);
        break;
    case OPTION_TEMPERATURE:
        given->temperature = read_real("temperature", optarg, 0, 100);
        break;
    case OPTION_TOP_K:
        given->top_k = (int64_t)read_whole("top-k", optarg, UINT32_MAX);
        break;
    case OPTION_TOP_P:
        given->top_p = read_real("top-p", optarg, 0, 1);
        break;
    case OPTION_PENALTY:
        given->repetition_penalty = read_real("repetition-penalty", optarg, 0.01, 100);
        break;
    case OPTION_SEED:
        given->seed = read_whole("seed", optarg, UINT64_MAX);
        break;
    case OPTION_TUNE:
        given->tune = true;
        break;
    case OPTION_IGNORE_STOP:
        given->ignore_stop = true;
        break;
    case OPTION_MODE:
        if (griddep_mode_find(optarg, &given->mode, NULL) != GRIDDEP_OK)
            fail("--mode: \"%s\" is none of serial, pdl, graph and graph-pdl", optarg);
        break;
    case OPTION_WEIGHTS:
        read_type(optarg, given);
        break;
    case OPTION_DEVICES:
        read_devices(optarg, given);
        break;
    case OPTION_JOIN:
        given->join = true;
        break;
    case OPTION_DRIVER:
        given->driver = optarg;
        break;
    case OPTION_PRINT_TOKENS:
        given->print_tokens = true;
        break;
    case OPTION_TRACE:
        given->trace = optarg;
        break;
    case OPTION_BENCH:
        given->bench = true;
        break;
    case OPTION_JSON:
        given->json = true;
        break;
    case 'h':
        fputs(usage, stdout);
        flush_output();
        exit(0);
    default:
        fputs("Try 'llama --help'.\n", stderr);
        exit(2);
    }
}

static void read_options(int count, char **arguments, options *given)
{
    int option;

    *given = (options){.count = 128,
                       .rows = 512,
                       .mode = GRIDDEP_MODE_GRAPH_PDL,
                       .type = ELEMENT_OTHER,
                       .temperature = NAN,
                       .top_p = NAN,
                       .repetition_penalty = NAN,
                       .top_k = -1};
    while ((option = getopt_long(count, arguments, "p:f:t:cs:n:h", table, NULL)) != -1)
        read_option(option, given);
    if (optind + 1 != count) {
        fputs(optind == count ? "llama: no folder was given\n" : "llama: more than one folder\n",
              stderr);
        fputs("Try 'llama --help'.\n", stderr);
        exit(2);
    }
    given->folder = arguments[optind];
    if (!given->sequences)
        fail("give the text by --prompt, --file or --tokens");
    if (given->chat && memchr(given->kinds, 't', given->sequences))
        fail("--chat takes a text, and --tokens gives none");
    if (given->sequences > 1 && !given->rows)
        fail("--part 0 is for one text: others may be longer or shorter");
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
        tokenizer_decode(to->with, token, false, &out->text);
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

static bool drop(void *user, uint32_t sequence, uint32_t token)
{
    (void)user;
    (void)sequence;
    (void)token;
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

/* Microseconds that the memory needs at least for a step, and what share of the time that is. */
static double read_share(const model *of, const generation *run, double bytes)
{
    static const double h200 = 4.55e6; /* bytes a microsecond that plain loads read */

    return run->each > 0 && !of->device.emulated ? bytes / h200 / run->each : 0;
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
    byte_list valid = {0};

    append_valid(out->text.data, out->text.count, &valid);
    json_t *text = json_stringn(valid.data ? valid.data : "", valid.count);
    free(valid.data);
    return json_pack("{so so so ss}", "prompt", json_numbers(prompt), "tokens",
                     json_numbers(&out->tokens), "text", text ? text : json_null(), "ended_by",
                     ended_by);
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
    if (read_share(of, run, bytes) > 0)
        printf(", %.1f %% of what an H200 reads (4.55 TB/s)", 100 * read_share(of, run, bytes));
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
        .top_k = given->top_k < 0 ? config->top_k : (uint32_t)given->top_k,
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
                capacity, room, prompt, given->count);
}

/* Rows of a part of a prompt: no more than the longest prompt needs. */
static uint32_t choose_rows(const options *given, size_t prompt)
{
    size_t needed = prompt < 2 ? 64 : (prompt - 1 + 63) / 64 * 64;

    if (given->sequences == 1 && prompt < 3)
        return 0;
    return needed < given->rows ? (uint32_t)needed : given->rows;
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

static griddep_runtime *open_runtime(const options *given, uint32_t device)
{
    griddep_error error = {.size = sizeof error};
    griddep_runtime_options wanted = {.size = sizeof wanted,
                                      .flags = GRIDDEP_RUNTIME_DEVICE,
                                      .driver = given->driver,
                                      .device = (int32_t)device};
    griddep_runtime *runtime = NULL;

    check(griddep_runtime_open(&wanted, &runtime, &error), &error, "the driver");
    return runtime;
}

/* The device's ordinal, where each process of a machine has one of its own. */
static uint32_t local_rank(void)
{
    static const char *const names[] = {"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK",
                                        "MPI_LOCALRANKID", "SLURM_LOCALID"};
    const char *text = NULL;

    for (size_t i = 0; i < sizeof names / sizeof *names && !text; i++)
        text = getenv(names[i]);
    return text ? (uint32_t)read_whole("join", text, INT32_MAX) : 0;
}

static device_group open_devices(const options *given)
{
    griddep_error error = {.size = sizeof error};
    griddep_group_info info = {.size = sizeof info};
    device_group with = {.here = given->device_count ? given->device_count : 1};

    for (uint32_t i = 0; i < with.here; i++)
        with.runtimes[i] = open_runtime(given, given->device_count ? given->devices[i]
                                               : given->join       ? local_rank()
                                                                   : 0);
    with.devices = with.here;
    if (given->join) {
        check(griddep_group_join(with.runtimes[0], 0, 0, NULL, NULL, &with.group, &error), &error,
              "the other processes");
        check(griddep_group_get_info(with.group, &info, &error), &error, "the other processes");
        with.rank = info.rank;
        with.devices = info.count;
    } else if (with.here > 1) {
        check(griddep_group_open(with.runtimes, with.here, NULL, &with.group, &error), &error,
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
                                  .rows = given->rows ? choose_rows(given, longest) : 0,
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
                      .most = given->count,
                      .stop = !given->ignore_stop,
                      .take = take,
                      .user = &out};

    /* Of several processes all have the same text. */
    if (devices.rank && !freopen("/dev/null", "w", stdout))
        fail("/dev/null: %s", strerror(errno));
    signal(SIGINT, on_interrupt);
    if (given->bench) { /* once, so that nothing happens for the first time */
        generation warm = {.mode = given->mode, .most = 16, .take = drop};
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
             wanted.type == ELEMENT_F16 ? "f16" : "bf16");
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
    config_free(&config);
    return interrupted ? 130 : 0;
}
