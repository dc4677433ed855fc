#include "noise.h"

#include <stdlib.h>

#include "common/arrays.h"
#include "copies.h"
#include "cpu/left_out.h"
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

bool noise_plan(struct params *params, int64_t longest_cell, struct noise_grid *grid) {
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
    if (!cell_axis_make(&grid->x, params->width, d->box, d->step, longest_cell) ||
        !cell_axis_make(&grid->y, params->height, d->box, d->step, longest_cell))
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

/* --- bright wide islands --- */

/* The lists of the clip, which are not read any more, get the runs. */
static struct wide_list list_of(const struct params *params) {
    const int64_t n_pixels = params->width * params->height;
    const int64_t n = (n_pixels + WIDE_SEGMENT - 1) / WIDE_SEGMENT;
    return (struct wide_list){.entries = params->list[0],
                              .capacity = params->list_capacity,
                              .segments = (struct wide_segment *)(void *)params->list[1],
                              .n_segments = n,
                              .n = (unsigned long long *)(void *)params->key_sums};
}

/* Copies the runs to the host. */
static enum srcfind_status fetch_runs(struct cuda *cuda, const struct wide_list *list, int64_t n,
                                      struct threads *threads, struct wide_runs *runs,
                                      struct error *error) {
    struct wide_segment *segments = arrays_allocate(list->n_segments, sizeof *segments);
    runs->pieces = arrays_allocate(list->n_segments, sizeof *runs->pieces);
    runs->entries = arrays_allocate(n, sizeof *runs->entries);
    if (!segments || !runs->pieces || !runs->entries) {
        free(segments);
        return error_memory(error, "measuring local noise");
    }
    cudaError_t code = copy_out(cuda, threads, segments, list->segments,
                                list->n_segments * (int64_t)sizeof *segments);
    if (!code)
        code = copy_out(cuda, threads, runs->entries, list->entries,
                        n * (int64_t)sizeof *runs->entries);
    for (int64_t i = 0; !code && i < list->n_segments; i++)
        if (segments[i].n > 0)
            runs->pieces[runs->n_pieces++] = (struct wide_piece){i * WIDE_SEGMENT, segments[i].n,
                                                                 runs->entries + segments[i].first};
    free(segments);
    return cuda_check(cuda, code, "measuring local noise", error);
}

/* Lists the runs on the device. *done is false if they are more than the list has room for. */
static enum srcfind_status list_runs(struct cuda *cuda, const struct params *coarse,
                                     struct threads *threads, struct wide_runs *runs, bool *done,
                                     struct error *error) {
    const struct wide_list list = list_of(coarse);
    unsigned long long n = 0;
    *done = list.n_segments * (int64_t)sizeof *list.segments <=
            list.capacity * (int64_t)sizeof *list.entries;
    if (!*done)
        return SRCFIND_OK;
    cudaError_t code = launch_wide(coarse, &list, cuda->stream);
    if (!code)
        code = cuda_fetch(cuda, &n, list.n, sizeof n);
    const enum srcfind_status status = cuda_check(cuda, code, "measuring local noise", error);
    *done = (int64_t)n <= list.capacity;
    return status == SRCFIND_OK && *done ? fetch_runs(cuda, &list, (int64_t)n, threads, runs, error)
                                         : status;
}

/* Finds what is left out, with the coarse noise and the runs of the device. *done is false if these
 * are not for the device. */
static enum srcfind_status leave_out(struct cuda *cuda, const struct params *params,
                                     const struct pixel_source *source, struct threads *threads,
                                     const struct srcfind_background *whole, struct left_out *out,
                                     bool *done, struct error *error) {
    struct noise_map map = {.background = whole->median, .rms = whole->rms};
    struct noise_grid grid = {{0}, {0}};
    struct wide_runs runs = {0};
    struct params coarse = *params;
    const struct detection *d = &params->detection;
    enum srcfind_status status = SRCFIND_OK;
    *done = params->node_x.n_cells > 0 && d->beam_squared > 0 &&
            left_out_coarse(params->width, params->height, d, &coarse.detection);
    if (*done && !noise_plan(&coarse, d->box, &grid))
        status = error_memory(error, "measuring local noise");
    *done = *done && coarse.node_x.n_cells > 0 && buffers_lay_out_nodes(cuda, &coarse);
    coarse.noise.nodes = coarse.nodes;
    if (status == SRCFIND_OK && *done)
        status = find_on_device(cuda, &coarse, &grid, source, threads, &map, error);
    if (status == SRCFIND_OK && *done && left_out_is_possible(&map))
        status = list_runs(cuda, &coarse, threads, &runs, done, error);
    if (status == SRCFIND_OK && *done && runs.n_pieces > 0)
        status = left_out_choose(&runs, params->width, params->height, d->beam_squared, threads,
                                 out, error);
    wide_runs_clear(&runs);
    noise_map_clear(&map);
    noise_grid_clear(&grid);
    return status;
}

/* --- all of it --- */

/* Finds the nodes without the pixels that are left out, if there are any. */
static enum srcfind_status find_nodes(struct cuda *cuda, struct params *params,
                                      const struct noise_grid *grid,
                                      const struct pixel_source *source, struct threads *threads,
                                      struct left_out *out, struct noise_map *map,
                                      struct error *error) {
    if (!out->pixels && params->node_x.n_cells > 0)
        return find_on_device(cuda, params, grid, source, threads, map, error);
    const enum srcfind_status status =
        out->pixels ? left_out_clip_rest(source, &params->detection, threads, out, map, error)
                    : noise_nodes_find(source, &params->detection, threads, map, error);
    return status == SRCFIND_OK ? upload_nodes(cuda, params, map, error) : status;
}

enum srcfind_status noise_find(struct cuda *cuda, struct params *params,
                               const struct noise_grid *grid, const struct pixel_source *source,
                               struct threads *threads, struct srcfind_background *background,
                               struct noise_map *map, struct error *error) {
    struct left_out out = {0};
    bool done;
    enum srcfind_status status =
        leave_out(cuda, params, source, threads, background, &out, &done, error);
    params->noise.nodes = params->nodes;
    if (status == SRCFIND_OK && !done)
        status = left_out_find(source, &params->detection, background, threads, &out, error);
    if (status == SRCFIND_OK)
        status = find_nodes(cuda, params, grid, source, threads, &out, map, error);
    left_out_describe(&out, background);
    left_out_clear(&out);
    return status == SRCFIND_OK ? cuda_check(cuda, launch_bounds(params, cuda->stream),
                                             "measuring local noise", error)
                                : status;
}
