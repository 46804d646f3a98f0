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

/* Whether a token of that name was added to the vocabulary. */
bool tokenizer_has(const tokenizer *of, const char *name);

/* Appends the bytes of a token. They may end in the middle of a UTF-8 sequence. Special tokens have
 * none. */
void tokenizer_decode(const tokenizer *of, uint32_t token, byte_list *text);

/* Appends a text in which U+FFFD stands for what is no UTF-8. */
void append_valid(const char *text, size_t bytes, byte_list *out);

/* Appends the tokens of a conversation of one message, up to where the answer begins; system may be
 * NULL. The program ends with a message where the vocabulary has no marks that it knows. */
void chat_encode(tokenizer *with, const char *system, const char *user, token_list *tokens);

#endif
