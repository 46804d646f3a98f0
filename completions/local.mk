# Completions, made of the command's tables (man/commands.tsv).

bash_completiondir = $(datadir)/bash-completion/completions
zsh_completiondir = $(datadir)/zsh/site-functions
fish_completiondir = $(datadir)/fish/vendor_completions.d
if COMMAND_PAGES
dist_bash_completion_DATA = %D%/griddep
dist_zsh_completion_DATA = %D%/_griddep
dist_fish_completion_DATA = %D%/griddep.fish
endif
EXTRA_DIST += build-tools/completion.awk

if RUN_COMMAND
completions = %D%/griddep %D%/_griddep %D%/griddep.fish
$(completions): man/commands.tsv build-tools/completion.awk
	$(AM_V_GEN)$(MKDIR_P) $(@D) && \
	    case $(@F) in _*) shell=zsh ;; *.fish) shell=fish ;; *) shell=bash ;; esac && \
	    $(AWK) -f $(srcdir)/build-tools/completion.awk -v shell=$$shell man/commands.tsv \
	    >$@.new && mv $@.new $@
CLEANFILES += $(completions)
endif
