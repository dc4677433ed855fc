#include "input/wat.h"

#include <stdlib.h>
#include <string.h>

#include "input/fits/keyword_pattern.h"

/* The characters of a text in one card, and the cards of an axis that WCSLIB reads. */
enum { PART = 68, MOST_PARTS = 99 };

struct wat {
    char text[MOST_PARTS * PART + 1];
};

static const char *const names[] = {"tnx", "zpx"};

/* --- the text --- */

/* The number of the part in a card, 3 for WAT1_003; 0 if the card is not of this axis. */
static int part_of(const char *card, int axis) {
    enum { NUMBER = 5, LAST = 7 };
    const bool is_part = keyword_fits(card, axis == 1 ? "WAT1_%" : "WAT2_%", 0);
    return is_part && card[LAST] != ' ' ? atoi(card + NUMBER) : 0;
}

bool wat_has_part(const char *card) {
    return part_of(card, 1) > 0 || part_of(card, 2) > 0;
}

/* Reads the text of a card with the blanks at its end. False if the value is no text, or has a
 * quote. */
static bool read_part(const char *card, char part[PART + 1]) {
    enum { VALUE = 10 };
    const char *begin = memchr(card + VALUE, '\'', CARD - VALUE);
    if (!begin)
        return false;
    begin++;
    const char *end = memchr(begin, '\'', (size_t)(card + CARD - begin));
    const size_t length = end ? (size_t)(end - begin) : PART + 1;
    if (length > PART || (end + 1 < card + CARD && end[1] == '\''))
        return false;
    memcpy(part, begin, length);
    part[length] = '\0';
    return true;
}

/* Joins the parts of an axis. False unless they are in order, and all but the last of full length:
 * WCSLIB writes each part to an offset by its number. */
static bool join(const struct header *header, int axis, struct wat *wat) {
    int n = 0;
    *wat->text = '\0';
    for (int64_t i = 0; i < header->n_cards; i++) {
        const char *card = header->cards + CARD * i;
        const int part = part_of(card, axis);
        if (part == 0)
            continue;
        if (part != n + 1 || part > MOST_PARTS || strlen(wat->text) != (size_t)n * PART ||
            !read_part(card, wat->text + (size_t)n * PART))
            return false;
        n++;
    }
    return n > 0;
}

/* --- what it says --- */

/* The index of the type of a text; -1 for another type. */
static int type_of(const char *text) {
    static const char before[] = "wtype=";
    const char *name = text + strlen(before);
    if (strncmp(text, before, strlen(before)) != 0)
        return -1;
    for (int i = 0; i < 2; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0 && name[strlen(names[i])] == ' ')
            return i;
    return -1;
}

/* Reads a number, and moves behind the next blank, as WCSLIB does. */
static bool read_number(const char **at, double *value) {
    size_t used;
    if (**at == ' ' || !header_parse_real(*at, strlen(*at), value, &used))
        return false;
    const char *blank = strchr(*at + used, ' ');
    *at = blank ? blank + 1 : *at;
    return blank;
}

/* The number of coefficients of a polynomial; 0 if WCSLIB cannot read it. control: type, orders in
 * x and y, and cross terms. */
static int count_terms(const double control[4]) {
    enum { MOST_ORDER = 20 };
    for (int i = 0; i < 4; i++)
        if (control[i] != (int)control[i])
            return 0;
    const int kind = (int)control[0], x = (int)control[1], y = (int)control[2];
    const int cross = (int)control[3], least = x < y ? x : y;
    if (kind < 1 || kind > 3 || x < 1 || x > MOST_ORDER || y < 1 || y > MOST_ORDER)
        return 0;
    return cross == 0   ? x + y - 1
           : cross == 1 ? x * y
           : cross == 2 ? x * y - least * (least - 1) / 2
                        : 0;
}

/* Whether a polynomial is complete: four numbers of its type, four of its domain, and its
 * coefficients. */
static bool has_polynomial(const char *text) {
    double control[4], number;
    const char *at = strchr(text, '"');
    if (!at)
        return false;
    at++;
    for (int i = 0; i < 4; i++)
        if (!read_number(&at, &control[i]))
            return false;
    const int n = count_terms(control);
    for (int i = 0; i < n + 4; i++)
        if (!read_number(&at, &number))
            return false;
    return n > 0;
}

/* Whether each projp of ZPX has a number up to 29, and a value. */
static bool has_parameters(const char *text) {
    static const char name[] = "projp";
    double value;
    size_t used;
    while ((text = strstr(text, name))) {
        text += strlen(name);
        const size_t digits = strspn(text, "0123456789");
        if (digits < 1 || digits > 2 || atoi(text) > 29 || text[digits] != '=' ||
            !header_parse_real(text + digits + 1, strlen(text + digits + 1), &value, &used))
            return false;
    }
    return true;
}

bool wat_is_usable(const struct header *header) {
    struct wat axes[2];
    for (int i = 0; i < 2; i++)
        if (!join(header, i + 1, &axes[i]) || type_of(axes[i].text) < 0 ||
            !has_polynomial(axes[i].text) || !has_parameters(axes[i].text))
            return false;
    return type_of(axes[0].text) == type_of(axes[1].text);
}

bool wat_has_polynomials(const struct header *header) {
    for (int64_t i = 0; i < header->n_cards; i++) {
        const char *card = header->cards + CARD * i;
        char part[PART + 1];
        if ((part_of(card, 1) == 1 || part_of(card, 2) == 1) && read_part(card, part) &&
            type_of(part) >= 0)
            return true;
    }
    return false;
}
