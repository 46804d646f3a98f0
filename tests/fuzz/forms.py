#!/usr/bin/env python3
"""One instruction of each form, and what ptxas says of its variants: the data of tests/unit/test_forms.c.

    tests/fuzz/forms.py [--jobs N] [--seed N] [--part N] [--ptxas PATH] build/tests/unit/test_forms > tests/golden/forms.txt

spells each form of src/ptx/isa/forms.def so that ptxas takes it (those of which it takes no spelling are named in the end), lets
test_forms make the variants, and asks ptxas about one in --part of them. A line of the output is a verdict for each variant, a
blank, and the instruction; test_forms.c tells more."""
import argparse
import concurrent.futures
import random
import re
import subprocess
import sys

import instructions

TRIES = 30
BATCH = 150
# What ptxas takes because it does not look, and what means nothing: the check may refuse it (doc/diagnostics.md, GD012).
OVERLOOKED = re.compile("^(" + "|".join((
    r"atom\..*\.exch\..*, %\w+, [^ ]+;",                      # a second value
    r"(w?g?mma|tcgen05)\.\S*(\.pred|\.v\d|aligned\.b?f16)\.",  # modifiers that mean nothing there, words of a name in another order
    r"multimem\.\S*\.pred\b", r"mma\.\S*\.v\d\.", r"(wgmma\.mma_async\.sync|tcgen05\.mma\.cta_group::\d)\.sp\.",
    r"barrier\.aligned\.sync", r"fence\.(release|cluster)\.\S*mbarrier_init", r"tensormap\.replace\.\S*\.b(32|64)\.b1024",
    r"(?!mov|cvt).*[{ ]%pred_11[,}](?=[^\[]*;|.*\})",             # predicates among elements and for registers of bits
    r"movmatrix.*%pred_", r"cvt\.rn\.bf16x2\.ue8m0x2 %pred",
    r"mma\.sp.* (0f\w+|1\.5|\{\S*|%v2\w+), [^ ]+;", r"mma\.sp\S* .*\}, %\w+, \{",  # metadata, fragments and scales
    r"mma\.\S*block_scale.*\}, (!?%\w+|\{\S*), ", r"mma\.\S*f64.*\{1\}",
    r"wgmma\.mma_async\.sp.*, (%v2\w+|\{%u32_11(, %u32_12)?\}|!%pred_11|0f\w+|1\.5), [01], ",
    r"wgmma\.mma_async\.sp.*(\}, %\w+, \{|%b32_\d+, 4294967296, )",
    r"tcgen05\.mma\.\S* .*( (?!%pred_5, 15;)(%f16x2_11|!%pred_11|%pred_\d+|\d+), !?(%pred_\d+|\d+)|%tid\.x.*| (?!%pred_5, 15;)(%pred_\d+|%f16x2_11), [-\w]+|%pred_5, %u64_19|\[%b32_9\], \[%b32_9\], %pred_5);",
    r"tcgen05\.mma\.\S* .*( (?!%pred_5, 15;)(%f16x2_11|!%pred_11|%pred_\d+|\d+), (%pred_\d+|\d+)|(%\w+_11(\+4)?|0f\w+|1\.5), (%pred_5, )?15|%tid\.x|\{[^}]*1\.5).*;", r"tcgen05\.ld\.red.*\}, \{%u32_11\}",
    r"tcgen05\.dealloc.*65536;", r"tcgen05\.st.*\{1, ",
    r"cp\.(reduce\.)?async\.bulk\S* (?!\[)", # addresses without brackets
    r"cp\.(reduce\.)?async\.bulk.*\], (%u32_7, )?(%\w+_11(\+4)?|%v2u32_1|-?\d[\d.]*|0f\w+|WARP_SZ|shared_array)[,;]",
    r"mbarrier\.arrive\S* .*\], (\{|%v2)", r"red\.async\.relaxed\.sys\.\w+\.u32 \[%u64_9\], %u32_4;", r"red\.\S* _,", r"st\.async.*, %u32_11\+4",
    r"st\..*\.v8\.f32 .*, _,", r"set\.\S*bf16x2 .*(%v2u32_1|!%pred_11;|\{%u32_11\})", r"cvt\.\S*ue8m0x2.bf16x2 .*%v2u32_1",
    r"(tex|tld4)\..*, (\{%\w+, %f\w+\}, )?%u32_11\+4[,;]", r"tex\.level.*\], (\{%u32_11.*|%v2u32_1.*);", r"tex\.a2dms.*\[%u64_9, \{(1\.5|%f32_11|%pred_11),",
    r"tex\..*\[%u64_9, .*%pred_11")) + ")")
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
            verdicts[i][k] = verdict if verdict and not (verdict == "+" and OVERLOOKED.search(sets[i][k])) else "."
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
