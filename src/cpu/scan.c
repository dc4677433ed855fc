/* How the scan is made. Threads take bands of consecutive chunks, and cut each chunk into tiles of
 * 4096 pixels. For each tile:
 *
 * 1. The tile function of the processor (scan_tile.h) adds inliers to integer sums, and returns the
 *    values within the median bracket and the indices of all other pixels.
 * 2. Of these others, inliers of the zero band are summed in a smaller unit (sum_small), values
 *    below the candidates are listed, and candidates and blanks are picked.
 * 3. Candidates become runs, and their values are kept. Blanks become bits of a bitmap, which the
 *    first blank pixel of the image allocates.
 *
 * With local noise or maps of the noise there are no sums and no lists: step 1 picks what is not
 * below the noise between the nodes (pick_by_bounds), or above the noise of the maps
 * (pick_by_maps).
 *
 * A band that gets many runs, and each band at its end, is swept: sweep.c drops islands without a
 * pixel above the detection threshold.
 *
 * Always: each finite pixel is counted once for the clip, in a sum, in a list, among the zeros or,
 * if candidates_apart, among the candidates; the runs of a band are in the order of the pixels.
 *
 * Cost: one read of the image; 4 bytes a listed value and candidate, 12 bytes a run. Loops over
 * pixels write each pixel to both possible lists and advance the index of one: a branch that the
 * processor cannot predict takes longer. */
#include "cpu/scan.h"

#include <stdlib.h>

#include "common/arrays.h"
#include "cpu/runs.h"
#include "cpu/sweep.h"
#include "cpu/variants.h"

enum {
    MANY_ZEROS = TILE_PIXELS / 16, /* of a tile */
    BANDS_A_WORKER = 8,            /* at least, so that no worker waits long for the last one */
    BAND_CHUNKS = 64,              /* most chunks of a band */
    SWEPT_RUNS = 1 << 15,          /* a band with more runs is swept for the first time */
    LAST_SWEPT_RUNS = 64,          /* at its end, a band with more runs is swept again */
};

/* A word of the blank bitmap whose bits are collected before they are written. The write is atomic,
 * since two chunks can share a word. */
struct blank_word {
    uint64_t *map;
    int64_t word;
    uint64_t bits;
};

/* Returns the bitmap of blank pixels, and allocates it at the first blank pixel of any thread. NULL
 * where memory ran out. */
static uint64_t *get_blank_map(struct scan *scan) {
    const int64_t n = scan->source->width * scan->source->height;
    uint64_t *map = __atomic_load_n(&scan->blank, __ATOMIC_ACQUIRE);
    uint64_t *created = map ? NULL : calloc((size_t)(n + 63) / 64, sizeof *created);
    if (!created)
        return map;
    if (__atomic_compare_exchange_n(&scan->blank, &map, created, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
        return created;
    free(created); /* another thread was first */
    return map;
}

static void flush_blanks(struct blank_word *b) {
    if (b->bits)
        __atomic_fetch_or(&b->map[b->word], b->bits, __ATOMIC_RELAXED);
    b->bits = 0;
}

static void add_blank(struct blank_word *b, int64_t pixel) {
    if (pixel / 64 != b->word)
        flush_blanks(b);
    b->word = pixel / 64;
    b->bits |= (uint64_t)1 << pixel % 64;
}

/* The run that a chunk's candidates have extended last. */
struct last_run {
    struct run run;
    int64_t index;              /* in the worker's runs */
    int64_t row_start, row_end; /* the first pixels of its row and of the next row */
};

/* Extends the last run by a pixel, or begins a new run. Writes the run in both cases, since a
 * branch that depends on pixels takes longer. */
static inline void extend_run(struct run *runs, struct last_run *last, int64_t pixel,
                              int64_t width) {
    if (pixel >= last->row_end) {
        last->run.y = (int32_t)(pixel / width);
        last->run.x1 = -2; /* so that no pixel of the new row extends the run */
        last->row_start = last->run.y * width;
        last->row_end = last->row_start + width;
    }
    const int32_t x = (int32_t)(pixel - last->row_start);
    const bool begins = x != last->run.x1 + 1;
    last->run.x0 = begins ? x : last->run.x0;
    last->run.x1 = x;
    last->index += begins;
    runs[last->index] = last->run;
}

/* Makes room in all lists for the pixels of a tile. */
static bool reserve_for_tile(struct scan_worker *w) {
    return GROW(w->bracket.values, w->bracket.capacity, w->bracket.n + TILE_PIXELS) &&
           GROW(w->outliers.values, w->outliers.capacity, w->outliers.n + TILE_PIXELS) &&
           GROW(w->runs, w->runs_capacity, w->n_runs + TILE_PIXELS) &&
           GROW(w->candidates.values, w->candidates.capacity, w->candidates.n + TILE_PIXELS);
}

/* Candidates and blank pixels of a tile, with their values. */
struct picked {
    int n;
    uint16_t index[TILE_PIXELS];
    float value[TILE_PIXELS];
};

/* Adds n pixels of the zero band, as integers in a unit smaller than the tile's. exact_add adds the
 * few pixels that are no multiples of this unit. */
static void sum_small(struct scan_worker *w, const float *small, int n) {
    const float scale = w->scan->plan.scale * (1 << SCAN_PLAN_SMALLER);
    const int e = w->scan->plan.exponent - 31 - SCAN_PLAN_SMALLER + EXACT_UNIT;
    int64_t sum = 0;
    uint128 square = 0;
    for (int i = 0; i < n; i++) {
        const float scaled = small[i] * scale;
        const int64_t q = (int32_t)scaled;
        if ((float)q == scaled && (q != 0) == (small[i] != 0)) {
            sum += q;
            square += (uint64_t)(q * q);
        } else {
            exact_add(&w->inliers.sums, small[i], 1);
        }
    }
    w->inliers.sums.sum[e] += sum;
    w->inliers.sums.square[e] += square;
}

/* Adds the inliers of the zero band, which the tile function does not add, and removes their
 * indices. */
static void add_small_inliers(struct scan_worker *w, struct tile_indices *others,
                              const void *pixels) {
    const struct scan_plan *plan = &w->scan->plan;
    const bool swapped = w->scan->source->swapped;
    float small[TILE_PIXELS];
    int n_small = 0, n_left = 0, n_below = 0;
    for (int i = 0; i < others->n; i++) {
        const uint16_t index = others->index[i];
        const float v = pixel_value(pixels, index, swapped);
        const bool inside = (v > plan->inlier_low) & (v < plan->inlier_high);
        small[n_small] = v;
        others->index[n_left] = index;
        n_small += inside;
        n_below += inside & (v < plan->median_low);
        n_left += !inside;
    }
    others->n = n_left;
    w->inliers.n += n_small;
    w->inliers.n_below += n_below;
    sum_small(w, small, n_small);
}

static bool is_zero(float v) {
    return exact_bits(v) << 1 == 0;
}

/* Removes zeros from n values, and returns the number of values that are left. */
static int drop_zeros(float *values, int n) {
    int n_left = 0;
    for (int i = 0; i < n; i++) {
        const float v = values[i];
        values[n_left] = v;
        n_left += !is_zero(v);
    }
    return n_left;
}

/* Counts n values in bins. Returns the number of those whose bins are listed, which it moves
 * together. */
static int count_in_bins(struct key_bin *bins, const uint8_t *states, float *values, int n) {
    int n_listed = 0;
    for (int i = 0; i < n; i++) {
        const float v = values[i];
        const uint32_t key = exact_key(v);
        key_bins_add(bins, key);
        values[n_listed] = v;
        n_listed += states[key_bin_of(key)] == BIN_LISTED;
    }
    return n_listed;
}

/* Appends to the list of a part the n values that were written past its end. If there may be many
 * zeros among them, zeros are counted instead: in an image padded with zeros they would fill the
 * memory. */
static void extend_list(struct scan_worker *w, enum scan_part part, struct scan_list *list, int n) {
    float *values = list->values + list->n;
    const int n_kept = n > MANY_ZEROS ? drop_zeros(values, n) : n;
    w->n_zero += n - n_kept;
    list->n +=
        w->bins[part] ? count_in_bins(w->bins[part], w->scan->bin_states, values, n_kept) : n_kept;
}

/* Divides the pixels beyond the inliers: writes values below the candidates to `list`, candidates
 * and blanks to `picked`. Returns the number of listed values. To avoid a branch, each value is
 * written to both places, and the wrong one is overwritten. */
static int divide_others(const struct scan *scan, const struct tile_indices *others,
                         const void *pixels, float *list, struct picked *picked) {
    int n_listed = 0, n_picked = 0;
    for (int i = 0; i < others->n; i++) {
        const float v = pixel_value(pixels, others->index[i], scan->source->swapped);
        const bool below = (v > -INFINITY) & (v < scan->plan.candidate);
        list[n_listed] = v;
        picked->value[n_picked] = v;
        picked->index[n_picked] = others->index[i];
        n_listed += below;
        n_picked += !below;
    }
    picked->n = n_picked;
    return n_listed;
}

/* Writes the values of the candidates to `list`, and returns their number. */
static int list_candidates(const struct picked *picked, float *list) {
    int n = 0;
    for (int i = 0; i < picked->n; i++) {
        list[n] = picked->value[i];
        n += isfinite(picked->value[i]);
    }
    return n;
}

/* Lists the pixels that the tile function did not add, and picks candidates and blanks. If there
 * are no inliers, all pixels go to the list of the median bracket. */
static void list_unsummed(struct scan_worker *w, struct tile_unsummed *unsummed, const void *pixels,
                          struct picked *picked) {
    const struct scan *scan = w->scan;
    struct scan_list *list = scan->has_inliers ? &w->outliers : &w->bracket;
    extend_list(w, SCAN_BRACKET, &w->bracket, unsummed->bracket.n);
    if (scan->has_zero)
        add_small_inliers(w, &unsummed->others, pixels);
    float *values = list->values + list->n;
    int n = divide_others(scan, &unsummed->others, pixels, values, picked);
    if (!scan->candidates_apart)
        n += list_candidates(picked, values + n);
    if (scan->plan.list_values)
        extend_list(w, scan->has_inliers ? SCAN_OUTLIERS : SCAN_BRACKET, list, n);
}

/* Makes runs of the candidates, appends their values to the worker's, and marks blank pixels in the
 * bitmap. The tile begins at pixel `first`. */
static bool keep_picked(struct scan_worker *w, const struct picked *picked, int64_t first,
                        struct last_run *chunk_last) {
    const int64_t width = w->scan->source->width;
    struct blank_word blanks = {0};
    struct last_run last = *chunk_last; /* a copy, which stays in registers */
    float *candidate = w->candidates.values + w->candidates.n;
    for (int i = 0; i < picked->n; i++) {
        if (isfinite(picked->value[i])) {
            extend_run(w->runs, &last, first + picked->index[i], width);
            *candidate++ = picked->value[i];
        } else {
            w->n_blank++;
            if (!blanks.map && !(blanks.map = get_blank_map(w->scan)))
                return false;
            add_blank(&blanks, first + picked->index[i]);
        }
    }
    flush_blanks(&blanks);
    w->candidates.n = candidate - w->candidates.values;
    w->n_runs = last.index + 1;
    *chunk_last = last;
    return true;
}

/* Sweeps the candidates of band `number`, which is scanned up to pixel `end`. */
static bool sweep_band(struct scan_worker *w, const struct scan_band *band, int64_t number,
                       int64_t end) {
    const struct scan *scan = w->scan;
    const int64_t width = scan->source->width;
    const int64_t first = number * scan->band_chunks * scan->source->chunk_pixels;
    const struct sweep sweep = {.peak = scan->plan.peak,
                                .noise = scan->noise.maps ? NULL : scan->noise.thresholds,
                                .reach = runs_reach(scan->plan.connectivity),
                                .first = (int32_t)(first / width),
                                .last = (int32_t)((end - 1) / width)};
    int64_t n_runs = w->n_runs - band->first_run;
    int64_t n_candidates = w->candidates.n - band->first_candidate;
    if (!sweep_runs(&sweep, w->runs + band->first_run, &n_runs,
                    w->candidates.values + band->first_candidate, &n_candidates))
        return false;
    w->n_runs = band->first_run + n_runs;
    w->candidates.n = band->first_candidate + n_candidates;
    w->sweep_at = n_runs > SWEPT_RUNS / 2 ? 2 * n_runs : SWEPT_RUNS;
    return true;
}

/* Updates the band of a chunk that was scanned, and sweeps it if it has many runs: more than
 * sweep_at or, at the end of the band, more than LAST_SWEPT_RUNS. */
static bool update_band(struct scan_worker *w, const struct chunk *chunk) {
    const struct scan *scan = w->scan;
    const int64_t number = chunk->number / scan->band_chunks;
    struct scan_band *band = &scan->bands[number];
    const bool ends = (chunk->number + 1) % scan->band_chunks == 0;
    const int64_t most = ends ? LAST_SWEPT_RUNS : w->sweep_at;
    if (scan->sweeps && w->n_runs - band->first_run > most &&
        !sweep_band(w, band, number, chunk->first + chunk->count))
        return false;
    band->n_runs = w->n_runs - band->first_run;
    band->n_candidates = w->candidates.n - band->first_candidate;
    return true;
}

static void begin_band(struct scan_worker *w, int worker, const struct chunk *chunk) {
    if (chunk->number % w->scan->band_chunks != 0)
        return;
    w->scan->bands[chunk->number / w->scan->band_chunks] = (struct scan_band){
        .worker = worker, .first_run = w->n_runs, .first_candidate = w->candidates.n};
    w->sweep_at = SWEPT_RUNS;
}

/* --- local noise --- */

/* Sets the worker's bounds for pixels between the rows j and j + 1 of nodes. */
static void set_bounds(struct scan_worker *w, int64_t j) {
    const struct scan *scan = w->scan;
    float bound = 0;
    const struct noise_thresholds *t = scan->noise.thresholds;
    int32_t node = -1;
    for (int64_t x = 0; x < scan->source->width; x++) {
        if (scan->noise.node[x] != node) {
            node = scan->noise.node[x];
            bound = noise_bounds_of(t->map, 1, t->island, node, j).least;
        }
        w->bounds[x] = bound;
    }
    w->bounds_row = j;
}

/* A piece of a row of the image, whose first pixel, at x, has the index `at` in its tile. */
struct row_piece {
    const uint32_t *pixels;
    int64_t x, y, n, at;
};

/* Picks the candidates and the blanks among the pixels [first, end) of a piece of a row. */
static void pick_pixels(const struct scan_worker *w, const struct row_piece *piece, int64_t first,
                        int64_t end, struct picked *picked) {
    const struct noise_thresholds *t = w->scan->noise.thresholds;
    for (int64_t i = first; i < end; i++) {
        const float v = pixel_value(piece->pixels, i, w->scan->source->swapped);
        if (isfinite(v) &&
            (v < w->bounds[piece->x + i] ||
             !noise_is_exceeded(noise_map_at(t->map, piece->x + i, piece->y), t->island, v)))
            continue;
        picked->value[picked->n] = v;
        picked->index[picked->n++] = (uint16_t)(piece->at + i);
    }
}

/* Picks pixels by the bounds: most pixels are below their bound, and are passed REACH_PIXELS at a
 * time. */
static void pick_by_bounds(struct scan_worker *w, const struct row_piece *piece,
                           struct picked *picked) {
    const struct scan *scan = w->scan;
    const struct noise_map *map = scan->noise.thresholds->map;
    const int64_t row = noise_position(piece->y, map->n_y, map->step).first;
    if (row != w->bounds_row)
        set_bounds(w, row);
    for (int64_t i = 0; i < piece->n; i += REACH_PIXELS) {
        const int64_t end = i + REACH_PIXELS < piece->n ? i + REACH_PIXELS : piece->n;
        const bool whole = end - i == REACH_PIXELS;
        if (!whole || scan->variant->keys->reach(piece->pixels + i, scan->source->swapped,
                                                 w->bounds + piece->x + i))
            pick_pixels(w, piece, i, end, picked);
    }
}

/* Picks pixels by the user's maps of the noise. The piece has at most NOISE_RANGE pixels. */
static void pick_by_maps(const struct scan_worker *w, const struct row_piece *piece,
                         struct picked *picked) {
    const struct noise_thresholds *t = w->scan->noise.thresholds;
    struct noise_at noise[NOISE_RANGE];
    noise_rows_get(&w->rows, piece->x, piece->y, piece->n, noise);
    for (int64_t i = 0; i < piece->n; i++) {
        const float v = pixel_value(piece->pixels, i, w->scan->source->swapped);
        if (isfinite(v) && !noise_is_exceeded(noise[i], t->island, v))
            continue;
        const bool is_peak = noise_is_exceeded(noise[i], t->detection, v);
        const float mark = is_peak ? SCAN_ABOVE_DETECTION : SCAN_ABOVE_ISLAND;
        picked->value[picked->n] = isfinite(v) ? mark : v;
        picked->index[picked->n++] = (uint16_t)(piece->at + i);
    }
}

/* Picks the candidates and the blanks of a tile, which begins at pixel `first`. */
static void pick_by_noise(struct scan_worker *w, const uint32_t *pixels, int64_t first, int64_t n,
                          struct picked *picked) {
    const int64_t width = w->scan->source->width, most = w->scan->noise.maps ? NOISE_RANGE : width;
    picked->n = 0;
    for (int64_t i = 0; i < n;) {
        struct row_piece piece = {
            .pixels = pixels + i, .x = (first + i) % width, .y = (first + i) / width, .at = i};
        piece.n = width - piece.x < n - i ? width - piece.x : n - i;
        piece.n = piece.n < most ? piece.n : most;
        if (w->scan->noise.maps)
            pick_by_maps(w, &piece, picked);
        else
            pick_by_bounds(w, &piece, picked);
        i += piece.n;
    }
}

/* --- chunks --- */

/* Scans a tile of n pixels, which begins at pixel `first`. */
static bool scan_tile(struct scan_worker *w, const uint32_t *pixels, int64_t first, int n,
                      struct tile_sums *sums, struct last_run *last) {
    const struct scan *scan = w->scan;
    struct tile_unsummed unsummed;
    struct picked picked;
    if (!reserve_for_tile(w))
        return false;
    unsummed.bracket.value = w->bracket.values + w->bracket.n;
    if (scan->noise.thresholds) {
        pick_by_noise(w, pixels, first, n, &picked);
    } else {
        scan->variant->tile(&scan->plan, pixels, scan->source->swapped, n, sums, &unsummed);
        list_unsummed(w, &unsummed, pixels, &picked);
    }
    return keep_picked(w, &picked, first, last);
}

static enum srcfind_status scan_chunk(void *context, int worker, const struct chunk *chunk,
                                      struct error *error) {
    struct scan *scan = context;
    struct scan_worker *w = &scan->workers[worker];
    struct tile_sums sums = {0};
    struct last_run last = {.index = w->n_runs - 1};
    bool ok = true;
    begin_band(w, worker, chunk);
    if (scan->noise.maps &&
        noise_rows_read(&w->rows, chunk->first, chunk->count, error) != SRCFIND_OK)
        return SRCFIND_ERROR_INPUT;
    for (int64_t i = 0; ok && i < chunk->count; i += TILE_PIXELS) {
        const int n = (int)(chunk->count - i < TILE_PIXELS ? chunk->count - i : TILE_PIXELS);
        ok = scan_tile(w, chunk->pixels + i, chunk->first + i, n, &sums, &last);
    }
    w->inliers.n += sums.n;
    w->inliers.n_below += sums.n_below;
    scan_add_sums(&w->inliers.sums, &scan->plan, &sums);
    return ok && update_band(w, chunk) ? SRCFIND_OK
                                       : error_memory(error, "working through the image");
}

/* Reserves the expected capacity of each list: an array that grows is copied, and pages that are
 * never written take no memory. */
static bool reserve_lists(struct scan_worker *w, int64_t expected) {
    return GROW(w->bracket.values, w->bracket.capacity, expected) &&
           GROW(w->outliers.values, w->outliers.capacity, expected) &&
           GROW(w->candidates.values, w->candidates.capacity, expected) &&
           GROW(w->runs, w->runs_capacity, expected / 4);
}

/* The number of chunks of a band, if the image has n. With many, few islands cross the border of
 * two bands; with too many, workers wait for each other. */
static int64_t choose_band_chunks(int64_t n, int n_workers) {
    const int64_t share = n / n_workers / BANDS_A_WORKER;
    return share < 1 ? 1 : share < BAND_CHUNKS ? share : BAND_CHUNKS;
}

/* Makes a scan without its lists. */
static bool make_scan(struct scan *scan, const struct pixel_source *source,
                      const struct scan_plan *plan, struct threads *threads) {
    const int n_threads = threads_count(threads);
    *scan =
        (struct scan){.source = source,
                      .plan = *plan,
                      .sweeps = plan->peak > plan->candidate,
                      .candidates_apart = !(plan->peak > plan->candidate) && plan->candidate > 0 &&
                                          plan->candidate > plan->median_high,
                      .has_inliers = plan->inlier_low < plan->inlier_high,
                      .has_zero = scan_plan_has_zero(plan),
                      .variant = cpu_variant_choose(),
                      .n_workers = n_threads,
                      .workers = calloc((size_t)n_threads, sizeof *scan->workers),
                      .band_chunks = choose_band_chunks(chunks_count(source), n_threads)};
    scan->n_bands = (chunks_count(source) + scan->band_chunks - 1) / scan->band_chunks;
    scan->bands = calloc((size_t)scan->n_bands, sizeof *scan->bands);
    for (int i = 0; scan->workers && i < n_threads; i++)
        scan->workers[i].scan = scan;
    return scan->workers && scan->bands;
}

/* Makes the bins of each worker, of which a page takes no memory until a value is in it. */
static bool make_bins(struct scan *scan, uint8_t *bin_states) {
    bool ok = true;
    scan->bin_states = bin_states;
    for (int i = 0; bin_states && i < scan->n_workers; i++)
        for (int part = 0; part < SCAN_PARTS; part++)
            ok = (scan->workers[i].bins[part] = calloc(KEY_BINS, sizeof(struct key_bin))) && ok;
    return ok;
}

static enum srcfind_status run_scan(struct scan *scan, struct threads *threads,
                                    struct error *error) {
    const struct chunk_work work = {.work = scan_chunk, .context = scan, .band = scan->band_chunks};
    return chunks_run(scan->source, threads, scan->n_workers, &work, error);
}

enum srcfind_status scan_image(struct scan *scan, const struct pixel_source *source,
                               const struct scan_plan *plan, uint8_t *bin_states,
                               struct threads *threads, struct error *error) {
    const double n = (double)source->width * (double)source->height;
    bool ok = make_scan(scan, source, plan, threads) && make_bins(scan, bin_states);
    const int64_t expected = (int64_t)(1.1 * plan->share * n / scan->n_workers) + TILE_PIXELS;
    for (int i = 0; ok && plan->list_values && i < scan->n_workers; i++)
        ok = reserve_lists(&scan->workers[i], expected);
    return ok ? run_scan(scan, threads, error) : error_memory(error, "starting to read the image");
}

/* Makes the node of each column, and the bounds of each worker, for a scan by local noise. */
static bool make_bounds(struct scan *scan) {
    const struct noise_map *map = scan->noise.thresholds->map;
    const size_t width = (size_t)scan->source->width;
    scan->noise.node = malloc(width * sizeof *scan->noise.node);
    for (int i = 0; i < scan->n_workers; i++) {
        scan->workers[i].bounds = malloc(width * sizeof *scan->workers[i].bounds);
        scan->workers[i].bounds_row = -1;
        if (!scan->workers[i].bounds)
            return false;
    }
    for (int64_t x = 0; scan->noise.node && x < scan->source->width; x++)
        scan->noise.node[x] = (int32_t)noise_position(x, map->n_x, map->step).first;
    return scan->noise.node;
}

/* Makes the noise rows of each worker, for a scan by the user's maps. One worker scans if several
 * threads cannot read a map at a time. */
static bool make_maps(struct scan *scan) {
    const struct pixel_source *source = scan->source;
    const int64_t n_pixels = source->width * source->height;
    const int64_t most = source->chunk_pixels < n_pixels ? source->chunk_pixels : n_pixels;
    scan->n_workers =
        source->parallel && noise_sources_are_parallel(scan->noise.maps) ? scan->n_workers : 1;
    for (int i = 0; i < scan->n_workers; i++)
        if (!noise_rows_make(&scan->workers[i].rows, scan->noise.thresholds->map, scan->noise.maps,
                             source->width, most))
            return false;
    return true;
}

enum srcfind_status scan_image_by_noise(struct scan *scan, const struct pixel_source *source,
                                        const struct noise_thresholds *noise,
                                        const struct noise_sources *maps, int connectivity,
                                        struct threads *threads, struct error *error) {
    struct scan_plan plan = scan_plan_none();
    plan.connectivity = connectivity;
    plan.peak = SCAN_ABOVE_DETECTION;
    bool ok = make_scan(scan, source, &plan, threads);
    scan->noise.thresholds = noise;
    scan->noise.maps = noise_sources_exist(maps) ? maps : NULL;
    scan->sweeps = noise->detection > noise->island;
    ok = ok && (scan->noise.maps ? make_maps(scan) : make_bounds(scan));
    return ok ? run_scan(scan, threads, error) : error_memory(error, "starting to read the image");
}

static void free_list(struct scan_list *list) {
    free(list->values);
    *list = (struct scan_list){0};
}

static void free_lists(struct scan_worker *w) {
    free_list(&w->bracket);
    free_list(&w->outliers);
    for (int part = 0; part < SCAN_PARTS; part++) {
        free(w->bins[part]);
        w->bins[part] = NULL;
    }
}

/* Frees the unused capacity of the candidates. */
static void shrink_candidates(struct scan_worker *w) {
    float *shrunk = realloc(w->candidates.values, (size_t)w->candidates.n * sizeof *shrunk + 1);
    if (!shrunk)
        return;
    w->candidates.values = shrunk;
    w->candidates.capacity = w->candidates.n;
}

void scan_free_lists(struct scan *scan) {
    scan->bin_states = NULL;
    for (int i = 0; scan->workers && i < scan->n_workers; i++) {
        free_lists(&scan->workers[i]);
        shrink_candidates(&scan->workers[i]);
    }
}

void scan_clear(struct scan *scan) {
    for (int i = 0; scan->workers && i < scan->n_workers; i++) {
        free_lists(&scan->workers[i]);
        free(scan->workers[i].runs);
        free(scan->workers[i].candidates.values);
        free(scan->workers[i].bounds);
        noise_rows_clear(&scan->workers[i].rows);
    }
    free(scan->noise.node);
    free(scan->workers);
    free(scan->bands);
    free(scan->blank);
    *scan = (struct scan){0};
}

int64_t scan_blanks(const struct scan *scan) {
    int64_t n = 0;
    for (int i = 0; i < scan->n_workers; i++)
        n += scan->workers[i].n_blank;
    return n;
}
