#include "measure/uncertainty.h"

double uncertainty_of_sum(const struct correlation *noise, const struct island *island, double n) {
    const double width = (double)(island->x_max - island->x_min + 1);
    const double height = (double)(island->y_max - island->y_min + 1);
    const double share = sqrt(n / (width * height));
    return sqrt(correlation_of_box(noise, share * width, share * height));
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
