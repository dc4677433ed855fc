#include "measure/spectrum.h"

#include <math.h>

/* S/N from which a point is used for the start, and there must be two of these. */
static const double LEAST_SNR = 3;

/* A spectrum that rises or falls faster than this is none. */
static const double STEEPEST = 50;

/* Normal equations of a straight line or of a step: [ss sx; sx xx] (a, b) = (sy, xy). */
struct line {
    double ss, sx, xx, sy, xy;
};

static void add(struct line *l, double one, double x, double y, double weight) {
    l->ss += weight * one * one;
    l->sx += weight * one * x;
    l->xx += weight * x * x;
    l->sy += weight * one * y;
    l->xy += weight * x * y;
}

static double determinant(const struct line *l) {
    return l->ss * l->xx - l->sx * l->sx;
}

static bool is_regular(const struct line *l) {
    return determinant(l) > 1e-12 * l->ss * l->xx;
}

/* The logarithm of the flux at x = 0, and the index. */
struct power_law {
    double log_flux, index;
};

static struct power_law solve(const struct line *l) {
    const double d = determinant(l);
    return (struct power_law){(l->xx * l->sy - l->sx * l->xy) / d,
                              (l->ss * l->xy - l->sx * l->sy) / d};
}

static bool is_usable(const struct spectrum_point *p) {
    return isfinite(p->x) && isfinite(p->flux) && p->error > 0;
}

/* The straight line of the logarithms. False with too few points. */
static bool start(const struct spectrum_point *points, int64_t n, struct power_law *law) {
    struct line l = {0};
    for (int64_t i = 0; i < n; i++) {
        const struct spectrum_point *p = &points[i];
        const double snr = p->flux / p->error;
        if (is_usable(p) && snr >= LEAST_SNR)
            add(&l, 1, p->x, log(p->flux), snr * snr);
    }
    if (!is_regular(&l))
        return false;
    *law = solve(&l);
    return true;
}

/* The sum of squares of a power law; *l gets the equations of its next step. */
static double squares(const struct spectrum_point *points, int64_t n, const struct power_law *law,
                      struct line *l) {
    double sum = 0;
    *l = (struct line){0};
    for (int64_t i = 0; i < n; i++) {
        const struct spectrum_point *p = &points[i];
        if (!is_usable(p))
            continue;
        const double model = exp(law->log_flux + law->index * p->x);
        const double weight = 1 / (p->error * p->error), rest = p->flux - model;
        sum += weight * rest * rest;
        add(l, model, model * p->x, rest, weight);
    }
    return sum;
}

/* Gauss-Newton, with steps that are halved until the sum falls. False if it does not converge. */
static bool minimise(const struct spectrum_point *points, int64_t n, struct power_law *law,
                     struct line *l) {
    enum { ROUNDS = 50, HALVINGS = 30 };
    double sum = squares(points, n, law, l);
    for (int round = 0; round < ROUNDS && is_regular(l); round++) {
        const struct power_law step = solve(l);
        double share = 1;
        bool is_better = false;
        for (int i = 0; i < HALVINGS && !is_better; i++, share /= 2) {
            const struct power_law next = {law->log_flux + share * step.log_flux,
                                           law->index + share * step.index};
            struct line of_next;
            const double square = squares(points, n, &next, &of_next);
            is_better = square < sum;
            if (is_better) {
                *law = next;
                *l = of_next;
                sum = square;
            }
        }
        if (!is_better || (fabs(step.log_flux) < 1e-9 && fabs(step.index) < 1e-9))
            return fabs(law->index) < STEEPEST;
    }
    return false;
}

bool spectrum_fit(const struct spectrum_point *points, int64_t n, struct spectrum *spectrum) {
    struct power_law law;
    struct line l;
    *spectrum = (struct spectrum){NAN, NAN, NAN};
    if (!start(points, n, &law) || !minimise(points, n, &law, &l) || !is_regular(&l))
        return false;
    *spectrum = (struct spectrum){law.index, sqrt(l.ss / determinant(&l)), exp(law.log_flux)};
    return true;
}
