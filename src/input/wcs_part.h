/* Some axes of WCSLIB's coordinates by themselves. */
#ifndef WCS_PART_H
#define WCS_PART_H

#include <stdbool.h>

struct wcsprm;

/* WCSLIB's status where memory ran out. */
enum { WCS_PART_MEMORY = 2 };

/* Sets *part to a copy of n axes, or of all if n is 0, which is not set up yet. axes has their
 * numbers, from 1. Returns WCSLIB's status: *part is NULL unless it is 0. The caller frees it. */
int wcs_part_copy(const struct wcsprm *whole, int n, const int *axes, struct wcsprm **part);

/* Repairs nonstandard keywords and sets up what was copied. Returns WCSLIB's status. */
int wcs_part_set_up(struct wcsprm *part);

/* Makes WCSLIB keep its messages until wcs_part_end_words, by one thread at a time: WCSLIB leaks
 * memory while it keeps them. If it kept them before, as astropy makes it do, it goes on. False
 * where there is no lock: then wcs_part_end_words must not be called. */
bool wcs_part_begin_words(void);
void wcs_part_end_words(void);

/* WCSLIB's message for its status: the one that it kept of a part, or a general one. part may be
 * NULL. */
const char *wcs_part_words(struct wcsprm *part, int status);

/* Drops the messages that WCSLIB keeps: at the next failure it would leak them. */
void wcs_part_drop_words(struct wcsprm *part);

/* part may be NULL. */
void wcs_part_free(struct wcsprm *part);

#endif
