#!/usr/bin/env python3
"""Mutants: makes small mutations of the sources and asks which of them the tests notice.

    mutants.py pack BUILD PACK          collects from a build of this tree what a machine without autotools, check, libyaml and
                                        jansson needs: generated files, static libraries and headers (a few megabytes)
    mutants.py run PACK WORK [option]...
        --count N        mutants that compile and change code (30)      --seed N       which ones (1)
        --jobs N         workers, each with a build of its own          --seconds N    starts none after so long
        --only PREFIX    of sources below it, "src/run"                 --file LIST    of "file:line" ones, or a kind, one a line
        --table FILE     where the result goes (WORK/mutants.tsv); mutants that stand there are not made again
        --tests REGEX    only these tests
        --every REGEX    these run though one has failed: the table then names every test that caught a mutant, and those of
                         its functions or cases that did; the others run as long as nothing has caught it
    mutants.py alone TABLE               which test, and which function, caught mutants that no other did
    mutants.py list [--seed N] [--count N]    what would be made

Needs gcc, ar, sh and Python 3.8. A mutant is one change of one line: a condition turned round, a comparison off by one, a constant
one more or less, a call or an assignment dropped, an error returned as success, arguments swapped. Only its own source is compiled
anew and what contains it is linked anew, before each test that needs it. Tests run until one
fails: first those that took little processor time without a mutant, have caught many mutants of
the same layer so far, or are named like the source. What counts is processor time, never the
clock: a test is ended when it has used many times what it took before, or when it has used none at
all for minutes. A mutant whose object file is the same as before is no mutant.

A survivor is to be judged by hand: either nobody can notice it, or a test is missing.
"""

import argparse
import collections
import concurrent.futures
import os
import queue
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
LAYERS = ("src/base", "src/ptx", "src/cuda", "src/run", "src/measure", "src/emulator", "src/attach", "src/cli")
LIBRARIES = ("libcheck_pic.a", "libsubunit.a", "libyaml.a", "libjansson.a")
HEADERS = ("check.h", "check_stdint.h", "jansson.h", "jansson_config.h", "yaml.h")
CC = os.environ.get("MUTANTS_CC", "gcc")
COMPILE = [CC, "-std=gnu11", "-O1", "-fPIC", "-Werror=implicit-function-declaration",
           "-Werror=incompatible-pointer-types", "-Werror=int-conversion", "-DHAVE_CONFIG_H",
           "-D_GNU_SOURCE"]
# Scripts that ask about files, installing and building, not about what the code does.
NOT_RUN = re.compile(r"installed|embed|header|layering|symbols|setuid|package|bootstrap|doc/|"
                     r"bindings/(generated|node|rust|ruby|perl|cxx|typed)|terminal|assemble")
SCRIPTS = ("long_scripts", "plain_long_scripts", "script_tests", "plain_scripts")
LOOKS = 10  # seconds between two looks at what a test has used
STUCK = 120  # seconds without any processor time
LEAST, TIMES = 20, 8  # a test's processor time: seconds, and times what it took without a mutant


# ---- what the makefile says


def canonical(name):
    return re.sub(r"[^A-Za-z0-9]", "_", name)


class Makefile:
    def __init__(self, path):
        self.variables = collections.defaultdict(str)
        self.include(path)

    def include(self, path):
        folder = str(path.parent.relative_to(TOP))
        text = path.read_text().replace("%D%", folder).replace("%C%", canonical(folder))
        for line in re.sub(r"\\\n", " ", text).split("\n"):
            if line.startswith("include "):
                self.include(TOP / line.split()[1])
            match = re.match(r"([A-Za-z_0-9]+)\s*(\+?=)\s*(.*)", line)
            if match:
                name, how, value = match.groups()
                self.variables[name] = self.variables[name] + " " + value if how == "+=" else value

    def get(self, name):
        words = re.sub(r"\$\((\w+):\.ptx=\.m4\)", "", self.variables[name])
        return re.sub(r"\$\((\w+)\)", lambda m: self.get(m.group(1)) if m.group(1) in self.variables else m.group(0), words)

    def words(self, name):
        return self.get(name).split()

    def sources(self, target):
        words = self.words(canonical(target) + "_SOURCES") or [target + ".c"]
        return [word for word in words if word.endswith(".c")]


ARCHIVES = {"base": "libgriddep-base.la", "front": "libgriddep-front.la",
            "core": "libgriddep-core.la", "attach": "libgriddep-attach.la", "machine": "libgriddep-machine.la",
            "fake": "libfake-core.la",
            "nvrtc": "libfake-nvrtc.la", "nccl": "libfake-nccl.la", "alloc": "tests/unit/libfail-alloc.la",
            "command": "libgriddep-command.la", "reference": "libgriddep-reference.la",
            "experiment": "libgriddep-experiment.la", "suites": "libgriddep-suites.la"}
NEEDS = {"libgriddep-base.la": ["base"], "libgriddep-front.la": ["front", "base"],
         "libgriddep-core.la": ["core", "experiment", "front", "base"],
         "libgriddep-experiment.la": ["experiment"],
         "libgriddep-machine.la": ["machine", "front", "base"],
         "libfake-core.la": ["fake"], "tests/unit/libfail-alloc.la": ["alloc"],
         "libgriddep-command.la": ["command"], "libgriddep-reference.la": ["reference"],
         "libgriddep-suites.la": ["suites"]}
SHARED = {"libgriddep.so.0": (["core", "experiment", "front", "base"], "libgriddep.map"),
          "libgriddep-emulator.so.0": (["machine", "front", "base"], "libgriddep-emulator.map"),
          "libgriddep-attach.so": (["attach", "front", "base"], "libgriddep-attach.map"),
          "libfake-cuda.so": (["fake"], None), "libfake-nvrtc.so": (["nvrtc"], None),
          "libfake-nccl.so": (["nccl"], None)}


class Tree:
    """What there is to build, of the makefile: objects, archives, shared objects, programs."""

    def __init__(self, pack, work):
        self.pack, self.work, self.makefile = pack, work, Makefile(TOP / "Makefile.am")
        self.base = work / "base"
        self.objects = {}  # name below obj/: (source, more options)
        self.archives = {name: [self.add(source) for source in self.makefile.sources(target)] for name, target in ARCHIVES.items()}
        self.programs = {"griddep": self.describe("griddep", ["src/cli/main.c"], "griddep")}
        names = []
        for variable in ("long_programs", "plain_programs", "unit_tests"):
            names += [name for name in self.makefile.words(variable) if name != "tests/unit/abi_check"]
        self.tests = names
        for name in dict.fromkeys(names + [name for name in self.makefile.words("check_PROGRAMS") if name != "tests/unit/abi_check" and not name.startswith("examples/")]):
            self.programs[name] = self.describe(name, self.makefile.sources(name), name)

    def add(self, source, options=()):
        name = source + "".join(options) + ".o"
        self.objects[name] = (source, list(options))
        return name

    def describe(self, name, sources, target):
        target = canonical(target)
        options = [word for word in self.makefile.words(target + "_CPPFLAGS") if re.fullmatch(r"-D\w+", word)]
        libraries = self.makefile.words(target + "_LDADD") or self.makefile.words("LDADD")
        flags = [word for word in self.makefile.words(target + "_LDFLAGS") if word.startswith("-Wl,")]
        archives = [part for word in libraries for part in NEEDS.get(word, [])]
        return {"objects": [self.add(source, options) for source in sources], "archives": list(dict.fromkeys(archives)),
                "shared": "libgriddep.la" in libraries, "flags": flags}

    def options(self):
        pack = self.pack
        return ["-I" + str(path) for path in (pack, TOP, TOP / "include", TOP / "src", pack / "src", TOP / "tests", pack / "include")] + [
            '-DSOURCE_DIRECTORY="%s"' % TOP, '-DBUILD_DIRECTORY="."',
            '-DEMULATED_DRIVER="./.libs/libgriddep-emulator.so.0"', '-DFAKE_NCCL="./.libs/libfake-nccl.so"']

    def compile(self, name, output, text_of=None):
        """text_of: {path: text} of mutated sources; they are compiled in their place by a folder that is searched first."""
        source, options = self.objects[name]
        path, search = TOP / source, []
        for mutated, text in (text_of or {}).items():
            place = output.parent / "mutated" / mutated
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
            search += ["-I" + str(output.parent / "mutated" / "src")]
            if mutated == source:
                path, search = place, search + ["-iquote", str((TOP / source).parent)]
        output.parent.mkdir(parents=True, exist_ok=True)
        command = COMPILE + options + search + self.options() + ["-MMD", "-MF", str(output) + ".d", "-c", str(path), "-o", str(output)]
        return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def read(self, name):
        """What was read when the object was compiled."""
        return [os.path.normpath(word) for word in (self.base / "obj" / (name + ".d")).read_text().replace("\\\n", " ").split()[1:]]

    def dependencies(self):
        """{source or header: names of objects}"""
        found = collections.defaultdict(set)
        for name in self.objects:
            for path in self.read(name):
                if path.startswith(str(TOP) + "/"):
                    found[path[len(str(TOP)) + 1:]].add(name)
        return found


class Build:
    """One build folder: objects of the base but for those of a mutant, and what was linked of them."""

    def __init__(self, tree, folder):
        self.tree, self.folder, self.changed, self.fresh = tree, folder, {}, set()
        shutil.rmtree(folder, ignore_errors=True)
        for name in (".libs", "driver", "tmp", "a"):
            (folder / name).mkdir(parents=True)
        for name in ("ptx", "src", "config.h", "Makefile"):
            if (tree.pack / name).exists():
                (folder / name).symlink_to(tree.pack / name)
        # What the makefile makes for libgriddep-attach.so: a library that the loader finds next.
        (folder / "attach").mkdir()
        subprocess.run([CC, "-shared", "-nostdlib", "-Wl,-soname,libgriddep-next.so", "-o", folder / "attach" / "libgriddep-next.so", "-x", "c", "/dev/null"],
                       check=True)
        (folder / "driver" / "libcuda.so.1").symlink_to("../.libs/libgriddep-emulator.so.0")
        (folder / ".libs" / "libgriddep.so").symlink_to("libgriddep.so.0")
        for program in tree.programs:
            (folder / program).parent.mkdir(parents=True, exist_ok=True)

    def change(self, changed):
        """changed: {object: path}. What contains one of them is stale, and so is what contained the last ones."""
        touched = set(changed) | set(self.changed)
        self.changed = changed
        for name, members in self.tree.archives.items():
            if touched & set(members):
                self.drop("a/%s.a" % name)
        for name, (archives, _) in SHARED.items():
            if any(touched & set(self.tree.archives[archive]) for archive in archives):
                self.drop(".libs/" + name)
        for name, program in self.tree.programs.items():
            members = set(program["objects"]).union(*[self.tree.archives[archive] for archive in program["archives"]])
            if touched & members:
                self.drop(name)

    def drop(self, name):
        self.fresh.discard(name)
        (self.folder / name).unlink(missing_ok=True)

    def path(self, name):
        return str(self.changed.get(name) or self.tree.base / "obj" / name)

    def contains(self, program):
        description = self.tree.programs[program]
        archives = list(description["archives"])
        if description["shared"]:
            archives += SHARED["libgriddep.so.0"][0]
        return set(description["objects"]).union(*[self.tree.archives[archive] for archive in archives])

    def make(self, name, command):
        if name in self.fresh:
            return
        done = subprocess.run(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            raise RuntimeError("%s: %s" % (name, done.stdout[-2000:]))
        self.fresh.add(name)

    def archive(self, name):
        self.make("a/%s.a" % name, ["ar", "rcsTD", "a/%s.a" % name] + [self.path(member) for member in self.tree.archives[name]])
        return "a/%s.a" % name

    def share(self, name):
        archives, script = SHARED[name]
        members = [self.archive(archive) for archive in archives]
        next_library = ["-Wl,-z,nodelete", "-Wl,--no-as-needed,attach/libgriddep-next.so"] if archives[0] == "attach" else []
        self.make(".libs/" + name, [CC, "-shared", "-o", ".libs/" + name, "-Wl,-soname," + name, *next_library, "-Wl,--whole-archive", *members, "-Wl,--no-whole-archive",
                                    *(["-Wl,--version-script=%s" % (TOP / script)] if script else []), "-lm", "-ldl", "-lpthread"])

    def link(self, name):
        program = self.tree.programs[name]
        archives = [self.archive(archive) for archive in program["archives"]]
        if program["shared"]:
            self.share("libgriddep.so.0")
        up = "/".join([".."] * name.count("/")) or "."
        libraries = [str(self.tree.pack / "lib" / library) for library in LIBRARIES]
        self.make(name, [CC, "-o", name, *program["flags"], *[self.path(member) for member in program["objects"]], "-Wl,--start-group", *archives,
                         "-Wl,--end-group", *([".libs/libgriddep.so.0", "-Wl,-rpath,$ORIGIN/%s/.libs" % up] if program["shared"] else []),
                         *libraries, "-lm", "-ldl", "-lrt", "-lpthread"])

    def link_for(self, test):
        """All that the test runs."""
        for name in SHARED:
            self.share(name)
        for name in needed_by(self.tree, test):
            self.link(name)


def needed_by(tree, test):
    """A program needs itself; a script the command and the programs that it names."""
    if test in tree.programs:
        return [test]
    named = re.findall(r"tests/\w+/\w+", (TOP / test).read_text())
    return ["griddep"] + [name for name in dict.fromkeys(named) if name in tree.programs]


def concerns(build, test, changed):
    """Whether the test can reach a changed object at all."""
    if test not in build.tree.programs:
        return True
    reached = build.contains(test)
    if not set(changed) & set(build.tree.archives["machine"]):
        return bool(set(changed) & reached)
    return True  # it may open the emulated driver


# ---- running a test


def read_session(session):
    """Processor ticks of all processes of a session."""
    ticks = 0
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = Path("/proc", process, "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[3]) == session:
            ticks += sum(int(fields[i]) for i in (11, 12, 13, 14))
    return ticks


def run_test(build, test, seconds):
    """(what went wrong or None, processor seconds of all that it started, exit status, the functions that failed)"""
    folder = build.folder
    limit = int(max(LEAST, TIMES * seconds)) if seconds else 1800
    libs = str(folder / ".libs")
    (folder / "none").mkdir(exist_ok=True)
    (folder / "none" / "libcuda.so.1").touch()  # an NVIDIA driver that there may be is not found behind it
    environment = dict(os.environ, LD_LIBRARY_PATH=str(folder / "none"), srcdir=str(TOP), builddir=str(folder), GRIDDEP=str(folder / "griddep"), FAKE_DRIVER=libs + "/libfake-cuda.so",
                       FAKE_NVRTC=libs + "/libfake-nvrtc.so",
                       EMULATED_DRIVER=libs + "/libgriddep-emulator.so.0", SANITIZED="", CC=CC, CXX="g++", NM="nm", PYTHON3=sys.executable, LUAJIT="luajit",
                       MAKE="make", CK_VERBOSITY="normal", CK_DEFAULT_TIMEOUT="100000",
                       GRIDDEP_STORE="off", MALLOC_PERTURB_="165", TMPDIR=str(folder / "tmp"),
                       HOME=str(folder / "tmp"))
    environment.pop("MAKEFLAGS", None)
    shutil.rmtree(folder / "tmp", ignore_errors=True)
    (folder / "tmp").mkdir()
    command = ["./" + test] if test in build.tree.programs else ["sh", str(TOP / test)]
    # A test of the store has a sparse file of 20 GiB. The shell sets the limits: nothing of Python runs between fork and exec,
    # which other threads could have left locked.
    limits = "ulimit -S -t %d; ulimit -H -t %d; ulimit -c 0; ulimit -f %d; ulimit -d %d; exec \"$@\"" % (limit, limit + 5, 21 << 21, 6 << 20)
    with open(folder / "test.log", "w+b") as log:
        process = subprocess.Popen(["sh", "-c", limits, "sh", *command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                   start_new_session=True)
        last, since, looked, why, pause = -1, time.monotonic(), time.monotonic(), None, 0.005
        while True:
            pid, status, usage = os.wait4(process.pid, 0 if why else os.WNOHANG)
            if pid:
                break
            time.sleep(pause)
            pause = min(0.2, 1.5 * pause)
            if time.monotonic() < looked + LOOKS:
                continue
            looked = time.monotonic()
            ticks = read_session(process.pid)
            if ticks != last:
                last, since = ticks, looked
            if looked - since > STUCK:
                why = "stuck"
            elif ticks > limit * os.sysconf("SC_CLK_TCK") * 2:
                why = "no end"
            if why:
                os.killpg(process.pid, signal.SIGKILL)
        process.returncode = os.waitstatus_to_exitcode(status)
        log.seek(0)
        said = log.read()[-200000:].decode(errors="replace")
    used = usage.ru_utime + usage.ru_stime
    if why or process.returncode in (0, 77):
        return why, used, process.returncode, []
    lines = [line for line in said.split("\n") if re.search(r":[FE]:|^failed|assert|error", line)]
    why = (lines[0] if lines else "exit status %d" % process.returncode)[:160]
    return why, used, process.returncode, functions_of(said)


def functions_of(said):
    """The functions of a program of check, or the cases of a script, that failed."""
    found = re.findall(r":[FE]:[^:]*:(\w+):", said) + re.findall(r"^failed: (.*)", said, re.M)
    return [re.sub(r"[\t,;]", " ", name)[:80] for name in dict.fromkeys(found)]


# ---- mutations

TOKEN = re.compile(r"""(?P<skip>/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|^[ \t]*\#(?:\\\n|[^\n])*)|(?P<word>[A-Za-z_]\w*)|(?P<number>0[xX][0-9a-fA-F]+\w*|\d[\w.]*)|"""
                   r"""(?P<mark>->|\+\+|--|<<=?|>>=?|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)""", re.M | re.S)
SWAPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "++": "--", "--": "++", "+=": "-=", "-=": "+=",
         "|=": "&=", "&=": "|=", "<<": ">>", ">>": "<<"}
KINDS = {"<": "bound", "<=": "bound", ">": "bound", ">=": "bound", "==": "equality", "!=": "equality", "&&": "and-or", "||": "and-or"}
Mutation = collections.namedtuple("Mutation", "file line kind start end new")


def tokens_of(text):
    return [(m.lastgroup, m.group(), m.start(), m.end()) for m in TOKEN.finditer(text) if m.lastgroup != "skip" and not m.group().isspace()]


def closing(tokens, index):
    depth = 0
    for i in range(index, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[i][1], 0)
        if not depth:
            return i
    return len(tokens) - 1


def mutations_of(file, text):
    tokens, found, depth = tokens_of(text), [], 0

    def add(kind, start, end, new):
        if text[start:end] != new:
            found.append(Mutation(file, text.count("\n", 0, start) + 1, kind, start, end, new))

    for i, (group, token, start, end) in enumerate(tokens):
        before = tokens[i - 1][1] if i else ""
        after = tokens[i + 1][1] if i + 1 < len(tokens) else ""
        depth += {"{": 1, "}": -1}.get(token, 0)
        if group == "mark" and token in SWAPS and not (token in ("<<", ">>") and depth == 0):
            add(KINDS.get(token, "operator"), start, end, SWAPS[token])
        elif token in "+-" and group == "mark" and (re.match(r"[\w)\]]", before) and before != "return") and depth:
            add("operator", start, end, "-" if token == "+" else "+")
        elif token == "!" and depth:
            add("condition", start, end, "")
        elif token in ("true", "false") and depth:
            add("boolean", start, end, "false" if token == "true" else "true")
        elif group == "number" and depth and re.fullmatch(r"\d+[uUlL]*", token) and before not in (".", "]"):
            value, suffix = re.fullmatch(r"(\d+)(\w*)", token).groups()
            add("constant", start, end, "%d%s" % (int(value) + 1, suffix))
            if int(value):
                add("constant", start, end, "%d%s" % (int(value) - 1, suffix))
        elif token in ("if", "while") and after == "(" and depth:
            last = closing(tokens, i + 1)
            inner = text[tokens[i + 1][3]:tokens[last][2]]
            if inner not in ("true", "1"):
                add("condition", tokens[i + 1][3], tokens[last][2], "!(%s)" % inner)
        elif token == "return" and after != ";" and depth:
            stop = next((k for k in range(i, len(tokens)) if tokens[k][1] == ";"), i)
            value = text[tokens[i + 1][2]:tokens[stop][2]]
            if re.search(r"\bstatus\b|error|fail|refuse|CUDA_ERROR", value) and "?" not in value:
                add("success", tokens[i + 1][2], tokens[stop][2], "((void)(%s), 0)" % value)
        elif depth and group == "word" and before in (";", "{", "}", ")") and after == "(" and token not in ("if", "for", "while", "switch", "sizeof", "return"):
            last = closing(tokens, i + 1)
            if last + 1 < len(tokens) and tokens[last + 1][1] == ";":
                add("call", start, tokens[last][3], "(void)0")
        elif depth and token == "=" and after and before not in ("]", "}"):
            first = i
            while first and tokens[first - 1][1] not in (";", "{", "}", "(", ")", ",", ":"):
                first -= 1
            stop = next((k for k in range(i, len(tokens)) if tokens[k][1] in (";", ",", "{")), i)
            target = text[tokens[first][2]:start].strip()
            if tokens[stop][1] == ";" and re.fullmatch(r"(\*?[\w>.\[\]*-]+)", target) and tokens[first - 1][1] in (";", "{", "}", ")"):
                add("assignment", tokens[first][2], tokens[stop][2], "(void)(%s)" % text[end:tokens[stop][2]].strip())
        if depth and group == "word" and after == "(" and token not in ("if", "for", "while", "switch", "sizeof", "return", "defined"):
            last = closing(tokens, i + 1)
            parts, level, begin = [], 0, tokens[i + 1][3]
            for k in range(i + 1, last + 1):
                level += {"(": 1, ")": -1}.get(tokens[k][1], 0)
                if (tokens[k][1] == "," and level == 1) or k == last:
                    parts.append((begin, tokens[k][2]))
                    begin = tokens[k][3]
            for (a, b), (c, d) in zip(parts, parts[1:]):
                one, other = text[a:b].strip(), text[c:d].strip()
                if one != other and re.fullmatch(r"[\w.>\[\]&*-]+", one) and re.fullmatch(r"[\w.>\[\]&*-]+", other) and not re.match(r"\d", one + other):
                    add("swap", a, d, "%s, %s" % (other, one))
    return found


def mutable_files(only):
    for layer in LAYERS:
        for path in sorted((TOP / layer).rglob("*.c")) + sorted((TOP / layer).rglob("*_body.h")):
            name = str(path.relative_to(TOP))
            if name.startswith(only or ""):
                yield name


def choose(seed, only):
    """All mutations in the order in which they are tried: each layer in its turn, a file by its length, a kind, a place."""
    dice = random.Random(seed)
    layers = {}
    for name in mutable_files(only):
        text = (TOP / name).read_text()
        kinds = collections.defaultdict(list)
        for mutation in mutations_of(name, text):
            kinds[mutation.kind].append(mutation)
        if kinds:
            layers.setdefault(os.path.dirname(name), []).append((text.count("\n"), kinds))
    weights = {layer: sum(lines for lines, _ in files) ** 0.5 for layer, files in layers.items()}
    while layers:
        layer = dice.choices(list(layers), [weights[name] for name in layers])[0]
        files = layers[layer]
        lines, kinds = dice.choices(files, [lines for lines, _ in files])[0]
        kind = dice.choice(sorted(kinds))
        yield kinds[kind].pop(dice.randrange(len(kinds[kind])))
        if not kinds[kind]:
            del kinds[kind]
        if not kinds:
            files.remove(next(entry for entry in files if entry[1] is kinds))
        if not files:
            del layers[layer]


def apply(mutation):
    text = (TOP / mutation.file).read_text()
    return text[:mutation.start] + mutation.new + text[mutation.end:]


def words_of(mutation):
    text = (TOP / mutation.file).read_text()
    squeeze = lambda part: re.sub(r"\s+", " ", part).strip()
    begin, stop = text.rfind("\n", 0, mutation.start) + 1, text.find("\n", mutation.end)
    changed = text[begin:mutation.start] + mutation.new + text[mutation.end:stop]
    return squeeze(text[begin:stop]), squeeze(changed)


# ---- commands


def pack(arguments):
    build, target = Path(arguments.build), Path(arguments.pack)
    shutil.rmtree(target, ignore_errors=True)
    for name in ("config.h", "Makefile", *(path.relative_to(build) for path in build.glob("**/*.inc"))):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(build / name, target / name)
    for path in build.glob("ptx/*/*.ptx"):
        (target / path.relative_to(build)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target / path.relative_to(build))
    for name in LIBRARIES:
        found = subprocess.run([CC, "-print-file-name=" + name], stdout=subprocess.PIPE, text=True).stdout.strip()
        (target / "lib").mkdir(exist_ok=True)
        shutil.copyfile(found, target / "lib" / name)
    for name in HEADERS:
        source = Path("/usr/include", name)
        (target / "include").mkdir(exist_ok=True)
        (shutil.copytree if source.is_dir() else shutil.copyfile)(source, target / "include" / name)


def build_base(tree, jobs):
    def one(name):
        output = tree.base / "obj" / name
        if output.exists() and all(os.path.exists(path) and os.stat(path).st_mtime < output.stat().st_mtime for path in tree.read(name)):
            return
        done = tree.compile(name, output)
        if done.returncode:
            raise RuntimeError("%s: %s" % (name, done.stderr[-2000:]))

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(one, tree.objects))


def measure(tree, builds, tests, cache):
    """{test: processor seconds} of those that pass without a mutant; what was measured before is in the cache."""
    known = {line.split("\t")[0]: line.split("\t")[1:] for line in cache.read_text().splitlines()} if cache.exists() else {}

    def one(test):
        build = builds.get()
        try:
            build.link_for(test)
            why, used, status, _ = run_test(build, test, 0)
            return test, ["%.2f" % used, why or ("skipped" if status == 77 else "")]
        finally:
            builds.put(build)

    with concurrent.futures.ThreadPoolExecutor(builds.qsize()) as pool:
        for test, result in pool.map(one, [test for test in tests if test not in known]):
            known[test] = result
            print("%-40s %8s s  %s" % (test, *result), flush=True)
            cache.write_text("".join("%s\t%s\t%s\n" % (name, *known[name]) for name in known))
    return {test: float(known[test][0]) for test in tests if not known[test][1]}


def try_mutant(tree, build, mutation, dependencies, times, caught, every, over):
    """(verdict, by); caught: {(layer, test): mutants}; every(test): it runs in any case; over(): no more tests"""
    folder = build.folder / "mutant"
    shutil.rmtree(folder, ignore_errors=True)
    changed = {}
    for name in sorted(dependencies[mutation.file]):
        output = folder / name
        done = tree.compile(name, output, {mutation.file: apply(mutation)})
        if done.returncode:
            return "does not compile", ""
        if output.read_bytes() != (tree.base / "obj" / name).read_bytes():
            changed[name] = output
    if not changed:
        return "same code", ""
    build.change(changed)
    try:
        layer = os.path.dirname(mutation.file)
        word, folder_of = Path(mutation.file).stem.split("_")[0], layer.replace("src", "tests")
        likely = lambda test: 1 + caught[layer, test] + 4 * (word in test) + 2 * (folder_of in test)
        linking = 0.5  # seconds
        found, ends = [], 0  # ends: tests that came to no end, each of which takes long
        for test in sorted(times, key=lambda test: (not every(test), (linking + times[test]) / likely(test))):
            if not concerns(build, test, changed) or (found and not every(test)):
                continue
            if over() or (found and ends >= 3):
                found += ["unfinished:"]
                break
            try:
                build.link_for(test)
            except RuntimeError as why:
                return "does not link", str(why)[:160]
            why, _, _, names = run_test(build, test, times[test])
            if why:
                caught[layer, test] += 1
                if not every(test):
                    return "caught", "%s: %s" % (test, why)
                found.append("%s:%s" % (test, ",".join(names)))
                ends += why in ("stuck", "no end", "exit status -24")
        return ("not tried" if found == ["unfinished:"] else "caught", ";".join(found)) if found else ("survived", "")
    finally:
        build.change({})


def run(arguments):
    started = time.monotonic()
    tree = Tree(Path(arguments.pack).resolve(), Path(arguments.work).resolve())
    table = Path(arguments.table or tree.work / "mutants.tsv")
    build_base(tree, arguments.jobs)
    print("compiled after %d s" % (time.monotonic() - started), flush=True)
    dependencies = tree.dependencies()
    builds = queue.Queue()
    for i in range(arguments.jobs):
        builds.put(Build(tree, tree.work / ("build%d" % i)))
    scripts = [name for variable in SCRIPTS for name in tree.makefile.words(variable)
               if not NOT_RUN.search(name)]
    tests = [name for name in tree.tests + scripts if re.search(arguments.tests, name)]
    times = measure(tree, builds, tests, tree.work / "times.tsv")
    print("%d tests that pass take %d s; begun after %d s" % (len(times), sum(times.values()), time.monotonic() - started), flush=True)

    done, caught, lock = {}, collections.Counter(), threading.Lock()
    if table.exists():
        for line in table.read_text().splitlines():
            fields = line.split("\t")
            done[(fields[0], fields[1], fields[3])] = fields[4]
            if fields[4] == "caught":
                caught[os.path.dirname(fields[0]), fields[5].split(":")[0]] += 1
    wanted = [line.strip() for line in Path(arguments.file).read_text().splitlines()] if arguments.file else None
    counted = lambda: sum(verdict in ("caught", "survived") for verdict in done.values())
    chosen = choose(arguments.seed, arguments.only)
    over = lambda: time.monotonic() - started > arguments.seconds
    every = lambda test: bool(arguments.every and re.search(arguments.every, test))

    def work():
        while True:
            with lock:
                if counted() + working[0] >= arguments.count or over():
                    return
                mutation = next(chosen, None)
                if mutation is None:
                    return
                place = "%s:%d" % (mutation.file, mutation.line)
                if wanted is not None and place not in wanted and "%s %s" % (place, mutation.kind) not in wanted:
                    continue
                old, new = words_of(mutation)
                if (place, mutation.kind, new) in done:
                    continue
                working[0] += 1
            build = builds.get()
            try:
                verdict, by = try_mutant(tree, build, mutation, dependencies, times, caught, every, lambda: bool(arguments.every) and over())
            except Exception as why:  # one mutant must not end the others
                verdict, by = "not tried", repr(why)[:200]
            finally:
                builds.put(build)
            with lock:
                working[0] -= 1
                done[(place, mutation.kind, new)] = verdict
                with open(table, "a") as file:
                    file.write("\t".join((place, mutation.kind, old, new, verdict, by.replace("\t", " ").replace("\n", " "))) + "\n")
                if verdict not in ("same code", "does not compile"):
                    print("%-8s %s %s: %s  ->  %s  %s" % (verdict, place, mutation.kind, old, new, by), flush=True)

    working = [0]
    threads = [threading.Thread(target=work) for _ in range(arguments.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    verdicts = collections.Counter(done.values())
    print(", ".join("%d %s" % (number, verdict) for verdict, number in verdicts.most_common()) + "; table: %s" % table)


def show(arguments):
    chosen = choose(arguments.seed, arguments.only)
    for _ in range(arguments.count):
        mutation = next(chosen, None)
        if mutation:
            print("%s:%d %s: %s  ->  %s" % (mutation.file, mutation.line, mutation.kind, *words_of(mutation)))


def alone(arguments):
    rows = [line.split("\t") for line in Path(arguments.table).read_text().splitlines()]
    mutants = [(row[0], [part.partition(":") for part in row[5].split(";") if part != "unfinished:"]) for row in rows if row[4] == "caught"]
    for title, nets_of in (("test", lambda parts: {test for test, _, _ in parts}),
                           ("function", lambda parts: {test + ":" + name for test, _, names in parts for name in names.split(",")})):
        some, only = collections.Counter(), collections.defaultdict(list)
        for place, parts in mutants:
            nets = nets_of(parts)
            some.update(nets)
            for net in nets if len(nets) == 1 else ():
                only[net].append(place)
        print("caught\talone\t%s" % title)
        for net, number in some.most_common():
            print("%d\t%d\t%s\t%s" % (number, len(only[net]), net, " ".join(only[net])))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("pack")
    one.add_argument("build")
    one.add_argument("pack")
    for name in ("run", "list"):
        one = commands.add_parser(name)
        if name == "run":
            one.add_argument("pack")
            one.add_argument("work")
            one.add_argument("--jobs", type=int, default=os.cpu_count())
            one.add_argument("--seconds", type=float, default=1e9)
            one.add_argument("--table")
            one.add_argument("--file")
            one.add_argument("--tests", default="")
            one.add_argument("--every")
        one.add_argument("--count", type=int, default=30)
        one.add_argument("--seed", type=int, default=1)
        one.add_argument("--only")
    one = commands.add_parser("alone")
    one.add_argument("table")
    arguments = parser.parse_args()
    {"pack": pack, "run": run, "list": show, "alone": alone}[arguments.command](arguments)


if __name__ == "__main__":
    main()
