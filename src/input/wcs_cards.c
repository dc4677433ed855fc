#include "input/wcs_cards.h"

#include <stdlib.h>
#include <string.h>

#include "input/distortions.h"
#include "input/fits/keyword_pattern.h"
#include "input/matrix.h"

/* Cards that are added. WCSAXES is at least 2, since WCSLIB writes to two axes if there is a
 * distortion. PLATEID is empty, since WCSLIB copies a name of any length to 8 bytes, and comes
 * first, since WCSLIB forgets numbers of a plate before it. */
static const char AXES[] = "WCSAXES =                    2", PLATE[] = "PLATEID = '    '";

enum { ADDED = 2 };

/* Whether a card is of the primary coordinates, and not of a distortion. */
static bool is_coordinate(const char *card) {
    static const char *const patterns[] = {"CTYPE#", "CUNIT#", "CNAME#", "CRPIX#", "CRVAL#",
                                           "CDELT#", "CROTA#", "CD#_#", "PC#_#", "CD@@", "PC@@",
                                           "PV#_%", "PS#_%", "PROJP%", "LONPOLE", "LATPOLE",
                                           "RADESYS", "RADECSYS", "EQUINOX", "EPOCH",
                                           /* what frequencies and velocities refer to */
                                           "RESTFRQ", "RESTFREQ", "RESTWAV", "SPECSYS", "SSYSOBS",
                                           "SSYSSRC", "VELREF", "VELOSYS", "ZSOURCE"};
    return keyword_fits_one(card, patterns, sizeof patterns / sizeof *patterns, MOST_AXES);
}

/* Whether a card has the number of axes, and WCSLIB has room for so many. */
static bool is_number_of_axes(char *card) {
    const struct header alone = {card, 1};
    int64_t n;
    return (header_integer(&alone, "NAXIS", &n) || header_integer(&alone, "WCSAXES", &n)) &&
           n >= 0 && n <= MOST_AXES;
}

/* Whether the text of a card does not end within it: WCSLIB then takes a part of the next cards for
 * it, and writes beyond its memory. */
static bool is_text_open(const char *card) {
    int i = 9; /* behind the keyword and the = */
    while (i < CARD && card[i] == ' ')
        i++;
    if (i == CARD || card[i] != '\'')
        return false;
    for (i++; i < CARD; i++) {
        if (card[i] == '\'' && (i + 1 == CARD || card[i + 1] != '\''))
            return false;
        i += card[i] == '\''; /* two of them are one of the text */
    }
    return true;
}

static void add(char *cards, int *n_cards, const char *text) {
    char *card = cards + (size_t)CARD * (size_t)(*n_cards)++;
    memset(card, ' ', CARD);
    memcpy(card, text, strlen(text));
}

char *wcs_cards_make(const struct header *header, int *n_cards, char *left_out) {
    struct distortions distortions;
    int n_repaired;
    char *repaired = header_repair(header, &n_repaired);
    char *cards = malloc((size_t)CARD * ((size_t)header->n_cards + ADDED) + 1);
    *n_cards = 0;
    if (repaired && cards) {
        const struct header whole = {repaired, n_repaired};
        distortions_read(&whole, &distortions);
        if (left_out)
            distortions_describe(&distortions, left_out);
        add(cards, n_cards, AXES);
        if (distortions.has_plate)
            add(cards, n_cards, PLATE);
        for (int i = 0; i < n_repaired; i++) {
            char *card = repaired + (size_t)CARD * (size_t)i;
            const bool is_used = distortions_use(&distortions, card);
            if (is_used)
                distortions_spell(card);
            if ((is_used || is_coordinate(card) || is_number_of_axes(card)) && !is_text_open(card))
                memcpy(cards + (size_t)CARD * (size_t)(*n_cards)++, card, CARD);
        }
        cards[(size_t)CARD * (size_t)*n_cards] = '\0';
    }
    if (!repaired) {
        free(cards);
        cards = NULL;
    }
    free(repaired);
    return cards;
}
