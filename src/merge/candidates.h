/* The rows of a merged catalogue that may be duplicates. */
#ifndef CANDIDATES_H
#define CANDIDATES_H

#include "merge/duplicates.h"
#include "merge/merged_rows.h"

struct candidates {
    struct candidate *candidate; /* to be freed */
    int64_t n;
};

/* Reads the rows of n images, `order` of `images`, and takes those with a position on the sky. Rows
 * of --at are no candidates: each image measures its own. They are known by their empty cells, also
 * in CSV. Sets the bits of positive rows that may be artefacts. False with errno. */
bool candidates_read(const struct spool *spool, const struct merged_image *images,
                     const int32_t *order, int64_t n, struct candidates *candidates,
                     uint64_t *artefacts);

/* Whether a candidate that is no duplicate touches an edge or a blank pixel. */
bool candidates_have_cut(const struct candidates *candidates, const uint64_t *duplicates);

#endif
