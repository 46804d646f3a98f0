#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "execute.h"
#include "harness.h"

/* R, D, P: a register of 32 bits, of 64, a predicate; I: a number; B: of a barrier; L: a label. */
static const char *const instructions[] = {
    "mov.u32 R, I",
    "mov.u32 R, I",
    "mov.u64 D, I",
    "mov.u64 D, I",
    "mov.u32 R, %tid.x",
    "mov.u32 R, %laneid",
    "mov.u32 R, %ctaid.x",
    "mov.u32 R, %cluster_ctarank",
    "mov.u32 R, s",
    "mov.u32 R, s",
    "mov.u64 D, s",
    "mov.u64 D, l",
    "mov.u64 D, g",
    "mov.u64 D, h",
    "ld.param.u64 D, [a]",
    "ld.param.u64 D, [a]",
    "ld.param.u64 D, [b]",
    "cvta.shared.u64 D, D",
    "cvta.local.u64 D, D",
    "cvta.to.shared.u64 D, D",
    "cvt.u64.u32 D, R",
    "cvt.u32.u64 R, D",
    "add.u32 R, R, R",
    "add.u32 R, R, 4",
    "add.u64 D, D, D",
    "add.u64 D, D, 8",
    "mul.lo.u32 R, R, R",
    "shl.b32 R, R, R",
    "and.b32 R, R, 124",
    "and.b32 R, R, 124",
    "div.u32 R, R, R",
    "rem.s32 R, R, R",
    "div.s64 D, D, D",
    "bfe.u32 R, R, R, R",
    "bfi.b32 R, R, R, R, R",
    "prmt.b32 R, R, R, R",
    "setp.lt.u32 P, R, R",
    "setp.eq.u32 P, R, 0",
    "ld.global.u32 R, [D]",
    "ld.global.v4.u32 {R, R, R, R}, [D]",
    "ld.volatile.global.u64 D, [D]",
    "ld.acquire.gpu.global.u32 R, [D]",
    "ld.u32 R, [D]",
    "ld.shared.u64 D, [R]",
    "ld.shared.v2.u32 {R, R}, [R]",
    "ld.local.u32 R, [D]",
    "ld.local.u32 R, [l+16]",
    "ld.const.u32 R, [D]",
    "st.global.u32 [D], R",
    "st.global.v4.u32 [D], {R, R, R, R}",
    "st.release.gpu.global.u32 [D], R",
    "st.u32 [D], R",
    "st.shared.u32 [R], R",
    "st.shared.v4.u32 [R], {R, R, R, R}",
    "st.local.u64 [D], D",
    "st.local.u32 [l+4], R",
    "atom.shared.add.u32 R, [R], R",
    "atom.global.cas.b64 D, [D], D, D",
    "atom.acq_rel.gpu.global.exch.b32 R, [D], R",
    "red.global.add.u32 [D], R",
    "red.release.cta.shared.max.u32 [R], R",
    "bar.sync B",
    "bar.sync 0",
    "bar.sync B, 32",
    "bar.arrive B, 64",
    "bar.sync R, R",
    "bar.red.popc.u32 R, B, P",
    "bar.warp.sync -1",
    "bar.warp.sync I",
    "bar.warp.sync R",
    "mbarrier.init.shared.b64 [R], R",
    "mbarrier.init.shared.b64 [m], 1",
    "mbarrier.init.shared.b64 [m], 32",
    "mbarrier.inval.shared.b64 [m]",
    "mbarrier.arrive.shared.b64 D, [R]",
    "mbarrier.arrive.shared.b64 D, [m]",
    "mbarrier.arrive_drop.shared.b64 D, [m]",
    "mbarrier.arrive.expect_tx.shared.b64 _, [m], R",
    "mbarrier.expect_tx.relaxed.cta.shared.b64 [m], 16",
    "mbarrier.complete_tx.shared.b64 [m], 16",
    "mbarrier.test_wait.shared.b64 P, [m], D",
    "mbarrier.try_wait.parity.shared.b64 P, [m], 0",
    "mbarrier.try_wait.parity.shared.b64 P, [R], R",
    "cp.async.ca.shared.global [R], [D], 4",
    "cp.async.cg.shared.global [R], [D], 16",
    "cp.async.commit_group",
    "cp.async.wait_group 0",
    "cp.async.wait_all",
    "cp.async.mbarrier.arrive.noinc.shared.b64 [m]",
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [R], [D], 16, [m]",
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [R], [D], R, [R]",
    "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [R], [R], R, [R]",
    "cp.async.bulk.global.shared::cta.bulk_group [D], [R], R",
    "cp.async.bulk.global.shared::cta.bulk_group [D], [s], 32",
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [D], [R], R",
    "cp.async.bulk.commit_group",
    "cp.async.bulk.wait_group 0",
    "fence.acq_rel.gpu",
    "fence.acq_rel.cta",
    "fence.proxy.async",
    "membar.sys",
    "griddepcontrol.wait",
    "griddepcontrol.launch_dependents",
    "barrier.cluster.arrive",
    "barrier.cluster.wait",
    "barrier.cluster.arrive.relaxed",
    "mapa.shared::cluster.u32 R, R, R",
    "mapa.shared::cluster.u32 R, R, 1",
    "ld.shared::cluster.u32 R, [R]",
    "st.shared::cluster.u32 [R], R",
    "mapa.u64 D, D, R",
    "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [R]",
    "shfl.sync.idx.b32 R, R, R, 31, -1",
    "shfl.sync.up.b32 R, R, 1, 0, R",
    "vote.sync.any.pred P, P, R",
    "vote.sync.ballot.b32 R, P, -1",
    "match.any.sync.b32 R, R, R",
    "redux.sync.add.u32 R, R, R",
    "elect.sync R|P, R",
    "activemask.b32 R",
    "nanosleep.u32 R",
    "bra L",
    "bra L",
    "exit",
    "ret",
    "trap",
    "call f, (R)",
    "call (R), h, (R)",
    "call D, (R), p",
    "isspacep.shared P, D",
    "prefetch.global.L2 [D]",
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {R}, [R]",
    "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {R, R, R, R}, {R, R}, {R}, {R, R, R, R}"};

enum { LABELS = 6, REGISTERS = 6 };

static void put_number(char *text, size_t room)
{
    static const uint64_t numbers[] = {0,
                                       1,
                                       4,
                                       16,
                                       64,
                                       1024,
                                       1032,
                                       0xffffffff,
                                       0x80000000,
                                       0x7fffffff,
                                       0x100000400,
                                       0x1ffffffff,
                                       0x200000000,
                                       0x20000fffc,
                                       0x300000000,
                                       0x700000000000,
                                       0x700000010000,
                                       0x7e0000000000,
                                       UINT64_MAX,
                                       UINT64_MAX - 3,
                                       0x8000000000000000};

    snprintf(text, room, "0x%llx",
             (unsigned long long)numbers[fuzz_draw((uint32_t)(sizeof numbers / sizeof *numbers))]);
}

/* An instruction with operands drawn for its letters; numbers of 32 bits are cut. */
static void put_instruction(char *text, size_t room)
{
    const char *at =
        instructions[fuzz_draw((uint32_t)(sizeof instructions / sizeof *instructions))];
    bool narrow = strstr(at, "R, I") != NULL || strstr(at, "sync I") != NULL;
    size_t used = 0;

    if (fuzz_draw(4) == 0)
        used = (size_t)snprintf(text, room, fuzz_draw(2) ? "@%%p%u " : "@!%%p%u ", fuzz_draw(3));
    for (char before = ' '; *at && used + 40 < room; before = *at++) {
        bool alone =
            !(before >= 'a' && before <= 'z') && !(at[1] >= 'a' && at[1] <= 'z') && before != '.';
        char number[24];
        put_number(number, sizeof number);
        if (alone && *at == 'R')
            used += (size_t)snprintf(text + used, room - used, "%%r%u", fuzz_draw(REGISTERS));
        else if (alone && *at == 'D')
            used += (size_t)snprintf(text + used, room - used, "%%d%u", fuzz_draw(REGISTERS));
        else if (alone && *at == 'P')
            used += (size_t)snprintf(text + used, room - used, "%%p%u", fuzz_draw(3));
        else if (alone && *at == 'B')
            used += (size_t)snprintf(text + used, room - used, "%u", fuzz_draw(16));
        else if (alone && *at == 'L')
            used += (size_t)snprintf(text + used, room - used, "label%u", fuzz_draw(LABELS));
        else if (alone && *at == 'I')
            used += (size_t)snprintf(text + used, room - used, "%.*s", narrow ? 10 : 24, number);
        else
            text[used++] = *at;
    }
    snprintf(text + used, room - used, ";");
}

/* The registers begin with addresses and small numbers, so that not every program faults at
 * once. */
void execute_program(gd_text *text)
{
    static const char *const clusters[] = {"", "", ".reqnctapercluster 2, 1, 1 "};
    uint32_t count = 2 + fuzz_draw(1 + fuzz_draw(50)); /* most long ones soon fault */

    gd_text_format(
        text,
        ".version 8.6\n.target sm_90\n.address_size 64\n.global .align 16 .b8 g[64];\n.const "
        ".align 4 .b32 c[4] = {1, "
        "2};\n"
        ".func f(.param .b32 x)\n{\n.local .b32 q;\n.reg .b32 %%v;\nld.param.b32 %%v, "
        "[x];\nst.local.b32 [q], "
        "%%v;\nret;\n}\n"
        ".func (.param .b32 r) h(.param .b32 x)\n{\n.reg .b32 %%v;\nld.param.b32 %%v, "
        "[x];\nbar.warp.sync -1;\n"
        "st.param.b32 [r], %%v;\nret;\n}\n"
        ".visible .entry k(.param .u64 a, .param .u64 b) %s\n{\n.shared .align 16 .b8 "
        "s[256];\n.shared .align 8 .b64 "
        "m;\n"
        ".local .align 16 .b8 l[32];\n.reg .b32 %%r<%u>;\n.reg .b64 %%d<%u>;\n.reg .pred %%p<3>;\n"
        "p: .callprototype _ (.param .b32 _);\nmov.u32 %%r0, s;\nmov.u32 %%r1, "
        "%%tid.x;\nld.param.u64 %%d0, [a];\n"
        "ld.param.u64 %%d1, [b];\nmov.u32 %%r2, 16;\nsetp.lt.u32 %%p0, %%r1, 7;\n",
        clusters[fuzz_draw(3)], REGISTERS, REGISTERS);

    for (uint32_t i = 0; i < count; i++) {
        char line[200];
        put_instruction(line, sizeof line);
        gd_text_format(text, "%s\n", line);
        if (i < LABELS)
            gd_text_format(text, "label%u:\n", i);
    }
    for (uint32_t i = count; i < LABELS; i++)
        gd_text_format(text, "label%u:\n", i);
    gd_text_string(text, "ret;\n}\n");
}
