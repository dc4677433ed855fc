/* How sources of a catalogue are measured in another plane.
 *
 * 1. held_sources_make, once: the pixel where each source has its highest value.
 * 2. list_places: each Gaussian in the image becomes a place; its shape is the intrinsic shape of
 *    the catalogue, convolved with the beam of the plane (held_shapes.c). Its weights are the total
 *    flux of an amplitude of 1, and its value where the source is highest.
 * 3. places_fit fits all amplitudes (places.c).
 * 4. set_fluxes adds up the amplitudes of each source, times the weights; variances of the sums
 *    come from the group that all its places are in.
 *
 * Always: a source is measured as a whole or not at all: if one of its Gaussians is outside, or its
 * nearest pixel is blank, the flags say why.
 *
 * Cost: a read of the plane; twice if there are clusters of more than 64 places, since chi2 is
 * wanted. */
#include "measure/plane_fluxes.h"

#include <stdlib.h>

#include "common/arrays.h"
#include "measure/beam_frame.h"
#include "measure/held_shapes.h"
#include "measure/places.h"

enum { AT_ONCE = 1024 }; /* positions that WCSLIB gets at a time */

static const char MEASURING[] = "measuring in other planes";

/* --- sources --- */

enum srcfind_status held_sources_make(const struct srcfind_source *sources, int64_t n,
                                      const struct srcfind_source *gaussians, int64_t n_gaussians,
                                      struct wcs *wcs, struct held_sources *held,
                                      struct error *error) {
    enum srcfind_status status = SRCFIND_OK;
    double lon[AT_ONCE], lat[AT_ONCE];
    *held = (struct held_sources){.sources = sources,
                                  .gaussians = gaussians,
                                  .n = n,
                                  .n_gaussians = n_gaussians,
                                  .x_max = arrays_allocate(n, sizeof *held->x_max),
                                  .y_max = arrays_allocate(n, sizeof *held->y_max)};
    if (!held->x_max || !held->y_max)
        return error_memory(error, MEASURING);
    for (int64_t i = 0; i < n; i++)
        held->x_max[i] = held->y_max[i] = NAN;
    for (int64_t first = 0; wcs && status == SRCFIND_OK && first < n; first += AT_ONCE) {
        const int count = (int)(n - first < AT_ONCE ? n - first : AT_ONCE);
        for (int i = 0; i < count; i++) {
            lon[i] = sources[first + i].lon_max;
            lat[i] = sources[first + i].lat_max;
        }
        status = wcs_pixels(wcs, count, lon, lat, held->x_max + first, held->y_max + first, error);
    }
    return status;
}

void held_sources_clear(struct held_sources *held) {
    free(held->x_max);
    free(held->y_max);
    *held = (struct held_sources){0};
}

void plane_fluxes_empty(struct plane_flux *fluxes, int64_t n, int64_t flag) {
    for (int64_t i = 0; i < n; i++)
        fluxes[i] = (struct plane_flux){NAN, NAN, NAN, NAN, NAN, NAN, flag};
}

/* --- places --- */

struct plane_places {
    const struct plane_setting *plane;
    const struct held_sources *held;
    struct tensor beam; /* second moments, pixels^2 */
    struct place *places;
    int64_t n_places;
    struct place_pixels *known;   /* of each place */
    struct amplitude *amplitudes; /* of each place */
    int64_t *place_of;            /* the place of each Gaussian; -1: it is not in the image */
};

static bool is_inside(const struct plane_places *m, const struct srcfind_source *g) {
    const struct pixel_source *source = m->plane->pixels->source;
    return g->x >= -0.5 && g->y >= -0.5 && g->x < (double)source->width - 0.5 &&
           g->y < (double)source->height - 0.5;
}

/* The flux of an amplitude of 1. */
static double flux_of(const struct plane_places *m, const struct tensor *moments) {
    const double ratio = tensor_determinant(moments) / tensor_determinant(&m->beam);
    return m->plane->metadata->beam_pixels * sqrt(ratio) * m->plane->setting->to_flux *
           (m->plane->is_jansky ? 1 : m->plane->unit);
}

/* Adds the place of a Gaussian of source i, if it is in the image. Its weights turn its amplitude
 * to total flux and to peak flux of the source. */
static void add_place(struct plane_places *m, int64_t gaussian, int64_t i,
                      const struct tensor *moments) {
    const struct srcfind_source *g = &m->held->gaussians[gaussian];
    if (!is_inside(m, g))
        return;
    const struct pixel_source *source = m->plane->pixels->source;
    const double widest = place_widest(&m->beam, source->width, source->height);
    struct place p = place_make(g->x, g->y, moments, widest, gaussian);
    const bool is_alone = !(m->held->sources[i].n_gaussians > 1);
    p.source = i;
    p.is_wide = g->scale > 0;
    p.weight[0] = flux_of(m, moments);
    p.weight[1] =
        m->plane->unit * (is_alone ? 1 : place_shape_at(&p, m->held->x_max[i], m->held->y_max[i]));
    m->places[m->n_places++] = p;
}

static struct srcfind_beam intrinsic_shape(const struct srcfind_source *g) {
    const bool is_known = g->dc_major > 0 && g->dc_minor >= 0;
    return is_known ? (struct srcfind_beam){g->dc_major, g->dc_minor, g->dc_angle}
                    : (struct srcfind_beam){0};
}

/* The number of rows of a source in the table of Gaussians. */
static int64_t gaussians_of(const struct srcfind_source *source) {
    return source->n_gaussians > 1 ? source->n_gaussians : 1;
}

/* Lists the places of all Gaussians. */
static enum srcfind_status list_places(struct plane_places *m, struct error *error) {
    const struct held_sources *held = m->held;
    struct srcfind_beam intrinsic[AT_ONCE];
    struct tensor moments[AT_ONCE];
    double x[AT_ONCE], y[AT_ONCE];
    enum srcfind_status status = SRCFIND_OK;
    for (int64_t first = 0, source = 0, end = held->n > 0 ? gaussians_of(&held->sources[0]) : 0;
         status == SRCFIND_OK && first < held->n_gaussians; first += AT_ONCE) {
        const int64_t left = held->n_gaussians - first;
        const int n = (int)(left < AT_ONCE ? left : AT_ONCE);
        for (int i = 0; i < n; i++) {
            intrinsic[i] = intrinsic_shape(&held->gaussians[first + i]);
            x[i] = held->gaussians[first + i].x;
            y[i] = held->gaussians[first + i].y;
        }
        status = held_shapes_moments(m->plane->wcs, m->plane->metadata, &m->beam, n, x, y,
                                     intrinsic, moments, error);
        for (int64_t k = first; status == SRCFIND_OK && k < first + n; k++) {
            for (; k >= end; source++)
                end += gaussians_of(&held->sources[source + 1]);
            add_place(m, k, source, &moments[k - first]);
        }
    }
    places_sort(m->places, m->n_places, true);
    return status;
}

/* --- sums --- */

/* The sums of a source: its errors are still variances, its chi2 a sum with `freedom` degrees of
 * freedom. */
struct flux_sums {
    struct plane_flux flux;
    double freedom;
    int64_t n;       /* Gaussians that are fitted */
    bool is_crowded; /* one of its Gaussians is in a crowd */
};

/* Adds the place of a Gaussian to the sums of its source. False if it is not measured. */
static bool add_to_flux(const struct plane_places *m, int64_t at, bool is_alone,
                        struct flux_sums *sums) {
    struct plane_flux *flux = &sums->flux;
    const struct place *p = &m->places[at];
    const struct place_pixels *known = &m->known[p->twin];
    const struct amplitude *amplitude = &m->amplitudes[p->twin];
    const struct pixel_source *source = m->plane->pixels->source;
    if (!isfinite(known->above) || !(known->noise.rms > 0))
        return false;
    if (place_is_cut(p, source->width, source->height) || known->n_missing > 0)
        flux->flags |= SRCFIND_FLAG_EDGE;
    if (isnan(flux->isl_rms))
        flux->isl_rms = known->noise.rms * m->plane->unit;
    sums->is_crowded = sums->is_crowded || m->places[p->twin].is_crowded;
    if (!amplitude->is_fitted || (amplitude->is_shared && !is_alone) ||
        (amplitude->is_uncertain && is_alone))
        return true;
    const double error = is_alone ? known->noise.rms * amplitude->per_rms : (double)NAN;
    flux->total_flux += p->weight[0] * amplitude->value;
    flux->peak_flux += p->weight[1] * amplitude->value;
    flux->e_total_flux += is_alone ? pow(p->weight[0] * error, 2) : amplitude->variance[0];
    flux->e_peak_flux += is_alone ? pow(p->weight[1] * error, 2) : amplitude->variance[1];
    flux->chi2 += known->chi2;
    sums->freedom += (double)known->n - fmax(amplitude->taken, 1);
    sums->n++;
    return true;
}

/* Sets the flux of source i, whose Gaussians are `first` and the next ones. */
static void set_flux(const struct plane_places *m, int64_t i, int64_t first,
                     struct plane_flux *flux) {
    const int64_t n = gaussians_of(&m->held->sources[i]);
    struct flux_sums sums = {.flux = {.isl_rms = NAN}};
    bool is_measured = true;
    for (int64_t k = first; is_measured && k < first + n; k++)
        is_measured = m->place_of[k] >= 0 && add_to_flux(m, m->place_of[k], n == 1, &sums);
    if (!is_measured || sums.n == 0 || sums.is_crowded) {
        plane_fluxes_empty(flux, 1,
                           is_measured ? sums.flux.flags | SRCFIND_FLAG_NOT_FITTED
                                       : (int64_t)SRCFIND_FLAG_OUTSIDE);
        return;
    }
    *flux = sums.flux;
    flux->flags |= m->plane->setting->flags;
    flux->e_total_flux = sqrt(flux->e_total_flux);
    flux->e_peak_flux = sqrt(flux->e_peak_flux);
    flux->chi2 = sums.freedom >= 1 ? flux->chi2 / sums.freedom : (double)NAN;
}

static void set_fluxes(const struct plane_places *m, struct plane_flux *fluxes) {
    for (int64_t k = 0; k < m->held->n_gaussians; k++)
        m->place_of[k] = -1;
    for (int64_t at = 0; at < m->n_places; at++)
        m->place_of[m->places[at].row] = at;
    for (int64_t i = 0, first = 0; i < m->held->n; i++) {
        set_flux(m, i, first, &fluxes[i]);
        first += gaussians_of(&m->held->sources[i]);
    }
}

enum srcfind_status plane_fluxes_measure(const struct plane_setting *plane,
                                         const struct held_sources *held, struct threads *threads,
                                         struct plane_flux *fluxes, struct error *error) {
    const int64_t n = held->n_gaussians;
    const struct places_setting setting = {
        .pixels = plane->pixels, .frame = plane->frame, .residuals = true};
    struct plane_places m = {.plane = plane,
                             .held = held,
                             .beam = beam_frame_moments(plane->frame),
                             .places = arrays_allocate(n, sizeof *m.places),
                             .known = arrays_allocate(n, sizeof *m.known),
                             .amplitudes = arrays_allocate(n, sizeof *m.amplitudes),
                             .place_of = arrays_allocate(n, sizeof *m.place_of)};
    enum srcfind_status status = SRCFIND_OK;
    if (!m.places || !m.known || !m.amplitudes || !m.place_of)
        status = error_memory(error, MEASURING);
    if (status == SRCFIND_OK)
        status = list_places(&m, error);
    if (status == SRCFIND_OK)
        status = places_fit(&setting, m.places, m.n_places, threads, m.known, m.amplitudes, error);
    if (status == SRCFIND_OK)
        set_fluxes(&m, fluxes);
    free(m.places);
    free(m.known);
    free(m.amplitudes);
    free(m.place_of);
    return status;
}
