#include "input/fits/header.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/ascii.h"
#include "common/parse_number.h"

/* The length of a keyword, and the first column of a value. */
enum { KEYWORD = 8, VALUE = 10 };

static bool has_keyword(const char *card, const char *keyword) {
    const size_t length = strlen(keyword);
    if (length > KEYWORD || memcmp(card, keyword, length) != 0)
        return false;
    for (size_t i = length; i < KEYWORD; i++)
        if (card[i] != ' ')
            return false;
    return true;
}

const char *header_next(const struct header *header, const char *keyword, int64_t *i) {
    while (*i < header->n_cards) {
        const char *card = header->cards + CARD * (*i)++;
        if (has_keyword(card, keyword))
            return card;
    }
    return NULL;
}

/* The index in a card at which its value begins; CARD if it has no value. */
static size_t begin_of_value(const char *card) {
    size_t at = VALUE;
    while (at < CARD && card[at] == ' ')
        at++;
    return at;
}

/* The value field of the first card with a keyword: the text after "= " without leading blanks, of
 * *length characters. NULL if there is none. */
static const char *value_of(const struct header *header, const char *keyword, size_t *length) {
    int64_t i = 0;
    const char *card = header_next(header, keyword, &i);
    if (!card || card[KEYWORD] != '=')
        return NULL;
    const size_t at = begin_of_value(card);
    *length = CARD - at;
    return card + at;
}

bool header_parse_real(const char *text, size_t length, double *value, size_t *used) {
    char digits[CARD + 1], *end;
    size_t n = 0;
    for (; n < length && n < CARD && text[n] && strchr("+-.0123456789EeDd", text[n]); n++)
        digits[n] = text[n] == 'D' || text[n] == 'd' ? 'E' : text[n];
    digits[n] = '\0';
    const double number = parse_in_c_locale(digits, &end);
    *used = (size_t)(end - digits);
    if (*used == 0 || !isfinite(number))
        return false;
    *value = number;
    return true;
}

/* Whether a text has only blanks, or blanks and a comment. */
static bool is_comment(const char *text, size_t length) {
    while (length > 0 && *text == ' ') {
        text++;
        length--;
    }
    return length == 0 || *text == '/';
}

static bool ends_value(const char *text, size_t length) {
    return length == 0 || *text == ' ' || *text == '/' || *text == '\0';
}

bool header_real(const struct header *header, const char *keyword, double *value) {
    size_t length, used;
    double number;
    const char *text = value_of(header, keyword, &length);
    if (!text || !header_parse_real(text, length, &number, &used) ||
        !ends_value(text + used, length - used))
        return false;
    *value = number;
    return true;
}

bool header_optional_real(const struct header *header, const char *keyword, double *value) {
    int64_t i = 0;
    return header_real(header, keyword, value) || !header_next(header, keyword, &i);
}

/* Integers are read by strtoll, since a double cannot hold all of 64 bits. A real number with a
 * zero fraction (-32768.0) is accepted, too. */
bool header_integer(const struct header *header, const char *keyword, int64_t *value) {
    char digits[CARD + 1], *end;
    size_t length;
    double number;
    const char *text = value_of(header, keyword, &length);
    if (!text)
        return false;
    memcpy(digits, text, length);
    digits[length] = '\0';
    errno = 0;
    const long long whole = strtoll(digits, &end, 10);
    if (end != digits && !errno && ends_value(end, strlen(end))) {
        *value = whole;
        return true;
    }
    if (!header_real(header, keyword, &number) || number != floor(number) || fabs(number) > 0x1p53)
        return false;
    *value = (int64_t)number;
    return true;
}

struct keyword header_keyword(const char *stem, int number) {
    struct keyword keyword;
    snprintf(keyword.text, sizeof keyword.text, "%s%d", stem, number);
    return keyword;
}

bool header_indexed(const struct header *header, const char *stem, int number, int64_t *value) {
    return header_integer(header, header_keyword(stem, number).text, value);
}

bool header_card_is_number(const char *card) {
    const size_t at = begin_of_value(card);
    size_t used;
    double ignored;
    return card[KEYWORD] == '=' && header_parse_real(card + at, CARD - at, &ignored, &used) &&
           is_comment(card + at + used, CARD - at - used);
}

bool header_logical(const struct header *header, const char *keyword, bool *value) {
    size_t length;
    const char *text = value_of(header, keyword, &length);
    if (!text || length == 0 || (*text != 'T' && *text != 'F'))
        return false;
    *value = *text == 'T';
    return true;
}

bool header_text(const struct header *header, const char *keyword, char *value, size_t size) {
    size_t length, n = 0;
    const char *text = value_of(header, keyword, &length);
    if (!text || length == 0 || *text != '\'')
        return false;
    for (size_t i = 1; i < length && n + 1 < size; i++) {
        if (text[i] == '\'' && !(i + 1 < length && text[++i] == '\''))
            break; /* a single quote ends the text, two are a quote in the text */
        value[n++] = ascii_is_printable(text[i]) ? text[i] : '?';
    }
    while (n > 0 && value[n - 1] == ' ')
        n--;
    value[n] = '\0';
    return true;
}

/* --- repairs --- */

/* Changes the D exponent of a number to E. False if the value is not a number. */
static bool repair_number(char *value, size_t length) {
    double ignored;
    size_t used;
    if (!header_parse_real(value, length, &ignored, &used) ||
        !is_comment(value + used, length - used))
        return false;
    for (size_t i = 0; i < used; i++)
        if (value[i] == 'D' || value[i] == 'd')
            value[i] = 'E';
    return true;
}

/* Adds the closing quote to a text that has none. False if the value is not a text, or is followed
 * by anything but a comment. */
static bool repair_text(char *value, size_t length) {
    size_t end = 1;
    if (*value != '\'')
        return false;
    while (end < length && (value[end] != '\'' || (end + 1 < length && value[end + 1] == '\'')))
        end += value[end] == '\'' ? 2 : 1; /* two quotes are a quote in the text */
    if (end < length)
        return is_comment(value + end + 1, length - end - 1);
    if (length < 2)
        return false;
    value[length - 1] = '\'';
    if (value[length - 2] == '\'')
        value[length - 2] = ' ';
    return true;
}

/* False if a card cannot be repaired, or has no value. */
static bool repair_card(char *card) {
    const size_t at = begin_of_value(card);
    if (*card == ' ' || card[KEYWORD] != '=' || card[KEYWORD + 1] != ' ')
        return false;
    if (at == CARD)
        return false;
    if (repair_number(card + at, CARD - at))
        return true;
    if (card[at] == 'T' || card[at] == 'F')
        return is_comment(card + at + 1, CARD - at - 1);
    return repair_text(card + at, CARD - at);
}

char *header_repair(const struct header *header, int *n_cards) {
    char *copy = malloc((size_t)header->n_cards * CARD + 1);
    *n_cards = 0;
    if (!copy)
        return NULL;
    for (int64_t i = 0; i < header->n_cards; i++) {
        char *card = copy + CARD * (int64_t)*n_cards;
        memcpy(card, header->cards + CARD * i, CARD);
        for (int j = 0; j < CARD; j++)
            if (card[j] < ' ' || card[j] > '~')
                card[j] = ' ';
        *n_cards += repair_card(card);
    }
    copy[CARD * (int64_t)*n_cards] = '\0';
    return copy;
}

static bool is_end(const char *card) {
    return memcmp(card, "END     ", 8) == 0;
}

int64_t header_count_cards(const char *cards, int64_t n, bool *ended) {
    int64_t i = 0;
    while (i < n && !is_end(cards + CARD * i))
        i++;
    *ended = i < n;
    return i;
}

enum srcfind_status header_from_text(struct header *header, const char *text, struct error *error) {
    const size_t length = text ? strlen(text) : 0;
    bool ended;
    *header = (struct header){.cards = calloc(length + 1, 1)};
    if (!header->cards)
        return error_memory(error, "reading a header");
    if (length > 0)
        memcpy(header->cards, text, length);
    header->n_cards = header_count_cards(header->cards, (int64_t)length / CARD, &ended);
    header->cards[header->n_cards * CARD] = '\0';
    if (length > 0 && strchr(text, '\n'))
        return error_set(error, SRCFIND_ERROR_OPTIONS,
                         "pixels in memory: the header has lines: cards of 80 characters each are "
                         "wanted, without anything between them");
    if (length % CARD == 0 || ended)
        return SRCFIND_OK;
    return error_set(error, SRCFIND_ERROR_OPTIONS,
                     "pixels in memory: the header's %zu characters are not cards of 80 each",
                     length);
}

void header_clear(struct header *header) {
    free(header->cards);
    *header = (struct header){0};
}
