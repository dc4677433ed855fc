/* How the memory of a search is divided. Capacities are chosen before anything is known of the
 * image: for the usual share of candidates, runs and islands or, if it is more, for the share that
 * an earlier image needed (cuda->shares).
 *
 * A buffer of each kind is one allocation; lay_out cuts it into aligned ranges, and is used twice:
 * without memory, to learn the size, and with it, to set the pointers of params.
 *
 * buffers_reserve keeps buffers that are large enough. It frees buffers that are too large if all
 * together would pass the limit: at a new image any of them (the limit is then half), later only
 * those that no stage reads any more.
 *
 * Always: kernels never write beyond a capacity. They count what they needed, and the host calls
 * buffers_grow and buffers_reserve, and repeats the stage.
 *
 * Cost: beside the image 1.6 bytes a pixel, most of it for the two lists and the bitmaps. */
#include "buffers.h"

enum {
    SAMPLE_LEAST = 1 << 13,
    SAMPLE_MOST = 1 << 18,
    PIXELS_A_SAMPLE = 256,
    RUNS_LEAST = 1 << 14,
    ISLANDS_LEAST = 1 << 12,
    PIXELS_A_VALUE = 8,           /* a list has the capacity for one in so many pixels */
    PIXELS_A_VALUE_OF_LARGE = 12, /* the same, for images of more than AT_ONCE_PIXELS */
};

static int64_t at_most(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* --- capacities --- */

/* The capacity for a share of n pixels: the usual or the learned share, whichever is greater. */
static int64_t capacity_for(double usual, double learned, int64_t n, int64_t least) {
    const double share = learned > usual ? learned : usual;
    return at_most((int64_t)(share * (double)n) + least, n);
}

/* In ordinary images a few hundredths of the pixels are candidates, and there is one run in 700
 * pixels. A list of more values than its capacity is not worthwhile. */
static void choose(struct params *params, const struct shares *learned) {
    const int64_t n = params->n_pixels;
    const bool all = n <= LIST_PIXELS, whole = !all && n <= AT_ONCE_PIXELS;
    params->n_sample = all ? 0 : at_most(n / PIXELS_A_SAMPLE + SAMPLE_LEAST, SAMPLE_MOST);
    params->list_capacity = all ? n : n / (whole ? PIXELS_A_VALUE : PIXELS_A_VALUE_OF_LARGE);
    params->at_once = whole;
    params->values_capacity = all ? n : capacity_for(1.0 / 32, learned->values, n, LIST_PIXELS / 8);
    params->runs_capacity =
        at_most(capacity_for(1.0 / 256, learned->runs, n, RUNS_LEAST), (int64_t)MOST_RUNS);
    params->counting_capacity = capacity_for(1.0 / 2048, learned->counting, n, ISLANDS_LEAST);
}

void buffers_choose(struct params *params, const struct cuda *cuda) {
    const struct shares none = {0, 0, 0};
    choose(params, &cuda->shares);
    if (!buffers_fit(cuda, params))
        choose(params, &none);
}

void buffers_grow(int64_t *capacity, int64_t wanted, double *share, int64_t n_pixels) {
    if (wanted <= *capacity)
        return;
    *capacity = wanted;
    *share = (double)wanted / (double)n_pixels;
}

/* --- buffers --- */

/* A buffer that is cut into ranges. The next range begins at `at`, which is NULL if only the size
 * is wanted. */
struct layout {
    char *at;
    int64_t size;
};

/* Returns the next range, of `count` elements, aligned to 256 bytes. */
static void *layout_take(struct layout *layout, int64_t count, size_t size) {
    const int64_t bytes = (count * (int64_t)size + 255) / 256 * 256;
    void *range = layout->at;
    layout->size += bytes;
    if (layout->at)
        layout->at += bytes;
    return range;
}

static void lay_out_axis(struct cell_axis *axis, struct layout *l) {
    axis->border = layout_take(l, axis->n_cells + 1, sizeof *axis->border);
    axis->first = layout_take(l, axis->n_nodes, sizeof *axis->first);
    axis->end = layout_take(l, axis->n_nodes, sizeof *axis->end);
}

static void lay_out_nodes(struct params *params, struct layout *l) {
    const int64_t n = params->noise.n_x * params->noise.n_y;
    params->nodes = layout_take(l, n, sizeof *params->nodes);
    params->bounds = layout_take(l, params->noise.n_y * params->width, sizeof *params->bounds);
    params->node_of_y = layout_take(l, n > 0 ? params->height : 0, sizeof *params->node_of_y);
    if (params->node_x.n_cells == 0)
        return;
    lay_out_axis(&params->node_x, l);
    lay_out_axis(&params->node_y, l);
    lay_out_axis(&params->coarse_x, l);
    lay_out_axis(&params->coarse_y, l);
    params->coarse_nodes = layout_take(l, params->coarse_x.n_nodes * params->coarse_y.n_nodes,
                                       sizeof *params->coarse_nodes);
    params->cells =
        layout_take(l, params->node_x.n_cells * params->node_y.n_cells, sizeof *params->cells);
    params->node_keys = layout_take(l, params->width * params->height, sizeof *params->node_keys);
}

static void lay_out_runs(struct params *params, struct layout *l) {
    params->runs = layout_take(l, params->runs_capacity, sizeof *params->runs);
    params->parent = layout_take(l, params->runs_capacity, sizeof *params->parent);
    params->extents = layout_take(l, params->runs_capacity, sizeof *params->extents);
    _Static_assert(sizeof *params->listed_runs <= sizeof *params->extents, "they fit there");
    params->listed_runs = (struct listed_run *)(void *)params->extents;
    params->island_index = layout_take(l, params->runs_capacity, sizeof *params->island_index);
    params->local =
        layout_take(l, params->noise.n_x > 0 ? params->runs_capacity : 0, sizeof *params->local);
}

static void lay_out_blocks(struct params *params, struct layout *l) {
    params->tile_words = params->n_tiles / TILES_A_BLOCK + 2;
    params->run_words = params->runs_capacity / RUNS_A_BLOCK + 2;
    params->tile_blocks =
        layout_take(l, params->tile_words + params->run_words, sizeof *params->tile_blocks);
    params->run_blocks = params->tile_blocks + params->tile_words;
}

/* The size of a buffer for pixels. */
static int64_t size_of_pixels(const struct params *params, enum buffer_kind kind) {
    return kind == BUFFER_IMAGE    ? params->image_size
           : kind == BUFFER_CHUNKS ? params->chunks_size
                                   : params->samples_size;
}

/* Sets the pointers of params to the ranges of one buffer, and returns its size in bytes. With
 * memory == NULL only the size is meaningful. */
static int64_t lay_out(struct params *params, enum buffer_kind kind, void *memory) {
    struct layout l = {memory, 0};
    switch (kind) {
    case BUFFER_STATE:
        params->state = layout_take(&l, 1, sizeof *params->state);
        break;
    case BUFFER_IMAGE:
    case BUFFER_CHUNKS:
    case BUFFER_SAMPLES:
        layout_take(&l, size_of_pixels(params, kind), 1);
        break;
    case BUFFER_SAMPLE:
        params->sample = layout_take(&l, params->n_sample, sizeof *params->sample);
        params->sample_counts = layout_take(&l, 1, sizeof *params->sample_counts);
        break;
    case BUFFER_LIST:
        for (int i = 0; i < 2; i++)
            params->list[i] = layout_take(&l, params->list_capacity, sizeof *params->list[i]);
        break;
    case BUFFER_KEY_SUMS:
        params->key_sums =
            layout_take(&l, params->list_capacity / KEYS_A_SUM + 1, sizeof *params->key_sums);
        params->key_groups = layout_take(&l, KEY_GROUPS, sizeof *params->key_groups);
        break;
    case BUFFER_MAPS:
        params->candidates =
            layout_take(&l, params->n_tiles * TILE / 32, sizeof *params->candidates);
        params->blank = layout_take(&l, params->n_tiles * TILE / 32, sizeof *params->blank);
        break;
    case BUFFER_TILES:
        params->tile_value = layout_take(&l, params->n_tiles, sizeof *params->tile_value);
        params->tile_runs = layout_take(&l, params->n_tiles + 1, sizeof *params->tile_runs);
        break;
    case BUFFER_VALUES:
        params->values = layout_take(&l, params->values_capacity, sizeof *params->values);
        break;
    case BUFFER_NODES:
        lay_out_nodes(params, &l);
        break;
    case BUFFER_RUNS:
        lay_out_runs(params, &l);
        break;
    case BUFFER_BLOCKS:
        lay_out_blocks(params, &l);
        break;
    case BUFFER_ISLANDS:
        params->islands = layout_take(&l, params->counting_capacity, sizeof *params->islands);
        break;
    case BUFFER_TEMPORARY:
        params->temporary = layout_take(&l, (int64_t)params->temporary_size, 1);
        break;
    case BUFFER_AFTER: /* fit_jobs.c, gather_runs.c, smooth_image.c */
    case BUFFERS:
        break;
    }
    return l.size;
}

/* Sets the bytes of temporary memory that CUB needs for sorting and for sums over sorted keys. */
static cudaError_t size_temporary(struct params *params) {
    uint32_t *const no_keys[2] = {NULL, NULL};
    size_t sort = 0, sums = 0;
    int sorted;
    cudaError_t code = cub_sort(NULL, &sort, no_keys, params->list_capacity, &sorted, NULL);
    if (!code)
        code = cub_sum_keys(NULL, &sums, NULL, params->list_capacity / KEYS_A_SUM + 1, NULL);
    params->temporary_size = sort > sums ? sort : sums;
    return code;
}

/* Sets the bytes that each buffer needs, and returns their sum. */
static int64_t find_needs(const struct params *params, int64_t *needs) {
    struct params copy = *params;
    int64_t sum = 0;
    for (int kind = 0; kind < BUFFERS; kind++)
        sum += needs[kind] = lay_out(&copy, (enum buffer_kind)kind, NULL);
    return sum;
}

bool buffers_fit(const struct cuda *cuda, const struct params *params) {
    struct params copy = *params;
    int64_t needs[BUFFERS];
    return size_temporary(&copy) == cudaSuccess && find_needs(&copy, needs) <= cuda->limit;
}

/* The bytes of all buffers, if no buffer that is too large is freed. */
static int64_t size_with_surplus(const struct cuda *cuda, const int64_t *needs) {
    int64_t sum = 0;
    for (int kind = 0; kind < BUFFERS; kind++)
        sum += cuda->buffers[kind].size > needs[kind] ? cuda->buffers[kind].size : needs[kind];
    return sum;
}

static void free_surplus(struct cuda *cuda, const int64_t *needs, bool new_image) {
    for (int kind = 0; kind < BUFFERS; kind++) {
        const bool is_idle = kind == BUFFER_SAMPLE || kind == BUFFER_LIST ||
                             kind == BUFFER_KEY_SUMS || kind == BUFFER_AFTER;
        if (cuda->buffers[kind].size > needs[kind] && (new_image || is_idle))
            cuda_release(cuda, (enum buffer_kind)kind);
    }
}

static enum srcfind_status too_little(const struct cuda *cuda, int64_t size, struct error *error) {
    return error_set(error, SRCFIND_ERROR_DEVICE,
                     "CUDA device %d (%s): the image needs %lld MiB of its memory, of which %lld "
                     "may be used; --cpu works without it",
                     cuda->device, cuda->name, (long long)(size >> 20) + 1,
                     (long long)(cuda->limit >> 20));
}

enum srcfind_status buffers_reserve(struct cuda *cuda, struct params *params, bool new_image,
                                    struct error *error) {
    int64_t needs[BUFFERS];
    enum srcfind_status status = cuda_check(cuda, size_temporary(params), "sizing buffers", error);
    if (status != SRCFIND_OK)
        return status;
    const int64_t size = find_needs(params, needs);
    if (size_with_surplus(cuda, needs) > (new_image ? cuda->limit / 2 : cuda->limit))
        free_surplus(cuda, needs, new_image);
    if (size > cuda->limit || size_with_surplus(cuda, needs) > cuda->limit)
        return too_little(cuda, size, error);
    for (int kind = 0; status == SRCFIND_OK && kind < BUFFERS; kind++) {
        status = cuda_reserve(cuda, (enum buffer_kind)kind, needs[kind], error);
        lay_out(params, (enum buffer_kind)kind, cuda->buffers[kind].memory);
    }
    return status;
}
