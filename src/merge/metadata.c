/* How the metadata of many images are compared:
 *
 * 1. Images with the same unit, frame, columns and options form a group, found by comparing with
 *    the groups so far, the last one first: there are few.
 * 2. metadata_check compares each image with the first one, with the first one that has sky
 *    coordinates, and with the first one whose unit and frame are known; CSV knows neither. The
 *    error names images on both sides.
 * 3. metadata_describe gives the merged catalogue all that is the same for all images.
 *
 * Units are compared as VOUnit spells them: mJy/beam and mJy/Beam are one. No row is read. Memory:
 * a struct for each image and for each group. */
#include "merge/metadata.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/arrays.h"
#include "common/fnv.h"
#include "common/format_double.h"
#include "common/texts.h"
#include "input/image.h"
#include "input/units.h"

struct image_group {
    char unit[SRCFIND_TEXT], flux_unit[SRCFIND_TEXT], frame[SRCFIND_TEXT];
    const char *unit_spelt, *flux_unit_spelt; /* as in VOUnit; NULL if VOUnit has no spelling */
    char lon_name[8], lat_name[8];
    double equinox;
    bool knows_image, knows_options;
    struct options options;
    uint64_t options_hash;
};

void metadata_clear(struct metadata *m) {
    for (int64_t i = 0; i < m->n_groups; i++)
        options_clear(&m->groups[i].options);
    free(m->images);
    free(m->groups);
    *m = (struct metadata){0};
}

/* --- adding --- */

/* The hash of options. All planes of an image have the same hash. */
static uint64_t hash_options(const struct options *options, bool is_plane) {
    struct shaping_option option;
    uint64_t hash = FNV_BASIS;
    for (int i = 0; options_next_shaping(options, &i, &option);)
        fnv_add(&hash, is_plane && strcmp(option.name, "plane") == 0 ? "" : option.value);
    return hash;
}

static bool are_equal(double a, double b) {
    return a == b || (isnan(a) && isnan(b));
}

static bool is_group_of(const struct image_group *group, const struct merge_input *input,
                        uint64_t hash) {
    const struct srcfind_image *image = &input->result->image;
    return group->options_hash == hash && group->knows_image == input->knows_image &&
           group->knows_options == input->knows_options && strcmp(group->unit, image->unit) == 0 &&
           strcmp(group->flux_unit, image->flux_unit) == 0 &&
           strcmp(group->frame, image->frame) == 0 &&
           strcmp(group->lon_name, image->lon_name) == 0 &&
           are_equal(group->equinox, image->equinox);
}

/* Finds or adds the group of a catalogue; -1 where memory ran out. The planes of an image are in
 * one group. */
static int32_t find_group(struct metadata *m, const struct merge_input *input) {
    const struct srcfind_image *image = &input->result->image;
    const uint64_t hash = hash_options(&input->result->options, input->plane);
    for (int64_t i = m->n_groups - 1; i >= 0; i--)
        if (is_group_of(&m->groups[i], input, hash))
            return (int32_t)i;
    struct image_group group = {.unit_spelt = units_vounit(image->unit),
                                .flux_unit_spelt = units_vounit(image->flux_unit),
                                .equinox = image->equinox,
                                .knows_image = input->knows_image,
                                .knows_options = input->knows_options,
                                .options_hash = hash};
    if (!options_copy(&group.options, &input->result->options) ||
        !GROW(m->groups, m->groups_capacity, m->n_groups + 1)) {
        options_clear(&group.options);
        return -1;
    }
    if (input->plane)
        group.options.image.plane = (struct plane_option){0};
    memcpy(group.unit, image->unit, sizeof group.unit);
    memcpy(group.flux_unit, image->flux_unit, sizeof group.flux_unit);
    memcpy(group.frame, image->frame, sizeof group.frame);
    memcpy(group.lon_name, image->lon_name, sizeof group.lon_name);
    memcpy(group.lat_name, image->lat_name, sizeof group.lat_name);
    m->groups[m->n_groups] = group;
    return (int32_t)m->n_groups++;
}

bool metadata_add(struct metadata *m, int64_t i, const char *name,
                  const struct merge_input *input) {
    const struct srcfind_image *image = &input->result->image;
    const int32_t group = find_group(m, input);
    if (group < 0 || !GROW(m->images, m->images_capacity, i + 1))
        return false;
    for (; m->n_images <= i; m->n_images++)
        m->images[m->n_images] = (struct image_metadata){0};
    m->images[i] = (struct image_metadata){
        .name = name, .group = group, .beam = image->beam, .frequency = image->frequency};
    return true;
}

/* --- checks --- */

static const struct image_group *group_of(const struct metadata *m, int64_t i) {
    return &m->groups[m->images[i].group];
}

/* The first image from i on that was added, and whose unit and frame are known or not, as wanted.
 */
static int64_t find_image(const struct metadata *m, int64_t i, bool knows_image) {
    while (i < m->n_images && (!m->images[i].name || group_of(m, i)->knows_image != knows_image))
        i++;
    return i;
}

enum { FRAME_TEXT = SRCFIND_TEXT + 32 };

/* The first difference of two groups, and the value of each. */
struct difference {
    const char *what; /* NULL: there is none */
    char one[FRAME_TEXT], other[FRAME_TEXT];
};

static void differ(struct difference *d, const char *what, const char *one, const char *other) {
    d->what = what;
    snprintf(d->one, sizeof d->one, "%s", *one ? one : "none");
    snprintf(d->other, sizeof d->other, "%s", *other ? other : "none");
}

/* The options that decide the columns of a catalogue. */
static const char *columns_of(const struct options *o) {
    const bool is_divided = options_deblend(o) && !*o->at;
    return o->scales.n > 0                ? "those of --scales"
           : options_fit(o) && is_divided ? "those of --fit"
           : options_fit(o)               ? "those of --at and --fit"
           : is_divided                   ? "those of --deblend"
           : *o->at                       ? "those of --at"
                                          : "those of neither --fit nor --deblend";
}

/* The name of a frame, and its equinox, if it has one. */
static const char *frame_text(const struct image_group *group, char text[FRAME_TEXT]) {
    if (isnan(group->equinox))
        return group->frame;
    char equinox[FORMAT_TEXT];
    format_double(group->equinox, equinox);
    snprintf(text, FRAME_TEXT, "%s %s", group->frame, equinox);
    return text;
}

static bool are_one_unit(const char *a, const char *a_spelt, const char *b, const char *b_spelt) {
    return strcmp(a, b) == 0 || (a_spelt && a_spelt == b_spelt);
}

/* Whether the units of fluxes are the same. Without a beam, or outside of radio astronomy, the unit
 * of fluxes is the unit of the map with a suffix. */
static bool have_one_flux_unit(const struct image_group *a, const struct image_group *b) {
    const size_t n = strlen(a->unit), m = strlen(b->unit);
    if (are_one_unit(a->flux_unit, a->flux_unit_spelt, b->flux_unit, b->flux_unit_spelt))
        return true;
    return are_one_unit(a->unit, a->unit_spelt, b->unit, b->unit_spelt) &&
           strncmp(a->flux_unit, a->unit, n) == 0 && strncmp(b->flux_unit, b->unit, m) == 0 &&
           strcmp(a->flux_unit + n, b->flux_unit + m) == 0;
}

/* Compares two groups. Images without sky coordinates fit all frames. */
static struct difference compare_groups(const struct image_group *a, const struct image_group *b) {
    struct difference d = {0};
    const bool have_sky = *a->lon_name && *b->lon_name;
    char one[FRAME_TEXT], other[FRAME_TEXT];
    if (strcmp(columns_of(&a->options), columns_of(&b->options)) != 0)
        differ(&d, "columns", columns_of(&a->options), columns_of(&b->options));
    else if (have_sky && strcmp(a->lon_name, b->lon_name) != 0)
        differ(&d, "coordinates", a->lon_name, b->lon_name);
    else if (!a->knows_image || !b->knows_image)
        return d;
    else if (!have_one_flux_unit(a, b))
        differ(&d, "units of fluxes", a->flux_unit, b->flux_unit);
    else if (!are_one_unit(a->unit, a->unit_spelt, b->unit, b->unit_spelt))
        differ(&d, "units of maps", a->unit, b->unit);
    else if (have_sky && (strcmp(a->frame, b->frame) != 0 || !are_equal(a->equinox, b->equinox)))
        differ(&d, "frames", frame_text(a, one), frame_text(b, other));
    return d;
}

enum { MOST_NAMES = 8, NAME_SHOWN = 200 };

/* Lists the images behind k that differ from image i in the same way as k: "", or their number and
 * some of their names. */
static void list_others(const struct metadata *m, int64_t i, int64_t k, const char *what,
                        char *text, size_t size) {
    char names[MOST_NAMES * (NAME_SHOWN + 2) + 8] = "";
    int64_t n = 0;
    for (k++; k < m->n_images; k++) {
        if (!m->images[k].name)
            continue;
        const struct difference d = compare_groups(group_of(m, i), group_of(m, k));
        if (!d.what || strcmp(d.what, what) != 0)
            continue;
        if (n < MOST_NAMES)
            texts_append(names, sizeof names, "%s%.*s", n > 0 ? ", " : "", NAME_SHOWN,
                         m->images[k].name);
        n++;
    }
    snprintf(text, size, n > 0 ? " (and %lld more: %s%s)" : "", (long long)n, names,
             n > MOST_NAMES ? ", ..." : "");
}

/* Compares image i and a later image k. */
static enum srcfind_status compare(const struct metadata *m, int64_t i, int64_t k,
                                   struct error *error) {
    char others[MOST_NAMES * (NAME_SHOWN + 2) + 80];
    const struct difference d = compare_groups(group_of(m, i), group_of(m, k));
    if (!d.what)
        return SRCFIND_OK;
    list_others(m, i, k, d.what, others, sizeof others);
    return error_set(error, SRCFIND_ERROR_INPUT,
                     "%s: not written, since %s differ: %.500s has %s, and %.500s %s%s: merge only "
                     "images that agree",
                     m->path ? m->path : "the merged catalogue", d.what, m->images[i].name, d.one,
                     m->images[k].name, d.other, others);
}

/* Compares all images with the first one, with the first one that has sky coordinates, and with the
 * first one whose unit and frame are known. */
enum srcfind_status metadata_check(const struct metadata *m, struct error *error) {
    enum srcfind_status status = SRCFIND_OK;
    int64_t first = -1, with_sky = -1;
    const int64_t known = find_image(m, 0, true);
    for (int64_t i = 0; status == SRCFIND_OK && i < m->n_images; i++) {
        if (!m->images[i].name)
            continue;
        first = first < 0 ? i : first;
        if (with_sky < 0 && *group_of(m, i)->lon_name)
            with_sky = i;
        status = compare(m, first, i, error);
        if (status == SRCFIND_OK && with_sky >= 0)
            status = compare(m, with_sky, i, error);
        if (status == SRCFIND_OK && known < i)
            status = compare(m, known, i, error);
    }
    return status;
}

enum srcfind_status metadata_check_beams(const struct metadata *m, struct error *error) {
    int64_t i = find_image(m, 0, false);
    while (i < m->n_images && !m->images[i].has_candidates)
        i = find_image(m, i + 1, false);
    if (i == m->n_images)
        return SRCFIND_OK;
    return error_set(error, SRCFIND_ERROR_OPTIONS,
                     "%s: the beam of this image is not known: give --radius ARCSEC, within which "
                     "rows are one source",
                     m->images[i].name);
}

int64_t metadata_without_beam(const struct metadata *m, const char **first) {
    int64_t n = 0;
    for (int64_t i = 0; i < m->n_images; i++) {
        const struct image_metadata *image = &m->images[i];
        if (image->has_candidates && !(image->beam.major > 0) && n++ == 0)
            *first = image->name;
    }
    return n;
}

int64_t metadata_without_sky(const struct metadata *m, const char **first) {
    int64_t n = 0;
    for (int64_t i = 0; i < m->n_images; i++)
        if (m->images[i].name && !*group_of(m, i)->lon_name && !*group_of(m, i)->options.at &&
            n++ == 0)
            *first = m->images[i].name;
    return n;
}

/* --- metadata of all images --- */

/* Takes unit and frame of a group, if `image` has none yet: all groups agree. */
static void take_group(const struct image_group *group, struct srcfind_image *image) {
    if (!*image->flux_unit) {
        memcpy(image->unit, group->unit, sizeof group->unit);
        memcpy(image->flux_unit, group->flux_unit, sizeof group->flux_unit);
    }
    if (*group->lon_name && !*image->frame) {
        memcpy(image->frame, group->frame, sizeof group->frame);
        memcpy(image->lon_name, group->lon_name, sizeof group->lon_name);
        memcpy(image->lat_name, group->lat_name, sizeof group->lat_name);
        image->equinox = group->equinox;
    }
}

/* Forgets beam or frequency if those of the first image and of another one differ. */
static void compare_images(const struct image_metadata *first, const struct image_metadata *other,
                           struct srcfind_image *image) {
    if (!are_equal(first->beam.major, other->beam.major) ||
        !are_equal(first->beam.minor, other->beam.minor) ||
        !are_equal(first->beam.angle, other->beam.angle))
        image->beam = (struct srcfind_beam){NAN, NAN, NAN};
    if (!are_equal(first->frequency, other->frequency))
        image->frequency = NAN;
}

bool metadata_describe(const struct metadata *m, struct result *result, bool *options_differ) {
    int64_t first = -1;
    *options_differ = false;
    result->image = image_empty_metadata();
    options_default(&result->options);
    for (int64_t i = 0; i < m->n_images; i++) {
        const struct image_metadata *added = &m->images[i];
        if (!added->name)
            continue;
        const struct image_group *group = &m->groups[added->group];
        if (first < 0) {
            first = i;
            if (!options_copy(&result->options, &group->options))
                return false;
            result->image.beam = added->beam;
            result->image.frequency = added->frequency;
        }
        take_group(group, &result->image);
        compare_images(&m->images[first], added, &result->image);
        *options_differ = *options_differ || !group->knows_options ||
                          group->options_hash != group_of(m, first)->options_hash;
    }
    return true;
}
