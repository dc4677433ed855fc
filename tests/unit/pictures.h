/* Pictures to test with: ordinary and adversarial ones. */
#ifndef PICTURES_H
#define PICTURES_H

#include "oracle.h"

/* A random number generator of known steps (splitmix64). */
struct random {
    uint64_t state;
};

uint64_t random_bits(struct random *random);
/* Evenly in [0, 1). */
double random_unit(struct random *random);
/* Evenly in 0 ... n - 1. */
int random_below(struct random *random, int n);
double random_normal(struct random *random);

enum { PICTURE_KINDS = 23 };

/* A picture of one of the kinds, 0 ... PICTURE_KINDS - 1. */
struct picture picture_make(int kind, int width, int height, struct random *random);
const char *picture_name(int kind);
void picture_free(struct picture *picture);

/* What to look for: sources of 5 sigma after a clip at kappa. */
static inline struct detection detection_with(double kappa) {
    return (struct detection){.kappa = kappa,
                              .threshold = 5,
                              .island = 5,
                              .background = NAN,
                              .connectivity = 4,
                              .min_pixels = 1};
}

/* What to look for: ordinary and odd. */
struct detection random_detection(struct random *random);

/* Boxes of local noise: odd and even, larger than the picture, and steps that do and do not divide
 * them. */
void random_boxes(struct random *random, struct detection *detection);

#endif
