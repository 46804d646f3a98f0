# Fresh runs of a chain and their time: of what calls the public interface alone, the library and the
# command each have a copy.
noinst_LTLIBRARIES += libgriddep-experiment.la
libgriddep_core_la_LIBADD += libgriddep-experiment.la
libgriddep_experiment_la_SOURCES = \
	%D%/clock.c %D%/clock.h \
	%D%/experiment.c %D%/experiment.h
