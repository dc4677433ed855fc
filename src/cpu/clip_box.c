/* How a box is clipped. A clip sums and sorts almost nothing:
 *
 * 1. One pass over the box picks the keys near the median and those in the tails, by a guess of the
 *    noise (the node before): some 14% near the median, and the few beyond kappa - 0.7 rms. It
 *    counts the keys below the window, so that ranks in the window are ranks in the box.
 * 2. The median is found among the keys near it: a bracket of keys is divided by interpolation
 *    until at most 32 keys are left, which are gathered and sorted (find_median).
 * 3. The sums of the box less the sums of the removed keys give the rms, in double-double
 *    arithmetic; the keys that a round removes are in the tails (trim).
 * 4. If the median is outside of the window, or a bound inside of the tails, the pass is repeated
 *    around the new estimate; the fifth pass picks all keys.
 * 5. If the last bit of the rms is in doubt, all keys are sorted and summed in integers
 *    (clip_by_sort).
 *
 * Always: the result has the bits of clip_run on the same pixels. The guess changes only how often
 * step 1 runs. */
#include "cpu/clip_box.h"

#include <stdlib.h>

#include "cpu/clip_sorted.h"

enum {
    INTERPOLATED = 16, /* later divisions of a bracket take its middle */
    MOST_PICKS = 4,    /* then all keys are picked */
    FEW = 12,          /* so few keys are not worth a pass that sums */
};

/* In units of the rms: half the width of the window around the median, and the distance from where
 * the tails begin to the bounds of the clip. */
static const double WINDOW = 0.18, MARGIN = 0.7;

/* A guess of the median is moved by this factor times the ranks that it was wrong by. */
static const double BEYOND = 1.25;

/* A key, and the number of keys of the box that are less. */
struct rank {
    int32_t key;
    int64_t below;
};

/* The keys that are looked for are >= low.key and < high.key. */
struct bracket {
    struct rank low, high;
};

/* Keys of consecutive ranks, from `first` on, in their order. */
struct gathered {
    int64_t first, n;
    struct gathered_keys keys;
};

/* The state of a clip: keys within [low, high] are left. */
struct box_clip {
    struct box *box;
    double kappa;
    struct noise_at noise; /* a guess, or that of the last round */
    int32_t low, high;
    int64_t n_lower;           /* keys < low */
    struct value_sums removed; /* keys < low and keys > high */
    int n_picks;
    struct key_window window;
    struct bracket picked; /* the ranks of window.low and window.high */
    struct bracket around; /* of the gathered keys */
    struct gathered gathered;
};

/* --- picking --- */

static struct key_window window_of(const struct box_clip *c) {
    const double m = c->noise.background, rms = c->noise.rms;
    const double outer = (c->kappa > 2 * MARGIN ? c->kappa - MARGIN : c->kappa / 2) * rms;
    if (c->n_picks >= MOST_PICKS || !(rms > 0))
        return (struct key_window){KEY_BLANK - 1, INT32_MIN, KEY_BLANK, INT32_MIN};
    return (struct key_window){
        key_of_pixel((float)(m - outer)), key_of_pixel((float)(m - WINDOW * rms)),
        key_of_pixel((float)(m + WINDOW * rms)), key_of_pixel((float)(m + outer))};
}

/* Picks the keys that the next steps need, if the noise is about c->noise. */
static void pick(struct box_clip *c) {
    struct box *box = c->box;
    c->window = window_of(c);
    c->n_picks++;
    box->kernels->pick(box->rows, box->n_rows, &c->window, &box->picked);
    const int64_t below = box->picked.below, n = box->picked.n_middle;
    c->picked = (struct bracket){{c->window.low, below}, {c->window.high, below + n}};
}

/* --- the median --- */

static struct rank rank_of(const struct box_clip *c, int32_t key) {
    const struct box *box = c->box;
    return (struct rank){key, box->picked.below + box->kernels->count(&box->picked.middle, 1, key)};
}

/* The value at a rank, estimated from that of another rank by the density of a Gaussian. */
static double extrapolate(const struct box_clip *c, struct rank from, double ranks) {
    const double apart = 2.5066 * c->noise.rms / (double)c->box->all.n; /* sqrt(2 pi) */
    return (double)pixel_of_key(from.key) + ranks * apart;
}

/* Picks until the window has the keys of the ranks [lower, upper]. */
static void pick_ranks(struct box_clip *c, int64_t lower, int64_t upper) {
    for (;;) {
        const struct bracket w = c->picked;
        if (w.low.below <= lower && w.high.below > upper)
            return;
        if (c->n_picks > 0)
            c->noise.background =
                w.low.below > lower
                    ? extrapolate(c, w.low, BEYOND * (double)(lower - w.low.below))
                    : extrapolate(c, w.high, BEYOND * (double)(upper - w.high.below + 1));
        pick(c);
    }
}

/* A key that divides a bracket, by interpolation: some ranks beside the wanted ranks, on the side
 * where the bracket is longer. */
static int32_t divide(const struct bracket *b, int64_t lower, int64_t upper, bool halve) {
    const double left = (double)pixel_of_key(b->low.key), right = (double)pixel_of_key(b->high.key);
    const bool is_left = lower - b->low.below > b->high.below - upper;
    const int64_t rank = is_left ? lower - MOST_GATHERED / 3 : upper + 1 + MOST_GATHERED / 3;
    const double share = (double)(rank - b->low.below) / (double)(b->high.below - b->low.below);
    const int32_t middle = (int32_t)(((int64_t)b->low.key + b->high.key) / 2);
    const double value = left + (right - left) * share;
    const int32_t key = isfinite(value) ? key_of_pixel((float)value) : middle;
    return halve || key <= b->low.key || key >= b->high.key ? middle : key;
}

/* Divides the bracket at a key, and keeps the side with the ranks [lower, upper]. If no key of the
 * box is between this key and an end of the bracket, the end moves to the next key of the box. If
 * the two ranks are on both sides, their keys are gathered. */
static void narrow(struct box_clip *c, struct bracket *b, int64_t lower, int64_t upper,
                   int32_t key) {
    const struct rank r = rank_of(c, key);
    const bool between = r.below > lower && r.below <= upper;
    int32_t below, above;
    if (between || r.below == b->low.below || r.below == b->high.below)
        c->box->kernels->neighbours(&c->box->picked.middle, 1, key, &below, &above);
    if (between) {
        c->gathered = (struct gathered){lower, 2, {{below, above}}};
        c->around = *b;
    } else if (r.below <= lower) {
        b->low = (struct rank){r.below == b->low.below ? above : key, r.below};
    } else {
        b->high = (struct rank){r.below == b->high.below ? below + 1 : key, r.below};
    }
}

static void gather(struct box_clip *c, const struct bracket *b) {
    struct gathered *g = &c->gathered;
    c->around = *b;
    g->first = b->low.below;
    g->n = c->box->kernels->gather(&c->box->picked.middle, 1, b->low.key, b->high.key, &g->keys);
    c->box->kernels->sort(&g->keys, g->n);
}

static bool has_gathered(const struct gathered *g, int64_t lower, int64_t upper) {
    return lower >= g->first && upper < g->first + g->n;
}

/* A bracket of picked keys with the ranks [lower, upper], which ends where the gathered keys begin.
 */
static struct bracket beyond_gathered(const struct box_clip *c, int64_t lower, int64_t upper) {
    const struct bracket *g = &c->around;
    struct bracket b = c->picked;
    if (c->gathered.n > 0 && upper < g->low.below && g->low.below < b.high.below)
        b.high = g->low;
    if (c->gathered.n > 0 && lower >= g->high.below && g->high.below > b.low.below)
        b.low = g->high;
    return b;
}

/* The mean of the keys of the ranks `lower` and `upper`, which are equal or neighbours. */
static double find_median(struct box_clip *c, int64_t lower, int64_t upper) {
    const struct gathered *g = &c->gathered;
    if (!has_gathered(g, lower, upper))
        pick_ranks(c, lower, upper);
    struct bracket b = beyond_gathered(c, lower, upper);
    for (int i = 1; !has_gathered(g, lower, upper); i++) {
        if (b.high.key - (int64_t)b.low.key == 1)
            return (double)pixel_of_key(b.low.key);
        if (b.high.below - b.low.below <= MOST_GATHERED)
            gather(c, &b);
        else
            narrow(c, &b, lower, upper, divide(&b, lower, upper, i > INTERPOLATED));
    }
    return ((double)pixel_of_key(g->keys.keys[lower - g->first]) +
            (double)pixel_of_key(g->keys.keys[upper - g->first])) /
           2;
}

/* --- the clip --- */

bool clip_keys(uint32_t *keys, int64_t n, double kappa, struct noise_at *noise) {
    struct sorted_set sorted;
    struct srcfind_background b = {0};
    const bool ok = sorted_from_keys(&sorted, keys, n);
    if (ok) {
        clip_run(&sorted.set, kappa, &b);
        *noise = (struct noise_at){b.median, b.rms};
    }
    sorted_set_clear(&sorted);
    return ok;
}

/* Clips by a sort of all pixels. */
static bool clip_by_sort(const struct box *box, double kappa, struct noise_at *noise) {
    uint32_t *keys = malloc((size_t)box->all.n * sizeof *keys);
    int64_t n = 0;
    for (int64_t i = 0; keys && i < box->n_rows; i++)
        for (int64_t j = 0; j < box->rows[i].n * KEY_LANES; j++)
            if (box->rows[i].keys[j] != KEY_BLANK)
                keys[n++] = exact_key(pixel_of_key(box->rows[i].keys[j]));
    return keys && clip_keys(keys, n, kappa, noise);
}

/* Adds the keys within [low, high) to the removed ones. */
static void remove_few(struct box_clip *c, int32_t low, int32_t high) {
    struct gathered_keys gathered;
    const int64_t n = c->box->kernels->gather(&c->box->picked.outer, 1, low, high, &gathered);
    for (int64_t i = 0; i < n; i++)
        value_sums_add(&c->removed, pixel_of_key(gathered.keys[i]));
}

/* Removes the keys outside of [low, high]. False if there are none, or if no key would be left. */
static bool trim(struct box_clip *c, int32_t low, int32_t high) {
    const struct key_kernels *kernels = c->box->kernels;
    const struct key_rows *outer = &c->box->picked.outer;
    const int64_t before = c->removed.n;
    low = low > c->low ? low : c->low;
    high = high < c->high ? high : c->high;
    if (low > high)
        return false;
    while (low > c->window.outer_low || high < c->window.outer_high)
        pick(c);
    const int64_t n_lower = kernels->count(outer, 1, low);
    const int64_t n_upper =
        kernels->count(outer, 1, c->high + 1) - kernels->count(outer, 1, high + 1);
    if (n_lower - c->n_lower + n_upper <= FEW) {
        remove_few(c, c->low, low);
        remove_few(c, high + 1, c->high + 1);
    } else {
        kernels->sum(outer, 1, c->low, low, high, c->high, &c->removed);
    }
    c->n_lower = n_lower;
    c->low = low;
    c->high = high;
    return c->removed.n > before && c->removed.n < c->box->all.n;
}

/* Whether all n keys that are left equal the median, so that the rms is 0. */
static bool are_equal(const struct box_clip *c, double median, int64_t n) {
    const struct box *box = c->box;
    const int32_t key = key_of_pixel((float)median);
    return box->kernels->count(box->rows, box->n_rows, key + 1) -
               box->kernels->count(box->rows, box->n_rows, key) ==
           n;
}

bool clip_box(struct box *box, double kappa, struct noise_at *noise) {
    struct box_clip c = {.box = box,
                         .kappa = kappa,
                         .noise = *noise,
                         .low = INT32_MIN,
                         .high = KEY_BLANK - 1,
                         .picked = {{INT32_MIN, 0}, {INT32_MIN, 0}}};
    for (;;) {
        const struct value_sums left = value_sums_less(&box->all, &c.removed);
        double rms;
        const double median = find_median(&c, c.n_lower + (left.n - 1) / 2, c.n_lower + left.n / 2);
        if (!value_sums_rms(&box->all, &left, &rms) && !are_equal(&c, median, left.n))
            return clip_by_sort(box, kappa, noise);
        c.noise = *noise = (struct noise_at){median, rms};
        if (!trim(&c, key_of_pixel(exact_above(median - kappa * rms)),
                  key_of_pixel(exact_below(median + kappa * rms))))
            return true;
    }
}

bool clip_box_node(struct box *box, int64_t n, double kappa, struct noise_at *guess,
                   struct noise_at *node) {
    struct noise_at noise = *guess;
    *node = (struct noise_at){NAN, NAN};
    if (4 * box->all.n < n || box->all.n == 0)
        return true;
    if (!clip_box(box, kappa, &noise))
        return false;
    if (noise.rms > 0)
        *node = *guess = noise;
    return true;
}
