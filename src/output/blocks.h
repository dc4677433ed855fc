/* Writes the rows of a catalogue in blocks: threads format blocks, and compress them, while one of
 * them writes. */
#ifndef BLOCKS_H
#define BLOCKS_H

#include "common/threads.h"
#include "output/gzip.h"
#include "output/writer.h"

/* Writes all rows to the stream, or, if gzip is not NULL, adds them to the compressed file. False
 * with errno if memory ran out or writing failed. */
bool blocks_write(const struct writer *writer, const struct table *table, struct threads *threads,
                  FILE *stream, struct gzip *gzip);

#endif
