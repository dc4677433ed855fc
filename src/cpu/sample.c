#include "cpu/sample.h"

#include <stdlib.h>

#include "backend/value_bins.h"
#include "cpu/sort.h"

enum { PROBES = 128 };

/* The number of values in each bin. unit is 1 / scale.per_unit. */
struct bins {
    struct bin_scale scale;
    float unit;
    int count[BINS];
};

/* --- bins --- */

/* Estimates the median and the rms from the quantiles of a few values: from the quartiles, or from
 * quantiles further out if the quartiles are equal. False if the scale is not a finite number > 0.
 */
static bool choose_bins(struct bins *b, const float *values, int64_t n) {
    float probe[PROBES];
    int out = PROBES / 4;
    for (int i = 0; i < PROBES; i++)
        probe[i] = values[n * i / PROBES];
    qsort(probe, PROBES, sizeof *probe, compare_floats);
    while (out > 0 && probe[out] == probe[PROBES - 1 - out])
        out--;
    *b = (struct bins){.unit = (probe[PROBES - 1 - out] - probe[out]) / 4};
    b->scale = (struct bin_scale){probe[PROBES / 2], 1 / b->unit};
    return isfinite(b->unit) && b->unit > 0 && isfinite(b->scale.per_unit);
}

/* --- the clip --- */

/* The values in the bins that are left, first to last. */
struct kept {
    int first, last, n;
    double sum, square, fourth; /* of x, x^2, x^4 */
};

static void sample_add_bin(struct kept *k, const struct bins *b, int bin, int sign) {
    const double x = (double)bin_x(bin, 0.5f), n = sign * b->count[bin];
    k->n += sign * b->count[bin];
    k->sum += n * x;
    k->square += n * x * x;
    k->fourth += n * x * x * x * x;
}

/* The x of the median, if the values are spread evenly over their bin. */
static double median_x(const struct kept *k, const struct bins *b) {
    double rank = 0.5 * k->n; /* of the median within the bin */
    int bin = k->first;
    while (bin < k->last && rank >= b->count[bin])
        rank -= b->count[bin++];
    return (double)bin_x(bin, (float)(rank / b->count[bin]));
}

/* Keeps the bins from the one that contains low to the one that contains high. */
static void trim(struct kept *k, const struct bins *b, double low, double high) {
    const int first = bin_of(&b->scale, (float)low), last = bin_of(&b->scale, (float)high);
    while (k->first < first)
        sample_add_bin(k, b, k->first++, -1);
    while (k->last > last)
        sample_add_bin(k, b, k->last--, -1);
}

/* Adds a round. The mean of n squares has the variance (kurtosis - 1) rms^4 / n, and an rms half of
 * the relative error of its square: rms sqrt((kurtosis - 1) / (4 n)). A round has a quarter of the
 * relative error of the one before, too: where sources have N(> S) proportional to S^-1.5, the rms
 * of the pixels below a bound b grows as b^(1/4). */
static void add_round(struct sample_clip *clip, const struct kept *k, double variance, double low,
                      double high) {
    const double kurtosis = fmax(k->fourth / k->n / (variance * variance), 3);
    const double reach = high - clip->median, own = reach * sqrt((kurtosis - 1) / (4.0 * k->n));
    clip_path_extend(&clip->path, clip->median, low, high);
    if (clip->n_rounds == SAMPLE_ROUNDS)
        return;
    const struct sample_round *before =
        clip->n_rounds > 0 ? &clip->round[clip->n_rounds - 1] : NULL;
    const double carried = before ? reach * before->error / (before->high - before->median) / 4 : 0;
    clip->round[clip->n_rounds++] =
        (struct sample_round){clip->median, low, high, hypot(own, carried)};
}

bool sample_clip(struct sample_clip *clip, const float *values, int64_t n, double kappa) {
    struct bins b;
    struct kept kept = {.last = BINS - 1};
    *clip = (struct sample_clip){.path = clip_path_none()};
    if (n == 0 || !choose_bins(&b, values, n))
        return false;
    for (int64_t i = 0; i < n; i++)
        b.count[bin_of(&b.scale, values[i])]++;
    for (int bin = 0; bin < BINS; bin++)
        sample_add_bin(&kept, &b, bin, 1);
    for (int before = 0; kept.n > 0 && kept.n != before;) {
        const double mean = kept.sum / kept.n, variance = kept.square / kept.n - mean * mean;
        before = kept.n;
        clip->median = b.scale.centre + b.unit * median_x(&kept, &b);
        clip->rms = b.unit * sqrt(fmax(variance, 0));
        clip->median_error = 1.2533 * clip->rms / sqrt(kept.n);
        const double low = clip->median - kappa * clip->rms;
        const double high = clip->median + kappa * clip->rms;
        add_round(clip, &kept, variance, low, high);
        trim(&kept, &b, low, high);
    }
    return kept.n > 0 && clip->rms > b.unit / (1 << OCTAVE_BITS); /* at least the width of a bin */
}
