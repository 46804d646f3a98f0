"""The cases of answers.sh."""
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

griddep, top, driver = sys.argv[1:]
passed = failed = skipped = 0
OK, DIFFERS, USAGE, NO_DRIVER, REFUSED, UNCHECKED, FOUND = 0, 1, 2, 3, 4, 65, 66

work = tempfile.mkdtemp()
environment = {k: v for k, v in os.environ.items() if not k.startswith("GRIDDEP")}
environment.update(GRIDDEP_STORE="off")


def case(good, name, said=""):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print(f"failed: {name}: {said!s:.600}", flush=True)


def skip(what):
    global skipped
    skipped += 1
    print(f"skipped: {what}")


def run(*arguments, **options):
    options.setdefault("env", environment)
    return subprocess.run([griddep, *arguments], cwd=work, timeout=1800, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", **options)


def expect(code, name, *arguments, **options):
    done = run(*arguments, **options)
    case(done.returncode == code, f"{name}: exit code {done.returncode}, not {code}", done.stdout[-300:] + done.stderr[-500:])
    return done


def write(name, text):
    with open(os.path.join(work, name), "w") as file:
        file.write(text)
    return name


def part(things, number):
    """All; with sanitizers a third, another one for each number: the same code answers for each."""
    return things[number % 3 :: 3] if os.environ.get("SANITIZED") == "1" else things


# ---- the subcommands, from their own table

readers, drivers, inputs, commands = set(), set(), set(), []  # of chains; that open a driver; that take files
taken = {}  # options of each, with what stands for the value
for line in subprocess.run([griddep, "help", "--table"], capture_output=True, text=True, env=environment).stdout.splitlines():
    fields = line.split("\t")
    if fields[0] == "command":
        commands.append(fields[1])
    if fields[0] == "synopsis" and "CHAIN.yaml" in fields[1]:
        readers.add(commands[-1])
    if fields[0] == "synopsis" and ("CHAIN.yaml" in fields[1] or "FILE.ptx" in fields[1]):
        inputs.add(commands[-1])
    if fields[0] == "option":
        taken.setdefault(commands[-1], {})[fields[1]] = fields[2]
    if fields[:2] == ["option", "driver"]:
        drivers.add(commands[-1])
case({"run", "check", "trace", "sanitize", "explain", "tune", "stress"} <= readers, "the table tells which subcommands read chains", readers)

for command in ["", *commands]:
    shown = run("help", *[command] * bool(command)).stdout
    case(shown and max(map(len, shown.splitlines())) <= 80, f"help {command} has no line beyond 80 columns", [line for line in shown.splitlines() if len(line) > 80])
programs = {"audit", "off", "on"}  # what they run opens the device
own = {"sanitize", *programs}  # runs on the emulated driver alone
device = {"driver", "device", "emulate", "schedule", "model", "multiprocessors"}
for command in commands:
    case(command not in drivers - own or device <= set(taken[command]), f"{command}: options of the device", taken[command])

# What makes them quick.
more = {"run": ["--repeat", "0"], "trace": ["--repeat", "0"], "sanitize": ["--schedule", "eager", "--modes", "pdl"], "explain": ["--no-measure"], "tune": ["--forget"], "stress": ["--mode", "pdl"]}


def words(command, path):
    return [command, path, *more.get(command, []), *(["--driver", driver] if command in drivers else [])]


# ---- shapes that no device takes

HEAD = """.version 8.7
.target {target}
.address_size 64
"""
KERNEL = """.visible .entry k(.param .u64 p) {directives}
{{
    .reg .b64 %p;
    .reg .b32 %v;
    {variables}
    griddepcontrol.wait;
    ld.param.u64 %p, [p];
    cvta.to.global.u64 %p, %p;
    {body}
    st.global.u32 [%p], 7;
    griddepcontrol.launch_dependents;
    ret;
}}
"""
LAUNCH = "  - {{kernel: k, module: m, {shape}, arguments: [{{buffer: b, access: write}}]}}\n"


def chain(name, shape, target="sm_90", directives="", static=0):
    variables = f".shared .align 16 .b8 mine[{static}];" if static else ""
    body = "ld.shared.u32 %v, [mine];" if static else ""
    write(name + ".ptx", HEAD.format(target=target) + KERNEL.format(directives=directives, variables=variables, body=body))
    return write(
        name + ".yaml",
        f"name: {name}\nmodules:\n  - {{name: m, file: {name}.ptx}}\nbuffers:\n  - {{name: b, type: u32, count: 1024}}\nlaunches:\n" + 2 * LAUNCH.format(shape=shape),
    )


too_much = {
    "grid_x": ("grid: [2147483648], block: [32]", {}),
    "grid_y": ("grid: [1, 65536], block: [32]", {}),
    "grid_z": ("grid: [1, 1, 65536], block: [32]", {}),
    "block_x": ("grid: [1], block: [1025]", {}),
    "block_z": ("grid: [1], block: [1, 1, 65]", {}),
    "threads": ("grid: [1], block: [32, 32, 2]", {}),
    "threads_of_each_multiprocessor": ("grid: [multiprocessors], block: [32, 32, 2]", {}),
    "maximum_block": ("grid: [1], block: [65]", {"directives": ".maxntid 64, 1, 1"}),
    "required_block": ("grid: [1], block: [64]", {"directives": ".reqntid 32, 1, 1"}),
    "cluster": ("grid: [17], block: [32], cluster: [17]", {}),
    "cluster_of_grid": ("grid: [4], block: [32], cluster: [3]", {}),
    "cluster_rank": ("grid: [8], block: [32], cluster: [8]", {"directives": ".explicitcluster .maxclusterrank 4"}),
    "cluster_required": ("grid: [8], block: [32], cluster: [4]", {"directives": ".explicitcluster .reqnctapercluster 2, 1, 1"}),
    "grid_of_required_cluster": ("grid: [3], block: [32]", {"directives": ".explicitcluster .reqnctapercluster 2, 1, 1"}),
    "shared": ("grid: [1], block: [32], shared: 232449", {}),
    "static_and_dynamic": ("grid: [1], block: [32], shared: 200000", {"static": 40000}),
    "shared_of_one_chip": ("grid: [1], block: [32], shared: 101377", {"target": "sm_120a"}),
}
fits = {
    "grid_x_most": ("grid: [2147483647], block: [32]", {}),
    "grid_y_most": ("grid: [1, 65535, 65535], block: [32]", {}),
    "block_most": ("grid: [1], block: [1024]", {}),
    "block_z_most": ("grid: [1], block: [16, 1, 64]", {}),
    "threads_most": ("grid: [1], block: [32, 32]", {}),
    "maximum_block_most": ("grid: [1], block: [8, 8]", {"directives": ".maxntid 64, 1, 1"}),
    "required_block_met": ("grid: [1], block: [32]", {"directives": ".reqntid 32, 1, 1"}),
    "cluster_most": ("grid: [32], block: [32], cluster: [16]", {}),
    "cluster_rank_most": ("grid: [8], block: [32], cluster: [4]", {"directives": ".explicitcluster .maxclusterrank 4"}),
    "cluster_required_met": ("grid: [8], block: [32], cluster: [2]", {"directives": ".explicitcluster .reqnctapercluster 2, 1, 1"}),
    "shared_most": ("grid: [1], block: [32], shared: 232448", {}),
    "static_and_dynamic_most": ("grid: [1], block: [32], shared: 192448", {"static": 40000}),
    "shared_of_one_chip_most": ("grid: [1], block: [32], shared: 101376", {"target": "sm_120a"}),
}
for number, (name, (shape, options)) in enumerate(too_much.items()):
    path = chain(name, shape, **options)
    said = set()
    for command in part(sorted(readers), number):
        done = expect(USAGE, f"{command} of {name}", *words(command, path))
        said.add(done.stderr.strip())
    case(len(said) == 1 and f"{name}.yaml:" in said.pop(), f"{name}: one message, with its place", said)
for name, (shape, options) in fits.items():
    expect(OK, f"check of {name}", "check", chain(name, shape, **options))

# ---- tables of long chains are cut, and say so

names = ["b"] + [f"b{i}" for i in range(60)]
write(
    "long.yaml",
    "name: long\nbuffers:\n"
    + "".join(f"  - {{name: {n}, type: f32, count: 128}}\n" for n in names)
    + "launches:\n"
    + "".join(f"  - {{kernel: vector_add, grid: [1], block: [32], arguments: [{{buffer: {a}, access: read}}, {{buffer: b, access: read}}, {{buffer: {c}, access: write}}, {{u32: 128}}]}}\n" for a, c in zip(names, names[1:])),
)
cut, whole = (run("trace", "long.yaml", "--repeat", "0", "--driver", driver, *more).stdout for more in ([], ["--all"]))
case("and 20 more launches; --all shows them" in cut and "and 19 more hops" in cut and "\n40  vector_add" not in cut, "trace cuts its tables", cut)
case("--all shows them" not in whole and "\n59  vector_add" in whole and "58 to 59" in whole, "trace --all does not", whole)

# ---- names that nothing in the module defines

OPEN = {  # what is declared, what the kernel does with it, whether the module can be loaded
    "function": (".extern .func helper;", "call helper;", False),
    "variable": (".extern .global .u32 table[];", "ld.global.u32 %v, [table];", True),
    "unused": (".extern .func helper;\n.extern .global .u32 table[];", "", True),
    "system": (".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);", "{ .param .b32 r; .param .b64 f; .param .b64 a; st.param.b64 [f], %p; st.param.b64 [a], %p; @%never call (r), vprintf, (f, a); }", True),
    "shared": (".extern .shared .u32 room[];", "ld.shared.u32 %v, [room];", True),
}
for name, (declared, body, loads) in OPEN.items():
    path = chain(f"open_{name}", "grid: [1], block: [32], shared: 16")
    text = HEAD.format(target="sm_90") + declared + "\n" + KERNEL.format(directives="", variables=".reg .pred %never; setp.ne.b64 %never, 0, 0;", body=body)
    write(f"open_{name}.ptx", text)
    done = run("check", path)
    case((done.returncode == 0) == loads and ("[GD013]" in done.stdout) != loads, f"check of a module with an open {name}", done.stdout + done.stderr)
    done = run("run", path, "--repeat", "0", "--driver", driver)
    case((done.returncode == 0) == loads and ("cannot be loaded" in done.stderr) != loads, f"run of a module with an open {name}", done.stdout + done.stderr)
    case(run("check", f"open_{name}.ptx").returncode == 0, f"check of the text alone, with an open {name}")

# ---- what a module's head comment says is told with the chain too

comment = """// kernel: k
// constant: nothing
// requires: width > 0
// require: nothing more
"""
write("comment.ptx", comment + HEAD.format(target="sm_90") + KERNEL.format(directives="", variables="", body=""))
with open(os.path.join(work, "comment.ptx")) as file:
    text = file.read()
for removed, codes in (("", {"GD151", "GD152", "GD153"}), ("requires: width > 0", {"GD151", "GD153"}), ("constant: nothing", {"GD152", "GD153"})):
    chain("comment", "grid: [1], block: [32]")
    write("comment.ptx", text.replace(f"// {removed}\n", "") if removed else text)
    found = []
    for path in ("comment.ptx", "comment.yaml"):
        done = run("check", path, "--json")
        document = json.loads(done.stdout)
        found.append(sorted((f["code"], f["line"], f["column"], f["file"]) for f in document["findings"] if f["code"] in ("GD151", "GD152", "GD153")))
        case({f["code"] for f in document["findings"]} >= codes, f"check {path} tells {codes}", done.stdout[-500:] + done.stderr)
    case(len(found[0]) == len(codes) and found[0] == found[1], "the chain's findings are the text's", found)

# ---- a fault that an attack exposes

write(
    "index.ptx",
    HEAD.format(target="sm_90")
    + """.visible .entry make(.param .u64 index)
{
    .reg .b64 %p, %o;
    .reg .b32 %t;
    griddepcontrol.wait;
    ld.param.u64 %p, [index];
    cvta.to.global.u64 %p, %p;
    mov.u32 %t, %tid.x;
    mul.wide.u32 %o, %t, 4;
    add.u64 %p, %p, %o;
    st.global.u32 [%p], %t;
    griddepcontrol.launch_dependents;
    ret;
}
.visible .entry use(.param .u64 index, .param .u64 y)
{
    .reg .b64 %p, %y, %o;
    .reg .b32 %t;
    ld.param.u64 %p, [index];
    cvta.to.global.u64 %p, %p;
    ld.param.u64 %y, [y];
    cvta.to.global.u64 %y, %y;
    mov.u32 %t, %tid.x;
    mul.wide.u32 %o, %t, 4;
    add.u64 %p, %p, %o;
    ld.global.u32 %t, [%p];
    mul.wide.u32 %o, %t, 4;
    add.u64 %y, %y, %o;
    st.global.u32 [%y], 7;
    griddepcontrol.wait;
    ret;
}
""",
)
write(
    "index.yaml",
    """name: index
modules:
  - {name: m, file: index.ptx}
buffers:
  - {name: index, type: u32, count: 32}
  - {name: y, type: u32, count: 32}
launches:
  - {kernel: make, module: m, grid: [1], block: [32], arguments: [{buffer: index, access: write}]}
  - {kernel: use, module: m, grid: [1], block: [32], pdl: force, arguments: [{buffer: index, access: read}, {buffer: y, access: write}]}
""",
)
done = expect(DIFFERS, "stress of a chain in which an attack makes a kernel fault", "stress", "index.yaml", "--driver", driver)
case("fault: " in done.stdout and "made a kernel fault" in done.stdout and "no attack" not in done.stdout, "stress tells of the fault", done.stdout + done.stderr)
case(done.stdout.count("late stores") == 2 and done.stdout.count("late loads") == 2, "stress goes on after the fault", done.stdout)
done = expect(DIFFERS, "stress --json of the same", "stress", "index.yaml", "--driver", driver, "--json")
document = json.loads(done.stdout)
case(document["faults"] > 0 and len(document["attacks"]) == 4 and sum(a["fault"] is not None for a in document["attacks"]) == document["faults"], "stress --json tells of the fault", done.stdout)
expect(DIFFERS, "check of the same", "check", "index.yaml")
expect(FOUND, "sanitize of the same", "sanitize", "index.yaml", *more["sanitize"], "--driver", driver)

# ---- 'as' and 'from: reference'

write(
    "view.yaml",
    """name: view
buffers:
  - {name: a, type: f32, count: 32, constant: 2}
  - {name: bits, type: u32, count: 32, constant: 1065353216}
  - {name: sum, type: u32, count: 32}
launches:
  - kernel: vector_add
    grid: [1]
    block: [32]
    arguments: [{buffer: a, access: read}, {buffer: bits, access: read, as: f32}, {buffer: sum, access: write, as: f32}, {u32: 32}]
expect:
  - {buffer: sum, from: reference}
""",
)
expect(OK, "'as' and 'from: reference'", "run", "view.yaml", "--repeat", "0", "--driver", driver)

# ---- what is right is told without a word on stderr

good = chain("good", "grid: [1], block: [32]")
with open(os.path.join(work, good), "a") as file:
    file.write("expect:\n  - {buffer: b, from: serial}\n")
for command in sorted(readers):
    done = expect(OK, f"{command} of a chain that is right", *words(command, good), env={**environment, "GRIDDEP_LOG": "warning"})
    case(done.stderr == "", f"{command} of a chain that is right says nothing on stderr", done.stderr)

# ---- explain, its edges and run say the same of each hop in each mode, and what trace runs is the chain

def hops_of(path, modes):
    """For each mode the hops of explain and the launches of run."""
    name = os.path.basename(path)
    done = expect(OK, f"run of {name}", "run", path, "--repeat", "0", "--driver", driver, "--json")
    launches = {mode["mode"]: mode["launches"] for mode in json.loads(done.stdout)["modes"]}
    for mode in modes:
        arguments = [path, "--mode", mode, "--driver", driver, "--json"]
        hops = json.loads(expect(OK, f"explain of {name}", "explain", "--no-measure", *arguments).stdout)["hops"]
        yield mode, hops, launches[mode]


def compare(path, modes, previous):
    for mode, hops, launches in hops_of(path, modes):
        for number, (hop, launch) in enumerate(zip(hops, launches)):
            name = f"{os.path.basename(path)}, {mode}, launch {number}"
            before = previous[number]
            edges = hop["edges"]
            own = [edge for edge in edges or [] if edge["from"] == before]
            called = [one["name"] or one["kernel"] for one in launches]
            case((hop["consumer"], hop["producer"]) == (called[number], None if before is None else called[before]), f"{name}: names", (hop, called))
            case((hop["producer"] is None) == (before is None) and (edges is None or len(own) == (before is not None)), f"{name}: what comes before", (hop, edges))
            for edge in own:
                told = [(one["overlap"], one["reason"]) for one in (edge, hop)]
                case(told[0] == told[1], f"{name}: edge and hop", told)
                if launch["programmatic_edge"] is not None:
                    case(launch["programmatic_edge"] == (edge["type"] == "programmatic") == launch["pdl"], f"{name}: edge and run", (edge, launch))
            case(launch["pdl"] or launch["reason"] == hop["reason"], f"{name}: run and explain", (launch, hop["reason"], hop["text"]))
            case(not launch["pdl"] or hop["overlap"] != "none" or hop["reason"] > 8, f"{name}: run and explain of the overlap", (launch, hop["reason"]))


MODES = ["serial", "pdl", "graph", "graph-pdl"]
SMALLER = {  # more elements than a few blocks have say nothing more
    "softmax.yaml": (("2097152", "131072"), ("[512]", "[32]")),
    "vector_add.yaml": (("1048576", "65536"), ("[1024]", "[64]")),
}
for name in sorted(os.listdir(os.path.join(top, "examples"))):
    if name.endswith(".yaml"):
        # Only fork_join has lanes: 'right' follows 'scale' in one of its own.
        lanes = name == "fork_join.yaml"
        before = {0: None, 2: 0, 3: 1} if lanes else {0: None}
        with open(os.path.join(top, "examples", name)) as file:
            text = file.read()
        for old, new in SMALLER.get(name, ()):
            case(old in text, f"{name} has {old}")
            text = text.replace(old, new)
        compare(write(name, text), MODES if lanes else ["graph-pdl"], [before.get(i, i - 1) for i in range(64)])

BODIES = {  # what the kernel does of wait and trigger
    "both": "griddepcontrol.wait;\n griddepcontrol.launch_dependents;",
    "neither": "",
    "waits": "griddepcontrol.wait;",
    "triggers": "griddepcontrol.launch_dependents;",
    "sometimes": "mov.u32 %v, %tid.x;\n setp.eq.u32 %q, %v, 99;\n @%q bra out;\n griddepcontrol.wait;\nout:",
}
write(
    "bodies.ptx",
    HEAD.format(target="sm_90")
    + "".join(
        f".visible .entry {name}(.param .u64 p)\n{{\n .reg .b64 %p;\n .reg .b32 %v;\n .reg .pred %q;\n {body}\n ld.param.u64 %p, [p];\n"
        " cvta.to.global.u64 %p, %p;\n st.global.u32 [%p], 7;\n ret;\n}\n"
        for name, body in BODIES.items()
    ),
)
drawn = random.Random(1)
for number in part(range(24), 0):
    count, last, previous, lines = drawn.randint(2, 5), {}, [], []
    for i in range(count):
        lane = drawn.choice(["a", "b"]) if i else "a"
        others = [k for k in range(i) if f"lane: {lane}," not in lines[k] and drawn.random() < 0.5]
        previous.append(last[lane] if lane in last else max(others, default=None))
        last[lane] = i
        fields = {"pdl": drawn.choice(["", "auto", "off", "force", "force"]), "after": f"[{', '.join(f'l{k}' for k in others)}]" if others else ""}
        told = "".join(f"{key}: {value}, " for key, value in fields.items() if value)
        lines.append(f"  - {{name: l{i}, lane: {lane}, kernel: {drawn.choice(list(BODIES))}, module: m, grid: [1], block: [32], {told}arguments: [{{buffer: b{i}, access: write}}]}}\n")
    buffers = "".join(f"  - {{name: b{i}, type: u32, count: 32}}\n" for i in range(count))
    path = write(f"lanes{number}.yaml", f"name: lanes\nmodules:\n  - {{name: m, file: bodies.ptx}}\nbuffers:\n{buffers}launches:\n{''.join(lines)}")
    compare(path, MODES, previous)
write(
    "forced.yaml",
    """name: forced
modules:
  - {name: m, file: bodies.ptx}
buffers:
  - {name: a, type: u32, count: 32}
  - {name: b, type: u32, count: 32}
launches:
  - {name: first, kernel: both, module: m, grid: [1], block: [32], arguments: [{buffer: a, access: write}]}
  - {name: second, lane: b, after: [first], pdl: force, kernel: both, module: m, grid: [1], block: [32], arguments: [{buffer: b, access: write}]}
""",
)
found = json.loads(expect(OK, "check of a forced launch of another lane", "check", "forced.yaml", "--json").stdout)["findings"]
case([f["code"] for f in found] == ["GD204"] and "after launches of other lanes" in found[0]["text"], "what the check says of forcing behind another lane", found)
for command in ("explain", "trace", "run"):
    shown = expect(OK, f"{command} with settings of the emulated driver", command, "forced.yaml", *more.get(command, []), "--json", "--emulate", "--multiprocessors", "7", "--model", "observed", "--schedule", "lazy").stdout
    case(json.loads(shown)["device"]["multiprocessors"] == 7, f"{command}: the settings hold", shown)
clusters = os.path.join(top, "examples", "next_token.yaml")
measured = json.loads(expect(OK, "explain of clusters, measured", "explain", clusters, "--driver", driver, "--json").stdout)
case(all(hop["measured"] for hop in measured["hops"][1:]), "each hop is measured", measured)
expect(OK, "trace of clusters", "trace", clusters, "--driver", driver, "--repeat", "0")

# ---- one exit code for one failure

os.mkdir(os.path.join(work, "folder"))
os.mkdir(os.path.join(work, "folder.yaml"))
os.mkdir(os.path.join(work, "folder.ptx"))
for name in ("broken_off.yaml", "broken_off.ptx"):
    # This opens, and its first byte cannot be read.
    os.symlink("/proc/self/mem", os.path.join(work, name))
write("nonsense.yaml", "name: [\n")
write("unknown.yaml", "name: x\nnothing: 1\n")
with open(os.path.join(work, good)) as file:
    text = file.read()
write("no_module.yaml", text.replace("good.ptx", "nowhere.ptx"))
write("folder_module.yaml", text.replace("good.ptx", "folder.ptx"))
write("broken_off_module.yaml", text.replace("good.ptx", "broken_off.ptx"))
write("broken_off_data.yaml", text.replace("count: 1024}", "count: 1024, file: broken_off.ptx}"))
write("empty_module.yaml", text.replace("good.ptx", "empty"))
write("data_missing.yaml", text.replace("count: 1024}", "count: 1024, file: nowhere.bin}"))
write("empty", "")
write("nonsense.ptx", "this is no PTX")
failures = {
    "a missing input": ["nowhere.yaml", "nowhere.ptx"],
    "a folder as input": ["folder.yaml", "folder.ptx"],
    "an input that fails while it is read": ["broken_off.yaml", "broken_off.ptx"],
    "a chain file with a module that fails while it is read": ["broken_off_module.yaml", None],
    "a chain file with data that fail while they are read": ["broken_off_data.yaml", None],
    "a file below a file": ["empty/x.yaml", "empty/x.ptx"],
    "a chain file that is no YAML": ["nonsense.yaml", None],
    "a chain file with an unknown field": ["unknown.yaml", None],
    "a chain file with a missing module": ["no_module.yaml", None],
    "a chain file with a folder as module": ["folder_module.yaml", None],
    "a chain file with missing data": ["data_missing.yaml", None],
}
for number, (failure, (chain_file, text_file)) in enumerate(failures.items()):
    for command in part(sorted(inputs), number):
        path = chain_file if command in readers else text_file
        if path is not None:
            done = expect(USAGE, f"{command} of {failure}", *words(command, path))
            case(done.stderr.startswith("griddep: "), f"{command} of {failure}: a message", done.stderr)
expect(USAGE, "rewrite of what is no PTX", "rewrite", "nonsense.ptx")
expect(DIFFERS, "check of what is no PTX is a finding", "check", "nonsense.ptx")
for command in commands:
    expect(USAGE, f"{command} with an option that it lacks", command, "--no-such-option")
    if command not in ("check", "explain"):
        expect(USAGE, f"{command} with too many words", command, "a", "b", "c", "d")
    if command in drivers:
        path = [good, good] if command == "compare" else [good] if command in inputs else []
        for named in ("/nowhere/libcuda.so", "/dev/null", "./folder"):
            arguments = [command, *path, *more.get(command, []), "--driver", named, *["--", "true"] * (command in programs)]
            expect(NO_DRIVER, f"{command} --driver {named}", *arguments)
for command in sorted(drivers - own):
    path = [] if command not in inputs else [good]
    codes = {number: run(command, *path, *more.get(command, []), "--driver", driver, "--device", number) for number in ("5", "x", "-1")}
    case(codes["5"].returncode == USAGE, f"{command} --device 5: exit code {codes['5'].returncode}", codes["5"].stderr)
    case(codes["x"].returncode == USAGE and codes["-1"].returncode == USAGE, f"{command} --device x and -1", codes["x"].stderr + codes["-1"].stderr)
kept = write("kept", "an earlier report")
lacking = {**environment, "TMPDIR": "/nowhere"}
report = [*words("sanitize", good), "--report", kept]
expect(REFUSED, "sanitize without a folder for temporary files", *report, env=lacking)
with open(os.path.join(work, kept)) as file:
    case(file.read() == "an earlier report", "a run that came to no verdict leaves its report alone")

# ---- with --json an error is a document, the command line's own included


def expect_document(name, *arguments):
    done = expect(USAGE, name, *arguments)
    try:
        error = json.loads(done.stdout)["error"]
    except (ValueError, KeyError) as problem:
        error = {"text": "?", "exit_code": None}
        case(False, f"{name}: a document", (problem, done.stdout))
    case(error["exit_code"] == USAGE and error["text"] and error["text"].split()[0] in done.stderr, f"{name}: what it says", done.stdout + done.stderr)


case(set(taken) == set(commands) and all("json" in taken[command] for command in commands if command != "spawn"), "the table tells that each has --json", taken)
for number, command in enumerate(commands):
    for where in part((["--json", "--no-such-option"], ["--no-such-option", "--json"], ["--json=yes"], ["-x", "--json"]), number):
        expect_document(f"{command} {' '.join(where)}", command, *where)
    if command not in ("check", "explain"):
        expect_document(f"{command} --json and too many words", command, "--json", "a", "b", "c", "d")
    for option, value in part(list(taken[command].items()), number):
        if value == "N":
            expect_document(f"{command} --json --{option} x", command, *([good] if command in inputs else []), f"--{option}", "x", "--json")
        if value:
            expect_document(f"{command} --json --{option}", command, "--json", f"--{option}")
expect_document("no such command, --json", "nothing", "--json")
expect_document("help of no such command, --json", "help", "nothing", "--json")
case("there is no command 'nothing'" in run("help", "nothing", "--json").stderr, "help of no such command names it")
case(run("help", "--json").stdout == run("help").stdout, "help takes --json, which is for errors")
expect_document("no such option, --json", "--nothing", "--json")

# A file that one may not read: root may read all, so somebody else asks.
nobody = 65534
os.chmod(work, 0o755)
for name in ("good.yaml", "good.ptx"):
    shutil.copy(os.path.join(work, name), os.path.join(work, "closed_" + name))
    os.chmod(os.path.join(work, "closed_" + name), 0)
write("closed_module.yaml", text.replace("good.ptx", "closed_good.ptx"))


def be_nobody():
    if os.geteuid() == 0:
        os.setgid(nobody)
        os.setuid(nobody)


try:
    able = run("check", good, preexec_fn=be_nobody).returncode == OK
except (OSError, subprocess.SubprocessError):
    able = False
if not able:
    skip("inputs that cannot be read: another user cannot run the command of this build")
else:
    for command in sorted(inputs):
        path = "closed_good.yaml" if command in readers else "closed_good.ptx"
        expect(USAGE, f"{command} of an input that cannot be read", *words(command, path), preexec_fn=be_nobody)
        if command in readers:
            expect(USAGE, f"{command} of a module that cannot be read", *words(command, "closed_module.yaml"), preexec_fn=be_nobody)
    expect(REFUSED, "rewrite into a folder that one may not write", "rewrite", "good.ptx", "-o", "made.ptx", preexec_fn=be_nobody)
    os.chmod(os.path.join(work, "good.ptx"), 0o444)
    done = expect(REFUSED, "rewrite over a file that one may not write", "rewrite", "comment.ptx", "-o", "good.ptx", preexec_fn=be_nobody)
    case("Permission denied" in done.stderr, "the message says why", done.stderr)
    expect(REFUSED, "tune into a folder that one may not make", "tune", good, "--driver", driver, "-o", "tuned", preexec_fn=be_nobody)
    expect(REFUSED, "sanitize --report into a folder that one may not write", *words("sanitize", good), "--report", "made", preexec_fn=be_nobody)

shutil.rmtree(work, ignore_errors=True)
print(f"{passed} passed, {failed} failed, {skipped} skipped")
sys.exit(failed > 0)
