# Timelines and the tuner.

unit_tests += %D%/test_experiment
plain_programs += %D%/test_tune_clock
%C%_test_experiment_LDFLAGS = $(failing)
%C%_test_timeline_LDFLAGS = $(failing)
%C%_test_tune_clock_LDADD = libgriddep-command.la libgriddep-reference.la $(LDADD) \
	$(YAML_LIBS) $(JANSSON_LIBS)
