// The corpus of the rewriter's golden tests: kernels that know nothing of dependent launch. Compiled one entry a file:
//   nvcc -ptx -arch=sm_80 -DKERNEL_<NAME> kernels.cu -o <name>.ptx
#include <cstdio>

#ifdef KERNEL_VECTOR_ADD
extern "C" __global__ void vector_add(const float *a, const float *b, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = a[i] + b[i];
}
#endif

#ifdef KERNEL_SAXPY
extern "C" __global__ void saxpy(const float *__restrict__ x, float *y, float a, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = a * x[i] + y[i];
}
#endif

#ifdef KERNEL_REDUCTION
extern "C" __global__ void reduction(const float *in, float *out, int n)
{
    __shared__ float partial[256];
    float sum = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
        sum += in[i];
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (threadIdx.x < step)
            partial[threadIdx.x] += partial[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        atomicAdd(out, partial[0]);
}
#endif

#ifdef KERNEL_LAYER_NORM
extern "C" __global__ void layer_norm(const float *x, const float *weight, const float *bias, float *out, int columns)
{
    __shared__ float scales[32], shifts[32];
    scales[threadIdx.x] = weight[threadIdx.x];
    shifts[threadIdx.x] = bias[threadIdx.x];
    __syncthreads();
    float value = x[blockIdx.x * columns + threadIdx.x], sum = value, square = value * value;
    for (int step = 16; step > 0; step /= 2) {
        sum += __shfl_xor_sync(~0u, sum, step);
        square += __shfl_xor_sync(~0u, square, step);
    }
    float mean = sum / 32, scale = rsqrtf(square / 32 - mean * mean + 1e-5f);
    out[blockIdx.x * columns + threadIdx.x] = (value - mean) * scale * scales[31 - threadIdx.x] + shifts[31 - threadIdx.x];
}
#endif

#ifdef KERNEL_MATMUL
extern "C" __global__ void matmul(const float *a, const float *b, float *c, int n)
{
    __shared__ float left[16][16], right[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int tile = 0; tile < n; tile += 16) {
        left[threadIdx.y][threadIdx.x] = a[row * n + tile + threadIdx.x];
        right[threadIdx.y][threadIdx.x] = b[(tile + threadIdx.y) * n + column];
        __syncthreads();
        for (int k = 0; k < 16; k++)
            sum += left[threadIdx.y][k] * right[k][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
#endif

#ifdef KERNEL_EARLY_RETURN
extern "C" __global__ void early_return(const int *flags, int *out, int n)
{
    int i = threadIdx.x;
    if (i >= n)
        return;
    if (flags[i] == 0)
        return;
    out[i] = flags[i] + n;
}
#endif

#ifdef KERNEL_CALLS
__device__ __noinline__ int pure(int a, int b)
{
    return (a ^ b) * 77;
}

__device__ __noinline__ int touching(const int *p, int i)
{
    return p[i] + pure(i, 4);
}

extern "C" __global__ void calls(const int *in, int *out, int n)
{
    int i = pure(threadIdx.x, n);
    if (i & 1)
        i = pure(i, 3);
    out[threadIdx.x] = touching(in, threadIdx.x) + i;
}
#endif

#ifdef KERNEL_PRINTF
extern "C" __global__ void print(int *out, int n)
{
    printf("%d\n", n);
    out[threadIdx.x] = n;
}
#endif

#ifdef KERNEL_NO_ACCESS
extern "C" __global__ void no_access(int n)
{
    if (threadIdx.x > n)
        asm volatile("membar.cta;");
    else
        __syncthreads();
}
#endif

#ifdef KERNEL_SWITCH
extern "C" __global__ void branches(const int *in, int *out, int n)
{
    int v = threadIdx.x;
    switch (n) {
    case 0: v = in[v]; break;
    case 1: v = v * v; break;
    case 2: v = out[v + 1]; break;
    case 3: v = v - 8; break;
    case 4: v = v / 3; break;
    case 5: v = v % 7; break;
    default: break;
    }
    out[threadIdx.x] = v;
}
#endif
