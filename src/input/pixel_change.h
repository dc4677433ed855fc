/* Changes of pixels, the same on the host and on a device. */
#ifndef PIXEL_CHANGE_H
#define PIXEL_CHANGE_H

#include "input/pixel_source.h"

#ifdef __CUDACC__
#define PIXEL_FUNCTION static inline __host__ __device__
#else
#define PIXEL_FUNCTION static inline
#endif

/* The bits that change, in the byte order of the pixels. */
struct pixel_change {
    uint32_t value, other; /* become blank */
    uint32_t blank;
    uint32_t sign; /* is inverted after that */
};

/* Pixels equal to the float32 nearest to `blank` become NaN, where -0 equals 0; none if it is NaN.
 * Then all are negated, if this is asked for. */
struct pixel_change pixel_change_make(double blank, bool negated, bool swapped);

/* A pixel after the change. */
PIXEL_FUNCTION uint32_t changed_pixel(uint32_t pixel, struct pixel_change change) {
    const bool is_blank = pixel == change.value || pixel == change.other;
    return (is_blank ? change.blank : pixel) ^ change.sign;
}

/* Whether a change changes any pixel. */
PIXEL_FUNCTION bool pixel_change_is_any(struct pixel_change change) {
    return change.value != change.blank || change.sign != 0;
}

/* The source from which changed pixels are read. */
struct changed {
    struct pixel_source stored;
    struct pixel_change change;
};

/* A source of the pixels of `stored`, changed. `changed` and the state of `stored` must outlive the
 * source. */
struct pixel_source changed_source(struct changed *changed, const struct pixel_source *stored,
                                   struct pixel_change change);

#endif
