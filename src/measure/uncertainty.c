#include "measure/uncertainty.h"

double uncertainty_of_sum(const struct noise *noise, double n) {
    return noise->rms * sqrt(n * fmin(n, noise->pixels));
}

/* Second moment of the beam along an axis, in pixels^2. */
static double beam_moment(const struct noise *noise) {
    return noise->pixels / (2 * M_PI);
}

/* The axes of a source, at least as wide as the beam: a few pixels may show less. */
static struct axes at_least_beam(const struct tensor *shape, double beam) {
    struct axes axes = tensor_axes(shape);
    axes.major = fmax(axes.major, beam);
    axes.minor = fmax(axes.minor, beam);
    return axes;
}

/* Squared relative errors of a Gaussian's parameters: 2 / rho^2. rho is that of Condon 1997,
 * eq. 21, with the beam's area alone, as in PyBDSF. The exponents of the two axes add up to 3: for
 * the peak, both are 3/2; for the width of an axis, 5/2 for this axis and 1/2 for the other. */
struct relative {
    double peak, major, minor;
};

static struct relative relative_variances(const struct axes *source, double beam, double snr) {
    const double a = 1 + beam / source->major, b = 1 + beam / source->minor;
    const double sqrt_ab = sqrt(a * b);
    const double common = 8 * beam / (sqrt(source->major * source->minor) * sqrt_ab * snr * snr);
    return (struct relative){common / (a * b), common / (a * a), common / (b * b)};
}

/* The larger of the errors of a Gaussian fit and of the centroid, for each axis: pixels in one row
 * give the centroid no error along y. The covariance is that of the larger tensor: with its own
 * variances or larger ones it is possible. */
static struct tensor variance_of_position(const struct axes *source, const struct relative *r,
                                          const struct tensor *centroid) {
    const struct axes axes = {source->major * r->major, source->minor * r->minor, source->cosine,
                              source->sine};
    const struct tensor fit = tensor_of_axes(&axes);
    const bool fit_is_larger = fit.xx + fit.yy > centroid->xx + centroid->yy;
    return (struct tensor){fmax(fit.xx, centroid->xx), fmax(fit.yy, centroid->yy),
                           fit_is_larger ? fit.xy : centroid->xy};
}

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

/* Integrals along one axis, of a source of width w (beam sigmas) whose squares have the weight
 * g^2p: a[k] of x^(2k) g^(2 + 2p), and of pairs of positions with x^i y^j g^(1 + 2p)(x) g^(1 +
 * 2p)(y) exp(-(x - y)^2 / 2): b for i = j = 0, with the second moments `same` = <x^2> and `other` =
 * <x y> of these pairs. */
struct integrals {
    double a[3];
    double b, same, other;
};

static struct integrals integrals_of(double w, double p) {
    const double alpha = (1 + 2 * p) / (w * w) + 1, determinant = alpha * alpha - 1;
    const double variance = w * w / (2 + 2 * p), norm = sqrt(2 * M_PI * variance);
    return (struct integrals){{norm, norm * variance, 3 * norm * variance * variance},
                              2 * M_PI / sqrt(determinant),
                              alpha / determinant,
                              1 / determinant};
}

/* Covariance of ln(peak), ln(major) and ln(minor): symmetric 3 x 3 matrices. */
struct matrix {
    double m[3][3];
};

static struct matrix product(const struct matrix *a, const struct matrix *b) {
    struct matrix c = {0};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++)
                c.m[i][j] += a->m[i][k] * b->m[k][j];
    return c;
}

/* The inverse of a symmetric matrix, by cofactors. */
static struct matrix inverse(const struct matrix *a) {
    struct matrix c;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            c.m[i][j] = a->m[j1][i1] * a->m[j2][i2] - a->m[j1][i2] * a->m[j2][i1];
        }
    }
    const double determinant =
        a->m[0][0] * c.m[0][0] + a->m[0][1] * c.m[1][0] + a->m[0][2] * c.m[2][0];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            c.m[i][j] /= determinant;
    return c;
}

/* The derivatives are g, g x^2 / w^2 and g y^2 / w^2, times the peak. */
static struct matrix covariance_of_widths(const struct integrals *x, const struct integrals *y,
                                          double xx, double yy) {
    const struct matrix a = {
        {{x->a[0] * y->a[0], x->a[1] * y->a[0] / xx, x->a[0] * y->a[1] / yy},
         {x->a[1] * y->a[0] / xx, x->a[2] * y->a[0] / (xx * xx), x->a[1] * y->a[1] / (xx * yy)},
         {x->a[0] * y->a[1] / yy, x->a[1] * y->a[1] / (xx * yy), x->a[0] * y->a[2] / (yy * yy)}}};
    const double b = x->b * y->b, along_x = x->same / xx, along_y = y->same / yy;
    const double twice_x = along_x * along_x + 2 * x->other * x->other / (xx * xx);
    const double twice_y = along_y * along_y + 2 * y->other * y->other / (yy * yy);
    const struct matrix of_noise = {{{b, b * along_x, b * along_y},
                                     {b * along_x, b * twice_x, b * along_x * along_y},
                                     {b * along_y, b * along_x * along_y, b * twice_y}}};
    const struct matrix inverted = inverse(&a), half = product(&inverted, &of_noise);
    return product(&half, &inverted);
}

/* Fills fluxes, area and moments. axes: variances. */
static void errors_of_shape(const struct axes *axes, const struct integrals *x,
                            const struct integrals *y, double snr, bool has_beam_shape,
                            struct fit_uncertainty *u) {
    const struct matrix c = covariance_of_widths(x, y, axes->major, axes->minor);
    const double total =
        c.m[0][0] + c.m[1][1] + c.m[2][2] + 2 * (c.m[0][1] + c.m[0][2] + c.m[1][2]);
    const double fixed = x->b * y->b / (x->a[0] * x->a[0] * y->a[0] * y->a[0]);
    const double mixed =
        x->b * x->other * y->b * y->other / (x->a[1] * x->a[1] * y->a[1] * y->a[1]);
    const double area = axes->major * axes->minor, per_snr = 1 / (snr * snr);
    u->relative_peak = sqrt((has_beam_shape ? fixed : c.m[0][0]) * per_snr);
    u->relative_total = sqrt((has_beam_shape ? fixed : total) * per_snr);
    u->area = sqrt(area);
    u->e_area = u->area * sqrt((c.m[1][1] + c.m[2][2] + 2 * c.m[1][2]) * per_snr);
    u->shape.major = 4 * axes->major * axes->major * c.m[1][1] * per_snr;
    u->shape.minor = 4 * axes->minor * axes->minor * c.m[2][2] * per_snr;
    u->shape.covariance = 4 * area * c.m[1][2] * per_snr;
    u->shape.mixed = area * area * mixed * per_snr;
}

/* The variance of the centre along x: the derivative is g x / w^2, times the peak. */
static double error_of_centre(const struct integrals *x, const struct integrals *y, double xx,
                              double snr) {
    const double a = x->a[1] * y->a[0], b = x->b * x->other * y->b;
    return xx * xx * b / (a * a * snr * snr);
}

struct fit_uncertainty uncertainty_of_fit(const struct gaussian *gaussian,
                                          const struct fit_frame *frame, double snr,
                                          bool has_beam_shape, double lost) {
    struct fit_uncertainty u = {0};
    const struct axes axes = axes_in_frame(gaussian, frame, u.shape.to_pixels);
    const double area = sqrt(axes.major * axes.minor);
    const double exponent = frame->has_beam ? fit_core_exponent(area) : 2;
    const struct integrals x = integrals_of(sqrt(axes.major), exponent);
    const struct integrals y = integrals_of(sqrt(axes.minor), exponent);
    const double *t = u.shape.to_pixels;
    const double major = error_of_centre(&x, &y, axes.major, snr);
    const double minor = error_of_centre(&y, &x, axes.minor, snr);
    u.position = (struct tensor){t[0] * t[0] * major + t[1] * t[1] * minor,
                                 t[2] * t[2] * major + t[3] * t[3] * minor,
                                 t[0] * t[2] * major + t[1] * t[3] * minor};
    errors_of_shape(&axes, &x, &y, snr, has_beam_shape, &u);
    const double loss = UNCERTAIN_LOSS * lost;
    u.relative_total = sqrt(u.relative_total * u.relative_total + loss * loss);
    return u;
}

struct uncertainty uncertainty_of_source(const struct noise *noise, const struct tensor *shape,
                                         double snr, const struct tensor *spread, double sum,
                                         double n) {
    const double beam = beam_moment(noise);
    const struct axes source = at_least_beam(shape, beam);
    const struct relative r = relative_variances(&source, beam, snr);
    const double beam_ratio = beam / sqrt(source.major * source.minor);
    const double factor = noise->rms * noise->rms * noise->pixels / (sum * sum);
    const struct tensor centroid = {factor * spread->xx, factor * spread->yy, factor * spread->xy};
    return (struct uncertainty){variance_of_position(&source, &r, &centroid),
                                sqrt(r.peak + beam_ratio * (r.major + r.minor) + 1 / (n * n))};
}
