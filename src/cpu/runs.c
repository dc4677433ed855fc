#include "cpu/runs.h"

#include "common/forest.h"

/* Joins run i with the runs of the row above that touch it, among the runs before `end`. *above is
 * the index of the first run that can still touch run i or a later run; it only grows. */
static void link_run(const struct run *runs, int64_t *parent, int64_t i, int64_t end, int reach,
                     int64_t *above) {
    const struct run *r = &runs[i];
    while (*above < end &&
           (runs[*above].y < r->y - 1 ||
            (runs[*above].y == r->y - 1 && (int64_t)runs[*above].x1 + reach < r->x0)))
        ++*above;
    for (int64_t j = *above;
         j < end && runs[j].y == r->y - 1 && runs[j].x0 <= (int64_t)r->x1 + reach; j++)
        forest_join(parent, j, i);
}

void runs_link(const struct run *runs, int64_t *parent, int64_t first, int64_t end, int reach) {
    int64_t above = first;
    for (int64_t i = first; i < end; i++) {
        parent[i] = i;
        if (i > first && runs_are_one(&runs[i - 1], &runs[i]))
            forest_join(parent, i - 1, i);
        link_run(runs, parent, i, i, reach, &above);
    }
}

void runs_link_across(const struct run *runs, int64_t *parent, int64_t border, int64_t end,
                      int reach) {
    if (border == 0 || border == end)
        return;
    const int32_t y = runs[border].y;
    int64_t above = border;
    while (above > 0 && runs[above - 1].y >= y - 1)
        above--;
    if (runs_are_one(&runs[border - 1], &runs[border]))
        forest_join(parent, border - 1, border);
    for (int64_t i = border; i < end && runs[i].y <= y + 1; i++)
        link_run(runs, parent, i, border, reach, &above);
}
