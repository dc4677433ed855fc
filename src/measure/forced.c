#include "measure/forced.h"

#include <stdlib.h>
#include <string.h>

#include "common/arrays.h"
#include "measure/amplitudes.h"
#include "measure/beam_frame.h"
#include "measure/held_shapes.h"
#include "measure/world_columns.h"

/* Of the groups and pixels that are in memory at a time; there is always one group. */
enum { MOST_GROUPS = 16384, MOST_PIXELS = 1 << 22 };

/* Pixels around a position. A larger beam would be a mistake in a header. */
static const double MOST_REACH = 256;

/* An entry of the catalogue that has a row, and where it is. */
struct entry {
    int64_t number;          /* its index among the positions */
    double x, y;             /* in pixels; NaN: nowhere */
    struct srcfind_beam own; /* its shape without the beam; 0: a point */
    struct tensor moments;   /* of the shape that is held; NaN: none */
};

struct measuring {
    const struct forced *forced;
    struct tensor beam;    /* second moments, pixels^2 */
    struct entry *entries; /* of each row */
    int64_t n_rows;
    struct place *places;
    int64_t n_places;
    struct place_groups groups;
    struct place_sums *sums;         /* of each group, while they are needed */
    struct place_pixels *known;      /* of each place */
    struct amplitude *found;         /* of each place */
    int64_t first_group;             /* of the batch */
    const struct place_runs *runs;   /* of the batch */
    const struct run_pixels *pixels; /* of the batch */
    struct srcfind_source *rows;
};

/* --- where --- */

enum { AT_ONCE = 1024 }; /* positions that WCSLIB gets at a time */

static bool is_inside(const struct forced *f, double x, double y) {
    return x >= -0.5 && y >= -0.5 && x < (double)f->pixels->source->width - 0.5 &&
           y < (double)f->pixels->source->height - 0.5;
}

/* Adds those of n positions, from the first on, that have a row. */
static enum srcfind_status add_entries(struct measuring *m, int64_t first, int n, const double *x,
                                       const double *y, int64_t *capacity, struct error *error) {
    const struct position_shape *shapes = m->forced->positions->shapes;
    if (!GROW(m->entries, *capacity, m->n_rows + n))
        return error_memory(error, "measuring at given positions");
    for (int i = 0; i < n; i++) {
        const bool inside = is_inside(m->forced, x[i], y[i]);
        if (!inside && !m->forced->all)
            continue;
        struct entry *e = &m->entries[m->n_rows++];
        *e = (struct entry){.number = first + i, .x = x[i], .y = y[i], .moments = {NAN, NAN, NAN}};
        if (inside && shapes && m->forced->frame)
            e->own = held_shape_own(&shapes[first + i]);
    }
    return SRCFIND_OK;
}

/* Finds the entries that have a row. */
static enum srcfind_status locate(struct measuring *m, struct error *error) {
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
static enum srcfind_status hold_shapes(struct measuring *m, struct error *error) {
    const struct forced *f = m->forced;
    double x[AT_ONCE], y[AT_ONCE];
    struct srcfind_beam own[AT_ONCE];
    struct tensor moments[AT_ONCE];
    enum srcfind_status status = SRCFIND_OK;
    for (int64_t first = 0; f->frame && status == SRCFIND_OK && first < m->n_rows;
         first += AT_ONCE) {
        struct entry *e = m->entries + first;
        const int n = (int)(m->n_rows - first < AT_ONCE ? m->n_rows - first : AT_ONCE);
        for (int i = 0; i < n; i++) {
            x[i] = e[i].x;
            y[i] = e[i].y;
            own[i] = e[i].own;
        }
        status = held_shapes_moments(f->wcs, f->metadata, &m->beam, n, x, y, own, moments, error);
        for (int i = 0; status == SRCFIND_OK && i < n; i++)
            e[i].moments = moments[i];
    }
    return status;
}

/* --- places --- */

/* The pixels of one FWHM of a shape, in its directions. Without a shape the nearest pixel. */
static struct place make_place(const struct entry *e, int64_t row) {
    struct place p = {.x = e->x, .y = e->y, .moments = e->moments, .row = row};
    if (isnan(p.moments.xx))
        return p;
    p.form = tensor_inverse(&p.moments);
    const double reach = FIT_FWHM * (1 + 1e-6); /* a pixel at just a FWHM is in it */
    const double x = reach * sqrt(p.moments.xx), y = reach * sqrt(p.moments.yy);
    const double part = fmin(1, MOST_REACH / fmax(x, y));
    p.square = reach * reach * part * part;
    p.reach_x = x * part;
    p.reach_y = y * part;
    return p;
}

/* Compares what the results of two places depend on. */
static int compare_measured(const struct place *a, const struct place *b) {
    const double left[] = {a->y, a->x, a->moments.xx, a->moments.yy, a->moments.xy};
    const double right[] = {b->y, b->x, b->moments.xx, b->moments.yy, b->moments.xy};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        if (left[i] < right[i] || left[i] > right[i])
            return left[i] < right[i] ? -1 : 1;
    return 0;
}

static int compare_places(const void *a, const void *b) {
    const struct place *left = a, *right = b;
    const int order = compare_measured(left, right);
    return order ? order : (left->row > right->row) - (left->row < right->row);
}

/* Lists the places in the image from its first row on. */
static void list_places(struct measuring *m) {
    for (int64_t i = 0; i < m->n_rows; i++)
        if (is_inside(m->forced, m->entries[i].x, m->entries[i].y))
            m->places[m->n_places++] = make_place(&m->entries[i], i);
    qsort(m->places, (size_t)m->n_places, sizeof *m->places, compare_places);
    for (int64_t i = 0; i < m->n_places; i++) {
        struct place *p = &m->places[i];
        const bool is_twin = i > 0 && m->forced->frame && compare_measured(p - 1, p) == 0;
        p->twin = is_twin ? p[-1].twin : i;
    }
}

/* --- amplitudes --- */

/* Sets amplitudes of a group from its sums, which are kept if it is a part of a cluster. */
static void fit_group(const struct measuring *m, int64_t i) {
    const struct place_group *group = &m->groups.groups[i];
    if (group->is_part)
        return;
    if (m->forced->frame) {
        const struct amplitude_system s = amplitudes_factorise(group, &m->sums[i], m->known);
        amplitudes_errors(m->places, group, &s, &m->beam, m->found);
        amplitudes_solve(group, &s, &m->sums[i], m->known, m->found);
        amplitudes_share(group, &s, m->found);
    }
    place_sums_free(&m->sums[i]);
}

enum { GROUPS_A_PART = 64 };

static enum srcfind_status measure_part(void *context, int part, struct error *error) {
    struct measuring *m = context;
    const int64_t first = (int64_t)part * GROUPS_A_PART;
    const int64_t end = first + GROUPS_A_PART < m->runs->n ? first + GROUPS_A_PART : m->runs->n;
    for (int64_t k = first; k < end; k++) {
        const int64_t i = m->first_group + k;
        const struct place_group *group = &m->groups.groups[i];
        if (!place_sums_make(group, &m->sums[i]))
            return error_memory(error, "measuring at given positions");
        place_sums_add(m->places, group, &m->runs->sets[k], m->pixels, &m->sums[i], m->known);
        fit_group(m, i);
    }
    return SRCFIND_OK;
}

/* Reads the pixels of a batch of groups, whose runs are made. */
static enum srcfind_status measure_batch(struct measuring *m, struct place_runs *runs,
                                         struct threads *threads, struct error *error) {
    struct run_pixels pixels;
    place_runs_finish(runs);
    enum srcfind_status status = run_pixels_read(m->forced->pixels, runs->sets, runs->n,
                                                 runs->n_pixels, threads, &pixels, error);
    m->runs = runs;
    m->pixels = &pixels;
    if (status == SRCFIND_OK)
        status = threads_try(threads, (int)((runs->n + GROUPS_A_PART - 1) / GROUPS_A_PART),
                             measure_part, m, error);
    run_pixels_clear(&pixels);
    return status;
}

static enum srcfind_status measure_groups(struct measuring *m, struct threads *threads,
                                          struct error *error) {
    const struct pixel_source *source = m->forced->pixels->source;
    enum srcfind_status status = SRCFIND_OK;
    for (int64_t i = 0; status == SRCFIND_OK && i < m->groups.n;) {
        struct place_runs runs = {0};
        m->first_group = i;
        for (; status == SRCFIND_OK && i < m->groups.n && runs.n < MOST_GROUPS &&
               runs.n_pixels < MOST_PIXELS;
             i++)
            if (!place_runs_add(&runs, m->places, &m->groups.groups[i], source->width,
                                source->height))
                status = error_memory(error, "measuring at given positions");
        if (status == SRCFIND_OK)
            status = measure_batch(m, &runs, threads, error);
        place_runs_clear(&runs);
    }
    return status;
}

/* The groups that are parts of clusters. */
struct parts {
    const struct measuring *m;
    int64_t *groups;
    struct amplitude_system *systems;
    int64_t n;
};

static void prepare_part(void *context, int i) {
    const struct parts *p = context;
    const struct measuring *m = p->m;
    const struct place_group *group = &m->groups.groups[p->groups[i]];
    p->systems[i] = amplitudes_factorise(group, &m->sums[p->groups[i]], m->known);
    amplitudes_errors(m->places, group, &p->systems[i], &m->beam, m->found);
}

/* Fits all parts, one after the other: each gets its pixels less what the others have so far.
 * Returns the largest change of an amplitude, in its errors. */
static double sweep(const struct parts *p) {
    const struct measuring *m = p->m;
    double largest = 0;
    for (int64_t i = 0; i < p->n; i++)
        largest = fmax(largest, amplitudes_solve(&m->groups.groups[p->groups[i]], &p->systems[i],
                                                 &m->sums[p->groups[i]], m->known, m->found));
    return largest;
}

/* Fits the parts of clusters, until all of a cluster are as if they were fitted together. Two
 * sweeps are enough where its places are two beams from each other, not where they are one. */
static enum srcfind_status fit_parts(const struct measuring *m, struct threads *threads,
                                     struct error *error) {
    enum { MOST_SWEEPS = 50 };
    static const double least_change = 1e-3; /* of an amplitude, in its errors */
    struct parts p = {.m = m};
    for (int64_t i = 0; i < m->groups.n; i++)
        p.n += m->groups.groups[i].is_part;
    p.groups = arrays_allocate(p.n, sizeof *p.groups);
    p.systems = arrays_allocate(p.n, sizeof *p.systems);
    const bool ok = p.groups && p.systems;
    p.n = 0;
    for (int64_t i = 0; ok && i < m->groups.n; i++)
        if (m->groups.groups[i].is_part)
            p.groups[p.n++] = i;
    threads_run(threads, (int)p.n, prepare_part, &p);
    for (int k = 0; k < MOST_SWEEPS && sweep(&p) > least_change; k++)
        ;
    for (int64_t i = 0; i < p.n; i++)
        amplitudes_share(&m->groups.groups[p.groups[i]], &p.systems[i], m->found);
    free(p.groups);
    free(p.systems);
    return ok ? SRCFIND_OK : error_memory(error, "measuring at given positions");
}

/* --- rows --- */

/* The area of a Gaussian in pixels. */
static double area_of(const struct measuring *m, const struct entry *entry) {
    const double beam = m->forced->metadata->beam_pixels;
    const struct tensor *a = &entry->moments, *b = &m->beam;
    const double ratio = (a->xx * a->yy - a->xy * a->xy) / (b->xx * b->yy - b->xy * b->xy);
    return entry->own.major > 0 ? beam * sqrt(ratio) : beam;
}

static void fill_fluxes(const struct measuring *m, const struct place_pixels *known,
                        const struct amplitude *found, struct srcfind_source *row) {
    const struct setting *setting = m->forced->setting;
    const struct entry *entry = &m->entries[row - m->rows];
    row->isl_rms = known->noise.rms;
    row->isl_mean = known->noise.background;
    row->peak_flux = known->above;
    row->e_peak_flux = known->noise.rms;
    if (m->forced->frame) {
        const double area = area_of(m, entry);
        row->peak_flux = found->value;
        row->e_peak_flux = known->noise.rms * found->per_rms;
        row->total_flux = row->peak_flux * area * setting->to_flux;
        row->e_total_flux = row->e_peak_flux * area * setting->to_flux;
        row->flags |= entry->own.major > 0 ? 0 : SRCFIND_FLAG_BEAM_SHAPE;
        row->dc_major = entry->own.major;
        row->dc_minor = entry->own.minor;
        row->dc_angle = entry->own.angle;
    }
    row->snr = row->peak_flux / known->noise.rms;
}

static void fill_row(const struct measuring *m, const struct place *p) {
    const struct place_pixels *known = &m->known[p->twin];
    const struct amplitude *found = &m->found[p->twin];
    struct srcfind_source *row = &m->rows[p->row];
    if (!isfinite(known->above) || !(known->noise.rms > 0))
        return;
    row->flags &= ~(int64_t)SRCFIND_FLAG_OUTSIDE;
    row->x_peak = place_nearest(p->x);
    row->y_peak = place_nearest(p->y);
    row->n_pixels = known->n;
    const bool is_cut =
        p->square > 0 && (p->x < p->reach_x || p->y < p->reach_y ||
                          p->x > (double)m->forced->pixels->source->width - 1 - p->reach_x ||
                          p->y > (double)m->forced->pixels->source->height - 1 - p->reach_y);
    if (is_cut || known->n_missing > 0)
        row->flags |= SRCFIND_FLAG_EDGE;
    if (m->forced->frame &&
        !found->is_fitted) /* the shape falls between the pixels, or is others' */
        row->flags |= SRCFIND_FLAG_NOT_FITTED;
    else
        fill_fluxes(m, known, found, row);
}

/* Whether a row has the shape that was held. */
static bool has_shape(const struct measuring *m, int64_t row) {
    return isfinite(m->rows[row].dc_major);
}

/* Fills the world columns of n rows, from the first on. Sky coordinates are those that were given,
 * or else those of the pixels. */
static enum srcfind_status fill_sky(const struct measuring *m, int64_t first, int n,
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

static enum srcfind_status fill_world(const struct measuring *m, struct error *error) {
    const int64_t n = m->n_rows;
    enum srcfind_status status = SRCFIND_OK;
    for (int64_t i = 0; m->forced->wcs && status == SRCFIND_OK && i < n; i += AT_ONCE)
        status = fill_sky(m, i, (int)(n - i < AT_ONCE ? n - i : AT_ONCE), error);
    return status;
}

/* The row of an entry before it is measured; in pixels it has the size of its shape or the beam. */
static struct srcfind_source row_of_entry(const struct measuring *m, const struct entry *entry) {
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

static enum srcfind_status measure(struct measuring *m, struct threads *threads,
                                   struct error *error) {
    enum srcfind_status status = SRCFIND_OK;
    if (!place_groups_make(m->places, m->n_places, m->forced->frame, &m->groups) ||
        !(m->sums = calloc((size_t)m->groups.n + 1, sizeof *m->sums)))
        status = error_memory(error, "measuring at given positions");
    if (status == SRCFIND_OK)
        status = measure_groups(m, threads, error);
    if (status == SRCFIND_OK)
        status = fit_parts(m, threads, error);
    for (int64_t i = 0; m->sums && i < m->groups.n; i++)
        place_sums_free(&m->sums[i]);
    free(m->sums);
    place_groups_clear(&m->groups);
    for (int64_t i = 0; status == SRCFIND_OK && i < m->n_places; i++)
        fill_row(m, &m->places[i]);
    return status;
}

/* Makes the rows, which are empty yet, and measures those in the image. */
static enum srcfind_status make_rows(struct measuring *m, struct threads *threads,
                                     struct error *error) {
    m->rows = arrays_allocate(m->n_rows, sizeof *m->rows);
    m->places = arrays_allocate(m->n_rows, sizeof *m->places);
    m->known = arrays_allocate(m->n_rows, sizeof *m->known);
    m->found = arrays_allocate(m->n_rows, sizeof *m->found);
    if (!m->rows || !m->places || !m->known || !m->found)
        return error_memory(error, "measuring at given positions");
    for (int64_t i = 0; i < m->n_rows; i++) {
        m->rows[i] = row_of_entry(m, &m->entries[i]);
        m->found[i] = (struct amplitude){0};
    }
    list_places(m);
    const enum srcfind_status status = measure(m, threads, error);
    return status == SRCFIND_OK ? fill_world(m, error) : status;
}

enum srcfind_status forced_measure(const struct forced *forced, struct threads *threads,
                                   struct srcfind_source **rows, int64_t *n_rows,
                                   struct error *error) {
    struct measuring m = {.forced = forced};
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
    free(m.found);
    if (status != SRCFIND_OK) {
        free(m.rows);
        m.rows = NULL;
    }
    *rows = m.rows;
    *n_rows = m.rows ? m.n_rows : 0;
    return status;
}
