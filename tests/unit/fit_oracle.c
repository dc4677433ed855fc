#include "fit_oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = FIT_MOST * FIT_PARAMETERS };

/* Pixels are followed by such without weight, up to a multiple of the lanes. */
struct fit {
    struct fit_limits limits;
    bool has_beam;
    enum fit_shapes shapes;
    double widest, pixel_area;
    int n, n_all;
    double n_used;
    double *u, *v, *data, *weight, *rest, *terms;
    double *shape[FIT_MOST]; /* of each component: its Gaussian, with peak 1 */
    double *slope[COLUMNS];  /* of each varied parameter */
    double matrix[COLUMNS][COLUMNS], gradient[COLUMNS], step[COLUMNS], scale[COLUMNS];
};

/* --- sums --- */

/* The sum of the terms: term k in lane k mod 32, and then half of the lanes to the other half. */
static double sum_terms(const struct fit *f) {
    double lane[FIT_LANES] = {0};
    for (int k = 0; k < f->n_all; k++)
        lane[k % FIT_LANES] += f->terms[k];
    for (int half = FIT_LANES / 2; half >= 1; half /= 2)
        for (int i = 0; i < half; i++)
            lane[i] = lane[i] + lane[i + half];
    return lane[0];
}

static double sum_products(const struct fit *f, const double *a, const double *b) {
    for (int k = 0; k < f->n_all; k++)
        f->terms[k] = a[k] * b[k];
    return sum_terms(f);
}

/* --- model --- */

/* exp(x) for -100 <= x <= 0: 2^n times a Taylor series of ten terms. */
static double exponential(double x) {
    const double n = rint(x * 1.4426950408889634);
    const double r = (x - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
    double factorial = 3628800, y = 1 / factorial;
    for (int k = 10; k > 0; k--) {
        factorial /= k;
        y = y * r + 1 / factorial;
    }
    return ldexp(y, (int)n);
}

/* The Gaussian of a component at pixel k, whose form is multiplied by a factor; beyond six sigma it
 * is 0. */
static double gaussian(const struct fit *f, const double *c, double factor, int k) {
    const double du = f->u[k] - c[FIT_U], dv = f->v[k] - c[FIT_V];
    const double square = (du * du) * (factor * c[FIT_P]) + (du * dv) * (2 * (factor * c[FIT_Q])) +
                          (dv * dv) * (factor * c[FIT_R]);
    return square < 36 ? exponential(square * -0.5) : 0;
}

/* Sets shapes and residual; returns chi^2. */
static double evaluate(struct fit *f, const struct fit_set *set) {
    for (int k = 0; k < f->n_all; k++) {
        double model = 0;
        for (int i = 0; i < set->n; i++) {
            f->shape[i][k] = gaussian(f, set->value[i], 1, k);
            model = model + f->shape[i][k] * set->value[i][FIT_PEAK];
        }
        f->rest[k] = (f->data[k] - model) * f->weight[k];
    }
    return sum_products(f, f->rest, f->rest);
}

static int parameters_of(const struct fit_set *set, int i) {
    return set->is_free[i] ? 6 : 3;
}

/* Sets what the damping is multiplied by: the mean of the diagonal over the axes' directions, of a
 * centre's two parameters, and of a form's three. */
static void set_scales(struct fit *f, const struct fit_set *set) {
    for (int i = 0, n = 0; i < set->n; n += parameters_of(set, i), i++) {
        f->scale[n] = f->matrix[n][n];
        f->scale[n + 1] = f->scale[n + 2] = (f->matrix[n + 1][n + 1] + f->matrix[n + 2][n + 2]) / 2;
        if (!set->is_free[i])
            continue;
        const double q = f->matrix[n + 4][n + 4];
        f->scale[n + 3] = f->scale[n + 5] =
            (f->matrix[n + 3][n + 3] + f->matrix[n + 5][n + 5] + q / 2) / 3;
        f->scale[n + 4] = 2 * f->scale[n + 3];
    }
}

/* Sets the slopes, the lower triangle of the matrix, and the gradient; returns their size. */
static int make_equations(struct fit *f, const struct fit_set *set) {
    int n = 0;
    for (int i = 0; i < set->n; n += parameters_of(set, i), i++) {
        const double *c = set->value[i];
        for (int k = 0; k < f->n_all; k++) {
            const double du = f->u[k] - c[FIT_U], dv = f->v[k] - c[FIT_V];
            const double g = f->shape[i][k] * f->weight[k], ag = g * c[FIT_PEAK];
            f->slope[n][k] = g;
            f->slope[n + 1][k] = ag * (du * c[FIT_P] + dv * c[FIT_Q]);
            f->slope[n + 2][k] = ag * (du * c[FIT_Q] + dv * c[FIT_R]);
            if (!set->is_free[i])
                continue;
            f->slope[n + 3][k] = ((ag * -0.5) * du) * du;
            f->slope[n + 4][k] = ((ag * du) * dv) * -1;
            f->slope[n + 5][k] = ((ag * -0.5) * dv) * dv;
        }
    }
    for (int row = 0; row < n; row++) {
        for (int column = 0; column <= row; column++)
            f->matrix[row][column] = sum_products(f, f->slope[row], f->slope[column]);
        f->gradient[row] = sum_products(f, f->slope[row], f->rest);
    }
    set_scales(f, set);
    return n;
}

/* --- a step --- */

/* Solves the damped equations by L L^T: every element of L is finished before the next one. */
static bool solve(struct fit *f, int n, double damping) {
    static double l[COLUMNS][COLUMNS];
    double y[COLUMNS];
    for (int j = 0; j < n; j++) {
        const double own = f->scale[j];
        double square = f->matrix[j][j];
        for (int k = 0; k < j; k++)
            square -= l[j][k] * l[j][k];
        square += damping * (own > 1e-12 ? own : 1e-12);
        if (!(square > 0))
            return false;
        l[j][j] = sqrt(square);
        for (int i = j + 1; i < n; i++) {
            double x = f->matrix[i][j];
            for (int k = 0; k < j; k++)
                x -= l[i][k] * l[j][k];
            l[i][j] = x / l[j][j];
        }
    }
    for (int i = 0; i < n; i++) {
        y[i] = f->gradient[i];
        for (int k = 0; k < i; k++)
            y[i] -= l[i][k] * y[k];
        y[i] /= l[i][i];
    }
    bool is_finite = true;
    for (int i = n - 1; i >= 0; i--) {
        double x = y[i];
        for (int k = n - 1; k > i; k--)
            x -= l[k][i] * f->step[k];
        f->step[i] = x / l[i][i];
        is_finite = is_finite && isfinite(f->step[i]);
    }
    return is_finite;
}

static double between(double x, double low, double high) {
    return x < low ? low : x > high ? high : x;
}

/* Clips the eigenvalues of a form; true if one is raised to its bound. */
static bool bound_form(double *c, double widest) {
    const double mean = (c[FIT_P] + c[FIT_R]) / 2, difference = (c[FIT_P] - c[FIT_R]) / 2;
    const double half = sqrt(difference * difference + c[FIT_Q] * c[FIT_Q]);
    const double low = between(mean - half, 1 / (widest * widest), 4);
    const double high = between(mean + half, 1 / (widest * widest), 4);
    if (low == mean - half && high == mean + half)
        return false;
    const double cosine = half > 0 ? difference / half : 1, sine = half > 0 ? c[FIT_Q] / half : 0;
    c[FIT_P] = (high + low) / 2 + (high - low) / 2 * cosine;
    c[FIT_Q] = (high - low) / 2 * sine;
    c[FIT_R] = (high + low) / 2 - (high - low) / 2 * cosine;
    return low > mean - half || high > mean + half;
}

/* Makes the trial of a step; true if a bound holds a centre or an upper width. */
static bool take_step(const struct fit *f, const struct fit_set *set, const struct fit_set *start,
                      struct fit_set *trial) {
    bool hit = false;
    *trial = *set;
    for (int i = 0, column = 0; i < set->n; i++) {
        double *c = trial->value[i];
        for (int k = 0; k < parameters_of(set, i); k++)
            c[k] += f->step[column++];
        const double u = c[FIT_U] - start->value[i][FIT_U], v = c[FIT_V] - start->value[i][FIT_V];
        const double way = sqrt(u * u + v * v);
        if (c[FIT_PEAK] < 1e-3)
            c[FIT_PEAK] = 1e-3;
        if (way > 2) {
            c[FIT_U] = start->value[i][FIT_U] + u * (2 / way);
            c[FIT_V] = start->value[i][FIT_V] + v * (2 / way);
            hit = true;
        }
        if (set->is_free[i] && bound_form(c, f->widest))
            hit = true;
    }
    return hit;
}

/* --- fit --- */

static double minimise(struct fit *f, struct fit_set *set, bool *hit) {
    const struct fit_set start = *set;
    double damping = 1e-3, chi2 = evaluate(f, set);
    *hit = false;
    for (int round = 0; round < f->limits.rounds; round++) {
        const int n = make_equations(f, set);
        struct fit_set trial;
        double trial_chi2 = 0;
        bool trial_hit = false, is_better = false;
        for (int tries = 0; tries < 12 && !is_better; tries++) {
            if (solve(f, n, damping)) {
                trial_hit = take_step(f, set, &start, &trial);
                trial_chi2 = evaluate(f, &trial);
                is_better = trial_chi2 < chi2;
            }
            if (!is_better)
                damping *= 10;
        }
        if (!is_better) {
            evaluate(f, set);
            break;
        }
        const double gain = chi2 - trial_chi2, tolerance = f->limits.tolerance;
        *set = trial;
        *hit = trial_hit;
        chi2 = trial_chi2;
        damping = fmax(damping / 10, 1e-9);
        if (gain < tolerance && gain < tolerance * fmax(chi2, 1e-12) / f->n_used)
            break;
    }
    return chi2;
}

/* --- steps --- */

static void append(struct fit_set *set, double peak, double u, double v) {
    const double c[FIT_PARAMETERS] = {peak, u, v, 1, 0, 1};
    memcpy(set->value[set->n], c, sizeof c);
    set->source[set->n] = -1;
    set->is_free[set->n++] = false;
}

/* Whether a quarter of component i's square is on the pixels, and one is near its centre. */
static bool is_held(const struct fit *f, const struct fit_set *set, int i) {
    const double *c = set->value[i];
    const double square = fmax(c[FIT_P] * c[FIT_R] - c[FIT_Q] * c[FIT_Q], 0);
    const double reach = 0.471 + sqrt(f->pixel_area) / 2;
    bool is_near = false;
    for (int k = 0; k < f->n; k++) {
        const double du = f->u[k] - c[FIT_U], dv = f->v[k] - c[FIT_V];
        is_near = is_near || du * du + dv * dv < reach * reach;
    }
    for (int k = 0; k < f->n_all; k++)
        f->terms[k] = k < f->n ? f->shape[i][k] * f->shape[i][k] : 0;
    return sum_terms(f) * f->pixel_area * sqrt(square) / 3.141592653589793 >= 0.25 && is_near;
}

static void widths_of(const double *c, double *major, double *minor) {
    const double mean = (c[FIT_P] + c[FIT_R]) / 2, difference = (c[FIT_P] - c[FIT_R]) / 2;
    const double half = sqrt(difference * difference + c[FIT_Q] * c[FIT_Q]);
    *major = 1 / sqrt(mean - half > 1e-9 ? mean - half : 1e-9);
    *minor = 1 / sqrt(mean + half);
}

/* The errors of both widths: Condon 1997 with the exponents of 1998. */
static void errors_of(const double *c, double *e_major, double *e_minor) {
    double major, minor;
    widths_of(c, &major, &minor);
    const double a = 1 + 1 / (major * major), b = 1 + 1 / (minor * minor);
    const double common = 8 / (major * minor * c[FIT_PEAK] * c[FIT_PEAK] * sqrt(a * b));
    *e_major = major * sqrt(common / (a * a));
    *e_minor = minor * sqrt(common / (b * b));
}

static bool is_needle(const double *c) {
    double major, minor, e_major, e_minor;
    widths_of(c, &major, &minor);
    errors_of(c, &e_major, &e_minor);
    return major > 1.25 && minor + 3 * e_minor < 0.8;
}

/* The last component without a peak, that the pixels do not hold, or that is a needle; or -1. */
static int find_loose(const struct fit *f, const struct fit_set *set) {
    int loose = set->n - 1;
    while (loose >= 0 && set->value[loose][FIT_PEAK] >= 1 && is_held(f, set, loose) &&
           !(f->has_beam && is_needle(set->value[loose])))
        loose--;
    return loose;
}

static void put_back(struct fit_set *set, int i, const struct fit_set *start) {
    const double shape[] = {1, 0, 1};
    for (int j = 0; j < start->n; j++)
        if (start->source[j] == set->source[i])
            memcpy(set->value[i], start->value[j], FIT_P * sizeof *shape);
    memcpy(set->value[i] + FIT_P, shape, sizeof shape);
    set->is_free[i] = false;
}

static void drop(struct fit_set *set, int i) {
    const size_t n_after = (size_t)(--set->n - i);
    memmove(set->value[i], set->value[i + 1], n_after * sizeof *set->value);
    memmove(set->is_free + i, set->is_free + i + 1, n_after * sizeof *set->is_free);
    memmove(set->source + i, set->source + i + 1, n_after * sizeof *set->source);
}

/* *most: what chi^2 may be after step 2. */
static double fit_sources(struct fit *f, const struct fit_set *start, struct fit_set *set,
                          double *most) {
    const double beam = 2 * 3.141592653589793 / f->pixel_area;
    double chi2 = 0;
    *most = INFINITY;
    for (int loose = 0; loose >= 0 && set->n > 0;) {
        bool hit;
        chi2 = minimise(f, set, &hit);
        loose = find_loose(f, set);
        if (loose >= 0 && set->is_free[loose] && f->has_beam) {
            put_back(set, loose, start);
            *most = start->n == 1 ? chi2 + 20.0 * beam : INFINITY;
        } else if (loose >= 0) {
            drop(set, loose);
        }
    }
    return chi2;
}

/* Whether the last component of a set may stay. */
static bool may_stay(const struct fit *f, const struct fit_set *set) {
    return set->value[set->n - 1][FIT_PEAK] >= 5 && find_loose(f, set) < 0;
}

/* Adds one component, first with the beam's shape; false if it may not stay. */
static bool add_component(struct fit *f, int highest, double *chi2, struct fit_set *set) {
    const struct fit_set before = *set;
    bool hit;
    append(set, f->rest[highest], f->u[highest], f->v[highest]);
    const double with_beam = minimise(f, set, &hit);
    if (!(with_beam < *chi2) || !may_stay(f, set)) {
        *set = before;
        return false;
    }
    const struct fit_set beam = *set;
    *chi2 = with_beam;
    if (f->shapes == FIT_SHAPES_BEAM)
        return true;
    set->is_free[set->n - 1] = true;
    *chi2 = minimise(f, set, &hit);
    if (*chi2 < (f->shapes == FIT_SHAPES_FREE ? 1 : 0.8) * with_beam && may_stay(f, set))
        return true;
    *set = beam;
    *chi2 = evaluate(f, set);
    return true;
}

static double add_components(struct fit *f, int n_inside, double chi2, struct fit_set *set) {
    for (int added = 0; added < 3; added++) {
        int highest = -1;
        for (int k = 0; k < n_inside; k++)
            if (f->rest[k] > (highest < 0 ? -INFINITY : f->rest[highest]))
                highest = k;
        if (highest < 0 || !(f->rest[highest] > 4) || !add_component(f, highest, &chi2, set))
            break;
    }
    return chi2;
}

/* Two points in place of component k. */
static void divide(struct fit_set *set, int k) {
    const double *c = set->value[k];
    const double difference = (c[FIT_P] - c[FIT_R]) / 2;
    const double half = sqrt(difference * difference + c[FIT_Q] * c[FIT_Q]);
    double major, minor;
    widths_of(c, &major, &minor);
    /* half the angle whose cosine and sine these are, which is that of the major axis */
    const double cosine = -(c[FIT_P] - c[FIT_R]) / 2 / half, sine = -c[FIT_Q] / half;
    const double larger = sqrt((1 + fabs(cosine)) / 2), smaller = sine / (2 * larger);
    const double apart = sqrt(fmax(major * major - 1, 0.2));
    const double du = apart * (cosine >= 0 ? larger : smaller);
    const double dv = apart * (cosine >= 0 ? smaller : larger);
    const double peak = c[FIT_PEAK] * 0.5 * major * minor, u = c[FIT_U], v = c[FIT_V];
    const double first[FIT_PARAMETERS] = {peak, u + du, v + dv, 1, 0, 1};
    append(set, peak, u - du, v - dv);
    memcpy(set->value[k], first, sizeof first);
    set->is_free[k] = false;
}

/* Exchanges two components of the beam's shape. */
static void exchange(double *a, double *b) {
    double kept[FIT_P];
    memcpy(kept, a, sizeof kept);
    memcpy(a, b, sizeof kept);
    memcpy(b, kept, sizeof kept);
}

static double divide_elongated(struct fit *f, double chi2, struct fit_set *set) {
    const int n = set->n;
    for (int k = 0; k < n && set->n < 8; k++) {
        double major, minor;
        bool hit;
        widths_of(set->value[k], &major, &minor);
        if (!set->is_free[k] || !(major > 1.25) || !(major > 1.25 * minor))
            continue;
        const struct fit_set before = *set;
        divide(set, k);
        const double now = minimise(f, set, &hit);
        const double *a = set->value[k], *b = set->value[set->n - 1];
        const double du = a[FIT_U] - b[FIT_U], dv = a[FIT_V] - b[FIT_V];
        if (now < 0.8 * chi2 && a[FIT_PEAK] >= 5 && b[FIT_PEAK] >= 5 &&
            sqrt(du * du + dv * dv) > 1.4 && find_loose(f, set) < 0) {
            chi2 = now;
            if (b[FIT_PEAK] > a[FIT_PEAK])
                exchange(set->value[k], set->value[set->n - 1]);
        } else {
            *set = before;
        }
    }
    return chi2;
}

static void set_beam_shapes(struct fit_set *set, struct fit_before *fits) {
    for (int i = 0; i < set->n; i++) {
        double *c = set->value[i], major, minor, e_major, e_minor;
        widths_of(c, &major, &minor);
        errors_of(c, &e_major, &e_minor);
        if (!set->is_free[i] || !(major - 1 < 2 * e_major) || !(minor - 1 < 2 * e_minor) ||
            !(1 - major < 3 * e_major) || !(1 - minor < 3 * e_minor))
            continue;
        fits[i].flux = c[FIT_PEAK] * major * minor;
        c[FIT_P] = c[FIT_R] = 1;
        c[FIT_Q] = 0;
        set->is_free[i] = false;
    }
}

static void test_beam(struct fit *f, double most, struct fit_set *set, struct fit_before *fits) {
    const struct fit_set before = *set;
    set_beam_shapes(set, fits);
    if (!(evaluate(f, set) <= most)) {
        *set = before;
        evaluate(f, set);
    }
}

static void weigh_all(struct fit *f) {
    for (int k = 0; k < f->n_all; k++)
        f->weight[k] = k < f->n ? 1 : 0;
    f->n_used = f->n;
}

/* The core of component i at pixel k. */
static double core_at(const struct fit *f, const struct fit_set *set, int i, int k) {
    const double *c = set->value[i];
    const double area = 1 / sqrt(c[FIT_P] * c[FIT_R] - c[FIT_Q] * c[FIT_Q]);
    const double exponent = f->has_beam && area > 1 ? 2 / (area * sqrt(area)) : 2;
    return exponent == 2 ? f->shape[i][k] * f->shape[i][k] : gaussian(f, c, exponent, k);
}

static void weigh_core(struct fit *f, const struct fit_set *set) {
    f->n_used = 0;
    for (int k = 0; k < f->n; k++) {
        double core = 0;
        for (int i = 0; i < set->n; i++)
            core = fmax(core_at(f, set, i, k), core);
        f->n_used += core > 0.02;
        f->weight[k] = core > 0.02 ? core : 0;
    }
}

/* Fits with the weights as they are; returns chi^2 without weights. */
static double improve(struct fit *f, struct fit_set *set) {
    const struct fit_set before = *set;
    bool hit;
    minimise(f, set, &hit);
    weigh_all(f);
    evaluate(f, set);
    if (hit || find_loose(f, set) >= 0)
        *set = before;
    return evaluate(f, set);
}

static void fit_core(struct fit *f, double most, struct fit_set *set) {
    const struct fit_set wide = *set;
    evaluate(f, set);
    weigh_core(f, set);
    if (f->n_used < 7 * set->n)
        return;
    if (improve(f, set) <= most)
        return;
    *set = wide;
    improve(f, set);
}

static void refine(struct fit *f, struct fit_job *job, double chi2, double most_for_points,
                   struct fit_set *set) {
    if (f->has_beam)
        chi2 = add_components(f, job->n_inside, chi2, set);
    if (!(chi2 <= most_for_points))
        set->n = 0;
    if (set->n == 0)
        return;
    const bool chooses = f->has_beam && f->shapes == FIT_SHAPES_CHOSEN;
    if (chooses)
        chi2 = divide_elongated(f, chi2, set);
    const double most = chi2 + 20.0 * set->n * (2 * 3.141592653589793 / f->pixel_area);
    for (int i = 0; i < set->n; i++) {
        const double *c = set->value[i];
        job->before[i] = set->is_free[i] ? (struct fit_before){0, c[FIT_P], c[FIT_Q], c[FIT_R]}
                                         : (struct fit_before){0, 0, 0, 0};
    }
    if (chooses)
        test_beam(f, most, set, job->before);
    fit_core(f, most, set);
}

/* --- memory --- */

static void load(struct fit *f, const struct fit_frame *frame, const struct fit_pixel *pixels) {
    double *memory = calloc((size_t)f->n_all * (6 + FIT_MOST + COLUMNS) + 1, sizeof *memory);
    double **const arrays[] = {&f->u, &f->v, &f->data, &f->weight, &f->rest, &f->terms};
    for (int i = 0; i < 6; i++, memory += f->n_all)
        *arrays[i] = memory;
    for (int i = 0; i < FIT_MOST; i++, memory += f->n_all)
        f->shape[i] = memory;
    for (int i = 0; i < COLUMNS; i++, memory += f->n_all)
        f->slope[i] = memory;
    for (int k = 0; k < f->n; k++) {
        f->u[k] = frame->ux * pixels[k].x + frame->uy * pixels[k].y;
        f->v[k] = frame->vy * pixels[k].y;
        f->data[k] = pixels[k].value;
    }
    f->pixel_area = frame->ux * frame->vy;
    weigh_all(f);
}

void oracle_fit(const struct fit_pixel *pixels, struct fit_job *job) {
    const struct fit_frame *const frame = &job->frame;
    const int n = job->n_pixels;
    struct fit *f = calloc(1, sizeof *f);
    struct fit_set set = job->set;
    *f = (struct fit){.limits = job->limits,
                      .has_beam = frame->has_beam,
                      .shapes = frame->shapes,
                      .widest = job->widest,
                      .n = n,
                      .n_all = (n + FIT_LANES - 1) / FIT_LANES * FIT_LANES};
    job->is_fitted = n > FIT_PARAMETERS * job->set.n;
    if (job->is_fitted) {
        load(f, frame, pixels + job->first);
        double most_for_points, chi2 = fit_sources(f, &job->set, &set, &most_for_points);
        if (!job->only_free && set.n > 0)
            refine(f, job, chi2, most_for_points, &set);
        job->is_fitted = set.n > 0;
        for (int i = 0; i < set.n * FIT_PARAMETERS; i++)
            job->is_fitted =
                job->is_fitted && isfinite(set.value[i / FIT_PARAMETERS][i % FIT_PARAMETERS]);
        free(f->u);
    }
    for (int i = 0; job->is_fitted && i < set.n; i++) {
        memcpy(job->set.value[i], set.value[i], sizeof set.value[i]);
        job->set.is_free[i] = set.is_free[i];
        job->set.source[i] = set.source[i];
        job->set.n = set.n;
    }
    free(f);
}
