/* The pixels of a search that are blank, one bit each, whichever image or map is blank there: an
 * image, a mask, maps of the noise, and the image in which sources are detected have one shape.
 * Once each of them was read, later reads of an image need no other file. */
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

/* Blanks of so many pixels, none of which is blank, to be destroyed. NULL where memory ran out. */
struct blanks *blanks_create(int64_t n_pixels);

/* blanks may be NULL. */
void blanks_destroy(struct blanks *blanks);

/* Reads all of a source, and makes the pixels blank where is_blank is true of its value. */
enum srcfind_status blanks_read(struct blanks *blanks, const struct pixel_source *source,
                                bool (*is_blank)(float value), struct threads *threads,
                                struct error *error);

/* An image that is read with blanks. */
struct blanked {
    struct pixel_source stored;
    struct blanks *blanks;
};

/* The pixels of `stored`, NaN where the bits say so. Until the blanks are complete, what is read
 * adds the pixels of `stored` that are not finite. `blanked` must not be moved. */
struct pixel_source blanked_source(struct blanked *blanked, const struct pixel_source *stored,
                                   struct blanks *blanks);

#endif
