/* The file of a merged catalogue: its format, and whether it may be written. */
#ifndef MERGED_FILE_H
#define MERGED_FILE_H

#include "cli/messages.h"
#include "merge/merge.h"

/* Checks the suffix of a path, and that its directory is there; `-` is standard output. Returns the
 * exit status; on an error the reason is on standard error. made: a directory that the run makes,
 * or NULL. */
int merged_file_check_path(const char *path, const char *made);

/* The path for struct merge_options and signals_hold_for: NULL for `-`. */
const char *merged_file_path(const char *path);

/* Refuses to replace a FITS file that is no catalogue of srcfind. Returns the exit status. */
int merged_file_check(const struct merge_options *options);

/* Says how many rows the file has. of: what was merged, "image" or "catalogue"; radius_option: the
 * one that helps where there is no beam, "--beam". */
void merged_file_say(const struct messages *messages, const char *path,
                     const struct srcfind_merge_counts *counts, bool keep, const char *of,
                     const char *radius_option);

/* Removes the tables that an earlier run left beside a merged catalogue that was written; those of
 * the options stay, and the files that were read, each of which may be NULL. */
void merged_file_remove_earlier(const struct merge_options *options, const char *const read[2],
                                const struct messages *messages);

#endif
