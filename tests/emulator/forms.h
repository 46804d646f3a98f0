/* What a form of forms.txt finds and leaves: the head of a module, and what stands in front of it
 * and behind it in an entry. */
#ifndef GD_TESTS_EMULATOR_FORMS_H
#define GD_TESTS_EMULATOR_FORMS_H

static const char form_head[] = ".version 8.8\n.target sm_90a\n.address_size 64\n.global .align 16 "
                                ".b8 gv[512];\n.global .align 64 .b8 maps[640];\n"
                                ".const .align 16 .b8 cv[512] = {1, 130, 3, 4, 5, 6, 7, 8, 9, 10, "
                                "11, 12, 13, 14, 15, 16, 255, 254, 253, 252};\n";

/* Values are chosen to mean something in every type: r1 is -123.117 as f32 and (-3.0, 1.0) as
 * f16x2, r2 is 1.5 and (1.94, 3.0). */
static const char form_prologue[] =
    "(.param .b64 in, .param .b64 dump, .param .align 16 .b8 out[256]) {\n"
    ".reg .pred p<8>; .reg .b8 c<8>; .reg .b16 h<16>; .reg .b32 r<16>, q<4>; .reg .b64 d<16>; .reg "
    ".b128 x<8>;\n"
    ".shared .align 128 .b8 sh[512]; .shared .align 8 .b64 mb; .local .align 16 .b8 lo[256];\n"
    "ld.param.b64 d10, [in]; mov.u32 r10, sh; mov.u32 r11, mb; cvt.u64.u32 d11, r10; "
    "cvta.shared.u64 d11, d11;\n"
    "cvt.u64.u32 d12, r11; cvta.shared.u64 d12, d12; mov.u32 r12, %laneid; mad.wide.u32 d13, r12, "
    "16, d10;\n"
    "ld.global.v4.b32 {q0, q1, q2, q3}, [d13]; mad.lo.u32 r13, r12, 16, r10; st.shared.v4.b32 "
    "[r13], {q0, q1, q2, "
    "q3};\n"
    "st.local.v4.b32 [lo], {q0, q1, q2, q3}; st.local.v4.b32 [lo+16], {q0, q1, q2, q3};\n"
    "mov.b32 r0, 0x11111111; mov.b32 r1, 0xc2f63c00; mov.b32 r2, 0x3fc04206; mov.b32 r3, 0x905; "
    "mov.b32 r4, "
    "0x3c00bc00;\n"
    "mov.b32 r5, 0xfffffff0; mov.b32 r6, 0x81827f01; mov.b32 r7, 16; mov.b32 r8, 32; mov.b32 r9, "
    "3;\n"
    "mov.b64 d0, 0x2222222222222222; mov.b64 d1, 0xc05edd2f1a9fbe77; mov.b64 d2, "
    "0x3ffc000000000006; mov.b64 d3, "
    "0x1200000905;\n"
    "mov.b64 d4, 0x4000000000000000; mov.b64 d5, 0; mov.b64 d6, 77; mov.b64 d7, "
    "0xbff0000000000000; mov.b64 d8, 1; "
    "mov.b64 d9, 2;\n"
    "mov.b16 h0, 0x3333; mov.b16 h1, 0xc248; mov.b16 h2, 0x4506; mov.b16 h3, 3; mov.b16 h4, 4; "
    "mov.b16 h5, 5; mov.b16 "
    "h6, 6; mov.b16 h7, 1;\n"
    "mov.b16 {c0, c1}, h1; mov.b16 {c2, c3}, h2; mov.b128 x0, {d1, d2}; mov.b128 x1, {d3, d4}; "
    "mov.b128 x2, {d5, d6}; "
    "mov.b128 x3, {d7, d8};\n"
    "setp.eq.u32 p0, r12, 99; setp.ne.u32 p1, r12, 99; setp.eq.u32 p2, r12, 99; setp.lt.u32 p3, "
    "r12, 7; setp.eq.u32 "
    "p4, r12, 5; mov.b32 r15, -1; bar.warp.sync 0xffffffff;\n";

static const char form_epilogue[] =
    "\nbar.warp.sync 0xffffffff; ld.param.b64 d13, [dump]; mov.u32 r12, %laneid; mad.wide.u32 d14, "
    "r12, 16, d13; "
    "mov.u32 r13, sh;\n"
    "mad.lo.u32 r13, r12, 16, r13; ld.shared.v4.b32 {q0, q1, q2, q3}, [r13]; st.global.v4.b32 "
    "[d14+256], {q0, q1, q2, "
    "q3};\n"
    "setp.ne.u32 p7, r12, 5; @p7 ret; selp.b32 q0, 1, 0, p0; selp.b32 q1, 1, 0, p1; "
    "st.global.v2.b32 [d13], {q0, q1};\n"
    "st.global.v4.b16 [d13+8], {h0, h1, h2, h3}; st.global.v4.b32 [d13+16], {r0, r1, r2, r3}; "
    "st.global.v4.b32 "
    "[d13+32], {r4, r5, r6, r7};\n"
    "st.global.v2.b64 [d13+48], {d0, d1}; st.global.v2.b64 [d13+64], {d2, d3}; st.global.v2.b64 "
    "[d13+80], {d4, d5};\n"
    "st.global.v2.b64 [d13+96], {d6, d7}; st.global.b128 [d13+112], x0; st.global.b128 [d13+128], "
    "x1; mov.b16 h8, {c0, "
    "c1}; mov.b16 h9, {c2, c3};\n"
    "st.global.v2.b16 [d13+144], {h8, h9};\n"
    "ld.local.v4.b32 {q0, q1, q2, q3}, [lo]; st.global.v4.b32 [d13+768], {q0, q1, q2, q3};\n"
    "ld.local.v4.b32 {q0, q1, q2, q3}, [lo+16]; st.global.v4.b32 [d13+784], {q0, q1, q2, q3}; "
    "ret;\n}\n";

#endif
