/* A table in a file that several searches use, as the catalogue of --at: it is read once, and kept
 * for the next search. Several threads may use it at the same time. */
#ifndef SHARED_TABLE_H
#define SHARED_TABLE_H

#include "input/fits/file.h"
#include "input/table_file.h"

struct shared_table;

/* Makes a place for one table, of which the cells of the columns whose names `is_used` accepts are
 * kept. Of a file with several, `rank` chooses it (struct table_wish). To be released; NULL where
 * memory ran out. */
struct shared_table *shared_table_create(bool (*is_used)(const char *name),
                                         int (*rank)(const struct table_file *table,
                                                     const struct table_wish *wish));

/* Adds a reference. Each reference is to be released. shared may be NULL. */
struct shared_table *shared_table_share(struct shared_table *shared);
void shared_table_release(struct shared_table *shared);

/* A table that was read. */
struct taken_table {
    struct table_file table;     /* not to be changed; columns that are not used have no cells */
    char *path, *lon, *lat;      /* the last two are those for which it was chosen; may be NULL */
    struct fits_version version; /* of the file before it was read */
    int n_users;
};

/* Takes the table of a file for an image with these coordinates, to be given back; both are NULL if
 * the image is not known yet. The file is read, unless it was the last one that was taken, has not
 * changed since, and none of its other tables may suit better. *taken is NULL on an error. */
enum srcfind_status shared_table_take(struct shared_table *shared, const char *path,
                                      const char *lon, const char *lat, struct taken_table **taken,
                                      struct error *error);

/* taken may be NULL. */
void shared_table_give(struct shared_table *shared, struct taken_table *taken);

#endif
