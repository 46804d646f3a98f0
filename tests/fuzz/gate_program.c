/* Making, printing and executing random kernels. */
#include <inttypes.h>
#include <string.h>

#include "gate_program.h"

enum { MOST_STEPS = 300, MOST_DEPTH = 6, MOST_TAPES = 2000, FIRST_DECISIONS = 4 };

/* splitmix64 (Steele, Lea, Flood 2014) */
uint64_t gate_draw(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static uint32_t below(uint64_t *state, uint32_t limit)
{
    return (uint32_t)(gate_draw(state) >> 33) % limit;
}

/* ---- making ---- */

/* How often each kind comes; waits and leaving differ from program to program. */
static gate_kind draw_kind(uint64_t *state, uint32_t waits, uint32_t leaves, bool calls)
{
    const uint32_t weights[GATE_KINDS] = {
        [GATE_WORK] = 3,
        [GATE_DECIDE] = 12,
        [GATE_INVERT] = 1,
        [GATE_THREAD] = 1,
        [GATE_WAIT] = waits,
        [GATE_TRIGGER] = 1,
        [GATE_BRANCH] = 9,
        [GATE_BRANCH_INDEXED] = 2,
        [GATE_CALL] = calls ? 5 : 0,
        [GATE_CALL_LISTED] = calls ? 3 : 0,
        [GATE_CALL_ANY] = calls ? 1 : 0,
        [GATE_RETURN] = leaves,
        [GATE_EXIT] = leaves,
        [GATE_TRAP] = 1,
    };
    uint32_t sum = 0, kind = 0;

    for (uint32_t i = 0; i < GATE_KINDS; i++)
        sum += weights[i];
    uint32_t drawn = below(state, sum);
    for (; drawn >= weights[kind]; kind++)
        drawn -= weights[kind];
    return (gate_kind)kind;
}

static bool can_be_guarded(gate_kind kind)
{
    return kind >= GATE_WAIT;
}

static void make_line(uint64_t *state, const gate_program *program, gate_function *function,
                      uint32_t index, uint32_t waits, uint32_t leaves)
{
    gate_line *line = &function->lines[index];
    gate_kind kind = draw_kind(state, waits, leaves, program->count > 1);
    bool calls = kind >= GATE_CALL && kind <= GATE_CALL_ANY;
    bool stops =
        kind == GATE_RETURN || kind == GATE_EXIT || kind == GATE_TRAP || kind == GATE_BRANCH;

    *line = (gate_line){.kind = kind,
                        .guard = -1,
                        .predicate = below(state, GATE_PREDICATES),
                        .other = below(state, GATE_PREDICATES),
                        .negated = below(state, 2)};
    if (can_be_guarded(kind) && below(state, 8) < (stops ? 7 : kind == GATE_WAIT ? 1 : 3))
        line->guard = (int32_t)below(state, GATE_PREDICATES);
    for (uint32_t i = 0; i < GATE_TARGETS; i++) {
        bool back = !below(state, 6);
        line->targets[i] = calls  ? 1 + below(state, program->count - 1)
                           : back ? FIRST_DECISIONS + below(state, index + 1 - FIRST_DECISIONS)
                                  : index + 1 + below(state, function->count - index);
    }
}

/* A wait that one thread executes for all, behind which a barrier stands. */
static void specialize(gate_function *entry)
{
    entry->lines[0] = (gate_line){.kind = GATE_THREAD, .guard = -1};
    entry->lines[1] = (gate_line){.kind = GATE_WAIT, .guard = 0};
    entry->lines[2] = (gate_line){.kind = GATE_BARRIER, .guard = -1};
}

void gate_make(gate_program *program, uint64_t seed)
{
    uint64_t state = seed;

    memset(program, 0, sizeof *program);
    program->seed = seed;
    program->count = 1 + below(&state, GATE_FUNCTIONS);
    program->threads = 1 + below(&state, 3);
    uint32_t waits = below(&state, 9), leaves = below(&state, 4);
    for (uint32_t f = 0; f < program->count; f++) {
        gate_function *function = &program->functions[f];
        function->count = FIRST_DECISIONS + 3 + below(&state, GATE_LINES - FIRST_DECISIONS - 3);
        function->noreturn = f && !below(&state, 8);
        for (uint32_t i = 0; i < FIRST_DECISIONS; i++)
            function->lines[i] = (gate_line){.kind = GATE_DECIDE, .guard = -1, .predicate = i};
        for (uint32_t i = FIRST_DECISIONS; i < function->count; i++)
            make_line(&state, program, function, i, waits, leaves);
        if (function->noreturn)
            function->lines[function->count - 1] =
                (gate_line){.kind = below(&state, 2) ? GATE_EXIT : GATE_TRAP, .guard = -1};
    }
    if (!below(&state, 16))
        specialize(&program->functions[0]);
}

/* ---- printing ---- */

static void print_name(gd_text *text, uint32_t number, uint32_t function)
{
    if (function)
        gd_text_format(text, "f%" PRIu32 "_%" PRIu32, number, function);
    else
        gd_text_format(text, "k%" PRIu32, number);
}

static void print_lists(const gate_function *function, uint32_t number, gd_text *text,
                        int32_t *line)
{
    for (uint32_t i = 0; i < function->count; i++) {
        const gate_line *item = &function->lines[i];
        if (item->kind == GATE_BRANCH_INDEXED) {
            gd_text_format(text, "T%" PRIu32 ": .branchtargets L%" PRIu32 ", L%" PRIu32 ";\n", i,
                           item->targets[0], item->targets[1]);
        } else if (item->kind == GATE_CALL_LISTED) {
            gd_text_format(text, "T%" PRIu32 ": .calltargets ", i);
            print_name(text, number, item->targets[0]);
            gd_text_string(text, ", ");
            print_name(text, number, item->targets[1]);
            gd_text_string(text, ";\n");
        } else if (item->kind == GATE_CALL_ANY) {
            gd_text_format(text, "T%" PRIu32 ": .callprototype _ ();\n", i);
        } else {
            continue;
        }
        ++*line;
    }
}

/* What stands in front of the instruction that the guard belongs to. */
static void print_choice(const gate_line *item, uint32_t number, gd_text *text)
{
    if (item->kind == GATE_BRANCH_INDEXED)
        gd_text_format(text, "selp.b32 %%i, 0, 1, %%p%" PRIu32 "; ", item->predicate);
    if (item->kind != GATE_CALL_LISTED && item->kind != GATE_CALL_ANY)
        return;
    gd_text_string(text, "mov.u64 %t, ");
    print_name(text, number, item->targets[0]);
    gd_text_string(text, "; mov.u64 %u, ");
    print_name(text, number, item->targets[1]);
    gd_text_format(text, "; selp.b64 %%t, %%t, %%u, %%p%" PRIu32 "; ", item->predicate);
}

static void print_instruction(const gate_line *item, uint32_t index, uint32_t number, gd_text *text)
{
    switch (item->kind) {
    case GATE_DECIDE:
        gd_text_format(text,
                       "ld.shared.u64 %%t, [%%s]; and.b64 %%u, %%t, 1; setp.eq.u64 %%p%" PRIu32
                       ", %%u, 1; shr.u64 %%t, %%t, 1; st.shared.u64 [%%s], %%t;",
                       item->predicate);
        break;
    case GATE_INVERT:
        gd_text_format(text, "not.pred %%p%" PRIu32 ", %%p%" PRIu32 ";", item->predicate,
                       item->other);
        break;
    case GATE_THREAD:
        gd_text_format(text, "mov.u32 %%i, %%tid.x; setp.eq.u32 %%p%" PRIu32 ", %%i, 0;",
                       item->predicate);
        break;
    case GATE_BARRIER:
        gd_text_string(text, "bar.sync 0;");
        break;
    case GATE_WAIT:
        gd_text_string(text, "griddepcontrol.wait;");
        break;
    case GATE_TRIGGER:
        gd_text_string(text, "griddepcontrol.launch_dependents;");
        break;
    case GATE_BRANCH:
        gd_text_format(text, "bra L%" PRIu32 ";", item->targets[0]);
        break;
    case GATE_BRANCH_INDEXED:
        gd_text_format(text, "brx.idx %%i, T%" PRIu32 ";", index);
        break;
    case GATE_CALL:
        gd_text_string(text, "call ");
        print_name(text, number, item->targets[0]);
        gd_text_string(text, ";");
        break;
    case GATE_CALL_LISTED:
    case GATE_CALL_ANY:
        gd_text_format(text, "call %%t, (), T%" PRIu32 ";", index);
        break;
    case GATE_RETURN:
        gd_text_string(text, "ret;");
        break;
    case GATE_EXIT:
        gd_text_string(text, "exit;");
        break;
    case GATE_TRAP:
        gd_text_string(text, "trap;");
        break;
    default:
        gd_text_string(text, "add.u32 %i, %i, 1;");
    }
}

static void print_function(gate_function *function, uint32_t number, uint32_t index, gd_text *text,
                           int32_t *line)
{
    gd_text_string(text, index ? ".func " : ".visible .entry ");
    print_name(text, number, index);
    gd_text_string(text, index ? "()" : "(.param .u64 tape)");
    gd_text_string(text, function->noreturn ? " .noreturn\n{\n" : "\n{\n");
    gd_text_string(text, ".reg .pred %p<4>;\n.reg .b32 %i;\n.reg .b64 %s, %t, %u;\n");
    *line += 5;
    print_lists(function, number, text, line);
    gd_text_string(
        text,
        "mov.u32 %i, %tid.x;\nmul.wide.u32 %s, %i, 8;\nmov.u64 %t, state;\nadd.u64 %s, %s, %t;\n");
    *line += 4;
    if (!index) {
        gd_text_string(
            text, "ld.param.u64 %t, [tape];\nmul.wide.u32 %u, %i, 40503;\nadd.u64 %t, %t, %u;\n"
                  "st.shared.u64 [%s], %t;\n");
        *line += 4;
    }
    for (uint32_t i = 0; i < GATE_PREDICATES; i++, ++*line)
        gd_text_format(text, "setp.ne.u32 %%p%" PRIu32 ", 0, 0;\n", i);
    for (uint32_t i = 0; i < function->count; i++, ++*line) {
        gate_line *item = &function->lines[i];
        item->position = *line;
        gd_text_format(text, "L%" PRIu32 ": ", i);
        print_choice(item, number, text);
        if (item->guard >= 0)
            gd_text_format(text, "@%s%%p%" PRId32 " ", item->negated ? "!" : "", item->guard);
        print_instruction(item, i, number, text);
        gd_text_string(text, "\n");
    }
    gd_text_format(text, "L%" PRIu32 ":\n}\n", function->count);
    *line += 2;
}

void gate_print(gate_program *program, uint32_t number, gd_text *text, int32_t *line)
{
    for (uint32_t i = 1; i < program->count; i++, ++*line)
        gd_text_format(text, ".func f%" PRIu32 "_%" PRIu32 "()%s;\n", number, i,
                       program->functions[i].noreturn ? " .noreturn" : "");
    for (uint32_t i = 0; i < program->count; i++)
        print_function(&program->functions[i], number, i, text, line);
}

/* ---- what follows what ---- */

uint32_t gate_targets(const gate_line *line, uint32_t *targets)
{
    uint32_t count = line->kind == GATE_BRANCH ? 1 : line->kind == GATE_BRANCH_INDEXED ? 2 : 0;

    memcpy(targets, line->targets, count * sizeof *targets);
    return count;
}

bool gate_goes_on(const gate_line *line)
{
    switch (line->kind) {
    case GATE_BRANCH:
    case GATE_BRANCH_INDEXED:
    case GATE_RETURN:
    case GATE_EXIT:
    case GATE_TRAP:
        return line->guard >= 0;
    default:
        return true;
    }
}

/* ---- executing ---- */

typedef struct thread {
    const gate_program *program;
    uint64_t tape;
    uint32_t number, used, steps;
    bool waited;
} thread;

typedef enum ending { RETURNS, LEAVES, FAILS } ending;

static ending run_function(thread *at, uint32_t index, uint32_t depth)
{
    const gate_function *function = &at->program->functions[index];
    bool predicates[GATE_PREDICATES] = {false};

    if (depth > MOST_DEPTH)
        return FAILS;
    for (uint32_t i = 0; i < function->count;) {
        const gate_line *line = &function->lines[i++];
        uint32_t chosen = predicates[line->predicate] ? 0 : 1;
        ending end;
        if (++at->steps > MOST_STEPS)
            return FAILS;
        if (line->guard >= 0 && predicates[line->guard] == line->negated)
            continue;
        switch (line->kind) {
        case GATE_DECIDE:
            if (at->used == GATE_TAPE)
                return FAILS;
            predicates[line->predicate] = at->tape >> at->used++ & 1;
            break;
        case GATE_INVERT:
            predicates[line->predicate] = !predicates[line->other];
            break;
        case GATE_THREAD:
            predicates[line->predicate] = at->number == 0;
            break;
        case GATE_WAIT:
            at->waited = true;
            break;
        case GATE_BRANCH:
            i = line->targets[0];
            break;
        case GATE_BRANCH_INDEXED:
            i = line->targets[chosen];
            break;
        case GATE_CALL:
        case GATE_CALL_LISTED:
        case GATE_CALL_ANY:
            end = run_function(at, line->targets[line->kind == GATE_CALL ? 0 : chosen], depth + 1);
            if (end != RETURNS)
                return end;
            break;
        case GATE_RETURN:
            i = function->count;
            break;
        case GATE_EXIT:
            return LEAVES;
        case GATE_TRAP:
            return FAILS;
        default:
            break;
        }
    }
    return function->noreturn ? FAILS : RETURNS;
}

gate_outcome gate_run(const gate_program *program, uint64_t tape, uint32_t number, uint32_t *used)
{
    thread at = {.program = program, .tape = gate_tape(tape, number), .number = number};
    ending end = run_function(&at, 0, 0);

    *used = at.used;
    return end == FAILS ? GATE_FAILS : at.waited ? GATE_WAITED : GATE_DRY;
}

uint64_t gate_tape(uint64_t tape, uint32_t number)
{
    return tape + number * UINT64_C(40503);
}

gate_outcome gate_run_all(const gate_program *program, uint64_t tape, uint32_t threads)
{
    gate_outcome all = GATE_DRY;

    for (uint32_t i = 0; i < threads; i++) {
        uint32_t used;
        gate_outcome one = gate_run(program, tape, i, &used);
        if (one == GATE_FAILS)
            return GATE_FAILS;
        all = one == GATE_WAITED ? GATE_WAITED : all;
    }
    return all;
}

/* The bits that were read, but for the last 0 among them, which becomes 1; what was not read is
 * 0. */
static bool next_tape(uint64_t *tape, uint32_t used)
{
    while (used && *tape >> (used - 1) & 1)
        used--;
    if (!used)
        return false;
    *tape &= (UINT64_C(1) << (used - 1)) - 1;
    *tape |= UINT64_C(1) << (used - 1);
    return true;
}

bool gate_find_dry(const gate_program *program, uint64_t *tape)
{
    bool more = true;

    *tape = 0;
    for (uint32_t i = 0; more && i < MOST_TAPES; i++) {
        uint32_t used;
        if (gate_run(program, *tape, 0, &used) == GATE_DRY)
            return true;
        more = next_tape(tape, used);
    }
    return false;
}
