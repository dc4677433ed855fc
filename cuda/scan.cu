/* The one read of the image. A warp takes a tile at a time, in rows of four neighbouring pixels a
 * lane. Pixels of the core are summed in registers; the others wait in the lane's column of shared
 * memory until they go to the list, whose order does not matter, but for those near 0, which are
 * summed then; candidates and blanks become bits of two maps, and the candidates' values go, in the
 * order of the pixels, to a place that the tile knows. The loop is as short as can be: what is rare
 * stands behind a branch for the whole warp. */
#include "inlier_sums.cuh"

enum {
    THREADS = 128,
    WARPS = THREADS / WARP,
    BLOCKS = 5,          /* of a multiprocessor, at least */
    WORDS = TILE / WARP, /* of a tile in a map: one a lane */
    QUAD = 4,            /* pixels that a lane takes of a row */
    ROW = QUAD * WARP,
    ROWS_AT_ONCE = 4,                 /* that a warp loads before it looks at the first */
    COLUMN = 3 * QUAD * ROWS_AT_ONCE, /* values */
    COLUMN_STEP = WARP * sizeof(float),
    RESERVE = 256, /* places for candidates' values that a warp takes in store, at most */
};
static_assert(TILE == 2 * ROW * ROWS_AT_ONCE && TILE == WARP * WARP,
              "a tile is whole rows, a word a lane");
static_assert(QUAD <= 4, "four squares of q fit in 64 bits");

/* What a lane adds up of the core, and counts. Pixels below the centre are counted with those that
 * are to be listed, which are taken off later. */
struct lane_sums {
    core_sums core, small; /* in units of 1 / scale, and in smaller ones: of the zero band */
    unsigned n_below, n_zero, n_blank;
};

/* A lane's values that are to be listed, in shared memory, from first to before next (byte
 * addresses there), COLUMN_STEP apart. */
struct column {
    uint32_t first, next;
    int one; /* which the compiler must not know */
};

/* The pixels [first, end), which are at `pixels`. */
struct chunk {
    const uint32_t *pixels;
    int64_t first, end;
};

/* Four neighbouring pixels, and which of them the image has. */
struct quad {
    uint32_t bits[QUAD];
    unsigned there; /* a bit each */
};

/* --- pixels --- */

/* sum += a * b, in one instruction. */
static __device__ inline void add_product(int64_t *sum, int a, int b) {
    asm("mad.wide.s32 %0, %1, %2, %0;" : "+l"(*sum) : "r"(a), "r"(b));
}

/* Puts a value at a column's end if it is wanted. */
static __device__ inline void keep_if(bool wanted, column *c, float v) {
    asm volatile("{.reg .pred p; setp.ne.s32 p, %2, 0;"
                 "@p st.shared.f32 [%0], %1; @p add.u32 %0, %0, %3;}"
                 : "+r"(c->next)
                 : "f"(v), "r"((int)wanted), "r"((uint32_t)COLUMN_STEP)
                 : "memory");
}

/* n += the sign bit of a number; the unit that multiplies has more time for it. */
static __device__ inline void add_sign(unsigned *n, float v) {
    asm("mad.hi.u32 %0, %1, 2, %0;" : "+r"(*n) : "r"(__float_as_uint(v)));
}

/* ZERO: the window has it. */
template <bool ZERO> static __device__ inline bool is_core(const scan_window &w, float v) {
    return (fabsf(scan_window_distance(&w, v)) < w.half) & (!ZERO | (fabsf(v) >= w.zero_band));
}

/* Adds a pixel of the core up, or keeps it for the list; without a branch. */
template <bool ZERO>
static __device__ inline void look_at(const scan_window &w, float v, bool there, lane_sums *sums,
                                      int64_t *square, column *c) {
    const bool core = is_core<ZERO>(w, v) & there;
    const int q = __float2int_rn(core ? v * w.scale : 0.0f);
    add_product(&sums->core.sum, q, c->one);
    add_product(square, q, q);
    if (there)
        add_sign(&sums->n_below, v - w.centre);
    keep_if(!core & there, c, v);
}

/* --- the list --- */

/* A value at an address in shared memory. */
static __device__ inline float load_shared(uint32_t address) {
    float v;
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(address));
    return v;
}

static __device__ inline bool is_listed(float v) {
    return isfinite(v) && v != 0;
}

/* Adds a value up that is kept from the core by the zero band alone, if the smaller unit divides
 * it; else returns false. */
static __device__ inline bool add_small(const scan_window &w, float v, core_sums *small) {
    const float scaled = v * (w.scale * (1 << SCAN_PLAN_SMALLER));
    const int q = __float2int_rn(scaled);
    if (!is_core<false>(w, v) || q == 0 || (float)q != scaled)
        return false;
    add_to(small, q);
    return true;
}

/* Leaves in a lane's column what is to be listed: not blanks, nor zeros, which are counted, nor
 * what is added up instead. */
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

/* Writes out what waits in a warp's columns. A list that has no room for it is of no use. */
static __device__ void write_list(const job &j, const scan_window &w, column *c, lane_sums *sums) {
    sift(w, c, sums);
    const uint32_t size = c->next - c->first, most = warp_max(size);
    const unsigned total = warp_sum(size / (unsigned)COLUMN_STEP);
    unsigned long long to = 0;
    if (lane_of_thread() == 0 && total > 0)
        to = atomicAdd(&j.state->totals.n_listed, (unsigned long long)total);
    to = __shfl_sync(ALL_LANES, to, 0);
    c->next = c->first;
    if (to + total > (unsigned long long)j.list_room)
        return;
    uint32_t *list = j.list[0] + to;
#pragma unroll 1
    for (uint32_t i = 0; i < most; i += COLUMN_STEP) {
        const unsigned lanes = __ballot_sync(ALL_LANES, i < size);
        if (i < size)
            list[__popc(lanes & lanes_before())] = exact_key(load_shared(c->first + i));
        list += __popc(lanes);
    }
}

/* --- what is rare --- */

/* A warp's places for candidates' values, [next, end). */
struct places {
    unsigned long long next, end;
};

/* What is found in a tile: the maps' words of a lane, and the candidates' values in the order of
 * the pixels, in shared memory. */
struct found {
    uint32_t candidates, blank;
    float *values;
    int n_values;
};

/* The word of a map that a lane has in its keeping: from a bit a pixel of a row. */
static __device__ inline uint32_t gather_word(unsigned bits) {
    uint32_t word = bits << QUAD * (lane_of_thread() % (WARP / QUAD));
    for (int step = 1; step < WARP / QUAD; step *= 2)
        word |= __shfl_xor_sync(ALL_LANES, word, step);
    return __shfl_sync(ALL_LANES, word, lane_of_thread() % QUAD * (WARP / QUAD));
}

static __device__ void mark_blanks(unsigned blank, int row, found *f, lane_sums *sums) {
    const uint32_t word = gather_word(blank);
    sums->n_blank += __popc(blank);
    if (lane_of_thread() / QUAD == row)
        f->blank = word;
}

static __device__ void mark_candidates(const float v[QUAD], unsigned candidates, int row,
                                       found *f) {
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

/* Marks a row's candidates and blanks. */
static __device__ void mark_rare(const scan_window &w, const float v[QUAD], unsigned there, int row,
                                 found *f, lane_sums *sums) {
    unsigned candidates = 0, blank = 0;
    for (int i = 0; i < QUAD; i++) {
        blank |= !isfinite(v[i]) << i;
        candidates |= (isfinite(v[i]) && v[i] >= w.candidate) << i;
    }
    if (__any_sync(ALL_LANES, candidates & there))
        mark_candidates(v, candidates & there, row, f);
    if (__any_sync(ALL_LANES, blank & there))
        mark_blanks(blank & there, row, f, sums);
}

/* Takes n places, and as many for some of the next tiles, of which there are so many: all warps add
 * to one number, and wait for each other. */
static __device__ places take_places(const job &j, int n, int64_t n_tiles) {
    const unsigned long long wanted = n * (1 + min(n_tiles, (int64_t)(RESERVE / n)));
    unsigned long long first = 0;
    if (lane_of_thread() == 0)
        first = atomicAdd(&j.state->totals.n_candidates, wanted);
    first = __shfl_sync(ALL_LANES, first, 0);
    return {first, first + wanted};
}

/* Takes what was found in a tile to where the next kernels look for it. The warp's tiles are `step`
 * apart, and end before `end`. */
static __device__ void write_found(const job &j, int64_t tile, int64_t end, int64_t step,
                                   const found &f, places *p) {
    j.candidates[tile * WORDS + lane_of_thread()] = f.candidates;
    j.blank[tile * WORDS + lane_of_thread()] = f.blank;
    if (f.n_values == 0)
        return;
    if (p->next + f.n_values > p->end)
        *p = take_places(j, f.n_values, (end - 1 - tile) / step);
    if (lane_of_thread() == 0)
        j.tile_value[tile] = (int64_t)p->next;
    __syncwarp();
    if (p->next + f.n_values <= (unsigned long long)j.values_room)
        for (int i = lane_of_thread(); i < f.n_values; i += WARP)
            j.values[p->next + i] = f.values[i];
    p->next += f.n_values;
    __syncwarp();
}

/* --- tiles --- */

/* A lane's pixels of a row that begins at `number`. WHOLE: the image has them all, and four are
 * loaded at a time. */
template <bool WHOLE>
static __device__ inline quad load(const job &j, const uint32_t *at, int64_t number, int64_t end) {
    if (WHOLE) {
        const uint4 four = __ldg(reinterpret_cast<const uint4 *>(at));
        return {{four.x, four.y, four.z, four.w}, (1u << QUAD) - 1};
    }
    quad q = {{0, 0, 0, 0}, 0};
    for (int i = 0; i < QUAD; i++) {
        if (number + i < end && is_pixel(j, number + i)) {
            q.bits[i] = __ldg(at + i);
            q.there |= 1u << i;
        }
    }
    return q;
}

/* A row of a tile; LIST: also for the clip. */
template <bool LIST, bool ZERO, bool WHOLE>
static __device__ inline void scan_row(const job &j, const scan_window &w, const quad &q, int row,
                                       found *f, lane_sums *sums, column *c) {
    float v[QUAD];
    int64_t square = 0; /* of four pixels, which fit */
    bool rare = false;
#pragma unroll
    for (int i = 0; i < QUAD; i++) {
        const bool there = WHOLE || (q.there >> i & 1);
        v[i] = exact_float(q.bits[i]);
        rare |= there & !(fabsf(v[i]) < w.candidate);
        if (LIST)
            look_at<ZERO>(w, v[i], there, sums, &square, c);
    }
    add_squares(&sums->core, (uint64_t)square);
    if (__any_sync(ALL_LANES, rare))
        mark_rare(w, v, q.there, row, f, sums);
}

/* The rows of a tile that a warp has at a time. */
struct rows {
    quad quads[ROWS_AT_ONCE];
};

/* Rows of a tile from one on. */
template <bool WHOLE>
static __device__ inline rows load_rows(const job &j, const chunk &c, int64_t tile, int row) {
    const int64_t number = tile * TILE + row * ROW + QUAD * lane_of_thread();
    rows r;
#pragma unroll
    for (int i = 0; i < ROWS_AT_ONCE; i++)
        r.quads[i] =
            load<WHOLE>(j, c.pixels + (number + i * ROW - c.first), number + i * ROW, c.end);
    return r;
}

/* Brings the bytes of some rows in order, and thereby waits for them before more are asked for: to
 * wait for a load is to wait for all that were asked for since. In assembly, since the compiler
 * would put it off. */
static __device__ inline void receive_rows(const job &j, rows *r) {
    const uint32_t order = j.swapped ? 0x0123 : 0x3210;
#pragma unroll
    for (quad &q : r->quads)
#pragma unroll
        for (uint32_t &bits : q.bits)
            asm volatile("prmt.b32 %0, %0, 0, %1;" : "+r"(bits) : "r"(order) : "memory");
}

template <bool LIST, bool ZERO, bool WHOLE>
static __device__ inline void scan_rows(const job &j, const scan_window &w, const rows &r, int row,
                                        found *f, lane_sums *sums, column *c) {
    if (LIST &&
        __any_sync(ALL_LANES, c->next - c->first > (COLUMN - QUAD * ROWS_AT_ONCE) * COLUMN_STEP))
        write_list(j, w, c, sums);
#pragma unroll
    for (int i = 0; i < ROWS_AT_ONCE; i++)
        scan_row<LIST, ZERO, WHOLE>(j, w, r.quads[i], row + i, f, sums, c);
}

/* A warp's share of some tiles. While it looks at some rows, the next ones are on their way. */
template <bool LIST, bool ZERO, bool WHOLE>
static __device__ void scan_tiles(const job &j, const scan_window &w, const chunk &chunk,
                                  int64_t first, int64_t end, float *values, lane_sums *sums,
                                  column *c) {
    const int64_t step = (int64_t)gridDim.x * WARPS;
    int64_t tile = first + (int64_t)blockIdx.x * WARPS + threadIdx.x / WARP;
    if (tile >= end)
        return;
    rows upper, lower = load_rows<WHOLE>(j, chunk, tile, 0);
    places own = {0, 0};
    for (; tile < end; tile += step) {
        found f = {0, 0, values, 0};
        receive_rows(j, &lower);
        upper = load_rows<WHOLE>(j, chunk, tile, ROWS_AT_ONCE);
        scan_rows<LIST, ZERO, WHOLE>(j, w, lower, 0, &f, sums, c);
        receive_rows(j, &upper);
        if (tile + step < end)
            lower = load_rows<WHOLE>(j, chunk, tile + step, 0);
        scan_rows<LIST, ZERO, WHOLE>(j, w, upper, ROWS_AT_ONCE, &f, sums, c);
        write_found(j, tile, end, step, f, &own);
    }
}

/* Whole tiles first, and then what is left: one tile, unless rows or addresses are not as four
 * pixels at a time want them. */
template <bool LIST, bool ZERO>
static __device__ void scan_chunk(const job &j, const scan_window &w, const chunk &chunk,
                                  float *values, lane_sums *sums, column *c) {
    const bool aligned =
        j.pitch == j.width && reinterpret_cast<uintptr_t>(chunk.pixels) % sizeof(uint4) == 0;
    const int64_t first = chunk.first / TILE, end = (chunk.end + TILE - 1) / TILE;
    const int64_t whole = aligned ? chunk.end / TILE : first;
    scan_tiles<LIST, ZERO, true>(j, w, chunk, first, whole, values, sums, c);
    scan_tiles<LIST, ZERO, false>(j, w, chunk, whole, end, values, sums, c);
}

/* --- totals --- */

/* The same over many lanes. */
struct block_sums {
    core_sums core, small;
    unsigned long long n_below, n_zero, n_blank;
};

/* A block's sums come together before they go to the totals, which all blocks wait for. */
static __device__ void write_sums(scan_totals *totals, const lane_sums &s) {
    __shared__ block_sums of_warp[WARPS];
    const block_sums sums = {
        warp_sum(s.core), warp_sum(s.small), warp_sum((unsigned long long)s.n_below),
        warp_sum((unsigned long long)s.n_zero), warp_sum((unsigned long long)s.n_blank)};
    if (lane_of_thread() == 0)
        of_warp[threadIdx.x / WARP] = sums;
    __syncthreads();
    if (threadIdx.x > 0)
        return;
    block_sums all = {};
    for (const block_sums &one : of_warp) {
        all.core += one.core;
        all.small += one.small;
        all.n_below += one.n_below;
        all.n_zero += one.n_zero;
        all.n_blank += one.n_blank;
    }
    add_to_totals(&totals->core, all.core);
    add_to_totals(&totals->small, all.small);
    atomicAdd(&totals->n_below, all.n_below);
    atomicAdd(&totals->n_zero, all.n_zero);
    atomicAdd(&totals->n_blank, all.n_blank);
}

static __global__ void __launch_bounds__(THREADS, BLOCKS)
    scan(const __grid_constant__ job j, const __grid_constant__ chunk chunk) {
    __shared__ float columns[WARPS][COLUMN * WARP], tile_values[WARPS][TILE];
    float *const values = tile_values[threadIdx.x / WARP];
    const uint32_t mine =
        (uint32_t)__cvta_generic_to_shared(columns[threadIdx.x / WARP] + lane_of_thread());
    wait_for_earlier();
    const scan_window window = j.state->window;
    lane_sums sums = {};
    column c = {mine, mine, (int)(j.n_pixels > 0)};
    if (!j.state->scan_wanted)
        return;
    if (!window.list_values)
        scan_chunk<false, false>(j, window, chunk, values, &sums, &c);
    else if (window.has_zero)
        scan_chunk<true, true>(j, window, chunk, values, &sums, &c);
    else
        scan_chunk<true, false>(j, window, chunk, values, &sums, &c);
    write_list(j, window, &c, &sums);
    write_sums(&j.state->totals, sums);
}

cudaError_t launch_scan(const struct job *job, const uint32_t *pixels, int64_t first, int64_t count,
                        cudaStream_t stream) {
    unsigned blocks;
    const int64_t n_tiles = (count + TILE - 1) / TILE;
    const cudaError_t status = blocks_for(scan, THREADS, (n_tiles + WARPS - 1) / WARPS, &blocks);
    if (status)
        return status;
    return launch_next(scan, blocks, THREADS, stream, *job, chunk{pixels, first, first + count});
}
