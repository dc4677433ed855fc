/* The head of a JSON catalogue is built with cJSON; its sources, which are many, are written a line
 * each, as the cells of the CSV file are. cJSON gets numbers as text: its own writer takes two
 * doubles that differ in the last bit for equal. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output/catalogue.h"
#include "common/json_tree.h"
#include "common/format_double.h"

static void add_real(struct json_tree *object, const char *name, double value) {
    char text[NUMBER_TEXT];
    const bool is_number = isfinite(value);
    if (is_number)
        number_write(value, text);
    json_add(object, name, is_number ? cJSON_CreateRaw(text) : cJSON_CreateNull());
}

static void add_integer(struct json_tree *tree, const char *name, int64_t value) {
    char text[NUMBER_TEXT];
    number_write_integer(value, text);
    json_add(tree, name, cJSON_CreateRaw(text));
}

/* Bytes of the UTF-8 character that begins here; 0 if it is none. */
static int utf8_length(const unsigned char *c) {
    const int n = *c < 0x80                 ? 1
                  : *c >= 0xc2 && *c < 0xe0 ? 2
                  : *c >= 0xe0 && *c < 0xf0 ? 3
                  : *c >= 0xf0 && *c < 0xf5 ? 4
                                            : 0;
    for (int i = 1; i < n; i++)
        if ((c[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

/* Bytes that are not UTF-8 (a path may have them) become `?`. */
static void mend_utf8(char *text) {
    for (unsigned char *c = (unsigned char *)text; *c;) {
        const int n = utf8_length(c);
        if (n == 0)
            *c = '?';
        c += n > 0 ? n : 1;
    }
}

/* A text, null if empty. */
static void add_text(struct json_tree *object, const char *name, const char *text) {
    cJSON *value = text && *text ? cJSON_CreateString(text) : cJSON_CreateNull();
    if (cJSON_IsString(value))
        mend_utf8(value->valuestring);
    json_add(object, name, value);
}

static void add_integers(struct json_tree *object, const char *name, const int64_t *values, int n) {
    struct json_tree array = json_array();
    for (int i = 0; i < n; i++)
        add_integer(&array, NULL, values[i]);
    json_add(object, name, json_end(&array));
}

static cJSON *describe_beam(const struct srcfind_image *image) {
    struct json_tree beam = json_object();
    add_real(&beam, "major_deg", image->beam.major);
    add_real(&beam, "minor_deg", image->beam.minor);
    add_real(&beam, "angle_deg", image->beam.angle);
    add_real(&beam, "area_pixels", image->beam_pixels);
    add_text(&beam, "source", image->beam_source);
    return json_end(&beam);
}

static cJSON *describe_image(const struct srcfind_image *image) {
    struct json_tree object = json_object();
    const int64_t shape[] = {image->height, image->width};
    add_text(&object, "path", image->path);
    if (image->hdu >= 0)
        add_integer(&object, "hdu", image->hdu);
    else
        json_add(&object, "hdu", cJSON_CreateNull());
    add_text(&object, "hdu_name", image->hdu_name);
    add_integers(&object, "shape", shape, 2);
    add_integers(&object, "axes", image->axes, image->n_axes);
    add_integers(&object, "plane", image->plane, image->n_axes > 2 ? image->n_axes - 2 : 0);
    add_integer(&object, "bitpix", image->bitpix);
    add_text(&object, "compression", image->compression);
    add_text(&object, "unit", image->unit);
    add_text(&object, "flux_unit", image->flux_unit);
    add_text(&object, "frame", image->frame);
    add_real(&object, "equinox", image->equinox);
    add_real(&object, "pixel_area_deg2", image->pixel_area);
    add_real(&object, "frequency_hz", image->frequency);
    json_add(&object, "beam", *image->beam_source ? describe_beam(image) : cJSON_CreateNull());
    return json_end(&object);
}

static cJSON *describe_background(const struct srcfind_catalogue *catalogue) {
    const struct srcfind_background *b = &catalogue->background;
    struct json_tree object = json_object();
    add_real(&object, "kappa", catalogue->options.kappa);
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
    return json_end(&object);
}

static cJSON *describe_detection(const struct srcfind_catalogue *catalogue) {
    const struct srcfind_options *o = &catalogue->options;
    struct json_tree object = json_object();
    add_real(&object, "threshold", o->threshold);
    add_real(&object, "island", o->island);
    add_text(&object, "background", o->subtract_background ? "median" : "zero");
    add_integer(&object, "connectivity", o->connectivity);
    add_integer(&object, "min_pixels", o->min_pixels);
    add_integer(&object, "n_sources", catalogue->n_sources);
    return json_end(&object);
}

static cJSON *describe_column(const struct srcfind_column *column) {
    struct json_tree object = json_object();
    add_text(&object, "name", column->name);
    add_text(&object, "unit", column->unit);
    add_text(&object, "ucd", column->ucd);
    add_text(&object, "description", column->description);
    return json_end(&object);
}

static cJSON *describe_columns(const struct srcfind_catalogue *catalogue) {
    struct json_tree array = json_array();
    for (int i = 0; i < catalogue_columns(); i++) {
        const struct srcfind_column column = catalogue_column(catalogue, i);
        json_add(&array, NULL, describe_column(&column));
    }
    return json_end(&array);
}

/* Writes `"name":value,` and deletes the value; false where memory ran out. */
static bool write_member(const char *name, cJSON *value, FILE *stream) {
    fprintf(stream, "\"%s\":", name);
    return json_print(value, "", ",\n", stream);
}

static void write_source(const struct srcfind_catalogue *catalogue, int64_t row, FILE *stream) {
    char cell[CELL_TEXT];
    for (int i = 0; i < catalogue_columns(); i++) {
        const int length = catalogue_cell(&catalogue->sources[row], i, cell);
        const char *quote = catalogue_is_text(i) && length > 0 ? "\"" : "";
        fprintf(stream, "%c\"%s\":%s%s%s", i ? ',' : '{', catalogue_column(catalogue, i).name,
                quote, length > 0 ? cell : "null", quote);
    }
    fputs(row + 1 < catalogue->n_sources ? "},\n" : "}\n", stream);
}

bool json_write(const struct srcfind_catalogue *catalogue, FILE *stream) {
    fputs("{", stream);
    const bool ok = write_member("srcfind", cJSON_CreateString(SRCFIND_VERSION), stream) &&
                    write_member("image", describe_image(&catalogue->image), stream) &&
                    write_member("background", describe_background(catalogue), stream) &&
                    write_member("detection", describe_detection(catalogue), stream) &&
                    write_member("columns", describe_columns(catalogue), stream);
    fputs("\"sources\":[\n", stream);
    for (int64_t row = 0; ok && row < catalogue->n_sources && !ferror(stream); row++)
        write_source(catalogue, row, stream);
    fputs("]}\n", stream);
    return ok && !ferror(stream);
}
