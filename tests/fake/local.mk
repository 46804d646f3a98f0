# The fake driver, in two forms: linked into unit tests, and as a library that is opened by its
# path.

check_LTLIBRARIES += libfake-core.la libfake-cuda.la libfake-nvrtc.la
libfake_core_la_SOURCES = \
	%D%/fake_build.c \
	%D%/fake_device.c \
	%D%/fake_driver.c %D%/fake_driver.h \
	%D%/fake_graph.c \
	%D%/fake_image.c %D%/fake_image.h \
	%D%/fake_launch.c \
	%D%/fake_module.c \
	%D%/fake_report.c \
	%D%/fake_state.c %D%/fake_state.h \
	%D%/fake_stream.c
libfake_cuda_la_SOURCES =
libfake_cuda_la_LIBADD = libfake-core.la
libfake_cuda_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -rpath /nowhere
libfake_nvrtc_la_SOURCES = %D%/fake_nvrtc.c
libfake_nvrtc_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -rpath /nowhere
