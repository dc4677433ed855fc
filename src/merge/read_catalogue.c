/* How a catalogue in a file is read for merging:
 *
 * 1. The readers of input/ give blocks of the table, with the metadata that the format has.
 * 2. The first block decides the columns: by the options in the file or, without them (CSV), by the
 *    columns that it has. Tables of Gaussians, planes and bins are refused here.
 * 3. Each block is turned to rows, checked, and written to the spool, 512 rows at a time.
 * 4. Gaussians are compared with their sources as they are read: number, island and flux must
 *    agree.
 *
 * Rows in the spool are those that were written, to the last bit. The file is not trusted: a text
 * with quotes or a cell of another type is an error. Memory does not grow with the number of rows.
 */
#include "merge/read_catalogue.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/ascii.h"
#include "input/frame.h"
#include "input/image.h"
#include "input/read_table.h"
#include "input/tables/text_file.h"
#include "input/usable_beam.h"
#include "merge/numbered_rows.h"
#include "merge/read_injections.h"
#include "output/columns.h"

/* --- the image --- */

static void take_beam(const struct srcfind_beam *beam, struct srcfind_image *image) {
    const struct srcfind_beam size = {beam->major, beam->minor, 0};
    if (!beam_is_usable(&size, NAN))
        return;
    image->beam = *beam;
    image->beam_pixels = NAN; /* merging does not use it */
}

/* Takes the names of the coordinates from the columns. */
static void take_coordinates(const struct table_file *table, struct srcfind_image *image) {
    for (const struct frame *f = frames; f < frames + FRAMES; f++) {
        const char *lon = f->columns[SKY_LON], *lat = f->columns[SKY_LAT];
        if (!table_file_column(table, lon) || !table_file_column(table, lat))
            continue;
        snprintf(image->lon_name, sizeof image->lon_name, "%s", lon);
        snprintf(image->lat_name, sizeof image->lat_name, "%s", lat);
        return;
    }
}

static int64_t pixels_of(double length) {
    return length >= 1 && length <= INT32_MAX ? (int64_t)length : 0;
}

/* Copies a text of a header; characters that no header has become `?`. */
static void take_text(const char *text, char copy[SRCFIND_TEXT]) {
    snprintf(copy, SRCFIND_TEXT, "%s", text);
    for (; *copy; copy++)
        if (!ascii_is_printable(*copy))
            *copy = '?';
}

static void take_image(const struct table_file *table, struct read_catalogue *read) {
    const struct table_file_image *from = &table->image;
    struct srcfind_image *image = &read->result.image;
    take_text(from->unit, image->unit);
    take_text(from->flux_unit, image->flux_unit);
    take_text(from->frame, image->frame);
    take_text(from->date_obs, image->date_obs);
    take_text(from->telescope, image->telescope);
    take_text(from->object, image->object);
    image->width = pixels_of(from->width);
    image->height = pixels_of(from->height);
    image->equinox = from->equinox;
    image->frequency = from->frequency;
    take_beam(&from->beam, image);
    take_coordinates(table, image);
    read->knows_image = image->width > 0 && image->height > 0;
}

/* --- the rows --- */

/* Takes the options of a file or, if it has none, those that its columns tell. */
static enum srcfind_status take_options(const struct table_file *table, struct read_catalogue *read,
                                        struct error *error) {
    struct options *o = &read->result.options;
    read->knows_options = table->options;
    options_default(o);
    if (table->options && !options_copy(o, table->options))
        return error_memory(error, "reading a catalogue");
    if (o->image.trim.x0 > 0) {
        read->result.image.first_x = o->image.trim.x0 - 1;
        read->result.image.first_y = o->image.trim.y0 - 1;
    }
    o->fit = o->fit || (!table->options && table_file_column(table, "E_Maj"));
    o->deblend = o->deblend || (!table->options && table_file_column(table, "S_Code"));
    if (!table->options && table_file_column(table, "Scale")) /* unknown scales */
        o->scales = (struct scales_option){1, {1}};
    if (!table->options && table_file_column(table, "Entry_id"))
        return options_set(o, "at", "a file", error);
    return SRCFIND_OK;
}

static int64_t integer_at(const struct table_file_column *from, int64_t row, bool *ok) {
    if (from->kind == SRCFIND_INTEGER)
        return from->integers[row];
    *ok = *ok && from->kind == SRCFIND_REAL && isnan(from->reals[row]); /* only empty cells */
    return SRCFIND_EMPTY;
}

static double real_at(const struct table_file_column *from, int64_t row, bool *ok) {
    if (from->kind == SRCFIND_REAL)
        return from->reals[row];
    *ok = *ok && from->kind == SRCFIND_INTEGER;
    return !*ok || from->integers[row] == INT64_MIN ? (double)NAN : (double)from->integers[row];
}

/* Whether a text has only characters of names of sources and of identifiers: others, such as
 * quotes, would spoil the merged file. */
static bool is_plain(const char *text) {
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-._:";
    return text[strspn(text, plain)] == '\0';
}

static const char *text_at(const struct table_file_column *from, int64_t row, size_t width,
                           bool *ok) {
    if (from->kind == SRCFIND_STRING) {
        const char *text = table_file_text(from, row);
        *ok = *ok && strlen(text) <= width && is_plain(text);
        return *ok ? text : "";
    }
    *ok = *ok && from->kind == SRCFIND_REAL && isnan(from->reals[row]);
    return "";
}

/* Copies n cells of a column, from row `first` on. False if a cell has another type. */
static bool copy_column(const struct table_file_column *from, const struct column *column,
                        struct srcfind_source *sources, int64_t first, int64_t n) {
    bool ok = true;
    for (int64_t row = first; ok && row < first + n; row++) {
        char *to = (char *)&sources[row - first] + column->offset;
        if (column->shown.kind == SRCFIND_INTEGER) {
            const int64_t integer = integer_at(from, row, &ok);
            memcpy(to, &integer, sizeof integer);
        } else if (column->shown.kind == SRCFIND_REAL) {
            const double real = real_at(from, row, &ok);
            memcpy(to, &real, sizeof real);
        } else {
            const char *text = text_at(from, row, column->width, &ok);
            memcpy(to, text, strlen(text) + 1);
        }
    }
    return ok;
}

static enum srcfind_status copy_columns(const char *path, const struct table_file *table,
                                        const struct columns *columns, int64_t first, int64_t n,
                                        struct srcfind_source *sources, struct error *error) {
    char quote[TEXT_FILE_QUOTE];
    for (int i = 0; i < columns->n; i++) {
        const char *name = columns->column[i].shown.name;
        const struct table_file_column *from = table_file_column(table, name);
        if (!from)
            return error_set(error, SRCFIND_ERROR_INPUT,
                             "%s: there is no column %s: is it a catalogue of srcfind? If an "
                             "earlier version made it, search the image again",
                             path, name);
        if (!copy_column(from, &columns->column[i], sources, first, n))
            return error_set(error, SRCFIND_ERROR_INPUT,
                             "%s: the column %s has other cells than srcfind writes", path,
                             text_file_quote(name, strlen(name), quote));
    }
    return SRCFIND_OK;
}

/* Refuses tables of srcfind that are no catalogue of an image. */
static enum srcfind_status check_kind(const char *path, const struct table_file *table,
                                      struct error *error) {
    enum srcfind_status status = SRCFIND_OK;
    if (strcmp(table->columns[0].name, "Image") == 0)
        status =
            error_set(error, SRCFIND_ERROR_INPUT,
                      "%s: this is a merged catalogue: merge the catalogues of the images", path);
    if (status == SRCFIND_OK && table_file_column(table, "Plane"))
        status =
            error_set(error, SRCFIND_ERROR_INPUT,
                      "%s: a table of planes: name the catalogue of its sources instead", path);
    if (status == SRCFIND_OK &&
        (table_file_column(table, "E_Completeness") || table_file_column(table, "Reliability")))
        status = error_set(
            error, SRCFIND_ERROR_INPUT,
            "%s: a table of completeness or reliability: name the catalogue of the image instead",
            path);
    if (status == SRCFIND_OK && table_file_column(table, "N_sources"))
        status =
            error_set(error, SRCFIND_ERROR_INPUT,
                      "%s: a table of islands: name the catalogue of the sources instead", path);
    if (status == SRCFIND_OK && table_file_column(table, "Source_id_1"))
        status = error_set(error, SRCFIND_ERROR_INPUT,
                           "%s: a table of covariances: name the catalogue of its sources instead",
                           path);
    if (status == SRCFIND_OK && table_file_column(table, "True_flux"))
        status = error_set(
            error, SRCFIND_ERROR_INPUT,
            "%s: a list of injected sources: name the catalogue of the image instead", path);
    if (status == SRCFIND_OK && table_file_column(table, "Gaus_id"))
        status = error_set(error, SRCFIND_ERROR_INPUT,
                           "%s: a table of Gaussians: name the catalogue of their sources instead",
                           path);
    return status;
}

enum { ROWS_AT_ONCE = 512 };

/* Rows that are read to the spool in blocks. */
struct rows_to_spool {
    const char *path;
    struct read_catalogue *read;
    struct columns columns;
    int64_t at, n; /* their offset in the spool, and their number */
    int64_t n_negative;
    bool has_begun, has_lon;
    bool is_sorted;              /* rows are in another order than that of their numbers */
    struct srcfind_source *rows; /* ROWS_AT_ONCE of them */
    struct sources_of *of;       /* for rows of Gaussians; else NULL */
};

static enum srcfind_status spool_error(const char *path, struct error *error) {
    return error_set(error, SRCFIND_ERROR_OUTPUT,
                     "%s: its rows cannot be kept beside the merged catalogue: %s", path,
                     strerror(errno));
}

/* The sources of Gaussians, read along with the Gaussians. */
struct sources_of {
    const struct read_catalogue *read;
    struct srcfind_source *rows; /* of the block that begins with row `first` */
    int64_t first, n;
    int64_t i, k; /* the next source, and the number of its Gaussians that were read */
    double total; /* the sum of their fluxes */
};

/* The next source; NULL: there is none, or it cannot be read. */
static const struct srcfind_source *next_source(struct sources_of *of) {
    const int64_t n = of->read->result.sources.n;
    if (of->i == n)
        return NULL;
    if (of->i < of->first + of->n)
        return &of->rows[of->i - of->first];
    const int64_t left = n - of->i;
    of->first = of->i;
    of->n = left < ROWS_AT_ONCE ? left : ROWS_AT_ONCE;
    return spool_read(of->read->spool, of->rows, (size_t)of->n * sizeof *of->rows,
                      of->read->kept.at + of->i * (int64_t)sizeof *of->rows)
               ? of->rows
               : NULL;
}

/* Whether a Gaussian is the next one of the next source. Else the table is of another search. */
static bool goes_with(struct sources_of *of, const struct srcfind_source *gaussian) {
    const struct srcfind_source *source = next_source(of);
    if (!source || source->id != of->i + 1 || source->n_gaussians < 1 ||
        gaussian->id != of->i + 1 || gaussian->island_id != source->island_id)
        return false;
    of->total += gaussian->total_flux;
    if (++of->k < source->n_gaussians)
        return true;
    const bool is_all = !(fabs(of->total - source->total_flux) > 1e-9 * fabs(source->total_flux));
    of->i++;
    of->k = 0;
    of->total = 0;
    return is_all;
}

static enum srcfind_status other_gaussians(const char *path, struct error *error) {
    return error_set(error, SRCFIND_ERROR_INPUT,
                     "%s: these are not the Gaussians of the sources in the catalogue beside "
                     "it: make both again, or remove this table",
                     path);
}

/* Counts and checks n rows that were copied. */
static enum srcfind_status look_at_rows(struct rows_to_spool *r, int64_t n, struct error *error) {
    for (int64_t i = 0; i < n; i++) {
        r->has_lon = r->has_lon || isfinite(r->rows[i].lon);
        r->is_sorted = r->is_sorted || r->rows[i].id != r->n + i + 1;
        r->n_negative += (r->rows[i].flags & SRCFIND_FLAG_NEGATIVE) != 0;
        if (r->of && !goes_with(r->of, &r->rows[i]))
            return other_gaussians(r->path, error);
    }
    return SRCFIND_OK;
}

/* Takes options and image from the first block, checks its columns, and reserves the spool. */
static enum srcfind_status begin_rows(struct rows_to_spool *r, const struct table_file *table,
                                      struct error *error) {
    r->has_begun = true;
    if (!r->of) {
        enum srcfind_status status = check_kind(r->path, table, error);
        if (status == SRCFIND_OK)
            status = take_options(table, r->read, error);
        if (status != SRCFIND_OK)
            return status;
        take_image(table, r->read);
    }
    const struct column_facts facts =
        column_facts_of(&r->read->result.options, &r->read->result.image);
    columns_add(&r->columns, &facts, r->of ? TABLE_OF_GAUSSIANS : TABLE_OF_SOURCES);
    r->at = spool_reserve(r->read->spool, (size_t)table->n_rows_most * sizeof *r->rows);
    return copy_columns(r->path, table, &r->columns, 0, 0, NULL, error); /* no row may follow */
}

/* Writes n rows that were copied to the spool. */
static enum srcfind_status keep_rows(struct rows_to_spool *r, int64_t n, struct error *error) {
    const int64_t at = r->at + r->n * (int64_t)sizeof *r->rows;
    r->n += n;
    return spool_write(r->read->spool, r->rows, (size_t)n * sizeof *r->rows, at)
               ? SRCFIND_OK
               : spool_error(r->path, error);
}

static enum srcfind_status take_block(void *context, const struct table_file *table,
                                      struct error *error) {
    struct rows_to_spool *r = context;
    enum srcfind_status status = r->has_begun ? SRCFIND_OK : begin_rows(r, table, error);
    for (int64_t first = 0, n; status == SRCFIND_OK && first < table->n_rows; first += n) {
        n = table->n_rows - first < ROWS_AT_ONCE ? table->n_rows - first : ROWS_AT_ONCE;
        memset(r->rows, 0, (size_t)n * sizeof *r->rows);
        status = copy_columns(r->path, table, &r->columns, first, n, r->rows, error);
        if (status == SRCFIND_OK)
            status = look_at_rows(r, n, error);
        if (status == SRCFIND_OK)
            status = keep_rows(r, n, error);
    }
    return status;
}

/* Reads the rows of a file to the spool. */
static enum srcfind_status read_rows(struct rows_to_spool *r, struct table_file *table,
                                     struct error *error) {
    const struct table_sink sink = {take_block, r};
    r->rows = malloc(ROWS_AT_ONCE * sizeof *r->rows);
    *table = (struct table_file){0};
    const enum srcfind_status status = r->rows ? read_table_blocks(r->path, &sink, table, error)
                                               : error_memory(error, "reading a catalogue");
    free(r->rows);
    return status;
}

/* Forgets coordinates without a frame: images without sky coordinates have the columns, with empty
 * cells. */
static void forget_coordinates(struct srcfind_image *image) {
    if (*image->frame)
        return;
    *image->lon_name = '\0';
    *image->lat_name = '\0';
}

enum srcfind_status read_catalogue(struct spool *spool, const char *path,
                                   struct read_catalogue *read, struct error *error) {
    struct table_file table;
    *read = (struct read_catalogue){.result = {.image = image_empty_metadata()}, .spool = spool};
    struct srcfind_image *image = &read->result.image;
    struct rows_to_spool rows = {.path = path, .read = read};
    enum srcfind_status status = read_rows(&rows, &table, error);
    if (status == SRCFIND_OK && !rows.has_begun)
        status = begin_rows(&rows, &table, error);
    read->result.sources.n = rows.n;
    read->result.sources.n_negative = rows.n_negative;
    if (status == SRCFIND_OK && rows.is_sorted && !numbered_rows_order(spool, &rows.at, rows.n))
        status = spool_error(path, error);
    read->kept.at = rows.at;
    if (status == SRCFIND_OK && rows.n > 0 && !rows.has_lon)
        forget_coordinates(image);
    if (status == SRCFIND_OK && !(image->path = strdup(table.image.path ? table.image.path : "")))
        status = error_memory(error, "reading a catalogue");
    read->entry = table.entry;
    table.entry = NULL;
    table_file_clear(&table);
    return status;
}

/* Each source must have as many Gaussians as its row says, at least one, in the order of the
 * sources, and they must add up to its flux. */
enum srcfind_status read_catalogue_gaussians(const char *path, struct read_catalogue *read,
                                             struct error *error) {
    struct table_file table;
    struct sources_of of = {.read = read, .rows = malloc(ROWS_AT_ONCE * sizeof *of.rows)};
    struct rows_to_spool rows = {.path = path, .read = read, .of = &of};
    if (!of.rows)
        return error_memory(error, "reading a table of Gaussians");
    enum srcfind_status status = read_rows(&rows, &table, error);
    table_file_clear(&table);
    read->kept.gaussians_at = rows.at;
    read->kept.n_gaussians = rows.n;
    if (status == SRCFIND_OK && of.i < read->result.sources.n)
        status = other_gaussians(path, error);
    free(of.rows);
    return status;
}

enum srcfind_status read_catalogue_injections(const char *path, struct read_catalogue *read,
                                              struct error *error) {
    return read_injections(path, &read->result.injections, error);
}

void read_catalogue_clear(struct read_catalogue *read) {
    result_clear(&read->result);
    free(read->entry);
    *read = (struct read_catalogue){0};
}
