/* The readers of formats of tables. Each fills a table, which is cleared before, and which the
 * caller clears, also after an error. */
#ifndef READERS_H
#define READERS_H

#include "input/table_file.h"

enum srcfind_status csv_table_read(const char *path, struct table_file *table, struct error *error);
enum srcfind_status ecsv_table_read(const char *path, struct table_file *table,
                                    struct error *error);
enum srcfind_status json_table_read(const char *path, struct table_file *table,
                                    struct error *error);
enum srcfind_status regions_table_read(const char *path, struct table_file *table,
                                       struct error *error);
enum srcfind_status fits_table_read(const char *path, const struct table_wish *wish,
                                    struct table_file *table, struct error *error);
enum srcfind_status votable_table_read(const char *path, const struct table_wish *wish,
                                       struct table_file *table, struct error *error);

/* The readers in blocks. *done false: the file is to be read as a whole. */
enum srcfind_status csv_table_read_blocks(const char *path, const struct table_sink *sink,
                                          struct table_file *table, bool *done,
                                          struct error *error);
enum srcfind_status ecsv_table_read_blocks(const char *path, const struct table_sink *sink,
                                           struct table_file *table, bool *done,
                                           struct error *error);
enum srcfind_status fits_table_read_blocks(const char *path, const struct table_sink *sink,
                                           struct table_file *table, bool *done,
                                           struct error *error);

#endif
