/* Fits the sources of an island by Gaussians, from pixels in units of the rms and one peak a
 * source, in five steps:
 *
 * 1. fit_sources: all sources with free shapes. A component that the pixels do not hold is fitted
 *    again with the beam's shape, and dropped if they do not hold it then.
 * 2. fit_add_residuals: up to three more components, where the residual within the island is above
 *    4 rms.
 * 3. fit_divide_elongated: two points in place of one elongated component, if chi^2 falls below 0.8
 *    of it.
 * 4. fit_test_beam: components as wide as the beam, but for their errors, get the beam's shape,
 *    unless chi^2 then rises too much.
 * 5. fit_core: a last fit in which pixels are weighted by the shape of the components, so that the
 *    outskirts, which other emission disturbs most, do not count.
 *
 * Always: a component that is reported is held by its pixels (fit_is_held), has a peak of at least
 * 1 rms and is no needle. Only steps 1 and 5 are made without a beam; only step 1 in sweeps but for
 * the last.
 *
 * Cost: each step is one least squares of the group (fit_minimise.h), and one more for each
 * component that it tries. Steps and constants are those that measured best of some ninety on skies
 * with known sources; docs/components.md says why. Compiled for vectors of the CPU and for a GPU
 * (fit_lanes.h), with the same bits. */
#ifndef FIT_ISLAND_H
#define FIT_ISLAND_H

#include "backend/fit_minimise.h"

static const double FIT_RESIDUAL = 4;    /* rms: a higher residual is a component */
static const double FIT_LEAST_ADDED = 5; /* rms of its fitted peak */
static const double FIT_LEAST_PEAK = 1;  /* rms of any component's peak */
static const double FIT_COVERED = 0.25;  /* least share of a component's square on fitted pixels */
static const double FIT_BEYOND = 0.471;  /* beam sigmas (FWHM / 5): most from a centre to a pixel */
static const double FIT_ELONGATED = 1.25; /* beams, and axis ratio: a longer one may be two */
static const double FIT_NEEDLE = 0.8;     /* beams: least width of a long component */
static const double FIT_BETTER = 0.8;     /* chi^2 of two points / of one ellipse, and the like */
static const double FIT_APART = 1.4;      /* beam sigmas: least distance of two points */
static const double FIT_WIDER = 2;    /* errors by which a point's width may exceed the beam's, */
static const double FIT_NARROWER = 3; /* and by which it may fall short of it */
static const double FIT_CORE = 0.02;  /* least weight of a pixel of the core */
static const double FIT_WORSE = 20; /* chi^2 a beam and component: by which a result may be worse */

enum { FIT_PIXELS_A_SOURCE = 7 /* of the core, at least */ };

/* Gives all pixels the weight 1. */
FIT_FUNCTION void fit_weigh_all(struct fit_space *s) {
    FIT_EACH (i, s->n_padded)
        s->weight[i] = i < s->n;
    s->n_used = s->n;
    FIT_SYNC();
}

/* Loads the pixels. */
FIT_FUNCTION void fit_load(struct fit_space *s, const struct fit_frame *frame,
                           const struct fit_pixel *pixels) {
    FIT_EACH (i, s->n_padded) {
        const bool is_pixel = i < s->n;
        const double x = is_pixel ? pixels[i].x : 0, y = is_pixel ? pixels[i].y : 0;
        s->u[i] = frame->ux * x + frame->uy * y;
        s->v[i] = frame->vy * y;
        s->data[i] = is_pixel ? pixels[i].value : 0;
    }
    s->pixel_area = frame->ux * frame->vy;
    fit_weigh_all(s);
}

/* --- widths --- */

/* The sigmas along the axes, in beam sigmas. */
struct fit_widths {
    double major, minor;
};

FIT_FUNCTION struct fit_widths fit_widths_of(const double *c) {
    const struct fit_form form = fit_form_of(c);
    const double low = form.mean - form.half;
    const struct fit_widths widths = {1 / sqrt(low > 1e-9 ? low : 1e-9),
                                      1 / sqrt(form.mean + form.half)};
    return widths;
}

/* Relative errors of the axes of a component: sqrt(2) / rho of Condon 1997, PASP 109, 166, with the
 * exponents of Condon et al. 1998, AJ 115, 1693, eq. 26; the beam is the unit circle. */
FIT_FUNCTION struct fit_widths fit_errors_of_widths(const struct fit_widths *w, double peak) {
    const double a = 1 + 1 / (w->major * w->major), b = 1 + 1 / (w->minor * w->minor);
    const double common = 8 / (w->major * w->minor * peak * peak * sqrt(a * b));
    const struct fit_widths errors = {sqrt(common / (a * a)), sqrt(common / (b * b))};
    return errors;
}

/* --- components that the pixels hold --- */

/* Whether the pixels of the fit tell how high component i is: a quarter of the integral of its
 * square is on them (pi sigma_major sigma_minor for a peak of 1), and a pixel is within a fifth of
 * a beam of its centre. For the beam's shape both conditions end a fifth of a beam beyond a
 * straight edge; for wider shapes the first alone would hold far beyond it. The space has the set's
 * Gaussians, and all pixels the weight 1. */
FIT_SEPARATE bool fit_is_held(const struct fit_space *s, const struct fit_set *set, int i) {
    const double *const c = set->value[i];
    const double square = c[FIT_P] * c[FIT_R] - c[FIT_Q] * c[FIT_Q];
    const double reach = FIT_BEYOND + sqrt(s->pixel_area) / 2; /* to the centre of a pixel */
    FIT_SUMS(sums, 2);
    FIT_EACH_LANES (first) {
        lanes squares = lanes_all(0), near = lanes_all(0);
        for (int k = first; k < s->n_padded; k += FIT_LANES) {
            const lanes weight = lanes_load(s->weight + k);
            const lanes g = lanes_load(s->g + (int64_t)i * s->n_padded + k);
            const lanes du = lanes_load(s->u + k) - c[FIT_U], dv = lanes_load(s->v + k) - c[FIT_V];
            squares += g * g * weight;
            near += lanes_where_above(lanes_all(reach * reach), du * du + dv * dv, weight);
        }
        lanes_keep(sums[0], first, squares);
        lanes_keep(sums[1], first, near);
    }
    const double covered =
        lanes_total(sums[0]) * s->pixel_area * sqrt(square > 0 ? square : 0) / 3.141592653589793;
    return lanes_total(sums[1]) > 0 && covered >= FIT_COVERED;
}

/* Whether a component is longer than the beam, and much narrower. Nothing in an image with this
 * beam is so, but a fit without pixels at its ends may become so. */
FIT_FUNCTION bool fit_is_needle(const double *c) {
    const struct fit_widths w = fit_widths_of(c);
    const struct fit_widths e = fit_errors_of_widths(&w, c[FIT_PEAK]);
    return w.major > FIT_ELONGATED && w.minor + 3 * w.minor * e.minor < FIT_NEEDLE;
}

/* The last component that must go: its peak is too low, the pixels do not tell how high it is, or
 * it is a needle. -1: all may stay. */
FIT_FUNCTION int fit_find_loose(const struct fit_space *s, const struct fit_set *set) {
    for (int i = set->n - 1; i >= 0; i--)
        if (!(set->value[i][FIT_PEAK] >= FIT_LEAST_PEAK && fit_is_held(s, set, i)) ||
            (s->has_beam && fit_is_needle(set->value[i])))
            return i;
    return -1;
}

/* Removes component i from a set. */
FIT_FUNCTION void fit_drop(struct fit_set *set, int i) {
    FIT_SYNC();
    FIT_EACH (once, 1) {
        set->n--;
        for (int j = i; j < set->n; j++) {
            for (int k = 0; k < FIT_PARAMETERS; k++)
                set->value[j][k] = set->value[j + 1][k];
            set->is_free[j] = set->is_free[j + 1];
            set->source[j] = set->source[j + 1];
        }
    }
    FIT_SYNC();
}

/* Puts component i back to where it is in the start, with the beam's shape. */
FIT_FUNCTION void fit_put_back(struct fit_set *set, int i, const struct fit_set *start) {
    FIT_SYNC();
    FIT_EACH (once, 1) {
        for (int j = 0; j < start->n; j++)
            for (int k = 0; start->source[j] == set->source[i] && k < FIT_P; k++)
                set->value[i][k] = start->value[j][k];
        set->value[i][FIT_P] = set->value[i][FIT_R] = 1;
        set->value[i][FIT_Q] = 0;
        set->is_free[i] = false;
    }
    FIT_SYNC();
}

/* By how much chi^2 of n components may exceed the best fit's, if they are more likely. */
FIT_FUNCTION double fit_worse(const struct fit_space *s, int n) {
    return FIT_WORSE * n * (2 * 3.141592653589793 / s->pixel_area);
}

/* Step 1: the sources with free shapes. A component that must go is fitted with the beam's shape,
 * if there is a beam, and then dropped if it must go again. Returns chi^2. *most: the largest chi^2
 * with which the only source, which lost its free shape, may stay a point; else infinity. */
FIT_FUNCTION double fit_sources(const struct fit_space *s, const struct fit_set *start,
                                bool has_beam, double *most) {
    struct fit_memory *m = s->memory;
    *most = INFINITY;
    for (;;) {
        const double chi2 = fit_minimise(s, &m->now).chi2;
        const int loose = fit_find_loose(s, &m->now);
        if (loose < 0)
            return chi2;
        if (m->now.is_free[loose] && has_beam) {
            fit_put_back(&m->now, loose, start);
            *most = start->n == 1 ? chi2 + fit_worse(s, 1) : INFINITY;
        } else {
            fit_drop(&m->now, loose);
        }
        if (m->now.n == 0)
            return chi2;
    }
}

/* --- more components --- */

/* The pixel with the greatest residual among the first n, and its residual. */
struct fit_highest {
    double rest;
    int pixel;
};

FIT_FUNCTION struct fit_highest fit_find_highest(const struct fit_space *s, int n) {
    struct fit_highest highest = {-INFINITY, 0};
    FIT_EACH (i, n)
        if (s->rest[i] > highest.rest) {
            highest.rest = s->rest[i];
            highest.pixel = i;
        }
#ifdef __CUDACC__
    for (int step = FIT_LANES / 2; step > 0; step /= 2) {
        const double rest = __shfl_xor_sync(0xffffffffu, highest.rest, step);
        const int pixel = __shfl_xor_sync(0xffffffffu, highest.pixel, step);
        if (rest > highest.rest || (rest == highest.rest && pixel < highest.pixel)) {
            highest.rest = rest;
            highest.pixel = pixel;
        }
    }
#endif
    return highest;
}

/* Adds a component of the beam's shape to a set. */
FIT_FUNCTION void fit_append(struct fit_set *set, double peak, double u, double v) {
    const int n = set->n;
    FIT_SYNC();
    FIT_EACH (once, 1) {
        const double c[FIT_PARAMETERS] = {peak, u, v, 1, 0, 1};
        for (int k = 0; k < FIT_PARAMETERS; k++)
            set->value[n][k] = c[k];
        set->is_free[n] = false;
        set->source[n] = -1;
        set->n = n + 1;
    }
    FIT_SYNC();
}

/* Whether the last component of a set, an added one, may stay. The space has its Gaussians. */
FIT_FUNCTION bool fit_may_stay(const struct fit_space *s, const struct fit_set *set) {
    return set->value[set->n - 1][FIT_PEAK] >= FIT_LEAST_ADDED && fit_find_loose(s, set) < 0;
}

/* Fits the set with a free shape of its last component, and takes the result if it is much better,
 * or better where free shapes are wanted. Returns chi^2; the space has the result's residual. */
FIT_FUNCTION double fit_free_last(const struct fit_space *s, double chi2) {
    struct fit_memory *m = s->memory;
    fit_copy_set(&m->kept, &m->now);
    FIT_EACH (once, 1)
        m->now.is_free[m->now.n - 1] = true;
    FIT_SYNC();
    const struct fit_end end = fit_minimise(s, &m->now);
    const double better = s->shapes == FIT_SHAPES_FREE ? 1 : FIT_BETTER;
    if (end.chi2 < better * chi2 && fit_may_stay(s, &m->now))
        return end.chi2;
    fit_copy_set(&m->now, &m->kept);
    return fit_evaluate(s, &m->now);
}

/* Step 2: components where the residual in the island is high. Returns chi^2. */
FIT_FUNCTION double fit_add_residuals(const struct fit_space *s, int n_inside, double chi2) {
    struct fit_memory *m = s->memory;
    for (int i = 0; i < FIT_ADDED; i++) {
        const struct fit_highest highest = fit_find_highest(s, n_inside);
        if (!(highest.rest > FIT_RESIDUAL))
            break;
        fit_copy_set(&m->kept, &m->now);
        fit_append(&m->now, highest.rest, s->u[highest.pixel], s->v[highest.pixel]);
        const struct fit_end end = fit_minimise(s, &m->now);
        if (!(end.chi2 < chi2) || !fit_may_stay(s, &m->now)) {
            fit_copy_set(&m->now, &m->kept);
            break;
        }
        chi2 = s->shapes == FIT_SHAPES_BEAM ? end.chi2 : fit_free_last(s, end.chi2);
    }
    return chi2;
}

/* Replaces component k by two of the beam's shape, on its major axis on both sides of its centre,
 * at its deconvolved width; the second one goes to the end. */
FIT_FUNCTION void fit_divide(struct fit_set *set, int k) {
    const double *const c = set->value[k];
    const struct fit_widths widths = fit_widths_of(c);
    const struct fit_form form = fit_form_of(c);
    /* twice the angle of the major axis, which is at right angles to the greater eigenvalue's */
    const double cosine = -(c[FIT_P] - c[FIT_R]) / 2 / form.half, sine = -c[FIT_Q] / form.half;
    const double longer = sqrt((1 + fabs(cosine)) / 2), shorter = sine / (2 * longer);
    const double square = widths.major * widths.major - 1;
    const double apart = sqrt(square > 0.2 ? square : 0.2);
    const double du = apart * (cosine >= 0 ? longer : shorter);
    const double dv = apart * (cosine >= 0 ? shorter : longer);
    const double peak = c[FIT_PEAK] * 0.5 * widths.major * widths.minor;
    const double u = c[FIT_U], v = c[FIT_V];
    fit_append(set, peak, u - du, v - dv);
    FIT_EACH (once, 1) {
        const double first[FIT_PARAMETERS] = {peak, u + du, v + dv, 1, 0, 1};
        for (int i = 0; i < FIT_PARAMETERS; i++)
            set->value[k][i] = first[i];
        set->is_free[k] = false;
    }
    FIT_SYNC();
}

/* Whether components i and j of a set are two sources. */
FIT_FUNCTION bool fit_are_two(const struct fit_set *set, int i, int j) {
    const double *const a = set->value[i], *const b = set->value[j];
    const double u = a[FIT_U] - b[FIT_U], v = a[FIT_V] - b[FIT_V];
    return a[FIT_PEAK] >= FIT_LEAST_ADDED && b[FIT_PEAK] >= FIT_LEAST_ADDED &&
           sqrt(u * u + v * v) > FIT_APART;
}

/* Exchanges components i and j, which have the beam's shape, if j is the brighter: component i
 * stands for the source of the division, and must not depend on the orientation of the image. The
 * space keeps the Gaussians of before: evaluate again. */
FIT_FUNCTION void fit_order_two(struct fit_set *set, int i, int j) {
    FIT_SYNC();
    FIT_EACH (once, 1) {
        const bool is_brighter = set->value[j][FIT_PEAK] > set->value[i][FIT_PEAK];
        for (int k = 0; k < FIT_P && is_brighter; k++) {
            const double other = set->value[i][k];
            set->value[i][k] = set->value[j][k];
            set->value[j][k] = other;
        }
    }
    FIT_SYNC();
}

/* Step 3: two points in place of an elongated component. Returns chi^2. */
FIT_FUNCTION double fit_divide_elongated(const struct fit_space *s, double chi2) {
    struct fit_memory *m = s->memory;
    const int n = m->now.n;
    for (int k = 0; k < n && m->now.n < FIT_GROUP; k++) {
        const struct fit_widths widths = fit_widths_of(m->now.value[k]);
        if (!m->now.is_free[k] || widths.major <= FIT_ELONGATED ||
            widths.major <= FIT_ELONGATED * widths.minor)
            continue;
        fit_copy_set(&m->kept, &m->now);
        fit_divide(&m->now, k);
        const struct fit_end end = fit_minimise(s, &m->now);
        const bool are_two = end.chi2 < FIT_BETTER * chi2 &&
                             fit_are_two(&m->now, k, m->now.n - 1) &&
                             fit_find_loose(s, &m->now) < 0;
        if (are_two) {
            chi2 = end.chi2;
            fit_order_two(&m->now, k, m->now.n - 1);
        } else {
            fit_copy_set(&m->now, &m->kept);
        }
    }
    return chi2;
}

/* Whether a width is the beam's, but for its error. */
FIT_FUNCTION bool fit_is_beam_width(double width, double relative_error) {
    const double error = width * relative_error;
    return width - 1 < FIT_WIDER * error && 1 - width < FIT_NARROWER * error;
}

/* Keeps the forms of the components of a set. */
FIT_FUNCTION void fit_keep_forms(const struct fit_set *set, struct fit_before *before) {
    FIT_EACH (i, set->n) {
        const double *const c = set->value[i];
        const struct fit_before form = {0, c[FIT_P], c[FIT_Q], c[FIT_R]}, none = {0, 0, 0, 0};
        before[i] = set->is_free[i] ? form : none;
    }
    FIT_SYNC();
}

/* Gives the beam's shape to the components whose widths are the beam's, but for their errors. Sets
 * what each of them was. */
FIT_FUNCTION void fit_set_beam_shapes(struct fit_set *set, struct fit_before *before) {
    FIT_SYNC();
    FIT_EACH (i, set->n) {
        double *const c = set->value[i];
        const struct fit_widths w = fit_widths_of(c);
        const struct fit_widths e = fit_errors_of_widths(&w, c[FIT_PEAK]);
        if (set->is_free[i] && fit_is_beam_width(w.major, e.major) &&
            fit_is_beam_width(w.minor, e.minor)) {
            before[i].flux = c[FIT_PEAK] * w.major * w.minor;
            c[FIT_P] = c[FIT_R] = 1;
            c[FIT_Q] = 0;
            set->is_free[i] = false;
        }
    }
    FIT_SYNC();
}

/* Step 4: components that look like points get the beam's shape, unless chi^2 then exceeds `most`.
 * The space has the result's Gaussians. */
FIT_FUNCTION void fit_test_beam(const struct fit_space *s, double most, struct fit_before *before) {
    struct fit_memory *m = s->memory;
    fit_copy_set(&m->kept, &m->now);
    fit_set_beam_shapes(&m->now, before);
    if (fit_evaluate(s, &m->now) <= most)
        return;
    fit_copy_set(&m->now, &m->kept);
    fit_evaluate(s, &m->now);
}

/* --- points and core --- */

/* The weight of the core of a component at the pixels from k on, where its Gaussian is g. */
FIT_FUNCTION lanes fit_core_weight(const struct fit_space *s, const double *c, lanes g, int k) {
    const double area = 1 / sqrt(c[FIT_P] * c[FIT_R] - c[FIT_Q] * c[FIT_Q]);
    const double exponent = s->has_beam ? fit_core_exponent(area) : 2;
    if (exponent == 2)
        return g * g;
    const double weight[FIT_PARAMETERS] = {
        1, c[FIT_U], c[FIT_V], exponent * c[FIT_P], exponent * c[FIT_Q], exponent * c[FIT_R]};
    return fit_gaussian(fit_squares(s, weight, k));
}

/* Gives each pixel the highest weight of all components there, and the outskirts 0. The space has
 * the set's Gaussians. */
FIT_FUNCTION void fit_weigh_core(struct fit_space *s, const struct fit_set *set) {
    FIT_SUMS(used, 1);
    FIT_EACH_LANES (first) {
        lanes sum = lanes_all(0);
        for (int k = first; k < s->n_padded; k += FIT_LANES) {
            const lanes one = lanes_load(s->weight + k); /* 0 beyond the pixels */
            lanes core = lanes_all(0);
            for (int i = 0; i < set->n; i++) {
                const lanes g = lanes_load(s->g + (int64_t)i * s->n_padded + k);
                core = lanes_max(fit_core_weight(s, set->value[i], g, k), core);
            }
            const lanes least = lanes_all(FIT_CORE);
            core *= one;
            lanes_store(s->weight + k, lanes_where_above(core, least, core));
            sum += lanes_where_above(core, least, one);
        }
        lanes_keep(used[0], first, sum);
    }
    s->n_used = lanes_total(used[0]);
    FIT_SYNC();
}

/* Fits the set, and takes the result unless a bound stopped it or a component must go. All pixels
 * have the weight 1 afterwards. Returns chi^2 over them. */
FIT_FUNCTION double fit_improve(struct fit_space *s, struct fit_set *set) {
    struct fit_memory *m = s->memory;
    fit_copy_set(&m->kept, set);
    const bool hit = fit_minimise(s, set).hit;
    fit_weigh_all(s);
    const double chi2 = fit_evaluate(s, set);
    if (!hit && fit_find_loose(s, set) < 0)
        return chi2;
    fit_copy_set(set, &m->kept);
    return fit_evaluate(s, set);
}

/* Step 5: the fit of the core, which is reported. If chi^2 of all pixels then exceeds `most`, the
 * source is no Gaussian, and its core says nothing of its outskirts: all pixels are fitted. The
 * space has the set's Gaussians. */
FIT_FUNCTION void fit_core(struct fit_space *s, double most) {
    struct fit_memory *m = s->memory;
    fit_weigh_core(s, &m->now);
    if (s->n_used < FIT_PIXELS_A_SOURCE * m->now.n) {
        fit_weigh_all(s);
        return;
    }
    fit_copy_set(&m->wide, &m->now);
    if (fit_improve(s, &m->now) <= most)
        return;
    fit_copy_set(&m->now, &m->wide);
    fit_improve(s, &m->now);
}

/* Steps 2 to 5. chi2: of step 1. most_for_points: if chi^2 after step 2 is above it, nothing is
 * fitted. */
FIT_FUNCTION void fit_refine(struct fit_space *s, struct fit_job *job, double chi2,
                             double most_for_points) {
    struct fit_memory *m = s->memory;
    if (s->has_beam) {
        chi2 = fit_add_residuals(s, job->n_inside, chi2);
        while (!(chi2 <= most_for_points) && m->now.n > 0)
            fit_drop(&m->now, m->now.n - 1);
        if (m->now.n == 0)
            return;
        if (s->shapes == FIT_SHAPES_CHOSEN)
            chi2 = fit_divide_elongated(s, chi2);
    }
    /* Steps 4 and 5 choose the likely result, not the best fit: chi^2 may rise up to this. */
    const double most = chi2 + fit_worse(s, m->now.n);
    fit_keep_forms(&m->now, job->before);
    if (s->has_beam && s->shapes == FIT_SHAPES_CHOSEN)
        fit_test_beam(s, most, job->before);
    else
        fit_evaluate(s, &m->now);
    fit_core(s, most);
}

FIT_FUNCTION bool fit_is_finite(const struct fit_set *set) {
    bool is_finite = true;
    for (int i = 0; i < set->n; i++)
        for (int k = 0; k < FIT_PARAMETERS; k++)
            is_finite = is_finite && set->value[i][k] - set->value[i][k] == 0;
    return is_finite;
}

/* Carries out a job. `arrays` has room for FIT_ARRAYS of its pixels, padded. */
FIT_FUNCTION void fit_island(struct fit_memory *m, double *arrays, const struct fit_pixel *pixels,
                             struct fit_job *job) {
    const struct fit_frame *const frame = &job->frame;
    struct fit_space space, *const s = &space;
    s->memory = m;
    s->n = job->n_pixels;
    s->n_padded = fit_padded(s->n);
    s->u = arrays;
    s->v = s->u + s->n_padded;
    s->data = s->v + s->n_padded;
    s->weight = s->data + s->n_padded;
    s->rest = s->weight + s->n_padded;
    s->g = s->rest + s->n_padded;
    s->reached = (int32_t *)(void *)(s->g + (int64_t)FIT_MOST * s->n_padded);
    s->widest = job->widest;
    s->limits = job->limits;
    s->has_beam = frame->has_beam;
    s->shapes = frame->shapes;
    const bool is_enough = s->n > FIT_PARAMETERS * job->set.n;
    if (is_enough) {
        fit_load(s, frame, pixels + job->first);
        fit_copy_set(&m->now, &job->set);
        double most;
        const double chi2 = fit_sources(s, &job->set, frame->has_beam, &most);
        if (!job->only_free && m->now.n > 0)
            fit_refine(s, job, chi2, most);
    }
    const bool is_fitted = is_enough && m->now.n > 0 && fit_is_finite(&m->now);
    if (is_fitted)
        fit_copy_set(&job->set, &m->now);
    FIT_EACH (once, 1)
        job->is_fitted = is_fitted;
    FIT_SYNC();
}

#endif
