# Bindings: one file a language, and an example. build-tools/bindings.py renews their declarations
# when the header has changed.

bindingsdir = $(pkgdatadir)
nobase_dist_bindings_DATA = \
	%D%/cxx/example.cc %D%/cxx/griddep.hpp \
	%D%/luajit/example.lua %D%/luajit/griddep.lua \
	%D%/node/example.js %D%/node/griddep.js %D%/node/package.json \
	%D%/perl/Griddep.pm %D%/perl/example.pl \
	%D%/python/example.py %D%/python/griddep.py \
	%D%/ruby/example.rb %D%/ruby/griddep.rb \
	%D%/rust/example.rs %D%/rust/griddep.rs
EXTRA_DIST += build-tools/bindings.py
