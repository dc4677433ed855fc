#include "cpu/clip_predicted.h"

#include <float.h>
#include <stdlib.h>

static bool listed_select(struct clip_set *clip, int64_t k, float *value) {
    struct listed_set *s = clip->state;
    int64_t i;
    *value = 0;
    switch (listed_locate(&s->ranks, s->plan, k, &i)) {
    case LISTED_ZERO:
        return true;
    case LISTED_VALUE:
        *value = values_at(&s->middle, i - s->ranks.median_first);
        return true;
    default:
        return false;
    }
}

static void add_up(struct listed_set *s, const struct values_sums *tails) {
    s->set.sums = s->inner;
    exact_merge(&s->set.sums, &tails->sums);
}

static bool listed_trim(struct clip_set *clip, float low, float high) {
    struct listed_set *s = clip->state;
    struct listed_ranks *r = &s->ranks;
    struct values_sums tails = {0};
    low = fmaxf(low, s->low);
    high = fminf(high, s->high);
    if (!listed_keeps_core(r, s->plan, low, high) || low > s->plan->median_low ||
        high < s->plan->median_high)
        return false;
    values_trim(&s->tails, low, high, s->plan->median_low, &tails);
    values_trim(&s->candidates, low, high, s->plan->median_low, &tails);
    const int64_t first = r->median_first - tails.n_below;
    clip->n = listed_keep(r, first, first + s->middle.all.n + tails.n, low, high);
    if (clip->n > 0) {
        s->low = low;
        s->high = high;
        add_up(s, &tails);
    }
    return true;
}

/* Makes the lists of a scan ready, and adds their values. */
static bool take_lists(struct listed_set *s, const struct scan *scan, struct values_sums *middle,
                       struct values_sums *tails) {
    const struct scan_plan *plan = s->plan;
    const int n = scan->n_workers;
    struct values_part *parts = malloc(3 * (size_t)n * sizeof *parts);
    if (!parts)
        return false;
    struct values_part *of_middle = parts, *of_tails = parts + n, *of_candidates = parts + 2 * n;
    for (int i = 0; i < n; i++) {
        const struct scan_worker *w = &scan->workers[i];
        of_middle[i] = (struct values_part){w->middle.values, w->middle.n};
        of_tails[i] = (struct values_part){w->tails.values, w->tails.n};
        of_candidates[i] = (struct values_part){w->candidates, w->n_candidates};
    }
    const bool made =
        values_make(&s->middle, scan->variant, of_middle, n, plan->median_low, plan->median_high, 0,
                    middle) &&
        values_make(&s->tails, scan->variant, of_tails, n, -FLT_MAX, FLT_MAX, plan->median_low,
                    tails) &&
        values_make(&s->candidates, scan->variant, of_candidates, scan->candidates_apart ? n : 0,
                    plan->candidate, FLT_MAX, plan->median_low, tails);
    free(parts);
    return made;
}

/* Makes the set ready for a clip. */
static void prepare(struct listed_set *s, const struct values_sums *middle,
                    const struct values_sums *tails) {
    struct listed_ranks *r = &s->ranks;
    r->median_first = tails->n_below;
    r->median_last = tails->n_below + s->middle.all.n;
    r->zero = tails->n_below + middle->n_below;
    r->last = s->middle.all.n + s->tails.all.n + s->candidates.all.n;
    exact_merge(&s->inner, &middle->sums);
    add_up(s, tails);
    s->set.n = r->last + r->n_zero + r->n_core;
    s->set.state = s;
    s->set.select = listed_select;
    s->set.trim = listed_trim;
}

enum srcfind_status listed_from_scan(struct listed_set *set, const struct scan *scan,
                                     struct error *error) {
    *set = (struct listed_set){.plan = &scan->plan, .low = -FLT_MAX, .high = FLT_MAX};
    for (int i = 0; i < scan->n_workers; i++) {
        exact_merge(&set->inner, &scan->workers[i].sums);
        set->ranks.n_core += scan->workers[i].n_core;
        set->ranks.n_below += scan->workers[i].n_below;
        set->ranks.n_zero += scan->workers[i].n_zero;
    }
    struct values_sums middle = {0}, tails = {0};
    if (!take_lists(set, scan, &middle, &tails))
        return error_memory(error, "clipping");
    prepare(set, &middle, &tails);
    return SRCFIND_OK;
}

void listed_clear(struct listed_set *set) {
    values_clear(&set->middle);
    values_clear(&set->tails);
    values_clear(&set->candidates);
}

bool listed_extremes(const struct listed_set *s, double *min, double *max) {
    float low = INFINITY, high = -INFINITY;
    values_extend(&s->tails, s->low, s->high, &low, &high);
    values_extend(&s->candidates, s->low, s->high, &low, &high);
    if (s->ranks.n_core == 0)
        values_extend(&s->middle, s->low, s->high, &low, &high);
    return low <= high && listed_extremes_of(&s->ranks, s->plan, low, high, min, max);
}
