/* Maps of coverage (MOC, IVOA Recommendation 2.0): cells of HEALPix on the sky, in ICRS. */
#ifndef MOC_H
#define MOC_H

#include "input/regions/region_text.h"

/* Whether a text can be that of a MOC: in JSON, or in ASCII, as 6/1 3-5. */
bool moc_is_json(const char *text, const char *end);
bool moc_is_ascii(const char *text, const char *end);

/* Read a MOC of cells of the sky. Clear the regions also after an error. */
enum srcfind_status moc_read_json(struct region_text *text, struct regions *regions);
enum srcfind_status moc_read_ascii(struct region_text *text, struct regions *regions);

/* Sets *is to whether a FITS file has the table of a MOC, or a map of HEALPix, and no image before
 * it. A file that cannot be read has none. */
void moc_is_fits(const char *path, bool *is);

/* Reads the first such table: cells with their order (NUNIQ), or ranges. */
enum srcfind_status moc_read_fits(const char *path, struct regions *regions, struct error *error);

/* Adds the cells first to last of an order. False where memory ran out. */
bool moc_add(struct regions *regions, int order, int64_t first, int64_t last);

/* Sorts the cells, and makes one range of those that touch. */
void moc_finish(struct regions *regions);

/* Whether a cell of order 29 is in a MOC that is finished. */
bool moc_has(const struct regions *regions, int64_t cell);

#endif
