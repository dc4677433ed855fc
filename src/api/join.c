#include "api/join.h"

#include <math.h>
#include <stdlib.h>

#include "api/sources.h"
#include "common/arrays.h"
#include "measure/setting.h"

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

/* Sets where the Gaussians of each row begin in the rows of Gaussians, and lists the rows that have
 * a fit. Returns how many these are. */
static int64_t list_joining(const struct sources *more, const int64_t *source,
                            struct joining *joining, int64_t *first_part) {
    int64_t n = 0, part = 0;
    for (int64_t i = 0; i < more->n; i++) {
        const struct srcfind_source *row = &more->rows[i];
        first_part[i] = part;
        part += row->n_gaussians > 1 ? row->n_gaussians : 0;
        if (!(row->flags & SRCFIND_FLAG_NOT_FITTED))
            joining[n++] = (struct joining){source[row->island_id - 1], row};
    }
    qsort(joining, (size_t)n, sizeof *joining, by_source);
    return n;
}

static bool join(struct sources *s, const struct sources *more, const struct joining *joining,
                 int64_t n, const int64_t *first_part) {
    struct srcfind_source *const before = s->parts;
    const struct srcfind_source *part = before;
    int64_t most = s->n_parts + n + more->n_parts;
    for (int64_t k = 0; k < n; k++)
        most += s->rows[joining[k].source].n_gaussians == 1;
    s->parts = arrays_allocate(most, sizeof *s->parts);
    s->n_parts = 0;
    for (int64_t i = 0, k = 0; s->parts && i < s->n; i++) {
        const int64_t several = s->rows[i].n_gaussians > 1 ? s->rows[i].n_gaussians : 0;
        join_source(s, i, part, joining, n, &k, more, first_part);
        part += several;
    }
    free(before);
    return s->parts;
}

bool join_sources(struct sources *sources, const struct sources *more, const int64_t *source) {
    struct joining *joining = arrays_allocate(more->n, sizeof *joining);
    int64_t *first_part = arrays_allocate(more->n, sizeof *first_part);
    bool ok = joining && first_part && sources_append_gaussians(sources, more);
    if (ok) {
        const int64_t n = list_joining(more, source, joining, first_part);
        ok = join(sources, more, joining, n, first_part);
    }
    free(joining);
    free(first_part);
    return ok;
}
