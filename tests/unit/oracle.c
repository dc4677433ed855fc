#include "oracle.h"

#include <stdlib.h>

/* --- clip --- */

static int by_value(const void *a, const void *b) {
    const float *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void statistics(const float *x, int64_t n, struct srcfind_background *b) {
    long double sum = 0, squares = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i];
    const long double mean = sum / (long double)n;
    for (int64_t i = 0; i < n; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    b->median = ((double)x[(n - 1) / 2] + (double)x[n / 2]) / 2;
    b->mean = (double)mean;
    b->rms = (double)sqrtl(squares / (long double)n);
    b->min = x[0];
    b->max = x[n - 1];
    b->n_kept = n;
}

static void clip(float *x, int64_t n, double kappa, struct srcfind_background *b) {
    qsort(x, (size_t)n, sizeof *x, by_value);
    for (;;) {
        int64_t kept = 0;
        b->rounds++;
        statistics(x, n, b);
        for (int64_t i = 0; i < n; i++)
            if (x[i] > b->median - kappa * b->rms && x[i] < b->median + kappa * b->rms)
                x[kept++] = x[i];
        b->empty = kept == 0;
        if (b->empty || kept == n)
            return;
        n = kept;
    }
}

/* --- islands --- */

struct flood {
    const struct picture *picture;
    const bool *mask;
    bool *taken;
    int *stack;
    int connectivity;
};

static bool is_inside(const struct picture *p, int x, int y) {
    return x >= 0 && y >= 0 && x < p->width && y < p->height;
}

static void take(struct flood *f, int x, int y, int *depth) {
    const int at = y * f->picture->width + x;
    if (!is_inside(f->picture, x, y) || !f->mask[at] || f->taken[at])
        return;
    f->taken[at] = true;
    f->stack[(*depth)++] = at;
}

/* Fills members with the pixels of the island that holds `start`; returns how many. */
static int fill(struct flood *f, int start, int *members) {
    const int width = f->picture->width;
    int depth = 0, n = 0;
    take(f, start % width, start / width, &depth);
    while (depth > 0) {
        const int at = f->stack[--depth], x = at % width, y = at / width;
        members[n++] = at;
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++)
                if (f->connectivity == 8 || dx == 0 || dy == 0)
                    take(f, x + dx, y + dy, &depth);
    }
    return n;
}

static bool touches_edge(const struct picture *p, int x, int y) {
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (!is_inside(p, x + dx, y + dy) || !isfinite(p->pixels[(y + dy) * p->width + x + dx]))
                return true;
    return false;
}

static struct oracle_island measure(const struct picture *p, const int *members, int n) {
    struct oracle_island i = {
        .n_pixels = n, .x_min = p->width, .y_min = p->height, .x_peak = -1, .peak = -INFINITY};
    for (int m = 0; m < n; m++) {
        const int x = members[m] % p->width, y = members[m] / p->width;
        const float v = p->pixels[members[m]];
        i.x_min = x < i.x_min ? x : i.x_min;
        i.x_max = x > i.x_max ? x : i.x_max;
        i.y_min = y < i.y_min ? y : i.y_min;
        i.y_max = y > i.y_max ? y : i.y_max;
        i.edge |= touches_edge(p, x, y);
        if (v > i.peak || (v == i.peak && members[m] < i.y_peak * p->width + i.x_peak)) {
            i.peak = v;
            i.x_peak = x;
            i.y_peak = y;
        }
    }
    for (int m = 0; m < n; m++) {
        const long double x = members[m] % p->width - i.x_min, y = members[m] / p->width - i.y_min;
        const long double v = p->pixels[members[m]];
        i.sum += v;
        i.x += v * x;
        i.y += v * y;
        i.xx += v * x * x;
        i.yy += v * y * y;
        i.xy += v * x * y;
    }
    return i;
}

static void find_islands(const struct picture *p, const struct detection *d,
                         struct oracle_result *result) {
    const int n = p->width * p->height;
    const double base = d->subtract_background ? result->background.median : 0;
    const double rms = result->background.rms;
    bool *mask = calloc((size_t)n, 1), *taken = calloc((size_t)n, 1);
    int *stack = malloc((size_t)n * sizeof *stack), *members = malloc((size_t)n * sizeof *members);
    struct flood f = {p, mask, taken, stack, d->connectivity};
    for (int i = 0; i < n; i++)
        mask[i] = isfinite(p->pixels[i]) && p->pixels[i] > base + d->island * rms;
    for (int i = 0; i < n; i++) {
        const int size = fill(&f, i, members);
        if (size == 0)
            continue;
        const struct oracle_island island = measure(p, members, size);
        if (island.peak > base + d->threshold * rms && island.n_pixels >= d->min_pixels)
            result->islands[result->n++] = island;
    }
    free(mask);
    free(taken);
    free(stack);
    free(members);
}

struct oracle_result oracle_detect(const struct picture *p, const struct detection *d) {
    struct oracle_result result = {0};
    const int n = p->width * p->height;
    float *finite = malloc((size_t)n * sizeof *finite);
    int64_t n_finite = 0;
    result.islands = calloc((size_t)n, sizeof *result.islands);
    for (int i = 0; i < n; i++)
        if (isfinite(p->pixels[i]))
            finite[n_finite++] = p->pixels[i];
    result.background.n_pixels = n;
    result.background.n_blank = n - n_finite;
    if (n_finite > 0)
        clip(finite, n_finite, d->kappa, &result.background);
    if (n_finite > 0 && !result.background.empty)
        find_islands(p, d, &result);
    free(finite);
    return result;
}

void oracle_free(struct oracle_result *result) {
    free(result->islands);
}
