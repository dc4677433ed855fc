/* The ellipses on a picture: sources, their Gaussians, and the beam. */
#ifndef MARKS_H
#define MARKS_H

#include "input/wcs.h"
#include "output/picture/canvas.h"
#include "output/picture/outline.h"
#include "output/result.h"

/* More sources than this would cover the map: those of highest |SNR| are marked. */
enum { MOST_MARKS = 5000 };

/* What ellipses there are on a picture, and whether some have numbers. */
enum mark_kinds {
    MARK_FWHM = 1,        /* by Gaussians */
    MARK_MOMENTS = 2,     /* by moments, in a catalogue without a fit */
    MARK_BEAM = 4,        /* by the beam: there is no shape */
    MARK_PIXELS = 8,      /* by the pixels: there is no sky */
    MARK_GAUSSIAN = 16,   /* one of the Gaussians of a source */
    MARK_NOT_FITTED = 32, /* by moments or the beam, in a catalogue with a fit */
    MARK_NEGATIVE = 64,
    MARK_NUMBER = 128,
    MARK_SCALE = 256,
};

struct colour {
    double red, green, blue;
};

struct mark {
    struct outline outline;
    const struct colour *colour;
    const struct srcfind_source *source; /* or the row of a Gaussian; the catalogue's */
    unsigned kinds;
};

/* The ellipses of a catalogue, in its order, each followed by those of its Gaussians. */
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

/* Makes an ellipse for each source: its axes are twice its FWHM, or twice the beam's if it has no
 * shape. A source of several Gaussians has one for each of them, too. Without sky coordinates the
 * ellipse surrounds the pixels. wcs may be NULL. Clear the marks also after an error. Errors:
 * memory. */
enum srcfind_status marks_make(struct marks *marks, const struct canvas *canvas, struct wcs *wcs,
                               const struct result *result, struct error *error);
void marks_clear(struct marks *marks);

/* Draws the ellipses: those of Gaussians as thin lines, those that were not fitted dashed. */
void marks_draw(const struct marks *marks, const struct canvas *canvas);

/* Makes the beam's ellipse, in the orientation that it has at the image's centre. It is in the
 * corner whose box touches the fewest marks: the lower left one, if that is one of them. It has no
 * box, and is at the lower left, where the box would hide a third of the map. There is none without
 * a beam or sky coordinates. Errors: memory. */
enum srcfind_status marks_make_beam(struct beam_mark *beam, const struct marks *marks,
                                    const struct canvas *canvas, struct wcs *wcs,
                                    const struct srcfind_image *image, struct error *error);

/* Draws the beam: black on white; without a box, as a line. */
void marks_draw_beam(const struct beam_mark *beam, const struct canvas *canvas);

#endif
