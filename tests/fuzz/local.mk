# Random and mutated input. The head comment of each program's first source has the commands.

fuzz_programs += \
	%D%/chains \
	%D%/differential \
	%D%/execute \
	%D%/files \
	%D%/gate \
	%D%/image \
	%D%/sequences \
	%D%/tensor
script_tests += \
	%D%/chains.sh \
	%D%/differential.sh \
	%D%/execute.sh \
	%D%/files.sh \
	%D%/gate.sh \
	%D%/image.sh \
	%D%/tensor.sh
machine_ldadd = libgriddep-machine.la libgriddep-core.la -lm

# Random chains, and whether AUTO gives the serial results.
%C%_chains_LDADD = libgriddep-core.la

# Random programs on two drivers.
%C%_differential_SOURCES = \
	%D%/differential.c \
	%D%/differential_compare.c %D%/differential_compare.h \
	%D%/differential_coverage.c %D%/differential_coverage.h \
	%D%/differential_forms.def \
	%D%/differential_make.h \
	%D%/differential_program.c %D%/differential_program.h \
	%D%/differential_run.c %D%/differential_run.h \
	%D%/differential_statement.c \
	%D%/differential_without.def
%C%_differential_LDADD = libgriddep-front.la -lm

# Mutated PTX on the emulated driver.
%C%_execute_SOURCES = \
	%D%/differential_program.c %D%/differential_statement.c \
	%D%/execute.c %D%/execute.h \
	%D%/execute_program.c \
	%D%/harness.c %D%/harness.h \
	%D%/mutate.c %D%/mutate.h
%C%_execute_LDADD = $(machine_ldadd)

# Mutated chain files and entries of the store.
%C%_files_SOURCES = %D%/files.c %D%/harness.c
%C%_files_LDADD = libgriddep-command.la libgriddep-reference.la libgriddep-core.la \
	$(YAML_LIBS) $(JANSSON_LIBS) -lm

# Random kernels and whether they wait.
%C%_gate_SOURCES = %D%/gate.c %D%/gate_program.c %D%/gate_program.h
%C%_gate_LDADD = libgriddep-core.la

# Crafted cubins, fatbins and images of the emulated driver.
%C%_image_SOURCES = %D%/harness.c %D%/image.c
%C%_image_LDADD = $(machine_ldadd)

# Random sequences of public calls on the emulated driver.
%C%_sequences_SOURCES = \
	%D%/sequences.c %D%/sequences.h \
	%D%/sequences_queries.c \
	%D%/sequences_steps.c %D%/sequences_streams.c
nodist_%C%_sequences_SOURCES = %D%/sequences_public.inc
%C%_sequences_LDADD = $(machine_ldadd) -lpthread
BUILT_SOURCES += %D%/sequences_public.inc
CLEANFILES += %D%/sequences_public.inc
%D%/sequences_public.inc: libgriddep.map
	$(AM_V_GEN)$(MKDIR_P) $(@D) && sed -n 's/^ *\(griddep_[a-z0-9_]*\);$$/GD_PUBLIC(\1)/p' \
	    $(srcdir)/libgriddep.map >$@.new && mv $@.new $@

# Random tensor copies and warpgroup products on two drivers.
%C%_tensor_SOURCES = \
	%D%/tensor.c \
	%D%/tensor_copy.c \
	%D%/tensor_driver.c %D%/tensor_driver.h \
	%D%/tensor_encode.c \
	%D%/tensor_product.c
%C%_tensor_LDADD = libgriddep-front.la

EXTRA_DIST += %D%/differential.gpu %D%/tensor.gpu %D%/fuzz_ptx.c \
	%D%/fold.py %D%/forms.py %D%/instructions.py %D%/instruction_needs.py %D%/texts.py %D%/make_corpus.py $(wildcard $(srcdir)/%D%/seeds/*.ptx)
