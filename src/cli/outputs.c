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
                                       const struct targets *targets, enum table_id table,
                                       const char *path) {
    const struct srcfind_catalogue *rows = catalogue_table(catalogue, table_products[table].kind);
    return rows ? save_catalogue(finder, rows, table_format(targets), path)
                : error_memory(&finder->error, "listing the rows of a table");
}

/* Writes the tables, and sets `saved` for each that was written, also on an error. */
static enum srcfind_status write_tables(struct srcfind *finder, struct srcfind_catalogue *catalogue,
                                        const struct targets *targets, const struct target *target,
                                        bool saved[TABLES]) {
    for (enum table_id table = 0; table < TABLES; table++) {
        const char *path = target_path(target, FILE_TABLE, table);
        if (!path)
            continue;
        const enum srcfind_status status = write_table(finder, catalogue, targets, table, path);
        if (status != SRCFIND_OK)
            return status;
        saved[table] = true;
    }
    return SRCFIND_OK;
}

/* Sets the paths of the maps, NULL for those that are not saved. False if none is. */
static bool list_maps(const struct target *target, const char *paths[MAPS]) {
    bool any = false;
    for (enum map map = 0; map < MAPS; map++) {
        paths[map] = target_path(target, FILE_MAP, map);
        any = any || paths[map];
    }
    return any;
}

/* Sets `saved` for each map that was saved, also on an error. */
static enum srcfind_status save_maps(struct srcfind *finder,
                                     const struct srcfind_catalogue *catalogue,
                                     const struct target *target, bool saved[MAPS]) {
    const char *paths[MAPS];
    if (!list_maps(target, paths))
        return SRCFIND_OK;
    signals_hold();
    const enum srcfind_status status = maps_save(finder, catalogue, paths, saved);
    signals_release();
    return status;
}

enum srcfind_status outputs_write(struct srcfind *finder, struct srcfind_catalogue *catalogue,
                                  const struct targets *targets, const struct target *target) {
    bool maps[MAPS] = {false}, tables[TABLES] = {false};
    enum srcfind_status status = save_maps(finder, catalogue, target, maps);
    if (status == SRCFIND_OK)
        status = write_tables(finder, catalogue, targets, target, tables);
    if (status == SRCFIND_OK)
        status = write_catalogue(finder, catalogue, targets, target_catalogue(target));
    if (status == SRCFIND_OK)
        return SRCFIND_OK;
    /* They would stand beside an older catalogue, or beside none. */
    for (int i = 0; i < target->n_files; i++) {
        const struct target_file *file = &target->files[i];
        if ((file->role == FILE_MAP && maps[file->kind]) ||
            (file->role == FILE_TABLE && tables[file->kind]))
            unlink(file->path);
    }
    return status;
}

static bool is_later(struct timespec a, struct timespec b) {
    return a.tv_sec > b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec > b.tv_nsec);
}

bool outputs_version(const struct target *target, struct stat *info) {
    bool any = false;
    *info = (struct stat){0};
    for (int i = 0; i < target->n_files; i++) {
        struct stat one;
        if (!target_file_is_output(&target->files[i]))
            continue;
        if (stat(target->files[i].path, &one) != 0)
            return false;
        info->st_size += one.st_size;
        if (!any || is_later(one.st_mtim, info->st_mtim))
            info->st_mtim = one.st_mtim;
        any = true;
    }
    return any;
}

/* Whether an output that is no map is there, from its first byte to its last. */
static bool is_whole(const struct targets *targets, const struct target_file *file) {
    if (file->role == FILE_CATALOGUE)
        return save_is_whole(writer_named(targets->format->name), NULL, file->path);
    if (file->role == FILE_TABLE)
        return save_is_whole(writer_named(table_format(targets)),
                             table_products[file->kind].columns, file->path);
    return file->role != FILE_BESIDE || path_has_bytes(file->path, -1, SEEK_END, "\n", 1);
}

bool outputs_exist(const struct targets *targets, const struct target *target,
                   const struct image_choice *choice) {
    const char *maps[MAPS];
    for (int i = 0; i < target->n_files; i++)
        if (!is_whole(targets, &target->files[i]))
            return false;
    return target_catalogue(target) &&
           (!list_maps(target, maps) || maps_are_whole(maps, target->image, choice));
}
