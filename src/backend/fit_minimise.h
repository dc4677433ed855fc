/* Least squares of Gaussians by Levenberg and Marquardt (Marquardt 1963, J. SIAM 11, 431), with
 * analytic derivatives and bounds.
 *
 * A round makes the normal equations, block by block of two components, solves them by Cholesky
 * with the diagonal enlarged by the damping x its mean over all directions, and clips the trial to
 * the bounds: peaks above 0, centres within 2 beam sigmas of their start, widths from half a beam
 * to `widest`. A step that lowers chi^2 is taken, and the damping falls to a tenth; else it rises
 * tenfold, at most 12 times. The fit ends when a step gains less than the tolerance, or when no
 * step does.
 *
 * Always: chi^2 never rises; sums are 32 partial sums that are added in one order (fit_lanes.h), so
 * that each processor and the GPU give the same bits.
 *
 * Cost: a round takes pixels x (parameters)^2 / 2 products, less those of components that do not
 * reach a pixel; memory for the matrices of 66 columns, and 6 + components arrays of the pixels.
 * Compiled for vectors of the CPU and for a GPU. */
#ifndef FIT_MINIMISE_H
#define FIT_MINIMISE_H

#include "backend/fit_lanes.h"

#define EXP lanes_exp
#define EXP_FUNCTION FIT_FUNCTION
#define REAL lanes
#define FROM_BITS lanes_from_bits
#define TO_BITS lanes_to_bits
#include "backend/fit_exp.inc"

enum {
    FIT_COLUMNS = FIT_MOST * FIT_PARAMETERS,
    FIT_MATRIX = FIT_COLUMNS * (FIT_COLUMNS + 1) / 2,
    FIT_FIXED = 3,  /* parameters of a component that keeps the beam's shape: peak, u, v */
    FIT_TRIES = 12, /* of a step, each damped ten times as much as the one before */
};

static const double FIT_NARROWEST = 0.5; /* beams */
static const double FIT_REACH = 2;       /* beam sigmas from a component's start */

/* The memory of a fit, beside its pixels. */
struct fit_memory {
    struct fit_set now, start, trial, kept, wide;
    int32_t first[FIT_MOST + 1]; /* each component's first column */
    int32_t hit[FIT_MOST];       /* whether a bound holds a trial's component */
    double matrix[FIT_MATRIX];   /* lower triangle, row by row */
    double factor[FIT_MATRIX];
    double gradient[FIT_COLUMNS], right[FIT_COLUMNS], step[FIT_COLUMNS];
    double scale[FIT_COLUMNS]; /* damping x scale is added to the diagonal */
};

/* The pixels of a fit. Arrays have n_padded elements, a multiple of FIT_LANES; those beyond n have
 * weight 0. */
struct fit_space {
    double *u, *v, *data, *weight;
    double *rest;     /* (data - model) weight */
    double *g;        /* of each component its Gaussian without the peak; n_padded apart */
    int32_t *reached; /* of each FIT_VECTOR pixels: bit i is set if component i reaches one */
    struct fit_memory *memory;
    int32_t n, n_padded;
    double n_used; /* pixels with a weight */
    double widest;
    double pixel_area; /* in squares of beam sigmas */
    struct fit_limits limits;
    bool has_beam;
    enum fit_shapes shapes;
};

enum { FIT_ARRAYS = 6 + FIT_MOST }; /* of n_padded elements, that a space has */

/* The least multiple of FIT_LANES that is not less than n. */
FIT_FUNCTION int32_t fit_padded(int32_t n) {
    return (n + FIT_LANES - 1) / FIT_LANES * FIT_LANES;
}

/* How a fit ended. */
struct fit_end {
    double chi2;
    bool hit; /* a bound holds a centre, or an upper width */
};

FIT_FUNCTION void fit_copy_set(struct fit_set *to, const struct fit_set *from) {
    const int n = from->n;
    FIT_SYNC();
    FIT_EACH (i, n * FIT_PARAMETERS)
        to->value[i / FIT_PARAMETERS][i % FIT_PARAMETERS] =
            from->value[i / FIT_PARAMETERS][i % FIT_PARAMETERS];
    FIT_EACH (i, n) {
        to->is_free[i] = from->is_free[i];
        to->source[i] = from->source[i];
    }
    FIT_EACH (i, 1)
        to->n = n;
    FIT_SYNC();
}

/* --- model --- */

/* The squares of the distances of the pixels from k on from a component, in its sigmas. */
FIT_FUNCTION lanes fit_squares(const struct fit_space *s, const double *c, int k) {
    const lanes du = lanes_load(s->u + k) - c[FIT_U], dv = lanes_load(s->v + k) - c[FIT_V];
    return du * du * c[FIT_P] + du * dv * (2 * c[FIT_Q]) + dv * dv * c[FIT_R];
}

/* A Gaussian without its peak at these squares. */
FIT_FUNCTION lanes fit_gaussian(lanes squares) {
    const lanes reach = lanes_all(GAUSSIAN_REACH);
    const lanes g = lanes_exp(lanes_max(squares * -0.5, reach * -0.5));
    return lanes_where_above(reach, squares, g);
}

/* Stores the Gaussians of all components at the pixels from k on, and which of them are not all 0.
 * Returns the model. */
FIT_FUNCTION lanes fit_model(const struct fit_space *s, const struct fit_set *set, int k) {
    lanes model = lanes_all(0);
    int32_t reached = 0;
    for (int i = 0; i < set->n; i++) {
        const lanes squares = fit_squares(s, set->value[i], k);
        lanes g = lanes_all(0);
        if (lanes_any_above(lanes_all(GAUSSIAN_REACH), squares)) {
            g = fit_gaussian(squares);
            model += g * set->value[i][FIT_PEAK];
            reached |= 1 << i;
        }
        lanes_store(s->g + (int64_t)i * s->n_padded + k, g);
    }
    FIT_EACH (once, 1)
        s->reached[k / FIT_VECTOR] = reached;
    return model;
}

/* Stores the Gaussians of all components and the residual; returns chi^2. */
FIT_SEPARATE double fit_evaluate(const struct fit_space *s, const struct fit_set *set) {
    FIT_SUMS(chi2, 1);
    FIT_EACH_LANES (first) {
        lanes sum = lanes_all(0);
        for (int k = first; k < s->n_padded; k += FIT_LANES) {
            const lanes model = fit_model(s, set, k);
            const lanes rest = (lanes_load(s->data + k) - model) * lanes_load(s->weight + k);
            lanes_store(s->rest + k, rest);
            sum += rest * rest;
        }
        lanes_keep(chi2[0], first, sum);
    }
    const double total = lanes_total(chi2[0]);
    FIT_SYNC();
    return total;
}

/* --- normal equations --- */

/* The weighted derivatives of the model by the first n parameters of component i. */
FIT_FUNCTION void fit_slopes(const struct fit_space *s, const double *c, int i, int n, int k,
                             lanes *slope) {
    const lanes du = lanes_load(s->u + k) - c[FIT_U], dv = lanes_load(s->v + k) - c[FIT_V];
    const lanes g = lanes_load(s->g + (int64_t)i * s->n_padded + k) * lanes_load(s->weight + k);
    const lanes ag = g * c[FIT_PEAK];
    slope[FIT_PEAK] = g;
    slope[FIT_U] = ag * (du * c[FIT_P] + dv * c[FIT_Q]);
    slope[FIT_V] = ag * (du * c[FIT_Q] + dv * c[FIT_R]);
    if (n == FIT_FIXED)
        return;
    const lanes half = ag * -0.5;
    slope[FIT_P] = half * du * du;
    slope[FIT_Q] = ag * du * dv * -1.0;
    slope[FIT_R] = half * dv * dv;
}

/* Sums the products of the derivatives of components i and j (j <= i), by n_i and n_j parameters;
 * if i is j, only the lower triangle, and the products with the residual. Pixels that one of them
 * does not reach add 0, and are left out. */
FIT_FUNCTION void fit_block(const struct fit_space *s, const struct fit_set *set, int i, int j,
                            const int n_i, const int n_j, const bool is_same) {
    struct fit_memory *m = s->memory;
    const int32_t both = 1 << i | 1 << j;
    const int n_sums = (is_same ? n_i + 1 : n_i) * n_j;
    FIT_SUMS(totals, (FIT_PARAMETERS + 1) * FIT_PARAMETERS);
    FIT_EACH_LANES (first) {
        lanes sums[(FIT_PARAMETERS + 1) * FIT_PARAMETERS];
        FIT_UNROLL for (int a = 0; a < n_sums; a++) sums[a] = lanes_all(0);
        for (int k = first; k < s->n_padded; k += FIT_LANES) {
            if ((s->reached[k / FIT_VECTOR] & both) != both)
                continue;
            lanes x[FIT_PARAMETERS], y[FIT_PARAMETERS];
            fit_slopes(s, set->value[i], i, n_i, k, x);
            if (!is_same)
                fit_slopes(s, set->value[j], j, n_j, k, y);
            const lanes rest = lanes_load(s->rest + k);
            FIT_UNROLL for (int a = 0; a < n_i; a++) {
                FIT_UNROLL for (int b = 0; b < n_j; b++) {
                    if (!is_same || b <= a)
                        sums[a * n_j + b] += x[a] * (is_same ? x[b] : y[b]);
                }
                if (is_same)
                    sums[n_i * n_j + a] += x[a] * rest;
            }
        }
        FIT_UNROLL for (int a = 0; a < n_sums; a++) lanes_keep(totals[a], first, sums[a]);
    }
    FIT_UNROLL for (int a = 0; a < n_i; a++) {
        const int row = m->first[i] + a;
        double *const to = m->matrix + row * (row + 1) / 2 + m->first[j];
        FIT_UNROLL for (int b = 0; b < n_j; b++) {
            if (is_same && b > a)
                continue;
            const double total = lanes_total(totals[a * n_j + b]);
            FIT_EACH (once, 1)
                to[b] = total;
        }
        if (is_same) {
            const double total = lanes_total(totals[n_i * n_j + a]);
            FIT_EACH (once, 1)
                m->gradient[row] = total;
        }
    }
}

/* Instances of fit_block whose numbers of parameters are constants. */
#define FIT_BLOCK(name, n_i, n_j, is_same)                                                         \
    FIT_SEPARATE void name(const struct fit_space *s, const struct fit_set *set, int i, int j) {   \
        fit_block(s, set, i, j, n_i, n_j, is_same);                                                \
    }
FIT_BLOCK(fit_block_free, FIT_PARAMETERS, FIT_PARAMETERS, false)
FIT_BLOCK(fit_block_free_fixed, FIT_PARAMETERS, FIT_FIXED, false)
FIT_BLOCK(fit_block_fixed_free, FIT_FIXED, FIT_PARAMETERS, false)
FIT_BLOCK(fit_block_fixed, FIT_FIXED, FIT_FIXED, false)
FIT_BLOCK(fit_block_same_free, FIT_PARAMETERS, FIT_PARAMETERS, true)
FIT_BLOCK(fit_block_same_fixed, FIT_FIXED, FIT_FIXED, true)
#undef FIT_BLOCK

/* The diagonal element of the matrix in row `row`. */
FIT_FUNCTION double fit_diagonal(const struct fit_memory *m, int row) {
    return m->matrix[row * (row + 1) / 2 + row];
}

/* Sets the scales of each component: of its peak the diagonal; of its centre, and of its form, a
 * symmetric matrix, the mean of the diagonal over all directions of the axes. With the diagonal
 * itself (Marquardt's choice) a step would depend on the orientation of the image. */
FIT_FUNCTION void fit_set_scales(struct fit_memory *m, const struct fit_set *set) {
    FIT_EACH (i, set->n) {
        const int row = m->first[i];
        double *const scale = m->scale + row;
        scale[FIT_PEAK] = fit_diagonal(m, row + FIT_PEAK);
        scale[FIT_U] = scale[FIT_V] =
            (fit_diagonal(m, row + FIT_U) + fit_diagonal(m, row + FIT_V)) / 2;
        if (!set->is_free[i])
            continue;
        scale[FIT_P] = scale[FIT_R] = (fit_diagonal(m, row + FIT_P) + fit_diagonal(m, row + FIT_R) +
                                       fit_diagonal(m, row + FIT_Q) / 2) /
                                      3;
        scale[FIT_Q] = 2 * scale[FIT_P];
    }
}

/* Sets matrix and gradient, for the model that fit_evaluate had last; returns the number of
 * columns. */
FIT_FUNCTION int fit_normal_equations(const struct fit_space *s, const struct fit_set *set) {
    struct fit_memory *m = s->memory;
    int n = 0;
    for (int i = 0; i < set->n; i++) {
        FIT_EACH (once, 1)
            m->first[i] = n;
        n += set->is_free[i] ? FIT_PARAMETERS : FIT_FIXED;
    }
    FIT_SYNC();
    for (int i = 0; i < set->n; i++) {
        for (int j = 0; j < i; j++) {
            if (set->is_free[i] && set->is_free[j])
                fit_block_free(s, set, i, j);
            else if (set->is_free[i])
                fit_block_free_fixed(s, set, i, j);
            else if (set->is_free[j])
                fit_block_fixed_free(s, set, i, j);
            else
                fit_block_fixed(s, set, i, j);
        }
        if (set->is_free[i])
            fit_block_same_free(s, set, i, i);
        else
            fit_block_same_fixed(s, set, i, i);
    }
    FIT_SYNC();
    fit_set_scales(m, set);
    FIT_SYNC();
    return n;
}

/* --- a step --- */

/* Factors the damped matrix as L L^T (Cholesky), column by column, and solves L y = gradient; false
 * if it is not positive definite. The diagonal of L goes to `step`. */
FIT_FUNCTION bool fit_factor(struct fit_memory *m, int n, double damping) {
    double *const l = m->factor, *const y = m->right;
    FIT_SYNC();
    FIT_EACH (i, n * (n + 1) / 2)
        l[i] = m->matrix[i];
    FIT_EACH (i, n)
        y[i] = m->gradient[i];
    FIT_SYNC();
    for (int j = 0; j < n; j++) {
        const double pivot =
            l[j * (j + 1) / 2 + j] + damping * (m->scale[j] > 1e-12 ? m->scale[j] : 1e-12);
        if (!(pivot > 0))
            return false;
        const double root = sqrt(pivot), y_j = y[j] / root;
        FIT_SYNC();
        FIT_EACH (i, n)
            if (i > j) {
                l[i * (i + 1) / 2 + j] /= root;
                y[i] -= l[i * (i + 1) / 2 + j] * y_j;
            } else if (i == j) {
                m->step[j] = root;
                y[j] = y_j;
            }
        FIT_SYNC();
        FIT_EACH (i, n)
            for (int k = j + 1; k <= i; k++)
                l[i * (i + 1) / 2 + k] -= l[i * (i + 1) / 2 + j] * l[k * (k + 1) / 2 + j];
        FIT_SYNC();
    }
    return true;
}

/* Solves (matrix + damping diag(scale)) step = gradient; false if that is not possible. */
FIT_FUNCTION bool fit_solve(struct fit_memory *m, int n, double damping) {
    if (!fit_factor(m, n, damping))
        return false;
    double *const y = m->right;
    bool is_finite = true;
    for (int j = n - 1; j >= 0; j--) {
        const double x_j = y[j] / m->step[j];
        is_finite = is_finite && x_j - x_j == 0;
        FIT_SYNC();
        FIT_EACH (i, j + 1)
            if (i < j)
                y[i] -= m->factor[j * (j + 1) / 2 + i] * x_j;
            else
                m->step[j] = x_j;
        FIT_SYNC();
    }
    return is_finite;
}

/* --- bounds --- */

/* The eigenvalues of a component's form: mean + half and mean - half. */
struct fit_form {
    double mean, half;
};

FIT_FUNCTION struct fit_form fit_form_of(const double *c) {
    const double difference = (c[FIT_P] - c[FIT_R]) / 2;
    const struct fit_form form = {(c[FIT_P] + c[FIT_R]) / 2,
                                  sqrt(difference * difference + c[FIT_Q] * c[FIT_Q])};
    return form;
}

FIT_FUNCTION double fit_clip(double x, double low, double high) {
    return x < low ? low : x > high ? high : x;
}

/* Clips the widths between their bounds; true if the upper one holds. */
FIT_FUNCTION bool fit_bound_form(double *c, double widest) {
    const struct fit_form form = fit_form_of(c);
    const double least = 1 / (widest * widest), most = 1 / (FIT_NARROWEST * FIT_NARROWEST);
    const double high = fit_clip(form.mean + form.half, least, most);
    const double low = fit_clip(form.mean - form.half, least, most);
    if (high == form.mean + form.half && low == form.mean - form.half)
        return false;
    const double cosine = form.half > 0 ? (c[FIT_P] - c[FIT_R]) / 2 / form.half : 1;
    const double sine = form.half > 0 ? c[FIT_Q] / form.half : 0;
    const double mean = (high + low) / 2, half = (high - low) / 2;
    c[FIT_P] = mean + half * cosine;
    c[FIT_Q] = half * sine;
    c[FIT_R] = mean - half * cosine;
    return high > form.mean + form.half || low > form.mean - form.half;
}

/* Clips a component's peak, centre and widths; true if a bound holds the centre or the upper width.
 */
FIT_FUNCTION bool fit_bound(double *c, const double *start, bool is_free, double widest) {
    const double u = c[FIT_U] - start[FIT_U], v = c[FIT_V] - start[FIT_V];
    const double distance = sqrt(u * u + v * v);
    const bool is_far = distance > FIT_REACH;
    if (c[FIT_PEAK] < 1e-3)
        c[FIT_PEAK] = 1e-3;
    if (is_far) {
        c[FIT_U] = start[FIT_U] + u * (FIT_REACH / distance);
        c[FIT_V] = start[FIT_V] + v * (FIT_REACH / distance);
    }
    const bool is_wide = is_free && fit_bound_form(c, widest);
    return is_far || is_wide;
}

/* Makes the trial: the set plus the step, within the bounds. Returns whether a bound holds. */
FIT_FUNCTION bool fit_make_trial(const struct fit_space *s, const struct fit_set *set) {
    struct fit_memory *m = s->memory;
    FIT_EACH (i, set->n) {
        const int n = set->is_free[i] ? FIT_PARAMETERS : FIT_FIXED;
        double c[FIT_PARAMETERS];
        for (int k = 0; k < FIT_PARAMETERS; k++)
            c[k] = set->value[i][k] + (k < n ? m->step[m->first[i] + k] : 0);
        m->hit[i] = fit_bound(c, m->start.value[i], set->is_free[i], s->widest);
        for (int k = 0; k < FIT_PARAMETERS; k++)
            m->trial.value[i][k] = c[k];
        m->trial.is_free[i] = set->is_free[i];
        m->trial.source[i] = set->source[i];
    }
    FIT_EACH (once, 1)
        m->trial.n = set->n;
    FIT_SYNC();
    bool hit = false;
    for (int i = 0; i < set->n; i++)
        hit = hit || m->hit[i];
    return hit;
}

/* --- fit --- */

/* Fits the set, which is also the start. Afterwards the space has the residual of the result. */
FIT_SEPARATE struct fit_end fit_minimise(const struct fit_space *s, struct fit_set *set) {
    struct fit_memory *m = s->memory;
    struct fit_end end = {0, false};
    double damping = 1e-3;
    fit_copy_set(&m->start, set);
    end.chi2 = fit_evaluate(s, set);
    for (int round = 0; round < s->limits.rounds; round++) {
        const int n = fit_normal_equations(s, set);
        double chi2 = end.chi2;
        bool hit = false;
        int tries = 0;
        for (; tries < FIT_TRIES; tries++) {
            if (fit_solve(m, n, damping)) {
                hit = fit_make_trial(s, set);
                chi2 = fit_evaluate(s, &m->trial);
                if (chi2 < end.chi2)
                    break;
            }
            damping *= 10;
        }
        if (tries == FIT_TRIES) {
            fit_evaluate(s, set);
            return end;
        }
        const double gain = end.chi2 - chi2, most = s->limits.tolerance;
        fit_copy_set(set, &m->trial);
        end.chi2 = chi2;
        end.hit = hit;
        damping = damping / 10 > 1e-9 ? damping / 10 : 1e-9;
        if (gain < most * (chi2 > 1e-12 ? chi2 : 1e-12) / s->n_used && gain < most)
            break;
    }
    return end;
}

#endif
