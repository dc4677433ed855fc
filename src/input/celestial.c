/* How the two axes of the sky are set up for WCSLIB.
 *
 * 1. plane_is_sky: the first two axes must be longitude and latitude by their CTYPE, in either
 *    order.
 * 2. position_is_known, matrix_has_scales, units_are_angles: every number that positions depend on
 *    must be readable, since WCSLIB takes a default for one that is not.
 * 3. repair changes cards that programs write to what WCSLIB knows, as astropy does: SCAMP's
 *    polynomials in PV cards become TPV; left-over PV cards are dropped; frames are spelled.
 * 4. set_up_axes gives WCSLIB these two axes alone, unless they depend on others, so that cards of
 *    other axes take no position away.
 *
 * Always: what cannot be used is no error. *sky is NULL then, and `reason` says in one line why,
 * and how to mend the header; where WCSLIB refuses, the header is set up once more to get its
 * message (ask_why).
 *
 * Cost: once an image. */
#include "input/celestial.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <wcslib/dis.h>
#include <wcslib/lin.h>
#include <wcslib/wcs.h>
#include <wcslib/wcsmath.h>

#include "common/ascii.h"
#include "common/texts.h"
#include "input/frame.h"
#include "input/matrix.h"
#include "input/units.h"
#include "input/wcs_part.h"

/* --- cards that cannot be used --- */

/* Whether a card has one of the numeric keywords of the primary coordinates that positions on the
 * first two axes depend on: CRVAL1, CD1_2, PV2_1, A_0_2, LONPOLE and the like. */
static bool is_position_keyword(const char *card) {
    static const char *const stems[] = {"CRPIX", "CRVAL", "CDELT", "CROTA", "CD", "PC", "PV"};
    static const char *const others[] = {"LONPOLE ", "LATPOLE ", "A_", "B_", "AP_", "BP_"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strncmp(card, others[i], strlen(others[i])) == 0)
            return true;
    for (size_t i = 0; i < sizeof stems / sizeof *stems; i++) {
        const char *index = card + strlen(stems[i]);
        index += strspn(index, "0"); /* PC01_02 is PC1_2, as PC001002 is */
        if (strncmp(card, stems[i], strlen(stems[i])) == 0 && (*index == '1' || *index == '2') &&
            strchr(" _0", index[1]))
            return true;
    }
    return false;
}

/* Whether a card has a keyword that gives the pixel scale of axis 1 or 2. */
static bool is_scale_keyword(const char *card, int axis) {
    static const char *const stems[][7] = {
        {"CDELT1 ", "CD1_", "PC1_", "CD01_", "PC01_", "CD001", "PC001"},
        {"CDELT2 ", "CD2_", "PC2_", "CD02_", "PC02_", "CD002", "PC002"}};
    bool is = false;
    for (int i = 0; i < 7; i++)
        is = is || strncmp(card, stems[axis - 1][i], strlen(stems[axis - 1][i])) == 0;
    return is;
}

/* Writes the reason that the value of a card is no number, with the value; a text without its
 * padding. */
static void name_card(const char *card, char *reason) {
    enum { KEYWORD = 8 };
    const char *value = card + KEYWORD + (card[KEYWORD] == '=');
    int length = CARD - (int)(value - card);
    for (; length > 0 && *value == ' '; length--)
        value++;
    const char *end =
        length > 1 && *value == '\'' ? memchr(value + 1, '\'', (size_t)length - 1) : NULL;
    length = end ? (int)(end - value) : length;
    while (length > 0 && value[length - 1] == ' ')
        length--;
    snprintf(reason, SRCFIND_REASON, "%.*s is no number: %.*s%s", (int)strcspn(card, " ="), card,
             length, value, end ? "'" : "");
    for (char *c = reason; *c; c++)
        *c = ascii_is_printable(*c) ? *c : '?';
}

/* Whether the position keywords can be used: all of them are readable numbers, and both axes have
 * a scale. For an unreadable or missing number WCSLIB takes the default, which gives wrong
 * positions or a meaningless scale. */
static bool position_is_known(const struct header *header, char *reason) {
    bool has_scales[2] = {false, false};
    for (int64_t i = 0; i < header->n_cards; i++) {
        const char *card = header->cards + CARD * i;
        if (is_position_keyword(card) && !header_card_is_number(card)) {
            name_card(card, reason);
            return false;
        }
        has_scales[0] = has_scales[0] || is_scale_keyword(card, 1);
        has_scales[1] = has_scales[1] || is_scale_keyword(card, 2);
    }
    if (!has_scales[0] || !has_scales[1])
        snprintf(reason, SRCFIND_REASON, "there is no CDELT%d", has_scales[0] ? 2 : 1);
    return has_scales[0] && has_scales[1];
}

/* --- which axes --- */

static bool is_longitude(const char *type) {
    return strcmp(type, "RA") == 0 || strncmp(type, "RA--", 4) == 0 ||
           (strlen(type) >= 4 &&
            (strncmp(type + 1, "LON", 3) == 0 ||
             (strncmp(type + 2, "LN", 2) == 0 && (!type[4] || type[4] == '-'))));
}

static bool is_latitude(const char *type) {
    return strcmp(type, "DEC") == 0 || strncmp(type, "DEC-", 4) == 0 ||
           (strlen(type) >= 4 &&
            (strncmp(type + 1, "LAT", 3) == 0 ||
             (strncmp(type + 2, "LT", 2) == 0 && (!type[4] || type[4] == '-'))));
}

int celestial_latitude(const struct wcsprm *prm) {
    return prm->naxis > 0 && is_latitude(prm->ctype[0]) ? 0 : 1;
}

/* The first axis of a kind, from 0; -1 if there is none. */
static int find_first(const struct wcsprm *prm, bool (*is_kind)(const char *type)) {
    for (int i = 0; i < prm->naxis; i++)
        if (is_kind(prm->ctype[i]))
            return i;
    return -1;
}

static const char *type_of(const struct wcsprm *prm, int axis) {
    return *prm->ctype[axis] ? prm->ctype[axis] : "without CTYPE";
}

/* Whether the types of the first two axes would be of the sky in capital letters. */
static bool is_small(const struct wcsprm *prm) {
    char types[2][sizeof *prm->ctype];
    for (int i = 0; i < 2; i++) {
        snprintf(types[i], sizeof types[i], "%s", prm->ctype[i]);
        for (char *c = types[i]; *c; c++)
            *c = ascii_upper(*c);
    }
    return (is_longitude(types[0]) && is_latitude(types[1])) ||
           (is_latitude(types[0]) && is_longitude(types[1]));
}

/* Whether the first two axes say that they are of the sky. */
static bool plane_is_sky(const struct wcsprm *prm, char *reason) {
    const int lon = find_first(prm, is_longitude), lat = find_first(prm, is_latitude);
    if (lon >= 0 && lat >= 0 && lon + lat == 1)
        return true;
    if (prm->naxis < 2 || (!*prm->ctype[0] && !*prm->ctype[1] && lon < 0 && lat < 0))
        return false; /* nothing says that there is a sky */
    const bool is_elsewhere = lon >= 0 && lat >= 0;
    texts_append(reason, SRCFIND_REASON, "%saxis 1 is %.20s, axis 2 %.20s",
                 is_elsewhere ? "its plane is not the sky: " : "", type_of(prm, 0),
                 type_of(prm, 1));
    for (int i = 2; is_elsewhere && i < prm->naxis; i++)
        if (i == lon || i == lat)
            texts_append(reason, SRCFIND_REASON, ", axis %d %.20s", i + 1, prm->ctype[i]);
    if (is_small(prm))
        texts_append(reason, SRCFIND_REASON, ": write CTYPE1 and CTYPE2 in capital letters");
    return false;
}

static bool units_are_angles(const struct wcsprm *prm, char *reason) {
    double factor;
    for (int i = 0; i < 2; i++) {
        if (*prm->cunit[i] && !units_conform(prm->cunit[i], "deg", &factor)) {
            snprintf(reason, SRCFIND_REASON, "CUNIT%d is no angle: %.20s", i + 1, prm->cunit[i]);
            return false;
        }
    }
    return true;
}

/* --- what is not standard --- */

/* Whether the header has polynomials of the SIP convention, on either axis. */
static bool has_sip(const struct wcsprm *prm) {
    const struct disprm *prior = prm->lin.dispre;
    for (int i = 0; prior && prior->dtype && i < prior->naxis; i++)
        if (strcmp(prior->dtype[i], "SIP") == 0)
            return true;
    return false;
}

/* The value of PVi_m, i from 0; NaN if there is no such card. */
static double pv_of(const struct wcsprm *prm, int i, int m) {
    for (int k = 0; k < prm->npv; k++)
        if (prm->pv[k].i == i + 1 && prm->pv[k].m == m)
            return prm->pv[k].value;
    return NAN;
}

static bool has_code(const struct wcsprm *prm, const char *code) {
    return strcmp(prm->ctype[0] + 4, code) == 0 && strcmp(prm->ctype[1] + 4, code) == 0;
}

/* TAN itself has no PV cards of the latitude, and of the longitude none above PVi_4. */
enum { MOST_OF_TAN = 4 };

/* Whether the PV cards of a TAN projection are SCAMP's polynomials: both axes have a linear term,
 * or the longitude has a term that TAN does not have. Beside SIP there has to be a term above
 * PVi_4. Cards of the latitude alone, and those whose linear term is 0, are left over from another
 * projection, as PV2_1 = 1 and PV2_3 = -50 of ZPN. */
static bool is_scamp(const struct wcsprm *prm) {
    const int lat = celestial_latitude(prm), lon = 1 - lat;
    const double first[] = {pv_of(prm, lon, 1), pv_of(prm, lat, 1)};
    const bool is_linear = isfinite(first[0]) && isfinite(first[1]);
    bool is_high = false, is_above = false;
    for (int k = 0; k < prm->npv; k++) {
        const bool is_more = prm->pv[k].m > MOST_OF_TAN;
        is_above = is_above || (is_more && prm->pv[k].i == lon + 1);
        is_high = is_high || (is_more && (prm->pv[k].i == 1 || prm->pv[k].i == 2));
    }
    return has_code(prm, "-TAN") && first[0] != 0 && first[1] != 0 &&
           (is_above || (is_linear && (is_high || !has_sip(prm))));
}

/* Drops the PV cards of the first two axes, but for those up to PVi_`most` of axis `kept`, from 1.
 */
static void drop_parameters(struct wcsprm *prm, int kept, int most) {
    int n = 0;
    for (int k = 0; k < prm->npv; k++)
        if (prm->pv[k].i > 2 || (prm->pv[k].i == kept && prm->pv[k].m <= most))
            prm->pv[n++] = prm->pv[k];
    prm->npv = n;
}

/* The terms of TPV: PVi_0 ... PVi_39. */
enum { TERMS = 40 };

/* The term with the powers of x and y exchanged. */
static int mirrored(int m) {
    static const int ranges[][2] = {{1, 2},   {4, 6},   {7, 10}, {12, 16},
                                    {17, 22}, {24, 30}, {31, 38}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (m >= ranges[i][0] && m <= ranges[i][1])
            return ranges[i][0] + ranges[i][1] - m;
    return m; /* 1, or a power of the radius */
}

/* Replaces the PV cards by cards of TPV, in `cards`, which has room for 2 * TERMS. A missing linear
 * term is 1; WCSLIB would take 0. If the latitude is first, WCSLIB 7.12 confuses the two axes, and
 * the powers are exchanged. The matrix gets degrees, since WCSLIB applies the polynomials before
 * CDELT (https://fits.gsfc.nasa.gov/registry/tpvwcs.html). */
static void make_tpv(struct wcsprm *prm, struct pvcard *cards) {
    const int lat = celestial_latitude(prm);
    int n = 0;
    for (int i = 0; i < 2; i++) {
        memcpy(prm->ctype[i] + 5, "TPV", 3);
        for (int m = 0; m < TERMS; m++) {
            const double value = pv_of(prm, i, m);
            if (isfinite(value) || m == 1)
                cards[n++] =
                    (struct pvcard){i + 1, lat == 1 ? m : mirrored(m), isfinite(value) ? value : 1};
        }
    }
    prm->pv = cards;
    prm->npv = prm->npvmax = n;
    matrix_to_degrees(lat, prm);
}

/* Changes cards of other programs to cards that WCSLIB knows, as astropy does. PV cards of SCAMP
 * are those of TPV, and SIP is then dropped; other PV cards are dropped beside SIP. Frames are
 * spelled as in the standard; an equinox of 0 is none. cards: see make_tpv. */
static void repair(struct wcsprm *prm, struct pvcard *cards) {
    if (is_scamp(prm) || has_code(prm, "-TPV")) {
        if (has_sip(prm))
            lindist(1, &prm->lin, NULL, 0);
        make_tpv(prm, cards);
    } else if (has_sip(prm)) {
        drop_parameters(prm, 0, 0);
    } else if (has_code(prm, "-TAN")) {
        drop_parameters(prm, 2 - celestial_latitude(prm), MOST_OF_TAN);
    }
    frame_spell(prm->radesys);
    if (!(prm->equinox > 0))
        prm->equinox = UNDEFINED;
}

/* --- the axes by themselves --- */

/* Copies the axes of the sky, alone unless they depend on others, and sets them up. Returns
 * WCSLIB's status. */
static int set_up_axes(struct wcsprm *prm, struct wcsprm **sky) {
    static const int axes[] = {1, 2};
    int code;
    if (matrix_mixes_axes(prm)) {
        code = wcs_part_copy(prm, 0, NULL, sky);
    } else {
        matrix_separate(prm);
        code = wcs_part_copy(prm, 2, axes, sky);
    }
    return code == 0 ? wcs_part_set_up(*sky) : code;
}

/* Copies words of WCSLIB, which may have several lines, as one line. */
static void copy_words(const char *words, char *text, size_t size) {
    size_t n = 0;
    for (; *words && n + 1 < size; words++) {
        const char c = ascii_is_printable(*words) ? *words : ' ';
        if (c != ' ' || (n > 0 && text[n - 1] != ' '))
            text[n++] = c;
    }
    text[n > 0 && text[n - 1] == ' ' ? n - 1 : n] = '\0';
}

/* Sets the axes up once more, for WCSLIB's message of its failure. */
static void ask_why(const struct header *header, struct wcsprm *prm, int code, struct wcsprm **sky,
                    char *reason) {
    enum { WORDS = 144 }; /* a reason has room for these, the axes and the way out */
    char types[2][SRCFIND_TEXT] = {"", ""}, words[WORDS];
    if (wcs_part_begin_words()) {
        wcs_part_free(*sky);
        set_up_axes(prm, sky);
        wcs_part_end_words();
    }
    header_text(header, "CTYPE1", types[0], sizeof types[0]);
    header_text(header, "CTYPE2", types[1], sizeof types[1]);
    copy_words(wcs_part_words(*sky, code), words, sizeof words);
    texts_append(reason, SRCFIND_REASON, "WCSLIB says: %s: axis 1 is %.20s, axis 2 %.20s", words,
                 types[0], types[1]);
}

/* Degrees along world axis i per pixel along axis j. */
static double pixel_scale(const struct wcsprm *prm, int i, int j) {
    return prm->cdelt[i] * prm->pc[i * prm->naxis + j];
}

double celestial_pixel_area(const struct wcsprm *sky) {
    return fabs(pixel_scale(sky, 0, 0) * pixel_scale(sky, 1, 1) -
                pixel_scale(sky, 0, 1) * pixel_scale(sky, 1, 0));
}

/* --- all --- */

/* Whether the axes that were set up give positions. */
static bool is_usable(const struct wcsprm *sky, char *reason) {
    const double area = celestial_pixel_area(sky);
    if (sky->lng < 0 || sky->lat < 0 || sky->lng + sky->lat != 1) {
        snprintf(reason, SRCFIND_REASON, "axis 1 is %.20s, axis 2 %.20s", sky->ctype[0],
                 sky->ctype[1]);
        return false;
    }
    if (area > 0 && isfinite(area))
        return true;
    snprintf(reason, SRCFIND_REASON, "the area of a pixel is %g square degrees", area);
    return false;
}

/* Sets up the axes of the sky, after repairs. Returns WCSLIB's status. */
static int make_sky(const struct header *header, struct wcsprm *primary, struct wcsprm **sky,
                    char *reason) {
    struct pvcard cards[2 * TERMS], *const stored = primary->pv;
    const int n = primary->npvmax;
    repair(primary, cards);
    const int code = set_up_axes(primary, sky);
    if (code != 0 && code != WCS_PART_MEMORY)
        ask_why(header, primary, code, sky, reason);
    if (primary->pv == cards) {
        primary->pv = stored; /* is freed with primary */
        primary->npvmax = n;
        primary->npv = 0;
    }
    return code;
}

enum srcfind_status celestial_set_up(const struct header *header, struct wcsprm *primary,
                                     struct wcsprm **sky, char *reason, struct error *error) {
    *sky = NULL;
    *reason = '\0';
    if (!primary || !plane_is_sky(primary, reason))
        return SRCFIND_OK;
    int code = 0;
    if (position_is_known(header, reason) && matrix_has_scales(primary, reason) &&
        units_are_angles(primary, reason)) {
        code = make_sky(header, primary, sky, reason);
        if (code == 0 && is_usable(*sky, reason))
            return SRCFIND_OK;
    }
    texts_append(reason, SRCFIND_REASON, ": correct the header");
    wcs_part_free(*sky);
    *sky = NULL;
    return code == WCS_PART_MEMORY ? error_memory(error, "reading a header") : SRCFIND_OK;
}
