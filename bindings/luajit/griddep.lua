-- libgriddep for LuaJIT: programmatic dependent launch for PTX, through its FFI.
--
--     local griddep = require("griddep")
--     local runtime = griddep.open()
--     local kernel = runtime:load(ptx):kernel("scale")
--     kernel:launch({grid = 132, block = 256, stream = stream}, {x, 0.5, count})
--
-- The library is $GRIDDEP_LIBRARY, or libgriddep.so.0 as the loader finds it. What fails is raised as a table with status, name, text,
-- file, line and column, which tostring makes readable. Arguments are converted to what the kernel's PTX declares; device memory is a Memory
-- or an address (a uint64_t). Everything else of griddep.h is in griddep.C, its constants without their prefix in griddep.
-- doc/languages.md tells about threads, finalizers, callbacks and fork.

local ffi = require("ffi")

-- The library may call the log function back, which compiled code must not see (LuaJIT, FFI semantics: callbacks).
jit.off(true, true)

-- ---- generated from griddep.h by build-tools/bindings.py
ffi.cdef([[
enum {
    GRIDDEP_VERSION_MAJOR = 0,
    GRIDDEP_VERSION_MINOR = 1,
    GRIDDEP_VERSION_PATCH = 0,
    GRIDDEP_OK = 0,
    GRIDDEP_ERROR_ARGUMENT = -1,
    GRIDDEP_ERROR_STRUCT = -2,
    GRIDDEP_ERROR_MEMORY = -3,
    GRIDDEP_ERROR_DEVICE_MEMORY = -4,
    GRIDDEP_ERROR_FILE = -5,
    GRIDDEP_ERROR_ENVIRONMENT = -6,
    GRIDDEP_ERROR_NO_DRIVER = -7,
    GRIDDEP_ERROR_DRIVER_TOO_OLD = -8,
    GRIDDEP_ERROR_DRIVER = -9,
    GRIDDEP_ERROR_NO_NVRTC = -10,
    GRIDDEP_ERROR_SYNTAX = -11,
    GRIDDEP_ERROR_COMPILE = -12,
    GRIDDEP_ERROR_IMAGE = -13,
    GRIDDEP_ERROR_NOT_FOUND = -14,
    GRIDDEP_ERROR_SIGNATURE = -15,
    GRIDDEP_ERROR_LIMIT = -16,
    GRIDDEP_ERROR_STREAM = -17,
    GRIDDEP_ERROR_UNSUPPORTED = -18,
    GRIDDEP_ERROR_FAULT = -19,
    GRIDDEP_ERROR_REQUIREMENT = -20,
    GRIDDEP_ERROR_CALLBACK = -21,
    GRIDDEP_ERROR_PEER = -22,
    GRIDDEP_TEXT_STATUS = 0,
    GRIDDEP_TEXT_REASON = 1,
    GRIDDEP_TEXT_OVERLAP = 2,
    GRIDDEP_TEXT_MODE = 3,
    GRIDDEP_TEXT_TUNE_OUTCOME = 4,
    GRIDDEP_LOG_NONE = 0,
    GRIDDEP_LOG_ERROR = 1,
    GRIDDEP_LOG_WARNING = 2,
    GRIDDEP_LOG_INFO = 3,
    GRIDDEP_LOG_DEBUG = 4,
    GRIDDEP_PDL_DEFAULT = 0,
    GRIDDEP_PDL_AUTO = 1,
    GRIDDEP_PDL_OFF = 2,
    GRIDDEP_PDL_FORCE = 3,
    GRIDDEP_RUNTIME_DEVICE = 1,
    GRIDDEP_RUNTIME_RESET = 2,
    GRIDDEP_RUNTIME_REST = 4,
    GRIDDEP_FEATURE_PDL = 1,
    GRIDDEP_FEATURE_GRAPH = 2,
    GRIDDEP_FEATURE_GRAPH_EDGES = 4,
    GRIDDEP_FEATURE_PROGRAMMATIC_EVENT = 8,
    GRIDDEP_FEATURE_LAUNCH_COMPLETION_EVENT = 16,
    GRIDDEP_FEATURE_PARAMETER_INFO = 32,
    GRIDDEP_FEATURE_CLUSTER = 64,
    GRIDDEP_FEATURE_PARTS = 256,
    GRIDDEP_HOST_PORTABLE = 1,
    GRIDDEP_HOST_WRITE_COMBINED = 4,
    GRIDDEP_STREAM_BLOCKING = 1,
    GRIDDEP_EVENT_TIMING = 0,
    GRIDDEP_EVENT_ORDER = 1,
    GRIDDEP_TRAIT_KNOWN = 1,
    GRIDDEP_TRAIT_WAITS = 2,
    GRIDDEP_TRAIT_WAITS_ALWAYS = 4,
    GRIDDEP_TRAIT_TRIGGERS = 8,
    GRIDDEP_TRAIT_CALLS = 16,
    GRIDDEP_TRAIT_STATED = 128,
    GRIDDEP_TRAIT_MACHINE_CODE = 32,
    GRIDDEP_TRAIT_OPEN = 64,
    GRIDDEP_TRAIT_TOUCHES_EARLY = 256,
    GRIDDEP_TRAIT_OTHERS_WAIT = 512,
    GRIDDEP_SEVERITY_NOTE = 1,
    GRIDDEP_SEVERITY_WARNING = 2,
    GRIDDEP_SEVERITY_ERROR = 3,
    GRIDDEP_WAIT_KEEP = 0,
    GRIDDEP_WAIT_INSERT = 1,
    GRIDDEP_WAIT_MOVE = 2,
    GRIDDEP_WAIT_REMOVE = 3,
    GRIDDEP_WAIT_START = 4,
    GRIDDEP_TRIGGER_KEEP = 0,
    GRIDDEP_TRIGGER_REMOVE = 1,
    GRIDDEP_TRIGGER_START = 2,
    GRIDDEP_TRIGGER_AFTER_WAIT = 3,
    GRIDDEP_TRIGGER_AFTER_LOADS = 4,
    GRIDDEP_TRIGGER_BEFORE_STORES = 5,
    GRIDDEP_TRIGGER_END = 6,
    GRIDDEP_TRIGGER_LINE = 7,
    GRIDDEP_TRIGGER_LOOP = 8,
    GRIDDEP_MODULE_LINE_INFO = 1,
    GRIDDEP_MODULE_DEBUG = 2,
    GRIDDEP_MODULE_VERBOSE = 4,
    GRIDDEP_MODULE_PTX = 8,
    GRIDDEP_MODULE_LIBRARY = 16,
    GRIDDEP_MODULE_PCH = 32,
    GRIDDEP_OPTIMIZATION_DEFAULT = 0,
    GRIDDEP_OPTIMIZATION_NONE = -1,
    GRIDDEP_IMAGE_PTX = 1,
    GRIDDEP_IMAGE_CUBIN = 2,
    GRIDDEP_IMAGE_FATBIN = 3,
    GRIDDEP_REASON_SET = 0,
    GRIDDEP_REASON_FORCED = 1,
    GRIDDEP_REASON_OFF = 2,
    GRIDDEP_REASON_KILL_SWITCH = 3,
    GRIDDEP_REASON_DEVICE = 4,
    GRIDDEP_REASON_DRIVER = 5,
    GRIDDEP_REASON_NO_WAIT = 6,
    GRIDDEP_REASON_WAIT_NOT_ALWAYS = 7,
    GRIDDEP_REASON_UNKNOWN_CODE = 8,
    GRIDDEP_REASON_FIRST = 9,
    GRIDDEP_REASON_PLAIN = 10,
    GRIDDEP_REASON_OTHER_ORDER = 11,
    GRIDDEP_REASON_NODE_BETWEEN = 12,
    GRIDDEP_REASON_NOT_KERNELS = 13,
    GRIDDEP_REASON_CONDITIONAL = 14,
    GRIDDEP_REASON_WRONG_END = 15,
    GRIDDEP_REASON_BLOCKING = 16,
    GRIDDEP_REASON_COOPERATIVE = 17,
    GRIDDEP_REASON_NO_TRIGGER = 18,
    GRIDDEP_REASON_NO_ROOM = 19,
    GRIDDEP_REASON_CARVEOUT = 20,
    GRIDDEP_REASON_WAVES = 21,
    GRIDDEP_REASON_CLUSTER = 22,
    GRIDDEP_REASON_LAUNCH_ORDER = 23,
    GRIDDEP_REASON_WRONG_PORT = 24,
    GRIDDEP_REASON_NO_EDGE_DATA = 25,
    GRIDDEP_REASON_TOOLS = 26,
    GRIDDEP_REASON_ROUND = 27,
    GRIDDEP_REASON_NOT_PROVEN = 28,
    GRIDDEP_REASON_RACE = 29,
    GRIDDEP_OVERLAP_UNKNOWN = -1,
    GRIDDEP_OVERLAP_NONE = 0,
    GRIDDEP_OVERLAP_TAIL = 1,
    GRIDDEP_OVERLAP_FULL = 2,
    GRIDDEP_ATTRIBUTE_IGNORE = 0,
    GRIDDEP_ATTRIBUTE_ACCESS_POLICY_WINDOW = 1,
    GRIDDEP_ATTRIBUTE_COOPERATIVE = 2,
    GRIDDEP_ATTRIBUTE_SYNCHRONIZATION_POLICY = 3,
    GRIDDEP_ATTRIBUTE_CLUSTER_DIMENSION = 4,
    GRIDDEP_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY = 5,
    GRIDDEP_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6,
    GRIDDEP_ATTRIBUTE_PROGRAMMATIC_EVENT = 7,
    GRIDDEP_ATTRIBUTE_PRIORITY = 8,
    GRIDDEP_ATTRIBUTE_MEMORY_SYNC_DOMAIN_MAP = 9,
    GRIDDEP_ATTRIBUTE_MEMORY_SYNC_DOMAIN = 10,
    GRIDDEP_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION = 11,
    GRIDDEP_ATTRIBUTE_LAUNCH_COMPLETION_EVENT = 12,
    GRIDDEP_ATTRIBUTE_DEVICE_UPDATABLE_NODE = 13,
    GRIDDEP_ATTRIBUTE_CARVEOUT = 14,
    GRIDDEP_ATTRIBUTE_NVLINK_CENTRIC_SCHEDULING = 16,
    GRIDDEP_CLUSTER_SCHEDULING_DEFAULT = 0,
    GRIDDEP_CLUSTER_SCHEDULING_SPREAD = 1,
    GRIDDEP_CLUSTER_SCHEDULING_LOAD_BALANCING = 2,
    GRIDDEP_MEMORY_SYNC_DOMAIN_DEFAULT = 0,
    GRIDDEP_MEMORY_SYNC_DOMAIN_REMOTE = 1,
    GRIDDEP_ACCESS_PROPERTY_NORMAL = 0,
    GRIDDEP_ACCESS_PROPERTY_STREAMING = 1,
    GRIDDEP_ACCESS_PROPERTY_PERSISTING = 2,
    GRIDDEP_CARVEOUT_DEFAULT = -1,
    GRIDDEP_TENSOR_U8 = 0,
    GRIDDEP_TENSOR_U16 = 1,
    GRIDDEP_TENSOR_U32 = 2,
    GRIDDEP_TENSOR_S32 = 3,
    GRIDDEP_TENSOR_U64 = 4,
    GRIDDEP_TENSOR_S64 = 5,
    GRIDDEP_TENSOR_F16 = 6,
    GRIDDEP_TENSOR_F32 = 7,
    GRIDDEP_TENSOR_F64 = 8,
    GRIDDEP_TENSOR_BF16 = 9,
    GRIDDEP_TENSOR_F32_FTZ = 10,
    GRIDDEP_TENSOR_TF32 = 11,
    GRIDDEP_TENSOR_TF32_FTZ = 12,
    GRIDDEP_TENSOR_16U4_ALIGN8 = 13,
    GRIDDEP_TENSOR_16U4_ALIGN16 = 14,
    GRIDDEP_TENSOR_16U6_ALIGN16 = 15,
    GRIDDEP_INTERLEAVE_NONE = 0,
    GRIDDEP_INTERLEAVE_16B = 1,
    GRIDDEP_INTERLEAVE_32B = 2,
    GRIDDEP_SWIZZLE_NONE = 0,
    GRIDDEP_SWIZZLE_32B = 1,
    GRIDDEP_SWIZZLE_64B = 2,
    GRIDDEP_SWIZZLE_128B = 3,
    GRIDDEP_SWIZZLE_128B_ATOM_32B = 4,
    GRIDDEP_SWIZZLE_128B_ATOM_32B_FLIP_8B = 5,
    GRIDDEP_SWIZZLE_128B_ATOM_64B = 6,
    GRIDDEP_PROMOTION_NONE = 0,
    GRIDDEP_PROMOTION_64B = 1,
    GRIDDEP_PROMOTION_128B = 2,
    GRIDDEP_PROMOTION_256B = 3,
    GRIDDEP_FILL_ZERO = 0,
    GRIDDEP_FILL_NAN = 1,
    GRIDDEP_MODE_SERIAL = 0,
    GRIDDEP_MODE_PDL = 1,
    GRIDDEP_MODE_GRAPH = 2,
    GRIDDEP_MODE_GRAPH_PDL = 3,
    GRIDDEP_MODE_COUNT = 4,
    GRIDDEP_ACCESS_UNKNOWN = 0,
    GRIDDEP_ACCESS_READ = 1,
    GRIDDEP_ACCESS_WRITE = 2,
    GRIDDEP_ACCESS_UPDATE = 3,
    GRIDDEP_ACCESS_CONSTANT = 4,
    GRIDDEP_NO_MEMBER = -1,
    GRIDDEP_NCCL_AUTO = 0,
    GRIDDEP_NCCL_OFF = 1,
    GRIDDEP_NCCL_ON = 2,
    GRIDDEP_GROUP_REMEMBER = 1,
    GRIDDEP_HOP_ALL_REDUCE = 0,
    GRIDDEP_HOP_ALL_GATHER = 1,
    GRIDDEP_HOP_REDUCE_SCATTER = 2,
    GRIDDEP_HOP_BROADCAST = 3,
    GRIDDEP_HOP_EXCHANGE = 4,
    GRIDDEP_GRAPH_NODE_KERNEL = 0,
    GRIDDEP_GRAPH_NODE_COPY = 1,
    GRIDDEP_GRAPH_NODE_FILL = 2,
    GRIDDEP_GRAPH_NODE_HOST = 3,
    GRIDDEP_GRAPH_NODE_CHILD = 4,
    GRIDDEP_GRAPH_NODE_EMPTY = 5,
    GRIDDEP_GRAPH_NODE_EVENT_WAIT = 6,
    GRIDDEP_GRAPH_NODE_EVENT_RECORD = 7,
    GRIDDEP_GRAPH_NODE_CONDITIONAL = 13,
    GRIDDEP_PORT_DEFAULT = 0,
    GRIDDEP_PORT_PROGRAMMATIC = 1,
    GRIDDEP_PORT_LAUNCH_ORDER = 2,
    GRIDDEP_EDGE_DEFAULT = 0,
    GRIDDEP_EDGE_PROGRAMMATIC = 1,
    GRIDDEP_EDGE_AUTO = 2,
    GRIDDEP_GRAPH_OWN = 1,
    GRIDDEP_FORMAT_DOT = 0,
    GRIDDEP_FORMAT_JSON = 1,
    GRIDDEP_TUNE_FLAG_FORGET = 1,
    GRIDDEP_TUNE_FLAG_SHAPES = 2,
    GRIDDEP_TUNE_OUTCOME_BETTER = 0,
    GRIDDEP_TUNE_OUTCOME_NOT_BETTER = 1,
    GRIDDEP_TUNE_OUTCOME_SLOWER = 2,
    GRIDDEP_TUNE_OUTCOME_SAME = 3,
    GRIDDEP_TUNE_OUTCOME_NO_PLACE = 4,
    GRIDDEP_TUNE_OUTCOME_ILLEGAL = 5,
    GRIDDEP_TUNE_OUTCOME_DIFFERENT = 6,
    GRIDDEP_TUNE_OUTCOME_REFUSED = 7,
    GRIDDEP_TUNE_OUTCOME_UNCONFIRMED = 8,
    GRIDDEP_STAMP_SM = 0,
    GRIDDEP_STAMP_ENTRY = 1,
    GRIDDEP_STAMP_WAIT = 2,
    GRIDDEP_STAMP_RELEASE = 3,
    GRIDDEP_STAMP_TRIGGER = 4,
    GRIDDEP_STAMP_EXIT = 5,
    GRIDDEP_STAMP_MARK = 6,
    GRIDDEP_STAMP_NONE = -1,
};
typedef struct griddep_runtime griddep_runtime;
typedef struct griddep_module griddep_module;
typedef struct griddep_kernel griddep_kernel;
typedef struct griddep_chain griddep_chain;
typedef struct griddep_graph griddep_graph;
typedef struct griddep_ptx griddep_ptx;
typedef struct griddep_timeline griddep_timeline;
typedef struct griddep_completion griddep_completion;
typedef struct griddep_group griddep_group;
typedef struct griddep_findings griddep_findings;
typedef struct griddep_image griddep_image;
typedef struct griddep_tune griddep_tune;
typedef struct griddep_explanation griddep_explanation;
typedef void (*griddep_log_function)(void *user, int32_t level, const char *message);
typedef void (*griddep_host_function)(void *user);
typedef void (*griddep_notify_function)(void *user, const struct griddep_error *failure);
typedef int32_t (*griddep_tune_progress)(void *user, uint32_t done, uint32_t most, const char *text);
typedef struct griddep_error {
    uint32_t size; int32_t status; int32_t driver_code; int32_t line; int32_t column; char file[260];
    char text[2048];
} griddep_error;
typedef struct griddep_runtime_options {
    uint32_t size; uint32_t flags; const char *driver; void *context; int32_t device; int32_t pdl;
    const char *store_directory; const char *nvrtc; griddep_log_function log; void *log_user; int32_t log_level;
    uint32_t reserved; uint32_t multiprocessors; uint32_t part;
} griddep_runtime_options;
typedef struct griddep_runtime_info {
    uint32_t size; uint32_t features; const char *driver; const char *device_name; const char *store_directory;
    int32_t driver_version; int32_t device; int32_t capability; int32_t multiprocessors; uint64_t memory_bytes;
    uint64_t l2_bytes; uint32_t shared_bytes_per_multiprocessor; uint32_t shared_bytes_per_block;
    uint32_t registers_per_multiprocessor; uint32_t threads_per_multiprocessor; uint32_t blocks_per_multiprocessor;
    uint32_t pdl_disabled; void *context; uint32_t emulated; uint32_t reserved; const char *fallback;
    const char *driver_cache; const char *driver_cache_reason; uint64_t driver_cache_bytes;
} griddep_runtime_info;
typedef struct griddep_device_info {
    uint32_t size; int32_t device; int32_t capability; uint32_t multiprocessors; uint64_t memory_bytes;
    uint64_t l2_bytes; uint32_t shared_bytes_per_multiprocessor; uint32_t shared_bytes_per_block;
    uint32_t registers_per_multiprocessor; uint32_t threads_per_multiprocessor; uint32_t blocks_per_multiprocessor;
    uint32_t copy_engines; uint32_t pools; uint32_t integrated; uint32_t pci_domain; uint32_t pci_bus;
    uint32_t pci_device; uint32_t device_count; uint8_t uuid[16]; char name[256];
} griddep_device_info;
typedef struct griddep_stream_options {
    uint32_t size; uint32_t flags; int32_t priority; uint32_t reserved;
} griddep_stream_options;
typedef struct griddep_stream_info {
    uint32_t size; uint32_t flags; int32_t priority; uint32_t captured;
} griddep_stream_info;
typedef struct griddep_ptx_info {
    uint32_t size; uint32_t address_bits; const char *target; int32_t version; int32_t capability;
    uint32_t entry_count; uint32_t function_count;
} griddep_ptx_info;
typedef struct griddep_ptx_entry_info {
    uint32_t size; uint32_t traits; const char *name; int32_t line; int32_t column; uint32_t parameter_count;
    uint32_t parameter_bytes; uint32_t control_count; uint32_t instruction_count; uint32_t required_block[3];
    uint32_t maximum_block[3]; uint32_t required_cluster[3]; uint32_t reserved;
} griddep_ptx_entry_info;
typedef struct griddep_parameter_info {
    uint32_t size; uint32_t offset; uint32_t bytes; uint32_t alignment; const char *name; const char *type;
    uint32_t is_pointer; uint32_t reserved; const char *element;
} griddep_parameter_info;
typedef struct griddep_finding {
    uint32_t size; int32_t severity; const char *code; const char *file; const char *entry; const char *text;
    const char *hint; const char *quote; int32_t line; int32_t column; int32_t launch; uint32_t reserved;
    int32_t end_line; int32_t end_column; uint32_t edit_count; uint32_t is_certain; uint32_t related_count;
    int32_t source_line; const char *source_file;
} griddep_finding;
typedef struct griddep_edit {
    uint32_t size; uint32_t reserved; uint64_t offset; uint64_t bytes; const char *text; int32_t line;
    int32_t column; int32_t end_line; int32_t end_column;
} griddep_edit;
typedef struct griddep_related {
    uint32_t size; uint32_t reserved; const char *file; const char *text; int32_t line; int32_t column;
    int32_t end_line; int32_t end_column;
} griddep_related;
typedef struct griddep_check_options {
    uint32_t size; uint32_t flags; const char *const  *constants; uint32_t constant_count; uint32_t reserved;
} griddep_check_options;
typedef struct griddep_rewrite_options {
    uint32_t size; uint32_t flags; const char *entry; int32_t wait; int32_t trigger; int32_t trigger_line;
    uint32_t constant_count; const char *const  *constants; const char *prefetch; uint64_t prefetch_bytes;
    uint32_t trigger_round; uint32_t reserved;
} griddep_rewrite_options;
typedef struct griddep_header {
    const char *name; const char *text;
} griddep_header;
typedef struct griddep_module_options {
    uint32_t size; uint32_t flags; const char *name; int32_t optimization; uint32_t maximum_registers;
    const char *const  *compile_options; uint32_t compile_option_count; uint32_t reserved;
    const griddep_header *headers; const char *const  *name_expressions; uint32_t header_count;
    uint32_t name_expression_count;
} griddep_module_options;
typedef struct griddep_image_info {
    uint32_t size; int32_t kind; uint32_t part_count;
} griddep_image_info;
typedef struct griddep_image_part {
    uint32_t size; int32_t kind; int32_t architecture; int32_t suffix; uint32_t packed; uint32_t kernel_count;
    const void *data; uint64_t bytes;
} griddep_image_part;
typedef struct griddep_image_kernel {
    uint32_t size; uint32_t traits; const char *name;
} griddep_image_kernel;
typedef struct griddep_module_info {
    uint32_t size; int32_t image; const char *name; const char *log; const griddep_ptx *ptx; uint32_t from_store;
    uint32_t kernel_count; int32_t code; int32_t architecture;
} griddep_module_info;
typedef struct griddep_link_input {
    const void *image; uint64_t bytes; const char *name;
} griddep_link_input;
typedef struct griddep_kernel_info {
    uint32_t size; uint32_t traits; const char *name; void *function; uint32_t parameter_count;
    uint32_t parameter_bytes; uint32_t parameters_known; uint32_t registers; uint32_t static_shared_bytes;
    uint32_t local_bytes; uint32_t maximum_threads; uint32_t maximum_dynamic_shared_bytes;
    uint32_t required_block[3]; int32_t virtual_architecture; int32_t binary_version; uint32_t entry;
    const griddep_ptx *ptx;
} griddep_kernel_info;
typedef struct griddep_argument {
    uint32_t bytes; uint32_t reserved; uint64_t value; const void *data;
} griddep_argument;
typedef struct griddep_attribute {
    int32_t id; uint32_t reserved; uint64_t value[8];
} griddep_attribute;
typedef struct griddep_launch_config {
    uint32_t size; uint32_t flags; uint32_t grid[3]; uint32_t block[3]; uint32_t cluster[3]; uint32_t shared_bytes;
    int32_t pdl; uint32_t attribute_count; const griddep_attribute *attributes; void *stream; uint32_t lane;
    uint32_t reserved; const char *name;
} griddep_launch_config;
typedef struct griddep_requirement_info {
    uint32_t size; int32_t line; int32_t column; uint32_t reserved; const char *text; const char *reason;
} griddep_requirement_info;
typedef struct griddep_tensor_map {
    uint64_t opaque[16];
} griddep_tensor_map;
typedef struct griddep_tensor_options {
    uint32_t size; int32_t type; uint64_t address; uint32_t rank; int32_t interleave; int32_t swizzle;
    int32_t promotion; int32_t fill; uint32_t im2col; uint64_t dimensions[5]; uint64_t strides[4]; uint32_t steps[5];
    uint32_t box[5]; int32_t lower[3]; int32_t upper[3]; uint32_t channels; uint32_t pixels;
} griddep_tensor_options;
typedef struct griddep_hop_info {
    uint32_t size; int32_t reason; const char *kernel; int32_t edge; uint32_t lane; int32_t node; const char *name;
} griddep_hop_info;
typedef struct griddep_use {
    uint32_t size; uint32_t buffer; int32_t access; uint32_t reserved; uint64_t offset; uint64_t bytes;
    const char *element;
} griddep_use;
typedef struct griddep_group_options {
    uint32_t size; uint32_t timeout_ms; uint32_t join_ms; int32_t nccl; uint64_t nccl_bytes; uint32_t flags;
} griddep_group_options;
typedef struct griddep_group_info {
    uint32_t size; uint32_t count; uint32_t timeout_ms; uint32_t rank; uint64_t nccl_bytes;
} griddep_group_info;
typedef struct griddep_hop {
    uint32_t size; int32_t operation; int32_t type; int32_t root; int32_t to; int32_t from; uint64_t source;
    uint64_t target; uint64_t count;
} griddep_hop;
typedef struct griddep_graph_node_info {
    uint32_t size; int32_t type; const char *name; uint32_t traits; uint32_t before_count; uint32_t after_count;
    void *handle;
} griddep_graph_node_info;
typedef struct griddep_graph_edge_info {
    uint32_t size; uint32_t from; uint32_t to; int32_t asked; int32_t from_port; int32_t type; int32_t overlap;
    int32_t reason; uint32_t node; uint32_t races;
} griddep_graph_edge_info;
typedef struct griddep_tune_offer {
    uint32_t size; uint32_t launch; const uint32_t *grids; const int32_t *carveouts; uint32_t grid_count;
    uint32_t carveout_count;
} griddep_tune_offer;
typedef struct griddep_tune_buffer {
    uint32_t size; uint32_t compared; uint64_t address; uint64_t bytes; const void *initial;
} griddep_tune_buffer;
typedef struct griddep_tune_options {
    uint32_t size; uint32_t flags; int32_t mode; uint32_t pairs; double least_gain; const griddep_tune_offer *offers;
    uint32_t offer_count; uint32_t reserved; griddep_tune_progress progress; void *progress_user;
} griddep_tune_options;
typedef struct griddep_tune_trial {
    uint32_t size; int32_t outcome; uint32_t launch; uint32_t pairs; const char *kernel; const char *text;
    const char *detail; double ratio; double lowest; double highest; double again; double needed;
} griddep_tune_trial;
typedef struct griddep_tune_info {
    uint32_t size; uint32_t changed; int32_t mode; uint32_t remembered; uint32_t model; uint32_t launch_count;
    uint32_t trial_count; uint32_t ran_count; uint32_t stopped; uint32_t noise_pairs; double noise; double threshold;
    double baseline_ns; double chosen_ns; double ratio; double lowest; double highest; double last_ratio;
    double last_needed; uint32_t confirmations; uint32_t reserved;
} griddep_tune_info;
typedef struct griddep_tune_choice {
    uint32_t size; uint32_t changed; griddep_kernel *kernel; const griddep_ptx *ptx; uint32_t grid[3]; int32_t pdl;
    const char *text; int32_t carveout; uint32_t shared_bytes; uint32_t block[3]; uint32_t reserved;
} griddep_tune_choice;
typedef struct griddep_condition {
    uint32_t size; int32_t reason; int32_t met; int32_t decisive; const char *name; const char *text;
} griddep_condition;
typedef struct griddep_explanation_info {
    uint32_t size; int32_t overlap; int32_t reason; int32_t unmet; const char *producer; const char *consumer;
    const char *text; uint32_t condition_count; uint32_t reserved;
} griddep_explanation_info;
typedef struct griddep_timeline_options {
    uint32_t size; uint32_t flags; uint32_t blocks; uint32_t reserved;
} griddep_timeline_options;
typedef struct griddep_timeline_info {
    uint32_t size; int32_t mode; uint32_t launch_count; uint32_t multiprocessors; uint32_t emulated;
    uint32_t backward; uint64_t blocks; uint64_t blocks_kept; uint64_t origin; double span; double idle;
    double idle_share; double clock_step;
} griddep_timeline_info;
typedef struct griddep_timeline_launch {
    uint32_t size; uint32_t lane; const char *kernel; uint64_t blocks; uint32_t blocks_kept; uint32_t backward;
    uint32_t mark_count; uint32_t reserved; uint32_t registers; uint32_t plain_registers; double first_entry;
    double last_entry; double first_trigger; double last_trigger; double first_release; double last_release;
    double first_exit; double last_exit; double preamble; double wait_least; double wait_median; double wait_most;
} griddep_timeline_launch;
typedef struct griddep_timeline_hop {
    uint32_t size; uint32_t from; double handoff_gap; double launch_lead; double preamble_hidden; double overlap;
    double overlap_ratio; double idle_window; double idle; double idle_share;
} griddep_timeline_hop;
typedef struct griddep_shelf_info {
    uint32_t size; int32_t capability; const char *name; const char *family; const char *file; const char *text;
    uint64_t bytes;
} griddep_shelf_info;
int32_t griddep_version();
const char *griddep_version_text();
const char *griddep_status_name(int32_t status);
const char *griddep_text(int32_t kind, int32_t value);
void griddep_error_init(griddep_error *error);
int32_t griddep_constant_find(const char *name, int32_t *value, griddep_error *error);
const char *griddep_constant_name(uint32_t index, int32_t *value);
int32_t griddep_runtime_open(const griddep_runtime_options *options, griddep_runtime **runtime, griddep_error *error);
void griddep_runtime_close(griddep_runtime *runtime);
int32_t griddep_runtime_synchronize(griddep_runtime *runtime, griddep_error *error);
int32_t griddep_runtime_get_info(griddep_runtime *runtime, griddep_runtime_info *info, griddep_error *error);
int32_t griddep_device_get_info(const char *driver, int32_t device, griddep_device_info *info, griddep_error *error);
int32_t griddep_memory_allocate(griddep_runtime *runtime, uint64_t bytes, uint64_t *address, griddep_error *error);
int32_t griddep_memory_free(griddep_runtime *runtime, uint64_t address, griddep_error *error);
int32_t griddep_memory_write(griddep_runtime *runtime, uint64_t address, const void *source, uint64_t bytes, void *stream, griddep_error *error);
int32_t griddep_memory_read(griddep_runtime *runtime, void *target, uint64_t address, uint64_t bytes, void *stream, griddep_error *error);
int32_t griddep_memory_fill(griddep_runtime *runtime, uint64_t address, uint8_t value, uint64_t bytes, void *stream, griddep_error *error);
int32_t griddep_memory_write_async(griddep_runtime *runtime, uint64_t address, const void *source, uint64_t bytes, void *stream, griddep_error *error);
int32_t griddep_memory_read_async(griddep_runtime *runtime, void *target, uint64_t address, uint64_t bytes, void *stream, griddep_error *error);
int32_t griddep_memory_copy_async(griddep_runtime *runtime, uint64_t target, uint64_t source, uint64_t bytes, void *stream, griddep_error *error);
int32_t griddep_memory_fill_async(griddep_runtime *runtime, uint64_t address, uint32_t value, uint32_t element_bytes, uint64_t count, void *stream, griddep_error *error);
int32_t griddep_host_allocate(griddep_runtime *runtime, uint64_t bytes, uint32_t flags, void **memory, griddep_error *error);
int32_t griddep_host_free(griddep_runtime *runtime, void *memory, griddep_error *error);
int32_t griddep_stream_create(griddep_runtime *runtime, const griddep_stream_options *options, void **stream, griddep_error *error);
int32_t griddep_stream_destroy(griddep_runtime *runtime, void *stream, griddep_error *error);
int32_t griddep_stream_synchronize(griddep_runtime *runtime, void *stream, griddep_error *error);
int32_t griddep_stream_query(griddep_runtime *runtime, void *stream, uint32_t *done, griddep_error *error);
int32_t griddep_stream_get_info(griddep_runtime *runtime, void *stream, griddep_stream_info *info, griddep_error *error);
int32_t griddep_event_create(griddep_runtime *runtime, int32_t kind, void **event, griddep_error *error);
int32_t griddep_event_destroy(griddep_runtime *runtime, void *event, griddep_error *error);
int32_t griddep_event_record(griddep_runtime *runtime, void *event, void *stream, griddep_error *error);
int32_t griddep_event_synchronize(griddep_runtime *runtime, void *event, griddep_error *error);
int32_t griddep_event_elapsed(griddep_runtime *runtime, void *start, void *end, double *nanoseconds, griddep_error *error);
int32_t griddep_stream_wait_event(griddep_runtime *runtime, void *stream, void *event, griddep_error *error);
int32_t griddep_stream_add_host(griddep_runtime *runtime, void *stream, griddep_host_function function, void *user, griddep_error *error);
int32_t griddep_stream_notify(griddep_runtime *runtime, void *stream, griddep_notify_function function, void *user, griddep_error *error);
int32_t griddep_completion_create(griddep_runtime *runtime, griddep_completion **completion, griddep_error *error);
void griddep_completion_destroy(griddep_completion *completion);
int32_t griddep_completion_get_descriptor(const griddep_completion *completion, int32_t *descriptor, griddep_error *error);
int32_t griddep_completion_arm(griddep_completion *completion, void *stream, griddep_error *error);
int32_t griddep_completion_take(griddep_completion *completion, uint64_t *reached, griddep_error *error);
int32_t griddep_ptx_parse(const char *text, uint64_t bytes, const char *name, griddep_ptx **ptx, griddep_error *error);
void griddep_ptx_destroy(griddep_ptx *ptx);
int32_t griddep_ptx_get_info(const griddep_ptx *ptx, griddep_ptx_info *info, griddep_error *error);
int32_t griddep_ptx_get_entry(const griddep_ptx *ptx, uint32_t entry, griddep_ptx_entry_info *info, griddep_error *error);
int32_t griddep_ptx_get_parameter(const griddep_ptx *ptx, uint32_t entry, uint32_t index, griddep_parameter_info *info, griddep_error *error);
int32_t griddep_ptx_print(const griddep_ptx *ptx, char *buffer, uint64_t capacity, uint64_t *bytes, griddep_error *error);
uint32_t griddep_findings_count(const griddep_findings *findings);
int32_t griddep_findings_get(const griddep_findings *findings, uint32_t index, griddep_finding *finding, griddep_error *error);
int32_t griddep_findings_get_edit(const griddep_findings *findings, uint32_t index, uint32_t number, griddep_edit *edit, griddep_error *error);
int32_t griddep_findings_get_related(const griddep_findings *findings, uint32_t index, uint32_t number, griddep_related *related, griddep_error *error);
void griddep_findings_destroy(griddep_findings *findings);
int32_t griddep_ptx_check(const char *text, uint64_t bytes, const char *name, const griddep_check_options *options, griddep_findings **findings, griddep_error *error);
int32_t griddep_ptx_rewrite(const griddep_ptx *ptx, const griddep_rewrite_options *options, griddep_ptx **rewritten, griddep_findings **notes, griddep_error *error);
int32_t griddep_image_open(const void *data, uint64_t bytes, const char *name, griddep_image **image, griddep_error *error);
void griddep_image_destroy(griddep_image *image);
int32_t griddep_image_get_info(const griddep_image *image, griddep_image_info *info, griddep_error *error);
int32_t griddep_image_get_part(const griddep_image *image, uint32_t index, griddep_image_part *part, griddep_error *error);
int32_t griddep_image_get_kernel(const griddep_image *image, uint32_t part, uint32_t index, griddep_image_kernel *kernel, griddep_error *error);
int32_t griddep_module_load(griddep_runtime *runtime, const void *image, uint64_t bytes, const griddep_module_options *options, griddep_module **module, griddep_error *error);
int32_t griddep_module_load_file(griddep_runtime *runtime, const char *path, const griddep_module_options *options, griddep_module **module, griddep_error *error);
int32_t griddep_module_load_shelf(griddep_runtime *runtime, const char *name, const griddep_module_options *options, griddep_module **module, griddep_error *error);
int32_t griddep_module_compile(griddep_runtime *runtime, const char *source, uint64_t bytes, const griddep_module_options *options, griddep_module **module, griddep_error *error);
int32_t griddep_module_link(griddep_runtime *runtime, const griddep_link_input *inputs, uint32_t count, const griddep_module_options *options, griddep_module **module, griddep_error *error);
int32_t griddep_module_share(griddep_module *module, griddep_runtime *runtime, griddep_module **shared, griddep_error *error);
void griddep_module_unload(griddep_module *module);
int32_t griddep_module_get_info(griddep_module *module, griddep_module_info *info, griddep_error *error);
int32_t griddep_module_get_global(griddep_module *module, const char *name, uint64_t *address, uint64_t *bytes, griddep_error *error);
int32_t griddep_module_get_managed(griddep_module *module, const char *name, void **memory, uint64_t *bytes, griddep_error *error);
int32_t griddep_module_find_kernel(griddep_module *module, const char *name, griddep_kernel **kernel, griddep_error *error);
int32_t griddep_module_get_kernel(griddep_module *module, uint32_t index, griddep_kernel **kernel, griddep_error *error);
int32_t griddep_kernel_get_info(griddep_kernel *kernel, griddep_kernel_info *info, griddep_error *error);
int32_t griddep_kernel_get_parameter(griddep_kernel *kernel, uint32_t index, griddep_parameter_info *info, griddep_error *error);
int32_t griddep_kernel_state_traits(griddep_kernel *kernel, uint32_t traits, griddep_error *error);
int32_t griddep_launch(griddep_kernel *kernel, const griddep_launch_config *config, const griddep_argument *arguments, uint32_t argument_count, int32_t *reason, griddep_error *error);
int32_t griddep_launch_packed(griddep_kernel *kernel, const griddep_launch_config *config, const void *arguments, uint64_t bytes, int32_t *reason, griddep_error *error);
int32_t griddep_ptx_get_requirement(const griddep_ptx *ptx, uint32_t entry, uint32_t index, griddep_requirement_info *info, griddep_error *error);
int32_t griddep_ptx_check_launch(const griddep_ptx *ptx, uint32_t entry, const griddep_launch_config *config, const griddep_argument *arguments, uint32_t argument_count, griddep_error *error);
int32_t griddep_ptx_get_extent(const griddep_ptx *ptx, uint32_t entry, const griddep_launch_config *config, const griddep_argument *arguments, uint32_t argument_count, uint32_t parameter, uint64_t *bytes, griddep_error *error);
int32_t griddep_attribute_set(griddep_attribute *attribute, int32_t id, const int64_t *values, uint32_t count, griddep_error *error);
int32_t griddep_tensor_map_encode(griddep_runtime *runtime, const griddep_tensor_options *options, griddep_tensor_map *map, griddep_error *error);
int32_t griddep_mode_find(const char *name, int32_t *mode, griddep_error *error);
int32_t griddep_chain_create(griddep_runtime *runtime, griddep_chain **chain, griddep_error *error);
void griddep_chain_destroy(griddep_chain *chain);
int32_t griddep_chain_add(griddep_chain *chain, griddep_kernel *kernel, const griddep_launch_config *config, const griddep_argument *arguments, uint32_t argument_count, griddep_error *error);
int32_t griddep_chain_add_ptx(griddep_chain *chain, const griddep_ptx *ptx, const char *entry, const griddep_launch_config *config, const griddep_argument *arguments, uint32_t argument_count, griddep_error *error);
int32_t griddep_chain_add_copy(griddep_chain *chain, const griddep_launch_config *config, uint64_t target, uint64_t source, uint64_t bytes, griddep_error *error);
int32_t griddep_chain_add_fill(griddep_chain *chain, const griddep_launch_config *config, uint64_t address, uint8_t value, uint64_t bytes, griddep_error *error);
int32_t griddep_chain_add_host(griddep_chain *chain, const griddep_launch_config *config, griddep_host_function function, void *user, griddep_error *error);
int32_t griddep_chain_find(const griddep_chain *chain, const char *name, uint32_t *index, griddep_error *error);
int32_t griddep_chain_depend(griddep_chain *chain, uint32_t index, uint32_t on, griddep_error *error);
int32_t griddep_chain_set_name(griddep_chain *chain, uint32_t index, const char *name, griddep_error *error);
int32_t griddep_chain_set_traits(griddep_chain *chain, uint32_t index, uint32_t traits, griddep_error *error);
int32_t griddep_chain_add_buffer(griddep_chain *chain, uint64_t address, uint64_t bytes, griddep_error *error);
int32_t griddep_chain_set_use(griddep_chain *chain, uint32_t index, uint32_t argument, const griddep_use *use, griddep_error *error);
int32_t griddep_chain_set_reach(griddep_chain *chain, uint32_t index, const griddep_use *uses, uint32_t count, griddep_error *error);
int32_t griddep_chain_check(const griddep_chain *chain, griddep_findings **findings, griddep_error *error);
int32_t griddep_chain_set_arguments(griddep_chain *chain, uint32_t index, const griddep_argument *arguments, uint32_t argument_count, griddep_error *error);
int32_t griddep_chain_set_argument(griddep_chain *chain, uint32_t index, uint32_t argument, const griddep_argument *value, griddep_error *error);
int32_t griddep_chain_set_config(griddep_chain *chain, uint32_t index, const griddep_launch_config *config, griddep_error *error);
int32_t griddep_chain_set_copy(griddep_chain *chain, uint32_t index, uint64_t target, uint64_t source, uint64_t bytes, griddep_error *error);
int32_t griddep_chain_set_fill(griddep_chain *chain, uint32_t index, uint64_t address, uint8_t value, uint64_t bytes, griddep_error *error);
int32_t griddep_chain_add_argument_set(griddep_chain *chain, uint32_t *set, griddep_error *error);
int32_t griddep_chain_select_argument_set(griddep_chain *chain, uint32_t set, griddep_error *error);
int32_t griddep_chain_prepare(griddep_chain *chain, int32_t mode, griddep_error *error);
int32_t griddep_chain_run(griddep_chain *chain, int32_t mode, void *stream, griddep_error *error);
int32_t griddep_chain_run_many(griddep_chain *chain, int32_t mode, uint32_t rounds, void *stream, griddep_error *error);
uint32_t griddep_chain_length(const griddep_chain *chain);
int32_t griddep_chain_get_hop(griddep_chain *chain, int32_t mode, uint32_t index, griddep_hop_info *info, griddep_error *error);
int32_t griddep_group_open(griddep_runtime *const  *runtimes, uint32_t count, const griddep_group_options *options, griddep_group **group, griddep_error *error);
void griddep_group_close(griddep_group *group);
int32_t griddep_group_join(griddep_runtime *runtime, uint32_t rank, uint32_t count, const char *path, const griddep_group_options *options, griddep_group **group, griddep_error *error);
int32_t griddep_group_get_info(const griddep_group *group, griddep_group_info *info, griddep_error *error);
int32_t griddep_group_allocate(griddep_group *group, uint64_t bytes, uint32_t *buffer, griddep_error *error);
int32_t griddep_group_get_address(griddep_group *group, uint32_t buffer, uint32_t member, uint64_t *address, griddep_error *error);
int32_t griddep_group_status(const griddep_group *group, griddep_error *error);
int32_t griddep_chain_add_hop(griddep_chain *chain, griddep_group *group, const griddep_launch_config *config, const griddep_hop *hop, griddep_error *error);
int32_t griddep_graph_create(griddep_runtime *runtime, griddep_graph **graph, griddep_error *error);
void griddep_graph_destroy(griddep_graph *graph);
int32_t griddep_graph_add_kernel(griddep_graph *graph, griddep_kernel *kernel, const griddep_launch_config *config, const griddep_argument *arguments, uint32_t argument_count, uint32_t *node, griddep_error *error);
int32_t griddep_graph_add_fill(griddep_graph *graph, uint64_t address, uint8_t value, uint64_t bytes, uint32_t *node, griddep_error *error);
int32_t griddep_graph_add_copy(griddep_graph *graph, uint64_t target, uint64_t source, uint64_t bytes, uint32_t *node, griddep_error *error);
int32_t griddep_graph_add_host(griddep_graph *graph, griddep_host_function function, void *user, uint32_t *node, griddep_error *error);
int32_t griddep_graph_add_edge(griddep_graph *graph, uint32_t from, uint32_t to, int32_t from_port, int32_t type, griddep_error *error);
int32_t griddep_graph_remove_edge(griddep_graph *graph, uint32_t edge, griddep_error *error);
int32_t griddep_graph_from_chain(griddep_chain *chain, int32_t mode, griddep_graph **graph, griddep_error *error);
int32_t griddep_graph_capture_begin(griddep_runtime *runtime, void *stream, griddep_error *error);
int32_t griddep_graph_capture_end(griddep_runtime *runtime, void *stream, griddep_graph **graph, griddep_error *error);
int32_t griddep_graph_adopt(griddep_runtime *runtime, void *cuda_graph, uint32_t flags, griddep_graph **graph, griddep_error *error);
int32_t griddep_graph_describe(griddep_graph *graph, uint32_t node, const griddep_ptx *ptx, const char *entry, griddep_error *error);
int32_t griddep_graph_instantiate(griddep_graph *graph, griddep_error *error);
int32_t griddep_graph_launch(griddep_graph *graph, void *stream, griddep_error *error);
int32_t griddep_graph_set_arguments(griddep_graph *graph, uint32_t node, const griddep_argument *arguments, uint32_t argument_count, griddep_error *error);
int32_t griddep_graph_set_config(griddep_graph *graph, uint32_t node, const griddep_launch_config *config, griddep_error *error);
uint32_t griddep_graph_node_count(const griddep_graph *graph);
uint32_t griddep_graph_edge_count(const griddep_graph *graph);
int32_t griddep_graph_get_node(const griddep_graph *graph, uint32_t index, griddep_graph_node_info *info, griddep_error *error);
int32_t griddep_graph_get_edge(const griddep_graph *graph, uint32_t index, griddep_graph_edge_info *info, griddep_error *error);
int32_t griddep_graph_upgrade(griddep_graph *graph, uint32_t *count, griddep_error *error);
int32_t griddep_graph_print(const griddep_graph *graph, int32_t format, char *buffer, uint64_t capacity, uint64_t *bytes, griddep_error *error);
int32_t griddep_tune_run(griddep_chain *chain, const griddep_tune_buffer *buffers, uint32_t buffer_count, const griddep_tune_options *options, griddep_tune **tune, griddep_error *error);
int32_t griddep_tune_load(griddep_chain *chain, int32_t mode, griddep_tune **tune, griddep_error *error);
int32_t griddep_tune_get_info(const griddep_tune *tune, griddep_tune_info *info, griddep_error *error);
int32_t griddep_tune_get_trial(const griddep_tune *tune, uint32_t index, griddep_tune_trial *trial, griddep_error *error);
int32_t griddep_tune_get_choice(const griddep_tune *tune, uint32_t launch, griddep_tune_choice *choice, griddep_error *error);
void griddep_tune_destroy(griddep_tune *tune);
int32_t griddep_chain_explain(griddep_chain *chain, int32_t mode, uint32_t index, griddep_explanation **explanation, griddep_error *error);
void griddep_explanation_destroy(griddep_explanation *explanation);
int32_t griddep_explanation_get(const griddep_explanation *explanation, uint32_t index, griddep_condition *condition, griddep_error *error);
int32_t griddep_explanation_get_info(const griddep_explanation *explanation, griddep_explanation_info *info, griddep_error *error);
int32_t griddep_timeline_create(griddep_chain *chain, const griddep_timeline_options *options, griddep_timeline **timeline, griddep_error *error);
void griddep_timeline_destroy(griddep_timeline *timeline);
int32_t griddep_timeline_run(griddep_timeline *timeline, int32_t mode, void *stream, griddep_error *error);
griddep_chain *griddep_timeline_get_chain(griddep_timeline *timeline);
int32_t griddep_timeline_get_info(griddep_timeline *timeline, griddep_timeline_info *info, griddep_error *error);
int32_t griddep_timeline_get_launch(griddep_timeline *timeline, uint32_t index, griddep_timeline_launch *launch, griddep_error *error);
int32_t griddep_timeline_get_hop(griddep_timeline *timeline, uint32_t index, griddep_timeline_hop *hop, griddep_error *error);
const char *griddep_timeline_get_mark(griddep_timeline *timeline, uint32_t index, uint32_t mark);
int32_t griddep_timeline_read(griddep_timeline *timeline, uint32_t index, int32_t column, int64_t *values, uint64_t capacity, uint64_t *count, griddep_error *error);
int32_t griddep_shelf_get(uint32_t index, griddep_shelf_info *info, griddep_error *error);
int32_t griddep_shelf_find(const char *name, int32_t capability, griddep_shelf_info *info, griddep_error *error);
int32_t griddep_shelf_suggest(const char *kernel, const griddep_runtime_info *device, const griddep_argument *arguments, uint32_t argument_count, griddep_launch_config *config, griddep_error *error);
int32_t griddep_shelf_field(const char *text, uint64_t text_bytes, const char *field, char *buffer, uint64_t capacity, uint64_t *bytes, griddep_error *error);
]])
-- ---- end of generated
ffi.cdef("int getpid(void);")

local found, C = pcall(ffi.load, os.getenv("GRIDDEP_LIBRARY") or "libgriddep.so.0")
if not found then error(C .. " (GRIDDEP_LIBRARY may name the library's path)", 0) end
local griddep = {C = C}

setmetatable(griddep, {__index = function(_, name)
    local known, value = pcall(function() return C["GRIDDEP_" .. name] end)
    return known and value or nil
end})

-- ---- errors

local Error = {}
Error.__index = Error
Error.__tostring = function(self) return self.name .. ": " .. self.text end

local function new(type, fields)
    local made = ffi.new(type, fields or {})
    made.size = ffi.sizeof(type)
    return made
end

local function text(pointer)
    return pointer ~= nil and ffi.string(pointer) or nil
end

-- Fails as the library does where an argument cannot be used.
local function refuse(problem)
    error(setmetatable({status = C.GRIDDEP_ERROR_ARGUMENT, name = "GRIDDEP_ERROR_ARGUMENT", text = problem, file = "", line = 0, column = 0, driver_code = 0}, Error), 0)
end

local SIGNED = {uint8_t = "int8_t", uint16_t = "int16_t", uint32_t = "int32_t", uint64_t = "int64_t"}

-- A number as an array of one C value; FFI itself cuts what does not fit. A kernel's parameter may be signed where its type is not.
local function exact(ctype, value, name, either_sign)
    local made, given = ffi.new(ctype .. "[1]", value), tonumber(value)
    local same = ctype == "float" or ctype == "double" or tonumber(made[0]) == given
    if not same and not (either_sign and SIGNED[ctype] and tonumber(ffi.cast(SIGNED[ctype], ffi.cast("int64_t", made[0]))) == given) then
        refuse(name .. " is " .. tostring(value) .. ", which is no " .. ctype)
    end
    return made
end

-- Sets a field of a struct.
local function set(struct, name, value)
    struct[name] = value
    if type(value) == "number" and tonumber(struct[name]) ~= value then refuse(name .. " is " .. value .. ", which does not fit") end
end

-- The handle of an object, or whatever else was given.
local function handle_of(object, class, what)
    if getmetatable(object) ~= class then return object end
    return object.handle or refuse("the " .. what .. " has been closed")
end

-- Calls a function whose last parameter is a griddep_error.
local function call(name, ...)
    local err = new("griddep_error")
    local arguments = {...}
    local count = select("#", ...)
    arguments[count + 1] = err
    local status = C["griddep_" .. name](unpack(arguments, 1, count + 1))
    if status ~= 0 then
        error(setmetatable({
            status = status, name = text(C.griddep_status_name(status)), text = ffi.string(err.text),
            file = ffi.string(err.file), line = err.line, column = err.column, driver_code = err.driver_code,
        }, Error), 0)
    end
end

-- ---- ends

-- A finalizer for one object of this process: a child of fork ends nothing, since a CUDA context stays with its process.
local function finalizer(finish)
    local process = ffi.C.getpid()
    return function(handle)
        if ffi.C.getpid() == process then finish(handle) end
    end
end

local function close(self)
    local handle = self.handle
    if handle == nil then return end
    ffi.gc(handle, nil)
    self.finish(handle)
    self.handle, self.address = nil, nil
end

local function own(self, handle, finish)
    self.finish = finalizer(finish)
    self.handle = ffi.gc(handle, self.finish)
    return self
end

-- The runtime's memory and streams need it to be ended, and finalizers run in any order: the last of them closes it.
local function hold(held)
    held.count = held.count + 1
    return held
end

local function release(held)
    held.count = held.count - 1
    if held.count == 0 then C.griddep_runtime_close(held.runtime) end
end

-- ---- log: one callback for the process, which finds the function by its number. An error must not pass through C.

local log_functions = {}
local log_callback

local function register_log(log)
    log_callback = log_callback or ffi.cast("griddep_log_function", function(user, level, message)
        pcall(log_functions[tonumber(ffi.cast("uintptr_t", user))], level, ffi.string(message))
    end)
    log_functions[#log_functions + 1] = log
    return log_callback, ffi.cast("void *", #log_functions)
end

-- ---- objects

local Runtime, Module, Kernel, Chain, Memory, Stream, Completion = {}, {}, {}, {}, {}, {}, {}
for _, class in ipairs({Runtime, Module, Kernel, Chain, Memory, Stream, Completion}) do
    class.__index = class
    class.close = close
end

-- options: fields of griddep_runtime_options, and log = function(level, message)
function griddep.open(options)
    local fields, anchors = new("griddep_runtime_options"), {}
    for name, value in pairs(options or {}) do
        if name == "log" then
            fields.log, fields.log_user = register_log(value)
        else
            set(fields, name, value)
            anchors[name] = value
        end
    end
    if options and options.device then fields.flags = C.GRIDDEP_RUNTIME_DEVICE end
    local handle = ffi.new("griddep_runtime *[1]")
    call("runtime_open", fields, handle)
    local self = setmetatable({hold = {runtime = handle[0], count = 1}}, Runtime)
    return own(self, handle[0], function() release(self.hold) end)
end

local function info_of(type, name, handle, ...)
    local info = new(type)
    local arguments = {...}
    arguments[#arguments + 1] = info
    call(name, handle, unpack(arguments))
    return info
end

function Runtime:info() return info_of("griddep_runtime_info", "runtime_get_info", self.handle) end

local function load_with(self, name, ...)
    local handle = ffi.new("griddep_module *[1]")
    local arguments = {...}
    arguments[#arguments + 1] = handle
    call(name, self.handle, unpack(arguments))
    return own(setmetatable({runtime = self}, Module), handle[0], C.griddep_module_unload)
end

-- PTX text, a cubin or a fatbin, in a string; flags: MODULE_*.
function Runtime:load(image, name, flags)
    local options = new("griddep_module_options", {name = name, flags = flags})
    return load_with(self, "module_load", image, #image, options)
end

-- The same from a file; one whose name ends in .cu is compiled with NVRTC.
function Runtime:load_file(path, name, flags)
    return load_with(self, "module_load_file", path, new("griddep_module_options", {name = name, flags = flags}))
end

-- One module of several PTX texts, relocatable cubins, fatbins and archives, in a list of strings.
function Runtime:link(images, name)
    local inputs = ffi.new("griddep_link_input[?]", #images + 1)
    for i, image in ipairs(images) do
        inputs[i - 1].image, inputs[i - 1].bytes = ffi.cast("const char *", image), #image
    end
    return load_with(self, "module_link", inputs, #images, new("griddep_module_options", {name = name}))
end

function Runtime:load_shelf(kernel) return load_with(self, "module_load_shelf", kernel, new("griddep_module_options")) end

function Runtime:allocate(bytes)
    local address = ffi.new("uint64_t[1]")
    call("memory_allocate", self.handle, exact("uint64_t", bytes, "bytes")[0], address)
    local held = hold(self.hold)
    return own(setmetatable({address = address[0], bytes = bytes}, Memory), address, function(kept)
        C.griddep_memory_free(held.runtime, kept[0], nil)
        release(held)
    end)
end

local function address_of(memory)
    local handle = handle_of(memory, Memory, "memory")
    return handle == memory and memory or handle[0]
end
local function stream_of(stream) return handle_of(stream, Stream, "stream") end

-- The address of memory that has so many bytes, as far as that is known.
local function place_of(memory, bytes)
    local address = address_of(memory)
    if getmetatable(memory) == Memory and bytes > memory.bytes then refuse(bytes .. " bytes do not fit into memory of " .. memory.bytes) end
    return address
end

-- Host data is a cdata array or struct; its size says how much is copied.
function Runtime:write(memory, data, stream)
    local bytes = ffi.sizeof(data)
    call("memory_write", self.handle, place_of(memory, bytes), data, bytes, stream_of(stream))
end

function Runtime:read(memory, data, stream)
    local bytes = ffi.sizeof(data)
    call("memory_read", self.handle, data, place_of(memory, bytes), bytes, stream_of(stream))
    return data
end

function Runtime:copy_in(data, stream)
    local memory = self:allocate(ffi.sizeof(data))
    self:write(memory, data, stream)
    return memory
end

-- options: priority, and blocking: whether it and the legacy default stream wait for each other.
function Runtime:stream(options)
    local given, handle = new("griddep_stream_options"), ffi.new("void *[1]")
    set(given, "priority", options and options.priority or 0)
    given.flags = options and options.blocking and C.GRIDDEP_STREAM_BLOCKING or 0
    call("stream_create", self.handle, given, handle)
    local held = hold(self.hold)
    return own(setmetatable({}, Stream), handle[0], function(stream)
        C.griddep_stream_destroy(held.runtime, stream, nil)
        release(held)
    end)
end

function Runtime:synchronize(stream) call("stream_synchronize", self.handle, stream_of(stream)) end

-- Whether all that a stream was given is over.
function Runtime:query(stream)
    local done = ffi.new("uint32_t[1]")
    call("stream_query", self.handle, stream_of(stream), done)
    return done[0] ~= 0
end

-- Copies and fills that do not wait; elements have 1, 2 or 4 bytes.
function Runtime:copy(target, source, bytes, stream)
    call("memory_copy_async", self.handle, place_of(target, bytes), place_of(source, bytes), bytes, stream_of(stream))
end

function Runtime:fill(target, value, count, element_bytes, stream)
    local bytes = element_bytes or 1
    call("memory_fill_async", self.handle, place_of(target, count * bytes), exact("uint32_t", value, "value")[0], bytes, count, stream_of(stream))
end

-- A file descriptor that becomes readable when a position in a stream is reached: descriptor(), arm(stream), take(). LuaJIT has no
-- function that other threads may call, so griddep_stream_add_host and griddep_stream_notify are not for it.
function Runtime:completion()
    local handle = ffi.new("griddep_completion *[1]")
    call("completion_create", self.handle, handle)
    return own(setmetatable({runtime = self}, Completion), handle[0], C.griddep_completion_destroy)
end

function Completion:descriptor()
    local found = ffi.new("int32_t[1]")
    call("completion_get_descriptor", self.handle, found)
    return found[0]
end

function Completion:arm(stream) call("completion_arm", self.handle, stream_of(stream)) end

-- How many positions have been reached since the last take; a fault is an error once.
function Completion:take()
    local reached = ffi.new("uint64_t[1]")
    call("completion_take", self.handle, reached)
    return tonumber(reached[0])
end

-- What each device of a driver is like; no runtime is opened.
function griddep.devices(driver)
    local count, found = 1, {}
    while #found < count do
        local info = info_of("griddep_device_info", "device_get_info", driver, #found)
        count = info.device_count
        found[#found + 1] = {device = info.device, name = ffi.string(info.name), capability = info.capability, memory_bytes = info.memory_bytes}
    end
    return found
end

-- Nanoseconds between events before and after what the function puts into the stream.
function Runtime:time(work, stream)
    local events, elapsed = {}, ffi.new("double[1]")
    for i = 1, 2 do
        local event = ffi.new("void *[1]")
        call("event_create", self.handle, C.GRIDDEP_EVENT_TIMING, event)
        events[i] = event[0]
    end
    local worked, problem = pcall(function()
        call("event_record", self.handle, events[1], stream_of(stream))
        work()
        call("event_record", self.handle, events[2], stream_of(stream))
        call("event_elapsed", self.handle, events[1], events[2], elapsed)
    end)
    for _, event in ipairs(events) do call("event_destroy", self.handle, event) end
    if not worked then error(problem, 0) end
    return elapsed[0]
end

function Runtime:chain()
    local handle = ffi.new("griddep_chain *[1]")
    call("chain_create", self.handle, handle)
    return own(setmetatable({runtime = self, kept = {{}}, set = 1}, Chain), handle[0], C.griddep_chain_destroy)
end

-- A kernel keeps its module.
function Module:kernel(name)
    local handle = ffi.new("griddep_kernel *[1]")
    call("module_find_kernel", self.handle, name, handle)
    local kernel = setmetatable({module = self, handle = handle[0], parameters = {}}, Kernel)
    for index = 1, kernel:info().parameter_count do
        local info = info_of("griddep_parameter_info", "kernel_get_parameter", kernel.handle, index - 1)
        kernel.parameters[index] = {name = text(info.name), type = text(info.type), bytes = info.bytes}
    end
    return kernel
end

function Module:info() return info_of("griddep_module_info", "module_get_info", self.handle) end

-- Address and bytes of a module-scope variable.
function Module:variable(name)
    local address, bytes = ffi.new("uint64_t[1]"), ffi.new("uint64_t[1]")
    call("module_get_global", self.handle, name, address, bytes)
    return address[0], tonumber(bytes[0])
end

-- A managed variable as an array of a C type, "uint32_t", and its elements: for use while no kernel uses it, as long as the module lives.
function Module:managed(name, ctype)
    local memory, bytes = ffi.new("void *[1]"), ffi.new("uint64_t[1]")
    call("module_get_managed", self.handle, name, memory, bytes)
    return ffi.cast(ctype .. " *", memory[0]), tonumber(bytes[0]) / ffi.sizeof(ctype)
end

-- The module, which was loaded with MODULE_LIBRARY, in another runtime; its code is not given to the driver again.
function Module:share(runtime)
    local handle = ffi.new("griddep_module *[1]")
    call("module_share", self.handle, runtime.handle, handle)
    return own(setmetatable({runtime = runtime}, Module), handle[0], C.griddep_module_unload)
end

function Kernel:info() return info_of("griddep_kernel_info", "kernel_get_info", self.handle) end

-- Vouches for TRAIT_* of code that the library cannot read, before the kernel is used: griddep_kernel_state_traits tells for what.
function Kernel:state_traits(traits) call("kernel_state_traits", self.handle, exact("uint32_t", traits, "traits")[0]) end

local C_TYPES = {
    u8 = "uint8_t", u16 = "uint16_t", u32 = "uint32_t", u64 = "uint64_t", s8 = "int8_t", s16 = "int16_t", s32 = "int32_t",
    s64 = "int64_t", b8 = "uint8_t", b16 = "uint16_t", b32 = "uint32_t", b64 = "uint64_t", f32 = "float", f64 = "double",
}

-- One argument: a number as the kernel declares it, memory by its address, any other cdata or string by its bytes.
local function fill_argument(argument, value, parameter, index, kept)
    if not parameter then return end -- one too many, which the library reports
    value = address_of(value)
    local type = C_TYPES[parameter.type]
    if tonumber(value) and type and ffi.sizeof(type) == parameter.bytes and _G.type(value) ~= "string" then
        value = exact(type, value, "argument " .. index, true)
    elseif _G.type(value) == "number" or value == nil or _G.type(value) == "table" then
        error("argument " .. index .. ": give it as cdata or as a string of bytes", 0)
    end
    kept[index] = value
    argument.bytes = _G.type(value) == "string" and #value or ffi.sizeof(value)
    argument.data = _G.type(value) == "string" and ffi.cast("const char *", value) or value
end

-- The array of arguments, and what must live as long.
local function pack(kernel, arguments)
    if not kernel.module.handle then refuse("the kernel's module has been closed") end
    local count = math.max(#arguments, table.maxn(arguments))
    local array, kept = ffi.new("griddep_argument[?]", count), {}
    for index = 1, count do
        fill_argument(array[index - 1], arguments[index], kernel.parameters[index], index, kept)
    end
    return array, count, kept
end

local function config_of(options)
    local config = new("griddep_launch_config")
    for name, value in pairs(options) do
        if name == "stream" then
            config.stream = stream_of(value)
        elseif name == "grid" or name == "block" or name == "cluster" then
            for i, extent in ipairs(type(value) == "table" and value or {value}) do
                if i > 3 then refuse(name .. " has more than three dimensions") end
                config[name][i - 1] = exact("uint32_t", extent, name)[0]
            end
        else
            set(config, name, value)
        end
    end
    return config
end

-- options: grid and block (a number, or a table of up to three), stream, and other fields of griddep_launch_config. Asynchronous.
-- Returns a REASON_*: whether the launch may overlap what is before it, and why.
function Kernel:launch(options, arguments)
    local array, count, kept = pack(self, arguments)
    local reason = ffi.new("int32_t[1]")
    call("launch", self.handle, config_of(options), array, count, reason)
    kept[1] = nil -- used after the call, so that it lives until then
    return reason[0]
end

local function mode_of(mode)
    if type(mode) == "number" then return mode end
    local value = ffi.new("int32_t[1]")
    call("mode_find", mode, value)
    return value[0]
end

-- Launches are numbered from 1, and sets of arguments too; where a number is asked for, a launch's name does as well. The chain keeps the
-- memory that its arguments name. Host functions are not for Lua, which the driver's threads cannot call.
local function index_of(chain, launch)
    if type(launch) == "number" then return launch - 1 end
    local index = ffi.new("uint32_t[1]")
    call("chain_find", chain.handle, launch, index)
    return index[0]
end

local function keep(chain, index, what)
    chain.kept[chain.set][index + 1] = what
end

local function added(chain, what)
    local index = C.griddep_chain_length(chain.handle)
    for _, kept in ipairs(chain.kept) do kept[index] = what end
    return index
end

function Chain:add(kernel, options, arguments)
    local array, count, kept = pack(kernel, arguments)
    call("chain_add", self.handle, kernel.handle, config_of(options), array, count)
    return added(self, {kernel, arguments, kept})
end

-- options (may be nil): lane and name. A copy or a fill ends the overlap of the kernels at its sides.
function Chain:copy(target, source, bytes, options)
    call("chain_add_copy", self.handle, config_of(options or {}), place_of(target, bytes), place_of(source, bytes), bytes)
    return added(self, {nil, target, source})
end

function Chain:fill(memory, value, bytes, options)
    call("chain_add_fill", self.handle, config_of(options or {}), place_of(memory, bytes), exact("uint8_t", value, "value")[0], bytes)
    return added(self, {nil, memory})
end

function Chain:find(name) return index_of(self, name) + 1 end

function Chain:depend(launch, on) call("chain_depend", self.handle, index_of(self, launch), index_of(self, on)) end

-- What a launch reaches at addresses that no argument gives it: {memory, bytes, griddep.ACCESS_*} each, and all that there is.
function Chain:reaches(launch, places)
    local uses = ffi.new("griddep_use[?]", #places)
    for i, place in ipairs(places) do
        uses[i - 1] = new("griddep_use", {access = place[3], offset = place_of(place[1], place[2]), bytes = place[2]})
    end
    call("chain_set_reach", self.handle, index_of(self, launch), uses, #places)
end

-- Changes for the runs that follow, in every mode.
function Chain:set_arguments(launch, arguments)
    local index = index_of(self, launch)
    local kernel = (self.kept[self.set][index + 1] or {})[1]
    if not kernel then refuse("launch " .. (index + 1) .. " is none of a kernel") end
    local array, count, kept = pack(kernel, arguments)
    call("chain_set_arguments", self.handle, index, array, count)
    keep(self, index, {kernel, arguments, kept})
end

function Chain:set_config(launch, options) call("chain_set_config", self.handle, index_of(self, launch), config_of(options)) end

function Chain:set_copy(launch, target, source, bytes)
    local index = index_of(self, launch)
    call("chain_set_copy", self.handle, index, place_of(target, bytes), place_of(source, bytes), bytes)
    keep(self, index, {nil, target, source})
end

function Chain:set_fill(launch, memory, value, bytes)
    local index = index_of(self, launch)
    call("chain_set_fill", self.handle, index, place_of(memory, bytes), exact("uint8_t", value, "value")[0], bytes)
    keep(self, index, {nil, memory})
end

-- One more set, as the selected one is now; and the one that runs and changes are about.
function Chain:add_argument_set()
    local set, kept = ffi.new("uint32_t[1]"), {}
    call("chain_add_argument_set", self.handle, set)
    for index, what in pairs(self.kept[self.set]) do kept[index] = what end
    self.kept[set[0] + 1] = kept
    return set[0] + 1
end

function Chain:select_argument_set(set)
    call("chain_select_argument_set", self.handle, set - 1)
    self.set = set
end

-- Back to back; where the check allows it, round overlaps round: hop(mode, length + 1) tells.
function Chain:run_many(rounds, mode, stream)
    call("chain_run_many", self.handle, mode_of(mode or "graph-pdl"), exact("uint32_t", rounds, "rounds")[0], stream_of(stream))
end

function Chain:prepare(mode) call("chain_prepare", self.handle, mode_of(mode)) end

-- In one of the modes serial, pdl, graph and graph-pdl; asynchronous.
function Chain:run(mode, stream) call("chain_run", self.handle, mode_of(mode or "graph-pdl"), stream_of(stream)) end

function Chain:length() return C.griddep_chain_length(self.handle) end

-- What happens at a launch.
function Chain:hop(mode, index)
    local info = info_of("griddep_hop_info", "chain_get_hop", self.handle, mode_of(mode), index_of(self, index))
    return {kernel = text(info.kernel), reason = info.reason, edge = info.edge}
end

function griddep.reason_text(reason) return text(C.griddep_text(C.GRIDDEP_TEXT_REASON, reason)) end

return griddep
