# Renewed by `tests/doc/generated.sh --write`, which needs the command to run.

bash_completiondir = $(datadir)/bash-completion/completions
dist_bash_completion_DATA = %D%/griddep
zsh_completiondir = $(datadir)/zsh/site-functions
dist_zsh_completion_DATA = %D%/_griddep
fish_completiondir = $(datadir)/fish/vendor_completions.d
dist_fish_completion_DATA = %D%/griddep.fish
EXTRA_DIST += build-tools/completion.awk
