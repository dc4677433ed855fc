#include "cli/outputs.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/finder.h"
#include "api/maps.h"
#include "cli/signals.h"
#include "common/path.h"
#include "output/catalogue.h"
#include "output/save.h"

enum { NAME_TEXT = 32 }; /* for the name of a column */

/* Holds signals back while a file is saved, so that no temporary file stays. */
static enum srcfind_status save_catalogue(struct srcfind *finder,
                                          const struct srcfind_catalogue *catalogue,
                                          const char *format, const char *path) {
    const bool is_held = signals_hold_for(path);
    const enum srcfind_status status = srcfind_catalogue_save(finder, catalogue, format, path);
    if (is_held)
        signals_release();
    return status;
}

static enum srcfind_status write_catalogue(struct srcfind *finder,
                                           struct srcfind_catalogue *catalogue,
                                           const struct targets *targets, const char *path) {
    const struct srcfind_catalogue *table = catalogue;
    enum srcfind_status status = SRCFIND_OK;
    if (!path && !targets->to_stdout)
        return SRCFIND_OK;
    if (targets->columns)
        status = srcfind_catalogue_select(finder, catalogue, targets->columns, &table);
    if (status != SRCFIND_OK)
        return status;
    return path ? save_catalogue(finder, table, targets->format->name, path)
                : srcfind_catalogue_write(finder, table, targets->format->name, stdout);
}

/* The format of the tables that are written beside a catalogue. */
static const char *table_format(const struct targets *targets) {
    return targets_are_tables(targets) ? targets->format->name : "csv";
}

static enum srcfind_status write_table(struct srcfind *finder, struct srcfind_catalogue *catalogue,
                                       const struct targets *targets, int table, const char *path) {
    const struct srcfind_catalogue *rows =
        table == TABLE_GAUSSIANS      ? srcfind_catalogue_gaussians(catalogue)
        : table == TABLE_PLANES       ? srcfind_catalogue_planes(catalogue)
        : table == TABLE_COMPLETENESS ? srcfind_catalogue_completeness(catalogue)
        : table == TABLE_INJECTIONS   ? catalogue_table(catalogue, TABLE_OF_INJECTIONS)
                                      : srcfind_catalogue_reliability(catalogue);
    return rows ? save_catalogue(finder, rows, table_format(targets), path)
                : error_memory(&finder->error, "listing the rows of a table");
}

/* Writes the tables, and counts those that were written, also on an error. */
static enum srcfind_status write_tables(struct srcfind *finder, struct srcfind_catalogue *catalogue,
                                        const struct targets *targets, const struct target *target,
                                        int *n_written) {
    enum srcfind_status status = SRCFIND_OK;
    for (*n_written = 0; *n_written < TABLES; ++*n_written) {
        const char *path = target->tables[*n_written];
        if (path)
            status = write_table(finder, catalogue, targets, *n_written, path);
        if (status != SRCFIND_OK)
            break;
    }
    return status;
}

/* Removes maps and the first n tables, which were saved before an image failed: they would stand
 * beside an older catalogue, or beside none. */
static void remove_saved(const struct target *target, unsigned saved, int n_tables) {
    for (int i = 0; i < n_tables; i++)
        if (target->tables[i])
            unlink(target->tables[i]);
    for (int i = 0; i < MOST_MAPS; i++)
        if (saved >> i & 1)
            unlink(target->maps[i]);
}

static bool has_maps(const struct target *target) {
    for (int i = 0; i < MOST_MAPS; i++)
        if (target->maps[i])
            return true;
    return false;
}

/* Sets the bits in *saved of the maps that were saved, also on an error. */
static enum srcfind_status save_maps(struct srcfind *finder,
                                     const struct srcfind_catalogue *catalogue,
                                     const struct target *target, unsigned *saved) {
    *saved = 0;
    if (!has_maps(target))
        return SRCFIND_OK;
    signals_hold();
    const enum srcfind_status status = maps_save(finder, catalogue, target->maps, saved);
    signals_release();
    return status;
}

enum srcfind_status outputs_write(struct srcfind *finder, struct srcfind_catalogue *catalogue,
                                  const struct targets *targets, const struct target *target) {
    unsigned saved;
    int n_tables = 0;
    enum srcfind_status status = save_maps(finder, catalogue, target, &saved);
    if (status == SRCFIND_OK)
        status = write_tables(finder, catalogue, targets, target, &n_tables);
    if (status == SRCFIND_OK)
        status = write_catalogue(finder, catalogue, targets, target->catalogue);
    if (status != SRCFIND_OK)
        remove_saved(target, saved, n_tables);
    return status;
}

static bool is_later(struct timespec a, struct timespec b) {
    return a.tv_sec > b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec > b.tv_nsec);
}

bool outputs_version(const struct target *target, struct stat *info) {
    bool any = false;
    *info = (struct stat){0};
    for (int i = -2 - TABLES; i < MOST_MAPS; i++) {
        const char *path = i < -1 - TABLES ? target->beside
                           : i < -TABLES   ? target->catalogue
                           : i < 0         ? target->tables[i + TABLES]
                                           : target->maps[i];
        struct stat one;
        if (!path)
            continue;
        if (stat(path, &one) != 0)
            return false;
        info->st_size += one.st_size;
        if (!any || is_later(one.st_mtim, info->st_mtim))
            info->st_mtim = one.st_mtim;
        any = true;
    }
    return any;
}

/* A CSV file begins with its first column. */
static bool table_is_whole(const struct targets *targets, int table, const char *path) {
    struct writer writer = *writer_named(table_format(targets));
    char first[NAME_TEXT];
    if (strcmp(writer.format.name, csv_writer.format.name) == 0) {
        snprintf(first, sizeof first, "%s,", target_tables[table].first);
        writer.ends.first = first;
    }
    return save_is_whole(&writer, path);
}

bool outputs_exist(const struct targets *targets, const struct target *target,
                   const struct srcfind_options *options) {
    for (int i = 0; i < TABLES; i++)
        if (target->tables[i] && !table_is_whole(targets, i, target->tables[i]))
            return false;
    if (target->beside && !path_has_bytes(target->beside, -1, SEEK_END, "\n", 1))
        return false;
    return target->catalogue &&
           save_is_whole(writer_named(targets->format->name), target->catalogue) &&
           maps_are_whole(target->maps, MOST_MAPS, target->image, options);
}
