/* The calls of CUB. They have a file of their own, since CUB's headers take long to compile. */
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "device.cuh"

struct add_key_sums {
    __device__ key_sums operator()(const key_sums &a, const key_sums &b) const {
        return a + b;
    }
};

cudaError_t cub_sort(void *temporary, size_t *size, uint32_t *const keys[2], int64_t n, int *sorted,
                     cudaStream_t stream) {
    cub::DoubleBuffer<uint32_t> buffers(keys[0], keys[1]);
    const cudaError_t status =
        cub::DeviceRadixSort::SortKeys(temporary, *size, buffers, n, 0, 32, stream);
    *sorted = buffers.selector;
    return status;
}

cudaError_t cub_sum_keys(void *temporary, size_t *size, struct key_sums *sums, int64_t n,
                         cudaStream_t stream) {
    return cub::DeviceScan::ExclusiveScan(temporary, *size, sums, sums, add_key_sums(),
                                          key_sums{0, 0, 0}, n, stream);
}
