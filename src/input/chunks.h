/* Reads an image in one pass, chunk by chunk, on several threads. Each thread takes the next chunk,
 * reads it and processes it. If a source is not parallel, one thread reads at a time while the
 * others process their chunks. */
#ifndef CHUNKS_H
#define CHUNKS_H

#include <string.h>

#include "common/threads.h"
#include "input/pixel_source.h"

struct chunk {
    int64_t number; /* from 0, in the order of the pixels */
    int64_t first, count;
    const uint32_t *pixels;
};

/* The number of chunks of a source; the last one may be shorter. */
int64_t chunks_count(const struct pixel_source *source);

/* The callbacks of chunks_run. worker is the index of the calling worker, from 0. */
struct chunk_work {
    /* Processes a chunk. An error ends the reading. */
    enum srcfind_status (*work)(void *context, int worker, const struct chunk *chunk,
                                struct error *error);
    /* Returns the buffer, of chunk_pixels elements, for the worker's next chunk; NULL on an error,
     * whose status is then in *status. If this pointer is NULL, chunks_run allocates one buffer for
     * each worker. */
    uint32_t *(*buffer)(void *context, int worker, enum srcfind_status *status,
                        struct error *error);
    /* Whether the pixels [first, first + count) are to be read; NULL: all are. */
    bool (*wanted)(void *context, int64_t first, int64_t count);
    void *context;
    int64_t band; /* chunks that a worker takes at a time, and processes in order; 0 means 1 */
};

/* Calls work->work for every chunk, on n_workers workers, each a thread of `threads`. The error is
 * that of the first chunk, in the order of the pixels, that could not be read or processed. An
 * interrupt ends the reading, too. */
enum srcfind_status chunks_run(const struct pixel_source *source, struct threads *threads,
                               int n_workers, const struct chunk_work *work, struct error *error);

/* Reads all pixels of a source to an array of them, with all threads. */
enum srcfind_status chunks_copy(const struct pixel_source *source, struct threads *threads,
                                uint32_t *pixels, struct error *error);

/* The value of pixels[i], which are float32 values; swapped: in the other byte order. */
static inline float pixel_value(const void *pixels, int64_t i, bool swapped) {
    uint32_t bits;
    memcpy(&bits, (const char *)pixels + i * (int64_t)sizeof bits, sizeof bits);
    bits = swapped ? __builtin_bswap32(bits) : bits;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The pixel that has this value: the inverse of pixel_value. */
static inline uint32_t pixel_bits(float value, bool swapped) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return swapped ? __builtin_bswap32(bits) : bits;
}

#endif
