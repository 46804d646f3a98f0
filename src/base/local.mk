# Files, text, errors, the environment: what every layer above uses.
libgriddep_front_la_SOURCES += \
	%D%/arena.c %D%/arena.h \
	%D%/attached.h \
	%D%/chip.c %D%/chip.def %D%/chip.h \
	%D%/constant.c \
	%D%/cubin.c %D%/cubin.h \
	%D%/digest.c %D%/digest.h \
	%D%/error.c %D%/error.h \
	%D%/fatbin.c %D%/fatbin.h \
	%D%/file.c %D%/file.h \
	%D%/format.c %D%/format.h \
	%D%/log.c %D%/log.h \
	%D%/status.def \
	%D%/table.c %D%/table.h \
	%D%/profiles.def \
	%D%/sass/instruction.h \
	%D%/sass/registers.c %D%/sass/registers.h \
	%D%/sass/traits.c %D%/sass/traits.h \
	%D%/text.c %D%/text.h \
	%D%/trust.c %D%/trust.h \
	%D%/unpack.c %D%/unpack.h \
	%D%/view.h

# What the command has a copy of.
libgriddep_base_la_SOURCES = \
	%D%/elf.c %D%/elf.h \
	%D%/environment.c %D%/environment.def %D%/environment.h \
	%D%/nearest.c %D%/nearest.h \
	%D%/search.h \
	%D%/statistics.c %D%/statistics.h

# Names and values of every constant of the header, for griddep_constant_find.
nodist_libgriddep_front_la_SOURCES = %D%/constants.inc
BUILT_SOURCES += %D%/constants.inc
CLEANFILES += %D%/constants.inc
EXTRA_DIST += build-tools/constants.awk
%D%/constant.lo: %D%/constants.inc
%D%/constants.inc: include/griddep.h build-tools/constants.awk
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(AWK) -f $(srcdir)/build-tools/constants.awk \
	    $(srcdir)/include/griddep.h >$@.new && mv $@.new $@
