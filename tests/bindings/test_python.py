"""The Python binding on the emulated driver. PTX names the text that is loaded; the last line sums up the cases."""

import array
import ctypes
import gc
import os
import pathlib
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

    def __dlpack_device__(self):
        return (self.device, 0)

    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        self.tensor = griddep._DLTensor(data=self.address - self.offset, device_type=self.device, byte_offset=self.offset)
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.tensor), b"dltensor", None)


class Binding(unittest.TestCase):
    def setUp(self):
        self.runtime = griddep.Runtime(driver="emulated")
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
        for memory in [y, WithInterface(y.address)]:
            with self.assertRaisesRegex(ValueError, f"may touch {4 * COUNT + 8} bytes of y, the memory that is given has {4 * COUNT}"):
                kernel.launch(GRID, BLOCK, [x.address, memory, COUNT + 2])
        with self.assertRaisesRegex(ValueError, "bytes of x"):
            self.runtime.chain().add(kernel, GRID, BLOCK, [x, y, COUNT + 2])

    def test_other_streams_are_respected(self):
        x, y, _ = self.memory()
        stream = self.runtime.stream()
        foreign, tensor = WithInterface(x.address), WithDLPack(y.address)
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
        with self.assertRaisesRegex(ValueError, "sideways"):
            self.runtime.chain().run("sideways")

    def test_fault_of_a_kernel_is_reported_when_waiting(self):
        """In a process of its own, since a fault stays with the process."""
        said = subprocess.run([sys.executable, __file__, "fault"], capture_output=True, text=True, check=False)
        self.assertIn("griddep.Error: GRIDDEP_ERROR_FAULT: ", said.stderr)
        self.assertIn("kernel square", said.stderr)
        self.assertEqual(said.returncode, 1)

    def test_findings_need_no_driver(self):
        early = PTX.replace("    griddepcontrol.wait;\n", "").replace("st.global.f32 [%to], %v;", "st.global.f32 [%to], %v; griddepcontrol.wait;")
        found = griddep.check(early, name="early.ptx")
        self.assertIn("GD110", [finding.code for finding in found])
        self.assertEqual(griddep.check(PTX), [])

    @unittest.skipUnless(numpy, "this python3 has no NumPy")
    def test_numpy_arrays(self):
        x = self.runtime.copy_in(numpy.arange(COUNT, dtype=numpy.float32))
        y, z = self.runtime.allocate(4 * COUNT), self.runtime.allocate(4 * COUNT)
        self.chain(x, y, z).run("pdl")
        out = self.runtime.read(z, numpy.empty(COUNT, dtype=numpy.float32))
        self.assertTrue((out == numpy.arange(COUNT, dtype=numpy.float32) ** 2 + 0.5).all())
        with self.assertRaisesRegex(ValueError, "contiguous"):
            self.runtime.write(z, out[::2])
        with self.assertRaisesRegex(ValueError, "read-only"):
            self.runtime.read(z, out.tobytes())
        with self.assertRaisesRegex(ValueError, "do not fit"):
            self.runtime.read(z, numpy.empty(2 * COUNT, dtype=numpy.float32))

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
        runtime = griddep.Runtime(driver="emulated", log=log, log_level=griddep.LOG_DEBUG)
        before = len(heard)

        def load():
            runtime.load(PTX).kernel("square")
            runtime.load_shelf("vector_add")

        threads = [threading.Thread(target=load) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertTrue(heard, "nothing was logged")
        self.assertGreater(len({thread for thread, _, _ in heard[before:]}), 1)

    def test_exception_in_a_log_function_does_not_reach_the_library(self):
        unraised, hook = [], sys.unraisablehook
        sys.unraisablehook = unraised.append

        def fail(level, message):
            raise RuntimeError("from a log function")

        try:
            runtime = griddep.Runtime(driver="emulated", log=fail, log_level=griddep.LOG_DEBUG)
            self.assertEqual(runtime.info().emulated, 1)
        finally:
            sys.unraisablehook = hook
        self.assertTrue(unraised)

    def test_child_of_fork_ends_nothing(self):
        x, y, z = self.memory()
        chain = self.chain(x, y, z)
        chain.run("graph-pdl")
        child = os.fork()
        if child == 0:
            # The emulated driver's copy in the child tells whether the memory has been freed.
            runtime, address, word = self.runtime.handle, x.address, ctypes.c_uint32()
            for item in (chain, self.module, x, y, z, self.runtime):
                item.close()
            os._exit(griddep.raw.memory_read(runtime, ctypes.byref(word), address, 4, None, None) != griddep.OK)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(self.result(z), expected())


def fault():
    with griddep.Runtime(driver="emulated") as runtime:
        y = runtime.allocate(4 * COUNT)
        runtime.load(PTX).kernel("square").launch(GRID, BLOCK, [16, y, COUNT])
        runtime.synchronize()


if __name__ == "__main__":
    if sys.argv[1:] == ["fault"]:
        fault()
        sys.exit()
    program = unittest.main(argv=[sys.argv[0], "-q"], exit=False)
    outcome = program.result
    bad = len(outcome.failures) + len(outcome.errors)
    print(f"{outcome.testsRun - bad - len(outcome.skipped)} passed, {bad} failed, {len(outcome.skipped)} skipped", flush=True)
    sys.exit(bad > 0)
