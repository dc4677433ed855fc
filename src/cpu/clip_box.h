/* The clip of the pixels of a box. Its results are the same doubles as those of clip_run on the
 * same pixels. */
#ifndef CLIP_BOX_H
#define CLIP_BOX_H

#include "backend/noise_map.h"
#include "cpu/key_rows.h"

/* The pixels of a box. */
struct box {
    const struct key_kernels *kernels;
    const struct key_rows *rows;
    int64_t n_rows;            /* elements of `rows` */
    struct value_sums all;     /* of all pixels that are not blank; n > 0 */
    struct picked_keys picked; /* has the capacity that key_kernels.pick asks for */
};

/* Clips a box at median -+ kappa rms; the background is the median. *noise is a guess before; only
 * the speed depends on it. */
bool clip_box(struct box *box, double kappa, struct noise_at *noise);

/* Clips the box of a node, of n pixels with the blank ones. *node is NAN if it does not count: less
 * than a quarter of the pixels are not blank, or they have no noise. *guess is a guess before, and
 * becomes the noise of a node that counts. */
bool clip_box_node(struct box *box, int64_t n, double kappa, struct noise_at *guess,
                   struct noise_at *node);

/* Clips n > 0 pixels, given by their exact keys in any order, by a sort. Takes ownership of the
 * keys, which come from malloc. */
bool clip_keys(uint32_t *keys, int64_t n, double kappa, struct noise_at *noise);

#endif
