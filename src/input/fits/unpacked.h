/* The pixels of a tile-compressed plane, which are kept once they are unpacked, so that a search
 * that reads them several times unpacks them once: in memory, up to an eighth of what the process
 * may use for all images together, else in a temporary file. */
#ifndef UNPACKED_H
#define UNPACKED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct unpacked {
    float *pixels;               /* of the plane; NULL: they are in the file */
    int64_t bytes;               /* of the plane */
    int descriptor;              /* of the file; -1: none */
    atomic_bool is_full;         /* the file takes no more */
    _Atomic unsigned char *rows; /* enum row_state of each row of tiles; NULL: nothing is kept */
};

/* Makes room for a plane of n pixels with n_rows rows of tiles. Where there is none, nothing is
 * kept: that is no error. Zeroed room keeps nothing, too. The caller closes it. */
void unpacked_open(struct unpacked *unpacked, int64_t n, int64_t n_rows);
void unpacked_close(struct unpacked *unpacked);

/* Whether the pixels of a row of tiles are kept. */
bool unpacked_has(const struct unpacked *unpacked, int64_t row);

/* Whether the caller is to unpack the pixels of a row of tiles and to keep them: no thread has done
 * so, and none is at it. It then calls unpacked_end. */
bool unpacked_begin(struct unpacked *unpacked, int64_t row);

/* Ends it. values: n pixels of the plane from `first` on, all of the row; at unpacked->pixels +
 * first where these are in memory; NULL after an error. */
void unpacked_end(struct unpacked *unpacked, int64_t row, const float *values, int64_t first,
                  int64_t n);

/* The pixels [first, first + n), which are kept: in memory, or read to `buffer`. NULL, with errno,
 * if the file cannot be read. */
const float *unpacked_get(const struct unpacked *unpacked, int64_t first, int64_t n, float *buffer);

#endif
