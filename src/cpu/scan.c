#include "cpu/scan.h"

#include <stdlib.h>

#include "grow.h"

enum { MAPPED_VALUES = 1 << 18 }; /* a megabyte, which malloc does not take from the heap */

/* Bits of the blank map are gathered for a word before it is written, since two pieces can share
 * their outermost words. */
struct blank_word {
    uint64_t *map;
    int64_t word;
    uint64_t bits;
};

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

/* Keeps a pixel with its place: at the end of the last run, or as a new one. *end is the end of the
 * row of the last one. The caller has made room for it. */
static void add_candidate(struct scan_worker *w, int64_t first_run, int64_t pixel, float value,
                          int64_t *end) {
    const bool new_row = pixel >= *end;
    struct scan_run *last = w->n_runs > first_run ? &w->runs[w->n_runs - 1] : NULL;
    if (new_row)
        *end = (pixel / w->scan->source->width + 1) * w->scan->source->width;
    w->candidates[w->n_candidates++] = value;
    if (last && !new_row && last->first + last->count == pixel)
        last->count++;
    else
        w->runs[w->n_runs++] = (struct scan_run){pixel, 1};
}

static bool list_room(struct scan_list *list) {
    return GROW(list->values, list->room, list->n + TILE_PIXELS);
}

static bool make_room(struct scan_worker *w) {
    return list_room(&w->middle) && list_room(&w->tails) &&
           GROW(w->runs, w->runs_room, w->n_runs + TILE_PIXELS) &&
           GROW(w->candidates, w->candidates_room, w->n_candidates + TILE_PIXELS);
}

/* The unit of a tile's sums, 2^(exponent - 31), is that of one of the bins. */
static void add_sums(struct scan_worker *w, const struct tile_sums *t) {
    const int e = w->scan->plan.exponent - 31 + EXACT_UNIT;
    w->n_below += t->n_below;
    w->sums.sum[e] += t->sum;
    w->sums.square[e] += t->square_low + ((uint128)t->square_high << 32);
}

/* Pixels of a tile with their values. */
struct picked {
    int n;
    uint16_t place[TILE_PIXELS];
    float value[TILE_PIXELS];
};

static bool is_middle(const struct scan_plan *plan, float v) {
    return (v >= plan->median_low) & (v <= plan->median_high);
}

static void add_to_list(struct scan_list *list, float v) {
    list->values[list->n++] = v;
}

/* Adds n pixels of the zero band in a unit smaller than the tile's; the few that it does not
 * divide, one by one. */
static void add_small(struct scan_worker *w, const float *small, int n) {
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
            exact_add_one(&w->sums, small[i]);
        }
    }
    w->sums.sum[e] += sum;
    w->sums.square[e] += square;
}

/* Counts them as core, or lists them where they are of the median bracket. */
static void list_small(struct scan_worker *w, const float *small, int n) {
    const float low = w->scan->plan.median_low, high = w->scan->plan.median_high;
    float *middle = w->middle.values + w->middle.n;
    int n_middle = 0, n_zero = 0, n_below = 0;
    for (int i = 0; i < n; i++) {
        const float v = small[i];
        const bool in_middle = (v >= low) & (v <= high);
        middle[n_middle] = v;
        n_middle += in_middle & (v != 0);
        n_zero += in_middle & (v == 0);
        n_below += v < low;
    }
    w->middle.n += n_middle;
    w->n_zero += n_zero;
    w->n_core += n - n_middle - n_zero;
    w->n_below += n_below;
}

/* A pixel beyond the core that is 0, or within the median bracket, since there is no core. */
static void add_without_core(struct scan_worker *w, float v) {
    if (v == 0) {
        w->n_zero++;
    } else {
        exact_add_one(&w->sums, v);
        add_to_list(&w->middle, v);
    }
}

/* Lists the pixels beyond the core, and picks those that are candidates or blank: values are copied
 * without a branch, whether they are wanted or not. */
static void add_others(struct scan_worker *w, const struct tile_places *places,
                       const uint32_t *pixels, struct picked *picked) {
    const struct scan_plan *plan = &w->scan->plan;
    const float tails_end = w->scan->tails_end;
    const bool swapped = w->scan->source->swapped;
    float *tails = w->tails.values + w->tails.n;
    int n_tails = 0, n_picked = 0;
    for (int i = 0; i < places->n; i++) {
        const float v = pixel_value(pixels[places->place[i]], swapped);
        const bool finite = isfinite(v);
        const bool without_core = finite & ((v == 0) | is_middle(plan, v));
        if (without_core)
            add_without_core(w, v);
        tails[n_tails] = v;
        n_tails += finite & !without_core & (v < tails_end);
        picked->value[n_picked] = v;
        picked->place[n_picked] = places->place[i];
        n_picked += !finite | (v >= plan->candidate);
    }
    w->tails.n += n_tails;
    picked->n = n_picked;
}

/* Lists what a tile of n pixels has of the median bracket, of which rest->middle is in the list
 * already, and what it has not added. Picks candidates and blanks. */
static void list_rest(struct scan_worker *w, const struct tile_rest *rest, int n,
                      const uint32_t *pixels, struct picked *picked) {
    w->middle.n += rest->middle.n;
    w->n_core += n - rest->middle.n - rest->small.n - rest->others.n;
    add_small(w, rest->small.value, rest->small.n);
    list_small(w, rest->small.value, rest->small.n);
    add_others(w, &rest->others, pixels, picked);
}

/* Keeps the places of what may belong to a source, and marks blanks. */
static void keep_places(struct scan_worker *w, const struct picked *picked, int64_t first,
                        int64_t first_run, int64_t *end) {
    struct blank_word blanks = {.map = w->scan->blank};
    for (int i = 0; i < picked->n; i++) {
        if (isfinite(picked->value[i])) {
            add_candidate(w, first_run, first + picked->place[i], picked->value[i], end);
        } else {
            w->n_blank++;
            add_blank(&blanks, first + picked->place[i]);
        }
    }
    flush_blanks(&blanks);
}

static bool scan_piece(void *context, int worker, const struct piece *piece) {
    struct scan *scan = context;
    struct scan_worker *w = &scan->workers[worker];
    struct scan_segment *segment = &scan->segments[piece->number];
    struct tile_sums sums = {0};
    float small[TILE_PIXELS];
    struct tile_rest rest;
    struct picked picked;
    rest.small.value = small;
    int64_t end = 0;
    *segment = (struct scan_segment){worker, w->n_runs, 0, w->n_candidates};
    for (int64_t i = 0; i < piece->count; i += TILE_PIXELS) {
        const int n = (int)(piece->count - i < TILE_PIXELS ? piece->count - i : TILE_PIXELS);
        const uint32_t *pixels = piece->pixels + i;
        if (!make_room(w))
            return false;
        rest.middle.value = w->middle.values + w->middle.n;
        scan->tile(&scan->plan, pixels, scan->source->swapped, n, &sums, &rest);
        list_rest(w, &rest, n, pixels, &picked);
        keep_places(w, &picked, piece->first + i, segment->first_run, &end);
    }
    add_sums(w, &sums);
    segment->n_runs = w->n_runs - segment->first_run;
    return true;
}

/* Room for what a worker is expected to list. Arrays that grow from small ones leave holes in the
 * memory; those of a megabyte are moved by the system. */
static bool reserve(struct scan_worker *w, int64_t expected) {
    const int64_t n = expected < MAPPED_VALUES ? expected : MAPPED_VALUES;
    return GROW(w->middle.values, w->middle.room, expected) &&
           GROW(w->tails.values, w->tails.room, n) && GROW(w->candidates, w->candidates_room, n) &&
           GROW(w->runs, w->runs_room, n / 4);
}

/* Where the tails that are to be listed end: at the candidates, if none of them is 0 or of the
 * median bracket. */
static float find_tails_end(const struct scan_plan *plan) {
    if (!plan->list_values)
        return -INFINITY;
    return plan->candidate > 0 && plan->candidate > plan->median_high ? plan->candidate : INFINITY;
}

enum srcfind_status scan_image(struct scan *scan, const struct pixel_source *source,
                               const struct scan_plan *plan, int n_threads, struct error *error) {
    const int64_t n = source->width * source->height;
    *scan = (struct scan){.source = source,
                          .plan = *plan,
                          .tails_end = find_tails_end(plan),
                          .tile = scan_variant_choose()->tile,
                          .n_workers = n_threads,
                          .workers = calloc((size_t)n_threads, sizeof *scan->workers),
                          .segments = calloc((size_t)pieces_count(source), sizeof *scan->segments),
                          .blank = calloc((size_t)(n + 63) / 64, sizeof *scan->blank)};
    if (!scan->workers || !scan->segments || !scan->blank)
        return error_memory(error, "starting to read the image");
    const int64_t expected = (int64_t)(1.1 * plan->share * (double)n / n_threads) + TILE_PIXELS;
    for (int i = 0; i < n_threads; i++) {
        struct scan_worker *w = &scan->workers[i];
        w->scan = scan;
        if (plan->list_values && !reserve(w, expected))
            return error_memory(error, "starting to read the image");
    }
    const struct piece_work work = {.work = scan_piece, .context = scan};
    return pieces_run(source, n_threads, &work, error);
}

void scan_clear(struct scan *scan) {
    for (int i = 0; scan->workers && i < scan->n_workers; i++) {
        free(scan->workers[i].middle.values);
        free(scan->workers[i].tails.values);
        free(scan->workers[i].runs);
        free(scan->workers[i].candidates);
    }
    free(scan->workers);
    free(scan->segments);
    free(scan->blank);
    *scan = (struct scan){0};
}

int64_t scan_blanks(const struct scan *scan) {
    int64_t n = 0;
    for (int i = 0; i < scan->n_workers; i++)
        n += scan->workers[i].n_blank;
    return n;
}
