/* Reads an image once, piece by piece, on several threads: each takes the next piece, reads it and
 * works on it. A source that only one thread may read is read in turn while others work. */
#ifndef PIECES_H
#define PIECES_H

#include "pixels.h"

struct piece {
    int64_t number; /* from 0, in the order of the pixels */
    int64_t first, count;
    const uint32_t *pixels;
};

int64_t pieces_count(const struct pixel_source *source);

/* Calls work for every piece, in no order, from n_threads threads; worker (below n_threads) tells
 * them apart. work returns false where memory ran out, which ends the reading. */
enum srcfind_status pieces_run(const struct pixel_source *source, int n_threads,
                               bool (*work)(void *context, int worker, const struct piece *piece),
                               void *context, struct error *error);

/* A pixel's value from what a source handed out. */
static inline float pixel_value(uint32_t bits, bool swapped) {
    union {
        uint32_t bits;
        float value;
    } pixel = {swapped ? __builtin_bswap32(bits) : bits};
    return pixel.value;
}

#endif
