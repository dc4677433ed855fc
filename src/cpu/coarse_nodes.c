/* How boxes that stand side by side are clipped: a few neighbours of a row of boxes at a time. So
 * wide images keep all threads busy: threads that hold whole rows of large boxes (noise_nodes.c)
 * would be few.
 *
 * 1. A task has the boxes of some 2048 columns. It reads their pixels row by row, and turns them to
 *    keys, box by box.
 * 2. clip_box_node clips each box. The noise of the box before is the guess. The least and the
 *    greatest pixel are kept.
 * 3. The noise of a pixel is between those of the nodes around it. So a box has no peak if its
 *    least and greatest pixels are none by the noise of any of the nine nodes around it
 *    (has_peak_at).
 *
 * Sources of which a part of a row costs as much as all of it are left to noise_nodes.c.
 *
 * Cost: one read; 4 bytes a pixel of the boxes of a task, and 8 of one box, for each thread; at
 * most 96 MiB together, unless one thread needs more. */
#include "cpu/coarse_nodes.h"

#include <stdlib.h>

#include "common/arrays.h"
#include "cpu/clip_box.h"
#include "cpu/noise_nodes.h"
#include "cpu/variants.h"

enum { COLUMNS_A_TASK = 2048, SHARES_A_THREAD = 8 /* of the tasks: memory is made for each */ };

/* The most bytes of all threads. */
static const int64_t MOST_BYTES = 96 << 20;

static const char CLIPPING[] = "measuring local noise";

/* The least and the greatest pixel of a box; without a pixel least > greatest. */
struct extremes {
    double least, greatest;
};

struct coarse {
    const struct pixel_source *source;
    const struct detection *detection;
    const struct key_kernels *kernels;
    struct threads *threads; /* for interrupts */
    struct noise_map *map;
    struct extremes *extremes; /* of each box */
    int64_t boxes_a_task, tasks_a_row;
    int n_shares;
};

/* The memory of a share of the tasks. */
struct task_memory {
    uint32_t *pixels; /* of a row of all boxes of a task */
    int32_t *keys;    /* of all boxes, each in whole rows of KEY_LANES */
    int64_t keys_a_box;
    struct box box;
};

/* The boxes of a task: nodes (first, j) to (end - 1, j). */
struct task {
    int64_t j, first, end;
    int64_t x, width, y, height; /* all of their pixels */
};

static bool make_memory(const struct coarse *c, struct task_memory *m) {
    const int64_t box = c->detection->box, rows = (box * box + KEY_LANES - 1) / KEY_LANES;
    const size_t key_row = KEY_LANES * sizeof *m->keys;
    *m = (struct task_memory){
        .pixels = arrays_allocate(c->boxes_a_task * box, sizeof *m->pixels),
        .keys = aligned_alloc(KEY_ALIGNMENT, (size_t)(c->boxes_a_task * rows) * key_row),
        .keys_a_box = rows * KEY_LANES,
        .box.kernels = c->kernels};
    m->box.picked.middle.keys = aligned_alloc(KEY_ALIGNMENT, (size_t)(rows + 2) * key_row);
    m->box.picked.outer.keys = aligned_alloc(KEY_ALIGNMENT, (size_t)(rows + 2) * key_row);
    return m->pixels && m->keys && m->box.picked.middle.keys && m->box.picked.outer.keys;
}

static void clear_memory(struct task_memory *m) {
    free(m->pixels);
    free(m->keys);
    free(m->box.picked.middle.keys);
    free(m->box.picked.outer.keys);
}

/* The first column of box i, and its width. */
static int64_t left_of(const struct coarse *c, int64_t i) {
    return boxes_low(i, c->source->width, c->detection->box, c->detection->step);
}

static int64_t width_of(const struct coarse *c, int64_t i) {
    return boxes_high(i, c->source->width, c->detection->box, c->detection->step) - left_of(c, i);
}

static struct task task_of(const struct coarse *c, int64_t number) {
    const struct detection *d = c->detection;
    const int64_t first = number % c->tasks_a_row * c->boxes_a_task;
    struct task t = {.j = number / c->tasks_a_row, .first = first};
    t.end = first + c->boxes_a_task < c->map->n_x ? first + c->boxes_a_task : c->map->n_x;
    t.x = left_of(c, first);
    t.width = left_of(c, t.end - 1) + width_of(c, t.end - 1) - t.x;
    t.y = boxes_low(t.j, c->source->height, d->box, d->step);
    t.height = boxes_high(t.j, c->source->height, d->box, d->step) - t.y;
    return t;
}

/* Reads the pixels of all boxes, and turns them to keys. */
static enum srcfind_status read_boxes(const struct coarse *c, const struct task *t,
                                      struct task_memory *m, struct error *error) {
    const struct pixel_source *source = c->source;
    for (int64_t y = 0; y < t->height; y++) {
        const uint32_t *pixels = source->read(source->state, (t->y + y) * source->width + t->x,
                                              t->width, m->pixels, error);
        if (!pixels)
            return SRCFIND_ERROR_INPUT;
        for (int64_t i = t->first; i < t->end; i++) {
            const int64_t width = width_of(c, i);
            c->kernels->convert(pixels + left_of(c, i) - t->x, source->swapped, width,
                                m->keys + (i - t->first) * m->keys_a_box + y * width);
        }
    }
    return SRCFIND_OK;
}

/* The extremes of the keys of a box. */
static struct extremes extremes_of(const struct coarse *c, const struct key_rows *rows) {
    int32_t greatest, least, ignored;
    c->kernels->neighbours(rows, 1, KEY_BLANK, &greatest, &ignored);
    c->kernels->neighbours(rows, 1, INT32_MIN, &ignored, &least);
    if (least == KEY_BLANK)
        return (struct extremes){INFINITY, -INFINITY};
    return (struct extremes){(double)pixel_of_key(least), (double)pixel_of_key(greatest)};
}

/* Clips box i. *guess is the noise of the box before, and is replaced by this one's. */
static bool clip_node(const struct coarse *c, const struct task *t, int64_t i,
                      struct task_memory *m, struct noise_at *guess) {
    const int64_t n = width_of(c, i) * t->height;
    int32_t *keys = m->keys + (i - t->first) * m->keys_a_box;
    struct key_rows rows = {keys, (n + KEY_LANES - 1) / KEY_LANES};
    for (int64_t k = n; k < rows.n * KEY_LANES; k++)
        keys[k] = KEY_BLANK;
    c->extremes[t->j * c->map->n_x + i] = extremes_of(c, &rows);
    m->box.rows = &rows;
    m->box.n_rows = 1;
    m->box.all = (struct value_sums){0};
    c->kernels->sum(&rows, 1, INT32_MIN, 1, 0, KEY_BLANK - 1, &m->box.all);
    return clip_box_node(&m->box, n, c->detection->kappa, guess,
                         &c->map->nodes[t->j * c->map->n_x + i]);
}

static enum srcfind_status clip_share(void *context, int share, struct error *error) {
    const struct coarse *c = context;
    const int64_t n_tasks = c->tasks_a_row * c->map->n_y;
    const int64_t end = threads_share(n_tasks, c->n_shares, share + 1);
    struct noise_at guess = {c->map->background, c->map->rms};
    struct task_memory m;
    bool ok = make_memory(c, &m);
    enum srcfind_status status = SRCFIND_OK;
    for (int64_t k = threads_share(n_tasks, c->n_shares, share); ok && k < end; k++) {
        const struct task t = task_of(c, k);
        status = threads_check(c->threads, error);
        if (status == SRCFIND_OK)
            status = read_boxes(c, &t, &m, error);
        for (int64_t i = t.first; status == SRCFIND_OK && ok && i < t.end; i++)
            ok = clip_node(c, &t, i, &m, &guess);
        if (status != SRCFIND_OK)
            break;
    }
    clear_memory(&m);
    return ok ? status : error_memory(error, CLIPPING);
}

/* Whether the box of node (i, j) may have a peak. */
static bool has_peak_at(const struct coarse *c, int64_t i, int64_t j) {
    const struct noise_map *map = c->map;
    const struct extremes *e = &c->extremes[j * map->n_x + i];
    bool has = false;
    for (int64_t y = j > 0 ? j - 1 : 0; y <= j + 1 && y < map->n_y; y++)
        for (int64_t x = i > 0 ? i - 1 : 0; x <= i + 1 && x < map->n_x; x++) {
            const struct noise_at *node = &map->nodes[y * map->n_x + x];
            const double reach = c->detection->threshold * node->rms;
            const double least = reach - 0x1p-40 * (fabs(node->background) + reach); /* rounding */
            has = has || e->greatest - node->background >= least ||
                  node->background - e->least >= least;
        }
    return has;
}

static bool has_peak_anywhere(const struct coarse *c) {
    bool has = false;
    for (int64_t j = 0; j < c->map->n_y; j++)
        for (int64_t i = 0; !has && i < c->map->n_x; i++)
            has = has_peak_at(c, i, j);
    return has;
}

/* So few shares, where their memory is much, that not all threads have one. */
static int count_shares(const struct coarse *c, int64_t n_tasks, int n_threads) {
    const int64_t box = c->detection->box, bytes = 4 * (c->boxes_a_task + 2) * box * box;
    const int64_t most = bytes * n_threads <= MOST_BYTES ? (int64_t)SHARES_A_THREAD * n_threads
                         : bytes < MOST_BYTES            ? MOST_BYTES / bytes
                                                         : 1;
    return (int)(n_tasks < most ? n_tasks : most);
}

enum srcfind_status coarse_nodes_find(const struct pixel_source *source,
                                      const struct detection *detection, struct threads *threads,
                                      struct noise_map *map, bool *has_peak, struct error *error) {
    *has_peak = true;
    if (source->packed || !source->parallel)
        return noise_nodes_find(source, detection, threads, map, error);
    const int64_t box = detection->box, boxes = COLUMNS_A_TASK / box;
    struct coarse c = {.source = source,
                       .detection = detection,
                       .kernels = cpu_variant_choose()->keys,
                       .threads = threads,
                       .map = map,
                       .boxes_a_task = boxes > 1 ? boxes : 1};
    map->step = detection->step;
    map->n_x = boxes_count(source->width, map->step);
    map->n_y = boxes_count(source->height, map->step);
    map->nodes = arrays_allocate(map->n_x * map->n_y, sizeof *map->nodes);
    c.extremes = arrays_allocate(map->n_x * map->n_y, sizeof *c.extremes);
    if (!map->nodes || !c.extremes) {
        free(c.extremes);
        return error_memory(error, CLIPPING);
    }
    c.tasks_a_row = (map->n_x + c.boxes_a_task - 1) / c.boxes_a_task;
    const int64_t n_tasks = c.tasks_a_row * map->n_y;
    c.n_shares = count_shares(&c, n_tasks, threads_count(threads));
    enum srcfind_status status = threads_try(threads, c.n_shares, clip_share, &c, error);
    if (status == SRCFIND_OK && !noise_nodes_complete(map, detection, threads))
        status = error_memory(error, CLIPPING);
    if (status == SRCFIND_OK)
        *has_peak = has_peak_anywhere(&c);
    free(c.extremes);
    return status;
}
