/* Sorts a list of which only the device knows the length. Blocks deal their keys to buckets, which
 * are so small that one block has room for all keys of one. There they are dealt once more, to
 * parts that are so small that a key's place is found by looking at all others of its part. */
#include "bins.cuh"

enum {
    DEALING_THREADS = 1024,
    DEALING_KEYS = 2, /* of a thread */
    THREADS = 512,
    WARPS = THREADS / WARP,
    THREAD_KEYS = BUCKET / THREADS,
};
static_assert(BUCKET_PARTS == 2 * WARP, "two parts a lane");
static_assert(BUCKETS_MOST * BUCKET_PARTS <= 1 << 16, "16 bits for the number of a part");

/* --- to buckets --- */

static __global__ void __launch_bounds__(DEALING_THREADS) deal(const __grid_constant__ job j) {
    __shared__ uint32_t size[BUCKETS_MOST], begin[BUCKETS_MOST];
    uint32_t keys[DEALING_KEYS], bucket[DEALING_KEYS], place[DEALING_KEYS];
    const int64_t first = (int64_t)blockIdx.x * DEALING_KEYS * DEALING_THREADS + threadIdx.x;
    for (int i = threadIdx.x; i < j.n_buckets; i += DEALING_THREADS)
        size[i] = 0;
    wait_for_earlier();
    const int64_t n = count_keys(j);
    const bin_scale scale = j.state->bin_scale;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < DEALING_KEYS; i++) {
        if (first + i * DEALING_THREADS < n) {
            keys[i] = j.list[0][first + i * DEALING_THREADS];
            bucket[i] = part_of(j.bin_parts, scale, keys[i]) / BUCKET_PARTS;
            place[i] = atomicAdd(&size[bucket[i]], 1);
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < j.n_buckets; i += DEALING_THREADS)
        begin[i] = size[i] > 0 ? atomicAdd(&j.bucket_size[i], size[i]) : 0;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < DEALING_KEYS; i++) {
        if (first + i * DEALING_THREADS < n) {
            const uint32_t to = begin[bucket[i]] + place[i];
            if (to < BUCKET)
                j.buckets[bucket[i] * BUCKET + to] = keys[i];
            else
                j.state->list_unsorted = true;
        }
    }
}

/* --- to parts of a bucket, and in order --- */

struct parts {
    uint32_t keys[BUCKET];
    uint8_t part[BUCKET]; /* of a key */
    uint32_t size[BUCKET_PARTS], begin[BUCKET_PARTS];
    uint32_t warps[WARPS];
};

/* How many keys there are in the buckets before one. */
static __device__ uint32_t find_begin(const job &j, int bucket, uint32_t *warps) {
    uint32_t sum = 0;
    for (int i = threadIdx.x; i < bucket; i += THREADS)
        sum += j.bucket_size[i];
    sum = warp_sum(sum);
    if (lane_of_thread() == 0)
        warps[threadIdx.x / WARP] = sum;
    __syncthreads();
    return warp_sum(lane_of_thread() < WARPS ? warps[lane_of_thread()] : 0);
}

/* Where parts begin; by the first warp. */
static __device__ void find_parts(parts *p) {
    const int first = 2 * lane_of_thread();
    const uint32_t begin = warp_sum_before(p->size[first] + p->size[first + 1]);
    p->begin[first] = begin;
    p->begin[first + 1] = begin + p->size[first];
}

/* Brings the n keys of a bucket to its parts. */
static __device__ void deal_to_parts(const job &j, const uint32_t *from, int n, parts *p) {
    uint32_t keys[THREAD_KEYS], part[THREAD_KEYS], place[THREAD_KEYS];
    const bin_scale scale = j.state->bin_scale;
#pragma unroll
    for (int i = 0; i < THREAD_KEYS; i++) {
        if (i * THREADS + (int)threadIdx.x < n) {
            keys[i] = from[i * THREADS + threadIdx.x];
            part[i] = part_of(j.bin_parts, scale, keys[i]) % BUCKET_PARTS;
            place[i] = atomicAdd(&p->size[part[i]], 1);
        }
    }
    __syncthreads();
    if (threadIdx.x < WARP)
        find_parts(p);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < THREAD_KEYS; i++) {
        if (i * THREADS + (int)threadIdx.x < n) {
            const uint32_t at = p->begin[part[i]] + place[i];
            p->keys[at] = keys[i];
            p->part[at] = (uint8_t)part[i];
        }
    }
    __syncthreads();
}

/* The place of the i-th of n keys in their order. */
static __device__ int place_among(const uint32_t *keys, int n, int i) {
    const uint32_t key = keys[i];
    int place = 0;
#pragma unroll 4
    for (int k = 0; k < n; k++)
        place += keys[k] < key || (keys[k] == key && k < i);
    return place;
}

static __global__ void __launch_bounds__(THREADS) order(const __grid_constant__ job j) {
    __shared__ parts p;
    if (threadIdx.x < BUCKET_PARTS)
        p.size[threadIdx.x] = 0;
    wait_for_earlier();
    if (count_keys(j) == 0 || j.state->list_unsorted)
        return;
    const int n = (int)j.bucket_size[blockIdx.x];
    uint32_t *const to = j.list[0] + find_begin(j, (int)blockIdx.x, p.warps);
    deal_to_parts(j, j.buckets + (int64_t)blockIdx.x * BUCKET, n, &p);
    for (int i = threadIdx.x; i < n; i += THREADS) {
        const int part = p.part[i], begin = (int)p.begin[part];
        to[begin + place_among(p.keys + begin, (int)p.size[part], i - begin)] = p.keys[i];
    }
}

cudaError_t launch_bucket_sort(const struct job *job, cudaStream_t stream) {
    const int64_t block_keys = DEALING_KEYS * DEALING_THREADS;
    const cudaError_t status =
        launch_next(deal, (unsigned)((job->list_room + block_keys - 1) / block_keys),
                    DEALING_THREADS, stream, *job);
    return status ? status : launch_next(order, (unsigned)job->n_buckets, THREADS, stream, *job);
}
