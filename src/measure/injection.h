/* Sources that are added to an image, to see which of them a search finds (option completeness). */
#ifndef INJECTION_H
#define INJECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "backend/gaussian.h"
#include "input/position_shapes.h"
#include "options/options.h"

/* Between these S/N random sources are added, evenly in its logarithm. S/N: peak / rms x width. */
static const double INJECTION_LEAST = 3, INJECTION_MOST = 60;

struct injection {
    double width;                     /* FWHM, in beams */
    double snr;                       /* true */
    double flux;                      /* true total flux, in the flux unit */
    double x, y;                      /* where it is, pixels */
    double weight;                    /* its weight in bins: the same for all sources of an image */
    int64_t trial;                    /* the search in which it is, from 1; 0: none */
    bool is_added;                    /* false: there was no room or no pixel for it */
    bool is_found;                    /* what follows is known then */
    double ratio;                     /* measured / true total flux */
    double dx, dy;                    /* measured - true position, pixels */
    double flux_pull, x_pull, y_pull; /* these differences / their errors */
};

/* The widths of the scales of an image and of points; those of many images may differ. */
enum { INJECTION_WIDTHS = 64 };

/* The sources of a file are a width of their own, whatever their widths are. */
static const double INJECTION_OF_FILE = 0;

/* The injections of an image: n_a_width of each width, one width after the other. */
struct injections {
    struct injection *all;
    int64_t n, n_a_width;
    double widths[INJECTION_WIDTHS]; /* in rising order */
    int n_widths;
    double area; /* over which they are spread: square degrees; pixels without sky */

    /* Of an image alone; not of lists that were read or merged. */
    char (*entry_id)[SRCFIND_CELL];         /* of the sources of a file; else NULL */
    int64_t n_outside, n_faint, n_unchosen; /* of a file: outside of the image or on blank pixels,
                                               without a flux above 0, not among those wanted */
    int64_t n_too_wide;                     /* of those without a shape: wider than the image */
    int64_t n_on_sources;    /* that lie within half a beam of a source of the image */
    struct told_shapes told; /* of a file */
    int64_t n_trials;
    struct gaussian *first; /* of the first trial, in the measured image */
    int64_t n_first;
};

void injections_clear(struct injections *list);

_Static_assert(SCALES_MOST + 1 <= INJECTION_WIDTHS, "there is room for the widths of an image");

#endif
