/* Why an entry is not decoded: what of it is not emulated, or that there is no memory. */
#include <stdarg.h>
#include <stdio.h>

#include "base/format.h"
#include "emulator/decode/decode.h"

bool gd_decode_memory(gd_decoder *decoder)
{
    decoder->out_of_memory = true;
    return false;
}

/* The opcode with its modifiers, without what stands between them. */
static void name_instruction(const gd_decoder *decoder, char *text, size_t capacity)
{
    size_t used = 0;

    for (uint32_t i = 0; decoder->instruction && i <= decoder->instruction->modifiers; i++) {
        uint32_t length;
        const char *word =
            gd_ptx_token_text(decoder->module, decoder->instruction->opcode + i, &length);
        if (length >= capacity - used)
            break;
        memcpy(text + used, word, length);
        used += length;
    }
    text[used] = 0;
}

bool gd_decode_refuse_with(gd_decoder *decoder, const char *why)
{
    gd_program_error *refusal = &decoder->image->refusal;
    char name[160];

    if (decoder->refused || decoder->out_of_memory)
        return false;
    decoder->refused = true;
    name_instruction(decoder, name, sizeof name);
    snprintf(refusal->text, sizeof refusal->text, "%s%s", name, why);
    if (!decoder->instruction)
        return false;
    refusal->instruction = (uint32_t)(decoder->instruction - decoder->module->instructions);
    gd_ptx_token_position(decoder->module, decoder->instruction->opcode, &refusal->line,
                          &refusal->column);
    return false;
}

bool gd_decode_refuse(gd_decoder *decoder, const char *format, ...)
{
    char what[200], why[240];
    va_list list;

    va_start(list, format);
    gd_format_list(what, sizeof what, format, list);
    va_end(list);
    snprintf(why, sizeof why, ": %s is not emulated", what);
    return gd_decode_refuse_with(decoder, why);
}

bool gd_decode_refuse_form(gd_decoder *decoder)
{
    return gd_decode_refuse_with(decoder, " in this form is not emulated");
}
