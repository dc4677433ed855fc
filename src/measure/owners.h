/* The source that each pixel of an island belongs to: for maps, since a catalogue does not keep it.
 * The islands are divided once more, by the code that made the catalogue. */
#ifndef OWNERS_H
#define OWNERS_H

#include "measure/components.h"

struct owners {
    int32_t *owner; /* of each pixel of the segments: the number of its source, from 1 */
    int64_t n;      /* sources */
};

/* Clear the result also after an error. */
enum srcfind_status owners_find(const struct dividing *dividing, const struct segments *segments,
                                struct threads *threads, struct owners *owners,
                                struct error *error);
void owners_clear(struct owners *owners);

#endif
