/* Columns that only --columns has: what other programs' tables need, made of a row, its image and
 * the other sources of its island. */
#ifndef DERIVED_H
#define DERIVED_H

#include "output/columns.h"
#include "output/result.h"

enum { DERIVED_TEXT = 40 };

/* The values beside a row. */
struct derived {
    int64_t isl_source, isl_sources; /* number in its island, from 0; sources of the island */
    int64_t has_siblings, is_estimate, is_poor;
    int64_t aegean_flags;
    double chi2_sum, resid_isl_std, aegean_mean, aegean_angle;
    double e_lon_max, e_lat_max;
    double major, e_major, minor, e_minor, angle; /* in the plane of the image, degrees */
    double dc_major, e_dc_major, dc_minor, e_dc_minor, dc_angle;
    char island_name[DERIVED_TEXT], component_name[DERIVED_TEXT];
    char lon[DERIVED_TEXT], lat[DERIVED_TEXT]; /* sexagesimal */
    char uuid[DERIVED_TEXT];
};

/* A row with the values beside it. */
struct derived_row {
    struct srcfind_source source;
    struct derived derived;
};

/* Adds the columns that rows have with these options. Their cells are in rows of struct
 * derived_row. */
void derived_add_columns(struct columns *columns, const struct column_facts *facts);

/* Description i of all of these columns, and whether they need --fit; NULL after the last. */
const struct srcfind_column *derived_column(int i, bool *needs_fit);

/* Where each source stands in its island. */
struct island_place {
    int32_t number, of; /* from 0; sources of the island */
};

/* The places of the n rows of a result, to be freed; NULL where memory ran out. */
struct island_place *derived_places(const struct result *result);

/* Sets the values beside row i of a result. */
void derived_set(const struct result *result, const struct island_place *places, int64_t i,
                 struct derived *derived);

#endif
