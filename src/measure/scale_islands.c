#include "measure/scale_islands.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/arrays.h"
#include "measure/island_sums.h"
#include "measure/setting.h"
#include "measure/uncertainty.h"

/* A source's flux has so many errors at least, or its height so many thresholds; or its island is
 * so much larger than that of a point of its height, and larger than the effective beam. Blends of
 * faint sources are as low, and as small as points. Of the rows of scales on sixteen skies of an
 * interferometer one in twenty is then false; with the threshold alone it is one in seven. */
static const double CERTAIN = 6, HIGH = 1.6, WIDE = 2;

/* Beside a source an island must have this share of the threshold. */
static const double BESIDE = 0.8;

/* How far beside: the peak of the island is in the box of the source's pixels, or this share of an
 * effective beam around it; or where it is as high as the threshold, so many beams. With 0.8 and
 * 0.5 one row in a hundred is lifted by more than 2 errors where nothing is; with 0.7 and 0.5 two.
 */
static const double NEAR = 0.5, NEAR_FOUND = 1.5;

double scale_islands_threshold(const struct detection *d) {
    return fmin(fmax(BESIDE * d->threshold, d->island), d->threshold);
}

/* The highest sample of an island, in pixels of the image, and how far from it a source may be. */
struct peak {
    double x, y, reach;
    int64_t island;
};

/* What is known of the islands while they are divided. */
struct division {
    const struct setting *setting;
    double threshold;
    double sigma;                 /* of the effective beam, pixels */
    double reach, reach_of_found; /* how far from a source an island may be, in pixels */
    const struct segments *islands;
    struct peak *peaks; /* in the order of y */
    double *nearness;   /* of the source that each island is beside */
    int64_t *source;    /* that source, from 0; or one of these: */
};

/* There is no source beside an island, or none that has a fit, and could be joined. */
enum { NO_SOURCE = -1, NO_FITTED_SOURCE = -2 };

/* The noise at the highest sample of an island. */
static struct noise_at noise_of(const struct division *d, const struct island *island) {
    return noise_map_at(d->setting->noise, island->x_peak, island->y_peak);
}

/* The height of an island, in rms. */
static double snr_of(const struct division *d, const struct island *island) {
    const struct noise_at at = noise_of(d, island);
    return d->setting->noise->nodes ? island->snr : ((double)island->peak - at.background) / at.rms;
}

static int by_y(const void *a, const void *b) {
    const struct peak *p = a, *q = b;
    return p->y != q->y ? (p->y > q->y) - (p->y < q->y)
                        : (p->island > q->island) - (p->island < q->island);
}

/* --- which source an island is beside --- */

/* The first peak at y or above it. */
static int64_t first_from(const struct division *d, double y) {
    int64_t low = 0, high = d->islands->n;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (d->peaks[middle].y < y)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* FWHM of the round Gaussian of equal area, in pixels: of the beam, and of the effective beam. */
static double fwhm_of(const struct grid *g, double variance) {
    const struct tensor t = {g->beam.xx + variance, g->beam.yy + variance, g->beam.xy};
    return FIT_FWHM * sqrt(sqrt(tensor_determinant(&t)));
}

/* How far x is outside of a source's pixels, or from its position where it has none. */
static double outside(const struct srcfind_source *row, double x, double position, int64_t least,
                      int64_t most) {
    return row->n_pixels == SRCFIND_EMPTY ? fabs(x - position)
                                          : fmax(fmax((double)least - x, x - (double)most), 0);
}

/* Notes that an island is beside a source. Of several, it is beside the one whose flux, smoothed as
 * that of a point, is the highest there. sigma: of the effective beam. */
static void note_beside(struct division *d, const struct peak *p, const struct srcfind_source *row,
                        int64_t source, double sigma) {
    const double r = hypot(p->x - row->x, p->y - row->y) / sigma;
    const double nearness = log(fabs(row->total_flux)) - r * r / 2;
    int64_t *const noted = &d->source[p->island];
    if (row->flags & SRCFIND_FLAG_NOT_FITTED) {
        *noted = *noted == NO_SOURCE ? NO_FITTED_SOURCE : *noted;
    } else if (nearness > d->nearness[p->island]) {
        d->nearness[p->island] = nearness;
        *noted = source;
    }
}

/* Notes the islands that are beside a source. */
static void note_islands(struct division *d, const struct srcfind_source *row, int64_t source) {
    const bool has_pixels = row->n_pixels != SRCFIND_EMPTY;
    const double most = fmax(d->reach, d->reach_of_found);
    const double y_min = (has_pixels ? (double)row->y_min : row->y) - most,
                 y_max = (has_pixels ? (double)row->y_max : row->y) + most;
    for (int64_t k = first_from(d, y_min); k < d->islands->n && d->peaks[k].y <= y_max; k++) {
        const struct peak *p = &d->peaks[k];
        if (outside(row, p->x, row->x, row->x_min, row->x_max) <= p->reach &&
            outside(row, p->y, row->y, row->y_min, row->y_max) <= p->reach)
            note_beside(d, p, row, source, d->sigma);
    }
}

/* Finds the source that each island is beside. */
static void find_sources(struct division *d, const struct srcfind_source *rows, int64_t n) {
    const struct grid *g = &d->setting->grid;
    for (int64_t i = 0; i < d->islands->n; i++) {
        const struct island *island = &d->islands->islands[i];
        const bool is_found = snr_of(d, island) >= d->threshold;
        d->peaks[i] = (struct peak){.x = (double)(g->step * island->x_peak) + g->x,
                                    .y = (double)(g->step * island->y_peak) + g->y,
                                    .reach = is_found ? d->reach_of_found : d->reach,
                                    .island = i};
        d->nearness[i] = -INFINITY;
        d->source[i] = NO_SOURCE;
    }
    qsort(d->peaks, (size_t)d->islands->n, sizeof *d->peaks, by_y);
    for (int64_t i = 0; i < n; i++)
        note_islands(d, &rows[i], i);
}

/* --- kinds --- */

/* Whether an island is wider than what smoothing makes of points; snr: of its highest sample. A
 * Gaussian with the area A = 2 pi sigma^2 is above T where its ellipse has the area
 * A log(peak / T). */
static bool is_wide(const struct setting *s, const struct island *island, double snr) {
    const double of_point = log(snr / s->detection->island);
    return (double)island->n_pixels > s->point * fmax(WIDE * of_point, 1);
}

static enum scale_island kind_of(const struct division *d, int64_t i) {
    const struct setting *s = d->setting;
    const struct island *island = &d->islands->islands[i];
    const struct noise_at at = noise_of(d, island);
    const struct noise noise = {at.rms, s->correlated};
    const double sum = island_sum_above(island, s->noise->nodes ? 0 : at.background);
    const double e_sum = uncertainty_of_sum(&noise, (double)island->n_pixels);
    const double snr = snr_of(d, island);
    const bool is_found = snr >= d->threshold, is_alone = d->source[i] == NO_SOURCE;
    const bool is_certain = sum > CERTAIN * e_sum || snr > HIGH * d->threshold;
    if (is_found && (is_certain || (is_alone && is_wide(s, island, snr))))
        return ISLAND_IS_SOURCE;
    return d->source[i] >= 0 ? ISLAND_JOINS : is_found ? ISLAND_IS_DOUBT : ISLAND_IS_NOISE;
}

/* Appends an island with its runs, for which there is room. */
static void copy_island(const struct segments *from, int64_t i, int64_t source,
                        struct scale_islands *to) {
    struct segments *s = &to->segments;
    const int64_t n = from->first_run[i + 1] - from->first_run[i];
    s->islands[s->n] = from->islands[i];
    memcpy(s->runs + s->first_run[s->n], from->runs + from->first_run[i],
           (size_t)n * sizeof *s->runs);
    to->source[s->n] = source;
    s->first_run[s->n + 1] = s->first_run[s->n] + n;
    s->n++;
}

static bool allocate(struct scale_islands *kind, int64_t n_islands, int64_t n_runs) {
    struct segments *s = &kind->segments;
    s->islands = arrays_allocate(n_islands, sizeof *s->islands);
    s->runs = arrays_allocate(n_runs, sizeof *s->runs);
    s->first_run = arrays_allocate(n_islands + 1, sizeof *s->first_run);
    kind->source = arrays_allocate(n_islands, sizeof *kind->source);
    if (s->first_run)
        s->first_run[0] = 0;
    return s->islands && s->runs && s->first_run && kind->source;
}

static bool divide(const struct division *d, struct scale_islands kinds[SCALE_ISLANDS]) {
    const struct segments *all = d->islands;
    int64_t n[SCALE_ISLANDS] = {0}, n_runs[SCALE_ISLANDS] = {0};
    for (int64_t i = 0; i < all->n; i++) {
        const int kind = kind_of(d, i);
        n[kind]++;
        n_runs[kind] += all->first_run[i + 1] - all->first_run[i];
    }
    for (int kind = 0; kind < SCALE_ISLANDS; kind++)
        if (!allocate(&kinds[kind], n[kind], n_runs[kind]))
            return false;
    for (int64_t i = 0; i < all->n; i++)
        copy_island(all, i, d->source[i], &kinds[kind_of(d, i)]);
    return true;
}

bool scale_islands_divide(const struct view *samples, double threshold,
                          const struct fit_frame *frame, const struct srcfind_source *rows,
                          int64_t n, struct scale_islands kinds[SCALE_ISLANDS]) {
    const struct setting setting = setting_make(samples, frame);
    const struct segments *islands = &samples->result.segments;
    const double fwhm = fwhm_of(samples->grid, samples->grid->variance);
    struct division d = {.setting = &setting,
                         .threshold = threshold,
                         .sigma = fwhm / FIT_FWHM,
                         .reach = NEAR * fwhm,
                         .reach_of_found = NEAR_FOUND * fwhm_of(samples->grid, 0),
                         .islands = islands,
                         .peaks = arrays_allocate(islands->n, sizeof *d.peaks),
                         .nearness = arrays_allocate(islands->n, sizeof *d.nearness),
                         .source = arrays_allocate(islands->n, sizeof *d.source)};
    bool ok = d.peaks && d.nearness && d.source;
    memset(kinds, 0, SCALE_ISLANDS * sizeof *kinds);
    if (ok) {
        find_sources(&d, rows, n);
        ok = divide(&d, kinds);
    }
    free(d.peaks);
    free(d.nearness);
    free(d.source);
    return ok;
}

void scale_islands_clear(struct scale_islands kinds[SCALE_ISLANDS]) {
    for (int kind = 0; kind < SCALE_ISLANDS; kind++) {
        segments_clear(&kinds[kind].segments);
        free(kinds[kind].source);
        kinds[kind].source = NULL;
    }
}
