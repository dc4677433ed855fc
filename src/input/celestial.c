#include "input/celestial.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <wcslib/dis.h>
#include <wcslib/lin.h>
#include <wcslib/wcs.h>
#include <wcslib/wcsmath.h>

#include "input/frame.h"
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

/* Says that the value of a card is no number, with the value. */
static void name_card(const char *card, char *reason) {
    enum { KEYWORD = 8 };
    const char *value = card + KEYWORD + (card[KEYWORD] == '=');
    int length = CARD - (int)(value - card);
    for (; length > 0 && *value == ' '; length--)
        value++;
    while (length > 0 && value[length - 1] == ' ')
        length--;
    snprintf(reason, SRCFIND_REASON, "%.*s is no number: %.*s", (int)strcspn(card, " ="), card,
             length, value);
    for (char *c = reason; *c; c++)
        *c = isprint((unsigned char)*c) ? *c : '?';
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

static void cut_blanks(struct wcsprm *prm) {
    for (int i = 0; i < prm->naxis; i++)
        for (size_t n = strlen(prm->ctype[i]); n > 0 && prm->ctype[i][n - 1] == ' '; n--)
            prm->ctype[i][n - 1] = '\0';
}

/* The first axis of a kind, from 0; -1 if there is none. */
static int find_axis(const struct wcsprm *prm, bool (*is_kind)(const char *type)) {
    for (int i = 0; i < prm->naxis; i++)
        if (is_kind(prm->ctype[i]))
            return i;
    return -1;
}

static const char *type_of(const struct wcsprm *prm, int axis) {
    return *prm->ctype[axis] ? prm->ctype[axis] : "without CTYPE";
}

/* Whether the first two axes say that they are of the sky. */
static bool plane_is_sky(const struct wcsprm *prm, char *reason) {
    const int lon = find_axis(prm, is_longitude), lat = find_axis(prm, is_latitude);
    if (lon >= 0 && lat >= 0 && lon + lat == 1)
        return true;
    if (prm->naxis < 2 || (!*prm->ctype[0] && !*prm->ctype[1] && lon < 0 && lat < 0))
        return false; /* nothing says that there is a sky */
    if (lon >= 0 && lat >= 0)
        snprintf(reason, SRCFIND_REASON,
                 "its plane is not the sky: axis 1 is %.20s, axis 2 %.20s, while %.20s is axis %d "
                 "and %.20s axis %d",
                 type_of(prm, 0), type_of(prm, 1), prm->ctype[lon], lon + 1, prm->ctype[lat],
                 lat + 1);
    else
        snprintf(reason, SRCFIND_REASON, "axis 1 is %.20s, axis 2 %.20s", type_of(prm, 0),
                 type_of(prm, 1));
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

/* Whether the header has polynomials of the SIP convention. */
static bool has_sip(const struct wcsprm *prm) {
    const struct disprm *prior = prm->lin.dispre;
    return prior && prior->dtype && strcmp(prior->dtype[0], "SIP") == 0;
}

/* The value of PVi_m, i from 0; NaN if there is no such card. */
static double pv_of(const struct wcsprm *prm, int i, int m) {
    for (int k = 0; k < prm->npv; k++)
        if (prm->pv[k].i == i + 1 && prm->pv[k].m == m)
            return prm->pv[k].value;
    return NAN;
}

static bool is_tan(const struct wcsprm *prm) {
    return strcmp(prm->ctype[0] + 4, "-TAN") == 0 && strcmp(prm->ctype[1] + 4, "-TAN") == 0;
}

/* Whether the PV cards of a TAN projection are SCAMP's polynomials: TAN has no parameter of the
 * latitude, and its longitude has at most PVi_4. Beside SIP it takes a term above the first order.
 * Cards whose linear term is 0 are left over from another projection. */
static bool is_scamp(const struct wcsprm *prm) {
    const int lon = is_longitude(prm->ctype[0]) ? 0 : 1, lat = 1 - lon;
    bool is_polynomial = false;
    for (int k = 0; k < prm->npv; k++) {
        const bool is_ours = prm->pv[k].i == 1 || prm->pv[k].i == 2;
        is_polynomial = is_polynomial || (is_ours && prm->pv[k].m > 4) ||
                        (prm->pv[k].i == lat + 1 && !has_sip(prm));
    }
    return is_tan(prm) && is_polynomial && pv_of(prm, lon, 1) != 0 && pv_of(prm, lat, 1) != 0;
}

/* Drops the PV cards of the first two axes. */
static void drop_parameters(struct wcsprm *prm) {
    int n = 0;
    for (int k = 0; k < prm->npv; k++)
        if (prm->pv[k].i > 2)
            prm->pv[n++] = prm->pv[k];
    prm->npv = n;
}

/* Changes what programs write to what WCSLIB knows, as astropy does: PV cards of SCAMP, which are
 * those of the TPV projection (https://fits.gsfc.nasa.gov/registry/tpvwcs.html), and then SIP is
 * nothing; else PV cards are nothing beside SIP. Frames in other spellings; an equinox of 0, which
 * stands for none. */
static void repair(struct wcsprm *prm) {
    if (is_scamp(prm)) {
        memcpy(prm->ctype[0] + 5, "TPV", 3);
        memcpy(prm->ctype[1] + 5, "TPV", 3);
        if (has_sip(prm))
            lindist(1, &prm->lin, NULL, 0);
    } else if (has_sip(prm)) {
        drop_parameters(prm);
    }
    frame_spell(prm->radesys);
    if (!(prm->equinox > 0))
        prm->equinox = UNDEFINED;
}

/* --- the matrix --- */

enum { HAS_CD = 2 };

/* Whether the rows of axes 1 and 2 in the CD matrix, if there is one, have numbers other than 0.
 * wcsfix() replaces rows of zeros by a scale of 1 degree per pixel. */
static bool has_cd_rows(const struct wcsprm *prm, char *reason) {
    const double *cd = prm->cd;
    if (!(prm->altlin & HAS_CD))
        return true;
    for (int i = 0; i < 2; i++, cd += prm->naxis) {
        if (cd[0] == 0 && cd[1] == 0) {
            snprintf(reason, SRCFIND_REASON, "CD%d_1 and CD%d_2 are 0", i + 1, i + 1);
            return false;
        }
    }
    return true;
}

/* Whether a matrix lets axis 1 or 2 depend on a further one. */
static bool mixes_axes(const double *matrix, int n) {
    for (int i = 0; i < 2; i++)
        for (int j = 2; j < n; j++)
            if (matrix[i * n + j] != 0)
                return true;
    return false;
}

/* Removes what further axes have of the first two. */
static void separate(double *matrix, int n) {
    for (int i = 2; i < n; i++)
        matrix[i * n] = matrix[i * n + 1] = 0;
}

/* Copies the axes of the sky: alone, unless they depend on others. */
static int copy_axes(struct wcsprm *prm, struct wcsprm **sky) {
    static const int axes[] = {1, 2};
    const bool has_cd = prm->altlin & HAS_CD;
    if (mixes_axes(prm->pc, prm->naxis) || (has_cd && mixes_axes(prm->cd, prm->naxis)))
        return wcs_part_copy(prm, 0, NULL, sky);
    separate(prm->pc, prm->naxis);
    if (has_cd)
        separate(prm->cd, prm->naxis);
    return wcs_part_copy(prm, 2, axes, sky);
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

/* Whether what was set up gives positions. */
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

enum srcfind_status celestial_set_up(const struct header *header, struct wcsprm *primary,
                                     struct wcsprm **sky, char *reason, struct error *error) {
    char words[WCS_PART_TEXT] = "";
    *sky = NULL;
    *reason = '\0';
    if (!primary)
        return SRCFIND_OK;
    cut_blanks(primary);
    if (!plane_is_sky(primary, reason) || !position_is_known(header, reason) ||
        !has_cd_rows(primary, reason) || !units_are_angles(primary, reason))
        return SRCFIND_OK;
    repair(primary);
    int code = copy_axes(primary, sky);
    if (code == 0)
        code = wcs_part_set_up(*sky, words);
    if (code != 0)
        snprintf(reason, SRCFIND_REASON, "WCSLIB says: %s",
                 *words ? words : "the axes cannot be separated");
    if (code == 0 && is_usable(*sky, reason))
        return SRCFIND_OK;
    wcs_part_free(*sky);
    *sky = NULL;
    return code == WCS_PART_MEMORY ? error_memory(error, "reading a header") : SRCFIND_OK;
}
