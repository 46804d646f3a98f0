-- Uses libgriddep.so from LuaJIT, on the fake driver: what stands between the ffi.cdef markers of griddep.h is given to
-- ffi.cdef as it is. LIBRARY, FAKE_DRIVER, HEADER and KERNELS name the files. The last line sums up the cases.

local ffi = require("ffi")

local function read_file(path)
    local file = assert(io.open(path, "rb"))
    local text = file:read("*a")
    file:close()
    return text
end

local PTX = read_file(os.getenv("KERNELS"))

local function read_declarations(path)
    local text = read_file(path)
    local declarations = text:match("/%* ffi%.cdef begin %*/(.*)/%* ffi%.cdef end %*/")
    return declarations or error("no markers in " .. path)
end

ffi.cdef(read_declarations(os.getenv("HEADER")))

-- The part of the fake driver's interface, and of CUlaunchConfig, that is used here.
ffi.cdef([[
typedef struct driver_attribute { int32_t id; uint32_t pad; int32_t value[16]; } driver_attribute;
typedef struct driver_config {
    uint32_t grid[3], block[3], shared_bytes;
    void *stream;
    driver_attribute *attributes;
    uint32_t attribute_count;
} driver_config;
typedef struct fake_launch {
    const char *kernel;
    void *function;
    driver_config config;
    const unsigned char *parameters;
    size_t parameter_bytes;
    int32_t programmatic, captured, from_graph, reserved;
} fake_launch;
typedef struct add_parameters { uint64_t x, y, out; uint32_t count; } add_parameters;
void fake_driver_reset(void);
uint64_t fake_driver_launches(void);
int32_t fake_driver_launch(uint64_t index, fake_launch *launch);
uint64_t fake_driver_executions(void);
int32_t fake_driver_execution(uint64_t index, fake_launch *launch);
uint64_t fake_driver_leaks(char *buffer, size_t size);
]])

local FAKE_PATH = os.getenv("FAKE_DRIVER")
local griddep = ffi.load(os.getenv("LIBRARY"))
local fake = ffi.load(FAKE_PATH)

---------------------------------------------------------------------------------------------------------------------
-- Help

local function equal(found, expected, what)
    if found ~= expected then
        error(("%s is %s, not %s"):format(what or "it", tostring(found), tostring(expected)), 2)
    end
end

local function contains(text, part)
    if not text:find(part, 1, true) then
        error(("%q does not contain %q"):format(text, part), 2)
    end
end

local function new_error()
    local problem = ffi.new("griddep_error")
    griddep.griddep_error_init(problem)
    return problem
end

-- Calls a function whose last parameter is a griddep_error; the call has to succeed.
local function call(name, ...)
    local problem = new_error()
    local arguments = { ... }
    local count = select("#", ...)
    arguments[count + 1] = problem
    local status = griddep[name](unpack(arguments, 1, count + 1))
    if status ~= 0 then
        error(name .. ": " .. ffi.string(griddep.griddep_status_name(status)) .. ": " .. ffi.string(problem.text), 2)
    end
end

-- The same for a call that has to fail; gives the error.
local function refused(status, name, ...)
    local problem = new_error()
    local arguments = { ... }
    local count = select("#", ...)
    arguments[count + 1] = problem
    equal(griddep[name](unpack(arguments, 1, count + 1)), status, "status of " .. name)
    equal(problem.status, status, "status in the error")
    return problem
end

local function sized(type_name)
    local object = ffi.new(type_name)
    object.size = ffi.sizeof(type_name)
    return object
end

local function config_of(grid, block)
    local config = sized("griddep_launch_config")
    config.grid[0], config.block[0] = grid, block
    return config
end

-- Arguments of `add`: three addresses and a u32.
local function add_arguments(x, y, out, count)
    local arguments = ffi.new("griddep_argument[4]")
    for index, array in ipairs({ x, y, out }) do
        arguments[index - 1].bytes = 8
        arguments[index - 1].value = array
    end
    arguments[3].bytes, arguments[3].value = 4, count
    return arguments
end

-- Device memory that holds these floats; free_all gives it back.
local held = {}

local function allocate(runtime, ...)
    local values = ffi.new("float[?]", select("#", ...), ...)
    local address = ffi.new("uint64_t[1]")
    call("griddep_memory_allocate", runtime, ffi.sizeof(values), address)
    call("griddep_memory_write", runtime, address[0], values, ffi.sizeof(values), nil)
    held[#held + 1] = address[0]
    return address[0]
end

local function read(runtime, address, count)
    local values = ffi.new("float[?]", count)
    call("griddep_memory_read", runtime, values, address, ffi.sizeof(values), nil)
    return values
end

local function free_all(runtime)
    for _, address in ipairs(held) do
        call("griddep_memory_free", runtime, address)
    end
    held = {}
end

local function open()
    local options = sized("griddep_runtime_options")
    options.driver, options.store_directory = FAKE_PATH, ""
    local runtime = ffi.new("griddep_runtime *[1]")
    call("griddep_runtime_open", options, runtime)
    local module = ffi.new("griddep_module *[1]")
    call("griddep_module_load", runtime[0], PTX, #PTX, nil, module)
    local add = ffi.new("griddep_kernel *[1]")
    call("griddep_module_find_kernel", module[0], "add", add)
    return runtime[0], module[0], add[0]
end

---------------------------------------------------------------------------------------------------------------------
-- Cases

local cases = {}

function cases.version_and_constants()
    equal(ffi.string(griddep.griddep_version_text()), ("%d.%d.%d"):format(
        griddep.GRIDDEP_VERSION_MAJOR, griddep.GRIDDEP_VERSION_MINOR, griddep.GRIDDEP_VERSION_PATCH))
    -- By name from the library, and as the enumerators that ffi.cdef read.
    local value = ffi.new("int32_t[1]")
    local count = 0
    while true do
        local name = griddep.griddep_constant_name(count, value)
        if name == nil then
            break
        end
        equal(tonumber(griddep[ffi.string(name)]), value[0], ffi.string(name))
        count = count + 1
    end
    assert(count > 70)
    equal(griddep.griddep_constant_find("GRIDDEP_REASON_FIRST", value, nil), 0)
    equal(value[0], tonumber(griddep.GRIDDEP_REASON_FIRST))
end

function cases.every_declaration_is_exported()
    local count = 0
    for name in read_declarations(os.getenv("HEADER")):gsub("/%*.-%*/", ""):gmatch("[%s*](griddep_[%w_]+)%(") do
        assert(griddep[name] ~= nil, name)
        count = count + 1
    end
    assert(count > 50)
end

function cases.syntax_error_has_a_position()
    local text = ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry broken(\n\t.param .u64 )\n{\n    ret;\n}\n"
    local ptx = ffi.new("griddep_ptx *[1]")
    local problem = refused(griddep.GRIDDEP_ERROR_SYNTAX, "griddep_ptx_parse", text, #text, "broken.ptx", ptx)
    equal(ffi.string(problem.file), "broken.ptx")
    equal(problem.line, 5, "line")
    equal(problem.column, 14, "column")
    contains(ffi.string(problem.text), "5 | \t.param .u64 )\n")
    assert(ptx[0] == nil)
end

function cases.kernel_tells_parameters_and_traits()
    local runtime, module, add = open()
    local info = sized("griddep_kernel_info")
    call("griddep_kernel_get_info", add, info)
    equal(ffi.string(info.name), "add")
    equal(info.parameter_count, 4, "parameter_count")
    equal(info.parameter_bytes, 28, "parameter_bytes")
    equal(info.traits, tonumber(griddep.GRIDDEP_TRAIT_KNOWN + griddep.GRIDDEP_TRAIT_WAITS
        + griddep.GRIDDEP_TRAIT_WAITS_ALWAYS + griddep.GRIDDEP_TRAIT_TRIGGERS), "traits")
    local parameter = sized("griddep_parameter_info")
    call("griddep_kernel_get_parameter", add, 3, parameter)
    equal(ffi.string(parameter.name), "count")
    equal(ffi.string(parameter.type), "u32")
    equal(parameter.offset, 24, "offset")
    refused(griddep.GRIDDEP_ERROR_NOT_FOUND, "griddep_kernel_get_parameter", add, 4, parameter)
    griddep.griddep_module_unload(module)
    griddep.griddep_runtime_close(runtime)
end

function cases.launch_arrives_as_it_was_asked_for()
    local runtime, module, add = open()
    local x, y, out = allocate(runtime, 1, 2, 3), allocate(runtime, 10, 20, 30), allocate(runtime, 0, 0, 0)
    local config = config_of(7, 128)
    config.grid[1] = 2
    local reason = ffi.new("int32_t[1]", -1)
    call("griddep_launch", add, config, add_arguments(x, y, out, 3), 4, reason)
    equal(reason[0], tonumber(griddep.GRIDDEP_REASON_SET), "reason")
    equal(read(runtime, out, 3)[2], 33)

    equal(fake.fake_driver_launches(), 1ULL, "number of launches")
    local launch = ffi.new("fake_launch")
    equal(fake.fake_driver_launch(0, launch), 1)
    equal(ffi.string(launch.kernel), "add")
    local grid, block = launch.config.grid, launch.config.block
    equal(("%d %d %d, %d %d %d"):format(grid[0], grid[1], grid[2], block[0], block[1], block[2]), "7 2 1, 128 1 1")
    local expected = ffi.new("add_parameters", x, y, out, 3)
    equal(launch.parameter_bytes, 28ULL, "parameter_bytes")
    equal(ffi.string(launch.parameters, 28), ffi.string(expected, 28), "parameters")
    local found = 0
    for index = 0, launch.config.attribute_count - 1 do
        local attribute = launch.config.attributes[index]
        if attribute.id == 6 then
            found = attribute.value[0]
        end
    end
    equal(found, 1, "attribute 6")
    free_all(runtime)
    griddep.griddep_module_unload(module)
    griddep.griddep_runtime_close(runtime)
end

function cases.wrong_argument_count_is_refused()
    local runtime, module, add = open()
    local reason = ffi.new("int32_t[1]", -1)
    local problem = refused(griddep.GRIDDEP_ERROR_SIGNATURE, "griddep_launch", add, config_of(1, 1),
        add_arguments(0, 0, 0, 0), 3, reason)
    contains(ffi.string(problem.text), "add")
    contains(ffi.string(problem.text), "3")
    contains(ffi.string(problem.text), "4")
    equal(reason[0], -1)
    equal(fake.fake_driver_launches(), 0ULL)
    griddep.griddep_module_unload(module)
    griddep.griddep_runtime_close(runtime)
end

function cases.chain_runs_in_all_modes_and_outlives_what_it_is_made_of()
    local runtime, module, add = open()
    local chain_box = ffi.new("griddep_chain *[1]")
    call("griddep_chain_create", runtime, chain_box)
    local chain = chain_box[0]
    local x, y = allocate(runtime, 1, 2), allocate(runtime, 10, 20)
    local between, out = allocate(runtime, 0, 0), allocate(runtime, 0, 0)
    call("griddep_chain_add", chain, add, config_of(1, 32), add_arguments(x, y, between, 2), 4)
    call("griddep_chain_add", chain, add, config_of(1, 32), add_arguments(between, y, out, 2), 4)
    griddep.griddep_runtime_close(runtime)
    griddep.griddep_module_unload(module)
    local other, second = open()

    for mode = 0, tonumber(griddep.GRIDDEP_MODE_COUNT) - 1 do
        local name = ffi.string(griddep.griddep_text(griddep.GRIDDEP_TEXT_MODE, mode))
        call("griddep_memory_fill", other, out, 0, 8, nil)
        local before = fake.fake_driver_executions()
        call("griddep_chain_run", chain, mode, nil)
        local sums = read(other, out, 2)
        equal(sums[0], 21, name .. ": first sum")
        equal(sums[1], 42, name .. ": second sum")
        equal(fake.fake_driver_executions(), before + 2ULL, name .. ": executions")
        local hop = sized("griddep_hop_info")
        call("griddep_chain_get_hop", chain, mode, 1, hop)
        local pdl = name:find("pdl") ~= nil
        equal(hop.reason, tonumber(pdl and griddep.GRIDDEP_REASON_SET or griddep.GRIDDEP_REASON_OFF), name .. ": reason")
        equal(hop.edge, not name:find("graph") and -1 or pdl and 1 or 0, name .. ": edge")
    end
    griddep.griddep_chain_destroy(chain)
    free_all(other)
    griddep.griddep_module_unload(second)
    griddep.griddep_runtime_close(other)
end

---------------------------------------------------------------------------------------------------------------------

local names = {}
for name in pairs(cases) do
    names[#names + 1] = name
end
table.sort(names)

local failed = 0
for _, name in ipairs(names) do
    fake.fake_driver_reset()
    local good, message = pcall(cases[name])
    local leaks = ffi.new("char[256]")
    if good and fake.fake_driver_leaks(leaks, 256) ~= 0 then
        good, message = false, "left behind: " .. ffi.string(leaks)
    end
    if not good then
        failed = failed + 1
        print(("failed: %s: %s"):format(name, tostring(message)))
    end
end
print(("%d passed, %d failed, 0 skipped"):format(#names - failed, failed))
os.exit(failed == 0 and 0 or 1)
