#include "output/plane_header.h"

#include <stdlib.h>
#include <string.h>

#include "common/ascii.h"
#include "common/parse_number.h"

enum { VALUE_COLUMN = 10 }; /* where the value of a card begins */

/* Keywords of the coordinates of axis 1 or 2 alone. In a pattern, # stands for such an axis, and *
 * for digits, letters and blanks up to the end of the keyword. */
static const char *const patterns[] = {
    "CTYPE#  ", "CUNIT#  ", "CNAME#  ", "CRPIX#  ", "CRVAL#  ", "CDELT#  ", "CROTA#  ", "CD#_#   ",
    "PC#_#   ", "CD00#00#", "PC00#00#", "PV#_*   ", "PS#_*   ", "PROJP*  ", "CPDIS#  ", "CQDIS#  ",
    "DP#     ", "DQ#     ", "A_*     ", "B_*     ", "AP_*    ", "BP_*    ", "LONPOLE ", "LATPOLE ",
    "RADESYS ", "RADECSYS", "EQUINOX ", "EPOCH   ",
    /* the solutions of the plates of the Digitized Sky Survey */
    "PLTRA*  ", "PLTDEC* ", "CNPIX#  ", "XPIXELSZ", "YPIXELSZ", "PPO*    ", "AMDX*   ", "AMDY*   "};

static bool fits_pattern(const char *card, const char *pattern) {
    int i = 0;
    for (; *pattern && *pattern != '*' && i < 8; pattern++, i++) {
        while (*pattern == '#' && card[i] == '0' && i < 7)
            i++; /* PC01_02 is PC1_2 */
        if (*pattern == '#' ? card[i] != '1' && card[i] != '2' : card[i] != *pattern)
            return false;
    }
    return pattern[strspn(pattern, " *")] == '\0';
}

/* Whether a card belongs to the coordinates of the first two axes. */
static bool is_coordinate(const char *card) {
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (fits_pattern(card, patterns[i]))
            return true;
    return false;
}

/* Whether a card makes a coordinate of the plane depend on a further axis: PC1_3 and the like. */
static bool mixes_axes(const char *card) {
    return (fits_pattern(card, "CD#_*") || fits_pattern(card, "PC#_*")) && !is_coordinate(card) &&
           header_card_is_number(card) && parse_in_c_locale(card + VALUE_COLUMN, NULL) != 0;
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

/* Copies the coordinates card by card, so that programs read the same of both. Coordinates on the
 * sky that srcfind could not read, or of which one axis is not in the plane, are left out: programs
 * refuse them. So are those that depend on the plane, which a map does not have. */
static void copy_coordinates(struct cards *cards, const struct image *image) {
    const struct header *header = &image->hdu.header;
    int n = 0;
    bool usable_in_plane = true;
    if (!image->wcs && (is_celestial(header, "CTYPE1") || is_celestial(header, "CTYPE2")))
        return;
    char *usable = header_for_wcslib(header, &n);
    cards->no_memory = cards->no_memory || !usable;
    for (int i = 0; usable && i < n; i++)
        usable_in_plane = usable_in_plane && !mixes_axes(usable + (size_t)CARD * (size_t)i);
    for (int i = 0; usable && usable_in_plane && i < n; i++) {
        const char *card = usable + (size_t)CARD * (size_t)i;
        if (is_coordinate(card) && (header_card_is_number(card) || !wants_number(card)))
            cards_copy(cards, card);
    }
    free(usable);
}

void plane_header_add(struct cards *cards, int bitpix, const struct image *image,
                      const struct srcfind_image *metadata) {
    cards_add_logical(cards, "SIMPLE", true);
    cards_add_integer(cards, "BITPIX", bitpix);
    cards_add_integer(cards, "NAXIS", 2);
    cards_add_integer(cards, "NAXIS1", metadata->width);
    cards_add_integer(cards, "NAXIS2", metadata->height);
    copy_coordinates(cards, image);
    cards_add_real(cards, "FREQ", metadata->frequency);
    cards_add_real(cards, "BMAJ", metadata->beam.major);
    cards_add_real(cards, "BMIN", metadata->beam.minor);
    cards_add_real(cards, "BPA", metadata->beam.angle);
    cards_add_text(cards, "DATE-OBS", metadata->date_obs);
    cards_add_text(cards, "TELESCOP", metadata->telescope);
    cards_add_text(cards, "OBJECT", metadata->object);
}
