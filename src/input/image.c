#include "input/image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "input/beam.h"
#include "input/units.h"

/* --- which HDU --- */

/* Whether an --hdu option names this HDU, by number or EXTNAME. */
static bool is_named(const char *wanted, const struct hdu *hdu, const char *name) {
    char *end;
    const long number = strtol(wanted, &end, 10);
    if (*wanted && !*end)
        return number == hdu->number;
    return strcasecmp(wanted, name) == 0;
}

/* `damaged` is the number of a compressed image that makes no sense; -1 where there is none. */
static enum srcfind_status no_image(const struct fits_file *file, const char *wanted, int damaged,
                                    struct error *error) {
    if (!wanted && damaged >= 0)
        return error_set(
            error, SRCFIND_ERROR_INPUT,
            "%s: the keywords of the compressed image in HDU %d contradict each other: "
            "is the file damaged?",
            file->path, damaged);
    if (!wanted)
        return error_set(error, SRCFIND_ERROR_INPUT,
                         "%s: no HDU holds an image of two or more axes", file->path);
    return error_set(error, SRCFIND_ERROR_INPUT, "%s: there is no HDU %s", file->path, wanted);
}

static enum srcfind_status choose_hdu(struct fits_file *file, const char *wanted, struct hdu *hdu,
                                      char *name, struct error *error) {
    for (int damaged = -1;;) {
        bool found;
        const enum srcfind_status status = hdu_next(file, hdu, &found, error);
        if (status != SRCFIND_OK)
            return status;
        if (!found)
            return no_image(file, wanted, damaged, error);
        if (hdu->is_compressed && !hdu->is_image && damaged < 0)
            damaged = hdu->number;
        name[0] = '\0';
        header_text(&hdu->header, "EXTNAME", name, SRCFIND_TEXT);
        const bool usable = hdu->is_image && hdu->n_axes >= 2;
        if (wanted && is_named(wanted, hdu, name) && !usable)
            return error_set(error, SRCFIND_ERROR_INPUT,
                             "%s: HDU %s is not an image of two or more axes", file->path, wanted);
        if (wanted ? is_named(wanted, hdu, name) : usable)
            return SRCFIND_OK;
    }
}

/* --- which plane --- */

static enum srcfind_status choose_plane(const struct srcfind_options *options,
                                        struct srcfind_image *facts, int64_t *first,
                                        struct error *error) {
    int64_t stride = facts->width * facts->height;
    *first = 0;
    for (int i = facts->n_axes - 2; i < options->n_plane; i++)
        if (options->plane[i] > 1)
            return error_set(error, SRCFIND_ERROR_INPUT,
                             "%s: there is no plane %lld on axis %d: the image has %d axes",
                             facts->path, (long long)options->plane[i], i + 3, facts->n_axes);
    for (int i = 0; i < facts->n_axes - 2; i++) {
        const int64_t wanted = i < options->n_plane ? options->plane[i] : 0;
        facts->plane[i] = wanted ? wanted : 1;
        if (facts->plane[i] > facts->axes[i + 2])
            return error_set(error, SRCFIND_ERROR_INPUT,
                             "%s: there is no plane %lld on axis %d, which has %lld", facts->path,
                             (long long)wanted, i + 3, (long long)facts->axes[i + 2]);
        *first += (facts->plane[i] - 1) * stride;
        stride *= facts->axes[i + 2];
    }
    return SRCFIND_OK;
}

/* --- units --- */

/* Finds how many Jy the map unit is, and in what unit total fluxes come. */
static void read_unit(struct image *image, struct srcfind_image *facts) {
    const char *unit = facts->unit;
    header_text(&image->hdu.header, "BUNIT", facts->unit, sizeof facts->unit);
    image->jansky = NAN;
    if (*unit && !units_conform(unit, "Jy/beam", &image->jansky))
        image->per_pixel = units_conform(unit, "Jy/pixel", &image->jansky);
}

/* Sums over pixels, divided by the beam area where there is one. */
static void name_flux_unit(const struct image *image, struct srcfind_image *facts) {
    const bool has_beam = isfinite(facts->beam_pixels);
    if (!*facts->unit)
        return;
    if (isfinite(image->jansky) && (has_beam || image->per_pixel))
        snprintf(facts->flux_unit, sizeof facts->flux_unit, "Jy");
    else
        snprintf(facts->flux_unit, sizeof facts->flux_unit, "%.60s.%s", facts->unit,
                 has_beam ? "beam" : "pixel");
}

/* --- all together --- */

struct srcfind_image image_no_facts(void) {
    return (struct srcfind_image){.hdu = -1,
                                  .equinox = NAN,
                                  .pixel_area = NAN,
                                  .frequency = NAN,
                                  .beam = {NAN, NAN, NAN},
                                  .beam_source = "",
                                  .beam_pixels = NAN};
}

void image_clear_facts(struct srcfind_image *facts) {
    free(facts->path);
    facts->path = NULL;
}

static enum srcfind_status describe_shape(const struct image *image, struct srcfind_image *facts,
                                          struct error *error) {
    const struct hdu *hdu = &image->hdu;
    facts->hdu = hdu->number;
    facts->bitpix = hdu->bitpix;
    facts->n_axes = hdu->n_axes;
    memcpy(facts->axes, hdu->axes, sizeof facts->axes);
    facts->width = hdu->axes[0];
    facts->height = hdu->axes[1];
    if (hdu->is_compressed)
        header_text(&hdu->header, "ZCMPTYPE", facts->compression, sizeof facts->compression);
    else
        snprintf(facts->compression, sizeof facts->compression, "%s",
                 image->file.unpack ? "gzip" : "");
    if (facts->width > INT32_MAX || facts->height > INT32_MAX)
        return error_set(error, SRCFIND_ERROR_INPUT,
                         "%s: an axis of %lld pixels is longer than 2147483647, the most there can "
                         "be",
                         facts->path,
                         (long long)(facts->width > facts->height ? facts->width : facts->height));
    return SRCFIND_OK;
}

enum srcfind_status image_open(struct image *image, const char *path,
                               const struct srcfind_options *options, struct srcfind_image *facts,
                               struct error *error) {
    int64_t first = 0;
    *image = (struct image){.file.descriptor = -1};
    *facts = image_no_facts();
    facts->path = strdup(path);
    if (!facts->path)
        return error_memory(error, "opening an image");
    enum srcfind_status status = fits_file_open(&image->file, facts->path, error);
    if (status == SRCFIND_OK)
        status = choose_hdu(&image->file, options->hdu, &image->hdu, facts->hdu_name, error);
    if (status == SRCFIND_OK)
        status = describe_shape(image, facts, error);
    if (status == SRCFIND_OK)
        status = choose_plane(options, facts, &first, error);
    if (status == SRCFIND_OK)
        status = sky_open(&image->hdu.header, facts, &image->sky, error);
    if (status == SRCFIND_OK)
        beam_find(&image->file, &image->hdu, &options->beam, facts);
    if (status == SRCFIND_OK)
        status =
            reader_open(&image->reader, &image->file, &image->hdu, first, &image->source, error);
    if (status == SRCFIND_OK)
        status = fits_file_checksum(&image->file, error);
    if (status == SRCFIND_OK) {
        read_unit(image, facts);
        name_flux_unit(image, facts);
    }
    return status;
}

void image_close(struct image *image) {
    reader_close(&image->reader);
    sky_close(image->sky);
    hdu_clear(&image->hdu);
    fits_file_close(&image->file);
}
