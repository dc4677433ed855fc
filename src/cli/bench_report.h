/* What --bench measured of an image, as a table or JSON. */
#ifndef MEASUREMENT_H
#define MEASUREMENT_H

#include "srcfind.h"

enum measured {
    MEASURED_PROCESS = SRCFIND_STAGES, /* the command as it is used, from start to end */
    MEASURED_START,                    /* of that, what is not from the file to the catalogue */
    MEASURED_BATCH,                    /* an image among many */
    MEASURED_ROWS
};

struct measurement {
    const struct srcfind_bench *bench;
    double process_seconds; /* median; NaN where it could not be measured */
    double batch_seconds;   /* for each of many images; NaN where they were not searched */
    int n_workers;          /* that searched them at a time */
};

void measurement_write_text(const struct measurement *measurement, FILE *stream);

/* Returns false where memory ran out. */
bool measurement_write_json(const struct measurement *measurement, FILE *stream);

/* The median of n numbers, which are put in order. */
double measurement_median(double *numbers, int n);

#endif
