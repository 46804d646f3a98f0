# The driver's ABI and its functions.
libgriddep_core_la_SOURCES += \
	%D%/abi.h \
	%D%/abi_constants.def \
	%D%/abi_errors.def \
	%D%/abi_opaque.def %D%/abi_opaque.h \
	%D%/driver.c %D%/driver.def %D%/driver.h \
	%D%/driver_rows.h \
	%D%/nccl.c %D%/nccl.h %D%/nccl_symbols.def \
	%D%/nvrtc.c %D%/nvrtc.h \
	%D%/nvrtc_symbols.def
