/* By tables of the instructions that compute indices and conditions. */
#include "base/sass/registers.h"

enum {
    UNIFORM = 256, /* the numbers of UR0, P0 and UP0 in a set */
    PREDICATE = 320,
    UNIFORM_PREDICATE = 328,
    S2R = 0x119,
    R2UR = 0x1c2,
    S2UR = 0x1c3,
    NOP = 0x118
};

/* Operands that an instruction reads and writes, and where their fields stand. */
enum {
    A = 1,       /* a register, bits 24 to 31 */
    B = 2,       /* 32 to 39, where the form has a register there */
    C = 4,       /* 64 to 71 */
    IF = 8,      /* a predicate, 87 to 89 */
    ALSO = 16,   /* likewise, 68 to 70 */
    THIRD = 32,  /* 77 to 79 */
    D = 64,      /* writes a register, 16 to 23 */
    WIDE = 128,  /* and the next one */
    SIZED = 256, /* as many as bits 73 to 75 say */
    P = 512,     /* writes a predicate, 81 to 83 */
    Q = 1024,    /* and one more, 84 to 86 */
    U = 2048     /* its registers and predicates are uniform ones */
};

static const struct {
    uint16_t kind, operands;
} known[] = {
    {0x002, B | D},                         /* MOV */
    {0x005, D | WIDE},                      /* CS2R */
    {0x006, D | P},                         /* VOTE */
    {0x007, A | B | IF | D},                /* SEL */
    {0x008, D},                             /* FSEL */
    {0x009, D},                             /* FMNMX */
    {0x00b, A | B | IF | P | Q},            /* FSETP */
    {0x00c, A | B | IF | ALSO | P | Q},     /* ISETP */
    {0x010, A | B | C | D | P | Q},         /* IADD3 */
    {0x011, A | B | C | D | P},             /* LEA */
    {0x012, A | B | C | D | P},             /* LOP3 */
    {0x013, B | D},                         /* IABS */
    {0x016, A | B | C | D},                 /* PRMT */
    {0x017, A | B | IF | D},                /* IMNMX */
    {0x019, A | B | C | D},                 /* SHF */
    {0x01a, A | B | D},                     /* SGXT */
    {0x01c, IF | ALSO | THIRD | P | Q},     /* PLOP3 */
    {0x020, D},                             /* FMUL */
    {0x021, D},                             /* FADD */
    {0x023, D},                             /* FFMA */
    {0x024, A | B | C | D},                 /* IMAD */
    {0x025, A | B | C | D | WIDE},          /* IMAD.WIDE */
    {0x027, A | B | C | D},                 /* IMAD.HI */
    {0x030, D},                             /* HADD2 */
    {0x031, D},                             /* HFMA2 */
    {0x035, D},                             /* HFMA2.MMA */
    {0x036, A | B | D},                     /* VIADD */
    {0x045, B | D},                         /* I2FP */
    {0x048, A | B | IF | D},                /* VIMNMX */
    {0x082, B | D | U},                     /* UMOV */
    {0x086, D | P | U},                     /* VOTEU */
    {0x087, A | B | IF | D | U},            /* USEL */
    {0x08c, A | B | IF | ALSO | P | Q | U}, /* UISETP */
    {0x090, A | B | C | D | P | Q | U},     /* UIADD3 */
    {0x091, A | B | C | D | P | U},         /* ULEA */
    {0x092, A | B | C | D | P | U},         /* ULOP3 */
    {0x099, A | B | C | D | U},             /* USHF */
    {0x0a4, A | B | C | D | U},             /* UIMAD */
    {0x0a5, A | B | C | D | WIDE | U},      /* UIMAD.WIDE */
    {0x0b9, D | SIZED | U},                 /* ULDC */
    {0x105, B | D},                         /* F2I */
    {0x106, B | D},                         /* I2F */
    {0x108, B | D},                         /* MUFU */
    {0x182, D | SIZED},                     /* LDC */
    {0x1ac, D | SIZED | U},                 /* LDCU */
    {R2UR, A | D},
};

/* Special registers that differ: the lane, the thread's numbers, the CTA's. */
static bool differs(uint32_t special)
{
    return special == 0 || (special >= 0x21 && special <= 0x23) ||
           (special >= 0x25 && special <= 0x27);
}

static bool has(const gd_sass_registers *set, uint32_t number)
{
    return set->words[number / 64] >> number % 64 & 1;
}

static void put(gd_sass_registers *set, uint32_t number, bool is_in)
{
    const uint64_t bit = UINT64_C(1) << number % 64;

    set->words[number / 64] =
        is_in ? set->words[number / 64] | bit : set->words[number / 64] & ~bit;
}

/* RZ, URZ and the predicates that are always true are in no set. */
static bool has_register(const gd_sass_registers *set, gd_sass at, uint32_t first, bool uniform)
{
    const uint32_t number = gd_sass_bits(at, first, uniform ? 6 : 8);

    return number != (uniform ? 63u : 255u) && has(set, uniform ? UNIFORM + number : number);
}

static bool has_predicate(const gd_sass_registers *set, gd_sass at, uint32_t first, bool uniform)
{
    const uint32_t number = gd_sass_bits(at, first, 3);

    return number != GD_SASS_ALWAYS && has(set, (uniform ? UNIFORM_PREDICATE : PREDICATE) + number);
}

/* The form of the second operand: a register, an immediate, a constant or a uniform register. */
static bool has_second(const gd_sass_registers *set, gd_sass at, bool uniform)
{
    const uint32_t form = gd_sass_bits(at, 9, 3);

    if (form == 6 || form == 7)
        return has_register(set, at, 32, true);
    return form == 1 && has_register(set, at, 32, uniform);
}

static bool reads(uint32_t operands, gd_sass at, const gd_sass_registers *set)
{
    const bool uniform = operands & U;

    return (operands & A && has_register(set, at, 24, uniform)) ||
           (operands & B && has_second(set, at, uniform)) ||
           (operands & C && has_register(set, at, 64, uniform)) ||
           (operands & IF && has_predicate(set, at, 87, uniform)) ||
           (operands & ALSO && has_predicate(set, at, 68, uniform)) ||
           (operands & THIRD && has_predicate(set, at, 77, uniform));
}

/* What is written under a predicate may also stay. */
static void write(gd_sass_registers *set, uint32_t number, bool is_in, bool guarded)
{
    put(set, number, is_in || (guarded && has(set, number)));
}

/* How many registers an instruction writes. */
static uint32_t width(uint32_t operands, gd_sass at)
{
    const uint32_t size = gd_sass_bits(at, 73, 3);

    if (operands & SIZED)
        return size == 5 ? 2 : size == 6 ? 4 : 1;
    return operands & WIDE ? 2 : 1;
}

static void write_register(uint32_t operands, gd_sass at, gd_sass_registers *set, bool is_in,
                           bool guarded)
{
    const bool uniform = operands & U;
    const uint32_t number = gd_sass_bits(at, 16, uniform ? 6 : 8), last = uniform ? 63 : 255;

    for (uint32_t i = 0; i < width(operands, at) && number + i < last; i++)
        write(set, (uniform ? UNIFORM : 0) + number + i, is_in, guarded);
}

static void write_predicates(uint32_t operands, gd_sass at, gd_sass_registers *set, bool is_in,
                             bool guarded)
{
    const uint32_t base = operands & U ? UNIFORM_PREDICATE : PREDICATE;

    for (uint32_t first = 81; first <= (operands & Q ? 84 : 81); first += 3) {
        if (gd_sass_bits(at, first, 3) != GD_SASS_ALWAYS)
            write(set, base + gd_sass_bits(at, first, 3), is_in, guarded);
    }
}

/* Of an instruction that is not known: it may write four registers of either file, and predicates.
 */
static void forget(gd_sass at, gd_sass_registers *set)
{
    const uint32_t number = gd_sass_bits(at, 16, 8);

    for (uint32_t i = number; i < number + 4 && i < 255; i++)
        put(set, i, false);
    for (uint32_t i = number % 64; i < number % 64 + 4 && i < 63; i++)
        put(set, UNIFORM + i, false);
    write_predicates(Q, at, set, false, false);
    write_predicates(Q | U, at, set, false, false);
}

void gd_sass_compute(gd_sass at, gd_sass_registers *set)
{
    const uint32_t kind = gd_sass_opcode(at) & GD_SASS_KIND, guard = gd_sass_bits(at, 12, 3);
    const bool guarded = gd_sass_bits(at, 12, 4) != GD_SASS_ALWAYS;
    size_t i = 0;

    if (kind == NOP)
        return;
    if (kind == S2R || kind == S2UR) {
        write_register(kind == S2UR ? D | U : D, at, set, differs(gd_sass_bits(at, 72, 8)),
                       guarded);
        return;
    }
    while (i < sizeof known / sizeof *known && known[i].kind != kind)
        i++;
    if (i == sizeof known / sizeof *known) {
        forget(at, set);
        return;
    }
    const uint32_t operands = known[i].operands, written = kind == R2UR ? operands | U : operands;
    const bool is_in = reads(operands, at, set) ||
                       (guarded && guard != GD_SASS_ALWAYS &&
                        has(set, (operands & U ? UNIFORM_PREDICATE : PREDICATE) + guard));
    if (operands & D)
        write_register(written, at, set, is_in, guarded);
    if (operands & P)
        write_predicates(written, at, set, is_in, guarded);
}

bool gd_sass_divides(gd_sass at, const gd_sass_registers *set)
{
    return has_predicate(set, at, 12, false) ||
           (gd_sass_opcode(at) == GD_SASS_BRA_UNIFORM && has_predicate(set, at, 24, true));
}
