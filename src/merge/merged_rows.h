/* The rows of a merged catalogue: rows in the spool, less duplicates. */
#ifndef MERGED_ROWS_H
#define MERGED_ROWS_H

#include "merge/spool.h"
#include "output/table.h"

/* Rows of an image that are read at a time. */
enum { MERGED_ROWS_AT_ONCE = 256 };

/* An image whose catalogue was added. */
struct merged_image {
    struct row_image shown;   /* path is NULL if no catalogue was added; owned */
    char *other_name;         /* see struct merge_input; NULL: the same; owned */
    bool has_sky;             /* it has sky coordinates; else sizes are in pixels */
    char *plane;              /* rows of other planes are no duplicates; NULL: one plane; owned */
    bool is_plane;            /* it is one of several planes */
    int64_t at;               /* of its rows in the spool */
    int64_t n;                /* rows */
    int32_t width, height;    /* of the image or its part, in pixels; 0: not known */
    int32_t first_x, first_y; /* the first pixel of the part, from 0 */
    int64_t first;            /* the number of its first row among all rows that were added */
    int64_t entry;            /* of its JSON in the spool */
    size_t entry_bytes;
    int64_t gaussians_at, n_gaussians; /* the rows of its Gaussians in the spool */
};

/* Where a row of a merged catalogue is: a row of an image that stays, with its number among all
 * rows that stay. */
struct merged_place {
    double key; /* by which rows are sorted; see row_order.h */
    int64_t image, row, number;
};

/* Rows of images, in their order, or in another one. A row whose bit in `duplicates` is set goes
 * or, if duplicates are kept, gets a flag. NULL: there are no duplicates. */
struct merged_rows {
    const struct spool *spool;
    const struct merged_image *images;
    int64_t n_images;
    const uint64_t *duplicates;
    bool keep_duplicates;
    bool has_sky;               /* an image has sky coordinates: merged_rows_make sets it */
    bool are_gaussians;         /* rows are Gaussians, which have flags and numbers already */
    struct merged_place *order; /* merged_order.h; NULL: the order of the images */
    struct row_mark *marks;     /* where each 512th row is */
    int64_t n;                  /* rows that stay */
};

/* Counts the rows that stay, and marks where they are. The caller frees `marks`, also if this
 * fails. */
bool merged_rows_make(struct merged_rows *m);

/* Whether a row of an image is a duplicate, and whether it stays. */
bool merged_rows_is_duplicate(const struct merged_rows *m, const struct merged_image *image,
                              int64_t row);
bool merged_rows_stays(const struct merged_rows *m, const struct merged_image *image, int64_t row);

/* The table of the rows, with columns of the image, and then the columns of the result. `m` and the
 * result must outlive it. */
struct table merged_rows_table(struct merged_rows *m, const struct result *result,
                               bool options_differ);

#endif
