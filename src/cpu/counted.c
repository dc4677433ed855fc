#include "cpu/counted.h"

#include <stdlib.h>

bool counted_make(struct counted *c, const struct scan *scan, enum scan_part part) {
    *c = (struct counted){.states = scan->bin_states};
    c->bins = calloc(KEY_BINS, sizeof *c->bins);
    for (int i = 0; c->bins && i < scan->n_workers; i++)
        key_bins_merge(c->bins, scan->workers[i].bins[part]);
    return c->bins;
}

void counted_clear(struct counted *c) {
    free(c->bins);
    *c = (struct counted){0};
}

/* Asks the next scan to list a bin, and its neighbours, since an exact round may need them. */
static void want(struct counted *c, int bin) {
    c->is_missing = true;
    for (int i = bin > 0 ? bin - 1 : 0; i <= bin + 1 && i < KEY_BINS; i++)
        if (c->states[i] == BIN_COUNTED)
            c->states[i] = BIN_WANTED;
}

static void add_bin(const struct counted *c, int bin, float below, struct values_sums *sums) {
    sums->n += c->bins[bin].n;
    sums->n_below += key_bin_first(bin) < exact_key(below) ? c->bins[bin].n : 0;
    key_bin_sum(&c->bins[bin], bin, &sums->sums);
}

void counted_sum(const struct counted *c, float below, struct values_sums *sums) {
    for (int bin = 0; bin < KEY_BINS; bin++)
        if (c->bins[bin].n > 0)
            add_bin(c, bin, below, sums);
}

/* Whether a bin has values that are not listed. */
static bool is_unlisted(const struct counted *c, int bin) {
    return c->states[bin] != BIN_LISTED && c->bins[bin].n > 0;
}

void counted_trim(struct counted *c, float low, float high, float below, struct values_sums *sums) {
    const uint32_t first = exact_key(low), last = exact_key(high);
    for (int bin = key_bin_of(first); bin <= key_bin_of(last); bin++) {
        if (!is_unlisted(c, bin))
            continue;
        if (key_bin_first(bin) < first || key_bin_last(bin) > last)
            want(c, bin);
        add_bin(c, bin, below, sums);
    }
}

void counted_extend(struct counted *c, float low, float high, float *least, float *greatest) {
    int first = key_bin_of(exact_key(low)), last = key_bin_of(exact_key(high));
    while (first <= last && !is_unlisted(c, first))
        first++;
    while (last >= first && !is_unlisted(c, last))
        last--;
    if (first > last)
        return;
    const float lowest = exact_unkey(key_bin_first(first)),
                highest = exact_unkey(key_bin_last(last));
    if (lowest < *least)
        want(c, first);
    if (highest > *greatest)
        want(c, last);
    *least = fminf(*least, lowest);
    *greatest = fmaxf(*greatest, highest);
}

float counted_at(struct counted *c, struct values *listed, int64_t i) {
    int64_t n_listed = 0; /* values of listed bins below */
    int bin = 0;
    for (; i >= c->bins[bin].n; bin++) {
        i -= c->bins[bin].n;
        n_listed += c->states[bin] == BIN_LISTED ? c->bins[bin].n : 0;
    }
    if (c->states[bin] == BIN_LISTED)
        return values_at(listed, n_listed + i);
    want(c, bin);
    return exact_unkey(key_bin_first(bin));
}

int64_t counted_list_missing(const struct counted *c) {
    int64_t n = 0;
    for (int bin = 0; bin < KEY_BINS; bin++) {
        if (c->states[bin] == BIN_WANTED)
            c->states[bin] = BIN_LISTED;
        n += c->states[bin] == BIN_LISTED ? c->bins[bin].n : 0;
    }
    return n;
}
