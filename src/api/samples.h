/* The samples of a smoothed image: in memory, in a temporary file if they are many, or on a device.
 */
#ifndef SAMPLES_H
#define SAMPLES_H

#include "api/backend_calls.h"
#include "backend/backend.h"
#include "input/blanks.h"
#include "input/memory_source.h"
#include "merge/spool.h"

struct samples {
    int64_t width, height;
    uint32_t *pixels;   /* NULL: the samples are in the file */
    struct spool spool; /* a file in /tmp without a name, which the end of the process removes */
    struct memory memory;
    struct blanked blanked;         /* what `source` reads from, if two images share blanks */
    struct pixel_source source;     /* the samples to search, */
    struct device_pixels on_device; /* or here, in the memory of a device */
};

/* Makes room for the samples of one of n_images, which share the memory. Clear it also after an
 * error. It must not be moved. */
enum srcfind_status samples_make(struct samples *samples, int64_t width, int64_t height,
                                 int n_images, struct error *error);

/* Takes n rows from row y on, of any thread: see smooth.h. */
enum srcfind_status samples_put(void *samples, int64_t y, int64_t n, const float *values,
                                struct error *error);
/* Makes the samples of two images blank where one of them is. Destroy *blanks after the samples
 * were used, also after an error. */
enum srcfind_status samples_share_blanks(struct samples *a, struct samples *b,
                                         struct blanks **blanks, struct backend_calls *calls);
void samples_clear(struct samples *samples);

#endif
