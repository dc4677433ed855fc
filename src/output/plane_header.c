#include "output/plane_header.h"

#include <stdlib.h>
#include <string.h>

#include "common/ascii.h"
#include "common/parse_number.h"

enum { VALUE_COLUMN = 10 }; /* where the value of a card begins */

/* Keywords of the coordinates of axes. In a pattern, # stands for an axis, @ for one of three
 * digits, and * for digits, letters and blanks up to the end of the keyword. */
static const char *const patterns[] = {
    "CTYPE#  ", "CUNIT#  ", "CNAME#  ", "CRPIX#  ", "CRVAL#  ", "CDELT#  ", "CROTA#  ", "CD#_#   ",
    "PC#_#   ", "CD@@    ", "PC@@    ", "PV#_*   ", "PS#_*   ", "PROJP*  ", "CPDIS#  ", "CQDIS#  ",
    "DP#     ", "DQ#     ", "A_*     ", "B_*     ", "AP_*    ", "BP_*    ", "LONPOLE ", "LATPOLE ",
    "RADESYS ", "RADECSYS", "EQUINOX ", "EPOCH   ",
    /* what frequencies and velocities refer to */
    "RESTFRQ ", "RESTFREQ", "RESTWAV ", "SPECSYS ", "SSYSOBS ", "SSYSSRC ", "VELREF  ", "VELOSYS ",
    "ZSOURCE ",
    /* the solutions of the plates of the Digitized Sky Survey */
    "PLTRA*  ", "PLTDEC* ", "CNPIX#  ", "XPIXELSZ", "YPIXELSZ", "PPO*    ", "AMDX*   ", "AMDY*   "};

/* Reads the number of an axis of at most `most` digits, with zeros before it (PC01_02 is PC1_2),
 * and moves behind it. 0 if there is none. */
static int read_axis(const char *card, int most, int *at) {
    int axis = 0;
    for (int end = *at + most; *at < end && *at < 8 && card[*at] >= '0' && card[*at] <= '9'; ++*at)
        axis = 10 * axis + (card[*at] - '0');
    return axis;
}

static bool fits_pattern(const char *card, const char *pattern, int n_axes) {
    int at = 0;
    for (; *pattern && *pattern != ' ' && *pattern != '*'; pattern++) {
        const bool is_axis = *pattern == '#' || *pattern == '@';
        const int axis = is_axis ? read_axis(card, *pattern == '#' ? 8 : 3, &at) : 0;
        if (is_axis ? axis < 1 || axis > n_axes : at == 8 || card[at++] != *pattern)
            return false;
    }
    return *pattern == '*' || at == 8 || card[at] == ' ';
}

/* Whether a card belongs to the coordinates of the first n axes. */
static bool is_coordinate(const char *card, int n_axes) {
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (fits_pattern(card, patterns[i], n_axes))
            return true;
    return false;
}

/* Whether a card makes a coordinate depend on an axis that the image does not have: PC1_3 in an
 * image of two. */
static bool needs_other_axis(const char *card, int n_axes) {
    return (fits_pattern(card, "CD#_*", n_axes) || fits_pattern(card, "PC#_*", n_axes)) &&
           !is_coordinate(card, n_axes) && header_card_is_number(card) &&
           parse_in_c_locale(card + VALUE_COLUMN, NULL) != 0;
}

/* Whether the value of a card must be a number: all but names are. */
static bool wants_number(const char *card) {
    return strncmp(card, "CR", 2) == 0 || strncmp(card, "CD", 2) == 0 ||
           strncmp(card, "PC", 2) == 0 || strncmp(card, "PV", 2) == 0;
}

/* Whether an axis is one of two that make a position on the sky. */
static bool is_celestial(const struct header *header, const char *keyword) {
    char type[SRCFIND_TEXT] = "";
    header_text(header, keyword, type, sizeof type);
    return strncmp(type, "RA--", 4) == 0 || strncmp(type, "DEC-", 4) == 0 ||
           (ascii_is_letter(*type) &&
            (strncmp(type + 1, "LON", 3) == 0 || strncmp(type + 1, "LAT", 3) == 0));
}

/* Adds the reference pixel of an axis that is cut at a plane, which becomes its only pixel. */
static void add_cut_axis(struct cards *cards, const struct header *header, int axis,
                         int64_t plane) {
    const struct keyword keyword = header_keyword("CRPIX", axis);
    double reference = 0; /* its default (FITS 4.0, section 8.2) */
    header_real(header, keyword.text, &reference);
    reference -= (double)(plane - 1);
    if (reference != 0)
        cards_add_real(cards, keyword.text, reference);
}

/* Whether a card is the reference pixel of an axis beyond the plane. */
static bool is_cut_axis(const char *card, int n_axes) {
    return fits_pattern(card, "CRPIX#", n_axes) && !fits_pattern(card, "CRPIX#", 2);
}

/* Copies the coordinates card by card, so that programs read the same of both; the planes that are
 * not searched are cut off. Coordinates on the sky that srcfind could not read, or of which one
 * axis is not in the plane, are left out: programs refuse them. */
static void copy_coordinates(struct cards *cards, const struct image *image,
                             const struct srcfind_image *metadata) {
    const struct header *header = &image->hdu.header;
    const int n_axes = metadata->n_axes;
    int n = 0;
    bool is_usable = true;
    if (!image->wcs && (is_celestial(header, "CTYPE1") || is_celestial(header, "CTYPE2")))
        return;
    char *usable = header_for_wcslib(header, &n);
    cards->no_memory = cards->no_memory || !usable;
    for (int i = 0; usable && i < n; i++)
        is_usable = is_usable && !needs_other_axis(usable + (size_t)CARD * (size_t)i, n_axes);
    for (int i = 0; usable && is_usable && i < n; i++) {
        const char *card = usable + (size_t)CARD * (size_t)i;
        if (is_coordinate(card, n_axes) && !is_cut_axis(card, n_axes) &&
            (header_card_is_number(card) || !wants_number(card)))
            cards_copy(cards, card);
    }
    for (int axis = 3; usable && is_usable && axis <= n_axes; axis++)
        add_cut_axis(cards, header, axis, metadata->plane[axis - 3]);
    free(usable);
}

/* The image's axes; those beyond the plane have one pixel. */
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
