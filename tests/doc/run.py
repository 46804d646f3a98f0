"""Runs what the documentation tells to run. See run.sh, which sets the scene; arguments: the source tree, that of the build, and a folder to work in.

In a file with "console" blocks (doc/guide.md, doc/languages.md, doc/code.md) each line "$ COMMAND" is run by sh, in order, in one folder, and its output must be what stands below it: a line
"..." stands for any number of lines, "..." within a line for any text. A block behind a comment "<!-- file: NAME -->" is written to that file.
In other files each line of a code block that begins with "griddep " is run, on files that are made here; exit codes that say
that something could not be done are failures.
"""
import os
import re
import subprocess
import sys
import textwrap

top, build, work = sys.argv[1:]
# A shim that chooses among interpreters puts the folder of its choice in front: the wrappers come before that.
for name in ("MAKEFLAGS", "MFLAGS"):  # their jobserver is for makes
    os.environ.pop(name, None)
os.environ["PATH"] = os.path.join(work, "bin") + os.pathsep + os.environ["PATH"]
passed = failed = skipped = 0
covered = set()  # blocks that were run: the document and the lines


def case(good, name, output=""):
    global passed, failed
    if good:
        passed += 1
        return
    failed += 1
    print(f"failed: {name}")
    print(textwrap.indent("\n".join(output.splitlines()[:40]), "    "))


def blocks(path):
    """(language, file name or None, lines) of each fenced or indented block."""
    language, name, lines, found = None, None, [], []
    for line in open(os.path.join(top, path), encoding="utf-8").read().splitlines() + [""]:
        if language is None and (mark := re.match(r"<!-- file: (\S+) -->$", line)):
            name = mark.group(1)
        elif language in (None, "") and line.startswith("```"):
            language, lines = line[3:] or "text", []
        elif language not in (None, "") and line.startswith("```"):
            found.append((language, name, lines))
            language, name = None, None
        elif language is None and line.startswith("    "):
            language, lines = "", [line[4:]]
        elif language == "" and line.startswith("    "):
            lines.append(line[4:])
        elif language == "":
            found.append(("indented", None, lines))
            language = None
        elif language is not None:
            lines.append(line)
    return found


def only_block(path, beginning):
    """The lines of the block that begins so, which counts as run."""
    lines = next(lines for _, _, lines in blocks(path) if lines[0].startswith(beginning))
    covered.add((path, *lines))
    return lines


def write(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)


def run(command, folder):
    return subprocess.run(["sh", "-c", command], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=1800)


def pattern(lines):
    text = "".join("(?:.*\n)*" if line == "..." else ".*".join(map(re.escape, re.sub(r" *\.\.\. *", "...", line).split("..."))) + "\n" for line in lines)
    return text


def squeeze(text):
    """Columns are as wide as their widest cell, so their number of blanks says nothing."""
    return re.sub(r"(?<=\S) {2,}", " ", text)


def check_that_files_are_named(path):
    """A page does not show the comment that names a file: the paragraph in front of it has to name the file too."""
    text = open(os.path.join(top, path), encoding="utf-8").read()
    for match in re.finditer(r"((?:[^\n]+\n)+)\n<!-- file: (\S+) -->", text):
        case(f"`{match.group(2)}`" in match.group(1), f"{path}: no sentence names the file {match.group(2)}", match.group(1))


def run_console(path, folder):
    check_that_files_are_named(path)
    os.makedirs(folder, exist_ok=True)
    if not os.path.exists(os.path.join(folder, "examples")):
        os.symlink(os.path.join(top, "examples"), os.path.join(folder, "examples"))
    for language, name, lines in blocks(path):
        if name is not None:
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write("\n".join(lines) + "\n")
        if name is not None or language == "console":
            covered.add((path, *lines))
        if language != "console":
            continue
        for part in re.split(r"^\$ ", "\n".join(lines), flags=re.MULTILINE)[1:]:
            command, *expected = part.rstrip("\n").split("\n")
            if is_missing(command, folder):
                continue
            result = run(command, folder)
            output = squeeze(result.stdout)
            case(re.fullmatch(pattern([squeeze(line) for line in expected]), output) is not None and
                 (result.returncode == 0 or "exit code" in command), f"{path}: $ {command} (exit code {result.returncode})", result.stdout)


# Languages that a machine may lack, by the command that runs a program: what fails there.
LANGUAGES = {
    "node": "node -e 'require(\"koffi\")'",
    "rustc": "rustc --version",
    "./first": "test -x first",
    "luajit": "luajit -v",
    "ruby": "ruby -rfiddle -e 1",
    "perl": "perl -MFFI::Platypus=2.00 -e 1",
    "java": "test -f /usr/share/java/jna.jar && java --version",
}


def is_missing(command, folder):
    """Whether this machine lacks the language that a command of the documentation needs."""
    global skipped
    probe = LANGUAGES.get(command.split()[0])
    if probe is None or run(probe, folder).returncode == 0:
        return False
    skipped += 1
    print(f"skipped: $ {command}: {probe}: fails")
    return True


def run_languages(folder):
    """The set-up of doc/languages.md in a checkout of links, then its programs in the folder that it makes."""
    checkout = os.path.join(folder, "checkout")
    os.makedirs(checkout)
    for name, place in {"build": build, "bindings": os.path.join(top, "bindings")}.items():
        os.symlink(place, os.path.join(checkout, name))
    setup = only_block("doc/languages.md", "export GRIDDEP_LIBRARY")
    clean = "unset PYTHONPATH GRIDDEP_LIBRARY PKG_CONFIG_PATH; set -e\n"
    result = run(clean + "\n".join(setup) + "\npkg-config --exists griddep && python3 -c 'import griddep'", checkout)
    case(result.returncode == 0, "doc/languages.md: the set-up", result.stdout)
    run_console("doc/languages.md", os.path.join(folder, "languages"))


def check_node_functions():
    """The table of doc/languages.md has each public function of bindings/node/griddep.js, and no other one."""
    code = open(os.path.join(top, "bindings/node/griddep.js"), encoding="utf-8").read().partition("---- end of generated")[2]
    public = set(re.search(r"module\.exports = \{ \.\.\.constants, (.*) \};", code).group(1).replace(": (reason) => raw.text(constants.TEXT_REASON, reason)", "").split(", "))
    for name, body in re.findall(r"^class (\w+)[^\n]*\{\n(.*?)^\}", code, re.M | re.S):
        if name in public:
            public |= set(re.findall(r"^  (?:async |get )?([a-z]\w*)\(", body, re.M)) - {"constructor", "pack", "bytesOf"}
    table = open(os.path.join(top, "doc/languages.md"), encoding="utf-8").read().partition("### Functions in Node")[2].partition("\n## ")[0]
    named = set(re.findall(r"[A-Za-z]+", " ".join(re.findall(r"`[^`]*`", table))))
    functions = [re.sub(r"\([^)]*\)", "", cell) for row in table.splitlines() if row.startswith("|") for cell in re.findall(r"`([^`]*)`", row.split("|")[2])]
    known = public | {"parameters", "bytes", "close"}
    case(not public - named, "doc/languages.md: Node's functions", f"missing: {sorted(public - named)}")
    unknown = {word for cell in functions for word in re.findall(r"\w+", cell)} - known - {"new"}
    case(not unknown, "doc/languages.md: functions that Node has not", f"{sorted(unknown)}")


def make_files(folder):
    """What commands in the documentation name: a kernel that knows nothing of dependent launch, a chain, a program."""
    os.makedirs(os.path.join(folder, "kernels"))
    os.symlink(os.path.join(top, "examples"), os.path.join(folder, "examples"))
    files = {name: "\n".join(lines) + "\n" for _, name, lines in blocks("doc/guide.md") if name}
    chain = files["chain.yaml"].replace("scale.ptx", "kernel.ptx").replace("quarter", "y")
    program = "#!/bin/sh\nexec griddep run chain.yaml --driver nvidia --repeat 0\n"
    for name, text in {"kernel.ptx": files["scale.ptx"], "chain.yaml": chain, "application": program}.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    os.chmod(os.path.join(folder, "application"), 0o755)


# A machine with two devices and NCCL, for commands that time hops.
HOPS = f"GRIDDEP_DRIVER=emulated GRIDDEP_EMULATOR_DEVICES=2 GRIDDEP_NCCL={build}/.libs/libfake-nccl.so "
COMMAND = r"(cat \S+ \| )?griddep "


def run_command(path, line, folder):
    command = re.sub(r"\s+#.*", "", line)
    result = run((HOPS if "--hops" in command else "") + command, folder)
    needs_gpu = result.returncode == 2 and "there is none to measure" in result.stdout
    case(result.returncode in (0, 1, 66) or needs_gpu, f"{path}: {command} (exit code {result.returncode})", result.stdout)


def run_commands(path, folder):
    count = 0
    for _, _, lines in blocks(path):
        for line in lines:
            if re.match(COMMAND, line):
                covered.add((path, *lines))
                count += 1
                run_command(path, line, folder)
    case(count > 0, f"{path}: no command found")


def run_help_examples(folder):
    table = run("griddep help --table", folder).stdout.split("\n")
    commands = [line.split("\t")[1].strip() for line in table if line.startswith("example\t    ")]
    for command in commands:
        run_command("help", command, folder)
    case(len(commands) > 0, "help: no example found")


def run_chain_example(folder):
    """The complete example of doc/griddep-chain.md, with a kernel for what it calls kernels/scale.ptx."""
    example = only_block("doc/griddep-chain.md", "name:")
    with open(os.path.join(folder, "example.yaml"), "w", encoding="utf-8") as file:
        file.write("\n".join(example) + "\n")
    with open(os.path.join(folder, "kernels", "scale.ptx"), "w", encoding="utf-8") as file:
        file.write(textwrap.dedent("""\
            .version 8.0
            .target sm_90
            .address_size 64
            .visible .entry scale(.param .u64 x, .param .u64 y, .param .f32 factor)
            {
                .reg .b32 %i, %n, %c;
                .reg .b64 %x, %y, %at;
                .reg .b16 %h;
                griddepcontrol.wait;
                mov.u32 %i, %tid.x;
                mov.u32 %c, %ctaid.x;
                mov.u32 %n, %ntid.x;
                mad.lo.u32 %i, %c, %n, %i;
                ld.param.u64 %x, [x];
                ld.param.u64 %y, [y];
                mul.wide.u32 %at, %i, 2;
                add.u64 %x, %x, %at;
                add.u64 %y, %y, %at;
                ld.global.b16 %h, [%x];
                st.global.b16 [%y], %h;
                ret;
            }
            """))
    for command in ("griddep check example.yaml", "griddep run example.yaml --emulate --repeat 0"):
        result = run(command, folder)
        case(result.returncode == 0, f"doc/griddep-chain.md: {command} on its complete example", result.stdout)


def run_first_steps(folder):
    """The first steps of README.md and of the guide: the variables that they set, in place of those that the test has, in a checkout
    of links; the program of README.md, which prints what its comments say; and a kernel of the guide."""
    checkout = os.path.join(folder, "checkout")
    os.makedirs(checkout)
    for name, place in {"build": build, "bindings": os.path.join(top, "bindings"), "examples": os.path.join(top, "examples")}.items():
        os.symlink(place, os.path.join(checkout, name))
    variables, setup = only_block("README.md", "export PATH"), only_block("doc/guide.md", "export PATH")
    case(setup[:len(variables)] == variables, "doc/guide.md: sets the variables of README.md", "\n".join(setup))
    program = only_block("README.md", "import array")
    write(folder, "first.py", "\n".join(program) + "\n")
    write(folder, "empty.c", "#include <griddep.h>\nint main(void) { return griddep_version() < 0; }\n")
    clean = 'cc=$(command -v cc) python=$(command -v python3); unset PYTHONPATH GRIDDEP_LIBRARY PKG_CONFIG_PATH\n'
    steps = ' && griddep info >info && test -f examples/vector_add.yaml && griddep rewrite ../kernel.ptx -o mine.ptx 2>said && griddep check mine.ptx'
    steps += ' && "$python" ../first.py && "$cc" -o empty ../empty.c $(pkg-config --cflags --libs griddep) && ./empty'
    result = run(clean + "\n".join(setup) + steps, checkout)
    said = [match.group(1) for line in program if (match := re.match(r" *print\(.*  # (.*)", line))]
    case(len(said) == 2 and result.stdout.endswith("\n".join(["; safe to launch early", "0 errors, 0 warnings, 0 notes", *said, ""])),
         "first steps", result.stdout)


def run_fragments(folder):
    """Pieces of chain files, in a chain that has nothing else."""
    entry = (".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry piece(.param .align 64 .b8 map[128], .param .u32 n,\n"
             ".param .align 8 .b8 pair[16])\n{\n    griddepcontrol.wait;\n    ret;\n}\n")
    write(folder, "piece.ptx", entry)
    pieces = only_block("doc/griddep-chain.md", "- {buffer: x, access: read, tensor_map") + only_block("doc/griddep-chain.md", "- {u32: 2048}")[:1] + only_block("doc/griddep-chain.md", "- {bytes:")
    write(folder, "piece.yaml", "name: piece\nmodules: [{name: mine, file: piece.ptx}]\nbuffers: [{name: x, type: bf16, count: 2097152}]\n"
          "launches:\n  - kernel: piece\n    module: mine\n    grid: [1]\n    block: [32]\n    arguments:\n"
          + "".join(f"      {line}\n" for line in pieces) + "".join(f"    {line}\n" for line in only_block("doc/griddep-chain.md", "reaches:")))
    result = run("griddep run piece.yaml --emulate --repeat 0", folder)
    case(result.returncode == 0, "doc/griddep-chain.md: arguments", result.stdout)


def run_head_comment(folder):
    """The head comment of doc/shelf.md on a kernel with the parameters that it names, and what a launch is told that breaks a condition."""
    head = only_block("doc/shelf.md", "// kernel: scale")
    write(folder, "head.ptx", "\n".join(head) + "\n.version 8.0\n.target sm_90\n.address_size 64\n.visible .entry scale(.param .u64 x, .param .u64 out, "
          ".param .u32 rows, .param .u32 columns, .param .f32 factor)\n{\n    griddepcontrol.wait;\n    ret;\n}\n")
    chain = ("name: head\nmodules: [{name: mine, file: head.ptx}]\nbuffers: [{name: x, type: f32, count: 64}]\nlaunches:\n  - {kernel: scale, module: mine, "
             "grid: [1], block: [32], arguments: [{buffer: x}, {buffer: x}, {u32: 4}, {u32: COLUMNS}, {f32: 0.5}]}\n")
    text = open(os.path.join(top, "doc/shelf.md"), encoding="utf-8").read()
    refused = re.search(r"`(kernel scale needs .* \(columns is 13\))`", text).group(1)
    for columns, expected in (("16", 0), ("13", 2)):
        write(folder, "head.yaml", chain.replace("COLUMNS", columns))
        result = run("griddep run head.yaml --emulate --repeat 0", folder)
        case(result.returncode == expected and (refused in result.stdout) == (columns == "13"), f"doc/shelf.md: {columns} columns", result.stdout)


def run_set_up(folder):
    """The guide's set-up, twice: a reader who comes back another day does it again."""
    block = only_block("doc/guide.md", "export PATH=")
    checkout = os.path.join(folder, "checkout")
    os.makedirs(os.path.join(checkout, "examples"))
    for time in ("once", "again"):
        result = run("set -e\n" + "\n".join(block) + "\ntest -d examples && test ! -e examples/examples && pwd", checkout)
        case(result.returncode == 0 and result.stdout.endswith("/guide\n"), f"doc/guide.md: the set-up, {time}", result.stdout)


# Blocks that are run elsewhere, and one that is too slow or takes the machine: the beginning of each and who does it.
ELSEWHERE = {
    ("README.md", "./bootstrap demo"): "a build of its own",
    ("README.md", "./bootstrap llama"): "tests/llama/llama.sh and tests/bootstrap.sh do",
    ("README.md", "make -C build llama-demo"): "tests/llama/llama.sh does",
    ("examples/llama/README.md", "./bootstrap llama"): "tests/llama/llama.sh and tests/bootstrap.sh do",
    ("examples/llama/README.md", "make -C build llama-demo"): "tests/llama/llama.sh does",
    ("doc/guide.md", "./bootstrap build"): "a build of its own",
    ("HACKING.md", "./bootstrap check"): "a build of its own",
    ("HACKING.md", "autoreconf -fi"): "a build of its own",
}


def check_that_all_was_run(documents):
    """Each block that a reader could run has been run."""
    runnable = 0
    for path in documents:
        for language, _, lines in blocks(path):
            if language not in ("c", "python", "sh", "console", "yaml") and not any(re.match(COMMAND + r"|\./bootstrap|autoreconf", line) for line in lines):
                continue
            runnable += 1
            known = (path, *lines) in covered or any(path == name and lines[0].startswith(start) for name, start in ELSEWHERE)
            case(known, f"{path}: nothing runs the block that begins with {lines[0]!r}")
    print(f"{runnable} snippets, of which {len(ELSEWHERE)} are run elsewhere")


run_set_up(os.path.join(work, "setup"))
run_console("doc/guide.md", os.path.join(work, "guide"))
run_languages(os.path.join(work, "languages"))
check_node_functions()
run_console("doc/code.md", os.path.join(work, "code"))
files = os.path.join(work, "files")
make_files(files)
for document in ("README.md", "doc/emulator.md", "doc/griddep-chain.md", "doc/performance.md", "doc/timeline.md", "doc/tuning.md"):
    run_commands(document, files)
run_help_examples(files)
run_chain_example(files)
run_fragments(files)
run_head_comment(files)
run_first_steps(files)
check_that_all_was_run(["README.md", "HACKING.md", "NEWS.md"] + sorted("doc/" + name for name in os.listdir(os.path.join(top, "doc")) if name.endswith(".md")))
print(f"{passed} passed, {failed} failed, {skipped} skipped")
sys.exit(failed > 0)
