"""The Python binding, on the emulated driver or, with GRIDDEP_DRIVER=nvidia, on a GPU. PTX names the text that is loaded; the last line sums up the cases."""

import array
import asyncio
import ctypes
import gc
import os
import pathlib
import random
import select
import subprocess
import sys
import threading
import unittest

import griddep

try:
    import numpy
except ImportError:
    numpy = None

PTX = pathlib.Path(os.environ["PTX"]).read_text()
DRIVER = os.environ.get("GRIDDEP_DRIVER", "emulated")
# Copies the box at column 4, row 2 of a matrix to `out`.
BOX = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry box(.param .align 64 .b8 map[128], .param .u64 out)
{
    .reg .pred %more;
    .reg .b32 %i, %room, %at, %bar, %word;
    .reg .b64 %map, %out, %to, %state;
    .shared .align 128 .b8 room[64];
    .shared .align 8 .b8 bar[8];

    griddepcontrol.wait;
    mov.b64 %map, map;
    cvta.param.u64 %map, %map;
    ld.param.u64 %out, [out];
    mov.u32 %room, room;
    mov.u32 %bar, bar;
    mbarrier.init.shared.b64 [%bar], 1;
    fence.proxy.async.shared::cta;
    mbarrier.arrive.expect_tx.shared.b64 %state, [%bar], 64;
    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%room], [%map, {4, 2}], [%bar];
WAIT:
    mbarrier.try_wait.parity.shared.b64 %more, [%bar], 0;
    @!%more bra WAIT;
    mov.u32 %i, 0;
COPY:
    add.u32 %at, %room, %i;
    ld.shared.u32 %word, [%at];
    cvt.u64.u32 %to, %i;
    add.u64 %to, %to, %out;
    st.global.u32 [%to], %word;
    add.u32 %i, %i, 4;
    setp.lt.u32 %more, %i, 64;
    @%more bra COPY;
    ret;
}
"""

COUNT, BLOCK = 1000, 128
GRID = (8, 1, 1)


def floats(count=COUNT):
    return array.array("f", range(count))


def expected(bias=0.5):
    return [i * i + bias for i in range(COUNT)]


class Foreign:
    """Device memory of another library, by the protocol that a test chooses."""

    def __init__(self, address):
        self.address = address
        self.streams = []


class WithInterface(Foreign):
    pending = None

    @property
    def __cuda_array_interface__(self):
        return {"shape": (COUNT,), "typestr": "<f4", "data": (self.address, False), "version": 3, "stream": self.pending}


class WithDLPack(Foreign):
    device = 2
    offset = 0
    strides = None

    def __dlpack_device__(self):
        return (self.device, 0)

    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        self.tensor = griddep._DLTensor(
            data=self.address - self.offset,
            device_type=self.device,
            byte_offset=self.offset,
            dimensions=2,
            bits=32,
            lanes=1,
            shape=(ctypes.c_int64 * 2)(COUNT // 10, 10),
            strides=self.strides and (ctypes.c_int64 * 2)(*self.strides),
        )
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.tensor), b"dltensor", None)


class WithBoth(WithDLPack):
    """As PyTorch has it: the interface is of version 2, which tells no stream, and has no name for some types."""

    @property
    def __cuda_array_interface__(self):
        raise KeyError("float8_e4m3fn")


class Binding(unittest.TestCase):
    def setUp(self):
        self.runtime = griddep.Runtime(driver=DRIVER)
        self.module = self.runtime.load(PTX, name="chain.ptx")

    def chain(self, x, y, z, bias=0.5):
        chain = self.runtime.chain()
        chain.add(self.module.kernel("square"), GRID, BLOCK, [x, y, COUNT])
        chain.add(self.module.kernel("shift"), GRID, BLOCK, [y, z, bias, COUNT])
        return chain

    def memory(self):
        return self.runtime.copy_in(floats()), self.runtime.allocate(4 * COUNT), self.runtime.allocate(4 * COUNT)

    def result(self, z, stream=None):
        return self.runtime.read(z, array.array("f", bytes(4 * COUNT)), stream).tolist()

    def test_ptx_in_a_fatbin_is_known(self):
        path = pathlib.Path(os.environ["PTX"]).parent.parent / "golden/image/kernels.zstd.fatbin"
        module = self.runtime.load(path.read_bytes(), flags=griddep.MODULE_PTX)
        info = module.info()
        self.assertEqual((info.image, info.code), (griddep.IMAGE_FATBIN, griddep.IMAGE_PTX))
        self.assertTrue(module.kernel("scale").info().traits & griddep.TRAIT_WAITS_ALWAYS)

    def test_templates_are_found_by_their_names(self):
        source = '#include "scale.h"\n'
        headers = {"scale.h": "template <int N> __global__ void scale(float *x) { griddep_wait(); *x *= N; }"}
        try:
            module = self.runtime.compile(source, headers=headers, names=["scale<3>"], name_expressions=["scale<4>"])
        except griddep.Error as error:
            if error.status == griddep.ERROR_NO_NVRTC:
                self.skipTest("there is no NVRTC")
            raise
        for name in ("scale<3>", "scale<4>"):
            self.assertTrue(module.kernel(name).info().traits & griddep.TRAIT_WAITS_ALWAYS)

    def test_name_expressions_are_given_to_nvrtc(self):
        # The fake NVRTC makes one kernel of any source, and refuses an expression that begins with "!".
        if "FAKE_NVRTC" not in os.environ:
            self.skipTest("FAKE_NVRTC names no fake NVRTC")
        with griddep.Runtime(driver=DRIVER, nvrtc=os.environ["FAKE_NVRTC"]) as runtime:
            runtime.compile("any", names=["scale<3>"], name_expressions=["scale<4>"])
            for given in ({"names": ["!"]}, {"name_expressions": ["!"]}):
                with self.assertRaises(griddep.Error):
                    runtime.compile("any", **given)

    def test_texts_are_linked(self):
        head = ".version 8.0\n.target sm_90\n.address_size 64\n"
        main = head + ".extern .func leave();\n.visible .entry k()\n{\ncall leave;\nret;\n}\n"
        library = head + ".visible .func leave()\n{\nret;\n}\n"
        module = self.runtime.link([("main.ptx", main), library])
        self.assertEqual(module.info().kernel_count, 1)
        with self.assertRaisesRegex(griddep.Error, "leave"):
            self.runtime.link([main])

    def test_modules_are_shared_and_have_managed_variables(self):
        text = (".version 8.0\n.target sm_90\n.address_size 64\n.visible .global .attribute(.managed) .align 4 .u32 counter = 5;\n.visible .entry up()\n{\n.reg .u32 %r;\ngriddepcontrol.wait;\nld.global.u32 %r, [counter];\nadd.u32 %r, %r, 1;\nst.global.u32 [counter], %r;\nret;\n}\n")
        part = griddep.Runtime("emulated", multiprocessors=1)
        module = self.runtime.load(text, flags=griddep.MODULE_LIBRARY)
        shared = module.share(part)
        self.assertEqual(part.info().multiprocessors, 1)
        for code, runtime in ((module, self.runtime), (shared, part)):
            code.kernel().launch(1, 1, [])
            runtime.synchronize()
        counter = shared.managed("counter").cast("I")
        self.assertEqual(counter[0], 7)
        counter[0] = 20
        module.kernel().launch(1, 1, [])
        self.runtime.synchronize()
        self.assertEqual(counter[0], 21)
        with self.assertRaisesRegex(griddep.Error, "none"):
            module.managed("none")
        with self.assertRaisesRegex(griddep.Error, "without GRIDDEP_MODULE_LIBRARY"):
            self.module.share(part)

    def test_an_image_tells_what_is_in_it(self):
        path = pathlib.Path(os.environ["PTX"]).parent.parent / "golden/image/kernels.targets.fatbin"
        image = griddep.Image(path.read_bytes())
        self.assertEqual([f"{part.architecture}{part.suffix}" for part in image.parts], ["90a", "90a", "100f", "100f", "90"])
        self.assertIn(b".target sm_100f", image.parts[3].data)
        self.assertTrue(image.parts[4].kernels["scale"] & griddep.TRAIT_WAITS_ALWAYS)
        self.assertFalse(image.parts[4].kernels["partly"] & griddep.TRAIT_WAITS_ALWAYS)
        with self.assertRaises(griddep.Error):
            griddep.Image(path.read_bytes()[:5000])
        self.assertEqual(griddep.Image(PTX).kind, griddep.IMAGE_PTX)

    def test_every_mode_gives_the_result_and_says_why(self):
        for mode in ("serial", "pdl", "graph", "graph-pdl", griddep.MODE_PDL):
            x, y, z = self.memory()
            chain, stream = self.chain(x, y, z), self.runtime.stream()
            chain.prepare(mode)
            chain.run(mode, stream)
            self.assertEqual(self.result(z, stream), expected())
            reasons = [chain.hop(mode, index).reason for index in range(len(chain))]
            overlaps = mode not in ("serial", "graph")
            self.assertEqual(reasons[1], griddep.REASON_SET if overlaps else griddep.REASON_OFF)

    def test_overlap_shortens_the_chain(self):
        chain = self.chain(*self.memory())
        serial, pdl = (self.runtime.time(lambda: chain.run(mode)) for mode in ("serial", "pdl"))
        self.assertLess(pdl, serial)

    def test_arguments_of_each_kind(self):
        x, y, z = self.memory()
        kernel = self.module.kernel("shift")
        self.assertEqual([parameter.type for parameter in kernel.parameters], ["u64", "u64", "f32", "u32"])
        offset = WithDLPack(z.address)
        offset.offset = 256
        values = [
            [x.address, z.address, 2.5, COUNT],
            [x, z, 2.5, COUNT],
            [WithInterface(x.address), WithInterface(z.address), ctypes.c_float(2.5), ctypes.c_uint32(COUNT)],
            [WithDLPack(x.address), offset, b"\0\0\x20\x40", COUNT.to_bytes(4, "little")],
            [WithBoth(x.address), WithBoth(z.address), 2.5, COUNT],
        ]
        if numpy:
            values.append([numpy.uint64(x.address), numpy.uint64(z.address), numpy.float32(2.5), numpy.uint32(COUNT)])
        for arguments in values:
            self.runtime.write(z, bytes(4 * COUNT))
            self.assertEqual(kernel.launch(GRID, BLOCK, arguments), griddep.REASON_SET)
            self.assertEqual(self.result(z), [i + 2.5 for i in range(COUNT)])

    def test_arguments_that_are_refused(self):
        x, y, _ = self.memory()
        kernel = self.module.kernel("square")
        on_host = WithDLPack(x.address)
        on_host.device = 1
        for value, message in [
            (floats(), "array is no device memory"),
            (on_host, "not on a CUDA device"),
            ("text", "no device memory"),
            (None, "no device memory"),
        ]:
            with self.assertRaisesRegex(TypeError, message):
                kernel.launch(GRID, BLOCK, [x, value, COUNT])
        with self.assertRaisesRegex(TypeError, r"2\*\*40|1099511627776 is no value of parameter count, which is .u32"):
            kernel.launch(GRID, BLOCK, [x, y, 2**40])
        with self.assertRaises(griddep.Error) as caught:
            kernel.launch(GRID, BLOCK, [x, y])
        self.assertEqual(caught.exception.status, griddep.ERROR_SIGNATURE)

    def test_options_and_numbers_that_do_not_exist_are_refused(self):
        x, y, _ = self.memory()
        kernel, arguments = self.module.kernel("square"), [x, y, COUNT]
        for wrong, kind, message in [
            (lambda: kernel.launch(GRID, BLOCK, arguments, shared_memory=4096), TypeError, "'shared_memory'; did you mean shared_bytes"),
            (lambda: self.runtime.load(PTX, optimisation=3), TypeError, "'optimisation'; did you mean optimization"),
            (lambda: griddep.Runtime(drvier="nvidia"), TypeError, "'drvier'; did you mean driver"),
            (lambda: griddep.Runtime(driver=DRIVER, device=99), griddep.Error, "device 99 does not exist"),
            (lambda: kernel.launch(2**32 + 1, BLOCK, arguments), ValueError, "grid is 4294967297, which is no unsigned integer of 32 bits"),
            (lambda: kernel.launch((8, -1), BLOCK, arguments), ValueError, "grid is -1"),
            (lambda: kernel.launch((8, 1, 1, 1), BLOCK, arguments), ValueError, "grid has 4 dimensions"),
            (lambda: kernel.launch(GRID, BLOCK, arguments, shared_bytes=2**32 + 16), ValueError, "shared_bytes is 4294967312"),
            (lambda: kernel.launch(GRID, BLOCK, arguments, pdl=2**31), ValueError, "no signed integer of 32 bits"),
            (lambda: self.runtime.allocate(2**64 + 4), ctypes.ArgumentError, "no unsigned integer of 64 bits"),
            (lambda: self.runtime.graph().edge(2**32, 0), ctypes.ArgumentError, "no unsigned integer of 32 bits"),
            (lambda: self.runtime.graph().fill(x, 256, 4), ctypes.ArgumentError, "no unsigned integer of 8 bits"),
            (lambda: self.runtime.load(5), TypeError, "bytes-like"),
            (lambda: self.module.kernel("square\0"), ValueError, "null character"),
            (lambda: kernel.launch(GRID, BLOCK, [*arguments, 5]), griddep.Error, "takes 3 arguments, 4 are given"),
        ]:
            with self.assertRaisesRegex(kind, message):
                wrong()

    def test_integers_of_other_types(self):
        class Number:
            def __init__(self, value):
                self.value = value

            def __index__(self):
                return self.value

        x, y = self.runtime.copy_in(floats()), self.runtime.allocate(Number(4 * COUNT))
        self.module.kernel("square").launch((Number(8),), Number(BLOCK), [x, y, COUNT], shared_bytes=Number(16), cluster=Number(1))
        self.assertEqual(self.result(y), expected(0))

    def test_what_was_closed_is_refused(self):
        x, y, z = self.memory()
        stream, kernel, other = self.runtime.stream(), self.module.kernel("square"), self.runtime.load(PTX)
        of_other = other.kernel("square")
        for item in (z, stream, other):
            item.close()
        self.assertIn("closed", repr(z))
        for use, message in [
            (lambda: kernel.launch(GRID, BLOCK, [x, z, COUNT]), "the memory of 4000 bytes has been closed"),
            (lambda: self.runtime.read(z, floats()), "memory"),
            (lambda: self.runtime.write(z, floats()), "memory"),
            (lambda: z.__cuda_array_interface__, "memory"),
            (lambda: kernel.launch(GRID, BLOCK, [x, y, COUNT], stream=stream), "stream has been closed"),
            (lambda: self.runtime.read(x, floats(), stream), "stream has been closed"),
            (stream.synchronize, "stream has been closed"),
            (lambda: of_other.launch(GRID, BLOCK, [x, y, COUNT]), "the kernel's module has been closed"),
            (lambda: self.runtime.chain().add(of_other, GRID, BLOCK, [x, y, COUNT]), "the kernel's module has been closed"),
        ]:
            with self.assertRaisesRegex(griddep.Error, message) as caught:
                use()
            self.assertEqual(caught.exception.status, griddep.ERROR_ARGUMENT)

    def test_texts_and_names_that_are_no_utf_8(self):
        broken = PTX.encode().replace(b"add.f32 %v, %v, %b;", b"add.f32 %v, %v \xff %b;")
        with self.assertRaises(griddep.Error) as caught:
            self.runtime.load(broken, name=b"\xe9.ptx")
        self.assertEqual((caught.exception.file, caught.exception.line), (os.fsdecode(b"\xe9.ptx"), 57))
        self.assertIn(r"add.f32 %v, %v \xff %b;", str(caught.exception))
        for name in (b"/nonexistent/\xff.ptx", "/nonexistent/\udcff.ptx"):
            with self.assertRaisesRegex(griddep.Error, r"/nonexistent/\\xff.ptx: No such file"):
                self.runtime.load_file(name)
        self.assertEqual([(finding.code, finding.file) for finding in griddep.check(b"\xff", name=b"\xe9.ptx")], [("GD001", r"\xe9.ptx")])

    def test_what_a_kernel_requires_is_told_and_kept(self):
        head = "// requires:\n//   count % 2 == 0 -- pairs\n// extent:\n//   x: count * 4\n//   y: count * 4\n"
        x, y, _ = self.memory()
        kernel = self.runtime.load(head + PTX.split("\n}\n")[0] + "\n}\n").kernel("square")
        self.assertEqual([(one.text, one.reason) for one in kernel.requirements()], [("count % 2 == 0", "pairs")])
        kernel.launch(GRID, BLOCK, [x, y, COUNT])
        with self.assertRaises(griddep.Error) as caught:
            kernel.launch(GRID, BLOCK, [x, y, COUNT - 1])
        self.assertEqual(caught.exception.status, griddep.ERROR_REQUIREMENT)
        self.assertEqual(caught.exception.text, f"kernel square needs count % 2 == 0: pairs (count is {COUNT - 1})")
        side_by_side, apart = WithDLPack(y.address), WithDLPack(y.address)
        side_by_side.strides, apart.strides = (10, 1), (20, 1)
        self.runtime.chain().add(kernel, GRID, BLOCK, [x.address, apart, COUNT + 2])  # whose end is not known
        for memory in [y, WithInterface(y.address), WithDLPack(y.address), side_by_side]:
            with self.assertRaisesRegex(ValueError, f"may touch {4 * COUNT + 8} bytes of y, the memory that is given has {4 * COUNT}"):
                kernel.launch(GRID, BLOCK, [x.address, memory, COUNT + 2])
        with self.assertRaisesRegex(ValueError, "bytes of x"):
            self.runtime.chain().add(kernel, GRID, BLOCK, [x, y, COUNT + 2])

    def test_other_streams_are_respected(self):
        x, y, _ = self.memory()
        stream = self.runtime.stream()
        foreign, tensor = WithInterface(x.address), WithBoth(y.address)
        foreign.pending = stream.handle.value
        kernel = self.module.kernel("square")
        kernel.launch(GRID, BLOCK, [foreign, tensor, COUNT], stream=stream)
        kernel.launch(GRID, BLOCK, [x, tensor, COUNT])
        self.assertEqual(tensor.streams, [stream.handle.value, 1])
        with self.assertRaisesRegex(ValueError, "pending in another stream"):
            griddep.device_address(foreign)

        waited = []
        self.runtime.synchronize = waited.append
        kernel.launch(GRID, BLOCK, [foreign, y, COUNT])
        foreign.pending = 1  # the legacy default stream
        kernel.launch(GRID, BLOCK, [foreign, y, COUNT])
        kernel.launch(GRID, BLOCK, [foreign, y, COUNT], stream=stream)
        self.assertEqual(waited, [stream.handle.value, None])

    def test_edges_of_graphs_are_programmatic_where_that_is_safe(self):
        x, y, z = self.memory()
        graph, edge = self.runtime.graph(), griddep.c_graph_edge_info()
        square = graph.kernel(self.module.kernel("square"), GRID, BLOCK, [x, y, COUNT])
        graph.edge(square, graph.kernel(self.module.kernel("shift"), GRID, BLOCK, [y, z, 0.5, COUNT]))
        griddep.call(griddep.raw.graph_get_edge, graph.handle, 0, griddep.byref(edge))
        self.assertEqual(edge.type, griddep.EDGE_PROGRAMMATIC)
        graph.launch()
        self.assertEqual(self.result(z), expected())

    def test_tensor_map_is_an_argument(self):
        matrix = self.runtime.copy_in(array.array("I", range(32 * 8)))
        out = self.runtime.allocate(64)
        options = {"type": griddep.TENSOR_U32, "dimensions": (32, 8), "strides": (128,), "box": (8, 2)}
        for memory in (matrix, WithDLPack(matrix.address), matrix.address):
            self.runtime.write(out, bytes(64))
            given = self.runtime.tensor_map(memory, **options)
            self.runtime.load(BOX).kernel("box").launch(1, 1, [given, out])
            rows = [32 * row + column for row in (2, 3) for column in range(4, 12)]
            self.assertEqual(self.runtime.read(out, array.array("I", bytes(64))).tolist(), rows)
        with self.assertRaises(griddep.Error) as caught:
            self.runtime.tensor_map(matrix, **options | {"strides": (100,)})
        self.assertEqual(caught.exception.status, griddep.ERROR_ARGUMENT)
        self.assertIn("strides", caught.exception.text)

    def test_errors_have_status_and_position(self):
        with self.assertRaises(griddep.Error) as caught:
            self.runtime.load(PTX.replace("add.f32 %v, %v, %b;", "add.f32 %v, %v %b;"), name="broken.ptx")
        error = caught.exception
        self.assertEqual((error.status, error.name), (griddep.ERROR_SYNTAX, "GRIDDEP_ERROR_SYNTAX"))
        self.assertEqual((error.file, error.line, error.column), ("broken.ptx", 57, 20))
        self.assertIn("57 |     add.f32 %v, %v %b;", error.text)
        with self.assertRaises(griddep.Error) as caught:
            self.module.kernel("cube")
        self.assertEqual(caught.exception.status, griddep.ERROR_NOT_FOUND)
        self.assertIn("square", str(caught.exception))
        with self.assertRaisesRegex(griddep.Error, 'there is no mode "sideways"; there are serial'):
            self.runtime.chain().run("sideways")

    def test_fault_of_a_kernel_is_reported_when_waiting(self):
        """In a process of its own, since a fault stays with the process."""
        said = subprocess.run([sys.executable, __file__, "fault"], capture_output=True, text=True, check=False)
        self.assertIn("griddep.Error: GRIDDEP_ERROR_FAULT: ", said.stderr)
        self.assertIn("kernel square" if DRIVER == "emulated" else "CUDA_ERROR_ILLEGAL_ADDRESS", said.stderr)
        self.assertEqual(said.returncode, 1)

    def test_two_devices(self):
        """In a process of its own, since the emulated driver reads its settings once."""
        if DRIVER == "nvidia" and len(griddep.devices(DRIVER)) < 2:
            self.skipTest("one GPU")
        said = subprocess.run([sys.executable, __file__, "devices"], capture_output=True, text=True, check=False,
                              env=os.environ | {"GRIDDEP_EMULATOR_DEVICES": "2"})
        self.assertEqual((said.returncode, said.stdout), (0, "2\n"), said.stderr)

    def test_chains_are_awaited(self):
        """Four tasks in one thread, none of which blocks the others."""
        async def serve(number):
            x, y, z = self.memory()
            stream = self.runtime.stream()
            for _ in range(5):
                await self.chain(x, y, z, number).run_async("pdl", stream)
            return self.result(z, stream)[3]

        async def serve_all():
            return await asyncio.gather(*(serve(number) for number in range(4)))

        self.assertEqual(asyncio.run(serve_all()), [9.0, 10.0, 11.0, 12.0])

    def test_a_wait_can_be_cancelled(self):
        async def give_up():
            with self.runtime.completion() as completion:
                waits = asyncio.ensure_future(completion.reached())
                await asyncio.sleep(0)
                waits.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await waits
            await self.runtime.done()

        asyncio.run(give_up())

    def test_completions_are_selected(self):
        stream = self.runtime.stream()
        with self.runtime.completion() as completion:
            self.assertEqual(completion.take(), 0)
            self.assertEqual(select.select([completion], [], [], 0)[0], [])
            self.chain(*self.memory()).run("pdl", stream)
            completion.arm(stream)
            completion.arm(stream)
            stream.synchronize()
            self.assertEqual(select.select([completion], [], [])[0], [completion])
            self.assertEqual(completion.take(), 2)
            completion.arm(stream)  # closed while it is armed

    def test_functions_are_called(self):
        stream, called, refused = self.runtime.stream(), threading.Event(), []

        def forbidden():
            try:
                self.runtime.allocate(4)
            except griddep.Error as error:
                refused.append(error.status)

        stream.add_host(forbidden)
        stream.notify(lambda failure: (refused.append(failure), called.set()))
        called.wait()
        self.assertEqual(refused, [griddep.ERROR_CALLBACK, None])
        event = self.runtime.event()
        event.record(stream)
        event.synchronize()
        self.assertTrue(stream.query())
        stream.wait_event(event)
        self.runtime.synchronize_all()
        with self.assertRaises(TypeError):
            stream.notify()

    def test_transfers_without_waiting(self):
        stream = self.runtime.stream()
        host, back = self.runtime.pinned(4 * COUNT), array.array("f", bytes(4 * COUNT))
        ctypes.memmove(host.data, floats().tobytes(), 4 * COUNT)
        a, b = self.runtime.allocate(4 * COUNT), self.runtime.allocate(4 * COUNT)
        self.runtime.write_async(a, host, stream)
        self.runtime.copy(b, a, 4 * COUNT, stream)
        self.runtime.read_async(b, back, stream)
        stream.synchronize()
        self.assertEqual(back, floats())
        self.runtime.fill(a, 0x3F800000, COUNT, element_bytes=4, stream=stream)
        self.assertEqual(self.result(a, stream)[:2], [1, 1])
        host.close()
        with self.assertRaisesRegex(griddep.Error, "has been closed"):
            host.data
        with self.assertRaisesRegex(ValueError, "do not fit"):
            self.runtime.copy(b, a, 4 * COUNT + 1)
        with self.assertRaisesRegex(griddep.Error, "no multiple of 4"):
            self.runtime.fill(a.address + 1, 0, 1, element_bytes=4)

    @unittest.skipUnless(numpy, "this python3 has no NumPy")
    def test_pinned_memory_is_an_array(self):
        host = numpy.asarray(self.runtime.pinned(4 * COUNT)).view(numpy.float32)
        gc.collect()  # the array keeps the memory
        host[:] = 3
        self.assertEqual(self.result(self.runtime.copy_in(host))[7], 3)

    def test_streams_and_devices(self):
        stream = self.runtime.stream(priority=-1, blocking=True)
        info = stream.info()
        self.assertEqual((info.flags, info.priority, info.captured), (griddep.STREAM_BLOCKING, -1, 0))
        with self.assertRaisesRegex(griddep.Error, "ERROR_LIMIT"):
            self.runtime.stream(priority=-1000)
        self.runtime.synchronize(griddep.PER_THREAD_STREAM)
        device = griddep.devices(DRIVER)[0]
        self.assertEqual((device.capability, device.name), (self.runtime.info().capability, self.runtime.info().device_name))

    def test_findings_need_no_driver(self):
        early = PTX.replace("    griddepcontrol.wait;\n", "").replace("st.global.f32 [%to], %v;", "st.global.f32 [%to], %v; griddepcontrol.wait;")
        found = griddep.check(early, name="early.ptx")
        self.assertIn("GD110", [finding.code for finding in found])
        self.assertEqual(griddep.check(PTX), [])

    def test_a_chain_is_checked_by_its_addresses(self):
        early = PTX.replace("    griddepcontrol.wait;\n", "    griddepcontrol.wait; // ").replace("    ld.global.f32 %v, [%from];\n", "").replace(
            "    ld.param.u32 %n, [count];\n", "    ld.param.u32 %n, [count];\n    ld.global.f32 %v, [%from];\n")
        module = self.runtime.load(early)
        x, y, z = self.memory()
        for second, codes in ((y, ["GD206"]), (x, [])):
            chain = self.runtime.chain()
            chain.add(module.kernel("square"), GRID, BLOCK, [x, y, COUNT])
            chain.add(module.kernel("shift"), GRID, BLOCK, [second, z, 0.5, COUNT], lane=0)
            self.assertEqual([finding.code for finding in chain.check() if finding.code == "GD206"], codes)
            chain.depend(1, 0)
        # Tensors in one allocation: each is all that a kernel reaches of it. Of addresses nobody knows how far they reach, unless it is told.
        arena = self.runtime.allocate(8 * COUNT)
        whole = arena.address
        for first, second, told, codes in (
            (WithInterface(whole + 4 * COUNT), WithInterface(whole), None, []),
            (whole + 4 * COUNT, whole, None, ["GD206"]),
            (whole + 4 * COUNT, whole, 4 * COUNT, []),
            (whole + 4 * COUNT, whole, 4 * COUNT + 4, ["GD206"]),
        ):
            chain = self.runtime.chain()
            if told:
                chain.buffer(whole, told)
            chain.add(module.kernel("square"), GRID, BLOCK, [x, first, COUNT])
            chain.add(module.kernel("shift"), GRID, BLOCK, [second, z, 0.5, COUNT])
            self.assertEqual([finding.code for finding in chain.check() if finding.code == "GD206"], codes)

    def test_a_chain_is_told_what_a_launch_reaches(self):
        x, y, _ = self.memory()
        chain = self.runtime.chain()
        chain.add(self.module.kernel("square"), GRID, BLOCK, [x, y, COUNT])
        chain.reaches(0, [(x, 4 * COUNT, griddep.ACCESS_READ), (y, 4 * COUNT, griddep.ACCESS_WRITE)])
        chain.run("pdl")
        self.runtime.synchronize()

    def test_what_starts_early_in_an_arena_is_safe(self):
        """Random chains whose kernels read and write around addresses in one allocation, and nobody tells how far: the library finds what may start
        early, or the results of the modes that overlap would differ from serial, as they do where launches are forced."""
        head = ".reg .b32 %i, %v, %k; .reg .b64 %x, %y, %at; .reg .pred %p; "
        place = (
            "mov.u32 %i, %tid.x; mul.wide.u32 %at, %i, 4; ld.param.u64 %x, [x]; ld.param.u64 %y, [y]; add.u64 %x, %x, %at; add.u64 %y, %y, %at; ")
        slow = "mov.u32 %k, 120; L: sub.u32 %k, %k, 1; setp.ne.u32 %p, %k, 0; @%p bra L; "
        trigger, wait = "griddepcontrol.launch_dependents; ", "griddepcontrol.wait; "
        bodies = {}
        for off in (0, 256, 512):
            read, write = f"ld.global.u32 %v, [%x+{off}]; add.u32 %v, %v, 1; ", f"st.global.u32 [%y+{off}], %v; "
            bodies[f"early_read_{off}"] = trigger + place + read + wait + "st.global.u32 [%y], %v;"
            bodies[f"early_write_{off}"] = trigger + place + "ld.global.u32 %v, [%x]; " + write + wait
            bodies[f"both_behind_{off}"] = trigger + slow + wait + place + read + write
            bodies[f"late_trigger_{off}"] = wait + trigger + slow + place + read + "st.global.u32 [%y], %v;"
        text = ".version 8.0\n.target sm_90\n.address_size 64\n" + "".join(
            f".visible .entry {name}(.param .u64 x, .param .u64 y)\n{{ {head}{body} ret; }}\n" for name, body in bodies.items())
        module, slices, size = self.runtime.load(text), 12, 256
        arena = self.runtime.allocate(slices * size)
        start = array.array("I", range(slices * size // 4))

        def results(chain, mode):
            self.runtime.write(arena, start)
            chain.run(mode)
            self.runtime.synchronize()
            return self.runtime.read(arena, array.array("I", bytes(slices * size)))

        def count_different(seed, pdl):
            numbers = random.Random(seed)
            chain = self.runtime.chain()

            def some():
                return arena.address + size * numbers.randrange(slices - 3)

            for _ in range(numbers.randint(3, 6)):
                chain.add(module.kernel(numbers.choice(list(bodies))), 1, 64, [some(), some()], pdl=pdl)
            different = 0
            for _ in range(2):
                serial = results(chain, "serial")
                different += sum(results(chain, mode) != serial for mode in ("pdl", "graph-pdl"))
                chain.set_arguments(numbers.randrange(len(chain)), [some(), some()])
            chain.close()
            return different

        self.assertEqual([seed for seed in range(150) if count_different(seed, griddep.PDL_AUTO)], [])
        self.assertGreater(sum(count_different(seed, griddep.PDL_FORCE) for seed in range(30)), 0)

    @unittest.skipUnless(numpy, "this python3 has no NumPy")
    def test_numpy_arrays(self):
        x = self.runtime.copy_in(numpy.arange(COUNT, dtype=numpy.float32))
        y, z = self.runtime.allocate(4 * COUNT), self.runtime.allocate(4 * COUNT)
        self.chain(x, y, z).run("pdl")
        out = self.runtime.read(z, numpy.empty(COUNT, dtype=numpy.float32))
        self.assertTrue((out == numpy.arange(COUNT, dtype=numpy.float32) ** 2 + 0.5).all())
        shift = self.module.kernel("shift")
        shift.launch(GRID, BLOCK, [x, z, numpy.float64(2.5), numpy.int64(COUNT)])
        self.assertEqual(self.runtime.read(z, out)[3], 5.5)
        for wrong in (numpy.float32(COUNT), numpy.int64(2**40)):
            with self.assertRaisesRegex(TypeError, "no value of parameter"):
                shift.launch(GRID, BLOCK, [x, z, 2.5, wrong])
        with self.assertRaisesRegex(ValueError, "contiguous"):
            self.runtime.write(z, out[::2])
        with self.assertRaisesRegex(ValueError, "read-only"):
            self.runtime.read(z, out.tobytes())
        with self.assertRaisesRegex(ValueError, "do not fit"):
            self.runtime.read(z, numpy.empty(2 * COUNT, dtype=numpy.float32))

    def test_transfers_that_do_not_fit(self):
        memory, host = self.runtime.allocate(4 * COUNT), floats(COUNT + 1)
        for target in (memory, WithInterface(memory.address), WithDLPack(memory.address)):
            for transfer in (lambda: self.runtime.write(target, host), lambda: self.runtime.read(target, host)):
                with self.assertRaisesRegex(ValueError, f"4004 bytes do not fit into a {type(target).__name__} of 4000"):
                    transfer()
            with self.assertRaisesRegex(ValueError, "4001 bytes do not fit"):
                self.runtime.graph().fill(target, 0, 4001)
            self.runtime.write(target, floats())

    def test_collection_while_the_device_works(self):
        """All but the result's memory is dropped between launch and read."""
        x, y, z = self.memory()
        self.chain(x, y, z).run("pdl")
        del x, y
        self.module.self_reference = self.module  # only the cycle collector can end it
        self.module = None
        gc.collect()
        self.assertEqual(self.result(z), expected())

    def test_chain_keeps_its_memory(self):
        z = self.runtime.allocate(4 * COUNT)
        chain = self.chain(self.runtime.copy_in(floats()), self.runtime.allocate(4 * COUNT), z)
        gc.collect()
        others = [self.runtime.copy_in(bytes(4 * COUNT)) for _ in range(4)]
        chain.run("graph-pdl")
        self.assertEqual(self.result(z), expected())
        self.assertEqual(len(others), 4)

    def test_a_chain_changes_between_runs(self):
        for mode in ("serial", "pdl", "graph", "graph-pdl"):
            (x, y, z), w = self.memory(), self.runtime.allocate(4 * COUNT)
            calls, chain = [], self.runtime.chain()
            self.assertEqual(chain.fill(y, 0, 4 * COUNT), 0)
            chain.add(self.module.kernel("square"), GRID, BLOCK, [x, y, COUNT], name="first")
            self.assertEqual(chain.add(self.module.kernel("shift"), GRID, BLOCK, [y, z, 0.5, COUNT]), 2)
            chain.copy(w, z, 4 * COUNT, name="out")
            chain.host(lambda: calls.append(1))
            chain.run(mode)
            self.assertEqual(self.result(w), expected())
            chain.set_arguments("shift", [y, z, 1.5, COUNT])
            chain.set_config("first", GRID, BLOCK)
            chain.run(mode)
            self.assertEqual(self.result(z), [value + 1 for value in expected()])
            chain.set_copy("out", w, x, 4 * COUNT)
            chain.set_fill(0, y, 1, 4)
            chain.run(mode)
            self.assertEqual(self.result(w), list(floats()))
            self.assertEqual(len(calls), 3)
            self.assertEqual(chain.hop(mode, "out").kernel, "copy")
            with self.assertRaisesRegex(griddep.Error, "launch 3 is none of a kernel"):
                chain.set_arguments("out", [])
            with self.assertRaisesRegex(griddep.Error, 'no launch "second"'):
                chain.find("second")

    def test_sets_of_arguments_take_turns(self):
        (x, y, z), other = self.memory(), self.runtime.allocate(4 * COUNT)
        chain = self.chain(x, y, z)
        second = chain.add_argument_set()
        chain.select_argument_set(second)
        chain.set_arguments(1, [y, other, 1.5, COUNT])
        del other
        gc.collect()  # the set keeps it
        for turn in (0, second, 0, second):
            chain.select_argument_set(turn)
            chain.run()
        self.assertEqual(self.result(z), expected())
        self.assertEqual(self.result(chain._kept[second][1][1]), [value + 1 for value in expected()])

    def test_rounds_overlap_where_that_is_safe(self):
        x, y, z = self.memory()
        chain = self.chain(x, y, z)
        chain.run_many(5, "pdl")
        self.assertEqual(self.result(z), expected())
        self.assertEqual(chain.hop("pdl", len(chain)).reason, griddep.REASON_SET)

    def test_finalizers_in_another_thread(self):
        held = [self.memory(), self.chain(*self.memory()), self.runtime.stream(), self.module]
        held.append(held)
        self.module = None
        ended = []
        weak = [griddep.weakref.ref(held[2]), griddep.weakref.ref(held[3])]

        def collect():
            held.clear()
            gc.collect()
            ended.append([reference() for reference in weak])

        thread = threading.Thread(target=collect)
        thread.start()
        thread.join()
        self.assertEqual(ended, [[None, None]])
        x, _, z = self.memory()
        self.runtime.load(PTX).kernel("shift").launch(GRID, BLOCK, [x, z, 1.0, COUNT])
        self.assertEqual(self.result(z), [i + 1.0 for i in range(COUNT)])

    def test_closing_in_any_order(self):
        x, y, z = self.memory()
        chain = self.chain(x, y, z)
        self.runtime.close()
        chain.run("pdl")
        with self.assertRaises(griddep.Error) as caught:
            self.runtime.info()
        self.assertEqual(caught.exception.status, griddep.ERROR_ARGUMENT)
        self.module.close()
        chain.close()
        chain.close()
        with self.assertRaises(griddep.Error):
            chain.run("pdl")

    def test_log_from_several_threads(self):
        heard = []
        log = lambda level, message: heard.append((threading.get_ident(), level, message))
        runtime = griddep.Runtime(driver=DRIVER, log=log, log_level=griddep.LOG_DEBUG)
        before = len(heard)
        through = threading.Barrier(4)  # one that has ended would lend its number to the next

        def load():
            runtime.load(PTX).kernel("square")
            runtime.load_shelf("vector_add")
            through.wait(60)

        threads = [threading.Thread(target=load) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertTrue(heard, "nothing was logged")
        self.assertEqual(len({thread for thread, _, _ in heard[before:]}), 4)

    def test_exception_in_a_log_function_does_not_reach_the_library(self):
        unraised, hook = [], sys.unraisablehook
        sys.unraisablehook = unraised.append

        def fail(level, message):
            raise RuntimeError("from a log function")

        try:
            runtime = griddep.Runtime(driver=DRIVER, log=fail, log_level=griddep.LOG_DEBUG)
            self.assertEqual(runtime.info().emulated, DRIVER == "emulated")
        finally:
            sys.unraisablehook = hook
        self.assertTrue(unraised)

    def test_child_of_fork_ends_nothing(self):
        x, y, z = self.memory()
        chain = self.chain(x, y, z)
        chain.run("graph-pdl")
        child = os.fork()
        if child == 0:
            # A driver refuses each call in a child; what is closed there ends nothing of the parent's.
            runtime, address, word = self.runtime.handle, x.address, ctypes.c_uint32()
            for item in (chain, self.module, x, y, z, self.runtime):
                item.close()
            read = griddep.raw.memory_read(runtime, ctypes.byref(word), address, 4, None, None)
            os._exit(read == griddep.OK)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(self.result(z), expected())


def fault():
    with griddep.Runtime(driver=DRIVER) as runtime:
        y = runtime.allocate(4 * COUNT)
        runtime.load(PTX).kernel("square").launch(GRID, BLOCK, [16, y, COUNT])
        runtime.synchronize()


def two_devices():
    """One text on two devices."""
    print(len(griddep.devices(DRIVER)))
    numbers = array.array("f", range(COUNT))
    for device in (0, 1):
        with griddep.Runtime(driver=DRIVER, device=device) as runtime:
            source, target = runtime.copy_in(numbers), runtime.allocate(4 * COUNT)
            runtime.load(PTX).kernel("square").launch(GRID, BLOCK, [source, target, COUNT])
            assert runtime.read(target, array.array("f", numbers)).tolist() == [x * x for x in numbers]


if __name__ == "__main__":
    if sys.argv[1:] == ["devices"]:
        two_devices()
        sys.exit()
    if sys.argv[1:] == ["fault"]:
        fault()
        sys.exit()
    program = unittest.main(argv=[sys.argv[0], "-q"], exit=False)
    outcome = program.result
    bad = len(outcome.failures) + len(outcome.errors)
    print(f"{outcome.testsRun - bad - len(outcome.skipped)} passed, {bad} failed, {len(outcome.skipped)} skipped", flush=True)
    sys.exit(bad > 0)
