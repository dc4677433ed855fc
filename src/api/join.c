#include "api/join.h"

#include <math.h>
#include <stdlib.h>

#include "api/sources.h"
#include "common/arrays.h"
#include "measure/scale_islands.h"
#include "measure/setting.h"

/* --- some of the sources --- */

/* New numbers of rows and islands, from 1; 0: left out. */
struct numbers {
    int64_t *of_row, *of_island;
};

/* Numbers the rows that are kept, and the islands that have one; rows are in the order of islands.
 */
static bool number(const struct sources *s, const bool *keeps, struct numbers *numbers) {
    const int64_t n_islands = s->n > 0 ? s->rows[s->n - 1].island_id : 0;
    int64_t n = 0, last = 0, n_kept = 0;
    numbers->of_row = calloc((size_t)s->n + 1, sizeof *numbers->of_row);
    numbers->of_island = calloc((size_t)n_islands + 1, sizeof *numbers->of_island);
    if (!numbers->of_row || !numbers->of_island)
        return false;
    for (int64_t i = 0; i < s->n; i++) {
        if (!keeps[i])
            continue;
        numbers->of_row[i] = ++n;
        n_kept += s->rows[i].island_id != last;
        last = s->rows[i].island_id;
        numbers->of_island[last - 1] = n_kept;
    }
    return true;
}

/* Keeps the labels that have new numbers. */
static void renumber_labels(struct labels *labels, const int64_t *numbers) {
    int64_t n = 0;
    for (int64_t i = 0; i < labels->n; i++) {
        struct labelled_run run = labels->runs[i];
        run.label = run.label > 0 ? (int32_t)numbers[run.label - 1] : 0;
        if (run.label > 0)
            labels->runs[n++] = run;
    }
    labels->n = n;
}

/* Keeps the Gaussians of these rows, which are in the order of the rows. A row without a fit has
 * none. */
static void keep_gaussians(struct sources *s, const bool *keeps) {
    int64_t n = 0, from = 0;
    for (int64_t i = 0; i < s->n; i++) {
        const bool is_fitted = !(s->rows[i].flags & SRCFIND_FLAG_NOT_FITTED);
        for (int64_t k = 0; is_fitted && k < s->rows[i].n_gaussians; k++, from++)
            if (keeps[i])
                s->gaussians[n++] = s->gaussians[from];
    }
    s->n_gaussians = n;
}

/* Keeps rows that have new numbers. Returns how many. */
static int64_t renumber_rows(struct srcfind_source *rows, int64_t n_rows,
                             const struct numbers *numbers) {
    int64_t n = 0;
    for (int64_t i = 0; i < n_rows; i++) {
        struct srcfind_source row = rows[i];
        row.id = numbers->of_row[row.id - 1];
        row.island_id = numbers->of_island[row.island_id - 1];
        if (row.id > 0)
            rows[n++] = row;
    }
    return n;
}

/* Keeps some of the rows, with their Gaussians and labels, and numbers them and their islands. The
 * sources are those that sources_make has made: nothing has joined them. */
static bool keep(struct sources *s, const bool *keeps) {
    struct numbers numbers = {NULL, NULL};
    const bool ok = number(s, keeps, &numbers);
    if (ok) {
        keep_gaussians(s, keeps);
        renumber_labels(&s->labels[LABEL_ISLANDS], numbers.of_island);
        renumber_labels(&s->labels[LABEL_SOURCES], numbers.of_row);
        s->n_parts = renumber_rows(s->parts, s->n_parts, &numbers);
        s->n = renumber_rows(s->rows, s->n, &numbers);
    }
    free(numbers.of_row);
    free(numbers.of_island);
    return ok;
}

bool keep_certain(struct sources *s) {
    bool *keeps = arrays_allocate(s->n, sizeof *keeps);
    for (int64_t i = 0; keeps && i < s->n; i++)
        keeps[i] = !(s->rows[i].flags & SRCFIND_FLAG_BEAM_SHAPE) ||
                   fabs(s->rows[i].total_flux) > s->rows[i].e_total_flux;
    const bool ok = keeps && keep(s, keeps);
    free(keeps);
    return ok;
}

/* --- what joins --- */

/* Whether the fit of a row bears out that it is the rest of a source, as its island said: near it,
 * with more flux than its error, and with less than the source has. */
static bool is_rest(const struct srcfind_source *row, const struct srcfind_source *source,
                    double reach) {
    return !(row->flags & SRCFIND_FLAG_NOT_FITTED) &&
           scale_islands_distance(source, row->x, row->y) <= reach &&
           row->total_flux > row->e_total_flux && row->total_flux < source->total_flux;
}

/* The rows that are added, in the order of the sources that they join. */
struct joining {
    int64_t source; /* from 0 */
    const struct srcfind_source *row;
};

static int by_source(const void *a, const void *b) {
    const struct joining *p = a, *q = b;
    return p->source != q->source ? (p->source > q->source) - (p->source < q->source)
                                  : (p->row > q->row) - (p->row < q->row);
}

/* Adds the fluxes of a row to those of a source. What all Gaussians must have, as flags, a
 * Gaussian of a scale has not. */
static void add_fluxes(struct srcfind_source *source, const struct srcfind_source *row) {
    source->total_flux += row->total_flux;
    source->e_total_flux = hypot(source->e_total_flux, row->e_total_flux);
    source->e_total_shape = hypot(source->e_total_shape, row->e_total_shape);
    source->n_gaussians += row->n_gaussians;
    source->s_code[0] = 'M';
    source->flags &=
        ~(int64_t)(SRCFIND_FLAG_BEAM_SHAPE | SRCFIND_FLAG_NARROW | SRCFIND_FLAG_UNCERTAIN_TOTAL);
    source->flags |= row->flags & SRCFIND_FLAG_EDGE;
    if (source->e_total_flux > fabs(source->total_flux) / 2)
        source->flags |= SRCFIND_FLAG_UNCERTAIN_TOTAL;
}

/* Copies the Gaussians of a row, which are now those of a source. parts: these, where there are
 * several. */
static void put_parts(struct sources *s, const struct srcfind_source *row,
                      const struct srcfind_source *parts, const struct srcfind_source *source) {
    const bool is_one = row->n_gaussians == 1;
    for (int64_t i = 0; i < row->n_gaussians; i++) {
        struct srcfind_source *part = &s->parts[s->n_parts++];
        *part = is_one ? *row : parts[i];
        part->id = source->id;
        part->island_id = source->island_id;
        part->s_code[0] = 'M';
        part->n_gaussians = SRCFIND_EMPTY;
        part->flags &= ~(int64_t)SRCFIND_FLAG_SINGLE_PIXEL;
        if (is_one)
            setting_empty_pixels(part);
    }
}

/* Adds the rows [*k, n) that join source i. first_part: of each row of `more`. */
static void join_source(struct sources *s, int64_t i, const struct srcfind_source *parts,
                        const struct joining *joining, int64_t n, int64_t *k,
                        const struct sources *more, const int64_t *first_part) {
    struct srcfind_source *source = &s->rows[i];
    const bool joins = *k < n && joining[*k].source == i;
    if (source->n_gaussians > 1 || joins)
        put_parts(s, source, parts, source);
    for (; *k < n && joining[*k].source == i; ++*k) {
        const struct srcfind_source *row = joining[*k].row;
        put_parts(s, row, more->parts + first_part[row - more->rows], source);
        add_fluxes(source, row);
    }
}

/* Sets where the Gaussians of each row begin in the rows of Gaussians, and lists the rows by
 * source. target: the source of each row. */
static void list_joining(const struct sources *more, const int64_t *target, struct joining *joining,
                         int64_t *first_part) {
    int64_t part = 0;
    for (int64_t i = 0; i < more->n; i++) {
        first_part[i] = part;
        part += more->rows[i].n_gaussians > 1 ? more->rows[i].n_gaussians : 0;
        joining[i] = (struct joining){target[i], &more->rows[i]};
    }
    qsort(joining, (size_t)more->n, sizeof *joining, by_source);
}

/* Adds rows of Gaussians, and fluxes. target: the source of each row. */
static bool join(struct sources *s, const struct sources *more, const int64_t *target,
                 struct joining *joining, int64_t *first_part) {
    struct srcfind_source *const before = s->parts;
    const struct srcfind_source *part = before;
    int64_t most = s->n_parts + more->n + more->n_parts;
    list_joining(more, target, joining, first_part);
    for (int64_t k = 0; k < more->n; k++)
        most += s->rows[joining[k].source].n_gaussians == 1;
    s->parts = arrays_allocate(most, sizeof *s->parts);
    s->n_parts = 0;
    for (int64_t i = 0, k = 0; s->parts && i < s->n; i++) {
        const int64_t several = s->rows[i].n_gaussians > 1 ? s->rows[i].n_gaussians : 0;
        join_source(s, i, part, joining, more->n, &k, more, first_part);
        part += several;
    }
    free(before);
    return s->parts;
}

/* Keeps the rows that are the rest of the source that their island joins. Sets the source of each.
 */
static bool keep_rests(const struct sources *s, struct sources *more, const int64_t *source,
                       double reach, int64_t *target) {
    bool *keeps = arrays_allocate(more->n, sizeof *keeps);
    int64_t n = 0;
    for (int64_t i = 0; keeps && i < more->n; i++) {
        const int64_t its = source[more->rows[i].island_id - 1];
        keeps[i] = is_rest(&more->rows[i], &s->rows[its], reach);
        if (keeps[i])
            target[n++] = its;
    }
    const bool ok = keeps && keep(more, keeps);
    free(keeps);
    return ok;
}

bool join_sources(struct sources *sources, struct sources *more, const int64_t *source,
                  double reach) {
    struct joining *joining = arrays_allocate(more->n, sizeof *joining);
    int64_t *first_part = arrays_allocate(more->n, sizeof *first_part);
    int64_t *target = arrays_allocate(more->n, sizeof *target);
    const bool ok =
        joining && first_part && target && keep_rests(sources, more, source, reach, target) &&
        sources_append_gaussians(sources, more) && join(sources, more, target, joining, first_part);
    free(joining);
    free(first_part);
    free(target);
    return ok;
}
