// Kernels in the shapes that ggml, Triton, CCCL, FlashInfer and CUTLASS have, which
// tests/attach/attach.sh launches: sound ones first, then mistakes. nvcc 13.0 made the fatbins:
//     nvcc -std=c++17 -fatbin -compress-mode size shapes.cu
//         -gencode arch=compute_90a,code=[compute_90a,sm_90a]    (shapes.fatbin)
//         -gencode arch=compute_90a,code=sm_90a                  (shapes.machine.fatbin)
#include <stdint.h>

#define WAIT() asm volatile("griddepcontrol.wait;" ::: "memory")
#define TRIGGER() asm volatile("griddepcontrol.launch_dependents;")
#define KERNEL(name) extern "C" __global__ void name(const float *__restrict__ x, float *dst, int n)

// ---- ggml

// Elementwise: threads past the end leave before the wait.
KERNEL(ggml_unary)
{
    TRIGGER();
    const int i = blockDim.x * blockIdx.x + threadIdx.x;

    if (i >= n)
        return;
    WAIT();
    dst[i] = 2 * x[i];
}

// The same by block: a padded grid.
KERNEL(ggml_block)
{
    if (blockIdx.x * blockDim.x >= n)
        return;
    WAIT();
    TRIGGER();
    const int i = blockDim.x * blockIdx.x + threadIdx.x;

    if (i < n)
        dst[i] = x[i] + 1;
}

// A warp has a row of four; warps past the last row leave.
KERNEL(ggml_rows)
{
    const int row = blockIdx.x * blockDim.y + threadIdx.x / 32, lane = threadIdx.x % 32;

    if (row * 4 >= n)
        return;
    TRIGGER();
    WAIT();
    float sum = 0;
    for (int i = lane; i < 4; i += 32)
        sum += x[row * 4 + i];
    for (int step = 16; step; step /= 2)
        sum += __shfl_xor_sync(~0u, sum, step);
    if (lane < 4)
        dst[row * 4 + lane] = sum;
}

// A product with weights: a switch of the template has the wait and the trigger.
template <bool early, int most> __global__ void ggml_gemv(const float *__restrict__ x, float *dst, int n)
{
    __shared__ float part[most];
    const int row = blockIdx.x;

    if constexpr (early) {
        TRIGGER();
        WAIT();
    }
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        sum += __ldg(&x[i]) * (row + 1);
    for (int step = 16; step; step /= 2)
        sum += __shfl_xor_sync(~0u, sum, step);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < blockDim.x / 32; i++)
            sum += part[i];
        dst[row] = sum;
    }
}
template __global__ void ggml_gemv<true, 8>(const float *, float *, int);
template __global__ void ggml_gemv<true, 32>(const float *, float *, int);
template __global__ void ggml_gemv<false, 32>(const float *, float *, int);

// ---- Triton: a tile of masked loads, the wait first, the trigger behind the loads

KERNEL(triton_add)
{
    const int at = blockIdx.x * blockDim.x * 4 + threadIdx.x * 4;
    float tile[4];

    WAIT();
    for (int i = 0; i < 4; i++)
        tile[i] = at + i < n ? x[at + i] : 0;
    TRIGGER();
    for (int i = 0; i < 4; i++)
        if (at + i < n)
            dst[at + i] = tile[i] + 1;
}

// ---- CCCL: a block's last thread of all finishes a reduction

__device__ unsigned int cccl_done;

KERNEL(cccl_reduce)
{
    __shared__ bool last;

    WAIT();
    TRIGGER();
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        sum += x[i];
    atomicAdd(&dst[blockIdx.x], sum);
    __threadfence();
    if (threadIdx.x == 0)
        last = atomicInc(&cccl_done, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    if (last && threadIdx.x == 0)
        for (int i = 1; i < gridDim.x; i++)
            dst[0] += ((volatile float *)dst)[i];
}

// ---- FlashInfer: a row's norm, vectors through shared memory, the trigger last

KERNEL(flashinfer_norm)
{
    __shared__ float sums[32];
    const int count = n / 4, warps = blockDim.x / 32;
    float sum = 0;

    WAIT();
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        const float4 four = reinterpret_cast<const float4 *>(x)[i];
        sum += four.x * four.x + four.y * four.y + four.z * four.z + four.w * four.w;
    }
    for (int step = 16; step; step /= 2)
        sum += __shfl_xor_sync(~0u, sum, step);
    sums[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0;
    for (int i = 0; i < warps; i++)
        sum += sums[i];
    const float by = rsqrtf(sum / n + 1e-6f);
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        float4 four = reinterpret_cast<const float4 *>(x)[i];
        four.x *= by, four.y *= by, four.z *= by, four.w *= by;
        reinterpret_cast<float4 *>(dst)[i] = four;
    }
    TRIGGER();
}

// ---- CUTLASS: one warp waits and copies, the others wait for its barrier in shared memory

__device__ void barrier_wait(uint32_t barrier, uint32_t phase)
{
    asm volatile("{\n"
                 ".reg .pred done;\n"
                 "again:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra again;\n"
                 "}"
                 ::"r"(barrier), "r"(phase)
                 : "memory");
}

template <bool waits> __device__ void copy_and_use(const float *x, float *dst, int n)
{
    __shared__ alignas(16) float tile[64];
    __shared__ alignas(8) uint64_t full;
    const uint32_t barrier = (uint32_t)__cvta_generic_to_shared(&full);
    const uint32_t target = (uint32_t)__cvta_generic_to_shared(tile);

    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;"
                     ::"r"(barrier)
                     : "memory");
    __syncthreads();
    if (threadIdx.x < 32) {
        if constexpr (waits)
            WAIT();
        if (threadIdx.x == 0)
            asm volatile(
                "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;\n"
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                "[%1], [%2], 256, [%0];"
                ::"r"(barrier), "r"(target), "l"(x)
                : "memory");
        TRIGGER();
    } else {
        barrier_wait(barrier, 0);
        const int i = threadIdx.x - 32;
        if (i < n && i < 64)
            dst[i] = tile[i] + 1;
    }
}

KERNEL(cutlass_gemm) { copy_and_use<true>(x, dst, n); }

// ---- mistakes

// It reads in front of the wait.
KERNEL(wrong_early_load)
{
    const int i = blockDim.x * blockIdx.x + threadIdx.x;

    if (i >= n)
        return;
    const float first = ((volatile const float *)x)[i];
    TRIGGER();
    WAIT();
    dst[i] = first + x[i];
}

// The same where every thread waits.
KERNEL(wrong_first)
{
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    const float first = i < n ? ((volatile const float *)x)[i] : 0;

    WAIT();
    TRIGGER();
    if (i < n)
        dst[i] = first;
}

// It writes in front of the wait.
KERNEL(wrong_early_store)
{
    const int i = blockDim.x * blockIdx.x + threadIdx.x;

    if (i < n)
        dst[i] = 0;
    WAIT();
    TRIGGER();
    if (i < n)
        dst[i] += x[i];
}

// The other branch never waits.
KERNEL(wrong_branch)
{
    const int i = blockDim.x * blockIdx.x + threadIdx.x;

    TRIGGER();
    if (n & 1)
        WAIT();
    if (i < n)
        dst[i] = x[i] + 1;
}

// One thread waits, and the others do not wait for it.
KERNEL(wrong_one_thread)
{
    const int i = blockDim.x * blockIdx.x + threadIdx.x;

    TRIGGER();
    if (threadIdx.x == 0)
        WAIT();
    if (i < n)
        dst[i] = x[i] + 1;
}

// Threads that leave write first.
KERNEL(wrong_guard)
{
    const int i = blockDim.x * blockIdx.x + threadIdx.x;

    if (i >= n / 2) {
        if (i < n)
            dst[i] = 0;
        return;
    }
    WAIT();
    dst[i] = x[i];
}

// The copying warp does not wait.
KERNEL(wrong_gemm) { copy_and_use<false>(x, dst, n); }
