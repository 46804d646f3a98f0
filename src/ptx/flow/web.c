/* Webs by reaching definitions, one register at a time. What a register holds when a block is
 * entered is a node; it is asked for only where a use needs it, from the predecessors' last
 * definitions or, where they have none, from what they were entered with. Nodes that meet are
 * united. */
#include <stdlib.h>
#include <string.h>

#include "ptx/text/array.h"
#include "ptx/text/limit.h"
#include "ptx/flow/web.h"

typedef struct occurrence {
    uint32_t operand; /* from first_operand on */
    uint32_t block;
    uint32_t instruction;
    uint32_t next; /* of the same register, in the order of the text */
} occurrence;

typedef struct web_search {
    gd_webs *webs;
    occurrence *occurrences;
    uint32_t occurrence_count;
    uint32_t *first; /* by register: its first and last occurrence */
    uint32_t *last;
    uint32_t *definitions; /* by register: how many */
    uint32_t *node_of;     /* by operand: its node, while its register is looked at */
    uint32_t *entered;     /* by block: the node of what it is entered with */
    uint32_t *left;        /* by block: the node of its last definition */
    uint32_t *touched;     /* blocks of which either is set */
    uint32_t touched_count;
    uint32_t *work; /* blocks whose `entered` was made and not yet asked of the predecessors */
    uint32_t work_count;
    uint32_t *parents; /* of nodes */
    uint32_t node_count, node_capacity;
    uint64_t steps;
    bool failed;
} web_search;

/* ---- nodes ---- */

static uint32_t new_node(web_search *search)
{
    if (search->node_count == search->node_capacity &&
        !gd_array_grow((void **)&search->parents, &search->node_capacity,
                       sizeof *search->parents)) {
        search->failed = true;
        return 0;
    }
    search->parents[search->node_count] = search->node_count;
    return search->node_count++;
}

static uint32_t root_of(const web_search *search, uint32_t node)
{
    while (search->parents[node] != node) {
        search->parents[node] = search->parents[search->parents[node]];
        node = search->parents[node];
    }
    return node;
}

static void unite(web_search *search, uint32_t a, uint32_t b)
{
    a = root_of(search, a);
    b = root_of(search, b);
    if (a < b)
        search->parents[b] = a;
    else
        search->parents[a] = b;
}

/* ---- one register ---- */

static void touch(web_search *search, uint32_t block)
{
    if (search->entered[block] == GD_PTX_NONE && search->left[block] == GD_PTX_NONE)
        search->touched[search->touched_count++] = block;
}

/* What a block is entered with; to be asked of its predecessors when it is new. */
static uint32_t entered_with(web_search *search, uint32_t block)
{
    if (search->entered[block] == GD_PTX_NONE) {
        touch(search, block);
        search->entered[block] = new_node(search);
        search->work[search->work_count++] = block;
    }
    return search->entered[block];
}

/* The occurrences of one instruction, uses before definitions; gives the first of the next one.
 * `held` is the node of what the register holds, GD_PTX_NONE: what the block was entered with. */
static uint32_t visit_instruction(web_search *search, uint32_t from, uint32_t *held)
{
    const uint8_t *roles = search->webs->roles;
    uint32_t instruction = search->occurrences[from].instruction,
             block = search->occurrences[from].block;
    uint32_t end = from, defined = GD_PTX_NONE;

    for (; end != GD_PTX_NONE && search->occurrences[end].instruction == instruction;
         end = search->occurrences[end].next) {
        uint32_t operand = search->occurrences[end].operand;
        if (roles[operand] == GD_WEB_DEFINITION) {
            defined = defined == GD_PTX_NONE ? new_node(search) : defined;
            search->node_of[operand] = defined;
            continue;
        }
        if (*held == GD_PTX_NONE)
            *held = entered_with(search, block);
        search->node_of[operand] = *held;
    }
    if (defined != GD_PTX_NONE)
        *held = defined;
    return end;
}

static void visit_occurrences(web_search *search, uint32_t value)
{
    uint32_t held = GD_PTX_NONE, block = GD_PTX_NONE;

    for (uint32_t at = search->first[value]; at != GD_PTX_NONE && !search->failed;) {
        if (search->occurrences[at].block != block) {
            block = search->occurrences[at].block;
            held = GD_PTX_NONE;
        }
        at = visit_instruction(search, at, &held);
        search->steps++;
        if (held != GD_PTX_NONE && held != search->entered[block]) {
            touch(search, block);
            search->left[block] = held;
        }
    }
}

static void ask_predecessors(web_search *search)
{
    const gd_flow *flow = search->webs->flow;

    while (search->work_count && !search->failed) {
        uint32_t block = search->work[--search->work_count];
        const gd_flow_block *item = &flow->blocks[block];
        for (uint32_t i = item->predecessor; i < item->predecessor_end; i++) {
            uint32_t from = flow->edges[i];
            search->steps++;
            unite(search, search->entered[block],
                  search->left[from] == GD_PTX_NONE ? entered_with(search, from)
                                                    : search->left[from]);
        }
    }
}

/* Numbers the webs: the first one keeps the register's number. */
static void number_webs(web_search *search, uint32_t value)
{
    gd_webs *webs = search->webs;
    const uint32_t numbered = UINT32_C(1) << 31; /* of a root: its parent is the web's number */
    bool first = true;

    for (uint32_t at = search->first[value]; at != GD_PTX_NONE; at = search->occurrences[at].next) {
        uint32_t operand = search->occurrences[at].operand;
        search->node_of[operand] = root_of(search, search->node_of[operand]);
    }
    for (uint32_t at = search->first[value]; at != GD_PTX_NONE; at = search->occurrences[at].next) {
        uint32_t root = search->node_of[search->occurrences[at].operand];
        if (!(search->parents[root] & numbered)) {
            search->parents[root] = (first ? value : webs->value_count++) | numbered;
            first = false;
        }
        webs->value_of[search->occurrences[at].operand] = search->parents[root] & ~numbered;
    }
}

static void split_register(web_search *search, uint32_t value)
{
    search->node_count = 0;
    search->work_count = 0;
    search->touched_count = 0;
    visit_occurrences(search, value);
    ask_predecessors(search);
    if (!search->failed)
        number_webs(search, value);
    for (uint32_t i = 0; i < search->touched_count; i++)
        search->entered[search->touched[i]] = search->left[search->touched[i]] = GD_PTX_NONE;
}

/* ---- all registers ---- */

static void add_occurrence(web_search *search, uint32_t operand, uint32_t instruction,
                           uint32_t block)
{
    uint32_t value = search->webs->value_of[operand], number = search->occurrence_count++;

    search->occurrences[number] = (occurrence){operand, block, instruction, GD_PTX_NONE};
    if (search->first[value] == GD_PTX_NONE)
        search->first[value] = number;
    else
        search->occurrences[search->last[value]].next = number;
    search->last[value] = number;
    search->definitions[value] += search->webs->roles[operand] != GD_WEB_USE;
}

static void list_occurrences(web_search *search)
{
    const gd_webs *webs = search->webs;
    const gd_ptx_module *module = webs->flow->module;
    const gd_ptx_function *function = &module->functions[webs->flow->function];

    for (uint32_t i = function->instruction; i < function->instruction_end; i++) {
        const gd_ptx_instruction *instruction = &module->instructions[i];
        uint32_t block = gd_flow_block_of(webs->flow, i);
        uint32_t from =
            instruction->operand - (instruction->flags & GD_INSTRUCTION_GUARDED ? 1 : 0);
        for (uint32_t j = from; j < instruction->operand_end; j++) {
            if (webs->roles[j - webs->first_operand] != GD_WEB_NONE)
                add_occurrence(search, j - webs->first_operand, i, block);
        }
    }
}

static uint32_t *none_filled(size_t count)
{
    uint32_t *made = malloc((count + 1) * sizeof *made);

    if (made)
        memset(made, 0xff, (count + 1) * sizeof *made); /* GD_PTX_NONE */
    return made;
}

static bool begin(web_search *search)
{
    const gd_webs *webs = search->webs;
    size_t blocks = (size_t)webs->flow->count + 1;

    search->occurrences = malloc(((size_t)webs->operand_count + 1) * sizeof *search->occurrences);
    search->first = none_filled(webs->value_count);
    search->last = none_filled(webs->value_count);
    search->definitions = calloc((size_t)webs->value_count + 1, sizeof *search->definitions);
    search->node_of = none_filled(webs->operand_count);
    search->entered = none_filled(blocks);
    search->left = none_filled(blocks);
    search->touched = none_filled(blocks);
    search->work = none_filled(blocks);
    return search->occurrences && search->first && search->last && search->definitions &&
           search->node_of && search->entered && search->left && search->touched && search->work;
}

static void end(web_search *search)
{
    free(search->occurrences);
    free(search->first);
    free(search->last);
    free(search->definitions);
    free(search->node_of);
    free(search->entered);
    free(search->left);
    free(search->touched);
    free(search->work);
    free(search->parents);
}

bool gd_webs_split(gd_webs *webs)
{
    web_search search = {.webs = webs};
    uint32_t registers = webs->value_count;

    search.failed = !begin(&search);
    if (!search.failed)
        list_occurrences(&search);
    for (uint32_t i = 0; i < registers && !search.failed && search.steps < GD_PTX_LIMIT_WEB_STEPS;
         i++) {
        if (search.definitions[i] > 1)
            split_register(&search, i);
    }
    bool done = !search.failed;
    end(&search);
    return done;
}
