/* How unsorted lists of values are clipped without a sort. A clip asks for two things, a few times
 * each:
 *
 * 1. Sums of the values within bounds (values_trim): one pass over the lists, by the same tile
 *    functions as the scan. Most values are whole numbers below 2^31 in one unit, chosen from 64
 *    probes; the few others are inexact: they are sorted once, and their sums follow from two
 *    searches.
 * 2. The value at a rank (values_at): a pass counts the values below and within a guessed range,
 *    and sorts the range if it has at most 16384 values. The guess interpolates in the range that
 *    contains the rank; from the third turn on, every other turn bisects it, so that the search
 *    ends for any values.
 *
 * Always: all sums are exact, so the lists may come in any order. A range that was sorted answers
 * later ranks within it without a pass: the medians of successive rounds are close.
 *
 * Cost: 4 bytes a value, which the caller owns; a pass is shared by all threads if there are 131072
 * values or more. */
#include "cpu/values.h"

#include <stdlib.h>

#include "common/arrays.h"
#include "cpu/sort.h"
#include "cpu/variants.h"

enum {
    PROBES = 64,
    UPPER_QUARTILE = PROBES * 3 / 4,
    COARSER = 2,            /* bits that the unit's range has above the upper quartile */
    SORT_MOST = 1 << 14,    /* most values that are sorted */
    ADD_MOST = 1 << 15,     /* most values that are added to one tile_sums, which holds 2^31 */
    SHARED_LEAST = 1 << 17, /* least number of values for more than one thread */
};

/* --- passes --- */

/* The input and the results of a pass over a list. */
struct values_pass {
    const struct values *values;
    const struct scan_plan *plan;
    const struct values_list *list;
    struct values_sums sums;
    uint32_t *inexact; /* keys of values that the tile function does not add */
    int64_t n_inexact, inexact_capacity;
    float kept[SORT_MOST + TILE_PIXELS]; /* values of a narrow range, if n_kept <= SORT_MOST */
    int64_t n_kept;
    bool no_memory;
};

/* Calls work(passes, i) for each list i, on all threads if there are many values. */
static void run_passes(const struct values *v, const struct scan_plan *plan,
                       void (*work)(void *passes, int i)) {
    for (int p = 0; p < v->n_lists; p++) {
        v->passes[p].values = v;
        v->passes[p].plan = plan;
        v->passes[p].list = &v->lists[p];
        v->passes[p].sums = (struct values_sums){0};
    }
    threads_run(v->all.n < SHARED_LEAST ? NULL : v->threads, v->n_lists, work, v->passes);
}

/* The number of values of the tile that begins at value i of a list. */
static int tile_count(const struct values_list *list, int64_t i) {
    return (int)(list->n - i < TILE_PIXELS ? list->n - i : TILE_PIXELS);
}

/* Adds the sums of a tile function. */
static void add_tiles(struct values_sums *sums, const struct scan_plan *plan,
                      const struct tile_sums *tiles) {
    sums->n += tiles->n;
    sums->n_below += tiles->n_below;
    scan_add_sums(&sums->sums, plan, tiles);
}

static void add_passes(const struct values *v, struct values_sums *sums) {
    for (int p = 0; p < v->n_lists; p++) {
        const struct values_sums *of_list = &v->passes[p].sums;
        sums->n += of_list->n;
        sums->n_below += of_list->n_below;
        exact_merge(&sums->sums, &of_list->sums);
    }
}

static void add_inexact(struct values_sums *sums, const struct sorted_values *inexact,
                        float below) {
    sums->n += inexact->last - inexact->first;
    sums->n_below += sorted_below(inexact, below, false);
    exact_merge(&sums->sums, &inexact->sums);
}

/* --- making --- */

/* The magnitudes of PROBES values from all over the lists. */
static void draw_probes(const struct values *v, float size[PROBES]) {
    const struct values_list *list = v->lists;
    int64_t next = 0; /* index within this list; beyond its end, in a later list */
    for (int i = 0; i < PROBES; i++) {
        for (; v->all.n > 0 && next >= list->n; list++)
            next -= list->n;
        size[i] = v->all.n > 0 ? fabsf(list->values[next]) : 0;
        next += v->all.n / PROBES;
    }
}

/* The exponent of the range that most of the values fit in: |v| < 2^exponent. */
static int choose_exponent(const struct values *v) {
    float size[PROBES];
    draw_probes(v, size);
    qsort(size, PROBES, sizeof *size, compare_floats);
    return size[UPPER_QUARTILE] > 0 ? ilogbf(size[UPPER_QUARTILE]) + 1 + COARSER : 0;
}

/* A plan whose inliers are the values within [low, high] that fit in the unit; it has no median
 * bracket. median_low is `below`, so that a tile function counts the values below it. */
static struct scan_plan plan_of(const struct values *v, float low, float high, float below) {
    const float most = nextafterf(ldexpf(1, v->exponent), 0);
    struct scan_plan plan = {
        .inlier_low = -most, .inlier_high = most, .median_low = below, .median_high = -INFINITY};
    if (!scan_plan_scale(&plan))
        return scan_plan_all(INFINITY);
    plan.inlier_low = fmaxf(-most, nextafterf(low, -INFINITY));
    plan.inlier_high = fminf(most, nextafterf(high, INFINITY));
    return plan;
}

/* Adds the values of a list, and notes the keys of values that the tile function does not add. */
static void add_and_list(void *passes, int i) {
    struct values_pass *pass = (struct values_pass *)passes + i;
    const struct values_list *list = pass->list;
    struct tile_unsummed unsummed;
    unsummed.bracket.value = pass->kept;
    for (int64_t first = 0; first < list->n; first += TILE_PIXELS) {
        struct tile_sums tile = {0};
        pass->values->variant->tile(pass->plan, list->values + first, false,
                                    tile_count(list, first), &tile, &unsummed);
        add_tiles(&pass->sums, pass->plan, &tile);
        if (!GROW(pass->inexact, pass->inexact_capacity, pass->n_inexact + unsummed.others.n)) {
            pass->no_memory = true;
            return;
        }
        for (int j = 0; j < unsummed.others.n; j++)
            pass->inexact[pass->n_inexact++] =
                exact_key(list->values[first + unsummed.others.index[j]]);
    }
}

/* Sorts the inexact values of all passes, and frees the passes' lists. */
static bool take_inexact(struct values *v) {
    int64_t n = 0, n_copied = 0;
    bool ok = true;
    for (int p = 0; p < v->n_lists; p++) {
        n += v->passes[p].n_inexact;
        ok = ok && !v->passes[p].no_memory;
    }
    uint32_t *keys = malloc((size_t)n * sizeof *keys + 1);
    for (int p = 0; p < v->n_lists; p++) {
        struct values_pass *pass = &v->passes[p];
        if (keys && pass->n_inexact > 0)
            memcpy(keys + n_copied, pass->inexact, (size_t)pass->n_inexact * sizeof *keys);
        n_copied += pass->n_inexact;
        free(pass->inexact);
        pass->inexact = NULL;
    }
    return sorted_make(&v->inexact, keys, keys ? n : 0) && keys && ok;
}

bool values_make(struct values *v, const struct cpu_variant *variant, struct threads *threads,
                 const struct values_list *lists, int n_lists, float low, float high, float below,
                 struct values_sums *sums) {
    *v = (struct values){
        .variant = variant, .threads = threads, .n_lists = n_lists, .all = {low, high, 0, 0}};
    v->lists = malloc((size_t)n_lists * sizeof *v->lists + 1);
    v->passes = calloc((size_t)n_lists + 1, sizeof *v->passes);
    v->keys = malloc(2 * SORT_MOST * sizeof *v->keys);
    if (!v->lists || !v->passes || !v->keys)
        return false;
    for (int p = 0; p < n_lists; p++) {
        v->lists[p] = lists[p];
        v->all.n += lists[p].n;
    }
    v->last = v->all;
    v->exponent = choose_exponent(v);
    const struct scan_plan plan = plan_of(v, low, high, below);
    run_passes(v, &plan, add_and_list);
    add_passes(v, sums);
    const bool ok = take_inexact(v);
    add_inexact(sums, &v->inexact, below);
    return ok;
}

void values_clear(struct values *v) {
    free(v->lists);
    sorted_clear(&v->inexact);
    free(v->passes);
    free(v->keys);
    *v = (struct values){0};
}

/* --- sums --- */

static void sum_list(void *passes, int i) {
    struct values_pass *pass = (struct values_pass *)passes + i;
    const struct values_list *list = pass->list;
    for (int64_t first = 0; first < list->n; first += ADD_MOST) {
        const int64_t n_left = list->n - first;
        struct tile_sums tiles = {0};
        pass->values->variant->sum(pass->plan, list->values + first,
                                   n_left < ADD_MOST ? n_left : ADD_MOST, &tiles);
        add_tiles(&pass->sums, pass->plan, &tiles);
    }
}

void values_trim(struct values *v, float low, float high, float below, struct values_sums *sums) {
    const struct scan_plan plan = plan_of(v, low, high, below);
    sorted_keep(&v->inexact, sorted_below(&v->inexact, low, false),
                sorted_below(&v->inexact, high, true));
    if (v->all.low > high)
        return;
    run_passes(v, &plan, sum_list);
    add_passes(v, sums);
    add_inexact(sums, &v->inexact, below);
}

static inline void extend(float v, float low, float high, float *least, float *greatest) {
    const bool within = (v >= low) & (v <= high);
    const float if_least = within ? v : INFINITY, if_greatest = within ? v : -INFINITY;
    *least = if_least < *least ? if_least : *least;
    *greatest = if_greatest > *greatest ? if_greatest : *greatest;
}

/* Keeps eight pairs of extremes, so that successive values do not depend on each other. */
static void extend_by_list(const struct values_list *list, float low, float high, float *least,
                           float *greatest) {
    enum { AT_ONCE = 8 };
    float leasts[AT_ONCE], greatests[AT_ONCE];
    int64_t i = 0;
    for (int j = 0; j < AT_ONCE; j++) {
        leasts[j] = *least;
        greatests[j] = *greatest;
    }
    for (; i + AT_ONCE <= list->n; i += AT_ONCE)
        for (int j = 0; j < AT_ONCE; j++)
            extend(list->values[i + j], low, high, &leasts[j], &greatests[j]);
    for (; i < list->n; i++)
        extend(list->values[i], low, high, least, greatest);
    for (int j = 0; j < AT_ONCE; j++) {
        extend(leasts[j], low, high, least, greatest);
        extend(greatests[j], low, high, least, greatest);
    }
}

void values_extend(const struct values *v, float low, float high, float *least, float *greatest) {
    for (int p = 0; v->all.low <= high && p < v->n_lists; p++)
        extend_by_list(&v->lists[p], low, high, least, greatest);
    *least += 0.0f; /* -0 becomes 0 */
    *greatest += 0.0f;
}

/* --- order --- */

/* Counts the values of a list below the plan's bracket and within it, and keeps those within it as
 * long as they are few. */
static void keep_range(void *passes, int i) {
    struct values_pass *pass = (struct values_pass *)passes + i;
    const struct values_list *list = pass->list;
    struct tile_sums below = {0};
    struct tile_unsummed unsummed;
    int64_t end = 0; /* of the kept values */
    pass->n_kept = 0;
    for (int64_t first = 0; first < list->n; first += TILE_PIXELS) {
        unsummed.bracket.value = pass->kept + end;
        pass->values->variant->tile(pass->plan, list->values + first, false,
                                    tile_count(list, first), &below, &unsummed);
        pass->n_kept += unsummed.bracket.n;
        end = pass->n_kept <= SORT_MOST ? pass->n_kept : 0; /* too many: only count them */
    }
    pass->sums.n_below = below.n_below;
}

/* Counts the values below `low` and within [low, high], and sorts those within it if they are few.
 */
static struct values_range sort_range(struct values *v, float low, float high) {
    const struct scan_plan plan = scan_plan_between(low, high);
    struct values_range range = {low, high, 0, 0};
    run_passes(v, &plan, keep_range);
    for (int p = 0; p < v->n_lists; p++) {
        range.before += v->passes[p].sums.n_below;
        range.n += v->passes[p].n_kept;
    }
    v->before = range.before;
    v->n_keys = 0;
    for (int p = 0; range.n <= SORT_MOST && p < v->n_lists; p++)
        for (int64_t i = 0; i < v->passes[p].n_kept; i++)
            v->keys[v->n_keys++] = exact_key(v->passes[p].kept[i]);
    sort_keys(v->keys, v->n_keys, v->keys + SORT_MOST);
    return range;
}

/* Estimates bounds of the value at index i, as if the values of the range were spread evenly. The
 * margin on each side is four standard errors or, if that is more, a 256th of the range's values,
 * since values are never quite even; but no more than can be sorted. */
static void interpolate(const struct values_range *r, int64_t i, float *low, float *high) {
    const double n = (double)r->n, index = (double)(i - r->before);
    const double margin = fmin(fmax(2 * sqrt(n), n / 256), 0.45 * SORT_MOST);
    const double a = (double)r->low, span = (double)r->high - a;
    *low = fmaxf(r->low, (float)(a + span * ((index - margin) / n)));
    *high = fminf(r->high, (float)(a + span * ((index + margin) / n)));
}

/* Chooses the bounds of the next search for index i within the range that contains it. From the
 * third turn on, every other turn bisects the floats of the range, so that the search ends for any
 * values. Bisection excludes the greatest float: the midpoint of a range that ends with 0 may be
 * -0, which is not less than 0. */
static void choose_bounds(const struct values *v, int64_t i, int turn, float *low, float *high) {
    const struct values_range *r = &v->last;
    const uint32_t first = exact_key(r->low), last = exact_key(r->high);
    *low = r->low;
    *high = r->high;
    if (r->n <= SORT_MOST)
        return;
    if (turn >= 2 && turn % 2 == 0)
        *high = fminf(exact_unkey(first + (last - first) / 2), nextafterf(r->high, -INFINITY));
    else
        interpolate(r, i, low, high);
}

/* Narrows a range that contains index i to `inside`, a range within it, or to the
 * values below or above `inside`. */
static void narrow(struct values_range *r, int64_t i, const struct values_range *inside) {
    const int64_t above = inside->before + inside->n;
    if (i < inside->before)
        *r = (struct values_range){r->low, nextafterf(inside->low, -INFINITY), r->before,
                                   inside->before - r->before};
    else if (i < above)
        *r = *inside;
    else
        *r = (struct values_range){nextafterf(inside->high, INFINITY), r->high, above,
                                   r->before + r->n - above};
}

float values_at(struct values *v, int64_t i) {
    if (i < v->last.before || i >= v->last.before + v->last.n)
        v->last = v->all;
    for (int turn = 0; i < v->before || i >= v->before + v->n_keys; turn++) {
        float low, high;
        if (v->last.low == v->last.high)
            return v->last.low + 0.0f; /* -0 becomes 0 */
        choose_bounds(v, i, turn, &low, &high);
        const struct values_range inside = sort_range(v, low, high);
        narrow(&v->last, i, &inside);
    }
    return exact_unkey(v->keys[i - v->before]);
}
