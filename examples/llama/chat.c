/* Templates of conversations stand in tokenizer_config.json as programs in a language of their own;
 * which of them a model has shows in its special tokens. What a user wrote is encoded without
 * special tokens: it cannot end its own message. */
#include <stdlib.h>
#include <string.h>

#include "tokenizer.h"

/* Marks, with names of special tokens in them. */
static void mark(tokenizer *with, const char *text, token_list *tokens)
{
    tokenizer_encode(with, text, strlen(text), true, tokens);
}

static void message(tokenizer *with, const char *before, const char *text, const char *after,
                    token_list *tokens)
{
    mark(with, before, tokens);
    tokenizer_encode(with, text, strlen(text), false, tokens);
    mark(with, after, tokens);
}

/* Formats of which each mark is a special token of its own. */
static const struct format {
    const char *shows; /* a token that others lack */
    bool begins;       /* what begins a text stands in front */
    const char *system, *user, *answer, *end;
} formats[] = {
    {"<|start_header_id|>", true, "<|start_header_id|>system<|end_header_id|>\n\n",
     "<|start_header_id|>user<|end_header_id|>\n\n",
     "<|start_header_id|>assistant<|end_header_id|>\n\n", "<|eot_id|>"},
    {"<|im_start|>", false, "<|im_start|>system\n", "<|im_start|>user\n", "<|im_start|>assistant\n",
     "<|im_end|>\n"},
};

/* Llama 2 and Mistral: marks that are text, unless the vocabulary has them. */
static void encode_instruction(tokenizer *with, const char *system, const char *user,
                               token_list *tokens)
{
    char *text =
        system ? format_text("<<SYS>>\n%s\n<</SYS>>\n\n%s", system, user) : format_text("%s", user);

    tokenizer_begin(with, tokens);
    if (tokenizer_has(with, "[INST]")) {
        message(with, "[INST]", text, "[/INST]", tokens);
    } else {
        char *marked = format_text("[INST] %s [/INST]", text);
        tokenizer_encode(with, marked, strlen(marked), false, tokens);
        free(marked);
    }
    free(text);
}

void chat_encode(tokenizer *with, const char *system, const char *user, token_list *tokens)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const struct format *of = &formats[i];
        if (!tokenizer_has(with, of->shows))
            continue;
        if (of->begins)
            tokenizer_begin(with, tokens);
        if (system)
            message(with, of->system, system, of->end, tokens);
        message(with, of->user, user, of->end, tokens);
        mark(with, of->answer, tokens);
        return;
    }
    if (!tokenizer_has(with, "</s>"))
        fail("the vocabulary has none of the marks of conversations that this program knows: give "
             "the prompt as text, without --chat");
    encode_instruction(with, system, user, tokens);
}
