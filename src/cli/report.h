/* What the command says on standard error: one line a message. A progress line is to be cleared
 * before. */
#ifndef REPORT_H
#define REPORT_H

#include "command_line.h"

struct report {
    bool quiet, verbose, progress;
    bool drawn;   /* a progress line stands on the terminal */
    FILE *stream; /* where messages go: standard error, or what is kept for it */
};

struct report report_for(const struct cli *cli);

/* `srcfind: text`; never suppressed. */
__attribute__((format(printf, 2, 3))) void report_error(const struct report *report,
                                                        const char *format, ...);

/* Sees to it that what was written to standard output is there; `made` is false where memory ran
 * out before it was. Returns the exit status. */
int report_written(const struct report *report, bool made);

/* Image number i of n (from 0) is next. */
void report_next(struct report *report, int64_t i, int64_t n, const char *path);

/* Takes the progress line away, before something else is written to the terminal. */
void report_clear(struct report *report);

/* Messages that were kept. */
void report_text(struct report *report, const char *text);

/* What was found in an image, in how many seconds from file to catalogue. */
void report_image(const struct report *report, const struct srcfind_catalogue *catalogue,
                  double seconds);

void report_skipped(const struct report *report, const char *path, const char *catalogue);

struct totals {
    int64_t images, sources, failed, skipped;
    double seconds;
};

/* The device cannot be used any more, with n images still to be searched. */
void report_given_up(struct report *report, int64_t n);

/* The end of a run over several images. */
void report_totals(struct report *report, const struct totals *totals);

#endif
