#!/bin/sh
# Checks that includes in src/ point down the layers and never up (doc/design.md), and that the
# library formats numbers by base/format.c alone, whatever the locale. Each file of src/ is one case.
set -u

source_root=${srcdir:-$(dirname "$0")/..}

# judge DIRECTORY: one line for each case below it, "passed FILE" or "failed FILE:LINE: why".
judge() {
    (cd "$1" && find . -name '*.[chS]' -o -name '*.def') | sed 's|^\./||' | LC_ALL=C sort | awk -v root="$1" '
    BEGIN {
        # What a layer may include besides itself: layers, or single files.
        below["base"] = ""
        below["ptx"] = "base"
        below["cuda"] = "base"
        below["run"] = "base ptx cuda"
        below["experiment"] = "base"
        below["measure"] = "base ptx cuda run experiment"
        below["emulator"] = "base ptx cuda/abi.h cuda/abi_errors.def cuda/abi_constants.def cuda/abi_opaque.h cuda/driver.def cuda/driver_rows.h"
        below["attach"] = "base ptx cuda emulator/abi.h emulator/api.h"
        below["cli"] = "base experiment run/private.h"
        # Rooms of a layer, from the lowest on. Beside those of the emulator lies the ABI, which all may include.
        rooms["ptx"] = "text isa flow require handle check rewrite"
        rooms["run"] = "module launch graph group chain"
        rooms["emulator"] = "race machine execute decode schedule driver"
        rooms["cli"] = "io plan show job"
        # What is in no room of these layers stands above their rooms.
        above["cli"] = 1
        everywhere["griddep.h"] = everywhere["config.h"] = 1
    }

    # The height of a file among the rooms of its layer; 0: beside them, or in a layer without rooms.
    function height(path,    parts, names, count, i) {
        if (split(path, parts, "/") < 3)
            return parts[1] in above ? 100 : 0
        if (!(parts[1] in rooms))
            return 0
        count = split(rooms[parts[1]], names, " ")
        for (i = 1; i <= count; i++)
            if (parts[2] == names[i])
                return i
        return count + 1
    }

    function allowed(layer, target,    words, count, i, slash) {
        if (target in everywhere)
            return 1
        if (target ~ "^" layer "/" && height(target) > height(file))
            return 0
        slash = index(target, "/")
        # Without a folder it stands beside the file, like what the build generates.
        if (!slash || substr(target, 1, slash - 1) == layer)
            return 1
        count = split(below[layer], words, " ")
        for (i = 1; i <= count; i++)
            if (words[i] == target || words[i] == substr(target, 1, slash - 1))
                return 1
        return 0
    }

    function fail(file, number, why) {
        print "failed " file ":" number ": " why
        bad = 1
    }

    {
        file = $0
        layer = substr(file, 1, index(file, "/") - 1)
        bad = number = 0
        if (!(layer in below))
            fail(file, 1, "this folder is no layer that the test knows")
        while (!bad && (getline line < (root "/" file)) > 0) {
            number++
            if (layer != "cli" && file != "base/format.c" &&
                line ~ /[^_a-z](vsnprintf\(|snprintf\(.*%[-+ #0-9.*]*[aefgAEFG])/)
                fail(file, number, "follows the locale; base/format.h has what does not")
            if (line !~ /^[ \t]*#[ \t]*include/)
                continue
            target = line
            sub(/^[ \t]*#[ \t]*include[ \t]*/, "", target)
            quote = substr(target, 1, 1)
            target = substr(target, 2)
            sub(/[">].*$/, "", target)
            if (target ~ /(^|\/)\.\.?(\/|$)/)
                fail(file, number, "a path with dots: " target)
            else if (quote == "<" && (target in everywhere || target ~ /^(base|ptx|cuda|run|experiment|measure|emulator|cli)\//))
                fail(file, number, "a file of this project between <>: " target)
            else if (quote == "\"" && !allowed(layer, target))
                fail(file, number, layer " must not include " target)
            else if (quote != "<" && quote != "\"")
                fail(file, number, "an include that this test cannot read")
        }
        close(root "/" file)
        if (!bad)
            print "passed " file
    }'
}

# A small tree with one file of each kind of fault: the judge has to find them, and nothing else.
judge_judges() {
    mkdir -p "$work/base" "$work/ptx" "$work/run" "$work/emulator" "$work/cli" "$work/other" || return 1
    echo '#include "ptx/text/lexer.h"' >"$work/base/up.c"
    echo '#include "cuda/driver.h"' >"$work/ptx/sideways.c"
    echo '  # include "cuda/driver.h"' >"$work/emulator/host.c"
    echo '#include "cuda/abi.h"' >"$work/emulator/good.c"
    mkdir -p "$work/emulator/race" "$work/emulator/schedule" || return 1
    echo '#include "emulator/schedule/s.h"' >"$work/emulator/race/up.c"
    echo '#include "emulator/race/s.h"' >"$work/emulator/beside.h"
    printf '#include "emulator/race/r.h"\n#include "emulator/abi.h"\n' >"$work/emulator/schedule/down.c"
    printf '#include <stdint.h>\n#include "../base/text.h"\n' >"$work/run/dots.c"
    echo '#include <base/text.h>' >"$work/run/angle.c"
    printf '#include "griddep.h"\n#include "run/run.h"\n#include "ptx/p.h"\n#include "base/b.h"\n' >"$work/run/good.c"
    mkdir -p "$work/run/chain" "$work/run/graph" || return 1
    echo '#include "run/chain/chain.h"' | tee "$work/run/graph/up.c" >"$work/run/upper.c"
    echo '#include "run/graph/graph.h"' | tee "$work/run/beside.h" >"$work/run/chain/down.c"
    echo '    snprintf(text, 9, "%+.2f", x);' >"$work/run/number.c"
    printf '  gd_format(text, 9, "%%g", x);\n  snprintf(text, 9, "%%d", x);\n' >"$work/run/plain.c"
    echo '    vsnprintf(text, 9, format, list);' >"$work/ptx/list.c"
    echo '#include "run/chain/chain.h"' >"$work/cli/inside.c"
    mkdir -p "$work/experiment" || return 1
    echo '#include "run/chain/chain.h"' >"$work/experiment/inside.c"
    printf '#include "griddep.h"\n#include "base/statistics.h"\n' >"$work/experiment/public.c"
    echo 'int x;' >"$work/other/x.c"
    judge "$work" >"$work/said"
    [ "$(sed 's/: .*//' "$work/said")" = "failed base/up.c:1
failed cli/inside.c:1
failed emulator/beside.h:1
passed emulator/good.c
failed emulator/host.c:1
failed emulator/race/up.c:1
passed emulator/schedule/down.c
failed experiment/inside.c:1
passed experiment/public.c
failed other/x.c:1
failed ptx/list.c:1
failed ptx/sideways.c:1
failed run/angle.c:1
failed run/beside.h:1
passed run/chain/down.c
failed run/dots.c:2
passed run/good.c
failed run/graph/up.c:1
failed run/number.c:1
passed run/plain.c
failed run/upper.c:1" ]
}

work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
failed=0
if ! judge_judges; then
    echo "failed: the rules of this test do not find the faults that they are for:"
    cat "$work/said"
    failed=1
fi
judge "$source_root/src" >"$work/result"
passed=$(grep -c '^passed ' "$work/result")
failed=$((failed + $(grep -c '^failed ' "$work/result")))
if [ "$passed" -eq 0 ]; then
    echo "failed: no source file in $source_root/src"
    failed=$((failed + 1))
fi
sed -n 's|^failed |failed: src/|p' "$work/result"
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
