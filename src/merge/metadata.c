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

struct kind {
    char unit[SRCFIND_TEXT], flux_unit[SRCFIND_TEXT], frame[SRCFIND_TEXT];
    const char *unit_spelt, *flux_unit_spelt; /* as VOUnit does; NULL if it does not */
    char lon_name[8], lat_name[8];
    double equinox;
    bool knows_image, knows_options;
    struct options options;
    uint64_t options_hash;
};

void metadata_clear(struct metadata *m) {
    for (int64_t i = 0; i < m->n_kinds; i++)
        options_clear(&m->kinds[i].options);
    free(m->images);
    free(m->kinds);
    *m = (struct metadata){0};
}

/* --- adding --- */

/* The planes of an image have the same hash. */
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

static bool is_kind(const struct kind *kind, const struct merge_input *input, uint64_t hash) {
    const struct srcfind_image *image = &input->result->image;
    return kind->options_hash == hash && kind->knows_image == input->knows_image &&
           kind->knows_options == input->knows_options && strcmp(kind->unit, image->unit) == 0 &&
           strcmp(kind->flux_unit, image->flux_unit) == 0 &&
           strcmp(kind->frame, image->frame) == 0 && strcmp(kind->lon_name, image->lon_name) == 0 &&
           are_equal(kind->equinox, image->equinox);
}

/* Finds or adds the kind of a catalogue; -1 where memory ran out. The planes of an image are of one
 * kind. */
static int32_t find_kind(struct metadata *m, const struct merge_input *input) {
    const struct srcfind_image *image = &input->result->image;
    const uint64_t hash = hash_options(&input->result->options, input->plane);
    for (int64_t i = m->n_kinds - 1; i >= 0; i--)
        if (is_kind(&m->kinds[i], input, hash))
            return (int32_t)i;
    struct kind kind = {.unit_spelt = units_vounit(image->unit),
                        .flux_unit_spelt = units_vounit(image->flux_unit),
                        .equinox = image->equinox,
                        .knows_image = input->knows_image,
                        .knows_options = input->knows_options,
                        .options_hash = hash};
    if (!options_copy(&kind.options, &input->result->options) ||
        !GROW(m->kinds, m->kinds_capacity, m->n_kinds + 1)) {
        options_clear(&kind.options);
        return -1;
    }
    if (input->plane)
        kind.options.image.plane = (struct plane_option){0};
    memcpy(kind.unit, image->unit, sizeof kind.unit);
    memcpy(kind.flux_unit, image->flux_unit, sizeof kind.flux_unit);
    memcpy(kind.frame, image->frame, sizeof kind.frame);
    memcpy(kind.lon_name, image->lon_name, sizeof kind.lon_name);
    memcpy(kind.lat_name, image->lat_name, sizeof kind.lat_name);
    m->kinds[m->n_kinds] = kind;
    return (int32_t)m->n_kinds++;
}

bool metadata_add(struct metadata *m, int64_t i, const char *name,
                  const struct merge_input *input) {
    const struct srcfind_image *image = &input->result->image;
    const int32_t kind = find_kind(m, input);
    if (kind < 0 || !GROW(m->images, m->images_capacity, i + 1))
        return false;
    for (; m->n_images <= i; m->n_images++)
        m->images[m->n_images] = (struct image_facts){0};
    m->images[i] = (struct image_facts){
        .name = name, .kind = kind, .beam = image->beam, .frequency = image->frequency};
    return true;
}

/* --- checks --- */

static const struct kind *kind_of(const struct metadata *m, int64_t i) {
    return &m->kinds[m->images[i].kind];
}

/* The first image of this or a later one that was added, and whose kind is known or not. */
static int64_t find_image(const struct metadata *m, int64_t i, bool knows_image) {
    while (i < m->n_images && (!m->images[i].name || kind_of(m, i)->knows_image != knows_image))
        i++;
    return i;
}

enum { FRAME_TEXT = SRCFIND_TEXT + 32 };

/* What two kinds do not have in common, and what each has. */
struct difference {
    const char *what; /* NULL: they go together */
    char one[FRAME_TEXT], other[FRAME_TEXT];
};

static void differ(struct difference *d, const char *what, const char *one, const char *other) {
    d->what = what;
    snprintf(d->one, sizeof d->one, "%s", *one ? one : "none");
    snprintf(d->other, sizeof d->other, "%s", *other ? other : "none");
}

/* The options that a catalogue has its columns by. */
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
static const char *frame_text(const struct kind *kind, char text[FRAME_TEXT]) {
    if (isnan(kind->equinox))
        return kind->frame;
    char equinox[FORMAT_TEXT];
    format_double(kind->equinox, equinox);
    snprintf(text, FRAME_TEXT, "%s %s", kind->frame, equinox);
    return text;
}

static bool are_one_unit(const char *a, const char *a_spelt, const char *b, const char *b_spelt) {
    return strcmp(a, b) == 0 || (a_spelt && a_spelt == b_spelt);
}

/* Without a beam, or outside of radio astronomy, the unit of fluxes is that of the map with
 * something behind it. */
static bool have_one_flux_unit(const struct kind *a, const struct kind *b) {
    const size_t n = strlen(a->unit), m = strlen(b->unit);
    if (are_one_unit(a->flux_unit, a->flux_unit_spelt, b->flux_unit, b->flux_unit_spelt))
        return true;
    return are_one_unit(a->unit, a->unit_spelt, b->unit, b->unit_spelt) &&
           strncmp(a->flux_unit, a->unit, n) == 0 && strncmp(b->flux_unit, b->unit, m) == 0 &&
           strcmp(a->flux_unit + n, b->flux_unit + m) == 0;
}

/* Images without sky coordinates go with all frames. */
static struct difference compare_kinds(const struct kind *a, const struct kind *b) {
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

/* Lists the images after image k, which differ from image i like k does: "", or how many and some
 * of their names. */
static void list_others(const struct metadata *m, int64_t i, int64_t k, const char *what,
                        char *text, size_t size) {
    char names[MOST_NAMES * (NAME_SHOWN + 2) + 8] = "";
    int64_t n = 0;
    for (k++; k < m->n_images; k++) {
        if (!m->images[k].name)
            continue;
        const struct difference d = compare_kinds(kind_of(m, i), kind_of(m, k));
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

/* Compares images i and k, which is later. */
static enum srcfind_status compare(const struct metadata *m, int64_t i, int64_t k,
                                   struct error *error) {
    char others[MOST_NAMES * (NAME_SHOWN + 2) + 80];
    const struct difference d = compare_kinds(kind_of(m, i), kind_of(m, k));
    if (!d.what)
        return SRCFIND_OK;
    list_others(m, i, k, d.what, others, sizeof others);
    return error_set(error, SRCFIND_ERROR_INPUT,
                     "%s: not written, since %s differ: %.500s has %s, and %.500s %s%s: merge "
                     "images that are alike",
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
        if (with_sky < 0 && *kind_of(m, i)->lon_name)
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
        const struct image_facts *image = &m->images[i];
        if (image->has_candidates && !(image->beam.major > 0) && n++ == 0)
            *first = image->name;
    }
    return n;
}

int64_t metadata_without_sky(const struct metadata *m, const char **first) {
    int64_t n = 0;
    for (int64_t i = 0; i < m->n_images; i++)
        if (m->images[i].name && !*kind_of(m, i)->lon_name && !*kind_of(m, i)->options.at &&
            n++ == 0)
            *first = m->images[i].name;
    return n;
}

/* --- what is said of all --- */

/* Takes from an image what all have in common, as far as it is known. */
static void take_kind(const struct kind *kind, struct srcfind_image *image) {
    if (!*image->flux_unit) {
        memcpy(image->unit, kind->unit, sizeof kind->unit);
        memcpy(image->flux_unit, kind->flux_unit, sizeof kind->flux_unit);
    }
    if (*kind->lon_name && !*image->frame) {
        memcpy(image->frame, kind->frame, sizeof kind->frame);
        memcpy(image->lon_name, kind->lon_name, sizeof kind->lon_name);
        memcpy(image->lat_name, kind->lat_name, sizeof kind->lat_name);
        image->equinox = kind->equinox;
    }
}

/* Forgets what differs between the first image and another one. */
static void compare_facts(const struct image_facts *first, const struct image_facts *other,
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
        const struct image_facts *facts = &m->images[i];
        if (!facts->name)
            continue;
        const struct kind *kind = &m->kinds[facts->kind];
        if (first < 0) {
            first = i;
            if (!options_copy(&result->options, &kind->options))
                return false;
            result->image.beam = facts->beam;
            result->image.frequency = facts->frequency;
        }
        take_kind(kind, &result->image);
        compare_facts(&m->images[first], facts, &result->image);
        *options_differ = *options_differ || !kind->knows_options ||
                          kind->options_hash != kind_of(m, first)->options_hash;
    }
    return true;
}
