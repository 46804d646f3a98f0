# The driver's ABI and its symbols.
libgriddep_core_la_SOURCES += \
	%D%/abi.h \
	%D%/abi_constants.def \
	%D%/abi_errors.def \
	%D%/driver.c %D%/driver.h \
	%D%/nvrtc.c %D%/nvrtc.h \
	%D%/nvrtc_symbols.def \
	%D%/symbols.def
