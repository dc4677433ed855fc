#include "uncertainty.h"

double uncertainty_of_sum(const struct noise *noise, double n) {
    return noise->rms * sqrt(n * fmin(n, noise->pixels));
}

static double beam_moment(const struct noise *noise) {
    return noise->pixels / (2 * M_PI);
}

/* 2 / rho^2, the squared relative error of a Gaussian's parameter; rho by Condon 1997, eq. 21, with
 * the beam's area alone, as PyBDSF has it. The exponents of the axes are twice_major / 2 and 3
 * minus that. */
static double relative_variance(const struct axes *source, double beam, double snr,
                                int twice_major) {
    const double a = 1 + beam / source->major, b = 1 + beam / source->minor;
    const double both = sqrt(a * b); /* a^(1/2) b^(1/2) */
    const double powers = twice_major == 5   ? both * a * a
                          : twice_major == 1 ? both * b * b
                                             : both * both * both;
    const double rho2 = sqrt(source->major * source->minor) / (4 * beam) * powers * snr * snr;
    return 2 / rho2;
}

/* No source is narrower than the beam, whatever a few pixels say. */
static struct axes at_least_beam(const struct tensor *shape, double beam) {
    struct axes axes = tensor_axes(shape);
    axes.major = fmax(axes.major, beam);
    axes.minor = fmax(axes.minor, beam);
    return axes;
}

struct tensor uncertainty_of_position(const struct noise *noise, const struct tensor *shape,
                                      double snr, const struct tensor *spread, double sum) {
    const double beam = beam_moment(noise);
    const double factor = noise->rms * noise->rms * noise->pixels / (sum * sum);
    const struct axes source = at_least_beam(shape, beam);
    const struct axes fit = {
        source.major * relative_variance(&source, beam, snr, 5),
        source.minor * relative_variance(&source, beam, snr, 1),
        source.angle,
    };
    const struct tensor given = {factor * spread->xx, factor * spread->yy, factor * spread->xy};
    return fit.major + fit.minor > given.xx + given.yy ? tensor_of_axes(&fit) : given;
}

double uncertainty_of_total(const struct noise *noise, const struct tensor *shape, double snr,
                            double n) {
    const double beam = beam_moment(noise);
    const struct axes source = at_least_beam(shape, beam);
    const double peak = relative_variance(&source, beam, snr, 3);
    const double major = relative_variance(&source, beam, snr, 5);
    const double minor = relative_variance(&source, beam, snr, 1);
    const double share = beam / sqrt(source.major * source.minor);
    return sqrt(peak + share * (major + minor) + 1 / (n * n));
}
