/* The rows of --at: fluxes at given positions. */
#ifndef AT_ROWS_H
#define AT_ROWS_H

#include "measure/entry_models.h"
#include "measure/forced.h"
#include "measure/setting.h"

/* What is measured, and where. */
struct at_rows_from {
    const struct view *view; /* whose noise is known */
    const struct run_source *pixels;
    const struct positions *positions;
    const struct fit_frame *frame;    /* of the image */
    bool fits;                        /* amplitudes; else the image is sampled */
    const struct entry_model *models; /* of each position, whose fluxes the rows have; else NULL */
    bool all;                         /* rows of positions outside of the image, too */
    bool positive; /* no flux is below 0; errors are those of fluxes of either sign */
};

/* The frame of the fits, and the noise in which the errors of rows are. */
struct at_noise {
    struct fit_frame frame;
    struct correlation correlation;
};

/* How a model's peaks compare with the image, whose values there are known. Only peaks above ten
 * rms count. */
struct peaks_compared {
    int64_t n_bright; /* such entries */
    int64_t n_seen;   /* where the image has three rms or more */
    int64_t n[2];     /* of these, where the model is a hundred times the image or more, and less */
    double sum[2];    /* of log10(model / image) of these */
};

/* What is told of the entries in notes: how many positions have no row; of a model, how many
 * entries are sums of Gaussians that stand in another table, or are too wide for the image; and
 * which shapes there were. */
struct entries_left_out {
    int64_t outside, nowhere; /* outside of the image; empty cells in the catalogue */
    int64_t sums, too_wide;
    struct told_shapes told;
    struct peaks_compared peaks;
};

struct at_rows {
    struct srcfind_source *rows;
    int64_t n;
    struct gaussian *gaussians; /* with a fit or models: all that are in the image */
    int64_t n_gaussians;
    struct entries_left_out left_out;
};

/* Makes a row for each position in the image, or for all, in their order. The caller frees what the
 * rows have; it is NULL on an error.
 *
 * Without a fit Peak_flux is value - background at the position, between the pixels by Lanczos'
 * interpolation; where a pixel within three is missing, that of the nearest one, with flag
 * SRCFIND_FLAG_EDGE. With a fit it is the
 * amplitude of a shape, held at the position, by linear least squares over the pixels within one
 * FWHM (of the shape in that direction), and Total_flux is that of the shape: the one that the
 * catalogue tells, convolved with the beam, or the beam. Places that are close are fitted together:
 * see place_groups.h. The errors are those of the noise: of a pixel, or of the amplitude, see
 * amplitudes.h. Positions outside of the image, or on a blank, have flag SRCFIND_FLAG_OUTSIDE and
 * no flux.
 *
 * With models flux and shape are those of the entry, without errors; one without a flux has flag
 * SRCFIND_FLAG_NOT_FITTED. */
enum srcfind_status at_rows_make(const struct at_rows_from *from, struct threads *threads,
                                 struct at_rows *made, struct error *error);

#endif
