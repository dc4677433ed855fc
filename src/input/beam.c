#include "input/beam.h"

#include <math.h>
#include <stdio.h>

#include "input/beam_history.h"
#include "input/beam_table.h"
#include "input/usable_beam.h"

/* Without BMIN the beam is circular; without BPA its position angle is 0 (north). */
static bool from_keywords(const struct header *header, double pixel_area,
                          struct srcfind_beam *beam) {
    if (!header_real(header, "BMAJ", &beam->major))
        return false;
    beam->minor = beam->major;
    beam->angle = 0;
    header_real(header, "BMIN", &beam->minor);
    header_real(header, "BPA", &beam->angle);
    return beam_is_usable(beam, pixel_area);
}

/* Exchanges the axes of a beam if its major axis is the smaller one. Returns whether it did. */
static bool order_axes(struct srcfind_beam *beam) {
    const double major = beam->minor;
    if (!(beam->major < beam->minor))
        return false;
    beam->minor = beam->major;
    beam->major = major;
    beam->angle += beam->angle > 90 ? -90 : 90;
    return true;
}

/* Whether two beams differ by more than rounding: by a hundredth of an axis or, if they are
 * elongated, by a degree. */
static bool are_different(const struct srcfind_beam *a, const struct srcfind_beam *b) {
    static const double SHARE = 0.01, ANGLE = 1;
    return fabs(a->major - b->major) > SHARE * b->major ||
           fabs(a->minor - b->minor) > SHARE * b->minor ||
           (b->minor < (1 - SHARE) * b->major && fabs(remainder(a->angle - b->angle, 180)) > ANGLE);
}

/* Sets row_beam of the image if the BEAMS table has another beam for the plane than `beam`, or
 * none. */
static void compare_with_row(const struct srcfind_beam *beam, struct fits_file *file,
                             const struct header *header, struct srcfind_image *image) {
    struct srcfind_beam row;
    const enum beam_row found = file ? beam_table_find(file, header, image, &row) : BEAM_NO_TABLE;
    if (found == BEAM_EMPTY_ROW)
        image->row_beam = (struct srcfind_beam){0, 0, 0};
    if (found != BEAM_ROW)
        return;
    order_axes(&row);
    if (are_different(beam, &row))
        image->row_beam = row;
}

/* Returns an error if the beam of the option cannot be used. */
static enum srcfind_status check_option(const struct srcfind_image *image,
                                        const struct srcfind_beam *beam, struct error *error) {
    const double least = 3600 * NARROWEST_BEAM * sqrt(image->pixel_area);
    char pixel[64] = "";
    if (isfinite(least))
        snprintf(pixel, sizeof pixel, ", %.3g arcsec", least);
    if (isnan(beam->major) || isnan(beam->minor) || beam_is_usable(beam, image->pixel_area))
        return SRCFIND_OK;
    return error_set(error, SRCFIND_ERROR_INPUT,
                     "%s: --beam %g,%g,%g is no beam of this image: axes are in arcsec, and at "
                     "least a thousandth of a pixel%s",
                     image->path, 3600 * beam->major, 3600 * beam->minor, beam->angle, pixel);
}

static void set_area(struct srcfind_image *image) {
    image->beam_pixels =
        M_PI * image->beam.major * image->beam.minor / (4 * M_LN2) / image->pixel_area;
}

enum srcfind_status beam_find(const struct header *header, struct fits_file *file,
                              const struct beam_option *option, struct srcfind_image *image,
                              struct error *error) {
    struct srcfind_beam beam = {option->major / 3600, option->minor / 3600, option->angle};
    enum beam_row row = BEAM_NO_TABLE;
    const enum srcfind_status status = check_option(image, &beam, error);
    if (status != SRCFIND_OK)
        return status;
    if (beam_is_usable(&beam, image->pixel_area))
        image->beam_source = "option";
    else if (from_keywords(header, image->pixel_area, &beam))
        image->beam_source = "keywords";
    else if (beam_history_find(header, image->pixel_area, &beam))
        image->beam_source = "history";
    else if (file)
        row = beam_table_find(file, header, image, &beam);
    if (row == BEAM_ROW)
        image->beam_source = "table";
    image->beam_row_is_missing = row == BEAM_NO_ROW || row == BEAM_EMPTY_ROW;
    if (*image->beam_source) {
        image->beam_is_turned = order_axes(&beam);
        image->beam = beam;
    }
    if (*image->beam_source == 'k' || *image->beam_source == 'h')
        compare_with_row(&beam, file, header, image);
    set_area(image);
    return SRCFIND_OK;
}

void beam_take_row(struct srcfind_image *image) {
    const bool is_beam = image->row_beam.major > 0;
    if (!isfinite(image->row_beam.major))
        return;
    image->beam = is_beam ? image->row_beam : (struct srcfind_beam){NAN, NAN, NAN};
    image->beam_source = is_beam ? "table" : "";
    image->beam_row_is_missing = !is_beam;
    set_area(image);
}
