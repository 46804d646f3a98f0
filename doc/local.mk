# Documentation.

dist_doc_DATA += \
	%D%/code.md %D%/compared.md %D%/design.md %D%/diagnostics.md %D%/emulator.md %D%/environment.md %D%/griddep-chain.md \
	%D%/guide.md %D%/instructions.md %D%/json.md %D%/languages.md %D%/performance.md %D%/questions.md \
	%D%/shelf.md %D%/timeline.md %D%/tuning.md
EXTRA_DIST += build-tools/instructions.py $(wildcard $(srcdir)/%D%/images/*.svg)
