/* Fluxes in a plane of --measure-in.
 *
 * held_sources_make lists the Gaussians of all sources once, for all planes. In a plane each of
 * them is a position of forced.c, with two weights: what an amplitude of 1 adds to its source's
 * total flux, and to its source's peak. So a source's fluxes are sums of weights x amplitudes over
 * its Gaussians (add_to_flux), and the fit gives the variances of these sums. chi2 is summed over
 * the pixels of the Gaussians, and divided by the degrees of freedom at last.
 *
 * A source has a flux only where each of its Gaussians lies on pixels that have values and noise.
 */
#include "measure/plane_fluxes.h"

#include <math.h>
#include <stdlib.h>

#include "common/arrays.h"

enum { AT_ONCE = 1024 }; /* positions that WCSLIB gets at a time */

static const char MEASURING[] = "measuring in other planes";

/* --- sources --- */

/* The number of Gaussians of a source in the table of them. */
static int64_t gaussians_of(const struct srcfind_source *source) {
    return source->n_gaussians > 1 ? source->n_gaussians : 1;
}

static struct srcfind_beam intrinsic_shape(const struct srcfind_source *g) {
    const bool is_known = g->dc_major > 0 && g->dc_minor >= 0;
    return is_known ? (struct srcfind_beam){g->dc_major, g->dc_minor, g->dc_angle}
                    : (struct srcfind_beam){0};
}

/* Sets position, shape and source of each Gaussian. */
static void hold_gaussians(struct held_sources *held) {
    int64_t source = 0;
    for (int64_t k = 0, end = held->n > 0 ? gaussians_of(&held->sources[0]) : 0;
         k < held->n_gaussians; k++) {
        for (; k >= end; source++)
            end += gaussians_of(&held->sources[source + 1]);
        const struct srcfind_source *g = &held->gaussians[k];
        held->positions[k] = (struct forced_position){g->x, g->y, intrinsic_shape(g)};
        held->source_of[k] = source;
    }
}

enum srcfind_status held_sources_make(const struct srcfind_source *sources, int64_t n,
                                      const struct srcfind_source *gaussians, int64_t n_gaussians,
                                      struct wcs *wcs, struct held_sources *held,
                                      struct error *error) {
    enum srcfind_status status = SRCFIND_OK;
    double lon[AT_ONCE], lat[AT_ONCE];
    *held =
        (struct held_sources){.sources = sources,
                              .gaussians = gaussians,
                              .n = n,
                              .n_gaussians = n_gaussians,
                              .x_max = arrays_allocate(n, sizeof *held->x_max),
                              .y_max = arrays_allocate(n, sizeof *held->y_max),
                              .positions = arrays_allocate(n_gaussians, sizeof *held->positions),
                              .source_of = arrays_allocate(n_gaussians, sizeof *held->source_of)};
    if (!held->x_max || !held->y_max || !held->positions || !held->source_of)
        return error_memory(error, MEASURING);
    hold_gaussians(held);
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
    free(held->positions);
    free(held->source_of);
    *held = (struct held_sources){0};
}

void plane_fluxes_empty(struct plane_flux *fluxes, int64_t n, int64_t flag) {
    for (int64_t i = 0; i < n; i++)
        fluxes[i] = (struct plane_flux){NAN, NAN, NAN, NAN, NAN, NAN, flag};
}

/* --- places --- */

/* What the steps share. */
struct flux_work {
    const struct plane_setting *plane;
    const struct held_sources *held;
    struct setting setting;
    struct forced forced;
    int64_t *place_of; /* of each Gaussian; -1: it is not in the image */
};

/* Gives the place of a Gaussian its source. The weights are what its amplitude adds to the total
 * flux and to the peak. */
static void set_source(const struct flux_work *m, struct place *p) {
    const struct held_sources *held = m->held;
    const int64_t i = held->source_of[p->row];
    const bool is_alone = !(held->sources[i].n_gaussians > 1);
    p->source = i;
    p->is_wide = held->gaussians[p->row].scale > 0;
    p->weight[0] = forced_area(&m->forced, p->row) * m->setting.to_flux *
                   (m->plane->is_jansky ? 1 : m->plane->unit);
    p->weight[1] =
        m->plane->unit * (is_alone ? 1 : place_shape_at(p, held->x_max[i], held->y_max[i]));
}

/* --- sums --- */

/* The sums of a source: its errors are variances yet, and its chi2 a sum over `freedom` pixels. */
struct flux_sums {
    struct plane_flux flux;
    double freedom;
    int64_t n;       /* Gaussians that are fitted */
    bool is_crowded; /* one of its Gaussians is one of a crowd */
};

/* Adds the place of a Gaussian to the sums of its source. False if it is not measured. */
static bool add_to_flux(const struct flux_work *m, int64_t at, bool is_alone,
                        struct flux_sums *sums) {
    struct plane_flux *flux = &sums->flux;
    const struct place *p = &m->forced.places[at];
    const struct place_pixels *known = &m->forced.known[p->twin];
    const struct amplitude *found = &m->forced.amplitudes[p->twin];
    const struct pixel_source *source = m->plane->view->source;
    if (!isfinite(known->above) || !(known->noise.rms > 0))
        return false;
    if (place_is_cut(p, source->width, source->height) || known->n_missing > 0)
        flux->flags |= SRCFIND_FLAG_EDGE;
    if (isnan(flux->isl_rms))
        flux->isl_rms = known->noise.rms * m->plane->unit;
    sums->is_crowded = sums->is_crowded || m->forced.places[p->twin].is_crowded;
    if (!found->is_fitted || (found->is_shared && !is_alone) || (found->is_uncertain && is_alone))
        return true;
    const double error = is_alone ? known->noise.rms * found->per_rms : (double)NAN;
    flux->total_flux += p->weight[0] * found->value;
    flux->peak_flux += p->weight[1] * found->value;
    flux->e_total_flux += is_alone ? pow(p->weight[0] * error, 2) : found->variance[0];
    flux->e_peak_flux += is_alone ? pow(p->weight[1] * error, 2) : found->variance[1];
    flux->chi2 += known->chi2;
    sums->freedom += (double)known->n - fmax(found->taken, 1);
    sums->n++;
    return true;
}

/* Sets the flux of source i, whose Gaussians are `first` and the next ones. */
static void set_flux(const struct flux_work *m, int64_t i, int64_t first, struct plane_flux *flux) {
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
    flux->flags |= m->setting.flags;
    flux->e_total_flux = sqrt(flux->e_total_flux);
    flux->e_peak_flux = sqrt(flux->e_peak_flux);
    flux->chi2 = sums.freedom >= 1 ? flux->chi2 / sums.freedom : (double)NAN;
}

static void set_fluxes(const struct flux_work *m, struct plane_flux *fluxes) {
    for (int64_t k = 0; k < m->held->n_gaussians; k++)
        m->place_of[k] = -1;
    for (int64_t at = 0; at < m->forced.n_places; at++)
        m->place_of[m->forced.places[at].row] = at;
    for (int64_t i = 0, first = 0; i < m->held->n; i++) {
        set_flux(m, i, first, &fluxes[i]);
        first += gaussians_of(&m->held->sources[i]);
    }
}

enum srcfind_status plane_fluxes_measure(const struct plane_setting *plane,
                                         const struct held_sources *held, struct threads *threads,
                                         struct plane_flux *fluxes, struct error *error) {
    struct flux_work m = {.plane = plane,
                          .held = held,
                          .setting = setting_make(plane->view, plane->frame),
                          .forced = {.view = plane->view,
                                     .pixels = plane->pixels,
                                     .frame = plane->frame,
                                     .residuals = true,
                                     .positions = held->positions,
                                     .n = held->n_gaussians},
                          .place_of = arrays_allocate(held->n_gaussians, sizeof *m.place_of)};
    enum srcfind_status status =
        m.place_of ? forced_begin(&m.forced, error) : error_memory(error, MEASURING);
    for (int64_t at = 0; status == SRCFIND_OK && at < m.forced.n_places; at++)
        set_source(&m, &m.forced.places[at]);
    if (status == SRCFIND_OK)
        status = forced_fit(&m.forced, threads, error);
    if (status == SRCFIND_OK)
        set_fluxes(&m, fluxes);
    forced_clear(&m.forced);
    free(m.place_of);
    return status;
}
