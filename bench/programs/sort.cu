// Merge sorts of CCCL, which launches their kernels dependently: us a sort.
#include <cstdio>
#include <cstdint>
#include <algorithm>
#include <chrono>
#include <vector>

#include <cub/device/device_merge_sort.cuh>

int main()
{
    const int count = 100000, rounds = 15, sorts = 100;
    std::vector<uint32_t> keys(count);
    for (int i = 0; i < count; i++)
        keys[i] = (uint32_t)i * 2654435761u;
    uint32_t *given, *sorted;
    void *room = nullptr;
    size_t bytes = 0;
    auto less = [] __device__(uint32_t a, uint32_t b) { return a < b; };
    cudaMalloc(&given, count * 4);
    cudaMalloc(&sorted, count * 4);
    cudaMemcpy(given, keys.data(), count * 4, cudaMemcpyHostToDevice);
    cub::DeviceMergeSort::SortKeysCopy(room, bytes, given, sorted, count, less);
    cudaMalloc(&room, bytes);
    std::vector<double> times;
    for (int i = 0; i < rounds; i++) {
        cudaDeviceSynchronize();
        auto began = std::chrono::steady_clock::now();
        for (int k = 0; k < sorts; k++)
            cub::DeviceMergeSort::SortKeysCopy(room, bytes, given, sorted, count, less);
        cudaDeviceSynchronize();
        times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - began).count() / sorts);
    }
    std::vector<uint32_t> result(count);
    cudaMemcpy(result.data(), sorted, count * 4, cudaMemcpyDeviceToHost);
    std::sort(keys.begin(), keys.end());
    std::sort(times.begin(), times.end());
    printf("%s, us a sort: %.1f\n", keys == result ? "sorted" : "NOT sorted", times[rounds / 2]);
    return keys != result;
}
