#include "cpu/clip_sorted.h"

#include <stdlib.h>

#include "common/arrays.h"

static bool sorted_select(struct clip_set *clip, int64_t k, float *value) {
    const struct sorted_values *pixels = &((const struct sorted_set *)clip->state)->pixels;
    *value = sorted_at(pixels, k);
    return true;
}

static bool sorted_trim(struct clip_set *clip, float low, float high) {
    struct sorted_values *pixels = &((struct sorted_set *)clip->state)->pixels;
    const int64_t first = sorted_below(pixels, low, false);
    const int64_t last = sorted_below(pixels, high, true);
    clip->n = last > first ? last - first : 0;
    if (clip->n > 0) {
        sorted_keep(pixels, first, last);
        clip->sums = pixels->sums;
    }
    return true;
}

/* Writes the keys of the values of all workers' lists, and returns their number. */
static int64_t collect(uint32_t *keys, const struct scan *scan) {
    int64_t n = 0;
    for (int i = 0; i < scan->n_workers; i++) {
        const struct scan_list *list = &scan->workers[i].bracket;
        for (int64_t j = 0; j < list->n; j++)
            keys[n++] = exact_key(list->values[j]);
    }
    return n;
}

/* Inserts n_zero zeros where they belong in the order; keys has capacity for them. */
static void insert_zeros(struct sorted_values *pixels, int64_t n_zero) {
    uint32_t *positive = pixels->keys + sorted_below(pixels, 0, true);
    const int64_t n_positive = pixels->keys + pixels->last - positive;
    memmove(positive + n_zero, positive, (size_t)n_positive * sizeof *positive);
    for (int64_t i = 0; i < n_zero; i++)
        positive[i] = exact_key(0);
    pixels->last += n_zero;
}

static int64_t count_pixels(const struct scan *scan) {
    int64_t n = 0;
    for (int i = 0; i < scan->n_workers; i++)
        n += scan->workers[i].bracket.n + scan->workers[i].n_zero;
    return n;
}

/* Makes a set of pixels that are sorted and summed. */
static void make_set(struct sorted_set *set) {
    set->set.n = set->pixels.last;
    set->set.sums = set->pixels.sums;
    set->set.state = set;
    set->set.select = sorted_select;
    set->set.trim = sorted_trim;
}

bool sorted_from_keys(struct sorted_set *set, uint32_t *keys, int64_t n) {
    *set = (struct sorted_set){0};
    const bool ok = sorted_make(&set->pixels, keys, n);
    make_set(set);
    return ok;
}

enum srcfind_status sorted_from_scan(struct sorted_set *set, struct scan *scan,
                                     struct error *error) {
    const int64_t n = count_pixels(scan);
    uint32_t *keys = arrays_allocate(n, sizeof *keys);
    const int64_t n_listed = keys ? collect(keys, scan) : 0;
    *set = (struct sorted_set){0};
    scan_free_lists(scan);
    if (!keys || !sorted_make(&set->pixels, keys, n_listed))
        return error_memory(error, "clipping");
    insert_zeros(&set->pixels, n - n_listed);
    make_set(set);
    return SRCFIND_OK;
}

void sorted_set_clear(struct sorted_set *set) {
    sorted_clear(&set->pixels);
    *set = (struct sorted_set){0};
}

void sorted_extremes(const struct sorted_set *set, double *min, double *max) {
    const struct sorted_values *pixels = &set->pixels;
    *min = (double)sorted_at(pixels, 0);
    *max = (double)sorted_at(pixels, pixels->last - pixels->first - 1);
}
