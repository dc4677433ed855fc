/* Narrows a long list, in no order, down to what a clip will look at: the values near a median or a
 * bound of one of its rounds. Keys are counted by parts; foresee.cu says of each part whether its
 * keys are to be left; those of the others are only added up. */
#include <float.h>

#include "bins.cuh"
#include "core_sums.cuh"

enum {
    THREADS = 512,
    WARPS = THREADS / WARP,
    AT_ONCE = 4,                /* keys of a lane */
    WARP_ROOM = 256,            /* keys that a warp gathers before it writes them out */
    NOWHERE = LEFT_BETWEEN + 1, /* the use of a part that there is none of */
};

/* --- counting --- */

/* AT_ONCE keys of a lane, and their parts; that of 0, and PARTS, where there is none. */
struct some_keys {
    uint32_t key[AT_ONCE];
    int part[AT_ONCE];
};

/* Calls f(keys) for all keys of the list, by whole warps. */
template <typename Function>
static __device__ void for_keys(const job &j, int64_t n, const Function &f) {
    const bin_scale scale = j.state->bin_scale;
    const int64_t step = (int64_t)gridDim.x * THREADS * AT_ONCE;
    const int64_t thread = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    for (int64_t first = thread / WARP * WARP * AT_ONCE; first < n; first += step) {
        const uint32_t *from = j.list[0] + first + lane_of_thread();
        const int left = (int)min(n - first, (int64_t)AT_ONCE * WARP) - lane_of_thread();
        some_keys keys;
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            keys.key[i] = i * WARP < left ? from[i * WARP] : exact_key(0);
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            const int part = (int)part_of(j.bin_parts, scale, keys.key[i]);
            keys.part[i] = i * WARP < left ? part : (int)PARTS;
        }
        f(keys);
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

static __global__ void __launch_bounds__(THREADS) count_parts(const __grid_constant__ job j) {
    __shared__ uint32_t size[PARTS];
    for (int i = threadIdx.x; i < PARTS; i += THREADS)
        size[i] = 0;
    wait_for_earlier();
    const int64_t n = count_keys(j);
    for (int part = (int)(blockIdx.x * THREADS + threadIdx.x); n > 0 && part < PARTS;
         part += (int)gridDim.x * THREADS)
        j.part_low[part] = find_low(j, part);
    __syncthreads();
    for_keys(j, n, [&](const some_keys &keys) {
#pragma unroll
        for (const int part : keys.part)
            if (part < PARTS)
                atomicAdd(&size[part], 1);
    });
    __syncthreads();
    for (int i = threadIdx.x; i < PARTS; i += THREADS)
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
        to = atomicAdd((unsigned long long *)&j.state->narrowing.n, (unsigned long long)*n);
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

/* Adds up those of a lane's keys that are of a zone. */
static __device__ void add_zone(const int q[AT_ONCE], const int use[AT_ONCE], int zone,
                                core_sums *sums) {
    static_assert(AT_ONCE <= 4, "four squares of q fit in 64 bits");
    uint64_t square = 0;
#pragma unroll
    for (int i = 0; i < AT_ONCE; i++) {
        const int mine = use[i] == zone ? q[i] : 0;
        sums->sum += mine;
        square += (uint64_t)((int64_t)mine * mine);
    }
    add_squares(sums, square);
}

/* The zones' sums of a block go to the totals together. */
static __device__ void write_zones(const job &j, const core_sums sums[ZONES]) {
    __shared__ core_sums of_warp[WARPS][ZONES];
#pragma unroll
    for (int i = 0; i < ZONES; i++) {
        const core_sums all = warp_sum(sums[i]);
        if (lane_of_thread() == 0)
            of_warp[threadIdx.x / WARP][i] = all;
    }
    __syncthreads();
    if (threadIdx.x >= ZONES)
        return;
    core_sums all = {};
    for (int i = 0; i < WARPS; i++)
        all += of_warp[i][threadIdx.x];
    add_to_totals(&j.state->narrowing.zones[threadIdx.x].sums, all);
}

static __global__ void __launch_bounds__(THREADS) narrow(const __grid_constant__ job j) {
    __shared__ uint32_t of_warp[WARPS][WARP_ROOM];
    __shared__ uint8_t use[PARTS + 1];
    __shared__ float scale[NOWHERE + 1]; /* by the use */
    uint32_t *const gathered = of_warp[threadIdx.x / WARP];
    core_sums sums[ZONES] = {};
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
    __syncthreads();
    for_keys(j, n, [&](const some_keys &keys) {
        int uses[AT_ONCE], q[AT_ONCE];
        if (n_gathered > WARP_ROOM - AT_ONCE * WARP)
            write_gathered(j, gathered, &n_gathered);
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            uses[i] = use[keys.part[i]];
            gather(gathered, &n_gathered, keys.key[i], uses[i] == LEFT || uses[i] == LEFT_BETWEEN);
            q[i] = in_units(keys.key[i], scale[uses[i]], &divided);
        }
#pragma unroll
        for (int i = 0; i < ZONES; i++)
            add_zone(q, uses, i, &sums[i]);
    });
    write_gathered(j, gathered, &n_gathered);
    if (!divided)
        j.state->list_unsorted = true;
    write_zones(j, sums);
}

cudaError_t launch_narrow(const struct job *job, cudaStream_t stream) {
    unsigned count_blocks, narrow_blocks;
    const int64_t work = job->list_room / (THREADS * AT_ONCE) + 1;
    cudaError_t status = blocks_for(count_parts, THREADS, work, &count_blocks);
    if (!status)
        status = blocks_for(narrow, THREADS, work, &narrow_blocks);
    if (!status)
        status = launch_next(count_parts, count_blocks, THREADS, stream, *job);
    if (!status)
        status = launch_foresee(job, stream);
    return status ? status : launch_next(narrow, narrow_blocks, THREADS, stream, *job);
}
