/* How much room a search has on the device: for which numbers of elements, and in which buffers. */
#ifndef ROOMS_H
#define ROOMS_H

#include "device.h"

/* More pixels than this are not listed whole without need; fewer always are. */
enum { LIST_PIXELS = 1 << 18 };

/* Up to so many pixels of an image that is kept, and is not listed whole, all is launched at once.
 */
enum { WHOLE_PIXELS = 1 << 24 };

/* Chooses the rooms for an image whose shape the job has: what ordinary images need, or what
 * earlier ones did. */
void rooms_choose(struct job *job, const struct cuda *cuda);

/* Whether a list may be narrowed, whose rooms have been chosen: keys are counted in 32 bits. */
bool rooms_may_narrow(const struct job *job);

/* Whether the device may hold all that the job has room for. */
bool rooms_fit(const struct cuda *cuda, const struct job *job);

/* Makes all buffers as large as the job says, and lays them out. Where memory is scarce, what they
 * have too much is freed: of all of them for a `new_image`; else of those only that a clip needs,
 * since the others are in use. */
enum srcfind_status rooms_reserve(struct cuda *cuda, struct job *job, bool new_image,
                                  struct error *error);

/* Makes a room large enough, and remembers for images to come what share of the pixels it took. */
void rooms_grow(int64_t *room, int64_t wanted, double *share, int64_t n_pixels);

#endif
