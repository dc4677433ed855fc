#include "cpu/sample.h"

#include <stdlib.h>

enum {
    PROBES = 128,
    OCTAVE_BITS = 8, /* of the bins' numbers; each octave's are twice as wide as the last one's */
    OCTAVES = 16,
    SIDE = OCTAVES << OCTAVE_BITS, /* bins on either side of the centre */
    BINS = 2 * SIDE,
};

/* Values are counted by their distance x from a first guess of the median, in units of about a
 * third of the rms: bins of 2^-OCTAVE_BITS up to 1, twice as wide up to 3, and so on. */
struct bins {
    float centre, unit, per_unit;
    int count[BINS];
};

/* --- bins --- */

static inline int bin_of(const struct bins *b, float v) {
    const float x = (v - b->centre) * b->per_unit;
    const uint32_t step = (exact_bits(1 + fabsf(x)) - exact_bits(1)) >> (23 - OCTAVE_BITS);
    const int i = step < SIDE ? (int)step : SIDE - 1;
    return x < 0 ? SIDE - 1 - i : SIDE + i;
}

/* The distance of the lower bound of step i, from the centre outwards. */
static float step_bound(int i) {
    return exact_float(((uint32_t)i << (23 - OCTAVE_BITS)) + exact_bits(1)) - 1;
}

/* x at some part (0 to 1) of a bin. */
static double bin_x(int bin, double part) {
    const int i = bin < SIDE ? SIDE - 1 - bin : bin - SIDE;
    const double near = step_bound(i), far = step_bound(i + 1);
    return bin < SIDE ? -(far + (near - far) * part) : near + (far - near) * part;
}

static int compare_floats(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Guesses the median and the rms from a few values, by quantiles: the quartiles, or ones further
 * out where these are the same. */
static bool choose_bins(struct bins *b, const float *values, int64_t n) {
    float probe[PROBES];
    int out = PROBES / 4;
    for (int i = 0; i < PROBES; i++)
        probe[i] = values[n * i / PROBES];
    qsort(probe, PROBES, sizeof *probe, compare_floats);
    while (out > 0 && probe[out] == probe[PROBES - 1 - out])
        out--;
    *b = (struct bins){.centre = probe[PROBES / 2],
                       .unit = (probe[PROBES - 1 - out] - probe[out]) / 4};
    b->per_unit = 1 / b->unit;
    return isfinite(b->unit) && b->unit > 0 && isfinite(b->per_unit);
}

/* --- the clip --- */

/* Of the bins that are left, first to last. */
struct kept {
    int first, last, n;
    double sum, square; /* of x */
};

static void add_bin(struct kept *k, const struct bins *b, int bin, int sign) {
    const double x = bin_x(bin, 0.5), n = sign * b->count[bin];
    k->n += sign * b->count[bin];
    k->sum += n * x;
    k->square += n * x * x;
}

/* x of the median, as if values were spread evenly over their bin. */
static double median_x(const struct kept *k, const struct bins *b) {
    double rest = 0.5 * k->n;
    int bin = k->first;
    while (bin < k->last && rest >= b->count[bin])
        rest -= b->count[bin++];
    return bin_x(bin, rest / b->count[bin]);
}

/* Keeps the bins from that of low to that of high. */
static void trim(struct kept *k, const struct bins *b, double low, double high) {
    const int first = bin_of(b, (float)low), last = bin_of(b, (float)high);
    while (k->first < first)
        add_bin(k, b, k->first++, -1);
    while (k->last > last)
        add_bin(k, b, k->last--, -1);
}

bool sample_clip(struct sample_clip *clip, const float *values, int64_t n, double kappa) {
    struct bins b;
    struct kept kept = {.last = BINS - 1};
    *clip = (struct sample_clip){.path = clip_path_none()};
    if (n == 0 || !choose_bins(&b, values, n))
        return false;
    for (int64_t i = 0; i < n; i++)
        b.count[bin_of(&b, values[i])]++;
    for (int bin = 0; bin < BINS; bin++)
        add_bin(&kept, &b, bin, 1);
    for (int before = 0; kept.n > 0 && kept.n != before;) {
        const double mean = kept.sum / kept.n, variance = kept.square / kept.n - mean * mean;
        before = kept.n;
        clip->median = b.centre + b.unit * median_x(&kept, &b);
        clip->rms = b.unit * sqrt(fmax(variance, 0));
        const double low = clip->median - kappa * clip->rms;
        const double high = clip->median + kappa * clip->rms;
        clip_path_extend(&clip->path, clip->median, low, high);
        trim(&kept, &b, low, high);
    }
    return kept.n > 0 && clip->rms > b.unit / (1 << OCTAVE_BITS); /* no less than a bin */
}
