/* What sweeps over all lanes without being an instruction: where a memory operand's addresses lie
 * to each other, loads and stores of lanes that lie together, and the choice of the lanes that go
 * on. Like the instructions of exec_lanes.def it is compiled twice. */
#ifndef GD_EMULATOR_EXECUTE_SWEEP_H
#define GD_EMULATOR_EXECUTE_SWEEP_H

#include "emulator/execute/execute.h"

typedef enum gd_layout {
    GD_LAYOUT_APART,
    GD_LAYOUT_TOGETHER, /* each lane right behind the one before it, as if all had taken part */
    GD_LAYOUT_SAME
} gd_layout;

/* The accesses of one operation: what the lanes of its mask read or write. */
typedef struct gd_places {
    uint64_t addresses[GD_LANES]; /* on the device */
    uint64_t hosts[GD_LANES];     /* the same on the host; for APART alone */
    uint64_t
        first; /* of lane 0, for the others; on the device until it has been found on the host */
    uint64_t low, high; /* among the addresses */
    uint64_t bits;      /* of all addresses, by OR; for TOGETHER those of the first one */
    gd_layout layout;
} gd_places;

typedef struct gd_sweeps {
    /* Fills addresses, first, low, high, bits and layout for accesses of `bytes` by the lanes of a
     * mask that is not empty. */
    void (*survey)(const gd_warp *warp, const gd_code *code, uint32_t mask, uint32_t bytes,
                   gd_places *into);
    /* Adds a distance to all addresses, which gives hosts. */
    void (*shift)(gd_places *places, uint64_t distance);
    /* All 32 lanes, TOGETHER: false when elements are of a form that goes lane by lane. */
    bool (*load)(const gd_warp *warp, const gd_code *code, const gd_slot *slots,
                 const unsigned char *from);
    bool (*store)(const gd_warp *warp, const gd_code *code, const gd_slot *slots,
                  unsigned char *to);
    /* Of lanes of a mask that is not empty, all inside the same calls: those at the lowest
     * operation, and in *limit the lowest operation at which another one stands. */
    uint32_t (*lowest)(const uint32_t *pcs, uint32_t mask, uint32_t *limit);
    /* Whether the lanes of a mask have the values of its lowest lane. */
    bool (*alike)(const gd_u32 *values, uint32_t mask);
    /* Gives the lanes of a mask a value. */
    void (*put)(gd_u32 *values, uint32_t mask, uint32_t value);
    /* Adds one to those of the lanes of a mask. */
    void (*step)(gd_u32 *values, uint32_t mask);
    /* shfl.sync by its mode, for all lanes: what each would get; returns those that read from a
     * lane of their segment. */
    uint32_t (*shuffle)(uint32_t mode, const gd_u32 *a, const gd_u32 *b, const gd_u32 *c,
                        uint32_t *values);
    /* Adds a product of matrices to sums. Rows of sums and of b are `step` doubles apart, those of
     * a a_step; columns come in eights, rows in fours. Products of all but f64 are exact in double,
     * and so sums are rounded once, which is within what the ISA leaves open. */
    void (*multiply)(double *sums, const double *a, const double *b, size_t step, uint32_t rows,
                     uint32_t columns, uint32_t depth, size_t a_step);
} gd_sweeps;

extern const gd_sweeps gd_sweeps_base;
extern const gd_sweeps gd_sweeps_avx2; /* of NULL where there is none */

/* What suits this processor. */
const gd_sweeps *gd_sweeps_find(void);

#endif
