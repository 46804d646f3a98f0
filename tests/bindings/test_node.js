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
  const chain = runtime.chain().add(module_.kernel('square'), [x, y, count], shape).add(module_.kernel('shift'), [y, z, 0.5, count], shape);
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
    assert.throws(() => on.chain.run('sideways'), RangeError);
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
      assert.strictEqual(kernel.launch(args, shape), griddep.REASON_SET);
      assert.strictEqual(result(on)[3], 5.5);
    }
    assert.throws(() => kernel.launch([on.x, on.z, 2.5], shape), { status: griddep.ERROR_SIGNATURE });
    assert.throws(() => kernel.launch([on.x, on.z, 'much', count], shape), TypeError);
    assert.throws(() => kernel.launch([on.x, on.z, 2.5, 2 ** 32 + 1], shape), RangeError);
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

  console.log(`${passed} passed, ${failed} failed, 0 skipped`);
  process.exitCode = failed === 0 ? 0 : 1;
}

main();
