/* A launch server with its clients, in one process: see server.h and README.md.
 *
 *     cc -D_GNU_SOURCE -o server *.c $(pkg-config --cflags --libs griddep) -lm -lpthread -ldl
 *     ./server --compare
 */
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server.h"

enum { MOST_ROUNDS = 101 };

static const char usage[] =
    "usage: server [OPTION]...\n"
    "\n"
    "Answers requests of its own clients, in batches on the device, and measures.\n"
    "\n"
    "  --threads N    threads of the server, 1 to 64 (8)\n"
    "  --clients N    clients, each with one request at a time, 1 to 65536 (64)\n"
    "  --elements N   of each vector, 4 to 65536, a multiple of 4 (1024)\n"
    "  --requests N   requests of a round (20000)\n"
    "  --seconds S    time of a round, in place of --requests\n"
    "  --rounds N     rounds, 1 to 101; the medians are printed (1, with --compare 5)\n"
    "  --with WHAT    what batches are run with: griddep, or the driver's own calls (griddep)\n"
    "  --compare      both, in turns, and how they compare\n"
    "  --fault-at N   request N names memory that is not there: the fault ends the server\n"
    "  --driver NAME  nvidia, emulated, or a path ($GRIDDEP_DRIVER)\n";

struct options {
    uint64_t threads, clients, elements, requests, rounds, fault_at;
    double seconds;
    bool compare;
    const struct backend *with;
    const char *driver;
};

bool good(int32_t status, const griddep_error *error)
{
    if (status)
        fprintf(stderr, "%s: %s\n", griddep_status_name(status), error->text);
    return status == GRIDDEP_OK;
}

static _Noreturn void refuse(const char *option, const char *text)
{
    fprintf(stderr, "server: --%s: %s\n", option, text);
    exit(2);
}

static uint64_t read_number(const char *option, const char *text, uint64_t least, uint64_t most)
{
    char *end, message[96];
    const uint64_t value = strtoull(text, &end, 10);

    if (*text < '0' || *text > '9' || *end || value < least || value > most) {
        snprintf(message, sizeof message, "give a number from %llu to %llu",
                 (unsigned long long)least, (unsigned long long)most);
        refuse(option, message);
    }
    return value;
}

static double read_seconds(const char *text)
{
    char *end;
    const double value = strtod(text, &end);

    if (end == text || *end || !(value > 0 && value <= 86400))
        refuse("seconds", "give a number above 0, up to 86400");
    return value;
}

static void read_option(struct options *options, int option, const char *text)
{
    switch (option) {
    case 't':
        options->threads = read_number("threads", text, 1, 64);
        break;
    case 'c':
        options->clients = read_number("clients", text, 1, 65536);
        break;
    case 'e':
        options->elements = read_number("elements", text, 4, 65536);
        if (options->elements % 4)
            refuse("elements", "give a multiple of 4");
        break;
    case 'n':
        options->requests = read_number("requests", text, 1, UINT32_MAX);
        break;
    case 's':
        options->seconds = read_seconds(text);
        options->requests = 0;
        break;
    case 'r':
        options->rounds = read_number("rounds", text, 1, MOST_ROUNDS);
        break;
    case 'w':
        options->with = strcmp(text, "griddep") == 0 ? &with_griddep : &with_driver;
        if (strcmp(text, options->with->name) != 0)
            refuse("with", "give griddep or driver");
        break;
    case 'f':
        options->fault_at = read_number("fault-at", text, 1, UINT32_MAX);
        break;
    case 'b':
        options->compare = true;
        break;
    default:
        options->driver = text;
    }
}

static struct options read_options(int count, char **arguments)
{
    static const struct option known[] = {
        {"threads", required_argument, NULL, 't'},  {"clients", required_argument, NULL, 'c'},
        {"elements", required_argument, NULL, 'e'}, {"requests", required_argument, NULL, 'n'},
        {"seconds", required_argument, NULL, 's'},  {"rounds", required_argument, NULL, 'r'},
        {"with", required_argument, NULL, 'w'},     {"compare", no_argument, NULL, 'b'},
        {"driver", required_argument, NULL, 'd'},   {"fault-at", required_argument, NULL, 'f'},
        {"help", no_argument, NULL, 'h'},           {NULL, 0, NULL, 0}};
    struct options options = {
        .threads = 8, .clients = 64, .elements = 1024, .requests = 20000, .with = &with_griddep};
    int option;

    while ((option = getopt_long(count, arguments, "", known, NULL)) != -1) {
        if (option == 'h' || option == '?') {
            fputs(usage, option == 'h' ? stdout : stderr);
            exit(option == 'h' ? 0 : 2);
        }
        read_option(&options, option, optarg);
    }
    if (optind < count) {
        fputs(usage, stderr);
        exit(2);
    }
    if (!options.rounds)
        options.rounds = options.compare ? 5 : 1;
    return options;
}

/* ---- what all rounds share */

static int32_t write_vectors(const struct server *server, griddep_error *error)
{
    const uint64_t bytes = server->elements * sizeof(float);
    float *vector = malloc(bytes);
    int32_t status = vector ? GRIDDEP_OK : GRIDDEP_ERROR_MEMORY;

    for (uint32_t number = 0; !status && number < VECTORS; number++) {
        for (uint32_t i = 0; i < server->elements; i++)
            vector[i] = (float)(number + i);
        status = griddep_memory_write(server->runtime, server->vectors + number * bytes, vector,
                                      bytes, NULL, error);
    }
    free(vector);
    return status;
}

static int32_t make_memory(struct server *server, griddep_error *error)
{
    const uint64_t bytes = server->elements * sizeof(float);
    void *answers = NULL;
    int32_t status =
        griddep_memory_allocate(server->runtime, VECTORS * bytes, &server->vectors, error);

    if (!status)
        status =
            griddep_memory_allocate(server->runtime, server->clients * bytes, &server->sums, error);
    if (!status)
        status =
            griddep_host_allocate(server->runtime, server->clients * bytes, 0, &answers, error);
    server->answers = answers;
    server->client = calloc(server->clients, sizeof *server->client);
    if (status || !server->client)
        return status ? status : GRIDDEP_ERROR_MEMORY;
    for (uint32_t i = 0; i < server->clients; i++)
        server->client[i] =
            (struct client){.sum = server->sums + i * bytes,
                            .answer = server->answers + (size_t)i * server->elements,
                            .random = i};
    return write_vectors(server, error);
}

static bool open_server(struct server *server, const struct options *options,
                        griddep_module **module)
{
    griddep_runtime_options given = {.size = sizeof given, .driver = options->driver};
    griddep_runtime_info info = {.size = sizeof info};
    griddep_shelf_info shelf = {.size = sizeof shelf};
    griddep_error error;

    griddep_error_init(&error);
    int32_t status = griddep_runtime_open(&given, &server->runtime, &error);
    if (!status)
        status = griddep_runtime_get_info(server->runtime, &info, &error);
    if (!status)
        status = griddep_shelf_find("vector_add", info.capability, &shelf, &error);
    if (!status)
        status = griddep_module_load_shelf(server->runtime, shelf.name, NULL, module, &error);
    if (!status)
        status = griddep_module_find_kernel(*module, NULL, &server->add, &error);
    if (!status)
        status = make_memory(server, &error);
    server->ptx = shelf.text;
    if (!good(status, &error))
        return false;
    printf("%s%s: %u threads, %u clients, vectors of %u elements\n", info.device_name,
           info.emulated ? " (emulated: no GPU's times)" : "", server->threads, server->clients,
           server->elements);
    return true;
}

static void close_server(struct server *server, griddep_module *module)
{
    griddep_module_unload(module);
    if (server->vectors)
        griddep_memory_free(server->runtime, server->vectors, NULL);
    if (server->sums)
        griddep_memory_free(server->runtime, server->sums, NULL);
    if (server->answers)
        griddep_host_free(server->runtime, server->answers, NULL);
    free(server->client);
    griddep_runtime_close(server->runtime);
}

/* ---- figures of many rounds */

static int compare_numbers(const void *one, const void *other)
{
    const double a = *(const double *)one, b = *(const double *)other;

    return (a > b) - (a < b);
}

/* The median of a member of `count` figures, or of its ratio to that of others. */
static double median(const struct figures *figures, const struct figures *others, size_t member,
                     uint64_t count)
{
    double values[MOST_ROUNDS];

    for (uint64_t i = 0; i < count; i++) {
        memcpy(&values[i], (const char *)&figures[i] + member, sizeof *values);
        if (others) {
            double other;
            memcpy(&other, (const char *)&others[i] + member, sizeof other);
            values[i] /= other;
        }
    }
    qsort(values, count, sizeof *values, compare_numbers);
    return values[count / 2];
}

/* false where an answer was wrong. */
static bool print_figures(const char *name, const struct figures *figures, uint64_t rounds)
{
    uint64_t answered = 0, wrong = 0;

    for (uint64_t i = 0; i < rounds; i++) {
        answered += figures[i].answered;
        wrong += figures[i].wrong;
    }
    printf("%-8s %10.0f answers/s   p50 %9.1f us   p99 %9.1f us   batch %4.2f   %llu answers, "
           "%llu wrong\n",
           name, median(figures, NULL, offsetof(struct figures, rate), rounds),
           median(figures, NULL, offsetof(struct figures, p50), rounds),
           median(figures, NULL, offsetof(struct figures, p99), rounds),
           median(figures, NULL, offsetof(struct figures, batch), rounds),
           (unsigned long long)answered, (unsigned long long)wrong);
    return wrong == 0;
}

static bool run_rounds(struct server *server, const struct options *options)
{
    static struct figures ours[MOST_ROUNDS], theirs[MOST_ROUNDS];
    bool right;

    for (uint64_t round = 0; round < options->rounds; round++) {
        const bool first = round % 2 == 0; /* who begins changes from round to round */
        if (options->compare && !first && !serve(server, &with_driver, &theirs[round]))
            return false;
        if (!serve(server, options->compare ? &with_griddep : options->with, &ours[round]))
            return false;
        if (options->compare && first && !serve(server, &with_driver, &theirs[round]))
            return false;
    }
    right = print_figures(options->compare ? with_griddep.name : options->with->name, ours,
                          options->rounds);
    if (options->compare) {
        right &= print_figures(with_driver.name, theirs, options->rounds);
        printf("%-8s %10.3f             p50 %9.3f      p99 %9.3f\n", "ratio",
               median(ours, theirs, offsetof(struct figures, rate), options->rounds),
               median(ours, theirs, offsetof(struct figures, p50), options->rounds),
               median(ours, theirs, offsetof(struct figures, p99), options->rounds));
    }
    return right;
}

int main(int count, char **arguments)
{
    const struct options options = read_options(count, arguments);
    struct server server = {.threads = (uint32_t)options.threads,
                            .clients = (uint32_t)options.clients,
                            .elements = (uint32_t)options.elements,
                            .requests = options.requests,
                            .fault_at = options.fault_at,
                            .seconds = options.seconds};
    griddep_module *module = NULL;
    const bool done = open_server(&server, &options, &module) && run_rounds(&server, &options);

    close_server(&server, module);
    return done ? 0 : 1;
}
