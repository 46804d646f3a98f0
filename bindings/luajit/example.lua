-- Two kernels, the second of which starts before the first has ended: PTX from a string, run, read back.
--
--     luajit example.lua                           on the GPU, or on the emulated driver where there is none
--     GRIDDEP_DRIVER=emulated luajit example.lua

package.path = arg[0]:gsub("[^/]*$", "") .. "?.lua;" .. package.path
local ffi = require("ffi")
local griddep = require("griddep")

local PTX = [[
.version 7.8
.target sm_90
.address_size 64

// y[i] = x[i] * x[i]
.visible .entry square(.param .u64 x, .param .u64 y, .param .u32 count)
{
    .reg .pred %outside;
    .reg .b32 %i, %n, %threads;
    .reg .b64 %from, %to;
    .reg .f32 %v;

    griddepcontrol.launch_dependents;   // what follows may start now, and fetch what it can
    ld.param.u64 %from, [x];
    ld.param.u64 %to, [y];
    ld.param.u32 %n, [count];
    mov.u32 %i, %ctaid.x;
    mov.u32 %threads, %ntid.x;
    mul.lo.u32 %i, %i, %threads;
    mov.u32 %threads, %tid.x;
    add.u32 %i, %i, %threads;
    setp.ge.u32 %outside, %i, %n;
    mad.wide.u32 %from, %i, 4, %from;
    mad.wide.u32 %to, %i, 4, %to;
    griddepcontrol.wait;                // from here on, what came before is done
    @%outside ret;
    ld.global.f32 %v, [%from];
    mul.f32 %v, %v, %v;
    st.global.f32 [%to], %v;
    ret;
}

// y[i] = x[i] + bias
.visible .entry shift(.param .u64 x, .param .u64 y, .param .f32 bias, .param .u32 count)
{
    .reg .pred %outside;
    .reg .b32 %i, %n, %threads;
    .reg .b64 %from, %to;
    .reg .f32 %v, %b;

    griddepcontrol.launch_dependents;
    ld.param.u64 %from, [x];
    ld.param.u64 %to, [y];
    ld.param.f32 %b, [bias];
    ld.param.u32 %n, [count];
    mov.u32 %i, %ctaid.x;
    mov.u32 %threads, %ntid.x;
    mul.lo.u32 %i, %i, %threads;
    mov.u32 %threads, %tid.x;
    add.u32 %i, %i, %threads;
    setp.ge.u32 %outside, %i, %n;
    mad.wide.u32 %from, %i, 4, %from;
    mad.wide.u32 %to, %i, 4, %to;
    griddepcontrol.wait;
    @%outside ret;
    ld.global.f32 %v, [%from];
    add.f32 %v, %v, %b;
    st.global.f32 [%to], %v;
    ret;
}
]]

local COUNT, BLOCK = 1000, 128
local shape = {grid = math.ceil(COUNT / BLOCK), block = BLOCK}
local runtime = griddep.open()
print(runtime:info().emulated == 1 and "emulated" or "on a GPU")

local module = runtime:load(PTX, "example.ptx")
local host = ffi.new("float[?]", COUNT)
for i = 0, COUNT - 1 do host[i] = i end
local x, y, z = runtime:copy_in(host), runtime:allocate(4 * COUNT), runtime:allocate(4 * COUNT)

local chain = runtime:chain()
chain:add(module:kernel("square"), shape, {x, y, COUNT})
chain:add(module:kernel("shift"), shape, {y, z, 0.5, COUNT})
chain:run("pdl")
for index = 1, chain:length() do
    local hop = chain:hop("pdl", index)
    print(hop.kernel .. ": " .. griddep.reason_text(hop.reason))
end

runtime:read(z, host)
print(("result: %.1f %.1f %.1f %.1f ... %.1f"):format(host[0], host[1], host[2], host[3], host[COUNT - 1]))

local _, problem = pcall(runtime.load, runtime, PTX:gsub("mul.f32 %%v, %%v, %%v;", "mul.f32 %%v, %%v %%v;"), "broken.ptx")
print(("%s at %s:%d:%d"):format(problem.name, problem.file, problem.line, problem.column))
