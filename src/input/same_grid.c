/* How two grids are compared:
 *
 * 1. The axes of the pixels must have equal lengths.
 * 2. Nine points, at the corners, at the middle of the sides and in the centre, are converted to
 *    the sky by one image, and back to pixels by the other, in both directions.
 * 3. The largest distance may be 0.01 pixel for images that are measured together, one pixel for
 *    masks and maps. ICRS and FK5 of J2000 count as one frame for maps.
 * 4. The message names the cards that differ.
 *
 * The WCS are compared by their positions, not by their cards, which may say the same in many ways.
 * Costs some 90 conversions by WCSLIB. */
#include "input/same_grid.h"

#include <math.h>
#include <string.h>

#include "common/format_double.h"
#include "common/texts.h"
#include "input/frame.h"

static const double MOST_APART = 0.01, MOST_APART_OF_MAPS = 1; /* pixels */

enum { ALONG = 3, POINTS = ALONG * ALONG };

static enum srcfind_status check_shape(const struct srcfind_image *image,
                                       const struct srcfind_image *other, struct error *error) {
    for (int i = 0; i < 2; i++)
        if (i == 0 ? image->width != other->width : image->height != other->height)
            return error_set(
                error, SRCFIND_ERROR_INPUT,
                "%s: NAXIS%d is %lld, but %lld in the image: both must have the same pixels",
                image->path, i + 1, (long long)image->axes[i], (long long)other->axes[i]);
    return SRCFIND_OK;
}

/* --- cards --- */

/* The value of a card as text; "none" where there is no such card. */
static void value_of(const struct header *header, const char *keyword, char *text) {
    double number;
    if (header_real(header, keyword, &number))
        format_double(number, text);
    else if (!header_text(header, keyword, text, SRCFIND_TEXT))
        snprintf(text, SRCFIND_TEXT, "none");
}

/* Adds a card to the list if it differs. */
static void compare(const struct header *a, const struct header *b, const char *keyword, char *list,
                    size_t size) {
    char of_a[SRCFIND_TEXT], of_b[SRCFIND_TEXT];
    value_of(a, keyword, of_a);
    value_of(b, keyword, of_b);
    if (strcmp(of_a, of_b) != 0)
        texts_append(list, size, "%s%s is %s (in the image: %s)", *list ? ", " : "", keyword, of_a,
                     of_b);
}

/* Lists the cards of the sky coordinates that differ. */
static void list_cards(const struct header *a, const struct header *b, char *list, size_t size) {
    static const char *const of_axis[] = {"CTYPE", "CUNIT", "CRPIX", "CRVAL", "CDELT", "CROTA"};
    static const char *const of_matrix[] = {"CD1_", "CD2_", "PC1_", "PC2_", "PV1_", "PV2_"};
    static const char *const others[] = {"RADESYS", "EQUINOX", "LONPOLE", "LATPOLE"};
    for (size_t i = 0; i < sizeof of_axis / sizeof *of_axis; i++)
        for (int axis = 1; axis <= 2; axis++)
            compare(a, b, header_keyword(of_axis[i], axis).text, list, size);
    for (size_t i = 0; i < sizeof of_matrix / sizeof *of_matrix; i++)
        for (int axis = 1; axis <= 2; axis++)
            compare(a, b, header_keyword(of_matrix[i], axis).text, list, size);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        compare(a, b, others[i], list, size);
    if (!*list)
        texts_append(list, size, "the sky coordinates differ");
}

/* --- the sky --- */

/* A grid of points, and for each point a neighbour along x and one along y, a pixel nearer to the
 * middle. */
enum { NEIGHBOURS_X = POINTS, NEIGHBOURS_Y = 2 * POINTS, ALL = 3 * POINTS };

struct grid_points {
    double x[ALL], y[ALL], lon[ALL], lat[ALL];
};

static void make_grid(const struct srcfind_image *image, struct grid_points *p) {
    const double right = (double)(image->width - 1), top = (double)(image->height - 1);
    for (int i = 0; i < ALL; i++) {
        const int column = i % ALONG, row = i % POINTS / ALONG;
        p->x[i] = right * column / (ALONG - 1);
        p->y[i] = top * row / (ALONG - 1);
        if (i >= NEIGHBOURS_Y)
            p->y[i] += row < ALONG - 1 ? 1 : -1;
        else if (i >= NEIGHBOURS_X)
            p->x[i] += column < ALONG - 1 ? 1 : -1;
    }
}

/* The distance of two positions through the unit sphere. */
static double chord(double lon_a, double lat_a, double lon_b, double lat_b) {
    const double radian = M_PI / 180;
    const double lon = sin((lon_a - lon_b) / 2 * radian), lat = sin((lat_a - lat_b) / 2 * radian);
    return 2 * sqrt(lat * lat + cos(lat_a * radian) * cos(lat_b * radian) * lon * lon);
}

/* The shorter side of the pixel at point i, in radians, at least a thousandth of the usual side: at
 * a pole the side along the latitude is 0. */
static double side_of_pixel(const struct grid_points *p, int i, double usual) {
    static const double LEAST = 1e-3; /* of the usual side */
    double least = usual;
    for (int k = i + POINTS; k < ALL; k += POINTS)
        least = fmin(least, chord(p->lon[i], p->lat[i], p->lon[k], p->lat[k]));
    return fmax(least, LEAST * usual);
}

/* Sets *apart to the largest distance, in pixels, between the pixels of one sky position in both
 * images, over all points; infinite if one image does not have the position. On the seam of a map
 * of the whole sky one position has several pixels: the positions of one pixel are compared there.
 */
static enum srcfind_status find_apart(const struct image *image, const struct image *other,
                                      const struct srcfind_image *metadata, double *apart,
                                      struct error *error) {
    struct grid_points p;
    double at_x[POINTS], at_y[POINTS], lon[POINTS], lat[POINTS];
    const double usual = sqrt(metadata->pixel_area) * M_PI / 180;
    make_grid(metadata, &p);
    *apart = 0;
    enum srcfind_status status = wcs_positions(image->wcs, ALL, p.x, p.y, p.lon, p.lat, error);
    if (status == SRCFIND_OK)
        status = wcs_positions(other->wcs, POINTS, p.x, p.y, lon, lat, error);
    if (status == SRCFIND_OK)
        status = wcs_pixels(other->wcs, POINTS, p.lon, p.lat, at_x, at_y, error);
    for (int i = 0; status == SRCFIND_OK && i < POINTS; i++) {
        if (isnan(p.lon[i]))
            continue;
        const double on_sky = chord(p.lon[i], p.lat[i], lon[i], lat[i]);
        const double distance =
            fmin(hypot(at_x[i] - p.x[i], at_y[i] - p.y[i]), on_sky / side_of_pixel(&p, i, usual));
        *apart = isnan(distance) ? (double)INFINITY : fmax(*apart, distance);
    }
    return status;
}

/* Sets *apart to the larger distance of both directions: from either image to the other. */
static enum srcfind_status find_most_apart(const struct image *image,
                                           const struct srcfind_image *metadata,
                                           const struct image *other, double *apart,
                                           struct error *error) {
    double there = 0, back = 0;
    enum srcfind_status status = find_apart(image, other, metadata, &there, error);
    if (status == SRCFIND_OK)
        status = find_apart(other, image, metadata, &back, error);
    *apart = fmax(there, back);
    return status;
}

static bool has_one_frame(const struct srcfind_image *a, const struct srcfind_image *b) {
    const bool is_one_equinox =
        a->equinox == b->equinox || (isnan(a->equinox) && isnan(b->equinox));
    return strcmp(a->lon_name, b->lon_name) == 0 && strcmp(a->lat_name, b->lat_name) == 0 &&
           strcmp(a->frame, b->frame) == 0 && (is_one_equinox || strcmp(a->frame, "ICRS") == 0);
}

/* Writes how far two images are apart, and which cards differ. */
static void describe(const struct image *image, const struct image *other, double apart, char *text,
                     size_t size) {
    char list[1024] = "", distance[64] = "";
    list_cards(&image->hdu.header, &other->hdu.header, list, sizeof list);
    if (apart > 0 && isfinite(apart))
        snprintf(distance, sizeof distance, ", up to %.3g pixels apart", apart);
    format_point(distance);
    texts_append(text, size, "%s: %s", distance, list);
}

static enum srcfind_status refuse(const struct image *image, const struct srcfind_image *metadata,
                                  const struct image *other, double apart, struct error *error) {
    char text[1200] = "";
    describe(image, other, apart, text, sizeof text);
    return error_set(error, SRCFIND_ERROR_INPUT,
                     "%s: its sky coordinates differ from those of the image%s", metadata->path,
                     text);
}

enum srcfind_status same_grid_check(const struct image *image, const struct srcfind_image *metadata,
                                    const struct image *other, const struct srcfind_image *of_other,
                                    struct error *error) {
    double apart = 0;
    enum srcfind_status status = check_shape(metadata, of_other, error);
    if (status != SRCFIND_OK || (!image->wcs && !other->wcs))
        return status;
    if (!image->wcs || !other->wcs || !has_one_frame(metadata, of_other))
        return refuse(image, metadata, other, 0, error);
    status = find_most_apart(image, metadata, other, &apart, error);
    return status == SRCFIND_OK && apart > MOST_APART ? refuse(image, metadata, other, apart, error)
                                                      : status;
}

enum srcfind_status same_grid_compare(const struct image *image,
                                      const struct srcfind_image *metadata,
                                      const struct image *other,
                                      const struct srcfind_image *of_other, char *text, size_t size,
                                      struct error *error) {
    double apart = 0;
    enum srcfind_status status = SRCFIND_OK;
    *text = '\0';
    if (!image->wcs || !other->wcs)
        return SRCFIND_OK;
    const bool is_one_frame =
        has_one_frame(metadata, of_other) || (frame_is_j2000(metadata->frame, metadata->equinox) &&
                                              frame_is_j2000(of_other->frame, of_other->equinox));
    if (is_one_frame)
        status = find_most_apart(image, metadata, other, &apart, error);
    if (status == SRCFIND_OK && (!is_one_frame || apart > MOST_APART_OF_MAPS))
        describe(image, other, apart, text, size);
    return status;
}
