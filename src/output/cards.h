/* Builds the header of a FITS HDU, card by card. */
#ifndef CARDS_H
#define CARDS_H

#include <stdbool.h>
#include <stdint.h>

struct cards {
    char *text; /* CARD characters each, without a NUL */
    int64_t n, capacity;
    bool no_memory; /* a card could not be added */
};

void cards_add_logical(struct cards *cards, const char *keyword, bool value);
void cards_add_integer(struct cards *cards, const char *keyword, int64_t value);
/* Adds no card for a value that is not finite. */
void cards_add_real(struct cards *cards, const char *keyword, double value);
/* Adds a finite number, with a point also if it is whole: casacore complains of a reference pixel
 * that is an integer. */
void cards_add_pixel(struct cards *cards, const char *keyword, double value);
/* Adds no card for an empty text, and several for a long one. */
void cards_add_text(struct cards *cards, const char *keyword, const char *value);
/* Adds a text to the HISTORY, or as a COMMENT, in as many cards as it needs. */
void cards_add_history(struct cards *cards, const char *text);
void cards_add_comment(struct cards *cards, const char *text);
/* Adds a card of another header, of CARD characters, as it is. */
void cards_copy(struct cards *cards, const char *card);

/* Adds the END card, and blank cards up to a whole number of FITS blocks. False if this or an
 * earlier card could not be added. */
bool cards_end(struct cards *cards);
void cards_clear(struct cards *cards);

#endif
