/* The rows of a merged catalogue, in the spool of those that were added. */
#ifndef MERGED_ROWS_H
#define MERGED_ROWS_H

#include "merge/spool.h"
#include "output/table.h"

/* Rows of an image that are read at a time. */
enum { MERGED_ROWS_AT_ONCE = 256 };

/* An image whose catalogue was added. */
struct merged_image {
    struct row_image shown; /* its path is NULL where none was added; owned */
    char *other_name;       /* see struct merge_input; NULL: the same; owned */
    bool has_sky;           /* sky coordinates; else sizes are in pixels */
    char *plane;            /* rows of other planes are no duplicates; NULL: none; owned */
    bool is_plane;          /* of several */
    int64_t at;             /* of its rows in the spool */
    int64_t n;              /* rows */
    int32_t width, height;  /* of the image, in pixels; 0: not known */
    int64_t first;          /* the number of the first of them among all rows that were added */
    int64_t entry;          /* of its JSON in the spool */
    size_t entry_bytes;
    int64_t gaussians_at, n_gaussians; /* the rows of its Gaussians in the spool */
};

/* Rows of images, in their order. A set bit of `duplicates` is that of a row that goes or, if they
 * are kept, gets a flag;
 * NULL: there is none. */
struct merged_rows {
    const struct spool *spool;
    const struct merged_image *images;
    int64_t n_images;
    const uint64_t *duplicates;
    bool keep_duplicates;
    bool has_sky;           /* an image has sky coordinates: merged_rows_make sets it */
    bool are_gaussians;     /* which have their flags, and the numbers of their sources */
    struct row_mark *marks; /* where each 512th row is */
    int64_t n;              /* rows that stay */
};

/* Counts the rows that stay, and finds where they are. False where memory ran out. The caller frees
 * `marks`, also then. */
bool merged_rows_make(struct merged_rows *m);

/* Whether a row of an image is a duplicate, and whether it stays. */
bool merged_rows_is_duplicate(const struct merged_rows *m, const struct merged_image *image,
                              int64_t row);
bool merged_rows_stays(const struct merged_rows *m, const struct merged_image *image, int64_t row);

/* Their table, with the columns of the result, and of images before them. `m` and the result must
 * outlive it. */
struct table merged_rows_table(struct merged_rows *m, const struct result *result,
                               bool options_differ);

#endif
