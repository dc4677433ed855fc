/* Tells UTF-8 from other bytes, which a path may contain. */
#ifndef UTF8_H
#define UTF8_H

#include <stdbool.h>

/* Whether c may follow the first byte of a UTF-8 character. The second byte is limited where the
 * character would otherwise be longer than needed, half of a UTF-16 pair, or above U+10FFFF (RFC
 * 3629, section 4). */
static inline bool utf8_may_follow(unsigned char first, unsigned char c, bool is_second) {
    const int least = !is_second ? 0x80 : first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    const int most = !is_second ? 0xbf : first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    return c >= least && c <= most;
}

/* The length of the UTF-8 character at c, in bytes; 0 if the bytes are not UTF-8, or U+FFFE or
 * U+FFFF, which are no characters in XML and YAML. */
static inline int utf8_length(const unsigned char *c) {
    const int n = *c < 0x80                 ? 1
                  : *c >= 0xc2 && *c < 0xe0 ? 2
                  : *c >= 0xe0 && *c < 0xf0 ? 3
                  : *c >= 0xf0 && *c < 0xf5 ? 4
                                            : 0;
    for (int i = 1; i < n; i++)
        if (!utf8_may_follow(*c, c[i], i == 1))
            return 0;
    return n == 3 && c[0] == 0xef && c[1] == 0xbf && c[2] >= 0xbe ? 0 : n;
}

#endif
