/* How the stored values of an image mean numbers: bzero + bscale * stored, and no number at all
 * where an integer is blank. */
#ifndef SCALING_H
#define SCALING_H

#include <stdbool.h>
#include <stdint.h>

struct scaling {
    double bscale, bzero;
    bool has_blank;
    int64_t blank;
};

#endif
