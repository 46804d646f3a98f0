# The shelf, installed as files too. A kernel is a .ptx file, or is made of an .m4 file of the same
# name where kernels differ by a type only; what those share stands in .inc files.

shelf_files = \
	%D%/elementwise/copy_bytes.ptx \
	%D%/elementwise/fill_bytes.ptx \
	%D%/elementwise/vector_add.ptx %D%/elementwise/vector_add.sm_80.ptx \
	%D%/embedding/embedding_gather.ptx \
	%D%/norm/rms_norm.sm_80.ptx \
	%D%/softmax/softmax.ptx %D%/softmax/softmax.sm_80.ptx \
	%D%/test/spin.ptx
shelf_generated = \
	%D%/attention/attention_decode_bf16.ptx %D%/attention/attention_decode_f16.ptx \
	%D%/attention/attention_decode_paged_bf16.ptx \
	%D%/attention/attention_decode_paged_f16.ptx \
	%D%/attention/attention_prefill_bf16.ptx %D%/attention/attention_prefill_f16.ptx \
	%D%/attention/attention_prefill_paged_bf16.ptx \
	%D%/attention/attention_prefill_paged_f16.ptx \
	%D%/attention/rotary_append_bf16.ptx %D%/attention/rotary_append_f16.ptx \
	%D%/elementwise/add_bf16.ptx %D%/elementwise/add_f16.ptx \
	%D%/elementwise/cast_bf16_e4m3.ptx %D%/elementwise/cast_bf16_f16.ptx \
	%D%/elementwise/cast_bf16_f32.ptx %D%/elementwise/cast_e4m3_bf16.ptx \
	%D%/elementwise/cast_e4m3_f16.ptx %D%/elementwise/cast_e4m3_f32.ptx \
	%D%/elementwise/cast_f16_bf16.ptx %D%/elementwise/cast_f16_e4m3.ptx \
	%D%/elementwise/cast_f16_f32.ptx %D%/elementwise/cast_f32_bf16.ptx \
	%D%/elementwise/cast_f32_e4m3.ptx %D%/elementwise/cast_f32_f16.ptx \
	%D%/elementwise/scale_bf16.ptx %D%/elementwise/scale_f16.ptx \
	%D%/elementwise/scale_f32.ptx \
	%D%/elementwise/silu_multiply_bf16.ptx %D%/elementwise/silu_multiply_f16.ptx \
	%D%/elementwise/silu_multiply_f32.ptx \
	%D%/linear/gemm_bf16.ptx %D%/linear/gemm_f16.ptx \
	%D%/linear/gemm_n128_bf16.ptx %D%/linear/gemm_n128_f16.ptx \
	%D%/linear/gemm_n64_bf16.ptx %D%/linear/gemm_n64_f16.ptx \
	%D%/linear/gemm_bf16.sm_90.ptx %D%/linear/gemm_f16.sm_90.ptx \
	%D%/linear/gemm_n128_bf16.sm_90.ptx %D%/linear/gemm_n128_f16.sm_90.ptx \
	%D%/linear/gemm_n64_bf16.sm_90.ptx %D%/linear/gemm_n64_f16.sm_90.ptx \
	%D%/linear/linear_bf16.ptx %D%/linear/linear_f16.ptx \
	%D%/linear/linear_fp8.ptx %D%/linear/linear_fp8.sm_90.ptx \
	%D%/linear/linear_fp8_block.ptx %D%/linear/linear_fp8_block.sm_90.ptx \
	%D%/linear/linear_int4.ptx %D%/linear/linear_int4.sm_90.ptx \
	%D%/linear/matvec_bf16.ptx \
	%D%/linear/skinny_bf16.ptx %D%/linear/skinny_f16.ptx %D%/linear/skinny_fp8.ptx \
	%D%/linear/skinny_fp8_block.ptx %D%/linear/skinny_int4.ptx \
	%D%/norm/layer_norm_bf16.ptx %D%/norm/layer_norm_f16.ptx \
	%D%/norm/layer_norm_residual_bf16.ptx %D%/norm/layer_norm_residual_f16.ptx \
	%D%/norm/rms_norm.ptx %D%/norm/rms_norm_f16.ptx \
	%D%/norm/rms_norm_residual_bf16.ptx %D%/norm/rms_norm_residual_f16.ptx \
	%D%/sampling/argmax_bf16.ptx %D%/sampling/argmax_f32.ptx \
	%D%/sampling/sample_bf16.ptx %D%/sampling/sample_f32.ptx
# Hops between devices, which a group launches: not of the shelf, since a launch alone waits for others.
group_generated = \
	%D%/group/move.ptx \
	%D%/group/sum_bf16.ptx %D%/group/sum_f16.ptx %D%/group/sum_f32.ptx
shelf_bodies = $(wildcard $(srcdir)/%D%/*.inc $(srcdir)/%D%/*/*.inc)

shelfdir = $(pkgdatadir)
nobase_dist_shelf_DATA = $(shelf_files)
nobase_nodist_shelf_DATA = $(shelf_generated) $(group_generated)
EXTRA_DIST += $(shelf_generated:.ptx=.m4) $(group_generated:.ptx=.m4) $(shelf_bodies)
CLEANFILES += $(shelf_generated) $(group_generated)

SUFFIXES = .m4 .ptx
.m4.ptx:
	$(AM_V_GEN)$(MKDIR_P) $(@D) && \
	    (echo 'm4_changequote(<!,!>)m4_changecom()m4_dnl'; cat $<) | \
	    $(M4) -P -I $(srcdir)/$(@D) >$@.new && mv $@.new $@
$(shelf_generated) $(group_generated): $(shelf_bodies)
