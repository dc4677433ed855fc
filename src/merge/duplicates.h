/* Finds the rows of a merged catalogue that another image has better. */
#ifndef DUPLICATES_H
#define DUPLICATES_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

enum { SCALE_STEPS = 64 }; /* of a scale, a beam */

/* A row with a position on the sky. In the order of preference: at_edge false first, lower rms,
 * larger margin, lower image, lower row. */
struct candidate {
    double position[3]; /* a unit vector */
    union {
        double rms;
        struct {
            uint32_t rank;  /* the rank of this candidate, by preference */
            uint32_t index; /* the index of the candidate whose rank is the index of this one */
        } turn;             /* set by duplicates_find in place of the rms */
    };
    int32_t image;
    int32_t margin;   /* pixels between the source and the edge of the image */
    uint32_t row;     /* its number, 0 to n_rows - 1 of the caller */
    uint16_t scale;   /* FWHM of the kernel in SCALE_STEPS a beam; 0: the image itself */
    bool at_edge;     /* it has flag 1 */
    bool is_negative; /* negative sources are no duplicates of positive ones */
};

/* The distance within which a row of an image and a row of another image are duplicates, in
 * radians; NaN: not known. For a scale of K beams it is radius x sqrt(1 + growth K^2): half of the
 * major axis of the effective beam, if radius is half of the beam's and growth is BMIN / BMAJ. */
struct reach {
    double radius, growth;
};

/* The reach for rows of a scale, in beams; scale 0: the image itself. */
static inline double reach_of_scale(const struct reach *reach, double scale) {
    return reach->radius * sqrt(1 + reach->growth * scale * scale);
}

/* A bit of each row: that it is a duplicate, or may be an artefact. */
static inline bool row_bit_is_set(const uint64_t *bits, int64_t row) {
    return bits[row / 64] >> row % 64 & 1;
}

static inline void row_bit_set(uint64_t *bits, int64_t row) {
    bits[row / 64] |= (uint64_t)1 << row % 64;
}

/* Takes n rows, at most 2^32 - 1, in the order of preference. A row is a duplicate if a row of
 * another image with the same sign and scale was taken before, and is nearer than the reach; its
 * bit is set in `duplicates`. Other rows are taken. reach: of each image; the larger of two counts.
 * Changes the order of the candidates, and uses 4 bytes a row. */
bool duplicates_find(struct candidate *candidates, int64_t n, const struct reach *reach,
                     uint64_t *duplicates);

#endif
