/* The clip without a prediction, for images that defy one: discrete values, heavy tails, samples
 * that misled. A first read counts and sums pixels by the upper 16 bits of their order-preserving
 * keys; within such a bin all pixels share sign and exponent, so that exact sums of whole bins are
 * known. Bins that hold a bound or a median are then counted by their lower 16 bits too, in a
 * second read, with their neighbours, which later rounds are likely to ask for; and in further
 * reads, should the rounds move on to others. When few pixels are left, these are listed and
 * sorted, and further rounds need no more reads. */
#ifndef HISTOGRAM_H
#define HISTOGRAM_H

#include "cpu/clip.h"
#include "input/chunks.h"

/* Clips an image; its pixels are listed when no more than `few` of them are left. Fills every
 * number of b but n_pixels; n_kept is 0 if no pixel is finite. */
enum srcfind_status histogram_clip(const struct pixel_source *source, double kappa, int n_threads,
                                   int64_t few, struct srcfind_background *b, struct error *error);

#endif
