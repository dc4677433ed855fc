/* How the maps of the user are found and opened:
 *
 * 1. A path to a directory becomes the path of a file in it, by ever shorter ends of the path of
 *    the image: so one option serves many images.
 * 2. A mask and maps of the noise must have the shape of the image, and maps of the noise its unit,
 *    or that of the image for detection. Of a part of an image (--trim) a map has the whole shape,
 *    and is trimmed, too, or that of the part.
 *    Other sky coordinates are only described (`difference`), for a note: many masks have none, or
 *    others.
 * 3. The image for detection must have the same grid (same_grid.c). Its first image is taken, and
 *    the plane of the same number, if it has several.
 * 4. user_maps_blanks reads mask and maps once, and sets the bits of the pixels that they make
 *    blank.
 *
 * A map that srcfind wrote is never taken for another kind, nor its mask for --mask, whose meaning
 * is the opposite. No map is held in memory. */
#define _GNU_SOURCE /* asprintf */
#include "input/user_maps.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "common/path.h"
#include "common/texts.h"
#include "input/regions/region_file.h"
#include "input/same_grid.h"
#include "input/srcfind_map.h"
#include "input/units.h"

static const struct {
    const char *name; /* the name of srcfind's own maps of this kind; NULL: there are none */
    const char *option;
    const char *value;      /* the value at pixels that are searched, for a message */
    const char *endings[3]; /* of names in directories: of --save, of BANE, and of the image */
} kinds[USER_MAP_KINDS] = {
    [USER_MASK] = {"mask", "mask", "a value other than 0", {".mask.fits", ".fits"}},
    [USER_RMS] = {"rms", "rms-map", "a finite value above 0", {".rms.fits", "_rms.fits", ".fits"}},
    [USER_BACKGROUND] = {"background",
                         "background-map",
                         "a finite value",
                         {".background.fits", "_bkg.fits", ".fits"}},
    [USER_DETECTION] = {NULL, "detect-on", "a finite value", {".fits"}},
    [USER_DETECTION_RMS] = {"rms",
                            "detect-rms-map",
                            "a finite value above 0",
                            {".rms.fits", "_rms.fits", ".fits"}},
    [USER_DETECTION_BACKGROUND] = {"background",
                                   "detect-background-map",
                                   "a finite value",
                                   {".background.fits", "_bkg.fits", ".fits"}},
};
enum { ENDINGS = sizeof kinds->endings / sizeof *kinds->endings };

/* Each tells whether a map of its kind makes a pixel blank by this value. */
static bool is_masked(float value) {
    return !isfinite(value) || value == 0;
}

static bool is_no_rms(float value) {
    return !(isfinite(value) && value > 0);
}

enum srcfind_status user_maps_blanks(const struct user_maps *maps, struct blanks *blanks,
                                     struct threads *threads, struct error *error) {
    static bool (*const is_blank[USER_MAP_KINDS])(float value) = {
        [USER_MASK] = is_masked,
        [USER_RMS] = is_no_rms,
        [USER_BACKGROUND] = blanks_not_finite,
        [USER_DETECTION_RMS] = is_no_rms,
        [USER_DETECTION_BACKGROUND] = blanks_not_finite};
    enum srcfind_status status = SRCFIND_OK;
    for (int kind = 0; status == SRCFIND_OK && kind < USER_MAP_KINDS; kind++)
        if (maps->images[kind] && is_blank[kind])
            status = blanks_read(blanks, &maps->images[kind]->image.source, is_blank[kind], threads,
                                 error);
    return status;
}

/* --- opening --- */

/* DIRECTORY/NAME with an ending, to be freed. NAME is the end of the path of an image, without its
 * suffix. NULL where memory ran out. */
static char *path_inside(const char *directory, const char *end, const char *ending) {
    const bool has_slash = directory[strlen(directory) - 1] == '/';
    const int above = path_directory(end);
    char *path;
    return asprintf(&path, "%s%s%.*s%s", directory, has_slash ? "" : "/",
                    above + path_stem(end + above), end, ending) < 0
               ? NULL
               : path;
}

/* Sets *path to the file in a directory for the end of the path of an image, or to NULL if there is
 * none. */
static bool find_inside(enum user_map_kind kind, const char *directory, const char *end,
                        char **path) {
    struct stat info;
    *path = NULL;
    for (int i = 0; i < ENDINGS && kinds[kind].endings[i]; i++) {
        if (!(*path = path_inside(directory, end, kinds[kind].endings[i])))
            return false;
        if (stat(*path, &info) == 0)
            return true;
        free(*path);
        *path = NULL;
    }
    return true;
}

/* The part of a path behind its last `..`. */
static const char *behind_parents(const char *path) {
    const char *end = path;
    for (const char *part = path; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (strncmp(part, "../", 3) == 0)
            end = part + 3;
    }
    return end;
}

char *user_map_path(enum user_map_kind kind, const char *path, const char *image) {
    struct stat info;
    char *found;
    if (!*image || stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
        return strdup(path); /* pixels in memory have no name to look for in a directory */
    for (const char *end = behind_parents(image); end; end = strchr(end, '/')) {
        end += strspn(end, "/");
        if (!find_inside(kind, path, end, &found) || found)
            return found;
    }
    return path_inside(path, image + path_directory(image), ".fits");
}

/* Checks that a directory has a map for the image. */
static enum srcfind_status check_exists(enum user_map_kind kind, const char *option,
                                        const char *path, const char *image, struct error *error) {
    const char *name = image + path_directory(image);
    const int stem = path_stem(name);
    struct stat info;
    if (strcmp(option, path) == 0 || stat(path, &info) == 0)
        return SRCFIND_OK;
    char names[1024] = "";
    for (int i = 0; i < ENDINGS && kinds[kind].endings[i]; i++)
        texts_append(names, sizeof names, "%s%.*s%s", i == 0 ? "" : " or ", stem, name,
                     kinds[kind].endings[i]);
    return error_set(error, SRCFIND_ERROR_INPUT, "%s: there is no %s in this directory", option,
                     names);
}

/* Whether two images are the same HDU of one file. Pixels in memory are in no file. */
static bool is_one_image(const struct image *a, const struct image *b) {
    struct stat one, other;
    return b->file.path && a->hdu.number == b->hdu.number && fstat(a->file.descriptor, &one) == 0 &&
           fstat(b->file.descriptor, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

/* Checks that a map is neither the image itself nor another kind of srcfind's maps. */
static enum srcfind_status check_kind(enum user_map_kind kind, const struct image *map,
                                      const struct image *image, struct error *error) {
    char name[SRCFIND_MAP_NAME];
    if (is_one_image(map, image)) {
        const char *stem = image->file.path + path_directory(image->file.path);
        return error_set(error, SRCFIND_ERROR_INPUT,
                         "%s: this is the image itself: --%s needs another file, as %.*s.%s.fits",
                         map->file.path, kinds[kind].option, path_stem(stem), stem,
                         kinds[kind].name);
    }
    if (!srcfind_map_name(&map->hdu.header, name))
        return SRCFIND_OK;
    if (kind == USER_MASK)
        return error_set(error, SRCFIND_ERROR_INPUT,
                         "%s: srcfind made this map (%s), and its masks are 0 where there is no "
                         "source: a mask of --mask is 0 where the image is bad",
                         map->file.path, name);
    if (strcmp(name, kinds[kind].name) != 0)
        return error_set(error, SRCFIND_ERROR_INPUT,
                         "%s: this is a map of %s: --%s needs one of %s", map->file.path, name,
                         kinds[kind].option, kinds[kind].name);
    return SRCFIND_OK;
}

static bool is_part(const struct srcfind_image *image) {
    return image->width != image->axes[0] || image->height != image->axes[1];
}

/* Checks that the shape is that of the image, with one plane on further axes. */
static enum srcfind_status check_shape(const struct srcfind_image *map,
                                       const struct srcfind_image *image, struct error *error) {
    int64_t planes = 1;
    for (int i = 2; i < map->n_axes; i++)
        planes = map->axes[i] > planes ? map->axes[i] : planes;
    if (map->width != image->width || map->height != image->height)
        return error_set(error, SRCFIND_ERROR_INPUT,
                         "%s: %lld x %lld pixels, where the image has %lld x %lld%s: is it a map "
                         "of another image?",
                         map->path, (long long)map->width, (long long)map->height,
                         (long long)image->axes[0], (long long)image->axes[1],
                         is_part(image) ? ", and its part is smaller" : "");
    if (planes > 1)
        return error_set(error, SRCFIND_ERROR_INPUT,
                         "%s: a map has two axes, and this is a cube: cut out the plane of the "
                         "image",
                         map->path);
    return SRCFIND_OK;
}

/* Checks that the unit is that of the image. A map without a unit is taken to be in it. */
static enum srcfind_status check_unit(const struct srcfind_image *map,
                                      const struct srcfind_image *image, struct error *error) {
    double factor;
    if (!*map->unit || !*image->unit || strcmp(map->unit, image->unit) == 0 ||
        (units_conform(map->unit, image->unit, &factor) && factor == 1))
        return SRCFIND_OK;
    return error_set(error, SRCFIND_ERROR_INPUT,
                     "%s: its unit is %s, but the unit of the image is %s: convert the map",
                     map->path, map->unit, image->unit);
}

/* Whether a header says that the pixels are on the grid of the image, without coordinates:
 * srcfind's Python package writes arrays so. */
static bool has_grid_of_image(const struct header *header) {
    char text[SRCFIND_TEXT];
    return header_text(header, "SRCFGRID", text, sizeof text) && strcmp(text, "IMAGE") == 0;
}

/* Opens the image for detection, and checks that it has the grid of the image. */
static enum srcfind_status open_detection(struct user_map *map, const char *path,
                                          const struct image_choice *choice,
                                          const struct image *image,
                                          const struct srcfind_image *metadata,
                                          struct error *error) {
    struct image_choice own = image_choice_beside(&choice->trim, metadata);
    own.plane = choice->plane;
    own.beam = choice->beam;
    own.blank = choice->blank;
    own.plane.where_there_are = true;
    const enum srcfind_status status = image_open(&map->image, path, &own, &map->metadata, error);
    if (status == SRCFIND_OK && has_grid_of_image(&map->image.hdu.header))
        return check_shape(&map->metadata, metadata, error);
    return status == SRCFIND_OK
               ? same_grid_check(&map->image, &map->metadata, image, metadata, error)
               : status;
}

/* Opens a map, and checks that it suits the image. of: the image for detection, if it is a map of
 * its noise; else NULL. */
static enum srcfind_status open_map(enum user_map_kind kind, struct user_map *map, const char *path,
                                    const struct trim_option *trim, const struct image *image,
                                    const struct srcfind_image *metadata, const struct user_map *of,
                                    struct error *error) {
    const struct image_choice first = image_choice_beside(trim, metadata);
    enum srcfind_status status = image_open(&map->image, path, &first, &map->metadata, error);
    if (status == SRCFIND_OK)
        status = check_kind(kind, &map->image, image, error);
    if (status == SRCFIND_OK && of)
        status = check_kind(kind, &map->image, &of->image, error);
    if (status == SRCFIND_OK)
        status = check_shape(&map->metadata, metadata, error);
    if (status == SRCFIND_OK && kind != USER_MASK)
        status = check_unit(&map->metadata, of ? &of->metadata : metadata, error);
    if (status == SRCFIND_OK && !has_grid_of_image(&map->image.hdu.header))
        status = same_grid_compare(&map->image, &map->metadata, image, metadata, map->difference,
                                   sizeof map->difference, error);
    return status;
}

/* Opens the map of one kind. given: a path, or "". choice: of the image. */
static enum srcfind_status open_kind(struct user_maps *maps, enum user_map_kind kind,
                                     const char *given, const struct image *image,
                                     const struct srcfind_image *metadata,
                                     const struct image_choice *choice, struct error *error) {
    if (!*given)
        return SRCFIND_OK;
    char *path = user_map_path(kind, given, metadata->path);
    enum srcfind_status status = path ? check_exists(kind, given, path, metadata->path, error)
                                      : error_memory(error, "opening a map");
    struct user_map *map = status == SRCFIND_OK ? calloc(1, sizeof *map) : NULL;
    maps->images[kind] = map;
    if (map && kind == USER_DETECTION)
        status = open_detection(map, path, choice, image, metadata, error);
    else if (map)
        status = open_map(kind, map, path, &choice->trim, image, metadata,
                          kind > USER_DETECTION ? maps->images[USER_DETECTION] : NULL, error);
    else if (status == SRCFIND_OK)
        status = error_memory(error, "opening a map");
    free(path);
    return status;
}

enum srcfind_status user_maps_open(struct user_maps *maps, const struct image *image,
                                   const struct srcfind_image *metadata,
                                   const struct options *options, struct error *error) {
    const char *paths[USER_MAP_KINDS] = {[USER_MASK] = options->mask,
                                         [USER_RMS] = options->rms_map,
                                         [USER_BACKGROUND] = options->background_map,
                                         [USER_DETECTION] = options->detect_on,
                                         [USER_DETECTION_RMS] = options->detect_rms_map,
                                         [USER_DETECTION_BACKGROUND] =
                                             options->detect_background_map};
    bool has_regions = false;
    enum srcfind_status status =
        *options->mask ? region_file_is(options->mask, &has_regions, error) : SRCFIND_OK;
    maps->regions = has_regions ? options->mask : NULL;
    for (int kind = 0; status == SRCFIND_OK && kind < USER_MAP_KINDS; kind++)
        if (kind != USER_MASK || !has_regions)
            status = open_kind(maps, (enum user_map_kind)kind, paths[kind], image, metadata,
                               &options->image, error);
    return status;
}

void user_maps_close(struct user_maps *maps) {
    for (int kind = 0; kind < USER_MAP_KINDS; kind++) {
        struct user_map *map = maps->images[kind];
        if (!map)
            continue;
        image_close(&map->image);
        image_clear_metadata(&map->metadata);
        free(map);
        maps->images[kind] = NULL;
    }
}

bool user_maps_exist(const struct user_maps *maps) {
    bool any = false;
    for (int kind = 0; kind < USER_MAP_KINDS; kind++)
        any = any || maps->images[kind];
    return any;
}

const struct pixel_source *user_map_source(const struct user_maps *maps, enum user_map_kind kind) {
    return maps->images[kind] ? &maps->images[kind]->image.source : NULL;
}

const char *user_map_option(enum user_map_kind kind) {
    return kinds[kind].option;
}

enum srcfind_status user_maps_unchanged(const struct user_maps *maps, struct error *error) {
    enum srcfind_status status = SRCFIND_OK;
    for (int kind = 0; status == SRCFIND_OK && kind < USER_MAP_KINDS; kind++)
        if (maps->images[kind])
            status = image_unchanged(&maps->images[kind]->image, error);
    return status;
}

enum srcfind_status user_maps_explain_blank(const struct user_maps *maps, int64_t n_pixels,
                                            struct error *error) {
    char text[sizeof error->text] = "";
    for (int kind = 0; kind < USER_MAP_KINDS; kind++)
        if (maps->images[kind])
            texts_append(text, sizeof text, ", %s in %s", kinds[kind].value,
                         maps->images[kind]->metadata.path);
    return error_set(
        error, SRCFIND_ERROR_INPUT,
        "none of the %lld pixels is left to search: a pixel needs a finite value in the image%s",
        (long long)n_pixels, text);
}
