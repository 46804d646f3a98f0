/* The program's own kernels, as text: an application carries its PTX and no compiler. */
#include "step.h"

/* A logit that was seen is multiplied or divided, in f32: load brings it to %f3, store takes it
 * back. */
#define PENALIZE(type, bytes, load, store)                                                         \
    ".visible .entry penalize_" #type "(\n"                                                        \
    "    .param .u64 logits,\n"                                                                    \
    "    .param .u64 seen,\n"                                                                      \
    "    .param .u32 count,\n"                                                                     \
    "    .param .f32 penalty)\n"                                                                   \
    "{\n"                                                                                          \
    "    .reg .pred %p<4>;\n"                                                                      \
    "    .reg .b16 %h<4>;\n"                                                                       \
    "    .reg .b32 %r<8>;\n"                                                                       \
    "    .reg .f32 %f<4>;\n"                                                                       \
    "    .reg .b64 %d<8>;\n"                                                                       \
    "    griddepcontrol.launch_dependents;\n"                                                      \
    "    ld.param.u64 %d1, [logits];\n"                                                            \
    "    ld.param.u64 %d2, [seen];\n"                                                              \
    "    ld.param.u32 %r1, [count];\n"                                                             \
    "    ld.param.f32 %f1, [penalty];\n"                                                           \
    "    rcp.rn.f32 %f2, %f1;\n"                                                                   \
    "    mov.u32 %r2, %ctaid.x;\n"                                                                 \
    "    mov.u32 %r3, %ntid.x;\n"                                                                  \
    "    mov.u32 %r4, %tid.x;\n"                                                                   \
    "    mad.lo.u32 %r4, %r2, %r3, %r4;\n"                                                         \
    "    griddepcontrol.wait;\n"                                                                   \
    "    setp.ge.u32 %p1, %r4, %r1;\n"                                                             \
    "    @%p1 bra DONE;\n"                                                                         \
    "    cvt.u64.u32 %d3, %r4;\n"                                                                  \
    "    add.u64 %d4, %d3, %d2;\n"                                                                 \
    "    ld.global.u8 %r5, [%d4];\n"                                                               \
    "    setp.eq.u32 %p2, %r5, 0;\n"                                                               \
    "    @%p2 bra DONE;\n"                                                                         \
    "    mad.lo.u64 %d5, %d3, " #bytes ", %d1;\n" load "    setp.lt.f32 %p3, %f3, 0f00000000;\n"   \
    "    @%p3 mul.f32 %f3, %f3, %f1;\n"                                                            \
    "    @!%p3 mul.f32 %f3, %f3, %f2;\n" store "DONE:\n"                                           \
    "    ret;\n"                                                                                   \
    "}\n"

/* Ends a step: the next token is the one that was sampled, or, within the prompt, the prompt's;
 * it is written behind the others, position and token are what the next step reads, and the next
 * random number is made from the seed and the position alone (splitmix64), so that a run can be
 * repeated. */
const char step_ptx[] =
    "// kernel: step_end, penalize_bf16, penalize_f32\n"
    "// purpose: what a decode step needs beside the shelf.\n"
    ".version 8.0\n"
    ".target sm_90\n"
    ".address_size 64\n"
    "\n"
    ".visible .entry step_end(\n"
    "    .param .u64 sampled,\n"
    "    .param .u64 history,\n"
    "    .param .u64 position,\n"
    "    .param .u64 token,\n"
    "    .param .u64 uniform,\n"
    "    .param .u64 seen,\n"
    "    .param .u64 prompt,\n"
    "    .param .u64 seed)\n"
    "{\n"
    "    .reg .pred %p<3>;\n"
    "    .reg .b32 %r<8>;\n"
    "    .reg .f32 %f<3>;\n"
    "    .reg .b64 %d<20>;\n"
    "    griddepcontrol.launch_dependents;\n"
    "    ld.param.u64 %d1, [sampled];\n"
    "    ld.param.u64 %d2, [history];\n"
    "    ld.param.u64 %d3, [position];\n"
    "    ld.param.u64 %d4, [token];\n"
    "    ld.param.u64 %d5, [uniform];\n"
    "    ld.param.u64 %d6, [seen];\n"
    "    ld.param.u64 %d7, [prompt];\n"
    "    ld.param.u64 %d8, [seed];\n"
    "    griddepcontrol.wait;\n"
    "    mov.u32 %r1, %tid.x;\n"
    "    setp.ne.u32 %p1, %r1, 0;\n"
    "    @%p1 bra DONE;\n"
    "    ld.global.u32 %r2, [%d3];\n"
    "    add.u32 %r2, %r2, 1;\n"
    "    ld.global.u32 %r3, [%d7];\n"
    "    mad.wide.u32 %d9, %r2, 4, %d2;\n"
    "    ld.global.u32 %r4, [%d1];\n"
    "    setp.lt.u32 %p2, %r2, %r3;\n"
    "    @%p2 ld.global.u32 %r4, [%d9];\n"
    "    st.global.u32 [%d9], %r4;\n"
    "    st.global.u32 [%d4], %r4;\n"
    "    st.global.u32 [%d3], %r2;\n"
    "    cvt.u64.u32 %d10, %r4;\n"
    "    add.u64 %d10, %d10, %d6;\n"
    "    mov.u32 %r5, 1;\n"
    "    st.global.u8 [%d10], %r5;\n"
    "    cvt.u64.u32 %d11, %r2;\n"
    "    add.u64 %d11, %d11, 1;\n"
    "    mad.lo.u64 %d11, %d11, 0x9e3779b97f4a7c15, %d8;\n"
    "    shr.u64 %d12, %d11, 30;\n"
    "    xor.b64 %d11, %d11, %d12;\n"
    "    mul.lo.u64 %d11, %d11, 0xbf58476d1ce4e5b9;\n"
    "    shr.u64 %d12, %d11, 27;\n"
    "    xor.b64 %d11, %d11, %d12;\n"
    "    mul.lo.u64 %d11, %d11, 0x94d049bb133111eb;\n"
    "    shr.u64 %d12, %d11, 40;\n"
    "    cvt.u32.u64 %r6, %d12;\n"
    "    cvt.rn.f32.u32 %f1, %r6;\n"
    "    mul.f32 %f1, %f1, 0f33800000;\n" /* 2^-24 */
    "    st.global.f32 [%d5], %f1;\n"
    "DONE:\n"
    "    ret;\n"
    "}\n"
    "\n" PENALIZE(
        bf16, 2,
        "    ld.global.b16 %h1, [%d5];\n"
        "    mov.b16 %h2, 0;\n"
        "    mov.b32 %f3, {%h2, %h1};\n",
        "    cvt.rn.bf16.f32 %h3, %f3;\n"
        "    st.global.b16 [%d5], %h3;\n") "\n" PENALIZE(f32, 4, "    ld.global.f32 %f3, [%d5];\n",
                                                         "    st.global.f32 [%d5], %f3;\n");

/* Weights of 8 bits, made when a model is loaded: each row is divided by its largest magnitude over
 * 448, the largest e4m3. */
const char round_ptx[] = "// kernel: quantize_rows\n"
                         "// purpose: rounds rows of bf16 to e4m3 with a scale for each.\n"
                         ".version 8.1\n"
                         ".target sm_90\n"
                         ".address_size 64\n"
                         "\n"
                         ".visible .entry quantize_rows(\n"
                         "    .param .u64 source,\n"
                         "    .param .u64 target,\n"
                         "    .param .u64 scale,\n"
                         "    .param .u32 columns)\n"
                         "{\n"
                         "    .reg .pred %p<6>;\n"
                         "    .reg .b16 %h<6>;\n"
                         "    .reg .b32 %r<16>;\n"
                         "    .reg .f32 %f<12>;\n"
                         "    .reg .b64 %d<12>;\n"
                         "    .shared .align 4 .f32 most[32];\n"
                         "    griddepcontrol.launch_dependents;\n"
                         "    ld.param.u64 %d1, [source];\n"
                         "    ld.param.u64 %d2, [target];\n"
                         "    ld.param.u64 %d3, [scale];\n"
                         "    ld.param.u32 %r1, [columns];\n"
                         "    mov.u32 %r2, %ctaid.x;\n"
                         "    mov.u32 %r3, %tid.x;\n"
                         "    mov.u32 %r4, %ntid.x;\n"
                         "    shr.u32 %r5, %r1, 1;\n"
                         "    mul.wide.u32 %d4, %r2, %r1;\n"
                         "    mad.lo.u64 %d1, %d4, 2, %d1;\n"
                         "    add.u64 %d2, %d2, %d4;\n"
                         "    mad.wide.u32 %d3, %r2, 4, %d3;\n"
                         "    griddepcontrol.wait;\n"
                         "    mov.f32 %f1, 0f00000000;\n"
                         "    mov.u32 %r6, %r3;\n"
                         "MOST:\n"
                         "    setp.ge.u32 %p1, %r6, %r5;\n"
                         "    @%p1 bra MEET;\n"
                         "    mad.wide.u32 %d5, %r6, 4, %d1;\n"
                         "    ld.global.b32 %r7, [%d5];\n"
                         "    shl.b32 %r8, %r7, 16;\n"
                         "    and.b32 %r9, %r7, 0xffff0000;\n"
                         "    mov.b32 %f2, %r8;\n"
                         "    mov.b32 %f3, %r9;\n"
                         "    abs.f32 %f2, %f2;\n"
                         "    abs.f32 %f3, %f3;\n"
                         "    max.f32 %f1, %f1, %f2;\n"
                         "    max.f32 %f1, %f1, %f3;\n"
                         "    add.u32 %r6, %r6, %r4;\n"
                         "    bra MOST;\n"
                         "MEET:\n"
                         "    shfl.sync.bfly.b32 %f2, %f1, 16, 31, -1;\n"
                         "    max.f32 %f1, %f1, %f2;\n"
                         "    shfl.sync.bfly.b32 %f2, %f1, 8, 31, -1;\n"
                         "    max.f32 %f1, %f1, %f2;\n"
                         "    shfl.sync.bfly.b32 %f2, %f1, 4, 31, -1;\n"
                         "    max.f32 %f1, %f1, %f2;\n"
                         "    shfl.sync.bfly.b32 %f2, %f1, 2, 31, -1;\n"
                         "    max.f32 %f1, %f1, %f2;\n"
                         "    shfl.sync.bfly.b32 %f2, %f1, 1, 31, -1;\n"
                         "    max.f32 %f1, %f1, %f2;\n"
                         "    shr.u32 %r10, %r3, 5;\n"
                         "    shl.b32 %r10, %r10, 2;\n"
                         "    mov.u32 %r11, most;\n"
                         "    add.u32 %r10, %r10, %r11;\n"
                         "    and.b32 %r12, %r3, 31;\n"
                         "    setp.eq.u32 %p2, %r12, 0;\n"
                         "    @%p2 st.shared.f32 [%r10], %f1;\n"
                         "    bar.sync 0;\n"
                         "    shr.u32 %r13, %r4, 5;\n"
                         "    mov.f32 %f1, 0f00000000;\n"
                         "ALL:\n"
                         "    ld.shared.f32 %f2, [%r11];\n"
                         "    max.f32 %f1, %f1, %f2;\n"
                         "    add.u32 %r11, %r11, 4;\n"
                         "    sub.u32 %r13, %r13, 1;\n"
                         "    setp.ne.u32 %p3, %r13, 0;\n"
                         "    @%p3 bra ALL;\n"
                         "    div.rn.f32 %f4, %f1, 0f43e00000;\n"
                         "    setp.eq.f32 %p4, %f4, 0f00000000;\n"
                         "    selp.f32 %f4, 0f3f800000, %f4, %p4;\n"
                         "    setp.eq.u32 %p5, %r3, 0;\n"
                         "    @%p5 st.global.f32 [%d3], %f4;\n"
                         "    mov.u32 %r6, %r3;\n"
                         "ROUND:\n"
                         "    setp.ge.u32 %p1, %r6, %r5;\n"
                         "    @%p1 bra DONE;\n"
                         "    mad.wide.u32 %d5, %r6, 4, %d1;\n"
                         "    ld.global.b32 %r7, [%d5];\n"
                         "    shl.b32 %r8, %r7, 16;\n"
                         "    and.b32 %r9, %r7, 0xffff0000;\n"
                         "    mov.b32 %f2, %r8;\n"
                         "    mov.b32 %f3, %r9;\n"
                         "    div.rn.f32 %f2, %f2, %f4;\n"
                         "    div.rn.f32 %f3, %f3, %f4;\n"
                         "    cvt.rn.satfinite.e4m3x2.f32 %h1, %f3, %f2;\n"
                         "    mad.wide.u32 %d6, %r6, 2, %d2;\n"
                         "    st.global.b16 [%d6], %h1;\n"
                         "    add.u32 %r6, %r6, %r4;\n"
                         "    bra ROUND;\n"
                         "DONE:\n"
                         "    ret;\n"
                         "}\n";
