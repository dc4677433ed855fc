#include "measure/forced.h"

#include <math.h>
#include <stdlib.h>

#include "common/arrays.h"
#include "measure/beam_frame.h"
#include "measure/held_shapes.h"

static const char MEASURING[] = "measuring at given positions";

enum { AT_ONCE = 1024 }; /* positions that WCSLIB gets at a time */

bool forced_is_inside(const struct pixel_source *image, double x, double y) {
    return x >= -0.5 && y >= -0.5 && x < (double)image->width - 0.5 &&
           y < (double)image->height - 0.5;
}

/* Sets the moments of the shapes that are held. */
static enum srcfind_status hold_shapes(struct forced *f, struct error *error) {
    double x[AT_ONCE], y[AT_ONCE];
    struct srcfind_beam intrinsic[AT_ONCE];
    enum srcfind_status status = SRCFIND_OK;
    for (int64_t first = 0; status == SRCFIND_OK && first < f->n; first += AT_ONCE) {
        const int n = (int)(f->n - first < AT_ONCE ? f->n - first : AT_ONCE);
        for (int i = 0; i < n; i++) {
            x[i] = f->positions[first + i].x;
            y[i] = f->positions[first + i].y;
            intrinsic[i] = f->positions[first + i].intrinsic;
        }
        status = held_shapes_moments(f->view->image->wcs, f->view->metadata, &f->beam, n, x, y,
                                     intrinsic, f->moments + first, error);
    }
    return status;
}

enum srcfind_status forced_begin(struct forced *f, struct error *error) {
    static const struct tensor none = {NAN, NAN, NAN};
    const struct pixel_source *image = f->pixels->source;
    f->beam = f->frame ? beam_frame_moments(f->frame) : (struct tensor){0, 0, 0};
    f->moments = arrays_allocate(f->n, sizeof *f->moments);
    f->places = arrays_allocate(f->n, sizeof *f->places);
    f->known = arrays_allocate(f->n, sizeof *f->known);
    f->amplitudes = arrays_allocate(f->n, sizeof *f->amplitudes);
    if (!f->moments || !f->places || !f->known || !f->amplitudes)
        return error_memory(error, MEASURING);
    for (int64_t i = 0; i < f->n; i++)
        f->moments[i] = none;
    const enum srcfind_status status = f->frame ? hold_shapes(f, error) : SRCFIND_OK;
    if (status != SRCFIND_OK)
        return status;
    const double widest = place_widest(&f->beam, image->width, image->height);
    for (int64_t i = 0; i < f->n; i++)
        if (forced_is_inside(image, f->positions[i].x, f->positions[i].y))
            f->places[f->n_places++] = place_make(f->positions[i].x, f->positions[i].y,
                                                  f->frame ? &f->moments[i] : NULL, widest, i);
    return SRCFIND_OK;
}

enum srcfind_status forced_fit(struct forced *f, struct threads *threads, struct error *error) {
    const struct places_setting setting = {
        .pixels = f->pixels, .frame = f->frame, .residuals = f->residuals};
    places_sort(f->places, f->n_places, f->frame);
    return places_fit(&setting, f->places, f->n_places, threads, f->known, f->amplitudes, error);
}

void forced_clear(struct forced *f) {
    free(f->moments);
    free(f->places);
    free(f->known);
    free(f->amplitudes);
}
