#include "noise.h"

#include <stdlib.h>

#include "common/arrays.h"
#include "cpu/noise_nodes.h"

enum {
    CLIPPED_PIXELS = 1 << 17, /* a box of more is clipped by the host: the sums of its cells would
                                 be too inaccurate (value_sums.h) */
};

static int64_t least_of(int64_t a, int64_t b) {
    return a < b ? a : b;
}

void noise_leave_to_host(struct params *params) {
    params->node_x.n_cells = params->node_y.n_cells = 0;
}

bool noise_plan(struct params *params, struct noise_grid *grid) {
    const struct detection *d = &params->detection;
    if (d->box == 0)
        return true;
    const int64_t n_x = boxes_count(params->width, d->step);
    const int64_t n_y = boxes_count(params->height, d->step);
    const int64_t box_pixels = least_of(d->box, params->width) * least_of(d->box, params->height);
    params->noise = (struct noise_map){.n_x = n_x, .n_y = n_y, .step = d->step};
    noise_leave_to_host(params);
    params->node_x.n_nodes = n_x;
    params->node_y.n_nodes = n_y;
    if (box_pixels > CLIPPED_PIXELS || n_x * n_y > INT32_MAX)
        return true;
    if (!cell_axis_make(&grid->x, params->width, d->box, d->step) ||
        !cell_axis_make(&grid->y, params->height, d->box, d->step))
        return false;
    params->node_x.n_cells = grid->x.n_cells;
    params->node_y.n_cells = grid->y.n_cells;
    return true;
}

void noise_grid_clear(struct noise_grid *grid) {
    cell_axis_clear(&grid->x);
    cell_axis_clear(&grid->y);
}

/* --- finding nodes --- */

static cudaError_t upload(void *to, const void *from, int64_t n, size_t size, cudaStream_t stream) {
    return cudaMemcpyAsync(to, from, (size_t)n * size, cudaMemcpyHostToDevice, stream);
}

static cudaError_t upload_axis(const struct cell_axis *to, const struct cell_axis *from,
                               cudaStream_t stream) {
    cudaError_t code =
        upload(to->border, from->border, from->n_cells + 1, sizeof *to->border, stream);
    if (!code)
        code = upload(to->first, from->first, from->n_nodes, sizeof *to->first, stream);
    return code ? code : upload(to->end, from->end, from->n_nodes, sizeof *to->end, stream);
}

/* Clips on the device, and copies the nodes to the map. */
static enum srcfind_status clip_boxes(struct cuda *cuda, const struct params *params,
                                      const struct noise_grid *grid, struct noise_map *map,
                                      struct error *error) {
    const size_t size = (size_t)(map->n_x * map->n_y) * sizeof *map->nodes;
    cudaError_t code = upload_axis(&params->node_x, &grid->x, cuda->stream);
    if (!code)
        code = upload_axis(&params->node_y, &grid->y, cuda->stream);
    if (!code)
        code = launch_nodes(params, cuda->stream);
    if (!code)
        code = cuda_fetch(cuda, map->nodes, params->nodes, size);
    return cuda_check(cuda, code, "measuring local noise", error);
}

/* Clips the boxes that the device left to the host. */
static enum srcfind_status clip_doubtful(const struct pixel_source *source,
                                         const struct detection *detection, struct noise_map *map,
                                         struct error *error) {
    enum srcfind_status status = SRCFIND_OK;
    for (int64_t node = 0; status == SRCFIND_OK && node < map->n_x * map->n_y; node++) {
        struct noise_at *at = &map->nodes[node];
        if (at->rms < 0)
            status =
                noise_nodes_clip(source, detection, node % map->n_x, node / map->n_x, at, error);
        if (!(at->rms > 0))
            *at = (struct noise_at){NAN, NAN};
    }
    return status;
}

static enum srcfind_status upload_nodes(struct cuda *cuda, const struct params *params,
                                        const struct noise_map *map, struct error *error) {
    const cudaError_t code =
        upload(params->nodes, map->nodes, map->n_x * map->n_y, sizeof *map->nodes, cuda->stream);
    return cuda_check(cuda, code, "measuring local noise", error);
}

/* Whether the nodes of the device are those of the map: all count, and no noise is given. */
static bool are_complete(const struct noise_map *map, const struct detection *detection) {
    bool complete = isnan(detection->background) && !(detection->rms > 0);
    for (int64_t node = 0; complete && node < map->n_x * map->n_y; node++)
        complete = map->nodes[node].rms > 0;
    return complete;
}

static enum srcfind_status find_on_device(struct cuda *cuda, const struct params *params,
                                          const struct noise_grid *grid,
                                          const struct pixel_source *source,
                                          struct threads *threads, struct noise_map *map,
                                          struct error *error) {
    const struct detection *detection = &params->detection;
    map->n_x = params->noise.n_x;
    map->n_y = params->noise.n_y;
    map->step = params->noise.step;
    map->nodes = arrays_allocate(map->n_x * map->n_y, sizeof *map->nodes);
    if (!map->nodes)
        return error_memory(error, "measuring local noise");
    enum srcfind_status status = clip_boxes(cuda, params, grid, map, error);
    if (status != SRCFIND_OK || are_complete(map, detection))
        return status;
    status = clip_doubtful(source, detection, map, error);
    if (status == SRCFIND_OK && !noise_nodes_complete(map, detection, threads))
        status = error_memory(error, "measuring local noise");
    return status == SRCFIND_OK ? upload_nodes(cuda, params, map, error) : status;
}

enum srcfind_status noise_find(struct cuda *cuda, struct params *params,
                               const struct noise_grid *grid, const struct pixel_source *source,
                               struct threads *threads, struct noise_map *map,
                               struct error *error) {
    enum srcfind_status status;
    params->noise.nodes = params->nodes;
    if (params->node_x.n_cells > 0) {
        status = find_on_device(cuda, params, grid, source, threads, map, error);
    } else {
        status = noise_nodes_find(source, &params->detection, threads, map, error);
        if (status == SRCFIND_OK)
            status = upload_nodes(cuda, params, map, error);
    }
    return status == SRCFIND_OK ? cuda_check(cuda, launch_bounds(params, cuda->stream),
                                             "measuring local noise", error)
                                : status;
}
