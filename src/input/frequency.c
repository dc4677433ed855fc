/* How the frequency of a plane is found:
 *
 * 1. The first axis whose type is FREQ counts; without one, the first spectral axis of another
 *    type. Its plane gives the frequency, by WCSLIB alone (specx) or, for frequencies that WCSLIB
 *    does not read, by CRVAL, CRPIX and CDELT.
 * 2. Without a spectral axis, an axis of several planes of an unknown type means that the frequency
 *    is not known: its planes may have different ones.
 * 3. Without such an axis, RESTFRQ, RESTFREQ or FREQ gives the frequency of the image.
 *
 * A frequency that is 0, negative or not finite counts as not known. The spectral axis is set up
 * apart from the sky, so an error in one takes nothing from the other. */
#define _GNU_SOURCE /* strcasestr */
#include "input/frequency.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <wcslib/spx.h>
#include <wcslib/wcs.h>
#include <wcslib/wcserr.h>

#include "common/ascii.h"
#include "input/matrix.h"
#include "input/units.h"
#include "input/wcs_part.h"

static bool is_frequency(double value) {
    return isfinite(value) && value > 0;
}

/* --- the cards of an axis --- */

/* The types of spectral axes: WCSLIB's, and FELO of AIPS. */
static const char *const spectral[] = {"FREQ", "AFRQ", "ENER", "WAVN", "VRAD", "WAVE",
                                       "VOPT", "ZOPT", "AWAV", "VELO", "BETA", "FELO"};

/* The first axis, from 1, whose CTYPE begins with one of n types; 0 if none has. */
static int find_axis(const struct header *header, const char *const *types, size_t n) {
    for (int axis = 1; axis <= MOST_AXES; axis++) {
        char type[SRCFIND_TEXT];
        if (!header_text(header, header_keyword("CTYPE", axis).text, type, sizeof type))
            continue;
        for (size_t i = 0; i < n; i++)
            if (ascii_same_start(type, types[i], strlen(types[i])))
                return axis;
    }
    return 0;
}

/* The number of pixels on an axis, from 1: of the image or, for pixels in memory, of the header. */
static int64_t length_of(const struct header *header, const struct srcfind_image *image, int axis) {
    int64_t n = 1;
    if (axis <= image->n_axes && axis <= SRCFIND_MAX_AXES && image->axes[axis - 1] > 0)
        return image->axes[axis - 1];
    return header_indexed(header, "NAXIS", axis, &n) ? n : 1;
}

/* The first axis beyond the plane, from 1, that has several planes and no type or an unknown type,
 * such as VLSR: its planes may have different frequencies. 0 if there is none. */
static int find_unknown(const struct header *header, const struct srcfind_image *image) {
    static const char *const others[] = {"STOKES", "COMPLEX", "CUBEFACE", "TIME", "UT", "TAI"};
    for (int axis = 3; axis <= MOST_AXES; axis++) {
        char type[SRCFIND_TEXT] = "";
        bool is_known = length_of(header, image, axis) <= 1;
        header_text(header, header_keyword("CTYPE", axis).text, type, sizeof type);
        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            is_known = is_known || ascii_same_start(type, others[i], strlen(others[i]));
        if (!is_known)
            return axis;
    }
    return 0;
}

/* A linear axis, from its cards. The step is CDELT, or else CD, or else 1 (FITS 4.0, table 22). */
struct axis {
    double value, pixel, step, hertz; /* hertz: the unit in Hz */
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

/* Reads a linear axis. False if a card cannot be read. */
static bool read_axis(const struct header *header, int axis, struct axis *a) {
    char matrix[32];
    *a = (struct axis){.step = 1};
    snprintf(matrix, sizeof matrix, "CD%d_%d", axis, axis);
    return header_optional_real(header, header_keyword("CRVAL", axis).text, &a->value) &&
           header_optional_real(header, header_keyword("CRPIX", axis).text, &a->pixel) &&
           header_optional_real(header, matrix, &a->step) &&
           header_optional_real(header, header_keyword("CDELT", axis).text, &a->step);
}

static bool has_card(const struct header *header, const char *keyword) {
    int64_t i = 0;
    return header_next(header, keyword, &i);
}

/* Whether the reference pixel has a frequency, or the axis is linear, has all cards, and its first
 * plane has a frequency. 0 Hz stands for an unknown frequency. */
static bool has_reference(const struct header *header, int axis, const struct axis *a) {
    char type[SRCFIND_TEXT] = "", matrix[32];
    if (is_frequency(a->value))
        return true;
    header_text(header, header_keyword("CTYPE", axis).text, type, sizeof type);
    snprintf(matrix, sizeof matrix, "CD%d_%d", axis, axis);
    return is_frequency(a->value + (1 - a->pixel) * a->step) && !strchr(type, '-') &&
           has_card(header, header_keyword("CRVAL", axis).text) &&
           has_card(header, header_keyword("CRPIX", axis).text) &&
           (has_card(header, header_keyword("CDELT", axis).text) || has_card(header, matrix));
}

/* Whether an axis has a reference frequency, and a unit of frequency or no unit. */
static bool has_frequencies(const struct header *header, int axis, struct axis *a) {
    char unit[SRCFIND_TEXT] = "";
    a->hertz = 1;
    header_text(header, header_keyword("CUNIT", axis).text, unit, sizeof unit);
    return has_reference(header, axis, a) && (!*unit || is_hertz(unit, &a->hertz));
}

/* --- the plane --- */

/* The 1-based coordinate of the plane on axis i, from 0. On the axes of the plane itself it is the
 * reference pixel. */
static double pixel_of(const struct wcsprm *prm, const struct srcfind_image *image, int i) {
    if (i < 2)
        return prm->crpix[i];
    return i - 2 < SRCFIND_MAX_AXES && image->plane[i - 2] ? (double)image->plane[i - 2] : 1;
}

/* Spells type and unit of a spectral axis, from 0, as WCSLIB knows them: the type in capital
 * letters, m/s and km/s in small ones. The type FREQ stays as it is. */
static void spell_axis(struct wcsprm *part, int i) {
    static const char *const units[] = {"m/s", "km/s"};
    if (ascii_same_start(part->ctype[i], spectral[0], strlen(spectral[0])))
        return;
    for (char *c = part->ctype[i]; *c; c++)
        *c = ascii_upper(*c);
    for (int k = 0; k < 2; k++)
        if (ascii_same(part->cunit[i], units[k]))
            snprintf(part->cunit[i], sizeof part->cunit[i], "%s", units[k]);
}

/* The frequency of a world coordinate on axis i, from 0; NaN if WCSLIB does not know its type, or
 * if it is a velocity and the rest frequency is missing. */
static double to_frequency(const struct wcsprm *part, int i, double value) {
    enum { SPECTRAL = 3 }; /* the thousands of WCSLIB's types */
    static const char *const velocities[] = {"VRAD", "VOPT", "ZOPT", "VELO", "BETA"};
    struct spxprm all = {.err = NULL};
    char type[5];
    snprintf(type, sizeof type, "%.4s", part->ctype[i]);
    if (part->types[i] / 1000 != SPECTRAL)
        return NAN;
    for (size_t k = 0; k < sizeof velocities / sizeof *velocities; k++)
        if (strcmp(type, velocities[k]) == 0 && part->restfrq == 0 && part->restwav == 0)
            return NAN;
    const int status = specx(type, value, part->restfrq, part->restwav, &all);
    wcserr_clear(&all.err);
    return status == 0 ? all.freq : NAN;
}

/* The frequency by WCSLIB: from the axis alone or, if the matrix mixes it with others, from all
 * axes. NaN if WCSLIB cannot use the axis. */
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
    if (part)
        spell_axis(part, i);
    if (part && status == 0 && wcs_part_set_up(part) == 0)
        status = wcsp2s(part, 1, part->naxis, pixel, intermediate, &phi, &theta, world, &stat);
    else
        status = WCSERR_BAD_PARAM;
    if (status == 0 || (status == WCSERR_BAD_PIX && !(stat & 1 << i)))
        found = to_frequency(part, i, world[i]);
    wcs_part_free(part);
    return found;
}

/* The frequency of the plane on an axis of frequencies, by WCSLIB or, for types in small letters,
 * by the cards of the axis; NaN if it has none. */
static double on_frequencies(const struct wcsprm *primary, int axis, const struct axis *a,
                             const struct srcfind_image *image) {
    double found = NAN;
    if (primary && axis <= primary->naxis && strncmp(primary->ctype[axis - 1], "FREQ", 4) == 0)
        found = by_wcslib(primary, axis, image);
    if (isnan(found) && axis > 2 && axis - 2 <= SRCFIND_MAX_AXES) {
        const double plane = (double)image->plane[axis - 3];
        found = (a->value + ((plane > 0 ? plane : 1) - a->pixel) * a->step) * a->hertz;
    }
    return found;
}

/* The frequency of the plane on a spectral axis; NaN if it has none. Tables of coordinates (-TAB)
 * are not read. */
static double on_axis(const struct header *header, const struct wcsprm *primary, int axis,
                      bool has_frequency, const struct srcfind_image *image) {
    struct axis a;
    char type[SRCFIND_TEXT] = "";
    header_text(header, header_keyword("CTYPE", axis).text, type, sizeof type);
    if (strcasestr(type, "-TAB") || !read_axis(header, axis, &a))
        return NAN;
    if (has_frequency)
        return has_frequencies(header, axis, &a) ? on_frequencies(primary, axis, &a, image) : NAN;
    return primary && axis <= primary->naxis ? by_wcslib(primary, axis, image) : NAN;
}

/* Writes why the axis gives no frequency. */
static void describe(const struct header *header, int axis, char *reason) {
    char type[SRCFIND_TEXT] = "";
    header_text(header, header_keyword("CTYPE", axis).text, type, sizeof type);
    snprintf(reason, SRCFIND_REASON,
             "axis %d (%.20s) gives none: correct its CTYPE%d, CUNIT%d and CRVAL%d, or, if it has "
             "velocities, add RESTFRQ, in Hz",
             axis, *type ? type : "without CTYPE", axis, axis, axis);
}

/* The frequency of an image without a spectral axis; NaN if its header tells none. */
static double of_image(const struct header *header) {
    static const char *const keywords[] = {"RESTFRQ", "RESTFREQ", "FREQ"};
    double frequency;
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (header_real(header, keywords[i], &frequency) && is_frequency(frequency))
            return frequency;
    return NAN;
}

double frequency_of_plane(const struct header *header, const struct wcsprm *primary,
                          const struct srcfind_image *image, char *reason) {
    const int of_frequencies = find_axis(header, spectral, 1);
    int axis = of_frequencies > 0 ? of_frequencies
                                  : find_axis(header, spectral, sizeof spectral / sizeof *spectral);
    double frequency = NAN;
    *reason = '\0';
    if (axis > 0)
        frequency = on_axis(header, primary, axis, of_frequencies > 0, image);
    else if ((axis = find_unknown(header, image)) == 0)
        frequency = of_image(header);
    if (axis > 0 && !is_frequency(frequency))
        describe(header, axis, reason);
    return is_frequency(frequency) ? frequency : NAN;
}
