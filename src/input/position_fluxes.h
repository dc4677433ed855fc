/* The fluxes of the entries of a catalogue, for models and for sources that are injected. */
#ifndef POSITION_FLUXES_H
#define POSITION_FLUXES_H

#include "input/table_file.h"

/* The units of an image, to which fluxes are converted. */
struct flux_units {
    const char *flux, *map; /* of total fluxes and of peaks; "" if there is none */
    double per_peak;        /* total flux of a point / its peak in the map */
    double frequency;       /* Hz; NaN: unknown */
};

/* What an entry tells of its flux. NaN: nothing. */
struct position_flux {
    double total;    /* flux density, in the image's unit of fluxes */
    double of_point; /* without a column of total fluxes: that of a point with the entry's peak */
    double scale;    /* Scale and Isl_mean of a catalogue of --scales: beams, unit of the map per */
    double beneath;  /* effective beam; 0 and NaN in others */
    double x, y;     /* Xposn and Yposn */
    bool is_unfitted; /* by srcfind's own flag: the row has no Gaussian */
    bool is_sum;      /* of several Gaussians, which are in another table */
};

/* Whether position_fluxes_read may use a column of this name. */
bool position_fluxes_use(const char *name);

/* Reads the first column of total fluxes that there is (Total_flux, int_flux, flux_int, Flux, ...:
 * position_fluxes.c), else of peaks. T-RECS has fluxes at many frequencies (I1400: MHz): that which
 * is nearest to the image's is taken. A unit may stand behind the name: Total_flux(mJy),
 * Total_flux [mJy], Total_flux_mJy. A column without a unit is in the unit of the image's fluxes,
 * which is Jy if it can be, or in that of the program whose name it has. A cell that is empty or no
 * number has no flux. Makes an array with an element for each row, which the caller frees. Errors:
 * there is no such column, or its unit is none of a flux. */
enum srcfind_status position_fluxes_read(const char *path, const struct table_file *table,
                                         const struct flux_units *units,
                                         struct position_flux **fluxes, struct error *error);

#endif
