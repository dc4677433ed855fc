#include "input/regions/moc.h"

#include <stdlib.h>
#include <string.h>

#include "common/arrays.h"
#include "common/parse_number.h"
#include "input/regions/healpix.h"

/* --- ranges --- */

bool moc_add(struct regions *r, int order, int64_t first, int64_t last) {
    const int bits = 2 * (HEALPIX_ORDER - order);
    r->is_moc = true;
    if (!GROW(r->ranges, r->ranges_capacity, r->n_ranges + 1))
        return false;
    r->ranges[r->n_ranges++] = (struct moc_range){first << bits, (last + 1) << bits};
    return true;
}

static int by_first(const void *a, const void *b) {
    const struct moc_range *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

void moc_finish(struct regions *r) {
    int64_t n = 0;
    if (r->n_ranges > 0)
        qsort(r->ranges, (size_t)r->n_ranges, sizeof *r->ranges, by_first);
    for (int64_t i = 0; i < r->n_ranges; i++) {
        const struct moc_range next = r->ranges[i];
        if (n > 0 && next.first <= r->ranges[n - 1].end)
            r->ranges[n - 1].end =
                next.end > r->ranges[n - 1].end ? next.end : r->ranges[n - 1].end;
        else
            r->ranges[n++] = next;
    }
    r->n_ranges = n;
}

bool moc_has(const struct regions *r, int64_t cell) {
    int64_t low = 0, high = r->n_ranges; /* the ranges below `low` begin at the cell or before it */
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (r->ranges[middle].first <= cell)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && cell < r->ranges[low - 1].end;
}

/* --- text --- */

static const char *skip_blanks(const char *at, const char *end) {
    while (at < end && strchr(" \t\r\n", *at))
        at++;
    return at;
}

static bool is_digit(const char *at, const char *end) {
    return at < end && *at >= '0' && *at <= '9';
}

bool moc_is_json(const char *at, const char *end) {
    at = skip_blanks(at, end);
    if (at == end || *at != '{')
        return false;
    at = skip_blanks(at + 1, end);
    return at < end && (*at == '"' || *at == '}');
}

bool moc_is_ascii(const char *at, const char *end) {
    at = skip_blanks(at, end);
    if (at < end && strchr("st", *at)) /* of space or time */
        at++;
    const char *digits = at;
    while (is_digit(at, end))
        at++;
    return at > digits && at < end && *at == '/';
}

/* Moves behind blanks, and counts their lines. */
static void next_word(struct region_text *t) {
    const char *at = skip_blanks(t->next, t->end);
    for (; t->next < at; t->next++)
        t->line += *t->next == '\n';
}

/* The word at which a text is, for a message. */
static struct region_word word_at(const struct region_text *t) {
    size_t n = 0;
    while (t->next + n < t->end && n < 20 && !strchr(" \t\r\n", t->next[n]))
        n++;
    return (struct region_word){t->next, n};
}

/* Moves behind a character and blanks; false if another one is there. */
static bool take(struct region_text *t, char c) {
    if (t->next >= t->end || *t->next != c)
        return false;
    t->next++;
    next_word(t);
    return true;
}

static enum srcfind_status refuse_end(const struct region_text *t) {
    return error_set(t->error, SRCFIND_ERROR_INPUT,
                     "%s: line %lld: the map of coverage ends too early: is the file complete?",
                     t->path, (long long)t->line);
}

/* Reads a whole number of at most `most`, of which a message says what it is. */
static enum srcfind_status read_number(struct region_text *t, int64_t most, const char *what,
                                       int64_t *value) {
    const char *begin = t->next;
    size_t n = 0;
    while (is_digit(begin + n, t->end))
        n++;
    const struct number number = parse_number(begin, n);
    *value = number.integer;
    if (begin == t->end)
        return refuse_end(t);
    if (number.kind != NUMBER_INTEGER || number.integer > most)
        return region_text_refuse(t, n > 0 ? (struct region_word){begin, n} : word_at(t),
                                  "is no %s: 0 to %lld", what, (long long)most);
    t->next += n;
    next_word(t);
    return SRCFIND_OK;
}

static enum srcfind_status read_order(struct region_text *t, int *order) {
    int64_t value;
    const enum srcfind_status status =
        read_number(t, HEALPIX_ORDER, "order of cells (the space of a map of space alone)", &value);
    *order = (int)value;
    return status;
}

/* Reads a cell or, where `ranges` have a dash, several. */
static enum srcfind_status read_cells(struct region_text *t, int order, bool ranges,
                                      struct regions *regions) {
    const int64_t most = healpix_cells(order) - 1;
    const struct region_word word = word_at(t);
    int64_t first, last;
    enum srcfind_status status = read_number(t, most, "cell of this order", &first);
    last = first;
    if (status == SRCFIND_OK && ranges && take(t, '-'))
        status = read_number(t, most, "cell of this order", &last);
    if (status == SRCFIND_OK && last < first)
        return region_text_refuse(t, word, "is a range that ends before it begins");
    return status != SRCFIND_OK || moc_add(regions, order, first, last)
               ? status
               : error_memory(t->error, "reading regions");
}

static enum srcfind_status finish(const struct region_text *t, struct regions *regions) {
    regions->is_moc = true;
    moc_finish(regions);
    return t->next == t->end ? SRCFIND_OK
                             : region_text_refuse(t, word_at(t), "stands behind the map");
}

/* Whether a number with a slash, an order, is next. */
static bool is_order(const struct region_text *t) {
    const char *at = t->next;
    while (is_digit(at, t->end))
        at++;
    return at > t->next && at < t->end && *at == '/';
}

enum srcfind_status moc_read_ascii(struct region_text *t, struct regions *regions) {
    enum srcfind_status status = SRCFIND_OK;
    int order = 0;
    t->line = 1;
    next_word(t);
    take(t, 's');
    do {
        status = read_order(t, &order);
        if (status == SRCFIND_OK && !take(t, '/'))
            status = region_text_refuse(t, word_at(t), "has no / behind the order");
        while (status == SRCFIND_OK && t->next < t->end && !is_order(t)) {
            status = read_cells(t, order, true, regions);
            take(t, ',');
        }
    } while (status == SRCFIND_OK && t->next < t->end);
    return status == SRCFIND_OK ? finish(t, regions) : status;
}

/* Reads the list of the cells of an order. */
static enum srcfind_status read_list(struct region_text *t, int order, struct regions *regions) {
    enum srcfind_status status = SRCFIND_OK;
    if (!take(t, ':') || !take(t, '['))
        return region_text_refuse(t, word_at(t), "is no list: as in \"6\": [1, 2]");
    if (take(t, ']'))
        return SRCFIND_OK;
    do
        status = read_cells(t, order, false, regions);
    while (status == SRCFIND_OK && take(t, ','));
    return status != SRCFIND_OK || take(t, ']')
               ? status
               : region_text_refuse(t, word_at(t), "has no ] or comma before it");
}

enum srcfind_status moc_read_json(struct region_text *t, struct regions *regions) {
    enum srcfind_status status = SRCFIND_OK;
    int order = 0;
    t->line = 1;
    next_word(t);
    take(t, '{');
    while (status == SRCFIND_OK && !take(t, '}')) {
        if (!take(t, '"'))
            return region_text_refuse(t, word_at(t), "is no order: as in \"6\": [1, 2]");
        status = read_order(t, &order);
        if (status == SRCFIND_OK && !take(t, '"'))
            status = region_text_refuse(t, word_at(t), "has no quote before it");
        if (status == SRCFIND_OK)
            status = read_list(t, order, regions);
        if (status == SRCFIND_OK && !take(t, ',') && !(t->next < t->end && *t->next == '}'))
            status = region_text_refuse(t, word_at(t), "has no comma before it");
    }
    return status == SRCFIND_OK ? finish(t, regions) : status;
}
