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

/* The number of values that a scan may list, of 4 bytes each: more take too much memory. */
int64_t predict_most_listed(void);

/* How an image is to be scanned. */
struct prediction {
    bool is_useful; /* else there is no plan */
    struct scan_plan plan;
    uint8_t *bin_states; /* of KEY_BINS, where too many values would be listed; else NULL */
};

/* Makes a plan for the scan. It is not useful if the list would be too long or the sample allows no
 * prediction (discrete values, a flat image). A small image always has a useful plan: if need be,
 * one that lists all its pixels. The caller clears the prediction, also after an error. */
enum srcfind_status predict_scan(const struct pixel_source *source,
                                 const struct detection *detection, struct threads *threads,
                                 struct prediction *prediction, struct error *error);
void prediction_clear(struct prediction *prediction);

#endif
