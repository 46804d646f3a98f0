"""libgriddep for Python: programmatic dependent launch for PTX, by ctypes alone.

    import griddep

    with griddep.Runtime() as runtime:
        module = runtime.load(ptx)
        kernel = module.kernel("scale")
        kernel.launch(grid=132, block=256, arguments=[x, 0.5, count], stream=stream)

One file, no build step; copy it or put its folder into PYTHONPATH. The library is $GRIDDEP_LIBRARY, or libgriddep.so.0 as the
loader finds it. What fails raises griddep.Error. An argument is converted to what the kernel's PTX declares; device memory is given
as an int (its address), a Memory, or any object that has __dlpack__ or __cuda_array_interface__ (CuPy, PyTorch, JAX, Numba).

Everything that the classes do not cover is in `raw`: each function of griddep.h without its prefix, with ctypes structs named
c_launch_config and so on. doc/languages.md tells about threads, finalizers, callbacks and fork.
"""

from __future__ import annotations

import ctypes
import difflib
import itertools
import math
import operator
import os
import struct
import threading
import types
import weakref
from collections.abc import Callable, Sequence
from ctypes import (
    byref, c_char, c_char_p, c_double, c_float, c_int8, c_int16, c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p,
)  # fmt: skip


# What annotations name. Nothing of it is needed to run, and typing takes longer to load than this module.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn, Protocol, TypeVar, Union
    from typing_extensions import Self, TypeAlias

    class SupportsDLPack(Protocol):
        """A tensor that DLPack hands on."""

        def __dlpack__(self, *, stream: Any = ...) -> Any: ...

        def __dlpack_device__(self) -> tuple[int, int]: ...

    class SupportsCudaArray(Protocol):
        """An array with the CUDA array interface."""

        @property
        def __cuda_array_interface__(self) -> dict[str, Any]: ...

    DeviceMemory: TypeAlias = Union[int, "Memory", SupportsDLPack, SupportsCudaArray]
    HostData: TypeAlias = Any  # what has a contiguous buffer: bytes, array.array, a NumPy array, Pinned
    HostT = TypeVar("HostT")
    StreamLike: TypeAlias = Union["Stream", c_void_p, int, None]
    Shape: TypeAlias = Union[int, Sequence[int]]

_INTEGERS = {c_int8, c_int16, c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64}


def _integer(value: Any, kind: Any, name: str) -> int:
    """A value as an int that fits the ctypes type; ctypes itself cuts what does not, and takes no integers of NumPy."""
    value = operator.index(value)
    if kind(value).value != value:
        bits = 8 * ctypes.sizeof(kind)
        raise ValueError(f"{name} is {value}, which is no {'signed' if kind(-1).value < 0 else 'unsigned'} integer of {bits} bits")
    return int(value)


class _Struct(ctypes.Structure):
    """A struct of griddep.h; one that begins with `size` has it set."""

    def __init__(self, **fields: Any) -> None:
        kinds = dict(self._fields_)
        if "size" in kinds:
            fields.setdefault("size", ctypes.sizeof(self))
        for name, value in fields.items():
            if name not in kinds:
                near = difflib.get_close_matches(name, kinds, 1)
                raise TypeError(f"there is no option {name!r}; " + (f"did you mean {near[0]}?" if near else "there are " + ", ".join(kinds)))
            if kinds[name] in _INTEGERS:
                fields[name] = _integer(value, kinds[name], name)
        super().__init__(**fields)


# ---- generated from griddep.h by build-tools/bindings.py
VERSION_MAJOR = 0
VERSION_MINOR = 1
VERSION_PATCH = 0
OK = 0
ERROR_ARGUMENT = -1
ERROR_STRUCT = -2
ERROR_MEMORY = -3
ERROR_DEVICE_MEMORY = -4
ERROR_FILE = -5
ERROR_ENVIRONMENT = -6
ERROR_NO_DRIVER = -7
ERROR_DRIVER_TOO_OLD = -8
ERROR_DRIVER = -9
ERROR_NO_NVRTC = -10
ERROR_SYNTAX = -11
ERROR_COMPILE = -12
ERROR_IMAGE = -13
ERROR_NOT_FOUND = -14
ERROR_SIGNATURE = -15
ERROR_LIMIT = -16
ERROR_STREAM = -17
ERROR_UNSUPPORTED = -18
ERROR_FAULT = -19
ERROR_REQUIREMENT = -20
ERROR_CALLBACK = -21
ERROR_PEER = -22
TEXT_STATUS = 0
TEXT_REASON = 1
TEXT_OVERLAP = 2
TEXT_MODE = 3
TEXT_TUNE_OUTCOME = 4
LOG_NONE = 0
LOG_ERROR = 1
LOG_WARNING = 2
LOG_INFO = 3
LOG_DEBUG = 4
PDL_DEFAULT = 0
PDL_AUTO = 1
PDL_OFF = 2
PDL_FORCE = 3
RUNTIME_DEVICE = 1
RUNTIME_RESET = 2
RUNTIME_REST = 4
FEATURE_PDL = 1
FEATURE_GRAPH = 2
FEATURE_GRAPH_EDGES = 4
FEATURE_PROGRAMMATIC_EVENT = 8
FEATURE_LAUNCH_COMPLETION_EVENT = 16
FEATURE_PARAMETER_INFO = 32
FEATURE_CLUSTER = 64
FEATURE_PARTS = 256
HOST_PORTABLE = 1
HOST_WRITE_COMBINED = 4
STREAM_BLOCKING = 1
EVENT_TIMING = 0
EVENT_ORDER = 1
TRAIT_KNOWN = 1
TRAIT_WAITS = 2
TRAIT_WAITS_ALWAYS = 4
TRAIT_TRIGGERS = 8
TRAIT_CALLS = 16
TRAIT_STATED = 128
TRAIT_MACHINE_CODE = 32
TRAIT_OPEN = 64
TRAIT_TOUCHES_EARLY = 256
TRAIT_OTHERS_WAIT = 512
SEVERITY_NOTE = 1
SEVERITY_WARNING = 2
SEVERITY_ERROR = 3
WAIT_KEEP = 0
WAIT_INSERT = 1
WAIT_MOVE = 2
WAIT_REMOVE = 3
WAIT_START = 4
TRIGGER_KEEP = 0
TRIGGER_REMOVE = 1
TRIGGER_START = 2
TRIGGER_AFTER_WAIT = 3
TRIGGER_AFTER_LOADS = 4
TRIGGER_BEFORE_STORES = 5
TRIGGER_END = 6
TRIGGER_LINE = 7
TRIGGER_LOOP = 8
MODULE_LINE_INFO = 1
MODULE_DEBUG = 2
MODULE_VERBOSE = 4
MODULE_PTX = 8
MODULE_LIBRARY = 16
MODULE_PCH = 32
OPTIMIZATION_DEFAULT = 0
OPTIMIZATION_NONE = -1
IMAGE_PTX = 1
IMAGE_CUBIN = 2
IMAGE_FATBIN = 3
REASON_SET = 0
REASON_FORCED = 1
REASON_OFF = 2
REASON_KILL_SWITCH = 3
REASON_DEVICE = 4
REASON_DRIVER = 5
REASON_NO_WAIT = 6
REASON_WAIT_NOT_ALWAYS = 7
REASON_UNKNOWN_CODE = 8
REASON_FIRST = 9
REASON_PLAIN = 10
REASON_OTHER_ORDER = 11
REASON_NODE_BETWEEN = 12
REASON_NOT_KERNELS = 13
REASON_CONDITIONAL = 14
REASON_WRONG_END = 15
REASON_BLOCKING = 16
REASON_COOPERATIVE = 17
REASON_NO_TRIGGER = 18
REASON_NO_ROOM = 19
REASON_CARVEOUT = 20
REASON_WAVES = 21
REASON_CLUSTER = 22
REASON_LAUNCH_ORDER = 23
REASON_WRONG_PORT = 24
REASON_NO_EDGE_DATA = 25
REASON_TOOLS = 26
REASON_ROUND = 27
REASON_NOT_PROVEN = 28
REASON_RACE = 29
OVERLAP_UNKNOWN = -1
OVERLAP_NONE = 0
OVERLAP_TAIL = 1
OVERLAP_FULL = 2
ATTRIBUTE_IGNORE = 0
ATTRIBUTE_ACCESS_POLICY_WINDOW = 1
ATTRIBUTE_COOPERATIVE = 2
ATTRIBUTE_SYNCHRONIZATION_POLICY = 3
ATTRIBUTE_CLUSTER_DIMENSION = 4
ATTRIBUTE_CLUSTER_SCHEDULING_POLICY = 5
ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6
ATTRIBUTE_PROGRAMMATIC_EVENT = 7
ATTRIBUTE_PRIORITY = 8
ATTRIBUTE_MEMORY_SYNC_DOMAIN_MAP = 9
ATTRIBUTE_MEMORY_SYNC_DOMAIN = 10
ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION = 11
ATTRIBUTE_LAUNCH_COMPLETION_EVENT = 12
ATTRIBUTE_DEVICE_UPDATABLE_NODE = 13
ATTRIBUTE_CARVEOUT = 14
ATTRIBUTE_NVLINK_CENTRIC_SCHEDULING = 16
CLUSTER_SCHEDULING_DEFAULT = 0
CLUSTER_SCHEDULING_SPREAD = 1
CLUSTER_SCHEDULING_LOAD_BALANCING = 2
MEMORY_SYNC_DOMAIN_DEFAULT = 0
MEMORY_SYNC_DOMAIN_REMOTE = 1
ACCESS_PROPERTY_NORMAL = 0
ACCESS_PROPERTY_STREAMING = 1
ACCESS_PROPERTY_PERSISTING = 2
CARVEOUT_DEFAULT = -1
TENSOR_U8 = 0
TENSOR_U16 = 1
TENSOR_U32 = 2
TENSOR_S32 = 3
TENSOR_U64 = 4
TENSOR_S64 = 5
TENSOR_F16 = 6
TENSOR_F32 = 7
TENSOR_F64 = 8
TENSOR_BF16 = 9
TENSOR_F32_FTZ = 10
TENSOR_TF32 = 11
TENSOR_TF32_FTZ = 12
TENSOR_16U4_ALIGN8 = 13
TENSOR_16U4_ALIGN16 = 14
TENSOR_16U6_ALIGN16 = 15
INTERLEAVE_NONE = 0
INTERLEAVE_16B = 1
INTERLEAVE_32B = 2
SWIZZLE_NONE = 0
SWIZZLE_32B = 1
SWIZZLE_64B = 2
SWIZZLE_128B = 3
SWIZZLE_128B_ATOM_32B = 4
SWIZZLE_128B_ATOM_32B_FLIP_8B = 5
SWIZZLE_128B_ATOM_64B = 6
PROMOTION_NONE = 0
PROMOTION_64B = 1
PROMOTION_128B = 2
PROMOTION_256B = 3
FILL_ZERO = 0
FILL_NAN = 1
MODE_SERIAL = 0
MODE_PDL = 1
MODE_GRAPH = 2
MODE_GRAPH_PDL = 3
MODE_COUNT = 4
ACCESS_UNKNOWN = 0
ACCESS_READ = 1
ACCESS_WRITE = 2
ACCESS_UPDATE = 3
ACCESS_CONSTANT = 4
NO_MEMBER = -1
NCCL_AUTO = 0
NCCL_OFF = 1
NCCL_ON = 2
GROUP_REMEMBER = 1
HOP_ALL_REDUCE = 0
HOP_ALL_GATHER = 1
HOP_REDUCE_SCATTER = 2
HOP_BROADCAST = 3
HOP_EXCHANGE = 4
GRAPH_NODE_KERNEL = 0
GRAPH_NODE_COPY = 1
GRAPH_NODE_FILL = 2
GRAPH_NODE_HOST = 3
GRAPH_NODE_CHILD = 4
GRAPH_NODE_EMPTY = 5
GRAPH_NODE_EVENT_WAIT = 6
GRAPH_NODE_EVENT_RECORD = 7
GRAPH_NODE_CONDITIONAL = 13
PORT_DEFAULT = 0
PORT_PROGRAMMATIC = 1
PORT_LAUNCH_ORDER = 2
EDGE_DEFAULT = 0
EDGE_PROGRAMMATIC = 1
EDGE_AUTO = 2
GRAPH_OWN = 1
FORMAT_DOT = 0
FORMAT_JSON = 1
TUNE_FLAG_FORGET = 1
TUNE_FLAG_SHAPES = 2
TUNE_OUTCOME_BETTER = 0
TUNE_OUTCOME_NOT_BETTER = 1
TUNE_OUTCOME_SLOWER = 2
TUNE_OUTCOME_SAME = 3
TUNE_OUTCOME_NO_PLACE = 4
TUNE_OUTCOME_ILLEGAL = 5
TUNE_OUTCOME_DIFFERENT = 6
TUNE_OUTCOME_REFUSED = 7
TUNE_OUTCOME_UNCONFIRMED = 8
STAMP_SM = 0
STAMP_ENTRY = 1
STAMP_WAIT = 2
STAMP_RELEASE = 3
STAMP_TRIGGER = 4
STAMP_EXIT = 5
STAMP_MARK = 6
STAMP_NONE = -1

log_function = ctypes.CFUNCTYPE(None, c_void_p, c_int32, c_char_p)
host_function = ctypes.CFUNCTYPE(None, c_void_p)
notify_function = ctypes.CFUNCTYPE(None, c_void_p, c_void_p)
tune_progress = ctypes.CFUNCTYPE(c_int32, c_void_p, c_uint32, c_uint32, c_char_p)


class c_error(_Struct):
    _fields_ = [
        ("size", c_uint32),
        ("status", c_int32),
        ("driver_code", c_int32),
        ("line", c_int32),
        ("column", c_int32),
        ("file", c_char * 260),
        ("text", c_char * 2048),
    ]


class c_runtime_options(_Struct):
    _fields_ = [
        ("size", c_uint32),
        ("flags", c_uint32),
        ("driver", c_char_p),
        ("context", c_void_p),
        ("device", c_int32),
        ("pdl", c_int32),
        ("store_directory", c_char_p),
        ("nvrtc", c_char_p),
        ("log", log_function),
        ("log_user", c_void_p),
        ("log_level", c_int32),
        ("reserved", c_uint32),
        ("multiprocessors", c_uint32),
        ("part", c_uint32),
    ]


class c_runtime_info(_Struct):
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


class c_device_info(_Struct):
    _fields_ = [
        ("size", c_uint32),
        ("device", c_int32),
        ("capability", c_int32),
        ("multiprocessors", c_uint32),
        ("memory_bytes", c_uint64),
        ("l2_bytes", c_uint64),
        ("shared_bytes_per_multiprocessor", c_uint32),
        ("shared_bytes_per_block", c_uint32),
        ("registers_per_multiprocessor", c_uint32),
        ("threads_per_multiprocessor", c_uint32),
        ("blocks_per_multiprocessor", c_uint32),
        ("copy_engines", c_uint32),
        ("pools", c_uint32),
        ("integrated", c_uint32),
        ("pci_domain", c_uint32),
        ("pci_bus", c_uint32),
        ("pci_device", c_uint32),
        ("device_count", c_uint32),
        ("uuid", c_uint8 * 16),
        ("name", c_char * 256),
    ]


class c_stream_options(_Struct):
    _fields_ = [
        ("size", c_uint32),
        ("flags", c_uint32),
        ("priority", c_int32),
        ("reserved", c_uint32),
    ]


class c_stream_info(_Struct):
    _fields_ = [
        ("size", c_uint32),
        ("flags", c_uint32),
        ("priority", c_int32),
        ("captured", c_uint32),
    ]


class c_ptx_info(_Struct):
    _fields_ = [
        ("size", c_uint32),
        ("address_bits", c_uint32),
        ("target", c_char_p),
        ("version", c_int32),
        ("capability", c_int32),
        ("entry_count", c_uint32),
        ("function_count", c_uint32),
    ]


class c_ptx_entry_info(_Struct):
    _fields_ = [
        ("size", c_uint32),
        ("traits", c_uint32),
        ("name", c_char_p),
        ("line", c_int32),
        ("column", c_int32),
        ("parameter_count", c_uint32),
        ("parameter_bytes", c_uint32),
        ("control_count", c_uint32),
        ("instruction_count", c_uint32),
        ("required_block", c_uint32 * 3),
        ("maximum_block", c_uint32 * 3),
        ("required_cluster", c_uint32 * 3),
        ("reserved", c_uint32),
    ]


class c_parameter_info(_Struct):
    _fields_ = [
        ("size", c_uint32),
        ("offset", c_uint32),
        ("bytes", c_uint32),
        ("alignment", c_uint32),
        ("name", c_char_p),
        ("type", c_char_p),
        ("is_pointer", c_uint32),
        ("reserved", c_uint32),
        ("element", c_char_p),
    ]


class c_finding(_Struct):
    _fields_ = [
        ("size", c_uint32),
        ("severity", c_int32),
        ("code", c_char_p),
        ("file", c_char_p),
        ("entry", c_char_p),
        ("text", c_char_p),
        ("hint", c_char_p),
        ("quote", c_char_p),
        ("line", c_int32),
        ("column", c_int32),
        ("launch", c_int32),
        ("reserved", c_uint32),
        ("end_line", c_int32),
        ("end_column", c_int32),
        ("edit_count", c_uint32),
        ("is_certain", c_uint32),
        ("related_count", c_uint32),
        ("source_line", c_int32),
        ("source_file", c_char_p),
    ]


class c_edit(_Struct):
    _fields_ = [
        ("size", c_uint32),
        ("reserved", c_uint32),
        ("offset", c_uint64),
        ("bytes", c_uint64),
        ("text", c_char_p),
        ("line", c_int32),
        ("column", c_int32),
        ("end_line", c_int32),
        ("end_column", c_int32),
    ]


class c_related(_Struct):
    _fields_ = [
        ("size", c_uint32),
        ("reserved", c_uint32),
        ("file", c_char_p),
        ("text", c_char_p),
        ("line", c_int32),
        ("column", c_int32),
        ("end_line", c_int32),
        ("end_column", c_int32),
    ]


class c_check_options(_Struct):
    _fields_ = [
        ("size", c_uint32),
        ("flags", c_uint32),
        ("constants", c_void_p),
        ("constant_count", c_uint32),
        ("reserved", c_uint32),
    ]


class c_rewrite_options(_Struct):
    _fields_ = [
        ("size", c_uint32),
        ("flags", c_uint32),
        ("entry", c_char_p),
        ("wait", c_int32),
        ("trigger", c_int32),
        ("trigger_line", c_int32),
        ("constant_count", c_uint32),
        ("constants", c_void_p),
        ("prefetch", c_char_p),
        ("prefetch_bytes", c_uint64),
        ("trigger_round", c_uint32),
        ("reserved", c_uint32),
    ]


class c_header(_Struct):
    _fields_ = [
        ("name", c_char_p),
        ("text", c_char_p),
    ]


class c_module_options(_Struct):
    _fields_ = [
        ("size", c_uint32),
        ("flags", c_uint32),
        ("name", c_char_p),
        ("optimization", c_int32),
        ("maximum_registers", c_uint32),
        ("compile_options", c_void_p),
        ("compile_option_count", c_uint32),
        ("reserved", c_uint32),
        ("headers", c_void_p),
        ("name_expressions", c_void_p),
        ("header_count", c_uint32),
        ("name_expression_count", c_uint32),
    ]


class c_image_info(_Struct):
    _fields_ = [
        ("size", c_uint32),
        ("kind", c_int32),
        ("part_count", c_uint32),
    ]


class c_image_part(_Struct):
    _fields_ = [
        ("size", c_uint32),
        ("kind", c_int32),
        ("architecture", c_int32),
        ("suffix", c_int32),
        ("packed", c_uint32),
        ("kernel_count", c_uint32),
        ("data", c_void_p),
        ("bytes", c_uint64),
    ]


class c_image_kernel(_Struct):
    _fields_ = [
        ("size", c_uint32),
        ("traits", c_uint32),
        ("name", c_char_p),
    ]


class c_module_info(_Struct):
    _fields_ = [
        ("size", c_uint32),
        ("image", c_int32),
        ("name", c_char_p),
        ("log", c_char_p),
        ("ptx", c_void_p),
        ("from_store", c_uint32),
        ("kernel_count", c_uint32),
        ("code", c_int32),
        ("architecture", c_int32),
    ]


class c_link_input(_Struct):
    _fields_ = [
        ("image", c_void_p),
        ("bytes", c_uint64),
        ("name", c_char_p),
    ]


class c_kernel_info(_Struct):
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


class c_argument(_Struct):
    _fields_ = [
        ("bytes", c_uint32),
        ("reserved", c_uint32),
        ("value", c_uint64),
        ("data", c_void_p),
    ]


class c_attribute(_Struct):
    _fields_ = [
        ("id", c_int32),
        ("reserved", c_uint32),
        ("value", c_uint64 * 8),
    ]


class c_launch_config(_Struct):
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
        ("name", c_char_p),
    ]


class c_requirement_info(_Struct):
    _fields_ = [
        ("size", c_uint32),
        ("line", c_int32),
        ("column", c_int32),
        ("reserved", c_uint32),
        ("text", c_char_p),
        ("reason", c_char_p),
    ]


class c_tensor_map(_Struct):
    _fields_ = [
        ("opaque", c_uint64 * 16),
    ]


class c_tensor_options(_Struct):
    _fields_ = [
        ("size", c_uint32),
        ("type", c_int32),
        ("address", c_uint64),
        ("rank", c_uint32),
        ("interleave", c_int32),
        ("swizzle", c_int32),
        ("promotion", c_int32),
        ("fill", c_int32),
        ("im2col", c_uint32),
        ("dimensions", c_uint64 * 5),
        ("strides", c_uint64 * 4),
        ("steps", c_uint32 * 5),
        ("box", c_uint32 * 5),
        ("lower", c_int32 * 3),
        ("upper", c_int32 * 3),
        ("channels", c_uint32),
        ("pixels", c_uint32),
    ]


class c_hop_info(_Struct):
    _fields_ = [
        ("size", c_uint32),
        ("reason", c_int32),
        ("kernel", c_char_p),
        ("edge", c_int32),
        ("lane", c_uint32),
        ("node", c_int32),
        ("name", c_char_p),
    ]


class c_use(_Struct):
    _fields_ = [
        ("size", c_uint32),
        ("buffer", c_uint32),
        ("access", c_int32),
        ("reserved", c_uint32),
        ("offset", c_uint64),
        ("bytes", c_uint64),
        ("element", c_char_p),
    ]


class c_group_options(_Struct):
    _fields_ = [
        ("size", c_uint32),
        ("timeout_ms", c_uint32),
        ("join_ms", c_uint32),
        ("nccl", c_int32),
        ("nccl_bytes", c_uint64),
        ("flags", c_uint32),
    ]


class c_group_info(_Struct):
    _fields_ = [
        ("size", c_uint32),
        ("count", c_uint32),
        ("timeout_ms", c_uint32),
        ("rank", c_uint32),
        ("nccl_bytes", c_uint64),
    ]


class c_hop(_Struct):
    _fields_ = [
        ("size", c_uint32),
        ("operation", c_int32),
        ("type", c_int32),
        ("root", c_int32),
        ("to", c_int32),
        ("from_", c_int32),
        ("source", c_uint64),
        ("target", c_uint64),
        ("count", c_uint64),
    ]


class c_graph_node_info(_Struct):
    _fields_ = [
        ("size", c_uint32),
        ("type", c_int32),
        ("name", c_char_p),
        ("traits", c_uint32),
        ("before_count", c_uint32),
        ("after_count", c_uint32),
        ("handle", c_void_p),
    ]


class c_graph_edge_info(_Struct):
    _fields_ = [
        ("size", c_uint32),
        ("from_", c_uint32),
        ("to", c_uint32),
        ("asked", c_int32),
        ("from_port", c_int32),
        ("type", c_int32),
        ("overlap", c_int32),
        ("reason", c_int32),
        ("node", c_uint32),
        ("races", c_uint32),
    ]


class c_tune_offer(_Struct):
    _fields_ = [
        ("size", c_uint32),
        ("launch", c_uint32),
        ("grids", c_void_p),
        ("carveouts", c_void_p),
        ("grid_count", c_uint32),
        ("carveout_count", c_uint32),
    ]


class c_tune_buffer(_Struct):
    _fields_ = [
        ("size", c_uint32),
        ("compared", c_uint32),
        ("address", c_uint64),
        ("bytes", c_uint64),
        ("initial", c_void_p),
    ]


class c_tune_options(_Struct):
    _fields_ = [
        ("size", c_uint32),
        ("flags", c_uint32),
        ("mode", c_int32),
        ("pairs", c_uint32),
        ("least_gain", c_double),
        ("offers", c_void_p),
        ("offer_count", c_uint32),
        ("reserved", c_uint32),
        ("progress", tune_progress),
        ("progress_user", c_void_p),
    ]


class c_tune_trial(_Struct):
    _fields_ = [
        ("size", c_uint32),
        ("outcome", c_int32),
        ("launch", c_uint32),
        ("pairs", c_uint32),
        ("kernel", c_char_p),
        ("text", c_char_p),
        ("detail", c_char_p),
        ("ratio", c_double),
        ("lowest", c_double),
        ("highest", c_double),
        ("again", c_double),
        ("needed", c_double),
    ]


class c_tune_info(_Struct):
    _fields_ = [
        ("size", c_uint32),
        ("changed", c_uint32),
        ("mode", c_int32),
        ("remembered", c_uint32),
        ("model", c_uint32),
        ("launch_count", c_uint32),
        ("trial_count", c_uint32),
        ("ran_count", c_uint32),
        ("stopped", c_uint32),
        ("noise_pairs", c_uint32),
        ("noise", c_double),
        ("threshold", c_double),
        ("baseline_ns", c_double),
        ("chosen_ns", c_double),
        ("ratio", c_double),
        ("lowest", c_double),
        ("highest", c_double),
        ("last_ratio", c_double),
        ("last_needed", c_double),
        ("confirmations", c_uint32),
        ("reserved", c_uint32),
    ]


class c_tune_choice(_Struct):
    _fields_ = [
        ("size", c_uint32),
        ("changed", c_uint32),
        ("kernel", c_void_p),
        ("ptx", c_void_p),
        ("grid", c_uint32 * 3),
        ("pdl", c_int32),
        ("text", c_char_p),
        ("carveout", c_int32),
        ("shared_bytes", c_uint32),
        ("block", c_uint32 * 3),
        ("reserved", c_uint32),
    ]


class c_condition(_Struct):
    _fields_ = [
        ("size", c_uint32),
        ("reason", c_int32),
        ("met", c_int32),
        ("decisive", c_int32),
        ("name", c_char_p),
        ("text", c_char_p),
    ]


class c_explanation_info(_Struct):
    _fields_ = [
        ("size", c_uint32),
        ("overlap", c_int32),
        ("reason", c_int32),
        ("unmet", c_int32),
        ("producer", c_char_p),
        ("consumer", c_char_p),
        ("text", c_char_p),
        ("condition_count", c_uint32),
        ("reserved", c_uint32),
    ]


class c_timeline_options(_Struct):
    _fields_ = [
        ("size", c_uint32),
        ("flags", c_uint32),
        ("blocks", c_uint32),
        ("reserved", c_uint32),
    ]


class c_timeline_info(_Struct):
    _fields_ = [
        ("size", c_uint32),
        ("mode", c_int32),
        ("launch_count", c_uint32),
        ("multiprocessors", c_uint32),
        ("emulated", c_uint32),
        ("backward", c_uint32),
        ("blocks", c_uint64),
        ("blocks_kept", c_uint64),
        ("origin", c_uint64),
        ("span", c_double),
        ("idle", c_double),
        ("idle_share", c_double),
        ("clock_step", c_double),
    ]


class c_timeline_launch(_Struct):
    _fields_ = [
        ("size", c_uint32),
        ("lane", c_uint32),
        ("kernel", c_char_p),
        ("blocks", c_uint64),
        ("blocks_kept", c_uint32),
        ("backward", c_uint32),
        ("mark_count", c_uint32),
        ("reserved", c_uint32),
        ("registers", c_uint32),
        ("plain_registers", c_uint32),
        ("first_entry", c_double),
        ("last_entry", c_double),
        ("first_trigger", c_double),
        ("last_trigger", c_double),
        ("first_release", c_double),
        ("last_release", c_double),
        ("first_exit", c_double),
        ("last_exit", c_double),
        ("preamble", c_double),
        ("wait_least", c_double),
        ("wait_median", c_double),
        ("wait_most", c_double),
    ]


class c_timeline_hop(_Struct):
    _fields_ = [
        ("size", c_uint32),
        ("from_", c_uint32),
        ("handoff_gap", c_double),
        ("launch_lead", c_double),
        ("preamble_hidden", c_double),
        ("overlap", c_double),
        ("overlap_ratio", c_double),
        ("idle_window", c_double),
        ("idle", c_double),
        ("idle_share", c_double),
    ]


class c_shelf_info(_Struct):
    _fields_ = [
        ("size", c_uint32),
        ("capability", c_int32),
        ("name", c_char_p),
        ("family", c_char_p),
        ("file", c_char_p),
        ("text", c_char_p),
        ("bytes", c_uint64),
    ]


_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "version": (c_int32, []),
    "version_text": (c_char_p, []),
    "status_name": (c_char_p, [c_int32]),
    "text": (c_char_p, [c_int32, c_int32]),
    "error_init": (None, [c_void_p]),
    "constant_find": (c_int32, [c_char_p, c_void_p, c_void_p]),
    "constant_name": (c_char_p, [c_uint32, c_void_p]),
    "runtime_open": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "runtime_close": (None, [c_void_p]),
    "runtime_synchronize": (c_int32, [c_void_p, c_void_p]),
    "runtime_get_info": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "device_get_info": (c_int32, [c_char_p, c_int32, c_void_p, c_void_p]),
    "memory_allocate": (c_int32, [c_void_p, c_uint64, c_void_p, c_void_p]),
    "memory_free": (c_int32, [c_void_p, c_uint64, c_void_p]),
    "memory_write": (c_int32, [c_void_p, c_uint64, c_void_p, c_uint64, c_void_p, c_void_p]),
    "memory_read": (c_int32, [c_void_p, c_void_p, c_uint64, c_uint64, c_void_p, c_void_p]),
    "memory_fill": (c_int32, [c_void_p, c_uint64, c_uint8, c_uint64, c_void_p, c_void_p]),
    "memory_write_async": (c_int32, [c_void_p, c_uint64, c_void_p, c_uint64, c_void_p, c_void_p]),
    "memory_read_async": (c_int32, [c_void_p, c_void_p, c_uint64, c_uint64, c_void_p, c_void_p]),
    "memory_copy_async": (c_int32, [c_void_p, c_uint64, c_uint64, c_uint64, c_void_p, c_void_p]),
    "memory_fill_async": (c_int32, [c_void_p, c_uint64, c_uint32, c_uint32, c_uint64, c_void_p, c_void_p]),
    "host_allocate": (c_int32, [c_void_p, c_uint64, c_uint32, c_void_p, c_void_p]),
    "host_free": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "stream_create": (c_int32, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "stream_destroy": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "stream_synchronize": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "stream_query": (c_int32, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "stream_get_info": (c_int32, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "event_create": (c_int32, [c_void_p, c_int32, c_void_p, c_void_p]),
    "event_destroy": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "event_record": (c_int32, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "event_synchronize": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "event_elapsed": (c_int32, [c_void_p, c_void_p, c_void_p, c_void_p, c_void_p]),
    "stream_wait_event": (c_int32, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "stream_add_host": (c_int32, [c_void_p, c_void_p, host_function, c_void_p, c_void_p]),
    "stream_notify": (c_int32, [c_void_p, c_void_p, notify_function, c_void_p, c_void_p]),
    "completion_create": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "completion_destroy": (None, [c_void_p]),
    "completion_get_descriptor": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "completion_arm": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "completion_take": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "ptx_parse": (c_int32, [c_char_p, c_uint64, c_char_p, c_void_p, c_void_p]),
    "ptx_destroy": (None, [c_void_p]),
    "ptx_get_info": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "ptx_get_entry": (c_int32, [c_void_p, c_uint32, c_void_p, c_void_p]),
    "ptx_get_parameter": (c_int32, [c_void_p, c_uint32, c_uint32, c_void_p, c_void_p]),
    "ptx_print": (c_int32, [c_void_p, c_void_p, c_uint64, c_void_p, c_void_p]),
    "findings_count": (c_uint32, [c_void_p]),
    "findings_get": (c_int32, [c_void_p, c_uint32, c_void_p, c_void_p]),
    "findings_get_edit": (c_int32, [c_void_p, c_uint32, c_uint32, c_void_p, c_void_p]),
    "findings_get_related": (c_int32, [c_void_p, c_uint32, c_uint32, c_void_p, c_void_p]),
    "findings_destroy": (None, [c_void_p]),
    "ptx_check": (c_int32, [c_char_p, c_uint64, c_char_p, c_void_p, c_void_p, c_void_p]),
    "ptx_rewrite": (c_int32, [c_void_p, c_void_p, c_void_p, c_void_p, c_void_p]),
    "image_open": (c_int32, [c_void_p, c_uint64, c_char_p, c_void_p, c_void_p]),
    "image_destroy": (None, [c_void_p]),
    "image_get_info": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "image_get_part": (c_int32, [c_void_p, c_uint32, c_void_p, c_void_p]),
    "image_get_kernel": (c_int32, [c_void_p, c_uint32, c_uint32, c_void_p, c_void_p]),
    "module_load": (c_int32, [c_void_p, c_void_p, c_uint64, c_void_p, c_void_p, c_void_p]),
    "module_load_file": (c_int32, [c_void_p, c_char_p, c_void_p, c_void_p, c_void_p]),
    "module_load_shelf": (c_int32, [c_void_p, c_char_p, c_void_p, c_void_p, c_void_p]),
    "module_compile": (c_int32, [c_void_p, c_char_p, c_uint64, c_void_p, c_void_p, c_void_p]),
    "module_link": (c_int32, [c_void_p, c_void_p, c_uint32, c_void_p, c_void_p, c_void_p]),
    "module_share": (c_int32, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "module_unload": (None, [c_void_p]),
    "module_get_info": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "module_get_global": (c_int32, [c_void_p, c_char_p, c_void_p, c_void_p, c_void_p]),
    "module_get_managed": (c_int32, [c_void_p, c_char_p, c_void_p, c_void_p, c_void_p]),
    "module_find_kernel": (c_int32, [c_void_p, c_char_p, c_void_p, c_void_p]),
    "module_get_kernel": (c_int32, [c_void_p, c_uint32, c_void_p, c_void_p]),
    "kernel_get_info": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "kernel_get_parameter": (c_int32, [c_void_p, c_uint32, c_void_p, c_void_p]),
    "kernel_state_traits": (c_int32, [c_void_p, c_uint32, c_void_p]),
    "launch": (c_int32, [c_void_p, c_void_p, c_void_p, c_uint32, c_void_p, c_void_p]),
    "launch_packed": (c_int32, [c_void_p, c_void_p, c_void_p, c_uint64, c_void_p, c_void_p]),
    "ptx_get_requirement": (c_int32, [c_void_p, c_uint32, c_uint32, c_void_p, c_void_p]),
    "ptx_check_launch": (c_int32, [c_void_p, c_uint32, c_void_p, c_void_p, c_uint32, c_void_p]),
    "ptx_get_extent": (c_int32, [c_void_p, c_uint32, c_void_p, c_void_p, c_uint32, c_uint32, c_void_p, c_void_p]),
    "attribute_set": (c_int32, [c_void_p, c_int32, c_void_p, c_uint32, c_void_p]),
    "tensor_map_encode": (c_int32, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "mode_find": (c_int32, [c_char_p, c_void_p, c_void_p]),
    "chain_create": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "chain_destroy": (None, [c_void_p]),
    "chain_add": (c_int32, [c_void_p, c_void_p, c_void_p, c_void_p, c_uint32, c_void_p]),
    "chain_add_ptx": (c_int32, [c_void_p, c_void_p, c_char_p, c_void_p, c_void_p, c_uint32, c_void_p]),
    "chain_add_copy": (c_int32, [c_void_p, c_void_p, c_uint64, c_uint64, c_uint64, c_void_p]),
    "chain_add_fill": (c_int32, [c_void_p, c_void_p, c_uint64, c_uint8, c_uint64, c_void_p]),
    "chain_add_host": (c_int32, [c_void_p, c_void_p, host_function, c_void_p, c_void_p]),
    "chain_find": (c_int32, [c_void_p, c_char_p, c_void_p, c_void_p]),
    "chain_depend": (c_int32, [c_void_p, c_uint32, c_uint32, c_void_p]),
    "chain_set_name": (c_int32, [c_void_p, c_uint32, c_char_p, c_void_p]),
    "chain_set_traits": (c_int32, [c_void_p, c_uint32, c_uint32, c_void_p]),
    "chain_add_buffer": (c_int32, [c_void_p, c_uint64, c_uint64, c_void_p]),
    "chain_set_use": (c_int32, [c_void_p, c_uint32, c_uint32, c_void_p, c_void_p]),
    "chain_set_reach": (c_int32, [c_void_p, c_uint32, c_void_p, c_uint32, c_void_p]),
    "chain_check": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "chain_set_arguments": (c_int32, [c_void_p, c_uint32, c_void_p, c_uint32, c_void_p]),
    "chain_set_argument": (c_int32, [c_void_p, c_uint32, c_uint32, c_void_p, c_void_p]),
    "chain_set_config": (c_int32, [c_void_p, c_uint32, c_void_p, c_void_p]),
    "chain_set_copy": (c_int32, [c_void_p, c_uint32, c_uint64, c_uint64, c_uint64, c_void_p]),
    "chain_set_fill": (c_int32, [c_void_p, c_uint32, c_uint64, c_uint8, c_uint64, c_void_p]),
    "chain_add_argument_set": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "chain_select_argument_set": (c_int32, [c_void_p, c_uint32, c_void_p]),
    "chain_prepare": (c_int32, [c_void_p, c_int32, c_void_p]),
    "chain_run": (c_int32, [c_void_p, c_int32, c_void_p, c_void_p]),
    "chain_run_many": (c_int32, [c_void_p, c_int32, c_uint32, c_void_p, c_void_p]),
    "chain_length": (c_uint32, [c_void_p]),
    "chain_get_hop": (c_int32, [c_void_p, c_int32, c_uint32, c_void_p, c_void_p]),
    "group_open": (c_int32, [c_void_p, c_uint32, c_void_p, c_void_p, c_void_p]),
    "group_close": (None, [c_void_p]),
    "group_join": (c_int32, [c_void_p, c_uint32, c_uint32, c_char_p, c_void_p, c_void_p, c_void_p]),
    "group_get_info": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "group_allocate": (c_int32, [c_void_p, c_uint64, c_void_p, c_void_p]),
    "group_get_address": (c_int32, [c_void_p, c_uint32, c_uint32, c_void_p, c_void_p]),
    "group_status": (c_int32, [c_void_p, c_void_p]),
    "chain_add_hop": (c_int32, [c_void_p, c_void_p, c_void_p, c_void_p, c_void_p]),
    "graph_create": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "graph_destroy": (None, [c_void_p]),
    "graph_add_kernel": (c_int32, [c_void_p, c_void_p, c_void_p, c_void_p, c_uint32, c_void_p, c_void_p]),
    "graph_add_fill": (c_int32, [c_void_p, c_uint64, c_uint8, c_uint64, c_void_p, c_void_p]),
    "graph_add_copy": (c_int32, [c_void_p, c_uint64, c_uint64, c_uint64, c_void_p, c_void_p]),
    "graph_add_host": (c_int32, [c_void_p, host_function, c_void_p, c_void_p, c_void_p]),
    "graph_add_edge": (c_int32, [c_void_p, c_uint32, c_uint32, c_int32, c_int32, c_void_p]),
    "graph_remove_edge": (c_int32, [c_void_p, c_uint32, c_void_p]),
    "graph_from_chain": (c_int32, [c_void_p, c_int32, c_void_p, c_void_p]),
    "graph_capture_begin": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "graph_capture_end": (c_int32, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "graph_adopt": (c_int32, [c_void_p, c_void_p, c_uint32, c_void_p, c_void_p]),
    "graph_describe": (c_int32, [c_void_p, c_uint32, c_void_p, c_char_p, c_void_p]),
    "graph_instantiate": (c_int32, [c_void_p, c_void_p]),
    "graph_launch": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "graph_set_arguments": (c_int32, [c_void_p, c_uint32, c_void_p, c_uint32, c_void_p]),
    "graph_set_config": (c_int32, [c_void_p, c_uint32, c_void_p, c_void_p]),
    "graph_node_count": (c_uint32, [c_void_p]),
    "graph_edge_count": (c_uint32, [c_void_p]),
    "graph_get_node": (c_int32, [c_void_p, c_uint32, c_void_p, c_void_p]),
    "graph_get_edge": (c_int32, [c_void_p, c_uint32, c_void_p, c_void_p]),
    "graph_upgrade": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "graph_print": (c_int32, [c_void_p, c_int32, c_void_p, c_uint64, c_void_p, c_void_p]),
    "tune_run": (c_int32, [c_void_p, c_void_p, c_uint32, c_void_p, c_void_p, c_void_p]),
    "tune_load": (c_int32, [c_void_p, c_int32, c_void_p, c_void_p]),
    "tune_get_info": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "tune_get_trial": (c_int32, [c_void_p, c_uint32, c_void_p, c_void_p]),
    "tune_get_choice": (c_int32, [c_void_p, c_uint32, c_void_p, c_void_p]),
    "tune_destroy": (None, [c_void_p]),
    "chain_explain": (c_int32, [c_void_p, c_int32, c_uint32, c_void_p, c_void_p]),
    "explanation_destroy": (None, [c_void_p]),
    "explanation_get": (c_int32, [c_void_p, c_uint32, c_void_p, c_void_p]),
    "explanation_get_info": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "timeline_create": (c_int32, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "timeline_destroy": (None, [c_void_p]),
    "timeline_run": (c_int32, [c_void_p, c_int32, c_void_p, c_void_p]),
    "timeline_get_chain": (c_void_p, [c_void_p]),
    "timeline_get_info": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "timeline_get_launch": (c_int32, [c_void_p, c_uint32, c_void_p, c_void_p]),
    "timeline_get_hop": (c_int32, [c_void_p, c_uint32, c_void_p, c_void_p]),
    "timeline_get_mark": (c_char_p, [c_void_p, c_uint32, c_uint32]),
    "timeline_read": (c_int32, [c_void_p, c_uint32, c_int32, c_void_p, c_uint64, c_void_p, c_void_p]),
    "shelf_get": (c_int32, [c_uint32, c_void_p, c_void_p]),
    "shelf_find": (c_int32, [c_char_p, c_int32, c_void_p, c_void_p]),
    "shelf_suggest": (c_int32, [c_char_p, c_void_p, c_void_p, c_uint32, c_void_p, c_void_p]),
    "shelf_field": (c_int32, [c_char_p, c_uint64, c_char_p, c_void_p, c_uint64, c_void_p, c_void_p]),
}
# ---- end of generated


class _Integer:
    """An integer parameter of a function, for argtypes."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind

    def from_param(self, value: Any) -> Any:
        """As ctypes asks for it."""
        if not isinstance(value, ctypes._SimpleCData):
            value = _integer(value, self.kind, "an argument")
        return self.kind.from_param(value)


def _load_library() -> Any:
    checked: dict[Any, _Integer] = {kind: _Integer(kind) for kind in _INTEGERS}
    try:
        library = ctypes.CDLL(os.environ.get("GRIDDEP_LIBRARY", "libgriddep.so.0"))
    except OSError as problem:
        raise ImportError(f"{problem} (GRIDDEP_LIBRARY may name the library's path)") from None
    functions = types.SimpleNamespace()
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(library, "griddep_" + name, None)  # an older library lacks what came later
        if function is not None:
            function.restype, function.argtypes = result, [checked.get(kind, kind) for kind in arguments]
            setattr(functions, name, function)
    return functions


raw = _load_library()


class Error(Exception):
    """What went wrong. `text` says what and where, for a person; `file`, `line` and `column` are its position, line 0 if it has none;
    `status` is one of ERROR_*, `name` its name, and `driver_code` the CUresult where the driver spoke."""

    def __init__(self, status: int, error: c_error) -> None:
        self.status = status
        self.name = raw.status_name(status).decode()
        self.text = _string(error.text) or raw.text(TEXT_STATUS, status).decode()
        self.file = os.fsdecode(error.file)
        self.line, self.column, self.driver_code = error.line, error.column, error.driver_code
        super().__init__(f"{self.name}: {self.text}")


def call(function: Any, *arguments: Any) -> None:
    """Calls a function of griddep.h that ends with `griddep_error *`, and raises Error where it fails."""
    error = c_error()
    status = function(*arguments, byref(error))
    if status != OK:
        raise Error(status, error)


def _make(function: Any, *arguments: Any) -> c_void_p:
    """The same for a function whose last parameter before the error takes the object that it makes."""
    made = c_void_p()
    call(function, *arguments, byref(made))
    return made


def _refuse(text: str) -> NoReturn:
    """Raises what the library says of an argument that it cannot use."""
    raise Error(ERROR_ARGUMENT, c_error(text=text.encode()))


def _text(value: Any) -> bytes | None:
    text = None if value is None else os.fsencode(value)
    if text is not None and b"\0" in text:
        raise ValueError("embedded null character")
    return text


def _string(text: bytes) -> str:
    """A text of the library's, which may quote bytes of any encoding."""
    return text.decode(errors="backslashreplace")


def _dictionary(info: Any) -> types.SimpleNamespace:
    """The fields of an info struct: texts as str, arrays as tuples."""
    fields = {}
    for name, _ in info._fields_:
        value = getattr(info, name)
        if isinstance(value, bytes):
            value = _string(value)
        elif isinstance(value, ctypes.Array):
            value = tuple(value)
        if name not in ("size", "reserved"):
            fields[name] = value
    return types.SimpleNamespace(**fields)


def _three(shape: Any, name: str) -> Any:
    shape = (shape,) if hasattr(shape, "__index__") else tuple(shape)
    if len(shape) > 3:
        raise ValueError(f"{name} has {len(shape)} dimensions; there are three")
    return (c_uint32 * 3)(*(_integer(extent, c_uint32, name) for extent in shape))


# ---- log

# One C callback for the process, which finds the runtime's function by its number: no finalizer can then end a callback that
# an object still calls. ctypes takes the interpreter's lock, so it may run in any thread.
_log_functions: dict[int, Callable[[int, str], object]] = {}
_log_lock = threading.Lock()


def _tell_log(user: int, level: int, message: bytes) -> None:
    function = _log_functions.get(user)
    if function is not None:
        function(level, _string(message))


_log = log_function(_tell_log)


def _register_log(function: Callable[[int, str], object]) -> int:
    with _log_lock:
        number = max(_log_functions, default=0) + 1
        _log_functions[number] = function
    return number


# ---- functions that the driver calls

# Likewise one C callback each. They run on a thread of the driver's, where the library refuses what needs the driver (ERROR_CALLBACK).
_calls: dict[int, Callable[..., object]] = {}
_call_numbers = itertools.count(1)


def _run_host(user: int) -> None:
    _calls.pop(user)()


_call_host = host_function(_run_host)


def _run_notified(user: int, failure: Any) -> None:
    error = c_error.from_address(failure) if failure else None
    _calls.pop(user)(Error(error.status, error) if error else None)


_call_notified = notify_function(_run_notified)


def _add_call(function: Any, *arguments: Any) -> None:
    """Hands a Python function in with its number."""
    target, *others, called = arguments
    number = next(_call_numbers)
    _calls[number] = called
    try:
        call(function, target, *others, number)
    except Error:
        del _calls[number]
        raise


# ---- objects


class _Object:
    """Holds a handle that is ended once: by close(), at the end of `with`, or by the garbage collector in whatever thread it runs.
    A child of fork ends nothing, since a CUDA context stays with its process."""

    handle: Any

    def _own(self, end: Callable[..., object], *arguments: Any) -> None:
        process = os.getpid()
        self._end = weakref.finalize(self, lambda: os.getpid() == process and end(*arguments))

    def close(self) -> None:
        """Ends what the object holds; once more does nothing."""
        self._end()
        self.handle = None  # which the library refuses by name

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _RuntimeHold(_Object):
    """The library's runtime. It is closed when the Runtime, and all memory and streams that came from it, are."""

    def __init__(self, handle: Any) -> None:
        self.handle = handle
        self._own(raw.runtime_close, handle)


class Runtime:
    """A driver, a device and a context. `driver` is "nvidia", "emulated", "auto" or a path; `log` is called with level and message, from
    any thread that uses the runtime; `options` are the other fields of griddep_runtime_options: multiprocessors=16, part=1 is the second
    part of 16 multiprocessors of the device."""

    def __init__(self, driver: str | None = None, log: Callable[[int, str], object] | None = None, **options: Any) -> None:
        options = {name: _text(value) if isinstance(value, (str, os.PathLike)) else value for name, value in options.items()}
        if "device" in options:
            options.setdefault("flags", RUNTIME_DEVICE)
        if log is not None:
            options.update(log=_log, log_user=_register_log(log))
        self._hold: _RuntimeHold | None = _RuntimeHold(_make(raw.runtime_open, byref(c_runtime_options(driver=_text(driver), **options))))

    @property
    def handle(self) -> Any:
        """The griddep_runtime *, for `raw`; None once it is closed."""
        return self._hold and self._hold.handle

    def close(self) -> None:
        """Gives the runtime back. It ends when all that came from it has ended."""
        self._hold = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def info(self) -> types.SimpleNamespace:
        """About driver and device: the fields of griddep_runtime_info."""
        info = c_runtime_info()
        call(raw.runtime_get_info, self.handle, byref(info))
        return _dictionary(info)

    def load(self, image: str | bytes | bytearray | memoryview, name: str | None = None, **options: Any) -> Module:
        """Loads PTX text (str or bytes), a cubin or a fatbin."""
        image = image.encode(errors="surrogateescape") if isinstance(image, str) else bytes(memoryview(image))
        return self._module(raw.module_load, options, name, image, len(image))

    def load_file(self, path: str | os.PathLike[str], name: str | None = None, **options: Any) -> Module:
        """The same from a file; one whose name ends in .cu is compiled with NVRTC."""
        return self._module(raw.module_load_file, options, name, _text(path))

    def link(self, inputs: Sequence[Any], name: str | None = None, **options: Any) -> Module:
        """Links several images (PTX text, relocatable cubins, fatbins, archives) into one module; a pair is a name and an image."""
        pairs = [item if isinstance(item, tuple) else (None, item) for item in inputs]
        images = [image.encode(errors="surrogateescape") if isinstance(image, str) else bytes(memoryview(image)) for _, image in pairs]
        array = (c_link_input * len(pairs))()
        for place, (given, _), image in zip(array, pairs, images):
            place.image = ctypes.cast(ctypes.c_char_p(image), c_void_p)
            place.bytes, place.name = len(image), _text(given)
        return self._module(raw.module_link, options, name, array, len(pairs))

    def load_shelf(self, kernel: str, **options: Any) -> Module:
        """Loads a kernel of the shelf by its name."""
        return self._module(raw.module_load_shelf, options, None, _text(kernel))

    def compile(self, source: str, name: str | None = None, headers: dict[str, str] | None = None, names: Sequence[str] = (),
                name_expressions: Sequence[str] = (), **options: Any) -> Module:
        """Compiles CUDA C++ with NVRTC. `headers` gives texts by the names that #include has; `names` (or `name_expressions`, as the
        header has it) are C++ names that the module then knows: "scale<float, 4>", "&table<int>"."""
        given = (c_header * len(headers or {}))()
        for place, (header, text) in zip(given, (headers or {}).items()):
            place.name, place.text = _text(header), _text(text)
        wanted = [*names, *name_expressions]
        expressions = (ctypes.c_char_p * len(wanted))(*map(_text, wanted))
        options.update(headers=ctypes.cast(given, c_void_p), header_count=len(given),
                       name_expressions=ctypes.cast(expressions, c_void_p), name_expression_count=len(expressions))
        code = source.encode()
        return self._module(raw.module_compile, options, name, code, len(code))

    def _module(self, function: Any, options: dict[str, Any], name: str | None, *source: Any) -> Module:
        given = byref(c_module_options(name=_text(name), **options))
        return Module(self, _make(function, self.handle, *source, given))

    def allocate(self, nbytes: int) -> Memory:
        """Device memory."""
        return Memory(self, nbytes)

    def copy_in(self, data: HostData, stream: StreamLike = None) -> Memory:
        """Device memory that holds a copy of a NumPy array, or of any other contiguous buffer."""
        memory = Memory(self, memoryview(data).nbytes)
        self.write(memory, data, stream)
        return memory

    def write(self, target: DeviceMemory, data: HostData, stream: StreamLike = None) -> None:
        """Writes a NumPy array, or another contiguous buffer, to device memory, and returns when that is done."""
        source, nbytes = _host(data, writable=False)
        call(raw.memory_write, self.handle, self._address(target, nbytes, stream), source, nbytes, _handle(stream))

    def read(self, source: DeviceMemory, out: HostT, stream: StreamLike = None) -> HostT:
        """Reads device memory into a NumPy array or another contiguous writable buffer, and returns it."""
        target, nbytes = _host(out, writable=True)
        call(raw.memory_read, self.handle, target, self._address(source, nbytes, stream), nbytes, _handle(stream))
        return out

    def _address(self, memory: DeviceMemory, nbytes: int, stream: StreamLike) -> int:
        if isinstance(memory, int):
            return memory
        address, there = _device_memory(memory, stream, self)
        if there is not None and nbytes > there:
            raise ValueError(f"{nbytes} bytes do not fit into a {type(memory).__name__} of {there}")
        return address

    def write_async(self, target: DeviceMemory, data: HostData, stream: StreamLike = None) -> None:
        """write() that does not wait. Memory of the host that is not pinned is read before it returns; pinned memory is the caller's to
        leave alone until the stream has come there."""
        source, nbytes = _host(data, writable=False)
        call(raw.memory_write_async, self.handle, self._address(target, nbytes, stream), source, nbytes, _handle(stream))

    def read_async(self, source: DeviceMemory, out: HostT, stream: StreamLike = None) -> HostT:
        """read() that does not wait where `out` is pinned memory."""
        target, nbytes = _host(out, writable=True)
        call(raw.memory_read_async, self.handle, target, self._address(source, nbytes, stream), nbytes, _handle(stream))
        return out

    def copy(self, target: DeviceMemory, source: DeviceMemory, nbytes: int, stream: StreamLike = None) -> None:
        """Copies device memory in the stream, without waiting."""
        places = [self._address(memory, nbytes, stream) for memory in (target, source)]
        call(raw.memory_copy_async, self.handle, *places, nbytes, _handle(stream))

    def fill(self, target: DeviceMemory, value: int, count: int, element_bytes: int = 1, stream: StreamLike = None) -> None:
        """Writes `count` elements of 1, 2 or 4 bytes, without waiting."""
        address = self._address(target, count * element_bytes, stream)
        call(raw.memory_fill_async, self.handle, address, value, element_bytes, count, _handle(stream))

    def pinned(self, nbytes: int, flags: int = HOST_PORTABLE) -> Pinned:
        """Memory of the host that copies reach without waiting."""
        return Pinned(self, nbytes, flags)

    def stream(self, priority: int = 0, blocking: bool = False) -> Stream:
        """A stream of its own; a smaller priority is more urgent."""
        return Stream(self, priority, blocking)

    def event(self, timing: bool = False) -> Event:
        """An event; `timing` for Event pairs that are to be timed."""
        return Event(self, timing)

    def completion(self) -> Completion:
        """A file descriptor that tells when work is over."""
        return Completion(self)

    def synchronize(self, stream: StreamLike = None) -> None:
        """Waits for a stream."""
        call(raw.stream_synchronize, self.handle, _handle(stream))

    def synchronize_all(self) -> None:
        """Waits for all work of the context."""
        call(raw.runtime_synchronize, self.handle)

    def query(self, stream: StreamLike = None) -> bool:
        """Whether all that a stream was given is over."""
        done = c_uint32()
        call(raw.stream_query, self.handle, _handle(stream), byref(done))
        return bool(done.value)

    def add_host(self, function: Callable[[], object], stream: StreamLike = None) -> None:
        """The stream calls function() on a thread of the driver's, and waits for its return. There, what needs the driver is refused. After
        a fault it is not called."""
        info = c_stream_info()
        call(raw.stream_get_info, self.handle, _handle(stream), byref(info))
        if info.captured:
            _refuse("the stream is being captured, and nothing would keep a Python function for the graph: give a C function to raw.stream_add_host")
        _add_call(raw.stream_add_host, self.handle, _handle(stream), _call_host, function)

    def notify(self, function: Callable[[Error | None], object], stream: StreamLike = None) -> None:
        """Calls function(failure) once, on a thread of the driver's, when all that is in the stream now is over; failure is None, or the Error
        of a fault."""
        _add_call(raw.stream_notify, self.handle, _handle(stream), _call_notified, function)

    async def done(self, stream: StreamLike = None) -> None:
        """`await runtime.done(stream)` returns when all that is in the stream now is over, and blocks no thread; a fault raises Error."""
        with Completion(self) as completion:
            completion.arm(stream)
            await completion.reached()

    def chain(self) -> Chain:
        """An empty chain."""
        return Chain(self)

    def graph(self) -> Graph:
        """An empty graph."""
        return Graph(self)

    def tensor_map(
        self, memory: DeviceMemory, type: int, dimensions: Sequence[int], box: Sequence[int], strides: Sequence[int] = (), stream: StreamLike = None, **options: Any
    ) -> c_tensor_map:
        """A tiled tensor map of device memory, to be given as the argument of a parameter ".align 64 .b8 map[128]". Dimension 0 is the
        innermost; `strides` are bytes; `options` are the other fields of griddep_tensor_options."""
        given = c_tensor_options(
            type=type,
            address=device_address(memory, stream, self),
            rank=len(dimensions),
            dimensions=(c_uint64 * 5)(*dimensions),
            box=(c_uint32 * 5)(*box),
            strides=(c_uint64 * 4)(*strides),
            **options,
        )
        made = c_tensor_map()
        call(raw.tensor_map_encode, self.handle, byref(given), byref(made))
        return made

    def time(self, function: Callable[[], object], stream: StreamLike = None) -> float:
        """Nanoseconds between events before and after what function() puts into the stream."""
        start, end = (_make(raw.event_create, self.handle, EVENT_TIMING) for _ in range(2))
        elapsed = c_double()
        try:
            call(raw.event_record, self.handle, start, _handle(stream))
            function()
            call(raw.event_record, self.handle, end, _handle(stream))
            call(raw.event_elapsed, self.handle, start, end, byref(elapsed))
        finally:
            call(raw.event_destroy, self.handle, start)
            call(raw.event_destroy, self.handle, end)
        return elapsed.value


class Stream(_Object):
    """A CUstream. Wherever a stream is taken, the CUstream of other code may be given as an int too."""

    def __init__(self, runtime: Runtime, priority: int = 0, blocking: bool = False) -> None:
        self.runtime = runtime
        options = c_stream_options(priority=priority, flags=STREAM_BLOCKING if blocking else 0)
        self.handle = _make(raw.stream_create, runtime.handle, byref(options))
        self._own(_end_with, runtime._hold, raw.stream_destroy, self.handle)

    @property
    def _as_parameter_(self) -> Any:
        return _handle(self)

    def info(self) -> types.SimpleNamespace:
        """Its priority and flags, and whether it is captured."""
        info = c_stream_info()
        call(raw.stream_get_info, self.runtime.handle, _handle(self), byref(info))
        return _dictionary(info)

    def synchronize(self) -> None:
        """Waits for all that the stream was given."""
        self.runtime.synchronize(self)

    def query(self) -> bool:
        """Whether all that the stream was given is over."""
        return self.runtime.query(self)

    def add_host(self, function: Callable[[], object]) -> None:
        """Runtime.add_host in this stream."""
        self.runtime.add_host(function, self)

    def notify(self, function: Callable[[Error | None], object]) -> None:
        """Runtime.notify for this stream."""
        self.runtime.notify(function, self)

    async def done(self) -> None:
        """`await stream.done()`: Runtime.done for this stream."""
        await self.runtime.done(self)

    def wait_event(self, event: Event) -> None:
        """What the stream is given from now on waits for what the event was recorded behind."""
        call(raw.stream_wait_event, self.runtime.handle, _handle(self), event.handle)


class Event(_Object):
    """A CUevent: a place in a stream."""

    def __init__(self, runtime: Runtime, timing: bool = False) -> None:
        self.runtime = runtime
        self.handle = _make(raw.event_create, runtime.handle, EVENT_TIMING if timing else EVENT_ORDER)
        self._own(_end_with, runtime._hold, raw.event_destroy, self.handle)

    def record(self, stream: StreamLike = None) -> None:
        """Records it behind all that the stream has now."""
        call(raw.event_record, self.runtime.handle, self.handle, _handle(stream))

    def synchronize(self) -> None:
        """Waits for the place that it was recorded at."""
        call(raw.event_synchronize, self.runtime.handle, self.handle)


class Completion(_Object):
    """A file descriptor that becomes readable when a position in a stream is reached: for select, and for asyncio by `await
    completion.reached()`."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.handle = _make(raw.completion_create, runtime.handle)
        self._own(raw.completion_destroy, self.handle)

    def fileno(self) -> int:
        """The descriptor, as select and asyncio ask for it."""
        descriptor = c_int32()
        call(raw.completion_get_descriptor, self.handle, byref(descriptor))
        return descriptor.value

    def arm(self, stream: StreamLike = None) -> None:
        """The descriptor becomes readable when all that is in the stream now is over. May be called again, also before that."""
        call(raw.completion_arm, self.handle, _handle(stream))

    def take(self) -> int:
        """How many of the armed positions have been reached since the last take; a fault raises Error once."""
        reached = c_uint64()
        call(raw.completion_take, self.handle, byref(reached))
        return reached.value

    async def reached(self) -> int:
        """Waits for the next position and takes it. One task at a time."""
        import asyncio  # which takes longer to load than all else here

        loop = asyncio.get_running_loop()
        descriptor, woken = self.fileno(), loop.create_future()
        loop.add_reader(descriptor, lambda: None if woken.done() else woken.set_result(None))
        try:
            await woken
        finally:
            loop.remove_reader(descriptor)
        return self.take()


class _HostMemory(_Object):
    """Pinned memory of the host: numpy.asarray(it), memoryview(it.data), or wherever host data is taken. Its end waits for the context's
    work, since a copy may still use it."""

    nbytes: int

    @property
    def data(self) -> ctypes.Array[c_uint8]:
        """Its bytes, as ctypes has them."""
        if self.handle is None:
            _refuse("the pinned memory has been closed")
        data: ctypes.Array[c_uint8] = (c_uint8 * self.nbytes).from_address(self.handle)
        return data

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return {"shape": (self.nbytes,), "typestr": "|u1", "data": (ctypes.addressof(self.data), False), "version": 3}


class Pinned(_HostMemory):
    """Allocated by the driver. A NumPy array of it keeps it."""

    def __init__(self, runtime: Runtime, nbytes: int, flags: int = HOST_PORTABLE) -> None:
        self.runtime, self.nbytes = runtime, operator.index(nbytes)
        self.handle = _make(raw.host_allocate, runtime.handle, nbytes, flags).value
        self._own(_end_with, runtime._hold, raw.host_free, self.handle)


class Memory(_Object):
    """Device memory, freed with the object. The driver frees it when the work that uses it is done."""

    def __init__(self, runtime: Runtime, nbytes: int) -> None:
        address = c_uint64()
        call(raw.memory_allocate, runtime.handle, nbytes, byref(address))
        self.runtime = runtime
        self.handle, self.nbytes = address.value, operator.index(nbytes)
        self._own(_end_with, runtime._hold, raw.memory_free, self.handle)

    @property
    def address(self) -> int:
        """Where it is on the device."""
        if self.handle is None:
            _refuse(f"the memory of {self.nbytes} bytes has been closed")
        return int(self.handle)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"shape": (self.nbytes,), "typestr": "|u1", "data": (self.address, False), "version": 3}

    def __repr__(self) -> str:
        place = "closed" if self.handle is None else f"at {self.handle:#x}"
        return f"<griddep.Memory of {self.nbytes} bytes, {place}>"


def _end_with(hold: _RuntimeHold, function: Any, handle: Any) -> None:
    """Ends what is the context's and no object of the library, for which the runtime is needed."""
    function(hold.handle, handle, None)


class Image(_Object):
    """What PTX text, a cubin or a fatbin holds; needs no driver. `parts` is a list of namespaces: `kind` (IMAGE_*; 0: it cannot be read),
    `architecture`, `suffix`, `packed`, `data` (bytes), and `kernels`, which gives the traits (TRAIT_*) of a cubin's kernels by name."""

    def __init__(self, data: Any, name: str | None = None) -> None:
        image = data.encode(errors="surrogateescape") if isinstance(data, str) else bytes(memoryview(data))
        self.handle = _make(raw.image_open, image, len(image), _text(name))
        self._own(raw.image_destroy, self.handle)
        info = c_image_info()
        call(raw.image_get_info, self.handle, byref(info))
        self.kind = info.kind
        self.parts = [self._part(index) for index in range(info.part_count)]

    def _part(self, index: int) -> types.SimpleNamespace:
        info, kernel, kernels = c_image_part(), c_image_kernel(), {}
        call(raw.image_get_part, self.handle, index, byref(info))
        for number in range(info.kernel_count):
            call(raw.image_get_kernel, self.handle, index, number, byref(kernel))
            kernels[_string(kernel.name)] = kernel.traits
        part = _dictionary(info)
        part.data = ctypes.string_at(info.data, info.bytes) if info.data else b""
        part.suffix = chr(info.suffix) if info.suffix else ""
        part.kernels = kernels
        return part


class Module(_Object):
    """Code on the device. It is unloaded when it and its kernels are gone."""

    def __init__(self, runtime: Runtime, handle: Any) -> None:
        self.runtime, self.handle = runtime, handle
        self._own(raw.module_unload, handle)

    def info(self) -> types.SimpleNamespace:
        """The fields of griddep_module_info."""
        info = c_module_info()
        call(raw.module_get_info, self.handle, byref(info))
        return _dictionary(info)

    def kernel(self, name: str | None = None) -> Kernel:
        """The kernel of that name; without one, the only kernel."""
        return Kernel(self, _make(raw.module_find_kernel, self.handle, _text(name)))

    def variable(self, name: str | None) -> tuple[int, int]:
        """Address and size of a module-scope variable."""
        address, nbytes = c_uint64(), c_uint64()
        call(raw.module_get_global, self.handle, _text(name), byref(address), byref(nbytes))
        return address.value, nbytes.value

    def managed(self, name: str) -> memoryview:
        """The bytes of a managed variable, to be read and written here when no kernel uses them. The module is to live longer."""
        memory, nbytes = c_void_p(), c_uint64()
        call(raw.module_get_managed, self.handle, _text(name), byref(memory), byref(nbytes))
        return memoryview((ctypes.c_char * nbytes.value).from_address(memory.value or 0)).cast("B")

    def share(self, runtime: Runtime) -> Module:
        """The module, which was loaded with flags=MODULE_LIBRARY, in another runtime: its code is not given to the driver again."""
        return Module(runtime, _make(raw.module_share, self.handle, runtime.handle))


class Kernel:
    """An entry of a module, which it keeps loaded."""

    def __init__(self, module: Module, handle: Any) -> None:
        self.module, self.handle = module, handle
        told = self.info()
        self.ptx, self.entry = told.ptx, told.entry
        self.parameters = [self._parameter(index) for index in range(told.parameter_count)]

    def info(self) -> types.SimpleNamespace:
        """The fields of griddep_kernel_info."""
        info = c_kernel_info()
        call(raw.kernel_get_info, self.handle, byref(info))
        return _dictionary(info)

    def state_traits(self, traits: int) -> None:
        """States what the library cannot read of the kernel, a sum of TRAIT_WAITS, TRAIT_WAITS_ALWAYS and TRAIT_TRIGGERS. A wrong
        statement is a race."""
        call(raw.kernel_state_traits, self.handle, traits)

    def _parameter(self, index: int) -> types.SimpleNamespace:
        info = c_parameter_info()
        call(raw.kernel_get_parameter, self.handle, index, byref(info))
        return _dictionary(info)

    def requirements(self) -> list[types.SimpleNamespace]:
        """What the kernel requires of a launch: `text` and `reason` of each condition."""
        found: list[types.SimpleNamespace] = []
        info = c_requirement_info()
        while self.ptx and raw.ptx_get_requirement(self.ptx, self.entry, len(found), byref(info), None) == OK:
            found.append(_dictionary(info))
        return found

    def launch(self, grid: Shape, block: Shape, arguments: Sequence[Any], stream: StreamLike = None, **config: Any) -> int:
        """Launches, asynchronously. Returns a REASON_*: whether the launch may overlap what is before it, and why."""
        reason = c_int32()
        made, packed = self._prepare(grid, block, arguments, stream, config)
        made.stream = _handle(stream)
        call(raw.launch, self.handle, byref(made), packed, len(packed), byref(reason))
        return reason.value

    def _prepare(
        self, grid: Shape, block: Shape, arguments: Sequence[Any], stream: StreamLike, config: dict[str, Any]
    ) -> tuple[c_launch_config, Any]:
        """Configuration and arguments as the library takes them."""
        if self.module.handle is None:
            _refuse("the kernel's module has been closed")
        config = {name: _three(value, name) if name == "cluster" else value for name, value in config.items()}
        config["name"] = _text(config.get("name"))
        made = c_launch_config(grid=_three(grid, "grid"), block=_three(block, "block"), **config)
        packed: Any = (c_argument * len(arguments))()
        packed.kept = []
        sizes: list[tuple[int, int]] = []
        for index, value in enumerate(arguments):
            parameter = self.parameters[index] if index < len(self.parameters) else None
            data, nbytes = _argument_bytes(value, parameter, stream, self.module.runtime)
            packed.kept.append(data)
            packed[index] = c_argument(bytes=len(data), data=ctypes.cast(c_char_p(data), c_void_p).value)
            if nbytes is not None:
                sizes.append((index, nbytes))
        self._check_sizes(made, packed, sizes)
        packed.sizes = sizes
        return made, packed

    def _check_sizes(self, config: Any, packed: Any, sizes: list[tuple[int, int]]) -> None:
        """Memory that is smaller than what the launch may touch, by the head comment of the kernel's PTX."""
        touched = c_uint64()
        if not self.ptx:
            return
        for index, nbytes in sizes:
            told = raw.ptx_get_extent(self.ptx, self.entry, byref(config), packed, len(packed), index, byref(touched), None)
            if told == OK and touched.value > nbytes:
                name = self.parameters[index].name
                raise ValueError(f"the kernel may touch {touched.value} bytes of {name}, the memory that is given has {nbytes}")


# Functions of chains by their numbers, and what the driver calls for all of them: a run may still be under way when its chain has gone.
_entry_functions: dict[int, Callable[[], object]] = {}
_host_numbers = itertools.count(1)
_call_entry = host_function(lambda number: _entry_functions.get(number, lambda: None)())


class Chain(_Object):
    """Launches, copies, fills and host functions in stream order, prepared once, changed between runs, run many times. Each method that adds one
    returns its number; where one is asked for, its name does as well. The chain keeps the memory that its arguments name: what a change replaces,
    a run that is under way may still use."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.handle = _make(raw.chain_create, runtime.handle)
        self._kernels: list[Kernel | None] = []
        self._kept: list[list[object]] = [[]]  # by set and launch
        self._set = 0
        self._own(raw.chain_destroy, self.handle)

    def __len__(self) -> int:
        return int(raw.chain_length(self.handle))

    def _added(self, kernel: Kernel | None, kept: object) -> int:
        self._kernels.append(kernel)
        for kept_by_set in self._kept:
            kept_by_set.append(kept)
        return len(self._kernels) - 1

    def find(self, name: str | None) -> int:
        """The number of the launch that was given that name; else of the only one of a kernel of that name."""
        index = c_uint32()
        call(raw.chain_find, self.handle, _text(name), byref(index))
        return index.value

    def _index(self, launch: int | str) -> int:
        return self.find(launch) if isinstance(launch, str) else operator.index(launch)

    def _tell_buffers(self, packed: Any) -> None:
        """Memory whose size is known: a kernel that is given it does not reach further."""
        for index, nbytes in packed.sizes:
            address = c_uint64.from_address(packed[index].data).value
            if address and nbytes:
                call(raw.chain_add_buffer, self.handle, address, nbytes)

    def add(self, kernel: Kernel, grid: Shape, block: Shape, arguments: Sequence[Any], **config: Any) -> int:
        """Appends a launch; `config` may have `name`, `lane`, `pdl`, `cluster` and `shared_bytes`. Memory that has a size (Memory, a tensor) is
        all that the kernel reaches of it; an address as an int may lead to the end of its allocation, and `buffer` tells where it stops."""
        made, packed = kernel._prepare(grid, block, arguments, None, config)
        self._tell_buffers(packed)
        call(raw.chain_add, self.handle, kernel.handle, byref(made), packed, len(packed))
        return self._added(kernel, arguments)

    def copy(self, target: DeviceMemory, source: DeviceMemory, nbytes: int, lane: int = 0, name: str | None = None) -> int:
        """Appends a copy. It ends the overlap of the kernels at its sides; so do fill and host."""
        config = c_launch_config(lane=lane, name=_text(name))
        places = [self.runtime._address(memory, nbytes, None) for memory in (target, source)]
        call(raw.chain_add_copy, self.handle, byref(config), *places, nbytes)
        return self._added(None, (target, source))

    def fill(self, memory: DeviceMemory, value: int, nbytes: int, lane: int = 0, name: str | None = None) -> int:
        """Appends a fill of `nbytes` bytes with one."""
        config = c_launch_config(lane=lane, name=_text(name))
        call(raw.chain_add_fill, self.handle, byref(config), self.runtime._address(memory, nbytes, None), value, nbytes)
        return self._added(None, memory)

    def host(self, function: Callable[[], object], lane: int = 0, name: str | None = None) -> int:
        """Appends a call of a function without arguments, on a thread of the driver: it must not use the driver or this module, and what it raises
        is printed and goes nowhere else."""
        config, number = c_launch_config(lane=lane, name=_text(name)), next(_host_numbers)
        _entry_functions[number] = function
        weakref.finalize(self, lambda: _entry_functions.pop(number, None)).atexit = False
        call(raw.chain_add_host, self.handle, byref(config), _call_entry, number)
        return self._added(None, None)

    def buffer(self, memory: DeviceMemory, nbytes: int) -> None:
        """Tells that so many bytes hold one thing: an argument that is an address in there reaches to its end at most."""
        call(raw.chain_add_buffer, self.handle, self.runtime._address(memory, nbytes, None), nbytes)

    def reaches(self, launch: int | str, memory: Sequence[tuple[DeviceMemory, int, int]]) -> None:
        """Says what a launch reaches at addresses that no argument gives it, such as pointers in a table: (memory, bytes, ACCESS_*) each, and all
        that there is."""
        uses = (c_use * len(memory))()
        for use, (place, nbytes, access) in zip(uses, memory):
            use.size, use.access, use.bytes = ctypes.sizeof(c_use), access, nbytes
            use.offset = self.runtime._address(place, nbytes, None)
        call(raw.chain_set_reach, self.handle, self._index(launch), uses, len(uses))

    def depend(self, launch: int | str, on: int | str) -> None:
        """Makes a launch wait for an earlier one of another lane."""
        call(raw.chain_depend, self.handle, self._index(launch), self._index(on))

    def _kernel(self, index: int) -> Kernel:
        kernel = self._kernels[index] if 0 <= index < len(self._kernels) else None
        return kernel or _refuse(f"launch {index} is none of a kernel that was added here")

    def _change(self, index: int, kept: object) -> None:
        if index < len(self._kernels):
            self._kept[self._set][index] = kept

    def set_arguments(self, launch: int | str, arguments: Sequence[Any]) -> None:
        """Other arguments for the runs that follow, in every mode; nothing is instantiated again."""
        index = self._index(launch)
        _, packed = self._kernel(index)._prepare(1, 1, arguments, None, {})
        self._tell_buffers(packed)
        call(raw.chain_set_arguments, self.handle, index, packed, len(packed))
        self._change(index, arguments)

    def set_config(self, launch: int | str, grid: Shape, block: Shape, **config: Any) -> None:
        """Another configuration, in all sets of arguments."""
        index = self._index(launch)
        made, _ = self._kernel(index)._prepare(grid, block, [], None, config)
        call(raw.chain_set_config, self.handle, index, byref(made))

    def set_copy(self, launch: int | str, target: DeviceMemory, source: DeviceMemory, nbytes: int) -> None:
        """Another copy in place of one, for the runs that follow."""
        index, places = self._index(launch), [self.runtime._address(memory, nbytes, None) for memory in (target, source)]
        call(raw.chain_set_copy, self.handle, index, *places, nbytes)
        self._change(index, (target, source))

    def set_fill(self, launch: int | str, memory: DeviceMemory, value: int, nbytes: int) -> None:
        """Another fill in place of one, for the runs that follow."""
        index = self._index(launch)
        call(raw.chain_set_fill, self.handle, index, self.runtime._address(memory, nbytes, None), value, nbytes)
        self._change(index, memory)

    def add_argument_set(self) -> int:
        """One more set of arguments, as the selected one is now; returns its number. Set 0 is there from the start."""
        index = c_uint32()
        call(raw.chain_add_argument_set, self.handle, byref(index))
        self._kept.append(list(self._kept[self._set]))
        return index.value

    def select_argument_set(self, index: int) -> None:
        """Makes a set the one that runs and changes are about, at no cost for the runs."""
        call(raw.chain_select_argument_set, self.handle, index)
        self._set = index

    def check(self) -> list[types.SimpleNamespace]:
        """The findings of `griddep check` on the launches, as they use the addresses that they have."""
        findings = c_void_p()
        call(raw.chain_check, self.handle, byref(findings))
        return _list_findings(findings)

    def prepare(self, mode: str | int) -> None:
        """Makes ready what the first run in a mode would make ready."""
        call(raw.chain_prepare, self.handle, _mode(mode))

    def run(self, mode: str | int = "graph-pdl", stream: StreamLike = None) -> None:
        """Runs the chain, asynchronously, in one of the modes serial, pdl, graph and graph-pdl."""
        call(raw.chain_run, self.handle, _mode(mode), _handle(stream))

    def run_many(self, rounds: int, mode: str | int = "graph-pdl", stream: StreamLike = None) -> None:
        """Runs the chain back to back; where the check allows it, round overlaps round: `hop(mode, len(chain))` tells."""
        call(raw.chain_run_many, self.handle, _mode(mode), rounds, _handle(stream))

    async def run_async(self, mode: str | int = "graph-pdl", stream: StreamLike = None) -> None:
        """`await chain.run_async()` runs the chain and returns when it is over, and blocks no thread meanwhile."""
        self.run(mode, stream)
        await self.runtime.done(stream)

    def hop(self, mode: str | int, launch: int | str) -> types.SimpleNamespace:
        """What happens at a launch: `reason` is a REASON_*, `edge` 1 for a programmatic edge of a graph."""
        info = c_hop_info()
        call(raw.chain_get_hop, self.handle, _mode(mode), self._index(launch), byref(info))
        return _dictionary(info)


class Graph(_Object):
    """Kernels and memory operations, ordered by edges alone. Each method that adds a node returns its number. The graph keeps the
    memory that its arguments named; what `raw` adds to it is the caller's to keep."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.handle = _make(raw.graph_create, runtime.handle)
        self._kept: list[object] = []
        self._own(raw.graph_destroy, self.handle)

    def _node(self, function: Any, *arguments: Any) -> int:
        node = c_uint32()
        call(function, self.handle, *arguments, byref(node))
        return node.value

    def kernel(self, kernel: Kernel, grid: Shape, block: Shape, arguments: Sequence[Any], **config: Any) -> int:
        """Adds a launch."""
        made, packed = kernel._prepare(grid, block, arguments, None, config)
        node = self._node(raw.graph_add_kernel, kernel.handle, byref(made), packed, len(packed))
        self._kept.append(arguments)
        return node

    def fill(self, memory: DeviceMemory, value: int, nbytes: int) -> int:
        """Adds a fill of `nbytes` bytes with one."""
        node = self._node(raw.graph_add_fill, self.runtime._address(memory, nbytes, None), value, nbytes)
        self._kept.append(memory)
        return node

    def copy(self, target: DeviceMemory, source: DeviceMemory, nbytes: int) -> int:
        """Adds a copy."""
        places = [self.runtime._address(memory, nbytes, None) for memory in (target, source)]
        node = self._node(raw.graph_add_copy, *places, nbytes)
        self._kept.append((target, source))
        return node

    def edge(self, first: int, second: int, port: int = PORT_DEFAULT, type: int = EDGE_AUTO) -> None:
        """Orders two nodes, by a programmatic edge where that is possible and safe."""
        call(raw.graph_add_edge, self.handle, first, second, port, type)

    def launch(self, stream: StreamLike = None) -> None:
        """Runs the graph, asynchronously. The first launch instantiates it."""
        call(raw.graph_launch, self.handle, _handle(stream))


LEGACY_STREAM, PER_THREAD_STREAM = 1, 2  # as CU_STREAM_LEGACY and CU_STREAM_PER_THREAD


def devices(driver: str | None = None) -> list[types.SimpleNamespace]:
    """What each device of a driver is like; no runtime is opened."""
    found: list[types.SimpleNamespace] = []
    while not found or len(found) < found[0].device_count:
        info = c_device_info()
        call(raw.device_get_info, _text(driver), len(found), byref(info))
        found.append(_dictionary(info))
    return found


def reason_text(reason: int) -> str:
    """What a REASON_* means, in words."""
    return _string(raw.text(TEXT_REASON, reason))


def check(ptx: str | bytes | bytearray | memoryview, name: str | None = None) -> list[types.SimpleNamespace]:
    """The findings of `griddep check` on PTX text; needs no driver."""
    findings, text = c_void_p(), ptx.encode(errors="surrogateescape") if isinstance(ptx, str) else bytes(memoryview(ptx))
    call(raw.ptx_check, text, len(text), _text(name), None, byref(findings))
    return _list_findings(findings)


def _list_findings(findings: Any) -> list[types.SimpleNamespace]:
    try:
        found = [c_finding() for _ in range(raw.findings_count(findings))]
        for index, finding in enumerate(found):
            call(raw.findings_get, findings, index, byref(finding))
        return [_dictionary(finding) for finding in found]
    finally:
        raw.findings_destroy(findings)


def _mode(mode: str | int) -> int:
    if isinstance(mode, int):
        return mode
    value = c_int32()
    call(raw.mode_find, _text(mode), byref(value))
    return value.value


def _handle(stream: StreamLike) -> Any:
    if not isinstance(stream, Stream):
        return stream
    return stream.handle or _refuse("the stream has been closed")


# ---- arguments

# struct's format for a PTX type
_FORMATS = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q", "s8": "b", "s16": "h", "s32": "i", "s64": "q", "b8": "B", "b16": "H",
            "b32": "I", "b64": "Q", "f16": "e", "f32": "f", "f64": "d"}  # fmt: skip


def _argument_bytes(value: Any, parameter: Any, stream: StreamLike, runtime: Runtime) -> tuple[bytes, int | None]:
    """An argument as the bytes that the kernel expects; with device memory, how many bytes it has. Without a parameter it is one too many,
    which the library reports."""
    if parameter is None:
        return b"", None
    if isinstance(value, (bytes, ctypes.Structure, ctypes.Array, ctypes._SimpleCData)):
        return bytes(value), None
    if type(value).__module__ == "numpy" and value.shape == ():
        if value.dtype.kind not in "iubf" or (value.dtype.kind == "f" and (parameter.type or "b")[0] == "b"):
            return value.tobytes(), None  # bits of whatever type
        value = value.item()
    if not isinstance(value, (int, float)):
        address, nbytes = _device_memory(value, stream, runtime)
        return struct.pack("<Q", address), nbytes
    form = _FORMATS.get(parameter.type)
    if form is None or struct.calcsize("<" + form) != parameter.bytes:
        form = {1: "B", 2: "H", 4: "I", 8: "Q"}.get(parameter.bytes) if isinstance(value, int) else None
    if form is None:
        raise TypeError(f"give {value!r} as bytes or as a ctypes value: the kernel does not tell the type of this parameter")
    if isinstance(value, int) and value < 0 and form.isupper():
        form = form.lower()
    try:
        return struct.pack("<" + form, value), None
    except struct.error:
        raise TypeError(f"{value!r} is no value of parameter {parameter.name}, which is .{parameter.type}") from None


def device_address(value: DeviceMemory, stream: StreamLike = None, runtime: Runtime | None = None) -> int:
    """The device address of an int, a Memory, or an object with __dlpack__ or __cuda_array_interface__. Such an object's owner keeps
    it alive until the work that uses it is done. Its own pending work is ordered before `stream`, as both protocols demand: with DLPack by its
    owner, else by waiting for it where it is in another stream."""
    return value if isinstance(value, int) else _device_memory(value, stream, runtime)[0]


def _device_memory(value: DeviceMemory, stream: StreamLike, runtime: Runtime | None) -> tuple[int, int | None]:
    """Address and size in bytes; the size is None where elements are not side by side. DLPack comes first: an interface before version 3, which is
    PyTorch's, says nothing of pending work, and has no word for some types."""
    if isinstance(value, Memory):
        return value.address, value.nbytes
    if hasattr(value, "__dlpack__"):
        return _dlpack(value, stream)
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is None:
        raise TypeError(
            f"{type(value).__name__} is no device memory; give an address, a griddep.Memory, or what has __dlpack__ or "
            "__cuda_array_interface__ (host data: Runtime.copy_in)"
        )
    pending = interface.get("stream")
    if pending is not None and pending != _stream_number(stream):
        if runtime is None:
            raise ValueError("the array has work pending in another stream; give the runtime to wait for it")
        runtime.synchronize(None if pending == 1 else pending)
    nbytes = math.prod(interface["shape"]) * int(interface["typestr"][2:])
    return interface["data"][0], nbytes if interface.get("strides") is None else None


def _stream_number(stream: StreamLike) -> int:
    """As both protocols count streams: 1 is the legacy default one."""
    handle = _handle(stream)
    return getattr(handle, "value", handle) or 1


class _DLTensor(ctypes.Structure):
    """The beginning of DLPack's DLTensor, and of DLManagedTensor, which starts with one."""

    _fields_ = [
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("dimensions", c_int32),
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", ctypes.POINTER(c_int64)),
        ("strides", ctypes.POINTER(c_int64)),  # in elements; NULL: side by side
        ("byte_offset", c_uint64),
    ]

    def nbytes(self) -> int | None:
        """None where elements are not side by side."""
        count = 1
        for dimension in reversed(range(self.dimensions)):
            if self.strides and self.shape[dimension] != 1 and self.strides[dimension] != count:
                return None
            count *= self.shape[dimension]
        return int((count * self.bits * self.lanes + 7) // 8)


_DLPACK_CUDA = (2, 13)  # kDLCUDA, kDLCUDAManaged
_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype, _capsule_pointer.argtypes = c_void_p, [ctypes.py_object, c_char_p]


def _dlpack(value: Any, stream: StreamLike) -> tuple[int, int | None]:
    """Address and size of a tensor, whose owner has ordered its pending work before the stream."""
    kind = value.__dlpack_device__()[0]
    if kind not in _DLPACK_CUDA:
        raise TypeError(f"{type(value).__name__} is not on a CUDA device (DLPack device {int(kind)})")
    # The capsule is left unused: the tensor stays its owner's.
    capsule = value.__dlpack__(stream=_stream_number(stream))
    tensor = _DLTensor.from_address(_capsule_pointer(capsule, b"dltensor"))
    return (tensor.data or 0) + tensor.byte_offset, tensor.nbytes()


def _host(data: HostData, writable: bool) -> tuple[Any, int]:
    """Address and size of host data; the address is that of an object which keeps it."""
    if isinstance(data, _HostMemory):
        data = data.data
    view = memoryview(data)
    if not view.c_contiguous:
        raise ValueError("host data must be contiguous")
    if view.readonly:
        if writable:
            raise ValueError("the buffer to read into is read-only")
        return view.tobytes(), view.nbytes
    return (c_char * view.nbytes).from_buffer(view.cast("B")), view.nbytes
