#include "cli/outputs.h"

#include <stdio.h>
#include <unistd.h>

#include "api/finder.h"
#include "api/maps.h"
#include "cli/signals.h"
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
                                           const struct srcfind_catalogue *catalogue,
                                           const struct targets *targets, const char *path) {
    if (path)
        return save_catalogue(finder, catalogue, targets->format->name, path);
    return targets->to_stdout
               ? srcfind_catalogue_write(finder, catalogue, targets->format->name, stdout)
               : SRCFIND_OK;
}

/* The format of tables that are written beside a catalogue. */
static const char *table_format(const struct targets *targets) {
    return writer_named(targets->format->name)->is_table ? targets->format->name : "csv";
}

static enum srcfind_status write_gaussians(struct srcfind *finder,
                                           struct srcfind_catalogue *catalogue,
                                           const struct targets *targets, const char *path) {
    if (!path)
        return SRCFIND_OK;
    const struct srcfind_catalogue *gaussians = srcfind_catalogue_gaussians(catalogue);
    return gaussians ? save_catalogue(finder, gaussians, table_format(targets), path)
                     : error_memory(&finder->error, "listing Gaussians");
}

/* Removes maps that were saved before an image failed: they would stand beside an older catalogue,
 * or beside none. */
static void remove_maps(const struct target *target, unsigned saved) {
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
    enum srcfind_status status = save_maps(finder, catalogue, target, &saved);
    if (status == SRCFIND_OK)
        status = write_gaussians(finder, catalogue, targets, target->gaussians);
    const bool has_gaussians = status == SRCFIND_OK && target->gaussians;
    if (status == SRCFIND_OK)
        status = write_catalogue(finder, catalogue, targets, target->catalogue);
    if (status != SRCFIND_OK)
        remove_maps(target, saved);
    if (status != SRCFIND_OK && has_gaussians)
        unlink(target->gaussians);
    return status;
}

static bool is_later(struct timespec a, struct timespec b) {
    return a.tv_sec > b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec > b.tv_nsec);
}

bool outputs_version(const struct target *target, struct stat *info) {
    bool any = false;
    *info = (struct stat){0};
    for (int i = -2; i < MOST_MAPS; i++) {
        const char *path = i == -2   ? target->catalogue
                           : i == -1 ? target->gaussians
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

bool outputs_exist(const struct targets *targets, const struct target *target,
                   const struct srcfind_options *options) {
    return target->catalogue &&
           save_is_whole(writer_named(targets->format->name), target->catalogue) &&
           (!target->gaussians ||
            save_is_whole(writer_named(table_format(targets)), target->gaussians)) &&
           maps_are_whole(target->maps, MOST_MAPS, target->image, options);
}
