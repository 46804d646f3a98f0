# Launches, graphs and chains on a driver.
libgriddep_core_la_SOURCES += \
	%D%/capture.c %D%/capture.h \
	%D%/completion.c \
	%D%/copy.c \
	%D%/device.c \
	%D%/driver_cache.c %D%/driver_cache.h \
	%D%/enter.c \
	%D%/host.c %D%/host.h \
	%D%/memory.c \
	%D%/part.c %D%/part.h \
	%D%/private.h \
	%D%/runtime.c %D%/runtime.h \
	%D%/store.c %D%/store.h \
	%D%/stream.c %D%/stream.h \
	%D%/tensor_map.c %D%/tensor_map.h \
	%D%/module/compile.c %D%/module/compile.h \
	%D%/module/image.c %D%/module/image.h \
	%D%/module/kernel.c %D%/module/kernel.h \
	%D%/module/link.c %D%/module/link.h \
	%D%/module/module.c %D%/module/module.h \
	%D%/module/shape.c %D%/module/shape.h \
	%D%/module/shelf.c %D%/module/shelf.h \
	%D%/launch/attribute.c \
	%D%/launch/attribute_check.c %D%/launch/attribute_check.h \
	%D%/launch/call.c %D%/launch/call.h \
	%D%/launch/attributes.def \
	%D%/launch/early.c %D%/launch/early.h \
	%D%/launch/words.c %D%/launch/words.h \
	%D%/launch/event.c %D%/launch/event.h \
	%D%/launch/footprint.c %D%/launch/footprint.h \
	%D%/launch/hold.c %D%/launch/hold.h \
	%D%/launch/hop.h \
	%D%/launch/launch.c %D%/launch/launch.h \
	%D%/launch/reasons.def \
	%D%/launch/require.c %D%/launch/require.h \
	%D%/launch/room.c %D%/launch/room.h \
	%D%/group/agree.c \
	%D%/group/crossing.c \
	%D%/group/group.c %D%/group/group.h \
	%D%/group/large.c \
	%D%/group/launched.c %D%/group/launched.h \
	%D%/group/meet.c %D%/group/meet.h \
	%D%/group/place.c %D%/group/place.h \
	%D%/group/share.c %D%/group/share.h \
	%D%/graph/adopt.c \
	%D%/graph/audit.c \
	%D%/graph/build.c \
	%D%/graph/change.c \
	%D%/graph/graph.c %D%/graph/graph.h \
	%D%/graph/inner.c \
	%D%/graph/print.c \
	%D%/graph/upgrade.c \
	%D%/chain/chain.c %D%/chain/chain.h \
	%D%/chain/change.c \
	%D%/chain/check.c \
	%D%/chain/decide.c \
	%D%/chain/explain.c \
	%D%/chain/graph.c \
	%D%/chain/group.c \
	%D%/chain/held.c \
	%D%/chain/lane.c \
	%D%/chain/ready.c

# The shelf, and the kernels of groups, as strings.
nodist_libgriddep_core_la_SOURCES = %D%/shelf.inc %D%/hops.inc
BUILT_SOURCES += %D%/shelf.inc %D%/hops.inc
CLEANFILES += %D%/shelf.inc %D%/hops.inc
EXTRA_DIST += build-tools/shelf.sh
%D%/module/shelf.lo: %D%/shelf.inc
%D%/shelf.inc: $(shelf_files) $(shelf_generated) build-tools/shelf.sh
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(SHELL) $(srcdir)/build-tools/shelf.sh $(srcdir) \
	    $(shelf_files) $(shelf_generated) >$@.new && mv $@.new $@
%D%/group/group.lo: %D%/hops.inc
%D%/hops.inc: $(group_generated) build-tools/shelf.sh
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(SHELL) $(srcdir)/build-tools/shelf.sh $(srcdir) \
	    $(group_generated) >$@.new && mv $@.new $@
