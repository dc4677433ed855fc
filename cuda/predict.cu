/* The plan of a scan, from a sample of the pixels: what it predicts is verified by the clip, so it
 * need not be exact. Blocks count the sample in bins, fine ones in the middle and coarse ones far
 * out; one clips by these counts, and turns the result into a window whose bounds are exact. */
#include "bins.cuh"

enum {
    THREADS = 1024,
    WARPS = THREADS / WARP,
    PROBES = 256, /* that guess the scale */
    THREAD_BINS = BINS / THREADS,
    AT_ONCE = 4, /* keys of a thread */
    DRAW_THREADS = 256,
    SAMPLE_WEIGHT = 64, /* of a value of the sample, for its bin's share of the parts */
    EMPTY_WEIGHT = 8,   /* of a bin */
    WIDE_WEIGHT = 128,  /* the same where each bin should have a part of its own */
};

/* --- the sample --- */

static __device__ uint64_t scramble(uint64_t i) {
    i = (i + 1) * 0x9e3779b97f4a7c15;
    i = (i ^ i >> 30) * 0xbf58476d1ce4e5b9;
    return i ^ i >> 27;
}

/* A pixel of each of n_sample stretches, somewhere in it, so that neither beam nor rows tie them
 * together. Also begins the counts of the sample. */
static __global__ void draw_sample(const __grid_constant__ job j) {
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (int64_t k = i; k < (int64_t)(sizeof *j.sample_counts / sizeof(int));
         k += (int64_t)gridDim.x * blockDim.x)
        reinterpret_cast<int *>(j.sample_counts)[k] = 0;
    if (i >= j.n_sample)
        return;
    const int64_t length = j.n_pixels / j.n_sample;
    const int64_t number = i * length + (int64_t)(scramble((uint64_t)i) % (uint64_t)length);
    const float v = is_pixel(j, number) ? value_of(j.pixels[number], j.swapped) : NAN;
    j.sample[i] = isfinite(v) ? exact_key(v) : KEY_PADDING;
}

/* --- bins --- */

/* Sums are of x, the distance from the centre in units. */
struct bins {
    bin_scale scale;
    float unit;
    int count[BINS];
    int before[THREADS];                  /* values before each thread's bins */
    double sum[THREADS], square[THREADS]; /* of x and x^2, over the same */
    int warp_counts[WARPS];
    int weight; /* of all */
    int n_zero; /* values that are 0 */
    double warp_sums[WARPS];
};

static __device__ int bin_of(const bin_scale &scale, float v) {
    return (int)(bin_place(&scale, v) >> PLACE_BITS);
}

/* Sorts a key of each of the first PROBES threads, whose others only wait with them (Batcher 1968,
 * AFIPS 32, 307). */
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

/* Guesses the median and the rms from a few keys, by quantiles: the bins are by them. False where
 * they tell nothing. The same in every block, so that none waits for another; `keys` has a place
 * for each thread. */
static __device__ bool guess_scale(const job &j, uint32_t *keys, bin_scale *scale, float *unit) {
    const uint32_t key =
        threadIdx.x < PROBES ? j.sample[threadIdx.x * j.n_sample / PROBES] : KEY_PADDING;
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

/* Counts the sample in bins; a thread has AT_ONCE keys. */
static __global__ void __launch_bounds__(THREADS) count_sample(const __grid_constant__ job j) {
    __shared__ int count[BINS];
    __shared__ bin_scale scale;
    __shared__ float unit;
    const int64_t first = (int64_t)blockIdx.x * AT_ONCE * THREADS + threadIdx.x;
    uint32_t keys[AT_ONCE];
    int n_zero = 0;
    wait_for_earlier();
#pragma unroll
    for (int i = 0; i < AT_ONCE; i++)
        keys[i] = first + i * THREADS < j.n_sample ? j.sample[first + i * THREADS] : KEY_PADDING;
    if (!guess_scale(j, reinterpret_cast<uint32_t *>(count), &scale, &unit))
        return;
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        j.sample_counts->scale = scale;
        j.sample_counts->unit = unit;
    }
    for (int i = threadIdx.x; i < BINS; i += THREADS)
        count[i] = 0;
    __syncthreads();
#pragma unroll
    for (const uint32_t key : keys) {
        if (key == KEY_PADDING)
            continue;
        atomicAdd(&count[bin_of(scale, exact_unkey(key))], 1);
        n_zero += exact_unkey(key) == 0;
    }
    if (n_zero > 0)
        atomicAdd(&j.sample_counts->n_zero, n_zero);
    __syncthreads();
    for (int i = threadIdx.x; i < BINS; i += THREADS)
        if (count[i] > 0)
            atomicAdd(&j.sample_counts->count[i], count[i]);
}

/* Takes the counts over, and sums them up. By all threads of the block. False where they tell
 * nothing. */
static __device__ bool load_counts(const job &j, bins *b) {
    int n = 0;
    double sum = 0, square = 0;
    if (threadIdx.x == 0) {
        b->scale = j.sample_counts->scale;
        b->unit = j.sample_counts->unit;
        b->n_zero = j.sample_counts->n_zero;
    }
    for (int i = 0; i < THREAD_BINS; i++) {
        const int bin = THREAD_BINS * (int)threadIdx.x + i, count = j.sample_counts->count[bin];
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

/* Over the bins before one. */
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

/* x at a rank, as if values were spread evenly over their bin. */
static __device__ float x_at_rank(const bins &b, float rank) {
    const int thread = warp_thread_at(b.before, rank);
    int bin = THREAD_BINS * thread;
    float rest = rank - b.before[thread];
    while (bin < BINS - 1 && rest >= b.count[bin])
        rest -= b.count[bin++];
    return bin_x(bin, rest / (float)b.count[bin]);
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
        first = max(first, bin_of(b.scale, (float)low));
        last = min(last, bin_of(b.scale, (float)high) + 1);
    }
    return c;
}

/* --- the window --- */

/* A window that lists no less than the plan does, and the plan's bounds made to say the same. False
 * where nothing is left. By a warp, whose lanes look for a bound each. */
static __device__ bool fit_window(scan_plan *plan, scan_window *w) {
    if (!scan_window_shape(w, plan))
        return false;
    const float mine = scan_window_bound(w, lane_of_thread() & 1, lane_of_thread() & 2);
    float bounds[4];
    for (int i = 0; i < 4; i++)
        bounds[i] = __shfl_sync(ALL_LANES, mine, i);
    return scan_window_finish(w, plan, &bounds[0], &bounds[2]);
}

/* How many keys of the sample lie between two values, about. */
static __device__ int count_between(const bins &b, float low, float high) {
    return sums_before(b, bin_of(b.scale, high)).n - sums_before(b, bin_of(b.scale, low)).n;
}

/* How many of them the scan would list; zeros, which are only counted, where their bin is. */
static __device__ int count_listed(const bins &b, const scan_plan &plan) {
    const int zero = bin_of(b.scale, 0);
    const bool in_core =
        bin_of(b.scale, plan.core_low) <= zero && zero < bin_of(b.scale, plan.core_high);
    const bool in_middle =
        bin_of(b.scale, plan.median_low) <= zero && zero < bin_of(b.scale, plan.median_high);
    return sums_before(b, BINS).n - count_between(b, plan.core_low, plan.core_high) +
           count_between(b, plan.median_low, plan.median_high) -
           (in_core && !in_middle ? 0 : b.n_zero);
}

/* The plan and its window, by a warp. */
static __device__ bool predict(const job &j, const bins &b, scan_plan *plan, scan_window *window) {
    const sample_clip c = clip_sample(b, j.detection.kappa);
    return c.n > 0 &&
           scan_plan_predict(plan, &c.path, c.median, c.rms, sums_before(b, BINS).n,
                             &j.detection) &&
           fit_window(plan, window);
}

static __device__ void write_plan(const job &j, const bins &b, bool useful, const scan_plan &plan,
                                  const scan_window &window) {
    state *s = j.state;
    const double share = useful ? (double)count_listed(b, plan) / (double)j.n_sample : 0;
    s->scan_wanted = useful && (int64_t)(share * (double)j.n_pixels) < j.list_room;
    s->plan = s->scan_wanted ? plan : scan_plan_all(INFINITY);
    s->window = s->scan_wanted ? window : scan_window_open(&s->plan);
    s->bin_scale = b.scale;
    s->totals = {};
    s->narrowing.done = false;
    s->list_unsorted = false;
    s->clip.known = false;
}

/* --- parts of what the scan will list --- */

/* Bins [first, last]. */
struct bin_range {
    int first, last;
};

static __device__ bin_range range_of(const bins &b, float low, float high) {
    return {bin_of(b.scale, low), bin_of(b.scale, high)};
}

static __device__ bool is_in(const bin_range &r, int bin) {
    return bin >= r.first && bin <= r.last;
}

/* The sum over four neighbouring threads. */
static __device__ int neighbours_sum(int n) {
    n += __shfl_xor_sync(ALL_LANES, n, 1);
    return n + __shfl_xor_sync(ALL_LANES, n, 2);
}

/* What each of a thread's bins weighs if its values may be listed: by the part of the sample that
 * is in those bins of it and its neighbours. (Of pixels near 0 few are listed, which have no part
 * of their own.) By all threads of the block. */
static __device__ int weigh_bins(const job &j, const bins &b, const scan_plan &plan,
                                 bool listed[THREAD_BINS]) {
    const bin_range core = range_of(b, plan.core_low, plan.core_high);
    const bin_range middle = range_of(b, plan.median_low, plan.median_high);
    int n_bins = 0, n = 0;
    for (int i = 0; i < THREAD_BINS; i++) {
        const int bin = THREAD_BINS * (int)threadIdx.x + i;
        listed[i] = bin <= core.first || bin >= core.last || is_in(middle, bin);
        n_bins += listed[i];
        n += listed[i] ? b.count[bin] : 0;
    }
    return (j.narrows ? WIDE_WEIGHT : EMPTY_WEIGHT) +
           SAMPLE_WEIGHT * neighbours_sum(n) / max(neighbours_sum(n_bins), 1);
}

/* Begins the parts of a list that will be narrowed, or buckets. */
static __device__ void clear_parts(const job &j) {
    for (int i = threadIdx.x; i < j.n_buckets; i += THREADS)
        j.bucket_size[i] = 0;
    for (int i = threadIdx.x; j.narrows && i < PARTS; i += THREADS)
        j.part_size[i] = 0;
}

/* Shares the parts out among the bins. By all threads of the block. */
static __device__ void share_parts(const job &j, bins *b, const scan_plan &plan) {
    bool listed[THREAD_BINS];
    int n_listed = 0;
    const int weight = weigh_bins(j, *b, plan, listed);
    for (int i = 0; i < THREAD_BINS; i++)
        n_listed += listed[i];
    int before = block_sum_before(n_listed * weight, b->warp_counts);
    if (threadIdx.x == THREADS - 1)
        b->weight = before + n_listed * weight;
    clear_parts(j);
    __syncthreads();
    const int last = (j.narrows ? PARTS : (int)j.n_buckets * BUCKET_PARTS) - 1;
    const float per_weight = (float)last / (float)b->weight;
    for (int i = 0; i < THREAD_BINS; i++) {
        const int first = min((int)((float)before * per_weight), last);
        before += listed[i] ? weight : 0;
        const int end = min((int)((float)before * per_weight), last);
        j.bin_parts[THREAD_BINS * threadIdx.x + i] = {(uint16_t)first, (uint16_t)(end - first)};
    }
}

static __global__ void __launch_bounds__(THREADS) make_plan(const __grid_constant__ job j) {
    __shared__ bins b;
    __shared__ scan_plan plan;
    wait_for_earlier();
    const bool scaled = load_counts(j, &b);
    if (threadIdx.x < WARP) {
        scan_plan mine = scan_plan_all(INFINITY);
        scan_window fitting = scan_window_open(&mine);
        const bool useful = scaled && predict(j, b, &mine, &fitting);
        if (threadIdx.x == 0) {
            write_plan(j, b, useful, mine, fitting);
            plan = mine;
        }
    }
    __syncthreads();
    if (scaled && (j.narrows || j.n_buckets > 0))
        share_parts(j, &b, plan);
}

/* --- putting it to work --- */

cudaError_t launch_sample(const struct job *job, cudaStream_t stream) {
    draw_sample<<<(unsigned)((job->n_sample + DRAW_THREADS - 1) / DRAW_THREADS), DRAW_THREADS, 0,
                  stream>>>(*job);
    return cudaGetLastError();
}

cudaError_t launch_plan(const struct job *job, cudaStream_t stream) {
    const int64_t block_keys = AT_ONCE * THREADS;
    const cudaError_t status =
        launch_next(count_sample, (unsigned)((job->n_sample + block_keys - 1) / block_keys),
                    THREADS, stream, *job);
    return status ? status : launch_next(make_plan, 1, THREADS, stream, *job);
}

static __global__ void set_plan(const __grid_constant__ job j, scan_plan plan, scan_window window) {
    j.state->plan = plan;
    j.state->window = window;
    j.state->scan_wanted = true;
    j.state->narrowing.done = false;
    j.state->list_unsorted = false;
    j.state->totals = {};
}

cudaError_t launch_plan_of_host(const struct job *job, const struct scan_plan *plan,
                                cudaStream_t stream) {
    set_plan<<<1, 1, 0, stream>>>(*job, *plan, scan_window_open(plan));
    return cudaGetLastError();
}
