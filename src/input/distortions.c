/* How a distortion is chosen:
 *
 * 1. SIP is used if a term of its polynomials is a number within their orders; else the polynomials
 *    of TNX and ZPX, if WCSLIB can read them (wat.c); else a plate of the Digitized Sky Survey, if
 *    all of its cards are there.
 * 2. All other distortions are listed: records of CPDIS, CQDIS and D2IMDIS, polynomials without an
 *    order, coefficients beyond those that WCSLIB knows.
 * 3. wcs_cards.c asks of each card whether it belongs to the distortion that is used.
 *
 * At most one distortion is applied, and WCSLIB sees no card of another: on incomplete ones it
 * reads memory that was never written. The note on those left out says how much they matter. */
#include "input/distortions.h"

#include <stdio.h>
#include <string.h>

#include "common/ascii.h"
#include "common/texts.h"
#include "input/fits/keyword_pattern.h"
#include "input/wat.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

/* --- SIP --- */

static const char *const polynomials[] = {"A_", "B_", "AP_", "BP_"};

/* The polynomial that a card is a term of; -1 for other cards. *order: of the term. */
static int term_of(const char *card, int *order) {
    static const char *const terms[] = {"A_%_%", "B_%_%", "AP_%_%", "BP_%_%"};
    for (int i = 0; i < COUNT(terms); i++) {
        const char *powers = card + strlen(polynomials[i]);
        if (keyword_fits(card, terms[i], 0) && powers[1] == '_' && powers[3] == ' ') {
            *order = powers[0] - '0' + powers[2] - '0';
            return i;
        }
    }
    return -1;
}

/* Whether a card is a term that is used: a number, and not above the order of its polynomial. */
static bool is_sip(const struct distortions *d, const char *card) {
    int order;
    const int i = term_of(card, &order);
    return i >= 0 && order <= d->orders[i] && header_card_is_number(card);
}

/* Whether a card has the order of a polynomial, or its largest value. */
static bool is_about_sip(const char *card) {
    static const char *const keywords[] = {"A_ORDER",  "B_ORDER", "AP_ORDER",
                                           "BP_ORDER", "A_DMAX",  "B_DMAX"};
    return keyword_fits_one(card, keywords, COUNT(keywords), 0) && header_card_is_number(card);
}

static void read_orders(const struct header *header, struct distortions *d) {
    for (int i = 0; i < COUNT(polynomials); i++) {
        char keyword[16];
        int64_t order = -1;
        snprintf(keyword, sizeof keyword, "%sORDER", polynomials[i]);
        header_integer(header, keyword, &order);
        d->orders[i] = order < 0 ? -1 : order > 18 ? 18 : (int)order; /* 18: powers 9 and 9 */
    }
}

/* --- plates of the Digitized Sky Survey --- */

/* The cards of a plate that WCSLIB reads. If one is missing, WCSLIB uses memory that was never
 * written. */
static const char *const numbers_of_plate[] = {
    "CNPIX1",  "CNPIX2",  "PPO3",    "PPO6",  "XPIXELSZ", "YPIXELSZ", "PLTRAH", "PLTRAM", "PLTRAS",
    "PLTDECD", "PLTDECM", "PLTDECS", "AMDX1", "AMDX2",    "AMDX3",    "AMDY1",  "AMDY2",  "AMDY3"};

/* The coefficients that WCSLIB knows; others are of colours and magnitudes. */
enum { MOST_AMD = 13 };

static bool is_amd(const char *card, int first, int last) {
    return (keyword_fits(card, "AMDX#", last) || keyword_fits(card, "AMDY#", last)) &&
           !keyword_fits(card, "AMDX#", first - 1) && !keyword_fits(card, "AMDY#", first - 1);
}

/* The sign of the declination of a plate, + for a blank text; NUL if the text is no sign. */
static char sign_of(const char *card) {
    const char *text = memchr(card, '\'', CARD);
    char sign = '+';
    int n = 0;
    for (const char *c = text; c && ++c < card + CARD && *c != '\'';)
        if (*c != ' ') {
            sign = *c;
            n++;
        }
    return (char)(text && n <= 1 && (sign == '+' || sign == '-') ? sign : '\0');
}

static bool is_plate(const char *card) {
    if (keyword_fits(card, "PLTDECSN", 0))
        return sign_of(card);
    return header_card_is_number(card) &&
           (is_amd(card, 1, MOST_AMD) || keyword_fits(card, "PPO#", 6) ||
            keyword_fits_one(card, numbers_of_plate, COUNT(numbers_of_plate), 0));
}

/* Whether no card of a plate is missing. */
static bool plate_is_complete(const struct header *header) {
    double number;
    int64_t i_sign = 0;
    for (int i = 0; i < COUNT(numbers_of_plate); i++)
        if (!header_real(header, numbers_of_plate[i], &number))
            return false;
    const char *card = header_next(header, "PLTDECSN", &i_sign);
    return card && sign_of(card);
}

/* --- distortions that are left out --- */

/* Adds a name to the list of distortions left out, or `...` if the list is long. */
static void leave_out(struct distortions *d, const char *name, const char *kind) {
    enum { LONG = 60 };
    const size_t length = strlen(d->left_out);
    if (length < LONG)
        texts_append(d->left_out, sizeof d->left_out, "%s%.24s%s%.16s%s", *d->left_out ? ", " : "",
                     name, *kind ? " (" : "", kind, *kind ? ")" : "");
    else if (strcmp(d->left_out + length - 3, "...") != 0)
        texts_append(d->left_out, sizeof d->left_out, ", ...");
    d->has_tables_alone = d->has_tables_alone && (!*kind || ascii_same(kind, "LOOKUP"));
}

/* Cuts the ampersand of a text that goes on in a card CONTINUE, and the blanks before it. */
static void cut_continuation(char *text) {
    size_t length = strlen(text);
    if (length == 0 || text[length - 1] != '&')
        return;
    do
        text[--length] = '\0';
    while (length > 0 && text[length - 1] == ' ');
}

/* Leaves out the distortions of a convention on the first two axes: those that are named or, if
 * none is, records without a name. */
static void leave_out_records(const struct header *header, const char *name, const char *record,
                              struct distortions *d) {
    bool has_name = false;
    for (int axis = 1; axis <= 2; axis++) {
        char kind[SRCFIND_TEXT] = "";
        const struct keyword keyword = header_keyword(name, axis);
        const bool has_text = header_text(header, keyword.text, kind, sizeof kind);
        cut_continuation(kind);
        if (has_text && *kind) {
            leave_out(d, keyword.text, kind);
            has_name = true;
        }
    }
    for (int axis = 1; axis <= 2 && !has_name; axis++) {
        int64_t i = 0;
        const struct keyword keyword = header_keyword(record, axis);
        if (header_next(header, keyword.text, &i))
            leave_out(d, keyword.text, "");
    }
}

/* Leaves out polynomials of SIP without an order. */
static void leave_out_polynomials(const struct header *header, struct distortions *d) {
    for (int i = 0; i < 2; i++) {
        char kind[16];
        int order;
        int64_t k = 0;
        while (k < header->n_cards && term_of(header->cards + CARD * k, &order) != i)
            k++;
        snprintf(kind, sizeof kind, "no %sORDER", polynomials[i]);
        if (d->orders[i] < 0 && k < header->n_cards)
            leave_out(d, i == 0 ? "A_p_q" : "B_p_q", kind);
    }
}

/* Leaves out the coefficients of a plate that WCSLIB does not know, or all if the plate is not
 * used. */
static void leave_out_plate(const struct header *header, struct distortions *d) {
    for (int64_t i = 0; i < header->n_cards; i++) {
        const char *card = header->cards + CARD * i;
        char name[16];
        double value = 0;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(card, " ="), card);
        header_real(header, name, &value);
        if (is_amd(card, d->has_plate ? MOST_AMD + 1 : 1, 99) && value != 0) {
            leave_out(d, name, "plate");
            return;
        }
    }
}

/* --- all --- */

void distortions_read(const struct header *header, struct distortions *d) {
    *d = (struct distortions){.has_tables_alone = true};
    read_orders(header, d);
    for (int64_t i = 0; i < header->n_cards; i++)
        d->has_sip = d->has_sip || is_sip(d, header->cards + CARD * i);
    d->has_wat = !d->has_sip && wat_is_usable(header);
    d->has_plate = !d->has_sip && !d->has_wat && plate_is_complete(header);
    leave_out_records(header, "CPDIS", "DP", d);
    leave_out_records(header, "CQDIS", "DQ", d);
    leave_out_records(header, "D2IMDIS", "D2IM", d);
    leave_out_polynomials(header, d);
    if (!d->has_sip)
        leave_out_plate(header, d);
    if (!d->has_wat && wat_has_polynomials(header))
        leave_out(d, "WAT1_001", "polynomials");
}

bool distortions_use(const struct distortions *d, const char *card) {
    return is_about_sip(card) || (d->has_sip && is_sip(d, card)) ||
           (d->has_wat && wat_has_part(card)) || (d->has_plate && is_plate(card));
}

void distortions_spell(char *card) {
    char text[CARD + 1];
    if (!keyword_fits(card, "PLTDECSN", 0))
        return;
    snprintf(text, sizeof text, "PLTDECSN= '%c       '", sign_of(card));
    memset(card, ' ', CARD);
    memcpy(card, text, strlen(text));
}

void distortions_describe(const struct distortions *d, char *text) {
    *text = '\0';
    if (*d->left_out)
        snprintf(text, SRCFIND_REASON, "distortions are left out: %s: positions are those %s, %s",
                 d->left_out,
                 d->has_sip     ? "of SIP alone"
                 : d->has_wat   ? "of WAT1_001"
                 : d->has_plate ? "of the plate"
                                : "without them",
                 d->has_tables_alone
                     ? "and tables as those of Hubble move positions by milliarcseconds"
                     : "and may be wrong by many pixels");
}
