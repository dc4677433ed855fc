/* The matrix from pixels to world coordinates, in each of its spellings: PC and CDELT, CD, CDELT
 * and CROTA. */
#ifndef MATRIX_H
#define MATRIX_H

#include "input/fits/header.h"

struct wcsprm;

/* The most axes that are converted. WCSLIB's own limit is 32. */
enum { MOST_AXES = 32 };

/* If there is a CD, sets its rows without a card, or with a card of PC, from CDELT, PC and CROTA:
 * WCSLIB takes such rows as 0, or ignores CD for all axes. prm: the header as WCSLIB has read it;
 * lat: the axis of latitudes, 0 or 1, whose CROTA counts. */
void matrix_complete(const struct header *header, int lat, struct wcsprm *prm);

/* Whether CDELT, or the rows of CD, of axes 1 and 2 are not 0. If one is 0, `reason`, of
 * SRCFIND_REASON characters, says so. */
bool matrix_has_scales(const struct wcsprm *prm, char *reason);

/* Whether the matrix has no inverse, on which wcsset() loses memory. Also true for more than
 * MOST_AXES axes. */
bool matrix_is_singular(const struct wcsprm *prm);

/* Whether the world coordinates on axes 1 and 2 depend on further axes. */
bool matrix_mixes_axes(const struct wcsprm *prm);

/* Removes the elements that connect axes 1 and 2 with further axes. */
void matrix_separate(struct wcsprm *prm);

/* Multiplies the matrix by CDELT and by the units of axes 1 and 2, which are angles or missing: it
 * is then in degrees. lat: as above. */
void matrix_to_degrees(int lat, struct wcsprm *prm);

#endif
