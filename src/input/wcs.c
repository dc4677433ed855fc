#include "input/wcs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <wcslib/wcs.h>
#include <wcslib/wcsfix.h>
#include <wcslib/wcshdr.h>
#include <wcslib/wcsmath.h>

#include "input/fits/header.h"

struct sky {
    struct wcsprm *all; /* what the header has, of which `wcs` is the primary one */
    int n_all;
    struct wcsprm *wcs;
    int64_t plane[SRCFIND_MAX_AXES]; /* 1-based, of axes 3, 4, ... */
};

static enum srcfind_status parse(const struct header *header, struct sky *sky,
                                 struct error *error) {
    int rejected, n_cards;
    char *cards = header_for_wcslib(header, &n_cards);
    if (!cards)
        return error_memory(error, "reading a header");
    const int code = wcspih(cards, n_cards, WCSHDR_all, 0, &rejected, &sky->n_all, &sky->all);
    free(cards);
    if (code == 2)
        return error_memory(error, "reading a header");
    for (int i = 0; code == 0 && i < sky->n_all; i++)
        if (sky->all[i].alt[0] == ' ' || sky->all[i].alt[0] == '\0')
            sky->wcs = &sky->all[i];
    return SRCFIND_OK;
}

/* Whether a keyword is a number that the place of the first two axes on the sky depends on: CRVAL1,
 * CD1_2, PV2_1, A_0_2, LONPOLE and the like, of the primary coordinates. */
static bool is_of_place(const char *card) {
    static const char *const stems[] = {"CRPIX", "CRVAL", "CDELT", "CROTA", "CD", "PC", "PV"};
    static const char *const others[] = {"LONPOLE ", "LATPOLE ", "A_", "B_", "AP_", "BP_"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strncmp(card, others[i], strlen(others[i])) == 0)
            return true;
    for (size_t i = 0; i < sizeof stems / sizeof *stems; i++) {
        const char *index = card + strlen(stems[i]);
        if (strncmp(card, stems[i], strlen(stems[i])) == 0 && (*index == '1' || *index == '2') &&
            (index[1] == ' ' || index[1] == '_'))
            return true;
    }
    return false;
}

static bool is_scale(const char *card) {
    static const char *const stems[] = {"CDELT1 ", "CD1_", "PC1_", "CD001", "PC001"};
    bool is = false;
    for (size_t i = 0; i < sizeof stems / sizeof *stems; i++)
        is = is || strncmp(card, stems[i], strlen(stems[i])) == 0;
    return is;
}

/* Whether none of these numbers is unreadable: WCSLIB would take its default, which is another
 * place. A scale has no default that makes sense. */
static bool place_is_known(const struct header *header) {
    bool has_scale = false;
    for (int64_t i = 0; i < header->n_cards; i++) {
        const char *card = header->cards + CARD * i;
        if (is_of_place(card) && !header_card_is_number(card))
            return false;
        has_scale = has_scale || is_scale(card);
    }
    return has_scale;
}

/* Whether WCSLIB can use what the header says. */
static bool set_up(struct wcsprm *wcs) {
    int fixes[NWCSFIX];
    wcsfix(0, NULL, wcs, fixes);
    return wcsset(wcs) == 0;
}

/* Degrees of world axis i a pixel of axis j. */
static double scale(const struct wcsprm *wcs, int i, int j) {
    return wcs->cdelt[i] * wcs->pc[i * wcs->naxis + j];
}

/* Whether the first two axes, in either order, are the celestial ones, and pixels have an area,
 * which is returned in square degrees. */
static bool is_celestial(const struct wcsprm *wcs, double *area) {
    if (wcs->lng < 0 || wcs->lat < 0 || wcs->lng + wcs->lat != 1)
        return false;
    *area = fabs(scale(wcs, 0, 0) * scale(wcs, 1, 1) - scale(wcs, 0, 1) * scale(wcs, 1, 0));
    return *area > 0 && isfinite(*area);
}

static bool is_known(double value) {
    return isfinite(value) && value != UNDEFINED;
}

/* RADESYS, or its default by the FITS standard 8.3; other systems have their own names. */
static void describe_frame(const struct wcsprm *wcs, struct srcfind_image *image) {
    static const char *const names[][2] = {
        {"GLON", "GALACTIC"}, {"ELON", "ECLIPTIC"}, {"SLON", "SUPERGALACTIC"}};
    const char *frame = strncmp(wcs->lngtyp, "RA", 2) == 0 ? wcs->radesys : wcs->lngtyp;
    if (is_known(wcs->equinox))
        image->equinox = wcs->equinox;
    if (!*frame)
        frame = isnan(image->equinox) ? "ICRS" : image->equinox < 1984 ? "FK4" : "FK5";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(wcs->lngtyp, names[i][0], 4) == 0)
            frame = names[i][1];
    snprintf(image->frame, sizeof image->frame, "%s", frame);
    snprintf(image->lon_name, sizeof image->lon_name, "%.4s", wcs->lngtyp);
    snprintf(image->lat_name, sizeof image->lat_name, "%.4s", wcs->lattyp);
}

/* The pixel coordinates, 1-based, of a point of the plane. */
static void set_pixel(const struct sky *sky, double x, double y, double *pixel) {
    pixel[0] = x + 1;
    pixel[1] = y + 1;
    for (int i = 2; i < sky->wcs->naxis; i++)
        pixel[i] = i - 2 < SRCFIND_MAX_AXES && sky->plane[i - 2] ? (double)sky->plane[i - 2] : 1;
}

/* The frequency of the plane on a linear FREQ axis, by its cards alone. */
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

/* Where a frequency axis is, its value at the plane; else the rest frequency; else FREQ. */
static double find_frequency(struct sky *sky, bool usable, const struct header *header,
                             const struct srcfind_image *image) {
    struct wcsprm *wcs = sky->wcs;
    double frequency = NAN;
    header_real(header, "FREQ", &frequency);
    header_real(header, "RESTFREQ", &frequency);
    header_real(header, "RESTFRQ", &frequency);
    if (!usable) {
        frequency_by_cards(header, image, &frequency);
        return frequency;
    }
    if (wcs->spec < 0 || strncmp(wcs->ctype[wcs->spec], "FREQ", 4) != 0 || wcs->naxis > 32)
        return frequency;
    double pixel[32], intermediate[32], world[32], phi, theta;
    int stat[32];
    set_pixel(sky, wcs->crpix[0] - 1, wcs->naxis > 1 ? wcs->crpix[1] - 1 : 0, pixel);
    if (wcsp2s(wcs, 1, wcs->naxis, pixel, intermediate, &phi, &theta, world, stat) == 0)
        frequency = world[wcs->spec];
    return frequency;
}

enum srcfind_status sky_open(const struct header *header, struct srcfind_image *image,
                             struct sky **result, struct error *error) {
    struct sky *sky = calloc(1, sizeof *sky);
    *result = NULL;
    if (!sky)
        return error_memory(error, "reading a header");
    memcpy(sky->plane, image->plane, sizeof sky->plane);
    const enum srcfind_status status = parse(header, sky, error);
    if (status != SRCFIND_OK) {
        sky_close(sky);
        return status;
    }
    const bool usable = sky->wcs && set_up(sky->wcs), known = place_is_known(header);
    image->frequency = find_frequency(sky, usable, header, image);
    if (!usable || !known || !is_celestial(sky->wcs, &image->pixel_area)) {
        image->pixel_area = NAN;
        sky_close(sky);
        return SRCFIND_OK;
    }
    describe_frame(sky->wcs, image);
    *result = sky;
    return SRCFIND_OK;
}

void sky_close(struct sky *sky) {
    if (sky)
        wcsvfree(&sky->n_all, &sky->all);
    free(sky);
}

/* A longitude at 0 ... 360 degrees; WCSLIB takes the reference point's sign for all. */
static double in_circle(double lon) {
    const double turned = lon - 360 * floor(lon / 360);
    return turned < 360 ? turned : 0;
}

enum srcfind_status sky_positions(struct sky *sky, int n, const double *x, const double *y,
                                  double *lon, double *lat, struct error *error) {
    const int axes = sky->wcs->naxis;
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
            set_pixel(sky, x[i], y[i], work + i * (size_t)axes);
        const int code =
            n > 0 ? wcsp2s(sky->wcs, n, axes, work, image, phi, theta, world, stat) : 0;
        for (size_t i = 0; i < points; i++) {
            const double *point = world + i * (size_t)axes;
            const double at_lon = point[sky->wcs->lng], at_lat = point[sky->wcs->lat];
            const bool valid =
                (code == 0 || (code == 8 && stat[i] == 0)) && isfinite(at_lon) && isfinite(at_lat);
            lon[i] = valid ? in_circle(at_lon) : NAN;
            lat[i] = valid ? at_lat : NAN;
        }
    }
    free(work);
    free(stat);
    return status;
}
