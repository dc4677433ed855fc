/* Converts text to numbers, whatever locale the calling program has set. */
#ifndef PARSE_NUMBER_H
#define PARSE_NUMBER_H

#include <stddef.h>
#include <stdint.h>

/* strtod with a decimal point. */
double parse_in_c_locale(const char *text, char **end);

/* The way out if a text is no number: ": write a point for the comma" if it has one comma; else "".
 */
const char *parse_number_hint(const char *text);

enum number_kind { NUMBER_NONE, NUMBER_INTEGER, NUMBER_REAL };

struct number {
    enum number_kind kind;
    int64_t integer;
    double real; /* of an integer, too */
};

/* Reads a text of `length` characters that is a number and nothing else: 12, -0.5, .5, 5., 1e-05,
 * 1D3, nan, inf, -infinity, in letters of any case. The double is the nearest to the decimal. A
 * whole number beyond 64 bits is a real one. */
struct number parse_number(const char *text, size_t length);

#endif
