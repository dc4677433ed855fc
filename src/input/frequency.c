#define _GNU_SOURCE /* strcasestr */
#include "input/frequency.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <wcslib/wcs.h>

#include "common/ascii.h"
#include "input/units.h"
#include "input/wcs_part.h"

static bool is_frequency(double value) {
    return isfinite(value) && value > 0;
}

/* --- the cards of an axis --- */

/* The first axis, from 1, whose CTYPE says that it has frequencies; 0 if none has. */
static int find_frequency_axis(const struct header *header) {
    for (int axis = 1; axis <= MOST_AXES; axis++) {
        char type[SRCFIND_TEXT];
        if (header_text(header, header_keyword("CTYPE", axis).text, type, sizeof type) &&
            ascii_same_start(type, "FREQ", 4) &&
            !strcasestr(type, "-TAB")) /* a table is not read */
            return axis;
    }
    return 0;
}

/* A linear axis by its cards; the step is that of CD where there is no CDELT, and 1 without both
 * (FITS 4.0, table 22). */
struct axis {
    double value, pixel, step, hertz; /* hertz: of the unit */
};

static bool is_hertz(const char *unit, double *hertz) {
    static const struct {
        const char *name;
        double hertz;
    } names[] = {{"Hz", 1}, {"kHz", 1e3}, {"MHz", 1e6}, {"GHz", 1e9}, {"THz", 1e12}};
    if (units_conform(unit, "Hz", hertz))
        return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        *hertz = names[i].hertz;
        if (ascii_same(unit, names[i].name))
            return true;
    }
    return false;
}

/* False if a card cannot be read, or there is no reference frequency. */
static bool read_axis(const struct header *header, int axis, struct axis *a) {
    char matrix[16], unit[SRCFIND_TEXT] = "";
    *a = (struct axis){.step = 1, .hertz = 1};
    snprintf(matrix, sizeof matrix, "CD%d_%d", axis, axis);
    header_text(header, header_keyword("CUNIT", axis).text, unit, sizeof unit);
    return header_real(header, header_keyword("CRVAL", axis).text, &a->value) &&
           is_frequency(a->value) &&
           header_optional_real(header, header_keyword("CRPIX", axis).text, &a->pixel) &&
           header_optional_real(header, matrix, &a->step) &&
           header_optional_real(header, header_keyword("CDELT", axis).text, &a->step) &&
           (!*unit || is_hertz(unit, &a->hertz));
}

/* --- the plane --- */

/* The 1-based coordinate of the plane on axis i, from 0; that of the reference pixel on the axes of
 * the plane itself. */
static double pixel_of(const struct wcsprm *prm, const struct srcfind_image *image, int i) {
    if (i < 2)
        return prm->crpix[i];
    return i - 2 < SRCFIND_MAX_AXES && image->plane[i - 2] ? (double)image->plane[i - 2] : 1;
}

/* The frequency by WCSLIB: by the axis alone or, where the matrix mixes it with others, by all of
 * them. NaN if WCSLIB cannot use it. */
static double by_wcslib(const struct wcsprm *primary, int axis, const struct srcfind_image *image) {
    double pixel[MOST_AXES], intermediate[MOST_AXES], world[MOST_AXES], phi, theta, found = NAN;
    struct wcsprm *part;
    int stat = 0, status = wcs_part_copy(primary, 1, &axis, &part);
    const bool is_alone = part;
    if (!part && primary->naxis <= MOST_AXES)
        status = wcs_part_copy(primary, 0, NULL, &part);
    const int i = is_alone ? 0 : axis - 1;
    for (int j = 0; j < primary->naxis && j < MOST_AXES; j++)
        pixel[j] = pixel_of(primary, image, is_alone ? axis - 1 : j);
    if (part && status == 0 && wcs_part_set_up(part) == 0)
        status = wcsp2s(part, 1, part->naxis, pixel, intermediate, &phi, &theta, world, &stat);
    else
        status = WCSERR_BAD_PARAM;
    if (status == 0 || (status == WCSERR_BAD_PIX && !(stat & 1 << i)))
        found = world[i];
    wcs_part_free(part);
    return found;
}

/* The frequency of the plane on an axis; NaN if it has none. */
static double on_axis(const struct header *header, const struct wcsprm *primary, int axis,
                      const struct srcfind_image *image) {
    struct axis a;
    double found = NAN;
    if (!read_axis(header, axis, &a))
        return NAN;
    /* to WCSLIB, a type in small letters has no unit */
    if (primary && axis <= primary->naxis && strncmp(primary->ctype[axis - 1], "FREQ", 4) == 0)
        found = by_wcslib(primary, axis, image);
    if (isnan(found) && axis > 2 && axis - 2 <= SRCFIND_MAX_AXES) {
        const double plane = (double)image->plane[axis - 3];
        found = (a.value + ((plane > 0 ? plane : 1) - a.pixel) * a.step) * a.hertz;
    }
    return found;
}

double frequency_of_plane(const struct header *header, const struct wcsprm *primary,
                          const struct srcfind_image *image) {
    static const char *const keywords[] = {"RESTFRQ", "RESTFREQ", "FREQ"};
    const int axis = find_frequency_axis(header);
    double frequency = axis > 0 ? on_axis(header, primary, axis, image) : NAN;
    for (size_t i = 0; !is_frequency(frequency) && i < sizeof keywords / sizeof *keywords; i++)
        if (!header_real(header, keywords[i], &frequency))
            frequency = NAN;
    return is_frequency(frequency) ? frequency : NAN;
}
