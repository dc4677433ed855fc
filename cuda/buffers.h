/* The capacities of a search's device buffers, and the buffers themselves. Capacities are
 * estimates. On overflow a kernel still counts what it needed; the host enlarges the buffer and
 * reruns the stage. */
#ifndef BUFFERS_H
#define BUFFERS_H

#include "device.h"

/* All pixels of an image with no more than LIST_PIXELS are listed. Of a larger image they are
 * listed only if the prediction failed. */
enum { LIST_PIXELS = 1 << 18 };

/* A larger image that is kept on the device is searched with one launch, in which the host does not
 * wait for intermediate results, if it has no more than AT_ONCE_PIXELS. */
enum { AT_ONCE_PIXELS = 1 << 24 };

/* Sets the capacities for an image whose shape is in params: those for ordinary images or, if they
 * fit, for images as the earlier ones. */
void buffers_choose(struct params *params, const struct cuda *cuda);

/* Returns whether all buffers of params fit within cuda->limit. */
bool buffers_fit(const struct cuda *cuda, const struct params *params);

/* Allocates all buffers that params needs, and sets the pointers in params. If memory is scarce,
 * buffers that are larger than needed are freed first: any of them for a `new_image`, else only
 * those of the clip and of fits, since the others are in use. SRCFIND_ERROR_DEVICE if the buffers
 * do not fit. */
enum srcfind_status buffers_reserve(struct cuda *cuda, struct params *params, bool new_image,
                                    struct error *error);

/* Raises a capacity to `wanted` if it is less, and stores its share of n_pixels for later
 * images. */
void buffers_grow(int64_t *capacity, int64_t wanted, double *share, int64_t n_pixels);

#endif
