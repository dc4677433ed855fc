#include "measure/scale_row.h"

#include <math.h>

/* The place of a sample along an axis, in pixels; first: that of sample 0. */
static double to_pixel(const struct grid *g, double first, double sample) {
    return (double)g->step * sample + first;
}

static struct tensor times(double factor, const struct tensor *t) {
    return (struct tensor){factor * t->xx, factor * t->yy, factor * t->xy};
}

static void turn_extent(const struct grid *g, struct srcfind_source *row) {
    if (row->n_pixels == SRCFIND_EMPTY)
        return;
    row->x_min = grid_first(g, g->left, row->x_min);
    row->y_min = grid_first(g, g->top, row->y_min);
    row->x_max = grid_last(g, g->left, row->x_max, g->width);
    row->y_max = grid_last(g, g->top, row->y_max, g->height);
    row->x_peak = (int64_t)floor(to_pixel(g, g->x, (double)row->x_peak));
    row->y_peak = (int64_t)floor(to_pixel(g, g->y, (double)row->y_peak));
    /* samples at the edges stand for fewer pixels */
    const int64_t box = (row->x_max - row->x_min + 1) * (row->y_max - row->y_min + 1);
    const int64_t n = g->step * g->step * row->n_pixels;
    row->n_pixels = n < box ? n : box;
}

static void turn_shape(const struct grid *g, struct pixel_shape *shape) {
    const double step = (double)g->step;
    shape->position = times(step * step, &shape->position);
    shape->second = grid_moments(g, &shape->second);
    shape->has_beam_shape = false; /* it is the effective beam's */
    shape->x_highest = to_pixel(g, g->x, shape->x_highest);
    shape->y_highest = to_pixel(g, g->y, shape->y_highest);
    for (int i = 0; i < 4; i++)
        shape->error.to_pixels[i] *= step;
}

/* The peak of a Gaussian of this flux and size; of the beam's where the size is not known. */
static double peak_of(const struct setting *s, double total_flux, const struct tensor *second) {
    const struct grid *g = &s->grid;
    const struct tensor *t = isnan(second->xx) ? &g->beam : second;
    const double pixels = 2 * M_PI * sqrt(tensor_determinant(t));
    return total_flux / s->to_flux * (double)(g->step * g->step) / pixels;
}

void scale_row(const struct setting *s, struct srcfind_source *row, struct pixel_shape *shape) {
    const struct grid *g = &s->grid;
    const double step = (double)g->step;
    if (g->scale == 0)
        return;
    row->scale = g->scale;
    row->x = to_pixel(g, g->x, row->x);
    row->y = to_pixel(g, g->y, row->y);
    row->e_x *= step;
    row->e_y *= step;
    turn_extent(g, row);
    turn_shape(g, shape);
    row->peak_flux = peak_of(s, row->total_flux, &shape->second);
    row->e_peak_flux = row->e_total_flux * (row->peak_flux / row->total_flux);
    row->scale_background = row->isl_mean;
    double *const per_beam[] = {&row->isl_rms,        &row->isl_mean,  &row->resid_isl_rms,
                                &row->resid_isl_mean, &row->pixel_sum, &row->pixel_peak};
    for (size_t i = 0; i < sizeof per_beam / sizeof *per_beam; i++)
        *per_beam[i] *= s->per_beam;
}
