#include "output/plane_header.h"

#include <stdlib.h>
#include <string.h>

#include "common/ascii.h"
#include "common/parse_number.h"
#include "input/fits/keyword_pattern.h"
#include "input/wcs_cards.h"

enum { VALUE_COLUMN = 10 }; /* where the value of a card begins */

/* Keywords of the coordinates of axes. */
static const char *const patterns[] = {
    "CTYPE#  ", "CUNIT#  ", "CNAME#  ", "CRPIX#  ", "CRVAL#  ", "CDELT#  ", "CROTA#  ", "CD#_#   ",
    "PC#_#   ", "CD@@    ", "PC@@    ", "PV#_*   ", "PS#_*   ", "PROJP*  ", "A_*     ", "B_*     ",
    "AP_*    ", "BP_*    ", "LONPOLE ", "LATPOLE ", "RADESYS ", "RADECSYS", "EQUINOX ", "EPOCH   ",
    /* what frequencies and velocities refer to */
    "RESTFRQ ", "RESTFREQ", "RESTWAV ", "SPECSYS ", "SSYSOBS ", "SSYSSRC ", "VELREF  ", "VELOSYS ",
    "ZSOURCE ",
    /* the solutions of the plates of the Digitized Sky Survey */
    "PLTRA*  ", "PLTDEC* ", "CNPIX#  ", "XPIXELSZ", "YPIXELSZ", "PPO*    ", "AMDX*   ", "AMDY*   "};

/* Whether a card belongs to the coordinates of the first n axes. */
static bool is_coordinate(const char *card, int n_axes) {
    return keyword_fits_one(card, patterns, sizeof patterns / sizeof *patterns, n_axes);
}

/* Whether a card makes a coordinate depend on an axis that the map does not have: PC1_3 in a map of
 * two axes. */
static bool needs_other_axis(const char *card, int n_axes) {
    return (keyword_fits(card, "CD#_*", n_axes) || keyword_fits(card, "PC#_*", n_axes)) &&
           !is_coordinate(card, n_axes) && header_card_is_number(card) &&
           parse_in_c_locale(card + VALUE_COLUMN, NULL) != 0;
}

/* Whether the value of a card must be a number: names are texts, all others numbers. */
static bool wants_number(const char *card) {
    return strncmp(card, "CR", 2) == 0 || strncmp(card, "CD", 2) == 0 ||
           strncmp(card, "PC", 2) == 0 || strncmp(card, "PV", 2) == 0;
}

/* Whether the axis of a keyword is a longitude or a latitude. */
static bool is_celestial(const struct header *header, const char *keyword) {
    char type[SRCFIND_TEXT] = "";
    header_text(header, keyword, type, sizeof type);
    return strncmp(type, "RA--", 4) == 0 || strncmp(type, "DEC-", 4) == 0 ||
           (ascii_is_letter(*type) &&
            (strncmp(type + 1, "LON", 3) == 0 || strncmp(type + 1, "LAT", 3) == 0));
}

/* The pixels of an axis, from 1 on, before the first one of the map. */
static int64_t cut_off(const struct srcfind_image *metadata, int axis) {
    return axis == 1   ? metadata->first_x
           : axis == 2 ? metadata->first_y
                       : metadata->plane[axis - 3] - 1;
}

/* Adds the reference pixel of an axis whose first pixels are cut off. */
static void add_cut_axis(struct cards *cards, const struct header *header, int axis, int64_t n) {
    const struct keyword keyword = header_keyword("CRPIX", axis);
    const struct keyword of_plate = header_keyword("CNPIX", axis);
    double reference = 0, corner; /* the default of CRPIX (FITS 4.0, section 8.2) */
    header_real(header, keyword.text, &reference);
    reference -= (double)n;
    if (reference != 0)
        cards_add_pixel(cards, keyword.text, reference);
    if (axis <= 2 && header_real(header, of_plate.text, &corner))
        cards_add_pixel(cards, of_plate.text, corner + (double)n);
}

/* Whether a card is the reference pixel, or the corner of a plate, of an axis that add_cut_axis
 * adds: one beyond the plane, or one of which first pixels are cut off. */
static bool is_cut_axis(const char *card, const struct srcfind_image *metadata) {
    int axis = 1;
    while (axis <= metadata->n_axes && !keyword_fits(card, "CRPIX#", axis) &&
           !(axis <= 2 && keyword_fits(card, "CNPIX#", axis)))
        axis++;
    return axis <= metadata->n_axes && (axis > 2 || cut_off(metadata, axis) > 0);
}

/* Copies the coordinates card by card, so that programs read the same from map and image. Other
 * planes are cut off. Sky coordinates that srcfind could not read, or with one axis outside the
 * plane, are left out: programs refuse them. */
static void copy_coordinates(struct cards *cards, const struct image *image,
                             const struct srcfind_image *metadata) {
    const struct header *header = &image->hdu.header;
    const int n_axes = metadata->n_axes;
    int n = 0;
    bool is_usable = true;
    if (!image->wcs && (is_celestial(header, "CTYPE1") || is_celestial(header, "CTYPE2")))
        return;
    char *usable = wcs_cards_make(header, &n, NULL);
    cards->no_memory = cards->no_memory || !usable;
    for (int i = 0; usable && i < n; i++)
        is_usable = is_usable && !needs_other_axis(usable + (size_t)CARD * (size_t)i, n_axes);
    for (int i = 0; usable && is_usable && i < n; i++) {
        const char *card = usable + (size_t)CARD * (size_t)i;
        if (is_coordinate(card, n_axes) && !is_cut_axis(card, metadata) &&
            (header_card_is_number(card) || !wants_number(card)))
            cards_copy(cards, card);
    }
    for (int axis = 1; usable && is_usable && axis <= n_axes; axis++)
        if (axis > 2 || cut_off(metadata, axis) > 0)
            add_cut_axis(cards, header, axis, cut_off(metadata, axis));
    free(usable);
}

/* Adds the axes of the image; those beyond the plane get one pixel. */
static void add_shape(struct cards *cards, const struct srcfind_image *metadata) {
    cards_add_integer(cards, "NAXIS", metadata->n_axes);
    cards_add_integer(cards, "NAXIS1", metadata->width);
    cards_add_integer(cards, "NAXIS2", metadata->height);
    for (int axis = 3; axis <= metadata->n_axes; axis++)
        cards_add_integer(cards, header_keyword("NAXIS", axis).text, 1);
}

void plane_header_add(struct cards *cards, int bitpix, const struct image *image,
                      const struct srcfind_image *metadata) {
    cards_add_logical(cards, "SIMPLE", true);
    cards_add_integer(cards, "BITPIX", bitpix);
    add_shape(cards, metadata);
    copy_coordinates(cards, image, metadata);
    cards_add_real(cards, "FREQ", metadata->frequency);
    cards_add_real(cards, "BMAJ", metadata->beam.major);
    cards_add_real(cards, "BMIN", metadata->beam.minor);
    cards_add_real(cards, "BPA", metadata->beam.angle);
    cards_add_text(cards, "DATE-OBS", metadata->date_obs);
    cards_add_text(cards, "TELESCOP", metadata->telescope);
    cards_add_text(cards, "OBJECT", metadata->object);
}
