#!/bin/sh
# The command at a terminal: when it uses colour, that its progress line goes away, and that Ctrl-C ends it and what it has started, with cache and files whole. PYTHON3 makes the terminal.
#
# GRIDDEP: the command; srcdir: the top of the source tree.
set -u

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "${srcdir:-$here/../..}" && pwd)
griddep=${GRIDDEP:-./griddep}
python=${PYTHON3:-python3}
if ! command -v "$python" >/dev/null 2>&1; then
    echo "skipped: no Python to make a terminal"
    exit 77
fi
unset NO_COLOR GRIDDEP_DRIVER
exec "$python" - "$griddep" "$top" <<'TEXT'
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

griddep, top = sys.argv[1:]
passed = failed = 0
PATIENCE = 1800  # seconds, after which something hangs on any machine
modes = []  # of the terminals, as the commands left them


def case(good, name, said=b""):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print(f"failed: {name}: {said[-300:]!r}")


def at_terminal(arguments, environment, until=None, columns=0):
    """What the command writes to a terminal, of so many columns, and its wait status. Once it has written `until`, Ctrl-C is typed."""
    child, terminal = pty.fork()
    if child == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        # Shells have what runs in their background ignore Ctrl-C, and so does what that starts.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.environ.update({"TERM": "xterm", "GRIDDEP_STORE": "off", **environment})
        os.execv(griddep, [griddep, *arguments])
    said, end = b"", time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if not select.select([terminal], [], [], 1)[0]:
            continue
        try:
            piece = os.read(terminal, 4096)
        except OSError:
            break
        if not piece:
            break
        said += piece
        if until is not None and until in said:
            os.write(terminal, b"\x03")
            until = None
    else:
        os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    modes.append(termios.tcgetattr(terminal))
    os.close(terminal)
    return said, status, child


def interrupted(command, environment, mark, before=dict):
    """As at_terminal, with more and more work (`command` makes arguments of a factor) until Ctrl-C comes in time: the command neither ends by itself nor
    is already at what it writes behind the mark; and what `before` said before the last try."""
    for factor in (1, 4, 16, 64, 256):
        was = before()
        said, status, child = at_terminal(command(factor), environment, mark)
        now = before()
        late = os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0 or not said.replace(b"^C", b"").endswith(b"\r\x1b[K")
        if mark not in said or not late and {path: now.get(path) for path in was} == was:
            break
    return said, status, child, was


def lengthen(folder, factor):
    """The path of a chain that does what examples/residual_stream.yaml does, so many times."""
    head, launches, rest = re.fullmatch("(.*\nlaunches:\n)(.*)(\nexpect:.*)", open(f"{top}/examples/residual_stream.yaml").read(), re.S).groups()
    with open(f"{folder}/{factor}.yaml", "w") as file:
        file.write(head + (launches + "\n") * factor + rest)
    return file.name


def alive_in(session):
    found = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = open(f"/proc/{process}/stat").read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(process)
    return found


wrong = ["run", "missing.yaml"]
longer = f"{top}/examples/residual_stream.yaml"
for environment, wanted in (({}, True), ({"NO_COLOR": ""}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)):
    said, status, _ = at_terminal(wrong, environment)
    case((b"\x1b[" in said) == wanted, f"colour at a terminal with {environment}", said)
    case(os.WIFEXITED(status) and os.WEXITSTATUS(status) == 2, f"exit code with {environment}", said)
piped = subprocess.run([griddep, *wrong], capture_output=True)
case(b"\x1b" not in piped.stderr and piped.stderr, "no colour in a pipe", piped.stderr)

said, status, _ = at_terminal(["run", longer, "--emulate"], {})
shown, rest = said.rsplit(b"\x1b[K", 1) if b"\x1b[K" in said else (b"", said)
case(b"running" in shown, "a progress line is shown", said)
case(b"running" not in rest and b"graph-pdl" in rest, "and is gone in the end", rest)
said, status, _ = at_terminal(["run", longer, "--emulate"], {"TERM": "dumb"})
case(b"\x1b" not in said, "no progress line at a dumb terminal", said)

# Nothing is wider than the terminal, but for messages, which are one line each as a compiler's.
chain = f"{top}/tests/cli/preamble.yaml"
for command in (["kernels", "list"], ["kernels", "show", "matvec_bf16"], ["explain"], ["explain", "GD110"], ["help"], ["check", "--help"],
                ["info", "--driver", "emulated"], ["run", chain, "--emulate"], ["trace", chain, "--emulate"], ["explain", chain, "--driver", "emulated", "--no-measure"],
                ["explain", chain, "--emulate"], ["tune", chain, "--emulate", "--forget"]):
    for columns in (60,) if chain in command else (60, 80):
        said, status, _ = at_terminal(command, {"TERM": "dumb", "LC_ALL": "C.UTF-8"}, columns=columns)
        lines = said.decode("utf-8", "replace").replace("\r", "").split("\n")
        wide = [line for line in lines if len(line) > columns and " " in line.strip() and not line.startswith("griddep: ")]
        case(len(lines) > 5 and not wide, f"griddep {' '.join(command)} in {columns} columns", "\n".join(wide).encode())

chains = tempfile.TemporaryDirectory()
for command, mark in ((lambda factor: ["demo", "--emulate", "--layers", str(40 * factor)], b"running"),
                      (lambda factor: ["sanitize", lengthen(chains.name, factor)], b"schedule")):
    said, status, child, _ = interrupted(command, {}, mark)
    arguments = command(1)
    case(os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGINT or os.WIFEXITED(status) and os.WEXITSTATUS(status) == 130,
         f"Ctrl-C ends {arguments[0]} (status {status})", said)
    case(said.replace(b"^C", b"").endswith(b"\r\x1b[K"), f"{arguments[0]} wipes its progress line", said)
    end = time.monotonic() + PATIENCE
    while alive_in(child) and time.monotonic() < end:
        time.sleep(0.05)
    case(not alive_in(child), f"nothing is left of {arguments[0]}")

# What was there before Ctrl-C is there whole, or as it was: results in the cache, files that are being replaced. What is new is whole or not there.
def everything(folder):
    return {os.path.join(at, name): open(os.path.join(at, name), "rb").read() for at, _, names in os.walk(folder) for name in names}


chain = f"{top}/tests/cli/preamble.yaml"
with tempfile.TemporaryDirectory() as work:
    cache = {"GRIDDEP_STORE": f"{work}/cache"}
    tune = ["tune", longer, "--emulate", "-o", f"{work}/tuned"]
    trace = ["trace", longer, "--emulate", "--perfetto", f"{work}/trace.json", "--svg", f"{work}/trace.svg"]
    stress = ["stress", longer, "--emulate"]
    for arguments in ([word.replace(longer, chain) for word in command] for command in (tune, trace)):
        said, status, _ = at_terminal(arguments, cache)
        case(os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0, f"{arguments[0]} ends by itself", said)
    before = everything(work)
    case(any("/cache/" in path for path in before) and f"{work}/tuned/chain.yaml" in before and f"{work}/trace.svg" in before,
         "tune and trace write", repr(sorted(before)).encode())
    for arguments, mark in ((tune, b"tuning"), (tune, b"trigger start"), (trace, b"instrumenting"), (trace, b"tracing graph-pdl"),
                            (stress, b"attacking")):
        said, status, child, before = interrupted(lambda factor: [word.replace(longer, lengthen(chains.name, factor)) for word in arguments], cache, mark,
                                                  lambda: everything(work))
        name = f"{arguments[0]} at {mark.decode()!r}"
        case(mark in said, f"{name} is shown", said)
        case(os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGINT, f"Ctrl-C ends {name} (status {status})", said)
        case(said.replace(b"^C", b"").endswith(b"\r\x1b[K"), f"{name} wipes its progress line", said)
        case(modes[-1] == modes[0], f"{name} leaves the terminal as it was", repr(modes[-1]).encode())
        after = everything(work)
        case({path: after.get(path) for path in before} == before, f"{name} leaves what was there", said)
        case(not [path for path in after if path not in before and "/cache/" not in path], f"{name} leaves nothing beside it",
             repr(sorted(set(after) - set(before))).encode())
    found = subprocess.run([griddep, "tune", chain, "--emulate", "--json"], env={**os.environ, **cache}, capture_output=True)
    case(found.returncode == 0 and b'"remembered": true' in found.stdout, "the cache serves on", found.stdout + found.stderr)

# ---- narrow terminals: lines end between words, but quoted ones of a text

forced = os.path.join(top, "tests", "cli", "forced.yaml")
late = os.path.join(top, "tests", "cli", "late.ptx")
broken = os.path.join(top, "tests", "cli", "broken.ptx")
for columns in (60, 80):
    for arguments in (["check", forced], ["check", late], ["check", broken], ["sanitize", forced, "--schedule", "eager", "--modes", "pdl"], ["compare", "x.yaml"], ["explain", forced, "--no-measure", "--emulate"]):
        said = at_terminal(arguments, {"NO_COLOR": "1"}, columns=columns)[0]
        lines = [line for part in said.decode().replace("\r\n", "\n").split("\n") for line in [part.split("\r")[-1].replace("\x1b[K", "")]]
        wide = [line for line in lines if len(line) > columns and not re.match(r"[ 0-9]*\|", line) and len(line.split()) > 1]
        case(len(lines) > 2 and not wide, f"{arguments[0]} at {columns} columns breaks lines between words", "\n".join(wide).encode())
    said = at_terminal(["check", forced], {"TERM": "xterm"}, columns=columns)[0]
    plain = re.sub(rb"\x1b\[[0-9;]*m", b"", said).replace(b"\r\n", b"\n")
    case(plain == at_terminal(["check", forced], {"NO_COLOR": "1"}, columns=columns)[0].replace(b"\r\n", b"\n"), f"colours change no line at {columns} columns", plain)
piped = subprocess.run([griddep, "check", forced], stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout.decode()
case("late reads x before its wait, and nothing orders it after launch 0 (vector_add), which writes it [GD206]" in piped, "what goes to a pipe keeps its lines", piped.encode())

# ---- long chains: tables end, and say so

with tempfile.TemporaryDirectory() as work:
    with open(f"{work}/long.yaml", "w") as file:
        file.write("name: long\nbuffers: [{name: a, type: f32, count: 32}, {name: b, type: f32, count: 32}]\nlaunches:\n" +
                   "  - {kernel: vector_add, grid: [1], block: [32], arguments: [{buffer: a}, {buffer: b}, {buffer: b}, {u32: 32}]}\n" * 70)
    for arguments, words in ((["explain", "--no-measure"], ["and 30 more; --all shows them"]),
                             (["trace", "--repeat", "0"], ["and 30 more launches; --all shows them", "and 29 more hops; --all", "6 more launches; --svg",
                                                           "wait min", "wait mid", "wait max", "idle share", "hand-off: "])):
        said = at_terminal([*arguments, file.name, "--emulate"], {"TERM": "dumb"}, columns=60)[0].decode().replace("\r", "")
        # A word that is wider than the terminal (the path of the emulated driver) stands alone.
        faults = [word for word in words if word not in said] + [line for line in said.split("\n") if len(line) > 60 and len(line.split()) > 1]
        case(not faults, f"{arguments[0]} of 70 launches", repr(faults).encode())

print(f"{passed} passed, {failed} failed, 0 skipped")
sys.exit(failed > 0)
TEXT
