#include "measure/correlation.h"

#include <math.h>

#include "backend/gaussian.h"

/* Lags go to this many FWHM, at least LAGS_A_FWHM each, if pixels allow it. */
static const double REACH = 2, LAGS_A_FWHM = 5;

/* --- the beam's --- */

/* The square of an offset, in sigmas of the beam. */
static double square_at(const struct correlation *c, double dx, double dy) {
    const struct fit_frame *f = &c->beam;
    const double u = f->ux * dx + f->uy * dy, v = f->vy * dy;
    return u * u + v * v;
}

static double of_beam(const struct correlation *c, double dx, double dy) {
    const double square = square_at(c, dx, dy);
    if (!c->beam.has_beam)
        return dx == 0 && dy == 0;
    return square < GAUSSIAN_REACH ? gaussian_exp(-0.5 * square) : 0;
}

/* Chooses the lags along an axis, where a cut through the middle of the beam has the FWHM `cut`,
 * and the whole beam `whole`, in pixels. A thin beam that lies across the axes has more lags than
 * there is room for: its steps are larger. is_fine: steps may be parts of pixels. */
static void choose_lags(double cut, double whole, bool is_fine, double *step, int *half) {
    const double wanted = fmin(cut, 1e9) / LAGS_A_FWHM;
    *step = wanted >= 1 ? floor(wanted) : is_fine ? 1 / ceil(1 / wanted) : 1;
    if (REACH * whole > CORRELATION_HALF * *step)
        *step = ceil(REACH * fmin(whole, 1e9) / CORRELATION_HALF);
    *half = (int)fmin(ceil(REACH * whole / *step), CORRELATION_HALF);
}

/* Chooses the lags within REACH, which all are 0 then. */
static struct lags make_lags(const struct correlation *c, bool is_fine) {
    const struct fit_frame *f = &c->beam;
    const double most = REACH * FIT_FWHM * REACH * FIT_FWHM, tilt = f->uy / f->vy;
    struct lags l = {.step_x = 1, .step_y = 1};
    if (f->has_beam) {
        choose_lags(FIT_FWHM / f->ux, FIT_FWHM / f->ux * sqrt(1 + tilt * tilt), is_fine, &l.step_x,
                    &l.half_x);
        choose_lags(FIT_FWHM / hypot(f->uy, f->vy), FIT_FWHM / f->vy, is_fine, &l.step_y,
                    &l.half_y);
    }
    for (int j = -l.half_y; j <= l.half_y; j++) {
        int i = -l.half_x;
        while (i < l.half_x && square_at(c, i * l.step_x, j * l.step_y) > most)
            i++;
        l.first[j + l.half_y] = i;
    }
    return l;
}

/* Interpolates the values of the fine lags. */
static void fill_fine(struct correlation *c) {
    struct lags *l = &c->fine;
    for (int j = -l->half_y; j <= l->half_y; j++)
        for (int i = l->first[j + l->half_y]; i <= lags_last(l, j); i++)
            *lags_value(l, i, j) = correlation_at(c, i * l->step_x, j * l->step_y);
}

/* Sums the values over the lags of the box |i| <= m, |j| <= n, for all m and n. */
static void sum_values(struct correlation *c) {
    struct lags *l = &c->lags;
    for (int n = 0; n <= CORRELATION_HALF; n++) {
        struct correlation_sums row = {0}; /* of lags with |j| = n, |i| <= m */
        for (int m = 0; m <= CORRELATION_HALF; m++) {
            double value = 0; /* of the lags with |j| = n, |i| = m */
            if (m <= l->half_x && n <= l->half_y)
                for (int k = 0; k < 4; k++) {
                    const bool is_twice = (k & 1 && m == 0) || (k & 2 && n == 0);
                    value += is_twice ? 0 : *lags_value(l, k & 1 ? -m : m, k & 2 ? -n : n);
                }
            row.one += value;
            row.x += m * value;
            row.y += n * value;
            row.xy += m * n * value;
            const struct correlation_sums before =
                n > 0 ? c->sums[n - 1][m] : (struct correlation_sums){0};
            c->sums[n][m] = (struct correlation_sums){before.one + row.one, before.x + row.x,
                                                      before.y + row.y, before.xy + row.xy};
        }
    }
}

void correlation_complete(struct correlation *c) {
    sum_values(c);
    fill_fine(c);
}

struct correlation correlation_of_beam(const struct fit_frame *beam) {
    struct correlation c = {.beam = *beam};
    struct lags *l = &c.lags;
    c.lags = make_lags(&c, false);
    c.fine = make_lags(&c, true);
    for (int j = -l->half_y; j <= l->half_y; j++)
        for (int i = l->first[j + l->half_y]; i <= lags_last(l, j); i++)
            *lags_value(l, i, j) = of_beam(&c, i * l->step_x, j * l->step_y);
    correlation_complete(&c);
    return c;
}

/* --- use --- */

double correlation_at(const struct correlation *c, double dx, double dy) {
    const struct lags *l = &c->lags;
    const double u = dx / l->step_x + l->half_x, v = dy / l->step_y + l->half_y;
    if (!(u >= 0 && u <= 2 * l->half_x && v >= 0 && v <= 2 * l->half_y))
        return 0;
    const double i = fmin(floor(u), fmax(2 * l->half_x - 1, 0)), s = u - i;
    const double j = fmin(floor(v), fmax(2 * l->half_y - 1, 0)), t = v - j;
    double value = of_beam(c, dx, dy);
    for (int k = 0; k < 4; k++) {
        const double weight = (k & 1 ? s : 1 - s) * (k & 2 ? t : 1 - t);
        const int x = (int)i + (k & 1), y = (int)j + (k >> 1);
        if (weight > 0)
            value += weight * (l->value[y][x] - of_beam(c, (x - l->half_x) * l->step_x,
                                                        (y - l->half_y) * l->step_y));
    }
    return value;
}

double correlation_area(const struct correlation *c) {
    return c->sums[CORRELATION_HALF][CORRELATION_HALF].one * c->lags.step_x * c->lags.step_y;
}

double correlation_of_box(const struct correlation *c, double width, double height) {
    /* A lag (x, y) has (width - |x|) (height - |y|) pairs, and stands for step_x step_y of them. */
    const double x = c->lags.step_x, y = c->lags.step_y, whole = width * height;
    const int m = (int)fmin(width / x, CORRELATION_HALF);
    const int n = (int)fmin(height / y, CORRELATION_HALF);
    const struct correlation_sums *s = &c->sums[n][m];
    const double pairs = whole * s->one - height * x * s->x - width * y * s->y + x * y * s->xy;
    return fmax(fmin(x * y * pairs, whole * whole), fmax(whole, 1));
}
