/* The point-spread function of an image, where it differs from the beam: smearing by time and
 * bandwidth, the ionosphere, and mosaics of many fields widen points from place to place. It is a
 * Gaussian at each place, whose second moments are given at nodes. The total flux of a point is
 * kept, and its peak is not. */
#ifndef PSF_H
#define PSF_H

#include "measure/grid.h"

/* Node (i, j) is at pixel (i step_x, j step_y). */
struct psf {
    struct tensor beam; /* second moments, pixels^2, which hold everywhere if there are no nodes */
    int64_t n_x, n_y;   /* 0: there are no nodes */
    double step_x, step_y;
    struct tensor *moments; /* of the nodes, row by row, pixels^2 */
    double missing;         /* share of the nodes that have the beam's for want of others */
};

/* Makes nodes for an image of this size, which have the beam's moments; false where memory ran out.
 * The nodes at the end of each axis are in the middle of the last pixels. Clear it, also after a
 * failure. */
bool psf_make(struct psf *psf, const struct tensor *beam, int64_t width, int64_t height);
void psf_clear(struct psf *psf);

/* Makes that of another image with this beam, on the same pixels: smearing adds the same second
 * moments to each beam. False where memory ran out. */
bool psf_make_beside(struct psf *psf, const struct tensor *beam, const struct psf *other);

/* Gives each node at least the widths of the beam: smearing makes nothing narrower. */
void psf_widen(struct psf *psf);

/* The second moments at a position of the image, by bilinear interpolation; beyond the image those
 * of its edge. */
struct tensor psf_at(const struct psf *psf, double x, double y);

/* The area of the point-spread function with these moments / that of the beam. */
double psf_area(const struct psf *psf, const struct tensor *moments);

/* The mean area of the nodes at the edges of the image. Needs nodes. */
double psf_area_at_edges(const struct psf *psf);

/* The frame of fits at a position of a grid, whose unit circle is the point-spread function there,
 * smoothed by the kernel of the grid. of_image: the frame of the beam. */
struct fit_frame psf_frame(const struct psf *psf, const struct grid *grid,
                           const struct fit_frame *of_image, double x, double y);

#endif
