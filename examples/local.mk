# Chain files, and programs that embed the library.

exampledir = $(pkgdatadir)/examples
dist_example_DATA = \
	%D%/decode_attention.yaml %D%/decoder_layer.yaml %D%/feed_forward.yaml \
	%D%/fork_join.yaml %D%/gemm.yaml %D%/hand_over.yaml %D%/linear.yaml %D%/next_token.yaml \
	%D%/residual_stream.yaml %D%/skinny.yaml %D%/softmax.yaml %D%/vector_add.yaml
embeddir = $(exampledir)/embed
dist_embed_DATA = \
	%D%/embed/dynamic.c %D%/embed/plugin.c %D%/embed/shared_context.c %D%/embed/static.c \
	%D%/embed/two_devices.c %D%/embed/two_kernels.c %D%/embed/upgrade_graph.c
