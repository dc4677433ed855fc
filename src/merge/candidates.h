/* The rows of a merged catalogue that may be duplicates. */
#ifndef CANDIDATES_H
#define CANDIDATES_H

#include "merge/cut_rows.h"

struct candidates {
    struct candidate *candidate;
    int64_t n;
    struct cut_rows cuts; /* those among them that are cut */
};

/* Reads the rows of n images, `order` of all n_images, and takes those on the sky. Measurements at
 * given positions are none of them, each image has its own: their rows tell, those that were read
 * from CSV, too. False with errno. Clear them also then. */
bool candidates_read(const struct spool *spool, const struct merged_image *images, int64_t n_images,
                     const int32_t *order, int64_t n, struct candidates *candidates);
void candidates_clear(struct candidates *candidates);

#endif
