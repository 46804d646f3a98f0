# The emulated driver: its parts, linked, and the library on it, through the shared object.

emulator_ldadd = libgriddep-machine.la $(LDADD)
unit_tests += \
	%D%/test_capture \
	%D%/test_cluster \
	%D%/test_devices \
	%D%/test_driver \
	%D%/test_executed \
	%D%/test_findings \
	%D%/test_forms \
	%D%/test_graph \
	%D%/test_hostile \
	%D%/test_interpreter \
	%D%/test_lanes \
	%D%/test_race \
	%D%/test_race_random \
	%D%/test_stress \
	%D%/test_sweep \
	%D%/test_switch \
	%D%/test_tensor \
	%D%/test_texts
%C%_test_capture_LDADD = $(emulator_ldadd)
%C%_test_cluster_LDADD = $(emulator_ldadd)
%C%_test_devices_LDADD = $(emulator_ldadd)
%C%_test_driver_LDADD = $(emulator_ldadd)
%C%_test_exhaustion_LDADD = $(emulator_ldadd)
%C%_test_exhaustion_LDFLAGS = $(failing)
%C%_test_executed_LDADD = $(emulator_ldadd)
%C%_test_findings_LDADD = $(emulator_ldadd)
%C%_test_forms_LDADD = $(emulator_ldadd)
%C%_test_group_LDADD = libgriddep.la $(CHECK_LIBS)
%C%_test_group_CPPFLAGS = $(AM_CPPFLAGS) -DFAKE_NCCL='"$(abs_top_builddir)/.libs/libfake-nccl.so"'
%C%_test_hostile_LDADD = $(emulator_ldadd)
%C%_test_interpreter_LDADD = $(emulator_ldadd)
%C%_test_lanes_LDADD = $(emulator_ldadd)
%C%_test_mutations_LDADD = libgriddep.la $(CHECK_LIBS)
%C%_test_race_LDADD = $(emulator_ldadd)
%C%_test_race_LDFLAGS = $(failing)
%C%_test_race_random_LDADD = $(emulator_ldadd)
%C%_test_stress_LDADD = libgriddep.la $(CHECK_LIBS) -ldl -lpthread
%C%_test_sweep_LDADD = $(emulator_ldadd)
%C%_test_tensor_LDADD = $(emulator_ldadd)
%C%_test_texts_LDADD = $(emulator_ldadd)
%C%_test_tune_LDFLAGS = $(failing)

# The same tests as on a GPU.
%C%_test_graph_SOURCES = tests/gpu/test_graph.c
%C%_test_graph_CPPFLAGS = $(AM_CPPFLAGS) -DEMULATED

archive_scripts += %D%/trace.sh
plain_archive_scripts += %D%/symbols.sh
EXTRA_DIST += %D%/forms.h %D%/forms.txt %D%/refused.txt %D%/machine_test.h
