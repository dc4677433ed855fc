/* From a pixel source on the host to the device: threads read pieces into pinned memory, from where
 * they are copied while the next ones are read. */
#ifndef FEED_H
#define FEED_H

#include "device.h"

/* Copies all pixels to `image` on the device. */
enum srcfind_status feed_image(struct cuda *cuda, const struct pixel_source *source, int n_threads,
                               uint32_t *image, struct error *error);

/* Scans all pixels as they arrive, by the plan in the job's state, which is there already, and
 * keeps none. BUFFER_CHUNKS has feed_scan_size(cuda) bytes. */
enum srcfind_status feed_scan(struct cuda *cuda, const struct pixel_source *source, int n_threads,
                              const struct job *job, struct error *error);

/* How much device memory feed_scan takes for itself. */
int64_t feed_scan_size(const struct cuda *cuda);

#endif
