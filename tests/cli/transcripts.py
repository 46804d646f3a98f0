"""The cases of transcripts.sh. Each line "$ WORD..." of transcripts.txt is run in tests/cli; below
it stand the exit code where it is not 0, stdout, and stderr behind "! ". JSON stands there on fewer
lines: a list of objects is one of the names that "each" has and one of the values of each, and what
is told of driver and device stands with 'griddep info' alone. @E, @F, @S and @W are the emulated
driver, the fake one, the same with samples that differ, and a folder to write to.
Beside that, what is printed is worked out anew from what it is made of, so that a wrong value
cannot come in when transcripts.txt is written anew."""
import difflib
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

griddep, top, emulated, fake = sys.argv[1:]
here = os.path.join(top, "tests/cli")
work = tempfile.mkdtemp()
places = {"@E": emulated, "@F": fake, "@S": fake, "@W": work}
environment = {k: v for k, v in os.environ.items() if not k.startswith(("GRIDDEP", "CUDA", "LC_"))}
environment.update(GRIDDEP_STORE="off", NO_COLOR="1", LANG="C")
passed = failed = 0


def case(good, name, said=""):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print(f"failed: {name}\n{said!s:.3000}", flush=True)


def run(line):
    more = {"FAKE_DRIVER_SLOWER": "1"} if "@S" in line else {}
    for sign, place in places.items():
        line = line.replace(sign, place)
    return subprocess.run([griddep, *line.split()], cwd=here, env={**environment, **more},
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=1800)


def document(line):
    return json.loads(run(line + " --json").stdout)


def layout(value, indent=0, before=0):
    """JSON on lines of up to 138 columns: the parts of what is longer, as many on a line as fit."""
    line = json.dumps(value, ensure_ascii=False)
    if indent + before + len(line) <= 138 or not isinstance(value, (dict, list)):
        return line
    lines = [""]
    for name, each in value.items() if isinstance(value, dict) else enumerate(value):
        name = f'"{name}": ' if isinstance(value, dict) else ""
        part = name + layout(each, indent + 1, len(name)) + ","
        if lines[-1] and ("\n" in lines[-1] + part or indent + 2 + len(lines[-1] + part) > 138):
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + part
    opened, closed = "{}" if isinstance(value, dict) else "[]"
    return opened + ("\n" + " " * (indent + 1)).join(lines)[:-1] + closed


def tables(value):
    """The value with names of equal objects in a list once."""
    if isinstance(value, dict):
        return {name: tables(each) for name, each in value.items()}
    if not isinstance(value, list):
        return value
    names = list(value[0]) if value and isinstance(value[0], dict) else []
    if len(value) < 3 or any(not isinstance(each, dict) or list(each) != names for each in value):
        return [tables(each) for each in value]
    return {"each": names, "are": [[tables(part) for part in each.values()] for each in value]}


def near(a, b, share=1e-6):
    return a == b or None not in (a, b) and math.isclose(a, b, rel_tol=share, abs_tol=1e-9)


# ---- whole outputs


def transcript(line):
    done = run(line)
    texts = []
    for text in (done.stdout, done.stderr):
        text = re.sub(r"griddep \d+\.\d+\.\d+", "griddep VERSION", text)
        for sign, place in places.items():
            text = text.replace(place, sign)
        texts.append(text)
    if texts[0].startswith("{"):
        document = json.loads(texts[0])
        for name in ("griddep",) if line.startswith("info") else ("griddep", "driver", "device"):
            document.pop(name, None)
        texts[0] = layout(tables(document)) + "\n"
    code = f"exit {done.returncode}\n" if done.returncode else ""
    return code + texts[0] + "".join(f"! {each}\n" for each in texts[1].splitlines())


path = os.path.join(here, "transcripts.txt")
with open(path, encoding="utf-8") as file:
    head, *parts = re.split(r"^\$ ", file.read(), flags=re.MULTILINE)
made = [line + "\n" + transcript(line) for line in (part.split("\n", 1)[0] for part in parts)]
if os.environ.get("GRIDDEP_UPDATE_GOLDEN"):
    with open(path, "w", encoding="utf-8") as file:
        file.write(head + "".join("$ " + part.rstrip("\n") + "\n\n" for part in made))
    parts = made
for old, new in zip(parts, made):
    old, new = old.rstrip("\n").split("\n"), new.rstrip("\n").split("\n")
    changes = difflib.unified_diff(old, new, "expected", "printed", lineterm="", n=1)
    case(old == new, "$ " + old[0], "\n".join(changes))


# ---- the figures of a trace, from its points (doc/timeline.md defines them)


def span_of(launch):
    points = launch["points"]
    entry, exits = points["entry"], points["exit"]
    wait = [e if w is None else w for e, w in zip(entry, points["wait"])]
    release = [e if r is None else r for e, r in zip(entry, points["release"])]
    return [*zip(points["sm"], entry, wait, release, exits)]


def idle_time(mode, multiprocessors, start, end):
    """Nanoseconds of all multiprocessors together, in which one has no block or all wait."""
    idle = 0
    for sm in range(multiprocessors):
        spans = [span for launch in mode["launches"] for span in span_of(launch) if span[0] == sm]
        busy = [span[1:3] for span in spans] + [span[3:] for span in spans]
        edges = {min(max(edge, start), end) for part in busy for edge in part}
        edges = sorted({start, end, *edges})
        for a, b in zip(edges, edges[1:]):
            idle += 0 if any(first <= a and b <= last for first, last in busy) else b - a
    return idle


def figures_of(mode, multiprocessors):
    """What the document should have: (path, value) pairs."""
    launches = mode["launches"]
    start = min(min(each["points"]["entry"]) for each in launches)
    end = max(max(each["points"]["exit"]) for each in launches)
    idle = idle_time(mode, multiprocessors, start, end)
    yield ("span_ns",), end - start
    yield ("idle_sm_ns",), idle
    yield ("idle_share",), idle / multiprocessors / (end - start)
    yield ("blocks",), sum(len(each["points"]["sm"]) for each in launches)
    for i, launch in enumerate(launches):
        points = {}
        for name in ("entry", "wait", "trigger", "release", "exit"):
            points[name] = [time for time in launch["points"][name] if time is not None]
            for which, of in (("first", min), ("last", max)):
                if name != "wait":
                    value = of(points[name]) if points[name] else None
                    yield ("launches", i, f"{which}_{name}_ns"), value
        spans = span_of(launch)
        waits = [release - wait for _, _, wait, release, _ in spans] if points["wait"] else []
        preambles = [wait - entry for _, entry, wait, _, _ in spans] if points["wait"] else []
        yield ("launches", i, "preamble_ns"), statistics.mean(preambles) if preambles else None
        for name, of in (("least", min), ("median", statistics.median), ("most", max)):
            yield ("launches", i, f"wait_{name}_ns"), of(waits) if waits else None
        if launch["hop"] is None:
            continue
        last = launches[launch["hop"]["from"]]["points"]
        entry, ended = min(points["entry"]), max(last["exit"])
        released = [span[3] for span in spans]
        window = max(released) - min(last["exit"])
        idle = idle_time(mode, multiprocessors, min(last["exit"]), max(released))
        hidden = [max(0, min(wait, ended) - begun) for _, begun, wait, _, _ in spans]
        overlap = max(0, min(ended, max(points["exit"])) - entry)
        shorter = min(ended - min(last["entry"]), max(points["exit"]) - entry)
        figures = {
            "handoff_gap_ns": min(released) - ended,
            "launch_lead_ns": ended - entry,
            "preamble_hidden_ns": statistics.mean(hidden) if preambles else None,
            "overlap_ns": overlap,
            "overlap_ratio": overlap / shorter,
            "idle_window_ns": window,
            "idle_sm_ns": idle,
            "idle_share": idle / multiprocessors / window,
        }
        for name, value in figures.items():
            yield ("launches", i, "hop", name), value


def at(value, place):
    for name in place:
        value = value[name]
    return value


def us(nanoseconds):
    return "-" if nanoseconds is None else f"{nanoseconds / 1e3:.2f}"


def events_of(document):
    """The Perfetto trace that the points make: of each event the phase, the name, the
    multiprocessor or launch, start and length."""
    found = []
    launches = document["modes"][0]["launches"]
    for i, launch in enumerate(launches):
        name, points, spans = launch["name"] or launch["kernel"], launch["points"], span_of(launch)
        start = launch["first_entry_ns"]
        found.append(("X", name, "launch", i, start, launch["last_exit_ns"] - start))
        for block, (sm, entry, wait, release, last) in enumerate(spans):
            found.append(("X", name, "sm", sm, entry, last - entry))
            parts = {"before its wait": (entry, wait), "waiting": (wait, release)}
            if release > entry:
                parts["at work"] = release, last
            for part, (start, end) in parts.items():
                if end > start:
                    found.append(("X", part, "sm", sm, start, end - start))
            for mark, column in [("trigger", points["trigger"]), *points.get("marks", {}).items()]:
                if column[block] is not None:
                    found.append(("i", mark, "sm", sm, column[block], None))
        if launch["hop"] is not None:
            last = launches[launch["hop"]["from"]]
            leaves = last["points"]["trigger" if last["last_trigger_ns"] is not None else "exit"]
            start = leaves.index(max(leaves))
            arrives = [span[3] for span in spans]
            end = arrives.index(min(arrives))
            found.append(("s", "hop", "sm", last["points"]["sm"][start], leaves[start], None))
            found.append(("f", "hop", "sm", points["sm"][end], arrives[end], None))
    return sorted(found, key=str)


def read_events(path):
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    found = []
    for event in events:
        if event["ph"] != "M":
            where = ("sm", event["tid"] // 256) if event["pid"] == 1 else ("launch", event["tid"])
            length = round(event["dur"] * 1e3) if event["ph"] == "X" else None
            found.append((event["ph"], event["name"], *where, round(event["ts"] * 1e3), length))
    return sorted(found, key=str)


def whole(event):
    return (*event[:4], round(event[4]), event[5] if event[5] is None else round(event[5]))


def rows_of(launches):
    """The rows of the tables of launches and of hops."""
    rows, hops = [], []
    for i, launch in enumerate(launches):
        names = ("first_entry", "last_exit", "preamble", "wait_least", "wait_median", "wait_most")
        times = [us(launch[name + "_ns"]) for name in names]
        rows.append([str(i), launch["name"] or launch["kernel"], str(launch["blocks"]), *times])
        hop = launch["hop"]
        if hop is not None:
            hops.append([f"{hop['from']} to {i}", "yes" if launch["pdl"] else "no"])
            for name in ("handoff_gap_ns", "launch_lead_ns", "preamble_hidden_ns"):
                hops[-1].append(us(hop[name]))
            hops[-1] += [f"{hop['overlap_ratio'] * 100:.0f} %", us(hop["idle_sm_ns"])]
            hops[-1].append(f"{hop['idle_share'] * 100:.0f} %")
    return rows, hops


for chain in ("hops.yaml", "late.yaml", "preamble.yaml", "../../examples/feed_forward.yaml"):
    for multiprocessors in (1, 4):
        line = f"trace {chain} --driver @E --multiprocessors {multiprocessors} --repeat 1"
        for mode in document(line + " --mode all --points")["modes"]:
            figures = [(*each, at(mode, each[0])) for each in figures_of(mode, multiprocessors)]
            wrong = [each for each in figures if not near(each[1], each[2])]
            case(not wrong, f"{line}: {mode['mode']}: (figure, from points, printed)", wrong)
        traced = json.loads(run(line + " --perfetto @W/p.json --json --points").stdout)
        expected = sorted(map(whole, events_of(traced)), key=str)
        got = read_events(os.path.join(work, "p.json"))
        case(expected == got, f"{line}: Perfetto trace", set(expected) ^ set(got))
        text = [re.split(r" {2,}", row.strip()) for row in run(line).stdout.split("\n")]
        for table in rows_of(traced["modes"][0]["launches"]):
            # A column that has nothing to tell is left out.
            told = [i for i, column in enumerate(zip(*table)) if set(column) != {"-"}]
            wrong = [row for row in table if [row[i] for i in told] not in text]
            case(not wrong, f"{line}: rows of the table", (wrong, text))

# ---- the shelf, from its files

SECTIONS = "purpose parameters launch pdl requires extent constraints measured history".split()
SHOWN = SECTIONS[:4]  # by the text


def sections_of(text):
    """The parts of a kernel's head comment, without their indentation."""
    head = "\n".join(line[3:] for line in re.match(r"(//.*\n)+", text).group(0).splitlines()) + "\n"
    sections = {}
    for name, body in re.findall(r"^(\w+):((?: .*\n?|\n)+)", head, flags=re.MULTILINE):
        lines = body.strip("\n").split("\n")
        sections[name] = "\n".join(line.removeprefix("  ") for line in lines).strip()
    return sections


rows = [re.split(r" {2,}", row) for row in run("kernels list").stdout.splitlines()]
for each in document("kernels list")["kernels"]:
    name, family = each["name"], each["file"].split("/")[0]
    if not os.path.exists(os.path.join(top, "ptx", each["file"])):
        continue  # made by the build
    with open(os.path.join(top, "ptx", each["file"]), encoding="utf-8") as file:
        text = file.read()
    sections = sections_of(text)
    case(name == sections["kernel"] and each["family"] == family, f"{name} in the list", each)
    row = [name, family, f"sm_{each['capability']}", sections["purpose"].split("\n")[0]]
    case(row in rows and each["purpose"] == sections["purpose"], f"row of {name}", (row, each))
    line = f"kernels show {name} --capability {each['capability']}"
    shown, told = document(line), run(line).stdout
    for section in SECTIONS:
        expected = sections.get(section)
        case(shown[section] == expected, f"{section} of {name}", (shown[section], expected))
        lines = "".join(f"    {line}\n" for line in (expected or "").split("\n") if line)
        case(section not in SHOWN or lines in told, f"{section} of {name}, text", told)
    case(shown["ptx"] == text == run(line + " --ptx").stdout, f"text of {name}", shown["ptx"])
    case(told.startswith(f"{name} ({each['file']}) for sm_{each['capability']}\n"), f"first line of {name}", told)

# ---- what the codes mean

listed = run("explain").stdout.splitlines()
for code in document("explain")["codes"]:
    name, severity, title = code["code"], code["severity"], code["title"]
    case(f"{name}  {severity:7}  {title}" in listed, f"{name} in the list", code)
    case(document("explain " + name)["codes"] == [code], f"explain {name} --json", code)
    told, page = run("explain " + name).stdout, " ".join(code["page"].split())
    case(told.startswith(f"{name}, {severity}: {title}\n"), f"explain {name}", (told, code))
    case(page in " ".join(told.split()), f"page of explain {name}", (told, code))

# ---- what is wrong with a chain file, and where

for name in sorted(os.listdir(here)):
    if not re.fullmatch(r"bad_.*\.yaml", name):
        continue
    with open(os.path.join(here, name[:-4] + "expect"), encoding="utf-8") as file:
        expected = file.read().rstrip("\n")
    done = run(f"run {name} --driver /nonexistent/libcuda.so.1 --json")
    told = json.loads(done.stdout)["error"]
    place = [told[part] for part in ("file", "line", "column") if told.get(part)]
    said = "griddep: " + ":".join(map(str, place)) + f": {told['text']}\n"
    case(done.returncode == told["exit_code"] == 2, f"exit code of {name}", (done.returncode, told))
    case(done.stderr == said and said.startswith("griddep: " + expected), name, (done.stderr, told))

# ---- one of a kind

nouns = "launches|hops|edges|blocks|CTAs|elements|arguments|bytes|errors|warnings|notes|findings|runs|attacks|variants|layers|instructions|multiprocessors"
with open(os.path.join(here, "transcripts.txt"), encoding="utf-8") as file:
    several = [line for line in file if re.search(rf"(^|[^0-9.,x])1 ({nouns})\b", line)]
case(not several, "counts of one", several)

# ---- a run's figures

for chain, expected in (("hops.yaml", 4 * 2048), ("late.yaml", 9 * 128), ("copy.yaml", None)):
    ran = document(f"run {chain} --driver @E --repeat 1 --no-check")
    case(expected in (None, ran["bytes_per_step"]), f"{chain}: bytes of a step", ran)
    medians = {mode["mode"]: mode["timing"]["median_us"] for mode in ran["modes"]}
    for mode in ran["modes"]:
        timing, name = mode["timing"], f"{chain}, {mode['mode']}"
        for other in ("serial", "graph"):
            speed_up = medians[other] / timing["median_us"]
            case(near(timing[f"speed_up_over_{other}"], speed_up), f"{name}: speed-up", timing)
        met = mode["equal_to_serial"] and all(each["met"] for each in mode["expectations"])
        case(mode["as_expected"] == met, f"{name}: as expected", mode)

shutil.rmtree(work, ignore_errors=True)
print(f"{passed} passed, {failed} failed, 0 skipped")
sys.exit(failed > 0)
