/* How several Gaussians are measured as one source.
 *
 * 1. sum_moments: total flux, centre and second moments of the sum, in closed form.
 * 2. find_highest: the highest value of the island's model, at the centres of the Gaussians and
 *    after five steps of Newton from each, within its half maximum.
 * 3. Errors: the derivatives of these seven quantities by the parameters of all components
 *    (differentiate_moments, differentiate_peak); fit_covariance.c turns them to a covariance for
 *    each part that the Gaussians are in. Parts are independent, so covariances add up.
 * 4. set_errors turns the covariance from the frame to pixels; Gaussians with the beam's shape add
 *    the errors that a free shape would have had.
 *
 * Always: components of a part that belong to other sources count in its covariance, since they
 * were fitted together. The peak does not change as its position does: the model is flat there.
 *
 * Cost: fit_covariance.c for each part. */
#include "measure/composite.h"

#include <string.h>

#include "measure/fit_covariance.h"
#include "measure/fit_uncertainty.h"

enum { STEPS = 5 }; /* of Newton, to the highest value */

/* --- moments --- */

/* The Gaussians of a source. */
struct members {
    const struct fitted_sources *fitted; /* of the island */
    const int32_t *member;
    int64_t n;
};

static const struct gaussian *gaussian_of(const struct members *m, int64_t i) {
    return &m->fitted->source[m->member[i]].gaussian;
}

static double total_of(const struct gaussian *g) {
    return 2 * M_PI * g->peak / sqrt(g->form.xx * g->form.yy - g->form.xy * g->form.xy);
}

static void sum_moments(const struct members *m, struct composite *c) {
    for (int64_t i = 0; i < m->n; i++) {
        const struct gaussian *g = gaussian_of(m, i);
        const double total = total_of(g);
        c->total += total;
        c->x += total * g->x;
        c->y += total * g->y;
    }
    c->x /= c->total;
    c->y /= c->total;
    for (int64_t i = 0; i < m->n; i++) {
        const struct gaussian *g = gaussian_of(m, i);
        const struct tensor moments = tensor_inverse(&g->form);
        const double share = total_of(g) / c->total, dx = g->x - c->x, dy = g->y - c->y;
        c->second.xx += share * (moments.xx + dx * dx);
        c->second.yy += share * (moments.yy + dy * dy);
        c->second.xy += share * (moments.xy + dx * dy);
    }
}

/* --- the highest value --- */

static void take_if_higher(const struct model *model, double x, double y, struct composite *c) {
    const double value = model_at(model, x, y);
    if (!(value > c->peak))
        return;
    c->peak = value;
    c->x_highest = x;
    c->y_highest = y;
}

/* Moves (*x, *y) one step to where the gradient is 0. False if the model has no maximum there, or
 * beyond the half maximum of the Gaussian, where other Gaussians are. */
static bool step(const struct model *model, const struct gaussian *g, double *x, double *y) {
    const struct model_slope s = model_slope_at(model, *x, *y);
    const double determinant = tensor_determinant(&s.second);
    if (!(s.second.xx < 0 && determinant > 0))
        return false;
    *x -= (s.second.yy * s.x - s.second.xy * s.y) / determinant;
    *y -= (s.second.xx * s.y - s.second.xy * s.x) / determinant;
    const double dx = *x - g->x, dy = *y - g->y;
    return g->form.xx * dx * dx + 2 * g->form.xy * dx * dy + g->form.yy * dy * dy <= 2 * M_LN2;
}

static void find_highest(const struct members *m, const struct model *model, struct composite *c) {
    c->peak = -INFINITY;
    for (int64_t i = 0; i < m->n; i++) {
        const struct gaussian *g = gaussian_of(m, i);
        double x = g->x, y = g->y;
        take_if_higher(model, x, y, c);
        int n = 0;
        while (n < STEPS && step(model, g, &x, &y))
            n++;
        if (n == STEPS)
            take_if_higher(model, x, y, c);
    }
}

/* --- errors --- */

/* The sum in the frame of the fit. Values are in units of the highest peak, `unit` of the map, so
 * that squares neither overflow nor vanish. */
struct frame_sum {
    double unit;
    double total, u, v;
    struct tensor second; /* uu, vv, uv */
    double u_highest, v_highest;
};

/* An offset from the fit's origin in the frame. */
static void to_frame(const struct fit_frame *f, double x, double y, double *u, double *v) {
    *u = f->ux * x + f->uy * y;
    *v = f->vy * y;
}

static struct frame_sum sum_in_frame(const struct composite *c, const struct island_fit *fit,
                                     const struct fit_frame *f) {
    const struct tensor *s = &c->second;
    struct frame_sum sum = {
        .unit = c->peak,
        .total = c->total * f->ux * f->vy / c->peak,
        .second = {f->ux * f->ux * s->xx + 2 * f->ux * f->uy * s->xy + f->uy * f->uy * s->yy,
                   f->vy * f->vy * s->yy, f->vy * (f->ux * s->xy + f->uy * s->yy)}};
    to_frame(f, c->x - fit->x, c->y - fit->y, &sum.u, &sum.v);
    to_frame(f, c->x_highest - fit->x, c->y_highest - fit->y, &sum.u_highest, &sum.v_highest);
    return sum;
}

/* The derivatives of the moments of the sum by the parameters of one of its Gaussians. */
static void differentiate_moments(const struct frame_sum *sum, const double *value,
                                  struct fit_gradient *g) {
    const double p = value[FIT_P], q = value[FIT_Q], r = value[FIT_R], determinant = p * r - q * q;
    const double uu = r / determinant, vv = p / determinant, uv = -q / determinant;
    const double total = 2 * M_PI * value[FIT_PEAK] / sqrt(determinant), share = total / sum->total;
    const double du = value[FIT_U] - sum->u, dv = value[FIT_V] - sum->v;
    /* derivatives of the Gaussian's total and second moments */
    const double of_total[FIT_PARAMETERS] = {
        total / value[FIT_PEAK], 0, 0, -0.5 * total * uu, -total * uv, -0.5 * total * vv};
    const double of_uu[FIT_PARAMETERS] = {0, 0, 0, -uu * uu, -2 * uu * uv, -uv * uv};
    const double of_vv[FIT_PARAMETERS] = {0, 0, 0, -uv * uv, -2 * uv * vv, -vv * vv};
    const double of_uv[FIT_PARAMETERS] = {0, 0, 0, -uu * uv, -(uu * vv + uv * uv), -uv * vv};
    for (int k = 0; k < FIT_PARAMETERS; k++) {
        const double relative = of_total[k] / sum->total, at_u = k == FIT_U, at_v = k == FIT_V;
        g->of[QUANTITY_TOTAL][k] = of_total[k];
        g->of[QUANTITY_U][k] = relative * du + share * at_u;
        g->of[QUANTITY_V][k] = relative * dv + share * at_v;
        g->of[QUANTITY_UU][k] =
            relative * (uu + du * du - sum->second.xx) + share * (of_uu[k] + 2 * du * at_u);
        g->of[QUANTITY_VV][k] =
            relative * (vv + dv * dv - sum->second.yy) + share * (of_vv[k] + 2 * dv * at_v);
        g->of[QUANTITY_UV][k] =
            relative * (uv + du * dv - sum->second.xy) + share * (of_uv[k] + du * at_v + dv * at_u);
    }
}

/* The derivatives of the model at its highest point. The motion of this point adds nothing: the
 * model is flat there. */
static void differentiate_peak(const struct frame_sum *sum, const double *value,
                               struct fit_gradient *g) {
    const double du = sum->u_highest - value[FIT_U], dv = sum->v_highest - value[FIT_V];
    const double a = value[FIT_P] * du + value[FIT_Q] * dv;
    const double b = value[FIT_Q] * du + value[FIT_R] * dv, square = a * du + b * dv;
    const double shape = square < GAUSSIAN_REACH ? gaussian_exp(-0.5 * square) : 0;
    const double all = value[FIT_PEAK] * shape;
    const double of[FIT_PARAMETERS] = {
        shape, all * a, all * b, -0.5 * all * du * du, -all * du * dv, -0.5 * all * dv * dv};
    memcpy(g->of[QUANTITY_PEAK], of, sizeof of);
}

/* Adds the covariance of a part with Gaussians of the source. */
static bool add_part(const struct island_fit *fit, const struct fit_frame *frame,
                     const struct correlation *noise, int64_t part, const struct fit_set *fitted,
                     const struct members *m, const struct frame_sum *sum,
                     double covariance[QUANTITIES][QUANTITIES]) {
    struct fit_gradient gradients[FIT_MOST] = {0};
    struct fit_set set = *fitted;
    for (int i = 0; i < set.n; i++) {
        set.value[i][FIT_PEAK] *= fit->rms / sum->unit;
        if (m->n > 1) /* a Gaussian that is alone has its own peak */
            differentiate_peak(sum, set.value[i], &gradients[i]);
    }
    for (int64_t i = 0; i < m->n; i++) {
        const struct fitted_source *source = &m->fitted->source[m->member[i]];
        if (source->part != part)
            continue;
        struct fit_gradient *gradient = &gradients[source->in_set];
        differentiate_moments(sum, set.value[source->in_set], gradient);
        if (m->n == 1)
            gradient->of[QUANTITY_PEAK][FIT_PEAK] = 1;
    }
    return fit_covariance_add(fit, part, frame, noise, &set, gradients, covariance);
}

/* Whether an earlier Gaussian of the source is in the part of the i-th. */
static bool is_part_before(const struct members *m, int64_t i) {
    for (int64_t k = 0; k < i; k++)
        if (m->fitted->source[m->member[k]].part == m->fitted->source[m->member[i]].part)
            return true;
    return false;
}

/* Turns the covariance from the frame to pixels, and from noise of rms `unit` to rms 1. */
static void set_errors(const struct fit_frame *f, double unit,
                       double covariance[QUANTITIES][QUANTITIES], struct fit_errors *e) {
    /* pixels of (u, v), and of the moments (uu, vv, uv) */
    const double xu = 1 / f->ux, xv = -f->uy / (f->ux * f->vy), yv = 1 / f->vy;
    const double turn[3][3] = {
        {xu * xu, xv * xv, 2 * xu * xv}, {0, yv * yv, 0}, {0, xv * yv, xu * yv}};
    const double square = 1 / (unit * unit);
    const double uu = covariance[QUANTITY_U][QUANTITY_U] * square;
    const double vv = covariance[QUANTITY_V][QUANTITY_V] * square;
    const double uv = covariance[QUANTITY_U][QUANTITY_V] * square;
    e->total = sqrt(fmax(covariance[QUANTITY_TOTAL][QUANTITY_TOTAL], 0)) / (f->ux * f->vy);
    e->peak = sqrt(fmax(covariance[QUANTITY_PEAK][QUANTITY_PEAK], 0));
    e->position = (struct tensor){xu * xu * uu + 2 * xu * xv * uv + xv * xv * vv, yv * yv * vv,
                                  xu * yv * uv + xv * yv * vv};
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    e->shape[a][b] += turn[a][i] * turn[b][j] * square *
                                      covariance[QUANTITY_UU + i][QUANTITY_UU + j];
}

/* Adds the errors that the second moments of a Gaussian with the beam's shape would have with a
 * free shape, as fit_uncertainty_of does for a lone Gaussian: else two points would have no error
 * of the width across their line. */
static void add_shape_errors(const struct fitted_source *source, const struct fit_frame *frame,
                             const struct correlation *noise, struct composite *c) {
    const struct gaussian *g = &source->gaussian;
    const struct fit_uncertainty of_one = fit_uncertainty_of(g, frame, noise, true);
    const struct shape_error e = fit_uncertainty_at(&of_one, g->peak).shape;
    const double *t = e.to_pixels, share = total_of(g) / c->total;
    /* of xx, yy and xy by the moments along both axes, and by the mixed one */
    const double by[3][3] = {{t[0] * t[0], t[1] * t[1], 2 * t[0] * t[1]},
                             {t[2] * t[2], t[3] * t[3], 2 * t[2] * t[3]},
                             {t[0] * t[2], t[1] * t[3], t[0] * t[3] + t[1] * t[2]}};
    const double covariance[3][3] = {{e.major, e.covariance, e.major_mixed},
                                     {e.covariance, e.minor, e.minor_mixed},
                                     {e.major_mixed, e.minor_mixed, e.mixed}};
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    c->error.shape[a][b] += share * share * by[a][i] * by[b][j] * covariance[i][j];
}

bool composite_measure(const struct island_fit *fit, const struct fit_frame *frame,
                       const struct correlation *noise, const struct fit_job *jobs,
                       const struct fitted_sources *fitted, const struct model *model,
                       const int32_t *members, int64_t n, struct composite *composite) {
    const struct members m = {fitted, members, n};
    double covariance[QUANTITIES][QUANTITIES] = {0};
    *composite = (struct composite){0};
    sum_moments(&m, composite);
    find_highest(&m, model, composite);
    const struct frame_sum sum = sum_in_frame(composite, fit, frame);
    for (int64_t i = 0; i < n; i++) {
        const int32_t part = fitted->source[members[i]].part;
        if (!is_part_before(&m, i) &&
            !add_part(fit, frame, noise, part, &jobs[part].set, &m, &sum, covariance))
            return false;
    }
    set_errors(frame, sum.unit, covariance, &composite->error);
    for (int64_t i = 0; i < n; i++)
        if (fitted->source[members[i]].has_beam_shape)
            add_shape_errors(&fitted->source[members[i]], frame, noise, composite);
    return true;
}

bool composite_errors_of_one(const struct island_fit *fit, const struct fit_frame *frame,
                             const struct correlation *noise, const struct fit_job *jobs,
                             const struct fitted_source *source, struct fit_errors *errors) {
    static const int32_t first[] = {0};
    const struct fitted_sources fitted = {.source = (struct fitted_source[]){*source}, .n = 1};
    const struct members m = {&fitted, first, 1};
    double covariance[QUANTITIES][QUANTITIES] = {0};
    struct composite c = {.peak = source->gaussian.peak,
                          .x_highest = source->gaussian.x,
                          .y_highest = source->gaussian.y};
    sum_moments(&m, &c);
    const struct frame_sum sum = sum_in_frame(&c, fit, frame);
    *errors = (struct fit_errors){0};
    if (!add_part(fit, frame, noise, source->part, &jobs[source->part].set, &m, &sum, covariance))
        return false;
    set_errors(frame, sum.unit, covariance, errors);
    return true;
}
