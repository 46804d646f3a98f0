/* The gate of GRIDDEP_PDL_AUTO against programs that run: random kernels (branches, loops,
 * predicated exits, calls by name and through registers, recursion, brx.idx, trap, exits in what is
 * called, waits under conditions) as the middle one of three on the emulated driver. The first
 * triggers and then writes; the last waits and reads it.
 *
 *   gate [--from SEED] [--count N] [--driver DRIVER] [--slow NS] [--stack BYTES] [--optimize 0..4]
 *        [--text]
 *
 * Where AUTO sets the attribute no read is stale, and a model that executes the kernel's lines
 * finds no way out without a wait. Where it does not, a path is named on which each line follows
 * the one before and none waits. The check finds GD121 in those kernels and in no others. Forced to
 * be dependent, with decisions on which the model leaves without a wait, a kernel does let the last
 * one read what is stale, in the schedule eager: the driver is worse than GPUs that are known. And
 * a last kernel that does not wait reads what is stale behind such a kernel: the control, which
 * shows that kernels did start early.
 *
 * --text prints the programs. Without --driver EMULATED_DRIVER names the driver, and
 * GRIDDEP_EMULATOR_SCHEDULE its order.
 *
 * On a GPU (--driver nvidia) nobody can ask for the worst order. There the first kernel waits
 * between its trigger and its write, 20 us unless --slow says otherwise, so that a kernel after it
 * that does not wait reads what is stale; modules are loaded whole (CUDA_MODULE_LOADING=EAGER),
 * since a kernel that is loaded when it is launched comes too late for that. What one kernel does
 * is counted and not judged; but where none of many controls is stale, the run shows nothing and
 * fails. A stack for recursion is asked for (--stack, 8192 bytes a thread). A fault ends a context,
 * so programs run in processes of their own, some hundreds in each; one that fails is taken apart
 * until the program is found, and the others go on. Where that program fails with no early start
 * either, the driver's compiler is at fault (--optimize is its level) and the program is counted
 * apart; otherwise it is printed. */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gate_program.h"
#include "griddep.h"
#include "ptx/handle/ptx.h"
#include "ptx/flow/traits.h"
#include "run/runtime.h"

enum {
    PROCESS = 64 * 32,
    PROCESS_ON_GPU = 4 * 32,
    USUAL_SLOW = 20000,
    USUAL_STACK = 8192,
    STACK_SIZE = 0,
    MOST_FAILURES = 20,
    MANY = 100
};
enum { BATCH = 32, RUNS = 4, CELLS = BATCH * RUNS, DEFAULT_COUNT = 1500, DEEPEST_CHECK = 8 };

static const char head[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.shared .align 8 .b64 state[64];\n";
static const char others[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry first(.param .u64 data, .param .u32 value, .param .u64 slow)\n{\n.reg .b64 "
    "%d, %s, %t, %u;\n"
    ".reg .b32 %v;\n.reg .pred %p;\nld.param.u64 %d, [data];\nld.param.u32 %v, "
    "[value];\nld.param.u64 %s, [slow];\n"
    "griddepcontrol.launch_dependents;\nmov.u64 %t, %globaltimer;\n"
    "spin: mov.u64 %u, %globaltimer;\nsub.u64 %u, %u, %t;\nsetp.lt.u64 %p, %u, %s;\n@%p bra spin;\n"
    "st.global.u32 [%d], %v;\nret;\n}\n"
    ".visible .entry last(.param .u64 data, .param .u64 cell)\n{\n.reg .b64 %d, %c;\n.reg .b32 "
    "%v;\n"
    "ld.param.u64 %d, [data];\nld.param.u64 %c, [cell];\ngriddepcontrol.wait;\n"
    "ld.global.u32 %v, [%d];\nst.global.u32 [%c], %v;\nret;\n}\n"
    ".visible .entry blind(.param .u64 data, .param .u64 cell)\n{\n.reg .b64 %d, %c;\n.reg .b32 "
    "%v;\n"
    "ld.param.u64 %d, [data];\nld.param.u64 %c, [cell];\n"
    "ld.global.u32 %v, [%d];\nst.global.u32 [%c], %v;\nret;\n}\n";

typedef struct run {
    uint32_t program; /* of the batch */
    uint64_t tape;
    bool forced;
    bool blind; /* the last one does not wait either */
    gate_outcome expected;
} run;

typedef struct counts {
    uint64_t total, always, sometimes, never, executed, overcautious, paths, failures, faulty;
    uint64_t forced[2], stale[2]; /* without a wait, of kernels that have none and that have one */
    uint64_t controls, stale_controls;
    bool eager; /* what forced kernels do was judged */
} counts;

static struct {
    griddep_runtime *runtime;
    griddep_module *others;
    griddep_kernel *first, *last, *blind;
    void *stream;
    uint64_t data, cells, slow;
    uint32_t value; /* what the first kernel wrote last */
    griddep_error error;

    gate_program programs[BATCH];
    uint32_t traits[BATCH], count;
    gd_text text;
    griddep_ptx *ptx;
    gd_dry_search *search;
    run runs[CELLS];
    uint32_t values[CELLS], run_count;

    const char *driver; /* NULL: EMULATED_DRIVER's */
    uint64_t stack;
    int32_t optimize;   /* GRIDDEP_OPTIMIZATION_* */
    bool print, serial; /* serial: nothing starts early */
    counts n;
} g;

/* ---- complaints ---- */

static void need(int32_t status, const char *what)
{
    if (status == GRIDDEP_OK)
        return;
    fprintf(stderr, "%s: %s\n", what, g.error.text);
    exit(2);
}

/* Prints the program alone, so that it can be kept. */
static void complain(uint32_t index, const char *what)
{
    gate_program copy = g.programs[index];
    gd_text text = {0};
    int32_t line = 5;

    gd_text_string(&text, head);
    gate_print(&copy, index, &text, &line);
    printf("seed %" PRIu64 ": %s\n%s\n", copy.seed, what, gd_text_get(&text));
    gd_text_free(&text);
    g.n.failures++;
}

/* ---- named paths ---- */

/* Where an instruction stands in a program; line -1: in front of its lines, where nothing
 * branches. */
typedef struct place {
    uint32_t function;
    int32_t line;
} place;

static bool find_place(uint32_t index, uint32_t instruction, place *found)
{
    const gate_program *program = &g.programs[index];
    const gd_ptx_module *module = &g.ptx->module;
    const char *name =
        module->functions[module->scopes[module->instructions[instruction].scope].function].name;
    uint32_t number = 0, function = 0;
    int32_t line, column;

    if ((sscanf(name, "f%" SCNu32 "_%" SCNu32, &number, &function) != 2 &&
         sscanf(name, "k%" SCNu32, &number) != 1) ||
        number != index)
        return false;
    gd_ptx_token_position(module, module->instructions[instruction].opcode, &line, &column);
    *found = (place){.function = function, .line = -1};
    for (uint32_t i = 0; i < program->functions[function].count; i++) {
        if (program->functions[function].lines[i].position == line)
            found->line = (int32_t)i;
    }
    return true;
}

static bool check_path(uint32_t index, uint32_t function, bool returns, uint32_t depth);

static uint32_t function_in_module(uint32_t index, uint32_t function)
{
    const gd_ptx_module *module = &g.ptx->module;
    char name[32];

    if (function)
        snprintf(name, sizeof name, "f%" PRIu32 "_%" PRIu32, index, function);
    else
        snprintf(name, sizeof name, "k%" PRIu32, index);
    for (uint32_t i = 0; i < module->function_count; i++) {
        if (module->functions[i].flags & GD_FUNCTION_BODY &&
            !strcmp(module->functions[i].name, name))
            return i;
    }
    return GD_PTX_NONE;
}

/* Whether a call may come back without a wait: one of its functions has a path for which that is
 * shown in turn. */
static bool call_comes_back(uint32_t index, const gate_line *line, uint32_t depth)
{
    uint32_t targets = line->kind == GATE_CALL ? 1 : GATE_TARGETS;

    if (line->kind == GATE_CALL_ANY || depth > DEEPEST_CHECK)
        return true;
    for (uint32_t i = 0; i < targets; i++) {
        const gate_function *callee = &g.programs[index].functions[line->targets[i]];
        if (!callee->noreturn && check_path(index, line->targets[i], true, depth + 1))
            return true;
    }
    return false;
}

static bool is_call(const gate_line *line)
{
    return line->kind == GATE_CALL || line->kind == GATE_CALL_LISTED || line->kind == GATE_CALL_ANY;
}

static bool follows(uint32_t index, const gate_function *function, const gd_dry_step *step,
                    int32_t from, int32_t to, uint32_t depth)
{
    const gate_line *line = from < 0 ? NULL : &function->lines[from];
    uint32_t targets[GATE_TARGETS];

    if (!line ||
        (from == to && step->turn == GD_DRY_NEXT && step[1].instruction == step->instruction + 1))
        return step->turn == GD_DRY_NEXT && (to == from || to == from + 1);
    if (step->turn == GD_DRY_NEXT && to == from + 1 && gate_goes_on(line) &&
        (!is_call(line) || line->guard >= 0 || call_comes_back(index, line, depth)))
        return true;
    for (uint32_t i = gate_targets(line, targets); i-- > 0;) {
        if ((int32_t)targets[i] == to)
            return true;
    }
    return false;
}

static bool ends(const gate_function *function, const gd_dry_step *step, int32_t at, bool returns)
{
    const gate_line *line = at < 0 ? NULL : &function->lines[at];
    uint32_t targets[GATE_TARGETS];
    bool falls = !line || at + 1 == (int32_t)function->count;

    switch (step->turn) {
    case GD_DRY_EXIT:
        return line && line->kind == GATE_EXIT;
    case GD_DRY_UNKNOWN:
        return line && line->kind == GATE_CALL_ANY;
    case GD_DRY_RETURN:
        if (!returns && !function->noreturn)
            return false;
        if ((line && line->kind == GATE_RETURN) || (falls && (!line || gate_goes_on(line))))
            return true;
        for (uint32_t i = line ? gate_targets(line, targets) : 0; i-- > 0;) {
            if (targets[i] == function->count)
                return true;
        }
        return false;
    default:
        return false;
    }
}

/* Whether the path that is named for a function is one: it begins at the start, each step follows
 * the one before, none waits, and it ends where a thread leaves (or returns). */
static bool check_path(uint32_t index, uint32_t function, bool returns, uint32_t depth)
{
    const gate_program *program = &g.programs[index];
    gd_dry_path path;
    place at;
    bool good = true;

    if (!gd_dry_search_path(g.search, function_in_module(index, function), returns, &path)) {
        fprintf(stderr, "no memory\n");
        exit(2);
    }
    for (uint32_t i = 0; i < path.count && good; i++) {
        const gd_dry_step *step = &path.steps[i];
        good = step->instruction != GD_PTX_NONE && find_place(index, step->instruction, &at) &&
               at.function == function;
        if (!good)
            break;
        const gate_function *body = &program->functions[function];
        const gate_line *line = at.line < 0 ? NULL : &body->lines[at.line];
        place next;
        if (i == 0)
            good = at.line < 0;
        if (line && line->kind == GATE_WAIT && line->guard < 0)
            good = false;
        if (step->turn == GD_DRY_NEXT || step->turn == GD_DRY_BRANCH) {
            good = good && i + 1 < path.count && find_place(index, step[1].instruction, &next) &&
                   next.function == function &&
                   follows(index, body, step, at.line, next.line, depth);
        } else if (step->turn == GD_DRY_ENTER) {
            good = good && line && is_call(line) && line->kind != GATE_CALL_ANY &&
                   i + 1 < path.count && find_place(index, step[1].instruction, &next) &&
                   (next.function == line->targets[0] ||
                    (line->kind == GATE_CALL_LISTED && next.function == line->targets[1]));
            function = next.function;
            returns = false;
        } else {
            good = good && i + 1 == path.count && ends(body, step, at.line, returns || !function);
        }
    }
    good = good && path.count;
    gd_dry_path_free(&path);
    return good;
}

/* ---- running ---- */

/* How much stack a thread needs that calls itself no compiler can tell. */
static void set_stack(void)
{
    gd_CUresult (*set)(int32_t, size_t) = NULL;
    void *function = dlsym(g.runtime->driver->library, "cuCtxSetLimit");
    bool pushed;

    need(gd_runtime_enter(g.runtime, &pushed, &g.error), "enter");
    memcpy(&set, &function, sizeof set);
    if (!set || set(STACK_SIZE, g.stack)) {
        fprintf(stderr, "the driver gives no stack of %" PRIu64 " bytes\n", g.stack);
        exit(2);
    }
    gd_runtime_leave(g.runtime, pushed);
}

static void open_runtime(void)
{
    const char *driver = g.driver ? g.driver : getenv("EMULATED_DRIVER");
    const char *schedule = getenv("GRIDDEP_EMULATOR_SCHEDULE");
    const griddep_runtime_options options = {
        .size = sizeof options, .driver = driver ? driver : "emulated", .store_directory = ""};

    griddep_error_init(&g.error);
    need(griddep_runtime_open(&options, &g.runtime, &g.error), "open");
    set_stack();
    if (!g.runtime->info.emulated && !g.slow)
        g.slow = USUAL_SLOW;
    g.n.eager = !g.slow && (!schedule || !strcmp(schedule, "eager"));
    need(griddep_module_load(g.runtime, others, sizeof others - 1, NULL, &g.others, &g.error),
         "load");
    need(griddep_module_find_kernel(g.others, "first", &g.first, &g.error), "first");
    need(griddep_module_find_kernel(g.others, "last", &g.last, &g.error), "last");
    need(griddep_module_find_kernel(g.others, "blind", &g.blind, &g.error), "blind");
    need(griddep_stream_create(g.runtime, NULL, &g.stream, &g.error), "stream");
    need(griddep_memory_allocate(g.runtime, sizeof g.value, &g.data, &g.error), "allocate");
    need(griddep_memory_allocate(g.runtime, sizeof g.values, &g.cells, &g.error), "allocate");
    need(griddep_memory_write(g.runtime, g.data, &g.value, sizeof g.value, g.stream, &g.error),
         "write");
}

static void close_runtime(void)
{
    need(griddep_memory_free(g.runtime, g.data, &g.error), "free");
    need(griddep_memory_free(g.runtime, g.cells, &g.error), "free");
    need(griddep_stream_destroy(g.runtime, g.stream, &g.error), "stream");
    griddep_module_unload(g.others);
    griddep_runtime_close(g.runtime);
}

static void launch(griddep_kernel *kernel, uint32_t threads, int32_t pdl,
                   const griddep_argument *arguments, uint32_t count, int32_t *reason)
{
    const griddep_launch_config config = {
        .size = sizeof config, .grid = {1}, .block = {threads}, .pdl = pdl, .stream = g.stream};

    need(griddep_launch(kernel, &config, arguments, count, reason, &g.error), "launch");
}

static void launch_run(griddep_module *module, uint32_t index)
{
    const run *item = &g.runs[index];
    const gate_program *program = &g.programs[item->program];
    const griddep_argument written[] = {{.bytes = 8, .value = g.data},
                                        {.bytes = 4, .value = ++g.value},
                                        {.bytes = 8, .value = g.slow}};
    const griddep_argument tape[] = {{.bytes = 8, .value = item->tape}};
    const griddep_argument read[] = {{.bytes = 8, .value = g.data},
                                     {.bytes = 8, .value = g.cells + 4 * index}};
    griddep_kernel *kernel;
    char name[16];
    int32_t reason;

    snprintf(name, sizeof name, "k%" PRIu32, item->program);
    need(griddep_module_find_kernel(module, name, &kernel, &g.error), name);
    launch(g.first, 1, GRIDDEP_PDL_OFF, written, 3, NULL);
    launch(kernel, item->forced ? 1 : program->threads,
           g.serial       ? GRIDDEP_PDL_OFF
           : item->forced ? GRIDDEP_PDL_FORCE
                          : GRIDDEP_PDL_AUTO,
           tape, 1, &reason);
    launch(item->blind ? g.blind : g.last, 1,
           g.serial      ? GRIDDEP_PDL_OFF
           : item->blind ? GRIDDEP_PDL_FORCE
                         : GRIDDEP_PDL_AUTO,
           read, 2, NULL);
    if (g.serial)
        return;
    bool set = reason == GRIDDEP_REASON_SET;
    if (!item->forced && set != ((g.traits[item->program] & GRIDDEP_TRAIT_WAITS_ALWAYS) != 0))
        complain(item->program, "AUTO does not go by the traits");
}

static void run_batch(void)
{
    const griddep_module_options options = {.size = sizeof options, .optimization = g.optimize};
    griddep_module *module;
    uint32_t before = g.value;

    need(griddep_module_load(g.runtime, gd_text_get(&g.text), g.text.bytes, &options, &module,
                             &g.error),
         "load");
    for (uint32_t i = 0; i < g.run_count; i++)
        launch_run(module, i);
    need(griddep_stream_synchronize(g.runtime, g.stream, &g.error), "synchronize");
    need(griddep_memory_read(g.runtime, g.values, g.cells, sizeof g.values, g.stream, &g.error),
         "read");
    need(griddep_stream_synchronize(g.runtime, g.stream, &g.error), "synchronize");
    for (uint32_t i = 0; i < g.run_count && !g.serial; i++) {
        const run *item = &g.runs[i];
        bool stale = g.values[i] != before + 1 + i;
        bool has_wait = g.traits[item->program] & GRIDDEP_TRAIT_WAITS;
        if (item->blind) {
            g.n.controls++;
            g.n.stale_controls += stale;
        } else if (item->forced && item->expected == GATE_DRY) {
            g.n.forced[has_wait]++;
            g.n.stale[has_wait] += stale;
        }
        if (stale && !item->forced)
            complain(item->program, "AUTO let the last kernel read what was stale");
        else if (stale && item->expected != GATE_DRY)
            complain(item->program, "a thread waited, and the last kernel read what was stale");
        else if (!stale && g.n.eager && item->forced && item->expected == GATE_DRY)
            complain(item->program, "no thread waited, and the last kernel read what was fresh");
    }
    g.n.executed += g.run_count;
    griddep_module_unload(module);
}

static void add_run(uint32_t program, uint64_t tape, bool forced, bool blind)
{
    gate_outcome expected =
        gate_run_all(&g.programs[program], tape, forced ? 1 : g.programs[program].threads);

    if (expected != GATE_FAILS)
        g.runs[g.run_count++] = (run){.program = program,
                                      .tape = tape,
                                      .forced = forced,
                                      .blind = blind,
                                      .expected = expected};
}

/* ---- a batch ---- */

/* Whether each entry that may miss its wait has a finding, and no other has one. */
static void check_findings(void)
{
    griddep_findings *findings;
    bool found[BATCH] = {false};

    need(griddep_ptx_check(gd_text_get(&g.text), g.text.bytes, "gate", NULL, &findings, &g.error),
         "check");
    for (uint32_t i = 0; i < griddep_findings_count(findings); i++) {
        griddep_finding finding = {.size = sizeof finding};
        uint32_t index;
        need(griddep_findings_get(findings, i, &finding, &g.error), "finding");
        if (!strcmp(finding.code, "GD004")) { /* too many: some are left out */
            griddep_findings_destroy(findings);
            return;
        }
        if (!strcmp(finding.code, "GD121") && finding.entry &&
            sscanf(finding.entry, "k%" SCNu32, &index) == 1)
            found[index] = true;
    }
    griddep_findings_destroy(findings);
    for (uint32_t i = 0; i < g.count; i++) {
        bool misses = (g.traits[i] & (GRIDDEP_TRAIT_WAITS | GRIDDEP_TRAIT_WAITS_ALWAYS)) ==
                      GRIDDEP_TRAIT_WAITS;
        if (found[i] != misses)
            complain(i, misses ? "the check has no GD121" : "the check has a GD121");
    }
}

static void judge(uint32_t index)
{
    gate_program *program = &g.programs[index];
    uint64_t tape, state = program->seed;
    bool dry = gate_find_dry(program, &tape);

    if (g.traits[index] & GRIDDEP_TRAIT_WAITS_ALWAYS) {
        g.n.always++;
        if (dry)
            complain(index,
                     "a thread can leave without a wait, and AUTO says that each path waits");
    } else if (g.traits[index] & GRIDDEP_TRAIT_WAITS) {
        g.n.sometimes++;
        g.n.overcautious += !dry;
        if (check_path(index, 0, true, 0))
            g.n.paths++;
        else
            complain(index, "the path that is named is none");
    } else {
        g.n.never++;
    }
    if (dry) {
        add_run(index, tape, true, false);
        add_run(index, tape, true, true);
        add_run(index, tape, false, false);
    }
    add_run(index, gate_draw(&state), false, false);
}

static void do_batch(uint64_t from, uint32_t count, bool print)
{
    int32_t line = 5;

    g.count = count;
    g.run_count = 0;
    gd_text_string(&g.text, head);
    for (uint32_t i = 0; i < count; i++) {
        gate_make(&g.programs[i], from + i);
        gate_print(&g.programs[i], i, &g.text, &line);
    }
    if (print)
        fputs(gd_text_get(&g.text), stdout);
    need(griddep_ptx_parse(gd_text_get(&g.text), g.text.bytes, "gate", &g.ptx, &g.error), "parse");
    g.search = gd_dry_search_create(&g.ptx->module);
    if (!g.search || g.text.failed) {
        fprintf(stderr, "no memory\n");
        exit(2);
    }
    for (uint32_t i = 0; i < count; i++) {
        g.traits[i] = gd_ptx_get_function(g.ptx, i)->traits;
        judge(i);
    }
    check_findings();
    run_batch();
    gd_dry_search_destroy(g.search);
    griddep_ptx_destroy(g.ptx);
    gd_text_free(&g.text);
    g.n.total += count;
}

/* ---- processes ---- */

static void run_here(uint64_t from, uint64_t count)
{
    open_runtime();
    for (uint64_t done = 0; done < count && g.n.failures < MOST_FAILURES; done += BATCH)
        do_batch(from + done, count - done < BATCH ? (uint32_t)(count - done) : BATCH, g.print);
    close_runtime();
}

static void add_counts(const counts *more)
{
    g.n.total += more->total;
    g.n.always += more->always;
    g.n.sometimes += more->sometimes;
    g.n.never += more->never;
    g.n.executed += more->executed;
    g.n.overcautious += more->overcautious;
    g.n.paths += more->paths;
    g.n.failures += more->failures;
    g.n.faulty += more->faulty;
    for (int i = 0; i < 2; i++) {
        g.n.forced[i] += more->forced[i];
        g.n.stale[i] += more->stale[i];
    }
    g.n.controls += more->controls;
    g.n.stale_controls += more->stale_controls;
    g.n.eager = more->eager;
}

/* Programs in a process of their own. false: it ended before it had told what it counted. */
static bool run_apart(uint64_t from, uint64_t count)
{
    counts told;
    int ends[2], status;

    fflush(NULL);
    pid_t child = pipe(ends) ? -1 : fork();
    if (child < 0) {
        perror("gate");
        exit(2);
    }
    if (child == 0) {
        close(ends[0]);
        g.n = (counts){0};
        run_here(from, count);
        fflush(NULL);
        _exit(write(ends[1], &g.n, sizeof g.n) == sizeof g.n ? 0 : 2);
    }
    close(ends[1]);
    const bool whole = read(ends[0], &told, sizeof told) == sizeof told;
    close(ends[0]);
    waitpid(child, &status, 0);
    if (whole && !g.serial)
        add_counts(&told);
    return whole;
}

/* What fails is taken apart; the programs of the other halves count. */
static void run_range(uint64_t from, uint64_t count)
{
    if (g.n.failures >= MOST_FAILURES || run_apart(from, count))
        return;
    if (count > 1) {
        run_range(from, count / 2);
        run_range(from + count / 2, count - count / 2);
        return;
    }
    g.serial = true;
    const bool serial_works = run_apart(from, 1);
    g.serial = false;
    if (serial_works) {
        gate_make(&g.programs[0], from);
        complain(0, "the driver fails (above), and the model does not");
    } else {
        g.n.faulty++;
    }
}

/* ---- the command ---- */

static int32_t read_level(const char *text)
{
    int32_t level = (int32_t)strtol(text, NULL, 0);

    return level == 0 ? GRIDDEP_OPTIMIZATION_NONE : level;
}

int main(int argc, char **argv)
{
    uint64_t from = 1, count = DEFAULT_COUNT;

    g.stack = USUAL_STACK;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--text"))
            g.print = true;
        else if (!strcmp(argv[i], "--from") && i + 1 < argc)
            from = strtoull(argv[++i], NULL, 0);
        else if (!strcmp(argv[i], "--count") && i + 1 < argc)
            count = strtoull(argv[++i], NULL, 0);
        else if (!strcmp(argv[i], "--driver") && i + 1 < argc)
            g.driver = argv[++i];
        else if (!strcmp(argv[i], "--slow") && i + 1 < argc)
            g.slow = strtoull(argv[++i], NULL, 0);
        else if (!strcmp(argv[i], "--stack") && i + 1 < argc)
            g.stack = strtoull(argv[++i], NULL, 0);
        else if (!strcmp(argv[i], "--optimize") && i + 1 < argc)
            g.optimize = read_level(argv[++i]);
        else
            return fputs("usage: gate [--from SEED] [--count N] [--driver DRIVER] [--slow NS] "
                         "[--stack BYTES] [--optimize 0..4] [--text]\n",
                         stderr),
                   64;
    }
    const bool on_gpu = g.driver && !strcmp(g.driver, "nvidia");
    const uint64_t each = on_gpu ? PROCESS_ON_GPU : PROCESS;
    if (on_gpu)
        setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    for (uint64_t done = 0; done < count; done += each)
        run_range(from + done, count - done < each ? count - done : each);
    printf("%" PRIu64 " programs: %" PRIu64 " wait on each path, %" PRIu64 " on some, %" PRIu64
           " never\n",
           g.n.total, g.n.always, g.n.sometimes, g.n.never);
    printf("%" PRIu64 " executions; forced without a wait, %" PRIu64 " of %" PRIu64
           " kernels that have one and %" PRIu64 " of %" PRIu64
           " that have none let the last one read what is stale\n",
           g.n.executed, g.n.stale[1], g.n.forced[1], g.n.stale[0], g.n.forced[0]);
    printf("%" PRIu64 " of %" PRIu64
           " controls, last kernels that do not wait behind such a kernel, read what is stale\n",
           g.n.stale_controls, g.n.controls);
    printf("%" PRIu64 " paths without a wait are what they are said to be\n", g.n.paths);
    printf("of %" PRIu64 " of the %" PRIu64
           " that wait on some paths no execution was found that avoids the wait\n",
           g.n.overcautious, g.n.sometimes);
    if (g.n.faulty)
        printf("%" PRIu64 " programs fail on this driver with no early start either\n", g.n.faulty);
    printf("%" PRIu64 " failures\n", g.n.failures);
    /* each kind of program has come up, or the seeds say nothing */
    return g.n.failures || !g.n.always || !g.n.sometimes || (g.n.eager && !g.n.stale[1]) ||
           (g.n.controls > MANY && !g.n.stale_controls);
}
