-- The LuaJIT binding on the emulated driver. PTX names the text that is loaded; the last line sums up the cases.

local ffi = require("ffi")
local griddep = require("griddep")
local file = assert(io.open(os.getenv("PTX")))
local PTX = file:read("*a")
file:close()
ffi.cdef("int fork(void); int waitpid(int process, int *status, int options); void _exit(int status);")
ffi.cdef("struct griddep_test_poll {int fd; short events, revents;}; int poll(struct griddep_test_poll *list, unsigned long count, int timeout);")

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
    local runtime, _, chain, x, z = setup()
    local stream = runtime:stream()
    for _, mode in ipairs({"serial", "pdl", "graph", "graph-pdl"}) do
        runtime:write(z, ffi.new("float[?]", COUNT))
        chain:prepare(mode)
        chain:run(mode, stream)
        check_result(runtime, z, stream)
        local overlaps = mode:find("pdl") ~= nil
        equal(chain:hop(mode, 2).reason, overlaps and griddep.REASON_SET or griddep.REASON_OFF)
    end
    chain:reaches(1, {{x, 4, griddep.ACCESS_READ}})
    equal(pcall(chain.reaches, chain, 1, {{x, 4, griddep.ACCESS_UNKNOWN}}), false)
    equal(chain:hop("pdl", 2).reason, griddep.REASON_SET)
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

case("options and numbers that do not exist are refused", function()
    local runtime, module, _, x, z = setup()
    local kernel = module:kernel("square")
    local function launch(changes, count)
        local options = {grid = 8, block = 128}
        for name, value in pairs(changes) do options[name] = value end
        return kernel:launch(options, {x, z, count or COUNT})
    end
    for message, wrong in pairs({
        ["'struct griddep_launch_config' has no member named 'shared_memory'"] = function() launch({shared_memory = 4}) end,
        ["has no member named 'drvier'"] = function() griddep.open({drvier = "nvidia"}) end,
        ["device 99 does not exist"] = function() griddep.open({driver = "emulated", device = 99}) end,
        ["grid is 4294967297, which is no uint32_t"] = function() launch({grid = 2 ^ 32 + 1}) end,
        ["grid is 1.5, which is no uint32_t"] = function() launch({grid = {1, 1.5}}) end,
        ["block is %-1, which is no uint32_t"] = function() launch({block = -1}) end,
        ["grid has more than three dimensions"] = function() launch({grid = {1, 1, 1, 1}}) end,
        ["shared_bytes is 4294967312, which does not fit"] = function() launch({shared_bytes = 2 ^ 32 + 16}) end,
        ["argument 3 is 1099511627776, which is no uint32_t"] = function() launch({}, 2 ^ 40) end,
        ["argument 3 is 10.5, which is no uint32_t"] = function() launch({}, 10.5) end,
        ["takes 3 arguments, 4 are given"] = function() kernel:launch(SHAPE, {x, z, COUNT, 5}) end,
        ["bytes is %-1, which is no uint64_t"] = function() runtime:allocate(-1) end,
        ["bytes is 1.5, which is no uint64_t"] = function() runtime:allocate(1.5) end,
        ["4004 bytes do not fit into memory of 4000"] = function() runtime:write(z, ffi.new("float[1001]")) end,
        ["8000 bytes do not fit into memory of 4000"] = function() runtime:read(z, ffi.new("float[2000]")) end,
    }) do
        local good, problem = pcall(wrong)
        equal(good, false)
        if not tostring(problem):match(message) then equal(tostring(problem), message) end
    end
    -- Compilers write .u32 for int too.
    equal(module:kernel("shift"):launch({grid = 1, block = 1}, {x, z, 0.5, -1}), griddep.REASON_SET)
end)

case("what was closed is refused", function()
    local runtime, module, chain, x, z = setup()
    local stream, kernel, other = runtime:stream(), module:kernel("square"), runtime:load_file(os.getenv("PTX"))
    local of_other, memory = other:kernel("square"), runtime:allocate(4 * COUNT)
    for _, item in ipairs({memory, stream, other}) do item:close() end
    equal(memory.address, nil)
    for what, uses in pairs({
        memory = {
            function() kernel:launch(SHAPE, {x, memory, COUNT}) end,
            function() runtime:read(memory, floats()) end,
            function() runtime:write(memory, floats()) end,
        },
        stream = {
            function() kernel:launch({grid = 8, block = 128, stream = stream}, {x, z, COUNT}) end,
            function() runtime:synchronize(stream) end,
            function() chain:run("pdl", stream) end,
        },
        ["kernel's module"] = {
            function() of_other:launch(SHAPE, {x, z, COUNT}) end,
            function() chain:add(of_other, SHAPE, {x, z, COUNT}) end,
        },
    }) do
        for _, use in ipairs(uses) do equal(fails(griddep.ERROR_ARGUMENT, use).text, "the " .. what .. " has been closed") end
    end
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

case("a chain changes between runs", function()
    for _, mode in ipairs({"serial", "pdl", "graph", "graph-pdl"}) do
        local runtime, module, _, x, z = setup()
        local y, w = runtime:allocate(4 * COUNT), runtime:allocate(4 * COUNT)
        local chain = runtime:chain()
        chain:fill(y, 0, 4 * COUNT)
        chain:add(module:kernel("square"), {grid = SHAPE.grid, block = SHAPE.block, name = "first"}, {x, y, COUNT})
        chain:add(module:kernel("shift"), SHAPE, {y, z, 0.5, COUNT})
        chain:copy(w, z, 4 * COUNT, {name = "out"})
        local set = chain:add_argument_set()
        chain:select_argument_set(set)
        chain:set_arguments("shift", {y, z, 1.5, COUNT})
        chain:set_config("first", SHAPE)
        for _, turn in ipairs({1, set, 1}) do
            chain:select_argument_set(turn)
            chain:run_many(2, mode)
            local values = runtime:read(w, ffi.new("float[?]", COUNT))
            equal(values[3], turn == 1 and 9.5 or 10.5)
        end
        chain:set_copy("out", w, x, 4 * COUNT)
        chain:set_fill(1, y, 1, 4)
        chain:run(mode)
        equal(runtime:read(w, ffi.new("float[?]", COUNT))[3], 3)
        equal(chain:hop(mode, "out").kernel, "copy")
        equal(chain:find("out"), 4)
    end
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

case("completions, copies and fills", function()
    local runtime, _, chain, x, z = setup()
    local stream, completion = runtime:stream({priority = 0, blocking = true}), runtime:completion()
    equal(completion:take(), 0)
    chain:run("pdl", stream)
    completion:arm(stream)
    completion:arm(stream)
    local polled = ffi.new("struct griddep_test_poll", {completion:descriptor(), 1, 0})
    equal(ffi.C.poll(polled, 1, -1), 1)
    runtime:synchronize(stream)
    equal(completion:take(), 2)
    equal(runtime:query(stream), true)
    check_result(runtime, z)
    runtime:fill(x, 0x3f800000, COUNT, 4, stream)
    runtime:copy(z, x, 4 * COUNT, stream)
    runtime:synchronize(stream)
    equal(runtime:read(z, ffi.new("float[?]", COUNT))[COUNT - 1], 1)
    fails(griddep.ERROR_ARGUMENT, runtime.copy, runtime, z, x, 4 * COUNT + 1)
    fails(griddep.ERROR_LIMIT, runtime.stream, runtime, {priority = -99})
    equal(griddep.devices("emulated")[1].capability, runtime:info().capability)
    completion:arm(stream)
    completion:close()
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

case("links, shared modules, managed variables", function()
    local caller, callee, managed = ".version 8.0\n.target sm_90\n.address_size 64\n.extern .func leave();\n.visible .entry k()\n{\ncall leave;\nret;\n}\n", ".version 8.0\n.target sm_90\n.address_size 64\n.visible .func leave()\n{\nret;\n}\n",
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .global .attribute(.managed) .align 4 .u32 counter = 5;\n.visible .entry up()\n{\n.reg .u32 %r;\ngriddepcontrol.wait;\nld.global.u32 %r, [counter];\nadd.u32 %r, %r, 1;\nst.global.u32 [counter], %r;\nret;\n}\n"
    local runtime = griddep.open({driver = "emulated"})
    local part = griddep.open({driver = "emulated", multiprocessors = 1})
    equal(runtime:link({caller, callee}):info().kernel_count, 1)
    fails(griddep.ERROR_COMPILE, function() runtime:link({caller}) end)
    local up = runtime:load(managed, "up.ptx", griddep.MODULE_LIBRARY)
    local shared = up:share(part)
    equal(part:info().multiprocessors, 1)
    up:kernel():launch({grid = 1, block = 1}, {})
    runtime:synchronize()
    shared:kernel():launch({grid = 1, block = 1}, {})
    part:synchronize()
    local counter, count = up:managed("counter", "uint32_t")
    equal(counter[0], 7)
    equal(count, 1)
    equal(select(2, up:variable("counter")), 4)
    fails(griddep.ERROR_NOT_FOUND, function() up:managed("none", "uint32_t") end)
    fails(griddep.ERROR_UNSUPPORTED, function() up:kernel():state_traits(0) end)
    up:kernel():state_traits(griddep.TRAIT_WAITS_ALWAYS)
end)

case("a child of fork ends nothing", function()
    local runtime, module, chain, x, z = setup()
    chain:run("graph-pdl")
    local child = ffi.C.fork()
    if child == 0 then
        -- A driver refuses each call in a child; what is closed there ends nothing of the parent's.
        local handle, address, word = runtime.handle, x.address, ffi.new("uint32_t[1]")
        for _, item in ipairs({chain, module, x, runtime}) do item:close() end
        ffi.C._exit(griddep.C.griddep_memory_read(handle, word, address, 4, nil, nil) == 0 and 1 or 0)
    end
    local status = ffi.new("int[1]")
    ffi.C.waitpid(child, status, 0)
    equal(status[0], 0)
    check_result(runtime, z)
end)

print(("%d passed, %d failed, 0 skipped"):format(passed, failed))
os.exit(failed == 0 and 0 or 1, true)
