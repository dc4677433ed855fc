/* Letters of FITS and of catalogues, whatever locale the calling program has set: isprint, tolower
 * and toupper go by it. */
#ifndef ASCII_H
#define ASCII_H

#include <stdbool.h>

static inline bool ascii_is_printable(char c) {
    return c >= ' ' && c <= '~';
}

static inline char ascii_lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static inline char ascii_upper(char c) {
    return c >= 'a' && c <= 'z' ? (char)(c - ('a' - 'A')) : c;
}

#endif
