#!/usr/bin/env python3
"""One instruction of each form, and what ptxas says of its variants: the data of tests/unit/test_forms.c.

    tests/fuzz/forms.py [--jobs N] [--seed N] [--part N] [--ptxas PATH] build/tests/unit/test_forms > tests/golden/forms.txt

spells each form of src/ptx/isa/forms.def so that ptxas takes it (those of which it takes no spelling are named in the end), lets
test_forms make the variants, and asks ptxas about one in --part of them. A line of the output is a verdict for each variant, a
blank, and the instruction; test_forms.c tells more."""
import argparse
import concurrent.futures
import random
import subprocess
import sys

import instructions

TRIES = 30
BATCH = 150
ALONE = ("mma", "wmma") # of these ptxas says some errors only when asked of one alone, and others of many only


def spell_taken(ptxas, frame, forms, chance):
    """By form an instruction that ptxas takes, or None."""
    taken = [None] * len(forms)
    for attempt in range(TRIES):
        left = [i for i, line in enumerate(taken) if not line]
        lines = [instructions.write(*instructions.spell(forms[i], chance, 1 if attempt == 0 else chance.choice([0, 0.5, 1]))) for i in left]
        for i, line, verdict in zip(left, lines, instructions.ask(ptxas, frame, lines)):
            if verdict == "+":
                taken[i] = line
    return taken


def judge(ptxas, frame, lines):
    if lines[0].startswith(ALONE):
        return [instructions.ask(ptxas, frame, [line])[0] for line in lines]
    return instructions.ask(ptxas, frame, lines)


def ask_about(options, pool, target, frame, lines):
    """Prints the verdicts of all variants of some lines."""
    out = subprocess.run([options.program, "--variants"], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True).stdout
    sets = [one.split("\n") for one in out.strip("\n").split("\n\n")]
    asked = [[k for k in range(len(one)) if k == 0 or (k + i) % (options.part * (8 if one[0].startswith(ALONE) else 1)) == 0]
             for i, one in enumerate(sets)]
    batches = []
    for i, one in enumerate(sets):
        for start in range(0, len(asked[i]), BATCH):
            batches.append((i, asked[i][start:start + BATCH]))
    verdicts = [["."] * len(one) for one in sets]
    for (i, part), said in zip(batches, pool.map(lambda batch: judge(options.ptxas, frame, [sets[batch[0]][k] for k in batch[1]]), batches)):
        for k, verdict in zip(part, said):
            verdicts[i][k] = verdict if verdict and not (verdict == "+" and instructions.OVERLOOKED.search(sets[i][k])) else "."
    print("= " + target)
    for one, said in zip(sets, verdicts):
        print("".join(said).rstrip("."), one[0])
    sys.stdout.flush()


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--jobs", type=int, default=2)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--part", type=int, default=3)
    options.add_argument("--ptxas", default="/usr/local/cuda/bin/ptxas")
    options.add_argument("program")
    options = options.parse_args()
    chance = random.Random(options.seed)
    forms = instructions.read_table()
    frame = open(instructions.ROOT + "/tests/golden/instructions.frame").read()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for target in dict.fromkeys(form.target for form in forms):
            own = [form for form in forms if form.target == target]
            of = frame.replace("sm_90a", target)
            taken = spell_taken(options.ptxas, of, own, chance)
            for form, line in zip(own, taken):
                if not line:
                    print("no spelling is taken:", *form, file=sys.stderr)
            ask_about(options, pool, target, of, [line for line in taken if line])


if __name__ == "__main__":
    main()
