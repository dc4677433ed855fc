#include "cpu/scan.h"

#include <stdlib.h>

#include "common/arrays.h"

enum { MANY_ZEROS = TILE_PIXELS / 16 }; /* of a tile */

/* Bits of the blank map are gathered for a word before it is written, since two pieces can share
 * their outermost words. */
struct blank_word {
    uint64_t *map;
    int64_t word;
    uint64_t bits;
};

/* The map, which the first blank pixel of any thread makes. NULL where memory ran out. */
static uint64_t *blank_map(struct scan *scan) {
    const int64_t n = scan->source->width * scan->source->height;
    uint64_t *map = __atomic_load_n(&scan->blank, __ATOMIC_ACQUIRE);
    uint64_t *made = map ? NULL : calloc((size_t)(n + 63) / 64, sizeof *made);
    if (!made)
        return map;
    if (__atomic_compare_exchange_n(&scan->blank, &map, made, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
        return made;
    free(made);
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

/* The last run of a piece. */
struct last_run {
    struct scan_run run;
    int64_t number, row_end; /* among the worker's; the first pixel of the next row */
};

/* Makes the last run longer by a pixel, or begins a new one. It is written in any case: a branch
 * that depends on pixels takes longer. */
static inline void extend_run(struct scan_run *runs, struct last_run *last, int64_t pixel,
                              int64_t width) {
    bool begins = pixel != last->run.first + last->run.count;
    if (pixel >= last->row_end) {
        last->row_end = (pixel / width + 1) * width;
        begins = true;
    }
    last->run.first = begins ? pixel : last->run.first;
    last->run.count = begins ? 1 : last->run.count + 1;
    last->number += begins;
    runs[last->number] = last->run;
}

static bool list_room(struct scan_list *list) {
    return GROW(list->values, list->room, list->n + TILE_PIXELS);
}

static bool make_room(struct scan_worker *w) {
    return list_room(&w->middle) && list_room(&w->tails) &&
           GROW(w->runs, w->runs_room, w->n_runs + TILE_PIXELS) &&
           GROW(w->candidates, w->candidates_room, w->n_candidates + TILE_PIXELS);
}

/* Pixels of a tile with their values. */
struct picked {
    int n;
    uint16_t place[TILE_PIXELS];
    float value[TILE_PIXELS];
};

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

/* Adds the pixels of the core that the tile has not, and leaves the other places. */
static void take_small(struct scan_worker *w, struct tile_places *places, const void *pixels) {
    const struct scan_plan *plan = &w->scan->plan;
    const bool swapped = w->scan->source->swapped;
    float small[TILE_PIXELS];
    int n_small = 0, n_left = 0, n_below = 0;
    for (int i = 0; i < places->n; i++) {
        const uint16_t place = places->place[i];
        const float v = pixel_value(pixels, place, swapped);
        const bool inside = (v > plan->core_low) & (v < plan->core_high);
        small[n_small] = v;
        places->place[n_left] = place;
        n_small += inside;
        n_below += inside & (v < plan->median_low);
        n_left += !inside;
    }
    places->n = n_left;
    w->n_core += n_small;
    w->n_below += n_below;
    add_small(w, small, n_small);
}

static bool is_zero(float v) {
    return exact_bits(v) << 1 == 0;
}

/* Takes zeros out of n values, and returns how many are left. */
static int drop_zeros(float *values, int n) {
    int n_left = 0;
    for (int i = 0; i < n; i++) {
        const float v = values[i];
        values[n_left] = v;
        n_left += !is_zero(v);
    }
    return n_left;
}

/* Takes over n values that are behind a list. Zeros are only counted where they may be many: of an
 * image that is padded with them, they would fill the memory. */
static void keep(struct scan_worker *w, struct scan_list *list, int n) {
    const int n_kept = n > MANY_ZEROS ? drop_zeros(list->values + list->n, n) : n;
    list->n += n_kept;
    w->n_zero += n - n_kept;
}

/* Parts the pixels beyond the core: those below the candidates go behind a list, the others are
 * picked. Returns how many are listed. Values are copied without a branch, whether they are wanted
 * or not. */
static int part_others(const struct scan *scan, const struct tile_places *places,
                       const void *pixels, float *list, struct picked *picked) {
    int n_listed = 0, n_picked = 0;
    for (int i = 0; i < places->n; i++) {
        const float v = pixel_value(pixels, places->place[i], scan->source->swapped);
        const bool below = (v > -INFINITY) & (v < scan->plan.candidate);
        list[n_listed] = v;
        picked->value[n_picked] = v;
        picked->place[n_picked] = places->place[i];
        n_listed += below;
        n_picked += !below;
    }
    picked->n = n_picked;
    return n_listed;
}

/* Puts the candidates behind a list, and returns how many they are. */
static int list_candidates(const struct picked *picked, float *list) {
    int n = 0;
    for (int i = 0; i < picked->n; i++) {
        list[n] = picked->value[i];
        n += isfinite(picked->value[i]);
    }
    return n;
}

/* Lists what a tile has not added, and picks candidates and blanks. Where there is no core, all
 * pixels are of the median bracket. */
static void list_rest(struct scan_worker *w, struct tile_rest *rest, const void *pixels,
                      struct picked *picked) {
    const struct scan *scan = w->scan;
    struct scan_list *list = scan->has_core ? &w->tails : &w->middle;
    keep(w, &w->middle, rest->middle.n);
    if (scan->has_zero)
        take_small(w, &rest->others, pixels);
    float *values = list->values + list->n;
    int n = part_others(scan, &rest->others, pixels, values, picked);
    if (!scan->candidates_apart)
        n += list_candidates(picked, values + n);
    if (scan->plan.list_values)
        keep(w, list, n);
}

/* Keeps the places and values of what may belong to a source, and marks blanks. */
static bool keep_places(struct scan_worker *w, const struct picked *picked, int64_t first,
                        struct last_run *piece_last) {
    const int64_t width = w->scan->source->width;
    struct blank_word blanks = {0};
    struct last_run last = *piece_last; /* stays in registers */
    float *candidate = w->candidates + w->n_candidates;
    for (int i = 0; i < picked->n; i++) {
        if (isfinite(picked->value[i])) {
            extend_run(w->runs, &last, first + picked->place[i], width);
            *candidate++ = picked->value[i];
        } else {
            w->n_blank++;
            if (!blanks.map && !(blanks.map = blank_map(w->scan)))
                return false;
            add_blank(&blanks, first + picked->place[i]);
        }
    }
    flush_blanks(&blanks);
    w->n_candidates = candidate - w->candidates;
    w->n_runs = last.number + 1;
    *piece_last = last;
    return true;
}

static bool scan_piece(void *context, int worker, const struct piece *piece) {
    struct scan *scan = context;
    struct scan_worker *w = &scan->workers[worker];
    struct scan_segment *segment = &scan->segments[piece->number];
    struct tile_sums sums = {0};
    struct tile_rest rest;
    struct picked picked;
    struct last_run last = {{-1, 0}, w->n_runs - 1, 0};
    *segment = (struct scan_segment){worker, w->n_runs, 0, w->n_candidates};
    for (int64_t i = 0; i < piece->count; i += TILE_PIXELS) {
        const int n = (int)(piece->count - i < TILE_PIXELS ? piece->count - i : TILE_PIXELS);
        const uint32_t *pixels = piece->pixels + i;
        if (!make_room(w))
            return false;
        rest.middle.value = w->middle.values + w->middle.n;
        scan->variant->tile(&scan->plan, pixels, scan->source->swapped, n, &sums, &rest);
        list_rest(w, &rest, pixels, &picked);
        if (!keep_places(w, &picked, piece->first + i, &last))
            return false;
    }
    w->n_core += sums.n;
    w->n_below += sums.n_below;
    scan_add_sums(&w->sums, &scan->plan, &sums);
    segment->n_runs = w->n_runs - segment->first_run;
    return true;
}

/* Room for what a worker is expected to list, in any of its lists: an array that grows is moved,
 * and what is not written to takes no memory. */
static bool reserve(struct scan_worker *w, int64_t expected) {
    return GROW(w->middle.values, w->middle.room, expected) &&
           GROW(w->tails.values, w->tails.room, expected) &&
           GROW(w->candidates, w->candidates_room, expected) &&
           GROW(w->runs, w->runs_room, expected / 4);
}

enum srcfind_status scan_image(struct scan *scan, const struct pixel_source *source,
                               const struct scan_plan *plan, int n_threads, struct error *error) {
    const int64_t n = source->width * source->height;
    *scan = (struct scan){.source = source,
                          .plan = *plan,
                          .candidates_apart =
                              plan->candidate > 0 && plan->candidate > plan->median_high,
                          .has_core = plan->core_low < plan->core_high,
                          .has_zero = scan_plan_has_zero(plan),
                          .variant = scan_variant_choose(),
                          .n_workers = n_threads,
                          .workers = calloc((size_t)n_threads, sizeof *scan->workers),
                          .segments = calloc((size_t)pieces_count(source), sizeof *scan->segments)};
    if (!scan->workers || !scan->segments)
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

static void free_list(struct scan_list *list) {
    free(list->values);
    *list = (struct scan_list){0};
}

static void free_lists(struct scan_worker *w) {
    free_list(&w->middle);
    free_list(&w->tails);
}

/* Gives back what candidates do not need of their room. */
static void shrink_candidates(struct scan_worker *w) {
    float *shrunk = realloc(w->candidates, (size_t)w->n_candidates * sizeof *shrunk + 1);
    if (!shrunk)
        return;
    w->candidates = shrunk;
    w->candidates_room = w->n_candidates;
}

void scan_give_back(struct scan *scan) {
    for (int i = 0; scan->workers && i < scan->n_workers; i++) {
        free_lists(&scan->workers[i]);
        shrink_candidates(&scan->workers[i]);
    }
}

void scan_clear(struct scan *scan) {
    for (int i = 0; scan->workers && i < scan->n_workers; i++) {
        free_lists(&scan->workers[i]);
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
