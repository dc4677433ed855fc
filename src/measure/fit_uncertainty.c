/* How the errors of a fitted Gaussian follow from the autocorrelation of the noise.
 *
 * Along the axes of the source, in units of its own widths, its derivatives by peak, ln(major),
 * ln(minor), mixed moment and centre are g, g x^2, g y^2, g x y, g x and g y. They are the same
 * space of functions as g times polynomials that are orthogonal with the weights of A (enum term):
 * so A is diagonal, and no matrix is inverted. sum_lags adds up B over the lags of the noise;
 * covariances_of gives the covariance of the coefficients, from which all errors follow.
 *
 * Cost: an exponential for each lag, some 300. */
#include "measure/fit_uncertainty.h"

/* The axes of a Gaussian in the frame, as variances, and the matrix from them to pixels. */
static struct axes axes_in_frame(const struct gaussian *g, const struct fit_frame *f,
                                 double to_pixels[4]) {
    const struct tensor m = tensor_inverse(&g->form);
    const struct tensor in_frame = {f->ux * f->ux * m.xx + 2 * f->ux * f->uy * m.xy +
                                        f->uy * f->uy * m.yy,
                                    f->vy * f->vy * m.yy, f->vy * (f->ux * m.xy + f->uy * m.yy)};
    const struct axes axes = tensor_axes(&in_frame);
    const double angle = atan2(axes.sine, axes.cosine) / 2, c = cos(angle), s = sin(angle);
    to_pixels[0] = (c - f->uy * s / f->vy) / f->ux;
    to_pixels[1] = (-s - f->uy * c / f->vy) / f->ux;
    to_pixels[2] = s / f->vy;
    to_pixels[3] = c / f->vy;
    return axes;
}

/* The polynomials 1, x^2 - v, y^2 - v, x y, x and y; v is the variance of g^(2 + 2p), the weights
 * of A. */
enum term { ONE, XX, YY, XY, X, Y, TERMS };

/* The weights of a fit, in units of the source's widths. */
struct weights {
    double square; /* v */
    double single; /* the variance of g^(1 + 2p), the weights of B */
};

struct covariance {
    double of[TERMS][TERMS]; /* of terms that both are even, or both odd; only a <= b is set */
};

/* Beyond this exponent the product of the weights of two positions counts as 0. */
static const double FAR = 72;

/* Adds a lag to B. e: the correlation times exp(-(x^2 + y^2) / single); (x, y): half the lag. With
 * one position at z - x and the other one at z + x, the weights are those of z with the variance
 * single / 2, and each term is the mean of a product of polynomials. */
static void add_lag(struct covariance *b, const struct weights *w, double e, double x, double y) {
    const double t = w->single / 2, v = w->square, xx = x * x, yy = y * y, xy = x * y;
    const double along_x = t - v + xx, along_y = t - v + yy;
    const double fourth = 3 * t * t - 2 * v * t + v * v;
    b->of[ONE][ONE] += e;
    b->of[ONE][XX] += e * along_x;
    b->of[ONE][YY] += e * along_y;
    b->of[ONE][XY] += e * xy;
    b->of[XX][XX] += e * (xx * xx - 2 * (t + v) * xx + fourth);
    b->of[YY][YY] += e * (yy * yy - 2 * (t + v) * yy + fourth);
    b->of[XX][YY] += e * along_x * along_y;
    b->of[XX][XY] += e * xy * (xx - t - v);
    b->of[YY][XY] += e * xy * (yy - t - v);
    b->of[XY][XY] += e * (t - xx) * (t - yy);
    b->of[X][X] += e * (t - xx);
    b->of[Y][Y] += e * (t - yy);
    b->of[X][Y] -= e * xy;
}

/* B, but for a factor. to_axes: the 2 x 2 matrix from pixels to the axes. */
static struct covariance sum_lags(const struct correlation *c, const double to_axes[4],
                                  const struct weights *w) {
    const struct lags *l = &c->fine;
    struct covariance b = {0};
    add_lag(&b, w, l->value[l->half_y][l->half_x], 0, 0);
    for (int j = 0; j <= l->half_y; j++) {
        for (int i = j == 0 ? 1 : l->first[j + l->half_y]; i <= lags_last(l, j); i++) {
            const double dx = 0.5 * i * l->step_x, dy = 0.5 * j * l->step_y;
            const double x = to_axes[0] * dx + to_axes[1] * dy;
            const double y = to_axes[2] * dx + to_axes[3] * dy;
            const double exponent = (x * x + y * y) / w->single;
            if (exponent < FAR) /* twice: the opposite lag adds the same */
                add_lag(&b, w, 2 * l->value[j + l->half_y][i + l->half_x] * gaussian_exp(-exponent),
                        x, y);
        }
    }
    return b;
}

/* The covariance A^-1 B A^-1 of the coefficients of the terms, and the least one, of which no
 * variance of the first is less: that of independent pixels, times CORRELATION_LEAST. */
struct covariances {
    struct covariance of_noise, least;
};

static struct covariances covariances_of(const struct correlation *c, const double to_axes[4],
                                         const struct weights *w) {
    const double v = w->square, norm = 2 * M_PI * v;
    const double a[TERMS] = {norm,         norm * 2 * v * v, norm * 2 * v * v,
                             norm * v * v, norm * v,         norm * v};
    const double a_pixel = fabs(to_axes[0] * to_axes[3] - to_axes[1] * to_axes[2]);
    const double a_lag = c->fine.step_x * c->fine.step_y * a_pixel; /* areas, in widths */
    struct covariances b = {sum_lags(c, to_axes, w), {{{0}}}};
    add_lag(&b.least, w, CORRELATION_LEAST * a_pixel / a_lag, 0, 0);
    for (int i = 0; i < TERMS; i++) {
        b.of_noise.of[i][i] = fmax(b.of_noise.of[i][i], b.least.of[i][i]);
        for (int k = i; k < TERMS; k++) {
            b.of_noise.of[i][k] *= M_PI * w->single * a_lag / (a[i] * a[k]);
            b.least.of[i][k] *= M_PI * w->single * a_lag / (a[i] * a[k]);
        }
    }
    return b;
}

/* The variance of `one` times the coefficient of 1 plus `widths` times that of x^2 plus that of
 * y^2. */
static double variance_of(const struct covariance *c, double one, double widths) {
    const double squares = c->of[XX][XX] + c->of[YY][YY] + 2 * c->of[XX][YY];
    return one * one * c->of[ONE][ONE] + 2 * one * widths * (c->of[ONE][XX] + c->of[ONE][YY]) +
           widths * widths * squares;
}

static double error_of(const struct covariances *c, double one, double widths) {
    return sqrt(fmax(variance_of(&c->of_noise, one, widths), variance_of(&c->least, one, widths)));
}

/* Fills the errors of position and shape. axes: variances. */
static void set_moments(const struct covariance *c, const struct axes *axes,
                        struct fit_uncertainty *u) {
    const double *t = u->shape.to_pixels, area = sqrt(axes->major * axes->minor);
    const double major = axes->major * c->of[X][X], minor = axes->minor * c->of[Y][Y];
    const double mixed = area * c->of[X][Y];
    u->position = (struct tensor){
        t[0] * t[0] * major + t[1] * t[1] * minor + 2 * t[0] * t[1] * mixed,
        t[2] * t[2] * major + t[3] * t[3] * minor + 2 * t[2] * t[3] * mixed,
        t[0] * t[2] * major + t[1] * t[3] * minor + (t[0] * t[3] + t[1] * t[2]) * mixed};
    u->shape.major = 4 * axes->major * axes->major * c->of[XX][XX];
    u->shape.minor = 4 * axes->minor * axes->minor * c->of[YY][YY];
    u->shape.mixed = area * area * c->of[XY][XY];
    u->shape.covariance = 4 * area * area * c->of[XX][YY];
    u->shape.major_mixed = 2 * axes->major * area * c->of[XX][XY];
    u->shape.minor_mixed = 2 * axes->minor * area * c->of[YY][XY];
}

struct fit_uncertainty fit_uncertainty_of(const struct gaussian *gaussian,
                                          const struct fit_frame *frame,
                                          const struct correlation *correlation,
                                          bool has_beam_shape) {
    struct fit_uncertainty u = {0};
    double *t = u.shape.to_pixels;
    const struct axes axes = axes_in_frame(gaussian, frame, t);
    const double area = sqrt(axes.major * axes.minor), determinant = t[0] * t[3] - t[1] * t[2];
    const double p = frame->has_beam ? fit_core_exponent(area) : 2;
    const double major = determinant * sqrt(axes.major), minor = determinant * sqrt(axes.minor);
    const double to_axes[4] = {t[3] / major, -t[1] / major, -t[2] / minor, t[0] / minor};
    const struct weights w = {1 / (2 + 2 * p), 1 / (1 + 2 * p)};
    const struct covariances c = covariances_of(correlation, to_axes, &w);
    /* with a shape that is held the only even term is 1 */
    u.relative_peak = error_of(&c, 1, has_beam_shape ? 0 : -w.square);
    u.relative_total = error_of(&c, 1, has_beam_shape ? 0 : 1 - w.square);
    u.area = area;
    u.e_area = area * error_of(&c, 0, 1);
    set_moments(&c.of_noise, &axes, &u);
    return u;
}

struct fit_uncertainty fit_uncertainty_at(const struct fit_uncertainty *of_one, double snr) {
    const double square = 1 / (snr * snr);
    struct fit_uncertainty u = *of_one;
    double *const variances[] = {&u.position.xx,      &u.position.yy,       &u.position.xy,
                                 &u.shape.major,      &u.shape.minor,       &u.shape.mixed,
                                 &u.shape.covariance, &u.shape.major_mixed, &u.shape.minor_mixed};
    for (size_t i = 0; i < sizeof variances / sizeof *variances; i++)
        *variances[i] *= square;
    u.relative_peak /= snr;
    u.relative_total /= snr;
    u.e_area /= snr;
    return u;
}
