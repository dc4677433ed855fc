#include "input/regions/region_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/ascii.h"
#include "common/parse_angle.h"
#include "common/parse_number.h"
#include "input/tables/text_file.h"

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

bool region_text_line(struct region_text *t, struct region_word *line) {
    if (t->next >= t->end)
        return false;
    const size_t left = (size_t)(t->end - t->next);
    const char *lf = memchr(t->next, '\n', left);
    *line = (struct region_word){t->next, lf ? (size_t)(lf - t->next) : left};
    t->next += line->length + (lf != NULL);
    t->line++;
    *line = region_word_trimmed(*line);
    return true;
}

struct region_word region_word_trimmed(struct region_word word) {
    while (word.length > 0 && is_blank(*word.at)) {
        word.at++;
        word.length--;
    }
    while (word.length > 0 && is_blank(word.at[word.length - 1]))
        word.length--;
    return word;
}

static void skip(struct region_word *line, size_t n) {
    line->at += n;
    line->length -= n;
}

struct region_word region_word_take(struct region_word *line) {
    size_t n = 0;
    while (n < line->length && (ascii_is_letter(line->at[n]) || line->at[n] == '_' ||
                                (line->at[n] >= '0' && line->at[n] <= '9')))
        n++;
    const struct region_word word = {line->at, n};
    skip(line, n);
    *line = region_word_trimmed(*line);
    return word;
}

bool region_word_is(struct region_word word, const char *name) {
    return strlen(name) == word.length && ascii_same_start(word.at, name, word.length);
}

bool region_word_take_char(struct region_word *line, char c) {
    if (line->length == 0 || *line->at != c)
        return false;
    skip(line, 1);
    *line = region_word_trimmed(*line);
    return true;
}

enum srcfind_status region_text_refuse(const struct region_text *t, struct region_word word,
                                       const char *format, ...) {
    char quote[TEXT_FILE_QUOTE], what[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return error_set(t->error, SRCFIND_ERROR_INPUT, "%s: line %lld: `%s` %s", t->path,
                     (long long)t->line, text_file_quote(word.at, word.length, quote), what);
}

/* --- numbers --- */

/* The length of the number at the front of a word. */
static size_t number_length(struct region_word word) {
    size_t n = 0;
    while (n < word.length &&
           ((word.at[n] >= '0' && word.at[n] <= '9') || strchr("+-.", word.at[n])))
        n++;
    if (n > 0 && n + 1 < word.length && ascii_lower(word.at[n]) == 'e' &&
        strchr("+-0123456789", word.at[n + 1])) {
        n += 2;
        while (n < word.length && word.at[n] >= '0' && word.at[n] <= '9')
            n++;
    }
    return n;
}

enum srcfind_status region_text_number(const struct region_text *t, struct region_word word,
                                       double *value, struct region_word *unit) {
    const size_t n = number_length(word);
    const struct number number = parse_number(word.at, n);
    *value = number.real;
    *unit = (struct region_word){word.at + n, word.length - n};
    return number.kind == NUMBER_NONE || !isfinite(number.real)
               ? region_text_refuse(t, word, "is no number")
               : SRCFIND_OK;
}

/* Degrees of a unit; 0: it is none of an angle. */
static double unit_of_angle(struct region_word unit) {
    static const struct {
        const char *name;
        double degrees;
    } units[] = {{"", 1},
                 {"d", 1},
                 {"deg", 1},
                 {"'", 1. / 60},
                 {"arcmin", 1. / 60},
                 {"\"", 1. / 3600},
                 {"arcsec", 1. / 3600},
                 {"r", 180 / M_PI},
                 {"rad", 180 / M_PI}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (region_word_is(unit, units[i].name))
            return units[i].degrees;
    return 0;
}

enum srcfind_status region_text_angle(const struct region_text *t, struct region_word word,
                                      bool is_latitude, bool in_hours, double *degrees) {
    struct region_word unit;
    if (!parse_angle(word.at, word.length, in_hours && !is_latitude, degrees)) {
        const enum srcfind_status status = region_text_number(t, word, degrees, &unit);
        if (status != SRCFIND_OK)
            return status;
        const double factor = unit_of_angle(unit);
        if (factor == 0)
            return region_text_refuse(t, word, "has no unit of angles: deg, rad, ' or \"");
        *degrees *= factor;
    }
    if (is_latitude && !(fabs(*degrees) <= 90))
        return region_text_refuse(t, word, "is beyond a pole: latitudes are -90 to 90 degrees");
    return fabs(*degrees) <= 1e6 ? SRCFIND_OK : region_text_refuse(t, word, "is no angle");
}

enum srcfind_status region_text_check(const struct region_text *t, struct region_word word,
                                      const struct region *r) {
    const bool has_two = r->shape != REGION_CIRCLE;
    const double least = r->shape == REGION_ANNULUS ? r->size[1] : r->size[0];
    if (r->shape == REGION_POLYGON)
        return r->n_points >= 3 ? SRCFIND_OK
                                : region_text_refuse(t, word, "has %lld corners, and needs three",
                                                     (long long)r->n_points);
    if (!(least > 0) || (has_two && !(r->size[1] > 0)) || r->size[0] < 0)
        return region_text_refuse(t, word, "has no size: radii, widths and heights are above 0");
    if (r->shape == REGION_ANNULUS && r->size[0] >= r->size[1])
        return region_text_refuse(t, word, "needs its inner radius before its outer one");
    return SRCFIND_OK;
}
