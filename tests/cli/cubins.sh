#!/bin/sh
# What griddep check reads from machine code, held against what it reads from the PTX that ptxas made
# it of: no kernel is said to wait on every path that does not, and where the PTX waits on every path
# and calls nothing the machine code is understood; no kernel is said to touch nothing before its wait
# that does; where threads are said to wait while others leave, the PTX has no path that ends alone. For each target that ptxas knows and the PTX
# allows, or where rounds are left out for sm_90a.
set -u
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
srcdir=${srcdir:-.}
. "$srcdir/tests/cases.sh"
griddep=${GRIDDEP:-griddep}
python=${PYTHON3:-python3}
need_ptxas

cat >"$work/compare.py" <<'END'
import json, pathlib, subprocess, sys

griddep, ptxas, work, targets, *texts = sys.argv[1:]
counts = {}


def verdicts(path):
    done = subprocess.run([griddep, "check", "--json", path], capture_output=True, text=True)
    return {v["entry"]: v for v in json.loads(done.stdout)["verdicts"]}


def lonely(path):
    done = subprocess.run([griddep, "check", "--json", path], capture_output=True, text=True)
    return {f["entry"] for f in json.loads(done.stdout)["findings"] if f["code"] == "GD121" and f["severity"] != "note"}


wrong = safe = accompanied = 0
alone = {}  # by text, the entries of which some path ends without a wait, and nobody is known to wait
for text in texts:
    said = verdicts(text)
    alone[text] = lonely(text)
    for target in targets.split():
        cubin = f"{work}/{pathlib.Path(text).stem}.cubin"
        if subprocess.run([ptxas, "-arch", target, text, "-o", cubin], capture_output=True).returncode:
            continue
        for entry, machine in verdicts(cubin).items():
            if entry not in said or not said[entry]["valid"]:
                continue
            ptx = said[entry]
            pair = ptx["waits"], machine["waits"]
            counts[pair] = counts.get(pair, 0) + 1
            triggers = bool(ptx["trigger_lines"]), "; triggers;" in machine["text"]
            if machine["early"] == "safe" != ptx["early"] and "/golden/" not in text:  # there loads that nobody needs go
                print(f"{text} for {target}, {entry}: PTX {ptx['text']}; {machine['text']}")
                wrong += 1
            safe += machine["early"] == "safe"
            accompanied += "while others wait" in machine["text"]
            if "while others wait" in machine["text"] and (entry in alone[text] or ptx["waits"] == "never"):
                print(f"{text} for {target}, {entry}: PTX: a path ends without a wait; {machine['text']}")
                wrong += 1
            if (machine["waits"] == "always" and ptx["waits"] != "always") or triggers == (True, False):
                print(f"{text} for {target}, {entry}: PTX {ptx['text']}; {machine['text']}")
                wrong += 1
print(", ".join(f"{a} {b}: {n}" for (a, b), n in sorted(counts.items())) + f", accompanied: {accompanied}")
understood = counts.get(("always", "always"), 0)
if understood < 10 or safe < 10 or accompanied < 3 or counts.get(("sometimes", "sometimes"), 0) + counts.get(("never", "never"), 0) < 10:
    print("too few kernels were understood")
    wrong += 1
sys.exit(wrong > 0)
END

mkdir "$work/golden"
golden_texts "$work/golden"
set -- "$work"/golden/*.ptx "$srcdir"/ptx/*/*.ptx
targets=sm_90a
all_rounds && targets="sm_90a sm_100 sm_120"
check "machine code and PTX tell the same" \
    "$python" "$work/compare.py" "$griddep" "$ptxas" "$work" "$targets" "$@"

finish
