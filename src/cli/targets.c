/* From the command line to the images of the run, each with all of its files.
 *
 * 1. The images: arguments, then the list of --files-from; with ranges of --plane a target for each
 *    plane. names.c gives each target the name of its outputs.
 * 2. The format of catalogues, and checks that need no image: columns, sky models, directories.
 * 3. The files of each target, in this order: catalogue, what belongs beside it, maps, tables, then
 *    files that are read (--measure-in, masks and maps). Later names build on the catalogue's.
 * 4. No two files conflict (conflicts.c): with all shards, so that shards do not overwrite each
 *    other. Only then the other shards' targets are dropped, and existing files are looked at.
 *
 * Each function returns an exit status, and has written the message where it is not EXIT_OK. */
#define _GNU_SOURCE /* asprintf */
#include "cli/targets.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/finder.h"
#include "cli/conflicts.h"
#include "cli/directories.h"
#include "cli/exit_status.h"
#include "cli/image_list.h"
#include "cli/merged_file.h"
#include "cli/messages.h"
#include "cli/names.h"
#include "cli/sky_models.h"
#include "common/arrays.h"
#include "common/path.h"
#include "common/texts.h"
#include "input/position_list.h"
#include "input/regions/region_file.h"
#include "input/shared_table.h"
#include "output/chosen_table.h"
#include "output/writer.h"

static const char NAMING[] = "naming the catalogues";

enum { PLANE_TEXT = 20 * SRCFIND_MAX_AXES + 1 };

/* --- names --- */

/* A compressed file is assumed to have about a quarter of the original size. */
static int64_t count_bytes(const char *path) {
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return 0;
    return (path_is_compressed(path) ? 4 : 1) * (int64_t)info.st_size;
}

/* Makes room for n targets more. */
static bool grow(struct targets *t, int64_t n) {
    return GROW(t->target, t->capacity, t->n + n);
}

/* Adds a target, which owns the texts; there is room. False where one of them is NULL. */
static bool add_target(struct targets *t, char *image, char *name, int64_t bytes) {
    t->target[t->n++] = (struct target){.image = image, .name = name, .bytes = bytes};
    return image && name;
}

/* The same for an image of which a plane is to be chosen. Texts are copied. */
static bool add_plane(struct targets *t, const char *image, const char *name, int64_t bytes) {
    const bool ok = add_target(t, strdup(image), strdup(name), bytes);
    struct target *target = &t->target[t->n - 1];
    target->plane = calloc(1, sizeof *target->plane);
    return ok && target->plane;
}

/* Names a plane of several: 3,1 in messages and reports; in the names of outputs plane3.1 or, so
 * that they sort, plane03.1 where the axis has 10 planes or more. */
static bool name_plane(struct target *target, const struct image_planes *planes) {
    struct target_plane *plane = target->plane;
    char numbers[PLANE_TEXT] = "", dotted[PLANE_TEXT] = "";
    for (int i = 0; i < plane->option.n; i++) {
        const long long index = plane->option.index[i];
        texts_append(numbers, sizeof numbers, "%s%lld", i ? "," : "", index);
        texts_append(dotted, sizeof dotted, "%s%0*lld", i ? "." : "", planes->digits[i], index);
    }
    char *const name = target->name;
    if (asprintf(&target->name, "%s.plane%s", name, dotted) < 0)
        target->name = NULL;
    if (asprintf(&plane->shown, "%s[plane %s]", target->image, numbers) < 0)
        plane->shown = NULL;
    plane->name = strdup(numbers);
    free(name);
    return target->name && plane->shown && plane->name;
}

/* Adds the targets of an image whose planes were found. */
static bool add_planes(struct targets *t, const char *image, const char *name,
                       const struct image_planes *planes) {
    const int64_t bytes = count_bytes(image) / planes->n_in_file;
    bool ok = grow(t, planes->n);
    for (int64_t i = 0; ok && i < planes->n; i++) {
        if (!add_plane(t, image, name, bytes))
            return false;
        struct target *target = &t->target[t->n - 1];
        target->plane->option = image_planes_get(planes, i);
        ok = planes->n == 1 || name_plane(target, planes);
    }
    return ok;
}

/* The same for the planes that --plane gives with ranges. */
static bool add_ranges(const struct cli *cli, struct targets *t, const char *image,
                       const char *name) {
    struct image_planes planes;
    struct error error;
    const enum srcfind_status status =
        plane_ranges_find(&cli->planes, image, cli->find->values.image.hdu, &planes, &error);
    if (status == SRCFIND_OK)
        return add_planes(t, image, name, &planes);
    return status != SRCFIND_ERROR_MEMORY && grow(t, 1) && add_plane(t, image, name, 0) &&
           (t->target[t->n - 1].plane->failure = strdup(error.text));
}

/* Makes the targets of a list of images, with the names of their outputs: each shard names all
 * images, as a run without shards does. Moves paths and names where images are searched in one
 * plane. */
static bool take_images(const struct cli *cli, struct image_list *list, struct targets *t) {
    char **names = calloc((size_t)list->n, sizeof *names);
    bool ok = names && names_make(list->paths, list->n, names) && grow(t, list->n);
    for (int64_t i = 0; ok && i < list->n; i++) {
        if (cli->planes.n > 0) {
            ok = add_ranges(cli, t, list->paths[i], names[i]);
            continue;
        }
        ok = add_target(t, list->paths[i], names[i], count_bytes(list->paths[i]));
        list->paths[i] = names[i] = NULL;
    }
    for (int64_t i = 0; names && i < list->n; i++)
        free(names[i]);
    free(names);
    t->n_listed = t->n;
    return ok;
}

static int list_images(const struct cli *cli, struct targets *t) {
    struct image_list list;
    int status = image_list_read(cli, "image", &list);
    if (status == EXIT_OK && (cli->merge || cli->report)) /* each image has one row of a report */
        status = image_list_check_unique(&list);
    if (status == EXIT_OK && !take_images(cli, &list, t))
        status = messages_no_memory(NAMING);
    t->several = t->n_listed > 1 || cli->files_from;
    t->several_files = list.n > 1 || cli->files_from;
    image_list_clear(&list);
    t->to_stdout = !cli->output && !cli->merge;
    return status;
}

/* DIR/NAME.csv; to be freed. NULL where memory ran out. */
static char *name_in_directory(const char *directory, const char *name,
                               const struct srcfind_format *format) {
    const char *separator = path_ends_with(directory, "/") ? "" : "/";
    char *path;
    return asprintf(&path, "%s%s%s%s", directory, separator, name, format->suffixes[0]) < 0 ? NULL
                                                                                            : path;
}

/* Reports several images with the path of one file, perhaps since an option's value counts as an
 * image. Returns the exit status. */
static int refuse_file(const char *path, const struct targets *t) {
    struct stat info;
    for (int64_t i = 0; i < t->n; i++)
        if (stat(t->target[i].image, &info) != 0)
            return messages_usage("%s: several images or planes, or a list, need a directory, but "
                                  "this is a file; there is no image %s",
                                  path, t->target[i].image);
    return messages_usage("%s: several images or planes, or a list, need a directory, but this is "
                          "a file: name a directory, or use --merge FILE for one catalogue of all",
                          path);
}

/* Whether a path, with a / at its end or without, is that of a file, or of a device. */
static bool is_file(const char *path) {
    struct stat info;
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    char *without = strndup(path, length);
    const bool is = without && stat(without, &info) == 0 && !S_ISDIR(info.st_mode);
    free(without);
    return is;
}

/* Reports several images without -o, perhaps since the last one is the name of a catalogue. Returns
 * the exit status. */
static int refuse_several(const struct targets *t) {
    const char *last = t->target[t->n - 1].image;
    const struct srcfind_format *format = srcfind_format_of(last);
    if (format && strcmp(format->name, "fits") != 0 && access(last, F_OK) != 0)
        return messages_usage("there is no image %s: did you mean -o %s?", last, last);
    return messages_usage("several images (%s, %s, ...) need -o DIRECTORY",
                          target_shown(&t->target[0]), target_shown(&t->target[1]));
}

/* Whether -o is a directory, or becomes one. */
static bool writes_to_directory(const struct cli *cli, const struct targets *t) {
    return cli->output &&
           (t->several || path_ends_with(cli->output, "/") || directory_is(cli->output));
}

/* The directory that -o names; NULL if it names none. */
static const char *output_directory(const struct cli *cli, const struct targets *t) {
    return writes_to_directory(cli, t) ? cli->output : NULL;
}

/* Checks that the images have catalogues of their own. Returns the exit status. */
static int check_output(const struct cli *cli, const struct targets *t) {
    if (!cli->output)
        return t->n > 1 && !cli->compare_cpu && !cli->bench && !cli->merge ? refuse_several(t)
                                                                           : EXIT_OK;
    if (!writes_to_directory(cli, t))
        return directory_check_for(cli->output, "catalogue", NULL);
    if (!t->several && is_file(cli->output))
        return messages_usage("%s: the / at the end means a directory, but this is a file: leave "
                              "the / out, or name a directory",
                              cli->output);
    return is_file(cli->output) || (!directory_is(cli->output) && srcfind_format_of(cli->output))
               ? refuse_file(cli->output, t)
               : EXIT_OK;
}

static int name_catalogues(const struct cli *cli, struct targets *t) {
    const bool in_directory = writes_to_directory(cli, t);
    for (int64_t i = 0; cli->output && i < t->n; i++) {
        struct target *target = &t->target[i];
        char *path = in_directory ? name_in_directory(cli->output, target->name, t->format)
                                  : strdup(cli->output);
        if (!target_add(target, path, FILE_CATALOGUE, 0, "catalogue"))
            return messages_no_memory(NAMING);
    }
    return EXIT_OK;
}

/* A path for a map or table: STEM.rms.fits or STEM.picture.png, where STEM is the catalogue's path
 * without its suffix or, where the catalogue is no file, the name of the outputs. To be freed; NULL
 * where memory ran out. */
static char *name_beside(const struct target *t, const char *name, const char *suffix) {
    const char *catalogue = target_catalogue(t);
    const bool is_beside = catalogue && !path_is_stream(catalogue);
    const char *stem = is_beside ? catalogue : t->name;
    const int length = is_beside ? path_before_suffix(stem) : (int)strlen(stem);
    char *path;
    return asprintf(&path, "%.*s.%s%s", length, stem, name, suffix) < 0 ? NULL : path;
}

static int name_maps(const struct cli *cli, struct targets *t) {
    for (int64_t i = 0; i < t->n; i++) {
        struct target *target = &t->target[i];
        for (enum map map = 0; map < MAPS; map++) {
            const struct map_product *product = &map_products[map];
            if (cli->save.maps[map] &&
                !target_add(target, name_beside(target, product->name, product->suffix), FILE_MAP,
                            map, "map"))
                return messages_no_memory(NAMING);
        }
    }
    return EXIT_OK;
}

/* Whether a table is saved. */
static bool is_saved(const struct cli *cli, enum table_id table) {
    const struct options *o = &cli->find->values;
    if (table <= TABLE_COVARIANCES) /* those of --save */
        return cli->save.tables[table];
    if (table == TABLE_PLANES)
        return o->measure_in.n > 0 && !cli->compare_cpu && !cli->bench;
    if (table == TABLE_INJECTIONS) /* which merging reads beside catalogues */
        return options_inject(o) && cli->output && !path_is_stream(cli->output);
    return options_inject(o) && (table == TABLE_COMPLETENESS || o->negative);
}

/* Names tables, which have the format and the suffix of catalogues, or are CSV. */
static int name_table(const struct cli *cli, enum table_id table, struct targets *t) {
    for (int64_t i = 0; is_saved(cli, table) && i < t->n; i++) {
        struct target *target = &t->target[i];
        const bool has_format = targets_are_tables(t);
        const char *suffix = has_format ? t->format->suffixes[0] : ".csv";
        const char *catalogue = target_catalogue(target);
        const struct table_product *product = &table_products[table];
        if (has_format && catalogue && path_has_suffix(catalogue))
            suffix = catalogue + path_before_suffix(catalogue);
        if (!target_add(target, name_beside(target, product->name, suffix), FILE_TABLE, table,
                        product->what))
            return messages_no_memory(NAMING);
    }
    return EXIT_OK;
}

/* Names a table beside the merged catalogue. option: by which it is wanted. */
static int name_merged_table(const struct cli *cli, enum table_id table, const char *option,
                             struct targets *t) {
    if (!cli->merge || !is_saved(cli, table))
        return EXIT_OK;
    if (!merged_file_path(cli->merge) || path_is_stream(cli->merge))
        return messages_usage("--merge %s with %s: the merged %s is written beside the merged "
                              "catalogue, so that must be a file: name one",
                              cli->merge, option, table_products[table].what);
    t->merged_tables[table] = merge_table_path(cli->merge, table_products[table].name);
    return t->merged_tables[table] ? EXIT_OK : messages_no_memory(NAMING);
}

/* --- mask, maps of the noise, image for detection --- */

/* Says if images in different folders, of one name, get one file of a directory: it may be that of
 * one of them only. */
static int note_shared(const struct cli *cli, const char *option, enum user_map_kind kind,
                       const struct targets *t) {
    const struct messages messages = messages_for(cli);
    const char *path;
    const char **paths = malloc((size_t)t->n * sizeof *paths + 1);
    if (!paths)
        return messages_no_memory(NAMING);
    int64_t n_files = 0;
    for (int64_t i = 0; i < t->n; i++) /* all planes of an image share it */
        if (i == 0 || strcmp(t->target[i].image, t->target[i - 1].image) != 0)
            paths[n_files++] = target_path(&t->target[i], FILE_USER_MAP, kind);
    const int64_t n = texts_find_equal(paths, n_files, &path);
    if (n > 1)
        messages_note(&messages,
                      "--%s: %s is used for %lld images: if each image has its own file, put these "
                      "files into folders, as the images are",
                      option, path, (long long)n);
    free((void *)paths);
    return EXIT_OK;
}

/* Whether a file has regions, which are those of all images. */
static bool is_for_all(enum user_map_kind kind, const char *path) {
    struct error ignored; /* who reads the file says what is wrong */
    bool is = false;
    if (kind == USER_MASK)
        region_file_is(path, &is, &ignored);
    return is;
}

/* Names what one option gives for each image. */
static int name_user_map(const struct cli *cli, const char *option, enum user_map_kind kind,
                         struct targets *t) {
    char text[OPTIONS_TEXT];
    const char *path = options_get(&cli->find->values, option, text);
    if (!*path)
        return EXIT_OK;
    const bool needs_directory = t->several_files && !is_for_all(kind, path);
    if (needs_directory && !directory_is(path))
        return messages_usage("--%s: %s is no directory: several images need a directory, with "
                              "STEM.fits for each image",
                              option, path);
    for (int64_t i = 0; i < t->n; i++)
        if (!target_add(&t->target[i], user_map_path(kind, path, t->target[i].image), FILE_USER_MAP,
                        kind, "a mask or map that is read"))
            return messages_no_memory(NAMING);
    return needs_directory ? note_shared(cli, option, kind, t) : EXIT_OK;
}

static int name_user_maps(const struct cli *cli, struct targets *t) {
    int status = name_user_map(cli, "mask", USER_MASK, t);
    if (status == EXIT_OK)
        status = name_user_map(cli, "rms-map", USER_RMS, t);
    if (status == EXIT_OK)
        status = name_user_map(cli, "background-map", USER_BACKGROUND, t);
    if (status == EXIT_OK)
        status = name_user_map(cli, "detect-on", USER_DETECTION, t);
    if (status == EXIT_OK)
        status = name_user_map(cli, "detect-rms-map", USER_DETECTION_RMS, t);
    if (status == EXIT_OK)
        status = name_user_map(cli, "detect-background-map", USER_DETECTION_BACKGROUND, t);
    return status;
}

/* --- images of --measure-in --- */

/* Several images need directories. With one file the shell may have expanded a pattern behind the
 * option, of which the option takes the first path, and the others count as images. */
static int check_measured(const struct cli *cli, const struct targets *t) {
    const struct path_list *list = &cli->find->values.measure_in;
    for (int64_t i = 0; t->several_files && i < list->n; i++) {
        const char *path = list->paths[i];
        if (directory_is(path))
            continue;
        if (cli->n_images > 1)
            return messages_usage(
                "--measure-in: %s is no directory: several images (%s, %s, ...) need a directory, "
                "with STEM.fits for each image; to measure one image in several files, write "
                "--measure-in "
                "%s,FILE,... or --measure-in @LIST, where the file LIST has a path on each line",
                path, cli->images[0], cli->images[1], path);
        return messages_usage("--measure-in: %s is no directory: several images need a directory, "
                              "with STEM.fits for each image",
                              path);
    }
    return EXIT_OK;
}

/* Names the images that one path of the list gives. */
static int name_measured(const char *path, struct targets *t) {
    for (int64_t i = 0; i < t->n; i++)
        if (!target_add(&t->target[i], user_map_path(USER_DETECTION, path, t->target[i].image),
                        FILE_MEASURED, 0, "an image of --measure-in"))
            return messages_no_memory(NAMING);
    return EXIT_OK;
}

static int name_all_measured(const struct cli *cli, struct targets *t) {
    const struct path_list *list = &cli->find->values.measure_in;
    for (int64_t i = 0; i < list->n; i++)
        if (name_measured(list->paths[i], t) != EXIT_OK)
            return EXIT_IMAGE;
    return EXIT_OK;
}

/* --- the catalogues of --at and --inject --- */

/* Reads a file before any image is, so that a run with a wrong one ends at once. The finders share
 * what was read. Returns the exit status. */
static int check_table(struct shared_table *shared, const char *path) {
    struct taken_table *taken;
    struct error error;
    if (!*path || position_list_is(path))
        return EXIT_OK;
    const enum srcfind_status status = shared_table_take(shared, path, NULL, NULL, &taken, &error);
    shared_table_give(shared, taken);
    if (status == SRCFIND_OK)
        return EXIT_OK;
    if (access(path, F_OK) == 0)
        messages_usage("%s", error.text);
    else
        messages_usage("%s; nor is this a position, as 187.7,12.39 or '12:30:49.4 +12:23:28'",
                       error.text);
    return status == SRCFIND_ERROR_MEMORY ? EXIT_IMAGE : EXIT_USAGE;
}

static int check_positions(const struct cli *cli) {
    const struct options *o = &cli->find->values;
    const int status = check_table(cli->find->at, o->at);
    return status == EXIT_OK ? check_table(cli->find->inject, o->inject) : status;
}

/* Reads the regions of --mask, as check_positions reads a catalogue. */
static int check_regions(const struct cli *cli) {
    const char *path = cli->find->values.mask;
    struct taken_regions *taken = NULL;
    struct error error;
    bool is = false;
    enum srcfind_status status = *path ? region_file_is(path, &is, &error) : SRCFIND_OK;
    if (status == SRCFIND_OK && is) {
        status = shared_regions_take(cli->find->regions, path, &taken, &error);
        shared_regions_give(cli->find->regions, taken);
    }
    if (status == SRCFIND_OK)
        return EXIT_OK;
    messages_usage("%s", error.text);
    return status == SRCFIND_ERROR_MEMORY ? EXIT_IMAGE : EXIT_USAGE;
}

/* --- formats --- */

/* Reports an unknown suffix: any format may not be what the user expects. Returns the exit status.
 */
static int refuse_suffix(const char *path) {
    char suffixes[256] = "";
    for (int i = 0; srcfind_format(i); i++)
        for (const char *const *suffix = srcfind_format(i)->suffixes; *suffix; suffix++)
            texts_append(suffixes, sizeof suffixes, "%s%s", *suffixes ? ", " : "", *suffix);
    return messages_usage(
        "%s: no format has this suffix; there are %s: name it so, or say --format", path, suffixes);
}

static int choose_format(const struct cli *cli, struct targets *t) {
    const bool to_file = cli->output && !writes_to_directory(cli, t);
    t->format = cli->format;
    if (!t->format && to_file && path_has_suffix(cli->output)) {
        t->format = srcfind_format_of(cli->output);
        if (!t->format)
            return refuse_suffix(cli->output);
    }
    if (!t->format)
        t->format = srcfind_format(0);
    if (t->to_stdout && isatty(STDOUT_FILENO) && writer_named(t->format->name)->is_binary)
        return messages_usage(
            "--format %s: not for a terminal: name a file with -o, as catalogue%s", t->format->name,
            t->format->suffixes[0]);
    return EXIT_OK;
}

/* Catalogues of images that are skipped are read back, if they are to be merged. */
static int check_format_is_read(const struct cli *cli, const struct targets *t) {
    static const char *const read[] = {"csv", "ecsv", "json", "fits", "votable"};
    if (!cli->merge || !cli->skip_existing || !cli->output)
        return EXIT_OK;
    for (size_t i = 0; i < sizeof read / sizeof *read; i++)
        if (strcmp(t->format->name, read[i]) == 0)
            return EXIT_OK;
    return messages_usage("--merge with --skip-existing reads existing catalogues, and srcfind "
                          "cannot read --format %s: choose csv, ecsv, json, fits or votable",
                          t->format->name);
}

/* Checks the list of columns before an image is read. */
static int check_columns(const struct cli *cli, struct targets *t) {
    struct column_list list;
    struct error error = {0};
    t->columns = cli->columns;
    if (!cli->columns)
        return EXIT_OK;
    if (!writer_named(t->format->name)->is_table)
        return messages_usage("--columns: %s has columns of its own: choose csv, json, votable, "
                              "fits or ecsv",
                              t->format->name);
    enum srcfind_status status = column_list_read(cli->columns, &list, &error);
    if (status == SRCFIND_OK)
        status = chosen_table_check(&list, &cli->find->values, &error);
    return status == SRCFIND_OK             ? EXIT_OK
           : status == SRCFIND_ERROR_MEMORY ? messages_no_memory("choosing columns")
                                            : messages_usage("--%s", error.text);
}

/* --- targets --- */

/* Keeps the images of a shard. */
static void take_shard(const struct shard *shard, struct targets *t) {
    int64_t n = 0;
    for (int64_t i = 0; i < t->n; i++) {
        if (shard->n == 0 || i % shard->n == shard->k - 1)
            t->target[n++] = t->target[i];
        else
            target_clear(&t->target[i]);
    }
    t->n = n;
}

/* Names that were not given have directories below. */
int targets_make_directories(const struct cli *cli, const struct targets *t) {
    const char *directory = output_directory(cli, t);
    int status = directory ? directory_make(directory) : EXIT_OK;
    for (int64_t i = 0; status == EXIT_OK && i < t->n; i++) {
        const struct target *target = &t->target[i];
        for (int k = 0; status == EXIT_OK && k < target->n_files; k++) {
            const struct target_file *file = &target->files[k];
            const bool may_lack_one = directory ? file->role == FILE_CATALOGUE : !cli->output;
            if (target_file_is_output(file) && may_lack_one)
                status = directory_make_for(file->path);
        }
    }
    return status;
}

/* Checks the files that all images share. Returns the exit status. */
static int check_shared_files(const struct cli *cli, struct targets *t) {
    const char *made = output_directory(cli, t);
    const int status = cli->merge ? merged_file_check_path(cli->merge, made) : EXIT_OK;
    return status == EXIT_OK && cli->report ? directory_check_for(cli->report, "report", made)
                                            : status;
}

/* Names all outputs, those of other shards, too, so that none of them conflict. */
static int name_outputs(const struct cli *cli, struct targets *t) {
    int status = choose_format(cli, t);
    if (status == EXIT_OK)
        status = sky_models_check(cli, t);
    if (status == EXIT_OK)
        status = check_shared_files(cli, t);
    if (status == EXIT_OK)
        status = check_format_is_read(cli, t);
    if (status == EXIT_OK)
        status = check_columns(cli, t);
    if (status == EXIT_OK)
        status = check_measured(cli, t);
    if (status == EXIT_OK)
        status = check_output(cli, t);
    if (status == EXIT_OK)
        status = name_catalogues(cli, t);
    if (status == EXIT_OK)
        status = sky_models_name(t);
    if (status == EXIT_OK)
        status = name_maps(cli, t);
    for (enum table_id table = 0; status == EXIT_OK && table < TABLES; table++)
        status = name_table(cli, table, t);
    if (status == EXIT_OK)
        status = name_merged_table(cli, TABLE_GAUSSIANS, "--save gaussians", t);
    if (status == EXIT_OK)
        status = name_merged_table(cli, TABLE_COMPLETENESS,
                                   *cli->find->values.inject ? "--inject" : "--completeness", t);
    if (status == EXIT_OK)
        status = name_all_measured(cli, t);
    if (status == EXIT_OK)
        status = name_user_maps(cli, t);
    if (status == EXIT_OK)
        status = conflicts_check(cli, t);
    return status;
}

int targets_make(const struct cli *cli, struct targets *t) {
    *t = (struct targets){0};
    int status = list_images(cli, t);
    if (status == EXIT_OK)
        status = name_outputs(cli, t);
    if (status != EXIT_OK)
        return status;
    take_shard(&cli->shard, t);
    status = conflicts_check_existing(cli, t);
    if (status == EXIT_OK)
        status = check_regions(cli);
    return status == EXIT_OK ? check_positions(cli) : status;
}
