/* Reads what matters of the machine code of sm_90 to sm_12x: instructions of 128 bits, of which the
 * low 12 bits are the opcode and the next four the predicate. The encodings were found by
 * assembling kernels with and without griddepcontrol; tests/unit/test_image.c has such code, and
 * tests/cli/cubins.sh holds the walk against the PTX's own traits where ptxas is installed. */
#include "base/cubin.h"

#include <endian.h>
#include <stdlib.h>

enum {
    INSTRUCTION = 16,
    ALWAYS = 7,       /* the predicate that is always true */
    ENTRY = 0x10,     /* st_other of kernels */
    OLDEST = 90,      /* older chips have no griddepcontrol */
    NEWEST = 129,     /* of the generation known last */
    ABI_OF_FLAGS = 8, /* from this ABI version on e_flags tell the chip in their second byte */
};

/* Control flow has opcodes of its own: all others go on with the next instruction, or end the grid
 * with an error. */
enum {
    CONTROL = 0x140, /* of the low 9 bits, to 0x15f */
    PREEXIT = 0x82d,
    ACQBULK = 0x82e,
    BSYNC = 0x941,
    BREAK = 0x942,
    CALL_ABSOLUTE = 0x343,
    CALL_FAR = 0x943,
    CALL = 0x944,
    BSSY = 0x945,
    YIELD = 0x946,
    BRA = 0x947,
    BRA_UNIFORM = 0x547,
    WARPSYNC = 0x948,
    WARPSYNC_REGISTER = 0x348,
    EXIT = 0x94d,
    KILL = 0x95b,
    TRAP = 0x95c,
    NANOSLEEP = 0x95d,
    NANOSLEEP_REGISTER = 0x35d
};

/* What an instruction is, without the form of its operands. Of those from FIRST_OTHER on, these
 * reach no memory but the block's own, and constants; of the rest nothing is known here. */
enum { KIND = 0x1ff, FIRST_OTHER = 0x120 };

static const uint16_t private_kinds[] = {
    0x182, /* LDC: constants */
    0x183, /* LDL: local memory */
    0x184, /* LDS: shared memory */
    0x187, /* STL */
    0x188, /* STS */
    0x189, /* SHFL */
    0x18c, /* ATOMS, atomic operations in shared memory */
    0x18d, /* the same, with a comparison */
    0x192, /* MEMBAR */
    0x1a1, /* MATCH */
    0x1a7, /* SYNCS: mbarriers */
    0x1ab, /* ERRBAR */
    0x1ac, /* LDCU: constants */
    0x1af, /* LDGDEPBAR: what was begun before is counted */
    0x1b0, /* ARRIVES */
    0x1b2, /* SYNCS, uniform */
    0x1c2, /* R2UR */
    0x1c3, /* S2UR */
    0x1c4, /* REDUX */
    0x1c6, /* FENCE */
    0x1c7, /* UCGABAR: barriers of a cluster */
    0x1c8, /* USETMAXREG */
};

/* Behind these a thread may stand behind another one's wait. */
enum { BAR = 0x11d, SYNCS = 0x1a7, UCGABAR = 0x1c7 };

typedef struct instruction {
    uint64_t low, high;
} instruction;

typedef struct walk {
    gd_view code;
    uint64_t count;    /* of instructions */
    uint8_t *seen;     /* 1: not behind a barrier, 2: behind one */
    uint64_t *waiting; /* instructions from which to go on, twice, and 1 more behind a barrier */
    uint64_t waiting_count;
    bool behind;          /* a barrier: where the walk is */
    bool synchronized[2]; /* one was met that may go on where any barrier of the kernel says */
    bool waits, triggers, calls;
    bool touches[2]; /* one was met that may reach other memory than the block's own */
    bool dry;        /* a path ends that has not waited */
    bool open;       /* a path leads where it cannot be followed */
} walk;

const char *gd_cubin_open(gd_view file, gd_cubin *cubin)
{
    const char *wrong = gd_elf_open(file, &cubin->elf);
    const Elf64_Ehdr *header = &cubin->elf.header;
    Elf64_Shdr section, strings;

    cubin->symbols = cubin->names = (gd_view){0};
    if (wrong)
        return wrong;
    if (header->e_machine != GD_ELF_CUDA)
        return "this ELF file is no cubin: it holds code for another kind of machine";
    cubin->chip = header->e_flags >> (header->e_ident[EI_ABIVERSION] >= ABI_OF_FLAGS ? 8 : 0) & 255;
    for (uint64_t i = 1; i < cubin->elf.section_count; i++) {
        gd_view symbols, names;
        if (gd_elf_section(&cubin->elf, i, &section, &symbols) && section.sh_type == SHT_SYMTAB &&
            gd_elf_section(&cubin->elf, section.sh_link, &strings, &names) &&
            strings.sh_type == SHT_STRTAB) {
            cubin->symbols = symbols;
            cubin->names = names;
        }
    }
    return NULL;
}

/* A symbol that is a kernel; its name ends, since each table of names does. */
static const char *kernel_name(const gd_cubin *cubin, const Elf64_Sym *symbol)
{
    if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || !(symbol->st_other & ENTRY) ||
        symbol->st_shndx == SHN_UNDEF || symbol->st_name >= cubin->names.size)
        return NULL;
    return (const char *)cubin->names.bytes + symbol->st_name;
}

const char *gd_cubin_next(const gd_cubin *cubin, uint64_t *at)
{
    Elf64_Sym symbol;

    while (gd_view_copy(cubin->symbols, *at, &symbol, sizeof symbol)) {
        const char *name = kernel_name(cubin, &symbol);
        *at += sizeof symbol;
        if (name)
            return name;
    }
    return NULL;
}

/* ---- machine code ---- */

static instruction read_at(const walk *in, uint64_t index)
{
    instruction made = {0, 0};

    gd_view_copy(in->code, index * INSTRUCTION, &made, sizeof made);
    return (instruction){le64toh(made.low), le64toh(made.high)};
}

static uint32_t opcode_of(instruction of)
{
    return of.low & 0xfff;
}

/* A wait that no predicate guards; the bits from 105 on are for scheduling. */
static bool is_plain(instruction of)
{
    return of.low == (ACQBULK | ALWAYS << 12) && !(of.high & ((UINT64_C(1) << 41) - 1));
}

static void go_to(walk *in, int64_t index)
{
    if (index < 0 || (uint64_t)index >= in->count) {
        in->open = true;
    } else if (!(in->seen[index] & 1 << in->behind)) {
        in->seen[index] |= (uint8_t)(1 << in->behind);
        in->waiting[in->waiting_count++] = (uint64_t)index * 2 + in->behind;
    }
}

/* By the distance in bytes, from the next instruction on. */
static void go_by(walk *in, uint64_t index, int64_t distance)
{
    if (distance % INSTRUCTION)
        in->open = true;
    else
        go_to(in, (int64_t)index + 1 + distance / INSTRUCTION);
}

/* A distance in words of 4 bytes: its low byte in bits 16 to 23, the rest from bit 34 on. */
static int64_t distance_of(instruction of)
{
    const uint64_t words = (of.low >> 16 & 0xff) | of.low >> 34 << 8 | (of.high & 0x3ffff) << 38;

    return (int64_t)(words << 8) / 64; /* of 56 bits */
}

/* Threads that were parted meet again where a barrier says; which one is not followed. */
static void synchronize(walk *in)
{
    for (uint64_t i = 0; i < in->count && !in->synchronized[in->behind]; i++) {
        const instruction at = read_at(in, i);
        if (opcode_of(at) == BSSY)
            go_by(in, i, (int32_t)(at.low >> 32));
    }
    in->synchronized[in->behind] = true;
}

static void step_control(walk *in, uint64_t index, instruction at)
{
    const uint32_t opcode = opcode_of(at);
    /* The second predicate of branches and exits, which is always true in these bits. */
    const bool always = (at.low >> 12 & 15) == ALWAYS && !(at.low >> 24 & 0x3ff) &&
                        (at.high & ((UINT64_C(1) << 41) - 1)) >> 18 == 0x3800000 >> 18;

    switch (opcode) {
    case EXIT:
    case KILL:
        in->dry = true;
        if (always && !(at.low >> 16))
            return;
        break;
    case BRA:
    case BRA_UNIFORM:
        go_by(in, index, distance_of(at));
        if (always && opcode == BRA)
            return;
        break;
    case WARPSYNC:
    case WARPSYNC_REGISTER:
        if (distance_of(at))
            go_by(in, index, distance_of(at));
        break;
    case BSYNC:
        synchronize(in);
        break;
    case BSSY:
    case BREAK:
    case YIELD:
    case TRAP:
    case NANOSLEEP:
    case NANOSLEEP_REGISTER:
        break;
    default:
        in->open = true;
        return;
    }
    go_to(in, (int64_t)index + 1);
}

/* Arithmetic, conversions and special registers come first. */
static bool is_private(uint32_t opcode)
{
    const uint32_t kind = opcode & KIND;
    bool found = kind < FIRST_OTHER;

    for (size_t i = 0; i < sizeof private_kinds / sizeof *private_kinds && !found; i++)
        found = kind == private_kinds[i];
    return found;
}

static void step(walk *in, uint64_t index)
{
    const instruction at = read_at(in, index);
    const uint32_t opcode = opcode_of(at);

    if ((opcode & 0x1e0) == CONTROL) {
        step_control(in, index, at);
        return;
    }
    if (opcode == ACQBULK && is_plain(at))
        return;
    in->behind |= (opcode & KIND) == BAR || (opcode & KIND) == SYNCS || (opcode & KIND) == UCGABAR;
    in->touches[in->behind] |= !is_private(opcode);
    go_to(in, (int64_t)index + 1);
}

static bool is_call(uint32_t opcode)
{
    return opcode == CALL || opcode == CALL_ABSOLUTE || opcode == CALL_FAR;
}

/* What there is anywhere: behind the wait, where the walk does not go, a kernel may still
 * trigger. */
static void look_through(walk *in)
{
    for (uint64_t i = 0; i < in->count; i++) {
        const uint32_t opcode = opcode_of(read_at(in, i));
        in->triggers |= opcode == PREEXIT;
        in->waits |= opcode == ACQBULK;
        in->calls |= is_call(opcode);
    }
}

/* Where some threads do not wait, and touch memory behind a barrier, which threads it orders behind
 * a wait is not followed. */
static uint32_t conclude(const walk *in)
{
    uint32_t traits = GRIDDEP_TRAIT_KNOWN | GRIDDEP_TRAIT_MACHINE_CODE;
    const bool open = in->open || (in->dry && in->waits && in->touches[1] && !in->touches[0]);

    traits |= in->waits ? GRIDDEP_TRAIT_WAITS : 0;
    traits |= in->waits && !in->dry && !open ? GRIDDEP_TRAIT_WAITS_ALWAYS : 0;
    traits |= in->triggers ? GRIDDEP_TRAIT_TRIGGERS : 0;
    traits |= in->calls ? GRIDDEP_TRAIT_CALLS : 0;
    traits |= in->waits && (in->touches[0] || in->touches[1]) ? GRIDDEP_TRAIT_TOUCHES_EARLY : 0;
    return traits | (open ? GRIDDEP_TRAIT_OPEN : 0);
}

static int32_t walk_code(gd_view code, uint32_t *traits)
{
    walk in = {.code = code, .count = code.size / INSTRUCTION};

    in.seen = calloc((size_t)in.count + 1, sizeof *in.seen);
    in.waiting = calloc(2 * (size_t)in.count + 1, sizeof *in.waiting);
    const bool room = in.seen && in.waiting;
    if (room)
        go_to(&in, 0);
    while (in.waiting_count) {
        const uint64_t next = in.waiting[--in.waiting_count];
        in.behind = next % 2;
        step(&in, next / 2);
    }
    look_through(&in);
    free(in.seen);
    free(in.waiting);
    if (!room)
        return GRIDDEP_ERROR_MEMORY;
    *traits = conclude(&in);
    return GRIDDEP_OK;
}

int32_t gd_cubin_traits(const gd_cubin *cubin, const char *kernel, uint32_t *traits)
{
    Elf64_Shdr section;
    Elf64_Sym symbol;
    gd_view code;

    *traits = 0;
    if (cubin->chip > NEWEST || cubin->elf.header.e_type != ET_EXEC)
        return GRIDDEP_OK;
    for (uint64_t at = 0; gd_view_copy(cubin->symbols, at, &symbol, sizeof symbol);
         at += sizeof symbol) {
        const char *name = kernel_name(cubin, &symbol);
        if (name && !strcmp(name, kernel) &&
            gd_elf_section(&cubin->elf, symbol.st_shndx, &section, &code) &&
            gd_view_part(code, symbol.st_value, symbol.st_size, &code)) {
            *traits = GRIDDEP_TRAIT_KNOWN | GRIDDEP_TRAIT_MACHINE_CODE;
            return cubin->chip < OLDEST ? GRIDDEP_OK : walk_code(code, traits);
        }
    }
    return GRIDDEP_OK;
}
