/* Writes the measurements of --bench, for one image, as a table or as JSON. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "srcfind.h"

enum measured {
    MEASURED_PROCESS = SRCFIND_STAGES, /* the command as a process, from start to end */
    MEASURED_START,                    /* MEASURED_PROCESS without SRCFIND_FILE */
    MEASURED_BATCH,                    /* one image, when many are searched at a time */
    MEASURED_ROWS
};

struct bench_report {
    const struct srcfind_bench *bench;
    double process_seconds; /* median; NaN if not measured */
    double batch_seconds;   /* per image, of many images; NaN if not measured */
    int n_workers;          /* how many images are searched at a time */
};

/* Returns false where memory ran out. */
bool bench_report_write(const struct bench_report *report, bool as_json, FILE *stream);

/* The median of n numbers. Sorts them. */
double bench_report_median(double *numbers, int n);

#endif
