# The bindings: each with its example, and with tests of its own.

archive_scripts += \
	%D%/cxx.sh \
	%D%/luajit.sh \
	%D%/node.sh \
	%D%/perl.sh \
	%D%/python.sh \
	%D%/python_torch.sh \
	%D%/ruby.sh \
	%D%/rust.sh
plain_archive_scripts += %D%/generated.sh
plain_scripts += %D%/typed.sh
EXTRA_DIST += %D%/left_out.py %D%/left_out.txt %D%/chain.ptx %D%/example.expect %D%/setup.sh $(wildcard $(srcdir)/%D%/test_*.*)
