#include "measure/grid.h"

#include "measure/beam_frame.h"

static const double LEAST_WIDTH = 0.5; /* of what is found, in widths of the kernel */

struct fit_frame grid_frame(const struct grid *grid, const struct fit_frame *of_image,
                            double times) {
    if (grid->scale == 0)
        return *of_image;
    const double square = (double)(grid->step * grid->step), more = times * grid->variance;
    const struct tensor moments = {(grid->beam.xx + more) / square, (grid->beam.yy + more) / square,
                                   grid->beam.xy / square};
    const struct tensor form = tensor_inverse(&moments);
    struct fit_frame frame = beam_frame_of_form(&form);
    frame.has_beam = of_image->has_beam;
    frame.shapes = of_image->shapes;
    return frame;
}

struct tensor grid_moments(const struct grid *grid, const struct tensor *in_samples) {
    if (grid->scale == 0)
        return *in_samples;
    const double square = (double)(grid->step * grid->step);
    const struct tensor *beam = &grid->beam, *t = in_samples;
    const struct tensor intrinsic = {square * t->xx - grid->variance - beam->xx,
                                     square * t->yy - grid->variance - beam->yy,
                                     square * t->xy - beam->xy};
    const double least = LEAST_WIDTH * LEAST_WIDTH * grid->variance;
    struct axes axes = tensor_axes(&intrinsic);
    axes.major = axes.major < least ? least : axes.major; /* NaN stays */
    axes.minor = axes.minor < least ? least : axes.minor;
    const struct tensor without = tensor_of_axes(&axes);
    return (struct tensor){without.xx + beam->xx, without.yy + beam->yy, without.xy + beam->xy};
}

static double area_of(const struct tensor *moments) {
    return sqrt(tensor_determinant(moments));
}

struct gaussian grid_gaussian(const struct grid *grid, const struct gaussian *in_samples) {
    const struct gaussian *g = in_samples;
    if (grid->scale == 0)
        return *g;
    const double step = (double)grid->step;
    const struct tensor sampled = tensor_inverse(&g->form);
    const struct tensor moments = grid_moments(grid, &sampled);
    return (struct gaussian){.peak = g->peak * step * step * area_of(&sampled) / area_of(&moments),
                             .x = step * g->x + grid->x,
                             .y = step * g->y + grid->y,
                             .form = tensor_inverse(&moments)};
}

/* The second moments of the effective beam, pixels^2. */
static struct tensor effective_beam(const struct grid *g) {
    return (struct tensor){g->beam.xx + g->variance, g->beam.yy + g->variance, g->beam.xy};
}

double grid_fwhm(const struct grid *grid) {
    const struct tensor effective = effective_beam(grid);
    return beam_frame_fwhm(&effective);
}

double grid_unit(const struct grid *grid) {
    const struct tensor effective = effective_beam(grid);
    return grid->scale == 0 ? 1 : area_of(&effective) / area_of(&grid->beam);
}
