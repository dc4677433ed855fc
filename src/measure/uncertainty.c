#include "measure/uncertainty.h"

double uncertainty_of_sum(const struct noise *noise, double n) {
    return noise->rms * sqrt(n * fmin(n, noise->pixels));
}

static double beam_moment(const struct noise *noise) {
    return noise->pixels / (2 * M_PI);
}

/* No source is narrower than the beam, whatever a few pixels say. */
static struct axes at_least_beam(const struct tensor *shape, double beam) {
    struct axes axes = tensor_axes(shape);
    axes.major = fmax(axes.major, beam);
    axes.minor = fmax(axes.minor, beam);
    return axes;
}

/* 2 / rho^2, the squared relative errors of a Gaussian's parameters; rho by Condon 1997, eq. 21,
 * with the beam's area alone, as PyBDSF has it. The exponents of the axes, of which the sum is 3,
 * are 3/2 each for the peak, 5/2 of the parameter's own axis and 1/2 of the other. */
struct relative {
    double peak, major, minor;
};

static struct relative relative_variances(const struct axes *source, double beam, double snr) {
    const double a = 1 + beam / source->major, b = 1 + beam / source->minor;
    const double both = sqrt(a * b); /* a^(1/2) b^(1/2) */
    const double common = 8 * beam / (sqrt(source->major * source->minor) * both * snr * snr);
    return (struct relative){common / (a * b), common / (a * a), common / (b * b)};
}

static struct tensor variance_of_position(const struct axes *source, const struct relative *r,
                                          const struct tensor *given) {
    const struct axes fit = {source->major * r->major, source->minor * r->minor, source->cosine,
                             source->sine};
    return fit.major + fit.minor > given->xx + given->yy ? tensor_of_axes(&fit) : *given;
}

struct uncertainty uncertainty_of_source(const struct noise *noise, const struct tensor *shape,
                                         double snr, const struct tensor *spread, double sum,
                                         double n) {
    const double beam = beam_moment(noise);
    const struct axes source = at_least_beam(shape, beam);
    const struct relative r = relative_variances(&source, beam, snr);
    const double share = beam / sqrt(source.major * source.minor);
    const double factor = noise->rms * noise->rms * noise->pixels / (sum * sum);
    const struct tensor given = {factor * spread->xx, factor * spread->yy, factor * spread->xy};
    return (struct uncertainty){variance_of_position(&source, &r, &given),
                                sqrt(r.peak + share * (r.major + r.minor) + 1 / (n * n))};
}
