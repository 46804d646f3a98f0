#!/usr/bin/env python3
"""Whole texts with one mistake each: does the check refuse what ptxas refuses, and take what ptxas takes?

    tests/fuzz/texts.py [--count N] [--seed N] [--griddep PATH] [--ptxas PATH] [--show N] FILE.ptx...
    tests/fuzz/texts.py --record [--count N] tests/golden/texts/*.ptx > tests/golden/texts.txt

changes one line of a text at random (letters, types, operands, modifiers, registers, numbers, addresses, labels, guards, directives;
a line dropped or written twice), asks ptxas and `griddep check`, and prints how often they agree, by kind of change. With --count 0 the
files are asked about as they are. False alarms (the check refuses what ptxas takes) are always shown, of what the check misses the first
--show. --record writes the sample that tests/unit/test_check replays: "# FILE", then for each change '+' or '-', the line's
number, and the line as it became. What crashes ptxas is left out."""
import argparse
import collections
import json
import os
import random
import re
import subprocess
import tempfile

WORD = re.compile(r"[%$._A-Za-z0-9:]+")
TYPES = ".u8 .s8 .b8 .u16 .s16 .b16 .u32 .s32 .b32 .u64 .s64 .b64 .f16 .f16x2 .f32 .f64 .pred .bf16 .b128".split()
SPACES = ".global .shared .local .const .param .reg .shared::cluster".split()
MODIFIERS = (".rn .rz .sat .ftz .lo .hi .wide .cc .v2 .v4 .sync .aligned .relaxed .gpu .cta .volatile .to .approx .uni .nc .trans "
             ".x2 .L1::no_allocate .L2::cache_hint .eq .and").split()
NUMBERS = ["0", "1", "-1", "3", "255", "65536", "4294967296", "1.5", "0f3F800000", "0d3FF0000000000000", "0x1FFFFFFFFF", "-2147483649"]
DIRECTIVES = ["version 3.1", "version 9.9", "version 6.0", "version 7.0", "target sm_50", "target sm_70", "target sm_80", "target sm_9",
              "target sm_90", "target sm_100a", "address_size 32"]
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def letter(line, chance):
    at = [i for i, c in enumerate(line) if c.isalpha()]
    i = chance.choice(at)
    return line[:i] + chance.choice(LETTERS) + line[i + 1:]


def swap_word(line, chance, pattern, choices):
    found = list(re.finditer(pattern, line))
    if not found:
        return line
    word = chance.choice(found)
    return line[:word.start()] + chance.choice(choices) + line[word.end():]


def split(line):
    """What stands before the operands, the operands, what stands behind them."""
    match = re.match(r"(\s*(?:@!?\S+\s+)?[a-z][\w.:]*\s*)(.*?)(;.*)$", line)
    if not match:
        return None
    parts, depth, last = [], 0, ""
    for c in match[2]:
        depth += c in "([{"
        depth -= c in ")]}"
        if c == "," and depth == 0:
            parts.append(last.strip())
            last = ""
        else:
            last += c
    if last.strip():
        parts.append(last.strip())
    return match[1], parts, match[3]


def change(kind, lines, at, registers, chance):
    line = lines[at]
    parts = split(line)
    if kind == "letter":
        return letter(line, chance) if re.search("[a-z]", line) else line
    if kind == "drop line":
        return ""
    if kind == "line twice":
        return line + " " + line.strip()
    if kind == "type":
        return swap_word(line, chance, r"\.[usbf](?:8|16|32|64)\b(?:x2)?|\.pred\b", TYPES)
    if kind == "space":
        return swap_word(line, chance, r"\.(?:global|shared|local|const|param|reg)\b", SPACES)
    if kind == "register":
        return swap_word(line, chance, r"%[A-Za-z_]\w*", registers)
    if kind == "undeclared":
        return swap_word(line, chance, r"(?<=%)[A-Za-z]+(?=\d)", ["zz", "p", "r", "f"])
    if kind == "number":
        return swap_word(line, chance, r"(?<![\w%$.])-?\d[\w.]*", NUMBERS)
    if kind == "label":
        return swap_word(line, chance, r"\$\w+|\b[A-Za-z_]\w*(?=:)", ["nowhere", "$L__BB0_1", "%r1"])
    if kind == "directive" and re.match(r"\.(version|target|address_size)", line):
        return "." + chance.choice(DIRECTIVES)
    if kind == "directive" and re.match(r"\s*\.", line):
        return swap_word(line, chance, r"\.[a-z]\w*", [".visible", ".align 3", ".weak", ".maxntid 0", ".foo", ".entry", ".func", ".v3", ".v4"])
    if kind == "punctuation":
        return swap_word(line, chance, r"[,;()\[\]{}:+<>|=@!]", list(",;()[]{}") + [""])
    if not parts or line.strip().startswith("."):
        return line
    head, operands, tail = parts
    if kind == "drop modifier":
        return swap_word(head, chance, r"\.[\w:]+", [""]) + ", ".join(operands) + tail
    if kind == "add modifier":
        dots = [m.start() for m in re.finditer(r"\.|(?<=[\w])(?=\s*$)", head)]
        if not dots:
            return line
        i = chance.choice(dots)
        return head[:i] + chance.choice(MODIFIERS + TYPES + SPACES) + head[i:] + " " + ", ".join(operands) + tail
    if kind == "guard":
        return head[:len(head) - len(head.lstrip())] + "@" + chance.choice(registers) + " " + line.strip()
    if not operands:
        return line
    i = chance.randrange(len(operands))
    if kind == "drop operand":
        operands.pop(i)
    elif kind == "add operand":
        operands.insert(i, chance.choice(registers + NUMBERS[:4] + ["_"]))
    elif kind == "shuffle":
        chance.shuffle(operands)
    elif kind == "operand":
        operands[i] = chance.choice(registers + NUMBERS + ["_", "[%s]" % chance.choice(registers), "nothing", "%tid.x",
                                                           "{%s, %s}" % (chance.choice(registers), chance.choice(registers))])
    elif kind == "negate":
        operands[i] = chance.choice("-!") + operands[i]
    elif kind == "offset":
        operands[i] = operands[i].replace("]", "+4]", 1) if "]" in operands[i] else operands[i] + "+4"
    elif kind == "brackets":
        operands[i] = operands[i].strip("[]{}") if operands[i][0] in "[{" else chance.choice(["[%s]", "{%s}", "(%s)"]) % operands[i]
    return head + ", ".join(operands) + tail


KINDS = ["letter", "drop line", "line twice", "type", "space", "register", "undeclared", "number", "label", "directive", "punctuation",
         "drop modifier", "add modifier", "guard", "drop operand", "add operand", "shuffle", "operand", "negate", "offset", "brackets"]


def mutate(path, text, chance):
    lines = text.split("\n")
    registers = sorted(set(re.findall(r"%[A-Za-z_]\w*(?:\.[xyz])?", text)))[:400] or ["%r1"]
    code = [i for i, line in enumerate(lines) if line.strip() and not re.match(r"\s*(//|\.b\d+ |\$L__)", line)]
    head = [i for i in code if lines[i].startswith(".") or ".reg" in lines[i] or ".param" in lines[i]]
    while True:
        kind = chance.choice(KINDS)
        at = chance.choice(head if kind in ("directive", "drop line", "line twice") and chance.random() < 0.5 else code)
        comment = re.search(r"//.*", lines[at])
        new = change(kind, [line.split("//")[0] for line in lines], at, registers, chance)
        if new != lines[at] and new != lines[at][:comment.start() if comment else None]:
            return kind, at, new, "\n".join(lines[:at] + [new] + lines[at + 1:])


def ask_ptxas(ptxas, path, text):
    """'+', '-', or None for a crash; and the line."""
    target = re.search(r"^\s*\.target\s+sm_(\d+)([af]?)", text, re.M)
    arch = "sm_%d%s" % (max(75, int(target[1])), target[2]) if target else "sm_90"
    run = subprocess.run([ptxas, "-O0", "-c", "-arch=" + arch, path, "-o", "/dev/null"], capture_output=True, text=True, errors="replace")
    said = run.stdout + run.stderr
    if run.returncode not in (0, 255) or "Internal error" in said or "is not defined for option" in said:
        return None, 0
    found = re.search(r"line (\d+); (?:error|fatal)", said)
    return ("+" if run.returncode == 0 else "-"), int(found[1]) if found else 0


def ask_griddep(griddep, paths):
    run = subprocess.run([griddep, "check", "--json"] + paths, capture_output=True, text=True)
    findings = collections.defaultdict(list)
    for finding in json.loads(run.stdout)["findings"]:
        if finding["severity"] == "error" and (finding["code"] < "GD1" or finding["code"] in ("GD101", "GD102")):
            findings[finding["file"]].append(finding)
    return findings


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--count", type=int, default=1000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--show", type=int, default=20)
    options.add_argument("--griddep", default="griddep")
    options.add_argument("--ptxas", default="/usr/local/cuda/bin/ptxas")
    options.add_argument("--record", action="store_true")
    options.add_argument("files", nargs="+")
    options = options.parse_args()
    chance = random.Random(options.seed)
    texts = {path: open(path, errors="replace").read() for path in options.files}
    cases = [("as it is", path, 0, "", text) for path, text in texts.items()] if options.count == 0 else []
    while len(cases) < options.count:
        path = chance.choice(options.files)
        kind, at, new, text = mutate(path, texts[path], chance)
        cases.append((kind, path, at + 1, new, text))
    table = collections.defaultdict(collections.Counter)
    sample = collections.defaultdict(dict)
    near = told = shown = 0
    with tempfile.TemporaryDirectory() as folder:
        for start in range(0, len(cases), 100):
            part = cases[start:start + 100]
            paths = ["%s/%d.ptx" % (folder, i) for i in range(len(part))]
            for path, case in zip(paths, part):
                with open(path, "w") as file:
                    file.write(case[4])
            findings = {} if options.record else ask_griddep(options.griddep, paths)
            for path, (kind, origin, at, new, text) in zip(paths, part):
                verdict, line = ask_ptxas(options.ptxas, path, text)
                if verdict is None:
                    continue
                if options.record:
                    if "\r" not in new:
                        sample[origin][(at, new)] = verdict
                    continue
                mine = findings.get(path, [])
                table[kind][verdict, "-" if mine else "+"] += 1
                if verdict == "-" and mine:
                    told += 1
                    near += line in (0, mine[0]["line"])
                if verdict == "+" and mine:
                    print("FALSE ALARM %s:%d: %s\n    %s\n    %s:%d %s" % (origin, at, kind, new, mine[0]["code"], mine[0]["line"], mine[0]["text"]))
                if verdict == "-" and not mine and shown < options.show:
                    shown += 1
                    words = subprocess.run([options.ptxas, "-O0", "-arch=sm_90a", path, "-o", "/dev/null"], capture_output=True, text=True).stderr
                    print("missed %s:%d: %s\n    %s\n    %s" % (origin, at, kind, new.strip(), words.split("\n")[0][:200]))
    for origin, lines in sample.items():
        print("# " + os.path.basename(origin))
        for (at, new), verdict in sorted(lines.items()):
            print(verdict, at, new)
    if options.record:
        return
    total = collections.Counter()
    print("%-16s %8s %8s %8s %8s" % ("kind", "refused", "told", "taken", "alarms"))
    for kind, counts in sorted(table.items()) + [("all", total)]:
        print("%-16s %8d %8d %8d %8d" % (kind, counts["-", "-"] + counts["-", "+"], counts["-", "-"],
                                         counts["+", "+"] + counts["+", "-"], counts["+", "-"]))
        if kind != "all":
            total.update(counts)
    if told:
        print("the first finding is in ptxas's line in %d of %d" % (near, told))


main()
