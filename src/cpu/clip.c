#include "cpu/clip.h"

static bool median_of(struct clip_set *set, double *median) {
    float lower, upper;
    if (!set->select(set, (set->n - 1) / 2, &lower) || !set->select(set, set->n / 2, &upper))
        return false;
    *median = ((double)lower + (double)upper) / 2;
    return true;
}

bool clip_run(struct clip_set *set, double kappa, struct srcfind_background *b) {
    for (;;) {
        const int64_t n = set->n;
        if (!median_of(set, &b->median))
            return false;
        b->rms = exact_rms(&set->sums, n);
        b->mean = exact_mean(&set->sums, n);
        b->n_kept = n;
        const double low = b->median - kappa * b->rms, high = b->median + kappa * b->rms;
        if (!set->trim(set, exact_above(low), exact_below(high)))
            return false;
        b->rounds++;
        b->empty = set->n == 0;
        if (b->empty || set->n == n)
            return true;
    }
}
