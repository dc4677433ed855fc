/* Reads an image once, piece by piece, on several threads: each takes the next piece, reads it and
 * works on it. A source that only one thread may read is read in turn while others work. */
#ifndef PIECES_H
#define PIECES_H

#include <string.h>

#include "input/pixel_source.h"

struct piece {
    int64_t number; /* from 0, in the order of the pixels */
    int64_t first, count;
    const uint32_t *pixels;
    bool borrowed; /* from the source's lender */
};

int64_t pieces_count(const struct pixel_source *source);

/* What is done with each piece. worker tells threads apart. work returns false where it failed,
 * which ends the reading: because memory ran out, unless the context knows better. */
struct piece_work {
    bool (*work)(void *context, int worker, const struct piece *piece);
    /* Room for the worker's next piece, which is read there; NULL where it failed. May itself be
     * NULL: then the piece is borrowed, or read to ordinary memory. */
    uint32_t *(*room)(void *context, int worker);
    void *context;
};

/* Does the work for every piece, in no order, on n_threads threads. */
enum srcfind_status pieces_run(const struct pixel_source *source, int n_threads,
                               const struct piece_work *work, struct error *error);

/* The value of the i-th of the pixels that a source handed out, or of a list of floats. */
static inline float pixel_value(const void *pixels, int64_t i, bool swapped) {
    uint32_t bits;
    memcpy(&bits, (const char *)pixels + i * (int64_t)sizeof bits, sizeof bits);
    bits = swapped ? __builtin_bswap32(bits) : bits;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#endif
