/* Copies between ordinary host memory and the device, through pinned memory. All threads copy to or
 * from the pinned memory while the device copies, which is three times as fast as the driver's way.
 */
#ifndef COPIES_H
#define COPIES_H

#include "device.h"

/* Copies `size` bytes to the device, in cuda->stream. `from` may be changed when it returns. */
cudaError_t copy_in(const struct cuda *cuda, struct threads *threads, void *to, const void *from,
                    int64_t size);

/* Copies `size` bytes to the host, after all work in cuda->stream, and waits for them. */
cudaError_t copy_out(const struct cuda *cuda, struct threads *threads, void *to, const void *from,
                     int64_t size);

#endif
