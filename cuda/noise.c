/* How local noise is found with a device.
 *
 * 1. noise_plan: the borders of the boxes and of the coarse boxes divide the image into cells. A
 *    streamed image, and boxes that are too large, are left to the host (n_cells is 0).
 * 2. The cells are sorted once (nodes.cu), for both sets of boxes.
 * 3. leave_out: the device clips the coarse boxes, and lists the runs beyond their noise (wide.cu);
 *    the host chooses bright wide islands among them (cpu/left_out.c). The device clips the boxes
 *    meanwhile, in the stream `beside`.
 * 4. find_nodes takes these nodes. The host clips boxes again that have something that is left
 *    out; all boxes, if small parts of the image cost as much as large ones.
 *
 * Always: the nodes have the bits of cpu/noise_nodes.c. Boxes whose rms is in doubt are clipped by
 * the host. What was begun beside has ended before the nodes are written again (end_clip). */
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
    params->coarse_x.n_nodes = params->coarse_y.n_nodes = 0;
}

/* Whether the device may clip boxes of so many pixels. */
static bool may_clip(const struct params *params, int64_t box) {
    return least_of(box, params->width) * least_of(box, params->height) <= CLIPPED_PIXELS;
}

/* Sets what the kernels need of an axis: its sizes. */
static struct cell_axis sizes_of(const struct cell_axis *axis) {
    return (struct cell_axis){.n_nodes = axis->n_nodes, .n_cells = axis->n_cells};
}

/* Makes the cells of the boxes and, where something may be left out of these, of coarse boxes. */
static bool make_grid(struct params *params, struct box_set coarse, struct noise_grid *grid) {
    const struct box_set boxes = {params->detection.box, params->detection.step};
    const int64_t width = params->width, height = params->height;
    bool ok = cell_axis_make(&grid->x, width, boxes, coarse) &&
              cell_axis_make(&grid->y, height, boxes, coarse);
    if (ok && coarse.size > 0) {
        ok = cell_axis_make(&grid->coarse_x, width, coarse, boxes) &&
             cell_axis_make(&grid->coarse_y, height, coarse, boxes);
        params->coarse_x = sizes_of(&grid->coarse_x);
        params->coarse_y = sizes_of(&grid->coarse_y);
    }
    params->node_x.n_cells = grid->x.n_cells;
    params->node_y.n_cells = grid->y.n_cells;
    return ok;
}

bool noise_plan(struct params *params, struct noise_grid *grid) {
    const struct detection *d = &params->detection;
    struct detection coarse;
    struct box_set coarse_boxes = {0, 0};
    if (d->box == 0)
        return true;
    const int64_t n_x = boxes_count(params->width, d->step);
    const int64_t n_y = boxes_count(params->height, d->step);
    params->noise = (struct noise_map){.n_x = n_x, .n_y = n_y, .step = d->step};
    noise_leave_to_host(params);
    params->node_x.n_nodes = n_x;
    params->node_y.n_nodes = n_y;
    if (!may_clip(params, d->box) || n_x * n_y > INT32_MAX)
        return true;
    if (d->beam_squared > 0 && left_out_coarse(params->width, params->height, d, &coarse) &&
        may_clip(params, coarse.box))
        coarse_boxes = (struct box_set){coarse.box, coarse.step};
    return make_grid(params, coarse_boxes, grid);
}

void noise_grid_clear(struct noise_grid *grid) {
    cell_axis_clear(&grid->x);
    cell_axis_clear(&grid->y);
    cell_axis_clear(&grid->coarse_x);
    cell_axis_clear(&grid->coarse_y);
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

/* Sorts the pixels of all cells. */
static enum srcfind_status sort_cells(struct cuda *cuda, const struct params *params,
                                      const struct noise_grid *grid, struct error *error) {
    cudaError_t code = upload_axis(&params->node_x, &grid->x, cuda->stream);
    if (!code)
        code = upload_axis(&params->node_y, &grid->y, cuda->stream);
    if (!code && params->coarse_x.n_nodes > 0)
        code = upload_axis(&params->coarse_x, &grid->coarse_x, cuda->stream);
    if (!code && params->coarse_x.n_nodes > 0)
        code = upload_axis(&params->coarse_y, &grid->coarse_y, cuda->stream);
    if (!code)
        code = launch_cells(params, cuda->stream);
    return cuda_check(cuda, code, "measuring local noise", error);
}

/* Begins to clip on the device beside what follows in cuda->stream. */
static cudaError_t begin_clip(const struct cuda *cuda, const struct params *params) {
    const struct uploader *beside = &cuda->beside;
    cudaError_t code = cudaEventRecord(beside->copied[0], cuda->stream);
    if (!code)
        code = cudaStreamWaitEvent(beside->stream, beside->copied[0], 0);
    if (!code)
        code = launch_nodes(params, beside->stream);
    return code ? code : cudaEventRecord(beside->copied[1], beside->stream);
}

/* Makes cuda->stream wait for begin_clip. */
static cudaError_t end_clip(const struct cuda *cuda) {
    return cudaStreamWaitEvent(cuda->stream, cuda->beside.copied[1], 0);
}

/* Clips on the device, unless that has begun, and copies the nodes to the map. */
static enum srcfind_status clip_boxes(struct cuda *cuda, const struct params *params,
                                      bool has_begun, struct threads *threads,
                                      struct noise_map *map, struct error *error) {
    const int64_t size = map->n_x * map->n_y * (int64_t)sizeof *map->nodes;
    cudaError_t code = has_begun ? cudaSuccess : launch_nodes(params, cuda->stream);
    if (!code)
        code = copy_out(cuda, threads, map->nodes, params->nodes, size);
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

/* Replaces the nodes of the device by those that the host has to find: boxes with pixels that are
 * left out, boxes in doubt, and nodes that do not count. */
static enum srcfind_status finish_on_host(const struct pixel_source *source,
                                          const struct detection *detection,
                                          struct threads *threads, const struct left_out *out,
                                          struct noise_map *map, struct error *error) {
    enum srcfind_status status =
        out->pixels ? left_out_clip_again(source, detection, threads, out, map, error) : SRCFIND_OK;
    if (status == SRCFIND_OK)
        status = clip_doubtful(source, detection, map, error);
    return status == SRCFIND_OK && !noise_nodes_complete(map, detection, threads)
               ? error_memory(error, "measuring local noise")
               : status;
}

/* Clips boxes on the device, whose cells are sorted. */
static enum srcfind_status find_on_device(struct cuda *cuda, const struct params *params,
                                          bool has_begun, const struct pixel_source *source,
                                          struct threads *threads, struct left_out *out,
                                          struct noise_map *map, struct error *error) {
    const struct detection *detection = &params->detection;
    map->n_x = params->noise.n_x;
    map->n_y = params->noise.n_y;
    map->step = params->noise.step;
    map->nodes = arrays_allocate(map->n_x * map->n_y, sizeof *map->nodes);
    if (!map->nodes)
        return error_memory(error, "measuring local noise");
    enum srcfind_status status = clip_boxes(cuda, params, has_begun, threads, map, error);
    if (status != SRCFIND_OK || (!out->pixels && are_complete(map, detection)))
        return status;
    status = finish_on_host(source, detection, threads, out, map, error);
    if (status == SRCFIND_OK && map->no_node_counts && out->pixels) { /* then nothing is left out */
        left_out_clear(out);
        map->no_node_counts = false;
        status = clip_boxes(cuda, params, has_begun, threads, map, error);
        if (status == SRCFIND_OK)
            status = finish_on_host(source, detection, threads, out, map, error);
    }
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

/* Lists the runs on the device, and begins to clip the boxes of `params` meanwhile. *done is false
 * if the runs are more than the list has room for. */
static enum srcfind_status list_runs(struct cuda *cuda, const struct params *params,
                                     const struct params *coarse, struct threads *threads,
                                     struct wide_runs *runs, bool *done, struct error *error) {
    const struct wide_list list = list_of(coarse);
    unsigned long long n = 0;
    *done = list.n_segments * (int64_t)sizeof *list.segments <=
            list.capacity * (int64_t)sizeof *list.entries;
    cudaError_t code = *done ? launch_wide(coarse, &list, cuda->stream) : cudaSuccess;
    if (!code)
        code = begin_clip(cuda, params);
    if (!*done)
        return cuda_check(cuda, code, "measuring local noise", error);
    if (!code)
        code = cuda_fetch(cuda, &n, list.n, sizeof n);
    const enum srcfind_status status = cuda_check(cuda, code, "measuring local noise", error);
    *done = (int64_t)n <= list.capacity;
    return status == SRCFIND_OK && *done ? fetch_runs(cuda, &list, (int64_t)n, threads, runs, error)
                                         : status;
}

/* The parameters of the coarse noise, whose boxes have the same cells. */
static struct params coarse_of(const struct params *params) {
    struct params coarse = *params;
    left_out_coarse(params->width, params->height, &params->detection, &coarse.detection);
    coarse.node_x = params->coarse_x;
    coarse.node_y = params->coarse_y;
    coarse.nodes = params->coarse_nodes;
    coarse.noise = (struct noise_map){.nodes = coarse.nodes,
                                      .n_x = coarse.node_x.n_nodes,
                                      .n_y = coarse.node_y.n_nodes,
                                      .step = coarse.detection.step};
    return coarse;
}

/* Finds what is left out, with the coarse noise and the runs of the device, and begins to clip the
 * boxes: few images have something that is left out. *done is false if the list has no room for the
 * runs. */
static enum srcfind_status leave_out(struct cuda *cuda, const struct params *params,
                                     const struct pixel_source *source, struct threads *threads,
                                     const struct srcfind_background *whole, struct left_out *out,
                                     bool *done, struct error *error) {
    const struct params coarse = coarse_of(params);
    struct noise_map map = {.background = whole->median, .rms = whole->rms};
    struct wide_runs runs = {0};
    struct left_out nothing = {0};
    *done = true;
    enum srcfind_status status =
        find_on_device(cuda, &coarse, false, source, threads, &nothing, &map, error);
    if (status == SRCFIND_OK && left_out_is_possible(&map))
        status = list_runs(cuda, params, &coarse, threads, &runs, done, error);
    else if (status == SRCFIND_OK)
        status = cuda_check(cuda, begin_clip(cuda, params), "measuring local noise", error);
    if (status == SRCFIND_OK && *done && runs.n_pieces > 0)
        status = left_out_choose(&runs, params->width, params->height,
                                 params->detection.beam_squared, threads, out, error);
    wide_runs_clear(&runs);
    noise_map_clear(&map);
    return status;
}

/* --- all of it --- */

/* Finds the nodes without the pixels that are left out, if there are any. */
static enum srcfind_status find_nodes(struct cuda *cuda, const struct params *params,
                                      bool has_begun, const struct pixel_source *source,
                                      struct threads *threads, struct left_out *out,
                                      struct noise_map *map, struct error *error) {
    if (params->node_x.n_cells > 0 && !(out->pixels && source->packed))
        return find_on_device(cuda, params, has_begun, source, threads, out, map, error);
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
    const bool is_for_device = params->coarse_x.n_nodes > 0;
    bool done = false;
    enum srcfind_status status = SRCFIND_OK;
    params->noise.nodes = params->nodes;
    if (params->node_x.n_cells > 0)
        status = sort_cells(cuda, params, grid, error);
    if (status == SRCFIND_OK && is_for_device)
        status = leave_out(cuda, params, source, threads, background, &out, &done, error);
    if (status == SRCFIND_OK && !done)
        status = left_out_find(source, &params->detection, background, threads, &out, error);
    if (status == SRCFIND_OK && is_for_device) /* before the nodes are written again */
        status = cuda_check(cuda, end_clip(cuda), "measuring local noise", error);
    if (status == SRCFIND_OK)
        status = find_nodes(cuda, params, is_for_device, source, threads, &out, map, error);
    if (status != SRCFIND_OK && is_for_device)
        end_clip(cuda); /* so that a later search does not meet it */
    left_out_describe(&out, background);
    left_out_clear(&out);
    return status == SRCFIND_OK ? cuda_check(cuda, launch_bounds(params, cuda->stream),
                                             "measuring local noise", error)
                                : status;
}
