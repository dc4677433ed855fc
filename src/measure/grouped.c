#include "measure/grouped.h"

#include <stdlib.h>

/* The sources of an island that have a Gaussian. */
struct fitted_gaussians {
    struct gaussian *gaussian;
    int32_t *number; /* of each in the results */
    int32_t *group;  /* the first of its group */
    int64_t n;
};

static bool list_fitted(const struct fitted_sources *fitted, struct arena *arena,
                        struct fitted_gaussians *list) {
    const size_t n = (size_t)fitted->n;
    *list = (struct fitted_gaussians){.gaussian = arena_take(arena, n, sizeof *list->gaussian),
                                      .number = arena_take(arena, n, sizeof *list->number),
                                      .group = arena_take(arena, n, sizeof *list->group)};
    if (!list->gaussian || !list->number || !list->group)
        return false;
    for (int32_t k = 0; k < fitted->n; k++) {
        if (!fitted->source[k].is_fitted)
            continue;
        list->gaussian[list->n] = fitted->source[k].gaussian;
        list->number[list->n++] = k;
    }
    return true;
}

/* A box around all centres, with about one of them in each cell, unless they are crowded. */
static struct model_box box_of(const struct fitted_gaussians *list) {
    enum { LEAST_CELL = 16 };
    double x0 = INFINITY, x1 = -INFINITY, y0 = INFINITY, y1 = -INFINITY;
    for (int64_t k = 0; k < list->n; k++) {
        x0 = fmin(x0, list->gaussian[k].x);
        x1 = fmax(x1, list->gaussian[k].x);
        y0 = fmin(y0, list->gaussian[k].y);
        y1 = fmax(y1, list->gaussian[k].y);
    }
    const double width = ceil(x1 - floor(x0)) + 1, height = ceil(y1 - floor(y0)) + 1;
    const double cell = fmax(LEAST_CELL, sqrt(width * height / (double)list->n));
    return (struct model_box){(int64_t)floor(x0), (int64_t)floor(y0), (int64_t)width,
                              (int64_t)height, (int64_t)ceil(cell)};
}

/* --- sources --- */

struct source_groups {
    const struct island_fit *fit;
    const struct fit_frame *frame;
    const struct correlation *noise;
    const struct fit_job *jobs;
    struct fitted_sources *fitted;
    struct model model;
    struct fitted_gaussians list;
    struct grouped_sources *grouped;
    int32_t *source_of; /* of each result its source, in the order of their first Gaussians */
};

/* Groups the Gaussians, if there are several. */
static bool group_fitted(struct source_groups *g, const struct group_rule *rule,
                         struct arena *arena) {
    struct fitted_gaussians *list = &g->list;
    if (list->n == 0)
        return true;
    const struct model_box box = box_of(list);
    list->group[0] = 0;
    return list->n == 1 || (model_make(&g->model, list->gaussian, list->n, &box) &&
                            group_gaussians(&g->model, list->n, rule, arena, list->group));
}

/* Numbers the sources in the order of their first Gaussians, and counts their members. */
static void number_sources(struct source_groups *g) {
    struct grouped_sources *all = g->grouped;
    for (int64_t k = 0, i = 0; k < g->fitted->n; k++) {
        const bool is_listed = i < g->list.n && g->list.number[i] == k;
        const int32_t first = is_listed ? g->list.number[g->list.group[i]] : (int32_t)k;
        i += is_listed;
        if (first == k) {
            g->source_of[k] = (int32_t)all->n;
            all->source[all->n++] = (struct grouped_source){.peak = g->fitted->source[k].peak};
        } else {
            g->source_of[k] = g->source_of[first];
        }
        all->source[g->source_of[k]].n++;
    }
}

static void list_members(struct source_groups *g) {
    struct grouped_sources *all = g->grouped;
    int64_t at = 0;
    for (int64_t k = 0; k < all->n; k++) {
        all->source[k].first = at;
        at += all->source[k].n;
        all->source[k].n = 0;
    }
    for (int32_t k = 0; k < g->fitted->n; k++) {
        struct grouped_source *source = &all->source[g->source_of[k]];
        all->members[source->first + source->n++] = k;
    }
}

/* The area of a Gaussian, in unit circles, above which its errors are sums over the pixels of its
 * fit. Smaller ones have their core, which the fit weighs, on these pixels, and the closed form is
 * as good. */
static const double LEAST_AREA = 1.5;

/* Sets the errors of a Gaussian that is wide and was fitted alone. */
static bool measure_one(const struct source_groups *g, struct fitted_source *source,
                        struct arena *arena) {
    const double form = tensor_determinant(&source->gaussian.form);
    if (!source->is_fitted || source->has_beam_shape || g->jobs[source->part].set.n > 1 ||
        g->frame->ux * g->frame->vy < LEAST_AREA * sqrt(form))
        return true;
    struct fit_errors *errors = arena_take(arena, 1, sizeof *errors);
    source->errors = errors;
    return errors && composite_errors_of_one(g->fit, g->frame, g->noise, g->jobs, source, errors);
}

static bool measure_composites(struct source_groups *g, struct arena *arena) {
    struct grouped_sources *all = g->grouped;
    for (int64_t k = 0; k < all->n; k++) {
        struct grouped_source *source = &all->source[k];
        if (source->n == 1)
            continue;
        source->composite = arena_take(arena, 1, sizeof *source->composite);
        if (!source->composite ||
            !composite_measure(g->fit, g->frame, g->noise, g->jobs, g->fitted, &g->model,
                               all->members + source->first, source->n, source->composite))
            return false;
        source->peak = source->composite->peak;
    }
    return true;
}

/* The highest peak first; of equals the one whose brightest Gaussian comes first. */
static int compare_sources(const void *a, const void *b) {
    const struct grouped_source *left = a, *right = b;
    return left->peak != right->peak ? (left->peak < right->peak) - (left->peak > right->peak)
                                     : (left->first > right->first) - (left->first < right->first);
}

/* Sorts the sources, and gives each pixel its source. */
static void sort_sources(struct source_groups *g) {
    const struct grouped_sources *all = g->grouped;
    qsort(all->source, (size_t)all->n, sizeof *all->source, compare_sources);
    for (int64_t k = 0; k < all->n; k++)
        for (int64_t i = 0; i < all->source[k].n; i++)
            g->source_of[all->members[all->source[k].first + i]] = (int32_t)k;
    for (int64_t i = 0; i < g->fit->n_inside; i++)
        g->fitted->source_of[i] = g->source_of[g->fitted->source_of[i]];
}

bool grouped_sources_make(const struct island_fit *fit, const struct fit_frame *frame,
                          const struct correlation *noise, const struct fit_job *jobs,
                          struct fitted_sources *fitted, const struct group_rule *rule,
                          struct arena *arena, struct grouped_sources *grouped) {
    const size_t n = (size_t)fitted->n;
    *grouped = (struct grouped_sources){.source = arena_take(arena, n, sizeof *grouped->source),
                                        .members = arena_take(arena, n, sizeof *grouped->members)};
    struct source_groups g = {.fit = fit,
                              .frame = frame,
                              .noise = noise,
                              .jobs = jobs,
                              .fitted = fitted,
                              .grouped = grouped,
                              .source_of = arena_take(arena, n, sizeof *g.source_of)};
    if (!grouped->source || !grouped->members || !g.source_of ||
        !list_fitted(fitted, arena, &g.list))
        return false;
    const bool is_grouped = group_fitted(&g, rule, arena);
    if (is_grouped) {
        number_sources(&g);
        list_members(&g);
    }
    bool is_measured = is_grouped && measure_composites(&g, arena);
    for (int64_t k = 0; is_measured && k < fitted->n; k++)
        is_measured = measure_one(&g, &fitted->source[k], arena);
    if (is_measured)
        sort_sources(&g);
    model_clear(&g.model);
    return is_measured;
}
