// The Node binding on the emulated driver. PTX names the text that is loaded; the last line sums up the cases. Run with --expose-gc.
'use strict';

const assert = require('node:assert');
const fs = require('node:fs');
const griddep = require(require('node:path').resolve(process.env.BINDING));

const PTX = fs.readFileSync(process.env.PTX, 'utf8');
const count = 1000;
const shape = { grid: 8, block: [128, 1, 1] };
const expected = Float32Array.from({ length: count }, (_, i) => i * i + 0.5);
let passed = 0;
let failed = 0;

async function check(name, test) {
  try {
    await test();
    passed++;
  } catch (error) {
    failed++;
    console.log(`failed: ${name}: ${error.stack}`);
  }
}

function session() {
  const runtime = new griddep.Runtime({ driver: 'emulated' });
  const module_ = runtime.load(PTX, 'chain.ptx');
  const x = runtime.copyIn(Float32Array.from({ length: count }, (_, i) => i));
  const [y, z] = [0, 1].map(() => runtime.allocate(4 * count));
  const chain = runtime.chain().add(module_.kernel('square'), shape, [x, y, count]).add(module_.kernel('shift'), shape, [y, z, 0.5, count]);
  return { runtime, module_, x, y, z, chain };
}

const result = ({ runtime, z }, stream) => runtime.read(z, new Float32Array(count), stream);

/** Collects garbage until finalizers had their turn. */
async function collect() {
  for (let i = 0; i < 3; i++) {
    globalThis.gc();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function main() {
  await check("the example of the binding's head", () => {
    const head = fs.readFileSync(process.env.BINDING, 'utf8').split("'use strict'")[0];
    const lines = head.split('\n').filter((line) => line.startsWith('//     ') && !line.includes('require'));
    const runtime = new griddep.Runtime({ driver: 'emulated' });
    const [x, stream] = [runtime.allocate(4 * count), runtime.stream()];
    assert.ok(lines.length >= 3);
    const made = { Runtime: function () { return runtime; } };
    const ptx = '.version 8.0\n.target sm_90\n.address_size 64\n.visible .entry scale(.param .u64 x, .param .f32 a, .param .u32 n)\n{\nret;\n}\n';
    new Function('griddep', 'ptx', 'x', 'count', 'stream', lines.map((line) => line.slice(3)).join('\n'))(made, ptx, x, count, stream);
    runtime.synchronize();
  });

  await check('arguments before the configuration', () => {
    const { module_, x, y } = session();
    assert.throws(() => module_.kernel('square').launch([x, y, count], shape), /the configuration comes before the arguments/);
  });

  await check('every mode', () => {
    const on = session();
    const stream = on.runtime.stream();
    for (const mode of ['serial', 'pdl', 'graph', 'graph-pdl']) {
      on.runtime.write(on.z, new Float32Array(count));
      on.chain.prepare(mode);
      on.chain.run(mode, stream);
      assert.deepStrictEqual(result(on, stream), expected);
      assert.strictEqual(on.chain.hop(mode, 1).reason, mode.includes('pdl') ? griddep.REASON_SET : griddep.REASON_OFF);
    }
    on.chain.reaches(0, [{ memory: on.x, bytes: 4, access: griddep.ACCESS_READ }]);
    assert.throws(() => on.chain.reaches(0, [{ memory: on.x, bytes: 4, access: 0 }]), /has an access/);
    assert.strictEqual(on.chain.hop('pdl', 1).reason, griddep.REASON_SET);
    assert.throws(() => on.chain.run('sideways'), /no mode "sideways"; there are serial/);
  });

  await check('a chain changes between runs', () => {
    for (const mode of ['serial', 'pdl', 'graph', 'graph-pdl']) {
      const { runtime, module_, x, y, z } = session();
      const w = runtime.allocate(4 * count);
      const third = () => new Float32Array(runtime.read(w, new Float32Array(count)))[3];
      const chain = runtime.chain().fill(y, 0, 4 * count);
      chain.add(module_.kernel('square'), { ...shape, name: 'first' }, [x, y, count]).add(module_.kernel('shift'), shape, [y, z, 0.5, count]);
      chain.copy(w, z, 4 * count, { name: 'out' });
      const set = chain.addArgumentSet();
      chain.selectArgumentSet(set);
      chain.setArguments('shift', [y, z, 1.5, count]);
      chain.setConfig('first', shape);
      for (const turn of [0, set, 0]) {
        chain.selectArgumentSet(turn);
        chain.runMany(2, mode);
        assert.strictEqual(third(), turn ? 10.5 : 9.5);
      }
      chain.setCopy('out', w, x, 4 * count);
      chain.setFill(0, y, 1, 4);
      chain.run(mode);
      assert.strictEqual(third(), 3);
      assert.strictEqual(chain.hop(mode, 'out').kernel, 'copy');
    }
  });

  await check('promises', async () => {
    const on = session();
    const streams = [0, 1, 2].map(() => on.runtime.stream({ priority: 0, blocking: false }));
    await Promise.all(streams.map((stream) => on.chain.runAsync('pdl', stream)));
    await streams[0].done();
    on.runtime.synchronize(streams[0]); // what resolved the promise stands in the stream too
    assert.ok(on.runtime.query(streams[0]));
    assert.deepStrictEqual(result(on), expected);
    for (let i = 0; i < 30; i++) await on.runtime.done();
    streams[0].close();
    await assert.rejects(on.runtime.done(streams[0]), /has been closed/);
    assert.throws(() => on.runtime.stream({ priority: -99 }), /ERROR_LIMIT/);
  });

  await check('copies and fills', async () => {
    const { runtime, x, y } = session();
    runtime.fill(x, 0x3f800000, count, 4);
    runtime.copy(y, x, 4 * count);
    await runtime.done();
    assert.strictEqual(runtime.read(y, new Float32Array(count))[count - 1], 1);
    assert.throws(() => runtime.copy(y, x, 4 * count + 1), /do not fit/);
    const [device] = griddep.devices('emulated');
    assert.strictEqual(device.capability, runtime.info().capability);
  });

  await check('pinned memory and pools', async () => {
    const { runtime, x, chain, z } = session();
    const stream = runtime.stream();
    const pinned = runtime.pinned(4 * count);
    const array = pinned.array(Float32Array);
    assert.strictEqual(array.length, count);
    array.set(Float32Array.from({ length: count }, (_, i) => i));
    runtime.writeAsync(x, array, stream);
    chain.run('graph-pdl', stream);
    runtime.readAsync(z, array, stream);
    await runtime.done(stream);
    assert.deepStrictEqual(array, expected);
    assert.throws(() => runtime.readAsync(z, new Float32Array(count), stream), /Pinned alone/);
    for (let i = 0; i < 50; i++) runtime.pinned(4096).array(Uint8Array)[4095] = i;
    await collect();
    assert.strictEqual(array[count - 1], expected[count - 1]); // its memory is there as long as it is

    await collect();
  });

  await check('overlap shortens the chain', () => {
    const { runtime, chain } = session();
    const [serial, pdl] = ['serial', 'pdl'].map((mode) => runtime.time(() => chain.run(mode)));
    assert.ok(pdl < serial, `${pdl} is not less than ${serial}`);
  });

  await check('arguments', () => {
    const on = session();
    const kernel = on.module_.kernel('shift');
    assert.deepStrictEqual(kernel.parameters.map(({ type }) => type), ['u64', 'u64', 'f32', 'u32']);
    for (const args of [[on.x, on.z, 2.5, count], [on.x.address, BigInt(on.z.address), Float32Array.of(2.5), Uint32Array.of(count)]]) {
      on.runtime.write(on.z, new Float32Array(count));
      assert.strictEqual(kernel.launch(shape, args), griddep.REASON_SET);
      assert.strictEqual(result(on)[3], 5.5);
    }
    assert.throws(() => kernel.launch(shape, [on.x, on.z, 2.5]), { status: griddep.ERROR_SIGNATURE });
    assert.throws(() => kernel.launch(shape, [on.x, on.z, 'much', count]), TypeError);
    assert.throws(() => kernel.launch(shape, [on.x, on.z, 2.5, 2 ** 32 + 1]), RangeError);
  });

  await check('options and numbers that do not exist are refused', () => {
    const { runtime, module_, x, z } = session();
    const kernel = module_.kernel('square');
    const launch = (changes, ...last) => kernel.launch({ ...shape, ...changes }, [x, z, ...(last.length ? last : [count])]);
    for (const [wrong, message] of [
      [() => launch({ shared_memory: 4 }), /griddep_launch_config has no field shared_memory; it has .*shared_bytes/],
      [() => new griddep.Runtime({ drvier: 'nvidia' }), /has no field drvier/],
      [() => new griddep.Runtime({ driver: 'emulated', device: 99 }), /device 99 does not exist/],
      [() => new griddep.Runtime({ driver: 5 }), /driver is no text: 5/],
      [() => launch({ grid: 2 ** 32 + 1 }), /grid is 4294967297, which is no uint32_t/],
      [() => launch({ grid: [1, 1.5] }), /grid is 1.5, which is no uint32_t/],
      [() => launch({ block: -1 }), /block is -1, which is no uint32_t/],
      [() => launch({ grid: [1, 1, 1, 1] }), /grid has 4 dimensions/],
      [() => launch({ shared_bytes: 2 ** 32 + 16 }), /shared_bytes is 4294967312, which is no uint32_t/],
      [() => launch({}, 2n ** 40n), /argument 2: 1099511627776 is no .u32/],
      [() => launch({}, 10.5), /argument 2: 10.5 is no .u32/],
      [() => kernel.launch(shape, [2n ** 64n, z, count]), /argument 0: 18446744073709551616 is no .u64/],
      [() => launch({}, count, 5), /takes 3 arguments, 4 are given/],
      [() => runtime.allocate(-1), /bytes is -1, which is no uint64_t/],
      [() => runtime.allocate(1.5), /bytes is 1.5, which is no uint64_t/],
      [() => runtime.write(z, new Float32Array(count + 1)), /4004 bytes do not fit into memory of 4000/],
      [() => runtime.read(z, new Float32Array(2 * count)), /8000 bytes do not fit into memory of 4000/],
      [() => runtime.write(z, [1, 2]), /typed array/],
      [() => module_.kernel(5), /the name is no text: 5/],
      [() => module_.kernel('square\0'), /the name is no text/],
      [() => runtime.loadShelf(5), /the name is no text: 5/],
    ]) assert.throws(wrong, message);
    // Compilers write .u32 for int too.
    assert.strictEqual(module_.kernel('shift').launch({ grid: 1, block: 1 }, [x, z, 0.5, -1]), griddep.REASON_SET);
  });

  await check('what was closed is refused', () => {
    const { runtime, module_, x, z, chain } = session();
    const [stream, kernel, other, memory] = [runtime.stream(), module_.kernel('square'), runtime.loadFile(process.env.PTX), runtime.allocate(4 * count)];
    const ofOther = other.kernel('square');
    for (const item of [memory, stream, other]) item.close();
    for (const [what, use] of [
      ['memory', () => kernel.launch(shape, [x, memory, count])],
      ['memory', () => runtime.read(memory, new Float32Array(count))],
      ['memory', () => runtime.write(memory, new Float32Array(count))],
      ['stream', () => kernel.launch({ ...shape, stream }, [x, z, count])],
      ['stream', () => runtime.synchronize(stream)],
      ['stream', () => chain.run('pdl', stream)],
      ["kernel's module", () => ofOther.launch(shape, [x, z, count])],
      ["kernel's module", () => chain.add(ofOther, shape, [x, z, count])],
    ]) assert.throws(use, { status: griddep.ERROR_ARGUMENT, message: `GRIDDEP_ERROR_ARGUMENT: the ${what} has been closed` });
  });

  await check('errors have status and position', () => {
    const { runtime, module_ } = session();
    assert.throws(() => runtime.load(PTX.replace('add.f32 %v, %v, %b;', 'add.f32 %v, %v %b;'), 'broken.ptx'), {
      name: 'GriddepError', code: 'GRIDDEP_ERROR_SYNTAX', status: griddep.ERROR_SYNTAX, file: 'broken.ptx', line: 57, column: 20,
      message: /57 \| /,
    });
    assert.throws(() => module_.kernel('cube'), { status: griddep.ERROR_NOT_FOUND });
  });

  await check('collection while the device works', async () => {
    const { runtime, z } = (() => {
      const on = session();
      on.chain.run('pdl');
      return { runtime: on.runtime, z: on.z };
    })();
    await collect();
    assert.deepStrictEqual(result({ runtime, z }), expected);
  });

  await check('finalizers end what nobody holds', async () => {
    const runtime = new griddep.Runtime({ driver: 'emulated' });
    const ended = [];
    const free = griddep.raw.memory_free;
    griddep.raw.memory_free = (...args) => ended.push(args[1]) && free(...args);
    for (let i = 0; i < 8; i++) runtime.allocate(4096);
    await collect();
    griddep.raw.memory_free = free;
    assert.ok(ended.length >= 7, `${ended.length} of 8 were freed`);
  });

  await check('closing in any order', () => {
    const on = session();
    on.runtime.close();
    assert.throws(() => on.runtime.info(), { status: griddep.ERROR_ARGUMENT });
    on.chain.run('pdl');
    on.module_.close();
    on.chain.close();
    on.chain.close();
    assert.throws(() => on.chain.run('pdl'), { status: griddep.ERROR_ARGUMENT });
    for (const memory of [on.x, on.y, on.z]) memory.close();
  });

  await check('log function, also for calls in other threads, and an exception in it', async () => {
    const heard = [];
    const log = (level, message) => {
      heard.push(message);
      throw new Error('from a log function');
    };
    const runtime = new griddep.Runtime({ driver: 'emulated', log, log_level: griddep.LOG_DEBUG });
    runtime.loadShelf('vector_add');
    const before = heard.length;
    assert.ok(before > 0, 'nothing was logged');
    const out = [null];
    const status = await new Promise((resolve, reject) => {
      const error = griddep.sized('griddep_error');
      griddep.raw.module_load_shelf.async(runtime.handle, 'softmax', null, out, error, (problem, value) => (problem ? reject(problem) : resolve(value)));
    });
    assert.strictEqual(status, 0);
    griddep.raw.module_unload(out[0]);
    assert.ok(heard.length > before, 'nothing was logged by the other thread');
  });

  await check('links, shared modules, managed variables, images', () => {
    const [caller, callee, managed] = ['.version 8.0\n.target sm_90\n.address_size 64\n.extern .func leave();\n.visible .entry k()\n{\ncall leave;\nret;\n}\n', '.version 8.0\n.target sm_90\n.address_size 64\n.visible .func leave()\n{\nret;\n}\n', '.version 8.0\n.target sm_90\n.address_size 64\n.visible .global .attribute(.managed) .align 4 .u32 counter = 5;\n.visible .entry up()\n{\n.reg .u32 %r;\ngriddepcontrol.wait;\nld.global.u32 %r, [counter];\nadd.u32 %r, %r, 1;\nst.global.u32 [counter], %r;\nret;\n}\n'];
    const runtime = new griddep.Runtime({ driver: 'emulated' });
    const part = new griddep.Runtime({ driver: 'emulated', multiprocessors: 1 });
    assert.strictEqual(runtime.link([caller, callee]).info().kernel_count, 1);
    assert.throws(() => runtime.link([caller]), { status: griddep.ERROR_COMPILE });
    const up = runtime.load(managed, 'up.ptx', griddep.MODULE_LIBRARY);
    const shared = up.share(part);
    assert.strictEqual(part.info().multiprocessors, 1);
    for (const [code, on] of [[up, runtime], [shared, part]]) {
      code.kernel().launch({ grid: 1, block: 1 }, []);
      on.synchronize();
    }
    assert.strictEqual(up.readManaged('counter').readUInt32LE(), 7);
    assert.strictEqual(up.variable('counter').bytes, 4);
    assert.throws(() => up.readManaged('none'), { status: griddep.ERROR_NOT_FOUND });
    assert.throws(() => runtime.load(managed).share(part), { status: griddep.ERROR_ARGUMENT });
    assert.throws(() => up.kernel().stateTraits(0), { status: griddep.ERROR_UNSUPPORTED });
    up.kernel().stateTraits(griddep.TRAIT_WAITS_ALWAYS);
    const [only] = griddep.imageParts(managed);
    assert.strictEqual(only.kind, griddep.IMAGE_PTX);
    assert.ok(only.data.toString().startsWith(managed));
    assert.throws(() => griddep.imageParts('hello'), { status: griddep.ERROR_IMAGE });
  });

  console.log(`${passed} passed, ${failed} failed, 0 skipped`);
  process.exitCode = failed === 0 ? 0 : 1;
}

main();
