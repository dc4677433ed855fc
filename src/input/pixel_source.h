/* The interface from which a backend reads pixels: a plane of float32 values, numbered row by row
 * from 0, read in chunks. The pixels may come from a file, from compressed tiles or from memory. */
#ifndef PIXEL_SOURCE_H
#define PIXEL_SOURCE_H

#include "common/error.h"

struct pixel_source {
    int64_t width, height;
    int64_t chunk_pixels; /* best number to read at a time, starting at a multiple of it */
    int sample_rows;      /* how many rows can be read out of order at low cost */
    bool swapped;         /* values are in the other byte order than this machine's */
    bool parallel;        /* several threads may call read at the same time */
    bool packed;          /* compressed, or on a device: part of a row costs as much as all of it */
    void *state;
    /* Reads pixels [first, first + count) of the plane. Returns a pointer to them: buffer, which
     * has capacity count, or other memory that outlives the source. On an error, returns NULL and
     * sets error. */
    const uint32_t *(*read)(void *state, int64_t first, int64_t count, uint32_t *buffer,
                            struct error *error);
};

#endif
