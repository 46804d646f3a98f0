# The library. libgriddep-front.la holds what needs no driver (base, ptx), libgriddep-core.la all
# objects: the shared library is made of it, and unit tests link it to reach what is not exported.

include_HEADERS = include/griddep.h include/griddep_values.h
pkgconfig_DATA = griddep.pc
lib_LTLIBRARIES += libgriddep.la
noinst_LTLIBRARIES += libgriddep-base.la libgriddep-front.la libgriddep-core.la

libgriddep_front_la_SOURCES =
libgriddep_front_la_LIBADD = libgriddep-base.la
libgriddep_core_la_SOURCES =
libgriddep_core_la_LIBADD = libgriddep-front.la

libgriddep_la_SOURCES =
libgriddep_la_LIBADD = libgriddep-core.la
libgriddep_la_LIBTOOLFLAGS =
libgriddep_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 -no-undefined \
	-Wl,--version-script=$(top_srcdir)/libgriddep.map
EXTRA_libgriddep_la_DEPENDENCIES = $(top_srcdir)/libgriddep.map
