# Documentation.

dist_doc_DATA += \
	%D%/code.md %D%/compared.md %D%/design.md %D%/diagnostics.md %D%/emulator.md %D%/environment.md %D%/griddep-chain.md \
	%D%/guide.md %D%/instructions.md %D%/json.md %D%/languages.md %D%/performance.md %D%/questions.md \
	%D%/shelf.md %D%/timeline.md %D%/tuning.md
EXTRA_DIST += build-tools/instructions.py

# Links of the pages lead to these where the pages are installed.
docimagesdir = $(docdir)/images
dist_docimages_DATA = \
	%D%/images/demo.svg %D%/images/guide.svg %D%/images/hashcat.svg %D%/images/pytorch.svg
dochistorydir = $(docdir)/history
dist_dochistory_DATA = %D%/history/speed.md
EXTRA_DIST += build-tools/site.py build-tools/site.css build-tools/site.js

# The same as pages for a browser, in site/.
.PHONY: site
site: griddep$(EXEEXT)
	$(PYTHON3) $(top_srcdir)/build-tools/site.py --source $(top_srcdir) --command ./griddep$(EXEEXT) --output site
clean-site:
	rm -rf site
clean-local: clean-site
