/* The options of a search in the HISTORY of a FITS header. */
#ifndef OPTION_CARDS_H
#define OPTION_CARDS_H

#include "options/options.h"
#include "output/cards.h"

/* Adds a card that says what srcfind made, and one for each option that shapes it; options may be
 * NULL. Paths are left out, since files may be moved. */
void option_cards_add(struct cards *cards, const char *what, const struct options *options);

#endif
