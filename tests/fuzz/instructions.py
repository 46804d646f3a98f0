#!/usr/bin/env python3
"""Instructions with what ptxas says of each: the sample that tests/unit/test_check.c replays.

    tests/fuzz/instructions.py [--seed N] [--ptxas PATH] > tests/golden/instructions.txt

takes forms of src/ptx/isa/forms.def, spells them out with '_', registers of several elements and selectors where they may or may not
stand, and asks ptxas about each line, and about FIXED. Single mistakes in each form are forms.py's; what is right in each is instruction_needs.py's. Syntax errors, which end a text for
every reader, are left out, and what crashes ptxas. A line of the output is '+' where ptxas takes the instruction and '-' where it refuses
it, a blank, and the instruction; '=' begins those that are asked about for another target than sm_90a. They stand in a frame that declares
a register of each type, a variable in each state space, and a label; tests/golden/instructions.frame has it."""
import argparse
import os
import random
import re
import subprocess
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
WIDER = {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}
DECLARED = {"bf16": "b16", "bf16x2": "b32", "u16x2": "b32", "s16x2": "b32", "f32x2": "b64", "tf32": "b32"}
TYPES = ("u8 s8 b8 u16 s16 b16 u32 s32 b32 u64 s64 b64 b128 f16 f16x2 bf16 bf16x2 f32 f64 f32x2 pred u16x2 s16x2 tf32 "
         "e4m3x2 e5m2x2 e2m3x2 e3m2x2 e2m1x2 ue8m0x2 e4m3 e5m2 e2m3 e3m2 e2m1 u4 s4 u2 s2 b1 ue8m0 ue4m3 b1024 e4m3x4 e5m2x4 "
         "e2m3x4 e3m2x4 e2m1x4 b8x16 b6x16_p32 b4x16_p64").split()
# What registers of two elements are declared of; those of the first twelve are also declared with four.
WHOLES = "u8 s8 b8 u16 s16 b16 f16 u32 s32 b32 f16x2 f32 u64 s64 b64 f64".split()
REGISTERS = "u8 s8 b8 u16 s16 b16 u32 s32 b32 u64 s64 b64 b128 f16 f16x2 f32 f64 pred".split()
# The targets of the sample by what forms.def says of a form's target, and by the words of those for which it says a later one.
TARGETS = {"1001": "sm_100a", "1003": "sm_100a", "1004": "sm_100a", "1005": "sm_100a", "1006": "sm_100a", "1011": "sm_100a", "1012": "sm_100a", "1000": "sm_100a", "1031": "sm_103a",
           "1032": "sm_103a", "1002": "sm_120a", "1201": "sm_120a"}
# What ptxas guesses of the types of '_' it does not guess everywhere: left out.
GUESSES = re.compile(r"^(multimem\.ld_reduce|wmma\.)[^{]* \{[^}]*\b_[,}]")
# What the mutations seldom make: sums, integers for floats, modifiers twice.
FIXED = """add.u32 %u32_1, %u32_2+4, %s32_3+-4; add.u32 %u32_1, %u32_2+(1<<4)-2, %u32_3;
mov.u64 %u64_1, %u32_1+4; st.global.u64 [%u64_1], %u64_2+1; add.f32 %f32_1, %f32_2, %b32_3+1;
add.f32 %f32_1, %f32_2, %u32_3+1; shl.b32 %b32_1, %b32_2+1, %u32_1+1;
add.u32 %u32_1+1, %u32_2, %u32_3; mov.b64 {%u32_1, %u32_2}, %b64_1+1;
add.u32 %u32_1, shared_array+4, shared_array+8; add.u32 %u32_1, %u32_2+WARP_SZ*2, %u32_3;
add.u32 %u32_1, %u32_2+1.5, %u32_3; ld.global.u32 %u32_1, [%u64_1+4*(2+1)];
ld.shared.u32 %u32_1, [shared_array+1<<3]; cvt.u64.u32 %u64_1, %u32_1+1;
mul.f32 %f32_1, %f32_2, %f32_3+4; st.global.f64 [%u64_1], %f64_2+1; ld.global.f32 %f32_1+1, [%u64_1]; mad.lo.u32 %u32_1, %u32_2, (1088), %u32_3;
ld.v2.f32 {%s32_1, %s32_2}, [%u64_9];
wgmma.wait_group.sync.aligned -1;
tex.1d.v4.f32.f32 {%u32_1, %u32_2, %u32_3, %u32_4}, [%u64_9, {%f32_0}];
vote.sync.sync.uni.pred %pred_1, %pred_2, %b32_1;
add.cc.cc.u32 %u32_1, %u32_1, %u32_1;
mov.b64 %b64_1, %v2u32_1; mov.b64 %v2u32_1, %b64_1; mov.b128 %v4u32_1, %b128_1; mov.b64 %b64_1, %v2u32_1+1; mov.b64 %v2u32_1+1, %b64_1;
mov.b64 %b64_1, -%v2u32_1; mov.u64 %u64_1, %v2u32_1; mov.b64 %v2b32_1, %v2u32_1; mov.b64 {%u32_1, %u32_2}, {%u32_3, %u32_4};
mov.b64 {%u32_1, %u32_2}, %v2u32_1; mov.b64 {%v2u32_1.x, %u32_2}, %b64_1; mov.b64 {%v2u32_1, %u32_2}, %b64_1;
mov.v2.u32 %v2u32_1, %v4u32_1; mov.v2.u32 %v2u64_1, %v2u32_1; mov.v2.f32 %v2f32_1, %v2u32_1; mov.v2.u32 %v2u32_1, %tid; mov.v4.u32 %v4u32_1, %tid;
add.u32 %u32_1, %v2u32_1.x, %v2u32_1.y; add.u32 %u32_1, %v2u32_1.h0, %u32_2; add.u32 %u32_1, %u32_2, %v2u32_1.xy;
ld.global.v2.u32 %v2u32_1+1, [%u64_1]; st.global.v2.u32 [%u64_1], %v2u32_1+1; tex.2d.v4.f32.f32 %v4f32_1, [%u64_9, %v2f32_1];
tex.3d.v4.f32.f32 %v4f32_1, [%u64_9, %v2f32_1]; tex.2d.v4.f32.f32 %v4f32_1, [%u64_9, {%f32_1}];
vmad.s32.s32.s32 %s32_0, -%s32_1, %s32_2, %s32_3; vmad.s32.s32.s32 %s32_0, -%s32_1, %s32_2, -%s32_3; vmad.s32.s32.s32 %s32_0, -%s32_1, -%s32_2, -%s32_3;
vmad.s32.s32.s32.po %s32_0, -%s32_1.b0, %s32_2, %s32_3; vmad.s32.s32.s32.po %s32_0, -%s32_1.b0, -%s32_2, %s32_3; vmad.s32.s32.s32 -%s32_0, %s32_1, %s32_2, %s32_3;
vadd.s32.s32.s32 %s32_0, -%s32_1, %s32_2; vadd.s32.s32.s32 %s32_0.b1, %s32_1, %s32_2, %s32_3; vadd.s32.s32.s32.add %s32_0.b1, %s32_1, %s32_2, %s32_3;
vadd.s32.s32.s32 %s32_0.b1, %s32_1, %s32_2; vadd2.s32.s32.s32 %s32_0, %s32_1, 1, %s32_2; vadd.s32.s32.s32 %s32_0, 1, 2;
bfe.u32 %u32_1, %u32_2, 0x100000001, 3; bfe.u32 %u32_1, %u32_2, 255, 3; bar.sync 0x100000001; bar.arrive 0, 0x100000000; pmevent 0x100000001;
setmaxnreg.inc.sync.aligned.u32 25; setmaxnreg.inc.sync.aligned.u32 24; alloca.u64 %u64_1, 16, 3; alloca.u64 %u64_1, 16, 2+2;
alloca.u64 %u64_1, 16, 0; alloca.u64 %u64_1, 16, 0x80000000; mbarrier.arrive.shared.b64 %b64_1, [%b32_1], 0; mbarrier.arrive.shared.b64 %b64_1, [%b32_1], 1-1;
mbarrier.arrive.shared.b64 %b64_1, [%b32_1], -1; mbarrier.arrive_drop.noComplete.shared.b64 %b64_1, [%b32_1], 0; mbarrier.arrive.expect_tx.shared.b64 %b64_1, [%b32_1], 0;
mbarrier.arrive.b64 %b64_1, [global_array]; mbarrier.init.b64 [shared_array], 1; cvta.shared.u64 %u64_1, global_array; cvta.const.u64 %u64_1, const_array+4;
cvta.local.u64 %u64_1, local_array; cvta.global.u64 %u64_1, function; mapa.u64 %u64_1, shared_array, %u32_2; mapa.u64 %u64_1, const_array, %u32_2;
getctarank.u64 %u32_1, global_array; elect.sync %b32_1|%pred_1, 0f3F800000; vote.sync.all.pred %pred_1, %pred_2, 0f3F800000; redux.sync.and.b32 %b32_1, 0f3F800000, -1;
bmsk.clamp.b32 %b32_1, 0f3F800000, 0; dp4a.u32.u32 %b32_1, %u32_1, %u32_2, 0f3F800000; mov.b128 %b128_1, %tid.x; mov.b128 %b128_1, %tid; mov.b128 %b128_1, %gridid;
selp.b32 %b32_1, %b32_2, %b32_3, %pred_1.y; setp.eq.and.b32 %pred_1, %b32_2, %b32_3, %pred_1.x; movmatrix.sync.aligned.m8n8.trans.b16 %b32_1, -1;
cvt.rn.f16x2.e4m3x2 %b32_1, 0x3c3c; cvt.rna.tf32.f32 %b32_1, 1.5; cvt.rna.tf32.f32 %b32_1, 0f3F800000; cvt.rn.tf32.f32 %b32_1, 1.5;
mov.b32 %b32_1, {%b16_1, _}; mov.b64 %b64_1, {%b32_1, _}; mov.b32 %b32_1, {_, _}; mov.v2.b32 {%b32_1, %b32_2}, {%u32_1, _}; mov.v2.u32 {%b32_1, %b32_2}, {%b32_1, _};
add.u64 %u64_1|_, %u64_2, 1; add.u64 _|_, %u64_2, 1; ld.global.u32 %u32_1|_, [%u64_2]; bar.red.popc.u32 %u32_1|_, 0, %pred_1; elect.sync %b32_1|_, %b32_1;
bar.sync.sync 0; bar.warp.sync.sync -1; barrier.red.sync.popc.u32 %u32_1, 0, %pred_1; testp.f32 %pred_1, %f32_1; testp.finite.finite.f64 %pred_1, %f64_1;
mul.u32.wide %u64_1, %u32_1, %u32_2; mad.s64.lo %s64_1, %s64_2, %s64_3, %s64_4; dp2a.u32.s32.lo %u32_1, %u32_2, %u32_3, %u32_4; shf.clamp.l.b32 %b32_1, %b32_2, %b32_3, %u32_4;
createpolicy.L2::evict_last.fractional.b64 %b64_1, 0.5; div.ftz.full.f32 %f32_1, %f32_2, %f32_3; tex.2d.level.v4.f32.f32 %v4f32_1, [%u64_9, %v2f32_1], %f32_3;
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f32_1, %f32_2, %f32_3, %f32_4}, %b64_1, %b64_2, %pred_1, 1+0, -(1), 0+0, 0;
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f32_1, %f32_2, %f32_3, %f32_4}, %b64_1, %b64_2, 1+1, 1, 1, 0, 0;
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f32_1, %f32_2, %f32_3, %f32_4}, %b64_1, %b64_2, %pred_1, 1+1, 1, 0, 0;
tex.2d.v4.f32.f32 %v4f32_1, [%u64_9, %v2f32_1], {%b32_5, %b32_6}, {%b32_7, %b32_8}; tex.2d.v4.f32.f32 %v4f32_1, [%u64_9, %v2f32_1], {%b32_5, %b32_6}, %f32_1;
tex.2d.v4.f32.f32 %v4f32_1, [%u64_9, %v2f32_1], %f32_1, %f32_2; tex.2d.v4.f32.f32 %v4f32_1, [%u64_9, %v2f32_1], 5, %f32_2;
cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%u64_1|%u64_2, {%b32_2,%b32_3}]; st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.u32 [%b32_1], %b32_2, [%b32_3];
st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.u32 [%b32_1], %f32_2, [%b32_3]; st.async.shared::cta.mbarrier::complete_tx::bytes.u32 [%b32_1], {%b32_2}, [%b32_3];
add.u32 %u32_1, %u32_2, (1 << 3); mov.v4.u32 {%u32_1, %u32_2, %u32_3, %u32_4}, {1, 2, %u32_3, 4}; add.f32 %f32_1, %f32_2, (1.5); add.u32 %u32_1, %u32_2, (%u32_3); add.u32 %u32_1, (3, 4), %u32_3;
mov.b64 %b64_1, {%laneid, 0}; mov.b64 %b64_1, {0, %smid}; mov.b64 %b64_1, {%tid.x, 0}; mov.b64 %b64_1, {0, %tid.x}; mov.b64 %b64_1, {%is_explicit_cluster, 0};
mov.b128 %b128_1, {%clock64, 0}; mov.b128 %b128_1, {%u32_1, 0, %laneid, 1}; mov.b128 %b128_1, {%u32_1, 0, %ctaid.x, 1}; mov.b32 %b32_1, {%laneid, 0};
mov.v2.u32 {%u32_1, %u32_2}, {%laneid, 0}; mov.v2.u32 {%u32_1, %u32_2}, {1, %ntid.x}; st.global.v2.u32 [%u64_1], {%laneid, 0}; st.global.v2.u32 [%u64_1], {0, %tid.x};
wmma.load.b.sync.aligned.col.m16n16k16.global.f16 {%f16x2_1, %f16x2_2, %f16x2_3, %f16x2_4, %f16x2_5, %f16x2_6, %f16x2_7, %lanemask_lt}, [%u64_9]"""
# A variable of each state space in an instruction that names each, or none.
ACCESSES = (("ld", "u32 %%u32_1, [%s_array]", ()),
            ("st", "u32 [%s_array+4], %%u32_1", (".const",)),
            ("atom", "add.u32 %%u32_1, [%s_array], %%u32_2", (".local", ".const")),
            ("red", "add.u32 [%s_array], %%u32_2", (".local", ".const")),
            ("prefetch", "L1 [%s_array]", (".shared", ".const")))
SPACES = [f"{op}{named}.{rest}" % space for space in ("global", "shared", "local", "const")
          for op, rest, without in ACCESSES
          for named in ("", ".global", ".shared", ".local", ".const") if named not in without]
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


def spell_sinks(op, modifiers, operands, roles):
    """The instruction with '_' wherever a destination, or a part of one, may or may not be it."""
    for i, (operand, role) in enumerate(zip(operands, roles)):
        if role[0] not in "dDy":
            continue
        sunk = ["_"]
        if "|" in role or "&" in role:
            first = operand.split("|")[0]
            sunk += [f"{first}|%pred_8", "_|%pred_8", f"{first}|_"]
        elements = operand[1:-1].split(", ")
        # What is wider than 16 bytes has rules of its own.
        if operand.startswith("{") and int(re.search(r"\d+", operand)[0]) * len(elements) <= 128:
            sunk += ["{%s}" % ", ".join(elements[:k] + ["_"] * (len(elements) - k)) for k in (0, 1)]
        for one in sunk:
            yield write(op, modifiers, operands[:i] + [one] + operands[i + 1:])


def spell_wholes(op, modifiers, operands):
    """The instruction with a register of several elements wherever it may or may not stand: for a register, for a vector, and among the
    elements of one. What ptxas takes for one register anywhere but in mov it takes against the PTX ISA: that is left out."""
    for i, operand in enumerate(operands):
        vector = re.fullmatch(r"(\[.*)?\{(.*)\}\]?", operand)
        kind = re.search(r"%(\w+?)_", vector[2] if vector else operand)
        if not kind or kind[1] not in WHOLES or (vector and ("2dms" in modifiers or "grad" in modifiers)):
            continue
        if not vector:
            whole = [re.sub(r"%\w+_\d+", f"%v2{kind[1]}_1", operand, count=1)]
        else:
            whole = [operand.replace(vector[2].split(", ")[-1], f"%v2{kind[1]}_1")]
            whole += [operand.replace("{" + vector[2] + "}", f"%v{size}{kind[1]}_1") for size in (2, 4) if size == 2 or kind[1] in WHOLES[:12]]
        several = vector and "," in vector[2]
        for one in whole:
            yield write(op, modifiers, operands[:i] + [one] + operands[i + 1:]), not several and op != "mov"


def spell_selectors(op, modifiers, operands):
    """A video instruction with a selector in each place."""
    for i in range(len(operands)):
        for selector in ("b0", "b3", "b4", "h1", "h2", "h10", "h01", "h23", "h40", "b20", "b3210", "b7654", "b8000", "b012", "x"):
            if not (selector[:1] == "b" and len(selector) > 2 and op[-1] not in "24"): # taken for something else
                yield write(op, modifiers, operands[:i] + [operands[i] + "." + selector] + operands[i + 1:])


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


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--ptxas", default="/usr/local/cuda/bin/ptxas")
    options = options.parse_args()
    chance = random.Random(options.seed)
    forms = read_table()
    frame = open(ROOT + "/tests/golden/instructions.frame").read()
    for target in dict.fromkeys(["sm_90a"] + list(TARGETS.values())):
        own = [form for form in forms if form.target == target]
        ask_about(options, target, frame.replace("sm_90a", target), own, chance)


def ask_about(options, target, frame, forms, chance):
    """Prints what ptxas says of forms for a target."""
    lines = [line.strip() + ";" for line in FIXED.split(";") + SPACES] if target == "sm_90a" else []
    for form in forms[::3]:
        lines += list(spell_sinks(*spell(form, chance), form[2]))
    refused = set()
    for form in forms[::3]:
        wholes = list(spell_wholes(*spell(form, chance)))
        for line, scalar in chance.sample(wholes, min(len(wholes), 1)):
            lines.append(line)
            refused.update([line] if scalar else [])
    for form in forms:
        if form[2] and form[2][0].startswith("Q"):
            lines += chance.sample(list(spell_selectors(*spell(form, chance))), 3)
    lines = list(dict.fromkeys(lines))
    if target != "sm_90a":
        print("=", target)
    for start in range(0, len(lines), 500):
        part = lines[start:start + 500]
        for line, verdict in zip(part, ask(options.ptxas, frame, part)):
            if line.startswith(("mma", "wmma")):  # ptxas says some errors of these only when asked of one alone, and others of many only
                verdict = ask(options.ptxas, frame, [line])[0]
            if not GUESSES.search(line) and (verdict == "-" or (verdict and line not in refused)):
                print(verdict, line)


if __name__ == "__main__":
    main()
