#include "measure/model.h"

#include <stdlib.h>

/* --- cells --- */

/* The cell of a position, relative to the box, along an axis with n cells; the first or last one
 * beyond the ends. */
static int64_t cell_at(const struct model *m, double position, int64_t n) {
    const double cell = floor(position / (double)m->box.cell);
    return (int64_t)fmin(fmax(cell, 0), (double)(n - 1));
}

struct model_cells model_cells_of(const struct model *m, const struct gaussian *g) {
    const double height = gaussian_height(g), width = gaussian_width(g);
    const double x = g->x - (double)m->box.x, y = g->y - (double)m->box.y;
    return (struct model_cells){cell_at(m, x - width, m->n_x), cell_at(m, x + width, m->n_x),
                                cell_at(m, y - height, m->n_y), cell_at(m, y + height, m->n_y)};
}

/* Goes through the cells of all Gaussians: counts those of cell i in first[i + 2]; or, once there
 * is `reaching`, puts them there: first[i + 1] is where cell i begins, and then where it ends. */
static void go_through_cells(struct model *m, int64_t n) {
    for (int64_t k = 0; k < n; k++) {
        const struct model_cells c = model_cells_of(m, &m->gaussians[k]);
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

bool model_make(struct model *model, const struct gaussian *gaussians, int64_t n,
                const struct model_box *box) {
    *model = (struct model){.gaussians = gaussians,
                            .box = *box,
                            .n_x = (box->width + box->cell - 1) / box->cell,
                            .n_y = (box->height + box->cell - 1) / box->cell};
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

/* Adds a Gaussian to the sums of n pixels of a row: as gaussian_at, without a branch, so that the
 * compiler makes vectors of it. */
static void add_pixels(struct gaussian g, double x, double y, int32_t n, double *restrict sums) {
    const double dy = y - g.y;
    for (int32_t i = 0; i < n; i++) {
        const double dx = x + i - g.x;
        const double square = g.form.xx * dx * dx + 2 * g.form.xy * dx * dy + g.form.yy * dy * dy;
        const double value = g.peak * gaussian_exp(-0.5 * square);
        sums[i] += square < GAUSSIAN_REACH ? value : 0;
    }
}

/* Adds a Gaussian to the sums of the pixels [x, x + n) of row y. */
static void add_gaussian(const struct gaussian *g, int64_t y, int64_t x, int64_t n, double *sums) {
    const struct gaussian_span span = gaussian_span_at(g, (double)y);
    const double low = fmax(ceil(span.centre - span.half), (double)x);
    const double high = fmin(floor(span.centre + span.half), (double)(x + n - 1));
    if (!(low <= high))
        return;
    add_pixels(*g, low, (double)y, (int32_t)(high - low) + 1, sums + ((int64_t)low - x));
}

struct model_list model_reaching(const struct model *m, int64_t x, int64_t y) {
    const int64_t *first = &m->first[y * m->n_x + x];
    return (struct model_list){m->reaching + first[0], first[1] - first[0]};
}

void model_row(const struct model *m, int64_t y, int64_t x, int64_t n, double *sums) {
    const int64_t cell = m->box.cell, left = x - m->box.x, row = (y - m->box.y) / cell;
    for (int64_t i = 0; i < n;) {
        const int64_t rest = cell - (left + i) % cell, part = rest < n - i ? rest : n - i;
        const struct model_list list = model_reaching(m, (left + i) / cell, row);
        for (int64_t k = 0; k < part; k++)
            sums[i + k] = 0;
        for (int64_t k = 0; k < list.n; k++)
            add_gaussian(&m->gaussians[list.number[k]], y, x + i, part, sums + i);
        i += part;
    }
}

/* The Gaussians that reach the cell of a point. */
static struct model_list reaching_point(const struct model *m, double x, double y) {
    return model_reaching(m, cell_at(m, x - (double)m->box.x, m->n_x),
                          cell_at(m, y - (double)m->box.y, m->n_y));
}

double model_at(const struct model *m, double x, double y) {
    const struct model_list list = reaching_point(m, x, y);
    double sum = 0;
    for (int64_t k = 0; k < list.n; k++)
        sum += gaussian_at(&m->gaussians[list.number[k]], x, y);
    return sum;
}

struct model_slope model_slope_at(const struct model *m, double x, double y) {
    const struct model_list list = reaching_point(m, x, y);
    struct model_slope s = {0};
    for (int64_t k = 0; k < list.n; k++) {
        const struct gaussian *g = &m->gaussians[list.number[k]];
        const double value = gaussian_at(g, x, y), dx = x - g->x, dy = y - g->y;
        const double a = g->form.xx * dx + g->form.xy * dy, b = g->form.xy * dx + g->form.yy * dy;
        s.x -= value * a;
        s.y -= value * b;
        s.second.xx += value * (a * a - g->form.xx);
        s.second.yy += value * (b * b - g->form.yy);
        s.second.xy += value * (a * b - g->form.xy);
    }
    return s;
}
