/* The pixels of an image in cells, for the boxes of local noise. The borders of all boxes divide
 * the image into cells: boxes that overlap share cells, and a cell is read and summed once. */
#ifndef CELLS_H
#define CELLS_H

#include "backend/boxes.h"
#include "cpu/clip_box.h"
#include "input/pixel_source.h"

/* Boxes of `size` pixels every `step` pixels; size 0: none. */
struct box_set {
    int64_t size, step;
};

/* Makes the cells of two sets of boxes along an axis of n pixels; the nodes are those of `boxes`.
 * The caller clears the axis, also after a failure. */
bool cell_axis_make(struct cell_axis *axis, int64_t n, struct box_set boxes, struct box_set also);
void cell_axis_clear(struct cell_axis *axis);

/* The cells of an image, which all threads share. */
struct cell_grid {
    const struct pixel_source *source;
    const struct key_kernels *kernels;
    struct cell_axis x, y;
};

/* Consecutive nodes of a row, [first, end). */
struct node_range {
    int64_t first, end;
};

/* Rows of the cells of a thread, of the boxes of a range of nodes: the last y.most rows of those
 * that were loaded. */
struct cells;

/* The number of bytes of a `struct cells`, about, for ranges of at most n_nodes. */
int64_t cells_size(const struct cell_grid *grid, int64_t n_nodes);

/* NULL where memory ran out. n_nodes: the most of a range. */
struct cells *cells_create(const struct cell_grid *grid, int64_t n_nodes);
void cells_destroy(struct cells *cells);

/* Begins with the cells of another range of nodes. */
void cells_begin(struct cells *cells, struct node_range nodes);

/* Reads and sums the cells of row `row` of cells. This is fastest in ascending order. */
enum srcfind_status cells_load(struct cells *cells, int64_t row, struct error *error);

/* The pixels of the box of node (i, j), whose rows of cells are loaded. The box belongs to the
 * cells, and is valid until the next call. */
struct box *cells_box(struct cells *cells, int64_t i, int64_t j);

#endif
