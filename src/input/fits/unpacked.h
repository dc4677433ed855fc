/* The pixels of a tile-compressed plane, which are kept once they are unpacked, so that a search
 * that reads them several times unpacks each tile once: in memory, up to an eighth of what the
 * process may use for all images together, else in a temporary file. */
#ifndef UNPACKED_H
#define UNPACKED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct unpacked {
    float *pixels; /* of the plane; NULL: nothing is kept */
    int64_t bytes; /* of `pixels` */
    bool is_memory;
    _Atomic unsigned char *rows; /* enum row_state of each row of tiles */
};

/* Makes room for a plane of n pixels with n_rows rows of tiles. Where there is none, nothing is
 * kept: that is no error. The caller closes it. */
void unpacked_open(struct unpacked *unpacked, int64_t n, int64_t n_rows);
void unpacked_close(struct unpacked *unpacked);

/* Whether the pixels of a row of tiles are unpacked. */
bool unpacked_has(const struct unpacked *unpacked, int64_t row);

/* Whether the caller is to unpack the pixels of a row of tiles: no thread has done so, and none is
 * at it. It then calls unpacked_end. */
bool unpacked_begin(struct unpacked *unpacked, int64_t row);

/* is_unpacked: false after an error. */
void unpacked_end(struct unpacked *unpacked, int64_t row, bool is_unpacked);

#endif
