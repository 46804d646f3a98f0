/* Modules, functions, the linker, libraries and kernels. */
#include "conformance.h"

#include <unistd.h>

static const char text[] =
    PTX_HEAD ".visible .global .align 8 .b8 table[24] = {1, 2, 3};\n"
             ".visible .const .align 4 .u32 factor = 3;\n"
             ".visible .entry triple(.param .u64 in, .param .u64 out, .param .u32 extra)\n"
             "{\n    .reg .b64 %in, %out;\n    .reg .b32 %v, %f, %e;\n"
             "    ld.param.u64 %in, [in];\n    ld.param.u64 %out, [out];\n"
             "    ld.param.u32 %e, [extra];\n    ld.global.u32 %v, [%in];\n"
             "    ld.const.u32 %f, [factor];\n    mad.lo.u32 %v, %v, %f, %e;\n"
             "    st.global.u32 [%out], %v;\n    ret;\n}\n"
             ".visible .entry narrow()\n.maxntid 64, 1, 1\n{\n"
             "    .shared .align 4 .b8 room[2048];\n    .reg .b32 %a, %v;\n"
             "    mov.u32 %a, room;\n    ld.shared.u32 %v, [%a];\n"
             "    st.shared.u32 [%a+4], %v;\n    ret;\n}\n";

static const char wrong[] = PTX_HEAD ".visible .entry k()\n{\n    mov.u32 %r9, 1;\n    ret;\n}\n";
static const char newer[] =
    ".version 99.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n    ret;\n}\n";

static void write_file(char *path, size_t bytes, const char *content)
{
    snprintf(path, bytes, "/tmp/conformance-XXXXXX");
    int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq((int)write(file, content, strlen(content)), (int)strlen(content));
    close(file);
}

/* 3 * 5 + 7, by whatever the driver takes for a function. */
static void check_triple(gd_CUfunction function)
{
    uint32_t number = 5, extra = 7, result = 0;
    gd_CUdeviceptr in = allocate_with(&number, sizeof number), out = allocate(sizeof result);
    void *parameters[] = {&in, &out, &extra};

    good(cuCtxSynchronize, ());
    run(function, 1, 1, parameters);
    read_back(&result, out, sizeof result);
    ck_assert_uint_eq(result, 22);
    release(in);
    release(out);
}

/* ---- modules ---- */

TEST_GROUP(modules, setup_context, teardown_context);
TEST_GROUP(linker, setup_context, teardown_context);
TEST_GROUP(libraries, setup_context, teardown_context);

TEST(modules, modules_load)
{
    gd_CUmodule module = NULL;
    gd_CUfunction function = NULL;
    char path[64];

    good(cuModuleLoadData, (&module, text));
    check_triple(function_of(module, "triple"));
    bad(ERROR_NOT_FOUND, cuModuleGetFunction, (&function, module, "nothing"));
    bad(ERROR_NOT_FOUND, cuModuleGetFunction, (&function, module, "table"));
    bad(ERROR_INVALID_VALUE, cuModuleGetFunction, (NULL, module, "triple"));
    bad(ERROR_INVALID_VALUE, cuModuleGetFunction, (&function, module, NULL));
    good(cuModuleUnload, (module));
    write_file(path, sizeof path, text);
    good(cuModuleLoad, (&module, path));
    unlink(path);
    check_triple(function_of(module, "triple"));
    good(cuModuleUnload, (module));
    bad(ERROR_FILE_NOT_FOUND, cuModuleLoad, (&module, "/no/such/file.ptx"));
    good(cuModuleLoadFatBinary, (&module, text));
    good(cuModuleUnload, (module));
}

TEST(modules, bad_modules)
{
    gd_CUmodule module = NULL;
    char path[64];

    bad(ERROR_INVALID_PTX, cuModuleLoadData, (&module, wrong));
    bad(ERROR_INVALID_PTX, cuModuleLoadDataEx, (&module, wrong, 0, NULL, NULL));
    bad(ERROR_UNSUPPORTED_PTX_VERSION, cuModuleLoadData, (&module, newer));
    bad(ERROR_INVALID_IMAGE, cuModuleLoadData, (&module, "this is no PTX"));
    bad(ERROR_INVALID_VALUE, cuModuleLoadData, (NULL, text));
    bad(ERROR_INVALID_VALUE, cuModuleLoadData, (&module, NULL));
    bad(ERROR_INVALID_VALUE, cuModuleLoadDataEx, (NULL, text, 0, NULL, NULL));
    bad(ERROR_INVALID_VALUE, cuModuleLoadFatBinary, (NULL, text));
    bad(ERROR_INVALID_VALUE, cuModuleLoadFatBinary, (&module, NULL));
    bad(ERROR_INVALID_PTX, cuModuleLoadFatBinary, (&module, wrong));
    bad(ERROR_INVALID_VALUE, cuModuleLoad, (NULL, "/no/such/file.ptx"));
    bad(ERROR_INVALID_VALUE, cuModuleLoad, (&module, NULL));
    write_file(path, sizeof path, wrong);
    bad(ERROR_INVALID_PTX, cuModuleLoad, (&module, path));
    unlink(path);
}

TEST(modules, newer_targets)
{
    static const char above[] =
        ".version 9.0\n.target sm_121\n.address_size 64\n.visible .entry k()\n{\n ret;\n}\n";
    gd_CUmodule module = NULL;

    bad(ERROR_INVALID_PTX, cuModuleLoadData, (&module, above));
}

TEST(modules, compiler_messages)
{
    char errors[4096] = "", notes[4096] = "";
    gd_CUmodule module = NULL;
    gd_CUjit_option options[] = {GD_CU_JIT_ERROR_LOG_BUFFER, GD_CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                                 GD_CU_JIT_INFO_LOG_BUFFER, GD_CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                                 GD_CU_JIT_LOG_VERBOSE};
    void *values[] = {errors, (void *)(uintptr_t)sizeof errors, notes,
                      (void *)(uintptr_t)sizeof notes, (void *)(uintptr_t)1};
    gd_CUjit_option unknown = 1000;

    good(cuModuleLoadDataEx, (&module, text, 5, options, values));
    expect(strstr(notes, "triple"));
    expect((uintptr_t)values[1] == 0);
    expect((uintptr_t)values[3] >= strlen(notes));
    good(cuModuleUnload, (module));
    values[1] = values[3] = (void *)(uintptr_t)sizeof errors;
    bad(ERROR_INVALID_PTX, cuModuleLoadDataEx, (&module, wrong, 5, options, values));
    expect(strstr(errors, "line 6") && strstr(errors, "%r9"));
    expect((uintptr_t)values[1] >= strlen(errors));
    bad(ERROR_INVALID_VALUE, cuModuleLoadDataEx, (&module, text, 1, &unknown, values));
}

TEST(modules, variables)
{
    gd_CUmodule module = load(text);
    gd_CUdeviceptr address = 0, again = 0;
    size_t bytes = 0;
    unsigned char table[24];
    uint32_t factor = 0;

    good(cuModuleGetGlobal_v2, (&address, &bytes, module, "table"));
    expect(bytes == 24);
    read_back(table, address, sizeof table);
    expect(table[0] == 1 && table[2] == 3 && table[23] == 0);
    good(cuModuleGetGlobal_v2, (&again, NULL, module, "table"));
    expect(again == address);
    good(cuModuleGetGlobal_v2, (NULL, &bytes, module, "factor"));
    expect(bytes == 4);
    good(cuModuleGetGlobal_v2, (&address, NULL, module, "factor"));
    read_back(&factor, address, sizeof factor);
    expect(factor == 3);
    bad(ERROR_NOT_FOUND, cuModuleGetGlobal_v2, (&address, &bytes, module, "nothing"));
    bad(ERROR_INVALID_VALUE, cuModuleGetGlobal_v2, (&address, &bytes, module, NULL));
    good(cuModuleUnload, (module));
}

TEST(modules, functions_of_modules)
{
    gd_CUmodule module = load(text), owner = NULL;
    gd_CUfunction functions[3] = {NULL, NULL, NULL}, triple = function_of(module, "triple");
    unsigned count = 0;
    int32_t mode = -1, state = -1;
    const char *name = NULL;

    good(cuModuleGetFunctionCount, (&count, module));
    expect(count == 2);
    bad(ERROR_INVALID_VALUE, cuModuleGetFunctionCount, (NULL, module));
    good(cuModuleEnumerateFunctions, (functions, 3, module));
    expect(functions[0] && functions[1] && !functions[2]);
    expect(functions[0] == triple || functions[1] == triple);
    bad(ERROR_INVALID_VALUE, cuModuleEnumerateFunctions, (NULL, 2, module));
    good(cuFuncGetName, (&name, triple));
    expect(name && !strcmp(name, "triple"));
    bad(ERROR_INVALID_VALUE, cuFuncGetName, (NULL, triple));
    good(cuFuncGetModule, (&owner, triple));
    expect(owner == module);
    bad(ERROR_INVALID_VALUE, cuFuncGetModule, (NULL, triple));
    good(cuFuncLoad, (triple));
    good(cuFuncIsLoaded, (&state, triple));
    expect(state == 1);
    bad(ERROR_INVALID_VALUE, cuFuncIsLoaded, (NULL, triple));
    good(cuModuleGetLoadingMode, (&mode));
    expect(mode == 1 || mode == 2);
    if (!DIFFERS(UNCHECKED_ARGUMENT))
        bad(ERROR_INVALID_VALUE, cuModuleGetLoadingMode, (NULL));
    good(cuModuleUnload, (module));
}

TEST(modules, null_handles_of_functions)
{
    size_t bytes = 0;
    unsigned count = 0;
    int value = 0;
    int32_t state = 0;
    const char *name = NULL;
    gd_CUmodule owner = NULL;
    gd_CUfunction function = NULL;
    gd_CUdeviceptr address = 0;

    bad(ERROR_INVALID_HANDLE, cuModuleUnload, (NULL));
    bad(ERROR_INVALID_HANDLE, cuModuleGetFunction, (&function, NULL, "triple"));
    bad(ERROR_INVALID_HANDLE, cuModuleGetGlobal_v2, (&address, &bytes, NULL, "table"));
    bad(ERROR_INVALID_HANDLE, cuModuleGetFunctionCount, (&count, NULL));
    bad(ERROR_INVALID_HANDLE, cuModuleEnumerateFunctions, (&function, 1, NULL));
    bad(ERROR_INVALID_HANDLE, cuFuncGetAttribute, (&value, 0, NULL));
    bad(ERROR_INVALID_HANDLE, cuFuncSetAttribute, (NULL, 8, 0));
    bad(ERROR_INVALID_VALUE, cuFuncGetName, (&name, NULL));
    bad(ERROR_INVALID_VALUE, cuFuncGetModule, (&owner, NULL));
    bad(ERROR_INVALID_VALUE, cuFuncGetParamInfo, (NULL, 0, &bytes, &bytes));
    bad(ERROR_INVALID_HANDLE, cuFuncSetCacheConfig, (NULL, 0));
    bad(ERROR_INVALID_HANDLE, cuFuncIsLoaded, (&state, NULL));
    bad(ERROR_INVALID_HANDLE, cuFuncLoad, (NULL));
}

TEST(modules, function_attributes)
{
    gd_CUmodule module = load(text);
    gd_CUfunction triple = function_of(module, "triple"), narrow = function_of(module, "narrow");
    int value = 0;
    size_t offset = 0, bytes = 0;

    good(cuFuncGetAttribute, (&value, GD_CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, narrow));
    expect(value == 64);
    good(cuFuncGetAttribute, (&value, GD_CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, triple));
    expect(value == 1024);
    good(cuFuncGetAttribute, (&value, GD_CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, narrow));
    expect(value == 2048);
    good(cuFuncGetAttribute, (&value, GD_CU_FUNC_ATTRIBUTE_NUM_REGS, triple));
    expect(value > 0 && value <= 255);
    good(cuFuncGetAttribute, (&value, GD_CU_FUNC_ATTRIBUTE_BINARY_VERSION, triple));
    expect(value == 90);
    good(cuFuncGetAttribute, (&value, GD_CU_FUNC_ATTRIBUTE_PTX_VERSION, triple));
    expect(value == 90);
    good(cuFuncGetAttribute, (&value, GD_CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, triple));
    expect(value == 0);
    good(cuFuncGetAttribute, (&value, GD_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, narrow));
    expect(value == 49152 - 2048);
    good(cuFuncSetAttribute, (narrow, GD_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000));
    good(cuFuncGetAttribute, (&value, GD_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, narrow));
    expect(value == 100000);
    good(cuFuncGetAttribute,
         (&value, GD_CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, narrow));
    expect(value == -1);
    good(cuFuncSetAttribute, (narrow, GD_CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 50));
    bad(ERROR_INVALID_VALUE, cuFuncSetAttribute,
        (narrow, GD_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 227 * 1024));
    bad(ERROR_INVALID_VALUE, cuFuncSetAttribute,
        (narrow, GD_CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 101));
    bad(ERROR_INVALID_VALUE, cuFuncSetAttribute, (narrow, GD_CU_FUNC_ATTRIBUTE_NUM_REGS, 10));
    bad(ERROR_INVALID_VALUE, cuFuncSetAttribute, (narrow, 1000, 0));
    bad(ERROR_INVALID_VALUE, cuFuncGetAttribute, (&value, 1000, narrow));
    bad(ERROR_INVALID_VALUE, cuFuncGetAttribute, (NULL, 0, narrow));
    good(cuFuncSetCacheConfig, (narrow, 1));
    bad(ERROR_INVALID_VALUE, cuFuncSetCacheConfig, (narrow, 17));
    good(cuFuncGetParamInfo, (triple, 1, &offset, &bytes));
    expect(offset == 8 && bytes == 8);
    good(cuFuncGetParamInfo, (triple, 2, &offset, NULL));
    expect(offset == 16);
    bad(ERROR_INVALID_VALUE, cuFuncGetParamInfo, (triple, 3, &offset, &bytes));
    bad(ERROR_INVALID_VALUE, cuFuncGetParamInfo, (triple, 0, NULL, &bytes));
    good(cuModuleUnload, (module));
}

TEST(modules, unloaded_modules_are_refused)
{
    gd_CUmodule module = load(text);
    gd_CUfunction triple = function_of(module, "triple"), found = NULL;
    int value = 0;

    if (DIFFERS(FREED_HANDLE))
        return;
    good(cuModuleUnload, (module));
    bad(ERROR_INVALID_HANDLE, cuModuleUnload, (module));
    bad(ERROR_INVALID_HANDLE, cuModuleGetFunction, (&found, module, "triple"));
    bad(ERROR_INVALID_HANDLE, cuFuncGetAttribute, (&value, 0, triple));
    bad(ERROR_INVALID_HANDLE, cuLaunchKernel, (triple, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
}

/* A function that nothing defines is told when a module is loaded, and where it is called; those of
 * the system are there, and so is an .extern variable, which is the module's own. */
TEST(modules, unresolved_names)
{
    static const char open[] =
        PTX_HEAD ".extern .func nowhere(.param .b32 v);\n"
                 ".func unused()\n{\n    .param .b32 v;\n    call nowhere, (v);\n    ret;\n}\n"
                 ".visible .entry k()\n{\n    ret;\n}\n";
    static const char system[] = PTX_HEAD
        ".extern .func nowhere(.param .b32 v);\n.extern .func (.param .b64 r) malloc(.param .b64 "
        "v);\n"
        ".extern .func free(.param .b64 v);\n.extern .func (.param .b32 r) vprintf(.param .b64 a, "
        ".param .b64 b);\n"
        ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, "
        ".param .b64 e);\n"
        ".extern .global .align 4 .u32 number;\n"
        ".visible .entry store(.param .u64 out)\n{\n    .reg .b64 %out;\n    .reg .b32 %v;\n"
        "    ld.param.u64 %out, [out];\n    ld.global.u32 %v, [number];\n    add.u32 %v, %v, 3;\n"
        "    st.global.u32 [%out], %v;\n    ret;\n}\n"
        ".visible .entry heap()\n{\n    .param .b64 p, q;\n    .param .b32 i;\n    st.param.b64 "
        "[p], 1;\n"
        "    call (q), malloc, (p);\n    call free, (q);\n    ret;\n}\n";
    gd_CUmodule module = NULL;
    gd_CUdeviceptr address = 0;
    size_t bytes = 0;
    uint32_t number = 4;
    char log[1024] = "";
    int names[] = {GD_CU_JIT_ERROR_LOG_BUFFER, GD_CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof log};

    bad(ERROR_INVALID_PTX, cuModuleLoadData, (&module, open));
    bad(ERROR_INVALID_PTX, cuModuleLoadDataEx, (&module, open, 2, names, values));
    ck_assert_msg(strstr(log, "Unresolved extern function 'nowhere'") != NULL, "%s", log);
    good(cuModuleLoadData, (&module, system));
    good(cuModuleGetGlobal_v2, (&address, &bytes, module, "number"));
    expect(bytes == 4);
    good(cuMemcpyHtoD_v2, (address, &number, sizeof number));
    gd_CUdeviceptr out = allocate(sizeof number);
    void *parameters[] = {&out};
    run(function_of(module, "store"), 1, 1, parameters);
    read_back(&number, out, sizeof number);
    ck_assert_uint_eq(number, 7);
    release(out);
    good(cuModuleUnload, (module));
}

/* The address of a .const variable is one of memory: copies and kernels write there, and later
 * launches read it. */
TEST(modules, constants_are_written)
{
    static const char writer[] = PTX_HEAD
        ".visible .const .align 4 .u32 factor[2] = {3, 4};\n"
        ".visible .entry put(.param .u64 to, .param .u32 v)\n{\n    .reg .b64 %to;\n    .reg .b32 "
        "%v;\n"
        "    ld.param.u64 %to, [to];\n    ld.param.u32 %v, [v];\n    st.global.u32 [%to], %v;\n"
        "    st.u32 [%to+4], %v;\n    ret;\n}\n"
        ".visible .entry get(.param .u64 to)\n{\n    .reg .b64 %to;\n    .reg .b32 %v, %w;\n"
        "    ld.param.u64 %to, [to];\n    ld.const.u32 %v, [factor];\n    ld.const.u32 %w, "
        "[factor+4];\n"
        "    mad.lo.u32 %v, %v, 1000, %w;\n    st.global.u32 [%to], %v;\n    ret;\n}\n";
    gd_CUmodule module = load(writer);
    gd_CUdeviceptr address = 0, out = allocate(4);
    size_t bytes = 0;
    uint32_t number = 5, values[2] = {7, 8};
    void *get[] = {&out}, *put[] = {&address, &number};

    good(cuModuleGetGlobal_v2, (&address, &bytes, module, "factor"));
    good(cuMemcpyHtoD_v2, (address, values, sizeof values));
    run(function_of(module, "get"), 1, 1, get);
    read_back(&number, out, sizeof number);
    ck_assert_uint_eq(number, 7008);
    number = 9;
    run(function_of(module, "put"), 1, 1, put);
    run(function_of(module, "get"), 1, 1, get);
    read_back(&number, out, sizeof number);
    ck_assert_uint_eq(number, 9009);
    read_back(values, address, sizeof values);
    ck_assert_uint_eq(values[1], 9);
    release(out);
    good(cuModuleUnload, (module));
}

/* ---- the linker ---- */

TEST(linker, linking)
{
    gd_CUlinkState link = NULL;
    gd_CUmodule module = NULL;
    void *image = NULL;
    size_t bytes = 0;
    char path[64];

    good(cuLinkCreate_v2, (0, NULL, NULL, &link));
    good(cuLinkAddData_v2,
         (link, GD_CU_JIT_INPUT_PTX, (void *)(uintptr_t)text, sizeof text, "text", 0, NULL, NULL));
    good(cuLinkComplete, (link, &image, &bytes));
    expect(image && bytes);
    good(cuModuleLoadData, (&module, image));
    good(cuLinkDestroy, (link));
    check_triple(function_of(module, "triple"));
    good(cuModuleUnload, (module));
    write_file(path, sizeof path, text);
    good(cuLinkCreate_v2, (0, NULL, NULL, &link));
    good(cuLinkAddFile_v2, (link, GD_CU_JIT_INPUT_PTX, path, 0, NULL, NULL));
    unlink(path);
    bad(ERROR_FILE_NOT_FOUND, cuLinkAddFile_v2,
        (link, GD_CU_JIT_INPUT_PTX, "/no/such/file.ptx", 0, NULL, NULL));
    good(cuLinkDestroy, (link));
}

TEST(linker, linking_errors)
{
    gd_CUlinkState link = NULL;
    void *image = NULL, *data = (void *)(uintptr_t)text;
    size_t bytes = 0;

    bad(ERROR_INVALID_VALUE, cuLinkCreate_v2, (0, NULL, NULL, NULL));
    good(cuLinkCreate_v2, (0, NULL, NULL, &link));
    bad(ERROR_INVALID_PTX, cuLinkAddData_v2,
        (link, GD_CU_JIT_INPUT_PTX, (void *)(uintptr_t)wrong, sizeof wrong, "wrong", 0, NULL,
         NULL));
    good(cuLinkDestroy, (link));
    good(cuLinkCreate_v2, (0, NULL, NULL, &link));
    bad(ERROR_INVALID_VALUE, cuLinkAddData_v2,
        (link, GD_CU_JIT_INPUT_PTX, NULL, 10, "none", 0, NULL, NULL));
    bad(ERROR_INVALID_VALUE, cuLinkAddData_v2,
        (link, 1000, data, sizeof text, "text", 0, NULL, NULL));
    bad(ERROR_INVALID_VALUE, cuLinkAddFile_v2, (link, GD_CU_JIT_INPUT_PTX, NULL, 0, NULL, NULL));
    bad(ERROR_INVALID_VALUE, cuLinkComplete, (link, NULL, &bytes));
    good(cuLinkDestroy, (link));
    bad(ERROR_INVALID_HANDLE, cuLinkAddData_v2,
        (NULL, GD_CU_JIT_INPUT_PTX, data, sizeof text, "", 0, NULL, NULL));
    bad(ERROR_INVALID_HANDLE, cuLinkComplete, (NULL, &image, &bytes));
    bad(ERROR_INVALID_HANDLE, cuLinkDestroy, (NULL));
}

/* Names of two texts: what one declares the other defines, a weak definition gives way, and what is
 * not .visible stays its text's own. */
static const char first_part[] = PTX_HEAD
    ".extern .func (.param .b32 r) twice(.param .b32 v);\n"
    ".extern .global .align 4 .u32 count;\n.extern .global .align 8 .u64 pointer;\n"
    ".global .align 4 .u32 own = 5;\n.weak .global .align 4 .u32 level = 1;\n"
    ".weak .func (.param .b32 r) ten()\n{\n    .reg .b32 %v;\n    mov.u32 %v, 10;\n"
    "    st.param.b32 [r], %v;\n    ret;\n}\n"
    ".visible .entry sum(.param .u64 out)\n{\n    .reg .b64 %out, %at;\n    .reg .b32 %v, %s;\n"
    "    .param .b32 a, b;\n    ld.param.u64 %out, [out];\n    mov.u32 %v, 7;\n    st.param.b32 "
    "[a], %v;\n"
    "    call (b), twice, (a);\n    ld.param.b32 %s, [b];\n    call (b), ten;\n"
    "    ld.param.b32 %v, [b];\n    add.u32 %s, %s, %v;\n    ld.global.u32 %v, [count];\n"
    "    add.u32 %s, %s, %v;\n    ld.global.u32 %v, [own];\n    add.u32 %s, %s, %v;\n"
    "    ld.global.u32 %v, [level];\n    add.u32 %s, %s, %v;\n    ld.global.u64 %at, [pointer];\n"
    "    ld.u32 %v, [%at];\n    add.u32 %s, %s, %v;\n    st.global.u32 [%out], %s;\n    ret;\n}\n";
static const char second_part[] = PTX_HEAD
    ".global .align 4 .u32 own = 100;\n.visible .global .align 4 .u32 level = 20000;\n"
    ".visible .global .align 4 .u32 count = 1000;\n"
    ".visible .global .align 8 .u64 pointer = generic(count);\n"
    ".weak .func (.param .b32 r) ten()\n{\n    .reg .b32 %v;\n    mov.u32 %v, 10;\n"
    "    st.param.b32 [r], %v;\n    ret;\n}\n"
    ".visible .func (.param .b32 r) twice(.param .b32 v)\n{\n    .reg .b32 %v, %o;\n"
    "    ld.param.b32 %v, [v];\n    ld.global.u32 %o, [own];\n    mad.lo.u32 %v, %v, 2, %o;\n"
    "    st.param.b32 [r], %v;\n    ret;\n}\n";

static void add_part(gd_CUlinkState link, const char *part, const char *name)
{
    good(cuLinkAddData_v2, (link, GD_CU_JIT_INPUT_PTX, (void *)(uintptr_t)part, strlen(part) + 1,
                            name, 0, NULL, NULL));
}

LOOP_TEST(linker, linking_several, 2)
{
    const char *const orders[][2] = {{first_part, second_part}, {second_part, first_part}};
    gd_CUlinkState link = NULL;
    gd_CUmodule module = NULL;
    void *image = NULL;
    size_t bytes = 0;

    good(cuLinkCreate_v2, (0, NULL, NULL, &link));
    add_part(link, orders[_i][0], "one");
    add_part(link, orders[_i][1], "two");
    good(cuLinkComplete, (link, &image, &bytes));
    good(cuModuleLoadData, (&module, image));
    good(cuLinkDestroy, (link));
    uint32_t result = 0;
    gd_CUdeviceptr out = allocate(sizeof result), address = 0;
    void *parameters[] = {&out};
    good(cuCtxSynchronize, ());
    run(function_of(module, "sum"), 1, 1, parameters);
    read_back(&result, out, sizeof result);
    ck_assert_uint_eq(result, (14 + 100) + 10 + 1000 + 5 + 20000 + 1000);
    good(cuModuleGetGlobal_v2, (&address, &bytes, module, "level"));
    read_back(&result, address, sizeof result);
    ck_assert_uint_eq(result, 20000);
    release(out);
    good(cuModuleUnload, (module));
}

TEST(linker, linking_leaves_nothing_open)
{
    static const char twice[] =
        PTX_HEAD ".visible .func (.param .b32 r) twice(.param .b32 v)\n{\n    ret;\n}\n";
    gd_CUlinkState link = NULL;
    void *image = NULL;
    size_t bytes = 0;
    char log[1024] = "";
    int names[] = {GD_CU_JIT_ERROR_LOG_BUFFER, GD_CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof log};

    good(cuLinkCreate_v2, (2, names, values, &link));
    add_part(link, first_part, "one");
    bad(ERROR_INVALID_SOURCE, cuLinkComplete, (link, &image, &bytes));
    ck_assert_msg(strstr(log, "ndefined reference to 'twice'") != NULL, "%s", log);
    good(cuLinkDestroy, (link));

    /* Which of the two calls tells that a name has two definitions is the driver's choice. */
    *log = 0;
    values[1] = (void *)(uintptr_t)sizeof log;
    good(cuLinkCreate_v2, (2, names, values, &link));
    add_part(link, second_part, "two");
    gd_CUresult result = raw(cuLinkAddData_v2, (link, GD_CU_JIT_INPUT_PTX, (void *)(uintptr_t)twice,
                                                sizeof twice, "again", 0, NULL, NULL));
    if (result == GD_CUDA_SUCCESS)
        result = raw(cuLinkComplete, (link, &image, &bytes));
    expect(result != GD_CUDA_SUCCESS);
    ck_assert_msg(strstr(log, "ultiple definition of 'twice'") != NULL, "%s", log);
    good(cuLinkDestroy, (link));
}

/* ---- libraries ---- */

TEST(libraries, libraries)
{
    gd_CUlibrary library = NULL, owner = NULL;
    gd_CUkernel triple = NULL, kernels[3] = {NULL, NULL, NULL};
    gd_CUmodule module = NULL;
    gd_CUfunction function = NULL;
    gd_CUdeviceptr address = 0;
    size_t bytes = 0, offset = 0;
    unsigned count = 0;
    int value = 0;
    const char *name = NULL;

    good(cuLibraryLoadData, (&library, text, NULL, NULL, 0, NULL, NULL, 0));
    good(cuLibraryGetKernel, (&triple, library, "triple"));
    check_triple(triple);
    good(cuKernelGetFunction, (&function, triple));
    check_triple(function);
    good(cuLibraryGetKernelCount, (&count, library));
    expect(count == 2);
    good(cuLibraryEnumerateKernels, (kernels, 3, library));
    expect(kernels[0] == triple || kernels[1] == triple);
    expect(!kernels[2]);
    good(cuLibraryGetModule, (&module, library));
    expect(module);
    good(cuLibraryGetGlobal, (&address, &bytes, library, "table"));
    expect(address && bytes == 24);
    good(cuKernelGetLibrary, (&owner, triple));
    expect(owner == library);
    good(cuKernelGetName, (&name, triple));
    expect(name && !strcmp(name, "triple"));
    good(cuKernelGetAttribute,
         (&value, GD_CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, triple, device));
    expect(value == 1024);
    good(cuKernelSetAttribute,
         (GD_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 65536, triple, device));
    good(cuKernelGetAttribute,
         (&value, GD_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, triple, device));
    expect(value == 65536);
    good(cuKernelGetParamInfo, (triple, 2, &offset, &bytes));
    expect(offset == 16 && bytes == 4);
    bad(ERROR_NOT_FOUND, cuLibraryGetKernel, (&triple, library, "nothing"));
    bad(ERROR_NOT_FOUND, cuLibraryGetGlobal, (&address, &bytes, library, "nothing"));
    bad(ERROR_INVALID_VALUE, cuLibraryGetKernel, (NULL, library, "triple"));
    bad(ERROR_INVALID_VALUE, cuLibraryGetKernel, (&triple, library, NULL));
    bad(ERROR_INVALID_VALUE, cuLibraryGetKernelCount, (NULL, library));
    bad(ERROR_INVALID_VALUE, cuLibraryEnumerateKernels, (NULL, 2, library));
    bad(ERROR_INVALID_VALUE, cuLibraryGetModule, (NULL, library));
    bad(ERROR_INVALID_VALUE, cuLibraryGetGlobal, (&address, &bytes, library, NULL));
    bad(ERROR_INVALID_VALUE, cuKernelGetFunction, (NULL, triple));
    bad(ERROR_INVALID_VALUE, cuKernelGetLibrary, (NULL, triple));
    bad(ERROR_INVALID_VALUE, cuKernelGetName, (NULL, triple));
    bad(ERROR_INVALID_VALUE, cuKernelGetAttribute, (NULL, 0, triple, device));
    bad(ERROR_INVALID_VALUE, cuKernelGetAttribute, (&value, 1000, triple, device));
    bad(ERROR_INVALID_DEVICE, cuKernelGetAttribute, (&value, 0, triple, 1000));
    bad(ERROR_INVALID_VALUE, cuKernelSetAttribute, (1000, 0, triple, device));
    bad(ERROR_INVALID_DEVICE, cuKernelSetAttribute,
        (GD_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 0, triple, 1000));
    bad(ERROR_INVALID_VALUE, cuKernelGetParamInfo, (triple, 3, &offset, &bytes));
    good(cuLibraryUnload, (library));
}

TEST(libraries, libraries_from_files)
{
    gd_CUlibrary library = NULL;
    gd_CUkernel triple = NULL;
    char path[64];

    write_file(path, sizeof path, text);
    good(cuLibraryLoadFromFile, (&library, path, NULL, NULL, 0, NULL, NULL, 0));
    unlink(path);
    good(cuLibraryGetKernel, (&triple, library, "triple"));
    check_triple(triple);
    good(cuLibraryUnload, (library));
    bad(ERROR_FILE_NOT_FOUND, cuLibraryLoadFromFile,
        (&library, "/no/such/file", NULL, NULL, 0, NULL, NULL, 0));
    bad(ERROR_INVALID_VALUE, cuLibraryLoadFromFile, (NULL, path, NULL, NULL, 0, NULL, NULL, 0));
    bad(ERROR_INVALID_VALUE, cuLibraryLoadFromFile, (&library, NULL, NULL, NULL, 0, NULL, NULL, 0));
    bad(ERROR_INVALID_VALUE, cuLibraryLoadData, (NULL, text, NULL, NULL, 0, NULL, NULL, 0));
    bad(ERROR_INVALID_VALUE, cuLibraryLoadData, (&library, NULL, NULL, NULL, 0, NULL, NULL, 0));
    if (!DIFFERS(LIBRARIES_ARE_READ_LATE))
        bad(ERROR_INVALID_PTX, cuLibraryLoadData, (&library, wrong, NULL, NULL, 0, NULL, NULL, 0));
}

/* A managed variable has one address, for the host too. */
TEST(libraries, managed_variables)
{
    static const char managed[] =
        PTX_HEAD ".visible .global .align 4 .u32 plain = 3;\n"
                 ".visible .global .attribute(.managed) .align 4 .u32 counter = 5;\n"
                 ".visible .entry count() {\n"
                 "    .reg .u32 %r;\n"
                 "    ld.global.u32 %r, [counter];\n"
                 "    add.u32 %r, %r, 1;\n"
                 "    st.global.u32 [counter], %r;\n"
                 "    ret;\n}\n";
    gd_CUlibrary library = NULL;
    gd_CUkernel count = NULL;
    gd_CUmodule module = NULL;
    gd_CUfunction function = NULL;
    gd_CUdeviceptr address = 0, again = 0;
    size_t bytes = 0;
    unsigned is_managed = 0;

    good(cuLibraryLoadData, (&library, managed, NULL, NULL, 0, NULL, NULL, 0));
    good(cuLibraryGetManaged, (&address, &bytes, library, "counter"));
    expect(bytes == 4 && *(volatile unsigned *)(uintptr_t)address == 5);
    good(cuLibraryGetGlobal, (&again, &bytes, library, "counter"));
    expect(again == address);
    good(cuPointerGetAttribute, (&is_managed, GD_CU_POINTER_ATTRIBUTE_IS_MANAGED, address));
    expect(is_managed == 1);
    good(cuLibraryGetKernel, (&count, library, "count"));
    run(count, 1, 1, NULL);
    good(cuCtxSynchronize, ());
    expect(*(volatile unsigned *)(uintptr_t)address == 6);
    good(cuLibraryGetModule, (&module, library));
    good(cuModuleGetGlobal_v2, (&again, &bytes, module, "counter"));
    expect(again == address);
    good(cuModuleGetFunction, (&function, module, "count"));
    run(function, 1, 1, NULL);
    good(cuCtxSynchronize, ());
    expect(*(volatile unsigned *)(uintptr_t)address == 7);
    good(cuLibraryGetManaged, (NULL, &bytes, library, "counter"));
    bad(ERROR_NOT_PERMITTED, cuModuleUnload, (module));
    bad(ERROR_NOT_FOUND, cuLibraryGetManaged, (&address, &bytes, library, "plain"));
    bad(ERROR_NOT_FOUND, cuLibraryGetManaged, (&address, &bytes, library, "nothing"));
    bad(ERROR_INVALID_VALUE, cuLibraryGetManaged, (NULL, NULL, library, "counter"));
    bad(ERROR_INVALID_VALUE, cuLibraryGetManaged, (&address, &bytes, library, NULL));
    bad(ERROR_INVALID_HANDLE, cuLibraryGetManaged, (&address, &bytes, NULL, "counter"));
    good(cuLibraryUnload, (library));
    module = load(managed);
    good(cuModuleGetGlobal_v2, (&address, &bytes, module, "counter"));
    expect(*(volatile unsigned *)(uintptr_t)address == 5);
    good(cuModuleUnload, (module));
}

TEST(libraries, null_handles_of_libraries)
{
    gd_CUkernel kernel = NULL;
    gd_CUlibrary owner = NULL;
    gd_CUmodule module = NULL;
    gd_CUdeviceptr address = 0;
    size_t bytes = 0;
    unsigned count = 0;
    int value = 0;
    const char *name = NULL;

    bad(ERROR_INVALID_HANDLE, cuLibraryUnload, (NULL));
    bad(ERROR_INVALID_HANDLE, cuLibraryGetKernel, (&kernel, NULL, "triple"));
    bad(ERROR_INVALID_HANDLE, cuLibraryGetKernelCount, (&count, NULL));
    bad(ERROR_INVALID_HANDLE, cuLibraryEnumerateKernels, (&kernel, 1, NULL));
    bad(ERROR_INVALID_HANDLE, cuLibraryGetModule, (&module, NULL));
    bad(ERROR_INVALID_HANDLE, cuLibraryGetGlobal, (&address, &bytes, NULL, "table"));
    bad(ERROR_INVALID_HANDLE, cuKernelGetFunction, (&kernel, NULL));
    bad(ERROR_INVALID_HANDLE, cuKernelGetLibrary, (&owner, NULL));
    bad(ERROR_INVALID_VALUE, cuKernelGetName, (&name, NULL));
    bad(ERROR_INVALID_HANDLE, cuKernelGetAttribute, (&value, 0, NULL, device));
    bad(ERROR_INVALID_HANDLE, cuKernelSetAttribute, (8, 0, NULL, device));
    bad(ERROR_INVALID_VALUE, cuKernelGetParamInfo, (NULL, 0, &bytes, &bytes));
}

SUITE(module, "module")
