"""One chain, one set of facts: check, run, explain, trace, stress, sanitize, audit and compare
are asked about the same chain, and what they say of it is held side by side.

Of each chain: which launches race, with code, severity, file and line; how many launches start early;
whether two launches overlapped; whether the results differ. Called by facts.sh.
"""
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

griddep, top, driver = sys.argv[1:]
passed = failed = 0
work = tempfile.mkdtemp()
environment = {k: v for k, v in os.environ.items() if not k.startswith("GRIDDEP")}
environment.update(GRIDDEP_STORE="off", GRIDDEP_DRIVER=driver)
HAZARDS = {"GD201", "GD202", "GD205", "GD206", "GD207", "GD112", "GD130"}
MODES = ["pdl", "graph-pdl"]


def case(good, name, said=""):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print(f"failed: {name}: {said!s:.900}", flush=True)


def call(*arguments):
    return subprocess.run([griddep, *arguments], cwd=work, env=environment, timeout=1800, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")


def document(*arguments):
    done = call(*arguments, "--json")
    try:
        return json.loads(done.stdout), done
    except ValueError:
        case(False, f"{' '.join(arguments)} writes JSON", done.stdout[-300:] + done.stderr[-500:])
        return {}, done


# ---- what each tool says


def check(path, codes=HAZARDS):
    """{(code, severity, file, line, launch)} of the hazards, and whether one is an error."""
    told, done = document("check", path)
    findings = {(f["code"], f["severity"], f["file"], f["line"], l) for f in told["findings"] if f["code"] in codes for l in f["launches"]}
    case(done.returncode == (1 if told["errors"] or told["warnings"] else 0), f"check {path}: exit code", done.returncode)
    return findings


def run(path):
    """What run warns of, by text; for each mode which launches start early, and whether the results are those of serial."""
    told, done = document("run", path, "--repeat", "0")
    place = re.compile(r"^(\S+?):(\d+)(?::\d+)?: (error|warning): .*\[(GD\d+)\]\n(?:(?!^\S+:\d+).*\n)*?  in launch(?:es)? (.*) of ", re.M)
    warned = {(m[4], m[3], m[1], int(m[2]), int(l)) for m in place.finditer(done.stderr) for l in re.findall(r"(?:^|, )(\d+)", m[5])}
    modes = {m["mode"]: m for m in told["modes"]}
    early = {mode: [l["pdl"] for l in modes[mode]["launches"]] for mode in MODES}
    return {w for w in warned if w[0] in HAZARDS}, early, {mode: modes[mode]["equal_to_serial"] for mode in MODES}


def explain(path, mode):
    """The launches that are to start early, those that race by the conditions, the codes, for each hop
    whether it was seen to overlap; and in a graph the launches that a programmatic edge leads to, and those that race by an edge."""
    hops = document("explain", path, "--mode", mode)[0]["hops"]
    races = {h["launch"] for h in hops for c in h["conditions"] if c["name"] == "check" and c["text"].startswith("forced")}
    early = {h["launch"] for h in hops if any(c["name"] in ("attribute 6", "event") and c["met"] for c in h["conditions"]) and not any(c["name"] == "producer" and not c["met"] for c in h["conditions"])}
    codes = {(h["launch"], c["text"].split(": ")[1]) for h in hops for c in h["conditions"] if c["name"] == "check" and c["text"].startswith("forced")}
    edges = [(h["launch"], e) for h in hops for e in h["edges"] or []]
    case(all((h["edges"] is None) == (mode == "pdl") for h in hops), f"explain {path}, {mode}: a graph has edges", hops)
    led, hazards = ({i for i, e in edges if e["type"] == "programmatic"}, {i for i, e in edges if e["races"]}) if mode != "pdl" else (early, races)
    return early, races, codes, {h["launch"]: h["measured"]["overlaps"] for h in hops if h["measured"]}, led, hazards


def trace(path, mode):
    """The launches that start early, for each hop whether it overlapped, and whether the results are those of serial."""
    told = document("trace", path, "--repeat", "0", "--mode", mode)[0]["modes"][0]
    lead = {i: l["hop"]["launch_lead_ns"] > 0 for i, l in enumerate(told["launches"]) if l["hop"]}
    return {i for i, l in enumerate(told["launches"]) if l["pdl"]}, lead, told["equal_to_serial"]


def sanitize(path, alone=True):
    """{(file, line, launch)} of each access that races. alone: no finding tells what a third kernel is to blame for."""
    told, done = document("sanitize", path, "--schedule", "eager", "--schedule", "lazy", "--modes", ",".join(MODES))
    races = [f for f in told["findings"] if f["kind"] == "race"]
    case(done.returncode == (66 if told["findings"] else 0), f"sanitize {path}: exit code", done.returncode)
    case(not alone or not any(f["culprit"] for f in told["findings"]), f"sanitize {path}: what a third kernel is to blame for is left out beside its own mistake", told["findings"])
    return [{(f[side]["file"], f[side]["line"], f[side]["chain_launch"]) for side in ("first", "second")} for f in races]


def audit(path, *options):
    """How many launches of mode pdl the program was seen to start early, and which kernels are said to race."""
    report = os.path.join(work, "report.json")
    without = {k: v for k, v in environment.items() if k != "GRIDDEP_DRIVER"}
    done = subprocess.run([griddep, "audit", *options, "--driver", driver, "--json", "--report", report, "--", griddep, "run", path, "--no-check", "--repeat", "0", "--mode", "pdl"], cwd=work, env=without, timeout=1800, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    with open(report) as file:
        told = json.load(file)
    racing = {f["kernel"] for f in told["findings"] if f["severity"] == "error"}
    case((done.returncode == 66) == bool(racing), f"audit of {path}: exit code", done.returncode)
    return sum(k["early"] for k in told["kernels"]), racing


def stress(path):
    told, done = document("stress", path, "--mode", "pdl")
    case(done.returncode == (1 if told["differences"] or told["faults"] else 0), f"stress {path}: exit code", done.returncode)
    return told["differences"] > 0


# ---- side by side


def same(path, kernels, early, racing, held=frozenset()):
    """All tools of one chain: its kernels by launch, the launches that start early, those of them that
    race, and those that would race and are held back. check, sanitize and stress speak of both."""
    name = os.path.basename(path)
    found = check(path)
    warned, started, equal = run(path)
    raced = sanitize(path)
    seen, blamed = audit(path)
    wrong = {f[4] for f in found if f[1] == "error" and f[0] != "GD207"}  # GD207 names the producer's side
    case(wrong == racing | held, f"{name}: the check's launches that race", found)
    case(warned == found, f"{name}: run warns of what the check finds", (warned, found))
    places = {(f[2], f[3], f[4]) for f in found if f[1] == "error"}
    case(not places or any(place in places for race in raced for place in race), f"{name}: sanitize points at what the check points at", (found, raced))
    case(bool(raced) == bool(wrong), f"{name}: sanitize finds a race", raced)
    for race in raced:
        case(any(launch in wrong for _, _, launch in race), f"{name}: the race is one of a launch that the check names", (race, wrong))
    case(racing or equal == {mode: True for mode in MODES}, f"{name}: what does not race has the results of serial", equal)
    case(stress(path) == bool(wrong), f"{name}: stress makes what races differ, and nothing else")
    case(seen == len(early), f"{name}: audit counts the early launches", (seen, early))
    own = {kernels[i] for i in racing}
    case(blamed == own, f"{name}: audit blames the kernels that race", (blamed, own))
    for mode in MODES:
        planned, told, codes, measured, edges, hazards = explain(path, mode)
        dependent, leads, as_serial = trace(path, mode)
        views = {"run": {i for i, pdl in enumerate(started[mode]) if pdl}, "edges": edges, "explain": planned, "trace": dependent}
        for tool, view in views.items():
            case(view == early, f"{name}, {mode}: early launches, as {tool} tells them", (view, early))
        case(hazards == racing and told == racing, f"{name}, {mode}: races of edges and conditions", (hazards, told, racing))
        case(codes == {(f[4], f[0]) for f in found if f[1] == "error" and f[4] in told} or len(codes) < len(found), f"{name}, {mode}: codes of explain", (codes, found))
        case(measured == {i: lead for i, lead in leads.items() if i in measured} and len(measured) == len(leads), f"{name}, {mode}: trace and explain measure the same overlap", (measured, leads))
        case(as_serial or bool(racing), f"{name}, {mode}: trace's results", as_serial)
    ratio = document("compare", path, path, "--mode", "pdl")[0]
    case(ratio["ratio"] == 1 and ratio["verdict"] == "no different", f"{name}: compare of the chain with itself", ratio)


def consistent(path):
    """All tools of one chain of which nobody knows beforehand what they should say."""
    name = os.path.basename(path)
    found = check(path)
    warned, started, equal = run(path)
    raced = sanitize(path, alone=False)
    sure, likely = ({f[4] for f in found if f[0] != "GD207" and (f[1] == "error" or doubts)} for doubts in (False, True))
    seen, blamed = audit(path)
    case(warned == {f for f in found if f[1] == "error"}, f"{name}: run warns of what the check finds", (warned, found))
    case(not sure or raced, f"{name}: sanitize finds what the check is sure of", found)
    case(all(any(launch in likely for _, _, launch in race) for race in raced), f"{name}: the check names a launch of each race", (raced, found))
    case(likely or not stress(path), f"{name}: nothing differs under attack where the check finds nothing")
    for mode in MODES:
        planned, told, _, measured, edges, hazards = explain(path, mode)
        dependent, leads, as_serial = trace(path, mode)
        early = {i for i, pdl in enumerate(started[mode]) if pdl}
        case(early == edges == planned == dependent, f"{name}, {mode}: early launches", (early, edges, planned, dependent))
        case(hazards == told == likely & early, f"{name}, {mode}: races", (hazards, told, likely, early))
        case(measured == {i: lead for i, lead in leads.items() if i in measured}, f"{name}, {mode}: trace and explain measure the same overlap", (measured, leads))
        case(hazards or (equal[mode] and as_serial), f"{name}, {mode}: what does not race has the results of serial", (equal, as_serial))
        case(mode != "pdl" or seen == len(early), f"{name}: audit counts the early launches", (seen, early))
        case(mode != "pdl" or bool(blamed) == bool(sure & early), f"{name}: audit is as sure of a race as the check", (blamed, sure & early))


# ---- the chains

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
KERNEL = """.visible .entry {name}(.param .u64 x, .param .u64 y, .param .u32 count)
{{
    .reg .pred %q;
    .reg .b32 %t, %c, %v, %n;
    .reg .b64 %x, %y, %o;
    ld.param.u64 %x, [x];
    ld.param.u64 %y, [y];
    ld.param.u32 %n, [count];
    mov.u32 %t, %tid.x;
    mov.u32 %c, %ctaid.x;
    mad.lo.u32 %t, %c, 128, %t;
    mul.wide.u32 %o, %t, 4;
    add.u64 %x, %x, %o;
    add.u64 %y, %y, %o;
    setp.ge.u32 %q, %t, %n;
{before}
    ld.global.u32 %v, [%x];
{between}
    add.u32 %v, %v, 1;
    st.global.u32 [%y], %v;
{after}
    ret;
}}
"""
WAIT, TRIGGER = "    griddepcontrol.wait;\n", "    griddepcontrol.launch_dependents;\n"
BODIES = {  # before the load, between load and store, at the end
    "right": (TRIGGER + WAIT, "", ""),
    "late": (WAIT, "", TRIGGER),
    "silent": (WAIT, "", ""),
    "guarded": ("@%q ret;\n" + WAIT + TRIGGER, "", ""),
    "early": (TRIGGER, WAIT, ""),
    "never": (TRIGGER, "", ""),
    "never_triggers": ("", "", ""),
    "never_soon": (TRIGGER, "    mov.u32 %c, 0;\nagain:\n    add.u32 %v, %v, %c;\n    add.u32 %c, %c, 1;\n    setp.lt.u32 %q, %c, 40;\n    @%q bra again;", ""),
}
with open(os.path.join(work, "kernels.ptx"), "w") as file:
    file.write(HEAD + "".join(KERNEL.format(name=name, before=b, between=m, after=a) for name, (b, m, a) in BODIES.items()))

with open(os.path.join(work, "old.ptx"), "w") as file:  # for a chip without griddepcontrol: it cannot wait
    file.write(HEAD.replace("sm_90", "sm_80") + KERNEL.format(name="never_old", before="", between="", after=""))


def chain(name, launches, blocks=4, module="kernels", changes=()):
    """launches: (kernel, buffer read, buffer written, pdl). changes: of the text."""
    buffers = sorted({b for _, x, y, _ in launches for b in (x, y)})
    lines = [f"name: {name}", "modules:", f"  - {{name: m, file: {module}.ptx}}", "buffers:"]
    lines += [f"  - {{name: {b}, type: u32, count: {blocks * 128}, sequence: {{start: {i * 1000}, step: 1}}}}" for i, b in enumerate(buffers)]
    lines += ["launches:"]
    for kernel, x, y, pdl in launches:
        lines += [f"  - {{kernel: {kernel}, module: m, grid: [{blocks}], block: [128], pdl: {pdl}, arguments: [{{buffer: {x}, access: read}}, {{buffer: {y}, access: write}}, {{u32: {blocks * 128 - 7}}}]}}"]
    path, text = os.path.join(work, name + ".yaml"), "\n".join(lines) + "\n"
    for old, new in changes:
        text = text.replace(old, new, 1)
    with open(path, "w") as file:
        file.write(text)
    return path, [kernel for kernel, *_ in launches]


right = [("right", "a", "b", "auto"), ("right", "b", "c", "auto"), ("right", "c", "d", "auto")]
same(*chain("right", right), {1, 2}, set())
same(*chain("guarded", [("right", "a", "b", "auto"), ("guarded", "b", "c", "force"), ("right", "c", "d", "auto")]), {1, 2}, set())
same(*chain("silent", [("silent", "a", "b", "auto"), ("silent", "b", "c", "auto")]), {1}, set())
same(*chain("late", [("late", "a", "b", "auto"), ("late", "b", "c", "auto")], blocks=64), {1}, set())
same(*chain("held", [("right", "a", "b", "auto"), ("early", "b", "c", "auto")]), set(), set(), held={1})
same(*chain("apart", [("right", "a", "b", "auto"), ("early", "c", "d", "auto")]), {1}, set())
same(*chain("forced", [("right", "a", "b", "auto"), ("early", "b", "c", "force"), ("right", "c", "d", "auto")]), {1, 2}, {1})
same(*chain("never", [("right", "a", "b", "auto"), ("never", "b", "c", "force")]), {1}, {1})
same(*chain("before_never", [("right", "a", "b", "auto"), ("right", "b", "c", "auto"), ("never", "c", "d", "force")]), {1, 2}, {2})
same(*chain("never_auto", [("right", "a", "b", "auto"), ("never", "b", "c", "auto")]), set(), set())
same(*chain("never_apart", [("never", "a", "b", "auto"), ("never", "c", "d", "force")]), {1}, set())
same(*chain("never_back", [("right", "a", "b", "auto"), ("right", "c", "d", "auto"), ("never", "b", "e", "force")]), {1, 2}, {2})
same(*chain("never_writes", [("right", "a", "b", "auto"), ("never", "a", "c", "force")]), {1}, set())
same(*chain("overwrites", [("right", "a", "b", "auto"), ("never", "c", "b", "force"), ("right", "b", "d", "auto")]), {1}, {1}, held={2})
same(*chain("blamed", [("right", "a", "b", "auto"), ("never", "b", "c", "force"), ("right", "c", "b", "force")]), {1, 2}, {1, 2})
same(*chain("old", [("never_old", "a", "b", "auto"), ("never_old", "b", "c", "force")], module="old"), {1}, {1})
same(*chain("off", [("right", "a", "b", "auto"), ("right", "b", "c", "off")]), set(), set())


# One allocation: that the one reaches the other is a doubt.
parts = [("count: 128", "count: 512"), *[("buffer: a, access", f"buffer: a, offset: {i}, access") for i in (64, 192, 320)]]
apart = [("count: 128", "count: 2048"), *[("buffer: a, access", f"buffer: a, offset: {i}, access") for i in (1, 1024, 128, 256, 384, 512, 1024, 1536)]]
consistent(chain("doubt", [("right", "a", "a", "auto"), ("right", "a", "a", "auto"), ("late", "a", "a", "auto"), ("early", "a", "a", "force")], 1, changes=apart)[0])
consistent(chain("arena", [("right", "a", "a", "auto"), ("never", "a", "a", "force")], 1, changes=parts)[0])

# A kernel that fills the device, and one that waits for nothing: its blocks start as those leave.
path, _ = chain("full", [("never_soon", "a", "b", "auto"), ("never_soon", "c", "d", "force")], blocks=64)
same(path, ["never_soon"] * 2, {1}, set())
hop = document("trace", path, "--repeat", "0", "--mode", "pdl")[0]["modes"][0]["launches"][1]["hop"]
case(hop["handoff_gap_ns"] < 50, "blocks start when there is room for them", hop)

# In a graph too a launch of another lane, which could begin sooner, keeps its number.
parts = [("kernel: right", "name: first, kernel: right"), ("kernel: late", "lane: other, after: [first], kernel: late")]
path, _ = chain("lanes", [("right", "a", "b", "auto"), ("silent", "b", "c", "auto"), ("silent", "c", "d", "auto"), ("late", "a", "d", "auto")], changes=parts)
races = sanitize(path)
case([{launch for _, _, launch in race} for race in races] == [{2, 3}], "lanes.yaml: one race of the same launches in each mode", races)
case({launch for _, severity, _, _, launch in check(path, {"GD212"}) if severity == "error"} == {3}, "lanes.yaml: the check finds it")
case(audit(path, "--record", os.path.join(work, "recorded"))[1] == {"late"}, "lanes.yaml: the audit of a recording finds what the check does")

drawn = random.Random(7)
for number in range(16):
    launches = []
    for i in range(drawn.randint(2, 5)):
        x, y = drawn.sample("abcde", 2)
        launches.append((drawn.choice(list(BODIES)), x, y, drawn.choice(["auto", "auto", "force", "off"]) if i else "auto"))
    consistent(chain(f"drawn{number}", launches, blocks=drawn.choice([1, 4, 20]))[0])

shutil.rmtree(work)
print(f"{passed} passed, {failed} failed, 0 skipped")
sys.exit(1 if failed else 0)
