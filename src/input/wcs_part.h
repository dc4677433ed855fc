/* Some axes of WCSLIB's coordinates by themselves. */
#ifndef WCS_PART_H
#define WCS_PART_H

struct wcsprm;

/* The most axes that are converted. WCSLIB's own limit is 32. */
enum { MOST_AXES = 32 };

/* What WCSLIB returns where memory ran out. */
enum { WCS_PART_MEMORY = 2 };

/* Sets *part to a copy of n axes, or of all if n is 0, which is not set up yet. axes has their
 * numbers, from 1. Returns WCSLIB's status: *part is NULL unless it is 0. The caller frees it. */
int wcs_part_copy(const struct wcsprm *whole, int n, const int *axes, struct wcsprm **part);

/* Repairs nonstandard keywords and sets up what was copied. Returns WCSLIB's status. */
int wcs_part_set_up(struct wcsprm *part);

/* WCSLIB's words for its status. */
const char *wcs_part_words(int status);

/* part may be NULL. */
void wcs_part_free(struct wcsprm *part);

#endif
