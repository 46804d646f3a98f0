#!/bin/sh
# The Ruby binding: its example and its test. RUBY names the interpreter.
set -u
# shellcheck source=tests/bindings/setup.sh
. "$(dirname "$0")/setup.sh"

ruby=${RUBY:-ruby}
command -v "$ruby" >/dev/null || skip "there is no ruby"
"$ruby" -e 'require "fiddle/import"' 2>/dev/null || skip "this ruby has no Fiddle"
example_then_test "$ruby" "$bindings/ruby/example.rb" -- "$ruby" -W -I "$bindings/ruby" "$tests/test_ruby.rb"
