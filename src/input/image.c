/* How an image is opened:
 *
 * 1. HDUs are read from the first on, up to the first image of two or more axes or the HDU of
 *    --hdu. The message lists all HDUs if there is none.
 * 2. The plane is chosen, by 1-based indices of the axes behind the first two.
 * 3. If a part is chosen, the metadata have its size and its first pixel.
 * 4. The header of this plane gives coordinates (wcs.c), beam (beam.c, which may search further
 *    HDUs for a BEAMS table), observation and unit. None of them has to be there: metadata that are
 *    not known are NaN or "".
 * 5. A reader makes the pixel source (fits/reader.h), of which a part is taken; pixels of the value
 *    of --blank become NaN.
 *
 * For further planes of a file only steps 2 to 5 are repeated (image_take_plane). Pixels in memory
 * have a header alone. No pixel is read here, but a gzipped file is unpacked as far as it is read.
 */
#include "input/image.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/ascii.h"
#include "input/beam.h"
#include "input/observation.h"
#include "input/units.h"

/* --- which HDU --- */

/* Whether `wanted`, the value of --hdu, is the number of an HDU, or `name`, its EXTNAME. */
static bool is_named(const char *wanted, const struct hdu *hdu, const char *name) {
    char *end;
    const long number = strtol(wanted, &end, 10);
    if (*wanted && !*end)
        return number == hdu->number;
    return ascii_same(wanted, name);
}

/* A list of HDUs or axes for messages: `0 (no image), 1 SCI (300 x 200), 2 (table)`. */
struct text_list {
    char text[1024];
    size_t length;
};

__attribute__((format(printf, 2, 3))) static void append(struct text_list *l, const char *format,
                                                         ...) {
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(l->text + l->length, sizeof l->text - l->length, format, args);
    va_end(args);
    if (n > 0)
        l->length += (size_t)n;
    if (l->length >= sizeof l->text) {
        l->length = sizeof l->text - 1;
        memcpy(l->text + l->length - 3, "...", 3);
    }
}

static void list_hdu(struct text_list *l, const struct hdu *hdu, const char *name) {
    char extension[SRCFIND_TEXT] = "";
    header_text(&hdu->header, "XTENSION", extension, sizeof extension);
    append(l, "%s%d%s%s (", l->length ? ", " : "", hdu->number, *name ? " " : "", name);
    if (hdu->is_image && hdu->n_axes >= 2)
        for (int i = 0; i < hdu->n_axes; i++)
            append(l, "%s%lld", i ? " x " : "", (long long)hdu->axes[i]);
    else
        append(l, "%s", strstr(extension, "TABLE") ? "table" : "no image");
    append(l, ")");
}

/* The HDUs that choose_hdu has passed, for its message if it chooses none. */
struct candidates {
    struct text_list listing;
    int damaged; /* number of the first compressed image with inconsistent keywords; -1: none */
    bool named;  /* the HDU that --hdu names exists, but is not usable */
};

static enum srcfind_status no_image(const struct fits_file *file, const char *wanted,
                                    const struct candidates *c, struct error *error) {
    if (!*wanted && c->damaged >= 0)
        return error_set(
            error, SRCFIND_ERROR_INPUT,
            "%s: the keywords of the compressed image in HDU %d contradict each other: "
            "is the file damaged?",
            file->path, c->damaged);
    if (!*wanted)
        return error_set(error, SRCFIND_ERROR_INPUT,
                         "%s: no HDU holds an image of two or more axes; there are: %s", file->path,
                         c->listing.text);
    return error_set(error, SRCFIND_ERROR_INPUT,
                     c->named ? "%s: HDU %s is not an image of two or more axes; there are: %s"
                              : "%s: there is no HDU %s; there are: %s",
                     file->path, wanted, c->listing.text);
}

/* Finds the first image, or the HDU that `wanted` names. `name`, of SRCFIND_TEXT characters, is set
 * to its EXTNAME. */
static enum srcfind_status choose_hdu(struct fits_file *file, const char *wanted, struct hdu *hdu,
                                      char *name, struct error *error) {
    struct candidates c = {.damaged = -1};
    for (;;) {
        bool found;
        const enum srcfind_status status = hdu_next(file, hdu, &found, error);
        if (status != SRCFIND_OK && c.named)
            break; /* report that the named HDU is not an image, rather than the later error */
        if (status != SRCFIND_OK)
            return status;
        if (!found)
            break;
        name[0] = '\0';
        header_text(&hdu->header, "EXTNAME", name, SRCFIND_TEXT);
        const bool usable = hdu->is_image && hdu->n_axes >= 2;
        const bool fits = *wanted ? is_named(wanted, hdu, name) : usable;
        if (fits && usable)
            return SRCFIND_OK;
        c.named = c.named || fits;
        if (hdu->is_compressed && !hdu->is_image && c.damaged < 0)
            c.damaged = hdu->number;
        list_hdu(&c.listing, hdu, name);
    }
    return no_image(file, wanted, &c, error);
}

/* --- which plane --- */

/* Lists the axes of an image for messages: `1 (RA---SIN, 300), 2 (DEC--SIN, 200), 3 (FREQ, 4)`. */
static void list_axes(struct text_list *l, const struct image *image,
                      const struct srcfind_image *metadata) {
    for (int i = 0; i < metadata->n_axes; i++) {
        char type[SRCFIND_TEXT] = "";
        header_text(&image->hdu.header, header_keyword("CTYPE", i + 1).text, type, sizeof type);
        append(l, "%s%d (%s%s%lld)", i ? ", " : "", i + 1, type, *type ? ", " : "",
               (long long)metadata->axes[i]);
    }
}

static enum srcfind_status no_plane(const struct image *image, const struct srcfind_image *metadata,
                                    int64_t plane, int axis, struct error *error) {
    struct text_list axes = {0};
    list_axes(&axes, image, metadata);
    return error_set(error, SRCFIND_ERROR_INPUT,
                     "%s: there is no plane %lld on axis %d; its axes are %s", metadata->path,
                     (long long)plane, axis, axes.text);
}

/* Sets metadata->plane, and *first to the number of the plane's first pixel in the data unit. */
static enum srcfind_status choose_plane(const struct image *image,
                                        const struct plane_option *wanted,
                                        struct srcfind_image *metadata, int64_t *first,
                                        struct error *error) {
    int64_t stride = metadata->axes[0] * metadata->axes[1];
    *first = 0;
    for (int i = 0; i < wanted->n; i++) {
        const int64_t planes = i + 2 < metadata->n_axes ? metadata->axes[i + 2] : 1;
        if (wanted->index[i] > planes && !(planes == 1 && wanted->where_there_are))
            return no_plane(image, metadata, wanted->index[i], i + 3, error);
    }
    for (int i = 0; i < metadata->n_axes - 2; i++) {
        const bool is_chosen = i < wanted->n && wanted->index[i] <= metadata->axes[i + 2];
        metadata->plane[i] = is_chosen ? wanted->index[i] : 1;
        *first += (metadata->plane[i] - 1) * stride;
        stride *= metadata->axes[i + 2];
    }
    return SRCFIND_OK;
}

enum srcfind_status image_check_plane(const struct image *image, const struct plane_option *plane,
                                      struct srcfind_image *metadata, struct error *error) {
    int64_t first;
    return choose_plane(image, plane, metadata, &first, error);
}

/* --- which part --- */

/* Sets the size and the first pixel of the part that is chosen. */
static enum srcfind_status choose_part(const struct image_choice *choice,
                                       struct srcfind_image *metadata, struct error *error) {
    const struct trim_option *trim = &choice->trim;
    const bool is_other = choice->trimmed_width > 0 && (choice->trimmed_width != metadata->width ||
                                                        choice->trimmed_height != metadata->height);
    if (trim->x0 == 0 || is_other)
        return SRCFIND_OK;
    if (trim->x1 > metadata->width || trim->y1 > metadata->height)
        return error_set(error, SRCFIND_ERROR_INPUT,
                         "--trim %lld,%lld,%lld,%lld is not in the image, which has %lld columns "
                         "and %lld rows",
                         (long long)trim->x0, (long long)trim->x1, (long long)trim->y0,
                         (long long)trim->y1, (long long)metadata->width,
                         (long long)metadata->height);
    metadata->first_x = trim->x0 - 1;
    metadata->first_y = trim->y0 - 1;
    metadata->width = trim->x1 - trim->x0 + 1;
    metadata->height = trim->y1 - trim->y0 + 1;
    return SRCFIND_OK;
}

void image_trim_source(struct image *image, const struct srcfind_image *metadata) {
    const struct pixel_source whole = image->source;
    if (metadata->width < whole.width || metadata->height < whole.height)
        image->source = trimmed_source(&image->trimmed, &whole, metadata->first_x,
                                       metadata->first_y, metadata->width, metadata->height);
}

struct image_choice image_choice_beside(const struct trim_option *trim,
                                        const struct srcfind_image *metadata) {
    struct image_choice choice = image_choice_default();
    choice.trim = *trim;
    choice.trimmed_width = metadata->axes[0];
    choice.trimmed_height = metadata->axes[1];
    return choice;
}

/* --- units --- */

/* The units of maps that can be converted: the area that each refers to, and the unit of fluxes. */
static const struct known_unit {
    const char *map;
    enum { PER_BEAM, PER_PIXEL, PER_STERADIAN, PER_SQUARE_DEGREE } per;
    const char *flux;
} known_units[] = {
    {"Jy/beam", PER_BEAM, "Jy"},
    {"Jy/pixel", PER_PIXEL, "Jy"},
    {"Jy/sr", PER_STERADIAN, "Jy"},
    {"Jy/deg2", PER_SQUARE_DEGREE, "Jy"}, /* and Jy/arcsec2: WCSLIB cannot convert to sr */
    {"Jy/beam.km/s", PER_BEAM, "Jy km/s"},
    {"Jy/pixel.km/s", PER_PIXEL, "Jy km/s"},
    {"Jy/sr.km/s", PER_STERADIAN, "Jy km/s"},
    {"Jy/deg2.km/s", PER_SQUARE_DEGREE, "Jy km/s"},
};

/* Reads BUNIT, and finds the flux of one unit per beam or per pixel. */
static void image_read_unit(struct image *image, struct srcfind_image *metadata) {
    const struct known_unit *known = known_units, *end = known + sizeof known_units / sizeof *known;
    const double square_degree = (M_PI / 180) * (M_PI / 180); /* sr */
    double factor;
    image->jansky = NAN;
    image->flux = "";
    header_text(&image->hdu.header, "BUNIT", metadata->unit, sizeof metadata->unit);
    while (known < end && !(*metadata->unit && units_conform(metadata->unit, known->map, &factor)))
        known++;
    if (known == end)
        return;
    if (known->per == PER_STERADIAN)
        factor *= metadata->pixel_area * square_degree;
    else if (known->per == PER_SQUARE_DEGREE)
        factor *= metadata->pixel_area;
    image->jansky = factor; /* NaN if the area of a pixel is not known */
    image->per_pixel = known->per != PER_BEAM && isfinite(factor);
    image->flux = known->flux;
}

/* Names the unit of total fluxes: sums over pixels, divided by the beam area if it is known. */
static void name_flux_unit(const struct image *image, struct srcfind_image *metadata) {
    const bool has_beam = isfinite(metadata->beam_pixels);
    if (!*metadata->unit)
        return;
    if (isfinite(image->jansky) && (has_beam || image->per_pixel))
        snprintf(metadata->flux_unit, sizeof metadata->flux_unit, "%s", image->flux);
    else
        snprintf(metadata->flux_unit, sizeof metadata->flux_unit, "%.60s.%s", metadata->unit,
                 has_beam ? "beam" : "pixel");
}

/* --- metadata and opening --- */

struct srcfind_image image_empty_metadata(void) {
    return (struct srcfind_image){.hdu = -1,
                                  .equinox = NAN,
                                  .pixel_area = NAN,
                                  .frequency = NAN,
                                  .beam = {NAN, NAN, NAN},
                                  .beam_source = "",
                                  .beam_pixels = NAN,
                                  .row_beam = {NAN, NAN, NAN}};
}

void image_clear_metadata(struct srcfind_image *metadata) {
    free(metadata->path);
    metadata->path = NULL;
}

static enum srcfind_status describe_shape(const struct image *image, struct srcfind_image *metadata,
                                          struct error *error) {
    const struct hdu *hdu = &image->hdu;
    metadata->hdu = hdu->number;
    metadata->bitpix = hdu->bitpix;
    metadata->n_axes = hdu->n_axes;
    memcpy(metadata->axes, hdu->axes, sizeof metadata->axes);
    metadata->width = hdu->axes[0];
    metadata->height = hdu->axes[1];
    if (hdu->is_compressed)
        header_text(&hdu->header, "ZCMPTYPE", metadata->compression, sizeof metadata->compression);
    else
        snprintf(metadata->compression, sizeof metadata->compression, "%s",
                 image->file.gunzip ? "gzip" : "");
    if (metadata->width > INT32_MAX || metadata->height > INT32_MAX)
        return error_set(
            error, SRCFIND_ERROR_INPUT,
            "%s: an axis of %lld pixels is longer than 2147483647, the most that srcfind reads",
            metadata->path,
            (long long)(metadata->width > metadata->height ? metadata->width : metadata->height));
    return SRCFIND_OK;
}

/* Fills the metadata that come from header keywords: coordinates, beam, observation, units. file:
 * NULL for pixels in memory. */
static enum srcfind_status describe_header(struct image *image, struct fits_file *file,
                                           const struct image_choice *choice,
                                           struct srcfind_image *metadata, struct error *error) {
    enum srcfind_status status = wcs_open(&image->hdu.header, metadata, &image->wcs, error);
    if (status == SRCFIND_OK)
        status = beam_find(&image->hdu.header, file, &choice->beam, metadata, error);
    if (status != SRCFIND_OK)
        return status;
    observation_read(&image->hdu.header, metadata);
    image_read_unit(image, metadata);
    name_flux_unit(image, metadata);
    return SRCFIND_OK;
}

enum srcfind_status image_open_file(struct image *image, const char *path, const char *hdu,
                                    struct srcfind_image *metadata, struct error *error) {
    *image = (struct image){.file.descriptor = -1};
    *metadata = image_empty_metadata();
    metadata->path = strdup(path);
    if (!metadata->path)
        return error_memory(error, "opening an image");
    enum srcfind_status status = fits_file_open(&image->file, metadata->path, error);
    if (status == SRCFIND_OK)
        status = choose_hdu(&image->file, hdu, &image->hdu, metadata->hdu_name, error);
    return status == SRCFIND_OK ? describe_shape(image, metadata, error) : status;
}

/* Closes the reader and the coordinates of a plane. */
static void close_plane(struct image *image) {
    reader_close(&image->reader);
    wcs_close(image->wcs);
    image->reader = (struct reader){0};
    image->wcs = NULL;
}

enum srcfind_status image_take_plane(struct image *image, const struct image_choice *choice,
                                     struct srcfind_image *metadata, struct error *error) {
    int64_t first = 0;
    close_plane(image);
    enum srcfind_status status = choose_plane(image, &choice->plane, metadata, &first, error);
    if (status == SRCFIND_OK)
        status = choose_part(choice, metadata, error);
    if (status == SRCFIND_OK)
        status = describe_header(image, &image->file, choice, metadata, error);
    if (status == SRCFIND_OK)
        status =
            reader_open(&image->reader, &image->file, &image->hdu, first, &image->source, error);
    if (status == SRCFIND_OK)
        image_trim_source(image, metadata);
    if (status == SRCFIND_OK && !isnan(choice->blank))
        image->source =
            changed_source(&image->changed, &image->source,
                           pixel_change_make(choice->blank, false, image->source.swapped));
    return status;
}

enum srcfind_status image_open(struct image *image, const char *path,
                               const struct image_choice *choice, struct srcfind_image *metadata,
                               struct error *error) {
    enum srcfind_status status = image_open_file(image, path, choice->hdu, metadata, error);
    if (status == SRCFIND_OK)
        status = image_take_plane(image, choice, metadata, error);
    return status == SRCFIND_OK ? fits_file_checksum(&image->file, error) : status;
}

enum srcfind_status image_open_memory(struct image *image, const char *header, int64_t width,
                                      int64_t height, const struct image_choice *choice,
                                      struct srcfind_image *metadata, struct error *error) {
    *image = (struct image){.file.descriptor = -1};
    *metadata = image_empty_metadata();
    metadata->path = strdup("");
    if (!metadata->path)
        return error_memory(error, "opening an image");
    metadata->width = metadata->axes[0] = width;
    metadata->height = metadata->axes[1] = height;
    metadata->n_axes = 2;
    metadata->bitpix = -32;
    memcpy(metadata->plane, choice->plane.index, sizeof metadata->plane);
    enum srcfind_status status = choose_part(choice, metadata, error);
    if (status == SRCFIND_OK)
        status = header_from_text(&image->hdu.header, header, error);
    return status == SRCFIND_OK ? describe_header(image, NULL, choice, metadata, error) : status;
}

enum srcfind_status image_unchanged(const struct image *image, struct error *error) {
    const bool is_in_file = image->file.descriptor >= 0;
    return is_in_file ? fits_file_unchanged(&image->file, &image->file.version, error) : SRCFIND_OK;
}

void image_close(struct image *image) {
    close_plane(image);
    hdu_clear(&image->hdu);
    fits_file_close(&image->file);
}
