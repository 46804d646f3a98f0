# The library that stands in front of a driver, and the subcommands that run programs with it.

fuzz_programs += %D%/program
%C%_program_LDADD = -ldl -lpthread
%C%_program_LDFLAGS = $(AM_LDFLAGS) -rdynamic
EXTRA_DIST += %D%/fake_cupti.c
script_tests += %D%/views.sh
