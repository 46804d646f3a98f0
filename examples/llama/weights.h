/* Tensors of a folder's safetensors files, mapped and checked. */
#ifndef LLAMA_WEIGHTS_H
#define LLAMA_WEIGHTS_H

#include "common.h"

typedef enum element {
    ELEMENT_BF16,
    ELEMENT_F16,
    ELEMENT_F32,
    ELEMENT_E4M3,
    ELEMENT_I32,
    ELEMENT_OTHER
} element;

typedef struct tensor {
    const unsigned char *data; /* in a mapped file */
    uint64_t bytes;
    element type;
    const char *type_name; /* as the file has it, "BF16" */
    const char *file;
    uint64_t shape[4];
    uint32_t rank; /* above 4: shape holds the first four */
} tensor;

typedef struct weight_files weight_files;

/* Opens model.safetensors, or what model.safetensors.index.json lists. */
weight_files *weights_open(const char *folder);
void weights_close(weight_files *files);

/* A digest of the headers, of small files, and of some thousand places of each large one. */
uint64_t weights_digest(const weight_files *files, uint64_t digest);

/* Whether a tensor is there. */
bool weights_have(const weight_files *files, const char *name);

/* Whether a tensor is there and has elements of 8 bits. */
bool weights_have_e4m3(const weight_files *files, const char *name);

/* The scales of a matrix of 8 bits, one for each of its rows: "NAME_scale", which has as many
 * elements, or one for all rows. */
void weights_scales(const weight_files *files, const char *name, uint64_t rows, float *scales);

/* A tensor of that shape, rows 0 for a vector; the program ends where it is missing or otherwise.
 * */
tensor weights_find(const weight_files *files, const char *name, uint64_t rows, uint64_t columns);

/* What several devices share of a tensor: nothing, its rows, or its columns. */
typedef enum cut_by { CUT_NOTHING, CUT_ROWS, CUT_COLUMNS } cut_by;

/* Share `rank` of `count` of a tensor of so many rows and columns, which these divide. The memory
 * of columns is the caller's to free; NULL where the share lies in the file. */
void *tensor_share(tensor *of, uint64_t rows, uint64_t columns, cut_by by, uint32_t rank,
                   uint32_t count);

/* An element that has more than 8 bits. */
float tensor_number(const tensor *from, uint64_t index);

/* Writes the tensor's elements as bf16 or f16, rounded to nearest even where they are f32. */
void tensor_convert(const tensor *from, element to, void *target);

#endif
