# Benchmarks, built on demand and not installed: make bench/emulator bench/suites. `make check` builds
# them too, so that they stay whole; with sanitizers it does not.

if !SANITIZED
check_PROGRAMS += %D%/emulator %D%/front %D%/hops %D%/suites
endif
%C%_emulator_LDADD = libgriddep-machine.la libgriddep-core.la -lm
EXTRA_%C%_emulator_DEPENDENCIES = libgriddep-emulator.la
EXTRA_DIST += $(wildcard $(srcdir)/%D%/peers/*.py) %D%/attach.sh $(wildcard $(srcdir)/%D%/programs/*)

%C%_front_LDADD = libgriddep.la

%C%_suites_SOURCES = %D%/suites.c %D%/suites.h
%C%_suites_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)
%C%_suites_LDADD = libgriddep-suites.la $(command_ldadd)
check_LTLIBRARIES += libgriddep-suites.la
libgriddep_suites_la_SOURCES = \
	%D%/bench.c %D%/bench.h \
	%D%/decoder.c %D%/decoder.h \
	%D%/fc_chain.c %D%/fc_chain.h \
	%D%/handoff.c %D%/handoff.h \
	%D%/suite_fc_chain.c \
	%D%/suite_handoff.c \
	%D%/suite_launch.c \
	%D%/suite_rounds.c \
	%D%/suite_transformer_block.c
libgriddep_suites_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)

%C%_hops_LDADD = libgriddep.la
