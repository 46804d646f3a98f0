# The language model program. It is made for the tests, where PCRE2 and utf8proc are there, and not
# installed: its sources are, as an example.

llama_sources = \
	%D%/agree.c %D%/agree.h \
	%D%/build.c %D%/build.h \
	%D%/chat.c \
	%D%/common.c %D%/common.h \
	%D%/config.c %D%/config.h \
	%D%/decode.c \
	%D%/generate.c %D%/generate.h \
	%D%/main.c \
	%D%/model.c %D%/model.h \
	%D%/prompt.c \
	%D%/tiles.c %D%/tiles.h \
	%D%/tokenizer.c %D%/tokenizer.h \
	%D%/trace.c \
	%D%/tune.c \
	%D%/weights.c %D%/weights.h
llamadir = $(exampledir)/llama
dist_llama_DATA = $(llama_sources) %D%/kernels.ptx %D%/README.md
if HAVE_LLAMA
check_PROGRAMS += %D%/llama
%C%_llama_SOURCES = $(llama_sources)
%C%_llama_CPPFLAGS = -D_GNU_SOURCE -I$(top_srcdir)/include $(LLAMA_CFLAGS) -Wa,-I$(srcdir)/%D%
%C%_llama_LDADD = libgriddep.la $(LLAMA_LIBS) -lm -lpthread
%C%_llama_LDFLAGS = $(AM_LDFLAGS) -no-install
%D%/llama-build.$(OBJEXT): %D%/kernels.ptx
else
# Without its libraries the way to them.
%D%/llama: FORCE
	@echo "$@ needs libpcre2-8, libutf8proc and jansson 2.14: './bootstrap llama' installs them" >&2; exit 1
FORCE:
endif

# A small model of random weights, and a text of it on the emulated driver.
llama-demo: %D%/llama
	test -f small-llama/config.json || \
	    $(PYTHON3) $(srcdir)/tests/llama/small.py make small-llama llama3
	%D%/llama small-llama --driver emulated --prompt "the lazy dog" --count 20
	@echo "The weights of this small model are random, and so are its words."
clean-local-llama:
	rm -rf small-llama
.PHONY: llama-demo clean-local-llama
clean-local: clean-local-llama
