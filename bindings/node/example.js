// Two kernels, the second of which starts before the first has ended: PTX from a string, run, read back.
//
//     npm install && node example.js           on the GPU, or on the emulated driver where there is none
//     GRIDDEP_DRIVER=emulated node example.js
'use strict';

const griddep = require('./griddep');

const PTX = `.version 7.8
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
`;

const count = 1000;
const shape = { grid: Math.ceil(count / 128), block: 128 };
const runtime = new griddep.Runtime();
console.log(runtime.info().emulated ? 'emulated' : 'on a GPU');

const module_ = runtime.load(PTX, 'example.ptx');
const x = runtime.copyIn(Float32Array.from({ length: count }, (_, i) => i));
const [y, z] = [0, 1].map(() => runtime.allocate(4 * count));

const chain = runtime.chain();
chain.add(module_.kernel('square'), shape, [x, y, count]);
chain.add(module_.kernel('shift'), shape, [y, z, 0.5, count]);
chain.run('pdl');
for (let index = 0; index < chain.length; index++) {
  const hop = chain.hop('pdl', index);
  console.log(`${hop.kernel}: ${griddep.reasonText(hop.reason)}`);
}

const result = runtime.read(z, new Float32Array(count));
console.log(`result: ${result.subarray(0, 4).join(' ')} ... ${result.at(-1)}`);

try {
  runtime.load(PTX.replace('mul.f32 %v, %v, %v;', 'mul.f32 %v, %v %v;'), 'broken.ptx');
} catch (error) {
  console.log(`${error.code} at ${error.file}:${error.line}:${error.column}`);
}
