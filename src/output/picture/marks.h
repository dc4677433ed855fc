/* The ellipses on a picture: sources, their Gaussians, and the beam. */
#ifndef MARKS_H
#define MARKS_H

#include "input/wcs.h"
#include "output/picture/canvas.h"
#include "output/picture/outline.h"
#include "output/result.h"

/* More sources than this would cover the map: those of highest |SNR| are marked. */
enum { MOST_MARKS = 5000 };

/* The kinds of ellipses on a picture, and whether some have numbers. */
enum mark_kinds {
    MARK_FWHM = 1,        /* of a fit */
    MARK_MOMENTS = 2,     /* of moments, in a catalogue without a fit */
    MARK_BEAM = 4,        /* of the beam: the source has no shape */
    MARK_PIXELS = 8,      /* around the pixels: there are no sky coordinates */
    MARK_GAUSSIAN = 16,   /* one of the Gaussians of a source */
    MARK_NOT_FITTED = 32, /* of moments or of the beam, in a catalogue with a fit */
    MARK_NEGATIVE = 64,
    MARK_NUMBER = 128,
    MARK_SCALE = 256,
};

struct colour {
    double red, green, blue;
};

/* Of sources: usual ones, negative ones, and those of the scales, in turn. */
enum { MARK_SCALE_COLOURS = 3 };
extern const struct colour marks_red, marks_blue, marks_of_scales[MARK_SCALE_COLOURS];

struct mark {
    struct outline outline;
    const struct colour *colour;
    const struct srcfind_source *source; /* or the row of a Gaussian, in the result */
    unsigned kinds;
};

/* The ellipses of a result, in the order of its sources, each followed by those of its Gaussians.
 */
struct marks {
    struct mark *marks;
    int64_t n;
};

/* The beam, as large as its FWHM, and its box, which has the same centre. */
struct beam_mark {
    bool is_there, has_box;
    struct outline outline;
    struct box box;
};

/* Makes an ellipse for each source, with axes twice its FWHM, or twice the FWHM of the beam if it
 * has no shape, and one for each Gaussian of a source of several. Without sky coordinates (wcs is
 * NULL) the ellipse surrounds the pixels. Clear the marks also after an error. Errors: memory. */
enum srcfind_status marks_make(struct marks *marks, const struct canvas *v, struct wcs *wcs,
                               const struct result *result, struct error *error);
void marks_clear(struct marks *marks);

/* Draws the ellipses: Gaussians with thin lines, sources that were not fitted with dashed lines. */
void marks_draw(const struct marks *marks, const struct canvas *v);

/* Makes the ellipse of the beam, as it is at the reference pixel, in the corner whose box touches
 * the fewest marks, the lower left corner first. If the box would take a third of the map, there is
 * no box, and the beam is at the lower left. Without a beam or sky coordinates there is no ellipse.
 * Errors: memory. */
enum srcfind_status marks_make_beam(struct beam_mark *beam, const struct marks *marks,
                                    const struct canvas *v, struct wcs *wcs,
                                    const struct srcfind_image *image, struct error *error);

/* How many marks lie in a box, at least with a corner of the box around each. */
int64_t marks_count_touched(const struct marks *marks, const struct box *box);

/* Draws the beam: black on its white box, or as a line without a box. */
void marks_draw_beam(const struct beam_mark *beam, const struct canvas *v);

#endif
