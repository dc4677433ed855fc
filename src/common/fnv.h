/* The hash FNV-1a of 64 bits (Fowler, Noll, Vo and Eastlake, draft-eastlake-fnv). */
#ifndef FNV_H
#define FNV_H

#include <stdint.h>

static const uint64_t FNV_BASIS = 0xcbf29ce484222325;

/* Adds a text with its NUL. */
static inline void fnv_add(uint64_t *hash, const char *text) {
    do
        *hash = (*hash ^ (unsigned char)*text) * 0x100000001b3;
    while (*text++);
}

#endif
