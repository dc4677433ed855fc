/* Finds the parts of sources that the edge of an image, or blank pixels, cut off, and that another
 * image has whole. Their centres are too far from that of the source to be duplicates by distance.
 */
#ifndef CUT_ROWS_H
#define CUT_ROWS_H

#include "merge/duplicates.h"
#include "merge/merged_rows.h"

/* Sets the bits in `duplicates` of rows that touch an edge or blank pixels and whose island lies
 * inside an island of another image that does not, of n images, `order` of `images`. Reads all rows
 * twice, and uses 128 bytes for each such row that is no duplicate yet. False with errno. */
bool cut_rows_find(const struct spool *spool, const struct merged_image *images,
                   const int32_t *order, int64_t n, const struct reach *reach,
                   uint64_t *duplicates);

#endif
