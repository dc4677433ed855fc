#include "measure/forced.h"

#include <stdlib.h>

#include "backend/gaussian.h"
#include "common/arrays.h"
#include "measure/beam_frame.h"
#include "measure/world_columns.h"

/* Of the positions and pixels that are in memory at a time; there is always one position. */
enum { MOST_PLACES = 16384, MOST_PIXELS = 1 << 22 };

/* Pixels around a position. A larger beam would be a mistake in a header. */
static const double MOST_REACH = 256;

/* The least sum of the squares of the beam, of peak 1, over the pixels at a position. */
static const double LEAST_MODEL = 1e-6;

/* An entry of the catalogue that has a row, and where it is. */
struct entry {
    int64_t number; /* its index among the positions */
    double x, y;    /* in pixels; NaN: nowhere */
};

/* A position in the image, and its row. */
struct place {
    double x, y;
    int64_t row;
};

/* The pixels that are used: the nearest one, and those at offsets whose form, the beam's, is at
 * most `square`. */
struct footprint {
    struct tensor form;
    double square;  /* 0: the nearest pixel alone */
    double x, y;    /* how far it reaches on both sides */
    int64_t n_most; /* pixels at a position */
};

struct measuring {
    const struct forced *forced;
    struct entry *entries; /* of each row */
    int64_t n_rows;
    struct footprint footprint;
    struct place *places;
    int64_t n; /* places in the batch */
    struct run *runs;
    struct run_set *footprints; /* of each place */
    int64_t n_pixels;
    struct run_pixels pixels;
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
    if (!GROW(m->entries, *capacity, m->n_rows + n))
        return error_memory(error, "measuring at given positions");
    for (int i = 0; i < n; i++)
        if (m->forced->all || is_inside(m->forced, x[i], y[i]))
            m->entries[m->n_rows++] = (struct entry){first + i, x[i], y[i]};
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

static int64_t nearest(double x) {
    const double below = floor(x);
    return (int64_t)below + (x - below >= 0.5);
}

static int compare_places(const void *a, const void *b) {
    const struct place *left = a, *right = b;
    return left->y != right->y ? (left->y > right->y) - (left->y < right->y)
                               : (left->row > right->row) - (left->row < right->row);
}

/* Lists the places in the image from its first row on, and returns their number. */
static int64_t list_places(const struct measuring *m, struct place *places) {
    int64_t n = 0;
    for (int64_t i = 0; i < m->n_rows; i++)
        if (is_inside(m->forced, m->entries[i].x, m->entries[i].y))
            places[n++] = (struct place){m->entries[i].x, m->entries[i].y, i};
    qsort(places, (size_t)n, sizeof *places, compare_places);
    return n;
}

/* --- pixels --- */

/* That of one FWHM of the beam. frame: NULL for the nearest pixel. */
static struct footprint make_footprint(const struct fit_frame *frame) {
    const double round[FIT_PARAMETERS] = {[FIT_PEAK] = 1, [FIT_P] = 1, [FIT_R] = 1};
    struct footprint f = {.n_most = 1};
    if (!frame)
        return f;
    f.form = gaussian_of_fit(frame, round, 1, 0, 0).form;
    const struct tensor moments = beam_frame_moments(frame);
    const double reach = FIT_FWHM * (1 + 1e-6); /* a pixel at just a FWHM is in it */
    const double x = reach * sqrt(moments.xx), y = reach * sqrt(moments.yy);
    const double part = fmin(1, MOST_REACH / fmax(x, y));
    f.square = reach * reach * part * part;
    f.x = x * part;
    f.y = y * part;
    f.n_most = (int64_t)((2 * f.x + 2) * (2 * f.y + 2));
    return f;
}

/* The columns x0 ... x1 that are used in row y; none if x0 > x1. */
struct columns {
    int64_t x0, x1;
};

static struct columns columns_in(const struct footprint *f, const struct place *place, int64_t y) {
    const bool has_nearest = y == nearest(place->y);
    const double dy = (double)y - place->y, xx = f->form.xx, xy = f->form.xy;
    const double left = f->square - (f->form.yy - xy * xy / xx) * dy * dy;
    struct columns c = {nearest(place->x), nearest(place->x) - !has_nearest};
    if (!(f->square > 0 && left >= 0))
        return c;
    const double centre = place->x - xy * dy / xx, half = sqrt(left / xx);
    const int64_t x0 = (int64_t)ceil(centre - half), x1 = (int64_t)floor(centre + half);
    if (!has_nearest)
        return (struct columns){x0, x1};
    c.x0 = x0 < c.x0 ? x0 : c.x0;
    c.x1 = x1 > c.x1 ? x1 : c.x1;
    return c;
}

/* Makes the runs of the pixels that are used at a place: one in each row, which may be empty. */
static struct run_set make_runs(struct measuring *m, const struct place *place, struct run *runs) {
    const struct pixel_source *source = m->forced->pixels->source;
    const double row = (double)nearest(place->y), last = (double)source->height - 1;
    const double first = fmin(ceil(place->y - m->footprint.y), row);
    const int64_t top = (int64_t)fmax(first, 0);
    const int64_t bottom = (int64_t)fmin(fmax(floor(place->y + m->footprint.y), row), last);
    struct run_set set = {runs, 0, m->n_pixels};
    for (int64_t y = top; y <= bottom; y++) {
        struct columns c = columns_in(&m->footprint, place, y);
        c.x0 = c.x0 < 0 ? 0 : c.x0;
        c.x1 = c.x1 < source->width ? c.x1 : source->width - 1;
        if (c.x0 > c.x1)
            c = (struct columns){0, -1};
        runs[set.n] = (struct run){(int32_t)y, (int32_t)c.x0, (int32_t)c.x1};
        m->n_pixels += run_length(&runs[set.n++]);
    }
    return set;
}

/* Makes the runs of the batch. False where memory ran out. */
static bool make_footprints(struct measuring *m) {
    const int64_t most = (int64_t)(2 * m->footprint.y + 3); /* rows of a place */
    m->n_pixels = 0;
    m->runs = malloc((size_t)(m->n * most) * sizeof *m->runs + 1);
    m->footprints = malloc((size_t)m->n * sizeof *m->footprints + 1);
    for (int64_t i = 0; m->runs && m->footprints && i < m->n; i++)
        m->footprints[i] = make_runs(m, &m->places[i], m->runs + i * most);
    return m->runs && m->footprints;
}

/* Sums over the pixels of a place: the nearest pixel, and what the amplitude is made of. */
struct sums {
    double value_model, model_model; /* sums of (value - background) g, and of g^2 */
    int64_t n, n_missing;            /* pixels with and without a value */
    struct noise_at noise;           /* at the nearest pixel */
    double above;                    /* its value - background; NAN: blank */
};

static void add_pixel(const struct place *p, const struct gaussian *beam, int64_t x, int64_t y,
                      float value, struct noise_at noise, struct sums *s) {
    const double above = (double)value - noise.background;
    if (x == nearest(p->x) && y == nearest(p->y)) {
        s->noise = noise;
        s->above = above;
    }
    if (!isfinite(above)) {
        s->n_missing++;
        return;
    }
    const double g = gaussian_at(beam, (double)x, (double)y);
    s->n++;
    s->value_model += above * g;
    s->model_model += g * g;
}

/* Those of place i of the batch. */
static struct sums sum_pixels(const struct measuring *m, int64_t i, const struct gaussian *beam) {
    struct sums s = {.above = NAN};
    const struct run_set *set = &m->footprints[i];
    int64_t at = set->first;
    for (const struct run *run = set->runs; run < set->runs + set->n; run++) {
        for (int64_t x = run->x0; x <= run->x1; x++, at++) {
            const struct noise_at noise = {m->pixels.background[at], m->pixels.rms[at]};
            add_pixel(&m->places[i], beam, x, run->y, m->pixels.value[at], noise, &s);
        }
    }
    return s;
}

/* --- rows --- */

static void fill_fluxes(const struct measuring *m, const struct sums *s,
                        struct srcfind_source *row) {
    const struct setting *setting = m->forced->setting;
    row->isl_rms = s->noise.rms;
    row->isl_mean = s->noise.background;
    row->peak_flux = s->above;
    row->e_peak_flux = s->noise.rms;
    if (m->forced->frame) {
        const double pixels = m->forced->metadata->beam_pixels;
        row->peak_flux = s->value_model / s->model_model;
        /* 4 / 3 is the variance of the amplitude, integrated over the beam; a beam that few pixels
         * sample has that of independent pixels, which is larger */
        row->e_peak_flux = s->noise.rms * sqrt(fmax(4.0 / 3, 1 / s->model_model));
        row->total_flux = row->peak_flux * pixels * setting->to_flux;
        row->e_total_flux = row->e_peak_flux * pixels * setting->to_flux;
        row->flags |= SRCFIND_FLAG_BEAM_SHAPE;
    }
    row->snr = row->peak_flux / s->noise.rms;
}

static void fill_row(const struct measuring *m, int64_t i) {
    const struct place *p = &m->places[i];
    const struct footprint *f = &m->footprint;
    const struct gaussian beam = {1, p->x, p->y, f->form};
    const struct sums s = sum_pixels(m, i, &beam);
    struct srcfind_source *row = &m->rows[p->row];
    if (!isfinite(s.above) || !(s.noise.rms > 0))
        return;
    row->flags &= ~(int64_t)SRCFIND_FLAG_OUTSIDE;
    row->x_peak = nearest(p->x);
    row->y_peak = nearest(p->y);
    row->n_pixels = s.n;
    const bool is_cut =
        f->square > 0 &&
        (p->x < f->x || p->y < f->y || p->x > (double)m->forced->pixels->source->width - 1 - f->x ||
         p->y > (double)m->forced->pixels->source->height - 1 - f->y);
    if (is_cut || s.n_missing > 0)
        row->flags |= SRCFIND_FLAG_EDGE;
    if (m->forced->frame && s.model_model < LEAST_MODEL) /* the beam falls between the pixels */
        row->flags |= SRCFIND_FLAG_NOT_FITTED;
    else
        fill_fluxes(m, &s, row);
}

/* --- batches --- */

enum { PLACES_A_PART = 256 };

static void fill_part(void *context, int part) {
    const struct measuring *m = context;
    const int64_t first = (int64_t)part * PLACES_A_PART;
    const int64_t end = first + PLACES_A_PART < m->n ? first + PLACES_A_PART : m->n;
    for (int64_t i = first; i < end; i++)
        fill_row(m, i);
}

static enum srcfind_status measure_batch(struct measuring *m, struct threads *threads,
                                         struct error *error) {
    enum srcfind_status status = make_footprints(m)
                                     ? run_pixels_read(m->forced->pixels, m->footprints, m->n,
                                                       m->n_pixels, threads, &m->pixels, error)
                                     : error_memory(error, "measuring at given positions");
    if (status == SRCFIND_OK)
        threads_run(threads, (int)((m->n + PLACES_A_PART - 1) / PLACES_A_PART), fill_part, m);
    run_pixels_clear(&m->pixels);
    free(m->runs);
    free(m->footprints);
    return status;
}

static enum srcfind_status measure_places(struct measuring *m, int64_t n, struct threads *threads,
                                          struct error *error) {
    enum srcfind_status status = SRCFIND_OK;
    int64_t most = MOST_PIXELS / m->footprint.n_most;
    most = most < 1 ? 1 : most < MOST_PLACES ? most : MOST_PLACES;
    for (struct place *const end = m->places + n; status == SRCFIND_OK && m->places < end;
         m->places += m->n) {
        m->n = end - m->places < most ? end - m->places : most;
        status = measure_batch(m, threads, error);
    }
    return status;
}

/* Fills the world columns of n rows, from the first on. Sky coordinates are those that were given,
 * or else those of the pixels; a shape is the beam's, which is constant in pixels. */
static enum srcfind_status fill_sky(const struct measuring *m, const struct tensor *beam,
                                    int64_t first, int n, struct error *error) {
    const struct tensor unknown = {NAN, NAN, NAN};
    const struct forced *f = m->forced;
    const struct positions *p = f->positions;
    struct srcfind_source *rows = m->rows;
    struct pixel_shape shapes[AT_ONCE] = {0};
    for (int i = 0; i < n; i++) {
        const bool has_beam_shape = rows[first + i].flags & SRCFIND_FLAG_BEAM_SHAPE;
        shapes[i] = (struct pixel_shape){.position = unknown,
                                         .second = has_beam_shape ? *beam : unknown,
                                         .x_highest = NAN,
                                         .y_highest = NAN};
    }
    const enum srcfind_status status =
        world_columns_fill(f->wcs, f->metadata, beam, n, shapes, rows + first, error);
    for (int64_t i = first; p->celestial && i < first + n; i++) {
        rows[i].lon = p->x[m->entries[i].number];
        rows[i].lat = p->y[m->entries[i].number];
        world_columns_name(f->metadata, &rows[i]);
    }
    return status;
}

static enum srcfind_status fill_world(const struct measuring *m, struct error *error) {
    const struct forced *f = m->forced;
    const struct tensor beam = f->frame ? beam_frame_moments(f->frame) : (struct tensor){0};
    const int64_t n = m->n_rows;
    enum srcfind_status status = SRCFIND_OK;
    for (int64_t i = 0; f->wcs && status == SRCFIND_OK && i < n; i += AT_ONCE)
        status = fill_sky(m, &beam, i, (int)(n - i < AT_ONCE ? n - i : AT_ONCE), error);
    return status;
}

/* The row of an entry before it is measured; in pixels it has the beam's size. */
static struct srcfind_source row_of_entry(const struct forced *f, const struct entry *entry) {
    const struct tensor unknown = {NAN, NAN, NAN};
    const struct setting *setting = f->setting;
    struct srcfind_source row = setting_empty_row(f->positions->id[entry->number]);
    row.x = entry->x;
    row.y = entry->y;
    row.flags = setting->flags | SRCFIND_FLAG_OUTSIDE;
    double *const empty[] = {&row.e_x,        &row.e_y,          &row.isl_total_flux,
                             &row.total_flux, &row.e_total_flux, &row.e_isl_total_flux,
                             &row.peak_flux,  &row.e_peak_flux,  &row.isl_rms,
                             &row.isl_mean,   &row.snr};
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++)
        *empty[i] = NAN;
    setting_empty_pixels(&row);
    const struct tensor beam = beam_frame_moments(&setting->frame);
    setting_size_in_pixels(&beam, &unknown, &row);
    return row;
}

/* Makes the rows, which are empty yet, and measures those in the image. */
static enum srcfind_status make_rows(struct measuring *m, struct threads *threads,
                                     struct error *error) {
    m->rows = arrays_allocate(m->n_rows, sizeof *m->rows);
    struct place *const places = m->places = arrays_allocate(m->n_rows, sizeof *places);
    enum srcfind_status status = SRCFIND_OK;
    if (!m->rows || !places)
        status = error_memory(error, "measuring at given positions");
    for (int64_t i = 0; status == SRCFIND_OK && i < m->n_rows; i++)
        m->rows[i] = row_of_entry(m->forced, &m->entries[i]);
    if (status == SRCFIND_OK)
        status = measure_places(m, list_places(m, places), threads, error);
    free(places);
    return status == SRCFIND_OK ? fill_world(m, error) : status;
}

enum srcfind_status forced_measure(const struct forced *forced, struct threads *threads,
                                   struct srcfind_source **rows, int64_t *n_rows,
                                   struct error *error) {
    struct measuring m = {.forced = forced, .footprint = make_footprint(forced->frame)};
    enum srcfind_status status = locate(&m, error);
    if (status == SRCFIND_OK)
        status = make_rows(&m, threads, error);
    free(m.entries);
    if (status != SRCFIND_OK) {
        free(m.rows);
        m.rows = NULL;
    }
    *rows = m.rows;
    *n_rows = m.rows ? m.n_rows : 0;
    return status;
}
