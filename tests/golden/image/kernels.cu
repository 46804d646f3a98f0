// Kernels of tests/golden/image: nvcc 13.0 made the fatbins of them (tests/cli/fatbin.sh has the
// command). Below sm_90 nothing waits.
#if __CUDA_ARCH__ >= 900
#define WAIT() asm volatile("griddepcontrol.wait;" ::: "memory")
#define TRIGGER() asm volatile("griddepcontrol.launch_dependents;")
#else
#define WAIT()
#define TRIGGER()
#endif

// Waits on each path.
extern "C" __global__ void scale(float *data, float by, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    WAIT();
    if (i < count)
        data[i] *= by;
}

// Threads past the end leave without waiting.
extern "C" __global__ void partly(float *data, float by, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i >= count)
        return;
    WAIT();
    data[i] += by;
}

// Never waits, and triggers.
extern "C" __global__ void fill(float *data, float value, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    TRIGGER();
    if (i < count)
        data[i] = value;
}
