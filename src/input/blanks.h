/* The blank pixels of a search, one bit each: pixels that are blank in any of the images and maps,
 * which all have one shape. Once each of these was read, later reads of an image need no other
 * file. */
#ifndef BLANKS_H
#define BLANKS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "common/threads.h"
#include "input/pixel_source.h"

struct blanks {
    _Atomic uint64_t *bits;  /* of pixel i: bit i % 64 of word i / 64 */
    _Atomic int64_t n_added; /* pixels that became blank since this was set to 0 */
    bool is_complete;        /* all images and maps have been read: none adds to the bits */
};

/* Blanks of n_pixels pixels, none of which is blank yet; to be destroyed. NULL where memory ran
 * out. */
struct blanks *blanks_create(int64_t n_pixels);

/* blanks may be NULL. */
void blanks_destroy(struct blanks *blanks);

/* Whether a value is not finite: the pixel of an image is then blank. */
bool blanks_not_finite(float value);

/* Reads all of a source, and makes pixels blank whose value `is_blank` accepts. */
enum srcfind_status blanks_read(struct blanks *blanks, const struct pixel_source *source,
                                bool (*is_blank)(float value), struct threads *threads,
                                struct error *error);

/* Makes the pixels [first, first + n) blank. */
void blanks_add(struct blanks *blanks, int64_t first, int64_t n);

/* Makes pixel first + i blank where bit i of the first n bits, at most 64, is set. */
void blanks_add_bits(struct blanks *blanks, int64_t first, int64_t n, uint64_t bits);

/* The n bits, at most 64, from pixel `first` on. */
uint64_t blanks_bits(const struct blanks *blanks, int64_t first, int64_t n);

/* Whether any of the pixels [first, first + n) is blank. */
bool blanks_has_any(const struct blanks *blanks, int64_t first, int64_t n);

/* The state of an image that is read with blanks. */
struct blanked {
    struct pixel_source stored;
    struct blanks *blanks;
};

/* A source of the pixels of `stored`, NaN at blank pixels. Until the blanks are complete, each read
 * adds the pixels of `stored` that are not finite. `blanked` must not be moved. */
struct pixel_source blanked_source(struct blanked *blanked, const struct pixel_source *stored,
                                   struct blanks *blanks);

#endif
