/* Some axes of WCSLIB's coordinates by themselves. */
#ifndef WCS_PART_H
#define WCS_PART_H

struct wcsprm;

/* The size of the text of an error. */
enum { WCS_PART_TEXT = 160 };

/* What WCSLIB returns where memory ran out. */
enum { WCS_PART_MEMORY = 2 };

/* Sets *part to a copy of n axes, or of all if n is 0, which is not set up yet. axes has their
 * numbers, from 1. Returns WCSLIB's status: *part is NULL unless it is 0. The caller frees it. */
int wcs_part_copy(const struct wcsprm *whole, int n, const int *axes, struct wcsprm **part);

/* Repairs nonstandard keywords and sets up what was copied. Returns WCSLIB's status; unless it is
 * 0, `words`, of WCS_PART_TEXT characters or NULL, are WCSLIB's own for what is wrong. */
int wcs_part_set_up(struct wcsprm *part, char *words);

/* part may be NULL. */
void wcs_part_free(struct wcsprm *part);

#endif
