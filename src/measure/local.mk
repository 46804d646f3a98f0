# Timelines, the tuner, and what attacks orders of chains.
libgriddep_core_la_SOURCES += \
	%D%/adversary.c \
	%D%/figures.c %D%/figures.h \
	%D%/instrument.c %D%/instrument.h \
	%D%/timeline.c \
	%D%/tune.c %D%/tune.h \
	%D%/tune_confirm.c \
	%D%/tune_store.c \
	%D%/tune_time.c \
	%D%/tune_trial.c \
	%D%/tune_variant.c \
	%D%/tune_why.c

# Fresh runs of a chain and their time call the public interface alone: the library and the command
# each have a copy.
noinst_LTLIBRARIES += libgriddep-experiment.la
libgriddep_core_la_LIBADD += libgriddep-experiment.la
libgriddep_experiment_la_SOURCES = \
	%D%/clock.c %D%/clock.h \
	%D%/experiment.c %D%/experiment.h
