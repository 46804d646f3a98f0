// Two kernels, the second of which starts before the first has ended: PTX from a string, run, read
// back.
//
//     c++ -std=c++17 example.cc $(pkg-config --cflags --libs griddep) && ./a.out
//
// On the GPU, or on the emulated driver where there is none (GRIDDEP_DRIVER=emulated: in any case).
#include "griddep.hpp"

#include <cstdio>
#include <string>
#include <vector>

static const std::string ptx = R"(.version 7.8
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
)";

int main()
{
    const uint32_t count = 1000, block = 128;
    griddep::config shape;
    shape.grid = (count + block - 1) / block;
    shape.block = block;

    griddep::runtime runtime;
    std::puts(runtime.info().emulated ? "emulated" : "on a GPU");
    griddep::module module = runtime.load(ptx, "example.ptx");

    std::vector<float> host(count);
    for (uint32_t i = 0; i < count; i++)
        host[i] = float(i);
    griddep::memory<float> x(runtime, host), y(runtime, count), z(runtime, count);

    griddep::chain chain = runtime.chain();
    chain.add(module.kernel("square"), shape, x, y, count);
    chain.add(module.kernel("shift"), shape, y, z, 0.5f, count);
    chain.run("pdl");
    for (uint32_t i = 0; i < chain.length(); i++) {
        griddep_hop_info hop = chain.hop("pdl", i);
        std::printf("%s: %s\n", hop.kernel, griddep_text(GRIDDEP_TEXT_REASON, hop.reason));
    }

    host = z.read();
    std::printf("result: %.1f %.1f %.1f %.1f ... %.1f\n", host[0], host[1], host[2], host[3],
                host[count - 1]);

    std::string broken = ptx;
    broken.replace(broken.find("mul.f32 %v, %v, %v;"), 19, "mul.f32 %v, %v %v;");
    try {
        runtime.load(broken, "broken.ptx");
    } catch (const griddep::error &error) {
        std::printf("%s at %s:%d:%d\n", error.name(), error.file.c_str(), int(error.line),
                    int(error.column));
    }
}
