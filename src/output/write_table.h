/* Writes a table in a format. */
#ifndef WRITE_TABLE_H
#define WRITE_TABLE_H

#include "common/threads.h"
#include "output/writer.h"

/* Writes a table, with all threads; compressed: in gzip's format. False if memory ran out or the
 * stream failed; errno then says why. */
bool table_write(const struct writer *writer, const struct table *table, struct threads *threads,
                 FILE *stream, bool compressed);

#endif
