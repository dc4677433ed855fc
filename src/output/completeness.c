/* How bins of completeness are made of injected sources:
 *
 * 1. Bins of S/N have fixed edges. The share that was found is weighted, and its error is half of
 *    Wilson's interval of one sigma (Wilson 1927, JASA 22, 209).
 * 2. Ratios of fluxes and offsets of positions give a median, and 1.4826 times the median absolute
 *    deviation, both weighted.
 * 3. Edges of bins of flux are even in the logarithm, between percentiles of flux / S/N.
 * 4. In a bin of flux, positions differ in S/N. Those where the S/N is below the injected range
 *    count as not found, those above it as the brightest bin of S/N.
 * 5. Sources of a file have the fluxes that they have: bins of flux go from the lowest to the
 * highest, and count them as they are.
 *
 * In: the list of an image, or of many images with weights (merge/merged_completeness.c). Costs a
 * sort of the sources for each bin; room for twice the sources of one width. */
#include "output/completeness.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/arrays.h"

/* --- weighted quantiles --- */

struct weighted {
    double value, weight;
};

static int compare(const void *a, const void *b) {
    const struct weighted *p = a, *q = b;
    return (p->value > q->value) - (p->value < q->value);
}

static void sort(struct weighted *values, int64_t n) {
    qsort(values, (size_t)n, sizeof *values, compare);
}

/* The value below which a share of the weight lies. Values are in rising order; between two values
 * it is their mean. NaN without values. */
static double quantile(const struct weighted *values, int64_t n, double share) {
    double all = 0, below = 0;
    for (int64_t i = 0; i < n; i++)
        all += values[i].weight;
    for (int64_t i = 0; i < n; i++) {
        below += values[i].weight;
        if (below == share * all && i + 1 < n)
            return (values[i].value + values[i + 1].value) / 2;
        if (below >= share * all)
            return values[i].value;
    }
    return n > 0 ? values[n - 1].value : (double)NAN;
}

/* The median, and 1.4826 times the median absolute deviation. */
struct robust {
    double median, scatter;
};

static struct robust robust_of(struct weighted *values, int64_t n) {
    struct robust robust;
    sort(values, n);
    robust.median = quantile(values, n, 0.5);
    if (n < 2)
        return (struct robust){robust.median, (double)NAN};
    for (int64_t i = 0; i < n; i++)
        values[i].value = fabs(values[i].value - robust.median);
    sort(values, n);
    robust.scatter = 1.4826 * quantile(values, n, 0.5);
    return robust;
}

/* --- a bin --- */

/* The sources of one width, and room for twice as many values. */
struct group {
    const struct injection *sources;
    int64_t n;
    bool by_flux;
    struct weighted *room;
};

static bool is_in(const struct group *g, const struct completeness_bin *bin,
                  const struct injection *source) {
    const double value = g->by_flux ? source->flux : source->snr;
    return source->is_added && value >= bin->low && value < bin->high;
}

/* Sets the share of sources that are found. n: the number of sources of equal weight that have the
 * same error. */
static void set_share(const struct group *g, struct completeness_bin *bin) {
    double all = 0, squares = 0, found = 0;
    for (int64_t i = 0; i < g->n; i++) {
        const struct injection *source = &g->sources[i];
        if (!is_in(g, bin, source))
            continue;
        bin->injected++;
        bin->found += source->is_found;
        all += source->weight;
        squares += source->weight * source->weight;
        found += source->is_found ? source->weight : 0;
    }
    const double n = all * all / squares, share = found / all;
    bin->completeness = share;
    bin->error = sqrt(share * (1 - share) / n + 1 / (4 * n * n)) / (1 + 1 / n);
}

/* A quantity of a source that is found: where struct injection has this double. */
static double quantity_of(const struct injection *source, size_t offset) {
    double value;
    memcpy(&value, (const char *)source + offset, sizeof value);
    return value;
}

/* Median and scatter of a quantity, or of two of each source. a, b: their offsets in struct
 * injection, the same twice for one quantity. */
static struct robust robust_in(const struct group *g, const struct completeness_bin *bin, size_t a,
                               size_t b) {
    int64_t n = 0;
    for (int64_t i = 0; i < g->n; i++) {
        const struct injection *source = &g->sources[i];
        if (!source->is_found || !is_in(g, bin, source))
            continue;
        if (isfinite(quantity_of(source, a)))
            g->room[n++] = (struct weighted){quantity_of(source, a), source->weight};
        if (b != a && isfinite(quantity_of(source, b)))
            g->room[n++] = (struct weighted){quantity_of(source, b), source->weight};
    }
    struct robust robust = robust_of(g->room, n);
    if (b != a && n <= 2) /* of one source */
        robust.scatter = NAN;
    return robust;
}

static void set_scatter(const struct group *g, struct completeness_bin *bin) {
    const size_t ratio = offsetof(struct injection, ratio);
    const size_t dx = offsetof(struct injection, dx), dy = offsetof(struct injection, dy);
    const size_t pull = offsetof(struct injection, flux_pull);
    const size_t x = offsetof(struct injection, x_pull), y = offsetof(struct injection, y_pull);
    const struct robust flux = robust_in(g, bin, ratio, ratio);
    bin->flux_ratio = flux.median;
    bin->flux_scatter = flux.scatter;
    bin->position_scatter = robust_in(g, bin, dx, dy).scatter;
    bin->flux_pull = robust_in(g, bin, pull, pull).scatter;
    bin->position_pull = robust_in(g, bin, x, y).scatter;
}

static void fill_bin(const struct group *g, struct completeness_bin *bin) {
    set_share(g, bin);
    set_scatter(g, bin);
}

/* --- bins of flux --- */

/* The shares of a bin below the lowest S/N that was injected, and above the highest. */
struct shares {
    double below, above;
};

static struct shares shares_of(const struct group *g, const struct completeness_bin *bin) {
    const double low = log(bin->low), width = log(bin->high) - low;
    struct shares shares = {0, 0};
    double all = 0;
    for (int64_t i = 0; i < g->n; i++) {
        const struct injection *source = &g->sources[i];
        if (!source->is_added)
            continue;
        const double of_one = log(source->flux / source->snr);
        const double least = (of_one + log(INJECTION_LEAST) - low) / width;
        const double most = (of_one + log(INJECTION_MOST) - low) / width;
        shares.below += source->weight * fmin(fmax(least, 0), 1);
        shares.above += source->weight * (1 - fmin(fmax(most, 0), 1));
        all += source->weight;
    }
    shares.below /= all;
    shares.above /= all;
    if (shares.below + shares.above > 1 - 1e-9) /* rounded */
        shares.below = 1 - shares.above;
    return shares;
}

/* Sets the edges of bins of flux, evenly in the logarithm from `low` to `high`. */
static void space_edges(struct completeness_bin *bins, double low, double high) {
    const double step = (high - low) / COMPLETENESS_FLUX_BINS;
    for (int i = 0; i < COMPLETENESS_FLUX_BINS; i++) {
        bins[i].low = exp(low + i * step);
        bins[i].high = exp(low + (i + 1) * step);
    }
}

/* Sets the edges of bins of flux. */
static void set_edges(const struct group *g, struct completeness_bin *bins) {
    int64_t n = 0;
    for (int64_t i = 0; i < g->n; i++)
        if (g->sources[i].is_added)
            g->room[n++] =
                (struct weighted){g->sources[i].flux / g->sources[i].snr, g->sources[i].weight};
    sort(g->room, n);
    const double low = log(3 * quantile(g->room, n, 0.1));
    const double high = log(20 * quantile(g->room, n, 0.9));
    space_edges(bins, low, high);
}

/* Fills the bins of flux of the sources of a file: from the lowest flux to the highest. */
static void fill_bins_of_file(const struct group *g, struct completeness_bin *bins) {
    double least = INFINITY, most = 0;
    for (int64_t i = 0; i < g->n; i++) {
        const struct injection *source = &g->sources[i];
        least = source->is_added ? fmin(least, source->flux) : least;
        most = source->is_added ? fmax(most, source->flux) : most;
    }
    const double more = most > least ? 0 : M_LN2 / 2; /* of one flux bins span a factor of two */
    space_edges(bins, log(least) - more, log(most) + more);
    if (most > least) { /* rounded */
        bins[0].low = least;
        bins[COMPLETENESS_FLUX_BINS - 1].high = nextafter(most, INFINITY);
    }
    for (int i = 0; i < COMPLETENESS_FLUX_BINS; i++) {
        if (!(most > 0))
            bins[i].low = bins[i].high = NAN;
        fill_bin(g, &bins[i]);
    }
}

/* Fills the bins of flux. bright: the bin of the highest S/N. */
static void fill_flux_bins(const struct group *g, const struct completeness_bin *bright,
                           struct completeness_bin *bins) {
    set_edges(g, bins);
    for (int i = 0; i < COMPLETENESS_FLUX_BINS; i++) {
        fill_bin(g, &bins[i]);
        const struct shares shares = shares_of(g, &bins[i]);
        const double injected = 1 - shares.below - shares.above;
        if (isnan(injected)) /* no source was added */
            continue;
        const double here = injected > 0 ? injected * bins[i].completeness : 0;
        const double error = injected > 0 ? injected * bins[i].error : 0;
        const double above = shares.above > 0 ? shares.above * bright->completeness : 0;
        const double error_above = shares.above > 0 ? shares.above * bright->error : 0;
        bins[i].completeness = here + above;
        bins[i].error = hypot(error, error_above);
    }
}

/* --- all bins --- */

/* Fills the bins of a width. Their `width` is set. */
static void fill_width(struct group *g, struct completeness_bin *snr,
                       struct completeness_bin *flux) {
    static const double edges[COMPLETENESS_SNR_BINS + 1] = {3, 4, 5, 6, 8, 10, 20, 60};
    g->by_flux = false;
    for (int i = 0; i < COMPLETENESS_SNR_BINS; i++) {
        snr[i].low = edges[i];
        snr[i].high = edges[i + 1];
        fill_bin(g, &snr[i]);
    }
    g->by_flux = true;
    if (snr->width == INJECTION_OF_FILE)
        fill_bins_of_file(g, flux);
    else
        fill_flux_bins(g, &snr[COMPLETENESS_SNR_BINS - 1], flux);
}

bool completeness_count(const struct injections *injections, struct completeness *c) {
    const int n = injections->n_widths;
    *c = (struct completeness){.snr = calloc((size_t)n * COMPLETENESS_SNR_BINS + 1, sizeof *c->snr),
                               .flux =
                                   calloc((size_t)n * COMPLETENESS_FLUX_BINS + 1, sizeof *c->flux),
                               .n_snr = n * COMPLETENESS_SNR_BINS,
                               .n_flux = n * COMPLETENESS_FLUX_BINS};
    struct weighted *room = arrays_allocate(2 * injections->n_a_width, sizeof *room);
    const bool ok = c->snr && c->flux && room;
    for (int i = 0; ok && i < n; i++) {
        struct group group = {.sources = injections->all + i * injections->n_a_width,
                              .n = injections->n_a_width,
                              .room = room};
        struct completeness_bin *snr = c->snr + (ptrdiff_t)i * COMPLETENESS_SNR_BINS;
        struct completeness_bin *flux = c->flux + (ptrdiff_t)i * COMPLETENESS_FLUX_BINS;
        for (int k = 0; k < COMPLETENESS_SNR_BINS; k++)
            snr[k].width = injections->widths[i];
        for (int k = 0; k < COMPLETENESS_FLUX_BINS; k++)
            flux[k].width = injections->widths[i];
        fill_width(&group, snr, flux);
    }
    free(room);
    return ok;
}

void completeness_clear(struct completeness *c) {
    free(c->snr);
    free(c->flux);
    *c = (struct completeness){0};
}
