# The emulated driver. libgriddep-machine.la holds its objects, for its tests.

lib_LTLIBRARIES += libgriddep-emulator.la
noinst_LTLIBRARIES += libgriddep-machine.la
libgriddep_machine_la_SOURCES = \
	%D%/abi.h \
	%D%/api.h \
	%D%/decode/async.c \
	%D%/decode/compare.c \
	%D%/decode/control.c \
	%D%/decode/decode.h %D%/decode/decoders.def \
	%D%/decode/emit.c \
	%D%/decode/function.c \
	%D%/decode/matrix.c \
	%D%/decode/memory.c \
	%D%/decode/modifier.c %D%/decode/modifier.def \
	%D%/decode/move.c \
	%D%/decode/operand.c \
	%D%/decode/program.c \
	%D%/decode/refuse.c \
	%D%/decode/registers.c \
	%D%/decode/regular.c %D%/decode/regular.def \
	%D%/decode/tensor.c \
	%D%/decode/warpgroup.c \
	%D%/driver/call.c %D%/driver/call.h \
	%D%/driver/capture.c \
	%D%/driver/context.c %D%/driver/context.h \
	%D%/driver/copy.h \
	%D%/driver/current.c \
	%D%/driver/device.c \
	%D%/driver/entry.c \
	%D%/driver/event.c \
	%D%/driver/executable.c \
	%D%/driver/graph.h \
	%D%/driver/graph_api.c \
	%D%/driver/graph_attribute.c \
	%D%/driver/graph_condition.c \
	%D%/driver/green.c \
	%D%/driver/green.h \
	%D%/driver/init.c \
	%D%/driver/jit.c \
	%D%/driver/launch.c \
	%D%/driver/library.c \
	%D%/driver/link.c \
	%D%/driver/memory_api.c \
	%D%/driver/merge.c %D%/driver/merge.h \
	%D%/driver/module.h \
	%D%/driver/module_api.c \
	%D%/driver/stream.c %D%/driver/stream.h \
	%D%/driver/tensor_map.c \
	%D%/driver/user_object.c \
	%D%/driver/virtual.c %D%/driver/virtual.h \
	%D%/execute/async.c %D%/execute/async.h \
	%D%/execute/atomic.c %D%/execute/atomic.h \
	%D%/execute/check.c %D%/execute/check.h \
	%D%/execute/cluster.c %D%/execute/cluster.h \
	%D%/execute/control.c %D%/execute/control.h \
	%D%/execute/convert.c %D%/execute/convert.h \
	%D%/execute/cta.c \
	%D%/execute/execute.h \
	%D%/execute/extent.c %D%/execute/extent.h \
	%D%/execute/lanes.def %D%/execute/lanes.h \
	%D%/execute/lanes_avx2.c \
	%D%/execute/lanes_base.c \
	%D%/execute/lanes_body.h \
	%D%/execute/math.c %D%/execute/math.h \
	%D%/execute/matrix.c %D%/execute/matrix.h \
	%D%/execute/memory.c %D%/execute/memory.h \
	%D%/execute/move.c %D%/execute/move.h \
	%D%/execute/program.h \
	%D%/execute/stop.c \
	%D%/execute/stuck.c \
	%D%/execute/sweep.h \
	%D%/execute/sweep_body.h \
	%D%/execute/system.c %D%/execute/system.h \
	%D%/execute/tensor.c %D%/execute/tensor.h \
	%D%/execute/warp.c %D%/execute/warp.h \
	%D%/execute/warpgroup.c %D%/execute/warpgroup.h \
	%D%/machine/machine.h \
	%D%/machine/memory.c %D%/machine/memory.h \
	%D%/machine/report.c %D%/machine/report.h \
	%D%/machine/tensor_map.c %D%/machine/tensor_map.h \
	%D%/race/access.c \
	%D%/race/barrier.c \
	%D%/race/clock.c \
	%D%/race/core.h \
	%D%/race/cta.c \
	%D%/race/known.c \
	%D%/race/memory.c \
	%D%/race/race.c %D%/race/race.h \
	%D%/race/shadow.c \
	%D%/race/sync.c \
	%D%/race/task.c \
	%D%/race/words.c \
	%D%/schedule/condition.c %D%/schedule/condition.h \
	%D%/schedule/device.c %D%/schedule/device.h \
	%D%/schedule/executable.c %D%/schedule/executable.h \
	%D%/schedule/graph.c %D%/schedule/graph.h \
	%D%/schedule/grid.c %D%/schedule/grid.h \
	%D%/schedule/host.c %D%/schedule/host.h \
	%D%/schedule/object.c %D%/schedule/object.h \
	%D%/schedule/ownership.h \
	%D%/schedule/schedule.c %D%/schedule/schedule.h \
	%D%/schedule/user_object.c %D%/schedule/user_object.h \
	%D%/schedule/work.c %D%/schedule/work.h
# Builds that do not optimize leave the lanes' loops as they are, of which clang would warn.
libgriddep_machine_la_CFLAGS = $(AM_CFLAGS) -Wno-pass-failed
libgriddep_machine_la_LIBADD = libgriddep-front.la -lm

libgriddep_emulator_la_SOURCES =
libgriddep_emulator_la_LIBADD = libgriddep-machine.la
libgriddep_emulator_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 -no-undefined \
	-Wl,--version-script=$(top_srcdir)/libgriddep-emulator.map
EXTRA_libgriddep_emulator_la_DEPENDENCIES = $(top_srcdir)/libgriddep-emulator.map
EXTRA_DIST += libgriddep-emulator.map

# Under the name by which programs open the CUDA driver, in a folder of its own, which is put into
# LD_LIBRARY_PATH of a program that is to run on it. The build tree has such a folder too.
driverdir = $(pkglibdir)/driver
driver_name = libcuda.so.1
driver_library = libgriddep-emulator.so.0

all-local: driver/$(driver_name)

driver/$(driver_name):
	$(AM_V_GEN)$(MKDIR_P) driver && rm -f $@ && $(LN_S) ../.libs/$(driver_library) $@

install-exec-local:
	$(MKDIR_P) '$(DESTDIR)$(driverdir)'
	rm -f '$(DESTDIR)$(driverdir)/$(driver_name)'
	cd '$(DESTDIR)$(driverdir)' && $(LN_S) ../../$(driver_library) $(driver_name)

uninstall-local:
	rm -f '$(DESTDIR)$(driverdir)/$(driver_name)'
	-rmdir '$(DESTDIR)$(driverdir)' '$(DESTDIR)$(pkglibdir)' 2>/dev/null

clean-local:
	rm -rf driver
