/* The narrow door to a backend: pixels and thresholds in; the clip's numbers and the moments of
 * each island out. A backend knows nothing of files, options or catalogues. Everything that comes
 * out is an integer, a pixel's own value, or an exact value rounded once, and so the same from
 * each. */
#ifndef BACKEND_H
#define BACKEND_H

#include "backend/exact.h"
#include "input/pixel_source.h"

struct detection {
    double kappa;
    double threshold, island; /* in units of the rms; island <= threshold */
    bool subtract_background;
    int connectivity; /* 4 or 8 */
    int64_t min_pixels;
};

/* Sums over the pixels of an island: of q, q x, ... and, without values, of x, y, ... Values enter
 * as integers q = value / 2^unit (see moments_unit), and positions (x, y) relative to the corner
 * (x_min, y_min) of the bounding box. */
enum moment {
    SUM_Q,
    SUM_QX,
    SUM_QY,
    SUM_QXX,
    SUM_QYY,
    SUM_QXY,
    SUM_X,
    SUM_Y,
    SUM_XX,
    SUM_YY,
    SUM_XY,
    MOMENTS
};

/* One island. A sum is high * 2^64 + low, modulo 2^128. Most islands have sums of 64 bits, which a
 * GPU adds to the faster the closer they are together: so the lower halves are apart, and come
 * first, where 32 bytes begin. */
struct island {
    uint64_t low[MOMENTS];
    int64_t n_pixels;
    int32_t x_min, x_max, y_min, y_max;
    int32_t x_peak, y_peak;
    float peak;
    int32_t unit;
    bool edge;  /* touches the image's edge or a blank pixel */
    bool small; /* see moments_are_small */
    uint64_t high[MOMENTS];
};

EXACT_FUNCTION int128 island_sum(const struct island *i, enum moment m) {
    return (int128)((uint128)i->high[m] << 64 | i->low[m]);
}

/* Adds to a sum, modulo 2^128. */
EXACT_FUNCTION void island_add(struct island *i, enum moment m, uint128 value) {
    const uint64_t before = i->low[m];
    i->low[m] += (uint64_t)value;
    const uint64_t high = (uint64_t)(value >> 64) + (i->low[m] < before);
    if (high) /* rarely */
        i->high[m] += high;
}

/* Adds to a sum that stays below 2^63. */
EXACT_FUNCTION void island_add_small(struct island *i, enum moment m, uint64_t value) {
    i->low[m] += value;
}

struct island_list {
    int64_t n;
    struct island *islands; /* in the order of their first pixels */
};

struct detection_result {
    struct srcfind_background background;
    struct island_list list; /* the caller's, to be freed */
    struct srcfind_timings timings;
};

/* The pixel thresholds that follow from a clip: a pixel belongs to an island if it is >= island,
 * and an island counts if one is >= detection. Both are infinite where nothing can be detected. */
struct thresholds {
    float island, detection;
};

EXACT_FUNCTION struct thresholds thresholds_of(double median, double rms, bool empty,
                                               const struct detection *d) {
    const double base = d->subtract_background ? median : 0;
    struct thresholds t = {INFINITY, INFINITY};
    if (!empty) {
        t.island = exact_above(base + d->island * rms);
        t.detection = exact_above(base + d->threshold * rms);
    }
    return t;
}

/* Pixels in a device's memory: pixels[y * row_stride + x], in the other byte order than the host's
 * if they are swapped. stream is a cudaStream_t whose work so far must be done before they are
 * read, or NULL for the default one. */
struct device_pixels {
    const float *pixels;
    int64_t width, height, row_stride;
    bool swapped;
    void *stream;
};

/* What is wrong with an image without a pixel; takes their number. */
#define BACKEND_NO_PIXELS                                                                          \
    "none of the %lld pixels has a finite value: is this the right plane, or is the image blank?"

/* Finds the islands of an image on the CPU, with n_threads threads. */
enum srcfind_status cpu_detect(const struct pixel_source *source, const struct detection *detection,
                               int n_threads, struct detection_result *result, struct error *error);

#endif
