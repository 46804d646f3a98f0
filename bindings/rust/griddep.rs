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
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};
use std::{env, fmt, mem, panic, ptr};

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
pub const FEATURE_PDL: i32 = 1;
pub const FEATURE_GRAPH: i32 = 2;
pub const FEATURE_GRAPH_EDGES: i32 = 4;
pub const FEATURE_PROGRAMMATIC_EVENT: i32 = 8;
pub const FEATURE_LAUNCH_COMPLETION_EVENT: i32 = 16;
pub const FEATURE_PARAMETER_INFO: i32 = 32;
pub const FEATURE_CLUSTER: i32 = 64;
pub const FEATURE_CONDITIONAL: i32 = 128;
pub const EVENT_TIMING: i32 = 0;
pub const EVENT_ORDER: i32 = 1;
pub const TRAIT_KNOWN: i32 = 1;
pub const TRAIT_WAITS: i32 = 2;
pub const TRAIT_WAITS_ALWAYS: i32 = 4;
pub const TRAIT_TRIGGERS: i32 = 8;
pub const TRAIT_CALLS: i32 = 16;
pub const CONTROL_WAIT: i32 = 1;
pub const CONTROL_LAUNCH_DEPENDENTS: i32 = 2;
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
pub const OPTIMIZATION_DEFAULT: i32 = 0;
pub const OPTIMIZATION_NONE: i32 = -1;
pub const IMAGE_PTX: i32 = 1;
pub const IMAGE_CUBIN: i32 = 2;
pub const IMAGE_FATBIN: i32 = 3;
pub const ARGUMENT_VALUE: i32 = 0;
pub const ARGUMENT_CONDITIONAL: i32 = 0;
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
pub const REASON_DISABLED: i32 = 15;
pub const REASON_WRONG_END: i32 = 16;
pub const REASON_BLOCKING: i32 = 17;
pub const REASON_COOPERATIVE: i32 = 18;
pub const REASON_NO_TRIGGER: i32 = 19;
pub const REASON_NO_ROOM: i32 = 20;
pub const REASON_CARVEOUT: i32 = 21;
pub const REASON_WAVES: i32 = 22;
pub const REASON_CLUSTER: i32 = 23;
pub const REASON_LAUNCH_ORDER: i32 = 24;
pub const REASON_WRONG_PORT: i32 = 25;
pub const REASON_NO_EDGE_DATA: i32 = 26;
pub const REASON_TOOLS: i32 = 27;
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
pub const CONDITIONAL_IF: i32 = 0;
pub const CONDITIONAL_WHILE: i32 = 1;
pub const CONDITIONAL_SWITCH: i32 = 2;
pub const GRAPH_OWN: i32 = 1;
pub const FORMAT_DOT: i32 = 0;
pub const FORMAT_JSON: i32 = 1;
pub const TUNE_FORGET: i32 = 1;
pub const TUNE_BETTER: i32 = 0;
pub const TUNE_NOT_BETTER: i32 = 1;
pub const TUNE_SLOWER: i32 = 2;
pub const TUNE_SAME: i32 = 3;
pub const TUNE_NO_PLACE: i32 = 4;
pub const TUNE_ILLEGAL: i32 = 5;
pub const TUNE_DIFFERENT: i32 = 6;
pub const TUNE_REFUSED: i32 = 7;
pub const TUNE_UNCONFIRMED: i32 = 8;
pub const TUNE_SPAN: i32 = 0;
pub const TUNE_IDLE: i32 = 1;
pub const TUNE_GAP: i32 = 2;
pub const TUNE_WORK: i32 = 3;
pub const TUNE_LEAD: i32 = 4;
pub const TUNE_HIDDEN: i32 = 5;
pub const TUNE_WAIT: i32 = 6;
pub const TUNE_OVERLAP: i32 = 7;
pub const TUNE_FIGURES: i32 = 8;
pub const TUNE_WHOLE: i32 = -1;
pub const STAMP_SM: i32 = 0;
pub const STAMP_ENTRY: i32 = 1;
pub const STAMP_WAIT: i32 = 2;
pub const STAMP_RELEASE: i32 = 3;
pub const STAMP_TRIGGER: i32 = 4;
pub const STAMP_EXIT: i32 = 5;
pub const STAMP_MARK: i32 = 6;
pub const STAMP_CLOCK: i32 = 64;
pub const STAMP_NONE: i32 = -1;

pub enum Runtime {}
pub enum Module {}
pub enum Kernel {}
pub enum Chain {}
pub enum Graph {}
pub enum Conditional {}
pub enum Ptx {}
pub enum Timeline {}
pub enum Findings {}
pub enum Tune {}
pub enum Explanation {}
pub type LogFunction = unsafe extern "C" fn(user: *mut c_void, level: i32, message: *const c_char);
pub type HostFunction = unsafe extern "C" fn(user: *mut c_void);
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
pub struct ControlInfo {
    pub size: u32,
    pub kind: i32,
    pub line: i32,
    pub column: i32,
    pub predicated: u32,
    pub reserved: u32,
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
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CodeInfo {
    pub size: u32,
    pub severity: i32,
    pub code: *const c_char,
    pub title: *const c_char,
    pub page: *const c_char,
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
pub struct ModuleOptions {
    pub size: u32,
    pub flags: u32,
    pub name: *const c_char,
    pub optimization: i32,
    pub maximum_registers: u32,
    pub compile_options: *const *const c_char,
    pub compile_option_count: u32,
    pub reserved: u32,
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
    pub reserved: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Argument {
    pub bytes: u32,
    pub kind: u32,
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
    pub reserved: u32,
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
pub struct GraphNodeInfo {
    pub size: u32,
    pub r#type: i32,
    pub name: *const c_char,
    pub traits: u32,
    pub enabled: u32,
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
    pub baseline_us: f64,
    pub chosen_us: f64,
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
    pub reserved: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct TuneReason {
    pub size: u32,
    pub runs: u32,
    pub hops: u32,
    pub reserved: u32,
    pub before: [f64; 8],
    pub after: [f64; 8],
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
    pub clock_rate: f64,
    pub bias: f64,
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
    Error, RuntimeOptions, RuntimeInfo, PtxInfo, PtxEntryInfo, ParameterInfo, ControlInfo, Finding, CodeInfo,
    CheckOptions, RewriteOptions, ModuleOptions, ModuleInfo, KernelInfo, LaunchConfig, RequirementInfo,
    TensorOptions, HopInfo, Use, GraphNodeInfo, GraphEdgeInfo, TuneOffer, TuneBuffer, TuneOptions, TuneTrial,
    TuneInfo, TuneChoice, TuneReason, Condition, ExplanationInfo, TimelineOptions, TimelineInfo, TimelineLaunch,
    TimelineHop, ShelfInfo,
}

functions! {
    fn version() -> i32;
    fn version_text() -> *const c_char;
    fn status_name(status: i32) -> *const c_char;
    fn status_text(status: i32) -> *const c_char;
    fn error_init(error: *mut Error);
    fn constant_find(name: *const c_char, value: *mut i32, error: *mut Error) -> i32;
    fn constant_name(index: u32, value: *mut i32) -> *const c_char;
    fn runtime_open(options: *const RuntimeOptions, runtime: *mut *mut Runtime, error: *mut Error) -> i32;
    fn runtime_close(runtime: *mut Runtime);
    fn runtime_get_info(runtime: *mut Runtime, info: *mut RuntimeInfo, error: *mut Error) -> i32;
    fn memory_allocate(runtime: *mut Runtime, bytes: u64, address: *mut u64, error: *mut Error) -> i32;
    fn memory_free(runtime: *mut Runtime, address: u64, error: *mut Error) -> i32;
    fn memory_write(runtime: *mut Runtime, address: u64, source: *const c_void, bytes: u64, stream: *mut c_void, error: *mut Error) -> i32;
    fn memory_read(runtime: *mut Runtime, target: *mut c_void, address: u64, bytes: u64, stream: *mut c_void, error: *mut Error) -> i32;
    fn memory_fill(runtime: *mut Runtime, address: u64, value: u8, bytes: u64, stream: *mut c_void, error: *mut Error) -> i32;
    fn stream_create(runtime: *mut Runtime, stream: *mut *mut c_void, error: *mut Error) -> i32;
    fn stream_destroy(runtime: *mut Runtime, stream: *mut c_void, error: *mut Error) -> i32;
    fn stream_synchronize(runtime: *mut Runtime, stream: *mut c_void, error: *mut Error) -> i32;
    fn event_create(runtime: *mut Runtime, kind: i32, event: *mut *mut c_void, error: *mut Error) -> i32;
    fn event_destroy(runtime: *mut Runtime, event: *mut c_void, error: *mut Error) -> i32;
    fn event_record(runtime: *mut Runtime, event: *mut c_void, stream: *mut c_void, error: *mut Error) -> i32;
    fn event_elapsed(runtime: *mut Runtime, start: *mut c_void, end: *mut c_void, microseconds: *mut f64, error: *mut Error) -> i32;
    fn stream_wait_event(runtime: *mut Runtime, stream: *mut c_void, event: *mut c_void, error: *mut Error) -> i32;
    fn ptx_parse(text: *const c_char, bytes: u64, name: *const c_char, ptx: *mut *mut Ptx, error: *mut Error) -> i32;
    fn ptx_destroy(ptx: *mut Ptx);
    fn ptx_get_info(ptx: *const Ptx, info: *mut PtxInfo, error: *mut Error) -> i32;
    fn ptx_get_entry(ptx: *const Ptx, entry: u32, info: *mut PtxEntryInfo, error: *mut Error) -> i32;
    fn ptx_get_parameter(ptx: *const Ptx, entry: u32, index: u32, info: *mut ParameterInfo, error: *mut Error) -> i32;
    fn ptx_get_control(ptx: *const Ptx, entry: u32, index: u32, info: *mut ControlInfo, error: *mut Error) -> i32;
    fn ptx_print(ptx: *const Ptx, buffer: *mut c_char, capacity: u64, bytes: *mut u64, error: *mut Error) -> i32;
    fn findings_count(findings: *const Findings) -> u32;
    fn findings_get(findings: *const Findings, index: u32, finding: *mut Finding, error: *mut Error) -> i32;
    fn findings_destroy(findings: *mut Findings);
    fn code_get(index: u32, info: *mut CodeInfo, error: *mut Error) -> i32;
    fn code_find(code: *const c_char, index: *mut u32, error: *mut Error) -> i32;
    fn ptx_check(text: *const c_char, bytes: u64, name: *const c_char, options: *const CheckOptions, findings: *mut *mut Findings, error: *mut Error) -> i32;
    fn ptx_rewrite(ptx: *const Ptx, options: *const RewriteOptions, rewritten: *mut *mut Ptx, notes: *mut *mut Findings, error: *mut Error) -> i32;
    fn module_load(runtime: *mut Runtime, image: *const c_void, bytes: u64, options: *const ModuleOptions, module: *mut *mut Module, error: *mut Error) -> i32;
    fn module_load_file(runtime: *mut Runtime, path: *const c_char, options: *const ModuleOptions, module: *mut *mut Module, error: *mut Error) -> i32;
    fn module_compile(runtime: *mut Runtime, source: *const c_char, bytes: u64, options: *const ModuleOptions, module: *mut *mut Module, error: *mut Error) -> i32;
    fn module_load_shelf(runtime: *mut Runtime, name: *const c_char, options: *const ModuleOptions, module: *mut *mut Module, error: *mut Error) -> i32;
    fn module_unload(module: *mut Module);
    fn module_get_info(module: *mut Module, info: *mut ModuleInfo, error: *mut Error) -> i32;
    fn module_get_global(module: *mut Module, name: *const c_char, address: *mut u64, bytes: *mut u64, error: *mut Error) -> i32;
    fn module_find_kernel(module: *mut Module, name: *const c_char, kernel: *mut *mut Kernel, error: *mut Error) -> i32;
    fn module_get_kernel(module: *mut Module, index: u32, kernel: *mut *mut Kernel, error: *mut Error) -> i32;
    fn kernel_get_info(kernel: *mut Kernel, info: *mut KernelInfo, error: *mut Error) -> i32;
    fn kernel_get_parameter(kernel: *mut Kernel, index: u32, info: *mut ParameterInfo, error: *mut Error) -> i32;
    fn attribute_programmatic_event(attribute: *mut Attribute, event: *mut c_void, trigger_at_start: i32, error: *mut Error) -> i32;
    fn attribute_launch_completion_event(attribute: *mut Attribute, event: *mut c_void, error: *mut Error) -> i32;
    fn reason_text(reason: i32) -> *const c_char;
    fn overlap_name(overlap: i32) -> *const c_char;
    fn overlap_text(overlap: i32) -> *const c_char;
    fn launch(kernel: *mut Kernel, config: *const LaunchConfig, arguments: *const Argument, argument_count: u32, reason: *mut i32, error: *mut Error) -> i32;
    fn launch_packed(kernel: *mut Kernel, config: *const LaunchConfig, arguments: *const c_void, bytes: u64, reason: *mut i32, error: *mut Error) -> i32;
    fn kernel_get_requirement(kernel: *mut Kernel, index: u32, info: *mut RequirementInfo, error: *mut Error) -> i32;
    fn ptx_get_requirement(ptx: *const Ptx, entry: u32, index: u32, info: *mut RequirementInfo, error: *mut Error) -> i32;
    fn kernel_check(kernel: *mut Kernel, config: *const LaunchConfig, arguments: *const Argument, argument_count: u32, error: *mut Error) -> i32;
    fn ptx_check_launch(ptx: *const Ptx, entry: u32, config: *const LaunchConfig, arguments: *const Argument, argument_count: u32, error: *mut Error) -> i32;
    fn kernel_get_extent(kernel: *mut Kernel, config: *const LaunchConfig, arguments: *const Argument, argument_count: u32, parameter: u32, bytes: *mut u64, error: *mut Error) -> i32;
    fn ptx_get_extent(ptx: *const Ptx, entry: u32, config: *const LaunchConfig, arguments: *const Argument, argument_count: u32, parameter: u32, bytes: *mut u64, error: *mut Error) -> i32;
    fn attribute_cluster_dimension(attribute: *mut Attribute, x: u32, y: u32, z: u32, error: *mut Error) -> i32;
    fn attribute_preferred_cluster_dimension(attribute: *mut Attribute, x: u32, y: u32, z: u32, error: *mut Error) -> i32;
    fn attribute_cluster_scheduling_policy(attribute: *mut Attribute, policy: i32, error: *mut Error) -> i32;
    fn attribute_priority(attribute: *mut Attribute, priority: i32, error: *mut Error) -> i32;
    fn attribute_memory_sync_domain(attribute: *mut Attribute, domain: i32, error: *mut Error) -> i32;
    fn attribute_memory_sync_domain_map(attribute: *mut Attribute, default_domain: u32, remote_domain: u32, error: *mut Error) -> i32;
    fn attribute_access_policy_window(attribute: *mut Attribute, address: u64, bytes: u64, hit_ratio: f64, hit: i32, miss: i32, error: *mut Error) -> i32;
    fn attribute_cooperative(attribute: *mut Attribute, on: i32, error: *mut Error) -> i32;
    fn attribute_carveout(attribute: *mut Attribute, percent: i32, error: *mut Error) -> i32;
    fn attribute_device_updatable_node(attribute: *mut Attribute, on: i32, node: *mut *mut c_void, error: *mut Error) -> i32;
    fn attribute_nvlink_centric_scheduling(attribute: *mut Attribute, on: i32, error: *mut Error) -> i32;
    fn kernel_get_cluster_limit(kernel: *mut Kernel, config: *const LaunchConfig, size: *mut u32, count: *mut u32, error: *mut Error) -> i32;
    fn tensor_map_tiled(runtime: *mut Runtime, options: *const TensorOptions, map: *mut TensorMap, error: *mut Error) -> i32;
    fn tensor_map_im2col(runtime: *mut Runtime, options: *const TensorOptions, map: *mut TensorMap, error: *mut Error) -> i32;
    fn mode_name(mode: i32) -> *const c_char;
    fn mode_find(name: *const c_char, mode: *mut i32, error: *mut Error) -> i32;
    fn chain_create(runtime: *mut Runtime, chain: *mut *mut Chain, error: *mut Error) -> i32;
    fn chain_destroy(chain: *mut Chain);
    fn chain_add(chain: *mut Chain, kernel: *mut Kernel, config: *const LaunchConfig, arguments: *const Argument, argument_count: u32, error: *mut Error) -> i32;
    fn chain_add_ptx(chain: *mut Chain, ptx: *const Ptx, entry: *const c_char, config: *const LaunchConfig, arguments: *const Argument, argument_count: u32, error: *mut Error) -> i32;
    fn chain_depend(chain: *mut Chain, index: u32, on: u32, error: *mut Error) -> i32;
    fn chain_set_use(chain: *mut Chain, index: u32, argument: u32, r#use: *const Use, error: *mut Error) -> i32;
    fn chain_get_use(chain: *const Chain, index: u32, argument: u32, r#use: *mut Use, error: *mut Error) -> i32;
    fn chain_check(chain: *const Chain, findings: *mut *mut Findings, error: *mut Error) -> i32;
    fn chain_prepare(chain: *mut Chain, mode: i32, error: *mut Error) -> i32;
    fn chain_run(chain: *mut Chain, mode: i32, stream: *mut c_void, error: *mut Error) -> i32;
    fn chain_length(chain: *const Chain) -> u32;
    fn chain_get_hop(chain: *mut Chain, mode: i32, index: u32, info: *mut HopInfo, error: *mut Error) -> i32;
    fn graph_create(runtime: *mut Runtime, graph: *mut *mut Graph, error: *mut Error) -> i32;
    fn graph_destroy(graph: *mut Graph);
    fn graph_add_kernel(graph: *mut Graph, kernel: *mut Kernel, config: *const LaunchConfig, arguments: *const Argument, argument_count: u32, node: *mut u32, error: *mut Error) -> i32;
    fn graph_add_fill(graph: *mut Graph, address: u64, value: u8, bytes: u64, node: *mut u32, error: *mut Error) -> i32;
    fn graph_add_copy(graph: *mut Graph, target: u64, source: u64, bytes: u64, node: *mut u32, error: *mut Error) -> i32;
    fn graph_add_host(graph: *mut Graph, function: Option<HostFunction>, user: *mut c_void, node: *mut u32, error: *mut Error) -> i32;
    fn graph_add_empty(graph: *mut Graph, node: *mut u32, error: *mut Error) -> i32;
    fn graph_add_child(graph: *mut Graph, child: *mut Graph, node: *mut u32, error: *mut Error) -> i32;
    fn graph_add_event_record(graph: *mut Graph, event: *mut c_void, node: *mut u32, error: *mut Error) -> i32;
    fn graph_add_event_wait(graph: *mut Graph, event: *mut c_void, node: *mut u32, error: *mut Error) -> i32;
    fn conditional_create(initial: u32, conditional: *mut *mut Conditional, error: *mut Error) -> i32;
    fn conditional_destroy(conditional: *mut Conditional);
    fn conditional_argument(conditional: *mut Conditional, argument: *mut Argument, error: *mut Error) -> i32;
    fn graph_add_conditional(graph: *mut Graph, kind: i32, conditional: *mut Conditional, bodies: *mut *mut Graph, body_count: u32, node: *mut u32, error: *mut Error) -> i32;
    fn graph_add_edge(graph: *mut Graph, from: u32, to: u32, from_port: i32, r#type: i32, error: *mut Error) -> i32;
    fn graph_remove_edge(graph: *mut Graph, edge: u32, error: *mut Error) -> i32;
    fn graph_from_chain(chain: *mut Chain, mode: i32, graph: *mut *mut Graph, error: *mut Error) -> i32;
    fn graph_capture_begin(runtime: *mut Runtime, stream: *mut c_void, error: *mut Error) -> i32;
    fn graph_capture_end(runtime: *mut Runtime, stream: *mut c_void, graph: *mut *mut Graph, error: *mut Error) -> i32;
    fn graph_adopt(runtime: *mut Runtime, cuda_graph: *mut c_void, flags: u32, graph: *mut *mut Graph, error: *mut Error) -> i32;
    fn graph_describe(graph: *mut Graph, node: u32, ptx: *const Ptx, entry: *const c_char, error: *mut Error) -> i32;
    fn graph_instantiate(graph: *mut Graph, error: *mut Error) -> i32;
    fn graph_launch(graph: *mut Graph, stream: *mut c_void, error: *mut Error) -> i32;
    fn graph_upload(graph: *mut Graph, stream: *mut c_void, error: *mut Error) -> i32;
    fn graph_set_arguments(graph: *mut Graph, node: u32, arguments: *const Argument, argument_count: u32, error: *mut Error) -> i32;
    fn graph_set_config(graph: *mut Graph, node: u32, config: *const LaunchConfig, error: *mut Error) -> i32;
    fn graph_enable(graph: *mut Graph, node: u32, enabled: u32, error: *mut Error) -> i32;
    fn graph_update(graph: *mut Graph, other: *const Graph, error: *mut Error) -> i32;
    fn graph_node_count(graph: *const Graph) -> u32;
    fn graph_edge_count(graph: *const Graph) -> u32;
    fn graph_get_node(graph: *const Graph, index: u32, info: *mut GraphNodeInfo, error: *mut Error) -> i32;
    fn graph_get_edge(graph: *const Graph, index: u32, info: *mut GraphEdgeInfo, error: *mut Error) -> i32;
    fn graph_upgrade(graph: *mut Graph, count: *mut u32, error: *mut Error) -> i32;
    fn graph_print(graph: *const Graph, format: i32, buffer: *mut c_char, capacity: u64, bytes: *mut u64, error: *mut Error) -> i32;
    fn tune_outcome_text(outcome: i32) -> *const c_char;
    fn tune_run(chain: *mut Chain, buffers: *const TuneBuffer, buffer_count: u32, options: *const TuneOptions, tune: *mut *mut Tune, error: *mut Error) -> i32;
    fn tune_load(chain: *mut Chain, mode: i32, tune: *mut *mut Tune, error: *mut Error) -> i32;
    fn tune_get_info(tune: *const Tune, info: *mut TuneInfo, error: *mut Error) -> i32;
    fn tune_get_trial(tune: *const Tune, index: u32, trial: *mut TuneTrial, error: *mut Error) -> i32;
    fn tune_get_choice(tune: *const Tune, launch: u32, choice: *mut TuneChoice, error: *mut Error) -> i32;
    fn tune_get_reason(tune: *const Tune, trial: i32, reason: *mut TuneReason, error: *mut Error) -> i32;
    fn tune_destroy(tune: *mut Tune);
    fn chain_explain(chain: *mut Chain, mode: i32, index: u32, explanation: *mut *mut Explanation, error: *mut Error) -> i32;
    fn explanation_destroy(explanation: *mut Explanation);
    fn explanation_count(explanation: *const Explanation) -> u32;
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
    Err(Error {
        status,
        name: text(unsafe { (functions.status_name)(status) }),
        text: text(from.text.as_ptr()),
        file: text(from.file.as_ptr()),
        line: from.line,
        column: from.column,
        driver_code: from.driver_code,
    })
}

/// A value of a kernel's parameter, copied to the device as it is.
pub trait Argument {
    fn argument(&self) -> raw::Argument;
}

macro_rules! arguments {
    ($($kind:ty)*) => { $(impl Argument for $kind {
        fn argument(&self) -> raw::Argument {
            raw::Argument { bytes: mem::size_of::<Self>() as u32, kind: 0, value: 0, data: (self as *const Self).cast() }
        }
    })* };
}
arguments! { u8 u16 u32 u64 i8 i16 i32 i64 f32 f64 }

/// A struct's bytes.
impl<const BYTES: usize> Argument for [u8; BYTES] {
    fn argument(&self) -> raw::Argument {
        raw::Argument { bytes: BYTES as u32, kind: 0, value: 0, data: self.as_ptr().cast() }
    }
}

impl<T> Argument for Memory<T> {
    fn argument(&self) -> raw::Argument {
        raw::Argument { bytes: 8, kind: 0, value: self.address, data: ptr::null() }
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
        let (image, name) = (image.as_ref(), c_text(name)?);
        let mut options = raw::ModuleOptions::new();
        options.name = name.as_ptr();
        let mut handle = ptr::null_mut();
        call(|c, error| unsafe { (c.module_load)(self.raw(), image.as_ptr().cast(), image.len() as u64, &options, &mut handle, error) })?;
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
        call(|c, error| unsafe { (c.stream_create)(self.raw(), &mut handle, error) })?;
        Ok(Stream { handle, shared: self.shared.clone() })
    }

    pub fn synchronize(&self) -> Result<()> {
        call(|c, error| unsafe { (c.stream_synchronize)(self.raw(), ptr::null_mut(), error) })
    }

    pub fn chain(&self) -> Result<Chain> {
        let mut handle = ptr::null_mut();
        call(|c, error| unsafe { (c.chain_create)(self.raw(), &mut handle, error) })?;
        Ok(Chain { handle, _shared: self.shared.clone(), one_thread: PhantomData })
    }

    pub fn raw(&self) -> *mut raw::Runtime {
        self.shared.runtime
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

impl<T> Memory<T> {
    pub fn address(&self) -> u64 {
        self.address
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

/// Launches in stream order, prepared once, run many times. One thread at a time may use it.
pub struct Chain {
    handle: *mut raw::Chain,
    _shared: Arc<Shared>,
    one_thread: PhantomData<Cell<()>>,
}

unsafe impl Send for Chain {}

impl Chain {
    pub fn add(&mut self, kernel: Kernel, config: &Config, arguments: &[&dyn Argument]) -> Result<()> {
        let (config, arguments) = (config.raw(None), pack(arguments));
        call(|c, error| unsafe { (c.chain_add)(self.handle, kernel.handle, &config, arguments.as_ptr(), arguments.len() as u32, error) })
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

impl Drop for Chain {
    fn drop(&mut self) {
        end(|c| unsafe { (c.chain_destroy)(self.handle) });
    }
}

pub fn reason_text(reason: i32) -> String {
    functions().map_or(String::new(), |c| text(unsafe { (c.reason_text)(reason) }))
}
