/* The runs beyond a coarse noise (backend/wide_run.h).
 *
 * A warp takes segments of WIDE_SEGMENT neighbouring pixels, 32 at a time. The lane at which a run
 * begins writes its entry, behind those before it; a run ends at the end of its row, and of the 32
 * pixels. At the end of a segment the warp reserves room in the list, and copies its entries there.
 *
 * Always: the entries of a segment are in the order of its pixels; segments are in any order, and
 * their places say where they are. Nothing is written beyond the capacity: the number tells.
 *
 * Cost: one read of the image. Most pixels are compared with two bounds that hold between four
 * nodes, and with nothing else. */
#include "backend/wide_run.h"
#include "device.cuh"

enum { THREADS = 128, WARPS = THREADS / WARP };

/* A pixel's row, its place there, and the bounds between the nodes around it. */
struct place {
    int x, y, i, j;
    wide_bounds bounds;
};

static __device__ inline int node_before(int x, int n_nodes, int step) {
    const int node = x < step / 2 ? 0 : (x - step / 2) / step;
    return min(node, n_nodes - 1);
}

static __device__ inline void find_bounds(const noise_map &map, place *p) {
    const int i = node_before(p->x, (int)map.n_x, (int)map.step);
    const int j = node_before(p->y, (int)map.n_y, (int)map.step);
    if (i == p->i && j == p->j)
        return;
    p->i = i;
    p->j = j;
    p->bounds = wide_bounds_of(&map, i, j);
}

/* What the pixels of a warp are: a bit for each lane. */
struct beyond {
    unsigned above, below, peak, begins_row;
};

static __device__ inline beyond look_at(const params &params, bool is_there, place *p) {
    wide_pixel pixel = {};
    if (is_there) {
        const uint32_t bits = __ldg(params.pixels + p->y * params.pitch + p->x);
        const float value = pixel_value(bits, params.swapped);
        find_bounds(params.noise, p);
        pixel = wide_pixel_at(&params.noise, &p->bounds, p->x, p->y, value);
    }
    return {__ballot_sync(ALL_LANES, pixel.is_beyond && !pixel.is_negative),
            __ballot_sync(ALL_LANES, pixel.is_beyond && pixel.is_negative),
            __ballot_sync(ALL_LANES, pixel.is_beyond && pixel.has_peak),
            __ballot_sync(ALL_LANES, is_there && p->x == 0)};
}

/* Writes the entries of a warp's pixels, of which the first has this offset in its segment. Returns
 * their number. */
static __device__ inline int write_entries(const beyond &b, int offset, uint32_t *entries) {
    const unsigned begin_above = b.above & ~(b.above << 1 & ~b.begins_row);
    const unsigned begin_below = b.below & ~(b.below << 1 & ~b.begins_row);
    const unsigned begin = begin_above | begin_below, own = 1u << lane_of_thread();
    if (begin & own) {
        const bool is_negative = begin_below & own;
        const unsigned of_sign = is_negative ? b.below : b.above;
        const unsigned stop = (~of_sign | (b.begins_row & ~own)) >> lane_of_thread();
        const int n = stop ? __ffs((int)stop) - 1 : WARP - lane_of_thread();
        const unsigned run = (n == WARP ? ALL_LANES : (1u << n) - 1) << lane_of_thread();
        entries[__popc(begin & (own - 1))] =
            wide_entry(offset + lane_of_thread(), n, is_negative, b.peak & run);
    }
    return __popc(begin);
}

static __global__ void __launch_bounds__(THREADS)
    list_runs(const __grid_constant__ params params, wide_list list) {
    __shared__ uint32_t found[WARPS][WIDE_SEGMENT];
    uint32_t *const entries = found[threadIdx.x / WARP];
    wait_for_earlier();
    const int64_t n_pixels = params.width * params.height;
    const int width = (int)params.width;
    for (int64_t k = (int64_t)blockIdx.x * WARPS + threadIdx.x / WARP; k < list.n_segments;
         k += (int64_t)gridDim.x * WARPS) {
        const int64_t first = k * WIDE_SEGMENT + lane_of_thread();
        place p = {(int)(first % params.width), (int)(first / params.width), -1, -1, {}};
        unsigned n = 0;
        for (int offset = 0; offset < WIDE_SEGMENT; offset += WARP) {
            const beyond b = look_at(params, first + offset < n_pixels, &p);
            n += write_entries(b, offset, entries + n);
            for (p.x += WARP; p.x >= width; p.x -= width)
                p.y++;
        }
        unsigned at = 0;
        __syncwarp(); /* all entries are written */
        if (lane_of_thread() == 0) {
            at = (unsigned)atomicAdd(list.n, (unsigned long long)n);
            list.segments[k] = {at, n};
        }
        at = __shfl_sync(ALL_LANES, at, 0);
        for (unsigned i = lane_of_thread(); i < n && at + i < list.capacity; i += WARP)
            list.entries[at + i] = entries[i];
        __syncwarp();
    }
}

cudaError_t launch_wide(const struct params *params, const struct wide_list *list,
                        cudaStream_t stream) {
    const cudaError_t status = cudaMemsetAsync(list->n, 0, sizeof *list->n, stream);
    return status ? status
                  : launch_filling(list_runs, THREADS, (list->n_segments + WARPS - 1) / WARPS,
                                   stream, *params, *list);
}
