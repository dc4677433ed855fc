/* A row of a report: what became of an image. */
#ifndef REPORT_ROW_H
#define REPORT_ROW_H

#include <sys/stat.h>

#include "cli/target.h"

/* The columns, in their order. */
enum report_column {
    REPORT_IMAGE,
    REPORT_STATUS,
    REPORT_MESSAGE,
    REPORT_SOURCES,
    REPORT_NEGATIVE,
    REPORT_RMS_MEDIAN,
    REPORT_BACKGROUND,
    REPORT_BOX,
    REPORT_BEAM,
    REPORT_UNIT,
    REPORT_ZEROS,
    REPORT_SECONDS,
    REPORT_BACKEND,
    REPORT_VERSION,
    REPORT_OPTIONS,
    REPORT_SIZE,
    REPORT_MTIME,
    REPORT_OUTPUT_SIZE,
    REPORT_OUTPUT_MTIME,
    REPORT_CATALOGUE,
    REPORT_PLANE,
    REPORT_FOOTPRINT,
    REPORT_COLUMNS
};

/* The line of their names. */
extern const char REPORT_HEADER[];

struct report_row {
    const struct target *target;
    const struct result *result; /* NULL where it failed or was skipped */
    const char *status;          /* "done", "failed" or "skipped" */
    const char *message;         /* why it was not done; else "" */
    double seconds;
};

/* Writes a row with its newline. digest: of what the outputs depend on. */
void report_row_write(const struct report_row *row, const char *digest, FILE *stream);

enum { REPORT_NUMBER = 48 };

/* Formats size and modification time of files, as they stand in a row. */
void report_format_version(const struct stat *info, char size[REPORT_NUMBER],
                           char time[REPORT_NUMBER]);

#endif
