/* Rows of a catalogue in the order of their numbers, in which a search found them. */
#ifndef NUMBERED_ROWS_H
#define NUMBERED_ROWS_H

#include "merge/spool.h"

/* Puts n rows at *at in the spool, of a catalogue that was sorted, into the order of Source_id: *at
 * is then where they are. Rows whose numbers are not 1 to n stay as they are. False with errno. */
bool numbered_rows_order(struct spool *spool, int64_t *at, int64_t n);

#endif
