# Documentation.

dist_doc_DATA += \
	%D%/code.md %D%/compared.md %D%/design.md %D%/diagnostics.md %D%/emulator.md %D%/environment.md %D%/griddep-chain.md \
	%D%/guide.md %D%/instructions.md %D%/json.md %D%/languages.md %D%/performance.md %D%/questions.md \
	%D%/shelf.md %D%/timeline.md %D%/tuning.md
EXTRA_DIST += build-tools/instructions.py $(wildcard $(srcdir)/%D%/images/*.svg)
EXTRA_DIST += build-tools/site.py build-tools/site.css build-tools/site.js

# The same as pages for a browser, in site/.
.PHONY: site
site: griddep$(EXEEXT)
	$(PYTHON3) $(top_srcdir)/build-tools/site.py --source $(top_srcdir) --command ./griddep$(EXEEXT) --output site
clean-site:
	rm -rf site
clean-local: clean-site
