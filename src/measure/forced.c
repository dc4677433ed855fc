/* How forced photometry makes its rows.
 *
 * 1. locate: positions of the catalogue become pixels (WCSLIB, 1024 at a time); entries outside of
 *    the image get a row only if all are wanted.
 * 2. hold_shapes: the intrinsic shape of an entry, convolved with the beam, becomes second moments
 *    in pixels.
 * 3. list_places and places_fit: amplitudes at the places in the image (places.c).
 * 4. fill_row: fluxes and flags; fill_world: sky columns, with the coordinates of the catalogue.
 *
 * Always: rows are in the order of the entries. An amplitude that means nothing leaves the fluxes
 * empty, with a flag.
 *
 * Cost: one read of the image; see places.c. */
#include "measure/forced.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/arrays.h"
#include "measure/beam_frame.h"
#include "measure/held_shapes.h"
#include "measure/places.h"
#include "measure/world_columns.h"

static const char MEASURING[] = "measuring at given positions";

/* An entry of the catalogue that has a row, and its position. */
struct entry {
    int64_t number;                /* its index among the positions */
    double x, y;                   /* in pixels; NaN: nowhere */
    struct srcfind_beam intrinsic; /* its shape without the beam; 0: a point */
    struct tensor moments;         /* of the shape that is held; NaN: none */
};

struct forced_rows {
    const struct forced *forced;
    struct tensor beam;    /* second moments, pixels^2 */
    struct entry *entries; /* of each row */
    int64_t n_rows;
    struct entries_left_out left_out;
    struct place *places;
    int64_t n_places;
    struct place_pixels *known;   /* of each place */
    struct amplitude *amplitudes; /* of each place */
    struct srcfind_source *rows;
};

/* --- where --- */

enum { AT_ONCE = 1024 }; /* positions that WCSLIB gets at a time */

static bool is_inside(const struct forced *f, double x, double y) {
    return x >= -0.5 && y >= -0.5 && x < (double)f->pixels->source->width - 0.5 &&
           y < (double)f->pixels->source->height - 0.5;
}

/* Adds the entries among n positions, from the first on, that have a row. */
static enum srcfind_status add_entries(struct forced_rows *m, int64_t first, int n, const double *x,
                                       const double *y, int64_t *capacity, struct error *error) {
    const struct position_shape *shapes = m->forced->positions->shapes;
    if (!GROW(m->entries, *capacity, m->n_rows + n))
        return error_memory(error, MEASURING);
    for (int i = 0; i < n; i++) {
        const bool inside = is_inside(m->forced, x[i], y[i]);
        if (!inside && !m->forced->all) {
            const bool is_nowhere = isnan(m->forced->positions->x[first + i]);
            m->left_out.nowhere += is_nowhere;
            m->left_out.outside += !is_nowhere;
            continue;
        }
        struct entry *e = &m->entries[m->n_rows++];
        *e = (struct entry){.number = first + i, .x = x[i], .y = y[i], .moments = {NAN, NAN, NAN}};
        if (inside && shapes && m->forced->frame)
            e->intrinsic = held_shape_intrinsic(&shapes[first + i]);
    }
    return SRCFIND_OK;
}

/* Finds the entries that have a row. */
static enum srcfind_status locate(struct forced_rows *m, struct error *error) {
    const struct positions *p = m->forced->positions;
    double x[AT_ONCE], y[AT_ONCE];
    int64_t capacity = 0;
    enum srcfind_status status = SRCFIND_OK;
    for (int64_t first = 0; status == SRCFIND_OK && first < p->n; first += AT_ONCE) {
        const int n = (int)(p->n - first < AT_ONCE ? p->n - first : AT_ONCE);
        if (p->celestial)
            status = wcs_pixels(m->forced->wcs, n, p->x + first, p->y + first, x, y, error);
        const bool given = !p->celestial;
        if (status == SRCFIND_OK)
            status = add_entries(m, first, n, given ? p->x + first : x, given ? p->y + first : y,
                                 &capacity, error);
    }
    return status;
}

/* Sets the moments of the shapes that are held. */
static enum srcfind_status hold_shapes(struct forced_rows *m, struct error *error) {
    const struct forced *f = m->forced;
    double x[AT_ONCE], y[AT_ONCE];
    struct srcfind_beam intrinsic[AT_ONCE];
    struct tensor moments[AT_ONCE];
    enum srcfind_status status = SRCFIND_OK;
    for (int64_t first = 0; f->frame && status == SRCFIND_OK && first < m->n_rows;
         first += AT_ONCE) {
        struct entry *e = m->entries + first;
        const int n = (int)(m->n_rows - first < AT_ONCE ? m->n_rows - first : AT_ONCE);
        for (int i = 0; i < n; i++) {
            x[i] = e[i].x;
            y[i] = e[i].y;
            intrinsic[i] = e[i].intrinsic;
        }
        status =
            held_shapes_moments(f->wcs, f->metadata, &m->beam, n, x, y, intrinsic, moments, error);
        for (int i = 0; status == SRCFIND_OK && i < n; i++)
            e[i].moments = moments[i];
    }
    return status;
}

/* Lists the places in the image. */
static void list_places(struct forced_rows *m) {
    const struct pixel_source *source = m->forced->pixels->source;
    const double widest = place_widest(&m->beam, source->width, source->height);
    for (int64_t i = 0; i < m->n_rows; i++) {
        const struct entry *e = &m->entries[i];
        if (is_inside(m->forced, e->x, e->y))
            m->places[m->n_places++] =
                place_make(e->x, e->y, m->forced->frame ? &e->moments : NULL, widest, i);
    }
    places_sort(m->places, m->n_places, m->forced->frame);
}

/* --- rows --- */

/* The area of a Gaussian in pixels. */
static double area_of(const struct forced_rows *m, const struct entry *entry) {
    const double beam = m->forced->metadata->beam_pixels;
    const struct tensor *a = &entry->moments, *b = &m->beam;
    const double ratio = (a->xx * a->yy - a->xy * a->xy) / (b->xx * b->yy - b->xy * b->xy);
    return entry->intrinsic.major > 0 ? beam * sqrt(ratio) : beam;
}

static void fill_shape(const struct entry *entry, struct srcfind_source *row) {
    row->dc_major = entry->intrinsic.major;
    row->dc_minor = entry->intrinsic.minor;
    row->dc_angle = entry->intrinsic.angle;
}

static void fill_fluxes(const struct forced_rows *m, const struct place_pixels *known,
                        const struct amplitude *amplitude, struct srcfind_source *row) {
    const struct setting *setting = m->forced->setting;
    const struct entry *entry = &m->entries[row - m->rows];
    row->isl_rms = known->noise.rms;
    row->isl_mean = known->noise.background;
    row->peak_flux = known->above;
    row->e_peak_flux = known->noise.rms;
    if (m->forced->frame) {
        const double area = area_of(m, entry);
        row->peak_flux = amplitude->value;
        row->e_peak_flux = known->noise.rms * amplitude->per_rms;
        row->total_flux = row->peak_flux * area * setting->to_flux;
        row->e_total_flux = row->e_peak_flux * area * setting->to_flux;
        row->flags |= entry->intrinsic.major > 0 ? 0 : SRCFIND_FLAG_BEAM_SHAPE;
        fill_shape(entry, row);
    }
    row->snr = row->peak_flux / known->noise.rms;
}

static void fill_row(const struct forced_rows *m, const struct place *p) {
    const struct place_pixels *known = &m->known[p->twin];
    const struct amplitude *amplitude = &m->amplitudes[p->twin];
    struct srcfind_source *row = &m->rows[p->row];
    if (!isfinite(known->above) || !(known->noise.rms > 0))
        return;
    row->flags &= ~(int64_t)SRCFIND_FLAG_OUTSIDE;
    row->x_peak = place_nearest(p->x);
    row->y_peak = place_nearest(p->y);
    row->n_pixels = known->n;
    const struct pixel_source *source = m->forced->pixels->source;
    if (place_is_cut(p, source->width, source->height) || known->n_missing > 0)
        row->flags |= SRCFIND_FLAG_EDGE;
    /* Not fitted: a shape between the pixels, too wide, or a sum of other shapes. */
    if (m->forced->frame && (!amplitude->is_fitted || amplitude->is_uncertain))
        row->flags |= SRCFIND_FLAG_NOT_FITTED;
    else
        fill_fluxes(m, known, amplitude, row);
    const struct place *twin = &m->places[p->twin];
    if ((twin->is_left_out || twin->is_crowded) && m->entries[p->row].intrinsic.major > 0)
        fill_shape(&m->entries[p->row], row);
}

/* Whether a row has the shape that was held. */
static bool has_shape(const struct forced_rows *m, int64_t row) {
    return isfinite(m->rows[row].dc_major);
}

/* Fills the world columns of n rows, from the first on. Sky coordinates are those of the catalogue,
 * else those of the pixels. */
static enum srcfind_status fill_sky(const struct forced_rows *m, int64_t first, int n,
                                    struct error *error) {
    const struct tensor unknown = {NAN, NAN, NAN};
    const struct forced *f = m->forced;
    const struct positions *p = f->positions;
    struct srcfind_source *rows = m->rows;
    struct pixel_shape shapes[AT_ONCE] = {0};
    for (int i = 0; i < n; i++)
        shapes[i] = (struct pixel_shape){
            .position = unknown,
            .second = has_shape(m, first + i) ? m->entries[first + i].moments : unknown,
            .x_highest = NAN,
            .y_highest = NAN};
    const enum srcfind_status status =
        world_columns_fill(f->wcs, f->metadata, &m->beam, n, shapes, rows + first, error);
    for (int64_t i = first; p->celestial && i < first + n; i++) {
        rows[i].lon = p->x[m->entries[i].number];
        rows[i].lat = p->y[m->entries[i].number];
        world_columns_name(f->metadata, &rows[i]);
    }
    return status;
}

static enum srcfind_status fill_world(const struct forced_rows *m, struct error *error) {
    const int64_t n = m->n_rows;
    enum srcfind_status status = SRCFIND_OK;
    for (int64_t i = 0; m->forced->wcs && status == SRCFIND_OK && i < n; i += AT_ONCE)
        status = fill_sky(m, i, (int)(n - i < AT_ONCE ? n - i : AT_ONCE), error);
    return status;
}

/* The row of an entry before it is measured; in pixels it has the size of its shape or the beam. */
static struct srcfind_source row_of_entry(const struct forced_rows *m, const struct entry *entry) {
    const struct setting *setting = m->forced->setting;
    struct srcfind_source row = setting_empty_row(m->forced->positions->id[entry->number]);
    row.x = entry->x;
    row.y = entry->y;
    row.flags = setting->flags | SRCFIND_FLAG_OUTSIDE;
    memcpy(row.entry_id, m->forced->positions->entry_id[entry->number], sizeof row.entry_id);
    double *const empty[] = {&row.e_x,        &row.e_y,          &row.isl_total_flux,
                             &row.total_flux, &row.e_total_flux, &row.e_isl_total_flux,
                             &row.peak_flux,  &row.e_peak_flux,  &row.isl_rms,
                             &row.isl_mean,   &row.snr};
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++)
        *empty[i] = NAN;
    setting_empty_pixels(&row);
    const struct tensor beam = beam_frame_moments(&setting->frame);
    setting_size_in_pixels(&beam, &entry->moments, &row);
    return row;
}

/* --- all of it --- */

/* Makes the rows, which are empty yet, and measures those in the image. */
static enum srcfind_status make_rows(struct forced_rows *m, struct threads *threads,
                                     struct error *error) {
    m->rows = arrays_allocate(m->n_rows, sizeof *m->rows);
    m->places = arrays_allocate(m->n_rows, sizeof *m->places);
    m->known = arrays_allocate(m->n_rows, sizeof *m->known);
    m->amplitudes = arrays_allocate(m->n_rows, sizeof *m->amplitudes);
    if (!m->rows || !m->places || !m->known || !m->amplitudes)
        return error_memory(error, MEASURING);
    for (int64_t i = 0; i < m->n_rows; i++)
        m->rows[i] = row_of_entry(m, &m->entries[i]);
    list_places(m);
    const struct places_setting setting = {.pixels = m->forced->pixels, .frame = m->forced->frame};
    const enum srcfind_status status =
        places_fit(&setting, m->places, m->n_places, threads, m->known, m->amplitudes, error);
    if (status != SRCFIND_OK)
        return status;
    for (int64_t i = 0; i < m->n_places; i++)
        fill_row(m, &m->places[i]);
    return fill_world(m, error);
}

enum srcfind_status forced_measure(const struct forced *forced, struct threads *threads,
                                   struct srcfind_source **rows, int64_t *n_rows,
                                   struct entries_left_out *left_out, struct error *error) {
    struct forced_rows m = {.forced = forced};
    if (forced->frame)
        m.beam = beam_frame_moments(forced->frame);
    enum srcfind_status status = locate(&m, error);
    if (status == SRCFIND_OK)
        status = hold_shapes(&m, error);
    if (status == SRCFIND_OK)
        status = make_rows(&m, threads, error);
    free(m.entries);
    free(m.places);
    free(m.known);
    free(m.amplitudes);
    if (status != SRCFIND_OK) {
        free(m.rows);
        m.rows = NULL;
    }
    *rows = m.rows;
    *n_rows = m.rows ? m.n_rows : 0;
    *left_out = m.left_out;
    return status;
}
