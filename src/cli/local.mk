# The command: the public header, its own files, libyaml and jansson.

bin_PROGRAMS = griddep
griddep_SOURCES = %D%/main.c
command_ldadd = libgriddep-command.la libgriddep-reference.la libgriddep-experiment.la \
	libgriddep-base.la libgriddep.la $(YAML_LIBS) $(JANSSON_LIBS) -lm
griddep_LDADD = $(command_ldadd)
griddep_LDFLAGS = $(AM_LDFLAGS) $(BESIDE_LDFLAGS)
noinst_LTLIBRARIES += libgriddep-command.la libgriddep-reference.la

# Typed numbers and the float64 references, which the kernel tests use too.
libgriddep_reference_la_SOURCES = \
	%D%/io/name.c %D%/io/name.h \
	%D%/io/number.c %D%/io/number.h \
	%D%/plan/reference.c %D%/plan/reference.h \
	%D%/plan/reference_attention.c %D%/plan/reference_attention.h \
	%D%/plan/reference_elementwise.c \
	%D%/plan/reference_embedding.c \
	%D%/plan/reference_family.c %D%/plan/reference_family.h \
	%D%/plan/reference_gemm.c \
	%D%/plan/reference_linear.c \
	%D%/plan/reference_norm.c \
	%D%/plan/reference_sampling.c \
	%D%/plan/reference_softmax.c

# All of the command but main, which tests of its parts use too.
libgriddep_command_la_SOURCES = \
	%D%/audit.c \
	%D%/check.c \
	%D%/command.h %D%/commands.def \
	%D%/compare.c \
	%D%/demo.c %D%/demo.h \
	%D%/explain.c \
	%D%/info.c \
	%D%/kernels.c \
	%D%/off.c \
	%D%/on.c \
	%D%/rewrite.c \
	%D%/run.c \
	%D%/sanitize.c \
	%D%/spawn.c \
	%D%/stress.c \
	%D%/trace.c \
	%D%/tune.c \
	%D%/io/device.c %D%/io/device.h \
	%D%/io/emulation.c %D%/io/emulation.h \
	%D%/io/exitcodes.def \
	%D%/io/heap.c %D%/io/heap.h \
	%D%/io/help.c %D%/io/help.h \
	%D%/io/hostfile.c %D%/io/hostfile.h \
	%D%/io/message.c %D%/io/message.h \
	%D%/io/options.c %D%/io/options.h \
	%D%/io/output.c %D%/io/output.h \
	%D%/io/outputfile.c %D%/io/outputfile.h \
	%D%/io/xml.c %D%/io/xml.h \
	%D%/io/progress.c %D%/io/progress.h \
	%D%/io/quote.c %D%/io/quote.h \
	%D%/io/suggest.c %D%/io/suggest.h \
	%D%/io/supervise.c %D%/io/supervise.h \
	%D%/io/temporary.c %D%/io/temporary.h \
	%D%/io/type.c %D%/io/type.h \
	%D%/io/yaml.c %D%/io/yaml.h \
	%D%/job/advice.c %D%/job/advice.h \
	%D%/job/attack.c %D%/job/attack.h \
	%D%/job/ceiling.c %D%/job/ceiling.h \
	%D%/job/chaincheck.c %D%/job/chaincheck.h \
	%D%/job/chainexplain.c %D%/job/chainexplain.h \
	%D%/job/driverfolder.c %D%/job/driverfolder.h \
	%D%/job/hops.c %D%/job/hops.h \
	%D%/job/job.c %D%/job/job.h \
	%D%/job/measure.c %D%/job/measure.h \
	%D%/job/overlap.c %D%/job/overlap.h \
	%D%/job/report.c %D%/job/report.h \
	%D%/job/sanitize.c %D%/job/sanitize.h \
	%D%/job/sanitizechain.c \
	%D%/job/session.c %D%/job/session.h \
	%D%/job/textfix.c %D%/job/textfix.h \
	%D%/job/verify.c %D%/job/verify.h \
	%D%/plan/catalog.c %D%/plan/catalog.h \
	%D%/plan/chainfile.c %D%/plan/chainfile.def %D%/plan/chainfile.h \
	%D%/plan/constantlist.c %D%/plan/constantlist.h \
	%D%/plan/fill.c %D%/plan/fill.h \
	%D%/plan/modulefile.c %D%/plan/modulefile.h \
	%D%/plan/plan.c %D%/plan/plan.h \
	%D%/plan/planbuild.c %D%/plan/planbuild.h \
	%D%/plan/plancheck.c %D%/plan/plancheck.h \
	%D%/plan/planfile.c %D%/plan/planfile.h \
	%D%/plan/planlaunch.c %D%/plan/planlaunch.h \
	%D%/program/attach.c %D%/program/attach.h \
	%D%/program/attached.c %D%/program/attached.h \
	%D%/program/attachedcode.c %D%/program/attachedcode.h \
	%D%/program/attachedprogram.c %D%/program/attachedprogram.h \
	%D%/program/audit.c %D%/program/audit.h \
	%D%/program/auditjson.c %D%/program/auditjson.h \
	%D%/program/auditmerge.c %D%/program/auditmerge.h \
	%D%/program/auditreport.c %D%/program/auditreport.h \
	%D%/program/recordedchain.c %D%/program/recordedchain.h \
	%D%/program/recordedfile.c %D%/program/recordedfile.h \
	%D%/program/recordedprogram.c %D%/program/recordedprogram.h \
	%D%/show/emulatorreport.c %D%/show/emulatorreport.h \
	%D%/show/finding.c %D%/show/finding.h \
	%D%/show/hopsreport.c %D%/show/hopsreport.h \
	%D%/show/place.c %D%/show/place.h \
	%D%/show/racelist.c %D%/show/racelist.h \
	%D%/show/sarif.c %D%/show/sarif.h \
	%D%/show/spanview.c %D%/show/spanview.h \
	%D%/show/tracedraw.c \
	%D%/show/tracejson.c %D%/show/tracejson.h \
	%D%/show/traceperfetto.c \
	%D%/show/tracesvg.c \
	%D%/show/tracetext.c \
	%D%/show/traceview.c %D%/show/traceview.h \
	%D%/show/tunereport.c %D%/show/tunereport.h \
	%D%/show/tunewrite.c %D%/show/tunewrite.h \
	%D%/show/verdict.c %D%/show/verdict.h
