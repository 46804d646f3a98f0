# libgriddep for Ruby: programmatic dependent launch for PTX, through Fiddle of the standard library.
#
#     require "griddep"
#
#     Griddep.open do |runtime|
#       kernel = runtime.load(ptx).kernel("scale")
#       kernel.launch([x, 0.5, count], grid: 132, block: 256, stream: stream)
#     end
#
# The library is $GRIDDEP_LIBRARY, or libgriddep.so.0 as the loader finds it. What fails raises Griddep::Error. Arguments are converted to
# what the kernel's PTX declares; device memory is a Memory or an Integer, its address. Everything else of griddep.h is in Griddep::Raw.
# doc/languages.md tells about threads, finalizers, callbacks and fork.

require "fiddle/import"

module Griddep
  # The declarations of griddep.h: constants without their prefix, structs, functions under their own names.
  module Raw
    extend Fiddle::Importer
    begin
      dlload ENV.fetch("GRIDDEP_LIBRARY", "libgriddep.so.0")
    rescue Fiddle::DLError => problem
      raise LoadError, "#{problem.message} (GRIDDEP_LIBRARY may name the library's path)"
    end

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

    CError = struct([
      "uint32_t size", "int32_t status", "int32_t driver_code", "int32_t line", "int32_t column", "char file[260]",
      "char text[2048]",
    ])

    CRuntimeOptions = struct([
      "uint32_t size", "uint32_t flags", "void *driver", "void *context", "int32_t device", "int32_t pdl",
      "void *store_directory", "void *nvrtc", "void *log", "void *log_user", "int32_t log_level",
      "uint32_t reserved", "uint32_t multiprocessors", "uint32_t part",
    ])

    CRuntimeInfo = struct([
      "uint32_t size", "uint32_t features", "void *driver", "void *device_name", "void *store_directory",
      "int32_t driver_version", "int32_t device", "int32_t capability", "int32_t multiprocessors",
      "uint64_t memory_bytes", "uint64_t l2_bytes", "uint32_t shared_bytes_per_multiprocessor",
      "uint32_t shared_bytes_per_block", "uint32_t registers_per_multiprocessor",
      "uint32_t threads_per_multiprocessor", "uint32_t blocks_per_multiprocessor", "uint32_t pdl_disabled",
      "void *context", "uint32_t emulated", "uint32_t reserved", "void *fallback", "void *driver_cache",
      "void *driver_cache_reason", "uint64_t driver_cache_bytes",
    ])

    CDeviceInfo = struct([
      "uint32_t size", "int32_t device", "int32_t capability", "uint32_t multiprocessors", "uint64_t memory_bytes",
      "uint64_t l2_bytes", "uint32_t shared_bytes_per_multiprocessor", "uint32_t shared_bytes_per_block",
      "uint32_t registers_per_multiprocessor", "uint32_t threads_per_multiprocessor",
      "uint32_t blocks_per_multiprocessor", "uint32_t copy_engines", "uint32_t pools", "uint32_t integrated",
      "uint32_t pci_domain", "uint32_t pci_bus", "uint32_t pci_device", "uint32_t device_count", "uint8_t uuid[16]",
      "char name[256]",
    ])

    CStreamOptions = struct([
      "uint32_t size", "uint32_t flags", "int32_t priority", "uint32_t reserved",
    ])

    CStreamInfo = struct([
      "uint32_t size", "uint32_t flags", "int32_t priority", "uint32_t captured",
    ])

    CPtxInfo = struct([
      "uint32_t size", "uint32_t address_bits", "void *target", "int32_t version", "int32_t capability",
      "uint32_t entry_count", "uint32_t function_count",
    ])

    CPtxEntryInfo = struct([
      "uint32_t size", "uint32_t traits", "void *name", "int32_t line", "int32_t column", "uint32_t parameter_count",
      "uint32_t parameter_bytes", "uint32_t control_count", "uint32_t instruction_count",
      "uint32_t required_block[3]", "uint32_t maximum_block[3]", "uint32_t required_cluster[3]", "uint32_t reserved",
    ])

    CParameterInfo = struct([
      "uint32_t size", "uint32_t offset", "uint32_t bytes", "uint32_t alignment", "void *name", "void *type",
      "uint32_t is_pointer", "uint32_t reserved", "void *element",
    ])

    CFinding = struct([
      "uint32_t size", "int32_t severity", "void *code", "void *file", "void *entry", "void *text", "void *hint",
      "void *quote", "int32_t line", "int32_t column", "int32_t launch", "uint32_t reserved", "int32_t end_line",
      "int32_t end_column", "uint32_t edit_count", "uint32_t is_certain", "uint32_t related_count",
      "int32_t source_line", "void *source_file",
    ])

    CEdit = struct([
      "uint32_t size", "uint32_t reserved", "uint64_t offset", "uint64_t bytes", "void *text", "int32_t line",
      "int32_t column", "int32_t end_line", "int32_t end_column",
    ])

    CRelated = struct([
      "uint32_t size", "uint32_t reserved", "void *file", "void *text", "int32_t line", "int32_t column",
      "int32_t end_line", "int32_t end_column",
    ])

    CCheckOptions = struct([
      "uint32_t size", "uint32_t flags", "void *constants", "uint32_t constant_count", "uint32_t reserved",
    ])

    CRewriteOptions = struct([
      "uint32_t size", "uint32_t flags", "void *entry", "int32_t wait", "int32_t trigger", "int32_t trigger_line",
      "uint32_t constant_count", "void *constants", "void *prefetch", "uint64_t prefetch_bytes",
      "uint32_t trigger_round", "uint32_t reserved",
    ])

    CHeader = struct([
      "void *name", "void *text",
    ])

    CModuleOptions = struct([
      "uint32_t size", "uint32_t flags", "void *name", "int32_t optimization", "uint32_t maximum_registers",
      "void *compile_options", "uint32_t compile_option_count", "uint32_t reserved", "void *headers",
      "void *name_expressions", "uint32_t header_count", "uint32_t name_expression_count",
    ])

    CImageInfo = struct([
      "uint32_t size", "int32_t kind", "uint32_t part_count",
    ])

    CImagePart = struct([
      "uint32_t size", "int32_t kind", "int32_t architecture", "int32_t suffix", "uint32_t packed",
      "uint32_t kernel_count", "void *data", "uint64_t bytes",
    ])

    CImageKernel = struct([
      "uint32_t size", "uint32_t traits", "void *name",
    ])

    CModuleInfo = struct([
      "uint32_t size", "int32_t image", "void *name", "void *log", "void *ptx", "uint32_t from_store",
      "uint32_t kernel_count", "int32_t code", "int32_t architecture",
    ])

    CLinkInput = struct([
      "void *image", "uint64_t bytes", "void *name",
    ])

    CKernelInfo = struct([
      "uint32_t size", "uint32_t traits", "void *name", "void *function", "uint32_t parameter_count",
      "uint32_t parameter_bytes", "uint32_t parameters_known", "uint32_t registers", "uint32_t static_shared_bytes",
      "uint32_t local_bytes", "uint32_t maximum_threads", "uint32_t maximum_dynamic_shared_bytes",
      "uint32_t required_block[3]", "int32_t virtual_architecture", "int32_t binary_version", "uint32_t entry",
      "void *ptx",
    ])

    CArgument = struct([
      "uint32_t bytes", "uint32_t reserved", "uint64_t value", "void *data",
    ])

    CAttribute = struct([
      "int32_t id", "uint32_t reserved", "uint64_t value[8]",
    ])

    CLaunchConfig = struct([
      "uint32_t size", "uint32_t flags", "uint32_t grid[3]", "uint32_t block[3]", "uint32_t cluster[3]",
      "uint32_t shared_bytes", "int32_t pdl", "uint32_t attribute_count", "void *attributes", "void *stream",
      "uint32_t lane", "uint32_t reserved", "void *name",
    ])

    CRequirementInfo = struct([
      "uint32_t size", "int32_t line", "int32_t column", "uint32_t reserved", "void *text", "void *reason",
    ])

    CTensorMap = struct([
      "uint64_t opaque[16]",
    ])

    CTensorOptions = struct([
      "uint32_t size", "int32_t type", "uint64_t address", "uint32_t rank", "int32_t interleave", "int32_t swizzle",
      "int32_t promotion", "int32_t fill", "uint32_t im2col", "uint64_t dimensions[5]", "uint64_t strides[4]",
      "uint32_t steps[5]", "uint32_t box[5]", "int32_t lower[3]", "int32_t upper[3]", "uint32_t channels",
      "uint32_t pixels",
    ])

    CHopInfo = struct([
      "uint32_t size", "int32_t reason", "void *kernel", "int32_t edge", "uint32_t lane", "int32_t node",
      "void *name",
    ])

    CUse = struct([
      "uint32_t size", "uint32_t buffer", "int32_t access", "uint32_t reserved", "uint64_t offset", "uint64_t bytes",
      "void *element",
    ])

    CGroupOptions = struct([
      "uint32_t size", "uint32_t timeout_ms", "uint32_t join_ms", "int32_t nccl", "uint64_t nccl_bytes",
      "uint32_t flags",
    ])

    CGroupInfo = struct([
      "uint32_t size", "uint32_t count", "uint32_t timeout_ms", "uint32_t rank", "uint64_t nccl_bytes",
    ])

    CHop = struct([
      "uint32_t size", "int32_t operation", "int32_t type", "int32_t root", "int32_t to", "int32_t from",
      "uint64_t source", "uint64_t target", "uint64_t count",
    ])

    CGraphNodeInfo = struct([
      "uint32_t size", "int32_t type", "void *name", "uint32_t traits", "uint32_t before_count",
      "uint32_t after_count", "void *handle",
    ])

    CGraphEdgeInfo = struct([
      "uint32_t size", "uint32_t from", "uint32_t to", "int32_t asked", "int32_t from_port", "int32_t type",
      "int32_t overlap", "int32_t reason", "uint32_t node", "uint32_t races",
    ])

    CTuneOffer = struct([
      "uint32_t size", "uint32_t launch", "void *grids", "void *carveouts", "uint32_t grid_count",
      "uint32_t carveout_count",
    ])

    CTuneBuffer = struct([
      "uint32_t size", "uint32_t compared", "uint64_t address", "uint64_t bytes", "void *initial",
    ])

    CTuneOptions = struct([
      "uint32_t size", "uint32_t flags", "int32_t mode", "uint32_t pairs", "double least_gain", "void *offers",
      "uint32_t offer_count", "uint32_t reserved", "void *progress", "void *progress_user",
    ])

    CTuneTrial = struct([
      "uint32_t size", "int32_t outcome", "uint32_t launch", "uint32_t pairs", "void *kernel", "void *text",
      "void *detail", "double ratio", "double lowest", "double highest", "double again", "double needed",
    ])

    CTuneInfo = struct([
      "uint32_t size", "uint32_t changed", "int32_t mode", "uint32_t remembered", "uint32_t model",
      "uint32_t launch_count", "uint32_t trial_count", "uint32_t ran_count", "uint32_t stopped",
      "uint32_t noise_pairs", "double noise", "double threshold", "double baseline_ns", "double chosen_ns",
      "double ratio", "double lowest", "double highest", "double last_ratio", "double last_needed",
      "uint32_t confirmations", "uint32_t reserved",
    ])

    CTuneChoice = struct([
      "uint32_t size", "uint32_t changed", "void *kernel", "void *ptx", "uint32_t grid[3]", "int32_t pdl",
      "void *text", "int32_t carveout", "uint32_t shared_bytes", "uint32_t block[3]", "uint32_t reserved",
    ])

    CCondition = struct([
      "uint32_t size", "int32_t reason", "int32_t met", "int32_t decisive", "void *name", "void *text",
    ])

    CExplanationInfo = struct([
      "uint32_t size", "int32_t overlap", "int32_t reason", "int32_t unmet", "void *producer", "void *consumer",
      "void *text", "uint32_t condition_count", "uint32_t reserved",
    ])

    CTimelineOptions = struct([
      "uint32_t size", "uint32_t flags", "uint32_t blocks", "uint32_t reserved",
    ])

    CTimelineInfo = struct([
      "uint32_t size", "int32_t mode", "uint32_t launch_count", "uint32_t multiprocessors", "uint32_t emulated",
      "uint32_t backward", "uint64_t blocks", "uint64_t blocks_kept", "uint64_t origin", "double span",
      "double idle", "double idle_share", "double clock_step",
    ])

    CTimelineLaunch = struct([
      "uint32_t size", "uint32_t lane", "void *kernel", "uint64_t blocks", "uint32_t blocks_kept",
      "uint32_t backward", "uint32_t mark_count", "uint32_t reserved", "uint32_t registers",
      "uint32_t plain_registers", "double first_entry", "double last_entry", "double first_trigger",
      "double last_trigger", "double first_release", "double last_release", "double first_exit", "double last_exit",
      "double preamble", "double wait_least", "double wait_median", "double wait_most",
    ])

    CTimelineHop = struct([
      "uint32_t size", "uint32_t from", "double handoff_gap", "double launch_lead", "double preamble_hidden",
      "double overlap", "double overlap_ratio", "double idle_window", "double idle", "double idle_share",
    ])

    CShelfInfo = struct([
      "uint32_t size", "int32_t capability", "void *name", "void *family", "void *file", "void *text",
      "uint64_t bytes",
    ])

    FUNCTIONS = [
      "int32_t griddep_version(void)",
      "const char *griddep_version_text(void)",
      "const char *griddep_status_name(int32_t status)",
      "const char *griddep_text(int32_t kind, int32_t value)",
      "void griddep_error_init(void *error)",
      "int32_t griddep_constant_find(void *name, void *value, void *error)",
      "const char *griddep_constant_name(uint32_t index, void *value)",
      "int32_t griddep_runtime_open(void *options, void *runtime, void *error)",
      "void griddep_runtime_close(void *runtime)",
      "int32_t griddep_runtime_synchronize(void *runtime, void *error)",
      "int32_t griddep_runtime_get_info(void *runtime, void *info, void *error)",
      "int32_t griddep_device_get_info(void *driver, int32_t device, void *info, void *error)",
      "int32_t griddep_memory_allocate(void *runtime, uint64_t bytes, void *address, void *error)",
      "int32_t griddep_memory_free(void *runtime, uint64_t address, void *error)",
      "int32_t griddep_memory_write(void *runtime, uint64_t address, void *source, uint64_t bytes, void *stream, void *error)",
      "int32_t griddep_memory_read(void *runtime, void *target, uint64_t address, uint64_t bytes, void *stream, void *error)",
      "int32_t griddep_memory_fill(void *runtime, uint64_t address, uint8_t value, uint64_t bytes, void *stream, void *error)",
      "int32_t griddep_memory_write_async(void *runtime, uint64_t address, void *source, uint64_t bytes, void *stream, void *error)",
      "int32_t griddep_memory_read_async(void *runtime, void *target, uint64_t address, uint64_t bytes, void *stream, void *error)",
      "int32_t griddep_memory_copy_async(void *runtime, uint64_t target, uint64_t source, uint64_t bytes, void *stream, void *error)",
      "int32_t griddep_memory_fill_async(void *runtime, uint64_t address, uint32_t value, uint32_t element_bytes, uint64_t count, void *stream, void *error)",
      "int32_t griddep_host_allocate(void *runtime, uint64_t bytes, uint32_t flags, void *memory, void *error)",
      "int32_t griddep_host_free(void *runtime, void *memory, void *error)",
      "int32_t griddep_stream_create(void *runtime, void *options, void *stream, void *error)",
      "int32_t griddep_stream_destroy(void *runtime, void *stream, void *error)",
      "int32_t griddep_stream_synchronize(void *runtime, void *stream, void *error)",
      "int32_t griddep_stream_query(void *runtime, void *stream, void *done, void *error)",
      "int32_t griddep_stream_get_info(void *runtime, void *stream, void *info, void *error)",
      "int32_t griddep_event_create(void *runtime, int32_t kind, void *event, void *error)",
      "int32_t griddep_event_destroy(void *runtime, void *event, void *error)",
      "int32_t griddep_event_record(void *runtime, void *event, void *stream, void *error)",
      "int32_t griddep_event_synchronize(void *runtime, void *event, void *error)",
      "int32_t griddep_event_elapsed(void *runtime, void *start, void *end, void *nanoseconds, void *error)",
      "int32_t griddep_stream_wait_event(void *runtime, void *stream, void *event, void *error)",
      "int32_t griddep_stream_add_host(void *runtime, void *stream, void *function, void *user, void *error)",
      "int32_t griddep_stream_notify(void *runtime, void *stream, void *function, void *user, void *error)",
      "int32_t griddep_completion_create(void *runtime, void *completion, void *error)",
      "void griddep_completion_destroy(void *completion)",
      "int32_t griddep_completion_get_descriptor(void *completion, void *descriptor, void *error)",
      "int32_t griddep_completion_arm(void *completion, void *stream, void *error)",
      "int32_t griddep_completion_take(void *completion, void *reached, void *error)",
      "int32_t griddep_ptx_parse(void *text, uint64_t bytes, void *name, void *ptx, void *error)",
      "void griddep_ptx_destroy(void *ptx)",
      "int32_t griddep_ptx_get_info(void *ptx, void *info, void *error)",
      "int32_t griddep_ptx_get_entry(void *ptx, uint32_t entry, void *info, void *error)",
      "int32_t griddep_ptx_get_parameter(void *ptx, uint32_t entry, uint32_t index, void *info, void *error)",
      "int32_t griddep_ptx_print(void *ptx, void *buffer, uint64_t capacity, void *bytes, void *error)",
      "uint32_t griddep_findings_count(void *findings)",
      "int32_t griddep_findings_get(void *findings, uint32_t index, void *finding, void *error)",
      "int32_t griddep_findings_get_edit(void *findings, uint32_t index, uint32_t number, void *edit, void *error)",
      "int32_t griddep_findings_get_related(void *findings, uint32_t index, uint32_t number, void *related, void *error)",
      "void griddep_findings_destroy(void *findings)",
      "int32_t griddep_ptx_check(void *text, uint64_t bytes, void *name, void *options, void *findings, void *error)",
      "int32_t griddep_ptx_rewrite(void *ptx, void *options, void *rewritten, void *notes, void *error)",
      "int32_t griddep_image_open(void *data, uint64_t bytes, void *name, void *image, void *error)",
      "void griddep_image_destroy(void *image)",
      "int32_t griddep_image_get_info(void *image, void *info, void *error)",
      "int32_t griddep_image_get_part(void *image, uint32_t index, void *part, void *error)",
      "int32_t griddep_image_get_kernel(void *image, uint32_t part, uint32_t index, void *kernel, void *error)",
      "int32_t griddep_module_load(void *runtime, void *image, uint64_t bytes, void *options, void *module, void *error)",
      "int32_t griddep_module_load_file(void *runtime, void *path, void *options, void *module, void *error)",
      "int32_t griddep_module_load_shelf(void *runtime, void *name, void *options, void *module, void *error)",
      "int32_t griddep_module_compile(void *runtime, void *source, uint64_t bytes, void *options, void *module, void *error)",
      "int32_t griddep_module_link(void *runtime, void *inputs, uint32_t count, void *options, void *module, void *error)",
      "int32_t griddep_module_share(void *module, void *runtime, void *shared, void *error)",
      "void griddep_module_unload(void *module)",
      "int32_t griddep_module_get_info(void *module, void *info, void *error)",
      "int32_t griddep_module_get_global(void *module, void *name, void *address, void *bytes, void *error)",
      "int32_t griddep_module_get_managed(void *module, void *name, void *memory, void *bytes, void *error)",
      "int32_t griddep_module_find_kernel(void *module, void *name, void *kernel, void *error)",
      "int32_t griddep_module_get_kernel(void *module, uint32_t index, void *kernel, void *error)",
      "int32_t griddep_kernel_get_info(void *kernel, void *info, void *error)",
      "int32_t griddep_kernel_get_parameter(void *kernel, uint32_t index, void *info, void *error)",
      "int32_t griddep_kernel_state_traits(void *kernel, uint32_t traits, void *error)",
      "int32_t griddep_launch(void *kernel, void *config, void *arguments, uint32_t argument_count, void *reason, void *error)",
      "int32_t griddep_launch_packed(void *kernel, void *config, void *arguments, uint64_t bytes, void *reason, void *error)",
      "int32_t griddep_ptx_get_requirement(void *ptx, uint32_t entry, uint32_t index, void *info, void *error)",
      "int32_t griddep_ptx_check_launch(void *ptx, uint32_t entry, void *config, void *arguments, uint32_t argument_count, void *error)",
      "int32_t griddep_ptx_get_extent(void *ptx, uint32_t entry, void *config, void *arguments, uint32_t argument_count, uint32_t parameter, void *bytes, void *error)",
      "int32_t griddep_attribute_set(void *attribute, int32_t id, void *values, uint32_t count, void *error)",
      "int32_t griddep_tensor_map_encode(void *runtime, void *options, void *map, void *error)",
      "int32_t griddep_mode_find(void *name, void *mode, void *error)",
      "int32_t griddep_chain_create(void *runtime, void *chain, void *error)",
      "void griddep_chain_destroy(void *chain)",
      "int32_t griddep_chain_add(void *chain, void *kernel, void *config, void *arguments, uint32_t argument_count, void *error)",
      "int32_t griddep_chain_add_ptx(void *chain, void *ptx, void *entry, void *config, void *arguments, uint32_t argument_count, void *error)",
      "int32_t griddep_chain_add_copy(void *chain, void *config, uint64_t target, uint64_t source, uint64_t bytes, void *error)",
      "int32_t griddep_chain_add_fill(void *chain, void *config, uint64_t address, uint8_t value, uint64_t bytes, void *error)",
      "int32_t griddep_chain_add_host(void *chain, void *config, void *function, void *user, void *error)",
      "int32_t griddep_chain_find(void *chain, void *name, void *index, void *error)",
      "int32_t griddep_chain_depend(void *chain, uint32_t index, uint32_t on, void *error)",
      "int32_t griddep_chain_set_name(void *chain, uint32_t index, void *name, void *error)",
      "int32_t griddep_chain_set_traits(void *chain, uint32_t index, uint32_t traits, void *error)",
      "int32_t griddep_chain_add_buffer(void *chain, uint64_t address, uint64_t bytes, void *error)",
      "int32_t griddep_chain_set_use(void *chain, uint32_t index, uint32_t argument, void *use, void *error)",
      "int32_t griddep_chain_set_reach(void *chain, uint32_t index, void *uses, uint32_t count, void *error)",
      "int32_t griddep_chain_check(void *chain, void *findings, void *error)",
      "int32_t griddep_chain_set_arguments(void *chain, uint32_t index, void *arguments, uint32_t argument_count, void *error)",
      "int32_t griddep_chain_set_argument(void *chain, uint32_t index, uint32_t argument, void *value, void *error)",
      "int32_t griddep_chain_set_config(void *chain, uint32_t index, void *config, void *error)",
      "int32_t griddep_chain_set_copy(void *chain, uint32_t index, uint64_t target, uint64_t source, uint64_t bytes, void *error)",
      "int32_t griddep_chain_set_fill(void *chain, uint32_t index, uint64_t address, uint8_t value, uint64_t bytes, void *error)",
      "int32_t griddep_chain_add_argument_set(void *chain, void *set, void *error)",
      "int32_t griddep_chain_select_argument_set(void *chain, uint32_t set, void *error)",
      "int32_t griddep_chain_prepare(void *chain, int32_t mode, void *error)",
      "int32_t griddep_chain_run(void *chain, int32_t mode, void *stream, void *error)",
      "int32_t griddep_chain_run_many(void *chain, int32_t mode, uint32_t rounds, void *stream, void *error)",
      "uint32_t griddep_chain_length(void *chain)",
      "int32_t griddep_chain_get_hop(void *chain, int32_t mode, uint32_t index, void *info, void *error)",
      "int32_t griddep_group_open(void *runtimes, uint32_t count, void *options, void *group, void *error)",
      "void griddep_group_close(void *group)",
      "int32_t griddep_group_join(void *runtime, uint32_t rank, uint32_t count, void *path, void *options, void *group, void *error)",
      "int32_t griddep_group_get_info(void *group, void *info, void *error)",
      "int32_t griddep_group_allocate(void *group, uint64_t bytes, void *buffer, void *error)",
      "int32_t griddep_group_get_address(void *group, uint32_t buffer, uint32_t member, void *address, void *error)",
      "int32_t griddep_group_status(void *group, void *error)",
      "int32_t griddep_chain_add_hop(void *chain, void *group, void *config, void *hop, void *error)",
      "int32_t griddep_graph_create(void *runtime, void *graph, void *error)",
      "void griddep_graph_destroy(void *graph)",
      "int32_t griddep_graph_add_kernel(void *graph, void *kernel, void *config, void *arguments, uint32_t argument_count, void *node, void *error)",
      "int32_t griddep_graph_add_fill(void *graph, uint64_t address, uint8_t value, uint64_t bytes, void *node, void *error)",
      "int32_t griddep_graph_add_copy(void *graph, uint64_t target, uint64_t source, uint64_t bytes, void *node, void *error)",
      "int32_t griddep_graph_add_host(void *graph, void *function, void *user, void *node, void *error)",
      "int32_t griddep_graph_add_edge(void *graph, uint32_t from, uint32_t to, int32_t from_port, int32_t type, void *error)",
      "int32_t griddep_graph_remove_edge(void *graph, uint32_t edge, void *error)",
      "int32_t griddep_graph_from_chain(void *chain, int32_t mode, void *graph, void *error)",
      "int32_t griddep_graph_capture_begin(void *runtime, void *stream, void *error)",
      "int32_t griddep_graph_capture_end(void *runtime, void *stream, void *graph, void *error)",
      "int32_t griddep_graph_adopt(void *runtime, void *cuda_graph, uint32_t flags, void *graph, void *error)",
      "int32_t griddep_graph_describe(void *graph, uint32_t node, void *ptx, void *entry, void *error)",
      "int32_t griddep_graph_instantiate(void *graph, void *error)",
      "int32_t griddep_graph_launch(void *graph, void *stream, void *error)",
      "int32_t griddep_graph_set_arguments(void *graph, uint32_t node, void *arguments, uint32_t argument_count, void *error)",
      "int32_t griddep_graph_set_config(void *graph, uint32_t node, void *config, void *error)",
      "uint32_t griddep_graph_node_count(void *graph)",
      "uint32_t griddep_graph_edge_count(void *graph)",
      "int32_t griddep_graph_get_node(void *graph, uint32_t index, void *info, void *error)",
      "int32_t griddep_graph_get_edge(void *graph, uint32_t index, void *info, void *error)",
      "int32_t griddep_graph_upgrade(void *graph, void *count, void *error)",
      "int32_t griddep_graph_print(void *graph, int32_t format, void *buffer, uint64_t capacity, void *bytes, void *error)",
      "int32_t griddep_tune_run(void *chain, void *buffers, uint32_t buffer_count, void *options, void *tune, void *error)",
      "int32_t griddep_tune_load(void *chain, int32_t mode, void *tune, void *error)",
      "int32_t griddep_tune_get_info(void *tune, void *info, void *error)",
      "int32_t griddep_tune_get_trial(void *tune, uint32_t index, void *trial, void *error)",
      "int32_t griddep_tune_get_choice(void *tune, uint32_t launch, void *choice, void *error)",
      "void griddep_tune_destroy(void *tune)",
      "int32_t griddep_chain_explain(void *chain, int32_t mode, uint32_t index, void *explanation, void *error)",
      "void griddep_explanation_destroy(void *explanation)",
      "int32_t griddep_explanation_get(void *explanation, uint32_t index, void *condition, void *error)",
      "int32_t griddep_explanation_get_info(void *explanation, void *info, void *error)",
      "int32_t griddep_timeline_create(void *chain, void *options, void *timeline, void *error)",
      "void griddep_timeline_destroy(void *timeline)",
      "int32_t griddep_timeline_run(void *timeline, int32_t mode, void *stream, void *error)",
      "griddep_chain *griddep_timeline_get_chain(void *timeline)",
      "int32_t griddep_timeline_get_info(void *timeline, void *info, void *error)",
      "int32_t griddep_timeline_get_launch(void *timeline, uint32_t index, void *launch, void *error)",
      "int32_t griddep_timeline_get_hop(void *timeline, uint32_t index, void *hop, void *error)",
      "const char *griddep_timeline_get_mark(void *timeline, uint32_t index, uint32_t mark)",
      "int32_t griddep_timeline_read(void *timeline, uint32_t index, int32_t column, void *values, uint64_t capacity, void *count, void *error)",
      "int32_t griddep_shelf_get(uint32_t index, void *info, void *error)",
      "int32_t griddep_shelf_find(void *name, int32_t capability, void *info, void *error)",
      "int32_t griddep_shelf_suggest(void *kernel, void *device, void *arguments, uint32_t argument_count, void *config, void *error)",
      "int32_t griddep_shelf_field(void *text, uint64_t text_bytes, void *field, void *buffer, uint64_t capacity, void *bytes, void *error)",
    ].freeze
    # ---- end of generated

    FUNCTIONS.each do |prototype|
      extern prototype
    rescue Fiddle::DLError # an older library lacks what came later
      nil
    end

    # A struct, cleared, with its size set, freed with the object.
    def self.sized(type)
      made = type.malloc(Fiddle::RUBY_FREE)
      made.to_ptr[0, type.size] = "\0" * type.size
      made.size = type.size
      made
    end
  end
  include Raw

  # What went wrong. The message says what and where; file, line and column are its position (line 0: none).
  class Error < StandardError
    attr_reader :status, :name, :file, :line, :column, :driver_code

    def initialize(status, text, file: "", line: 0, column: 0, driver_code: 0)
      @status, @file, @line, @column, @driver_code = status, file, line, column, driver_code
      @name = Raw.griddep_status_name(status).to_s
      super("#{@name}: #{text}")
    end

    # From a griddep_error. Its text may quote bytes of any encoding.
    def self.from(status, error)
      text, file = [error.text, error.file].map { |bytes| bytes.pack("c*").unpack1("Z*").force_encoding("UTF-8") }
      text = text.scrub { |bytes| bytes.bytes.map { |byte| format("\\x%02x", byte) }.join }
      new(status, text, file: file, line: error.line, column: error.column, driver_code: error.driver_code)
    end
  end

  module_function

  def open(driver: nil, log: nil, **options)
    runtime = Runtime.new(driver: driver, log: log, **options)
    return runtime unless block_given?

    begin
      yield runtime
    ensure
      runtime.close
    end
  end

  def reason_text(reason) = Raw.griddep_text(TEXT_REASON, reason).to_s

  # Fails as the library does where an argument cannot be used.
  def refuse(text) = raise Error.new(Raw::ERROR_ARGUMENT, text)

  # Sets a field of a struct; Fiddle cuts numbers that do not fit.
  def set(struct, name, value)
    unless struct.class.members.include?(name.to_s)
      refuse("there is no option #{name}; there are #{struct.class.members.join(", ")}")
    end
    struct.public_send("#{name}=", value)
    set = struct.public_send(name)
    set = set.to_i if set.is_a?(Fiddle::Pointer) && value.is_a?(Integer)
    same = value.is_a?(Integer) || value.is_a?(Array) ? set == value : !set.is_a?(Integer)
    refuse("#{name} is #{value.inspect}, which does not fit") unless same
  end

  # A number of bytes, or a text, as C takes it; Fiddle takes a number in place of a text for its address.
  def size(value) = value.is_a?(Integer) && value.between?(0, 2**64 - 1) ? value : refuse("bytes is #{value.inspect}, which is no size")

  def text(value)
    raise TypeError, "#{value.inspect} is no text" unless value.nil? || (value.is_a?(String) && !value.include?("\0"))

    value
  end

  # The handle of an object, which has not been closed.
  def handle(object, what)
    return object unless object.is_a?(Owner)

    object.handle || refuse("the #{what} has been closed")
  end

  # Calls a function of griddep.h that ends with griddep_error *, and raises where it fails.
  def call(name, *arguments)
    error = Raw.sized(Raw::CError)
    status = Raw.public_send("griddep_#{name}", *arguments, error)
    raise Error.from(status, error) unless status == Raw::OK
  end

  # What the function writes as its last parameter before the error, as pack's directive says.
  def made(directive, name, *arguments)
    out = Fiddle::Pointer.malloc(8, Fiddle::RUBY_FREE)
    call(name, *arguments, out)
    out[0, 8].unpack1(directive)
  end

  def info(type, name, *arguments)
    info = Raw.sized(type)
    call(name, *arguments, info)
    info
  end

  def mode(mode)
    mode.is_a?(Integer) ? mode : made("l", :mode_find, mode.to_s)
  end

  def config(grid: 1, block: 1, cluster: 0, stream: nil, **fields)
    config = Raw.sized(Raw::CLaunchConfig)
    { grid: grid, block: block, cluster: cluster }.each do |name, shape|
      extents = Array(shape)
      refuse("#{name} has #{extents.size} dimensions; there are three") if extents.size > 3
      set(config, name, (extents + [0, 0]).first(3))
    end
    set(config, :stream, handle(stream, "stream"))
    fields.each { |name, value| set(config, name, value) }
    config
  end

  # Holds a handle that is ended once: by close or by the garbage collector. A child of fork ends nothing, since a CUDA context stays
  # with its process. The finalizer's block must not see the object, so it gets a box.
  class Owner
    attr_reader :handle

    def close
      ObjectSpace.undefine_finalizer(self)
      @finish&.call
      @finish = @handle = nil
    end

    private

    def own(handle, &finish)
      @handle = handle
      @finish = Owner.finisher(handle, Process.pid, finish)
      ObjectSpace.define_finalizer(self, @finish)
    end

    def self.finisher(handle, process, finish)
      proc { finish.call(handle) if Process.pid == process }
    end
  end

  # The library's runtime, closed with the last of the Runtime and the memory and streams that need it to be ended.
  class Hold
    attr_reader :handle

    def initialize(handle)
      @handle, @count = handle, 1
    end

    def take
      @count += 1
      self
    end

    # Called by finalizers, which must not wait for a lock; the interpreter's own keeps threads apart.
    def release
      @count -= 1
      Raw.griddep_runtime_close(@handle) if @count.zero?
    end
  end

  # One callback for the process, which finds the function by its number. An exception must not pass through C.
  LOG_FUNCTIONS = []
  LOG = Fiddle::Closure::BlockCaller.new(Fiddle::TYPE_VOID, [Fiddle::TYPE_VOIDP, Fiddle::TYPE_INT, Fiddle::TYPE_VOIDP]) do |user, level, message|
    LOG_FUNCTIONS[user.to_i].call(level, message.to_s)
  rescue StandardError
    nil
  end
  private_constant :LOG_FUNCTIONS, :LOG

  # A driver, a device and a context. log is called with level and message, in any Ruby thread that uses the runtime; options are the
  # other fields of griddep_runtime_options.
  class Runtime < Owner
    def initialize(driver: nil, log: nil, **options)
      super()
      fields = Raw.sized(Raw::CRuntimeOptions)
      options[:driver] = driver
      options[:flags] = Raw::RUNTIME_DEVICE if options[:device]
      %i[driver store_directory nvrtc].each { |name| Griddep.text(options[name]) }
      kept = options.transform_values { |value| value.is_a?(String) ? Fiddle::Pointer["#{value}\0"] : value }
      kept.each { |name, value| Griddep.set(fields, name, value) }
      if log
        LOG_FUNCTIONS << log
        fields.log, fields.log_user = LOG, LOG_FUNCTIONS.size - 1
      end
      hold = @hold = Hold.new(Griddep.made("Q", :runtime_open, fields))
      own(hold.handle) { hold.release }
    end

    def info = Griddep.info(Raw::CRuntimeInfo, :runtime_get_info, handle)

    # Loads PTX text, a cubin or a fatbin.
    def load(image, name: nil)
      options = Raw.sized(Raw::CModuleOptions)
      raise TypeError, "#{image.inspect} is no image" unless image.is_a?(String)

      kept = name && Fiddle::Pointer["#{Griddep.text(name)}\0"]
      options.name = kept
      Module.new(self, Griddep.made("Q", :module_load, handle, image, image.bytesize, options))
    end

    # The same from a file; one whose name ends in .cu is compiled with NVRTC.
    def load_file(path) = Module.new(self, Griddep.made("Q", :module_load_file, handle, Griddep.text(path), nil))

    def load_shelf(kernel) = Module.new(self, Griddep.made("Q", :module_load_shelf, handle, Griddep.text(kernel), nil))

    def allocate(bytes) = Memory.new(self, @hold, bytes)

    # Device memory that holds these bytes: [1.0, 2.0].pack("e*").
    def copy_in(data, stream: nil)
      memory = allocate(data.bytesize)
      write(memory, data, stream: stream)
      memory
    end

    def write(memory, data, stream: nil)
      Griddep.call(:memory_write, handle, place(memory, data.bytesize), data, data.bytesize, Griddep.handle(stream, "stream"))
    end

    # The first bytes of device memory as a String: read(z, 4000).unpack("e*").
    def read(memory, bytes = memory.bytes, stream: nil)
      place = place(memory, Griddep.size(bytes))
      data = Fiddle::Pointer.malloc([bytes, 1].max, Fiddle::RUBY_FREE)
      Griddep.call(:memory_read, handle, data, place, bytes, Griddep.handle(stream, "stream"))
      data[0, bytes]
    end

    def stream = Stream.new(self, @hold)
    def synchronize(stream = nil) = Griddep.call(:stream_synchronize, handle, Griddep.handle(stream, "stream"))
    def chain = Chain.new(self)

    # Nanoseconds between events before and after what the block puts into the stream.
    def time(stream = nil)
      events = Array.new(2) { Griddep.made("Q", :event_create, handle, 0) }
      Griddep.call(:event_record, handle, events[0], Griddep.handle(stream, "stream"))
      yield
      Griddep.call(:event_record, handle, events[1], Griddep.handle(stream, "stream"))
      Griddep.made("d", :event_elapsed, handle, *events)
    ensure
      events&.each { |event| Griddep.call(:event_destroy, handle, event) }
    end

    private

    # The address of memory that has so many bytes, as far as that is known.
    def place(memory, bytes)
      return memory unless memory.is_a?(Memory)

      Griddep.refuse("#{bytes} bytes do not fit into memory of #{memory.bytes}") if bytes > memory.bytes
      memory.address
    end
  end

  # A CUstream.
  class Stream < Owner
    def initialize(runtime, hold)
      super()
      own(Griddep.made("Q", :stream_create, runtime.handle, nil)) do |stream|
        Raw.griddep_stream_destroy(hold.handle, stream, nil)
        hold.release
      end
      hold.take
    end
  end

  # Device memory, freed with the object; the driver frees it when the work that uses it is done.
  class Memory < Owner
    attr_reader :bytes

    def initialize(runtime, hold, bytes)
      super()
      @bytes = bytes
      own(Griddep.made("Q", :memory_allocate, runtime.handle, Griddep.size(bytes))) do |address|
        Raw.griddep_memory_free(hold.handle, address, nil)
        hold.release
      end
      hold.take
    end

    def address = Griddep.handle(self, "memory")
  end

  class Module < Owner
    def initialize(runtime, handle)
      super()
      @runtime = runtime
      own(handle) { |ended| Raw.griddep_module_unload(ended) }
    end

    def kernel(name = nil) = Kernel.new(self, Griddep.made("Q", :module_find_kernel, handle, Griddep.text(name)))
  end

  # An entry of a module, which it keeps loaded.
  class Kernel
    Parameter = Struct.new(:name, :type, :bytes)
    DIRECTIVES = { "u8" => "C", "u16" => "S<", "u32" => "L<", "u64" => "Q<", "s8" => "c", "s16" => "s<", "s32" => "l<", "s64" => "q<",
                   "b8" => "C", "b16" => "S<", "b32" => "L<", "b64" => "Q<", "f32" => "e", "f64" => "E" }.freeze
    BYTES = { "C" => 1, "c" => 1, "S<" => 2, "s<" => 2, "L<" => 4, "l<" => 4, "e" => 4, "Q<" => 8, "q<" => 8, "E" => 8 }.freeze
    private_constant :DIRECTIVES, :BYTES

    attr_reader :handle, :parameters

    def initialize(mod, handle)
      @module, @handle = mod, handle
      @parameters = Array.new(info.parameter_count) do |index|
        found = Griddep.info(Raw::CParameterInfo, :kernel_get_parameter, handle, index)
        Parameter.new(*[found.name, found.type].map { |text| text.null? ? nil : text.to_s }, found.bytes)
      end
    end

    def info = Griddep.info(Raw::CKernelInfo, :kernel_get_info, handle)

    # Launches, asynchronously. grid and block are an Integer or up to three; the rest are fields of griddep_launch_config. Returns a
    # REASON_*: whether the launch may overlap what is before it, and why.
    def launch(arguments, **config)
      packed, kept = pack(arguments)
      reason = Griddep.made("l", :launch, handle, Griddep.config(**config), packed, arguments.size)
      kept.clear # used after the call, so that it lives until then
      reason
    end

    # The array of griddep_argument, and what must live as long.
    def pack(arguments)
      Griddep.handle(@module, "kernel's module")
      kept = arguments.each_with_index.map { |value, index| Fiddle::Pointer[bytes_of(value, @parameters[index], index)] }
      [kept.map { |data| [data.size, 0, 0, data.to_i].pack("LLQQ") }.join, kept]
    end

    private

    def bytes_of(value, parameter, index)
      return "" unless parameter # one too many, which the library reports

      value = value.address if value.is_a?(Memory)
      return value if value.is_a?(String)

      directive = DIRECTIVES[parameter.type]
      unless value.is_a?(Numeric) && directive && BYTES[directive] == parameter.bytes
        raise TypeError, "argument #{index}: #{value.class} is no value of .#{parameter.type}; give it as a String of bytes"
      end
      # Compilers write .u32 for int too: a negative number is taken for what has its bits.
      fits = %w[e E].include?(directive) || (value.is_a?(Integer) && value.between?(-1 << (8 * parameter.bytes - 1), (1 << (8 * parameter.bytes)) - 1))
      raise RangeError, "argument #{index}: #{value} is no .#{parameter.type}" unless fits

      [value].pack(directive)
    end
  end

  # Launches in stream order, prepared once, run many times. It keeps the memory that its arguments name.
  class Chain < Owner
    def initialize(runtime)
      super()
      @runtime, @kept = runtime, []
      own(Griddep.made("Q", :chain_create, runtime.handle)) { |ended| Raw.griddep_chain_destroy(ended) }
    end

    def add(kernel, arguments, **config)
      packed, kept = kernel.pack(arguments)
      Griddep.call(:chain_add, handle, kernel.handle, Griddep.config(**config), packed, arguments.size)
      @kept << [kernel, arguments, kept]
      self
    end

    # What a launch reaches at addresses that no argument gives it: [memory, bytes, ACCESS_*] each, and all that there is.
    def reaches(index, places)
      uses = places.map { |memory, bytes, access| [Raw::CUse.size, 0, access, 0, @runtime.send(:place, memory, bytes), bytes, 0].pack("LLlLQQQ") }
      Griddep.call(:chain_set_reach, handle, index, uses.join, uses.size)
    end

    def prepare(mode) = Griddep.call(:chain_prepare, handle, Griddep.mode(mode))

    # Runs the chain, asynchronously, in one of the modes serial, pdl, graph and graph-pdl.
    def run(mode = "graph-pdl", stream: nil) = Griddep.call(:chain_run, handle, Griddep.mode(mode), Griddep.handle(stream, "stream"))

    def length = Raw.griddep_chain_length(handle)
    def hop(mode, index) = Griddep.info(Raw::CHopInfo, :chain_get_hop, handle, Griddep.mode(mode), index)
  end
end
