#include <cstdio>
__device__ __forceinline__ void pdl_wait() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
__device__ __forceinline__ void pdl_trigger() { asm volatile("griddepcontrol.launch_dependents;"); }
// Every thread waits.
extern "C" __global__ void scale(float *out, const float *x, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    pdl_trigger();
    pdl_wait();
    if (i < count)
        out[i] = 2.0f * x[i];
}
// Weights are read in front of the wait.
extern "C" __global__ void row_sum(float *out, const float *x, const float *weight, int columns)
{
    __shared__ float partial[32];
    float w = threadIdx.x < columns ? weight[threadIdx.x] : 0.0f;
    pdl_wait();
    pdl_trigger();
    float sum = 0.0f;
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        sum += x[blockIdx.x * columns + i] * (i == threadIdx.x ? w : weight[i]);
    for (int k = 16; k; k >>= 1)
        sum += __shfl_xor_sync(~0u, sum, k);
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < blockDim.x / 32; i++)
            sum += partial[i];
        out[blockIdx.x] = sum;
    }
}
// One thread waits, a barrier orders the others.
extern "C" __global__ void one_waits(float *out, const float *x, int count)
{
    if (threadIdx.x == 0)
        pdl_wait();
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        out[i] = x[i] + sinf(x[i]);
}
// Warp 0 loads, the others compute; an mbarrier hands over.
extern "C" __global__ void pipeline(float *out, const float *x, int tiles)
{
    __shared__ alignas(128) float tile[2][256];
    __shared__ alignas(8) unsigned long long full[2], empty[2];
    unsigned f = (unsigned)__cvta_generic_to_shared(full), e = (unsigned)__cvta_generic_to_shared(empty), t = (unsigned)__cvta_generic_to_shared(tile);
    if (threadIdx.x == 0) {
        for (int s = 0; s < 2; s++) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(f + 8 * s) : "memory");
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 128;" ::"r"(e + 8 * s) : "memory");
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        if (threadIdx.x == 0) {
            pdl_wait();
            pdl_trigger();
            for (int i = 0; i < tiles; i++) {
                unsigned s = i & 1, phase = ((i >> 1) & 1) ^ 1, done = 0;
                while (!done)
                    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(e + 8 * s), "r"(phase) : "memory");
                asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1024;" ::"r"(f + 8 * s) : "memory");
                asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];" ::"r"(t + 1024 * s), "l"(x + 256 * (size_t)i), "r"(f + 8 * s) : "memory");
            }
        }
    } else {
        float sum = 0.0f;
        for (int i = 0; i < tiles; i++) {
            unsigned s = i & 1, phase = (i >> 1) & 1, done = 0;
            while (!done)
                asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(f + 8 * s), "r"(phase) : "memory");
            sum += tile[s][threadIdx.x - 32] + tile[s][threadIdx.x + 96];
            asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(e + 8 * s) : "memory");
            out[i * 128 + threadIdx.x - 32] = sum;
        }
    }
}
struct arguments { const float *x; float *out; int count; };
extern "C" __global__ void by_struct(const __grid_constant__ arguments a)
{
    pdl_trigger();
    pdl_wait();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < a.count)
        a.out[i] = a.x[i];
}
__device__ __noinline__ float fetch(const float *p, int i) { return p[i] * p[i + 1]; }
extern "C" __global__ void calls(float *out, const float *x, int count)
{
    pdl_wait();
    pdl_trigger();
    out[threadIdx.x] = fetch(x, threadIdx.x);
    if (count < 0)
        printf("negative\n");
}
