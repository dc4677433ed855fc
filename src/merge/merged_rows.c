/* How writers read the rows of a merged catalogue:
 *
 * 1. merged_rows_make counts the rows that stay, and marks the image and row of each 512th.
 * 2. A block of rows begins at the mark before it; rows that go are skipped, and rows that are
 *    consecutive in the spool are read at once.
 * 3. Each row gets its number, the flag of a duplicate if these are kept, and its image.
 *
 * Rows that are sorted (merged_order.c) are read one by one; they keep the numbers of 3.
 *
 * Threads read blocks at the same time. Memory: 16 bytes for 512 rows, and a bit a row for
 * duplicates. */
#include "merge/merged_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/arrays.h"
#include "common/texts.h"
#include "merge/duplicates.h"

enum { ROWS_A_MARK = 512 };

/* A row of an image. */
struct row_mark {
    int64_t image, row;
};

bool merged_rows_is_duplicate(const struct merged_rows *m, const struct merged_image *image,
                              int64_t row) {
    const int64_t number = image->first + row;
    return m->duplicates && row_bit_is_set(m->duplicates, number);
}

bool merged_rows_stays(const struct merged_rows *m, const struct merged_image *image, int64_t row) {
    return m->keep_duplicates || !merged_rows_is_duplicate(m, image, row);
}

bool merged_rows_make(struct merged_rows *m) {
    int64_t capacity = 0, n_marks = 0;
    m->n = 0;
    m->marks = NULL;
    for (int64_t i = 0; i < m->n_images; i++) {
        m->has_sky = m->has_sky || m->images[i].has_sky;
        for (int64_t row = 0; row < m->images[i].n; row++) {
            if (!merged_rows_stays(m, &m->images[i], row) || m->n++ % ROWS_A_MARK != 0)
                continue;
            if (!GROW(m->marks, capacity, n_marks + 1))
                return false;
            m->marks[n_marks++] = (struct row_mark){i, row};
        }
    }
    return true;
}

/* Moves `at` to the first row that stays, from its own row on. */
static void find_next(const struct merged_rows *m, struct row_mark *at) {
    while (at->row >= m->images[at->image].n ||
           !merged_rows_stays(m, &m->images[at->image], at->row)) {
        if (++at->row < m->images[at->image].n)
            continue;
        at->image++;
        at->row = 0;
    }
}

/* The number of rows that stay and are consecutive in the spool, from `at` on, up to n. */
static int64_t count_together(const struct merged_rows *m, const struct row_mark *at, int64_t n) {
    const struct merged_image *image = &m->images[at->image];
    int64_t count = 1;
    while (count < n && at->row + count < image->n && merged_rows_stays(m, image, at->row + count))
        count++;
    return count;
}

/* Forgets sizes in pixels, in a table whose other images have sizes in degrees. */
static void forget_sizes(struct srcfind_source *source) {
    source->major = source->minor = source->angle = NAN;
    source->e_major = source->e_minor = source->e_angle = NAN;
}

static void number_source(const struct merged_rows *m, const struct merged_image *image,
                          int64_t row, int64_t number, struct srcfind_source *source) {
    source->id = number;
    source->flags |= merged_rows_is_duplicate(m, image, row) ? SRCFIND_FLAG_DUPLICATE : 0;
}

/* Completes a row of an image that was read. */
static void complete_row(const struct merged_rows *m, const struct merged_image *image, int64_t row,
                         int64_t number, struct srcfind_source *source) {
    if (m->has_sky && !image->has_sky)
        forget_sizes(source);
    if (m->are_gaussians)
        source->gaussian_id = number;
    else
        number_source(m, image, row, number, source);
}

/* Reads rows one by one, which are anywhere in the spool. */
static bool read_in_order(void *context, int64_t first, int64_t n, void *rows,
                          const struct row_image **images) {
    const struct merged_rows *m = context;
    struct srcfind_source *sources = rows;
    for (int64_t i = 0; i < n; i++) {
        const struct merged_place *place = &m->order[first + i];
        const struct merged_image *image = &m->images[place->image];
        if (!spool_read(m->spool, &sources[i], sizeof *sources,
                        image->at + place->row * (int64_t)sizeof *sources))
            return false;
        images[i] = &image->shown;
        complete_row(m, image, place->row, place->number, &sources[i]);
    }
    return true;
}

static bool read_rows(void *context, int64_t first, int64_t n, void *rows,
                      const struct row_image **images) {
    const struct merged_rows *m = context;
    struct srcfind_source *sources = rows;
    struct row_mark at = m->marks[first / ROWS_A_MARK];
    for (int64_t i = first / ROWS_A_MARK * ROWS_A_MARK; i < first; i++) {
        at.row++;
        find_next(m, &at);
    }
    for (int64_t done = 0; done < n;) {
        find_next(m, &at);
        const struct merged_image *image = &m->images[at.image];
        const int64_t count = count_together(m, &at, n - done);
        if (!spool_read(m->spool, sources + done, (size_t)count * sizeof *sources,
                        image->at + at.row * (int64_t)sizeof *sources))
            return false;
        for (int64_t i = 0; i < count; i++, done++, at.row++) {
            images[done] = &image->shown;
            complete_row(m, image, at.row, first + done + 1, &sources[done]);
        }
    }
    return true;
}

static bool write_images(void *context, FILE *stream) {
    const struct merged_rows *m = context;
    const char *before = "[\n";
    bool ok = true;
    for (int64_t i = 0; ok && i < m->n_images; i++) {
        const struct merged_image *image = &m->images[i];
        if (!image->shown.path)
            continue;
        char *entry = malloc(image->entry_bytes + 1);
        ok = entry && spool_read(m->spool, entry, image->entry_bytes, image->entry);
        fputs(before, stream);
        if (ok)
            fwrite(entry, 1, image->entry_bytes, stream);
        free(entry);
        before = ",\n";
    }
    fputs(*before == '[' ? "[]" : "\n]", stream);
    return ok;
}

/* Whether an image is one of several planes. */
static bool have_planes(const struct merged_rows *m) {
    for (int64_t i = 0; i < m->n_images; i++)
        if (m->images[i].shown.path && m->images[i].is_plane)
            return true;
    return false;
}

/* Adds the columns that only merged tables have. */
static void add_image_columns(const struct merged_rows *m, struct columns *columns) {
    size_t path_bytes = 1, date_bytes = 1, plane_bytes = 1;
    for (int64_t i = 0; i < m->n_images; i++) {
        const struct row_image *shown = &m->images[i].shown;
        if (!shown->path)
            continue;
        texts_count(shown->path, &path_bytes);
        texts_count(shown->date_obs, &date_bytes);
        if (shown->plane)
            texts_count(shown->plane, &plane_bytes);
    }
    const struct column image_columns[] = {
        {.shown = {"Image", NULL, "meta.id;meta.file", "path of the image", SRCFIND_STRING, NULL},
         .offset = offsetof(struct row_image, path),
         .width = path_bytes,
         .of_image = true},
        {.shown = {"Date_obs", NULL, "time.start;obs", "date of the observation of the image",
                   SRCFIND_STRING, NULL},
         .offset = offsetof(struct row_image, date_obs),
         .width = date_bytes,
         .of_image = true},
        {.shown = {"Plane", NULL, "meta.number", "plane of the image, as --plane has it",
                   SRCFIND_STRING, NULL},
         .offset = offsetof(struct row_image, plane),
         .width = plane_bytes,
         .of_image = true},
        {.shown = {"Frequency", "Hz", "em.freq", "frequency of the image", SRCFIND_REAL, "Hz"},
         .offset = offsetof(struct row_image, frequency),
         .width = sizeof(double),
         .of_image = true}};
    columns->n = have_planes(m) ? 4 : 2;
    memcpy(columns->column, image_columns, (size_t)columns->n * sizeof *image_columns);
}

struct table merged_rows_table(struct merged_rows *m, const struct result *result,
                               bool options_differ) {
    struct table table = table_of(result, m->are_gaussians ? TABLE_OF_GAUSSIANS : TABLE_OF_SOURCES);
    const struct column_facts facts = column_facts_of(&result->options, &result->image);
    add_image_columns(m, &table.columns);
    columns_add(&table.columns, &facts, table.kind);
    table.n_rows = m->n;
    table.row_bytes = sizeof(struct srcfind_source);
    table.store = (struct row_store){m, m->order ? read_in_order : read_rows};
    table.images = (struct merged_images){m->n_images, options_differ, m, write_images};
    return table;
}
