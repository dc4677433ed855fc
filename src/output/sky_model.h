/* Sky models: the Gaussians of positive sources, for programs that calibrate. This is common to all
 * formats; each formats its own rows. */
#ifndef SKY_MODEL_H
#define SKY_MODEL_H

#include "common/format_double.h"
#include "output/table.h"

/* A Gaussian without the beam, or a point. */
struct sky_row {
    int64_t source_id, island_id;
    int64_t number;              /* in its source, from 1 */
    double lon, lat;             /* degrees */
    double flux;                 /* Jy, at the frequency */
    double major, minor, angle;  /* FWHM in degrees; north through east; 0 of a point */
    double frequency, index;     /* Hz; S = flux (nu / frequency)^index */
    bool begins_patch;           /* it is the first row of a patch */
    double patch_lon, patch_lat; /* of the patch that it begins: the centre, weighted by flux */
};

/* Makes the table of a result with rows of struct sky_row. `format` is for messages. Errors: the
 * result has no Gaussians, or its image has no coordinates, frequency, beam or Jy. */
enum srcfind_status sky_model_make(const struct result *result, const char *format,
                                   struct table *model, struct error *error);

/* Row i of a block of rows. */
static inline const struct sky_row *sky_model_row(const struct rows *rows, int64_t i) {
    return (const struct sky_row *)rows->first + i;
}

/* The number of the patch of a row, by the option patches: the number of the source or of the
 * island; 0 without patches. */
int64_t sky_model_patch(const struct options *options, const struct sky_row *row);

/* Parts of a second: of right ascensions a microsecond, of declinations 10 microarcseconds. Both
 * are finer than 0.1 milliarcseconds. */
enum { RA_PARTS = 1000000, DEC_PARTS = 100000 };

#endif
