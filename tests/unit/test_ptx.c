/* The PTX front end: tokens, the parsed module against golden files, messages, traits, parameter
 * layout, hostile text.
 *
 * tests/golden/ptx/NAME.ptx is parsed and shown as text, which must be NAME.expect.
 * GRIDDEP_UPDATE_GOLDEN=1 writes the expectations anew; read the difference before you commit
 * it. */
#include <check.h>
#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "griddep.h"
#include "ptx/handle/ptx.h"
#include "ptx/flow/traits.h"
#include "suite.h"
#include "unit/fail_alloc.h"
#include "unit/status.h"

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"
#define GOLDEN SOURCE_DIRECTORY "/tests/golden/ptx"

static griddep_error error;

static void clear_error(void)
{
    griddep_error_init(&error);
}

/* A parsed text that must be right. */
static griddep_ptx *parse(const char *text)
{
    griddep_ptx *ptx = NULL;
    int32_t status = griddep_ptx_parse(text, strlen(text), "test", &ptx, &error);

    ck_assert_msg(status == GRIDDEP_OK, "%s", error.text);
    ck_assert_ptr_nonnull(ptx);
    return ptx;
}

/* The words behind "expected" etc. of a text that must be wrong; checks the position. */
static void check_wrong(const char *text, int32_t line, int32_t column, const char *words)
{
    griddep_ptx *ptx = (griddep_ptx *)&error;

    clear_error();
    ck_assert_int_eq(griddep_ptx_parse(text, strlen(text), "test", &ptx, &error),
                     GRIDDEP_ERROR_SYNTAX);
    ck_assert_ptr_eq(ptx, &error);
    ck_assert_int_eq(error.status, GRIDDEP_ERROR_SYNTAX);
    ck_assert_str_eq(error.file, "test");
    ck_assert_msg(strstr(error.text, words) != NULL, "'%s' is not in:\n%s", words, error.text);
    ck_assert_msg(error.line == line && error.column == column,
                  "%" PRId32 ":%" PRId32 ", expected %" PRId32 ":%" PRId32 " in:\n%s", error.line,
                  error.column, line, column, error.text);
}

/* ---- tokens ---- */

typedef struct token_case {
    const char *text;
    const char
        *kinds; /* n name, d dotted, i integer, f float, s string, B bad; marks as they are */
} token_case;

static const token_case token_cases[] = {
    {"", ""},
    {" \t\r\n\f\x1a", ""},
    {"a\v\\ b", "nB\\n"},
    {"a%r1$b_", "nn"},
    {"%r1 $L_1 _ _x a$b", "nnnnn"},
    {"% ^", "%^"},
    {".reg.b32 %r<4>;", "ddn<i>;"},
    {".shared::cta.L2::128B.3d.16x64b.m16n8k16", "ddddd"},
    {".a::", "d::"},
    {".a:::b", "d:::n"},
    {".", "."},
    {"..x", ".d"},
    {"0 7 017 12U 0x1Fu", "iiiiB"},
    {"0x1F 0X1fU 0b101 0B1U", "iiii"},
    {"0x 0b2 09 12a 0f123 0d12 0f123456789", "BBBBBBB"},
    {"0f3F800000 0F3f800000 0d3FF0000000000000", "fff"},
    {"1.5 1. .5 1e3 1E-3 1.5e+3 .5e3 09.5", "ffffffff"},
    {"1e 1.x", "BB"},
    {"%tid.x 9.0", "ndf"},
    {"\"a b\" \"\" \"a\nb\" \"C:\\\"", "ssss"},
    {"\"open", "B"},
    {"/* c */ a // b\n/**/ c /", "nn/"},
    {"/* a * / /*/ b", "n"},
    {"a /* open", "nB"},
    {"/*/", "B"},
    {"#line 1 \"x\"\n  # 3 \"\"\t4 1 \r\na#\t3 \"\n\" 9\nb #line7 \"x\"", "nn"},
    {"a # 3 \"x\"\n, # 3 \"/*\"\n c", "n,n"},
    /* ptxas refuses each of these, so PTX that is meant for a preprocessor does not run half */
    {"a # b\n c", "nBn"},
    {"#if 0\na\n#endif\nb #define A 1\n#\n#!\n#include \"x\"", "BnBnBBBB"},
    {"#pragma once\n#line\n#line 3\n# 3\n# \"x\"\n# 3 x\n# 3\"x\"", "BBBBBBB"},
    {"# 3 \"x\"1\n# 3 \"x\" 12\n# 3 \"x\" ;\n# 3 \"x\" // c\n# 3 \"x\" \"y\"", "BBBBB"},
    {"# 0x3 \"x\"\n# -3 \"x\"\n#\v3 \"x\"\n## 3 \"x\"\n#linex 3 \"x\"\n# 3 \"x", "BBBBBB"},
    {"a \x80\x81 b ` c \x01", "nBnBnB"},
    {"@!p|q,[a+-4]", "@!n|n,[n+-i]"},
};

#define COUNT(list) ((int)(sizeof(list) / sizeof(list)[0]))

static char letter_of(uint32_t kind)
{
    static const char letters[] = "EndifsB";

    return kind < sizeof letters - 1 ? letters[kind] : (char)kind;
}

TEST_GROUP(tokens, clear_error, NULL);
TEST_GROUP(operations, clear_error, NULL);
TEST_GROUP(golden, clear_error, NULL);
TEST_GROUP(messages, clear_error, NULL);
TEST_GROUP(traits, clear_error, NULL);
TEST_GROUP(public, clear_error, NULL);
TEST_GROUP(hostile, clear_error, NULL);
TEST_GROUP(memory, clear_error, NULL);

LOOP_TEST(tokens, tokens_have_the_right_kinds, COUNT(token_cases))
{
    const token_case *item = &token_cases[_i];
    size_t length = strlen(item->text);
    char *text = calloc(length + GD_PTX_TEXT_PADDING, 1);
    gd_ptx_diagnostics diagnostics = {0};
    gd_ptx_tokens tokens = {0};
    char kinds[64] = "";

    ck_assert_ptr_nonnull(text);
    memcpy(text, item->text, length);
    ck_assert(gd_ptx_tokens_read(&tokens, text, (uint32_t)length, &diagnostics));
    ck_assert_uint_lt(tokens.count, sizeof kinds);
    for (uint32_t i = 0; i < tokens.count; i++)
        kinds[i] = letter_of(gd_token_kind(tokens.list[i]));
    ck_assert_msg(strcmp(kinds, item->kinds) == 0, "%s: %s, expected %s", item->text, kinds,
                  item->kinds);
    ck_assert_uint_eq(gd_token_kind(tokens.list[tokens.count]), GD_TOKEN_END);
    ck_assert_uint_eq(diagnostics.count > 0, strchr(item->kinds, 'B') != NULL);
    gd_ptx_tokens_free(&tokens);
    free(text);
}

TEST(tokens, tokens_know_their_lines)
{
    static const char text[] = "a\n/* \n */ b \"x\ny\" c\r\n\n  d\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    static const int32_t expected[][2] = {{1, 1}, {3, 5}, {3, 7}, {4, 4}, {6, 3}};
    static const bool starts[] = {true, true, false, false, true};
    gd_ptx_diagnostics diagnostics = {0};
    gd_ptx_tokens tokens = {0};

    ck_assert(gd_ptx_tokens_read(&tokens, text, (uint32_t)strlen(text), &diagnostics));
    ck_assert_uint_eq(tokens.count, 5);
    for (uint32_t i = 0; i < tokens.count; i++) {
        int32_t line, column;
        gd_ptx_tokens_position(&tokens, tokens.list[i].offset, &line, &column);
        ck_assert_int_eq(line, expected[i][0]);
        ck_assert_int_eq(column, expected[i][1]);
        ck_assert_int_eq(gd_token_starts_line(tokens.list[i]), starts[i]);
    }
    gd_ptx_tokens_free(&tokens);
}

typedef struct float_case {
    const char *text;
    double value;
} float_case;

static const float_case float_cases[] = {
    {"1.5", 1.5},
    {"0.1", 0.1},
    {".25e2", 25.0},
    {"00012.500e-1", 1.25},
    {"1e400", INFINITY},
    {"1e-400", 0.0},
    {"0.0e99999999999999999999", 0.0},
    {"1e99999999999999999999", INFINITY},
    {"4.9406564584124654e-324", 4.9406564584124654e-324},
    {"9007199254740993.0", 9007199254740992.0}, /* halfway: to even */
    {"9007199254740993.00000000000000000001", 9007199254740994.0},
    {"0d3FF8000000000000", 1.5},
};

LOOP_TEST(tokens, floats_are_rounded_correctly, COUNT(float_cases))
{
    const float_case *item = &float_cases[_i];
    bool single;
    uint64_t bits = gd_ptx_float_read(item->text, (uint32_t)strlen(item->text), &single);
    double value;

    memcpy(&value, &bits, sizeof value);
    ck_assert(!single);
    ck_assert_msg(value == item->value, "%s: %.17g, expected %.17g", item->text, value,
                  item->value);
}

TEST(tokens, a_long_decimal_keeps_its_last_digit)
{
    /* Halfway between two doubles, and one digit at the far end that decides. */
    static const char halfway[] = "9007199254740993.";
    char text[2048];
    bool single;
    double value;

    memset(text, '0', sizeof text);
    memcpy(text, halfway, sizeof halfway - 1);
    text[1999] = '1';
    uint64_t bits = gd_ptx_float_read(text, 2000, &single);
    memcpy(&value, &bits, sizeof value);
    ck_assert_double_eq(value, 9007199254740994.0);
}

/* ---- ops.def ---- */

TEST(operations, operations_are_ordered_and_found)
{
    for (unsigned op = 1; op < GD_OP_COUNT; op++) {
        ck_assert_msg(strcmp(gd_ops[op - 1].name, gd_ops[op].name) < 0, "%s stands behind %s",
                      gd_ops[op].name, gd_ops[op - 1].name);
        ck_assert_uint_eq(gd_op_find(gd_ops[op].name, gd_ops[op].length), op);
    }
    ck_assert_uint_eq(gd_op_find("", 0), GD_OP_UNKNOWN);
    ck_assert_uint_eq(gd_op_find("ad", 2), GD_OP_UNKNOWN);
    ck_assert_uint_eq(gd_op_find("zzz", 3), GD_OP_UNKNOWN);
}

TEST(operations, operations_take_the_longest_name)
{
    static const struct {
        const char *base, *modifiers;
        gd_op op;
    } cases[] = {
        {"cp", ".async.bulk.tensor.2d.shared::cluster", GD_OP_CP_ASYNC_BULK_TENSOR},
        {"cp", ".async.bulk.shared::cluster", GD_OP_CP_ASYNC_BULK},
        {"cp", ".async.bulky", GD_OP_CP_ASYNC},
        {"cp", ".asynchronous", GD_OP_CP},
        {"griddepcontrol", ".wait", GD_OP_GRIDDEPCONTROL_WAIT},
        {"griddepcontrol", ".waits", GD_OP_GRIDDEPCONTROL},
        {"bar", ".sync", GD_OP_BAR_SYNC},
        {"add", ".s32", GD_OP_ADD},
        {"xor", ".b32", GD_OP_XOR},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gd_op base = gd_op_find(cases[i].base, strlen(cases[i].base));
        ck_assert_uint_eq(gd_op_refine(base, cases[i].modifiers, strlen(cases[i].modifiers)),
                          cases[i].op);
    }
}

/* ---- golden files ---- */

static void show_text(gd_text *out, const gd_ptx_module *module, uint32_t token, uint32_t token_end)
{
    for (; token < token_end; token++) {
        uint32_t length;
        const char *text = gd_ptx_token_text(module, token, &length);
        gd_text_append(out, text, length);
    }
}

static void show_symbol(gd_text *out, const gd_ptx_module *module, const gd_ptx_operand *operand)
{
    const gd_ptx_symbol *symbol =
        operand->symbol == GD_PTX_NONE ? NULL : &module->symbols[operand->symbol];
    uint32_t length;
    const char *text = gd_ptx_name_text(module, symbol ? symbol->name : operand->index, &length);

    if (operand->kind == GD_OPERAND_REGISTER) {
        gd_text_format(out, "r%" PRIu32, symbol->target + operand->index * symbol->vector);
        return;
    }
    gd_text_append(out, text, length);
    if (!symbol)
        gd_text_string(out, "?");
    else if (symbol->kind == GD_SYMBOL_LABEL && symbol->directive == GD_PTX_NONE)
        gd_text_format(out, "->%" PRIu32, symbol->target);
    else if (symbol->kind == GD_SYMBOL_LABEL)
        gd_text_format(out, "->directive %" PRIu32, symbol->directive);
    else if (symbol->kind == GD_SYMBOL_FUNCTION)
        gd_text_format(out, "()%" PRIu32, symbol->target);
}

static void show_operands(gd_text *out, const gd_ptx_module *module, uint32_t operand,
                          uint32_t end);

static void show_group(gd_text *out, const gd_ptx_module *module, uint32_t operand,
                       const char *open, const char *close)
{
    gd_text_string(out, open);
    show_operands(out, module, operand + 1, module->operands[operand].end);
    gd_text_string(out, close);
}

static void show_operand(gd_text *out, const gd_ptx_module *module, uint32_t index)
{
    const gd_ptx_operand *operand = &module->operands[index];

    gd_text_string(out, operand->flags & GD_OPERAND_NOT     ? "!"
                        : operand->flags & GD_OPERAND_MINUS ? "-"
                                                            : "");
    switch (operand->kind) {
    case GD_OPERAND_SPECIAL:
        show_text(out, module, operand->token, operand->token + 1);
        break;
    case GD_OPERAND_SINK:
        gd_text_string(out, "_");
        break;
    case GD_OPERAND_INTEGER:
        gd_text_format(out, "%" PRId64, (int64_t)operand->value);
        break;
    case GD_OPERAND_SINGLE:
        gd_text_format(out, "f%08" PRIx64, operand->value);
        break;
    case GD_OPERAND_DOUBLE:
        gd_text_format(out, "d%016" PRIx64, operand->value);
        break;
    case GD_OPERAND_EXPRESSION:
        gd_text_string(out, "<");
        show_text(out, module, operand->token, operand->token_end);
        gd_text_string(out, ">");
        break;
    case GD_OPERAND_MEMORY:
        show_group(out, module, index, "[", "]");
        break;
    case GD_OPERAND_VECTOR:
        show_group(out, module, index, "{", "}");
        break;
    case GD_OPERAND_LIST:
        show_group(out, module, index, "(", ")");
        break;
    case GD_OPERAND_PAIR:
        show_group(out, module, index, "pair(", ")");
        break;
    default:
        show_symbol(out, module, operand);
    }
    if (operand->component)
        gd_text_format(out, ".%u", operand->component);
    if (operand->flags & GD_OPERAND_OFFSET)
        gd_text_format(out, "+%" PRId64, (int64_t)operand->value);
}

static void show_operands(gd_text *out, const gd_ptx_module *module, uint32_t operand, uint32_t end)
{
    for (uint32_t i = operand; i < end; i = module->operands[i].end) {
        gd_text_string(out, i > operand ? ", " : "");
        show_operand(out, module, i);
    }
}

static void show_instruction(gd_text *out, const gd_ptx_module *module, uint32_t index)
{
    const gd_ptx_instruction *instruction = &module->instructions[index];
    int32_t line, column;

    gd_ptx_token_position(module, instruction->token, &line, &column);
    gd_text_format(out, "  %" PRIu32 " %" PRId32 ":%" PRId32 " s%" PRIu32 " ", index, line, column,
                   instruction->scope);
    if (instruction->flags & GD_INSTRUCTION_GUARDED) {
        gd_text_string(out, "@");
        show_operand(out, module, instruction->operand - 1);
        gd_text_string(out, " ");
    }
    show_text(out, module, instruction->opcode, instruction->opcode + 1 + instruction->modifiers);
    gd_text_format(out, " (%s) ", instruction->op ? gd_ops[instruction->op].name : "unknown");
    show_operands(out, module, instruction->operand, instruction->operand_end);
    gd_text_string(out, "\n");
}

static void show_symbols(gd_text *out, const gd_ptx_module *module, uint32_t symbol, uint32_t end)
{
    static const char *const spaces[] = {"none",  "reg",   "sreg",   "const", "global",
                                         "local", "param", "shared", "tex"};

    for (; symbol < end; symbol++) {
        const gd_ptx_symbol *item = &module->symbols[symbol];
        uint32_t length;
        const char *text = gd_ptx_name_text(module, item->name, &length);
        gd_text_format(out, "    %.*s: %s %s", (int)length, text, spaces[item->space],
                       gd_ptx_types[item->type].name);
        gd_text_format(out, " v%u link %u flags %u align %" PRIu32 " bytes %" PRIu64, item->vector,
                       item->link, item->flags, item->alignment, item->bytes);
        if (item->kind == GD_SYMBOL_PARAMETER && item->space != GD_SPACE_REG)
            gd_text_format(out, " at %" PRIu32, item->offset);
        if (item->space == GD_SPACE_REG && item->target != GD_PTX_NONE)
            gd_text_format(out, " r%" PRIu32 " x%" PRIu32, item->target, item->count);
        if (item->flags & GD_SYMBOL_POINTER)
            gd_text_format(out, " to %s align %" PRIu32, spaces[item->pointer_space],
                           item->pointer_alignment);
        gd_text_string(out, "\n");
    }
}

static void show_directive(gd_text *out, const gd_ptx_module *module, uint32_t index)
{
    static const char *const kinds[] = {
        "unknown",       "variable",    "version",       "target",     "address_size",
        "file",          "loc",         "section",       "pragma",     "alias",
        "branchtargets", "calltargets", "callprototype", "performance"};
    const gd_ptx_directive *directive = &module->directives[index];
    int32_t line, column;

    gd_ptx_token_position(module, directive->token, &line, &column);
    gd_text_format(out,
                   "  .%" PRIu32 " %" PRId32 ":%" PRId32 " s%" PRIu32 " %s before %" PRIu32
                   ", %" PRIu32 " tokens ",
                   index, line, column, directive->scope, kinds[directive->kind],
                   directive->instruction, directive->token_end - directive->token);
    show_operands(out, module, directive->operand, directive->operand_end);
    gd_text_string(out, "\n");
    show_symbols(out, module, directive->symbol, directive->symbol_end);
}

static void show_function(gd_text *out, const gd_ptx_module *module, uint32_t index)
{
    const gd_ptx_function *function = &module->functions[index];

    gd_text_format(out,
                   "function %" PRIu32 " %s flags %" PRIu32 " link %" PRIu32 " traits %" PRIu32,
                   index, function->name, function->flags, function->link, function->traits);
    gd_text_format(out,
                   " parameters %" PRIu32 " bytes, %" PRIu32 " registers, %" PRIu32 " controls\n",
                   function->parameter_bytes, function->register_count,
                   function->control_end - function->control);
    for (unsigned i = 0; i < GD_PERFORMANCE_COUNT; i++) {
        const uint32_t *limit = function->limits[i];
        if (limit[0])
            gd_text_format(out, "  limit %u: %" PRIu32 " %" PRIu32 " %" PRIu32 "\n", i, limit[0],
                           limit[1], limit[2]);
    }
    show_symbols(out, module, function->result, function->result_end);
    show_symbols(out, module, function->parameter, function->parameter_end);
    for (uint32_t i = function->directive; i < function->directive_end; i++)
        show_directive(out, module, i);
    for (uint32_t i = function->instruction; i < function->instruction_end; i++)
        show_instruction(out, module, i);
}

static void show_module(gd_text *out, const gd_ptx_module *module)
{
    uint32_t directive = 0;

    gd_text_format(out,
                   "version %" PRId32 " target %s capability %" PRId32 " address %" PRIu32 "\n",
                   module->version, module->target, module->capability, module->address_bits);
    for (uint32_t i = 0; i < module->function_count; i++) {
        for (; directive < module->functions[i].directive; directive++)
            show_directive(out, module, directive);
        show_function(out, module, i);
        directive = module->functions[i].directive_end;
    }
    for (; directive < module->directive_count; directive++)
        show_directive(out, module, directive);
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);

    return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* Calls a function with each .ptx file of the golden folder. */
static void each_golden(void (*use)(const char *name, const char *text, size_t bytes))
{
    DIR *folder = opendir(GOLDEN);
    unsigned count = 0;

    ck_assert_msg(folder != NULL, "%s cannot be read", GOLDEN);
    for (struct dirent *item; (item = readdir(folder)) != NULL;) {
        char path[4096];
        char *text;
        size_t bytes;
        if (!ends_with(item->d_name, ".ptx"))
            continue;
        ck_assert_int_lt(snprintf(path, sizeof path, "%s/%s", GOLDEN, item->d_name),
                         (int)sizeof path);
        ck_good(gd_file_read(path, &text, &bytes, &error));
        use(path, text, bytes);
        free(text);
        count++;
    }
    closedir(folder);
    ck_assert_uint_ge(count, 3);
}

static void compare_golden(const char *path, const char *text, size_t bytes)
{
    char expect[4096 + 16];
    char *wanted = NULL;
    size_t wanted_bytes = 0;
    griddep_ptx *ptx = NULL;
    gd_text shown = {0};

    ck_good(griddep_ptx_parse(text, bytes, path, &ptx, &error));
    show_module(&shown, &ptx->module);
    snprintf(expect, sizeof expect, "%.*s.expect", (int)strlen(path) - 4, path);
    if (getenv("GRIDDEP_UPDATE_GOLDEN"))
        ck_good(gd_file_write(expect, shown.data, shown.bytes, &error));
    ck_good(gd_file_read(expect, &wanted, &wanted_bytes, &error));
    if (wanted_bytes != shown.bytes || memcmp(wanted, shown.data, wanted_bytes) != 0) {
        size_t same = 0;
        while (same < wanted_bytes && same < shown.bytes && wanted[same] == shown.data[same])
            same++;
        while (same > 0 && wanted[same - 1] != '\n')
            same--;
        ck_abort_msg("%s\nexpected: %.*s\nfound:    %.*s", path, (int)strcspn(wanted + same, "\n"),
                     wanted + same, (int)strcspn(shown.data + same, "\n"), shown.data + same);
    }
    free(wanted);
    gd_text_free(&shown);
    griddep_ptx_destroy(ptx);
}

TEST(golden, golden_files_parse_as_expected)
{
    each_golden(compare_golden);
}

/* Each statement's tokens lie within its function's and do not overlap its neighbours'. */
static void check_ranges(const gd_ptx_module *module)
{
    for (uint32_t f = 0; f < module->function_count; f++) {
        const gd_ptx_function *function = &module->functions[f];
        uint32_t last = function->token;
        for (uint32_t i = function->instruction; i < function->instruction_end; i++) {
            const gd_ptx_instruction *item = &module->instructions[i];
            ck_assert_uint_le(last, item->token);
            ck_assert_uint_lt(item->token, item->token_end);
            ck_assert_uint_eq(gd_token_kind(module->tokens.list[item->token_end - 1]), ';');
            ck_assert_uint_eq(module->scopes[item->scope].function, f);
            last = item->token_end;
        }
        ck_assert_uint_le(last, function->token_end);
    }
}

static void check_round_trip(const char *path, const char *text, size_t bytes)
{
    griddep_ptx *ptx = NULL;
    uint64_t needed = 0;
    char *buffer = malloc(bytes + 1);

    ck_assert_ptr_nonnull(buffer);
    ck_good(griddep_ptx_parse(text, bytes, path, &ptx, &error));
    check_ranges(&ptx->module);
    ck_good(griddep_ptx_print(ptx, buffer, bytes + 1, &needed, &error));
    ck_assert_uint_eq(needed, bytes);
    ck_assert_mem_eq(buffer, text, bytes);
    ck_assert_int_eq(buffer[bytes], 0);
    griddep_ptx_destroy(ptx);
    free(buffer);
}

TEST(golden, golden_files_print_to_the_byte)
{
    each_golden(check_round_trip);
}

/* ---- messages ---- */

typedef struct wrong_case {
    const char *text;
    int32_t line, column;
    const char *words;
} wrong_case;

#define BODY(text) HEAD ".entry k() { .reg .b32 %r<4>;\n" text "\n}\n"

static const wrong_case wrong_cases[] = {
    {"", 1, 1, "found the end of the text, expected .version"},
    {".target sm_90\n", 1, 1, "found '.target', expected .version"},
    {".version 8\n", 1, 10, "found '8', expected a version such as 8.0"},
    {".version 8.0\n.entry k() { }", 2, 1, "found '.entry', expected .target"},
    {".version 8.0\n.target 90\n", 2, 9, "expected a target such as sm_90"},
    {".version 8.0\n.target sm_90\n.address_size 16", 3, 15, "found '16', expected 32 or 64"},
    {HEAD "entry k() { }", 4, 1, "found 'entry', expected a directive"},
    {HEAD ";", 4, 1, "found ';', expected a directive"},
    {HEAD ".entry () { }", 4, 8, "found '(', expected a function's name"},
    {HEAD ".entry k(u32 a) { }", 4, 10, "found 'u32', expected a parameter"},
    {HEAD ".entry k(.param a) { } }", 4, 24, "found '}', expected a directive"},
    {HEAD ".entry k(.param .u32) { }", 4, 21, "found ')', expected a name"},
    {HEAD ".entry k(.param .u32 a { }", 4, 24, "found '{', expected ',' or ')'"},
    {HEAD ".entry k() ret;", 4, 12, "found 'ret', expected '{' or ';'"},
    {HEAD ".entry k() .reqntid 1, 2, 3, 4 { }", 4, 30, "found '4', expected no more numbers"},
    {HEAD ".entry k() {\n  ret;\n", 6, 1, "found the end of the text, expected '}'"},
    {HEAD ".entry k() {\n  ret;\n.visible .entry l() { ret; }", 6, 10,
     "found '.entry', expected a type and a name"},
    {HEAD ".entry k() {\n  ret;\n.entry l() { ret; }", 6, 1, "found '.entry', expected '}'"},
    {HEAD ".global .align 3 .b8 x;", 4, 16, "found '3', expected a power of two"},
    {HEAD ".global .u32 x = ;", 4, 18, "found ';', expected an initial value"},
    {HEAD ".global .u32 x = {1, (2};", 4, 24, "found '}', expected ')'"},
    {HEAD ".global .u32 x[99999999999999999999];", 4, 16, "expected an integer of at most 64 bits"},
    {HEAD ".global .u32 x[0x1000000000000000][8];", 4, 36, "expected an array whose size"},
    {HEAD ".global .u32 x y;", 4, 16, "found 'y', expected ',' or ';'"},
    {HEAD ".visible ret;", 4, 10, "found 'ret', expected .entry, .func or a variable"},
    {HEAD ".alias f;", 4, 9, "expected two names"},
    {HEAD ".section .x 1", 4, 13, "expected '{'"},
    {HEAD ".file 1 x", 4, 9, "expected a file name"},
    {HEAD ".file 1 \"x", 4, 9, "found a string without an end, expected '\"'"},
    {HEAD "/* x", 4, 1, "found a comment without an end, expected '*/'"},
    {HEAD ".entry k() { mov.u32 %r1, 0x; }", 4, 27,
     "found '0x', expected hexadecimal digits after 0x"},
    {HEAD ".entry k() { mov.u32 %r1, 12345678901234567890123456789012345678901z; }", 4, 27,
     "found '1234567890123456789012345678901234567890', expected a number"},
    {HEAD ".entry k() { ` }", 4, 14, "found '`', expected PTX text"},
    {HEAD ".entry k() { \x7f }", 4, 14, "found byte 0x7F, expected PTX text"},
    {BODY("add.s32 %r1 %r2;"), 5, 13, "found '%r2', expected ',' or ';'"},
    {BODY("add.s32 %r1, ;"), 5, 14, "found ';', expected an operand"},
    {BODY("add.s32 %r1, %r2\nret;"), 6, 1, "found 'ret', expected ',' or ';'"},
    {BODY("ld.global.u32 %r1, [%r2;"), 5, 24, "found ';', expected ',' or ']'"},
    {BODY("mov.b64 {%r1, %r2, %r3;"), 5, 23, "found ';', expected ',' or '}'"},
    {BODY("call f, (%r1;"), 5, 13, "found ';', expected ',' or ')'"},
    {BODY("mov.u32 %r1, (3 + 4;"), 5, 20, "found ';', expected ',' or ')'"},
    {BODY("mov.u32 %r1, 3 + ;"), 5, 18, "found ';', expected an operand"},
    {BODY("mov.u32 %r1, 99999999999999999999;"), 5, 14, "expected an integer of at most 64 bits"},
    {BODY("griddepcontrol . wait;"), 5, 16, "found '.', expected an operand"},
    {BODY("@ add.s32;"), 5, 6, "found '.s32', expected an instruction"},
    {BODY("@!;"), 5, 3, "found ';', expected a predicate"},
    {BODY("@%r1;"), 5, 5, "found ';', expected an instruction"},
    {BODY(";"), 5, 1, "found ';', expected an instruction, a directive or '}'"},
    {BODY(".reg .b32 x<a>;"), 5, 13, "found 'a', expected a number of registers"},
    {BODY(".reg .b32 , x;"), 5, 11, "found ',', expected a name"},
    {BODY(".loc 1 2;"), 5, 9, "found ';', expected a column number"},
    {BODY(".loc 1 2 3, elsewhere 1;"), 5, 13, "expected function_name or inlined_at"},
    {BODY(".pragma 1;"), 5, 9, "found '1', expected a string"},
    {BODY("x: .branchtargets 1;"), 5, 19, "found '1', expected a name"},
    {BODY(".reg .b32 x<300000000>;"), 5, 22, "(GD_PTX_LIMIT_REGISTERS)"},
    {HEAD ".entry k(.param .b8 x[1048577]) { }", 4, 30, "(GD_PTX_LIMIT_PARAMETER_BYTES)"},
};

LOOP_TEST(messages, errors_tell_what_was_found_and_expected, COUNT(wrong_cases))
{
    const wrong_case *item = &wrong_cases[_i];

    check_wrong(item->text, item->line, item->column, item->words);
}

TEST(messages, errors_quote_the_line)
{
    check_wrong(BODY("\tadd.s32 %r1 %r2;"), 5, 14, "test:5:14: found '%r2', expected ',' or ';'\n");
    ck_assert_ptr_nonnull(strstr(error.text, "5 | \tadd.s32 %r1 %r2;\n"));
    ck_assert_ptr_nonnull(strstr(error.text, "| \t            ^"));
}

TEST(messages, all_errors_are_kept_in_order)
{
    static const char text[] = HEAD ".entry k() {\n bad 1 2;\n ok.s32 a, b;\n worse [;\n}\n.global "
                                    ".u32 = 3;\n.entry l() { 0x }\n";
    static const int32_t lines[] = {5, 7, 9, 10};
    griddep_ptx *ptx = NULL;

    ck_good(gd_ptx_parse_tolerant(text, strlen(text), NULL, &ptx, &error));
    const gd_ptx_diagnostics *diagnostics = ptx->module.diagnostics;
    ck_assert_uint_eq(diagnostics->count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        ck_assert_int_eq(gd_ptx_report(ptx, &diagnostics->list[i], &error), GRIDDEP_ERROR_SYNTAX);
        ck_assert_int_eq(error.line, lines[i]);
    }
    ck_assert_uint_eq(ptx->module.entry_count, 2);
    ck_assert_uint_eq(ptx->module.instruction_count, 1);
    griddep_ptx_destroy(ptx);
}

TEST(messages, the_first_errors_are_kept)
{
    gd_ptx_diagnostics diagnostics = {0};

    for (uint32_t i = 100; i > 0; i--)
        gd_ptx_diagnostics_add(&diagnostics, i * 7 % 101, "%u", (unsigned)(i * 7 % 101));
    gd_ptx_diagnostics_add(&diagnostics, 5, "again");
    ck_assert_uint_eq(diagnostics.count, GD_PTX_LIMIT_DIAGNOSTICS);
    for (uint32_t i = 0; i < diagnostics.count; i++) {
        ck_assert_uint_eq(diagnostics.list[i].offset, i + 1);
        ck_assert_uint_eq(strtoul(diagnostics.list[i].text, NULL, 10), i + 1);
    }
}

/* ---- traits ---- */

enum {
    W = GRIDDEP_TRAIT_WAITS,
    A = GRIDDEP_TRAIT_WAITS_ALWAYS,
    T = GRIDDEP_TRAIT_TRIGGERS,
    C = GRIDDEP_TRAIT_CALLS
};

typedef struct trait_case {
    const char *before; /* functions */
    const char *body;
    uint32_t traits; /* without KNOWN */
} trait_case;

#define WAIT "griddepcontrol.wait; "
#define WAITER ".func waiter() { " WAIT "ret; } "
#define LEAVES ".func leaves() { exit; } "
#define SOMETIMES ".func sometimes() { .reg .pred p; @p ret; " WAIT "ret; } "

static const trait_case trait_cases[] = {
    {"", "", 0},
    {"", "ret;", 0},
    {"", WAIT "ret;", W | A},
    {"", WAIT, W | A},
    {"", "griddepcontrol.launch_dependents;", T},
    {"", "griddepcontrol .wait;", W | A},
    {"", "griddepcontrol.other; " WAIT, W},
    {"", "@p " WAIT, W},
    {"", "@!p " WAIT "@p " WAIT, W},
    {"", "@p ret; " WAIT, W},
    {"", "@p exit; " WAIT, W},
    {"", "ret; " WAIT, W},
    {"", "exit; " WAIT, W},
    {"", "trap; " WAIT, W | A},
    {"", "@p trap; " WAIT, W | A},
    {"", "@p bra end; " WAIT "end: ret;", W},
    {"", "@p bra end; " WAIT "ret; end: trap;", W | A},
    {"", "@p bra other; " WAIT "ret; other: " WAIT "ret;", W | A},
    {"", "bra over; ret; over: " WAIT, W | A},
    {"", "bra.uni over; ret; over: " WAIT, W | A},
    {"", "again: @p bra again; " WAIT, W | A},
    {"", "again: bra again; " WAIT, W | A},
    {"", WAIT "again: @p bra again; ret;", W | A},
    {"", "bra nowhere; " WAIT, W},
    {"", "bra r; " WAIT, W},
    {"", "bra; " WAIT, W},
    {"", "made.up r; " WAIT, W},
    {"", WAIT "made.up r;", W | A},
    {"", "bar.sync 0; membar.gl; ld.global.u32 r, [d]; " WAIT, W | A},
    /* scopes */
    {"", "x: { bra x; x: " WAIT "} ret;", W | A},
    {"", "{ bra x; } ret; x: " WAIT, W | A},
    {"", "bra x; { x: " WAIT "}", W},
    {"", "{ bra x; { x: ret; } x: " WAIT "}", W | A},
    {"", "{ @p bra x; " WAIT "x: } ret;", W},
    {"", "{ @p bra x; ret; x: } " WAIT, W},
    {"", "{ bra x; ret; x: } " WAIT, W | A},
    /* lists */
    {"", "list: .branchtargets a, b; brx.idx r, list; ret; a: b: " WAIT, W | A},
    {"", "brx.idx r, list; list: .branchtargets a, b; a: " WAIT "b: ret;", W},
    {"", "list: .branchtargets a; @p brx.idx r, list; ret; a: " WAIT, W},
    {"", "list: .branchtargets a, nowhere; brx.idx r, list; a: " WAIT, W},
    {"", "brx.idx r, nowhere; a: " WAIT, W},
    {"", "brx.idx r; " WAIT, W},
    {"", "list: .calltargets a; brx.idx r, list; a: " WAIT, W},
    /* calls */
    {WAITER, "call waiter; ret;", W | A | C},
    {WAITER, "call.uni waiter, (); ret;", W | A | C},
    {WAITER, "@p call waiter; ret;", W | C},
    {WAITER, "ret; call waiter;", W | C},
    {SOMETIMES, "call sometimes; ret;", W | C},
    {SOMETIMES, "call sometimes; " WAIT, W | A | C},
    {".func leaves() { exit; } ", "call leaves; " WAIT, W | C},
    {".func leaves() { exit; } ", WAIT "call leaves;", W | A | C},
    {".func dies() { trap; } ", "@p bra x; " WAIT "ret; x: call dies; ret;", W | A | C},
    {".func triggers() { griddepcontrol.launch_dependents; } .func outer() { call triggers; } ",
     "call outer;", T | C},
    {WAITER ".func outer() { call waiter; } .func outest() { call outer; } ", "call outest;",
     W | A | C},
    {WAITER ".func outer() { @p call waiter; } ", "call outer;", W | C},
    {".func waiter; ", "call waiter; ret; } " WAITER ".func unused() {", W | A | C},
    {WAITER ".func other; .alias other, waiter; ", "call other;", W | A | C},
    {".func f; .func g; .alias f, g; .alias g, f; ", "call f; " WAIT, W | C},
    {".extern .func outside; ", "call outside; " WAIT, W | C},
    {".extern .func outside; ", WAIT "call outside;", W | A | C},
    {".extern .func outside; ", "@p call outside; " WAIT, W | C},
    {".extern .func outside; .func other() { call outside; ret; } ", "call other; " WAIT, W | C},
    {".extern .func outside; ", "call outside; ret;", C},
    {".extern .func fails .noreturn; ", "@p bra x; " WAIT "ret; x: call fails; ret;", W | C},
    {".extern .func fails .noreturn; ", "@p bra x; " WAIT "ret; x: " WAIT "call fails; ret;",
     W | A | C},
    {".func fails .noreturn { ret; } ", "@p bra x; " WAIT "ret; x: call fails; ret;", W | C},
    {".func fails .noreturn { trap; } ", "@p bra x; " WAIT "ret; x: call fails; ret;", W | A | C},
    {".func fails .noreturn { " WAIT "} ", "@p bra x; " WAIT "ret; x: call fails; ret;", W | A | C},
    {".func fails .noreturn { exit; } ", "@p bra x; " WAIT "ret; x: call fails; ret;", W | C},
    /* the device runtime's own functions return, or end the grid with an error */
    {".extern .func vprintf; ", "call vprintf; " WAIT, W | A | C},
    {".extern .func free; ", "@p call free; " WAIT, W | A | C},
    {".extern .func __assertfail .noreturn; ", "@p bra x; " WAIT "ret; x: call __assertfail; ret;",
     W | A | C},
    {".extern .func vprintf; ", "@p bra x; " WAIT "ret; x: call vprintf; ret;", W | C},
    /* of these the assertion alone ends the grid, and only the one that the system has */
    {".extern .func vprintf .noreturn; ", "@p bra x; " WAIT "ret; x: call vprintf;", W | C},
    {".extern .func free .noreturn; ", "@p bra x; " WAIT "ret; x: call free;", W | C},
    {".extern .func cudaGraphSetConditional .noreturn; ",
     "@p bra x; " WAIT "ret; x: call cudaGraphSetConditional;", W | C},
    {".extern .func __assert_fail .noreturn; ", "@p bra x; " WAIT "ret; x: call __assert_fail;",
     W | C},
    {".extern .func __assertfail; ", "@p bra x; " WAIT "ret; x: call __assertfail; ret;", W | C},
    {".func free() { exit; } ", "call free; " WAIT, W | C},
    /* through a register: any function */
    {"", "call d, proto; " WAIT "proto: .callprototype _ ();", W | C},
    {"", "proto: .callprototype _ () .noreturn; @p bra x; " WAIT "ret; x: call d, (), proto;",
     W | C},
    {"", "proto: .callprototype _ (); " WAIT "call d, (), proto;", W | A | C},
    {WAITER ".global .u64 table[1] = {waiter}; ", "call d, (), table; " WAIT, W | C},
    /* through a register, with a list: the functions of the list */
    {LEAVES, "list: .calltargets leaves; call d, (), list; " WAIT, W | C},
    {LEAVES, "call d, (), list; list: .calltargets leaves; " WAIT, W | C},
    {LEAVES, "list: .calltargets leaves; " WAIT "call d, (), list;", W | A | C},
    {LEAVES WAITER, "list: .calltargets waiter, leaves; call d, (), list; ret;", W | C},
    {WAITER ".func more() { call waiter; } ",
     "list: .calltargets waiter, more; call d, (), list; ret;", W | A | C},
    {WAITER ".func same; .alias same, waiter; ", "list: .calltargets same; call d, (), list; ret;",
     W | A | C},
    {WAITER, "list: .calltargets waiter; @p call d, (), list; ret;", W | C},
    {SOMETIMES, "list: .calltargets sometimes; call d, (), list; ret;", W | C},
    {SOMETIMES, "list: .calltargets sometimes; call d, (), list; " WAIT, W | A | C},
    {WAITER ".extern .func outside; ", "list: .calltargets waiter, outside; call d, (), list; ret;",
     W | C},
    {WAITER ".func f() { .reg .b64 d; list: .calltargets waiter; call d, (), list; } ", "call f;",
     W | A | C},
    {".func f() { griddepcontrol.launch_dependents; } ", "list: .calltargets f; call d, (), list;",
     T | C},
    {".func f .noreturn { ret; } ", "list: .calltargets f; call d, (), list; " WAIT, W | C},
    {".func f() { .reg .pred p; .reg .b64 d; list: .calltargets f; @p exit; call d, (), list; " WAIT
     "} ",
     "call f;", W | C},
    {".func f() { .reg .pred p; .reg .b64 d; list: .calltargets f; @p bra x; call d, (), list; "
     "ret; x: " WAIT "} ",
     "call f;", W | A | C},
    {"", "proto: .callprototype _ (); @p bra x; " WAIT "ret; x: call d, (), proto;", W | C},
    {WAITER, "list: .calltargets waiter; call d, (), list; ret;", W | A | C},
    {WAITER, "call k; call waiter;", W | A | C},
    /* recursion: a path must end */
    {".func down() { @p ret; call down; " WAIT "} ", "call down;", W | C},
    {".func down() { @p bra x; call down; ret; x: " WAIT "} ", "call down;", W | A | C},
    {".func down() { call down; ret; } ", "call down; " WAIT, W | A | C},
    {".func odd; .func even() { @p ret; call odd; } .func odd() { call even; } ",
     "call odd; ret; " WAIT, W | C},
    {".func odd; .func even() { @p bra x; call odd; ret; x: " WAIT "} .func odd() { call even; } ",
     "call odd;", W | A | C},
    {".func odd; .func even() { @p exit; call odd; " WAIT "} .func odd() { call even; " WAIT "} ",
     "call odd;", W | C},
};

LOOP_TEST(traits, traits_follow_the_paths, COUNT(trait_cases))
{
    const trait_case *item = &trait_cases[_i];
    char text[2048];

    snprintf(text, sizeof text,
             HEAD ".global .pred p; %s\n.entry k() { .reg .pred p; .reg .b32 r; .reg .b64 d; %s }",
             item->before, item->body);
    griddep_ptx *ptx = parse(text);
    uint32_t index;
    griddep_ptx_entry_info info = {.size = sizeof info};
    ck_assert(gd_ptx_find_entry(ptx, "k", &index));
    ck_good(griddep_ptx_get_entry(ptx, index, &info, &error));
    ck_assert_msg(info.traits == (item->traits | GRIDDEP_TRAIT_KNOWN),
                  "traits %" PRIu32 ", expected %" PRIu32 ":\n%s", info.traits,
                  item->traits | GRIDDEP_TRAIT_KNOWN, text);
    griddep_ptx_destroy(ptx);
}

/* Texts of one instruction a line, the entry's first one on line 1, and the path in words. */
static const struct {
    const char *body, *functions, *words;
} path_cases[] = {
    {WAIT, "", ""},
    {"ret;", "", ""},
    {"@p bra x;\n" WAIT "\nx: ret;", "",
     "line 1 branches past the wait of line 2 to line 3, line 3 leaves by ret"},
    {"@p exit;\n" WAIT, "", "line 1 leaves by exit"},
    {"@p " WAIT "\nmov.u32 r, 1;", "",
     "line 1 waits under a predicate only, line 2 is the last one, and the end leaves"},
    {"@p bra x;\n" WAIT "\nx:", "", "line 1 branches to the end and leaves"},
    {"bra.uni y;\nx: " WAIT "\nret;\ny: @p bra x;\nret;", "",
     "line 1 branches past the wait of line 2 to line 4, line 5 leaves by ret"},
    {"list: .branchtargets a, b;\nbrx.idx r, list;\na: " WAIT "\nb: ret;", "",
     "line 2 branches past the wait of line 3 to line 4, line 4 leaves by ret"},
    {"call leaves;\n" WAIT, "\n.func leaves()\n{\nexit;\n}",
     "line 1 calls leaves, line 5 leaves by exit"},
    {"call outer;\n" WAIT, "\n.func leaves()\n{\nexit;\n}\n.func outer()\n{\ncall leaves;\n}",
     "line 1 calls outer, line 9 calls leaves, line 5 leaves by exit"},
    {"list: .calltargets leaves;\ncall d, (), list;\n" WAIT, "\n.func leaves()\n{\nexit;\n}",
     "line 2 calls d, which may be leaves, line 6 leaves by exit"},
    {"call sometimes;\nret;", "\n.func sometimes()\n{\n.reg .pred p;\n@p ret;\n" WAIT "}",
     "line 1 calls sometimes, which may return without a wait, line 2 leaves by ret"},
    {"@p call waits;\nret;", "\n.func waits()\n{\n" WAIT "}",
     "line 1 calls waits under a predicate only, line 2 leaves by ret"},
    {"call fails;\n" WAIT, "\n.func fails .noreturn\n{\nret;\n}",
     "line 1 calls fails, line 5 leaves by ret"},
    {"proto: .callprototype _ ();\ncall d, (), proto;\n" WAIT, "",
     "line 2 calls d, which cannot be looked into and may leave"},
    {"call outside;\n" WAIT, "\n.extern .func outside;",
     "line 1 calls outside, which cannot be looked into and may leave"},
    {"made.up r;\n" WAIT, "", "line 1 is not known and may leave"},
    {"bra nowhere;\n" WAIT, "", "line 1 is not known and may leave"},
    {"bra a;\nb: bra c;\na: bra b;\nd: bra e;\nc: bra d;\nf: bra g;\ne: bra f;\ng: @p " WAIT
     "\nret;",
     "",
     "line 1 branches to line 3, line 3 branches to line 2, line 2 branches to line 5, ..., "
     "line 6 branches to line 8, line 8 waits under a predicate only, line 9 leaves by ret"},
};

LOOP_TEST(traits, dry_paths_are_told, sizeof path_cases / sizeof path_cases[0])
{
    char text[2048];
    gd_text words = {0};

    snprintf(text, sizeof text,
             ".version 8.0 .target sm_90 .address_size 64 .func leaves; .func outer; .func "
             "sometimes; .func waits; .func "
             "fails .noreturn; .extern .func outside; .entry k() { .reg .pred p; .reg .b32 r; .reg "
             ".b64 d; %s }%s\n",
             path_cases[_i].body, path_cases[_i].functions);
    griddep_ptx *ptx = parse(text);
    gd_dry_search *search = gd_dry_search_create(&ptx->module);
    ck_assert_ptr_nonnull(search);
    ck_assert(gd_dry_search_describe(search, ptx->module.entries[0], &words));
    ck_assert_str_eq(gd_text_get(&words), path_cases[_i].words);
    gd_text_free(&words);
    gd_dry_search_destroy(search);
    griddep_ptx_destroy(ptx);
}

TEST(traits, long_chains_of_calls_take_linear_time)
{
    enum { LENGTH = 20000 };
    gd_text text = {0};

    gd_text_string(&text, HEAD ".func f0() { .reg .pred p; @p ret; " WAIT "}\n");
    for (int i = 1; i < LENGTH; i++)
        gd_text_format(&text, ".func f%d() { call f%d; }\n", i, i - 1);
    gd_text_format(&text, ".entry k() { call f%d; " WAIT "}\n.entry l() { call f%d; }", LENGTH - 1,
                   LENGTH - 1);
    ck_assert(!text.failed);
    griddep_ptx *ptx = parse(gd_text_get(&text));
    ck_assert_uint_eq(gd_ptx_get_function(ptx, 0)->traits, GRIDDEP_TRAIT_KNOWN | W | A | C);
    ck_assert_uint_eq(gd_ptx_get_function(ptx, 1)->traits, GRIDDEP_TRAIT_KNOWN | W | C);
    griddep_ptx_destroy(ptx);
    gd_text_free(&text);
}

/* ---- the public functions ---- */

static const char entries[] = HEAD ".extern .entry outside;\n"
                                   ".func helper() { griddepcontrol.wait; }\n"
                                   ".visible .entry first(.param .u8 a, .param .u64 .ptr .global "
                                   "b, .param .align 16 .b8 c[20], .param .f32 d)\n"
                                   ".reqntid 32, 4 .maxntid 64 .reqnctapercluster 2\n"
                                   "{\n"
                                   "  .reg .pred p;\n"
                                   "  @p griddepcontrol.wait;\n"
                                   "  mov.u32 %r1, 1;\n"
                                   "  griddepcontrol.launch_dependents;\n"
                                   "}\n"
                                   ".entry second { ret; }\n";

TEST(public, info_tells_about_the_module)
{
    griddep_ptx *ptx = parse(entries);
    griddep_ptx_info info = {.size = sizeof info};

    ck_good(griddep_ptx_get_info(ptx, &info, &error));
    ck_assert_uint_eq(info.size, sizeof info);
    ck_assert_uint_eq(info.address_bits, 64);
    ck_assert_str_eq(info.target, "sm_90");
    ck_assert_int_eq(info.version, 80);
    ck_assert_int_eq(info.capability, 90);
    ck_assert_uint_eq(info.entry_count, 2);
    ck_assert_uint_eq(info.function_count, 1);
    griddep_ptx_destroy(ptx);
}

TEST(public, info_tells_about_targets)
{
    static const struct {
        const char *line, *target;
        int32_t capability;
    } cases[] = {
        {"sm_90a", "sm_90a", 90},
        {"sm_100f, debug", "sm_100f", 100},
        {"texmode_unified, sm_80", "sm_80", 80},
        {"compute_90", "compute_90", 90},
        {"sm_x", "sm_x", 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[128];
        snprintf(text, sizeof text, ".version 12.3\n.target %s\n", cases[i].line);
        griddep_ptx *ptx = parse(text);
        griddep_ptx_info info = {.size = sizeof info};
        ck_good(griddep_ptx_get_info(ptx, &info, &error));
        ck_assert_str_eq(info.target, cases[i].target);
        ck_assert_int_eq(info.capability, cases[i].capability);
        ck_assert_int_eq(info.version, 123);
        ck_assert_uint_eq(info.address_bits, 64);
        griddep_ptx_destroy(ptx);
    }
}

TEST(public, info_tells_about_entries)
{
    griddep_ptx *ptx = parse(entries);
    griddep_ptx_entry_info info = {.size = sizeof info};
    uint32_t index = 7;

    ck_good(griddep_ptx_get_entry(ptx, 0, &info, &error));
    ck_assert_str_eq(info.name, "first");
    ck_assert_int_eq(info.line, 6);
    ck_assert_int_eq(info.column, 17);
    ck_assert_uint_eq(info.traits, GRIDDEP_TRAIT_KNOWN | W | T);
    ck_assert_uint_eq(info.parameter_count, 4);
    ck_assert_uint_eq(info.parameter_bytes, 40);
    ck_assert_uint_eq(info.control_count, 2);
    ck_assert_uint_eq(info.instruction_count, 3);
    ck_assert(info.required_block[0] == 32 && info.required_block[1] == 4 &&
              info.required_block[2] == 1);
    ck_assert(info.maximum_block[0] == 64 && info.maximum_block[1] == 1 &&
              info.maximum_block[2] == 1);
    ck_assert(info.required_cluster[0] == 2 && info.required_cluster[1] == 1 &&
              info.required_cluster[2] == 1);
    ck_good(griddep_ptx_get_entry(ptx, 1, &info, &error));
    ck_assert_str_eq(info.name, "second");
    ck_assert_uint_eq(info.parameter_bytes, 0);
    ck_assert(info.required_block[0] == 0 && info.required_block[2] == 0 &&
              info.maximum_block[1] == 0);
    ck_assert_int_eq(griddep_ptx_get_entry(ptx, 2, &info, &error), GRIDDEP_ERROR_NOT_FOUND);
    ck_assert_str_eq(info.name, "second");
    ck_assert(gd_ptx_find_entry(ptx, "second", &index) && index == 1);
    ck_assert(gd_ptx_find_entry(ptx, "first", &index) && index == 0);
    index = 7;
    ck_assert(!gd_ptx_find_entry(ptx, "third", &index));
    ck_assert(!gd_ptx_find_entry(ptx, "helper", &index));
    ck_assert(!gd_ptx_find_entry(ptx, "outside", &index));
    ck_assert(!gd_ptx_find_entry(ptx, "", &index));
    ck_assert_uint_eq(index, 7);
    griddep_ptx_destroy(ptx);
}

TEST(public, info_tells_about_parameters)
{
    static const struct {
        const char *name, *type;
        uint32_t offset, bytes, alignment, pointer;
    } expected[] = {{"a", "u8", 0, 1, 1, 0},
                    {"b", "u64", 8, 8, 8, 1},
                    {"c", "b8", 16, 20, 16, 0},
                    {"d", "f32", 36, 4, 4, 0}};
    griddep_ptx *ptx = parse(entries);
    griddep_parameter_info info = {.size = sizeof info};

    for (uint32_t i = 0; i < 4; i++) {
        ck_good(griddep_ptx_get_parameter(ptx, 0, i, &info, &error));
        ck_assert_str_eq(info.name, expected[i].name);
        ck_assert_str_eq(info.type, expected[i].type);
        ck_assert_uint_eq(info.offset, expected[i].offset);
        ck_assert_uint_eq(info.bytes, expected[i].bytes);
        ck_assert_uint_eq(info.alignment, expected[i].alignment);
        ck_assert_uint_eq(info.is_pointer, expected[i].pointer);
    }
    ck_assert_int_eq(griddep_ptx_get_parameter(ptx, 0, 4, &info, &error), GRIDDEP_ERROR_NOT_FOUND);
    ck_assert_int_eq(griddep_ptx_get_parameter(ptx, 1, 0, &info, &error), GRIDDEP_ERROR_NOT_FOUND);
    ck_assert_int_eq(griddep_ptx_get_parameter(ptx, 2, 0, &info, &error), GRIDDEP_ERROR_NOT_FOUND);
    ck_assert_str_eq(info.name, "d");
    griddep_ptx_destroy(ptx);
}

TEST(public, bad_arguments_are_refused)
{
    griddep_ptx *ptx = NULL;
    griddep_ptx_info info = {.size = sizeof info};
    griddep_ptx_entry_info entry = {.size = sizeof entry};
    griddep_error bad = {.size = 4};

    ck_assert_int_eq(griddep_ptx_parse(NULL, 0, NULL, &ptx, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_assert_int_eq(griddep_ptx_parse(HEAD, strlen(HEAD), NULL, NULL, &error),
                     GRIDDEP_ERROR_ARGUMENT);
    ck_assert_int_eq(griddep_ptx_parse(HEAD, strlen(HEAD), NULL, &ptx, &bad), GRIDDEP_ERROR_STRUCT);
    ck_refused(griddep_ptx_parse(HEAD, UINT64_C(1) << 40, NULL, &ptx, &error), GRIDDEP_ERROR_SYNTAX,
               "GD_PTX_LIMIT_BYTES");
    ck_assert_ptr_null(ptx);
    ck_assert_int_eq(griddep_ptx_parse("x", 1, NULL, &ptx, NULL), GRIDDEP_ERROR_SYNTAX);
    ck_assert_int_eq(griddep_ptx_parse("x", 1, NULL, &ptx, &error), GRIDDEP_ERROR_SYNTAX);
    ck_assert_str_eq(error.file, "ptx");
    griddep_ptx_destroy(NULL);
    ptx = parse(entries);
    ck_assert_int_eq(griddep_ptx_get_info(NULL, &info, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_assert_int_eq(griddep_ptx_get_info(ptx, NULL, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_assert_int_eq(griddep_ptx_get_info(ptx, &info, &bad), GRIDDEP_ERROR_STRUCT);
    info.size = 8;
    ck_assert_int_eq(griddep_ptx_get_info(ptx, &info, &error), GRIDDEP_ERROR_STRUCT);
    ck_assert_ptr_null(info.target);
    entry.size = 0;
    ck_assert_int_eq(griddep_ptx_get_entry(ptx, 0, &entry, &error), GRIDDEP_ERROR_STRUCT);
    ck_assert_int_eq(griddep_ptx_get_entry(NULL, 0, &entry, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_assert_int_eq(griddep_ptx_get_parameter(NULL, 0, 0, NULL, &error), GRIDDEP_ERROR_ARGUMENT);
    griddep_ptx_destroy(ptx);
}

TEST(public, print_follows_its_convention)
{
    static const char text[] = HEAD "// end";
    griddep_ptx *ptx = NULL;
    char buffer[16] = "untouched";
    uint64_t bytes = 0;

    /* The closing zero is no part of the text. */
    ck_good(griddep_ptx_parse(text, sizeof text, NULL, &ptx, &error));
    ck_good(griddep_ptx_print(ptx, NULL, 0, &bytes, &error));
    ck_assert_uint_eq(bytes, sizeof text - 1);
    bytes = 0;
    ck_good(griddep_ptx_print(ptx, buffer, 9, &bytes, &error));
    ck_assert_uint_eq(bytes, sizeof text - 1);
    ck_assert_str_eq(buffer, ".version");
    ck_assert_int_eq(griddep_ptx_print(ptx, NULL, 9, &bytes, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_assert_int_eq(griddep_ptx_print(ptx, buffer, 9, NULL, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_assert_int_eq(griddep_ptx_print(NULL, buffer, 9, &bytes, &error), GRIDDEP_ERROR_ARGUMENT);
    griddep_ptx_destroy(ptx);
}

/* ---- hostile text ---- */

/* Parses a copy that ends where the text ends, so that a sanitizer sees each byte read behind it.
 * Checks what holds for every text. */
static void parse_anything(const char *text, size_t bytes)
{
    char *copy = malloc(bytes ? bytes : 1);
    griddep_ptx *ptx = NULL;

    ck_assert_ptr_nonnull(copy);
    memcpy(copy, text, bytes);
    int32_t status = griddep_ptx_parse(copy, bytes, "hostile", &ptx, &error);
    ck_assert(status == GRIDDEP_OK || status == GRIDDEP_ERROR_SYNTAX);
    ck_assert_int_eq(ptx != NULL, status == GRIDDEP_OK);
    if (status == GRIDDEP_ERROR_SYNTAX)
        ck_assert(error.line > 0 && error.column > 0 && strstr(error.text, "found ") &&
                  strstr(error.text, "expected "));
    griddep_ptx_destroy(ptx);
    free(copy);
}

static void truncate_everywhere(const char *path, const char *text, size_t bytes)
{
    size_t step = bytes > 5000 ? 7 : 1;

    for (size_t i = 0; i < bytes; i += step)
        parse_anything(text, i);
    (void)path;
}

TEST(hostile, truncated_texts_are_refused_or_parsed)
{
    each_golden(truncate_everywhere);
}

static uint32_t next_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

/* Changes a few bytes, moves or repeats pieces. */
static void damage(const char *path, const char *text, size_t bytes)
{
    static const char marks[] = "{}()[]<>;,:.@!|+-\"/*#%$_=0x\n\0\xff";
    uint32_t state = 2463534242u;
    char *copy = malloc(bytes);

    ck_assert_ptr_nonnull(copy);
    for (int round = 0; round < 300; round++) {
        memcpy(copy, text, bytes);
        for (uint32_t i = next_random(&state) % 4 + 1; i > 0; i--) {
            size_t at = next_random(&state) % bytes, from = next_random(&state) % bytes;
            size_t length = next_random(&state) % 64, most = bytes - (at > from ? at : from);
            if (next_random(&state) % 2)
                copy[at] = marks[next_random(&state) % (sizeof marks - 1)];
            else
                memmove(copy + at, copy + from, length < most ? length : most);
        }
        parse_anything(copy, bytes);
    }
    free(copy);
    (void)path;
}

TEST(hostile, damaged_texts_are_refused_or_parsed)
{
    each_golden(damage);
}

/* HEAD, then `before`, `count` times `open`, then `after`. */
static char *repeated(const char *before, const char *open, size_t count, const char *after)
{
    gd_text text = {0};

    gd_text_string(&text, HEAD);
    gd_text_string(&text, before);
    for (size_t i = 0; i < count; i++)
        gd_text_string(&text, open);
    gd_text_string(&text, after);
    ck_assert(!text.failed);
    return text.data;
}

static const struct {
    const char *before, *open, *after;
} deep_cases[] = {
    {".entry k() {", "{", ""},      {".entry k() { x ", "[", ""},
    {".entry k() { x ", "{", ""},   {".entry k() { x ", "(", ""},
    {".entry k() { x 1+", "(", ""}, {".entry k() { x 1+y", "[z", ""},
    {".global .u32 x = ", "{", ""}, {".unknown ", "(", ""},
    {".entry k", "(", ""},
};

LOOP_TEST(hostile, deep_nesting_names_its_limit, COUNT(deep_cases))
{
    char *text =
        repeated(deep_cases[_i].before, deep_cases[_i].open, 1000000, deep_cases[_i].after);
    griddep_ptx *ptx = NULL;

    ck_assert_int_eq(griddep_ptx_parse(text, strlen(text), NULL, &ptx, &error),
                     GRIDDEP_ERROR_SYNTAX);
    ck_assert_msg(strstr(error.text, "GD_PTX_LIMIT_DEPTH") ||
                      strstr(error.text, "expected a parameter") ||
                      strstr(error.text, "expected '"),
                  "%s", error.text);
    free(text);
}

TEST(hostile, nesting_up_to_the_limit_is_parsed)
{
    char *open = repeated(".entry k() ", "{", GD_PTX_LIMIT_DEPTH, "");
    gd_text text = {0};

    gd_text_string(&text, open);
    for (int i = 0; i < GD_PTX_LIMIT_DEPTH; i++)
        gd_text_string(&text, "}");
    griddep_ptx *ptx = parse(gd_text_get(&text));
    ck_assert_uint_eq(ptx->module.scope_count, GD_PTX_LIMIT_DEPTH + 1);
    griddep_ptx_destroy(ptx);
    gd_text_free(&text);
    free(open);
}

TEST(hostile, long_lists_are_parsed)
{
    enum { COUNT = 100000 };
    static const struct {
        const char *before, *item, *after;
    } cases[] = {
        {".entry k() { x ", "a, ", "b; }"},
        {".entry k() { x 1", "+1", "; }"},
        {".entry k() { x ", "-", "1; }"},
        {".entry k() {", "x:", "}"},
        {".entry k() {", "{}", "}"},
        {"", ".func f;", ""},
        {".global .b8 x[1] = {", "{1},", "1};"},
        {".entry k() { ", "bra y; ", "y: }"},
        {".entry k(", ".param .b8 a, ", ".param .b8 b);"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *text = repeated(cases[i].before, cases[i].item, COUNT, cases[i].after);
        griddep_ptx_destroy(parse(text));
        free(text);
    }
}

TEST(hostile, limits_name_themselves)
{
    char *text = repeated(".entry k() { x", ".y", GD_PTX_LIMIT_MODIFIERS + 1, "; }");
    check_wrong(text, 4, 15 + 2 * GD_PTX_LIMIT_MODIFIERS, "GD_PTX_LIMIT_MODIFIERS");
    free(text);
    text = repeated("", "a", GD_PTX_LIMIT_TOKEN_BYTES + 1, "");
    check_wrong(text, 4, 1, "GD_PTX_LIMIT_TOKEN_BYTES");
    free(text);
}

TEST(hostile, zero_bytes_may_stand_at_the_end_only)
{
    static const char inside[] = HEAD "\0.entry k() { }";
    static const char comment[] = HEAD "// a\0b\n";
    static const char string[] = HEAD ".file 1 \"a\0b\"";
    static const char two[] = HEAD "\0";
    griddep_ptx *ptx = NULL;

    ck_refused(griddep_ptx_parse(inside, sizeof inside, NULL, &ptx, &error), GRIDDEP_ERROR_SYNTAX,
               "4:1: found a zero byte");
    ck_refused(griddep_ptx_parse(comment, sizeof comment, NULL, &ptx, &error), GRIDDEP_ERROR_SYNTAX,
               "4:5: found a zero byte");
    ck_refused(griddep_ptx_parse(string, sizeof string, NULL, &ptx, &error), GRIDDEP_ERROR_SYNTAX,
               "4:11: found a zero byte");
    ck_assert_int_eq(griddep_ptx_parse(two, sizeof two, NULL, &ptx, &error), GRIDDEP_ERROR_SYNTAX);
    ck_assert_ptr_null(ptx);
}

/* ---- memory ---- */

static void starve(const char *path, const char *text, size_t bytes)
{
    long n = 0;

    for (;; n++) {
        griddep_ptx *ptx = NULL;
        clear_error();
        fail_alloc_after(n);
        int32_t status = griddep_ptx_parse(text, bytes, path, &ptx, &error);
        bool hit = fail_alloc_hit();
        fail_alloc_after(-1);
        ck_assert_int_eq(status, hit ? GRIDDEP_ERROR_MEMORY : GRIDDEP_OK);
        ck_assert_int_eq(error.status, status);
        ck_assert_int_eq(ptx == NULL, hit);
        griddep_ptx_destroy(ptx);
        if (!hit)
            break;
    }
    ck_assert_int_gt(n, 15);
}

TEST(memory, each_allocation_may_fail)
{
    each_golden(starve);
}

TEST(memory, a_report_survives_a_failing_allocation)
{
    static const char text[] = HEAD ".entry k() { add }";

    for (long n = 0;; n++) {
        griddep_ptx *ptx = NULL;
        clear_error();
        fail_alloc_after(n);
        int32_t status = griddep_ptx_parse(text, sizeof text - 1, NULL, &ptx, &error);
        bool hit = fail_alloc_hit();
        fail_alloc_after(-1);
        ck_assert(status == GRIDDEP_ERROR_SYNTAX || (hit && status == GRIDDEP_ERROR_MEMORY));
        ck_assert_int_eq(error.status, status);
        if (!hit)
            break;
    }
}

MAIN_OF_SUITE("ptx")
