#include "api/negative.h"

#include <math.h>
#include <stdlib.h>

static struct pixel_source negated_source(struct changed *negated,
                                          const struct pixel_source *stored) {
    return changed_source(negated, stored, pixel_change_make(NAN, true, stored->swapped));
}

void negative_make(struct negated_image *n, const struct pixel_source *source,
                   const struct detection *detection) {
    if (source)
        n->source = negated_source(&n->pixels, source);
    n->detection = *detection;
    n->detection.background = -detection->background;
    if (!detection->maps.background)
        return;
    n->background_source = negated_source(&n->background, detection->maps.background);
    n->detection.maps.background = &n->background_source;
}

/* 0 minus a value, and not its negative, so that 0 stays 0 and does not become -0. */
static void turn_back(struct srcfind_source *row) {
    double *const values[] = {&row->isl_total_flux, &row->total_flux, &row->peak_flux,
                              &row->pixel_sum,      &row->isl_mean,   &row->snr,
                              &row->pix_snr};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        *values[i] = 0 - *values[i];
    row->flags |= SRCFIND_FLAG_NEGATIVE;
}

/* Turns back what was found in the negated image. */
static void turn_back_all(struct sources *s) {
    for (int64_t i = 0; i < s->n_gaussians; i++)
        s->gaussians[i].peak = 0 - s->gaussians[i].peak;
    for (int64_t i = 0; i < s->n_parts; i++)
        turn_back(&s->parts[i]);
    for (int64_t i = 0; i < s->n; i++)
        turn_back(&s->rows[i]);
}

bool negative_add(struct sources *sources, struct sources *negative) {
    turn_back_all(negative);
    return sources_append(sources, negative);
}
