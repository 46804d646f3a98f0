"""Two kernels, the second of which starts before the first has ended: PTX from a string, run, read back.

    python3 example.py                          # on the GPU, or on the emulated driver where there is none
    GRIDDEP_DRIVER=emulated python3 example.py
"""

from array import array

import griddep

PTX = """\
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
"""

COUNT, BLOCK = 1000, 128
GRID = (COUNT + BLOCK - 1) // BLOCK


def main():
    with griddep.Runtime() as runtime:
        print("emulated" if runtime.info().emulated else "on a GPU")
        module = runtime.load(PTX, name="example.ptx")
        x = runtime.copy_in(array("f", range(COUNT)))  # a NumPy array does as well
        y, z = runtime.allocate(4 * COUNT), runtime.allocate(4 * COUNT)

        chain = runtime.chain()
        chain.add(module.kernel("square"), GRID, BLOCK, [x, y, COUNT])
        chain.add(module.kernel("shift"), GRID, BLOCK, [y, z, 0.5, COUNT])
        chain.run("pdl")
        for index in range(len(chain)):
            hop = chain.hop("pdl", index)
            print(f"{hop.kernel}: {griddep.reason_text(hop.reason)}")

        result = runtime.read(z, array("f", bytes(4 * COUNT)))
        print("result:", *result[:4], "...", result[-1])

        try:
            runtime.load(PTX.replace("mul.f32 %v, %v, %v;", "mul.f32 %v, %v %v;"), name="broken.ptx")
        except griddep.Error as error:
            print(f"{error.name} at {error.file}:{error.line}:{error.column}")


if __name__ == "__main__":
    main()
