/* The sources that were added to the images of a merged catalogue, to see which are found. */
#ifndef MERGED_COMPLETENESS_H
#define MERGED_COMPLETENESS_H

#include "merge/spool.h"
#include "output/catalogue.h"

/* Those of an image, in the spool. */
struct merged_injections {
    int64_t at; /* all of a width, one width after the other */
    int64_t n_a_width;
    int n_widths; /* 0: none are known */
    double widths[SCALES_MOST + 1];
    double area; /* that they are spread over, square degrees; pixels without sky coordinates */
};

/* Adds those of a catalogue to the spool. False with errno. */
bool merged_injections_keep(struct spool *spool, const struct srcfind_catalogue *catalogue,
                            struct merged_injections *kept);

/* Makes one list of those of n > 0 images of the same widths, with weights: all of an image
 * together have its area. Of many images each gives only its first ones, so that there are some
 * 200,000 of a width. The caller frees list->all. False with errno. */
bool merged_injections_list(const struct spool *spool, const struct merged_injections *const *kept,
                            int64_t n, struct injections *list);

#endif
