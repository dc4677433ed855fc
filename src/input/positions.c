/* How the positions of --at are read:
 *
 * 1. The file is read once for all images of a command (shared_table.c). Of a FITS file with
 *    several tables, the one whose columns suit the image best is read (positions_rank).
 * 2. Columns are chosen: those of the frame of the image, else those of J2000 in the names of other
 *    programs, if this is the frame of the image, else pixels.
 * 3. Units must be those of angles or pixels, texts must be numbers or angles in sexagesimal
 *    notation, and latitudes at most 90 degrees.
 * 4. Ids and, with a fit, shapes are taken, of models fluxes, too (position_ids.c,
 *    position_shapes.c, position_fluxes.c).
 *
 * Positions are never converted between frames: another frame is an error, which names both. A row
 * without a position stays, with NaN. The arrays have one element a row; the file is not trusted.
 */
#include "input/positions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/ascii.h"
#include "common/parse_angle.h"
#include "common/parse_number.h"
#include "input/frame.h"
#include "input/position_list.h"
#include "input/table_file.h"
#include "input/tables/text_file.h"
#include "input/wcs.h"

struct pair {
    const struct table_file_column *x, *y; /* both or none are NULL */
};

static struct pair find_pair(const struct table_file *table, const char *x, const char *y) {
    const struct pair pair = {table_file_column(table, x), table_file_column(table, y)};
    return pair.x && pair.y ? pair : (struct pair){0};
}

/* The columns of positions in a frame, as output/columns.c names them. */
static struct pair find_frame(const struct table_file *table, const struct frame *frame) {
    return find_pair(table, frame->columns[SKY_LON], frame->columns[SKY_LAT]);
}

/* --- columns of other programs --- */

/* Columns of ICRS or FK5 of J2000, in degrees or in sexagesimal notation: those of VizieR, which
 * writes the underscore for positions that it computed, then of NED, Selavy and T-RECS. */
static const char *const j2000[][2] = {{"RAJ2000", "DEJ2000"},          {"_RAJ2000", "_DEJ2000"},
                                       {"RA_ICRS", "DE_ICRS"},          {"RAdeg", "DEdeg"},
                                       {"RA_deg", "DEC_deg"},           {"RA(deg)", "DEC(deg)"},
                                       {"ra_deg_cont", "dec_deg_cont"}, {"longitude", "latitude"}};
enum { PAIRS = sizeof j2000 / sizeof *j2000 };

static bool is_j2000_name(const char *name) {
    bool is = false;
    for (int i = 0; i < PAIRS; i++)
        is = is || ascii_same(name, j2000[i][0]) || ascii_same(name, j2000[i][1]);
    return is;
}

static bool is_of(const struct table_file_column *column, const char *const *units) {
    for (; *units; units++)
        if (ascii_same(column->unit, *units))
            return true;
    return false;
}

static const char *const degrees[] = {"", "deg", "degree", "degrees", NULL};

/* Units of texts in sexagesimal notation; VizieR's have quotes in VOTables. */
static const char *const sexagesimal[] = {"h:m:s", "hms",       "\"h:m:s\"", "d:m:s",
                                          "dms",   "\"d:m:s\"", NULL};

/* Whether the unit of a column can be that of longitudes or latitudes. */
static bool is_angle(const struct table_file_column *column) {
    return is_of(column, degrees) || is_of(column, sexagesimal);
}

/* The columns of J2000; columns of texts only if there are no columns of numbers. */
static struct pair find_j2000(const struct table_file *table) {
    struct pair texts = {0};
    for (int i = 0; i < PAIRS; i++) {
        const struct pair pair = find_pair(table, j2000[i][0], j2000[i][1]);
        if (!pair.x || !is_angle(pair.x) || !is_angle(pair.y))
            continue;
        if (pair.x->kind != SRCFIND_STRING && pair.y->kind != SRCFIND_STRING)
            return pair;
        texts = texts.x ? texts : pair;
    }
    return texts;
}

/* The same columns in any unit, for a message. */
static struct pair find_named_j2000(const struct table_file *table) {
    for (int i = 0; i < PAIRS; i++) {
        const struct pair pair = find_pair(table, j2000[i][0], j2000[i][1]);
        if (pair.x)
            return pair;
    }
    return (struct pair){0};
}

/* --- which columns --- */

/* The coordinates of an image; lon is "" without any. */
struct image_sky {
    const char *frame, *lon, *lat;
    bool is_j2000; /* equatorial, in ICRS or FK5 of J2000 */
};

/* Names of coordinates on the sky have at most four letters (Calabretta and Greisen 2002, A&A 395,
 * 1077, section 2). */
enum { MOST_LETTERS = 4 };

bool positions_use(const char *name) {
    return strlen(name) <= MOST_LETTERS || ascii_same(name, "Xposn") || ascii_same(name, "Yposn") ||
           is_j2000_name(name) || position_ids_use(name) || position_shapes_use(name) ||
           position_fluxes_use(name);
}

/* Lists the names of columns, as many as fit. */
static const char *list_names(const struct table_file *table, char *text, size_t size) {
    size_t length = 0;
    text[0] = '\0';
    for (int i = 0; i < table->n_columns; i++) {
        char quote[TEXT_FILE_QUOTE];
        const char *name = table->columns[i].name;
        text_file_quote(name, strlen(name), quote);
        if (length + strlen(quote) + 8 > size) {
            snprintf(text + length, size - length, ", ...");
            break;
        }
        length += (size_t)snprintf(text + length, size - length, "%s%s", i ? ", " : "", quote);
    }
    return text;
}

/* Whether the first line of a text has positions, where names of columns belong. */
static bool names_are_numbers(const struct table_file *table) {
    for (int i = 0; i < table->n_columns; i++) {
        const char *name = table->columns[i].name;
        if (parse_number(name, strlen(name)).kind == NUMBER_NONE)
            return false;
    }
    return table->n_columns > 0;
}

/* Sets an error that names the missing columns and, for a file with several tables, the tables. */
static enum srcfind_status no_columns(const char *path, const struct table_file *table,
                                      const char *lon, const char *lat, struct error *error) {
    char names[256], of_tables[sizeof table->tables + 32] = "";
    list_names(table, names, sizeof names);
    if (table->may_have_others)
        snprintf(of_tables, sizeof of_tables, " in any of its tables (%s)", table->tables);
    if (!*lon)
        return error_set(error, SRCFIND_ERROR_INPUT,
                         "%s: the image has no sky coordinates, and the catalogue no columns Xposn "
                         "and Yposn%s; %s: %s",
                         path, of_tables, table->may_have_others ? "the first one has" : "it has",
                         names);
    return error_set(error, SRCFIND_ERROR_INPUT,
                     "%s: there are no columns %s and %s (degrees), nor Xposn and Yposn (pixels, "
                     "from 0)%s: rename those of the positions%s; %s: %s",
                     path, lon, lat, of_tables,
                     names_are_numbers(table) ? ", in a first line of names, as RA,DEC" : "",
                     table->may_have_others ? "the first one has" : "there are", names);
}

/* The first frame in which a table has positions; NULL: it has no positions on the sky. */
static const struct frame *frame_in(const struct table_file *table) {
    for (const struct frame *f = frames; f < frames + FRAMES; f++)
        if (find_frame(table, f).x)
            return f;
    return NULL;
}

static enum srcfind_status refuse_others(const char *path, const char *lon, const char *lat,
                                         const struct image_sky *sky, struct error *error) {
    return error_set(error, SRCFIND_ERROR_INPUT,
                     "%s: its positions are %s and %s, but the image has %s and %s: convert the "
                     "positions to the frame of the image",
                     path, lon, lat, sky->lon, sky->lat);
}

/* The columns of positions in the frame of an image. */
static struct pair find_sky(const struct table_file *table, const char *lon_name,
                            const char *lat_name) {
    const struct frame *own = frame_of_axis(lon_name);
    struct pair pair = find_pair(table, lon_name, lat_name);
    if (!pair.x)
        pair = find_frame(table, own);
    if (!pair.x && !frame_is_radesys(own))
        pair = find_frame(table, &frames[FRAMES - 1]);
    return pair;
}

/* Catalogues of others may be of ICRS where the image has FK5 of J2000, or the other way round. */
static enum srcfind_status check_frame(const char *path, const struct table_file *table,
                                       const struct image_sky *sky, struct error *error) {
    char quote[TEXT_FILE_QUOTE];
    const char *frame = sky->frame;
    const bool are_j2000 = !table->options && sky->is_j2000 &&
                           frame_is_j2000(table->image.frame, table->image.equinox);
    if (!*table->image.frame || !*frame || ascii_same(table->image.frame, frame) || are_j2000)
        return SRCFIND_OK;
    return error_set(error, SRCFIND_ERROR_INPUT,
                     "%s: its frame is %s, but the frame of the image is %s: convert the positions",
                     path, text_file_quote(table->image.frame, strlen(table->image.frame), quote),
                     frame);
}

static enum srcfind_status choose_columns(const char *path, const struct table_file *table,
                                          const struct image_sky *sky, struct pair *pair,
                                          bool *celestial, struct error *error) {
    *pair = *sky->lon ? find_sky(table, sky->lon, sky->lat) : (struct pair){0};
    *celestial = true;
    if (pair->x)
        return check_frame(path, table, sky, error);
    const struct pair of_j2000 = find_j2000(table);
    if (sky->is_j2000 && of_j2000.x) {
        *pair = of_j2000;
        return SRCFIND_OK;
    }
    *celestial = false;
    const struct frame *other = *sky->lon ? frame_in(table) : NULL;
    if (other)
        return refuse_others(path, other->columns[SKY_LON], other->columns[SKY_LAT], sky, error);
    *pair = find_pair(table, "Xposn", "Yposn");
    if (pair->x)
        return SRCFIND_OK;
    *pair = find_named_j2000(table);
    *celestial = sky->is_j2000 && pair->x;
    if (*celestial) /* its unit is then refused */
        return SRCFIND_OK;
    return *sky->lon && of_j2000.x
               ? refuse_others(path, of_j2000.x->name, of_j2000.y->name, sky, error)
               : no_columns(path, table, sky->lon, sky->lat, error);
}

/* --- which table --- */

/* Whether a table has the positions of a wish, or any positions if no image is known yet. */
static bool suits(const struct table_file *table, const struct table_wish *wish) {
    const bool has_pixels = find_pair(table, "Xposn", "Yposn").x;
    if (!wish->lon)
        return frame_in(table) || has_pixels || find_j2000(table).x;
    if (*wish->lon && find_sky(table, wish->lon, wish->lat).x)
        return true;
    return has_pixels && (!*wish->lon || !frame_in(table));
}

int positions_rank(const struct table_file *table, const struct table_wish *wish) {
    enum { NONE, OTHERS, OF_J2000, OWN = TABLE_FILE_BEST };
    const bool has_j2000 = find_j2000(table).x;
    if (suits(table, wish))
        return OWN;
    if (has_j2000 && wish->lon && strcmp(wish->lon, *frames->columns) == 0)
        return OF_J2000;
    return has_j2000 || frame_in(table) || find_pair(table, "Xposn", "Yposn").x ? OTHERS : NONE;
}

/* --- cells --- */

/* How the cells of a table are positions. */
struct reading {
    const char *path;
    struct pair pair;
    bool celestial;
    bool in_hours; /* longitudes in sexagesimal notation are in hours */
};

/* A cell as a number; NaN if it is none. */
static double cell_of(const struct reading *r, const struct table_file_column *column,
                      int64_t row) {
    double angle;
    if (r->celestial && column->kind == SRCFIND_STRING) {
        const char *text = table_file_text(column, row);
        if (parse_angle(text, strlen(text), r->in_hours && column == r->pair.x, &angle))
            return angle;
    }
    return table_file_real(column, row);
}

/* Returns an error unless the unit of a column is that of angles or, for positions in pixels,
 * pixels. */
static enum srcfind_status check_unit(const struct reading *r,
                                      const struct table_file_column *column, struct error *error) {
    static const char *const pixels[] = {"", "pix", "pixel", "pixels", NULL};
    char quote[TEXT_FILE_QUOTE];
    if (r->celestial ? is_angle(column) : is_of(column, pixels))
        return SRCFIND_OK;
    return error_set(error, SRCFIND_ERROR_INPUT,
                     "%s: the unit of %s is %s: convert the column to %s", r->path, column->name,
                     text_file_quote(column->unit, strlen(column->unit), quote),
                     r->celestial ? "degrees" : "pixels");
}

/* Returns an error if a column has the wrong unit, or a text that is no number. */
static enum srcfind_status check_numbers(const struct reading *r,
                                         const struct table_file_column *column, int64_t n,
                                         struct error *error) {
    char quote[TEXT_FILE_QUOTE];
    const enum srcfind_status status = check_unit(r, column, error);
    if (status != SRCFIND_OK)
        return status;
    for (int64_t row = 0; column->kind == SRCFIND_STRING && row < n; row++) {
        const char *text = table_file_text(column, row);
        const size_t length = strlen(text);
        if (length > 0 && isnan(cell_of(r, column, row)) &&
            parse_number(text, length).kind == NUMBER_NONE)
            return error_set(error, SRCFIND_ERROR_INPUT,
                             "%s: %s of row %lld is `%s`, not a number%s", r->path, column->name,
                             (long long)(row + 1), text_file_quote(text, length, quote),
                             r->celestial ? ": positions are degrees, as 187.5 and -12.25, or as "
                                            "12:30:00 and -12:15:00"
                                          : " of a pixel");
    }
    return SRCFIND_OK;
}

/* Returns an error if a latitude is beyond 90 degrees: the column is another one, or a number is
 * wrong. One value in both columns, such as -99, stands for no position. */
static enum srcfind_status check_latitudes(const struct reading *r, int64_t n,
                                           struct error *error) {
    for (int64_t row = 0; row < n; row++) {
        const double lat = cell_of(r, r->pair.y, row);
        if (fabs(lat) > 90 && lat != cell_of(r, r->pair.x, row))
            return error_set(error, SRCFIND_ERROR_INPUT,
                             "%s: %s of row %lld is %g, outside of -90 to 90 degrees: correct it, "
                             "or empty the cell if there is no position",
                             r->path, r->pair.y->name, (long long)(row + 1), lat);
    }
    return SRCFIND_OK;
}

static void fill(const struct table_file *table, const struct reading *r,
                 struct positions *positions) {
    const struct table_file_column *gaussian = table_file_column(table, "Gaus_id");
    const struct table_file_column *id =
        gaussian ? gaussian : table_file_column(table, "Source_id");
    bool has_id = id && id->kind == SRCFIND_INTEGER;
    for (int64_t row = 0; has_id && row < positions->n; row++)
        has_id = id->integers[row] != INT64_MIN;
    for (int64_t row = 0; row < positions->n; row++) {
        const double given = cell_of(r, r->pair.x, row), y = cell_of(r, r->pair.y, row);
        const double x = positions->celestial ? wcs_longitude(given) : given;
        const bool is_position = !isnan(x) && !(positions->celestial && !(fabs(y) <= 90));
        positions->id[row] = has_id ? id->integers[row] : row + 1;
        positions->x[row] = is_position && !isnan(y) ? x : (double)NAN;
        positions->y[row] = is_position ? y : (double)NAN;
    }
    position_ids_fill(table, positions->id, positions->entry_id);
}

static bool allocate(struct positions *positions, int64_t n) {
    positions->n = n;
    positions->id = calloc((size_t)n + 1, sizeof *positions->id);
    positions->x = calloc((size_t)n + 1, sizeof *positions->x);
    positions->y = calloc((size_t)n + 1, sizeof *positions->y);
    positions->entry_id = calloc((size_t)n + 1, sizeof *positions->entry_id);
    return positions->id && positions->x && positions->y && positions->entry_id;
}

/* What is read beside positions. */
struct wanted {
    bool shapes;
    const struct flux_units *fluxes; /* NULL: none */
};

static enum srcfind_status take_models(const char *path, const struct table_file *table,
                                       const struct wanted *wanted, struct positions *positions,
                                       struct error *error) {
    enum srcfind_status status = SRCFIND_OK;
    if (wanted->fluxes)
        status = position_fluxes_read(path, table, wanted->fluxes, &positions->fluxes, error);
    return status == SRCFIND_OK && wanted->shapes
               ? position_shapes_read(path, table, wanted->fluxes, &positions->shapes,
                                      &positions->told, error)
               : status;
}

/* Takes the positions for an image from a table. */
static enum srcfind_status take_positions(const char *path, const struct table_file *table,
                                          const struct image_sky *sky, const struct wanted *wanted,
                                          struct positions *positions, struct error *error) {
    struct reading r = {.path = path, .in_hours = strcmp(sky->lon, *frames->columns) == 0};
    enum srcfind_status status = choose_columns(path, table, sky, &r.pair, &r.celestial, error);
    positions->celestial = r.celestial;
    if (status == SRCFIND_OK)
        status = check_numbers(&r, r.pair.x, table->n_rows, error);
    if (status == SRCFIND_OK)
        status = check_numbers(&r, r.pair.y, table->n_rows, error);
    if (status == SRCFIND_OK && r.celestial)
        status = check_latitudes(&r, table->n_rows, error);
    if (status == SRCFIND_OK && !allocate(positions, table->n_rows))
        status = error_memory(error, "reading a catalogue");
    if (status == SRCFIND_OK)
        fill(table, &r, positions);
    return status == SRCFIND_OK ? take_models(path, table, wanted, positions, error) : status;
}

/* Takes positions that stand in place of a path. */
static enum srcfind_status take_list(const char *list, const struct image_sky *sky,
                                     const struct wanted *wanted, struct positions *positions,
                                     struct error *error) {
    struct table_file table;
    enum srcfind_status status = *sky->lon
                                     ? position_list_read(list, sky->lon, sky->lat, &table, error)
                                     : position_list_read(list, "Xposn", "Yposn", &table, error);
    if (status == SRCFIND_OK)
        status = take_positions(list, &table, sky, wanted, positions, error);
    table_file_clear(&table);
    return status;
}

static enum srcfind_status read_wanted(struct shared_table *shared, const char *path,
                                       const struct image_sky *sky, const struct wanted *wanted,
                                       struct positions *positions, struct error *error) {
    struct taken_table *taken;
    *positions = (struct positions){0};
    if (position_list_is(path))
        return take_list(path, sky, wanted, positions, error);
    enum srcfind_status status = shared_table_take(shared, path, sky->lon, sky->lat, &taken, error);
    if (status == SRCFIND_OK)
        status = take_positions(path, &taken->table, sky, wanted, positions, error);
    shared_table_give(shared, taken);
    return status;
}

static struct image_sky sky_of(const char *frame, double equinox, const char *lon_name,
                               const char *lat_name) {
    return (struct image_sky){frame, lon_name, lat_name,
                              strcmp(lon_name, *frames->columns) == 0 &&
                                  frame_is_j2000(frame, equinox)};
}

enum srcfind_status positions_read(struct shared_table *shared, const char *path, const char *frame,
                                   double equinox, const char *lon_name, const char *lat_name,
                                   bool with_shapes, struct positions *positions,
                                   struct error *error) {
    const struct image_sky sky = sky_of(frame, equinox, lon_name, lat_name);
    const struct wanted wanted = {.shapes = with_shapes};
    return read_wanted(shared, path, &sky, &wanted, positions, error);
}

enum srcfind_status positions_read_models(struct shared_table *shared, const char *path,
                                          const struct srcfind_image *image,
                                          const struct flux_units *units,
                                          struct positions *positions, struct error *error) {
    const struct image_sky sky =
        sky_of(image->frame, image->equinox, image->lon_name, image->lat_name);
    const struct wanted wanted = {true, units};
    return read_wanted(shared, path, &sky, &wanted, positions, error);
}

void positions_to_part(struct positions *p, const struct srcfind_image *image) {
    for (int64_t i = 0; !p->celestial && i < p->n; i++) {
        p->x[i] -= (double)image->first_x;
        p->y[i] -= (double)image->first_y;
    }
}

void positions_clear(struct positions *positions) {
    free(positions->id);
    free(positions->x);
    free(positions->y);
    free(positions->entry_id);
    free(positions->shapes);
    free(positions->fluxes);
    *positions = (struct positions){0};
}
