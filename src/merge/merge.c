/* How catalogues are merged:
 *
 * 1. merge_add keeps each catalogue in the spool, a file without a name: rows, Gaussians, injected
 *    sources and its entry of JSON. Threads add at the same time; the lock protects the lists.
 * 2. merge_finish checks that units, frames and columns agree (metadata.c).
 * 3. For each plane, duplicates by distance get a bit (candidates.c, duplicates.c), then islands
 *    that an edge cuts and another image has whole (cut_rows.c).
 * 4. The tables of Gaussians and of completeness are written, and then the catalogue: writers read
 *    the rows that stay from the spool, in blocks (merged_rows.c).
 *
 * Rows are always in the order of the numbers of the images, whichever image is added first. A
 * table that fails does not keep the catalogue from being written. All rows are written once and
 * read twice, four times if edges cut islands. Memory is at most 64 bytes a row. */
#define _GNU_SOURCE /* asprintf, qsort_r */
#include "merge/merge.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

#include "common/arrays.h"
#include "common/path.h"
#include "common/text_stream.h"
#include "common/texts.h"
#include "input/image.h"
#include "merge/candidates.h"
#include "merge/cut_rows.h"
#include "merge/merged_completeness.h"
#include "merge/merged_gaussians.h"
#include "merge/merged_order.h"
#include "merge/metadata.h"
#include "merge/read_catalogue.h"
#include "output/bin_table.h"
#include "output/json.h"
#include "output/save.h"

/* Which tables beside a merged catalogue were written. */
struct written {
    bool gaussians, completeness;
};

/* The sources that were injected into each image, for the table of completeness. */
struct injection_lists {
    int64_t n, capacity;
    struct merged_injections *of_image;
    struct error why; /* there can be no table of completeness; else "" */
};

struct merge {
    struct merge_options options;
    const struct writer *writer;
    struct spool spool;
    bool has_lock;
    mtx_t lock; /* protects all that follows */
    int64_t n_images, images_capacity;
    struct merged_image *images;
    struct injection_lists injections;
    struct metadata metadata;
    int64_t n_rows;
    struct written written;
    struct error table_error; /* of the first table that could not be written; else "" */
};

static const char MERGING[] = "merging catalogues";

/* --- formats --- */

static const struct writer *const merged_formats[] = {&csv_writer, &json_writer, &votable_writer,
                                                      &fits_writer, &ecsv_writer};
enum { MERGED_FORMATS = sizeof merged_formats / sizeof *merged_formats };

/* Lists the suffixes of these formats for a message: ".csv, .json, ...". */
static void list_suffixes(char *text, size_t size) {
    *text = '\0';
    for (int i = 0; i < MERGED_FORMATS; i++)
        for (const char *const *suffix = merged_formats[i]->format.suffixes; *suffix; suffix++)
            texts_append(text, size, "%s%s", *text ? ", " : "", *suffix);
}

enum srcfind_status merge_choose_writer(const char *path, const struct writer **writer,
                                        struct error *error) {
    char suffixes[256];
    *writer = &csv_writer;
    if (!path || !path_has_suffix(path))
        return SRCFIND_OK;
    for (int i = 0; i < MERGED_FORMATS; i++) {
        *writer = merged_formats[i];
        for (const char *const *suffix = (*writer)->format.suffixes; *suffix; suffix++)
            if (path_ends_with(path, *suffix))
                return SRCFIND_OK;
    }
    list_suffixes(suffixes, sizeof suffixes);
    return error_set(error, SRCFIND_ERROR_OPTIONS,
                     "%s: no format of merged catalogues has this suffix; there are %s", path,
                     suffixes);
}

/* --- files that are not replaced --- */

char *merge_table_path(const char *catalogue, const char *part) {
    const int stem = path_before_suffix(catalogue);
    const char *suffix = catalogue[stem] ? catalogue + stem : ".csv";
    char *path;
    return asprintf(&path, "%.*s.%s%s", stem, catalogue, part, suffix) < 0 ? NULL : path;
}

enum srcfind_status merge_check_output(const struct merge_options *o, struct error *error) {
    const struct {
        const char *path, *what;
    } outputs[] = {{o->path, "merged catalogue"},
                   {o->gaussians, "merged table of Gaussians"},
                   {o->completeness, "merged table of completeness"}};
    enum srcfind_status status = SRCFIND_OK;
    for (size_t i = 0; status == SRCFIND_OK && i < sizeof outputs / sizeof *outputs; i++)
        if (outputs[i].path)
            status = save_check(outputs[i].path, outputs[i].what, error);
    return status;
}

enum srcfind_status merge_check_input(const char *path, const char *catalogue,
                                      struct error *error) {
    if (!path || !path_is_same_file(path, catalogue))
        return SRCFIND_OK;
    return error_set(
        error, SRCFIND_ERROR_OPTIONS,
        "%s: the merged catalogue would replace one of the merged files: name another file", path);
}

/* --- beginning and end --- */

static enum srcfind_status spool_error(const struct merge *m, struct error *error) {
    return error_set(error, SRCFIND_ERROR_OUTPUT,
                     "%s: the merged catalogue, or its rows beside it, cannot be written: %s",
                     m->options.path ? m->options.path : "standard output", strerror(errno));
}

enum srcfind_status merge_create(const struct merge_options *options, struct merge **merge,
                                 struct error *error) {
    struct merge *m = *merge = calloc(1, sizeof *m);
    if (!m)
        return error_memory(error, MERGING);
    *m = (struct merge){
        .options = *options, .spool = {.descriptor = -1}, .metadata = {.path = options->path}};
    enum srcfind_status status = merge_choose_writer(options->path, &m->writer, error);
    if (status == SRCFIND_OK)
        status = merge_check_output(options, error);
    if (status != SRCFIND_OK)
        return status;
    m->has_lock = mtx_init(&m->lock, mtx_plain) == thrd_success;
    if (!m->has_lock)
        return error_memory(error, MERGING);
    return spool_open(&m->spool, options->path) ? SRCFIND_OK : spool_error(m, error);
}

static void clear_texts(struct merged_image *image) {
    free(image->shown.path);
    free(image->shown.date_obs);
    free(image->shown.plane);
    free(image->other_name);
    free(image->plane);
}

void merge_destroy(struct merge *m) {
    if (!m)
        return;
    for (int64_t i = 0; i < m->n_images; i++)
        clear_texts(&m->images[i]);
    if (m->has_lock)
        mtx_destroy(&m->lock);
    for (int64_t i = 0; i < m->injections.n; i++)
        free(m->injections.of_image[i].why);
    spool_close(&m->spool);
    free(m->images);
    free(m->injections.of_image);
    metadata_clear(&m->metadata);
    free(m);
}

/* --- adding --- */

/* Keeps the entry of the image for a JSON catalogue. False with errno. */
static bool keep_entry(struct merge *m, const struct merge_input *input,
                       struct merged_image *image) {
    struct text text = {0};
    if (m->writer != &json_writer)
        return true;
    if (input->entry) {
        image->entry_bytes = strlen(input->entry);
        return spool_add(&m->spool, input->entry, image->entry_bytes, &image->entry);
    }
    FILE *stream = text_stream_open(&text);
    bool ok = stream && (input->knows_options && input->result->background.n_pixels > 0
                             ? json_write_entry(input->result, stream)
                             : json_write_known(&input->result->image, stream));
    ok = stream && fclose(stream) == 0 && ok;
    errno = ENOMEM;
    image->entry_bytes = (size_t)text.size;
    ok = ok && spool_add(&m->spool, text.at, (size_t)text.size, &image->entry);
    free(text.at);
    return ok;
}

struct spool *merge_spool(struct merge *m) {
    return &m->spool;
}

/* Keeps the Gaussians of sources. False with errno. */
static bool keep_gaussians(struct merge *m, const struct sources *sources,
                           struct merged_image *image) {
    struct srcfind_source *rows = sources_list_gaussians(sources, &image->n_gaussians);
    errno = ENOMEM;
    const bool ok = rows && spool_add(&m->spool, rows, (size_t)image->n_gaussians * sizeof *rows,
                                      &image->gaussians_at);
    free(rows);
    return ok;
}

/* Keeps the rows of sources and of Gaussians. False with errno. */
static bool keep_rows(struct merge *m, const struct merge_input *input,
                      struct merged_image *image) {
    const struct sources *sources = &input->result->sources;
    image->n = sources->n;
    if (input->kept) {
        image->at = input->kept->at;
        image->gaussians_at = input->kept->gaussians_at;
        image->n_gaussians = input->kept->n_gaussians;
        return true;
    }
    return spool_add(&m->spool, sources->rows, (size_t)image->n * sizeof *sources->rows,
                     &image->at) &&
           (!m->options.gaussians || keep_gaussians(m, sources, image));
}

/* Keeps the sources that were injected into image i. False with errno. */
static bool keep_injections(struct merge *m, int64_t i, const struct merge_input *input) {
    errno = ENOMEM;
    if (!GROW(m->injections.of_image, m->injections.capacity, i + 1))
        return false;
    for (; m->injections.n <= i; m->injections.n++)
        m->injections.of_image[m->injections.n] = (struct merged_injections){0};
    if (!input->no_injections)
        return merged_injections_keep(&m->spool, &input->result->injections,
                                      &m->injections.of_image[i]);
    return (m->injections.of_image[i].why = strdup(input->no_injections));
}

static enum srcfind_status add_locked(struct merge *m, int64_t i, const struct merge_input *input,
                                      struct merged_image *image, struct error *error) {
    const char *of_catalogue = image->other_name; /* the path that the user gave */
    if (m->n_rows + image->n > UINT32_MAX)
        return error_set(error, SRCFIND_ERROR_OUTPUT,
                         "%s: a merged catalogue has at most 4294967295 rows: merge fewer images",
                         m->options.path ? m->options.path : "standard output");
    if (m->options.completeness && !keep_injections(m, i, input))
        return spool_error(m, error);
    if (!GROW(m->images, m->images_capacity, i + 1) ||
        !metadata_add(&m->metadata, i, of_catalogue ? of_catalogue : image->shown.path, input))
        return error_memory(error, MERGING);
    for (; m->n_images <= i; m->n_images++) /* images before i may not have been added yet */
        m->images[m->n_images] = (struct merged_image){0};
    image->first = m->n_rows;
    m->n_rows += image->n;
    m->images[i] = *image;
    return SRCFIND_OK;
}

/* Sets *shown to a plane as --plane spells it, to be freed; NULL if none is chosen. */
static bool show_plane(const struct plane_option *plane, char **shown) {
    char text[OPTIONS_TEXT];
    *shown = NULL;
    if (plane->n == 0 && plane->mean_first == 0)
        return true;
    options_print_plane(plane, text);
    return (*shown = strdup(text));
}

/* Whether an image is known to be one of several planes. If the first plane was searched, the
 * number of planes is not known. */
static bool is_plane(const struct merge_input *input) {
    for (int i = 0; i < input->searched->n; i++)
        if (input->searched->index[i] > 1)
            return true;
    return input->plane || input->searched->mean_first > 0;
}

enum srcfind_status merge_add(struct merge *m, int64_t i, const struct merge_input *input,
                              struct error *error) {
    const struct srcfind_image *of = &input->result->image;
    struct merged_image image = {.shown = {.path = texts_clean(input->name),
                                           .date_obs = texts_clean(of->date_obs),
                                           .frequency = of->frequency},
                                 .other_name =
                                     input->other_name ? texts_clean(input->other_name) : NULL,
                                 .has_sky = *of->lon_name,
                                 .plane = input->plane ? strdup(input->plane) : NULL,
                                 .is_plane = is_plane(input),
                                 .width = (int32_t)of->width,
                                 .height = (int32_t)of->height,
                                 .first_x = (int32_t)of->first_x,
                                 .first_y = (int32_t)of->first_y};
    enum srcfind_status status = SRCFIND_OK;
    if (!show_plane(input->searched, &image.shown.plane) || !image.shown.path ||
        !image.shown.date_obs || (input->other_name && !image.other_name) ||
        (input->plane && !image.plane)) {
        clear_texts(&image);
        return error_memory(error, MERGING);
    }
    if (!keep_rows(m, input, &image) || !keep_entry(m, input, &image))
        status = spool_error(m, error);
    if (status == SRCFIND_OK) {
        mtx_lock(&m->lock);
        status = add_locked(m, i, input, &image, error);
        mtx_unlock(&m->lock);
    }
    if (status != SRCFIND_OK)
        clear_texts(&image);
    return status;
}

/* Reads the table of Gaussians beside a catalogue, if they are merged. */
static enum srcfind_status read_gaussians(const struct merge *m, const char *path,
                                          struct read_catalogue *read, struct error *error) {
    if (!m->options.gaussians)
        return SRCFIND_OK;
    char *beside = merge_table_path(path, "gaussians");
    if (!beside)
        return error_memory(error, MERGING);
    enum srcfind_status status = merge_check_input(m->options.gaussians, beside, error);
    if (status == SRCFIND_OK)
        status = read_catalogue_gaussians(beside, read, error);
    free(beside);
    return status;
}

/* Reads the list of injected sources beside a catalogue, if they are merged. `why` says why it
 * cannot be read. */
static enum srcfind_status look_for_injections(const struct merge *m, const char *path,
                                               struct read_catalogue *read, struct error *why,
                                               struct error *error) {
    if (!m->options.completeness)
        return SRCFIND_OK;
    char *beside = merge_table_path(path, "injections");
    if (!beside)
        return error_memory(error, MERGING);
    const enum srcfind_status status = read_catalogue_injections(beside, read, why);
    free(beside);
    return status == SRCFIND_ERROR_MEMORY ? error_memory(error, MERGING) : SRCFIND_OK;
}

/* Names the plane that the options of a catalogue choose, "" for the first plane. Axes at the end
 * of which the first plane is taken are left out: not every run names them. */
static void name_plane(struct plane_option plane, char text[OPTIONS_TEXT]) {
    while (plane.n > 0 && plane.index[plane.n - 1] == 1)
        plane.n--;
    options_print_plane(&plane, text);
}

enum srcfind_status merge_add_file(struct merge *m, int64_t i, const char *path, const char *name,
                                   struct error *error) {
    struct read_catalogue read;
    struct error why = {""};
    char plane[OPTIONS_TEXT];
    enum srcfind_status status = merge_check_input(m->options.path, path, error);
    if (status != SRCFIND_OK)
        return status;
    status = read_catalogue(&m->spool, path, &read, error);
    if (status == SRCFIND_OK)
        status = read_gaussians(m, path, &read, error);
    if (status == SRCFIND_OK)
        status = look_for_injections(m, path, &read, &why, error);
    if (status == SRCFIND_OK) {
        const char *image = read.result.image.path;
        name_plane(read.result.options.image.plane, plane);
        const struct merge_input input = {.result = &read.result,
                                          .kept = &read.kept,
                                          .no_injections = *why.text ? why.text : NULL,
                                          .name = name     ? name
                                                  : *image ? image
                                                           : path,
                                          .other_name = name ? NULL : path,
                                          .plane = *plane ? plane : NULL,
                                          .searched = &read.result.options.image.plane,
                                          .entry = read.entry,
                                          .knows_image = read.knows_image,
                                          .knows_options = read.knows_options};
        status = merge_add(m, i, &input, error);
    }
    read_catalogue_clear(&read);
    return status;
}

/* --- names --- */

static int by_name(const void *a, const void *b) {
    return strcmp((*(struct merged_image *const *)a)->shown.path,
                  (*(struct merged_image *const *)b)->shown.path);
}

/* Gives images that share a name their other names. */
static bool make_names_differ(struct merge *m) {
    struct merged_image **sorted = malloc((size_t)m->n_images * sizeof *sorted + 1);
    int64_t n = 0;
    if (!sorted)
        return false;
    for (int64_t i = 0; i < m->n_images; i++)
        if (m->images[i].shown.path)
            sorted[n++] = &m->images[i];
    qsort(sorted, (size_t)n, sizeof *sorted, by_name);
    for (int64_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && by_name(&sorted[i], &sorted[end]) == 0; end++)
            continue;
        for (int64_t k = i; end > i + 1 && k < end; k++) {
            char *path = sorted[k]->shown.path;
            sorted[k]->shown.path = sorted[k]->other_name ? sorted[k]->other_name : path;
            sorted[k]->other_name = sorted[k]->other_name ? path : NULL;
        }
    }
    free(sorted);
    return true;
}

/* --- writing --- */

/* A merge as it is written. */
struct merged {
    struct result result; /* metadata that all images have in common */
    bool options_differ;
    struct merged_rows *rows;
    struct table table;
};

/* Writes the Gaussians of the rows. */
static enum srcfind_status write_gaussians(const struct merge *m, const struct merged *merged,
                                           struct threads *threads, struct error *error) {
    struct merged_rows gaussians;
    enum srcfind_status status = SRCFIND_OK;
    if (!merged_gaussians_make(merged->rows, &gaussians)) {
        status = spool_error(m, error);
    } else {
        const struct table table =
            merged_rows_table(&gaussians, &merged->result, merged->options_differ);
        status = save_file(&table, m->writer, threads, m->options.gaussians, error);
    }
    merged_gaussians_clear(&gaussians);
    return status;
}

/* Keeps the message of a table that could not be written. */
static void keep_table_error(struct merge *m, enum srcfind_status status,
                             const struct error *error) {
    if (status != SRCFIND_OK && !*m->table_error.text)
        m->table_error = *error;
}

/* Lists the injected sources of all images, if each image has its list: a table of only some images
 * would be taken for a table of all. The caller frees list->all. */
static enum srcfind_status list_injections(struct merge *m, struct injections *list,
                                           struct error *error) {
    const struct merged_injections **kept = malloc((size_t)m->n_images * sizeof *kept + 1);
    enum srcfind_status status = SRCFIND_OK;
    struct error *why = &m->injections.why;
    int64_t n = 0;
    if (!kept)
        return error_memory(error, MERGING);
    for (int64_t i = 0; i < m->n_images; i++) {
        if (!m->images[i].shown.path)
            continue;
        kept[n++] = &m->injections.of_image[i];
        if (m->injections.of_image[i].why && !*why->text)
            error_set(why, SRCFIND_OK, "%s", m->injections.of_image[i].why);
    }
    if (!*why->text && !merged_injections_widths(kept, n, list))
        error_set(why, SRCFIND_OK, "the images have injected sources of more than %d widths",
                  INJECTION_WIDTHS);
    if (!*why->text && !merged_injections_list(&m->spool, kept, n, list))
        status = spool_error(m, error);
    free(kept);
    return status;
}

/* Writes the table of completeness of all images together; *is_written says whether it was. */
static enum srcfind_status write_completeness(struct merge *m, struct merged *merged,
                                              struct threads *threads, bool *is_written,
                                              struct error *error) {
    struct table bins;
    enum srcfind_status status = list_injections(m, &merged->result.injections, error);
    if (status != SRCFIND_OK || *m->injections.why.text)
        return status;
    status = bin_table_merged(&merged->result, &merged->table.images, &bins)
                 ? save_file(&bins, m->writer, threads, m->options.completeness, error)
                 : error_memory(error, MERGING);
    table_clear(&bins);
    *is_written = status == SRCFIND_OK;
    return status;
}

/* Writes the tables; if one fails, the others are written. */
static void write_tables(struct merge *m, struct merged *merged, struct threads *threads) {
    struct written *written = &m->written;
    struct error error;
    enum srcfind_status status = SRCFIND_OK;
    if (m->options.gaussians) {
        status = write_gaussians(m, merged, threads, &error);
        written->gaussians = status == SRCFIND_OK;
        keep_table_error(m, status, &error);
    }
    if (m->options.completeness) {
        status = write_completeness(m, merged, threads, &written->completeness, &error);
        keep_table_error(m, status, &error);
    }
}

/* Writes the tables and the catalogue. If the catalogue cannot be written, the tables are removed.
 */
static enum srcfind_status write_rows(struct merge *m, struct merged_rows *rows,
                                      struct threads *threads, struct error *error) {
    struct merged *merged = calloc(1, sizeof *merged);
    if (!merged)
        return error_memory(error, MERGING);
    merged->rows = rows;
    if (!metadata_describe(&m->metadata, &merged->result, &merged->options_differ)) {
        result_clear(&merged->result);
        free(merged);
        return error_memory(error, MERGING);
    }
    merged->result.background = (struct srcfind_background){.median = NAN, .rms = NAN};
    merged->table = merged_rows_table(rows, &merged->result, merged->options_differ);
    write_tables(m, merged, threads);
    const struct table *table = &merged->table;
    const enum srcfind_status status =
        m->options.path ? save_file(table, m->writer, threads, m->options.path, error)
                        : save_stream(table, m->writer, threads, stdout, "standard output", error);
    if (status != SRCFIND_OK && m->written.gaussians)
        unlink(m->options.gaussians);
    if (status != SRCFIND_OK && m->written.completeness)
        unlink(m->options.completeness);
    result_clear(&merged->result);
    free(merged);
    return status;
}

struct merge_options merge_written(const struct merge *m) {
    struct merge_options options = m->options;
    if (!m->written.gaussians)
        options.gaussians = NULL;
    if (!m->written.completeness)
        options.completeness = NULL;
    return options;
}

const char *merge_table_error(const struct merge *m) {
    return *m->table_error.text ? m->table_error.text : NULL;
}

const char *merge_no_completeness(const struct merge *m) {
    return *m->injections.why.text ? m->injections.why.text : NULL;
}

static struct reach *make_reach(const struct merge *m) {
    struct reach *reach = malloc(((size_t)m->n_images + 1) * sizeof *reach);
    for (int64_t i = 0; reach && i < m->n_images; i++) {
        const struct srcfind_beam *beam = &m->metadata.images[i].beam;
        const bool is_given = m->options.radius > 0;
        const double degrees = is_given ? m->options.radius : beam->major / 2;
        reach[i] = (struct reach){m->images[i].shown.path ? degrees * (M_PI / 180) : (double)NAN,
                                  is_given ? 0 : beam->minor / beam->major};
    }
    return reach;
}

/* Bits of the rows of all images. */
struct row_bits {
    uint64_t *duplicates, *artefacts;
    int64_t n_words;
};

/* Sets the bits of the rows of n images of one plane. */
static enum srcfind_status find_in_plane(struct merge *m, const int32_t *order, int64_t n,
                                         const struct reach *reach, const struct row_bits *bits,
                                         struct error *error) {
    uint64_t *duplicates = bits->duplicates;
    struct candidates c;
    enum srcfind_status status = SRCFIND_OK;
    if (!candidates_read(&m->spool, m->images, order, n, &c, bits->artefacts))
        status = spool_error(m, error);
    for (int64_t i = 0; i < c.n; i++)
        m->metadata.images[c.candidate[i].image].has_candidates = true;
    if (status == SRCFIND_OK && !duplicates_find(c.candidate, c.n, reach, duplicates))
        status = error_memory(error, MERGING);
    const bool has_cut = status == SRCFIND_OK && candidates_have_cut(&c, duplicates);
    free(c.candidate); /* so that this memory serves for cut rows */
    if (has_cut && !cut_rows_find(&m->spool, m->images, order, n, reach, duplicates))
        status = spool_error(m, error);
    return status;
}

static const char *plane_of(const struct merged_image *image) {
    return image->plane ? image->plane : "";
}

static int by_plane(const void *a, const void *b, void *context) {
    const struct merged_image *images = context;
    return strcmp(plane_of(&images[*(const int32_t *)a]), plane_of(&images[*(const int32_t *)b]));
}

/* Sets the bits of all rows; rows of different planes are never duplicates. */
static enum srcfind_status set_row_bits(struct merge *m, const struct row_bits *bits,
                                        struct error *error) {
    struct reach *reach = make_reach(m);
    int32_t *order = malloc((size_t)m->n_images * sizeof *order + 1);
    enum srcfind_status status = reach && order ? SRCFIND_OK : error_memory(error, MERGING);
    for (int32_t i = 0; order && i < m->n_images; i++)
        order[i] = i;
    if (order)
        qsort_r(order, (size_t)m->n_images, sizeof *order, by_plane, m->images);
    for (int64_t i = 0, end; status == SRCFIND_OK && i < m->n_images; i = end) {
        for (end = i + 1; end < m->n_images && by_plane(&order[i], &order[end], m->images) == 0;)
            end++;
        status = find_in_plane(m, order + i, end - i, reach, bits, error);
    }
    if (status == SRCFIND_OK && m->options.radius == 0)
        status = metadata_check_beams(&m->metadata, error);
    free(reach);
    free(order);
    return status;
}

static void count(const struct merge *m, const struct merged_rows *rows,
                  const struct row_bits *bits, struct srcfind_merge_counts *counts) {
    *counts = (struct srcfind_merge_counts){.rows = rows->n};
    for (int64_t i = 0; i < m->n_images; i++)
        counts->images += m->images[i].shown.path != NULL;
    for (int64_t i = 0; i < bits->n_words; i++) {
        const uint64_t left_out = m->options.keep_duplicates ? 0 : bits->duplicates[i];
        counts->duplicates += __builtin_popcountll(bits->duplicates[i]);
        counts->artefacts += __builtin_popcountll(bits->artefacts[i] & ~left_out);
    }
    counts->without_sky = metadata_without_sky(&m->metadata, &counts->first_without_sky);
    if (m->options.radius == 0)
        counts->without_beam = metadata_without_beam(&m->metadata, &counts->first_without_beam);
}

/* Checks that an image was added: if all failed, an earlier merged catalogue stays. */
static enum srcfind_status check_any(const struct merge *m, struct error *error) {
    for (int64_t i = 0; i < m->n_images; i++)
        if (m->images[i].shown.path)
            return SRCFIND_OK;
    return error_set(error, SRCFIND_ERROR_INPUT, "%s: not written, since no image has a catalogue",
                     m->options.path ? m->options.path : "the merged catalogue");
}

enum srcfind_status merge_finish(struct merge *m, struct threads *threads,
                                 struct srcfind_merge_counts *counts, struct error *error) {
    struct row_bits bits = {.n_words = m->n_rows / 64 + 1};
    enum srcfind_status status = check_any(m, error);
    if (status == SRCFIND_OK)
        status = metadata_check(&m->metadata, error);
    if (status != SRCFIND_OK)
        return status;
    bits.duplicates = calloc((size_t)bits.n_words, sizeof *bits.duplicates);
    bits.artefacts = calloc((size_t)bits.n_words, sizeof *bits.artefacts);
    struct merged_rows rows = {.spool = &m->spool,
                               .images = m->images,
                               .n_images = m->n_images,
                               .duplicates = bits.duplicates,
                               .keep_duplicates = m->options.keep_duplicates};
    status = bits.duplicates && bits.artefacts ? set_row_bits(m, &bits, error)
                                               : error_memory(error, MERGING);
    if (status == SRCFIND_OK && (!make_names_differ(m) || !merged_rows_make(&rows)))
        status = error_memory(error, MERGING);
    if (status == SRCFIND_OK && m->options.sort != SORT_NOT_GIVEN &&
        !merged_order_make(&rows, m->options.sort))
        status = spool_error(m, error);
    if (status == SRCFIND_OK)
        status = write_rows(m, &rows, threads, error);
    if (status == SRCFIND_OK)
        count(m, &rows, &bits, counts);
    free(rows.marks);
    free(rows.order);
    free(bits.duplicates);
    free(bits.artefacts);
    return status;
}
