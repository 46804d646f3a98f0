/* Byte pair encoding, of bytes (Llama 3, Qwen) or of characters with bytes for those that are not
 * in the vocabulary (Llama 2, Mistral). A text goes through the steps that tokenizer.json lists:
 * added tokens are cut out, the rest is normalized, split, and each piece's symbols are merged in
 * the order of the list of merges. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <utf8proc.h>

#include "tokenizer.h"

static const char file_name[] = "tokenizer.json";
static const uint32_t no_token = UINT32_MAX;
static const char block[] = "\xe2\x96\x81"; /* U+2581, which stands for a space */

/* What ByteLevel splits by, where it does. */
static const char gpt2_pattern[] =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

typedef enum step_kind {
    STEP_NFC,
    STEP_PREPEND,  /* `text` in front of what is not empty */
    STEP_REPLACE,  /* `text` by `other` */
    STEP_SPLIT,    /* matches of `pattern` and what is between them are pieces */
    STEP_SPACE,    /* a space in front of a piece that has none */
    STEP_METASPACE /* blocks for spaces, one in front, a piece for each */
} step_kind;

typedef struct step {
    step_kind kind;
    const char *text, *other; /* in the JSON document */
    pcre2_code *pattern;
    enum { PREPEND_NEVER, PREPEND_FIRST, PREPEND_ALWAYS } prepend;
    bool split;
} step;

typedef struct added_token {
    const char *content; /* in the JSON document */
    size_t bytes;
    uint32_t token;
    bool special, left, right; /* it takes the white space on its left, on its right, too */
} added_token;

/* What two tokens next to each other become. */
typedef struct merge {
    uint64_t pair; /* the left one's number before the right one's */
    uint32_t rank, result;
} merge;

struct tokenizer {
    json_t *root;
    const json_t *vocabulary;
    const char **names; /* by token, in the JSON document; NULL: none */
    bool *special;
    uint32_t count;
    merge *merges; /* by pair */
    size_t merge_count;
    uint32_t bytes[256], visible[256]; /* the token and the character of each byte */
    uint32_t unknown;                  /* or no_token */
    bool byte_level, whole_words;
    step *steps;
    uint32_t step_count;
    added_token *added;
    size_t added_count;
    token_list begin;
    pcre2_match_data *match;
};

/* ---- the vocabulary ---- */

/* Byte level tokens are written in characters that can be seen: those of Latin-1 that can stand for
 * themselves, the other bytes as U+0100 and on, in their order. */
static void list_visible(uint32_t *visible)
{
    uint32_t next = 256;

    for (uint32_t byte = 0; byte < 256; byte++)
        visible[byte] = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174
                            ? byte
                            : next++;
}

static size_t put_character(char *out, uint32_t character)
{
    return (size_t)utf8proc_encode_char((utf8proc_int32_t)character, (utf8proc_uint8_t *)out);
}

static uint32_t find_name(const tokenizer *of, const char *name, size_t bytes)
{
    const json_t *token = json_object_getn(of->vocabulary, name, bytes);

    return token ? (uint32_t)json_integer_value(token) : no_token;
}

static void set_name(tokenizer *of, uint64_t token, const char *name)
{
    if (token >= of->count)
        fail("%s: token %s has the number %llu, the model's vocabulary %u", file_name, name,
             (unsigned long long)token, of->count);
    if (of->names[token] && strcmp(of->names[token], name))
        fail("%s: %s and %s are both token %llu", file_name, of->names[token], name,
             (unsigned long long)token);
    of->names[token] = name;
}

static void read_vocabulary(tokenizer *of, const json_t *model)
{
    const char *name;
    json_t *value;

    of->vocabulary = json_object_get(model, "vocab");
    if (!json_is_object(of->vocabulary))
        fail("%s: the model has no object \"vocab\"", file_name);
    json_object_foreach((json_t *)(uintptr_t)of->vocabulary, name, value)
    {
        if (!json_is_integer(value) || json_integer_value(value) < 0)
            fail("%s: token %s has no number", file_name, name);
        set_name(of, (uint64_t)json_integer_value(value), name);
    }
    list_visible(of->visible);
    for (unsigned byte = 0; byte < 256; byte++) {
        char text[8];
        size_t bytes = of->byte_level ? put_character(text, of->visible[byte])
                                      : (size_t)snprintf(text, sizeof text, "<0x%02X>", byte);
        of->bytes[byte] = find_name(of, text, bytes);
    }
    const char *unknown = json_text_or(file_name, model, "unk_token", NULL);
    of->unknown = unknown ? find_name(of, unknown, strlen(unknown)) : no_token;
}

static int by_pair(const void *a, const void *b)
{
    const merge *one = a, *other = b;

    return (one->pair > other->pair) - (one->pair < other->pair);
}

static int by_pair_and_rank(const void *a, const void *b)
{
    const int order = by_pair(a, b);

    return order ? order : ((const merge *)a)->rank < ((const merge *)b)->rank ? -1 : 1;
}

static const merge *find_merge(const tokenizer *of, uint32_t left, uint32_t right)
{
    const merge key = {.pair = (uint64_t)left << 32 | right};

    return bsearch(&key, of->merges, of->merge_count, sizeof key, by_pair);
}

/* A merge is "left right", or a list of both. */
static merge read_merge(const tokenizer *of, json_t *entry, uint32_t rank)
{
    const char *left = json_string_value(entry), *right = left ? strchr(left, ' ') : NULL;
    size_t left_bytes = right ? (size_t)(right++ - left) : 0;

    if (!right && (left || json_unpack(entry, "[ss]", &left, &right)))
        fail("%s: merge %u is no pair", file_name, rank);
    if (!left_bytes)
        left_bytes = strlen(left);
    char *joined = format_text("%.*s%s", (int)left_bytes, left, right);
    const uint32_t first = find_name(of, left, left_bytes),
                   second = find_name(of, right, strlen(right));
    const merge made = {(uint64_t)first << 32 | second, rank,
                        find_name(of, joined, strlen(joined))};
    if (first == no_token || second == no_token || made.result == no_token)
        fail("%s: merge %u (%s) is of tokens that the vocabulary lacks", file_name, rank, joined);
    free(joined);
    return made;
}

/* Of those of a pair the first one counts. */
static void read_merges(tokenizer *of, const json_t *model)
{
    const json_t *list = json_object_get(model, "merges");
    const size_t count = json_array_size(list);

    if (!json_is_array(list) || count > 1u << 28)
        fail("%s: the model has no list \"merges\"", file_name);
    of->merges = allocate(count, sizeof *of->merges);
    for (size_t i = 0; i < count; i++)
        of->merges[i] = read_merge(of, json_array_get(list, i), (uint32_t)i);
    qsort(of->merges, count, sizeof *of->merges, by_pair_and_rank);
    for (size_t i = 0; i < count; i++)
        if (!i || by_pair(&of->merges[i], &of->merges[of->merge_count - 1]))
            of->merges[of->merge_count++] = of->merges[i];
}

static void read_added(tokenizer *of)
{
    const json_t *list = json_object_get(of->root, "added_tokens");
    const json_t *entry;
    size_t i;

    of->added = allocate(json_array_size(list), sizeof *of->added);
    json_array_foreach(list, i, entry)
    {
        const char *content = json_text_or(file_name, entry, "content", "");
        uint64_t token = json_whole(file_name, entry, "id", 0, UINT32_MAX);
        if (!*content)
            fail("%s: an added token has no content", file_name);
        set_name(of, token, content);
        added_token *added = &of->added[of->added_count++];
        *added = (added_token){content, strlen(content), (uint32_t)token, false, false, false};
        added->special = json_truth_or(file_name, entry, "special", false);
        added->left = json_truth_or(file_name, entry, "lstrip", false);
        added->right = json_truth_or(file_name, entry, "rstrip", false);
        of->special[token] = added->special;
    }
}

/* ---- the steps ---- */

static step *add_step(tokenizer *of, step_kind kind)
{
    of->steps = reallocate(of->steps, of->step_count + 1, sizeof *of->steps);
    of->steps[of->step_count] = (step){.kind = kind};
    return &of->steps[of->step_count++];
}

static pcre2_code *compile(const char *pattern, bool literal)
{
    PCRE2_SIZE offset;
    int problem;
    pcre2_code *code =
        pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
                      PCRE2_UTF | PCRE2_NO_UTF_CHECK | (literal ? PCRE2_LITERAL : PCRE2_UCP),
                      &problem, &offset, NULL);

    if (!code) {
        char message[128];
        pcre2_get_error_message(problem, (PCRE2_UCHAR *)message, sizeof message);
        fail("%s: the pattern that splits texts, at %zu: %s", file_name, (size_t)offset, message);
    }
    pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
    return code;
}

/* The pattern of a Split or a Replace: a regular expression, or a text as it is. */
static const char *read_pattern(const json_t *entry, bool *literal)
{
    const json_t *pattern = json_object_get(entry, "pattern");
    const char *text = json_string_value(json_object_get(pattern, "String"));

    *literal = text != NULL;
    if (!text)
        text = json_string_value(json_object_get(pattern, "Regex"));
    if (!text || !*text)
        fail("%s: a step has no pattern", file_name);
    return text;
}

static json_t *need_list(const json_t *of, const char *key)
{
    json_t *list = json_object_get(of, key);

    if (!json_is_array(list))
        fail("%s: there is no list \"%s\"", file_name, key);
    return list;
}

static void read_split(tokenizer *of, const json_t *entry)
{
    const char *behavior = json_text_or(file_name, entry, "behavior", "");
    bool literal;
    const char *pattern = read_pattern(entry, &literal);

    if (strcmp(behavior, "Isolated") || json_truth_or(file_name, entry, "invert", false))
        fail("%s: a Split of behavior \"%s\"; this program has Isolated", file_name, behavior);
    add_step(of, STEP_SPLIT)->pattern = compile(pattern, literal);
}

static void read_metaspace(tokenizer *of, const json_t *entry)
{
    bool prefix = json_truth_or(file_name, entry, "add_prefix_space", true);
    const char *scheme =
        json_text_or(file_name, entry, "prepend_scheme", prefix ? "always" : "never");

    if (strcmp(json_text_or(file_name, entry, "replacement", block), block))
        fail("%s: Metaspace has another replacement than U+2581", file_name);
    step *added = add_step(of, STEP_METASPACE);
    added->prepend = !strcmp(scheme, "always")  ? PREPEND_ALWAYS
                     : !strcmp(scheme, "first") ? PREPEND_FIRST
                                                : PREPEND_NEVER;
    added->split = json_truth_or(file_name, entry, "split", true);
}

/* A normalizer or a pre-tokenizer. */
static void read_step(tokenizer *of, const json_t *entry)
{
    if (!entry || json_is_null(entry))
        return;
    const char *type = json_text_or(file_name, entry, "type", "");
    if (!strcmp(type, "Sequence")) {
        const char *key = json_object_get(entry, "normalizers") ? "normalizers" : "pretokenizers";
        json_t *list = need_list(entry, key), *part;
        size_t i;
        json_array_foreach(list, i, part)
        {
            read_step(of, part);
        }
    } else if (!strcmp(type, "NFC")) {
        add_step(of, STEP_NFC);
    } else if (!strcmp(type, "Prepend")) {
        add_step(of, STEP_PREPEND)->text = json_text_or(file_name, entry, "prepend", "");
    } else if (!strcmp(type, "Replace")) {
        bool literal;
        const char *text = read_pattern(entry, &literal);
        if (!literal)
            fail("%s: a Replace of a regular expression is not known", file_name);
        step *added = add_step(of, STEP_REPLACE);
        added->text = text;
        added->other = json_text_or(file_name, entry, "content", "");
    } else if (!strcmp(type, "Split")) {
        read_split(of, entry);
    } else if (!strcmp(type, "ByteLevel")) {
        if (json_truth_or(file_name, entry, "add_prefix_space", true))
            add_step(of, STEP_SPACE);
        if (json_truth_or(file_name, entry, "use_regex", true))
            add_step(of, STEP_SPLIT)->pattern = compile(gpt2_pattern, false);
        of->byte_level = true;
    } else if (!strcmp(type, "Metaspace")) {
        read_metaspace(of, entry);
    } else {
        fail("%s: step \"%s\" is none that this program knows", file_name, type);
    }
}

/* What stands in front of a text: special tokens of the template for one. */
static void read_begin(tokenizer *of, json_t *entry)
{
    const char *type = json_text_or(file_name, entry, "type", ""), *name;
    json_t *list = NULL, *part;
    json_int_t token = -1;
    size_t i;

    if (!entry || json_is_null(entry) || !strcmp(type, "ByteLevel"))
        return;
    if (!strcmp(type, "Sequence")) {
        list = need_list(entry, "processors");
        json_array_foreach(list, i, part)
        {
            read_begin(of, part);
        }
        return;
    }
    if (strcmp(type, "TemplateProcessing"))
        fail("%s: post-processor \"%s\" is none that this program knows", file_name, type);
    list = need_list(entry, "single");
    json_array_foreach(list, i, part)
    {
        if (json_object_get(part, "Sequence"))
            break; /* the text itself */
        if (json_unpack(part, "{s{ss}}", "SpecialToken", "id", &name) ||
            json_unpack(entry, "{s{s{s[I]}}}", "special_tokens", name, "ids", &token) ||
            token < 0 || token >= of->count)
            fail("%s: a token in front of texts has no number", file_name);
        token_append(&of->begin, (uint32_t)token);
    }
}

tokenizer *tokenizer_read(const char *folder, uint32_t vocabulary)
{
    tokenizer *of = allocate(1, sizeof *of);

    of->root = json_read(folder, file_name, false);
    of->count = vocabulary;
    of->names = allocate(vocabulary, sizeof *of->names);
    of->special = allocate(vocabulary, sizeof *of->special);
    of->match = pcre2_match_data_create(1, NULL);
    const json_t *model = json_object_get(of->root, "model");
    const char *type = json_text_or(file_name, model, "type", "BPE");
    if (!json_is_object(model) || strcmp(type, "BPE"))
        fail("%s: the model is \"%s\"; this program has BPE", file_name, type);
    read_step(of, json_object_get(of->root, "normalizer"));
    read_step(of, json_object_get(of->root, "pre_tokenizer"));
    of->whole_words = json_truth_or(file_name, model, "ignore_merges", false);
    read_vocabulary(of, model);
    read_merges(of, model);
    read_added(of);
    read_begin(of, json_object_get(of->root, "post_processor"));
    return of;
}

void tokenizer_free(tokenizer *of)
{
    if (!of)
        return;
    for (uint32_t i = 0; i < of->step_count; i++)
        pcre2_code_free(of->steps[i].pattern);
    pcre2_match_data_free(of->match);
    json_decref(of->root);
    free(of->steps);
    free(of->names);
    free(of->special);
    free(of->merges);
    free(of->added);
    free(of->begin.list);
    free(of);
}

/* ---- merging ---- */

typedef struct symbol {
    uint32_t token;
    uint32_t before, after; /* neighbours; no_token: none */
} symbol;

/* A merge that may be made, unless another one has taken its symbols. */
typedef struct candidate {
    uint32_t rank, at;
    uint64_t pair;
} candidate;

typedef struct word {
    symbol *symbols;
    uint32_t count, symbol_capacity;
    candidate *heap;
    size_t heap_count, heap_capacity;
} word;

static bool comes_first(const candidate *a, const candidate *b)
{
    return a->rank != b->rank ? a->rank < b->rank : a->at < b->at;
}

static void push(const tokenizer *of, word *in, uint32_t at)
{
    uint32_t after = in->symbols[at].after;
    const merge *found =
        after == no_token ? NULL : find_merge(of, in->symbols[at].token, in->symbols[after].token);

    if (!found)
        return;
    if (in->heap_count == in->heap_capacity) {
        in->heap_capacity = 2 * in->heap_capacity + 32;
        in->heap = reallocate(in->heap, in->heap_capacity, sizeof *in->heap);
    }
    candidate added = {found->rank, at, found->pair};
    size_t i = in->heap_count++;
    for (; i && comes_first(&added, &in->heap[(i - 1) / 2]); i = (i - 1) / 2)
        in->heap[i] = in->heap[(i - 1) / 2];
    in->heap[i] = added;
}

static candidate pop(word *in)
{
    candidate first = in->heap[0], last = in->heap[--in->heap_count];
    size_t i = 0;

    for (size_t child = 1; child < in->heap_count; child = 2 * i + 1) {
        if (child + 1 < in->heap_count && comes_first(&in->heap[child + 1], &in->heap[child]))
            child++;
        if (!comes_first(&in->heap[child], &last))
            break;
        in->heap[i] = in->heap[child];
        i = child;
    }
    in->heap[i] = last;
    return first;
}

static void add_symbol(word *to, uint32_t token)
{
    if (to->count == to->symbol_capacity) {
        to->symbol_capacity = 2 * to->symbol_capacity + 32;
        to->symbols = reallocate(to->symbols, to->symbol_capacity, sizeof *to->symbols);
    }
    uint32_t at = to->count++;
    to->symbols[at] = (symbol){token, at ? at - 1 : no_token, no_token};
    if (at)
        to->symbols[at - 1].after = at;
}

static void merge_symbols(const tokenizer *of, word *in)
{
    for (uint32_t i = 0; i < in->count; i++)
        push(of, in, i);
    while (in->heap_count) {
        candidate best = pop(in);
        symbol *left = &in->symbols[best.at];
        /* A symbol that was merged into its left neighbour has no_token. */
        if (left->token != best.pair >> 32 || left->after == no_token ||
            in->symbols[left->after].token != (uint32_t)best.pair)
            continue;
        symbol *right = &in->symbols[left->after];
        left->token = find_merge(of, left->token, right->token)->result;
        right->token = no_token;
        left->after = right->after;
        if (left->after != no_token)
            in->symbols[left->after].before = best.at;
        if (left->before != no_token)
            push(of, in, left->before);
        push(of, in, best.at);
    }
}

static void need_token(uint32_t token, const char *text, size_t bytes)
{
    if (token == no_token)
        fail("%s: the vocabulary has no token for \"%.*s\"", file_name, (int)bytes, text);
}

/* Characters, or the bytes of one that the vocabulary lacks. */
static void split_characters(const tokenizer *of, const char *text, size_t bytes, word *into)
{
    for (size_t i = 0; i < bytes;) {
        utf8proc_int32_t ignored;
        utf8proc_ssize_t got = utf8proc_iterate((const utf8proc_uint8_t *)text + i,
                                                (utf8proc_ssize_t)(bytes - i), &ignored);
        size_t length = got > 0 ? (size_t)got : 1;
        uint32_t token = find_name(of, text + i, length);
        if (token != no_token) {
            add_symbol(into, token);
        } else if (of->bytes[(unsigned char)text[i]] != no_token) {
            for (size_t k = 0; k < length; k++) {
                need_token(of->bytes[(unsigned char)text[i + k]], text + i, length);
                add_symbol(into, of->bytes[(unsigned char)text[i + k]]);
            }
        } else {
            need_token(of->unknown, text + i, length);
            add_symbol(into, of->unknown);
        }
        i += length;
    }
}

/* The token that a whole piece is, in the characters that the vocabulary is written in. */
static uint32_t find_whole(const tokenizer *of, const char *text, size_t bytes)
{
    if (!of->byte_level)
        return find_name(of, text, bytes);
    char *shown = allocate(bytes + 1, 2);
    size_t length = 0;
    for (size_t i = 0; i < bytes; i++)
        length += put_character(shown + length, of->visible[(unsigned char)text[i]]);
    uint32_t token = find_name(of, shown, length);
    free(shown);
    return token;
}

static void encode_piece(const tokenizer *of, const char *text, size_t bytes, token_list *tokens)
{
    word piece = {0};
    uint32_t whole = of->whole_words ? find_whole(of, text, bytes) : no_token;

    if (whole != no_token) {
        token_append(tokens, whole);
        return;
    }
    if (bytes >= no_token)
        fail("a piece of %zu bytes is too long for a tokenizer", bytes);
    if (of->byte_level)
        for (size_t i = 0; i < bytes; i++) {
            need_token(of->bytes[(unsigned char)text[i]], text + i, 1);
            add_symbol(&piece, of->bytes[(unsigned char)text[i]]);
        }
    else
        split_characters(of, text, bytes, &piece);
    merge_symbols(of, &piece);
    for (uint32_t i = 0; i < piece.count; i = piece.symbols[i].after) {
        token_append(tokens, piece.symbols[i].token);
        if (piece.symbols[i].after == no_token)
            break;
    }
    free(piece.symbols);
    free(piece.heap);
}

/* ---- steps over a text ---- */

/* What a text goes through from a step on; `first`: it begins the whole text. */
static void encode_from(const tokenizer *of, uint32_t index, const char *text, size_t bytes,
                        bool first, token_list *tokens);

static void split_by_pattern(const tokenizer *of, uint32_t index, const char *text, size_t bytes,
                             bool first, token_list *tokens)
{
    const step *by = &of->steps[index];
    size_t done = 0;

    while (done < bytes) {
        int found = pcre2_match(by->pattern, (PCRE2_SPTR)text, bytes, done,
                                PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY, of->match, NULL);
        if (found < 0 && found != PCRE2_ERROR_NOMATCH)
            fail("%s: the pattern that splits texts gives up (PCRE2 error %d)", file_name, found);
        const PCRE2_SIZE *range = pcre2_get_ovector_pointer(of->match);
        size_t from = found < 0 ? bytes : range[0], to = found < 0 ? bytes : range[1];
        /* The pieces' own steps use `match` too. */
        if (from > done)
            encode_from(of, index + 1, text + done, from - done, first && !done, tokens);
        if (to > from)
            encode_from(of, index + 1, text + from, to - from, first && !from, tokens);
        done = to;
    }
}

/* Appends the text with each `what` replaced. */
static void replace(const char *text, size_t bytes, const char *what, const char *by,
                    byte_list *out)
{
    size_t length = strlen(what);

    for (size_t i = 0; i < bytes;)
        if (bytes - i >= length && !memcmp(text + i, what, length)) {
            bytes_append(out, by, strlen(by));
            i += length;
        } else {
            bytes_append(out, text + i++, 1);
        }
}

/* A piece for each block, which stands at its start. */
static void split_by_block(const tokenizer *of, uint32_t index, const byte_list *text, bool first,
                           token_list *tokens)
{
    size_t from = 0;

    while (from < text->count) {
        const char *next = of->steps[index].split ? strstr(text->data + from + 1, block) : NULL;
        size_t to = next ? (size_t)(next - text->data) : text->count;
        encode_from(of, index + 1, text->data + from, to - from, first && !from, tokens);
        from = to;
    }
}

static void encode_from(const tokenizer *of, uint32_t index, const char *text, size_t bytes,
                        bool first, token_list *tokens)
{
    byte_list changed = {0};

    if (!bytes)
        return;
    if (index == of->step_count) {
        encode_piece(of, text, bytes, tokens);
        return;
    }
    const step *now = &of->steps[index];
    switch (now->kind) {
    case STEP_SPLIT:
        split_by_pattern(of, index, text, bytes, first, tokens);
        return;
    case STEP_NFC: {
        utf8proc_uint8_t *composed;
        utf8proc_ssize_t length =
            utf8proc_map((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)bytes, &composed,
                         UTF8PROC_STABLE | UTF8PROC_COMPOSE);
        if (length < 0)
            fail("normalizing the text: %s", utf8proc_errmsg(length));
        bytes_append(&changed, composed, (size_t)length);
        free(composed);
        break;
    }
    case STEP_PREPEND:
        bytes_append(&changed, now->text, strlen(now->text));
        bytes_append(&changed, text, bytes);
        break;
    case STEP_REPLACE:
        replace(text, bytes, now->text, now->other, &changed);
        break;
    case STEP_SPACE:
        if (text[0] != ' ')
            bytes_append(&changed, " ", 1);
        bytes_append(&changed, text, bytes);
        break;
    case STEP_METASPACE:
        if ((now->prepend == PREPEND_ALWAYS || (now->prepend == PREPEND_FIRST && first)) &&
            text[0] != ' ' && strncmp(text, block, bytes < 3 ? bytes : 3))
            bytes_append(&changed, block, 3);
        replace(text, bytes, " ", block, &changed);
        split_by_block(of, index, &changed, first, tokens);
        free(changed.data);
        return;
    }
    encode_from(of, index + 1, changed.data, changed.count, first, tokens);
    free(changed.data);
}

/* ---- public ---- */

/* How much of what is no UTF-8 sequence stands for one: what could be the begin of one. */
static size_t broken_bytes(const char *text, size_t bytes)
{
    utf8proc_int32_t ignored;

    for (size_t length = bytes < 3 ? bytes : 3; length > 1; length--)
        for (int fill = 0x80; fill <= 0xbf; fill += 0x3f) {
            utf8proc_uint8_t whole[4];
            memset(whole, fill, sizeof whole);
            memcpy(whole, text, length);
            if (utf8proc_iterate(whole, sizeof whole, &ignored) > (utf8proc_ssize_t)length)
                return length;
        }
    return 1;
}

void append_valid(const char *text, size_t bytes, byte_list *out)
{
    for (size_t i = 0; i < bytes;) {
        utf8proc_int32_t ignored;
        const utf8proc_ssize_t length = utf8proc_iterate((const utf8proc_uint8_t *)text + i,
                                                         (utf8proc_ssize_t)(bytes - i), &ignored);
        bytes_append(out, length > 0 ? text + i : "\xef\xbf\xbd", length > 0 ? (size_t)length : 3);
        i += length > 0 ? (size_t)length : broken_bytes(text + i, bytes - i);
    }
}

/* The longest added token at a place. */
static const added_token *added_at(const tokenizer *of, const byte_list *text, size_t at,
                                   bool special)
{
    const added_token *best = NULL;

    for (size_t i = 0; i < of->added_count; i++) {
        const added_token *one = &of->added[i];
        if (one->content[0] == text->data[at] && (special || !one->special) &&
            one->bytes <= text->count - at && !memcmp(one->content, text->data + at, one->bytes) &&
            (!best || one->bytes > best->bytes))
            best = one;
    }
    return best;
}

static bool is_white(char byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

void tokenizer_encode(tokenizer *of, const char *text, size_t bytes, bool special,
                      token_list *tokens)
{
    byte_list valid = {0};
    size_t done = 0;

    append_valid(text, bytes, &valid);
    for (size_t at = 0; at < valid.count;) {
        const added_token *added = added_at(of, &valid, at, special);
        if (!added) {
            at++;
            continue;
        }
        size_t to = at, after = at + added->bytes;
        while (added->left && to > done && is_white(valid.data[to - 1]))
            to--;
        while (added->right && after < valid.count && is_white(valid.data[after]))
            after++;
        encode_from(of, 0, valid.data + done, to - done, done == 0, tokens);
        token_append(tokens, added->token);
        done = at = after;
    }
    if (valid.count > done)
        encode_from(of, 0, valid.data + done, valid.count - done, done == 0, tokens);
    free(valid.data);
}

void tokenizer_begin(const tokenizer *of, token_list *tokens)
{
    for (size_t i = 0; i < of->begin.count; i++)
        token_append(tokens, of->begin.list[i]);
}

bool tokenizer_has(const tokenizer *of, const char *name)
{
    for (size_t i = 0; i < of->added_count; i++)
        if (!strcmp(of->added[i].content, name))
            return true;
    return false;
}

static void decode_visible(const tokenizer *of, const char *name, byte_list *text)
{
    const utf8proc_uint8_t *at = (const utf8proc_uint8_t *)name;
    utf8proc_int32_t character;
    utf8proc_ssize_t length;

    for (; *at && (length = utf8proc_iterate(at, -1, &character)) > 0; at += length) {
        unsigned byte = 0;
        while (byte < 256 && of->visible[byte] != (uint32_t)character)
            byte++;
        if (byte < 256)
            bytes_append(text, &(char){(char)byte}, 1);
        else
            bytes_append(text, at, (size_t)length);
    }
}

void tokenizer_decode(const tokenizer *of, uint32_t token, byte_list *text)
{
    const char *name = token < of->count ? of->names[token] : NULL;
    unsigned byte;

    if (!name || of->special[token])
        return;
    if (of->byte_level)
        decode_visible(of, name, text);
    else if (strlen(name) == 6 && sscanf(name, "<0x%2X>", &byte) == 1)
        bytes_append(text, &(char){(char)byte}, 1);
    else
        replace(name, strlen(name), block, " ", text);
}
