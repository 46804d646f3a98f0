#!/usr/bin/env python3
"""Whole texts with one mistake each: does the check refuse what ptxas refuses, and take what ptxas takes?

    tests/fuzz/texts.py [--count N] [--seed N] [--jobs N] [--kind KIND]... [--griddep PATH] [--ptxas PATH]
                        [--cache FILE] [--show N] [--lines N] [--many N] FILE.ptx...
    tests/fuzz/texts.py --record [--count N] tests/golden/texts/*.ptx > tests/golden/texts.txt

changes one line of a text at random (KINDS below), asks ptxas and `griddep check`, and prints how often they agree, by kind of change:
texts that ptxas refuses, those of them that the check tells and misses, those that ptxas takes, false alarms, told texts whose first
finding stands in the line that ptxas names, and findings a told text. With --count 0 the files are asked about as they are.
False alarms (the check refuses what ptxas takes) are always shown, of what the check misses and of other lines the first --show.
Files that ptxas refuses as they are are left out. --lines shows of those whose line differs, --many of those with more than three
findings. --cache keeps what ptxas says: a second run with the same seed asks the check alone.

--record writes the sample that tests/emulator/test_texts.c replays: "# FILE", then for each change '+' or '-', the
number of the changed line, the line that ptxas names ('.' for the changed one), and the changed line. What crashes ptxas is left out."""
import argparse
import collections
import concurrent.futures
import hashlib
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
NUMBERS = ["0", "1", "-1", "3", "255", "65536", "4294967296", "1.5", "0f3F800000", "0d3FF0000000000000", "0x1FFFFFFFFF", "-2147483649",
           "-1.5", "-0d3FF0000000000000", "-0f3F800000"]
SPECIALS = ["%tid.x", "%ntid", "%laneid", "%clock64", "%gridid", "%lanemask_lt", "%is_explicit_cluster", "%ctaid.w", "%tid.b0", "%reserved_smem_offset_1", "%envreg3", "WARP_SZ"]
SECTION = ["300", "-1", "65536", "1.5", "", ",", ";", ".b8", ".b16", ".u32", ".b64", "1+1", "nowhere", "{", "1 2", ", ,", "add", "-300", "0x1", "4294967296"]
CHARACTERS = "abrx0159.,;:[]{}()<>+-*/%$_@!|\\\"'#~^&? \t\v\x1a"
TOKEN = re.compile(r"[%$._A-Za-z0-9:]+|[^\s%$._A-Za-z0-9:]")
DIRECTIVES = ["version 3.1", "version 9.9", "version 6.0", "version 7.0", "target sm_50", "target sm_70", "target sm_80", "target sm_9",
              "target sm_90", "target sm_100a", "address_size 32"]
COMPARISONS = ".eq .ne .lt .ge .equ .ltu .num .lo .hs .and .or .xor".split()
DECLARATIONS = [".align 3", ".align 256", ".align 8", ".v4", ".v8", ".visible", ".extern", ".b128", ".pred", ".const", ".shared", "[]", "[0]", "[70000]", "<5>"]
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


def change(kind, lines, at, registers, names, opcodes, chance):
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
    if kind == "order" and parts:
        guard, name, modifiers, blank = re.match(r"(\s*(?:@!?\S+\s+)?)([a-z]\w*)((?:\.[\w:]+)*)(\s*)$", parts[0]).groups()
        words = re.findall(r"\.[\w:]+", modifiers)
        if len(words) < 2:
            return line
        words.insert(chance.randrange(len(words)), words.pop(chance.randrange(len(words))))
        return guard + name + "".join(words) + blank + ", ".join(parts[1]) + parts[2]
    if kind == "gap" and parts:
        return swap_word(line, chance, r"(?<=[a-z0-9])(?=\.[a-z])", [" ", "\t", "/**/", " /* x */ ", "\f"])
    if kind == "section" and re.match(r"\s*\.b\d+\s", line):
        return swap_word(line, chance, r"\.b\d+|\d+|,|[A-Za-z_$]\w*|(?<=\d)(?= |$)", SECTION)
    if kind == "character" and line:
        i = chance.randrange(len(line))
        return line[:i] + chance.choice(["", chance.choice(CHARACTERS), chance.choice(CHARACTERS) + line[i]]) + line[i + 1:]
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
    if kind == "declaration" and re.match(r"\s*(\.|\()", line):
        return swap_word(line, chance, r"\.align \d+|\.[a-z]\w*|\[\d*\]|<\d+>|(?<= )(?=\.)", DECLARATIONS + TYPES + SPACES)
    if kind == "opcode" and parts:
        return swap_word(line, chance, r"(?<=\s)[a-z]\w*(?=[.\s;])", opcodes)
    if kind == "call":
        calls = [i for i, one in enumerate(lines) if "call" in one]
        return swap_word(line, chance, r"param\d+|retval\d*|_param_\d+|\b\d+\b|\.[bfsu]\d+", ["param0", "param1", "retval0", "1", "8", ".b32", ".b64", ".f32", "%r1"]) \
            if any(abs(i - at) < 12 for i in calls) else line
    if kind == "vector":
        return swap_word(line, chance, r"\.v[248]|\{[^{}]*\}|,[^,{}]*(?=\})", ["", ".v2", ".v4", ".v8", "{%s}" % chance.choice(registers),
                                                                             "{%s, %s}" % (chance.choice(registers), chance.choice(registers)), ", " + chance.choice(registers)])
    if kind == "predicate":
        return swap_word(line, chance, r"@!?%\w+|%p\d+|\.(?:eq|ne|lt|le|gt|ge|and|or|xor)\b", COMPARISONS + registers + ["@%p1", "%p1|%p2", "!%p1"])
    if kind == "address":
        return swap_word(line, chance, r"\[[^\]]*\]", ["[%s]" % chance.choice(registers), "[%s+4]" % chance.choice(registers), "[%s+-3]" % chance.choice(registers),
                                                   "[0]", "[nothing]", "[%s]" % chance.choice(names), "[%s+8]" % chance.choice(names), "[%r1, 4]", chance.choice(registers)])
    if kind in ("token twice", "tokens swapped"):
        found = list(TOKEN.finditer(line))
        if len(found) < 2:
            return line
        i = chance.randrange(len(found) - 1)
        one, other = found[i], found[i + 1]
        if kind == "token twice":
            return line[:one.end()] + " " + line[one.start():]
        return line[:one.start()] + other[0] + line[one.end():other.start()] + one[0] + line[other.end():]
    if kind == "special":
        return swap_word(line, chance, r"(?<=[\s,{\[(])%[A-Za-z_]\w*(?:\.\w+)?", SPECIALS)
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


KINDS = ["letter", "drop line", "line twice", "type", "space", "register", "undeclared", "number", "label", "directive", "declaration", "punctuation",
         "opcode", "call", "vector", "predicate", "address", "drop modifier", "add modifier", "guard", "drop operand", "add operand", "shuffle",
         "operand", "negate", "offset", "brackets", "token twice", "tokens swapped", "special", "order", "gap", "section", "character"]


def mutate(text, kinds, chance):
    lines = text.split("\n")
    names = sorted(set(re.findall(r"(?<=[\s*])[A-Za-z_$][\w$]*(?=\s*[\[;,(])", text)))[:400] or ["nothing"]
    opcodes = sorted(set(re.findall(r"^\s+(?:@\S+\s+)?([a-z]\w*)(?=[.\s;])", text, re.M))) or ["add"]
    registers = sorted(set(re.findall(r"%[A-Za-z_]\w*(?:\.[xyz])?", text)))[:400] or ["%r1"]
    code = [i for i, line in enumerate(lines) if line.strip() and not re.match(r"\s*(//|\.b\d+ |\$L__)", line)]
    head = [i for i in code if lines[i].startswith(".") or ".reg" in lines[i] or ".param" in lines[i]]
    kind, tries = chance.choice(kinds), 0
    while True:
        near = [i for i, line in enumerate(lines) if kind == "section" and re.match(r"\s*\.b\d+\s", line)]
        near += [i for i in code if kind == "call" and any("call" in line for line in lines[max(0, i - 12):i + 12])]
        at = chance.choice(near or (head if kind == "declaration" or (kind in ("directive", "drop line", "line twice") and chance.random() < 0.5) else code) or code)
        comment = re.search(r"//.*", lines[at])
        new = change(kind, [line.split("//")[0] for line in lines], at, registers, names, opcodes, chance)
        if new != lines[at] and new != lines[at][:comment.start() if comment else None]:
            return kind, at, new, "\n".join(lines[:at] + [new] + lines[at + 1:])
        tries += 1
        if tries % 100 == 0: # a text may have nothing of a kind
            kind = chance.choice(KINDS)


class Answers:
    """What ptxas said of texts, in memory and, with a path, in a file: a digest of the text and JSON on each line."""

    def __init__(self, ptxas, path):
        self.ptxas, self.said, self.file = ptxas, {}, open(path, "a+") if path else None
        self.version = subprocess.run([ptxas, "--version"], capture_output=True, text=True).stdout
        if path:
            self.file.seek(0)
            self.said = {line[:64]: json.loads(line[65:]) for line in self.file if line.endswith("\n")}

    def ask(self, path, text):
        key = hashlib.sha256((self.version + text).encode()).hexdigest()
        if key not in self.said:
            self.said[key] = ask_ptxas(self.ptxas, path, text)
            if self.file:
                self.file.write("%s %s\n" % (key, json.dumps(self.said[key])))
                self.file.flush()
        return self.said[key]


def ask_ptxas(ptxas, path, text):
    """'+', '-', or None where it says nothing; the line, 0 where it names none; its words."""
    heads = re.findall(r"^\s*\.target\s+([^\n]*)", text, re.M)
    targets = list(re.finditer(r"\bsm_(\d+)([af]?)", " ".join(heads)))
    target = targets[-1] if targets else None # ptxas goes by the last one
    arch = "sm_%d%s" % (max(75, int(target[1])), target[2]) if target else "sm_90"
    for extra in ([], ["-c"]): # what another text defines is no mistake
        try:
            run = subprocess.run([ptxas, "-O0", *extra, "-arch=" + arch, path, "-o", "/dev/null"], capture_output=True, text=True,
                                 errors="replace", timeout=60)
        except subprocess.TimeoutExpired: # an array of many gigabytes
            return None, 0, ""
        said = run.stdout + run.stderr
        if "Unresolved extern" not in said:
            break
    if run.returncode not in (0, 255) or "Internal error" in said or "is not defined for option" in said or "'Compile only(-c)'" in said or "higher than default" in said or "Unsupported .version" in said:
        return None, 0, ""
    found = re.search(r"^(?!.*<builtin>).*line (\d+); (?:error|fatal).*", said, re.M) # the lines of its own texts name nothing of ours
    words = found or re.search(r".*(?:error|fatal).*", said)
    return ("+" if run.returncode == 0 else "-"), int(found[1]) if found else 0, words[0].split("ptxas ")[-1][:200] if words else ""


def ask_griddep(griddep, paths):
    run = subprocess.run([griddep, "check", "--json"] + paths, capture_output=True, text=True)
    findings = collections.defaultdict(list)
    for finding in json.loads(run.stdout)["findings"]:
        if finding["severity"] == "error" and (finding["code"] < "GD1" or finding["code"] in ("GD101", "GD102")):
            findings[finding["file"]].append(finding)
    return findings


def show(what, case, words):
    kind, origin, at, new, _ = case
    print("%s %s:%d: %s\n    %s\n    %s" % (what, origin, at, kind, new.strip(), words))


def count(case, judged, mine, table, options):
    """One text in the table; shown where the two differ."""
    kind, at = case[0], case[2]
    verdict, line, words = judged
    told = [finding["line"] for finding in mine]
    row = table[kind]
    row["refused" if verdict == "-" else "taken"] += 1
    if verdict == "+" and mine:
        row["alarms"] += 1
        show("FALSE ALARM", case, "%s:%d %s" % (mine[0]["code"], told[0], mine[0]["text"]))
    elif verdict == "-" and not mine:
        row["missed"] += 1
        if options.show > 0:
            options.show -= 1
            show("missed", case, words)
    elif verdict == "-":
        row["told"] += 1
        row["line"] += line in (0, told[0])
        row["findings"] += len(told)
        if line not in (0, told[0]) and options.lines > 0:
            options.lines -= 1
            show("line", case, "%s\n    %s:%d %s" % (words, mine[0]["code"], told[0], mine[0]["text"]))
        if len(told) > 3 and options.many > 0:
            options.many -= 1
            show("%d findings" % len(told), case, "%s\n    %s" % (words, "\n    ".join("%s:%d %s" % (f["code"], f["line"], f["text"]) for f in mine[:4])))


def print_table(table):
    columns = ["refused", "told", "missed", "taken", "alarms", "line"]
    total = collections.Counter()
    print("%-14s" % "kind" + "".join("%9s" % column for column in columns) + "%9s%9s%9s" % ("missed %", "line %", "findings"))
    for kind, row in sorted(table.items()) + [("all", total)]:
        print("%-14s" % kind + "".join("%9d" % row[column] for column in columns) +
              "%9.2f%9.2f%9.2f" % (100 * row["missed"] / max(1, row["refused"]), 100 * row["line"] / max(1, row["told"]),
                                   row["findings"] / max(1, row["told"])))
        if kind != "all":
            total.update(row)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--count", type=int, default=1000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--jobs", type=int, default=2)
    options.add_argument("--kind", action="append")
    options.add_argument("--show", type=int, default=20)
    options.add_argument("--lines", type=int, default=0)
    options.add_argument("--many", type=int, default=0)
    options.add_argument("--griddep", default="griddep")
    options.add_argument("--ptxas", default="/usr/local/cuda/bin/ptxas")
    options.add_argument("--cache")
    options.add_argument("--record", action="store_true")
    options.add_argument("files", nargs="+")
    options = options.parse_args()
    chance = random.Random(options.seed)
    texts = {path: open(path, errors="replace").read() for path in options.files}
    table = collections.defaultdict(collections.Counter)
    sample = collections.defaultdict(dict)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        judge = Answers(options.ptxas, options.cache).ask
        if options.count:
            good = [path for path, said in zip(texts, pool.map(judge, texts, texts.values())) if said[0] == "+"]
            if not good:
                raise SystemExit("ptxas takes none of these files")
        done = 0
        while done < (options.count or len(texts)):
            if options.count:
                part = []
                for _ in range(min(100, options.count - done)):
                    path = chance.choice(good)
                    kind, at, new, text = mutate(texts[path], options.kind or KINDS, chance)
                    part.append((kind, path, at + 1, new, text))
            else:
                part = [("as it is", path, 0, "", text) for path, text in list(texts.items())[done:done + 100]]
            done += len(part)
            paths = ["%s/%d.ptx" % (folder, i) for i in range(len(part))]
            for path, case in zip(paths, part):
                with open(path, "w") as file:
                    file.write(case[4])
            findings = {} if options.record else ask_griddep(options.griddep, paths)
            for path, case, judged in zip(paths, part, pool.map(judge, paths, [case[4] for case in part])):
                if judged[0] is None:
                    continue
                if not options.record:
                    count(case, judged, findings.get(path, []), table, options)
                elif "\r" not in case[3]:
                    sample[case[1]][case[2], case[3].rstrip()] = judged
    for origin, lines in sorted(sample.items()):
        print("# " + os.path.basename(origin))
        for (at, new), (verdict, line, _) in sorted(lines.items()):
            print(verdict, at, "." if line in (0, at) else line, new)
    if not options.record:
        print_table(table)


main()
