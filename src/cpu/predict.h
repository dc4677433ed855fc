/* Predicts from a sample of the pixels where the clip will end. The sample is the same for the same
 * image, and only the speed depends on it: what it predicts is verified afterwards. */
#ifndef PLAN_H
#define PLAN_H

#include "backend/backend.h"
#include "cpu/scan.h"

/* Finite pixels from all over an image. */
struct sample {
    float *values;
    int64_t n;
};

/* How many pixels a sample should have, of an image with n. */
int64_t plan_sample_size(int64_t n);

/* Draws a sample of about so many from all over the image, or of fewer where to read them would
 * take long. values are to be freed, also after an error. */
enum srcfind_status plan_draw_sample(const struct pixel_source *source, int64_t wanted,
                                     struct sample *sample, struct error *error);

/* Makes a plan for the scan. *useful is false where a list would be too long or the sample tells
 * nothing (discrete values, a flat image), unless the image is small enough to be listed whole. */
enum srcfind_status plan_scan(const struct pixel_source *source, const struct detection *detection,
                              struct scan_plan *plan, bool *useful, struct error *error);

#endif
