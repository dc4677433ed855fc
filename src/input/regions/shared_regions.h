/* The regions of a file for several searches: it is read once, and kept for the next search.
 * Several threads may use them at the same time. */
#ifndef SHARED_REGIONS_H
#define SHARED_REGIONS_H

#include "input/regions/regions.h"

struct shared_regions;

/* Makes room for the regions of one file, to be released. NULL where memory ran out. */
struct shared_regions *shared_regions_create(void);

/* Adds a reference. Each reference is to be released. shared may be NULL. */
struct shared_regions *shared_regions_share(struct shared_regions *shared);
void shared_regions_release(struct shared_regions *shared);

struct taken_regions;

/* Takes the regions of a file, to be given back. The file is read unless it was the last one taken,
 * and has not changed since. *taken is NULL after an error. */
enum srcfind_status shared_regions_take(struct shared_regions *shared, const char *path,
                                        struct taken_regions **taken, struct error *error);
const struct regions *taken_regions_of(const struct taken_regions *taken);

/* taken may be NULL. */
void shared_regions_give(struct shared_regions *shared, struct taken_regions *taken);

#endif
