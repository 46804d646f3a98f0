/* Templates of conversations stand in tokenizer_config.json as programs in a language of their own;
 * which of them a model has shows in its special tokens. What a user wrote is encoded without
 * special tokens: it cannot end its own message. */
#include <stdlib.h>
#include <string.h>

#include "chat.h"

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

static void encode_llama3(tokenizer *with, const char *system, const char *user, token_list *tokens)
{
    static const char end[] = "<|eot_id|>";

    tokenizer_begin(with, tokens);
    if (system)
        message(with, "<|start_header_id|>system<|end_header_id|>\n\n", system, end, tokens);
    message(with, "<|start_header_id|>user<|end_header_id|>\n\n", user, end, tokens);
    mark(with, "<|start_header_id|>assistant<|end_header_id|>\n\n", tokens);
}

static void encode_chatml(tokenizer *with, const char *system, const char *user, token_list *tokens)
{
    static const char end[] = "<|im_end|>\n";

    if (system)
        message(with, "<|im_start|>system\n", system, end, tokens);
    message(with, "<|im_start|>user\n", user, end, tokens);
    mark(with, "<|im_start|>assistant\n", tokens);
}

/* Llama 2 and Mistral: marks that are text, unless the vocabulary has them. */
static void encode_instruction(tokenizer *with, const char *system, const char *user,
                               token_list *tokens)
{
    char *text =
        system ? format_text("<<SYS>>\n%s\n<</SYS>>\n\n%s", system, user) : format_text("%s", user);
    uint32_t ignored;

    tokenizer_begin(with, tokens);
    if (tokenizer_find(with, "[INST]", &ignored)) {
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
    uint32_t ignored;

    if (tokenizer_find(with, "<|start_header_id|>", &ignored))
        encode_llama3(with, system, user, tokens);
    else if (tokenizer_find(with, "<|im_start|>", &ignored))
        encode_chatml(with, system, user, tokens);
    else if (tokenizer_find(with, "</s>", &ignored))
        encode_instruction(with, system, user, tokens);
    else
        fail("the vocabulary has none of the marks of conversations that this program knows: give "
             "the prompt as text, without --chat");
}
