#!/bin/sh
# The LuaJIT binding: its example and its test. LUAJIT names the interpreter.
set -u
# shellcheck source=tests/bindings/setup.sh
. "$(dirname "$0")/setup.sh"

luajit=${LUAJIT:-luajit}
command -v "$luajit" >/dev/null || skip "there is no luajit"
export LUA_PATH="$bindings/luajit/?.lua;;"
example_then_test "$luajit" "$bindings/luajit/example.lua" -- "$luajit" "$tests/test_luajit.lua"
