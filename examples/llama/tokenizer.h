/* Text to tokens and back, as tokenizer.json says. */
#ifndef LLAMA_TOKENIZER_H
#define LLAMA_TOKENIZER_H

#include "common.h"

typedef struct tokenizer tokenizer;

tokenizer *tokenizer_read(const char *folder, uint32_t vocabulary);
void tokenizer_free(tokenizer *of);

/* Appends the tokens of a text. Bytes that are no UTF-8 count as U+FFFD. `special`: names of
 * special tokens in the text stand for them. */
void tokenizer_encode(tokenizer *of, const char *text, size_t bytes, bool special,
                      token_list *tokens);

/* What the model expects in front of a text (the token that begins it), appended. */
void tokenizer_begin(const tokenizer *of, token_list *tokens);

/* The token of that name among those that were added to the vocabulary. */
bool tokenizer_find(const tokenizer *of, const char *name, uint32_t *token);

/* Appends the bytes of a token. They may end in the middle of a UTF-8 sequence. `first`: it is the
 * first of a text, whose leading space some tokenizers put there themselves. Special tokens have no
 * bytes. */
void tokenizer_decode(const tokenizer *of, uint32_t token, bool first, byte_list *text);

/* Appends a text in which U+FFFD stands for what is no UTF-8. */
void append_valid(const char *text, size_t bytes, byte_list *out);

#endif
