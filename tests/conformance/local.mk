# One suite for every driver; by default it runs on the emulated one (HACKING.md).

unit_tests += %D%/test_conformance
%C%_test_conformance_SOURCES = \
	%D%/arithmetic_rows.def \
	%D%/conformance.c %D%/conformance.h \
	%D%/differences.def \
	%D%/not_executed.def \
	%D%/test_conformance_arithmetic.c \
	%D%/test_conformance_capture.c \
	%D%/test_conformance_conditional.c \
	%D%/test_conformance_copy.c \
	%D%/test_conformance_coverage.c \
	%D%/test_conformance_dependent.c \
	%D%/test_conformance_device.c \
	%D%/test_conformance_devices.c \
	%D%/test_conformance_graph.c \
	%D%/test_conformance_instruction.c \
	%D%/test_conformance_launch.c \
	%D%/test_conformance_memory.c \
	%D%/test_conformance_module.c \
	%D%/test_conformance_stream.c \
	%D%/test_conformance_tensor.c \
	%D%/test_conformance_green.c
%C%_test_conformance_LDADD = $(CHECK_LIBS) -ldl -lm
