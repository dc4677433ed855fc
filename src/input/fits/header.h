/* The text of a FITS header: 80-character cards, and the values of their keywords. Numbers may have
 * Fortran's D exponents. Unreadable values count as missing. */
#ifndef HEADER_H
#define HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

/* Bytes of a card, and of the blocks that a FITS file is made of. */
enum { CARD = 80, FITS_BLOCK = 2880 };

struct header {
    char *cards; /* n_cards * CARD characters, without END, then a NUL; owned */
    int64_t n_cards;
};

/* Each function reads the value of the first card with a keyword. False if there is no such card or
 * its value is of another type; *value is then unchanged. */
bool header_integer(const struct header *header, const char *keyword, int64_t *value);
bool header_real(const struct header *header, const char *keyword, double *value);
bool header_logical(const struct header *header, const char *keyword, bool *value);
/* `value`, of `size` characters, gets the text without quotes and trailing blanks. The text is
 * truncated to fit; unprintable characters become '?'. */
bool header_text(const struct header *header, const char *keyword, char *value, size_t size);

/* header_real for a keyword that may be missing: false only if its value is no number. */
bool header_optional_real(const struct header *header, const char *keyword, double *value);

/* Returns the first card with a keyword from card *i on, and sets *i to the card after it; NULL if
 * there is none. */
const char *header_next(const struct header *header, const char *keyword, int64_t *i);

/* Whether the value of a card is a number and nothing else. */
bool header_card_is_number(const char *card);

/* A keyword with a number, as NAXIS2. */
struct keyword {
    char text[24];
};
struct keyword header_keyword(const char *stem, int number);

/* header_integer for such a keyword. */
bool header_indexed(const struct header *header, const char *stem, int number, int64_t *value);

/* Reads a number, which may have a D exponent, at the beginning of a text of `length` characters.
 * *used is the number of characters read. False if there is no finite number. */
bool header_parse_real(const char *text, size_t length, double *value, size_t *used);

/* Copies the cards that have a value as FITS allows it, or nearly so. In the copy D exponents are E
 * exponents, all texts have a closing quote, and all characters are printable. The caller frees the
 * copy. NULL if memory ran out. */
char *header_repair(const struct header *header, int *n_cards);

/* The number of cards before END, of n cards; *ended is whether there is an END. */
int64_t header_count_cards(const char *cards, int64_t n, bool *ended);

/* Copies the cards of a text, up to END; NULL is a text without cards. An error if the text is not
 * a series of 80-character cards. The caller clears the header, also after an error. */
enum srcfind_status header_from_text(struct header *header, const char *text, struct error *error);

void header_clear(struct header *header);

#endif
