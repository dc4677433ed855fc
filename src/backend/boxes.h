/* Where the nodes of local noise are, and which pixels are in their boxes. All of it along one axis
 * of n pixels, for boxes of `size` pixels every `step` pixels; shared by all backends. */
#ifndef BOXES_H
#define BOXES_H

#include "backend/exact.h"

/* The number of nodes. Node i is at pixel i step + (step - 1) / 2. */
EXACT_FUNCTION int64_t boxes_count(int64_t n, int64_t step) {
    return (n + step - 1) / step;
}

/* The first pixel of the box of node i: the box has the node in its middle, but is moved inwards
 * where it would leave the image. */
EXACT_FUNCTION int64_t boxes_low(int64_t i, int64_t n, int64_t size, int64_t step) {
    const int64_t low = i * step + step / 2 - size / 2, most = n > size ? n - size : 0;
    return low < 0 ? 0 : low > most ? most : low;
}

/* The pixel after the last one of the box of node i. */
EXACT_FUNCTION int64_t boxes_high(int64_t i, int64_t n, int64_t size, int64_t step) {
    const int64_t high = boxes_low(i, n, size, step) + size;
    return high < n ? high : n;
}

/* The borders of all boxes divide an axis into cells; for each node, the cells of its box. */
struct cell_axis {
    int64_t n_nodes, n_cells;
    int64_t *border;       /* n_cells + 1 pixels, ascending */
    int64_t *first, *end;  /* of each node: the cells first ... end - 1 */
    int64_t longest, most; /* the longest cell, in pixels; the most cells of a box */
};

#endif
