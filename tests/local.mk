# Tests. Programs end with check's summary line, scripts with "N passed, N failed, N skipped"; exit
# 77 is a skip. A program's source is its name with .c, and it is linked with LDADD: what differs
# stands in the local.mk of its folder.

unit_tests =
gpu_tests =
fuzz_programs =
archive_scripts = %D%/embed.sh
script_tests = $(archive_scripts)
# Those that sanitizers teach nothing: a build with sanitizers has none (HACKING.md).
plain_archive_scripts = %D%/header.sh %D%/symbols.sh %D%/layering.sh %D%/installed.sh
plain_scripts = $(plain_archive_scripts) \
	%D%/bootstrap.sh %D%/rewrite_assemble.sh %D%/rewrite_old.sh %D%/setuid.sh

# What takes longest stands first, the longest of all in front, so that no processor is left alone
# with it at the end.
long_scripts = \
	%D%/llama/llama.sh \
	%D%/cli/outputs.sh \
	%D%/cli/test_cli.sh \
	%D%/cli/answers.sh \
	%D%/attach/attach.sh \
	%D%/fuzz/sequences.sh
plain_long_scripts = \
	%D%/emulator/kernels.sh \
	%D%/emulator/examples.sh \
	%D%/emulator/questions.sh \
	%D%/doc/json.sh \
	%D%/doc/run.sh \
	%D%/cli/facts.sh \
	%D%/cli/held.sh \
	%D%/cli/transcripts.sh
long_programs = \
	%D%/emulator/test_group \
	%D%/emulator/test_tune \
	%D%/measure/test_timeline \
	%D%/emulator/test_exhaustion \
	%D%/gpu/test_failures
plain_programs = %D%/emulator/test_mutations $(gpu_tests)
ever_tests = $(long_scripts) $(long_programs) $(unit_tests) $(script_tests)
if SANITIZED
TESTS = $(ever_tests)
built_programs =
else
TESTS = $(plain_long_scripts) $(plain_programs) $(ever_tests) $(plain_scripts)
built_programs = $(plain_programs)
endif
.PHONY: tell-tests
tell-tests: all # how many there are, for who waits
	@set -- $(TESTS) && echo "tests: $$#"
check_PROGRAMS = $(long_programs) $(unit_tests) $(fuzz_programs) $(built_programs)

# The command as tests start it, thousands of times: the script that libtool puts in front of the
# other one takes ten times as long as the command does. It is data, so that it is made whichever
# programs are.
EXTRA_PROGRAMS += %D%/griddep
check_DATA = %D%/griddep
CLEANFILES += %D%/griddep
%C%_griddep_SOURCES = src/cli/main.c
%C%_griddep_LDADD = $(command_ldadd)
%C%_griddep_LDFLAGS = $(AM_LDFLAGS) -no-install

# What `./bootstrap check` runs in distcheck: tests that read files of the archive or of the build,
# and those that install.
archive_programs = \
	%D%/unit/test_check %D%/unit/test_context %D%/unit/test_ptx %D%/unit/test_rewrite \
	%D%/emulator/test_interpreter
archive_tests = $(archive_programs) $(archive_scripts) $(plain_archive_scripts)

# A test that makes allocations fail is linked with LDFLAGS = $(failing), and calls fail_alloc.
LDADD = libfake-core.la %D%/unit/libfail-alloc.la libgriddep-core.la $(CHECK_LIBS) -lm
failing = $(AM_LDFLAGS) \
	-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup,--wrap=strndup,--wrap=posix_memalign

if SANITIZED
SANITIZED_VALUE = 1
else
SANITIZED_VALUE =
endif

# AddressSanitizer guesses where a library that is opened later has its thread-local memory, wrongly
# where that begins 16 bytes into a page, and LeakSanitizer then reads what is not there: it is told
# not to guess.
AM_TESTS_ENVIRONMENT = \
	srcdir='$(abs_top_srcdir)'; builddir='$(abs_top_builddir)'; \
	GRIDDEP='$(abs_top_builddir)/%D%/griddep'; \
	FAKE_DRIVER='$(abs_top_builddir)/.libs/libfake-cuda.so'; \
	FAKE_NVRTC='$(abs_top_builddir)/.libs/libfake-nvrtc.so'; \
	EMULATED_DRIVER='$(abs_top_builddir)/.libs/$(driver_library)'; \
	SANITIZED='$(SANITIZED_VALUE)'; CC='$(CC)'; CXX='$(CXX)'; NM='$(NM)'; MAKE='$(MAKE)'; \
	PYTHON3='$(PYTHON3)'; LUAJIT='$(LUAJIT)'; \
	CK_VERBOSITY=normal; CK_DEFAULT_TIMEOUT=1800; GRIDDEP_STORE=off; MALLOC_PERTURB_=165; \
	export srcdir builddir GRIDDEP FAKE_DRIVER FAKE_NVRTC EMULATED_DRIVER SANITIZED; \
	export CC CXX NM MAKE PYTHON3 LUAJIT; \
	ASAN_OPTIONS="intercept_tls_get_addr=0:malloc_context_size=8$${ASAN_OPTIONS:+:$$ASAN_OPTIONS}"; \
	export CK_VERBOSITY CK_DEFAULT_TIMEOUT GRIDDEP_STORE MALLOC_PERTURB_ ASAN_OPTIONS;

EXTRA_DIST += $(long_scripts) $(script_tests) $(plain_long_scripts) $(plain_scripts) \
	%D%/cases.sh %D%/summary.sh %D%/conditional.h %D%/sanitized.h %D%/suite.h %D%/unfold.h \
	%D%/mutants/mutants.py \
	%D%/preload.sh \
	$(wildcard $(srcdir)/%D%/golden/*.* $(srcdir)/%D%/golden/*/*.*)
