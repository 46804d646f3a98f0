#!/usr/bin/env python3
"""Prints the page of PTX instructions (doc/instructions.md), made of the instruction tables.

Reads src/ptx/text/ops.def, src/ptx/isa/forms.def, needs.def and chips.def. tests/golden/instruction_needs.txt has instructions that ptxas
takes, tests/emulator/refused.txt how those of them begin that the emulated driver refuses."""
import os
import re
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
WIDTH = 100
# The chapters of the PTX ISA, with the instructions by the first word of their names, or by whole names.
CHAPTERS = [
    ("Arithmetic of integers and floating-point numbers", "add addc sub subc mul mul24 mad mad24 madc fma sad div rem abs neg min max rcp "
     "sqrt rsqrt sin cos lg2 ex2 tanh copysign testp dp2a dp4a"),
    ("Bits and logic", "and or xor not cnot lop3 shl shr shf popc clz bfind fns brev bfe bfi bmsk szext prmt"),
    ("Comparison and selection", "setp set selp slct"),
    ("Moves, conversions, addresses", "mov cvt cvta isspacep mapa getctarank istypep shfl movmatrix"),
    ("Loads, stores and caches", "ld ldu st prefetch prefetchu applypriority discard createpolicy multimem"),
    ("Asynchronous copies and stores", "cp tensormap st.async st.bulk red.async"),
    ("Textures and surfaces", "tex tld4 txq suld sust sured suq"),
    ("Control flow", "bra brx call ret exit"),
    ("Synchronization, atomics and votes", "bar barrier membar fence atom red redux vote match activemask elect mbarrier"),
    ("Dependent launch and clusters", "griddepcontrol clusterlaunchcontrol"),
    ("Matrices", "ldmatrix stmatrix mma wmma wgmma"),
    ("Tensor memory", "tcgen05"),
    ("Stack", "alloca stacksave stackrestore"),
    ("Video", "vadd vsub vabsdiff vmin vmax vshl vshr vmad vset vadd2 vsub2 vavrg2 vabsdiff2 vmin2 vmax2 vset2 vadd4 vsub4 vavrg4 "
     "vabsdiff4 vmin4 vmax4 vset4"),
    ("Others", "brkpt nanosleep pmevent trap setmaxnreg"),
]
MEMORY = {"READ": "reads memory", "WRITE": "writes memory", "READ_WRITE": "reads and writes memory",
          "SHARED": "reads or writes shared memory", "FENCE": "orders accesses to memory",
          "ASYNC": "starts or joins an asynchronous access"}
CONTROL = {"BRANCH": "branches", "BRANCH_INDIRECT": "branches through a list", "CALL": "calls a function",
           "RETURN": "returns", "EXIT": "ends the thread", "TRAP": "ends the grid with an error", "BARRIER": "synchronizes threads",
           "GRIDDEP": "orders dependent grids"}
HEAD = """# PTX instructions

<!-- Written by build-tools/instructions.py. -->

What this project knows of each instruction of PTX ISA 9.0: {instructions} instructions in {forms}
forms. The page is made of the tables that `griddep check`, the rewriter and the emulated driver
work with (`src/ptx/text/ops.def`, `src/ptx/isa/forms.def`, `src/ptx/isa/needs.def`).

A form begins with the PTX ISA and the target that it needs at least, and a mark: `+` where the
emulated driver executes it, `-` where it does not, `~` where it refuses some of the modifiers. It
executes {executed} forms, and {partly} in part. Then come the instruction, its modifiers and its
operands:

- `{{.ftz}}` may be left out, `{{.ca|.cg}}` is one of them or none, `(.lo|.hi)` is one of them. ptxas
  takes modifiers in any order, but types and state spaces in the order that is shown.
- `.@int` and other words with `@` stand for the alternatives [below](#alternatives).
- `d` is a destination, `D` one that may be wider than its type. `a`, `b`, `c` and so on are
  sources, registers or constants; large letters may be wider too. `p` and `q` are predicates.
- `[a]` is an address, `[t, c]` a tensor map or texture with coordinates, `imm` a constant, with its
  range or its values, `{{d}}*4` a vector of four elements, `_` where it may stand for the operand.
- A type behind an operand (`b:b32`) is its own; others have the instruction's first type, or the
  second (`a:2`).
- `{{, h}}` may be left out; `h` stands there with `.L2::cache_hint`, a mask with
  `.multicast::cluster`.

`griddep check` holds modifiers, operands, versions and targets of every instruction against its
forms, and `call` against the function's parameters. A letter behind a target, `sm_100a(c)`, stands
for a [list](#targets) of targets.

## Index

"""


def read(path):
    return open(os.path.join(TOP, path), encoding="utf-8").read()


def join_literals(text):
    return re.sub(r'"\s*\n\s*"', "", text)


class Table:
    def __init__(self):
        self.names = re.findall(r'^GD_OP\((\w+), "([^"]+)", (\w+), (\w+), \w+\)', read("src/ptx/text/ops.def"), re.M)
        text = join_literals(read("src/ptx/isa/forms.def"))
        self.sets = dict(re.findall(r'^GD_SET\("(\w+)",\s*"([^"]*)"\)', text, re.M))
        self.forms = {}
        for op, *form in re.findall(r'^GD_FORM\((\w+),\s*"([^"]*)",\s*"([^"]*)",\s*(\d+),\s*(\d+)\)', text, re.M):
            self.forms.setdefault(op, []).append(form)
        self.needs = re.findall(r'^GD_NEED_WITH\((\w+), "([^"]*)", (\d+), (\d+)\)', join_literals(read("src/ptx/isa/needs.def")), re.M)
        self.targets = dict(re.findall(r'^GD_TARGETS\((\d+), "([^"]*)"\)', join_literals(read("src/ptx/isa/chips.def")), re.M))
        self.families = {op for op, name, control, _ in self.names if control == "UNKNOWN" or name in ("bar", "barrier")}

    def groups(self, modifiers):
        """(alternatives, whether it may be left out) of each group."""
        return [(re.sub(r"@(\w+)", lambda match: self.sets[match[1]], group.rstrip("?!")).split("|"), group.endswith("?"))
                for group in modifiers.split()]


# ---- what the emulated driver does ----

def operand_count(text):
    depth, count = 0, 1 if text.strip() else 0
    for letter in text:
        depth += (letter in "{[(") - (letter in "}])")
        count += letter == "," and not depth
    return count


def fits(groups, roles, words, operands):
    left = list(groups)
    for word in words:
        at = next((i for i, (alternatives, _) in enumerate(left) if word in alternatives), None)
        if at is None:
            return False
        left.pop(at)
    least = sum(not role.endswith("?") and role[0] not in "hm" for role in roles)
    return all(optional for _, optional in left) and least <= operands <= len(roles)


def is_for_device(targets):
    """The emulated device is an sm_90a."""
    names = targets.split(",")
    return "sm_90a" in names or (names[0][-1] == "+" and (targets == "sm_90a+" or int(re.search(r"\d+", targets)[0]) <= 90))


def unfold(line, number=1):
    """The instructions of a line (tests/unfold.h)."""
    match = re.search(r"<([^<>]*\|[^<>]*)>", line)
    if not match:
        return [line]
    wholes = [(line[:match.start()] + word + line[match.end():], word.lstrip("."))
              for word in match[1].split("|")]
    return [one for whole, word in wholes
            for one in unfold(whole.replace(f"<{number}>", word), number + 1)]


def find_marks(table):
    """By form (its id) whether the emulated driver executes it."""
    by_first = {}
    for op, name, _, _ in table.names:
        by_first.setdefault(name.split(".")[0], []).append((name, op))
    refused = tuple(read("tests/emulator/refused.txt").splitlines())
    outcomes = {}
    lines = read("tests/golden/instruction_needs.txt").splitlines()
    for line in (one for line in lines for one in unfold(line)):
        since, targets, text = line.split(" ", 2)
        if since.startswith("6.3-") or not is_for_device(targets):
            continue
        full, _, operands = text.rstrip(";").partition(" ")
        name, op = max((entry for entry in by_first[full.split(".")[0]] if (full + ".").startswith(entry[0] + ".")),
                       key=lambda entry: len(entry[0]))
        words = [word for word in full[len(name):].split(".") if word]
        for form in table.forms.get(op, ()):
            if fits(table.groups(form[0]), form[1].split(), words, operand_count(operands)):
                outcomes.setdefault(id(form), set()).add("-" if text.startswith(refused) else "+")
    return {form: "~" if len(some) > 1 else some.pop() for form, some in outcomes.items()}


# ---- notation ----

def show_group(group):
    optional, group = group.endswith("?"), group.rstrip("?!")
    words = ["." + word for word in group.split("|")]
    if optional:
        return "{" + "|".join(words) + "}"
    return words[0] if len(words) == 1 else "(" + "|".join(words) + ")"


def show_type(kind, index, wide, name):
    if name:
        return ":" + name
    if index and index != "1":
        return ":" + index + ("w" if wide else "")
    return ":w" if wide else ""


VECTORS = {"V": "N of .vN", "X": "N of .xN", "W": "N/2", "H": "N/4", "D": "N of .Nd", "I": "N-2 of .Nd"}


def show_role(role, letters):
    match = re.match(r"(\w)(\d?)(w?)(?:\.([\w/-]+))?(?:==?|~)?#?(<<?\d+(?:[,/]\d+)?)?(%\+?\d+)?(.*)$", role)
    kind, index, wide, name, limit, multiple, rest = match.groups()
    type_of = show_type(kind, index, wide, name if name and not re.match(r"\d", name) else "")
    if kind in "dDyn":
        text = {"n": "_"}.get(kind, next(letters["d"])) + type_of
        text = text.upper() if kind == "D" else text
    elif kind in "aAtT":
        text = "[t, c]" if kind in "tT" else "[" + next(letters["s"]) + "]"
    elif kind == "B":
        text = "({0}:u64|[{0}])".format(next(letters["s"]))
    elif kind in "hm":
        return "{, %s}" % ("h" if kind == "h" else "mask")
    elif kind == "p":
        text = next(letters["p"])
    elif kind == "l":
        text = "label"
    elif kind in "iIk":
        text = "imm" + (" " + re.sub(r"-", "..", name) if name else "") + (" (1 or -1)" if kind == "k" else "")
    elif kind == "c":
        text = "{" + next(letters["s"]) + "}"
    elif kind in "QU":
        text = next(letters["d" if kind == "Q" else "s"]) + "{.bN|.hN}"
    elif kind in "qe":
        text = next(letters["s"])
    else:
        text = next(letters["s"]) + type_of
        text = text.upper() if kind in "SC" and not type_of else text
    if limit and "/" in limit:
        text += " (powers of two, %s..%s)" % tuple(reversed(limit[1:].split("/")))
    elif limit:
        text += " (0..%s)" % limit.lstrip("<").replace(",", ", 0..")
    if multiple == "%+1":
        text += " (not 0)"
    elif multiple:
        text += " (times %s%s)" % (multiple.lstrip("%+"), ", not 0" if "+" in multiple else "")
    vector = re.search(r"\*(\w+)", rest)
    if vector and kind not in "tT":
        times, letter = re.match(r"(\d*)(\w?)", vector[1]).groups()
        size = VECTORS[letter] if letter else times
        text = "{%s}*%s" % (text, size if not times or not letter else times + " " + size)
    if "|" in rest or "&" in rest:
        text += "{|p}" if "|" in rest else "|p"
    if "_" in rest:
        text = "(%s|_)" % text
    return "{, %s}" % text if role.endswith("?") else text


def show_operands(roles):
    letters = {"d": iter(["d", "d2"]), "s": iter("abcefgijk"), "p": iter("pqr")}
    shown = ""
    for role in roles.split():
        text = show_role(role, letters)
        shown += text if text.startswith("{, ") or not shown else ", " + text
    return re.sub(r"^\{, (.*?)\}", r"{\1}", shown)


def version(number):
    return "%d.%d" % divmod(int(number), 10)


def note_of(table, number):
    return "(%s)" % "abcdefghijklmnopqrstuvwxyz"[list(table.targets).index(number)]


def target(table, number):
    if number in table.targets:
        return table.targets[number].split()[0] + note_of(table, number)
    return "sm_" + number[:-1] + {"8": "!", "9": "!"}.get(number[-1], "")


def show_form(table, name, form, mark):
    modifiers, roles, since, chip = form
    head = " %3s  %-10s %s  " % (version(since), target(table, chip), mark)
    lines, line = [], head + name
    for word in [show_group(group) for group in modifiers.split()]:
        while len(line + word) > WIDTH:
            room = WIDTH - len(line)
            cut = word.rfind("|", 0, room) + 1
            if cut == 0 and line.strip():
                lines.append(line)
                line = " " * (len(head) + 4)
                continue
            lines.append(line + word[:cut])
            word, line = word[cut:], " " * (len(head) + 4)
        line += word
    operands = show_operands(roles)
    if operands and len(line) + 2 + len(operands) > WIDTH:
        lines.append(line)
        line = " " * (len(head) + 2)
    while len(line) + 2 + len(operands) > WIDTH:
        cut = operands.rindex(", ", 0, WIDTH - len(line) - 2) + 2
        lines.append((line + "  " + operands[:cut]).rstrip())
        operands = operands[cut:]
    return lines + [(line + ("  " + operands if operands else "")).rstrip()]


def show_needs(table, op):
    """What modifiers need beyond the forms, as sentences."""
    words = {word for form in table.forms.get(op, ()) for group, _ in table.groups(form[0]) for word in group}
    own = {modifiers for of, modifiers, _, _ in table.needs if of == op}
    parts = []
    for of, modifiers, since, chip in table.needs:
        groups = [[word for word in group.split("|") if word in words] for group in modifiers.split()]
        if (of != op and (of != "ANY" or modifiers in own)) or not all(groups):
            continue
        need = ([f"PTX ISA {version(since)}"] if since != "0" else []) + ([target(table, chip)] if chip != "0" else [])
        parts.append(" with ".join(", ".join(f"`.{word}`" for word in group) for group in groups) + ": " + ", ".join(need))
    return parts


def wrap(text):
    lines, line = [], ""
    for word in text.split(" "):
        if line and len(line) + 1 + len(word) > WIDTH - 2:
            lines.append(line)
            line = word
        else:
            line += (" " if line else "") + word
    return lines + [line]


# ---- the page ----

def chapter_of(name):
    found = [title for title, names in CHAPTERS if name in names.split()]
    return found or [title for title, names in CHAPTERS if name.split(".")[0] in names.split()]


def show_instruction(table, entry, marks):
    op, name, control, memory = entry
    forms = table.forms.get(op, [])
    effects = [text for text in (MEMORY.get(memory), CONTROL.get(control)) if text]
    lines = [f"### {name}", ""]
    if effects:
        lines += [effects[0].capitalize() + "".join("; " + text for text in effects[1:]) + ".", ""]
    if not forms:
        return lines + ["The check holds it against the function that it calls.", ""]
    lines.append("```text")
    for form in forms:
        lines += show_form(table, name, form, marks.get(id(form), "-"))
    lines += ["```", ""]
    for need in show_needs(table, op):
        part = wrap("- " + need)
        lines += [part[0]] + ["  " + more for more in part[1:]]
    return lines + ([""] if lines[-1] else [])


def make_page():
    table = Table()
    marks = find_marks(table)
    signs = list(marks.values())
    entries = [entry for entry in table.names if entry[0] not in table.families]
    homeless = [entry[1] for entry in entries if len(chapter_of(entry[1])) != 1]
    if homeless:
        sys.exit("a chapter of CHAPTERS must have " + ", ".join(homeless))
    lines = HEAD.format(instructions=len(entries), forms=sum(map(len, table.forms.values())),
                        executed=signs.count("+"), partly=signs.count("~")).splitlines()
    body = []
    for title, _ in CHAPTERS:
        own = [entry for entry in entries if chapter_of(entry[1]) == [title]]
        anchor = re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
        links = ", ".join("[%s](#%s)" % (name, re.sub(r"[^\w-]", "", name)) for _, name, _, _ in own)
        part = wrap(f"- [{title}](#{anchor}): {links}")
        lines += [part[0]] + ["  " + more for more in part[1:]]
        body += [f"## {title}", ""]
        for entry in own:
            body += show_instruction(table, entry, marks)
    lines += ["- [Alternatives](#alternatives), [targets](#targets)", ""] + body
    lines += ["## Alternatives", ""]
    for name, alternatives in table.sets.items():
        part = wrap(f"- `.@{name}`: " + ", ".join(f"`.{word}`" for word in alternatives.split("|")))
        lines += [part[0]] + ["  " + more for more in part[1:]]
    lines += ["", "## Targets", "", "A target stands for itself and all later ones; with a letter behind it, for these alone:", ""]
    for number, names in table.targets.items():
        part = wrap(f"- {note_of(table, number)} " + ", ".join(f"`{name}`" for name in names.split()))
        lines += [part[0]] + ["  " + more for more in part[1:]]
    lines += ["", "With a `!` the form is gone: since PTX ISA 1.4, 3.2 on sm_20 and later (`mad`), 6.5 (`wmma`), or",
              "6.4 on sm_70 and later."]
    return "\n".join(lines) + "\n"


sys.stdout.reconfigure(encoding="utf-8")
sys.stdout.write(make_page())
