/* The autocorrelation of the noise: how the noise of two pixels is related, by their distance. It
 * is measured in the image (noise_pairs.h). The errors of fits, of forced amplitudes and of
 * islands' sums follow from it. */
#ifndef CORRELATION_H
#define CORRELATION_H

#include "backend/fit.h"

/* Most lags on each side of 0 along an axis. */
enum { CORRELATION_HALF = 20, CORRELATION_SIDE = 2 * CORRELATION_HALF + 1 };

/* Sums over the lags (i, j) with |i| <= m and |j| <= n of the correlation, and of its products with
 * |i|, |j| and |i j|. */
struct correlation_sums {
    double one, x, y, xy;
};

/* Lag (i, j) is an offset of (i step_x, j step_y) pixels. Those of row j, |j| <= half_y, have
 * first[j + half_y] <= i <= -first[half_y - j] and |i| <= half_x: offsets of up to 2 FWHM. */
struct lags {
    double step_x, step_y;
    int half_x, half_y;
    int first[CORRELATION_SIDE];
    double value[CORRELATION_SIDE][CORRELATION_SIDE]; /* [j + half_y][i + half_x]; 0: no lag */
};

/* The last lag of row j. */
static inline int lags_last(const struct lags *lags, int j) {
    return -lags->first[lags->half_y - j];
}

static inline double *lags_value(struct lags *lags, int i, int j) {
    return &lags->value[j + lags->half_y][i + lags->half_x];
}

struct correlation {
    struct fit_frame beam; /* its unit circle is the autocorrelation if the noise has the beam's */
    struct lags lags;      /* whole steps: what is measured */
    struct lags fine;      /* for integrals: at least five a FWHM, also in a beam of few pixels */
    bool is_measured;      /* else the values are those of the beam or, without a beam, of pixels
                              that are independent */
    int64_t n_pixels;      /* pixels whose pairs are measured */
    double beam_areas; /* the pixels that have a value, in areas of the autocorrelation `beam` */
    struct correlation_sums sums[CORRELATION_HALF + 1][CORRELATION_HALF + 1]; /* [n][m] */
};

/* The autocorrelation of noise that is correlated as the beam is. beam: the frame whose unit circle
 * is this autocorrelation, for samples of a scale that of the beam smoothed twice. Without a beam
 * pixels are independent. Lags go to 2 FWHM, five to ten a FWHM. */
struct correlation correlation_of_beam(const struct fit_frame *beam);

/* Sets sums and fine lags, after values of `lags` have changed. */
void correlation_complete(struct correlation *correlation);

/* No variance of a fit is less than this share of that of independent pixels: a sum over the lags
 * has an error, and of noise that is hardly correlated it may leave nothing. Not all of it: what
 * differs from pixel to pixel, as a width does, has less noise where neighbours are correlated. */
static const double CORRELATION_LEAST = 0.1;

/* The correlation at an offset in pixels: between the lags, the difference from that of the beam is
 * interpolated. 0 beyond the last lag. */
double correlation_at(const struct correlation *correlation, double dx, double dy);

/* The area over which noise is correlated, in pixels: the sum over all offsets. */
double correlation_area(const struct correlation *correlation);

/* The variance of the sum of all pixels of a box of these sides (pixels), whose noise has the
 * variance 1: the sum over all pairs of pixels. At least the number of pixels, which is that of
 * independent ones; at most its square. Exact for whole pixels and steps of 1. */
double correlation_of_box(const struct correlation *correlation, double width, double height);

#endif
