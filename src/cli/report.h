/* Messages on standard error, one line each. A progress line must be cleared before a message. */
#ifndef REPORT_H
#define REPORT_H

#include "cli/command_line.h"

struct report {
    bool quiet, verbose, progress;
    bool local;   /* --local was given, and not --rms-map */
    bool rms_map; /* --rms-map was given */
    bool drawn;   /* the terminal shows a progress line */
    FILE *stream; /* for messages: standard error, or a buffer in memory */
};

struct report report_for(const struct cli *cli);

/* Writes `srcfind: text`, also with --quiet. */
__attribute__((format(printf, 2, 3))) void report_error(const struct report *report,
                                                        const char *format, ...);

/* Flushes standard output and reports an error. `made` is false if memory ran out before all was
 * written. Returns the exit status. */
int report_written(const struct report *report, bool made);

/* Shows the progress line: image i (from 0) of n is next. */
void report_next(struct report *report, int64_t i, int64_t n, const char *path);

/* Clears the progress line. */
void report_clear(struct report *report);

/* Writes messages that were kept in memory. */
void report_text(struct report *report, const char *text);

/* Reports the result of an image. seconds: from the file to the catalogue. */
void report_image(const struct report *report, const struct srcfind_catalogue *catalogue,
                  double seconds);

void report_skipped(const struct report *report, const char *path, const char *catalogue);

struct totals {
    int64_t images, sources, failed, skipped;
    double seconds;
};

/* Reports that n images were not searched because no device can be used any more. */
void report_given_up(struct report *report, int64_t n);

/* Reports the totals of a run, if it has several images. */
void report_totals(struct report *report, const struct totals *totals);

#endif
