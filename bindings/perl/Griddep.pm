package Griddep;

# libgriddep for Perl: programmatic dependent launch for PTX, through FFI::Platypus (libffi-platypus-perl in Debian).
#
#     use Griddep;
#
#     my $runtime = Griddep->open;
#     my $kernel = $runtime->load($ptx)->kernel('scale');
#     $kernel->launch([$x, 0.5, $count], grid => 132, block => 256, stream => $stream);
#
# The library is $GRIDDEP_LIBRARY, or libgriddep.so.0 as the loader finds it. What fails dies with a Griddep::Error. Arguments are converted
# to what the kernel's PTX declares; device memory is a Griddep::Memory or a number, its address. Every function of griddep.h is here under
# its name without the prefix, every constant likewise; structs are packed strings: Griddep::pack_struct and unpack_struct.
# doc/languages.md tells about threads, finalizers, callbacks and fork.

use strict;
use warnings;
use FFI::Platypus 2.00;
use FFI::Platypus::Buffer qw(scalar_to_pointer);
use Scalar::Util qw(blessed looks_like_number);

# ---- generated from griddep.h by build-tools/bindings.py
use constant {
    VERSION_MAJOR => 0,
    VERSION_MINOR => 1,
    VERSION_PATCH => 0,
    OK => 0,
    ERROR_ARGUMENT => -1,
    ERROR_STRUCT => -2,
    ERROR_MEMORY => -3,
    ERROR_DEVICE_MEMORY => -4,
    ERROR_FILE => -5,
    ERROR_ENVIRONMENT => -6,
    ERROR_NO_DRIVER => -7,
    ERROR_DRIVER_TOO_OLD => -8,
    ERROR_DRIVER => -9,
    ERROR_NO_NVRTC => -10,
    ERROR_SYNTAX => -11,
    ERROR_COMPILE => -12,
    ERROR_IMAGE => -13,
    ERROR_NOT_FOUND => -14,
    ERROR_SIGNATURE => -15,
    ERROR_LIMIT => -16,
    ERROR_STREAM => -17,
    ERROR_UNSUPPORTED => -18,
    ERROR_FAULT => -19,
    ERROR_REQUIREMENT => -20,
    ERROR_CALLBACK => -21,
    ERROR_PEER => -22,
    TEXT_STATUS => 0,
    TEXT_REASON => 1,
    TEXT_OVERLAP => 2,
    TEXT_MODE => 3,
    TEXT_TUNE_OUTCOME => 4,
    LOG_NONE => 0,
    LOG_ERROR => 1,
    LOG_WARNING => 2,
    LOG_INFO => 3,
    LOG_DEBUG => 4,
    PDL_DEFAULT => 0,
    PDL_AUTO => 1,
    PDL_OFF => 2,
    PDL_FORCE => 3,
    RUNTIME_DEVICE => 1,
    RUNTIME_RESET => 2,
    RUNTIME_REST => 4,
    FEATURE_PDL => 1,
    FEATURE_GRAPH => 2,
    FEATURE_GRAPH_EDGES => 4,
    FEATURE_PROGRAMMATIC_EVENT => 8,
    FEATURE_LAUNCH_COMPLETION_EVENT => 16,
    FEATURE_PARAMETER_INFO => 32,
    FEATURE_CLUSTER => 64,
    FEATURE_PARTS => 256,
    HOST_PORTABLE => 1,
    HOST_WRITE_COMBINED => 4,
    STREAM_BLOCKING => 1,
    EVENT_TIMING => 0,
    EVENT_ORDER => 1,
    TRAIT_KNOWN => 1,
    TRAIT_WAITS => 2,
    TRAIT_WAITS_ALWAYS => 4,
    TRAIT_TRIGGERS => 8,
    TRAIT_CALLS => 16,
    TRAIT_STATED => 128,
    TRAIT_MACHINE_CODE => 32,
    TRAIT_OPEN => 64,
    TRAIT_TOUCHES_EARLY => 256,
    TRAIT_OTHERS_WAIT => 512,
    SEVERITY_NOTE => 1,
    SEVERITY_WARNING => 2,
    SEVERITY_ERROR => 3,
    WAIT_KEEP => 0,
    WAIT_INSERT => 1,
    WAIT_MOVE => 2,
    WAIT_REMOVE => 3,
    WAIT_START => 4,
    TRIGGER_KEEP => 0,
    TRIGGER_REMOVE => 1,
    TRIGGER_START => 2,
    TRIGGER_AFTER_WAIT => 3,
    TRIGGER_AFTER_LOADS => 4,
    TRIGGER_BEFORE_STORES => 5,
    TRIGGER_END => 6,
    TRIGGER_LINE => 7,
    TRIGGER_LOOP => 8,
    MODULE_LINE_INFO => 1,
    MODULE_DEBUG => 2,
    MODULE_VERBOSE => 4,
    MODULE_PTX => 8,
    MODULE_LIBRARY => 16,
    MODULE_PCH => 32,
    OPTIMIZATION_DEFAULT => 0,
    OPTIMIZATION_NONE => -1,
    IMAGE_PTX => 1,
    IMAGE_CUBIN => 2,
    IMAGE_FATBIN => 3,
    REASON_SET => 0,
    REASON_FORCED => 1,
    REASON_OFF => 2,
    REASON_KILL_SWITCH => 3,
    REASON_DEVICE => 4,
    REASON_DRIVER => 5,
    REASON_NO_WAIT => 6,
    REASON_WAIT_NOT_ALWAYS => 7,
    REASON_UNKNOWN_CODE => 8,
    REASON_FIRST => 9,
    REASON_PLAIN => 10,
    REASON_OTHER_ORDER => 11,
    REASON_NODE_BETWEEN => 12,
    REASON_NOT_KERNELS => 13,
    REASON_CONDITIONAL => 14,
    REASON_WRONG_END => 15,
    REASON_BLOCKING => 16,
    REASON_COOPERATIVE => 17,
    REASON_NO_TRIGGER => 18,
    REASON_NO_ROOM => 19,
    REASON_CARVEOUT => 20,
    REASON_WAVES => 21,
    REASON_CLUSTER => 22,
    REASON_LAUNCH_ORDER => 23,
    REASON_WRONG_PORT => 24,
    REASON_NO_EDGE_DATA => 25,
    REASON_TOOLS => 26,
    REASON_ROUND => 27,
    REASON_NOT_PROVEN => 28,
    REASON_RACE => 29,
    OVERLAP_UNKNOWN => -1,
    OVERLAP_NONE => 0,
    OVERLAP_TAIL => 1,
    OVERLAP_FULL => 2,
    ATTRIBUTE_IGNORE => 0,
    ATTRIBUTE_ACCESS_POLICY_WINDOW => 1,
    ATTRIBUTE_COOPERATIVE => 2,
    ATTRIBUTE_SYNCHRONIZATION_POLICY => 3,
    ATTRIBUTE_CLUSTER_DIMENSION => 4,
    ATTRIBUTE_CLUSTER_SCHEDULING_POLICY => 5,
    ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION => 6,
    ATTRIBUTE_PROGRAMMATIC_EVENT => 7,
    ATTRIBUTE_PRIORITY => 8,
    ATTRIBUTE_MEMORY_SYNC_DOMAIN_MAP => 9,
    ATTRIBUTE_MEMORY_SYNC_DOMAIN => 10,
    ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION => 11,
    ATTRIBUTE_LAUNCH_COMPLETION_EVENT => 12,
    ATTRIBUTE_DEVICE_UPDATABLE_NODE => 13,
    ATTRIBUTE_CARVEOUT => 14,
    ATTRIBUTE_NVLINK_CENTRIC_SCHEDULING => 16,
    CLUSTER_SCHEDULING_DEFAULT => 0,
    CLUSTER_SCHEDULING_SPREAD => 1,
    CLUSTER_SCHEDULING_LOAD_BALANCING => 2,
    MEMORY_SYNC_DOMAIN_DEFAULT => 0,
    MEMORY_SYNC_DOMAIN_REMOTE => 1,
    ACCESS_PROPERTY_NORMAL => 0,
    ACCESS_PROPERTY_STREAMING => 1,
    ACCESS_PROPERTY_PERSISTING => 2,
    CARVEOUT_DEFAULT => -1,
    TENSOR_U8 => 0,
    TENSOR_U16 => 1,
    TENSOR_U32 => 2,
    TENSOR_S32 => 3,
    TENSOR_U64 => 4,
    TENSOR_S64 => 5,
    TENSOR_F16 => 6,
    TENSOR_F32 => 7,
    TENSOR_F64 => 8,
    TENSOR_BF16 => 9,
    TENSOR_F32_FTZ => 10,
    TENSOR_TF32 => 11,
    TENSOR_TF32_FTZ => 12,
    TENSOR_16U4_ALIGN8 => 13,
    TENSOR_16U4_ALIGN16 => 14,
    TENSOR_16U6_ALIGN16 => 15,
    INTERLEAVE_NONE => 0,
    INTERLEAVE_16B => 1,
    INTERLEAVE_32B => 2,
    SWIZZLE_NONE => 0,
    SWIZZLE_32B => 1,
    SWIZZLE_64B => 2,
    SWIZZLE_128B => 3,
    SWIZZLE_128B_ATOM_32B => 4,
    SWIZZLE_128B_ATOM_32B_FLIP_8B => 5,
    SWIZZLE_128B_ATOM_64B => 6,
    PROMOTION_NONE => 0,
    PROMOTION_64B => 1,
    PROMOTION_128B => 2,
    PROMOTION_256B => 3,
    FILL_ZERO => 0,
    FILL_NAN => 1,
    MODE_SERIAL => 0,
    MODE_PDL => 1,
    MODE_GRAPH => 2,
    MODE_GRAPH_PDL => 3,
    MODE_COUNT => 4,
    ACCESS_UNKNOWN => 0,
    ACCESS_READ => 1,
    ACCESS_WRITE => 2,
    ACCESS_UPDATE => 3,
    ACCESS_CONSTANT => 4,
    NO_MEMBER => -1,
    NCCL_AUTO => 0,
    NCCL_OFF => 1,
    NCCL_ON => 2,
    GROUP_REMEMBER => 1,
    HOP_ALL_REDUCE => 0,
    HOP_ALL_GATHER => 1,
    HOP_REDUCE_SCATTER => 2,
    HOP_BROADCAST => 3,
    HOP_EXCHANGE => 4,
    GRAPH_NODE_KERNEL => 0,
    GRAPH_NODE_COPY => 1,
    GRAPH_NODE_FILL => 2,
    GRAPH_NODE_HOST => 3,
    GRAPH_NODE_CHILD => 4,
    GRAPH_NODE_EMPTY => 5,
    GRAPH_NODE_EVENT_WAIT => 6,
    GRAPH_NODE_EVENT_RECORD => 7,
    GRAPH_NODE_CONDITIONAL => 13,
    PORT_DEFAULT => 0,
    PORT_PROGRAMMATIC => 1,
    PORT_LAUNCH_ORDER => 2,
    EDGE_DEFAULT => 0,
    EDGE_PROGRAMMATIC => 1,
    EDGE_AUTO => 2,
    GRAPH_OWN => 1,
    FORMAT_DOT => 0,
    FORMAT_JSON => 1,
    TUNE_FLAG_FORGET => 1,
    TUNE_FLAG_SHAPES => 2,
    TUNE_OUTCOME_BETTER => 0,
    TUNE_OUTCOME_NOT_BETTER => 1,
    TUNE_OUTCOME_SLOWER => 2,
    TUNE_OUTCOME_SAME => 3,
    TUNE_OUTCOME_NO_PLACE => 4,
    TUNE_OUTCOME_ILLEGAL => 5,
    TUNE_OUTCOME_DIFFERENT => 6,
    TUNE_OUTCOME_REFUSED => 7,
    TUNE_OUTCOME_UNCONFIRMED => 8,
    STAMP_SM => 0,
    STAMP_ENTRY => 1,
    STAMP_WAIT => 2,
    STAMP_RELEASE => 3,
    STAMP_TRIGGER => 4,
    STAMP_EXIT => 5,
    STAMP_MARK => 6,
    STAMP_NONE => -1,
};

# Of each struct its size, then of each field the offset, the code for pack, and the number of values.
my %STRUCTS = (
    error => [2328,
        size => [0, 'L', 1], status => [4, 'l', 1], driver_code => [8, 'l', 1], line => [12, 'l', 1],
        column => [16, 'l', 1], file => [20, 'Z260', 1], text => [280, 'Z2048', 1],
    ],
    runtime_options => [80,
        size => [0, 'L', 1], flags => [4, 'L', 1], driver => [8, 'Q', 1], context => [16, 'Q', 1],
        device => [24, 'l', 1], pdl => [28, 'l', 1], store_directory => [32, 'Q', 1], nvrtc => [40, 'Q', 1],
        log => [48, 'Q', 1], log_user => [56, 'Q', 1], log_level => [64, 'l', 1], reserved => [68, 'L', 1],
        multiprocessors => [72, 'L', 1], part => [76, 'L', 1],
    ],
    runtime_info => [136,
        size => [0, 'L', 1], features => [4, 'L', 1], driver => [8, 'Q', 1], device_name => [16, 'Q', 1],
        store_directory => [24, 'Q', 1], driver_version => [32, 'l', 1], device => [36, 'l', 1],
        capability => [40, 'l', 1], multiprocessors => [44, 'l', 1], memory_bytes => [48, 'Q', 1],
        l2_bytes => [56, 'Q', 1], shared_bytes_per_multiprocessor => [64, 'L', 1],
        shared_bytes_per_block => [68, 'L', 1], registers_per_multiprocessor => [72, 'L', 1],
        threads_per_multiprocessor => [76, 'L', 1], blocks_per_multiprocessor => [80, 'L', 1],
        pdl_disabled => [84, 'L', 1], context => [88, 'Q', 1], emulated => [96, 'L', 1], reserved => [100, 'L', 1],
        fallback => [104, 'Q', 1], driver_cache => [112, 'Q', 1], driver_cache_reason => [120, 'Q', 1],
        driver_cache_bytes => [128, 'Q', 1],
    ],
    device_info => [352,
        size => [0, 'L', 1], device => [4, 'l', 1], capability => [8, 'l', 1], multiprocessors => [12, 'L', 1],
        memory_bytes => [16, 'Q', 1], l2_bytes => [24, 'Q', 1], shared_bytes_per_multiprocessor => [32, 'L', 1],
        shared_bytes_per_block => [36, 'L', 1], registers_per_multiprocessor => [40, 'L', 1],
        threads_per_multiprocessor => [44, 'L', 1], blocks_per_multiprocessor => [48, 'L', 1],
        copy_engines => [52, 'L', 1], pools => [56, 'L', 1], integrated => [60, 'L', 1], pci_domain => [64, 'L', 1],
        pci_bus => [68, 'L', 1], pci_device => [72, 'L', 1], device_count => [76, 'L', 1], uuid => [80, 'C16', 16],
        name => [96, 'Z256', 1],
    ],
    stream_options => [16,
        size => [0, 'L', 1], flags => [4, 'L', 1], priority => [8, 'l', 1], reserved => [12, 'L', 1],
    ],
    stream_info => [16,
        size => [0, 'L', 1], flags => [4, 'L', 1], priority => [8, 'l', 1], captured => [12, 'L', 1],
    ],
    ptx_info => [32,
        size => [0, 'L', 1], address_bits => [4, 'L', 1], target => [8, 'Q', 1], version => [16, 'l', 1],
        capability => [20, 'l', 1], entry_count => [24, 'L', 1], function_count => [28, 'L', 1],
    ],
    ptx_entry_info => [80,
        size => [0, 'L', 1], traits => [4, 'L', 1], name => [8, 'Q', 1], line => [16, 'l', 1],
        column => [20, 'l', 1], parameter_count => [24, 'L', 1], parameter_bytes => [28, 'L', 1],
        control_count => [32, 'L', 1], instruction_count => [36, 'L', 1], required_block => [40, 'L3', 3],
        maximum_block => [52, 'L3', 3], required_cluster => [64, 'L3', 3], reserved => [76, 'L', 1],
    ],
    parameter_info => [48,
        size => [0, 'L', 1], offset => [4, 'L', 1], bytes => [8, 'L', 1], alignment => [12, 'L', 1],
        name => [16, 'Q', 1], type => [24, 'Q', 1], is_pointer => [32, 'L', 1], reserved => [36, 'L', 1],
        element => [40, 'Q', 1],
    ],
    finding => [104,
        size => [0, 'L', 1], severity => [4, 'l', 1], code => [8, 'Q', 1], file => [16, 'Q', 1],
        entry => [24, 'Q', 1], text => [32, 'Q', 1], hint => [40, 'Q', 1], quote => [48, 'Q', 1],
        line => [56, 'l', 1], column => [60, 'l', 1], launch => [64, 'l', 1], reserved => [68, 'L', 1],
        end_line => [72, 'l', 1], end_column => [76, 'l', 1], edit_count => [80, 'L', 1], is_certain => [84, 'L', 1],
        related_count => [88, 'L', 1], source_line => [92, 'l', 1], source_file => [96, 'Q', 1],
    ],
    edit => [48,
        size => [0, 'L', 1], reserved => [4, 'L', 1], offset => [8, 'Q', 1], bytes => [16, 'Q', 1],
        text => [24, 'Q', 1], line => [32, 'l', 1], column => [36, 'l', 1], end_line => [40, 'l', 1],
        end_column => [44, 'l', 1],
    ],
    related => [40,
        size => [0, 'L', 1], reserved => [4, 'L', 1], file => [8, 'Q', 1], text => [16, 'Q', 1],
        line => [24, 'l', 1], column => [28, 'l', 1], end_line => [32, 'l', 1], end_column => [36, 'l', 1],
    ],
    check_options => [24,
        size => [0, 'L', 1], flags => [4, 'L', 1], constants => [8, 'Q', 1], constant_count => [16, 'L', 1],
        reserved => [20, 'L', 1],
    ],
    rewrite_options => [64,
        size => [0, 'L', 1], flags => [4, 'L', 1], entry => [8, 'Q', 1], wait => [16, 'l', 1],
        trigger => [20, 'l', 1], trigger_line => [24, 'l', 1], constant_count => [28, 'L', 1],
        constants => [32, 'Q', 1], prefetch => [40, 'Q', 1], prefetch_bytes => [48, 'Q', 1],
        trigger_round => [56, 'L', 1], reserved => [60, 'L', 1],
    ],
    header => [16,
        name => [0, 'Q', 1], text => [8, 'Q', 1],
    ],
    module_options => [64,
        size => [0, 'L', 1], flags => [4, 'L', 1], name => [8, 'Q', 1], optimization => [16, 'l', 1],
        maximum_registers => [20, 'L', 1], compile_options => [24, 'Q', 1], compile_option_count => [32, 'L', 1],
        reserved => [36, 'L', 1], headers => [40, 'Q', 1], name_expressions => [48, 'Q', 1],
        header_count => [56, 'L', 1], name_expression_count => [60, 'L', 1],
    ],
    image_info => [12,
        size => [0, 'L', 1], kind => [4, 'l', 1], part_count => [8, 'L', 1],
    ],
    image_part => [40,
        size => [0, 'L', 1], kind => [4, 'l', 1], architecture => [8, 'l', 1], suffix => [12, 'l', 1],
        packed => [16, 'L', 1], kernel_count => [20, 'L', 1], data => [24, 'Q', 1], bytes => [32, 'Q', 1],
    ],
    image_kernel => [16,
        size => [0, 'L', 1], traits => [4, 'L', 1], name => [8, 'Q', 1],
    ],
    module_info => [48,
        size => [0, 'L', 1], image => [4, 'l', 1], name => [8, 'Q', 1], log => [16, 'Q', 1], ptx => [24, 'Q', 1],
        from_store => [32, 'L', 1], kernel_count => [36, 'L', 1], code => [40, 'l', 1], architecture => [44, 'l', 1],
    ],
    link_input => [24,
        image => [0, 'Q', 1], bytes => [8, 'Q', 1], name => [16, 'Q', 1],
    ],
    kernel_info => [88,
        size => [0, 'L', 1], traits => [4, 'L', 1], name => [8, 'Q', 1], function => [16, 'Q', 1],
        parameter_count => [24, 'L', 1], parameter_bytes => [28, 'L', 1], parameters_known => [32, 'L', 1],
        registers => [36, 'L', 1], static_shared_bytes => [40, 'L', 1], local_bytes => [44, 'L', 1],
        maximum_threads => [48, 'L', 1], maximum_dynamic_shared_bytes => [52, 'L', 1],
        required_block => [56, 'L3', 3], virtual_architecture => [68, 'l', 1], binary_version => [72, 'l', 1],
        entry => [76, 'L', 1], ptx => [80, 'Q', 1],
    ],
    argument => [24,
        bytes => [0, 'L', 1], reserved => [4, 'L', 1], value => [8, 'Q', 1], data => [16, 'Q', 1],
    ],
    attribute => [72,
        id => [0, 'l', 1], reserved => [4, 'L', 1], value => [8, 'Q8', 8],
    ],
    launch_config => [88,
        size => [0, 'L', 1], flags => [4, 'L', 1], grid => [8, 'L3', 3], block => [20, 'L3', 3],
        cluster => [32, 'L3', 3], shared_bytes => [44, 'L', 1], pdl => [48, 'l', 1], attribute_count => [52, 'L', 1],
        attributes => [56, 'Q', 1], stream => [64, 'Q', 1], lane => [72, 'L', 1], reserved => [76, 'L', 1],
        name => [80, 'Q', 1],
    ],
    requirement_info => [32,
        size => [0, 'L', 1], line => [4, 'l', 1], column => [8, 'l', 1], reserved => [12, 'L', 1],
        text => [16, 'Q', 1], reason => [24, 'Q', 1],
    ],
    tensor_map => [128,
        opaque => [0, 'Q16', 16],
    ],
    tensor_options => [184,
        size => [0, 'L', 1], type => [4, 'l', 1], address => [8, 'Q', 1], rank => [16, 'L', 1],
        interleave => [20, 'l', 1], swizzle => [24, 'l', 1], promotion => [28, 'l', 1], fill => [32, 'l', 1],
        im2col => [36, 'L', 1], dimensions => [40, 'Q5', 5], strides => [80, 'Q4', 4], steps => [112, 'L5', 5],
        box => [132, 'L5', 5], lower => [152, 'l3', 3], upper => [164, 'l3', 3], channels => [176, 'L', 1],
        pixels => [180, 'L', 1],
    ],
    hop_info => [40,
        size => [0, 'L', 1], reason => [4, 'l', 1], kernel => [8, 'Q', 1], edge => [16, 'l', 1],
        lane => [20, 'L', 1], node => [24, 'l', 1], name => [32, 'Q', 1],
    ],
    use => [40,
        size => [0, 'L', 1], buffer => [4, 'L', 1], access => [8, 'l', 1], reserved => [12, 'L', 1],
        offset => [16, 'Q', 1], bytes => [24, 'Q', 1], element => [32, 'Q', 1],
    ],
    group_options => [32,
        size => [0, 'L', 1], timeout_ms => [4, 'L', 1], join_ms => [8, 'L', 1], nccl => [12, 'l', 1],
        nccl_bytes => [16, 'Q', 1], flags => [24, 'L', 1],
    ],
    group_info => [24,
        size => [0, 'L', 1], count => [4, 'L', 1], timeout_ms => [8, 'L', 1], rank => [12, 'L', 1],
        nccl_bytes => [16, 'Q', 1],
    ],
    hop => [48,
        size => [0, 'L', 1], operation => [4, 'l', 1], type => [8, 'l', 1], root => [12, 'l', 1], to => [16, 'l', 1],
        from => [20, 'l', 1], source => [24, 'Q', 1], target => [32, 'Q', 1], count => [40, 'Q', 1],
    ],
    graph_node_info => [40,
        size => [0, 'L', 1], type => [4, 'l', 1], name => [8, 'Q', 1], traits => [16, 'L', 1],
        before_count => [20, 'L', 1], after_count => [24, 'L', 1], handle => [32, 'Q', 1],
    ],
    graph_edge_info => [40,
        size => [0, 'L', 1], from => [4, 'L', 1], to => [8, 'L', 1], asked => [12, 'l', 1],
        from_port => [16, 'l', 1], type => [20, 'l', 1], overlap => [24, 'l', 1], reason => [28, 'l', 1],
        node => [32, 'L', 1], races => [36, 'L', 1],
    ],
    tune_offer => [32,
        size => [0, 'L', 1], launch => [4, 'L', 1], grids => [8, 'Q', 1], carveouts => [16, 'Q', 1],
        grid_count => [24, 'L', 1], carveout_count => [28, 'L', 1],
    ],
    tune_buffer => [32,
        size => [0, 'L', 1], compared => [4, 'L', 1], address => [8, 'Q', 1], bytes => [16, 'Q', 1],
        initial => [24, 'Q', 1],
    ],
    tune_options => [56,
        size => [0, 'L', 1], flags => [4, 'L', 1], mode => [8, 'l', 1], pairs => [12, 'L', 1],
        least_gain => [16, 'd', 1], offers => [24, 'Q', 1], offer_count => [32, 'L', 1], reserved => [36, 'L', 1],
        progress => [40, 'Q', 1], progress_user => [48, 'Q', 1],
    ],
    tune_trial => [80,
        size => [0, 'L', 1], outcome => [4, 'l', 1], launch => [8, 'L', 1], pairs => [12, 'L', 1],
        kernel => [16, 'Q', 1], text => [24, 'Q', 1], detail => [32, 'Q', 1], ratio => [40, 'd', 1],
        lowest => [48, 'd', 1], highest => [56, 'd', 1], again => [64, 'd', 1], needed => [72, 'd', 1],
    ],
    tune_info => [120,
        size => [0, 'L', 1], changed => [4, 'L', 1], mode => [8, 'l', 1], remembered => [12, 'L', 1],
        model => [16, 'L', 1], launch_count => [20, 'L', 1], trial_count => [24, 'L', 1], ran_count => [28, 'L', 1],
        stopped => [32, 'L', 1], noise_pairs => [36, 'L', 1], noise => [40, 'd', 1], threshold => [48, 'd', 1],
        baseline_ns => [56, 'd', 1], chosen_ns => [64, 'd', 1], ratio => [72, 'd', 1], lowest => [80, 'd', 1],
        highest => [88, 'd', 1], last_ratio => [96, 'd', 1], last_needed => [104, 'd', 1],
        confirmations => [112, 'L', 1], reserved => [116, 'L', 1],
    ],
    tune_choice => [72,
        size => [0, 'L', 1], changed => [4, 'L', 1], kernel => [8, 'Q', 1], ptx => [16, 'Q', 1],
        grid => [24, 'L3', 3], pdl => [36, 'l', 1], text => [40, 'Q', 1], carveout => [48, 'l', 1],
        shared_bytes => [52, 'L', 1], block => [56, 'L3', 3], reserved => [68, 'L', 1],
    ],
    condition => [32,
        size => [0, 'L', 1], reason => [4, 'l', 1], met => [8, 'l', 1], decisive => [12, 'l', 1],
        name => [16, 'Q', 1], text => [24, 'Q', 1],
    ],
    explanation_info => [48,
        size => [0, 'L', 1], overlap => [4, 'l', 1], reason => [8, 'l', 1], unmet => [12, 'l', 1],
        producer => [16, 'Q', 1], consumer => [24, 'Q', 1], text => [32, 'Q', 1], condition_count => [40, 'L', 1],
        reserved => [44, 'L', 1],
    ],
    timeline_options => [16,
        size => [0, 'L', 1], flags => [4, 'L', 1], blocks => [8, 'L', 1], reserved => [12, 'L', 1],
    ],
    timeline_info => [80,
        size => [0, 'L', 1], mode => [4, 'l', 1], launch_count => [8, 'L', 1], multiprocessors => [12, 'L', 1],
        emulated => [16, 'L', 1], backward => [20, 'L', 1], blocks => [24, 'Q', 1], blocks_kept => [32, 'Q', 1],
        origin => [40, 'Q', 1], span => [48, 'd', 1], idle => [56, 'd', 1], idle_share => [64, 'd', 1],
        clock_step => [72, 'd', 1],
    ],
    timeline_launch => [144,
        size => [0, 'L', 1], lane => [4, 'L', 1], kernel => [8, 'Q', 1], blocks => [16, 'Q', 1],
        blocks_kept => [24, 'L', 1], backward => [28, 'L', 1], mark_count => [32, 'L', 1], reserved => [36, 'L', 1],
        registers => [40, 'L', 1], plain_registers => [44, 'L', 1], first_entry => [48, 'd', 1],
        last_entry => [56, 'd', 1], first_trigger => [64, 'd', 1], last_trigger => [72, 'd', 1],
        first_release => [80, 'd', 1], last_release => [88, 'd', 1], first_exit => [96, 'd', 1],
        last_exit => [104, 'd', 1], preamble => [112, 'd', 1], wait_least => [120, 'd', 1],
        wait_median => [128, 'd', 1], wait_most => [136, 'd', 1],
    ],
    timeline_hop => [72,
        size => [0, 'L', 1], from => [4, 'L', 1], handoff_gap => [8, 'd', 1], launch_lead => [16, 'd', 1],
        preamble_hidden => [24, 'd', 1], overlap => [32, 'd', 1], overlap_ratio => [40, 'd', 1],
        idle_window => [48, 'd', 1], idle => [56, 'd', 1], idle_share => [64, 'd', 1],
    ],
    shelf_info => [48,
        size => [0, 'L', 1], capability => [4, 'l', 1], name => [8, 'Q', 1], family => [16, 'Q', 1],
        file => [24, 'Q', 1], text => [32, 'Q', 1], bytes => [40, 'Q', 1],
    ],
);

my @FUNCTIONS = (
    [version => [qw()] => 'sint32'],
    [version_text => [qw()] => 'string'],
    [status_name => [qw(sint32)] => 'string'],
    [text => [qw(sint32 sint32)] => 'string'],
    [error_init => [qw(opaque)] => 'void'],
    [constant_find => [qw(string sint32* opaque)] => 'sint32'],
    [constant_name => [qw(uint32 sint32*)] => 'string'],
    [runtime_open => [qw(opaque opaque* opaque)] => 'sint32'],
    [runtime_close => [qw(opaque)] => 'void'],
    [runtime_synchronize => [qw(opaque opaque)] => 'sint32'],
    [runtime_get_info => [qw(opaque opaque opaque)] => 'sint32'],
    [device_get_info => [qw(string sint32 opaque opaque)] => 'sint32'],
    [memory_allocate => [qw(opaque uint64 uint64* opaque)] => 'sint32'],
    [memory_free => [qw(opaque uint64 opaque)] => 'sint32'],
    [memory_write => [qw(opaque uint64 opaque uint64 opaque opaque)] => 'sint32'],
    [memory_read => [qw(opaque opaque uint64 uint64 opaque opaque)] => 'sint32'],
    [memory_fill => [qw(opaque uint64 uint8 uint64 opaque opaque)] => 'sint32'],
    [memory_write_async => [qw(opaque uint64 opaque uint64 opaque opaque)] => 'sint32'],
    [memory_read_async => [qw(opaque opaque uint64 uint64 opaque opaque)] => 'sint32'],
    [memory_copy_async => [qw(opaque uint64 uint64 uint64 opaque opaque)] => 'sint32'],
    [memory_fill_async => [qw(opaque uint64 uint32 uint32 uint64 opaque opaque)] => 'sint32'],
    [host_allocate => [qw(opaque uint64 uint32 opaque* opaque)] => 'sint32'],
    [host_free => [qw(opaque opaque opaque)] => 'sint32'],
    [stream_create => [qw(opaque opaque opaque* opaque)] => 'sint32'],
    [stream_destroy => [qw(opaque opaque opaque)] => 'sint32'],
    [stream_synchronize => [qw(opaque opaque opaque)] => 'sint32'],
    [stream_query => [qw(opaque opaque uint32* opaque)] => 'sint32'],
    [stream_get_info => [qw(opaque opaque opaque opaque)] => 'sint32'],
    [event_create => [qw(opaque sint32 opaque* opaque)] => 'sint32'],
    [event_destroy => [qw(opaque opaque opaque)] => 'sint32'],
    [event_record => [qw(opaque opaque opaque opaque)] => 'sint32'],
    [event_synchronize => [qw(opaque opaque opaque)] => 'sint32'],
    [event_elapsed => [qw(opaque opaque opaque double* opaque)] => 'sint32'],
    [stream_wait_event => [qw(opaque opaque opaque opaque)] => 'sint32'],
    [stream_add_host => [qw(opaque opaque opaque opaque opaque)] => 'sint32'],
    [stream_notify => [qw(opaque opaque opaque opaque opaque)] => 'sint32'],
    [completion_create => [qw(opaque opaque* opaque)] => 'sint32'],
    [completion_destroy => [qw(opaque)] => 'void'],
    [completion_get_descriptor => [qw(opaque sint32* opaque)] => 'sint32'],
    [completion_arm => [qw(opaque opaque opaque)] => 'sint32'],
    [completion_take => [qw(opaque uint64* opaque)] => 'sint32'],
    [ptx_parse => [qw(string uint64 string opaque* opaque)] => 'sint32'],
    [ptx_destroy => [qw(opaque)] => 'void'],
    [ptx_get_info => [qw(opaque opaque opaque)] => 'sint32'],
    [ptx_get_entry => [qw(opaque uint32 opaque opaque)] => 'sint32'],
    [ptx_get_parameter => [qw(opaque uint32 uint32 opaque opaque)] => 'sint32'],
    [ptx_print => [qw(opaque opaque uint64 uint64* opaque)] => 'sint32'],
    [findings_count => [qw(opaque)] => 'uint32'],
    [findings_get => [qw(opaque uint32 opaque opaque)] => 'sint32'],
    [findings_get_edit => [qw(opaque uint32 uint32 opaque opaque)] => 'sint32'],
    [findings_get_related => [qw(opaque uint32 uint32 opaque opaque)] => 'sint32'],
    [findings_destroy => [qw(opaque)] => 'void'],
    [ptx_check => [qw(string uint64 string opaque opaque* opaque)] => 'sint32'],
    [ptx_rewrite => [qw(opaque opaque opaque* opaque* opaque)] => 'sint32'],
    [image_open => [qw(opaque uint64 string opaque* opaque)] => 'sint32'],
    [image_destroy => [qw(opaque)] => 'void'],
    [image_get_info => [qw(opaque opaque opaque)] => 'sint32'],
    [image_get_part => [qw(opaque uint32 opaque opaque)] => 'sint32'],
    [image_get_kernel => [qw(opaque uint32 uint32 opaque opaque)] => 'sint32'],
    [module_load => [qw(opaque opaque uint64 opaque opaque* opaque)] => 'sint32'],
    [module_load_file => [qw(opaque string opaque opaque* opaque)] => 'sint32'],
    [module_load_shelf => [qw(opaque string opaque opaque* opaque)] => 'sint32'],
    [module_compile => [qw(opaque string uint64 opaque opaque* opaque)] => 'sint32'],
    [module_link => [qw(opaque opaque uint32 opaque opaque* opaque)] => 'sint32'],
    [module_share => [qw(opaque opaque opaque* opaque)] => 'sint32'],
    [module_unload => [qw(opaque)] => 'void'],
    [module_get_info => [qw(opaque opaque opaque)] => 'sint32'],
    [module_get_global => [qw(opaque string uint64* uint64* opaque)] => 'sint32'],
    [module_get_managed => [qw(opaque string opaque* uint64* opaque)] => 'sint32'],
    [module_find_kernel => [qw(opaque string opaque* opaque)] => 'sint32'],
    [module_get_kernel => [qw(opaque uint32 opaque* opaque)] => 'sint32'],
    [kernel_get_info => [qw(opaque opaque opaque)] => 'sint32'],
    [kernel_get_parameter => [qw(opaque uint32 opaque opaque)] => 'sint32'],
    [kernel_state_traits => [qw(opaque uint32 opaque)] => 'sint32'],
    [launch => [qw(opaque opaque opaque uint32 sint32* opaque)] => 'sint32'],
    [launch_packed => [qw(opaque opaque opaque uint64 sint32* opaque)] => 'sint32'],
    [ptx_get_requirement => [qw(opaque uint32 uint32 opaque opaque)] => 'sint32'],
    [ptx_check_launch => [qw(opaque uint32 opaque opaque uint32 opaque)] => 'sint32'],
    [ptx_get_extent => [qw(opaque uint32 opaque opaque uint32 uint32 uint64* opaque)] => 'sint32'],
    [attribute_set => [qw(opaque sint32 opaque uint32 opaque)] => 'sint32'],
    [tensor_map_encode => [qw(opaque opaque opaque opaque)] => 'sint32'],
    [mode_find => [qw(string sint32* opaque)] => 'sint32'],
    [chain_create => [qw(opaque opaque* opaque)] => 'sint32'],
    [chain_destroy => [qw(opaque)] => 'void'],
    [chain_add => [qw(opaque opaque opaque opaque uint32 opaque)] => 'sint32'],
    [chain_add_ptx => [qw(opaque opaque string opaque opaque uint32 opaque)] => 'sint32'],
    [chain_add_copy => [qw(opaque opaque uint64 uint64 uint64 opaque)] => 'sint32'],
    [chain_add_fill => [qw(opaque opaque uint64 uint8 uint64 opaque)] => 'sint32'],
    [chain_add_host => [qw(opaque opaque opaque opaque opaque)] => 'sint32'],
    [chain_find => [qw(opaque string uint32* opaque)] => 'sint32'],
    [chain_depend => [qw(opaque uint32 uint32 opaque)] => 'sint32'],
    [chain_set_name => [qw(opaque uint32 string opaque)] => 'sint32'],
    [chain_set_traits => [qw(opaque uint32 uint32 opaque)] => 'sint32'],
    [chain_add_buffer => [qw(opaque uint64 uint64 opaque)] => 'sint32'],
    [chain_set_use => [qw(opaque uint32 uint32 opaque opaque)] => 'sint32'],
    [chain_set_reach => [qw(opaque uint32 opaque uint32 opaque)] => 'sint32'],
    [chain_check => [qw(opaque opaque* opaque)] => 'sint32'],
    [chain_set_arguments => [qw(opaque uint32 opaque uint32 opaque)] => 'sint32'],
    [chain_set_argument => [qw(opaque uint32 uint32 opaque opaque)] => 'sint32'],
    [chain_set_config => [qw(opaque uint32 opaque opaque)] => 'sint32'],
    [chain_set_copy => [qw(opaque uint32 uint64 uint64 uint64 opaque)] => 'sint32'],
    [chain_set_fill => [qw(opaque uint32 uint64 uint8 uint64 opaque)] => 'sint32'],
    [chain_add_argument_set => [qw(opaque uint32* opaque)] => 'sint32'],
    [chain_select_argument_set => [qw(opaque uint32 opaque)] => 'sint32'],
    [chain_prepare => [qw(opaque sint32 opaque)] => 'sint32'],
    [chain_run => [qw(opaque sint32 opaque opaque)] => 'sint32'],
    [chain_run_many => [qw(opaque sint32 uint32 opaque opaque)] => 'sint32'],
    [chain_length => [qw(opaque)] => 'uint32'],
    [chain_get_hop => [qw(opaque sint32 uint32 opaque opaque)] => 'sint32'],
    [group_open => [qw(opaque* uint32 opaque opaque* opaque)] => 'sint32'],
    [group_close => [qw(opaque)] => 'void'],
    [group_join => [qw(opaque uint32 uint32 string opaque opaque* opaque)] => 'sint32'],
    [group_get_info => [qw(opaque opaque opaque)] => 'sint32'],
    [group_allocate => [qw(opaque uint64 uint32* opaque)] => 'sint32'],
    [group_get_address => [qw(opaque uint32 uint32 uint64* opaque)] => 'sint32'],
    [group_status => [qw(opaque opaque)] => 'sint32'],
    [chain_add_hop => [qw(opaque opaque opaque opaque opaque)] => 'sint32'],
    [graph_create => [qw(opaque opaque* opaque)] => 'sint32'],
    [graph_destroy => [qw(opaque)] => 'void'],
    [graph_add_kernel => [qw(opaque opaque opaque opaque uint32 uint32* opaque)] => 'sint32'],
    [graph_add_fill => [qw(opaque uint64 uint8 uint64 uint32* opaque)] => 'sint32'],
    [graph_add_copy => [qw(opaque uint64 uint64 uint64 uint32* opaque)] => 'sint32'],
    [graph_add_host => [qw(opaque opaque opaque uint32* opaque)] => 'sint32'],
    [graph_add_edge => [qw(opaque uint32 uint32 sint32 sint32 opaque)] => 'sint32'],
    [graph_remove_edge => [qw(opaque uint32 opaque)] => 'sint32'],
    [graph_from_chain => [qw(opaque sint32 opaque* opaque)] => 'sint32'],
    [graph_capture_begin => [qw(opaque opaque opaque)] => 'sint32'],
    [graph_capture_end => [qw(opaque opaque opaque* opaque)] => 'sint32'],
    [graph_adopt => [qw(opaque opaque uint32 opaque* opaque)] => 'sint32'],
    [graph_describe => [qw(opaque uint32 opaque string opaque)] => 'sint32'],
    [graph_instantiate => [qw(opaque opaque)] => 'sint32'],
    [graph_launch => [qw(opaque opaque opaque)] => 'sint32'],
    [graph_set_arguments => [qw(opaque uint32 opaque uint32 opaque)] => 'sint32'],
    [graph_set_config => [qw(opaque uint32 opaque opaque)] => 'sint32'],
    [graph_node_count => [qw(opaque)] => 'uint32'],
    [graph_edge_count => [qw(opaque)] => 'uint32'],
    [graph_get_node => [qw(opaque uint32 opaque opaque)] => 'sint32'],
    [graph_get_edge => [qw(opaque uint32 opaque opaque)] => 'sint32'],
    [graph_upgrade => [qw(opaque uint32* opaque)] => 'sint32'],
    [graph_print => [qw(opaque sint32 opaque uint64 uint64* opaque)] => 'sint32'],
    [tune_run => [qw(opaque opaque uint32 opaque opaque* opaque)] => 'sint32'],
    [tune_load => [qw(opaque sint32 opaque* opaque)] => 'sint32'],
    [tune_get_info => [qw(opaque opaque opaque)] => 'sint32'],
    [tune_get_trial => [qw(opaque uint32 opaque opaque)] => 'sint32'],
    [tune_get_choice => [qw(opaque uint32 opaque opaque)] => 'sint32'],
    [tune_destroy => [qw(opaque)] => 'void'],
    [chain_explain => [qw(opaque sint32 uint32 opaque* opaque)] => 'sint32'],
    [explanation_destroy => [qw(opaque)] => 'void'],
    [explanation_get => [qw(opaque uint32 opaque opaque)] => 'sint32'],
    [explanation_get_info => [qw(opaque opaque opaque)] => 'sint32'],
    [timeline_create => [qw(opaque opaque opaque* opaque)] => 'sint32'],
    [timeline_destroy => [qw(opaque)] => 'void'],
    [timeline_run => [qw(opaque sint32 opaque opaque)] => 'sint32'],
    [timeline_get_chain => [qw(opaque)] => 'opaque'],
    [timeline_get_info => [qw(opaque opaque opaque)] => 'sint32'],
    [timeline_get_launch => [qw(opaque uint32 opaque opaque)] => 'sint32'],
    [timeline_get_hop => [qw(opaque uint32 opaque opaque)] => 'sint32'],
    [timeline_get_mark => [qw(opaque uint32 uint32)] => 'string'],
    [timeline_read => [qw(opaque uint32 sint32 sint64* uint64 uint64* opaque)] => 'sint32'],
    [shelf_get => [qw(uint32 opaque opaque)] => 'sint32'],
    [shelf_find => [qw(string sint32 opaque opaque)] => 'sint32'],
    [shelf_suggest => [qw(string opaque opaque uint32 opaque opaque)] => 'sint32'],
    [shelf_field => [qw(string uint64 string opaque uint64 uint64* opaque)] => 'sint32'],
);
# ---- end of generated

my $ffi = FFI::Platypus->new(api => 2, lib => $ENV{GRIDDEP_LIBRARY} // 'libgriddep.so.0');
$ffi->ignore_not_found(1); # an older library lacks what came later
die "@{[$ffi->lib]} cannot be opened (GRIDDEP_LIBRARY may name the library's path)\n" unless $ffi->find_symbol('griddep_version');
$ffi->attach(["griddep_$_->[0]" => $_->[0]], $_->[1] => $_->[2]) for @FUNCTIONS;

# Fails as the library does where an argument cannot be used.
sub refuse { my ($text) = @_; die Griddep::Error->new(ERROR_ARGUMENT(), {text => $text, file => '', line => 0, column => 0, driver_code => 0}) }

# One value as C has it; pack itself cuts what does not fit. With $either_sign a negative number is taken for what has its bits.
my %SIGNED = (C => 'c', S => 's', 'S<' => 's<', L => 'l', 'L<' => 'l<', Q => 'q', 'Q<' => 'q<');

sub exact {
    my ($code, $value, $name, $either_sign) = @_;
    refuse("$name is " . ($value // 'undef') . ', which is no number') unless looks_like_number($value);
    my $bytes = pack $code, $value;
    return $bytes if $code =~ /^[fd]/ || unpack($code, $bytes) == $value;
    return pack $SIGNED{$code}, $value if $either_sign && $SIGNED{$code} && unpack($SIGNED{$code}, pack $SIGNED{$code}, $value) == $value;
    refuse("$name is $value, which does not fit");
}

# A number of bytes.
sub size { my ($value) = @_; return unpack 'Q', exact('Q', $value, 'bytes') }

# A text or an image as bytes, whatever Perl keeps it as: characters beyond a byte as UTF-8.
sub octets {
    my ($text) = @_;
    utf8::downgrade($text, 1) or utf8::encode($text) if defined $text;
    return $text;
}

# A text for C, or undef.
sub c_text {
    my ($text) = @_;
    refuse("a name has a zero byte in it") if defined $text && $text =~ /\0/;
    return octets($text);
}

# pack_struct(name => field => value ...): a struct with its size set. Values of arrays are array references, texts are kept by the caller.
sub pack_struct {
    my ($name, %values) = @_;
    my ($size, @fields) = @{$STRUCTS{$name}};
    my $struct = "\0" x $size;
    $values{size} = $size if $fields[0] eq 'size';
    while (my ($field, $layout) = splice @fields, 0, 2) {
        my $value = delete $values{$field} // next;
        my $bytes;
        if ($layout->[1] =~ /^Z/) { $bytes = pack $layout->[1], $value }
        else { $bytes = join '', map { exact(substr($layout->[1], 0, 1), $_, $field) } ref $value ? @$value : $value }
        substr $struct, $layout->[0], length $bytes, $bytes;
    }
    return $struct unless %values;
    my (undef, %known) = @{$STRUCTS{$name}};
    refuse("there is no option @{[sort keys %values]}; there are @{[join ', ', sort keys %known]}");
}

# The fields of a struct; arrays as array references, texts that the library lends as strings.
my %TEXT = map { $_ => 1 } qw(name type driver device_name store_directory fallback log kernel);

sub unpack_struct {
    my ($name, $struct) = @_;
    my (undef, @fields) = @{$STRUCTS{$name}};
    my %values;
    while (my ($field, $layout) = splice @fields, 0, 2) {
        my @found = unpack "x$layout->[0] $layout->[1]", $struct;
        $values{$field} = $layout->[2] > 1 ? \@found : $found[0];
        $values{$field} = $ffi->cast('opaque' => 'string', $found[0]) if $TEXT{$field} && $layout->[1] eq 'Q';
    }
    return \%values;
}

# Calls a function that ends with griddep_error *, and dies where it fails.
sub call {
    my ($function, @arguments) = @_;
    my $error = pack_struct('error');
    my $status = Griddep->can($function)->(@arguments, scalar_to_pointer($error)) or return;
    die Griddep::Error->new($status, unpack_struct(error => $error));
}

# What the function writes as its last parameter before the error.
sub made {
    my $out;
    call(@_, \$out);
    return $out;
}

sub info {
    my ($struct, @call) = @_;
    my $info = pack_struct($struct);
    call(@call, scalar_to_pointer($info));
    return unpack_struct($struct => $info);
}

# What a REASON_* means.
sub reason_text { my ($reason) = @_; return text(TEXT_REASON(), $reason) }

sub mode {
    my ($mode) = @_;
    return looks_like_number($mode) ? $mode : made(mode_find => $mode);
}

# The handle of an object, which has not been closed, or what else was given.
sub handle_of {
    my ($object) = @_;
    return $object unless blessed $object;
    return $object->{handle} // refuse('the ' . $object->what . ' has been closed');
}

# The address of memory that has so many bytes, as far as that is known.
sub place_of {
    my ($memory, $bytes) = @_;
    my $address = handle_of($memory);
    refuse("$bytes bytes do not fit into memory of $memory->{bytes}") if blessed $memory && $bytes > $memory->{bytes};
    return $address;
}

# grid, block and cluster are a number or up to three; the rest are fields of griddep_launch_config.
sub config {
    my (%fields) = @_;
    for my $shape (qw(grid block cluster)) {
        $fields{$shape} = [$fields{$shape}] if defined $fields{$shape} && !ref $fields{$shape};
        refuse("$shape has more than three dimensions") if $fields{$shape} && @{$fields{$shape}} > 3;
    }
    $fields{stream} = handle_of($fields{stream}) if $fields{stream};
    return pack_struct(launch_config => %fields);
}

# One callback for the process, which finds the function by its number. What dies must not pass through C.
my @log_functions = (undef); # a number of 0 would be NULL
my $log = $ffi->closure(sub {
    my ($user, $level, $message) = @_;
    eval { $log_functions[$user]->($level, $message); 1 } or return;
    return;
});

# Griddep->open(log => sub { my ($level, $message) = @_; ... }, and other fields of griddep_runtime_options)
sub open {
    my ($class, %options) = @_;
    if (my $function = delete $options{log}) {
        push @log_functions, $function;
        @options{qw(log log_user)} = ($ffi->cast('(opaque, sint32, string)->void' => 'opaque', $log), $#log_functions);
    }
    $options{flags} = RUNTIME_DEVICE() if defined $options{device};
    my @kept;
    for my $text (grep { defined $options{$_} } qw(driver store_directory nvrtc)) {
        push @kept, c_text("$options{$text}");
        $options{$text} = scalar_to_pointer($kept[-1]);
    }
    my $options = pack_struct(runtime_options => %options);
    return Griddep::Runtime->own(made(runtime_open => scalar_to_pointer($options)));
}

package Griddep::Error;
use overload '""' => sub { "$_[0]{name}: $_[0]{text}\n" }, fallback => 1;

sub new {
    my ($class, $status, $error) = @_;
    return bless {%$error, status => $status, name => Griddep::status_name($status)}, $class;
}
sub status { $_[0]{status} }
sub name { $_[0]{name} }
sub text { $_[0]{text} }
sub file { $_[0]{file} }
sub line { $_[0]{line} }
sub column { $_[0]{column} }
sub driver_code { $_[0]{driver_code} }

# Holds a handle that is ended once: by close, or when nothing refers to the object. A child of fork ends nothing, since a CUDA context
# stays with its process; nor does a thread that got a copy.
package Griddep::Owner;

sub own {
    my ($class, $handle, %fields) = @_;
    return bless {handle => $handle, process => $$, %fields}, $class;
}

sub close {
    my ($self) = @_;
    my $handle = delete $self->{handle} or return;
    $self->finish($handle) if $self->{process} == $$;
    return;
}
sub CLONE_SKIP { 1 }
sub DESTROY { local ($@, $?); $_[0]->close }

# The library's runtime, which memory and streams need to be ended.
package Griddep::Hold;
our @ISA = 'Griddep::Owner';
sub finish { Griddep::runtime_close($_[1]) }

package Griddep::Runtime;

sub own { my ($class, $handle) = @_; return bless {hold => Griddep::Hold->own($handle)}, $class }
sub handle { $_[0]{hold} && $_[0]{hold}{handle} }
sub close { delete $_[0]{hold}; return }
sub info { Griddep::info(runtime_info => runtime_get_info => $_[0]->handle) }

# PTX text, a cubin or a fatbin.
sub load {
    my ($self, $image, $name) = @_;
    ($image, $name) = (Griddep::octets($image), Griddep::c_text($name));
    my $options = Griddep::pack_struct(module_options => defined $name ? (name => Griddep::scalar_to_pointer($name)) : ());
    my @call = ($self->handle, Griddep::scalar_to_pointer($image), length $image, Griddep::scalar_to_pointer($options));
    return Griddep::Module->own(Griddep::made(module_load => @call));
}

# The same from a file; one whose name ends in .cu is compiled with NVRTC.
sub load_file { my ($self, $path) = @_; return Griddep::Module->own(Griddep::made(module_load_file => $self->handle, Griddep::c_text($path), undef)) }

sub load_shelf { my ($self, $kernel) = @_; return Griddep::Module->own(Griddep::made(module_load_shelf => $self->handle, Griddep::c_text($kernel), undef)) }

sub allocate {
    my ($self, $bytes) = @_;
    return Griddep::Memory->own(Griddep::made(memory_allocate => $self->handle, Griddep::size($bytes)), hold => $self->{hold}, bytes => $bytes);
}

# Device memory that holds these bytes: pack 'f<*', ...
sub copy_in {
    my ($self, $data, $stream) = @_;
    my $memory = $self->allocate(length $data);
    $self->write($memory, $data, $stream);
    return $memory;
}

sub write {
    my ($self, $memory, $data, $stream) = @_;
    utf8::downgrade($data, 1) or Griddep::refuse('the data has characters that are no bytes');
    my @call = ($self->handle, Griddep::place_of($memory, length $data), Griddep::scalar_to_pointer($data), length $data);
    return Griddep::call(memory_write => @call, Griddep::handle_of($stream));
}

# The first bytes of device memory, by default all of it: unpack 'f<*', $runtime->read($z)
sub read {
    my ($self, $memory, $bytes, $stream) = @_;
    my $place = Griddep::place_of($memory, Griddep::size($bytes //= $memory->{bytes}));
    my $data = "\0" x $bytes;
    Griddep::call(memory_read => $self->handle, Griddep::scalar_to_pointer($data), $place, $bytes, Griddep::handle_of($stream));
    return $data;
}

sub stream { my ($self) = @_; return Griddep::Stream->own(Griddep::made(stream_create => $self->handle, undef), hold => $self->{hold}) }
sub synchronize { my ($self, $stream) = @_; return Griddep::call(stream_synchronize => $self->handle, Griddep::handle_of($stream)) }
sub chain { my ($self) = @_; return Griddep::Chain->own(Griddep::made(chain_create => $self->handle), kept => []) }

# Nanoseconds between events before and after what the function puts into the stream.
sub time {
    my ($self, $work, $stream) = @_;
    my @events = map { Griddep::made(event_create => $self->handle, 0) } 1 .. 2;
    my $elapsed = eval {
        Griddep::call(event_record => $self->handle, $events[0], Griddep::handle_of($stream));
        $work->();
        Griddep::call(event_record => $self->handle, $events[1], Griddep::handle_of($stream));
        Griddep::made(event_elapsed => $self->handle, @events);
    };
    my $problem = $@;
    Griddep::call(event_destroy => $self->handle, $_) for @events;
    die $problem unless defined $elapsed;
    return $elapsed;
}

# Device memory, freed when nothing refers to it; the driver frees it when the work that uses it is done.
package Griddep::Memory;
our @ISA = 'Griddep::Owner';
sub what { 'memory' }
sub finish { Griddep::memory_free($_[0]{hold}{handle}, $_[1], undef) }
sub address { Griddep::handle_of($_[0]) }

package Griddep::Stream;
our @ISA = 'Griddep::Owner';
sub what { 'stream' }
sub finish { Griddep::stream_destroy($_[0]{hold}{handle}, $_[1], undef) }

package Griddep::Module;
our @ISA = 'Griddep::Owner';
sub what { "kernel's module" }
sub finish { Griddep::module_unload($_[1]) }

# A kernel keeps its module.
sub kernel {
    my ($self, $name) = @_;
    my $kernel = bless {module => $self, handle => Griddep::made(module_find_kernel => $self->{handle}, Griddep::c_text($name))}, 'Griddep::Kernel';
    my $last = $kernel->info->{parameter_count} - 1;
    $kernel->{parameters} = [map { Griddep::info(parameter_info => kernel_get_parameter => $kernel->{handle}, $_) } 0 .. $last];
    return $kernel;
}

package Griddep::Kernel;

my %CODES = (u8 => 'C', u16 => 'S<', u32 => 'L<', u64 => 'Q<', s8 => 'c', s16 => 's<', s32 => 'l<', s64 => 'q<', b8 => 'C', b16 => 'S<',
    b32 => 'L<', b64 => 'Q<', f32 => 'f<', f64 => 'd<');

sub info { Griddep::info(kernel_info => kernel_get_info => $_[0]{handle}) }
sub parameters { $_[0]{parameters} }

# Launches, asynchronously. Returns a REASON_*: whether the launch may overlap what is before it, and why.
sub launch {
    my ($self, $arguments, %config) = @_;
    my ($packed, $kept) = $self->pack_arguments($arguments);
    my $config = Griddep::config(%config);
    my @call = ($self->{handle}, Griddep::scalar_to_pointer($config), Griddep::scalar_to_pointer($packed), scalar @$kept);
    return Griddep::made(launch => @call);
}

# The array of griddep_argument, and the bytes that must live as long. A scalar reference gives bytes as they are.
sub pack_arguments {
    my ($self, $arguments) = @_;
    Griddep::handle_of($self->{module});
    my @bytes = map { $self->bytes_of($_, $arguments->[$_]) } 0 .. $#$arguments;
    my $packed = join '', map { Griddep::pack_struct(argument => bytes => length, data => Griddep::scalar_to_pointer($_)) } @bytes;
    return ($packed, \@bytes);
}

sub bytes_of {
    my ($self, $index, $value) = @_;
    return $$value if ref $value eq 'SCALAR';
    $value = Griddep::handle_of($value);
    my $parameter = $self->{parameters}[$index] // return ''; # one too many, which the library reports
    my $code = $CODES{$parameter->{type} // ''} // 'Q<';
    die "argument $index is no number; give its bytes as a reference to a string\n" unless Griddep::looks_like_number($value);
    my $bytes = Griddep::exact($code, $value, "argument $index", 1);
    die "argument $index has $parameter->{bytes} bytes; give them as a reference to a string\n" if length $bytes != $parameter->{bytes};
    return $bytes;
}

# Launches in stream order, prepared once, run many times. The chain keeps the memory that its arguments name.
package Griddep::Chain;
our @ISA = 'Griddep::Owner';
sub finish { Griddep::chain_destroy($_[1]) }

sub add {
    my ($self, $kernel, $arguments, %config) = @_;
    my ($packed, $kept) = $kernel->pack_arguments($arguments);
    my $config = Griddep::config(%config);
    Griddep::call(chain_add => $self->{handle}, $kernel->{handle}, Griddep::scalar_to_pointer($config),
        Griddep::scalar_to_pointer($packed), scalar @$kept);
    push @{$self->{kept}}, [$kernel, @$arguments];
    return $self;
}

# What a launch reaches at addresses that no argument gives it: [memory, bytes, ACCESS_*] each, and all that there is.
sub reaches {
    my ($self, $index, $places) = @_;
    my $uses = join '', map { Griddep::pack_struct(use => access => $_->[2], offset => Griddep::place_of($_->[0], $_->[1]), bytes => $_->[1]) } @$places;
    return Griddep::call(chain_set_reach => $self->{handle}, $index, Griddep::scalar_to_pointer($uses), scalar @$places);
}

sub prepare { my ($self, $mode) = @_; return Griddep::call(chain_prepare => $self->{handle}, Griddep::mode($mode)) }

# Runs the chain, asynchronously, in one of the modes serial, pdl, graph and graph-pdl.
sub run {
    my ($self, $mode, $stream) = @_;
    return Griddep::call(chain_run => $self->{handle}, Griddep::mode($mode // 'graph-pdl'), Griddep::handle_of($stream));
}

sub length { Griddep::chain_length($_[0]{handle}) }
sub hop { my ($self, $mode, $index) = @_; return Griddep::info(hop_info => chain_get_hop => $self->{handle}, Griddep::mode($mode), $index) }

1;
