/* Some axes of WCSLIB's coordinates by themselves. */
#ifndef WCS_PART_H
#define WCS_PART_H

#include <stdbool.h>

struct wcsprm;

/* The status of WCSLIB if memory ran out. */
enum { WCS_PART_MEMORY = 2 };

/* Sets *part to a copy of n axes, or of all if n is 0, which is not set up yet. axes has their
 * numbers, from 1. Returns WCSLIB's status: *part is NULL unless it is 0. The caller frees it. */
int wcs_part_copy(const struct wcsprm *whole, int n, const int *axes, struct wcsprm **part);

/* Repairs nonstandard keywords, and sets a copy up. Returns WCSLIB's status. */
int wcs_part_set_up(struct wcsprm *part);

/* Makes WCSLIB keep its messages until wcs_part_end_words, for one thread at a time, since it leaks
 * memory while it keeps them. If it kept them before, as with astropy, it goes on to keep them.
 * False if there is no lock: wcs_part_end_words must not be called then. */
bool wcs_part_begin_words(void);
void wcs_part_end_words(void);

/* The message of WCSLIB for a status: the one that it kept for a part, which may be NULL, or a
 * general one. */
const char *wcs_part_words(struct wcsprm *part, int status);

/* Frees the messages that WCSLIB keeps: it would lose this memory at the next failure. */
void wcs_part_drop_words(struct wcsprm *part);

/* part may be NULL. */
void wcs_part_free(struct wcsprm *part);

#endif
