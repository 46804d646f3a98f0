/* The emulator's compiler: PTX is parsed and looked over, and what is wrong is said as ptxas says
 * it. And its image format: an ELF file that a cubin's reader takes for a whole one, with the PTX
 * and its digest in a section. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/chip.h"
#include "base/digest.h"
#include "base/elf.h"
#include "base/fatbin.h"
#include "base/format.h"
#include "base/unpack.h"
#include "emulator/driver/call.h"
#include "emulator/driver/module.h"
#include "ptx/text/open.h"
#include "ptx/check/validity.h"
#include "ptx/isa/need.h"

enum { LINE_BYTES = 512 };

typedef struct image {
    Elf64_Ehdr elf;
    Elf64_Shdr sections[2];
    gd_emulated_head head;
} image;

/* ---- logs ---- */

enum { LAST_OPTION = GD_CU_JIT_SPLIT_COMPILE + 1 }; /* CU_JIT_BINARY_LOADER_THREAD_COUNT */

gd_CUresult gd_jit_read(gd_jit *jit, const gd_profile *chip, unsigned count,
                        const gd_CUjit_option *options, void **values)
{
    *jit = (gd_jit){.chip = chip};
    jit->errors.first = jit->reason;
    if (count && (!options || !values))
        return GD_CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) {
        size_t number = (size_t)(uintptr_t)values[i];
        if (options[i] < 0 || options[i] > LAST_OPTION)
            return GD_CUDA_ERROR_INVALID_VALUE;
        if (options[i] == GD_CU_JIT_INFO_LOG_BUFFER) {
            jit->info.buffer = values[i];
        } else if (options[i] == GD_CU_JIT_ERROR_LOG_BUFFER) {
            jit->errors.buffer = values[i];
        } else if (options[i] == GD_CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES) {
            jit->info.capacity = (unsigned)number;
            jit->info.size_value = &values[i];
        } else if (options[i] == GD_CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) {
            jit->errors.capacity = (unsigned)number;
            jit->errors.size_value = &values[i];
        } else if (options[i] == GD_CU_JIT_LOG_VERBOSE) {
            jit->verbose = number != 0;
        }
    }
    return GD_CUDA_SUCCESS;
}

/* Lines are separated, not ended, by a line feed. */
void gd_jit_write(gd_jit_log *log, const char *format, ...)
{
    size_t room = log->capacity > log->used ? log->capacity - log->used : 0;
    char line[LINE_BYTES];
    va_list list;

    va_start(list, format);
    gd_format_list(line, sizeof line, format, list);
    va_end(list);
    if (log->first && !*log->first)
        snprintf(log->first, LINE_BYTES, "%s", line);
    if (!log->buffer || room == 0)
        return;
    int written = snprintf(log->buffer + log->used, room, "%s%s", log->used ? "\n" : "", line);
    if (written > 0)
        log->used += (size_t)written < room ? (size_t)written : room - 1;
}

static void close_log(gd_jit_log *log)
{
    if (log->size_value)
        *log->size_value = (void *)(uintptr_t)log->used;
}

/* Who has no log learns the first error from cuGetErrorString. */
gd_CUresult gd_jit_close(gd_jit *jit, gd_CUresult result)
{
    close_log(&jit->info);
    close_log(&jit->errors);
    if (result != GD_CUDA_SUCCESS && *jit->reason && !jit->errors.buffer &&
        !gd_device_has_reason(result))
        gd_device_refuse(result, "%s", jit->reason);
    *jit->reason = 0;
    return result;
}

/* ---- checks ---- */

static gd_CUresult refuse(gd_jit *jit)
{
    gd_jit_write(&jit->errors, "ptxas fatal   : Ptx assembly aborted due to errors");
    return GD_CUDA_ERROR_INVALID_PTX;
}

static gd_CUresult report_syntax(gd_jit *jit, const gd_ptx_module *module)
{
    for (uint32_t i = 0; i < module->diagnostics->count; i++) {
        int32_t line, column;
        gd_ptx_tokens_position(&module->tokens, module->diagnostics->list[i].offset, &line,
                               &column);
        gd_jit_write(&jit->errors, "ptxas application ptx input, line %" PRId32 "; error   : %s",
                     line, module->diagnostics->list[i].text);
    }
    return refuse(jit);
}

/* What ptxas refuses in a text that parses, as griddep check tells it. */
static gd_CUresult report_validity(gd_jit *jit, const gd_ptx_module *module)
{
    griddep_findings *findings = gd_findings_create();
    griddep_finding finding = {.size = sizeof finding};
    bool wrong = false;

    if (!findings || gd_check_validity(findings, module, &wrong, NULL) != GRIDDEP_OK ||
        gd_findings_check(findings, NULL) != GRIDDEP_OK) {
        griddep_findings_destroy(findings);
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    }
    for (uint32_t i = 0; i < griddep_findings_count(findings); i++) {
        if (griddep_findings_get(findings, i, &finding, NULL) == GRIDDEP_OK &&
            finding.severity == GRIDDEP_SEVERITY_ERROR)
            gd_jit_write(&jit->errors,
                         "ptxas application ptx input, line %" PRId32 "; error   : %s",
                         finding.line, finding.text);
    }
    griddep_findings_destroy(findings);
    return wrong ? refuse(jit) : GD_CUDA_SUCCESS;
}

/* griddep check says what griddepcontrol needs with its other rules of dependent launch (GD101,
 * GD102), ptxas with those of all instructions. */
static gd_CUresult check_control(gd_jit *jit, const gd_ptx_module *module)
{
    const gd_need need = gd_need_of(GD_OP_GRIDDEPCONTROL_WAIT, "");
    int32_t line, column;

    if (!module->control_count || gd_need_is_met(need, module))
        return GD_CUDA_SUCCESS;
    gd_ptx_token_position(module, module->instructions[module->controls[0].instruction].opcode,
                          &line, &column);
    if (!gd_need_is_met((gd_need){.target = need.target}, module))
        gd_jit_write(&jit->errors,
                     "ptxas application ptx input, line %" PRId32
                     "; error   : griddepcontrol needs .target sm_%u or higher; the text says %s",
                     line, need.target / 10u, module->target);
    if (module->version < need.version)
        gd_jit_write(&jit->errors,
                     "ptxas application ptx input, line %" PRId32
                     "; error   : griddepcontrol needs .version %u.%u or higher; the text says "
                     "%d.%d",
                     line, need.version / 10u, need.version % 10u, module->version / 10,
                     module->version % 10);
    return refuse(jit);
}

static gd_CUresult refuse_specific(const gd_profile *chip, const char *target)
{
    return gd_device_refuse(GD_CUDA_ERROR_NO_BINARY_FOR_GPU,
                            ".target %s is for one other compute capability than %u.%u", target,
                            chip->capability / 10, chip->capability % 10);
}

/* sm_90a is code for capability 9.0 alone; so is any sm_NNa for its own; sm_NNf for its family. */
static gd_CUresult check_target(gd_jit *jit, const gd_ptx_module *module)
{
    const char *target = module->target;

    if (module->capability > (int32_t)jit->chip->capability) {
        gd_jit_write(&jit->errors, "ptxas fatal   : SM version specified by .target is higher than "
                                   "default SM version assumed");
        return gd_device_refuse(GD_CUDA_ERROR_INVALID_PTX,
                                ".target %s is newer than the emulated sm_%u", target ? target : "",
                                jit->chip->capability);
    }
    const char suffix = target && *target ? target[strlen(target) - 1] : 0;
    if (!gd_chip_runs((int32_t)jit->chip->capability, module->capability, suffix))
        return refuse_specific(jit->chip, target);
    return GD_CUDA_SUCCESS;
}

static gd_CUresult check_open(gd_jit *jit, const gd_ptx_module *module, gd_jit_kind kind)
{
    for (uint32_t i = 0; i < module->operand_count; i++) {
        const gd_ptx_operand *operand = &module->operands[i];
        const char *open = gd_ptx_find_open(module, operand, kind == GD_JIT_LINKED);
        int32_t line, column;
        uint32_t length;
        if (!open)
            continue;
        gd_ptx_token_position(module, operand->token, &line, &column);
        const char *name = gd_ptx_name_text(module, module->symbols[operand->symbol].name, &length);
        if (kind == GD_JIT_LINKED)
            gd_jit_write(&jit->errors, "error   : Undefined reference to '%.*s'", (int)length,
                         name);
        else
            gd_jit_write(&jit->errors,
                         "ptxas application ptx input, line %" PRId32
                         "; fatal   : Unresolved extern %s '%.*s'",
                         line, open, (int)length, name);
        return kind == GD_JIT_LINKED ? GD_CUDA_ERROR_INVALID_SOURCE : GD_CUDA_ERROR_INVALID_PTX;
    }
    return GD_CUDA_SUCCESS;
}

static gd_CUresult check_module(gd_jit *jit, const gd_ptx_module *module, gd_jit_kind kind)
{
    if (module->version > GD_DEVICE_PTX_VERSION) {
        gd_jit_write(&jit->errors,
                     "ptxas application ptx input, line 1; fatal   : Unsupported .version %d.%d; "
                     "current version is '%d.%d'",
                     module->version / 10, module->version % 10, GD_DEVICE_PTX_VERSION / 10,
                     GD_DEVICE_PTX_VERSION % 10);
        return gd_device_refuse(GD_CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
                                ".version %d.%d is newer than %d.%d", module->version / 10,
                                module->version % 10, GD_DEVICE_PTX_VERSION / 10,
                                GD_DEVICE_PTX_VERSION % 10);
    }
    if (module->diagnostics->count)
        return report_syntax(jit, module);
    gd_CUresult result = check_target(jit, module);
    if (result != GD_CUDA_SUCCESS)
        return result;
    result = report_validity(jit, module);
    if (result == GD_CUDA_SUCCESS)
        result = check_control(jit, module);
    if (result != GD_CUDA_SUCCESS)
        return result;
    return kind == GD_JIT_PART ? GD_CUDA_SUCCESS : check_open(jit, module, kind);
}

gd_CUresult gd_jit_parse_text(gd_jit *jit, const char *text, size_t bytes, gd_jit_kind kind,
                              griddep_ptx **ptx)
{
    griddep_ptx *made = NULL;
    griddep_error error;

    griddep_error_init(&error);
    if (!memmem(text, bytes, ".version", 8)) {
        gd_jit_write(&jit->errors,
                     "error   : Binary format for key='0', ident='' is not recognized");
        return GD_CUDA_ERROR_INVALID_IMAGE;
    }
    int32_t status = gd_ptx_parse_tolerant(text, bytes, "ptx", &made, &error);
    if (status) {
        gd_jit_write(&jit->errors, "error   : %s", error.text);
        return status == GRIDDEP_ERROR_MEMORY ? GD_CUDA_ERROR_OUT_OF_MEMORY
                                              : GD_CUDA_ERROR_INVALID_PTX;
    }
    gd_CUresult result = check_module(jit, &made->module, kind);
    if (result == GD_CUDA_SUCCESS)
        *ptx = made;
    else
        griddep_ptx_destroy(made);
    return result;
}

/* ---- images ---- */

static void digest_text(const char *text, size_t bytes, uint8_t result[GD_EMULATED_DIGEST])
{
    gd_digest digest;

    gd_digest_begin(&digest);
    gd_digest_add(&digest, text, bytes);
    gd_digest_end(&digest, result);
}

void *gd_jit_make_image(uint32_t capability, const char *text, size_t bytes, size_t *image_bytes)
{
    image head = {0};
    char *made = malloc(sizeof head + bytes + 1);

    if (!made)
        return NULL;
    memcpy(head.elf.e_ident, ELFMAG, SELFMAG);
    head.elf.e_ident[EI_CLASS] = ELFCLASS64;
    head.elf.e_ident[EI_DATA] = ELFDATA2LSB;
    head.elf.e_ident[EI_VERSION] = EV_CURRENT;
    head.elf.e_type = ET_EXEC;
    head.elf.e_machine = GD_ELF_CUDA;
    head.elf.e_version = EV_CURRENT;
    head.elf.e_flags = capability;
    head.elf.e_ehsize = sizeof head.elf;
    head.elf.e_shoff = offsetof(image, sections);
    head.elf.e_shentsize = sizeof *head.sections;
    head.elf.e_shnum = 2;
    head.sections[1].sh_type = SHT_PROGBITS;
    head.sections[1].sh_offset = offsetof(image, head);
    head.sections[1].sh_size = sizeof head.head + bytes + 1;
    memcpy(head.head.magic, gd_emulated_magic, sizeof gd_emulated_magic);
    head.head.bytes = bytes;
    digest_text(text, bytes, head.head.digest);
    memcpy(made, &head, sizeof head);
    memcpy(made + sizeof head, text, bytes);
    made[sizeof head + bytes] = 0;
    *image_bytes = sizeof head + bytes + 1;
    return made;
}

static gd_CUresult refuse_binary(gd_jit *jit, const char *kind)
{
    gd_jit_write(&jit->errors, "error   : the emulator runs PTX; a %s cannot be emulated", kind);
    return gd_device_refuse(GD_CUDA_ERROR_NO_BINARY_FOR_GPU,
                            "the emulator runs PTX; a %s cannot be emulated", kind);
}

/* The bytes of an image of the emulator's own, whose parts stand where gd_jit_make_image puts them:
 * the driver is given no length, and knows one from nothing else. False: something else's, of which
 * no more than the header is read. */
static bool find_extent(const unsigned char *bytes, const Elf64_Ehdr *header, gd_view *extent)
{
    image head;

    if (header->e_shoff != offsetof(image, sections) || header->e_shnum != 2 ||
        header->e_ehsize != sizeof *header || header->e_shentsize != sizeof *head.sections)
        return false;
    memcpy(&head, bytes, offsetof(image, head));
    *extent = (gd_view){bytes, head.sections[1].sh_offset + head.sections[1].sh_size};
    return head.sections[1].sh_type == SHT_PROGBITS &&
           head.sections[1].sh_offset == offsetof(image, head) &&
           head.sections[1].sh_size > sizeof head.head &&
           head.sections[1].sh_size <= sizeof head + GD_PTX_LIMIT_BYTES;
}

static gd_CUresult parse_elf(gd_jit *jit, const unsigned char *bytes, griddep_ptx **ptx)
{
    Elf64_Ehdr header;
    gd_emulated_head head = {0};
    uint8_t digest[GD_EMULATED_DIGEST];
    gd_view extent, text;

    memcpy(&header, bytes, sizeof header);
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != GD_ELF_CUDA)
        return GD_CUDA_ERROR_INVALID_IMAGE;
    if (!find_extent(bytes, &header, &extent) || !gd_emulated_text(extent, &head, &text))
        return memcmp(head.magic, gd_emulated_magic, sizeof gd_emulated_magic)
                   ? refuse_binary(jit, "cubin")
                   : GD_CUDA_ERROR_INVALID_IMAGE;
    if (header.e_flags != jit->chip->capability)
        return GD_CUDA_ERROR_NO_BINARY_FOR_GPU;
    digest_text((const char *)text.bytes, text.size, digest);
    if (memcmp(digest, head.digest, sizeof digest))
        return GD_CUDA_ERROR_INVALID_IMAGE;
    return gd_jit_parse_text(jit, (const char *)text.bytes, text.size, GD_JIT_WHOLE, ptx);
}

/* Cubins are passed over, as a driver does with those for other chips. */
gd_CUresult gd_jit_unpack(gd_jit *jit, gd_view fatbin, char **text, uint64_t *bytes)
{
    gd_fatbin_entry entry;

    if (gd_fatbin_check(fatbin))
        return GD_CUDA_ERROR_INVALID_IMAGE;
    if (!gd_fatbin_choose(fatbin, GD_FATBIN_PTX, (int32_t)jit->chip->capability, &entry))
        return refuse_binary(jit, "fatbin without PTX for this device");
    const char *wrong = gd_fatbin_unpack(&entry, text, bytes);
    if (!wrong)
        return GD_CUDA_SUCCESS;
    gd_jit_write(&jit->errors, "error   : the PTX of this fatbin cannot be read: %s", wrong);
    return gd_device_refuse(wrong == gd_unpack_no_memory ? GD_CUDA_ERROR_OUT_OF_MEMORY
                                                         : GD_CUDA_ERROR_INVALID_IMAGE,
                            "the PTX of this fatbin cannot be read: %s", wrong);
}

/* The driver is given no length: a fatbin says itself how long it is. */
static gd_CUresult parse_fatbin(gd_jit *jit, const void *data, griddep_ptx **ptx)
{
    char *text = NULL;
    uint64_t bytes = 0;
    gd_CUresult result = gd_jit_unpack(jit, (gd_view){data, gd_fatbin_bytes(data)}, &text, &bytes);

    if (result == GD_CUDA_SUCCESS)
        result = gd_jit_parse_text(jit, text, bytes, GD_JIT_WHOLE, ptx);
    free(text);
    return result;
}

/* What nvcc makes host code register has a pointer to the fatbin. */
static gd_CUresult parse_wrapper(gd_jit *jit, const void *data, griddep_ptx **ptx)
{
    gd_fatbin_wrapper wrapper;

    memcpy(&wrapper, data, sizeof wrapper);
    return wrapper.fatbin ? parse_fatbin(jit, wrapper.fatbin, ptx) : GD_CUDA_ERROR_INVALID_IMAGE;
}

gd_CUresult gd_jit_parse(gd_jit *jit, const void *data, griddep_ptx **ptx)
{
    const char *bytes = data;
    uint32_t magic = 0;

    for (size_t i = 0; i < sizeof magic && (i == 0 || bytes[i - 1]);
         i++) /* a text may be shorter */
        magic |= (uint32_t)(unsigned char)bytes[i] << 8 * i;
    if (magic == GD_FATBIN_MAGIC)
        return parse_fatbin(jit, data, ptx);
    if (magic == GD_FATBIN_WRAPPER_MAGIC)
        return parse_wrapper(jit, data, ptx);
    if (bytes[0] == ELFMAG0)
        return parse_elf(jit, data, ptx);
    return gd_jit_parse_text(jit, bytes, strlen(bytes), GD_JIT_WHOLE, ptx);
}
