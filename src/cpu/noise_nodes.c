/* How local noise is found: the clip of the box around each node of a grid.
 *
 * 1. The borders of all boxes divide the image into cells (cells.c). Threads take bands of rows of
 *    nodes, in wide images strips of them; a thread loads rows of cells as its nodes need them, so
 *    that a pixel is read once a strip.
 * 2. clip_box clips each box from the keys of its cells. The noise of the node before is the guess
 *    that makes this fast.
 * 3. A node whose box has less than a quarter of its pixels, or no noise, does not count: it gets
 *    the noise of the nearest node that counts, the earlier of two as near (fill_row), or that of
 *    the whole image if no node counts.
 * 4. Background and rms that the user gives replace those of all nodes (set_given).
 *
 * Where only boxes with some pixels are clipped again (noise_nodes_find_again), threads take
 * patches of a few nodes, each narrowed to the boxes that have such pixels.
 *
 * Always: the guess changes the time only, so any number of bands and strips gives the same bits;
 * of several errors that of the first strip is reported.
 *
 * Cost: one read of the image, and the pixels at borders of bands and strips twice; 4 bytes a pixel
 * of the rows of cells that a box has, 96 MiB for all workers together. */
#include "cpu/noise_nodes.h"

#include <stdlib.h>
#include <threads.h>

#include "common/hook.h"
#include "cpu/cells.h"
#include "cpu/variants.h"
#include "input/chunks.h"

enum {
    LEAST_ROWS = 4, /* of nodes of a band: neighbouring bands both read the rows at their border */
    BANDS_A_WORKER = 4,
    LEAST_BOXES = 4,   /* width of a strip, if there are several */
    NODES_A_PATCH = 8, /* along an axis, at most, where few boxes are clipped */
};

/* The most bytes of the cells of all workers together; one worker may have more. */
static int64_t most_bytes(void) {
    static const int64_t usual = 96 << 20;
    const char *for_tests = hook("SRCFIND_CELLS_BYTES");
    return for_tests ? strtoll(for_tests, NULL, 10) : usual;
}

/* A search for nodes. The workers take strips of bands of rows of nodes. */
struct nodes {
    struct cell_grid grid;
    const struct blanks *changed; /* only boxes that have some of these are clipped; NULL: all */
    const struct detection *detection;
    struct threads *threads;
    struct noise_map *map;     /* rms is NAN at the nodes that do not count */
    int64_t n_bands, n_strips; /* strips of each band; they are numbered band by band */
    mtx_t lock;
    int64_t next; /* the next strip; the lock protects this member and those below */
    enum srcfind_status status;
    int64_t failed; /* the first strip that failed */
    struct error *error;
};

static bool take_strip(struct nodes *s, int64_t *strip) {
    mtx_lock(&s->lock);
    const bool more = s->status == SRCFIND_OK && s->next < s->n_bands * s->n_strips;
    *strip = s->next;
    s->next += more;
    mtx_unlock(&s->lock);
    return more;
}

/* Keeps the error of the first strip: all strips before it were taken. */
static void record_failure(struct nodes *s, int64_t strip, enum srcfind_status status,
                           const struct error *error) {
    mtx_lock(&s->lock);
    if (s->status == SRCFIND_OK || strip < s->failed) {
        s->status = status;
        s->failed = strip;
        *s->error = *error;
    }
    mtx_unlock(&s->lock);
}

/* The number of pixels of the box of node i of an axis. */
static int64_t box_length(const struct cell_axis *axis, int64_t i) {
    return axis->border[axis->end[i]] - axis->border[axis->first[i]];
}

/* Finds the nodes of a part of row j. *first is a guess for its first node, and becomes the noise
 * of this node. */
static enum srcfind_status find_row(struct nodes *s, struct cells *cells, int64_t j,
                                    struct node_range columns, struct noise_at *first,
                                    struct error *error) {
    struct noise_at guess = *first;
    for (int64_t i = columns.first; i < columns.end; i++) {
        const int64_t n = box_length(&s->grid.x, i) * box_length(&s->grid.y, j);
        if (!clip_box_node(cells_box(cells, i, j), n, s->detection->kappa, &guess,
                           &s->map->nodes[j * s->map->n_x + i]))
            return error_memory(error, "measuring local noise");
        *first = i == columns.first ? guess : *first;
    }
    return SRCFIND_OK;
}

/* The nodes of part i of n parts of a range from 0. */
static struct node_range part_of(int64_t n_nodes, int64_t i, int64_t n) {
    return (struct node_range){n_nodes * i / n, n_nodes * (i + 1) / n};
}

/* Whether the box of node (i, j) has pixels that have changed. */
static bool has_changed(const struct nodes *s, int64_t i, int64_t j) {
    const struct cell_axis *x = &s->grid.x, *y = &s->grid.y;
    const int64_t left = x->border[x->first[i]], width = s->grid.source->width;
    for (int64_t row = y->border[y->first[j]]; row < y->border[y->end[j]]; row++)
        if (blanks_has_any(s->changed, row * width + left, box_length(x, i)))
            return true;
    return false;
}

/* Narrows a part to the nodes whose boxes have changed; to none, if none has. */
static void narrow(const struct nodes *s, struct node_range *rows, struct node_range *columns) {
    struct node_range y = {rows->end, rows->first}, x = {columns->end, columns->first};
    for (int64_t j = rows->first; j < rows->end; j++) {
        for (int64_t i = columns->first; i < columns->end; i++) {
            if (!has_changed(s, i, j))
                continue;
            y = (struct node_range){j < y.first ? j : y.first, j + 1};
            x = (struct node_range){i < x.first ? i : x.first, i < x.end ? x.end : i + 1};
        }
    }
    *rows = y;
    *columns = x;
}

/* Finds the nodes of a strip. */
static enum srcfind_status find_strip(struct nodes *s, struct cells *cells, int64_t strip,
                                      struct error *error) {
    const struct cell_axis *y = &s->grid.y;
    struct node_range rows = part_of(s->map->n_y, strip / s->n_strips, s->n_bands),
                      columns = part_of(s->map->n_x, strip % s->n_strips, s->n_strips);
    enum srcfind_status status = SRCFIND_OK;
    struct noise_at guess = {s->map->background, s->map->rms};
    if (s->changed)
        narrow(s, &rows, &columns);
    if (rows.first >= rows.end)
        return SRCFIND_OK;
    int64_t row = y->first[rows.first];
    cells_begin(cells, columns);
    for (int64_t j = rows.first; status == SRCFIND_OK && j < rows.end; j++) {
        status = threads_check(s->threads, error);
        for (; status == SRCFIND_OK && row < y->end[j]; row++)
            status = cells_load(cells, row, error);
        if (status == SRCFIND_OK)
            status = find_row(s, cells, j, columns, &guess, error);
    }
    return status;
}

/* The most nodes of a row of a strip. */
static int64_t most_columns(const struct nodes *s) {
    return (s->map->n_x + s->n_strips - 1) / s->n_strips;
}

static void find_strips(void *context, int worker) {
    struct nodes *s = context;
    struct error error = {.text = ""};
    int64_t strip;
    (void)worker;
    struct cells *cells = cells_create(&s->grid, most_columns(s));
    if (!cells)
        record_failure(s, s->n_bands * s->n_strips, error_memory(&error, "measuring local noise"),
                       &error);
    while (cells && take_strip(s, &strip)) {
        const enum srcfind_status status = find_strip(s, cells, strip, &error);
        if (status != SRCFIND_OK)
            record_failure(s, strip, status, &error);
    }
    cells_destroy(cells);
}

/* Chooses the number of strips, so that the cells of n workers have room; but no strip is narrower
 * than a few boxes, since its neighbours read the pixels at its borders, too. */
static void choose_strips(struct nodes *s, int n) {
    const int64_t least = LEAST_BOXES * (s->detection->box / s->detection->step + 1);
    s->n_strips = 1;
    while (!s->grid.source->packed && n * cells_size(&s->grid, most_columns(s)) > most_bytes() &&
           s->map->n_x / (s->n_strips + 1) >= least)
        s->n_strips++;
}

/* The number of workers whose cells have room, of n. */
static int count_workers(const struct nodes *s, int n) {
    const int64_t most = most_bytes() / cells_size(&s->grid, most_columns(s));
    return most < 1 ? 1 : most < n ? (int)most : n;
}

/* Divides the nodes among n workers. Returns for how many of these the cells have room. */
static int divide(struct nodes *s, int n) {
    choose_strips(s, n);
    const int n_workers = count_workers(s, n);
    const int64_t bands = s->map->n_y / LEAST_ROWS, most = (int64_t)n_workers * BANDS_A_WORKER;
    s->n_bands = n_workers == 1 || bands < 1 ? 1 : bands < most ? bands : most;
    return n_workers;
}

/* The same, where few boxes are clipped. */
static int divide_finely(struct nodes *s, int n) {
    s->n_strips = (s->map->n_x + NODES_A_PATCH - 1) / NODES_A_PATCH;
    s->n_bands = (s->map->n_y + NODES_A_PATCH - 1) / NODES_A_PATCH;
    return count_workers(s, n);
}

static enum srcfind_status find_all(struct nodes *s) {
    const bool is_parallel = s->grid.source->parallel;
    const int n = is_parallel ? threads_shares(s->threads, s->map->n_y, LEAST_ROWS) : 1;
    const int n_workers = s->changed ? divide_finely(s, n) : divide(s, n);
    if (mtx_init(&s->lock, mtx_plain) != thrd_success)
        return error_memory(s->error, "measuring local noise");
    threads_run(s->threads, n_workers, find_strips, s);
    mtx_destroy(&s->lock);
    return s->status;
}

/* --- nodes that do not count --- */

/* The nearest node of the same row that counts, for each node: at or before it, and at or after it.
 * NONE: there is none. */
struct neighbours {
    struct noise_map *map;
    int32_t *before, *after;
};

enum { NONE = -1 };

static void find_neighbours(void *context, int j) {
    const struct neighbours *n = context;
    const int64_t n_x = n->map->n_x, row = j * n_x;
    for (int64_t i = 0; i < n_x; i++)
        n->before[row + i] = !isnan(n->map->nodes[row + i].rms) ? (int32_t)i
                             : i > 0                            ? n->before[row + i - 1]
                                                                : NONE;
    for (int64_t i = n_x - 1; i >= 0; i--)
        n->after[row + i] = !isnan(n->map->nodes[row + i].rms) ? (int32_t)i
                            : i < n_x - 1                      ? n->after[row + i + 1]
                                                               : NONE;
}

/* The nearest node so far, and the square of its distance. */
struct nearest {
    int64_t x, y, distance;
};

/* Takes node (x, y), if it is nearer to (i, j), or as near and earlier. */
static void take_nearer(struct nearest *best, int64_t i, int64_t j, int64_t x, int64_t y) {
    if (x == NONE)
        return;
    const int64_t distance = (x - i) * (x - i) + (y - j) * (y - j);
    const bool earlier = y < best->y || (y == best->y && x < best->x);
    if (distance < best->distance || (distance == best->distance && earlier))
        *best = (struct nearest){x, y, distance};
}

/* Gives the nodes of row j that do not count the noise of the nearest node that counts. Other
 * threads read only nodes that count. */
static void fill_row(void *context, int j) {
    const struct neighbours *n = context;
    struct noise_map *map = n->map;
    for (int64_t i = 0; i < map->n_x; i++) {
        struct nearest best = {0, 0, INT64_MAX};
        if (n->before[j * map->n_x + i] == i)
            continue;
        for (int64_t d = 0; d < map->n_y && d * d <= best.distance; d++) {
            for (int64_t y = j - d; y <= j + d; y += d > 0 ? 2 * d : 1) {
                if (y < 0 || y >= map->n_y)
                    continue;
                take_nearer(&best, i, j, n->before[y * map->n_x + i], y);
                take_nearer(&best, i, j, n->after[y * map->n_x + i], y);
            }
        }
        map->nodes[j * map->n_x + i] = map->nodes[best.y * map->n_x + best.x];
    }
}

/* Gives all nodes the noise of the whole image. If its rms is 0, their rms is infinite, so that
 * nothing is detected. */
static void fill_with_whole(struct noise_map *map) {
    map->no_node_counts = true;
    for (int64_t i = 0; i < map->n_x * map->n_y; i++)
        map->nodes[i] =
            (struct noise_at){map->background, map->rms > 0 ? map->rms : (double)INFINITY};
}

static size_t count_counting(const struct noise_map *map) {
    size_t n = 0;
    for (int64_t i = 0; i < map->n_x * map->n_y; i++)
        n += !isnan(map->nodes[i].rms);
    return n;
}

static bool fill_others(struct noise_map *map, struct threads *threads) {
    const size_t n = (size_t)(map->n_x * map->n_y), n_counting = count_counting(map);
    if (n_counting == n)
        return true;
    if (n_counting == 0) {
        fill_with_whole(map);
        return true;
    }
    struct neighbours s = {map, malloc(n * sizeof *s.before), malloc(n * sizeof *s.after)};
    const bool ok = s.before && s.after;
    if (ok) {
        threads_run(threads, (int)map->n_y, find_neighbours, &s);
        threads_run(threads, (int)map->n_y, fill_row, &s);
    }
    free(s.before);
    free(s.after);
    return ok;
}

/* --- all nodes --- */

/* Replaces measured background and rms by those that the user gives. */
static void set_given(struct noise_map *map, const struct detection *detection) {
    if (isnan(detection->background) && !(detection->rms > 0))
        return;
    for (int64_t i = 0; i < map->n_x * map->n_y; i++) {
        if (!isnan(detection->background))
            map->nodes[i].background = detection->background;
        if (detection->rms > 0)
            map->nodes[i].rms = detection->rms;
    }
}

bool noise_nodes_complete(struct noise_map *map, const struct detection *detection,
                          struct threads *threads) {
    const bool ok = fill_others(map, threads);
    if (ok)
        set_given(map, detection);
    return ok;
}

static bool make_grid(struct cell_grid *grid, const struct pixel_source *source,
                      const struct detection *detection) {
    *grid = (struct cell_grid){.source = source, .kernels = cpu_variant_choose()->keys};
    const struct box_set boxes = {detection->box, detection->step}, none = {0, 0};
    return cell_axis_make(&grid->x, source->width, boxes, none) &&
           cell_axis_make(&grid->y, source->height, boxes, none);
}

/* Makes the cells, and finds the nodes. */
static enum srcfind_status find(struct nodes *s, const struct pixel_source *source) {
    const enum srcfind_status status = make_grid(&s->grid, source, s->detection)
                                           ? find_all(s)
                                           : error_memory(s->error, "measuring local noise");
    cell_axis_clear(&s->grid.x);
    cell_axis_clear(&s->grid.y);
    return status;
}

enum srcfind_status noise_nodes_find(const struct pixel_source *source,
                                     const struct detection *detection, struct threads *threads,
                                     struct noise_map *map, struct error *error) {
    struct nodes s = {.detection = detection, .threads = threads, .map = map, .error = error};
    map->step = detection->step;
    map->n_x = boxes_count(source->width, map->step);
    map->n_y = boxes_count(source->height, map->step);
    map->nodes = malloc((size_t)(map->n_x * map->n_y) * sizeof *map->nodes);
    if (!map->nodes)
        return error_memory(error, "measuring local noise");
    const enum srcfind_status status = find(&s, source);
    return status == SRCFIND_OK && !noise_nodes_complete(map, detection, threads)
               ? error_memory(error, "measuring local noise")
               : status;
}

enum srcfind_status noise_nodes_find_again(const struct pixel_source *source,
                                           const struct detection *detection,
                                           const struct blanks *changed, struct threads *threads,
                                           struct noise_map *map, struct error *error) {
    struct nodes s = {
        .detection = detection, .changed = changed, .threads = threads, .map = map, .error = error};
    return find(&s, source);
}

/* --- one node --- */

/* Pixels of the box of a node: `width` from x on in each of `height` rows from y on. */
struct box_pixels {
    int64_t x, y, width, height;
};

static struct box_pixels box_pixels(const struct pixel_source *source,
                                    const struct detection *detection, int64_t i, int64_t j) {
    const int64_t size = detection->box, step = detection->step;
    const int64_t x = boxes_low(i, source->width, size, step);
    const int64_t y = boxes_low(j, source->height, size, step);
    return (struct box_pixels){x, y, boxes_high(i, source->width, size, step) - x,
                               boxes_high(j, source->height, size, step) - y};
}

/* Reads the keys of the pixels of a box that are not blank. Returns their number, or -1. */
static int64_t read_keys(const struct pixel_source *source, const struct box_pixels *box,
                         uint32_t *keys, uint32_t *row, struct error *error) {
    int64_t n = 0;
    for (int64_t y = box->y; y < box->y + box->height; y++) {
        const uint32_t *pixels =
            source->read(source->state, y * source->width + box->x, box->width, row, error);
        if (!pixels)
            return -1;
        for (int64_t i = 0; i < box->width; i++) {
            const float v = pixel_value(pixels, i, source->swapped);
            keys[n] = exact_key(v);
            n += isfinite(v) != 0;
        }
    }
    return n;
}

enum srcfind_status noise_nodes_clip(const struct pixel_source *source,
                                     const struct detection *detection, int64_t i, int64_t j,
                                     struct noise_at *node, struct error *error) {
    const struct box_pixels box = box_pixels(source, detection, i, j);
    uint32_t *keys = malloc((size_t)(box.width * box.height) * sizeof *keys);
    uint32_t *row = malloc((size_t)box.width * sizeof *row);
    bool no_memory = !keys || !row;
    const int64_t n = no_memory ? 0 : read_keys(source, &box, keys, row, error);
    *node = (struct noise_at){NAN, NAN};
    if (n > 0) {
        no_memory = !clip_keys(keys, n, detection->kappa, node);
        keys = NULL;
    }
    free(keys);
    free(row);
    if (no_memory)
        return error_memory(error, "measuring local noise");
    return n < 0 ? SRCFIND_ERROR_INPUT : SRCFIND_OK;
}
