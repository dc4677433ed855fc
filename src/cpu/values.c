#include "cpu/values.h"

#include <float.h>
#include <stdlib.h>

#include "cpu/sort.h"
#include "common/arrays.h"

enum {
    PROBES = 64,
    UPPER_QUARTILE = PROBES * 3 / 4,
    COARSER = 2,         /* bits between the upper quartile's exponent and the unit's */
    SORT_MOST = 1 << 14, /* so many values are sorted at once */
    ADD_MOST = 1 << 15,  /* so many are added at once, of 2^31 that tile_sums hold */
};

/* --- making --- */

static int compare_floats(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* The sizes of some of the values, from all over the lists. */
static void draw_probes(const struct values *v, float size[PROBES]) {
    const struct values_part *part = v->parts;
    int64_t next = 0; /* of the values of this part and those after it */
    for (int i = 0; i < PROBES; i++) {
        for (; v->all.n > 0 && next >= part->n; part++)
            next -= part->n;
        size[i] = v->all.n > 0 ? fabsf(part->values[next]) : 0;
        next += v->all.n / PROBES;
    }
}

/* The unit that suits most of the values. */
static int choose_exponent(const struct values *v) {
    float size[PROBES];
    draw_probes(v, size);
    qsort(size, PROBES, sizeof *size, compare_floats);
    return size[UPPER_QUARTILE] > 0 ? ilogbf(size[UPPER_QUARTILE]) + 1 + COARSER : 0;
}

/* What the scan's loop adds of the values within [low, high]: the core of a plan without a median
 * bracket. */
static struct scan_plan plan_of(const struct values *v, float low, float high, float below) {
    const float most = nextafterf(ldexpf(1, v->exponent), 0);
    struct scan_plan plan = {
        .core_low = -most, .core_high = most, .median_low = below, .median_high = -INFINITY};
    if (!scan_plan_scale(&plan))
        return scan_plan_all(INFINITY);
    plan.core_low = fmaxf(-most, nextafterf(low, -INFINITY));
    plan.core_high = fminf(most, nextafterf(high, INFINITY));
    return plan;
}

/* A tile of a part, of which the first i values are behind it. */
static int tile_count(const struct values_part *part, int64_t i) {
    return (int)(part->n - i < TILE_PIXELS ? part->n - i : TILE_PIXELS);
}

/* Adds what the loop has added. */
static void add_tiles(struct values_sums *sums, const struct scan_plan *plan,
                      const struct tile_sums *tiles) {
    sums->n += tiles->n;
    sums->n_below += tiles->n_below;
    scan_add_sums(&sums->sums, plan, tiles);
}

static void add_odd(struct values_sums *sums, const struct sorted *odd, float below) {
    sums->n += odd->last - odd->first;
    sums->n_below += sorted_below(odd, below, false);
    exact_merge(&sums->sums, &odd->sums);
}

struct keys {
    uint32_t *key;
    int64_t n, room;
};

/* Adds the values of a part, and puts the keys of those that the loop does not add behind the
 * others. */
static bool part_odd(const struct values *v, const struct scan_plan *plan,
                     const struct values_part *part, struct keys *odd, struct values_sums *sums) {
    float none[TILE_PIXELS];
    struct tile_rest rest;
    rest.middle.value = none;
    for (int64_t i = 0; i < part->n; i += TILE_PIXELS) {
        struct tile_sums tile = {0};
        v->variant->tile(plan, part->values + i, false, tile_count(part, i), &tile, &rest);
        add_tiles(sums, plan, &tile);
        if (!GROW(odd->key, odd->room, odd->n + rest.others.n))
            return false;
        for (int j = 0; j < rest.others.n; j++)
            odd->key[odd->n++] = exact_key(part->values[i + rest.others.place[j]]);
    }
    return true;
}

/* Adds all values, and keeps those that the loop does not add. */
static bool keep_odd(struct values *v, float below, struct values_sums *sums) {
    const struct scan_plan plan = plan_of(v, v->all.low, v->all.high, below);
    struct keys odd = {0};
    bool kept = true;
    for (int p = 0; kept && p < v->n_parts; p++)
        kept = part_odd(v, &plan, &v->parts[p], &odd, sums);
    kept = sorted_make(&v->odd, odd.key, odd.n) && kept;
    add_odd(sums, &v->odd, below);
    return kept;
}

bool values_make(struct values *v, const struct scan_variant *variant,
                 const struct values_part *parts, int n_parts, float low, float high, float below,
                 struct values_sums *sums) {
    *v = (struct values){.variant = variant, .n_parts = n_parts, .all = {low, high, 0, 0}};
    v->parts = malloc((size_t)n_parts * sizeof *v->parts + 1);
    v->some = malloc((SORT_MOST + TILE_PIXELS) * sizeof *v->some);
    v->keys = malloc(2 * SORT_MOST * sizeof *v->keys);
    if (!v->parts || !v->some || !v->keys)
        return false;
    for (int p = 0; p < n_parts; p++) {
        v->parts[p] = parts[p];
        v->all.n += parts[p].n;
    }
    v->asked = v->all;
    v->exponent = choose_exponent(v);
    return keep_odd(v, below, sums);
}

void values_clear(struct values *v) {
    free(v->parts);
    sorted_clear(&v->odd);
    free(v->some);
    free(v->keys);
    *v = (struct values){0};
}

/* --- sums --- */

static void sum_part(const struct values *v, const struct scan_plan *plan,
                     const struct values_part *part, struct values_sums *sums) {
    for (int64_t i = 0; i < part->n; i += ADD_MOST) {
        struct tile_sums some = {0};
        v->variant->sum(plan, part->values + i, part->n - i < ADD_MOST ? part->n - i : ADD_MOST,
                        &some);
        add_tiles(sums, plan, &some);
    }
}

void values_trim(struct values *v, float low, float high, float below, struct values_sums *sums) {
    const struct scan_plan plan = plan_of(v, low, high, below);
    sorted_keep(&v->odd, sorted_below(&v->odd, low, false), sorted_below(&v->odd, high, true));
    if (v->all.low > high)
        return;
    for (int p = 0; p < v->n_parts; p++)
        sum_part(v, &plan, &v->parts[p], sums);
    add_odd(sums, &v->odd, below);
}

static inline void extend(float v, float low, float high, float *least, float *greatest) {
    const bool within = (v >= low) & (v <= high);
    const float if_least = within ? v : INFINITY, if_greatest = within ? v : -INFINITY;
    *least = if_least < *least ? if_least : *least;
    *greatest = if_greatest > *greatest ? if_greatest : *greatest;
}

/* Some values at a time, so that they need not wait for each other. */
static void extend_by_part(const struct values_part *part, float low, float high, float *least,
                           float *greatest) {
    enum { AT_ONCE = 8 };
    float leasts[AT_ONCE], greatests[AT_ONCE];
    int64_t i = 0;
    for (int j = 0; j < AT_ONCE; j++) {
        leasts[j] = *least;
        greatests[j] = *greatest;
    }
    for (; i + AT_ONCE <= part->n; i += AT_ONCE)
        for (int j = 0; j < AT_ONCE; j++)
            extend(part->values[i + j], low, high, &leasts[j], &greatests[j]);
    for (; i < part->n; i++)
        extend(part->values[i], low, high, least, greatest);
    for (int j = 0; j < AT_ONCE; j++) {
        extend(leasts[j], low, high, least, greatest);
        extend(greatests[j], low, high, least, greatest);
    }
}

void values_extend(const struct values *v, float low, float high, float *least, float *greatest) {
    for (int p = 0; v->all.low <= high && p < v->n_parts; p++)
        extend_by_part(&v->parts[p], low, high, least, greatest);
    *least += 0.0f; /* -0 is 0 */
    *greatest += 0.0f;
}

/* --- order --- */

/* Sorts the values within [low, high], if they are not too many, and returns how many there are,
 * and how many are below. */
static struct values_stretch sort_stretch(struct values *v, float low, float high) {
    const struct scan_plan plan = scan_plan_between(low, high);
    struct values_stretch stretch = {low, high, 0, 0};
    struct tile_sums below = {0};
    struct tile_rest rest;
    int n = 0;
    for (int p = 0; p < v->n_parts; p++) {
        for (int64_t i = 0; i < v->parts[p].n; i += TILE_PIXELS) {
            rest.middle.value = v->some + n;
            v->variant->tile(&plan, v->parts[p].values + i, false, tile_count(&v->parts[p], i),
                             &below, &rest);
            stretch.n += rest.middle.n;
            n = stretch.n <= SORT_MOST ? (int)stretch.n : 0;
        }
    }
    stretch.before = below.n_below;
    v->before = stretch.before;
    v->n_sorted = stretch.n <= SORT_MOST ? n : 0;
    for (int64_t i = 0; i < v->n_sorted; i++)
        v->keys[i] = exact_key(v->some[i]);
    sort_keys(v->keys, v->n_sorted, v->keys + SORT_MOST);
    return stretch;
}

/* Bounds of what may have place i of the order, so that there are few values between them if those
 * of the stretch are spread evenly: on either side four standard errors of that, or a 256th of all,
 * since they are not quite; but no more than are sorted. */
static void interpolate(const struct values_stretch *s, int64_t i, float *low, float *high) {
    const double n = (double)s->n, place = (double)(i - s->before);
    const double margin = fmin(fmax(2 * sqrt(n), n / 256), 0.45 * SORT_MOST);
    const double a = (double)s->low, span = (double)s->high - a;
    *low = fmaxf(s->low, (float)(a + span * ((place - margin) / n)));
    *high = fminf(s->high, (float)(a + span * ((place + margin) / n)));
}

/* Where to look for place i, within the stretch that was asked for last, which has it. From the
 * third turn on, every other one halves the floats that may be there, whatever the values are: the
 * greatest of them is left out, since half of a stretch that ends with 0 may be -0, which is no
 * less. */
static void choose_bounds(const struct values *v, int64_t i, int turn, float *low, float *high) {
    const struct values_stretch *s = &v->asked;
    const uint32_t first = exact_key(s->low), last = exact_key(s->high);
    *low = s->low;
    *high = s->high;
    if (s->n <= SORT_MOST)
        return;
    if (turn >= 2 && turn % 2 == 0)
        *high = fminf(exact_unkey(first + (last - first) / 2), nextafterf(s->high, -INFINITY));
    else
        interpolate(s, i, low, high);
}

/* Makes the stretch that has place i that part of itself which is below others, one of them, or
 * above. */
static void cut(struct values_stretch *s, int64_t i, const struct values_stretch *part) {
    const int64_t above = part->before + part->n;
    if (i < part->before)
        *s = (struct values_stretch){s->low, nextafterf(part->low, -INFINITY), s->before,
                                     part->before - s->before};
    else if (i < above)
        *s = *part;
    else
        *s = (struct values_stretch){nextafterf(part->high, INFINITY), s->high, above,
                                     s->before + s->n - above};
}

float values_at(struct values *v, int64_t i) {
    if (i < v->asked.before || i >= v->asked.before + v->asked.n)
        v->asked = v->all;
    for (int turn = 0; i < v->before || i >= v->before + v->n_sorted; turn++) {
        float low, high;
        if (v->asked.low == v->asked.high)
            return v->asked.low + 0.0f; /* -0 is 0 */
        choose_bounds(v, i, turn, &low, &high);
        const struct values_stretch part = sort_stretch(v, low, high);
        cut(&v->asked, i, &part);
    }
    return exact_unkey(v->keys[i - v->before]);
}
