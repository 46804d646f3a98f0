# The command.

unit_tests += %D%/test_bench %D%/test_plan
%C%_test_bench_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)
%C%_test_bench_LDADD = libgriddep-suites.la $(command_ldadd) $(CHECK_LIBS)
%C%_test_plan_LDADD = $(command_ldadd) $(CHECK_LIBS)
script_tests += %D%/compare.sh %D%/states.sh %D%/peers.sh \
	%D%/check_text.sh %D%/gate.sh %D%/sources.sh %D%/terminal.sh
plain_scripts += %D%/cubins.sh %D%/rewrite_twice.sh %D%/suites.sh
EXTRA_DIST += $(wildcard $(srcdir)/%D%/gate/*) %D%/outputs.py %D%/answers.py %D%/facts.py %D%/transcripts.py %D%/transcripts.txt %D%/short.bin %D%/bad.awk %D%/bad.txt \
	$(wildcard $(srcdir)/%D%/*.yaml $(srcdir)/%D%/*.expect $(srcdir)/%D%/*.ptx)
