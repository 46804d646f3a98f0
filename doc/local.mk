# Documentation.

dist_doc_DATA += \
	%D%/code.md %D%/compared.md %D%/design.md %D%/emulator.md %D%/environment.md %D%/griddep-chain.md \
	%D%/guide.md %D%/json.md %D%/languages.md %D%/performance.md %D%/programs.md %D%/questions.md \
	%D%/shelf.md %D%/timeline.md %D%/tuning.md

# Two pages are made: of the command's table of codes, and of the tables of instructions.
if COMMAND_PAGES
dist_doc_DATA += %D%/diagnostics.md
endif
if PYTHON_PAGES
dist_doc_DATA += %D%/instructions.md
endif
if RUN_COMMAND
%D%/diagnostics.md: griddep$(EXEEXT) build-tools/diagnostics.awk
	$(AM_V_GEN)$(MKDIR_P) $(@D) && ./griddep$(EXEEXT) explain >$@.list && \
	    ./griddep$(EXEEXT) explain `$(AWK) '{ print $$1 }' $@.list` | \
	    $(AWK) -f $(srcdir)/build-tools/diagnostics.awk $@.list - >$@.new && \
	    rm $@.list && mv $@.new $@
CLEANFILES += %D%/diagnostics.md
endif
EXTRA_DIST += build-tools/diagnostics.awk
if RUN_PYTHON
%D%/instructions.md: build-tools/instructions.py $(instruction_tables)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && \
	    $(PYTHON3) $(srcdir)/build-tools/instructions.py >$@.new && mv $@.new $@
CLEANFILES += %D%/instructions.md
endif
instruction_tables = src/ptx/text/ops.def src/ptx/isa/forms.def src/ptx/isa/needs.def \
	src/ptx/isa/chips.def tests/golden/instruction_needs.txt tests/emulator/refused.txt
EXTRA_DIST += build-tools/instructions.py

# Links of the pages lead to these where the pages are installed.
docimagesdir = $(docdir)/images
dist_docimages_DATA = \
	%D%/images/demo.svg %D%/images/guide.svg %D%/images/pytorch.svg \
	$(wildcard $(srcdir)/%D%/images/programs-*.svg)
dochistorydir = $(docdir)/history
dist_dochistory_DATA = %D%/history/speed.md
EXTRA_DIST += build-tools/site.py build-tools/site.css build-tools/site.js

# The same as pages for a browser, in site/.
.PHONY: site
site: griddep$(EXEEXT) %D%/diagnostics.md %D%/instructions.md
	$(PYTHON3) $(top_srcdir)/build-tools/site.py --source $(top_srcdir) --made . --command ./griddep$(EXEEXT) --output site
clean-site:
	rm -rf site
clean-local: clean-site
