#include "merge/read_catalogue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/ascii.h"
#include "input/frame.h"
#include "input/image.h"
#include "input/tables/text_file.h"
#include "input/usable_beam.h"
#include "merge/read_injections.h"

/* --- the image --- */

static void take_beam(const struct table_file *table, struct srcfind_image *image) {
    const struct srcfind_beam size = {table->beam.major, table->beam.minor, 0};
    if (!beam_is_usable(&size, NAN))
        return;
    image->beam = table->beam;
    image->beam_pixels = NAN; /* nobody asks for it here */
}

/* The names of the coordinates are those of the columns. */
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

/* Copies a text of a header, with `?` for what no header has. */
static void take_text(const char *text, char copy[SRCFIND_TEXT]) {
    snprintf(copy, SRCFIND_TEXT, "%s", text);
    for (; *copy; copy++)
        if (!ascii_is_printable(*copy))
            *copy = '?';
}

static void take_image(const struct table_file *table, struct read_catalogue *read) {
    struct srcfind_image *image = &read->catalogue.image;
    take_text(table->unit, image->unit);
    take_text(table->flux_unit, image->flux_unit);
    take_text(table->frame, image->frame);
    take_text(table->date_obs, image->date_obs);
    take_text(table->telescope, image->telescope);
    take_text(table->object, image->object);
    image->width = pixels_of(table->width);
    image->height = pixels_of(table->height);
    image->equinox = table->equinox;
    image->frequency = table->frequency;
    take_beam(table, image);
    take_coordinates(table, image);
    read->knows_image = image->width > 0 && image->height > 0;
}

/* --- the rows --- */

/* What the columns tell of the options, where nothing else does. */
static void take_options(const struct table_file *table, struct read_catalogue *read) {
    struct options *o = &read->catalogue.options;
    read->knows_options = table->options;
    if (table->options)
        *o = *table->options;
    else
        options_default(o);
    o->fit = o->fit || (!table->options && table_file_column(table, "E_Maj"));
    o->deblend = o->deblend || (!table->options && table_file_column(table, "S_Code"));
    if (!table->options && table_file_column(table, "Scale")) /* whichever they were */
        o->scales = (struct scales_option){1, {1}};
    if (!table->options && table_file_column(table, "Entry_id"))
        snprintf(o->at, sizeof o->at, "a file");
}

static int64_t integer_at(const struct table_file_column *from, int64_t row, bool *ok) {
    if (from->kind == SRCFIND_INTEGER)
        return from->integers[row];
    *ok = *ok && from->kind == SRCFIND_REAL && isnan(from->reals[row]); /* a column without any */
    return SRCFIND_EMPTY;
}

static double real_at(const struct table_file_column *from, int64_t row, bool *ok) {
    if (from->kind == SRCFIND_REAL)
        return from->reals[row];
    *ok = *ok && from->kind == SRCFIND_INTEGER;
    return !*ok || from->integers[row] == INT64_MIN ? (double)NAN : (double)from->integers[row];
}

/* Whether a text has only what is in names of sources and in identifiers of entries: quotes and so
 * on would spoil the file that they are merged into. */
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

/* Copies the cells of a column; false if one is of another kind. */
static bool copy_column(const struct table_file_column *from, const struct column *column,
                        struct srcfind_source *sources, int64_t n) {
    bool ok = true;
    for (int64_t row = 0; ok && row < n; row++) {
        char *to = (char *)&sources[row] + column->offset;
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
                                        struct srcfind_catalogue *c, struct error *error) {
    char quote[TEXT_FILE_QUOTE];
    for (int i = 0; i < c->n_columns; i++) {
        const char *name = c->columns[i].shown.name;
        const struct table_file_column *from = table_file_column(table, name);
        if (!from)
            return error_set(error, SRCFIND_ERROR_INPUT,
                             "%s: there is no column %s: is it a catalogue of srcfind? One of an "
                             "earlier version is to be made again",
                             path, name);
        if (!copy_column(from, &c->columns[i], c->sources, table->n_rows))
            return error_set(error, SRCFIND_ERROR_INPUT,
                             "%s: the column %s has other cells than srcfind writes", path,
                             text_file_quote(name, strlen(name), quote));
    }
    return SRCFIND_OK;
}

static enum srcfind_status take_rows(const char *path, const struct table_file *table,
                                     struct srcfind_catalogue *c, struct error *error) {
    c->n_sources = table->n_rows;
    c->sources = calloc((size_t)table->n_rows + 1, sizeof *c->sources);
    if (!c->sources)
        return error_memory(error, "reading a catalogue");
    catalogue_name_columns(c);
    const enum srcfind_status status = copy_columns(path, table, c, error);
    for (int64_t i = 0; status == SRCFIND_OK && i < c->n_sources; i++)
        c->n_negative += (c->sources[i].flags & SRCFIND_FLAG_NEGATIVE) != 0;
    return status;
}

/* Images without sky coordinates have the columns, too, but no frame, and empty cells. */
static void forget_coordinates(struct srcfind_catalogue *c) {
    for (int64_t i = 0; i < c->n_sources; i++)
        if (isfinite(c->sources[i].lon))
            return;
    if (*c->image.frame)
        return;
    *c->image.lon_name = '\0';
    *c->image.lat_name = '\0';
}

enum srcfind_status read_catalogue(const char *path, struct read_catalogue *read,
                                   struct error *error) {
    struct table_file table;
    *read = (struct read_catalogue){.catalogue = {.image = image_empty_metadata()}};
    struct srcfind_catalogue *c = &read->catalogue;
    enum srcfind_status status = table_file_read(path, NULL, &table, error);
    if (status == SRCFIND_OK && strcmp(table.columns[0].name, "Image") == 0)
        status = error_set(error, SRCFIND_ERROR_INPUT,
                           "%s: this is a merged catalogue: merge those of the images", path);
    if (status == SRCFIND_OK && table_file_column(&table, "Plane"))
        status = error_set(error, SRCFIND_ERROR_INPUT,
                           "%s: a table of planes, which goes with the catalogue of its sources: "
                           "name that one",
                           path);
    if (status == SRCFIND_OK &&
        (table_file_column(&table, "E_Completeness") || table_file_column(&table, "Reliability")))
        status = error_set(error, SRCFIND_ERROR_INPUT,
                           "%s: a table of completeness or reliability, which goes with the "
                           "catalogue of its sources: name that one",
                           path);
    if (status == SRCFIND_OK && table_file_column(&table, "True_flux"))
        status = error_set(error, SRCFIND_ERROR_INPUT,
                           "%s: a list of added sources, which goes with the catalogue of the "
                           "image: name that one",
                           path);
    if (status == SRCFIND_OK && table_file_column(&table, "Gaus_id"))
        status = error_set(error, SRCFIND_ERROR_INPUT,
                           "%s: a table of Gaussians, which goes with the catalogue of their "
                           "sources: name that one",
                           path);
    if (status == SRCFIND_OK) {
        take_image(&table, read);
        take_options(&table, read);
        status = take_rows(path, &table, c, error);
    }
    if (status == SRCFIND_OK)
        forget_coordinates(c);
    if (status == SRCFIND_OK && !(c->image.path = strdup(table.image ? table.image : "")))
        status = error_memory(error, "reading a catalogue");
    read->entry = table.entry;
    table.entry = NULL;
    table_file_clear(&table);
    return status;
}

/* Whether each source has as many Gaussians as it says, one at least, in its place, with its flux:
 * else the table is of another search. */
static bool go_together(const struct srcfind_catalogue *sources,
                        const struct srcfind_catalogue *gaussians) {
    int64_t n = 0;
    for (int64_t i = 0; i < sources->n_sources; i++) {
        const struct srcfind_source *source = &sources->sources[i];
        double total = 0;
        if (source->id != i + 1 || source->n_gaussians < 1)
            return false;
        for (int64_t k = 0; k < source->n_gaussians; k++, n++) {
            if (n == gaussians->n_sources || gaussians->sources[n].id != i + 1 ||
                gaussians->sources[n].island_id != source->island_id)
                return false;
            total += gaussians->sources[n].total_flux;
        }
        if (fabs(total - source->total_flux) > 1e-9 * fabs(source->total_flux))
            return false;
    }
    return n == gaussians->n_sources;
}

/* Makes a catalogue of Gaussians without rows. NULL where memory ran out. */
static struct srcfind_catalogue *begin_gaussians(const struct srcfind_catalogue *of) {
    struct srcfind_catalogue *c = malloc(sizeof *c);
    if (!c)
        return NULL;
    *c = *of;
    c->of_sources = of;
    c->sources = NULL;
    c->n_sources = c->n_negative = 0;
    return c;
}

enum srcfind_status read_catalogue_gaussians(const char *path, struct read_catalogue *read,
                                             struct error *error) {
    struct table_file table;
    struct srcfind_catalogue *of = &read->catalogue, *c = of->gaussian_rows = begin_gaussians(of);
    if (!c)
        return error_memory(error, "reading a table of Gaussians");
    enum srcfind_status status = table_file_read(path, NULL, &table, error);
    if (status == SRCFIND_OK)
        status = take_rows(path, &table, c, error);
    if (status == SRCFIND_OK && !go_together(of, c))
        status = error_set(error, SRCFIND_ERROR_INPUT,
                           "%s: these are not the Gaussians of the sources in the catalogue beside "
                           "it: make both again, or remove this table",
                           path);
    table_file_clear(&table);
    return status;
}

enum srcfind_status read_catalogue_injections(const char *path, struct read_catalogue *read,
                                              struct error *error) {
    return read_injections(path, &read->catalogue.injections, &read->catalogue.injected_area,
                           error);
}

void read_catalogue_clear(struct read_catalogue *read) {
    free(read->catalogue.injections.all);
    if (read->catalogue.gaussian_rows)
        free(read->catalogue.gaussian_rows->sources);
    free(read->catalogue.gaussian_rows);
    image_clear_metadata(&read->catalogue.image);
    free(read->catalogue.sources);
    free(read->entry);
    *read = (struct read_catalogue){0};
}
