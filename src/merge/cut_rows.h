/* Finds the parts of sources that the edge of an image, or blank pixels, cut off, and that another
 * image has whole. Their centres are too far from that of the source to be duplicates by distance.
 */
#ifndef CUT_ROWS_H
#define CUT_ROWS_H

#include "merge/duplicates.h"
#include "merge/merged_rows.h"
#include "merge/pixel_frame.h"

/* An island: rows that follow each other, with one number, scale and sign. */
struct merged_island {
    int64_t id;
    double scale;
    bool is_negative, is_cut;
    bool has_box, has_place, has_guess;
    int64_t x_min, x_max, y_min, y_max; /* of all its rows */
    double x, y, position[3];           /* of one of them, in pixels and on the sky */
    struct pixel_frame guess;           /* if the rows of its image do not tell the frame */
};

/* A row of an island that touches the edge or a blank pixel. */
struct cut_row {
    uint32_t row;
    int32_t image;
    double scale;
    bool is_negative;
    bool has_frame;
    struct pixel_frame frame;
    /* The box of its island: its centre on the sky and, from there, half of its sides in pixels. At
     * first `centre` is the place of the island, and the offset leads to that of the box. */
    double centre[3], offset_x, offset_y, half_x, half_y;
};

struct image_frame {
    bool is_known;
    struct pixel_frame frame;
};

/* The rows of the images of a plane that are cut, as they are read. */
struct cut_rows {
    struct cut_row *rows; /* owned, as is what follows */
    int64_t n, capacity;
    struct image_frame *frames; /* of all images of the merge */
    /* Private: of the image, and of the island, that is being read. */
    struct pixel_sums sums;
    struct merged_island island;
    bool is_open;
    int64_t first_of_island, first_of_image;
};

/* Begins with n images of the merge. False where memory ran out. Clear it also then. */
bool cut_rows_begin(struct cut_rows *cuts, int64_t n);
void cut_rows_clear(struct cut_rows *cuts);

/* Takes a row of image i, whose rows come one after the other; `row` is its number among all that
 * were added. False where memory ran out. */
bool cut_rows_add(struct cut_rows *cuts, int64_t i, int64_t row,
                  const struct srcfind_source *source);

/* After the last row of image i. */
void cut_rows_end_image(struct cut_rows *cuts, int64_t i);

/* Sets the bits in `duplicates` of rows that touch an edge or blank pixels and whose island lies
 * inside an island of another image that does not, of n images, `order` of `images`. False with
 * errno. */
bool cut_rows_find(struct cut_rows *cuts, const struct spool *spool,
                   const struct merged_image *images, const int32_t *order, int64_t n,
                   const struct reach *reach, uint64_t *duplicates);

#endif
