#include "measure/labels.h"

#include "common/arrays.h"

bool labels_add_run(struct labels *l, const struct run *run, int64_t label, float scale) {
    if (!GROW(l->runs, l->capacity, l->n + 1))
        return false;
    l->runs[l->n++] = (struct labelled_run){*run, (int32_t)label, scale};
    return true;
}

bool labels_add_islands(struct labels *labels, const struct segments *s) {
    bool ok = true;
    for (int64_t k = 0; k < s->n; k++)
        for (int64_t i = s->first_run[k]; ok && i < s->first_run[k + 1]; i++)
            ok = labels_add_run(labels, &s->runs[i], k + 1, 0);
    return ok;
}

/* Adds a run, cut where the source changes; source: of its pixels. */
static bool add_cut(struct labels *l, const struct run *run, const int32_t *source) {
    bool ok = true;
    for (int64_t x = run->x0, end; ok && x <= run->x1; x = end + 1) {
        end = x;
        while (end < run->x1 && source[end + 1 - run->x0] == source[x - run->x0])
            end++;
        const struct run piece = {run->y, (int32_t)x, (int32_t)end};
        ok = labels_add_run(l, &piece, source[x - run->x0] + (int64_t)1, 0);
    }
    return ok;
}

bool labels_add_sources(struct labels *labels, const struct segments *s, int64_t first, int64_t end,
                        const int32_t *source) {
    bool ok = true;
    for (int64_t i = s->first_run[first]; ok && i < s->first_run[end]; i++) {
        ok = add_cut(labels, &s->runs[i], source);
        source += run_length(&s->runs[i]);
    }
    return ok;
}

bool labels_append(struct labels *labels, const struct labels *more, int64_t before) {
    bool ok = true;
    for (int64_t i = 0; ok && i < more->n; i++)
        ok = labels_add_run(labels, &more->runs[i].run, more->runs[i].label + before,
                            more->runs[i].scale);
    return ok;
}

bool labels_to_image(struct labels *labels, const struct grid *g) {
    struct labels pixels = {0};
    bool ok = true;
    if (g->scale == 0)
        return true;
    for (int64_t i = 0; ok && i < labels->n; i++) {
        const struct run *run = &labels->runs[i].run;
        const int64_t end = grid_last(g, g->top, run->y, g->height);
        for (int64_t y = grid_first(g, g->top, run->y); ok && y <= end; y++) {
            const struct run in_image = {(int32_t)y, (int32_t)grid_first(g, g->left, run->x0),
                                         (int32_t)grid_last(g, g->left, run->x1, g->width)};
            ok = labels_add_run(&pixels, &in_image, labels->runs[i].label, (float)g->scale);
        }
    }
    labels_clear(labels);
    *labels = pixels;
    return ok;
}

void labels_clear(struct labels *labels) {
    free(labels->runs);
    *labels = (struct labels){0};
}
