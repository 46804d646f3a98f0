# The fake driver, a wrapper around the emulated one, in two forms: linked into unit tests, and as a
# library that is opened by its path.

check_LTLIBRARIES += libfake-core.la libfake-cuda.la libfake-nccl.la libfake-nvrtc.la
libfake_core_la_SOURCES = \
	%D%/fake_driver.c %D%/fake_driver.h \
	%D%/fake_report.c %D%/fake_report.h
libfake_core_la_CPPFLAGS = $(AM_CPPFLAGS) \
	-DEMULATED_DRIVER='"$(abs_top_builddir)/.libs/libgriddep-emulator.so.0"'
libfake_cuda_la_SOURCES =
libfake_cuda_la_LIBADD = libfake-core.la
libfake_cuda_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -rpath /nowhere
libfake_nvrtc_la_SOURCES = %D%/fake_nvrtc.c
libfake_nvrtc_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -rpath /nowhere
libfake_nccl_la_SOURCES = %D%/fake_nccl.c
libfake_nccl_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -rpath /nowhere
