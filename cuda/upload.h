/* Copies the pixels of a source from the host to the device. Several threads read chunks into
 * pinned memory; each chunk is copied while the next one is read. */
#ifndef UPLOAD_H
#define UPLOAD_H

#include "device.h"

/* Copies all pixels to `image` on the device. cuda->stream waits for the copies; the host does
 * not. */
enum srcfind_status upload_image(struct cuda *cuda, const struct pixel_source *source,
                                 struct threads *threads, uint32_t *image, struct error *error);

/* Scans all pixels as they arrive, with the plan and the window in params->state on the device, and
 * does not keep them. BUFFER_CHUNKS has upload_scan_size(cuda) bytes. */
enum srcfind_status upload_and_scan(struct cuda *cuda, const struct pixel_source *source,
                                    struct threads *threads, const struct params *params,
                                    struct error *error);

/* Returns the bytes of device memory that upload_and_scan needs for its chunks. */
int64_t upload_scan_size(const struct cuda *cuda);

#endif
