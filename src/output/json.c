/* The format JSON: an object with the members srcfind, image, options, background, detection,
 * quality, reliability, completeness, notes and columns, and then the rows. Schema:
 * schema/srcfind.schema.json.
 *
 * 1. cJSON builds each member before the rows; it is printed, followed by a line feed, and freed. A
 *    table of many images has the members images and options instead.
 * 2. Rows are formatted without cJSON, one a line, from the cells of the CSV format.
 * 3. For merged catalogues the entry of an image is written alone (json_write_entry).
 *
 * Numbers are passed to cJSON as text: its own writer treats two doubles that differ in the last
 * bit as equal. A value that is not finite, and an empty text, is null. Memory is that of one
 * member, and of a block of rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/format_double.h"
#include "common/json_tree.h"
#include "options/options_json.h"
#include "output/completeness.h"
#include "output/json.h"
#include "output/reliability.h"
#include "output/writer.h"

enum { NAME_TEXT = 32 }; /* capacity for a column's name with its quotes and separators */

static void add_real(struct json_tree *object, const char *name, double value) {
    char text[FORMAT_TEXT];
    const bool is_number = isfinite(value);
    if (is_number)
        format_double(value, text);
    json_add(object, name, is_number ? cJSON_CreateRaw(text) : cJSON_CreateNull());
}

static void add_integer(struct json_tree *tree, const char *name, int64_t value) {
    char text[FORMAT_TEXT];
    format_integer(value, text);
    json_add(tree, name, cJSON_CreateRaw(text));
}

/* Adds a string, or null for an empty text. */
static void add_text(struct json_tree *object, const char *name, const char *text) {
    json_add(object, name, text && *text ? json_string(text) : cJSON_CreateNull());
}

/* Adds an array, or null for n < 0. */
static void add_integers(struct json_tree *object, const char *name, const int64_t *values, int n) {
    struct json_tree array = json_array();
    for (int i = 0; i < n; i++)
        add_integer(&array, NULL, values[i]);
    cJSON *added = json_end(&array);
    if (n < 0) {
        cJSON_Delete(added);
        added = cJSON_CreateNull();
    }
    json_add(object, name, added);
}

static cJSON *beam_json(const struct srcfind_image *image) {
    struct json_tree beam = json_object();
    add_real(&beam, "major_deg", image->beam.major);
    add_real(&beam, "minor_deg", image->beam.minor);
    add_real(&beam, "angle_deg", image->beam.angle);
    add_real(&beam, "area_pixels", image->beam_pixels);
    add_text(&beam, "source", image->beam_source);
    return json_end(&beam);
}

/* The axes of an image of a merged table may not be known: n_axes is 0 then. */
static cJSON *image_json(const struct srcfind_image *image) {
    struct json_tree object = json_object();
    const int64_t shape[] = {image->height, image->width};
    const bool is_known = image->n_axes > 0;
    add_text(&object, "path", image->path);
    if (image->hdu >= 0)
        add_integer(&object, "hdu", image->hdu);
    else
        json_add(&object, "hdu", cJSON_CreateNull());
    add_text(&object, "hdu_name", image->hdu_name);
    add_integers(&object, "shape", shape, image->width > 0 ? 2 : -1);
    add_integers(&object, "axes", image->axes, is_known ? image->n_axes : -1);
    add_integers(&object, "plane", image->plane,
                 !is_known           ? -1
                 : image->n_axes > 2 ? image->n_axes - 2
                                     : 0);
    if (is_known)
        add_integer(&object, "bitpix", image->bitpix);
    else
        json_add(&object, "bitpix", cJSON_CreateNull());
    add_text(&object, "compression", image->compression);
    add_text(&object, "unit", image->unit);
    add_text(&object, "flux_unit", image->flux_unit);
    add_text(&object, "frame", image->frame);
    add_real(&object, "equinox", image->equinox);
    add_real(&object, "pixel_area_deg2", image->pixel_area);
    add_real(&object, "frequency_hz", image->frequency);
    add_text(&object, "date_obs", image->date_obs);
    add_text(&object, "telescope", image->telescope);
    add_text(&object, "object", image->object);
    json_add(&object, "beam", isfinite(image->beam.major) ? beam_json(image) : cJSON_CreateNull());
    return json_end(&object);
}

static cJSON *excluded_json(const struct srcfind_background *b) {
    struct json_tree object = json_object();
    add_integer(&object, "islands", b->islands_excluded);
    add_real(&object, "share", b->share_excluded);
    return json_end(&object);
}

static cJSON *local_json(const struct srcfind_background *b) {
    struct json_tree object = json_object();
    add_integer(&object, "size", b->box);
    add_integer(&object, "step", b->step);
    add_real(&object, "rms_least", b->rms_least);
    add_real(&object, "rms_median", b->rms_median);
    add_real(&object, "rms_most", b->rms_most);
    json_add(&object, "excluded", excluded_json(b));
    return json_end(&object);
}

static cJSON *background_json(const struct result *result) {
    const struct srcfind_background *b = &result->background;
    struct json_tree object = json_object();
    add_real(&object, "kappa", result->options.noise.kappa);
    add_real(&object, "median", b->median);
    add_real(&object, "rms", b->rms);
    add_real(&object, "mean", b->mean);
    add_real(&object, "min", b->min);
    add_real(&object, "max", b->max);
    add_integer(&object, "n_pixels", b->n_pixels);
    add_integer(&object, "n_blank", b->n_blank);
    add_integer(&object, "n_kept", b->n_kept);
    add_integer(&object, "rounds", b->rounds);
    json_add(&object, "empty", cJSON_CreateBool(b->empty));
    if (b->box > 0)
        json_add(&object, "local", local_json(b));
    return json_end(&object);
}

static cJSON *correlation_json(const struct srcfind_correlation *c) {
    struct json_tree object = json_object(), rows = json_array();
    for (int64_t j = 0; j < c->n_y; j++) {
        struct json_tree row = json_array();
        for (int64_t i = 0; i < c->n_x; i++)
            add_real(&row, NULL, c->values[j * c->n_x + i]);
        json_add(&rows, NULL, json_end(&row));
    }
    json_add(&object, "measured", cJSON_CreateBool(c->measured));
    add_integer(&object, "n_pixels", c->n_pixels);
    add_real(&object, "area", c->area);
    add_real(&object, "beam_area", c->beam_area);
    add_real(&object, "step_x", c->step_x);
    add_real(&object, "step_y", c->step_y);
    json_add(&object, "values", json_end(&rows));
    return json_end(&object);
}

static cJSON *noise_json(const struct result *result) {
    struct json_tree object = json_object();
    json_add(&object, "correlation",
             result->correlation.values ? correlation_json(&result->correlation)
                                        : cJSON_CreateNull());
    return json_end(&object);
}

static cJSON *detection_json(const struct result *result) {
    const struct options *o = &result->options;
    char text[OPTIONS_TEXT];
    const char *connectivity = options_get(o, "connectivity", text);
    struct json_tree object = json_object();
    add_real(&object, "threshold", o->threshold);
    add_real(&object, "island", o->island);
    if (*o->background_map)
        add_text(&object, "background", "map");
    else if (isnan(o->noise.background) || o->noise.background == 0)
        add_text(&object, "background", o->noise.background == 0 ? "zero" : "median");
    else
        add_real(&object, "background", o->noise.background);
    if (*o->rms_map)
        add_text(&object, "rms", "map");
    else if (o->noise.rms > 0)
        add_real(&object, "rms", o->noise.rms);
    if (!isnan(o->image.blank))
        add_real(&object, "blank", o->image.blank);
    json_add(&object, "connectivity", cJSON_CreateRaw(connectivity));
    add_integer(&object, "min_pixels", o->min_pixels);
    add_integer(&object, "n_sources", result->sources.n);
    if (o->negative)
        add_integer(&object, "n_negative", result->sources.n_negative);
    return json_end(&object);
}

/* Null without a point. */
static cJSON *psf_json(const struct srcfind_quality *q) {
    if (q->psf_points == 0)
        return cJSON_CreateNull();
    struct json_tree object = json_object();
    add_integer(&object, "n", q->psf_points);
    add_real(&object, "middle", q->psf_middle);
    add_real(&object, "edges", q->psf_edges);
    return json_end(&object);
}

static cJSON *quality_json(const struct result *result) {
    const struct srcfind_quality *q = &result->quality;
    struct json_tree object = json_object();
    add_real(&object, "zeros", q->zeros);
    add_real(&object, "rms_p10", q->rms_p10);
    add_real(&object, "rms_p90", q->rms_p90);
    add_real(&object, "single_pixel", q->single_pixel);
    add_real(&object, "edge", q->edge);
    add_real(&object, "edge_or_single", q->edge_or_single);
    add_real(&object, "narrow", q->narrow);
    add_real(&object, "high_residual", q->high_residual);
    add_real(&object, "background_p10", q->background_p10);
    add_real(&object, "background_p90", q->background_p90);
    add_real(&object, "widest_left_out", q->widest_left_out);
    add_real(&object, "unmeasured", q->unmeasured);
    add_real(&object, "measured", q->measured);
    add_real(&object, "artefacts", q->artefacts);
    json_add(&object, "psf", psf_json(q));
    add_real(&object, "negative",
             result->options.negative ? (double)result->sources.n_negative : (double)NAN);
    add_real(&object, "beam_pixels", q->beam_pixels);
    return json_end(&object);
}

static cJSON *reliability_json(const struct result *result) {
    struct reliability_bin bins[RELIABILITY_BINS];
    struct json_tree array = json_array();
    reliability_count(result, bins);
    for (int i = 0; i < RELIABILITY_BINS; i++) {
        struct json_tree bin = json_object();
        add_real(&bin, "low", bins[i].low);
        add_real(&bin, "high", bins[i].high);
        add_integer(&bin, "positive", bins[i].positive);
        add_integer(&bin, "negative", bins[i].negative);
        add_real(&bin, "reliability", bins[i].reliability);
        add_integer(&bin, "artefacts", bins[i].artefacts);
        add_integer(&bin, "negative_artefacts", bins[i].negative_artefacts);
        json_add(&array, NULL, json_end(&bin));
    }
    return json_end(&array);
}

static cJSON *completeness_bins_json(const struct completeness_bin *bins, int n) {
    struct json_tree array = json_array();
    for (int i = 0; i < n; i++) {
        struct json_tree bin = json_object();
        add_real(&bin, "width", bins[i].width);
        add_real(&bin, "low", bins[i].low);
        add_real(&bin, "high", bins[i].high);
        add_integer(&bin, "injected", bins[i].injected);
        add_integer(&bin, "found", bins[i].found);
        add_real(&bin, "completeness", bins[i].completeness);
        add_real(&bin, "error", bins[i].error);
        add_real(&bin, "flux_ratio", bins[i].flux_ratio);
        add_real(&bin, "flux_scatter", bins[i].flux_scatter);
        add_real(&bin, "position_scatter", bins[i].position_scatter);
        add_real(&bin, "flux_pull", bins[i].flux_pull);
        add_real(&bin, "position_pull", bins[i].position_pull);
        json_add(&array, NULL, json_end(&bin));
    }
    return json_end(&array);
}

static cJSON *completeness_json(const struct result *result) {
    struct completeness c;
    struct json_tree object = json_object();
    if (!completeness_count(&result->injections, &c)) {
        completeness_clear(&c);
        cJSON_Delete(json_end(&object));
        return NULL;
    }
    json_add(&object, "snr", completeness_bins_json(c.snr, c.n_snr));
    json_add(&object, "flux", completeness_bins_json(c.flux, c.n_flux));
    completeness_clear(&c);
    return json_end(&object);
}

static cJSON *notes_json(const struct result *result) {
    struct json_tree array = json_array();
    const char *note;
    for (int i = 0; (note = result_note(result, i)); i++)
        json_add(&array, NULL, json_string(note));
    return json_end(&array);
}

static cJSON *column_json(const struct srcfind_column *column) {
    struct json_tree object = json_object();
    add_text(&object, "name", column->name);
    add_text(&object, "unit", column->unit);
    add_text(&object, "ucd", column->ucd);
    add_text(&object, "description", column->description);
    return json_end(&object);
}

static cJSON *columns_json(const struct table *table) {
    struct json_tree array = json_array();
    for (int i = 0; i < table->columns.n; i++)
        json_add(&array, NULL, column_json(&table->columns.column[i].shown));
    return json_end(&array);
}

/* Writes `"name":value,` and deletes the value. */
static bool write_member(const char *name, cJSON *value, FILE *stream) {
    fprintf(stream, "\"%s\":", name);
    return json_print(value, "", ",\n", stream);
}

/* Writes the members of one image, between `srcfind` and `columns`. */
static bool write_image(const struct result *result, enum table_kind kind, FILE *stream) {
    const bool is_catalogue = kind == TABLE_OF_SOURCES || kind == TABLE_OF_CHOSEN;
    return write_member("image", image_json(&result->image), stream) &&
           write_member("options", options_json(&result->options), stream) &&
           write_member("background", background_json(result), stream) &&
           write_member("noise", noise_json(result), stream) &&
           write_member("detection", detection_json(result), stream) &&
           write_member("quality", quality_json(result), stream) &&
           (!result->options.negative ||
            write_member("reliability", reliability_json(result), stream)) &&
           (!options_inject(&result->options) || !is_catalogue ||
            write_member("completeness", completeness_json(result), stream)) &&
           write_member("notes", notes_json(result), stream);
}

/* Writes the members of many images, between `srcfind` and `columns`. */
static bool write_images(const struct table *table, FILE *stream) {
    fputs("\"images\":", stream);
    const bool ok = table->images.write(table->images.context, stream);
    fputs(",\n", stream);
    return ok && write_member("options",
                              !table->images.options_differ ? options_json(&table->of->options)
                                                            : cJSON_CreateNull(),
                              stream);
}

static bool json_begin(const struct table *table, FILE *stream) {
    fputs("{", stream);
    const bool ok = write_member("srcfind", json_string(SRCFIND_VERSION), stream) &&
                    (table->images.n > 0 ? write_images(table, stream)
                                         : write_image(table->of, table->kind, stream)) &&
                    write_member("columns", columns_json(table), stream);
    fprintf(stream, "\"%s\":[\n", table_words[table->kind].rows);
    return ok;
}

bool json_write_entry(const struct result *result, FILE *stream) {
    fputc('{', stream);
    const bool ok = write_member("image", image_json(&result->image), stream) &&
                    write_member("background", background_json(result), stream);
    fputs("\"detection\":", stream);
    return ok && json_print(detection_json(result), "", "}", stream);
}

bool json_write_known(const struct srcfind_image *image, FILE *stream) {
    return json_print(image_json(image),
                      "{\"image\":", ",\n\"background\":null,\n\"detection\":null}", stream);
}

/* The text before each cell: `{"Source_id":`, `,"Isl_id":` ... */
struct names {
    size_t length[MOST_COLUMNS];
    char text[MOST_COLUMNS][NAME_TEXT];
};

static void name_cells(const struct table *table, struct names *names) {
    for (int i = 0; i < table->columns.n; i++)
        names->length[i] = (size_t)snprintf(names->text[i], NAME_TEXT, "%c\"%s\":", i ? ',' : '{',
                                            table->columns.column[i].shown.name);
}

static char *put_null(char *to) {
    memcpy(to, "null", 4);
    return to + 4;
}

/* Writes a free text as a string, null if it is empty. Returns the end. */
static char *put_string(const char *text, char *to) {
    if (!*text)
        return put_null(to);
    *to++ = '"';
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            *to++ = '\\';
        *to++ = *text;
    }
    *to++ = '"';
    return to;
}

/* Writes a cell: text in quotes, numbers without, and null if empty. Returns the end. */
static char *json_cell(const struct rows *rows, int64_t row, const struct column *column,
                       char *to) {
    const bool is_text = column->shown.kind == SRCFIND_STRING;
    if (column_is_free_text(column))
        return put_string(cell_get(rows, row, column).text, to);
    const int length = cell_print(rows, row, column, to + is_text);
    if (length == 0)
        return put_null(to);
    if (!is_text)
        return to + length;
    to[0] = to[length + 1] = '"';
    return to + length + 2;
}

static size_t json_rows(const struct table *table, const struct rows *rows, char *text) {
    const int n = table->columns.n;
    struct names names;
    char *to = text;
    name_cells(table, &names);
    for (int64_t row = 0; row < rows->n; row++) {
        for (int i = 0; i < n; i++) {
            memcpy(to, names.text[i], names.length[i]);
            to = json_cell(rows, row, &table->columns.column[i], to + names.length[i]);
        }
        *to++ = '}';
        if (row + 1 < rows->n || !rows->are_last)
            *to++ = ',';
        *to++ = '\n';
    }
    return (size_t)(to - text);
}

static const char *const suffixes[] = {".json", ".json.gz", NULL};

const struct writer json_writer = {
    .format = {"json", suffixes},
    .about = "JSON, with all metadata",
    .is_table = true,
    .ends = {"{\"srcfind\":", "]}\n"},
    .begin = json_begin,
    .rows = {json_rows, MOST_COLUMNS *(NAME_TEXT + CELL_TEXT + 2) + 3},
    .after = "]}\n",
};
