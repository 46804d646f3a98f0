//! Two kernels, the second of which starts before the first has ended: PTX from a string, run, read back.
//!
//!     rustc -O example.rs && ./example
//!
//! On the GPU, or on the emulated driver where there is none (GRIDDEP_DRIVER=emulated: in any case).

mod griddep;

use griddep::raw::MODE_PDL;
use griddep::{Config, Error, Runtime};

const PTX: &str = "\
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
";

fn main() -> Result<(), Error> {
    let count = 1000u32;
    let shape = Config::new(count.div_ceil(128), 128);

    let runtime = Runtime::open(Default::default())?;
    println!("{}", if runtime.info()?.emulated == 1 { "emulated" } else { "on a GPU" });
    let module = runtime.load(PTX, "example.ptx")?;

    let x = runtime.copy_in(&(0..count).map(|i| i as f32).collect::<Vec<_>>())?;
    let (y, z) = (runtime.allocate::<f32>(1000)?, runtime.allocate::<f32>(1000)?);

    let mut chain = runtime.chain()?;
    chain.add(module.kernel("square")?, &shape, &[&x, &y, &count])?;
    chain.add(module.kernel("shift")?, &shape, &[&y, &z, &0.5f32, &count])?;
    unsafe { chain.run(MODE_PDL, None)? }; // x, y and z are of the size that the kernels are told
    for index in 0..chain.length() {
        let (kernel, reason) = chain.hop(MODE_PDL, index)?;
        println!("{kernel}: {}", griddep::reason_text(reason));
    }

    let result = z.read(None)?;
    println!("result: {:.1} {:.1} {:.1} {:.1} ... {:.1}", result[0], result[1], result[2], result[3], result[999]);

    let broken = PTX.replace("mul.f32 %v, %v, %v;", "mul.f32 %v, %v %v;");
    if let Err(error) = runtime.load(broken, "broken.ptx") {
        println!("{} at {}:{}:{}", error.name, error.file, error.line, error.column);
    }
    Ok(())
}
