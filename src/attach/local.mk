# What stands in front of a driver for programs of others: it depends on libc, and on the driver behind
# it by a name. The command makes a folder for each run, in which this library is libcuda.so.1 and
# that name the driver.

attachdir = $(pkglibdir)/attach
attach_LTLIBRARIES = libgriddep-attach.la
libgriddep_attach_la_SOURCES = \
	%D%/address.c \
	%D%/child.c \
	%D%/code.c %D%/code.h \
	%D%/cupti.h \
	%D%/executables.c %D%/executables.h \
	%D%/forward.c \
	%D%/graphs.c %D%/graphs.h \
	%D%/image.c %D%/image.h \
	%D%/instantiate.c \
	%D%/kernels.c %D%/kernels.h \
	%D%/lanes.c %D%/lanes.h \
	%D%/launch.c \
	%D%/map.c %D%/map.h \
	%D%/modules.c \
	%D%/next.c %D%/next.h \
	%D%/order.c \
	%D%/place.c %D%/place.h \
	%D%/pointers.c %D%/pointers.h \
	%D%/process.c %D%/process.h \
	%D%/record.c %D%/record.h \
	%D%/recordedgraph.c %D%/recordedgraph.h \
	%D%/recording.c %D%/recording.h \
	%D%/see.h \
	%D%/spans.c %D%/spans.h \
	%D%/streams.c %D%/streams.h \
	%D%/times.c %D%/times.h \
	%D%/watch.h
libgriddep_attach_la_LIBADD = libgriddep-front.la
# It stays loaded: a driver behind it does, and would be found by programs in its place.
libgriddep_attach_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -no-undefined \
	-Wl,--version-script=$(top_srcdir)/libgriddep-attach.map -Wl,-z,nodelete \
	-Wl,--no-as-needed,$(attach_next)
EXTRA_libgriddep_attach_la_DEPENDENCIES = $(top_srcdir)/libgriddep-attach.map $(attach_next)
EXTRA_DIST += libgriddep-attach.map

# For the linker alone: an empty library of that name.
attach_next = attach/libgriddep-next.so
$(attach_next):
	$(AM_V_GEN)$(MKDIR_P) attach && $(CC) -shared -nostdlib -Wl,-soname,$(@F) -o $@ -x c /dev/null
CLEANFILES += $(attach_next)
