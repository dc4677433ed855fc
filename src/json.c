/* The head of a JSON catalogue is built with cJSON; its sources, which are many, are written a line
 * each, as the cells of the CSV file are. cJSON gets numbers as text: its own writer takes two
 * doubles that differ in the last bit for equal. */
#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue.h"
#include "number.h"

static void add_real(cJSON *object, const char *name, double value) {
    char text[NUMBER_TEXT];
    if (isfinite(value)) {
        number_write(value, text);
        cJSON_AddRawToObject(object, name, text);
    } else {
        cJSON_AddNullToObject(object, name);
    }
}

static void add_integer(cJSON *object, const char *name, int64_t value) {
    char text[NUMBER_TEXT];
    number_write_integer(value, text);
    cJSON_AddRawToObject(object, name, text);
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

/* A text, null if empty. Bytes that are not UTF-8 (a path may have them) become `?`. */
static void add_text(cJSON *object, const char *name, const char *text) {
    char *copy = text && *text ? strdup(text) : NULL;
    if (!copy) {
        cJSON_AddNullToObject(object, name);
        return;
    }
    for (unsigned char *c = (unsigned char *)copy; *c;) {
        const int n = utf8_length(c);
        if (n == 0)
            *c = '?';
        c += n > 0 ? n : 1;
    }
    cJSON_AddStringToObject(object, name, copy);
    free(copy);
}

static void add_integers(cJSON *object, const char *name, const int64_t *values, int n) {
    cJSON *array = cJSON_AddArrayToObject(object, name);
    char text[NUMBER_TEXT];
    for (int i = 0; i < n; i++) {
        number_write_integer(values[i], text);
        cJSON_AddItemToArray(array, cJSON_CreateRaw(text));
    }
}

static void add_beam(cJSON *object, const struct srcfind_image *image) {
    if (!*image->beam_source) {
        cJSON_AddNullToObject(object, "beam");
        return;
    }
    cJSON *beam = cJSON_AddObjectToObject(object, "beam");
    add_real(beam, "major_deg", image->beam.major);
    add_real(beam, "minor_deg", image->beam.minor);
    add_real(beam, "angle_deg", image->beam.angle);
    add_real(beam, "area_pixels", image->beam_pixels);
    add_text(beam, "source", image->beam_source);
}

static cJSON *describe_image(const struct srcfind_image *image) {
    cJSON *object = cJSON_CreateObject();
    const int64_t shape[] = {image->height, image->width};
    add_text(object, "path", image->path);
    if (image->hdu >= 0)
        add_integer(object, "hdu", image->hdu);
    else
        cJSON_AddNullToObject(object, "hdu");
    add_text(object, "hdu_name", image->hdu_name);
    add_integers(object, "shape", shape, 2);
    add_integers(object, "axes", image->axes, image->n_axes);
    add_integers(object, "plane", image->plane, image->n_axes > 2 ? image->n_axes - 2 : 0);
    add_integer(object, "bitpix", image->bitpix);
    add_text(object, "compression", image->compression);
    add_text(object, "unit", image->unit);
    add_text(object, "flux_unit", image->flux_unit);
    add_text(object, "frame", image->frame);
    add_real(object, "equinox", image->equinox);
    add_real(object, "pixel_area_deg2", image->pixel_area);
    add_real(object, "frequency_hz", image->frequency);
    add_beam(object, image);
    return object;
}

static cJSON *describe_background(const struct srcfind_catalogue *catalogue) {
    const struct srcfind_background *b = &catalogue->background;
    cJSON *object = cJSON_CreateObject();
    add_real(object, "kappa", catalogue->options.kappa);
    add_real(object, "median", b->median);
    add_real(object, "rms", b->rms);
    add_real(object, "mean", b->mean);
    add_real(object, "min", b->min);
    add_real(object, "max", b->max);
    add_integer(object, "n_pixels", b->n_pixels);
    add_integer(object, "n_blank", b->n_blank);
    add_integer(object, "n_kept", b->n_kept);
    add_integer(object, "rounds", b->rounds);
    cJSON_AddBoolToObject(object, "empty", b->empty);
    return object;
}

static cJSON *describe_detection(const struct srcfind_catalogue *catalogue) {
    const struct srcfind_options *o = &catalogue->options;
    cJSON *object = cJSON_CreateObject();
    add_real(object, "threshold", o->threshold);
    add_real(object, "island", o->island);
    add_text(object, "background", o->subtract_background ? "median" : "zero");
    add_integer(object, "connectivity", o->connectivity);
    add_integer(object, "min_pixels", o->min_pixels);
    add_integer(object, "n_sources", catalogue->n_sources);
    return object;
}

static cJSON *describe_columns(const struct srcfind_catalogue *catalogue) {
    cJSON *array = cJSON_CreateArray();
    for (int i = 0; i < catalogue_columns(); i++) {
        const struct srcfind_column column = catalogue_column(catalogue, i);
        cJSON *object = cJSON_CreateObject();
        add_text(object, "name", column.name);
        add_text(object, "unit", column.unit);
        add_text(object, "ucd", column.ucd);
        add_text(object, "description", column.description);
        cJSON_AddItemToArray(array, object);
    }
    return array;
}

/* Writes `"name": value,` and frees the value; false where memory ran out. */
static bool write_member(const char *name, cJSON *value, FILE *stream) {
    char *text = cJSON_PrintUnformatted(value);
    if (text)
        fprintf(stream, "\"%s\":%s,\n", name, text);
    cJSON_free(text);
    cJSON_Delete(value);
    return text != NULL;
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
