#include "output/cards.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/arrays.h"
#include "common/ascii.h"
#include "common/format_double.h"
#include "input/fits/header.h"

enum { COMMENTARY = 8, MOST_TEXT = 66 }; /* the first column of a comment; the longest text */

/* Adds a card that begins with `length` characters, and has blanks behind them. Characters other
 * than printable ASCII become `?` (FITS 4.0, section 3.3.2). */
static void add_card(struct cards *cards, const char *text, size_t length) {
    const int64_t n_bytes = (cards->n + 1) * CARD;
    cards->no_memory = cards->no_memory || !GROW(cards->text, cards->capacity, n_bytes);
    if (cards->no_memory)
        return;
    char *card = cards->text + cards->n++ * CARD;
    memset(card, ' ', CARD);
    memcpy(card, text, length < CARD ? length : CARD);
    for (int i = 0; i < CARD; i++)
        card[i] = card[i] >= ' ' && card[i] <= '~' ? card[i] : '?';
}

/* Adds a card whose value ends in column 30 (fixed format). */
static void add_value(struct cards *cards, const char *keyword, const char *value) {
    char card[CARD + 1];
    const int length = snprintf(card, sizeof card, "%-8.8s= %20.60s", keyword, value);
    add_card(cards, card, (size_t)length);
}

void cards_add_logical(struct cards *cards, const char *keyword, bool value) {
    add_value(cards, keyword, value ? "T" : "F");
}

void cards_add_integer(struct cards *cards, const char *keyword, int64_t value) {
    char text[FORMAT_TEXT];
    format_integer(value, text);
    add_value(cards, keyword, text);
}

/* Writes a number with E in its exponent, as FITS wants it. */
static void format_real(double value, char text[FORMAT_TEXT]) {
    format_double(value, text);
    for (char *c = text; *c; c++)
        *c = ascii_upper(*c);
}

void cards_add_real(struct cards *cards, const char *keyword, double value) {
    char text[FORMAT_TEXT];
    if (!isfinite(value))
        return;
    format_real(value, text);
    add_value(cards, keyword, text);
}

void cards_add_pixel(struct cards *cards, const char *keyword, double value) {
    char digits[FORMAT_TEXT], text[FORMAT_TEXT + sizeof ".0"];
    format_real(value, digits);
    snprintf(text, sizeof text, "%s%s", digits, strpbrk(digits, ".E") ? "" : ".0");
    add_value(cards, keyword, text);
}

/* Adds a card with a piece of a text in quotes; & at its end says that the text goes on. */
static void add_quoted(struct cards *cards, const char *keyword, const char *quoted, size_t n,
                       bool goes_on) {
    char card[CARD + 1];
    const bool is_first = *keyword != '\0';
    const int length =
        snprintf(card, sizeof card, "%-8.8s%s'%-8.*s%s'", is_first ? keyword : "CONTINUE",
                 is_first ? "= " : "  ", (int)n, quoted, goes_on ? "&" : "");
    add_card(cards, card, (size_t)length);
}

/* A long text goes on in CONTINUE cards (FITS 4.0, section 4.2.1.2). */
void cards_add_text(struct cards *cards, const char *keyword, const char *value) {
    char quoted[MOST_TEXT + 2];
    size_t n = 0;
    for (; *value; value++) {
        if (n >= MOST_TEXT - 1) {
            add_quoted(cards, keyword, quoted, n, true);
            keyword = "";
            n = 0;
        }
        quoted[n++] = *value;
        if (*value == '\'')
            quoted[n++] = '\''; /* a quote is written twice */
    }
    if (n > 0)
        add_quoted(cards, keyword, quoted, n, false);
}

/* Adds a text under a keyword without a value. */
static void add_commentary(struct cards *cards, const char *keyword, const char *text) {
    const size_t length = strlen(text), most = CARD - COMMENTARY;
    for (size_t at = 0; at < length; at += most) {
        char card[CARD + 1];
        const int n = snprintf(card, sizeof card, "%-8s%.*s", keyword, (int)most, text + at);
        add_card(cards, card, (size_t)n);
    }
}

void cards_add_history(struct cards *cards, const char *text) {
    add_commentary(cards, "HISTORY", text);
}

void cards_add_comment(struct cards *cards, const char *text) {
    add_commentary(cards, "COMMENT", text);
}

void cards_copy(struct cards *cards, const char *card) {
    add_card(cards, card, CARD);
}

bool cards_end(struct cards *cards) {
    add_card(cards, "END", 3);
    while (!cards->no_memory && cards->n * CARD % FITS_BLOCK != 0)
        add_card(cards, "", 0);
    return !cards->no_memory;
}

void cards_clear(struct cards *cards) {
    free(cards->text);
    *cards = (struct cards){0};
}
