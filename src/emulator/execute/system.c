/* Functions of the system that kernels call by name: vprintf, malloc, free, __assertfail and
 * cudaGraphSetConditional. What a kernel prints appears while it runs, which is when the program
 * waits for it: where CUDA would show it at the latest. */
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "emulator/execute/check.h"
#include "emulator/execute/memory.h"
#include "emulator/execute/system.h"
#include "emulator/execute/program.h"

enum {
    MOST_ARGUMENTS =
        32, /* of a printf (CUDA C++ Programming Guide, Formatted Output, Limitations) */
    MOST_STRING = 1 << 16,
    MOST_WIDTH = 4096,
    SPEC_BYTES = 64
};

/* ---- arguments ---- */

static unsigned char *argument_place(const gd_warp *warp, const uint32_t *copy, uint32_t lane)
{
    const gd_cta *cta = warp->cta;

    if (copy[3])
        return (unsigned char *)gd_lanes(warp, copy[1]) + (size_t)lane * (copy[3] >> 8);
    return cta->local + (size_t)(warp->index * GD_LANES + lane) * cta->local_bytes +
           warp->local[lane] + copy[1];
}

static uint64_t argument(const gd_warp *warp, const gd_code *code, uint32_t lane, uint32_t number)
{
    const uint32_t *copy = warp->cta->image->list + code->list + (size_t)number * 4;
    uint64_t value = 0;

    memcpy(&value, argument_place(warp, copy, lane), copy[2]);
    return value;
}

static void give_result(const gd_warp *warp, const gd_code *code, uint32_t lane, uint64_t value)
{
    const uint32_t *copy = warp->cta->image->list + code->target;

    if (!code->x)
        return;
    memcpy(argument_place(warp, copy, lane), &value, copy[3] ? copy[3] >> 8 : copy[2]);
    if (!copy[3])
        gd_check_argument(warp, lane, warp->local[lane] + copy[1], copy[2]);
}

/* A string of the kernel; false after a fault. */
static bool read_string(gd_warp *warp, const gd_code *code, uint32_t lane, uint64_t address,
                        gd_text *text)
{
    for (uint32_t i = 0; i < MOST_STRING; i++) {
        const unsigned char *byte =
            gd_access(warp, code, lane, GD_AT_GENERIC, address + i, 1, 1, false);
        if (!byte)
            return false;
        if (!*byte)
            break;
        gd_text_format(text, "%c", *byte);
    }
    return true;
}

/* ---- printf ---- */

/* A printf of one thread: its arguments lie one behind the other, each at a multiple of its
 * size. */
typedef struct printing {
    gd_warp *warp;
    const gd_code *code;
    uint32_t lane;
    uint64_t next; /* address of the next argument */
    uint32_t count;
    bool failed;
    gd_text text;
} printing;

static uint64_t next_argument(printing *in, uint32_t bytes)
{
    uint64_t value = 0;

    in->next = (in->next + bytes - 1) & ~(uint64_t)(bytes - 1);
    const unsigned char *place = in->failed ? NULL
                                            : gd_access(in->warp, in->code, in->lane, GD_AT_GENERIC,
                                                        in->next, bytes, bytes, false);
    in->failed |= !place;
    if (place)
        memcpy(&value, place, bytes);
    in->next += bytes;
    in->count++;
    return value;
}

/* A conversion as it was read: flags, width, precision, and how wide its integer is. */
typedef struct conversion {
    char spec[SPEC_BYTES];
    size_t used;
    bool wide;
    char letter;
} conversion;

static void put_char(conversion *made, char letter)
{
    if (made->used + 1 < sizeof made->spec)
        made->spec[made->used++] = letter;
}

/* Digits, or the next argument for '*'. */
static const char *read_width(printing *in, conversion *made, const char *at)
{
    int64_t value = 0;
    char digits[24];

    if (*at == '*') {
        value = (int32_t)next_argument(in, 4);
        at++;
    }
    for (; *at >= '0' && *at <= '9'; at++)
        value = value < MOST_WIDTH ? value * 10 + (*at - '0') : value;
    value = value > MOST_WIDTH ? MOST_WIDTH : value < -MOST_WIDTH ? -MOST_WIDTH : value;
    snprintf(digits, sizeof digits, "%" PRId64, value);
    for (const char *digit = digits; value && *digit; digit++)
        put_char(made, *digit);
    return at;
}

/* %[flags][width][.precision][size]letter; the place behind it. */
static const char *read_conversion(printing *in, const char *at, conversion *made)
{
    *made = (conversion){.spec = "%", .used = 1};
    for (uint32_t i = 0; i < 8 && *at && strchr("#0- +", *at); i++)
        put_char(made, *at++);
    at = read_width(in, made, at);
    if (*at == '.') {
        size_t point = made->used;
        put_char(made, *at++);
        at = read_width(in, made, at);
        if (made->spec[point + 1] == '-') { /* a negative precision is none */
            memset(made->spec + point, 0, sizeof made->spec - point);
            made->used = point;
        }
    }
    for (; *at == 'h' || *at == 'l' || *at == 'j' || *at == 'z' || *at == 't'; at++) {
        made->wide |= *at != 'h';
        if (*at == 'h')
            put_char(made, *at);
    }
    made->letter = *at;
    return *at ? at + 1 : at;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
/* The host's printf has the same conversions. The spec was put together here, and fits the
 * argument's type. */
static void put_conversion(printing *in, conversion *made)
{
    gd_text string = {0};

    if (strchr("diouxX", made->letter) && made->letter) {
        uint64_t value = next_argument(in, made->wide ? 8 : 4);
        put_char(made, made->wide ? 'l' : made->letter);
        if (made->wide)
            put_char(made, made->letter);
        if (made->wide)
            gd_text_format(&in->text, made->spec, value);
        else
            gd_text_format(&in->text, made->spec, (uint32_t)value);
        return;
    }
    put_char(made, made->letter);
    switch (made->letter) {
    case 'c':
        gd_text_format(&in->text, made->spec, (int)(uint32_t)next_argument(in, 4));
        break;
    case 'p':
        gd_text_format(&in->text, made->spec, (void *)(uintptr_t)next_argument(in, 8));
        break;
    case 's':
        in->failed |= !read_string(in->warp, in->code, in->lane, next_argument(in, 8), &string);
        gd_text_format(&in->text, made->spec, gd_text_get(&string));
        gd_text_free(&string);
        break;
    default: {
        uint64_t bits = next_argument(in, 8);
        double number;
        memcpy(&number, &bits, sizeof number);
        gd_text_format(&in->text, made->spec, number);
        break;
    }
    }
}
#pragma GCC diagnostic pop

/* What is no conversion is printed as it stands. */
static void print_format(printing *in, const char *at)
{
    conversion made;

    while (*at && !in->failed) {
        if (*at != '%') {
            gd_text_format(&in->text, "%c", *at++);
            continue;
        }
        const char *start = at, *end = read_conversion(in, at + 1, &made);
        bool known =
            made.letter && strchr("diouxXcpseEfFgGaA", made.letter) && in->count < MOST_ARGUMENTS;
        if (known)
            put_conversion(in, &made);
        else if (made.letter == '%')
            gd_text_string(&in->text, "%");
        else
            gd_text_format(&in->text, "%.*s", (int)(end - start), start);
        at = end;
    }
}

void gd_run_printf(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    GD_EACH_LANE(lane, mask)
    {
        printing in = {
            .warp = warp, .code = code, .lane = lane, .next = argument(warp, code, lane, 1)};
        gd_text format = {0};
        in.failed = !read_string(warp, code, lane, argument(warp, code, lane, 0), &format);
        if (!in.failed)
            print_format(&in, gd_text_get(&format));
        if (!in.failed)
            fputs(gd_text_get(&in.text), stdout);
        gd_text_free(&format);
        gd_text_free(&in.text);
        if (in.failed)
            return;
        give_result(warp, code, lane, in.count);
    }
    fflush(stdout);
}

/* ---- the heap ---- */

/* What there is not, 0 bytes included, is NULL (CUDA C++ Programming Guide, Dynamic Global Memory
 * Allocation). */
void gd_run_malloc(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    GD_EACH_LANE(lane, mask)
    {
        const uint64_t bytes = argument(warp, code, lane, 0);
        give_result(warp, code, lane, bytes ? gd_heap_take(warp->cta->view->heap, bytes) : 0);
    }
}

/* To others that use the block a free is a write of all of it. */
void gd_run_free(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    gd_heap *heap = warp->cta->view->heap;

    GD_EACH_LANE(lane, mask)
    {
        const uint64_t address = argument(warp, code, lane, 0);
        const gd_allocation *item = gd_memory_find(warp->cta->view->memory, address);
        if (item && item->heap == heap && !item->freed && item->start == address &&
            warp->cta->race)
            gd_check_range(warp, code, lane, GD_AT_GLOBAL, address, item->bytes, GD_ACTION_WRITE,
                           false);
        if (!address || gd_heap_give(heap, address))
            continue;
        gd_cta_fail(warp, code, lane, GD_FAULT_ADDRESS, address, 1, true,
                    item && item->heap && item->freed && item->start == address
                        ? "free of 0x%" PRIx64 ", which was freed before"
                        : "free of 0x%" PRIx64 ", which no malloc of its context returned",
                    address);
        return;
    }
}

/* ---- assertions ---- */

void gd_run_assert(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    uint32_t lane = gd_lowest(mask);
    gd_text words[3] = {{0}, {0}, {0}}; /* the condition, the file, the function */
    static const uint32_t places[3] = {0, 1, 3};
    bool whole = true;

    for (uint32_t i = 0; whole && i < 3; i++)
        whole = read_string(warp, code, lane, argument(warp, code, lane, places[i]), &words[i]);
    if (whole)
        gd_cta_fail(warp, code, lane, GD_FAULT_ASSERT, 0, 0, false,
                    "%s:%" PRIu32 ": %s: assertion `%s` failed", gd_text_get(&words[1]),
                    (uint32_t)argument(warp, code, lane, 2), gd_text_get(&words[2]),
                    gd_text_get(&words[0]));
    for (uint32_t i = 0; i < 3; i++)
        gd_text_free(&words[i]);
}

/* ---- conditions ---- */

/* What the lanes set, and where it lies, as the check of a store is told. */
typedef struct setting {
    unsigned char *places[GD_LANES];
    uint64_t addresses[GD_LANES];
    uint32_t values[GD_LANES];
} setting;

static bool is_set_already(const void *context, uint32_t lane)
{
    const setting *in = context;

    return !memcmp(in->places[lane], &in->values[lane], sizeof in->values[lane]);
}

static bool set_alike(const void *context, uint32_t lane, uint32_t other)
{
    const setting *in = context;

    return in->values[lane] == in->values[other];
}

/* The word behind a handle; 0 after a fault. */
static uint64_t find_condition(gd_warp *warp, const gd_code *code, uint32_t lane)
{
    const gd_grid_view *view = warp->cta->view;
    uint64_t handle = argument(warp, code, lane, 0);

    if (handle - 1 < view->condition_count)
        return view->conditions[handle - 1];
    gd_cta_fail(warp, code, lane, GD_FAULT_ADDRESS, handle, sizeof(uint32_t), true,
                "cudaGraphSetConditional with %" PRIu64
                ", which is no handle of the graph that the kernel runs in",
                handle);
    return 0;
}

/* To the race detector it is a store: it takes effect at once, and the documents leave concurrent
 * ones undefined. */
void gd_run_set_condition(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    setting in;
    const gd_check check = {.space = GD_AT_GLOBAL,
                            .bytes = sizeof(uint32_t),
                            .action = GD_ACTION_WRITE,
                            .addresses = in.addresses,
                            .same = is_set_already,
                            .equal = set_alike,
                            .context = &in};

    GD_EACH_LANE(lane, mask)
    {
        in.addresses[lane] = find_condition(warp, code, lane);
        if (!in.addresses[lane])
            return;
        in.values[lane] = (uint32_t)argument(warp, code, lane, 1);
        in.places[lane] = gd_allocation_find(warp->cta, code, in.addresses[lane])->host;
    }
    if (warp->cta->race)
        gd_check_access(warp, code, mask, &check);
    GD_EACH_LANE(lane, mask)
    {
        memcpy(in.places[lane], &in.values[lane], sizeof in.values[lane]);
    }
}
