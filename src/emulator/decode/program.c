/* Programs: module variables with their initial values, and an image for each entry. */
#include <stdio.h>
#include <stdlib.h>

#include "emulator/decode/decode.h"
#include "emulator/execute/control.h"
#include "emulator/execute/extent.h"

/* ---- failing ---- */

static bool fail(gd_program_error *error, const gd_ptx_module *module, uint32_t token,
                 const char *text)
{
    *error = (gd_program_error){0};
    if (token != GD_PTX_NONE)
        gd_ptx_token_position(module, token, &error->line, &error->column);
    snprintf(error->text, sizeof error->text, "%s", text);
    return false;
}

static bool fail_memory(gd_program_error *error)
{
    fail(error, NULL, GD_PTX_NONE, "out of memory");
    error->out_of_memory = true;
    return false;
}

/* ---- initial values ---- */

typedef struct initialiser {
    const gd_ptx_module *module;
    gd_program *program;
    gd_program_error *error;
    uint32_t at;
    unsigned char *bytes;
    uint64_t used, size;
    uint32_t element; /* bytes */
    gd_ptx_type type;
} initialiser;

static uint32_t kind_at(const initialiser *in, uint32_t token)
{
    return gd_token_kind(in->module->tokens.list[token]);
}

/* The end of a value: the next comma or closing brace outside of brackets. */
static uint32_t value_end(const initialiser *in)
{
    uint32_t depth = 0, token = in->at;

    for (;; token++) {
        uint32_t kind = kind_at(in, token);
        if (kind == GD_TOKEN_END || kind == ';' ||
            (depth == 0 && (kind == ',' || kind == '}' || kind == ')')))
            return token;
        depth += kind == '(';
        depth -= kind == ')';
    }
}

static bool is_float_type(gd_ptx_type type)
{
    return type == GD_TYPE_F32 || type == GD_TYPE_F64;
}

/* A number of the element's type: literals of the other kind are converted. */
static bool read_number(initialiser *in, uint32_t end, uint64_t *value)
{
    bool minus = kind_at(in, in->at) == '-';
    uint32_t token = in->at + minus, length;
    const char *text = gd_ptx_token_text(in->module, token, &length);
    bool single;

    if (kind_at(in, token) == GD_TOKEN_FLOAT && token + 1 == end) {
        uint64_t bits = gd_ptx_float_read(text, length, &single);
        double number = single ? (double)gd_single((uint32_t)bits) : gd_double(bits);
        number = minus ? -number : number;
        *value = in->type == GD_TYPE_F32              ? gd_bits((float)number)
                 : single && !is_float_type(in->type) ? bits
                                                      : gd_bits64(number);
        return is_float_type(in->type) || single;
    }
    if (!gd_constant_evaluate(in->module, in->at, end, value))
        return false;
    if (in->type == GD_TYPE_F32)
        *value = gd_bits((float)(int64_t)*value);
    else if (in->type == GD_TYPE_F64)
        *value = gd_bits64((double)(int64_t)*value);
    return true;
}

/* The address of a variable or a function, generic(...) or not, and what is added to it. */
static bool read_address(initialiser *in, uint32_t end, uint64_t *value)
{
    const gd_ptx_module *module = in->module;
    uint32_t token = in->at, length;
    bool generic = gd_ptx_token_is(module, token, "generic");
    uint64_t offset = 0;

    token += generic ? 2 : 0;
    const char *text = gd_ptx_token_text(module, token, &length);
    uint32_t name = gd_ptx_name_find(&module->names, module->text, text, length);
    uint32_t symbol = name == GD_PTX_NONE ? GD_PTX_NONE : module->names.list[name].symbol;
    token += generic ? 2 : 1;
    if (symbol == GD_PTX_NONE || token > end)
        return false;
    if (token < end && !gd_constant_evaluate(module, token, end, &offset))
        return false;
    if (module->symbols[symbol].kind == GD_SYMBOL_FUNCTION) {
        uint32_t function = module->symbols[symbol].target;
        if (function == GD_PTX_NONE)
            return false;
        in->program->addressed[function] = module->functions[function].flags & GD_FUNCTION_BODY;
        *value = GD_FUNCTION_WINDOW + UINT64_C(16) * function;
        return !offset;
    }
    if (!in->program->variables[symbol])
        return false;
    *value = in->program->variables[symbol]->start + offset;
    return true;
}

/* 0xFF00(value) takes one byte of a value (PTX ISA 5.4.4). */
static bool read_masked(initialiser *in, uint32_t end, uint64_t *value)
{
    uint64_t mask;
    uint32_t length;
    const char *text = gd_ptx_token_text(in->module, in->at, &length);

    if (kind_at(in, in->at) != GD_TOKEN_INTEGER || kind_at(in, in->at + 1) != '(' ||
        !gd_ptx_integer_read(text, length, &mask) || mask == 0)
        return false;
    in->at += 2;
    if (!read_address(in, end - 1, value) && !read_number(in, end - 1, value))
        return false;
    *value = (*value & mask) >> __builtin_ctzll(mask);
    return true;
}

static bool read_value(initialiser *in)
{
    uint32_t end = value_end(in);
    uint64_t value = 0;
    bool name = kind_at(in, in->at) == GD_TOKEN_NAME;
    bool done = name ? read_address(in, end, &value)
                     : read_number(in, end, &value) || read_masked(in, end, &value);

    if (!done || in->size - in->used < in->element)
        return fail(in->error, in->module, in->at, "an initial value of this form is not emulated");
    memcpy(in->bytes + in->used, &value, in->element < 8 ? in->element : 8);
    in->used += in->element;
    in->at = end;
    return true;
}

/* Values and braces; an inner list that is too short leaves zeros up to its dimension only in
 * arrays of one dimension, others are refused by their number of values. */
static bool read_values(initialiser *in)
{
    uint32_t depth = 0;

    do {
        while (kind_at(in, in->at) == '{') {
            in->at++;
            depth++;
        }
        if (kind_at(in, in->at) != '}' && !read_value(in))
            return false;
        while (depth && kind_at(in, in->at) == '}') {
            in->at++;
            depth--;
        }
        if (kind_at(in, in->at) != ',')
            return true;
        in->at += depth ? 1 : 0;
    } while (depth);
    return true;
}

static bool has_dimensions(const gd_ptx_module *module, uint32_t token, uint32_t *values)
{
    uint32_t dimensions = 0;

    while (gd_token_kind(module->tokens.list[++token]) == '[') {
        dimensions++;
        while (gd_token_kind(module->tokens.list[token]) != ']')
            token++;
    }
    *values = token + 1;
    return dimensions > 1;
}

/* `.b8 a[] = {1, 2}` has as many elements as values. */
static uint64_t count_values(const gd_ptx_module *module, uint32_t token)
{
    uint64_t count = 1, depth = 0;

    for (;; token++) {
        uint32_t kind = gd_token_kind(module->tokens.list[token]);
        depth += kind == '{' || kind == '(';
        count += kind == ',' && depth == 1;
        if (kind == GD_TOKEN_END || kind == ';' || ((kind == '}' || kind == ')') && --depth == 0))
            return count;
    }
}

static bool initialise(gd_program *program, uint32_t symbol, gd_program_error *error)
{
    const gd_ptx_module *module = program->module;
    const gd_ptx_symbol *item = &module->symbols[symbol];
    gd_allocation *allocation = program->variables[symbol];
    initialiser in = {.module = module,
                      .program = program,
                      .error = error,
                      .bytes = allocation->host,
                      .size = allocation->bytes,
                      .element = gd_ptx_types[item->type].bytes,
                      .type = (gd_ptx_type)item->type};

    if (!(item->flags & GD_SYMBOL_INITIALISED))
        return true;
    bool many = has_dimensions(module, item->token, &in.at);
    if (!in.element)
        return fail(error, module, item->token, "an initial value of this type is not emulated");
    if (!read_values(&in))
        return false;
    return !many || in.used == in.size ||
           fail(error, module, item->token,
                "an initial value with fewer elements than the array has is not emulated");
}

/* ---- variables ---- */

static bool is_module_variable(const gd_ptx_symbol *symbol)
{
    return symbol->kind == GD_SYMBOL_VARIABLE &&
           (symbol->space == GD_SPACE_GLOBAL || symbol->space == GD_SPACE_CONST);
}

static bool place_variable(gd_program *program, uint32_t index, gd_program_error *error)
{
    const gd_ptx_module *module = program->module;
    const gd_ptx_symbol *symbol = &module->symbols[index];
    gd_memory_kind kind = symbol->space == GD_SPACE_CONST     ? GD_MEMORY_CONSTANT
                          : symbol->flags & GD_SYMBOL_MANAGED ? GD_MEMORY_MANAGED
                                                              : GD_MEMORY_DEVICE;
    uint64_t bytes = gd_variable_stride(symbol) * symbol->count;
    uint32_t length, values;

    if (symbol->flags & GD_SYMBOL_UNSIZED && symbol->flags & GD_SYMBOL_INITIALISED) {
        if (has_dimensions(module, symbol->token, &values))
            return fail(error, module, symbol->token,
                        "an array of several dimensions without its size is not emulated");
        bytes *= count_values(module, values);
    }
    const char *text = gd_ptx_name_text(module, symbol->name, &length);
    char *name = gd_arena_string(&program->names, text, length);
    if (!name)
        return fail_memory(error);
    program->variables[index] = gd_memory_take_variable(
        program->memory, program->owner, bytes ? bytes : 1, symbol->alignment, kind, name);
    return program->variables[index] || fail_memory(error);
}

/* By name: the symbol that its declarations mean, the definition, or without one the first
 * declaration, which ptxas takes for a definition. */
static bool find_definitions(gd_program *program)
{
    const gd_ptx_module *module = program->module;

    program->definitions = malloc(((size_t)module->names.count + 1) * sizeof *program->definitions);
    if (!program->definitions)
        return false;
    memset(program->definitions, 0xff,
           ((size_t)module->names.count + 1) * sizeof *program->definitions);
    for (uint32_t i = module->symbol_count; i-- > 0;) {
        const gd_ptx_symbol *symbol = &module->symbols[i];
        uint32_t *known = &program->definitions[symbol->name];
        if (symbol->scope == 0 && is_module_variable(symbol) &&
            (*known == GD_PTX_NONE || !(symbol->link & GD_LINK_EXTERN) ||
             module->symbols[*known].link & GD_LINK_EXTERN))
            *known = i;
    }
    return true;
}

/* Whether a symbol has memory of its own. */
static bool is_own(const gd_program *program, uint32_t index)
{
    const gd_ptx_symbol *symbol = &program->module->symbols[index];

    return is_module_variable(symbol) &&
           (symbol->scope != 0 || program->definitions[symbol->name] == index);
}

static void share_declarations(gd_program *program)
{
    const gd_ptx_module *module = program->module;

    for (uint32_t i = 0; i < module->symbol_count; i++) {
        const gd_ptx_symbol *symbol = &module->symbols[i];
        if (is_module_variable(symbol) && !program->variables[i])
            program->variables[i] = program->variables[program->definitions[symbol->name]];
    }
}

static bool place_variables(gd_program *program, gd_program_error *error)
{
    const gd_ptx_module *module = program->module;

    if (!find_definitions(program))
        return fail_memory(error);
    for (uint32_t i = 0; i < module->symbol_count; i++) {
        if (is_own(program, i) && !place_variable(program, i, error))
            return false;
    }
    share_declarations(program);
    for (uint32_t i = 0; i < module->symbol_count; i++) {
        if (is_own(program, i) && !initialise(program, i, error))
            return false;
    }
    return true;
}

static void measure_spans(gd_program *program)
{
    const gd_ptx_module *module = program->module;

    for (uint32_t i = 0; i < module->symbol_count; i++) {
        uint32_t function = module->scopes[module->symbols[i].scope].function;
        if (function == GD_PTX_NONE)
            continue;
        gd_symbol_span *span = &program->spans[function];
        if (span->end == 0)
            span->first = i;
        span->end = i + 1;
    }
}

/* ---- entries ---- */

static uint32_t most_threads(const gd_ptx_function *function)
{
    const uint32_t *limit = function->limits[GD_PERFORMANCE_REQNTID];
    uint64_t threads;

    if (!limit[0])
        limit = function->limits[GD_PERFORMANCE_MAXNTID];
    if (!limit[0])
        return 1024;
    threads = (uint64_t)limit[0] * (limit[1] ? limit[1] : 1) * (limit[2] ? limit[2] : 1);
    return threads < 1024 ? (uint32_t)threads : 1024;
}

static void describe_entry(gd_program *program, gd_image *image, uint32_t function)
{
    const gd_ptx_function *item = &program->module->functions[function];
    gd_entry *entry = &image->entry;

    entry->program = program;
    entry->function = function;
    entry->name = item->name;
    entry->parameter_count = item->parameter_end - item->parameter;
    entry->parameter_bytes = item->parameter_bytes;
    entry->maximum_threads = most_threads(item);
    memcpy(entry->required_block, item->limits[GD_PERFORMANCE_REQNTID],
           sizeof entry->required_block);
    entry->registers = gd_registers_estimate(program->module, item);
}

static bool decode_entries(gd_program *program, gd_program_error *error)
{
    const gd_ptx_module *module = program->module;
    gd_spellings spellings = {0};
    bool done = true;

    for (uint32_t i = 0; i < module->entry_count && done; i++) {
        describe_entry(program, &program->images[i], module->entries[i]);
        done = gd_image_decode(program, &spellings, &program->images[i], module->entries[i]);
    }
    gd_spellings_free(&spellings);
    return done || fail_memory(error);
}

/* ---- the contract of machine.h ---- */

void gd_program_set_number(gd_program *program, uint32_t number)
{
    program->number = number;
}

bool gd_entry_waits(const gd_entry *entry)
{
    const gd_image *image = (const gd_image *)(const void *)entry;

    for (uint32_t i = 0; i < image->code_count; i++) {
        if (image->code[i].run == gd_run_grid_wait)
            return true;
    }
    return false;
}

gd_program *gd_program_create(const gd_ptx_module *module, gd_memory *memory, const gd_owner *owner,
                              gd_program_error *error)
{
    gd_program *program = calloc(1, sizeof *program);

    if (!program) {
        fail_memory(error);
        return NULL;
    }
    program->module = module;
    program->memory = memory;
    program->owner = owner;
    program->variables = calloc((size_t)module->symbol_count + 1, sizeof(gd_allocation *));
    program->spans = calloc((size_t)module->function_count + 1, sizeof *program->spans);
    program->addressed = calloc((size_t)module->function_count + 1, sizeof *program->addressed);
    program->images = calloc((size_t)module->entry_count + 1, sizeof *program->images);
    bool done = program->variables && program->spans && program->addressed && program->images;
    if (!done)
        fail_memory(error);
    if (done)
        measure_spans(program);
    if (!done || !place_variables(program, error) || !decode_entries(program, error)) {
        gd_program_destroy(program);
        return NULL;
    }
    return program;
}

void gd_program_destroy(gd_program *program)
{
    if (!program)
        return;
    for (uint32_t i = 0; program->variables && i < program->module->symbol_count; i++) {
        if (program->variables[i] && is_own(program, i))
            gd_memory_give(program->memory, program->variables[i]->start);
    }
    for (uint32_t i = 0; program->images && i < program->module->entry_count; i++) {
        free(program->images[i].code);
        free(program->images[i].routines);
        free(program->images[i].list);
        free(program->images[i].constants);
        free(program->images[i].shared);
        free(program->images[i].sites);
        free(program->images[i].constant_table);
    }
    gd_extents_free(program);
    free(program->variables);
    free(program->definitions);
    free(program->spans);
    free(program->addressed);
    free(program->images);
    gd_arena_free(&program->names);
    free(program);
}

const gd_entry *gd_program_entry(gd_program *program, const char *name)
{
    for (uint32_t i = 0; i < program->module->entry_count; i++) {
        if (strcmp(program->images[i].entry.name, name) == 0)
            return &program->images[i].entry;
    }
    return NULL;
}

const gd_entry *gd_program_entry_at(gd_program *program, uint32_t index)
{
    return index < program->module->entry_count ? &program->images[index].entry : NULL;
}

void gd_entry_refusal(const gd_entry *entry, gd_program_error *error)
{
    *error = ((const gd_image *)(const void *)entry)->refusal;
}

bool gd_entry_parameter(const gd_entry *entry, uint32_t index, uint32_t *offset, uint32_t *bytes)
{
    const gd_ptx_module *module = entry->program->module;
    const gd_ptx_function *function = &module->functions[entry->function];

    if (index >= entry->parameter_count)
        return false;
    *offset = module->symbols[function->parameter + index].offset;
    *bytes = (uint32_t)module->symbols[function->parameter + index].bytes;
    return true;
}

const gd_allocation *gd_program_variable(gd_program *program, const char *name)
{
    const gd_ptx_module *module = program->module;
    uint32_t found = gd_ptx_name_find(&module->names, module->text, name, (uint32_t)strlen(name));
    uint32_t symbol = found == GD_PTX_NONE ? GD_PTX_NONE : module->names.list[found].symbol;

    return symbol == GD_PTX_NONE ? NULL : program->variables[symbol];
}
