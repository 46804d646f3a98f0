//! libgriddep for Rust: programmatic dependent launch for PTX. No crates; the library is opened at run time.
//!
//!     mod griddep;
//!
//!     let runtime = griddep::Runtime::open(Default::default())?;
//!     let module = runtime.load(ptx, "scale.ptx")?;
//!     let x = runtime.copy_in(&[1.0f32, 2.0, 3.0])?;
//!     unsafe { module.kernel("scale")?.launch(&Config::new(1, 32), &[&x, &0.5f32, &3u32])? };
//!
//! The library is $GRIDDEP_LIBRARY, or libgriddep.so.0 as the loader finds it. What fails is an Err(Error). Arguments are passed as they are:
//! give them the types that the kernel declares (the library checks their sizes). A launch is unsafe, since the kernel may read and write what its
//! arguments point to. Objects may be ended in any order and on any thread; `raw` has every declaration of griddep.h. A child of fork must leave by
//! exec or _exit (doc/languages.md).
#![allow(dead_code)]

use std::cell::Cell;
use std::ffi::{c_char, c_int, c_void, CStr, CString};
use std::future::Future;
use std::marker::PhantomData;
use std::collections::HashMap;
use std::ops::{Deref, DerefMut};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Poll, Waker};
use std::{env, fmt, mem, panic, ptr, slice};

/// The declarations of griddep.h: constants, structs, and the functions without their prefix.
#[rustfmt::skip]
#[allow(clippy::all)]
pub mod raw {
    use super::*;

    macro_rules! sized {
        ($($name:ident,)*) => { $(impl $name {
            /// Cleared, with its size set.
            pub fn new() -> Self {
                let mut made: Self = unsafe { mem::zeroed() };
                made.size = mem::size_of::<Self>() as u32;
                made
            }
        })* };
    }

    macro_rules! functions {
        ($(fn $name:ident($($argument:ident: $kind:ty),*) $(-> $result:ty)?;)*) => {
            /// The functions of the library that was opened.
            pub struct Functions { $(pub $name: unsafe extern "C" fn($($argument: $kind),*) $(-> $result)?,)* }

            impl Functions {
                pub(super) fn load(library: *mut c_void) -> Result<Self, String> {
                    Ok(Self { $($name: unsafe { mem::transmute::<*mut c_void, _>(symbol(library, concat!("griddep_", stringify!($name), "\0"))?) },)* })
                }
            }
        };
    }

// ---- generated from griddep.h by build-tools/bindings.py
pub const VERSION_MAJOR: i32 = 0;
pub const VERSION_MINOR: i32 = 1;
pub const VERSION_PATCH: i32 = 0;
pub const OK: i32 = 0;
pub const ERROR_ARGUMENT: i32 = -1;
pub const ERROR_STRUCT: i32 = -2;
pub const ERROR_MEMORY: i32 = -3;
pub const ERROR_DEVICE_MEMORY: i32 = -4;
pub const ERROR_FILE: i32 = -5;
pub const ERROR_ENVIRONMENT: i32 = -6;
pub const ERROR_NO_DRIVER: i32 = -7;
pub const ERROR_DRIVER_TOO_OLD: i32 = -8;
pub const ERROR_DRIVER: i32 = -9;
pub const ERROR_NO_NVRTC: i32 = -10;
pub const ERROR_SYNTAX: i32 = -11;
pub const ERROR_COMPILE: i32 = -12;
pub const ERROR_IMAGE: i32 = -13;
pub const ERROR_NOT_FOUND: i32 = -14;
pub const ERROR_SIGNATURE: i32 = -15;
pub const ERROR_LIMIT: i32 = -16;
pub const ERROR_STREAM: i32 = -17;
pub const ERROR_UNSUPPORTED: i32 = -18;
pub const ERROR_FAULT: i32 = -19;
pub const ERROR_REQUIREMENT: i32 = -20;
pub const ERROR_CALLBACK: i32 = -21;
pub const ERROR_PEER: i32 = -22;
pub const TEXT_STATUS: i32 = 0;
pub const TEXT_REASON: i32 = 1;
pub const TEXT_OVERLAP: i32 = 2;
pub const TEXT_MODE: i32 = 3;
pub const TEXT_TUNE_OUTCOME: i32 = 4;
pub const LOG_NONE: i32 = 0;
pub const LOG_ERROR: i32 = 1;
pub const LOG_WARNING: i32 = 2;
pub const LOG_INFO: i32 = 3;
pub const LOG_DEBUG: i32 = 4;
pub const PDL_DEFAULT: i32 = 0;
pub const PDL_AUTO: i32 = 1;
pub const PDL_OFF: i32 = 2;
pub const PDL_FORCE: i32 = 3;
pub const RUNTIME_DEVICE: i32 = 1;
pub const RUNTIME_RESET: i32 = 2;
pub const RUNTIME_REST: i32 = 4;
pub const FEATURE_PDL: i32 = 1;
pub const FEATURE_GRAPH: i32 = 2;
pub const FEATURE_GRAPH_EDGES: i32 = 4;
pub const FEATURE_PROGRAMMATIC_EVENT: i32 = 8;
pub const FEATURE_LAUNCH_COMPLETION_EVENT: i32 = 16;
pub const FEATURE_PARAMETER_INFO: i32 = 32;
pub const FEATURE_CLUSTER: i32 = 64;
pub const FEATURE_PARTS: i32 = 256;
pub const HOST_PORTABLE: i32 = 1;
pub const HOST_WRITE_COMBINED: i32 = 4;
pub const STREAM_BLOCKING: i32 = 1;
pub const EVENT_TIMING: i32 = 0;
pub const EVENT_ORDER: i32 = 1;
pub const TRAIT_KNOWN: i32 = 1;
pub const TRAIT_WAITS: i32 = 2;
pub const TRAIT_WAITS_ALWAYS: i32 = 4;
pub const TRAIT_TRIGGERS: i32 = 8;
pub const TRAIT_CALLS: i32 = 16;
pub const TRAIT_STATED: i32 = 128;
pub const TRAIT_MACHINE_CODE: i32 = 32;
pub const TRAIT_OPEN: i32 = 64;
pub const TRAIT_TOUCHES_EARLY: i32 = 256;
pub const TRAIT_OTHERS_WAIT: i32 = 512;
pub const SEVERITY_NOTE: i32 = 1;
pub const SEVERITY_WARNING: i32 = 2;
pub const SEVERITY_ERROR: i32 = 3;
pub const WAIT_KEEP: i32 = 0;
pub const WAIT_INSERT: i32 = 1;
pub const WAIT_MOVE: i32 = 2;
pub const WAIT_REMOVE: i32 = 3;
pub const WAIT_START: i32 = 4;
pub const TRIGGER_KEEP: i32 = 0;
pub const TRIGGER_REMOVE: i32 = 1;
pub const TRIGGER_START: i32 = 2;
pub const TRIGGER_AFTER_WAIT: i32 = 3;
pub const TRIGGER_AFTER_LOADS: i32 = 4;
pub const TRIGGER_BEFORE_STORES: i32 = 5;
pub const TRIGGER_END: i32 = 6;
pub const TRIGGER_LINE: i32 = 7;
pub const TRIGGER_LOOP: i32 = 8;
pub const MODULE_LINE_INFO: i32 = 1;
pub const MODULE_DEBUG: i32 = 2;
pub const MODULE_VERBOSE: i32 = 4;
pub const MODULE_PTX: i32 = 8;
pub const MODULE_LIBRARY: i32 = 16;
pub const MODULE_PCH: i32 = 32;
pub const OPTIMIZATION_DEFAULT: i32 = 0;
pub const OPTIMIZATION_NONE: i32 = -1;
pub const IMAGE_PTX: i32 = 1;
pub const IMAGE_CUBIN: i32 = 2;
pub const IMAGE_FATBIN: i32 = 3;
pub const REASON_SET: i32 = 0;
pub const REASON_FORCED: i32 = 1;
pub const REASON_OFF: i32 = 2;
pub const REASON_KILL_SWITCH: i32 = 3;
pub const REASON_DEVICE: i32 = 4;
pub const REASON_DRIVER: i32 = 5;
pub const REASON_NO_WAIT: i32 = 6;
pub const REASON_WAIT_NOT_ALWAYS: i32 = 7;
pub const REASON_UNKNOWN_CODE: i32 = 8;
pub const REASON_FIRST: i32 = 9;
pub const REASON_PLAIN: i32 = 10;
pub const REASON_OTHER_ORDER: i32 = 11;
pub const REASON_NODE_BETWEEN: i32 = 12;
pub const REASON_NOT_KERNELS: i32 = 13;
pub const REASON_CONDITIONAL: i32 = 14;
pub const REASON_WRONG_END: i32 = 15;
pub const REASON_BLOCKING: i32 = 16;
pub const REASON_COOPERATIVE: i32 = 17;
pub const REASON_NO_TRIGGER: i32 = 18;
pub const REASON_NO_ROOM: i32 = 19;
pub const REASON_CARVEOUT: i32 = 20;
pub const REASON_WAVES: i32 = 21;
pub const REASON_CLUSTER: i32 = 22;
pub const REASON_LAUNCH_ORDER: i32 = 23;
pub const REASON_WRONG_PORT: i32 = 24;
pub const REASON_NO_EDGE_DATA: i32 = 25;
pub const REASON_TOOLS: i32 = 26;
pub const REASON_ROUND: i32 = 27;
pub const REASON_NOT_PROVEN: i32 = 28;
pub const REASON_RACE: i32 = 29;
pub const OVERLAP_UNKNOWN: i32 = -1;
pub const OVERLAP_NONE: i32 = 0;
pub const OVERLAP_TAIL: i32 = 1;
pub const OVERLAP_FULL: i32 = 2;
pub const ATTRIBUTE_IGNORE: i32 = 0;
pub const ATTRIBUTE_ACCESS_POLICY_WINDOW: i32 = 1;
pub const ATTRIBUTE_COOPERATIVE: i32 = 2;
pub const ATTRIBUTE_SYNCHRONIZATION_POLICY: i32 = 3;
pub const ATTRIBUTE_CLUSTER_DIMENSION: i32 = 4;
pub const ATTRIBUTE_CLUSTER_SCHEDULING_POLICY: i32 = 5;
pub const ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION: i32 = 6;
pub const ATTRIBUTE_PROGRAMMATIC_EVENT: i32 = 7;
pub const ATTRIBUTE_PRIORITY: i32 = 8;
pub const ATTRIBUTE_MEMORY_SYNC_DOMAIN_MAP: i32 = 9;
pub const ATTRIBUTE_MEMORY_SYNC_DOMAIN: i32 = 10;
pub const ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION: i32 = 11;
pub const ATTRIBUTE_LAUNCH_COMPLETION_EVENT: i32 = 12;
pub const ATTRIBUTE_DEVICE_UPDATABLE_NODE: i32 = 13;
pub const ATTRIBUTE_CARVEOUT: i32 = 14;
pub const ATTRIBUTE_NVLINK_CENTRIC_SCHEDULING: i32 = 16;
pub const CLUSTER_SCHEDULING_DEFAULT: i32 = 0;
pub const CLUSTER_SCHEDULING_SPREAD: i32 = 1;
pub const CLUSTER_SCHEDULING_LOAD_BALANCING: i32 = 2;
pub const MEMORY_SYNC_DOMAIN_DEFAULT: i32 = 0;
pub const MEMORY_SYNC_DOMAIN_REMOTE: i32 = 1;
pub const ACCESS_PROPERTY_NORMAL: i32 = 0;
pub const ACCESS_PROPERTY_STREAMING: i32 = 1;
pub const ACCESS_PROPERTY_PERSISTING: i32 = 2;
pub const CARVEOUT_DEFAULT: i32 = -1;
pub const TENSOR_U8: i32 = 0;
pub const TENSOR_U16: i32 = 1;
pub const TENSOR_U32: i32 = 2;
pub const TENSOR_S32: i32 = 3;
pub const TENSOR_U64: i32 = 4;
pub const TENSOR_S64: i32 = 5;
pub const TENSOR_F16: i32 = 6;
pub const TENSOR_F32: i32 = 7;
pub const TENSOR_F64: i32 = 8;
pub const TENSOR_BF16: i32 = 9;
pub const TENSOR_F32_FTZ: i32 = 10;
pub const TENSOR_TF32: i32 = 11;
pub const TENSOR_TF32_FTZ: i32 = 12;
pub const TENSOR_16U4_ALIGN8: i32 = 13;
pub const TENSOR_16U4_ALIGN16: i32 = 14;
pub const TENSOR_16U6_ALIGN16: i32 = 15;
pub const INTERLEAVE_NONE: i32 = 0;
pub const INTERLEAVE_16B: i32 = 1;
pub const INTERLEAVE_32B: i32 = 2;
pub const SWIZZLE_NONE: i32 = 0;
pub const SWIZZLE_32B: i32 = 1;
pub const SWIZZLE_64B: i32 = 2;
pub const SWIZZLE_128B: i32 = 3;
pub const SWIZZLE_128B_ATOM_32B: i32 = 4;
pub const SWIZZLE_128B_ATOM_32B_FLIP_8B: i32 = 5;
pub const SWIZZLE_128B_ATOM_64B: i32 = 6;
pub const PROMOTION_NONE: i32 = 0;
pub const PROMOTION_64B: i32 = 1;
pub const PROMOTION_128B: i32 = 2;
pub const PROMOTION_256B: i32 = 3;
pub const FILL_ZERO: i32 = 0;
pub const FILL_NAN: i32 = 1;
pub const MODE_SERIAL: i32 = 0;
pub const MODE_PDL: i32 = 1;
pub const MODE_GRAPH: i32 = 2;
pub const MODE_GRAPH_PDL: i32 = 3;
pub const MODE_COUNT: i32 = 4;
pub const ACCESS_UNKNOWN: i32 = 0;
pub const ACCESS_READ: i32 = 1;
pub const ACCESS_WRITE: i32 = 2;
pub const ACCESS_UPDATE: i32 = 3;
pub const ACCESS_CONSTANT: i32 = 4;
pub const NO_MEMBER: i32 = -1;
pub const NCCL_AUTO: i32 = 0;
pub const NCCL_OFF: i32 = 1;
pub const NCCL_ON: i32 = 2;
pub const GROUP_REMEMBER: i32 = 1;
pub const HOP_ALL_REDUCE: i32 = 0;
pub const HOP_ALL_GATHER: i32 = 1;
pub const HOP_REDUCE_SCATTER: i32 = 2;
pub const HOP_BROADCAST: i32 = 3;
pub const HOP_EXCHANGE: i32 = 4;
pub const GRAPH_NODE_KERNEL: i32 = 0;
pub const GRAPH_NODE_COPY: i32 = 1;
pub const GRAPH_NODE_FILL: i32 = 2;
pub const GRAPH_NODE_HOST: i32 = 3;
pub const GRAPH_NODE_CHILD: i32 = 4;
pub const GRAPH_NODE_EMPTY: i32 = 5;
pub const GRAPH_NODE_EVENT_WAIT: i32 = 6;
pub const GRAPH_NODE_EVENT_RECORD: i32 = 7;
pub const GRAPH_NODE_CONDITIONAL: i32 = 13;
pub const PORT_DEFAULT: i32 = 0;
pub const PORT_PROGRAMMATIC: i32 = 1;
pub const PORT_LAUNCH_ORDER: i32 = 2;
pub const EDGE_DEFAULT: i32 = 0;
pub const EDGE_PROGRAMMATIC: i32 = 1;
pub const EDGE_AUTO: i32 = 2;
pub const GRAPH_OWN: i32 = 1;
pub const FORMAT_DOT: i32 = 0;
pub const FORMAT_JSON: i32 = 1;
pub const TUNE_FLAG_FORGET: i32 = 1;
pub const TUNE_FLAG_SHAPES: i32 = 2;
pub const TUNE_OUTCOME_BETTER: i32 = 0;
pub const TUNE_OUTCOME_NOT_BETTER: i32 = 1;
pub const TUNE_OUTCOME_SLOWER: i32 = 2;
pub const TUNE_OUTCOME_SAME: i32 = 3;
pub const TUNE_OUTCOME_NO_PLACE: i32 = 4;
pub const TUNE_OUTCOME_ILLEGAL: i32 = 5;
pub const TUNE_OUTCOME_DIFFERENT: i32 = 6;
pub const TUNE_OUTCOME_REFUSED: i32 = 7;
pub const TUNE_OUTCOME_UNCONFIRMED: i32 = 8;
pub const STAMP_SM: i32 = 0;
pub const STAMP_ENTRY: i32 = 1;
pub const STAMP_WAIT: i32 = 2;
pub const STAMP_RELEASE: i32 = 3;
pub const STAMP_TRIGGER: i32 = 4;
pub const STAMP_EXIT: i32 = 5;
pub const STAMP_MARK: i32 = 6;
pub const STAMP_NONE: i32 = -1;

pub enum Runtime {}
pub enum Module {}
pub enum Kernel {}
pub enum Chain {}
pub enum Graph {}
pub enum Ptx {}
pub enum Timeline {}
pub enum Completion {}
pub enum Group {}
pub enum Findings {}
pub enum Image {}
pub enum Tune {}
pub enum Explanation {}
pub type LogFunction = unsafe extern "C" fn(user: *mut c_void, level: i32, message: *const c_char);
pub type HostFunction = unsafe extern "C" fn(user: *mut c_void);
pub type NotifyFunction = unsafe extern "C" fn(user: *mut c_void, failure: *const Error);
pub type TuneProgress = unsafe extern "C" fn(user: *mut c_void, done: u32, most: u32, text: *const c_char) -> i32;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Error {
    pub size: u32,
    pub status: i32,
    pub driver_code: i32,
    pub line: i32,
    pub column: i32,
    pub file: [c_char; 260],
    pub text: [c_char; 2048],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct RuntimeOptions {
    pub size: u32,
    pub flags: u32,
    pub driver: *const c_char,
    pub context: *mut c_void,
    pub device: i32,
    pub pdl: i32,
    pub store_directory: *const c_char,
    pub nvrtc: *const c_char,
    pub log: Option<LogFunction>,
    pub log_user: *mut c_void,
    pub log_level: i32,
    pub reserved: u32,
    pub multiprocessors: u32,
    pub part: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct RuntimeInfo {
    pub size: u32,
    pub features: u32,
    pub driver: *const c_char,
    pub device_name: *const c_char,
    pub store_directory: *const c_char,
    pub driver_version: i32,
    pub device: i32,
    pub capability: i32,
    pub multiprocessors: i32,
    pub memory_bytes: u64,
    pub l2_bytes: u64,
    pub shared_bytes_per_multiprocessor: u32,
    pub shared_bytes_per_block: u32,
    pub registers_per_multiprocessor: u32,
    pub threads_per_multiprocessor: u32,
    pub blocks_per_multiprocessor: u32,
    pub pdl_disabled: u32,
    pub context: *mut c_void,
    pub emulated: u32,
    pub reserved: u32,
    pub fallback: *const c_char,
    pub driver_cache: *const c_char,
    pub driver_cache_reason: *const c_char,
    pub driver_cache_bytes: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct DeviceInfo {
    pub size: u32,
    pub device: i32,
    pub capability: i32,
    pub multiprocessors: u32,
    pub memory_bytes: u64,
    pub l2_bytes: u64,
    pub shared_bytes_per_multiprocessor: u32,
    pub shared_bytes_per_block: u32,
    pub registers_per_multiprocessor: u32,
    pub threads_per_multiprocessor: u32,
    pub blocks_per_multiprocessor: u32,
    pub copy_engines: u32,
    pub pools: u32,
    pub integrated: u32,
    pub pci_domain: u32,
    pub pci_bus: u32,
    pub pci_device: u32,
    pub device_count: u32,
    pub uuid: [u8; 16],
    pub name: [c_char; 256],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct StreamOptions {
    pub size: u32,
    pub flags: u32,
    pub priority: i32,
    pub reserved: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct StreamInfo {
    pub size: u32,
    pub flags: u32,
    pub priority: i32,
    pub captured: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct PtxInfo {
    pub size: u32,
    pub address_bits: u32,
    pub target: *const c_char,
    pub version: i32,
    pub capability: i32,
    pub entry_count: u32,
    pub function_count: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct PtxEntryInfo {
    pub size: u32,
    pub traits: u32,
    pub name: *const c_char,
    pub line: i32,
    pub column: i32,
    pub parameter_count: u32,
    pub parameter_bytes: u32,
    pub control_count: u32,
    pub instruction_count: u32,
    pub required_block: [u32; 3],
    pub maximum_block: [u32; 3],
    pub required_cluster: [u32; 3],
    pub reserved: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ParameterInfo {
    pub size: u32,
    pub offset: u32,
    pub bytes: u32,
    pub alignment: u32,
    pub name: *const c_char,
    pub r#type: *const c_char,
    pub is_pointer: u32,
    pub reserved: u32,
    pub element: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Finding {
    pub size: u32,
    pub severity: i32,
    pub code: *const c_char,
    pub file: *const c_char,
    pub entry: *const c_char,
    pub text: *const c_char,
    pub hint: *const c_char,
    pub quote: *const c_char,
    pub line: i32,
    pub column: i32,
    pub launch: i32,
    pub reserved: u32,
    pub end_line: i32,
    pub end_column: i32,
    pub edit_count: u32,
    pub is_certain: u32,
    pub related_count: u32,
    pub source_line: i32,
    pub source_file: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Edit {
    pub size: u32,
    pub reserved: u32,
    pub offset: u64,
    pub bytes: u64,
    pub text: *const c_char,
    pub line: i32,
    pub column: i32,
    pub end_line: i32,
    pub end_column: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Related {
    pub size: u32,
    pub reserved: u32,
    pub file: *const c_char,
    pub text: *const c_char,
    pub line: i32,
    pub column: i32,
    pub end_line: i32,
    pub end_column: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CheckOptions {
    pub size: u32,
    pub flags: u32,
    pub constants: *const *const c_char,
    pub constant_count: u32,
    pub reserved: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct RewriteOptions {
    pub size: u32,
    pub flags: u32,
    pub entry: *const c_char,
    pub wait: i32,
    pub trigger: i32,
    pub trigger_line: i32,
    pub constant_count: u32,
    pub constants: *const *const c_char,
    pub prefetch: *const c_char,
    pub prefetch_bytes: u64,
    pub trigger_round: u32,
    pub reserved: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Header {
    pub name: *const c_char,
    pub text: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ModuleOptions {
    pub size: u32,
    pub flags: u32,
    pub name: *const c_char,
    pub optimization: i32,
    pub maximum_registers: u32,
    pub compile_options: *const *const c_char,
    pub compile_option_count: u32,
    pub reserved: u32,
    pub headers: *const Header,
    pub name_expressions: *const *const c_char,
    pub header_count: u32,
    pub name_expression_count: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ImageInfo {
    pub size: u32,
    pub kind: i32,
    pub part_count: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ImagePart {
    pub size: u32,
    pub kind: i32,
    pub architecture: i32,
    pub suffix: i32,
    pub packed: u32,
    pub kernel_count: u32,
    pub data: *const c_void,
    pub bytes: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ImageKernel {
    pub size: u32,
    pub traits: u32,
    pub name: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ModuleInfo {
    pub size: u32,
    pub image: i32,
    pub name: *const c_char,
    pub log: *const c_char,
    pub ptx: *const Ptx,
    pub from_store: u32,
    pub kernel_count: u32,
    pub code: i32,
    pub architecture: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct LinkInput {
    pub image: *const c_void,
    pub bytes: u64,
    pub name: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct KernelInfo {
    pub size: u32,
    pub traits: u32,
    pub name: *const c_char,
    pub function: *mut c_void,
    pub parameter_count: u32,
    pub parameter_bytes: u32,
    pub parameters_known: u32,
    pub registers: u32,
    pub static_shared_bytes: u32,
    pub local_bytes: u32,
    pub maximum_threads: u32,
    pub maximum_dynamic_shared_bytes: u32,
    pub required_block: [u32; 3],
    pub virtual_architecture: i32,
    pub binary_version: i32,
    pub entry: u32,
    pub ptx: *const Ptx,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Argument {
    pub bytes: u32,
    pub reserved: u32,
    pub value: u64,
    pub data: *const c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Attribute {
    pub id: i32,
    pub reserved: u32,
    pub value: [u64; 8],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct LaunchConfig {
    pub size: u32,
    pub flags: u32,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub cluster: [u32; 3],
    pub shared_bytes: u32,
    pub pdl: i32,
    pub attribute_count: u32,
    pub attributes: *const Attribute,
    pub stream: *mut c_void,
    pub lane: u32,
    pub reserved: u32,
    pub name: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct RequirementInfo {
    pub size: u32,
    pub line: i32,
    pub column: i32,
    pub reserved: u32,
    pub text: *const c_char,
    pub reason: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct TensorMap {
    pub opaque: [u64; 16],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct TensorOptions {
    pub size: u32,
    pub r#type: i32,
    pub address: u64,
    pub rank: u32,
    pub interleave: i32,
    pub swizzle: i32,
    pub promotion: i32,
    pub fill: i32,
    pub im2col: u32,
    pub dimensions: [u64; 5],
    pub strides: [u64; 4],
    pub steps: [u32; 5],
    pub r#box: [u32; 5],
    pub lower: [i32; 3],
    pub upper: [i32; 3],
    pub channels: u32,
    pub pixels: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct HopInfo {
    pub size: u32,
    pub reason: i32,
    pub kernel: *const c_char,
    pub edge: i32,
    pub lane: u32,
    pub node: i32,
    pub name: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Use {
    pub size: u32,
    pub buffer: u32,
    pub access: i32,
    pub reserved: u32,
    pub offset: u64,
    pub bytes: u64,
    pub element: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct GroupOptions {
    pub size: u32,
    pub timeout_ms: u32,
    pub join_ms: u32,
    pub nccl: i32,
    pub nccl_bytes: u64,
    pub flags: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct GroupInfo {
    pub size: u32,
    pub count: u32,
    pub timeout_ms: u32,
    pub rank: u32,
    pub nccl_bytes: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Hop {
    pub size: u32,
    pub operation: i32,
    pub r#type: i32,
    pub root: i32,
    pub to: i32,
    pub from: i32,
    pub source: u64,
    pub target: u64,
    pub count: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct GraphNodeInfo {
    pub size: u32,
    pub r#type: i32,
    pub name: *const c_char,
    pub traits: u32,
    pub before_count: u32,
    pub after_count: u32,
    pub handle: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct GraphEdgeInfo {
    pub size: u32,
    pub from: u32,
    pub to: u32,
    pub asked: i32,
    pub from_port: i32,
    pub r#type: i32,
    pub overlap: i32,
    pub reason: i32,
    pub node: u32,
    pub races: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct TuneOffer {
    pub size: u32,
    pub launch: u32,
    pub grids: *const u32,
    pub carveouts: *const i32,
    pub grid_count: u32,
    pub carveout_count: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct TuneBuffer {
    pub size: u32,
    pub compared: u32,
    pub address: u64,
    pub bytes: u64,
    pub initial: *const c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct TuneOptions {
    pub size: u32,
    pub flags: u32,
    pub mode: i32,
    pub pairs: u32,
    pub least_gain: f64,
    pub offers: *const TuneOffer,
    pub offer_count: u32,
    pub reserved: u32,
    pub progress: Option<TuneProgress>,
    pub progress_user: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct TuneTrial {
    pub size: u32,
    pub outcome: i32,
    pub launch: u32,
    pub pairs: u32,
    pub kernel: *const c_char,
    pub text: *const c_char,
    pub detail: *const c_char,
    pub ratio: f64,
    pub lowest: f64,
    pub highest: f64,
    pub again: f64,
    pub needed: f64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct TuneInfo {
    pub size: u32,
    pub changed: u32,
    pub mode: i32,
    pub remembered: u32,
    pub model: u32,
    pub launch_count: u32,
    pub trial_count: u32,
    pub ran_count: u32,
    pub stopped: u32,
    pub noise_pairs: u32,
    pub noise: f64,
    pub threshold: f64,
    pub baseline_ns: f64,
    pub chosen_ns: f64,
    pub ratio: f64,
    pub lowest: f64,
    pub highest: f64,
    pub last_ratio: f64,
    pub last_needed: f64,
    pub confirmations: u32,
    pub reserved: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct TuneChoice {
    pub size: u32,
    pub changed: u32,
    pub kernel: *mut Kernel,
    pub ptx: *const Ptx,
    pub grid: [u32; 3],
    pub pdl: i32,
    pub text: *const c_char,
    pub carveout: i32,
    pub shared_bytes: u32,
    pub block: [u32; 3],
    pub reserved: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Condition {
    pub size: u32,
    pub reason: i32,
    pub met: i32,
    pub decisive: i32,
    pub name: *const c_char,
    pub text: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ExplanationInfo {
    pub size: u32,
    pub overlap: i32,
    pub reason: i32,
    pub unmet: i32,
    pub producer: *const c_char,
    pub consumer: *const c_char,
    pub text: *const c_char,
    pub condition_count: u32,
    pub reserved: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct TimelineOptions {
    pub size: u32,
    pub flags: u32,
    pub blocks: u32,
    pub reserved: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct TimelineInfo {
    pub size: u32,
    pub mode: i32,
    pub launch_count: u32,
    pub multiprocessors: u32,
    pub emulated: u32,
    pub backward: u32,
    pub blocks: u64,
    pub blocks_kept: u64,
    pub origin: u64,
    pub span: f64,
    pub idle: f64,
    pub idle_share: f64,
    pub clock_step: f64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct TimelineLaunch {
    pub size: u32,
    pub lane: u32,
    pub kernel: *const c_char,
    pub blocks: u64,
    pub blocks_kept: u32,
    pub backward: u32,
    pub mark_count: u32,
    pub reserved: u32,
    pub registers: u32,
    pub plain_registers: u32,
    pub first_entry: f64,
    pub last_entry: f64,
    pub first_trigger: f64,
    pub last_trigger: f64,
    pub first_release: f64,
    pub last_release: f64,
    pub first_exit: f64,
    pub last_exit: f64,
    pub preamble: f64,
    pub wait_least: f64,
    pub wait_median: f64,
    pub wait_most: f64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct TimelineHop {
    pub size: u32,
    pub from: u32,
    pub handoff_gap: f64,
    pub launch_lead: f64,
    pub preamble_hidden: f64,
    pub overlap: f64,
    pub overlap_ratio: f64,
    pub idle_window: f64,
    pub idle: f64,
    pub idle_share: f64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ShelfInfo {
    pub size: u32,
    pub capability: i32,
    pub name: *const c_char,
    pub family: *const c_char,
    pub file: *const c_char,
    pub text: *const c_char,
    pub bytes: u64,
}

sized! {
    Error, RuntimeOptions, RuntimeInfo, DeviceInfo, StreamOptions, StreamInfo, PtxInfo, PtxEntryInfo, ParameterInfo,
    Finding, Edit, Related, CheckOptions, RewriteOptions, ModuleOptions, ImageInfo, ImagePart, ImageKernel,
    ModuleInfo, KernelInfo, LaunchConfig, RequirementInfo, TensorOptions, HopInfo, Use, GroupOptions, GroupInfo, Hop,
    GraphNodeInfo, GraphEdgeInfo, TuneOffer, TuneBuffer, TuneOptions, TuneTrial, TuneInfo, TuneChoice, Condition,
    ExplanationInfo, TimelineOptions, TimelineInfo, TimelineLaunch, TimelineHop, ShelfInfo,
}

functions! {
    fn version() -> i32;
    fn version_text() -> *const c_char;
    fn status_name(status: i32) -> *const c_char;
    fn text(kind: i32, value: i32) -> *const c_char;
    fn error_init(error: *mut Error);
    fn constant_find(name: *const c_char, value: *mut i32, error: *mut Error) -> i32;
    fn constant_name(index: u32, value: *mut i32) -> *const c_char;
    fn runtime_open(options: *const RuntimeOptions, runtime: *mut *mut Runtime, error: *mut Error) -> i32;
    fn runtime_close(runtime: *mut Runtime);
    fn runtime_synchronize(runtime: *mut Runtime, error: *mut Error) -> i32;
    fn runtime_get_info(runtime: *mut Runtime, info: *mut RuntimeInfo, error: *mut Error) -> i32;
    fn device_get_info(driver: *const c_char, device: i32, info: *mut DeviceInfo, error: *mut Error) -> i32;
    fn memory_allocate(runtime: *mut Runtime, bytes: u64, address: *mut u64, error: *mut Error) -> i32;
    fn memory_free(runtime: *mut Runtime, address: u64, error: *mut Error) -> i32;
    fn memory_write(runtime: *mut Runtime, address: u64, source: *const c_void, bytes: u64, stream: *mut c_void, error: *mut Error) -> i32;
    fn memory_read(runtime: *mut Runtime, target: *mut c_void, address: u64, bytes: u64, stream: *mut c_void, error: *mut Error) -> i32;
    fn memory_fill(runtime: *mut Runtime, address: u64, value: u8, bytes: u64, stream: *mut c_void, error: *mut Error) -> i32;
    fn memory_write_async(runtime: *mut Runtime, address: u64, source: *const c_void, bytes: u64, stream: *mut c_void, error: *mut Error) -> i32;
    fn memory_read_async(runtime: *mut Runtime, target: *mut c_void, address: u64, bytes: u64, stream: *mut c_void, error: *mut Error) -> i32;
    fn memory_copy_async(runtime: *mut Runtime, target: u64, source: u64, bytes: u64, stream: *mut c_void, error: *mut Error) -> i32;
    fn memory_fill_async(runtime: *mut Runtime, address: u64, value: u32, element_bytes: u32, count: u64, stream: *mut c_void, error: *mut Error) -> i32;
    fn host_allocate(runtime: *mut Runtime, bytes: u64, flags: u32, memory: *mut *mut c_void, error: *mut Error) -> i32;
    fn host_free(runtime: *mut Runtime, memory: *mut c_void, error: *mut Error) -> i32;
    fn stream_create(runtime: *mut Runtime, options: *const StreamOptions, stream: *mut *mut c_void, error: *mut Error) -> i32;
    fn stream_destroy(runtime: *mut Runtime, stream: *mut c_void, error: *mut Error) -> i32;
    fn stream_synchronize(runtime: *mut Runtime, stream: *mut c_void, error: *mut Error) -> i32;
    fn stream_query(runtime: *mut Runtime, stream: *mut c_void, done: *mut u32, error: *mut Error) -> i32;
    fn stream_get_info(runtime: *mut Runtime, stream: *mut c_void, info: *mut StreamInfo, error: *mut Error) -> i32;
    fn event_create(runtime: *mut Runtime, kind: i32, event: *mut *mut c_void, error: *mut Error) -> i32;
    fn event_destroy(runtime: *mut Runtime, event: *mut c_void, error: *mut Error) -> i32;
    fn event_record(runtime: *mut Runtime, event: *mut c_void, stream: *mut c_void, error: *mut Error) -> i32;
    fn event_synchronize(runtime: *mut Runtime, event: *mut c_void, error: *mut Error) -> i32;
    fn event_elapsed(runtime: *mut Runtime, start: *mut c_void, end: *mut c_void, nanoseconds: *mut f64, error: *mut Error) -> i32;
    fn stream_wait_event(runtime: *mut Runtime, stream: *mut c_void, event: *mut c_void, error: *mut Error) -> i32;
    fn stream_add_host(runtime: *mut Runtime, stream: *mut c_void, function: Option<HostFunction>, user: *mut c_void, error: *mut Error) -> i32;
    fn stream_notify(runtime: *mut Runtime, stream: *mut c_void, function: Option<NotifyFunction>, user: *mut c_void, error: *mut Error) -> i32;
    fn completion_create(runtime: *mut Runtime, completion: *mut *mut Completion, error: *mut Error) -> i32;
    fn completion_destroy(completion: *mut Completion);
    fn completion_get_descriptor(completion: *const Completion, descriptor: *mut i32, error: *mut Error) -> i32;
    fn completion_arm(completion: *mut Completion, stream: *mut c_void, error: *mut Error) -> i32;
    fn completion_take(completion: *mut Completion, reached: *mut u64, error: *mut Error) -> i32;
    fn ptx_parse(text: *const c_char, bytes: u64, name: *const c_char, ptx: *mut *mut Ptx, error: *mut Error) -> i32;
    fn ptx_destroy(ptx: *mut Ptx);
    fn ptx_get_info(ptx: *const Ptx, info: *mut PtxInfo, error: *mut Error) -> i32;
    fn ptx_get_entry(ptx: *const Ptx, entry: u32, info: *mut PtxEntryInfo, error: *mut Error) -> i32;
    fn ptx_get_parameter(ptx: *const Ptx, entry: u32, index: u32, info: *mut ParameterInfo, error: *mut Error) -> i32;
    fn ptx_print(ptx: *const Ptx, buffer: *mut c_char, capacity: u64, bytes: *mut u64, error: *mut Error) -> i32;
    fn findings_count(findings: *const Findings) -> u32;
    fn findings_get(findings: *const Findings, index: u32, finding: *mut Finding, error: *mut Error) -> i32;
    fn findings_get_edit(findings: *const Findings, index: u32, number: u32, edit: *mut Edit, error: *mut Error) -> i32;
    fn findings_get_related(findings: *const Findings, index: u32, number: u32, related: *mut Related, error: *mut Error) -> i32;
    fn findings_destroy(findings: *mut Findings);
    fn ptx_check(text: *const c_char, bytes: u64, name: *const c_char, options: *const CheckOptions, findings: *mut *mut Findings, error: *mut Error) -> i32;
    fn ptx_rewrite(ptx: *const Ptx, options: *const RewriteOptions, rewritten: *mut *mut Ptx, notes: *mut *mut Findings, error: *mut Error) -> i32;
    fn image_open(data: *const c_void, bytes: u64, name: *const c_char, image: *mut *mut Image, error: *mut Error) -> i32;
    fn image_destroy(image: *mut Image);
    fn image_get_info(image: *const Image, info: *mut ImageInfo, error: *mut Error) -> i32;
    fn image_get_part(image: *const Image, index: u32, part: *mut ImagePart, error: *mut Error) -> i32;
    fn image_get_kernel(image: *const Image, part: u32, index: u32, kernel: *mut ImageKernel, error: *mut Error) -> i32;
    fn module_load(runtime: *mut Runtime, image: *const c_void, bytes: u64, options: *const ModuleOptions, module: *mut *mut Module, error: *mut Error) -> i32;
    fn module_load_file(runtime: *mut Runtime, path: *const c_char, options: *const ModuleOptions, module: *mut *mut Module, error: *mut Error) -> i32;
    fn module_load_shelf(runtime: *mut Runtime, name: *const c_char, options: *const ModuleOptions, module: *mut *mut Module, error: *mut Error) -> i32;
    fn module_compile(runtime: *mut Runtime, source: *const c_char, bytes: u64, options: *const ModuleOptions, module: *mut *mut Module, error: *mut Error) -> i32;
    fn module_link(runtime: *mut Runtime, inputs: *const LinkInput, count: u32, options: *const ModuleOptions, module: *mut *mut Module, error: *mut Error) -> i32;
    fn module_share(module: *mut Module, runtime: *mut Runtime, shared: *mut *mut Module, error: *mut Error) -> i32;
    fn module_unload(module: *mut Module);
    fn module_get_info(module: *mut Module, info: *mut ModuleInfo, error: *mut Error) -> i32;
    fn module_get_global(module: *mut Module, name: *const c_char, address: *mut u64, bytes: *mut u64, error: *mut Error) -> i32;
    fn module_get_managed(module: *mut Module, name: *const c_char, memory: *mut *mut c_void, bytes: *mut u64, error: *mut Error) -> i32;
    fn module_find_kernel(module: *mut Module, name: *const c_char, kernel: *mut *mut Kernel, error: *mut Error) -> i32;
    fn module_get_kernel(module: *mut Module, index: u32, kernel: *mut *mut Kernel, error: *mut Error) -> i32;
    fn kernel_get_info(kernel: *mut Kernel, info: *mut KernelInfo, error: *mut Error) -> i32;
    fn kernel_get_parameter(kernel: *mut Kernel, index: u32, info: *mut ParameterInfo, error: *mut Error) -> i32;
    fn kernel_state_traits(kernel: *mut Kernel, traits: u32, error: *mut Error) -> i32;
    fn launch(kernel: *mut Kernel, config: *const LaunchConfig, arguments: *const Argument, argument_count: u32, reason: *mut i32, error: *mut Error) -> i32;
    fn launch_packed(kernel: *mut Kernel, config: *const LaunchConfig, arguments: *const c_void, bytes: u64, reason: *mut i32, error: *mut Error) -> i32;
    fn ptx_get_requirement(ptx: *const Ptx, entry: u32, index: u32, info: *mut RequirementInfo, error: *mut Error) -> i32;
    fn ptx_check_launch(ptx: *const Ptx, entry: u32, config: *const LaunchConfig, arguments: *const Argument, argument_count: u32, error: *mut Error) -> i32;
    fn ptx_get_extent(ptx: *const Ptx, entry: u32, config: *const LaunchConfig, arguments: *const Argument, argument_count: u32, parameter: u32, bytes: *mut u64, error: *mut Error) -> i32;
    fn attribute_set(attribute: *mut Attribute, id: i32, values: *const i64, count: u32, error: *mut Error) -> i32;
    fn tensor_map_encode(runtime: *mut Runtime, options: *const TensorOptions, map: *mut TensorMap, error: *mut Error) -> i32;
    fn mode_find(name: *const c_char, mode: *mut i32, error: *mut Error) -> i32;
    fn chain_create(runtime: *mut Runtime, chain: *mut *mut Chain, error: *mut Error) -> i32;
    fn chain_destroy(chain: *mut Chain);
    fn chain_add(chain: *mut Chain, kernel: *mut Kernel, config: *const LaunchConfig, arguments: *const Argument, argument_count: u32, error: *mut Error) -> i32;
    fn chain_add_ptx(chain: *mut Chain, ptx: *const Ptx, entry: *const c_char, config: *const LaunchConfig, arguments: *const Argument, argument_count: u32, error: *mut Error) -> i32;
    fn chain_add_copy(chain: *mut Chain, config: *const LaunchConfig, target: u64, source: u64, bytes: u64, error: *mut Error) -> i32;
    fn chain_add_fill(chain: *mut Chain, config: *const LaunchConfig, address: u64, value: u8, bytes: u64, error: *mut Error) -> i32;
    fn chain_add_host(chain: *mut Chain, config: *const LaunchConfig, function: Option<HostFunction>, user: *mut c_void, error: *mut Error) -> i32;
    fn chain_find(chain: *const Chain, name: *const c_char, index: *mut u32, error: *mut Error) -> i32;
    fn chain_depend(chain: *mut Chain, index: u32, on: u32, error: *mut Error) -> i32;
    fn chain_set_name(chain: *mut Chain, index: u32, name: *const c_char, error: *mut Error) -> i32;
    fn chain_set_traits(chain: *mut Chain, index: u32, traits: u32, error: *mut Error) -> i32;
    fn chain_add_buffer(chain: *mut Chain, address: u64, bytes: u64, error: *mut Error) -> i32;
    fn chain_set_use(chain: *mut Chain, index: u32, argument: u32, r#use: *const Use, error: *mut Error) -> i32;
    fn chain_set_reach(chain: *mut Chain, index: u32, uses: *const Use, count: u32, error: *mut Error) -> i32;
    fn chain_check(chain: *const Chain, findings: *mut *mut Findings, error: *mut Error) -> i32;
    fn chain_set_arguments(chain: *mut Chain, index: u32, arguments: *const Argument, argument_count: u32, error: *mut Error) -> i32;
    fn chain_set_argument(chain: *mut Chain, index: u32, argument: u32, value: *const Argument, error: *mut Error) -> i32;
    fn chain_set_config(chain: *mut Chain, index: u32, config: *const LaunchConfig, error: *mut Error) -> i32;
    fn chain_set_copy(chain: *mut Chain, index: u32, target: u64, source: u64, bytes: u64, error: *mut Error) -> i32;
    fn chain_set_fill(chain: *mut Chain, index: u32, address: u64, value: u8, bytes: u64, error: *mut Error) -> i32;
    fn chain_add_argument_set(chain: *mut Chain, set: *mut u32, error: *mut Error) -> i32;
    fn chain_select_argument_set(chain: *mut Chain, set: u32, error: *mut Error) -> i32;
    fn chain_prepare(chain: *mut Chain, mode: i32, error: *mut Error) -> i32;
    fn chain_run(chain: *mut Chain, mode: i32, stream: *mut c_void, error: *mut Error) -> i32;
    fn chain_run_many(chain: *mut Chain, mode: i32, rounds: u32, stream: *mut c_void, error: *mut Error) -> i32;
    fn chain_length(chain: *const Chain) -> u32;
    fn chain_get_hop(chain: *mut Chain, mode: i32, index: u32, info: *mut HopInfo, error: *mut Error) -> i32;
    fn group_open(runtimes: *mut *mut Runtime, count: u32, options: *const GroupOptions, group: *mut *mut Group, error: *mut Error) -> i32;
    fn group_close(group: *mut Group);
    fn group_join(runtime: *mut Runtime, rank: u32, count: u32, path: *const c_char, options: *const GroupOptions, group: *mut *mut Group, error: *mut Error) -> i32;
    fn group_get_info(group: *const Group, info: *mut GroupInfo, error: *mut Error) -> i32;
    fn group_allocate(group: *mut Group, bytes: u64, buffer: *mut u32, error: *mut Error) -> i32;
    fn group_get_address(group: *mut Group, buffer: u32, member: u32, address: *mut u64, error: *mut Error) -> i32;
    fn group_status(group: *const Group, error: *mut Error) -> i32;
    fn chain_add_hop(chain: *mut Chain, group: *mut Group, config: *const LaunchConfig, hop: *const Hop, error: *mut Error) -> i32;
    fn graph_create(runtime: *mut Runtime, graph: *mut *mut Graph, error: *mut Error) -> i32;
    fn graph_destroy(graph: *mut Graph);
    fn graph_add_kernel(graph: *mut Graph, kernel: *mut Kernel, config: *const LaunchConfig, arguments: *const Argument, argument_count: u32, node: *mut u32, error: *mut Error) -> i32;
    fn graph_add_fill(graph: *mut Graph, address: u64, value: u8, bytes: u64, node: *mut u32, error: *mut Error) -> i32;
    fn graph_add_copy(graph: *mut Graph, target: u64, source: u64, bytes: u64, node: *mut u32, error: *mut Error) -> i32;
    fn graph_add_host(graph: *mut Graph, function: Option<HostFunction>, user: *mut c_void, node: *mut u32, error: *mut Error) -> i32;
    fn graph_add_edge(graph: *mut Graph, from: u32, to: u32, from_port: i32, r#type: i32, error: *mut Error) -> i32;
    fn graph_remove_edge(graph: *mut Graph, edge: u32, error: *mut Error) -> i32;
    fn graph_from_chain(chain: *mut Chain, mode: i32, graph: *mut *mut Graph, error: *mut Error) -> i32;
    fn graph_capture_begin(runtime: *mut Runtime, stream: *mut c_void, error: *mut Error) -> i32;
    fn graph_capture_end(runtime: *mut Runtime, stream: *mut c_void, graph: *mut *mut Graph, error: *mut Error) -> i32;
    fn graph_adopt(runtime: *mut Runtime, cuda_graph: *mut c_void, flags: u32, graph: *mut *mut Graph, error: *mut Error) -> i32;
    fn graph_describe(graph: *mut Graph, node: u32, ptx: *const Ptx, entry: *const c_char, error: *mut Error) -> i32;
    fn graph_instantiate(graph: *mut Graph, error: *mut Error) -> i32;
    fn graph_launch(graph: *mut Graph, stream: *mut c_void, error: *mut Error) -> i32;
    fn graph_set_arguments(graph: *mut Graph, node: u32, arguments: *const Argument, argument_count: u32, error: *mut Error) -> i32;
    fn graph_set_config(graph: *mut Graph, node: u32, config: *const LaunchConfig, error: *mut Error) -> i32;
    fn graph_node_count(graph: *const Graph) -> u32;
    fn graph_edge_count(graph: *const Graph) -> u32;
    fn graph_get_node(graph: *const Graph, index: u32, info: *mut GraphNodeInfo, error: *mut Error) -> i32;
    fn graph_get_edge(graph: *const Graph, index: u32, info: *mut GraphEdgeInfo, error: *mut Error) -> i32;
    fn graph_upgrade(graph: *mut Graph, count: *mut u32, error: *mut Error) -> i32;
    fn graph_print(graph: *const Graph, format: i32, buffer: *mut c_char, capacity: u64, bytes: *mut u64, error: *mut Error) -> i32;
    fn tune_run(chain: *mut Chain, buffers: *const TuneBuffer, buffer_count: u32, options: *const TuneOptions, tune: *mut *mut Tune, error: *mut Error) -> i32;
    fn tune_load(chain: *mut Chain, mode: i32, tune: *mut *mut Tune, error: *mut Error) -> i32;
    fn tune_get_info(tune: *const Tune, info: *mut TuneInfo, error: *mut Error) -> i32;
    fn tune_get_trial(tune: *const Tune, index: u32, trial: *mut TuneTrial, error: *mut Error) -> i32;
    fn tune_get_choice(tune: *const Tune, launch: u32, choice: *mut TuneChoice, error: *mut Error) -> i32;
    fn tune_destroy(tune: *mut Tune);
    fn chain_explain(chain: *mut Chain, mode: i32, index: u32, explanation: *mut *mut Explanation, error: *mut Error) -> i32;
    fn explanation_destroy(explanation: *mut Explanation);
    fn explanation_get(explanation: *const Explanation, index: u32, condition: *mut Condition, error: *mut Error) -> i32;
    fn explanation_get_info(explanation: *const Explanation, info: *mut ExplanationInfo, error: *mut Error) -> i32;
    fn timeline_create(chain: *mut Chain, options: *const TimelineOptions, timeline: *mut *mut Timeline, error: *mut Error) -> i32;
    fn timeline_destroy(timeline: *mut Timeline);
    fn timeline_run(timeline: *mut Timeline, mode: i32, stream: *mut c_void, error: *mut Error) -> i32;
    fn timeline_get_chain(timeline: *mut Timeline) -> *mut Chain;
    fn timeline_get_info(timeline: *mut Timeline, info: *mut TimelineInfo, error: *mut Error) -> i32;
    fn timeline_get_launch(timeline: *mut Timeline, index: u32, launch: *mut TimelineLaunch, error: *mut Error) -> i32;
    fn timeline_get_hop(timeline: *mut Timeline, index: u32, hop: *mut TimelineHop, error: *mut Error) -> i32;
    fn timeline_get_mark(timeline: *mut Timeline, index: u32, mark: u32) -> *const c_char;
    fn timeline_read(timeline: *mut Timeline, index: u32, column: i32, values: *mut i64, capacity: u64, count: *mut u64, error: *mut Error) -> i32;
    fn shelf_get(index: u32, info: *mut ShelfInfo, error: *mut Error) -> i32;
    fn shelf_find(name: *const c_char, capability: i32, info: *mut ShelfInfo, error: *mut Error) -> i32;
    fn shelf_suggest(kernel: *const c_char, device: *const RuntimeInfo, arguments: *const Argument, argument_count: u32, config: *mut LaunchConfig, error: *mut Error) -> i32;
    fn shelf_field(text: *const c_char, text_bytes: u64, field: *const c_char, buffer: *mut c_char, capacity: u64, bytes: *mut u64, error: *mut Error) -> i32;
}
// ---- end of generated
}

#[link(name = "dl")]
extern "C" {
    fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

fn symbol(library: *mut c_void, name: &str) -> Result<*mut c_void, String> {
    let found = unsafe { dlsym(library, name.as_ptr().cast()) };
    if found.is_null() { Err(format!("the library has no {}", name.trim_end_matches('\0'))) } else { Ok(found) }
}

/// The library, opened by the first call and never closed.
pub fn functions() -> Result<&'static raw::Functions, Error> {
    static OPENED: OnceLock<Result<raw::Functions, String>> = OnceLock::new();
    let open = || {
        let name = env::var_os("GRIDDEP_LIBRARY").unwrap_or("libgriddep.so.0".into());
        let path = CString::new(name.as_encoded_bytes()).map_err(|_| "GRIDDEP_LIBRARY has a zero byte".to_string())?;
        let library = unsafe { dlopen(path.as_ptr(), 2 /* RTLD_NOW */) };
        if library.is_null() { Err(format!("{} cannot be opened (GRIDDEP_LIBRARY may name the library's path)", name.to_string_lossy())) } else { raw::Functions::load(library) }
    };
    OPENED.get_or_init(open).as_ref().map_err(|text| Error::of(raw::ERROR_FILE, "GRIDDEP_ERROR_FILE", text))
}

/// What went wrong. `text` says what and where; `file`, `line` and `column` are its position (line 0: none).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    pub status: i32,
    pub name: String,
    pub text: String,
    pub file: String,
    pub line: i32,
    pub column: i32,
    pub driver_code: i32,
}

impl Error {
    fn of(status: i32, name: &str, text: &str) -> Self {
        Error { status, name: name.into(), text: text.into(), file: String::new(), line: 0, column: 0, driver_code: 0 }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        write!(to, "{}: {}", self.name, self.text)
    }
}

impl std::error::Error for Error {}

pub type Result<T, E = Error> = std::result::Result<T, E>;

fn text(pointer: *const c_char) -> String {
    if pointer.is_null() { String::new() } else { unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned() }
}

fn c_text(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| refused("a text has a zero byte in it".into()))
}

/// What the library says of an argument that it cannot use.
fn refused(text: String) -> Error {
    Error::of(raw::ERROR_ARGUMENT, "GRIDDEP_ERROR_ARGUMENT", &text)
}

/// Calls a function that ends with `griddep_error *`.
fn call(function: impl FnOnce(&raw::Functions, *mut raw::Error) -> i32) -> Result<()> {
    let functions = functions()?;
    let mut from = raw::Error::new();
    let status = function(functions, &mut from);
    if status == raw::OK {
        return Ok(());
    }
    Err(told(functions, status, &from))
}

fn told(functions: &raw::Functions, status: i32, from: &raw::Error) -> Error {
    Error {
        status,
        name: text(unsafe { (functions.status_name)(status) }),
        text: text(from.text.as_ptr()),
        file: text(from.file.as_ptr()),
        line: from.line,
        column: from.column,
        driver_code: from.driver_code,
    }
}

/// A value of a kernel's parameter, copied to the device as it is.
pub trait Argument {
    fn argument(&self) -> raw::Argument;
}

macro_rules! arguments {
    ($($kind:ty)*) => { $(impl Argument for $kind {
        fn argument(&self) -> raw::Argument {
            raw::Argument { bytes: mem::size_of::<Self>() as u32, reserved: 0, value: 0, data: (self as *const Self).cast() }
        }
    })* };
}
arguments! { u8 u16 u32 u64 i8 i16 i32 i64 f32 f64 }

/// A struct's bytes.
impl<const BYTES: usize> Argument for [u8; BYTES] {
    fn argument(&self) -> raw::Argument {
        raw::Argument { bytes: BYTES as u32, reserved: 0, value: 0, data: self.as_ptr().cast() }
    }
}

impl<T> Argument for Memory<T> {
    fn argument(&self) -> raw::Argument {
        raw::Argument { bytes: 8, reserved: 0, value: self.address, data: ptr::null() }
    }
}

/// What may be copied to the device and back: any bits are a value.
pub trait Plain: Copy {}
macro_rules! plain { ($($kind:ty)*) => { $(impl Plain for $kind {})* }; }
plain! { u8 u16 u32 u64 i8 i16 i32 i64 f32 f64 }

pub type Log = Box<dyn Fn(i32, &str) + Send + Sync>;

/// How to open a runtime. The log function is called in any thread that uses the runtime; a panic in it goes no further.
#[derive(Default)]
pub struct Options {
    pub driver: Option<String>,
    pub device: Option<i32>,
    pub context: Option<*mut c_void>,
    pub store_directory: Option<String>,
    pub log: Option<Log>,
    pub log_level: i32,
    /// A part of the device: so many multiprocessors (0: all), and which part of that size.
    pub multiprocessors: u32,
    pub part: u32,
}

/// What all objects share: the runtime, which memory and streams need to be ended, and the log function, which any may call then.
struct Shared {
    runtime: *mut raw::Runtime,
    log: Option<Box<Log>>,
}

// A runtime may be used by several threads at once, and ended on any (griddep.h, "Threads").
unsafe impl Send for Shared {}
unsafe impl Sync for Shared {}

impl Drop for Shared {
    fn drop(&mut self) {
        end(|functions| unsafe { (functions.runtime_close)(self.runtime) });
    }
}

fn end(function: impl FnOnce(&raw::Functions)) {
    if let Ok(functions) = functions() {
        function(functions)
    }
}

unsafe extern "C" fn log(user: *mut c_void, level: i32, message: *const c_char) {
    let function = &*user.cast::<Log>();
    let _ = panic::catch_unwind(panic::AssertUnwindSafe(|| function(level, &text(message))));
}

type Host = Box<dyn FnOnce() + Send>;
type Notified = Box<dyn FnOnce(Result<()>) + Send>;

// They end what they were given; a panic goes no further.
unsafe extern "C" fn run_host(user: *mut c_void) {
    let function = Box::from_raw(user.cast::<Host>());
    let _ = panic::catch_unwind(panic::AssertUnwindSafe(function));
}

unsafe extern "C" fn run_notified(user: *mut c_void, failure: *const raw::Error) {
    let function = Box::from_raw(user.cast::<Notified>());
    let outcome = match (failure.as_ref(), functions()) {
        (Some(failure), Ok(functions)) => Err(told(functions, failure.status, failure)),
        _ => Ok(()),
    };
    let _ = panic::catch_unwind(panic::AssertUnwindSafe(|| function(outcome)));
}

#[derive(Default)]
struct Reached {
    outcome: Option<Result<()>>,
    waker: Option<Waker>,
}

/// Ready when a position in a stream is reached, or a fault has ended the context. Any executor runs it: no thread waits.
pub struct Done {
    reached: Arc<Mutex<Reached>>,
}

impl Future for Done {
    type Output = Result<()>;

    fn poll(self: Pin<&mut Self>, context: &mut Context) -> Poll<Self::Output> {
        let mut reached = self.reached.lock().unwrap();
        match reached.outcome.take() {
            Some(outcome) => Poll::Ready(outcome),
            None => {
                reached.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

/// What each device of a driver is like; no runtime is opened.
pub fn devices(driver: Option<&str>) -> Result<Vec<raw::DeviceInfo>> {
    let driver = driver.map(c_text).transpose()?;
    let name = driver.as_ref().map_or(ptr::null(), |text| text.as_ptr());
    let about = |index| {
        let mut info = raw::DeviceInfo::new();
        call(|c, error| unsafe { (c.device_get_info)(name, index, &mut info, error) })?;
        Ok(info)
    };
    (0..about(0)?.device_count as i32).map(about).collect()
}

/// A driver, a device and a context.
#[derive(Clone)]
pub struct Runtime {
    shared: Arc<Shared>,
}

impl Runtime {
    pub fn open(options: Options) -> Result<Self> {
        let mut fields = raw::RuntimeOptions::new();
        let driver = options.driver.as_deref().map(c_text).transpose()?;
        let cache = options.store_directory.as_deref().map(c_text).transpose()?;
        fields.driver = driver.as_ref().map_or(ptr::null(), |text| text.as_ptr());
        fields.store_directory = cache.as_ref().map_or(ptr::null(), |text| text.as_ptr());
        fields.context = options.context.unwrap_or(ptr::null_mut());
        if let Some(device) = options.device {
            fields.flags = raw::RUNTIME_DEVICE as u32;
            fields.device = device;
        }
        fields.log_level = options.log_level;
        (fields.multiprocessors, fields.part) = (options.multiprocessors, options.part);
        let function = options.log.map(Box::new);
        if let Some(function) = &function {
            fields.log = Some(log);
            fields.log_user = ptr::from_ref::<Log>(function).cast_mut().cast();
        }
        let mut runtime = ptr::null_mut();
        call(|c, error| unsafe { (c.runtime_open)(&fields, &mut runtime, error) })?;
        Ok(Self { shared: Arc::new(Shared { runtime, log: function }) })
    }

    pub fn info(&self) -> Result<raw::RuntimeInfo> {
        let mut info = raw::RuntimeInfo::new();
        call(|c, error| unsafe { (c.runtime_get_info)(self.raw(), &mut info, error) })?;
        Ok(info)
    }

    /// PTX text, a cubin or a fatbin.
    pub fn load(&self, image: impl AsRef<[u8]>, name: &str) -> Result<Module> {
        self.load_with(image, name, 0)
    }

    /// The same with flags, MODULE_*.
    pub fn load_with(&self, image: impl AsRef<[u8]>, name: &str, flags: i32) -> Result<Module> {
        let (image, name) = (image.as_ref(), c_text(name)?);
        let mut options = raw::ModuleOptions::new();
        (options.name, options.flags) = (name.as_ptr(), flags as u32);
        let mut handle = ptr::null_mut();
        call(|c, error| unsafe { (c.module_load)(self.raw(), image.as_ptr().cast(), image.len() as u64, &options, &mut handle, error) })?;
        Ok(Module { handle, _shared: self.shared.clone() })
    }

    /// The same from a file; one whose name ends in .cu is compiled with NVRTC.
    pub fn load_file(&self, path: &str) -> Result<Module> {
        let path = c_text(path)?;
        let mut handle = ptr::null_mut();
        call(|c, error| unsafe { (c.module_load_file)(self.raw(), path.as_ptr(), ptr::null(), &mut handle, error) })?;
        Ok(Module { handle, _shared: self.shared.clone() })
    }

    /// A kernel of the shelf by its name.
    pub fn load_shelf(&self, kernel: &str) -> Result<Module> {
        let kernel = c_text(kernel)?;
        let mut handle = ptr::null_mut();
        call(|c, error| unsafe { (c.module_load_shelf)(self.raw(), kernel.as_ptr(), ptr::null(), &mut handle, error) })?;
        Ok(Module { handle, _shared: self.shared.clone() })
    }

    /// One module of several PTX texts, relocatable cubins, fatbins and archives.
    pub fn link(&self, images: &[&[u8]], name: &str) -> Result<Module> {
        let name = c_text(name)?;
        let inputs: Vec<_> = images
            .iter()
            .map(|image| raw::LinkInput { image: image.as_ptr().cast(), bytes: image.len() as u64, name: ptr::null() })
            .collect();
        let mut options = raw::ModuleOptions::new();
        options.name = name.as_ptr();
        let mut handle = ptr::null_mut();
        call(|c, error| unsafe { (c.module_link)(self.raw(), inputs.as_ptr(), inputs.len() as u32, &options, &mut handle, error) })?;
        Ok(Module { handle, _shared: self.shared.clone() })
    }

    /// Device memory for `count` values.
    pub fn allocate<T: Plain>(&self, count: usize) -> Result<Memory<T>> {
        let mut address = 0;
        let bytes = count.checked_mul(mem::size_of::<T>()).ok_or_else(|| refused(format!("{count} values are more than memory can hold")))? as u64;
        call(|c, error| unsafe { (c.memory_allocate)(self.raw(), bytes, &mut address, error) })?;
        Ok(Memory { address, count, shared: self.shared.clone(), of: PhantomData })
    }

    pub fn copy_in<T: Plain>(&self, values: &[T]) -> Result<Memory<T>> {
        let memory = self.allocate(values.len())?;
        memory.write(values, None)?;
        Ok(memory)
    }

    pub fn stream(&self) -> Result<Stream> {
        let mut handle = ptr::null_mut();
        call(|c, error| unsafe { (c.stream_create)(self.raw(), ptr::null(), &mut handle, error) })?;
        Ok(Stream { handle, shared: self.shared.clone() })
    }

    /// A smaller number is more urgent; a blocking stream and the legacy default one wait for each other.
    pub fn stream_with(&self, priority: i32, blocking: bool) -> Result<Stream> {
        let (mut options, mut handle) = (raw::StreamOptions::new(), ptr::null_mut());
        options.priority = priority;
        options.flags = if blocking { raw::STREAM_BLOCKING as u32 } else { 0 };
        call(|c, error| unsafe { (c.stream_create)(self.raw(), &options, &mut handle, error) })?;
        Ok(Stream { handle, shared: self.shared.clone() })
    }

    pub fn synchronize(&self) -> Result<()> {
        call(|c, error| unsafe { (c.stream_synchronize)(self.raw(), ptr::null_mut(), error) })
    }

    /// Waits for all work of the context.
    pub fn synchronize_all(&self) -> Result<()> {
        call(|c, error| unsafe { (c.runtime_synchronize)(self.raw(), error) })
    }

    /// The stream calls a function on a thread of the driver's, where the library refuses what needs the driver, and waits for its return. Not for
    /// captured streams: a graph may call a function more than once. After a fault it is not called.
    pub fn add_host(&self, function: impl FnOnce() + Send + 'static, stream: Option<&Stream>) -> Result<()> {
        let mut info = raw::StreamInfo::new();
        call(|c, error| unsafe { (c.stream_get_info)(self.raw(), raw_stream(stream), &mut info, error) })?;
        if info.captured != 0 {
            return Err(refused("the stream is being captured: a graph may call a function more than once".into()));
        }
        let user = Box::into_raw(Box::new(Box::new(function) as Host));
        let added = call(|c, error| unsafe { (c.stream_add_host)(self.raw(), raw_stream(stream), Some(run_host), user.cast(), error) });
        if added.is_err() {
            drop(unsafe { Box::from_raw(user) });
        }
        added
    }

    /// Calls it once, likewise, when all that is in the stream now is over, or a fault has ended the context.
    pub fn notify(&self, function: impl FnOnce(Result<()>) + Send + 'static, stream: Option<&Stream>) -> Result<()> {
        let user = Box::into_raw(Box::new(Box::new(function) as Notified));
        let added = call(|c, error| unsafe { (c.stream_notify)(self.raw(), raw_stream(stream), Some(run_notified), user.cast(), error) });
        if added.is_err() {
            drop(unsafe { Box::from_raw(user) });
        }
        added
    }

    /// `runtime.done(stream)?.await?` returns when all that is in the stream now is over.
    pub fn done(&self, stream: Option<&Stream>) -> Result<Done> {
        let reached = Arc::new(Mutex::new(Reached::default()));
        let there = reached.clone();
        let tell = move |outcome| {
            let waker = {
                let mut reached = there.lock().unwrap();
                reached.outcome = Some(outcome);
                reached.waker.take()
            };
            if let Some(waker) = waker {
                waker.wake();
            }
        };
        self.notify(tell, stream)?;
        Ok(Done { reached })
    }

    pub fn completion(&self) -> Result<Completion> {
        let mut handle = ptr::null_mut();
        call(|c, error| unsafe { (c.completion_create)(self.raw(), &mut handle, error) })?;
        Ok(Completion { handle, _shared: self.shared.clone() })
    }

    /// Memory of the host that copies reach without waiting: `count` values, zero at first.
    pub fn pinned<T: Plain>(&self, count: usize) -> Result<Pinned<T>> {
        let mut memory = ptr::null_mut();
        let bytes = count.checked_mul(mem::size_of::<T>()).ok_or_else(|| refused(format!("{count} values are more than memory can hold")))?;
        call(|c, error| unsafe { (c.host_allocate)(self.raw(), bytes as u64, raw::HOST_PORTABLE as u32, &mut memory, error) })?;
        unsafe { ptr::write_bytes(memory.cast::<u8>(), 0, bytes) };
        Ok(Pinned { values: memory.cast(), count, shared: self.shared.clone() })
    }

    pub fn chain(&self) -> Result<Chain> {
        let mut handle = ptr::null_mut();
        call(|c, error| unsafe { (c.chain_create)(self.raw(), &mut handle, error) })?;
        Ok(Chain { handle, hosts: Vec::new(), _shared: self.shared.clone(), one_thread: PhantomData })
    }

    pub fn raw(&self) -> *mut raw::Runtime {
        self.shared.runtime
    }
}

/// A file descriptor that becomes readable when a position in a stream is reached: for poll, epoll and event loops.
pub struct Completion {
    handle: *mut raw::Completion,
    _shared: Arc<Shared>,
}

unsafe impl Send for Completion {}
unsafe impl Sync for Completion {}

impl Completion {
    pub fn descriptor(&self) -> Result<i32> {
        let mut found = -1;
        call(|c, error| unsafe { (c.completion_get_descriptor)(self.handle, &mut found, error) })?;
        Ok(found)
    }

    /// Again too, also before it is reached.
    pub fn arm(&self, stream: Option<&Stream>) -> Result<()> {
        call(|c, error| unsafe { (c.completion_arm)(self.handle, raw_stream(stream), error) })
    }

    /// How many positions have been reached since the last take; a fault is an Err once.
    pub fn take(&self) -> Result<u64> {
        let mut reached = 0;
        call(|c, error| unsafe { (c.completion_take)(self.handle, &mut reached, error) })?;
        Ok(reached)
    }
}

impl Drop for Completion {
    fn drop(&mut self) {
        end(|c| unsafe { (c.completion_destroy)(self.handle) });
    }
}

/// Pinned memory of the host. Its end waits for the context's work.
pub struct Pinned<T> {
    values: *mut T,
    count: usize,
    shared: Arc<Shared>,
}

unsafe impl<T: Send> Send for Pinned<T> {}
unsafe impl<T: Sync> Sync for Pinned<T> {}

impl<T> Deref for Pinned<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        unsafe { std::slice::from_raw_parts(self.values, self.count) }
    }
}

impl<T> DerefMut for Pinned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        unsafe { std::slice::from_raw_parts_mut(self.values, self.count) }
    }
}

impl<T> Drop for Pinned<T> {
    fn drop(&mut self) {
        end(|c| unsafe {
            (c.host_free)(self.shared.runtime, self.values.cast(), ptr::null_mut());
        });
    }
}

/// Device memory of `count` values, freed with the object; the driver frees it when the work that uses it is done.
pub struct Memory<T> {
    address: u64,
    count: usize,
    shared: Arc<Shared>,
    of: PhantomData<T>,
}

impl<T: Plain> Memory<T> {
    pub fn write(&self, values: &[T], stream: Option<&Stream>) -> Result<()> {
        if values.len() > self.count {
            return Err(refused(format!("{} values do not fit into {}", values.len(), self.count)));
        }
        let (source, bytes) = (values.as_ptr().cast(), mem::size_of_val(values) as u64);
        call(|c, error| unsafe { (c.memory_write)(self.shared.runtime, self.address, source, bytes, raw_stream(stream), error) })
    }

    pub fn read(&self, stream: Option<&Stream>) -> Result<Vec<T>> {
        let mut values = vec![unsafe { mem::zeroed::<T>() }; self.count];
        let (target, bytes) = (values.as_mut_ptr().cast(), mem::size_of_val(&values[..]) as u64);
        call(|c, error| unsafe { (c.memory_read)(self.shared.runtime, target, self.address, bytes, raw_stream(stream), error) })?;
        Ok(values)
    }
}

impl<T: Plain> Memory<T> {
    fn check_count(&self, count: usize) -> Result<()> {
        if count > self.count { Err(refused(format!("{count} values do not fit into {}", self.count))) } else { Ok(()) }
    }

    /// Hands a copy in and returns.
    ///
    /// # Safety
    /// The values must stay as they are until the stream has come there.
    pub unsafe fn write_async(&self, values: &Pinned<T>, stream: Option<&Stream>) -> Result<()> {
        self.check_count(values.count)?;
        let bytes = mem::size_of_val(&values[..]) as u64;
        call(|c, error| unsafe { (c.memory_write_async)(self.shared.runtime, self.address, values.values.cast(), bytes, raw_stream(stream), error) })
    }

    /// Likewise in the other direction, as many values as `values` has.
    ///
    /// # Safety
    /// Nobody may look at the values until the stream has come there.
    pub unsafe fn read_async(&self, values: &mut Pinned<T>, stream: Option<&Stream>) -> Result<()> {
        self.check_count(values.count)?;
        let bytes = mem::size_of_val(&values[..]) as u64;
        call(|c, error| unsafe { (c.memory_read_async)(self.shared.runtime, values.values.cast(), self.address, bytes, raw_stream(stream), error) })
    }

    /// Copies all of another memory, without waiting.
    ///
    /// # Safety
    /// Both must stay until the stream has come there.
    pub unsafe fn copy_async(&self, from: &Memory<T>, stream: Option<&Stream>) -> Result<()> {
        self.check_count(from.count)?;
        let bytes = (from.count * mem::size_of::<T>()) as u64;
        call(|c, error| unsafe { (c.memory_copy_async)(self.shared.runtime, self.address, from.address, bytes, raw_stream(stream), error) })
    }
}

impl<T> Memory<T> {
    pub fn address(&self) -> u64 {
        self.address
    }

    fn bytes(&self) -> u64 {
        (self.count * mem::size_of::<T>()) as u64
    }
}

impl<T> Drop for Memory<T> {
    fn drop(&mut self) {
        end(|c| unsafe {
            (c.memory_free)(self.shared.runtime, self.address, ptr::null_mut());
        });
    }
}

/// A CUstream. No stream is the legacy default stream.
pub struct Stream {
    handle: *mut c_void,
    shared: Arc<Shared>,
}

unsafe impl Send for Stream {}
unsafe impl Sync for Stream {}

impl Stream {
    /// Whether all that it was given is over.
    pub fn query(&self) -> Result<bool> {
        let mut done = 0;
        call(|c, error| unsafe { (c.stream_query)(self.shared.runtime, self.handle, &mut done, error) })?;
        Ok(done != 0)
    }

    pub fn synchronize(&self) -> Result<()> {
        call(|c, error| unsafe { (c.stream_synchronize)(self.shared.runtime, self.handle, error) })
    }

    pub fn raw(&self) -> *mut c_void {
        self.handle
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        end(|c| unsafe {
            (c.stream_destroy)(self.shared.runtime, self.handle, ptr::null_mut());
        });
    }
}

fn raw_stream(stream: Option<&Stream>) -> *mut c_void {
    stream.map_or(ptr::null_mut(), Stream::raw)
}

/// Code on the device.
pub struct Module {
    handle: *mut raw::Module,
    _shared: Arc<Shared>,
}

unsafe impl Send for Module {}
unsafe impl Sync for Module {}

impl Module {
    pub fn kernel(&self, name: &str) -> Result<Kernel<'_>> {
        let name = c_text(name)?;
        let mut handle = ptr::null_mut();
        call(|c, error| unsafe { (c.module_find_kernel)(self.handle, name.as_ptr(), &mut handle, error) })?;
        Ok(Kernel { handle, of: PhantomData })
    }

    /// Address and bytes of a module-scope variable.
    pub fn variable(&self, name: &str) -> Result<(u64, u64)> {
        let (name, mut address, mut bytes) = (c_text(name)?, 0, 0);
        call(|c, error| unsafe { (c.module_get_global)(self.handle, name.as_ptr(), &mut address, &mut bytes, error) })?;
        Ok((address, bytes))
    }

    /// A managed variable. It may be read and written through the pointer while no kernel uses it, as long as the module lives.
    pub fn managed<T: Plain>(&self, name: &str) -> Result<*mut T> {
        let (text, mut memory, mut bytes) = (c_text(name)?, ptr::null_mut(), 0);
        call(|c, error| unsafe { (c.module_get_managed)(self.handle, text.as_ptr(), &mut memory, &mut bytes, error) })?;
        if (bytes as usize) < mem::size_of::<T>() {
            return Err(refused(format!("{name} has {bytes} bytes, fewer than what it is taken for")));
        }
        Ok(memory.cast())
    }

    /// The module, which was loaded with MODULE_LIBRARY, in another runtime; its code is not given to the driver again.
    pub fn share(&self, runtime: &Runtime) -> Result<Module> {
        let mut handle = ptr::null_mut();
        call(|c, error| unsafe { (c.module_share)(self.handle, runtime.raw(), &mut handle, error) })?;
        Ok(Module { handle, _shared: runtime.shared.clone() })
    }
}

/// What is in a part of an image: `kernels` are a cubin's, with their TRAIT_*.
pub struct ImagePart {
    pub kind: i32,
    pub architecture: i32,
    pub data: Vec<u8>,
    pub kernels: Vec<(String, u32)>,
}

/// What PTX text, a cubin or a fatbin holds; needs no driver.
pub fn image_parts(image: impl AsRef<[u8]>) -> Result<Vec<ImagePart>> {
    let (image, mut handle) = (image.as_ref(), ptr::null_mut());
    call(|c, error| unsafe { (c.image_open)(image.as_ptr().cast(), image.len() as u64, ptr::null(), &mut handle, error) })?;
    let read = |index| {
        let mut part = raw::ImagePart::new();
        call(|c, error| unsafe { (c.image_get_part)(handle, index, &mut part, error) })?;
        let kernels = (0..part.kernel_count).map(|number| {
            let mut kernel = raw::ImageKernel::new();
            call(|c, error| unsafe { (c.image_get_kernel)(handle, index, number, &mut kernel, error) })?;
            Ok((text(kernel.name), kernel.traits))
        });
        let kernels = kernels.collect::<Result<_>>()?;
        let data = if part.data.is_null() { vec![] } else { unsafe { slice::from_raw_parts(part.data.cast::<u8>(), part.bytes as usize).to_vec() } };
        Ok(ImagePart { kind: part.kind, architecture: part.architecture, data, kernels })
    };
    let mut info = raw::ImageInfo::new();
    let parts = call(|c, error| unsafe { (c.image_get_info)(handle, &mut info, error) }).and_then(|_| (0..info.part_count).map(read).collect());
    end(|c| unsafe { (c.image_destroy)(handle) });
    parts
}

impl Drop for Module {
    fn drop(&mut self) {
        end(|c| unsafe { (c.module_unload)(self.handle) });
    }
}

/// An entry of a module.
#[derive(Clone, Copy)]
pub struct Kernel<'module> {
    handle: *mut raw::Kernel,
    of: PhantomData<&'module Module>,
}

unsafe impl Send for Kernel<'_> {}
unsafe impl Sync for Kernel<'_> {}

/// How to launch.
#[derive(Clone, Copy, Default)]
pub struct Config {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub cluster: [u32; 3],
    pub shared_bytes: u32,
    pub pdl: i32,
}

impl Config {
    pub fn new(grid: u32, block: u32) -> Self {
        Self { grid: [grid, 0, 0], block: [block, 0, 0], ..Self::default() }
    }

    fn raw(&self, stream: Option<&Stream>) -> raw::LaunchConfig {
        let mut config = raw::LaunchConfig::new();
        (config.grid, config.block, config.cluster) = (self.grid, self.block, self.cluster);
        (config.shared_bytes, config.pdl, config.stream) = (self.shared_bytes, self.pdl, raw_stream(stream));
        config
    }
}

fn pack(arguments: &[&dyn Argument]) -> Vec<raw::Argument> {
    arguments.iter().map(|argument| argument.argument()).collect()
}

impl Kernel<'_> {
    /// The kernel's TRAIT_*.
    pub fn traits(&self) -> Result<u32> {
        let mut info = raw::KernelInfo::new();
        call(|c, error| unsafe { (c.kernel_get_info)(self.handle, &mut info, error) })?;
        Ok(info.traits)
    }

    /// Vouches for TRAIT_* of code that the library cannot read, before it is used.
    ///
    /// # Safety
    /// A wrong statement makes kernels race: griddep_kernel_state_traits tells what it vouches for.
    pub unsafe fn state_traits(&self, traits: u32) -> Result<()> {
        call(|c, error| unsafe { (c.kernel_state_traits)(self.handle, traits, error) })
    }

    /// Launches, asynchronously. Gives a REASON_*: whether the launch may overlap what is before it, and why.
    ///
    /// # Safety
    /// The kernel reads and writes what its arguments point to; that must stay until the work is done.
    pub unsafe fn launch(&self, config: &Config, arguments: &[&dyn Argument], stream: Option<&Stream>) -> Result<i32> {
        let (config, arguments) = (config.raw(stream), pack(arguments));
        let mut reason = 0;
        call(|c, error| unsafe { (c.launch)(self.handle, &config, arguments.as_ptr(), arguments.len() as u32, &mut reason, error) })?;
        Ok(reason)
    }
}

type HostFunction = Arc<dyn Fn() + Send + Sync>;

/// Functions of chains by their numbers: a run may still be under way when its chain has gone.
fn host_functions() -> &'static Mutex<HashMap<usize, HostFunction>> {
    static FUNCTIONS: OnceLock<Mutex<HashMap<usize, HostFunction>>> = OnceLock::new();
    FUNCTIONS.get_or_init(Default::default)
}

extern "C" fn call_host(number: *mut c_void) {
    let function = host_functions().lock().ok().and_then(|all| all.get(&(number as usize)).cloned());
    if let Some(function) = function {
        let _ = panic::catch_unwind(panic::AssertUnwindSafe(|| function()));
    }
}

/// Launches, copies, fills and host functions in stream order, prepared once, changed between runs, run many times. One thread at a time may use
/// it. Changes are for the runs that follow, in every mode; launches count from 0.
pub struct Chain {
    handle: *mut raw::Chain,
    hosts: Vec<usize>,
    _shared: Arc<Shared>,
    one_thread: PhantomData<Cell<()>>,
}

unsafe impl Send for Chain {}

impl Chain {
    pub fn add(&mut self, kernel: Kernel, config: &Config, arguments: &[&dyn Argument]) -> Result<()> {
        let (config, arguments) = (config.raw(None), pack(arguments));
        call(|c, error| unsafe { (c.chain_add)(self.handle, kernel.handle, &config, arguments.as_ptr(), arguments.len() as u32, error) })
    }

    /// The same with a name, for `find`.
    pub fn add_named(&mut self, name: &str, kernel: Kernel, config: &Config, arguments: &[&dyn Argument]) -> Result<()> {
        let (mut config, arguments, name) = (config.raw(None), pack(arguments), c_text(name)?);
        config.name = name.as_ptr();
        call(|c, error| unsafe { (c.chain_add)(self.handle, kernel.handle, &config, arguments.as_ptr(), arguments.len() as u32, error) })
    }

    /// Copies all values of one memory to the start of another one.
    pub fn copy<T: Plain>(&mut self, target: &Memory<T>, source: &Memory<T>) -> Result<()> {
        let bytes = copied(target, source)?;
        call(|c, error| unsafe { (c.chain_add_copy)(self.handle, ptr::null(), target.address, source.address, bytes, error) })
    }

    /// Sets each byte of a memory.
    pub fn fill<T: Plain>(&mut self, target: &Memory<T>, value: u8) -> Result<()> {
        call(|c, error| unsafe { (c.chain_add_fill)(self.handle, ptr::null(), target.address, value, target.bytes(), error) })
    }

    /// Calls a function on a thread of the driver. It must use neither the driver nor this library.
    pub fn host(&mut self, function: impl Fn() + Send + Sync + 'static) -> Result<()> {
        static LAST: AtomicUsize = AtomicUsize::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed) + 1;
        if let Ok(mut all) = host_functions().lock() {
            all.insert(number, Arc::new(function));
        }
        self.hosts.push(number);
        call(|c, error| unsafe { (c.chain_add_host)(self.handle, ptr::null(), Some(call_host), number as *mut c_void, error) })
    }

    pub fn find(&self, name: &str) -> Result<u32> {
        let (name, mut index) = (c_text(name)?, 0);
        call(|c, error| unsafe { (c.chain_find)(self.handle, name.as_ptr(), &mut index, error) })?;
        Ok(index)
    }

    /// What a launch reaches at addresses that no argument gives it: address, bytes and ACCESS_* each, and all that there is.
    pub fn set_reach(&mut self, index: u32, places: &[(u64, u64, i32)]) -> Result<()> {
        let uses: Vec<_> = places.iter().map(|&(offset, bytes, access)| raw::Use { offset, bytes, access, ..raw::Use::new() }).collect();
        call(|c, error| unsafe { (c.chain_set_reach)(self.handle, index, uses.as_ptr(), uses.len() as u32, error) })
    }

    pub fn set_arguments(&mut self, index: u32, arguments: &[&dyn Argument]) -> Result<()> {
        let arguments = pack(arguments);
        call(|c, error| unsafe { (c.chain_set_arguments)(self.handle, index, arguments.as_ptr(), arguments.len() as u32, error) })
    }

    pub fn set_argument(&mut self, index: u32, argument: u32, value: &dyn Argument) -> Result<()> {
        let value = value.argument();
        call(|c, error| unsafe { (c.chain_set_argument)(self.handle, index, argument, &value, error) })
    }

    pub fn set_config(&mut self, index: u32, config: &Config) -> Result<()> {
        let config = config.raw(None);
        call(|c, error| unsafe { (c.chain_set_config)(self.handle, index, &config, error) })
    }

    pub fn set_copy<T: Plain>(&mut self, index: u32, target: &Memory<T>, source: &Memory<T>) -> Result<()> {
        let bytes = copied(target, source)?;
        call(|c, error| unsafe { (c.chain_set_copy)(self.handle, index, target.address, source.address, bytes, error) })
    }

    pub fn set_fill<T: Plain>(&mut self, index: u32, target: &Memory<T>, value: u8) -> Result<()> {
        call(|c, error| unsafe { (c.chain_set_fill)(self.handle, index, target.address, value, target.bytes(), error) })
    }

    /// One more set of arguments, as the selected one is now.
    pub fn add_argument_set(&mut self) -> Result<u32> {
        let mut set = 0;
        call(|c, error| unsafe { (c.chain_add_argument_set)(self.handle, &mut set, error) })?;
        Ok(set)
    }

    /// Makes a set the one that runs and changes are about.
    pub fn select_argument_set(&mut self, set: u32) -> Result<()> {
        call(|c, error| unsafe { (c.chain_select_argument_set)(self.handle, set, error) })
    }

    /// Modes are MODE_SERIAL, MODE_PDL, MODE_GRAPH and MODE_GRAPH_PDL.
    pub fn prepare(&mut self, mode: i32) -> Result<()> {
        call(|c, error| unsafe { (c.chain_prepare)(self.handle, mode, error) })
    }

    /// Runs the chain, asynchronously.
    ///
    /// # Safety
    /// As Kernel::launch.
    pub unsafe fn run(&mut self, mode: i32, stream: Option<&Stream>) -> Result<()> {
        call(|c, error| unsafe { (c.chain_run)(self.handle, mode, raw_stream(stream), error) })
    }

    /// Runs the chain back to back; where the check allows it, round overlaps round: `hop(mode, length())` tells.
    ///
    /// # Safety
    /// As Kernel::launch.
    pub unsafe fn run_many(&mut self, rounds: u32, mode: i32, stream: Option<&Stream>) -> Result<()> {
        call(|c, error| unsafe { (c.chain_run_many)(self.handle, mode, rounds, raw_stream(stream), error) })
    }

    pub fn length(&self) -> u32 {
        functions().map_or(0, |c| unsafe { (c.chain_length)(self.handle) })
    }

    /// The kernel of a launch, and its REASON_*.
    pub fn hop(&mut self, mode: i32, index: u32) -> Result<(String, i32)> {
        let mut info = raw::HopInfo::new();
        call(|c, error| unsafe { (c.chain_get_hop)(self.handle, mode, index, &mut info, error) })?;
        Ok((text(info.kernel), info.reason))
    }
}

fn copied<T: Plain>(target: &Memory<T>, source: &Memory<T>) -> Result<u64> {
    if source.count > target.count {
        return Err(refused(format!("{} values do not fit into {}", source.count, target.count)));
    }
    Ok(source.bytes())
}

impl Drop for Chain {
    fn drop(&mut self) {
        if let Ok(mut all) = host_functions().lock() {
            self.hosts.iter().for_each(|number| drop(all.remove(number)));
        }
        end(|c| unsafe { (c.chain_destroy)(self.handle) });
    }
}

pub fn reason_text(reason: i32) -> String {
    functions().map_or(String::new(), |c| text(unsafe { (c.text)(raw::TEXT_REASON, reason) }))
}
