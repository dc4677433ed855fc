#ifndef PLURAL_H
#define PLURAL_H

#include <stdint.h>

/* The ending of a noun after the number n: "1 source", "2 sources". */
static inline const char *plural(int64_t n) {
    return n == 1 ? "" : "s";
}

#endif
