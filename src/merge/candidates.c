#include "merge/candidates.h"

#include <math.h>
#include <stdlib.h>

#include "merge/pixel_frame.h"

/* A source of --fit that is highest nowhere in its island has no box. */
static bool has_box(const struct srcfind_source *s) {
    return s->x_min != SRCFIND_EMPTY;
}

/* Whole pixels between the box of a source, or its centre if it has no box, and the nearest edge of
 * the image. */
static int32_t margin_of(const struct merged_image *image, const struct srcfind_source *s) {
    if (image->width < 1 || image->height < 1)
        return 0;
    const double first_x = image->first_x, first_y = image->first_y;
    const double left = (has_box(s) ? (double)s->x_min : s->x) - first_x;
    const double low = (has_box(s) ? (double)s->y_min : s->y) - first_y;
    const double right = first_x + image->width - 1 - (has_box(s) ? (double)s->x_max : s->x);
    const double high = first_y + image->height - 1 - (has_box(s) ? (double)s->y_max : s->y);
    const double margin = fmin(fmin(left, right), fmin(low, high));
    return margin > -INT32_MAX && margin < INT32_MAX ? (int32_t)margin : 0;
}

/* A measurement at a given position has neither a box nor S_Code. */
static bool is_of_position(const struct srcfind_source *s) {
    return !has_box(s) && !*s->s_code;
}

static void add(struct candidates *c, const struct merged_image *image, int64_t i, int64_t row,
                const struct srcfind_source *s) {
    double at[3];
    if (is_of_position(s) || !pixel_frame_position(s, at))
        return;
    c->candidate[c->n++] = (struct candidate){
        .position = {at[0], at[1], at[2]},
        .rms = isfinite(s->isl_rms) ? s->isl_rms : (double)INFINITY,
        .image = (int32_t)i,
        .margin = margin_of(image, s),
        .row = (uint32_t)(image->first + row),
        .scale = (uint16_t)fmin(fmax(SCALE_STEPS * s->scale + 0.5, 0), UINT16_MAX),
        .at_edge = s->flags & SRCFIND_FLAG_EDGE,
        .is_negative = s->flags & SRCFIND_FLAG_NEGATIVE,
    };
}

static bool may_be_artefact(const struct srcfind_source *s) {
    return (s->flags & (SRCFIND_FLAG_ARTEFACT | SRCFIND_FLAG_NEGATIVE)) == SRCFIND_FLAG_ARTEFACT;
}

/* Adds the rows of image i. */
static bool add_image(const struct spool *spool, const struct merged_image *image, int64_t i,
                      struct srcfind_source *rows, struct candidates *c, uint64_t *artefacts) {
    for (int64_t first = 0; first < image->n; first += MERGED_ROWS_AT_ONCE) {
        const int64_t left = image->n - first,
                      n = left < MERGED_ROWS_AT_ONCE ? left : MERGED_ROWS_AT_ONCE;
        if (!spool_read(spool, rows, (size_t)n * sizeof *rows,
                        image->at + first * (int64_t)sizeof *rows))
            return false;
        for (int64_t k = 0; k < n; k++) {
            add(c, image, i, first + k, &rows[k]);
            if (may_be_artefact(&rows[k]))
                row_bit_set(artefacts, image->first + first + k);
        }
    }
    return true;
}

bool candidates_read(const struct spool *spool, const struct merged_image *images,
                     const int32_t *order, int64_t n, struct candidates *c, uint64_t *artefacts) {
    struct srcfind_source *rows = malloc(MERGED_ROWS_AT_ONCE * sizeof *rows);
    int64_t n_rows = 0;
    for (int64_t i = 0; i < n; i++)
        n_rows += images[order[i]].n;
    *c = (struct candidates){.candidate = malloc((size_t)n_rows * sizeof *c->candidate + 1)};
    bool ok = rows && c->candidate;
    for (int64_t i = 0; ok && i < n; i++)
        ok = add_image(spool, &images[order[i]], order[i], rows, c, artefacts);
    free(rows);
    return ok;
}

bool candidates_have_cut(const struct candidates *c, const uint64_t *duplicates) {
    for (int64_t i = 0; i < c->n; i++) {
        if (c->candidate[i].at_edge && !row_bit_is_set(duplicates, c->candidate[i].row))
            return true;
    }
    return false;
}
