/* Where a backend gets its pixels: a plane of float32 values, counted row by row from 0, handed out
 * in pieces. What lies behind (a file, CFITSIO, memory) is the business of who makes the source. */
#ifndef PIXELS_H
#define PIXELS_H

#include "common/error.h"

/* Lends pixels where they lie in memory. */
struct pixel_lender {
    void (*begin)(void *state);
    /* Pixels [first, first + count) of the plane, to be given back once; NULL where they have to be
     * read. Several threads may do both. */
    const uint32_t *(*borrow)(void *state, int64_t first, int64_t count);
    void (*give_back)(void *state, int64_t first, int64_t count);
    void (*end)(void *state);
};

struct pixel_source {
    int64_t width, height;
    int64_t piece;   /* pixels that are best asked for at a time, from a multiple of it on */
    int sample_rows; /* how many rows may be read out of order without much ado */
    bool swapped;    /* values come in the other byte order than this machine's */
    bool parallel;   /* read may be called by several threads at once */
    bool packed;     /* unpacked by whole pieces or rows: less of one costs as much */
    void *state;
    /* Pixels [first, first + count) of the plane. Returns where they are: in buffer, which has room
     * for count, or elsewhere in memory that outlives the source. NULL on an error, with its text
     * in error. */
    const uint32_t *(*read)(void *state, int64_t first, int64_t count, uint32_t *buffer,
                            struct error *error);
    const struct pixel_lender *lender; /* NULL: all has to be read */
};

#endif
