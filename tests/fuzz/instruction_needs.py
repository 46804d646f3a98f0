#!/usr/bin/env python3
"""What ptxas says each form of an instruction needs: tests/unit/test_needs.c replays it.

    tests/fuzz/instruction_needs.py [--ptxas PATH] > tests/golden/instruction_needs.txt

spells out each form of src/ptx/isa/forms.def: once with the first choice of each group, and once with each other choice, each
operand and each modifier that may be left out. Of some
instructions each pair of choices is spelled out too. A line of the output has the lowest version that ptxas takes the instruction in, the
targets that it takes it for, and the instruction. "sm_80+" is a target and all later ones; the version is that of the first target.
What is gone in PTX ISA 9.0 was asked about in 6.3: "6.3-" stands in front. Lines that show nothing new are left out,
and instructions that differ in a modifier share a line: "<.a|.b>" is one of these, and "<1>" what the first "<" has."""
import argparse
import collections
import itertools
import os
import random
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from fold import fold_all, unfold
from instructions import ROOT, read_table, spell, write

# Of these ptxas says some errors only where it is asked of one alone.
QUIRKS = re.compile(r"^mma\S*(kind::|\.e[245]m)")

# What ptxas takes for some targets and versions by rules of other kinds: of operands, sizes, addresses.
OTHER_RULES = re.compile(r"^cvta\S*\.u32|^(ld|st)\S*\.v8\.[busf](8|16)\b|^st\S*\.param|^(tex|tld4)\S* .*%b32_9, %f32_9;")

PAIRED = "add atom cvta ld mad red st sub sured".split()
PART = 400
FIRST_VERSION = (3, 1)  # what is older says little of value
NEWEST = (9, 0)
LAST_MINOR = {2: 3, 3: 2, 4: 3, 5: 1, 6: 5, 7: 8, 8: 8, 9: 0}
VERSIONS = [(major, minor) for major in LAST_MINOR for minor in range(LAST_MINOR[major] + 1)
            if FIRST_VERSION <= (major, minor)]


def read_chips():
    text = open(ROOT + "/src/ptx/isa/chips.def").read()
    chips = [(name, divmod(int(version), 10)) for name, version in re.findall(r'^GD_CHIP\("(\w+)", (\d+)\)', text, re.M)]
    # ptxas takes sm_101 for sm_110, and these two say nothing that others do not.
    return [(name, version) for name, version in chips if not name.startswith("sm_101") and version >= (2, 0)]


class First:
    """Chooses what stands first, and what it is told to for some groups."""

    def __init__(self, told={}):
        self.told, self.group = told, 0

    def choice(self, group):
        number, self.group = self.group, self.group + 1
        return self.told.get(number, "" if "" in group else group[0])


def spell_all(form):
    op, groups, roles = form
    full = (op, groups, [role.rstrip("?") if role.endswith("?") else role for role in roles])
    spellings = [spell(form, First()), spell(full, First())]
    words = [group if len(group) <= 16 else [group[0], group[-2], group[-1]] for group in groups]
    for at in range(len(groups)):
        spellings += [spell(form, First({at: word})) for word in words[at]]
    for one, other in itertools.combinations(range(len(groups)), 2):
        if op in PAIRED:
            pairs = itertools.product(*(words[at] if len(words[at]) <= 3 else words[at][:1] + words[at][-2:] for at in (one, other)))
            spellings += [spell(form, First({one: a, other: b})) for a, b in pairs]
    return [write(*parts) for parts in spellings]


def ask(ptxas, frame, target, version, lines):
    """Whether ptxas takes each of the lines."""
    number = int(re.search(r"\d+", target)[0])
    head = frame.index("@")
    first = frame[:head].count("\n") + 1
    text = frame[:head] + "\n".join(lines) + frame[head + 1:]
    text = text.replace(".version 9.0", ".version %d.%d" % version).replace("sm_90a", target)
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/a.ptx", "w") as file:
            file.write(text)
        run = subprocess.run([ptxas, "-arch=" + (target if number > 75 else "sm_75"), folder + "/a.ptx", "-o", folder + "/a"],
                             capture_output=True, text=True)
    said = re.findall(r"line (\d+); ((?:error|fatal) *: .*)", run.stdout + run.stderr)
    if run.returncode not in (0, 255) or (run.returncode and not said):
        if len(lines) == 1:
            return [False]
        middle = len(lines) // 2
        return ask(ptxas, frame, target, version, lines[:middle]) + ask(ptxas, frame, target, version, lines[middle:])
    refused = {int(line) - first for line, _ in said}
    verdicts = [number not in refused for number in range(len(lines))]
    taken = [i for i, verdict in enumerate(verdicts) if verdict]
    if 0 < len(taken) < len(lines):  # some errors hide others
        for i, verdict in zip(taken, ask(ptxas, frame, target, version, [lines[i] for i in taken])):
            verdicts[i] = verdict
    return verdicts


def ask_all(pool, ptxas, frame, questions):
    """questions: (target, version, lines); the set of lines that ptxas takes for each."""
    parts = [(number, target, version, lines[start:start + PART])
             for number, (target, version, lines) in enumerate(questions) for start in range(0, len(lines), PART)]
    taken = [set() for _ in questions]
    for part, verdicts in zip(parts, pool.map(lambda part: ask(ptxas, frame, *part[1:]), parts)):
        taken[part[0]].update(line for line, verdict in zip(part[3], verdicts) if verdict)
    return taken


def covering(answers):
    """Of the answers those that have a modifier which none before them has with this opcode and these needs."""
    seen = set()
    for needs, line in answers:
        opcode, *modifiers = line.split()[0].rstrip(";").split(".")
        new = {(opcode, needs, modifier) for modifier in modifiers or [""]} - seen
        if new:
            seen |= new
            yield needs, line


def parts_of(needs, line):
    """The needs, the modifiers, and what stands behind the name."""
    name = re.match(r"[^ ;]*", line)[0]
    return needs, tuple(name.split(".")), line[len(name):]


def write_folded(needs, modifiers, rest):
    """Lines of an instruction with holes, which are tuples among the modifiers; no line is long that was not."""
    holes = [one for one in modifiers if isinstance(one, tuple)]
    line = needs + " " + modifiers[0]
    line += "".join("<%s>" % "|".join(one) if isinstance(one, tuple) else "." + one
                    for one in modifiers[1:])
    line += rest
    for number, hole in enumerate(holes, 1):
        line = line.replace(mark(hole), "<%d>" % number)
    longest = max(holes, key=len, default=())
    plain = len(unfold(line)[0])
    if len(line) <= (98 if plain <= 98 else plain + 60) or not holes:
        return [line]
    middle, at = len(longest) // 2, modifiers.index(longest)
    lines = []
    for half in (longest[:middle], longest[middle:]):
        one = (half,) if len(half) > 1 else tuple(half[0].split(".")[1:])
        lines += write_folded(needs, (*modifiers[:at], *one, *modifiers[at + 1:]),
                              rest.replace(mark(longest), mark(half) if len(half) > 1
                                           else half[0].lstrip(".")))
    return lines


def mark(hole):
    return "\0%s\0" % "|".join(hole)


def fold_once(items):
    """Each item together with those that differ from it in one modifier, or have it not, and in the
    registers of that type; where that is possible in several ways, with the most."""
    ways = collections.defaultdict(dict)  # by what they have in common: {modifier: item}
    for item in items:
        needs, modifiers, rest = item
        for at in range(1, len(modifiers) + 1):
            ways[needs, modifiers[:at], modifiers[at:], rest].setdefault("", item)
            if at < len(modifiers) and not isinstance(modifiers[at], tuple):
                common = rest.replace("%%%s_" % modifiers[at], "%\0_")
                ways[needs, modifiers[:at], modifiers[at + 1:], common]["." + modifiers[at]] = item
    left, folded = dict.fromkeys(items), []
    for item in items:
        if item not in left:
            continue
        needs, modifiers, rest = item
        best, way = {"": item}, None
        for at in range(1, len(modifiers) + 1):
            keys = [(needs, modifiers[:at], modifiers[at:], rest)]
            if at < len(modifiers) and not isinstance(modifiers[at], tuple):
                common = rest.replace("%%%s_" % modifiers[at], "%\0_")
                keys.append((needs, modifiers[:at], modifiers[at + 1:], common))
            for key in keys:
                some = {word: one for word, one in ways[key].items() if one in left}
                if item in some.values() and len(some) > len(best):
                    best, way = some, key
        for one in best.values():
            del left[one]
        if way is None:
            folded.append(item)
            continue
        hole = tuple(best)
        folded.append((needs, (*way[1], hole, *way[2]), way[3].replace("\0_", mark(hole) + "_")))
    return folded


def fold(answers):
    """Lines that stand for all answers (tests/unfold.h), first by types and their registers."""
    items = [parts_of(*answer) for answer in answers]
    for _ in range(3):
        items = fold_once(items)
    return fold_all([line for item in items for line in write_folded(*item)])


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--ptxas", default="/usr/local/cuda/bin/ptxas")
    options = options.parse_args()
    frame = open(ROOT + "/tests/golden/instructions.frame").read()
    lines = [line for form in read_table() for line in spell_all(form)]
    lines = [line for line in dict.fromkeys(lines) if not QUIRKS.search(line) and not OTHER_RULES.search(line)]
    chips = read_chips()
    with ThreadPoolExecutor(2) as pool:
        found, first = {}, {}  # by line: the targets and the version of that question; the first target
        for version in (NEWEST, (6, 3)):
            left = [line for line in lines if line not in found]
            known = [(name, since) for name, since in chips if since <= version]
            taken = ask_all(pool, options.ptxas, frame, [(name, version, left) for name, _ in known])
            for line in left:
                names = [name for (name, _), some in zip(known, taken) if line in some]
                if names:
                    later = [name for name, _ in known[[name for name, _ in known].index(names[0]):]]
                    found[line] = (names[0] + "+" if names == later else ",".join(names), version)
                    first[line] = names[0]
        questions = []
        for name, since in chips:
            own = [line for line in found if first[line] == name]
            questions += [(name, version, [line for line in own if found[line][1] >= version])
                          for version in VERSIONS if version >= since and own]
        taken = ask_all(pool, options.ptxas, frame, questions)
    lowest = {}
    for (_, version, _), some in zip(questions, taken):
        for line in some:
            lowest[line] = min(version, lowest.get(line, version))
    answers = [(("6.3-" if until != NEWEST else "") + "%d.%d %s" % (*lowest[line], targets), line)
               for line, (targets, until) in found.items()]
    answers = list(covering(answers))
    lines = fold(answers)
    assert {one for line in lines for one in unfold(line)} == {" ".join(one) for one in answers}
    print(*lines, sep="\n")


if __name__ == "__main__":
    main()
