#include "cpu/whole.h"

#include <stdlib.h>

#include "pages.h"

static bool whole_select(struct clip_set *clip, int64_t k, float *value) {
    const struct sorted *pixels = &((const struct whole_set *)clip->state)->pixels;
    *value = pixels->values[pixels->first + k];
    return true;
}

static bool whole_trim(struct clip_set *clip, float low, float high) {
    struct sorted *pixels = &((struct whole_set *)clip->state)->pixels;
    const int64_t first = sorted_below(pixels, low, false);
    const int64_t last = sorted_below(pixels, high, true);
    clip->n = last > first ? last - first : 0;
    if (clip->n > 0) {
        sorted_keep(pixels, first, last);
        clip->sums = pixels->sums;
    }
    return true;
}

/* Copies the lists of all workers, and returns how many values they have. */
static int64_t collect(float *values, const struct scan *scan) {
    int64_t n = 0;
    for (int i = 0; i < scan->n_workers; i++) {
        const struct scan_list *list = &scan->workers[i].middle;
        if (list->n > 0)
            memcpy(values + n, list->values, (size_t)list->n * sizeof *values);
        n += list->n;
    }
    return n;
}

/* Puts n_zero zeros to their place among sorted values, behind which there is room for them. */
static void insert_zeros(struct sorted *pixels, int64_t n_zero) {
    float *values = pixels->values;
    int64_t positive = pixels->last;
    while (positive > 0 && values[positive - 1] > 0)
        positive--;
    memmove(values + positive + n_zero, values + positive,
            (size_t)(pixels->last - positive) * sizeof *values);
    for (int64_t i = 0; i < n_zero; i++)
        values[positive + i] = 0;
    pixels->last += n_zero;
}

static int64_t count_pixels(const struct scan *scan) {
    int64_t n = 0;
    for (int i = 0; i < scan->n_workers; i++)
        n += scan->workers[i].middle.n + scan->workers[i].n_zero;
    return n;
}

enum srcfind_status whole_from_scan(struct whole_set *set, const struct scan *scan,
                                    struct error *error) {
    const int64_t n = count_pixels(scan);
    float *values = malloc((size_t)n * sizeof *values + 1);
    pages_ask_for_huge(values, (size_t)n * sizeof *values);
    const int64_t n_listed = values ? collect(values, scan) : 0;
    *set = (struct whole_set){0};
    if (!values || !sorted_make(&set->pixels, values, n_listed))
        return error_memory(error, "clipping");
    insert_zeros(&set->pixels, n - n_listed);
    set->set.n = n;
    set->set.sums = set->pixels.sums;
    set->set.state = set;
    set->set.select = whole_select;
    set->set.trim = whole_trim;
    return SRCFIND_OK;
}

void whole_clear(struct whole_set *set) {
    sorted_clear(&set->pixels);
    *set = (struct whole_set){0};
}

void whole_extremes(const struct whole_set *set, double *min, double *max) {
    const struct sorted *pixels = &set->pixels;
    *min = (double)pixels->values[pixels->first];
    *max = (double)pixels->values[pixels->last - 1];
}
