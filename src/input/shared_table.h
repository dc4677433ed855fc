/* A table in a file for several searches, such as the catalogue of --at: it is read once, and kept
 * for the next search. Several threads may use it at the same time. */
#ifndef SHARED_TABLE_H
#define SHARED_TABLE_H

#include "input/fits/file.h"
#include "input/table_file.h"

struct shared_table;

/* Makes room for one table, to be released. The cells of columns whose names `is_used` accepts are
 * kept; `rank` chooses among the tables of a file (struct table_wish). NULL where memory ran out.
 */
struct shared_table *shared_table_create(bool (*is_used)(const char *name),
                                         int (*rank)(const struct table_file *table,
                                                     const struct table_wish *wish));

/* Adds a reference. Each reference is to be released. shared may be NULL. */
struct shared_table *shared_table_share(struct shared_table *shared);
void shared_table_release(struct shared_table *shared);

/* A table that was read. */
struct taken_table {
    struct table_file table;     /* not to be changed; unused columns have no cells */
    char *path, *lon, *lat;      /* lon, lat: coordinates it was chosen for; may be NULL */
    struct fits_version version; /* of the file before it was read */
    int n_users;
};

/* Takes the table of a file for an image with the coordinates lon and lat (NULL: no image is known
 * yet), to be given back. The file is read unless its table was the last one taken, the file has
 * not changed since, and no other table of it may suit better. *taken is NULL after an error. */
enum srcfind_status shared_table_take(struct shared_table *shared, const char *path,
                                      const char *lon, const char *lat, struct taken_table **taken,
                                      struct error *error);

/* taken may be NULL. */
void shared_table_give(struct shared_table *shared, struct taken_table *taken);

#endif
