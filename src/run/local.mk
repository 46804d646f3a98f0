# Launches, graphs and chains on a driver.
libgriddep_core_la_SOURCES += \
	%D%/attribute.c \
	%D%/attribute_check.c %D%/attribute_check.h \
	%D%/call.c %D%/call.h \
	%D%/capture.c %D%/capture.h \
	%D%/chain.c %D%/chain.h \
	%D%/chain_check.c %D%/private.h \
	%D%/chain_lane.c \
	%D%/compile.c %D%/compile.h \
	%D%/conditional.c %D%/conditional.h \
	%D%/driver_cache.c %D%/driver_cache.h \
	%D%/early.c %D%/early.h \
	%D%/event.c %D%/event.h \
	%D%/explain.c \
	%D%/footprint.c %D%/footprint.h \
	%D%/graph.c %D%/graph.h \
	%D%/graph_adopt.c \
	%D%/graph_audit.c \
	%D%/graph_build.c \
	%D%/graph_change.c \
	%D%/graph_conditional.c \
	%D%/graph_inner.c \
	%D%/graph_print.c \
	%D%/graph_upgrade.c \
	%D%/hold.c %D%/hold.h \
	%D%/hop.h \
	%D%/image.c %D%/image.h \
	%D%/kernel.c %D%/kernel.h \
	%D%/launch.c %D%/launch.h \
	%D%/memory.c \
	%D%/module.c %D%/module.h \
	%D%/reasons.def \
	%D%/require.c %D%/require.h \
	%D%/room.c %D%/room.h \
	%D%/runtime.c %D%/runtime.h \
	%D%/shelf.c \
	%D%/store.c %D%/store.h \
	%D%/stream.c %D%/stream.h \
	%D%/tensor_map.c %D%/tensor_map.h

# The shelf as byte arrays.
nodist_libgriddep_core_la_SOURCES = %D%/shelf.inc
BUILT_SOURCES += %D%/shelf.inc
CLEANFILES += %D%/shelf.inc
EXTRA_DIST += build-tools/shelf.sh
%D%/shelf.lo: %D%/shelf.inc
%D%/shelf.inc: $(shelf_files) $(shelf_generated) build-tools/shelf.sh
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(SHELL) $(srcdir)/build-tools/shelf.sh $(srcdir) \
	    $(shelf_files) $(shelf_generated) >$@.new && mv $@.new $@
