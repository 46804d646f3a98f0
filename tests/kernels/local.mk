# Kernels of the shelf against their references.

gpu_tests += %D%/test_kernels
%C%_test_kernels_SOURCES = \
	%D%/attention.c \
	%D%/elementwise.c \
	%D%/embedding.c \
	%D%/gemm.c \
	%D%/linear.c \
	%D%/norm.c \
	%D%/references.c \
	%D%/sampling.c \
	%D%/shelf.c %D%/shelf.h \
	%D%/softmax.c \
	%D%/test.c \
	%D%/test_kernels.c
%C%_test_kernels_LDADD = libgriddep-reference.la libgriddep.la $(CHECK_LIBS) -lm
plain_scripts += %D%/assemble.sh
