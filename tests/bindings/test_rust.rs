//! The Rust binding on the emulated driver. PTX names the text that is loaded; the last line sums up the cases.

#[path = "griddep.rs"]
mod griddep;

use griddep::{raw, Chain, Config, Error, Memory, Module, Options, Runtime};
use std::collections::HashSet;
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake};
use std::{env, fs, panic, process, thread};

const COUNT: u32 = 1000;

struct Session {
    runtime: Runtime,
    module: Module,
    x: Memory<f32>,
    y: Memory<f32>,
    z: Memory<f32>,
    chain: Chain,
}

fn ptx() -> String {
    fs::read_to_string(env::var("PTX").unwrap()).unwrap()
}

fn shape() -> Config {
    Config { block: [128, 1, 1], ..Config::new(8, 0) }
}

fn emulated() -> Options {
    Options { driver: Some("emulated".into()), ..Options::default() }
}

fn session() -> Session {
    let runtime = Runtime::open(emulated()).unwrap();
    let module = runtime.load(ptx(), "chain.ptx").unwrap();
    let x = runtime.copy_in(&(0..COUNT).map(|i| i as f32).collect::<Vec<_>>()).unwrap();
    let (y, z) = (runtime.allocate(1000).unwrap(), runtime.allocate(1000).unwrap());
    let mut chain = runtime.chain().unwrap();
    chain.add(module.kernel("square").unwrap(), &shape(), &[&x, &y, &COUNT]).unwrap();
    chain.add(module.kernel("shift").unwrap(), &shape(), &[&y, &z, &0.5f32, &COUNT]).unwrap();
    Session { runtime, module, x, y, z, chain }
}

fn expected() -> Vec<f32> {
    (0..COUNT).map(|i| (i * i) as f32 + 0.5).collect()
}

fn fails<T>(status: i32, result: Result<T, Error>) -> Error {
    let error = result.err().expect("nothing failed");
    assert_eq!(error.status, status, "{error}");
    error
}

fn every_mode() {
    let mut on = session();
    let stream = on.runtime.stream().unwrap();
    for mode in [raw::MODE_SERIAL, raw::MODE_PDL, raw::MODE_GRAPH, raw::MODE_GRAPH_PDL] {
        on.z.write(&[0.0; 1000], Some(&stream)).unwrap();
        on.chain.prepare(mode).unwrap();
        unsafe { on.chain.run(mode, Some(&stream)).unwrap() };
        assert_eq!(on.z.read(Some(&stream)).unwrap(), expected());
        let overlaps = mode == raw::MODE_PDL || mode == raw::MODE_GRAPH_PDL;
        assert_eq!(on.chain.hop(mode, 1).unwrap(), ("shift".into(), if overlaps { raw::REASON_SET } else { raw::REASON_OFF }));
    }
}

fn a_chain_changes_between_runs() {
    for mode in [raw::MODE_SERIAL, raw::MODE_PDL, raw::MODE_GRAPH, raw::MODE_GRAPH_PDL] {
        let on = session();
        let calls = Arc::new(Mutex::new(0));
        let counted = calls.clone();
        let w = on.runtime.allocate(1000).unwrap();
        let mut chain = on.runtime.chain().unwrap();
        chain.fill(&on.y, 0).unwrap();
        chain.add_named("first", on.module.kernel("square").unwrap(), &shape(), &[&on.x, &on.y, &COUNT]).unwrap();
        chain.add(on.module.kernel("shift").unwrap(), &shape(), &[&on.y, &on.z, &0.5f32, &COUNT]).unwrap();
        chain.copy(&w, &on.z).unwrap();
        chain.host(move || *counted.lock().unwrap() += 1).unwrap();
        let set = chain.add_argument_set().unwrap();
        chain.select_argument_set(set).unwrap();
        let shift = chain.find("shift").unwrap();
        chain.set_arguments(shift, &[&on.y, &on.z, &1.0f32, &COUNT]).unwrap();
        chain.set_argument(shift, 2, &1.5f32).unwrap();
        chain.set_config(chain.find("first").unwrap(), &shape()).unwrap();
        for (turn, result) in [(0, 9.5), (set, 10.5), (0, 9.5)] {
            chain.select_argument_set(turn).unwrap();
            unsafe { chain.run_many(2, mode, None).unwrap() };
            assert_eq!(w.read(None).unwrap()[3], result);
        }
        chain.set_reach(1, &[(on.x.address(), 4, raw::ACCESS_READ)]).unwrap();
        fails(raw::ERROR_ARGUMENT, chain.set_reach(1, &[(on.x.address(), 4, raw::ACCESS_UNKNOWN)]));
        chain.set_copy(3, &w, &on.x).unwrap();
        chain.set_fill(0, &on.y, 1).unwrap();
        unsafe { chain.run(mode, None).unwrap() };
        assert_eq!(w.read(None).unwrap()[3], 3.0);
        assert_eq!(chain.hop(mode, 3).unwrap().0, "copy");
        assert_eq!(*calls.lock().unwrap(), 7);
        fails(raw::ERROR_NOT_FOUND, chain.find("second"));
    }
}

fn arguments() {
    let on = session();
    let kernel = on.module.kernel("shift").unwrap();
    let reason = unsafe { kernel.launch(&shape(), &[&on.x, &on.z.address(), &2.5f32.to_le_bytes(), &COUNT], None) };
    assert_eq!(reason.unwrap(), raw::REASON_SET);
    assert_eq!(on.z.read(None).unwrap()[3], 5.5);
    fails(raw::ERROR_SIGNATURE, unsafe { kernel.launch(&shape(), &[&on.x, &on.z, &2.5f64, &COUNT], None) });
    fails(raw::ERROR_SIGNATURE, unsafe { kernel.launch(&shape(), &[&on.x, &on.z], None) });
}

fn sizes_that_are_too_large() {
    let on = session();
    fails(raw::ERROR_ARGUMENT, on.runtime.allocate::<u32>(usize::MAX / 4 + 2));
    let error = fails(raw::ERROR_ARGUMENT, on.z.write(&[0.0; 1001], None));
    assert_eq!(error.text, "1001 values do not fit into 1000");
    let missing = Options { device: Some(99), ..emulated() };
    assert!(fails(raw::ERROR_ARGUMENT, Runtime::open(missing).map(|_| ())).text.contains("device 99 does not exist"));
}

fn errors_have_status_and_position() {
    let on = session();
    let broken = ptx().replace("add.f32 %v, %v, %b;", "add.f32 %v, %v %b;");
    let error = fails(raw::ERROR_SYNTAX, on.runtime.load(broken, "broken.ptx"));
    assert_eq!((&*error.name, &*error.file, error.line, error.column), ("GRIDDEP_ERROR_SYNTAX", "broken.ptx", 57, 20));
    assert!(error.to_string().contains("57 | "), "{error}");
    fails(raw::ERROR_NOT_FOUND, on.module.kernel("cube"));
    fails(raw::ERROR_ARGUMENT, on.module.kernel("a\0b"));
}

fn ends_in_any_order_while_the_device_works() {
    let Session { runtime, module, x, z, mut chain, y } = session();
    unsafe { chain.run(raw::MODE_PDL, None).unwrap() };
    drop(runtime);
    drop(module);
    drop(chain);
    drop((x, y));
    assert_eq!(z.read(None).unwrap(), expected());
}

fn ends_on_another_thread() {
    let Session { runtime, module, x, y, z, mut chain } = session();
    unsafe { chain.run(raw::MODE_GRAPH_PDL, None).unwrap() };
    thread::spawn(move || drop((chain, module, x, y, runtime))).join().unwrap();
    assert_eq!(z.read(None).unwrap(), expected());
}

fn log_from_several_threads_and_a_panic_in_it() {
    let heard = Arc::new(Mutex::new(HashSet::new()));
    let ears = heard.clone();
    let log = move |_: i32, _: &str| {
        ears.lock().unwrap().insert(thread::current().id());
        panic!("in a log function");
    };
    let options = Options { log: Some(Box::new(log)), log_level: raw::LOG_DEBUG, ..emulated() };
    let runtime = Runtime::open(options).unwrap();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| runtime.load_file(&env::var("PTX").unwrap()).unwrap());
        }
    });
    assert!(heard.lock().unwrap().len() > 1);
}

/// An executor of one future, which sleeps until it is woken.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Unpark(thread::current())).into();
    let mut future = std::pin::pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(outcome) => return outcome,
            Poll::Pending => thread::park(),
        }
    }
}

fn completions_pinned_memory_and_pools() {
    let Session { runtime, module, x: _x, y: _y, z, mut chain } = session();
    let stream = runtime.stream_with(0, true).unwrap();
    unsafe { chain.run(raw::MODE_PDL, Some(&stream)).unwrap() };
    let mut out = runtime.pinned::<f32>(COUNT as usize).unwrap();
    unsafe { z.read_async(&mut out, Some(&stream)).unwrap() };
    block_on(runtime.done(Some(&stream)).unwrap()).unwrap();
    assert_eq!(out[..], expected()[..]);
    stream.synchronize().unwrap(); // what woke the future stands in the stream too
    assert!(stream.query().unwrap());
    let memory = runtime.allocate::<f32>(COUNT as usize).unwrap();
    unsafe {
        memory.write_async(&out, Some(&stream)).unwrap();
        z.copy_async(&memory, Some(&stream)).unwrap();
    }
    let completion = runtime.completion().unwrap();
    completion.arm(Some(&stream)).unwrap();
    let (refused, inside) = (Arc::new(Mutex::new(Vec::new())), runtime.clone());
    let (from_host, from_notified) = (refused.clone(), refused.clone());
    let host = move || {
        from_host.lock().unwrap().push(inside.allocate::<f32>(1).err().map(|error| error.status));
        panic!("in a host function");
    };
    runtime.add_host(host, Some(&stream)).unwrap();
    runtime.notify(move |outcome| from_notified.lock().unwrap().push(outcome.err().map(|error| error.status)), Some(&stream)).unwrap();
    runtime.synchronize_all().unwrap();
    assert_eq!(*refused.lock().unwrap(), [Some(raw::ERROR_CALLBACK), None]);
    assert!(completion.descriptor().unwrap() >= 0);
    assert_eq!(completion.take().unwrap(), 1);
    fails(raw::ERROR_LIMIT, runtime.stream_with(-99, false));
    assert_eq!(griddep::devices(Some("emulated")).unwrap()[0].capability, runtime.info().unwrap().capability);
    drop(module);
}

fn code() {
    let (caller, callee) = (".version 8.0\n.target sm_90\n.address_size 64\n.extern .func leave();\n.visible .entry k()\n{\ncall leave;\nret;\n}\n", ".version 8.0\n.target sm_90\n.address_size 64\n.visible .func leave()\n{\nret;\n}\n");
    let managed = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .global .attribute(.managed) .align 4 .u32 counter = 5;\n.visible .entry up()\n{\n.reg .u32 %r;\ngriddepcontrol.wait;\nld.global.u32 %r, [counter];\nadd.u32 %r, %r, 1;\nst.global.u32 [counter], %r;\nret;\n}\n";
    let runtime = Runtime::open(emulated()).unwrap();
    let part = Runtime::open(Options { multiprocessors: 1, ..emulated() }).unwrap();
    runtime.link(&[caller.as_bytes(), callee.as_bytes()], "both").unwrap().kernel("k").unwrap();
    fails(raw::ERROR_COMPILE, runtime.link(&[caller.as_bytes()], "one"));
    let module = runtime.load_with(managed, "up.ptx", raw::MODULE_LIBRARY).unwrap();
    let shared = module.share(&part).unwrap();
    assert_eq!(part.info().unwrap().multiprocessors, 1);
    for (module, runtime) in [(&module, &runtime), (&shared, &part)] {
        unsafe { module.kernel("up").unwrap().launch(&Config::new(1, 1), &[], None).unwrap() };
        runtime.synchronize_all().unwrap();
    }
    drop(runtime);
    assert_eq!(unsafe { *module.managed::<u32>("counter").unwrap() }, 7);
    assert_eq!(module.variable("counter").unwrap().1, 4);
    fails(raw::ERROR_ARGUMENT, module.managed::<u64>("counter"));
    fails(raw::ERROR_NOT_FOUND, module.managed::<u32>("none"));
    fails(raw::ERROR_ARGUMENT, part.load(managed, "up.ptx").unwrap().share(&part));
    let kernel = module.kernel("up").unwrap();
    assert!(kernel.traits().unwrap() & raw::TRAIT_WAITS_ALWAYS as u32 != 0);
    fails(raw::ERROR_UNSUPPORTED, unsafe { kernel.state_traits(0) });
    let parts = griddep::image_parts(managed).unwrap();
    assert_eq!((parts.len(), parts[0].kind, parts[0].kernels.len()), (1, raw::IMAGE_PTX, 0));
    fails(raw::ERROR_IMAGE, griddep::image_parts("hello"));
}

fn main() {
    panic::set_hook(Box::new(|_| ()));
    let tests: [(&str, fn()); 10] = [
        ("every mode", every_mode),
        ("a chain changes between runs", a_chain_changes_between_runs),
        ("arguments", arguments),
        ("sizes that are too large", sizes_that_are_too_large),
        ("errors have status and position", errors_have_status_and_position),
        ("ends in any order while the device works", ends_in_any_order_while_the_device_works),
        ("ends on another thread", ends_on_another_thread),
        ("completions, pinned memory and pools", completions_pinned_memory_and_pools),
        ("links, shared modules, managed variables, images", code),
        ("log from several threads, and a panic in it", log_from_several_threads_and_a_panic_in_it),
    ];
    let mut failed = 0;
    for (name, test) in tests {
        if let Err(reason) = panic::catch_unwind(test) {
            let text = reason.downcast_ref::<String>().cloned().or(reason.downcast_ref::<&str>().map(|text| text.to_string()));
            println!("failed: {name}: {}", text.unwrap_or_default());
            failed += 1;
        }
    }
    println!("{} passed, {failed} failed, 0 skipped", tests.len() - failed);
    process::exit((failed > 0) as i32);
}
