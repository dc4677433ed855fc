/* Letters of FITS and of catalogues, whatever locale the calling program has set: isprint, tolower,
 * toupper and strcasecmp go by it. */
#ifndef ASCII_H
#define ASCII_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool ascii_is_printable(char c) {
    return c >= ' ' && c <= '~';
}

static inline char ascii_lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static inline char ascii_upper(char c) {
    return c >= 'a' && c <= 'z' ? (char)(c - ('a' - 'A')) : c;
}

static inline bool ascii_is_letter(char c) {
    return ascii_lower(c) >= 'a' && ascii_lower(c) <= 'z';
}

/* Whether the first n characters of two texts are the same, but for the case of letters. */
static inline bool ascii_same_start(const char *a, const char *b, size_t n) {
    size_t i = 0;
    while (i < n && a[i] && ascii_lower(a[i]) == ascii_lower(b[i]))
        i++;
    return i == n || a[i] == b[i];
}

/* Whether two texts are the same, but for the case of letters. */
static inline bool ascii_same(const char *a, const char *b) {
    return ascii_same_start(a, b, SIZE_MAX);
}

#endif
