/* How the polynomial is found:
 *
 * 1. fit_polynomial: weighted least squares of the second moments xx, yy, xy.
 * 2. start: least trimmed squares (Rousseeuw 1984, JASA 79, 871) find the 60% of the points whose
 *    areas are closest to a polynomial: a third of the bright sources may be resolved.
 * 3. keep_near clips by areas, more tightly above than below: a source far above is resolved. Fits
 *    and clips are repeated until the same points are left.
 * 4. One shape, a quadratic around the middle, or a whole quadratic: the best of these by Bayes'
 *    information criterion (Schwarz 1978, Ann. Statist. 6, 461). With few points more terms run
 *    away at the edges.
 * 5. set_nodes evaluates the polynomial, within the areas of the points: it is not to run away in
 *    corners that have none. */
#include "measure/psf_fit.h"

#include <math.h>
#include <string.h>

#include "common/rank.h"

/* Terms: 1; those of the distance from the middle, by which time and bandwidth smear; x and y. */
enum { SYMMETRIC = 4, TERMS = 6, ROUNDS = 12, START_ROUNDS = 20 };

static const double CLOSEST = 0.6; /* share of the points with which the clip starts */

/* A point is left out if its area is above this, in the median area or, if this is less, that of
 * the beam; or beyond these multiples of the scatter, which is at least one error, from the
 * polynomial. */
static const double MOST_AREA = 2.5, MOST_ABOVE = 2, MOST_BELOW = 3;

/* Nodes have areas between the least and the largest of the points, and this factor beyond them. */
static const double BEYOND = 1.25;

static const double MOST_CHI2 = 9; /* that a point adds to the criterion */

static const double LEAST_PIVOT = 1e-9; /* of sums of squared weights, which are above 1 */

struct polynomial {
    int n_terms;
    double width, height;
    double most_area;    /* of a point, in that of the beam */
    double by[TERMS][3]; /* of xx, yy, xy */
};

static void terms_at(const struct polynomial *p, double x, double y, double t[TERMS]) {
    const double u = 2 * x / p->width - 1, v = 2 * y / p->height - 1;
    const double all[TERMS] = {1, u * u, u * v, v * v, u, v};
    memcpy(t, all, sizeof all);
}

static struct tensor polynomial_at(const struct polynomial *p, double x, double y) {
    double t[TERMS], sum[3] = {0};
    terms_at(p, x, y, t);
    for (int i = 0; i < p->n_terms; i++)
        for (int k = 0; k < 3; k++)
            sum[k] += t[i] * p->by[i][k];
    return (struct tensor){sum[0], sum[1], sum[2]};
}

/* Solves a x = b for three right sides, by elimination: a is symmetric and positive. False if it is
 * not. */
static bool solve(int n, double a[TERMS][TERMS], double b[TERMS][3]) {
    for (int i = 0; i < n; i++) {
        if (!(a[i][i] > LEAST_PIVOT))
            return false;
        for (int j = i + 1; j < n; j++) {
            const double factor = a[j][i] / a[i][i];
            for (int k = i; k < n; k++)
                a[j][k] -= factor * a[i][k];
            for (int k = 0; k < 3; k++)
                b[j][k] -= factor * b[i][k];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = 0; k < 3; k++) {
            for (int j = i + 1; j < n; j++)
                b[i][k] -= a[i][j] * b[j][k];
            b[i][k] /= a[i][i];
        }
    }
    return true;
}

/* Adds a point to the normal equations. */
static void add_point(struct polynomial *p, const struct psf_point *point, double a[TERMS][TERMS]) {
    const double square = point->weight * point->weight;
    const double values[3] = {point->moments.xx, point->moments.yy, point->moments.xy};
    double t[TERMS];
    terms_at(p, point->x, point->y, t);
    for (int j = 0; j < p->n_terms; j++) {
        for (int k = 0; k < p->n_terms; k++)
            a[j][k] += square * t[j] * t[k];
        for (int k = 0; k < 3; k++)
            p->by[j][k] += square * t[j] * values[k];
    }
}

/* Fits the polynomial to the points that are kept. */
static bool fit_polynomial(struct polynomial *p, const struct psf_point *points, const bool *kept,
                           int64_t n) {
    double a[TERMS][TERMS] = {{0}};
    memset(p->by, 0, sizeof p->by);
    for (int64_t i = 0; i < n; i++)
        if (kept[i])
            add_point(p, &points[i], a);
    return solve(p->n_terms, a, p->by);
}

/* The points that a polynomial needs. */
static int least_of(const struct polynomial *p) {
    return p->n_terms > 1 ? PSF_QUADRATIC : PSF_LEAST_POINTS;
}

/* How far the area of a point is above that of the polynomial, in its errors; infinite where the
 * polynomial is no ellipse. */
static double above(const struct psf *psf, const struct polynomial *p,
                    const struct psf_point *point) {
    const struct tensor moments = polynomial_at(p, point->x, point->y);
    const double more = psf_area(psf, &point->moments) / psf_area(psf, &moments) - 1;
    return isnan(more) ? (double)INFINITY : more * point->weight;
}

/* Keeps the points whose areas are closest to one polynomial. Returns how many. */
static int start(const struct psf *psf, struct polynomial *p, const struct psf_point *points,
                 int64_t n, bool *kept) {
    double sizes[PSF_MOST_POINTS], ranked[PSF_MOST_POINTS];
    int n_kept = 0;
    for (int64_t i = 0; i < n; i++)
        n_kept += kept[i] = psf_area(psf, &points[i].moments) < p->most_area;
    const int n_closest = (int)fmax(ceil(CLOSEST * n_kept), PSF_LEAST_POINTS);
    for (int round = 0; round < START_ROUNDS && n_closest > p->n_terms && n_closest <= n; round++) {
        if (!fit_polynomial(p, points, kept, n))
            return 0;
        for (int64_t i = 0; i < n; i++)
            ranked[i] = sizes[i] = fabs(above(psf, p, &points[i]));
        const double most = value_of_rank(ranked, n, n_closest - 1);
        n_kept = 0;
        for (int64_t i = 0; i < n; i++)
            n_kept += kept[i] = sizes[i] <= most;
    }
    return n_kept;
}

/* Keeps the points near the polynomial. Returns how many; *is_same: the same as before. */
static int keep_near(const struct psf *psf, const struct polynomial *p,
                     const struct psf_point *points, int64_t n, bool *kept, bool *is_same) {
    double by[PSF_MOST_POINTS], sizes[PSF_MOST_POINTS] = {0};
    int n_before = 0, n_now = 0;
    for (int64_t i = 0; i < n; i++) {
        by[i] = above(psf, p, &points[i]);
        if (kept[i])
            sizes[n_before++] = fabs(by[i]);
    }
    const double scatter = fmax(1.4826 * value_of_rank(sizes, n_before, n_before / 2), 1);
    *is_same = true;
    for (int64_t i = 0; i < n; i++) {
        const double d = by[i];
        const bool keeps = psf_area(psf, &points[i].moments) < p->most_area &&
                           d < MOST_ABOVE * scatter && d > -MOST_BELOW * scatter;
        *is_same = *is_same && keeps == kept[i];
        kept[i] = keeps;
        n_now += keeps;
    }
    return n_now;
}

/* Fits and clips in rounds. Returns how many points are left; 0: no polynomial was found. */
static int fit_and_clip(const struct psf *psf, struct polynomial *p, const struct psf_point *points,
                        int64_t n, bool *kept) {
    int n_kept = start(psf, p, points, n, kept);
    bool is_same = false;
    for (int round = 0; round < ROUNDS && !is_same; round++) {
        if (n_kept < PSF_LEAST_POINTS || !fit_polynomial(p, points, kept, n))
            return 0;
        n_kept = keep_near(psf, p, points, n, kept, &is_same);
    }
    return n_kept < least_of(p) ? 0 : n_kept;
}

/* Moments whose area is within the limits, in areas of the beam. */
static struct tensor limited(const struct psf *psf, struct tensor moments, double least,
                             double most) {
    const double area = psf_area(psf, &moments);
    if (!(area > 0 && moments.xx > 0))
        return psf->beam;
    const double factor = fmin(fmax(area, least), most) / area;
    return (struct tensor){factor * moments.xx, factor * moments.yy, factor * moments.xy};
}

static void set_nodes(struct psf *psf, const struct polynomial *p, double least, double most) {
    for (int64_t j = 0; j < psf->n_y; j++) {
        for (int64_t i = 0; i < psf->n_x; i++) {
            const struct tensor moments =
                polynomial_at(p, (double)i * psf->step_x, (double)j * psf->step_y);
            psf->moments[j * psf->n_x + i] = limited(psf, moments, least, most);
        }
    }
}

/* A polynomial, and the points that it keeps. */
struct fitted {
    struct polynomial p;
    bool kept[PSF_MOST_POINTS];
    int n_kept; /* 0: there is none */
};

static double median_area(const struct psf *psf, const struct psf_point *points, int64_t n) {
    double areas[PSF_MOST_POINTS] = {0};
    for (int64_t i = 0; i < n; i++)
        areas[i] = psf_area(psf, &points[i].moments);
    return n > 0 ? value_of_rank(areas, n, n / 2) : 1;
}

static struct fitted fit_terms(const struct psf *psf, const struct psf_point *points, int64_t n,
                               int n_terms, int64_t width, int64_t height) {
    struct fitted f = {.p = {.n_terms = n_terms,
                             .width = (double)width,
                             .height = (double)height,
                             .most_area = MOST_AREA * fmax(1, median_area(psf, points, n))}};
    f.n_kept = fit_and_clip(psf, &f.p, points, n, f.kept);
    return f;
}

/* The information criterion, less what all polynomials have: chi^2 of the areas, to which a point
 * adds MOST_CHI2 at most, since it may be resolved, + terms x ln(points). */
static double criterion(const struct psf *psf, const struct polynomial *p,
                        const struct psf_point *points, int64_t n) {
    double sum = p->n_terms * log((double)n);
    for (int64_t i = 0; i < n; i++) {
        const double d = above(psf, p, &points[i]);
        sum += fmin(d * d, MOST_CHI2);
    }
    return sum;
}

int psf_fit(struct psf *psf, const struct psf_point *points, int64_t n, int64_t width,
            int64_t height) {
    static const int numbers[] = {1, SYMMETRIC, TERMS};
    struct fitted best = {.n_kept = 0};
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const struct fitted f = fit_terms(psf, points, n, numbers[i], width, height);
        if (f.n_kept > 0 && (best.n_kept == 0 ||
                             criterion(psf, &f.p, points, n) < criterion(psf, &best.p, points, n)))
            best = f;
    }
    for (int64_t i = 0; best.n_kept > 0 && i < n; i++) {
        const double area = psf_area(psf, &points[i].moments);
        least = best.kept[i] ? fmin(least, area) : least;
        most = best.kept[i] ? fmax(most, area) : most;
    }
    if (best.n_kept > 0)
        set_nodes(psf, &best.p, least / BEYOND, most * BEYOND);
    return best.n_kept;
}
