/* Background and rms of pixels, in the order of the image: those of the noise map or, where the
 * user gives maps, of these. */
#ifndef NOISE_ROWS_H
#define NOISE_ROWS_H

#include "backend/backend.h"

/* The noise of a range of pixels. */
struct noise_rows {
    const struct noise_map *map;
    struct noise_sources user;
    int64_t width, first; /* of the image; the first pixel of the range */
    uint32_t *buffers[2];
    const uint32_t *background, *rms; /* of the range; NULL: the noise map has them */
};

/* Allocates memory for ranges of up to `most` pixels, of an image of this width. user: maps that
 * the user gives, or none. Clear the rows, also after a failure. */
bool noise_rows_make(struct noise_rows *rows, const struct noise_map *map,
                     const struct noise_sources *user, int64_t width, int64_t most);
void noise_rows_clear(struct noise_rows *rows);

/* Goes to the pixels [first, first + n): reads what the user's maps have there. */
enum srcfind_status noise_rows_read(struct noise_rows *rows, int64_t first, int64_t n,
                                    struct error *error);

/* Writes the noise at n pixels of row y, from pixel x on, which are within the range. */
void noise_rows_get(const struct noise_rows *rows, int64_t x, int64_t y, int64_t n,
                    struct noise_at *noise);

#endif
