/* What a name that nothing declares was meant to be, and where a name was declared first. Texts may
 * have millions of names and of mistakes, so that the names looked at are counted. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "ptx/check/validity.h"
#include "ptx/isa/special.h"

enum {
    MOST_LOOKS = 1 << 20,     /* symbols of a text that are looked at for this */
    MOST_DISTANCES = 1 << 16, /* likewise, names compared letter by letter */
    FARTHEST = 3              /* difference of two lengths that may be a slip of the pen */
};

/* Whether a scope is the one, or around it. */
static bool is_around(const gd_ptx_module *module, uint32_t outer, uint32_t scope)
{
    while (scope > outer && scope != GD_PTX_NONE)
        scope = module->scopes[scope].parent;
    return scope == outer;
}

static uint32_t count_digits(const char *name, uint32_t length)
{
    uint32_t count = 0;

    while (count < length && name[length - 1 - count] >= '0' && name[length - 1 - count] <= '9')
        count++;
    return count;
}

typedef struct name_search {
    gd_validity *check;
    const char *name; /* that is not declared */
    uint32_t length, digits, scope;
    gd_guess meant;
    bool certain;     /* by case, or a % that lacks */
    uint32_t nearest; /* symbol behind `meant`; GD_PTX_NONE */
    uint32_t range;   /* symbol name<N> of which this would be one beyond the last */
} name_search;

/* Whether a name is the wrong one but for the case of its letters, or a % that it lacks. */
static bool is_variant(const name_search *search, const char *name, size_t length)
{
    bool bare = *name == '%' && *search->name != '%';

    return length - bare == search->length &&
           !strncasecmp(name + bare, search->name, search->length);
}

/* Shows a name; true: it is what was meant so far. */
static bool consider(name_search *search, const char *name, size_t length)
{
    char before[GD_GUESS_BYTES];

    if (is_variant(search, name, length)) {
        search->meant.distance = 1;
        search->meant.tied = search->certain;
        search->certain = true;
        snprintf(search->meant.name, sizeof search->meant.name, "%.*s", (int)length, name);
        return true;
    }
    if (search->certain || (*name == '%') != (*search->name == '%'))
        return false;
    memcpy(before, search->meant.name, sizeof before);
    gd_guess_look(&search->meant, name, length);
    return strcmp(before, search->meant.name) != 0;
}

/* Shows a declared name, of a range with the digits that the wrong name has. */
static void show(name_search *search, uint32_t index, const char *name, uint32_t length)
{
    const gd_ptx_symbol *symbol = &search->check->module->symbols[index];
    bool range = symbol->flags & GD_SYMBOL_RANGE;
    char whole[GD_GUESS_BYTES];
    uint32_t digits = range ? search->digits : 0;
    uint32_t difference = length + digits > search->length ? length + digits - search->length
                                                           : search->length - length - digits;

    if (range && length == search->length - digits && !memcmp(name, search->name, length)) {
        search->range = index;
        return;
    }
    if (difference > FARTHEST || length + digits >= sizeof whole || (range && !digits) ||
        !search->check->distances)
        return;
    search->check->distances--;
    snprintf(whole, sizeof whole, "%.*s%.*s", (int)length, name, (int)digits,
             search->name + search->length - digits);
    if (consider(search, whole, length + digits))
        search->nearest = index;
}

static void show_declared(name_search *search)
{
    gd_validity *check = search->check;
    const gd_ptx_module *module = check->module;

    for (uint32_t i = 0; i < module->symbol_count && check->looks; i++) {
        uint32_t length;
        const char *name = gd_ptx_name_text(module, module->symbols[i].name, &length);
        check->looks--;
        if (is_around(module, module->symbols[i].scope, search->scope))
            show(search, i, name, length);
    }
}

static void show_special(name_search *search)
{
    for (uint32_t i = 0; gd_special_at(i); i++) {
        if (consider(search, gd_special_at(i)->name, gd_special_at(i)->bytes))
            search->nearest = GD_PTX_NONE;
    }
}

const char *gd_validity_of_cuda(const char *name, uint32_t length)
{
    static const struct {
        const char *cuda, *ptx;
    } words[] = {{"threadIdx", "%tid"},
                 {"blockIdx", "%ctaid"},
                 {"blockDim", "%ntid"},
                 {"gridDim", "%nctaid"},
                 {"warpSize", "WARP_SZ"},
                 {"__syncthreads", "bar.sync 0"},
                 {"__syncwarp", "bar.warp.sync"},
                 {"__threadfence", "fence.acq_rel.gpu"},
                 {"atomicAdd", "atom.add"},
                 {"return", "ret"},
                 {"goto", "bra"},
                 {"jmp", "bra"}};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strlen(words[i].cuda) == length && memcmp(words[i].cuda, name, length) == 0)
            return words[i].ptx;
    }
    return NULL;
}

void gd_validity_mean_name(gd_validity *check, uint32_t token, uint32_t scope, char *hint,
                           size_t capacity)
{
    const gd_ptx_module *module = check->module;
    name_search search = {
        .check = check, .scope = scope, .nearest = GD_PTX_NONE, .range = GD_PTX_NONE};

    hint[0] = 0;
    search.name = gd_ptx_token_text(module, token, &search.length);
    search.digits = count_digits(search.name, search.length);
    search.meant.nearest.word = search.name;
    search.meant.nearest.bytes = search.length;
    bool percent = *search.name == '%';
    const char *cuda = gd_validity_of_cuda(search.name + percent, search.length - percent);
    if (cuda) {
        snprintf(hint, capacity, "did you mean %s?", cuda);
        gd_validity_mend(check, token, token + 1, true, cuda);
        return;
    }
    show_special(&search);
    show_declared(&search);
    if (search.range != GD_PTX_NONE) {
        const gd_ptx_symbol *symbol = &module->symbols[search.range];
        uint32_t length = search.length - search.digits;
        int shown = length < 60 ? (int)length : 60;
        gd_validity_relate(check, symbol->token, "%.*s0 to %.*s%u are declared here", shown,
                           search.name, shown, search.name, (unsigned)symbol->count - 1);
        snprintf(hint, capacity, "%.*s%u is the last one that is declared", shown, search.name,
                 (unsigned)symbol->count - 1);
    } else if (search.meant.name[0]) {
        snprintf(hint, capacity, "did you mean %s?", search.meant.name);
        gd_validity_mend_name(check, token, "", &search.meant);
        if (search.nearest != GD_PTX_NONE && !search.meant.tied)
            gd_validity_relate(check, module->symbols[search.nearest].token, "%s is declared here",
                               search.meant.name);
    }
}

/* Whether a symbol of the same scope declares a name that `symbol` declares again. */
static bool declares(const gd_ptx_module *module, const gd_ptx_symbol *other,
                     const gd_ptx_symbol *symbol)
{
    if (other->scope != symbol->scope || other == symbol)
        return false;
    if (other->name == symbol->name)
        return (other->flags & GD_SYMBOL_RANGE) == (symbol->flags & GD_SYMBOL_RANGE);
    const gd_ptx_name *name = &module->names.list[symbol->name];
    return other->flags & GD_SYMBOL_RANGE && name->prefix == other->name &&
           name->number < other->count;
}

void gd_validity_relate_first(gd_validity *check, const gd_ptx_symbol *symbol)
{
    const gd_ptx_module *module = check->module;

    for (uint32_t i = 0; &module->symbols[i] < symbol && check->looks; i++) {
        check->looks--;
        if (!declares(module, &module->symbols[i], symbol))
            continue;
        gd_validity_relate(check, module->symbols[i].token, "it is declared first here");
        return;
    }
}

void gd_validity_relate_register(gd_validity *check, const gd_ptx_instruction *instruction,
                                 uint32_t token)
{
    const gd_ptx_module *module = check->module;

    for (uint32_t i = instruction->operand - (instruction->flags & GD_INSTRUCTION_GUARDED ? 1 : 0);
         i < instruction->operand_end; i++) {
        const gd_ptx_operand *operand = &module->operands[i];
        if (operand->token != token || operand->symbol == GD_PTX_NONE ||
            operand->kind != GD_OPERAND_REGISTER)
            continue;
        const gd_ptx_symbol *symbol = &module->symbols[operand->symbol];
        uint32_t length;
        const char *name = gd_ptx_token_text(module, symbol->token, &length);
        int shown = length < 60 ? (int)length : 60;
        if (symbol->flags & GD_SYMBOL_RANGE)
            gd_validity_relate(check, symbol->token, "%.*s<%u> is declared here, as .%s", shown,
                               name, (unsigned)symbol->count, gd_ptx_types[symbol->type].name);
        else
            gd_validity_relate(check, symbol->token, "%.*s is declared here, as .%s", shown, name,
                               gd_ptx_types[symbol->type].name);
        return;
    }
}

void gd_validity_start_looking(gd_validity *check)
{
    check->looks = MOST_LOOKS;
    check->distances = MOST_DISTANCES;
}
