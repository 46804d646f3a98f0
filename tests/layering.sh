#!/bin/sh
# Checks that includes in src/, and the calls of the objects that the build made of it, point down
# the layers and never up (doc/design.md); that files call each other in no large circle; and that
# the library formats numbers by base/format.c alone, whatever the locale. Each file of src/ is one
# case, and each room's calls.
set -u

source_root=${srcdir:-$(dirname "$0")/..}

# The order of layers and rooms, for both judges.
order='
    BEGIN {
        # What a layer may include and call besides itself: layers, or single files. What is public
        # all may call.
        below["base"] = ""
        below["ptx"] = "base"
        below["cuda"] = "base"
        below["run"] = "base ptx cuda"
        below["measure"] = "base ptx cuda run"
        below["emulator"] = "base ptx cuda/abi.h cuda/abi_errors.def cuda/abi_constants.def " \
            "cuda/abi_opaque.h cuda/driver.def cuda/driver_rows.h"
        below["attach"] = "base ptx cuda emulator/abi.h emulator/api.h"
        below["cli"] = "base measure/clock.h measure/experiment.h run/private.h"
        # Files of a layer that know less than the rest: the command has a copy of them.
        knows["measure/clock"] = knows["measure/experiment"] = \
            "base measure/clock.h measure/experiment.h"
        # Rooms of a layer, from the lowest on. Beside those of the emulator lies the ABI, which all
        # may include.
        rooms["ptx"] = "text isa flow require handle check rewrite"
        rooms["run"] = "module launch graph group chain"
        rooms["emulator"] = "race machine execute decode schedule driver"
        rooms["cli"] = "io plan show job program"
        # What is in no room of these layers stands above their rooms.
        above["cli"] = 1
        everywhere["griddep.h"] = everywhere["config.h"] = 1
        # How many files of a layer may call each other in a circle.
        most = 6
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

    # Whether a file may reach for the target, a file too.
    function allowed(from, target,    words, count, i, slash, layer, stem) {
        if (target in everywhere)
            return 1
        layer = substr(from, 1, index(from, "/") - 1)
        stem = from
        sub(/\.[^.\/]*$/, "", stem)
        slash = index(target, "/")
        if (!slash) # it stands beside the file, like what the build generates
            return 1
        if (!(stem in knows) && substr(target, 1, slash - 1) == layer)
            return height(target) <= height(from)
        count = split(stem in knows ? knows[stem] : below[layer], words, " ")
        for (i = 1; i <= count; i++)
            if (words[i] == target || words[i] == substr(target, 1, slash - 1))
                return 1
        return 0
    }
'
# judge DIRECTORY: one line for each case below it, "passed FILE" or "failed FILE:LINE: why".
judge() {
    (cd "$1" && find . -name '*.[chS]' -o -name '*.def') | sed 's|^\./||' | LC_ALL=C sort |
        awk -v root="$1" "$order"'
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
            else if (quote == "<" && (target in everywhere || target ~ /^(base|ptx|cuda|run|measure|emulator|cli)\//))
                fail(file, number, "a file of this project between <>: " target)
            else if (quote == "\"" && !allowed(file, target))
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
    mkdir -p "$work/measure" || return 1
    echo '#include "run/chain/chain.h"' | tee "$work/measure/clock.c" >"$work/measure/tune.c"
    printf '#include "griddep.h"\n#include "base/statistics.h"\n' >"$work/measure/experiment.c"
    echo 'int x;' >"$work/other/x.c"
    judge "$work" >"$work/said"
    [ "$(sed 's/: .*//' "$work/said")" = "failed base/up.c:1
failed cli/inside.c:1
failed emulator/beside.h:1
passed emulator/good.c
failed emulator/host.c:1
failed emulator/race/up.c:1
passed emulator/schedule/down.c
failed measure/clock.c:1
passed measure/experiment.c
passed measure/tune.c
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

# judge_calls: reads lines "call FROM TO SYMBOL" and "file PATH", paths without an ending, and before
# them "offer HEADER SYMBOL" of headers that are open to other layers; one line for each layer,
# "passed calls of LAYER" or "failed FROM: why".
judge_calls() {
    awk "$order"'
    function fail(layer, why) {
        print "failed " why
        bad[layer] = 1
    }

    function offers(from, symbol) {
        return symbol in offer && allowed(from, offer[symbol])
    }

    # Tarjan: the files that reach each other have the same root.
    function visit(v,    list, count, i, w) {
        mark[v] = low[v] = ++time
        stack[++depth] = v
        on[v] = 1
        count = split(next_of[v], list, " ")
        for (i = 1; i <= count; i++) {
            w = list[i]
            if (!(w in mark))
                visit(w)
            if (on[w] && low[w] < low[v])
                low[v] = low[w]
        }
        if (low[v] != mark[v])
            return
        do {
            w = stack[depth--]
            on[w] = 0
            root[w] = v
            size[v]++
        } while (w != v)
    }

    $1 == "offer" {
        offer[$3] = $2
    }

    $1 == "file" {
        layers[substr($2, 1, index($2, "/") - 1)] = 1
        files[$2] = 1
    }

    $1 == "call" {
        layer = substr($2, 1, index($2, "/") - 1)
        inside = $3 ~ "^" layer "/"
        public = $4 ~ /^griddep_/ && (!inside || $2 in knows)
        if (!public && !allowed($2, $3 ".h") && !offers($2, $4))
            fail(layer, $2 ": must not call " $4 " of " $3)
        if (inside && !(($2, $3) in edge))
            next_of[$2] = next_of[$2] " " $3
        if (inside)
            edge[$2, $3] = edge[$2, $3] " " $4
    }

    END {
        for (v in files)
            if (!(v in mark))
                visit(v)
        for (pair in edge) {
            split(pair, ends, SUBSEP)
            layer = substr(ends[1], 1, index(ends[1], "/") - 1)
            v = root[ends[1]]
            if (v == root[ends[2]] && size[v] > most)
                fail(layer, ends[1] ": in a circle of " size[v] " files calls" edge[pair] " of " \
                     ends[2])
        }
        for (layer in layers)
            if (!(layer in bad))
                print "passed calls of " layer
    }' | LC_ALL=C sort
}

# list_calls FOLDER: the calls between the objects below it that have a source: what a build leaves
# of deleted files is passed over. A symbol is looked for in the layer first; those of the driver are
# no calls between layers.
list_calls() {
    (cd "$1" && find . -name '*.o' | sed 's|^\./||' | LC_ALL=C sort |
        xargs ${NM-nm} -A -P) | awk -v root="$source_root/src" '
    function has_source(path,    line, found) {
        found = (getline line < (root "/" path ".c")) > 0
        close(root "/" path ".c")
        return found
    }

    {
        path = $1
        sub(/\.o:$/, "", path)
        sub(/\.libs\//, "", path)
        folder = path
        sub(/[^\/]*$/, "", folder)
        sub(/^.*\/(lib[a-z_]*_la-|griddep-)?/, "", path)
        path = folder path
        if (!(path in seen)) {
            seen[path] = has_source(path)
            if (seen[path])
                print "file " path
        }
        if (!seen[path])
            next
        layer = substr(path, 1, index(path, "/") - 1)
        if ($3 ~ /^[TDBRVWC]$/) {
            place[layer, $2] = path
            if (!($2 in any))
                any[$2] = path
        } else if ($3 == "U" && !((path, $2) in wanted)) {
            wanted[path, $2] = 1
            from[++count] = path
            symbol[count] = $2
        }
    }
    END {
        for (i = 1; i <= count; i++) {
            layer = substr(from[i], 1, index(from[i], "/") - 1)
            to = symbol[i] ~ /^cu[A-Z]/ ? "" : any[symbol[i]]
            if ((layer, symbol[i]) in place)
                to = place[layer, symbol[i]]
            if (to != "" && to != from[i])
                print "call " from[i] " " to " " symbol[i]
        }
    }'
}

# Calls of each kind: the judge has to find the wrong ones, and nothing else.
judge_judges_calls() {
    echo "offer run/private.h gd_offered" >"$work/calls"
    for name in a b c d e f g; do
        echo "file ptx/flow/$name"
        echo "call ptx/flow/$name ptx/flow/$(echo $name | tr abcdefg bcdefga) gd_$name"
    done >>"$work/calls"
    cat >>"$work/calls" <<EOF
file base/x
call base/x cuda/y gd_y
file run/module/x
call run/module/x run/chain/y gd_y
call run/module/x base/y gd_y
file run/chain/x
call run/chain/x run/chain/y gd_y
call run/chain/y run/chain/x gd_x
call run/chain/x run/module/y gd_y
file cli/x
call cli/x run/chain/y griddep_y
call cli/x run/chain/y gd_offered
file measure/clock
call measure/clock run/chain/y griddep_y
file measure/experiment
call measure/experiment run/chain/y gd_y
EOF
    judge_calls <"$work/calls" >"$work/said"
    [ "$(sed 's/: .*//' "$work/said")" = "failed base/x
failed measure/experiment
failed ptx/flow/a
failed ptx/flow/b
failed ptx/flow/c
failed ptx/flow/d
failed ptx/flow/e
failed ptx/flow/f
failed ptx/flow/g
failed run/module/x
passed calls of cli" ]
}

work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
failed=0
if ! judge_judges || ! judge_judges_calls; then
    echo "failed: the rules of this test do not find the faults that they are for:"
    cat "$work/said"
    failed=1
fi
judge "$source_root/src" >"$work/result"
{
    grep -o 'gd_[a-z0-9_]*' "$source_root/src/run/private.h" | sed 's|^|offer run/private.h |'
    list_calls src
} >"$work/calls"
judge_calls <"$work/calls" >>"$work/result"
passed=$(grep -c '^passed ' "$work/result")
failed=$((failed + $(grep -c '^failed ' "$work/result")))
if [ "$passed" -eq 0 ] || ! grep -q '^call ' "$work/calls"; then
    echo "failed: no source file in $source_root/src, or no object of one in src"
    failed=$((failed + 1))
fi
sed -n 's|^failed |failed: src/|p' "$work/result"
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
