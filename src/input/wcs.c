/* How positions are converted between pixels and the sky, by WCSLIB.
 *
 * 1. wcs_open: WCSLIB parses the cards that wcs_cards.c lists; matrix.c completes CD, frequency.c
 *    takes the frequency of the plane, celestial.c sets up the two axes of the sky.
 * 2. wcs_positions and wcs_pixels convert n points at a time. Coordinates on other axes are those
 *    of the plane.
 * 3. Pixels at the edge of a projection that only rounding puts outside are converted again without
 *    WCSLIB's check, or a millionth of a pixel further in (convert_at_edge).
 * 4. In a cylindrical projection the sky repeats: a pixel is moved by whole turns of longitude to
 *    the one nearest to the middle of the image (turn_pixel).
 *
 * Always: pixels are 0-based here, 1-based in WCSLIB; longitudes are in [0, 360); a point without a
 * position is NaN, which is no error. WCSLIB changes its struct as it converts: each thread needs a
 * copy (wcs_copy).
 *
 * Cost: a call takes memory for some 3 numbers a point and axis; WCSLIB works in vectors of points.
 */
#define _GNU_SOURCE /* memmem */
#include "input/wcs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <wcslib/wcs.h>
#include <wcslib/wcshdr.h>
#include <wcslib/wcsmath.h>

#include "common/memory.h"
#include "input/celestial.h"
#include "input/fits/header.h"
#include "input/frame.h"
#include "input/frequency.h"
#include "input/matrix.h"
#include "input/wcs_cards.h"
#include "input/wcs_part.h"

struct wcs {
    struct wcsprm *sky;              /* two axes; more where these depend on others */
    int64_t plane[SRCFIND_MAX_AXES]; /* 1-based, of axes 3, 4, ... */
    double first_x, first_y;         /* the pixel of the header's image that is the first one */
    double middle_x, middle_y;       /* of the image, in pixels */
    double edge;         /* degrees by which a position may be beyond the projection's edge */
    bool is_cylindrical; /* the projection is cylindrical, or there is none */
    /* The offset from a pixel to the pixel of the same sky position one turn of native longitude
     * on, in a cylindrical projection; 0 in others. */
    double turn_x, turn_y;
};

/* --- the header --- */

/* The primary and the alternate (A ... Z) coordinates of a header. */
struct parsed {
    struct wcsprm *all, *primary; /* primary: one of `all`; NULL if there is none */
    int n;
};

/* WCSLIB's scanner needs some 17 KiB. If its first allocations fail, WCSLIB 7.12 ends the process,
 * because it calls longjmp before the target is set. */
static const size_t SCANNER_MEMORY = 1 << 24;

/* Writes the algorithm -TAB of an axis in small letters. Its coordinates are in a table, which is
 * not read: WCSLIB would refuse all other axes, too. */
static void disown_table(char *card) {
    char *code = memcmp(card, "CTYPE", 5) == 0 ? memmem(card, CARD, "-TAB", 4) : NULL;
    if (code)
        memcpy(code, "-tab", 4);
}

static void cut_blanks(char *text) {
    for (size_t n = strlen(text); n > 0 && text[n - 1] == ' '; n--)
        text[n - 1] = '\0';
}

static enum srcfind_status parse(const struct header *header, struct srcfind_image *image,
                                 struct parsed *parsed, struct error *error) {
    int rejected, n_cards;
    char *cards = wcs_cards_make(header, &n_cards, image->distortion);
    *parsed = (struct parsed){0};
    if (!cards || !memory_is_there(SCANNER_MEMORY)) {
        free(cards);
        return error_memory(error, "reading a header");
    }
    for (int i = 0; i < n_cards; i++)
        disown_table(cards + (size_t)CARD * (size_t)i);
    const int code = wcspih(cards, n_cards, WCSHDR_all, 0, &rejected, &parsed->n, &parsed->all);
    free(cards);
    if (code == WCSHDRERR_MEMORY)
        return error_memory(error, "reading a header");
    for (int i = 0; code == 0 && i < parsed->n; i++)
        if (parsed->all[i].alt[0] == ' ' || parsed->all[i].alt[0] == '\0')
            parsed->primary = &parsed->all[i];
    for (int i = 0; parsed->primary && i < parsed->primary->naxis; i++) {
        cut_blanks(parsed->primary->ctype[i]);
        cut_blanks(parsed->primary->cunit[i]);
    }
    if (parsed->primary) {
        matrix_complete(header, celestial_latitude(parsed->primary), parsed->primary);
    }
    return SRCFIND_OK;
}

static bool is_known(double value) {
    return isfinite(value) && value != UNDEFINED;
}

/* Sets frame, equinox and axis names. The frame of equatorial coordinates is RADESYS, or its
 * default by the FITS standard 8.3. */
static void describe_frame(const struct wcsprm *prm, struct srcfind_image *image) {
    snprintf(image->lon_name, sizeof image->lon_name, "%.4s", prm->lngtyp);
    snprintf(image->lat_name, sizeof image->lat_name, "%.4s", prm->lattyp);
    const struct frame *of_axis = frame_of_axis(image->lon_name);
    const char *frame = strncmp(prm->lngtyp, "RA", 2) == 0 ? prm->radesys
                        : *of_axis->name                   ? of_axis->name
                                                           : prm->lngtyp;
    if (is_known(prm->equinox))
        image->equinox = prm->equinox;
    if (!*frame)
        frame = isnan(image->equinox) ? "ICRS" : image->equinox < 1984 ? "FK4" : "FK5";
    snprintf(image->frame, sizeof image->frame, "%s", frame);
}

/* Sets the turn of a cylindrical projection, or of axes without one. Where there are distortions,
 * which do not repeat, it stays 0. */
static void find_turn(struct wcs *wcs) {
    enum { PROJECTED = 2200 };
    struct wcsprm *sky = wcs->sky;
    double image[2][MOST_AXES] = {0}, pixel[2][MOST_AXES];
    const bool is_projected = sky->types[sky->lng] == PROJECTED;
    wcs->is_cylindrical = !is_projected || sky->cel.prj.category == CYLINDRICAL;
    if (!wcs->is_cylindrical || sky->naxis > MOST_AXES || sky->lin.dispre || sky->lin.disseq)
        return;
    image[1][sky->lng] = 360 * (is_projected ? sky->cel.prj.w[0] : 1); /* x per longitude */
    if (linx2p(&sky->lin, 1, MOST_AXES, image[0], pixel[0]) == 0 &&
        linx2p(&sky->lin, 1, MOST_AXES, image[1], pixel[1]) == 0) {
        wcs->turn_x = pixel[1][0] - pixel[0][0];
        wcs->turn_y = pixel[1][1] - pixel[0][1];
    }
}

static void describe(struct wcs *wcs, struct srcfind_image *image) {
    static const double EDGE = 0.01; /* pixels */
    memcpy(wcs->plane, image->plane, sizeof wcs->plane);
    image->pixel_area = celestial_pixel_area(wcs->sky);
    wcs->edge = EDGE * sqrt(image->pixel_area);
    wcs->first_x = (double)image->first_x;
    wcs->first_y = (double)image->first_y;
    wcs->middle_x = ((double)image->width - 1) / 2;
    wcs->middle_y = ((double)image->height - 1) / 2;
    find_turn(wcs);
    describe_frame(wcs->sky, image);
}

enum srcfind_status wcs_open(const struct header *header, struct srcfind_image *image,
                             struct wcs **result, struct error *error) {
    struct wcs *wcs = calloc(1, sizeof *wcs);
    struct parsed parsed;
    *result = NULL;
    if (!wcs)
        return error_memory(error, "reading a header");
    enum srcfind_status status = parse(header, image, &parsed, error);
    if (status == SRCFIND_OK) {
        image->frequency = frequency_of_plane(header, parsed.primary, image, image->no_frequency);
        status = celestial_set_up(header, parsed.primary, &wcs->sky, image->no_sky, error);
    }
    wcsvfree(&parsed.n, &parsed.all);
    if (status == SRCFIND_OK && wcs->sky) {
        describe(wcs, image);
        *result = wcs;
    } else {
        wcs_close(wcs);
    }
    return status;
}

void wcs_close(struct wcs *wcs) {
    if (wcs)
        wcs_part_free(wcs->sky);
    free(wcs);
}

struct wcs *wcs_copy(const struct wcs *wcs) {
    struct wcs *copy = malloc(sizeof *copy);
    if (!copy)
        return NULL;
    *copy = *wcs;
    if (wcs_part_copy(wcs->sky, 0, NULL, &copy->sky) == 0 && wcsset(copy->sky) == 0)
        return copy;
    wcs_close(copy);
    return NULL;
}

/* --- points --- */

/* Points while WCSLIB converts them. Pixels and positions have all axes, one after the other. */
struct points {
    size_t n, axes;
    double *pixel, *intermediate, *world, *phi, *theta;
    int *stat;
};

/* Makes n points with all members 0: WCSLIB computes with coordinates that it has not found. */
static bool points_make(const struct wcs *wcs, int n, struct points *p) {
    const size_t axes = (size_t)wcs->sky->naxis, coordinates = (size_t)n * axes;
    double *work = calloc(3 * coordinates + 2 * (size_t)n + 1, sizeof *work);
    *p = (struct points){.n = (size_t)n, .axes = axes, .pixel = work};
    p->stat = calloc((size_t)n + 1, sizeof *p->stat);
    if (!work || !p->stat)
        return false;
    p->intermediate = work + coordinates;
    p->world = p->intermediate + coordinates;
    p->phi = p->world + coordinates;
    p->theta = p->phi + p->n;
    return true;
}

static void points_clear(struct points *p) {
    free(p->pixel);
    free(p->stat);
}

/* Whether the point with this status is on the sky: the other axes do not matter. */
static bool is_on_sky(const struct wcs *wcs, int stat) {
    return !(stat & (1 << wcs->sky->lng | 1 << wcs->sky->lat));
}

/* Sets the 1-based coordinates on all axes of the point x, y (0-based) of the plane. */
static void set_pixel(const struct wcs *wcs, double x, double y, double *pixel) {
    pixel[0] = x + wcs->first_x + 1;
    pixel[1] = y + wcs->first_y + 1;
    for (int i = 2; i < wcs->sky->naxis; i++)
        pixel[i] = i - 2 < SRCFIND_MAX_AXES && wcs->plane[i - 2] ? (double)wcs->plane[i - 2] : 1;
}

/* --- from pixels to the sky --- */

/* WCSLIB gives all longitudes the sign of the reference point's, and CRVAL1 may be anything. */
double wcs_longitude(double degrees) {
    static const double MOST = 0x1p30;
    const double turned = degrees - 360 * floor(degrees / 360);
    return !(fabs(degrees) < MOST) ? (double)NAN : turned < 360 ? turned : 0;
}

/* Whether a point has these native coordinates: a cylindrical projection goes on beyond half a turn
 * of longitude. A pixel that only rounding, of CDELT too, puts beyond the edge counts. */
static bool is_native(const struct wcs *wcs, double phi, double theta) {
    const double beyond = (fabs(phi) - 180) * cos(theta * M_PI / 180);
    return fabs(theta) <= 90 + wcs->edge && (wcs->is_cylindrical || beyond <= wcs->edge);
}

/* Converts point i again without WCSLIB's check of the native coordinates. */
static bool convert_unchecked(struct wcs *wcs, struct points *p, size_t i) {
    enum { CHECK_NATIVE = 4 };
    struct wcsprm *sky = wcs->sky;
    const size_t at = i * p->axes;
    const int checked = sky->cel.prj.bounds;
    sky->cel.prj.bounds = checked & ~CHECK_NATIVE;
    wcs_part_drop_words(sky);
    const int code = wcsp2s(sky, 1, (int)p->axes, p->pixel + at, p->intermediate + at, p->phi + i,
                            p->theta + i, p->world + at, p->stat + i);
    sky->cel.prj.bounds = checked;
    return (code == 0 || (code == WCSERR_BAD_PIX && is_on_sky(wcs, p->stat[i]))) &&
           is_native(wcs, p->phi[i], p->theta[i]);
}

/* Converts point i, for which WCSLIB has no position. False if it is not on the sky. Where the
 * projection itself ends, as CEA does at its poles, a point a millionth of a pixel inwards stands
 * for one that rounding puts outside. */
static bool convert_at_edge(struct wcs *wcs, struct points *p, size_t i) {
    static const double INWARDS = 1e-6; /* pixels; less than the step of a Jacobian */
    double *pixel = p->pixel + i * p->axes;
    if (convert_unchecked(wcs, p, i))
        return true;
    const double x = wcs->sky->crpix[0] - pixel[0], y = wcs->sky->crpix[1] - pixel[1];
    const double distance = hypot(x, y);
    if (!(distance > INWARDS))
        return false;
    pixel[0] += INWARDS * x / distance;
    pixel[1] += INWARDS * y / distance;
    return convert_unchecked(wcs, p, i);
}

/* Takes the position of point i; NaN where it is not on the sky. code: WCSLIB's of all points. */
static void take_position(struct wcs *wcs, struct points *p, size_t i, int code, double *lon,
                          double *lat) {
    bool valid = code == 0;
    if (code == WCSERR_BAD_PIX)
        valid = is_on_sky(wcs, p->stat[i]) || convert_at_edge(wcs, p, i);
    const double *point = p->world + i * p->axes;
    const double at_lon = wcs_longitude(point[wcs->sky->lng]), at_lat = point[wcs->sky->lat];
    valid = valid && !isnan(at_lon) && isfinite(at_lat);
    *lon = valid ? at_lon : NAN;
    *lat = valid ? at_lat : NAN;
}

enum srcfind_status wcs_positions(struct wcs *wcs, int n, const double *x, const double *y,
                                  double *lon, double *lat, struct error *error) {
    struct points p;
    if (!points_make(wcs, n, &p)) {
        points_clear(&p);
        return error_memory(error, "computing sky coordinates");
    }
    for (size_t i = 0; i < p.n; i++)
        set_pixel(wcs, x[i], y[i], p.pixel + i * p.axes);
    const int code = n > 0 ? wcsp2s(wcs->sky, n, (int)p.axes, p.pixel, p.intermediate, p.phi,
                                    p.theta, p.world, p.stat)
                           : 0;
    for (size_t i = 0; i < p.n; i++)
        take_position(wcs, &p, i, code, &lon[i], &lat[i]);
    wcs_part_drop_words(wcs->sky);
    points_clear(&p);
    return SRCFIND_OK;
}

/* --- from the sky to pixels --- */

/* Sets the coordinates of the plane on the axes that are not celestial. False if WCSLIB does not
 * know them. */
static bool find_other_axes(struct wcs *wcs, double *world) {
    double pixel[MOST_AXES], intermediate[MOST_AXES], phi, theta;
    int stat;
    if (wcs->sky->naxis == 2)
        return true; /* there are none */
    if (wcs->sky->naxis > MOST_AXES)
        return false;
    double x, y;
    wcs_reference_pixel(wcs, &x, &y);
    set_pixel(wcs, x, y, pixel);
    return wcsp2s(wcs->sky, 1, wcs->sky->naxis, pixel, intermediate, &phi, &theta, world, &stat) ==
           0;
}

/* Moves a pixel by whole turns to the one that is nearest to the middle of the image. */
static void turn_pixel(const struct wcs *wcs, double *x, double *y) {
    const double square = wcs->turn_x * wcs->turn_x + wcs->turn_y * wcs->turn_y;
    if (!(square > 0) || !isfinite(square))
        return;
    const double turns =
        rint(((wcs->middle_x - *x) * wcs->turn_x + (wcs->middle_y - *y) * wcs->turn_y) / square);
    if (turns == 0)
        return;
    *x += turns * wcs->turn_x;
    *y += turns * wcs->turn_y;
}

/* Takes the pixel of point i; NaN where it has none. code: WCSLIB's of all points. */
static void take_pixel(const struct wcs *wcs, const struct points *p, size_t i, int code, double *x,
                       double *y) {
    const bool valid = code == 0 || (code == WCSERR_BAD_WORLD && is_on_sky(wcs, p->stat[i]));
    *x = valid ? p->pixel[i * p->axes] - wcs->first_x - 1 : NAN;
    *y = valid ? p->pixel[i * p->axes + 1] - wcs->first_y - 1 : NAN;
    if (valid)
        turn_pixel(wcs, x, y);
}

enum srcfind_status wcs_pixels(struct wcs *wcs, int n, const double *lon, const double *lat,
                               double *x, double *y, struct error *error) {
    double other[MOST_AXES] = {0};
    struct points p;
    if (!points_make(wcs, n, &p)) {
        points_clear(&p);
        return error_memory(error, "computing pixel coordinates");
    }
    const bool known = find_other_axes(wcs, other);
    for (size_t i = 0; known && i < p.n; i++) {
        double *point = p.world + i * p.axes;
        memcpy(point, other, p.axes * sizeof *point);
        point[wcs->sky->lng] = isfinite(lon[i]) ? lon[i] : 0;
        point[wcs->sky->lat] = isfinite(lat[i]) ? lat[i] : 0;
    }
    const int code = known && n > 0 ? wcss2p(wcs->sky, n, (int)p.axes, p.world, p.phi, p.theta,
                                             p.intermediate, p.pixel, p.stat)
                                    : WCSERR_BAD_PARAM;
    for (size_t i = 0; i < p.n; i++)
        take_pixel(wcs, &p, i, isfinite(lon[i]) && isfinite(lat[i]) ? code : WCSERR_BAD_PARAM,
                   &x[i], &y[i]);
    wcs_part_drop_words(wcs->sky);
    points_clear(&p);
    return SRCFIND_OK;
}

void wcs_reference_pixel(const struct wcs *wcs, double *x, double *y) {
    *x = wcs->sky->crpix[0] - wcs->first_x - 1;
    *y = wcs->sky->crpix[1] - wcs->first_y - 1;
}

void wcs_turn(const struct wcs *wcs, double *x, double *y) {
    *x = wcs->turn_x;
    *y = wcs->turn_y;
}
