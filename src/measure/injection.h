/* Sources that are added to an image, to see which of them a search finds (option completeness). */
#ifndef INJECTION_H
#define INJECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "options/options.h"

/* Between these S/N sources are added, evenly in its logarithm. S/N: peak / rms x width. */
static const double INJECTION_LEAST = 3, INJECTION_MOST = 60;

struct injection {
    double width;                     /* FWHM, in beams */
    double snr;                       /* true */
    double flux;                      /* true total flux, in the flux unit */
    double x, y;                      /* where it is, pixels */
    double weight;                    /* its weight in bins: the same for all sources of an image */
    bool is_added;                    /* false: there was no room or no pixel for it */
    bool is_found;                    /* what follows is known then */
    double ratio;                     /* measured / true total flux */
    double dx, dy;                    /* measured - true position, pixels */
    double flux_pull, x_pull, y_pull; /* these differences / their errors */
};

/* The widths of the scales of an image and of points; those of many images may differ. */
enum { INJECTION_WIDTHS = 64 };

/* The injections of an image: n_a_width of each width, one width after the other. */
struct injections {
    struct injection *all;
    int64_t n, n_a_width;
    double widths[INJECTION_WIDTHS]; /* in rising order */
    int n_widths;
    double area; /* over which they are spread: square degrees; pixels without sky */
};

_Static_assert(SCALES_MOST + 1 <= INJECTION_WIDTHS, "there is room for the widths of an image");

#endif
