/* The rows of --at.
 *
 * Positions come from a catalogue, in pixels or on the sky. locate() finds those that have a row:
 * these have consecutive indices, which positions, shapes and rows share. forced.c measures at
 * them. A row begins as one outside of the image (empty_row); fill_row gives it what was measured
 * at its place, and fill_world the columns on the sky. A place that stands where another one
 * stands has the amplitude of that one, its twin. With models the nearest pixel gives the noise,
 * and the entry all else (fill_entry).
 *
 * The rows stay in the order of the catalogue: what is measured does not change their number. */
#include "measure/at_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/arrays.h"
#include "measure/beam_frame.h"
#include "measure/world_columns.h"

static const char MEASURING[] = "measuring at given positions";

/* What the steps share. */
struct at_work {
    const struct at_rows_from *from;
    struct setting setting;
    int64_t *entry;                    /* of each row: its index among the positions */
    struct forced_position *positions; /* of each row */
    int64_t n_rows, entries_capacity, positions_capacity;
    struct entries_left_out left_out;
    struct forced forced;
    struct srcfind_source *rows;
    struct gaussian *gaussians;
    int64_t n_gaussians;
};

/* --- where --- */

enum { AT_ONCE = 1024 }; /* positions that WCSLIB gets at a time */

/* Adds those of n positions, from the first on, that have a row. */
static enum srcfind_status add_rows(struct at_work *m, int64_t first, int n, const double *x,
                                    const double *y, struct error *error) {
    const struct positions *p = m->from->positions;
    if (!GROW(m->entry, m->entries_capacity, m->n_rows + n) ||
        !GROW(m->positions, m->positions_capacity, m->n_rows + n))
        return error_memory(error, MEASURING);
    for (int i = 0; i < n; i++) {
        const bool inside = forced_is_inside(m->from->pixels->source, x[i], y[i]);
        if (!inside && !m->from->all) {
            const bool is_nowhere = isnan(p->x[first + i]);
            m->left_out.nowhere += is_nowhere;
            m->left_out.outside += !is_nowhere;
            continue;
        }
        struct forced_position *position = &m->positions[m->n_rows];
        m->entry[m->n_rows++] = first + i;
        *position = (struct forced_position){.x = x[i], .y = y[i]};
        if (m->from->models) {
            position->intrinsic = m->from->models[first + i].intrinsic;
            m->left_out.sums += p->fluxes[first + i].is_sum;
            m->left_out.too_wide += m->from->models[first + i].is_too_wide;
        }
        if (inside && p->shapes && m->from->fits)
            position->intrinsic = held_shape_intrinsic(&p->shapes[first + i]);
    }
    return SRCFIND_OK;
}

/* Finds the entries that have a row. */
static enum srcfind_status locate(struct at_work *m, struct error *error) {
    const struct positions *p = m->from->positions;
    double x[AT_ONCE], y[AT_ONCE];
    enum srcfind_status status = SRCFIND_OK;
    for (int64_t first = 0; status == SRCFIND_OK && first < p->n; first += AT_ONCE) {
        const int n = (int)(p->n - first < AT_ONCE ? p->n - first : AT_ONCE);
        if (p->celestial)
            status =
                wcs_pixels(m->from->view->image->wcs, n, p->x + first, p->y + first, x, y, error);
        const bool given = !p->celestial;
        if (status == SRCFIND_OK)
            status =
                add_rows(m, first, n, given ? p->x + first : x, given ? p->y + first : y, error);
    }
    return status;
}

/* --- rows --- */

static void fill_shape(const struct srcfind_beam *intrinsic, struct srcfind_source *row) {
    row->dc_major = intrinsic->major;
    row->dc_minor = intrinsic->minor;
    row->dc_angle = intrinsic->angle;
}

static void fill_fluxes(const struct at_work *m, const struct place_pixels *known,
                        const struct amplitude *found, struct srcfind_source *row) {
    const struct srcfind_beam *intrinsic = &m->positions[row - m->rows].intrinsic;
    row->isl_rms = known->noise.rms;
    row->isl_mean = known->noise.background;
    row->peak_flux = row->n_pixels > 1 ? known->sampled / known->weight : known->above;
    row->e_peak_flux = known->noise.rms;
    if (m->from->fits) {
        const double area = forced_area(&m->forced, row - m->rows);
        row->peak_flux = found->value;
        row->e_peak_flux = known->noise.rms * found->per_rms;
        row->total_flux = row->peak_flux * area * m->setting.to_flux;
        row->e_total_flux = row->e_peak_flux * area * m->setting.to_flux;
        row->blend = fmax(0, 1 - found->lone / found->per_rms);
        row->flags |= intrinsic->major > 0 ? 0 : SRCFIND_FLAG_BEAM_SHAPE;
        fill_shape(intrinsic, row);
    }
    row->snr = row->peak_flux / known->noise.rms;
}

static const struct entry_model *model_of(const struct at_work *m, int64_t row) {
    return m->from->models ? &m->from->models[m->entry[row]] : NULL;
}

/* Compares the peak of an entry with the image there. */
static void compare_peak(const struct place_pixels *known, double peak, struct peaks_compared *to) {
    static const double BRIGHT = 10, SEEN = 3, OTHER = 100;
    if (!(peak > BRIGHT * known->noise.rms))
        return;
    to->n_bright++;
    if (!(known->above > SEEN * known->noise.rms))
        return;
    to->n_seen++;
    const double ratio = peak / known->above;
    const bool is_less = ratio < 1;
    if (fmax(ratio, 1 / ratio) < OTHER)
        return;
    to->n[is_less]++;
    to->sum[is_less] += log10(ratio);
}

/* Fills what an entry has itself. */
static void fill_entry(const struct at_work *m, const struct place_pixels *known,
                       const struct entry_model *model, struct srcfind_source *row) {
    row->isl_rms = known->noise.rms;
    row->isl_mean = known->noise.background;
    row->n_pixels = SRCFIND_EMPTY;
    if (!isfinite(model->gaussian.peak)) {
        row->flags |= SRCFIND_FLAG_NOT_FITTED;
        return;
    }
    row->peak_flux = model->gaussian.peak;
    row->total_flux = model->total_flux;
    row->snr = row->peak_flux / known->noise.rms;
    row->flags |= model->intrinsic.major > 0 ? 0 : SRCFIND_FLAG_BEAM_SHAPE;
    fill_shape(&m->positions[row - m->rows].intrinsic, row);
}

static void fill_row(struct at_work *m, const struct place *p) {
    const struct place_pixels *known = &m->forced.known[p->twin];
    const struct amplitude *found = &m->forced.amplitudes[p->twin];
    const struct pixel_source *image = m->from->pixels->source;
    struct srcfind_source *row = &m->rows[p->row];
    if (!isfinite(known->above) || !(known->noise.rms > 0))
        return;
    row->flags &= ~(int64_t)SRCFIND_FLAG_OUTSIDE;
    row->x_peak = place_nearest(p->x);
    row->y_peak = place_nearest(p->y);
    row->n_pixels = known->n;
    if (place_is_cut(p, image->width, image->height) || known->n_missing > 0) {
        row->flags |= SRCFIND_FLAG_EDGE;
        if (p->is_sampled) /* the nearest pixel */
            row->n_pixels = 1;
    }
    if (m->from->models) {
        compare_peak(known, model_of(m, p->row)->gaussian.peak, &m->left_out.peaks);
        fill_entry(m, known, model_of(m, p->row), row);
        return;
    }
    /* Not fitted: a shape between the pixels, too wide, or a sum of others. */
    if (m->from->fits && (!found->is_fitted || found->is_uncertain))
        row->flags |= SRCFIND_FLAG_NOT_FITTED;
    else
        fill_fluxes(m, known, found, row);
    const struct place *twin = &m->forced.places[p->twin];
    if ((twin->is_left_out || twin->is_crowded) && m->positions[p->row].intrinsic.major > 0)
        fill_shape(&m->positions[p->row].intrinsic, row);
}

/* Whether a row has the shape that was held. */
static bool has_shape(const struct at_work *m, int64_t row) {
    return isfinite(m->rows[row].dc_major);
}

/* Fills the world columns of n rows, from the first on. Sky coordinates are those that were given,
 * or else those of the pixels. */
static enum srcfind_status fill_sky(const struct at_work *m, int64_t first, int n,
                                    struct error *error) {
    const struct tensor unknown = {NAN, NAN, NAN};
    const struct view *view = m->from->view;
    const struct positions *p = m->from->positions;
    struct srcfind_source *rows = m->rows;
    struct pixel_shape shapes[AT_ONCE] = {0};
    for (int i = 0; i < n; i++)
        shapes[i] = (struct pixel_shape){
            .position = unknown,
            .second = has_shape(m, first + i) ? m->forced.moments[first + i] : unknown,
            .x_highest = NAN,
            .y_highest = NAN};
    const enum srcfind_status status = world_columns_fill(
        view->image->wcs, view->metadata, &m->forced.psf, n, shapes, rows + first, error);
    for (int64_t i = first; p->celestial && i < first + n; i++) {
        rows[i].lon = p->x[m->entry[i]];
        rows[i].lat = p->y[m->entry[i]];
        world_columns_name(view->metadata, &rows[i]);
    }
    return status;
}

static enum srcfind_status fill_world(const struct at_work *m, struct error *error) {
    const int64_t n = m->n_rows;
    enum srcfind_status status = SRCFIND_OK;
    for (int64_t i = 0; m->from->view->image->wcs && status == SRCFIND_OK && i < n; i += AT_ONCE)
        status = fill_sky(m, i, (int)(n - i < AT_ONCE ? n - i : AT_ONCE), error);
    return status;
}

/* A row before it is measured; in pixels it has the size of its shape or the beam. */
static struct srcfind_source empty_row(const struct at_work *m, int64_t i) {
    const int64_t entry = m->entry[i];
    struct srcfind_source row = setting_empty_row(m->from->positions->id[entry]);
    row.x = m->positions[i].x;
    row.y = m->positions[i].y;
    row.flags = m->setting.flags | SRCFIND_FLAG_OUTSIDE;
    memcpy(row.entry_id, m->from->positions->entry_id[entry], sizeof row.entry_id);
    double *const empty[] = {&row.e_x,        &row.e_y,          &row.isl_total_flux,
                             &row.total_flux, &row.e_total_flux, &row.e_isl_total_flux,
                             &row.peak_flux,  &row.e_peak_flux,  &row.isl_rms,
                             &row.isl_mean,   &row.snr};
    for (size_t k = 0; k < sizeof empty / sizeof *empty; k++)
        *empty[k] = NAN;
    setting_empty_pixels(&row);
    const struct tensor beam = beam_frame_moments(&m->setting.frame);
    setting_size_in_pixels(&beam, &m->forced.moments[i], &row);
    row.scale_background = NAN;
    if (m->from->models) {
        row.scale = model_of(m, i)->scale;
        row.scale_background = model_of(m, i)->background;
    }
    return row;
}

/* --- Gaussians --- */

/* Takes the shapes of entries. */
static void take_models(struct at_work *m) {
    m->forced.psf = m->setting.psf;
    for (int64_t i = 0; i < m->n_rows; i++)
        m->forced.moments[i] = model_of(m, i)->moments;
}

/* Whether a place has an amplitude of its own: a twin has none, and that of a place which cannot be
 * told from another one is a copy. */
static bool is_gaussian(const struct at_work *m, int64_t i) {
    const struct amplitude *a = &m->forced.amplitudes[i];
    return a->is_fitted && !a->is_shared && a->value != 0;
}

/* Lists the Gaussians of the amplitudes that were fitted, those of uncertain ones, too: others were
 * fitted less these. */
static bool list_fitted(struct at_work *m) {
    int64_t n = 0;
    for (int64_t i = 0; i < m->forced.n_places; i++)
        n += is_gaussian(m, i);
    m->gaussians = arrays_allocate(n, sizeof *m->gaussians);
    for (int64_t i = 0; m->gaussians && i < m->forced.n_places; i++) {
        const struct place *p = &m->forced.places[i];
        if (is_gaussian(m, i))
            m->gaussians[m->n_gaussians++] =
                (struct gaussian){m->forced.amplitudes[i].value, p->x, p->y, p->form};
    }
    return m->gaussians;
}

static enum srcfind_status list_gaussians(struct at_work *m, struct error *error) {
    bool ok = true;
    if (m->from->models) {
        m->gaussians = entry_models_list(m->from->models, m->from->positions->n,
                                         m->from->pixels->source, &m->n_gaussians);
        ok = m->gaussians;
    } else if (m->from->fits) {
        ok = list_fitted(m);
    }
    return ok ? SRCFIND_OK : error_memory(error, MEASURING);
}

/* --- all of it --- */

/* Measures at the positions that have a row, and fills the rows. */
static enum srcfind_status make_rows(struct at_work *m, struct threads *threads,
                                     struct error *error) {
    m->forced = (struct forced){.view = m->from->view,
                                .pixels = m->from->pixels,
                                .frame = m->from->fits ? m->from->frame : NULL,
                                .positive = m->from->positive,
                                .positions = m->positions,
                                .n = m->n_rows};
    m->rows = arrays_allocate(m->n_rows, sizeof *m->rows);
    enum srcfind_status status =
        m->rows ? forced_begin(&m->forced, error) : error_memory(error, MEASURING);
    if (status == SRCFIND_OK && m->from->models)
        take_models(m);
    for (int64_t i = 0; status == SRCFIND_OK && i < m->n_rows; i++)
        m->rows[i] = empty_row(m, i);
    if (status == SRCFIND_OK)
        status = forced_fit(&m->forced, threads, error);
    for (int64_t i = 0; status == SRCFIND_OK && i < m->forced.n_places; i++)
        fill_row(m, &m->forced.places[i]);
    if (status == SRCFIND_OK)
        status = fill_world(m, error);
    if (status == SRCFIND_OK)
        status = list_gaussians(m, error);
    forced_clear(&m->forced);
    return status;
}

enum srcfind_status at_rows_make(const struct at_rows_from *from, struct threads *threads,
                                 struct at_rows *made, struct error *error) {
    struct at_work m = {.from = from,
                        .setting = setting_make(from->view, from->frame),
                        .left_out.told = from->positions->told};
    enum srcfind_status status = locate(&m, error);
    if (status == SRCFIND_OK)
        status = make_rows(&m, threads, error);
    free(m.entry);
    free(m.positions);
    *made = (struct at_rows){.left_out = m.left_out};
    if (status == SRCFIND_OK) {
        made->rows = m.rows;
        made->n = m.n_rows;
        made->gaussians = m.gaussians;
        made->n_gaussians = m.n_gaussians;
        return SRCFIND_OK;
    }
    free(m.rows);
    free(m.gaussians);
    return status;
}
