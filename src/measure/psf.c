#include "measure/psf.h"

#include <stdlib.h>

#include "common/arrays.h"
#include "measure/beam_frame.h"

/* Nodes are at least this far apart, in pixels, and at most so many along an axis. */
enum { LEAST_STEP = 16, MOST_NODES = 257 };

static int64_t count_nodes(int64_t n_pixels) {
    const int64_t n = (n_pixels + LEAST_STEP - 1) / LEAST_STEP + 1;
    return n_pixels < 2 ? 1 : n < MOST_NODES ? n : MOST_NODES;
}

static double step_of(int64_t n_pixels, int64_t n_nodes) {
    return n_nodes > 1 ? (double)(n_pixels - 1) / (double)(n_nodes - 1) : 1;
}

bool psf_make(struct psf *psf, const struct tensor *beam, int64_t width, int64_t height) {
    *psf = (struct psf){.beam = *beam, .n_x = count_nodes(width), .n_y = count_nodes(height)};
    psf->step_x = step_of(width, psf->n_x);
    psf->step_y = step_of(height, psf->n_y);
    psf->moments = arrays_allocate(psf->n_x * psf->n_y, sizeof *psf->moments);
    for (int64_t i = 0; psf->moments && i < psf->n_x * psf->n_y; i++)
        psf->moments[i] = *beam;
    return psf->moments;
}

bool psf_make_beside(struct psf *psf, const struct tensor *beam, const struct psf *other) {
    const int64_t n = other->n_x * other->n_y;
    const struct tensor *b = &other->beam;
    *psf = *other;
    psf->beam = *beam;
    psf->moments = arrays_allocate(n, sizeof *psf->moments);
    for (int64_t i = 0; psf->moments && i < n; i++) {
        const struct tensor *m = &other->moments[i];
        const struct tensor sum = {beam->xx + m->xx - b->xx, beam->yy + m->yy - b->yy,
                                   beam->xy + m->xy - b->xy};
        psf->moments[i] = sum.xx > 0 && tensor_determinant(&sum) > 0 ? sum : *beam;
    }
    return psf->moments;
}

void psf_widen(struct psf *psf) {
    for (int64_t i = 0; i < psf->n_x * psf->n_y; i++) {
        struct tensor *m = &psf->moments[i];
        const struct tensor more = {m->xx - psf->beam.xx, m->yy - psf->beam.yy,
                                    m->xy - psf->beam.xy};
        struct axes axes = tensor_axes(&more);
        axes.major = fmax(axes.major, 0);
        axes.minor = fmax(axes.minor, 0);
        const struct tensor wider = tensor_of_axes(&axes);
        *m = (struct tensor){psf->beam.xx + wider.xx, psf->beam.yy + wider.yy,
                             psf->beam.xy + wider.xy};
    }
}

void psf_clear(struct psf *psf) {
    free(psf->moments);
    *psf = (struct psf){0};
}

/* The node before a position, and the share of the next one. */
struct between {
    int64_t node;
    double share;
};

static struct between between_nodes(double at, double step, int64_t n) {
    const double most = (double)(n - 1), place = fmin(fmax(at / step, 0), most); /* NaN becomes 0 */
    const double node = fmin(floor(place), fmax(most - 1, 0));
    return (struct between){(int64_t)node, place - node};
}

static struct tensor mix(const struct tensor *a, const struct tensor *b, double share) {
    return (struct tensor){a->xx + share * (b->xx - a->xx), a->yy + share * (b->yy - a->yy),
                           a->xy + share * (b->xy - a->xy)};
}

struct tensor psf_at(const struct psf *psf, double x, double y) {
    if (psf->n_x == 0)
        return psf->beam;
    const struct between i = between_nodes(x, psf->step_x, psf->n_x);
    const struct between j = between_nodes(y, psf->step_y, psf->n_y);
    const struct tensor *low = &psf->moments[j.node * psf->n_x + i.node];
    const struct tensor *high = psf->n_y > 1 ? low + psf->n_x : low;
    const int64_t next = psf->n_x > 1;
    const struct tensor below = mix(low, low + next, i.share);
    const struct tensor above = mix(high, high + next, i.share);
    return mix(&below, &above, j.share);
}

double psf_area(const struct psf *psf, const struct tensor *moments) {
    return sqrt(tensor_determinant(moments) / tensor_determinant(&psf->beam));
}

double psf_area_at_edges(const struct psf *psf) {
    double sum = 0;
    int64_t n = 0;
    for (int64_t j = 0; j < psf->n_y; j++) {
        for (int64_t i = 0; i < psf->n_x; i++) {
            if (i > 0 && j > 0 && i < psf->n_x - 1 && j < psf->n_y - 1)
                continue;
            sum += psf_area(psf, &psf->moments[j * psf->n_x + i]);
            n++;
        }
    }
    return sum / (double)n;
}

struct fit_frame psf_frame(const struct psf *psf, const struct grid *grid,
                           const struct fit_frame *of_image, double x, double y) {
    if (psf->n_x == 0)
        return grid_frame(grid, of_image, 1);
    struct grid local = *grid;
    local.beam = psf_at(psf, (double)grid->step * x + grid->x, (double)grid->step * y + grid->y);
    const struct tensor form = tensor_inverse(&local.beam);
    struct fit_frame frame = beam_frame_of_form(&form);
    frame.has_beam = of_image->has_beam;
    frame.shapes = of_image->shapes;
    return grid_frame(&local, &frame, 1);
}
