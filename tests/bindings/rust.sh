#!/bin/sh
# The Rust binding: its example and its test. RUSTC names the compiler.
set -u
# shellcheck source=tests/bindings/setup.sh
. "$(dirname "$0")/setup.sh"

rustc=${RUSTC:-rustc}
command -v "$rustc" >/dev/null || skip "there is no rustc"
# rustup's rustc finds its toolchain in the home folder, and a package build has none.
"$rustc" --version >/dev/null 2>&1 || skip "this rustc has no toolchain"
unset MAKEFLAGS # its jobserver is for makes
cp "$bindings/rust/griddep.rs" "$bindings/rust/example.rs" "$tests/test_rust.rs" "$work/"
for program in example test_rust; do
    "$rustc" --edition 2021 -D warnings -o "$work/$program" "$work/$program.rs" >"$work/said" 2>&1 && continue
    if grep -q 'linker .* not found\|edition.*2021' "$work/said"; then
        skip "this rustc cannot build: $(head -n 1 "$work/said")"
    fi
    cat "$work/said"
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
done
example_then_test "$work/example" -- "$work/test_rust"
