/* Files of regions: what they are, and what is in them. */
#ifndef REGION_FILE_H
#define REGION_FILE_H

#include "input/regions/regions.h"

/* Sets *is to whether a file has regions, by its first line or, if this says nothing, by its
 * suffix: a file that is no regular one, or cannot be read, has none. An error for files that have
 * regions in a form that is not read. */
enum srcfind_status region_file_is(const char *path, bool *is, struct error *error);

/* Reads the regions of a file. The message of an error names the file, the line and the word. Clear
 * the regions also after an error. */
enum srcfind_status region_file_read(const char *path, struct regions *regions,
                                     struct error *error);

/* Reads the regions of a text in memory, as if it were that of a file. */
enum srcfind_status region_file_parse(const char *path, const char *text, int64_t size,
                                      struct regions *regions, struct error *error);

#endif
