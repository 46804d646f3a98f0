-- The LuaJIT binding on the emulated driver. PTX names the text that is loaded; the last line sums up the cases.

local ffi = require("ffi")
local griddep = require("griddep")
local file = assert(io.open(os.getenv("PTX")))
local PTX = file:read("*a")
file:close()
ffi.cdef("int fork(void); int waitpid(int process, int *status, int options); void _exit(int status);")

local COUNT = 1000
local SHAPE = {grid = 8, block = {128, 1, 1}}
local passed, failed = 0, 0

local function case(name, test)
    local good, problem = pcall(test)
    collectgarbage()
    collectgarbage()
    if good then
        passed = passed + 1
    else
        failed = failed + 1
        print("failed: " .. name .. ": " .. tostring(problem))
    end
end

local function equal(found, expected)
    if found ~= expected then error(("%s, not %s"):format(tostring(found), tostring(expected)), 2) end
end

local function fails(status, ...)
    local good, problem = pcall(...)
    equal(good, false)
    equal(problem.status, status)
    return problem
end

local function floats()
    local host = ffi.new("float[?]", COUNT)
    for i = 0, COUNT - 1 do host[i] = i end
    return host
end

local function setup()
    local runtime = griddep.open({driver = "emulated"})
    local module = runtime:load(PTX, "chain.ptx")
    local x, y, z = runtime:copy_in(floats()), runtime:allocate(4 * COUNT), runtime:allocate(4 * COUNT)
    local chain = runtime:chain()
    chain:add(module:kernel("square"), SHAPE, {x, y, COUNT})
    chain:add(module:kernel("shift"), SHAPE, {y, z, 0.5, COUNT})
    return runtime, module, chain, x, z
end

local function check_result(runtime, z, stream)
    local host = runtime:read(z, ffi.new("float[?]", COUNT), stream)
    for i = 0, COUNT - 1 do equal(host[i], i * i + 0.5) end
end

case("every mode", function()
    local runtime, _, chain, _, z = setup()
    local stream = runtime:stream()
    for _, mode in ipairs({"serial", "pdl", "graph", "graph-pdl"}) do
        runtime:write(z, ffi.new("float[?]", COUNT))
        chain:prepare(mode)
        chain:run(mode, stream)
        check_result(runtime, z, stream)
        local overlaps = mode:find("pdl") ~= nil
        equal(chain:hop(mode, 2).reason, overlaps and griddep.REASON_SET or griddep.REASON_OFF)
    end
end)

case("overlap shortens the chain", function()
    local runtime, _, chain = setup()
    local serial = runtime:time(function() chain:run("serial") end)
    equal(runtime:time(function() chain:run("pdl") end) < serial, true)
end)

case("arguments", function()
    local runtime, module, _, x, z = setup()
    local kernel = module:kernel("shift")
    equal(kernel.parameters[3].type, "f32")
    for _, arguments in ipairs({
        {x, z, 2.5, COUNT},
        {x.address, z.address, ffi.new("float[1]", 2.5), ffi.new("uint32_t", COUNT)},
        {x, z, "\0\0\32\64", COUNT},
    }) do
        runtime:write(z, ffi.new("float[?]", COUNT))
        equal(kernel:launch(SHAPE, arguments), griddep.REASON_SET)
        equal(runtime:read(z, ffi.new("float[?]", COUNT))[3], 5.5)
    end
    fails(griddep.ERROR_SIGNATURE, kernel.launch, kernel, SHAPE, {x, z, 2.5})
    local good, problem = pcall(kernel.launch, kernel, SHAPE, {x, z, {}, COUNT})
    equal(good, false)
    equal(problem:match("argument 3") ~= nil, true)
end)

case("errors have status and position", function()
    local runtime, module = setup()
    local broken = PTX:gsub("add.f32 %%v, %%v, %%b;", "add.f32 %%v, %%v %%b;")
    local problem = fails(griddep.ERROR_SYNTAX, runtime.load, runtime, broken, "broken.ptx")
    equal(problem.file .. ":" .. problem.line .. ":" .. problem.column, "broken.ptx:57:20")
    equal(tostring(problem):match("^GRIDDEP_ERROR_SYNTAX: .*57 | ") ~= nil, true)
    fails(griddep.ERROR_NOT_FOUND, module.kernel, module, "cube")
    equal(griddep.NO_SUCH_CONSTANT, nil)
end)

case("collection while the device works", function()
    local runtime, module, chain, x, z = setup()
    chain:run("pdl")
    module, chain, x = nil, nil, nil
    collectgarbage()
    collectgarbage()
    check_result(runtime, z)
end)

case("a chain keeps its memory", function()
    local runtime, _, chain, _, z = setup()
    collectgarbage()
    collectgarbage()
    local other = runtime:copy_in(ffi.new("float[?]", COUNT))
    chain:run("graph-pdl")
    check_result(runtime, z)
    equal(other.bytes, 4 * COUNT)
end)

case("closing in any order", function()
    local runtime, module, chain, x, z = setup()
    runtime:close()
    fails(griddep.ERROR_ARGUMENT, runtime.info, runtime)
    chain:run("pdl")
    module:close()
    chain:close()
    chain:close()
    fails(griddep.ERROR_ARGUMENT, chain.run, chain, "pdl")
    x:close()
    z:close()
end)

case("log function, and an error in it", function()
    local heard = 0
    local runtime = griddep.open({driver = "emulated", log_level = griddep.LOG_DEBUG, log = function(_, message)
        heard = heard + #message
        error("from a log function")
    end})
    runtime:load_shelf("vector_add")
    equal(heard > 0, true)
end)

case("a child of fork ends nothing", function()
    local runtime, module, chain, x, z = setup()
    chain:run("graph-pdl")
    local child = ffi.C.fork()
    if child == 0 then
        local handle = chain.handle
        module:close()
        x:close()
        chain:close()
        runtime:close()
        ffi.C._exit(griddep.C.griddep_chain_length(handle) == 2 and 0 or 1)
    end
    local status = ffi.new("int[1]")
    ffi.C.waitpid(child, status, 0)
    equal(status[0], 0)
    check_result(runtime, z)
end)

print(("%d passed, %d failed, 0 skipped"):format(passed, failed))
os.exit(failed == 0 and 0 or 1, true)
