#include "merge/merge.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#include "common/arrays.h"
#include "common/fnv.h"
#include "common/json_tree.h"
#include "common/path.h"
#include "common/text_stream.h"
#include "input/image.h"
#include "merge/duplicates.h"
#include "merge/merged_rows.h"
#include "output/json.h"
#include "output/save.h"

/* What images of a merged catalogue have in common. */
struct kind {
    char unit[SRCFIND_TEXT], flux_unit[SRCFIND_TEXT], frame[SRCFIND_TEXT];
    char lon_name[8], lat_name[8];
    double equinox;
    bool knows_image, knows_options;
    struct options *options;
    uint64_t options_hash;
};

/* What is needed of an image beside its rows. */
struct facts_of_image {
    int32_t kind;
    struct srcfind_beam beam;
    double frequency;
};

struct merge {
    struct merge_options options;
    int64_t n_images;
    struct merged_image *images;
    struct facts_of_image *facts;
    struct spool spool;
    bool has_lock;
    mtx_t lock; /* protects all that follows */
    struct kind *kinds;
    int64_t n_kinds, kinds_capacity;
    struct candidate *candidates;
    int64_t n_candidates, candidates_capacity;
    int64_t n_rows;
};

static const char MERGING[] = "merging catalogues";

/* --- formats --- */

static const struct writer *const merged_formats[] = {&csv_writer, &json_writer, &votable_writer,
                                                      &fits_writer, &ecsv_writer};
enum { MERGED_FORMATS = sizeof merged_formats / sizeof *merged_formats };

const struct writer *merge_writer(const char *path) {
    for (int i = 0; i < MERGED_FORMATS; i++)
        for (const char *const *suffix = merged_formats[i]->format.suffixes; *suffix; suffix++)
            if (path_ends_with(path, *suffix))
                return merged_formats[i];
    return NULL;
}

void merge_list_suffixes(char *text, size_t size) {
    *text = '\0';
    for (int i = 0; i < MERGED_FORMATS; i++) {
        for (const char *const *suffix = merged_formats[i]->format.suffixes; *suffix; suffix++) {
            const size_t length = strlen(text);
            snprintf(text + length, size - length, "%s%s", length ? ", " : "", *suffix);
        }
    }
}

/* --- beginning and end --- */

static enum srcfind_status spool_error(const struct merge *m, struct error *error) {
    return error_set(error, SRCFIND_ERROR_OUTPUT,
                     "%s: the rows of the merged catalogue cannot be kept beside it: %s",
                     m->options.path ? m->options.path : "standard output", strerror(errno));
}

enum srcfind_status merge_create(const struct merge_options *options, int64_t n,
                                 struct merge **merge, struct error *error) {
    struct merge *m = *merge = calloc(1, sizeof *m);
    if (!m)
        return error_memory(error, MERGING);
    *m = (struct merge){.options = *options, .n_images = n, .spool = {.descriptor = -1}};
    m->images = calloc((size_t)n + 1, sizeof *m->images);
    m->facts = calloc((size_t)n + 1, sizeof *m->facts);
    m->has_lock = mtx_init(&m->lock, mtx_plain) == thrd_success;
    if (!m->images || !m->facts || !m->has_lock)
        return error_memory(error, MERGING);
    return spool_open(&m->spool, options->path) ? SRCFIND_OK : spool_error(m, error);
}

static void clear_names(struct merged_image *image) {
    free(image->name);
    free(image->other_name);
}

void merge_destroy(struct merge *m) {
    if (!m)
        return;
    for (int64_t i = 0; m->images && i < m->n_images; i++)
        clear_names(&m->images[i]);
    for (int64_t i = 0; i < m->n_kinds; i++)
        free(m->kinds[i].options);
    if (m->has_lock)
        mtx_destroy(&m->lock);
    spool_close(&m->spool);
    free(m->images);
    free(m->facts);
    free(m->kinds);
    free(m->candidates);
    free(m);
}

/* --- what images have in common --- */

static uint64_t hash_options(const struct options *options) {
    char text[OPTIONS_TEXT];
    uint64_t hash = FNV_BASIS;
    for (int i = 0; options_describe(i); i++) {
        if (!options_describe(i)->shapes_catalogue)
            continue;
        options_get(options, options_describe(i)->name, text);
        fnv_add(&hash, text);
    }
    return hash;
}

static bool are_equal(double a, double b) {
    return a == b || (isnan(a) && isnan(b));
}

static bool is_kind(const struct kind *kind, const struct merge_input *input, uint64_t hash) {
    const struct srcfind_image *image = &input->catalogue->image;
    return kind->options_hash == hash && kind->knows_image == input->knows_image &&
           kind->knows_options == input->knows_options && strcmp(kind->unit, image->unit) == 0 &&
           strcmp(kind->flux_unit, image->flux_unit) == 0 &&
           strcmp(kind->frame, image->frame) == 0 && strcmp(kind->lon_name, image->lon_name) == 0 &&
           are_equal(kind->equinox, image->equinox);
}

/* Finds or adds the kind of a catalogue; -1 where memory ran out. */
static int32_t find_kind(struct merge *m, const struct merge_input *input, uint64_t hash) {
    const struct srcfind_image *image = &input->catalogue->image;
    for (int64_t i = m->n_kinds - 1; i >= 0; i--)
        if (is_kind(&m->kinds[i], input, hash))
            return (int32_t)i;
    struct kind kind = {.equinox = image->equinox,
                        .knows_image = input->knows_image,
                        .knows_options = input->knows_options,
                        .options = malloc(sizeof *kind.options),
                        .options_hash = hash};
    if (!kind.options || !GROW(m->kinds, m->kinds_capacity, m->n_kinds + 1)) {
        free(kind.options);
        return -1;
    }
    *kind.options = input->catalogue->options;
    memcpy(kind.unit, image->unit, sizeof kind.unit);
    memcpy(kind.flux_unit, image->flux_unit, sizeof kind.flux_unit);
    memcpy(kind.frame, image->frame, sizeof kind.frame);
    memcpy(kind.lon_name, image->lon_name, sizeof kind.lon_name);
    memcpy(kind.lat_name, image->lat_name, sizeof kind.lat_name);
    m->kinds[m->n_kinds] = kind;
    return (int32_t)m->n_kinds++;
}

/* --- adding --- */

/* The name without what is no UTF-8 or controls a terminal; to be freed. */
static char *clean_name(const char *name) {
    char *clean = strdup(name);
    if (!clean)
        return NULL;
    json_replace_invalid(clean);
    for (char *c = clean; *c; c++)
        if (iscntrl((unsigned char)*c))
            *c = '?';
    return clean;
}

/* Pixels between a source's box, or its centre, and the nearest edge of the image. */
static int32_t margin_of(const struct srcfind_image *image, const struct srcfind_source *s) {
    if (image->width < 1 || image->height < 1)
        return 0;
    const bool has_box = s->x_min != SRCFIND_EMPTY;
    const double left = has_box ? (double)s->x_min : floor(s->x);
    const double right = (double)image->width - 1 - (has_box ? (double)s->x_max : ceil(s->x));
    const double low = has_box ? (double)s->y_min : floor(s->y);
    const double high = (double)image->height - 1 - (has_box ? (double)s->y_max : ceil(s->y));
    const double margin = fmin(fmin(left, right), fmin(low, high));
    return margin > -INT32_MAX && margin < INT32_MAX ? (int32_t)margin : 0;
}

static struct candidate candidate_of(const struct srcfind_image *image, int64_t i, int64_t row,
                                     const struct srcfind_source *s) {
    const double lon = s->lon * (M_PI / 180), lat = s->lat * (M_PI / 180);
    return (struct candidate){
        .position = {cos(lat) * cos(lon), cos(lat) * sin(lon), sin(lat)},
        .rms = isfinite(s->isl_rms) ? s->isl_rms : (double)INFINITY,
        .image = (int32_t)i,
        .margin = margin_of(image, s),
        .row = (uint32_t)row,
        .at_edge = s->flags & SRCFIND_FLAG_EDGE,
        .is_negative = s->flags & SRCFIND_FLAG_NEGATIVE,
    };
}

/* Adds the rows that may be duplicates: those on the sky. Measurements at given positions are none:
 * each image has its own. */
static bool add_candidates(struct merge *m, int64_t i, const struct srcfind_catalogue *c) {
    if (*c->options.at)
        return true;
    if (!GROW(m->candidates, m->candidates_capacity, m->n_candidates + c->n_sources))
        return false;
    for (int64_t row = 0; row < c->n_sources; row++)
        if (isfinite(c->sources[row].lon) && isfinite(c->sources[row].lat))
            m->candidates[m->n_candidates++] =
                candidate_of(&c->image, i, m->images[i].first + row, &c->sources[row]);
    return true;
}

/* Keeps the text of the image's entry in a JSON catalogue. False with errno. */
static bool keep_entry(struct merge *m, int64_t i, const struct merge_input *input) {
    struct text text = {0};
    if (m->options.writer != &json_writer)
        return true;
    if (input->entry) {
        m->images[i].entry_bytes = strlen(input->entry);
        return spool_add(&m->spool, input->entry, m->images[i].entry_bytes, &m->images[i].entry);
    }
    FILE *stream = text_stream_open(&text);
    bool ok = stream && (input->knows_options && input->catalogue->background.n_pixels > 0
                             ? json_write_entry(input->catalogue, stream)
                             : json_write_known(&input->catalogue->image, stream));
    ok = stream && fclose(stream) == 0 && ok;
    errno = ENOMEM;
    m->images[i].entry_bytes = (size_t)text.size;
    ok = ok && spool_add(&m->spool, text.at, (size_t)text.size, &m->images[i].entry);
    free(text.at);
    return ok;
}

static enum srcfind_status add_locked(struct merge *m, int64_t i, const struct merge_input *input,
                                      struct error *error) {
    const struct srcfind_catalogue *c = input->catalogue;
    struct facts_of_image *facts = &m->facts[i];
    facts->kind = find_kind(m, input, hash_options(&c->options));
    facts->beam = c->image.beam;
    facts->frequency = c->image.frequency;
    m->images[i].first = m->n_rows;
    m->images[i].n = c->n_sources;
    if (m->n_rows + c->n_sources > UINT32_MAX)
        return error_set(error, SRCFIND_ERROR_OUTPUT,
                         "%s: a merged catalogue has at most 4294967295 rows: merge fewer images",
                         m->options.path ? m->options.path : "standard output");
    m->n_rows += c->n_sources;
    return facts->kind >= 0 && add_candidates(m, i, c) ? SRCFIND_OK : error_memory(error, MERGING);
}

enum srcfind_status merge_add(struct merge *m, int64_t i, const struct merge_input *input,
                              struct error *error) {
    const struct srcfind_catalogue *c = input->catalogue;
    struct merged_image *image = &m->images[i];
    char *name = clean_name(input->name);
    image->other_name = input->other_name ? clean_name(input->other_name) : NULL;
    if (!name || (input->other_name && !image->other_name)) {
        free(name);
        return error_memory(error, MERGING);
    }
    enum srcfind_status status =
        spool_add(&m->spool, c->sources, (size_t)c->n_sources * sizeof *c->sources, &image->at) &&
                keep_entry(m, i, input)
            ? SRCFIND_OK
            : spool_error(m, error);
    if (status == SRCFIND_OK) {
        mtx_lock(&m->lock);
        status = add_locked(m, i, input, error);
        mtx_unlock(&m->lock);
    }
    if (status == SRCFIND_OK)
        image->name = name;
    else
        free(name);
    return status;
}

/* --- checks --- */

/* The first image of this or a later one that was added, and whose kind is known or not. */
static int64_t find_image(const struct merge *m, int64_t i, bool knows_image) {
    while (i < m->n_images &&
           (!m->images[i].name || m->kinds[m->facts[i].kind].knows_image != knows_image))
        i++;
    return i;
}

static enum srcfind_status differ(const struct merge *m, int64_t i, int64_t k, const char *what,
                                  const char *one, const char *other, struct error *error) {
    return error_set(error, SRCFIND_ERROR_INPUT,
                     "%s: not written, since %s differ: %.500s has %s, and %.500s %s: merge images "
                     "that are alike",
                     m->options.path ? m->options.path : "the merged catalogue", what,
                     m->images[i].name, *one ? one : "none", m->images[k].name,
                     *other ? other : "none");
}

static bool is_divided(const struct options *o) {
    return options_deblend(o) && !*o->at;
}

enum { FRAME_TEXT = SRCFIND_TEXT + 32 };

/* The name of a frame, and its equinox, if it has one. */
static const char *frame_text(const struct kind *kind, char text[FRAME_TEXT]) {
    if (isnan(kind->equinox))
        return kind->frame;
    snprintf(text, FRAME_TEXT, "%s %g", kind->frame, kind->equinox);
    return text;
}

/* Images without sky coordinates go with all frames. */
static enum srcfind_status compare_kinds(const struct merge *m, int64_t i, int64_t k,
                                         struct error *error) {
    const struct kind *a = &m->kinds[m->facts[i].kind], *b = &m->kinds[m->facts[k].kind];
    const bool have_sky = *a->lon_name && *b->lon_name;
    char one[FRAME_TEXT], other[FRAME_TEXT];
    if (a->options->fit != b->options->fit || is_divided(a->options) != is_divided(b->options))
        return differ(m, i, k, "columns", a->options->fit ? "those of --fit" : "others",
                      b->options->fit ? "those of --fit" : "others", error);
    if (have_sky && strcmp(a->lon_name, b->lon_name) != 0)
        return differ(m, i, k, "coordinates", a->lon_name, b->lon_name, error);
    if (!a->knows_image || !b->knows_image)
        return SRCFIND_OK;
    if (strcmp(a->flux_unit, b->flux_unit) != 0)
        return differ(m, i, k, "units of fluxes", a->flux_unit, b->flux_unit, error);
    if (strcmp(a->unit, b->unit) != 0)
        return differ(m, i, k, "units of maps", a->unit, b->unit, error);
    if (have_sky && (strcmp(a->frame, b->frame) != 0 || !are_equal(a->equinox, b->equinox)))
        return differ(m, i, k, "frames", frame_text(a, one), frame_text(b, other), error);
    return SRCFIND_OK;
}

/* Compares all images with the first one, with the first one that has sky coordinates, and with the
 * first one whose unit and frame are known. */
static enum srcfind_status check_kinds(const struct merge *m, struct error *error) {
    enum srcfind_status status = SRCFIND_OK;
    int64_t first = -1, with_sky = -1;
    const int64_t known = find_image(m, 0, true);
    for (int64_t i = 0; status == SRCFIND_OK && i < m->n_images; i++) {
        if (!m->images[i].name)
            continue;
        first = first < 0 ? i : first;
        if (with_sky < 0 && *m->kinds[m->facts[i].kind].lon_name)
            with_sky = i;
        status = compare_kinds(m, first, i, error);
        if (status == SRCFIND_OK && with_sky >= 0)
            status = compare_kinds(m, with_sky, i, error);
        if (status == SRCFIND_OK && known < i)
            status = compare_kinds(m, known, i, error);
    }
    return status;
}

/* Where neither a radius nor a beam is known, duplicates cannot be found. */
static enum srcfind_status check_beams(const struct merge *m, struct error *error) {
    const int64_t i = find_image(m, 0, false);
    if (i == m->n_images || m->options.radius > 0 || m->n_candidates == 0)
        return SRCFIND_OK;
    return error_set(error, SRCFIND_ERROR_OPTIONS,
                     "%s: the beam of this image is not known: give --radius ARCSEC, within which "
                     "rows are one source",
                     m->images[i].name);
}

/* --- names --- */

static int by_name(const void *a, const void *b) {
    return strcmp((*(struct merged_image *const *)a)->name,
                  (*(struct merged_image *const *)b)->name);
}

/* Gives images of one name their other names. False where memory ran out. */
static bool make_names_differ(struct merge *m) {
    struct merged_image **sorted = malloc((size_t)m->n_images * sizeof *sorted + 1);
    int64_t n = 0;
    if (!sorted)
        return false;
    for (int64_t i = 0; i < m->n_images; i++)
        if (m->images[i].name)
            sorted[n++] = &m->images[i];
    qsort(sorted, (size_t)n, sizeof *sorted, by_name);
    for (int64_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && by_name(&sorted[i], &sorted[end]) == 0; end++)
            continue;
        for (int64_t k = i; end > i + 1 && k < end; k++) {
            char *name = sorted[k]->name;
            sorted[k]->name = sorted[k]->other_name ? sorted[k]->other_name : name;
            sorted[k]->other_name = sorted[k]->other_name ? name : NULL;
        }
    }
    free(sorted);
    return true;
}

/* --- writing --- */

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
static void compare_facts(const struct facts_of_image *first, const struct facts_of_image *other,
                          struct srcfind_image *image) {
    if (!are_equal(first->beam.major, other->beam.major) ||
        !are_equal(first->beam.minor, other->beam.minor) ||
        !are_equal(first->beam.angle, other->beam.angle))
        image->beam = (struct srcfind_beam){NAN, NAN, NAN};
    if (!are_equal(first->frequency, other->frequency))
        image->frequency = NAN;
}

/* Sets the metadata and options of all images, as far as they are the same. */
static void describe(const struct merge *m, struct srcfind_catalogue *c) {
    int64_t first = -1;
    c->image = image_empty_metadata();
    options_default(&c->options);
    for (int64_t i = 0; i < m->n_images; i++) {
        const struct facts_of_image *facts = &m->facts[i];
        if (!m->images[i].name)
            continue;
        const struct kind *kind = &m->kinds[facts->kind];
        if (first < 0) {
            first = i;
            c->options = *kind->options;
            c->image.beam = facts->beam;
            c->image.frequency = facts->frequency;
        }
        take_kind(kind, &c->image);
        compare_facts(&m->facts[first], facts, &c->image);
        c->options_differ = c->options_differ || !kind->knows_options ||
                            kind->options_hash != m->kinds[m->facts[first].kind].options_hash;
    }
}

static enum srcfind_status write_rows(const struct merge *m, struct merged_rows *rows,
                                      struct threads *threads, struct error *error) {
    struct srcfind_catalogue *c = calloc(1, sizeof *c);
    const struct row_store store = merged_rows_store(rows);
    if (!c)
        return error_memory(error, MERGING);
    describe(m, c);
    c->image.path = (char[]){""};
    c->background = (struct srcfind_background){.median = NAN, .rms = NAN};
    c->store = &store;
    c->n_sources = rows->n;
    catalogue_name_columns(c);
    const enum srcfind_status status =
        m->options.path
            ? save_file(c, m->options.writer, threads, m->options.path, error)
            : save_stream(c, m->options.writer, threads, stdout, "standard output", error);
    free(c);
    return status;
}

/* Marks the duplicates. False where memory ran out. */
static bool find_duplicates(struct merge *m, uint64_t *duplicates) {
    double *radius = malloc(((size_t)m->n_images + 1) * sizeof *radius);
    for (int64_t i = 0; radius && i < m->n_images; i++) {
        const double degrees =
            m->options.radius > 0 ? m->options.radius : m->facts[i].beam.major / 2;
        radius[i] = m->images[i].name ? degrees * (M_PI / 180) : (double)NAN;
    }
    const bool ok = radius && duplicates_find(m->candidates, m->n_candidates, radius, duplicates);
    free(radius);
    free(m->candidates);
    m->candidates = NULL;
    return ok;
}

static void count(const struct merge *m, const struct merged_rows *rows, int64_t n_words,
                  struct merge_counts *counts) {
    *counts = (struct merge_counts){.rows = rows->n};
    for (int64_t i = 0; i < m->n_images; i++)
        counts->images += m->images[i].name != NULL;
    for (int64_t i = 0; i < n_words; i++)
        counts->duplicates += __builtin_popcountll(rows->duplicates[i]);
}

enum srcfind_status merge_finish(struct merge *m, struct threads *threads,
                                 struct merge_counts *counts, struct error *error) {
    const int64_t n_words = m->n_rows / 64 + 1;
    enum srcfind_status status = check_kinds(m, error);
    if (status == SRCFIND_OK)
        status = check_beams(m, error);
    if (status != SRCFIND_OK)
        return status;
    uint64_t *duplicates = calloc((size_t)n_words, sizeof *duplicates);
    struct merged_rows rows = {.spool = &m->spool,
                               .images = m->images,
                               .n_images = m->n_images,
                               .duplicates = duplicates,
                               .keep_duplicates = m->options.keep_duplicates};
    if (!duplicates || !find_duplicates(m, duplicates) || !make_names_differ(m) ||
        !merged_rows_make(&rows))
        status = error_memory(error, MERGING);
    if (status == SRCFIND_OK)
        status = write_rows(m, &rows, threads, error);
    if (status == SRCFIND_OK)
        count(m, &rows, n_words, counts);
    free(rows.marks);
    free(duplicates);
    return status;
}
