#include "measure/group.h"

#include "common/forest.h"

enum { POINTS = 21 }; /* on the line between two centres, with both ends */

/* Gaussians that are near by a tolerance up to this one reach each other: half of the sum of their
 * FWHMs, times it, is less than sqrt(GAUSSIAN_REACH) = 6 sigmas of both. */
static const double MOST_OF_NEIGHBOURS = 5;

/* The line between two centres. */
struct line {
    double x, y, dx, dy; /* from (x, y) to (x + dx, y + dy) */
    double distance;
    double sigmas; /* the sum of both Gaussians' sigmas along the line, in pixels */
};

static double sigma_along(const struct gaussian *g, double x, double y) {
    return 1 / sqrt(g->form.xx * x * x + 2 * g->form.xy * x * y + g->form.yy * y * y);
}

static struct line line_between(const struct gaussian *a, const struct gaussian *b) {
    struct line l = {a->x, a->y, b->x - a->x, b->y - a->y, 0, 0};
    l.distance = sqrt(l.dx * l.dx + l.dy * l.dy);
    const double x = l.distance > 0 ? l.dx / l.distance : 1;
    const double y = l.distance > 0 ? l.dy / l.distance : 0;
    l.sigmas = sigma_along(a, x, y) + sigma_along(b, x, y);
    return l;
}

static double sum_on_line(const struct model *sum, const struct line *l, int point) {
    const double t = point / (double)(POINTS - 1);
    return model_at(sum, l->x + t * l->dx, l->y + t * l->dy);
}

/* Whether the rule joins Gaussians a and b. */
static bool joins(const struct model *sum, const struct group_rule *rule, int32_t a, int32_t b) {
    const struct line l = line_between(&sum->gaussians[a], &sum->gaussians[b]);
    bool is_high = l.distance <= 0.5 * FIT_FWHM * fmax(rule->tolerance, 1) * l.sigmas;
    bool rises = l.distance <= sqrt(GAUSSIAN_REACH) * l.sigmas, falls = rises;
    if (!is_high && !rises)
        return false;
    const double first = sum_on_line(sum, &l, 0), last = sum_on_line(sum, &l, POINTS - 1);
    const double least = fmin(first, last) - rule->drop;
    double before = first;
    for (int i = 1; i < POINTS && (is_high || rises || falls); i++) {
        const double value = i < POINTS - 1 ? sum_on_line(sum, &l, i) : last;
        is_high = is_high && value >= least;
        rises = rises && value >= before;
        falls = falls && value <= before;
        before = value;
    }
    return is_high || rises || falls;
}

/* --- joining --- */

/* Joins Gaussian a with those before it that reach a cell that it reaches. seen: the last Gaussian
 * that each was compared with. */
static void join_neighbours(const struct model *sum, const struct group_rule *rule, int32_t a,
                            int32_t *parent, int32_t *seen) {
    const struct model_cells cells = model_cells_of(sum, &sum->gaussians[a]);
    for (int64_t y = cells.y0; y <= cells.y1; y++) {
        for (int64_t x = cells.x0; x <= cells.x1; x++) {
            const struct model_list list = model_reaching(sum, x, y);
            for (int64_t i = 0; i < list.n && list.number[i] < a; i++) {
                const int32_t b = list.number[i];
                const bool is_joined = forest_root_32(parent, a) == forest_root_32(parent, b);
                if (seen[b] != a && !is_joined && joins(sum, rule, a, b))
                    forest_join_32(parent, a, b);
                seen[b] = a;
            }
        }
    }
}

/* Joins Gaussian a with those before it, also where they do not reach each other. */
static void join_all(const struct model *sum, const struct group_rule *rule, int32_t a,
                     int32_t *parent) {
    for (int32_t b = 0; b < a; b++)
        if (forest_root_32(parent, a) != forest_root_32(parent, b) && joins(sum, rule, a, b))
            forest_join_32(parent, a, b);
}

bool group_gaussians(const struct model *sum, int64_t n, const struct group_rule *rule,
                     struct arena *arena, int32_t *group) {
    int32_t *seen = arena_take(arena, (size_t)n, sizeof *seen);
    if (!seen)
        return false;
    for (int32_t k = 0; k < n; k++) {
        group[k] = isinf(rule->tolerance) ? 0 : k;
        seen[k] = -1;
    }
    for (int32_t k = 1; rule->tolerance > 0 && !isinf(rule->tolerance) && k < n; k++)
        if (rule->tolerance <= MOST_OF_NEIGHBOURS)
            join_neighbours(sum, rule, k, group, seen);
        else
            join_all(sum, rule, k, group);
    for (int32_t k = 0; k < n; k++)
        group[k] = forest_root_32(group, k);
    return true;
}
