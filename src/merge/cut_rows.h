/* Finds pieces of sources that an edge or blank pixels cut, if another image has the whole source.
 * Their centres are too far from the centre of the source for duplicates by distance. */
#ifndef CUT_ROWS_H
#define CUT_ROWS_H

#include "merge/duplicates.h"
#include "merge/merged_rows.h"

/* Sets the bits in `duplicates` of cut rows whose island lies inside an island of another image
 * that is not cut. A row is cut if it touches an edge or blank pixels. The n images are `order` of
 * `images`. Reads all rows twice, and uses 128 bytes for each cut row that is no duplicate yet.
 * False with errno. */
bool cut_rows_find(const struct spool *spool, const struct merged_image *images,
                   const int32_t *order, int64_t n, const struct reach *reach,
                   uint64_t *duplicates);

#endif
