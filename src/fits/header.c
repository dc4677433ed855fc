#define _GNU_SOURCE /* strtod_l */
#include "fits/header.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

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

/* The value field of a keyword's first card: the text behind "= " without leading blanks, of
 * *length characters. */
static const char *value_of(const struct header *header, const char *keyword, size_t *length) {
    int64_t i = 0;
    const char *card = header_next(header, keyword, &i);
    if (!card || card[KEYWORD] != '=')
        return NULL;
    size_t at = VALUE;
    while (at < CARD && card[at] == ' ')
        at++;
    *length = CARD - at;
    return card + at;
}

static locale_t c_locale;
static once_flag c_locale_once = ONCE_FLAG_INIT;

static void make_c_locale(void) {
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* strtod, whatever point the program around the library has chosen for its numbers. */
static double parse_in_c_locale(const char *text, char **end) {
    call_once(&c_locale_once, make_c_locale);
    return c_locale ? strtod_l(text, end, c_locale) : strtod(text, end);
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

/* Digits are taken as they are, since a double has too few for 64 bits; -32768.0 will do, too. */
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

bool header_indexed(const struct header *header, const char *stem, int number, int64_t *value) {
    char keyword[32];
    snprintf(keyword, sizeof keyword, "%s%d", stem, number);
    return header_integer(header, keyword, value);
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
            break; /* a quote that is not doubled ends the text */
        value[n++] = isprint((unsigned char)text[i]) ? text[i] : '?';
    }
    while (n > 0 && value[n - 1] == ' ')
        n--;
    value[n] = '\0';
    return true;
}

/* Rewrites the exponent of a card whose value is a number. */
static void rewrite_exponent(char *card) {
    double ignored;
    size_t at = VALUE, used;
    if (card[KEYWORD] != '=')
        return;
    while (at < CARD && card[at] == ' ')
        at++;
    if (!header_parse_real(card + at, CARD - at, &ignored, &used))
        return;
    for (size_t i = at; i < at + used; i++)
        if (card[i] == 'D' || card[i] == 'd')
            card[i] = 'E';
}

char *header_for_wcslib(const struct header *header) {
    const size_t size = (size_t)header->n_cards * CARD;
    char *copy = malloc(size + 1);
    if (!copy)
        return NULL;
    memcpy(copy, header->cards, size);
    copy[size] = '\0';
    for (size_t i = 0; i < size; i++)
        if (copy[i] < ' ' || copy[i] > '~')
            copy[i] = ' ';
    for (int64_t i = 0; i < header->n_cards; i++)
        rewrite_exponent(copy + CARD * i);
    return copy;
}

void header_clear(struct header *header) {
    free(header->cards);
    *header = (struct header){0};
}
