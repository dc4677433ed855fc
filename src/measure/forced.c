#include "measure/forced.h"

#include <math.h>
#include <stdlib.h>

#include "common/arrays.h"
#include "measure/setting.h"

static const char MEASURING[] = "measuring at given positions";

bool forced_is_inside(const struct pixel_source *image, double x, double y) {
    return x >= -0.5 && y >= -0.5 && x < (double)image->width - 0.5 &&
           y < (double)image->height - 0.5;
}

enum srcfind_status forced_begin(struct forced *f, struct error *error) {
    static const struct tensor none = {NAN, NAN, NAN};
    const struct pixel_source *image = f->pixels->source;
    f->psf = f->frame ? setting_psf(f->view, f->frame) : (struct psf){0};
    f->moments = arrays_allocate(f->n, sizeof *f->moments);
    f->places = arrays_allocate(f->n, sizeof *f->places);
    f->known = arrays_allocate(f->n, sizeof *f->known);
    f->amplitudes = arrays_allocate(f->n, sizeof *f->amplitudes);
    if (!f->moments || !f->places || !f->known || !f->amplitudes)
        return error_memory(error, MEASURING);
    for (int64_t i = 0; i < f->n; i++)
        f->moments[i] = none;
    enum srcfind_status status = SRCFIND_OK;
    if (f->frame)
        status = held_shapes_moments(f->view->image->wcs, f->view->metadata, &f->psf, f->n,
                                     f->positions, f->moments, error);
    if (status != SRCFIND_OK)
        return status;
    const double widest = place_widest(&f->psf.beam, image->width, image->height);
    for (int64_t i = 0; i < f->n; i++)
        if (forced_is_inside(image, f->positions[i].x, f->positions[i].y))
            f->places[f->n_places++] = place_make(f->positions[i].x, f->positions[i].y,
                                                  f->frame ? &f->moments[i] : NULL, widest, i);
    return SRCFIND_OK;
}

enum srcfind_status forced_fit(struct forced *f, struct threads *threads, struct error *error) {
    const struct places_setting setting = {.pixels = f->pixels,
                                           .frame = f->frame,
                                           .noise = &f->view->correlation,
                                           .residuals = f->residuals,
                                           .positive = f->positive};
    places_sort(f->places, f->n_places, f->frame);
    return places_fit(&setting, f->places, f->n_places, threads, f->known, f->amplitudes, error);
}

double forced_area(const struct forced *f, int64_t i) {
    return f->view->metadata->beam_pixels * psf_area(&f->psf, &f->moments[i]);
}

void forced_clear(struct forced *f) {
    free(f->moments);
    free(f->places);
    free(f->known);
    free(f->amplitudes);
}
