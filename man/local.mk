# Man pages: those of the command, made of its tables; those of the library, one a noun of the header;
# and those of formats.

if COMMAND_PAGES
dist_man_MANS = $(command_pages)
endif
command_pages = \
	%D%/griddep.1 %D%/griddep-audit.1 %D%/griddep-check.1 %D%/griddep-compare.1 %D%/griddep-demo.1 \
	%D%/griddep-explain.1 %D%/griddep-info.1 %D%/griddep-kernels.1 \
	%D%/griddep-off.1 %D%/griddep-on.1 %D%/griddep-spawn.1 \
	%D%/griddep-rewrite.1 %D%/griddep-run.1 %D%/griddep-sanitize.1 %D%/griddep-stress.1 \
	%D%/griddep-trace.1 %D%/griddep-tune.1
man_MANS = $(noun_pages) $(format_pages)
noun_pages = \
	%D%/griddep_attribute.3 %D%/griddep_chain.3 %D%/griddep_completion.3 \
	%D%/griddep_explanation.3 %D%/griddep_findings.3 %D%/griddep_graph.3 \
	%D%/griddep_group.3 %D%/griddep_kernel.3 %D%/griddep_launch.3 %D%/griddep_module.3 \
	%D%/griddep_ptx.3 %D%/griddep_requirement.3 %D%/griddep_rewrite.3 %D%/griddep_runtime.3 \
	%D%/griddep_shelf.3 %D%/griddep_status.3 %D%/griddep_tensor.3 %D%/griddep_timeline.3 \
	%D%/griddep_tune.3 %D%/griddep_version.3 %D%/libgriddep.3
format_pages = \
	%D%/griddep-chain.5 \
	%D%/griddep-emulator.7 \
	%D%/griddep-environment.7 \
	%D%/griddep-guide.7 \
	%D%/griddep-json.5 \
	%D%/griddep-timeline.7
man_tools = build-tools/man-header.awk build-tools/man-markdown.awk build-tools/roff.awk
CLEANFILES += $(man_MANS)
EXTRA_DIST += $(man_tools) build-tools/man-command.awk

if RUN_COMMAND
# What the command says of itself: subcommands, options, examples, exit codes.
%D%/commands.tsv: griddep$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && ./griddep$(EXEEXT) help --table >$@.new && mv $@.new $@
$(command_pages): %D%/commands.tsv build-tools/man-command.awk build-tools/roff.awk
	$(AM_V_GEN)$(MKDIR_P) $(@D) && page=$$(basename $@ .1) && page=$${page#griddep} && \
	    $(AWK) -f $(srcdir)/build-tools/roff.awk -f $(srcdir)/build-tools/man-command.awk \
	    -v version=$(PACKAGE_VERSION) -v page=$${page#-} %D%/commands.tsv >$@.new && mv $@.new $@
CLEANFILES += $(command_pages) %D%/commands.tsv
endif

$(noun_pages): include/griddep.h build-tools/man-header.awk build-tools/roff.awk
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(AWK) -f $(srcdir)/build-tools/roff.awk \
	    -f $(srcdir)/build-tools/man-header.awk -v version=$(PACKAGE_VERSION) \
	    -v page=$$(basename $@ .3) $(srcdir)/include/griddep.h >$@.new && mv $@.new $@

# Name and section are those of the page.
make_format_page = $(AM_V_GEN)$(MKDIR_P) $(@D) && name=$(@F) && \
	$(AWK) -f $(srcdir)/build-tools/roff.awk -f $(srcdir)/build-tools/man-markdown.awk \
	-v version=$(PACKAGE_VERSION) -v page=$${name%.*} -v section=$${name\#*.}
$(format_pages): $(man_tools)

%D%/griddep-chain.5: doc/griddep-chain.md
	$(make_format_page) -v about="chain files of griddep" \
	    $(srcdir)/doc/griddep-chain.md >$@.new && mv $@.new $@
%D%/griddep-emulator.7: doc/emulator.md
	$(make_format_page) -v about="the emulated CUDA driver" \
	    $(srcdir)/doc/emulator.md >$@.new && mv $@.new $@
%D%/griddep-environment.7: doc/environment.md
	$(make_format_page) -v about="environment variables of griddep" \
	    $(srcdir)/doc/environment.md >$@.new && mv $@.new $@
%D%/griddep-guide.7: doc/guide.md
	$(make_format_page) -v about="dependent launch in an hour" \
	    $(srcdir)/doc/guide.md >$@.new && mv $@.new $@
%D%/griddep-json.5: doc/json.md
	$(make_format_page) -v about="JSON documents of griddep" \
	    $(srcdir)/doc/json.md >$@.new && mv $@.new $@
%D%/griddep-timeline.7: doc/timeline.md
	$(make_format_page) -v about="traces of chains" \
	    $(srcdir)/doc/timeline.md >$@.new && mv $@.new $@
