#include "input/wcs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <wcslib/wcs.h>
#include <wcslib/wcsfix.h>
#include <wcslib/wcshdr.h>
#include <wcslib/wcsmath.h>

#include "common/memory.h"
#include "input/fits/header.h"

struct wcs {
    struct wcsprm *all; /* the primary and the alternate (A ... Z) coordinates of the header */
    int n_all;
    struct wcsprm *primary;          /* one of `all` */
    int64_t plane[SRCFIND_MAX_AXES]; /* 1-based, of axes 3, 4, ... */
};

/* WCSLIB's scanner needs some 17 KiB. If its first allocations fail, WCSLIB 7.12 ends the process,
 * because it calls longjmp before the target is set. */
static const size_t SCANNER_MEMORY = 1 << 24;

static enum srcfind_status parse(const struct header *header, struct wcs *wcs,
                                 struct error *error) {
    int rejected, n_cards;
    char *cards = header_for_wcslib(header, &n_cards);
    if (!cards || !memory_is_there(SCANNER_MEMORY)) {
        free(cards);
        return error_memory(error, "reading a header");
    }
    const int code = wcspih(cards, n_cards, WCSHDR_all, 0, &rejected, &wcs->n_all, &wcs->all);
    free(cards);
    if (code == 2)
        return error_memory(error, "reading a header");
    for (int i = 0; code == 0 && i < wcs->n_all; i++)
        if (wcs->all[i].alt[0] == ' ' || wcs->all[i].alt[0] == '\0')
            wcs->primary = &wcs->all[i];
    return SRCFIND_OK;
}

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

/* Whether the position keywords can be used: all of them are readable numbers, and both axes have
 * a scale. For an unreadable or missing number WCSLIB takes the default, which gives wrong
 * positions or a meaningless scale. */
static bool position_is_known(const struct header *header) {
    bool has_scales[2] = {false, false};
    for (int64_t i = 0; i < header->n_cards; i++) {
        const char *card = header->cards + CARD * i;
        if (is_position_keyword(card) && !header_card_is_number(card))
            return false;
        has_scales[0] = has_scales[0] || is_scale_keyword(card, 1);
        has_scales[1] = has_scales[1] || is_scale_keyword(card, 2);
    }
    return has_scales[0] && has_scales[1];
}

/* Whether the rows of axes 1 and 2 in the CD matrix, if there is one, have numbers other than 0.
 * wcsfix() replaces rows of zeros by a scale of 1 degree per pixel. */
static bool has_cd_rows(const struct wcsprm *prm) {
    enum { HAS_CD = 2 };
    const double *cd = prm->cd;
    return !(prm->altlin & HAS_CD) || prm->naxis < 2 ||
           ((cd[0] != 0 || cd[1] != 0) && (cd[prm->naxis] != 0 || cd[prm->naxis + 1] != 0));
}

/* Repairs nonstandard keywords and sets up prm; false if WCSLIB cannot use it. */
static bool set_up(struct wcsprm *prm) {
    int fixes[NWCSFIX];
    if (!has_cd_rows(prm))
        return false;
    wcsfix(0, NULL, prm, fixes);
    return wcsset(prm) == 0;
}

/* Degrees along world axis i per pixel along axis j. */
static double pixel_scale(const struct wcsprm *prm, int i, int j) {
    return prm->cdelt[i] * prm->pc[i * prm->naxis + j];
}

/* Whether the first two axes are celestial, in either order, and the pixel area is positive. Sets
 * *area, in square degrees. */
static bool is_celestial(const struct wcsprm *prm, double *area) {
    if (prm->lng < 0 || prm->lat < 0 || prm->lng + prm->lat != 1)
        return false;
    *area = fabs(pixel_scale(prm, 0, 0) * pixel_scale(prm, 1, 1) -
                 pixel_scale(prm, 0, 1) * pixel_scale(prm, 1, 0));
    return *area > 0 && isfinite(*area);
}

static bool is_known(double value) {
    return isfinite(value) && value != UNDEFINED;
}

/* Sets frame, equinox and axis names. The frame of equatorial coordinates is RADESYS, or its
 * default by the FITS standard 8.3. */
static void describe_frame(const struct wcsprm *prm, struct srcfind_image *image) {
    static const char *const names[][2] = {
        {"GLON", "GALACTIC"}, {"ELON", "ECLIPTIC"}, {"SLON", "SUPERGALACTIC"}};
    const char *frame = strncmp(prm->lngtyp, "RA", 2) == 0 ? prm->radesys : prm->lngtyp;
    if (is_known(prm->equinox))
        image->equinox = prm->equinox;
    if (!*frame)
        frame = isnan(image->equinox) ? "ICRS" : image->equinox < 1984 ? "FK4" : "FK5";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(prm->lngtyp, names[i][0], 4) == 0)
            frame = names[i][1];
    snprintf(image->frame, sizeof image->frame, "%s", frame);
    snprintf(image->lon_name, sizeof image->lon_name, "%.4s", prm->lngtyp);
    snprintf(image->lat_name, sizeof image->lat_name, "%.4s", prm->lattyp);
}

/* Sets the 1-based coordinates on all axes of the point x, y (0-based) of the plane. */
static void set_pixel(const struct wcs *wcs, double x, double y, double *pixel) {
    pixel[0] = x + 1;
    pixel[1] = y + 1;
    for (int i = 2; i < wcs->primary->naxis; i++)
        pixel[i] = i - 2 < SRCFIND_MAX_AXES && wcs->plane[i - 2] ? (double)wcs->plane[i - 2] : 1;
}

/* Computes the frequency of the plane on a linear FREQ axis from its cards, without WCSLIB. False
 * if there is no such axis, or cards are missing. */
static bool frequency_by_cards(const struct header *header, const struct srcfind_image *image,
                               double *frequency) {
    for (int axis = 3; axis <= image->n_axes; axis++) {
        char name[16], type[SRCFIND_TEXT];
        double value, step, pixel = 0;
        snprintf(name, sizeof name, "CTYPE%d", axis);
        if (!header_text(header, name, type, sizeof type) || strncmp(type, "FREQ", 4) != 0)
            continue;
        snprintf(name, sizeof name, "CRPIX%d", axis);
        header_real(header, name, &pixel);
        snprintf(name, sizeof name, "CDELT%d", axis);
        if (!header_real(header, name, &step))
            return false;
        snprintf(name, sizeof name, "CRVAL%d", axis);
        if (!header_real(header, name, &value))
            return false;
        *frequency = value + ((double)image->plane[axis - 3] - pixel) * step;
        return true;
    }
    return false;
}

/* The frequency in Hz: of the plane if there is a frequency axis; else the rest frequency; else the
 * keyword FREQ; else NaN. */
static double find_frequency(struct wcs *wcs, bool usable, const struct header *header,
                             const struct srcfind_image *image) {
    struct wcsprm *prm = wcs->primary;
    double frequency = NAN;
    header_real(header, "FREQ", &frequency);
    header_real(header, "RESTFREQ", &frequency);
    header_real(header, "RESTFRQ", &frequency);
    if (!usable) {
        frequency_by_cards(header, image, &frequency);
        return frequency;
    }
    if (prm->spec < 0 || strncmp(prm->ctype[prm->spec], "FREQ", 4) != 0 || prm->naxis > 32)
        return frequency;
    double pixel[32], intermediate[32], world[32], phi, theta;
    int stat[32];
    set_pixel(wcs, prm->crpix[0] - 1, prm->naxis > 1 ? prm->crpix[1] - 1 : 0, pixel);
    if (wcsp2s(prm, 1, prm->naxis, pixel, intermediate, &phi, &theta, world, stat) == 0)
        frequency = world[prm->spec];
    return frequency;
}

enum srcfind_status wcs_open(const struct header *header, struct srcfind_image *image,
                             struct wcs **result, struct error *error) {
    struct wcs *wcs = calloc(1, sizeof *wcs);
    *result = NULL;
    if (!wcs)
        return error_memory(error, "reading a header");
    memcpy(wcs->plane, image->plane, sizeof wcs->plane);
    const enum srcfind_status status = parse(header, wcs, error);
    if (status != SRCFIND_OK) {
        wcs_close(wcs);
        return status;
    }
    const bool usable = wcs->primary && set_up(wcs->primary), known = position_is_known(header);
    image->frequency = find_frequency(wcs, usable, header, image);
    if (!usable || !known || !is_celestial(wcs->primary, &image->pixel_area)) {
        image->pixel_area = NAN;
        wcs_close(wcs);
        return SRCFIND_OK;
    }
    describe_frame(wcs->primary, image);
    *result = wcs;
    return SRCFIND_OK;
}

void wcs_close(struct wcs *wcs) {
    if (wcs)
        wcsvfree(&wcs->n_all, &wcs->all);
    free(wcs);
}

struct wcs *wcs_copy(const struct wcs *wcs) {
    struct wcs *copy = malloc(sizeof *copy);
    struct wcsprm *prm = calloc(1, sizeof *prm);
    if (!copy || !prm) {
        free(copy);
        free(prm);
        return NULL;
    }
    *copy = *wcs;
    copy->n_all = 1;
    copy->all = copy->primary = prm;
    prm->flag = -1;
    if (wcssub(1, wcs->primary, NULL, NULL, prm) == 0 && wcsset(prm) == 0)
        return copy;
    wcs_close(copy);
    return NULL;
}

/* Degrees. A larger longitude (CRVAL1 may be anything) has a rounding error above a milliarcsecond
 * and counts as unknown. */
static const double MOST_LONGITUDE = 0x1p30;

/* Moves a longitude to [0, 360) degrees; WCSLIB gives all the sign of the reference point's. */
static double in_circle(double lon) {
    const double turned = lon - 360 * floor(lon / 360);
    return turned < 360 ? turned : 0;
}

enum srcfind_status wcs_positions(struct wcs *wcs, int n, const double *x, const double *y,
                                  double *lon, double *lat, struct error *error) {
    const int axes = wcs->primary->naxis;
    const size_t points = (size_t)n, coordinates = points * (size_t)axes;
    double *work = malloc((3 * coordinates + 2 * points + 1) * sizeof *work);
    int *stat = malloc((points + 1) * sizeof *stat);
    enum srcfind_status status = SRCFIND_OK;
    if (!work || !stat) {
        status = error_memory(error, "computing sky coordinates");
    } else {
        double *image = work + coordinates, *world = image + coordinates;
        double *phi = world + coordinates, *theta = phi + points;
        for (size_t i = 0; i < points; i++)
            set_pixel(wcs, x[i], y[i], work + i * (size_t)axes);
        const int code =
            n > 0 ? wcsp2s(wcs->primary, n, axes, work, image, phi, theta, world, stat) : 0;
        for (size_t i = 0; i < points; i++) {
            const double *point = world + i * (size_t)axes;
            const double at_lon = point[wcs->primary->lng], at_lat = point[wcs->primary->lat];
            const bool valid = (code == 0 || (code == 8 && stat[i] == 0)) &&
                               fabs(at_lon) < MOST_LONGITUDE && isfinite(at_lat);
            lon[i] = valid ? in_circle(at_lon) : NAN;
            lat[i] = valid ? at_lat : NAN;
        }
    }
    free(work);
    free(stat);
    return status;
}

/* Sets the coordinates of the plane on the axes that are not celestial. False if WCSLIB does not
 * know them. */
static bool find_other_axes(struct wcs *wcs, double *world) {
    double pixel[32], intermediate[32], phi, theta;
    int stat[32];
    if (wcs->primary->naxis > 32)
        return false;
    set_pixel(wcs, wcs->primary->crpix[0] - 1, wcs->primary->crpix[1] - 1, pixel);
    return wcsp2s(wcs->primary, 1, wcs->primary->naxis, pixel, intermediate, &phi, &theta, world,
                  stat) == 0;
}

enum srcfind_status wcs_pixels(struct wcs *wcs, int n, const double *lon, const double *lat,
                               double *x, double *y, struct error *error) {
    const int axes = wcs->primary->naxis;
    const size_t points = (size_t)n, coordinates = points * (size_t)axes;
    double *work = malloc((3 * coordinates + 2 * points + 1) * sizeof *work), other[32];
    int *stat = malloc((points + 1) * sizeof *stat);
    enum srcfind_status status = SRCFIND_OK;
    if (!work || !stat) {
        status = error_memory(error, "computing pixel coordinates");
    } else {
        double *image = work + coordinates, *pixel = image + coordinates;
        double *phi = pixel + coordinates, *theta = phi + points;
        const bool known = find_other_axes(wcs, other);
        for (size_t i = 0; known && i < points; i++) {
            double *point = work + i * (size_t)axes;
            memcpy(point, other, (size_t)axes * sizeof *point);
            point[wcs->primary->lng] = isfinite(lon[i]) ? lon[i] : 0;
            point[wcs->primary->lat] = isfinite(lat[i]) ? lat[i] : 0;
        }
        const int code = known && n > 0
                             ? wcss2p(wcs->primary, n, axes, work, phi, theta, image, pixel, stat)
                             : 9;
        for (size_t i = 0; i < points; i++) {
            const bool valid = (code == 0 || (code == 9 && known && stat[i] == 0)) &&
                               isfinite(lon[i]) && isfinite(lat[i]);
            x[i] = valid ? pixel[i * (size_t)axes] - 1 : NAN;
            y[i] = valid ? pixel[i * (size_t)axes + 1] - 1 : NAN;
        }
    }
    free(work);
    free(stat);
    return status;
}

void wcs_reference_pixel(const struct wcs *wcs, double *x, double *y) {
    *x = wcs->primary->crpix[0] - 1;
    *y = wcs->primary->crpix[1] - 1;
}
