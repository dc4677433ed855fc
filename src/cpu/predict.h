/* Predicts, from a sample of the pixels, where the clip will end. The same image gives the same
 * sample. Only the speed depends on the prediction, which is verified after the scan. */
#ifndef PREDICT_H
#define PREDICT_H

#include "backend/backend.h"
#include "common/threads.h"
#include "cpu/scan.h"

/* Finite pixels from all over an image. */
struct sample {
    float *values;
    int64_t n;
};

/* The number of pixels that a sample of an image of n pixels should have. */
int64_t predict_sample_size(int64_t n);

/* Draws a sample of about `wanted` pixels from all over the image; of fewer if to read so many
 * takes long. The caller frees sample->values, also after an error. */
enum srcfind_status predict_draw_sample(const struct pixel_source *source, int64_t wanted,
                                        struct threads *threads, struct sample *sample,
                                        struct error *error);

/* Makes a plan for the scan. *useful is false if the list would be too long or the sample allows no
 * prediction (discrete values, a flat image). A small image always has a useful plan: if need be,
 * one that lists all its pixels. */
enum srcfind_status predict_scan(const struct pixel_source *source,
                                 const struct detection *detection, struct threads *threads,
                                 struct scan_plan *plan, bool *useful, struct error *error);

#endif
