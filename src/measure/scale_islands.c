#include "measure/scale_islands.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/arrays.h"
#include "measure/beam_frame.h"
#include "measure/island_sums.h"
#include "measure/setting.h"
#include "measure/uncertainty.h"

/* A source's flux has so many errors at least, or its height so many thresholds; or its island is
 * so much larger than that of a point of its height, and larger than the effective beam. Blends of
 * faint sources are as low, and as small as points. Of the rows of scales on sixteen skies of an
 * interferometer one in twenty-three is then false; with the threshold alone one in seven. */
static const double CERTAIN = 6, HIGH = 1.6, WIDE = 2;

/* Beside a source an island must have this share of the threshold. With 0.7 twice as many sources
 * would get flux that is not theirs. */
static const double BESIDE = 0.8;

/* How far the peak of an island may be from the box of a source's pixels: in effective beams, and
 * in beams. It joins a source within either, and is alone where there is none within so many beams.
 */
static const double EFFECTIVE_BEAMS = 0.5, BEAMS = 1.5;

double scale_islands_threshold(const struct detection *d) {
    return fmin(fmax(BESIDE * d->threshold, d->island), d->threshold);
}

/* What is known of an island. Its place is that of its highest sample, in pixels of the image. */
struct about {
    double x, y, snr;
    double nearness; /* of the source that it joins */
    int64_t source;  /* that source, from 0; -1: none is near that has a fit */
    bool is_alone;
    enum scale_island kind;
};

/* Where an island is, to find it by y. */
struct place {
    double y;
    int64_t island;
};

/* What is known while islands are divided. */
struct division {
    const struct setting *setting;
    double threshold;
    double sigma;       /* of the effective beam, pixels */
    double reach, near; /* within which an island joins a source, and is not alone, in pixels */
    const struct segments *islands;
    struct about *about;  /* each island */
    struct place *places; /* in the order of y */
};

/* The noise at the highest sample of an island. */
static struct noise_at noise_of(const struct setting *s, const struct island *island) {
    return noise_map_at(s->noise, island->x_peak, island->y_peak);
}

/* The height of an island, in rms. */
static double snr_of(const struct setting *s, const struct island *island) {
    const struct noise_at at = noise_of(s, island);
    return s->noise->nodes ? island->snr : ((double)island->peak - at.background) / at.rms;
}

/* --- which source an island is beside --- */

static int compare_places(const void *a, const void *b) {
    const struct place *p = a, *q = b;
    return p->y != q->y ? (p->y > q->y) - (p->y < q->y)
                        : (p->island > q->island) - (p->island < q->island);
}

static void sort_islands(struct division *d) {
    for (int64_t i = 0; i < d->islands->n; i++)
        d->places[i] = (struct place){d->about[i].y, i};
    qsort(d->places, (size_t)d->islands->n, sizeof *d->places, compare_places);
}

/* The first place at y or above it. */
static int64_t first_from(const struct division *d, double y) {
    int64_t low = 0, high = d->islands->n;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (d->places[middle].y < y)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The box of a source's pixels; its position, where it has no pixels. */
struct box {
    double x_min, x_max, y_min, y_max;
};

static struct box box_of(const struct srcfind_source *s) {
    return s->n_pixels == SRCFIND_EMPTY ? (struct box){s->x, s->x, s->y, s->y}
                                        : (struct box){(double)s->x_min, (double)s->x_max,
                                                       (double)s->y_min, (double)s->y_max};
}

double scale_islands_distance(const struct srcfind_source *source, double x, double y) {
    const struct box b = box_of(source);
    return fmax(fmax(b.x_min - x, x - b.x_max), fmax(b.y_min - y, y - b.y_max));
}

/* Notes that an island is beside a source. Of several, it joins the one whose flux, smoothed as
 * that of a point, is the highest there. */
static void note_beside(const struct division *d, struct about *about,
                        const struct srcfind_source *row, int64_t source) {
    const double far = scale_islands_distance(row, about->x, about->y);
    const double r = hypot(about->x - row->x, about->y - row->y) / d->sigma;
    const double nearness = log(fabs(row->total_flux)) - r * r / 2;
    about->is_alone = about->is_alone && far > d->near;
    if (far <= d->reach && !(row->flags & SRCFIND_FLAG_NOT_FITTED) && nearness > about->nearness) {
        about->nearness = nearness;
        about->source = source;
    }
}

/* Finds the source that each island is beside. */
static void find_sources(struct division *d, const struct srcfind_source *rows, int64_t n) {
    const double most = fmax(d->reach, d->near);
    for (int64_t i = 0; i < n; i++) {
        const struct box b = box_of(&rows[i]);
        int64_t k = first_from(d, b.y_min - most);
        for (; k < d->islands->n && d->places[k].y <= b.y_max + most; k++)
            note_beside(d, &d->about[d->places[k].island], &rows[i], i);
    }
}

/* --- kinds --- */

/* Whether an island is wider than what smoothing makes of points; snr: of its highest sample. A
 * Gaussian with the area A = 2 pi sigma^2 is above T where its ellipse has the area
 * A log(peak / T). */
static bool is_wide(const struct setting *s, const struct island *island, double snr) {
    const double of_point = log(snr / s->detection->island);
    return (double)island->n_pixels > s->point * fmax(WIDE * of_point, 1);
}

/* Whether an island is the rest of a source: it has less flux, and its centroid is near. base:
 * still in the values of its moments; sum: of value - base. */
static bool is_rest(const struct division *d, const struct island *island, double base, double sum,
                    const struct srcfind_source *source) {
    const struct grid *g = &d->setting->grid;
    const double unit = ldexp(1, island->unit), step = (double)g->step;
    const double x = sum_above(island_sum(island, SUM_QX), unit, island_sum(island, SUM_X), base);
    const double y = sum_above(island_sum(island, SUM_QY), unit, island_sum(island, SUM_Y), base);
    return sum * d->setting->to_flux < fabs(source->total_flux) &&
           scale_islands_distance(source, step * ((double)island->x_min + x / sum) + g->x,
                                  step * ((double)island->y_min + y / sum) + g->y) <= d->reach;
}

static enum scale_island kind_of(const struct division *d, const struct srcfind_source *rows,
                                 int64_t i) {
    const struct setting *s = d->setting;
    const struct island *island = &d->islands->islands[i];
    const struct about *about = &d->about[i];
    const struct noise_at at = noise_of(s, island);
    const double base = s->noise->nodes ? 0 : at.background;
    const double sum = island_sum_above(island, base);
    const double e_sum =
        at.rms * uncertainty_of_sum(s->correlation, island, (double)island->n_pixels);
    const bool is_found = about->snr >= d->threshold;
    const bool is_certain = sum > CERTAIN * e_sum || about->snr > HIGH * d->threshold;
    if (is_found && (is_certain || (about->is_alone && is_wide(s, island, about->snr))))
        return ISLAND_IS_SOURCE;
    if (about->source >= 0)
        return is_rest(d, island, base, sum, &rows[about->source]) ? ISLAND_JOINS : ISLAND_IS_LEFT;
    return is_found ? ISLAND_IS_DOUBT : ISLAND_IS_LEFT;
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

/* Copies the islands to those of their kinds. */
static bool copy_islands(const struct division *d, struct scale_islands kinds[SCALE_ISLANDS]) {
    const struct segments *all = d->islands;
    int64_t n[ISLAND_IS_LEFT + 1] = {0}, n_runs[ISLAND_IS_LEFT + 1] = {0};
    for (int64_t i = 0; i < all->n; i++) {
        n[d->about[i].kind]++;
        n_runs[d->about[i].kind] += all->first_run[i + 1] - all->first_run[i];
    }
    for (int kind = 0; kind < SCALE_ISLANDS; kind++)
        if (!allocate(&kinds[kind], n[kind], n_runs[kind]))
            return false;
    for (int64_t i = 0; i < all->n; i++)
        if (d->about[i].kind != ISLAND_IS_LEFT)
            copy_island(all, i, d->about[i].source, &kinds[d->about[i].kind]);
    return true;
}

static bool divide(struct division *d, const struct srcfind_source *rows, int64_t n,
                   struct scale_islands kinds[SCALE_ISLANDS]) {
    const struct grid *g = &d->setting->grid;
    for (int64_t i = 0; i < d->islands->n; i++) {
        const struct island *island = &d->islands->islands[i];
        d->about[i] = (struct about){.x = (double)(g->step * island->x_peak) + g->x,
                                     .y = (double)(g->step * island->y_peak) + g->y,
                                     .snr = snr_of(d->setting, island),
                                     .nearness = -INFINITY,
                                     .source = -1,
                                     .is_alone = true};
    }
    sort_islands(d);
    find_sources(d, rows, n);
    for (int64_t i = 0; i < d->islands->n; i++)
        d->about[i].kind = kind_of(d, rows, i);
    return copy_islands(d, kinds);
}

double scale_islands_reach(const struct grid *g) {
    return fmax(EFFECTIVE_BEAMS * grid_fwhm(g), BEAMS * beam_frame_fwhm(&g->beam));
}

bool scale_islands_divide(const struct view *samples, double threshold,
                          const struct fit_frame *frame, const struct srcfind_source *rows,
                          int64_t n, struct scale_islands kinds[SCALE_ISLANDS]) {
    const struct setting setting = setting_make(samples, frame);
    const struct segments *islands = &samples->result.segments;
    const struct grid *g = samples->grid;
    struct division d = {.setting = &setting,
                         .threshold = threshold,
                         .sigma = grid_fwhm(g) / FIT_FWHM,
                         .reach = scale_islands_reach(g),
                         .near = BEAMS * beam_frame_fwhm(&g->beam),
                         .islands = islands,
                         .about = arrays_allocate(islands->n, sizeof *d.about),
                         .places = arrays_allocate(islands->n, sizeof *d.places)};
    memset(kinds, 0, SCALE_ISLANDS * sizeof *kinds);
    const bool ok = d.about && d.places && divide(&d, rows, n, kinds);
    free(d.about);
    free(d.places);
    return ok;
}

void scale_islands_clear(struct scale_islands kinds[SCALE_ISLANDS]) {
    for (int kind = 0; kind < SCALE_ISLANDS; kind++) {
        segments_clear(&kinds[kind].segments);
        free(kinds[kind].source);
        kinds[kind].source = NULL;
    }
}
