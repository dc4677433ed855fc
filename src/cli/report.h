/* The file of --report: a CSV row for each image, appended as the image ends. It belongs to one
 * process, which locks it, and can be read while it grows. */
#ifndef REPORT_H
#define REPORT_H

#include "cli/report_row.h"

struct report;

/* Opens and locks the report, and reads what is there; makes *report NULL without --report. Returns
 * the exit status; on an error the reason is on standard error. Close it also after an error. */
int report_open(const struct cli *cli, const struct targets *targets, struct report **report);

/* Closes the report; it may be NULL, as in all that follows. */
void report_close(struct report *report);

/* Whether a row says that the same version of srcfind searched the image, as it is now, with the
 * same options, and wrote the outputs that are there. True without a report. */
bool report_allows_skipping(const struct report *report, const struct target *target);

/* Removes the rows of images that the run searches (is_done is false), so that each image has one
 * row. Returns the exit status, as above. */
int report_begin(struct report *report);

/* Appends a row. Threads may call this at the same time. False if the row cannot be written; *first
 * is then whether it is the first, with the reason in errno. */
bool report_add(struct report *report, const struct report_row *row, bool *first);

#endif
