"""Uses libgriddep.so from Python through ctypes alone, on the fake driver.

LIBRARY, FAKE_DRIVER, HEADER and KERNELS name the shared objects, griddep.h and kernels.ptx. The structures below are written out by hand, as
a binding would have them: their layout is part of what is tested. The last line sums up the cases.
"""

import ctypes
import os
import re
import sys
import threading
import unittest
from ctypes import POINTER, byref, c_char, c_char_p, c_float, c_int32, c_uint32, c_uint64, c_void_p, sizeof

with open(os.environ["KERNELS"], "rb") as kernels:
    PTX = kernels.read()


class Sized(ctypes.Structure):
    """A structure of griddep.h that begins with its size."""

    def __init__(self, **fields):
        super().__init__(size=sizeof(type(self)), **fields)


class Error(Sized):
    _fields_ = [
        ("size", c_uint32),
        ("status", c_int32),
        ("driver_code", c_int32),
        ("line", c_int32),
        ("column", c_int32),
        ("file", c_char * 260),
        ("text", c_char * 2048),
    ]


LOG_FUNCTION = ctypes.CFUNCTYPE(None, c_void_p, c_int32, c_char_p)


class RuntimeOptions(Sized):
    _fields_ = [
        ("size", c_uint32),
        ("flags", c_uint32),
        ("driver", c_char_p),
        ("context", c_void_p),
        ("device", c_int32),
        ("pdl", c_int32),
        ("store_directory", c_char_p),
        ("nvrtc", c_char_p),
        ("log", LOG_FUNCTION),
        ("log_user", c_void_p),
        ("log_level", c_int32),
        ("reserved", c_uint32),
    ]


class RuntimeInfo(Sized):
    _fields_ = [
        ("size", c_uint32),
        ("features", c_uint32),
        ("driver", c_char_p),
        ("device_name", c_char_p),
        ("store_directory", c_char_p),
        ("driver_version", c_int32),
        ("device", c_int32),
        ("capability", c_int32),
        ("multiprocessors", c_int32),
        ("memory_bytes", c_uint64),
        ("l2_bytes", c_uint64),
        ("shared_bytes_per_multiprocessor", c_uint32),
        ("shared_bytes_per_block", c_uint32),
        ("registers_per_multiprocessor", c_uint32),
        ("threads_per_multiprocessor", c_uint32),
        ("blocks_per_multiprocessor", c_uint32),
        ("pdl_disabled", c_uint32),
        ("context", c_void_p),
        ("emulated", c_uint32),
        ("reserved", c_uint32),
        ("fallback", c_char_p),
        ("driver_cache", c_char_p),
        ("driver_cache_reason", c_char_p),
        ("driver_cache_bytes", c_uint64),
    ]


class KernelInfo(Sized):
    _fields_ = [
        ("size", c_uint32),
        ("traits", c_uint32),
        ("name", c_char_p),
        ("function", c_void_p),
        ("parameter_count", c_uint32),
        ("parameter_bytes", c_uint32),
        ("parameters_known", c_uint32),
        ("registers", c_uint32),
        ("static_shared_bytes", c_uint32),
        ("local_bytes", c_uint32),
        ("maximum_threads", c_uint32),
        ("maximum_dynamic_shared_bytes", c_uint32),
        ("required_block", c_uint32 * 3),
        ("virtual_architecture", c_int32),
        ("binary_version", c_int32),
        ("entry", c_uint32),
        ("ptx", c_void_p),
    ]


class ParameterInfo(Sized):
    _fields_ = [
        ("size", c_uint32),
        ("offset", c_uint32),
        ("bytes", c_uint32),
        ("alignment", c_uint32),
        ("name", c_char_p),
        ("type", c_char_p),
        ("is_pointer", c_uint32),
        ("reserved", c_uint32),
    ]


class HopInfo(Sized):
    _fields_ = [
        ("size", c_uint32),
        ("reason", c_int32),
        ("kernel", c_char_p),
        ("edge", c_int32),
        ("reserved", c_uint32),
    ]


class Argument(ctypes.Structure):
    _fields_ = [("bytes", c_uint32), ("kind", c_uint32), ("value", c_uint64), ("data", c_void_p)]


class LaunchConfig(Sized):
    _fields_ = [
        ("size", c_uint32),
        ("flags", c_uint32),
        ("grid", c_uint32 * 3),
        ("block", c_uint32 * 3),
        ("cluster", c_uint32 * 3),
        ("shared_bytes", c_uint32),
        ("pdl", c_int32),
        ("attribute_count", c_uint32),
        ("attributes", c_void_p),
        ("stream", c_void_p),
        ("lane", c_uint32),
        ("reserved", c_uint32),
    ]


class DriverAttribute(ctypes.Structure):
    """CUlaunchAttribute."""

    _fields_ = [("id", c_int32), ("pad", c_uint32), ("value", c_int32 * 16)]


class DriverConfig(ctypes.Structure):
    """CUlaunchConfig."""

    _fields_ = [
        ("grid", c_uint32 * 3),
        ("block", c_uint32 * 3),
        ("shared_bytes", c_uint32),
        ("stream", c_void_p),
        ("attributes", POINTER(DriverAttribute)),
        ("attribute_count", c_uint32),
    ]


class FakeLaunch(ctypes.Structure):
    _fields_ = [
        ("kernel", c_char_p),
        ("function", c_void_p),
        ("config", DriverConfig),
        ("parameters", c_void_p),
        ("parameter_bytes", ctypes.c_size_t),
        ("programmatic", c_int32),
        ("captured", c_int32),
        ("from_graph", c_int32),
        ("reserved", c_int32),
    ]

    def parameter_text(self):
        return ctypes.string_at(self.parameters, self.parameter_bytes)

    def attribute(self, wanted):
        """The first value of a launch attribute, or None where the launch does not have it."""
        for index in range(self.config.attribute_count):
            if self.config.attributes[index].id == wanted:
                return self.config.attributes[index].value[0]
        return None



VOID_FUNCTIONS = ["griddep_runtime_close", "griddep_module_unload", "griddep_chain_destroy"]
TEXT_FUNCTIONS = ["griddep_version_text", "griddep_constant_name", "griddep_status_name", "griddep_text"]


def load_library():
    library = ctypes.CDLL(os.environ["LIBRARY"])
    for name in VOID_FUNCTIONS:
        getattr(library, name).restype = None
    for name in TEXT_FUNCTIONS:
        getattr(library, name).restype = c_char_p
    library.griddep_chain_length.restype = c_uint32
    return library


def load_fake():
    fake = ctypes.CDLL(os.environ["FAKE_DRIVER"])
    fake.fake_driver_reset.restype = None
    for name in ["fake_driver_launches", "fake_driver_executions", "fake_driver_leaks"]:
        getattr(fake, name).restype = c_uint64
    fake.fake_driver_launch.argtypes = [c_uint64, POINTER(FakeLaunch)]
    fake.fake_driver_execution.argtypes = [c_uint64, POINTER(FakeLaunch)]
    fake.fake_driver_leaks.argtypes = [c_char_p, ctypes.c_size_t]
    return fake


GRIDDEP = load_library()
FAKE = load_fake()


def constant(name):
    value = c_int32()
    status = GRIDDEP.griddep_constant_find(name.encode(), byref(value), None)
    if status:
        raise LookupError(f"{name}: status {status}")
    return value.value


class Failure(Exception):
    """A status below zero, with the error that came with it."""

    def __init__(self, status, error):
        super().__init__(f"{GRIDDEP.griddep_status_name(status).decode()}: {error.text.decode()}")
        self.status = status
        self.error = error


def call(name, *arguments):
    """Calls a function whose last parameter is a griddep_error."""
    error = Error()
    status = getattr(GRIDDEP, name)(*arguments, byref(error))
    if status != 0:
        raise Failure(status, error)


def arguments_of(*values):
    """An array of griddep_argument: integers are 8 bytes, c_... values what they are."""
    array = (Argument * len(values))()
    for argument, value in zip(array, values):
        if isinstance(value, int):
            argument.bytes, argument.value = 8, value
        else:
            argument.bytes = sizeof(value)
            argument.data = ctypes.addressof(value)
    # The memory of by-reference values must live as long as the array does.
    array.kept = values
    return array


class Session:
    """A runtime on the fake driver, its module and two kernels."""

    def __init__(self, **options):
        self.runtime, self.module = c_void_p(), c_void_p()
        options.setdefault("store_directory", b"")
        opening = RuntimeOptions(driver=os.environ["FAKE_DRIVER"].encode(), **options)
        call("griddep_runtime_open", byref(opening), byref(self.runtime))
        self.memory = []

    def load(self):
        call("griddep_module_load", self.runtime, PTX, c_uint64(len(PTX)), None, byref(self.module))
        return self.kernel("add"), self.kernel("scale")

    def kernel(self, name):
        kernel = c_void_p()
        call("griddep_module_find_kernel", self.module, name.encode(), byref(kernel))
        return kernel

    def allocate(self, values):
        """Device memory that holds these floats."""
        address = c_uint64()
        data = (c_float * len(values))(*values)
        call("griddep_memory_allocate", self.runtime, c_uint64(sizeof(data)), byref(address))
        self.memory.append(address)
        call("griddep_memory_write", self.runtime, address, data, c_uint64(sizeof(data)), None)
        return address.value

    def read(self, address, count):
        data = (c_float * count)()
        call("griddep_memory_read", self.runtime, data, c_uint64(address), c_uint64(sizeof(data)), None)
        return list(data)

    def close(self):
        for address in self.memory:
            call("griddep_memory_free", self.runtime, address)
        self.memory = []
        GRIDDEP.griddep_module_unload(self.module)
        GRIDDEP.griddep_runtime_close(self.runtime)


def launches():
    found = []
    for index in range(FAKE.fake_driver_launches()):
        launch = FakeLaunch()
        assert FAKE.fake_driver_launch(index, byref(launch)) == 1
        found.append(launch)
    return found


def executions():
    found = []
    for index in range(FAKE.fake_driver_executions()):
        launch = FakeLaunch()
        assert FAKE.fake_driver_execution(index, byref(launch)) == 1
        found.append(launch)
    return found


def header_constants():
    """Names and values of the header's enumerators, read in another way than the library's build does."""
    with open(os.environ["HEADER"], encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.DOTALL)
    pairs = []
    for body in re.findall(r"enum\s*\{(.*?)\}", text, flags=re.DOTALL):
        for item in filter(None, (item.strip() for item in body.split(","))):
            name, _, value = item.partition("=")
            pairs.append((name.strip(), int(value, 0)))
    return pairs


class WithoutDriver(unittest.TestCase):
    def test_version(self):
        major, minor, patch = (constant("GRIDDEP_VERSION_" + part) for part in ("MAJOR", "MINOR", "PATCH"))
        self.assertEqual(GRIDDEP.griddep_version(), major * 1000000 + minor * 1000 + patch)
        self.assertEqual(GRIDDEP.griddep_version_text().decode(), f"{major}.{minor}.{patch}")

    def test_constants_are_those_of_the_header(self):
        listed = []
        value = c_int32()
        while (name := GRIDDEP.griddep_constant_name(len(listed), byref(value))) is not None:
            listed.append((name.decode(), value.value))
        self.assertGreater(len(listed), 70)
        self.assertEqual(listed, header_constants())

    def test_syntax_error_has_a_position(self):
        text = b".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry broken(\n\t.param .u64 )\n{\n    ret;\n}\n"
        ptx = c_void_p(12345)
        with self.assertRaises(Failure) as caught:
            call("griddep_ptx_parse", text, c_uint64(len(text)), "broken.ptx".encode(), byref(ptx))
        error = caught.exception.error
        self.assertEqual(caught.exception.status, constant("GRIDDEP_ERROR_SYNTAX"))
        self.assertEqual(error.status, caught.exception.status)
        self.assertEqual((error.file, error.line, error.column), (b"broken.ptx", 5, 14))
        self.assertIn(b"5 | \t.param .u64 )\n", error.text)
        self.assertIn(b"| \t            ^", error.text)
        self.assertEqual(ptx.value, 12345)

    def test_error_of_a_wrong_size_is_refused(self):
        error = Error()
        error.size = 8
        ptx = c_void_p()
        status = GRIDDEP.griddep_ptx_parse(PTX, c_uint64(len(PTX)), None, byref(ptx), byref(error))
        self.assertEqual(status, constant("GRIDDEP_ERROR_STRUCT"))
        self.assertIsNone(ptx.value)


class OnFakeDriver(unittest.TestCase):
    def setUp(self):
        FAKE.fake_driver_reset()

    def tearDown(self):
        leaks = ctypes.create_string_buffer(256)
        self.assertEqual(FAKE.fake_driver_leaks(leaks, len(leaks)), 0, leaks.value)

    def test_runtime_tells_about_the_device(self):
        session = Session()
        info = RuntimeInfo()
        call("griddep_runtime_get_info", session.runtime, byref(info))
        self.assertEqual(info.size, sizeof(info))
        self.assertEqual(info.capability, 90)
        self.assertEqual(info.driver_version, 13000)
        self.assertEqual(info.driver.decode(), os.environ["FAKE_DRIVER"])
        self.assertEqual(info.store_directory, b"")
        self.assertTrue(info.features & constant("GRIDDEP_FEATURE_PDL"))
        self.assertGreater(info.multiprocessors, 0)
        self.assertIsNotNone(info.context)
        session.close()

    def test_log_function_is_called(self):
        heard = []
        log = LOG_FUNCTION(lambda _user, level, message: heard.append((level, message.decode())))
        session = Session(log=log, log_level=constant("GRIDDEP_LOG_WARNING"), store_directory=b"/dev/null/cache")
        session.close()
        self.assertEqual([level for level, _ in heard], [constant("GRIDDEP_LOG_WARNING")])
        self.assertIn("/dev/null/cache", heard[0][1])

    def test_kernels_tell_parameters_and_traits(self):
        session = Session()
        add, scale = session.load()
        expected = [
            (
                add,
                "add",
                ["KNOWN", "WAITS", "WAITS_ALWAYS", "TRIGGERS"],
                28,
                [("x", "u64", 0, 8, 0), ("y", "u64", 8, 8, 0), ("out", "u64", 16, 8, 0), ("count", "u32", 24, 4, 0)],
            ),
            (scale, "scale", ["KNOWN"], 12, [("data", "u64", 0, 8, 1), ("factor", "f32", 8, 4, 0)]),
        ]
        for kernel, name, traits, size, parameters in expected:
            info = KernelInfo()
            call("griddep_kernel_get_info", kernel, byref(info))
            self.assertEqual(info.name.decode(), name)
            self.assertEqual(info.traits, sum(constant("GRIDDEP_TRAIT_" + trait) for trait in traits))
            self.assertEqual((info.parameter_count, info.parameter_bytes, info.parameters_known), (len(parameters), size, 1))
            found = []
            for index in range(info.parameter_count):
                parameter = ParameterInfo()
                call("griddep_kernel_get_parameter", kernel, index, byref(parameter))
                name, kind = parameter.name.decode(), parameter.type.decode()
                found.append((name, kind, parameter.offset, parameter.bytes, parameter.is_pointer))
            self.assertEqual(found, parameters)
        with self.assertRaises(Failure) as caught:
            session.kernel("subtract")
        self.assertEqual(caught.exception.status, constant("GRIDDEP_ERROR_NOT_FOUND"))
        self.assertIn("add", str(caught.exception))
        session.close()

    def test_launch_arrives_as_it_was_asked_for(self):
        session = Session()
        add, scale = session.load()
        x, y, out = (session.allocate(values) for values in ([1, 2, 3], [10, 20, 30], [0, 0, 0]))
        reason = c_int32(-1)
        config = LaunchConfig(grid=(7, 2, 0), block=(128, 0, 0))
        arguments = arguments_of(x, y, out, c_uint32(3))
        call("griddep_launch", add, byref(config), arguments, 4, byref(reason))
        self.assertEqual(reason.value, constant("GRIDDEP_REASON_SET"))
        self.assertEqual(session.read(out, 3), [11, 22, 33])

        data = session.allocate([1])
        call("griddep_launch", scale, byref(config), arguments_of(data, c_float(0.5)), 2, byref(reason))
        self.assertEqual(reason.value, constant("GRIDDEP_REASON_NO_WAIT"))
        config.pdl = constant("GRIDDEP_PDL_FORCE")
        call("griddep_launch", scale, byref(config), arguments_of(data, c_float(0.5)), 2, byref(reason))
        self.assertEqual(reason.value, constant("GRIDDEP_REASON_FORCED"))

        first, second, third = launches()
        self.assertEqual(first.kernel, b"add")
        self.assertEqual(list(first.config.grid), [7, 2, 1])
        self.assertEqual(list(first.config.block), [128, 1, 1])
        packed = b"".join(address.to_bytes(8, "little") for address in (x, y, out)) + (3).to_bytes(4, "little")
        self.assertEqual(first.parameter_text(), packed)
        self.assertEqual(first.attribute(6), 1)
        self.assertIn(second.attribute(6), (None, 0))
        self.assertEqual(third.attribute(6), 1)
        self.assertEqual(second.parameter_text(), data.to_bytes(8, "little") + bytes(c_float(0.5)))
        session.close()

    def test_wrong_arguments_are_refused(self):
        session = Session()
        add, _ = session.load()
        config = LaunchConfig(grid=(1, 1, 1), block=(1, 1, 1))
        reason = c_int32(-1)
        for arguments, hint in ((arguments_of(1, 2, 3), "4"), (arguments_of(1, 2, 3, 4), "count")):
            with self.assertRaises(Failure) as caught:
                call("griddep_launch", add, byref(config), arguments, len(arguments), byref(reason))
            self.assertEqual(caught.exception.status, constant("GRIDDEP_ERROR_SIGNATURE"))
            self.assertIn("add", str(caught.exception))
            self.assertIn(hint, str(caught.exception))
        config.flags = 0x80000000
        with self.assertRaises(Failure) as caught:
            call("griddep_launch", add, byref(config), arguments_of(1, 2, 3, c_uint32(4)), 4, byref(reason))
        self.assertIn(caught.exception.status, (constant("GRIDDEP_ERROR_STRUCT"), constant("GRIDDEP_ERROR_ARGUMENT")))
        self.assertEqual(reason.value, -1)
        self.assertEqual(launches(), [])
        session.close()

    def test_chain_gives_the_same_in_all_modes(self):
        session = Session()
        add, _ = session.load()
        chain = c_void_p()
        call("griddep_chain_create", session.runtime, byref(chain))
        x, y = session.allocate([1, 2]), session.allocate([10, 20])
        between, out = session.allocate([0, 0]), session.allocate([0, 0])
        config = LaunchConfig(grid=(1, 0, 0), block=(32, 0, 0))
        for first, second in ((x, between), (between, out)):
            call("griddep_chain_add", chain, add, byref(config), arguments_of(first, y, second, c_uint32(2)), 4)
        self.assertEqual(GRIDDEP.griddep_chain_length(chain), 2)

        stream = c_void_p()
        call("griddep_stream_create", session.runtime, None, byref(stream))
        off, first, is_set = (constant("GRIDDEP_REASON_" + name) for name in ("OFF", "FIRST", "SET"))
        expected = {
            "serial": (off, -1, 0, 0),
            "pdl": (is_set, -1, 1, 0),
            "graph": (off, 0, 0, 1),
            "graph-pdl": (is_set, 1, 1, 1),
        }
        for mode in range(constant("GRIDDEP_MODE_COUNT")):
            name = GRIDDEP.griddep_text(constant("GRIDDEP_TEXT_MODE"), mode).decode()
            with self.subTest(mode=name):
                call("griddep_memory_fill", session.runtime, c_uint64(out), 0xFF, c_uint64(8), None)
                before = FAKE.fake_driver_executions()
                call("griddep_chain_run", chain, mode, stream)
                call("griddep_stream_synchronize", session.runtime, stream)
                self.assertEqual(session.read(out, 2), [21, 42])
                ran = executions()[before:]
                reason, edge, programmatic, from_graph = expected[name]
                self.assertEqual([launch.programmatic for launch in ran], [0, programmatic])
                self.assertEqual([launch.from_graph for launch in ran], [from_graph, from_graph])
                hop = HopInfo()
                call("griddep_chain_get_hop", chain, mode, 1, byref(hop))
                self.assertEqual((hop.kernel, hop.reason, hop.edge), (b"add", reason, edge))
                call("griddep_chain_get_hop", chain, mode, 0, byref(hop))
                self.assertEqual((hop.reason, hop.edge), (first if programmatic else off, -1))
        call("griddep_stream_destroy", session.runtime, stream)
        GRIDDEP.griddep_chain_destroy(chain)
        session.close()

    def test_objects_may_be_ended_in_any_order(self):
        session = Session()
        add, _ = session.load()
        chain = c_void_p()
        call("griddep_chain_create", session.runtime, byref(chain))
        x, y, out = session.allocate([1]), session.allocate([2]), session.allocate([0])
        config = LaunchConfig(grid=(1, 1, 1), block=(1, 1, 1))
        call("griddep_chain_add", chain, add, byref(config), arguments_of(x, y, out, c_uint32(1)), 4)
        GRIDDEP.griddep_runtime_close(session.runtime)
        GRIDDEP.griddep_module_unload(session.module)
        call("griddep_chain_run", chain, constant("GRIDDEP_MODE_GRAPH_PDL"), None)
        other = Session()
        self.assertEqual(other.read(out, 1), [3])
        other.memory, session.memory = session.memory, []
        other.close()
        # As a finalizer would, on another thread.
        finalizer = threading.Thread(target=GRIDDEP.griddep_chain_destroy, args=(chain,))
        finalizer.start()
        finalizer.join()

    def test_launches_from_several_threads(self):
        session = Session()
        _, scale = session.load()
        data = session.allocate([1])
        failures = []

        def work():
            config = LaunchConfig(grid=(1, 1, 1), block=(1, 1, 1))
            try:
                for _ in range(50):
                    call("griddep_launch", scale, byref(config), arguments_of(data, c_float(2)), 2, None)
            except Failure as failure:
                failures.append(str(failure))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertEqual(FAKE.fake_driver_launches(), 200)
        session.close()

    def test_compile_error_quotes_the_line(self):
        session = Session()
        text = PTX.replace(b"    ret;\n", b"    ret; // fake-jit-error: 33 Unknown symbol 'tid'\n", 1)
        module = c_void_p()
        with self.assertRaises(Failure) as caught:
            call("griddep_module_load", session.runtime, text, c_uint64(len(text)), None, byref(module))
        error = caught.exception.error
        self.assertIn(error.status, (constant("GRIDDEP_ERROR_COMPILE"), constant("GRIDDEP_ERROR_SYNTAX")))
        self.assertEqual(error.line, 33)
        self.assertIn(b"Unknown symbol 'tid'", error.text)
        self.assertIn(b"33 |     ret;", error.text)
        self.assertIsNone(module.value)
        session.close()


def main():
    program = unittest.main(exit=False, testRunner=unittest.TextTestRunner(stream=sys.stdout, verbosity=2))
    result = program.result
    bad = result.failures + result.errors
    for case, trace in bad:
        print(f"failed: {case.id()}: {trace.strip().splitlines()[-1]}")
    failed = len({case.id().split(" ")[0] for case, _ in bad})
    print(f"{result.testsRun - failed - len(result.skipped)} passed, {failed} failed, {len(result.skipped)} skipped")
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
