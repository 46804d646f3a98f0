"""The cases of outputs.sh."""
import os
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

griddep, top, driver = sys.argv[1:]
passed = failed = skipped = 0
OK, DIFFERS, USAGE, NO_DRIVER, REFUSED, UNCHECKED, FOUND = 0, 1, 2, 3, 4, 65, 66
ENDED_WELL = (OK, DIFFERS, FOUND)

work = tempfile.mkdtemp()
scratch = os.path.join(work, "tmp")
os.mkdir(scratch)
environment = {k: v for k, v in os.environ.items() if not k.startswith("GRIDDEP")}
environment.update(GRIDDEP_STORE="off", TMPDIR=scratch, ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":allocator_may_return_null=1")


def case(good, name, said=""):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print(f"failed: {name}: {said!s:.600}", flush=True)


def skip(what):
    global skipped
    skipped += 1
    print(f"skipped: {what}")


# What stands behind the options of subcommands that run a program; its driver is the attached one.
tails = {name: ["--", griddep, "run", "chain.yaml", "--repeat", "0", "--driver", "nvidia"] for name in ("audit", "off", "on")}
tails["spawn"] = ["--", griddep, "kernels"]


def run(*arguments, limit=1800, **options):
    arguments = (*arguments, *tails.get(arguments[0], ()))
    options.setdefault("env", environment)
    options.setdefault("stdin", subprocess.DEVNULL)
    if "stdout" not in options:
        options["stdout"] = subprocess.PIPE
    options.setdefault("stderr", subprocess.PIPE)
    return subprocess.run([griddep, *arguments], cwd=options.pop("cwd", inputs), timeout=limit, **options)


def expect(code, name, *arguments, **options):
    done = run(*arguments, **options)
    codes = code if isinstance(code, tuple) else (code,)
    case(done.returncode in codes, f"{name}: exit code {done.returncode}, not {code}", (done.stderr or b"").decode(errors="replace"))
    return done


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


# ---- the subcommands, from their own table

table = [line.split("\t") for line in subprocess.run([griddep, "help", "--table"], capture_output=True, text=True, env=environment).stdout.splitlines()]
commands, outputs = [], []  # names; (command, option, value's name)
for fields in table:
    if fields[0] == "command":
        commands.append(fields[1])
    if fields[0] == "option" and len(fields) > 5 and fields[5] == "output":
        outputs.append((commands[-1], fields[1], fields[2]))

# Two launches; all inputs that a chain file can name, files of data included.
inputs = os.path.join(work, "inputs")
os.mkdir(inputs)
shutil.copy(os.path.join(top, "tests/cli/copy.ptx"), inputs)
write(os.path.join(inputs, "x.bin"), bytes(range(64)))
write(os.path.join(inputs, "y.bin"), bytes(range(64)))
write(
    os.path.join(inputs, "chain.yaml"),
    b"""name: copies
modules:
  - {name: mine, file: copy.ptx}
buffers:
  - {name: x, type: u32, count: 16, file: x.bin}
  - {name: y, type: u32, count: 16}
  - {name: z, type: u32, count: 16}
launches:
  - {kernel: copy, module: mine, grid: [1], block: [32], arguments: [{buffer: x, access: read}, {buffer: y, access: write}]}
  - {kernel: copy, module: mine, grid: [1], block: [32], arguments: [{buffer: y, access: read}, {buffer: z, access: write}]}
expect:
  - {buffer: z, file: y.bin}
""",
)
chain_inputs = ["chain.yaml", "copy.ptx", "x.bin", "y.bin"]
emulate = ["--driver", driver]
sanitized = ["--schedule", "eager", "--modes", "pdl"]

# How each subcommand is run in a few milliseconds where that is possible; CHAIN is its input.
usual = {
    "demo": ["demo", "--layers", "2", "--rows", "64", "--columns", "64", "--repeat", "1", *emulate],
    "run": ["run", "chain.yaml", "--repeat", "0", *emulate],
    "check": ["check", "copy.ptx", "--fix"],
    "trace": ["trace", "chain.yaml", "--repeat", "0", *emulate],
    "sanitize": ["sanitize", "chain.yaml", *sanitized, *emulate],
    "audit": ["audit", *emulate],
    "off": ["off", *emulate],
    "on": ["on", *emulate],
    "spawn": ["spawn", "--processes", "1"],
    "explain": ["explain", "chain.yaml", "--no-measure", *emulate],
    "rewrite": ["rewrite", "copy.ptx"],
    "tune": ["tune", "chain.yaml", "--gain", "0.001", "--forget", *emulate],
    "stress": ["stress", "chain.yaml", "--mode", "pdl", *emulate],
    "compare": ["compare", "chain.yaml", "chain.yaml", *emulate],
    "kernels": ["kernels"],
    "info": ["info", *emulate],
}
case(sorted(usual) == sorted(commands), "each subcommand has a line in this test", set(usual) ^ set(commands))

known = {("run", "dump"), ("trace", "perfetto"), ("trace", "svg"), ("sanitize", "report"), ("rewrite", "output"), ("tune", "output")}
case(known <= set((c, o) for c, o, _ in outputs), "the table tells which options are outputs", outputs)


def inputs_of(command):
    if command in tails:
        return []
    return ["copy.ptx"] if usual[command][1:2] == ["copy.ptx"] else chain_inputs


def output(option, value, path):
    """The words of an output option; a value that is NAME=FILE gets a buffer's name."""
    return [f"--{option}", f"{'z=' if '=' in value else ''}{path}"]


def leftovers():
    found = [os.path.join(folder, name) for folder, _, names in os.walk(work) for name in names if ".griddep" in name or "griddep-" in name]
    return found


def snapshot():
    return {name: (read(os.path.join(inputs, name)), os.stat(os.path.join(inputs, name)).st_ino) for name in chain_inputs}


# ---- each output option, against inputs, other outputs and what cannot be written

before = snapshot()
for command, option, value in outputs:
    words, is_folder = usual[command], value == "FOLDER"
    name = f"{command} --{option}"
    for target in inputs_of(command):
        if is_folder:
            continue
        whole = os.path.join(inputs, target)
        link, hard = os.path.join(work, "link"), os.path.join(work, "hard")
        os.symlink(whole, link)
        os.link(whole, hard)
        paths = (target, "./" + target, "../inputs/" + target, whole, link, hard)
        for path in paths if target == inputs_of(command)[0] else (hard,):
            done = expect(USAGE, f"{name} over the input {path}", *words, *output(option, value, path))
            case(b"input" in done.stderr, f"{name} over the input {path}: the message", done.stderr)
        os.unlink(link)
        os.unlink(hard)
    if is_folder:
        done = expect(USAGE, f"{name} over the inputs of a folder", *words, f"--{option}", ".")
        # what the program of an audit reads nobody knows; a chain that is there stays
        case(b"input" in done.stderr or command in tails and b"has a chain.yaml already" in done.stderr, f"{name} over the inputs of a folder: the message", done.stderr)
        plain = os.path.join(work, "plain")
        write(plain, b"kept")
        expect(REFUSED, f"{name} to a file", *words, f"--{option}", plain)
        case(read(plain) == b"kept", f"{name} leaves the file alone")
        os.unlink(plain)
    else:
        expect(REFUSED, f"{name} to a folder", *words, *output(option, value, work))
        if os.path.exists("/dev/full"):
            expect(REFUSED, f"{name} to a full device", *words, *output(option, value, "/dev/full"))
    nowhere = output(option, value, os.path.join(work, "none", "x"))
    done = expect(REFUSED, f"{name} into no folder", *words, *nowhere)
    case(done.stdout == b"", f"{name} into no folder is refused before anything runs", done.stdout)
    if "=" not in value:
        expect(USAGE, f"{name} with an empty name", *words, f"--{option}", "")
    case(snapshot() == before, f"{name} leaves the inputs alone")
    case(not leftovers(), f"{name} leaves no temporary file", leftovers())

    # What works: a new file, one whose mode stays, a link whose target is written, a pipe, and stdout.
    folder = os.path.join(work, "made")
    os.mkdir(folder)
    if is_folder:
        expect(ENDED_WELL, f"{name} to a new folder", *words, f"--{option}", os.path.join(folder, "new"))
        case(os.path.exists(os.path.join(folder, "new", "chain.yaml")), f"{name} writes")
        shutil.rmtree(folder)
        continue
    new, old, link = (os.path.join(folder, n) for n in ("new", "old", "link"))
    expect(ENDED_WELL, f"{name} to a new file", *words, *output(option, value, new))
    wanted = read(new) if os.path.exists(new) else b""
    case(len(wanted) > 0, f"{name} writes")
    mask = os.umask(0)
    os.umask(mask)
    case(os.path.exists(new) and stat.S_IMODE(os.stat(new).st_mode) == 0o666 & ~mask, f"{name}: the mode of a new file")
    write(old, b"x" * 100000)
    os.chmod(old, 0o640)
    os.symlink("old", link)
    expect(ENDED_WELL, f"{name} through a link", *words, *output(option, value, link))
    case(os.path.islink(link) and len(read(old)) == len(wanted), f"{name} writes the link's target")
    case(stat.S_IMODE(os.stat(old).st_mode) == 0o640, f"{name} keeps the mode")
    os.unlink(link)
    os.symlink("nothing", link)
    expect(ENDED_WELL, f"{name} through a link to nothing", *words, *output(option, value, link))
    case(os.path.islink(link) and os.path.exists(os.path.join(folder, "nothing")), f"{name} makes the link's target")
    pipe = os.path.join(folder, "pipe")
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE)
    expect(ENDED_WELL, f"{name} to a pipe", *words, *output(option, value, pipe))
    os.close(os.open(pipe, os.O_RDWR | os.O_NONBLOCK))  # ends a reader to whom nobody wrote
    case(len(reader.communicate(timeout=1800)[0]) == len(wanted), f"{name} writes into the pipe")
    both = os.path.join(folder, "both")
    with open(both, "wb") as file:
        expect(USAGE, f"{name} to the file that stdout goes to", *words, *output(option, value, both), stdout=file)
    with open(both, "wb") as file:
        done = expect(ENDED_WELL, f"{name} to /dev/stdout", *words, *output(option, value, "/dev/stdout"), stdout=file)
    alone = run(*words, *output(option, value, new)).stdout
    case(len(read(both)) == len(alone) + len(wanted), f"{name}: nothing that goes to stdout is lost", (len(read(both)), len(alone), len(wanted)))

    # A file that cannot grow is as a full disk: what stood there before stays.
    if command != "sanitize":
        write(old, b"as before")

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16))

        done = expect(REFUSED, f"{name} to a full disk", *words, *output(option, value, old), preexec_fn=limit)
        case(read(old) == b"as before", f"{name} to a full disk leaves the file as it was")
    case(not leftovers(), f"{name} leaves no temporary file", leftovers())
    shutil.rmtree(folder)

# Two outputs of one command to one file.
for command in commands:
    mine = [(option, value) for c, option, value in outputs if c == command and value != "FOLDER"]
    pairs = [(a, b) for i, a in enumerate(mine) for b in mine[i:] if a != b or "=" in a[1]]
    for a, b in pairs:
        for first, second in (("same", "./same"), ("/dev/stdout", "/dev/stdout"), ("/dev/stdout", "-")):
            done = expect(USAGE, f"{command} --{a[0]} {first} --{b[0]} {second}", *usual[command], *output(*a, first), *output(*b, second), cwd=inputs)
        case(not os.path.exists(os.path.join(inputs, "same")), f"{command} writes nothing where two outputs are one")
        expect(ENDED_WELL, f"{command} --{a[0]} /dev/null --{b[0]} /dev/null", *usual[command], *output(*a, "/dev/null"), *output(*b, "/dev/null"))

# A disk that is full in earnest.
disk = os.path.join(work, "disk")
os.mkdir(disk)
if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", disk], capture_output=True).returncode != 0:
    skip("outputs on a full disk: no file system can be mounted here")
else:
    try:
        write(os.path.join(disk, "old"), b"as before")
        try:
            write(os.path.join(disk, "filler"), b"x" * (1 << 20))
        except OSError:
            pass
        for command, option, value in outputs:
            path = os.path.join(disk, "new" if value == "FOLDER" else "old")
            expect(REFUSED, f"{command} --{option} on a full disk", *usual[command], *output(option, value, path))
            case(sorted(os.listdir(disk)) == ["filler", "old"] and read(os.path.join(disk, "old")) == b"as before", f"{command} --{option} leaves a full disk as it was", os.listdir(disk))
    finally:
        subprocess.run(["umount", disk])

# A file is rewritten in place, by a link too; and stays where that fails.
mine = os.path.join(work, "mine.ptx")
shutil.copy(os.path.join(inputs, "copy.ptx"), mine)
expect(REFUSED, "rewrite --in-place on a full disk", "rewrite", mine, "--in-place", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16)))
case(read(mine) == read(os.path.join(inputs, "copy.ptx")), "rewrite --in-place on a full disk leaves the file as it was")
expect(OK, "rewrite --in-place", "rewrite", mine, "--in-place")
with open(mine, "rb") as file:
    expect(USAGE, "rewrite - over what stdin comes from", "rewrite", "-", "-o", mine, stdin=file)

# ---- stdout

for command in commands:
    if os.path.exists("/dev/full"):
        with open("/dev/full", "wb") as full:
            expect(REFUSED, f"{command} >/dev/full", *usual[command], stdout=full)
            expect(REFUSED, f"{command} --help >/dev/full", command, "--help", stdout=full)
    done = subprocess.run(["sh", "-c", '"$@" >&-', "sh", griddep, *usual[command], *tails.get(command, ())], cwd=inputs, env=environment, stderr=subprocess.PIPE, timeout=1800)
    case(done.returncode == REFUSED, f"{command} >&-: exit code {done.returncode}", done.stderr)
    reading, writing = os.pipe()
    os.close(reading)
    done = run(*usual[command], stdout=writing)
    os.close(writing)
    case(done.returncode in (-signal.SIGPIPE, 128 + signal.SIGPIPE, REFUSED, *ENDED_WELL), f"{command} into a pipe that nobody reads: exit code {done.returncode}", done.stderr)
    case(not leftovers() and not os.listdir(scratch), f"{command} into a pipe that nobody reads leaves no temporary file", os.listdir(scratch))
made = os.path.join(work, "made.ptx")
subprocess.run(["sh", "-c", '"$@" >&- 2>&-', "sh", griddep, "rewrite", "copy.ptx", "-o", made], cwd=inputs, env=environment)
case(read(made) == run("rewrite", "copy.ptx").stdout, "a closed stderr's notes do not get into an output")

# ---- signals

slow = os.path.join(work, "slow.sh")
write(slow, b"#!/bin/sh\necho begun\nexec sleep 60\n")
os.chmod(slow, 0o755)


def processes_with(text):
    found = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/environ", "rb") as file:
                if text in file.read() and int(process) != os.getpid():
                    with open(f"/proc/{process}/stat") as status:
                        if status.read().rsplit(")", 1)[1].split()[0] != "Z":
                            found.append(process)
        except OSError:
            continue
    return found


if os.path.isdir("/proc/self"):
    long_runs = {
        "sanitize": ["sanitize", "chain.yaml", *(word for seed in range(1000) for word in ("--schedule", f"random:{seed}")), "--driver", driver],
        "sanitize a program": ["sanitize", "--", slow],
        "tune": ["tune", "--demo", "--forget", *emulate],
    }
    for number, (name, words) in enumerate(long_runs.items()):
        for ending in (signal.SIGTERM, signal.SIGINT) if name.startswith("sanitize") else (signal.SIGHUP,):
            mark = f"mark-{os.getpid()}-{number}-{ending}"
            process = subprocess.Popen([griddep, *words], cwd=inputs, env={**environment, "GRIDDEP_TEST_MARK": mark}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, preexec_fn=lambda: [signal.signal(one, signal.SIG_DFL) for one in (signal.SIGINT, signal.SIGHUP)])  # nohup and "&" ignore them
            if name.startswith("sanitize"):
                for _ in range(180000):
                    if any(".griddep" in f for f in os.listdir(scratch)) and len(processes_with(mark.encode())) > 1:
                        break
                    time.sleep(0.01)
            else:
                time.sleep(0.3)
            process.send_signal(ending)
            try:
                process.communicate(timeout=1800)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
            case(process.returncode in (-ending, 128 + ending), f"{name}, signal {ending}: exit code {process.returncode}")
            for _ in range(180000):
                if not processes_with(mark.encode()):
                    break
                time.sleep(0.01)
            case(not processes_with(mark.encode()), f"{name}, signal {ending}: no process stays")
            case(not os.listdir(scratch), f"{name}, signal {ending}: no temporary file stays", os.listdir(scratch))
else:
    skip("signals: there is no /proc to look for processes")

# ---- control characters

evil = "\x1b[31mred\x07\x9b"
odd = os.path.join(work, f"odd{evil}")
os.mkdir(odd)
text = read(os.path.join(inputs, "chain.yaml")).decode()
text = text.replace("name: copies", 'name: "cop\\e[31mies"').replace("name: mine", 'name: "mi\\e[31mne"').replace("module: mine", 'module: "mi\\e[31mne"')
text = text.replace("{kernel: copy,", '{name: "la\\e[31munch", kernel: copy,', 1).replace("name: z,", 'name: "z\\e[31m",').replace("buffer: z,", 'buffer: "z\\e[31m",')
for name in chain_inputs:
    shutil.copy(os.path.join(inputs, name), odd)
write(os.path.join(odd, "chain.yaml"), text.encode())
write(os.path.join(odd, "broken.ptx"), read(os.path.join(inputs, "copy.ptx")).replace(b"ld.global.b32", b"ld.glob\x1b[31mal.b32"))
write(os.path.join(odd, "notptx.ptx"), b"\x1b[31m not \x9b PTX")
write(os.path.join(odd, "broken.yaml"), b'name: "\\e[31m"\nmodules: "\\e[31m"\n')
write(os.path.join(odd, "broken2.yaml"), b"name: \x1b[31m\nmodules: \x9b\n")
library = sorted(set(re.findall(r"GRIDDEP_[A-Z_]+", " ".join(read(os.path.join(folder, name)).decode(errors="replace") for folder, _, names in os.walk(os.path.join(top, "src")) for name in names if name.endswith((".c", ".h"))))))
named = subprocess.run(["grep", "-rhoE", 'getenv\\("[A-Z_]+"\\)|gd_environment\\("[A-Z_]+"\\)', os.path.join(top, "src")], capture_output=True, text=True).stdout
variables = sorted({v for v in library if v.startswith(("GRIDDEP_DRIVER", "GRIDDEP_PDL", "GRIDDEP_STORE", "GRIDDEP_LOG", "GRIDDEP_NVRTC", "GRIDDEP_EMULATOR_"))} | set(re.findall(r'"([A-Z_]+)"', named)))


def is_clean(data):
    text = data.decode("utf-8", "replace")
    return not any((ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160 for c in text) and b"\x9b" not in re.sub(rb"[\xc2-\xf4][\x80-\xbf]+", b"", data)


def look(name, *arguments, **options):
    done = run(*arguments, **options)
    for stream, data in (("stdout", done.stdout), ("stderr", done.stderr)):
        case(is_clean(data), f"{name}: a control character reaches {stream}", repr([line for line in data.split(b"\n") if not is_clean(line)][:2]))


case({"GRIDDEP_PDL", "GRIDDEP_STORE", "TMPDIR", "LD_LIBRARY_PATH", "HOME"} <= set(variables), "the variables are those that the sources read", variables)
evil_bytes = evil.encode("utf-8", "surrogateescape").replace(b"\xc2\x9b", b"\x9b")
for variable in variables:
    if variable in ("TERM",):
        continue
    for command, level in (("info", "debug"), ("run", ""), ("sanitize", "warning")):
        words = [word for word in usual[command] if word not in emulate or variable != "GRIDDEP_DRIVER"]
        env = {**{k.encode(): v.encode() for k, v in environment.items()}, b"GRIDDEP_LOG": level.encode(), variable.encode(): evil_bytes}
        look(f"{command} with {variable} of control characters, GRIDDEP_LOG={level}", *words, env=env)
for command in commands:
    words = [word for word in usual[command]]
    look(f"{command} in a folder with control characters, GRIDDEP_LOG=debug", *words, cwd=odd, env={**environment, "GRIDDEP_LOG": "debug"})
    whole = [os.path.join(odd, word) if word in ("chain.yaml", "copy.ptx") else word for word in words]
    look(f"{command} of a file with control characters in its name", *whole)
    look(f"{command} --json of a file with control characters in its name", *whole, "--json")
    look(f"{command} with an option of control characters", command, f"--{evil}")
    look(f"{command} with a word of control characters", command, evil)
    for broken in ("broken.ptx", "notptx.ptx") if inputs_of(command) == ["copy.ptx"] else ("broken.yaml", "broken2.yaml"):
        look(f"{command} of {broken}", command, broken, cwd=odd)
for command, option, value in outputs:
    look(f"{command} --{option} to a name with control characters", *usual[command], *output(option, value, os.path.join(work, evil, "x")))
look("no such command", evil)

# ---- the locale

locales = os.path.join(work, "locales")
os.mkdir(locales)
made = shutil.which("localedef") and subprocess.run(["localedef", "-c", "-f", "UTF-8", "-i", "de_DE", os.path.join(locales, "de_DE.UTF-8")], capture_output=True).returncode in (0, 1)
probe = subprocess.run(["sh", "-c", "printf '%.1f' 0,5 2>/dev/null"], env={**environment, "LOCPATH": locales, "LC_ALL": "de_DE.UTF-8"}, capture_output=True, text=True).stdout
bash_probe = subprocess.run([shutil.which("bash") or "sh", "-c", "printf '%.1f' 0,5 2>/dev/null"], env={**environment, "LOCPATH": locales, "LC_ALL": "de_DE.UTF-8"}, capture_output=True, text=True).stdout
if not made or "0,5" not in (probe, bash_probe):
    skip("numbers in a locale with a comma: localedef cannot make one here")
else:
    comma = {**environment, "LOCPATH": locales, "LC_ALL": "de_DE.UTF-8"}
    point = {**environment, "LC_ALL": "C.UTF-8"}
    for command in commands:
        for more in ([], ["--json"]):
            a, b = run(*usual[command], *more, env=point), run(*usual[command], *more, env=comma)
            case((a.returncode, a.stdout, a.stderr) == (b.returncode, b.stdout, b.stderr), f"{command} {' '.join(more)} follows the locale", b.stdout[:300])
    write(os.path.join(inputs, "numbers.yaml"), read(os.path.join(inputs, "chain.yaml")).replace(b"file: y.bin}", b"from: serial, tolerance: 0.5}"))
    expect(OK, "a number of a chain file in a locale with a comma", "run", "numbers.yaml", "--repeat", "0", *emulate, env=comma)

shutil.rmtree(work, ignore_errors=True)
print(f"{passed} passed, {failed} failed, {skipped} skipped")
sys.exit(failed > 0)
