/* Narrows a long list, in no order, down to what a clip will look at: the values near a median or a
 * bound of one of its rounds. Keys are counted by parts; foresee.cu says of each part whether its
 * keys are to be left; those of the others are only added up. */
#include <float.h>

#include "bins.cuh"
#include "inlier_sums.cuh"

enum {
    COUNTING_THREADS = 512,
    THREADS = 128, /* of a block that takes keys out, for which there is shared memory */
    WARPS = THREADS / WARP,
    AT_ONCE = 4,                /* keys of a lane */
    WARP_ROOM = 192,            /* keys that a warp gathers before it writes them out */
    NOWHERE = LEFT_BETWEEN + 1, /* the use of a part that there is none of */
};

/* --- counting --- */

/* AT_ONCE keys of a lane; 0 where the list has none. */
struct some_keys {
    uint32_t key[AT_ONCE];
    int n; /* of them that there are */
};

/* A lane's keys of AT_ONCE rows of a warp, from a place on. They are not worth keeping in a cache,
 * which has better use for what says where keys belong. */
static __device__ some_keys load_keys(const job &j, int64_t first, int64_t n) {
    const uint32_t *from = j.list[0] + first + lane_of_thread();
    const int rest = (int)max(min(n - first, (int64_t)AT_ONCE * WARP), (int64_t)0);
    some_keys keys;
    keys.n = (rest + WARP - 1 - lane_of_thread()) / WARP;
#pragma unroll
    for (int i = 0; i < AT_ONCE; i++)
        keys.key[i] = i < keys.n ? __ldcs(from + i * WARP) : exact_key(0);
    return keys;
}

/* Calls f(keys, parts) for all keys of the list, by whole warps; the part is PARTS where there is
 * no key. The next keys are on their way meanwhile. */
template <typename Function>
static __device__ void for_keys(const job &j, int64_t n, const Function &f) {
    const bin_scale scale = j.state->bin_scale;
    const int64_t step = (int64_t)gridDim.x * blockDim.x * AT_ONCE;
    const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    int64_t first = thread / WARP * WARP * AT_ONCE;
    some_keys next = load_keys(j, first, n);
    for (; first < n; first += step) {
        const some_keys keys = next;
        int parts[AT_ONCE];
        next = load_keys(j, first + step, n);
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            const int part = (int)part_of(j.bin_parts, scale, keys.key[i]);
            parts[i] = i < keys.n ? part : (int)PARTS;
        }
        f(keys.key, parts);
    }
}

/* The first bin with the last of whose parts a part, or one behind it, is; or BINS. */
static __device__ int bin_of_part(const job &j, int part) {
    int low = 0, high = BINS;
    while (low < high) {
        const int middle = (low + high) / 2;
        const bin_parts bin = load_bin(j.bin_parts, (uint32_t)middle);
        if (bin.first + max((int)bin.n - 1, 0) < part)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* About the least value of a part: where its first bin begins, or where it begins in its bin. */
static __device__ float find_low(const job &j, int part) {
    const bin_scale scale = j.state->bin_scale;
    const int i = bin_of_part(j, part);
    if (i == BINS)
        return FLT_MAX;
    const bin_parts bin = load_bin(j.bin_parts, (uint32_t)i);
    const float before = bin.n > 0 ? (float)(part - bin.first) / (float)bin.n : 0;
    return scale.centre + bin_x(i, before) / scale.per_unit;
}

static __global__ void __launch_bounds__(COUNTING_THREADS)
    count_parts(const __grid_constant__ job j) {
    __shared__ uint32_t size[PARTS];
    for (int i = threadIdx.x; i < PARTS; i += COUNTING_THREADS)
        size[i] = 0;
    wait_for_earlier();
    const int64_t n = count_keys(j);
    for (int part = (int)(blockIdx.x * COUNTING_THREADS + threadIdx.x); n > 0 && part < PARTS;
         part += (int)gridDim.x * COUNTING_THREADS)
        j.part_low[part] = find_low(j, part);
    __syncthreads();
    for_keys(j, n, [&](const uint32_t *, const int *parts) {
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            if (parts[i] < PARTS)
                atomicAdd(&size[parts[i]], 1);
    });
    __syncthreads();
    for (int i = threadIdx.x; i < PARTS; i += COUNTING_THREADS)
        if (size[i] > 0)
            atomicAdd(&j.part_size[i], size[i]);
}

/* --- taking it out --- */

/* Puts the lanes' keys that are wanted behind those that a warp has gathered. */
static __device__ void gather(uint32_t *gathered, int *n, uint32_t key, bool wanted) {
    const unsigned lanes = __ballot_sync(ALL_LANES, wanted);
    if (wanted)
        gathered[*n + __popc(lanes & lanes_before())] = key;
    *n += __popc(lanes);
}

/* Takes them to the narrowed list. */
static __device__ void write_gathered(const job &j, const uint32_t *gathered, int *n) {
    unsigned long long to = 0;
    __syncwarp();
    if (lane_of_thread() == 0 && *n > 0)
        to = atomicAdd((unsigned long long *)&j.state->narrowing.n_written, (unsigned long long)*n);
    to = __shfl_sync(ALL_LANES, to, 0);
    for (int i = lane_of_thread(); i < *n; i += WARP)
        j.list[1][to + i] = gathered[i];
    *n = 0;
    __syncwarp();
}

/* A key's value in units of its zone; *divided becomes false where that is no whole number. */
static __device__ int in_units(uint32_t key, float scale, bool *divided) {
    const float scaled = exact_unkey(key) * scale;
    const int q = __float2int_rn(scaled);
    *divided &= (float)q == scaled && fabsf(scaled) < 0x1p31f;
    return q;
}

/* The sums of a block's threads, of each zone, and behind those of what is 0 in all units. They are
 * in shared memory, so that it costs nothing that there are many zones. */
typedef core_sums zone_sums[ZONES + 1][THREADS];

static __device__ inline void add_to_zone(zone_sums sums, int use, int q) {
    add_to(&sums[min(use, (int)ZONES)][threadIdx.x], q);
}

/* A block's sums go to the totals together. */
static __device__ void write_zones(const job &j, const zone_sums sums) {
    __syncthreads();
    for (int zone = threadIdx.x / WARP; zone < ZONES; zone += WARPS) {
        core_sums all = {};
        for (int i = lane_of_thread(); i < THREADS; i += WARP)
            all += sums[zone][i];
        all = warp_sum(all);
        if (lane_of_thread() == 0)
            add_to_totals(&j.state->narrowing.zones[zone].sums, all);
    }
}

static __global__ void __launch_bounds__(THREADS) narrow(const __grid_constant__ job j) {
    __shared__ zone_sums sums;
    __shared__ uint32_t of_warp[WARPS][WARP_ROOM];
    __shared__ uint8_t use[PARTS + 1];
    __shared__ float scale[NOWHERE + 1]; /* by the use */
    uint32_t *const gathered = of_warp[threadIdx.x / WARP];
    bool divided = true;
    int n_gathered = 0;
    wait_for_earlier();
    const int64_t n = count_keys(j);
    const narrowing &foreseen = j.state->narrowing;
    if (n == 0 || !foreseen.done)
        return;
    for (int i = threadIdx.x; i <= PARTS; i += THREADS)
        use[i] = i < PARTS ? j.part_use[i] : (uint8_t)NOWHERE;
    if (threadIdx.x <= NOWHERE)
        scale[threadIdx.x] = threadIdx.x < ZONES ? foreseen.zones[threadIdx.x].scale : 0;
    for (int i = 0; i <= ZONES; i++)
        sums[i][threadIdx.x] = {};
    __syncthreads();
    for_keys(j, n, [&](const uint32_t *keys, const int *parts) {
        if (n_gathered > WARP_ROOM - AT_ONCE * WARP)
            write_gathered(j, gathered, &n_gathered);
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            const int mine = use[parts[i]];
            gather(gathered, &n_gathered, keys[i], mine == LEFT || mine == LEFT_BETWEEN);
            add_to_zone(sums, mine, in_units(keys[i], scale[mine], &divided));
        }
    });
    write_gathered(j, gathered, &n_gathered);
    if (!divided)
        j.state->list_unsorted = true;
    write_zones(j, sums);
}

/* A kernel whose lanes take AT_ONCE keys at a time. */
static cudaError_t launch_for_keys(void (*kernel)(const job), int threads, const job *job,
                                   cudaStream_t stream) {
    unsigned blocks;
    const int64_t work = job->list_room / (threads * AT_ONCE) + 1;
    const cudaError_t status = blocks_for(kernel, threads, work, &blocks);
    return status ? status : launch_next(kernel, blocks, threads, stream, *job);
}

cudaError_t launch_count_parts(const struct job *job, cudaStream_t stream) {
    return launch_for_keys(count_parts, COUNTING_THREADS, job, stream);
}

cudaError_t launch_narrow(const struct job *job, cudaStream_t stream) {
    return launch_for_keys(narrow, THREADS, job, stream);
}
