#!/bin/sh
# griddep trace on the emulated driver: text, drawing, JSON, Perfetto trace, SVG, and bad input. GRIDDEP names the command.
set -u
srcdir=${srcdir:-.}
griddep=${GRIDDEP:-./griddep}
python=${PYTHON3:-}
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
skipped=0

fail() {
    echo "failed: $1"
    cat "$work/out" "$work/err"
    failed=$((failed + 1))
}

# trace NAME CODE WORD...: the command's exit code.
trace() {
    name=$1
    code=$2
    shift 2
    "$griddep" trace "$@" --driver emulated >"$work/out" 2>"$work/err"
    got=$?
    if [ "$got" -eq "$code" ]; then
        passed=$((passed + 1))
    else
        fail "$name: exit code $got, expected $code"
    fi
}

# says NAME FILE TEXT: out or err has the text.
says() {
    if grep -qF -- "$3" "$work/$2"; then
        passed=$((passed + 1))
    else
        fail "$1: no '$3' in std$2"
    fi
}

# python_says NAME FILE SCRIPT: a script that asserts about a file.
python_says() {
    if [ -z "$python" ]; then
        skipped=$((skipped + 1))
    elif "$python" -c "$3" "$2" 2>>"$work/err"; then
        passed=$((passed + 1))
    else
        fail "$1"
    fi
}

chain="$work/feed_forward.yaml" # with an eighth of the rows and columns
sed 's/4194304/65536/; s/2048/256/' "$srcdir/examples/feed_forward.yaml" >"$chain"
unset LC_ALL LC_CTYPE
LANG=C
export LANG

trace "text" 0 "$chain" --mode graph-pdl --svg "$work/a.svg" --perfetto "$work/a.json"
says "text" out "chain feed forward, mode graph-pdl: 3 launches"
says "text" out "1 to 2  yes"
says "text" out "results: as the plain serial run leaves them, to the bit"
says "text" out "times in us of the emulated driver's model"
says "drawing" out "  1 rms_norm"
if LC_ALL=C grep -q '[^ -~]' "$work/out"; then fail "ASCII: other bytes in the text"; else passed=$((passed + 1)); fi
if awk 'NR > 3 && length > 80 {exit 1}' "$work/out"; then passed=$((passed + 1)); else fail "80 columns"; fi

python_says "Perfetto trace" "$work/a.json" '
import collections, json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
kinds = collections.Counter(e["ph"] for e in events)
assert kinds["s"] == kinds["f"] == 2, kinds
tracks = collections.defaultdict(list)
for e in events:
    if e["ph"] == "X":
        assert e["ts"] >= 0 and e["dur"] >= 0
        tracks[e["pid"], e["tid"]].append((e["ts"], -e["dur"]))
for slices in tracks.values():
    open_ends = []
    for start, length in sorted(slices):
        end = start - length
        while open_ends and open_ends[-1] <= start + 1e-9:
            open_ends.pop()
        assert not open_ends or end <= open_ends[-1] + 1e-9, "slices of a track overlap without nesting"
        open_ends.append(end)
names = {e["args"]["name"] for e in events if e["name"] == "thread_name"}
assert "SM 0" in names and "1 rms_norm" in names, names
arrows = {e["id"]: e["ts"] for e in events if e["ph"] == "s"}
assert all(e["ts"] >= arrows[e["id"]] for e in events if e["ph"] == "f")
'
python_says "SVG" "$work/a.svg" '
import sys, xml.dom.minidom
picture = xml.dom.minidom.parse(sys.argv[1]).documentElement
assert picture.tagName == "svg"
assert not picture.getElementsByTagName("image") and not picture.getElementsByTagName("script")
texts = [t.firstChild.data for t in picture.getElementsByTagName("text")]
assert "feed forward" in texts and "1 rms_norm" in texts and any("model time" in t for t in texts), texts
assert "prefers-color-scheme" in picture.getElementsByTagName("style")[0].firstChild.data
'

LC_ALL=en_US.UTF-8 "$griddep" trace "$chain" --driver emulated >"$work/out" 2>"$work/err"
says "UTF-8" out "█"
LC_ALL=C "$griddep" trace "$chain" --driver emulated >"$work/out" 2>"$work/err"
says "ASCII" out "####"

trace "JSON" 0 "$chain" --mode all --json --points
python_says "JSON" "$work/out" '
import json, sys
document = json.load(open(sys.argv[1]))
assert document["equal_to_serial"] is True
modes = {m["mode"]: m for m in document["modes"]}
assert sorted(modes) == ["graph", "graph-pdl", "pdl", "serial"]
for name, mode in modes.items():
    assert mode["clock"] == "model" and mode["bytes_per_second"] is None
    assert mode["cost"]["traced_step_us"] > mode["cost"]["plain_step_us"] > 0
    hop = mode["launches"][2]["hop"]
    assert hop["from"] == 1
    assert (hop["launch_lead_ns"] > 0) == name.endswith("pdl"), (name, hop)
    for launch in mode["launches"]:
        points = launch["points"]
        assert len(points["exit"]) == launch["blocks_kept"] == launch["blocks"]
        assert max(points["exit"]) == launch["last_exit_ns"]
        assert min(points["entry"]) == launch["first_entry_ns"]
    assert mode["launches"][0]["hop"] is None
    exits = max(modes[name]["launches"][1]["points"]["exit"])
    assert hop["handoff_gap_ns"] == min(mode["launches"][2]["points"]["release"]) - exits
'

trace "blocks beyond the limit" 0 "$chain" --blocks 3
says "blocks beyond the limit" out "launch 0 (matvec_bf16): of 4 blocks the first 3 were kept"

# Launches with names of their own, longer than there is room for, and thousands of blocks.
cat >"$work/named.yaml" <<'END'
name: named
buffers:
  - {name: x, type: f32, count: 16384, random: {seed: 1}}
  - {name: y, type: f32, count: 16384}
  - {name: z, type: f32, count: 16384}
launches:
  - {kernel: vector_add, name: the first half of what there is to do, grid: [1024], block: [32],
     arguments: [{buffer: x, access: read}, {buffer: x, access: read}, {buffer: y, access: write}, {u32: 16384}]}
  - {kernel: vector_add, name: the other half of what there is to do, grid: [2048], block: [32],
     arguments: [{buffer: y, access: read}, {buffer: x, access: read}, {buffer: z, access: write}, {u32: 16384}]}
END
trace "names" 0 "$work/named.yaml" --svg "$work/n.svg" --perfetto "$work/n.json"
says "names" out "#  name"
says "names" out "the other ha~re is to do"
says "names" out "  1 the oth~s to do"
if awk 'NR > 3 && length > 90 {exit 1}' "$work/out"; then passed=$((passed + 1)); else fail "names: 90 columns"; fi
python_says "names and thousands of blocks in a picture" "$work/n.svg" '
import os, sys, xml.dom.minidom
picture = xml.dom.minidom.parse(sys.argv[1]).documentElement
titles = [t.firstChild.data for t in picture.getElementsByTagName("title")]
assert "the first half of what there is to do: vector_add" in titles, titles
labels = [t.firstChild.data for t in picture.getElementsByTagName("text")]
assert any(l.startswith("1 the other ha") and "\u2026" in l and len(l) == 34 for l in labels), labels
assert os.path.getsize(sys.argv[1]) < 100000, os.path.getsize(sys.argv[1])
ground = picture.getElementsByTagName("rect")[0]
assert ground.getAttribute("class") == "b" and float(ground.getAttribute("width")) == 1000
'

# Two lanes that join: an arrow for each launch that is waited for, and the gap behind the last one.
cat >"$work/join.yaml" <<'END'
name: join
buffers:
  - {name: x, type: f32, count: 16384, random: {seed: 1}}
  - {name: y, type: f32, count: 16384}
  - {name: z, type: f32, count: 16384}
  - {name: sum, type: f32, count: 16384}
launches:
  - {kernel: vector_add, name: a name of thirty-one letters is, grid: [4], block: [32],
     arguments: [{buffer: x, access: read}, {buffer: x, access: read}, {buffer: y, access: write}, {u32: 16384}]}
  - {kernel: vector_add, name: beside, lane: side, grid: [2], block: [32],
     arguments: [{buffer: x, access: read}, {buffer: x, access: read}, {buffer: z, access: write}, {u32: 16384}]}
  - {kernel: vector_add, name: both, after: [beside], grid: [4], block: [32],
     arguments: [{buffer: y, access: read}, {buffer: z, access: read}, {buffer: sum, access: write}, {u32: 16384}]}
END
trace "a join" 0 "$work/join.yaml" --svg "$work/join.svg" --json
python_says "a join in a picture" "$work/join.svg" '
import json, os, sys, xml.dom.minidom
picture = xml.dom.minidom.parse(sys.argv[1]).documentElement
labels = [t.firstChild.data for t in picture.getElementsByTagName("text")]
arrows = [p for p in picture.getElementsByTagName("path") if p.getAttribute("class").split()[0] == "a"]
launches = json.load(open(os.path.dirname(sys.argv[1]) + "/out"))["modes"][0]["launches"]
last = max((0, 1), key=lambda i: launches[i]["last_exit_ns"])
gap = (launches[2]["first_release_ns"] - launches[last]["last_exit_ns"]) * 1e-3
assert len(arrows) == 2, len(arrows)
assert "%.2f us after %d" % (gap, last) in labels, (labels, gap, last)
assert "0 a name of thirty-one letters is" in labels, labels
assert "colours are launches, shades:" in labels, labels
style = picture.getElementsByTagName("style")[0].firstChild.data
assert not any("fill-opacity" in rule for rule in style.split("}") if ".p{" in rule or ".w{" in rule), style
'
python_says "names in a Perfetto trace" "$work/n.json" '
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
named = [e for e in events if e["ph"] == "X" and e["name"] == "the first half of what there is to do"]
assert len(named) == 1025 and {e["args"]["kernel"] for e in named if "args" in e} == {"vector_add"}, len(named)
'

# A kernel of the user's own, with marks, whose name would not do in XML as it is.
cat >"$work/mine.ptx" <<'PTX'
.version 8.0
.target sm_90
.address_size 64
.visible .entry mine(.param .u64 out)
{
    .reg .b64 o;
    .reg .b32 t;
    griddepcontrol.wait;
    //@ mark load
    ld.param.u64 o, [out];
    mov.u32 t, %tid.x;
    mad.wide.u32 o, t, 4, o;
    //@ mark store
    st.global.u32 [o], t;
    ret;
}
PTX
cat >"$work/mine.yaml" <<'YAML'
name: "<mine> & \"yours\""
modules: [{name: m, file: mine.ptx}]
buffers: [{name: out, type: u32, count: 64}]
launches:
  - {kernel: mine, module: m, grid: [1], block: [64], arguments: [{buffer: out, access: write}]}
  - {kernel: mine, module: m, grid: [1], block: [64], arguments: [{buffer: out, access: write}]}
YAML
trace "marks" 0 "$work/mine.yaml" --svg "$work/b.svg" --perfetto "$work/b.json"
says "marks" out "load"
says "marks" out "store"
python_says "a name in XML" "$work/b.svg" '
import sys, xml.dom.minidom
picture = xml.dom.minidom.parse(sys.argv[1]).documentElement
assert picture.getElementsByTagName("title")[0].firstChild.data == "<mine> & \"yours\""
'
python_says "marks in the trace" "$work/b.json" '
import json, sys
names = [e["name"] for e in json.load(open(sys.argv[1]))["traceEvents"] if e["ph"] == "i"]
assert names.count("load") == names.count("store") == 2, names
'

# Blocks of 1024 threads fill an SM, so the second launch finds no room after the trigger; the third
# one may not start early. A serial run holds nothing back.
cat >"$work/room.yaml" <<'END'
name: no room
buffers:
  - {name: x, type: f32, count: 65536, random: {seed: 1, low: -1, high: 1}}
  - {name: a, type: f32, count: 65536}
  - {name: b, type: f32, count: 65536}
  - {name: c, type: f32, count: 65536}
launches:
  - {kernel: vector_add, name: gate, grid: [8], block: [1024],
     arguments: [{buffer: x, access: read}, {buffer: x, access: read}, {buffer: a, access: write}, {u32: 65536}]}
  - {kernel: vector_add, name: rowsum, grid: [8], block: [1024],
     arguments: [{buffer: a, access: read}, {buffer: x, access: read}, {buffer: b, access: write}, {u32: 65536}]}
  - {kernel: vector_add, name: plain, pdl: off, grid: [8], block: [1024],
     arguments: [{buffer: b, access: read}, {buffer: x, access: read}, {buffer: c, access: write}, {u32: 65536}]}
END
trace "held back" 0 "$work/room.yaml" --svg "$work/room.svg" --serial
python_says "launches that are held back in a picture" "$work/room.svg" '
import sys, xml.dom.minidom
picture = xml.dom.minidom.parse(sys.argv[1]).documentElement
serial, early = [p for p in picture.childNodes if p.nodeName == "svg"]
def words(half):
    return [t.firstChild.data for t in half.getElementsByTagName("text")]
def held(half):
    return [p for p in half.getElementsByTagName("path") if p.getAttribute("class") == "d a"]
assert not held(serial) and "held back" not in words(serial), words(serial)
assert len(held(early)) == 3 and "held back" in words(early), words(early)
assert "no room: registers" in words(early), words(early)
assert "the launch, node, mode or runtime switches dependent launch off" in words(early), words(early)
titles = [t.firstChild.data for t in early.getElementsByTagName("title")]
assert any(t.startswith("1 CTA of gate on an SM uses") for t in titles), titles
'

trace "a picture beside the serial run" 0 "$chain" --svg "$work/both.svg" --serial --json
python_says "a picture beside the serial run" "$work/both.svg" '
import json, os, sys, xml.dom.minidom
picture = xml.dom.minidom.parse(sys.argv[1]).documentElement
halves = [p for p in picture.childNodes if p.nodeName == "svg"]
words = [[t.firstChild.data for t in p.getElementsByTagName("text")] for p in halves]
assert len(halves) == 2 and words[0][1].startswith("mode graph,") and words[1][1].startswith("mode graph-pdl,"), words
def lines(half):
    return [p.getAttribute("d").split()[0] for p in half.getElementsByTagName("path") if p.getAttribute("class") == "g"]
short, long = sorted(map(lines, halves), key=len)
assert short and long[:len(short)] == short, (short, long)
modes = json.load(open(os.path.dirname(sys.argv[1]) + "/out"))["modes"]
assert [m["mode"] for m in modes] == ["graph-pdl"], modes
'
trace "a picture beside the serial run, pdl" 0 "$chain" --svg "$work/both.svg" --serial --mode pdl
if grep -q "mode serial," "$work/both.svg"; then passed=$((passed + 1)); else fail "a picture beside the serial run, pdl"; fi
trace "a serial run without a picture" 2 "$chain" --serial
says "a serial run without a picture" err "--serial needs --svg"
trace "a serial run beside itself" 2 "$chain" --svg "$work/c.svg" --mode serial --serial
says "a serial run beside itself" err "--mode pdl or graph-pdl"
trace "two modes in a picture" 2 "$chain" --mode all --svg "$work/c.svg"
says "two modes in a picture" err "a picture shows one mode"
trace "neither file nor demo" 2
trace "file and demo" 2 "$chain" --demo
says "file and demo" err "needs one of these"
trace "points without JSON" 2 "$chain" --points
trace "the demo" 0 --demo
says "the demo" out "15 launches"
trace "no such mode" 2 "$chain" --mode graf
says "no such mode" err "graph"
trace "no file" 2 "$work/none.yaml"
trace "a folder that is not there" 4 "$chain" --svg "$work/none/a.svg"
sed 's/mark load/mark/' "$work/mine.ptx" >"$work/new" && mv "$work/new" "$work/mine.ptx"
trace "a mark without a name" 2 "$work/mine.yaml"
says "a mark without a name" err "mine.ptx:9:"
sed 's/^\.version.*/.version 6.1/; s/sm_90/sm_70/; /griddepcontrol/d; /mark/d' "$work/mine.ptx" >"$work/new" && mv "$work/new" "$work/mine.ptx"
trace "PTX that is too old" 4 "$work/mine.yaml"
says "PTX that is too old" err ".version 6.2"

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
