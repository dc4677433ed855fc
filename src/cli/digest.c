#include "cli/digest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "api/finder.h"
#include "common/fnv.h"
#include "common/path.h"
#include "input/user_maps.h"

static void add_number(uint64_t *hash, int64_t number) {
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)number);
    fnv_add(hash, text);
}

/* Adds what tells a file from what it is after a change. */
static void add_file(uint64_t *hash, const char *path) {
    struct stat info;
    if (!path || !*path || stat(path, &info) != 0)
        return;
    fnv_add(hash, path);
    add_number(hash, info.st_size);
    add_number(hash, info.st_mtim.tv_sec);
    add_number(hash, info.st_mtim.tv_nsec);
}

/* Adds the file of --psf for an image. */
static void add_psf(uint64_t *hash, const char *psf, const char *image) {
    char *path = *psf ? user_map_path(USER_DETECTION, psf, image) : NULL;
    add_file(hash, path);
    free(path);
}

void digest_make(const struct cli *cli, const struct targets *targets, const struct target *target,
                 char text[DIGEST_TEXT]) {
    struct shaping_option option;
    uint64_t hash = FNV_BASIS;
    char plane[OPTIONS_TEXT];
    options_print_plane(target_plane(cli, target), plane);
    for (int i = 0; options_next_shaping(&cli->find->values, &i, &option);) {
        fnv_add(&hash, option.name);
        fnv_add(&hash, strcmp(option.name, "plane") == 0 ? plane : option.value);
    }
    const char *catalogue = target_catalogue(target);
    for (int i = 0; i < target->n_files; i++)
        if (!target_file_is_output(&target->files[i]))
            add_file(&hash, target->files[i].path);
    add_file(&hash, cli->find->values.at);
    add_file(&hash, cli->find->values.inject);
    if (!options_measure_psf(&cli->find->values))
        add_psf(&hash, cli->find->values.psf, target->image);
    fnv_add(&hash, catalogue ? targets->format->name : "");
    fnv_add(&hash, catalogue && path_ends_with(catalogue, ".gz") ? ".gz" : "");
    fnv_add(&hash, targets->columns ? targets->columns : "");
    for (enum map map = 0; map < MAPS; map++)
        add_number(&hash, cli->save.maps[map]);
    add_number(&hash, cli->save.tables[TABLE_GAUSSIANS]);
    add_number(&hash, cli->save.tables[TABLE_ISLANDS]);
    add_number(&hash, cli->save.tables[TABLE_COVARIANCES]);
    snprintf(text, DIGEST_TEXT, "%016llx", (unsigned long long)hash);
}
