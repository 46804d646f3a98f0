// libgriddep for Node: programmatic dependent launch for PTX, through koffi (npm install koffi).
//
//     const griddep = require('./griddep');
//
//     const runtime = new griddep.Runtime();
//     const kernel = runtime.load(ptx).kernel('scale');
//     kernel.launch({ grid: 132, block: 256, stream }, [x, 0.5, count]);
//
// The library is $GRIDDEP_LIBRARY, or libgriddep.so.0 as the loader finds it. What fails throws a GriddepError. Arguments are converted to what
// the kernel's PTX declares; device memory is a Memory, or a BigInt or number: its address. Every function of griddep.h is in raw under its name
// without the prefix, every constant likewise in this module. Calls are synchronous; doc/languages.md lists
// the functions, and tells about threads, finalizers and callbacks.
'use strict';

const koffi = require('koffi');

// ---- generated from griddep.h by build-tools/bindings.py
const constants = {
  VERSION_MAJOR: 0,
  VERSION_MINOR: 1,
  VERSION_PATCH: 0,
  OK: 0,
  ERROR_ARGUMENT: -1,
  ERROR_STRUCT: -2,
  ERROR_MEMORY: -3,
  ERROR_DEVICE_MEMORY: -4,
  ERROR_FILE: -5,
  ERROR_ENVIRONMENT: -6,
  ERROR_NO_DRIVER: -7,
  ERROR_DRIVER_TOO_OLD: -8,
  ERROR_DRIVER: -9,
  ERROR_NO_NVRTC: -10,
  ERROR_SYNTAX: -11,
  ERROR_COMPILE: -12,
  ERROR_IMAGE: -13,
  ERROR_NOT_FOUND: -14,
  ERROR_SIGNATURE: -15,
  ERROR_LIMIT: -16,
  ERROR_STREAM: -17,
  ERROR_UNSUPPORTED: -18,
  ERROR_FAULT: -19,
  ERROR_REQUIREMENT: -20,
  ERROR_CALLBACK: -21,
  ERROR_PEER: -22,
  TEXT_STATUS: 0,
  TEXT_REASON: 1,
  TEXT_OVERLAP: 2,
  TEXT_MODE: 3,
  TEXT_TUNE_OUTCOME: 4,
  LOG_NONE: 0,
  LOG_ERROR: 1,
  LOG_WARNING: 2,
  LOG_INFO: 3,
  LOG_DEBUG: 4,
  PDL_DEFAULT: 0,
  PDL_AUTO: 1,
  PDL_OFF: 2,
  PDL_FORCE: 3,
  RUNTIME_DEVICE: 1,
  RUNTIME_RESET: 2,
  RUNTIME_REST: 4,
  FEATURE_PDL: 1,
  FEATURE_GRAPH: 2,
  FEATURE_GRAPH_EDGES: 4,
  FEATURE_PROGRAMMATIC_EVENT: 8,
  FEATURE_LAUNCH_COMPLETION_EVENT: 16,
  FEATURE_PARAMETER_INFO: 32,
  FEATURE_CLUSTER: 64,
  FEATURE_PARTS: 256,
  HOST_PORTABLE: 1,
  HOST_WRITE_COMBINED: 4,
  STREAM_BLOCKING: 1,
  EVENT_TIMING: 0,
  EVENT_ORDER: 1,
  TRAIT_KNOWN: 1,
  TRAIT_WAITS: 2,
  TRAIT_WAITS_ALWAYS: 4,
  TRAIT_TRIGGERS: 8,
  TRAIT_CALLS: 16,
  TRAIT_STATED: 128,
  TRAIT_MACHINE_CODE: 32,
  TRAIT_OPEN: 64,
  TRAIT_TOUCHES_EARLY: 256,
  TRAIT_OTHERS_WAIT: 512,
  SEVERITY_NOTE: 1,
  SEVERITY_WARNING: 2,
  SEVERITY_ERROR: 3,
  WAIT_KEEP: 0,
  WAIT_INSERT: 1,
  WAIT_MOVE: 2,
  WAIT_REMOVE: 3,
  WAIT_START: 4,
  TRIGGER_KEEP: 0,
  TRIGGER_REMOVE: 1,
  TRIGGER_START: 2,
  TRIGGER_AFTER_WAIT: 3,
  TRIGGER_AFTER_LOADS: 4,
  TRIGGER_BEFORE_STORES: 5,
  TRIGGER_END: 6,
  TRIGGER_LINE: 7,
  TRIGGER_LOOP: 8,
  MODULE_LINE_INFO: 1,
  MODULE_DEBUG: 2,
  MODULE_VERBOSE: 4,
  MODULE_PTX: 8,
  MODULE_LIBRARY: 16,
  MODULE_PCH: 32,
  OPTIMIZATION_DEFAULT: 0,
  OPTIMIZATION_NONE: -1,
  IMAGE_PTX: 1,
  IMAGE_CUBIN: 2,
  IMAGE_FATBIN: 3,
  REASON_SET: 0,
  REASON_FORCED: 1,
  REASON_OFF: 2,
  REASON_KILL_SWITCH: 3,
  REASON_DEVICE: 4,
  REASON_DRIVER: 5,
  REASON_NO_WAIT: 6,
  REASON_WAIT_NOT_ALWAYS: 7,
  REASON_UNKNOWN_CODE: 8,
  REASON_FIRST: 9,
  REASON_PLAIN: 10,
  REASON_OTHER_ORDER: 11,
  REASON_NODE_BETWEEN: 12,
  REASON_NOT_KERNELS: 13,
  REASON_CONDITIONAL: 14,
  REASON_WRONG_END: 15,
  REASON_BLOCKING: 16,
  REASON_COOPERATIVE: 17,
  REASON_NO_TRIGGER: 18,
  REASON_NO_ROOM: 19,
  REASON_CARVEOUT: 20,
  REASON_WAVES: 21,
  REASON_CLUSTER: 22,
  REASON_LAUNCH_ORDER: 23,
  REASON_WRONG_PORT: 24,
  REASON_NO_EDGE_DATA: 25,
  REASON_TOOLS: 26,
  REASON_ROUND: 27,
  REASON_NOT_PROVEN: 28,
  REASON_RACE: 29,
  OVERLAP_UNKNOWN: -1,
  OVERLAP_NONE: 0,
  OVERLAP_TAIL: 1,
  OVERLAP_FULL: 2,
  ATTRIBUTE_IGNORE: 0,
  ATTRIBUTE_ACCESS_POLICY_WINDOW: 1,
  ATTRIBUTE_COOPERATIVE: 2,
  ATTRIBUTE_SYNCHRONIZATION_POLICY: 3,
  ATTRIBUTE_CLUSTER_DIMENSION: 4,
  ATTRIBUTE_CLUSTER_SCHEDULING_POLICY: 5,
  ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION: 6,
  ATTRIBUTE_PROGRAMMATIC_EVENT: 7,
  ATTRIBUTE_PRIORITY: 8,
  ATTRIBUTE_MEMORY_SYNC_DOMAIN_MAP: 9,
  ATTRIBUTE_MEMORY_SYNC_DOMAIN: 10,
  ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION: 11,
  ATTRIBUTE_LAUNCH_COMPLETION_EVENT: 12,
  ATTRIBUTE_DEVICE_UPDATABLE_NODE: 13,
  ATTRIBUTE_CARVEOUT: 14,
  ATTRIBUTE_NVLINK_CENTRIC_SCHEDULING: 16,
  CLUSTER_SCHEDULING_DEFAULT: 0,
  CLUSTER_SCHEDULING_SPREAD: 1,
  CLUSTER_SCHEDULING_LOAD_BALANCING: 2,
  MEMORY_SYNC_DOMAIN_DEFAULT: 0,
  MEMORY_SYNC_DOMAIN_REMOTE: 1,
  ACCESS_PROPERTY_NORMAL: 0,
  ACCESS_PROPERTY_STREAMING: 1,
  ACCESS_PROPERTY_PERSISTING: 2,
  CARVEOUT_DEFAULT: -1,
  TENSOR_U8: 0,
  TENSOR_U16: 1,
  TENSOR_U32: 2,
  TENSOR_S32: 3,
  TENSOR_U64: 4,
  TENSOR_S64: 5,
  TENSOR_F16: 6,
  TENSOR_F32: 7,
  TENSOR_F64: 8,
  TENSOR_BF16: 9,
  TENSOR_F32_FTZ: 10,
  TENSOR_TF32: 11,
  TENSOR_TF32_FTZ: 12,
  TENSOR_16U4_ALIGN8: 13,
  TENSOR_16U4_ALIGN16: 14,
  TENSOR_16U6_ALIGN16: 15,
  INTERLEAVE_NONE: 0,
  INTERLEAVE_16B: 1,
  INTERLEAVE_32B: 2,
  SWIZZLE_NONE: 0,
  SWIZZLE_32B: 1,
  SWIZZLE_64B: 2,
  SWIZZLE_128B: 3,
  SWIZZLE_128B_ATOM_32B: 4,
  SWIZZLE_128B_ATOM_32B_FLIP_8B: 5,
  SWIZZLE_128B_ATOM_64B: 6,
  PROMOTION_NONE: 0,
  PROMOTION_64B: 1,
  PROMOTION_128B: 2,
  PROMOTION_256B: 3,
  FILL_ZERO: 0,
  FILL_NAN: 1,
  MODE_SERIAL: 0,
  MODE_PDL: 1,
  MODE_GRAPH: 2,
  MODE_GRAPH_PDL: 3,
  MODE_COUNT: 4,
  ACCESS_UNKNOWN: 0,
  ACCESS_READ: 1,
  ACCESS_WRITE: 2,
  ACCESS_UPDATE: 3,
  ACCESS_CONSTANT: 4,
  NO_MEMBER: -1,
  NCCL_AUTO: 0,
  NCCL_OFF: 1,
  NCCL_ON: 2,
  GROUP_REMEMBER: 1,
  HOP_ALL_REDUCE: 0,
  HOP_ALL_GATHER: 1,
  HOP_REDUCE_SCATTER: 2,
  HOP_BROADCAST: 3,
  HOP_EXCHANGE: 4,
  GRAPH_NODE_KERNEL: 0,
  GRAPH_NODE_COPY: 1,
  GRAPH_NODE_FILL: 2,
  GRAPH_NODE_HOST: 3,
  GRAPH_NODE_CHILD: 4,
  GRAPH_NODE_EMPTY: 5,
  GRAPH_NODE_EVENT_WAIT: 6,
  GRAPH_NODE_EVENT_RECORD: 7,
  GRAPH_NODE_CONDITIONAL: 13,
  PORT_DEFAULT: 0,
  PORT_PROGRAMMATIC: 1,
  PORT_LAUNCH_ORDER: 2,
  EDGE_DEFAULT: 0,
  EDGE_PROGRAMMATIC: 1,
  EDGE_AUTO: 2,
  GRAPH_OWN: 1,
  FORMAT_DOT: 0,
  FORMAT_JSON: 1,
  TUNE_FLAG_FORGET: 1,
  TUNE_FLAG_SHAPES: 2,
  TUNE_OUTCOME_BETTER: 0,
  TUNE_OUTCOME_NOT_BETTER: 1,
  TUNE_OUTCOME_SLOWER: 2,
  TUNE_OUTCOME_SAME: 3,
  TUNE_OUTCOME_NO_PLACE: 4,
  TUNE_OUTCOME_ILLEGAL: 5,
  TUNE_OUTCOME_DIFFERENT: 6,
  TUNE_OUTCOME_REFUSED: 7,
  TUNE_OUTCOME_UNCONFIRMED: 8,
  STAMP_SM: 0,
  STAMP_ENTRY: 1,
  STAMP_WAIT: 2,
  STAMP_RELEASE: 3,
  STAMP_TRIGGER: 4,
  STAMP_EXIT: 5,
  STAMP_MARK: 6,
  STAMP_NONE: -1,
};

koffi.struct('griddep_error', {
  size: 'uint32_t', status: 'int32_t', driver_code: 'int32_t', line: 'int32_t', column: 'int32_t',
  file: koffi.array('char', 260, 'String'), text: koffi.array('char', 2048, 'String'),
});
koffi.struct('griddep_runtime_options', {
  size: 'uint32_t', flags: 'uint32_t', driver: 'const char *', context: 'void *', device: 'int32_t', pdl: 'int32_t',
  store_directory: 'const char *', nvrtc: 'const char *', log: 'void *', log_user: 'void *', log_level: 'int32_t',
  reserved: 'uint32_t', multiprocessors: 'uint32_t', part: 'uint32_t',
});
koffi.struct('griddep_runtime_info', {
  size: 'uint32_t', features: 'uint32_t', driver: 'const char *', device_name: 'const char *',
  store_directory: 'const char *', driver_version: 'int32_t', device: 'int32_t', capability: 'int32_t',
  multiprocessors: 'int32_t', memory_bytes: 'uint64_t', l2_bytes: 'uint64_t',
  shared_bytes_per_multiprocessor: 'uint32_t', shared_bytes_per_block: 'uint32_t',
  registers_per_multiprocessor: 'uint32_t', threads_per_multiprocessor: 'uint32_t',
  blocks_per_multiprocessor: 'uint32_t', pdl_disabled: 'uint32_t', context: 'void *', emulated: 'uint32_t',
  reserved: 'uint32_t', fallback: 'const char *', driver_cache: 'const char *', driver_cache_reason: 'const char *',
  driver_cache_bytes: 'uint64_t',
});
koffi.struct('griddep_device_info', {
  size: 'uint32_t', device: 'int32_t', capability: 'int32_t', multiprocessors: 'uint32_t', memory_bytes: 'uint64_t',
  l2_bytes: 'uint64_t', shared_bytes_per_multiprocessor: 'uint32_t', shared_bytes_per_block: 'uint32_t',
  registers_per_multiprocessor: 'uint32_t', threads_per_multiprocessor: 'uint32_t',
  blocks_per_multiprocessor: 'uint32_t', copy_engines: 'uint32_t', pools: 'uint32_t', integrated: 'uint32_t',
  pci_domain: 'uint32_t', pci_bus: 'uint32_t', pci_device: 'uint32_t', device_count: 'uint32_t',
  uuid: koffi.array('uint8_t', 16, 'Array'), name: koffi.array('char', 256, 'String'),
});
koffi.struct('griddep_stream_options', {
  size: 'uint32_t', flags: 'uint32_t', priority: 'int32_t', reserved: 'uint32_t',
});
koffi.struct('griddep_stream_info', {
  size: 'uint32_t', flags: 'uint32_t', priority: 'int32_t', captured: 'uint32_t',
});
koffi.struct('griddep_ptx_info', {
  size: 'uint32_t', address_bits: 'uint32_t', target: 'const char *', version: 'int32_t', capability: 'int32_t',
  entry_count: 'uint32_t', function_count: 'uint32_t',
});
koffi.struct('griddep_ptx_entry_info', {
  size: 'uint32_t', traits: 'uint32_t', name: 'const char *', line: 'int32_t', column: 'int32_t',
  parameter_count: 'uint32_t', parameter_bytes: 'uint32_t', control_count: 'uint32_t', instruction_count: 'uint32_t',
  required_block: koffi.array('uint32_t', 3, 'Array'), maximum_block: koffi.array('uint32_t', 3, 'Array'),
  required_cluster: koffi.array('uint32_t', 3, 'Array'), reserved: 'uint32_t',
});
koffi.struct('griddep_parameter_info', {
  size: 'uint32_t', offset: 'uint32_t', bytes: 'uint32_t', alignment: 'uint32_t', name: 'const char *',
  type: 'const char *', is_pointer: 'uint32_t', reserved: 'uint32_t', element: 'const char *',
});
koffi.struct('griddep_finding', {
  size: 'uint32_t', severity: 'int32_t', code: 'const char *', file: 'const char *', entry: 'const char *',
  text: 'const char *', hint: 'const char *', quote: 'const char *', line: 'int32_t', column: 'int32_t',
  launch: 'int32_t', reserved: 'uint32_t', end_line: 'int32_t', end_column: 'int32_t', edit_count: 'uint32_t',
  is_certain: 'uint32_t', related_count: 'uint32_t', source_line: 'int32_t', source_file: 'const char *',
});
koffi.struct('griddep_edit', {
  size: 'uint32_t', reserved: 'uint32_t', offset: 'uint64_t', bytes: 'uint64_t', text: 'const char *',
  line: 'int32_t', column: 'int32_t', end_line: 'int32_t', end_column: 'int32_t',
});
koffi.struct('griddep_related', {
  size: 'uint32_t', reserved: 'uint32_t', file: 'const char *', text: 'const char *', line: 'int32_t',
  column: 'int32_t', end_line: 'int32_t', end_column: 'int32_t',
});
koffi.struct('griddep_check_options', {
  size: 'uint32_t', flags: 'uint32_t', constants: 'void *', constant_count: 'uint32_t', reserved: 'uint32_t',
});
koffi.struct('griddep_rewrite_options', {
  size: 'uint32_t', flags: 'uint32_t', entry: 'const char *', wait: 'int32_t', trigger: 'int32_t',
  trigger_line: 'int32_t', constant_count: 'uint32_t', constants: 'void *', prefetch: 'const char *',
  prefetch_bytes: 'uint64_t', trigger_round: 'uint32_t', reserved: 'uint32_t',
});
koffi.struct('griddep_header', {
  name: 'const char *', text: 'const char *',
});
koffi.struct('griddep_module_options', {
  size: 'uint32_t', flags: 'uint32_t', name: 'const char *', optimization: 'int32_t', maximum_registers: 'uint32_t',
  compile_options: 'void *', compile_option_count: 'uint32_t', reserved: 'uint32_t', headers: 'void *',
  name_expressions: 'void *', header_count: 'uint32_t', name_expression_count: 'uint32_t',
});
koffi.struct('griddep_image_info', {
  size: 'uint32_t', kind: 'int32_t', part_count: 'uint32_t',
});
koffi.struct('griddep_image_part', {
  size: 'uint32_t', kind: 'int32_t', architecture: 'int32_t', suffix: 'int32_t', packed: 'uint32_t',
  kernel_count: 'uint32_t', data: 'void *', bytes: 'uint64_t',
});
koffi.struct('griddep_image_kernel', {
  size: 'uint32_t', traits: 'uint32_t', name: 'const char *',
});
koffi.struct('griddep_module_info', {
  size: 'uint32_t', image: 'int32_t', name: 'const char *', log: 'const char *', ptx: 'void *',
  from_store: 'uint32_t', kernel_count: 'uint32_t', code: 'int32_t', architecture: 'int32_t',
});
koffi.struct('griddep_link_input', {
  image: 'void *', bytes: 'uint64_t', name: 'const char *',
});
koffi.struct('griddep_kernel_info', {
  size: 'uint32_t', traits: 'uint32_t', name: 'const char *', function: 'void *', parameter_count: 'uint32_t',
  parameter_bytes: 'uint32_t', parameters_known: 'uint32_t', registers: 'uint32_t', static_shared_bytes: 'uint32_t',
  local_bytes: 'uint32_t', maximum_threads: 'uint32_t', maximum_dynamic_shared_bytes: 'uint32_t',
  required_block: koffi.array('uint32_t', 3, 'Array'), virtual_architecture: 'int32_t', binary_version: 'int32_t',
  entry: 'uint32_t', ptx: 'void *',
});
koffi.struct('griddep_argument', {
  bytes: 'uint32_t', reserved: 'uint32_t', value: 'uint64_t', data: 'void *',
});
koffi.struct('griddep_attribute', {
  id: 'int32_t', reserved: 'uint32_t', value: koffi.array('uint64_t', 8, 'Array'),
});
koffi.struct('griddep_launch_config', {
  size: 'uint32_t', flags: 'uint32_t', grid: koffi.array('uint32_t', 3, 'Array'),
  block: koffi.array('uint32_t', 3, 'Array'), cluster: koffi.array('uint32_t', 3, 'Array'), shared_bytes: 'uint32_t',
  pdl: 'int32_t', attribute_count: 'uint32_t', attributes: 'void *', stream: 'void *', lane: 'uint32_t',
  reserved: 'uint32_t', name: 'const char *',
});
koffi.struct('griddep_requirement_info', {
  size: 'uint32_t', line: 'int32_t', column: 'int32_t', reserved: 'uint32_t', text: 'const char *',
  reason: 'const char *',
});
koffi.struct('griddep_tensor_map', {
  opaque: koffi.array('uint64_t', 16, 'Array'),
});
koffi.struct('griddep_tensor_options', {
  size: 'uint32_t', type: 'int32_t', address: 'uint64_t', rank: 'uint32_t', interleave: 'int32_t',
  swizzle: 'int32_t', promotion: 'int32_t', fill: 'int32_t', im2col: 'uint32_t',
  dimensions: koffi.array('uint64_t', 5, 'Array'), strides: koffi.array('uint64_t', 4, 'Array'),
  steps: koffi.array('uint32_t', 5, 'Array'), box: koffi.array('uint32_t', 5, 'Array'),
  lower: koffi.array('int32_t', 3, 'Array'), upper: koffi.array('int32_t', 3, 'Array'), channels: 'uint32_t',
  pixels: 'uint32_t',
});
koffi.struct('griddep_hop_info', {
  size: 'uint32_t', reason: 'int32_t', kernel: 'const char *', edge: 'int32_t', lane: 'uint32_t', node: 'int32_t',
  name: 'const char *',
});
koffi.struct('griddep_use', {
  size: 'uint32_t', buffer: 'uint32_t', access: 'int32_t', reserved: 'uint32_t', offset: 'uint64_t',
  bytes: 'uint64_t', element: 'const char *',
});
koffi.struct('griddep_group_options', {
  size: 'uint32_t', timeout_ms: 'uint32_t', join_ms: 'uint32_t', nccl: 'int32_t', nccl_bytes: 'uint64_t',
  flags: 'uint32_t',
});
koffi.struct('griddep_group_info', {
  size: 'uint32_t', count: 'uint32_t', timeout_ms: 'uint32_t', rank: 'uint32_t', nccl_bytes: 'uint64_t',
});
koffi.struct('griddep_hop', {
  size: 'uint32_t', operation: 'int32_t', type: 'int32_t', root: 'int32_t', to: 'int32_t', from: 'int32_t',
  source: 'uint64_t', target: 'uint64_t', count: 'uint64_t',
});
koffi.struct('griddep_graph_node_info', {
  size: 'uint32_t', type: 'int32_t', name: 'const char *', traits: 'uint32_t', before_count: 'uint32_t',
  after_count: 'uint32_t', handle: 'void *',
});
koffi.struct('griddep_graph_edge_info', {
  size: 'uint32_t', from: 'uint32_t', to: 'uint32_t', asked: 'int32_t', from_port: 'int32_t', type: 'int32_t',
  overlap: 'int32_t', reason: 'int32_t', node: 'uint32_t', races: 'uint32_t',
});
koffi.struct('griddep_tune_offer', {
  size: 'uint32_t', launch: 'uint32_t', grids: 'void *', carveouts: 'void *', grid_count: 'uint32_t',
  carveout_count: 'uint32_t',
});
koffi.struct('griddep_tune_buffer', {
  size: 'uint32_t', compared: 'uint32_t', address: 'uint64_t', bytes: 'uint64_t', initial: 'void *',
});
koffi.struct('griddep_tune_options', {
  size: 'uint32_t', flags: 'uint32_t', mode: 'int32_t', pairs: 'uint32_t', least_gain: 'double', offers: 'void *',
  offer_count: 'uint32_t', reserved: 'uint32_t', progress: 'void *', progress_user: 'void *',
});
koffi.struct('griddep_tune_trial', {
  size: 'uint32_t', outcome: 'int32_t', launch: 'uint32_t', pairs: 'uint32_t', kernel: 'const char *',
  text: 'const char *', detail: 'const char *', ratio: 'double', lowest: 'double', highest: 'double',
  again: 'double', needed: 'double',
});
koffi.struct('griddep_tune_info', {
  size: 'uint32_t', changed: 'uint32_t', mode: 'int32_t', remembered: 'uint32_t', model: 'uint32_t',
  launch_count: 'uint32_t', trial_count: 'uint32_t', ran_count: 'uint32_t', stopped: 'uint32_t',
  noise_pairs: 'uint32_t', noise: 'double', threshold: 'double', baseline_ns: 'double', chosen_ns: 'double',
  ratio: 'double', lowest: 'double', highest: 'double', last_ratio: 'double', last_needed: 'double',
  confirmations: 'uint32_t', reserved: 'uint32_t',
});
koffi.struct('griddep_tune_choice', {
  size: 'uint32_t', changed: 'uint32_t', kernel: 'void *', ptx: 'void *', grid: koffi.array('uint32_t', 3, 'Array'),
  pdl: 'int32_t', text: 'const char *', carveout: 'int32_t', shared_bytes: 'uint32_t',
  block: koffi.array('uint32_t', 3, 'Array'), reserved: 'uint32_t',
});
koffi.struct('griddep_condition', {
  size: 'uint32_t', reason: 'int32_t', met: 'int32_t', decisive: 'int32_t', name: 'const char *',
  text: 'const char *',
});
koffi.struct('griddep_explanation_info', {
  size: 'uint32_t', overlap: 'int32_t', reason: 'int32_t', unmet: 'int32_t', producer: 'const char *',
  consumer: 'const char *', text: 'const char *', condition_count: 'uint32_t', reserved: 'uint32_t',
});
koffi.struct('griddep_timeline_options', {
  size: 'uint32_t', flags: 'uint32_t', blocks: 'uint32_t', reserved: 'uint32_t',
});
koffi.struct('griddep_timeline_info', {
  size: 'uint32_t', mode: 'int32_t', launch_count: 'uint32_t', multiprocessors: 'uint32_t', emulated: 'uint32_t',
  backward: 'uint32_t', blocks: 'uint64_t', blocks_kept: 'uint64_t', origin: 'uint64_t', span: 'double',
  idle: 'double', idle_share: 'double', clock_step: 'double',
});
koffi.struct('griddep_timeline_launch', {
  size: 'uint32_t', lane: 'uint32_t', kernel: 'const char *', blocks: 'uint64_t', blocks_kept: 'uint32_t',
  backward: 'uint32_t', mark_count: 'uint32_t', reserved: 'uint32_t', registers: 'uint32_t',
  plain_registers: 'uint32_t', first_entry: 'double', last_entry: 'double', first_trigger: 'double',
  last_trigger: 'double', first_release: 'double', last_release: 'double', first_exit: 'double', last_exit: 'double',
  preamble: 'double', wait_least: 'double', wait_median: 'double', wait_most: 'double',
});
koffi.struct('griddep_timeline_hop', {
  size: 'uint32_t', from: 'uint32_t', handoff_gap: 'double', launch_lead: 'double', preamble_hidden: 'double',
  overlap: 'double', overlap_ratio: 'double', idle_window: 'double', idle: 'double', idle_share: 'double',
});
koffi.struct('griddep_shelf_info', {
  size: 'uint32_t', capability: 'int32_t', name: 'const char *', family: 'const char *', file: 'const char *',
  text: 'const char *', bytes: 'uint64_t',
});
koffi.proto('void griddep_log_function(void *user, int32_t level, const char *message)');
koffi.proto('void griddep_host_function(void *user)');
koffi.proto('void griddep_notify_function(void *user, const griddep_error *failure)');
koffi.proto('int32_t griddep_tune_progress(void *user, uint32_t done, uint32_t most, const char *text)');

const structs = [
  'griddep_error', 'griddep_runtime_options', 'griddep_runtime_info', 'griddep_device_info',
  'griddep_stream_options', 'griddep_stream_info', 'griddep_ptx_info', 'griddep_ptx_entry_info',
  'griddep_parameter_info', 'griddep_finding', 'griddep_edit', 'griddep_related', 'griddep_check_options',
  'griddep_rewrite_options', 'griddep_header', 'griddep_module_options', 'griddep_image_info', 'griddep_image_part',
  'griddep_image_kernel', 'griddep_module_info', 'griddep_link_input', 'griddep_kernel_info', 'griddep_argument',
  'griddep_attribute', 'griddep_launch_config', 'griddep_requirement_info', 'griddep_tensor_map',
  'griddep_tensor_options', 'griddep_hop_info', 'griddep_use', 'griddep_group_options', 'griddep_group_info',
  'griddep_hop', 'griddep_graph_node_info', 'griddep_graph_edge_info', 'griddep_tune_offer', 'griddep_tune_buffer',
  'griddep_tune_options', 'griddep_tune_trial', 'griddep_tune_info', 'griddep_tune_choice', 'griddep_condition',
  'griddep_explanation_info', 'griddep_timeline_options', 'griddep_timeline_info', 'griddep_timeline_launch',
  'griddep_timeline_hop', 'griddep_shelf_info',
];

const prototypes = [
  'int32_t griddep_version(void)',
  'const char *griddep_version_text(void)',
  'const char *griddep_status_name(int32_t status)',
  'const char *griddep_text(int32_t kind, int32_t value)',
  'void griddep_error_init(_Inout_ griddep_error *error)',
  'int32_t griddep_constant_find(const char *name, _Out_ int32_t *value, _Inout_ griddep_error *error)',
  'const char *griddep_constant_name(uint32_t index, _Out_ int32_t *value)',
  'int32_t griddep_runtime_open(const griddep_runtime_options *options, _Out_ void **runtime, _Inout_ griddep_error *error)',
  'void griddep_runtime_close(void *runtime)',
  'int32_t griddep_runtime_synchronize(void *runtime, _Inout_ griddep_error *error)',
  'int32_t griddep_runtime_get_info(void *runtime, _Inout_ griddep_runtime_info *info, _Inout_ griddep_error *error)',
  'int32_t griddep_device_get_info(const char *driver, int32_t device, _Inout_ griddep_device_info *info, _Inout_ griddep_error *error)',
  'int32_t griddep_memory_allocate(void *runtime, uint64_t bytes, _Out_ uint64_t *address, _Inout_ griddep_error *error)',
  'int32_t griddep_memory_free(void *runtime, uint64_t address, _Inout_ griddep_error *error)',
  'int32_t griddep_memory_write(void *runtime, uint64_t address, void *source, uint64_t bytes, void *stream, _Inout_ griddep_error *error)',
  'int32_t griddep_memory_read(void *runtime, void *target, uint64_t address, uint64_t bytes, void *stream, _Inout_ griddep_error *error)',
  'int32_t griddep_memory_fill(void *runtime, uint64_t address, uint8_t value, uint64_t bytes, void *stream, _Inout_ griddep_error *error)',
  'int32_t griddep_memory_write_async(void *runtime, uint64_t address, void *source, uint64_t bytes, void *stream, _Inout_ griddep_error *error)',
  'int32_t griddep_memory_read_async(void *runtime, void *target, uint64_t address, uint64_t bytes, void *stream, _Inout_ griddep_error *error)',
  'int32_t griddep_memory_copy_async(void *runtime, uint64_t target, uint64_t source, uint64_t bytes, void *stream, _Inout_ griddep_error *error)',
  'int32_t griddep_memory_fill_async(void *runtime, uint64_t address, uint32_t value, uint32_t element_bytes, uint64_t count, void *stream, _Inout_ griddep_error *error)',
  'int32_t griddep_host_allocate(void *runtime, uint64_t bytes, uint32_t flags, _Out_ void **memory, _Inout_ griddep_error *error)',
  'int32_t griddep_host_free(void *runtime, void *memory, _Inout_ griddep_error *error)',
  'int32_t griddep_stream_create(void *runtime, const griddep_stream_options *options, _Out_ void **stream, _Inout_ griddep_error *error)',
  'int32_t griddep_stream_destroy(void *runtime, void *stream, _Inout_ griddep_error *error)',
  'int32_t griddep_stream_synchronize(void *runtime, void *stream, _Inout_ griddep_error *error)',
  'int32_t griddep_stream_query(void *runtime, void *stream, _Out_ uint32_t *done, _Inout_ griddep_error *error)',
  'int32_t griddep_stream_get_info(void *runtime, void *stream, _Inout_ griddep_stream_info *info, _Inout_ griddep_error *error)',
  'int32_t griddep_event_create(void *runtime, int32_t kind, _Out_ void **event, _Inout_ griddep_error *error)',
  'int32_t griddep_event_destroy(void *runtime, void *event, _Inout_ griddep_error *error)',
  'int32_t griddep_event_record(void *runtime, void *event, void *stream, _Inout_ griddep_error *error)',
  'int32_t griddep_event_synchronize(void *runtime, void *event, _Inout_ griddep_error *error)',
  'int32_t griddep_event_elapsed(void *runtime, void *start, void *end, _Out_ double *nanoseconds, _Inout_ griddep_error *error)',
  'int32_t griddep_stream_wait_event(void *runtime, void *stream, void *event, _Inout_ griddep_error *error)',
  'int32_t griddep_stream_add_host(void *runtime, void *stream, griddep_host_function function, void *user, _Inout_ griddep_error *error)',
  'int32_t griddep_stream_notify(void *runtime, void *stream, griddep_notify_function function, void *user, _Inout_ griddep_error *error)',
  'int32_t griddep_completion_create(void *runtime, _Out_ void **completion, _Inout_ griddep_error *error)',
  'void griddep_completion_destroy(void *completion)',
  'int32_t griddep_completion_get_descriptor(void *completion, _Out_ int32_t *descriptor, _Inout_ griddep_error *error)',
  'int32_t griddep_completion_arm(void *completion, void *stream, _Inout_ griddep_error *error)',
  'int32_t griddep_completion_take(void *completion, _Out_ uint64_t *reached, _Inout_ griddep_error *error)',
  'int32_t griddep_ptx_parse(const char *text, uint64_t bytes, const char *name, _Out_ void **ptx, _Inout_ griddep_error *error)',
  'void griddep_ptx_destroy(void *ptx)',
  'int32_t griddep_ptx_get_info(void *ptx, _Inout_ griddep_ptx_info *info, _Inout_ griddep_error *error)',
  'int32_t griddep_ptx_get_entry(void *ptx, uint32_t entry, _Inout_ griddep_ptx_entry_info *info, _Inout_ griddep_error *error)',
  'int32_t griddep_ptx_get_parameter(void *ptx, uint32_t entry, uint32_t index, _Inout_ griddep_parameter_info *info, _Inout_ griddep_error *error)',
  'int32_t griddep_ptx_print(void *ptx, void *buffer, uint64_t capacity, _Out_ uint64_t *bytes, _Inout_ griddep_error *error)',
  'uint32_t griddep_findings_count(void *findings)',
  'int32_t griddep_findings_get(void *findings, uint32_t index, _Inout_ griddep_finding *finding, _Inout_ griddep_error *error)',
  'int32_t griddep_findings_get_edit(void *findings, uint32_t index, uint32_t number, _Inout_ griddep_edit *edit, _Inout_ griddep_error *error)',
  'int32_t griddep_findings_get_related(void *findings, uint32_t index, uint32_t number, _Inout_ griddep_related *related, _Inout_ griddep_error *error)',
  'void griddep_findings_destroy(void *findings)',
  'int32_t griddep_ptx_check(const char *text, uint64_t bytes, const char *name, const griddep_check_options *options, _Out_ void **findings, _Inout_ griddep_error *error)',
  'int32_t griddep_ptx_rewrite(void *ptx, const griddep_rewrite_options *options, _Out_ void **rewritten, _Out_ void **notes, _Inout_ griddep_error *error)',
  'int32_t griddep_image_open(void *data, uint64_t bytes, const char *name, _Out_ void **image, _Inout_ griddep_error *error)',
  'void griddep_image_destroy(void *image)',
  'int32_t griddep_image_get_info(void *image, _Inout_ griddep_image_info *info, _Inout_ griddep_error *error)',
  'int32_t griddep_image_get_part(void *image, uint32_t index, _Inout_ griddep_image_part *part, _Inout_ griddep_error *error)',
  'int32_t griddep_image_get_kernel(void *image, uint32_t part, uint32_t index, _Inout_ griddep_image_kernel *kernel, _Inout_ griddep_error *error)',
  'int32_t griddep_module_load(void *runtime, void *image, uint64_t bytes, const griddep_module_options *options, _Out_ void **module, _Inout_ griddep_error *error)',
  'int32_t griddep_module_load_file(void *runtime, const char *path, const griddep_module_options *options, _Out_ void **module, _Inout_ griddep_error *error)',
  'int32_t griddep_module_load_shelf(void *runtime, const char *name, const griddep_module_options *options, _Out_ void **module, _Inout_ griddep_error *error)',
  'int32_t griddep_module_compile(void *runtime, const char *source, uint64_t bytes, const griddep_module_options *options, _Out_ void **module, _Inout_ griddep_error *error)',
  'int32_t griddep_module_link(void *runtime, const griddep_link_input *inputs, uint32_t count, const griddep_module_options *options, _Out_ void **module, _Inout_ griddep_error *error)',
  'int32_t griddep_module_share(void *module, void *runtime, _Out_ void **shared, _Inout_ griddep_error *error)',
  'void griddep_module_unload(void *module)',
  'int32_t griddep_module_get_info(void *module, _Inout_ griddep_module_info *info, _Inout_ griddep_error *error)',
  'int32_t griddep_module_get_global(void *module, const char *name, _Out_ uint64_t *address, _Out_ uint64_t *bytes, _Inout_ griddep_error *error)',
  'int32_t griddep_module_get_managed(void *module, const char *name, _Out_ void **memory, _Out_ uint64_t *bytes, _Inout_ griddep_error *error)',
  'int32_t griddep_module_find_kernel(void *module, const char *name, _Out_ void **kernel, _Inout_ griddep_error *error)',
  'int32_t griddep_module_get_kernel(void *module, uint32_t index, _Out_ void **kernel, _Inout_ griddep_error *error)',
  'int32_t griddep_kernel_get_info(void *kernel, _Inout_ griddep_kernel_info *info, _Inout_ griddep_error *error)',
  'int32_t griddep_kernel_get_parameter(void *kernel, uint32_t index, _Inout_ griddep_parameter_info *info, _Inout_ griddep_error *error)',
  'int32_t griddep_kernel_state_traits(void *kernel, uint32_t traits, _Inout_ griddep_error *error)',
  'int32_t griddep_launch(void *kernel, const griddep_launch_config *config, const griddep_argument *arguments, uint32_t argument_count, _Out_ int32_t *reason, _Inout_ griddep_error *error)',
  'int32_t griddep_launch_packed(void *kernel, const griddep_launch_config *config, void *arguments, uint64_t bytes, _Out_ int32_t *reason, _Inout_ griddep_error *error)',
  'int32_t griddep_ptx_get_requirement(void *ptx, uint32_t entry, uint32_t index, _Inout_ griddep_requirement_info *info, _Inout_ griddep_error *error)',
  'int32_t griddep_ptx_check_launch(void *ptx, uint32_t entry, const griddep_launch_config *config, const griddep_argument *arguments, uint32_t argument_count, _Inout_ griddep_error *error)',
  'int32_t griddep_ptx_get_extent(void *ptx, uint32_t entry, const griddep_launch_config *config, const griddep_argument *arguments, uint32_t argument_count, uint32_t parameter, _Out_ uint64_t *bytes, _Inout_ griddep_error *error)',
  'int32_t griddep_attribute_set(_Inout_ griddep_attribute *attribute, int32_t id, const int64_t *values, uint32_t count, _Inout_ griddep_error *error)',
  'int32_t griddep_tensor_map_encode(void *runtime, const griddep_tensor_options *options, _Inout_ griddep_tensor_map *map, _Inout_ griddep_error *error)',
  'int32_t griddep_mode_find(const char *name, _Out_ int32_t *mode, _Inout_ griddep_error *error)',
  'int32_t griddep_chain_create(void *runtime, _Out_ void **chain, _Inout_ griddep_error *error)',
  'void griddep_chain_destroy(void *chain)',
  'int32_t griddep_chain_add(void *chain, void *kernel, const griddep_launch_config *config, const griddep_argument *arguments, uint32_t argument_count, _Inout_ griddep_error *error)',
  'int32_t griddep_chain_add_ptx(void *chain, void *ptx, const char *entry, const griddep_launch_config *config, const griddep_argument *arguments, uint32_t argument_count, _Inout_ griddep_error *error)',
  'int32_t griddep_chain_add_copy(void *chain, const griddep_launch_config *config, uint64_t target, uint64_t source, uint64_t bytes, _Inout_ griddep_error *error)',
  'int32_t griddep_chain_add_fill(void *chain, const griddep_launch_config *config, uint64_t address, uint8_t value, uint64_t bytes, _Inout_ griddep_error *error)',
  'int32_t griddep_chain_add_host(void *chain, const griddep_launch_config *config, griddep_host_function function, void *user, _Inout_ griddep_error *error)',
  'int32_t griddep_chain_find(void *chain, const char *name, _Out_ uint32_t *index, _Inout_ griddep_error *error)',
  'int32_t griddep_chain_depend(void *chain, uint32_t index, uint32_t on, _Inout_ griddep_error *error)',
  'int32_t griddep_chain_set_name(void *chain, uint32_t index, const char *name, _Inout_ griddep_error *error)',
  'int32_t griddep_chain_set_traits(void *chain, uint32_t index, uint32_t traits, _Inout_ griddep_error *error)',
  'int32_t griddep_chain_add_buffer(void *chain, uint64_t address, uint64_t bytes, _Inout_ griddep_error *error)',
  'int32_t griddep_chain_set_use(void *chain, uint32_t index, uint32_t argument, const griddep_use *use, _Inout_ griddep_error *error)',
  'int32_t griddep_chain_set_reach(void *chain, uint32_t index, const griddep_use *uses, uint32_t count, _Inout_ griddep_error *error)',
  'int32_t griddep_chain_check(void *chain, _Out_ void **findings, _Inout_ griddep_error *error)',
  'int32_t griddep_chain_set_arguments(void *chain, uint32_t index, const griddep_argument *arguments, uint32_t argument_count, _Inout_ griddep_error *error)',
  'int32_t griddep_chain_set_argument(void *chain, uint32_t index, uint32_t argument, const griddep_argument *value, _Inout_ griddep_error *error)',
  'int32_t griddep_chain_set_config(void *chain, uint32_t index, const griddep_launch_config *config, _Inout_ griddep_error *error)',
  'int32_t griddep_chain_set_copy(void *chain, uint32_t index, uint64_t target, uint64_t source, uint64_t bytes, _Inout_ griddep_error *error)',
  'int32_t griddep_chain_set_fill(void *chain, uint32_t index, uint64_t address, uint8_t value, uint64_t bytes, _Inout_ griddep_error *error)',
  'int32_t griddep_chain_add_argument_set(void *chain, _Out_ uint32_t *set, _Inout_ griddep_error *error)',
  'int32_t griddep_chain_select_argument_set(void *chain, uint32_t set, _Inout_ griddep_error *error)',
  'int32_t griddep_chain_prepare(void *chain, int32_t mode, _Inout_ griddep_error *error)',
  'int32_t griddep_chain_run(void *chain, int32_t mode, void *stream, _Inout_ griddep_error *error)',
  'int32_t griddep_chain_run_many(void *chain, int32_t mode, uint32_t rounds, void *stream, _Inout_ griddep_error *error)',
  'uint32_t griddep_chain_length(void *chain)',
  'int32_t griddep_chain_get_hop(void *chain, int32_t mode, uint32_t index, _Inout_ griddep_hop_info *info, _Inout_ griddep_error *error)',
  'int32_t griddep_group_open(_Out_ void **runtimes, uint32_t count, const griddep_group_options *options, _Out_ void **group, _Inout_ griddep_error *error)',
  'void griddep_group_close(void *group)',
  'int32_t griddep_group_join(void *runtime, uint32_t rank, uint32_t count, const char *path, const griddep_group_options *options, _Out_ void **group, _Inout_ griddep_error *error)',
  'int32_t griddep_group_get_info(void *group, _Inout_ griddep_group_info *info, _Inout_ griddep_error *error)',
  'int32_t griddep_group_allocate(void *group, uint64_t bytes, _Out_ uint32_t *buffer, _Inout_ griddep_error *error)',
  'int32_t griddep_group_get_address(void *group, uint32_t buffer, uint32_t member, _Out_ uint64_t *address, _Inout_ griddep_error *error)',
  'int32_t griddep_group_status(void *group, _Inout_ griddep_error *error)',
  'int32_t griddep_chain_add_hop(void *chain, void *group, const griddep_launch_config *config, const griddep_hop *hop, _Inout_ griddep_error *error)',
  'int32_t griddep_graph_create(void *runtime, _Out_ void **graph, _Inout_ griddep_error *error)',
  'void griddep_graph_destroy(void *graph)',
  'int32_t griddep_graph_add_kernel(void *graph, void *kernel, const griddep_launch_config *config, const griddep_argument *arguments, uint32_t argument_count, _Out_ uint32_t *node, _Inout_ griddep_error *error)',
  'int32_t griddep_graph_add_fill(void *graph, uint64_t address, uint8_t value, uint64_t bytes, _Out_ uint32_t *node, _Inout_ griddep_error *error)',
  'int32_t griddep_graph_add_copy(void *graph, uint64_t target, uint64_t source, uint64_t bytes, _Out_ uint32_t *node, _Inout_ griddep_error *error)',
  'int32_t griddep_graph_add_host(void *graph, griddep_host_function function, void *user, _Out_ uint32_t *node, _Inout_ griddep_error *error)',
  'int32_t griddep_graph_add_edge(void *graph, uint32_t from, uint32_t to, int32_t from_port, int32_t type, _Inout_ griddep_error *error)',
  'int32_t griddep_graph_remove_edge(void *graph, uint32_t edge, _Inout_ griddep_error *error)',
  'int32_t griddep_graph_from_chain(void *chain, int32_t mode, _Out_ void **graph, _Inout_ griddep_error *error)',
  'int32_t griddep_graph_capture_begin(void *runtime, void *stream, _Inout_ griddep_error *error)',
  'int32_t griddep_graph_capture_end(void *runtime, void *stream, _Out_ void **graph, _Inout_ griddep_error *error)',
  'int32_t griddep_graph_adopt(void *runtime, void *cuda_graph, uint32_t flags, _Out_ void **graph, _Inout_ griddep_error *error)',
  'int32_t griddep_graph_describe(void *graph, uint32_t node, void *ptx, const char *entry, _Inout_ griddep_error *error)',
  'int32_t griddep_graph_instantiate(void *graph, _Inout_ griddep_error *error)',
  'int32_t griddep_graph_launch(void *graph, void *stream, _Inout_ griddep_error *error)',
  'int32_t griddep_graph_set_arguments(void *graph, uint32_t node, const griddep_argument *arguments, uint32_t argument_count, _Inout_ griddep_error *error)',
  'int32_t griddep_graph_set_config(void *graph, uint32_t node, const griddep_launch_config *config, _Inout_ griddep_error *error)',
  'uint32_t griddep_graph_node_count(void *graph)',
  'uint32_t griddep_graph_edge_count(void *graph)',
  'int32_t griddep_graph_get_node(void *graph, uint32_t index, _Inout_ griddep_graph_node_info *info, _Inout_ griddep_error *error)',
  'int32_t griddep_graph_get_edge(void *graph, uint32_t index, _Inout_ griddep_graph_edge_info *info, _Inout_ griddep_error *error)',
  'int32_t griddep_graph_upgrade(void *graph, _Out_ uint32_t *count, _Inout_ griddep_error *error)',
  'int32_t griddep_graph_print(void *graph, int32_t format, void *buffer, uint64_t capacity, _Out_ uint64_t *bytes, _Inout_ griddep_error *error)',
  'int32_t griddep_tune_run(void *chain, const griddep_tune_buffer *buffers, uint32_t buffer_count, const griddep_tune_options *options, _Out_ void **tune, _Inout_ griddep_error *error)',
  'int32_t griddep_tune_load(void *chain, int32_t mode, _Out_ void **tune, _Inout_ griddep_error *error)',
  'int32_t griddep_tune_get_info(void *tune, _Inout_ griddep_tune_info *info, _Inout_ griddep_error *error)',
  'int32_t griddep_tune_get_trial(void *tune, uint32_t index, _Inout_ griddep_tune_trial *trial, _Inout_ griddep_error *error)',
  'int32_t griddep_tune_get_choice(void *tune, uint32_t launch, _Inout_ griddep_tune_choice *choice, _Inout_ griddep_error *error)',
  'void griddep_tune_destroy(void *tune)',
  'int32_t griddep_chain_explain(void *chain, int32_t mode, uint32_t index, _Out_ void **explanation, _Inout_ griddep_error *error)',
  'void griddep_explanation_destroy(void *explanation)',
  'int32_t griddep_explanation_get(void *explanation, uint32_t index, _Inout_ griddep_condition *condition, _Inout_ griddep_error *error)',
  'int32_t griddep_explanation_get_info(void *explanation, _Inout_ griddep_explanation_info *info, _Inout_ griddep_error *error)',
  'int32_t griddep_timeline_create(void *chain, const griddep_timeline_options *options, _Out_ void **timeline, _Inout_ griddep_error *error)',
  'void griddep_timeline_destroy(void *timeline)',
  'int32_t griddep_timeline_run(void *timeline, int32_t mode, void *stream, _Inout_ griddep_error *error)',
  'void *griddep_timeline_get_chain(void *timeline)',
  'int32_t griddep_timeline_get_info(void *timeline, _Inout_ griddep_timeline_info *info, _Inout_ griddep_error *error)',
  'int32_t griddep_timeline_get_launch(void *timeline, uint32_t index, _Inout_ griddep_timeline_launch *launch, _Inout_ griddep_error *error)',
  'int32_t griddep_timeline_get_hop(void *timeline, uint32_t index, _Inout_ griddep_timeline_hop *hop, _Inout_ griddep_error *error)',
  'const char *griddep_timeline_get_mark(void *timeline, uint32_t index, uint32_t mark)',
  'int32_t griddep_timeline_read(void *timeline, uint32_t index, int32_t column, _Out_ int64_t *values, uint64_t capacity, _Out_ uint64_t *count, _Inout_ griddep_error *error)',
  'int32_t griddep_shelf_get(uint32_t index, _Inout_ griddep_shelf_info *info, _Inout_ griddep_error *error)',
  'int32_t griddep_shelf_find(const char *name, int32_t capability, _Inout_ griddep_shelf_info *info, _Inout_ griddep_error *error)',
  'int32_t griddep_shelf_suggest(const char *kernel, const griddep_runtime_info *device, const griddep_argument *arguments, uint32_t argument_count, _Inout_ griddep_launch_config *config, _Inout_ griddep_error *error)',
  'int32_t griddep_shelf_field(const char *text, uint64_t text_bytes, const char *field, void *buffer, uint64_t capacity, _Out_ uint64_t *bytes, _Inout_ griddep_error *error)',
];
// ---- end of generated

const library = (() => {
  const path = process.env.GRIDDEP_LIBRARY || 'libgriddep.so.0';
  try {
    return koffi.load(path);
  } catch (error) {
    throw new Error(`${path}: ${error.message} (GRIDDEP_LIBRARY may name the library's path)`);
  }
})();
const raw = {};
for (const prototype of prototypes) {
  const name = /griddep_(\w+)\(/.exec(prototype)[1];
  try {
    raw[name] = library.func(prototype);
  } catch {
    // An older library lacks what came later.
  }
}

/** What went wrong. The message says what and where; file, line and column are its position (line 0: none). */
class GriddepError extends Error {
  constructor(status, from) {
    super(`${raw.status_name(status)}: ${from.text}`);
    this.name = 'GriddepError';
    this.code = raw.status_name(status);
    Object.assign(this, { status, file: from.file, line: from.line, column: from.column, driverCode: from.driver_code });
  }
}

/** Fails as the library does where an argument cannot be used. */
function refuse(text) {
  throw new GriddepError(constants.ERROR_ARGUMENT, { text, file: '', line: 0, column: 0, driver_code: 0 });
}

const INTEGER = /^(u?)int(8|16|32|64)_t$/;

/** A value that a C integer can hold; koffi cuts what does not fit. */
function integer(value, type, name) {
  const [, unsigned, bits] = INTEGER.exec(type);
  const whole = typeof value === 'bigint' || Number.isInteger(value);
  if (!whole || (unsigned ? BigInt.asUintN : BigInt.asIntN)(Number(bits), BigInt(value)) !== BigInt(value)) {
    refuse(`${name} is ${String(value)}, which is no ${type}`);
  }
  return value;
}

/** A text for C, or null; koffi takes a number for the address of one. */
function text(value, name) {
  if (value === null || value === undefined) return null;
  if (typeof value !== 'string' || value.includes('\0')) throw new TypeError(`${name} is no text: ${String(value)}`);
  return value;
}

/** A struct with its size, whose other fields are checked: koffi ignores a name that it does not know. */
function sized(type, fields = {}) {
  const { members } = koffi.type(type);
  for (const [name, value] of Object.entries(fields)) {
    const kind = members[name]?.type;
    if (!kind) refuse(`${type} has no field ${name}; it has ${Object.keys(members).join(', ')}`);
    if (kind.primitive === 'String') text(value, name);
    else if (INTEGER.test(kind.name)) integer(value, kind.name, name);
    else if (INTEGER.test(kind.ref?.name ?? '') && Array.isArray(value)) value.forEach((one) => integer(one, kind.ref.name, name));
  }
  return { ...blank[type], ...fields, size: koffi.sizeof(type) };
}

// koffi wants every field of a struct.
const blank = {};
for (const type of structs) {
  const zero = koffi.decode(Buffer.alloc(koffi.sizeof(type)), type);
  blank[type] = zero;
}

/** Calls a function that ends with griddep_error *, and throws where it fails. */
function call(name, ...args) {
  const error = sized('griddep_error');
  const status = raw[name](...args, error);
  if (status !== 0) throw new GriddepError(status, error);
}

/** What the function writes as its last parameter before the error. */
function made(name, ...args) {
  const out = [null];
  call(name, ...args, out);
  return out[0];
}

function info(type, name, ...args) {
  const found = sized(type);
  call(name, ...args, found);
  return found;
}

function modeOf(mode) {
  return typeof mode === 'number' ? mode : made('mode_find', text(mode, 'the mode'));
}

const streamOf = (stream) => (stream instanceof Stream ? stream.handle ?? refuse('the stream has been closed') : stream ?? null);
const addressOf = (memory) => (memory instanceof Memory ? memory.address : memory);

/** The address of memory that has so many bytes, as far as that is known. */
function placeOf(memory, bytes) {
  if (memory instanceof Memory && bytes > memory.bytes) refuse(`${bytes} bytes do not fit into memory of ${memory.bytes}`);
  return addressOf(memory);
}

/** How many bytes host data has. */
function bytesIn(data) {
  if (ArrayBuffer.isView(data)) return data.byteLength;
  throw new TypeError('host data is a typed array or a Buffer');
}

function three(shape, name) {
  const extents = Array.isArray(shape) ? shape : [shape];
  if (extents.length > 3) refuse(`${name} has ${extents.length} dimensions; there are three`);
  return [...extents, 0, 0].slice(0, 3);
}

function configOf(config = {}) {
  if (Array.isArray(config)) throw new TypeError('the configuration comes before the arguments: { grid, block }, [x, y]');
  const { grid = 1, block = 1, cluster = 0, stream, ...fields } = config;
  const shapes = { grid: three(grid, 'grid'), block: three(block, 'block'), cluster: three(cluster, 'cluster') };
  return sized('griddep_launch_config', { ...fields, ...shapes, stream: streamOf(stream) });
}

// Finalizers run on the thread of their JavaScript, some time after the object has gone; what they are given must not refer to it.
const finalizers = new FinalizationRegistry((end) => end());

/** Holds a handle that is ended once: by close(), at the end of `using`, or by the garbage collector. */
class Owner {
  #end = null;

  own(handle, finish) {
    this.handle = handle;
    this.#end = () => finish(handle);
    finalizers.register(this, this.#end, this);
  }

  close() {
    finalizers.unregister(this);
    this.#end?.();
    this.#end = this.handle = null;
  }

  [Symbol.dispose ?? Symbol.for('dispose')]() {
    this.close();
  }
}

/** The library's runtime, closed with the last of the Runtime and the memory and streams that need it to be ended. */
class Hold {
  constructor(handle) {
    this.handle = handle;
    this.count = 1;
  }

  take() {
    this.count++;
    return this;
  }

  release() {
    if (--this.count === 0) raw.runtime_close(this.handle);
  }
}

// One callback for the process, which finds the function by its number. koffi hands messages of other threads to this one. An exception must not pass
// through C.
const logFunctions = new Map();
let logCallback = null;

function registerLog(log) {
  logCallback ??= koffi.register((user, level, message) => {
    try {
      logFunctions.get(Number(koffi.address(user)))(level, message);
    } catch {
      // It has nowhere to go.
    }
  }, koffi.pointer('griddep_log_function'));
  logFunctions.set(logFunctions.size + 1, log);
  return { log: logCallback, log_user: logFunctions.size };
}

// Promises: one epoll descriptor for the process has the descriptors of all completions that are waited for, and one thread of Node's pool waits for it
// while there are any. A callback of the library's would have to wait for this thread, which may itself be waiting for the stream.
const waiting = new Map();
const EVENT = process.arch === 'x64' ? { bytes: 12, data: 4 } : { bytes: 16, data: 8 }; // struct epoll_event is packed on x86-64 alone
let poller = null;

function openPoller() {
  const libc = koffi.load(null);
  const made = {
    control: libc.func('int epoll_ctl(int epoll, int operation, int descriptor, void *event)'),
    wait: libc.func('int epoll_wait(int epoll, void *events, int most, int timeout)'),
    epoll: libc.func('int epoll_create1(int flags)')(0o2000000), // EPOLL_CLOEXEC
    events: Buffer.alloc(16 * EVENT.bytes),
    runs: false,
  };
  if (made.epoll < 0) throw new Error('there is no file descriptor left');
  return made;
}

function poll() {
  poller.runs = true;
  poller.wait.async(poller.epoll, poller.events, 16, -1, (error, count) => {
    poller.runs = false;
    for (let i = 0; i < count; i++) {
      const descriptor = poller.events.readInt32LE(i * EVENT.bytes + EVENT.data);
      waiting.get(descriptor)?.();
    }
    if (waiting.size) poll();
  });
}

/** Resolves when all that is in the stream now is over; a fault rejects. */
function done(runtime, stream) {
  poller ??= openPoller();
  const completion = made('completion_create', runtime.handle);
  const descriptor = [0];
  const event = Buffer.alloc(EVENT.bytes);
  try {
    call('completion_get_descriptor', completion, descriptor);
    call('completion_arm', completion, streamOf(stream));
  } catch (error) {
    raw.completion_destroy(completion);
    throw error;
  }
  return new Promise((resolve, reject) => {
    waiting.set(descriptor[0], () => {
      waiting.delete(descriptor[0]);
      try {
        resolve(call('completion_take', completion, [0]));
      } catch (error) {
        reject(error);
      }
      raw.completion_destroy(completion); // which takes the descriptor out of the epoll
    });
    event.writeUInt32LE(1); // EPOLLIN
    event.writeInt32LE(descriptor[0], EVENT.data);
    poller.control(poller.epoll, 1, descriptor[0], event); // EPOLL_CTL_ADD
    if (!poller.runs) poll();
  });
}

/** What each device of a driver is like; no runtime is opened. */
function devices(driver = null) {
  const name = text(driver, 'driver');
  const about = (index) => info('griddep_device_info', 'device_get_info', name, index);
  return Array.from({ length: about(0).device_count }, (_, index) => about(index));
}

/** A driver, a device and a context. options: log(level, message), and the fields of griddep_runtime_options. */
class Runtime extends Owner {
  #hold;

  constructor({ log, ...options } = {}) {
    super();
    if (options.device !== undefined) options.flags = constants.RUNTIME_DEVICE;
    const fields = sized('griddep_runtime_options', { ...options, ...(log ? registerLog(log) : {}) });
    const hold = new Hold(made('runtime_open', fields));
    this.#hold = hold;
    this.own(hold.handle, () => hold.release());
  }

  info() {
    return info('griddep_runtime_info', 'runtime_get_info', this.handle);
  }

  /** PTX text, or a Buffer with PTX, a cubin or a fatbin; flags: MODULE_*. */
  load(image, name = null, flags = 0) {
    const bytes = Buffer.from(image);
    return new Module(made('module_load', this.handle, bytes, bytes.length, sized('griddep_module_options', { name, flags })));
  }

  /** The same from a file; one whose name ends in .cu is compiled with NVRTC. */
  loadFile(path, name = null, flags = 0) {
    return new Module(made('module_load_file', this.handle, text(path, 'the path'), sized('griddep_module_options', { name, flags })));
  }

  /** One module of several PTX texts, relocatable cubins, fatbins and archives. */
  link(images, name = null) {
    const inputs = images.map((image) => Buffer.from(image)).map((image) => ({ image, bytes: image.length, name: null }));
    return new Module(made('module_link', this.handle, inputs, inputs.length, sized('griddep_module_options', { name })));
  }

  loadShelf(kernel) {
    return new Module(made('module_load_shelf', this.handle, text(kernel, 'the name'), null));
  }

  allocate(bytes) {
    return new Memory(this, this.#hold, bytes);
  }

  /** Device memory that holds a copy of a typed array or Buffer. */
  copyIn(data, stream) {
    const memory = this.allocate(bytesIn(data));
    this.write(memory, data, stream);
    return memory;
  }

  write(memory, data, stream) {
    const bytes = bytesIn(data);
    call('memory_write', this.handle, placeOf(memory, bytes), data, bytes, streamOf(stream));
  }

  /** Reads device memory into a typed array or Buffer, and returns it. */
  read(memory, data, stream) {
    const bytes = bytesIn(data);
    call('memory_read', this.handle, data, placeOf(memory, bytes), bytes, streamOf(stream));
    return data;
  }

  /** write() that does not wait for pinned memory; that is the caller's to leave alone until the stream has come there. */
  writeAsync(memory, data, stream) {
    const bytes = bytesIn(data);
    call('memory_write_async', this.handle, placeOf(memory, bytes), data, bytes, streamOf(stream));
  }

  /** read() that does not wait; the data is pinned memory's, and there when the stream has come there. */
  readAsync(memory, data, stream) {
    if (!pinnedBuffers.has(data.buffer)) refuse('data is read without waiting into the memory of a Pinned alone');
    const bytes = bytesIn(data);
    call('memory_read_async', this.handle, data, placeOf(memory, bytes), bytes, streamOf(stream));
    return data;
  }

  /** Memory of the host that copies reach without waiting: Pinned.array. */
  pinned(bytes) {
    return new Pinned(this, this.#hold, bytes);
  }

  /** Copies device memory in the stream, without waiting. */
  copy(target, source, bytes, stream) {
    call('memory_copy_async', this.handle, placeOf(target, bytes), placeOf(source, bytes), bytes, streamOf(stream));
  }

  /** Writes `count` elements of 1, 2 or 4 bytes, without waiting. */
  fill(target, value, count, elementBytes = 1, stream = null) {
    call('memory_fill_async', this.handle, placeOf(target, count * elementBytes), integer(value, 'uint32_t', 'value'), elementBytes, count, streamOf(stream));
  }

  /** options: priority, and blocking: whether it and the legacy default stream wait for each other. */
  stream({ priority = 0, blocking = false } = {}) {
    return new Stream(this, this.#hold, sized('griddep_stream_options', { priority, flags: blocking ? constants.STREAM_BLOCKING : 0 }));
  }

  synchronize(stream) {
    call('stream_synchronize', this.handle, streamOf(stream));
  }

  /** Whether all that a stream was given is over. */
  query(stream) {
    return made('stream_query', this.handle, streamOf(stream)) !== 0;
  }

  /** A promise that is resolved when all that is in the stream now is over; a fault rejects it. */
  async done(stream) {
    return done(this, stream);
  }

  chain() {
    return new Chain(this);
  }

  /** Nanoseconds between events before and after what work() puts into the stream. */
  time(work, stream) {
    const events = [0, 1].map(() => made('event_create', this.handle, 0));
    try {
      call('event_record', this.handle, events[0], streamOf(stream));
      work();
      call('event_record', this.handle, events[1], streamOf(stream));
      return made('event_elapsed', this.handle, ...events);
    } finally {
      for (const event of events) call('event_destroy', this.handle, event);
    }
  }
}

/** Device memory, freed with the object; the driver frees it when the work that uses it is done. */
class Memory extends Owner {
  constructor(runtime, hold, bytes) {
    super();
    this.bytes = bytes;
    this.runtime = runtime;
    this.own(made('memory_allocate', runtime.handle, integer(bytes, 'uint64_t', 'bytes')), (address) => {
      raw.memory_free(hold.handle, address, null);
      hold.release();
    });
    hold.take();
  }

  get address() {
    return this.handle ?? refuse('the memory has been closed');
  }
}

// The ArrayBuffers of pinned memory.
const pinnedBuffers = new WeakSet();

/** Pinned memory of the host. It ends when neither it nor an array of it is there any more, and waits for the context's work then. */
class Pinned {
  #buffer;

  constructor(runtime, hold, bytes) {
    const memory = made('host_allocate', runtime.handle, integer(bytes, 'uint64_t', 'bytes'), constants.HOST_PORTABLE);
    this.bytes = bytes;
    this.#buffer = koffi.view(memory, bytes);
    pinnedBuffers.add(this.#buffer);
    hold.take();
    finalizers.register(this.#buffer, () => {
      raw.host_free(hold.handle, memory, null);
      hold.release();
    });
  }

  /** All of it as a typed array: pinned.array(Float32Array). */
  array(Type) {
    return new Type(this.#buffer);
  }
}

/** A CUstream. */
class Stream extends Owner {
  constructor(runtime, hold, options) {
    super();
    this.runtime = runtime;
    this.own(made('stream_create', runtime.handle, options), (stream) => {
      raw.stream_destroy(hold.handle, stream, null);
      hold.release();
    });
    hold.take();
  }

  async done() {
    return this.runtime.done(this);
  }
}

class Module extends Owner {
  constructor(handle) {
    super();
    this.own(handle, raw.module_unload);
  }

  kernel(name = null) {
    return new Kernel(this, made('module_find_kernel', this.handle, text(name, 'the name')));
  }

  info() {
    return info('griddep_module_info', 'module_get_info', this.handle);
  }

  /** Address and bytes of a module-scope variable. */
  variable(name) {
    const [address, bytes] = [[0n], [0]];
    call('module_get_global', this.handle, text(name, 'the name'), address, bytes);
    return { address: address[0], bytes: Number(bytes[0]) };
  }

  /** A copy of a managed variable's bytes; no kernel may use it now. */
  readManaged(name) {
    const [memory, bytes] = [[null], [0]];
    call('module_get_managed', this.handle, text(name, 'the name'), memory, bytes);
    return Buffer.from(koffi.decode(memory[0], koffi.array('uint8_t', Number(bytes[0]), 'Typed')));
  }

  /** The module, which was loaded with MODULE_LIBRARY, in another runtime; its code is not given to the driver again. */
  share(runtime) {
    return new Module(made('module_share', this.handle, runtime.handle));
  }
}

/** What PTX text, a cubin or a fatbin holds; needs no driver. An array of parts: kind (IMAGE_*; 0: it cannot be read), architecture, data (a
 * Buffer), and kernels, an object with the TRAIT_* of a cubin's kernels by name. */
function imageParts(image) {
  const bytes = Buffer.from(image);
  const handle = made('image_open', bytes, bytes.length, null);
  try {
    const { part_count } = info('griddep_image_info', 'image_get_info', handle);
    return Array.from({ length: part_count }, (_, index) => {
      const { kind, architecture, kernel_count, data, bytes: size } = info('griddep_image_part', 'image_get_part', handle, index);
      const kernels = Array.from({ length: kernel_count }, (__, number) => info('griddep_image_kernel', 'image_get_kernel', handle, index, number));
      const copy = data ? koffi.decode(data, koffi.array('uint8_t', Number(size), 'Typed')) : [];
      return { kind, architecture, data: Buffer.from(copy), kernels: Object.fromEntries(kernels.map(({ name, traits }) => [name, traits])) };
    });
  } finally {
    raw.image_destroy(handle);
  }
}

const VIEWS = {
  u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, u64: BigUint64Array, s8: Int8Array, s16: Int16Array, s32: Int32Array, s64: BigInt64Array,
  b8: Uint8Array, b16: Uint16Array, b32: Uint32Array, b64: BigUint64Array, f32: Float32Array, f64: Float64Array,
};

/** An entry of a module, which it keeps loaded. */
class Kernel {
  constructor(module, handle) {
    this.module = module;
    this.handle = handle;
    this.parameters = Array.from({ length: this.info().parameter_count }, (_, index) =>
      info('griddep_parameter_info', 'kernel_get_parameter', handle, index));
  }

  info() {
    return info('griddep_kernel_info', 'kernel_get_info', this.handle);
  }

  /** Vouches for TRAIT_* of code that the library cannot read, before the kernel is used: griddep_kernel_state_traits tells for what. */
  stateTraits(traits) {
    call('kernel_state_traits', this.handle, integer(traits, 'uint32_t', 'traits'));
  }

  /** Launches, asynchronously; config: grid and block (a number, or up to three), stream, and fields of griddep_launch_config. Returns a
   * REASON_*: whether the launch may overlap what is before it, and why. */
  launch(config, args) {
    return made('launch', this.handle, configOf(config), this.pack(args), args.length);
  }

  /** The array of griddep_argument: values of up to eight bytes in themselves, others by their address. */
  pack(args) {
    if (!this.module.handle) refuse("the kernel's module has been closed");
    return args.map((value, index) => {
      const data = this.bytesOf(value, index);
      const small = Buffer.alloc(8);
      if (data.length <= 8) data.copy(small);
      return { bytes: data.length, reserved: 0, value: small.readBigUInt64LE(), data: data.length > 8 ? data : null };
    });
  }

  bytesOf(given, index) {
    const value = addressOf(given);
    if (ArrayBuffer.isView(value)) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    const parameter = this.parameters[index];
    if (!parameter) return Buffer.alloc(0); // one too many, which the library reports
    const View = VIEWS[parameter.type] ?? BigUint64Array;
    if (!['number', 'bigint'].includes(typeof value) || View.BYTES_PER_ELEMENT !== parameter.bytes) {
      throw new TypeError(`argument ${index} is no value of .${parameter.type}; give its bytes as a typed array`);
    }
    if (View === Float32Array || View === Float64Array) return Buffer.from(View.of(Number(value)).buffer);
    // Compilers write .u32 for int too: a negative number is taken for what has its bits.
    const bits = 8 * parameter.bytes;
    const whole = typeof value === 'bigint' || Number.isInteger(value);
    if (!whole || ![BigInt.asUintN, BigInt.asIntN].some((cut) => cut(bits, BigInt(value)) === BigInt(value))) {
      throw new RangeError(`argument ${index}: ${value} is no .${parameter.type}`);
    }
    return Buffer.from(View.of(bits === 64 ? BigInt(value) : Number(value)).buffer);
  }
}

/** Launches, copies and fills in stream order, prepared once, changed between runs, run many times. It keeps the memory that its arguments
 * name. Launches are counted from 0; where a number is asked for, a launch's name does as well. Host functions are not for Node, whose thread
 * the driver's cannot be. */
class Chain extends Owner {
  #kept = [[]];
  #set = 0;

  constructor(runtime) {
    super();
    this.runtime = runtime;
    this.own(made('chain_create', runtime.handle), raw.chain_destroy);
  }

  add(kernel, config, args) {
    call('chain_add', this.handle, kernel.handle, configOf(config), kernel.pack(args), args.length);
    return this.#added({ kernel, args });
  }

  #added(what) {
    for (const kept of this.#kept) kept.push(what);
    return this;
  }

  #change(index, what) {
    this.#kept[this.#set][index] = what;
  }

  #index(launch) {
    return typeof launch === 'string' ? this.find(launch) : integer(launch, 'uint32_t', 'launch');
  }

  find(name) {
    return made('chain_find', this.handle, text(name, 'the name'));
  }

  /** Appends a copy; config: lane and name. It ends the overlap of the kernels at its sides, as a fill does. */
  copy(target, source, bytes, config = {}) {
    call('chain_add_copy', this.handle, configOf({ grid: 0, block: 0, ...config }), placeOf(target, bytes), placeOf(source, bytes), bytes);
    return this.#added({ target, source });
  }

  fill(memory, value, bytes, config = {}) {
    call('chain_add_fill', this.handle, configOf({ grid: 0, block: 0, ...config }), placeOf(memory, bytes), integer(value, 'uint8_t', 'value'), bytes);
    return this.#added({ memory });
  }

  depend(launch, on) {
    call('chain_depend', this.handle, this.#index(launch), this.#index(on));
  }

  /** What a launch reaches at addresses that no argument gives it: { memory, bytes, access: ACCESS_* } each, and all that there is. */
  reaches(launch, places) {
    const uses = places.map(({ memory, bytes, access }) => sized('griddep_use', { access, offset: placeOf(memory, bytes), bytes }));
    call('chain_set_reach', this.handle, this.#index(launch), uses, uses.length);
  }

  /** Other arguments for the runs that follow, in every mode. */
  setArguments(launch, args) {
    const index = this.#index(launch);
    const { kernel } = this.#kept[this.#set][index] ?? {};
    if (!kernel) refuse(`launch ${index} is none of a kernel`);
    call('chain_set_arguments', this.handle, index, kernel.pack(args), args.length);
    this.#change(index, { kernel, args });
  }

  setConfig(launch, config) {
    call('chain_set_config', this.handle, this.#index(launch), configOf(config));
  }

  setCopy(launch, target, source, bytes) {
    const index = this.#index(launch);
    call('chain_set_copy', this.handle, index, placeOf(target, bytes), placeOf(source, bytes), bytes);
    this.#change(index, { target, source });
  }

  setFill(launch, memory, value, bytes) {
    const index = this.#index(launch);
    call('chain_set_fill', this.handle, index, placeOf(memory, bytes), integer(value, 'uint8_t', 'value'), bytes);
    this.#change(index, { memory });
  }

  /** One more set of arguments, as the selected one is now; returns its number. */
  addArgumentSet() {
    const set = made('chain_add_argument_set', this.handle);
    this.#kept.push([...this.#kept[this.#set]]);
    return set;
  }

  /** Makes a set the one that runs and changes are about. */
  selectArgumentSet(set) {
    call('chain_select_argument_set', this.handle, integer(set, 'uint32_t', 'set'));
    this.#set = set;
  }

  prepare(mode) {
    call('chain_prepare', this.handle, modeOf(mode));
  }

  /** Runs the chain, asynchronously, in one of the modes serial, pdl, graph and graph-pdl. */
  run(mode = 'graph-pdl', stream) {
    call('chain_run', this.handle, modeOf(mode), streamOf(stream));
  }

  /** Runs it back to back; where the check allows it, round overlaps round: hop(mode, length) tells. */
  runMany(rounds, mode = 'graph-pdl', stream) {
    call('chain_run_many', this.handle, modeOf(mode), integer(rounds, 'uint32_t', 'rounds'), streamOf(stream));
  }

  /** Runs it, and resolves when that is over. */
  async runAsync(mode = 'graph-pdl', stream = null) {
    this.run(mode, stream);
    return this.runtime.done(stream);
  }

  get length() {
    return raw.chain_length(this.handle);
  }

  hop(mode, launch) {
    return info('griddep_hop_info', 'chain_get_hop', this.handle, modeOf(mode), this.#index(launch));
  }
}

module.exports = { ...constants, raw, call, sized, Runtime, Memory, Pinned, Stream, Module, Kernel, Chain, GriddepError, devices, imageParts, reasonText: (reason) => raw.text(constants.TEXT_REASON, reason) };
