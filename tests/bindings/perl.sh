#!/bin/sh
# The Perl binding: its example and its test. PERL names the interpreter.
set -u
# shellcheck source=tests/bindings/setup.sh
. "$(dirname "$0")/setup.sh"

perl=${PERL:-perl}
command -v "$perl" >/dev/null || skip "there is no perl"
"$perl" -e 'use FFI::Platypus 2.00' 2>/dev/null || skip "this perl has no FFI::Platypus 2"
example_then_test "$perl" "$bindings/perl/example.pl" -- "$perl" -I "$bindings/perl" "$tests/test_perl.pl"
