/* The text of a FITS header: 80-character cards, and the values of keywords in them. Numbers may
 * have Fortran's D exponents. Values that cannot be read count as missing. */
#ifndef HEADER_H
#define HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CARD = 80 };

struct header {
    char *cards; /* n_cards * CARD characters, then a NUL; without END */
    int64_t n_cards;
};

/* Each finds the first card of that keyword; false if there is none or it is of another type, and
 * then *value is as it was. */
bool header_integer(const struct header *header, const char *keyword, int64_t *value);
bool header_real(const struct header *header, const char *keyword, double *value);
bool header_logical(const struct header *header, const char *keyword, bool *value);
/* Without quotes and trailing blanks; cut to fit, and made printable. */
bool header_text(const struct header *header, const char *keyword, char *value, size_t size);

/* The first card at or after *i with this keyword, and *i moved behind it; NULL if there is none.
 */
const char *header_next(const struct header *header, const char *keyword, int64_t *i);

/* Whether a card has a number and nothing else for a value. */
bool header_card_is_number(const char *card);

/* Keyword and number as in NAXIS2, then header_integer. */
bool header_indexed(const struct header *header, const char *stem, int number, int64_t *value);

/* Reads a number that may have a D exponent from the beginning of a text of `length` characters;
 * its length is returned in *used. */
bool header_parse_real(const char *text, size_t length, double *value, size_t *used);

/* A copy of those of the cards, to be freed, that have a value, for WCSLIB's parser, which dies of
 * some that FITS does not allow and never comes back from others: D exponents are E exponents,
 * texts are closed, and what cannot be mended is left out. NULL where memory ran out. */
char *header_for_wcslib(const struct header *header, int *n_cards);

void header_clear(struct header *header);

#endif
