// Kernels of tests/golden/image/machine.cubin: nvcc 13.0 -arch sm_90 -cubin.

// Touches nothing before its wait but constants and shared memory.
extern "C" __global__ void behind(float *data, int count)
{
    __shared__ float share[32];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    share[threadIdx.x % 32] = (float)i;
    asm volatile("griddepcontrol.wait;" ::: "memory");
    if (i < count)
        data[i] *= share[(threadIdx.x + 1) % 32];
}

// Reads before its wait.
extern "C" __global__ void ahead(float *data, int count)
{
    const float before = data[0];

    asm volatile("griddepcontrol.wait;" ::"f"(before) : "memory");
    data[count] = before;
}
