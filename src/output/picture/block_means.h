/* An image made small enough for a picture: the means of square blocks of its pixels. */
#ifndef BLOCK_MEANS_H
#define BLOCK_MEANS_H

#include "common/threads.h"
#include "input/pixel_source.h"

struct block_means {
    int64_t block;         /* pixels along a side of a block; those at the right and top are cut */
    int64_t width, height; /* blocks */
    /* The mean of each block, row by row from the bottom, as (value - zero) / unit; NaN where all
     * pixels are blank. */
    float *means;
};

/* Reads an image once, in chunks, and makes at most `most` blocks along each side. Values more than
 * 2^20 units from zero count as that far: the sums are integers, so that the means are the same on
 * any number of threads. unit is above 0. Clear the means also after an error. */
enum srcfind_status block_means_make(struct block_means *means, const struct pixel_source *image,
                                     int64_t most, double zero, double unit,
                                     struct threads *threads, struct error *error);
void block_means_clear(struct block_means *means);

#endif
