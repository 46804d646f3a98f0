"""Spells forms of src/ptx/isa/forms.def as instructions, and asks ptxas about instructions, for forms.py and instruction_needs.py.

They stand in the frame tests/golden/instructions.frame, which declares a register of each type, a variable in each state space, and
a label."""
import os
import re
import subprocess
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
WIDER = {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}
DECLARED = {"bf16": "b16", "bf16x2": "b32", "u16x2": "b32", "s16x2": "b32", "f32x2": "b64", "tf32": "b32"}
TYPES = ("u8 s8 b8 u16 s16 b16 u32 s32 b32 u64 s64 b64 b128 f16 f16x2 bf16 bf16x2 f32 f64 f32x2 pred u16x2 s16x2 tf32 "
         "e4m3x2 e5m2x2 e2m3x2 e3m2x2 e2m1x2 ue8m0x2 e4m3 e5m2 e2m3 e3m2 e2m1 u4 s4 u2 s2 b1 ue8m0 ue4m3 b1024 e4m3x4 e5m2x4 "
         "e2m3x4 e3m2x4 e2m1x4 b8x16 b6x16_p32 b4x16_p64").split()
# The targets of the sample by what forms.def says of a form's target, and by the words of those for which it says a later one.
TARGETS = {"1001": "sm_100a", "1003": "sm_100a", "1004": "sm_100a", "1005": "sm_100a", "1006": "sm_100a", "1011": "sm_100a", "1012": "sm_100a", "1000": "sm_100a", "1031": "sm_103a",
           "1032": "sm_103a", "1002": "sm_120a", "1201": "sm_120a"}
COORDINATES = {"1d": 1, "2d": 2, "3d": 4, "a1d": 2, "a2d": 4, "cube": 4, "acube": 4, "2dms": 4, "a2dms": 4}
IMMEDIATES = {"applypriority": "128", "discard": "128", "setmaxnreg": "32"}


class Form(tuple):
    """(name, groups of modifiers, roles), and the target to ask about it."""

    def __new__(cls, parts, target):
        form = tuple.__new__(cls, parts)
        form.target = target
        return form


def read_table():
    names = dict(re.findall(r'^GD_OP\((\w+), "([^"]+)"', open(ROOT + "/src/ptx/text/ops.def").read(), re.M))
    text = re.sub(r'"\n *"', "", open(ROOT + "/src/ptx/isa/forms.def").read())
    sets = dict(re.findall(r'^GD_SET\("(\w+)",\s*"([^"]*)"\)', text, re.M))
    forms = []
    for op, modifiers, operands, target in re.findall(r'^GD_FORM\((\w+),\s*"([^"]*)",\s*"([^"]*)",\s*\d+,\s*(\d+)', text, re.M):
        groups = []
        for group in modifiers.split():
            words = re.sub(r"@(\w+)", lambda match: sets[match[1]], group.rstrip("?!")).split("|")
            groups.append(words + [""] if group.endswith("?") else words)
        forms.append(Form((names[op], groups, operands.split()), TARGETS.get(target, "sm_90a")))
    return forms


def register(kind, number):
    return "%%%s_%d" % (DECLARED.get(kind, kind), number)


def spell_operand(role, types, modifiers, number, op):
    kind, index, wide, name, pair, vector = re.match(
        r"(\w)(\d?)(w?)(?:\.([\w/-]+))?(?:==?|~)?#?(?:<<?\d+(?:[,/]\d+)?)?(?:%\+?\d+)?([|&]?)(?:\*(\w+))?[:!{]*_?\??$", role.replace("_?", "").rstrip("_?")).groups()
    of = types[int(index) - 1] if index else name
    of = WIDER[of] if wide else of
    if kind in "aABl":
        return {"a": "[%u64_9]", "B": "[%b32_9]" if "cta_group::2" in modifiers else register("u64", number), "A": "[%b32_9]", "l": "targets" if op == "brx.idx" else "label"}[kind]
    if kind == "n" or (kind in "iI" and name):
        return "_" if kind == "n" else re.split("[-/]", name)[-1]
    if kind == "c":
        count = next(COORDINATES[word.lstrip("a")] for word in modifiers if word in COORDINATES)
        return "{" + ", ".join(register("f32", i) for i in range(count)) + "}"
    if kind == "o":
        return register(types[-1], 9)
    if kind == "e":
        return "%f32_9"
    if kind in "hmpiqkQUVW":
        return {"h": "%b64_7", "m": "%u16_7", "p": "%pred_5", "i": IMMEDIATES.get(op, "16"), "q": "%b32_9", "k": "-1", "Q": "%u32_8", "U": "%s32_7", "V": "%s32_7", "W": "%s32_7"}[kind]
    size = next((int(word[1]) for word in modifiers if kind == "z" and re.fullmatch(r"v\d", word)), 0)
    if vector:
        times, letter = re.match(r"(\d*)(\w?)", vector).groups()
        matched = lambda pattern: next((int(word[1]) for word in (re.fullmatch(pattern, word) for word in modifiers) if word), 0)
        size = int(times or 1) * {"": lambda: 1, "V": lambda: matched(r"v(\d+)"), "X": lambda: matched(r"x(\d+)"),
                                  "W": lambda: matched(r"m\d+n(\d+)k\d+") // 2, "H": lambda: matched(r"m\d+n(\d+)k\d+") // 4,
                                  "D": lambda: matched(r"(\d)d"), "I": lambda: matched(r"(\d)d") - 2}[letter]()
    if kind == "T":
        count = next(COORDINATES[word] for word in modifiers if word in COORDINATES)
        of = types[-1] if op in ("tex", "tld4") else "s32"
        array = any(word in COORDINATES and word[0] == "a" for word in modifiers)
        return "[%u64_9, {" + ", ".join(register("u32" if array and not i else of, i) for i in range(count)) + "}]"
    elements = "{" + ", ".join(register(of, (number + i) % 20) for i in range(size)) + "}" if size else ""
    if kind == "t":
        return "[%u64_9, " + elements + "]"
    return (elements or register(of, number)) + ("|%%pred_%d" % (number + 1) if pair == "&" else "")


def spell(form, chance, optional=0):
    """One instruction of a form, whose operands that may be left out are there as often as `optional` says."""
    op, groups, roles = form
    modifiers = [word for word in (chance.choice(group) for group in groups) if word]
    types = [word for word in modifiers if word in TYPES]
    present = [role for role in roles if (not role.endswith("?") or (optional and chance.random() < optional)) and
               (role != "h" or "L2::cache_hint" in modifiers) and (role != "m" or "multicast::cluster" in modifiers)]
    operands = [spell_operand(role, types, modifiers, 3 * i + 1, op) for i, role in enumerate(present)]
    return op, modifiers, operands


def write(op, modifiers, operands):
    return (op + "".join("." + word for word in modifiers) + (" " + ", ".join(operands) if operands else "")) + ";"


def ask_once(ptxas, frame, lines):
    """What ptxas says: by line, its words; None where it crashes."""
    target = re.search(r"\.target (\S+)", frame)[1]
    head = frame.index("@")
    first = frame[:head].count("\n") + 1
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/a.ptx", "w") as file:
            file.write(frame[:head] + "\n".join(lines) + frame[head + 1:])
        try:
            run = subprocess.run([ptxas, "-arch=" + target, folder + "/a.ptx", "-o", folder + "/a"], capture_output=True, text=True, timeout=20)
        except subprocess.TimeoutExpired:  # some lines keep it busy for ever
            return None
    said = re.findall(r"line (\d+); ((?:error|fatal) *: .*)", run.stdout + run.stderr)
    return None if run.returncode not in (0, 255) or (run.returncode and not said) else {int(line) - first: " ".join(w for l, w in said if l == line) for line, _ in said}


def is_left_out(line, words):
    """Whether an error is one of syntax, or of the instruction that this chip has in place of the line's."""
    other = re.search(r"not allowed for instruction '([a-z]+)", words)
    return "Parsing error" in words or (other and not line.startswith(other[1]))


def ask(ptxas, frame, lines):
    """For each line '+', '-', or None: what is left out, or a line that crashes ptxas. What is fatal ends its look at the text."""
    said = ask_once(ptxas, frame, lines)
    if said is None:
        middle = len(lines) // 2
        return ask(ptxas, frame, lines[:middle]) + ask(ptxas, frame, lines[middle:]) if middle else [None]
    verdicts = ["+" if number not in said else None if is_left_out(lines[number], said[number]) else "-" for number in range(len(lines))]
    taken = [i for i, verdict in enumerate(verdicts) if verdict == "+"]
    if 0 < len(taken) < len(lines): # some errors hide others
        for i, verdict in zip(taken, ask(ptxas, frame, [lines[i] for i in taken])):
            verdicts[i] = verdict
    return verdicts
