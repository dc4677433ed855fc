/* How artefacts are found:
 *
 * 1. find_candidates: an index of rows by y tells which rows have a much brighter row near them. It
 *    is asked only where the brightest row of the cells around is so bright. Where no bright source
 *    is near, no pixel is read.
 * 2. list_batch: the pixels within six beams of the candidates are read in batches, in the order
 *    of the rows, as sets of runs that may overlap.
 * 3. find_hole: the lowest pixel, in units of the rms, is the hole. In a negated image the sources
 *    of the image are subtracted first.
 *
 * The rule was chosen on skies that an interferometer made (docs/components.md). Holes of the
 * residual would show some more artefacts, on the skirts of sources; but sources that no Gaussians
 * describe have such holes, too, where the model is too high, and their parts would be suspect.
 *
 * Always: a hole depends on its row, on the pixels, and on the Gaussians in their order, so batches
 * and threads change no bit.
 *
 * Cost: candidates x (113 pixels x FWHM^2 + the Gaussians near them). A beam far wider than that of
 * the image, as a wrong header has it, would make this the longest step by far (is_too_wide). */
#include "measure/artefacts.h"

#include <math.h>
#include <stdlib.h>

#include "common/arrays.h"
#include "measure/model.h"

static const double NEAR = 8, AROUND = 6; /* beams */
static const double BRIGHTER = 5, LEAST = 1.2;
enum {
    BATCH_PIXELS = 1 << 20, /* x threads_batch_scale, about: new memory costs more than batches */
    MOST_PIXELS = 1 << 24,  /* around a row */
    MOST_READS = 32,        /* of a pixel, on average */
    ROWS_A_SHARE = 256,
    SETS_A_SHARE = 16,
    LEAST_SIDE = 16 /* of a cell, in pixels */
};

/* Square cells of the image, whose side is more than the distance of rows that are near each other:
 * those near a row are in its cell and the eight around it. */
struct cells {
    double side;
    int64_t n_x, n_y;
    double *peak; /* of the brightest row, of either image: peak[j * n_x + i]; 0: there is none */
};

struct artefacts {
    const struct artefact_image *image;
    struct srcfind_source *rows;
    int64_t n;
    const struct row_index *own;
    struct row_index opposite;
    struct cells cells;
    struct model model;
    bool *is_candidate;
    int64_t *candidates; /* numbers of rows, in their order */
    int64_t n_candidates;
};

/* n candidates from `first` on, and the pixels around them. */
struct batch {
    const struct artefacts *all;
    int64_t first, n, n_pixels;
    int64_t most_sets, most_runs; /* of a batch; of a set */
    struct run *runs;             /* of set i, from i * most_runs on */
    struct run_set *sets;
    struct run_pixels pixels;
};

/* --- brighter rows --- */

static int64_t cell_at(double position, double side, int64_t n) {
    const double cell = position / side; /* NaN becomes 0 */
    return cell > 0 ? cell < (double)n ? (int64_t)cell : n - 1 : 0;
}

static void add_peaks(const struct cells *c, int64_t j, const struct row_index *index) {
    const int64_t end =
        j + 1 < c->n_y ? row_index_first(index, (double)(j + 1) * c->side) : index->n;
    double *peak = c->peak + j * c->n_x;
    for (int64_t i = j > 0 ? row_index_first(index, (double)j * c->side) : 0; i < end; i++) {
        const struct placed_row *at = &index->rows[i];
        const int64_t cell = cell_at(at->x, c->side, c->n_x);
        peak[cell] = fmax(peak[cell], fabs(at->row->peak_flux));
    }
}

/* Finds the peaks of a row of cells. */
static void find_peaks(void *context, int j) {
    const struct artefacts *a = context;
    add_peaks(&a->cells, j, a->own);
    add_peaks(&a->cells, j, &a->opposite);
}

/* Makes the cells. False where memory ran out. */
static bool make_cells(struct artefacts *a, struct threads *threads) {
    const double more = 1.01; /* than errors of rounding */
    struct cells *c = &a->cells;
    c->side = fmax(more * NEAR * a->image->fwhm, LEAST_SIDE);
    c->n_x = (int64_t)((double)a->image->width / c->side) + 1;
    c->n_y = (int64_t)((double)a->image->height / c->side) + 1;
    c->peak = calloc((size_t)(c->n_x * c->n_y), sizeof *c->peak);
    if (c->peak)
        threads_run(threads, (int)c->n_y, find_peaks, a);
    return c->peak;
}

/* Whether a much brighter row is in the cell of a row, or beside it. */
static bool may_have_brighter(const struct cells *c, const struct srcfind_source *row) {
    const double peak = BRIGHTER * fabs(row->peak_flux);
    const int64_t x = cell_at(row->x, c->side, c->n_x), y = cell_at(row->y, c->side, c->n_y);
    for (int64_t j = y > 0 ? y - 1 : 0; j <= y + 1 && j < c->n_y; j++)
        for (int64_t i = x > 0 ? x - 1 : 0; i <= x + 1 && i < c->n_x; i++)
            if (c->peak[j * c->n_x + i] > peak)
                return true;
    return false;
}

static bool has_brighter(const struct row_index *index, const struct srcfind_source *row,
                         double distance) {
    const double peak = BRIGHTER * fabs(row->peak_flux);
    for (int64_t i = row_index_first(index, row->y - distance);
         i < index->n && index->rows[i].y < row->y + distance; i++)
        if (placed_row_is_near(&index->rows[i], row->x, row->y, distance) &&
            fabs(index->rows[i].row->peak_flux) > peak)
            return true;
    return false;
}

static void check_share(void *context, int share) {
    const struct artefacts *a = context;
    const double distance = NEAR * a->image->fwhm;
    const int64_t first = (int64_t)share * ROWS_A_SHARE;
    for (int64_t i = first; i < a->n && i < first + ROWS_A_SHARE; i++) {
        a->rows[i].hole = NAN;
        a->is_candidate[i] = may_have_brighter(&a->cells, &a->rows[i]) &&
                             (has_brighter(a->own, &a->rows[i], distance) ||
                              has_brighter(&a->opposite, &a->rows[i], distance));
    }
}

static bool find_candidates(struct artefacts *a, struct threads *threads) {
    a->is_candidate = arrays_allocate(a->n, sizeof *a->is_candidate);
    a->candidates = arrays_allocate(a->n, sizeof *a->candidates);
    if (!a->is_candidate || !a->candidates ||
        !row_index_make(&a->opposite, a->image->opposite, a->image->n_opposite, threads) ||
        !make_cells(a, threads))
        return false;
    threads_run(threads, (int)((a->n + ROWS_A_SHARE - 1) / ROWS_A_SHARE), check_share, a);
    for (int64_t i = 0; i < a->n; i++)
        if (a->is_candidate[i])
            a->candidates[a->n_candidates++] = i;
    return true;
}

/* --- pixels around candidates --- */

/* The whole numbers first ... last within `half` of `centre`, of 0 ... n - 1. */
struct interval {
    int64_t first, last;
};

static struct interval interval_around(double centre, double half, int64_t n) {
    const double low = fmax(ceil(centre - half), 0), high = fmin(centre + half, (double)(n - 1));
    return low <= high ? (struct interval){(int64_t)low, (int64_t)high} : (struct interval){0, -1};
}

/* The pixels around a row, about; at most all of the image. */
static double pixels_around(const struct artefact_image *image) {
    const double radius = AROUND * image->fwhm;
    return fmin(M_PI * radius * radius, (double)image->width * (double)image->height);
}

/* Makes room for the sets of a batch. False where memory ran out. */
static bool make_batch(struct batch *b, const struct artefacts *a, const struct threads *threads) {
    const struct artefact_image *image = a->image;
    const double pixels = (double)BATCH_PIXELS * threads_batch_scale(threads);
    const double sets = ceil(pixels / pixels_around(image));
    const double runs = fmin(2 * AROUND * image->fwhm + 2, (double)image->height); /* rounding: 1 */
    *b = (struct batch){.all = a,
                        .most_sets = (int64_t)fmin(sets, (double)a->n_candidates),
                        .most_runs = (int64_t)runs};
    b->sets = arrays_allocate(b->most_sets, sizeof *b->sets);
    b->runs = arrays_allocate(b->most_sets * b->most_runs, sizeof *b->runs);
    return b->sets && b->runs;
}

static void clear_batch(struct batch *b) {
    run_pixels_clear(&b->pixels);
    free(b->runs);
    free(b->sets);
}

/* Lists the pixels around a row in a set, whose member `first` becomes their number. */
static void list_around(const struct artefact_image *image, const struct srcfind_source *row,
                        struct run *runs, struct run_set *set) {
    const double radius = AROUND * image->fwhm;
    const struct interval y = interval_around(row->y, radius, image->height);
    *set = (struct run_set){runs, 0, 0};
    for (int64_t line = y.first; line <= y.last; line++) {
        const double dy = (double)line - row->y;
        const struct interval x =
            interval_around(row->x, sqrt(fmax(0, radius * radius - dy * dy)), image->width);
        runs[set->n++] = (struct run){(int32_t)line, (int32_t)x.first, (int32_t)x.last};
        set->first += x.last - x.first + 1;
    }
}

static void list_share(void *context, int share) {
    const struct batch *b = context;
    const struct artefacts *a = b->all;
    const int64_t begin = (int64_t)share * SETS_A_SHARE;
    for (int64_t i = begin; i < b->n && i < begin + SETS_A_SHARE; i++)
        list_around(a->image, &a->rows[a->candidates[b->first + i]], b->runs + i * b->most_runs,
                    &b->sets[i]);
}

/* Lists the pixels around the candidates from `first` on, as many as a batch takes. */
static void list_batch(struct batch *b, int64_t first, struct threads *threads) {
    const int64_t left = b->all->n_candidates - first;
    b->first = first;
    b->n = left < b->most_sets ? left : b->most_sets;
    b->n_pixels = 0;
    threads_run(threads, (int)((b->n + SETS_A_SHARE - 1) / SETS_A_SHARE), list_share, b);
    for (int64_t i = 0; i < b->n; i++) {
        const int64_t n = b->sets[i].first;
        b->sets[i].first = b->n_pixels;
        b->n_pixels += n;
    }
}

/* Whether rows are so close together, in beams, that the beam cannot be that of the image. */
static bool is_too_wide(const struct artefacts *a) {
    const double image = (double)a->image->width * (double)a->image->height;
    const double around = pixels_around(a->image);
    return around > MOST_PIXELS || (double)a->n_candidates * around > MOST_READS * image;
}

/* --- holes --- */

enum { PART = 128 }; /* pixels of a row that are looked at together */

/* The depth of the deepest of n pixels of a row, from pixel x and index i on, or `depth`. */
static double deepest_in_part(const struct batch *b, int64_t y, int64_t x, int64_t n, int64_t i,
                              double depth) {
    const struct run_pixels *p = &b->pixels;
    double model[PART];
    model_row(&b->all->model, y, x, n, model);
    for (int64_t k = 0; k < n; k++, i++) {
        const double below = (model[k] - ((double)p->value[i] - p->background[i])) / p->rms[i];
        if (below > depth)
            depth = below;
    }
    return depth;
}

/* The depth of the deepest pixel of a set of a batch, in rms; 0: none is below the background. */
static double deepest(const struct batch *b, const struct run_set *set) {
    double depth = 0;
    int64_t i = set->first;
    for (int64_t k = 0; k < set->n; k++) {
        const struct run *run = &set->runs[k];
        for (int64_t x = run->x0, n; x <= run->x1; x += n, i += n) {
            n = run->x1 + 1 - x < PART ? run->x1 + 1 - x : PART;
            depth = deepest_in_part(b, run->y, x, n, i, depth);
        }
    }
    return depth;
}

/* The highest artefact of the opposite image around a row. */
static double opposite_artefact(const struct artefacts *a, const struct srcfind_source *row) {
    const struct row_index *index = &a->opposite;
    const double radius = AROUND * a->image->fwhm;
    double highest = 0;
    for (int64_t i = row_index_first(index, row->y - radius);
         i < index->n && index->rows[i].y < row->y + radius; i++)
        if (placed_row_is_near(&index->rows[i], row->x, row->y, radius) &&
            index->rows[i].row->flags & SRCFIND_FLAG_ARTEFACT)
            highest = fmax(highest, fabs(index->rows[i].row->snr));
    return highest;
}

/* Sets the hole of a candidate of a batch. */
static void find_hole(void *context, int i) {
    const struct batch *b = context;
    const struct artefacts *a = b->all;
    struct srcfind_source *row = &a->rows[a->candidates[b->first + i]];
    row->hole = fmax(deepest(b, &b->sets[i]), opposite_artefact(a, row));
    if (fabs(row->snr) < LEAST * row->hole)
        row->flags |= SRCFIND_FLAG_ARTEFACT;
}

/* Reads the pixels around the candidates, and finds their holes. */
static enum srcfind_status find_holes(const struct artefacts *a, struct threads *threads,
                                      struct error *error) {
    struct batch b;
    enum srcfind_status status =
        make_batch(&b, a, threads) ? SRCFIND_OK : error_memory(error, "looking for artefacts");
    for (int64_t first = 0; status == SRCFIND_OK && first < a->n_candidates; first += b.n) {
        list_batch(&b, first, threads);
        status =
            run_pixels_read(a->image->pixels, b.sets, b.n, b.n_pixels, threads, &b.pixels, error);
        if (status == SRCFIND_OK)
            status = threads_check(threads, error);
        if (status == SRCFIND_OK)
            threads_run(threads, (int)b.n, find_hole, &b);
    }
    clear_batch(&b);
    return status;
}

enum srcfind_status artefacts_find(const struct artefact_image *image,
                                   const struct row_index *index, struct srcfind_source *rows,
                                   int64_t n, struct threads *threads, struct error *error) {
    struct artefacts a = {.image = image, .own = index, .rows = rows, .n = n};
    const struct model_box box = {0, 0, image->width, image->height, MODEL_CELL};
    enum srcfind_status status = SRCFIND_OK;
    if (!find_candidates(&a, threads))
        status = error_memory(error, "looking for artefacts");
    else if (a.n_candidates > 0 && !is_too_wide(&a))
        status = model_make(&a.model, image->gaussians, image->n_gaussians, &box)
                     ? find_holes(&a, threads, error)
                     : error_memory(error, "looking for artefacts");
    model_clear(&a.model);
    row_index_clear(&a.opposite);
    free(a.cells.peak);
    free(a.is_candidate);
    free(a.candidates);
    return status;
}
