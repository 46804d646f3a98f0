#!/bin/sh
# Runs test_luajit.lua. LUAJIT names the interpreter.
set -u
here=$(dirname "$0")
# shellcheck source=tests/ffi/preload.sh
. "$here/preload.sh"

luajit=${LUAJIT:-luajit}
command -v "$luajit" >/dev/null || skip "there is no luajit"
# shellcheck disable=SC2086 # a list of assignments
exec env $preload LIBRARY="$library" FAKE_DRIVER="$fake_driver" HEADER="$header" KERNELS="$here/kernels.ptx" "$luajit" "$here/test_luajit.lua"
