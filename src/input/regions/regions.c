#include "input/regions/regions.h"

#include <stdlib.h>

#include "common/arrays.h"

bool regions_add(struct regions *r, const struct region *region) {
    if (!GROW(r->all, r->capacity, r->n + 1))
        return false;
    r->begins_full = r->n == 0 ? region->excludes : r->begins_full;
    r->all[r->n++] = *region;
    return true;
}

bool regions_add_point(struct regions *r, struct region_point point) {
    if (!GROW(r->points, r->points_capacity, r->n_points + 1))
        return false;
    r->points[r->n_points++] = point;
    return true;
}

static int by_order(const void *a, const void *b) {
    const struct region *x = a, *y = b;
    return (int)x->excludes - (int)y->excludes;
}

void regions_exclude_last(struct regions *r) {
    if (r->n > 0) /* the order of those of one kind does not matter */
        qsort(r->all, (size_t)r->n, sizeof *r->all, by_order);
    r->begins_full = r->n > 0 && r->all[0].excludes;
}

void regions_clear(struct regions *r) {
    free(r->all);
    free(r->points);
    free(r->ranges);
    *r = (struct regions){0};
}
