/* Predicts from a sample where the clip will end, and makes the plan of the scan.
 *
 * 1. draw_sample: one pixel from each of n_sample ranges, at a hashed place in the range. (The host
 *    draws the sample of a streamed image.)
 * 2. count_sample: every block guesses median and rms from the same 256 keys, which gives the scale
 *    of the bins (value_bins.h): fine ones near the median, coarse ones far from it. Blocks count
 *    the sample in bins.
 * 3. make_plan, one block: prefix sums over the bins; a warp clips by these counts, and
 *    scan_plan_predict makes the plan. The window has its bounds as distances from a centre, and
 *    the plan gets exactly the bounds of the window.
 * 4. If the scan would list more values than the list holds, the plan is not useful, and the scan
 *    is skipped.
 *
 * Always: the plan changes the time only; the clip verifies it.
 *
 * Cost: one pixel in 256 and 2^13 more are read, at most 2^18. */
#include "backend/value_bins.h"
#include "device.cuh"

enum {
    THREADS = 1024,
    WARPS = THREADS / WARP,
    PROBES = 256, /* sample keys from which the bins' scale is estimated */
    THREAD_BINS = BINS / THREADS,
    AT_ONCE = 4, /* keys per thread */
    DRAW_THREADS = 256,
};

/* --- the sample --- */

static __device__ uint64_t hash(uint64_t i) {
    i = (i + 1) * 0x9e3779b97f4a7c15;
    i = (i ^ i >> 30) * 0xbf58476d1ce4e5b9;
    return i ^ i >> 27;
}

/* Draws one pixel from each of n_sample ranges, a thread each, at a hashed position, so that
 * neither beam nor rows correlate neighbouring draws. Sets sample_counts to 0, too. */
static __global__ void draw_sample(const __grid_constant__ params params) {
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (int64_t k = i; k < (int64_t)(sizeof *params.sample_counts / sizeof(int));
         k += (int64_t)gridDim.x * blockDim.x)
        reinterpret_cast<int *>(params.sample_counts)[k] = 0;
    if (i >= params.n_sample)
        return;
    const int64_t length = params.n_pixels / params.n_sample;
    const int64_t number = i * length + (int64_t)(hash((uint64_t)i) % (uint64_t)length);
    const float v =
        is_pixel(params, number) ? pixel_value(params.pixels[number], params.swapped) : NAN;
    params.sample[i] = isfinite(v) ? exact_key(v) : KEY_PADDING;
}

/* --- bins --- */

/* The counts of the sample, with prefix sums. x is the distance from the centre in units. */
struct bins {
    bin_scale scale;
    float unit;
    int count[BINS];
    int before[THREADS];                  /* number of values below each thread's bins */
    double sum[THREADS], square[THREADS]; /* sums of x and x^2 over these */
    int warp_counts[WARPS];
    int n_zero; /* values that are 0 */
    double warp_sums[WARPS];
};

/* Sorts the keys of the first PROBES threads, one key per thread; the other threads only take part
 * in the barriers (bitonic sort: Batcher 1968, AFIPS 32, 307). */
static __device__ uint32_t sort_probes(uint32_t key, uint32_t *shared) {
    const int i = threadIdx.x;
    for (int size = 2; size <= PROBES; size *= 2) {
        for (int step = size / 2; step > 0; step /= 2) {
            uint32_t other;
            if (step < WARP) {
                other = __shfl_xor_sync(ALL_LANES, key, step);
            } else {
                __syncthreads();
                shared[i] = key;
                __syncthreads();
                other = shared[i ^ step];
            }
            key = ((i & step) == 0) == ((i & size) == 0) ? min(key, other) : max(key, other);
        }
    }
    return key;
}

/* Estimates the median and the rms from PROBES keys by quantiles, and derives the bins' scale.
 * Returns false if no scale follows from them. Every block computes the same, so that none waits
 * for another. `keys` has one element per thread. */
static __device__ bool guess_scale(const params &params, uint32_t *keys, bin_scale *scale,
                                   float *unit) {
    const uint32_t key =
        threadIdx.x < PROBES ? params.sample[threadIdx.x * params.n_sample / PROBES] : KEY_PADDING;
    const int n = __syncthreads_count(key != KEY_PADDING);
    const uint32_t sorted = sort_probes(key, keys);
    __syncthreads();
    keys[threadIdx.x] = sorted;
    __syncthreads();
    if (threadIdx.x == 0) {
        const float low = exact_unkey(keys[n * 16 / 100]), high = exact_unkey(keys[n * 84 / 100]);
        *unit = (high - low) / 4;
        *scale = {exact_unkey(keys[n / 2]), 1 / *unit};
    }
    __syncthreads();
    return n > 0 && isfinite(*unit) && *unit > 0 && isfinite(scale->per_unit);
}

/* Counts the sample in bins; a thread counts AT_ONCE keys. */
static __global__ void __launch_bounds__(THREADS)
    count_sample(const __grid_constant__ params params) {
    __shared__ int count[BINS];
    __shared__ bin_scale scale;
    __shared__ float unit;
    const int64_t first = (int64_t)blockIdx.x * AT_ONCE * THREADS + threadIdx.x;
    uint32_t keys[AT_ONCE];
    int n_zero = 0;
    wait_for_earlier();
#pragma unroll
    for (int i = 0; i < AT_ONCE; i++)
        keys[i] = first + i * THREADS < params.n_sample ? params.sample[first + i * THREADS]
                                                        : KEY_PADDING;
    if (!guess_scale(params, reinterpret_cast<uint32_t *>(count), &scale, &unit))
        return;
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        params.sample_counts->scale = scale;
        params.sample_counts->unit = unit;
    }
    for (int i = threadIdx.x; i < BINS; i += THREADS)
        count[i] = 0;
    __syncthreads();
#pragma unroll
    for (const uint32_t key : keys) {
        if (key == KEY_PADDING)
            continue;
        atomicAdd(&count[bin_of(&scale, exact_unkey(key))], 1);
        n_zero += exact_unkey(key) == 0;
    }
    if (n_zero > 0)
        atomicAdd(&params.sample_counts->n_zero, n_zero);
    __syncthreads();
    for (int i = threadIdx.x; i < BINS; i += THREADS)
        if (count[i] > 0)
            atomicAdd(&params.sample_counts->count[i], count[i]);
}

/* Loads the counts, and computes their prefix sums. By all threads of the block. Returns false if
 * there is no scale. */
static __device__ bool load_counts(const params &params, bins *b) {
    int n = 0;
    double sum = 0, square = 0;
    if (threadIdx.x == 0) {
        b->scale = params.sample_counts->scale;
        b->unit = params.sample_counts->unit;
        b->n_zero = params.sample_counts->n_zero;
    }
    for (int i = 0; i < THREAD_BINS; i++) {
        const int bin = THREAD_BINS * (int)threadIdx.x + i,
                  count = params.sample_counts->count[bin];
        const double x = bin_x(bin, 0.5f);
        b->count[bin] = count;
        n += count;
        sum += count * x;
        square += count * x * x;
    }
    b->before[threadIdx.x] = block_sum_before(n, b->warp_counts);
    b->sum[threadIdx.x] = block_sum_before(sum, b->warp_sums);
    b->square[threadIdx.x] = block_sum_before(square, b->warp_sums);
    __syncthreads();
    return b->unit > 0;
}

/* --- the clip of the sample, by a warp --- */

struct bin_sums {
    int n;
    double sum, square;
};

/* The sums over the bins below `bin`. */
static __device__ bin_sums sums_before(const bins &b, int bin) {
    const int thread = bin / THREAD_BINS < THREADS ? bin / THREAD_BINS : THREADS - 1;
    bin_sums s = {b.before[thread], b.sum[thread], b.square[thread]};
    for (int i = THREAD_BINS * thread; i < bin; i++) {
        const double x = bin_x(i, 0.5f);
        s.n += b.count[i];
        s.sum += b.count[i] * x;
        s.square += b.count[i] * x * x;
    }
    return s;
}

/* The last thread with before[thread] <= n, or 0; by a warp. */
static __device__ int warp_thread_at(const int *before, float n) {
    static_assert(THREADS == WARP * WARP, "a warp compares WARP counts, twice");
    const int rows = __popc(__ballot_sync(ALL_LANES, before[WARP * lane_of_thread()] <= n));
    const int first = WARP * max(rows - 1, 0);
    const bool counts = before[first + lane_of_thread()] <= n;
    return first + max(__popc(__ballot_sync(ALL_LANES, counts)) - 1, 0);
}

/* x at a rank, with values spread evenly over their bin. */
static __device__ float x_at_rank(const bins &b, float rank) {
    const int thread = warp_thread_at(b.before, rank);
    int bin = THREAD_BINS * thread;
    float remaining = rank - b.before[thread];
    while (bin < BINS - 1 && remaining >= b.count[bin])
        remaining -= b.count[bin++];
    return bin_x(bin, remaining / (float)b.count[bin]);
}

struct sample_clip {
    clip_path path;
    double median, rms;
    int n;
};

static __device__ sample_clip clip_sample(const bins &b, double kappa) {
    sample_clip c = {clip_path_none(), 0, 0, 0};
    int first = 0, last = BINS;
    for (int round = 0; round < ROUNDS_MOST; round++) {
        const bin_sums before = sums_before(b, first), until = sums_before(b, last);
        const int n = until.n - before.n;
        if (n == 0 || n == c.n)
            break;
        const float mean = (float)(until.sum - before.sum) / (float)n;
        const float variance = (float)(until.square - before.square) / (float)n - mean * mean;
        c.n = n;
        c.median = b.scale.centre + b.unit * x_at_rank(b, (float)before.n + 0.5f * (float)n);
        c.rms = b.unit * sqrtf(fmaxf(variance, 0));
        const double low = c.median - kappa * c.rms, high = c.median + kappa * c.rms;
        clip_path_extend(&c.path, c.median, low, high);
        first = max(first, bin_of(&b.scale, (float)low));
        last = min(last, bin_of(&b.scale, (float)high) + 1);
    }
    return c;
}

/* --- the window --- */

/* Makes a window that lists at least the values that the plan lists, and gives the plan exactly the
 * bounds of the window. False if no inliers remain. By a warp: each of four lanes computes a bound.
 */
static __device__ bool fit_window(scan_plan *plan, scan_window *w) {
    if (!scan_window_shape(w, plan))
        return false;
    const float mine = scan_window_bound(w, lane_of_thread() & 1, lane_of_thread() & 2);
    float bounds[4];
    for (int i = 0; i < 4; i++)
        bounds[i] = __shfl_sync(ALL_LANES, mine, i);
    return scan_window_finish(w, plan, &bounds[0], &bounds[2]);
}

/* The approximate number of sample keys between two values. */
static __device__ int count_between(const bins &b, float low, float high) {
    return sums_before(b, bin_of(&b.scale, high)).n - sums_before(b, bin_of(&b.scale, low)).n;
}

/* The approximate number of sample keys that the scan would list. Zeros are not listed: they are
 * subtracted, unless their bin is already among the inliers. */
static __device__ int count_listed(const bins &b, const scan_plan &plan) {
    const int zero = bin_of(&b.scale, 0);
    const bool in_inliers =
        bin_of(&b.scale, plan.inlier_low) <= zero && zero < bin_of(&b.scale, plan.inlier_high);
    const bool in_bracket =
        bin_of(&b.scale, plan.median_low) <= zero && zero < bin_of(&b.scale, plan.median_high);
    return sums_before(b, BINS).n - count_between(b, plan.inlier_low, plan.inlier_high) +
           count_between(b, plan.median_low, plan.median_high) -
           (in_inliers && !in_bracket ? 0 : b.n_zero);
}

/* Makes the plan and its window; returns false if the prediction is not useful. By a warp. */
static __device__ bool predict(const params &params, const bins &b, scan_plan *plan,
                               scan_window *window) {
    const sample_clip c = clip_sample(b, params.detection.kappa);
    return c.n > 0 &&
           scan_plan_predict(plan, &c.path, c.median, c.rms, sums_before(b, BINS).n,
                             &params.detection) &&
           fit_window(plan, window);
}

static __device__ void write_plan(const params &params, const bins &b, bool useful,
                                  const scan_plan &plan, const scan_window &window) {
    state *s = params.state;
    const double share = useful ? (double)count_listed(b, plan) / (double)params.n_sample : 0;
    s->scan_wanted = useful && (int64_t)(share * (double)params.n_pixels) < params.list_capacity;
    s->plan = s->scan_wanted ? plan : scan_plan_all(INFINITY);
    s->window = s->scan_wanted ? window : scan_window_open(&s->plan);
    s->totals = {};
    s->clip.known = false;
}

static __global__ void __launch_bounds__(THREADS) make_plan(const __grid_constant__ params params) {
    __shared__ bins b;
    wait_for_earlier();
    const bool scaled = load_counts(params, &b);
    if (threadIdx.x >= WARP)
        return;
    scan_plan plan = scan_plan_all(INFINITY);
    scan_window window = scan_window_open(&plan);
    const bool useful = scaled && predict(params, b, &plan, &window);
    if (threadIdx.x == 0)
        write_plan(params, b, useful, plan, window);
}

/* --- launchers --- */

cudaError_t launch_sample(const struct params *params, cudaStream_t stream) {
    draw_sample<<<(unsigned)((params->n_sample + DRAW_THREADS - 1) / DRAW_THREADS), DRAW_THREADS, 0,
                  stream>>>(*params);
    return cudaGetLastError();
}

cudaError_t launch_predict(const struct params *params, cudaStream_t stream) {
    const int64_t block_keys = AT_ONCE * THREADS;
    const cudaError_t status =
        launch_next(count_sample, (unsigned)((params->n_sample + block_keys - 1) / block_keys),
                    THREADS, stream, *params);
    return status ? status : launch_next(make_plan, 1, THREADS, stream, *params);
}

static __global__ void set_plan(const __grid_constant__ params params, scan_plan plan,
                                scan_window window) {
    params.state->plan = plan;
    params.state->window = window;
    params.state->scan_wanted = true;
    params.state->totals = {};
}

cudaError_t launch_set_plan(const struct params *params, const struct scan_plan *plan,
                            cudaStream_t stream) {
    set_plan<<<1, 1, 0, stream>>>(*params, *plan, scan_window_open(plan));
    return cudaGetLastError();
}
