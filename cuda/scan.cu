/* The scan: one read of the image, by the plan.
 *
 * 1. A warp scans one tile of 1024 pixels at a time, in rows of 128 in which each lane has four
 *    neighbouring pixels. The next rows are loaded while the warp scans the current ones.
 * 2. Inliers are summed in registers. Other pixels are appended to the lane's column in shared
 *    memory.
 * 3. When columns are nearly full, sift removes blanks, zeros and values near 0 that can be summed,
 *    and write_list appends the rest to the list, in any order.
 * 4. Candidates and blanks are marked in two bitmaps; values of candidates are stored in the order
 *    of the tile's pixels, at an index that the tile records. These rare cases stand behind a
 *    branch of the whole warp, which keeps the loop short.
 * 5. Sums of a block are added to the totals by atomics.
 *
 * Always: each pixel is an inlier, listed, a zero or a blank; sums are integers, so the order of
 * the warps changes no bit. If list or values overflow, only their counts go on.
 *
 * Cost: it is bound by memory: 4 bytes read a pixel, 1/4 byte written, and the list. */
#include "inlier_sums.cuh"

enum {
    THREADS = 128,
    WARPS = THREADS / WARP,
    BLOCKS = 5,          /* blocks per multiprocessor, at least */
    WORDS = TILE / WARP, /* words of a tile in a bitmap: one per lane */
    QUAD = 4,            /* pixels per lane and row */
    ROW = QUAD * WARP,
    ROWS_AT_ONCE = 4,                 /* rows that a warp loads before it uses the first */
    COLUMN = 3 * QUAD * ROWS_AT_ONCE, /* values per lane */
    COLUMN_STEP = WARP * sizeof(float),
    RESERVE = 256, /* most indices of candidates' values that a warp reserves in advance */
};
static_assert(TILE == 2 * ROW * ROWS_AT_ONCE && TILE == WARP * WARP,
              "a tile is whole rows, and has one word per lane");
static_assert(QUAD <= 4, "four squares of q fit in 64 bits");

/* The sums and counts of a lane. n_below first counts all pixels below the centre; those that are
 * to be listed are subtracted later. */
struct lane_sums {
    inlier_sums inliers, small; /* small: inliers of the zero band, in a smaller unit */
    unsigned n_below, n_zero, n_blank;
};

/* Values of a lane that wait to be listed, in shared memory: byte addresses from `first` up to
 * `next`, COLUMN_STEP apart. */
struct column {
    uint32_t first, next;
    int one; /* 1, unknown to the compiler, so that q * one stays a multiply-add */
};

/* The pixels [first, end), at `pixels` in device memory. */
struct chunk {
    const uint32_t *pixels;
    int64_t first, end;
};

/* Four neighbouring pixels. */
struct quad {
    uint32_t bits[QUAD];
    unsigned there; /* one bit per pixel: it belongs to the image */
};

/* --- pixels --- */

/* sum += a * b, in one instruction. */
static __device__ inline void add_product(int64_t *sum, int a, int b) {
    asm("mad.wide.s32 %0, %1, %2, %0;" : "+l"(*sum) : "r"(a), "r"(b));
}

/* Appends a value to a column if it is wanted. */
static __device__ inline void keep_if(bool wanted, column *c, float v) {
    asm volatile("{.reg .pred p; setp.ne.s32 p, %2, 0;"
                 "@p st.shared.f32 [%0], %1; @p add.u32 %0, %0, %3;}"
                 : "+r"(c->next)
                 : "f"(v), "r"((int)wanted), "r"((uint32_t)COLUMN_STEP)
                 : "memory");
}

/* n += the sign bit of a number, as a multiply-add, since the multiplier is less busy than the
 * other units. */
static __device__ inline void add_sign(unsigned *n, float v) {
    asm("mad.hi.u32 %0, %1, 2, %0;" : "+r"(*n) : "r"(__float_as_uint(v)));
}

/* ZERO: the window has a zero band. */
template <bool ZERO> static __device__ inline bool is_inlier(const scan_window &w, float v) {
    return (fabsf(scan_window_distance(&w, v)) < w.half) & (!ZERO | (fabsf(v) >= w.zero_band));
}

/* Adds an inlier to the sums, or appends another pixel to the column; without a branch. */
template <bool ZERO>
static __device__ inline void scan_pixel(const scan_window &w, float v, bool there, lane_sums *sums,
                                         int64_t *square, column *c) {
    const bool inlier = is_inlier<ZERO>(w, v) & there;
    const int q = __float2int_rn(inlier ? v * w.scale : 0.0f);
    add_product(&sums->inliers.sum, q, c->one);
    add_product(square, q, q);
    if (there)
        add_sign(&sums->n_below, v - w.centre);
    keep_if(!inlier & there, c, v);
}

/* --- the list --- */

/* Loads a value from an address in shared memory. */
static __device__ inline float load_shared(uint32_t address) {
    float v;
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(address));
    return v;
}

static __device__ inline bool is_listed(float v) {
    return isfinite(v) && v != 0;
}

/* Adds a value to `small` if only the zero band excludes it from the inliers and it is a multiple
 * of the smaller unit; else returns false. */
static __device__ inline bool add_small(const scan_window &w, float v, inlier_sums *small) {
    const float scaled = v * (w.scale * (1 << SCAN_PLAN_SMALLER));
    const int q = __float2int_rn(scaled);
    if (!is_inlier<false>(w, v) || q == 0 || (float)q != scaled)
        return false;
    add_to(small, q);
    return true;
}

/* Removes from a lane's column blanks, zeros, which are counted, and values that are added to
 * `small`. */
static __device__ void sift(const scan_window &w, column *c, lane_sums *sums) {
    const uint32_t end = c->next;
    c->next = c->first;
#pragma unroll 1
    for (uint32_t at = c->first; at < end; at += COLUMN_STEP) {
        const float v = load_shared(at);
        const bool added = w.has_zero && add_small(w, v, &sums->small);
        sums->n_zero += v == 0;
        if (!added)
            sums->n_below -= __float_as_uint(v - w.centre) >> 31;
        keep_if(!added && is_listed(v), c, v);
    }
}

/* Appends a warp's columns to the list, and empties them. If the list overflows, only the count
 * goes on: the list is of no use then. */
static __device__ void write_list(const params &params, const scan_window &w, column *c,
                                  lane_sums *sums) {
    sift(w, c, sums);
    const uint32_t size = c->next - c->first, most = warp_max(size);
    const unsigned total = warp_sum(size / (unsigned)COLUMN_STEP);
    unsigned long long to = 0;
    if (lane_of_thread() == 0 && total > 0)
        to = atomicAdd(&params.state->totals.n_listed, (unsigned long long)total);
    to = __shfl_sync(ALL_LANES, to, 0);
    c->next = c->first;
    if (to + total > (unsigned long long)params.list_capacity)
        return;
    uint32_t *list = params.list[0] + to;
#pragma unroll 1
    for (uint32_t i = 0; i < most; i += COLUMN_STEP) {
        const unsigned lanes = __ballot_sync(ALL_LANES, i < size);
        if (i < size)
            list[__popc(lanes & lanes_before())] = exact_key(load_shared(c->first + i));
        list += __popc(lanes);
    }
}

/* --- rare cases --- */

/* Indices of params.values, [next, end), that a warp has reserved for candidates. */
struct value_range {
    unsigned long long next, end;
};

/* The candidates and blanks of a tile: a lane's words of the two bitmaps, and the values of
 * candidates in the order of the pixels, in shared memory. */
struct tile_rare {
    uint32_t candidates, blank;
    float *values;
    int n_values;
};

/* Gathers a lane's word of a bitmap, from the bits that all lanes have of one row. */
static __device__ inline uint32_t gather_word(unsigned bits) {
    uint32_t word = bits << QUAD * (lane_of_thread() % (WARP / QUAD));
    for (int step = 1; step < WARP / QUAD; step *= 2)
        word |= __shfl_xor_sync(ALL_LANES, word, step);
    return __shfl_sync(ALL_LANES, word, lane_of_thread() % QUAD * (WARP / QUAD));
}

static __device__ void mark_blanks(unsigned blank, int row, tile_rare *f, lane_sums *sums) {
    const uint32_t word = gather_word(blank);
    sums->n_blank += __popc(blank);
    if (lane_of_thread() / QUAD == row)
        f->blank = word;
}

static __device__ void mark_candidates(const float v[QUAD], unsigned candidates, int row,
                                       tile_rare *f) {
    const uint32_t word = gather_word(candidates);
    const int n = __popc(candidates);
    const int before = warp_sum_before(n);
    float *to = f->values + f->n_values + before;
    for (int i = 0; i < QUAD; i++)
        if (candidates >> i & 1)
            *to++ = v[i];
    f->n_values += __shfl_sync(ALL_LANES, before + n, WARP - 1);
    if (lane_of_thread() / QUAD == row)
        f->candidates = word;
}

/* A lane's four pixels that are rare: a bit for each. */
struct rare_pixels {
    unsigned candidates, blank;
};

/* Marks the candidates and the blank pixels of a row. */
static __device__ void mark_rare(const float v[QUAD], const rare_pixels &rare, int row,
                                 tile_rare *f, lane_sums *sums) {
    if (__any_sync(ALL_LANES, rare.candidates))
        mark_candidates(v, rare.candidates, row, f);
    if (__any_sync(ALL_LANES, rare.blank))
        mark_blanks(rare.blank, row, f, sums);
}

static __device__ rare_pixels find_rare(const scan_window &w, const float v[QUAD], unsigned there) {
    rare_pixels rare = {0, 0};
    for (int i = 0; i < QUAD; i++) {
        rare.blank |= !isfinite(v[i]) << i;
        rare.candidates |= (isfinite(v[i]) && v[i] >= w.candidate) << i;
    }
    return {rare.candidates & there, rare.blank & there};
}

/* --- local noise --- */

static __device__ inline const float *bounds_of_row(const params &params, int64_t y) {
    return params.bounds + __ldg(params.node_of_y + y) * params.width;
}

/* Which of a lane's four pixels, from `number` on, are blank or may be above the noise: a bit each.
 */
static __device__ inline unsigned may_be_rare(const params &params, int64_t number,
                                              const float v[QUAD], unsigned there) {
    if (there == 0)
        return 0;
    int64_t y = row_of(params, number), x = number - y * params.pitch;
    const float *bounds = bounds_of_row(params, y);
    unsigned rare = 0;
#pragma unroll
    for (int i = 0; i < QUAD; i++, x++) {
        if (x == params.pitch && (there >> i)) {
            x = 0;
            bounds = bounds_of_row(params, ++y);
        }
        if (there >> i & 1)
            rare |= !(isfinite(v[i]) && v[i] < __ldg(bounds + x)) << i;
    }
    return rare;
}

static __device__ bool is_above_noise(const params &params, int64_t number, float v) {
    const int64_t y = row_of(params, number), x = number - y * params.pitch;
    return noise_is_exceeded(noise_map_at(&params.noise, x, y), params.detection.island, v);
}

/* Which of the pixels that may be rare are candidates or blank. Not inlined, since it takes many
 * registers and is rarely called: the scan is then three times as fast. */
static __device__ __noinline__ rare_pixels find_rare_locally(const params &params, int64_t number,
                                                             const float v[QUAD], unsigned may_be) {
    rare_pixels rare = {0, 0};
    for (int i = 0; i < QUAD; i++) {
        if (!(may_be >> i & 1))
            continue;
        rare.blank |= !isfinite(v[i]) << i;
        rare.candidates |= (isfinite(v[i]) && is_above_noise(params, number + i, v[i])) << i;
    }
    return rare;
}

/* Reserves n indices, and in advance as many for each of some of the n_tiles tiles that follow: all
 * warps add to one counter, which is slow. */
static __device__ value_range reserve_values(const params &params, int n, int64_t n_tiles) {
    const unsigned long long wanted = n * (1 + min(n_tiles, (int64_t)(RESERVE / n)));
    unsigned long long first = 0;
    if (lane_of_thread() == 0)
        first = atomicAdd(&params.state->totals.n_candidates, wanted);
    first = __shfl_sync(ALL_LANES, first, 0);
    return {first, first + wanted};
}

/* Writes candidates and blanks of a tile to global memory. The warp's tiles are `step` apart and
 * below `end`. */
static __device__ void write_rare(const params &params, int64_t tile, int64_t end, int64_t step,
                                  const tile_rare &f, value_range *p) {
    params.candidates[tile * WORDS + lane_of_thread()] = f.candidates;
    params.blank[tile * WORDS + lane_of_thread()] = f.blank;
    if (f.n_values == 0)
        return;
    if (p->next + f.n_values > p->end)
        *p = reserve_values(params, f.n_values, (end - 1 - tile) / step);
    if (lane_of_thread() == 0)
        params.tile_value[tile] = (int64_t)p->next;
    __syncwarp();
    if (p->next + f.n_values <= (unsigned long long)params.values_capacity)
        for (int i = lane_of_thread(); i < f.n_values; i += WARP)
            params.values[p->next + i] = f.values[i];
    p->next += f.n_values;
    __syncwarp();
}

/* --- tiles --- */

/* Loads a lane's four pixels from `number` on, at `at`. WHOLE: all belong to the image, and the
 * address is aligned, so that one load reads all four. */
template <bool WHOLE>
static __device__ inline quad load_quad(const params &params, const uint32_t *at, int64_t number,
                                        int64_t end) {
    if (WHOLE) {
        const uint4 four = __ldg(reinterpret_cast<const uint4 *>(at));
        return {{four.x, four.y, four.z, four.w}, (1u << QUAD) - 1};
    }
    quad q = {{0, 0, 0, 0}, 0};
    for (int i = 0; i < QUAD; i++) {
        if (number + i < end && is_pixel(params, number + i)) {
            q.bits[i] = __ldg(at + i);
            q.there |= 1u << i;
        }
    }
    return q;
}

/* How a scan is specialised. LIST: also for the clip; ZERO: the window has a zero band; LOCAL: the
 * candidates are above local noise, and there is no list. */
struct plain_scan {
    static const bool LIST = false, ZERO = false, LOCAL = false;
};
struct listing_scan {
    static const bool LIST = true, ZERO = false, LOCAL = false;
};
struct zero_scan {
    static const bool LIST = true, ZERO = true, LOCAL = false;
};
struct local_scan {
    static const bool LIST = false, ZERO = false, LOCAL = true;
};

/* Scans a row of a tile, of which a lane has the pixels from `number` on. */
template <typename KIND, bool WHOLE>
static __device__ inline void scan_row(const params &params, const scan_window &w, const quad &q,
                                       int64_t number, int row, tile_rare *f, lane_sums *sums,
                                       column *c) {
    float v[QUAD];
    int64_t square = 0; /* a sum of four squares, which fits */
    bool rare = false;
#pragma unroll
    for (int i = 0; i < QUAD; i++) {
        const bool there = WHOLE || (q.there >> i & 1);
        v[i] = exact_float(q.bits[i]);
        if (!KIND::LOCAL)
            rare |= there & !(fabsf(v[i]) < w.candidate);
        if (KIND::LIST)
            scan_pixel<KIND::ZERO>(w, v[i], there, sums, &square, c);
    }
    add_squares(&sums->inliers, (uint64_t)square);
    const unsigned may_be = KIND::LOCAL ? may_be_rare(params, number, v, q.there) : 0;
    if (__any_sync(ALL_LANES, rare || may_be))
        mark_rare(v,
                  KIND::LOCAL ? find_rare_locally(params, number, v, may_be)
                              : find_rare(w, v, q.there),
                  row, f, sums);
}

/* The rows that a warp loads at a time; a lane has a quad of each. */
struct rows {
    quad quads[ROWS_AT_ONCE];
};

/* Loads ROWS_AT_ONCE rows of a tile, from `row` on. */
template <bool WHOLE>
static __device__ inline rows load_rows(const params &params, const chunk &c, int64_t tile,
                                        int row) {
    const int64_t number = tile * TILE + row * ROW + QUAD * lane_of_thread();
    rows r;
#pragma unroll
    for (int i = 0; i < ROWS_AT_ONCE; i++)
        r.quads[i] = load_quad<WHOLE>(params, c.pixels + (number + i * ROW - c.first),
                                      number + i * ROW, c.end);
    return r;
}

/* Puts the bytes of the rows in order, and thereby waits for their loads before further loads are
 * issued, because a wait for one load also waits for those issued after it. In assembly, since the
 * compiler would move it down. */
static __device__ inline void receive_rows(const params &params, rows *r) {
    const uint32_t order = params.swapped ? 0x0123 : 0x3210;
#pragma unroll
    for (quad &q : r->quads)
#pragma unroll
        for (uint32_t &bits : q.bits)
            asm volatile("prmt.b32 %0, %0, 0, %1;" : "+r"(bits) : "r"(order) : "memory");
}

template <typename KIND, bool WHOLE>
static __device__ inline void scan_rows(const params &params, const scan_window &w, const rows &r,
                                        int64_t tile, int row, tile_rare *f, lane_sums *sums,
                                        column *c) {
    const int64_t number = tile * TILE + row * ROW + QUAD * lane_of_thread();
    if (KIND::LIST &&
        __any_sync(ALL_LANES, c->next - c->first > (COLUMN - QUAD * ROWS_AT_ONCE) * COLUMN_STEP))
        write_list(params, w, c, sums);
#pragma unroll
    for (int i = 0; i < ROWS_AT_ONCE; i++)
        scan_row<KIND, WHOLE>(params, w, r.quads[i], number + i * ROW, row + i, f, sums, c);
}

/* Scans a warp's share of the tiles [first, end). The next rows are loaded while the warp scans the
 * current ones. */
template <typename KIND, bool WHOLE>
static __device__ void scan_tiles(const params &params, const scan_window &w, const chunk &chunk,
                                  int64_t first, int64_t end, float *values, lane_sums *sums,
                                  column *c) {
    const int64_t step = (int64_t)gridDim.x * WARPS;
    int64_t tile = first + (int64_t)blockIdx.x * WARPS + threadIdx.x / WARP;
    if (tile >= end)
        return;
    rows upper, lower = load_rows<WHOLE>(params, chunk, tile, 0);
    value_range reserved = {0, 0};
    for (; tile < end; tile += step) {
        tile_rare f = {0, 0, values, 0};
        receive_rows(params, &lower);
        upper = load_rows<WHOLE>(params, chunk, tile, ROWS_AT_ONCE);
        scan_rows<KIND, WHOLE>(params, w, lower, tile, 0, &f, sums, c);
        receive_rows(params, &upper);
        if (tile + step < end)
            lower = load_rows<WHOLE>(params, chunk, tile + step, 0);
        scan_rows<KIND, WHOLE>(params, w, upper, tile, ROWS_AT_ONCE, &f, sums, c);
        write_rare(params, tile, end, step, f, &reserved);
    }
}

/* Scans whole tiles first, then the remaining one. If rows or addresses are not aligned to four
 * pixels, all tiles are scanned by the slower way. */
template <typename KIND>
static __device__ void scan_chunk(const params &params, const scan_window &w, const chunk &chunk,
                                  float *values, lane_sums *sums, column *c) {
    const bool aligned = params.pitch == params.width &&
                         reinterpret_cast<uintptr_t>(chunk.pixels) % sizeof(uint4) == 0;
    const int64_t first = chunk.first / TILE, end = (chunk.end + TILE - 1) / TILE;
    const int64_t whole = aligned ? chunk.end / TILE : first;
    scan_tiles<KIND, true>(params, w, chunk, first, whole, values, sums, c);
    scan_tiles<KIND, false>(params, w, chunk, whole, end, values, sums, c);
}

/* --- totals --- */

/* Sums and counts over many lanes. */
struct block_sums {
    inlier_sums inliers, small;
    unsigned long long n_below, n_zero, n_blank;
};

/* Adds a block's sums to the totals. They are first summed in shared memory, since blocks wait for
 * each other when they add to the totals. */
static __device__ void write_sums(scan_totals *totals, const lane_sums &s) {
    __shared__ block_sums of_warp[WARPS];
    const block_sums sums = {
        warp_sum(s.inliers), warp_sum(s.small), warp_sum((unsigned long long)s.n_below),
        warp_sum((unsigned long long)s.n_zero), warp_sum((unsigned long long)s.n_blank)};
    if (lane_of_thread() == 0)
        of_warp[threadIdx.x / WARP] = sums;
    __syncthreads();
    if (threadIdx.x > 0)
        return;
    block_sums all = {};
    for (const block_sums &one : of_warp) {
        all.inliers += one.inliers;
        all.small += one.small;
        all.n_below += one.n_below;
        all.n_zero += one.n_zero;
        all.n_blank += one.n_blank;
    }
    add_to_totals(&totals->inliers, all.inliers);
    add_to_totals(&totals->small, all.small);
    atomicAdd(&totals->n_below, all.n_below);
    atomicAdd(&totals->n_zero, all.n_zero);
    atomicAdd(&totals->n_blank, all.n_blank);
}

static __global__ void __launch_bounds__(THREADS, BLOCKS)
    scan(const __grid_constant__ params params, const __grid_constant__ chunk chunk) {
    __shared__ float columns[WARPS][COLUMN * WARP], tile_values[WARPS][TILE];
    float *const values = tile_values[threadIdx.x / WARP];
    const uint32_t mine =
        (uint32_t)__cvta_generic_to_shared(columns[threadIdx.x / WARP] + lane_of_thread());
    wait_for_earlier();
    const scan_window window = params.state->window;
    lane_sums sums = {};
    column c = {mine, mine, (int)(params.n_pixels > 0)};
    if (!params.state->scan_wanted)
        return;
    if (!window.list_values)
        scan_chunk<plain_scan>(params, window, chunk, values, &sums, &c);
    else if (window.has_zero)
        scan_chunk<zero_scan>(params, window, chunk, values, &sums, &c);
    else
        scan_chunk<listing_scan>(params, window, chunk, values, &sums, &c);
    write_list(params, window, &c, &sums);
    write_sums(&params.state->totals, sums);
}

/* Scans for what is above local noise. */
static __global__ void __launch_bounds__(THREADS)
    scan_locally(const __grid_constant__ params params, const __grid_constant__ chunk chunk) {
    __shared__ float tile_values[WARPS][TILE];
    wait_for_earlier();
    lane_sums sums = {};
    column none = {};
    scan_chunk<local_scan>(params, params.state->window, chunk, tile_values[threadIdx.x / WARP],
                           &sums, &none);
    write_sums(&params.state->totals, sums);
}

cudaError_t launch_scan(const struct params *params, const uint32_t *pixels, int64_t first,
                        int64_t count, cudaStream_t stream) {
    const int64_t n_tiles = (count + TILE - 1) / TILE;
    return launch_filling(params->noise.nodes ? scan_locally : scan, THREADS,
                          (n_tiles + WARPS - 1) / WARPS, stream, *params,
                          chunk{pixels, first, first + count});
}
