/* How the pixels of boxes are read once. Along each axis the borders of all boxes, sorted, are the
 * borders of cells: a box is a rectangle of whole cells, and boxes that overlap share cells.
 *
 * 1. cells_load reads the rows of pixels of a row of cells, as many at a time as the source gives
 *    at its best, and turns them to keys.
 * 2. deal_row copies the keys of a row of pixels to its cells, in which they stand one pixel row
 *    after the other; finish_row pads each cell with KEY_BLANK and sums it.
 * 3. cells_box lists the cells of a box, and adds up their sums.
 *
 * Always: a thread keeps the last y.most rows of cells, as many as any box has: row r is rows[r %
 * y.most], so rows must be loaded in rising order. It keeps only the cells of a range of nodes: in
 * wide images the rows of all threads would take too much memory.
 *
 * Cost: each pixel is converted and summed once; 4 bytes a pixel of the rows that are kept. */
#include "cpu/cells.h"

#include <stdlib.h>
#include <string.h>

/* --- axes --- */

static int compare_borders(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The index of a border. */
static int64_t find_border(const struct cell_axis *axis, int64_t pixel) {
    const int64_t *border = bsearch(&pixel, axis->border, (size_t)axis->n_cells + 1,
                                    sizeof *axis->border, compare_borders);
    return border - axis->border;
}

/* Writes the borders of a set of boxes. Returns their number. */
static int64_t list_borders(int64_t n, struct box_set boxes, int64_t *border) {
    const int64_t n_nodes = boxes.size > 0 ? boxes_count(n, boxes.step) : 0;
    for (int64_t i = 0; i < n_nodes; i++) {
        border[2 * i] = boxes_low(i, n, boxes.size, boxes.step);
        border[2 * i + 1] = boxes_high(i, n, boxes.size, boxes.step);
    }
    return 2 * n_nodes;
}

bool cell_axis_make(struct cell_axis *axis, int64_t n, struct box_set boxes, struct box_set also) {
    const int64_t n_nodes = boxes_count(n, boxes.step);
    const int64_t most = 2 * (n_nodes + (also.size > 0 ? boxes_count(n, also.step) : 0));
    *axis = (struct cell_axis){.n_nodes = n_nodes,
                               .border = malloc((size_t)most * sizeof *axis->border),
                               .first = malloc((size_t)n_nodes * sizeof *axis->first),
                               .end = malloc((size_t)n_nodes * sizeof *axis->end)};
    if (!axis->border || !axis->first || !axis->end)
        return false;
    list_borders(n, also, axis->border + list_borders(n, boxes, axis->border));
    qsort(axis->border, (size_t)most, sizeof *axis->border, compare_borders);
    for (int64_t i = 1; i < most; i++) {
        const int64_t length = axis->border[i] - axis->border[axis->n_cells];
        if (length > 0)
            axis->border[++axis->n_cells] = axis->border[i];
        axis->longest = length > axis->longest ? length : axis->longest;
    }
    for (int64_t i = 0; i < n_nodes; i++) {
        axis->first[i] = find_border(axis, boxes_low(i, n, boxes.size, boxes.step));
        axis->end[i] = find_border(axis, boxes_high(i, n, boxes.size, boxes.step));
        const int64_t count = axis->end[i] - axis->first[i];
        axis->most = count > axis->most ? count : axis->most;
    }
    return true;
}

void cell_axis_clear(struct cell_axis *axis) {
    free(axis->border);
    free(axis->first);
    free(axis->end);
    *axis = (struct cell_axis){0};
}

static int64_t width_of(const struct cell_axis *axis, int64_t cell) {
    return axis->border[cell + 1] - axis->border[cell];
}

/* --- rows of cells --- */

/* A row of cells. */
struct cell_row {
    int32_t *keys;
    struct key_rows *cells; /* in `keys` */
    struct value_sums *sums;
};

struct cells {
    const struct cell_grid *grid;
    int64_t first, end;    /* the cells of each row that are kept */
    struct cell_row *rows; /* row y of cells is rows[y % grid->y.most] */
    uint32_t *buffer;      /* of rows_at_once rows */
    const uint32_t *pixels;
    int64_t first_row, n_rows, rows_at_once; /* the rows of pixels; n_rows is 0 before the first */
    int32_t *keys;                           /* of a row of the image */
    struct box box;                          /* what cells_box gives */
    struct key_rows *box_rows;               /* its rows */
};

/* The number of rows of keys of a cell of n pixels. */
static int64_t key_rows(int64_t n) {
    return (n + KEY_LANES - 1) / KEY_LANES;
}

/* The most cells of a range of n nodes, and the most rows of keys and pixels of one row of them. */
struct row_size {
    int64_t cells, key_rows, pixels;
};

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static struct row_size row_size_of(const struct cell_grid *grid, int64_t n_nodes) {
    const struct cell_axis *x = &grid->x;
    struct row_size most = {0};
    for (int64_t i = 0; i < x->n_nodes; i++) {
        const int64_t last = i + n_nodes < x->n_nodes ? i + n_nodes - 1 : x->n_nodes - 1;
        const int64_t pixels = x->border[x->end[last]] - x->border[x->first[i]];
        most.cells = larger(most.cells, x->end[last] - x->first[i]);
        most.pixels = larger(most.pixels, pixels);
    }
    most.key_rows = grid->y.longest * most.pixels / KEY_LANES + most.cells; /* each is rounded up */
    return most;
}

static int64_t most_of_box(const struct cell_grid *grid) {
    return grid->x.most * grid->y.most * key_rows(grid->x.longest * grid->y.longest);
}

/* The rows of pixels that are read at a time: as many as the source gives at its best, if a range
 * has all nodes, whose boxes have all columns; else the part of one row. */
static int64_t rows_at_once(const struct cell_grid *grid, int64_t n_nodes) {
    const struct pixel_source *source = grid->source;
    const int64_t rows = source->chunk_pixels / source->width;
    return n_nodes >= grid->x.n_nodes && rows > 1 ? rows : 1;
}

int64_t cells_size(const struct cell_grid *grid, int64_t n_nodes) {
    const struct row_size size = row_size_of(grid, n_nodes);
    const int64_t row = size.key_rows * KEY_ALIGNMENT +
                        size.cells * (int64_t)(sizeof(struct key_rows) + sizeof(struct value_sums));
    return grid->y.most * row + 2 * most_of_box(grid) * KEY_ALIGNMENT +
           rows_at_once(grid, n_nodes) * size.pixels * (int64_t)sizeof(uint32_t);
}

static int32_t *make_keys(int64_t n_rows) {
    return aligned_alloc(KEY_ALIGNMENT, (size_t)n_rows * KEY_ALIGNMENT);
}

static bool make_row(const struct row_size *size, struct cell_row *row) {
    row->keys = make_keys(size->key_rows);
    row->cells = malloc((size_t)size->cells * sizeof *row->cells);
    row->sums = malloc((size_t)size->cells * sizeof *row->sums);
    return row->keys && row->cells && row->sums;
}

struct cells *cells_create(const struct cell_grid *grid, int64_t n_nodes) {
    struct cells *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    *c = (struct cells){.grid = grid,
                        .rows = calloc((size_t)grid->y.most, sizeof *c->rows),
                        .rows_at_once = rows_at_once(grid, n_nodes)};
    const struct row_size size = row_size_of(grid, n_nodes);
    const size_t width = (size_t)size.pixels;
    c->buffer = malloc((size_t)c->rows_at_once * width * sizeof *c->buffer);
    c->keys = malloc(width * sizeof *c->keys);
    c->box_rows = malloc((size_t)(grid->x.most * grid->y.most) * sizeof *c->box_rows);
    c->box.picked.middle.keys = make_keys(most_of_box(grid) + 2);
    c->box.picked.outer.keys = make_keys(most_of_box(grid) + 2);
    bool ok = c->rows && c->buffer && c->keys && c->box_rows && c->box.picked.middle.keys &&
              c->box.picked.outer.keys;
    for (int64_t i = 0; ok && i < grid->y.most; i++)
        ok = make_row(&size, &c->rows[i]);
    if (ok)
        return c;
    cells_destroy(c);
    return NULL;
}

void cells_destroy(struct cells *c) {
    if (!c)
        return;
    for (int64_t i = 0; c->rows && i < c->grid->y.most; i++) {
        free(c->rows[i].keys);
        free(c->rows[i].cells);
        free(c->rows[i].sums);
    }
    free(c->rows);
    free(c->buffer);
    free(c->keys);
    free(c->box_rows);
    free(c->box.picked.middle.keys);
    free(c->box.picked.outer.keys);
    free(c);
}

void cells_begin(struct cells *c, struct node_range nodes) {
    c->first = c->grid->x.first[nodes.first];
    c->end = c->grid->x.end[nodes.end - 1];
    c->rows_at_once = rows_at_once(c->grid, nodes.end - nodes.first);
    c->n_rows = 0;
}

/* --- loading --- */

/* The first column of the cells, and their width. */
static int64_t first_column(const struct cells *c) {
    return c->grid->x.border[c->first];
}

static int64_t width_of_cells(const struct cells *c) {
    return c->grid->x.border[c->end] - first_column(c);
}

/* Reads the rows of pixels around row y. */
static enum srcfind_status read_rows(struct cells *c, int64_t y, struct error *error) {
    const struct pixel_source *source = c->grid->source;
    const int64_t first = y - y % c->rows_at_once, left = source->height - first;
    const int64_t n_rows = left < c->rows_at_once ? left : c->rows_at_once;
    c->pixels = source->read(source->state, first * source->width + first_column(c),
                             n_rows * width_of_cells(c), c->buffer, error);
    c->first_row = first;
    c->n_rows = c->pixels ? n_rows : 0;
    return c->pixels ? SRCFIND_OK : SRCFIND_ERROR_INPUT;
}

/* Copies the keys of a row of pixels, the n-th row of its cells, to the cells. */
static void deal_row(struct cells *c, struct cell_row *row, int64_t n, int64_t height) {
    const struct cell_axis *x = &c->grid->x;
    int32_t *keys = row->keys;
    for (int64_t i = c->first; i < c->end; i++) {
        const int64_t width = width_of(x, i), at = x->border[i] - first_column(c);
        memcpy(keys + n * width, c->keys + at, (size_t)width * sizeof *keys);
        keys += key_rows(width * height) * KEY_LANES;
    }
}

/* Ends the cells of a row: pads and sums them. */
static void finish_row(const struct cells *c, struct cell_row *row, int64_t height) {
    int32_t *keys = row->keys;
    for (int64_t i = c->first; i < c->end; i++) {
        const int64_t n = width_of(&c->grid->x, i) * height;
        struct key_rows *cell = &row->cells[i - c->first];
        struct value_sums *sums = &row->sums[i - c->first];
        *cell = (struct key_rows){keys, key_rows(n)};
        keys += key_rows(n) * KEY_LANES;
        for (int32_t *key = cell->keys + n; key < keys; key++)
            *key = KEY_BLANK;
        *sums = (struct value_sums){0};
        c->grid->kernels->sum(cell, 1, INT32_MIN, 1, 0, KEY_BLANK - 1, sums);
    }
}

enum srcfind_status cells_load(struct cells *c, int64_t row, struct error *error) {
    const struct cell_grid *grid = c->grid;
    const struct pixel_source *source = grid->source;
    struct cell_row *to = &c->rows[row % grid->y.most];
    const int64_t first = grid->y.border[row], height = width_of(&grid->y, row);
    const int64_t width = width_of_cells(c);
    for (int64_t y = first; y < first + height; y++) {
        const bool there = y >= c->first_row && y < c->first_row + c->n_rows;
        if (!there && read_rows(c, y, error) != SRCFIND_OK)
            return SRCFIND_ERROR_INPUT;
        const uint32_t *pixels = c->pixels + (y - c->first_row) * width;
        grid->kernels->convert(pixels, source->swapped, width, c->keys);
        deal_row(c, to, y - first, height);
    }
    finish_row(c, to, height);
    return SRCFIND_OK;
}

/* --- boxes --- */

struct box *cells_box(struct cells *c, int64_t i, int64_t j) {
    const struct cell_grid *grid = c->grid;
    struct box *box = &c->box;
    box->kernels = grid->kernels;
    box->rows = c->box_rows;
    box->n_rows = 0;
    box->all = (struct value_sums){0};
    for (int64_t y = grid->y.first[j]; y < grid->y.end[j]; y++) {
        const struct cell_row *row = &c->rows[y % grid->y.most];
        for (int64_t x = grid->x.first[i]; x < grid->x.end[i]; x++) {
            c->box_rows[box->n_rows++] = row->cells[x - c->first];
            value_sums_merge(&box->all, &row->sums[x - c->first]);
        }
    }
    return box;
}
