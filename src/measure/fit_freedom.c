#include "measure/fit_freedom.h"

#include <math.h>

#include "backend/tensor.h"

struct noise_areas noise_areas_of(const struct correlation *correlation) {
    const struct lags *l = &correlation->lags;
    double sum = 0;
    for (int j = 0; j <= 2 * l->half_y; j++)
        for (int i = 0; i <= 2 * l->half_x; i++)
            sum += l->value[j][i] * l->value[j][i];
    const double square = fmax(sum * l->step_x * l->step_y, 1);
    return (struct noise_areas){fmax(correlation_area(correlation), square), square};
}

/* A Gaussian of variance 1, along an axis on which the source has the variance `of_source`, times
 * exp(-x^2 / 4), x in widths of the source: its integral / that of the Gaussian, and its variance
 * in widths of the source. */
struct along_axis {
    double integral, variance;
};

static struct along_axis along(double of_source) {
    const double both = 2 * of_source + 1;
    return (struct along_axis){sqrt(2 * of_source / both), 2 / both};
}

double fit_freedom_taken(const double c[FIT_PARAMETERS], bool is_free,
                         const struct fit_frame *frame, const struct noise_areas *noise) {
    const struct tensor form = {c[FIT_P], c[FIT_R], c[FIT_Q]}, second = tensor_inverse(&form);
    const struct axes axes = tensor_axes(&second);
    const double noise_variance = noise->one * frame->ux * frame->vy / (2 * M_PI);
    const struct along_axis a = along(axes.major / noise_variance);
    const struct along_axis b = along(axes.minor / noise_variance);
    const double r2 = a.variance + b.variance;
    const double r4 =
        3 * (a.variance * a.variance + b.variance * b.variance) + 2 * a.variance * b.variance;
    const double functions = is_free ? 6 - 2 * r2 + r4 / 8 : 3 - r2 / 2;
    return noise->one * a.integral * b.integral * functions;
}
