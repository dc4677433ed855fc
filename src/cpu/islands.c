/* How islands are made of the candidates of a scan, in passes over the bands of the scan:
 *
 * 1. count_band counts the runs of pixels above the island threshold; fill_and_link_band copies
 *    them, and joins those that touch within the band by union-find (runs.h). runs_link_across then
 *    joins runs across borders of bands.
 * 2. number_islands turns parents into numbers of islands, in one pass over the runs.
 * 3. find_extents finds box, size and peak of each island, and so which islands count: those with
 *    enough pixels, of which one is above the detection threshold.
 * 4. find_moments sums the moments of islands that count; runs_group groups their runs, if they are
 *    wanted.
 *
 * Always: an island has the number of its first run in the order of the pixels, as
 * scipy.ndimage.label numbers them; the parent of a run is never a later run. A thread writes only
 * to islands that begin in its band: the runs of others are noted (foreign_run), and one thread
 * adds them after all bands.
 *
 * Cost: no pixel is read again; 20 bytes a run, and 72 bytes an island, whether it counts or not.
 * All sums are integers, so the order of the bands changes no bit. */
#include "cpu/islands.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "backend/edges.h"
#include "backend/moments.h"
#include "common/arrays.h"
#include "cpu/runs.h"

/* The box, size and peak of an island. An island counts, and enters the catalogue, if it is large
 * and high enough. */
struct extent {
    int64_t n_pixels;
    int64_t index; /* among the islands that count; -1 if it does not */
    int32_t x_min, x_max, y_min, y_max, x_peak, y_peak;
    float peak;
    bool edge, passes; /* passes: a pixel is above the detection threshold */
    double above;      /* with local noise: value - background of the peak */
    double snr;        /* with local noise: the largest (value - background) / rms of all pixels */
    double per_unit;   /* 2^-unit of the moments; set if the island counts */
};

/* A run of an island whose first run is in an earlier band. */
struct foreign_run {
    int64_t run;
    const float *values;
};

/* A band of the scan, and its runs and islands. */
struct band {
    float *values;               /* of its runs, one run after the other */
    int64_t first_run, n_runs;   /* its runs are runs[first_run ... first_run + n_runs - 1] */
    int64_t first_island;        /* number of islands that begin in earlier bands */
    struct foreign_run *foreign; /* one thread adds these after all bands are done */
    int64_t n_foreign, foreign_capacity;
};

struct search {
    struct scan *scan;
    const struct detection *detection;
    struct thresholds thresholds;
    const struct noise_map *map; /* with local noise; else NULL */
    int n_bands;
    struct band *bands;
    struct run *runs; /* of all bands, in the order of the pixels */
    int64_t *island;  /* of each run: first its parent, see runs.h; then its island's number */
    struct extent *extents;
    struct island *islands; /* that count */
    atomic_bool no_memory;  /* memory ran out while a thread worked on a band */
};

/* --- runs --- */

/* The number of runs of pixels >= threshold among `count` neighbouring pixels; without a branch
 * that the processor could not predict. */
static int64_t count_runs(const float *values, int64_t count, float threshold) {
    int64_t n = 0;
    bool before = false;
    for (int64_t i = 0; i < count; i++) {
        const bool above = values[i] >= threshold;
        n += above && !before;
        before = above;
    }
    return n;
}

static void count_band(void *context, int b) {
    struct search *s = context;
    const struct scan_band *from = &s->scan->bands[b];
    const struct scan_worker *w = &s->scan->workers[from->worker];
    struct band *band = &s->bands[b];
    band->values = from->n_runs > 0 ? w->candidates.values + from->first_candidate : NULL;
    const float *values = band->values;
    for (int64_t i = from->first_run; i < from->first_run + from->n_runs; i++) {
        band->n_runs += count_runs(values, run_length(&w->runs[i]), s->thresholds.island);
        values += run_length(&w->runs[i]);
    }
}

/* The runs and values that a band keeps. */
struct kept_runs {
    struct run *run;
    float *values;
};

/* Cuts a run of candidates into runs of pixels >= threshold, and moves their values to the end of
 * the kept values. Kept values are never more than values read, so no value is overwritten before
 * it is read. */
static void split_run(const struct run *run, const float *values, float threshold,
                      struct kept_runs *f) {
    const int32_t count = (int32_t)run_length(run);
    for (int32_t i = 0; i < count; i++) {
        const int32_t first = i;
        while (i < count && values[i] >= threshold)
            *f->values++ = values[i++];
        if (i > first)
            *f->run++ = (struct run){run->y, run->x0 + first, run->x0 + i - 1};
    }
}

static void fill_and_link_band(void *context, int b) {
    struct search *s = context;
    const struct scan_band *from = &s->scan->bands[b];
    const struct scan_worker *w = &s->scan->workers[from->worker];
    const struct band *band = &s->bands[b];
    struct kept_runs kept = {s->runs + band->first_run, band->values};
    const float *values = band->values;
    for (int64_t i = from->first_run; i < from->first_run + from->n_runs; i++) {
        split_run(&w->runs[i], values, s->thresholds.island, &kept);
        values += run_length(&w->runs[i]);
    }
    runs_link(s->runs, s->island, band->first_run, band->first_run + band->n_runs,
              runs_reach(s->detection->connectivity));
}

static void free_scan_runs(struct scan *scan) {
    for (int i = 0; i < scan->n_workers; i++) {
        struct scan_worker *w = &scan->workers[i];
        free(w->runs);
        w->runs = NULL;
        w->n_runs = w->runs_capacity = 0;
    }
}

/* Makes the runs of all bands, and joins runs that touch. */
static bool make_and_link_runs(struct search *s, struct threads *threads) {
    int64_t n = 0;
    threads_run(threads, s->n_bands, count_band, s);
    for (int b = 0; b < s->n_bands; b++) {
        s->bands[b].first_run = n;
        n += s->bands[b].n_runs;
    }
    s->runs = arrays_allocate(n, sizeof *s->runs);
    s->island = arrays_allocate(n, sizeof *s->island);
    if (!s->runs || !s->island)
        return false;
    threads_run(threads, s->n_bands, fill_and_link_band, s);
    free_scan_runs(s->scan); /* they have been copied */
    for (int b = 1; b < s->n_bands; b++)
        runs_link_across(s->runs, s->island, s->bands[b].first_run,
                         s->bands[b].first_run + s->bands[b].n_runs,
                         runs_reach(s->detection->connectivity));
    return true;
}

/* Numbers the islands in the order of their first runs, gives each run the number of its island,
 * and returns the number of islands. The parent of a run is an earlier run, which already has its
 * island's number, or the run itself. */
static int64_t number_islands(struct search *s) {
    int64_t n = 0;
    for (int b = 0; b < s->n_bands; b++) {
        const int64_t first = s->bands[b].first_run, end = first + s->bands[b].n_runs;
        s->bands[b].first_island = n;
        for (int64_t i = first; i < end; i++)
            s->island[i] = s->island[i] == i ? n++ : s->island[s->island[i]];
    }
    return n;
}

/* --- extents --- */

/* Updates the peak of an island by one of its runs. */
static void find_peak(const struct search *s, const struct run *r, const float *values,
                      struct extent *e) {
    for (int32_t x = r->x0; x <= r->x1; x++) {
        if (values[x - r->x0] > e->peak) {
            e->peak = values[x - r->x0];
            e->x_peak = x;
            e->y_peak = r->y;
        }
    }
    e->passes = e->peak >= s->thresholds.detection;
}

/* Updates the peak of an island with local noise: the pixel with the highest value - background.
 * Where the rms is steep, another pixel may have the largest (value - background) / rms. */
static void find_local_peak(const struct search *s, const struct run *r, const float *values,
                            struct extent *e) {
    struct noise_at noise[NOISE_RANGE];
    for (int64_t x = r->x0; x <= r->x1; x += NOISE_RANGE) {
        const int64_t n = r->x1 - x < NOISE_RANGE ? r->x1 - x + 1 : NOISE_RANGE;
        noise_map_row(s->map, r->y, x, n, noise);
        for (int64_t i = 0; i < n; i++) {
            const float v = values[x - r->x0 + i];
            const double above = (double)v - noise[i].background;
            e->passes |= noise_is_exceeded(noise[i], s->detection->threshold, v);
            e->snr = fmax(e->snr, above / noise[i].rms);
            if (above > e->above) {
                e->above = above;
                e->peak = v;
                e->x_peak = (int32_t)(x + i);
                e->y_peak = r->y;
            }
        }
    }
}

static void add_extent(const struct search *s, int64_t i, const float *values) {
    const struct run *r = &s->runs[i];
    const struct scan *scan = s->scan;
    const int64_t width = scan->source->width;
    struct extent *e = &s->extents[s->island[i]];
    if (e->n_pixels == 0)
        *e = (struct extent){
            .x_min = r->x0, .x_max = r->x1, .y_min = r->y, .peak = -INFINITY, .above = -INFINITY};
    e->n_pixels += run_length(r);
    e->x_min = r->x0 < e->x_min ? r->x0 : e->x_min;
    e->x_max = r->x1 > e->x_max ? r->x1 : e->x_max;
    e->y_max = r->y;
    if (s->map)
        find_local_peak(s, r, values, e);
    else
        find_peak(s, r, values, e);
    e->edge |= edges_touch(r->x0, r->x1, r->y, width, scan->source->height, width, scan->blank);
}

static bool note_foreign(struct band *band, int64_t run, const float *values) {
    if (!GROW(band->foreign, band->foreign_capacity, band->n_foreign + 1))
        return false;
    band->foreign[band->n_foreign++] = (struct foreign_run){run, values};
    return true;
}

static void find_band_extents(void *context, int b) {
    struct search *s = context;
    struct band *band = &s->bands[b];
    const float *values = band->values;
    for (int64_t i = band->first_run; i < band->first_run + band->n_runs; i++) {
        if (s->island[i] >= band->first_island)
            add_extent(s, i, values);
        else if (!note_foreign(band, i, values))
            s->no_memory = true;
        values += run_length(&s->runs[i]);
    }
}

/* Finds the extents of all n islands, and returns the number of islands that count. */
static int64_t find_extents(struct search *s, struct threads *threads, int64_t n) {
    int64_t n_counting = 0;
    threads_run(threads, s->n_bands, find_band_extents, s);
    for (int b = 0; b < s->n_bands; b++)
        for (int64_t i = 0; i < s->bands[b].n_foreign; i++)
            add_extent(s, s->bands[b].foreign[i].run, s->bands[b].foreign[i].values);
    for (int64_t i = 0; i < n; i++) {
        struct extent *e = &s->extents[i];
        const bool counts = e->passes && e->n_pixels >= s->detection->min_pixels;
        e->index = counts ? n_counting++ : -1;
    }
    return n_counting;
}

/* --- moments --- */

static struct island island_from_extent(const struct search *s, const struct extent *e) {
    const float threshold = s->thresholds.island;
    struct island island = {.n_pixels = e->n_pixels,
                            .x_min = e->x_min,
                            .x_max = e->x_max,
                            .y_min = e->y_min,
                            .y_max = e->y_max,
                            .x_peak = e->x_peak,
                            .y_peak = e->y_peak,
                            .peak = e->peak,
                            .edge = e->edge,
                            .snr = e->snr};
    island.unit = s->map ? moments_local_unit(&island, e->above) : moments_unit(&island, threshold);
    island.small =
        s->map ? moments_are_small_locally(&island) : moments_are_small(&island, threshold);
    return island;
}

/* Adds a run whose first pixel is at (x, y) of the island's box, with value - background. */
static void add_local_moments(const struct noise_map *map, const struct run *r, const float *values,
                              int64_t x, int64_t y, double per_unit, struct island *island) {
    struct noise_at noise[NOISE_RANGE];
    double above[NOISE_RANGE];
    for (int64_t first = r->x0; first <= r->x1; first += NOISE_RANGE) {
        const int64_t n = r->x1 - first < NOISE_RANGE ? r->x1 - first + 1 : NOISE_RANGE;
        noise_map_row(map, r->y, first, n, noise);
        for (int64_t i = 0; i < n; i++)
            above[i] = (double)values[first - r->x0 + i] - noise[i].background;
        if (island->small)
            moments_add_small_local_row(island, above, n, x + first - r->x0, y, per_unit);
        else
            moments_add_local_row(island, above, n, x + first - r->x0, y, per_unit);
    }
}

static void add_moments(const struct search *s, int64_t i, const float *values) {
    const struct run *r = &s->runs[i];
    const struct extent *e = &s->extents[s->island[i]];
    if (e->index < 0 || s->scan->noise.maps) /* with maps, the candidates have no values */
        return;
    struct island *island = &s->islands[e->index];
    const int64_t count = run_length(r);
    const int64_t x = (int64_t)r->x0 - island->x_min, y = (int64_t)r->y - island->y_min;
    if (s->map)
        add_local_moments(s->map, r, values, x, y, e->per_unit, island);
    else if (island->small)
        moments_add_small_row(island, values, count, x, y, e->per_unit);
    else
        moments_add_row(island, values, count, x, y, e->per_unit);
}

static void begin_island(const struct search *s, struct extent *e) {
    if (e->index < 0)
        return;
    s->islands[e->index] = island_from_extent(s, e);
    e->per_unit = ldexp(1, -s->islands[e->index].unit);
}

/* Initialises an island at its first run, which is never foreign. */
static void find_band_moments(void *context, int b) {
    struct search *s = context;
    const struct band *band = &s->bands[b];
    const float *values = band->values;
    int64_t next = band->first_island;
    for (int64_t i = band->first_run; i < band->first_run + band->n_runs; i++) {
        if (s->island[i] == next)
            begin_island(s, &s->extents[next++]);
        if (s->island[i] >= band->first_island)
            add_moments(s, i, values);
        values += run_length(&s->runs[i]);
    }
}

static void find_moments(struct search *s, struct threads *threads) {
    threads_run(threads, s->n_bands, find_band_moments, s);
    for (int b = 0; b < s->n_bands; b++)
        for (int64_t i = 0; i < s->bands[b].n_foreign; i++)
            add_moments(s, s->bands[b].foreign[i].run, s->bands[b].foreign[i].values);
}

/* --- segments --- */

/* Gives run i and the index of its island: see runs_group. */
static int64_t get_run(const void *context, int64_t i, struct run *run) {
    const struct search *s = context;
    *run = s->runs[i];
    return s->extents[s->island[i]].index;
}

/* --- search --- */

static bool find_segments(struct search *s, struct threads *threads, struct segments *out) {
    if (!make_and_link_runs(s, threads))
        return false;
    const int64_t n_runs = s->bands[s->n_bands - 1].first_run + s->bands[s->n_bands - 1].n_runs;
    const int64_t n = number_islands(s);
    s->extents = calloc((size_t)n + 1, sizeof *s->extents);
    if (!s->extents)
        return false;
    arrays_use_huge_pages(s->extents, ((size_t)n + 1) * sizeof *s->extents);
    out->n = find_extents(s, threads, n);
    out->islands = s->islands = arrays_allocate(out->n, sizeof *s->islands);
    if (s->no_memory || !s->islands)
        return false;
    find_moments(s, threads);
    return !s->detection->keep_runs || runs_group(get_run, s, n_runs, out);
}

enum srcfind_status islands_find(struct scan *scan, const struct thresholds *thresholds,
                                 const struct detection *detection, struct threads *threads,
                                 struct segments *segments, struct error *error) {
    struct search s = {
        .scan = scan,
        .detection = detection,
        .thresholds = *thresholds,
        .map = scan->noise.thresholds && !scan->noise.maps ? scan->noise.thresholds->map : NULL,
        .n_bands = (int)scan->n_bands,
        .bands = calloc((size_t)scan->n_bands, sizeof *s.bands)};
    *segments = (struct segments){0};
    const bool ok = s.bands && find_segments(&s, threads, segments);
    for (int b = 0; s.bands && b < s.n_bands; b++)
        free(s.bands[b].foreign);
    free(s.bands);
    free(s.runs);
    free(s.island);
    free(s.extents);
    return ok ? SRCFIND_OK : error_memory(error, "joining pixels into islands");
}
