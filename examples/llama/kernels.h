/* The program's own kernels; kernels.ptx tells what each does. */
#ifndef LLAMA_KERNELS_H
#define LLAMA_KERNELS_H

extern const char kernels_ptx[];

#endif
