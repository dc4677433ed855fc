/* Writes a table in a format: what stands before the rows, the rows in blocks, and the end. */
#ifndef WRITE_TABLE_H
#define WRITE_TABLE_H

#include "common/threads.h"
#include "output/writer.h"

/* Writes a table, with all threads; compressed: in gzip's format. Returns false if memory ran
 * out or the stream failed, and then errno says why. */
bool table_write(const struct writer *writer, const struct table *table, struct threads *threads,
                 FILE *stream, bool compressed);

#endif
