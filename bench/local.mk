# Benchmarks, built on demand: make bench/emulator.

EXTRA_PROGRAMS += %D%/emulator
CLEANFILES += %D%/emulator
%C%_emulator_LDADD = libgriddep-machine.la libgriddep-core.la -lm
EXTRA_%C%_emulator_DEPENDENCIES = libgriddep-emulator.la
EXTRA_DIST += $(wildcard $(srcdir)/%D%/peers/*.py)
