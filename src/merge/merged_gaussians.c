#include "merge/merged_gaussians.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS_AT_ONCE = 256 };

/* Counts the sources that stay, to number Gaussians. */
struct source_count {
    const struct merged_rows *sources;
    const struct merged_image *image;
    int64_t row;    /* a row of the image; rows before it were counted */
    int64_t number; /* the number of the last row that stays, among the rows of all images */
};

/* Counts the rows of the image up to the n-th one. */
static void count_to(struct source_count *at, int64_t n) {
    for (; at->row < n; at->row++)
        at->number += merged_rows_stays(at->sources, at->image, at->row);
}

/* Moves the Gaussians whose sources stay to the front, with their new numbers. Returns how many
 * stay. */
static int64_t keep(struct source_count *at, struct srcfind_source *gaussians, int64_t n) {
    int64_t n_kept = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t row = gaussians[i].id - 1;
        count_to(at, row + 1);
        if (!merged_rows_stays(at->sources, at->image, row))
            continue;
        struct srcfind_source *kept = &gaussians[n_kept++];
        *kept = gaussians[i];
        kept->id = at->number;
        if (merged_rows_is_duplicate(at->sources, at->image, row))
            kept->flags |= SRCFIND_FLAG_DUPLICATE;
    }
    return n_kept;
}

/* Keeps the Gaussians of an image. Every source has a Gaussian, so all sources of the image are
 * counted. */
static bool keep_of_image(struct source_count *at, struct srcfind_source *rows,
                          struct merged_image *kept) {
    const struct spool *spool = at->sources->spool;
    const struct merged_image *image = at->image;
    kept->at = image->gaussians_at;
    kept->n = 0;
    for (int64_t first = 0; first < image->n_gaussians; first += ROWS_AT_ONCE) {
        const int64_t left = image->n_gaussians - first;
        const int64_t n = left < ROWS_AT_ONCE ? left : ROWS_AT_ONCE;
        if (!spool_read(spool, rows, (size_t)n * sizeof *rows,
                        image->gaussians_at + first * (int64_t)sizeof *rows))
            return false;
        const int64_t n_kept = keep(at, rows, n);
        if (!spool_write(spool, rows, (size_t)n_kept * sizeof *rows,
                         kept->at + kept->n * (int64_t)sizeof *rows))
            return false;
        kept->n += n_kept;
    }
    return true;
}

bool merged_gaussians_make(const struct merged_rows *sources, struct merged_rows *gaussians) {
    const size_t size = (size_t)sources->n_images * sizeof *sources->images;
    struct srcfind_source *rows = malloc(ROWS_AT_ONCE * sizeof *rows);
    struct merged_image *images = malloc(size + 1);
    *gaussians = (struct merged_rows){.spool = sources->spool,
                                      .images = images,
                                      .n_images = sources->n_images,
                                      .are_gaussians = true};
    bool ok = rows && images;
    if (ok)
        memcpy(images, sources->images, size);
    struct source_count at = {.sources = sources};
    for (int64_t i = 0; ok && i < sources->n_images; i++) {
        at.image = &sources->images[i];
        at.row = 0;
        ok = keep_of_image(&at, rows, &images[i]);
    }
    free(rows);
    return ok && merged_rows_make(gaussians);
}

void merged_gaussians_clear(struct merged_rows *gaussians) {
    free((void *)gaussians->images);
    free(gaussians->marks);
}
