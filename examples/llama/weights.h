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
    const char *name;
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

/* Whether a tensor is there; then it counts as used. */
bool weights_have(const weight_files *files, const char *name);

/* Whether a tensor is there and has elements of 8 bits. */
bool weights_have_e4m3(const weight_files *files, const char *name);

/* The scales of a matrix of 8 bits, "NAME_scale_inv" or "NAME_scale", which the caller frees: one
 * for each of its rows, of which the tensor has as many or one; with columns one for each block of
 * 128 x 128. */
enum { WEIGHTS_BLOCK = 128 };
float *weights_scales(const weight_files *files, const char *name, uint64_t rows, uint64_t columns);

/* A tensor of that shape, rows 0 for a vector. The program ends where it is missing or otherwise,
 * and where an element is NaN or infinite; matrices of 16 bits and more are not looked through. */
tensor weights_find(const weight_files *files, const char *name, uint64_t rows, uint64_t columns);

/* Ends the program if an element of those matrices is NaN or infinite. */
void weights_check_large(const weight_files *files);

/* Ends the program if there is a tensor that nobody asked for, and that would change what the model
 * computes. */
void weights_check_used(const weight_files *files);

/* Whether elements of a type are all neither NaN nor infinite. */
bool elements_are_numbers(element type, const void *data, uint64_t bytes);

/* What several devices share of a tensor: nothing, its rows, or its columns. */
typedef enum cut_by { CUT_NOTHING, CUT_ROWS, CUT_COLUMNS } cut_by;

/* Share `rank` of `count` of a tensor of so many rows and columns, which these divide. The memory
 * of columns is the caller's to free; NULL where the share lies in the file. */
void *tensor_share(tensor *of, uint64_t rows, uint64_t columns, cut_by by, uint32_t rank,
                   uint32_t count);

/* An element; the program ends where it has 8 bits, or is an integer. */
float tensor_number(const tensor *from, uint64_t index);

/* Writes the tensor's elements as bf16 or f16, rounded to nearest even where they are f32. The
 * program ends where such an element is beyond the type's range. */
void tensor_convert(const tensor *from, element to, void *target);

#endif
