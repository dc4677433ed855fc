/* The input and the output of fits of Gaussians; shared by all backends.
 *
 * Positions are in beam sigmas: u = W (x, y), in which the beam is exp(-(u^2 + v^2) / 2). A
 * component is A exp(-(p du^2 + 2 q du dv + r dv^2) / 2) around its centre: the beam's shape is p =
 * r = 1, q = 0. This form has no angle, and so no special case for round sources. Values are in
 * units of the rms. */
#ifndef FIT_H
#define FIT_H

#include "backend/exact.h"

/* The parameters of a component. */
enum fit_parameter { FIT_PEAK, FIT_U, FIT_V, FIT_P, FIT_Q, FIT_R, FIT_PARAMETERS };

enum {
    FIT_GROUP = 8, /* most sources that are fitted together */
    FIT_ADDED = 3, /* most components that the residual adds */
    FIT_MOST = FIT_GROUP + FIT_ADDED,
    FIT_MOST_PIXELS = 1 << 16, /* of a fit */
    FIT_LANES = 32,            /* partial sums over the pixels: pixel k is in lane k mod 32 */
};

/* Which components keep the beam's shape. */
enum fit_shapes {
    FIT_SHAPES_CHOSEN, /* components that may be points: steps 3 and 4 */
    FIT_SHAPES_FREE,   /* only components whose shape cannot be fitted */
    FIT_SHAPES_BEAM,   /* all */
};

/* The frame of a fit: an offset (x, y) in pixels is u = ux x + uy y, v = vy y. */
struct fit_frame {
    double ux, uy, vy;
    bool has_beam; /* else the unit circle is only a guess of a source's size */
    enum fit_shapes shapes;
};

/* A pixel of a fit: its value - background in units of the rms, its offset from the origin. */
struct fit_pixel {
    double value;
    int32_t x, y;
};

/* Components that are fitted together. */
struct fit_set {
    double value[FIT_MOST][FIT_PARAMETERS];
    int32_t is_free[FIT_MOST]; /* else it keeps the beam's shape */
    int32_t source[FIT_MOST];  /* its number among the job's sources; -1: it was added */
    int32_t n;
};

struct fit_limits {
    int32_t rounds;   /* most iterations of a fit */
    double tolerance; /* stops when chi^2 falls by less than this, and by less than this share of
                         chi^2 a pixel */
};

/* An ordinary fit takes four iterations. Of bright blended sources one in a hundred takes more than
 * twelve: if these are stopped there, one in seven components of real maps ends elsewhere. A third
 * more iterations with a hundredth of this tolerance change no result that matters. */
static const struct fit_limits FIT_LIMITS = {50, 0.1};

/* A component before steps 4 and 5: its form, or 0 if it is not free; and the flux (peak x widths /
 * the beam's) that it had, if step 4 gave it the beam's shape. */
struct fit_before {
    double flux, p, q, r;
};

/* A fit of the pixels [first, first + n_pixels) of an array, of which the first n_inside are of the
 * island, and the others of its margin. */
struct fit_job {
    struct fit_frame frame;
    int64_t first;
    int32_t n_pixels, n_inside;
    double widest; /* bound of the widths, in beam sigmas: see fit_widest */
    struct fit_limits limits;
    bool only_free; /* step 1 of fit_island.h alone: in sweeps over a large island but the last */
    bool is_fitted; /* result: false if there are too few pixels, or no fit was found */
    struct fit_set set; /* the start, and then the result: without what cannot be fitted */
    struct fit_before before[FIT_MOST]; /* result */
};

/* FWHM of a Gaussian / its sigma: sqrt(8 ln 2) */
static const double FIT_FWHM = 2.3548200450309493;

/* The square of six sigma: beyond it a Gaussian is less than 2e-8 of its peak, and counts as 0. */
static const double GAUSSIAN_REACH = 36;

/* The exponent of a component's shape in the weights of the core. area: the product of its widths,
 * in beam sigmas. In noise that is correlated as the beam is, the best weights of a point leave its
 * peak; of a source much wider than the beam all pixels count the same. Between them this is within
 * 1% of the exponent with the least errors (uncertainty.h), from 1 to 4 beams. */
EXACT_FUNCTION double fit_core_exponent(double area) {
    return area > 1 ? 2 / (area * sqrt(area)) : 2;
}

/* The greatest width of a source whose pixels fill a box of these sides, in beam sigmas. */
EXACT_FUNCTION double fit_widest(double side_u, double side_v) {
    const double beams = 1 + sqrt(side_u * side_u + side_v * side_v) / FIT_FWHM;
    return beams > 1.5 ? beams : 1.5;
}

#endif
