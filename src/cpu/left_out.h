/* Bright wide islands, which are left out of the boxes of local noise: they are no noise. */
#ifndef LEFT_OUT_H
#define LEFT_OUT_H

#include "cpu/wide_runs.h"
#include "input/blanks.h"

struct left_out {
    struct blanks *pixels; /* of the islands, and those near them; NULL: none */
    int64_t n_islands;
    int64_t n_pixels; /* also those that are blank in the image */
};

/* Finds what is left out of the boxes of `detection`: islands of either sign, above or below the
 * background by 3 rms, that have a pixel beyond 10 rms and more than 15 beam areas, with what is
 * within 1.5 beams of them. An island is noise, and stays in the boxes, if its bounding box has
 * more than a quarter as many pixels beyond 3 rms of the other sign as the island has pixels. The
 * noise is that of boxes four times as wide or, in an image of fewer than two of them, `whole`, the
 * clip of the whole image. Nothing is left out without detection->beam_squared. Clear the result
 * also after an error. */
enum srcfind_status left_out_find(const struct pixel_source *source,
                                  const struct detection *detection,
                                  const struct srcfind_background *whole, struct threads *threads,
                                  struct left_out *out, struct error *error);

/* Clips the boxes without the pixels that are left out, of which there are some. If no node counts
 * then, none is left out. As noise_nodes_find. */
enum srcfind_status left_out_clip_rest(const struct pixel_source *source,
                                       const struct detection *detection, struct threads *threads,
                                       struct left_out *out, struct noise_map *map,
                                       struct error *error);

/* The same for a map whose boxes were clipped with all pixels: only boxes that have pixels that are
 * left out are clipped again. The caller completes the nodes (noise_nodes_complete). */
enum srcfind_status left_out_clip_again(const struct pixel_source *source,
                                        const struct detection *detection, struct threads *threads,
                                        const struct left_out *out, struct noise_map *map,
                                        struct error *error);

/* Sets the members of a background that tell what was left out. */
void left_out_describe(const struct left_out *out, struct srcfind_background *background);

void left_out_clear(struct left_out *out);

/* The following three functions are for a backend that finds the coarse noise and the runs itself.
 */

/* The detection of the coarse noise. False if it is to be the clip of the whole image. */
bool left_out_coarse(int64_t width, int64_t height, const struct detection *detection,
                     struct detection *coarse);

/* Whether there is noise at all nodes: without it nothing is above or below. */
bool left_out_is_possible(const struct noise_map *coarse);

/* Chooses islands among the runs of an image. */
enum srcfind_status left_out_choose(const struct wide_runs *runs, int64_t width, int64_t height,
                                    double beam_squared, struct threads *threads,
                                    struct left_out *out, struct error *error);

#endif
