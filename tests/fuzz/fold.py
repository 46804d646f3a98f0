#!/usr/bin/env python3
"""Folds a list of instructions: lines that differ in one place become one (tests/unfold.h).

    tests/fuzz/fold.py tests/emulator/forms.txt > new
    tests/fuzz/fold.py tests/golden/instruction_needs.txt > new

In front of an instruction stands what it needs, or how it is tried; behind a tab stands what it
does. Lines that become one have both in common.
"""
import collections
import re
import sys

WIDTH, MORE = 200, 20  # of a line; a longer one grows by so much at most
LINE = re.compile(r"([+!] |[\d.-]+ sm_\S+ |)(.*?)(\t.*|)$")
TOKEN = re.compile(r"<[^<>]*\|[^<>]*>|\.[\w:]+|[^\s.,;{}\[\]<>|]+|.", re.S)
CHOICE = re.compile(r"<[^<>]*\|[^<>]*>")


def unfold(line, number=1):
    match = CHOICE.search(line)
    if not match:
        return [line]
    found = []
    for word in match[0][1:-1].split("|"):
        rest = line[match.end():].replace("<%d>" % number, word[1:])
        found += unfold(line[:match.start()] + word + rest, number + 1)
    return found


def read(text):
    """The tokens of an instruction; in place of the number of a choice it has the choice."""
    for number, choice in enumerate(CHOICE.findall(text), 1):
        text = text.replace("<%d>" % number, "\0%s\0" % choice[1:-1])
    return tuple(TOKEN.findall(text))


def write(tokens):
    text = "".join(tokens)
    for number, choice in enumerate((one for one in tokens if CHOICE.fullmatch(one)), 1):
        text = text.replace("\0%s\0" % choice[1:-1], "<%d>" % number)
    return text


def merge(one, other, most):
    """One for both, if they differ in at most `most` tokens at one place; None otherwise."""
    end = min(len(one), len(other))
    start = next((at for at in range(end) if one[at] != other[at]), end)
    rest = next((at for at in range(end - start) if one[-1 - at] != other[-1 - at]), end - start)
    words = []
    for tokens in (one, other):
        place = tokens[start:len(tokens) - rest]
        text = "".join(place)
        chosen = len(place) == 1 and CHOICE.fullmatch(text)
        if len(place) > (most if start else 1) or re.search("[<>|\0]", text[1:-1] if chosen else text) and not chosen:
            return None
        if chosen and "\0%s\0" % text[1:-1] in "".join(tokens):
            return None
        words += text[1:-1].split("|") if chosen else [text]
    whole = one[:start] + ("<%s>" % "|".join(words),) + one[len(one) - rest:]
    width = max(WIDTH, len(write(one)) + MORE, len(write(other)) + MORE)
    return whole if len(set(words)) == len(words) and len(write(whole)) <= width else None


def fold(lines):
    groups = collections.defaultdict(list)
    for at, line in enumerate(lines):
        before, text, behind = LINE.match(line).groups()
        groups[before, behind].append((at, read(text)))
    found = []
    for (before, behind), group in groups.items():
        for most in (1, 2, 3, 5, 7, 12):
            left = []
            for at, tokens in group:
                for place, (first, other) in enumerate(left):
                    whole = merge(other, tokens, most)
                    if whole:
                        left[place] = first, whole
                        break
                else:
                    left.append((at, tokens))
            if len(left) < len(group):
                group = left
        found += [(at, before + write(tokens) + behind) for at, tokens in group]
    return [line for _, line in sorted(found)]


def fold_all(lines):
    before = None
    while before != lines:
        before, lines = lines, fold(lines)
    return lines


def main():
    lines = open(sys.argv[1]).read().splitlines()
    head = [line for line in lines if line.startswith("#")]
    old = [line for line in lines if line not in head]
    new = fold_all(old)
    assert collections.Counter(one for line in old for one in unfold(line)) == \
        collections.Counter(one for line in new for one in unfold(line))
    print(*head, *new, sep="\n")


if __name__ == "__main__":
    main()
