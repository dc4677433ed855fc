#include "cpu/clip_predicted.h"

#include <float.h>
#include <stdlib.h>

static bool predicted_select(struct clip_set *clip, int64_t k, float *value) {
    struct predicted_set *s = clip->state;
    int64_t i;
    *value = 0;
    switch (ranks_locate(&s->ranks, s->plan, k, &i)) {
    case LISTED_ZERO:
        return true;
    case LISTED_VALUE:
        i -= s->ranks.median_first;
        *value = s->counted[SCAN_BRACKET].bins
                     ? counted_at(&s->counted[SCAN_BRACKET], &s->bracket, i)
                     : values_at(&s->bracket, i);
        return true;
    default:
        return false;
    }
}

static void add_up(struct predicted_set *s, const struct values_sums *outliers) {
    s->set.sums = s->inner;
    exact_merge(&s->set.sums, &outliers->sums);
}

static bool predicted_trim(struct clip_set *clip, float low, float high) {
    struct predicted_set *s = clip->state;
    struct listed_ranks *r = &s->ranks;
    struct values_sums outliers = {0};
    low = fmaxf(low, s->low);
    high = fminf(high, s->high);
    if (!ranks_keep_inliers(r, s->plan, low, high) || low > s->plan->median_low ||
        high < s->plan->median_high)
        return false;
    values_trim(&s->outliers, low, high, s->plan->median_low, &outliers);
    values_trim(&s->candidates, low, high, s->plan->median_low, &outliers);
    if (s->counted[SCAN_OUTLIERS].bins)
        counted_trim(&s->counted[SCAN_OUTLIERS], low, high, s->plan->median_low, &outliers);
    const int64_t first = r->median_first - outliers.n_below;
    const int64_t n_bracket = r->median_last - r->median_first;
    clip->n = ranks_keep(r, first, first + n_bracket + outliers.n, low, high);
    if (clip->n > 0) {
        s->low = low;
        s->high = high;
        add_up(s, &outliers);
    }
    return true;
}

/* Takes the lists of all workers of a scan, and adds their values to the sums. Values that are
 * counted in bins are summed there. */
static bool take_lists(struct predicted_set *s, const struct scan *scan, struct threads *threads,
                       struct values_sums *bracket, struct values_sums *outliers) {
    const struct scan_plan *plan = s->plan;
    const int n = scan->n_workers;
    struct values_sums in_bins = {0}; /* of listed values that are counted, too */
    struct values_list *lists = malloc(3 * (size_t)n * sizeof *lists);
    if (!lists)
        return false;
    struct values_list *of_bracket = lists, *of_outliers = lists + n,
                       *of_candidates = lists + 2 * n;
    for (int i = 0; i < n; i++) {
        const struct scan_worker *w = &scan->workers[i];
        of_bracket[i] = (struct values_list){w->bracket.values, w->bracket.n};
        of_outliers[i] = (struct values_list){w->outliers.values, w->outliers.n};
        of_candidates[i] = (struct values_list){w->candidates.values, w->candidates.n};
    }
    const bool made =
        values_make(&s->bracket, scan->variant, threads, of_bracket, n, plan->median_low,
                    plan->median_high, 0, scan->bin_states ? &in_bins : bracket) &&
        values_make(&s->outliers, scan->variant, threads, of_outliers, n, -FLT_MAX, FLT_MAX,
                    plan->median_low, scan->bin_states ? &in_bins : outliers) &&
        values_make(&s->candidates, scan->variant, threads, of_candidates,
                    scan->candidates_apart ? n : 0, plan->candidate, FLT_MAX, plan->median_low,
                    outliers);
    free(lists);
    return made;
}

/* Takes the bins of all workers of a scan, and adds their values to the sums. */
static bool take_bins(struct predicted_set *s, const struct scan *scan, struct values_sums *bracket,
                      struct values_sums *outliers) {
    struct values_sums *sums[SCAN_PARTS] = {bracket, outliers};
    const float below[SCAN_PARTS] = {0, s->plan->median_low};
    for (int part = 0; scan->bin_states && part < SCAN_PARTS; part++) {
        if (!counted_make(&s->counted[part], scan, part))
            return false;
        counted_sum(&s->counted[part], below[part], sums[part]);
    }
    return true;
}

/* Sets the ranks, sums and functions of the set. */
static void prepare(struct predicted_set *s, const struct values_sums *bracket,
                    const struct values_sums *outliers) {
    struct listed_ranks *r = &s->ranks;
    r->median_first = outliers->n_below;
    r->median_last = outliers->n_below + bracket->n;
    r->zero = outliers->n_below + bracket->n_below;
    r->last = bracket->n + outliers->n;
    exact_merge(&s->inner, &bracket->sums);
    add_up(s, outliers);
    s->set.n = r->last + r->n_zero + r->n_inliers;
    s->set.state = s;
    s->set.select = predicted_select;
    s->set.trim = predicted_trim;
}

enum srcfind_status predicted_from_scan(struct predicted_set *set, const struct scan *scan,
                                        struct threads *threads, struct error *error) {
    *set = (struct predicted_set){.plan = &scan->plan, .low = -FLT_MAX, .high = FLT_MAX};
    for (int i = 0; i < scan->n_workers; i++) {
        exact_merge(&set->inner, &scan->workers[i].inliers.sums);
        set->ranks.n_inliers += scan->workers[i].inliers.n;
        set->ranks.n_below += scan->workers[i].inliers.n_below;
        set->ranks.n_zero += scan->workers[i].n_zero;
    }
    struct values_sums bracket = {0}, outliers = {0};
    if (!take_lists(set, scan, threads, &bracket, &outliers) ||
        !take_bins(set, scan, &bracket, &outliers))
        return error_memory(error, "clipping");
    prepare(set, &bracket, &outliers);
    return SRCFIND_OK;
}

void predicted_clear(struct predicted_set *set) {
    values_clear(&set->bracket);
    values_clear(&set->outliers);
    values_clear(&set->candidates);
    for (int part = 0; part < SCAN_PARTS; part++)
        counted_clear(&set->counted[part]);
}

bool predicted_is_missing(const struct predicted_set *s) {
    return s->counted[SCAN_BRACKET].is_missing || s->counted[SCAN_OUTLIERS].is_missing;
}

bool predicted_extremes(struct predicted_set *s, double *min, double *max) {
    float low = INFINITY, high = -INFINITY;
    values_extend(&s->outliers, s->low, s->high, &low, &high);
    values_extend(&s->candidates, s->low, s->high, &low, &high);
    if (s->ranks.n_inliers == 0)
        values_extend(&s->bracket, s->low, s->high, &low, &high);
    for (int part = s->ranks.n_inliers == 0 ? SCAN_BRACKET : SCAN_OUTLIERS; part < SCAN_PARTS;
         part++)
        if (s->counted[part].bins)
            counted_extend(&s->counted[part], s->low, s->high, &low, &high);
    return low <= high && ranks_extremes(&s->ranks, s->plan, low, high, min, max);
}
