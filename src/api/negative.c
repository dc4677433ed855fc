#include "api/negative.h"

#include <math.h>
#include <stdlib.h>

#include "input/chunks.h"
#include "input/pixel_change.h"

/* The negated pixels of a view, and its negated map of the background. */
struct negated {
    struct pixel_source pixels, background;
    struct changed changed_pixels, changed_background;
    struct device_pixels on_device;
};

/* Negates the pixels of a view, and its background. */
static void negate(struct negated *n, struct view *view) {
    struct detection *d = &view->detection;
    d->background = -d->background;
    if (view->on_device) {
        n->on_device = *view->on_device;
        n->on_device.change.sign ^= pixel_bits(-0.0F, n->on_device.swapped);
        view->on_device = &n->on_device;
        return;
    }
    n->pixels = changed_source(&n->changed_pixels, view->source,
                               pixel_change_make(NAN, true, view->source->swapped));
    view->source = &n->pixels;
    if (!d->maps.background)
        return;
    n->background = changed_source(&n->changed_background, d->maps.background,
                                   pixel_change_make(NAN, true, d->maps.background->swapped));
    d->maps.background = &n->background;
}

/* 0 minus a value, and not its negative, so that 0 stays 0 and does not become -0. */
static void turn_back(struct srcfind_source *row) {
    double *const values[] = {&row->isl_total_flux, &row->total_flux,       &row->peak_flux,
                              &row->pixel_sum,      &row->isl_mean,         &row->snr,
                              &row->pix_snr,        &row->scale_background, &row->resid_isl_mean,
                              &row->pixel_peak};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        *values[i] = 0 - *values[i];
    row->flags |= SRCFIND_FLAG_NEGATIVE;
}

/* Gives the sources of the negated image the sign that they have in the image. */
static void turn_back_all(struct sources *s) {
    for (int64_t i = 0; i < s->n_gaussians; i++)
        s->gaussians[i].peak = 0 - s->gaussians[i].peak;
    for (int64_t i = 0; i < s->n_parts; i++)
        turn_back(&s->parts[i]);
    for (int64_t i = 0; i < s->n; i++)
        turn_back(&s->rows[i]);
}

enum srcfind_status negative_search(const struct search *search) {
    struct search again = *search;
    struct views views = views_again(search->views);
    struct sources found = {0};
    struct negated measured, other;
    negate(&measured, &views.measure);
    if (views.are_two)
        negate(&other, &views.other);
    again.views = &views;
    again.sources = &found;
    again.psf = NULL;
    again.opposite = search->sources;
    enum srcfind_status status = search_run(&again);
    turn_back_all(&found);
    if (status == SRCFIND_OK && !sources_append(search->sources, &found))
        status = error_memory(&search->finder->error, "adding negative sources");
    search->sources->n_negative = found.n;
    sources_clear(&found);
    views_clear(&views);
    return status;
}
