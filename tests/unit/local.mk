# The library's parts, most of them on the fake driver.

unit_tests += \
	%D%/test_attribute \
	%D%/test_base \
	%D%/test_chain \
	%D%/test_check \
	%D%/test_completion \
	%D%/test_context \
	%D%/test_cuda \
	%D%/test_explain \
	%D%/test_fault \
	%D%/test_flow \
	%D%/test_forms \
	%D%/test_graph \
	%D%/test_image \
	%D%/test_lifetime \
	%D%/test_load \
	%D%/test_locale \
	%D%/test_mend \
	%D%/test_memory \
	%D%/test_needs \
	%D%/test_part \
	%D%/test_ptx \
	%D%/test_require \
	%D%/test_require_map \
	%D%/test_rewrite \
	%D%/test_run \
	%D%/test_shape \
	%D%/test_shelf \
	%D%/test_store \
	%D%/test_trust
%C%_test_base_LDFLAGS = $(failing)
%C%_test_chain_LDFLAGS = $(failing)
%C%_test_check_LDFLAGS = $(failing)
%C%_test_completion_LDFLAGS = $(failing)
%C%_test_context_LDFLAGS = $(failing) -Wl,--wrap=pthread_mutex_lock
%C%_test_explain_LDFLAGS = $(failing)
%C%_test_flow_LDFLAGS = $(failing)
%C%_test_graph_LDFLAGS = $(failing)
%C%_test_image_LDFLAGS = $(failing)
%C%_test_load_LDADD = $(CHECK_LIBS) -ldl
%C%_test_part_LDFLAGS = $(failing)
%C%_test_ptx_LDFLAGS = $(failing)
%C%_test_require_LDFLAGS = $(failing)
%C%_test_rewrite_LDFLAGS = $(failing)
%C%_test_run_LDFLAGS = $(failing)
%C%_test_store_LDFLAGS = $(failing)

check_LTLIBRARIES += %D%/libfail-alloc.la
%C%_libfail_alloc_la_SOURCES = %D%/fail_alloc.c %D%/fail_alloc.h
EXTRA_DIST += %D%/quiet.h %D%/status.h

if HAVE_CUDA_HEADER
unit_tests += %D%/abi_check
%C%_abi_check_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
endif
