#include "output/model.h"

#include <stdlib.h>

enum { CELL = 64 }; /* pixels along the side of a cell */

/* --- cells --- */

/* The cells [x0, x1] of rows [y0, y1]. */
struct cells {
    int64_t x0, x1, y0, y1;
};

/* The cell of a position along an axis with n cells; the first or last one beyond the ends. */
static int64_t cell_at(double position, int64_t n) {
    const double cell = floor(position / CELL);
    return (int64_t)fmin(fmax(cell, 0), (double)(n - 1));
}

/* The cells around all that a Gaussian reaches. */
static struct cells cells_of(const struct model *m, const struct gaussian *g) {
    const double height = gaussian_height(g), width = gaussian_width(g);
    return (struct cells){cell_at(g->x - width, m->n_x), cell_at(g->x + width, m->n_x),
                          cell_at(g->y - height, m->n_y), cell_at(g->y + height, m->n_y)};
}

/* Goes through the cells of all Gaussians: counts those of cell i in first[i + 2]; or, once there
 * is `reaching`, puts them there: first[i + 1] is where cell i begins, and then where it ends. */
static void go_through_cells(struct model *m, int64_t n) {
    for (int64_t k = 0; k < n; k++) {
        if (m->gaussians[k].peak == 0)
            continue;
        const struct cells c = cells_of(m, &m->gaussians[k]);
        for (int64_t y = c.y0; y <= c.y1; y++) {
            for (int64_t x = c.x0; x <= c.x1; x++) {
                int64_t *first = &m->first[y * m->n_x + x];
                if (m->reaching)
                    m->reaching[first[1]++] = (int32_t)k;
                else
                    first[2]++;
            }
        }
    }
}

bool model_make(struct model *model, const struct gaussian *gaussians, int64_t n, int64_t width,
                int64_t height) {
    *model = (struct model){.gaussians = gaussians,
                            .n_x = (width + CELL - 1) / CELL,
                            .n_y = (height + CELL - 1) / CELL};
    const int64_t n_cells = model->n_x * model->n_y;
    model->first = calloc((size_t)n_cells + 2, sizeof *model->first);
    if (!model->first)
        return false;
    go_through_cells(model, n);
    for (int64_t i = 0; i < n_cells; i++)
        model->first[i + 2] += model->first[i + 1];
    model->reaching = malloc((size_t)model->first[n_cells + 1] * sizeof *model->reaching + 1);
    if (!model->reaching)
        return false;
    go_through_cells(model, n);
    return true;
}

void model_clear(struct model *model) {
    free(model->first);
    free(model->reaching);
    *model = (struct model){0};
}

/* --- sums --- */

/* Adds a Gaussian to the sums of the pixels [x, x + n) of row y. */
static void add_gaussian(const struct gaussian *g, int64_t y, int64_t x, int64_t n, double *sums) {
    const struct gaussian_span span = gaussian_span(g, (double)y);
    const double low = fmax(ceil(span.centre - span.half), (double)x);
    const double high = fmin(floor(span.centre + span.half), (double)(x + n - 1));
    if (!(low <= high))
        return;
    for (int64_t at = (int64_t)low; at <= (int64_t)high; at++)
        sums[at - x] += gaussian_at(g, (double)at, (double)y);
}

void model_row(const struct model *model, int64_t y, int64_t x, int64_t n, double *sums) {
    for (int64_t i = 0; i < n;) {
        const int64_t cell = y / CELL * model->n_x + (x + i) / CELL;
        const int64_t rest = CELL - (x + i) % CELL, part = rest < n - i ? rest : n - i;
        for (int64_t k = 0; k < part; k++)
            sums[i + k] = 0;
        for (int64_t k = model->first[cell]; k < model->first[cell + 1]; k++)
            add_gaussian(&model->gaussians[model->reaching[k]], y, x + i, part, sums + i);
        i += part;
    }
}
