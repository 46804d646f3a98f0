#!/bin/sh
# The Node binding: its example and its test. NODE names the interpreter. koffi is found in bindings/node/node_modules, or by NODE_PATH.
set -u
# shellcheck source=tests/bindings/setup.sh
. "$(dirname "$0")/setup.sh"

node=${NODE:-node}
command -v "$node" >/dev/null || skip "there is no node"
(cd "$bindings/node" && "$node" -e 'require("koffi")') 2>/dev/null || skip "this node has no koffi (npm install koffi)"
[ -z "$preload" ] || skip "node does not start with the sanitizer runtime preloaded"
export BINDING="$bindings/node/griddep.js"
example_then_test "$node" "$bindings/node/example.js" -- "$node" --expose-gc "$tests/test_node.js"
