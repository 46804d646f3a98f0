/* How the families that chat mark who says what. */
#ifndef LLAMA_CHAT_H
#define LLAMA_CHAT_H

#include "tokenizer.h"

/* Appends the tokens of a conversation of one message, up to where the answer begins; system may be
 * NULL. The program ends with a message where the vocabulary has no marks that it knows. */
void chat_encode(tokenizer *with, const char *system, const char *user, token_list *tokens);

#endif
