/* The program's own kernels. */
#ifndef LLAMA_STEP_H
#define LLAMA_STEP_H

/* PTX: step_end(sampled, history, position, token, uniform, seen, prompt, seed), one block of a
 * warp; penalize_bf16 and penalize_f32(logits, seen, count, penalty), a thread a logit. */
extern const char step_ptx[];

/* PTX: quantize_rows(source, target, scale, columns), a block of whole warps a row. */
extern const char round_ptx[];

#endif
