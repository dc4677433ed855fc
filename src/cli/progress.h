/* The progress line on standard error. It must be cleared before a message is written. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include "cli/cli.h"

struct progress {
    bool is_wanted;
    bool is_drawn;
    double start; /* when the first line was drawn, on the clock; 0 before */
};

/* What a run has done. */
struct totals {
    int64_t images, sources, failed, skipped;
    double seconds;
};

struct progress progress_for(const struct cli *cli);

/* Shows that image i (from 0) of n begins; `done` is what was done before, whose rows are `row`s.
 */
void progress_show(struct progress *progress, int64_t i, int64_t n, const struct totals *done,
                   const char *row, const char *path);
void progress_clear(struct progress *progress);

#endif
