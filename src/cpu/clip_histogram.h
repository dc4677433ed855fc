/* The clip without a prediction, for images where the prediction fails: discrete values, heavy
 * tails, misleading samples. A first read counts and sums pixels by the upper 16 bits of their
 * order-preserving keys. All pixels of such a bin share sign and exponent, so that exact sums of
 * complete bins are known. A second read counts, by the lower 16 bits of their keys, the pixels of
 * the bins that contain a bound or a median, and of their neighbours, which later rounds probably
 * need. Other bins take further reads. When few pixels are left, they are listed and sorted, and
 * further rounds need no more reads. */
#ifndef CLIP_HISTOGRAM_H
#define CLIP_HISTOGRAM_H

#include "cpu/clip.h"
#include "input/chunks.h"

/* Clips an image. When at most `few` pixels are left, they are listed and sorted. Fills every
 * number of b but n_pixels; n_kept is 0 if no pixel is finite. */
enum srcfind_status histogram_clip(const struct pixel_source *source, double kappa,
                                   struct threads *threads, int64_t few,
                                   struct srcfind_background *b, struct error *error);

#endif
