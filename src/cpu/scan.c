#include "cpu/scan.h"

#include <stdlib.h>

#include "grow.h"

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

static bool make_room(struct scan_worker *w) {
    return GROW(w->values, w->values_room, w->n_values + TILE_PIXELS + TILE_SPARE) &&
           GROW(w->runs, w->runs_room, w->n_runs + TILE_PIXELS) &&
           GROW(w->candidates, w->candidates_room, w->n_candidates + TILE_PIXELS);
}

static void add_values(struct scan_worker *w, const struct tile_rest *rest) {
    w->n_values += rest->n_listed;
    w->n_zero += rest->n_zero;
    w->n_core += rest->n_small;
    for (int i = 0; i < rest->n_small; i++) {
        w->n_below += rest->small[i] < w->scan->plan.median_low;
        exact_add_one(&w->sums, rest->small[i]);
    }
}

/* The unit of a tile's sums, 2^(exponent - 31), is that of one of the bins. */
static void add_sums(struct scan_worker *w, const struct tile_sums *t) {
    const int e = w->scan->plan.exponent - 31 + EXACT_UNIT;
    w->n_core += t->n_core;
    w->n_below += t->n_below;
    w->sums.sum[e] += t->sum;
    w->sums.square[e] += t->square_low + ((uint128)t->square_high << 32);
}

/* Keeps the places of what may belong to a source, and marks blanks. */
static void keep_places(struct scan_worker *w, const uint64_t *placed, const uint32_t *pixels,
                        int n, int64_t first, int64_t first_run, int64_t *end) {
    struct blank_word blanks = {.map = w->scan->blank};
    for (int word = 0; word < (n + 63) / 64; word++) {
        for (uint64_t bits = placed[word]; bits; bits &= bits - 1) {
            const int i = 64 * word + __builtin_ctzll(bits);
            const float v = pixel_value(pixels[i], w->scan->source->swapped);
            if (isfinite(v)) {
                add_candidate(w, first_run, first + i, v, end);
            } else {
                w->n_blank++;
                add_blank(&blanks, first + i);
            }
        }
    }
    flush_blanks(&blanks);
}

static bool scan_piece(void *context, int worker, const struct piece *piece) {
    struct scan *scan = context;
    struct scan_worker *w = &scan->workers[worker];
    struct scan_segment *segment = &scan->segments[piece->number];
    struct tile_sums sums = {0};
    struct tile_rest rest;
    int64_t end = 0;
    *segment = (struct scan_segment){worker, w->n_runs, 0, w->n_candidates};
    for (int64_t i = 0; i < piece->count; i += TILE_PIXELS) {
        const int n = (int)(piece->count - i < TILE_PIXELS ? piece->count - i : TILE_PIXELS);
        if (!make_room(w))
            return false;
        rest.listed = w->values + w->n_values;
        scan->tile(&scan->plan, piece->pixels + i, scan->source->swapped, n, &sums, &rest);
        if (scan->plan.list_values)
            add_values(w, &rest);
        keep_places(w, rest.placed, piece->pixels + i, n, piece->first + i, segment->first_run,
                    &end);
    }
    add_sums(w, &sums);
    segment->n_runs = w->n_runs - segment->first_run;
    return true;
}

enum srcfind_status scan_image(struct scan *scan, const struct pixel_source *source,
                               const struct scan_plan *plan, int n_threads, struct error *error) {
    const int64_t n = source->width * source->height;
    *scan = (struct scan){.source = source,
                          .plan = *plan,
                          .tile = scan_tile_choose(),
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
        if (plan->list_values && !GROW(w->values, w->values_room, expected))
            return error_memory(error, "starting to read the image");
    }
    const struct piece_work work = {.work = scan_piece, .context = scan};
    return pieces_run(source, n_threads, &work, error);
}

void scan_clear(struct scan *scan) {
    for (int i = 0; scan->workers && i < scan->n_workers; i++) {
        free(scan->workers[i].values);
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
