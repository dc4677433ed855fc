/* The text of a file of regions, line by line and word by word, and what is wrong with it. */
#ifndef REGION_TEXT_H
#define REGION_TEXT_H

#include "common/error.h"
#include "input/regions/regions.h"

struct region_text {
    const char *path;
    const char *next, *end; /* what was not read yet */
    int64_t line;           /* the number of the line that was read last, from 1 */
    struct error *error;
};

/* A part of a line. */
struct region_word {
    const char *at;
    size_t length;
};

/* Reads the next line, without its end; false at the end of the text. */
bool region_text_line(struct region_text *text, struct region_word *line);

/* Without blanks and tabs at both ends. */
struct region_word region_word_trimmed(struct region_word word);

/* Takes letters, digits and underscores from the front of a line, and blanks behind them. */
struct region_word region_word_take(struct region_word *line);

bool region_word_is(struct region_word word, const char *name);

/* Whether the line begins with this character; it is then taken, and blanks behind it. */
bool region_word_take_char(struct region_word *line, char c);

/* Sets an error about a word: "FILE: line N: `WORD` and what is wrong". */
__attribute__((format(printf, 3, 4))) enum srcfind_status
region_text_refuse(const struct region_text *text, struct region_word word, const char *format,
                   ...);

/* A number with a unit behind it: `unit` is "" without one. */
enum srcfind_status region_text_number(const struct region_text *text, struct region_word word,
                                       double *value, struct region_word *unit);

/* A longitude or a latitude in degrees: a number with the unit "", deg, d, rad, r, arcmin or
 * arcsec, or an angle in sexagesimal notation; in_hours: this is hours. */
enum srcfind_status region_text_angle(const struct region_text *text, struct region_word word,
                                      bool is_latitude, bool in_hours, double *degrees);

/* Checks that the sizes of a region are above 0, and in their order. word: of the whole region. */
enum srcfind_status region_text_check(const struct region_text *text, struct region_word word,
                                      const struct region *region);

#endif
